#!/bin/bash
# build.sh [ARCH]: makes build/wheel/idsprof-VERSION-static-ARCH, one file that runs on any Linux, whatever C library it has or none; ARCH
# is this machine's unless told otherwise.
#
# It reads: list, report, diff, query, extract, export and the like. What captured programs load are libraries for their own C library, so
# that capture asks for the wheel, a Debian package or a build.
# Needed: what packaging/wheel/build.sh needs, and its libraries are made here again, for musl.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/wheel
version=$(sed -n 's/^project(idsprof VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
arch=${1:-$(uname -m)}
folder=$work/static-$arch

# shellcheck source=packaging/zig.sh
source packaging/zig.sh
zig_tools "$folder/bin" "$arch-linux-musl"
bash packaging/wheel/libraries.sh "$arch" "$folder/prefix" linux-musl
PKG_CONFIG_LIBDIR=$folder/prefix/lib/pkgconfig logged "$folder/configure.log" cmake -S . -B "$folder/program" -G Ninja \
    -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$arch" "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_AR=$AR" "-DCMAKE_RANLIB=$RANLIB" \
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O3 -g0" -DIDS_LTO=ON -DIDS_CAPTURE=OFF "-DCMAKE_EXE_LINKER_FLAGS=-s -static"
logged "$folder/build.log" cmake --build "$folder/program" --target idsprof -- ${IDS_JOBS:+-j "$IDS_JOBS"}
cp "$folder/program/idsprof" "$work/idsprof-$version-static-$arch"
echo "$work/idsprof-$version-static-$arch"
