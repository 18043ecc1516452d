#!/usr/bin/env bash
# lint.sh [deep]: clang-tidy (with the length of functions), cppcheck, mandoc, shellcheck, and what is in tests/lint, over our own files; 1
# when one of them finds something. Needs the dev build (build/dev), for its compile_commands.json and generated headers.
# Nearly all of its time is clang's path analysis, which ends for a function after so many states: a quarter of them for files that none of the
# last 100 commits changed, which were analysed when they changed. deep goes to clang's own limit for all.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0
states=20000 unchanged_states=5000
[[ ${1:-} != deep ]] || states=225000 unchanged_states=225000

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
mapfile -t pages < <(find man -name '*.[157]' | sort)
mapfile -t scripts < <(find bootstrap.sh .ci/run tests bench packaging -name '*.sh' -o -path .ci/run -o -path '*/debian/tests/[!c]*' | sort)

# One process a file, as many at once as there are cores. Only the findings: `clang-tidy -p build/dev FILE` tells how it got there.
# shellcheck disable=SC2317,SC2016 # called by run; the inner shell expands $1 and $2
tidy() {
    local changed # without a history all of them, and where it is one commit
    changed=$(git log -100 --name-only --format= 2>/dev/null && git diff --name-only HEAD) || changed=$(printf '%s\n' "${sources[@]}")
    printf '%s\n' "${sources[@]}" |
        awk -v some="$states" -v few="$unchanged_states" 'NR == FNR { is_changed[$0]; next } { print ($0 in is_changed ? some : few) " " $0 }' <(echo "$changed") - |
        xargs -P "$(nproc)" -n 2 bash -c 'clang-tidy -p build/dev --quiet --extra-arg=-Xclang --extra-arg=-analyzer-config \
            --extra-arg=-Xclang --extra-arg=max-nodes="$1" "$2" 2>/dev/null' tidy |
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
    grep -vxE '\.(ci|clang-format|clang-tidy|gitignore)|\.github|CHANGELOG.md|NOTICE|LICENSES|REUSE.toml|SECURITY.md|LICENSE|README.md|ARCHITECTURE.md|CONTRIBUTING.md|CMakeLists.txt|CMakePresets.json|bootstrap.sh|analyzers|bench|cmake|cmd|collectors|docs|examples|formats|include|lib|man|packaging|testdata|tests' | tr '\n' ' ')
if [[ -n $strangers ]]; then
    echo "tree: what is this? $strangers"
    failed=1
fi

# Subjects are read in lists of 80 columns. What was committed before this rule stays.
long_subjects() {
    local base
    base=$(git merge-base HEAD f7adcff 2>/dev/null) || return 0 # no history here
    git log --format='%h %s' "$base..HEAD" | LC_ALL=C.UTF-8 grep -E '^[0-9a-f]+ .{73,}$'
}
if long=$(long_subjects) && [[ -n $long ]]; then
    echo "commits: subjects of more than 72 columns"
    echo "$long"
    failed=1
fi

if command -v clang-format >/dev/null; then
    if unformatted=$(tests/lint/format.sh --check); then
        echo "format: clean"
    else
        echo "format: these are not as tests/lint/format.sh writes them"
        echo "$unformatted"
        failed=1
    fi
fi
exit $failed
