#!/usr/bin/env python3
"""`idsprof capture` and `idsprof trigger` with a program that has the agent and a collector that only looks like one
(tests/support/capture_double.c): windows, several processes, signals, exit codes, what is said when nothing was caught.
Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR.
"""
import itertools
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
DOUBLE = os.environ['IDS_BUILD_DIR'] + '/support/capture_double'
ROOT = Path(os.environ['TMPDIR'])
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_')) or name in ('RANK', 'SLURM_PROCID', 'PYTHONPATH'):
        del os.environ[name]
os.environ['XDG_RUNTIME_DIR'] = str(ROOT / 'run')
(ROOT / 'run').mkdir()
FACTOR = float(os.environ.get('IDS_TIME_FACTOR', '1'))  # how much slower than an idle machine this one may be
failures = []
folders = 0


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


class Capture:
    """One capture: its exit code, what it said, its folder and its sidecar, also of a capture that caught nothing."""

    def __init__(self, options, program, environment=None, output=None, wait=True, keep_empty=True):
        global folders
        folders += 1
        self.dir = output or ROOT / f'out{folders}'
        self.process = subprocess.Popen([IDSPROF, 'capture', '-o', self.dir, *(['--keep-empty'] if keep_empty else []), *options, '--',
                                         *program],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        if wait:
            self.wait()

    def wait(self):
        self.out, self.err = self.process.communicate(timeout=60)
        self.code = self.process.returncode
        found = re.search(r'^idsprof: folder +(.*)$', self.err, re.M)
        self.folder = Path(found[1]) if found else None
        sidecar = self.folder and self.folder / 'idsprof-run.json'
        self.sidecar = json.loads(sidecar.read_text()) if sidecar and sidecar.exists() else {}
        return self

    def line(self, what):
        """The text of one of the lines at the end, unwrapped."""
        found = re.search(rf'^idsprof: {what} +(.*(?:\n {{17}}.*)*)', self.err, re.M)
        return re.sub(r'\n +', ' ', found[1]) if found else None

    def windows(self):
        return [window for process in self.sidecar['processes'] for window in process['windows']]

    def steps(self):
        return [(window['first_step'], window['last_step']) for window in self.windows() if window['state'] == 'written']

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.glob('plugins/**/*.xplane.pb'))


def double(options, *program, **more):
    return Capture(options, [DOUBLE, *program], **more)


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60)


# ---- windows ----

def steps():
    run = double([], 'wake', 'step:0:300')
    check(run.code == 0, run.err)
    check(run.steps() == [(153, 157)], run.sidecar)
    check(run.line('caught').startswith("steps 153-157 (annotation 'train'), 1 window of 1 process: 5 events, "), run.err)
    nested = double([], 'wake', 'epoch:0', 'step:0:100', 'epoch:1', 'step:100:200')
    check(nested.line('caught').startswith("steps 153-157 (annotation 'train')"), nested.err)
    check(run.line('missed') == 'nothing', run.err)
    check(run.line('next') == f'idsprof report {run.folder}', run.err)
    check(len(run.err.splitlines()) == 5, run.err)
    check(len(run.files()) == 1, run.files())
    check(re.fullmatch(r'plugins/profile/\d{4}(_\d\d){5}/[^/]+\.xplane\.pb', run.files()[0]), run.files())
    check(run.folder.name.startswith('capture_double_'), run.folder)
    listed = json.loads(idsprof('list', run.folder, '--json').stdout)
    check('"events": 5' in json.dumps(listed), listed)
    check(double(['--start-step', '50'], 'wake', 'step:0:300').steps() == [(50, 54)], 'start step 50')
    check(double(['-s', '7', '-k', '1'], 'wake', 'step:0:9').steps() == [(7, 7)], 'one step')
    run = double(['--start-step', '50', '--every', '100', '--max', '3', '--name', 'my-run'], 'wake', 'step:0:900')
    check(run.steps() == [(50, 54), (150, 154), (250, 254)], run.sidecar)
    check(len({os.path.dirname(path) for path in run.files()}) == 3, run.files())
    check(run.line('next') == f'idsprof list {run.folder}' and run.folder.name.startswith('my-run_'), run.err)
    run = double(['--start-step', '20', '--steps', '3'], 'wake', 'exec:jit_step:50')
    check(run.steps() == [(20, 22)] and 'executions of jit_step' in run.line('caught'), run.err)
    # What initialises is executed by the hundred, and is no step where calls are counted, nor what else the loop executes; without
    # calls it is one.
    run = double(['-s', '20', '-k', '3'], 'wake', 'counts-calls', 'exec:jit_fill:200', 'call:train_step:10', 'exec:jit_add:60', 'call:train_step:40')
    check(run.steps() == [(20, 22)] and '(executions of train_step)' in run.line('caught'), run.err)
    check(noted(run) == ([*range(50)], 50), noted(run))
    run = double(['-s', '60'], 'wake', 'counts-calls', 'exec:jit_fill:200', 'call:train_step:50')
    check('after step 49 (executions of train_step), before step 60' in run.line('missed'), run.err)
    run = double(['-s', '60', '-k', '2'], 'wake', 'counts-calls', 'call:init:1', 'exec:jit_add:10200')
    check('(executions of jit_add)' in run.line('caught'), run.err)
    # The history is of the loop's program, once that has taken over; of two that run in turn it has all.
    run = double(['-s', '100'], 'wake', 'exec:jit_fill:20', 'exec:jit_step:60')
    check('after step 59 (executions of jit_step), before step 100' in run.line('missed'), run.err)
    run = double(['-s', '50', '-k', '2'], 'wake', 'exec:jit_fill:20', 'exec:jit_step:60')
    check(run.steps() == [(50, 51)] and noted(run) == ([*range(20, 60)], 40), noted(run))
    run = double(['-s', '30', '-k', '2'], 'wake', 'exec:jit_a:1', *['exec:jit_b:1', 'exec:jit_a:1'] * 10, *['exec:jit_b:2', 'exec:jit_a:2'] * 20)
    check(noted(run)[0] == [*range(51)], noted(run))
    run = double(['-s', '10', '-k', '2'], 'wake', 'exec:jit_fill:9', 'step:0:30')
    check(noted(run) == ([*range(30)], 30), noted(run))
    run = double(['-s', '3', '-k', '2', '--warmup', '2'], 'wake', 'step:0:9')
    check(run.steps() == [(3, 4)] and run.windows()[0]['events'] == 2, run.sidecar)


