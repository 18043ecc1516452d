#!/bin/bash
# test.sh [SUITE [FOLDER]]: builds the Debian packages of the commit that is checked out in a bare Debian (bookworm), from a clone, as
# `build.sh` does; looks at them with lintian; installs them in another bare one, tries them as a user without root, and removes them, after
# which nothing may be left; then runs the tests of the packages there (tests/control: the fast tier against what is installed).
# FOLDER has what build.sh made before, instead of building again. As root, with debootstrap and a network; 15 minutes on two cores. Its log stays in build/debian, the packages beside it.
set -euo pipefail
cd "$(dirname "$0")/../.."
((EUID == 0)) || { echo "test.sh: needs root, for debootstrap and chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "test.sh: needs debootstrap" >&2; exit 77; }
# shellcheck source=tests/support/bare_tree.sh
source tests/support/bare_tree.sh
suite=${1:-bookworm}
work=$PWD/build/debian
mkdir -p "$work"
trees=$(mktemp -d)
chmod 755 "$trees"
clean() {
    local tree
    for tree in "$trees"/*/; do bare_tree_remove "$tree"; done
    rm -rf --one-file-system "$trees"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
install='apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install'

part() { # WHAT TREE COMMAND: a line when it is done; the log where it fails
    local start=$SECONDS log=$work/${1// /_}.log
    if bare_tree_run "$trees/$2" "set -e; $3" >"$log" 2>&1; then
        printf '%-58s %4d s\n' "$1" $((SECONDS - start))
    else
        tail -n 30 "$log" >&2
        echo "test.sh: $1: failed; $log" >&2
        exit 1
    fi
}

bare_tree_make "$trees/user" "$suite"
[[ ${2:-} ]] || cp -r "$trees/user" "$trees/build"
for tree in "$trees"/*/; do bare_tree_mount "$tree"; done
part "package lists" user 'apt-get -qq update'
packages=${2:-$trees/build/out}
if [[ ! ${2:-} ]]; then
    git clone -q --no-hardlinks --depth 1 "file://$PWD" "$trees/build/idsprof"
    part "tools" build "apt-get -qq update; $install git ca-certificates dpkg-dev debhelper lintian build-essential"
    part "build dependencies" build "cd /idsprof && packaging/debian/build.sh --source /out && cd /out/idsprof-* && apt-get -qq -y --no-install-recommends build-dep ./"
    part "build" build "cd /idsprof && packaging/debian/build.sh /out"
    part "lintian" build "cd /out && lintian --allow-root --info --display-info --pedantic --fail-on error,warning,info,pedantic idsprof_*.changes"
fi
rm -f "$work"/*.deb
cp "$packages"/*.deb "$work/"
mkdir "$trees/user/packages"
cp "$packages"/{*.deb,*.dsc,*.tar.*} "$trees/user/packages/"
cp -r testdata/cpu8_annotated "$trees/user/trace"

# Every file but those that apt and dpkg keep about what was done.
files() {
    (cd "$trees/user" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
        -o -path ./var/log -o -path ./packages -o -path ./tmp -o -path ./root \) -prune -o -print | sort)
}
part "a user, and Python" user "$install python3 && useradd -m tester"
files >"$work/before"
part "install" user "$install /packages/idsprof_*.deb /packages/libidsprof0_*.deb /packages/libidsprof-dev_*.deb"
part "try without root" user "su tester -c 'set -e; cd; idsprof --version; idsprof report /trace | tee said | head -n 3; grep -q \"3 steps\" said
    idsprof doctor --json -p python3 >doctor || true
    for id in capture.pjrt capture.cuda python.hook; do grep -q \"\\\"\$id\\\", \\\"state\\\":\\\"ok\\\"\" doctor; done
    printf \"import time; time.sleep(0.1)\" >program.py; idsprof capture -o captured -- python3 program.py || test \$? -eq 1
    rm -rf said doctor program.py captured .cache .config profiles'
    dpkg --verify idsprof libidsprof0 libidsprof-dev"
part "remove" user "apt-get -qq -y purge --autoremove idsprof libidsprof0 libidsprof-dev"
files >"$work/after"
diff "$work/before" "$work/after" || { echo "test.sh: these were left behind, or are gone" >&2; exit 1; }
echo "nothing is left behind"
part "autopkgtest itself" user "$install autopkgtest"
part "autopkgtest" user "cd /packages && autopkgtest ./*.deb ./*.dsc -- null"
grep -E 'PASS|FAIL|tests passed|SKIP' "$work/autopkgtest.log" | tail -n 5
ls -l "$work"/*.deb
