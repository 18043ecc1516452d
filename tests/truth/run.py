#!/usr/bin/env python3
"""Is the first piece of advice true?  Programs with a planted cause are recorded
live, real traces carry an engineer's verdict; one table says for each what was
true, what was said first, and how far its size is off.

    run.py planted [--all] [--once] [--platform cuda] [--keep DIR] [--again] [CAUSE ...]
    run.py ranks [--keep DIR] [--again]
    run.py traces [NAME ...]

--keep DIR puts captures there, --again reads what an earlier --keep left.
Environment: IDSPROF, IDS_PYTHON (with jax), IDS_SHARED (traces).
Exit: 0 all true, 1 one is wrong, 77 cannot run here.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
IDSPROF = os.environ.get("IDSPROF") or "idsprof"
PYTHON = os.environ.get("IDS_PYTHON") or sys.executable
WINDOW = 8      # recorded steps ...
WARM = 3        # ... after these
SIZE = 0.10     # the size may be off by this share of the truth ...
NOISE_MS = 0.5  # ... or by this: what Python's own tracer costs around a call
UNKNOWN = {"traced": 0.02, "sampled": 0.05}  # share of idle time that may be unknown or inferred
ATTEMPTS = 4    # recordings of a program that others hold up and of which something else is said, or too much is unknown
AHEAD = ["chrt", "-r", "1"]  # of what others do, where that is allowed; such threads take turns of 100 ms among themselves
CROWDS = ("rank_late", "ranks_late", "device_late")  # more threads than cores: they would hold each other up for whole turns
HELD_UP = 0.05  # of the recorded steps' time a program may be ready to run and have no core


class Cause:
    """One planted cause: what must be said of it first."""

    def __init__(self, account, culprit, where=None, sized=True, steps=WINDOW, crowded=False, difference=False):
        self.difference = difference  # the clock knows the size as a difference of steps, which others must not disturb
        self.account, self.culprit, self.where = account, culprit, where
        self.crowded = crowded  # it has more threads than the machine has cores, so that they hold each other up
        self.sized = sized  # False: what the cause takes is no clock's to measure (a wait hides work)
        self.steps = steps  # recorded


CAUSES = {
    "loader_sleep": Cause("host.input|host.python", "__next__"),
    "queue_sleep": Cause("host.input", "fetch"),
    # How much of it is the other thread's no clock of the loop knows.
    "collated": Cause("host.input", "read", sized=False),
    "loop_sleep": Cause("host.python", "augment"),
    "callback_sleep": Cause("host.python", "report_metrics"),
    "python_loop": Cause("host.python", "tokenize"),
    "gc_collect": Cause("host.python", "^collect garbage$", "planted.py"),
    "pickle_write": Cause("host.python", "write_state"),
    "json": Cause("host.python", "parse_records"),
    "regex": Cause("host.python", "clean_text"),
    "float_loss": Cause("host.sync", "^(__float__|float)$", "log_loss", difference=True),
    "asarray": Cause("host.sync", "asarray", "log_loss", difference=True),
    # A method of C++ leaves no frame: the runtime's Await is all that is recorded of it, and the place.
    "block": Cause("host.sync", "block_until_ready|Await", "log_loss", difference=True),
    "device_put": Cause("host.staging|host.sync", "", "upload"),
    "round_trip": Cause("host.staging|host.sync", "", "swap_parameters"),
    "new_shape": Cause("host.compile", "score"),
    "new_lambda": Cause("host.compile", "<lambda>"),
    "eager_adds": Cause("host.dispatch", "add", sized=False),
    # One op a step: fewer than 20 are too little to advise on.
    "tiny_step": Cause("host.dispatch", "train_step", sized=False, steps=300),
    "tiny_and_sleep": Cause("host.python", "augment", steps=30),
    "evaluation": Cause("host.region", "evaluation"),
    "checkpoint": Cause("host.region", "checkpoint_save"),
    "rank_late": Cause("host.python", "read_shard", "rank 1"),
    "device_late": Cause("comm.wait", "CPU#5", "work.compute", sized=False, crowded=True),
}
# Each cause at two lengths of a step, annotated at one of them.
SOME = [(20, True), (2, False)]
ALL = [(ms, annotated) for ms in (2, 20, 100) for annotated in (True, False)]


def report(run):
    done = subprocess.run([IDSPROF, "report", "--json", "--no-cache", str(run)], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode:
        return {"error": done.stderr.strip(), "metrics": {}, "tables": {}, "advice": []}
    return json.loads(done.stdout)


def rows(found, name):
    table = found["tables"].get(name) or {"columns": [], "rows": []}
    columns = [column["id"] if isinstance(column, dict) else column for column in table["columns"]]
    return [row if isinstance(row, dict) else dict(zip(columns, row)) for row in table["rows"]]


def first_of(found):
    """The first piece of advice that names an account."""
    for piece in found["advice"]:
        if piece.get("account"):
            return piece
    return {}


def matches(pattern, text):
    return re.search(pattern, text or "") is not None


class Verdicts:
    """The table, and whether all of it is true."""

    def __init__(self):
        self.wrong, self.count = [], 0
        print("| case | truth | said first | size | truth's size | unknown | |\n|---|---|---|---|---|---|---|", flush=True)

    def add(self, case, truth, said, size, true_size, unknown, faults):
        self.count += 1
        if faults:
            self.wrong.append(case)
        print("| %s | %s | %s | %s | %s | %s | %s |" % (case, truth, said, size, true_size, unknown,
                                                       ", ".join(faults) or "ok"), flush=True)

    def end(self, of_ten=0):
        """1 when more than `of_ten` in ten are wrong."""
        print("\n%d of %d are right%s" % (self.count - len(self.wrong), self.count,
                                         "; wrong: " + ", ".join(self.wrong) if self.wrong else ""))
        return 1 if len(self.wrong) * 10 > self.count * of_ten else 0


# --- planted ----------------------------------------------------------------------------------------------------------

# Each call recorded by JAX's own tracer; and what is recorded when nothing is asked for: sampled stacks.
RECORDERS = {"traced": ["--python-tracer", "1", "--stacks", "0"], "sampled": []}


def ahead_of_others(cause=""):
    """The words before a program with which others do not hold it up."""
    if cause in CROWDS:
        return []
    try:
        return AHEAD if subprocess.run([*AHEAD, "true"], capture_output=True, check=False).returncode == 0 else []
    except OSError:
        return []


def record(cause, ms, annotated, folder, recorder, platform):
    folder.mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("PROFILE_", "IDSPROF_", "JAX_", "XLA_")) and key != "PYTHONPATH"}
    environment["JAX_PLATFORMS"] = platform
    environment["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # other programs use the GPU too
    if cause == "device_late":
        environment["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    # Before the loop other programs run, which are no steps.
    when = ["--start-step", str(WARM), "--steps", str(CAUSES[cause].steps if cause in CAUSES else WINDOW), "--step-executable", "train_step"]
    ahead = ahead_of_others(cause) if platform == "cpu" else []  # threads that wait for a GPU spin
    done = subprocess.run([*ahead, IDSPROF, "capture", "-q", *when, *recorder, "-o", folder / "run", "--", PYTHON,
                           HERE / "planted.py", cause, str(ms), "yes" if annotated else "no", folder / "truth.json"],
                          env=environment, capture_output=True, text=True, timeout=300, check=False)
    (folder / "log").write_text(done.stdout + done.stderr)


def unknown_share(found):
    """Of idle time, what no event covers, or is only inferred."""
    metrics = found["metrics"]
    idle = unknown = 0
    for name, metric in metrics.items():
        if re.fullmatch(r"idle\.(host|device)\.[a-z_]+", name) and isinstance(metric.get("value"), (int, float)):
            idle += metric["value"]
            unknown += metric["value"] if name.endswith(".unknown") else 0
    inferred = sum((row["time"] or 0) for row in rows(found, "ledger")
                   if row["known"] not in ("recorded", "place inferred") and re.match(r"(host|device)\.(?!unknown)", row["account"]))
    return (unknown + inferred) / idle if idle else 0.0


def held_up(folder, recorded):
    """Of the recorded steps, the share in which the program was ready to run and had no core, by its own clock."""
    if not (folder / "truth.json").exists():
        return 1.0
    clock = json.loads((folder / "truth.json").read_text())
    held = clock["held_ms"]
    return (held[str(WARM + recorded)] - held[str(WARM)]) / sum(clock["step_ms"][WARM:WARM + recorded])


def true_time(clock, steps, annotated):
    """Of the recorded steps, by the program's own clock. Without annotations a step is from one call to the next:
    what comes before the next call is its own."""
    shift = 1 if clock["before_the_call"] and not annotated else 0
    spent = [clock["cause_ms"][step + shift] for step in steps if 0 <= step + shift < len(clock["cause_ms"])]
    return sum(spent) / len(spent) if spent else 0.0


def judge_planted(name, ms, annotated, folder, recorder):
    """A row of the table; its last cell are the faults, and whether others held the program up."""
    cause = CAUSES[name]
    case = "%s %g ms%s" % (name, ms, "" if annotated else ", not annotated")
    truth = "%s: %s%s" % (cause.account, cause.culprit or "*", " at " + cause.where if cause.where else "")
    if not (folder / "truth.json").exists():
        return (case, truth, "", "", "", "", ["the program failed: %s" % (folder / "log")]), False
    clock = json.loads((folder / "truth.json").read_text())
    captures = sorted((folder / "run").glob("*"))
    found = report(captures[0]) if captures else {"error": "no capture", "advice": [], "tables": {}, "metrics": {}}
    share = held_up(folder, cause.steps)
    disturbed = share > HELD_UP and not cause.crowded
    # Where others held the program up, that may well be the first thing to say; what was planted must be said all the same.
    first = first_of(found)
    pieces = [piece for piece in found["advice"] if piece.get("account")]
    piece = next((piece for piece in pieces if not faults_of(cause, piece)), first) if disturbed else first
    steps = [row["step"] for row in rows(found, "steps")]
    true_ms = true_time(clock, steps, annotated)
    size_ms = 1e3 * saved(piece)
    unknown = unknown_share(found)
    sized = cause.sized and not (cause.difference and disturbed)
    faults = [found["error"][:80]] if "error" in found else faults_of(cause, piece)
    if not faults and sized and abs(size_ms - true_ms) > max(SIZE * true_ms, NOISE_MS):
        faults.append("size")
    left_out = ((found.get("run") or {}).get("steps") or {}).get("left_out") is not None  # the window opened with the first one
    if len(steps) + left_out != cause.steps and "error" not in found:
        faults.append("%d steps" % len(steps))
    if unknown > UNKNOWN[recorder]:
        faults.append("unknown")
    said = "%s: %s (%s)" % (piece.get("account"), piece.get("culprit"), piece.get("where"))
    if piece is not first:
        said += "; first %s: %s, with %.0f %% of the time without a core" % (first["account"], first.get("culprit"), 100 * share)
    return (case, truth, said, "%.2f ms" % size_ms, "%.2f ms" % true_ms if sized else "-", "%.1f %%" % (100 * unknown),
            faults), disturbed and (faults or piece is not first) or faults == ["unknown"]


def saved(piece):
    saves = piece.get("saves")
    return (saves.get("value") if isinstance(saves, dict) else saves) or 0


def faults_of(cause, piece):
    """What of a piece of advice is not the cause."""
    if not matches("^(%s)$" % cause.account, piece.get("account")):
        return ["account"]
    if not matches(cause.culprit, piece.get("culprit")):
        return ["culprit"]
    return ["where"] if cause.where and not matches(cause.where, piece.get("where")) else []


def has_jax():
    """Whether programs can be recorded; says so where they cannot."""
    if not subprocess.run([PYTHON, "-c", "import jax"], capture_output=True, check=False).returncode:
        return True
    print("SKIP: %s has no jax" % PYTHON)
    return False


def planted(arguments):
    if not has_jax():
        return 77
    recorder = "sampled" if arguments.sampled else "traced"
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(arguments.keep or temporary)
        for name in arguments.names or [name for name in CAUSES if arguments.platform == "cpu" or name not in CROWDS]:
            for ms, annotated in ALL if arguments.all else SOME[:1] if arguments.once else SOME:
                folder = root / ("%s-%g-%s" % (name, ms, "yes" if annotated else "no"))
                for attempt in range(ATTEMPTS):
                    again = arguments.again and folder.exists()
                    if not again:
                        shutil.rmtree(folder, ignore_errors=True)
                        record(name, ms, annotated, folder, RECORDERS[recorder], arguments.platform)
                    row, was_disturbed = judge_planted(name, ms, annotated, folder, recorder)
                    if again or not was_disturbed:
                        break
                verdicts.add(*row)
    return verdicts.end(arguments.let_pass)


# --- ranks ------------------------------------------------------------------------------------------------------------

SHIFT_NS = 300000000  # by what the clock of one file is moved


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def as_varint(value):
    text = bytearray()
    while value > 127:
        text.append(value & 127 | 128)
        value >>= 7
    text.append(value)
    return bytes(text)


def fields(data):
    """(number, wire type, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = 8 if key & 7 == 1 else 4
            value, at = data[at:at + length], at + length
        yield key >> 3, key & 7, value


def changed(data, change):
    """The message with each field as `change` makes it."""
    text = bytearray()
    for number, wire, value in fields(data):
        value = change(number, value)
        text += as_varint(number << 3 | wire)
        text += as_varint(value) if wire == 0 else as_varint(len(value)) + value if wire == 2 else value
    return bytes(text)


def moved(space, by_ns):
    """An XSpace whose lines begin that much later: XSpace.planes 1, XPlane.lines 3, XLine.timestamp_ns 3."""
    def of_line(line):
        has = any(number == 3 for number, _, _ in fields(line))
        line = changed(line, lambda number, value: value + by_ns if number == 3 else value)
        return line if has else line + as_varint(3 << 3) + as_varint(by_ns)

    return changed(space, lambda number, plane: changed(
        plane, lambda of, line: of_line(line) if of == 3 else line) if number == 1 else plane)


def judge_ranks(case, found, true_ms, where, behaviour):
    """The first piece names the rank or ranks, the function and its time; what is said of the straggler is `behaviour`."""
    piece = first_of(found)
    faults = [found["error"][:80]] if "error" in found else faults_of(Cause("host.python", "^read_shard$", where), piece)
    if not faults and abs(1e3 * saved(piece) - true_ms) > SIZE * true_ms:
        faults.append("size")
    straggler = (found.get("run") or {}).get("straggler") or ""
    if behaviour not in straggler or behaviour not in (piece.get("evidence") or ""):
        faults.append("straggler: %r" % straggler)
    return (case, "host.python: read_shard at %s, %s" % (where, behaviour),
            "%s: %s (%s), %s" % (piece.get("account"), piece.get("culprit"), piece.get("where"), straggler),
            "%.2f ms" % (1e3 * saved(piece)), "%.2f ms" % true_ms, "%.1f %%" % (100 * unknown_share(found)), faults)


def offset_of(found):
    return (found["metrics"].get("clocks.offset") or {}).get("value") or 0.0


def judge_moved(run, true_ms):
    """One file's times moved by 300 ms, ahead or behind: the same is said, and the offset is."""
    moved_to = run.with_name(run.name + "-moved")
    shutil.rmtree(moved_to, ignore_errors=True)
    shutil.copytree(run, moved_to)
    file = sorted(moved_to.rglob("*rank1.xplane.pb"))[0]
    file.write_bytes(moved(file.read_bytes(), SHIFT_NS))
    first, second = report(run), report(moved_to)
    row = judge_ranks("2 ranks, one clock 300 ms off", second, true_ms, "rank 1", "steady")
    one, other = first_of(first), first_of(second)
    same = all(one.get(key) == other.get(key) for key in ("account", "culprit", "where")) and \
        abs(saved(one) - saved(other)) < 0.01 * saved(one)
    by_ms = 1e3 * abs(offset_of(second) - offset_of(first)), 1e3 * (offset_of(second) + offset_of(first))
    near = min(abs(by - 300) for by in by_ms) < 3
    return [row, ("... the same, and the offset", "offset 300 ms", "the same" if same else "another",
                  "%.2f ms" % (1e3 * offset_of(second)), "300 ms from %.2f" % (1e3 * offset_of(first)), "-",
                  ([] if same else ["not the same"]) + ([] if near else ["offset"]))]


def judge_run_of_ranks(name, folder, where, behaviour):
    """The rows of the table for one recording."""
    runs = sorted(run for run in (folder / "run").glob("*") if not run.name.endswith("-moved"))
    if not runs or not (folder / "truth.json").exists():
        return [(name, "", "", "", "", "", ["the program failed: %s" % (folder / "log")])]
    slept = [ms for ms in json.loads((folder / "truth.json").read_text())["cause_ms"][WARM:WARM + WINDOW] if ms]
    true_ms = sum(slept) / len(slept)  # each step has one rank that sleeps
    table = [judge_ranks("%d ranks" % (2 if name == "rank_late" else 4), report(runs[0]), true_ms, where, behaviour)]
    return table + (judge_moved(runs[0], true_ms) if name == "rank_late" else [])


def ranks(arguments):
    if not has_jax():
        return 77
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(arguments.keep or temporary)
        for name, where, behaviour in (("rank_late", "rank 1", "steady"), ("ranks_late", "changing ranks", "changing")):
            folder = root / name
            for attempt in range(ATTEMPTS):
                again = arguments.again and folder.exists()
                if not again:
                    shutil.rmtree(folder, ignore_errors=True)
                    record(name, 2, True, folder, RECORDERS["traced"], "cpu")
                table = judge_run_of_ranks(name, folder, where, behaviour)
                wrong = any(row[-1] for row in table)
                if again or not wrong or held_up(folder, WINDOW) <= HELD_UP:
                    break
            for row in table:
                verdicts.add(*row)
    return verdicts.end()


# --- real traces ------------------------------------------------------------------------------------------------------

class Verdict:
    """What an engineer says of a real trace: the first thing to say and its share
    of the step (or of the window), from a reading of the file that is not
    idsprof's.  `also`: accounts whose share was found too."""

    def __init__(self, account, culprit, share, also=None, where=None):
        self.account, self.culprit, self.share, self.also, self.where = account, culprit, share, also or {}, where


VERDICTS = {
    # Eager DDP, 2,700 small kernels, no loader in the trace.
    "kineto_nccl_a100": Verdict("host.dispatch", "", 0.687, {"comm": 0.060, "work.compute": 0.175}),
    # Of its three steps; of the window, which has 30 ms of all-reduces before them, 64.3 % and 29.7 % of compute.
    "kineto_mi300_ddp": Verdict("comm.transfer|comm.wait", "nccl", 0.624, {"work.compute": 0.340, "copy": 0.030}),
    # One batch of a server that schedules ahead: for 463 ms its first kernel waits behind hipStreamWaitEvent for the batch before, which is
    # not in the file. Its own 10.4 ms are 9.7 ms of compute, in one graph; that is 2.1 % of the window. (The verdict was the queue, before anybody read the wait.)
    "kineto_mi300_sglang_decode": Verdict("work.compute", "", 0.021),
    # Each step begins with 50 to 69 ms of the loader, of 178. A reading that leaves out the first one, before the first kernel, and calls
    # the ops that the loader runs itself dispatch, says 18.8 % input and 19.1 % dispatch: the first two.
    "kineto_2021_resnet50": Verdict("host.input", "DataLoader", (0.28, 0.36)),
    # First calls of the runtime are one cause: cudaFree 49.9 %, cudaLaunchKernel 26.3 %, cudaStreamCreateWithFlags 3.0 %, cudaMalloc 1.8 %.
    "kineto_cold_start": Verdict("host.runtime", "cudaFree", 0.81, {"host.runtime": 0.97}),
    # A kernel's launch that the reading knows not why it is late (9.6 %) may be dispatch too.
    "kineto_big_v100": Verdict("host.dispatch", "", (0.297, 0.393), {"comm": 0.206, "work.compute": 0.358}),
    "kineto_v100_test": Verdict("copy.d2d", "", 0.115, {"copy": 0.129, "comm": 0.098, "work.compute": 0.736}),
    "kineto_h100_bert": Verdict("host.dispatch", "", 0.889),
    "kineto_mi300_timesformer": Verdict("host.python", "run_on_input", (0.60, 0.72)),
    "gpu_mi300_jax_elementwise": Verdict("host.dispatch", "", 0.489, {"device.queue": 0.105}),
    "gpu_mi300_jax_gemm": Verdict("host.dispatch", "run_gemms", 0.601, {"device.queue": 0.032}),
    "gpu_mi355_jax_te": Verdict("work.compute", "", 0.924),
    # A step of TensorFlow's own marks; 19.9 ms on GPU:4, 21.3 on GPU:6.
    "gpu_v100x8_tf2": Verdict("work.compute|host.dispatch", "", None),
    # Offloaded arrays of 5,368,709,120 bytes through host memory, 0.57 to 0.70 of the window of 92.49 s to the device; the 99 periods of
    # jit_f are 77.55 s of it. Most of the time they go both ways at once, and are one piece: of a step of 784 ms to the device alone
    # 26.8 ms, both ways 559.8, to the host alone 174.8, by a count over the events of TPU:2.
    "tpu_v6e_inference": Verdict("copy.h2d", "", 761.4 / 784),
    "tpu_vllm_before": Verdict("work.compute", "", (0.90, 1.0)),
    "tpu_vllm_after": Verdict("work.compute", "", (0.90, 1.0)),
}


def shares(found):
    """Of the step or the window by account, and by the account's first word."""
    result = {}
    for row in rows(found, "accounts"):
        for name in {row["account"], row["account"].split(".")[0]}:
            result[name] = result.get(name, 0) + (row["share"] or 0)
    return result


def is_near(share, true):
    low, high = true if isinstance(true, tuple) else (true * (1 - SIZE), true * (1 + SIZE))
    return low - 0.005 <= share <= high + 0.005


def judge_trace(verdicts, name, run):
    verdict, found = VERDICTS[name], report(run)
    piece, by_account = first_of(found), shares(found)
    faults = [found["error"][:80]] if "error" in found else []
    if not matches("^(%s)$" % verdict.account, piece.get("account")):
        faults.append("account")
    elif not matches(verdict.culprit, piece.get("culprit")):
        faults.append("culprit")
    share = share_of(found, piece, by_account)
    if not faults and verdict.share and not is_near(share, verdict.share):
        faults.append("size")
    faults += ["%s %.1f %%, not %.1f" % (account, 100 * by_account.get(account, 0), 100 * true)
               for account, true in verdict.also.items() if not is_near(by_account.get(account, 0), true)]
    true = verdict.share
    verdicts.add(name, "%s%s" % (verdict.account, ": " + verdict.culprit if verdict.culprit else ""),
                 "%s: %s (%s)" % (piece.get("account"), (piece.get("culprit") or "")[:60], piece.get("where")),
                 "%.1f %%" % (100 * share),
                 "-" if not true else "%.1f to %.1f %%" % (100 * true[0], 100 * true[1]) if isinstance(true, tuple) else
                 "%.1f %%" % (100 * true), "%.1f %%" % (100 * unknown_share(found)), faults)


def share_of(found, piece, by_account):
    """Of the step or the window: what the first piece saves; of compute, which saves nothing, the account."""
    account = piece.get("account") or ""
    if account == "work.compute" or not isinstance(piece.get("saves"), (int, float)):
        return by_account.get(account, 0)
    share = re.search(r"([\d.]+) % of the (step|window)", piece.get("evidence") or "")
    return float(share[1]) / 100 if share else 0.0


def traces(arguments):
    folder = Path(os.environ.get("IDS_SHARED") or HERE.parents[2] / "shared") / "traces"
    if not folder.is_dir():
        print("SKIP: no real traces in '%s'" % folder)
        return 77
    verdicts = Verdicts()
    for name in arguments.names or VERDICTS:
        judge_trace(verdicts, name, folder / name)
    return verdicts.end()


def main(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["planted", "ranks", "traces"])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--sampled", action="store_true", help="record with default options: sampled stacks")
    parser.add_argument("--once", action="store_true", help="one length of a step")
    parser.add_argument("--platform", default="cpu", help="where the planted programs run (JAX_PLATFORMS)")
    parser.add_argument("--let-pass", type=int, default=0, metavar="N", help="so many in ten planted programs may be wrong")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args(words)
    return {"planted": planted, "ranks": ranks, "traces": traces}[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