def noted(run):
    """The numbers of the steps in the history, and how many the file says there are."""
    path, = (run.folder / '.idsprof').glob('*.history')
    data = path.read_bytes()
    count, = struct.unpack_from('<q', data, 16)
    return [struct.unpack_from('<q', data, 248 + 32 * i + 8)[0] for i in range(count)], count


def times():
    run = double(['--delay', '100ms', '--duration', '200ms'], 'wake', 'open', 'close')
    window = run.windows()[0]
    check(run.code == 0 and window['opened_by'] == 'time' and window['closed_by'] == 'time', run.sidecar)
    check(0.19e9 < int(window['end_ns']) - int(window['begin_ns']) < 2e9 * FACTOR, window)
    run = double(['--delay', '10ms', '--duration', '50ms'], 'wake', 'open', 'step:7:10', 'close')
    check(run.steps() == [(7, 9)], 'which steps it held')
    run = double(['--start-step', '2', '--duration', '100ms'], 'wake', 'step:0:4', 'close', 'step:4:9')
    check(run.steps() == [(2, 3)], run.sidecar)
    run = double(['--range', 'block'], 'wake', 'range:other:0', 'step:0:300', 'range:block:1000', 'range:block:1000')
    check(len(run.windows()) == 1 and run.windows()[0]['opened_by'] == 'range', run.sidecar)


def variables():
    environment = {'PROFILE_START_STEP': '10', 'PROFILE_INTERVAL': '20', 'PROFILE_DURATION': '3', 'PROFILE_DIR': str(ROOT / 'unused')}
    run = double(['--max', '2'], 'wake', 'step:0:99', environment=environment)
    check(run.steps() == [(10, 12), (30, 32)], run.sidecar)
    run = double(['--start-step', '5', '--steps', '1', '--every', '0'], 'wake', 'step:0:99', environment=environment)
    check(run.steps() == [(5, 5)], run.sidecar)
    run = double(['--trigger'], 'wake', 'step:0:99', environment=environment)
    check(run.sidecar['plan']['start_step'] is None and run.sidecar['plan']['trigger'] == 1, run.sidecar)
    run = double([], 'wake', 'step:0:99', environment={'PROFILE_MODE': 'trigger'})
    check(run.sidecar['plan']['trigger'] == 1, run.sidecar)
    run = double(['-s', '3'], 'wake', 'step:0:99', environment={'PROFILE_MODE': 'trigger'})
    check(run.steps() == [(3, 7)], run.sidecar)
    run = double(['-s', '3'], 'wake', 'step:0:99', environment={'PROFILE_MODE': 'steps'})
    check(run.steps() == [(3, 7)], run.sidecar)
    run = double([], 'wake', 'step:0:99', environment={'PROFILE_MODE': 'off'})
    check(run.code == 0 and 'nothing was recorded' in run.err, run.err)
    run = double([], 'wake', 'step:0:99', environment={'PROFILE_MODE': 'nsys'})
    check(run.code == 2 and "PROFILE_MODE is 'nsys', and capture knows steps, trigger and off" in run.err, run.err)
    run = double([], 'wake', 'step:0:300', environment={'PROFILE_ENABLED': 'off'})
    check(run.code == 0 and run.out.startswith('asleep: ') and 'nothing was recorded' in run.err, run.err)
    check(not run.dir.exists(), 'a folder of a capture that is off')
    plain = subprocess.run([IDSPROF, 'capture', '-q', '--', DOUBLE, 'wake', 'step:0:300'], capture_output=True, text=True,
                           env={**os.environ, 'PROFILE_DIR': str(ROOT / 'by_variable')})
    check(plain.returncode == 0 and plain.stderr == '' and (ROOT / 'by_variable').is_dir(), plain.stderr)
    file = ROOT / 'variables'
    file.write_text('# a comment\n\nexport PROFILE_START_STEP = 4\nPROFILE_DURATION="2"\nSEEN=yes\nHOME=/nowhere\n')
    run = Capture(['--env-file', file], ['sh', '-c', 'echo $SEEN $HOME; exec "$0" wake step:0:99', DOUBLE])
    check(run.steps() == [(4, 5)] and run.out == f'yes {os.environ["HOME"]}\n', (run.out, run.err))
    for text, message in (('A', "line 1: 'A' is not NAME=value"), ('A=1\n1B=2', "line 2: '1B' cannot be the name")):
        file.write_text(text)
        run = double(['--env-file', file], 'wake')
        check(run.code == 2 and message in run.err, run.err)


