#!/usr/bin/env python3
"""idsprof.lake: runs as Parquet, by run and host. Each view has as many rows and the same sums as in SQLite, and the queries of
idsprof-query(1) run there. A run that is added again replaces itself, one that cannot be read is named, and a writer that is killed leaves
no rows. api.lake has the folder alone.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_BUILD_DIR, TMPDIR, IDS_CI. DuckDB runs in .venv; without it the test is skipped with 77, in CI a failure.
"""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE, IDSPROF = Path(os.environ['IDS_SOURCE_DIR']), os.environ['IDSPROF']
HOOK = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib', 'idsprof', 'python')
PYTHON = SOURCE / '.venv' / 'bin' / 'python'
RUNS = ['cpu1_annotated', 'cpu8_annotated', 'cpu2_python', 'json/kineto_memory.trace.json', 'mini/util_tpu_done.mini',
        'mini/util_two_hosts.mini', 'methods']
failures = []


def check(ok, *message):
    if not ok:
        failures.append(message)
        print('FAIL:', *message)


def absent(why):
    print(why)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)


def again():
    """This test in .venv, beside idsprof.lake; sitecustomize.py, which lies there too, is for programs under capture."""
    if subprocess.run([str(PYTHON), '-c', 'import duckdb, duckdb_extension_sqlite_scanner'], capture_output=True).returncode if PYTHON.exists() else True:
        absent('.venv has no duckdb with duckdb-extension-sqlite-scanner (tests/requirements.txt): ./bootstrap.sh test full')
    os.execve(PYTHON, [str(PYTHON), os.path.abspath(__file__), 'inside'], {**os.environ, 'PYTHONPATH': HOOK})


# --- what is in it ----------------------------------------------------------------------------------------------------

def sums(columns):
    """Rows; of each column how many are known, and the sum of numbers (of whole ones of the rests, so that it fits) or of lengths of texts."""
    of = {'BIGINT': 'sum("%s" %% 1000003)', 'DOUBLE': 'sum("%s")', 'VARCHAR': 'sum(length(CAST("%s" AS TEXT)))'}
    return 'count(*)' + ''.join(', count("%s"), %s' % (name, of[kind] % name) for name, kind in columns)


def own(database, table, columns):
    """Without the columns that the lake adds, and those that hold its key; values of several types are compared as they are counted."""
    there = {row[1] for row in database.execute('PRAGMA table_info(%s)' % table)}
    return [(name, kind) for name, kind in columns if name in there and name not in ('run', 'value') and (table, name) != ('run', 'id')]


def alike(one, other):
    return len(one) == len(other) and all(a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 1e-9 * abs(a))
                                          for a, b in zip(one, other))


def compare(path, database, lake, folder, key):
    con = lake.connect(folder)
    tables = lake.Lake(folder).tables()['tables']
    views = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view' OR name GLOB 'report_*'")]
    check(set(views) | {'run', 'metric', 'property', 'advice', 'diag', 'account'} == set(tables), path, 'not the tables of the schema', sorted(tables))
    for table, columns in tables.items():
        described = [row[0] for row in con.execute('DESCRIBE %s' % table).fetchall()]
        stored = [row[1] for row in database.execute('PRAGMA table_info(%s)' % table)]
        check(described[:len(stored)] == stored, path, table, 'columns', described, stored)
        asked = sums(own(database, table, columns))
        want = database.execute('SELECT %s FROM %s' % (asked, table)).fetchone()
        got = con.execute('SELECT %s FROM %s WHERE run = ?' % (asked, table), [key]).fetchone()
        check(alike(want, got), path, table, 'SQLite', want, 'the lake', got)
    hosts = database.execute('SELECT host, count(*), sum(start_ps % 1000003), sum(id) FROM events GROUP BY host ORDER BY host').fetchall()
    check(hosts == con.execute('SELECT host, count(*), sum(start_ps % 1000003), sum(id) FROM events WHERE run = ? GROUP BY host ORDER BY host NULLS FIRST',
                               [key]).fetchall(), path, 'events by host', hosts)
    hosts = database.execute('SELECT d.host, count(*), sum(l.dur_ps) FROM ledger l JOIN devices d ON d.id = l.device_id GROUP BY d.host ORDER BY d.host').fetchall()
    got = con.execute('SELECT host, count(*), sum(dur_ps) FROM ledger WHERE run = ? GROUP BY host ORDER BY host', [key]).fetchall()
    check(hosts == got, path, 'the ledger by host', hosts, got)
    values = database.execute("SELECT id, CAST(value AS REAL) FROM metric WHERE device IS NULL AND typeof(value) IN ('integer', 'real') ORDER BY id").fetchall()
    got = con.execute("SELECT id, CAST(value AS DOUBLE) FROM metric WHERE run = ? AND device IS NULL AND value IS NOT NULL AND id IN (%s) ORDER BY id" %
                      ', '.join("'%s'" % row[0] for row in values), [key]).fetchall() if values else []
    check([row[0] for row in values] == [row[0] for row in got] and alike([row[1] for row in values], [row[1] for row in got]), path, 'metrics')
    return len(hosts)


