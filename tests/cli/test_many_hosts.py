#!/usr/bin/env python3
"""A run of many hosts takes about the memory of a few: what hosts did lies in a temporary file.

24 hosts with eight TPUs each (bench/gen_hosts.c), one of which is late: it is named, memory grows by little with each host, and neither the
number of threads nor a file that there is no room for changes a byte. Environment: IDSPROF, IDS_BUILD_DIR, IDS_SANITIZE, TMPDIR.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
GENERATOR = Path(os.environ['IDS_BUILD_DIR']) / 'support/gen_hosts'
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'  # its memory is another one, and no limit leaves room for its shadow
MB = 1 << 20
HOSTS, FEW, LATE, BYTES = (12 if SANITIZED else 24), 6, 4, (3 if SANITIZED else 6) * MB
# A host's events take about 12 MB of memory. What stays of each host are names, sums and rows of the report.
MOST_MB_A_HOST = 3
failures = []


def check(what, is_so, said=''):
    if not is_so:
        failures.append(f'{what} {said}')


def report(folder, *options, tmp=None, limit=None):
    """Exit code, standard output, error, and the peak of memory in MB."""
    environment = dict(os.environ, **({'TMPDIR': str(tmp)} if tmp else {}))

    def bound():
        if limit:
            resource.setrlimit(*limit)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([IDSPROF, 'report', '--json', '--no-cache', *options, str(folder)], stdout=out, stderr=errors,
                                   env=environment, preexec_fn=bound)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        return process.returncode, out.read(), errors.read(), usage.ru_maxrss / 1024


with tempfile.TemporaryDirectory() as root:
    few, many, tmp = Path(root) / 'few', Path(root) / 'many', Path(root) / 'tmp'
    for folder in few, many, tmp:
        folder.mkdir()
    subprocess.run([GENERATOR, many, str(HOSTS), str(BYTES), str(LATE)], check=True)
    for file in sorted(many.iterdir())[:FEW]:
        os.link(file, few / file.name)

    code, whole, said, peak = report(many, '--jobs=2', tmp=tmp)
    check('24 hosts are reported', code == 0, said)
    check('nothing stays in TMPDIR', not list(tmp.iterdir()))
    run = json.loads(whole)
    ledger = run['tables']['ledger']
    columns = [column['id'] for column in ledger['columns']]
    rows = [dict(zip(columns, row)) for row in ledger['rows']]
    waited = [row['culprit'] for row in rows if row['account'] == 'comm.wait']
    check('the others wait for the late host', waited and waited[0] == f'host{LATE:03}', waited[:2])
    check('of all hosts', run['run']['hosts'] == HOSTS and not run['run'].get('part'), run['run'])

    if not SANITIZED:
        peak_of_few = report(few, '--jobs=2', tmp=tmp)[3]
        grown = (peak - peak_of_few) / (HOSTS - FEW)
        check('memory grows by little with each host', grown < MOST_MB_A_HOST, f'{grown:.1f} MB: {peak_of_few:.0f} to {peak:.0f}')

    for jobs in '1', '16':
        check(f'{jobs} jobs say the same', report(many, f'--jobs={jobs}', tmp=tmp)[:3] == (code, whole, said))

    # Without a file all lies in memory, as of few hosts.
    check('without a folder for it', report(many, tmp=Path(root) / 'nowhere')[:2] == (code, whole))
    for room in 4 * MB, 40 * MB:
        check(f'where a file has room for {room // MB} MB', report(many, tmp=tmp, limit=(resource.RLIMIT_FSIZE, (room, room)))[:2] == (code, whole))

    # Of 200 MB a fifth may be held: all hosts together do not fit, each does.
    if not SANITIZED:
        tight = (resource.RLIMIT_DATA, (200 * MB, 200 * MB))
        code, out, said, _ = report(many, '--jobs=2', tmp=tmp, limit=tight)
        check('the whole run in little memory', (code, out) == (0, whole), said)
        code, out, said, _ = report(many, '--jobs=2', tmp=Path(root) / 'nowhere', limit=tight)
        check('a part of it where nothing lies in a file', code == 0 and json.loads(out)['run'].get('part'), said)

if failures:
    sys.exit('\n'.join(failures))
