#!/usr/bin/env python3
"""Inputs and machines that are not as they should be: the exit code, what the message says, and that nothing half done stays.

Every case has a folder and a cache of its own. Exit 2 must come with a message on standard error that names the input and says
why, with an empty standard output, and without a file in the cache. IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_CI, IDS_SANITIZE.
"""
import glob
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from xspace import Plane, blob, number, space, varint

IDSPROF = os.environ["IDSPROF"]
SOURCE = os.environ["IDS_SOURCE_DIR"]
SANITIZED = os.environ.get("IDS_SANITIZE") == "1"
with open(glob.glob(os.path.join(SOURCE, "testdata/cpu1_annotated/plugins/profile/*/*.xplane.pb"))[0], "rb") as real:
    REAL = real.read()

CASES = []
failures = []
left_out = []  # what this machine cannot test


def case(function):
    CASES.append(function)
    return function


class Case:
    """A folder to work in, a cache, and checks that remember what failed."""

    def __init__(self, name):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="case.")
        os.chmod(self.folder, 0o755)
        self.cache = os.path.join(self.folder, "cache")
        self.env = dict(os.environ, XDG_CACHE_HOME=self.cache, COLUMNS="200", NO_COLOR="1")

    def file(self, name, data=b""):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(data)
        return path

    def run(self, *arguments, before=(), preexec=None, **keywords):
        keywords.setdefault("stdin", subprocess.DEVNULL)
        keywords.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([*before, IDSPROF, *arguments], env=self.env, stderr=subprocess.PIPE, timeout=100, cwd=self.folder,
                              preexec_fn=preexec, check=False, **keywords)
        self.stdout = (done.stdout or b"").decode("utf-8", "strict")
        self.stderr = done.stderr.decode("utf-8", "strict")
        self.code = done.returncode
        return self

    def check(self, ok, what):
        if ok:
            return
        told = "exit %s, stderr %r, stdout begins %r" % (self.code, self.stderr[:300], self.stdout[:200])
        failures.append("%s: %s [%s]" % (self.name, what, told))

    def in_cache(self):
        return [os.path.join(at, name) for at, _, names in os.walk(self.cache) for name in names]

    def refused(self, *patterns):
        """Exit 2, a message of one line that matches, and nothing else."""
        self.check(self.code == 2, "exit 2 expected")
        self.check(self.stdout == "", "nothing on standard output expected")
        self.check(re.match(r"idsprof: \w+: ", self.stderr) is not None, "a message that begins with program and command expected")
        self.check(len(self.stderr.splitlines()) == 1, "a message of one line expected")
        for pattern in patterns:
            self.check(re.search(pattern, self.stderr) is not None, "message without %r" % pattern)
        self.check(not self.in_cache(), "nothing in the cache expected, there is %r" % self.in_cache())
        return self

    def reports(self):
        self.check(self.code == 0, "exit 0 expected")
        self.check(self.stderr == "", "nothing on standard error expected")
        return self

    def json(self, path, *arguments, **keywords):
        self.run("report", "--json", "--no-cache", *arguments, path, **keywords)
        try:
            return json.loads(self.stdout)
        except ValueError:
            self.check(False, "JSON expected")
            return {"complete": None, "metrics": {}, "diag": []}


def events_of(report):
    return report["metrics"].get("run.events", {}).get("value")


def gpu_space(extra=b"", head=b""):
    """A small profile; `extra` is put in place of the third event, `head` into the line before its events."""
    plane = Plane("/device:GPU:0")
    plane.line(1, "Stream #1(Kernel)")
    plane.lines[0][0] += head
    for i in range(5):
        plane.event("k", i * 1000, 500)
    if extra:
        plane.lines[0][1][2] = extra
    return space([plane])


# --- what is no profile ---------------------------------------------------------------------------------------------


@case
def empty_file(t):
    t.run("report", t.file("e.xplane.pb")).refused(r"'[^']*e\.xplane\.pb': .*empty")


