#!/usr/bin/env python3
"""Collector B from `idsprof capture` to the XSpace, over a driver and a CUPTI that replay records (stub_cuda.c, stub_cupti.c):
every field of every record by the independent decoder, and every fault that was thought of: the program must print and end as it
does without us, and the sidecar must say what was missed and why."""
import glob
import json
import os
import re
import struct
import subprocess
import sys
import time

SOURCE, BUILD = os.environ['IDS_SOURCE_DIR'], os.environ['IDS_BUILD_DIR']
STUBS = BUILD + '/stubs'
sys.path.insert(0, SOURCE + '/tests/oracle')
import xplane_oracle as oracle  # noqa: E402

RECORDING = SOURCE + '/tests/cuda/small.cupti'
# The records' own moments: a launch begins at its group's time 0.
FIRST, SECOND = 'first', 'second'
FACTOR = float(os.environ.get('IDS_TIME_FACTOR', '1'))  # how much slower than an idle machine this one may be
failures = []
count = 0


def check(what, good, *details):
    if not good:
        failures.append(what)
        print('FAIL:', what, *details)


def alone(program, acts, known={}):  # noqa: B006: what was run once is known
    """How the program ends, and what it prints, without us."""
    if (program, *acts) not in known:
        known[(program, *acts)] = subprocess.run([program, *acts], capture_output=True, text=True)
    return known[(program, *acts)]


class Run:
    """One capture of the stub program; `inside`: the program that has the collector in it, under the sanitizers."""

    def __init__(self, acts, options=('--delay', '1ms', '--duration', '100s'), cupti='cupti13', fault='', variables=None, inside=False,
                 recording=RECORDING, expect=0, output=None):
        global count
        count += 1
        self.dir = os.path.join(os.environ['TMPDIR'], 'run%d' % count)
        environment = dict(os.environ, STUB_RECORDING=recording, STUB_FAULT=fault,
                           LD_LIBRARY_PATH=(STUBS + '/' + cupti) if cupti else '', CUDA_HOME=self.dir, **(variables or {}))
        if inside:
            environment.update(CUDA_INJECTION64_PATH='inside', NVTX_INJECTION64_PATH='inside')
        program = STUBS + ('/program_inside' if inside else '/program')
        plain = alone(program, acts)
        begun = time.monotonic()
        run = subprocess.run([os.environ['IDSPROF'], 'capture', '--keep-empty', '-o', self.dir, *options, '--', program, *acts], capture_output=True,
                             text=True, env=environment, timeout=60)
        self.seconds = time.monotonic() - begun
        self.stderr = run.stderr
        name = ' '.join(acts) + ' ' + fault + ' ' + cupti + (' inside' if inside else '')
        self.name = name
        status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        check(name + ': ends as it does alone', run.returncode == status, run.returncode, status, run.stderr)
        check(name + ': prints as it does alone', run.stdout == plain.stdout, repr(run.stdout), repr(plain.stdout))
        check(name + ': the stub did not complain', not re.search('^stub_', run.stderr, re.M), run.stderr)
        self.files = sorted(glob.glob(self.dir + '/*/plugins/profile/*/*.pb'))
        self.hello = []
        for path in glob.glob(self.dir + '/*/.idsprof/*.hello'):
            self.hello += [json.loads(line) for line in open(path)]
        for path in glob.glob(self.dir + '/*/idsprof-run.json'):
            self.sidecar = json.load(open(path))

    def lines(self, event):
        return [line for line in self.hello if line['event'] == event]

    def why(self):
        return ' | '.join(line['why'] for line in self.lines('skipped') + self.lines('lost'))

    def planes(self, window=0):
        return {plane.name.decode(): plane for plane in oracle.load(self.files[window])}

    def expect_skipped(self, words):
        check(self.name + ': no window', not self.files, self.files)
        check(self.name + ': says ' + words, words in self.why(), self.why())
        check(self.name + ': nothing lasts', self.seconds < 10 * FACTOR, self.seconds)


def value(raw):
    kind, text = raw[:1], raw[2:]
    if kind == b'd':
        return struct.unpack('>d', bytes.fromhex(text.decode()))[0]
    return text.decode() if kind == b's' else int(text)


def line_of(plane, name):
    found = [line for line in plane.lines if line.name.decode() == name]
    return found[0] if len(found) == 1 else None


def events_of(plane):
    """Of a plane: line name -> [(event name, offset ns, duration ns, stats)], offsets from the line's first event."""
    table = {}
    for line in plane.lines:
        base = line.events[0].start
        table[line.name.decode()] = [(e.name.decode(), (e.start - base) / 1000, e.dur / 1000, {k.decode(): value(v) for k, v in e.stats})
                                     for e in line.events]
    return table