def refused():
    for options, message in (
            (['--every', '3'], 'leaves none between them'),
            (['--trigger', '--start-step', '4'], 'opens windows instead of'),
            (['--every', '10m', '--trigger'], '--every is for windows of --start-step and --delay'),
            (['--every', '1s', '--delay', '1s', '--duration', '1s'], '--every 1s leaves no time'),
            (['--every', '10d'], "'10d' needs a unit: ps, ns, us, ms, s, m or h"),
            (['--every', '0s'], 'leaves no time between them'),
            (['--when', 'slow'], "'slow' is not a condition such as 'step > 2x' or 'step > 500ms'"),
            (['--when', 'step >'], 'is not a condition'),
            (['--when', 'step < 2x'], 'is not a condition'),
            (['--when', 'step >> 2x'], "'step >> 2x' is not a condition such as"),
            (['--when', 'step > 1x'], "'1x' of the median is not above 1x"),
            (['--when', 'step > 2'], ", or x (times the median)"),
            (['--when', 'step > 0ms'], 'every step takes longer'),
            (['--when', 'step > 2x', '--range', 'x'], '--when and --range exclude each other'),
            (['--when', 'step > 2x', '--trigger'], '--when and --trigger exclude each other'),
            (['--keep-slowest', '3', '--warmup', '2'], '--keep-slowest and --warmup exclude each other'),
            (['--keep-slowest', '3', '--max', '2'], '--keep-slowest and --max exclude each other'),
            (['--keep-slowest', '0'], '--keep-slowest: 0 is not between 1 and 100'),
            (['--keep-slowest', '101'], '--keep-slowest: 101 is not between 1 and 100'),
            (['--max-cost', '2%'], '--max-cost is for --when and --keep-slowest'),
            (['--when', 'step > 2x', '--max-cost', '2'], "--max-cost: '2' has no unit: write '2%'"),
            (['--when', 'step > 2x', '--max-cost', '101%'], "'101%' is not between 0.0001% and 100%"),
            (['--delay', '1s', '--every', '9'], '--every counts steps from --start-step: give'),
            (['--range', 'm:f', '--every', '9'], '--range opens windows at calls: leave one'),
            (['--steps', '0'], 'a window of 0 steps holds nothing'),
            (['--ranks', '3-'], "'3-' is not a list"),
            (['--step-executable', '('], "--step-executable: '(' is not an extended regular expression: Unmatched ( or"),
            (['--step-executable', 'x[a'], "--step-executable: 'x[a' is not an extended regular expression: "),
            (['--range'], "option '--range' needs a value (NAME)"),
            (['--wrap', 'f'], "'f' is not module:function"),
            (['--max-size', '3X'], "'3X' is not a size"),
            (['--sweep', 'devices=1,x'], 'is not a list of numbers'),
            (['--sweep', 'devices=2,2'], 'is given twice'),
            (['--gpu', '--cpu'], 'exclude each other'),
            (['--profile-option', 'x'], "'x' is not KEY=VALUE"),
            (['--profile-option', 'pyton_tracer_level=1'], "has no option 'pyton_tracer_level'; did you mean 'python_tracer_level'"),
            (['--profile-option', 'host-tracer-level=1'], "did you mean 'host_tracer_level'"),
            (['--profile-option', 'host_tracer_level=abc'], "--profile-option host_tracer_level: 'abc' is not a number"),
            (['--profile-option', 'host_tracer_level='], "'' is not a number"),
            (['--profile-option', 'enable_hlo_proto=perhaps'], "'perhaps' is neither true nor false"),
            (['--max-window-bytes', 'x'], "--max-window-bytes: 'x' is not a size"),
            (['--name', 'a/b'], 'cannot be the name of a folder'),
            (['--python-tracer', '2'], '2 is more than 1'),
            (['--range', 'x' * 256], 'more than 255 characters'),
            (['--range', 'x', '--warmup', '2'], '--warmup needs --start-step'),
            (['--env-file', '/nonexistent'], "cannot open '/nonexistent'")):
        run = double(options, 'print:started')
        check(run.code == 2 and message in run.err and run.out == '' and not run.dir.exists(), (options, run.err))
    none = idsprof('capture')
    check(none.returncode == 2 and 'PROGRAM... is missing' in none.stderr, none.stderr)


# ---- the program ----

def program():
    check(double([], 'print:-n --steps', 'exit:42').code == 42, 'the exit code')
    run = Capture([], ['no-such-program'])
    check(run.code == 127 and "there is no program 'no-such-program' in PATH" in run.err, run.err)
    check(not run.dir.exists(), 'a folder of a program that never ran')
    run = Capture([], ['/etc/passwd'])
    check(run.code == 126 and "cannot run '/etc/passwd'" in run.err, run.err)
    run = Capture([], ['sh', '-c', 'echo $1 $IDSPROF_HOME; cat', 'sh', '--steps'])
    check(run.code == 0 and run.out.startswith('--steps /'), run.out)
    check(run.line('missed') == 'no Python started under sh with the environment that idsprof gave it, nor did anything use CUDA', run.err)
    check(run.sidecar['missed']['id'] == 'no_python', run.sidecar)
    for line, reason in (('export PYTHONPATH=src', 'python_path'), ('  PYTHONPATH="$PYTHONPATH:src"', 'no_python'), ('# PYTHONPATH=src', 'no_python')):
        script = ROOT / 'train.sh'
        script.write_text(f'#!/bin/sh\n{line}\necho trained\n')
        script.chmod(0o755)
        for command in ([script], ['sh', script], ['sh', '-e', script]):
            run = Capture([], command)
            check(run.out == 'trained\n' and run.sidecar['missed']['id'] == reason, (line, run.err))
            check(reason != 'python_path' or run.line('missed').startswith('train.sh sets PYTHONPATH, by which'), run.err)
    without_dashes = subprocess.run([IDSPROF, 'capture', '-qo', ROOT / 'dashes', 'printf', '%s', '--steps'], capture_output=True, text=True)
    check(without_dashes.stdout == '--steps', without_dashes)
    closed = subprocess.run(['sh', '-c', f'"{IDSPROF}" capture -qo "{ROOT}/pipe" yes | head -1; exit 0'], capture_output=True, text=True, timeout=20)
    check(closed.stdout == 'y\n', 'SIGPIPE ends the program')


def sockets():
    return list((ROOT / 'run').glob('*/*.sock'))


