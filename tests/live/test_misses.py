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
PROGRAM.write_text('''import dataclasses, functools, os, sys
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

@functools.partial(jax.tree_util.register_dataclass, data_fields=['w'], meta_fields=['step', 'name'])
@dataclasses.dataclass
class State:
    w: jax.Array
    step: int
    name: str = 'same'

@jax.tree_util.register_pytree_node_class
class Packed:
    def __init__(self, w, bits):
        self.w, self.bits = w, bits
    def tree_flatten(self):
        return (self.w,), self.bits
    @classmethod
    def tree_unflatten(cls, bits, children):
        return cls(*children, bits)

@jax.jit
def held(tree, x):
    return sum((leaf @ x).sum() for leaf in jax.tree_util.tree_leaves(tree))

def doubled(x):
    return (x * 2).sum()

def made(k):
    return jax.jit(lambda x: (x * k).sum())

mapped = jax.pmap(lambda y: y.sum(), devices=jax.devices()[:2])
severals = [made(k) for k in range(12)]
pairs = {'none': {'w': jnp.ones((8, 8)), 'ema': None}, 'leaf': {'w': jnp.ones((8, 8)), 'ema': jnp.ones((8, 8))}}
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
        elif what == 'field':
            out = held({'state': [State(params['w'], i)]}, x)
        elif what == 'metadata':
            out = held((Packed(params['w'], i), x.T), x)
        elif what == 'none':
            out = held({'a': pairs[('leaf', 'none')[i % 2]], 'b': [params['w']] * (i // 2)}, x)
        elif what == 'list':
            out = held({'a': (list, tuple)[i % 2](params['w'] for _ in range(i // 2 + 1))}, x)
        elif what == 'options':
            out = jax.jit(doubled, donate_argnums=() if i < 4 else 0, keep_unused=bool(i % 2), compiler_options={'xla_cpu_enable_fast_math': i > 7})(x + 0)
        elif what == 'op':
            out = jnp.ones((3, 5 + i))
        elif what == 'own cache':
            score.clear_cache()
            out = score(params, x)
        elif what == 'several':
            out = severals[i](x)
        elif what == 'scan':
            out, _ = jax.lax.scan(lambda c, row: (c * 0.9 + row.sum(), None), jnp.float32(0), x)
        elif what == 'mapped':
            out = mapped(np.ones((2, 4 + i), np.float32))
        elif what == 'first':
            out = score(params, x) if i != 6 else jax.jit(loss)(1, params, x)
        out.block_until_ready()
print('trained')
''')

# what is planted: (function, how the reason begins, what the advice says)
REASONS = {
    'shape': ('score', 'shape: x f32[8,', 'pad the argument'),
    'tree': ('score', "arguments: params['v", 'the same arguments in each step'),
    'dtype': ('score', 'dtype: x ', 'one dtype'),
    'weak': ('weakly', 'weak type: extra f32[] -> f32[] weak', 'one dtype'),
    'static': ('score', 'static argument: n ', 'not as a static argument'),
    'name': ('score', "static argument: mode 'mode ", 'not as a static argument'),
    'lambda': ('<lambda>', 'new function object: misses.py:', 'once outside the loop'),
    'partial': ('loss', 'new function object: misses.py:', 'once outside the loop'),
    'sharding': ('score', 'sharding: x cpu:', 'out_shardings'),
    'spec': ('sharded', 'sharding: y P(', 'out_shardings'),
    'field': ('held', "static field: tree['state'][0].step ", 'not as a static argument or field'),
    'metadata': ('held', 'static field: tree[0] (metadata) ', 'not as a static argument or field'),
    'op': ('broadcast_in_dim', 'shape: shape (3, ', 'pad the argument'),
    'own cache': ('score', 'same arguments: nothing else that idsprof knows has changed', 'leave its clear_cache() out of the loop'),
    'none': ('held', ("structure: tree['a']['ema'] f32[8,8] -> None", "arguments: tree['b']["), 'the same arguments in each step'),
    'list': ('held', "structure: tree['a'] ", 'the same arguments in each step'),
    'options': ('doubled', 'options of jit: ', 'keep shapes, dtypes'),
    'scan': ('scan', 'new function object: jaxpr of a function that is made anew at each call', 'once outside the loop'),
    'mapped': ('<lambda>', 'shape: y f32[2,', 'pad the argument'),
    'cleared': ('score', "same arguments: jax's caches were cleared", 'leave jax.clear_caches() and clear_cache() out of the loop'),
}

LEAST = {'spec': 4, 'options': 2}       # compilations of the window
NONE = {'first': 'loss', 'several': '<lambda>'}         # compiled for the first time in the window


def planted(what):
    function, begins, remedy = REASONS[what]
    run = capture(['-s', 4, '-k', 6], what, program=PROGRAM)
    check('%s: the program prints what it prints alone' % what, run.code == 0 and run.out == 'trained\n', (run.out, run.err))
    read = report(run.folder, '--top', 0)
    table = read['tables'].get('compiles', {'rows': [], 'columns': []})
    place = {column['id'] if isinstance(column, dict) else column: n for n, column in enumerate(table['columns'])}
    reasons = [row[place['reason']] for row in table['rows'] if row[place['function']] == function]
    check('%s: each compilation of the window has its reason' % what, len(reasons) >= LEAST.get(what, 5) and
          all(reason and reason.startswith(begins) for reason in reasons), reasons)
    said = [advice for advice in read.get('advice', []) if advice.get('account') == 'host.compile' and advice['culprit'] == function]
    check('%s: the advice knows it' % what, said and remedy in said[0]['what'] and '; why again: ' in said[0]['evidence'], said)


def first(what):
    run = capture(['-s', 4, '-k', 6], what, program=PROGRAM)
    table = report(run.folder)['tables'].get('compiles', {'rows': [], 'columns': []})
    place = {column['id'] if isinstance(column, dict) else column: n for n, column in enumerate(table['columns'])}
    rows = [row for row in table['rows'] if row[place['function']] == NONE[what]]
    check('%s: a first compilation has no reason' % what, len(rows) >= 1 and all(row[place['reason']] is None for row in rows), rows)


CASES = {**{what: lambda what=what: planted(what) for what in REASONS}, **{what: lambda what=what: first(what) for what in NONE}}


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
