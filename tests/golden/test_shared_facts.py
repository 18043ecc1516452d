#!/usr/bin/env python3
"""What is known of the real traces must come out of `idsprof report` and `idsprof list`, exactly.

The numbers are those of the README beside the shared traces, docs/trace_facts.md, testdata/README.md and the monitoring.json files (never
what idsprof printed), and what tests/oracle/xplane_oracle.py, which shares no code with idsprof, finds in the same files. Grades are
those that docs/metrics.md gives to the values, here and in testdata/mini/grade_*.mini.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED (default ../shared beside the sources), IDS_CI=1 (what is absent is a failure).
Without the shared folder testdata is checked all the same, then: exit 77.

    test_shared_facts.py [-v]     -v: also what is right
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

SOURCE = Path(os.environ.get("IDS_SOURCE_DIR") or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get("IDS_SHARED") or SOURCE.parent / "shared")
CI = os.environ.get("IDS_CI") == "1"
PROGRAM = os.environ.get("IDSPROF", "")

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import xplane_oracle as oracle  # noqa: E402
from step_bounds import step_bounds  # noqa: E402
from test_mini import closure  # noqa: E402

TEN12 = 10**12


class Tally:
    def __init__(self):
        self.right = self.wrong = 0
        self.about = ""

    def same(self, what, got, want):
        self.true(what, got == want, f"is {got}, expected {want}")

    def true(self, what, holds, why=""):
        if holds:
            self.right += 1
            if "-v" in sys.argv:
                print(f"ok   {self.about}: {what}")
            return
        self.wrong += 1
        print(f"FAIL {self.about}: {what}{' ' + why if why else ''}")


tally = Tally()
same, true = tally.same, tally.true


class Missing(Exception):
    """The report lacks what a fact is about."""


def ps(seconds):
    """Picoseconds of a time in the JSON; exact, or not an integer."""
    if seconds is None:
        return None
    value = Decimal(seconds) * TEN12
    return int(value) if value == int(value) else value


def run(*args, home=None):
    env = dict(os.environ, XDG_CACHE_HOME=home) if home else None
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=100, check=False, env=env)


class Report:
    def __init__(self, path, *args):
        done = run("report", "--json", "--no-cache", "--top", "100000", *args, path)
        if done.returncode:
            raise Missing(f"exit {done.returncode}: {done.stderr.strip()[-400:]}")
        self.json = json.loads(done.stdout, parse_float=Decimal)
        self.metrics, self.tables = self.json["metrics"], self.json["tables"]
        if "accounts" in self.tables:
            same("the ledger", list(closure(self.json)), [])

    def metric(self, name):
        if name not in self.metrics:
            raise Missing(f"no metric {name}")
        return self.metrics[name]

    def value(self, name, device=None):
        if device is None:
            return self.metric(name)["value"]
        found = [value for key, value in self.metric(name).get("by_device", {}).items() if key.endswith(device)]
        if len(found) != 1:
            raise Missing(f"{name} of {device}: {len(found)} devices are called so")
        return found[0]

    def ps(self, name, device=None):
        return ps(self.value(name, device))

    def rows(self, table):
        if table not in self.tables:
            raise Missing(f"no table {table}")
        names = [column["id"] for column in self.tables[table]["columns"]]
        return [dict(zip(names, row, strict=True)) for row in self.tables[table]["rows"]]

    def device(self, name):
        found = [row for row in self.rows("devices") if row["device"].endswith(name)]
        if len(found) != 1:
            raise Missing(f"{len(found)} devices are called {name}")
        return found[0]

    def active(self):
        return [row for row in self.rows("devices") if row["activities"]]


def the_file(folder):
    found = sorted(Path(folder).rglob("*.xplane.pb"))
    if len(found) != 1:
        raise Missing(f"{len(found)} xplane.pb under {folder}")
    return found[0]


def planes_of(folder):
    return oracle.load(str(the_file(folder)))


def dumped(folder):
    done = run("dump", "--hash", "--json", the_file(folder))
    return json.loads(done.stdout) if done.returncode == 0 else {}


def spans(events):
    return [(event.start, event.start + event.dur) for event in events]


def host_spans(planes, pattern):
    return spans(event for plane in planes if plane.name.startswith(b"/host:") for line in plane.lines
                 for event in line.events if re.search(pattern, event.name))


def gpu_activity(plane):
    return [event for line in plane.lines if line.name.startswith(b"Stream #") for event in line.events]


# ---- what holds for several traces ----

def check_size(report, folder, events, tracks=None):
    same("run.events", report.value("run.events"), events)
    if tracks is not None:
        same("run.tracks", report.value("run.tracks"), tracks)
    same("complete", report.json["complete"], True)
    same("no diagnosis", report.json["diag"], [])
    counted = oracle.summarise(planes_of(folder))
    same("run.tracks as the oracle counts", report.value("run.tracks"), counted["lines"])
    same("run.stats as the oracle counts", report.value("run.stats"), counted["event_stats"])
    check_grades(report)


# docs/metrics.md, Grades: from here to there "warn", one side of it good, the other bad.
GRADES = {
    "device.utilization": ("0.5", "0.8"),
    "kernels.median": ("0.0001", "0.001"),
    "host.overhead_share": ("0.1", "0.2"),
    "compile.total": ("2", "10"),
}


def check_grades(report):
    for name, (low, high) in GRADES.items():
        value, better = report.value(name), report.metric(name)["better"]
        if value is None or (name == "compile.total" and not value):
            grade = None
        elif name == "compile.total" and (report.value("steps.host.compile") or 0) * 100 >= (report.value("steps.mean") or 1):
            grade = "bad"   # devices wait for it in the steps, and advice says so
        elif Decimal(low) <= value <= Decimal(high):
            grade = "warn"
        else:
            grade = "good" if (value > Decimal(high)) == (better == "higher") else "bad"
        same(f"grade of {name} {value}", report.metric(name).get("grade"), grade)
    same("grade of idle.share is that of utilization", report.metric("idle.share").get("grade"), report.metric("device.utilization").get("grade"))


def check_gpus(report, planes):
    """Activities and busy time of every GPU, and that empty planes are listed and in no mean."""
    active = []
    for plane in planes:
        name = plane.name.decode()
        if not name.startswith("/device:GPU:"):
            continue
        events, row = gpu_activity(plane), report.device(name)
        same(f"activities of {name}", row["activities"], len(events))
        if not events:
            same(f"{name} did nothing, so it has no busy time", row["busy"], None)
            continue
        active.append(name)
        same(f"device.busy of {name}", report.ps("device.busy", name), oracle.union(spans(events)))
        same(f"device.window of {name}", report.ps("device.window", name), max(e for _, e in spans(events)) - min(s for s, _ in spans(events)))
    check_means(report, active)


def check_means(report, active):
    by_device = report.metric("device.utilization").get("by_device", {})
    same("devices with a utilization", sorted(key.split(":/", 1)[1] for key in by_device), sorted(name[1:] for name in active))
    working = sum(report.ps("device.working", name) for name in active)
    mean = Decimal(working) / (report.ps("run.window") * len(active))
    true("device.utilization is a mean of the active devices", abs(report.value("device.utilization") - mean) < Decimal("1e-12"), f"{mean}")


def check_launches(report):
    """Each device event has its launch, so that no idle time lacks one; the end of a window waits for none, and is the host's."""
    for row in report.rows("gaps"):
        if row["next"] is not None and row["launch"] is None:
            true(f"the launch after the gap at {row['start']} on {row['device']} is known", False)
    same("time whose launch is not known", report.ps("idle.device.unknown"), 0)