def ends():
    run = double(['-s', '3'], 'wake', 'step:0:6')
    check(run.steps() == [(3, 5)] and run.windows()[0]['closed_by'] == 'exit', run.sidecar)
    check(run.line('missed') == 'the program ended after 3 of the 5 steps of window 1', run.err)
    run = double(['-s', '3'], 'wake', 'step:0:6', 'exit:9')
    check(run.code == 9 and run.steps() == [(3, 5)], run.sidecar)
    run = double(['-s', '3'], 'wake', 'step:0:6', '_exit:5')
    check(run.code == 5 and run.sidecar['missed']['id'] == 'left_suddenly', run.err)
    check(run.line('missed') == 'the program ended with exit code 5, of which idsprof was not told (os._exit?), in an open window, which is lost',
          run.err)
    check(run.windows()[0]['state'] == 'open' and not run.files(), run.sidecar)
    for before in ('file-size:500', 'wake'), ('wake', 'file-size:0'), ('file-size:0', 'wake'):
        run = double(['-s', '3'], *before, 'step:0:9')    # it goes on to its end, and nothing of ours can be written
        check(run.code == 0 and run.sidecar['missed']['id'] == 'unwritten', run.err)
        check(run.line('missed') == "what the program did is not known: idsprof's own files could not be written (File too large)", run.err)
        check('ulimit -f' in run.sidecar['missed']['do'], run.err)
    run = double(['-s', '3'], 'wake', 'file-size:0', 'step:0:9', '_exit:0')
    check(run.sidecar['missed']['id'] == 'unwritten', run.err)
    run = double(['-s', '3'], 'wake', 'step:0:2', '_exit:0')
    check(run.line('missed').startswith('the program ended with exit code 0, of which idsprof was not told (os._exit?), before step 3'), run.err)
    check(not sockets(), 'sockets of programs that have gone: %s' % sockets())
    run = double(['-s', '3'], 'wake', 'step:0:6', 'kill:9')
    check(not sockets(), 'a socket of a program that was killed: %s' % sockets())
    check(run.code == 128 + 9 and run.sidecar['exit']['signal'] == 9, run.sidecar)
    check(run.line('missed') == 'signal 9 (Killed) ended the program in an open window, which is lost', run.err)
    run = double(['-s', '3', '--steps', '2'], 'wake', 'step:0:9', 'kill:15')
    check(run.code == 128 + 15 and run.steps() == [(3, 4)] and run.line('missed') == 'nothing', run.err)
    run = double([], 'wake', 'step:0:20')
    check(run.line('missed') == "the program ended after step 19 (annotation 'train'), before step 153", run.err)
    check(run.line('next') == 'again, with --start-step 15' and run.sidecar['missed']['id'] == 'never_reached', run.err)
    run = double([], 'wake')
    check(run.sidecar['missed']['id'] == 'no_steps' and '--delay' in run.line('next'), run.err)
    run = double(['--range', 'nowhere'], 'wake', 'step:0:20')
    check(run.line('missed') == "no region called 'nowhere' began", run.err)
    run = double(['--trigger'], 'wake', 'step:0:200')
    check(run.sidecar['missed']['id'] == 'not_triggered', run.err)
    run = double(['--delay', '100s'], 'wake')
    check(run.line('missed') == 'the program ended before --delay 100 s was over', run.err)
    run = double(['-s', '5', '--every', '10', '--max', '3'], 'wake', 'step:0:22')
    check(run.line('missed') == '1 of 3 windows: the program ended before step 25', run.err)
    run = double(['-s', '5', '-q'], 'wake', 'step:0:3')
    check(run.err.startswith('idsprof: missed  the program ended after step 2') and run.err.count('\n') == 1, run.err)


def signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        run = double(['-s', '3', '--steps', '2'], 'wake', 'step:0:9', 'print:ready', 'sleep:30000000', wait=False)
        check(run.process.stdout.readline() == 'ready\n', 'it did not come up')
        run.process.send_signal(number)
        run.wait()
        check(run.code == 128 + number and run.steps() == [(3, 4)], (number, run.code, run.err))
        check(run.line('ended') == 'by signal %d (%s)' % (number, signal.strsignal(number)), run.err)
    # A shell between them ends with a code that says it; one that a program ends with by itself says nothing.
    for do_what, words in ('kill:9', 'with exit code 137: signal 9 (Killed) ended a program in it'), ('exit:137', None):
        run = Capture(['-s', '3', '--steps', '2'], ['sh', '-c', '"$0" wake step:0:9 %s; exit $?' % do_what, DOUBLE])
        check(run.code == 137 and run.line('ended') == words, (do_what, run.err))
    run = Capture([], ['sh', '-c', 'trap "echo got; exit 3" TERM; echo ready; while :; do sleep 0.01; done'], wait=False)
    check(run.process.stdout.readline() == 'ready\n', 'it did not come up')
    run.process.terminate()
    check(run.wait().code == 3 and run.out == 'got\n', run.out)
    ignored = subprocess.run(['sh', '-c', f'trap "" INT; "{IDSPROF}" capture -qo "{ROOT}/int" -- sh -c \'kill -INT $$; echo lives\''],
                             capture_output=True, text=True)
    check(ignored.stdout == 'lives\n', 'what was ignored stays ignored')


def state_of(pid):
    return Path(f'/proc/{pid}/stat').read_text().rpartition(') ')[2][0]


def stopped():
    """A signal that stops idsprof stops the program, too, and one that continues it does."""
    process = subprocess.Popen([IDSPROF, 'capture', '-qo', ROOT / 'stopped', '--', 'sh', '-c', 'echo $$; read line; echo $line'],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=os.setpgrp)
    both = process.pid, int(process.stdout.readline())
    for number, states in ((signal.SIGTSTP, 'TT'), (signal.SIGCONT, 'SS'), (signal.SIGTSTP, 'TT'), (signal.SIGCONT, 'SS')):
        process.send_signal(number)
        until = time.monotonic() + 30
        while ''.join(map(state_of, both)) != states and time.monotonic() < until:
            time.sleep(0.01)
        check(''.join(map(state_of, both)) == states, (number, [state_of(pid) for pid in both]))
    said, _ = process.communicate('on\n', timeout=60)
    check((process.returncode, said) == (0, 'on\n'), (process.returncode, said))


def program_of(process):
    """The child that is another program."""
    children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    child, = (int(pid) for pid in children if os.readlink(f'/proc/{pid}/exe') != os.readlink(f'/proc/{process.pid}/exe'))
    return child


NOTES = """import os, signal, sys, time
got = []
for number in signal.valid_signals():
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD): signal.signal(number, lambda n, _: got.append(n))
print(flush=True)
until = time.monotonic() + 60
while signal.SIGUSR2 not in got and time.monotonic() < until: time.sleep(0.002)
time.sleep(0.05)
print(*got, flush=True)"""


def each_signal_once():
    """To idsprof alone: passed on, whatever it is. To the whole group: the program has it already."""
    ends = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGPIPE,
            signal.SIGXFSZ, signal.SIGUSR2}
    sent = [number for number in signal.valid_signals() if number not in ends]
    turn = itertools.cycle((os.killpg, os.kill))
    for send in (os.kill, os.killpg, lambda *what: next(turn)(*what)):
        process = subprocess.Popen([IDSPROF, 'capture', '-qo', ROOT / 'once', '--', sys.executable, '-c', NOTES], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, preexec_fn=os.setpgrp)
        process.stdout.readline()
        for number in [*sent, signal.SIGTERM, signal.SIGTERM, signal.SIGUSR2]:
            send(process.pid, number)
            time.sleep(0.03)
        said, _ = process.communicate(timeout=60)
        wanted = sorted([*map(int, sent), 15, 15, 12])
        check((process.returncode, sorted(map(int, said.split()))) == (0, wanted), (send, process.returncode, said))


