"""The training program of test_capture.py: it knows nothing of idsprof.

    capture_loop.py STEPS [annotate] [scopes] [pace=SECONDS] [at=STEP:WHAT] [until=FILE] [block] [ahead] [into=FOLDER] [inits=N]

at=STEP:WHAT does WHAT after that step: exit, raise, _exit, term, kill, profile (start_trace, and stop_trace three steps later),
perfetto (the same with a trace for Perfetto), trace (a whole jax.profiler.trace), server.
until=FILE: ends when FILE is there. block: a region "evaluate" after the loop. ahead: the step is compiled ahead
of time. inits=N: so many calls of another function come before the loop.
"""
import os
import signal
import sys
import time

import jax
import jax.numpy as jnp

OPTIONS = dict((word + '=').split('=')[:2] for word in sys.argv[2:])
AT, _, WHAT = OPTIONS.get('at', ':').partition(':')


@jax.jit
def init(scale):
    return jnp.ones((32, 32)) * scale


@jax.jit
def train_step(w, x):
    with jax.named_scope('layer1'):
        y = jnp.tanh(x @ w)
    with jax.named_scope('update'):
        return w - 0.01 * (x.T @ y)


def load(step):
    return jnp.full((16, 32), 1.0 + step % 3)


def do(step):
    folder = OPTIONS.get('into')
    if WHAT in ('profile', 'perfetto') and step == int(AT):
        jax.profiler.start_trace(folder, create_perfetto_trace=WHAT == 'perfetto')
    if WHAT in ('profile', 'perfetto') and step == int(AT) + 3:
        jax.profiler.stop_trace()
    if not WHAT or step != int(AT):
        return
    if WHAT == 'trace':
        with jax.profiler.trace(folder):
            init(2.0).block_until_ready()
    elif WHAT == 'server':
        jax.profiler.start_server(int(OPTIONS['port']))
    elif WHAT == 'exit':
        sys.exit(3)
    elif WHAT == 'raise':
        raise ValueError('the loss is not finite')
    elif WHAT == '_exit':
        os._exit(4)
    elif WHAT in ('term', 'kill'):
        os.kill(os.getpid(), signal.SIGTERM if WHAT == 'term' else signal.SIGKILL)
        time.sleep(10)


def step_of(w, step):
    if 'scopes' in OPTIONS:
        with jax.profiler.TraceAnnotation('fetch batch'):
            time.sleep(0.003)
            x = load(step)
    else:
        x = load(step)
    return train_step(w, x)


def main():
    global train_step
    for _ in range(int(OPTIONS.get('inits') or 1)):
        w = init(0.01)
    if 'ahead' in OPTIONS:
        train_step = train_step.lower(w, load(0)).compile()
    for step in range(int(sys.argv[1])):
        if 'annotate' in OPTIONS:
            with jax.profiler.StepTraceAnnotation('train', step_num=step):
                w = step_of(w, step)
                if 'scopes' in OPTIONS:
                    w.block_until_ready()
        else:
            w = step_of(w, step)
        do(step)
        time.sleep(float(OPTIONS.get('pace') or 0))
        if 'until' in OPTIONS and os.path.exists(OPTIONS['until']):
            break
    if 'block' in OPTIONS:
        with jax.profiler.TraceAnnotation('evaluate'):
            train_step(w, load(0)).block_until_ready()
    print('trained %s on %d devices' % (bool(jnp.isfinite(w).all()), jax.device_count()))


if __name__ == '__main__':
    main()
