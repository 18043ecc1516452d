#!/usr/bin/env python3
"""Collector B on a real GPU: counts and times against programs that count themselves, an independent CUPTI client, torch.profiler and
jax.profiler; overhead; recordings for the stub. Called by cuda.sh, which built LOOP and RECORDER into WORK.

    cuda.py WORK OUT [PART ...]     OUT gets recordings (*.cupti) and results.json; PART: plain_program, torch_program, ...

Environment: IDS_SOURCE_DIR, IDS_BUILD_DIR (with lib/idsprof), IDSPROF (may be missing: then the variables that it would set are set
here). Prints a line for each finding; exit 1 when one is bad."""
import glob
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time

SOURCE, BUILD = os.environ['IDS_SOURCE_DIR'], os.environ['IDS_BUILD_DIR']
WORK, OUT = sys.argv[1], sys.argv[2]
sys.path.insert(0, SOURCE + '/tests/oracle')
import xplane_oracle as oracle  # noqa: E402

HOME = BUILD + '/lib/idsprof'
LOOP, RECORDER = WORK + '/cuda_loop', WORK + '/recorder.so'
PROGRAM = os.environ.get('IDSPROF', BUILD + '/idsprof')
RUNS = subprocess.run([PROGRAM, '--version'], capture_output=True).returncode == 0 if os.path.exists(PROGRAM) else False
results, bad = {}, []
captures = 0


def say(key, text, good=None, **numbers):
    results[key] = dict(numbers, good=good)
    print('%-8s %-28s %s' % ('' if good is None else 'ok' if good else 'BAD', key, text), flush=True)
    if good is False:
        bad.append(key)


class Capture:
    """Runs a command with the collector in it. The plan's keys are those of collectors/common/plan.h."""

    def __init__(self, command, collector=True, **plan):
        global captures
        captures += 1
        self.folder = '%s/capture%d' % (WORK, captures)
        os.makedirs(self.folder + '/.idsprof')
        plan = dict(dict(start_step=-1, steps=0, duration_ns=0, max=1, run='run'), **plan)
        environment = dict(os.environ)
        environment.pop('PYTHONPATH', None)  # the Python hook stays out: it has priority
        if collector:
            environment.update(IDSPROF_SESSION=self.folder, IDSPROF_HOME=HOME,
                               IDSPROF_PLAN=';'.join('%s=%s' % item for item in plan.items()),
                               CUDA_INJECTION64_PATH=HOME + '/libidsprof_cuda.so', NVTX_INJECTION64_PATH=HOME + '/libidsprof_cuda.so')
        begun = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        self.seconds = time.monotonic() - begun
        self.stdout, self.stderr, self.returncode = run.stdout, run.stderr, run.returncode
        self.hello = [json.loads(line) for path in glob.glob(self.folder + '/.idsprof/*.hello') for line in open(path)]
        self.files = glob.glob(self.folder + '/plugins/profile/*/*.pb')
        if run.returncode:
            say('run %d' % captures, '%s: %s' % (' '.join(command), run.stderr[-400:]), False)

    def said(self, event, key):
        found = [line[key] for line in self.hello if line['event'] == event and key in line]
        return found[0] if found else None

    def why(self):
        return '; '.join(line['why'] for line in self.hello if line['event'] in ('skipped', 'lost', 'note')) or self.stderr[-300:]

    def kernels(self):
        return kernels_of(self.files[0]) if self.files else {}

    def own(self):
        return json.loads(self.stdout.splitlines()[-1]) if self.stdout.strip() else {}


def kernels_of(path, whole=False):
    """{name: [microseconds]} of the kernels (events with kernel_details) of all GPUs; `whole`: by names with arguments."""
    found = {}
    for plane in oracle.load(path):
        if not plane.name.startswith(b'/device:GPU'):
            continue
        for line in plane.lines:
            if not line.name.startswith(b'Stream #'):
                continue
            for event in line.events:
                if any(key == b'kernel_details' for key, _ in event.stats):
                    name = event.name.decode()
                    found.setdefault(name if whole else name.split('(')[0].split('<')[0].strip(), []).append(event.dur / 1e6)
    return found


def copies_of(path, name):
    return [e for p in oracle.load(path) if p.name.startswith(b'/device:GPU') for line in p.lines for e in line.events if e.name == name]