def witness_holds_nothing():
    """Who reads what idsprof and the program write is done when both are, also where idsprof was killed."""
    process = subprocess.Popen([IDSPROF, 'capture', '-qo', ROOT / 'eof', '--', 'sh', '-c', 'echo $$; exec sleep 60 >/dev/null 2>&1'],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=os.setpgrp)
    program = int(process.stdout.readline())
    process.kill()
    check(process.communicate(timeout=30)[0] == '', 'a pipe is held open')
    os.kill(program, signal.SIGKILL)


def goes_on_once():
    """What lets the whole group go on, as a shell's fg does, reaches the program once."""
    script = 'import signal, sys; signal.signal(signal.SIGCONT, lambda *_: print("on", flush=True)); print(flush=True); sys.stdin.readline()'
    process = subprocess.Popen([IDSPROF, 'capture', '-qo', ROOT / 'group', '--', sys.executable, '-c', script], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=os.setpgrp)
    process.stdout.readline()
    child = program_of(process)
    for turn in range(3):
        os.killpg(process.pid, signal.SIGTSTP)
        until = time.monotonic() + 30
        while ''.join(map(state_of, (process.pid, child))) != 'TT' and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(child, signal.SIGCONT)                          # one after the other: two that come together may be seen as one
        check(process.stdout.readline() == 'on\n', 'it goes on')
        process.send_signal(signal.SIGCONT)
        while state_of(process.pid) != 'S' and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.05)
    said, _ = process.communicate('\n', timeout=60)
    check(said == '', said)


def terminal():
    """On a terminal the program has it, and a key that interrupts reaches it once."""
    script = 'test -t 0 && test -t 1 && echo terminal; trap "echo got; exit 3" INT; echo ready; while :; do sleep 0.01; done'
    child, screen = pty.fork()
    if not child:
        os.execv(IDSPROF, [IDSPROF, 'capture', '-qo', ROOT / 'terminal', '--', 'sh', '-c', script])
    seen = b''
    while b'ready' not in seen:
        seen += os.read(screen, 1000)
    os.write(screen, b'\x03')
    try:
        while more := os.read(screen, 1000):
            seen += more
    except OSError:  # the terminal is gone with the last process
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(screen)
    check(status == 3 and b'terminal' in seen and seen.count(b'got') == 1, (status, seen))


# ---- processes ----

def processes():
    launch = 'for r in 0 1 2; do RANK=$r "$0" wake step:0:20 & done; wait'
    run = Capture(['-s', '3', '--steps', '2'], ['sh', '-c', launch, DOUBLE])
    check(run.steps() == [(3, 4)] * 3 and '1 window of 3 processes: 6 events' in run.line('caught'), run.err)
    check([path.rsplit('_', 1)[1] for path in run.files()] == ['rank0.xplane.pb', 'rank1.xplane.pb', 'rank2.xplane.pb'], run.files())
    check(len({os.path.dirname(path) for path in run.files()}) == 1, 'ranks are one run')
    check([process['rank'] for process in run.sidecar['processes']] == [0, 1, 2], run.sidecar)
    run = Capture(['-s', '3', '--ranks', '1-2'], ['sh', '-c', launch, DOUBLE])
    check(len(run.files()) == 2 and 'rank0' not in ''.join(run.files()), run.files())
    check(run.line('missed') == 'nothing', run.err)
    run = double(['-s', '3', '--ranks', '7'], 'wake', 'step:0:20')
    check((run.line('missed'), run.line('next')) == ('rank 0 is not among --ranks 7', 'again, without --ranks: the program has none'), run.err)
    run = Capture(['-s', '3', '--ranks', '5-7'], ['sh', '-c', launch, DOUBLE])
    check((run.line('missed'), run.line('next')) == ('of the ranks that ran, 0-2, none is among --ranks 5-7', 'again, with --ranks 0-2, or some of these'), run.err)
    run = double(['-s', '3', '--ranks', '7'], 'wake', 'rank:7', 'step:0:20', environment={'RANK': '7'})
    check(len(run.files()) == 1, run.err)
    run = double(['-s', '3'], 'wake', 'rank:5', 'step:0:20')
    check(run.files()[0].endswith('_rank5.xplane.pb'), run.files())
    run = Capture(['-s', '3'], ['sh', '-c', '"$0" wake step:0:20; "$0" wake step:0:20', DOUBLE])
    check(len({os.path.dirname(path) for path in run.files()}) == 2, 'two programs are two runs')
    run = Capture(['-s', '3'], ['sh', '-c', 'RANK=1 "$0" wake step:0:20; RANK=1 "$0" wake step:0:20', DOUBLE])
    check(len(run.files()) == 2, 'a rank that was started again overwrites nothing')


def forks():
    run = double(['-s', '3', '--steps', '2'], 'wake', 'step:0:2', 'fork:2', 'step:0:9')
    written = [process for process in run.sidecar['processes'] if process['windows']]
    check(len(run.sidecar['processes']) == 3 and len(written) == 2, run.sidecar)
    check(sorted(run.steps()) == [(3, 4)] * 2, run.sidecar)
    run = double(['-s', '3'], 'wake', 'step:0:5', 'fork:1', 'print:child', 'exit:0')
    check(run.out == 'child\n' and len(run.sidecar['processes']) == 1, 'a child that feeds nothing says nothing')
    check(run.steps() == [(3, 4)], 'the window of the parent is the parent\'s')
    run = double(['-s', '3'], 'fork:40', 'exit:0')
    check(run.code == 0 and [path.name for path in (run.folder / '.idsprof').iterdir()] == [], 'children without a collector leave no file')


def chosen_is_none():
    """The function whose calls were to be the steps is none of those that ran."""
    for said, missed, then in (('op by op:upd', "(upd)", "again, with the name of one of these: --step-executable '^upd$'"),
                               ('backend:cpu', '', "again, without it, or with a pattern of the step function's name")):
        run = double(['-s', '5', '--step-executable', '^updt$'], 'wake', 'say:' + said)
        wanted = f"--step-executable '^updt$' matched no function that the program ran {missed}".rstrip()
        check((run.line('missed'), run.line('next')) == (wanted, then), run.err)


def starts_anew():
    """A program that replaces itself (exec) keeps its process id, and each image's window its file."""
    images = ['wake', 'step:0:9', 'again'] * 4
    for options, more in (([], {}), (['--ranks', '3'], {'environment': {'RANK': '3'}})):
        run = double(['-s', '3', '--steps', '2', *options], *images[:-1], **more)
        check(run.code == 0 and run.steps() == [(3, 4)] * 4 and len(run.files()) == 4, (run.files(), run.err))
        check(('4 windows' in run.line('caught')) == (not options) and run.line('missed') == 'nothing', run.err)


