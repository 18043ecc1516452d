"""The training program of test_recorder.py: it knows nothing of idsprof.

    recorder_loop.py STEPS SLOW,SLOW,... SECONDS [annotate]    a loop in which these steps wait so long for a file; prints, as JSON, how
                                                              long the steps took by its own clock that took longer than a third of that
    recorder_loop.py tight [annotate]                         prints the microseconds of a step that does next to nothing
"""
import contextlib
import json
import sys
import time

import jax
import jax.numpy as jnp

STRETCH = 250  # steps: 1 to 2 ms, so that some lie between two turns of others, however loaded the machine is

@jax.jit
def train_step(w):
    return w * 0.999


def wait_for_file(seconds):
    time.sleep(seconds)


def load_batch(step, slow, seconds):
    if step in slow:
        wait_for_file(seconds)
    else:
        time.sleep(0.0001)


def around(step):
    if sys.argv[-1] == 'annotate':
        return jax.profiler.StepTraceAnnotation('train', step_num=step)
    return contextlib.nullcontext()


def loop():
    steps, slow, seconds = int(sys.argv[1]), {int(word) for word in sys.argv[2].split(',')}, float(sys.argv[3])
    w, took, began = jnp.ones((8, 8)), {}, time.perf_counter()
    for step in range(steps):
        with around(step):
            w = train_step(w)
            load_batch(step, slow, seconds)
        now = time.perf_counter()
        if now - began > seconds / 3:
            took[step] = now - began
        began = now
    w.block_until_ready()
    print(json.dumps(took))


def tight():
    w, best, annotates = jnp.ones((8,)), 1e9, sys.argv[-1] == 'annotate'
    make, step = jax.profiler.StepTraceAnnotation, 0
    for _ in range(240):
        began = time.perf_counter()
        for _ in range(STRETCH):
            if annotates:
                with make('train', step_num=step):
                    w = train_step(w)
            else:
                w = train_step(w)
            step += 1
        best = min(best, (time.perf_counter() - began) / STRETCH)
    print(best * 1e6)


if __name__ == '__main__':
    tight() if sys.argv[1] == 'tight' else loop()
