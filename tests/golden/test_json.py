#!/usr/bin/env python3
"""Runs `idsprof report --json` on JSON traces and holds it to what is known of them.

1. Every testdata/json/NAME.trace.json, written by hand, to NAME.expect beside it: the form and the invariants of test_mini.py, with
   the derivation of each figure in comments. Here a device may be named without its host (@/device:GPU:0), and
       #= run KEY "VALUE"       is what the report says of the run
       #= diag ID COUNT         the ledger has this of so many events
       #= advice ID WORD        the advice that ID explains, or its evidence, has this word
   Each is read as it is, packed with gzip, and with its events in another order, which must give the same.
2. The shared JSON traces to facts that are counted here with the module json alone: kernels, union of busy time, copies and bytes
   by direction, window, steps by ProfilerStep and launch.
3. The pairs of one run (gpu_1080ti_xla_pair, and cpu1_pair of testdata): what both files hold must come out equal.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_CI=1 (what is absent is a failure).  Exit: 0, 1, 77.

    test_json.py [-v] [NAME ...]     only files with one of these in their names
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import test_mini
from step_bounds import queued_before, step_bounds
from test_mini import Wrong

SOURCE = Path(os.environ.get("IDS_SOURCE_DIR") or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get("IDS_SHARED") or SOURCE.parent / "shared")
CI = os.environ.get("IDS_CI") == "1"
PROGRAM = os.environ.get("IDSPROF", "")

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import chrome_oracle  # noqa: E402

failures = []
count = 0


def fail(about, what):
    failures.append(f"{about}: {what}")


def same(about, what, got, want):
    global count
    count += 1
    if got != want:
        fail(about, f"{what} is {got}, expected {want}")


# ---- written by hand ----

def check_line(report, line):
    kind, rest = line.split(None, 1)
    if kind == "run":
        key, wanted = rest.split(None, 1)
        value = report["run"].get(key)
        test_mini.expect(value["text"] if isinstance(value, dict) else value, wanted)
        return
    words = rest.split()
    if kind == "diag":
        identity, count_wanted = rest.split()
        test_mini.expect(sum(entry["count"] for entry in report["diag"] if entry["id"] == identity), count_wanted)
        return
    if kind == "advice":
        said = [f"{advice['what']}; {advice['evidence']}" for advice in report["advice"] if advice["explain"] == words[0]]
        if not any(words[1] in text for text in said):
            raise Wrong(f"{said} does not say {words[1]}")
        return
    if kind == "metric" and len(words) > 1 and words[1].startswith("@"):
        there = report["metrics"].get(words[0], {}).get("by_device", {})
        keys = [key for key in there if key == words[1][1:] or key.endswith(":" + words[1][1:])]
        if len(keys) != 1:
            raise Wrong(f"{len(keys)} devices are called so; there are " + " ".join(there))
        line = line.replace(words[1], "@" + keys[0]) if " " not in keys[0] else None
        if line is None:        # a host like "rank 3": the line cannot say it
            test_mini.expect(test_mini.metric(report, words[0], keys[0]), words[2])
            return
    test_mini.check_line(report, line)


def by_hand(names, folder):
    jobs = []
    for path in sorted((SOURCE / "testdata" / "json").glob("*.trace.json")):
        name = path.name.removesuffix(".trace.json")
        if names and not any(part in name for part in names):
            continue
        data, expected = path.read_bytes(), path.with_name(name + ".expect")
        packed, other = folder / (name + ".trace.json.gz"), folder / (name + ".shuffled.trace.json")
        packed.write_bytes(gzip.compress(data))
        other.write_bytes(chrome_oracle.shuffled(data, 7))
        jobs += [(file, expected) for file in (path, packed, other)]
    if not jobs and not names:
        fail("testdata/json", "holds no traces")
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda job: test_mini.check_file(PROGRAM, str(job[0]), str(job[1]), check_line), jobs)
    global count
    for (path, _), (checks, wrong) in zip(jobs, results, strict=True):
        count += checks
        for what in wrong:
            fail(path.name, what)


# ---- the shared traces ----

def read(path):
    with gzip.open(path) as file:
        return json.load(file, parse_float=Decimal)


def ps(microseconds):
    """Picoseconds, rounded: see chrome_oracle.picoseconds."""
    return int((Decimal(microseconds) * 10**6).to_integral_value(ROUND_HALF_UP))


def span(event):
    return ps(event["ts"]), ps(event["ts"]) + ps(event.get("dur", 0))


def union(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        total += max(0, b - (a if end is None else max(a, end)))
        end = b if end is None else max(end, b)
    return total


class Report:
    def __init__(self, path):
        done = subprocess.run([PROGRAM, "report", "--json", "--no-cache", "--top", "100000", str(path)], capture_output=True, text=True,
                              timeout=100, check=False)
        if done.returncode:
            raise Wrong(f"exit {done.returncode}: {done.stderr.strip()[-400:]}")
        self.json = json.loads(done.stdout, parse_float=Decimal)
        same(path.name, "the ledger", list(test_mini.closure(self.json)), [])

    def value(self, name, device=None):
        metric = self.json["metrics"].get(name)
        if metric is None:
            raise Wrong(f"there is no metric {name}")
        if device is None:
            return metric["value"]
        found = [value for key, value in metric.get("by_device", {}).items() if key.endswith(device)]
        if len(found) != 1:
            raise Wrong(f"{name} of {device}: {len(found)} devices are called so")
        return found[0]

    def ps(self, name, device=None):
        value = self.value(name, device)
        return None if value is None else int(Decimal(value) * 10**12)

    def rows(self, table):
        found = self.json["tables"][table]
        names = [column["id"] for column in found["columns"]]
        return [dict(zip(names, row, strict=True)) for row in found["rows"]]


# PyTorch 1.8 and 1.9 call them so.
OLD = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "Runtime": "cuda_runtime", "Operator": "cpu_op"}
DIRECTIONS = {"Memcpy HtoD": "h2d", "Memcpy DtoH": "d2h", "Memcpy DtoD": "d2d", "Memcpy PtoP": "p2p"}


def kineto(about, path):
    trace, report = read(path), Report(path)
    events = trace["traceEvents"]
    for e in events:
        if "cat" in e:
            e["cat"] = OLD.get(e["cat"], e["cat"])
    gpu = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    same(about, "complete", report.json["complete"], True)
    same(about, "run.events", report.value("run.events"), sum(e["ph"] in "Xisf" for e in events))
    listed = trace.get("deviceProperties", [])
    model = [entry["name"] for entry in listed if entry["id"] == gpu[0]["pid"]]
    if not model and len({(entry["name"], entry["totalGlobalMem"]) for entry in listed}) == 1:
        model = [listed[0]["name"]]  # PyTorch on ROCm counts its devices in two ways
    same(about, "devices", report.json["run"]["devices"]["text"], "1 × " + (model[0] if model else "GPU"))
    if "rank" in trace.get("distributedInfo", {}):
        same(about, "host", {row["host"] for row in report.rows("devices")}, {"rank %d" % trace["distributedInfo"]["rank"]})
    kernels = [e for e in gpu if e["cat"] == "kernel"]
    same(about, "kernels.count", report.value("kernels.count"), len(kernels))
    same(about, "kernels.total", report.ps("kernels.total"), sum(ps(e["dur"]) for e in kernels))
    same(about, "kernels.small_count", report.value("kernels.small_count"), sum(ps(e["dur"]) < 10**8 for e in kernels))
    table = Counter()
    for row in report.rows("kernels"):
        table[row["name"]] += row["count"]
    same(about, "kernels by name", table, Counter(e["name"] for e in kernels))
    spans = [span(e) for e in gpu]
    window = max(end for _, end in spans) - min(start for start, _ in spans)
    same(about, "run.window", report.ps("run.window"), window)
    device = "/device:GPU:%d" % gpu[0]["pid"]
    same(about, "device.busy", report.ps("device.busy"), union(spans))
    same(about, f"device.busy of {device}", report.ps("device.busy", device), union(spans))
    same(about, "idle.total", report.ps("idle.total"), window - union(spans))
    copies = defaultdict(list)
    for e in gpu:
        if e["cat"] != "kernel":
            copies["memset" if e["cat"] == "gpu_memset" else DIRECTIONS[e["name"][:11]]].append(e)
    for kind in ("h2d", "d2h", "d2d", "p2p", "memset"):
        mine = copies[kind]
        same(about, f"transfers.{kind}_count", report.value(f"transfers.{kind}_count"), len(mine))
        if all("bytes" in e["args"] for e in mine):
            same(about, f"transfers.{kind}_bytes", report.value(f"transfers.{kind}_bytes"), sum(e["args"]["bytes"] for e in mine))
        same(about, f"transfers.{kind}_time", report.ps(f"transfers.{kind}_time"), union(span(e) for e in mine))
    nccl = [e for e in kernels if e["name"].startswith("nccl")]
    same(about, "collectives.count", report.value("collectives.count"), len(nccl))
    same(about, "collectives.total", report.ps("collectives.total"), union(span(e) for e in nccl))
    kinds = [collective(events, e) for e in nccl]
    reduces = [span(e) for e, kind in zip(nccl, kinds) if kind == "allreduce"]
    share, unknown = report.value("collectives.allreduce_share"), sum(kind is None for kind in kinds)
    same(about, "collectives.unknown", report.value("collectives.unknown"), unknown)
    same(about, "collectives.allreduce_share", share if share is None else round(float(share), 12),
         None if unknown else round(union(reduces) / window, 12))
    rows = Counter()
    for row in report.rows("collectives"):
        if row["class"] == "all-reduce":
            rows["count"] += row["count"]
            rows["ps"] += int(Decimal(row["total"]) * 10**12)
    same(about, "all-reduces of the table", (rows["count"], rows["ps"]), (len(reduces), sum(end - start for start, end in reduces)))
    same(about, "run.stats", report.value("run.stats"), sum(stats_of(e) for e in events if e["ph"] in "Xisf"))
    kineto_steps(about, events, gpu, report)
    advice_words(about, report, KINETO_WORDS, ("jit ", "jax", "lax.", "XLA", "tf.", "device_put"))


# What a remedy must say for who wrote the program, and what only others would understand.
KINETO_WORDS = {"host.dispatch": ("torch.compile", "broadcast_buffers"), "host.input": "DataLoader", "host.sync": ".item()", "copy.h2d": "pinned",
                "comm.transfer": "backward", "host.python": "torch.compile", "kernels.small_count": ("torch.compile", "use fused ones")}
JAX_WORDS = {"host.dispatch": "jit", "copy.h2d": "the step", "comm.transfer": "XLA", "kernels.small_count": "XLA"}


def advice_words(about, report, words, foreign):
    for advice in report.json["advice"]:
        remedy = advice["what"].rsplit(" - ", 1)[-1]
        wanted = words.get(advice["explain"], "")
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        same(about, f"one of {wanted} in the remedy of {advice['explain']}: {remedy}", any(word in remedy for word in wanted), True)
        same(about, f"words of another framework in the remedy of {advice['explain']}: {remedy}",
             [word for word in foreign if word in remedy], [])


def mtia(about, path):
    """A device that is no GPU: its events have a stream and no device, the pid is the device, waits of its queues are no kernels."""
    trace, report = read(path), Report(path)
    work = [e for e in trace["traceEvents"] if e.get("cat") == "mtia_ccp_events"]
    waits = [e for e in work if e["name"].startswith("event_")]
    copies = [e for e in work if e["name"] == "dma_request"]
    same(about, "device events", [row["activities"] for row in report.rows("devices")], [len(work)])
    same(about, "the device", [row["device"].split(":", 1)[1] for row in report.rows("devices")], ["/device:MTIA:17"])
    same(about, "devices", report.json["run"]["devices"]["text"], "1 × ARTEMIS")
    same(about, "kernels.count", report.value("kernels.count"), len(work) - len(waits) - len(copies))
    same(about, "device.busy", report.ps("device.busy"), union(map(span, work)))
    for direction, metric in ("HOST_TO_DEVICE", "h2d"), ("DEVICE_TO_HOST", "d2h"):
        mine = [e for e in copies if e["args"]["direction"] == direction]
        same(about, metric, (report.value(f"transfers.{metric}_count"), report.value(f"transfers.{metric}_bytes")),
             (len(mine), sum(e["args"]["size"] for e in mine)))
    same(about, "diag", report.json["diag"], [])


def collective(events, event):
    """Which collective a kernel is: by its args, else by the annotation around the call of its correlation where the kernel is one for
    all, or sends for another, else by its name. None: nothing says."""
    args = event["args"]
    if args.get("Collective name"):
        return args["Collective name"].replace("_", "")
    name = event["name"].replace("_", "").lower()
    if "generic" in name or "sendrecv" in name:
        calls = [e for e in events if e.get("args", {}).get("correlation") == args["correlation"] and e.get("cat", "").endswith("runtime")]
        around = [e["name"].split(":")[1].replace("_", "") for e in events for call in calls
                  if e.get("cat") == "user_annotation" and e["name"].startswith("nccl:") and e["tid"] == call["tid"]
                  and ps(e["ts"]) <= ps(call["ts"]) < ps(e["ts"]) + ps(e["dur"])]
        if around:
            return around[0]
    return next((kind for kind in ("allreduce", "allgather", "reducescatter", "sendrecv", "broadcast") if kind in name), None)


def stats_of(event):
    own = ("ph", "name", "pid", "tid", "ts", "dur", "args")
    return sum(key not in own for key in event) + len(event.get("args", {}))


def kineto_steps(about, events, gpu, report):
    """Steps by launch: an event of the GPU is of the step whose ProfilerStep encloses the start of the call with its correlation. A step
    begins where the work of the ones before has ended, or where its ProfilerStep begins, if that is later; the last one ends with its
    work or its ProfilerStep. What was launched before the first ProfilerStep belongs to none."""
    marks = sorted((span(e) + (int(e["name"].split("#")[1]),) for e in events
                    if e.get("cat") in ("user_annotation", "cpu_op") and e["name"].startswith("ProfilerStep#")))
    calls = {e["args"]["correlation"]: ps(e["ts"]) for e in events
             if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    work, streams = defaultdict(list), defaultdict(list)
    for e in sorted(gpu, key=span):
        called = calls.get(e["args"]["correlation"])
        step = [number for start, end, number in marks if called is not None and start <= called < end]
        work[step[0] if step else None].append(span(e))
        streams[e["args"]["stream"]].append(span(e) + (step[0] if step else None,))
    others = work.pop(None, [])
    same(about, "steps.source", report.value("steps.source"), "annotation" if work else "none")
    if not work:
        return
    same(about, "steps.count", report.value("steps.count"), len(work))
    same(about, "step numbers", [row["step"] for row in report.rows("steps")], sorted(work))
    bounds = step_bounds({number: (min(spans)[0], max(end for _, end in spans)) for number, spans in work.items()},
                         {number: (start, end) for start, end, number in marks}, others,
                         queued_before(min(work, key=lambda number: min(work[number])), streams.values()))
    first = min(start for start, _ in map(span, gpu))
    same(about, "steps", [(row["step"], ps_of(row["start"]) + first, ps_of(row["duration"])) for row in report.rows("steps")],
         [(number, start, end - start) for number, start, end in bounds])


def ps_of(seconds):
    return int(Decimal(seconds) * 10**12)


def vllm(about, path):
    trace, report = read(path), Report(path)
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    planes = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "process_name"}
    lines = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}
    same(about, "complete", report.json["complete"], True)
    same(about, "run.events", report.value("run.events"), len(events))
    same(about, "run.stats", report.value("run.stats"), sum(len(e.get("args", {})) for e in events))
    ops = defaultdict(list)
    for e in events:
        if planes[e["pid"]].startswith("/device:TPU:") and lines.get((e["pid"], e["tid"])) == "XLA Ops":
            ops[planes[e["pid"]]].append(e)
    same(about, "devices", len(report.rows("devices")), 2)
    every = [span(e) for mine in ops.values() for e in mine]
    same(about, "run.window", report.ps("run.window"), max(b for _, b in every) - min(a for a, _ in every))
    for device, mine in ops.items():
        same(about, f"device.busy of {device}", report.ps("device.busy", device), union(map(span, mine)))
        kernels = [e for e in mine if not e["args"].get("hlo_category", "").endswith(("-start", "-done"))]
        same(about, f"kernels.count of {device}", report.value("kernels.count", device), len(kernels))
        reduces = [e for e in mine if e["args"].get("hlo_category") == "all-reduce"]
        same(about, f"all-reduces of {device}", sum(1 for _ in reduces) > 0, True)
    same(about, "executions of the op table", sum(row["count"] for row in report.rows("ops")), sum(map(len, ops.values())))
    count_by_name = Counter(e["name"] for mine in ops.values() for e in mine)
    table = Counter()
    for row in report.rows("ops"):
        table[row["name"]] += row["count"]
    same(about, "ops by name", table, count_by_name)
    advice_words(about, report, JAX_WORDS, ("torch", "CUDA", ".item()", "DataLoader", "pinned", "tf."))


def pair(about, folder):
    """xplane.pb and trace.json.gz of one run. The JSON lacks 14 events (memory), kernel_details, program ids and the GPU's name."""
    xplane = Report(next(folder.rglob("*.xplane.pb")))
    other = Report(next(folder.rglob("*.trace.json.gz")))
    for name in ("kernels.count", "kernels.total", "kernels.median", "kernels.small_count", "device.busy", "device.window", "device.working",
                 "device.utilization", "run.window", "idle.total", "idle.gaps", "idle.longest", "idle.device.queue", "idle.device.unknown", "idle.host.unknown",
                 "occupancy.median", "transfers.h2d_count", "transfers.d2h_count", "collectives.count", "run.tracks",
                 "coverage.attributed_share"):
        same(about, name, other.value(name), xplane.value(name))
        if xplane.json["metrics"][name].get("by_device"):
            for device in ("/device:GPU:0", "/device:GPU:1"):
                same(about, f"{name} of {device}", other.value(name, device), xplane.value(name, device))
    for table, columns in (("ops", ("name", "module", "count", "self", "total")), ("kernels", ("name", "op", "module", "count", "total", "min", "max", "occupancy"))):
        same(about, table, [[row[column] for column in columns] for row in other.rows(table)],
             [[row[column] for column in columns] for row in xplane.rows(table)])
    same(about, "run.events", (xplane.value("run.events"), other.value("run.events")), (55, 41))


