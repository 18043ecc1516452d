#!/usr/bin/env bash
# The library as other programs have it: the example against the build, and against an installed prefix that was moved, by pkg-config.
set -euo pipefail
root=$IDS_SOURCE_DIR build=$IDS_BUILD_DIR
run=$root/testdata/mini/steps_two_devices.mini
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
look_at() { # PROGRAM...: what the example says of a run, and of nothing
    "$@" "$run" >"$work/said" || fail "$*: exit $?"
    grep -q '^idsprof [0-9.]*: a report of JSON$' "$work/said" || fail "$*: $(cat "$work/said")"
    [[ $(grep -c ' ms$' "$work/said") -ge 3 ]] || fail "$*: $(cat "$work/said")"
    if "$@" "$work/nothing" 2>"$work/said"; then fail "$*: a file that is not there is no error"; fi
    grep -q "report: .*nothing.*No such file" "$work/said" || fail "$*: $(cat "$work/said")"
}

[[ $(wc -l <"$root/examples/report.c") -le 40 ]] || fail "the example is to be read in a minute"
look_at "$build/examples/example_report"
names=$(nm -D --defined-only "$build/libidsprof.so" | awk '{print $3}')
if [[ $IDS_SANITIZE == 1 || $names == *gcov* ]]; then exit 0; fi # what is installed is built without
strange=$(grep -vE '^idsprof_|^_(init|fini)$' <<<"$names" || true)
[[ -z $strange ]] || fail "the library shows more than its header: $strange"
[[ $(grep -c '^idsprof_' <<<"$names") -eq 10 ]] || fail "the header declares ten calls: $names"

space=' '
[[ $(pkg-config --version) != 0.* ]] || space=- # before pkgconf, a space in the path of the file itself is not escaped
DESTDIR='' cmake --install "$build" --prefix "$work/a prefix" >/dev/null
moved="$work/moved${space}prefix"
mv "$work/a prefix" "$moved"
pc=$(find "$moved" -name idsprof.pc)
export PKG_CONFIG_PATH=${pc%/*}
[[ $(pkg-config --modversion idsprof) == "$("$IDSPROF" --version | cut -d' ' -f2)" ]] || fail "pkg-config has another version"
flags=()
eval "flags=($(pkg-config --cflags --libs idsprof))" # a space in a path is escaped for a shell
lib=$(find "$moved" -name libidsprof.so)
cc -Wall -Wextra -Werror -o "$work/example" "$root/examples/report.c" "${flags[@]}" -Wl,-rpath,"${lib%/*}"
look_at "$work/example"
printf '#include <idsprof.h>\nint main() { return idsprof_version()[0] == 0; }\n' >"$work/example.cc"
if command -v c++ >/dev/null; then
    c++ -Wall -Wextra -Werror -o "$work/cc" "$work/example.cc" "${flags[@]}" -Wl,-rpath,"${lib%/*}"
    "$work/cc" || fail "a C++ program"
fi
if command -v valgrind >/dev/null; then
    valgrind --quiet --leak-check=full --error-exitcode=99 "$work/example" "$run" >/dev/null || fail "valgrind: exit $?"
elif [[ ${IDS_CI:-} == 1 ]]; then
    fail "valgrind is missing"
fi