def check_registers(report):
    for row in report.rows("kernels"):
        if row["registers"] is not None and not 0 < row["registers"] <= 1024:
            true(f"registers of {row['name']} are {row['registers']}", False)


def check_no_sizes(report, kind):
    same(f"transfers.{kind}_bytes", report.value(f"transfers.{kind}_bytes"), None)
    true(f"transfers.{kind}_bytes has a reason", bool(report.metric(f"transfers.{kind}_bytes").get("reason")))


# ---- the traces of shared/traces ----

def memory_of(folder, allocator, **facts):
    """What docs/trace_facts.md says of an allocator's memory."""
    row = next(row for row in Report(folder, "--section", "memory").rows("allocators") if row["allocator"] == allocator)
    for what, value in facts.items():
        same(f"{what} of {allocator}", row[what], value)


def v6e(folder):
    memory_of(folder, "TPU#0", reserved=21_491_712_000, capacity=33_550_237_696, peak=21_491_712_000 + 857_216)
    report, planes = Report(folder), planes_of(folder)
    check_size(report, folder, 26723, 142)
    same("planes", dumped(folder).get("planes"), 7)
    same("activities", [report.device(f"/device:TPU:{i}")["activities"] for i in range(4)], [1504, 1503, 1503, 1503])
    check_means(report, [f"/device:TPU:{i}" for i in range(4)])
    tpu = "/device:TPU:0"
    same("device.busy of TPU:0", report.ps("device.busy", tpu), 78_784_927_635_502)
    same("device.window of TPU:0", report.ps("device.window", tpu), 92_477_083_032_672)
    same("device.working of TPU:0", report.ps("device.working", tpu), 2_736_561_053_952)
    same("working, rounded as in the README", round(report.value("device.working", tpu), 3), Decimal("2.737"))
    stalled = report.ps("device.busy", tpu) - report.ps("device.working", tpu)
    same("stalled time of TPU:0, rounded", round(Decimal(stalled) / TEN12, 2), Decimal("76.05"))

    # Only TPU:0 has the line of asynchronous ops; the ops of the others tell of the same copies through host memory.
    for device in (f"/device:TPU:{i}" for i in range(4)):
        for direction in "h2d", "d2h":
            same(f"{direction} of {device}", [report.value(f"transfers.{direction}_{what}", device) for what in ("count", "bytes")],
                 [300, 300 * 5_368_709_120])

    # The ops of one device alone are in the sums of the timelines by name.
    timelines = Report(folder, "--section", "tracks")
    tracks = timelines.rows("tracks")
    track = [i for i, row in enumerate(tracks) if row["plane"] == tpu and row["name"] == "XLA Ops"]
    same("tracks of TPU:0 that are called XLA Ops", len(track), 1)
    done = sum(ps(row["total"]) for row in timelines.rows("names") if row["track"] == track[0] and row["name"].startswith("%copy-done"))
    ops = [event for plane in planes if plane.name == tpu.encode() for line in plane.lines if line.name == b"XLA Ops" for event in line.events]
    same("copy-done time of TPU:0", done, sum(event.dur for event in ops if event.name.startswith(b"%copy-done")))
    same("copy-done time of TPU:0, rounded", round(Decimal(done) / TEN12, 2), Decimal("76.05"))
    same("what is stalled is what is copy-done", stalled, done)
    sums = {row["name"]: row["events"] for row in tracks if row["plane"] == tpu}
    same("events of the lines of TPU:0", (sums.get("XLA Ops"), sums.get("Async XLA Ops")), (1504, 600))

    # 815 of the 1,504 ops are shorter than 0.1 ms, 801 of them -start or -done.
    same("kernels.small_count of TPU:0", report.value("kernels.small_count", tpu), 815 - 801)

    for kind in ("h2d", "d2h"):
        same(f"{kind} copies of TPU:0", report.value(f"transfers.{kind}_count", tpu), 300)
        same(f"{kind} bytes of TPU:0", report.value(f"transfers.{kind}_bytes", tpu), 300 * 5_368_709_120)
    copies = {(row["direction"], row["device"].rsplit(":/", 1)[-1]): row for row in report.rows("memcpys")}
    for kind in ("H2D", "D2H"):
        same(f"largest {kind} copy", copies[kind, tpu[1:]]["largest"], 5_368_709_120)
    both = sum(ps(copies[kind, tpu[1:]]["total"]) for kind in ("H2D", "D2H"))
    same("sum of the async copies, rounded", round(Decimal(both) / TEN12, 1), Decimal("197.6"))
    same("transfers that the host's runtime books", [copies[kind, "host runtime"]["count"] for kind in ("H2D", "D2H")], [13, 16])
    same("sum of the host's D2H spans, rounded", round(copies["D2H", "host runtime"]["total"], 1), Decimal("12.0"))

    for i in range(4):
        same(f"all-reduces of TPU:{i}", report.value("collectives.count", f"/device:TPU:{i}"), 3)
    same("collective time of TPU:0, rounded", round(report.value("collectives.total", tpu), 3), Decimal("0.365"))
    same("what the collectives are", {row["class"] for row in report.rows("collectives")}, {"all-reduce"})
    same("how they are known", {row["rule"] for row in report.rows("collectives")}, {"hlo_category"})

    same("compile.count", report.value("compile.count"), 4)
    same("compile.total", report.ps("compile.total"), oracle.union(host_spans(planes, b"^backend_compile$")))
    same("compile.total, rounded", round(report.value("compile.total"), 2), Decimal("1.53"))
    modules = [[event for line in plane.lines if line.name == b"XLA Modules" for event in line.events if event.name.startswith(b"jit_f(")]
               for plane in planes]
    last = {id(of_plane): max(event.start + event.dur for line in plane.lines if line.name == b"XLA Ops" for event in line.events)
            for plane, of_plane in zip(planes, modules) if of_plane}
    check_period(report, [[min(event.start + event.dur, last[id(of_plane)]) for event in of_plane] for of_plane in modules if of_plane])
    check_launches(report)

    # The four gaps longer than a second: lengths as the oracle finds them, and each the host's.
    gaps, end, first = [], min(event.start for event in ops), min(event.start for event in ops)
    for event in sorted(ops, key=lambda event: event.start):
        if event.start - end > TEN12:
            gaps.append((end - first, event.start - end))
        end = max(end, event.start + event.dur)
    same("gaps of TPU:0 above 1 s in the file", len(gaps), 4)
    long = [row for row in report.rows("gaps") if row["device"].endswith(tpu) and row["duration"] > 1]
    same("gaps of TPU:0 above 1 s", sorted((ps(row["start"]), ps(row["duration"])) for row in long), gaps)
    for row in long:
        true(f"the gap at {row['start']} is the host's", row["account"].startswith("host."), row["account"])


