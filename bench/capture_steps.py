"""A training loop that knows nothing of idsprof; prints microseconds of a step: the median over chunks of 200 steps.

    capture_steps.py annotate|plain SIZE STEPS        SIZE: the width of the layers, 0 for a step that does nothing"""
import statistics
import sys
import time

import jax
import jax.numpy as jnp

mode, size, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
CHUNK = 200


@jax.jit
def train_step(w):
    for _ in range(4 if size else 0):
        w = jnp.tanh(w @ w)
    return w


w = train_step(jnp.ones((size or 8, size or 8))).block_until_ready()
seconds = []
for chunk in range(steps // CHUNK):
    begin = time.perf_counter()
    for step in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        if mode == 'annotate':
            with jax.profiler.StepTraceAnnotation('train', step_num=step):
                w = train_step(w)
        else:
            w = train_step(w)
        if size:
            w.block_until_ready()
    seconds.append(time.perf_counter() - begin)
print(statistics.median(seconds[1:]) / CHUNK * 1e6)
