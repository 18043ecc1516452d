#!/usr/bin/env python3
"""The flight recorder and `idsprof trigger`, with a program that has the agent and a collector that only looks like one
(tests/support/capture_double.c): which windows --when and --keep-slowest keep and why, the history of all steps, windows every so
often, and what a trigger asks of a window. Times of the program are as far apart as a loaded machine needs.
Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR.
"""
import json
import os
import pty
import re
import shutil
import signal
import socket
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
os.environ['XDG_CONFIG_HOME'] = str(ROOT / 'config')     # of the token
(ROOT / 'run').mkdir()
failures = []
folders = 0
SLOW = 'step > 150ms'


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


class Capture:
    def __init__(self, options, *program, environment=None, wait=True):
        global folders
        folders += 1
        self.dir = ROOT / f'out{folders}'
        self.process = subprocess.Popen([IDSPROF, 'capture', '--keep-empty', '-o', self.dir, *options, '--', DOUBLE, 'wake', *program],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        if wait:
            self.wait()

    def wait(self):
        self.out, self.err = self.process.communicate(timeout=120)
        found = re.search(r'^idsprof: folder +(.*)$', self.err, re.M)
        self.folder = Path(found[1]) if found else None
        self.sidecar = json.loads((self.folder / 'idsprof-run.json').read_text()) if self.folder else {'processes': []}
        return self

    def line(self, what):
        found = re.search(rf'^idsprof: {what} +(.*(?:\n {{17}}.*)*)', self.err, re.M)
        return re.sub(r'\n +', ' ', found[1]) if found else ''

    def windows(self):
        return [window for process in self.sidecar['processes'] for window in process['windows']]

    def runs(self):
        return sorted(path.name for path in self.folder.glob('plugins/profile/*'))

    def slow_steps(self):
        return [window['slow_step'] for window in self.windows()]

    def judged(self):
        return self.sidecar['processes'][0]['judged']


def idsprof(*arguments, **more):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60, **more)


def loop(steps, slow, us=100, slow_us=300000):
    """A loop with slow steps in it, for the double."""
    words, at = [], 0
    for step in sorted(slow):
        words += [f'step:{at}:{step}:{us}', f'step:{step}:{step + 1}:{slow_us}']
        at = step + 1
    return [*words, f'step:{at}:{steps}:{us}']


def table(report, name):
    found = report['tables'][name]
    return [dict(zip([column['id'] for column in found['columns']], row)) for row in found['rows']]


# ---- what is kept ----

