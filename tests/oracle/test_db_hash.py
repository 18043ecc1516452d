#!/usr/bin/env python3
"""The rows of a database that `idsprof import` writes hold all that was read: the oracle's hash over them equals the oracle's hash of the file.

The planes, lines, events and stats of xplane_oracle.py are made out of the tables by Python's sqlite3, and summed up as the oracle sums
up a file: times since 1970 or the file's zero, names, and every stat of every event, name and plane with its type. Every trace
that test_hash.py uses; those of test_chrome_hash.py are compared there. Beside that: the rows are in order, ids of a track are a range,
parents are what Python says.
Environment and exit codes as test_hash.py.

    test_db_hash.py [NAME ...]     only files whose name has one of these in it
"""
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import test_hash
import xplane_oracle

IDSPROF = os.environ.get('IDSPROF')


def raw(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def decode(kind, value):
    """A value of the table as the oracle writes it."""
    if kind == b'int':
        assert isinstance(value, int)
        return b'i:%d' % value
    if kind in (b'uint', b'ref'):
        assert isinstance(value, int)
        return kind[:1] + b':%d' % (value % 2 ** 64)
    if kind == b'real':
        bits = struct.pack('<d', value) if isinstance(value, float) else value
        return b'd:%016x' % struct.unpack('<Q', bits)[0]
    if kind == b'text':
        return b's:' + raw(value)
    if kind == b'bytes':
        return b'b:%d:%d' % (len(value), crc32(value))
    assert kind == b'none' and value is None
    return b'n:'


class Plane(xplane_oracle.Plane):
    def __init__(self, name):
        super().__init__()
        self.name = name


class Database:
    def __init__(self, path):
        self.db = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
        self.db.text_factory = bytes
        self.stats = {i: (raw(name), kind) for i, name, kind in self.db.execute('SELECT id, name, type FROM stat')}

    def grouped(self, table, owner):
        found = defaultdict(list)
        for key, stat, value in self.db.execute(f'SELECT {owner}, stat, value FROM {table} ORDER BY {owner}, ordinal'):
            name, kind = self.stats[stat]
            found[key].append((name, decode(kind, value)))
        return found

    def planes(self):
        db = self.db
        sets, extra = self.grouped('stat_set', 'id'), self.grouped('event_stat', 'event')
        of_name, of_plane = self.grouped('name_stat', 'name'), self.grouped('plane_stat', 'plane')
        base = dict(db.execute('SELECT p.id, h.base_ns FROM plane p JOIN host h ON h.id = p.host'))
        columns = [(name.decode(), *self.stats[stat]) for name, stat in db.execute('SELECT name, stat FROM event_column')]
        names = {i: raw(text) for i, text in db.execute('SELECT id, text FROM name')}
        planes = {}
        for i, name in db.execute('SELECT id, name FROM plane ORDER BY id'):
            plane = planes[i] = Plane(raw(name))
            plane.stats = of_plane.get(i, [])
        for i, plane, text in db.execute('SELECT id, plane, text FROM name ORDER BY id'):
            planes[plane].metadata[i] = (raw(text), of_name.get(i, []))
        lines = {}
        for i, plane, name, file_id in db.execute('SELECT id, plane, name, file_id FROM track ORDER BY id'):
            line = lines[i] = xplane_oracle.Line()
            line.name, line.id, line.base = raw(name), file_id, base[plane] * 1000
            planes[plane].lines.append(line)
        wanted = ', '.join(c[0] for c in columns) or 'NULL'
        for row in db.execute(f'SELECT id, track, start_ps, dur_ps, name, stat_set, {wanted} FROM event ORDER BY id'):
            i, track, start, dur, name, stat_set = row[:6]
            event = xplane_oracle.Event()
            event.start, event.dur, event.name = lines[track].base + start, dur, names[name]
            event.stats = sets.get(stat_set, []) + extra.get(i, [])
            event.stats += [(key, decode(kind, value)) for (_, key, kind), value in zip(columns, row[6:]) if value is not None]
            lines[track].events.append(event)
        return list(planes.values())

    def wrong(self):
        """What is not as the comments of the tables say."""
        found = []
        for track, first, last, count in self.db.execute('SELECT id, first_event, last_event, event_count FROM track'):
            rows = self.db.execute('SELECT id, start_ps, dur_ps, parent, depth, self_ps, form FROM event WHERE track = ? ORDER BY id', (track,)).fetchall()
            ids = [r[0] for r in rows]
            if (ids or None) != (list(range(first, last + 1)) if first else None) or len(ids) != count:
                found.append('track %d: its events are no range' % track)
            if any((a[1], -a[2]) > (b[1], -b[2]) for a, b in zip(rows, rows[1:])):
                found.append('track %d: not in order' % track)
            by_id = {r[0]: r for r in rows}
            children = defaultdict(int)
            for i, start, dur, parent, depth, _, form in rows:
                if parent is None:
                    if depth:
                        found.append('event %d: no parent, but a depth' % i)
                    continue
                _, above, length, _, depth_above, _, _ = by_id[parent]
                if depth != depth_above + 1 or start < above or start + max(dur, 0) > above + length:
                    found.append('event %d does not lie in its parent' % i)
                children[parent] += dur if form is None and dur > 0 else 0
            for i, _, dur, _, _, self_ps, form in rows:
                if form is None and dur >= 0 and (dur if self_ps is None else self_ps) != max(0, dur - children[i]):
                    found.append('event %d: self time' % i)
        return found[:5]


def differences(path, planes, folder):
    """What the rows of the file at `path` have otherwise than its `planes`."""
    want = xplane_oracle.summarise(planes)
    output = Path(folder) / 'run.db'
    run = subprocess.run([IDSPROF, 'import', str(path), '-o', str(output), '--force', '--quiet'],
                         capture_output=True, text=True, timeout=600)
    if run.returncode:
        return ['exit %d: %s' % (run.returncode, run.stderr.strip()[-2000:])]
    database = Database(output)
    got = xplane_oracle.summarise(database.planes())
    return ['%s: rows %s, oracle %s' % (k, got.get(k), v) for k, v in want.items() if got.get(k) != v] + database.wrong()


def traces():
    found = sorted((test_hash.SOURCE / 'testdata').rglob('*.xplane.pb'))
    found += [p for p in sorted((test_hash.SHARED / 'traces').rglob('*.xplane.pb')) if test_hash.CORRUPT not in p.parts]
    return [p for p in found if not sys.argv[1:] or any(part in str(p) for part in sys.argv[1:])]


def main():
    if not IDSPROF or not os.access(IDSPROF, os.X_OK):
        test_hash.absent('IDSPROF names no program (%s)' % IDSPROF)
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in traces():
            wrong = differences(path, xplane_oracle.load(path), folder)
            print('%s %s' % ('FAIL' if wrong else 'ok  ', path), flush=True)
            for line in wrong:
                print('     ' + line)
            failed += bool(wrong)
            count += 1
    print('%d of %d traces equal' % (count - failed, count))
    return int(failed > 0 or not count)


if __name__ == '__main__':
    sys.exit(main())
