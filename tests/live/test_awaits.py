#!/usr/bin/env python3
"""An event loop that waits while the device does, with real JAX on the CPU and default options: what it awaits is named first. Which of
several tasks it is: cli.awaits.

    test_awaits.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import json
import sys

import test_capture as live
from test_capture import ROOT, capture, check

PROGRAM = '''import asyncio, os, selectors, time
import jax, jax.numpy as jnp
step = jax.jit(lambda w, x: w * .999 + (x.T @ jnp.tanh(x @ w)) * 1e-6)
before = selectors.EpollSelector.select
async def fetch_features():
    await asyncio.sleep(.030)
    return jnp.ones((128, 256))
def decode_frames():
    until = time.perf_counter() + .006
    while time.perf_counter() < until:
        pass
async def main():
    w, x = jnp.ones((256, 256)) * .01, jnp.ones((128, 256))
    for i in range(60):
        x = await fetch_features()
        await asyncio.to_thread(decode_frames)
        w = step(w, x)
        w.block_until_ready()
        if i == 42:
            child = os.fork()
            if not child:
                os._exit(selectors.EpollSelector.select is not before)
            print(os.waitpid(child, 0)[1], selectors.EpollSelector.select is before)
    print(bool(jnp.isfinite(w).all()))
asyncio.run(main())
print(selectors.EpollSelector.select is before)
'''


def waits():
    """One program that waits for a coroutine and for a thread. The child of a fork in the window, and the program after it, have their
    selectors back."""
    program = ROOT / 'loop.py'
    program.write_text(PROGRAM)
    run = capture(['-s', 40], program=program)
    check('the program is as it was', (run.code, run.out) == (0, '0 False\nTrue\nTrue\n'), (run.out, run.err))
    report = json.loads(live.idsprof('report', '--json', run.folder).stdout)
    # Others use the machine too: what the program waited for a core is no wait of the loop.
    said = [piece for piece in report['advice'] if piece.get('culprit') != 'wait_for_core']
    first = said[0] if said else {}
    check('a coroutine: named, with its line', (first.get('culprit'), first.get('where')) == ('await fetch_features', 'loop.py:6'), said)
    check('a coroutine: said', 'An event loop waits' in first.get('what', '') and .025 < first['saves'] < .060, first)
    check('a coroutine: no tracer was used', 'tracer' not in first.get('evidence', ''), first)
    table = report['tables']['ledger']
    ids = [column['id'] for column in table['columns']]
    places = [row['where'] for row in (dict(zip(ids, cells)) for cells in table['rows']) if row['culprit'] == 'decode_frames']
    check('a thread: what it runs', any('in another thread' in (where or '') for where in places), table['rows'])


CASES = [waits]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
