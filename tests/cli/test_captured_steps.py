#!/usr/bin/env python3
"""A report says where `idsprof capture` counted other steps in the window than the profile shows, and nothing where they agree or where one of
the two knows of none. The messages of the capture are made up; its end with real JAX: tests/live/test_loops.py.
Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT, SOURCE = Path(os.environ['TMPDIR']), Path(os.environ['IDS_SOURCE_DIR'])
os.environ['XDG_CACHE_HOME'] = str(ROOT / 'cache')
failures = 0


def run(name, *windows):
    """A capture of the profile with six steps; each window: (file, steps, first, last)."""
    folder = ROOT / name
    shutil.copytree(SOURCE / 'testdata' / 'cpu1_annotated' / 'plugins', folder / 'plugins')
    (folder / '.idsprof').mkdir()
    lines = [{'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': -1, 'pid': 7}]
    for number, (file, steps, first, last) in enumerate(windows, 1):
        lines += [{'t': 2, 'event': 'opened', 'window': number, 'collector': 'jax', 'by': 'step', 'step': first},
                  {'t': 3, 'event': 'written', 'window': number, 'collector': 'jax', 'by': 'step', 'path': file, 'bytes': 1, 'first_step': first,
                   'last_step': last, 'steps': steps}]
    (folder / '.idsprof' / 'h.7.hello').write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in lines))
    return folder


def said(folder):
    done = subprocess.run([os.environ['IDSPROF'], 'report', '--json', folder], capture_output=True, text=True)
    return [diag['text'] for diag in json.loads(done.stdout)['diag'] if diag['id'] == 'steps.disagree']


def same(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print('FAIL %s: %r, not %r' % (what, found, wanted))


file, = (SOURCE / 'testdata' / 'cpu1_annotated').glob('plugins/profile/*/*.xplane.pb')
FILE = str(file.relative_to(SOURCE / 'testdata' / 'cpu1_annotated'))
OTHER = 'plugins/profile/2000_01_01_00_00_00/h.xplane.pb'
WARNING = ['capture counted 5 steps (1 to 5) in this window, and the profile shows 6 steps (0 to 5)']
differs = run('differs', (FILE, 5, 1, 5))
same('other steps', said(differs), WARNING)
same('out of the cache', said(differs), WARNING)
same('as many', said(run('agrees', (FILE, 6, 0, 5))), [])
same('no steps: a window by time', said(run('without', (FILE, 0, -1, -1))), [])
same('another window of the capture', said(run('other', (OTHER, 3, 0, 2))), [])
same('of two windows its own', said(run('two', (OTHER, 6, 0, 5), (FILE, 5, 1, 5))), WARNING)
same('of ranks the one with most steps', said(run('ranks', (FILE, 2, 0, 1), (FILE, 6, 0, 5))), [])
broken = run('broken', (FILE, 5, 1, 5))
(broken / '.idsprof' / 'h.7.hello').write_bytes(b'\xff{"event":"written","steps":\n' * 3)
same('messages that are none', said(broken), [])
print('%d failures' % failures)
sys.exit(failures > 0)
