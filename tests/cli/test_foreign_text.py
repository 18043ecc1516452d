#!/usr/bin/env python3
"""What others wrote reaches no terminal raw: names of a profile, of files and folders, of members of archives, of a database's schema, in a
capture's record, a baseline and a budget are full of escapes, and every output of every command is looked at.

Clean is: valid UTF-8, without control characters, marks that turn the direction of text, and line separators; newlines of a name begin no line of a table;
no cell of CSV is a formula.

Environment: IDSPROF (the binary), IDS_SOURCE_DIR.
"""
import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TESTDATA = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata'
failures = []

# OSC (sets the title), CSI in one C1 character, a newline that fakes a row, directions turned, a line separator, a mark of direction, a bell.
ESCAPES = 'A\x1b]0;owned\x07\x1b[2J\u009b31m\u0085\nFAKED row\r\u202eB\u2066C\u2028D\u200eE\u061cF\x7f\x08'
FORMULA = '=cmd|\'/c calc\'!A1'
HARM = {*range(0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x2070)} - {0x0a}


def check(ok, message):
    if not ok:
        failures.append(message)


def trace(name=ESCAPES, kernels=40):
    """As PyTorch writes it, every text of it full of escapes."""
    events = [{'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': name}},
              {'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': name}},
              {'ph': 'M', 'name': 'thread_name', 'pid': 0, 'tid': 7, 'args': {'name': 'stream 7 ' + name}},
              {'ph': 'M', 'name': 'process_name', 'pid': 9, 'args': {'name': name}},
              {'ph': 'M', 'name': 'thread_name', 'pid': 9, 'tid': 9, 'args': {'name': name}}]
    for step in range(4):
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 9, 'tid': 9,
                       'ts': 1000 * step, 'dur': 990})
    for i in range(kernels):
        kind = (name, FORMULA, '+' + name, '-' + name, '@SUM(1)', '\t=1', 'ncclKernel_AllReduce_' + name)[i % 7]
        events += [{'ph': 'X', 'cat': 'cpu_op', 'name': kind, 'pid': 9, 'tid': 9, 'ts': 100 * i, 'dur': 8,
                    'args': {'External id': i + 1, name: name}},
                   {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel' + name, 'pid': 9, 'tid': 9,
                    'ts': 100 * i + 1, 'dur': 5, 'args': {'correlation': i + 1, 'External id': i + 1}},
                   {'ph': 'X', 'cat': 'kernel', 'name': kind, 'pid': 0, 'tid': 7, 'ts': 100 * i + 20, 'dur': 1 + 9 * (i % 7),
                    'args': {'device': 0, 'stream': 7, 'correlation': i + 1, 'External id': i + 1, name: name}}]
    return json.dumps({'schemaVersion': 1, name: name, 'deviceProperties': [{'id': 0, 'name': name}],
                       'distributedInfo': {'backend': name}, 'traceEvents': events}).encode()


def is_formula(cell):
    if not cell or cell[0] not in '=+-@\t\r\n＝＋－＠':
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def look(what, bytes_, kind='text'):
    try:
        text = bytes_.decode()
    except UnicodeDecodeError as error:
        check(False, f'{what}: {error}')
        text = bytes_.decode(errors='replace')
    allowed = {'\t'} if kind in ('csv', 'sql') else set()
    if kind == 'csv':
        text_lines = text.replace('\r\n', '\n')
        for row in csv.reader(io.StringIO(text_lines)):
            for cell in row:
                check(not is_formula(cell), f'{what}: a formula: {cell!r}')
    else:
        text_lines = text
    bad = sorted({hex(ord(c)) for c in text_lines if ord(c) in HARM and c not in allowed})
    check(not bad, f'{what}: {bad} in {text_lines[:4000]!r}')
    if kind == 'text':
        check(not any(line.startswith('FAKED') for line in text.splitlines()), f'{what}: a name begins a line of its own')


runs = 0


def idsprof(*arguments, kind='text', stdin=None, code=None):
    """Runs a command and looks at both of its outputs."""
    global runs
    runs += 1
    done = subprocess.run([IDSPROF, *arguments], capture_output=True, timeout=120, input=stdin)
    words = ' '.join(os.fsdecode(a) if isinstance(a, bytes) else str(a) for a in arguments)
    check(0 <= done.returncode <= 2 or arguments[0] == 'capture', f'{words!r}: exit {done.returncode}: {done.stderr[-600:]!r}')
    if code is not None:
        check(done.returncode == code, f'{words!r}: exit {done.returncode}, not {code}: {done.stderr[-600:]!r}')
    look(f'{words!r}, standard output', done.stdout, kind)
    look(f'{words!r}, standard error', done.stderr)
    if kind == 'json' and done.stdout:
        json.loads(done.stdout)
    return done


