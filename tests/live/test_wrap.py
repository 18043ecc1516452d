#!/usr/bin/env python3
"""`idsprof capture --wrap F --range F` with real JAX on the CPU: the window is exactly a call of F, whatever F is and wherever it is defined, and
the program is as it was. What becomes of single kinds of callables, without jax: cli.hook.

    test_wrap.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import test_capture as live
from test_capture import PYTHON, ROOT, Capture, check, profile, report

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
FOLDER = ROOT / 'wrapped'
FOLDER.mkdir(exist_ok=True)
(FOLDER / 'model.py').write_text('''import functools
import jax, jax.numpy as jnp

@jax.jit
def jitted(x):
    return (x @ x).sum()

def evaluate(x):
    return jitted(x).block_until_ready()

class Trainer:
    def fit(self, x):
        return jitted(x).block_until_ready()

    @staticmethod
    def still(x):
        return jitted(x).block_until_ready()

class Better(Trainer):
    pass

async def soon(x):
    return x

def late():
    global later
    def later(x):
        return jitted(x).block_until_ready()
''')
# evaluate is called 3 times, after 20 other executions of the same jitted function.
(FOLDER / 'train.py').write_text('''import sys, time
import jax.numpy as jnp
import model
x = jnp.ones((64, 64))
for _ in range(20):
    model.jitted(x).block_until_ready()
if len(sys.argv) > 1:
    model.late()
call = eval(sys.argv[1]) if len(sys.argv) > 1 else model.evaluate
for _ in range(3):
    if len(sys.argv) > 2:
        time.sleep(float(sys.argv[2]))
    call(x)
print('trained')
''')
# The functions are defined after jax was imported, and called as soon as they are there.
(FOLDER / 'script.py').write_text('''import sys
import jax, jax.numpy as jnp
import functools, json, decimal
x = jnp.ones((64, 64))

@jax.jit
def other(x):
    return x + 1

def plain(x):
    return other(x).block_until_ready()
def at_once(x):
    return other(x).block_until_ready()
at_once(x)

@jax.jit
def train_step(x):
    return (x @ x).sum()

@functools.partial(jax.jit, static_argnums=1)
def partly(x, n):
    return x * n

class Model:
    def fit(self, x):
        return train_step(x).block_until_ready()

def main():
    def inner(x):
        return other(x).block_until_ready()
    global made_in_main
    made_in_main = inner
    held = train_step
    for i in range(3):
        other(x).block_until_ready()
        plain(x)
        held(x).block_until_ready()
        partly(x, 2).block_until_ready()
        Model().fit(x)
        made_in_main(x)

if __name__ == '__main__':
    main()
    print('trained', type(train_step.lower(x)).__name__, train_step.__name__, other(3))
''')


def wrapped(name, program, *words, asked=None, **more):
    run = Capture(['--wrap', name, '--range', asked or name, '--max', 1], [PYTHON, *program, *words], cwd=FOLDER, **more).wait()
    return run, profile(run)


def example():
    """The manual's example, word for word."""
    manual = (SOURCE / 'man' / 'idsprof-capture.1').read_text()
    words = re.search(r'^\.Dl idsprof capture (--wrap .*)\\-\\- python train.py$', manual, re.M)[1].split()
    run = Capture(words, [PYTHON, 'train.py'], cwd=FOLDER).wait()
    found = profile(run)
    check('the example of the manual: one call of evaluate', run.out == 'trained\n' and found and found.names['evaluate'] == 1 and
          len(run.files()) == 1, (run.out, run.err))
    check('the example of the manual: nothing missed', run.missed_nothing(), run.err)
    # The 20 executions before it are not in the window.
    ops = found and {name: count for name, count in found.names.items() if 'Execute' in name or 'dot' in name}
    check('the example of the manual: its one execution', ops and set(ops.values()) == {1}, found and found.names)


def modules():
    for name, call in (('model:jitted', 'model.jitted'), ('model:Trainer.fit', 'model.Trainer().fit'), ('model:Trainer.still', 'model.Trainer.still'),
                       ('model:Better.fit', 'model.Better().fit')):
        run, found = wrapped(name, ['train.py'], call)
        check('%s: one call' % name, run.out == 'trained\n' and found and found.names[name.partition(':')[2]] == 1, run.err)
    run, found = wrapped('model:later', ['train.py'], 'lambda x: model.later(x)', '1')
    check('model:later, made while the program runs: one call', run.out == 'trained\n' and found and found.names['later'] == 1, run.err)
    run, found = wrapped('model:jitted', ['train.py'], asked='jitted')
    check('--range by the name alone', found and found.names['jitted'] == 1, run.err)


