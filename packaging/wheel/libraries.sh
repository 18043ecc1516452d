#!/bin/bash
# libraries.sh ARCH PREFIX [SYSTEM]: builds the libraries that idsprof is made of, static, from Debian's sources, with $CC: for Linux with
# glibc unless told otherwise (linux-musl, apple-darwin).
#
# Called by the scripts build.sh, which say what is needed. Each library is made by its own build where that can be told about another compiler,
# and of its sources where it is one file. What is made already is not made again.
set -euo pipefail
arch=$1 prefix=$2 system=${3:-linux-gnu}
work=$(dirname "$prefix")
sources=$work/../sources
packages=(zlib libisal libzstd xz-utils libarchive protobuf-c cjson sqlite3 nghttp2 libmicrohttpd)

# The sources: the lists of this system's archive with deb-src beside deb, in folders of our own, so that no root is needed.
fetch_sources() {
    [[ $(cat "$sources/fetched" 2>/dev/null) == "${packages[*]}" ]] && return
    mkdir -p "$sources"/{lists/partial,cache/archives/partial,parts}
    local file options
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -e $file ]] && sed 's/^Types: .*/Types: deb-src/' "$file" >"$sources/parts/${file##*/}"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -e $file ]] && sed -n 's/^deb /deb-src /p' "$file" >"$sources/parts/${file##*/}"
    done
    [[ -e $sources/parts/sources.list ]] && mv "$sources/parts/sources.list" "$sources/parts/system.list"
    options=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$sources/parts" -o "Dir::State::Lists=$sources/lists"
        -o "Dir::Cache=$sources/cache" -o APT::Sandbox::User= -qq)
    if ! { apt-get "${options[@]}" update && (cd "$sources" && apt-get "${options[@]}" source "${packages[@]}"); } >"$sources/log" 2>&1; then
        tail -n 5 "$sources/log" >&2
        echo "libraries.sh: apt-get cannot get the sources of ${packages[*]}: are Debian's archives in reach? All that it said: $sources/log" >&2
        exit 1
    fi
    echo "${packages[*]}" >"$sources/fetched"
}

folder_of() { # PACKAGE: where its sources were unpacked
    local found=("$sources/$1"-[0-9]*/)
    echo "${found[0]%/}"
}

describe() { # NAME VERSION LIBS: what pkg-config says of it; a static library says what it needs
    cat >"$prefix/lib/pkgconfig/$1.pc" <<END
Name: $1
Description: $1, static
Version: $2
Cflags: -I$prefix/include
Libs: -L$prefix/lib $3
END
}

version_of() { # PACKAGE: upstream's, from Debian's changelog
    dpkg-parsechangelog -l "$(folder_of "$1")/debian/changelog" -S Version | sed 's/^[0-9]*://; s/[-+].*//; s/\.dfsg$//'
}

archive() { # LIBRARY OBJECTS...
    rm -f "$1"
    $AR rcs "$@"
}

