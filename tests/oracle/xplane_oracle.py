#!/usr/bin/env python3
"""An independent decoder of xplane.pb (the protobuf message XSpace), standard library only.

It shares no code with idsprof: the tests compare what both read of a file.

    xplane_oracle.py FILE           {"planes":N,"lines":N,"events":N,"event_stats":N,
                                     "metadata_stats":N,"plane_stats":N,"hash":"16 hex digits"}
    xplane_oracle.py --facts FILE   per line of each device plane: events, sum and union of the
                                    durations in ps; the same for CPU ops (events with the stat
                                    hlo_op) per device_ordinal, and for step annotations
    xplane_oracle.py --items FILE   every hashed item, one a line (to find where two decoders differ)

The hash (`idsprof dump --hash` computes the same from this text) does not depend on any order.
Items are byte strings made of fields joined by the byte 0x1f (US).
  item hash = fin((crc32(item) << 32) | adler32(item)), both as zlib computes them; fin is the
              splitmix64 finaliser, mod 2^64, with no increment added:
              z ^= z>>30; z *= 0xbf58476d1ce4e5b9; z ^= z>>27; z *= 0x94d049bb133111eb; z ^= z>>31
  hash      = the sum of all item hashes mod 2^64, printed as 16 lower-case hex digits.
Text fields are the bytes as in the file, integers are decimal.
  track T: plane name US line id (signed 64) US line name
  "L" US T US event count                                        one per line
  "E" US T US start_ps US duration_ps US event name              one per event
      start_ps = timestamp_ns*1000 + offset_ps, exact. An aggregated event (num_occurrences instead
      of offset_ps, the last of both wins) has start_ps = timestamp_ns*1000 and one more stat item,
      key "num_occurrences", type i.
      Event name = the name of the event's metadata, empty when that is missing.
  "S" US T US start_ps US duration_ps US event name US key US value       one per event stat
      key = the name of the stat's metadata; "stat#<id>" when that is missing.
  "M" US plane name US event name US key US value   one per stat of event metadata, used or not
  "P" US plane name US key US value                 one per stat of a plane
  value: "i:" int64 | "u:" uint64 | "d:" 16 lower-case hex digits of the IEEE bits, highest first |
         "s:" bytes (str_value, or ref_value replaced by the name of the stat metadata it points to;
         "r:" number when there is none) | "b:" length ":" crc32 (bytes_value) | "n:" no value field.
When a metadata id is twice in a map, the last wins; when a stat has several value fields, the last
wins. A metadata's id is the key of the map, not the id inside the message. A field with an unknown
number or an unexpected wire type is skipped.
Counts: events = "E" items, event_stats = "S" items (so num_occurrences counts), metadata_stats = "M",
plane_stats = "P".
"""
import gc
import json
import struct
import sys
from zlib import adler32, crc32

gc.disable()  # millions of small objects, none in a circle: to look for circles took a tenth of the time

US = b'\x1f'
M64 = (1 << 64) - 1
VARINT, FIX64, BYTES, FIX32 = 0, 1, 2, 5


def tag(number, wire):
    return number << 3 | wire


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def varint(b, i):
    v = shift = 0
    while True:
        c = b[i]                      # an IndexError is a truncated file
        i += 1
        v |= (c & 0x7f) << shift
        if c < 0x80:
            return v & M64, i
        shift += 7
        if shift > 63:
            raise ValueError('varint longer than 10 bytes')


def fields(b):
    """(tag, value) of each field: int for varints, bytes for all else."""
    i, n = 0, len(b)
    while i < n:
        t = b[i]
        if t < 0x80:
            i += 1
        else:
            t, i = varint(b, i)
        wire = t & 7
        if wire == VARINT:
            v = b[i]
            if v < 0x80:
                i += 1
            else:
                v, i = varint(b, i)
            yield t, v
            continue
        if wire == BYTES:
            size, i = varint(b, i)
        elif wire == FIX64:
            size = 8
        elif wire == FIX32:
            size = 4
        else:
            raise ValueError('wire type %d' % wire)
        if i + size > n:
            raise ValueError('field runs past the end of its message')
        yield t, b[i:i + size]
        i += size


S_ID, S_DOUBLE, S_U64, S_I64 = tag(1, VARINT), tag(2, FIX64), tag(3, VARINT), tag(4, VARINT)
S_STR, S_BYTES, S_REF = tag(5, BYTES), tag(6, BYTES), tag(7, VARINT)


