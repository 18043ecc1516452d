#!/usr/bin/env python3
"""JSON traces made to need memory and time: a million of each thing, deep nesting, bombs. They must end within 5 seconds of CPU and
300 MB, whatever they end with. The cases run as those of test_bad_input.py. IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import os
import random
import struct
import sys
import tempfile
import zlib

import test_bad_input as base
from test_bad_json import GPU, KERNEL, either, trace, x

del base.CASES[:]
case = base.case
SANITIZED = base.SANITIZED
MANY = 100000 if SANITIZED else 1000000
SECONDS, BYTES = 5, 300 << 20
# What has a bound of its own: begins are held as text until their ends are found (512 MiB of it at most), a name is kept as long as
# the run is (some 500 bytes with its kernel, its sums and its row).
MORE = {"begins": 200 << 20, "begins_with_args": 200 << 20, "names": 300 << 20}


def measured(t, path, *arguments):
    """Runs a report on it within the limits of time and memory."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        pid = os.posix_spawn(base.IDSPROF, [base.IDSPROF, "report", "--no-cache", *arguments, path], t.env,
                             file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1), (os.POSIX_SPAWN_DUP2, error.fileno(), 2)])
        _, status, usage = os.wait4(pid, 0)
        output.seek(0)
        error.seek(0)
        t.code, t.stdout, t.stderr = os.waitstatus_to_exitcode(status), output.read().decode(), error.read().decode()
    spent, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
    print("     %-28s exit %d %6.2f s %6.1f MB" % (os.path.basename(path), t.code, spent, peak / 1e6), flush=True)
    if not SANITIZED:
        t.check(spent <= SECONDS, "%s: %.1f s of %d" % (os.path.basename(path), spent, SECONDS))
        most = BYTES + MORE.get(os.path.basename(path).split(".")[0], 0)
        t.check(peak <= most, "%s: %.0f MB of %.0f" % (os.path.basename(path), peak / 1e6, most / 1e6))
    os.unlink(path)
    return t


def made(t, name, pieces):
    """A file of the pieces that the function gives; in a process of its own, since what this one holds counts as its children's peak."""
    path = t.file(name)
    child = os.fork()
    if child == 0:
        try:
            with open(path, "wb", 1 << 20) as file:
                for piece in pieces():
                    file.write(piece)
            os._exit(0)
        finally:
            os._exit(1)
    t.check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "%s cannot be made" % name)
    return path


def whole(elements):
    """A trace of so many elements, after the two kernels."""
    yield b'{"traceEvents":[' + GPU + b"," + KERNEL % 0 + b"," + KERNEL % 10
    for element in elements:
        yield b","
        yield element
    yield b"]}"


@case
def deep(t):
    open_, close = b"[" * MANY, b"]" * MANY
    objects = b'{"a":' * MANY + b"1" + b"}" * MANY
    for name, data in {"value": trace(x(args=b'{"a":' + open_ + close + b"}")), "objects": trace(x(args=b'{"a":' + objects + b"}")),
                       "element": trace(open_ + close), "member": trace(head=b'"a":' + open_ + close + b","), "array": open_ + close,
                       "never_closed": trace(x(args=b'{"a":' + open_))[:-2], "open_objects": b'{"a":' * MANY, "only_closed": trace(close)}.items():
        measured(t, t.file("deep_%s.trace.json" % name, data))
        either(t, "deep_%s.trace.json'" % name, r"nest|deep|offset \d+|not a profile|event")


def packed(path, before, block, times, after):
    """A gzip file of before + block * times + after, without ever holding that: a block that is flushed may be repeated."""
    crc, size = 0, 0
    with open(path, "wb") as file:
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
        for data, count, last in ((before, 1, False), (block, times, False), (after, 1, True)):
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
            body = deflate.compress(data) + deflate.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)
            for _ in range(count):
                file.write(body)
                crc = zlib.crc32(data, crc)
                size += len(data)
        file.write(struct.pack("<II", crc, size & 0xffffffff))
    return path


@case
def long_text(t):
    """A string of a gigabyte in a file of a megabyte (a bomb), and in one that shrinks as a real one does."""
    times = 64 if SANITIZED else 1024
    rng = random.Random(2)
    mixed = b"".join(rng.choice((b"a" * 250, bytes(rng.choices(b"abcdefghijklmnop", k=30)))) for _ in range(8000))[:1 << 20]
    for name, block in {"bomb": b"a" * (1 << 20), "mixed": mixed}.items():
        parts = {"arg": trace(x(args=b'{"a":"MARK"}')), "name": trace(x(name=b'"MARK"')), "member": trace(head=b'"a":"MARK",')}
        parts["never_ends"] = parts["name"][:parts["name"].index(b"MARK") + 4]
        for where, text in parts.items():
            if name == "mixed" and where != "arg":
                continue
            file = "%s_%s.trace.json.gz" % (name, where)
            measured(t, packed(t.file(file), text.split(b"MARK")[0], block, times, text.split(b"MARK")[1]))
            either(t, file + "'", r"too long|limit|unpacks|more than")


@case
def long_blanks(t):
    """Half a gigabyte of blanks between two events."""
    before, after = trace(b"MARK " + x()).split(b"MARK")
    measured(t, packed(t.file("blanks.trace.json.gz"), before, b" \n\t\r" * (1 << 18), 32 if SANITIZED else 512, after))
    either(t, "blanks.trace.json.gz'", r"limit|unpacks|more than|offset \d+")


