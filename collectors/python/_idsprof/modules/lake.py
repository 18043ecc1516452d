"""idsprof.lake - many runs as Parquet, for questions of DuckDB, Spark or BigQuery over all of them.

    python -m idsprof.lake add LAKE RUN...          # import each run, and put its rows into the folder LAKE
    python -m idsprof.lake views LAKE [--run KEY]   # the views of idsprof-schema(5) over it, as SQL of DuckDB
    python -m idsprof.lake list LAKE                # the runs that are in it

    import idsprof.lake
    idsprof.lake.add(['profiles/run_a', 'all.db'], 'lake')
    idsprof.lake.connect('lake').sql('SELECT run, median(dur_ps) / 1e9 AS ms FROM steps GROUP BY run')

LAKE/TABLE/run=KEY/host=HOST/part_0.parquet holds the rows of a view or table of idsprof-schema(5) that are of one run and one host; without
a host are those of a whole run. `run` is the KEY of the run: its name, and eight digits that stand for its path. Adding a path again
replaces its run; so does another form of the same recording (its folder, its file, its database, a copy). Needed: duckdb 1.3 or later and
duckdb-extension-sqlite-scanner (`pip install idsprof[lake]`). Python 3.9 and later.
"""
import argparse
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

import idsprof

LAYOUT = 1                      # of the folder; a newer one is refused
MEMORY = '1GB'                  # DuckDB's, beyond which it writes to disk
TABLES = ('run', 'property', 'metric', 'advice', 'diag', 'account')    # beside the views and the tables of the report
MIXED = ('stats', 'counter_stats', 'counters', 'metric', 'property')    # `value` has several types: text in the lake
HOST_BYTES = 200                # of a host's name in the name of a folder; a longer one is cut
NO_HOST = '__HIVE_DEFAULT_PARTITION__'          # what readers of Parquet call the folder of rows without one
SCRATCH, SCRATCH_SECONDS = 'idsprof-lake-', 600     # folders for imports; one of nobody is removed, one without a lock when it is that old
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


# Text that every reader of Parquet takes: with the escapes that DuckDB prints of a BLOB where it is no UTF-8, or has a NUL.
MACROS = ('CREATE TEMP MACRO lake_bytes(x) AS CAST(encode(x) AS VARCHAR)',
          'CREATE TEMP MACRO lake_text(x) AS CASE WHEN contains(x, chr(0)) THEN lake_bytes(x) '
          'ELSE coalesce(TRY(decode(encode(x))), lake_bytes(x)) END')


def text_of(value):
    """As lake_text() of a name that SQLite has as text or as a blob, which is read as bytes."""
    if value is None:
        return None
    with contextlib.suppress(UnicodeDecodeError):
        if b'\0' not in value:
            return value.decode('utf-8')
    return ''.join(chr(byte) if 32 <= byte < 127 and byte not in b'"\'\\' else '\\x%02X' % byte for byte in value)


def _words(error):
    """The first line of what DuckDB says; its messages may have bytes of names."""
    whole = error.object.decode('utf-8', 'replace') if isinstance(error, UnicodeDecodeError) else str(error)
    return clean(whole.splitlines()[0] if whole else type(error).__name__)


def clean(path):
    """A path, or what is said of it, so that it can be printed."""
    return path.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')


