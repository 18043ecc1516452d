#!/usr/bin/env python3
"""Reports on damaged copies of real traces, held to walkers of our own: nothing may crash, hang, or lose events without a word.

A mutant is a copy with one change: bits flipped, bytes replaced, removed, doubled or moved, a cut, a number or a key exchanged. The
walkers below read it strictly (JSON by the grammar, xplane.pb by its lengths) and share no code with idsprof. Where they find it damaged,
`idsprof report --json` must refuse it, or have a diag, or call it incomplete; where they find it whole, run.events must be their count, but
for what a diag counts. A sanitizer's report, a signal or more than 60 s is a failure whatever the walkers say.

Every mutant follows from the trace's name and its number, so that a run that was broken off goes on where the log ends, and a failure can be
made again.  Environment: IDSPROF (built with sanitizers), IDS_SHARED.

    mutate.py LOG [-n MUTANTS] [-m MINUTES] [TRACE ...]   a line a trace and batch into LOG; failures are kept beside it
    mutate.py --one TRACE NUMBER OUT                      writes that mutant
"""
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRACES = ["kineto_2021_resnet50", "kineto_h100_bert", "kineto_mi300_sglang_decode", "kineto_cold_start", "kineto_2of128_ranks",
          "kineto_mtia_inference", "tpu_vllm_before", "gpu_1080ti_xla_pair", "gpu_mi300_jax_gemm", "gpu_mi300_jax_conv", "gpu_mi355_jax_te",
          "gpu_mi300_jax_elementwise"]
