#!/usr/bin/env python3
"""Steps that are shorter than the time between two samples of the stacks, with real JAX on the CPU and default options: a function that holds
the device up for a few hundred microseconds in each step is named. Of three recordings two must, because others use the machine too.

    test_short.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import re
import subprocess
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


def report(run):
    return json.loads(live.idsprof('report', '--json', run.folder).stdout)


def first_advice(run):
    """Of what the program does: that others have the cores may be the first thing to say on a machine that they use too."""
    return next((advice for advice in report(run)['advice'] if advice.get('culprit') != 'wait_for_core'), {})


def short_gaps():
    for microseconds in (200, 600):
        said = [first_advice(capture([], microseconds, program=GAP)) for _ in range(3)]
        named = [advice for advice in said if advice.get('culprit') == 'prepare']
        check('a gap of %d us: its function is named' % microseconds, len(named) >= 2, said)
        check('a gap of %d us: and where it is' % microseconds, all(re.match(r'gap\.py:[6789]\b', advice['where']) for advice in named), named)


def core_less():
    """One core, which another program uses too: the function has its 400 us by its own clock of CPU time, and waiting is told apart."""
    core = min(os.sched_getaffinity(0))
    other = subprocess.Popen([sys.executable, '-c', 'import os\nos.sched_setaffinity(0, {%d})\nwhile True: pass' % core])
    try:
        run = capture(['-k', '40'], 400, program=GAP, prefix=['taskset', '-c', str(core)])
    finally:
        other.kill()
        other.wait()
    said = report(run)
    ledger = said['tables']['ledger']
    account, culprit, per_step = ([column['id'] for column in ledger['columns']].index(name) for name in ('account', 'culprit', 'per_step'))
    times = {row[culprit]: row[per_step] for row in ledger['rows'] if row[account] == 'host.python'}
    # How long a step waits is the scheduler's doing: its turns are of 3 ms, and the program sleeps in between.
    check('no core: it is said', times.get('wait_for_core', 0) > 0.1e-3, times)
    check('no core: the function has its own time', 0.1e-3 < times.get('prepare', 0) < 1.2e-3, times)
    check('no core: there is a remedy', any('has no core' in advice['what'] for advice in said['advice']), said['advice'])


CASES = [short_gaps, core_less]


def main():
    live.need_jax()
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
