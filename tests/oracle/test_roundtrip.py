#!/usr/bin/env python3
"""What `idsprof extract` writes holds the events that were read: the same number, times to the picosecond, stats with their types.

xplane -> xplane    the same hash by `idsprof dump`, and by the oracle's own decoding of the output
xplane -> chrome    parsed by Python's json and compared with the oracle's decoding, event by event
xplane -> csv       parsed by Python's csv and compared likewise
xplane -> chrome -> idsprof     the same events and args by `idsprof dump`, held against the oracle's decoding of the file
Profiles: testdata, the shared traces, and random ones that overlap, repeat ids and have every type of stat.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_CI.  Exit: 0, 1.
"""
import base64
import csv
import gzip
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path
from zlib import crc32

import chrome_oracle
import xplane_oracle

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
IDSPROF = os.environ['IDSPROF']
SEED = int(os.environ.get('IDS_SEED', '1'))
CORRUPT = 'bad_utf8_mangled'
EPOCH_NS = 10 ** 17     # a line's time above this counts from 1970: times are then given since the first such line
US = b'\x1f'

sys.path.insert(0, str(SOURCE / 'tests' / 'fault'))
import xspace  # noqa: E402


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def extract(profile, format, folder):
    run = idsprof('extract', profile, '--format', format, '-o', folder, '--force')
    if run.returncode:
        raise RuntimeError('extract: exit %d: %s' % (run.returncode, run.stderr.strip()))
    name = {'xplane': '.xplane.pb', 'chrome': '.trace.json.gz', 'csv': '.events.csv'}[format]
    return Path(folder) / (profile.name.removesuffix('.xplane.pb') + name)


# ---- what the oracle read, in the words of JSON ----

def text(raw):
    """Bytes as text. Broken UTF-8 is replaced byte by byte, as idsprof does, or several at once, as Python does: both are one here."""
    out = raw.decode('utf-8', 'replace')
    return ''.join(c for c in out if c != '\ufffd')


def wanted_value(value):
    kind, raw = value[:2], value[2:]
    if kind in (b'i:', b'u:'):
        return int(raw)
    if kind == b'd:':
        return ('d', raw.decode())
    if kind == b's:':
        return text(raw)
    if kind == b'b:':
        return ('b', raw.decode())
    if kind == b'r:':
        return 'ref:' + raw.decode()
    return None


def got_value(value):
    """The same out of JSON, which was parsed with Decimal for numbers that have a point."""
    if isinstance(value, Decimal):
        return ('d', '%016x' % struct.unpack('<Q', struct.pack('<d', float(value))))
    if isinstance(value, str):
        for special in ('NaN', 'Infinity', '-Infinity'):
            if value == special:
                return ('d', '%016x' % struct.unpack('<Q', struct.pack('<d', float(value))))
        if value.startswith('base64:'):
            raw = base64.b64decode(value[7:], validate=True)
            return ('b', '%d:%d' % (len(raw), crc32(raw)))
        return text(value.encode())
    return value


def base_of(planes, data):
    """What idsprof counts times from, in ns: the first line of a plane that counts from 1970."""
    for tag, plane in xplane_oracle.fields(data):
        if tag != 10:
            continue
        for t, line in xplane_oracle.fields(plane):
            if t != 26:
                continue
            stamp = next((xplane_oracle.signed(v) for tt, v in xplane_oracle.fields(line) if tt == 24), 0)
            if stamp < EPOCH_NS:
                break
            return stamp
    return 0


def labels_of(data):
    """By plane: {(event name): ...} of the table: metadata id -> (label, shared stats); names that repeat stay apart by id."""
    out = []
    for tag, plane in xplane_oracle.fields(data):
        if tag != 10:
            continue
        texts, names = {}, {}
        for t, v in xplane_oracle.fields(plane):
            if t == 42:
                key, value = xplane_oracle.map_entry(v)
                texts[key] = next((vv for tt, vv in xplane_oracle.fields(value) if tt == 18), b'')
        for t, v in xplane_oracle.fields(plane):
            if t != 34:
                continue
            key, value = xplane_oracle.map_entry(v)
            name = display = b''
            stats = []
            for tt, vv in xplane_oracle.fields(value):
                if tt == 18:
                    name = vv
                if tt == 34:
                    display = vv
                if tt == 42:
                    stats.append(xplane_oracle.stat(vv, texts))
            names[key] = (name, display, stats)
        out.append(names)
    return out


