#!/usr/bin/env python3
"""On PyTorch (Kineto) traces our figures must equal HTA's (Holistic Trace Analysis) within 0.1 %: window, busy and idle time, compute
time, communication and its overlap with compute, and every kernel's executions and time.

What HTA takes for these, as its source has it:
  its GPU events: those with the arg "stream" >= 0; of a trace with more than one ProfilerStep only those whose correlation is also that
      of a host event which begins before the last step ends. (Without include_last_profiler_step, which is used here, it would drop
      the last step too, and with it a sixth of these traces.)
  communication: the name begins with nccl and has Kernel in it; memory: it begins with Memcpy, Memset or dma; the rest is compute
  kernel time: from the first to the last GPU event; busy: the union of all; compute time: the union of compute;
      non-compute: busy less compute. Overlap: time both communication and compute run, over the union of communication.
We take the same, but for two things, on purpose: an event of the device counts whether or not its launch was recorded, since the device
was busy with it; and a stream that waits for an event (cuda_sync) does nothing, where HTA has time of the GPU, and of a Stream Wait Event a kernel. Where that differs
(kineto_v100_test: 614 of 15,632 events have no host event; kineto_cold_start: 41 waits) the comparison has a third party,
computed here from the JSON alone: by our rule it must equal idsprof, by HTA's it must equal HTA. HTA fails inside of itself on two
traces, and knows no device but a GPU: there the third party is what is left.

HTA rounds times to whole microseconds inwards unless told otherwise; here it is told.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with HTA).  Exit: 0, 1, 77.
"""
import gzip
import json
import logging
import os
import re
import sys
from collections import defaultdict

from peer import SHARED, absent, needs, our_rows, report

needs('hta')
os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
logging.disable(logging.WARNING)
from hta.trace_analysis import TraceAnalysis  # noqa: E402
from hta.utils.utils import get_kernel_type, merge_kernel_intervals  # noqa: E402

TOLERANCE = 1e-3
HTA_READS = 10          # of the traces of shared/traces; the others fail inside of it
FIGURES = ('window', 'busy', 'idle', 'compute', 'communication', 'overlap')
failures = compared = 0
read_by_hta = []


def check(what, ours, theirs, who):
    """Both are numbers that must agree; what is 0 on one side must be it on the other."""
    global failures, compared
    compared += 1
    # A picosecond is what rounding in their doubles may leave of a 0.
    if ours is None or abs(float(ours) - float(theirs)) > max(TOLERANCE * abs(float(theirs)), 1e-12):
        failures += 1
        print('FAIL %s: idsprof %s, %s %s' % (what, ours, who, theirs))


def check_kernels(what, ours, theirs, who):
    """{name: (executions, seconds)} on both sides."""
    global failures, compared
    compared += 1
    wrong = [name for name in sorted(set(ours) | set(theirs))
             if name not in ours or name not in theirs or ours[name][0] != theirs[name][0]
             or abs(ours[name][1] - theirs[name][1]) > TOLERANCE * theirs[name][1]]
    failures += bool(wrong)
    for name in wrong[:5]:
        print('FAIL %s: kernel %s: idsprof %s, %s %s' % (what, name[:80], ours.get(name), who, theirs.get(name)))


