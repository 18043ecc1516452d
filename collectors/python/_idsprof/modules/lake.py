"""idsprof.lake - many runs as Parquet, for questions of DuckDB, Spark or BigQuery over all of them.

    python -m idsprof.lake add LAKE RUN...          # import each run, and put its rows into the folder LAKE
    python -m idsprof.lake views LAKE [--run KEY]   # the views of idsprof-schema(5) over it, as SQL of DuckDB
    python -m idsprof.lake list LAKE                # the runs that are in it

    import idsprof.lake
    idsprof.lake.add(['profiles/run_a', 'all.db'], 'lake')
    idsprof.lake.connect('lake').sql('SELECT run, median(dur_ps) / 1e9 AS ms FROM steps GROUP BY run')

LAKE/TABLE/run=KEY/host=HOST/part_0.parquet holds the rows of a view or table of idsprof-schema(5) that are of one run and one host; without
a host are those of a whole run. `run` is the KEY of the run: its name, and eight digits that stand for its path. Adding a path again
replaces its run. Needed: duckdb and duckdb-extension-sqlite-scanner (`pip install idsprof[lake]`). Python 3.9 and later.
"""
import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid

import idsprof

LAYOUT = 1                      # of the folder; a newer one is refused
MEMORY = '1GB'                  # DuckDB's, beyond which it writes to disk
TABLES = ('run', 'property', 'metric', 'advice', 'diag', 'account')    # beside the views and the tables of the report
MIXED = ('stats', 'counter_stats', 'counters', 'metric', 'property')    # `value` has several types: text in the lake
# Where the host of a row is known from: the event that it is about, or its device. Rows of other tables are of the whole run.
EVENT_OF = {'events': 'id', 'stats': 'event', 'flows': 'to_event', 'activities': 'id', 'kernels': 'id', 'launches': 'id', 'ops': 'id',
            'memcpys': 'id', 'collectives': 'id', 'counter_stats': 'event', 'counters': 'id', 'allocations': 'id', 'compiles': 'id',
            'host_activities': 'id'}
DEVICE_OF = {'gaps': 'device', 'device_steps': 'device_id', 'ledger': 'device_id', 'device_time': 'device', 'op_costs': 'device_id',
             'devices': 'id'}


class Error(Exception):
    """What failed, where, why, and what to do."""


# --- DuckDB -----------------------------------------------------------------------------------------------------------

def _duckdb():
    try:
        import duckdb
    except ImportError:
        raise Error('the lake needs DuckDB: pip install duckdb duckdb-extension-sqlite-scanner') from None
    return duckdb


def _scanner():
    """DuckDB's extension that reads SQLite: the wheel's for this release, or one that the user has installed."""
    with contextlib.suppress(ImportError):
        from duckdb_extension_sqlite_scanner import __path__ as places
        for place in places:
            path = os.path.join(place, 'extensions', 'v' + _duckdb().__version__, 'sqlite_scanner.duckdb_extension')
            if os.path.exists(path):
                return _literal(path)
    return 'sqlite'


def _literal(text):
    return 'NULL' if text is None else "'%s'" % str(text).replace("'", "''")


def _name(text):
    return '"%s"' % text.replace('"', '""')


class _Database:
    """A database of `idsprof import`, as DuckDB reads it."""

    def __init__(self, path, spill):
        self.con = _duckdb().connect(config={'memory_limit': MEMORY, 'temp_directory': spill})
        self.con.execute('SET enable_progress_bar = false')
        self.path = path
        try:
            self.con.execute('LOAD ' + _scanner())
        except _duckdb().Error as error:
            raise Error("DuckDB %s has no extension for SQLite (%s): pip install 'duckdb-extension-sqlite-scanner==%s'" %
                        (_duckdb().__version__, str(error).splitlines()[0], _duckdb().__version__)) from None
        self.attach()

    def attach(self):
        self.con.execute('ATTACH %s AS run (TYPE sqlite, READ_ONLY)' % _literal(self.path))

    def read_texts(self):
        """From here on every value is read as text: in one column they may have several types."""
        self.con.execute('DETACH run')
        self.con.execute('SET GLOBAL sqlite_all_varchar = true')
        self.attach()

    def columns(self, table):
        """Names and types, as the schema has them: the same for each database, whatever its rows are."""
        described = self.con.execute('DESCRIBE run.%s' % _name(table)).fetchall()
        return [(name, {'BLOB': 'VARCHAR', 'INTEGER': 'BIGINT', 'HUGEINT': 'BIGINT'}.get(kind, kind)) for name, kind, *_ in described]


