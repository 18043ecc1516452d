#!/usr/bin/env python3
"""Makes the first inputs of the fuzz targets: make_seeds.py FOLDER writes FOLDER/TARGET/* and FOLDER/*.dict.

Recorded traces are too large (13 kB and more) for a fuzzer to get anywhere. So the cases in testdata/mini, which hold every
feature of GPU, TPU and CPU traces in a few events each, are turned into XSpace files, and features of the file format alone
(references, aggregates, lost tables, HLO, damage) are added by hand. JSON traces are those of testdata/json and of the oracle's test,
without the long ones, and damaged ones.
"""
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
sys.dont_write_bytecode = True
import profiler_stub as stub  # noqa: E402
from test_chrome_hash import HAND_MADE  # noqa: E402
from xspace import *  # noqa: E402

UNITS = {"": 1, "ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


def time_ps(word):
    sign, whole, unit = re.fullmatch(r"(-?)([0-9.]+)([a-z]*)", word).groups()
    return int(round(float(whole) * UNITS[unit])) * (-1 if sign else 1)


def value_of(text):
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"u:[0-9]+", text):
        return Unsigned(text[2:])
    if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
        return float(text)
    return text


def words_of(line):
    return [word for word in re.findall(r'(?:[^\s"]|"[^"]*")+', line.split(" #")[0]) if word]


def pairs_of(words):
    pairs = (word.strip('"').partition("=") if word[0] == '"' else word.partition("=") for word in words)
    return {key: value_of(value) for key, _, value in pairs}


def from_mini(text):
    planes, programs, host = [], {}, ""
    for line in text.splitlines()[1:]:
        words = [] if line.startswith("#") else words_of(line)
        if not words:
            continue
        if words[0] == "host":
            host = words[1] if len(words) > 1 else ""
        elif words[0] == "plane":
            planes.append(Plane(words[1].strip('"'), pairs_of(words[2:])))
        elif words[0] == "line":
            planes[-1].line(int(words[1]), words[2].strip('"'))
        elif words[0] == "meta":
            planes[-1].meta(words[1].strip('"'), pairs_of(words[2:]))
        elif words[0] == "hlo":
            hlo = pairs_of(words[1:])
            program = "%s(%d)" % (hlo.get("module", ""), int(hlo.get("program", 0)))
            programs.setdefault(program, []).append(
                instruction(str(hlo.get("name", "")), str(hlo.get("opcode", "")), op_name=str(hlo.get("op_name", "")),
                            source=str(hlo.get("source", "")), groups=[[0, 1]] if "groups" in hlo else []))
        elif re.match(r"-?[0-9]", words[0]):  # other words are of programs (keeps, value): they have no event
            planes[-1].event(words[2].strip('"'), time_ps(words[0]), time_ps(words[1]), pairs_of(words[3:]))
    if programs:
        protos = {name: hlo_proto(name.split("(")[0], [body]) for name, body in programs.items()}
        planes.append(metadata_plane(protos))
    return space(planes, host)


