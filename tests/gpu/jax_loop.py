"""A JAX loop, for cuda.py: `jax_loop.py STEPS plain|profiler OUT`. `plain`: nothing in it records; `profiler`: jax.profiler records
the steps into the folder OUT. It runs for some seconds first, so that a window of time falls into the loop."""
import sys
import time

import jax
import jax.numpy as jnp

steps, mode, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]


@jax.jit
def step(a, b):
    return jax.nn.softmax(jnp.tanh(a @ b), axis=-1)


a = jnp.ones((4096, 4096), jnp.bfloat16)
b = jnp.ones((4096, 4096), jnp.bfloat16)


def run(count):
    c = a
    for i in range(count):
        c = step(c, b)
        if i % 8 == 7:
            c.block_until_ready()
    c.block_until_ready()


run(20)
if mode == 'profiler':
    with jax.profiler.trace(out):
        run(steps)
else:
    end = time.monotonic() + 6
    while time.monotonic() < end:
        run(steps)