def mangled(folder):
    path = next(Path(folder).rglob("*.xplane.pb"), None) or next(Path(folder).glob("*.pb"))
    with tempfile.TemporaryDirectory() as home:
        done = run("report", path, home=home)
        same("exit code of report", done.returncode, 2)
        same("nothing is printed", done.stdout, "")
        true("one clear line that names the file", done.stderr.count("\n") == 1 and path.name in done.stderr, done.stderr)
        same("no half database", [file.name for file in Path(home).rglob("*") if file.is_file()], [])
    done = run("dump", "--hash", "--json", path)
    same("exit code of dump", done.returncode, 2)


def v100(folder):
    memory_of(folder, "GPU_6_bfc", peak=6_210_111_488, capacity=15_477_102_400)
    report = Report(folder)
    check_size(report, folder, 23128, 37)
    same("planes", dumped(folder).get("planes"), 9)
    check_gpus(report, planes_of(folder))
    check_launches(report)
    check_registers(report)
    same("active of the 8 GPUs", (len(report.active()), len(report.rows("devices"))), (3, 8))
    gpu = "/device:GPU:4"
    same("kernels of GPU:4", report.value("kernels.count", gpu), 665)
    same("kernel time of GPU:4", report.ps("kernels.total", gpu), 14_825_385_000)
    same("H2D copies of GPU:4", report.value("transfers.h2d_count", gpu), 82)
    same("H2D bytes of GPU:4", report.value("transfers.h2d_bytes", gpu), 37_447)
    same("D2H copies of GPU:4", report.value("transfers.d2h_count", gpu), 12)
    same("D2H bytes of GPU:4", report.value("transfers.d2h_bytes", gpu), 36_944)
    same("device.busy of GPU:4", report.ps("device.busy", gpu), 14_983_622_000)
    same("device.window of GPU:4", report.ps("device.window", gpu), 119_308_658_000)
    same("steps.source", report.value("steps.source"), "marker")
    same("steps.count", report.value("steps.count"), 1)