# --- what is read ------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def _sqlite(path):
    connection = sqlite3.connect('file:%s?mode=ro' % re.sub('[?#%]', lambda c: '%%%02x' % ord(c.group()), path), uri=True)
    try:
        yield connection
    finally:
        connection.close()


def is_database(path):
    if not os.path.isfile(path):
        return False
    with open(path, 'rb') as file:
        return file.read(16) == b'SQLite format 3\0'


def runs_of(path):
    """The names of the runs that `idsprof list` finds below a path."""
    done = subprocess.run([idsprof._program(), 'list', '--json', path], capture_output=True, text=True)
    runs = [run['path'] for run in json.loads(done.stdout or '{"runs": []}')['runs']]
    if done.returncode == 2 and not runs:       # a run that cannot be read is listed, and the import of it says why
        raise Error(said(done.stderr, path))
    return runs


def import_run(path, database):
    """`idsprof import` of one run."""
    done = subprocess.run([idsprof._program(), 'import', path, '-o', database, '--quiet', '--force'], capture_output=True, text=True)
    if done.returncode:
        raise Error(said(done.stderr, path))


def said(text, path=None):
    """The last message of the program, without its name; and without the path that it is about, where that stands before it anyway."""
    lines = [line for line in text.strip().splitlines() if line.startswith('idsprof: ')] or text.strip().splitlines()
    message = re.sub(r'^idsprof: (?:[a-z]+: )?(?:error: )?', '', lines[-1]) if lines else 'idsprof said nothing'
    return message.removeprefix("'%s': " % path)


def key_of(name, source):
    """The same path is the same run; another path with a run of the same name is another one."""
    return '%s-%s' % (re.sub('[^A-Za-z0-9._-]', '_', name)[:80], hashlib.sha256(source.encode('utf-8', 'surrogateescape')).hexdigest()[:8])


def _source(path):
    return path if '://' in path else os.path.realpath(path)


# --- the folder --------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def _locked(path, mode=fcntl.LOCK_EX):
    with open(path, 'a') as file:
        fcntl.flock(file, mode)
        yield


