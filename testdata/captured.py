"""The program of cpu1_captured: captured.py MONITORING. How it is recorded says README.md."""
import json
import sys
import tempfile

import jax
import jax.numpy as jnp

sys.path.insert(0, __file__.rpartition('/')[0])
from record import Monitor  # noqa: E402  (found through the line above)

jax.config.update('jax_hlo_source_file_canonicalization_regex', '.*/')
jax.config.update('jax_compilation_cache_dir', tempfile.mkdtemp())
jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)
jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)
monitor = Monitor(jax)


@jax.jit
def train_step(w, x):
    with jax.named_scope('layer0'):
        y = jnp.tanh(x @ w)
    with jax.named_scope('update'):
        return w - 0.1 * x.T @ y


@jax.jit
def score(w):
    return w.sum()


with jax.default_device(jax.devices('cpu')[0]):
    w, batches = jax.device_put(jnp.ones((64, 64))), [jax.device_put(jnp.full((32, 64), 1.0 + i)) for i in range(5)]
monitor.on = True
for step in range(4):
    if step == 2:
        jax.clear_caches()      # what step 2 needs comes from the persistent cache
    with jax.profiler.StepTraceAnnotation('train', step_num=step):
        with jax.profiler.TraceAnnotation('fetch batch'):
            x = batches[step]
        w = train_step(w, x)
        if step in (1, 2):
            score(w)
        w.block_until_ready()
monitor.on = False
with open(sys.argv[1], 'w') as out:
    json.dump(monitor.result(), out, indent=1)