def gtx1080ti(folder):
    report = Report(folder)
    check_size(report, folder, 55)
    check_gpus(report, planes_of(folder))
    check_launches(report)
    for gpu, time in (("/device:GPU:0", 1_920_000), ("/device:GPU:1", 1_888_000)):
        same(f"kernels of {gpu}", report.value("kernels.count", gpu), 1)
        same(f"kernel time of {gpu}", report.ps("kernels.total", gpu), time)
    same("occupancy.median", report.value("occupancy.median"), 1)


def gemm(folder):
    memory_of(folder, "GPU_0_bfc", peak=482_345_216, life_peak=738_197_504, capacity=154_606_239_744)
    report = Report(folder)
    check_size(report, folder, 3782)
    check_gpus(report, planes_of(folder))
    check_launches(report)
    same("active of the 8 GPUs", (len(report.active()), len(report.rows("devices"))), (1, 8))
    same("activities", report.active()[0]["activities"], 54)
    same("kernels", report.value("kernels.count"), 30)
    same("small kernels", report.value("kernels.small_count"), 18)
    same("H2D and D2D copies", [report.value(f"transfers.{kind}_count") for kind in ("h2d", "d2h", "d2d")], [12, 0, 12])
    check_no_sizes(report, "h2d")
    check_no_sizes(report, "d2d")
    same("device.busy", report.ps("device.busy"), 3_475_484_000)
    same("run.window", report.ps("run.window"), 9_456_212_000)
    same("occupancy 0 is unknown", report.value("occupancy.median"), None)


def conv(folder):
    report = Report(folder)
    check_size(report, folder, 6024)
    check_gpus(report, planes_of(folder))
    check_launches(report)
    check_registers(report)
    same("active of the 8 GPUs", (len(report.active()), len(report.rows("devices"))), (2, 8))
    gpu = "/device:GPU:0"
    same("D2D copies of GPU:0", report.value("transfers.d2d_count", gpu), 53)
    same("D2D bytes of GPU:0", report.value("transfers.d2d_bytes", gpu), 34_734_080)
    same("D2D time of GPU:0", report.ps("transfers.d2d_time", gpu), 889_028_000)
    same("kernels of GPU:0", report.value("kernels.count", gpu), 0)
    gpu = "/device:GPU:7"
    same("kernels of GPU:7", report.value("kernels.count", gpu), 25)
    same("device.busy of GPU:7", report.ps("device.busy", gpu), 3_586_493_000)
    same("device.window of GPU:7", report.ps("device.window", gpu), 15_761_301_000)
    check_period(report, [by_fives(planes_of(folder), 25)])
    true("the side-car HLO gives ops their module", {row["module"] for row in report.rows("ops")} == {"jit_forward_3d_conv"})


def mi355(folder):
    report, planes = Report(folder), planes_of(folder)
    check_size(report, folder, 1992)
    check_gpus(report, planes)
    check_launches(report)
    same("GPUs listed", sum("/device:GPU:" in row["device"] for row in report.rows("devices")), 8)
    same("activities", [row["activities"] for row in report.active()], [150])
    same("kernels", report.value("kernels.count"), 130)
    same("small kernels", report.value("kernels.small_count"), 85)
    same("sets", report.value("transfers.memset_count"), 20)
    check_no_sizes(report, "memset")
    same("device.busy", report.ps("device.busy"), 12_133_127_000)
    same("run.window", report.ps("run.window"), 12_956_751_000)
    check_period(report, [by_fives(planes, 150)])
    # Two streams overlap: all that ran on them, kernels and sets, adds up to more than the busy time.
    ran = report.ps("kernels.total") + sum(ps(row["total"]) for row in report.rows("memcpys"))
    same("kernels and sets", ran, sum(event.dur for plane in planes for event in gpu_activity(plane)))
    true("they are longer than the device was busy", ran > report.ps("device.busy"), f"{ran}")


