#!/usr/bin/env python3
"""JSON traces that are not as they should be: the exit code, what the message says, and that time and memory stay small.

The cases run as those of test_bad_input.py, whose helpers they use: exit 2 comes with one line on standard error that names the file
and says why, and nothing else; a trace that ends early is a report that says so. What is made to need memory and time is in
test_hostile_json.py. IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import gzip
import json
import os
import random
import re
import sys

import test_bad_input as base

del base.CASES[:]
case = base.case
with open(os.path.join(base.SOURCE, "testdata/json/kineto.trace.json"), "rb") as real:
    KINETO = real.read()

GPU = b'{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},{"ph":"M","pid":1,"tid":1,"name":"thread_name",' \
      b'"args":{"name":"Stream #1(Kernel)"}}'
KERNEL = b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"k"}'


def trace(*elements, head=b"", tail=b""):
    """Two good kernels, at 0 and at 10 us, and what else is given."""
    return b'{' + head + b'"traceEvents":[' + b",".join([GPU, KERNEL % 0, KERNEL % 10, *elements]) + b"]" + tail + b"}"


def x(ts=b"20", dur=b"1", name=b'"x"', args=b"{}"):
    return b'{"ph":"X","pid":1,"tid":1,"ts":%s,"dur":%s,"name":%s,"args":%s}' % (ts, dur, name, args)


def either(t, about, *patterns):
    """A report, or a refusal with such a message. Which one, is the program's choice."""
    if t.code == 0:
        t.reports()
    else:
        t.refused(re.escape(about), *patterns)


# --- what is no trace -------------------------------------------------------------------------------------------------


@case
def no_trace(t):
    for name, data in {"other_object": b'{"a": 1, "b": [1, 2]}', "no_array": b'{"traceEvents": 5}', "text": b'"traceEvents"', "number": b"5",
                       "open": b"{", "quote": b'{"', "words": b"traceEvents: []", "yaml": b"- ph: X\n", "numbers": b"[1, 2, 3]",
                       "elsewhere": b'{"metadata": {"traceEvents": [{"ph":"X","ts":1,"dur":1,"name":"x"}]}}'}.items():
        t.run("report", t.file(name + ".trace.json", data))
        t.refused(r"%s\.trace\.json'" % name, r"not a profile|traceEvents|event|offset \d+")


@case
def no_events(t):
    """Empty, or without one event that has a time: nothing to report on, said so or shown so."""
    for name, data in {"empty": b'{"traceEvents":[]}', "array": b"[]", "braces": b"[{}]", "metadata": b"[" + GPU + b"]",
                       "no_times": b'[{"ph":"X","name":"a"},{"ph":"X","ts":null,"name":"a"},{"ph":"X","ts":"soon","name":"a"}]',
                       "unknown": b'[{"ph":"?","ts":1}]', "only_ends": b'[{"ph":"E","ts":1},{"ph":"E","ts":2}]'}.items():
        t.run("report", "--json", t.file(name + ".trace.json", data))
        if t.code == 0:
            t.check(base.events_of(json.loads(t.stdout)) in (0, None), name + ": no events expected")
        either(t, name + ".trace.json'", r"event")


# --- damage -----------------------------------------------------------------------------------------------------------


@case
def corrupt(t):
    good = b",".join(KERNEL % i for i in range(20, 40))
    for name, bad in {"no_colon": b'{"ph" "X","ts":1}', "no_comma": b'{"ph":"X" "ts":1}', "word": b'{"ph":"X","ts":1,"args":{"a":tru}}',
                      "bracket": b'{"ph":"X","ts":1,"args":{"a":[1}]}', "closed_twice": b'{"ph":"X","ts":1}}', "bare_key": b'{ph:"X"}',
                      "no_value": b'{"ph":"X","ts":}', "no_key": b'{"ph":"X",:5}', "no_separator": KERNEL % 50 + KERNEL % 60,
                      "nul": b'{"ph":"X",\0"ts":1}', "garbage": b"\xff\xfe\x00\x01"}.items():
        data = trace(good, bad, good)
        t.run("report", t.file(name + ".trace.json", data))
        t.refused(name + r"\.trace\.json'", r"\(offset \d+\)$")
        at = int((re.search(r"offset (\d+)", t.stderr) or [0, -1])[1])
        begin = data.index(bad, len(trace(good)) - 2)
        t.check(begin - 60 <= at <= begin + len(bad) + 60, "%s: the offset %d is near the damage at %d" % (name, at, begin))
        t.run("report", t.file(name + ".trace.json.gz", gzip.compress(data))).refused(name + r"\.trace\.json\.gz'", r"offset \d+")
        t.run("dump", "--hash", t.file(name + ".trace.json", data)).refused(name + r"\.trace\.json'")


