#!/usr/bin/env python3
"""An event loop that waits while the device does, with real JAX on the CPU and default options: what it awaits is named first. Which of
several tasks it is: cli.awaits. And what runs already when a slow step opens a window in its middle (--when): such a wait, and a
collection of garbage.

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

SLOW = '''import asyncio, gc, sys
import jax, jax.numpy as jnp
step = jax.jit(lambda w, x: w * .999 + (x.T @ jnp.tanh(x @ w)) * 1e-6)
class Node:
    def __init__(self, count):
        self.kids = [dict(number=number) for number in range(count)]
async def fetch_features(i):
    await asyncio.sleep(.4 if i == 90 and sys.argv[1] == 'await' else .002)
async def main():
    gc.disable()
    gc.collect()
    kept = [Node(10) for _ in range(100000)]
    gc.collect(0)                       # they are of the middle generation now
    gc.set_threshold(50, 0, 100000)     # which is collected with the next 50 objects
    print(gc.get_count()[1])
    w, x = jnp.ones((256, 256)) * .01, jnp.ones((128, 256))
    for i in range(120):
        await fetch_features(i)
        if i == 90 and sys.argv[1] == 'collect':
            gc.enable()
            made = [Node(10) for _ in range(300)]
            gc.disable()
        w = step(w, x)
        w.block_until_ready()
asyncio.run(main())
print(len(gc.callbacks))
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


def slow_steps():
    """What runs when the window opens is what the step is said to be slow for."""
    program = ROOT / 'slow.py'
    program.write_text(SLOW)
    for what, limit, culprit, where in (('await', 100, 'await fetch_features', 'slow.py:8'), ('collect', 60, 'collect garbage', 'slow.py:21')):
        run = capture(['--when', 'step > %dms' % limit, '--max', 1], what, program=program)
        check('slow by %s: a window in the middle of its step' % what, run.code == 0 and 'recorded from' in run.err, (run.out, run.err))
        report = json.loads(live.idsprof('report', '--json', run.folder).stdout)
        said = [piece for piece in report.get('advice', ()) if piece.get('culprit') != 'wait_for_core']
        first = said[0] if said else {}
        rows = report['tables'].get('slow_steps', {}).get('rows', [])
        check('slow by %s: what the history says of it' % what, any('collected garbage for' in (row[-1] or '') for row in rows) == (what == 'collect'), rows)
        check('slow by %s: named' % what, (first.get('culprit'), first.get('where')) == (culprit, where), (said[:2], run.err))


CASES = [waits, slow_steps]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
