#!/usr/bin/env python3
"""Loops that jax itself records: each has as many steps as it annotates, with the work of one execution of each op, however its executions
are chained. Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax). Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
KINDS = ('async', 'async-nonum', 'async-plain', 'async-thread', 'async-ahead', 'async-two', 'block')
failures = 0


def check(what, ok, found=''):
    global failures
    failures += not ok
    print('%s %s: %s' % ('ok  ' if ok else 'FAIL', what, found))


def query(run, statement):
    done = subprocess.run([os.environ['IDSPROF'], 'query', '--format', 'json', run, statement], capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def look(kind, steps, size, folder):
    subprocess.run([PYTHON, SOURCE / 'tests/live/step_loop.py', kind, str(steps), str(size), folder], check=True, timeout=300,
                   env={**os.environ, 'JAX_PLATFORMS': 'cpu'}, capture_output=True)
    about = '%s, %d steps, %d' % (kind, steps, size)
    done = subprocess.run([os.environ['IDSPROF'], 'report', '--no-cache', '--json', folder], capture_output=True, text=True, timeout=300)
    found = json.loads(done.stdout)['run']['steps'] if done.returncode == 0 else done.stderr
    check(about, isinstance(found, dict) and (found['source'], found['count']) == ('annotation', steps), found)
    counts = query(folder, "SELECT step, count(*) AS ops FROM ops WHERE module = 'jit_train_step' GROUP BY step")
    each = {row['ops'] for row in counts} if isinstance(counts, list) else counts
    check(about + ': the ops of one execution each', isinstance(each, set) and len(each) == 1 and len(counts) == steps, each)


def main():
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode:
        print('SKIP: %s has no jax' % PYTHON)
        sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)
    with tempfile.TemporaryDirectory() as root:
        os.environ['XDG_CACHE_HOME'] = root + '/cache'
        for kind in KINDS:
            for steps, size in ((5, 64), (20, 64), (20, 512)):
                look(kind, steps, size, '%s/%s-%d-%d' % (root, kind, steps, size))
    sys.exit(failures > 0)


main()
