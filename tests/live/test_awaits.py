#!/usr/bin/env python3
"""Event loops that wait while the device does, with real JAX on the CPU and default options: what they await is named first. Which of
several tasks it is: cli.awaits.

    test_awaits.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import json
import sys

import test_capture as live
from test_capture import ROOT, capture, check

PROGRAM = '''import asyncio, time
import jax, jax.numpy as jnp
step = jax.jit(lambda w, x: w * .999 + (x.T @ jnp.tanh(x @ w)) * 1e-6)
async def fetch_features():
    await asyncio.sleep(.008)
    return jnp.ones((128, 256))
def decode_frames():
    until = time.perf_counter() + .006
    while time.perf_counter() < until:
        pass
async def main():
    w, x = jnp.ones((256, 256)) * .01, jnp.ones((128, 256))
    for i in range(60):
        %s
        w = step(w, x)
        w.block_until_ready()
    print(bool(jnp.isfinite(w).all()))
asyncio.run(main())
'''


def first_advice(awaits):
    program = ROOT / 'loop.py'
    program.write_text(PROGRAM % awaits)
    run = capture(['-s', 40], program=program)
    check('the program is as it was: ' + awaits, (run.code, run.out) == (0, 'True\n'), run.err)
    advice = json.loads(live.idsprof('report', '--json', run.folder).stdout)['advice']
    return advice[0] if advice else {}


def coroutines():
    said = first_advice('x = await fetch_features()')
    check('a coroutine: named, with its line', (said.get('culprit'), said.get('where')) == ('await fetch_features', 'loop.py:5'), said)
    check('a coroutine: said', 'An event loop waits' in said.get('what', '') and .006 < said['saves'] < .016, said)
    check('a coroutine: no tracer was used', 'tracer' not in said.get('evidence', ''), said)


def threads():
    for _ in range(3):      # others use the machine too: the thread may have no core for longer than it computes
        said = first_advice('await asyncio.to_thread(decode_frames)')
        if said.get('culprit') == 'decode_frames':
            break
    check('a thread: what it runs', said.get('culprit') == 'decode_frames' and 'in another thread' in said.get('where', ''), said)


FORKED = '''import asyncio, os, selectors, jax, jax.numpy as jnp
step, w, before = jax.jit(lambda w: jnp.tanh(w @ w)), jnp.ones((64, 64)), selectors.EpollSelector.select
async def main():
    global w
    for i in range(60):
        await asyncio.sleep(.001)
        w = step(w)
        w.block_until_ready()
        if i == 42:
            child = os.fork()
            if not child:
                os._exit(selectors.EpollSelector.select is not before)
            print(os.waitpid(child, 0)[1], selectors.EpollSelector.select is before)
asyncio.run(main())
print(selectors.EpollSelector.select is before)
'''


def forked():
    """The child of a fork in a window, and the program after it, have their selectors back."""
    program = ROOT / 'forked.py'
    program.write_text(FORKED)
    run = capture(['-s', 40], program=program)
    check('a fork in a window: the child has its selectors, its parent later', (run.code, run.out) == (0, '0 False\nTrue\n'),
          (run.out, run.err))


CASES = [coroutines, threads, forked]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
