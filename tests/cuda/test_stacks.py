#!/usr/bin/env python3
"""Sampled stacks of Python programs without jax, whose windows are CUPTI's (the doubles of stub_cuda.c and stub_cupti.c): functions and lines
where they are, in each Python that is here, and programs that do what could harm the reader end and print as they do alone.

Other Pythons than this one: IDS_PYTHONS (paths with colons between), else what pyenv installed and /usr/bin/python3.*."""
import glob
import json
import os
import re
import subprocess
import sys

SOURCE, BUILD, IDSPROF = os.environ['IDS_SOURCE_DIR'], os.environ['IDS_BUILD_DIR'], os.environ['IDSPROF']
PROGRAM, CUDA = SOURCE + '/tests/cuda/python_program.py', BUILD + '/stubs/cuda/libcuda.so.1'
ACTS = ['many_threads', 'churn', 'deep', 'forks', 'quits', 'handles_faults', 'interpreters', 'ends']
failures = []


def check(what, good, *details):
    if not good:
        failures.append(what)
        print('FAIL:', what, *details)


def version(python):
    """(3, 11) of a CPython with a global lock, else None."""
    ask = 'import sys; print(*sys.version_info[:2], sys.implementation.name, getattr(sys, "_is_gil_enabled", lambda: True)())'
    answer = subprocess.run([python, '-c', ask], capture_output=True, text=True, check=False).stdout.split()
    return tuple(map(int, answer[:2])) if answer[2:] == ['cpython', 'True'] else None


def others():
    """One of each version that is here and can be read, beside this one."""
    listed = os.environ.get('IDS_PYTHONS')
    paths = listed.split(':') if listed else glob.glob(os.path.expanduser('~/.pyenv/versions/*/bin/python3')) + glob.glob('/usr/bin/python3.[0-9]*')
    found = {}
    for path in sorted(paths):
        which = None if path.endswith('-config') else version(path)
        if which and (3, 9) <= which <= (3, 14) and which != sys.version_info[:2]:
            found.setdefault(which, path)
    return [found[which] for which in sorted(found)]


def line_of(code, function):
    with open(PROGRAM) as file:
        lines = file.read().splitlines()
    return next(number for number, line in enumerate(lines, 1) if code in line and number > lines.index('def %s():' % function))


class Run:
    """A capture of the program's act, beside a run without us."""

    def __init__(self, python, act, seconds, before=()):
        self.name = ' '.join([*before[:1], act, 'of', python])
        folder = os.path.join(os.environ['TMPDIR'], re.sub(r'\W', '_', self.name))
        program = [*before, python, PROGRAM, CUDA, act, str(seconds)]
        environment = dict(os.environ, STUB_RECORDING=SOURCE + '/tests/cuda/small.cupti', LD_LIBRARY_PATH=BUILD + '/stubs/cupti13:' + os.environ.get('LD_LIBRARY_PATH', ''))
        alone = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=300)
        run = subprocess.run([IDSPROF, 'capture', '--delay', '1ms', '--duration', '100s', '-o', folder, '--', *program], capture_output=True,
                             text=True, env=environment, timeout=300)
        check(self.name + ': ends as it does alone', run.returncode == alone.returncode, run.returncode, alone.returncode, run.stderr)
        check(self.name + ': prints as it does alone', run.stdout == alone.stdout, repr(run.stdout), repr(alone.stdout))
        self.said = run.stderr
        self.run = next(iter(glob.glob(folder + '/*')), folder)
        self.hello = [json.loads(line) for path in glob.glob(self.run + '/.idsprof/*.hello') for line in open(path)]

    def stacks(self):
        return [line for line in self.hello if line['event'] == 'stacks']

    def folded(self):
        """[(frames, the outermost first, microseconds)] of all threads."""
        lines = subprocess.run([IDSPROF, 'extract', self.run, '-f', 'folded', '-o', '-'], capture_output=True, text=True, check=True).stdout
        return [(line.rpartition(' ')[0].split(';')[1:], int(line.rpartition(' ')[2])) for line in lines.splitlines()]


def places():
    """Where the program says that samples must find it: {function: "function (python_program.py:LINE)"}."""
    with open(PROGRAM) as file:
        return {mark[1]: '%s (python_program.py:%d)' % (mark[1], number) for number, line in enumerate(file, 1)
                for mark in re.finditer(r'#: ([\w.]+)', line)}


def in_rounds(frames):
    """Not what the program does once, before and after its rounds, which a busy machine may draw out."""
    with open(PROGRAM) as file:
        once = ['work (python_program.py:%d)' % number for number, line in enumerate(file, 1) if line.endswith('#- once\n')]
    return any(frame.startswith('work (') and frame not in once for frame in frames)