def check_manual(lake, folder, key):
    """The queries of the manual, as they stand, over one run: as many rows as of SQLite."""
    text = (SOURCE / 'man/idsprof-query.1').read_text()
    queries = [q.strip() for q in re.findall(r'\.Bd -literal -offset indent\n((?:SELECT|WITH).*?)\.Ed', text, re.S)]
    check(len(queries) >= 11, 'the manual has', len(queries), 'queries')
    con = lake.connect(folder, run=key)
    for query in queries:
        want = json.loads(subprocess.run([IDSPROF, 'query', SOURCE / 'testdata/cpu8_annotated', query, '--format', 'json'], capture_output=True,
                                         text=True, check=True).stdout)
        try:
            got = con.execute(query).fetchall()
        except Exception as error:
            got = [error]
        check(len(got) == len(want), 'the manual', query, len(want), 'rows, in the lake', len(got), got[:1])


# --- names ------------------------------------------------------------------------------------------------------------

def planted(database, path):
    """A copy in which an op, a host and values are bytes; what is planted is read back from it, as SQLite has it."""
    with sqlite3.connect(database) as source, sqlite3.connect(path) as target:
        source.backup(target)
        op, = target.execute('SELECT min(id) FROM op').fetchone()
        target.execute("UPDATE op SET name = x'66757300ff6e', scope = CAST(x'656d62e964' AS TEXT) WHERE id = ?", (op,))
        target.execute("UPDATE host SET name = x'686fff7441'")
        target.execute("UPDATE device SET host = CAST(x'686fff7441' AS TEXT)")
        stat, table = next((stat, table) for table in ('event_stat', 'stat_set', 'name_stat') for stat, in target.execute(
            "SELECT stat FROM %s WHERE typeof(value) = 'text' GROUP BY stat ORDER BY count(*) DESC" % table))
        target.execute("UPDATE stat SET type = 'bytes' WHERE id = ?", (stat,))
        for place in ('event_stat', 'stat_set', 'name_stat'):
            target.execute("UPDATE %s SET value = x'0a0a08021001188080808014' WHERE stat = ?" % place, (stat,))
    return path


def every_text(con, where=''):
    """Reads each text of each view, as a COPY does: DuckDB refuses what is no UTF-8."""
    for table, in con.execute('SELECT view_name FROM duckdb_views() WHERE NOT internal').fetchall():
        con.execute('CREATE OR REPLACE TEMP TABLE copied AS SELECT * FROM "%s" %s' % (table, where))


def check_bytes(lake, database, folder):
    other = planted(database, database + '.bytes')
    key, = lake.add_database(other, folder, 'bytes')
    con = lake.connect(folder, key)
    every_text(con)
    with sqlite3.connect(other) as opened:
        for column, table in (('op', 'ops'), ('scope', 'ops'), ('value', "stats WHERE type = 'bytes'"), ('host', 'events'), ('name', 'kernels')):
            want = sorted((lake.text_of(text), count) for text, count in opened.execute(
                'SELECT CAST(%s AS BLOB) AS b, count(*) FROM %s GROUP BY b' % (column, table)) if text is not None)
            got = sorted(con.execute('SELECT %s, count(*) FROM %s GROUP BY 1 HAVING %s IS NOT NULL' % (column, table, column)).fetchall())
            check(want == got and (column == 'name' or any('\\x' in text for text, _ in got)), column, 'of', table, want[:2], got[:2])
    lossless = con.execute("SELECT DISTINCT CAST(value AS BLOB) FROM stats WHERE type = 'bytes'").fetchall()
    check(lossless == [(bytes.fromhex('0a0a08021001188080808014'),)], 'bytes do not come back', lossless)
    check([row[0] for row in con.execute('SELECT DISTINCT host FROM ledger').fetchall()] == ['ho\\xFFtA'], 'the host of devices')