def ask_of_run(run, is_database=False):
    """Every command that takes a run."""
    for options in ([], ['--full', '--top', '0'], ['--explain', 'device.utilization'], ['--explain', 'idle.fraction'], ['--section', 'ops']):
        idsprof('report', run, *options)
    for section in ('ops', 'kernels', 'idle_gaps', 'annotations', 'collectives', 'steps'):
        idsprof('report', run, '--csv', '--top', '0', '--section', section, kind='csv')
    idsprof('report', run, '--csv', kind='csv')
    idsprof('report', run, '--json', '--top', '0', kind='json')
    idsprof('report', run, '--run', ESCAPES.encode())
    idsprof('list', run)
    idsprof('list', '--full', run)
    idsprof('list', '--json', run, kind='json')
    idsprof('diff', run, run)
    idsprof('diff', '--json', run, run, kind='json')
    idsprof('diff', '--csv', '--force', run, TESTDATA / 'cpu1_annotated', kind='csv')
    idsprof('diff', run, TESTDATA / 'cpu1_annotated')
    idsprof('diff', '--force', run, TESTDATA / 'cpu1_annotated')
    idsprof('diff', '--trend', run, run, run)
    idsprof('scale', run, run)
    idsprof('scale', '--json', run, run, kind='json')
    idsprof('scale', '--csv', run, run, kind='csv')
    idsprof('check', run, '--max', 'steps.mean=1us')
    idsprof('check', run, '--json', '--max', 'steps.mean=1us', kind='json')
    for sql in ('SELECT * FROM kernels', 'SELECT * FROM name', 'SELECT * FROM track', f'SELECT 1 AS "{FORMULA}", char(27)||char(155), x\'ff1b\'',
                'SELECT ' + repr(ESCAPES) + 'FROM none', 'SELECT "no\x1bsuch"'):
        idsprof('query', run, sql)
        idsprof('query', '--format', 'csv', run, sql, kind='csv')
        idsprof('query', '--format', 'json', run, sql, kind='json')
    idsprof('query', '--schema', run, kind='sql')
    idsprof('query', '--explain', 'device.utilization', run)
    if not is_database:
        idsprof('extract', '--list', run)
        idsprof('extract', '--list', '--json', run, kind='json')
        idsprof('extract', '-f', 'csv', '-o', '-', run, kind='csv')
        idsprof('extract', '-f', 'hlo', '-o', '-', run)


def evil_database(path):
    """Tables and views whose names, columns and texts are escapes."""
    quoted = '"' + ESCAPES + '"'
    with sqlite3.connect(path) as db:
        db.execute(f'CREATE TABLE {quoted} ({quoted} TEXT, "{FORMULA}" TEXT)')
        db.execute(f'INSERT INTO {quoted} VALUES (?, ?)', (ESCAPES, FORMULA))
        db.execute(f'INSERT INTO {quoted} VALUES (CAST(x\'1b5b324aff\' AS TEXT), x\'1b\')')
        db.execute(f'CREATE VIEW run AS SELECT * FROM {quoted[:-1]} none"')
    db.close()
    idsprof('list', path)
    idsprof('report', path)
    idsprof('query', '--schema', path, kind='sql')
    idsprof('query', path, f'SELECT * FROM {quoted}')
    idsprof('query', '--format', 'csv', path, f'SELECT * FROM {quoted}', kind='csv')
    idsprof('query', '--format', 'json', path, f'SELECT * FROM {quoted}', kind='json')
    idsprof('query', path, 'SELECT * FROM sqlite_schema')
    idsprof('query', path, 'SELECT * FROM run')


def archives(folder):
    evil = ESCAPES.replace('\x07', '')
    tar = os.path.join(folder, b'a\x1b[2J\xff.tar')
    with tarfile.open(os.fsdecode(tar), 'w', format=tarfile.PAX_FORMAT) as archive:
        def add(name, content=b'', **kind):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in kind.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content))
        add(f'{evil}/one.json', trace())
        add(f'{evil}/broken.xplane.pb', b'\x1b[2J')
        add(f'{evil}/broken.json', b'{"traceEvents": [' + evil.encode())
        add(f'../{evil}/two.json', b'{}')
        add(f'{evil}/link.json', type=tarfile.SYMTYPE, linkname=evil)
        add(f'{evil}/inside.zip', b'PK')
        add(f'{evil}/fifo', type=tarfile.FIFOTYPE)
        add('x' * 1100 + evil, b'')
    zipped = os.path.join(folder, b'z\x1b[2J.zip')
    with zipfile.ZipFile(os.fsdecode(zipped), 'w') as archive:
        archive.writestr(f'{evil}/one.json', trace())
        archive.writestr(f'../{evil}', b'')
        archive.writestr(f'{evil}/other.xplane.pb', b'\x1b')
    return [tar, zipped]


