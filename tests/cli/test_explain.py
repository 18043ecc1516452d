#!/usr/bin/env python3
"""`--explain ID` of report and query: the statement, the value that it gives from rows, and where to have it run when there are no rows.

That all statements give the report's values is tests/golden/test_explain.py. Expected values are those that testdata/mini derives by hand.
Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
MINI = SOURCE / 'testdata' / 'mini'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def run(*arguments, cache):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=SOURCE,
                          env={**os.environ, 'XDG_CACHE_HOME': str(cache)})


def explained(path, metric, cache):
    done = run('query', path, '--explain', metric, '--format', 'json', cache=cache)
    check(done.returncode == 0, f'{path.name} {metric}: {done.stderr}')
    return json.loads(done.stdout) if done.returncode == 0 else {}


def check_values(cache):
    """A kind of statement each: a set of time, a share, a union beside the ops, a median, a text, gaps, steps."""
    for name, metric, want in (('util_tpu_done', 'device.working', 40e-6), ('util_tpu_done', 'device.utilization', 0.4),
                               ('util_tpu_while_done', 'device.stalled_share', 0.5), ('steps_split_stalled_tpu', 'steps.stall.device', 50e-6),
                               ('util_not_activity', 'steps.source', 'marker'), ('idle_compile', 'idle.host.compile', 195e-6), ('idle_host_not_recorded', 'ledger.unknown_share', None)):
        got = explained(MINI / f'{name}.mini', metric, cache)
        want = got.get('value') if want is None else want
        check(got.get('value') == want and got.get('from_rows') == want, f'{name} {metric}: {got.get("value")}, from rows {got.get("from_rows")}')


def check_run(cache):
    """The statement can be copied also where the report has other options than the rows: it names the run that a query has."""
    done = run('report', MINI / 'util_tpu_done.mini', '--explain', 'kernels.median', '--small-kernel', '1us', cache=cache)
    check(done.returncode == 0 and 'run = 0' not in done.stdout and 'run = 1' in done.stdout, done.stdout)


def check_where(cache):
    """report says how to have the statement run, and runs it itself where the rows are there."""
    path = MINI.relative_to(SOURCE) / 'util_tpu_done.mini' # a line has room for it wherever the tree is
    shutil.rmtree(cache, ignore_errors=True)
    out = run('report', path, '--explain', 'device.working', cache=cache).stdout
    check(f'from rows    idsprof query {path} --explain device.working\n' in out and 'SQL ' in out, f'without rows: {out}')
    run('query', path, 'SELECT 1', cache=cache)
    out = run('report', path, '--explain', 'device.working', cache=cache).stdout
    check('from rows    40.00 us, the same\n' in out, f'with rows: {out}')
    out = run('report', path, '--explain', 'device.working', '--from', '10us', cache=cache).stdout
    check('from rows    idsprof query' in out, f'rows are of default options: {out}')
    out = run('report', path, '--explain', 'transfers.p2p_rate', cache=cache).stdout
    check('no data' in out and 'from rows' not in out, f'no data: {out}')


def check_database(cache, folder):
    """Of several runs in a database each has its own rows; one that does not agree with its report says so."""
    database = folder / 'two.db'
    run('import', MINI / 'util_tpu_done.mini', MINI / 'util_tpu_while_done.mini', '-o', database, '-q', cache=cache)
    for name, want in (('util_tpu_done', '40.00 us'), ('util_tpu_while_done', '50.00 us')):
        for command in ('report', 'query'):
            out = run(command, database, '--run', f'{name}.mini', '--explain', 'device.working', cache=cache).stdout
            check(f'from rows    {want}, the same\n' in out, f'{command} of {name} in a database: {out}')
    sql = json.loads(run('query', database, '--explain', 'idle.total', '--format', 'json', cache=cache).stdout)['sql']
    check(sqlite3.connect(database).execute(sql).fetchall(), f'{sql} cannot be copied')
    db = sqlite3.connect(database)
    db.execute("UPDATE stretch_block SET unit_ps = 2 * unit_ps")
    db.commit()
    db.close()
    out = run('query', database, '--run', 'util_tpu_done.mini', '--explain', 'device.busy', cache=cache).stdout
    check('which is not the value above' in out, f'rows that do not agree: {out}')


def check_literals(cache):
    """A statement is broken into lines, but in no literal, so that what is copied is what was run."""
    out = subprocess.run([IDSPROF, 'report', str(MINI / 'idle_compile.mini'), '--explain', 'idle.host.compile'], capture_output=True, text=True,
                         env={**os.environ, 'XDG_CACHE_HOME': str(cache), 'COLUMNS': '60'}).stdout
    check("'host.compile'" in out, f'a literal is broken: {out}')
    for arguments in (('--explain', 'idle.total', 'SELECT 1'), ('--explain', 'idle.total', '--schema'), ('--explain', 'idle.total', '--format', 'csv'),
                      ('--explain', 'nothing')):
        done = run('query', MINI / 'idle_compile.mini', *arguments, cache=cache)
        check(done.returncode == 2 and done.stdout == '', f'{arguments}: {done}')


def check_again(cache):
    """The next command that a report names is of the same figures: it bears the options that shaped them."""
    options = ['--window', 'steps', '--from', '1500us', '--to', '0.2s', '--small-kernel', '7ns', '--device-kind', 'NVIDIA H100', '--peak-flops', '5 GFLOP/s', '--peak-bandwidth', '3 GB/s',
               '--flops-per-step', '1M', '--tokens-per-step', '8']
    path = SOURCE / 'testdata' / 'cpu1_annotated'
    text = run('report', path, *options, cache=cache).stdout
    found = re.search(r'idsprof (report .*) --explain \S+', text)
    check(found, f'no next command in {text}')
    again = shlex.split(found.group(1)) if found else []
    reports = [json.loads(run(*words, '--json', cache=cache).stdout) for words in (['report', path, *options], again, ['report', path])]
    check(reports[0]['metrics'] == reports[1]['metrics'] != reports[2]['metrics'], f'{again} gives other figures')


with tempfile.TemporaryDirectory() as name:
    temporary = Path(name)
    check_values(temporary / 'cache')
    check_run(temporary / 'cache')
    check_where(temporary / 'cache')
    check_database(temporary / 'cache', temporary)
    check_literals(temporary / 'cache')
    check_again(temporary / 'cache')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