class Lake:
    """The folder. Rows are written beside it, and get their names when a whole run is written."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.about = os.path.join(self.folder, 'lake.json')

    def tables(self):
        """What lake.json says: the schema, and the columns of each table."""
        try:
            with open(self.about, encoding='utf-8') as file:
                said = json.load(file)
            if said['layout'] > LAYOUT:
                raise Error("'%s' was written by a newer idsprof (layout %s, this one knows %d): use that one" %
                            (self.folder, said['layout'], LAYOUT))
            return {'layout': said['layout'], 'schema': int(said['schema']), 'tables': dict(said['tables'])}
        except FileNotFoundError:
            return {'layout': LAYOUT, 'schema': 0, 'tables': {}}
        except (ValueError, KeyError, TypeError):
            raise Error("'%s' is damaged: remove it, and add the runs to a new folder" % self.about) from None

    def make(self):
        if os.path.isdir(self.folder) and not os.path.exists(self.about):
            strange = [name for name in os.listdir(self.folder) if not name.startswith('.')]
            if strange:
                raise Error("'%s' is no lake, and holds '%s': name a new folder" % (self.folder, sorted(strange)[0]))
        os.makedirs(self.folder, exist_ok=True)
        self.tables()

    def lock(self):
        return _locked(os.path.join(self.folder, '.lock'))

    @contextlib.contextmanager
    def staged(self):
        """A folder of one writer's own, which others remove when that writer has died."""
        path = os.path.join(self.folder, '.adding-' + uuid.uuid4().hex)
        with self.lock():
            self._tidy()
            os.mkdir(path)
            alive = open(os.path.join(path, 'alive'), 'w')
            fcntl.flock(alive, fcntl.LOCK_EX)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            alive.close()

    def _tidy(self):
        """Finishes what a writer had begun to put in place, and removes what one had not finished. Under the lock."""
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name.startswith('.ready-'):
                self._place(path)
            elif name.startswith('.adding-'):
                try:
                    with open(os.path.join(path, 'alive'), 'a') as alive:
                        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        shutil.rmtree(path, ignore_errors=True)
                except OSError:         # its writer is at work
                    pass

    def commit(self, staged, key, schema, tables):
        """What is staged becomes the run: no reader ever sees rows of it twice."""
        with self.lock():
            said = self.tables()
            if schema < said['schema']:
                raise Error("'%s' has rows of schema %d, and this idsprof writes %d: use the newer one" %
                            (self.folder, said['schema'], schema))
            with open(os.path.join(staged, 'about'), 'w', encoding='utf-8') as file:
                json.dump({'key': key, 'schema': schema, 'tables': tables, 'written': sorted(os.listdir(os.path.join(staged, 'new')))}, file)
            ready = staged.replace('.adding-', '.ready-')
            os.rename(staged, ready)    # from here on it is finished, whoever does so
            self._place(ready)

    def _place(self, ready):
        with open(os.path.join(ready, 'about'), encoding='utf-8') as file:
            about = json.load(file)
        said, part = self.tables(), 'run=' + about['key']
        for table in set(said['tables']) | set(about['tables']):
            new, place = os.path.join(ready, 'new', table, part), os.path.join(self.folder, table, part)
            if os.path.isdir(place) and (os.path.isdir(new) or table not in about['written']):
                os.makedirs(os.path.join(ready, 'old'), exist_ok=True)
                os.rename(place, os.path.join(ready, 'old', table + '-' + uuid.uuid4().hex))
            if os.path.isdir(new):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.rename(new, place)
        if about['schema'] >= said['schema']:
            said.update(schema=about['schema'], tables=about['tables'])
        self._write(self.about, json.dumps(said, indent=1))
        self._write(os.path.join(self.folder, 'views.sql'), self.views())
        shutil.rmtree(ready)

    def _write(self, path, text):
        with open(path + '.new', 'w', encoding='utf-8') as file:
            file.write(text)
        os.replace(path + '.new', path)

    def runs(self):
        found = os.path.join(self.folder, 'run')
        return sorted(name[4:] for name in os.listdir(found) if name.startswith('run=')) if os.path.isdir(found) else []

    def views(self, run=None):
        """The views of idsprof-schema(5) as SQL of DuckDB; with run over that run alone, so that its queries hold as they stand. A list of
        runs: over these."""
        wanted = [run] if isinstance(run, str) else run
        for key in sorted(set(wanted or ()) - set(self.runs())):
            raise Error("'%s' has no run '%s': python -m idsprof.lake list %s" % (self.folder, key, self.folder))
        lines = ['-- The views of idsprof-schema(5), made by idsprof.lake for DuckDB. The column run is the key of the run.',
                 '-- Before them what idsprof-query(1) has and DuckDB calls otherwise.',
                 'CREATE OR REPLACE MACRO percentile(x, p) AS quantile_cont(x, p / 100.0);',
                 'CREATE OR REPLACE MACRO regexp(pattern, text) AS regexp_matches(text, pattern);']
        for table, columns in sorted(self.tables()['tables'].items()):
            there = os.path.isdir(os.path.join(self.folder, table)) and os.listdir(os.path.join(self.folder, table))
            if there:
                source = "read_parquet(%s, hive_partitioning = true, union_by_name = true, hive_types = {'run': VARCHAR, 'host': VARCHAR})" % \
                    _literal(os.path.join(self.folder, table, 'run=*', 'host=*', '*.parquet'))
                names = ', '.join(_name(name) for name, _ in columns)
                equal = ' WHERE run = %s' if isinstance(run, str) else ' WHERE run IN (%s)'
                where = equal % ', '.join(map(_literal, wanted)) if wanted is not None else ''
            else:                       # no run has rows of it yet
                names = ', '.join('CAST(NULL AS %s) AS %s' % (kind, _name(name)) for name, kind in columns)
                source, where = '(SELECT 1) AS nothing', ' WHERE false'
            lines.append('CREATE OR REPLACE VIEW %s AS SELECT %s FROM %s%s;' % (_name(table), names, source, where))
        return '\n'.join(lines) + '\n'


