#!/usr/bin/env python3
"""An op of PyTorch counts as often as it ran, however many kernels, copies and sets each run launched; ops are alike where they are called
with the same shapes; and a comparison counts an op at its place, not in the whole program.

Environment: IDSPROF.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
number = 0


def span(cat, name, tid, ts, dur, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 0 if tid == 7 else 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def launch(ts, name, dur):
    global number
    number += 1
    cat, call = ('gpu_memset', 'cudaMemsetAsync') if name == 'Memset (Device)' else ('kernel', 'cudaLaunchKernel')
    return [span('cuda_runtime', call, 1, ts, 2, correlation=number),
            span(cat, name, 7, ts + 5, dur, device=0, stream=7, correlation=number)]


def op(ts, layer, name, dims, kernels):
    """A run of 100 us, of which each kernel is launched 10 us after the one before."""
    global number
    number += 1
    types = {'Input type': ['float'] * len(dims), 'Concrete Inputs': [''] * len(dims)}
    events = [span('user_annotation', layer, 1, ts, 100),
              span('cpu_op', name, 1, ts + 1, 90, **{'External id': number, 'Input Dims': dims, **types})]
    for i, (kernel, dur) in enumerate(kernels):
        events += launch(ts + 5 + 10 * i, kernel, dur)
    return events


def program(*ops):
    events, ts = [], 1000
    for one in ops:
        events += op(ts, *one)
        ts += 120
    return events


def run(*arguments):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, 'XDG_CACHE_HOME': folder})
    if done.returncode not in (0, 1):
        sys.exit(f'{arguments}: {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


def write(name, events):
    path = Path(folder) / name
    path.write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': events}))
    return path


def rows(path, table):
    """By name and place: the row as a dict."""
    found = json.loads(run('report', '--json', path))['tables'][table]
    return [dict(zip((column['id'] for column in found['columns']), row)) for row in found['rows']]


def check(what, seen, wanted):
    if seen != wanted:
        sys.exit(f'{what}: {seen} instead of {wanted}')


SQUARE = [[256, 256], [256, 256]]
TWO, ONE = [('Memset (Device)', 1), ('gemm', 8)], [('gemm', 9)]
SOFTMAX = [('softmax', 4)]


def products(kernels):
    return [(f'layer_{i}', 'aten::mm', SQUARE, kernels) for i in range(3)] * 2


with tempfile.TemporaryDirectory() as folder:
    mixed = products(TWO) + [(f'layer_{i}', 'aten::_softmax', [[8, 64 << i % 2, 64]], SOFTMAX) for i in range(4)]
    before = write('a.pt.trace.json', program(*mixed))
    single = rows(before, 'ops')
    check('runs of a product', [(r['count'], r['events']) for r in single if r['name'] == 'aten::mm'], [(2, 4)] * 3)
    check('mean of a product', {round(r['mean'] * 1e6, 3) for r in single if r['name'] == 'aten::mm'}, {9.0})
    folded = rows(before, 'computations')
    check('products alike', [(r['count'], r['ops']) for r in folded if r['name'].startswith('aten::mm')], [(6, 3)])
    check('softmax alike', [(r['count'], r['ops']) for r in folded if r['name'].startswith('aten::_softmax')], [(2, 2)] * 2)

    after = write('b.pt.trace.json', program(*products(ONE), *mixed[6:]))
    if 'executions' in (text := run('diff', before, after)):
        sys.exit(f'a product with a set beside it is said to run twice:\n{text}')

    busy = [('elsewhere', 'aten::_softmax', [[8, 64, 64]], SOFTMAX)]
    after = write('c.pt.trace.json', program(*mixed, *busy * 20))
    text = run('diff', write('d.pt.trace.json', program(*mixed, *busy)), after)
    lines = [line for line in text.splitlines() if 'executions' in line]
    if any('layer_' in line for line in lines) or not any('elsewhere' in line for line in lines):
        sys.exit(f'executions of a place are counted in the whole program, or not told:\n{text}')
