#!/usr/bin/env python3
"""Other programs open a database: Debian's sqlite3 shell, and DuckDB with its SQLite extension, with every documented view.

Each view gives both as many rows as it gives to idsprof, and the sums of all whole numbers agree. Environment: IDSPROF, IDS_SOURCE_DIR,
IDS_SHARED, IDS_CI. DuckDB runs in .venv, and its extension comes with the wheel duckdb-extension-sqlite-scanner: nothing is loaded from the
network. What is missing is skipped with 77, in CI a failure.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
IDSPROF = os.environ['IDSPROF']
PYTHON = SOURCE / '.venv' / 'bin' / 'python'
failures = []

DUCK = r'''
import json, sys
from importlib.resources import files
import duckdb
database, views = sys.argv[1], sys.argv[2].split(',')
extension = next(p for p in (files('duckdb_extension_sqlite_scanner') / 'extensions' / ('v' + duckdb.__version__)).iterdir() if p.name == 'sqlite_scanner.duckdb_extension')
con = duckdb.connect()
con.execute('SET enable_progress_bar = false')  # else a slow query draws one on stdout, before the answer
con.execute("LOAD '%s'" % extension)
con.execute("ATTACH '%s' AS run (TYPE sqlite, READ_ONLY)" % database)
answer = {}
for view in views:
    if view == 'stats':
        con.execute('DETACH run')
        con.execute('SET GLOBAL sqlite_all_varchar = true')  # its values have several types
        con.execute("ATTACH '%s' AS run (TYPE sqlite, READ_ONLY)" % database)
    columns = [(d[0], str(d[1])) for d in con.execute('SELECT * FROM run.%s LIMIT 0' % view).description]
    numbers = [] if view == 'stats' else sorted(c for c, t in columns if t in ('NUMBER', 'BIGINT', 'INTEGER', 'HUGEINT'))
    sums = con.execute('SELECT count(*)%s FROM run.%s' % (''.join(', sum("%s")' % c for c in numbers), view)).fetchone()
    answer[view] = {'columns': [c for c, _ in columns], 'rows': sums[0], 'sums': dict(zip(numbers, (None if s is None else int(s) for s in sums[1:])))}
print(json.dumps(answer))
'''


def check(ok, message):
    if not ok:
        failures.append(message)


def absent(why):
    print(why)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)


def idsprof(database, sql):
    return json.loads(subprocess.run([IDSPROF, 'query', str(database), sql, '--format', 'json'], capture_output=True, text=True, check=True).stdout)


def whole(row):
    """Numbers beyond 2^53 are texts in our JSON; the others write them as numbers."""
    return {column: int(value) if isinstance(value, str) and abs(int(value)) > 2 ** 53 else value for column, value in row.items()}


def shell(database, sql):
    done = subprocess.run(['sqlite3', '-json', '-readonly', str(database), sql], capture_output=True, text=True)
    check(done.returncode == 0, f'sqlite3: {sql}: {done.stderr}')
    return json.loads(done.stdout or '[]')


def check_database(path, folder):
    database = folder / 'run.db'
    subprocess.run([IDSPROF, 'import', str(path), '-o', str(database), '-q', '--force'], check=True)
    views = [r['name'] for r in idsprof(database, "SELECT name FROM sqlite_schema WHERE type = 'view'")]
    views = sorted(set(views) - {'stats'}) + ['diag', 'stats']  # DuckDB reads stats in its own way, last
    check({'events', 'stats', 'kernels', 'ops', 'memcpys', 'gaps', 'steps', 'collectives', 'compiles', 'devices', 'tracks'} <= set(views), f'{views}')
    done = subprocess.run([str(PYTHON), '-c', DUCK, str(database), ','.join(views)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        check(False, f'{path.name}: DuckDB: {done.stderr[-1500:]}')
        return
    duck = json.loads(done.stdout)
    for view in views:
        columns = [r['name'] for r in idsprof(database, f"SELECT name FROM pragma_table_info('{view}')")]
        check(duck[view]['columns'] == columns, f'{view}: DuckDB sees {duck[view]["columns"]}, not {columns}')
        sums = ''.join(f', sum("{c}") AS "{c}"' for c in duck[view]['sums'])
        sql = f'SELECT count(*) AS rows{sums} FROM {view}'
        want = whole(idsprof(database, sql)[0])
        check(shell(database, sql) == [want], f'{path.name}: {view}: sqlite3 gives {shell(database, sql)}, idsprof {want}')
        got = {'rows': duck[view]['rows'], **duck[view]['sums']}
        check(got == want, f'{path.name}: {view}: DuckDB gives {got}, idsprof {want}')


if not shutil.which('sqlite3'):
    absent("no sqlite3: apt-get install sqlite3")
if subprocess.run([str(PYTHON), '-c', 'import duckdb, duckdb_extension_sqlite_scanner'], capture_output=True).returncode if PYTHON.exists() else True:
    absent('.venv has no duckdb with duckdb-extension-sqlite-scanner (tests/requirements.txt): ./bootstrap.sh test full')
with tempfile.TemporaryDirectory() as name:
    traces = [next((SOURCE / 'testdata' / t).rglob('*.xplane.pb')) for t in ('cpu1_annotated', 'cpu8_annotated')]
    traces += [SOURCE / 'testdata' / 'mini' / 'util_tpu_done.mini', SOURCE / 'testdata' / 'json' / 'kineto.trace.json']
    traces += sorted((SHARED / 'traces').glob('gpu_v100x8_tf2/**/*.xplane.pb')) if SHARED.is_dir() else []
    for trace in traces:
        check_database(trace, Path(name))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