def compare(key, ours, theirs, counts=True):
    """Counts of each kernel equal, medians of those of 20 us and more within 2 %."""
    if counts:
        same = {k: len(v) for k, v in ours.items()} == {k: len(v) for k, v in theirs.items()}
        say(key + ': counts', '%d kernels of %d names; the other has %d of %d' % (
            sum(map(len, ours.values())), len(ours), sum(map(len, theirs.values())), len(theirs)), same)
        if not same:
            for name in sorted(set(ours) | set(theirs)):
                if len(ours.get(name, [])) != len(theirs.get(name, [])):
                    print('           %s: %d, the other %d' % (name, len(ours.get(name, [])), len(theirs.get(name, []))))
    worst, compared = 0, 0
    for name in ours:
        if name not in theirs or statistics.median(theirs[name]) < 20:
            continue
        compared += 1
        ratio = statistics.median(ours[name]) / statistics.median(theirs[name])
        worst = max(worst, abs(ratio - 1))
        print('           %s: median %.2f us, the other %.2f us' % (name[:60], statistics.median(ours[name]), statistics.median(theirs[name])))
    say(key + ': medians', 'within %.2f %%, of %d kernels of 20 us and more' % (worst * 100, compared), worst <= 0.02 if compared else None,
        worst=worst)


def record(key, command, graphs=False):
    """The same program under the independent client: {name: [microseconds]}, and a recording for the stub."""
    path = '%s/%s.cupti' % (OUT, key)
    environment = dict(os.environ, CUDA_INJECTION64_PATH=RECORDER, RECORD_TO=path, **({'RECORD_GRAPHS': '1'} if graphs else {}))
    subprocess.run(command, capture_output=True, env=environment, timeout=300)
    found = {}
    names = {}
    for line in open(path) if os.path.exists(path) else []:
        if not line.startswith('kernel '):
            continue
        words = dict(word.split('=', 1) for word in line.split(' name=')[0].split()[1:])
        name = line.split(' name=')[1].strip()
        if name not in names:
            names[name] = subprocess.run(['c++filt', name], capture_output=True, text=True).stdout.split('(')[0].split('<')[0].strip()
        found.setdefault(names[name], []).append((int(words['end']) - int(words['start'])) / 1e3)
    return found


def plain_program():
    for graph in ('launches', 'graph'):
        key = 'plain, ' + graph
        run = Capture([LOOP, '200', graph, 'loop'], range='loop')
        if not run.files:
            say(key, 'no window: ' + run.why(), False)
            continue
        own, kernels = run.own(), run.kernels()
        say(key + ': counts', '%s; the program itself: %d and %d' % ({k: len(v) for k, v in kernels.items()}, own['spin_short'], own['spin_long']),
            len(kernels.get('spin_short', [])) == own['spin_short'] and len(kernels.get('spin_long', [])) == own['spin_long'])
        for name, count in ((b'MemcpyH2D', own['h2d']), (b'MemcpyD2H', own['d2h'])):
            copies = copies_of(run.files[0], name)
            good = len(copies) == count and all(b'size:%d ' % own['bytes'] in dict(e.stats)[b'memcpy_details'] for e in copies)
            say('%s: %s' % (key, name.decode()), '%d; the program itself: %d' % (len(copies), count), good)
        say(key + ': ledger', 'drops %s, incomplete %s, start %.2f ms, stop %.1f ms' % (
            run.said('written', 'drops'), [x['value'] for x in run.hello if x.get('key') == 'cuda_incomplete'],
            run.said('opened', 'start_ns') / 1e6, run.said('written', 'stop_ns') / 1e6), run.said('written', 'drops') == 0)
        whole = Capture([LOOP, '200', graph, 'loop'], range='none-such')  # asleep: the times of the loop alone
        inside, outside = own['seconds'], whole.own().get('seconds', 0)
        nothing = Capture([LOOP, '200', graph, 'loop'], collector=False).own()
        say(key + ': overhead', 'loop %.1f ms without us, %.1f ms asleep, %.1f ms in a window; a launch %.2f us without us, %.2f us asleep' % (
            nothing['seconds'] * 1e3, outside * 1e3, inside * 1e3, nothing['launch_us'], whole.own()['launch_us']),
            asleep_us=whole.own()['launch_us'] - nothing['launch_us'])
        # The independent client saw the warm-up too: medians alone.
        compare(key + ', other client', kernels, record('loop_' + graph, [LOOP, '20', graph]), counts=False)
    run = Capture([LOOP, '100', 'graph', 'loop'], range='loop', cuda_graph='graph')
    if run.files:
        graphs = [e for p in oracle.load(run.files[0]) if p.name.startswith(b'/device:GPU') for line in p.lines for e in line.events
                  if e.name.startswith(b'CudaGraphExec')]
        say('graph as one: counts', '%d; the program launched 100' % len(graphs), len(graphs) == 100)
    else:
        say('graph as one', 'no window: ' + run.why(), False)
    # All kernels of a whole run, for which the client's counts are those of the same thing.
    run = Capture([LOOP, '20', 'launches', 'loop', '500'], delay_ns=1, range='')
    if run.files:
        compare('whole run', {k: len(v) and v for k, v in run.kernels().items()}, record('whole', [LOOP, '20', 'launches', 'loop', '500']),
                counts=False)