def union(spans):
    """The union of spans, as sorted spans that do not touch."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(spans):
    return sum(end - start for start, end in spans)


def common(a, b):
    """The time in both of two unions."""
    return length(a) + length(b) - length(union(a + b))


# ---- the third party: the JSON and nothing else ----

RUNTIME = ('cuda_runtime', 'cuda_driver', 'runtime')
WORK = {'kernel': 'kernel', 'gpu_memcpy': 'copy', 'gpu_memset': 'copy', 'memcpy': 'copy', 'memset': 'copy'}    # PyTorch 1.8 wrote Kernel, Memcpy, Memset


def gpu_events(path):
    """(category, name, start, end in seconds, does HTA take it) of each event of a GPU."""
    with gzip.open(path) as f:
        events = json.load(f)['traceEvents']
    first = min(float(e['ts']) for e in events if e.get('ph') == 'X')     # doubles of epochs have steps of 0.1 us
    host, steps = {}, []
    for e in events:
        if e.get('cat', '').lower() in RUNTIME and 'correlation' in e.get('args', {}):
            host[e['args']['correlation']] = float(e['ts'])
        if e.get('ph') == 'X' and e.get('cat', '').lower() in ('user_annotation', 'operator') and e['name'].startswith('ProfilerStep'):
            steps.append(float(e['ts']) + float(e['dur']))
    for e in events:
        category = WORK.get(e.get('cat', '').lower())
        if e.get('cat') == 'cuda_sync' and e['args'].get('stream', -1) >= 0:
            category = 'wait'
        if category:
            start = float(e['ts']) - first
            launched = host.get(e['args']['correlation'])
            by_steps = len(steps) < 2 or (launched is not None and launched <= max(steps))
            yield (category, e['name'], start / 1e6, (start + float(e['dur'])) / 1e6, by_steps)


def figures(events):
    events = list(events)
    everything = union((start, end) for _, _, start, end, _ in events)
    communication = union((start, end) for category, name, start, end, _ in events
                          if category == 'kernel' and re.match('nccl.*Kernel', name))
    compute = union((start, end) for category, name, start, end, _ in events
                    if category == 'kernel' and not re.match('nccl.*Kernel', name))
    window, busy = everything[-1][1] - everything[0][0], length(everything)
    kernels = defaultdict(lambda: (0, 0.0))
    for category, name, start, end, _ in events:
        if category == 'kernel':
            count, seconds = kernels[name]
            kernels[name] = count + 1, seconds + end - start
    return dict(window=window, busy=busy, idle=window - busy, compute=length(compute),
                communication=length(communication), overlap=common(communication, compute)), dict(kernels)


# ---- HTA and idsprof ----

def hta(path):
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True)
    times = analysis.get_temporal_breakdown(visualize=False).iloc[0] / 1e6
    ratio = analysis.get_comm_comp_overlap(visualize=False).iloc[0]['comp_comm_overlap_pctg'] / 100
    frame, names = analysis.t.get_trace(0), analysis.t.symbol_table.get_sym_table()
    gpu = frame[frame['stream'].ne(-1)].copy()
    gpu['title'] = gpu['name'].apply(lambda i: names[i])
    gpu['type'] = gpu['title'].apply(get_kernel_type)
    merged = merge_kernel_intervals(gpu[gpu['type'] == 'COMMUNICATION'].copy())
    communication = (merged['end'].sum() - merged['ts'].sum()) / 1e6
    kernels = gpu[gpu['type'].isin(('COMMUNICATION', 'COMPUTATION'))].groupby('title')['dur'].agg(['count', 'sum'])
    return dict(window=times['kernel_time(us)'], busy=times['compute_time(us)'] + times['non_compute_time(us)'],
                idle=times['idle_time(us)'], compute=times['compute_time(us)'], communication=communication,
                overlap=ratio), {name: (int(row['count']), row['sum'] / 1e6) for name, row in kernels.iterrows()}


def idsprof(path):
    found = report(path, '--no-cache')
    value = {name: metric['value'] for name, metric in found['metrics'].items()}
    kernels = defaultdict(lambda: (0, 0.0))
    for row in our_rows(found['tables']['kernels']):            # one for each launch shape
        count, seconds = kernels[row['name']]
        kernels[row['name']] = count + row['count'], seconds + row['total']
    return dict(window=value['run.window'], busy=value['device.busy'], idle=value['idle.total'],
                compute=value['device.compute_share'] * value['run.window'] if value['device.compute_share'] is not None else None,
                communication=value['collectives.total'], overlap=value['collectives.overlapped']), dict(kernels)


def compare(path):
    global failures
    title = '%s/%s' % (path.parent.name, path.name)
    everything = list(gpu_events(path))
    events = [event for event in everything if event[0] != 'wait']
    if not events:
        print('     %s: no GPU of CUDA or ROCm, and HTA knows no other' % title)
        return
    launched = [('kernel', *event[1:]) if event[1] == 'Stream Wait Event' else event for event in everything if event[4]]
    try:
        theirs, their_kernels = hta(path)
        read_by_hta.append(path)
    except Exception as error:      # its own defect: what is left is the third party
        print('     %s: HTA cannot read it: %s: %s' % (title, type(error).__name__, str(error)[:100]))
        theirs = None
    if theirs:
        compare_with_hta(title, events, launched, theirs, their_kernels)
    found = idsprof(path)
    if found is None:
        failures += 1
        return
    ours, our_kernels = found
    want, want_kernels = figures(events)
    for name in FIGURES:
        check('%s: %s' % (title, name), ours[name], want[name], 'JSON')
        if theirs and launched == events:       # the two rules are one here: against HTA itself
            mine = ours[name]
            if name == 'overlap':
                if not ours['communication']:
                    continue
                mine = round(mine / ours['communication'], 4)
            check('%s: %s' % (title, name), mine, theirs[name], 'HTA')
    check_kernels(title, our_kernels, want_kernels, 'JSON')
    if theirs and launched == events:
        check_kernels(title, our_kernels, their_kernels, 'HTA')


def compare_with_hta(title, events, launched, theirs, their_kernels):
    by_their_rule, kernels_by_their_rule = figures(launched)
    for name in FIGURES:
        mine = by_their_rule[name]
        if name == 'overlap':       # HTA rounds the ratio to 0.01 %
            if not by_their_rule['communication']:
                continue            # it divides by it
            mine = round(mine / by_their_rule['communication'], 4)
        check('%s: %s, by HTA\'s rule from the JSON' % (title, name), mine, theirs[name], 'HTA')
    check_kernels(title + ', by HTA\'s rule from the JSON', kernels_by_their_rule, their_kernels, 'HTA')
    print('     %s: %d GPU events, %d with a recorded launch; HTA: %s' % (
        title, len(events), len(launched), ', '.join('%s %.6f' % pair for pair in theirs.items())))


def main():
    files = sorted((SHARED / 'traces').glob('kineto_*/*.json.gz'))
    if not files:
        absent('%s holds no Kineto traces' % (SHARED / 'traces'))
    for path in files:
        before = failures
        compare(path)
        print('%s %s' % ('ok  ' if failures == before else 'FAIL', path.name), flush=True)
    check('traces that HTA reads, of %d' % len(files), len(read_by_hta), HTA_READS, 'must be')
    print('%d figures compared, %d failures' % (compared, failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
