#!/usr/bin/env python3
"""Databases that an enemy made, given to query, report and list: nothing crashes, hangs, is written or is read elsewhere.

Triggers, views that call functions, views in place of tables, generated columns, schemas that lie, damaged and cut pages, and
random bytes anywhere. The exit code is 0, 1 or 2 with a message, within seconds. IDSPROF, IDS_SOURCE_DIR, IDS_SEED, IDS_SANITIZE.
"""
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SEED = int(os.environ.get('IDS_SEED', '1'))
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
PROFILE = next((SOURCE / 'testdata' / 'cpu1_annotated').rglob('*.xplane.pb'))
failures = []

QUESTIONS = ('SELECT count(*) FROM events', 'SELECT * FROM stats LIMIT 5', 'SELECT * FROM flows LIMIT 5', 'SELECT * FROM run', 'PRAGMA quick_check',
             'SELECT name, sum(dur_ps) FROM events GROUP BY 1', 'SELECT sum(dur_ps) FROM device_time', 'SELECT count(*) FROM gaps')

# SQL that the enemy ran on a database of ours.
ATTACKS = {
    'trigger': "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM event; END",
    'view with load_extension': "DROP VIEW events; CREATE VIEW events AS SELECT load_extension('{folder}/evil.so') AS id",
    'view that reads a file': "DROP VIEW events; CREATE VIEW events AS SELECT readfile('{folder}/secret') AS id",
    'view that writes a file': "DROP VIEW events; CREATE VIEW events AS SELECT writefile('{folder}/written', 'x') AS id",
    'view that edits': "DROP VIEW events; CREATE VIEW events AS SELECT edit('x', 'touch {folder}/written') AS id",
    'view of itself': "DROP VIEW events; CREATE VIEW events AS SELECT * FROM events",
    'view without end': "DROP VIEW events; CREATE VIEW events AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i AS id FROM n",
    'large values': "DROP VIEW events; CREATE VIEW events AS SELECT hex(zeroblob(900000000)) AS id",
    'generated column': "DROP TABLE metric; CREATE TABLE metric(run, id, device, unit, value AS (hex(zeroblob(40000000))), reason, rule, grade); "
                        "INSERT INTO metric VALUES (1, 'a', NULL, 'text', NULL, NULL, NULL)",
    'view for a table': "ALTER TABLE metric RENAME TO m; CREATE VIEW metric AS SELECT * FROM m",
    'run as a view': "ALTER TABLE run RENAME TO r; CREATE VIEW run AS SELECT 1 AS id, load_extension('x') AS name FROM r",
    'no runs': "DELETE FROM run",
    'run of another kind': "UPDATE run SET name = x'00ff'",
    'run of no number': "DROP TABLE run; CREATE TABLE run(id, name, path, format, complete, origin_unix_ns); INSERT INTO run VALUES ('a', 'b', 0, 0, 0, 0)",
    'terminal': "UPDATE run SET name = char(27) || ']0;x' || char(7); UPDATE name SET text = char(27) || '[2J'",
    'forged figure': "UPDATE metric SET value = 0.5 WHERE unit = 'ratio'",
    'many runs': "INSERT INTO run SELECT id + 1000, name, path, format, complete, origin_unix_ns, left_out_step, step_source FROM run",
    'times that run over': "UPDATE event SET start_ps = 9223372036854775807; UPDATE host SET shift_ps = 9223372036854775807",
    'virtual table': "CREATE VIRTUAL TABLE t USING fts5(a)",
    'schema that lies': "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'event'",
    'schema that is no SQL': "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE TABLE event(' WHERE name = 'event'",
}


def check(name, arguments, folder):
    try:
        done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, XDG_CACHE_HOME=str(folder / 'cache')))
    except subprocess.TimeoutExpired:
        failures.append(f'{name}: {arguments[0]} does not end')
        return
    told = (done.stderr.decode('utf-8', 'replace'))[-1500:]
    if done.returncode not in (0, 1, 2) or 'Sanitizer' in told or 'runtime error' in told:
        failures.append(f'{name}: {arguments}: exit {done.returncode}: {told}')
    elif done.returncode == 2 and arguments[0] != 'list' and not told.startswith('idsprof: '):
        failures.append(f'{name}: {arguments}: no message: {told!r}')
    if b'\x1b' in done.stdout + done.stderr:
        failures.append(f'{name}: {arguments}: the terminal is sent an escape')
    if b'top secret' in done.stdout + done.stderr:
        failures.append(f'{name}: {arguments}: another file was read')
    if (folder / 'written').exists():
        failures.append(f'{name}: {arguments}: a file was written')


def try_all(name, path, folder, questions=QUESTIONS):
    before = path.read_bytes()
    for sql in questions:
        check(name, ['query', path, sql], folder)
    check(name, ['query', path, '--schema'], folder)
    check(name, ['report', path], folder)
    check(name, ['list', path], folder)
    if path.read_bytes() != before or list(folder.glob(path.name + '-*')):
        failures.append(f'{name}: the database was changed')


def attack(good, folder):
    for name, sql in ATTACKS.items():
        path = folder / 'hostile.db'
        shutil.copyfile(good, path)
        db = sqlite3.connect(path, isolation_level=None)
        try:
            db.executescript(sql.format(folder=folder))
        except sqlite3.OperationalError as e:
            failures.append(f'{name}: cannot be made: {e}') if 'fts5' not in str(e) else None
        db.close()
        try_all(name, path, folder)


def damage(good, folder):
    rng = random.Random(SEED)
    data = good.read_bytes()
    for i in range(12 if SANITIZED else 60):
        bad = bytearray(data)
        kind = i % 4
        if kind == 0:
            del bad[rng.randrange(len(bad)):]
        elif kind == 1:
            at = rng.randrange(len(bad) // 16384) * 16384
            bad[at:at + 16384] = rng.randbytes(16384)
        elif kind == 2:
            for _ in range(200):
                bad[rng.randrange(100, len(bad))] = rng.randrange(256)
        else:  # heads of pages: types, counts of cells, pointers
            for _ in range(10):
                bad[rng.randrange(len(bad) // 16384) * 16384 + rng.randrange(100)] = rng.randrange(256)
        path = folder / 'damaged.db'
        path.write_bytes(bad)
        try_all(f'damage {i} of seed {SEED}', path, folder, (QUESTIONS[i % 3], QUESTIONS[3 + i % 3]))


def neighbours(good, folder):
    """A journal beside the file is not played back, and a file that is a pipe or empty is refused."""
    path = folder / 'journal.db'
    shutil.copyfile(good, path)
    for ending in ('-journal', '-wal'):
        (folder / (path.name + ending)).write_bytes(b'\xd9\xd5\x05\xf9\x20\xa1\x63\xd7' + bytes(1000))
    before = path.read_bytes()
    check('journal', ['query', path, 'SELECT count(*) FROM event'], folder)
    if path.read_bytes() != before or not (folder / 'journal.db-journal').exists():
        failures.append('a journal of a neighbour was played back')
    short = folder / 'short.db'
    short.write_bytes(b'SQLite format 3\0')
    try_all('short', short, folder)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    good = folder / 'good.db'
    subprocess.run([IDSPROF, 'import', str(PROFILE), '-o', str(good), '-q'], check=True)
    (folder / 'secret').write_text('top secret')
    for test in (attack, damage, neighbours):
        test(good, folder)
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
