#!/bin/bash
# release.sh [--dry-run] VERSION OUT: makes a release of the commit that is checked out.
#
# The version stands once, in CMakeLists.txt. This sets it there, dates the changelog, records what is promised (docs/stability.md), commits,
# tags vVERSION, and puts into OUT: idsprof-VERSION.tar.gz, the wheels of build/wheel that have this version, idsprof-VERSION.spdx.json (what
# it is made of) and SHA256SUMS. Nothing is pushed or uploaded. With --dry-run all of it happens in a clone, and this tree stays as it is.
# IDSPROF is the program whose options are recorded (build/release/idsprof).
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
    echo "release.sh: $*" >&2
    exit 2
}

dry=""
[[ ${1:-} == --dry-run ]] && dry=1 && shift
(($# == 2)) || die "usage: release.sh [--dry-run] VERSION OUT"
version=$1
mkdir -p "$2"
out=$(realpath "$2")
program=$(realpath "${IDSPROF:-build/release/idsprof}")
wheels=$PWD/build/wheel
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "'$version' is no version (1.2.3)"
[[ -x $program ]] || die "there is no '$program'; build it first, or set IDSPROF"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "there is a tag v$version"

if [[ $dry ]]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    git clone -q --shared . "$scratch/tree"
    cd "$scratch/tree"
    git config user.name release && git config user.email release@localhost
elif [[ -n $(git status --porcelain) ]]; then
    die "the tree has changes; commit them or put them aside"
fi

grep -q '^## Unreleased$' CHANGELOG.md || die "CHANGELOG.md has no section 'Unreleased'"
sed -i "s/^\(project(idsprof VERSION \)[0-9.]*/\1$version/" CMakeLists.txt
sed -i "s/^## Unreleased\$/## Unreleased\n\n## $version ($(date -u +%F))/" CHANGELOG.md
IDS_SOURCE_DIR=$PWD IDSPROF=$program python3 tests/contract/test_stability.py --renew
git commit -qam "Release $version"
git tag -a "v$version" -m "idsprof $version"

git archive --prefix="idsprof-$version/" "v$version" | gzip -9n >"$out/idsprof-$version.tar.gz"
for wheel in "$wheels/idsprof-$version"-*.whl; do
    [[ ! -e $wheel ]] || cp "$wheel" "$out/"
done
python3 packaging/sbom.py "$version" "$(git rev-parse HEAD)" >"$out/idsprof-$version.spdx.json"
(cd "$out" && sha256sum "idsprof-$version"* >SHA256SUMS)
ls -l "$out"
[[ $dry ]] || echo "next: git push origin HEAD v$version, and upload what is in $out"