def judge_work(python):
    """Each place has its share, by the right line, and the threads are apart."""
    run = Run(python, 'work', 0.6)
    check(run.name + ': stacks', run.stacks() and run.stacks()[0].get('samples', 0) > 20 and run.stacks()[0]['threads'] == 2, run.stacks())
    folded, spent = run.folded(), {}
    for function, place in places().items():
        spent[function] = sum(time for frames, time in folded if place in frames)
        check('%s: %s' % (run.name, place), spent[function] > 0, spent, folded)
    spent.pop('beside')
    whole = sum(time for frames, time in folded if in_rounds(frames))
    check(run.name + ': these are most of it', sum(spent.values()) > 0.5 * whole, spent, whole, folded)
    check(run.name + ': called alone', not any('beside' in ' '.join(frames) and 'work' in ' '.join(frames) for frames, _ in folded), folded)
    parts = [frames for frames, _ in folded if any('comp>' in frame or 'lambda' in frame for frame in frames)]
    check(run.name + ': comprehensions are of their function', not parts and not any(frames.count(places()['squares']) > 1 for frames, _ in folded),
          parts, folded)
    if version(python) >= (3, 11):
        check(run.name + ': C functions', any(frames[-2:] == [places()['load_batch'], 'time.sleep'] for frames, _ in folded), folded)
    return run


own = judge_work(sys.executable)
said = subprocess.run([IDSPROF, 'query', own.run, 'SELECT count(*) FROM tracks WHERE plane = \'/host:idsprof.stacks\''], capture_output=True, text=True)
check('two threads have samples', said.stdout.split()[-1:] == ['2'], said.stdout + said.stderr)
for act in ACTS:
    run = Run(sys.executable, act, 0.3)
    check(run.name + ': stacks', act == 'quits' or (run.stacks() and run.stacks()[0].get('samples', 0) > 0), run.hello)
    for line in [line for line in run.stacks() if 'samples' in line]:
        check(run.name + ': costs little', line['cpu_ns'] < 20e6 + 0.05 * line['wall_ns'], line)
        # One thread is a fifth of that here, and two thirds of it the turn of the core; 200 threads are asleep most of the time.
        check(run.name + ': a sample costs little', line['cpu_ns'] < line['samples'] * (1e6 if act == 'many_threads' else 120e3), line)

run = Run(sys.executable, 'asleep', 0.4)
for line in run.stacks() if sys.version_info >= (3, 11) else []:
    # Each is read when it is new and in every 64th sample; they begin to sleep one after the other.
    check('asleep: who sleeps is not read', line['still'] > 0.3 * line['samples'] * line['threads'], line)

run = Run(sys.executable, 'passes', 0.5)
if sys.version_info >= (3, 11):
    slept = sum(time for frames, time in run.folded() if frames[-2:] == ['passes (python_program.py:%d)' % line_of('time.sleep(seconds)', 'passes'), 'time.sleep'])
    check('passes: who sleeps behind one that has ended goes on', slept > 450e3, slept, run.folded())

run = Run(sys.executable, 'generators', 1.5)
# Of the program: the interpreter's own end has no module around it.
lost = sum(time for frames, time in run.folded() if 'python_program.py' in frames[0] and not frames[0].startswith('<module>'))
check('generators: who calls them is known', lost < 0.01 * sum(time for _, time in run.folded()), lost, run.folded())

# What containers refuse: one way to read memory, then both.
refused = [sys.executable, SOURCE + '/tests/cuda/refuse_reading.py']
run = Run(sys.executable, 'work', 0.3, refused)
check('without process_vm_readv: stacks', run.stacks() and run.stacks()[0].get('samples', 0) > 10, run.hello)
without_proc = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']
if subprocess.run([*without_proc, 'true'], capture_output=True).returncode:
    print('SKIP: no right to hide /proc')
else:
    run = Run(sys.executable, 'work', 0.3, without_proc + refused)
    words = 'not sampled: the process may not read its own memory: process_vm_readv (Operation not permitted)'
    check('with both ways refused: capture says it', words in ' '.join(run.said.split()), run.said)
    check('with both ways refused: the window is there', 'caught 1 window' in ' '.join(run.said.split()), run.said)

tried = [version(sys.executable)]
for python in others():
    judge_work(python)
    Run(python, 'ends', 0.3)
    tried.append(version(python))
print('read: ' + ', '.join('%d.%d' % which for which in sorted(tried)))
print('%d faults' % len(failures))
sys.exit(1 if failures else 0)