class _Database:
    """A database of `idsprof import`, as DuckDB reads it."""

    def __init__(self, path, spill):
        self.con = _duckdb().connect(config={'memory_limit': MEMORY, 'temp_directory': spill})
        self.con.execute('SET enable_progress_bar = false')
        os.makedirs(spill, exist_ok=True)
        self.path = self._without_blobs(self._utf8(path, spill), spill)
        try:
            for macro in MACROS:
                self.con.execute(macro)
        except _duckdb().Error:
            raise Error('DuckDB %s is too old: pip install --upgrade duckdb duckdb-extension-sqlite-scanner' % _duckdb().__version__) from None
        try:
            self.con.execute('LOAD ' + _scanner())
        except _duckdb().Error as error:
            raise Error("DuckDB %s has no extension for SQLite (%s): pip install 'duckdb-extension-sqlite-scanner==%s'" %
                        (_duckdb().__version__, str(error).splitlines()[0], _duckdb().__version__)) from None
        self.attach()

    @staticmethod
    def _utf8(path, spill):
        """The path, or a link to it, as DuckDB can name it."""
        with contextlib.suppress(UnicodeEncodeError):
            path.encode('utf-8')
            return path
        os.symlink(os.path.abspath(path), os.path.join(spill, 'run.db'))
        return os.path.join(spill, 'run.db')

    @staticmethod
    def _without_blobs(path, spill):
        """The database, or a copy of it in which names are text: an import stores those as blobs that are no UTF-8, and DuckDB refuses them."""
        with _sqlite(path) as connection:
            tables = [name.decode() for name, in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
            columns = [(table, row[1].decode()) for table in tables for row in connection.execute('PRAGMA table_info(%s)' % _name(table))
                       if row[2].upper() == b'TEXT']
            found = [(_name(table), _name(column)) for table, column in columns if connection.execute(
                "SELECT 1 FROM %s WHERE typeof(%s) = 'blob' LIMIT 1" % (_name(table), _name(column))).fetchone()]
            if not found:
                return path
            with contextlib.closing(sqlite3.connect(os.path.join(spill, 'text.db'))) as copy:
                connection.backup(copy)
                copy.create_function('lake_text', 1, text_of)
                for table, column in found:
                    copy.execute("UPDATE %s SET %s = lake_text(%s) WHERE typeof(%s) = 'blob'" % (table, column, column, column))
                copy.commit()
        return os.path.join(spill, 'text.db')

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
    connection = sqlite3.connect('file:%s?mode=ro' % urllib.parse.quote(os.fsencode(path)), uri=True)
    connection.text_factory = bytes     # names of a file need not be UTF-8
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
    done = _run('list', '--json', path)
    runs = []
    for run in json.loads(done.stdout or '{"runs": []}')['runs']:
        runs.append(_named(run['path'], runs))
    if done.returncode == 2 and not runs:       # a run that cannot be read is listed, and the import of it says why
        raise Error(said(done.stderr, path))
    return runs


def _run(*arguments):
    return subprocess.run([idsprof._program(), *arguments], capture_output=True, encoding='utf-8', errors='replace')


def _named(path, taken):
    """The path that JSON names, and that is not taken: it has U+FFFD where a name is no UTF-8."""
    if os.path.lexists(path) or '\ufffd' not in path or '://' in path:
        return path
    found = ['/' if path.startswith('/') else '']
    for part in path.split('/'):
        found = [os.path.join(base, name) for base in found for name in _called(base, part)]
    return next((name for name in found if name not in taken), path)


def _called(folder, part):
    """The names in a folder that are shown as this one."""
    if not part or os.path.lexists(os.path.join(folder, part)) or not os.path.isdir(folder or '.'):
        return [part]
    return sorted(name for name in os.listdir(folder or '.') if os.fsencode(name).decode('utf-8', 'replace') == part)


def import_run(path, database):
    """`idsprof import` of one run."""
    done = _run('import', path, '-o', database, '--quiet', '--force')
    if done.returncode:
        raise Error(said(done.stderr, path))


def said(text, path=None):
    """The last message of the program, without its name; and without the path that it is about, where that stands before it anyway."""
    lines = [line for line in text.strip().splitlines() if line.startswith('idsprof: ')] or text.strip().splitlines()
    message = re.sub(r'^idsprof: (?:[a-z]+: )?(?:error: )?', '', lines[-1]) if lines else 'idsprof said nothing'
    return message.removeprefix("'%s': " % clean(path or ''))


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


# Run and host are those of the two innermost folders: hive_partitioning would also look at folders around the lake, and takes NULL for no name.
ROWS = ("(SELECT * EXCLUDE (filename), regexp_extract(filename, '/run=([^/]*)/host=[^/]*/[^/]*$', 1) AS run, "
        "url_decode(nullif(regexp_extract(filename, '/host=([^/]*)/[^/]*$', 1), '" + NO_HOST + "')) AS host "
        'FROM read_parquet(%s, hive_partitioning = false, union_by_name = true, filename = true)) AS rows')


def _unmagic(folder):
    """As it stands in a pattern of DuckDB."""
    return re.sub(r'[*?\[]', lambda found: '[%s]' % found.group(), folder)


def host_folder(host):
    """What the folder of a host's rows is called. Readers of Parquet take back what stands for a character; some take NULL for no name."""
    if host is None:
        return 'host=' + NO_HOST
    quoted = urllib.parse.quote(host, safe='')
    if len(quoted) > HOST_BYTES:
        quoted = re.sub('%.?$', '', quoted[:HOST_BYTES - 9])
        while not _is_utf8(urllib.parse.unquote_to_bytes(quoted)):
            quoted = quoted[:-3]
        quoted += '~' + hashlib.sha256(host.encode()).hexdigest()[:8]
    if host.upper() == 'NULL' or host == NO_HOST:
        quoted = '%%%02X' % ord(host[0]) + host[1:]
    return 'host=' + quoted


def _is_utf8(text):
    try:
        return bool(text.decode('utf-8')) or True
    except UnicodeDecodeError:
        return False


def is_same_recording(one, other):
    """As idsprof track knows one by another path: recorded at the same time on the same devices, and each figure that both have is the same."""
    figures = [(value, other['figures'][name]) for name, value in one['figures'].items() if name in other['figures']]
    return one['unix_ns'] == other['unix_ns'] and one['devices'] == other['devices'] and bool(figures) and all(a == b for a, b in figures)


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
        if os.path.lexists(self.folder) and not os.path.isdir(self.folder):
            raise Error("'%s' is no folder, and a lake is one: python -m idsprof.lake add LAKE RUN..." % clean(self.folder))
        if '\\' in self.folder or clean(self.folder) != self.folder:
            raise Error("'%s': DuckDB cannot name a folder with a backslash or with bytes that are not UTF-8: name another" % clean(self.folder))
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

    def commit(self, staged, key, schema, tables, recording=None):
        """What is staged becomes the run: no reader ever sees rows of it twice. recording: what tells it from others, with which it replaces the
        same one by another path."""
        with self.lock():
            said = self.tables()
            if schema < said['schema']:
                raise Error("'%s' has rows of schema %d, and this idsprof writes %d: use the newer one" %
                            (self.folder, said['schema'], schema))
            with open(os.path.join(staged, 'about'), 'w', encoding='utf-8') as file:
                json.dump({'key': key, 'schema': schema, 'tables': tables, 'written': sorted(os.listdir(os.path.join(staged, 'new'))),
                           'recording': recording, 'replaced': self._same(key, recording)}, file)
            ready = staged.replace('.adding-', '.ready-')
            os.rename(staged, ready)    # from here on it is finished, whoever does so
            self._place(ready)

    def _recordings(self):
        """(key, recording) of each run that says when it was recorded. Parquet's readers pass over a folder with a dot."""
        place = os.path.join(self.folder, '.recordings')
        for name in os.listdir(place) if os.path.isdir(place) else ():
            with contextlib.suppress(OSError, ValueError):
                with open(os.path.join(place, name), encoding='utf-8') as file:
                    yield name, json.load(file)

    def _same(self, key, recording):
        """The keys of the runs that are this one by another path."""
        return sorted(other for other, known in self._recordings() if recording and other != key and is_same_recording(known, recording))

    def _place(self, ready):
        with open(os.path.join(ready, 'about'), encoding='utf-8') as file:
            about = json.load(file)
        said, part = self.tables(), 'run=' + about['key']
        for table in set(said['tables']) | set(about['tables']):
            for key in about.get('replaced', ()):
                self._remove(table, 'run=' + key, ready)
            new, place = os.path.join(ready, 'new', table, part), os.path.join(self.folder, table, part)
            if os.path.isdir(new) or table not in about['written']:
                self._remove(table, part, ready)
            if os.path.isdir(new):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.rename(new, place)
        self._record(about)
        if about['schema'] >= said['schema']:
            said.update(schema=about['schema'], tables=about['tables'])
        self._write(self.about, json.dumps(said, indent=1))
        self._write(os.path.join(self.folder, 'views.sql'), self.views())
        shutil.rmtree(ready)

    def _remove(self, table, part, ready):
        place = os.path.join(self.folder, table, part)
        if os.path.isdir(place):
            os.makedirs(os.path.join(ready, 'old'), exist_ok=True)
            os.rename(place, os.path.join(ready, 'old', table + '-' + uuid.uuid4().hex))

    def _record(self, about):
        place = os.path.join(self.folder, '.recordings')
        os.makedirs(place, exist_ok=True)
        for key in [*about.get('replaced', ()), *([] if about.get('recording') else [about['key']])]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(place, key))
        if about.get('recording'):
            self._write(os.path.join(place, about['key']), json.dumps(about['recording']))

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
                source = ROWS % _literal(os.path.join(_unmagic(self.folder), table, 'run=*', 'host=*', '*.parquet'))
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

    def __init__(self, database, path, run, named=None):
        self.database, self.run, self.named = database, run, named
        with _sqlite(path) as connection:
            self.schema = connection.execute('PRAGMA user_version').fetchone()[0]
            listed = [(name.decode(), kind) for name, kind in connection.execute('SELECT name, type FROM sqlite_schema ORDER BY name')]
            self.names = [name for name, kind in listed if kind == b'view' or (kind == b'table' and (name in TABLES or name.startswith('report_')))]
            # Events are numbered by track, so those of a host are few ranges, which end with these.
            self.ends = []
            for last, host in connection.execute('''SELECT t.last_event, h.name FROM track t JOIN plane p ON p.id = t.plane
                    JOIN host h ON h.id = p.host WHERE h.run = ? AND t.event_count > 0 ORDER BY t.first_event''', (run,)):
                if self.ends and self.ends[-1][1] == text_of(host):
                    self.ends.pop()
                self.ends.append((last, text_of(host)))
            self.stored = {table: database.columns(table) for table in self.names}
            self.recording = self._recording(connection)
            self.hosts = _folders(text_of(host) for host, in connection.execute(
                'SELECT CAST(name AS BLOB) FROM host UNION SELECT CAST(host AS BLOB) FROM device'))
            self.first = connection.execute('''SELECT min(t.first_event) FROM track t JOIN plane p ON p.id = t.plane
                    JOIN host h ON h.id = p.host WHERE h.run = ?''', (run,)).fetchone()[0] or 0

    def _recording(self, connection):
        """What tells this recording from others; None where it does not say when it was made."""
        said = dict(connection.execute("SELECT id, value FROM property WHERE run = ? AND id IN ('recorded_unix_ns', 'devices')", (self.run,)))
        if not said.get(b'recorded_unix_ns'):
            return None
        figures = connection.execute('SELECT id, value FROM metric WHERE run = ? AND device IS NULL', (self.run,))
        return {'unix_ns': said[b'recorded_unix_ns'], 'devices': text_of(said.get(b'devices')),
                'figures': {name.decode(): value for name, value in figures if isinstance(value, (int, float))}}

    def _value(self, table, name, kind):
        """A column as the lake has it."""
        column = 't.' + _name(name)
        if kind != 'VARCHAR':
            return 'CAST(%s AS %s)' % (column, kind)
        column = 'CAST(%s AS VARCHAR)' % column
        text = 'lake_text(%s)' % column
        if name == 'value' and 'type' in dict(self.stored[table]):
            text = "CASE WHEN t.type = 'bytes' THEN lake_bytes(%s) ELSE %s END" % (column, text)
        if self.named and (table, name) in (('run', 'path'), ('property', 'value')):
            return '%s' % _literal(self.named) if table == 'run' else "CASE WHEN t.id = 'path' THEN %s ELSE %s END" % (_literal(self.named), text)
        return text

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
                '%s AS %s' % (self._value(table, name, kind), _name(name)) for name, kind in stored if name not in ('run', 'host')]
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
        event = EVENT_OF.get(table)
        host = 'lake_text(CAST(%s AS VARCHAR))' % self._host(table, names).replace('t.%s <=' % event, 'CAST(t.%s AS BIGINT) <=' % event)
        return 'SELECT %s, %s AS host FROM %s%s' % (', '.join(kept), host, source, where)


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
    place, statement = os.path.join(staged, 'new', table, 'run=' + key), rows.statement(table, key)
    os.makedirs(place)
    rows.database.con.execute(
        "COPY (SELECT * REPLACE (sha256(host) AS host) FROM (%s)) TO %s (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host), "
        "FILENAME_PATTERN 'part_{i}', OVERWRITE_OR_IGNORE, KV_METADATA {idsprof_schema: %s, idsprof_run: %s})" %
        (statement, _literal(place), _literal(rows.schema), _literal(key)))
    written = os.listdir(place)
    if not written:
        shutil.rmtree(os.path.dirname(place))
    hosts = rows.hosts
    if any(name not in hosts for name in written):
        hosts = _folders(host for host, in rows.database.con.execute('SELECT DISTINCT host FROM (%s)' % statement).fetchall())
    for name in written:
        os.rename(os.path.join(place, name), os.path.join(place, hosts[name]))