def check_odd_runs(lake, scratch):
    """A name that is no UTF-8 is read, the runs beside it are added, and the same recording by another path is there once."""
    source, folder = SOURCE / 'testdata/cpu1_annotated', scratch / 'run=zzz/host=NULL/o*d[d]'
    odd, name = scratch / 'odd', os.fsdecode(b'p\xffth')
    for place in (odd / 'bytes', odd / name):
        shutil.copytree(source, place)
    for path in (odd / 'bytes').rglob('*.xplane.pb'):
        path.write_bytes(path.read_bytes().replace(b'dot', b'd\xfft'))
    done = lake_command('add', folder, odd, scratch / 'nowhere')
    check(done.returncode == 2 and len(done.stdout.splitlines()) == 2 and 'Traceback' not in done.stderr, 'odd runs', done)
    con = lake.connect(folder)
    every_text(con)
    check(len(con.execute("SELECT DISTINCT name FROM events WHERE name LIKE '%d\\xFFt%'").fetchall()) > 0, 'the name is not shown')
    found = con.execute('SELECT r.id, h.host, r.path FROM run r JOIN hosts h ON h.run = r.id ORDER BY r.id').fetchall()
    check([row[0] for row in found] == lake.Lake(folder).runs() and len(found) == 2 and all(row[1] == 'vm' for row in found), 'folders around', found)
    check(all(row[2].startswith('/') for row in found), 'paths', found)
    file, database = next(source.rglob('*.xplane.pb')), scratch / 'copy.db'
    subprocess.run([IDSPROF, 'import', source, '-o', database, '-q'], check=True)
    for form in (file, database, source, source):
        done = lake_command('add', folder, form)
        keys = [key for key, _ in state(lake, folder)]
        check(done.returncode == 0 and len(keys) == 2 and done.stdout.strip() in keys, 'one recording as', form, keys, done)


# --- writers ----------------------------------------------------------------------------------------------------------

def state(lake, folder):
    con = lake.connect(folder)
    return con.execute('SELECT run, count(*) FROM events GROUP BY run ORDER BY run').fetchall()


def check_replaced(lake, database, folder):
    """A namesake from elsewhere stays beside a run; what a run has no more rows of goes when it is added again."""
    other = database + '.less'
    with sqlite3.connect(database) as source, sqlite3.connect(other) as target:
        source.backup(target)
        target.execute('DELETE FROM diag')
        target.execute("INSERT INTO diag SELECT 1, 'note', 'planted', 'planted', NULL, 1")
    keys = [lake.add_database(other, folder, source)[0] for source in ('the path', 'another path')]
    with sqlite3.connect(other) as target:
        target.execute('DELETE FROM diag')
    lake.add_database(other, folder, 'the path')
    got = lake.connect(folder).execute('SELECT run FROM diag').fetchall()
    check(got == [(keys[1],)] and len(state(lake, folder)) == 2, 'replaced', got, keys, state(lake, folder))


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.startswith(('.adding', '.ready'))]


