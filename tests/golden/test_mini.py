#!/usr/bin/env python3
"""Runs `idsprof report --json` on every testdata/mini/*.mini and holds it to what the file itself expects.

The expectations were derived by hand from the definitions of the metrics, each in the comments of its file, and stand there as

    #= args --small-kernel 50us                 more arguments for the run
    #= metric ID VALUE                          over all devices
    #= metric ID @DEVICEKEY VALUE               of one device
    #= reason ID SUBSTRING                      why there is no value ("" for: any reason, but one)
    #= rule ID SUBSTRING                        what the value rests on
    #= rows TABLE N
    #= cell TABLE COLUMN=VALUE COLUMN VALUE     of the one row that has VALUE in COLUMN
    #= grade ID WORD                            good, warn, bad, none
    #= advice N "SUBSTRING"                     of the Nth piece of advice; evidence N: of what it rests on; explain N: where to look
    #= unsaid "SUBSTRING"                       what no piece of advice says
    #= says KEY "SUBSTRING"                     of what the report says of the run

VALUE: 20us (s, ms, us, ns, ps: exact to the picosecond), 3/4 or 0.75 (ratio, to 1e-12), 42 (count, bytes), "text", nodata.
Beyond these, every report must be consistent in itself (see invariants).

    test_mini.py [-v] [NAME ...]     only these files, with or without .mini
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

SCALE = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
ACCOUNTS = ["work.compute", "comm.transfer", "comm.wait", "copy.h2d", "copy.d2h", "copy.d2d", "copy.p2p", "copy.set", "copy.other", "stall.device",
            "host.compile", "host.input", "host.sync", "host.staging", "host.runtime", "host.region", "host.python", "host.dispatch",
            "host.unknown", "device.in_program", "device.queue", "device.unknown", "profiler"]
NEVER_IDLE = ["work.compute", "stall.device"]
STEP_GROUPS = ["compute", "transfer", "wait", "copies", "stalled", "host", "device"]
ADDITIVE = ["device.busy", "device.working", "idle.gaps", "idle.total", "kernels.count", "kernels.small_count", "kernels.total"]


class Wrong(Exception):
    pass


def picoseconds(value):
    return Fraction(value) * 10**12


def expect(value, wanted):
    """Raises Wrong unless the JSON value is what the text says."""
    shown = "no data" if value is None else repr(value) if isinstance(value, str) else str(value)
    if wanted == "nodata":
        if value is not None:
            raise Wrong(f"{shown}, expected no data")
        return
    if value is None:
        raise Wrong(f"no data, expected {wanted}")
    if wanted.startswith('"'):
        if value != wanted.strip('"'):
            raise Wrong(f"{shown}, expected {wanted}")
        return
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value) and abs(int(value)) > 2**53:
        value = int(value)  # what a double cannot hold is written as a string
    if isinstance(value, (str, bool)):
        raise Wrong(f"{shown}, expected the number {wanted}")
    time = re.fullmatch(r"(-?[\d.]+)(s|ms|us|ns|ps)", wanted)
    if time:
        if picoseconds(value) != Fraction(time[1]) * SCALE[time[2]]:
            raise Wrong(f"{float(picoseconds(value)) / 1e6:.6f}us, expected {wanted}")
        return
    number = Fraction(wanted)
    if isinstance(value, int) and "." not in wanted and "/" not in wanted:
        right = value == number
    else:
        right = abs(Fraction(value) - number) <= abs(number) * Fraction(1, 10**12)
    if not right:
        raise Wrong(f"{shown}, expected {wanted}")


def metric(report, metric_id, device=None):
    if metric_id not in report["metrics"]:
        raise Wrong("there is no such metric")
    found = report["metrics"][metric_id]
    if device is None:
        return found["value"]
    value = found.get("by_device", {}).get(device)
    return value.get("value") if isinstance(value, dict) else value


def rows(report, table):
    if table not in report["tables"]:
        raise Wrong(f"there is no table {table}")
    found = report["tables"][table]
    names = [column["id"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


def check_line(report, line):
    kind, rest = line.split(None, 1)
    if kind == "metric":
        metric_id, rest = rest.split(None, 1)
        device = None
        if rest.startswith("@"):
            device, rest = rest[1:].split(None, 1)
        expect(metric(report, metric_id, device), rest)
    elif kind in ("reason", "rule"):
        metric_id, part = rest.split(None, 1)
        metric(report, metric_id)
        said = report["metrics"][metric_id].get(kind)
        if not said or part.strip('"') not in said:
            raise Wrong(f"the {kind} is {said!r}")
    elif kind == "grade":
        metric_id, word = rest.split()
        if report["metrics"][metric_id].get("grade", "none") != word:
            raise Wrong(f"the grade is {report['metrics'][metric_id].get('grade')}")
    elif kind == "says":
        key, part = rest.split(None, 1)
        if part.strip('"') not in str(report["run"].get(key)):
            raise Wrong(f"{key} is {report['run'].get(key)!r}")
    elif kind == "unsaid":
        if any(rest.strip('"') in advice["what"] for advice in report["advice"]):
            raise Wrong(f"there is advice with {rest}")
    elif kind in ("advice", "evidence", "explain"):
        place, part = rest.split(None, 1)
        found = report["advice"][int(place) - 1].get("what" if kind == "advice" else kind, "")
        if part.strip('"') not in found:
            raise Wrong(f"advice {place} is {found!r}")
    elif kind == "order":
        table, column, names = rest.split()
        if [row[column] for row in rows(report, table)] != names.split(","):
            raise Wrong("the order is " + ",".join(str(row[column]) for row in rows(report, table)))
    elif kind == "rows":
        table, count = rest.split()
        if len(rows(report, table)) != int(count):
            raise Wrong(f"{len(rows(report, table))} rows, expected {count}")
    elif kind == "cell":
        parsed = re.fullmatch(r'(\S+) (\w+)=("[^"]*"|\S+) (\w+) (.+)', rest)
        if not parsed:
            raise Wrong("not understood")
        table, key, wanted, column, value = parsed.groups()
        there = rows(report, table)
        if there and (key not in there[0] or column not in there[0]):
            raise Wrong("no such column; there are " + " ".join(there[0]))
        found = [row for row in there if str(row[key]) == wanted.strip('"')]
        if len(found) != 1:
            raise Wrong(f"{len(found)} rows have {key}={wanted}; there are " + " ".join(str(row[key]) for row in there))
        expect(found[0][column], value)
    else:
        raise Wrong("not understood")


def time_of(report, metric_id, device=None):
    """In picoseconds; None without one."""
    try:
        value = metric(report, metric_id, device)
    except Wrong:
        return None
    return None if value is None else picoseconds(value)


def is_window(report, device, own, working, window):
    """Whether that is a device's window: the run's, or of several hosts the part of it in which its own was recorded."""
    if report["run"]["hosts"] < 2:
        return own == window
    utilization = report["metrics"]["device.utilization"]["by_device"].get(device)
    return own <= window and (utilization is None or abs(Fraction(utilization) * own - working) <= own * Fraction(1, 10**12))


def invariants(report, args):
    """What holds in every report, whatever it is about; yields what does not."""

    def time(metric_id, device=None):
        return time_of(report, metric_id, device)

    total = time("idle.total")
    devices = report["metrics"].get("device.busy", {}).get("by_device", {})
    yield from closure(report)
    yield from layers_close(report)
    if total is not None and "gaps" in report["tables"]:
        gaps = rows(report, "gaps")
        if sum(picoseconds(row["duration"]) for row in gaps) != total or len(gaps) != metric(report, "idle.gaps"):
            yield "the table of gaps is not what idle.gaps and idle.total say"
    for device in devices:
        busy, working, idle = (time(name, device) for name in ("device.busy", "device.working", "idle.total"))
        window = time("device.window" if "--window device" in args else "run.window", None if "--window device" not in args else device)
        if busy is None:
            continue
        if working is not None and working > busy:
            yield f"{device} works longer than it is busy"
        if idle is not None and window is not None and not is_window(report, device, busy + idle, working, window):
            yield f"{device}: busy and idle are {float(busy + idle) / 1e6}us of a window of {float(window) / 1e6}us"
    for name in ADDITIVE:
        value = report["metrics"].get(name, {})
        parts = [part for part in value.get("by_device", {}).values() if part is not None]
        if parts and sum(map(Fraction, parts)) != (None if value["value"] is None else Fraction(value["value"])):
            yield f"{name}: the devices sum to {sum(parts)}, all of them are {value['value']}"
    exposed, overlapped, collective = (time("collectives." + name) for name in ("exposed", "overlapped", "total"))
    if None not in (exposed, overlapped, collective) and exposed + overlapped != collective:
        yield "collectives: exposed and overlapped are not the total"


def layers_close(report):
    """Every cut of the device time by ops has all of it, and the layers all that the ledger books to work; yields what does not."""
    if "op_categories" not in report["tables"] or "accounts" not in report["tables"]:
        return
    whole = sum(picoseconds(row["self"]) for row in rows(report, "op_categories"))
    count = sum(row["count"] for row in rows(report, "op_categories"))
    count -= sum(row["events"] - row["count"] for row in rows(report, "ops"))  # a run of a framework's op may be several
    layers = rows(report, "layers") if "layers" in report["tables"] else []
    roots = [row for row in layers if row["depth"] == 0]
    if sum(picoseconds(row["total"]) for row in roots) != whole or sum(row["self"] is not None and picoseconds(row["self"]) for row in layers) != whole:
        yield f"layers: the roots, or all that rows have themselves, are not {float(whole) / 1e6}us"
    if sum(row["count"] for row in roots) != count:
        yield f"layers: the roots have not {count} executions"
    for column, accounts in (("compute", "work."), ("collectives", "comm.transfer"), ("copies", "copy."), ("stalls", "stall.")):
        booked = sum(picoseconds(row["time"]) for row in rows(report, "accounts") if row["account"].startswith(accounts))
        if sum(picoseconds(row[column]) for row in roots) != booked:
            yield f"layers: the ledger books {float(booked) / 1e6}us to {accounts}*, and the layers do not"
    for place, row in enumerate(layers):
        inside = []
        for other in layers[place + 1:]:
            if other["depth"] <= row["depth"]:
                break
            if other["depth"] == row["depth"] + 1:
                inside.append(other)
        for column in ("total", "count", "ops"):
            own = row["self"] if column == "total" else 0
            parts = sum(Fraction(other[column]) for other in inside) + Fraction(own)
            if parts > Fraction(row[column]) or (column == "total" and parts != Fraction(row[column])):
                yield f"layers: {row['id']} is not its parts by {column}"
    for table in ("time_by_module", "time_by_source", "time_by_family"):
        if table in report["tables"] and sum(picoseconds(row["self"]) for row in rows(report, table)) != whole:
            yield f"{table} does not sum to {float(whole) / 1e6}us"


def closure(report):
    """The accounts are one book: they sum to what they divide, to the picosecond where nothing is a mean; yields what does not."""
    devices = report["metrics"].get("device.busy", {}).get("by_device", {})

    def time(metric_id, device=None):
        return time_of(report, metric_id, device)

    def sums(what, parts, whole, rounded=0):
        known = [part for part in parts if part is not None]
        if whole is None or not known:
            return None
        if len(known) != len(parts):
            return f"{what}: {len(parts) - len(known)} accounts have no value"
        if not 0 <= whole - sum(known) <= rounded:
            return f"{what}: the accounts sum to {float(sum(known)) / 1e6}us of {float(whole) / 1e6}us"
        return None

    idle = ["idle." + account for account in ACCOUNTS if account not in NEVER_IDLE]
    found = [sums("idle", [time(name) for name in idle], time("idle.total")),
             sums("a step", [time("steps." + account) for account in ACCOUNTS], time("steps.mean"))]
    for device in devices:
        found.append(sums(f"idle on {device}", [time(name, device) for name in idle], time("idle.total", device)))
    steps = rows(report, "steps") if "steps" in report["tables"] else []
    for row in steps:  # means over devices, each cut to a picosecond
        whole = picoseconds(row["duration"])
        for parts in (ACCOUNTS, STEP_GROUPS):
            found.append(sums(f"step {row['step']}", [picoseconds(row[part]) for part in parts], whole,
                              len(parts) - 1 if len(devices) > 1 else 0))
    if "ledger" in report["tables"] and rows(report, "accounts"):
        by_account = {row["account"]: picoseconds(row["time"]) for row in rows(report, "accounts")}
        by_culprit = dict.fromkeys(by_account, 0)
        for row in rows(report, "ledger"):
            by_culprit[row["account"]] = by_culprit.get(row["account"], 0) + picoseconds(row["time"])
        if by_account != by_culprit:
            found.append(f"the tables accounts and ledger differ: {by_account}, {by_culprit}")
        shares = sum(Fraction(row["share"]) for row in rows(report, "accounts"))
        if abs(shares - 1) > Fraction(1, 10**9):
            found.append(f"the shares of the accounts sum to {float(shares)}")
        if len(devices) == 1:
            whole = sum(picoseconds(row["duration"]) for row in steps) if steps else time("device.window")
            found.append(sums("the table accounts", list(by_account.values()), whole))
    known = [metric(report, f"ledger.{how}_share") for how in ("recorded", "inferred", "unknown")]
    if None not in known and abs(sum(map(Fraction, known)) - 1) > Fraction(1, 10**9):
        found.append(f"recorded, inferred and unknown sum to {sum(known)}")
    found.append(savings(report, time, devices, steps))
    yield from filter(None, found)


def savings(report, time, devices, steps):
    """They are disjoint parts of the step (or the window) of the device that decides."""
    told = [picoseconds(advice["saves"]) for advice in report["advice"] if advice["saves"] is not None]
    whole = max([picoseconds(row["slowest"]) for row in steps] if steps else [time("run.window") or 0], default=0)
    if len(devices) == 1 and steps:
        whole = time("steps.mean")
    if sum(told) > whole:
        return f"{float(sum(told)) / 1e6}us are to be saved of {float(whole) / 1e6}us"
    if told != sorted(told, reverse=True):
        return "advice is not in the order of what it saves"
    return None


def no_constant(text):
    raise ValueError(f"{text} is not JSON")


def check_file(program, path, expected=None, check=check_line):
    """The number of expectations in the file (or in another one), and the failures as texts."""
    with open(expected or path, encoding="utf-8") as file:
        lines = [line[2:].strip() for line in file if line.startswith("#=")]
    args = " ".join(line[4:].strip() for line in lines if line.split()[0] == "args")
    checks = [line for line in lines if line.split()[0] != "args"]
    command = [program, "report", "--json", "--no-cache", "--top", "100000", *args.split(), path]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return len(checks), ["the program did not end within a minute"]
    if done.returncode:
        return len(checks), [f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[-400:]}"]
    try:
        report = json.loads(done.stdout, parse_float=Decimal, parse_constant=no_constant)
    except ValueError as error:
        return len(checks), [f"not JSON: {error}"]
    failures = []
    if not checks:
        failures.append("the file expects nothing")
    if report.get("schema") != 2 or report.get("complete") is not True:
        failures.append("schema or complete is wrong")
    for line in checks:
        try:
            check(report, line)
        except Wrong as wrong:
            failures.append(f"{line}: {wrong}")
        except (KeyError, TypeError, ValueError) as error:
            failures.append(f"{line}: {type(error).__name__} {error}")
    try:
        failures += invariants(report, args)
    except (KeyError, TypeError, Wrong) as error:
        failures.append(f"invariants: {type(error).__name__} {error}")
    return len(checks), failures


def main():
    program, source = os.environ.get("IDSPROF"), os.environ.get("IDS_SOURCE_DIR")
    if not program or not source or not os.access(program, os.X_OK):
        print("IDSPROF or IDS_SOURCE_DIR is not set, or there is no such program")
        return 77
    names = [name.removesuffix(".mini") for name in sys.argv[1:] if name != "-v"]
    folder = os.path.join(source, "testdata", "mini")
    files = [name for name in sorted(os.listdir(folder)) if name.endswith(".mini") and (not names or name[:-5] in names)]
    if not files:
        print(f"no .mini files in {folder}")
        return 1
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda name: check_file(program, os.path.join(folder, name)), files))
    count = bad = 0
    for name, (checks, failures) in zip(files, results, strict=True):
        count += checks
        bad += len(failures)
        if "-v" in sys.argv and not failures:
            print(f"{name}: {checks} as expected")
        for failure in failures:
            print(f"{name}: {failure}")
    print(f"{len(files)} files, {count} expectations, {bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