def _folders(hosts):
    """What the folders of hosts are called, by what DuckDB calls them: it cannot write one for each name that a host may have."""
    return {'host=' + (NO_HOST if host is None else hashlib.sha256(host.encode()).hexdigest()): host_folder(host) for host in [None, *hosts]}


def add_database(database, folder, source=None, named=None):
    """The runs of a database of `idsprof import`. source: what tells its run from others, when its path and the recording do not. named: the
    path of its one run, when that is not the one in it. Returns their keys."""
    lake = Lake(folder)
    lake.make()
    try:
        with _sqlite(database) as connection:
            runs = [(number, name.decode('utf-8', 'surrogateescape'), path.decode('utf-8', 'surrogateescape'))
                    for number, name, path in connection.execute('SELECT id, CAST(name AS BLOB), CAST(path AS BLOB) FROM run ORDER BY id')]
    except sqlite3.Error as error:
        raise Error("'%s' is no database of idsprof import (%s)" % (clean(database), error)) from None
    base, is_one = source or _source(named or database), (source or named) and len(runs) == 1
    return [_add_one(lake, database, (number, name), key_of(name, base if is_one else base + '\0' + path), named, is_known=source is not None)
            for number, name, path in runs]


def _add_one(lake, database, run, key, named, is_known):
    number, name = run
    with lake.staged() as staged:
        opened = None
        try:
            opened = _Database(database, os.path.join(staged, 'spill'))
            rows = _Rows(opened, database, number, named and text_of(os.fsencode(named)))
            lake.commit(staged, key, rows.schema, _write_rows(rows, key, staged), None if is_known else rows.recording)
        except (_duckdb().Error, sqlite3.Error, OSError, UnicodeError) as error:
            raise Error("run '%s' of '%s' was not added: %s" % (clean(name), clean(named or database), _words(error))) from None
        finally:
            if opened:
                opened.con.close()
    return key