def event_ids(data):
    """Metadata ids of all events, in the order in which the oracle gives the events."""
    for tag, plane in xplane_oracle.fields(data):
        if tag != 10:
            continue
        for t, line in xplane_oracle.fields(plane):
            if t != 26:
                continue
            for tt, event in xplane_oracle.fields(line):
                if tt == 34:
                    yield next((xplane_oracle.signed(v) for ttt, v in reversed(list(xplane_oracle.fields(event))) if ttt == 8), 0)


def wanted_events(data):
    """(plane, track, start ps, duration ps, label, args) of each event as JSON and CSV should hold it."""
    planes, labels, ids = xplane_oracle.parse(data), labels_of(data), event_ids(data)
    base = base_of(planes, data) * 1000
    for plane, names in zip(planes, labels):
        for line in plane.lines:
            for event in line.events:
                meta = next(ids)
                name, display, shared = names.get(meta, (b'', b'event %d (name lost)' % meta, []))
                args, times = {}, Counter()
                for key, value in event.stats:
                    times[key] += 1
                    args[text(key) + (' #%d' % times[key] if times[key] > 1 else '')] = wanted_value(value)
                for key, value in shared:
                    args.setdefault(text(key), wanted_value(value))
                if display and name and display != name:
                    args.setdefault('long_name', text(name))
                yield (text(plane.name), text(line.name), line.id, event.start - base, event.dur, text(display or name),
                       tuple(sorted(args.items(), key=repr)))


def ps(number):
    value = Decimal(number) * 1000000
    assert value == int(value), number
    return int(value)


def chrome_events(path):
    with gzip.open(path, 'rt', encoding='utf-8') as f:
        trace = json.load(f, parse_float=Decimal)
    processes, threads, ids, lanes, seen = {}, {}, {}, {}, set()
    for e in trace['traceEvents']:
        if e['ph'] == 'M':
            if e['name'] == 'process_name':
                processes[e['pid']] = e['args']['name']
            if e['name'] in ('thread_name', 'thread_labels'):
                at = e['pid'], e['tid']
                assert at not in threads, 'thread %s twice' % (at,)
                threads[at] = e['args']['name']
                lane = e['args'].get('lane_of')
                ids[at] = ids[e['pid'], lane] if lane is not None else e['args'].get('id', e['tid'])
            continue
        assert e['ph'] == 'X', e
        at = e['pid'], e['tid']
        args = {text(k.encode()): got_value(v) for k, v in e.get('args', {}).items()}
        if 'cat' in e:
            args['cat'] = got_value(e['cat'])
        yield (text(processes[e['pid']].encode()), text(threads[at].encode()), ids[at], ps(e['ts']), ps(e['dur']), text(e['name'].encode()),
               tuple(sorted(args.items(), key=repr)))


def csv_events(path):
    csv.field_size_limit(1 << 30)
    with open(path, newline='', encoding='utf-8', errors='replace') as f:
        rows = csv.reader(f)
        assert next(rows) == 'host,plane,track,track_id,form,name,start_ps,duration_ps,args'.split(',')
        for host, plane, track, track_id, form, name, start, duration, args in rows:
            assert form == 'slice' and host
            args = {text(k.encode()): got_value(v) for k, v in json.loads(args, parse_float=Decimal).items()}
            yield (text(plane.encode()), text(track.encode()), int(track_id), int(start), int(duration), text(name.encode()),
                   tuple(sorted(args.items(), key=repr)))


# ---- the checks ----

def differ(what, wanted, got):
    wanted, got = Counter(wanted), Counter(got)
    if wanted == got:
        return []
    lost, more = wanted - got, got - wanted
    return ['%s: %d events lost, such as %r; %d more, such as %r' % (
        what, sum(lost.values()), next(iter(lost), None), sum(more.values()), next(iter(more), None))]