def stat(b, names):
    """(key, value) of an XStat, both as the bytes of a hash item."""
    key_id, kind, raw = 0, None, None
    for t, v in fields(b):
        if t == S_ID:
            key_id = signed(v)
        elif t in (S_DOUBLE, S_U64, S_I64, S_STR, S_BYTES, S_REF):
            kind, raw = t, v
    key = names.get(key_id)
    if key is None:
        key = b'stat#%d' % key_id
    if kind is None:
        return key, b'n:'
    if kind == S_I64:
        return key, b'i:%d' % signed(raw)
    if kind == S_U64:
        return key, b'u:%d' % raw
    if kind == S_STR:
        return key, b's:' + raw
    if kind == S_REF:                 # ref_value is a uint64, the ids of the map are int64
        name = names.get(signed(raw))
        return key, b'r:%d' % raw if name is None else b's:' + name
    if kind == S_DOUBLE:
        return key, b'd:%016x' % struct.unpack('<Q', raw)[0]
    return key, b'b:%d:%d' % (len(raw), crc32(raw))


def map_entry(b):
    key, value = 0, b''
    for t, v in fields(b):
        if t == tag(1, VARINT):
            key = signed(v)
        elif t == tag(2, BYTES):
            value = v
    return key, value


class Event:
    __slots__ = ('name', 'start', 'dur', 'stats')   # ps; stats: list of (key, value) bytes


class Line:
    def __init__(self):
        self.id, self.name, self.events = 0, b'', []


class Plane:
    def __init__(self):
        self.name, self.lines, self.stats = b'', [], []
        self.metadata = {}            # id -> (event name, [(key, value)])


def parse_plane(b):
    p = Plane()
    lines, stats, stat_names, event_meta = [], [], {}, {}
    for t, v in fields(b):            # metadata may come after the lines that use it
        if t == tag(2, BYTES):
            p.name = v
        elif t == tag(3, BYTES):
            lines.append(v)
        elif t == tag(4, BYTES):
            key, value = map_entry(v)
            event_meta[key] = value
        elif t == tag(5, BYTES):
            key, value = map_entry(v)
            stat_names[key] = b''
            for tt, vv in fields(value):
                if tt == tag(2, BYTES):
                    stat_names[key] = vv
        elif t == tag(6, BYTES):
            stats.append(v)
    p.stats = [stat(s, stat_names) for s in stats]
    for key, value in event_meta.items():
        name, found = b'', []
        for t, v in fields(value):
            if t == tag(2, BYTES):
                name = v
            elif t == tag(5, BYTES):
                found.append(stat(v, stat_names))
        p.metadata[key] = name, found
    p.lines = [parse_line(v, p.metadata, stat_names) for v in lines]
    return p


def parse_line(b, metadata, stat_names):
    line, timestamp_ns, events = Line(), 0, []
    for t, v in fields(b):
        if t == tag(1, VARINT):
            line.id = signed(v)
        elif t == tag(2, BYTES):
            line.name = v
        elif t == tag(3, VARINT):
            timestamp_ns = signed(v)
        elif t == tag(4, BYTES):
            events.append(v)
    for raw in events:
        e, meta_id, offset, occurrences = Event(), 0, 0, None
        e.dur, e.stats = 0, []
        for t, v in fields(raw):
            if t == 8:                # metadata_id
                meta_id = signed(v)
            elif t == 16:             # offset_ps
                offset, occurrences = signed(v), None
            elif t == 24:             # duration_ps
                e.dur = signed(v)
            elif t == 34:             # stats
                e.stats.append(stat(v, stat_names))
            elif t == 40:             # num_occurrences
                offset, occurrences = 0, signed(v)
        if occurrences is not None:
            e.stats.append((b'num_occurrences', b'i:%d' % occurrences))
        e.start = timestamp_ns * 1000 + offset
        e.name = metadata.get(meta_id, (b'',))[0]
        line.events.append(e)
    return line


def parse(data):
    """The planes of an XSpace."""
    return [parse_plane(v) for t, v in fields(data) if t == tag(1, BYTES)]


def load(path):
    with open(path, 'rb') as f:
        return parse(f.read())


def items(planes):
    """(common prefix, endings): each ending makes one item of the hash."""
    for p in planes:
        yield b'P' + US + p.name + US, [k + US + v for k, v in p.stats]
        for name, stats in p.metadata.values():
            yield b'M' + US + p.name + US + name + US, [k + US + v for k, v in stats]
        for line in p.lines:
            track = p.name + US + b'%d' % line.id + US + line.name
            yield b'L' + US + track + US, [b'%d' % len(line.events)]
            for e in line.events:
                body = US + track + US + b'%d' % e.start + US + b'%d' % e.dur + US + e.name
                yield b'E' + body, [b'']
                yield b'S' + body + US, [k + US + v for k, v in e.stats]


