#!/usr/bin/env python3
"""idsprof.py, windows that a program opens itself, with real JAX on the CPU: in a plain script, under `idsprof capture --trigger`, and as magics
of a double of IPython's shell and of IPython itself.

    test_notebook.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_BUILD_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import test_capture as live
from test_capture import IDSPROF, PYTHON, ROOT, Capture, Profile, check, new_folder, report

HOOK = Path(IDSPROF).resolve().parent / 'lib' / 'idsprof' / 'python'
START = '''import sys, time
import jax, jax.numpy as jnp
import idsprof
step, x = jax.jit(lambda x: (x @ x).sum()), jnp.ones((64, 64))
def run(count):
    for i in range(count):
        with jax.profiler.StepTraceAnnotation('train', step_num=i):
            step(x).block_until_ready()
run(3)
'''
BLOCKS = START + '''
with idsprof.capture('evaluate') as first:
    run(20)
run(5)
window = idsprof.trigger('second')
run(2)
with idsprof.capture('inside'):
    run(2)
idsprof.stop()
idsprof.stop()
print(first.path, window.path, sep='\\n')
try:
    with idsprof.capture('raises') as third:
        raise KeyError('of the program')
except KeyError as error:
    print(third.path, error)
first.report('--top', '1')
'''
SHELL = START + '''
class Shell:
    """What idsprof.py uses of IPython's InteractiveShell."""
    def __init__(self):
        self.user, self.magics, self.magics_manager = dict(globals()), {}, self
        self.displayhook, self.error_before_exec, self.error_in_exec = self, None, None
    def register_magic_function(self, function, kind, name):
        assert kind == 'line_cell'
        self.magics[name] = {name: function}
    def showtraceback(self, **options):
        print('shown:', sys.exc_info()[0].__name__)
    def run_cell(self, code):
        result = Shell()
        try:
            exec(code, self.user)
        except BaseException as error:
            result.error_in_exec = error
            self.showtraceback()
        return result
    def around(self, line, cell=None):
        """As the cell that holds the magic: an error in it is shown, and is that of the cell."""
        try:
            self.do(line, cell)
        except BaseException as error:
            print('failed:', type(error).__name__)
            self.showtraceback(running_compiled_code=True)
    def do(self, line, cell=None):
        return self.magics['idsprof']['idsprof'](line, cell)
shell = Shell()
idsprof.load_ipython_extension(shell)
shell.do('evaluate', 'made = 5\\nrun(4)')
shell.do('-q quiet', 'run(made)')
shell.do('run(6)')
shell.do('', 'import idsprof as again')
shell.around('-q fails', '1 / 0')
shell.around('{}["of a statement"]')
shell.run_cell('[][0]')
shell.around('-q exits', 'sys.exit(3)')
for line in '--nonsense x y', 'two names', '-q -x name':
    try:
        shell.do(line, 'made = 7')
    except ValueError as error:
        print('refused:', error)
for bad in (None,), (3,), ('name', '5'), ('name', -1), ('name', 0, float('nan')), ('name', 1.5), ('name', True):
    try:
        idsprof.capture(*bad)
    except (TypeError, ValueError) as error:
        print('refused:', error)
