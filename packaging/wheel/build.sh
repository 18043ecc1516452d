#!/bin/bash
# build.sh [ARCH...]: makes build/wheel/idsprof-VERSION-py3-none-manylinux_2_17_ARCH.whl; x86_64 and aarch64 unless told otherwise.
#
# The compiler is zig's (PyPI's ziglang), for it brings the headers of glibc 2.17 for each machine; the libraries are made of Debian's
# sources (libraries.sh). The program has them in it and asks for nothing but the C library, so that it runs on any Linux since 2014.
# Needed: a Debian with source archives in reach, cmake, ninja-build, pkg-config, protobuf-c-compiler, dpkg-dev, tcl, nasm, python3-venv;
# for aarch64 binutils-aarch64-linux-gnu, and on another machine qemu-user and libc6-arm64-cross. No root. A first build takes minutes,
# another one seconds.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/wheel
work=$PWD/build/wheel
version=$(sed -n 's/^project(idsprof VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# shellcheck source=packaging/zig.sh
source packaging/zig.sh

build() { # ARCH
    local arch=$1 folder=$work/$1 emulator=""
    [[ $arch == x86_64 || $arch == aarch64 ]] || stop "there is no wheel for '$arch' (x86_64, aarch64)"
    [[ $arch == x86_64 ]] || need aarch64-linux-gnu-as=binutils-aarch64-linux-gnu
    [[ $arch == "$(uname -m)" ]] || need "qemu-$arch=qemu-user"
    zig_tools "$folder/bin" "$arch-linux-gnu.2.17"
    bash $here/libraries.sh "$arch" "$folder/prefix"
    [[ $arch == "$(uname -m)" ]] || emulator="qemu-$arch -L /usr/$arch-linux-gnu" # the program prints its completions
    PKG_CONFIG_LIBDIR=$folder/prefix/lib/pkgconfig logged "$folder/configure.log" cmake -S . -B "$folder/program" -G Ninja \
        -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$arch" "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_AR=$AR" "-DCMAKE_RANLIB=$RANLIB" \
        "-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O3 -g0" -DIDS_LTO=ON \
        -DCMAKE_EXE_LINKER_FLAGS=-s -DCMAKE_SHARED_LINKER_FLAGS=-s -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=/usr
    logged "$folder/build.log" ninja -C "$folder/program" ${IDS_JOBS:+-j "$IDS_JOBS"} installed
    rm -rf "$folder/installed"
    DESTDIR=$folder/installed logged "$folder/install.log" cmake --install "$folder/program"
    "$python" $here/assemble.py "$version" "$arch" "$folder/installed/usr" "$folder/prefix" "$work"
}

((${#})) || set -- x86_64 aarch64
for arch; do
    build "$arch"
done
