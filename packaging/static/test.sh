#!/bin/bash
# test.sh [TREE...]: tries the static program of build.sh as root of a file system that holds nothing else, and in the bare systems that are
# named (folders of debootstrap, for one): list, report, diff, query and a query of a database that import wrote say what the release build
# says. As root, for chroot. The release build is build/release/idsprof, or what IDSPROF names.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(echo build/wheel/idsprof-*-static-"$(uname -m)")
release=${IDSPROF:-$PWD/build/release/idsprof}
fail() {
    echo "static/test.sh: $*" >&2
    exit 1
}
((EUID == 0)) || fail "needs root, for chroot"
[[ -x $program ]] || fail "there is no static program yet: packaging/static/build.sh makes it"
[[ -x $release ]] || fail "there is no '$release' to compare with: build it, or name another in IDSPROF"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

ask() { # PROGRAM...: what it says of the runs in its folder
    "$@" list cpu1_annotated
    "$@" report --no-cache cpu1_annotated
    "$@" report --no-cache --json cpu8_annotated
    "$@" diff --no-cache --force cpu1_annotated cpu8_annotated || echo "exit $?"
    "$@" query cpu1_annotated 'SELECT count(*) AS events, count(DISTINCT name) AS names FROM events'
    "$@" import cpu8_annotated -o run.db --force
    "$@" query run.db 'SELECT plane, track, events FROM tracks ORDER BY 1, 2, 3'
}

try() { # ROOT NAME: with the runs and the program as all that its root folder has, or beside what is there
    local root=$1 runs=(testdata/cpu1_annotated testdata/cpu8_annotated)
    cp -r "${runs[@]}" "$root"
    cp "$program" "$root/idsprof"
    (cd "$root" && ask "$release") >"$scratch/wanted" 2>&1 || fail "the release build in $2: $(tail -n 3 "$scratch/wanted")"
    rm -f "$root/run.db"
    ask env --ignore-environment PATH="$PATH" TMPDIR=/ XDG_CACHE_HOME=/cache LC_ALL=C.UTF-8 chroot "$root" /idsprof >"$scratch/got" 2>&1 || true
    rm -rf "$root"/{cpu1_annotated,cpu8_annotated,idsprof,run.db,cache}
    diff "$scratch/wanted" "$scratch/got" >"$scratch/diff" ||
        fail "in $2 it says something else than the release build: $(head -n 20 "$scratch/diff")"
    echo "$2: $(wc -l <"$scratch/got") lines, the same"
}

mkdir "$scratch/root"
try "$scratch/root" "an empty root"
for tree; do
    try "$tree" "$tree"
done