def by_hand():
    """What the text form cannot say: name -> bytes."""
    gpu = Plane("/device:GPU:0", {"device_vendor": "NVIDIA", "compute_cap_major": 9, "memory_bandwidth": Unsigned(1 << 40)})
    gpu.line(14, "Stream #14(Kernel,MemcpyH2D)", 1700000000 * 10**9)
    gpu.event("gemm", 0, 10**7, {"correlation_id": 1, "hlo_op": Ref("dot.1"), "hlo_module": Ref("jit_f"), "program_id": 7,
                                 "kernel_details": "regs:38 shm:0 grid:1,1,1 block:32,1,1 occ_pct:50"})
    gpu.event("MemcpyH2D", 2 * 10**7, 10**6, {"correlation_id": 2, "memcpy_details": Ref("size:112 dest:4 async:0")})
    host = Plane("/host:CPU")
    host.line(-7, "python", 1700000000 * 10**9)
    host.event("cuLaunchKernel", -10**6, 10**6, {"correlation_id": 1})
    host.event("$f.py:1 step", 0, 10**6, {"step_num": 3, "_r": 1, "_pt": 7, "_p": Unsigned(MASK64)})
    clock = Plane("Task Environment", {"profile_start_time": Unsigned(1700000000 * 10**9), "jax_version": "0.8.0"})
    module = hlo_proto("jit_f", [[
        instruction("dot.1", "dot", "jit(f)/dot", "f.py:12"),
        instruction("all-reduce.1", "all-reduce", groups=[[0, 1], [2, 3]]),
        instruction("all-gather.1", "all-gather", device_list=iota_list(4, 2, [2, 4], [1, 0])),
        instruction("permute.1", "collective-permute", pairs=[(0, 1), (1, 0)], frame=1),
        instruction("fusion.1", "fusion", called=[2], of_shape=shape(13, (), [shape(), shape(11, (1 << 40, 1 << 30))])),
    ], [instruction("inner", "add")]], stack_frames(["f.py"], [(1, 12)], [(1, 0)]))
    old = hlo_module("jit_g", [[instruction("fusion.1", "fusion", called=[2])], [instruction("inner", "add")]], flags=False)
    whole = space([gpu, host, clock, metadata_plane({"jit_f(7)": module, "jit_g": old})], warnings=["dropped events"])
    many = Plane("/device:TPU:0", {"peak_teraflops_per_second": 918.0, "device_type_string": "TPU v6 Lite"})
    many.meta("%fusion.1 = f32[8]{0} fusion(f32[8] %p)", {"hlo_category": "loop fusion", "program_id": 5, "flops": 10}, "fusion.1")
    many.line(2, "XLA Ops", 3)
    many.event("%fusion.1 = f32[8]{0} fusion(f32[8] %p)", 0, 5000, {"device_offset_ps": 1, "run_id": 4})
    aggregate = Plane("/device:GPU:0")
    aggregate.line(1, "Stream #1")
    aggregate.lines[-1][1].append(number(1, 99) + number(5, 12) + number(3, 1000))  # num_occurrences, name lost
    empty = Plane("/device:GPU:1")
    empty.line(3, "Stream #3")
    huge = Plane("/device:GPU:0")
    huge.line(1, "Stream #1", (1 << 53))
    huge.event("k", (1 << 63) - 1, (1 << 63) - 1, {"correlation_id": Unsigned(MASK64)})
    backwards = Plane("/device:GPU:0")
    backwards.line(1, "Stream #1")
    backwards.event("k", 10**6, -10**6)
    backwards.event("k", 5, 0)
    return {
        **sums_too_large(),
        **crowds(),
        "whole": whole,
        "two_hosts": space([gpu], "a") + space([gpu], "b"),
        "tpu": space([many, clock], ""),
        "aggregate": space([aggregate, empty]),
        "huge": space([huge]),
        "backwards": space([backwards]),
        "no_names": space([blob(2, "/device:GPU:0") + blob(3, blob(4, number(1, 1)) + blob(4, b""))]),
        "late_head": space([blob(3, blob(4, number(3, 5)) + blob(2, "Stream #1") + number(3, 4)) + blob(2, "/device:GPU:0")]),
        "bad_utf8": space([blob(2, b"/device:GPU:0\xff\xc0\x00\x1b[31m") + blob(3, blob(2, b"\xf0\x28") + blob(4, number(3, 9)))]),
        "cut": whole[:len(whole) * 2 // 3],
        "cut_in_tag": whole[:-1],
        "long_varint": whole[:40] + b"\xff" * 11 + whole[40:],
        "length_2gib": blob(1, b"") + b"\x0a" + varint(1 << 31),
        "child_too_long": blob(1, blob(2, "/x") + b"\x1a\x7f" + b"abc") + blob(4, "h"),
        "group_wire": blob(1, b"\x0b\x0c"),
        "fixed": blob(1, b"\x39" + b"8" * 8 + b"\x3d" + b"4" * 4 + blob(2, "/y")),
        "hlo_cut": space([metadata_plane({"jit_f(7)": module[:len(module) // 2]}), gpu]),
    }, {"module": module, "old": blob(1, old), "bare": old, "cut": module[:len(module) // 2],
        "deep": blob(1, hlo_module("d", [[instruction("t", "tuple", of_shape=nested(40))]]))}


def sums_too_large():
    """Times and bytes that are in range each, and out of it together."""
    most = (1 << 62) + (1 << 61)
    gpu, host, cpu, tpu, far = Plane("/device:GPU:0"), Plane("/host:CPU"), Plane("/host:CPU"), Plane("/device:TPU:0"), Plane("/device:GPU:0")
    tpu.line(2, "XLA Ops")
    for i in range(4):
        gpu.line(i, "Stream #%d(Kernel)" % i)
        gpu.event("k%d" % i, i, most >> 2, {"correlation_id": i + 1})
        gpu.event("MemcpyH2D", i, most >> 2, {"correlation_id": i + 9, "memcpy_details": "size:9223372036854775807 dest:0 async:1"})
        host.line(i + 50, "python")
        host.event("k%d" % i, -most >> 2, 1 << 60, {"correlation_id": i + 1})
        host.event("train", -(1 << 60), 1 << 60, {"step_num": i * (1 << 61)})
        host.event("backend_compile_and_load", -(1 << 60), 1 << 60)
        host.event("$f.py:1 f", -(1 << 60), 1 << 60)
        cpu.line(i, "worker")
        cpu.event("dot.1", 0, most >> 2, {"hlo_op": "dot.1", "hlo_module": "m", "run_id": 1, "device_ordinal": i << 61})
        tpu.meta("copy-done.%d" % i, {"hlo_category": "copy-done", "program_id": 1, "flops": (1 << 63) - 1})
        tpu.event("copy-done.%d" % i, 0, most >> 2)
    far.line(1, "Stream #1(Kernel)")
    far.event("a", -(1 << 61), 5)
    far.event("b", (1 << 61) - 5, 5)
    zero = Plane("/host:CPU")
    zero.line(1, "zero among epochs", 0)
    zero.event("a", 1, 1)
    epoch = Plane("/device:GPU:0")
    epoch.line(1, "Stream #1(Kernel)", 1700000000 * 10**9)
    epoch.event("k", 1, 1)
    return {"sums_gpu": space([gpu, host]), "sums_cpu": space([cpu]), "sums_tpu": space([tpu]), "far": space([far]),
            "line_at_zero": space([epoch, zero])}


def crowds():
    """So many of a kind that what holds them grows, more than once."""
    names, lines, stats, planes = Plane("/device:GPU:0"), Plane("/host:CPU"), Plane("/device:TPU:0"), []
    names.line(1, "Stream #1(Kernel)")
    for i in range(600):
        names.event("k%d" % i, 600 - i, 2, {"correlation_id": i})
    for i in range(300):
        lines.line(i, "t%d" % i, i)
        lines.event("e", i, 1)
    stats.line(2, "XLA Ops")
    for i in range(40):
        stats.meta("op.%d" % i, {"s%d" % j: [j, -j, j / 2, "t%d" % j, Unsigned(j)][j % 5] for j in range(i)}, "d%d" % i)
        stats.event("op.%d" % i, i, 1, {"u%d" % j: j for j in range(2 * i)})
    for i in range(150):
        planes.append(Plane("/p%d" % i, {"a": i}))
        planes[-1].line(i, "l")
        planes[-1].event("e", 0, i)
    calls = hlo_proto("jit_many", [[instruction("op.%d" % i, "fusion" if i % 3 else "dot", "jit(f)/%d" % i, "f%d.py:%d" % (i % 7, i), called=[i % 5 + 2] if i % 3 else [])
                                    for i in range(150)]] + [[instruction("in.%d.%d" % (c, i), "add") for i in range(20)] for c in range(5)])
    return {"crowd_names": space([names]), "crowd_lines": space([lines]), "crowd_stats": space([stats]), "crowd_planes": space(planes),
            "crowd_hlo": space([metadata_plane({"jit_many(%d)" % i: calls for i in range(3)}), names])}


def json_crowds():
    def trace(events):
        return b'{"traceEvents":[' + b",".join(json.dumps(event, separators=(",", ":")).encode() for event in events) + b"]}"

    x = {"ph": "X", "ts": 1, "dur": 1}
    return {
        "crowd_processes": trace([dict(x, pid=i, tid=i, name="n%d" % i) for i in range(500)] + [{"ph": "M", "name": "process_name", "pid": i, "args": {"name": "p%d" % i}} for i in range(300)]),
        "crowd_args": trace([dict(x, args={"a%d" % j: [j, str(j), j / 4, True, None, [j], {"j": j}][j % 7] for j in range(i)}) for i in (1, 9, 40, 200, 600)]),
        "crowd_pairs": trace([{"ph": "BE"[i >= 300], "ts": i * 7919 % 600, "pid": 1, "tid": i % 3, "name": "n"} for i in range(600)]
                             + [{"ph": "bne"[i % 3], "cat": "c%d" % (i % 5), "id": i % 11, "ts": i, "name": "a"} for i in range(300)]),
        "crowd_gpus": trace([dict(x, cat=["kernel", "gpu_memcpy", "gpu_user_annotation", "cuda_runtime"][i % 4], pid=i % 9, tid=i % 5, ts=i, name="k%d" % (i % 30),
                                  args={"stream": i % 5, "correlation": i, "grid": [i, 1, 1], "block": [32, 1, 1]}) for i in range(300)]),
        "crowd_lanes": trace([{"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": {"name": "t%d" % i, "lane_of": i // 2}} for i in range(200)]
                             + [dict(x, pid=1, tid=i, ts=i) for i in range(200)]),
        "long_texts": trace([dict(x, name="n" * 3000 + "\u00e9", args={"k" * 300: "v" * 20000})]),
    }


def json_traces():
    """Small JSON traces of every kind: name -> bytes."""
    folder = os.path.join(SOURCE, "testdata", "json")
    seeds = {name: data for name, data in HAND_MADE.items() if len(data) < 5000}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".trace.json"):
            with open(os.path.join(folder, name), "rb") as file:
                seeds["json_" + name.removesuffix(".trace.json")] = file.read()
    kineto = seeds["json_kineto"]
    event = b'{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":%s,"dur":%s,"name":"x","args":{"a":%s}}]}'
    bad = {
        "cut_in_event": kineto[:kineto.index(b'"gemm"') + 3], "cut_in_escape": seeds["texts"][:seeds["texts"].index(b"u20AC") + 3],
        "cut_before_events": kineto[:200], "cut_in_array": seeds["array"][:20], "no_events": b'{"traceEvents":[]}', "no_array": b'{"traceEvents":5}',
        "no_trace": b'{"a":[{"ph":"X"}]}', "twice": b'{"traceEvents":[{"ph":"X","ts":1,"dur":1}],"traceEvents":[{"ph":"X","ts":2,"dur":1}]}',
        "elements": b'[1,"x",null,true,[],[{}],{},{"ph":"X","ts":1}]', "two_commas": b'[{"ph":"X","ts":1},,{"ph":"X","ts":2}]',
        "after_the_end": b'[{"ph":"X","ts":1}] x', "single_quotes": b"{'traceEvents':[]}", "no_colon": b'{"traceEvents" []}', "bom": b"\xef\xbb\xbf[]",
        "nul": b'[{"ph":"X","ts":1,"name":"a\0b"}\0]', "control": b'[{"ph":"X","ts":1,"name":"a\n\tb"}]', "escape": b'[{"ph":"X","ts":1,"name":"\\x\\u12"}]',
        "nan": event % (b"NaN", b"Infinity", b"-Infinity"), "huge_time": event % (b"1e30", b"1e400", b"1e999999999"),
        "long_number": event % (b"1" * 400, b"0." + b"0" * 400 + b"1", b"9" * 400), "leading_zero": event % (b"007", b"+1", b".5"),
        "minus": event % (b"-", b"1.", b"1e"), "deep": event % (b"1", b"1", b"[" * 500 + b"]" * 500), "deep_open": event % (b"1", b"1", b'{"a":[' * 300),
        "brackets_differ": event % (b"1", b"1", b"[}]"), "far_apart": b'[{"ph":"X","ts":0,"dur":1},{"ph":"X","ts":1e15,"dur":1},{"ph":"X","ts":-9e18,"dur":9e18}]',
        "many_begins": b"[" + b",".join([b'{"ph":"B","ts":1}'] * 60) + b"]", "open_async": b'[{"ph":"b","cat":"c","id":1,"ts":1},{"ph":"e","cat":"c","id":"1","ts":3}]',
        "properties": b'{"deviceProperties":[{"id":0,"name":"G","totalGlobalMem":1e99,"numSms":"x"},7,{"id":"0"}],"distributedInfo":[],'
                      b'"baseTimeNanoseconds":"x","traceEvents":[{"ph":"X","cat":"kernel","pid":0,"ts":1,"dur":2}]}',
        "gzip": gzip.compress(seeds["kineto"], mtime=0),
    }
    return {**seeds, **bad, **json_crowds()}


def json_words():
    words = set(re.findall(r'"[A-Za-z_ .%#]{1,32}"', "".join(data.decode("latin-1") for data in json_traces().values())))
    words |= {'"ph":"%s"' % phase for phase in "XBEbneSTpFiIRCstfM"}
    words |= {"{", "}", "[", "]", ",", ":", "true", "false", "null", "NaN", "1e308", "-1", "0.000001", "1700000000000000", "18446744073709551615",
              "\\u", "\\ud83d", "\\ude00", '\\"', '"traceEvents":[', '{"ph":"X","ts":1,"dur":2,"pid":0,"tid":7,"cat":"kernel"}'}
    return "".join('"%s"\n' % word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words))


def nested(depth):
    out = shape()
    for _ in range(depth):
        out = shape(13, (), [out])
    return out


def write(folder, name, data):
    """One input; `chrome` and `xplane` are also what the whole way to a report starts with."""
    parent, target = os.path.split(folder)
    if target in ("chrome", "xplane"):
        write(os.path.join(parent, "report_" + target), name, data)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def dictionary(texts):
    """Stat names, and the names of lines and events that idsprof looks at."""
    with open(os.path.join(SOURCE, "lib/model/keys.def"), encoding="utf-8") as file:
        words = set(re.findall(r'IDS_KEY\(\w+, "([^"]+)"\)', file.read()))
    for code in ("classify", "event_kind", "builder_planes", "builder_slices", "cpu_runs", "join"):
        path = os.path.join(SOURCE, "lib/model", code + ".c")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            words |= set(w for w in re.findall(r'"([^"\\%\n]{3,40})"', file.read()) if not w.endswith(".h"))
    return "".join('"%s"\n' % "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else "\\x%02x" % ord(c) for c in word)
                   for word in sorted(words | texts))


def archives():
    """Small archives of every kind, with what is left out of one, and damage."""
    def tar(mode, style, names):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode=mode, format=style) as archive:
            for name, kind, link, data in names:
                member = tarfile.TarInfo(name)
                member.type, member.linkname, member.size, member.mtime = kind, link, len(data), 1700000000
                if style == tarfile.PAX_FORMAT and kind == tarfile.REGTYPE:
                    member.pax_headers = {"mtime": "1700000000.25", "comment": "c"}
                archive.addfile(member, io.BytesIO(data))
        return out.getvalue()

    files = [("a/host.xplane.pb", tarfile.REGTYPE, "", b"\x0a\x02\x10\x01" * 9), ("./a/x.json.gz", tarfile.REGTYPE, "", gzip.compress(b"{}", mtime=0))]
    odd = files + [("d", tarfile.DIRTYPE, "", b""), ("l.pb", tarfile.SYMTYPE, "../x", b""), ("h.pb", tarfile.LNKTYPE, "a/host.xplane.pb", b""),
                   ("c.pb", tarfile.CHRTYPE, "", b""), ("../up.pb", tarfile.REGTYPE, "", b"u"), ("/abs.pb", tarfile.REGTYPE, "", b"u"),
                   ("a/host.xplane.pb", tarfile.REGTYPE, "", b"again"), ("n" * 150, tarfile.REGTYPE, "", b"long"), ("in.tar.gz", tarfile.REGTYPE, "", b"x")]
    found = {f"tar_{style}": tar("w", style, odd) for style in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT) if style != tarfile.USTAR_FORMAT}
    found["tar_0"] = tar("w", tarfile.USTAR_FORMAT, files)
    found["tar_gz"] = gzip.compress(found["tar_0"], mtime=0)
    found["tar_xz"] = lzma.compress(found["tar_0"], preset=0)
    found["tar_cut"], found["tar_gz_cut"] = found["tar_0"][:1300], found["tar_gz"][:-20]
    for name, method in (("zip", zipfile.ZIP_DEFLATED), ("zip_stored", zipfile.ZIP_STORED)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for path, kind, _, data in odd:
                if kind == tarfile.REGTYPE and path != "a/host.xplane.pb":
                    archive.writestr(zipfile.ZipInfo(path, (2026, 1, 2, 3, 4, 6)), data, method)
        found[name] = out.getvalue()
    found["zip_cut"] = found["zip"][:-30]
    return found


def http2_answers():
    """What a profiler server sends, in the forms that it may have; the first byte says in what pieces (fuzz_http2.c)."""
    settings, ack = stub.frame(stub.SETTINGS, 0, 0, b"\0\4\0\1\0\0"), stub.frame(stub.SETTINGS, stub.ACK, 0)
    head = stub.frame(stub.HEADERS, stub.END_HEADERS, 1, stub.STATUS_200 + stub.header("content-type", "application/grpc"))
    end = stub.frame(stub.HEADERS, 5, 1, stub.header("grpc-status", "0"))

    def data(body, flags=0):
        return stub.frame(stub.DATA, flags, 1, body)
    message = stub.grpc(stub.field(6, stub.field(1, b"name")) + stub.field(7, 0) + stub.field(8, b"XSpace" * 20))
    status = stub.frame(stub.HEADERS, 5, 1, stub.STATUS_200 + stub.header("grpc-status", "13") + stub.header("grpc-message", "caf%C3%A9 %z"))
    answers = {
        "whole": settings + ack + head + data(message) + end,
        "pieces": settings + head + data(message[:3]) + stub.frame(stub.PING, 0, 0, b"12345678") + data(message[3:40]) + data(message[40:]) + end,
        "status": settings + status,
        "compressed": settings + head + data(stub.grpc(b"x", 1)) + end,
        "long": settings + head + data(b"\0\xff\xff\xff\xff\x42\xff\xff\xff\xff\x7f" + b"x" * 50),
        "number": settings + head + data(stub.grpc(b"\x80" * 12)),
        "fixed": settings + head + data(stub.grpc(b"\x79" + b"1" * 8 + b"\x7d" + b"1" * 4)) + end,
        "reset": settings + head + stub.frame(stub.RST, 0, 1, b"\0\0\0\2"),
        "away": settings + stub.frame(stub.GOAWAY, 0, 0, b"\0\0\0\1\0\0\0\0") + head + data(message) + end,
        "continued": settings + stub.frame(stub.HEADERS, 0, 1, stub.STATUS_200) + stub.frame(stub.CONTINUATION, 4, 1, stub.header("a", "b")),
        "not_found": settings + stub.frame(stub.HEADERS, 5, 1, b"\x8d"),
        "http1": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    }
    return {name + way: first + answer for name, answer in answers.items() for way, first in (("", b"\xff"), ("_slow", b"\0"))}


PARTIAL_BYTES = 400  # of a trace: what is small is damaged in more of its places


def damage_of(name):
    """Four places of a partial, and what happens to each (fuzz_partial.c); loaded once or twice by the length."""
    return hashlib.sha256(name.encode()).digest()[:16 + len(name) % 2]


def main():
    out = sys.argv[1]
    for name, data in http2_answers().items():
        write(os.path.join(out, "http2"), name, data)
    mini = os.path.join(SOURCE, "testdata", "mini")
    for name in sorted(os.listdir(mini)):
        if not name.endswith(".mini"):
            continue
        with open(os.path.join(mini, name), encoding="utf-8") as file:
            text = file.read()
        write(os.path.join(out, "xplane"), "mini_" + name[:-5], from_mini(text))
        plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        write(os.path.join(out, "mini"), name[:-5], plain.encode())
        if len(plain) <= PARTIAL_BYTES:
            write(os.path.join(out, "partial"), name[:-5], plain.encode() + b"\0" + damage_of(name))
    spaces, modules = by_hand()
    for name, data in spaces.items():
        write(os.path.join(out, "xplane"), name, data)
    for name, data in modules.items():
        write(os.path.join(out, "hlo"), name, data)
        write(os.path.join(out, "xplane"), "hlo_" + name, space([metadata_plane({"jit_f(7)": data})]))
    memory = os.path.join(SOURCE, "testdata", "memory")
    for name in sorted(os.listdir(memory)):
        with gzip.open(os.path.join(memory, name)) as file:
            write(os.path.join(out, "pprof"), name, file.read())
    for name, data in json_traces().items():
        write(os.path.join(out, "chrome"), name, data)
        if not data.startswith(b"\x1f\x8b"):
            write(os.path.join(out, "json_scan"), name, b"\x10" + data)
    for target in ("chrome", "report_chrome", "json_scan"):
        write(out, target + ".dict", json_words().encode())
    for name, data in archives().items():
        write(os.path.join(out, "archive"), name, data)
    write(out, "archive.dict", dictionary({"ustar", "PaxHeader", "GNU.sparse.map", "SCHILY.realsize", "../"}).encode())
    words = dictionary({"/device:GPU:0", "/device:TPU:0", "/host:CPU", "/host:metadata", "Task Environment", "Stream #1(Kernel)"})
    for target in ("xplane", "report_xplane", "mini"):
        write(out, target + ".dict", words.encode())
    write(out, "pprof.dict", dictionary({"buffer", "executable", "space", "bytes", "kind", "device"}).encode())
    write(out, "http2.dict", '"grpc-status"\n"grpc-message"\n"\\x00\\x00\\x00\\x01"\n'.encode())
    write(out, "hlo.dict", dictionary({"fusion", "tuple", "all-reduce"}).encode())


if __name__ == "__main__":
    main()