HOSTILE = {
    # name: (element i, what a refusal may say; None: it is legal, and no reason to refuse anything)
    "pids": (lambda i: b'{"ph":"X","pid":%d,"tid":1,"ts":%d,"dur":1,"name":"x"}' % (i + 2, i), r"processes|planes|timelines|tracks|limit|million"),
    "pid_texts": (lambda i: b'{"ph":"X","pid":"p%d","tid":1,"ts":%d,"dur":1,"name":"x"}' % (i, i), r"processes|planes|timelines|tracks|limit|million"),
    "tids": (lambda i: b'{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":1,"name":"x"}' % (i + 2, i), r"threads|timelines|tracks|limit|million"),
    "gpus": (lambda i: b'{"ph":"X","pid":%d,"tid":1,"ts":%d,"dur":1,"cat":"kernel","name":"x"}' % (i + 2, i), r"devices|processes|planes|tracks|limit|million"),
    "gpu_categories": (lambda i: b'{"ph":"X","pid":0,"tid":1,"ts":%d,"dur":1,"cat":"%s","name":"x"}' % (i, b"c%d" % i if i else b"kernel"), r"categor|tracks|timelines|limit"),
    "categories_async": (lambda i: b'{"ph":"n","pid":1,"tid":1,"ts":%d,"cat":"c%d","id":1,"name":"x"}' % (i, i), r"categor|tracks|timelines|limit"),
    "metadata": (lambda i: b'{"ph":"M","pid":%d,"name":"process_name","args":{"name":"n%d"}}' % (i + 2, i), r"processes|planes|limit|million"),
    "metadata_again": (lambda i: b'{"ph":"M","pid":2,"tid":3,"name":"thread_name","args":{"name":"n%d"}}' % i, None),
    "begins": (lambda i: b'{"ph":"B","pid":1,"tid":1,"ts":%d,"name":"x"}' % i, None),
    "begins_with_args": (lambda i: b'{"ph":"B","pid":1,"tid":1,"ts":%d,"name":"x","args":{"a":"%d"}}' % (i, i), None),
    "ends": (lambda i: b'{"ph":"E","pid":1,"tid":1,"ts":%d}' % i, None),
    "async_open": (lambda i: b'{"ph":"b","pid":1,"tid":1,"ts":%d,"cat":"c","id":%d,"name":"x"}' % (i, i), None),
    "async_one_id": (lambda i: b'{"ph":"b","pid":1,"tid":1,"ts":%d,"cat":"c","id":1,"name":"x"}' % i, None),
    "names": (lambda i: b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"name %d"}' % (i, i), None),
    "backwards": (lambda i: b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"x"}' % (MANY - i, 2 * i), r"nest|limit"),
    "one_time": (lambda i: b'{"ph":"X","pid":1,"tid":1,"ts":5,"dur":5,"name":"x"}', None),
    "keys": (lambda i: b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"x","args":{"k%d":1}}' % (i, i), None),
    "phases": (lambda i: b'{"ph":"p%d","pid":1,"ts":1}' % i, None),
    "empty": (lambda i: b"{}", None),
    "numbers": (lambda i: b"1", r"offset \d+|limit"),
    "no_times": (lambda i: b'{"ph":"X","pid":1,"tid":1,"name":"x"}', None),
}


@case
def hostile(t):
    for name, (element, pattern) in HOSTILE.items():
        file = name + ".trace.json"
        measured(t, made(t, file, lambda make=element: whole(make(i) for i in range(MANY))))
        if pattern is None:
            t.reports()
        else:
            either(t, file + "'", pattern)


def joined(before, member, after):
    """Many members between two texts."""
    yield before
    for i in range(MANY):
        yield (b"," if i else b"") + (member % i if b"%" in member else member)
    yield after


@case
def one_event_of_a_million(t):
    """One element that holds a million: members of its args, of itself, elements of an array; and as many GPUs in deviceProperties."""
    event = trace(b'{"ph":"X","pid":1,"tid":1,"ts":20,"dur":1,"name":"x"MARK}')
    properties = trace(head=b'"deviceProperties":[MARK],')
    for name, text, around, member in (
            ("args", event, b',"args":{MARK}', b'"k%d":1'), ("same_arg", event, b',"args":{MARK}', b'"k":1'), ("members", event, b",MARK", b'"k%d":1'),
            ("array", event, b',"args":{"a":[MARK]}', b"1"), ("args_members", event, b",MARK", b'"args":{"a":1}'), ("names", event, b",MARK", b'"name":"x"'),
            ("properties", properties, b"MARK", b'{"id":%d,"name":"G","numSms":1}')):
        before, after = text.replace(b"MARK", around).split(b"MARK")
        file = "one_%s.trace.json" % name
        measured(t, made(t, file, lambda a=before, b=member, c=after: joined(a, b, c)))
        either(t, file + "'", r"long|limit|args|members|devices|more than")
    measured(t, t.file("one_escapes.trace.json", trace(x(args=b'{"a":"' + b"\\u00e4" * MANY + b'"}'))))
    either(t, "one_escapes.trace.json'", r"long|limit|more than")


if __name__ == "__main__":
    sys.exit(base.main())
