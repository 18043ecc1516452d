#!/usr/bin/env python3
"""`idsprof diff` and `scale` on traces recorded this minute: what the recording did is named, and what scaling lost adds up.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax).  Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF = os.environ.get('IDSPROF') or ''
sys.path.insert(0, str(SOURCE / 'tests' / 'golden'))
from test_mini import rows  # noqa: E402
from test_mini_diff import invariants  # noqa: E402

failures = 0


def expect(what, ok, found):
    global failures
    failures += not ok
    print('%s %s: %s' % ('ok  ' if ok else 'FAIL', what, found))


def idsprof(*arguments):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    expect('idsprof %s ends' % arguments[0], done.returncode == 0, done.stderr.strip()[-500:])
    return json.loads(done.stdout, parse_float=Decimal)


def main():
    if not os.access(IDSPROF, os.X_OK):
        print('SKIP: IDSPROF names no program (%r)' % IDSPROF)
        return 77
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode != 0:
        print('SKIP: %s has no jax (tests/requirements.txt)' % PYTHON)
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        run = subprocess.run([PYTHON, str(SOURCE / 'testdata' / 'compare' / 'record.py'), '--into', scratch, 'all'],
                             capture_output=True, text=True, timeout=900)
        expect('recorded', run.returncode == 0, run.stderr[-2000:] if run.returncode else 'all')
        compare, scaled = Path(scratch) / 'compare', Path(scratch) / 'scale'
        for name, wanted in (('recompile', 'recompilation inside steps: 0 → 3 (score)'), ('transfer', 'transfers to the device: 2 → 3 calls a step'),
                             ('doubled', 'layer2 is new')):
            found = idsprof('diff', '--json', compare / 'base', compare / name)
            texts = [row['text'] for row in rows(found, 'changes')]
            expect(name + ' is named', any(text.startswith(wanted) for text in texts), texts)
            expect(name + ' adds up', not list(invariants(found)), list(invariants(found)))
        again = idsprof('diff', '--json', compare / 'base', compare / 'again')
        expect('the same program recorded twice', all(row['by'] == 'fingerprint' for row in rows(again, 'ops')), again['run']['verdict'])
        found = idsprof('scale', '--json', *(scaled / ('dev%d' % n) for n in (1, 2, 4, 8)))
        for point in rows(found, 'configurations'):
            parts = sum(row['lost'] for row in rows(found, 'losses') if row['devices'] == point['devices'])
            expect('%s devices: the parts sum to the loss within 1 %%' % point['devices'], abs(point['loss'] - parts) <= abs(point['loss']) / 100,
                   (parts, point['loss']))
    print('%d failures' % failures)
    return failures > 0


sys.exit(main())
