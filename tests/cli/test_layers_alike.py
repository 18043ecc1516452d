#!/usr/bin/env python3
"""One op that stands in each layer and changed alike in all of them is one cause of a comparison, with their number; one layer that changed
alone is named. Either way all causes sum to the change.

Steps of eight layers, with a product and a norm each. Environment: IDSPROF.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
LAYERS, STEPS = 8, 5


def span(cat, name, tid, ts, dur, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 0 if tid == 7 else 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def write(name, product_us):
    """`product_us` gives the time of a layer's product; a norm takes 20 us. Kernels of a step follow one another at once."""
    events, number, at = [], 0, 1000
    for index in range(STEPS):
        begin, launch = at, at - 600
        events.append(span('user_annotation', f'ProfilerStep#{index}', 1, launch - 10, 500))
        for layer in range(LAYERS):
            for op, dur in (('aten::mm', product_us(layer)), ('aten::layer_norm', 20)):
                number += 1
                shapes = {'Input Dims': [[64, 64], [64, 64]], 'Input type': ['float', 'float'], 'Concrete Inputs': ['', '']}
                events += [span('user_annotation', f'layer_{layer}', 1, launch, 24), span('cpu_op', op, 1, launch + 1, 20, **{'External id': number, **shapes}),
                           span('cuda_runtime', 'cudaLaunchKernel', 1, launch + 5, 5, correlation=number),
                           span('kernel', f'k_{op[6:]}', 7, at, dur, device=0, stream=7, correlation=number)]
                at += dur
                launch += 25
        at = begin + 2000
    path = Path(folder) / name
    path.write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': events}))
    return path


def causes(before, after):
    done = subprocess.run([IDSPROF, 'diff', '--json', before, after], capture_output=True, text=True, timeout=120,
                          env={**os.environ, 'XDG_CACHE_HOME': folder})
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    table = json.loads(done.stdout)['tables']['waterfall']
    return [dict(zip((column['id'] for column in table['columns']), row)) for row in table['rows']]


def check(what, holds, rows):
    if not holds:
        sys.exit(f'{what}:\n' + '\n'.join(map(str, rows)))


with tempfile.TemporaryDirectory() as folder:
    before = write('a.pt.trace.json', lambda layer: 40)
    rows = causes(before, write('b.pt.trace.json', lambda layer: 60))
    of_product = [row for row in rows if (row['culprit'] or '').startswith('aten::mm')]
    check('the products of all layers are not one cause', [row['kind'] for row in of_product] == ['layers'], rows)
    check('not all layers are in it', '8 alike' in of_product[0]['cause'] and 'layer_*' in of_product[0]['cause'], rows)
    check('it has not their time', abs(of_product[0]['change'] - 160e-6) < 1e-9, rows)
    check('causes do not sum to the change', abs(sum(row['share'] for row in rows) - 1) < 1e-3, rows)
    rows = causes(before, write('c.pt.trace.json', lambda layer: 140 if layer == 3 else 41))
    of_product = [row for row in rows if (row['culprit'] or '').startswith('aten::mm')]
    check('the one layer that changed is not told alone', of_product[0]['kind'] == 'op' and 'layer_3' in of_product[0]['where'], rows)