@case
def one_file_of_a_run(t):
    """A host that died while it wrote: the run of the others stands, and its file is named, with what is wrong."""
    whole, folder = gpu_space(), "slice/plugins/profile/x"
    for host in range(3):
        t.file("%s/h%d.xplane.pb" % (folder, host), whole)
    path = os.path.join(t.folder, "slice")
    three = t.json(path)
    for data, why in (whole[:30], r"cut at 30 bytes, before its first"), (b"", "empty"), (b"words and words", "not a profile"), \
                     (gpu_space(extra=b"\xff" * 11), r"offset \d+"):
        t.file(folder + "/h3.xplane.pb", data)
        four = t.json(path)
        t.check(t.code == 0 and four["complete"] is False, "%s: a report that is incomplete expected" % why)
        said = [d["text"] for d in four["diag"] if d["id"] == "run.unreadable" and d["severity"] == "damage"]
        t.check(len(said) == 1 and "h3.xplane.pb'" in said[0] and re.search(why, said[0]), "the file and %s expected, not %s" % (why, said))
        for figure in () if "offset" in why else ("device.busy", "clocks.apart"): # what was read before that stands
            t.check(four["metrics"][figure] == three["metrics"][figure], "%s: %s of the others expected" % (why, figure))
    for host in range(3):
        t.file("%s/h%d.xplane.pb" % (folder, host), whole[:30])
    t.run("report", path).refused(r"h0\.xplane\.pb'", "before its first")


@case
def other_types(t):
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0\x1f\x15\xc4\x89"
    with open("/bin/sh", "rb") as file:
        elf = file.read(4096)
    noise = random.Random(5).randbytes(65536)
    for name, data in {"text": b"This is a text of some words.\n" * 9, "png": png, "elf": elf, "noise": noise, "zeros": bytes(9000),
                       "json": b'{"a": 1}', "newline": b"\n", "one": b"\x0a"}.items():
        path = t.file(name + ".xplane.pb", data)
        t.run("report", path)
        t.refused(r"%s\.xplane\.pb'" % name, r"not a profile|offset \d+|cut at|before its first|without planes")


@case
def known_to_be_another(t):
    """What people give it that others write: what it is, and what to do."""
    text = '{"traceEvents": []}'
    for name, data, words in ("bom.json", text.encode("utf-16"), r"UTF-16.*iconv"), ("be.json", b"\xfe\xff" + text.encode("utf-16-be"), r"UTF-16"), \
                             ("x.pftrace", b"\x01packets", r"Perfetto's own format"), ("x.nsys-rep", b"\x01words", r"Nsight Systems"), \
                             ("x.cpuprofile", b'{"nodes": []}', r"V8"):
        t.run("report", t.file(name, data)).refused(re.escape(name), words)
    t.run("report", t.file("x.bin", b"\x01words")).refused("not a profile that idsprof can read")


@case
def two_in_one(t):
    """`cat a.json b.json`: the second is not read, and that is said."""
    one = b'{"traceEvents": [{"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}'
    t.run("report", "--no-cache", t.file("one.json", one + b" \n")).check("follows" not in t.stdout, "nothing follows")
    t.run("report", "--no-cache", t.file("two.json", one + one)).check("warning  something follows the end" in t.stdout, "a warning expected")


@case
def no_planes(t):
    t.run("report", t.file("h.xplane.pb", blob(4, "only-a-host-name"))).refused(r"h\.xplane\.pb': .*without planes")


@case
def folder_without_traces(t):
    t.file("logs/readme.txt", b"x")
    t.run("report", os.path.join(t.folder, "logs")).refused(r"no profile in '[^']*logs'", r"\*\.xplane\.pb")
    t.run("list", os.path.join(t.folder, "logs"))
    t.check(t.code == 2 and "no profile in" in t.stderr, "list says so too")


@case
def missing_path(t):
    t.run("report", os.path.join(t.folder, "gone")).refused(r"cannot open '[^']*gone': No such file")


@case
def not_a_folder_on_the_way(t):
    path = t.file("f.xplane.pb", REAL)
    t.run("report", path + "/below").refused(r"f\.xplane\.pb/below': Not a directory")


@case
def copied_as_text(t):
    path = t.file("t.xplane.pb", REAL.decode("utf-8", "replace").encode())
    t.run("report", path).refused(r"though named like one", r"copied as text", r"as binary")
    t.run("report", t.file("d.xplane.pb", b"\x0a\xff\xff\xff\xff\xff\x0f")).refused(r"though named like one")
    t.check("as text" not in t.stderr, "bytes that were never text are not said to be")