def script():
    out = subprocess.run([PYTHON, 'script.py'], capture_output=True, text=True, cwd=FOLDER).stdout
    for name, path in (('plain', ()), ('at_once', ()), ('train_step', ()), ('partly', ()), ('Model.fit', ()), ('made_in_main', ()), ('plain', ('-m',))):
        program = ['-m', 'script'] if path else ['script.py']
        run, found = wrapped('__main__:' + name, program)
        check('__main__:%s%s: one call' % (name, ' of python -m' if path else ''), found and found.names[name] == 1 and len(run.files()) == 1, run.err)
        check('__main__:%s: the program is as it was' % name, run.code == 0 and run.out == out, (run.out, out))
    run, found = wrapped('script:train_step', ['script.py'])
    check('script:train_step: by the name of its file', found and found.names['train_step'] == 1, run.err)
    run = Capture(['--wrap', '__main__:plain', '--range', '__main__:plain'],
                  [PYTHON, '-c', 'import sys; sys.settrace(lambda *a: None)\nimport runpy; runpy.run_path("script.py", run_name="__main__")'],
                  cwd=FOLDER).wait()
    check('a program that traces itself: as it was', run.code == 0 and run.out == out, (run.out, run.err))


def refused():
    run, found = wrapped('__main__:nothing', ['script.py'])
    check('never found', run.line('missed') == '--wrap: never found: __main__:nothing', run.err)
    for name, what in (('model:Trainer', 'a class; name a method of it'), ('model:soon', 'a coroutine')):
        run, found = wrapped(name, ['train.py'])
        check('%s is not annotated' % name, run.line('missed') == '--wrap: %s cannot be annotated: it is %s' % (name, what), run.err)


def code_of_c():
    """jax's own import reads numpy's ufuncs as memory; a model that can be called is a tree for jax."""
    program = FOLDER / 'tree.py'
    program.write_text('''import numpy
import dataclasses, functools, jax, jax.numpy as jnp
@functools.partial(jax.tree_util.register_dataclass, data_fields=['w'], meta_fields=[])
@dataclasses.dataclass
class Model:
    w: jax.Array
    def __call__(self, x):
        return x @ self.w
model = Model(jnp.ones((4, 4)))
step = jax.jit(lambda model, x: model.w + x)
for _ in range(3):
    step(model, model(numpy.add(numpy.ones((4, 4)), 1))).block_until_ready()
print(type(model).__name__, isinstance(model, Model))
''')
    out = 'Model True\n'
    for name, what in (('numpy:add', 'an object of numpy.ufunc, which other code may use in other ways than by calling it'),
                       ('numpy:ndarray.sum', 'of numpy.ndarray, a type of C code, which cannot be changed')):
        run, found = wrapped(name, ['tree.py'])
        check('%s: the program is as it was' % name, run.code == 0 and run.out == out, (run.out, run.err))
        check('%s: why it is not annotated' % name, run.line('missed') == '--wrap: %s cannot be annotated: it is %s' % (name, what), run.err)
    run, found = wrapped('__main__:model', ['tree.py'])
    check('an object that jax knows: the program is as it was', run.code == 0 and run.out == out, (run.out, run.err))
    check('an object that jax knows: one call', found and found.names['model'] == 1, run.err)
    run, found = wrapped('numpy:ones', ['tree.py'])
    check('a function in C: one call', run.out == out and found and found.names['ones'] == 1, run.err)


def sleeps():
    """The stacks say more than the region of the call."""
    (FOLDER / 'sleeps.py').write_text('''import time
import jax, jax.numpy as jnp
step, x = jax.jit(lambda x: x + 1), jnp.ones(4)
class Trainer:
    @staticmethod
    def pause():
        time.sleep(.02)
for _ in range(30):
    step(x).block_until_ready()
    Trainer.pause()
''')
    run = Capture(['--wrap', '__main__:Trainer.pause', '-s', 10], [PYTHON, 'sleeps.py'], cwd=FOLDER).wait()
    advice = [piece['what'] for piece in report(run.files()[0])['advice']]
    check('what the call does is told, not its region', any('Trainer.pause (sleeps.py:7, in time.sleep)' in what for what in advice), advice)


CASES = [sleeps, example, modules, script, refused, code_of_c]


def main():
    live.need_jax()
    return live.run_cases(CASES, at_once=2)


if __name__ == '__main__':
    sys.exit(main())