idsprof.unload_ipython_extension(shell)
print(shell.user['made'], shell.magics)
'''
IPYTHON = START.replace('import idsprof\n', '') + '''
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(user_ns=globals())
shell.run_line_magic('load_ext', 'idsprof')
shell.run_cell('%%idsprof evaluate\\nmade = 5\\nrun(4)')
shell.run_cell('%idsprof run(made)')
failed = shell.run_cell('%%idsprof -q fails\\n1 / 0'), shell.run_cell('%idsprof {}["key"]'), shell.run_cell('%%idsprof -q\\n1 +')
print('failed', *(type(result.error_in_exec).__name__ for result in failed))
shell.run_cell('[][0]')
shell.run_cell('%%idsprof -q\\nmade + 1000;')
shell.run_cell('%%idsprof -q\\nmade + 2000', store_history=True)
print('value', _)
shell.run_cell('%idsprof print("{made}")')
shell.run_line_magic('unload_ext', 'idsprof')
print('made', made)
'''


def script(text, folder, **variables):
    program = ROOT / ('notebook%d.py' % len(list(ROOT.glob('notebook*.py'))))
    program.write_text(text)
    folder.mkdir(exist_ok=True)
    return subprocess.run([PYTHON, program], capture_output=True, text=True, cwd=folder,
                          env={**os.environ, 'PYTHONPATH': str(HOOK), **variables})


def steps(path):
    files = [path] if path.is_file() else sorted(path.glob('plugins/profile/*/*.xplane.pb'))
    found = Profile(files[0])
    return len(found.steps), found.names


def alone():
    folder = new_folder()
    done = script(BLOCKS, folder)
    paths = [folder / line for line in done.stdout.splitlines()[:2]]
    check('alone: runs', done.returncode == 0, done.stderr)
    for path, count, name in zip(paths, (20, 4), ('evaluate', 'second')):
        found = steps(path)
        check('alone: %s is recorded by jax.profiler' % name, found[0] == count and found[1][name] == 1 and
              re.match('profiles/%s_' % name, str(path.relative_to(folder))), (path, found[0]))
    check('alone: which and why is said', done.stderr.count("recorded by jax.profiler: this process was not started under 'idsprof capture'") == 3, done.stderr)
    check('alone: windows do not nest', 'nothing is recorded: a window is open already (second)' in done.stderr, done.stderr)
    check('alone: a stop too many', 'no window is open' in done.stderr, done.stderr)
    check('alone: an exception passes through', "raises_" in done.stdout and "'of the program'" in done.stdout, done.stdout)
    check('alone: the report', 'WHERE THE TIME GOES' in done.stdout, done.stdout)
    done = script('import jax, idsprof\nwith idsprof.capture("some", steps=2): jax.numpy.ones(3).block_until_ready()', folder)
    check('alone: what jax.profiler does not know is said', 'the whole block is recorded' in done.stderr, done.stderr)
    done = script(BLOCKS.replace('import idsprof\n', 'import idsprof\njax.profiler.start_trace("own")\n'), folder)
    check('a profile of the program is in the way: said, and the program goes on', done.returncode == 0 and
          'nothing is recorded: jax.profiler does not start' in done.stderr, done.stderr)


def captured():
    program = ROOT / 'blocks.py'
    program.write_text(BLOCKS)
    run = Capture(['--trigger', '--stacks', 100], [PYTHON, program]).wait()
    check('under capture: runs', run.code == 0, run.err)
    check('under capture: its agent records', run.err.count('recorded by the agent of idsprof capture; idsprof report') == 3, run.err)
    paths = [Path(line) for line in run.out.splitlines()[:2]]
    check('under capture: the files are those of the capture', set(paths) <= set(run.files()), (paths, run.files()))
    for path, count, name in zip(paths, (20, 4), ('evaluate', 'second')):
        found = steps(path)
        check('under capture: all of %s' % name, found[0] == count and found[1][name] == 1, (found[0], run.err))
    check('under capture: what capture adds is there', 'host.' in str(report(paths[0])['tables'].get('ledger')), run.err)
    program.write_text(START + 'run(200)\nwith idsprof.capture("late") as late:\n    run(7)\nprint(late.path)\n')
    run = Capture(['-s', 5, '-k', 2, '--max-size', '1'], [PYTHON, program], cwd=new_cwd()).wait()
    check('under capture that may write no more: jax.profiler records', 'recorded by jax.profiler: ' in run.err and
          len(run.files()) == 1 and 'profiles/late_' in run.out, (run.out, run.err))


OF_A_BLOCK = '''import sys, time
import jax, jax.numpy as jnp
import idsprof
f, x = jax.jit(lambda x: (x @ x).sum()), jnp.ones((256, 256))
f(x).block_until_ready()
def prepare(seconds):
    time.sleep(seconds)
with idsprof.capture('cell') as cell:
    prepare(.03)
    f(x).block_until_ready()
with idsprof.capture('loop') as loop:
    for i in range(20):
        f(x).block_until_ready()
        prepare(.004)
