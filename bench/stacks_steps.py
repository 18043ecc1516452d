"""A loop that knows nothing of idsprof, for measure_stacks.py; prints as JSON how many milliseconds a step takes that a window has, and one
after it: the 5th percentile, because others use the machine too.

    stacks_steps.py jitted|python FIRST COUNT        the window's first step, and how many it has"""
import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp

kind, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SIDE, LAYERS = (384, 16) if kind == 'jitted' else (8, 1)


@jax.jit
def train_step(w):
    for _ in range(LAYERS):
        w = jnp.tanh(w @ w)
    return w


def score(word, table):
    return table.get(word, 0) + len(word)


def prepare(words, table):
    """Many calls of short functions, which is what Python does at its slowest."""
    total = 0
    for word in words:
        total += score(word, table)
    return total


words = [str(i * 7919 % 1000) for i in range(70000)]
table = {word: i for i, word in enumerate(words)}
w = train_step(jnp.ones((SIDE, SIDE))).block_until_ready()
spent = []
for step in range(first + 2 * count):
    begin = time.perf_counter()
    with jax.profiler.StepTraceAnnotation('train', step_num=step):
        if kind == 'python':
            prepare(words, table)
        w = train_step(w)
        w.block_until_ready()
    spent.append(1e3 * (time.perf_counter() - begin))
def quiet(values):
    return statistics.quantiles(values, n=20)[0]


# The window's own first and last step have its opening and its end.
print(json.dumps({'in': quiet(spent[first + 2:first + count - 1]), 'after': quiet(spent[first + count + count // 2:])}))
