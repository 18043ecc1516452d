"""Writes XSpace profiles by hand, whole or damaged: what tests/fault and the seeds of tests/fuzz are made of.

Field numbers: tsl/profiler/protobuf/xplane.proto, xla/service/hlo.proto. It shares no code with idsprof or any protobuf library.
"""

MASK64 = (1 << 64) - 1


def varint(value):
    """Also of negative numbers, as int64 fields write them."""
    value &= MASK64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def blob(field, value):
    if isinstance(value, str):
        value = value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def double(field, value):
    import struct
    return varint(field << 3 | 1) + struct.pack("<d", value)


class Unsigned(int):
    """A stat of type uint64."""


class Ref(str):
    """A stat whose text stands in the table of stat names."""


class Plane:
    """A plane: its tables fill as events are added. Order in the file: as writers do, the tables last."""

    def __init__(self, name, stats=None):
        self.name = name
        self.names = {}  # event name -> (id, stats, display)
        self.texts = {}  # stat name or referenced text -> id
        self.lines = []
        self.own_stats = [self.stat(key, value) for key, value in (stats or {}).items()]
        self.hlo = b""

    def text_id(self, text):
        return self.texts.setdefault(text, len(self.texts) + 1)

    def stat(self, key, value):
        body = number(1, self.text_id(key))
        if isinstance(value, Ref):
            return body + number(7, self.text_id(str(value)))
        if isinstance(value, Unsigned):
            return body + number(3, value)
        if isinstance(value, int):
            return body + number(4, value)
        if isinstance(value, float):
            return body + double(2, value)
        if isinstance(value, bytes):
            return body + blob(6, value)
        return body + blob(5, value)

    def meta(self, name, stats=None, display=""):
        if name not in self.names:
            self.names[name] = (len(self.names) + 1, [self.stat(k, v) for k, v in (stats or {}).items()], display)
        return self.names[name][0]

    def line(self, line_id, name, timestamp_ns=0):
        self.lines.append([number(1, line_id) + blob(2, name) + number(3, timestamp_ns), []])
        return len(self.lines) - 1

    def event(self, name, start_ps, duration_ps, stats=None):
        body = number(1, self.meta(name)) + number(2, start_ps) + number(3, duration_ps)
        body += b"".join(blob(4, self.stat(k, v)) for k, v in (stats or {}).items())
        self.lines[-1][1].append(body)
        return body

    def encode(self):
        out = blob(2, self.name)
        for head, events in self.lines:
            out += blob(3, head + b"".join(blob(4, event) for event in events))
        for name, (key, stats, display) in self.names.items():
            value = number(1, key) + blob(2, name) + (blob(4, display) if display else b"")
            value += b"".join(blob(5, stat) for stat in stats)
            out += blob(4, number(1, key) + blob(2, value))
        for text, key in self.texts.items():
            out += blob(5, number(1, key) + blob(2, number(1, key) + blob(2, text)))
        return out + b"".join(blob(6, stat) for stat in self.own_stats)


def space(planes, hostname="h", warnings=()):
    out = b"".join(blob(1, plane if isinstance(plane, bytes) else plane.encode()) for plane in planes)
    return out + b"".join(blob(3, text) for text in warnings) + (blob(4, hostname) if hostname else b"")


def shape(element=11, dimensions=(4, 8), tuple_of=()):
    out = number(2, element) + blob(3, b"".join(varint(d) for d in dimensions))
    return out + b"".join(blob(4, part) for part in tuple_of)


def instruction(name, opcode, op_name="", source="", groups=(), called=(), device_list=b"", pairs=(), frame=0, target="",
                of_shape=None):
    out = blob(1, name) + blob(2, opcode) + blob(3, of_shape or shape())
    metadata = (blob(2, op_name) if op_name else b"") + (number(15, frame) if frame else b"")
    if source:
        file, _, row = source.partition(":")
        metadata += blob(3, file) + number(4, int(row or 0))
    out += blob(7, metadata) + (blob(28, target) if target else b"")
    if called:
        out += blob(38, b"".join(varint(c) for c in called))
    out += b"".join(blob(49, blob(1, b"".join(varint(d) for d in group))) for group in groups)
    out += b"".join(blob(52, number(1, a) + number(2, b)) for a, b in pairs)
    return out + (blob(87, device_list) if device_list else b"")


def iota_list(groups, devices, reshape, transpose=()):
    return blob(2, number(1, groups) + number(2, devices) + blob(3, b"".join(varint(r) for r in reshape)) +
                blob(4, b"".join(varint(t) for t in transpose)))


def stack_frames(files, locations, frames):
    out = b"".join(blob(1, f) for f in files) + blob(2, "function")
    out += b"".join(blob(3, number(1, f) + number(2, 1) + number(3, row)) for f, row in locations)
    return out + b"".join(blob(4, number(1, at) + number(2, parent)) for at, parent in frames)


def hlo_module(name, computations, frames=b"", flags=True):
    """`computations`: lists of instructions; the second and later ones are fusions."""
    out = blob(1, name)
    for i, instructions in enumerate(computations):
        body = blob(1, "computation.%d" % i) + b"".join(blob(2, text) for text in instructions) + number(5, i + 1)
        out += blob(3, body + (number(7, 1) if flags and i else b""))
    return out + (blob(17, frames) if frames else b"")


def hlo_proto(*args, **kwargs):
    return blob(1, hlo_module(*args, **kwargs))


def metadata_plane(programs):
    """The plane /host:metadata of GPU and CPU traces. `programs`: name ("jit_f(7)") -> HloProto."""
    plane = Plane("/host:metadata")
    for name, proto in programs.items():
        plane.meta(name, {"hlo_proto": proto})
    return plane
