#!/usr/bin/env python3
"""`report --compat xprof` and `--compat hta` must give the figures that XProf and HTA themselves give of the same file.

XProf: the idle ratio of a GPU is the row IDLE of framework_op_stats; of a TPU it and the duty cycle stand in the overview, with one
decimal; device compute of a step (one device alone) is within 0.1 %, because XProf rounds each kernel.
HTA: temporal breakdown, overlap of communication, idle classes (percents with two decimals; times to 0.1 %, or a microsecond).
Nsight Systems does not run here: its definitions are in testdata/mini/compat_nsys.mini.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof and HTA).  Exit: 0, 1, 77.
"""
import logging
import os
import sys

from peer import SHARED, absent, needs, our_rows, report

needs('hta')
from peer_xprof import rows_of, xprof, xprof_rows  # noqa: E402

os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
logging.disable(logging.WARNING)
from hta.trace_analysis import TraceAnalysis  # noqa: E402

TRACES = SHARED / 'traces'
# HTA counts 41 waits of streams (cuda_sync) as work of the GPU, which are none of its events to us.
WAITS = ('kineto_cold_start',)
failures = compared = 0


def check(what, ours, theirs, tolerance):
    global failures, compared
    compared += 1
    ok = ours is not None and abs(ours - theirs) <= tolerance
    failures += not ok
    print('%s %s: idsprof %s, the peer %s' % ('ok  ' if ok else 'FAIL', what, ours, theirs))


def compat(peer, path):
    """{(figure, device): value}"""
    rows = our_rows(report(path, '--compat', peer)['tables']['compat'])
    return {(row['figure'], row['device']): row['theirs'] for row in rows}


# ---- XProf ----

def idle_of_gpu(path):
    rows = xprof_rows(path, 'framework_op_stats')
    times = {row['operation']: row['total_self_time'] for row in rows if row['host_or_device'] == 'Device' and row['type'] == 'IDLE'}
    whole = sum(row['total_self_time'] for row in rows if row['host_or_device'] == 'Device')
    return times.get('IDLE', 0) / whole


def overview_of(path):
    return {key: value for table in xprof(path, 'overview_page') for key, value in (table.get('p') or {}).items()}


def bandwidth_of(path):
    """Of main memory, of all ops together, as op_profile has it without its row IDLE."""
    profile = xprof(path, 'op_profile')
    return profile['byProgramExcludeIdle']['metrics']['bandwidthUtils'][0]


def with_xprof(name, path):
    ours = compat('xprof', path)
    idle = ours.get(('device idle ratio', None))
    if ('HBM utilization', None) in ours:
        theirs = bandwidth_of(path)
        # Of cuDNN's convolutions it counts a part of the bytes, of which nothing says what they are.
        check(name + ': HBM utilization', ours[('HBM utilization', None)], theirs, (0.02 if 'conv' in name else 0.001) * theirs)
    if name.startswith('tpu'):
        overview = overview_of(path)
        check(name + ': device idle', idle, float(overview['device_idle_time_percent'].rstrip('%')) / 100, 0.0005)
        check(name + ': duty cycle', ours.get(('device duty cycle', None)),
              float(overview['device_duty_cycle_percent'].rstrip('%')) / 100, 0.0005)
        return
    check(name + ': device idle', idle, idle_of_gpu(path), 0.001)
    for table in xprof(path, 'overview_page'):
        for row in rows_of(table) if {'deviceComputeTimeMs', 'stepnum'} <= {column['id'] for column in table.get('cols', [])} else []:
            compute = float(row['deviceComputeTimeMs']) / 1e3
            own = [value for (figure, _), value in ours.items() if figure == 'step breakdown: device compute']
            nearest = min(own, key=lambda value: abs(value - compute), default=None)
            check(name + ': compute of a step', nearest, compute, 0.001 * compute)


# ---- HTA ----

def with_hta(name, path):
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
