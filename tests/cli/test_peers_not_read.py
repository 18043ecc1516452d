#!/usr/bin/env python3
"""Collectives are no exchange for sure where somebody who takes part in them was not read whole.

Four hosts (bench/gen_hosts.c), the third of which makes the others wait. Where its file is empty, a link to nothing, or cut, the report says
that it is incomplete, and that collectives may wait for it; it neither calls devices that may wait well used, nor says what could be won.
Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

GENERATOR = Path(os.environ['IDS_BUILD_DIR']) / 'support/gen_hosts'
HOSTS, LATE, BYTES = 4, 2, 300_000
failures = []


def check(what, is_so, said=''):
    if not is_so:
        failures.append(f'{what}: {said}')


def report(folder):
    return json.loads(subprocess.run([os.environ['IDSPROF'], 'report', '--json', '--no-cache', str(folder)], capture_output=True, check=True).stdout)


def how_known(run):
    """How the time of collectives is known, by the ledger's entries."""
    table = run['tables']['ledger']
    columns = [column['id'] for column in table['columns']]
    rows = [dict(zip(columns, row)) for row in table['rows']]
    return {row['known'] for row in rows if row['account'] == 'comm.transfer'}


def exchange_of(run):
    return next((one for one in run['advice'] if one['account'] == 'comm.transfer'), None)


with tempfile.TemporaryDirectory() as root:
    subprocess.run([GENERATOR, root, str(HOSTS), str(BYTES), str(LATE)], check=True)
    late = Path(root) / f'host{LATE:03}.xplane.pb'
    whole = late.read_bytes()

    run = report(root)
    check('all are read', how_known(run) == {'recorded'} and 'peers_not_read' not in run['run'], how_known(run))
    told = exchange_of(run)
    check('what an exchange takes could be won', told and told['saves'] > 0 and 'not all who take part' not in told['what'], told)

    for how in 'empty', 'a link to nothing', 'cut':
        late.unlink()
        if how == 'a link to nothing':
            late.symlink_to('nowhere')
        else:
            late.write_bytes(whole[:len(whole) // 3] if how == 'cut' else b'')
        run = report(root)
        check(f'{how}: inferred', how_known(run) == {'inferred'}, how_known(run))
        check(f'{how}: why', 'not whole: ' in run['run'].get('peers_not_read', ''), run['run'])
        told = exchange_of(run)
        check(f'{how}: the advice says so', told and told['saves'] is None and 'not all who take part are read whole' in told['what'] and
              f'host{LATE:03}' in told['evidence'], told)
        utilization = run['metrics']['device.utilization']
        check(f'{how}: busy is not well used', utilization['value'] > 0.8 and not utilization.get('grade'), (utilization['value'], utilization.get('grade')))

if failures:
    sys.exit('\n'.join(failures))
