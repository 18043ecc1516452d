"""A loop on whatever JAX finds, with a profile of its own at the end: what tests/live/test_pjrt_plugins.py captures on a machine with
plugins and without their devices."""
import sys
import tempfile

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.tanh(x @ x) + 1e-3


x = jnp.ones((256, 256))
for i in range(30):
    with jax.profiler.StepTraceAnnotation('train', step_num=i):
        x = step(x).block_until_ready()
print('sum', float(x.sum()), flush=True)
if 'profile' in sys.argv[1:]:
    jax.profiler.start_trace(tempfile.mkdtemp())
    step(x).block_until_ready()
    jax.profiler.stop_trace()
    print('profiled', flush=True)