print(cell.path, loop.path, sep='\\n')
'''


def blocks():
    """All of a block counts, not what lies between the first and the last work of the device; and the block is no culprit of what is in it."""
    program = ROOT / 'of_a_block.py'
    program.write_text(OF_A_BLOCK)
    run = Capture(['--trigger'], [PYTHON, program]).wait()
    cell, loop = (report(Path(line)) for line in run.out.splitlines()[:2])
    for name, found, least in ('cell', cell, .030), ('loop', loop, .004):
        # Others use the machine too: a sleep that is over goes on only with a core.
        core = sum(piece['saves'] for piece in found['advice'] if piece.get('culprit') == 'wait_for_core')
        first = next(piece for piece in found['advice'] if piece.get('culprit') != 'wait_for_core')
        check('block: %s: the function is named' % name, 'prepare' in first['what'] and (first['saves'] or 0) + core > .9 * least,
              found['advice'])
        check('block: %s: it is no culprit' % name, name not in str(found['tables']['accounts']), found['tables']['accounts'])
    check('block: without a loop it is the step', cell['run']['steps']['count'] == 1 and cell['metrics']['steps.mean']['value'] > .030, cell['run'])
    check('block: the last step is whole', loop['run']['steps']['count'] == 20, loop['run']['steps'])
    check('block: the program stands still where it ends', 'in which the program stood still' in run.line('cost'), run.err)
    check('block: capture and report count alike', 'capture counted' not in run.err, run.err)


def new_cwd():
    folder = new_folder()
    folder.mkdir()
    return folder


def magics():
    folder = new_folder()
    done = script(SHELL, folder)
    names = sorted(re.sub(r'_\d{8}_\d{6}(_\d+)?$', '', path.name) for path in folder.glob('profiles/*'))
    check('magics: a window each', done.returncode == 0 and names == [
          'evaluate', 'exits', 'fails', 'notebook', 'notebook', 'notebook', 'quiet'], (names, done.stderr))
    check('magics: the report, unless -q', done.stdout.count('WHERE THE TIME GOES') == 2, done.stdout)
    errors = [line for line in done.stdout.splitlines() if line.startswith(('shown: ', 'failed: '))]
    check('magics: an error of the cell is one of the cell around it, and is shown once', errors == [
        'shown: ZeroDivisionError', 'failed: ZeroDivisionError', 'shown: KeyError', 'failed: KeyError', 'shown: IndexError',
        'shown: SystemExit', 'failed: SystemExit'], errors)
    check('magics: cells run in the notebook, and it can be unloaded', done.stdout.endswith("5 {'idsprof': {}}\n"), done.stdout[-100:])
    refused = [line[9:] for line in done.stdout.splitlines() if line.startswith('refused: ')]
    usage = '; usage: %%idsprof [-q] [NAME]'
    check('arguments that are wrong are refused, and said', refused == [
        'there is no option --nonsense' + usage, 'a window has one name, not 2' + usage, 'there is no option -x' + usage,
        'idsprof: the name of a window must be text, not NoneType', 'idsprof: the name of a window must be text, not int',
        'idsprof: steps must be a number, not str', 'idsprof: steps must be 0 (no limit) or more, not -1',
        'idsprof: seconds must be 0 (no limit) or more, not nan', 'idsprof: steps must be a number, not float',
        'idsprof: steps must be a number, not bool'], refused)
    folder = new_folder()
    done = script(IPYTHON, folder, HOME=str(ROOT))
    check('IPython: a window each', len(list(folder.glob('profiles/*'))) == 8 and 'made 5' in done.stdout, (done.stdout, done.stderr))
    out = re.sub(r'\x1b\[[\d;]*m', '', done.stdout)
    check('IPython: an error of the cell is one of the cell around it, and is shown once',
          'failed ZeroDivisionError KeyError SyntaxError\n' in out and
          [out.count('%s: ' % name) for name in ('ZeroDivisionError', 'KeyError', 'SyntaxError', 'IndexError')] == [1, 1, 1, 1],
          out)
    check('IPython: values and text are as of a plain cell', '1005' not in done.stdout and 'value 2005' in done.stdout and
          '{made}\n' in done.stdout, done.stdout)


CELLS = '''import jax, jax.numpy as jnp
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(user_ns=globals())
def run(text):
    shell.run_cell(text, store_history=True)
run('%load_ext idsprof')
run('import time, numpy as np\\nstep, x = jax.jit(lambda x: (x @ x).sum()), jnp.ones((64, 64))\\nstep(x).block_until_ready()')
run('def load():\\n    rows = np.arange(200000)[::-1].copy()\\n    np.random.shuffle(rows)\\n    return rows')
run('%%idsprof -q train\\nfor i in range(30):\\n    load()\\n    step(x).block_until_ready()')
run('%%idsprof -q nap\\nfor i in range(20):\\n    time.sleep(.004)\\n    step(x).block_until_ready()')
'''


def cells():
    """A function of a cell is called as the notebook calls the cell, and its text, which is in no file, tells what it calls."""
    program = ROOT / 'cells.py'
    program.write_text(CELLS)
    run = Capture(['--trigger'], [PYTHON, program], {'HOME': str(ROOT)}, cwd=new_cwd()).wait()
    if len(run.files()) != 2:
        check('cells: two windows', False, run.err)
        return
    train, nap = (report(path) for path in sorted(run.files()))
    first = [next(piece for piece in found['advice'] if piece.get('culprit') != 'wait_for_core')['what'] for found in (train, nap)]
    check('cells: a function of another cell, and what it calls', 'load (In[3]:3, in np.random.shuffle)' in first[0], first)
    check('cells: the cell of a magic, by its own lines', '<module> (In[5]:3, in time.sleep)' in first[1], first)


CASES = [alone, captured, blocks, magics, cells]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