def three_of_many():
    planted = [2113, 5000, 8500]
    run = Capture(['--when', SLOW, '--max-cost', '50%'], *loop(9000, planted))
    # A machine that stops for so long makes a step slow that nobody planted, and then it is kept too.
    report = json.loads(idsprof('report', '--json', run.folder).stdout)
    slow = table(report, 'slow_steps')
    check([row['time'] for row in slow] == sorted((row['time'] for row in slow), reverse=True), slow)
    seen = [row['step'] for row in slow]
    check(set(planted) <= set(seen) and run.judged()['slow'] >= len(seen), (seen, run.judged()))
    check(set(planted) <= set(run.slow_steps()), (run.slow_steps(), run.err))
    check(set(run.slow_steps()) <= set(seen), (run.slow_steps(), seen))
    check(len(run.runs()) == len(run.slow_steps()), run.runs())
    for window in run.windows():
        check(re.match(rf"step {window['slow_step']:,} took \d+ ms, \d+\.\d × the median", window['reason']), window)
        check(window['slow_ns'] > 150e6 and window['slow_ns'] > 100 * window['median_ns'] > 0, window)
    check(f"window {run.windows()[0]['window']}: {run.windows()[0]['reason'][:20]}" in re.sub(r'\n +', ' ', run.err), run.err)
    check(run.line('kept').startswith(f"{len(run.windows())} of "), run.err)
    history, = table(report, 'history')
    check((history['first'], history['last'], history['steps']) == (0, 8998, 8999), history)
    # Capture, the history and the table are of one mind, about the median too.
    check(history['slow'] == run.judged()['slow'], (history, run.judged()))
    for window in [window for window in run.windows() if 'took more than' not in window['reason']]:
        medians = [row['medians'] for row in slow if row['step'] == window['slow_step']]
        check(medians and abs(medians[0] - window['slow_ns'] / window['median_ns']) < 0.001 * medians[0], (window, medians))
    check(history['slow'] == len(seen) and history['line'].count('█') >= 3 and len(history['line']) == 40, history)
    for row in slow:
        check(row['time'] > 0.15 and row['medians'] > 100 and row['step'] in seen, row)
    check(all('recorded: window' in (row['what'] or '') for row in slow if row['step'] in run.slow_steps()), slow)
    # The slowest one is taken, and that is said; the others are there by name.
    slowest = max(run.windows(), key=lambda window: window['slow_ns'] - window['slow_late_ns'])
    check(report['run']['kept'] == slowest['reason'], (report['run'], slowest))
    said = idsprof('report', run.folder)
    check(f'{len(run.windows())} windows were kept; this is the one ' in said.stderr, said.stderr)
    text = re.sub(r'\n +', ' ', said.stdout)
    like = re.search(r'(\d+) of \d+ steps took half as long or longer: they lose [\d.]+ % of the run', text)
    check(like and int(like[1]) >= 3, said.stdout)
    check(f"kept because {slowest['reason']}" in text and 'HISTORY' in text and 'SLOW STEPS' in text, said.stdout)
    least = min(run.windows(), key=lambda window: window['slow_ns'])
    other = json.loads(idsprof('report', '--json', '--run', Path(least['path']).parent.name, run.folder).stdout)
    check(other['run']['kept'] == least['reason'], other['run'])
    listed = idsprof('list', run.folder)
    check(all(f"was kept: {window['reason']}" in re.sub(r'\n +', ' ', listed.stdout) for window in run.windows()), listed.stdout)
    listed = json.loads(idsprof('list', '--json', run.folder).stdout)
    check(sorted(entry['kept'] for entry in listed['runs']) == sorted(window['reason'] for window in run.windows()), listed)


def nothing_slow():
    run = Capture(['--when', 'step > 30s'], *loop(500, []))
    check(run.windows() == [] and run.sidecar['missed']['id'] == 'nothing_slow', run.sidecar['missed'])
    check(run.line('missed') == 'none of 499 steps took longer than 30000 ms', run.err)
    check(not list(run.folder.rglob('*.part')) and not list(run.folder.glob('plugins')), list(run.folder.rglob('*')))
    check(run.judged()['tried'] > 0, run.judged())
    few = Capture(['--when', SLOW], *loop(8, [5]))
    check(few.sidecar['missed']['id'] == 'never_judged' and few.windows() == [], few.err)


def slowest():
    run = Capture(['--keep-slowest', '2', '--steps', '3', '--max-cost', '100%'],
                  *loop(40, [15], slow_us=200000), 'step:40:60:100', 'step:60:61:400000', 'step:61:80:100', 'step:80:81:300000', 'step:81:99:100')
    check(sorted(run.slow_steps()) == [60, 80] and len(run.runs()) == 2, (run.slow_steps(), run.runs(), run.err))
    # While there is room, too, a window opens in a slow step, which the history lists as the others.
    late = Capture(['--keep-slowest', '3', '--steps', '1', '--max-cost', '0.1%'], 'hang-stop:20000', *loop(60, [30, 45], us=5000))
    check({30, 45} <= set(late.slow_steps()), (late.windows(), late.err))
    seen = table(json.loads(idsprof('report', '--json', late.folder).stdout), 'slow_steps')
    check({30, 45} <= {row['step'] for row in seen}, seen)
    check(run.judged()['tried'] > 5, run.judged())
    kept = [json.loads(path.read_text())['slow_step'] for path in run.folder.rglob('idsprof.kept')]
    check(sorted(kept) == [60, 80], kept)
    ranks = Capture(['--keep-slowest', '1', '--max-cost', '100%'], *loop(40, [20]), environment={'RANK': '3'})
    check(all(name.endswith('_r3') for name in ranks.runs()) and ranks.slow_steps() == [20], (ranks.runs(), ranks.err))


