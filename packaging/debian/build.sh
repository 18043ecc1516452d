#!/bin/bash
# build.sh [--source] OUT: makes the Debian packages of the commit that is checked out, and their source package, in the folder OUT. Nothing
# is written into this tree. With --source only OUT/idsprof-VERSION, ready for dpkg-buildpackage.
#
# Needed: dpkg-dev, debhelper and what packaging/debian/control names as Build-Depends; missing ones are named before anything is built.
# packaging/debian is no folder `debian` of the project, because its changelog is made here: the version stands once, in CMakeLists.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."

source_only=""
[[ ${1:-} == --source ]] && source_only=1 && shift
(($# == 1)) || { echo "usage: build.sh [--source] OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
version=$(sed -n 's/^project(idsprof VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
tree=$out/idsprof-$version

rm -rf "$tree"
git archive --prefix="idsprof-$version/" HEAD | gzip -9n >"$out/idsprof_$version.orig.tar.gz"
tar --extract --directory="$out" --file="$out/idsprof_$version.orig.tar.gz"
cp -r "$tree/packaging/debian" "$tree/debian"
rm -f "$tree"/debian/build.sh "$tree"/debian/test.sh
cat >"$tree/debian/changelog" <<END
idsprof ($version-1) unstable; urgency=medium

  * What changed is in CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' "$tree/debian/control")  $(git log -1 --format=%cD)
END
[[ ! $source_only ]] || exit 0
cd "$tree"
dpkg-buildpackage --no-sign --jobs="$(nproc)" >"$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" >&2; exit 1; }
ls -l "$out"/*.deb
