#!/usr/bin/env python3
"""Four times the devices, hosts, names or programs take about four times as long: user CPU time, the least of three runs. The limit leaves room
for a loaded machine: what is quadratic takes sixteen times as long. cli.growth_counts holds the same by instructions.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/support')
import growing_runs  # noqa: E402

IDSPROF = os.environ['IDSPROF']
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
GROWTH, LIMIT = 4, 6
START_S = 0.02  # of the program itself, more or less
REPORT = ['report', '--no-cache']
CASES = (('devices', 4000, [REPORT]),  # 16,384 devices are the limit of a run
         ('hosts', 500, [REPORT]),
         ('cpu_devices', 4000, [REPORT]),
         ('tpu_programs', 8000, [REPORT]),
         ('cpu_programs', 8000, [REPORT]),
         ('files', 5000, [REPORT]),
         ('names', 20000, [REPORT, ['extract', '-f', 'csv', '-o', '-'], ['extract', '-f', 'xplane', '-o', '-']]))
failures = []


def seconds(arguments):
    least = None
    for _ in range(3):
        done = subprocess.Popen([IDSPROF, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = done.stderr.read()
        _, status, usage = os.wait4(done.pid, 0)
        done.returncode = status
        if status:
            failures.append(f'{arguments}: {said[-300:]!r}')
        least = usage.ru_utime if least is None else min(least, usage.ru_utime)
    return least


def hosts_are_all(run, count):
    found = subprocess.run([IDSPROF, 'list', '--json', run], capture_output=True, check=True)
    runs = json.loads(found.stdout)['runs']
    if [r['hosts'] for r in runs] != [count]:
        failures.append(f'{count} ranks are {len(runs)} runs')


with tempfile.TemporaryDirectory() as root:
    for kind, small, commands in CASES:
        took = []
        for count in (small, GROWTH * small):
            count //= 4 if SANITIZED else 1
            folder = Path(root) / f'{kind}{count}'
            folder.mkdir()
            run = getattr(growing_runs, kind)(folder, count)
            if kind == 'hosts':
                hosts_are_all(run, count)
            took.append([seconds([*command, run]) for command in commands])
        for command, first, second in zip(commands, *took):
            print(f'{kind} {" ".join(command)}: {first:.3f} s, {second:.3f} s')
            if second > LIMIT * (first + START_S):
                failures.append(f'{GROWTH} times the {kind}: {command} takes {second:.2f} s after {first:.2f} s')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
