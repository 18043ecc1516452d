"""The loops of test_steps.py, recorded by jax itself: step_loop.py KIND STEPS SIZE FOLDER. KIND: words of block, thread, nonum (no step_num),
plain (a TraceAnnotation), ahead (compiled ahead of time), two (an evaluation in each step)."""
import sys
import threading

import jax
import jax.numpy as jnp

KIND, STEPS, SIZE, FOLDER = sys.argv[1].split('-'), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


@jax.jit
def train_step(w, x):
    for _ in range(3):
        w = w - 0.01 * (x.T @ jnp.tanh(x @ w))
    return w


@jax.jit
def evaluate(w, x):
    return jnp.sum(jnp.tanh(x @ w))


def annotation(step):
    if 'plain' in KIND:
        return jax.profiler.TraceAnnotation('train')
    return jax.profiler.StepTraceAnnotation('train', **({} if 'nonum' in KIND else {'step_num': step}))


def loop(call, w, x):
    for step in range(STEPS):
        with annotation(step):
            w = call(w, x)
            if 'two' in KIND:
                evaluate(w, x)
            if 'block' in KIND:
                jax.block_until_ready(w)
    jax.block_until_ready(w)


def main():
    w, x = jnp.ones((SIZE, SIZE)), jnp.ones((64, SIZE))
    call = train_step.lower(w, x).compile() if 'ahead' in KIND else train_step
    jax.block_until_ready((call(w, x), evaluate(w, x)))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(FOLDER, profiler_options=options):
        if 'thread' in KIND:
            thread = threading.Thread(target=loop, args=(call, w, x))
            thread.start()
            thread.join()
        else:
            loop(call, w, x)


main()
