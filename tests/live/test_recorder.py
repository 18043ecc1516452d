#!/usr/bin/env python3
"""The flight recorder with real JAX on the CPU: of 20,000 steps three are slow; their windows are kept, and no others. What
it costs a step, and a thread that keeps a window from opening: live.recorder_alone. Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR. Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF = os.environ['IDSPROF']
ROOT = Path(os.environ.get('TMPDIR') or '/tmp')
LOOP = HERE / 'recorder_loop.py'
PLANTED, LIMIT, WAIT = (4113, 11000, 17031), 0.25, 0.6
failures = 0

for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_', 'JAX_', 'XLA_')) or name in ('RANK', 'SLURM_PROCID', 'PYTHONPATH'):
        del os.environ[name]
os.environ.update(JAX_PLATFORMS='cpu', XDG_RUNTIME_DIR=str(ROOT))


def check(what, ok, found=''):
    global failures
    failures += not ok
    print('%s %s%s' % ('ok  ' if ok else 'FAIL', what, '' if ok else ': %s' % (found,)), flush=True)


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)


def three_of_20000(*words):
    folder = ROOT / ('kept-' + '-'.join(words))
    done = run(IDSPROF, 'capture', '-o', folder, '--when', 'step > %dms' % (LIMIT * 1000), '--max-cost', '20%', '--', PYTHON, LOOP, 20000,
               ','.join(map(str, PLANTED)), WAIT, *words)
    session, = folder.iterdir()
    sidecar = json.loads((session / 'idsprof-run.json').read_text())
    process, = sidecar['processes']
    kept = [window['slow_step'] for window in process['windows']]
    # A loaded machine makes steps slow that nobody planted: by the program's own clock they were.
    own = {int(step): seconds for step, seconds in json.loads(done.stdout).items()}
    check('all three are kept', set(PLANTED) <= set(kept), (kept, done.stderr))
    check('and no step that was not slow', all(own.get(step, 0) > LIMIT * 0.9 for step in kept), (kept, own))
    check('a window each', len(list(session.glob('plugins/profile/*/*.xplane.pb'))) == len(kept), kept)
    check('most windows are not kept', process['judged']['tried'] > 3 * len(kept), process['judged'])
    for window in process['windows']:
        if window['slow_step'] in PLANTED:
            said = re.match(r'step [\d,]+ took (\d+) ms, ([\d.]+) × the median', window['reason'])
            check('step %d with its time' % window['slow_step'], said and abs(int(said[1]) / 1000 - own[window['slow_step']]) < 0.1, window)
            stacks = run(IDSPROF, 'extract', '-f', 'folded', '-o', '-', session / window['path'])
            check('and what it waited for', 'wait_for_file' in stacks.stdout, stacks.stdout[:300] + stacks.stderr)
            told = run(IDSPROF, 'report', session / window['path']).stdout.partition('\n  1  ')[2].partition('\n  2  ')[0]
            check('which the first advice names', 'wait_for_file' in told and 'step %s)' % window['slow_step'] in told, told)
    report = json.loads(run(IDSPROF, 'report', '--json', session).stdout)
    slow = report['tables']['slow_steps']
    steps = [row[[column['id'] for column in slow['columns']].index('step')] for row in slow['rows']]
    # The history holds the last 10,000 steps.
    check('the history names them', set(steps) >= {step for step in PLANTED if step > 10000} and 4113 not in steps, slow)
    check('it is small', sum(path.stat().st_size for path in session.glob('.idsprof/*.history')) < 400000)
    print('     %s, %d windows of %d kept' % (words, len(kept), process['judged']['tried']))


if run(PYTHON, '-c', 'import jax').returncode:
    print('SKIP: %s has no jax' % PYTHON)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)
three_of_20000()
three_of_20000('annotate')
sys.exit(failures > 0)
