#!/usr/bin/env python3
"""What sampled stacks say of a program that waits, with real JAX on the CPU: for the next line of a pipe, for Python's lock, and for time to
pass, by whatever name it calls that; and that they do not say so of one that does not wait for it. And who calls what waits, and what a launch runs.

    test_sampled_waits.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import sys

import test_capture as live
from test_capture import ROOT, capture, check

LOOP = '''import ctypes, io, subprocess, sys, threading, time
from time import sleep as nap
import jax, jax.numpy as jnp
step, x = jax.jit(lambda x: jnp.tanh(x @ x)), jnp.ones((64, 64))
WRITE = "import time\\nfor i in range(120):\\n    time.sleep(0.01)\\n    print(i, flush=True)"
class Counted:
    def __iter__(self):
        return map(sum, (range(200000) for _ in range(120)))
def score_records():
    count = 0
    while True:
        for i in range(1000):
            count += i & 7
def beat():
    while True:
        time.sleep(0.001)
libc, pages = ctypes.CDLL(None), io.BytesIO(bytes(30000000))
def pause(i):
    nap(0.01)
def pause_in_c(i):
    libc.usleep(10000)
def take(i):
    pages.seek(0)
    return pages.read(25000000)
class Options:
    sizes = list(range(60000))
    def __hash__(self):
        return hash(tuple(self.sizes[::-1])) if max(self.sizes) else 0
    def __eq__(self, other):
        return True
def fit_options(options):
    global x
    tuned = jax.jit(lambda x, options: jnp.tanh(x @ x), static_argnums=1)
    for i in range(120):
        x = tuned(x, options)
        x.block_until_ready()
def fit(items):
    global x
    for item in items:
        x = step(x)
        x.block_until_ready()
if sys.argv[1] in ('score_records', 'beat'):
    threading.Thread(target=globals()[sys.argv[1]], daemon=True).start()
    fit(range(300))
elif sys.argv[1] == 'read':
    fit(subprocess.Popen([sys.executable, '-c', WRITE], stdout=subprocess.PIPE).stdout)
elif sys.argv[1] == 'hash':
    fit_options(Options())
elif sys.argv[1] in ('pause', 'pause_in_c', 'take'):
    fit(map(globals()[sys.argv[1]], range(120)))
else:
    fit(Counted())
print('done')
'''
WAITS = ROOT / 'waits.py'
WAITS.write_text(LOOP)


def rows_of(tables, name):
    table = tables.get(name, {'columns': [], 'rows': []})
    return [dict(zip([column['id'] for column in table['columns']], row)) for row in table['rows']]


def tables(*words):
    run = capture(['-s', 30, '-k', 40], *words, program=WAITS)
    check('%s: the program is as it was' % words[0], (run.code, run.out) == (0, 'done\n'), run.err)
    return live.report(run.folder)['tables']


def places_in(tables):
    """Where the time of Python goes, what has most of it first."""
    return [(row['culprit'], row['where'] or '') for row in rows_of(tables, 'ledger')
            if row['account'] == 'host.python' and row['culprit'] != 'wait_for_core']


def places(*words):
    return places_in(tables(*words))


def read():
    found = places('read')
    check('a loop over a pipe reads', found and found[0][0] == 'fit' and found[0][1].endswith(', in io.read'), found)
    found = places('count')
    check('a loop over what is computed does not', found and not any('io.read' in where for _, where in found), found)


def lock():
    found = places('score_records')
    check("another thread has Python's lock", found and found[0][0] == 'score_records' and "has Python's lock" in found[0][1], found)
    found = places('beat')
    check('one that sleeps does not', not any(culprit == 'beat' for culprit, _ in found), found)


def names():
    for function, call in (('pause', 'in nap (sleeps)'), ('pause_in_c', 'in libc.usleep (sleeps)'), ('take', 'in pages.read (does not wait)')):
        told = tables(function)
        found, callers = places_in(told), [row['caller'] for row in rows_of(told, 'callers') if row['culprit'] == function]
        check('%s: what it does, whatever its name is' % function, found and found[0][0] == function and found[0][1].endswith(call), found)
        check('%s: its caller' % function, callers[:1] == ['fit'], callers)


def hashed():
    """What the call of a jitted function runs of the program's, before it launches."""
    found = [place for place in places('hash') if place[0] != 'fit_options']
    check('the hash of a static argument', found and found[0][0] == 'Options.__hash__', found)


CASES = [read, lock, names, hashed]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
