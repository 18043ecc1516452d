"""The program of test_memory.py: memory_loop.py FAULT, where FAULT is leak, kept, large or none."""
import sys

import jax
import jax.numpy as jnp

fault = sys.argv[1]


def train(params, x):
    def loss(p):
        return jnp.mean((jnp.tanh(x @ p['w1']) @ p['w2']) ** 2)
    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value


@jax.jit
def rank(q, k):
    """Every pair at once, sorted: what a compiler cannot fuse away."""
    with jax.named_scope('pairs'):
        return jnp.sort(q[:, None, :] * k[None, :, :], axis=1).sum()


step = jax.jit(train, donate_argnums=() if fault == 'kept' else (0,))
width = 2048 if fault == 'kept' else 256
params = {'w1': jnp.ones((width, 2 * width)), 'w2': jnp.ones((2 * width, width))}
x, q = jnp.ones((64, width)), jnp.ones((600, 64))
losses = []


def one():
    global params
    params, value = step(params, x)
    if fault == 'large':
        rank(q, q).block_until_ready()
    if fault == 'leak':
        losses.append(x + value)    # 64 KiB a step are kept
    value.block_until_ready()


for number in range(30):
    with jax.profiler.StepTraceAnnotation('train', step_num=number):
        one()