def two_at_once():
    together = [double(['-s', '3'], 'wake', 'step:0:20:1000', output=ROOT / 'same', wait=False) for _ in range(3)]
    for run in together:
        run.wait()
    check(len({run.folder for run in together}) == 3 and all(run.steps() == [(3, 7)] for run in together), [run.err for run in together])


# ---- collectors ----

def collectors():
    run = double(['-s', '3'], 'wake', 'rival', 'step:0:20')
    check(run.windows()[0]['collector'] == 'double' and run.sidecar['processes'][0]['collectors'] == ['double', 'rival'], run.sidecar)
    check(b'/host:rival' in (run.folder / run.files()[0]).read_bytes(), 'the other collector contributed')
    run = double(['-s', '3'], 'wake', 'fail-start', 'step:0:20')
    check(run.line('missed') == 'window 1 was not opened: another profiler has the device', run.err)
    check(run.code == 0 and not list((run.folder / '.idsprof').glob('*.part')), 'a part stays')
    run = double(['-s', '3'], 'wake', 'fail-stop', 'step:0:20')
    check(run.line('missed') == 'window 1 is lost: the profiler lost its data', run.err)
    run = double(['-s', '3', '--max-size', '50', '--every', '10', '--max', '3'], 'wake', 'step:0:90')
    check(run.steps() == [(3, 7)], run.sidecar)
    run = double(['--python-tracer', '1', '--wrap', 'a:f', '--wrap', 'b.c:g', '--range', 'x;y'], 'wake', 'plan:wrap',
                 'plan:range', 'plan:python_level', 'plan:nothing', 'wants:2', 'say:jax:0.10.2', 'say:cost:counting costs 1 us a step')
    check(run.out == 'plan 9 a:f,b.c:g\nplan 3 x;y\nplan 1 1\nplan -1 \nwants 1\n', run.out)
    check(run.sidecar['processes'][0]['facts'] == {'jax': '0.10.2', 'cost': 'counting costs 1 us a step'}, run.sidecar)
    check('counting costs 1 us a step' in run.line('cost'), run.err)
    run = double(['-s', '3'], 'wake', 'step:0:2', 'wants:1', 'wants:2', 'step:2:20', 'wants:1')
    check(run.out == 'wants 1\nwants 0\nwants 1\n', run.out)   # the history wants annotated steps to the end


def slow_stop():
    begin = time.monotonic()
    run = double(['-s', '3', '--steps', '1', '--stop-timeout', '100ms'], 'wake', 'hang-stop:400000', 'step:0:20', 'close', 'print:went on')
    check(run.steps() == [(3, 3)], 'it came late and is there')
    check('for which the program waited no longer than 100.0 ms' in run.line('cost'), run.err)
    run = double(['-s', '3', '--steps', '1', '--stop-timeout', '100ms'], 'wake', 'hang-stop:30000000', 'step:0:20', 'print:went on')
    check(run.out == 'went on\n' and time.monotonic() - begin < 10 * FACTOR, 'the program was held up')
    check(run.line('missed') == 'window 1 is lost: the collector did not return within 0.1 s, and the program ended', run.err)
    run = double(['-s', '3', '--steps', '1', '--stop-timeout', '100ms'], 'wake', 'step:0:4', 'hang-stop:30000000')
    check(run.code == 0 and 'did not return' in run.line('missed'), run.err)


# ---- the folder ----

def folder():
    run = double([], 'print:started', output=ROOT / 'variables' / 'x')
    check(run.code == 2 and run.out == '' and 'choose another one with -o DIR' in run.err, run.err)
    run = double(['-s', '3'], 'wake', 'rmdir', 'step:0:20')
    check(run.code == 0 and 'was removed while the program ran' in run.line('missed'), run.err)
    out = ROOT / 'kept'
    for _ in range(3):
        double(['-s', '3', '-n', 'a'], 'wake', 'step:0:9', output=out)
    double(['-s', '3', '-n', 'a_b'], 'wake', 'step:0:9', output=out)
    (out / 'a_20200101_000000').mkdir()  # a folder of the user's that only looks like one of ours
    run = double(['-s', '3', '-n', 'a', '--keep', '2'], 'wake', 'step:0:9', output=out)
    left = sorted(path.name for path in out.iterdir())
    check(len([name for name in left if re.match(r'a_2026', name) or re.match(r'a_\d{8}_', name)]) == 3, left)
    check('a_20200101_000000' in left and run.folder.name in left and any(name.startswith('a_b_') for name in left), left)
    check('removed 2 older captures' in run.err, run.err)
    before = sorted(out.iterdir())
    double(['-n', 'a', '--keep', '1'], 'wake', 'step:0:9', output=out)
    check(len(list(out.iterdir())) == len(before) + 1, 'a capture of nothing removes none')


def sweep():
    run = double(['-s', '3', '--sweep', 'devices=1,4', '--cpu'], 'wake', 'step:0:9', 'print:{devices}', 'exit:6')
    check(run.code == 6 and run.out == '1\n4\n', (run.code, run.out))
    root = run.folder.parent
    check(sorted(path.name for path in root.iterdir()) == ['1_devices', '4_devices', 'idsprof-run.json'], list(root.iterdir()))
    outer = json.loads((root / 'idsprof-run.json').read_text())
    check(outer['state'] == 'ended' and outer['sweep'] == [{'devices': 1, 'folder': '1_devices'}, {'devices': 4, 'folder': '4_devices'}], outer)
    check(json.loads((root / '4_devices/idsprof-run.json').read_text())['devices'] == 4, 'the part')
    listed = idsprof('list', root, '--sort', 'label')
    check(listed.returncode == 0 and '1_devices' in listed.stdout and '4_devices' in listed.stdout, listed.stdout + listed.stderr)
    check(run.line('devices') is None, run.err)
    other = double(['-s', '3', '--sweep', 'devices=1,2'], 'wake', 'devices:2', 'step:0:9')
    check(other.line('devices').startswith('the program has 2, not 1: it sets their number itself') and other.err.count('idsprof: devices') == 1, other.err)
    run = Capture(['--sweep', '2', '--cpu'], ['sh', '-c', 'echo $XLA_FLAGS $JAX_PLATFORMS $CUDA_VISIBLE_DEVICES'], environment={'XLA_FLAGS': '--a'})
    check(run.out.split() == ['--a', '--xla_force_host_platform_device_count=2', 'cpu'], run.out)
    run = Capture(['--sweep', '4', '--gpu', '--or-cpu'], ['sh', '-c', 'echo $JAX_PLATFORMS $CUDA_VISIBLE_DEVICES'])
    gpus = [*Path('/dev').glob('nvidia[0-9]*'), *Path('/dev').glob('kfd'), *Path('/dev').glob('dxg')]
    check(run.out.split() == ['cuda,cpu' if gpus else 'cpu', '0,1,2,3'], run.out)
    run = double(['-s', '3', '--report'], 'wake', 'step:0:9')
    check('device utilization' in run.out, run.out)


