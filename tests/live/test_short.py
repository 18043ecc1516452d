#!/usr/bin/env python3
"""Steps that are shorter than the time between two samples of the stacks, with real JAX on the CPU and default options: a function that holds
the device up for a few hundred microseconds in each step is named. Of three recordings two must, because others use the machine too.

    test_short.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import json
import re
import sys

import test_capture as live
from test_capture import ROOT, capture, check

GAP = ROOT / 'gap.py'
GAP.write_text('''import sys, time
import jax, jax.numpy as jnp
@jax.jit
def train_step(w, x):
    return w * .999 + (x.T @ jnp.tanh(x @ w)) * 1e-6
def prepare(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
w, x = jnp.ones((256, 256)) * .01, jnp.ones((128, 256))
for i in range(200):
    prepare(float(sys.argv[1]) * 1e-6)
    w = train_step(w, x)
    w.block_until_ready()
''')


def first_advice(run):
    advice = json.loads(live.idsprof('report', '--json', run.folder).stdout)['advice']
    return advice[0] if advice else {}


def short_gaps():
    for microseconds in (200, 600):
        said = [first_advice(capture([], microseconds, program=GAP)) for _ in range(3)]
        named = [advice for advice in said if advice.get('culprit') == 'prepare']
        check('a gap of %d us: its function is named' % microseconds, len(named) >= 2, said)
        check('a gap of %d us: and where it is' % microseconds, all(re.match(r'gap\.py:[6789]\b', advice['where']) for advice in named), named)


CASES = [short_gaps]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