@case
def mangled(t):
    path = os.path.join(os.environ["IDS_SHARED"], "traces/bad_utf8_mangled/tpu.xplane.pb")
    if not os.path.exists(path):
        left_out.append("bad_utf8_mangled ('%s' is not there)" % path)
        return
    t.run("report", path).refused(r"bad_utf8_mangled/tpu\.xplane\.pb'", r"offset \d+")
    t.run("report", os.path.dirname(path)).refused(r"bad_utf8_mangled/tpu\.xplane\.pb'")
    t.run("dump", "--hash", path).refused(r"bad_utf8_mangled/tpu\.xplane\.pb'")


# --- what may not be read -------------------------------------------------------------------------------------------


def as_nobody():
    """What to put before a command so that permissions bind, or None."""
    if os.getuid() != 0:
        return []
    before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if shutil.which("setpriv") and subprocess.run([*before, IDSPROF, "--version"], capture_output=True, check=False).returncode == 0:
        return before
    return None


@case
def no_permission(t):
    before = as_nobody()
    if before is None:
        left_out.append("no_permission (root, and setpriv cannot make it nobody)")
        return
    at = t.folder
    while at.startswith(os.environ.get("TMPDIR", "/nowhere")): # nobody must get there
        os.chmod(at, 0o755)
        at = os.path.dirname(at)
    path = t.file("secret.xplane.pb", REAL)
    os.chmod(path, 0)
    t.run("report", path, before=before).refused(r"secret\.xplane\.pb': .*Permission denied")
    folder = os.path.dirname(t.file("closed/x.xplane.pb", REAL))
    os.chmod(folder, 0)
    t.run("report", folder, before=before).refused(r"cannot read '[^']*closed': Permission denied")
    os.chmod(folder, 0o755)


# --- files that end early -------------------------------------------------------------------------------------------