def limits():
    run = Capture(['--when', SLOW, '--max', '1', '--max-cost', '100%'], *loop(80, [30, 50, 70]))
    check(len(run.windows()) == 1 and run.sidecar['missed']['id'] == 'slow_missed', run.err)
    check(re.match(r'2 of 3 slow steps were in no window: --max 1 was reached; the slowest of them, step [57]0, took [3-9]\d\d(\.\d)? ms; --keep-slowest 1',
                   run.line('missed')), run.err)
    cheap = Capture(['--when', 'step > 30s', '--max-cost', '0.01%'], *loop(3000, []))
    dear = Capture(['--when', 'step > 30s', '--max-cost', '100%'], *loop(3000, []))
    check(0 < cheap.judged()['tried'] < dear.judged()['tried'] / 2, (cheap.judged(), dear.judged()))


def like_steps():
    """--keep-slowest has no rule by which a step is slow: of a loop of like steps nothing is missed. What the windows cost is said."""
    for _ in range(3):                      # steps are not alike where the machine lets the program wait
        like = Capture(['--keep-slowest', '2', '--max-cost', '1%'], *loop(600, [], us=3000))
        if like.line('missed') == 'nothing':
            break
    check(like.line('missed') == 'nothing' and like.judged()['slow'] == 0, (like.err, like.judged()))
    check(re.match(r'2 of \d+ windows that were recorded, which cost [\d.]+ [mu]s in all', like.line('kept')), like.err)
    check(abs(float(re.search('cost ([0-9.]+)', like.line('kept'))[1]) * (1e6 if ' ms in all' in like.line('kept') else 1e3) /
              like.judged()['cost_ns'] - 1) < 0.01, (like.line('kept'), like.judged()))


def waited():
    """A window for a slow step that runs opens beside the program, which may have the lock that its start waits for: no cost of it."""
    run = Capture(['--when', SLOW, '--max-cost', '100%'], 'late-start:400000', *loop(80, [30], us=3000, slow_us=900000))
    slow = [window for window in run.windows() if window['slow_step'] == 30]
    check(len(slow) == 1 and slow[0]['start_ns'] < 200000000, (run.err, run.windows()))


def stands_out():
    """Where windows for two slow steps have used up what they may cost, one opens in a step that takes twice as long as a slow one."""
    run = Capture(['--when', 'step > 100ms', '--steps', '1', '--max-cost', '0.1%'], 'hang-stop:120000', *loop(50, [20, 30, 40], us=1000, slow_us=160000),
                  'step:50:51:600000', 'step:51:60:1000')
    late = {window['slow_step']: window['slow_late_ns'] / 1e6 for window in run.windows()}
    check(20 in late and 30 in late and 200 <= late.get(50, 0) < 500, (late, run.err))


def launches_only():
    """The usual loop, which waits now and then: its slow steps are those in which it waits, and that is said."""
    words = [word for turn in range(6) for word in (f'step:{turn * 50}:{turn * 50 + 49}:1', f'step:{turn * 50 + 49}:{turn * 50 + 50}:30000')]
    for _ in range(5):                      # the usual step is as short as that only where the machine lets the program run
        run = Capture(['--when', 'step > 2x', '--max', '1'], *words, 'step:300:310:1')
        if run.judged()['median_ns'] < 100000:
            break
    check('so the loop launches and does not wait: wait for each step, or --when' in run.line('missed'), run.err)
    # Its usual step may also be a longer one.
    words = [word for turn in range(60) for word in (f'step:{turn * 5}:{turn * 5 + 4}:1000', f'step:{turn * 5 + 4}:{turn * 5 + 5}:10000')]
    run = Capture(['--when', 'step > 2x', '--max', '1'], *words, 'step:300:310:1000')
    check(re.search(r'; this rule calls \d\d % of all steps slow, as in a loop that launches and does not wait: ', run.line('missed')), run.err)
    check(Capture(['--when', 'step >= 3s'], *loop(20, [])).sidecar['missed']['id'] == 'nothing_slow', 'a rule with >=')


