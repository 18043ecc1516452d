#!/usr/bin/env python3
"""A capture makes Python collect no garbage that the program alone does not, with real JAX on the CPU: of a loop whose count of objects
stays just below where Python collects them all.

    test_garbage.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import subprocess
import sys

import test_capture as live
from test_capture import PYTHON, ROOT, capture, check

BELOW = 30      # objects that the program has left: the opening of a window makes and keeps twice as many
PROGRAM = '''import contextlib, gc, sys
import jax, jax.numpy as jnp
class Kept:
    __slots__ = ('nothing',)
step, x = jax.jit(lambda x: x * .5 + 1), jnp.ones(8)
def annotated(i):
    return jax.profiler.StepTraceAnnotation('train', step_num=i) if sys.argv[1] == 'annotated' else contextlib.nullcontext()
found = []
def collected(phase, info):
    if phase == 'start':
        found.append((i, info['generation']))
gc.freeze()
gc.collect()
kept = [Kept() for _ in range(400)]
gc.collect(1)                   # they wait for the next collection of all: it comes as soon as the count is over the threshold
gc.set_threshold(700, 0, 0)
gc.callbacks.append(collected)
for i in range(60):
    if i == 20:
        kept += [Kept() for _ in range(700 - %d - gc.get_count()[0])]
    with annotated(i):
        x = step(x)
        x.block_until_ready()
gc.callbacks.remove(collected)
print([one for one in found if one[0] >= 20])
kept += [Kept() for _ in range(100)]    # that it would have come
print(gc.get_stats()[2]['collections'] > 1)
''' % BELOW


def steps():
    """When the window opens, in its steps, and when it ends."""
    program = ROOT / 'full.py'
    program.write_text(PROGRAM)
    for way in 'annotated', 'counted':
        alone = subprocess.run([PYTHON, program, way], capture_output=True, text=True, timeout=120)
        check('%s: alone it collects nothing in the loop' % way, alone.stdout == '[]\nTrue\n', alone)
        for options in ['-s', 30], ['-s', 30, '--stacks', 0]:
            run = capture(options, way, program=program)
            check('%s, captured %s: neither' % (way, options), (run.code, run.out) == (0, alone.stdout), (run.out, run.err))
            check('%s, captured %s: five steps' % (way, options), run.line('caught').startswith('steps 30-34'), run.err)


CASES = [steps]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