def cpu_pair(about, folder):
    """The same of the CPU client, recorded here. Its JSON lacks the ends of ops ("end: ..." and the links to them), so that times of
    ops are shorter, and the HLO; executions, steps and the window are in both."""
    xplane = Report(next(folder.rglob("*.xplane.pb")))
    other = Report(next(folder.rglob("*.trace.json.gz")))
    for name in ("steps.count", "steps.mean", "steps.median", "steps.p95", "steps.std", "run.window", "device.window", "compile.count"):
        same(about, name, other.value(name), xplane.value(name))
    same(about, "steps.count", other.value("steps.count"), 4)
    ops = lambda report: sorted([row["name"], row["module"], row["count"]] for row in report.rows("ops"))
    same(about, "ops", ops(other), ops(xplane))


def shared(names):
    traces, there = SHARED / "traces", 0
    checks = [(path, mtia if "mtia" in str(path) else kineto) for path in sorted(traces.glob("kineto_*/*.json.gz"))]
    checks += [(path, vllm) for path in sorted(traces.glob("tpu_vllm_*/plugins/profile/*/*.json.gz"))]
    if (traces / "gpu_1080ti_xla_pair").is_dir():
        checks.append((traces / "gpu_1080ti_xla_pair", pair))
    for path, check in checks:
        about = str(path.relative_to(traces))
        there += 1
        if names and not any(part in about for part in names):
            continue
        try:
            check(about, path)
        except Wrong as wrong:
            fail(about, wrong)
        except Exception as error:  # what a check stumbles over is a wrong report: go on with the next one
            fail(about, f"{type(error).__name__}: {error}")
    return there


def main():
    if not os.access(PROGRAM, os.X_OK):
        print(f"{'FAIL' if CI else 'SKIP'}: IDSPROF names no program ({PROGRAM})")
        return 1 if CI else 77
    names = [name for name in sys.argv[1:] if name != "-v"]
    with tempfile.TemporaryDirectory() as folder:
        by_hand(names, Path(folder))
    try:
        cpu_pair("cpu1_pair", SOURCE / "testdata" / "cpu1_pair")
    except Wrong as wrong:
        fail("cpu1_pair", wrong)
    there = shared(names)
    for failure in failures:
        print("FAIL", failure)
    print(f"{count} expectations, {len(failures)} failures")
    if failures:
        return 1
    if not there:
        print(f"{'FAIL' if CI else 'SKIP'}: {SHARED / 'traces'} holds no JSON traces: only testdata was checked")
        return 1 if CI else 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
