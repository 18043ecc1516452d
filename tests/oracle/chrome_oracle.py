#!/usr/bin/env python3
"""An independent decoder of Chrome/Perfetto JSON traces (JAX, XLA, Kineto), standard library only.

It shares no code with idsprof; the tests compare what both read of a file. The JSON is taken apart with regular expressions and not
with the module json, because nested values are compared as they stand in the file, byte for byte, and so are broken strings.

    chrome_oracle.py FILE           the JSON object that xplane_oracle.py prints, of a trace.json or trace.json.gz
    chrome_oracle.py --items FILE   every hashed item, one a line (to find where two decoders differ)

Items and hash are those of xplane_oracle.py, without M items. What an event, a plane and a track are is said in
formats/chrome_trace.c; where that leaves a choice, the choice is a comment here.
"""
import base64
import gzip
import json
import random
import re
import struct
import sys
from zlib import crc32

from xplane_oracle import Event, Line, Plane, US, items, summarise

STRING = rb'"(?:[^"\\]|\\.)*"'
NUMBER = rb'-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?'
SCALAR = rb'%s|%s|true|false|null' % (STRING, NUMBER)
SPACE = rb'[ \t\r\n]*'
# A member of an object up to its value, which is a scalar or begins with a bracket.
MEMBER = re.compile(rb'%s(%s)%s:%s(%s|(?=[\[{]))%s' % (SPACE, STRING, SPACE, SPACE, SCALAR, SPACE), re.S)
# The same, and a value in brackets without others in it too.
FLAT = rb'[\[{](?:%s|[^"\[\]{}])*[\]}]' % STRING
FLAT_MEMBER = re.compile(rb'%s(%s)%s:%s(%s|%s|(?=[\[{]))%s' % (SPACE, STRING, SPACE, SPACE, SCALAR, FLAT, SPACE), re.S)
ELEMENT = re.compile(rb'%s(%s|(?=[\[{]))%s' % (SPACE, SCALAR, SPACE), re.S)
# What matters to the nesting of a value that is taken as a whole.
BRACKET = re.compile(rb'%s|[\[\]{}]' % STRING, re.S)
BLANKS = re.compile(rb'(%s)|[ \t\r\n]+' % STRING, re.S)
ESCAPE = re.compile(rb'\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
SIMPLE = {b'"': b'"', b'\\': b'\\', b'/': b'/', b'b': b'\b', b'f': b'\f', b'n': b'\n', b'r': b'\r', b't': b'\t'}
INTEGER = re.compile(rb'-?[0-9]+')
DECIMAL = re.compile(rb'(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?')
# Categories in small letters: what a device does, ranges of a counter profiler on it, and what is known to be neither.
WORK = re.compile(rb'(.*_)?(kernel|memcpy|memset)|.*_ccp_events')
RANGE = re.compile(rb'.*_profiler_range')
AROUND = re.compile(rb'operator|cpu_op|hpu_op|python_function|(.*_)?user_annotation|.*_instant_event|(.*_)?(runtime|driver)'
                    rb'|.*_(sync|event|insight|counters)|overhead|trace|external_correlation|collective_comm|ac2g|async_cpu_to_gpu|async|fwdbwd'
                    rb'|forward_backward|')
LABEL = re.compile(rb'([A-Z]{2,}) (-?[0-9]+)')
STREAM = re.compile(rb'Stream #.*|([sS]tream|thread) [0-9]* *', re.S)
PROPERTIES = ((b'name', b'gpu_device_name'), (b'totalGlobalMem', b'memory_size'), (b'numSms', b'core_count'),
              (b'computeMajor', b'compute_cap_major'), (b'computeMinor', b'compute_cap_minor'))
OWN = frozenset((b'ph', b'name', b'pid', b'tid', b'ts', b'dur', b'args'))
INT64, UINT64 = range(-1 << 63, 1 << 63), range(1 << 64)


class End(Exception):
    """The file ends here."""


def skip_space(data, at):
    while data[at:at + 1] in (b' ', b'\t', b'\r', b'\n'):
        at += 1
    return at


def skip_value(data, at):
    """Where the array or object that begins at `at` ends."""
    depth = 0
    while True:
        found = BRACKET.search(data, at)
        if not found:
            raise End
        at, what = found.end(), data[found.start()]
        if what in b'[{':
            depth += 1
        elif what in b']}':
            depth -= 1
            if not depth:
                return at


def members(data, at):
    """The members of the object at `at` as (key, raw value), and where it ends."""
    found, at = [], skip_space(data, at + 1)
    if data[at:at + 1] == b'}':
        return found, at + 1
    while True:
        member = FLAT_MEMBER.match(data, at)
        if not member:
            raise End if at + 200 > len(data) else ValueError('no member of an object at offset %d' % at)
        key, raw = member.groups()
        at = member.end()
        if not raw:
            begin, at = at, skip_value(data, at)
            raw = data[begin:at]
            at = skip_space(data, at)
        found.append((key[1:-1] if b'\\' not in key else string(key), raw))
        after = data[at:at + 1]
        at += 1
        if after == b'}':
            return found, at
        if after != b',':
            raise ValueError('neither , nor } at offset %d' % (at - 1)) if after else End


def array(data, at, each):
    """Calls each(begin, end, members) for the elements of the array at `at`, members being None for what is no object; returns
    where it ends. The closing bracket may be missing, and a comma may stand before it."""
    at = skip_space(data, at + 1)
    while True:
        first = data[at:at + 1]
        if first in (b']', b''):
            return at + 1
        begin, found = at, None
        if first == b'{':
            found, at = members(data, at)
        else:
            element = ELEMENT.match(data, at)
            if not element:
                raise End if at + 200 > len(data) else ValueError('no value at offset %d' % at)
            at = element.end() if element[1] else skip_value(data, at)
        each(begin, at, found)
        at = skip_space(data, at)
        if data[at:at + 1] == b',':
            at = skip_space(data, at + 1)


def unescape(found):
    high, low, code, simple = found.groups()
    if simple:
        return SIMPLE[simple]
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3ff) << 10) + (int(low, 16) & 0x3ff)).encode()
    code = int(code, 16)
    return chr(0xfffd if 0xd800 <= code < 0xe000 else code).encode()


