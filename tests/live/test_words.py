#!/usr/bin/env python3
"""What `idsprof capture` says of a capture that caught less than was asked for, with real JAX on the CPU, is true; and what signals, crashes
and exec leave of an open window. How the words are chosen without jax: unit.capture, cli.capture.

    test_words.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import os
import resource
import sys
import time

import test_capture as live
from test_capture import PYTHON, ROOT, Capture, capture, check, profile

MORE = ROOT / 'more.py'
MORE.write_text('''import os, signal, sys, time
import jax, jax.numpy as jnp
words = dict(word.partition('=')[::2] for word in sys.argv[2:])
step = jax.jit(lambda x: (x @ x).sum())
x = jnp.ones((32, 32))
for i in range(int(sys.argv[1])):
    if str(i) == words.get('at'):
        what = words['do']
        if what == 'exec':
            os.execl('/bin/echo', 'echo', 'another')
        elif what == 'failing exec':
            try:
                os.execv('/nonexistent', ['x'])
            except OSError:
                pass
        elif what == 'abort':
            os.abort()
        elif what == 'crash':
            import ctypes
            ctypes.string_at(0)
        else:
            os.kill(os.getpid(), getattr(signal, what))
            time.sleep(5)
    with jax.profiler.StepTraceAnnotation('train', step_num=i):
        step(x).block_until_ready()
    time.sleep(float(words.get('pace', 0)))
print('done')
''')
BUSY = ROOT / 'busy.py'
BUSY.write_text('''import jax, jax.numpy as jnp, sys, time
f, x, until = jax.jit(lambda x: x + 1), jnp.ones(8), time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    x = f(x)
''')


def ends():
    for what, code in (('SIGHUP', 129), ('SIGUSR1', 138), ('SIGXCPU', 152), ('SIGQUIT', 131), ('abort', 134), ('crash', 139)):
        run = capture(['-s', 5], 20, 'at=7', 'do=' + what, program=MORE)
        found = profile(run)
        check('%s in a window: ends as alone' % what, run.code == code and run.out == '', (run.code, run.err))
        check('%s in a window: the steps until then' % what, found and [n for _, n in found.steps] == [5, 6], run.err)
        check('%s in a window: said' % what, run.line('missed') == 'the program ended after 2 of the 5 steps of window 1', run.err)
    run = capture(['-s', 5], 20, 'at=7', 'do=exec', program=MORE)
    found = profile(run)
    check('exec in a window', (run.code, run.out) == (0, 'another\n') and found and [n for _, n in found.steps] == [5, 6], run.err)
    check('exec in a window: said', run.line('missed') == 'the program became another one (exec) after 2 of the 5 steps of window 1', run.err)
    run = capture(['-s', 5], 20, 'at=7', 'do=failing exec', program=MORE)
    check('an exec that fails: the program goes on', (run.code, run.out) == (0, 'done\n') and len(run.files()) == 1, run.err)


def nothing_came():
    run = Capture([], [PYTHON, 'missing.py']).wait()
    check('a missing script', run.code == 2 and run.line('missed') == "there is no script 'missing.py'", run.err)
    run = capture([], 9, program=MORE, environment={'JAX_PLATFORMS': 'bogus'})
    check('jax that cannot start', run.code == 1 and run.line('missed') == 'the program ended with exit code 1 before its first step', run.err)
    run = Capture(['-s', 5], ['env', '-i', PYTHON, MORE, 9]).wait()
    check('env -i', run.code == 0 and run.line('missed').startswith("'env -i' starts programs without the environment"), run.err)
    check('env -i: what to do', run.line('next').startswith('put capture behind it: env -i'), run.err)
    run = Capture(['-s', 5], ['sh', '-c', '"$0" "$1" 200 pace=0.02 > /dev/null 2>&1 & sleep 0.1', PYTHON, MORE]).wait()
    check('a child that goes on', 'goes on after the program' in run.line('missed') and run.folder.exists(), run.err)
    until = time.monotonic() + 60
    while not run.files() and time.monotonic() < until:
        time.sleep(0.2)
    check('a child that goes on: is recorded', len(run.files()) == 1, run.err)
    run = capture(['--delay', '10ms', '--duration', '100ms'], program=ROOT / 'idle.py')
    check('an empty window', run.line('missed').startswith('window 1 is empty: nothing that is recorded ran while it was open'), run.err)
    run = capture(['-s', 5, '--wrap', 'no_module:f'], 12, program=MORE)
    check('--wrap that is never found', run.line('missed').startswith('--wrap: never found: no_module:f'), run.err)
    for option in ('--gpu', '--tpu'):
        if not os.path.exists('/dev/nvidia0') and not os.path.exists('/dev/accel0'):
            run = capture([option], 9, program=MORE)
            check(option + ' without one', run.code == 2 and run.out == '' and 'there is no' in run.err and '--or-cpu' in run.err, run.err)
    for device in ('GPU', 'TPU'):
        run = capture(['--' + device.lower(), '--or-cpu', '-s', 5], 12, program=MORE)
        check(f'--{device} --or-cpu', run.code == 0 and run.line('missed').startswith(f'jax found no {device}, and ran on the CPU'), run.err)


def limits():
    run = capture(['-s', 5, '--every', 20, '--max', 4, '--max-size', '1K'], 90, program=MORE)
    check('--max-size', run.line('missed').startswith('3 of 4 windows: --max-size was reached with window 1'), run.err)
    run = capture(['--delay', '10ms', '--duration', '30s', '--max-window-bytes', '20M'], 8, program=BUSY)
    window, = run.windows() or [{}]
    check('--max-window-bytes: ends the window', window.get('closed_by') == 'size', run.err)
    check('--max-window-bytes: said', "the program's memory had grown by 20 MB in it" in run.line('missed'), run.err)
    check('a window by time: the program went on', 'while the program went on' in run.line('cost'), run.err)
    check('--max-window-bytes: the peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 900 << 10,
          resource.getrusage(resource.RUSAGE_CHILDREN))


IN_PYTHON = '''import glob, os, subprocess, time, jax, jax.numpy as jnp
step = jax.jit(lambda x: x + 1)
def rank_items():
    return max((i * 7919) % 10007 for i in range(20000))
x, until = jnp.ones(4), time.monotonic() + 60
rank_items()
x = step(x).block_until_ready()
asked = subprocess.Popen([os.environ['IDSPROF'], 'trigger', '--duration', '300ms', str(os.getpid())], stdout=subprocess.DEVNULL)
while not glob.glob(os.environ['IDSPROF_SESSION'] + '/plugins/profile/*/*.xplane.pb') and time.monotonic() < until:
    rank_items()
    x = step(x).block_until_ready()
asked.wait()
'''


def own_thread():
    """What opens a window beside the program is a thread of idsprof's, which waits for Python's lock where the program has it."""
    program = ROOT / 'in_python.py'
    program.write_text(IN_PYTHON)
    run = capture(['--trigger'], program=program)       # by the program, when it is at work
    names = live.profile(run).names
    check('the stacks are those of the program', any('rank_items' in name for name in names), run.err)
    # What the hook calls in the program's thread, a method of Agent, may be seen there.
    check('idsprof\'s own thread is none of them', not [name for name in names if 'idsprof_agent.py' in name and ' Agent.' not in name], names)
    check('it is not counted', ' samples of 1 Python thread,' in run.line('stacks'), run.err)


CLOSES = '''import os, sys, time, jax, jax.numpy as jnp
step, x = jax.jit(lambda x: x + 1), jnp.ones(4)
path = sys.argv[1]
for i in range(40):
    x = step(x).block_until_ready()
    if i == 5:
        os.closerange(3, 512)
        time.sleep(.2)                  # what hears of it opens again what it needs
        own = open(path, 'w')
        print(own.fileno())
    if i in (12, 30):               # in the window, and after it
        os.closerange(4, 512)
        print(own.write('mine'))
own.close()
print(open(path).read())
'''


def closes_low_numbers():
    """A program that closes what it does not know, and counts on the number of what it opens then."""
    program = ROOT / 'closes.py'
    program.write_text(CLOSES)
    run = capture(['-s', 10, '-k', 5], ROOT / 'own.txt', program=program)
    check('its files have the numbers that they have without us', (run.code, run.out) == (0, '3\n4\n4\nminemine\n'), (run.out, run.err))
    check('the window is whole', len(run.files()) == 1 and run.missed_nothing(), run.err)


def options():
    run = capture(['-s', 5, '--profile-option', 'host_tracer_level=1', '--profile-option', 'gpu_pm_sample_counters=sm__cycles',
                   '--profile-option', 'include_dataset_ops=false'], 12, program=MORE)
    check('--profile-option: taken', len(run.files()) == 1, run.err)
    check('--profile-option: of a device that is not there',
          run.line('missed').startswith('--profile-option gpu_pm_sample_counters=sm__cycles had no effect: no GPU ran the program'), run.err)
    run = capture(['-s', 5, '--profile-option', 'host_tracer_level=1'], 12, program=MORE)
    check('--profile-option: of none', run.missed_nothing(), run.err)
    run = capture(['-s', 5, '--profile-option', 'colour=blue'], 12, program=MORE)
    check('--profile-option: unknown', run.code == 0 and "this jax knows no 'colour' (" in run.line('missed') and
          'host_tracer_level' in run.line('missed') and 'without it' in run.line('next'), run.err)
    check('--profile-option: unknown, and nothing on standard error', run.err.startswith('idsprof: caught'), run.err)
    run = capture(['-s', 5, '--profile-option', 'colour=blue'], program=ROOT / 'catches.py')
    check('no window was opened: nothing of it stays', run.code == 0 and run.out == 'True True True\n', (run.out, run.err))


CASES = [ends, nothing_came, limits, own_thread, closes_low_numbers, options]


CATCHES = '''import gc, os, selectors, jax, jax.numpy as jnp
step, x = jax.jit(lambda x: (x @ x).sum()), jnp.ones((8, 8))
def caught():
    return [line for line in open('/proc/self/status') if line.startswith('SigCgt')], os.execv, len(gc.callbacks)
step(x).block_until_ready()
before = caught()
for i in range(12):
    with jax.profiler.StepTraceAnnotation('train', step_num=i):
        step(x).block_until_ready()
print(*(left == right for left, right in zip(before, caught())))
'''


def main():
    live.need_jax()
    (ROOT / 'catches.py').write_text(CATCHES)
    (ROOT / 'idle.py').write_text('import jax, time\ntime.sleep(1)\n')
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