# --- rows --------------------------------------------------------------------------------------------------------------

class _Rows:
    """The statements that read the rows of one run of a database."""

    def __init__(self, database, path, run):
        self.database, self.run = database, run
        with _sqlite(path) as connection:
            self.schema = connection.execute('PRAGMA user_version').fetchone()[0]
            self.names = [name for name, kind in connection.execute('SELECT name, type FROM sqlite_schema ORDER BY name')
                          if kind == 'view' or (kind == 'table' and (name in TABLES or name.startswith('report_')))]
            # Events are numbered by track, so those of a host are few ranges, which end with these.
            self.ends = []
            for last, host in connection.execute('''SELECT t.last_event, h.name FROM track t JOIN plane p ON p.id = t.plane
                    JOIN host h ON h.id = p.host WHERE h.run = ? AND t.event_count > 0 ORDER BY t.first_event''', (run,)):
                if self.ends and self.ends[-1][1] == host:
                    self.ends.pop()
                self.ends.append((last, host))
            self.stored = {table: database.columns(table) for table in self.names}
            self.first = connection.execute('''SELECT min(t.first_event) FROM track t JOIN plane p ON p.id = t.plane
                    JOIN host h ON h.id = p.host WHERE h.run = ?''', (run,)).fetchone()[0] or 0

    def _host(self, table, names):
        if table in EVENT_OF:
            cases = ' '.join('WHEN t.%s <= %d THEN %s' % (EVENT_OF[table], last, _literal(host)) for last, host in self.ends)
            return 'CASE %s END' % cases if cases else 'NULL'
        if table in DEVICE_OF:
            return 'd.host'
        return 't.name' if table == 'hosts' else 't.host' if 'host' in names else 'NULL'

    def columns(self, table):
        """As a view of the lake has them: a view without a run or a host has these behind."""
        columns = [(name, 'VARCHAR' if name in ('run', 'host') or (table, name) == ('run', 'id') else kind)
                   for name, kind in self.stored[table]]
        names = [name for name, _ in columns]
        return columns + [(name, 'VARCHAR') for name in ('run', 'host') if name not in names]

    def statement(self, table, key):
        stored = self.stored[table]
        names = [name for name, _ in stored]
        kept = ['CAST(%s AS VARCHAR) AS id' % _literal(key) if (table, name) == ('run', 'id') else
                'CAST(t.%s AS %s) AS %s' % (_name(name), kind, _name(name)) for name, kind in stored if name not in ('run', 'host')]
        source = 'run.%s t' % _name(table)
        if table in DEVICE_OF:
            on = 'd.device = t.device' if DEVICE_OF[table] == 'device' else 'd.id = t.' + DEVICE_OF[table]
            source += ' LEFT JOIN run.devices d ON %s AND d.run = %d' % (on, self.run)
        where = ''
        if 'run' in names:
            where = ' WHERE CAST(t.run AS BIGINT) = %d' % self.run
        elif table == 'run':
            where = ' WHERE t.id = %d' % self.run
        elif table in EVENT_OF:
            event, last = 'CAST(t.%s AS BIGINT)' % EVENT_OF[table], self.ends[-1][0] if self.ends else -1
            where = ' WHERE %s BETWEEN %d AND %d' % (event, self.first, last)
        host = self._host(table, names).replace('t.%s <=' % EVENT_OF.get(table), 'CAST(t.%s AS BIGINT) <=' % EVENT_OF.get(table))
        return 'SELECT %s, CAST(%s AS VARCHAR) AS host FROM %s%s' % (', '.join(kept), host, source, where)


def _write_rows(rows, key, staged):
    """The tables, with their columns. A table without rows has no file."""
    tables = {table: rows.columns(table) for table in rows.names}
    for table in (table for table in rows.names if table not in MIXED):
        _write_table(rows, table, key, staged)
    rows.database.read_texts()
    for table in (table for table in rows.names if table in MIXED):
        _write_table(rows, table, key, staged)
    return tables