# ---- testdata ----

# folder: events, event stats, ops, step numbers, ops that belong to a step
RECORDED = {
    "cpu1_annotated": (2506, 2489, 93, range(6), 93),
    "cpu1_async": (2191, 5369, 78, range(6), 78),
    "cpu1_midrun": (2873, 7100, 103, range(2, 8), 78),
    "cpu1_plain": (823, 2155, 104, (), 0),  # nothing marks its steps: see plain()
    "cpu1_compile": (2964, 1259, 48, range(3), 48),
    "cpu1_compile_py": (49243, 732, 42, range(3), 42),
    "cpu1_nohlo": (324, 875, 52, range(4), 52),
    "cpu2_python": (1583, 1338, 90, range(3), 90),
    "cpu8_annotated": (2745, 8081, 504, range(3), 504),
}
# In these a block ends each step, so that an op's step is the annotation in which it begins. In the others no op begins in an
# annotation, and executions in the order of run_id, matched from the last one, are the steps.
ASYNC = ("cpu1_async", "cpu1_midrun")


def op_spans(planes):
    """(op, begin, end): an op ends with its event or when "end: NAME" tells that it has, whichever is later."""
    ends = oracle.cpu_op_ends(planes)
    for op in oracle.cpu_ops(planes):
        own = op.start + op.dur
        yield op, op.start, max(own, ends.get(oracle.number(op, b"_p"), own))


def by_annotation(planes):
    """run_id -> number of the annotation that its ops begin in."""
    marks = oracle.step_annotations(planes)
    return {oracle.number(op, b"run_id"): oracle.number(mark, b"step_num") for op in oracle.cpu_ops(planes) for mark in marks
            if mark.start <= op.start < mark.start + mark.dur}


def by_order(planes):
    marks, ops = oracle.step_annotations(planes), oracle.cpu_ops(planes)
    inside = sum(mark.start <= op.start < mark.start + mark.dur for mark in marks for op in ops)
    same("ops that begin in an annotation", inside, 0)
    runs = sorted({oracle.number(op, b"run_id") for op in ops}, reverse=True)
    return {run: oracle.number(mark, b"step_num") for mark, run in zip(reversed(marks), runs)}