CALL = lambda correlation: {'device_id': 0, 'correlation_id': correlation, 'context_id': '$$1'}  # noqa: E731
ON_DEVICE = lambda correlation, **more: {'correlation_id': correlation, 'context_id': '$$1', **more}  # noqa: E731
# Derived by hand from small.cupti and the figures of the stub's device (9.0, 2,048 threads and 65,536 registers a multiprocessor,
# 228 KiB of shared memory, of which the driver takes 1 KiB a block):
#   vectorAdd   32 registers x 32 threads = 1,024 a warp, 16 warps in a quarter's 16,384, 64 in all: 2,048 threads, 8 blocks of 256;
#               8 x 2,048 bytes of shared memory fit: 100 %. Largest block: 1,024, of which 2 fit: 264 on 132 multiprocessors
#   gemm        66,560 bytes a block: 3 blocks of 128 threads of 2,048: 18.75 %. 128 registers: 4 warps a quarter, 16 in all, 512
#               threads: the largest block, one of it, 132
#   in_graph    32 blocks are the most: 32 x 32 threads of 2,048: 50 %
STREAM_7 = [
    ('vectorAdd(float const*, float const*, float*, int)', 0, 40000, ON_DEVICE(
        11, theoretical_occupancy_pct=100.0, occupancy_min_grid_size=264, occupancy_suggested_block_size=1024,
        kernel_details='regs:32 static_shared:1024 dynamic_shared:0 grid:64,2,1 block:256,1,1 occ_pct:100')),
    ('MemcpyH2D', 41000, 10000, ON_DEVICE(12, memcpy_details='kind_src:pinned kind_dst:device size:4096 dest:0 async:1')),
]
STREAM_13 = [
    ('gemm_kernel', 0, 60000, ON_DEVICE(
        21, theoretical_occupancy_pct=18.75, occupancy_min_grid_size=132, occupancy_suggested_block_size=512,
        kernel_details='regs:128 static_shared:0 dynamic_shared:65536 grid:132,1,1 block:128,1,1 occ_pct:18.75')),
    ('Memset', 61000, 2000, ON_DEVICE(22, memset_details='kind:device num_bytes:256 async:1')),
    ('MemcpyD2H', 64000, 2000, ON_DEVICE(22, memcpy_details='kind_src:device kind_dst:pageable size:100 dest:0 async:0')),
    ('MemcpyP2P', 67000, 2000, ON_DEVICE(22, memcpy_details='kind_src:device kind_dst:device size:512 dest:1 async:1')),
]
IN_GRAPH = ('in_graph', 70000, 1000, ON_DEVICE(
    23, cuda_graph_id=5, cuda_graph_node_id=21474836481, theoretical_occupancy_pct=50.0, occupancy_min_grid_size=264,
    occupancy_suggested_block_size=1024,
    kernel_details='regs:16 static_shared:0 dynamic_shared:0 grid:1,1,1 block:32,1,1 occ_pct:50'))