def string(raw):
    """The bytes of a JSON string. Bytes that are no UTF-8 stay as they are."""
    return ESCAPE.sub(unescape, raw[1:-1])


def text(raw):
    """A value where a text is wanted: a string's, else the literal itself."""
    return string(raw) if raw[:1] == b'"' else raw


def value(raw):
    """A value of an arg, as the hash has it."""
    first = raw[:1]
    if first == b'"':
        return b's:' + (raw[1:-1] if b'\\' not in raw else string(raw))
    if first in b'[{':
        return b's:' + BLANKS.sub(lambda found: found[1] or b'', raw)
    if first in b'tf':
        return b's:' + raw
    if first == b'n':
        return b'n:'
    if INTEGER.fullmatch(raw):
        number = int(raw)
        if number in INT64:
            return b'i:%d' % number
        if number in UINT64:
            return b'u:%d' % number
    return b'd:%016x' % struct.unpack('>Q', struct.pack('>d', float(raw)))


def binary(item):
    """Of the stats of a plane that idsprof wrote down: bytes stand in base64, and are bytes again."""
    if not item.startswith(b's:base64:'):
        return item
    try:
        raw = base64.b64decode(item[9:], validate=True)
    except ValueError:
        return item
    return b'b:%d:%d' % (len(raw), crc32(raw))