def steps_of_devices(planes, step_of_run):
    """number -> (begin on the first device, mean time, time on the slowest device)."""
    marks = {oracle.number(mark, b"step_num"): (mark.start, mark.start + mark.dur) for mark in oracle.step_annotations(planes)}
    first, work, others, times = None, {}, {}, {}
    for op, start, end in op_spans(planes):
        first = start if first is None else min(first, start)
        number = step_of_run.get(oracle.number(op, b"run_id"))
        if number is None:
            others.setdefault(oracle.number(op, b"device_ordinal"), []).append((start, end))
        else:
            own = work.setdefault(oracle.number(op, b"device_ordinal"), {})
            before = own.get(number, (start, end))
            own[number] = min(before[0], start), max(before[1], end)
    for device, own in work.items():
        for number, start, end in step_bounds(own, marks, others.get(device, ())):
            times.setdefault(number, []).append((start - first, end - start))
    return {number: (min(start for start, _ in there), sum(time for _, time in there) // len(there), max(time for _, time in there))
            for number, there in times.items()}


def recorded(name):
    folder = SOURCE / "testdata" / name
    events, stats, ops, steps, assigned = RECORDED[name]
    report, planes = Report(folder), planes_of(folder)
    check_size(report, folder, events)
    same("run.stats", report.value("run.stats"), stats)
    same("ops", sum(row["activities"] for row in report.rows("devices")), ops)
    same("ops, as the oracle counts", len(oracle.cpu_ops(planes)), ops)
    true("the device is the CPU, said so", {row["kind"] for row in report.rows("devices")} == {"CPU"} and "CPU client" in report.json["run"]["devices"]["text"])
    if not steps:
        return report, planes
    same("steps.source", report.value("steps.source"), "annotation")
    same("steps.count", report.value("steps.count"), len(steps))
    same("step numbers", [row["step"] for row in report.rows("steps")], list(steps))
    found = re.search(r"(\d+) of (\d+) device events", report.metric("steps.source").get("rule", ""))
    same("ops that belong to a step", found and (int(found[1]), int(found[2])), (assigned, ops))
    same("begin, time and slowest time of the steps",
         {row["step"]: tuple(ps(row[what]) for what in ("start", "duration", "slowest")) for row in report.rows("steps")},
         steps_of_devices(planes, by_order(planes) if name in ASYNC else by_annotation(planes)))
    if name not in ASYNC:
        marks = {oracle.number(mark, b"step_num"): mark.dur for mark in oracle.step_annotations(planes)}
        same("host step times", {row["step"]: ps(row["host_duration"]) for row in report.rows("steps")}, marks)
    return report, planes


def compilation(name, event, where):
    report, planes = recorded(name)
    said = json.loads((SOURCE / "testdata" / name / "monitoring.json").read_text(), parse_float=Decimal)
    said = said["sum_seconds"]["backend_compile_duration"]
    total = report.value("compile.total")
    true("compile.total is within 5 % of what jax.monitoring said", abs(total - said) <= said / 20, f"{total}, {said}")
    same("compile.total", ps(total), oracle.union(host_spans(planes, event)))
    same("compile.count", report.value("compile.count"), len(where))
    same("compile.in_steps", report.value("compile.in_steps"), len(where))
    same("functions, by step", sorted((row["step"], row["function"]) for row in report.rows("compiles")), where)


def sharded(name):
    report, _ = recorded(name)
    same("devices", len(report.active()), 8)
    for device in (row["device"] for row in report.active()):
        same(f"collectives of {device}", report.metric("collectives.count")["by_device"].get(device), 9 + 3 + 3 + 3)
    got = {row["name"]: (row["class"], row["count"], row["rule"]) for row in report.rows("collectives")}
    want = {op: ("all-reduce", 8 * 3, "HLO opcode") for op in ("all-reduce", "all-reduce.1", "psum_invariant.35")}
    want |= {"all_gather.3": ("all-gather", 24, "HLO opcode"), "reduce_scatter.7": ("reduce-scatter", 24, "HLO opcode"),
             "ppermute.3": ("permute", 24, "HLO opcode")}
    same("collectives, over all 8 devices", got, want)


def no_hlo(name):
    report, _ = recorded(name)
    same("collectives.count without HLO", report.value("collectives.count"), None)
    true("collectives.count has a reason", "HLO" in report.metric("collectives.count").get("reason", ""))


def check_period(report, ends):
    """ends: of the executions of the hottest program, by device. A step is the time from one to the next."""
    times = [[later - sooner for sooner, later in zip(of_device, of_device[1:])] for of_device in map(sorted, ends)]
    pairs = [time for of_device in times for time in of_device]
    same("steps.source", report.value("steps.source"), "period")
    same("steps.count", report.value("steps.count"), max(map(len, times)))
    same("steps.mean", report.ps("steps.mean"), sum(pairs) // len(pairs))
    rows, by_step = report.rows("steps"), [[of_device[i] for of_device in times if len(of_device) > i] for i in range(max(map(len, times)))]
    same("step numbers", [row["step"] for row in rows], list(range(len(rows))))
    same("times of the steps", [ps(row["duration"]) for row in rows], [sum(pairs) // len(pairs) for pairs in by_step])


def last_ends(ops):
    """The last end of the ops of each execution: (execution, end)."""
    ends = {}
    for execution, end in ops:
        ends[execution] = max(end, ends.get(execution, end))
    return list(ends.values())


def by_fives(planes, kernels):
    """The ends of five executions of one program that has as many kernels each time."""
    ran = sorted((event for plane in planes for event in gpu_activity(plane) if any(key == b"hlo_op" for key, _ in event.stats)),
                 key=lambda event: event.start)
    same("kernels of ops", len(ran), kernels)
    return last_ends((i * 5 // len(ran), event.start + event.dur) for i, event in enumerate(ran))


def plain(name):
    report, planes = recorded(name)
    check_period(report, [last_ends((oracle.number(event, b"run_id"), end) for event, _, end in op_spans(planes))])
    same("transfers.h2d_bytes on a CPU", report.value("transfers.h2d_bytes"), None)
    true("transfers.h2d_bytes has a reason", bool(report.metric("transfers.h2d_bytes").get("reason")))


def graded(path):
    report = Report(path)
    check_grades(report)
    same("grades", {report.metric(name).get("grade") for name in GRADES}, {"warn"})


# ---- idsprof list ----

def listed(root, wanted, code):
    """wanted: run -> (events, steps), or None for a run that cannot be read."""
    done = run("list", "--json", "--no-cache", root)
    same("exit code", done.returncode, code)
    found = {entry["name"]: entry for entry in json.loads(done.stdout, parse_float=Decimal)["runs"]}
    for name, want in wanted.items():
        entry = found.get(name)
        if entry is None:
            true(f"{name} is listed", False)
        elif want is None:
            same(f"state of {name}", entry["state"], "corrupt")
            true(f"{name} has a reason", bool(entry["reason"]))
            same(f"figures of {name}", (entry["events"], entry["window"]), (None, None))
        else:
            same(f"state of {name}", (entry["state"], entry["reason"]), ("whole", None))
            same(f"events and steps of {name}", (entry["events"], entry["steps"]), want)
            same(f"bytes of {name}", entry["bytes"], the_file(entry["path"]).stat().st_size)
            same(f"window of {name}", ps(entry["window"]), window_of(entry["path"]))


def window_of(folder):
    """First to last activity over all devices; None on a CPU, where an op's end is another event's."""
    planes = planes_of(folder)
    ran = [span for plane in planes for span in spans(gpu_activity(plane))]
    ran += [span for plane in planes if plane.name.startswith(b"/device:TPU") for line in plane.lines if line.name == b"XLA Ops" for span in spans(line.events)]
    return max(e for _, e in ran) - min(s for s, _ in ran) if ran else Report(folder).ps("run.window")


def by_class(report):
    """Count and picoseconds of the collectives of each kind."""
    sums = {}
    for row in report.rows("collectives"):
        count, total = sums.get(row["class"], (0, 0))
        sums[row["class"]] = count + row["count"], total + ps(row["total"])
    return sums


def microseconds(picoseconds):
    return round(picoseconds / 10**6)


def v6e_collectives(folder):
    """3 all-reduces a chip of f32[5,1024,1024,256], 5,368,709,120 bytes, in pairs ([4,2]<=[2,4]T(1,0)): the factor is 1."""
    rows = Report(folder).rows("collectives")
    same("its rows", [(row["class"], row["count"], row["group_size"], row["bytes"]) for row in rows],
         [("all-reduce", 12, 2, 12 * 5_368_709_120)])
    same("bus bandwidth", rows[0]["bus_rate"], rows[0]["rate"])


def ddp(folder):
    """RCCL's kernel is one for all: 12 of 17 are known by their args, 5 by nothing."""
    report = Report(folder)
    same("collectives", (report.value("collectives.count"), microseconds(report.ps("collectives.total"))), (17, 71517))
    same("exposed", microseconds(report.ps("collectives.exposed")), 55625)
    sums = {kind: (count, microseconds(total)) for kind, (count, total) in by_class(report).items()}
    same("by kind", sums, {"all-reduce": (6, 47137), "broadcast": (6, 63), "collective": (5, 24316)})
    same("AllReduce share", report.value("collectives.allreduce_share"), None)
    true("its reason", "5 of 17" in report.metric("collectives.allreduce_share")["reason"])
    same("ranks", {row["group_size"] for row in report.rows("collectives") if row["class"] != "collective"}, {8})
    largest = max((row for row in report.rows("collectives") if row["bytes"]), key=lambda row: row["bytes"])
    same("bytes of the larger gradients", largest["bytes"], 3 * 2 * 8_816_192)
    true("their bus bandwidth", abs(largest["bus_rate"] - largest["bytes"] / largest["total"] * 14 / 8) < 1)


def ddp_ops(folder):
    """2,685 of 3,653 device events have a call in the file, and all of these lie in an op and a step; 968 were launched before it."""
    with tempfile.TemporaryDirectory() as home:
        database = Path(home) / "run.db"
        done = run("import", "--quiet", "-o", database, folder)
        same("import", done.returncode, 0)
        rows = sqlite3.connect(database)
        same("device events, in steps, with ops", rows.execute("SELECT count(*), count(step), count(op) FROM activities").fetchone(), (3653, 2685, 2685))
        backward = rows.execute("SELECT count(*) FROM ops WHERE op = 'aten::convolution_backward'").fetchone()[0]
        in_modules = rows.execute("SELECT count(*) FROM ops WHERE op = 'aten::convolution_backward' AND op_name LIKE "
                                  "'DistributedDataParallel_0/ResNet_0/%ConvolutionBackward0/aten::convolution_backward'").fetchone()[0]
        true("convolutions run backward in the modules of their forward ops", backward and backward == in_modules, f"{in_modules} of {backward}")


def tensorflow_ops(folder):
    """The op is the path before the last colon of the annotation."""
    named = {}
    for plane in planes_of(folder):
        for line in plane.lines:
            for event in line.events if line.name.startswith(b"Stream #") else []:
                annotation = dict(event.stats).get(b"annotation", b"")[2:].decode().split("#")[0]
                op = re.fullmatch(r"([^:]+):\w+|(.+):(\w+)", annotation)
                if op:
                    path = op[1] or op[2]
                    named[path] = named.get(path, 0) + 1
    rows = {}
    for row in Report(folder).rows("ops"):
        rows[row["op_name"]] = rows.get(row["op_name"], 0) + row["count"]
    same("ops by path", rows, named)
    path = "replica_4/bert_span_labeler/bert_encoder_1/transformer/layer_6/dropout_1/dropout/random_uniform/RandomUniform"
    same("one of them", rows.get(path), 1)


def one_json(folder):
    """The report of Kineto's trace."""
    found = sorted(Path(folder).glob("*.json.gz"))
    if len(found) != 1:
        raise Missing(f"{len(found)} JSON traces in {folder}")
    return Report(found[0])


def resnet50(folder):
    report = one_json(folder)
    same("device", report.json["run"]["devices"]["text"], "1 × Tesla V100-DGXS-32GB")
    same("kernels", report.value("kernels.count"), 8772)
    same("H2D", (report.value("transfers.h2d_count"), report.value("transfers.h2d_bytes")), (12, 115_607_040))
    same("busy and window, to 0.1 ms", [round(float(report.value(name)) * 1e3, 1) for name in ("device.busy", "run.window")], [603.6, 996.5])
    same("steps", report.value("steps.count"), 6)
    same("no diagnosis", report.json["diag"], [])


def bert(folder):
    report = one_json(folder)
    same("kernels", report.value("kernels.count"), 60)
    same("window, to 1 us", round(float(report.value("run.window")) * 1e3, 3), 3.908)
    same("utilization", round(float(report.value("device.utilization")) * 100, 2), 7.92)


def timesformer(folder):
    same("kernels", one_json(folder).value("kernels.count"), 447)


def mtia(folder):
    same("device events", [row["activities"] for row in one_json(folder).rows("devices")], [1313])


def all_are_named(traces):
    """list names each file that is called like a profile: as a run's, or as not taken."""
    done = run("list", "--json", "--no-cache", traces)
    listing = json.loads(done.stdout)
    named = {path for entry in listing["runs"] for path in entry["files"]} | {entry["path"] for entry in listing["not_taken"]}
    there = {str(path) for path in Path(traces).rglob("*") if path.name.endswith((".xplane.pb", ".json", ".json.gz"))}
    same("files that list does not name", there - named, set())
    true("the files of the folder", len(there) >= 24, f"only {len(there)}")


OF_ONE_KIND = [("tpu_v6e_inference", v6e_collectives), ("kineto_mi300_ddp", ddp), ("kineto_mi300_ddp", ddp_ops),
               ("gpu_v100x8_tf2", tensorflow_ops), ("kineto_2021_resnet50", resnet50), ("kineto_h100_bert", bert),
               ("kineto_mi300_timesformer", timesformer), ("kineto_mtia_inference", mtia)]
SHARED_TRACES = {
    "tpu_v6e_inference": (v6e, (26723, 99)),
    "bad_utf8_mangled": (mangled, None),
    "gpu_v100x8_tf2": (v100, (23128, 1)),
    "gpu_1080ti_xla_pair": (gtx1080ti, (55, None)),
    "gpu_mi300_jax_gemm": (gemm, (3782, None)),
    "gpu_mi300_jax_conv": (conv, (6024, 4)),
    "gpu_mi355_jax_te": (mi355, (1992, 4)),
}
FUNCTIONS = {
    "cpu1_annotated": ("^backend_compile_and_load$", [(1, "score"), (2, "score"), (3, "score")]),
    "cpu1_compile": ("^backend_compile_and_load$", [(0, "deep"), (1, "score"), (2, "train_step")]),
    "cpu1_compile_py": (r"^\$compiler\.py:\d+ compile_or_get_cached$", [(0, "deep"), (1, "deep")]),
}


def attempt(about, check, *args):
    tally.about = about
    try:
        check(*args)
    except Missing as missing:
        true(str(missing), False)
    except Exception as error:  # what a check stumbles over is a wrong report: go on with the next one
        true(f"{type(error).__name__}: {error}", False)


def main():
    if not os.access(PROGRAM, os.X_OK):
        print(f"{'FAIL' if CI else 'SKIP'}: IDSPROF names no program ({PROGRAM})")
        return 1 if CI else 77
    for name in RECORDED:
        if name in FUNCTIONS:
            attempt(name, compilation, name, FUNCTIONS[name][0].encode(), FUNCTIONS[name][1])
        else:
            attempt(name, {"cpu8_annotated": sharded, "cpu1_nohlo": no_hlo, "cpu1_plain": plain}.get(name, recorded), name)
    for path in sorted((SOURCE / "testdata" / "mini").glob("grade_*.mini")):
        attempt(path.name, graded, path)
    steps = {name: (events, len(steps) or 7) for name, (events, _, _, steps, _) in RECORDED.items()}
    attempt("list testdata", listed, SOURCE / "testdata", steps, 0)

    traces, there = SHARED / "traces", False
    for name, (check, _) in SHARED_TRACES.items():
        if (traces / name).is_dir():
            there = True
            attempt(name, check, traces / name)
        elif traces.is_dir():
            attempt(name, true, f"{traces / name} is missing", not CI)
    for name, check in OF_ONE_KIND:
        if (traces / name).is_dir():
            attempt(name, check, traces / name)
    if there:
        wanted = {name: want for name, (_, want) in SHARED_TRACES.items() if (traces / name).is_dir()}
        attempt("all files", all_are_named, traces)
        attempt("list shared", listed, traces, wanted, 2 if "bad_utf8_mangled" in wanted else 0)
    print(f"{tally.right + tally.wrong} facts, {tally.wrong} wrong")
    if tally.wrong:
        return 1
    if not there:
        print(f"{'FAIL' if CI else 'SKIP'}: {traces} holds no real traces: only testdata was checked")
        return 1 if CI else 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
