#!/usr/bin/env python3
"""Collector A on a GPU: pjrt.py PYTHON OUT. First of all whether A alone brings device planes from jax on CUDA; then that the hook's
session behind the interposer does; both against jax.profiler on the same loop (kernel counts equal, medians of kernels of 20 us and
more within 2 %), what it costs in and out of a window, and all of it with CUDA graphs on and off. Prints lines for RESULTS.md, and
writes OUT/pjrt_results.json and the profiles. Environment: IDS_SOURCE_DIR, IDS_BUILD_DIR, IDS_GPU_ROUNDS.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
sys.path.insert(0, str(SOURCE / 'tests/oracle'))
import xplane_oracle as oracle

PYTHON, OUT = sys.argv[1], Path(sys.argv[2]).resolve()
IDSPROF = os.environ['IDS_BUILD_DIR'] + '/idsprof'
LOOP = str(SOURCE / 'tests/gpu/pjrt_loop.py')
FIRST, LAST = 100, 104
ROUNDS = int(os.environ.get('IDS_GPU_ROUNDS', '3'))  # of the overhead; with graphs off a third of it
failures, results = [], {}


def check(ok, message):
    if not ok:
        failures.append(message)
        print('FAIL', message)


def run(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env={**os.environ, **(environment or {})})
    if done.returncode:
        check(False, f'{command[0]} ended with {done.returncode}: {done.stderr[-800:]}')
        return {}, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def kernels(folder):
    """{name: [durations in us]} of what the streams of GPU planes ran, and the planes' names."""
    found, planes = {}, []
    for path in Path(folder).rglob('*.xplane.pb'):
        for plane in oracle.load(path):
            planes.append(plane.name.decode())
            if not plane.name.startswith(b'/device:GPU'):
                continue
            for line in plane.lines:
                for event in line.events if line.name.startswith(b'Stream') else []:
                    found.setdefault(event.name.decode(), []).append(event.dur / 1e6)
    return found, planes


def compare(what, ours, theirs, noise):
    """Counts equal; medians of kernels of 20 us and more within 2 %, or as near as two runs of jax.profiler are to each other."""
    counts = {name: (len(ours.get(name, [])), len(theirs.get(name, []))) for name in set(ours) | set(theirs)}
    different = {name: pair for name, pair in counts.items() if pair[0] != pair[1]}
    check(not different, f'{what}: counts of kernels differ from jax.profiler\'s (ours, theirs): {different}')
    worst = 0
    for name, durations in theirs.items():
        theirs_us = statistics.median(durations)
        if theirs_us < 20 or name not in ours:
            continue
        ours_us = statistics.median(ours[name])
        worst = max(worst, abs(ours_us / theirs_us - 1))
        check(abs(ours_us / theirs_us - 1) <= max(0.02, noise), f'{what}: {name}: median {ours_us:.2f} us, jax.profiler {theirs_us:.2f} us')
    return sum(len(durations) for durations in ours.values()), worst


def capture(name, options, environment):
    folder = Path(tempfile.mkdtemp(dir=OUT, prefix=name + '_'))
    said, err = run([IDSPROF, 'capture', '-o', folder, *options, '--', PYTHON, LOOP], environment)
    return said, folder, err


def between(seconds, first, last):
    return statistics.median(seconds[first:last])


OUT.mkdir(parents=True, exist_ok=True)
for graphs in ('on', 'off'):
    flags = {} if graphs == 'on' else {'XLA_FLAGS': os.environ.get('XLA_FLAGS', '') + ' --xla_gpu_enable_command_buffer='}
    references = []
    for again in range(2):
        reference = Path(tempfile.mkdtemp(dir=OUT, prefix=f'reference_{graphs}_'))
        said, _ = run([PYTHON, LOOP, '--profile', reference, str(FIRST), str(LAST)], flags)
        references.append(kernels(reference))
    (theirs, planes), (other, _) = references
    noise = max([abs(statistics.median(other[name]) / statistics.median(theirs[name]) - 1) for name in theirs
                 if name in other and statistics.median(theirs[name]) >= 20] or [0])
    print(f'graphs {graphs}: two runs of jax.profiler differ by up to {100 * noise:.2f} % in the median of a kernel of 20 us and more')
    print(f'graphs {graphs}: {said.get("device")}, jax {said.get("jax")}; jax.profiler: {sum(map(len, theirs.values()))} kernels, {planes}')
    check(theirs, 'jax.profiler alone recorded no kernels: nothing to compare with')
    for who, environment in (('A alone', {'IDSPROF_PJRT_FIRST': '1'}), ('the hook behind A', {})):
        said, folder, err = capture('pjrt', ['-s', str(FIRST), '-k', str(LAST - FIRST + 1)], {**flags, **environment})
        ours, planes = kernels(folder)
        gpu = [plane for plane in planes if plane.startswith('/device:GPU')]
        print(f'graphs {graphs}, {who}: device planes {gpu or "NONE"}, all {planes}')
        check(gpu, f'graphs {graphs}, {who}: no device plane ({err[-400:]})')
        count, worst = compare(f'graphs {graphs}, {who}', ours, theirs, noise) if gpu else (0, 0)
        print(f'graphs {graphs}, {who}: {count} kernels, worst median {100 * worst:.2f} % off')
        results[f'{who}, graphs {graphs}'] = {'kernels': count, 'worst_median': worst, 'planes': planes}

    # Overhead: the medians of steps outside and inside of windows, rounds of both in turn.
    times = {'bare': [], 'outside': [], 'inside': [], 'jax.profiler inside': []}
    for _ in range(ROUNDS if graphs == 'on' else ROUNDS // 3):
        said, _ = run([PYTHON, LOOP], flags)
        times['bare'].append(between(said.get('seconds', [0]), 50, 190))
        said, _, _ = capture('overhead', ['-s', '100000'], flags)
        times['outside'].append(between(said.get('seconds', [0]), 50, 190))
        said, _, _ = capture('overhead', ['-s', '50', '-k', '140'], flags)
        times['inside'].append(between(said.get('seconds', [0]), 60, 180))
        with tempfile.TemporaryDirectory() as folder:
            said, _ = run([PYTHON, LOOP, '--profile', folder, '50', '189'], flags)
        times['jax.profiler inside'].append(between(said.get('seconds', [0]), 60, 180))
    bare = statistics.median(times['bare'] or [1])
    for key, values in times.items() if times['bare'] else ():
        print(f'graphs {graphs}: a step {key}: {1e6 * statistics.median(values):.1f} us, {100 * (statistics.median(values) / bare - 1):+.1f} %')
    results[f'overhead, graphs {graphs}'] = times
(OUT / 'pjrt_results.json').write_text(json.dumps({'results': results, 'failures': failures}, indent=1))
sys.exit(bool(failures))