@case
def truncated(t):
    whole = events_of(t.json(t.file("whole.xplane.pb", REAL)))
    t.check(isinstance(whole, int) and whole > 1000, "events of the whole file expected")
    kept, refusals = -1, 0
    for part in range(1, 16):
        length = len(REAL) * part // 16
        path = t.file("cut%d.xplane.pb" % part, REAL[:length])
        report = None
        t.run("report", path)
        if t.code == 2:
            t.refused(r"cut%d\.xplane\.pb': .*\b%d bytes" % (part, length), r"before its first whole event|before its first plane")
            t.check(kept < 0, "part %d is refused, though a shorter one was not" % part)
            refusals += 1
            continue
        t.reports()
        first = t.stdout.split("\n\n")[0]
        t.check("INCOMPLETE" in first.splitlines()[0], "part %d: the first line says INCOMPLETE" % part)
        t.check(re.search(r"\bcut at %d bytes" % length, " ".join(first.split())), "part %d: the first line says where" % part)
        report = t.json(path)
        t.reports().check(report["complete"] is False, "part %d: complete is false in JSON" % part)
        t.check(any(d.get("id") == "xplane.truncated" for d in report["diag"]), "part %d: a diag in JSON" % part)
        events = events_of(report)
        t.check(isinstance(events, int) and kept <= events <= whole, "part %d: %r events after %r" % (part, events, kept))
        kept = events
        t.run("report", "--strict", path)
        t.check(t.code == 2 and "incomplete" in t.stderr and "--strict" in t.stderr, "part %d: --strict is exit 2" % part)
    t.check(kept > 0, "some parts must have events")
    t.check(kept > whole // 2, "most events must be in 15/16 of the file")
    t.run("report", "--strict", t.file("whole2.xplane.pb", REAL)).reports()


@case
def truncated_everywhere(t):
    """A small file cut at each byte: never a crash, and exit 0 only with a word."""
    data = gpu_space()
    for length in range(1, len(data)):
        report = None
        path = t.file("c.xplane.pb", data[:length])
        t.run("report", "--json", "--no-cache", path)
        t.check(t.code in (0, 2), "cut at %d: exit 0 or 2" % length)
        if t.code == 0:
            report = json.loads(t.stdout)
            t.check(report["complete"] is False or events_of(report) == 5, "cut at %d: complete" % length)
        else:
            t.check("c.xplane.pb'" in t.stderr, "cut at %d: a message" % length)


@case
def one_of_two_hosts_cut(t):
    t.file("run/a.xplane.pb", REAL)
    t.file("run/b.xplane.pb", REAL[:len(REAL) * 3 // 4])
    report = t.json(os.path.join(t.folder, "run"))
    t.reports().check(report["complete"] is False, "one file of two that is cut makes the run incomplete")
    t.file("run/c.xplane.pb", b"\x0a\x03\x0b\x0b\x0b")
    report = t.json(os.path.join(t.folder, "run"))
    t.check(t.code == 0 and any("run/c.xplane.pb'" in d["text"] for d in report["diag"]), "a file of three that is none is said")
    t.run("report", "--strict", os.path.join(t.folder, "run"))
    t.check(t.code == 2, "exit 2 with --strict expected")


# --- damage ---------------------------------------------------------------------------------------------------------


@case
def corrupt(t):
    long_varint = b"\x08" + b"\xff" * 10 + b"\x01"
    for name, data, pattern in [
            ("tag_wire_7", gpu_space(b"\x0f\x01"), "event"),
            ("tag_number_0", gpu_space(b"\x00\x01"), "event"),
            ("varint_11_bytes", gpu_space(long_varint), "event"),
            ("event_longer_than_line", gpu_space(number(1, 1) + b"\x22\x7f"), "event"),
            ("length_3_gib", gpu_space(head=b"\x12" + varint(3 << 30)), "2 GiB"),
            ("length_2_gib_at_top", gpu_space() + b"\x0a" + varint(1 << 31), "2 GiB"),
            ("line_longer_than_plane", space([blob(2, "/device:GPU:0") + b"\x1a\x7f" + b"abc"], "h" * 200), "end of its message"),
            ("tag_at_top", gpu_space() + b"\x0f\x01", "wire type|field number"),
            ("metadata", space([blob(2, "/device:GPU:0") + blob(4, b"\x0f") + blob(3, blob(4, number(1, 1)))]), "metadata"),
            ("plane_stat", space([blob(2, "/device:GPU:0") + blob(6, b"\x0f") + blob(3, blob(4, number(1, 1)))]), "stat"),
    ]:
        offset = re.search(rb"\x0f\x01|\x00\x01\x22|\xff{10}", data)
        t.run("report", t.file(name + ".xplane.pb", data)).refused(name + r"\.xplane\.pb'", pattern, r"\(offset \d+\)$")
        at = int((re.search(r"offset (\d+)", t.stderr) or [0, -1])[1])
        t.check(0 < at < len(data), name + ": an offset inside the file")
        if offset and name != "length_3_gib":
            t.check(abs(at - offset.start()) <= 12, "%s: the offset %d is near the damage at %d" % (name, at, offset.start()))
        t.run("report", "--json", t.file(name + ".xplane.pb", data)).refused(r"offset \d+")


@case
def flipped_bytes(t):
    """A byte of a real file changed, at 200 places: a report or a message, never a crash or a half answer."""
    rng = random.Random(1)
    for _ in range(200):
        at, bit = rng.randrange(len(REAL)), rng.randrange(8)
        data = bytearray(REAL)
        data[at] ^= 1 << bit
        t.run("report", "--json", "--no-cache", t.file("f.xplane.pb", bytes(data)))
        if t.code == 0:
            json.loads(t.stdout)
        else:
            t.check(t.code == 2 and "f.xplane.pb'" in t.stderr and not t.stdout, "byte %d, bit %d" % (at, bit))


@case
def names_do_not_reach_the_terminal(t):
    """Escape sequences and broken UTF-8 in names of a file are shown harmless."""
    plane = Plane("/device:GPU:0")
    plane.line(1, "Stream #1(Kernel)")
    plane.event("\x1b[31mred\x07\x1b]0;title\x07\n", 0, 500)
    for i, bad in enumerate((b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc2\x9b31m")):
        plane.event(bad, 1000 * (i + 1), 10)
    path = t.file("esc.xplane.pb", space([plane], "host\x1b[2J"))
    for arguments in ([], ["--full"], ["--json"], ["--csv"], ["-s", "kernels"]):
        t.run("report", "--no-cache", *arguments, path).reports() # strict decoding has proved the UTF-8
        t.check(not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", t.stdout), "control characters with %r" % arguments)


@case
def hlo_damaged(t):
    """A profile stands without its HLO."""
    at = REAL.find(b"jit_") # in /host:metadata; the HLO proto is near
    data = bytearray(REAL)
    for i in range(at + 200, at + 3000, 37):
        data[i] ^= 0x55
    t.run("report", "--json", "--no-cache", t.file("h.xplane.pb", bytes(data)))
    t.check(t.code in (0, 2), "a report or a message")


# --- gzip, pipes, links ----------------------------------------------------------------------------------------------


def without_run(text):
    report = json.loads(text)
    report.pop("run", None)
    return report


@case
def gzip_files(t):
    packed = gzip.compress(REAL)
    t.run("report", "--json", "--no-cache", t.file("plain.xplane.pb", REAL)).reports()
    plain = without_run(t.stdout)
    t.run("report", "--json", t.file("ok.xplane.pb.gz", packed)).reports()
    t.check(without_run(t.stdout) == plain, "gzip gives the same report")
    halves = gzip.compress(REAL[:30000]) + gzip.compress(REAL[30000:])
    t.run("report", "--json", t.file("two.xplane.pb.gz", halves)).reports()
    t.check(without_run(t.stdout) == plain, "two members give the same report")
    t.run("report", t.file("cut.xplane.pb.gz", packed[:len(packed) * 3 // 4])).reports()
    t.check("INCOMPLETE" in t.stdout.splitlines()[0], "a gzip that is cut is incomplete")
    report = t.json(os.path.join(t.folder, "cut.xplane.pb.gz"))
    t.reports().check(report["complete"] is False, "in JSON too")
    wrong_sum = bytearray(packed)
    wrong_sum[-6] ^= 1
    report = t.json(t.file("sum.xplane.pb.gz", bytes(wrong_sum)))
    t.reports().check(report["complete"] is False, "a wrong check sum is incomplete")
    t.run("report", "--strict", os.path.join(t.folder, "sum.xplane.pb.gz"))
    t.check(t.code == 2, "--strict is exit 2")
    shutil.rmtree(t.cache)
    t.run("report", t.file("tiny.xplane.pb.gz", packed[:15])).refused(r"tiny\.xplane\.pb\.gz'")
    t.run("report", t.file("nothing.xplane.pb.gz", gzip.compress(b""))).refused(r"nothing\.xplane\.pb\.gz': .*empty")
    t.run("report", t.file("inner.xplane.pb.gz", gzip.compress(b"text " * 99))).refused(r"inner\.xplane\.pb\.gz'", r"not a profile|offset 0")


@case
def gzip_bomb(t):
    """1 GiB of zeros in 1 MB: refused by name of the limit, quickly and in little memory."""
    path = os.path.join(t.folder, "bomb.xplane.pb.gz")
    with gzip.open(path, "wb", 9) as out:
        for _ in range(600):
            out.write(bytes(1 << 20))
    t.run("report", path).refused(r"bomb\.xplane\.pb\.gz'", r"limit|times|ratio")


@case
def pipes(t):
    path = t.file("plain.xplane.pb", REAL)
    t.run("report", "--json", "--no-cache", path).reports()
    plain = without_run(t.stdout)
    fifo = os.path.join(t.folder, "fifo")
    os.mkfifo(fifo)

    def feed():
        with open(fifo, "wb") as out:
            out.write(REAL)
    feeder = threading.Thread(target=feed)
    feeder.start()
    t.run("report", "--json", fifo).reports()
    feeder.join()
    t.check(without_run(t.stdout) == plain, "a FIFO gives the same report")
    t.check(not t.in_cache(), "a FIFO is not cached")
    with open(path, "rb") as file:
        t.run("report", "--json", "-", stdin=file).reports()
    t.check(without_run(t.stdout) == plain, "standard input from a file")
    for data, name in ((REAL, "plain"), (gzip.compress(REAL), "gzip")):
        done = subprocess.run([IDSPROF, "report", "--json", "-"], input=data, env=t.env, capture_output=True, timeout=60, check=False)
        t.check(done.returncode == 0 and without_run(done.stdout) == plain, "standard input from a pipe, " + name)
    done = subprocess.run([IDSPROF, "report", "-"], input=REAL[:len(REAL) * 3 // 4], env=t.env, capture_output=True, timeout=60, check=False)
    t.check(done.returncode == 0 and b"INCOMPLETE" in done.stdout.splitlines()[0], "a pipe that ends early is incomplete")
    t.run("report", "-").refused(r"standard input: .*empty") # /dev/null
    t.run("report", "-", preexec=lambda: os.close(0)).refused(r"standard input: .*Bad file descriptor")


@case
def links(t):
    path = t.file("there/x.xplane.pb", REAL)
    link = os.path.join(t.folder, "link.xplane.pb")
    os.symlink(path, link)
    t.run("report", link).reports()
    shutil.rmtree(t.cache)
    os.symlink(".", os.path.join(t.folder, "there/loop"))
    t.run("list", os.path.join(t.folder, "there")).reports()
    t.check(t.stdout.count("\n") <= 3, "a folder that contains itself is walked once")
    shutil.rmtree(t.cache, ignore_errors=True)
    os.symlink("b", os.path.join(t.folder, "a"))
    os.symlink("a", os.path.join(t.folder, "b"))
    t.run("report", os.path.join(t.folder, "a")).refused(r"cannot open '[^']*a': Too many levels of symbolic links")
    os.symlink("nowhere", os.path.join(t.folder, "dangling.xplane.pb"))
    t.run("report", os.path.join(t.folder, "dangling.xplane.pb")).refused(r"dangling\.xplane\.pb'")


@case
def deep_folders(t):
    folder = os.path.join(t.folder, *["d"] * 200)
    os.makedirs(folder)
    t.run("report", t.folder).refused(r"no profile in")


# --- machines at their end -------------------------------------------------------------------------------------------


@case
def full_disk_for_the_cache(t):
    """With no room for it the report is right all the same, now and the next time."""
    path = t.file("plain.xplane.pb", REAL)
    t.run("report", "--no-cache", path).reports()
    right = t.stdout
    script = ('mkdir -p "$2" && mount -t tmpfs -o size="$1" none "$2" || exit 99; shift 2; '
              '"$@" && "$@" && ls -A "$XDG_CACHE_HOME"/idsprof | wc -l')
    for size in ("4k", "16k", "32k", "64k", "96k", "1m"):
        # A mount of its own, which goes when the command ends; root of a user namespace may do it too.
        alone = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-r", "-m"]
        done = subprocess.run([*alone, "sh", "-c", script, "sh", size, t.cache, IDSPROF, "report", path], env=t.env,
                              capture_output=True, timeout=60, check=False) if shutil.which("unshare") else None
        if done is None or done.returncode == 99 or b"unshare" in done.stderr:
            left_out.append("full_disk_for_the_cache on a tmpfs (no unshare, or it may not mount)")
            break
        t.code, t.stdout, t.stderr = done.returncode, done.stdout.decode(), done.stderr.decode()
        t.reports().check(t.stdout.startswith(right + right), "a disk of %s: two right reports" % size)
        files = t.stdout[len(right) * 2:].strip()
        t.check(files == ("1" if size == "1m" else "0"), "a disk of %s: %s files in the cache" % (size, files))


def limit_files(size, ignored):
    def preexec():
        if ignored:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    return preexec


@case
def limit_of_file_size(t):
    """ulimit -f: the cache cannot be written. The system says so by a signal, which must not end the report."""
    path = t.file("plain.xplane.pb", REAL)
    t.run("report", "--no-cache", path).reports()
    right = t.stdout
    for ignored in (True, False):
        for size in (0, 4096, 20000, 40000):
            t.run("report", path, preexec=limit_files(size, ignored)).reports()
            t.check(t.stdout == right, "the right report under a limit of %d" % size)
            t.check(not t.in_cache(), "nothing in the cache under a limit of %d: %r" % (size, t.in_cache()))
            shutil.rmtree(t.cache, ignore_errors=True)


@case
def cache_folder_is_not_usable(t):
    path = t.file("plain.xplane.pb", REAL)
    t.file("cache", b"a file where the folder should be")
    t.run("report", path).reports()
    os.unlink(t.cache)
    os.mkdir(t.cache)
    os.symlink("/dev/null", os.path.join(t.cache, "idsprof"))
    t.run("report", path).reports()


@case
def damaged_cache(t):
    """A summary that was cut or changed is not believed."""
    path = t.file("plain.xplane.pb", REAL)
    t.run("report", path).reports()
    right, summaries = t.stdout, t.in_cache()
    t.check(len(summaries) == 1, "one summary")
    with open(summaries[0], "rb") as file:
        good = file.read()
    rng = random.Random(3)
    bad = [b"", b"not a database", good[:100], good[:len(good) // 2], good[:-1], bytes(len(good)), good[:4096] + bytes(len(good) - 4096)]
    for _ in range(30):
        changed = bytearray(good)
        for _ in range(4):
            changed[rng.randrange(100, len(good))] ^= 1 << rng.randrange(8)
        bad.append(bytes(changed))
    for i, data in enumerate(bad):
        with open(summaries[0], "wb") as file:
            file.write(data)
        t.run("report", path).reports()
        t.check(t.stdout == right, "the report with damaged summary %d" % i)
        if failures and i > 7:
            break # one is enough to see


@case
def full_disk_for_the_output(t):
    path = t.file("plain.xplane.pb", REAL)
    for arguments in (["report", path], ["report", "--json", path], ["report", "--csv", path], ["list", path], ["help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            t.run(*arguments, stdout=full)
        t.check(t.code == 2, "%r: exit 2" % arguments[:2])
        t.check("No space left on device" in t.stderr, "%r: a message" % arguments[:2])
    t.run("report", path, preexec=lambda: os.close(1))
    t.check(t.code == 2 and "cannot write the output" in t.stderr, "a closed standard output is an error")


@case
def little_memory(t):
    """Under a limit it either reports right or says that memory ran out, wherever that happens."""
    if SANITIZED:
        left_out.append("little_memory (sanitizers need the memory)")
        return
    plane = Plane("/device:GPU:0")
    plane.line(1, "Stream #1(Kernel)")
    for i in range(20000):
        plane.event("kernel_%d" % (i % 5000), i * 1000, 500, {"correlation_id": i + 1})
    path = t.file("many.xplane.pb", space([plane]))
    t.run("report", path, "--no-cache").reports()
    right, refusals, reports = t.stdout, 0, 0
    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
        for limit in list(range(2 << 20, 12 << 20, 256 << 10)) + [16 << 20, 32 << 20, 64 << 20]:
            def preexec(limit=limit, kind=kind):
                resource.setrlimit(kind, (limit, limit))
            t.run("report", path, "--no-cache", preexec=preexec)
            if t.code == 127 or "error while loading shared libraries" in t.stderr:
                continue # the program has not begun
            if kind == resource.RLIMIT_AS and t.code < 0 and not t.stderr and limit < 6 << 20:
                continue # the kernel could not even load it
            t.check(t.code in (0, 2), "limit of %d kB: exit 0 or 2" % (limit >> 10))
            if t.code == 0:
                reports += 1
                t.check(t.stdout == right, "limit of %d kB: the right report" % (limit >> 10))
            else:
                refusals += 1
                t.check("memory" in t.stderr and not t.stdout, "limit of %d kB: a message about memory" % (limit >> 10))
    t.check(refusals > 3 and reports > 3, "limits on both sides: %d refusals, %d reports" % (refusals, reports))


def main():
    chosen = sys.argv[1:]
    for function in CASES:
        if chosen and function.__name__ not in chosen:
            continue
        t = Case(function.__name__)
        t.code, t.stdout, t.stderr = None, "", ""
        before = len(failures)
        try:
            function(t)
        except Exception as problem: # pylint: disable=broad-except
            t.check(False, "%s: %s" % (type(problem).__name__, problem))
        finally:
            subprocess.run(["chmod", "-R", "u+rwx", t.folder], check=False)
            shutil.rmtree(t.folder, ignore_errors=True)
        print("%s %s" % ("ok  " if len(failures) == before else "FAIL", function.__name__), flush=True)
    for failure in failures[:40]:
        print("FAIL", failure)
    if len(failures) > 40:
        print("... and %d more" % (len(failures) - 40))
    for word in left_out:
        print("not tested here:", word)
    if failures or (left_out and os.environ.get("IDS_CI") == "1" and any(not w.startswith("little_memory") for w in left_out)):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