def chosen():
    """A slower step that had nearly ended when its window opened is not in it: the window with most of a slow step is read. What
    goes on when the program ends may be no step: a window of one that ended is read."""
    for late_ns, reason, words, name in ((58900000, 'slow', 'that recorded most of a slow step', '2'), (0, 'slow', 'with the slowest step', '1'),
                                         (1, 'step 5, or what followed it, took more than 59.7 ms', 'with the slowest step that ended', '2')):
        folder = ROOT / f'chosen{late_ns}'
        for run, took_ns, late in ('1', 59700000, late_ns), ('2', 56000000, 0), ('3', 30000000, 0):
            place = folder / 'plugins' / 'profile' / run
            place.mkdir(parents=True)
            recorded, = (Path(os.environ['IDS_SOURCE_DIR']) / 'testdata' / 'cpu1_annotated').rglob('*.xplane.pb')
            shutil.copy(recorded, place / 'h.xplane.pb')
            (place / 'idsprof.kept').write_text(json.dumps({'reason': reason if run == '1' else 'slow', 'slow_step': 5, 'slow_ns': took_ns,
                                                            'median_ns': 1000000, 'slow_late_ns': late}) + '\n')
        (folder / 'idsprof.json').write_text('{}')
        report = idsprof('report', folder)
        check(f'3 windows were kept; this is the one {words}, {name} (--run' in re.sub(r'\n +', ' ', report.stderr), report.stderr)
        # Few steps of the run are like those of such a window.
        check(re.search(r'  1  up to [\d.]+ ms a step of this window: ', report.stdout), report.stdout)


def hangs():
    """A step that never ends: the window is opened in it, and kept with what the program's end saw."""
    run = Capture(['--when', SLOW, '--max-cost', '0.001%'], 'step:0:50:100', 'step:50:51:700000', 'exit:3')
    check(run.process.returncode == 3 and run.slow_steps() == [50], run.err)
    check('took more than' in run.windows()[0]['reason'] and 'recorded from' in run.windows()[0]['reason'], run.windows())


def killed():
    """What was kept until then stays, with its reason."""
    run = Capture(['--when', SLOW], *loop(60, [40]), 'kill:9')
    check(run.slow_steps() == [40] and run.line('kept').startswith('window 1: step 40 took'), run.err)
    check(run.line('missed').startswith('not known: the program ended by signal 9 (Killed) before it could say which slow steps were'), run.err)
    none = Capture(['--when', 'step > 30s'], *loop(60, []), 'sleep:400000', 'kill:9')
    check(none.line('missed') == 'the program ended by signal 9 (Killed), and no window was kept until then; step 59 is the last that was noted' and
          none.line('next') == '--keep-slowest 3 keeps some windows in any case' and none.line('history').endswith('draws the steps until then'), none.err)


def passed_over():
    """Where no window is kept the history is, and report says that what it shows is not the newest capture."""
    first = Capture(['-s', '5', '--steps', '3'], 'step:0:60:100')
    alone = idsprof('report', first.dir)
    check(alone.returncode == 0 and 'newer' not in alone.stderr, alone.stderr)
    for end, why in ([], 'none of 59 steps took longer than 30000 ms'), (['kill:9'], 'the program ended by signal 9 (Killed), and no window was kept'):
        done = idsprof('capture', '-o', first.dir, '--when', 'step > 30s', '--', DOUBLE, 'wake', 'step:0:60:100', 'sleep:400000', *end)
        words = re.sub(r'\n +', ' ', done.stderr)
        folder = re.search(r'idsprof report (\S+) draws the steps', words)
        check(folder, done.stderr)
        if not folder:
            return
        drawn = idsprof('report', folder[1])
        check('HISTORY' in drawn.stdout and why in re.sub(r'\n +', ' ', drawn.stderr), (drawn.stdout, drawn.stderr))
        both = idsprof('report', first.dir)
        said = re.sub(r'\n +', ' ', both.stderr)
        check(both.returncode == 0 and f'a newer capture has no profile, only the history of steps, because {why}' in said and
              f'idsprof report {folder[1]} draws it' in said, both.stderr)