def check_killed(lake, folder, path):
    """From outside, while it writes rows."""
    before = state(lake, folder)
    writer = subprocess.Popen([sys.executable, '-m', 'idsprof.lake', 'add', folder, path], start_new_session=True, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not any(os.path.isdir(os.path.join(folder, name, 'new', 'events')) for name in leftovers(folder)) and time.monotonic() < end and writer.poll() is None:
        time.sleep(0.005)
    at_work = leftovers(folder)
    with lake.Lake(folder).staged():        # another writer leaves it alone
        check(set(at_work) <= set(leftovers(folder)) or writer.poll() is not None, 'what a living writer has is gone', at_work, leftovers(folder))
    os.killpg(writer.pid, signal.SIGKILL)
    writer.wait()
    check(state(lake, folder) == before, 'killed while it wrote', state(lake, folder), 'not', before)
    with lake.Lake(folder).staged():
        pass
    check(not leftovers(folder), 'the killed writer left', leftovers(folder))


def lake_command(*arguments):
    return subprocess.run([sys.executable, '-m', 'idsprof.lake', *map(str, arguments)], capture_output=True, text=True)


def check_errors(folder, scratch):
    broken = scratch / 'broken.xplane.pb'
    broken.write_bytes(b'\x0a\xff\xff\xff')
    done = lake_command('add', scratch / 'second', broken, SOURCE / 'testdata/cpu1_plain', scratch / 'nowhere')
    check(done.returncode == 2 and 'broken.xplane.pb' in done.stderr and 'nowhere' in done.stderr, 'a broken run', done)
    check(len(done.stdout.splitlines()) == 1 and done.stdout.startswith('cpu1_plain-'), 'the whole run beside it', done)
    check(lake_command('list', scratch / 'second').stdout == done.stdout, 'list')
    for folder_name, words in ((SOURCE / 'testdata', 'is no lake, and holds'), (folder, 'newer')):
        about = Path(folder) / 'lake.json'
        text = about.read_text()
        for change in ({'layout': 99}, {'schema': 99}):
            about.write_text(json.dumps({**json.loads(text), **change}))
            done = lake_command('add', folder_name, SOURCE / 'testdata/cpu1_plain')
            check(done.returncode == 2 and words in done.stderr and 'Traceback' not in done.stderr, folder_name, change, done)
            about.write_text(text)
    for arguments in (('views', scratch / 'nowhere'), ('views', folder, '--run', 'nobody'), ('add', scratch / 'third', SOURCE / 'README.md')):
        done = lake_command(*arguments)
        check(done.returncode == 2 and done.stderr.startswith('idsprof: ') and 'Traceback' not in done.stderr, arguments, done)


def main():
    from idsprof import lake
    with tempfile.TemporaryDirectory() as name:
        scratch, several = Path(name), 0
        folder, keys = str(scratch / "a lake's"), {}
        for run in RUNS:
            database = str(scratch / (run.replace('/', '_') + '.db'))
            subprocess.run([IDSPROF, 'import', SOURCE / 'testdata' / run, '-o', database, '-q', '--force'], check=True)
            with sqlite3.connect(database) as opened:
                if opened.execute('SELECT count(*) FROM run').fetchone()[0] > 1:     # a database of many runs
                    added = lake.add_database(database, folder)
                    counts = opened.execute('''SELECT r.name, (SELECT count(*) FROM events e WHERE e.run = r.id),
                        (SELECT sum(dur_ps) FROM ledger l WHERE l.run = r.id) FROM run r ORDER BY r.id''').fetchall()
                    con = lake.connect(folder)
                    got = [con.execute('SELECT (SELECT name FROM run WHERE id = $1), (SELECT count(*) FROM events WHERE run = $1), '
                                       '(SELECT sum(dur_ps) FROM ledger WHERE run = $1)', [key]).fetchone() for key in added]
                    check(counts == got and len(counts) > 1, run, counts, got)
                    stats = opened.execute('SELECT count(*), sum(event) FROM stats').fetchone()
                    check(stats == con.execute('SELECT count(*), sum(event) FROM stats WHERE run IN (SELECT unnest($1))', [added]).fetchone(), run, 'stats')
                    continue
                keys[run], = lake.add_database(database, folder, 'the path of ' + run)
                several += compare(run, opened, lake, folder, keys[run]) > 1
        check(several, 'no run has several hosts')
        before = state(lake, folder)
        database = str(scratch / 'cpu8_annotated.db')
        check(lake.add_database(database, folder, 'the path of cpu8_annotated') == [keys['cpu8_annotated']], 'another key')
        check(state(lake, folder) == before, 'added twice', state(lake, folder), 'not', before)
        check_manual(lake, folder, keys['cpu8_annotated'])
        files = sum(len(found) for _, _, found in os.walk(folder))
        small = str(scratch / 'small')
        check_replaced(lake, database, small)
        check_bytes(lake, database, small)
        check_odd_runs(lake, scratch)
        check_killed(lake, small, SOURCE / 'testdata/cpu1_annotated')
        check_errors(folder, scratch)
        print('%d runs in %d files' % (len(state(lake, folder)), files))
    return bool(failures)


if sys.argv[1:] != ['inside']:
    again()
sys.exit(main())
