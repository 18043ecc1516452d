#!/usr/bin/env python3
"""The cost model against XLA: programs are compiled here for the CPU, and `idsprof dump --hlo` of each must count what
compiled.cost_analysis() counts: operations of dots and convolutions within 1 %, bytes within 10 %.

XLA counts a loop's body once. A loop is compared with the same program without loops (jax.lax.scan with unroll).
Against TPU files, whose ops say what XLA counted for the TPU: each instruction outside a fusion and loop.
Prints a line for each program; tests/peers/README.md has the table.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with jax).  Exit: 0, 1, 77.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peer import IDSPROF, SHARED, needs, our_rows, report

needs('jax')
os.environ['JAX_PLATFORMS'] = 'cpu'
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

FLOPS_WITHIN, BYTES_WITHIN = 0.01, 0.10


def f32(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def bf16(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.bfloat16)


def s32(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.int32)


def convolution(**options):
    return lambda x, k: lax.conv_general_dilated(x, k, dimension_numbers=('NHWC', 'HWIO', 'NHWC'), **options)


def gradient(function):
    return jax.grad(lambda *args: jnp.sum(function(*args) ** 2), argnums=(0, 1))


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum('bqhd,bkhd->bhqk', q, k) / 8)
    return jnp.einsum('bhqk,bkhd->bqhd', weights, v)


def mlp(x, a, b):
    return jax.nn.gelu(x @ a) @ b


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def block(x, wq, wk, wv, wo, a, b):
    heads = (x.shape[0], x.shape[1], 8, x.shape[2] // 8)
    y = norm(x)
    y = attention((y @ wq).reshape(heads), (y @ wk).reshape(heads), (y @ wv).reshape(heads)).reshape(x.shape) @ wo
    return mlp(norm(x + y), a, b) + x


def many(unroll):
    def program(x, weights):
        return lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, weights, unroll=unroll)[0]
    return program


def several(unroll):
    """A loop in a loop."""
    def outer(c, w):
        return lax.fori_loop(0, 3, lambda i, d: jnp.tanh(d @ w), c, unroll=unroll), None

    def program(x, weights):
        return lax.scan(outer, x, weights, unroll=unroll)[0]
    return program


def train(x, y, a, b):
    def loss(a, b):
        return jnp.mean((mlp(x, a, b) - y) ** 2)
    ga, gb = jax.grad(loss, argnums=(0, 1))(a, b)
    return a - 0.1 * ga, b - 0.1 * gb


WEIGHTS = [f32(512, 512)] * 4 + [f32(512, 2048), f32(2048, 512)]
# name: function, arguments, and of a loop the same without it. Its bytes are not compared: unrolled, XLA fuses otherwise.
PROGRAMS = {
    'dot': (jnp.dot, [f32(512, 256), f32(256, 384)]),
    'dot bf16': (jnp.dot, [bf16(512, 256), bf16(256, 384)]),
    'dot, left transposed': (lambda a, b: a.T @ b, [f32(256, 512), f32(256, 384)]),
    'dot, one column': (jnp.dot, [f32(2048, 1024), f32(1024)]),
    'dot of vectors': (jnp.dot, [f32(1 << 20), f32(1 << 20)]),
    'batched dot': (jnp.matmul, [f32(16, 128, 64), f32(16, 64, 96)]),
    'einsum, two contracted': (lambda a, b: jnp.einsum('abcd,cdef->abef', a, b), [f32(8, 16, 32, 8), f32(32, 8, 16, 4)]),
    'dot + bias + relu': (lambda a, b, c: jax.nn.relu(a @ b + c), [f32(512, 512), f32(512, 512), f32(512)]),
    'convolution, same': (convolution(window_strides=(1, 1), padding='SAME'), [f32(4, 32, 32, 16), f32(3, 3, 16, 32)]),
    'convolution, valid': (convolution(window_strides=(1, 1), padding='VALID'), [f32(4, 32, 32, 16), f32(5, 5, 16, 32)]),
    'convolution, stride 2': (convolution(window_strides=(2, 2), padding='SAME'), [f32(4, 33, 33, 16), f32(3, 3, 16, 32)]),
    'convolution, dilated': (convolution(window_strides=(1, 1), padding='SAME', rhs_dilation=(2, 2)),
                             [f32(4, 32, 32, 16), f32(3, 3, 16, 32)]),
    'convolution, transposed': (convolution(window_strides=(1, 1), padding=((1, 2), (1, 2)), lhs_dilation=(2, 2)),
                                [f32(4, 16, 16, 16), f32(3, 3, 16, 32)]),
    'convolution, 4 groups': (convolution(window_strides=(1, 1), padding='SAME', feature_group_count=4),
                              [f32(4, 32, 32, 16), f32(3, 3, 4, 32)]),
    'convolution, depthwise': (convolution(window_strides=(1, 1), padding='SAME', feature_group_count=32),
                               [f32(4, 32, 32, 32), f32(3, 3, 1, 32)]),
    'convolution, batch groups': (convolution(window_strides=(1, 1), padding='SAME', batch_group_count=4),
                                  [f32(8, 16, 16, 8), f32(3, 3, 8, 16)]),
    'convolution 1d': (lambda x, k: lax.conv_general_dilated(x, k, (1,), 'SAME', dimension_numbers=('NWC', 'WIO', 'NWC')),
                       [f32(4, 512, 16), f32(7, 16, 32)]),
    'convolution 3d': (lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), 'SAME',
                                                             dimension_numbers=('NDHWC', 'DHWIO', 'NDHWC')),
                       [f32(2, 8, 16, 16, 8), f32(3, 3, 3, 8, 16)]),
    'gradient of a convolution': (gradient(convolution(window_strides=(1, 1), padding='SAME')),
                                  [f32(4, 32, 32, 16), f32(3, 3, 16, 32)]),
    'gradient, stride 2': (gradient(convolution(window_strides=(2, 2), padding='SAME')),
                           [f32(4, 32, 32, 16), f32(3, 3, 16, 32)]),
    'gradient of a dot': (gradient(jnp.dot), [f32(256, 512), f32(512, 384)]),
    'attention': (attention, [f32(2, 128, 8, 64)] * 3),
    'mlp': (mlp, [f32(64, 512), f32(512, 2048), f32(2048, 512)]),
    'transformer block': (block, [f32(2, 128, 512)] + WEIGHTS),
    'training step': (train, [f32(64, 512), f32(64, 512), f32(512, 1024), f32(1024, 512)]),
    'elementwise': (lambda x, y: x * y + jnp.tanh(x), [f32(1024, 1024)] * 2),
    'sum of rows': (lambda x: x.sum(1), [f32(1024, 1024)]),
    'argmax': (lambda x: jnp.argmax(x, -1), [f32(512, 1024)]),
    'softmax': (jax.nn.softmax, [f32(512, 1024)]),
    'layer norm': (norm, [f32(512, 1024)]),
    'transpose': (lambda x: x.T + 0, [f32(1024, 512)]),
    'slice of a table': (lambda t, i: lax.dynamic_slice(t, (i, 0), (16, 256)) * 2, [f32(4096, 256), s32()]),
    'embedding': (lambda t, i: t[i] * 2, [f32(4096, 256), s32(512)]),
    'update of a cache': (lambda c, u, i: lax.dynamic_update_slice(c, u * 2, (i, 0)), [f32(4096, 256), f32(16, 256), s32()]),
    'concatenate': (lambda a, b: jnp.concatenate([a, b], 1), [f32(512, 256), f32(512, 512)]),
    'max pool': (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID'), [f32(4, 64, 64, 16)]),
    'loop of dots': (many(1), [f32(128, 256), f32(12, 256, 256)], many(12)),
    'loop in a loop': (several(1), [f32(128, 256), f32(4, 256, 256)], several(True)),
    'branches': (lambda p, x, y: lax.cond(p > 0, lambda: x @ y, lambda: x + y), [s32(), f32(256, 256), f32(256, 256)]),
}
# XLA counts all of a table that a fusion gathers from. What is read are 512 rows, as it counts outside fusions.
BY_HAND = {'embedding': 4 * (2 * 512 * 256 + 512)}
DONATED = {'update of a cache': (0,)}


def compiled(name, function, args):
    return jax.jit(function, donate_argnums=DONATED.get(name, ())).lower(*args).compile()


def number(field, value):
    out = bytearray()
    for rest in (field << 3, value):
        while rest > 0x7f:
            out.append(rest & 0x7f | 0x80)
            rest >>= 7
        out.append(rest)
    return bytes(out)


def message(field, *parts):
    inside = b''.join(parts)
    return number(field, len(inside)).replace(bytes([field << 3]), bytes([field << 3 | 2]), 1) + inside


def profile_of(programs):
    """An XSpace that holds the programs as a profile does: stats of names of the plane /host:metadata."""
    names = [message(4, number(1, i), message(2, number(1, i), message(2, b'program_%d(%d)' % (i, i)),
                                              message(5, number(1, 1), message(6, message(1, hlo)))))
             for i, hlo in enumerate(programs, 1)]
    return message(1, message(2, b'/host:metadata'), *names,
                   message(5, number(1, 1), message(2, number(1, 1), message(2, b'hlo_proto'))))


def hlo_of(program):
    return program.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()


def dumped(path):
    run = subprocess.run([IDSPROF, 'dump', '--hlo', str(path)], capture_output=True, text=True, timeout=60)
    if run.returncode:
        sys.exit('FAIL: idsprof dump --hlo: exit %d: %s' % (run.returncode, run.stderr[-1000:]))
    return json.loads(run.stdout)


def off(mine, theirs):
    return abs(mine - theirs) / theirs if theirs else float(mine != 0)


def has_products(dump):
    return any(i['opcode'] in ('dot', 'convolution') for c in dump['computations'] for i in c['instructions'])


def compare(name, program, dump):
    function, args, *unrolled = PROGRAMS[name]
    theirs = compiled(name, unrolled[0], args).cost_analysis() if unrolled else program.cost_analysis()
    row = {'name': name, 'products': has_products(dump), 'loop': bool(unrolled),
           'flops': (dump['cost'].get('flops', -1), theirs.get('flops', 0)),
           'bytes': (dump['cost'].get('bytes', -1), BY_HAND.get(name, theirs.get('bytes accessed', 0)))}
    wrong = []
    if row['products'] and off(*row['flops']) > FLOPS_WITHIN:
        wrong.append('flops')
    if not unrolled and off(*row['bytes']) > BYTES_WITHIN:
        wrong.append('bytes')
    row['wrong'] = wrong
    return row


def compare_file(path):
    """Of instructions outside fusions (number, equal ones, those that differ) by what the TPU's compiler wrote beside each op."""
    ops = {(op['module'], op['name']): op for op in our_rows(report(path, '--no-cache')['tables']['ops']) if op['bytes'] is not None}
    compared, wrong = 0, []
    for program in dumped(path):
        for instruction in (i for c in program['computations'] if not c['fusion'] for i in c['instructions']):
            op = ops.get((program['module'], instruction['name']))
            # Of a copy to the host the file counts what the device's memory sees, and it does so of -start and -done.
            if op is None or instruction['opcode'] in ('copy-start', 'copy-done'):
                continue
            compared += 1
            cost = instruction['cost']
            if off(cost.get('flops', -1), op['flops'] or 0) > FLOPS_WITHIN or \
                    off(cost.get('bytes', -1), op['bytes']) > BYTES_WITHIN:
                wrong.append('%s %s: flops %s, file %s; bytes %s, file %s' % (
                    program['module'], instruction['name'], cost.get('flops'), op['flops'],
                    cost.get('bytes'), op['bytes']))
    return compared, wrong