def picoseconds(raw):
    """Of microseconds as a number or a numeric string: the nearest, of two the one further from zero; None when it is neither.

    XLA writes a double with 17 digits: 1.92 us, 1,920,000 ps in the xplane of that run, is "1.9199999999999999"."""
    found = DECIMAL.fullmatch(raw[1:-1] if raw[:1] == b'"' else raw)
    if not found:
        return None
    sign, whole, fraction, exponent = found.groups()
    fraction = fraction or b''
    digits, power = int(whole + fraction), int(exponent or 0) - len(fraction) + 6
    ps = digits * 10 ** power if power >= 0 else (digits + 10 ** -power // 2) // 10 ** -power
    return -ps if sign else ps


def identity(raw):
    """A pid or tid: a number, also one in quotes, or a text. Missing or null is 0."""
    if raw is None or raw == b'null':
        return 0
    inside = text(raw)
    if INTEGER.fullmatch(inside) and int(inside) in INT64:
        return int(inside)
    return inside


def shown(ident):
    return b'%d' % ident if isinstance(ident, int) else ident


def family(category):
    if category is None:
        return 'around'
    found = [name for name, rule in (('work', WORK), ('range', RANGE), ('around', AROUND)) if rule.fullmatch(category.lower())]
    return found[0] if found else 'unknown'


class Reader:
    def __init__(self):
        self.names, self.labels, self.sort, self.threads = {}, {}, {}, {}
        self.lanes, self.ids = {}, {}
        self.spans = []               # (begin, end) of each element of traceEvents
        self.properties = {}          # id of a GPU: its entry
        self.devices = []             # the entries of all
        self.by_category = set()      # pids with work of devices, or ranges
        self.works = set()            # those with work
        self.strange = set()          # pids with events of unknown categories that have a stream
        self.unknown = set()          # pids with slices of any
        self.ours, self.written = False, {}     # idsprof wrote the file; pid: the stats that its plane had
        self.slices = []              # (pid, track, start, duration, name, args), track: see track_of
        self.nested = {}              # (pid, tid): B and E, (time, is an end, track, name, args)
        self.asynchronous = {}        # (pid, category, id): the same
        self.last = {}                # (pid, tid) or (pid, async, category): the last time in it

    def element(self, begin, end, found):
        self.spans.append((begin, end))
        if not found:                 # {}, or no object at all
            return
        own, args, category, inner, ids = {}, [], None, None, {}
        for key, raw in found:
            if key in OWN:
                own[key] = raw        # the last of two counts
                continue
            args.append((key, value(raw)))
            if key == b'cat':
                category = text(raw)
            elif key in (b'id', b'id2'):
                ids[key] = value(raw)[2:]
        phase = text(own.get(b'ph', b''))
        pid, tid = identity(own.get(b'pid')), identity(own.get(b'tid'))
        name = text(own.get(b'name', b''))
        inner = own.get(b'args')
        if phase == b'M':
            self.metadata(pid, tid, name, inner)
            return
        kind = family(category)
        inside = members(inner, 0)[0] if inner is not None and inner[:1] == b'{' else None
        stream = inside is not None and any(key == b'stream' for key, _ in inside)
        if kind in ('work', 'range'):
            self.by_category.add(pid)
            if kind == 'work':
                self.works.add(pid)
        elif kind == 'unknown':
            if phase in (b'X', b'B'):
                self.unknown.add(pid)
            if stream:
                self.strange.add(pid)
        start = picoseconds(own[b'ts']) if b'ts' in own else None
        if start is None:
            return
        if inner is not None:
            if inside is not None:
                args += [(key, value(raw)) for key, raw in inside]
            else:
                args.append((b'args', value(inner)))
        thread = (pid, tid)
        if phase == b'X':
            duration = (picoseconds(own[b'dur']) or 0) if b'dur' in own else 0
            self.slice(pid, ('thread', tid, category, stream), start, duration, name, args, thread)
        elif phase in (b'i', b'I', b'R'):
            self.slice(pid, ('thread', tid, category, stream), start, 0, name, args, thread)
        elif phase in (b's', b't', b'f'):
            # An arrow is bound to the slice around it, so it lies with the slices of its thread, whatever its category.
            self.slice(pid, ('thread', tid, None, False), start, 0, name, args, thread)
        elif phase == b'C':
            self.slice(pid, ('counters',), start, 0, name, args, (pid, 'counters'))
        elif phase in (b'B', b'E'):
            self.note(thread, start)
            self.nested.setdefault(thread, []).append((start, phase == b'E', ('thread', tid, category, stream), name, args))
        elif phase in (b'b', b'e', b'S', b'F', b'n', b'T', b'p'):
            track = ('async', category or b'')
            if phase in (b'n', b'T', b'p'):
                self.slice(pid, track, start, 0, name, args, (pid, track))
                return
            self.note((pid, track), start)
            # Chrome has both "id":1 and "id":"1": one id. id2 is taken where there is no id.
            key = (pid, category or b'', ids.get(b'id', ids.get(b'id2', b'')))
            self.asynchronous.setdefault(key, []).append((start, phase in (b'e', b'F'), track, name, args))

    def note(self, where, time):
        self.last[where] = max(time, self.last.get(where, time))

    def slice(self, pid, track, start, duration, name, args, where):
        self.note(where, start + duration)
        self.slices.append((pid, track, start, duration, name, args))

    def metadata(self, pid, tid, name, inner):
        args = dict(members(inner, 0)[0]) if inner and inner[:1] == b'{' else {}
        if name == b'process_name' and b'name' in args:
            self.names[pid] = text(args[b'name'])
        elif name == b'process_labels' and b'labels' in args:
            self.labels[pid] = value(args[b'labels'])
        elif name == b'process_sort_index' and INTEGER.fullmatch(args.get(b'sort_index', b'')):
            self.sort[pid] = value(args[b'sort_index'])
        elif name in (b'thread_name', b'thread_labels') and b'name' in args:
            self.threads[pid, tid] = text(args[b'name'])
            if INTEGER.fullmatch(args.get(b'lane_of', b'')):
                self.lanes[pid, tid] = int(args[b'lane_of'])
            if INTEGER.fullmatch(args.get(b'id', b'')):
                self.ids[pid, tid] = int(args[b'id'])

    def pair(self, groups, where):
        """Begins and ends become slices: by time, in the file's order where it is the same, the innermost first."""
        for key, marks in groups.items():
            marks.sort(key=lambda mark: mark[0])
            stack = []
            for mark in marks:
                if not mark[1]:
                    stack.append(mark)
                elif stack:
                    start, _, track, name, args = stack.pop()
                    self.slices.append((key[0], track, start, mark[0] - start, name, args + mark[4]))
            for start, _, track, name, args in stack:
                self.slices.append((key[0], track, start, self.last[where(key, track)] - start, name, args))

    def gpu(self, begin, end, found):
        """An element of deviceProperties."""
        entry = dict(found or ())
        self.devices.append(entry)
        if INTEGER.fullmatch(entry.get(b'id', b'')):
            self.properties[int(entry[b'id'])] = entry

    def top(self, data):
        """The whole file: an object, or the array alone."""
        at = skip_space(data, 0)
        if data[at:at + 1] == b'[':
            self.events(data, at)
            return
        if data[at:at + 1] != b'{':
            raise ValueError('no JSON trace')
        at = skip_space(data, at + 1)
        while data[at:at + 1] not in (b'}', b''):
            member = MEMBER.match(data, at)
            if not member:
                raise ValueError('no member at offset %d' % at)
            at, key = member.end(), string(member[1])
            if key == b'traceEvents' and data[at:at + 1] == b'[':
                at = self.events(data, at)
            elif key == b'deviceProperties' and data[at:at + 1] == b'[':
                at = array(data, at, self.gpu)
            elif key == b'otherData' and data[at:at + 1] == b'{':
                found, at = members(data, at)
                self.other(dict(found))
            elif not member[2]:
                at = skip_value(data, at)
            at = skip_space(data, at)
            if data[at:at + 1] == b',':
                at = skip_space(data, at + 1)

    def other(self, found):
        """What idsprof says of planes beside the events."""
        self.ours = text(found.get(b'written_by', b'""')).startswith(b'idsprof ')
        if self.ours and found.get(b'planes', b'')[:1] == b'[':
            array(found[b'planes'], 0, self.plane)

    def plane(self, begin, end, found):
        entry, stats = dict(found), []
        array(entry[b'stats'], 0, lambda b, e, pairs: stats.extend((key, binary(value(raw))) for key, raw in pairs))
        self.written[int(entry[b'pid'])] = stats

    def events(self, data, at):
        try:
            return array(data, at, self.element)
        except End:
            return len(data)          # cut within an element

    def device_of(self, pid):
        """What kind of device the process is: Kineto labels it "GPU 0", or it has a device's events."""
        if self.ours:
            return None                 # its plane has the device's name
        label = self.labels.get(pid, b's:')[2:]
        named = LABEL.fullmatch(label)
        labelled = named and isinstance(pid, int) and int(named[2]) == pid
        if pid in self.by_category or pid in self.strange and label != b'CPU' or pid in self.unknown and labelled:
            return named[1] if labelled else b'GPU'
        return None

    def plane_of(self, pid):
        plane, name = Plane(), self.names.get(pid)
        plane.metadata, plane.lines, plane.stats = {}, [], []
        gpu = False
        if name is not None and name.startswith(b'/device:'):
            plane.name = name
        elif self.device_of(pid):
            plane.name, gpu = b'/device:%s:' % self.device_of(pid) + shown(pid), True
        else:
            plane.name = name if name is not None else b'process ' + shown(pid)
        if pid in self.written:
            plane.stats = self.written[pid]
            return plane, gpu
        if name is not None and name != plane.name:
            plane.stats.append((b'process_name', b's:' + name))
        if pid in self.labels:
            plane.stats.append((b'process_labels', self.labels[pid]))
        if pid in self.sort:
            plane.stats.append((b'process_sort_index', self.sort[pid]))
        entry = self.properties.get(pid)
        if not entry and pid in self.works and len({tuple(map(d.get, (b'name', b'totalGlobalMem', b'numSms'))) for d in self.devices}) == 1:
            entry = self.devices[0]
        if gpu and entry:
            if entry.get(b'name') == b'""':  # AMD's on some machines, recognised by threads that run by 64
                entry = {member: raw for member, raw in entry.items() if member != b'name'}
                if entry.get(b'warpSize') == b'64':
                    plane.stats.append((b'device_vendor', b's:AMD'))
            plane.stats += [(key, value(entry[member])) for member, key in PROPERTIES if member in entry]
        return plane, gpu

    def track_of(self, pid, gpu, track):
        """What tells a track from others, its id and its name."""
        if track[0] == 'counters':
            return track, 0, b'counters'
        if track[0] == 'async':
            return track, 0, b'async ' + track[1]
        _, tid, category, stream = track
        tid = self.lanes.get((pid, tid), tid)
        name = self.threads.get((pid, tid))
        if name is None:
            name = b'thread %d' % tid if isinstance(tid, int) else tid
        kind = family(category)
        work = kind == 'work' or category is None or \
            (kind == 'unknown' and (stream or pid not in self.works))
        own = category if gpu and category and not work else None
        if own is not None:
            name += b' (' + own + b')'
        elif gpu and not STREAM.fullmatch(name):
            name = b'Stream #%d(' % self.ids.get((pid, tid), tid if isinstance(tid, int) else 0) + name + b')'
        return ('thread', tid, own), self.ids.get((pid, tid), tid if isinstance(tid, int) else 0), name

    def planes(self):
        self.pair(self.nested, lambda key, _: key)
        self.pair(self.asynchronous, lambda key, track: (key[0], track))
        planes, lines = {}, {}
        for pid, track, start, duration, name, args in self.slices:
            line = lines.get((pid, track))
            if line is None:
                if pid not in planes:
                    planes[pid] = self.plane_of(pid)
                plane, gpu = planes[pid]
                key, ident, title = self.track_of(pid, gpu, track)
                line = lines.get((pid, 'is', key))
                if line is None:
                    line = lines[pid, 'is', key] = Line()
                    line.id, line.name, line.events = ident, title, []
                    plane.lines.append(line)
                lines[pid, track] = line
            event = Event()
            event.start, event.dur, event.name, event.stats = start, duration, name, args
            line.events.append(event)
        if self.ours:
            self.without_events(planes, lines)
        return [plane for plane, _ in planes.values()]

    def without_events(self, planes, lines):
        """In a file of idsprof's every process and thread that has a name is a plane or a line."""
        for pid in self.names:
            if pid not in planes:
                planes[pid] = self.plane_of(pid)
        for pid, tid in self.threads:
            if (pid, tid) in self.lanes:
                continue
            if pid not in planes:
                planes[pid] = self.plane_of(pid)
            plane, gpu = planes[pid]
            key, ident, title = self.track_of(pid, gpu, ('thread', tid, None, False))
            if (pid, 'is', key) not in lines:
                line = lines[pid, 'is', key] = Line()
                line.id, line.name, line.events = ident, title, []
                plane.lines.append(line)


def parse(data):
    """The planes of a trace, as xplane_oracle.parse gives them."""
    reader = Reader()
    reader.top(data)
    return reader.planes()


def content(path):
    with open(path, 'rb') as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def load(path):
    return parse(content(path))


def shuffled(data, seed):
    """The trace with the elements of traceEvents in another order."""
    reader = Reader()
    reader.top(data)
    whole = [data[begin:end] for begin, end in reader.spans]
    random.Random(seed).shuffle(whole)
    return data[:reader.spans[0][0]] + b','.join(whole) + data[reader.spans[-1][1]:]


def ends(data, size):
    """The trace without its middle: what begins in its first and in its last bytes, about `size` each."""
    between = re.compile(rb'(?<=\})\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts)"\s*:)')
    left, right = between.search(data, size), between.search(data, len(data) - size)
    return data[:left.start()] + data[right.start():]


def main(argv):
    if len(argv) not in (2, 3) or len(argv) == 3 and argv[1] != '--items':
        sys.exit('usage: chrome_oracle.py [--items] FILE')
    planes = load(argv[-1])
    if len(argv) == 2:
        print(json.dumps(summarise(planes)))
        return
    for prefix, endings in items(planes):
        for end in endings:
            sys.stdout.buffer.write((prefix + end).replace(b'\n', b'\\n').replace(US, b'|') + b'\n')


if __name__ == '__main__':
    main(sys.argv)
