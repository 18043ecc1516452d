#!/usr/bin/env python3
"""Hostile files: memory and time stay in proportion to the number of records, however small a record is in the file.

A record of two bytes (an empty event) becomes a record of fixed size in memory, so that memory cannot follow the file's size; it
follows the number of records, and these are the bounds, about 1.5 times what was measured on 2026-11-21 (in brackets; growing an
array by half is in it):
  an event of a device 320 bytes (211), of a host thread 90 (57), one whose name is lost 420 (276), a stat 30 (19), a line 720 (474),
  a plane 190 (125), an event's name 115 (76) or 55 (35) when it comes again, a stat's name 90 (60), a warning 300 (197),
  and 24 MiB for the program with its read window.
Real events have 30 to 100 bytes in the file, so that a real profile needs much less than a hostile one of its size.
Seconds are of CPU, 20 times what was measured: enough for a slow machine, and what is quadratic takes longer. IDSPROF, IDS_SANITIZE.
"""
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

from xspace import Plane, blob, number, space

IDSPROF = os.environ["IDSPROF"]
SANITIZED = os.environ.get("IDS_SANITIZE") == "1" # its shadow and quarantine are no part of the bounds
PROGRAM_BYTES = 24 << 20
failures = []


def measure(path):
    """Exit code, seconds of CPU, peak of memory in bytes, standard output and error."""
    with tempfile.TemporaryFile() as error: # standard output is read to its end, and nothing waits for the other
        process = subprocess.Popen([IDSPROF, "report", "--no-cache", path], stdout=subprocess.PIPE, stderr=error)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        error.seek(0)
        return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output, error.read()


def plane(body, name="/host:CPU"):
    return blob(1, blob(2, name) + body)


LINE = number(1, 1) + blob(2, "thread")
EVENT = blob(3, LINE + blob(4, number(1, 1)))


