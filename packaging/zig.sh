# zig.sh: for scripts that build with zig's compiler (PyPI's ziglang), which brings the headers of every C library with it; sourced from
# the root of the tree. $work: a folder for all that is made; $0: the script's name in what it says.
# shellcheck shell=bash
python=${work:?}/venv/bin/python
export ZIG_LOCAL_CACHE_DIR=$work/zig-cache ZIG_GLOBAL_CACHE_DIR=$work/zig-cache

stop() { # WORDS
    echo "${0##*packaging/}: $*" >&2
    exit 1
}

need() { # PROGRAM=PACKAGE...: all that is missing, at once
    local pair missing=() packages=()
    for pair; do
        command -v "${pair%%=*}" >/dev/null || { missing+=("${pair%%=*}") && packages+=("${pair#*=}"); }
    done
    ((${#missing[@]} == 0)) || stop "cannot begin without ${missing[*]}: apt-get install ${packages[*]}"
}

# COMMAND...: what it says goes to LOG, of which the end is shown where it fails.
logged() { # LOG COMMAND...
    local log=$1 failed=0
    shift
    "$@" >"$log" 2>&1 || failed=$?
    ((failed)) || return 0
    tail -n 20 "$log" >&2
    stop "'$1' failed ($failed); all that it said: $log"
}

zig_environment() { # zig and what packs wheels, from PyPI, once for each list of them
    mkdir -p "$work"
    cmp -s packaging/wheel/requirements.txt "$work/venv/made-from" && return
    python3 -m venv --clear "$work/venv" || stop "python3 cannot make a virtual environment: apt-get install python3-venv"
    "$python" -m pip install -q -r packaging/wheel/requirements.txt ||
        stop "pip cannot install what packaging/wheel/requirements.txt names: is PyPI, or a mirror of it (PIP_INDEX_URL), in reach?"
    cp packaging/wheel/requirements.txt "$work/venv/made-from"
}

zig_tool() { # FILE WORDS...: a program of one name, as builds want their compilers
    local file=$1
    shift
    printf '#!/bin/sh\nexec %s -m ziglang %s "$@"\n' "$python" "$*" >"$file"
    chmod +x "$file"
}

zig_tools() { # FOLDER TARGET: cc, ar and ranlib in FOLDER, exported
    need cmake=cmake ninja=ninja-build pkg-config=pkg-config protoc-c=protobuf-c-compiler dpkg-source=dpkg-dev make=make cc=gcc tclsh=tcl \
        nasm=nasm python3=python3-venv
    zig_environment
    mkdir -p "$1"
    zig_tool "$1/cc" cc -target "$2"
    zig_tool "$1/ar" ar
    zig_tool "$1/ranlib" ranlib
    export CC=$1/cc AR=$1/ar RANLIB=$1/ranlib
}
