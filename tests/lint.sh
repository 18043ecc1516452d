#!/usr/bin/env bash
# lint.sh: clang-tidy, cppcheck, mandoc and shellcheck over our own files; 1 when one of them finds something.
# Needs the dev build (build/dev), for its compile_commands.json and generated headers. clang-format only reports.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0

run() { # TOOL COMMAND...
    if ! command -v "$1" >/dev/null; then
        echo "$1: not installed"
        [[ ${IDS_CI:-0} != 1 ]] || failed=1
    elif ! "${@:2}"; then
        echo "$1: findings"
        failed=1
    else
        echo "$1: clean"
    fi
}

mapfile -t sources < <(find lib formats analyzers cmd collectors -name '*.c' | sort)
mapfile -t headers < <(find lib formats analyzers cmd collectors -name '*.h' | sort)
mapfile -t pages < <(find man -name '*.[157]' | sort)
mapfile -t scripts < <(find bootstrap.sh .ci/run tests bench -name '*.sh' -o -path .ci/run | sort)

# One process a file, as many at once as there are cores. Only the findings: `clang-tidy -p build/dev FILE` tells how it got there.
# shellcheck disable=SC2317 # called by run
tidy() {
    printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy -p build/dev --quiet 2>/dev/null |
        { grep -E ': (error|warning): ' || true; } | sort -u
}
run clang-tidy tidy
mkdir -p build/cppcheck
run cppcheck cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppressions-list=cmake/cppcheck.suppress --library=posix,gnu,zlib,sqlite3 --cppcheck-build-dir=build/cppcheck \
    -D_GNU_SOURCE -DIDS_VERSION='"0"' -I . -j "$(nproc)" --error-exitcode=1 "${sources[@]}"
((${#pages[@]} == 0)) || run mandoc mandoc -T lint -W warning "${pages[@]}"
run shellcheck shellcheck "${scripts[@]}"

# Prose in Markdown is read in terminals and in diffs; tables and program output cannot be broken.
long_lines() {
    git ls-files '*.md' | while read -r file; do
        awk '/^ *```/ { code = !code } { print code || /^ *[|]/ ? "" : $0 }' "$file" |
            LC_ALL=C.UTF-8 grep -nE '^.{101,}$' | sed "s|^|$file:|"
    done
}
long=$(long_lines)
if [[ -n $long ]]; then
    echo "markdown: lines of more than 100 columns"
    echo "$long"
    failed=1
fi

python3 tests/lint/pointers.py && echo "pointers: clean" || failed=1

# What a test left behind must not be committed with the rest.
strangers=$(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u |
    grep -vxE '\.(ci|clang-format|clang-tidy|gitignore)|LICENSE|README.md|ARCHITECTURE.md|CMakeLists.txt|CMakePresets.json|bootstrap.sh|analyzers|bench|cmake|cmd|collectors|docs|formats|lib|man|testdata|tests' | tr '\n' ' ')
if [[ -n $strangers ]]; then
    echo "tree: what is this? $strangers"
    failed=1
fi

if command -v clang-format >/dev/null; then
    unformatted=$(clang-format --dry-run "${sources[@]}" "${headers[@]}" 2>&1 | grep -oE '^[^:]+\.[ch]:' | sort -u | wc -l)
    echo "clang-format: would change $unformatted of $((${#sources[@]} + ${#headers[@]})) files"
fi
exit $failed