@case
def strange(t):
    """What is no JSON, but might be understood."""
    for name, bad in {"two_commas": KERNEL % 50 + b",," + KERNEL % 60, "leading_zero": x(b"007"), "plus": x(b"+1"), "point": x(b".5"),
                      "no_digits": x(b"1."), "exponent": x(b"1e"), "minus": x(b"-"), "hex": x(b"0x10"), "bad_escape": x(name=b'"a\\qb"'),
                      "half_escape": x(name=b'"\\u12G4"'), "newline": x(name=b'"a\nb"'), "null": b"null", "numbers": b"1,2", "array": b"[[{}]]",
                      "name_number": x(name=b"5"), "name_object": x(name=b'{"a":1}'), "args_null": x(args=b"null"), "args_number": x(args=b"5"),
                      "comma_before_end": KERNEL % 50 + b",", "nul_in_text": x(name=b'"a\0b"')}.items():
        t.run("report", "--no-cache", t.file(name + ".trace.json", trace(bad)))
        either(t, name + ".trace.json'", r"offset \d+")
    for name, data in {"after": trace() + b" x", "second": trace() + trace(), "bom": b"\xef\xbb\xbf" + trace(), "nuls": trace() + bytes(100),
                       "twice": trace(tail=b',"traceEvents":[' + x() + b"]")}.items():
        t.run("report", "--no-cache", t.file(name + ".trace.json", data))
        either(t, name + ".trace.json'")


@case
def flipped_bytes(t):
    """A byte of a trace changed, at 200 places: a report or a message, never a crash or a half answer."""
    rng = random.Random(4)
    for _ in range(200):
        at, bit = rng.randrange(len(KINETO)), rng.randrange(8)
        data = bytearray(KINETO)
        data[at] ^= 1 << bit
        t.run("report", "--json", "--no-cache", t.file("f.trace.json", bytes(data)))
        if t.code == 0:
            json.loads(t.stdout)
        else:
            t.check(t.code == 2 and "f.trace.json'" in t.stderr and not t.stdout, "byte %d, bit %d" % (at, bit))


# --- texts ------------------------------------------------------------------------------------------------------------


