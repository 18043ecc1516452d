#!/usr/bin/env python3
"""What the flight recorder's history costs a step, with real JAX on the CPU. Runs alone (IDS_TIMED_TESTS): it reads the clock to a tenth of a
microsecond. Environment: IDSPROF, IDS_PYTHON (a Python with jax), TMPDIR. Exit: 0, 1, 77 = cannot run here.
"""
import subprocess
import sys

import test_capture as live
from test_capture import HERE, IDSPROF, PYTHON, ROOT, check

LOOP = HERE / 'recorder_loop.py'
MOST_US = 1.0


def step_us(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    return float(done.stdout)


def cost(*words):
    """Interleaved: the least that a step took with the history (the window never opens) and without idsprof. What others do only makes it
    more, so more tries come nearer to what it costs."""
    program = (PYTHON, LOOP, 'tight', *words)
    plain, counted, tries = 1e9, 1e9, 0
    while tries < 4 or (counted - plain > MOST_US and tries < 16):
        tries += 1
        plain = min(plain, step_us(*program))
        counted = min(counted, step_us(IDSPROF, 'capture', '-q', '-o', ROOT / 'cost', '--start-step', 1000000000, '--', *program))
    check('%s: a step costs at most %g us' % (words, MOST_US), counted - plain <= MOST_US, (plain, counted))
    print('     %.2f us without, %.2f us with: %.2f us a step, least of %d' % (plain, counted, counted - plain, tries))


live.need_jax()
cost()
cost('annotate')
sys.exit(bool(live.failures))
