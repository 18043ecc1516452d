#!/usr/bin/env python3
"""Four times the devices, hosts, names, programs or runs of a database take at most 4.4 times the instructions, counted by cachegrind.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/support')
import growing_runs  # noqa: E402

IDSPROF = os.environ['IDSPROF']
GROWTH, LIMIT = 4, 4.4
REPORT = ['report', '--no-cache']
XPLANE = ['extract', '-f', 'xplane', '-o', '-']
CASES = (('devices', 1000, [REPORT, XPLANE, [*XPLANE, '-d', 'GPU:1*']]),
         ('hosts', 250, [REPORT]),
         ('cpu_devices', 1000, [REPORT]),
         ('tpu_programs', 1000, [REPORT]),
         ('cpu_programs', 1000, [REPORT]),
         ('runs', 50, [['list']]),
         ('names', 4000, [REPORT, XPLANE, [*XPLANE, '-n', '*_1*'], ['extract', '-f', 'csv', '-o', '-']]))
failures = []

if os.environ.get('IDS_SANITIZE') == '1' or not shutil.which('valgrind'):
    print('no valgrind, or a program that it cannot run')
    sys.exit(77)


def instructions(arguments):
    done = subprocess.run(['valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null', IDSPROF,
                           *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = done.stderr.decode(errors='replace')
    if done.returncode:
        failures.append(f'{arguments}: {said[-300:]}')
    return int(re.search(r'I +refs: +([\d,]+)', said)[1].replace(',', ''))


def as_xplane(run):
    subprocess.run([IDSPROF, 'extract', '-f', 'xplane', '-o', run.parent, run], check=True, stderr=subprocess.DEVNULL)
    return next(run.parent.glob('*.pb'))


def as_database(folder):
    database = folder.parent / f'{folder.name}.db'
    subprocess.run([IDSPROF, 'import', '-o', database, *sorted(folder.iterdir())], check=True, stderr=subprocess.DEVNULL)
    return database


with tempfile.TemporaryDirectory() as root:
    for kind, small, commands in CASES:
        counts = []
        for count in (small, GROWTH * small):
            folder = Path(root) / f'{kind}{count}'
            folder.mkdir()
            runs = [getattr(growing_runs, kind)(folder, count)]
            if kind == 'runs':
                runs = [as_database(runs[0])]
            if kind in ('devices', 'names'):
                runs.append(as_xplane(runs[0]))
            counts.append([(f'{" ".join(command)} of {run.suffix}', instructions([*command, run]))
                           for run in runs for command in commands])
        for (command, first), (_, second) in zip(*counts):
            print(f'{kind} {command}: {first / 1e6:.0f} and {second / 1e6:.0f} million, {second / first:.2f} times')
            if second > LIMIT * first:
                failures.append(f'{GROWTH} times the {kind}: {command} takes {second / first:.2f} times the instructions')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
