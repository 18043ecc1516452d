"""A program that knows nothing of idsprof and runs a profiler server, as many jobs do: attach_loop.py PORT SECONDS [busy].
It prints "ready", and "recording" whenever the server begins to record."""
import sys
import time

import jax
import jax.numpy as jnp

jax.profiler.start_server(int(sys.argv[1]))
step = jax.jit(lambda x: jnp.tanh(x @ x).sum())
x = jnp.ones((128, 128))
step(x).block_until_ready()
print('ready', flush=True)
end = time.monotonic() + float(sys.argv[2])
number, was_recorded = 0, False
while time.monotonic() < end:
    with jax.profiler.StepTraceAnnotation('train', step_num=number):
        step(x).block_until_ready()
    number += 1
    is_recorded = jax.profiler.TraceAnnotation.is_enabled()
    if is_recorded and not was_recorded:
        print('recording', flush=True)
    was_recorded = is_recorded
    if 'busy' not in sys.argv:
        time.sleep(0.002)