make_zlib() { # of its sources: its own configuration asks which system runs it; and this version takes any macOS for one without fdopen
    local file
    for file in "$(folder_of zlib)"/*.c; do
        "$CC" "${flags[@]}" -DHAVE_UNISTD_H -DHAVE_STDARG_H -DHAVE_HIDDEN -Dfdopen=fdopen -c "$file" -o "$(basename "$file" .c).o"
    done
    archive "$prefix/lib/libz.a" ./*.o
    cp "$(folder_of zlib)"/{zlib,zconf}.h "$prefix/include"
    describe zlib "$(version_of zlib)" -lz
}

make_libisal() {
    cp -r "$(folder_of libisal)/." .
    local assembler=nasm variant=$arch
    if [[ $system == apple-darwin ]]; then
        variant=base_aliases # in C: this version's assembly is ELF's
    elif [[ $arch == aarch64 ]]; then # written for GNU's assembler: clang's takes other names of registers
        assembler=$PWD/gnu-as
        cat >"$assembler" <<END
#!/bin/bash
while ((\$#)); do
    case \$1 in
    -o) out=\$2; shift ;;
    *.S) in=\$1 ;;
    -c | -g) ;;
    *) options+=("\$1") ;;
    esac
    shift
done
$CC -E -x assembler-with-cpp -D__ASSEMBLY__ "\${options[@]}" "\$in" | aarch64-linux-gnu-as -o "\$out" -
END
        chmod +x "$assembler"
    fi
    make -s -f Makefile.unx host_cpu="$variant" units="igzip crc" CC="$CC ${flags[*]}" AS="$assembler" AR="$AR" STRIP=true lib
    cp bin/isa-l.a "$prefix/lib/libisal.a"
    mkdir -p "$prefix/include/isa-l" && cp include/igzip_lib.h include/crc.h include/crc64.h "$prefix/include/isa-l"
    cp "$prefix/include/isa-l/"*.h "$prefix/include"
    describe libisal "$(version_of libisal)" -lisal
}

make_libzstd() {
    local sources_of_zstd
    sources_of_zstd=$(folder_of libzstd)/lib
    for file in "$sources_of_zstd"/{common,compress,decompress}/*.c; do
        "$CC" "${flags[@]}" -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_ -c "$file" -o "$(basename "$file" .c).o"
    done
    archive "$prefix/lib/libzstd.a" ./*.o
    cp "$sources_of_zstd"/*.h "$prefix/include"
    describe libzstd "$(version_of libzstd)" -lzstd
}

make_xz-utils() {
    "$(folder_of xz-utils)/configure" --host="$host" --prefix="$prefix" --disable-{shared,doc,nls,xz,xzdec,lzmadec,lzmainfo,lzma-links,scripts} \
        --quiet CFLAGS="${flags[*]}"
    make -s install >/dev/null
    describe liblzma "$(version_of xz-utils)" -llzma
}

make_libarchive() {
    cmake -S "$(folder_of libarchive)" -B . -G Ninja "${cross[@]}" -DBUILD_SHARED_LIBS=OFF -DENABLE_{TEST,TAR,CPIO,CAT,OPENSSL,LIBXML2,EXPAT,ACL,XATTR,ICONV,BZip2,LIBB2,LZ4,LZO,NETTLE,MBEDTLS,CNG,PCREPOSIX}=OFF \
        -DENABLE_WERROR=OFF -DZLIB_LIBRARY="$prefix/lib/libz.a" -DZLIB_INCLUDE_DIR="$prefix/include" -DLIBLZMA_LIBRARY="$prefix/lib/liblzma.a" \
        -DLIBLZMA_INCLUDE_DIR="$prefix/include" -DZSTD_LIBRARY="$prefix/lib/libzstd.a" -DZSTD_INCLUDE_DIR="$prefix/include" >/dev/null
    ninja --quiet archive_static
    cp libarchive/libarchive.a "$prefix/lib" && cp "$(folder_of libarchive)"/libarchive/archive{,_entry}.h "$prefix/include"
    describe libarchive "$(version_of libarchive)" "-larchive -lzstd -llzma -lz"
}

make_protobuf-c() {
    "$CC" "${flags[@]}" -c "$(folder_of protobuf-c)/protobuf-c/protobuf-c.c" -I"$(folder_of protobuf-c)" -o protobuf-c.o
    archive "$prefix/lib/libprotobuf-c.a" protobuf-c.o
    mkdir -p "$prefix/include/protobuf-c" && cp "$(folder_of protobuf-c)/protobuf-c/protobuf-c.h" "$prefix/include/protobuf-c"
    describe libprotobuf-c "$(version_of protobuf-c)" -lprotobuf-c
}

make_cjson() {
    "$CC" "${flags[@]}" -c "$(folder_of cjson)/cJSON.c" -o cJSON.o
    archive "$prefix/lib/libcjson.a" cJSON.o
    mkdir -p "$prefix/include/cjson" && cp "$(folder_of cjson)/cJSON.h" "$prefix/include/cjson"
    describe libcjson "$(version_of cjson)" -lcjson
}

make_sqlite3() { # as one file, which Tcl puts together; the options that Debian builds with, as far as idsprof asks for them
    "$(folder_of sqlite3)/configure" --disable-tcl --quiet CC=cc
    make -s sqlite3.c sqlite3.h >/dev/null
    "$CC" "${flags[@]}" -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_MATH_FUNCTIONS \
        -DSQLITE_SECURE_DELETE -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_LIKE_DOESNT_MATCH_BLOBS \
        -DSQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c -o sqlite3.o
    archive "$prefix/lib/libsqlite3.a" sqlite3.o
    cp sqlite3.h "$prefix/include"
    describe sqlite3 "$(version_of sqlite3)" "-lsqlite3 -lm -lpthread"
}

make_nghttp2() {
    cmake -S "$(folder_of nghttp2)" -B . -G Ninja "${cross[@]}" -DENABLE_LIB_ONLY=ON -DENABLE_STATIC_LIB=ON -DENABLE_SHARED_LIB=OFF -DENABLE_DOC=OFF >/dev/null
    ninja --quiet nghttp2_static
    cp lib/libnghttp2.a "$prefix/lib" && mkdir -p "$prefix/include/nghttp2"
    cp "$(folder_of nghttp2)/lib/includes/nghttp2/nghttp2.h" lib/includes/nghttp2/nghttp2ver.h "$prefix/include/nghttp2"
    describe libnghttp2 "$(version_of nghttp2)" -lnghttp2
}

make_libmicrohttpd() { # a server on loopback: no TLS
    "$(folder_of libmicrohttpd)/configure" --host="$host" --prefix="$prefix" --disable-{shared,doc,examples,curl,https,tools} --quiet CFLAGS="${flags[*]}"
    make -s install >/dev/null
    describe libmicrohttpd "$(version_of libmicrohttpd)" "-lmicrohttpd -lpthread"
}

fetch_sources
sources=$(cd "$sources" && pwd)
host=$arch-$system
cmake_system=Linux
[[ $system == apple-darwin ]] && cmake_system=Darwin
flags=(-O3 -fPIC -fvisibility=hidden -w)
export CFLAGS="${flags[*]}"
cross=("-DCMAKE_SYSTEM_NAME=$cmake_system" "-DCMAKE_SYSTEM_PROCESSOR=$arch" "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_AR=$AR" "-DCMAKE_RANLIB=$RANLIB"
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS=-fPIC -fvisibility=hidden -w" "-DCMAKE_FIND_ROOT_PATH=$prefix" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY)
mkdir -p "$prefix"/{lib/pkgconfig,include}
for package in "${packages[@]}"; do
    made=$prefix/made-$package-$(version_of "$package")
    [[ -e $made ]] && continue
    echo "building $package $(version_of "$package")"
    rm -rf "$work/build-$package" && mkdir -p "$work/build-$package"
    failed=0
    bash -c "$(declare -f "make_$package" folder_of version_of describe archive); $(declare -p arch prefix system host sources flags cross)
        set -euo pipefail; cd '$work/build-$package'; make_$package" >"$work/build-$package.log" 2>&1 || failed=$?
    if ((failed)); then
        tail -n 20 "$work/build-$package.log" >&2
        echo "libraries.sh: $package cannot be built ($failed); all that was said: $work/build-$package.log" >&2
        exit 1
    fi
    cp "$(folder_of "$package")/debian/copyright" "$prefix/copyright-$package"
    touch "$made"
done
