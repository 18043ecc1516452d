#!/bin/bash
# check.sh [ARCH]: compiles and links the part of idsprof that reads profiles for macOS, with zig's compiler and its headers of Apple's C
# library, and looks at what came out; aarch64 unless told otherwise (x86_64). Nothing here can run it.
#
# Needed: what packaging/wheel/build.sh needs. The program is build/wheel/macos-ARCH/program/idsprof.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/wheel
arch=${1:-aarch64}
folder=$work/macos-$arch
# shellcheck source=packaging/zig.sh
source packaging/zig.sh
[[ $arch == x86_64 || $arch == aarch64 ]] || stop "there is no macOS for '$arch' (aarch64, x86_64)"
zig_tools "$folder/bin" "$arch-macos"
mkdir -p "$folder/tools"
ln -sf "$(command -v true)" "$folder/tools/install_name_tool" # CMake asks for it, and installs nothing here
export PATH=$folder/tools:$PATH
bash packaging/wheel/libraries.sh "$arch" "$folder/prefix" apple-darwin
PKG_CONFIG_LIBDIR=$folder/prefix/lib/pkgconfig logged "$folder/configure.log" cmake -S . -B "$folder/program" -G Ninja \
    -DCMAKE_SYSTEM_NAME=Darwin "-DCMAKE_SYSTEM_PROCESSOR=$arch" "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_AR=$AR" "-DCMAKE_RANLIB=$RANLIB" \
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O1 -g0" -DCMAKE_OSX_SYSROOT= -DCMAKE_OSX_ARCHITECTURES=
logged "$folder/build.log" cmake --build "$folder/program" --target idsprof -- ${IDS_JOBS:+-j "$IDS_JOBS"}
program=$folder/program/idsprof
"$python" - "$program" "$arch" <<'END' || stop "'$program' is no program of macOS for $arch"
import struct, sys
magic, cpu, _, kind = struct.unpack('<IIII', open(sys.argv[1], 'rb').read(16))
sys.exit(magic != 0xfeedfacf or kind != 2 or cpu != {'aarch64': 0x100000c, 'x86_64': 0x1000007}[sys.argv[2]])
END
! grep -q 'libidsprof_agent' "$program" || stop "'$program' has parts in it that capture"
echo "$program: $(stat -c %s "$program") bytes"