N = 1000000
HOSTILE = [ # name, how the file is made, records, bytes for each, seconds
    ("host_events", lambda: plane(blob(3, LINE + blob(4, b"") * N)), N, 90, 5),
    ("device_events", lambda: plane(blob(3, blob(2, "Stream #1") + blob(4, b"") * N), "/device:GPU:0"), N, 320, 5),
    ("stats_of_an_event", lambda: plane(blob(3, LINE + blob(4, number(1, 1) + blob(4, b"") * N))), N, 30, 5),
    ("lost_names", lambda: plane(blob(3, LINE + b"".join(blob(4, number(1, i)) for i in range(N // 2)))), N // 2, 420, 5),
    ("planes", lambda: plane(b"", "") * N + plane(EVENT), N, 190, 5),
    ("lines", lambda: plane(blob(3, b"") * (N // 2) + EVENT), N // 2, 720, 5),
    ("names", lambda: plane(EVENT + b"".join(blob(4, number(1, i)) for i in range(N))), N, 115, 5),
    ("one_name_again", lambda: plane(EVENT + blob(4, number(1, 1) + blob(2, number(1, 1) + blob(2, "k"))) * N), N, 55, 5),
    ("stat_names", lambda: plane(EVENT + b"".join(blob(5, number(1, i)) for i in range(N))), N, 90, 5),
    ("warnings", lambda: plane(EVENT) + b"".join(blob(3, "w%d" % i) for i in range(N // 4)), N // 4, 300, 5),
]


def gpu(count):
    out = Plane("/device:GPU:0")
    out.line(1, "Stream #1(Kernel)")
    for i in range(count):
        out.event("k", i * 100, 50, {"correlation_id": i + 1})
    return out


def launches(host, count):
    for i in range(count):
        host.event("cuLaunchKernel", i * 100 - 19, 1, {"correlation_id": i + 1})


# Small files whose shape costs the square of their size where a search walks.
M = 60000


def nested(what, stats):
    host = Plane("/host:CPU")
    host.line(1, "python")
    for i in range(M):
        host.event(what, -2 * M + i, M * 300 - 2 * i, stats)
    launches(host, M)
    return space([gpu(M), host])


def open_regions():
    host = Plane("/host:CPU")
    host.line(1, "worker")
    for i in range(M):
        host.event("ThreadpoolListener::StartRegion", i, 0, {"_ct": 15, "_c": i + 1})
    for i in range(M):
        host.event("dot.1", M + i * 10, 5, {"hlo_op": "dot.1", "hlo_module": "m", "run_id": 1})  # of many runs each were a step
    return space([host])


def lanes():
    device = Plane("/device:GPU:0")
    device.line(1, "Stream #1(Kernel)")
    for i in range(M):
        device.event("k%d" % i, i, M + i)
    return space([device])


def one_correlation():
    device, host = Plane("/device:GPU:0"), Plane("/host:CPU")
    device.line(1, "Stream #1(Kernel)")
    host.line(1, "python")
    for i in range(M):
        device.event("k", i * 10, 5, {"correlation_id": 1})
        host.event("cuLaunchKernel", i * 10, 1, {"correlation_id": 1})
    return space([device, host])


def threads_in_all_gaps():
    host = Plane("/host:CPU")
    for i in range(2000):
        host.line(i, "thread %d" % i)
        host.event("backend_compile_and_load", -5, M * 200)
    host.line(9999, "python")
    launches(host, M)
    return space([gpu(M), host])


def devices():
    return b"".join(plane(blob(3, blob(2, "Stream #1") + blob(4, number(1, 1) + number(3, 5))), "/device:GPU:%d" % i)
                    for i in range(4000))


def long_texts():
    device = Plane("/device:GPU:" + "9" * 500000)
    device.line(1, "Stream #1" + "z" * 500000)
    device.event("k" * 500000, 0, 5, {"kernel_details": "regs:" * 100000, "memcpy_details": "size:" * 100000, "hlo_op": "o" * 500000})
    return space([device], "h" * 500000)


CROOKED = [ # name, how the file is made, bytes of memory, seconds
    ("nested_waits", lambda: nested("CommonPjRtBuffer::Await", {}), 64 << 20, 3),
    ("nested_steps", lambda: nested("train", {"step_num": 1}), 64 << 20, 3),
    ("nested_flows", lambda: nested("flow", {"_ct": 1, "_c": 5}), 64 << 20, 3),
    ("open_regions", open_regions, 64 << 20, 3),
    ("lanes", lanes, 64 << 20, 3),
    ("one_correlation", one_correlation, 64 << 20, 3),
    ("threads_in_all_gaps", threads_in_all_gaps, 64 << 20, 3),
    ("devices", devices, 96 << 20, 3),
    ("long_texts", long_texts, 64 << 20, 3),
]


def check(name, ok, what):
    if not ok:
        failures.append("%s: %s" % (name, what))


def write(path, make):
    """In a process of its own: the peak that the system tells of a child is at least what its parent had when it was forked."""
    child = os.fork()
    if child == 0:
        try:
            with open(path, "wb") as file:
                file.write(make())
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def run(folder, name, make, memory, seconds):
    path = os.path.join(folder, name + ".xplane.pb")
    if not write(path, make):
        check(name, False, "the file could not be made")
        return
    size = os.path.getsize(path)
    code, spent, peak, output, error = measure(path)
    os.unlink(path)
    print("%-20s %7.3f MB in the file %7.1f MB of %5.1f %6.2f s of %d" % (name, size / 1e6, peak / 1e6, memory / 1e6, spent, seconds),
          flush=True)
    check(name, code in (0, 2), "exit %d: %r" % (code, error[:200]))
    check(name, (code == 0 and output and not error) or (code == 2 and error and not output), "a report or a message")
    if SANITIZED:
        return
    check(name, peak <= memory, "%d bytes of memory, the bound is %d" % (peak, memory))
    check(name, spent <= seconds, "%.1f s, the bound is %d" % (spent, seconds))


def import_under_a_limit(folder):
    """Of a run that memory has no room for every event is a row, and the report is of the part that it has room for."""
    path, database, count = os.path.join(folder, "much.xplane.pb"), os.path.join(folder, "much.db"), 400000

    def device():
        events = b"".join(blob(4, number(1, 1) + number(2, i * 1000) + number(3, 500)) for i in range(count))
        return plane(blob(3, blob(2, "Stream #1") + events) + blob(4, number(1, 1) + blob(2, number(1, 1) + blob(2, "k"))), "/device:GPU:0")

    if SANITIZED or not write(path, device):
        check("import_under_a_limit", SANITIZED, "the file could not be made")
        return
    limits = lambda: resource.setrlimit(resource.RLIMIT_DATA, (100 << 20, 100 << 20))
    done = subprocess.run([IDSPROF, "import", path, "-o", database], capture_output=True, text=True, preexec_fn=limits)
    check("import_under_a_limit", done.returncode == 0 and "400,000 events" in done.stdout, f"{done.returncode} {done.stdout} {done.stderr}")
    if done.returncode:
        return
    db = sqlite3.connect(database)
    rows = db.execute("SELECT count(*), min(start_ps), max(start_ps), sum(dur_ps) FROM event").fetchone()
    check("import_under_a_limit", rows == (count, 0, (count - 1) * 1000, count * 500), f"rows {rows}")
    said = db.execute("SELECT count FROM diag WHERE id = 'model.part'").fetchall()
    check("import_under_a_limit", len(said) == 1 and 0 < said[0][0] < count, f"the report's part: {said}")
    shown = subprocess.run([IDSPROF, "report", "--no-cache", path], capture_output=True, text=True, preexec_fn=limits)
    check("import_under_a_limit", "IN PART: the first " in shown.stdout, f"report: {shown.stdout[:200]} {shown.stderr}")
    db.close()
    cached = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
    for who, limit, part in (("with little memory", limits, True), ("again", limits, True), ("with more of it", None, False), ("again", limits, False)):
        shown = subprocess.run([IDSPROF, "report", path], capture_output=True, text=True, preexec_fn=limit, env=cached)
        check("import_under_a_limit", shown.returncode == 0 and ("IN PART" in shown.stdout) == part, f"cached report {who}: {shown.stdout[:200]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, make, records, each, seconds in HOSTILE:
            run(folder, name, make, PROGRAM_BYTES + records * each, seconds)
        for name, make, memory, seconds in CROOKED:
            run(folder, name, make, memory, seconds)
        import_under_a_limit(folder)
    for failure in failures:
        print("FAIL", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
