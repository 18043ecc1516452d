#!/usr/bin/env python3
"""What data parallel training does that it need not: DistributedDataParallel's broadcast of buffers before each forward pass, for which the
device waits, and hundreds of small collectives where a few would do.

Steps of 1000 us. Environment: IDSPROF.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
STEPS = 4
number = 0


def span(cat, name, tid, ts, dur, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 0 if tid == 7 else 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def launch(ts, kernel, kernel_ts, dur):
    global number
    number += 1
    return [span('cuda_runtime', 'cudaLaunchKernel', 1, ts, 1, correlation=number),
            span('kernel', kernel, 7, kernel_ts, dur, device=0, stream=7, correlation=number)]


def op(name, ts, dur):
    global number
    number += 1
    return span('cpu_op', name, 1, ts, dur, **{'External id': number})


def step(index, buffers, reduces, reduce_us):
    """Of 100 us each: forward, which first sends `buffers` us of buffers, then the backward pass with its collectives."""
    ts = 10000 + 1000 * index
    events = [span('user_annotation', f'ProfilerStep#{index}', 1, ts, 1000),
              span('user_annotation', 'DistributedDataParallel.forward', 1, ts + 1, 500)]
    if buffers:
        events += [op('aten::flatten_dense_tensors', ts + 10, buffers / 4), span('user_annotation', 'nccl:broadcast', 1, ts + 300, 5),
                   op('aten::unflatten_dense_tensors', ts + 320 - buffers, buffers * 3 / 4)]
    events += [op('aten::relu', ts + 400, 50), *launch(ts + 410, 'relu', ts + 420, 20)]
    events += [op('autograd::engine::evaluate_function: ReluBackward0', ts + 500, 450), *launch(ts + 510, 'relu_backward', ts + 520, 20)]
    for i in range(reduces):
        events += launch(ts + 550 + i, 'ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)', ts + 560 + i * (400 / reduces), reduce_us)
    return events


def advice(**what):
    path = Path(folder) / 'a.pt.trace.json'
    events = [event for index in range(STEPS) for event in step(index, **what)]
    path.write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'GPU'}], 'traceEvents': events}))
    done = subprocess.run([IDSPROF, 'report', '--json', '--no-cache', path], capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(done.stderr)
    return '\n'.join(f"{one['what']}\n{one['evidence']}" for one in json.loads(done.stdout)['advice'])


def check(said, text, wanted=True):
    if (text in said) != wanted:
        sys.exit(f"'{text}' is {'not ' if wanted else ''}in:\n{said}")


with tempfile.TemporaryDirectory() as folder:
    said = advice(buffers=200, reduces=4, reduce_us=20)
    check(said, 'broadcast_buffers=False')
    check(said, '200.0 us of the host in each forward pass, 20.0 % of the step')
    check(said, 'collectives a step', False)
    check(advice(buffers=8, reduces=4, reduce_us=20), 'broadcast_buffers', False)
    check(advice(buffers=0, reduces=4, reduce_us=20), 'broadcast_buffers', False)
    said = advice(buffers=0, reduces=120, reduce_us=3)
    check(said, 'They are 120 collectives a step, of 3.000 us each in the mean')
    check(said, 'put several into one')
    check(advice(buffers=0, reduces=99, reduce_us=3), 'collectives a step', False)
