#!/bin/bash
# test.sh [SUITE...]: installs the wheel of this machine as a user would, and tries it: in a fresh venv here, and as a user without root
# in bare trees of the Debian releases that are named (bullseye, bookworm, trixie; they need debootstrap and root).
#
# Tried are --version, list, report (the same JSON as that of the release build), diff, doctor, the Python module, capture of a small program,
# and that `pip uninstall` leaves nothing; here also `pip install --user`, and uvx where there is uv. Needed: build.sh before, and a release
# build to compare with: build/release/idsprof, or what IDSPROF names. IDS_JAX_WHEELS names a folder with a folder of wheels for each Python
# (py3.11: what `pip download jax` leaves there): where there is one, the loop of the demo is captured too, and its report must know its steps.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/wheel
wheel=$(echo "$work"/idsprof-*-manylinux_2_17_"$(uname -m)".whl)
release=${IDSPROF:-$PWD/build/release/idsprof}
trace=$PWD/testdata/cpu8_annotated
loop=$PWD/tests/live/capture_loop.py
trap 'echo "test.sh: FAILED in line $LINENO" >&2' ERR

# What is tried, in any system: a script, for it runs inside bare trees too. $1: where the venv goes, $2: the wheel, $3: a trace.
trial=$work/trial.sh
cat >"$trial" <<'END'
set -euo pipefail
python3 -m venv "$1"
"$1/bin/pip" install -q --no-index --disable-pip-version-check "$2"
PATH=$1/bin:$PATH
export XDG_CACHE_HOME=$1/cache
idsprof --version
idsprof list "$3" >/dev/null
idsprof report --json "$3" >"$1/report.json"
idsprof diff "$3" "$3" >/dev/null
{ idsprof fleet report "$3" || true; } 2>&1 | grep -q "pip install 'idsprof\[fleet\]'" # Dask is an extra
idsprof doctor >"$1/doctor" || grep -q 'jax .*problem' "$1/doctor" # without jax nothing else may be missing
[[ $(grep -c ' problem ' "$1/doctor") -le 1 ]]
python - "$3" <<'PYTHON'
import idsprof, sys
steps = idsprof.report(sys.argv[1])['metrics']['steps.count']['value']
assert steps == 3, steps
assert idsprof.query(sys.argv[1], 'SELECT count(*) AS n FROM steps')[0]['n'] >= 3
PYTHON
printf 'import time\nwith open("ran", "w") as f: f.write("ran")\n' >"$1/program.py"
(cd "$1" && idsprof capture -- python program.py >/dev/null 2>captured || true; grep -q ran ran; cat captured | head -3)
jax=$(python -c 'import sys; print("py%d.%d" % sys.version_info[:2])')
if [[ -d ${4:-}/$jax ]]; then
    pip install -q --no-index --disable-pip-version-check --find-links "$4/$jax" jax
    JAX_PLATFORMS=cpu idsprof capture -o "$1/run of jax" -- python "$5" 200 annotate scopes 2>"$1/said" || true
    grep '^idsprof: caught  steps 153-157' "$1/said" || { cat "$1/said"; exit 1; }
    python -c 'import idsprof, sys; print("steps:", idsprof.report(sys.argv[1])["metrics"]["steps.count"]["value"])' "$1/run of jax"
    rm -rf "$1/run of jax"
fi
pip uninstall -qy idsprof
left=$(find "$1" -path "$1/cache" -prune -o -iname '*idsprof*' -print | grep -v -e '/profiles' || true)
[[ -z $left ]] || { echo "left behind: $left" >&2; exit 1; }
END

compare() { # FOLDER of the trial
    "$release" report --json --no-cache "$trace" >"$work/release.json"
    python3 - "$1/report.json" "$work/release.json" <<'END'
import json, sys
one, other = (json.load(open(path)) for path in sys.argv[1:])
assert one['metrics'] == other['metrics'] and one['tables'].keys() == other['tables'].keys()
END
}

echo "== here: $(python3 --version), $("$release" --version)"
rm -rf "$work/tried"
bash "$trial" "$work/tried" "$wheel" "$trace" "${IDS_JAX_WHEELS:-}" "$loop"
compare "$work/tried"

# In no environment of its own, and in one of a moment.
home=$work/home
rm -rf "$home"
mkdir "$home"
if HOME=$home python3 -m pip install -q --user --no-index --disable-pip-version-check "$wheel" 2>"$work/user.log"; then
    HOME=$home "$home/.local/bin/idsprof" --version
    HOME=$home python3 -m pip uninstall -qy idsprof 2>>"$work/user.log"
    [[ -z $(find "$home/.local" -iname '*idsprof*') ]]
else
    echo "not tried: pip install --user ($(head -n 1 "$work/user.log"))"
fi
if command -v uvx >/dev/null; then
    HOME=$home uvx --offline --from "$wheel" idsprof --version 2>/dev/null
else
    echo "not tried: uvx, for there is no uv"
fi

for suite; do
    echo "== $suite"
    tree=$work/trees/$suite
    if [[ ! -e $tree/made ]]; then
        mkdir -p "$tree"
        debootstrap --variant=minbase --include=python3,python3-venv,passwd "$suite" "$tree" >"$work/debootstrap.log"
        chroot "$tree" useradd -m user
        touch "$tree/made"
    fi
    rm -rf "$tree/home/user/tried"
    cp -r "$wheel" "$trial" "$trace" "$loop" ${IDS_JAX_WHEELS:+"$IDS_JAX_WHEELS"} "$tree/home/user"
    chroot "$tree" chown -R user /home/user
    unshare --mount --pid --fork --mount-proc="$tree/proc" chroot "$tree" su user -c "cd && bash trial.sh /home/user/tried /home/user/$(basename "$wheel") /home/user/$(basename "$trace") '${IDS_JAX_WHEELS:+/home/user/$(basename "$IDS_JAX_WHEELS")}' /home/user/$(basename "$loop")"
    compare "$tree/home/user/tried"
done
echo "all is well"