@contextlib.contextmanager
def _scratch():
    """A folder for an import. Those of processes that were killed are removed."""
    for place in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), SCRATCH + '*')):
        with contextlib.suppress(OSError):
            _remove_dead(place)
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as place:
        with open(os.path.join(place, 'alive'), 'w') as alive:
            fcntl.flock(alive, fcntl.LOCK_EX)
            yield place


def _remove_dead(place):
    found = os.lstat(place)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    try:
        with open(os.path.join(place, 'alive'), 'r+') as alive:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:           # it has just begun, or is of an earlier version
        if time.time() - found.st_mtime < SCRATCH_SECONDS:
            return
    shutil.rmtree(place, ignore_errors=True)


def add_run(path, folder, source=None):
    """One run, a file or a folder. Returns its key."""
    with _scratch() as scratch:
        database, path = os.path.join(scratch, 'run.db'), path if '://' in path else os.path.abspath(path)
        import_run(path, database)
        return add_database(database, folder, source, path)[0]


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
            except Exception as error:      # the others are added all the same
                keys = [Error('it was not added: %s' % _words(error))]
            results += [(run, key) for key in keys]
    if note:
        for path, key in results:
            note('%s: %s' % (path, key) if isinstance(key, Error) else '%s  %s' % (key, path))
    return results


