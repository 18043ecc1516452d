#!/usr/bin/env bash
# run.sh [NAME...]: plants the faults of tests/mutants/*.patch one at a time and looks whether the fast tests notice.
#
# Works on a copy of the tree as it stands (with changes that are not committed), in one build folder: release without LTO. For each
# patch: apply, build, `ctest -L "fast|slow"` until a test fails. Prints a table and keeps it in RESULTS.md; what is there already is not
# run again unless the patch or the tree changed. Exit: 0 when at least 9 of 10 are caught, 1 when not, 2 when something is wrong:
# the tests fail without any fault, or a patch does not apply or build (such a patch is neither caught nor survived).
#
# IDS_MUTANTS_DIR: the scratch folder (kept, so that a second run builds little). IDS_MUTANTS_JOBS: jobs of build and tests.
# IDS_MUTANTS_WITHOUT: a regular expression of tests to leave out, said in RESULTS.md.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=${IDS_MUTANTS_DIR:-${TMPDIR:-/tmp}/idsprof-mutants-$(id -u)}
jobs=${IDS_MUTANTS_JOBS:-$(nproc)}
tree=$scratch/tree build=$scratch/build log=$scratch/log
results=$here/RESULTS.md
select=(-L 'fast|slow') without=''
if [[ -n ${IDS_MUTANTS_WITHOUT:-} ]]; then
    select+=(-E "$IDS_MUTANTS_WITHOUT")
    without=" Tests left out: \`$IDS_MUTANTS_WITHOUT\`."
fi
export IDS_SHARED=${IDS_SHARED:-$root/../shared}
export GIT_CEILING_DIRECTORIES=$scratch

die() {
    echo "run.sh: $*" >&2
    exit 2
}

# Makes the copy equal to the tree. What differs gets the time of now, for ninja goes by that: a file that a run before this one
# changed and did not put back would else look older than what was built of it.
copy_tree() {
    mkdir -p "$tree"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard) |
        while IFS= read -r -d '' file; do [[ ! -f $root/$file ]] || printf '%s\0' "$file"; done >"$scratch/files"
    while IFS= read -r -d '' file; do
        cmp -s "$root/$file" "$tree/$file" && continue
        mkdir -p "$(dirname "$tree/$file")"
        cp --preserve=mode "$root/$file" "$tree/$file"
    done <"$scratch/files"
    (cd "$tree" && find . -type f -printf '%P\0') | sort -z >"$scratch/there"
    sort -z "$scratch/files" | comm -z -13 - "$scratch/there" | (cd "$tree" && xargs -0r rm -f --)
}

# What the outcome depends on: all of the tree but these patches, prose and figures.
tree_hash() {
    (cd "$tree" && grep -zvE '^tests/mutants/|^bench/|\.md$' "$scratch/files" | sort -z | xargs -0 sha256sum) | sha256sum | cut -c1-12
}

build_tree() {
    cmake --build "$build" -j "$jobs" -- --quiet >"$log" 2>&1
}

# The names of the failed tests, in one line; empty when none failed.
failed_tests() {
    rm -f "$build/Testing/Temporary/LastTestsFailed.log"
    if ctest --test-dir "$build" "${select[@]}" -j "$jobs" "$@" >"$log" 2>&1; then return; fi
    local names
    names=$(sed 's/^[0-9]*://' "$build/Testing/Temporary/LastTestsFailed.log" 2>/dev/null | sort | tr '\n' ' ')
    echo "${names:-ctest}"
}

# Sets outcome and by for one patch.
try_patch() {
    local patch=$1
    by='' outcome=''
    if ! (cd "$tree" && git apply "$patch") 2>"$log"; then
        outcome='does not apply'
        return
    fi
    if ! build_tree; then
        outcome='does not build'
    else
        by=$(failed_tests --stop-on-failure -LE 'fault|slow') # the others take most of the time
        [[ -n $by ]] || by=$(failed_tests --stop-on-failure -L 'fault|slow')
        by=${by% }
        outcome=survived
        [[ -z $by ]] || outcome=caught
    fi
    (cd "$tree" && git apply -R "$patch") # leaves new times: ninja builds these files again
}

# FILE NAME: the row of an earlier run.
row_of() {
    [[ ! -f $1 ]] || grep -F "| $2 |" "$1" || true
}

mkdir -p "$scratch"
exec 9>"$scratch/lock"
flock -n 9 || die "another run works in $scratch"
copy_tree
hash=$(tree_hash)
commit=$(git -C "$root" rev-parse --short HEAD)
[[ -z $(git -C "$root" status --porcelain -- . ':!tests/mutants' ':!bench' ':!*.md') ]] || commit+=' with changes'

mapfile -t patches < <(find "$here" -name '[0-9]*.patch' | sort)
((${#patches[@]})) || die "no patches in $here"
old=$scratch/results.old
: >"$old"
if [[ -f $results ]] && grep -qF "tree $hash" "$results"; then cp "$results" "$old"; fi

rows=() caught=0 wrong=0 built=0 partial=0
write_results() {
    ((!partial)) || return 0 # a few by name say nothing of the rest
    {
        echo '# Seeded faults'
        echo
        echo "Written by \`tests/mutants/run.sh\`. $(date -u +%F), commit $commit, tree $hash: **$caught of ${#rows[@]} caught**.$without"
        echo
        echo '| fault | what | outcome | by | patch |'
        echo '|---|---|---|---|---|'
        printf '%s\n' "${rows[@]}"
    } >"$results.new"
    mv "$results.new" "$results"
}

for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    if (($#)) && [[ " $* " != *" $name "* && " $* " != *" ${name%%-*} "* ]]; then
        row=$(row_of "$old" "$name")
        [[ -n $row ]] || partial=1
        [[ -n $row ]] || continue
    else
        row=$(row_of "$old" "$name")
    fi
    id=$(sha256sum "$patch" | cut -c1-8)
    if [[ $row != *"| $id |" ]]; then
        if ((!built)); then
            cmake -S "$tree" --preset release -B "$build" -DIDS_LTO=OFF >"$log" 2>&1 || die "cmake failed: see $log"
            build_tree || die "the tree does not build: see $log"
            by=$(failed_tests)
            [[ -z $by ]] || die "without any fault these fail: $by(see $log)"
            built=1
        fi
        try_patch "$patch"
        row="| $name | $(sed -n '1s/^Fault: //p' "$patch") | $outcome | $by | $id |"
    fi
    rows+=("$row")
    case $row in
    *'| caught |'*) caught=$((caught + 1)) ;;
    *'| does not '*) wrong=$((wrong + 1)) ;;
    esac
    IFS='|' read -r _ _ what outcome by _ <<<"$row"
    printf '%-26s%-16s%-26s%s\n' "$name" "$outcome" "$by" "$what"
    (($#)) || write_results
done
write_results
echo "$caught of ${#rows[@]} caught, $wrong that do not apply or build"
((wrong == 0)) || exit 2
((caught * 10 >= ${#rows[@]} * 9)) || exit 1
