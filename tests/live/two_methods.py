#!/usr/bin/env python3
"""Two ways to compute a gradient, as programs that share no jitted function.

    two_methods.py METHOD DEVICES [--trace DIR] [--steps N]

`lcam` works through its batch in one product a layer, `tad` in four, with an all-reduce after each. Both run on DEVICES host devices of
the CPU and print, as JSON, four times of each step by their own clock: before and behind the moment in which its annotation begins, before
and behind the one in which it ends. On a loaded machine the two of a moment lie apart.
With --trace the program records itself (jax.profiler.start_trace); without it `idsprof capture` does. testdata/methods was made by it too.
"""
import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument('method', choices=('lcam', 'tad'))
parser.add_argument('devices', type=int, nargs='?', default=int(os.environ.get('IDSPROF_DEVICES') or 1))
parser.add_argument('--trace')
parser.add_argument('--warm', type=int, default=5)
parser.add_argument('--steps', type=int, default=20)
parser.add_argument('--clock', help='write the times there instead; {devices} is their number')
arguments = parser.parse_args()
os.environ['JAX_PLATFORMS'] = 'cpu'
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=%d' % arguments.devices

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.profiler import StepTraceAnnotation  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

jax.config.update('jax_hlo_source_file_canonicalization_regex', '.*/')
WIDTH, BATCH = 256, 512
mesh = Mesh(np.array(jax.devices()), ('d',))
rng = np.random.default_rng(0)
x = jax.device_put(rng.normal(size=(BATCH, WIDTH)).astype(np.float32), NamedSharding(mesh, P('d')))
w = jax.device_put(rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) / 16, NamedSharding(mesh, P()))


def shard(function):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=(P(), P('d')), out_specs=P()))


@shard
def lcam_gradient(w, x):
    with jax.named_scope('logits'):
        y = jnp.tanh(x @ w)
    with jax.named_scope('cam'):
        g = x.T @ (1 - y * y)
    return w - 1e-4 * jax.lax.psum(g, 'd')


@shard
def tad_update(w, x):
    for i in range(4):
        with jax.named_scope('decompose%d' % i):
            y = jnp.sin(x @ w)
            g = x.T @ jnp.exp(-y * y)
        w = w - 1e-4 * jax.lax.psum(g, 'd')
    return w


step = {'lcam': lcam_gradient, 'tad': tad_update}[arguments.method]
times = []
if arguments.trace:
    for n in range(arguments.warm):
        w = jax.block_until_ready(step(w, x))
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level, options.enable_hlo_proto = 2, 0, True
    jax.profiler.start_trace(arguments.trace, profiler_options=options)
for n in range(arguments.steps):
    before = time.perf_counter()
    with StepTraceAnnotation('train', step_num=n):
        begun = time.perf_counter()
        w = jax.block_until_ready(step(w, x))
        ended = time.perf_counter()
    times.append((before, begun, ended, time.perf_counter()))
if arguments.trace:
    jax.profiler.stop_trace()
result = json.dumps({'method': arguments.method, 'devices': arguments.devices, 'steps': times})
if arguments.clock:
    with open(arguments.clock.format(devices=arguments.devices), 'w') as out:
        out.write(result)
else:
    print(result)