def connect(folder, run=None):
    """A connection of DuckDB with the views of idsprof-schema(5) over the lake, or over one run of it, or a list of them."""
    connection = _duckdb().connect()
    connection.execute('SET enable_progress_bar = false')
    try:
        connection.execute(Lake(folder).views(run))
    except _duckdb().Error as error:
        raise Damaged("'%s': %s" % (folder, str(error).strip())) from None
    return connection


class Damaged(Error):
    """DuckDB failed at the rows, not at the statement."""


def damaged(folder, runs):
    """Those of the runs of which a file cannot be read whole."""
    return {run for run in runs for table in sorted(Lake(folder).tables()['tables'])
            for path in glob.glob(os.path.join(glob.escape(folder), table, 'run=' + run, 'host=*', '*.parquet')) if not _is_whole(path)}


def _is_whole(path):
    with _duckdb().connect() as connection:     # its own, because some damage ends one
        try:
            source = 'read_parquet(%s, hive_partitioning = false)' % _literal(_unmagic(path))
            connection.execute('SELECT sum(hash(rows)) FROM %s AS rows' % source).fetchall()
            return True
        except _duckdb().Error:
            return False


def only_reads(statements):
    """The one statement, as DuckDB parsed it."""
    if len(statements) != 1:
        raise Error('expected one statement, and there are %d' % len(statements))
    if statements[0].type.name not in ('SELECT', 'EXPLAIN'):
        raise Error('a statement can only read: SELECT, WITH, DESCRIBE, SUMMARIZE or EXPLAIN')
    return statements[0]