def torch_program():
    if not importlib.util.find_spec('torch'):
        return say('torch', 'left out: no torch here')
    loop = [sys.executable, SOURCE + '/tests/gpu/torch_loop.py', '20']
    run = Capture(loop + ['capture', WORK + '/torch.json'], range='loop')
    subprocess.run(loop + ['profiler', WORK + '/torch_profiler.json'], capture_output=True, timeout=300)
    if not run.files or not os.path.exists(WORK + '/torch_profiler.json'):
        return say('torch', 'no window: %s' % run.why(), False)
    theirs = {}
    for name, times in json.load(open(WORK + '/torch_profiler.json')).items():
        theirs.setdefault(name, []).extend(times)
    compare('torch', kernels_of(run.files[0], whole=True), theirs)
    inside = json.load(open(WORK + '/torch.json'))['seconds']
    Capture(loop + ['capture', WORK + '/torch.json'], range='none-such')
    asleep = json.load(open(WORK + '/torch.json'))['seconds']
    Capture(loop + ['capture', WORK + '/torch.json'], collector=False)
    alone = json.load(open(WORK + '/torch.json'))['seconds']
    say('torch: overhead', 'loop %.1f ms without us, %.1f ms asleep, %.1f ms in a window' % (alone * 1e3, asleep * 1e3, inside * 1e3))
    report('torch', run.files[0])


def jax_program():
    if not importlib.util.find_spec('jax'):
        return say('jax', 'left out: no jax here')
    loop = [sys.executable, SOURCE + '/tests/gpu/jax_loop.py', '50']
    run = Capture(loop + ['plain', '-'], delay_ns=8 * 10**9, duration_ns=10**9)
    subprocess.run(loop + ['profiler', WORK + '/jax_profile'], capture_output=True, timeout=300)
    theirs = glob.glob(WORK + '/jax_profile/plugins/profile/*/*.pb')
    if not run.files or not theirs:
        return say('jax', 'no window: %s' % run.why(), False if theirs else None)
    compare('jax', run.kernels(), kernels_of(theirs[0]), counts=False)
    ours_names, their_names = set(run.kernels()), set(kernels_of(theirs[0]))
    say('jax: names', '%d kernels, %d in jax.profiler' % (len(ours_names), len(their_names)), ours_names == their_names)


def conflicts():
    """torch.profiler in our window: it has what it has alone, and our window ends there."""
    if importlib.util.find_spec('torch'):
        alone, beside = WORK + '/torch_profiler.json', WORK + '/conflict.json'
        run = subprocess.run([PROGRAM, 'capture', '--delay', '1ms', '--duration', '60s', '-o', WORK + '/conflict', '--', sys.executable,
                              SOURCE + '/tests/gpu/torch_loop.py', '20', 'profiler', beside], capture_output=True, text=True, timeout=300)
        kernels = [sum(map(len, json.load(open(path)).values())) if os.path.exists(path) else -1 for path in (alone, beside)]
        files = glob.glob(WORK + '/conflict/*/plugins/profile/*/*.pb')
        said = 'window 1 ended where the program began a profile of its own' in ' '.join(run.stderr.split())
        say('torch.profiler in our window', 'exit %d; %d kernels, alone %d; ours %s, its end %s' % (
            run.returncode, kernels[1], kernels[0], 'written' if files else 'not written', 'said' if said else 'not said: ' + run.stderr[-500:]),
            run.returncode == 0 and kernels[0] == kernels[1] > 0 and said and len(files) == 1)


def report(key, path):
    if not RUNS:
        return
    text = subprocess.run([PROGRAM, 'report', path], capture_output=True, text=True)
    print('\n'.join('           ' + line for line in text.stdout.splitlines()[:20]))
    say(key + ': report', 'exit %d' % text.returncode, text.returncode == 0)


os.makedirs(OUT, exist_ok=True)
for part in (plain_program, torch_program, jax_program, conflicts):
    if sys.argv[3:] and part.__name__ not in sys.argv[3:]:
        continue
    try:
        part()
    except Exception as error:  # the other parts are worth their time all the same
        say(part.__name__, '%s: %s' % (type(error).__name__, error), False)
json.dump(results, open(OUT + '/cuda_results.json', 'w'), indent=1)
sys.exit(bool(bad))
