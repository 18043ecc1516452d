#!/usr/bin/env bash
# format.sh [--check]: formats all C as .clang-format and wrap_comments.py say; with --check only names what is not so, exit 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.def')
mapfile -t formatted < <(printf '%s\n' "${files[@]}" | grep -v '\.def$')

if [[ ${1:-} == --check ]]; then
    found=$(
        clang-format --dry-run --ferror-limit=1 "${formatted[@]}" 2>&1 | sed -nE 's/^([^: ]+):.*\[-Wclang-format-violations\]$/\1: not as clang-format writes it/p' |
            sort -u
        python3 tests/lint/wrap_comments.py --check "${files[@]}" || true
        { LC_ALL=C.UTF-8 grep -nE '^.{121,}$' "${files[@]}" /dev/null || true; } | sed -E 's/^([^:]*:[0-9]+):.*/\1: more than 120 columns/'
    )
    [[ -z $found ]] || {
        echo "$found"
        exit 1
    }
    exit 0
fi
clang-format -i "${formatted[@]}"
python3 tests/lint/wrap_comments.py "${files[@]}"
clang-format -i "${formatted[@]}" # a shorter comment lets code go on its line
python3 tests/lint/wrap_comments.py "${files[@]}"
