"""idsprof_xspace.py - as much of XSpace (the protobuf message in xplane.pb) as the hook writes: planes of lines of events.

Serialized XSpaces may stand one after the other in a file: the planes of all of them are the profile's. Fields, of
tsl/profiler/protobuf/xplane.proto: XSpace 1 planes; XPlane 2 name, 3 lines, 4 event_metadata, 5 stat_metadata, 6 stats; XLine 1 id,
2 name, 3 timestamp_ns, 4 events; XEvent 1 metadata_id, 2 offset_ps, 3 duration_ps, 4 stats; XStat 1 metadata_id, 3 uint64_value,
4 int64_value, 5 str_value; XEventMetadata and XStatMetadata 1 id, 2 name.
"""

M64 = (1 << 64) - 1
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
OURS = b'idsprof.', b'jax.monitoring'
LONGEST = 1 << 20               # bytes of a plane that is read here: the task's environment is a few hundred


def varint(value):
    value &= M64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3 | VARINT) + varint(value)


def chunk(field, data):
    return varint(field << 3 | BYTES) + varint(len(data)) + data


class Plane:
    """A plane that is being written. Lines are lists of (start_ps, duration_ps, name, {stat: int or str})."""

    def __init__(self, name):
        self.name = name
        self.lines = []                 # (id, name, timestamp_ns, events)
        self.events, self.stats = {}, {}

    def line(self, line_id, name, timestamp_ns, events):
        self.lines.append((line_id, name, timestamp_ns, events))

    def _stat(self, key, value):
        out = number(1, self.stats.setdefault(key, len(self.stats) + 1))
        if isinstance(value, str):
            return out + chunk(5, value.encode('utf-8', 'replace'))
        return out + number(4, value)

    def _event(self, start_ps, duration_ps, name, stats):
        out = (number(1, self.events.setdefault(name, len(self.events) + 1)) + number(2, start_ps) +
               number(3, duration_ps))
        return out + b''.join(chunk(4, self._stat(*pair)) for pair in stats.items())

    def space(self):
        """An XSpace of this plane alone, serialized."""
        lines = [chunk(3, number(1, line_id) + chunk(2, name.encode('utf-8', 'replace')) + number(3, timestamp_ns) +
                       b''.join(chunk(4, self._event(*event)) for event in events))
                 for line_id, name, timestamp_ns, events in self.lines]
        out = chunk(2, self.name.encode()) + b''.join(lines)
        for field, names in ((4, self.events), (5, self.stats)):
            for name, name_id in names.items():
                metadata = number(1, name_id) + chunk(2, name.encode('utf-8', 'replace'))
                out += chunk(field, number(1, name_id) + chunk(2, metadata))
        return chunk(1, out)


# --- reading: only when the profile begins -----------------------------------------------------------------------------

def _read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & M64, at
        shift += 7
        if shift > 63:
            raise ValueError('a varint of more than 10 bytes')


def _fields(data):
    """(field, value) of a message in memory; the value of a chunk is its bytes."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        wire = tag & 7
        if wire == VARINT:
            value, at = _read_varint(data, at)
        elif wire == BYTES:
            size, at = _read_varint(data, at)
            value, at = data[at:at + size], at + size
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
            value, at = data[at:at + size], at + size
        else:
            raise ValueError('wire type %d' % wire)
        yield tag >> 3, value


def _planes(data):
    """(begin, end) of each plane of a profile; none is copied."""
    at = 0
    while at < len(data):
        head = data[at:at + 20]
        tag, used = _read_varint(head, 0)
        if tag != 1 << 3 | BYTES:
            raise ValueError('no XSpace')
        length, used = _read_varint(head, used)
        yield at + used, at + used + length
        at += used + length


def is_empty(data):
    """Whether a profile holds no event but marks of ours. A large one is not looked at: it is none."""
    if len(data) > LONGEST:
        return False
    try:
        return not any(field == 1 and _has_events(value) for field, value in _fields(data))
    except (ValueError, IndexError):
        return False


def _has_events(plane):
    lines, ours = [], set()
    for field, value in _fields(plane):
        if field == 3:
            lines.append(value)
        elif field == 4:
            metadata = dict(_fields(dict(_fields(value)).get(2, b'')))
            if metadata.get(2, b'').startswith(OURS):
                ours.add(metadata.get(1))
    return any(field == 4 and dict(_fields(value)).get(1) not in ours for line in lines for field, value in _fields(line))


def _stat_value(stats, names, wanted):
    for stat in stats:
        fields = dict(_fields(stat))
        if names.get(fields.get(1)) == wanted:
            return fields.get(3, fields.get(4))
    return None


def _start_of_plane(data):
    name, stats, names = b'', [], {}
    for field, value in _fields(data):
        if field == 2:
            name = value
        elif field == 6:
            stats.append(value)
        elif field == 5:
            entry = dict(_fields(value))
            names[entry.get(1)] = dict(_fields(entry.get(2, b''))).get(2)
    return _stat_value(stats, names, b'profile_start_time') if name == b'Task Environment' else None


def profile_start_of_bytes(data):
    """When the profile began, in nanoseconds of CLOCK_REALTIME, to which its lines are relative; 0 where it does not say."""
    try:
        for begin, end in _planes(data):
            if end - begin > LONGEST or b'Task Environment' not in data[begin:begin + 64]:
                continue
            start = _start_of_plane(data[begin:end])
            if start:
                return start
    except (ValueError, IndexError, OSError, TypeError):
        pass
    return 0
