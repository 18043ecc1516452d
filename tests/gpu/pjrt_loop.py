"""The loop that pjrt.py measures: 200 steps of a small network on the GPU. It prints the seconds of each step.

    pjrt_loop.py [--profile DIR FIRST LAST]    with jax.profiler around these steps, as the reference
"""
import json
import sys
import time

import jax
import jax.numpy as jnp

STEPS, LAYERS, WIDTH, BATCH = 200, 6, 2048, 1024


def loss(layers, x):
    for layer in layers:
        x = jax.nn.gelu(x @ layer)
    return jnp.mean(x ** 2)


@jax.jit
def train_step(layers, x):
    value, gradients = jax.value_and_grad(loss)(layers, x)
    return [layer - 1e-3 * gradient for layer, gradient in zip(layers, gradients)], value


keys = jax.random.split(jax.random.PRNGKey(0), LAYERS + 1)
layers = [jax.random.normal(key, (WIDTH, WIDTH)) / WIDTH ** 0.5 for key in keys[1:]]
x = jax.random.normal(keys[0], (BATCH, WIDTH))
profile = sys.argv[2:] if sys.argv[1:2] == ['--profile'] else None
seconds = []
for step in range(STEPS):
    if profile and step == int(profile[1]):
        jax.profiler.start_trace(profile[0])
    before = time.perf_counter()
    with jax.profiler.StepTraceAnnotation('train', step_num=step):
        layers, value = train_step(layers, x)
        jax.block_until_ready(layers)
    seconds.append(time.perf_counter() - before)
    if profile and step == int(profile[2]):
        jax.profiler.stop_trace()
print(json.dumps({'seconds': seconds, 'value': float(value), 'jax': jax.__version__, 'device': jax.devices()[0].device_kind}))