@case
def texts(t):
    """Broken UTF-8, lone surrogates and control characters are shown harmless; strict decoding of the output proves it."""
    names = [b'"\\u0000"', b'"a\\u0000b"', b'"\\ud83d"', b'"\\ude00\\ud83d"', b'"\\ud83d\\u0041"', b'"\xff\xfe"', b'"\xc0\xaf"', b'"\xed\xa0\x80"',
             b'"\xf5\x80\x80\x80"', b'"\xe2\x82"', b'"\\u001b[31mred\\u0007\\u001b]0;t\\u0007"', b'"\\u009b31m"', b'"\xc2\x9b31m"', b'"\\n\\r\\t\\b\\f"',
             b'"\\u2028"', b'"\\ufeff"', b'"\\uffff"', b'""']
    data = trace(*(x(b"%d" % (i * 5 + 20), name=name, args=b'{"hlo_op":%s,%s:1}' % (name, name)) for i, name in enumerate(names)),
                 b'{"ph":"M","pid":1,"tid":9,"name":"thread_name","args":{"name":"Stream #2\\u001b[2J"}}',
                 b'{"ph":"X","pid":1,"tid":9,"ts":1,"dur":1,"name":"y"}',
                 b'{"ph":"X","pid":"p\\u001b[2J\\u0000\xff","tid":"t\\ud800","ts":1,"dur":1,"name":"z"}')
    path = t.file("texts.trace.json", data)
    for arguments in ([], ["--full"], ["--json"], ["--csv"], ["-s", "kernels"]):
        t.run("report", "--no-cache", *arguments, path).reports()
        t.check(not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", t.stdout), "control characters with %r" % arguments)
    t.check(base.events_of(t.json(path)) == 4 + len(names), "every event is counted")


# --- times ------------------------------------------------------------------------------------------------------------


@case
def times_out_of_range(t):
    """What no clock says is left out, and the rest is reported: the good kernels are the window."""
    far = [b"1e30", b"-1e30", b"1e400", b"-1e400", b"1e999999999", b"1e-999999999", b"9" * 400, b'"1e30"', b"9223372036854775807", b"-9223372036854775808"]
    for i, time in enumerate(far):
        tiny = time == b"1e-999999999"                      # that is 0, and in range
        for which, event in (("ts", x(time)), ("dur", x(b"10", time))):
            report = t.json(t.file("far%d.trace.json" % i, trace(event)))
            t.reports()
            if which == "ts" and not tiny:
                t.check(report["metrics"].get("run.window", {}).get("value") == 11e-6, "%s %r: the window of the good kernels" % (which, time[:20]))
                t.check(bool(report["diag"]), "%s %r: a diag" % (which, time[:20]))
        t.run("report", t.file("first%d.trace.json" % i, b"[" + x(time) + b"," + GPU + b"," + KERNEL % 5 + b"]"))
        either(t, "first%d.trace.json'" % i, r"time|ts|range|far")
        t.run("dump", "--hash", "--json", t.file("d.trace.json", trace(x(time), x(b"1", time))))
        t.check(t.code == 0, "dump of %r" % time[:20])


@case
def no_numbers(t):
    """NaN and Infinity are no JSON, though some writers make them: refused, or the event is left out."""
    for word in (b"NaN", b"Infinity", b"-Infinity", b'"NaN"', b'"inf"', b"nan"):
        for event in (x(word), x(b"1", word), x(args=b'{"a":%s}' % word)):
            t.run("report", "--json", "--no-cache", t.file("n.trace.json", trace(event)))
            if t.code == 0:
                t.check(json.loads(t.stdout)["metrics"]["run.window"]["value"] < 1, "%r: a sane window" % word)
            either(t, "n.trace.json'", r"offset \d+")


# --- files that end early ---------------------------------------------------------------------------------------------


def whole_elements(data, begins):
    """For each length: how many elements of traceEvents are whole, and whether the cut lies in one. By counting brackets."""
    depth, text, escaped, whole, inside, out = 0, False, False, 0, False, []
    for i, byte in enumerate(data):
        out.append((whole, inside))
        if text:
            if escaped:
                escaped = False
            elif byte == 0x5c:
                escaped = True
            elif byte == 0x22:
                text = False
        elif byte == 0x22:
            text = True
        elif byte in b"{[":
            depth += 1
            inside = inside or i >= begins and depth == 3
        elif byte in b"}]":
            depth -= 1
            if inside and depth == 2:
                inside, whole = False, whole + 1
    return out


@case
def truncated_everywhere(t):
    """Cut at each byte: an object that is not closed is incomplete, wherever the cut is (unit.json_prefixes has the bare array)."""
    data = (b'{"displayTimeUnit":"ns","traceEvents":[' + KERNEL % 0 + b",\n" + x(b"5", name=b'"a]}\\"{["', args=b'{"l":[1,{"b":"]"}],"n":-1.5e3}') + b" , "
            + KERNEL % 10 + b'\n],"otherData":{"version":"1"}}')[:-1]
    begins = data.index(b"[") + 1
    for length, (whole, _) in enumerate(whole_elements(data, begins)):
        if length == 0:
            continue
        t.run("report", "--json", "--no-cache", t.file("c.trace.json", data[:length]))
        t.check(t.code in (0, 2), "cut at %d: exit 0 or 2" % length)
        if whole == 0:
            if t.code == 0:
                t.check(base.events_of(json.loads(t.stdout)) in (0, None), "cut at %d: no event is whole" % length)
            else:
                t.check("c.trace.json'" in t.stderr, "cut at %d: a message" % length)
            continue
        t.reports()
        if t.code != 0:
            continue
        report = json.loads(t.stdout)
        t.check(base.events_of(report) == whole, "cut at %d: %d events, %r expected" % (length, base.events_of(report), whole))
        t.check(report["complete"] is False, "cut at %d: complete" % length)
        t.check(any(d["id"] == "chrome.truncated" for d in report["diag"]), "cut at %d: a diag" % length)


@case
def broken_values(t):
    """What is no JSON inside an element, but does not hide where it ends: refused, or taken with a diag that says so."""
    for where in ("value", "nested"):
        for name, value in {"zero": b"007", "point": b"1.", "exponent": b"1e", "minus": b"1-2", "dots": b"1.2.3", "nan": b"nan", "inf": b"-inf",
                            "NaN": b"NaN", "word": b"tru", "words": b"truefalse", "newline": b'"a\nb"', "nul": b'"a\0b"', "escape": b'"a\\qb"',
                            "hex": b'"\\u12G4"', "sixteen_behind": b'"0123456789abcdefghij\x01"', "missing": b"[1,,2]", "no_comma": b"[1 2]",
                            "bare": b"{a:1}", "no_colon": b'{"a" 1}', "key_only": b'{"a"}', "number_key": b"{1:2}"}.items():
            value = value if where == "value" else b'[1,{"b":[%s]},"c"]' % value
            for kind, element in (("event", x(args=b'{"a":%s,"z":1}' % value)), ("begin", x(args=b'{"a":%s}' % value).replace(b'"X"', b'"B"')),
                                  ("metadata", b'{"ph":"M","pid":1,"name":"other","args":{"a":%s}}' % value)):
                t.run("report", "--json", "--no-cache", t.file("v.trace.json", trace(element)))
                if t.code == 0:
                    found = [d for d in json.loads(t.stdout)["diag"] if d["id"] == "chrome.broken_value"]
                    t.check(len(found) == 1 and found[0]["count"] == 1, "%s %s in %s: %r" % (where, name, kind, found))
                either(t, "v.trace.json'", r"offset \d+")
    for good in (b"0", b"-0", b"-0.5e-10", b"1E5", b'"\\u12aF\\n\\/"', b'[1,{"a":[true,false,null,"x"]},[],{}]', b'"\x7f\xc3\xa9"'):
        report = t.json(t.file("g.trace.json", trace(x(args=b'{"a":%s}' % good))))
        t.reports().check(report["diag"] == [], "%r: %r" % (good, report["diag"]))


@case
def broken_members(t):
    """Damage in a member beside the list, which nobody reads, is said, and the events are kept."""
    ways = {"control": b'{"a": "b\x04c"}', "no comma": b'{"a": ["b" "c"]}',
            "word": b'{"a": {"b": tru}}', "number": b'[1, 01]', "colon": b'{"a" "b"}', "far": b'{"a": "' + b"x" * 3000000 + b'", "b": 1-}'}
    for name, value in {**ways, "whole": b'{"a": ["b", {"c": [1.5e3, true, null, "\\u00e9"]}]}', "large": b'{"a": "' + b"x" * 6000000 + b'"}'}.items():
        for place in ({"head": b'"metadata": ' + value + b","}, {"tail": b',"metadata": ' + value}):
            report = t.json(t.file("m.trace.json", trace(**place)))
            found = [d for d in report["diag"] if d["id"] == "chrome.broken_value"]
            t.reports().check(base.events_of(report) == 2 and len(found) == (name in ways), f"{name} in the {[*place][0]}: {found}")


@case
def without_duration(t):
    """A complete event that does not say how long it took is said to lack it."""
    for name, dur in (("none", b""), ("text", b'"dur":"long",'), ("null", b'"dur":null,'), ("other", b'"duration":5,')):
        report = t.json(t.file("d.trace.json", trace(b'{"ph":"X","pid":1,"tid":1,"ts":20,%s"name":"k"}' % dur)))
        t.reports().check([(d["id"], d["count"]) for d in report["diag"]] == [("chrome.without_duration", 1)], "%s: %r" % (name, report["diag"]))


@case
def truncated(t):
    """A cut in an element: the first line says so, --strict refuses."""
    cut = KINETO[:KINETO.index(b'"relu"')]
    for name, data in (("cut.trace.json", cut), ("cut.trace.json.gz", gzip.compress(cut))):
        path = t.file(name, data)
        t.run("report", "--no-cache", path).reports()
        t.check("INCOMPLETE" in t.stdout.splitlines()[0], "the first line says INCOMPLETE")
        t.check(re.search(r"\bcut at %d bytes" % len(cut), " ".join(t.stdout.split("\n\n")[0].split())), "and where")
        t.run("report", "--strict", "--no-cache", path)
        t.check(t.code == 2 and "incomplete" in t.stderr and "--strict" in t.stderr, "--strict is exit 2")


@case
def gzip_cut(t):
    many = trace(*(KERNEL % (20 + i) for i in range(20000)))
    packed = gzip.compress(many)
    kept = -1
    for part in range(1, 16):
        path = t.file("g%d.trace.json.gz" % part, packed[:len(packed) * part // 16])
        report = t.json(path)
        if t.code == 2:
            t.check(kept < 0 and "g%d.trace.json.gz'" % part in t.stderr, "part %d is refused with a message, and no shorter one was not" % part)
            continue
        t.reports()
        t.check(report["complete"] is False, "part %d: complete is false" % part)
        events = base.events_of(report)
        t.check(kept <= events < 20002, "part %d: %r events after %r" % (part, events, kept))
        kept = events
    t.check(kept > 10000, "most events are in 15/16 of the file")
    for length in (1, 2, 9, 10, 11, 18):
        t.run("report", t.file("short.trace.json.gz", packed[:length])).refused(r"short\.trace\.json\.gz'")
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0x55
    report = t.json(t.file("damaged.trace.json.gz", bytes(damaged)))
    t.check(t.code == 2 or report["complete"] is False or base.events_of(report) != 20002, "damage in the middle is seen")
    damaged = bytearray(packed)
    damaged[-6] ^= 0x55                                     # the checksum
    report = t.json(t.file("checksum.trace.json.gz", bytes(damaged)))
    t.check(t.code == 2 or report["complete"] is False, "a wrong checksum is seen")


@case
def strange_properties(t):
    """What stands beside the events may be of any kind, and is no reason to refuse them."""
    for head in (b'"deviceProperties":5,', b'"deviceProperties":[5,null,[],{}],', b'"deviceProperties":{"id":1},', b'"deviceProperties":[{"id":"1","name":5}],',
                 b'"deviceProperties":[{"id":1,"name":"G","totalGlobalMem":1e99,"numSms":-1,"computeMajor":"x"},{"id":1,"name":"H"}],',
                 b'"deviceProperties":[{"id":18446744073709551616}],', b'"distributedInfo":[],', b'"distributedInfo":{"rank":"x"},', b'"distributedInfo":{"rank":-1e99},',
                 b'"distributedInfo":null,', b'"baseTimeNanoseconds":"x",', b'"baseTimeNanoseconds":1e99,', b'"baseTimeNanoseconds":-9223372036854775808,',
                 b'"baseTimeNanoseconds":9223372036854775807,', b'"":0,', b'"a":"' + b"x" * 100000 + b'",', b'"' + b"k" * 100000 + b'":1,'):
        report = t.json(t.file("p.trace.json", trace(b'{"ph":"X","cat":"kernel","pid":1,"tid":1,"ts":12,"dur":1,"name":"c"}', head=head)))
        t.reports().check(base.events_of(report) == 3, "3 events after %r" % head[:60])


if __name__ == "__main__":
    sys.exit(base.main())