def nothing_caught():
    """A capture that caught nothing leaves no folder, nor those that were made for it; what was there before stays."""
    def left(*options, program=(DOUBLE, 'wake', 'step:0:9'), output=None, **more):
        run = Capture(options, program, keep_empty=False, output=output, **more)
        check(run.line('folder') is None and run.line('missed'), run.err)
        return run

    run = left()
    check(not run.dir.exists(), list(run.dir.rglob('*')) if run.dir.exists() else '')
    check(run.line('next') == 'again, with --start-step 4', run.err)
    there = ROOT / 'was there'
    there.mkdir()
    left(output=there)
    check(there.is_dir() and not list(there.iterdir()), 'a folder of the user stays')
    left(output=there / 'a' / 'b' / 'c')
    check(not list(there.iterdir()), 'all that was made goes')
    (there / 'notes').write_text('x')
    left(program=['true'], output=there)
    left(program=[DOUBLE, 'wake', 'step:0:100', 'kill:9'], output=there)
    left('--sweep', '1,2', output=there)
    left('--sweep', '1,2', program=['true'], output=there)
    left(program=['sh', '-c', 'exit 3'], output=there)
    check([path.name for path in there.iterdir()] == ['notes'], list(there.rglob('*')))
    run = left(program=[DOUBLE, 'wake', 'fail-start', 'step:0:200'], output=there)
    check(run.line('next') and [path.name for path in there.iterdir()] == ['notes'], (run.err, list(there.rglob('*'))))
    # Before the window: its steps are not denied, and the last is said where the history has it.
    for end, words in ('kill:15', 'the program ended by signal 15 (Terminated)'), ('_exit:5', 'the program ended with exit code 5'), \
            ('_exit:0', 'the program ended with exit code 0, of which idsprof was not told (os._exit?),'):
        for steps, source in ('step:0:60', "annotation 'train'"), ('exec:f:60', 'executions of f'):
            run = double(['-s', '150'], 'wake', steps, end)
            found = re.fullmatch(re.escape('%s before step 150 (%s)' % (words, source)) + r'(; step (\d+) is the last that was noted)?', run.line('missed'))
            check(found and 0 <= int(found[2] or 0) < 60, run.err)
    run = double(['-s', '150'], 'wake', 'step:0:60:1000', 'sleep:3000000', 'kill:9')
    check(run.line('missed').endswith('; step 59 is the last that was noted'), run.err)
    run = double(['-s', '150'], 'wake', 'kill:9')
    check(run.line('missed') == 'the program ended by signal 9 (Killed) before its first step', run.err)
    # A process that goes on may still write: its folder stays.
    run = Capture(['-s', '3', '--steps', '2'], ['sh', '-c', '(sleep 1; exec "$0" wake step:0:9) >/dev/null 2>&1 &', DOUBLE], keep_empty=False)
    check(run.folder and run.folder.is_dir(), run.err)
    until = time.monotonic() + 60
    while not list(run.folder.rglob('*.xplane.pb')) and time.monotonic() < until:
        time.sleep(0.1)
    check(list(run.folder.rglob('*.xplane.pb')), 'what came after the launcher')
    # Two at once in a folder that each of them makes and takes away.
    together = [Capture([], ['sh', '-c', 'sleep 0.0' + str(i)], output=ROOT / 'made' / 'by both', keep_empty=False, wait=False) for i in range(9)]
    for run in together:
        check(run.wait().code == 0, run.err)
    check(not list(ROOT.glob('made/*/*')), 'of several at once')
    # What a killed process had begun beside what was caught.
    run = Capture(['-s', '3', '--steps', '2'], ['sh', '-c', '"$0" wake step:0:9; "$0" wake step:0:4 kill:9', DOUBLE])
    check(len(run.files()) == 1 and not list((run.folder / '.idsprof').glob('*.part')), list(run.folder.rglob('*')))


def killed_with_history():
    """A process that is killed in its window leaves no profile. The folder stays for the history of its steps, which report draws."""
    run = Capture(['-s', '3'], [DOUBLE, 'wake', 'step:0:6:300000', 'kill:9'], keep_empty=False)
    check(run.folder and (run.line('history') or '').endswith('draws the steps until then') and not run.files(), run.err)
    if not run.folder:
        return
    shown = subprocess.run([IDSPROF, 'report', run.folder], capture_output=True, text=True)
    drawn = re.search(r'\n  HISTORY .*\n  \S+ +(\d+) ', shown.stdout)
    check(drawn and 2 <= int(drawn[1]) <= 6 and run.folder.name in shown.stdout, shown.stdout)
    check(shown.returncode == 2 and 'only the history of steps: signal 9 (Killed) ended the program in an open window, which is lost' in shown.stderr,
          shown.stderr)
    figures = subprocess.run([IDSPROF, 'report', '--json', run.folder.parent], capture_output=True, text=True)
    check(not figures.stdout and f'which idsprof report {run.folder} draws' in figures.stderr, figures)
    # The folder of --output, too, which holds captures, and the folder of what they noted.
    for place in run.folder.parent, f'{run.folder}/.idsprof':
        shown = subprocess.run([IDSPROF, 'report', place], capture_output=True, text=True)
        check(shown.returncode == 2 and '\n  HISTORY ' in shown.stdout and f"only the history of steps in '{run.folder}': signal 9" in shown.stderr, shown)

    # Before its window as well, and in the same words.
    run = Capture(['-s', '100'], [DOUBLE, 'wake', 'step:0:6:300000', 'kill:9'], keep_empty=False)
    check(run.folder and (run.line('history') or '').endswith('draws the steps until then') and not run.files(), run.err)
    if not run.folder:
        return
    shown = subprocess.run([IDSPROF, 'report', run.folder], capture_output=True, text=True)
    drawn = re.search(r'\n  HISTORY .*\n  \S+ +(\d+) ', shown.stdout)
    check(drawn and 2 <= int(drawn[1]) <= 6, shown.stdout)
    check(shown.returncode == 2 and 'only the history of steps: the program ended by signal 9 (Killed) before step 100' in shown.stderr, shown.stderr)
    # One that ends by itself has nothing to keep: it says to which step it came.
    run = Capture(['-s', '100'], [DOUBLE, 'wake', 'step:0:6:300000'], keep_empty=False)
    check(run.folder is None and run.line('history') is None, run.err)


