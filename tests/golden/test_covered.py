#!/usr/bin/env python3
"""Every metric has a golden case with a value that is not 0, and every rule of advice a planted fault (tests/mutants).

A golden case is a line `#= metric ID VALUE` of testdata, or a check by name in tests/golden. A rule of advice is a call in advise_on_all
(analyzers/advice.c), or a row of the table in analyzers/remedies.c that has a condition; its fault is a patch that takes it away.
Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
# Copies and sets within the device and between devices are booked as activity by every writer: such time is never idle.
NEVER = {'idle.copy.d2d', 'idle.copy.p2p', 'idle.copy.set'}
failures = []


def golden_ids():
    found = set()
    for path in [*SOURCE.glob('testdata/mini/*.mini'), *SOURCE.glob('testdata/json/*.expect')]:
        for metric, value in re.findall(r'^#= metric (\S+) (?:@\S+ )?(\S+)', path.read_text(), re.M):
            if value != 'nodata' and not re.fullmatch(r'0(s|ms|us|ns|ps)?|0/\d+', value):
                found.add(metric)
    for path in SOURCE.glob('tests/golden/test_*.py'):
        if path.name != Path(__file__).name:
            found |= set(re.findall(r'''["']([a-z0-9_]+\.[a-z0-9_.]+)["']''', path.read_text()))
    return found


def taken_away():
    """What the patches remove, as one text."""
    return '\n'.join(line[1:] for path in SOURCE.glob('tests/mutants/*.patch') for line in path.read_text().splitlines()
                     if line.startswith('-') and not line.startswith('---'))


metrics = json.loads(subprocess.run([os.environ['IDSPROF'], 'dump', '--sql'], capture_output=True, text=True, check=True).stdout)
golden = golden_ids()
for metric in metrics:
    if metric not in golden and metric not in NEVER:
        failures.append(f"no golden case has a value of {metric}: derive one in a file of testdata/mini, with a line '#= metric {metric} VALUE'")
faults = taken_away()
calls = re.search(r'^static void advise_on_all\(.*?^\}', (SOURCE / 'analyzers/advice.c').read_text(), re.M | re.S).group()
for rule in re.findall(r'\b(ids_advise_on_\w+)\(', calls):
    if not re.search(rf'\b{rule}\(adviser[),]', faults):
        failures.append(f'no planted fault takes away {rule} of analyzers/advice.c: add a patch to tests/mutants (see tests/mutants/run.sh)')
table = re.search(r'^\} sentences\[\] = \{(.*?)^\};', (SOURCE / 'analyzers/remedies.c').read_text(), re.M | re.S).group(1)
rows = [(row.group(1), row.group(2), row.group()) for row in re.finditer(r'^    \{(IDS_\w+), (\w+),.*?\}\},$', table, re.M | re.S)]
cases = re.findall(r'\{\{(IDS_\w+), [^{}]*\},\s+"([^"!]+)"\}', (SOURCE / 'tests/unit/test_remedies.c').read_text())
if len(rows) < 40 or len(metrics) < 100 or len(re.findall(r'ids_advise_on_\w+\(', calls)) < 10:
    failures.append('the rules and metrics were not understood')
for account, condition, row in rows:
    words = re.sub(r'"\s*"', '', row)
    for macro, text in re.findall(r'^#define (\w+) *\\?\n?((?:.*\\\n)*.*)', (SOURCE / 'analyzers/remedies.c').read_text(), re.M):
        words = words.replace(macro, re.sub(r'"\s*\\?\s*"', '', text))
    if condition != 'NULL' and not any(of == account and says in words for of, says in cases):
        failures.append(f'no case of tests/unit/test_remedies.c says the row {account}, {condition} of analyzers/remedies.c')
    if condition != 'NULL' and not re.search(rf'\{{{account}, {condition},', faults):
        failures.append(f'no planted fault takes away the row {account}, {condition} of analyzers/remedies.c: add a patch to tests/mutants '
                        '(see tests/mutants/run.sh)')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