# ---- the history ----

def always_there():
    run = Capture(['-s', '5'], 'step:0:400:100', 'sleep:400000', 'kill:9')
    path, = run.folder.glob('.idsprof/*.history')
    size = path.stat().st_size
    check(size <= 400000, size)
    report = json.loads(idsprof('report', '--json', run.folder).stdout)
    history, = table(report, 'history')
    check((history['first'], history['last']) == (0, 398), history)        # killed, and nothing of it is lost
    check('kept' not in report['run'], report['run'])
    # A file that is damaged, cut or nonsense is no reason to fail.
    data = path.read_bytes()
    for damaged in (b'', data[:10], data[:200], data[:5000], b'x' * 300000, data[:16] + b'\xff' * 300, data[:16] + struct.pack('<q', 1 << 60) + data[24:],
                    data[:240] + os.urandom(20000)):
        path.write_bytes(damaged)
        done = idsprof('report', '--json', '--no-cache', run.folder)
        check(done.returncode == 0 and json.loads(done.stdout)['metrics'], (len(damaged), done.stderr))
    path.unlink()
    path.symlink_to('/etc/passwd')
    check(idsprof('report', '--no-cache', run.folder).returncode == 0, 'a link')
    round_and_round = Capture(['-s', '5'], 'step:0:25000')
    report = json.loads(idsprof('report', '--json', round_and_round.folder).stdout)
    history, = table(report, 'history')
    check(history['last'] == 24998 and history['steps'] == 9999, history)
    check(next(round_and_round.folder.glob('.idsprof/*.history')).stat().st_size <= 400000, 'it grew')


# ---- every so often ----

def every():
    run = Capture(['-s', '5', '--steps', '2', '--every', '0.5s', '--max', '3'], 'step:0:2500:1000')
    begins = [int(window['begin_ns']) / 1e9 for window in run.windows()]
    # The half second is from one decision to the next. A window begins when its collectors have started, which takes
    # one window longer than another.
    check(len(begins) == 3 and all(after - before >= 0.45 for before, after in zip(begins, begins[1:])), begins)
    check(run.sidecar['plan']['every_ns'] == 500000000, run.sidecar['plan'])
    timed = Capture(['--delay', '100ms', '--duration', '100ms', '--every', '0.4s', '--max', '2'], 'step:0:1500:1000')
    check([window['opened_by'] for window in timed.windows()] == ['time', 'time'], timed.sidecar)
    hours = Capture(['-s', '5', '--every', '2h', '--max', '2'], 'step:0:50')
    check(len(hours.windows()) == 1 and hours.sidecar['plan']['every_ns'] == 7200 * 10 ** 9, hours.err)


# ---- trigger ----

def wishes():
    run = Capture(['--trigger', '--steps', '2'], 'print:ready', 'open', 'step:0:50:1000', 'close', 'print:first', 'open', 'sleep:100', 'close',
                  'print:second', 'open', 'step:50:60', 'close', 'sleep:300000', wait=False)
    run.process.stdout.readline()
    check(idsprof('trigger', '--steps', '7', '--name', 'before-save', run.dir).returncode == 0, 'seven steps')
    check(run.process.stdout.readline() == 'first\n', 'steps end it')
    begin = time.monotonic()
    check(idsprof('trigger', '--duration', '0.4s', run.dir).returncode == 0, 'by time')
    check(run.process.stdout.readline() == 'second\n' and time.monotonic() - begin >= 0.4, 'it ended early')
    check(idsprof('trigger', run.dir).returncode == 0, 'as the capture says')
    run.wait()
    check([(window['steps'], window['closed_by']) for window in run.windows()][::2] == [(7, 'step'), (2, 'step')], run.windows())
    check(run.windows()[1]['closed_by'] == 'time', run.windows())
    check(run.runs()[0].endswith('_before-save') and not run.runs()[1].endswith('save'), run.runs())
    for options, message in ((['--steps', '0'], 'a window of 0 steps holds nothing'), (['--duration', '0s'], 'a window of 0 s holds nothing'),
                             (['--name', 'a/b'], "--name: 'a/b' is not 1 to 31 letters"), (['--name', ''], 'is not 1 to 31'),
                             (['--stop', '--steps', '3'], 'are for a window that is opened'), (['--duration', '5'], 'needs a unit')):
        refused = idsprof('trigger', *options)
        check(refused.returncode == 2 and message in refused.stderr, (options, refused.stderr))


