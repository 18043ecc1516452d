#!/usr/bin/env python3
"""`idsprof capture` with real JAX on the CPU: programs that know nothing of idsprof (capture_loop.py, capture_compile.py), what of
them is in the profile by an independent decoder, and what the user is told.

    test_capture.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import collections
import json
import os
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'oracle'))
import xplane_oracle  # noqa: E402  (found through the line above)

PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF = os.environ.get('IDSPROF') or ''
ROOT = Path(os.environ.get('TMPDIR') or '/tmp')
LOOP, COMPILE = HERE / 'capture_loop.py', HERE / 'capture_compile.py'
failures = []
of_case = threading.local()             # failures of the case that a thread runs
lock = threading.Lock()
folders = iter(range(1000))

for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_', 'JAX_', 'XLA_')) or name in ('RANK', 'SLURM_PROCID', 'PYTHONPATH'):
        del os.environ[name]
os.environ['JAX_PLATFORMS'] = 'cpu'
os.environ['XDG_RUNTIME_DIR'] = str(ROOT)


def absent(reason):
    print('SKIP: ' + reason)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)


def check(what, ok, found=''):
    with lock:
        if not ok:
            getattr(of_case, 'failures', failures).append(what)
        print('%s %s%s' % ('ok  ' if ok else 'FAIL', what, '' if ok else ': %s' % (found,)), flush=True)


def new_folder():
    with lock:
        return ROOT / ('out%d' % next(folders))


class Capture:
    """One capture: its exit code, what it and the program said, its folder and its sidecar."""

    def __init__(self, options, program, environment=None, into=None, prefix=(), **more):
        self.into = into or new_folder()
        self.process = subprocess.Popen([*prefix, IDSPROF, 'capture', '--keep-empty', '-o', self.into, *map(str, options), '--', *map(str, program)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})}, **more)

    def wait(self):
        self.out, self.err = self.process.communicate(timeout=120)
        self.code = self.process.returncode
        found = re.search(r'^idsprof: folder +(.*)$', self.err, re.M)
        self.folder = Path(found[1]) if found else None
        sidecar = self.folder and self.folder / 'idsprof-run.json'
        self.sidecar = json.loads(sidecar.read_text()) if sidecar and sidecar.exists() else {'processes': []}
        return self

    def line(self, what):
        """The text of one of the lines at the end, unwrapped; "" when there is none."""
        found = re.search(rf'^idsprof: {what} +(.*(?:\n {{10,}}.*)*)', self.err, re.M)
        return re.sub(r'\n +', ' ', found[1]) if found else ''

    def missed_nothing(self):
        """But samples, of so short a window on a machine that others use too."""
        return re.fullmatch('nothing|stacks, not sampled: (the thread that takes them had no core, or Python had ended|'
                            r'the window was over after \d+ us)', self.line('missed'))

    def windows(self):
        return [window for process in self.sidecar['processes'] for window in process['windows']]

    def facts(self):
        return {key: value for process in self.sidecar['processes'] for key, value in process['facts'].items()}

    def files(self):
        return sorted(self.folder.glob('plugins/profile/*/*.xplane.pb')) if self.folder else []


def capture(options, *words, program=LOOP, **more):
    return Capture(options, [PYTHON, program, *words], **more).wait()


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def report(run, *arguments):
    done = idsprof('report', '--json', *arguments, run)
    return json.loads(done.stdout) if done.returncode == 0 else {'metrics': {}, 'tables': {}, 'error': done.stderr}


def metric(found, name):
    return found['metrics'].get(name, {}).get('value', 'no %s: %s' % (name, found.get('error')))


class Profile:
    """What the independent decoder reads."""

    def __init__(self, path):
        self.planes = xplane_oracle.load(path)
        self.names, self.steps, self.ops = collections.Counter(), [], collections.Counter()
        for plane in self.planes:
            for line in plane.lines:
                for event in line.events:
                    stats = dict(event.stats)
                    self.names[event.name.decode()] += 1
                    if b'step_num' in stats:
                        self.steps.append((event.name.decode(), int(stats[b'step_num'][2:])))
                    if b'hlo_op' in stats and stats.get(b'hlo_module') == b's:jit_train_step':
                        self.ops[event.name.decode()] += 1

    def executions(self):
        """How often each op of train_step ran: {5} when all ran five times."""
        return set(self.ops.values())


def profile(run, number=0):
    files = run.files()
    return Profile(files[number]) if number < len(files) else None


# --- windows ----------------------------------------------------------------------------------------------------------

def annotated():
    run = capture(['--start-step', 50], 70, 'annotate')
    found = profile(run)
    check('annotated: the program is as it was', run.code == 0 and run.out == 'trained True on 1 devices\n', (run.out, run.err))
    check('annotated: exactly the steps 50-54', found and found.steps == [('train', n) for n in range(50, 55)], run.err)
    check('annotated: five executions of each op', found and found.executions() == {5}, found and found.ops)
    check('annotated: said', run.line('caught').startswith("steps 50-54 (annotation 'train'), 1 window of 1 process"), run.err)
    check('annotated: nothing missed', run.missed_nothing(), run.err)
    check('annotated: TensorBoard finds it', len(run.files()) == 1 and
          re.fullmatch(r'\d{4}(_\d\d){5}', run.files()[0].parent.name), run.files())
    read = report(run.folder)
    check('annotated: idsprof report reads it',
          (metric(read, 'steps.source'), metric(read, 'steps.count')) == ('annotation', 5), read)
    steps = read['tables']['steps']
    check('annotated: the step with which the window opened is in no mean',
          read['run']['steps']['left_out'] == 50 and [row[0] for row in steps['rows']] == [51, 52, 53, 54], read['run']['steps'])
    text = idsprof('report', run.folder).stdout
    check('annotated: with the version of jax', re.search(r'jax \d+\.\d+\.\d+', text), text[:300])
    xprof(run)


def xprof(run):
    tool = Path(PYTHON).parent / 'xprof'
    if not tool.exists():
        absent('no xprof beside %s (tests/requirements.txt)' % PYTHON)
    copy = ROOT / 'for_xprof'           # it writes its caches beside its input
    shutil.rmtree(copy, ignore_errors=True)     # of a case that runs again
    shutil.copytree(run.folder, copy)
    session, = copy.glob('plugins/profile/*')
    done = subprocess.run([tool, 'list_xplane_lines', session], capture_output=True, text=True, timeout=120)
    try:
        planes = {plane['name']: plane['total_events'] for plane in json.loads(done.stdout)['planes']}
    except (ValueError, KeyError):
        planes = {}
    events = {plane.name.decode(): sum(len(line.events) for line in plane.lines) for plane in Profile(run.files()[0]).planes}
    check("annotated: XProf's CLI reads as many events of each plane",
          planes.get('/host:CPU', 0) > 0 and planes == {name: events[name] for name in planes}, (planes, events, done.stderr[-300:]))
    done = subprocess.run([tool, 'get_overview', session], capture_output=True, text=True, timeout=120)
    check("annotated: and makes its overview", done.returncode == 0 and '"status": "ERROR"' not in done.stdout, done.stdout[-500:])


def counted():
    run = capture(['--start-step', 50], 70)
    found = profile(run)
    check('counted: exactly five executions', found and found.executions() == {5}, (found and found.ops, run.err))
    check('counted: the steps are marked', found and found.steps == [('call of train_step', n) for n in range(50, 55)], found and found.steps)
    check('counted: said', run.line('caught').startswith('steps 50-54 (executions of train_step), 1 window'), run.err)
    check('counted: whose executions', run.facts().get('step function') == 'train_step', run.facts())
    check('counted: its cost is said', re.search(r'counting executions took \d+\.\d us a step', run.line('cost')), run.err)
    read = report(run.folder)
    check('counted: the report has the steps', metric(read, 'steps.count') == 5, read)
    check('counted: but the first in no mean', read['run']['steps']['left_out'] == 50, read['run']['steps'])
    after = capture(['--start-step', 30, '--steps', 2], 40, 'inits=20')
    check('counted: after many calls of another function', after.line('caught').startswith('steps 30-31 (executions of train_step)'), after.err)
    history, = (after.folder / '.idsprof').glob('*.history')
    check('counted: the history is of the function that took over', struct.unpack_from('<q', history.read_bytes(), 256) == (20,), after.err)
    ahead = profile(capture(['--start-step', 20], 40, 'ahead'))
    check('counted: a step that was compiled ahead of time', ahead and ahead.executions() == {5}, ahead and ahead.ops)
    chosen = capture(['--start-step', 3, '--steps', 2, '--step-executable', '^init$'], 5)
    check('counted: --step-executable is another function',
          chosen.line('missed').startswith('the program ended after step 0 (executions of init), before step 3'), chosen.err)


def default_start():
    # As people run it: without JAX_PLATFORMS, JAX looks for a TPU first, and no library of it is here.
    run = capture([], 165, 'annotate', environment={'JAX_PLATFORMS': ''})
    check('the program chooses its platform', run.code == 0, run.err)
    found = profile(run)
    check('default: steps 153-157', found and [n for _, n in found.steps] == list(range(153, 158)), run.err)


def every():
    run = capture(['--start-step', 20, '--steps', 2, '--every', 100, '--max', 3], 400, 'annotate')
    steps = [[n for _, n in Profile(file).steps] for file in run.files()]
    check('every 100, max 3: three runs', steps == [[20, 21], [120, 121], [220, 221]], (steps, run.err))
    check('every 100, max 3: said', run.line('caught').startswith('steps 20-21, 120-121, 220-221'), run.err)
    listed = idsprof('list', run.folder)
    check('every 100, max 3: listed', listed.returncode == 0 and listed.stdout.count('whole') == 3, listed.stdout + listed.stderr)


def by_time():
    end = new_folder()
    run = Capture(['--delay', '3s', '--duration', '200ms'], [PYTHON, LOOP, 100000, 'annotate', 'pace=0.005', 'until=%s' % end])
    until = time.monotonic() + 60
    while not list(run.into.glob('*/plugins/profile/*/*.xplane.pb')) and time.monotonic() < until:
        time.sleep(0.1)
    end.write_text('')
    run.wait()
    window, = run.windows() or [{}]
    found = profile(run)
    check('delay and duration: by time', (window.get('opened_by'), window.get('closed_by')) == ('time', 'time'), run.err)
    check('delay and duration: as long as asked', 0.19e9 < int(window.get('end_ns', 0)) - int(window.get('begin_ns', 0)) < 2e9, window)
    check('delay and duration: steps are in it', found and found.steps, found and found.steps)


def threads():
    """What a program sees of its threads is as without: one that waits for the others to end would wait for ever."""
    program = ROOT / 'threads.py'
    program.write_text('''import threading, time
import jax, jax.numpy as jnp
f, x = jax.jit(lambda x: jnp.tanh(x @ x)), jnp.ones((100, 100))
for i in range(300):
    f(x).block_until_ready()
    time.sleep(.5 if i == 200 else .005)
print(threading.active_count(), [thread.name for thread in threading.enumerate()])
''')
    for options in ['--delay', '1500ms', '--duration', '200ms'], ['--when', 'step > 100ms']:
        run = capture(options, program=program)
        check('threads: %s: a window opened' % options[0], len(run.files()) >= 1, run.err)
        check('threads: %s: none but the program\'s' % options[0], run.out == "1 ['MainThread']\n", run.out)


def trigger():
    end = new_folder()
    run = Capture(['--trigger', '--steps', 100000], [PYTHON, LOOP, 100000, 'annotate', 'pace=0.005', 'until=%s' % end])
    answer = ask(run, 'trigger', run.process.pid)
    time.sleep(1.5)
    stopped = ask(run, 'trigger', '--stop', run.process.pid)
    time.sleep(0.3)
    end.write_text('')
    run.wait()
    found = profile(run)
    check('trigger: opened', answer.returncode == 0, answer.stdout + answer.stderr)
    check('trigger: stopped', stopped.returncode == 0, stopped.stdout + stopped.stderr)
    left_out = ((report(run.folder).get('run') or {}).get('steps') or {}).get('left_out')
    check('trigger: opened beside a step, which is as the others', left_out is None, left_out)
    check('trigger: one window with steps', found and found.steps and len(run.files()) == 1, run.err)
    check('trigger: closed by it', run.windows() and run.windows()[0]['closed_by'] == 'trigger', run.windows())


def ask(run, *arguments):
    """Until the program is there to answer."""
    until = time.monotonic() + 60
    while True:
        answer = idsprof(*arguments)
        if answer.returncode == 0 or time.monotonic() > until or run.process.poll() is not None:
            return answer
        time.sleep(0.1)


def variables():
    into = new_folder()
    run = capture(['--max', 2], 60, 'annotate', environment={'PROFILE_START_STEP': '10', 'PROFILE_INTERVAL': '20',
                                                             'PROFILE_DURATION': '3', 'PROFILE_DIR': '/unused'}, into=into)
    steps = [[n for _, n in Profile(file).steps] for file in run.files()]
    check('PROFILE_START_STEP, _INTERVAL, _DURATION', steps == [[10, 11, 12], [30, 31, 32]], (steps, run.err))
    by_variable = subprocess.run([IDSPROF, 'capture', '--', PYTHON, LOOP, '20', 'annotate'], capture_output=True, text=True,
                                 env={**os.environ, 'PROFILE_DIR': str(ROOT / 'by_variable'), 'PROFILE_START_STEP': '4',
                                      'PROFILE_INTERVAL': '0'})
    files = list((ROOT / 'by_variable').glob('*/plugins/profile/*/*.xplane.pb'))
    check('PROFILE_DIR, PROFILE_INTERVAL=0', len(files) == 1 and [n for _, n in Profile(files[0]).steps] == list(range(4, 9)),
          by_variable.stderr)
    off = capture([], 3, environment={'PROFILE_ENABLED': '0'})
    check('PROFILE_ENABLED=0', off.code == 0 and off.out.startswith('trained') and not off.files(), off.err)


# --- how programs end -------------------------------------------------------------------------------------------------

def ending(what, code, last):
    run = capture(['--start-step', 5], 20, 'annotate', 'at=7:' + what)
    found = profile(run)
    check('%s in a window: exit code' % what, run.code == code, (run.code, run.err))
    if last is None:
        check('%s in a window: nothing of it' % what, not run.files() and run.line('caught') == 'nothing', run.err)
    else:
        check('%s in a window: what was caught until then' % what,
              found and [n for _, n in found.steps] == list(range(5, last + 1)), run.err)
        check('%s in a window: said' % what, run.line('missed') == 'the program ended after 3 of the 5 steps of window 1', run.err)
    return run


def ends():
    ending('exit', 3, 7)
    run = ending('raise', 1, 7)
    check('an exception: the traceback is the program\'s own', 'ValueError: the loss is not finite' in run.err, run.err)
    run = ending('_exit', 4, None)
    check('os._exit: said', run.line('missed') == 'the program ended with exit code 4, of which idsprof was not told (os._exit?), in an open window, '
          'which is lost', run.err)
    run = ending('term', 128 + 15, 7)
    run = ending('kill', 128 + 9, None)
    check('SIGKILL: said', run.line('missed') == 'signal 9 (Killed) ended the program in an open window, which is lost', run.err)


def never_reached():
    run = capture(['--start-step', 500], 20, 'annotate')
    check('never reached: said', run.line('missed') == "the program ended after step 19 (annotation 'train'), before step 500", run.err)
    check('never reached: what to do', '--start-step 15' in run.line('next'), run.err)
    check('never reached: the program is as it was', run.code == 0 and run.out.startswith('trained'), run.out)


# --- several processes ------------------------------------------------------------------------------------------------

def processes():
    run = Capture(['--start-step', 5], ['sh', '-c', '"$0" "$1" 15 annotate & "$0" "$1" 15; wait', PYTHON, LOOP]).wait()
    found = sorted(profile(run, i).steps for i in range(len(run.files())))
    wanted = sorted([[('train', n) for n in range(5, 10)], [('call of train_step', n) for n in range(5, 10)]])
    check('two processes at once: a file of each', found == wanted, (found, run.err))
    check('two processes at once: said', '2 windows of 2 processes' in run.line('caught'), run.err)
    run = Capture(['--start-step', 5, '--ranks', '0-1'],
                  ['sh', '-c', 'for rank in 0 1 2; do RANK=$rank "$0" "$1" 15 annotate & done; wait', PYTHON, LOOP]).wait()
    names = [file.name.partition('_')[2] for file in run.files()]
    check('ranks of a launch: beside each other', names == ['rank0.xplane.pb', 'rank1.xplane.pb'] and
          len({file.parent for file in run.files()}) == 1, (run.files(), run.err))


def distributed():
    program = ROOT / 'distributed.py'
    program.write_text('import sys, jax\nsys.path.insert(0, %r)\njax.distributed.initialize("localhost:" + sys.argv.pop(), 2, '
                       'int(sys.argv.pop()))\nimport capture_loop\ncapture_loop.main()\n' % str(HERE))
    run = Capture(['--start-step', 5], ['sh', '-c', '"$0" "$1" 15 annotate 0 $2 & "$0" "$1" 15 annotate 1 $2; wait', PYTHON, program,
                                        free_port()]).wait()
    names = [file.name.partition('_')[2] for file in run.files()]
    check('jax.distributed: the ranks are known', names == ['rank0.xplane.pb', 'rank1.xplane.pb'] and
          len({file.parent for file in run.files()}) == 1, (run.files(), run.err))


def same_second():
    into = new_folder()
    runs = [Capture(['--start-step', 5, '--name', 'same'], [PYTHON, LOOP, 15, 'annotate'], into=into) for _ in range(2)]
    for run in runs:
        run.wait()
    check('two captures in one second: two folders', runs[0].folder != runs[1].folder and
          [len(run.files()) for run in runs] == [1, 1], [run.err for run in runs])


def children():
    program = ROOT / 'spawner.py'
    program.write_text('''
import multiprocessing, sys, jax
sys.path.insert(0, %r)
def work():
    sys.argv = ['', '12', 'annotate']
    import capture_loop
    capture_loop.main()
if __name__ == '__main__':
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    child.start()
    child.join()
    sys.exit(child.exitcode)
''' % str(HERE))
    for how in ('fork', 'spawn'):
        run = capture(['--start-step', 10], how, program=program)
        found = profile(run)
        check('a child by %s: its window, which its end cuts' % how,
              run.code == 0 and found and [n for _, n in found.steps] == [10, 11], (run.code, run.err))


def mpirun():
    """Two processes of a real launcher on one machine: one run, in which they are called by their ranks."""
    if not shutil.which('mpirun'):
        check('mpirun: not installed (openmpi-bin)', os.environ.get('IDS_CI') != '1')
        return
    run = Capture(['--start-step', 5], ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', 2, PYTHON, LOOP, 12, 'annotate']).wait()
    read = report(run.folder)
    names = [name.split('_')[-1] for name in read['metrics'].get('device.utilization', {'by_device': {}})['by_device']]
    check('mpirun: one run of two processes', run.code == 0 and len({file.parent for file in run.files()}) == 1 and len(run.files()) == 2,
          (run.code, run.err))
    check('mpirun: the same steps of both', metric(read, 'steps.count') == 5, read.get('metrics'))
    check('mpirun: called by their ranks', [name.split(':')[0].split('/')[0] for name in sorted(names)] == ['rank0', 'rank1'], names)


# --- what else is in the program -----------------------------------------------------------------------------------------

def sitecustomize():
    folder = ROOT / 'site'
    folder.mkdir()
    (folder / 'sitecustomize.py').write_text('import sys\nsys.of_the_program = __name__, __file__\n')
    program = ROOT / 'asks.py'
    program.write_text('import sys, sitecustomize\nprint(sys.of_the_program, sitecustomize.__file__)\n'
                       'print(any(entry.endswith("idsprof/python") for entry in sys.path[:-1]))\n' + LOOP.read_text())
    run = capture(['--start-step', 5], 15, 'annotate', program=program, environment={'PYTHONPATH': str(folder)})
    theirs = str(folder / 'sitecustomize.py')
    check('a sitecustomize: runs, and is what the program imports',
          run.out.startswith("('sitecustomize', '%s') %s\nFalse\ntrained" % (theirs, theirs)), (run.out, run.err))
    found = profile(run)
    check('a sitecustomize: and so does the hook', found and len(found.steps) == 5, run.err)
    (folder / 'sitecustomize.py').write_text('raise RuntimeError("broken site")\n')
    alone = subprocess.run([PYTHON, '-c', 'print(1)'], capture_output=True, text=True, env={**os.environ, 'PYTHONPATH': str(folder)})
    run = Capture(['-q'], [PYTHON, '-c', 'print(1)'], environment={'PYTHONPATH': str(folder)}).wait()
    check('a sitecustomize that raises: as without us', run.out == alone.stdout and alone.stderr.strip() in run.err,
          (run.err, alone.stderr))


def isolated():
    for flag in 'IES':
        run = Capture([], [PYTHON, '-' + flag, '-c', 'print("fine")']).wait()
        check('python -%s: said' % flag, run.out == 'fine\n' and run.line('missed').endswith(
            " -%s keeps idsprof's hook out of the program" % flag), run.err)
        check('python -%s: what to do' % flag, run.line('next') == 'start it without -%s' % flag, run.err)


def without_jax():
    run = Capture([], ['sh', '-c', 'echo fine; exit 9']).wait()
    check('no Python: said', (run.code, run.out) == (9, 'fine\n') and run.line('missed').startswith('no Python started under sh with'), run.err)
    run = Capture([], [PYTHON, '-c', 'print("fine")']).wait()
    check('no jax: said', run.out == 'fine\n' and run.line('missed').startswith('the program used neither jax nor CUDA'), run.err)
    alone = 'import subprocess, sys; subprocess.run([sys.executable, "-c", "import jax; print(jax.jit(lambda x: x + 1)(1))"], env={"JAX_PLATFORMS": "cpu"})'
    run = Capture([], [PYTHON, '-c', alone]).wait()
    check('jax in a process with an environment of its own: nothing false is said', run.out == '2\n' and
          'in the processes that idsprof came into; one that was started without its environment is not seen' in run.line('missed') and
          'should pass this one on' in run.line('next'), (run.out, run.err))


def own_profiler():
    folder = new_folder()
    run = capture(['--start-step', 5], 20, 'annotate', 'at=3:profile', 'into=%s' % folder)
    theirs = list(folder.glob('plugins/profile/*/*.xplane.pb'))
    check('start_trace before the window: the program wins', run.code == 0 and run.out.startswith('trained') and
          [n for _, n in Profile(theirs[0]).steps] == [4, 5, 6], (run.out, run.err))
    found = profile(run)
    check('start_trace before the window: ours opens behind it', found and [n for _, n in found.steps] == list(range(7, 12)), run.err)
    check('start_trace before the window: said', run.line('missed') ==
          'window 1 was opened at step 7 and not at 5: until then the program profiled itself', run.err)
    for what in ('profile', 'perfetto', 'trace'):
        folder = new_folder()
        run = capture(['--start-step', 5], 20, 'annotate', 'at=6:' + what, 'into=%s' % folder)
        theirs = list(folder.glob('plugins/profile/*/*.xplane.pb'))
        wanted = [] if what == 'trace' else [7, 8, 9]
        check('%s in the window: the program wins' % what, run.code == 0 and len(theirs) == 1 and
              [n for _, n in Profile(theirs[0]).steps] == wanted, (run.out, run.err))
        found = profile(run)
        check('%s in the window: ours ends before it' % what, found and [n for _, n in found.steps] == [5, 6], run.err)
        check('%s in the window: that it is short is said' % what, run.line('missed') ==
              'window 1 ended where the program began a profile of its own; again, with --start-step %d' % (7 if what == 'trace' else 10), run.err)
        notes = [note['note'] for process in run.sidecar['processes'] for note in process['notes']]
        check('%s in the window: said' % what,
              notes == ['jax: the program began a profile of its own with jax.profiler: the window ended there'], notes)
    run = capture(['--start-step', 5], 20, 'annotate', 'at=2:server', 'port=%d' % free_port())
    found = profile(run)
    check('start_server: both work', run.code == 0 and found and [n for _, n in found.steps] == list(range(5, 10)), run.err)


def free_port():
    with socket.socket() as probe:
        probe.bind(('', 0))
        return probe.getsockname()[1]


# --- folders and disks ------------------------------------------------------------------------------------------------

def unwritable():
    file = ROOT / 'a_file'
    file.write_text('')
    run = Capture([], [PYTHON, '-c', 'print("ran")'], into=file / 'sub').wait()
    check('unwritable folder: exit 2 before the program runs', run.code == 2 and run.out == '', (run.code, run.out))
    check('unwritable folder: said', str(file) in run.err and 'Not a directory' in run.err, run.err)


def full_disk():
    run = capture(['--start-step', 5], 20, 'annotate', prefix=['sh', '-c', 'ulimit -f 4; exec "$@"', 'sh'])
    check('no room for the file: the program is as it was', run.code == 0 and run.out.startswith('trained'), (run.code, run.err))
    check('no room for the file: said', run.line('missed').startswith('window 1 is lost: ') and
          'File too large' in run.line('missed'), run.err)
    disk = ROOT / 'disk'
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=64k none "$0" && exec "$@"'
    prefix = ['unshare', '--mount', '--map-root-user', 'sh', '-c', mount, disk]
    if os.geteuid() == 0:
        prefix.remove('--map-root-user')
    if subprocess.run([*prefix, 'true'], capture_output=True).returncode:
        print('NOTE: no file system can be mounted here: the full disk was a limit of the file\'s size only')
        return
    run = capture(['--start-step', 5], 20, 'annotate', into=disk / 'runs', prefix=prefix)
    check('full disk: the program is as it was', run.code == 0 and run.out.startswith('trained'), (run.code, run.err))
    check('full disk: said', re.search(r"the disk of '.*' is full", run.line('missed')), run.err)


# --- names ------------------------------------------------------------------------------------------------------------

def wrap():
    program = ROOT / 'uses_module.py'
    program.write_text('import sys\nsys.path.insert(0, %r)\nimport capture_loop\ncapture_loop.main()\n' % str(HERE))
    run = capture(['--start-step', 5, '--wrap', 'capture_loop:load', '--wrap', 'capture_loop:train_step', '--wrap', 'capture_loop:no'],
                  15, 'annotate', program=program)
    found = profile(run)
    check('--wrap: in the profile, once a step', found and (found.names['load'], found.names['train_step']) == (5, 5),
          (found and found.names, run.err))
    check('--wrap: what was not found is said', run.facts().get('wrap') == 'never found: capture_loop:no', run.facts())
    rows = {row[0]: row[1] for row in report(run.folder)['tables'].get('annotations', {'rows': []})['rows']}
    check('--wrap: in the report', rows == {'load': 5, 'train_step': 5}, rows)
    run = capture(['--start-step', 5, '--wrap', '__main__:load'], 15, 'annotate')
    found = profile(run)
    check('--wrap: a function of the script itself', found and found.names['load'] == 5, run.err)


def perfetto():
    run = capture(['--start-step', 5, '--steps', 2, '--every', 5, '--max', 2, '--perfetto'], 15, 'annotate')
    traces = sorted(run.folder.glob('plugins/profile/*/*.pftrace')) if run.folder else []
    check('--perfetto: a trace in the folder of each window', [trace.parent for trace in traces] == [file.parent for file in run.files()] and
          len(traces) == 2 and all(b'train_step' in trace.read_bytes() for trace in traces), (traces, run.err))
    check('--perfetto: the run is read as before', len(report(run.folder)['tables'].get('ops', {'rows': []})['rows']) > 0, run.err)
    check('--perfetto: nothing else is printed by the program', run.out == 'trained True on 1 devices\n', run.out)
    run = capture(['--start-step', 5, '--perfetto', '-q'], 15, 'annotate')
    check('--perfetto --quiet: no word', run.err == '', run.err)
    run = capture(['--start-step', 500, '--perfetto'], 15, 'annotate')
    check('--perfetto: of nothing, nothing', run.line('caught') == 'nothing' and 'extract' not in run.err, run.err)


def named_region():
    run = capture(['--range', 'evaluate'], 10, 'annotate', 'block')
    found = profile(run)
    check('--range: exactly the block', found and found.names['evaluate'] == 1 and found.steps == [] and found.executions() == {1},
          (found and (found.steps, found.ops), run.err))
    run = capture(['--range', 'evaluate'], 10, 'block')
    found = profile(run)
    check('--range: its last call is a step, which the end of the region ends', found and found.names['call of train_step'] == 1,
          (found and found.names, run.err))
    run = capture(['--range', 'nowhere'], 10, 'annotate', 'block')
    check('--range: one that never came is said', run.line('missed') == "no region called 'nowhere' began", run.err)


def sweep():
    into = new_folder()
    run = Capture(['--sweep', 'devices=1,2,4', '--start-step', 5], [PYTHON, LOOP, 15, 'annotate'], into=into).wait()
    check('--sweep: the program ran with each', run.out == ''.join('trained True on %d devices\n' % n for n in (1, 2, 4)),
          (run.out, run.err))
    files = sorted(into.glob('*/**/*.xplane.pb'))
    top = {file.relative_to(into).parts[0] for file in files}
    check('--sweep: a run each, in one folder', len(files) == 3 and len(top) == 1, files)


def scopes():
    run = capture(['--start-step', 5, '--report'], 15, 'annotate', 'scopes')
    read = report(run.folder)
    names = json.dumps(read['tables'])
    check('scopes: named_scope is in the table of ops', 'jit(train_step)/layer1/' in names and '/update/' in names, names[:2000])
    rows = {row[0]: row[1] for row in read['tables'].get('annotations', {'rows': []})['rows']}
    check('scopes: TraceAnnotation is in the report, and nothing of jax itself', rows == {'fetch batch': 5}, rows)
    check('scopes: --report prints it', 'device utilization' in run.out and 'fetch batch' in run.out, run.out[:3000])


# --- what compiling cost ----------------------------------------------------------------------------------------------

def compiling():
    cache = new_folder()
    for state in ('cold', 'warm'):
        out = new_folder()
        run = capture(['--start-step', 0, '--steps', 4], cache, out, program=COMPILE)
        said = json.loads(out.read_text()) if out.exists() else {'all': {}, 'by_function': {}}
        read = report(run.folder)
        for ours, theirs in (('compile.total', 'backend'), ('compile.tracing', 'tracing'), ('compile.lowering', 'lowering')):
            found = metric(read, ours)
            check('%s cache: %s within 5 %% of jax.monitoring' % (state, ours), is_near(found, said['all'].get(theirs)),
                  (found, said['all'], run.err))
        for event in ('cache_hits', 'cache_misses'):
            check('%s cache: %s' % (state, event), metric(read, 'compile.' + event) == said['all'].get(event, 0),
                  (metric(read, 'compile.' + event), said['all']))
        check('%s cache: hits or misses it is' % state, metric(read, 'compile.cache_' + ('misses' if state == 'cold' else 'hits')) > 5)
        by_function(state, read, said['by_function'])


def is_near(found, said):
    return isinstance(found, (int, float)) and said is not None and abs(found - said) <= 0.05 * said


def by_function(state, read, said):
    table = read['tables'].get('compile_functions', {'columns': [], 'rows': []})
    columns = [column['id'] for column in table['columns']]
    rows = {row[columns.index('function')]: dict(zip(columns, row)) for row in table['rows']}
    check('%s cache: the functions are those of jax.monitoring' % state, set(rows) == set(said) and len(rows) > 3, (set(rows), set(said)))
    for name, sums in said.items():
        row = rows.get(name, {})
        # A thousandth of a millisecond is what the clocks of both differ by.
        wrong = [what for what in ('backend', 'tracing', 'lowering')
                 if abs(row.get(what) or 0 - sums.get(what, 0)) > 0.05 * sums.get(what, 0) + 1e-6
                 and not is_near(row.get(what), sums.get(what))]
        check('%s cache: %s within 5 %%' % (state, name), not wrong and row.get('compilations') == sums.get('compilations'), (row, sums))


# --- what it costs ----------------------------------------------------------------------------------------------------

MEASURE = '''
import time, jax, jax.numpy as jnp
step = jax.jit(lambda x: x + 1)
other = jax.jit(lambda x: x - 1)
x = jnp.ones(4)
other(x)
def annotated():
    with jax.profiler.StepTraceAnnotation('train', step_num=1):
        pass
def best(call):
    times = []
    for _ in range(15):
        began = time.perf_counter_ns()
        for _ in range(1000):
            call()
        times.append((time.perf_counter_ns() - began) / 1000)
    return min(times)
for _ in range(20000):
    step(x)
print(best(lambda: other(x)), best(lambda: step(x)), best(annotated))
'''


def costs():
    program = ROOT / 'measure.py'
    program.write_text(MEASURE)
    without, under = [], []
    for _ in range(3):                  # interleaved: the machine is not always as fast
        alone = subprocess.run([PYTHON, program], capture_output=True, text=True)
        without.append([float(word) for word in alone.stdout.split()])
        under.append([float(word) for word in capture(['--start-step', 10 ** 8], program=program).out.split()])
    for i, (most_ns, words) in enumerate(((2000, 'a jitted call that begins no step'), (20000, 'a counted step outside of a window'),
                                          (5000, 'an annotated step outside of a window'))):
        base = min(sample[i] for sample in without)
        more = min(sample[i] for sample in under) - base
        check('cost of %s: %.0f ns (%.0f ns without)' % (words, more, base), more < most_ns)


def start_cost():
    """Of a Python without jax, by pairs of runs, each in front once. Bytecode is kept, as it is by default."""
    home = Path(IDSPROF).resolve().parent / 'lib' / 'idsprof'
    if not home.exists():
        home = Path(IDSPROF).resolve().parent.parent / 'lib' / 'idsprof'
    session = new_folder()
    (session / '.idsprof').mkdir(parents=True)
    clean = {name: value for name, value in os.environ.items() if name != 'PYTHONDONTWRITEBYTECODE'}
    under = {**clean, 'IDSPROF_PLAN': 'start_step=150;steps=5', 'IDSPROF_SESSION': str(session), 'IDSPROF_HOME': str(home),
             'PYTHONPATH': str(home / 'python')}

    def run(environment):
        began = time.perf_counter()
        subprocess.run([PYTHON, '-c', 'pass'], env=environment, check=True)
        return 1000 * (time.perf_counter() - began)

    run(under)
    pairs = [(run(clean), run(under)) if i % 2 else (run(under), run(clean))[::-1] for i in range(80)]
    # Both of the fastest quarter, in which nobody else had the processor, and of pairs, in which both had it as often.
    quarter = [sorted(side)[len(pairs) // 4] for side in zip(*pairs)]
    more = min(quarter[1] - quarter[0], statistics.median(b - a for a, b in pairs))
    check('start of a Python without jax: %.2f ms more than %.1f ms' % (more, quarter[0]), more < 1.0)
    followed = (session / '.idsprof' / 'followed').read_text().splitlines()
    check('start of a Python without jax: it is known', len(followed) == 81 and all('"event":"python"' in line for line in followed))


CASES = [annotated, counted, default_start, every, by_time, threads, trigger, variables, ends, never_reached, processes, distributed,
         same_second, children, mpirun, sitecustomize, isolated, without_jax, own_profiler, unwritable, full_disk, wrap, perfetto, named_region, sweep, scopes, compiling]
ALONE = [costs, start_cost]             # they measure


def run_once(case):
    """What failed of it."""
    began = time.monotonic()
    of_case.failures = []
    try:
        case()
    except Exception as error:          # a case that breaks must not hide the others
        check('%s: %s: %s' % (case.__name__, type(error).__name__, error), False)
    print('     %s took %.1f s' % (case.__name__, time.monotonic() - began), flush=True)
    failed = of_case.failures
    del of_case.failures
    return failed


def run_case(case):
    """What others do on the machine at that moment is no fault of ours: what failed is tried once more, and that is said."""
    failed = run_once(case)
    if failed:
        print('again %s, of which %d failed' % (case.__name__, len(failed)), flush=True)
        failed = run_once(case)
    with lock:
        failures.extend(failed)


def need_jax():
    if not os.access(IDSPROF, os.X_OK):
        absent('IDSPROF names no program (%r)' % IDSPROF)
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode != 0:
        absent('%s has no jax (tests/requirements.txt)' % PYTHON)


def run_cases(cases, at_once=1, alone=()):
    """Those that the command line names, or all; the exit code. `alone`: behind the others, one after the other."""
    chosen = sys.argv[1:]
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(run_case, [case for case in cases if not chosen or case.__name__ in chosen]))
    for case in alone:
        if not chosen or case.__name__ in chosen:
            run_case(case)
    print('%d failures' % len(failures))
    for what in failures:
        print('FAIL ' + what)
    return bool(failures)


def main():
    need_jax()
    return run_cases(CASES, at_once=2, alone=ALONE)


if __name__ == '__main__':
    sys.exit(main())
