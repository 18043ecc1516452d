#!/usr/bin/env bash
# bare.sh: proves bootstrap.sh on a bare Debian 12. As root, on a Debian host with debootstrap.
# It makes one in a scratch folder, copies the files that git tracks into it, and runs both commands there, the demo twice: the
# second time without a network. What the demo built is installed as the README says, into a prefix with a space in its name, moved, and
# used from there. What the host needs to reach its mirror (sources, proxy, certificates) goes in too.
set -euo pipefail
cd "$(dirname "$0")/.."
((EUID == 0)) || { echo "bare.sh: needs root, for debootstrap and chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "bare.sh: needs debootstrap" >&2; exit 77; }

# shellcheck source=tests/support/bare_tree.sh
source tests/support/bare_tree.sh

root=$(mktemp -d)
chmod 755 "$root"
trap 'bare_tree_remove "$root"' EXIT
trap 'exit 1' HUP INT TERM
bare_tree_make "$root" bookworm

mkdir "$root/idsprof"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$root/idsprof"
bare_tree_mount "$root"

inside() {
    bare_tree_run "$root" "cd /idsprof && $1" "${unshare[@]}"
}
installed() { # what a user does after the demo
    echo "== installed into a prefix with a space, moved, through a link"
    inside 'cmake --install build/release --prefix "/opt/a prefix" >/dev/null && mkdir "/srv/moved here" && mv "/opt/a prefix" "/srv/moved here/it"'
    # The demo needed no network where the host has none; then a Python without jax shows that the hook comes up.
    # shellcheck disable=SC2016 # the bash in there expands it
    inside 'set -e; ln -s "/srv/moved here/it/bin/idsprof" /usr/bin/idsprof
        python=build/demo/venv/bin/python
        [[ -x $python ]] || { apt-get -qq -y --no-install-recommends install python3 >/dev/null && python=python3; }
        if "$python" -c "import jax" 2>/dev/null; then
            JAX_PLATFORMS=cpu idsprof capture -o /tmp/captured -- "$python" tests/live/capture_loop.py 200 annotate scopes 2>/tmp/said || echo "capture failed: $?"
            cat /tmp/said
            grep -q "^idsprof: caught  steps 153-157" /tmp/said
            grep -q "^idsprof: missed  nothing" /tmp/said
            idsprof report /tmp/captured | head -n 3
        else
            idsprof capture --audit -o /tmp/captured -- "$python" -c pass 2>/tmp/said || echo "capture failed: $?"
            cat /tmp/said
            grep -q "used neither jax nor CUDA" /tmp/said
        fi
        idsprof doctor --json -p "$python" >/tmp/doctor || true
        for id in capture.pjrt capture.cuda python.hook; do grep -q "\"$id\", \"state\":\"ok\"" /tmp/doctor || { cat /tmp/doctor; exit 1; }; done'
}
unshare=()
for command in "./bootstrap.sh demo" "./bootstrap.sh test fast"; do
    echo "== bare Debian 12: $command"
    start=$SECONDS
    inside "$command"
    echo "== $command: $((SECONDS - start)) s"
    [[ $command != *demo ]] || installed
done
echo "== again, without a network"
unshare=(unshare --net)
inside "(./bootstrap.sh demo && ./bootstrap.sh test fast) >again.log 2>&1" || { cat "$root/idsprof/again.log" >&2; exit 1; }
echo "bare.sh: both commands work on a bare Debian 12"
