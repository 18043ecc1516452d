#!/usr/bin/env python3
"""`report --compat xprof` and `--compat hta` must give the figures that XProf and HTA themselves give of the same file.

XProf: the idle ratio of a GPU is the row IDLE of framework_op_stats; of a TPU it and the duty cycle stand in the overview, with one
decimal; device compute of a step (one device alone) is within 0.1 %, because XProf rounds each kernel.
HTA: temporal breakdown, overlap of communication, idle classes (percents with two decimals; times to 0.1 %, or a microsecond).
Nsight Systems does not run here: its definitions are in testdata/mini/compat_nsys.mini.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof and HTA).  Exit: 0, 1, 77.
"""
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
TRACES = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared') / 'traces'
IDSPROF = os.environ.get('IDSPROF') or ''
CI = os.environ.get('IDS_CI') == '1'
PYTHON = os.environ.get('IDS_PYTHON')
# HTA counts 41 waits of streams (cuda_sync) as work of the GPU, which are none of its events to us.
WAITS = ('kineto_cold_start',)
failures = compared = 0


def absent(reason):
    print('SKIP: ' + reason)
    sys.exit(1 if CI else 77)


os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
logging.disable(logging.WARNING)
try:
    from hta.trace_analysis import TraceAnalysis
    from xprof.convert import raw_to_tool_data
except ImportError:
    if PYTHON and not os.environ.get('IDS_REEXEC'):     # started with a Python that lacks them
        os.environ['IDS_REEXEC'] = '1'
        os.execvp(PYTHON, [PYTHON, *sys.argv])
    absent('%s has no xprof, or no hta (tests/requirements*.txt)' % sys.executable)


def check(what, ours, theirs, tolerance):
    global failures, compared
    compared += 1
    ok = ours is not None and abs(ours - theirs) <= tolerance
    failures += not ok
    print('%s %s: idsprof %s, the peer %s' % ('ok  ' if ok else 'FAIL', what, ours, theirs))


def compat(peer, path):
    """{(figure, device): value}"""
    run = subprocess.run([IDSPROF, 'report', '--json', '--compat', peer, str(path)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit('FAIL: idsprof report --compat %s %s: exit %d: %s' % (peer, path, run.returncode, run.stderr[-1000:]))
    table = json.loads(run.stdout)['tables']['compat']
    ids = [column['id'] for column in table['columns']]
    rows = [dict(zip(ids, row)) for row in table['rows']]
    return {(row['figure'], row['device']): row['theirs'] for row in rows}


# ---- XProf ----

def xprof(path, tool):
    with tempfile.TemporaryDirectory() as folder:       # it writes its caches beside its input
        copy = os.path.join(folder, 'host.xplane.pb')
        shutil.copyfile(path, copy)
        data, _ = raw_to_tool_data.xspace_to_tool_data([copy], tool, dict(use_saved_result=False))
        return json.loads(data)


def idle_of_gpu(path):
    table = xprof(path, 'framework_op_stats')[0]
    ids = [column['id'] for column in table['cols']]
    rows = [dict(zip(ids, (cell and cell.get('v') for cell in row['c']))) for row in table['rows']]
    times = {row['operation']: row['total_self_time'] for row in rows if row['host_or_device'] == 'Device' and row['type'] == 'IDLE'}
    whole = sum(row['total_self_time'] for row in rows if row['host_or_device'] == 'Device')
    return times.get('IDLE', 0) / whole


def overview_of(path):
    return {key: value for table in xprof(path, 'overview_page') for key, value in (table.get('p') or {}).items()}


def with_xprof(name, path):
    ours = compat('xprof', path)
    idle = ours.get(('device idle ratio', None))
    if name.startswith('tpu'):
        overview = overview_of(path)
        check(name + ': device idle', idle, float(overview['device_idle_time_percent'].rstrip('%')) / 100, 0.0005)
        check(name + ': duty cycle', ours.get(('device duty cycle', None)),
              float(overview['device_duty_cycle_percent'].rstrip('%')) / 100, 0.0005)
        return
    check(name + ': device idle', idle, idle_of_gpu(path), 0.001)
    overview = xprof(path, 'overview_page')
    for table in overview:
        ids = [column['id'] for column in table.get('cols', [])]
        for row in table.get('rows', []) if 'deviceComputeTimeMs' in ids and 'stepnum' in ids else []:
            compute = float(row['c'][ids.index('deviceComputeTimeMs')]['v']) / 1e3
            own = [value for (figure, _), value in ours.items() if figure == 'step breakdown: device compute']
            nearest = min(own, key=lambda value: abs(value - compute), default=None)
            check(name + ': compute of a step', nearest, compute, 0.001 * compute)


# ---- HTA ----

def with_hta(name, path):
    global failures
    try:
        analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True)
        times = analysis.get_temporal_breakdown(visualize=False).iloc[0]
        overlap = analysis.get_comm_comp_overlap(visualize=False).iloc[0]['comp_comm_overlap_pctg']
        idle = analysis.get_idle_time_breakdown(visualize=False)[0]
    except Exception as error:                          # its own defect
        print('     %s: HTA cannot read it: %s' % (name, type(error).__name__))
        return
    ours = {}
    for (figure, device), value in compat('hta', path).items():
        ours.setdefault(figure, []).append(value)
    if any(len(values) > 1 for values in ours.values()):
        print('     %s: several devices, which HTA puts into one' % name)
        return
    one = {figure: values[0] for figure, values in ours.items()}
    for part in ('idle', 'compute', 'non_compute'):
        check('%s: %s_time' % (name, part), one.get('temporal breakdown: %s_time' % part), times['%s_time_pctg' % part] / 100, 0.0002)
    if overlap == overlap:                              # no communication: not a number
        check(name + ': overlap', one.get('comm_comp_overlap'), overlap / 100, 0.0002)
    for kind in ('host_wait', 'kernel_wait', 'other'):
        theirs = idle[idle['idle_category'] == kind]['idle_time'].sum() / 1e6
        check('%s: %s' % (name, kind), one.get('idle_time_breakdown: ' + kind), theirs, max(1e-3 * abs(theirs), 1e-6))


def main():
    if not os.access(IDSPROF, os.X_OK):
        absent('IDSPROF names no program (%r)' % IDSPROF)
    if not TRACES.is_dir():
        absent('there are no traces in %s' % TRACES)
    for path in sorted(TRACES.rglob('*.xplane.pb')):
        name = path.relative_to(TRACES).parts[0]
        if name.startswith(('gpu_', 'tpu_')):
            with_xprof(name, path)
    for path in sorted(TRACES.rglob('*.json.gz')):
        name = path.relative_to(TRACES).parts[0]
        if name.startswith('kineto_') and name not in WAITS:
            with_hta('%s/%s' % (name, path.name), path)
    print('%d figures compared, %d failures' % (compared, failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
