#!/usr/bin/env bash
# bench/run.sh [ROUNDS]   idsprof against xprof, json.load and HTA, side by side; exit 1 when a goal is missed
#
# Needs the shared folder (../shared or $IDS_SHARED: the generator of the traces, the runner of xprof and a Kineto trace) and the
# Python packages of tests/requirements*.txt (.venv, or $IDS_PYTHON). The traces are made once, in build/bench. Add what it prints to RESULTS.md by hand,
# with the date and the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
shared=${IDS_SHARED:-../shared}
python=${IDS_PYTHON:-.venv/bin/python}
work=build/bench
[[ -f $shared/bench/gen_trace.py ]] || { echo "no $shared/bench: the generator of the traces is not there"; exit 77; }
"$python" -c 'import jax, xprof' 2>/dev/null || { echo "$python has no jax and xprof (tests/requirements.txt)"; exit 77; }

cmake --preset release >/dev/null
cmake --build --preset release --target idsprof -j "$(nproc)" -- --quiet
mkdir -p "$work"
cc -O3 -I. bench/walk.c -o "$work/walk"
cc -O2 -I. bench/gen_events.c -o "$work/gen_events"
make_trace() { # NAME ARGUMENTS: about half a minute for mid
    compgen -G "$work/$1/plugins/profile/*/*.xplane.pb" >/dev/null || "$python" "$shared/bench/gen_trace.py" "$work/$1" --perfetto 0 "${@:2}" >/dev/null
}
make_trace mid --steps 300 --layers 3 --pyloop 1500
make_trace small --steps 8 --layers 2 --pyloop 600

make_json() { # NAME EVENTS: about a quarter of a minute for 1,000,000
    [[ -f $work/$1.trace.json.gz ]] && return
    "$python" bench/gen_json.py "$work/$1.part" "$2" >/dev/null
    mv "$work/$1.part" "$work/$1.trace.json.gz"
}
make_json million 1000000
kineto=$shared/traces/kineto_big_v100/big.json.gz
if [[ ! -f $kineto ]] || ! "$python" -c 'import hta' 2>/dev/null; then
    echo "without HTA: no $kineto, or $python has no hta (tests/requirements-hta.txt)"
    kineto=-
fi

rc=0
"$python" bench/measure.py build/release/idsprof "$work/walk" "$python" "$shared/bench/xprof_tool.py" \
    "$work"/mid/plugins/profile/*/*.xplane.pb "$work"/small/plugins/profile/*/*.xplane.pb "${1:-3}" || rc=$?
echo
"$python" bench/measure_json.py build/release/idsprof "$python" "$work/million.trace.json.gz" "$kineto" "${1:-3}" || rc=$?
echo
"$python" bench/measure_import.py build/release/idsprof "$python" "$shared/bench/xprof_eventsdb.py" "$work"/mid/plugins/profile/*/*.xplane.pb "${1:-3}" || rc=$?
echo
"$python" bench/measure_scale.py build/release/idsprof "$work/gen_events" "$work/scale" --data 2000000000 --rounds "${1:-3}" \
    100000 300000 1000000 3000000 10000000 || rc=$?
exit $rc
