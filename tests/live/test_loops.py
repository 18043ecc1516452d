#!/usr/bin/env python3
"""Loops that are no loop of calls of a jitted function, with real JAX on the CPU: pmap, and op by op. What capture counts as steps is what
the report counts.

    test_loops.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import re
import sys

import test_capture as live
from test_capture import ROOT, capture, check, profile

PMAP = ROOT / 'pmap.py'
PMAP.write_text('''import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'
import jax, jax.numpy as jnp
def update(w, x):
    return w - 0.001 * jnp.tanh(x @ w)
step, w, x = jax.pmap(update), jnp.ones((2, 64, 64)), jnp.ones((2, 64, 64))
for i in range(40):
    w = step(w, x)
print(bool(jnp.isfinite(w).all()))
''')
EAGER = ROOT / 'eager.py'
EAGER.write_text('''import jax.numpy as jnp
w, x = jnp.ones((64, 64)), jnp.ones((64, 64))
for i in range(40):
    w = w - 0.001 * jnp.tanh(x @ w)
print(bool(jnp.isfinite(w).all()))
''')
# Ops that initialise are called more often than those of the loop, and one comes when it is over.
AROUND = ROOT / 'around.py'
AROUND.write_text('''import time, jax, jax.numpy as jnp
first = jax.jit(lambda w: w * 2)
w, x = jnp.ones((64, 64)), jnp.ones((64, 64))
for i in range(900):
    jnp.exp(x)
w = first(w)
for i in range(40):
    w = jnp.tanh(x @ w)
    time.sleep(.02)
print(float(w[0, 0]) > 0)
''')
ANEW = ROOT / 'anew.py'
ANEW.write_text('''import jax, jax.numpy as jnp
class Trainer:
    w = jnp.ones((64, 64))
    def loss(self, w):
        return jnp.tanh(w).sum()
    def fit(self):
        self.w = self.w - 0.01 * jax.jit(jax.grad(self.loss))(self.w)
trainer = Trainer()
for i in range(40):
    trainer.fit()
print(bool(jnp.isfinite(trainer.w).all()))
''')
PARTIAL = ROOT / 'partial.py'
PARTIAL.write_text('''import functools, jax, jax.numpy as jnp
def update(w, rate):
    return w - rate * jnp.tanh(w @ w)
step, w = jax.jit(functools.partial(update, rate=.001)), jnp.ones((64, 64))
for i in range(40):
    w = step(w)
print(bool(jnp.isfinite(w).all()))
''')
# How functions are made in the loop; each has one name, and is called as often as there are steps.
MADE = {'in place': 'w = jax.jit(lambda w: w * .9)(w)', 'in place of the one before': 'f = jax.jit(lambda w: w * .9); w = f(w)',
        'of a method': 'w = jax.jit(jax.value_and_grad(trainer.loss))(w)[1]', 'and kept': 'kept.append(jax.jit(lambda w: w * .9)); w = kept[-1](w)',
        'in a cycle': 'trainer = Trainer(); trainer.me, trainer.f = trainer, jax.jit(trainer.loss); trainer.f(w)',
        'three at a time': 'for f in [jax.jit(lambda w: w * .9) for _ in range(3)]: w = f(w)', 'once': 'for f in made: w = f(w)'}
LOOP_OF_NEW = '''import jax, jax.numpy as jnp
class Trainer:
    def loss(self, w): return jnp.tanh(w).sum()
trainer, w, kept, made = Trainer(), jnp.ones((8, 8)), [], [jax.jit(lambda w: w * .9) for _ in range(3)]
for i in range(24):
    %s
    jax.block_until_ready(w)
print(bool(jnp.isfinite(w).all()))
'''
SERVER = ROOT / 'server.py'
SERVER.write_text('''import concurrent.futures, json
import numpy as np, jax, jax.numpy as jnp
infer, w, x = jax.jit(lambda w, x: jnp.tanh(x @ w)), jnp.ones((256, 256)) * .01, jnp.ones((64, 256))
def serialise(y):
    return json.dumps(np.asarray(y).tolist())
def request(number):
    return len(serialise(infer(w, x)))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    print(sum(pool.map(request, range(60))) > 0)
''')
THREADS = ROOT / 'threads.py'
THREADS.write_text('''import threading, time, jax, jax.numpy as jnp
x = jnp.ones((80, 80))
def work(number):
    f = jax.jit(lambda x: jnp.sin(x) * number) if number else answer
    for i in range(150):
        f(x).block_until_ready()
        time.sleep(.001)
answer = jax.jit(lambda x: jnp.tanh(x @ x))
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 0, 1, 2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(True)
''')
# A loop of 12 ms a step, and what is called more often: before it, in each epoch, or several times a turn.
TRAINS = '''import sys, time, jax, jax.numpy as jnp
@jax.jit
def train_step(w): return w - 0.01 * jnp.tanh(w @ w)
@jax.jit
def make(i): return jnp.ones((64, 64)) * i
@jax.jit
def eval_step(w): return jnp.tanh(w).sum()
@jax.jit
def add(g, w): return g + jnp.tanh(w @ w)
@jax.jit
def apply(w, g): return w - 1e-3 * g
w = jnp.ones((64, 64))
for i in range(300 if sys.argv[1] == 'make' else 0):
    make(i).block_until_ready()
for i in range(200):
    for _ in range({'add': 4, 'solve': 60}.get(sys.argv[1], 0)):
        w = add(w, w)
    w = (apply(w, w) if sys.argv[1] in ('add', 'solve') else train_step(w)).block_until_ready()
    for _ in range(100 if sys.argv[1] == 'evaluate' and i % 20 == 19 else 0):
        eval_step(w).block_until_ready()
    time.sleep(.012)
print(bool(jnp.isfinite(w).all()))
'''
IDLE = ROOT / 'idle_steps.py'
IDLE.write_text('''import jax, jax.numpy as jnp
step, x = jax.jit(lambda x: (x @ x).sum()), jnp.ones((64, 64))
for i in range(40):
    with jax.profiler.StepTraceAnnotation('train', step_num=i):
        if i % 2 == 0:
            step(x).block_until_ready()
''')


TURNS = ROOT / 'turns.py'           # op by op: 6 times matmul and tanh and once a sum in a turn; and a function of the name of another
TURNS.write_text('''import jax, jax.numpy as jnp, sys
def same(x):
    return x + 1
def other():
    def same(x):
        return x * 2
    return same
one, two = jax.jit(same), jax.jit(other())
w, x = jnp.ones((64, 64)), jnp.ones((64, 64)) / 64
for i in range(60):
    if sys.argv[1] == 'ops':
        for _ in range(6):
            w = jnp.tanh(jnp.matmul(w, x))
        w.sum().block_until_ready()
    else:
        two(one(one(one(x)))).block_until_ready()
        jnp.sin(x).block_until_ready()
print(bool(jnp.isfinite(w).all()))
''')


def steps_of_report(run):
    text = re.sub(r'\s+', ' ', live.idsprof('report', run.folder).stdout)
    found = re.search(r'(\d+) steps \(each a call of ([\w<>]+), (\d+)\W(\d+)', text)
    return found and (found[2], int(found[1]), int(found[3]), int(found[4]))


def pmap():
    run = capture(['-s', 20, '-k', 4], program=PMAP)
    found = profile(run)
    check('pmap: the program is as it was', (run.code, run.out) == (0, 'True\n'), run.err)
    check('pmap: each call is a step', found and [number for _, number in found.steps] == [20, 21, 22, 23], (found and found.steps, run.err))
    check('pmap: by the name of its function', steps_of_report(run) == ('update', 4, 20, 23), steps_of_report(run))
    check('pmap: capture says the same', run.line('caught').startswith('steps 20-23 (executions'), run.err)


def anew():
    """Each step jits its function anew: one call of each of 40 functions, all of the same code."""
    run = capture(['-s', 20, '-k', 4], program=ANEW)
    check('made anew: the program is as it was', (run.code, run.out) == (0, 'True\n'), run.err)
    check('made anew: each call is a step', steps_of_report(run) == ('loss', 4, 20, 23), (steps_of_report(run), run.err))
    check('made anew: capture says the same', run.line('caught').startswith('steps 20-23 (executions'), run.err)


def partial():
    """A partial has no name; what it is made of has."""
    run = capture(['-s', 20, '-k', 4], program=PARTIAL)
    check('a partial: by the name of its function', steps_of_report(run) == ('update', 4, 20, 23), (steps_of_report(run), run.err))
    check('a partial: capture says the same', run.line('caught').startswith('steps 20-23 (executions of update)'), run.err)


def eager():
    run = capture(['-s', 20, '-k', 4], program=EAGER)
    check('op by op: the program is as it was', (run.code, run.out) == (0, 'True\n'), run.err)
    check('op by op: said', run.line('missed').startswith('the program ended without a step: it runs op by op ('), run.err)
    ops = re.search(r'op by op \((.*)\)', run.line('missed'))
    check('op by op: with ops of the loop', ops and set(ops[1].split(', ')) <= {'tanh', 'matmul', 'subtract', 'multiply', 'isfinite'},
          run.err)
    remedy = re.search(r"--step-executable '\^(\w+)\$' counts", run.line('next'))
    check('op by op: what to do', remedy and remedy[1] in ops[1], run.err)
    run = capture(['-s', 20, '-k', 4, '--step-executable', '^tanh$'], program=EAGER)
    found = profile(run)
    check('op by op: each call of the op is a step', found and [number for _, number in found.steps] == [20, 21, 22, 23], run.err)
    check('op by op: the report counts alike', steps_of_report(run) == ('tanh', 4, 20, 23), steps_of_report(run))
    run = capture(['-s', 5, '-k', 2], 12, 'annotate')
    check('a loop of a jitted function says nothing of ops', 'op by op' not in run.err and 'op by op' not in run.facts(), run.facts())


def turns():
    """What is proposed counts turns of the loop, where an op comes once in each; and where the steps are calls of another one, that is said."""
    def program(kind):
        path = ROOT / ('turns_%s.py' % kind)
        path.write_text(TURNS.read_text().replace('sys.argv[1]', repr(kind)))
        return path
    ops = program('ops')
    run = capture(['-s', 20, '-k', 4], program=ops)
    then = re.search(r"--step-executable '(\^\w+\$)' counts turns of the loop", run.line('next'))
    check('turns: what comes once in each is proposed', then and then[1] not in ('^matmul$', '^tanh$') and 'matmul' in run.line('missed'), run.err)
    run = capture(['-s', 20, '-k', 4, '--step-executable', then[1] if then else 'none'], program=ops)
    check('turns: these are the steps', steps_of_report(run) == (then and then[1][1:-1], 4, 20, 23) and 'comes with' not in run.line('caught'), run.err)
    run = capture(['-s', 30, '-k', 4, '--step-executable', '^tanh$'], program=ops)
    words = r"executions of tanh; %s comes with one of 6: --step-executable '%s' counts turns" % (then[1][1:-1], then[1]) if then else 'none'
    check('turns: six calls of the op are one', words in re.sub(r'\s+', ' ', run.line('caught')), run.err)
    run = capture(['-s', 60, '-k', 4, '--step-executable', '^same$'], program=program('names'))
    check('turns: one that has the same name is not proposed', 'executions of same' in run.line('caught') and "'^same$' counts" not in run.err, run.err)
    check('turns: nor by the report', "'^same$' counts" not in live.idsprof('report', run.folder).stdout)


def made_anew():
    for kind, code in MADE.items():
        program = ROOT / ('anew_%s.py' % kind.replace(' ', '_'))
        program.write_text(LOOP_OF_NEW % code)
        run = capture(['-s', 10, '-k', 4], program=program)
        found = profile(run)
        check('made %s: the program is as it was' % kind, (run.code, run.out) == (0, 'True\n'), run.err)
        check('made %s: each turn of the loop is a step' % kind, found and [number for _, number in found.steps] == [10, 11, 12, 13] and
              run.missed_nothing(), (found and found.steps, run.err))


def disagreement():
    """Steps in which no device works are counted by capture, and not seen in the profile."""
    run = capture(['-s', 20], program=IDLE)
    words = 'capture counted 5 steps (20 to 24) in this window, and the profile shows'
    check('a disagreement is said by capture', run.line('steps').startswith(words), run.err)
    warned = re.sub(r'\s+', ' ', live.idsprof('report', run.folder).stdout)
    check('a disagreement is said by the report, in the same words', run.line('steps') and run.line('steps') in warned, (run.err, warned[-600:]))
    run = capture(['-s', 5], 15, 'annotate')
    check('where both agree nothing is said', run.line('steps') == '' and 'capture counted' not in live.idsprof('report', run.folder).stdout, run.err)


def around():
    """What capture proposes where it caught nothing leads to a window of the loop."""
    run = capture([], program=AROUND)
    check('around: a function that runs once', run.line('missed').startswith('the program ended after step 0 (executions of <lambda>)'), run.err)
    then = re.search(r"again, with --step-executable '(\^(?:matmul|tanh)\$)' --start-step (34),", run.line('next'))
    check('around: the loop has others', then, run.err)
    run = capture(['--step-executable', then[1], '--start-step', then[2]] if then else [], program=AROUND)
    check('around: and they are its steps', run.line('caught').startswith('steps 34-38 (executions of %s), 1 window' % then[1][1:-1] if then else 'x'), run.err)
    check('around: the report counts alike', steps_of_report(run) == (then and then[1][1:-1], 5, 34, 38), steps_of_report(run))
    run = capture(['--step-executable', '^squeeze$'], program=AROUND)
    check('around: nor is an op that runs once a loop', "again, with --step-executable '^" in run.line('next') and '--start-step 34' in run.line('next'), run.err)
    run = capture(['--step-executable', ')'], program=AROUND)
    check('around: a pattern of one program is one of the other', run.line('missed').startswith("--step-executable ')' matched no function that the program ran ("),
          run.err)


def server():
    run = capture(['-s', 40], program=SERVER)
    check('threads of a server: the program is as it was', (run.code, run.out) == (0, 'True\n'), run.err)
    check('threads of a server: capture and report count alike', steps_of_report(run) == ('<lambda>', 5, 40, 44) and not run.line('steps'),
          (steps_of_report(run), run.err))
    check('threads of a server: what they do', 'serialise' in live.idsprof('report', run.folder).stdout.partition('WHAT TO DO')[2])


def threads():
    run = capture(['-s', 40, '-k', 10], program=THREADS)
    check('threads: the program is as it was', (run.code, run.out) == (0, 'True\n'), run.err)
    check('threads: steps follow one another', run.line('caught').startswith('steps 40-49 (executions of <lambda>), 1 window'), run.err)
    check('threads: capture and report count alike', steps_of_report(run) == ('<lambda>', 10, 40, 49) and not run.line('steps'),
          (steps_of_report(run), run.err))


def called_more_often():
    def often(kind, *options):
        program = ROOT / ('often_%s.py' % kind)
        program.write_text(TRAINS.replace('sys.argv[1]', repr(kind)))
        return capture(list(options), program=program)
    run = often('make', '-s', 120)
    check('what initialises: the loop has a window too', run.line('caught').startswith('steps 120-124 (executions of make), 120-124 (executions of train_step), 2 windows'),
          run.err)
    check('what initialises: the report is of the loop', steps_of_report(run) == ('train_step', 5, 120, 124), steps_of_report(run))
    run = often('evaluate', '-s', 120)
    check('what evaluates has no steps', run.line('caught').startswith('steps 120-124 (executions of train_step), 1 window'), run.err)
    run = often('add', '-s', 120)
    words = re.sub(r'\s+', ' ', live.idsprof('report', run.folder).stdout)
    solves = often('solve', '-s', 120)      # nine turns of 60 calls come after its window
    check('sixty calls a turn: known at the end', '(executions of add; apply comes with one of 60' in re.sub(r'\s+', ' ', solves.line('caught')), solves.err)
    advice = re.sub(r'\s+', ' ', live.idsprof('report', solves.folder).stdout.partition('WHAT TO DO')[2])
    check('sixty calls a turn: none is slow', 'apply is called with one of 60 steps' in advice and 'in a rhythm' not in advice, advice[:900])
    check('four calls a turn: whole turns', 'apply comes with one of 4 steps (the 4 that are measured are 1 turn)' in words, (run.err, words[:600]))


CASES = [called_more_often, pmap, anew, partial, eager, turns, around, made_anew, disagreement, server, threads]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