def on_hosts():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    run = Capture(['--trigger', '--steps', '2', '--listen', str(port)], 'print:ready', 'open', 'step:0:50:1000', 'close', 'sleep:500000', wait=False)
    run.process.stdout.readline()
    (ROOT / 'hosts').write_text(f'127.0.0.1:{port}\n')
    asked = idsprof('trigger', '--hosts', ROOT / 'hosts', '--steps', '7', '--name', 'all')
    check(asked.returncode == 0 and 'window 1 is open' in asked.stdout, asked)
    run.wait()
    check([window['steps'] for window in run.windows()] == [7] and run.runs()[0].endswith('_all'), (run.windows(), run.runs()))


def found_anywhere():
    (ROOT / 'other').mkdir()
    run = Capture(['--trigger', '--steps', '2'], 'print:ready', 'open', 'step:0:50', 'close', 'print:closed', 'open', 'step:50:90', 'close', 'sleep:300000',
                  environment={'XDG_RUNTIME_DIR': str(ROOT / 'other')}, wait=False)
    run.process.stdout.readline()
    none = idsprof('trigger')
    check(none.returncode == 1 and 'is found by its process or folder' in none.stderr, none.stderr)
    folder, = run.dir.iterdir()
    started = idsprof('trigger', folder)
    check(started.returncode == 0 and 'window 1 is open' in started.stdout, started)
    check(run.process.stdout.readline() == 'closed\n', 'two steps end it')
    pid = re.match(r'\d+', started.stdout)[0]
    started = idsprof('trigger', pid)
    check(started.returncode == 0 and 'window 2 is open' in started.stdout, started)
    run.wait()
    check(len(run.windows()) == 2, run.sidecar)


def at_a_terminal(*options, answer=None, can_answer=True):
    """idsprof trigger with a terminal of its own: the exit code and what was on it."""
    pid, terminal = pty.fork()
    if not pid:
        if not can_answer:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execv(IDSPROF, ['idsprof', 'trigger', *options])
    seen = b''
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
        if answer is not None and b'[y/N]' in seen:
            os.write(terminal, answer)
            answer = None
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


def asks():
    run = Capture(['--trigger', '--steps', '2'], 'print:ready', 'open', 'step:0:50', 'close', 'open', 'step:50:90', 'close', 'sleep:60000000', wait=False)
    run.process.stdout.readline()
    code, seen = at_a_terminal(answer=b'n\n')
    check(code == 1 and 'open a window in it? [y/N]' in seen and 'nothing was done' in seen, (code, seen))
    check('capture_double wake' in seen and str(run.dir) in seen, seen)
    code, seen = at_a_terminal(can_answer=False)
    check(code == 1 and '[y/N]' not in seen and 'capture_double wake' in seen and 'nothing was done; --yes' in seen, (code, seen))
    code, seen = at_a_terminal(answer=b'y\n')
    check(code == 0 and 'window 1 is open' in seen, (code, seen))
    deadline = time.monotonic() + 30
    while 'waiting' not in idsprof('trigger', '--list').stdout and time.monotonic() < deadline:
        time.sleep(0.02)
    code, seen = at_a_terminal('--yes')
    check(code == 0 and '[y/N]' not in seen and 'window 2 is open' in seen, (code, seen))
    code, seen = at_a_terminal('--list', str(run.dir))
    check(code == 0 and '[y/N]' not in seen, seen)
    run.process.send_signal(signal.SIGTERM)
    run.wait()


for test in (three_of_many, nothing_slow, slowest, like_steps, waited, stands_out, launches_only, limits, chosen, hangs, killed, passed_over, always_there, every, wishes, on_hosts, found_anywhere, asks):
    begin = time.monotonic()
    test()
    print(f'{test.__name__}: {time.monotonic() - begin:.1f} s')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
