#!/usr/bin/env python3
"""`idsprof doctor` on this machine: text and JSON say the same, the exit code says whether anything could be recorded, and each
problem has its remedy. Environment: IDSPROF, TMPDIR."""
import json
import os
import subprocess
import sys
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
ROOT = Path(os.environ['TMPDIR'])
failures = []


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def doctor(*arguments, **environment):
    return subprocess.run([IDSPROF, 'doctor', *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, 'COLUMNS': '100', **environment})


def findings(run):
    return {finding['id']: finding for finding in json.loads(run.stdout)['findings']}


# A Python with jax, and one without, that need none to be installed.
site = ROOT / 'site'
for name in ('jax', 'jaxlib'):
    (site / f'{name}-9.8.7.dist-info').mkdir(parents=True)
    (site / f'{name}-9.8.7.dist-info' / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 9.8.7\n')
with_jax = doctor('--json', '-p', sys.executable, '-o', ROOT / 'out', PYTHONPATH=str(site))
check(with_jax.returncode == 0, with_jax.stdout + with_jax.stderr)
check('cpu' in json.loads(with_jax.stdout)['can'], with_jax.stdout)
check(findings(with_jax)['python.jax']['what'] == '9.8.7 (jaxlib 9.8.7)', with_jax.stdout)
check(findings(with_jax)['python.hook']['state'] == 'ok', with_jax.stdout)
check(findings(with_jax)['python.stacks'] == {'id': 'python.stacks', 'state': 'ok', 'what': 'can be read', 'do': None}, with_jax.stdout)
check(findings(with_jax)['place.folder']['what'] == str(ROOT / 'out') and not (ROOT / 'out').exists(), 'doctor makes no folder')

text = doctor('-p', sys.executable, '-o', ROOT / 'out', PYTHONPATH=str(site))
check(text.returncode == 0 and text.stdout.startswith('idsprof capture records jax 9.8.7 here, on '), text.stdout)
check(all(len(line) <= 100 for line in text.stdout.splitlines()), text.stdout)

for arguments, environment, problem in (
        (['-p', 'no-such-python'], {}, 'python.program'),
        (['-p', '/bin/true'], {}, 'python.program'),
        (['-p', sys.executable, '-o', '/proc/nowhere'], {'PYTHONPATH': str(site)}, 'place.folder')):
    run = doctor('--json', *arguments, **environment)
    check(run.returncode == 1 and json.loads(run.stdout)['can'] == [], run.stdout + run.stderr)
    check(findings(run)[problem]['state'] == 'problem' and findings(run)[problem]['do'], run.stdout)
    text = doctor(*arguments, **environment)
    check(text.returncode == 1 and 'would record nothing here' in text.stdout and ' -> ' in text.stdout, text.stdout)

# On a full disk a folder can be made, and no window be written.
disk = ROOT / 'disk'
disk.mkdir()
fill = 'mount -t tmpfs -o size=200k none "$1" || exit 99; dd if=/dev/zero of="$1/fill" bs=1k count=500 2>/dev/null; shift; exec "$@"'
full = subprocess.run(['unshare', '-rm', 'sh', '-c', fill, 'sh', disk, os.environ['IDSPROF'], 'doctor', '--json', '-p', sys.executable, '-o', disk],
                      capture_output=True, text=True, env={**os.environ, 'PYTHONPATH': str(site)})
if full.returncode == 99 or 'unshare' in full.stderr:
    print('without a full disk: no tmpfs can be mounted here')
else:
    check(full.returncode == 1 and json.loads(full.stdout)['can'] == [] and findings(full)['place.space']['state'] == 'problem', full.stdout + full.stderr)

isolated = ROOT / 'isolated'
isolated.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "$@"\n')
isolated.chmod(0o755)
run = doctor('--json', '-p', isolated)
check(findings(run)['python.hook']['what'] == 'this Python runs with -I, -E or -S, which keep it out', run.stdout)
check(run.returncode == 1, run.stdout)

for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
