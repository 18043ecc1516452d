"""Captures of tests/pjrt/program.c around the double of a plugin, for the tests of collector A.
Environment: IDSPROF, IDS_BUILD_DIR, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/oracle')
import xplane_oracle as oracle

IDSPROF = os.environ['IDSPROF']
SUPPORT = os.environ['IDS_BUILD_DIR'] + '/support'
PROGRAM, DOUBLE = SUPPORT + '/pjrt_program', SUPPORT + '/pjrt_double.so'
SHIM = os.environ['IDS_BUILD_DIR'] + '/lib/idsprof/libidsprof_pjrt.so'
ROOT = Path(os.environ['TMPDIR'])
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_', 'TPU_')) or name in ('RANK', 'SLURM_PROCID', 'PYTHONPATH', 'LD_AUDIT'):
        del os.environ[name]
os.environ['XDG_RUNTIME_DIR'] = str(ROOT / 'run')
(ROOT / 'run').mkdir()
failures = []
count = 0


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def done():
    for failure in failures:
        print('FAIL', failure)
    sys.exit(bool(failures))


def alone(words, faults=''):
    done = subprocess.run([PROGRAM, DOUBLE, *words], capture_output=True, text=True, timeout=60,
                          env={**os.environ, 'PJRT_DOUBLE': faults, 'DOUBLE': DOUBLE})
    return done.returncode, done.stdout


class Capture:
    def __init__(self, options, words, faults='', command=None, environment=None):
        global count
        count += 1
        command = command or ['sh', '-c', 'exec "$0" "$TPU_LIBRARY_PATH" "$@"', PROGRAM, *words]
        done = subprocess.run([IDSPROF, 'capture', '--keep-empty', '-o', ROOT / f'out{count}', *options, '--', *command],
                              capture_output=True, text=True, timeout=100,
                              env={**os.environ, 'PJRT_DOUBLE': faults, 'DOUBLE': DOUBLE, 'TPU_LIBRARY_PATH': DOUBLE,
                                   **(environment or {})})
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.folder = next(iter((ROOT / f'out{count}').glob('*/.idsprof')), Path('/nonexistent/x')).parent
        self.sidecar = json.loads((self.folder / 'idsprof-run.json').read_text()) if self.folder.exists() else {}
        self.files = sorted(self.folder.glob('plugins/profile/*/*.xplane.pb'))
        self.hello = ''.join(path.read_text() for path in self.folder.glob('.idsprof/*.hello'))
        self.planes = [plane for path in self.files for plane in oracle.load(path)]

    def events(self, plane, prefix=''):
        """The names of the events of the planes of that name, by start."""
        found = [event for p in self.planes if p.name == plane.encode() for line in p.lines for event in line.events]
        names = [event.name.decode() for event in sorted(found, key=lambda event: event.start)]
        return [name for name in names if name.startswith(prefix)]

    def stats(self, plane, name):
        """{key: value} of each event of that name."""
        return [{key.decode(): value.decode() for key, value in event.stats} for p in self.planes if p.name == plane.encode()
                for line in p.lines for event in line.events if event.name == name.encode()]


CALLS = '/host:idsprof.pjrt'
WORDS = ['client', 'compile:train', 'input', 'run:12', 'load:eval', 'run:3', 'copy:4096', 'client-end']
WINDOW = ['-s', '3', '-k', '5']
