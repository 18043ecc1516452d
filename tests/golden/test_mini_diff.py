#!/usr/bin/env python3
"""Runs `idsprof diff --json` on every pair testdata/mini/diff/*/{a,b}.mini and holds it to what b.mini expects.

The expectations were derived by hand in the comments of the files, and stand there as

    #= args --force                             more arguments for the run
    #= exit N
    #= error SUBSTRING                          of standard error
    #= property ID VALUE                        of the object "run"
    #= rows TABLE N
    #= cell TABLE COLUMN=VALUE COLUMN VALUE     of the one row that has VALUE in COLUMN (test_mini.py)
    #= finding ID "SEVERITY"
    #= change "TEXT" VALUE                      the one change whose text holds TEXT, and what it costs
    #= unsaid "TEXT"                            no change has TEXT
    #= first CULPRIT                            the first cause's
    #= absent TABLE

VALUE as in test_mini.py. Beyond these every comparison must be consistent in itself: parts and contributions sum to the whole.
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_mini import Wrong, expect, picoseconds, rows  # noqa: E402


def cell(result, rest):
    parsed = re.fullmatch(r'(\S+) (\w+)=("[^"]*"|\S+) (\w+) (.+)', rest)
    if not parsed:
        raise Wrong("not understood")
    table, key, wanted, column, value = parsed.groups()
    found = [row for row in rows(result, table) if str(row[key]) == wanted.strip('"')]
    if len(found) != 1:
        raise Wrong(f"{len(found)} rows have {key}={wanted}")
    if column not in found[0]:
        raise Wrong("no such column")
    expect(found[0][column], value)


def check_line(result, done, line):
    kind, rest = line.split(None, 1)
    if kind == "exit":
        if done.returncode != int(rest):
            raise Wrong(f"exit code {done.returncode}: {done.stderr.decode()}")
    elif kind == "error":
        if rest.strip('"') not in done.stderr.decode():
            raise Wrong(f"standard error is {done.stderr.decode()!r}")
    elif kind == "property":
        name, value = rest.split(None, 1)
        expect(result["run"].get(name), value)
    elif kind == "rows":
        table, count = rest.split()
        if len(rows(result, table)) != int(count):
            raise Wrong(f"{len(rows(result, table))} rows")
    elif kind == "cell":
        cell(result, rest)
    elif kind == "finding":
        name, severity = rest.split(None, 1)
        found = [row["severity"] for row in rows(result, "findings") if row["id"] == name]
        if found != ([] if severity == "none" else [severity.strip('"')]):
            raise Wrong(f"found {found}")
    elif kind == "change":
        parsed = re.fullmatch(r'"([^"]*)" (.+)', rest)
        found = [row for row in rows(result, "changes") if parsed[1] in row["text"]]
        if len(found) != 1:
            raise Wrong(f"{len(found)} changes of {[row['text'] for row in rows(result, 'changes')]}")
        expect(found[0]["change"], parsed[2])
    elif kind == "unsaid":
        found = [row["text"] for row in rows(result, "changes") if rest.strip('"') in row["text"]]
        if found:
            raise Wrong(f"said: {found}")
    elif kind == "first":
        found = rows(result, "waterfall")[0]["culprit"]
        if found != rest:
            raise Wrong(f"the first cause is {found}'s")
    elif kind == "absent":
        if rest in result["tables"]:
            raise Wrong("it is there")
    else:
        raise Wrong("not understood")


def weight_of(row):
    """What may be chance (its interval holds zero, and it is neither a fact nor of one side) counts a tenth."""
    of_program = row["culprit"] and re.search(r":\d", row["where"] or "") and row["kind"] in ("culprit", "launches")
    of_one_side = of_program and min(row["a"], row["b"]) <= Decimal("0.01") * max(row["a"], row["b"])
    may_be_chance = row["verdict"] == "unsure" and not row["structural"] and row["account"] != "host.compile" and not of_one_side
    return row["rank"] / 10 if may_be_chance else row["rank"]


def invariants(result):
    run = result["run"]
    if "parts" not in result["tables"]:
        return
    value = {name: picoseconds(run[name]) for name in run if name.startswith(("change", "whole", "remainder"))}
    if value["whole_b"] - value["whole_a"] != value["change"]:
        yield "the whole is not its sides"
    parts = sum(picoseconds(row["change"]) for row in rows(result, "parts"))
    if parts + value["remainder"] != value["change"]:
        yield f"the parts sum to {float(parts) / 1e6}us of {float(value['change']) / 1e6}us"
    causes = rows(result, "waterfall")
    if abs(sum(picoseconds(row["change"]) for row in causes) - value["change"]) > len(causes):
        yield "the waterfall does not sum to the change"
    order = [-weight_of(row) for row in causes if row["kind"] != "unexplained"]
    told, least = [row for row in causes if row["kind"] != "unexplained"], max(abs(value["change"]) / 50, value["whole_a"] / 1000)
    if len(causes) != len(told) + 1 or order != sorted(order):
        yield f"the waterfall is not in order: {causes}"
    even = [row for row in told if row["kind"] == "even"]
    for row in told:
        if row["low"] is not None and not row["low"] <= row["change"] <= row["high"]:
            yield f"a cause outside of its interval: {row}"
        if even and row["account"] == "work.compute":
            continue  # its change is what the even one leaves
        is_small = abs(picoseconds(row["change"])) < least - 1 and row["kind"] != "account"  # whole accounts are few, and all are told
        if abs(picoseconds(row["b"]) - picoseconds(row["a"]) - picoseconds(row["change"])) > 1 or is_small:
            yield f"a cause of the waterfall: {row}"
        if row["low"] is not None and not row["low"] <= row["change"] <= row["high"]:
            yield f"a cause outside of its interval: {row}"
    for part in rows(result, "parts"):
        own = sum(picoseconds(row["change"]) for row in told if row["account"] == part["part"])
        if "unknown" not in part["part"] and part["id"].startswith("steps.") and abs(own - picoseconds(part["change"])) > least + 10:
            yield f"the causes of {part['part']} sum to {own}, the account changed by {part['change']}"
    terms = ("change_by_ops", "change_without_op", "change_by_overlap", "change_idle")
    if sum(value[term] for term in terms) != value["change"]:
        yield "the contributions do not sum to the change"
    table = "ops" if rows(result, "ops") else "kernels"
    ops = sum(picoseconds(row["change"]) for row in rows(result, table))
    if abs(ops - value["change_by_ops"]) > len(rows(result, table)):  # a picosecond of rounding each
        yield f"the {table} sum to {float(ops) / 1e6}us of {float(value['change_by_ops']) / 1e6}us"
    alike = rows(result, "computations")
    if sum(row["ops"] or 1 for row in alike) != len(rows(result, "ops")):
        yield f"{len(rows(result, 'ops'))} ops, and by what they compute {sum(row['ops'] or 1 for row in alike)}"
    for side in ("a", "b", "change"):
        one, other = (sum(picoseconds(row[side] or 0) for row in some) for some in (alike, rows(result, "ops")))
        if abs(one - other) > len(rows(result, "ops")):
            yield f"{side} of ops is {other}, by what they compute {one}"
    for row in rows(result, table):
        if (row["class"] == "added") != (row["a"] is None) or (row["class"] == "removed") != (row["b"] is None):
            yield f"{row['name']} is {row['class']}"
        if (row["a"] is None or row["b"] is None) and (row["ratio"] is not None or row["by"] is not None):
            yield f"{row['name']}: a ratio of nothing"


def check_pair(program, folder):
    with open(os.path.join(folder, "b.mini"), encoding="utf-8") as file:
        lines = [line[2:].strip() for line in file if line.startswith("#=")]
    args = " ".join(line[4:].strip() for line in lines if line.split()[0] == "args")
    checks = [line for line in lines if line.split()[0] != "args"]
    command = [program, "diff", "--json", "--no-cache", *args.split(), os.path.join(folder, "a.mini"), os.path.join(folder, "b.mini")]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    try:
        result = json.loads(done.stdout, parse_float=Decimal)
    except ValueError as error:
        return len(checks), [f"not JSON: {error}: {done.stderr.decode()}"]
    failures = [] if checks else ["the pair expects nothing"]
    for line in checks:
        try:
            check_line(result, done, line)
        except Wrong as wrong:
            failures.append(f"{line}: {wrong}")
        except (KeyError, TypeError, ValueError) as error:
            failures.append(f"{line}: {type(error).__name__} {error}")
    return len(checks), failures + list(invariants(result))


def check_itself(program, folder):
    """A against itself: no difference, exit 0."""
    path = os.path.join(folder, "a.mini")
    done = subprocess.run([program, "diff", "--json", "--no-cache", path, path], capture_output=True, timeout=60, check=False)
    result = json.loads(done.stdout, parse_float=Decimal)
    failures = list(invariants(result))
    if done.returncode or result["run"]["verdict"] != "same" or result["run"]["change"] != 0:
        failures.append(f"exit {done.returncode}, {result['run']['verdict']}, {result['run']['change']}")
    failures += [f"{row['name']} is {row['class']}" for row in rows(result, "ops") + rows(result, "kernels") if row["class"] != "same"]
    failures += [f"{row['id']} is {row['verdict']}" for row in rows(result, "headline") if row["verdict"] not in ("same", "no_data")]
    failures += [f"a change: {row['text']}" for row in rows(result, "changes")]
    return 1, failures


def main():
    program, source = os.environ.get("IDSPROF"), os.environ.get("IDS_SOURCE_DIR")
    if not program or not source or not os.access(program, os.X_OK):
        print("IDSPROF or IDS_SOURCE_DIR is not set, or there is no such program")
        return 77
    top = os.path.join(source, "testdata", "mini", "diff")
    names = sorted(name for name in os.listdir(top) if len(sys.argv) < 2 or name in sys.argv[1:])
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda name: check_pair(program, os.path.join(top, name)), names))
        itself = list(pool.map(lambda name: check_itself(program, os.path.join(top, name)), names))
    count = bad = 0
    for name, (checks, failures) in [*zip(names, results, strict=True), *zip(names, itself, strict=True)]:
        count += checks
        bad += len(failures)
        for failure in failures:
            print(f"{name}: {failure}")
    print(f"{len(names)} pairs, {count} expectations, {bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