def check(profile, folder):
    data = profile.read_bytes()
    summary = xplane_oracle.summarise(xplane_oracle.parse(data))
    wrong = []
    again = extract(profile, 'xplane', folder)
    dump = json.loads(idsprof('dump', '--hash', again).stdout)
    if dump != summary:
        wrong.append('xplane, read by idsprof: %s, wanted %s' % (dump, summary))
    # Two entries of one metadata id are two names afterwards, of which the oracle counts the first one too.
    if xplane_oracle.summarise(xplane_oracle.load(again)) != summary:
        wrong.append('xplane, read by the oracle: not the same')
    chrome = extract(profile, 'chrome', folder)
    wanted = list(wanted_events(data))
    wrong += differ('chrome', wanted, chrome_events(chrome))
    wrong += differ('csv', wanted, csv_events(extract(profile, 'csv', folder)))
    # That the file holds every event with its args was seen above, by their own keys; that idsprof reads it as it is, here.
    read = json.loads(idsprof('dump', '--hash', chrome).stdout)
    decoded = chrome_oracle.summarise(chrome_oracle.load(chrome))
    if read != decoded or read['events'] != summary['events']:
        wrong.append('chrome, read again: %s, wanted %s' % (read, decoded))
    # Lanes are folded back: as many lines with events as there were.
    lines = len({(plane, track, number) for plane, track, number, *_ in wanted})
    folded = len({(plane.name, line.name, line.id) for plane in chrome_oracle.load(chrome) for line in plane.lines if line.events})
    if folded != lines:
        wrong.append('chrome, read again: %d tracks, wanted %d' % (folded, lines))
    return wrong


def random_value(rng):
    return rng.choice((
        lambda: rng.randrange(-(1 << 63), 1 << 63), lambda: xspace.Unsigned(rng.randrange(1 << 64)), lambda: xspace.Unsigned((1 << 64) - 1),
        lambda: rng.choice((0.0, -0.0, 1.0, 1e300, 5e-324, 0.1, -2.5e-7, 123456789.125, 1e15, 1e16, float('inf'), float('nan'), 2 / 3)),
        lambda: rng.random() * 10 ** rng.randrange(-20, 20), lambda: rng.randbytes(rng.randrange(8)),
        lambda: xspace.Ref(rng.choice(('a', 'bb', 'ref "x"'))),
        lambda: ''.join(rng.choice('ab"\\/\n\r\t\x00\x1f\x7f,;é\u2028😀') for _ in range(rng.randrange(6)))))()


def random_profile(rng):
    planes = []
    stamp = rng.choice((0, 0, 1_700_000_000_000_000_000))
    for p in range(rng.randrange(1, 4)):
        plane = xspace.Plane(rng.choice(('/host:CPU', '/device:GPU:0', '/device:TPU:1', 'odd "plane"\n,x')), {'n': 3, 's': 'x"y'})
        for n in range(rng.randrange(1, 8)):
            plane.meta('name %d' % n, {'shared': random_value(rng), 'both': 1}, display=rng.choice(('', 'short %d' % n)))
        for _ in range(rng.randrange(4)):
            plane.line(rng.choice((0, 1, 7, 7, -3, 1 << 40, -(1 << 62))), rng.choice(('', 'Stream #1', 'a,"b"')),
                       stamp + rng.randrange(1000) if stamp else rng.randrange(3))
            for _ in range(rng.randrange(60)):
                stats = {key: random_value(rng) for key in rng.sample(('both', 'k1', 'k"2', 'cat', 'id', 'long_name'), rng.randrange(5))}
                if 'cat' in stats:
                    stats['cat'] = 'a category'
                plane.event('name %d' % rng.randrange(9), rng.randrange(5000), rng.choice((0, 1, rng.randrange(4000))), stats)
        planes.append(plane)
    return xspace.space(planes)


def main():
    failures = count = 0
    own = sorted((SOURCE / 'testdata').rglob('*.xplane.pb'))
    assert own, 'no trace under testdata'
    shared = [p for p in sorted((SHARED / 'traces').rglob('*.xplane.pb')) if CORRUPT not in p.parts]
    # The sanitizers' build takes ten times as long, and has read them all in other tests.
    if os.environ.get('IDS_SANITIZE') == '1':
        shared, own = shared[:1], own[:4]
    with tempfile.TemporaryDirectory() as folder:
        for i in range(40):
            profile = Path(folder) / ('random%d.xplane.pb' % (SEED + i))
            profile.write_bytes(random_profile(random.Random(SEED + i)))
            own.append(profile)
        for profile in own + shared:
            try:
                wrong = check(profile, folder + '/out')
            except Exception as e:                              # of whatever the output held
                wrong = ['%s: %s' % (type(e).__name__, e)]
            count += 1
            failures += bool(wrong)
            if wrong or profile in shared:
                print('%s %s' % ('FAIL' if wrong else 'ok  ', profile))
            for line in wrong:
                print('     ' + line[:1500])
    print('%d profiles there and back, %d failures (IDS_SEED=%d)' % (count, failures, SEED))
    return int(failures > 0)


if __name__ == '__main__':
    sys.exit(main())