def secrets():
    """idsprof-run.json and what processes write beside it are their user's alone, and hold no secret of a command line."""
    secret = 'abcdefgh-secret-42'
    arguments = ['print:x', f'--token={secret}', '--api-key', secret, f'WANDB_API_KEY={secret}', f'https://me:{secret}@host/',
                 f'Authorization: Bearer {secret}', '--plain=7']
    umask = os.umask(0)
    run = Capture(['-s', '3', '--steps', '2'], [DOUBLE, 'wake', 'step:0:9', f'say:url:https://me:{secret}@host/', f'say:HF_TOKEN:{secret}', *arguments])
    os.umask(umask)
    check(len(run.files()) == 1, run.err)
    texts = {path: path.read_bytes() for path in run.folder.rglob('*') if path.is_file() and 'xplane' not in path.name}
    check({path.suffix for path in texts} == {'.json', '.hello', '.history'}, texts)
    for path, text in texts.items():
        check(path.stat().st_mode & 0o777 == 0o600, (path, oct(path.stat().st_mode)))
        check(secret.encode() not in text, (path, text))
    check(run.sidecar['processes'][0]['facts'] == {'url': 'https://me:***@host/', 'HF_TOKEN': '***'}, run.sidecar)
    for argv in (run.sidecar['command'], run.sidecar['processes'][0]['argv']):
        check(argv[-1] == '--plain=7' and '--token=***' in argv and argv[argv.index('--api-key') + 1] == '***', argv)
        check({'WANDB_API_KEY=***', 'https://me:***@host/', 'Authorization: Bearer ***'} <= set(argv), argv)
    running = double(['--trigger'], 'wake', 'print:ready', 'sleep:30000000', f'--password={secret}', wait=False)
    running.process.stdout.readline()
    listed = idsprof('trigger', '--list')
    check('--password=***' in listed.stdout and secret not in listed.stdout, listed.stdout)
    before = next(running.dir.glob('*/idsprof-run.json'))
    check(before.stat().st_mode & 0o777 == 0o600 and secret not in before.read_text(), 'while it runs')
    running.process.terminate()
    running.wait()


# ---- trigger ----

def trigger():
    quiet = double(['--trigger'], 'wake', 'print:ready', 'sleep:30000000', wait=False)
    quiet.process.stdout.readline()
    pid = program_of(quiet.process)
    os.kill(pid, signal.SIGSTOP)
    asked = idsprof('trigger', pid)
    check(asked.returncode == 1 and f'process {pid} runs under idsprof capture and gave no answer in time' in asked.stderr, asked.stderr)
    os.kill(pid, signal.SIGCONT)
    quiet.process.terminate()
    quiet.wait()
    none = idsprof('trigger')
    check(none.returncode == 1 and 'no program runs under idsprof capture' in none.stderr, none.stderr)
    run = double(['--trigger', '--steps', '2'], 'wake', 'print:ready', 'open', 'step:0:50', 'close', 'print:closed', 'open', 'close',
                 wait=False)
    run.process.stdout.readline()
    listed = idsprof('trigger', '--list')
    check('waiting' in listed.stdout and 'capture_double wake' in listed.stdout, listed.stdout)
    stopped = idsprof('trigger', '--stop')
    check(stopped.returncode == 1 and 'no window is open' in stopped.stdout, stopped.stdout)
    started = idsprof('trigger', run.process.pid)
    check(started.returncode == 0 and re.match(r'\d+: window 1 is open\n$', started.stdout), started)
    check(run.process.stdout.readline() == 'closed\n', 'two steps end it')
    check(idsprof('trigger', run.dir).returncode == 0, 'by folder')
    again = idsprof('trigger')
    check(again.returncode == 1 and 'a window is open already' in again.stdout, again.stdout)
    # Nobody has a terminal here: another session is another shell's, a job's or a service's.
    apart = subprocess.run([IDSPROF, 'trigger', '--stop'], capture_output=True, text=True, start_new_session=True,
                           stdin=subprocess.DEVNULL)
    check(apart.returncode == 1 and 'capture_double wake' in apart.stderr and '--yes does it' in apart.stderr and not apart.stdout, apart)
    other = double(['--trigger'], 'wake', 'print:ready', 'sleep:30000000', wait=False)
    other.process.stdout.readline()
    both = idsprof('trigger')
    check(both.returncode == 2 and 'several captures run' in both.stderr and both.stderr.count('capture_double wake') == 2, both.stderr)
    check(idsprof('trigger', '1').returncode == 1, 'a process that is none of ours')
    listed = idsprof('trigger', '--list', other.process.pid).stdout
    os.kill(int(re.match(r' +(\d+)', listed)[1]), signal.SIGKILL)  # and its socket stays
    check(other.wait().code == 128 + 9, other.err)
    stopped = idsprof('trigger', '--stop', run.dir)
    check(stopped.returncode == 0 and 'window 2 is closed' in stopped.stdout, stopped)
    run.wait()
    check([window['closed_by'] for window in run.windows()] == ['step', 'trigger'], run.sidecar)
    check(idsprof('trigger').returncode == 1 and not list((ROOT / 'run').glob('*/*.sock')), 'a socket without a process is removed')


for test in (steps, times, variables, refused, program, ends, signals, each_signal_once, witness_holds_nothing, stopped, goes_on_once, terminal, processes, forks, chosen_is_none, starts_anew, two_at_once,
             collectors, slow_stop, folder, sweep, nothing_caught, killed_with_history, secrets, trigger):
    begin = time.monotonic()
    test()
    print(f'{test.__name__}: {time.monotonic() - begin:.1f} s')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