def finalise(z):
    z ^= z >> 30
    z = z * 0xbf58476d1ce4e5b9 & M64
    z ^= z >> 27
    z = z * 0x94d049bb133111eb & M64
    return z ^ z >> 31


def summarise(planes):
    """The JSON object of the module's text."""
    counts, total = dict.fromkeys(b'LESMP', 0), 0
    for prefix, endings in items(planes):
        counts[prefix[0]] += len(endings)
        crc, adler = crc32(prefix), adler32(prefix)   # both can go on from a prefix
        for end in endings:
            total += finalise(crc32(end, crc) << 32 | adler32(end, adler))
    return dict(planes=len(planes), lines=counts[ord('L')], events=counts[ord('E')],
                event_stats=counts[ord('S')], metadata_stats=counts[ord('M')],
                plane_stats=counts[ord('P')], hash='%016x' % (total & M64))


def union(spans):
    """Length of the union of (start, end) spans."""
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def figures(events):
    return dict(events=len(events), sum_ps=sum(e.dur for e in events),
                union_ps=union([(e.start, e.start + e.dur) for e in events]))


def text(b):
    return b.decode('utf-8', 'backslashreplace')


def number(e, key):
    """The integer stat `key` of an event, or None."""
    for k, v in e.stats:
        if k == key and v[:2] in (b'i:', b'u:'):
            return int(v[2:])
    return None


def cpu_ops(planes):
    """Events with the stat hlo_op on a host plane: what XLA's CPU client ran."""
    return [e for p in planes if p.name.startswith(b'/host:CPU') for line in p.lines
            for e in line.events if any(k == b'hlo_op' for k, _ in e.stats)]


def cpu_op_ends(planes):
    """The number that an op and its "end: NAME" share -> when it ended. Where ops began in the task that recorded the end, after the op
    itself did, the op had ended before the first of them: whoever ends an op runs what waited for it, and then says so."""
    starts = {number(e, b'_p'): e.start for e in cpu_ops(planes)}
    ends = {}
    for plane in planes:
        for line in plane.lines:
            task = None  # ops of the task, None outside one
            for e in sorted(line.events, key=lambda e: e.start):
                if e.name == b'ThreadpoolListener::StartRegion':
                    task = []
                elif e.name == b'ThreadpoolListener::StopRegion':
                    task = None
                elif any(key == b'hlo_op' for key, _ in e.stats):
                    if task is not None:
                        task.append(e.start)
                elif e.name.startswith(b'end: '):
                    link = number(e, b'_c')
                    after = [at for at in task or () if at > starts.get(link, e.start)]
                    ends[link] = min([e.start, *after])
    return ends


def step_annotations(planes):
    """Events of the host with the stat step_num, by start."""
    return sorted((e for p in planes if p.name.startswith(b'/host:') for line in p.lines
                   for e in line.events if number(e, b'step_num') is not None),
                  key=lambda e: e.start)


def facts(planes):
    ops = {}
    for e in cpu_ops(planes):
        ops.setdefault(str(number(e, b'device_ordinal')), []).append(e)
    return dict(
        lines=[dict(plane=text(p.name), line_id=line.id, line=text(line.name), **figures(line.events))
               for p in planes if p.name.startswith(b'/device:') for line in p.lines],
        cpu_ops={k: figures(v) for k, v in sorted(ops.items())},
        steps=[dict(name=text(e.name), step_num=number(e, b'step_num'), start_ps=e.start, dur_ps=e.dur)
               for e in step_annotations(planes)])


def main(argv):
    mode = argv[1] if len(argv) == 3 else None
    if len(argv) not in (2, 3) or mode not in (None, '--facts', '--items'):
        sys.exit('usage: xplane_oracle.py [--facts|--items] FILE')
    try:
        planes = load(argv[-1])
    except (OSError, ValueError, IndexError) as e:
        sys.exit('xplane_oracle.py: %s: %s' % (argv[-1], e if not isinstance(e, IndexError) else 'truncated'))
    if mode == '--items':
        for prefix, endings in items(planes):
            for end in endings:
                sys.stdout.buffer.write((prefix + end).replace(b'\n', b'\\n').replace(US, b'|') + b'\n')
    elif mode == '--facts':
        print(json.dumps(facts(planes), indent=1))
    else:
        print(json.dumps(summarise(planes)))


if __name__ == '__main__':
    main(sys.argv)