def line_of(row):
    return '%-26s flops %14.0f xla %14.0f %+7.2f %%   bytes %12.0f xla %12.0f %+7.2f %%' % (
        row['name'], *row['flops'], 100 * (row['flops'][0] / row['flops'][1] - 1) if row['flops'][1] else 0,
        *row['bytes'], 100 * (row['bytes'][0] / row['bytes'][1] - 1) if row['bytes'][1] else 0)


def main():
    failures = 0
    programs = {name: compiled(name, *PROGRAMS[name][:2]) for name in PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'host.xplane.pb'
        path.write_bytes(profile_of([hlo_of(program) for program in programs.values()]))
        dumps = dumped(path)
    if len(dumps) != len(programs):
        sys.exit('FAIL: %d programs, of which idsprof reads %d' % (len(programs), len(dumps)))
    for name, dump in zip(programs, dumps):
        row = compare(name, programs[name], dump)
        failures += bool(row['wrong'])
        print('%s %s' % ('FAIL' if row['wrong'] else 'ok  ', line_of(row)))
    print('%d programs, %d wrong' % (len(PROGRAMS), failures))
    for path in sorted((SHARED / 'traces').glob('tpu_*/plugins/profile/*/*.xplane.pb')):
        count, wrong = compare_file(path)
        failures += bool(wrong) or not count
        print('%s %s: %d instructions as in the file' % ('FAIL' if wrong or not count else 'ok  ', path.parents[3].name, count))
        print(''.join('     %s\n' % line for line in wrong[:10]), end='')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