BATCH = 50
MOST_BYTES = 400_000    # of a JSON trace; its first elements stand for the others
SHARED = Path(os.environ.get("IDS_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "traces"

# ---- JSON ----

TOKEN = re.compile(rb'[ \t\r\n]*(?:([\[{\]},:])|("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?'
                   rb'(?![-+.0-9eE]))|(true|false|null))')
SPACE = re.compile(rb'[ \t\r\n]*')


class Damaged(Exception):
    pass


class Json:
    """A strict reader; a comma before a closing bracket passes. Values are bytes, lists of pairs, lists."""

    def __init__(self, data):
        self.data, self.at = data, 3 if data.startswith(b"\xef\xbb\xbf") else 0

    def token(self):
        found = TOKEN.match(self.data, self.at)
        if not found:
            raise Damaged("at %d" % self.at)
        self.at = found.end()
        return found[1], found[2] or found[3] or found[4]

    def peek(self):
        at = SPACE.match(self.data, self.at).end()
        return self.data[at:at + 1]

    def value(self, depth=0):
        mark, scalar = self.token()
        if scalar is not None:
            return scalar
        if mark not in (b"[", b"{") or depth > 200:
            raise Damaged("at %d" % self.at)
        end, items = (b"]", b"}")[mark == b"{"], []
        while self.peek() != end:
            if mark == b"{":
                key = self.token()[1]
                if key is None or key[:1] != b'"' or self.token()[0] != b":":
                    raise Damaged("at %d" % self.at)
                items.append((key, self.value(depth + 1)))
            else:
                items.append(self.value(depth + 1))
            if self.peek() == b",":
                self.token()
            elif self.peek() != end:
                raise Damaged("at %d" % self.at)
        self.token()
        return items


TIME = re.compile(rb'"?-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,2})?"?')


def json_events(data):
    """How many events the trace holds; None where pairs or odd phases make that a question of their own."""
    reader = Json(data)
    top = reader.value()
    if reader.peek():
        raise Damaged("something follows")
    lists = [top] if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" else [value for key, value in top if key == b'"traceEvents"']
    count = 0
    for element in (element for some in lists if isinstance(some, list) for element in some):
        if not isinstance(element, list) or any(not isinstance(pair, tuple) for pair in element):
            return None
        members = dict(element)
        phase = members.get(b'"ph"', b"")
        if phase in (b'"X"', b'"i"', b'"s"', b'"f"') and isinstance(members.get(b'"ts"'), bytes) and TIME.fullmatch(members[b'"ts"']):
            count += 1
        elif phase not in (b'"M"', b"") or b'"ts"' in members and phase == b"":
            return None
    return count


# ---- xplane.pb ----

def varint(data, at, end):
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise Damaged("varint at %d" % at)
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data, at, end):
    while at < end:
        tag, at = varint(data, at, end)
        wire = tag & 7
        if tag >> 3 == 0 or tag >> 32:
            raise Damaged("tag at %d" % at)
        if wire == 0:
            value, at = varint(data, at, end)
            yield tag >> 3, wire, value, value
        elif wire == 2:
            size, at = varint(data, at, end)
            if size > end - at:
                raise Damaged("length at %d" % at)
            yield tag >> 3, wire, at, at + size
            at += size
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
            if at > end:
                raise Damaged("number at %d" % at)
            yield tag >> 3, wire, at, at
        else:
            raise Damaged("wire type %d at %d" % (wire, at))


def xplane_events(data):
    """XSpace.planes = 1, XPlane.lines = 3, XLine.events = 4."""
    count = 0
    for number, wire, begin, end in fields(data, 0, len(data)):
        if number != 1 or wire != 2:
            continue
        for plane_number, plane_wire, plane_begin, plane_end in fields(data, begin, end):
            if plane_number != 3 or plane_wire != 2:
                continue
            for line_number, line_wire, line_begin, line_end in fields(data, plane_begin, plane_end):
                if line_number != 4 or line_wire != 2:
                    continue
                for _ in fields(data, line_begin, line_end):
                    pass
                count += 1
    return count


# ---- mutants ----

def seed(name):
    """The trace's bytes, and whether they are JSON. A long JSON trace is its beginning and its metadata."""
    found = sorted(path for path in (SHARED / name).rglob("*") if path.name.endswith((".xplane.pb", ".json.gz")))
    path = next((path for path in found if path.name.endswith(".pb")), found[0] if found else None)
    if path is None:
        return None, False
    if path.name.endswith(".pb"):
        return path.read_bytes(), False
    data = gzip.decompress(path.read_bytes())
    if len(data) <= MOST_BYTES:
        return data, True
    trace = json.loads(data)
    events, size, kept = trace["traceEvents"], 0, []
    for event in [e for e in events if e.get("ph") == "M"] + [e for e in events if e.get("ph") != "M"]:
        size += len(json.dumps(event))
        if size > MOST_BYTES:
            break
        kept.append(event)
    return json.dumps(dict(trace, traceEvents=kept)).encode(), True


def mutate(data, is_json, rng):
    at = rng.randrange(len(data))
    length = rng.choice((1, 1, 2, 4, 16, 200))
    kind = rng.randrange(10 if is_json else 7)
    if kind == 0:
        changed = bytearray(data)
        changed[at] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if kind == 1:
        return data[:at] + rng.randbytes(length) + data[at + length:]
    if kind == 2:
        return data[:at] + data[at + length:]
    if kind == 3:
        return data[:at + length] + data[at:]
    if kind == 4:
        return data[:at]
    if kind == 5:
        other = rng.randrange(len(data))
        return data[:at] + data[other:other + length] + data[at + length:]
    if kind == 6:
        return data[:at] + rng.randbytes(length) + data[at:]
    words = ((rb'-?[0-9]+(?:\.[0-9]+)?', (b"-1", b"0", b"01", b"1.", b"1e400", b"9223372036854775808", b"nan", b"1-2", b'"5"', b"null", b"true")),
             (rb'"[a-zA-Z ]+":', (b'"":', b'"ts":', b'"dur":', b'"args":', b"x:", b'"ph" ', b'"pid"::')),
             (rb'[,:\[\]{}"]', (b"", b",", b":", b"[", b"]", b"{", b"}", b'"', b"\x00", b"\n", b"\\")))[kind - 7]
    found = re.compile(words[0]).search(data, at)
    return data if not found else data[:found.start()] + rng.choice(words[1]) + data[found.end():]


def mutant(name, number, known={}):
    if name not in known:
        known[name] = seed(name)
    data, is_json = known[name]
    return mutate(data, is_json, random.Random(f"{name} {number}")), is_json


def judge(data, is_json, done):
    """NULL, or what is wrong with how the program took it."""
    if done is None:
        return "hang"
    if done.returncode not in (0, 2) or "Sanitizer" in done.stderr or "runtime error" in done.stderr:
        return "crash"
    if done.returncode == 2:
        return None if done.stderr.strip() else "silent refusal"
    try:
        expected = (json_events if is_json else xplane_events)(data)
    except Damaged as why:
        expected = str(why)
    report = json.loads(done.stdout)
    said = report["diag"] or not report["complete"]
    if isinstance(expected, str):
        return None if said else f"silent damage ({expected})"
    events = report["metrics"]["run.events"]["value"] or 0
    return None if said or expected in (None, events) else f"silent loss ({events} events of {expected})"


def run_one(path):
    try:
        return subprocess.run([os.environ["IDSPROF"], "report", "--json", "--no-cache", path], capture_output=True, text=True, errors="replace",
                              timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return None


def done_before(log):
    done = {}
    if log.is_file():
        for line in log.read_text().splitlines():
            found = re.match(r"(\S+) +(\d+)\.\.(\d+) ", line)
            if found:
                done[found[1]] = max(done.get(found[1], 0), int(found[3]) + 1)
    return done


def batch(name, first, count, folder, log):
    begin, refused, said, wrong = time.time(), 0, 0, []
    for number in range(first, first + count):
        data, is_json = mutant(name, number)
        path = folder / ("m.trace.json" if is_json else "m.xplane.pb")
        path.write_bytes(data)
        done = run_one(path)
        what = judge(data, is_json, done)
        refused += bool(done and done.returncode == 2)
        said += bool(done and done.returncode == 0 and '"diag": []' not in done.stdout)
        if what:
            wrong.append(f"{number}: {what}")
    with log.open("a") as file:
        file.write(f"{name:28} {first}..{first + count - 1} refused {refused}, with a diag {said}, wrong {len(wrong)}, {time.time() - begin:.0f} s"
                   f"{'; ' + '; '.join(wrong) if wrong else ''}\n")
    return len(wrong)


def main(argv):
    if argv[:1] == ["--one"]:
        Path(argv[3]).write_bytes(mutant(argv[1], int(argv[2]))[0])
        return 0
    options = {"-n": 1000, "-m": 60}
    names = []
    log = Path(argv[0])
    rest = iter(argv[1:])
    for word in rest:
        if word in options:
            options[word] = float(next(rest))
        else:
            names.append(word)
    done, end, wrong = done_before(log), time.time() + 60 * options["-m"], 0
    names = [name for name in names or TRACES if (SHARED / name).is_dir()]
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, int(options["-n"]), BATCH):
            for name in names:
                if time.time() < end and done.get(name, 0) <= first:
                    wrong += batch(name, first, BATCH, Path(folder), log)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
