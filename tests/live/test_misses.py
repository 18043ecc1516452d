#!/usr/bin/env python3
"""Why functions are compiled again, with real JAX on the CPU: each planted reason is in the report's tables and in its advice, the program
prints what it prints alone, and a first compilation has no reason. How jax's versions differ: idsprof_misses.py.

    test_misses.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import test_capture as live
from test_capture import PYTHON, ROOT, capture, check, report

PROGRAM = ROOT / 'misses.py'
PROGRAM.write_text('''import functools, os, sys
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=12'
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
what = sys.argv[1]
mesh, other = (Mesh(np.array(jax.devices()[:n]), ('d',)) for n in (12, 6))

@functools.partial(jax.jit, static_argnums=2, static_argnames='mode')
def score(params, x, n=1, mode='a', extra=None):
    return sum((p @ x).sum() for p in params.values()) * n

def loss(n, params, x):
    return (params['w'] @ x).sum() * n

def make():
    @jax.jit
    def weakly(params, x, extra):
        return (params['w'] @ x).sum() + extra
    return weakly

@jax.jit
def sharded(y):
    return y.sum()

TYPES = 'int8 int16 int32 uint8 uint16 uint32 bfloat16 float16 bool complex64 float32 float32'.split()
scores, y = [make() for _ in range(12)], np.ones((12,) * 5, np.int8)
params, x = {'w': jnp.ones((8, 8))}, jnp.ones((8, 4))
score(params, x).block_until_ready()
for function in scores:
    function(params, x, jnp.float32(1)).block_until_ready()
for i in range(12):
    with jax.profiler.StepTraceAnnotation('train', step_num=i):
        if what == 'shape':
            out = score(params, np.ones((8, 4 + i), np.float32))
        elif what == 'tree':
            out = score({**params, 'v%d' % i: params['w']}, x)
        elif what == 'dtype':
            out = score(params, x.astype(TYPES[i]))
        elif what == 'weak':
            out = scores[i](params, x, 1.0)
        elif what == 'static':
            out = score(params, x, i)
        elif what == 'name':
            out = score(params, x, mode='mode %d' % i)
        elif what == 'lambda':
            out = jax.jit(lambda p, x: (p['w'] @ x).sum())(params, x)
        elif what == 'partial':
            out = jax.jit(functools.partial(loss, i))(params, x)
        elif what == 'sharding':
            out = score(params, jax.device_put(x, jax.devices()[i]))
        elif what == 'spec':
            out = sharded(jax.device_put(y, NamedSharding(mesh if i < 7 else other, P(*[None] * (i % 5), 'd'))))
        elif what == 'cleared':
            jax.clear_caches()
            out = score(params, x)
        elif what == 'first':
            out = score(params, x) if i != 6 else jax.jit(loss)(1, params, x)
        out.block_until_ready()
print('trained')
''')

# what is planted: (function, how the reason begins, what the advice says)
REASONS = {
    'shape': ('score', 'shape: x f32[8,', 'pad the argument'),
    'tree': ('score', "arguments: params['v", 'keep shapes, dtypes'),
    'dtype': ('score', 'dtype: x ', 'one dtype'),
    'weak': ('weakly', 'weak type: extra f32[] -> f32[] weak', 'one dtype'),
    'static': ('score', 'static argument: n ', 'not as a static argument'),
    'name': ('score', "static argument: mode 'mode ", 'not as a static argument'),
    'lambda': ('<lambda>', 'new function object: misses.py:', 'once outside the loop'),
    'partial': ('loss', 'new function object: misses.py:', 'once outside the loop'),
    'sharding': ('score', 'sharding: x cpu:', 'out_shardings'),
    'spec': ('sharded', 'sharding: y P(', 'out_shardings'),
    'cleared': ('score', "same arguments: jax's caches were cleared", 'keep shapes, dtypes'),
}


def planted(what):
    function, begins, remedy = REASONS[what]
    run = capture(['-s', 4, '-k', 6], what, program=PROGRAM)
    check('%s: the program prints what it prints alone' % what, run.code == 0 and run.out == 'trained\n', (run.out, run.err))
    read = report(run.folder, '--top', 0)
    table = read['tables'].get('compiles', {'rows': [], 'columns': []})
    place = {column['id'] if isinstance(column, dict) else column: n for n, column in enumerate(table['columns'])}
    reasons = [row[place['reason']] for row in table['rows'] if row[place['function']] == function]
    check('%s: each compilation of the window has its reason' % what, len(reasons) >= (4 if what == 'spec' else 5) and
          all(reason and reason.startswith(begins) for reason in reasons), reasons)
    said = [advice for advice in read.get('advice', []) if advice.get('account') == 'host.compile' and advice['culprit'] == function]
    check('%s: the advice knows it' % what, said and remedy in said[0]['what'] and '; why again: ' in said[0]['evidence'], said)


def first():
    run = capture(['-s', 4, '-k', 6], 'first', program=PROGRAM)
    table = report(run.folder)['tables'].get('compiles', {'rows': [], 'columns': []})
    place = {column['id'] if isinstance(column, dict) else column: n for n, column in enumerate(table['columns'])}
    rows = [row for row in table['rows'] if row[place['function']] == 'loss']
    check('a first compilation has no reason', len(rows) == 1 and rows[0][place['reason']] is None, rows)


CASES = {**{what: lambda what=what: planted(what) for what in REASONS}, 'first': first}


def run_case(name):
    try:
        CASES[name]()
    except Exception as error:          # a case that breaks must not hide the others
        check('%s: %s: %s' % (name, type(error).__name__, error), False)


def main():
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode != 0:
        live.absent('%s has no jax (tests/requirements.txt)' % PYTHON)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run_case, [name for name in CASES if not sys.argv[1:] or name in sys.argv[1:]]))
    print('%d failures' % len(live.failures))
    return bool(live.failures)


if __name__ == '__main__':
    sys.exit(main())