AS_GRAPH = ('CudaGraphExec:5', 70000, 1000, ON_DEVICE(23, cuda_graph_id=5, cuda_graph_exec_id=5))
THREAD_4242 = [
    ('cudaLaunchKernel', 0, 1000, CALL(11)),
    ('cuLaunchKernel', 100, 800, {}),  # inside: the outer call is the launch
    ('cudaMemcpyAsync', 1100, 1000, CALL(12)),
    ('cudaMalloc', 2200, 200, {'memalloc_details': 'kind:device num_bytes:1048576'}),
    ('cudaStreamSynchronize', 2500, 55500, {'sync_type': 'stream'}),
]
THREAD_4243 = [
    ('cudaLaunchKernel', 0, 900, CALL(21)),
    ('NVTX:step one', 10, 79990, {'user_annotation': 1}),
    ('NVTX:a moment', 50, 0, {'user_annotation': 1}),
    ('cudaMemsetAsync', 1000, 900, CALL(22)),
    ('cudaGraphLaunch', 2000, 900, CALL(23)),
    ('CUPTI overhead: BUFFER_FLUSH', 3000, 500, {}),  # of a thread that makes calls: they have to wait
]
FACTS = {'device_vendor': 'Nvidia', 'gpu_device_name': 'NVIDIA H200', 'clock_rate': 1980000, 'core_count': 132,
         'memory_bandwidth': 2 * 3201000 * 1000 * 6144 // 8, 'memory_size': 150754820096, 'compute_cap_major': 9, 'compute_cap_minor': 0}


def test_graphs_as_one():
    """Recorded so from CUDA's start: later a real CUPTI ends the program. Only windows have records."""
    acts = ['init', 'launch:4', 'push:phase', 'open', 'launch:2', 'sleep:5', 'pop', 'shut', 'launch:4', 'push:phase', 'open', 'launch:2', 'pop']
    for cupti in ('cupti13', 'cupti12'):
        run = Run(acts, ('--range', 'phase', '--max', '2', '--cuda-graph-trace', 'graph'), cupti,
                  variables={'STUB_DRIVER': '12080'} if cupti == 'cupti12' else None)
        check(run.name + ': two windows', len(run.files) == 2, run.files, run.hello)
        for window in range(len(run.files)):
            names = [event.name for line in run.planes(window)['/device:GPU:0'].lines for event in line.events]
            check(run.name + ': a launch of the graph in each', names.count(b'CudaGraphExec:5') == 1, window, names)
        check(run.name + ': nothing of a window is dropped', all(line['drops'] == 0 for line in run.lines('written')), run.lines('written'))
    run = Run(['init', 'launch:4', 'sleep:100'], ('--delay', '1ms', '--cuda-graph-trace', 'graph'), fault='graphs')
    run.expect_skipped('--cuda-graph-trace node')


def test_fields(cupti='cupti13', fault='', graphs='node', inside=False):
    run = Run(['init', 'open', 'sleep:5', 'launch:2', 'sleep:5'], ('--delay', '1ms', '--cuda-graph-trace', graphs), cupti, fault,
              {'STUB_DRIVER': '12080'} if cupti == 'cupti12' else None, inside)
    name = run.name + ' ' + graphs
    if len(run.files) != 1:
        return check(name + ': one file', False, run.files, run.hello, run.stderr)
    planes = run.planes()
    check(name + ': planes', list(planes) == ['/device:GPU:0', '/host:CPU', 'Task Environment'], list(planes))
    device, host, task = (planes.get(n) for n in ('/device:GPU:0', '/host:CPU', 'Task Environment'))
    check(name + ': facts', {k.decode(): value(v) for k, v in device.stats} == FACTS, device.stats)
    kinds = 'Compute,MemcpyD2H,MemcpyP2P,Memset' + (',CudaGraph' if graphs == 'graph' else '')
    # A real CUPTI leaves out the kernels of a graph whose launch it records; the stub does not.
    last = [IN_GRAPH] if graphs == 'node' else [AS_GRAPH, IN_GRAPH]
    expected = {'Stream #7(Compute,MemcpyH2D)': STREAM_7, 'Stream #13(%s)' % kinds: STREAM_13 + last}
    found = events_of(device)
    for key in found:
        found[key].sort(key=lambda e: (e[1], e[0]))
    check(name + ': what the device did', found == expected, [e for k in found for e in found[k] if e not in expected.get(k, [])],
          list(found))
    found = events_of(host)
    check(name + ': thread 4242', found.get('Host Threads/4242') == THREAD_4242, found.get('Host Threads/4242'))
    check(name + ': thread 4243', found.get('Host Threads/4243') == THREAD_4243, found.get('Host Threads/4243'))
    check(name + ': overhead of a thread without calls', found.get('CUPTI overhead', [('', 0, 0, {})])[0][:1] == ('BUFFER_REQUEST',),
          found.get('CUPTI overhead'))
    check(name + ': no other line', sorted(found) == ['CUPTI overhead', 'Host Threads/4242', 'Host Threads/4243'],
          sorted(found))
    stats = {k.decode(): value(v) for k, v in task.stats}
    written = run.lines('written')[0]
    check(name + ': the clock', abs(stats['profile_start_time'] - int(written['begin_ns'])) < 5e6 * FACTOR, stats, written)
    check(name + ': both clocks', abs((stats['profile_stop_time'] - stats['profile_start_time']) -
                                      (stats['monotonic_stop_time'] - stats['monotonic_start_time'])) < 1e6 * FACTOR, stats)
    check(name + ': inside the window', 0 < line_of(host, 'Host Threads/4242').events[0].start / 1000 <
          stats['profile_stop_time'] - stats['profile_start_time'], stats)
    check(name + ': counted', written['events'] == sum(len(line.events) for p in planes.values() for line in p.lines) and
          written['drops'] == 0, written)
    # The kernel begins 5 us after the launch on the one clock of both planes.
    launch, kernel = (line_of(p, n).events[0].start for p, n in ((host, 'Host Threads/4242'), (device, 'Stream #7(Compute,MemcpyH2D)')))
    check(name + ': one clock', kernel - launch == 5000000, kernel - launch)
    return run


def test_report(run):
    report = json.loads(subprocess.run([os.environ['IDSPROF'], 'report', '--json', run.files[0]], capture_output=True, text=True).stdout)
    text = json.dumps(report)
    for word in ('NVIDIA H200', 'vectorAdd(float const*, float const*, float*, int)', 'gemm_kernel'):
        check('the report has ' + word, word in text)
    text = subprocess.run([os.environ['IDSPROF'], 'report', run.files[0]], capture_output=True, text=True).stdout
    check('the report counts copies', re.search(r'H2D\s+4.096 kB\s+1 cop', text) and re.search(r'D2H\s+100 B\s+1 cop', text), text)
    check('no launch is missing in the report', 'launch is not in the trace' not in text, text)


def one_thread():
    """The recording with all calls on the thread that NVTX's ranges of the stub are on."""
    path = os.environ['TMPDIR'] + '/one_thread.cupti'
    open(path, 'w').write(''.join(re.sub('thread=[0-9]+', 'thread=77', line) for line in open(RECORDING) if not line.startswith('marker')))
    return path


def test_idle():
    """A range around what the host does instead of launching is the cause of the gap: ranges and calls are on one thread."""
    run = Run(['init', 'open', 'launch:2', 'push:data_loading', 'sleep:60', 'pop', 'launch:2'], ('--delay', '1ms'), recording=one_thread())
    table = json.loads(subprocess.run([os.environ['IDSPROF'], 'report', '--json', run.files[0]], capture_output=True, text=True).stdout)['tables']['accounts']
    columns = [column['id'] for column in table['columns']]
    told = [dict(zip(columns, row)) for row in table['rows'] if row[0] == 'host.input']
    ranges = [e.dur / 1e12 for line in run.planes()['/host:CPU'].lines for e in line.events if e.name == b'NVTX:data_loading']
    # What was launched before the range ends in it, after 134 us: that much is no gap.
    check('an idle GPU has the cause that the host marked', len(told) == len(ranges) == 1 and told[0]['culprit'] == 'data_loading' and
          ranges[0] >= 0.06 and ranges[0] - 0.0002 < told[0]['time'] <= ranges[0], told, ranges)


def test_windows():
    run = Run(['init', 'launch:2', 'push:phase', 'launch:2', 'push:inner', 'pop', 'pop', 'launch:2', 'push:phase', 'launch:4', 'pop', 'launch'],
              ('--range', 'phase', '--max', '2'))
    check('a window a range', len(run.files) == 2, run.hello)
    for window, launches in enumerate([1, 2]):
        planes = run.planes(window)
        kernels = [e for line in planes['/device:GPU:0'].lines for e in line.events if e.name == b'gemm_kernel']
        check('window %d holds the launches of its range' % window, len(kernels) == launches, len(kernels))
        ranges = [e.name for line in planes['/host:CPU'].lines if line.name.endswith(b'/77') for e in line.events]
        check('the range itself is in window %d' % window, ranges == [b'NVTX:phase', b'NVTX:inner'][:2 - window], ranges)
    run = Run(['init', 'push:phase', 'launch:2', 'pop'], ('--range', 'phase'), fault='no_nvtx')
    check('a range without CUPTI in NVTX', len(run.files) == 1, run.hello)
    run = Run(['push:phase', 'init', 'launch:2', 'pop'], ('--range', 'phase'))
    check('NVTX before CUDA', len(run.files) == 1, run.hello)
    run = Run(['init', 'launch:2', 'sleep:5'], ('--delay', '10s'))
    check('nothing was reached', not run.files and 'missed' in run.stderr, run.stderr)
    # The range opens the window, and the program itself ends it: a window of time may be over before a loaded machine launches.
    run = Run(['init', 'launch:2', 'push:phase', 'open', 'launch:4', 'stop', 'launch:2', 'pop'], ('--range', 'phase'))
    kernels = [e for line in run.planes()['/device:GPU:0'].lines for e in line.events if e.name == b'gemm_kernel']
    check('only what is in the window', len(kernels) == 2, len(kernels), run.hello)


def test_domains():
    """XLA tells NVTX instead of its own profiler of which op a kernel is, once its domain is taken: it is the only one that is not."""
    for options in (('--delay', '1ms', '--duration', '100s'), ('--range', 'phase'), ('-s', '1', '-k', '1')):
        for acts in (['domain:TSL', 'domain:NCCL', 'init'], ['init', 'domain:TSL', 'domain:NCCL']):
            run = Run([*acts, 'push:phase', 'launch:2', 'pop'], options)
            check("XLA's domain is left alone", 'domain TSL: not taken' in run.stderr, options, run.stderr)
            check("another one is CUPTI's", 'domain NCCL: taken' in run.stderr, options, run.stderr)


def test_steps():
    """NVTX ranges that are steps open windows, and the report counts what capture counts."""
    forms = (('step %d', 'step', 3), ('ProfilerStep#%d', 'ProfilerStep', 3), ('train_step', 'train_step', 3), ('Iteration_%d', 'Iteration', 3))
    for form, name, first in forms:
        acts = ['init'] + [act for i in range(8) for act in ('push:' + (form % i if '%' in form else form), 'launch:2', 'sleep:2', 'pop')]
        run = Run(acts, ('-s', '3', '-k', '2'), recording=one_thread())
        check(form + ': one window', len(run.files) == 1, run.hello, run.stderr)
        check(form + ': capture says which steps', "steps 3-4 (annotation '%s')" % name in re.sub(r'\s+', ' ', run.stderr), run.stderr)
        steps = [(event.name.decode(), dict((k.decode(), value(v)) for k, v in event.stats).get('step_num'))
                 for line in run.planes()['/host:CPU'].lines for event in line.events if event.name.startswith(b'NVTX:' + name.encode())]
        check(form + ': they are in the profile', steps == [('NVTX:' + name, first), ('NVTX:' + name, first + 1)], steps)
        report = subprocess.run([os.environ['IDSPROF'], 'report', run.files[0]], capture_output=True, text=True).stdout
        check(form + ': the report counts alike', "2 steps (annotation 'NVTX:%s', 3\N{EN DASH}4)" % name in re.sub(r'\s+', ' ', report), report[:600])
    acts = ['init'] + [act for i in range(60) for act in ('push:step %d' % i, 'launch:2', 'sleep:2', 'pop')]
    # With all cores taken it may be long before the first step begins, or the window opens.
    for opened, options in ((True, ('-s', '3', '-k', '3')), (False, ('--delay', '50ms', '--duration', '100s'))):
        run = Run(acts, options, recording=one_thread())
        report = re.sub(r'\s+', ' ', subprocess.run([os.environ['IDSPROF'], 'report', run.files[0]], capture_output=True, text=True).stdout)
        check('the step that opens the window is in no mean: %s' % opened, ('is in no mean: the window opened with it' in report) == opened, report[:600])
    run = Run(['init'] + [act for i in range(6) for act in ('push:optimizer_step', 'push:batch %d' % i, 'pop', 'launch:2', 'pop')], ('-s', '1', '-k', '2'))
    check('no step: other ranges', not run.files, run.hello)
    run = Run(['init'] + [act for i in range(6) for act in ('push:batch %d' % i, 'launch:2', 'pop')], ('-s', '1', '-k', '2', '--step-executable', '^batch'))
    check('--step-executable chooses ranges', len(run.files) == 1 and 'steps 1-2' in run.stderr, run.stderr)
    refused = subprocess.run([os.environ['IDSPROF'], 'capture', '-o', os.environ['TMPDIR'] + '/none', '--step-executable', '(batch', '--', STUBS + '/program', 'init'],
                             capture_output=True, text=True)
    check('--step-executable that is no expression: refused', refused.returncode == 2 and refused.stdout == '' and
          "--step-executable: '(batch'" in refused.stderr, refused.stderr)


def test_trigger():
    environment = dict(os.environ, STUB_RECORDING=RECORDING, LD_LIBRARY_PATH=STUBS + '/cupti13')
    where = os.environ['TMPDIR'] + '/triggered'
    program = subprocess.Popen([os.environ['IDSPROF'], 'capture', '--keep-empty', '-o', where, '--trigger', '--', STUBS + '/program', 'init',
                                'launch:2', 'print:before', 'open', 'launch:2', 'print:inside', 'shut', 'launch:2'], env=environment,
                               stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answers = []
    for option, moment in (([], 'before'), (['--stop'], 'inside')):  # the program says when, and waits for what was asked
        check('the program is ' + moment, program.stdout.readline() == moment + '\n')
        found = glob.glob(where + '/*')
        answers.append(subprocess.run([os.environ['IDSPROF'], 'trigger', *option, found[0] if found else where], capture_output=True, text=True))
    program.communicate(timeout=30)
    files = glob.glob(where + '/*/plugins/profile/*/*.pb')
    check('a window by trigger', len(files) == 1, answers, files)
    if files:
        kernels = [e for p in oracle.load(files[0]) for line in p.lines for e in line.events if e.name == b'gemm_kernel']
        check('with the launches between start and stop', len(kernels) == 1, len(kernels))


def test_volume():
    """More than half of what all buffers hold, which go round: every record arrives, once."""
    run = Run(['init', 'open', 'launch:10000'], ('--delay', '1ms'))
    counted = subprocess.run([os.environ['IDSPROF'], 'dump', '--hash', run.files[0]], capture_output=True, text=True).stdout
    events, drops = json.loads(counted)['events'], run.lines('written')[0]['drops']
    # of two launches 7 on the device, 8 calls, a range, a mark and two of CUPTI itself; a range's two records are one event
    check('every record', events + drops == 5000 * 19 if not drops else 0 < events < 5000 * 19, events, drops)
    print('volume: %d events, %d dropped' % (events, drops))
    run = Run(['init', 'open', 'threads:8'], ('--delay', '1ms'), inside=True)
    kernels = sum(e.name == b'gemm_kernel' for line in run.planes()['/device:GPU:0'].lines for e in line.events)
    check('eight threads', kernels == 4000, kernels)


def test_early():
    """A window may open before the program's thread has learnt that the collector is registered: nothing of what is said is lost."""
    run = Run(['late:300', 'init', 'open', 'launch:2'], ('--delay', '1ms'))
    said = {line['key'] for line in run.lines('said')}
    check('a window before the registration returned', len(run.files) == 1 and said >= {'cupti', 'device', 'cuda_driver'}, run.hello)


def test_late():
    """A kernel that still runs at the window's end is waited for; one that runs for longer than we wait is counted, not invented."""
    base = open(RECORDING).read()
    path = os.environ['TMPDIR'] + '/late.cupti'
    open(path, 'w').write(base.replace('kernel start=4000 end=64000', 'kernel late=150 start=4000 end=150000000'))
    run = Run(['init', 'open', 'launch:2'], ('--delay', '1ms'), recording=path)
    found = [e.dur for line in run.planes()['/device:GPU:0'].lines for e in line.events if e.name == b'gemm_kernel']
    check('a kernel that runs at the end', found == [149996000000], found)
    open(path, 'w').write(base.replace('kernel start=4000 end=64000', 'kernel late=30000 start=4000 end=3000000'))
    run = Run(['init', 'open', 'launch:2'], ('--delay', '1ms'), recording=path)
    found = [e.dur for line in run.planes()['/device:GPU:0'].lines for e in line.events if e.name == b'gemm_kernel']
    said = [line['value'] for line in run.lines('said') if line['key'] == 'cuda_incomplete']
    check('a kernel that runs on is left out and said', found == [] and said == ['1'], found, said)
    check('and not waited for longer than a second', run.seconds < 4 * FACTOR, run.seconds)


def test_faults():
    acts, good = ['init', 'said:skipped', 'launch:4', 'sleep:10'], ['init', 'open', 'launch:4']
    older = {'STUB_DRIVER': '12080'}
    Run(acts, fault='busy', cupti='cupti12', variables=older).expect_skipped('CUPTI belongs to another tool, which it does not name')
    Run(acts, fault='busy').expect_skipped('CUPTI belongs to another tool: CUPTI for Nsight Systems')
    Run(acts, cupti='', variables={'IDSPROF_CUPTI': '/nowhere/libcupti.so'}).expect_skipped('/nowhere/libcupti.so')
    Run(acts, variables={'IDSPROF_CUPTI': STUBS + '/cupti_old/libcupti.so.13'}).expect_skipped('libcupti has no cuptiActivityFlushAll')
    Run(acts, fault='unknown', cupti='cupti12', variables=older).expect_skipped('error 999')
    Run(acts, fault='unknown').expect_skipped('error 999')
    for real in glob.glob('/usr/local/cuda*/lib*/libcupti.so.1[23]'):  # the real one, which finds no driver behind the stub
        Run(acts + ['push:x', 'pop', 'exit:5'], variables={'IDSPROF_CUPTI': real}).expect_skipped('no CUDA driver')
    Run(acts, fault='kernels').expect_skipped('NVreg_RestrictProfilingToAdminUsers')
    run = Run(good, fault='refuse')
    said = [line['value'] for line in run.lines('said') if line['key'] == 'cupti_refused']
    check('a kind that is refused is said', len(run.files) == 1 and said == ['MEMORY2 (error 27)'], said)
    run = Run(good, fault='dropped')
    check('dropped records are counted', run.lines('written')[0]['drops'] == 3, run.lines('written'))
    check('dropped records are shown', re.search(r'3 .*(lost|drop)', run.stderr), run.stderr)
    run = Run(good, fault='backwards')
    check('a buffer that leads backwards ends', len(run.files) == 1 and run.seconds < 5 * FACTOR, run.seconds)
    run = Run(['init', 'open', 'shut'], fault='hang', options=('--delay', '1ms', '--duration', '40ms', '--stop-timeout', '500ms'))
    check('a flush that hangs', run.seconds < 9 * FACTOR, run.seconds)
    Run(good, recording='/nowhere')
    run = Run(good, variables=older, cupti='cupti12')
    said = [line['value'] for line in run.lines('said') if line['key'] == 'cupti']
    check('the CUPTI that the driver bears', said == ['libcupti.so.12'], said)


def test_ends():
    run = Run(['init', 'open', 'launch:2', 'exit:3'], ('--delay', '1ms'))
    check('exit in a window writes it', len(run.files) == 1 and run.lines('written')[0]['by'] == 'exit', run.hello)
    for act in ('_exit:4', 'abort'):
        run = Run(['init', 'open', 'launch:2', act], ('--delay', '1ms'))
        check(act + ' in a window loses it, and that is said', not run.files and 'missed' in run.stderr, run.stderr)
    run = Run(['init', 'open', 'launch:2', 'fork', 'launch:2'], ('--delay', '1ms'))
    kernels = [e for line in run.planes()['/device:GPU:0'].lines for e in line.events if e.name == b'gemm_kernel']
    check('a fork in a window changes nothing', len(run.files) == 1 and len(kernels) == 2, run.files, len(kernels))
    run = Run(['init', 'fork', 'open', 'launch:2'], ('--delay', '150ms'))
    check('a fork before a window', len(run.files) == 1, run.files, run.why())
    run = Run(['fork', 'init', 'open', 'launch:2'], ('--delay', '1ms'))
    check('a fork before CUDA', len(run.files) == 1, run.files, run.why())


def test_starved():
    written = 0
    for every in list(range(1, 14)) + [20, 30]:
        run = Run(['init', 'sleep:2', 'starve:%d' % every, 'sleep:15', 'launch:4', 'sleep:10'], ('--delay', '8ms'))
        written += len(run.files)
        # On a loaded machine the program may end before the delay is over, which is a reason too.
        check('starve %d: a file or a reason' % every, run.files or run.why() or run.sidecar['missed']['id'] == 'ended_early', run.hello)
        if run.files:
            oracle.load(run.files[0])
    check('starved now and then it still writes', written > 0)


def test_alone():
    """Without a capture the library is inert; with another tool in its place it keeps away."""
    out = subprocess.run([STUBS + '/program', 'init', 'launch', 'push:x', 'pop'], capture_output=True, text=True,
                         env=dict(os.environ, CUDA_INJECTION64_PATH=BUILD + '/lib/idsprof/libidsprof_cuda.so',
                                  NVTX_INJECTION64_PATH=BUILD + '/lib/idsprof/libidsprof_cuda.so'))
    check('inert without a plan', out.returncode == 0 and out.stdout == 'done 1\n' and not out.stderr, out)
    run = Run(['init', 'launch'], variables={'CUDA_INJECTION64_PATH': STUBS + '/cuda/libcuda.so.1'})
    check('another tool stays and is named', "names another tool, which stays: '%s/cuda" % STUBS in run.stderr and not run.hello, run.stderr)


PYTHON = """
import ctypes, os, subprocess, time
def double():
    agent = ctypes.CDLL(os.environ['IDSPROF_HOME'] + '/libidsprof_agent.so')
    text, number = ctypes.c_char_p, ctypes.c_size_t
    starter = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, number)
    stopper = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, text, ctypes.c_void_p, ctypes.c_void_p, number)
    class Collector(ctypes.Structure):
        _fields_ = [('size', ctypes.c_uint32), ('priority', ctypes.c_int32), ('name', text), ('context', ctypes.c_void_p),
                    ('start', starter), ('stop', stopper), ('contribute', ctypes.c_void_p)]
    keep = Collector(ctypes.sizeof(Collector), 30, b'double', None, starter(lambda *a: 0), stopper(lambda *a: 0), None)
    agent.ids_agent_register(ctypes.byref(keep), ctypes.create_string_buffer(512), 512)
    return keep
keep = double() if DOUBLE else None
cuda = ctypes.CDLL('%s/cuda/libcuda.so.1')
cuda.cuInit(0)
for _ in range(4):
    cuda.cuLaunchKernel()
# The window has opened when it can be ended. Callbacks into Python must not be called at the exit.
while subprocess.run([os.environ['IDSPROF'], 'trigger', '--stop', str(os.getpid())], capture_output=True).returncode:
    time.sleep(0.01)
"""


def test_python():
    """A Python that uses CUDA and no jax; and one in which a collector of a higher priority owns the window: CUPTI stays untouched."""
    for double in (0, 1):
        where = os.environ['TMPDIR'] + '/python%d' % double
        run = subprocess.run([os.environ['IDSPROF'], 'capture', '--keep-empty', '-o', where, '--delay', '1ms', '--duration', '100s', '--', sys.executable,
                              '-c', PYTHON.replace('DOUBLE', str(double)) % STUBS], capture_output=True, text=True,
                             env=dict(os.environ, STUB_RECORDING=RECORDING, LD_LIBRARY_PATH=STUBS + '/cupti13'))
        hello = [json.loads(line) for path in glob.glob(where + '/*/.idsprof/*.hello') for line in open(path)]
        owners = [line['collector'] for line in hello if line['event'] == 'opened']
        registered = [line['collector'] for line in hello if line['event'] == 'registered']
        check('python %d ends well' % double, run.returncode == 0 and not run.stdout, run)
        check('python %d: registered' % double, registered == ['double', 'cuda'][1 - double:], registered, run.stderr)
        check('python %d: owner' % double, owners == [['cuda'], ['double']][double], owners)
        check('python %d: CUPTI is loaded by its owner alone' % double, any(line.get('key') == 'cupti' for line in hello) != bool(double))


OPTIMIZER = """
hooks = {}
class Handle:
    def __init__(self, number):
        self.number = number
    def remove(self):
        hooks.pop(self.number, None)
def register_optimizer_step_post_hook(hook):
    hooks[len(hooks)] = hook
    return Handle(len(hooks) - 1)
class Optimizer:
    def step(self):
        for hook in list(hooks.values()):
            hook(self, (), {})
"""
PROFILER = """
from torch._C import _prepare_profiler, _enable_profiler, _disable_profiler
class profile:
    def __init__(self, activities):
        self.activities = activities
    def __enter__(self):
        _prepare_profiler(None, self.activities)
        _enable_profiler(None, self.activities, ())
    def __exit__(self, *error):
        _disable_profiler()
"""
NATIVE = """
import ctypes
cupti, handle, taken = None, ctypes.c_void_p(), []
def _prepare_profiler(config, activities):
    if 'ProfilerActivity.CUDA' in activities:   # as Kineto does, it takes CUPTI, or does without it
        global cupti
        cupti = ctypes.CDLL('libcupti.so.13')
        taken.append(cupti.cuptiSubscribe(ctypes.byref(handle), None, None))
def _enable_profiler(config, activities, scopes):
    pass
def _disable_profiler():
    if taken and not taken[-1]:
        cupti.cuptiUnsubscribe(handle)
"""
PROFILED = """
import ctypes, sys, time, torch._C, torch.autograd.profiler as profiler, torch.optim.optimizer as optim
class AdamW(optim.Optimizer):
    pass
cuda = ctypes.CDLL('%s/cuda/libcuda.so.1')
cuda.cuInit(0)
first = AdamW()
def step():
    cuda.cuLaunchKernel()
    first.step()
for i in range(6):
    step()
with profiler.profile({'ProfilerActivity.CPU', sys.argv[1]}):
    for i in range(2):
        step()
for i in range(8):
    step()
print('taken', torch._C.taken)
"""
TRAINING = """
import ctypes, torch.optim.optimizer as optim
class AdamW(optim.Optimizer):
    pass
class Other(AdamW):
    pass
cuda = ctypes.CDLL('%s/cuda/libcuda.so.1')
cuda.cuInit(0)
first, second = AdamW(), Other()
for i in range(12):
    cuda.cuLaunchKernel()
    first.step()
    if i %% 2:
        second.step()
print('trained', len(optim.hooks))
"""


def test_torch():
    """Steps of PyTorch: calls of an optimizer's step, through the hook that torch has for it. Its double has that hook alone."""
    package = os.environ['TMPDIR'] + '/double/torch/optim'
    os.makedirs(package)
    os.makedirs(package + '/../autograd')
    for path, text in (('../__init__.py', ''), ('__init__.py', ''), ('optimizer.py', OPTIMIZER), ('../_C.py', NATIVE),
                       ('../autograd/__init__.py', ''), ('../autograd/profiler.py', PROFILER)):
        open(os.path.join(package, path), 'w').write(text)

    def run(where, *options, program=(TRAINING % STUBS,), **variables):
        where = os.environ['TMPDIR'] + '/' + where
        done = subprocess.run([os.environ['IDSPROF'], 'capture', '--keep-empty', '-o', where, *options, '--', sys.executable, '-c', *program],
                              capture_output=True, text=True, env={**os.environ, 'STUB_RECORDING': RECORDING, 'LD_LIBRARY_PATH': STUBS + '/cupti13',
                                                                   'PYTHONPATH': os.environ['TMPDIR'] + '/double', **variables})
        return done, sorted(glob.glob(where + '/*/plugins/profile/*/*.pb'))

    done, files = run('torch', '-s', '5', '-k', '3')
    check('torch: ends well', done.returncode == 0 and done.stdout in ('trained 0\n', 'trained 1\n'), done)
    check('torch: one window', len(files) == 1, done.stderr)
    check('torch: which steps', "steps 5-7 (annotation 'AdamW step')" in re.sub(r'\s+', ' ', done.stderr), done.stderr)
    host = {plane.name.decode(): plane for plane in oracle.load(files[0])}['/host:CPU']
    steps = [dict((k.decode(), value(v)) for k, v in event.stats).get('step_num') for line in host.lines for event in line.events
             if event.name == b'NVTX:AdamW step']
    check('torch: they are in the profile', steps == [5, 6, 7], steps)
    alone = subprocess.run([sys.executable, '-c', TRAINING % STUBS], capture_output=True, text=True,
                           env={**os.environ, 'PYTHONPATH': os.environ['TMPDIR'] + '/double'})
    check('torch: alone nothing is hooked', alone.stdout == 'trained 0\n', alone)
    done, files = run('torch_off', '-s', '5', '-k', '3', CUDA_INJECTION64_PATH='/nonexistent.so')
    check('torch without the collector for CUDA: as it was', done.returncode == 0 and done.stdout.startswith('trained') and not files, done)
    # torch.profiler gets CUPTI in the midst of our window, which ends there, and one that would open waits until it has ended.
    for name, activity, options in (('midst', 'ProfilerActivity.CUDA', ('-s', '3', '-k', '8')), ('before', 'ProfilerActivity.CUDA', ('-s', '7', '-k', '3')),
                                    ('host', 'ProfilerActivity.XPU', ('-s', '3', '-k', '8'))):
        done, files = run('profiled_' + name, *options, program=(PROFILED % STUBS, activity))
        check('torch.profiler %s: it has what it has alone' % name,
              done.stdout == ('taken [0]\n' if activity.endswith('CUDA') else 'taken []\n'), done.stdout, done.stderr)
        check('torch.profiler %s: one window' % name, len(files) == 1, done.stderr)
        told = re.sub(r'\s+', ' ', done.stderr)
        check('torch.profiler %s: said' % name, ('window 1 ended where the program began a profile of its own' in told) == (name == 'midst'), done.stderr)
        check('torch.profiler %s: which steps' % name, {'midst': 'steps 3-6 ', 'before': 'steps 9-11 ', 'host': 'steps 3-10 '}[name] in told, done.stderr)


test_report(test_fields())
test_fields(graphs='graph')
test_graphs_as_one()
test_fields('cupti12')
test_fields('cupti13', 'alone')
if os.environ.get('IDS_SANITIZE') == '1':
    test_fields(inside=True)
for test in (test_idle, test_windows, test_domains, test_steps, test_trigger, test_volume, test_early, test_late, test_faults, test_ends, test_starved, test_alone, test_python, test_torch):
    begun = time.monotonic()
    test()
    print('%s: %.1f s' % (test.__name__, time.monotonic() - begun))
print('%d captures' % count)
sys.exit(bool(failures))
