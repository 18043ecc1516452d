"""Profiler servers that only look like ones: HTTP/2 frames by hand, so that a test can break any rule.

    with Stub('answer', xspace=b'...') as stub: stub.port, stub.requests
Each behaviour is a method of Talk. Nothing here shares code with idsprof or with a library of HTTP/2.
"""
import os
import socket
import struct
import threading
import time
from pathlib import Path

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = 24


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def header(name, value):
    """A literal of HPACK that is not indexed."""
    assert len(name) < 127 and len(value) < 127
    return b'\0' + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


STATUS_200 = b'\x88'


def varint(number):
    out = b''
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """{number: value} of a message."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        tag = number()
        if tag & 7 == 2:
            length = number()
            found[tag >> 3] = message[at:at + length]
            at += length
        else:
            found[tag >> 3] = number()
    return found


def grpc(message, compressed=0):
    return struct.pack('>BI', compressed, len(message)) + message


class Gone(Exception):
    pass


class Talk:
    """One connection: what came, and one method for each way to answer."""

    def __init__(self, stub, connection):
        self.stub, self.socket = stub, connection
        self.buffer = b''
        self.window, self.windows = 65535, {}
        self.initial = 65535
        self.bodies, self.ended = {}, []
        self.cancelled = False

    def send(self, data):
        self.socket.sendall(data)

    def take(self, count):
        while len(self.buffer) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise Gone
            self.buffer += more
        out, self.buffer = self.buffer[:count], self.buffer[count:]
        return out

    def read_frame(self):
        head = self.take(9)
        length, kind, flags = int.from_bytes(head[:3], 'big'), head[3], head[4]
        stream = int.from_bytes(head[5:], 'big') & 0x7fffffff
        payload = self.take(length)
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, length, 6):
                key, value = struct.unpack('>HI', payload[at:at + 6])
                if key == 4:
                    self.initial = value
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == WINDOW:
            more = int.from_bytes(payload, 'big')
            if stream:
                self.windows[stream] = self.windows.get(stream, self.initial) + more
            else:
                self.window += more
        elif kind == DATA:
            self.bodies[stream] = self.bodies.get(stream, b'') + payload
            if flags & END_STREAM:
                self.ended.append(stream)
        elif kind == RST:
            self.cancelled = True
        return kind, stream

    def greet(self):
        self.take(PREFACE)
        self.send(frame(SETTINGS, 0, 0))

    def request(self):
        """The first call's stream and the fields of its message."""
        while not self.ended:
            self.read_frame()
        stream = self.ended.pop(0)
        message = fields(self.bodies[stream][5:])
        self.stub.requests.append(message)
        self.stub.moments.append(time.monotonic())
        return stream, message

    def send_headers(self, stream):
        self.send(frame(HEADERS, END_HEADERS, stream, STATUS_200 + header('content-type', 'application/grpc')))

    def send_trailers(self, stream, status='0', message=''):
        self.send(frame(HEADERS, END_HEADERS | END_STREAM, stream,
                        header('grpc-status', status) + (header('grpc-message', message) if message else b'')))

    def send_data(self, stream, data, piece=16384):
        at = 0
        while at < len(data):
            room = min(piece, self.window, self.windows.get(stream, self.initial), len(data) - at)
            if room <= 0:
                self.read_frame()
                continue
            self.send(frame(DATA, 0, stream, data[at:at + room]))
            self.window -= room
            self.windows[stream] = self.windows.get(stream, self.initial) - room
            at += room

    def answer_with(self, data, **trailers):
        self.greet()
        stream, _ = self.request()
        self.send_headers(stream)
        self.send_data(stream, data)
        self.send_trailers(stream, **trailers)

    # ---- behaviours ----

    def answer(self):
        self.greet()
        stream, message = self.request()
        time.sleep(fields(message[4])[9] / 1000)
        self.send_headers(stream)
        head = varint(8 << 3 | 2) + varint(len(self.stub.xspace))
        self.send_data(stream, struct.pack('>BI', 0, len(head) + len(self.stub.xspace)) + head, self.stub.piece)
        self.send_data(stream, self.stub.xspace, self.stub.piece)  # not copied: many of them fit in little memory
        self.send_trailers(stream)

    def in_parts(self):
        """The XSpace in several fields, other fields between them: protobuf puts the parts together."""
        half = len(self.stub.xspace) // 2
        self.answer_with(grpc(field(6, field(1, b'name') + field(2, b'x' * 300)) + field(8, self.stub.xspace[:half]) + field(7, 0)
                              + field(8, self.stub.xspace[half:]) + b'\x79' + b'\1' * 8 + b'\x7d' + b'\1' * 4))

    def ends_on_terminate(self):
        self.greet()
        stream, message = self.request()
        other, named = self.request()
        self.send_headers(other)
        self.send_data(other, grpc(b''))
        self.send_trailers(other)
        if named[1] == message[6]:
            self.send_headers(stream)
            self.send_data(stream, grpc(field(8, self.stub.xspace)))
            self.send_trailers(stream)

    def ignores_terminate(self):
        self.greet()
        self.request()
        self.request()
        time.sleep(600)

    def older(self):
        """Writes the profile where the request says, and answers with nothing."""
        self.greet()
        stream, message = self.request()
        folder = Path(os.fsdecode(message[5]), os.fsdecode(message[6]))
        if self.stub.shares:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / (message[7].decode() + '.xplane.pb')).write_bytes(self.stub.xspace)
        self.send_headers(stream)
        self.send_data(stream, grpc(b''))
        self.send_trailers(stream)

    def empty(self):
        self.answer_with(grpc(field(7, 1)))

    def status(self):
        self.greet()
        stream, _ = self.request()
        code, words = self.stub.words
        self.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_200 + header('content-type', 'application/grpc')
                        + header('grpc-status', str(code)) + header('grpc-message', words)))

    def not_found(self):
        self.greet()
        stream, _ = self.request()
        self.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, b'\x8d'))

    def silent(self):
        time.sleep(60)

    def greets_only(self):
        self.greet()
        while True:
            self.read_frame()

    def closes(self):
        self.socket.recv(1)

    def http1(self):
        self.send(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
        self.socket.recv(1 << 16)

    def ssh(self):
        self.send(b'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n')
        self.socket.recv(1 << 16)
        time.sleep(1)

    def tls(self):
        self.take(PREFACE)
        self.send(b'\x15\x03\x01\x00\x02\x02\x46')

    def noise(self):
        self.send(bytes(range(0x15, 0x100)) * 10)
        self.socket.recv(1 << 16)

    def goes_away(self):
        self.greet()
        self.send(frame(GOAWAY, 0, 0, struct.pack('>II', 0, 0)))
        self.read_frame()
        time.sleep(0.2)

    def breaks(self):
        """The program is killed while it sends."""
        self.greet()
        stream, _ = self.request()
        self.send_headers(stream)
        self.send_data(stream, grpc(field(8, self.stub.xspace))[:len(self.stub.xspace) // 2])
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))

    def resets(self):
        self.greet()
        stream, _ = self.request()
        self.send(frame(RST, 0, stream, struct.pack('>I', 2)))
        self.read_frame()

    def ends_early(self):
        self.answer_with(grpc(field(8, self.stub.xspace))[:-10])

    def no_status(self):
        self.greet()
        stream, _ = self.request()
        self.send_headers(stream)
        self.send(frame(DATA, END_STREAM, stream, grpc(b'')[:3]))
        self.read_frame()

    def compressed(self):
        self.answer_with(grpc(field(8, self.stub.xspace), 1))

    def announces_much(self):
        self.answer_with(struct.pack('>BI', 0, 0xffffffff) + varint(8 << 3 | 2) + varint((1 << 63) - 1) + b'x' * 1000)

    def two_messages(self):
        self.answer_with(grpc(field(8, self.stub.xspace)) * 2)

    def no_protobuf(self):
        self.answer_with(grpc(b'\x0f\xff' * 50))

    def endless_number(self):
        self.answer_with(grpc(b'\x80' * 50))

    def endless_headers(self):
        self.greet()
        stream, _ = self.request()
        self.send(frame(HEADERS, 0, stream, STATUS_200 + header('x', 'y' * 120) * 100))
        while True:
            self.send(frame(CONTINUATION, 0, stream, header('x', 'y' * 120) * 100))

    def endless_pings(self):
        self.greet()
        stream, _ = self.request()
        while True:
            self.send(frame(PING, 0, 0, b'12345678') * 100)

    def forever(self):
        """More and more bytes, within the windows: only a limit ends it."""
        self.greet()
        stream, _ = self.request()
        self.send_headers(stream)
        self.send_data(stream, struct.pack('>BI', 0, 0xfffffff0) + varint(8 << 3 | 2) + varint(0xffffff00))
        while True:
            self.send_data(stream, b'x' * 65536)


class Stub:
    def __init__(self, behaviour, xspace=b'', address='127.0.0.1', shares=True, words=(13, 'no'), piece=16384):
        self.behaviour, self.xspace, self.shares, self.words, self.piece = behaviour, xspace, shares, words, piece
        self.requests, self.moments = [], []
        self.socket = socket.create_server((address, 0), family=socket.AF_INET6 if ':' in address else socket.AF_INET)
        self.port = self.socket.getsockname()[1]
        self.name = f'[{address}]:{self.port}' if ':' in address else f'{address}:{self.port}'
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        try:
            with connection:
                talk = Talk(self, connection)
                getattr(talk, self.behaviour)()
                if self.behaviour not in ('breaks', 'closes'):
                    connection.settimeout(5)
                    while connection.recv(1 << 16):
                        pass
        except (OSError, Gone):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
