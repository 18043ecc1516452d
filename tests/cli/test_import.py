#!/usr/bin/env python3
"""`idsprof import`: what is in the file, several runs in one, what is kept, and what an interruption leaves.

Every expectation is counted by the oracle or made by hand here. Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
sys.path.insert(0, str(SOURCE / 'tests' / 'oracle'))
import xplane_oracle  # noqa: E402

CPU1 = next((SOURCE / 'testdata' / 'cpu1_annotated').rglob('*.xplane.pb'))
CPU8 = next((SOURCE / 'testdata' / 'cpu8_annotated').rglob('*.xplane.pb'))
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def rows(path, sql):
    db = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def counted(path):
    planes = xplane_oracle.load(path)
    return sum(len(line.events) for plane in planes for line in plane.lines)


def check_cut(folder):
    """That rows are missing is said by who writes them and, each time, by who asks; of a whole run nobody says anything."""
    cut, output = folder / 'cut.xplane.pb', folder / 'cut.db'
    content = CPU8.read_bytes()
    cut.write_bytes(content[:len(content) * 2 // 3])
    done = idsprof('import', cut, '-o', output)
    check(done.returncode == 0 and 'incomplete: ' in done.stderr and 'cut.xplane.pb' in done.stderr, f'import of a cut file: {done.stderr!r}')
    why = rows(output, "SELECT text FROM diag WHERE severity = 'damage' LIMIT 1")[0][0]
    for run in cut, cut, output:
        done = idsprof('query', run, 'SELECT 7')
        check(done.returncode == 0 and why in done.stderr and done.stdout.split() == ['7', '7'], f'a query of {run.name}: {done.stderr!r}')
    check(not idsprof('query', CPU1, 'SELECT 7').stderr, 'a query of a whole run says something')
    idsprof('import', CPU1, cut, cut, '-o', output, '--force')
    done = idsprof('query', output, 'SELECT 7')
    check('2 runs are incomplete' in done.stderr and why in done.stderr, f'a query of two cut runs of three: {done.stderr!r}')


def check_content(folder):
    output = folder / 'two.db'
    run = idsprof('import', CPU1, CPU8, '-o', output)
    check(run.returncode == 0, f'import of two runs: {run.stderr}')
    check(f'{output}: ' in run.stdout, f'import says {run.stdout!r}')
    check(rows(output, 'PRAGMA integrity_check') == [('ok',)], 'the file is not whole')
    check(rows(output, 'SELECT id, complete FROM run ORDER BY id') == [(1, 1), (2, 1)], 'two runs')
    for number, path in ((1, CPU1), (2, CPU8)):
        got = rows(output, f'SELECT count(*) FROM events WHERE run = {number}')
        check(got == [(counted(path),)], f'{path.name}: {got} events, the oracle counts {counted(path)}')
        # what the report says of the run alone
        report = json.loads(idsprof('report', path, '--json', '--no-cache').stdout)
        steps = report['tables']['steps']
        got = rows(output, f'SELECT count(*) FROM steps WHERE run = {number}')
        check(got == [(len(steps['rows']),)], f'{path.name}: {got} steps, the report has {len(steps["rows"])}')
    # The views lose nothing and make nothing up.
    for sql in ('SELECT count(*) FROM events', 'SELECT count(*) FROM event'):
        check(rows(output, sql) == [(counted(CPU1) + counted(CPU8),)], sql)
    stats = sum(len(e.stats) for path in (CPU1, CPU8) for p in xplane_oracle.load(path) for l in p.lines for e in l.events)
    shared = rows(output, 'SELECT count(*) FROM event JOIN name_stat USING (name)')[0][0]
    check(rows(output, 'SELECT count(*) FROM stats') == [(stats + shared,)], 'the view stats')
    # What an interval of the ledger is about was done by its device.
    strange = rows(output, """SELECT count(*), sum(k.device IS NOT l.device_id) FROM ledger l LEFT JOIN activity a ON a.event = l.event
                              LEFT JOIN activity_class k ON k.id = a.class WHERE l.event IS NOT NULL""")[0]
    check(strange[0] > 1000 and strange[1] == 0, f'intervals and those about events of other devices: {strange}')
    # A child of a step annotation lies in it.
    check(rows(output, "SELECT count(*) FROM events c JOIN events p ON p.id = c.parent WHERE p.name = 'train' AND "
                       "(c.start_ps < p.start_ps OR c.start_ps + c.dur_ps > p.start_ps + p.dur_ps)") == [(0,)], 'children')
    check(rows(output, "SELECT count(*) > 0 FROM events c JOIN events p ON p.id = c.parent WHERE p.name = 'train'") == [(1,)],
          'no children of steps')


def check_folder(folder):
    """A log folder, or an archive, gives all of its runs, the oldest first; --run one of them; a bad one stops all, loudly."""
    logs, output = folder / 'logs', folder / 'all.db'
    for i, path in enumerate((CPU1, CPU8, CPU1)):
        run = logs / f'plugins/profile/2026_01_0{i + 1}_00_00_00'
        run.mkdir(parents=True)
        (run / 'vm.xplane.pb').write_bytes(path.read_bytes())
    archive = folder / 'logs.tar'
    with tarfile.open(archive, 'w') as tar:
        tar.add(logs, 'logs')
    for source in (logs, archive):
        run = idsprof('import', source, '-o', output, '--force')
        check(run.returncode == 0 and ': 3 runs, ' in run.stdout, f'import of {source.name}: {run.stdout} {run.stderr}')
        check(rows(output, 'SELECT name FROM run ORDER BY id') == [(f'logs/2026_01_0{i}_00_00_00',) for i in (1, 2, 3)], f'runs of {source.name}')
        check(rows(output, 'SELECT count(*) FROM events GROUP BY run ORDER BY run') == [(counted(p),) for p in (CPU1, CPU8, CPU1)], 'events of each')
    run = idsprof('import', logs, '--run', '2026_01_02_00_00_00', '-o', output, '--force')
    check(run.returncode == 0 and ' run' not in run.stdout.split(';')[0].replace(str(folder), ''), f'import of one: {run.stdout} {run.stderr}')
    check(rows(output, 'SELECT name FROM run') == [('logs/2026_01_02_00_00_00',)], '--run takes one')
    (logs / 'plugins/profile/2026_01_02_00_00_00/vm.xplane.pb').write_bytes(b'\xff' * 100)
    run = idsprof('import', logs, '-o', folder / 'bad.db')
    check(run.returncode == 2 and '2026_01_02' in run.stderr and '--run NAME' in run.stderr, f'a bad run: {run.stderr}')
    check(not (folder / 'bad.db').exists(), 'a bad run leaves a file')


def check_same_bytes(folder):
    first, second = folder / 'first.db', folder / 'second.db'
    for path in (first, second):
        idsprof('import', CPU1, '-o', path, '-q')
    check(first.read_bytes() == second.read_bytes(), 'the same input gives other bytes')


def check_kept(folder):
    kept = folder / 'kept.db'
    kept.write_text('mine')
    run = idsprof('import', CPU1, '-o', kept)
    check(run.returncode == 2 and '--force' in run.stderr, f'a file that is there: {run.returncode} {run.stderr}')
    check(kept.read_text() == 'mine', 'a file that was there is not kept')
    run = idsprof('import', SOURCE / 'README.md', '-o', kept, '--force')
    check(run.returncode == 2 and kept.read_text() == 'mine', 'a failing import with --force does harm')
    run = idsprof('import', CPU1, '-o', kept, '--force', '--quiet')
    check(run.returncode == 0 and run.stdout == '' and rows(kept, 'SELECT count(*) FROM run') == [(1,)], '--force')


def check_errors(folder):
    for arguments, word in (([CPU1], '-o FILE'), ([CPU1, '-o', '-'], 'standard output'), ([CPU1, '-o', f'{folder}/no/x.db'], 'no/x.db'),
                            ([CPU1, '-o', f'{folder}/'], 'names no file'), ([SOURCE / 'README.md', '-o', folder / 'n.db'], 'README.md')):
        run = idsprof('import', *arguments)
        check(run.returncode == 2 and word in run.stderr and run.stdout == '', f'{arguments}: {run.returncode} {run.stderr}')
    check(not (folder / 'n.db').exists(), 'a file after an error')


def check_killed(folder):
    """Ended at any moment, an import leaves no file of its name; ended by a signal that can be caught, none at all."""
    output = folder / 'killed.db'
    for number in (signal.SIGKILL, signal.SIGTERM):
        seen = 0
        for i in range(24):
            for path in folder.glob('killed*'):
                path.unlink()
            process = subprocess.Popen([IDSPROF, 'import', *[str(CPU8)] * 30, '-o', str(output), '-q'])
            time.sleep(i * 0.004)
            process.send_signal(number)
            seen += process.wait() == -number
            if output.exists():  # it had come to the end
                check(rows(output, 'SELECT count(*) FROM run') == [(30,)], f'signal {number}: a file that is not whole')
            elif number == signal.SIGTERM and i > 2:  # before that the handler may not be there
                check(not list(folder.glob('*killed*')), f'SIGTERM leaves {list(folder.glob("*killed*"))}')
        check(seen > 5, f'signal {number} came too late each time')


def limited(folder, kind, bytes_most):
    """An import of 30 runs under a limit; SIGXFSZ is ignored, as Python does, so that a full file is an error of the write."""
    output = folder / 'limited.db'
    run = subprocess.run([IDSPROF, 'import', *[str(CPU8)] * 30, '-o', str(output), '--force', '-q'], capture_output=True, text=True,
                         restore_signals=False, preexec_fn=lambda: resource.setrlimit(kind, (bytes_most, bytes_most)))
    left = [path.name for path in folder.glob('*limited*')]
    check(left == (['limited.db'] if run.returncode == 0 else []), f'limit {kind} of {bytes_most}: leaves {left}')
    for path in folder.glob('*limited*'):
        check(rows(path, 'SELECT count(*) FROM run') == [(30,)], f'limit {kind} of {bytes_most}: not whole')
        path.unlink()
    return run


def begins(memory):
    """Whether the program is as much as loaded: the kernel kills it (exec) or the dynamic linker ends it where its own data have no room."""
    run = subprocess.run([IDSPROF, '--version'], capture_output=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (memory, memory)))
    return run.returncode == 0


def check_full(folder):
    """The disk fills, or memory ends, on whichever thread: a message and no file."""
    for most in (5_000, 200_000, 700_000, 2_000_000, 3_000_000):
        run = limited(folder, resource.RLIMIT_FSIZE, most)
        check(run.returncode == 2 and any(word in run.stderr for word in ('File too large', 'disk I/O error')), f'a file of {most}: {run.returncode} {run.stderr}')
        check(f"'{folder / 'limited.db'}': " in run.stderr, f'a file of {most}: the message does not say which file: {run.stderr}')
    if os.environ.get('IDS_SANITIZE') == '1':  # sanitizers need the memory
        return
    codes = set()
    for most in range(1 << 20, 41 << 20, 4 << 20):
        if not begins(most):
            continue
        run = limited(folder, resource.RLIMIT_DATA, most)
        codes.add(run.returncode)
        check(run.returncode == 0 or (run.returncode == 2 and ('memory' in run.stderr or 'thread' in run.stderr)),
              f'memory of {most}: {run.returncode} {run.stderr}')
    check(codes == {0, 2}, f'limits of memory that tell nothing: {codes}')


with tempfile.TemporaryDirectory() as name:
    for test in (check_content, check_cut, check_folder, check_same_bytes, check_kept, check_errors, check_full, check_killed):
        test(Path(name))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