def ask(connection, sql, folder):
    """The names of columns, and the rows, of one statement that only reads, and nothing outside the lake."""
    try:
        statements = connection.extract_statements(sql)
    except _duckdb().Error as error:
        raise Error(str(error).strip()) from None
    statement = only_reads(statements)
    try:
        for setting in ("allowed_directories = [%s]" % _literal(folder + '/'), 'enable_external_access = false', 'lock_configuration = true'):
            connection.execute('SET ' + setting)
        answer = connection.execute(statement)
        return [column[0] for column in answer.description or ()], answer.fetchall()
    except _duckdb().Error as error:
        kind = Damaged if isinstance(error, _of_files()) else Error
        raise kind(str(error).strip()) from None


def _of_files():
    """What DuckDB raises, among others, where a file is not whole."""
    duckdb = _duckdb()
    return duckdb.IOException, duckdb.InvalidInputException, duckdb.SerializationException, duckdb.InternalException, duckdb.FatalException


# --- the command -------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def written():
    """What is printed in this block is written at its end. That others read no further is no error; a disk that is full is one."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        raise Error('cannot write the output: %s' % error.strerror) from None


def _drop_output():
    """What is left in the buffer: Python would try to write it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _add_all(runs, folder):
    results = add(runs, folder)
    with written():
        for path, key in results:
            if isinstance(key, Error):
                print('idsprof: %s: %s' % (clean(path), key), file=sys.stderr)
            else:
                print(key)
    return 2 if any(isinstance(key, Error) for _, key in results) else 0


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
            return _add_all(options.runs, options.lake)
        lake = Lake(options.lake)
        if not os.path.exists(lake.about):
            raise Error("'%s' is no lake: python -m idsprof.lake add %s RUN..." % (options.lake, options.lake))
        text = lake.views(options.run) if options.command == 'views' else ''.join(key + '\n' for key in lake.runs())
        with written():
            sys.stdout.write(text)
    except (Error, OSError) as error:
        print('idsprof: %s' % clean(str(error)), file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(_main())
