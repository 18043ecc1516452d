# zig.sh: for scripts that build with zig's compiler (PyPI's ziglang), which brings the headers of every C library with it; sourced from
# the root of the tree. $work: a folder for all that is made.
# shellcheck shell=bash
python=${work:?}/venv/bin/python
export ZIG_LOCAL_CACHE_DIR=$work/zig-cache ZIG_GLOBAL_CACHE_DIR=$work/zig-cache
mkdir -p "$work"
if ! cmp -s packaging/wheel/requirements.txt "$work/venv/made-from"; then
    python3 -m venv --clear "$work/venv"
    "$python" -m pip install -q -r packaging/wheel/requirements.txt
    cp packaging/wheel/requirements.txt "$work/venv/made-from"
fi

zig_tool() { # FILE WORDS...: a program of one name, as builds want their compilers
    local file=$1
    shift
    printf '#!/bin/sh\nexec %s -m ziglang %s "$@"\n' "$python" "$*" >"$file"
    chmod +x "$file"
}

zig_tools() { # FOLDER TARGET: cc, ar and ranlib in FOLDER, exported
    mkdir -p "$1"
    zig_tool "$1/cc" cc -target "$2"
    zig_tool "$1/ar" ar
    zig_tool "$1/ranlib" ranlib
    export CC=$1/cc AR=$1/ar RANLIB=$1/ranlib
}