def _write_table(rows, table, key, staged):
    place = os.path.join(staged, 'new', table, 'run=' + key)
    os.makedirs(place)
    rows.database.con.execute(
        "COPY (%s) TO %s (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host), FILENAME_PATTERN 'part_{i}', OVERWRITE_OR_IGNORE, "
        'KV_METADATA {idsprof_schema: %s, idsprof_run: %s})' % (rows.statement(table, key), _literal(place), _literal(rows.schema), _literal(key)))
    if not os.listdir(place):
        shutil.rmtree(os.path.dirname(place))


def add_database(database, folder, source=None):
    """The runs of a database of `idsprof import`. source: where it comes from, when that is not its path. Returns their keys."""
    lake = Lake(folder)
    lake.make()
    try:
        with _sqlite(database) as connection:
            runs = connection.execute('SELECT id, name, path FROM run ORDER BY id').fetchall()
    except sqlite3.Error as error:
        raise Error("'%s' is no database of idsprof import (%s)" % (database, error)) from None
    keys = []
    for number, name, path in runs:
        key = key_of(name, source if source and len(runs) == 1 else (source or _source(database)) + '\0' + path)
        with lake.staged() as staged:
            opened = _Database(database, os.path.join(staged, 'spill'))
            try:
                rows = _Rows(opened, database, number)
                lake.commit(staged, key, rows.schema, _write_rows(rows, key, staged))
            except (_duckdb().Error, sqlite3.Error, OSError) as error:
                raise Error("run '%s' of '%s' was not added: %s" % (name, database, str(error).splitlines()[0])) from None
            finally:
                opened.con.close()
        keys.append(key)
    return keys


def add_run(path, folder, source=None):
    """One run, a file or a folder. Returns its key."""
    with tempfile.TemporaryDirectory(prefix='idsprof-lake-') as scratch:
        database = os.path.join(scratch, 'run.db')
        import_run(path, database)
        return add_database(database, folder, source or _source(path))[0]


def add(paths, folder, note=None):
    """All runs below the paths. What cannot be added is named, and the rest goes on. Returns (path, key or Error) of each run."""
    results = []
    Lake(folder).make()
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = os.fspath(path)
        try:
            found = [path] if is_database(path) else runs_of(path)
        except Error as error:
            found, results = [], results + [(path, error)]
        for run in found:
            try:
                keys = add_database(run, folder) if is_database(run) else [add_run(run, folder)]
            except Error as error:
                keys = [error]
            results += [(run, key) for key in keys]
    if note:
        for path, key in results:
            note('%s: %s' % (path, key) if isinstance(key, Error) else '%s  %s' % (key, path))
    return results


def connect(folder, run=None):
    """A connection of DuckDB with the views of idsprof-schema(5) over the lake, or over one run of it, or a list of them."""
    connection = _duckdb().connect()
    connection.execute('SET enable_progress_bar = false')
    connection.execute(Lake(folder).views(run))
    return connection


# --- the command -------------------------------------------------------------------------------------------------------

def _main(arguments=None):
    parser = argparse.ArgumentParser(prog='python -m idsprof.lake', description='Runs as Parquet, for questions over all of them.')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, text in (('add', 'put the rows of runs into a lake'), ('views', 'print the views over a lake, as SQL of DuckDB'),
                       ('list', 'print the keys of its runs')):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument('lake', metavar='LAKE', help='the folder')
        if name == 'add':
            command.add_argument('runs', metavar='RUN', nargs='+', help='a profile, a folder of profiles, or a database of idsprof import')
        if name == 'views':
            command.add_argument('--run', metavar='KEY', help='only of this run')
    options = parser.parse_args(arguments)
    try:
        if options.command == 'add':
            results = add(options.runs, options.lake)
            for path, key in results:
                print('idsprof: %s: %s' % (path, key) if isinstance(key, Error) else key, file=sys.stderr if isinstance(key, Error) else sys.stdout)
            return 2 if any(isinstance(key, Error) for _, key in results) else 0
        lake = Lake(options.lake)
        if not os.path.exists(lake.about):
            raise Error("'%s' is no lake: python -m idsprof.lake add %s RUN..." % (options.lake, options.lake))
        print(lake.views(options.run) if options.command == 'views' else '\n'.join(lake.runs()))
    except (Error, OSError) as error:
        print('idsprof: %s' % error, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(_main())
