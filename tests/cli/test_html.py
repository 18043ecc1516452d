#!/usr/bin/env python3
"""report --html without a browser: what is in the file, and how it is written. tests/page looks at it in one.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import base64
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["IDS_SOURCE_DIR"])
IDSPROF = Path(os.environ["IDSPROF"]).resolve()
FOLDER = Path(os.environ.get("TMPDIR") or tempfile.mkdtemp())
RUN = "testdata/cpu8_annotated"
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*words, status=0):
    done = subprocess.run([IDSPROF, *words], capture_output=True, text=True, timeout=60, check=False, cwd=SOURCE)
    check(done.returncode == status, f"{words}: exit {done.returncode}: {done.stderr[:500]}")
    return done.stdout, done.stderr


def blocks(page):
    found = re.findall(r'<script type="text/plain" id="(\w+)">([A-Za-z0-9+/=]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(data, validate=True))) for name, data in found}


def check_contents():
    page, _ = idsprof("report", RUN, "--html", "-")
    check(page == idsprof("report", RUN, "--html", "-", "--no-cache")[0], "two pages of one run differ")
    told, data = json.loads(idsprof("report", RUN, "--json")[0]), blocks(page)
    check({"report", "about"} <= set(data), f"blocks {set(data)}")
    report, about = data["report"], data["about"]
    for key in told:
        if key != "tables":
            check(report[key] == told[key], f"{key} is another one")
    for name, table in told["tables"].items():
        check(report["tables"].get(name) == table, f"table {name} is another one")
    manual = re.sub(r"\s+", " ", re.sub(r"\\\[u([0-9A-F]+)\]", lambda m: chr(int(m[1], 16)), idsprof("dump", "--manual")[0]).replace("\\e", "\\"))
    tables = set()
    for section in about["sections"]:
        tables |= set(section["tables"])
        for name, words in {**section["metrics"], **section["tables"]}.items():
            definition = re.sub(r"\s+", " ", words["definition"]).strip()
            check(definition in manual.replace("\\&", ""), f"{name}: '{definition[:60]}...' is not what the manual says")
        for name, table in section["tables"].items():
            check(len(table["columns"]) == len(report["tables"][name]["columns"]), f"{name}: columns")
    check(tables == set(report["tables"]), f"tables without words: {set(report['tables']) ^ tables}")
    ids = [account["id"] for account in about["accounts"]]
    check("work.compute" in ids and len(ids) == len(set(ids)), f"accounts {ids}")
    colours = [account[which] for account in about["accounts"] for which in ("light", "dark")]
    check(all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours), f"colours {colours}")
    for which in ("light", "dark"):
        check(len({account[which] for account in about["accounts"]}) == len(ids), f"two accounts are of one {which} colour")


def check_policy():
    page, _ = idsprof("report", RUN, "--html", "-")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    allowed = set(re.findall(r"'sha256-([^']*)'", policy))
    check("default-src 'none'" in policy and "unsafe" not in policy, f"policy {policy}")
    head, _, body = page.partition("<style>")
    for kind in ("script", "style"):
        for text in re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.S):
            check(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in allowed, f"a {kind} is not allowed: {text[:60]}")
    check(not re.search(r"(?:src|href)\s*=\s*[\"'](?!#)|url\(|@import|https?://(?!www\.w3\.org/)", head + body), "it names something outside")


def check_title():
    run = FOLDER / "<b>&\"'\u202e\x01.json"
    run.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "</script>", "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7}}]}))
    page, _ = idsprof("report", run, "--html", "-")
    title = re.search("<title>(.*?)</title>", page)[1]
    check(not re.search("[<>\"'\u202e\x01]", title), f"title {title}")
    check(page.lower().count("</script>") == page.lower().count("<script"), "a script ends in its midst")


def check_files():
    path = FOLDER / "page.html"
    out, _ = idsprof("report", RUN, "--html", path)
    check(out.startswith(f"{path}: a page of ") and out.count("\n") == 1, f"says '{out}'")
    before = path.read_bytes()
    _, said = idsprof("report", RUN, "--html", path, status=2)
    check("exists; use --force" in said, f"says '{said}'")
    for mine in ("mine", "<!doctype html>mine"):
        path.write_text(mine)
        idsprof("report", RUN, "--html", path, status=2)
        check(path.read_text() == mine, "an existing file was written over")
    idsprof("report", RUN, "--html", path, "--force")
    check(path.read_bytes() == before, "--force writes another page")
    path.write_text("mine")
    _, said = idsprof("report", RUN, "--html", path, "--force", status=2)
    check("exists and is no page" in said and path.read_text() == "mine", f"--force wrote over what is no page: {said}")
    path.write_bytes(before)
    idsprof("report", RUN, "--html", FOLDER / "no" / "page.html", status=2)
    for other in (FOLDER, "/dev/stdin"):
        if not os.path.islink(other):
            idsprof("report", RUN, "--html", other, "--force", status=2)
    os.mkfifo(FOLDER / "pipe")
    _, said = idsprof("report", RUN, "--html", FOLDER / "pipe", "--force", status=2)
    check("not a regular file" in said and (FOLDER / "pipe").is_fifo(), f"a pipe is replaced: '{said}'")
    full = subprocess.run(f"{IDSPROF} report {RUN} --html - >/dev/full", shell=True, capture_output=True, text=True, timeout=60,
                          check=False, cwd=SOURCE)
    check(full.returncode == 2 and "No space left" in full.stderr, f"a full disk: exit {full.returncode}, '{full.stderr}'")
    check({entry.name for entry in FOLDER.iterdir()} >= {"page.html"} and not list(FOLDER.glob("*.idsprof.*")), "something is left")
    for other in (["--json"], ["--csv"], ["--markdown"], ["--chart"], ["--section", "ledger"], ["--top", "3"], ["--explain", "steps.mean"]):
        _, said = idsprof("report", RUN, "--html", FOLDER / "other.html", *other, status=2)
        check("--html" in said, f"{other}: says '{said}'")
    idsprof("report", RUN, "--force", status=2)
    check(not (FOLDER / "other.html").exists(), "a refused page was written")
    cut = subprocess.run(f"{IDSPROF} report {RUN} --html - | head -c 100", shell=True, capture_output=True, text=True, timeout=60,
                         check=False, cwd=SOURCE)
    check(len(cut.stdout) == 100 and not cut.stderr, f"a reader that leaves: '{cut.stderr}'")


def check_ranks():
    report = json.loads(idsprof("report", "testdata/mini/rank_steps.mini", "--section", "load_balance", "--json")[0])
    expected = [[11, 1, "GPU:0", 100e-6, 60e-6, 0], [11, 1, "GPU:1", 110e-6, 110e-6, 0], [12, 1, "GPU:0", 80e-6, 80e-6, 0],
                [12, 1, "GPU:1", 70e-6, 40e-6, 0]]
    check(report["tables"]["rank_steps"]["rows"] == expected, f"rank_steps is {report['tables']['rank_steps']['rows']}")


def check_long_runs():
    """Of 3,001 steps of two devices the map has rows of several steps, which lose no time."""
    lines = ["idsprof-mini 1", "host h"]
    for device in range(2):
        lines += [f"plane /device:GPU:{device}", 'line 1 "Stream #1(Kernel)"']
        lines += [f"{10 * i}us {1 + (i + device) % 7}us k" for i in range(3001)]
        lines += ["line 2 Steps"] + [f"{10 * i}us 10us {i}" for i in range(3001)]
    run = FOLDER / "long.mini"
    run.write_text("\n".join(lines) + "\n")
    report = json.loads(idsprof("report", run, "--section", "load_balance", "--section", "steps", "--json")[0])
    rows, steps = report["tables"]["rank_steps"]["rows"], report["metrics"]["steps.count"]["value"]
    check(steps >= 3000, f"{steps} steps") # the last one may end with the window
    check(1024 < len(rows) <= 2048, f"{len(rows)} rows")
    for device in range(2):
        own = [row for row in rows if row[2] == f"GPU:{device}"]
        check(sum(row[1] for row in own) == steps, f"steps of GPU:{device}: {sum(row[1] for row in own)}")
        check([row[0] for row in own] == list(range(0, steps, own[0][1])), f"first steps of GPU:{device}: {own[:3]}")
        work = sum(row[1] * row[4] for row in own)
        expected = sum(1 + (i + device) % 7 for i in range(steps)) * 1e-6
        check(abs(work - expected) < 1e-8, f"work of GPU:{device}: {work}, not {expected}")


check_contents()
check_ranks()
check_long_runs()
check_policy()
check_title()
check_files()
for failure in failures[:20]:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)
