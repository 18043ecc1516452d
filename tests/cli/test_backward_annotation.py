#!/usr/bin/env python3
"""What autograd's thread launches belongs to the region around `backward()`, not to that of the forward op.

The forward op (10 us of kernel) has a link to the backward op on another thread (30 us of kernel), while the thread that called it is in
`turn back`. Environment: IDSPROF.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def span(cat, name, tid, ts, dur, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 0 if cat == 'kernel' else 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def op(name, tid, ts, kernel_ts, kernel_us, number, **args):
    return [
        span('cpu_op', name, tid, ts, 20, **{'External id': number, **args}),
        span('cuda_runtime', 'cudaLaunchKernel', tid, ts + 5, 5, correlation=number, **{'External id': number}),
        span('kernel', 'k' + str(number), 7, kernel_ts, kernel_us, device=0, stream=7, correlation=number, **{'External id': number}),
    ]


EVENTS = [
    span('user_annotation', 'go on', 1, 100, 100),
    span('user_annotation', 'turn back', 1, 300, 100),
    *op('aten::mul', 1, 120, 150, 10, 1, **{'Sequence number': 5, 'Fwd thread id': 0}),
    span('cpu_op', 'autograd::engine::evaluate_function: MulBackward0', 2, 310, 60,
         **{'External id': 3, 'Sequence number': 5, 'Fwd thread id': 1}),
    *op('MulBackward0', 2, 320, 350, 30, 2, **{'Sequence number': 5, 'Fwd thread id': 1}),
    {'ph': 's', 'cat': 'fwdbwd', 'name': 'fwdbwd', 'id': 1, 'pid': 1, 'tid': 1, 'ts': 120},
    {'ph': 'f', 'bp': 'e', 'cat': 'fwdbwd', 'name': 'fwdbwd', 'id': 1, 'pid': 1, 'tid': 2, 'ts': 320},
]

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / 'a.pt.trace.json'
    path.write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': EVENTS}))
    environment = {**os.environ, 'XDG_CACHE_HOME': folder}
    done = subprocess.run([os.environ['IDSPROF'], 'report', path], capture_output=True, text=True, timeout=120, env=environment)
rows = [line.strip() for line in done.stdout.splitlines() if line.rstrip().endswith('%')]
shares = {name: [row.split()[-2] for row in rows if row.startswith(name)] for name in ('go on', 'turn back')}
if done.returncode or '25.0' not in shares['go on'] or '75.0' not in shares['turn back']:
    sys.exit(f'{shares}\n{done.stdout}{done.stderr}')