with tempfile.TemporaryDirectory() as root:
    folder = os.path.join(root.encode(), b'f\x1b]0;x\x07\xc2\x9b\xe2\x80\xae\xff\nFAKED')
    os.mkdir(folder)
    profile = os.path.join(folder, b'p\x1b[31m\xff\nFAKED.json')
    Path(os.fsdecode(profile)).write_bytes(trace())
    cut = os.path.join(folder, b'cut\x1b[31m.json')
    Path(os.fsdecode(cut)).write_bytes(trace()[:-400])
    os.mkdir(os.path.join(folder, b'n\x1b[2J'), 0)
    Path(os.fsdecode(os.path.join(folder, b'idsprof-run.json'))).write_text(json.dumps({'program': ESCAPES, 'command': [ESCAPES]}))

    ask_of_run(profile)
    ask_of_run(folder)
    for archive in archives(folder):
        ask_of_run(archive)
        for run in json.loads(subprocess.run([IDSPROF, 'list', '--json', archive], capture_output=True).stdout)['runs']:
            idsprof('report', archive, '--run', run['name'])

    database = os.path.join(folder, b'd\x1b[2J.db')
    idsprof('import', profile, '-o', database, code=0)
    idsprof('import', profile, '-o', database, code=2)
    ask_of_run(database, is_database=True)
    evil_database(os.fsdecode(os.path.join(folder, b's\x1b[2J.db')))

    xspace = os.path.join(folder, b'out\x1b[2J')
    idsprof('extract', '-f', 'xplane', '-o', xspace, profile, code=0)
    ask_of_run(xspace)
    idsprof('extract', '-f', 'xplane', '-o', xspace, profile)

    budget = os.path.join(folder, b'b\x1b[2J')
    for line in (f'steps.mean < 1 us # {ESCAPES}', f'{ESCAPES} < 1', f'steps.mean < 1 us over {ESCAPES}', f'steps.mean < {ESCAPES}'):
        Path(os.fsdecode(budget)).write_bytes(line.encode() + b'\n\xff\x1b\n')
        idsprof('check', profile, '--budget', budget)
        idsprof('check', profile, '--budget', '-', stdin=line.encode())
        idsprof('check', profile, '--max', line.encode())
    junit = os.path.join(folder, b'junit.xml')
    idsprof('check', profile, '--max', 'steps.mean=1us', '--junit', junit, code=1)
    look('JUnit', Path(os.fsdecode(junit)).read_bytes(), 'xml')

    idsprof('baseline', 'save', 'main', profile, code=0)
    idsprof('baseline', 'save', ESCAPES.encode().replace(b'\n', b''), profile)
    idsprof('baseline', 'list')
    idsprof('baseline', 'list', '--json', kind='json')
    idsprof('baseline', 'show', 'main')
    idsprof('baseline', 'show', b'no\x1b')
    idsprof('check', profile, '--baseline', 'main')
    idsprof('check', TESTDATA / 'cpu1_annotated', '--baseline', 'main')
    idsprof('check', TESTDATA / 'cpu1_annotated', '--baseline', b'no\x1b[2J')
    for path in Path(os.environ.get('XDG_DATA_HOME', os.path.join(root, 'none'))).rglob('main*'):
        path.write_bytes(b'\x1b[2J')
        idsprof('baseline', 'list')
        idsprof('baseline', 'show', 'main')

    idsprof('cache')
    idsprof('cache', '--json', kind='json')
    idsprof(b'no\x1b[2J')
    idsprof(profile)
    idsprof('report', b'--no\x1b[2J', profile)
    idsprof('report', b'none\x1b[2J\xff')
    idsprof('report', '--section', b'no\x1b[2J', profile)
    idsprof('help', b'no\x1b[2J')
    idsprof('completion', b'no\x1b[2J')
    idsprof('trigger', b'no\x1b[2J')
    idsprof('doctor', b'no\x1b[2J')
    idsprof('capture', '-o', folder, '--', b'no\x1b[2J\xff')
    script = os.path.join(folder, b's\x1b[2J')
    Path(os.fsdecode(script)).write_text('#!/bin/sh\nexit 0\n')
    os.chmod(script, 0o755)
    idsprof('capture', '-o', folder, '--name', b'n\x1b[2J', '--', script)
    idsprof('capture', '-o', folder, '--', script, b'\x1b[2J')
    os.chmod(os.path.join(folder, b'n\x1b[2J'), 0o700)

check(runs > 150, f'only {runs} commands were run')
for failure in failures[:40]:
    print('FAIL:', failure[:1500])
print(f'{runs} commands, {len(failures)} failures')
sys.exit(bool(failures))
