#!/usr/bin/env python3
"""diff --html and scale --html in Chromium: the page says what the JSON says, in the words of the text, and draws it to scale.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED (large real traces; may be absent).
"""
import json
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from browser import browser, check, finish

SOURCE, SHARED = Path(os.environ["IDS_SOURCE_DIR"]), Path(os.environ.get("IDS_SHARED", "/nowhere"))
IDSPROF = Path(os.environ["IDSPROF"]).resolve()
FOLDER = Path(os.environ.get("TMPDIR") or tempfile.mkdtemp())
COMPARE = SOURCE / "testdata/compare"
PAIRS = [(COMPARE / "base", COMPARE / "recompile"), (COMPARE / "base", COMPARE / "again"),
         (SHARED / "traces/tpu_vllm_before", SHARED / "traces/tpu_vllm_after")]


def idsprof(*words, status=(0,)):
    done = subprocess.run([IDSPROF, *words], capture_output=True, text=True, timeout=120, check=False, cwd=SOURCE)
    check(done.returncode in status, f"{words}: exit {done.returncode}: {done.stderr[:500]}")
    return done.stdout + (done.stderr if done.returncode > 1 else "")


def check_same(page, told, name):
    shown = page.evaluate("ids.report")
    for key in told:
        check(shown[key] == told[key], f"{name}: {key} is another one in the page")


def rows_of(table):
    ids = [column["id"] for column in table["columns"]]
    return [dict(zip(ids, row)) for row in table["rows"]]


def check_command(page, *words):
    """The command that makes the page again stands in its head."""
    shown = page.locator(".command code").inner_text()
    check(shown == shlex.join(["idsprof", *map(str, words)]), f"the command is {shown}")


def check_waterfall(page, told, name):
    """Each bar begins where the one before ends, and all are to one scale."""
    run, rows = told["run"], rows_of(told["tables"]["waterfall"])
    bars = page.eval_on_selector_all(".fall span", """all => all.map(e => { const whole = e.parentNode.getBoundingClientRect(),
        own = e.getBoundingClientRect(); return [e.className, (own.left - whole.left) / whole.width, (own.right - whole.left) / whole.width]; })""")
    check([bar[0] for bar in bars][::len(bars) - 1] == ["whole", "whole"] and len(bars) == len(rows) + 2, f"{name}: bars {bars}")
    words = page.locator(".falls li").all_inner_texts()
    at = run["whole_a"]
    begin = page.locator("figcaption").first.inner_text()
    begin = re.search(r"begins at (\S+) (\S+)\.", begin)
    zero = float(begin[1]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[begin[2]] if begin else 0
    scale = (bars[0][2] - bars[0][1]) / (run["whole_a"] - zero)
    for row, (kind, left, right), text in zip(rows, bars[1:], words[1:]):
        to = at + row["change"]
        check(kind == ("more" if to > at else "less"), f"{name}: {row['cause']} is {kind}")
        expected = [(min(at, to) - zero) * scale, (max(at, to) - zero) * scale]
        check(abs(left - expected[0]) < 0.01 and abs(right - expected[1]) < 0.01, f"{name}: {row['cause']} is drawn at {left, right}, not {expected}")
        check((row["cause"] or row["culprit"]) in text, f"{name}: '{text}' does not name {row['cause']}")
        check((row["note"] or "") in text, f"{name}: '{text}' does not have the note of {row['cause']}")
        at = to
    check(abs(at - run["whole_b"]) < 1e-9, f"{name}: the causes do not lead to after")


def check_figures(page, a, b, name):
    """The differences of the text's headline stand in the page."""
    text = idsprof("diff", a, b, "--full", "--width", "200", status=(0, 1))
    shown = "\n".join(page.locator("table.headline tbody tr").all_inner_texts())
    for line in text.splitlines():
        found = re.match(r"  (step time|device utilization|idle)  +(\S+ \S+)  +(\S+ \S+)  +([+-]\S+ \w+)", line)
        if found:
            for word in found.groups():
                check(word in shown, f"{name}: '{word}' of '{line}' is not in the page")


def check_diff(open_page, a, b):
    name = f"{a.name}-{b.name}"
    path = FOLDER / f"{name}.html"
    idsprof("diff", a, b, "--html", path, status=(0, 1))
    page = open_page(path)
    check_command(page, "diff", a, b, "--html", path)
    told = json.loads(idsprof("diff", a, b, "--json", status=(0, 1)))
    check_same(page, told, name)
    check_waterfall(page, told, name)
    check_figures(page, a, b, name)
    doubt = page.locator("#story").inner_text()
    check(("Steps of a side differ so much" in doubt) == (told["run"]["verdict"] == "unsure"), f"{name}: of a doubt it says {doubt[:400]}")
    if b.name == "recompile":
        check("What changed for certain: recompilation inside steps: 0 \u2192 3 (score)" in doubt, f"{name}: {doubt[:400]}")
    check(page.title() == f"{told['run']['a']} \u2192 {told['run']['b']} - idsprof diff", f"title {page.title()}")
    changes = page.locator("#changes li").all_inner_texts()
    for row, text in zip(rows_of(told["tables"]["changes"]), changes):
        check(row["text"] in text, f"{name}: '{text}' is not '{row['text']}'")
    check(page.locator("[data-table=ops] tbody tr").count() == min(20, len(told["tables"]["ops"]["rows"])), f"{name}: rows of ops")
    phone = open_page(path, width=375, height=740)
    check(phone.evaluate("document.documentElement.scrollWidth") <= 375, f"{name}: wider than a phone")
    for each in (page, phone):
        each.context.close()


def check_scale(open_page):
    runs = sorted((SOURCE / "testdata/methods").iterdir())
    path = FOLDER / "scale.html"
    idsprof("scale", *runs, "--html", path)
    page = open_page(path)
    check_command(page, "scale", *runs, "--html", path)
    check(page.locator("#story .warning").count() == 0, "scale: methods of one scaling are warned of")
    page.evaluate("""async () => { const columns = ids.report.tables.configurations.columns.map((one) => one.id);
        for (const row of ids.report.tables.configurations.rows)
          if (row[columns.indexOf('method')] === 'tad') row[columns.indexOf('scaling')] = 'weak';
        document.body.replaceChildren(); await ids.pages.scale(); }""")
    check("lcam strong, tad weak" in page.locator(".facts").inner_text() and page.locator("#story .warning").count() == 1, "scale: unlike scaling is not said")
    page.context.close()
    page = open_page(path)
    told = json.loads(idsprof("scale", *runs, "--json"))
    check_same(page, told, "scale")
    cells = rows_of(told["tables"]["configurations"])
    text = idsprof("scale", *runs)
    shown = page.locator("table.headline").inner_text()
    for method in ("lcam", "tad"):
        line = next(line for line in text.splitlines() if re.match(rf" +(step +)?{method} .* ms", line))
        for time in re.findall(r"[\d.]+ [mu]s", line):
            check(time in shown, f"scale: a step of {time} is not in the grid")
    for title in ("± (99 %)", "comm volume"):
        at = next(i for i, line in enumerate(text.splitlines()) if line.strip().startswith(title))
        for figure in re.findall(r"[\d.]+ (?:%|[kM]?B)(?= |$)", " ".join(text.splitlines()[at:at + 2]).replace(title, "")):
            check(figure in shown, f"scale: {title} of {figure} is not in the grid: {shown}")
    check(page.locator(".curve").count() == 2 and page.locator(".curve").first.locator("circle").count() == len(cells), "scale: curves")
    heights = page.eval_on_selector_all(".curve:first-child circle", "all => all.map(e => Number(e.getAttribute('cy')))")
    steps = [cell["step"] for method in ("lcam", "tad") for cell in cells if cell["method"] == method]
    check(sorted(range(len(steps)), key=lambda i: steps[i]) == sorted(range(len(steps)), key=lambda i: -heights[i]), "scale: points are not in order")
    check(page.locator(".bars .bar.thin").count() == len(cells), "scale: a bar for each configuration")
    page.context.close()


def check_check(open_page):
    run, path = SOURCE / "testdata/cpu8_annotated", FOLDER / "check.html"
    limits = ["--max", "steps.mean=1ms", "--min", "device.utilization=10%"]
    text = idsprof("check", run, *limits, "--html", path, status=(1,))
    check(text == idsprof("check", run, *limits, status=(1,)), "a page changes what is printed")
    told = json.loads(idsprof("check", run, *limits, "--json", status=(1,)))
    page = open_page(path)
    check_same(page, told, "check")
    check_command(page, "check", run, *limits, "--html", path)
    shown = page.eval_on_selector_all("[data-table=checks] tbody tr", "all => all.map(e => [e.className, e.innerText])")
    check([row[0] for row in shown] == ["bad", "good"], f"check: verdicts {shown}")
    check("2.641 ms" in shown[0][1] and "1.000 ms" in shown[0][1] and "31.4 %" in shown[1][1], f"check: figures {shown}")
    check(page.locator(".sentence").inner_text() == "fail Of 2 limits: 1 pass, 1 fail.", f"check: {page.locator('.sentence').inner_text()}")
    page.context.close()
    phone = open_page(path, width=390, height=800)
    right = phone.eval_on_selector_all("[data-table=checks] tbody td:nth-child(3)", "all => all.map(e => [e.innerText, e.getBoundingClientRect().right])")
    check([cell[0] for cell in right] == ["2.641 ms", "31.4 %"] and all(cell[1] < 390 for cell in right), f"check on a phone: values {right}")
    phone.context.close()
    idsprof("check", run, *limits, "--html", path, status=(2,))
    said = idsprof("check", run, *limits, "--html", "-", "--json", status=(2,))
    check("--html -" in said, f"check: two to standard output: '{said}'")


def check_list(open_page):
    path = FOLDER / "list.html"
    idsprof("list", SOURCE / "testdata", "--html", path)
    told = json.loads(idsprof("list", SOURCE / "testdata", "--json"))
    page = open_page(path)
    check_same(page, told, "list")
    check_command(page, "list", SOURCE / "testdata", "--html", path)
    check(page.locator("[data-table=runs] tbody tr").count() == min(200, len(told["runs"])), "list: rows")
    page.locator("[data-table=runs] input").fill("cpu8_annotated")
    row = page.locator("[data-table=runs] tbody tr").all_inner_texts()
    run = next(run for run in told["runs"] if run["name"] == "cpu8_annotated")
    check(len(row) >= 1 and "7.076 ms" in row[0] and f"{run['events']:,}" in row[0] and "121.9 kB" in row[0], f"list: {row}")
    page.context.close()
    said = idsprof("list", SOURCE / "testdata", "--html", path, "--json", status=(2,))
    check("--html" in said, f"list: says '{said}'")
    idsprof("list", SOURCE / "testdata", "--html", path, status=(2,))


def check_profiles_stay():
    """--force writes over pages, and not over a profile."""
    run = FOLDER / "kept.mini"
    run.write_bytes((SOURCE / "testdata/mini/strip.mini").read_bytes())
    before = run.read_bytes()
    for words in (["report", run], ["diff", run, run], ["list", FOLDER]):
        said = idsprof(*words, "--html", run, "--force", status=(2,))
        check("is no page" in said and run.read_bytes() == before, f"{words[0]} --html over a profile: '{said[:200]}'")
    page = FOLDER / "twice.html"
    idsprof("report", run, "--html", page)
    idsprof("report", run, "--html", page, "--force")


def check_refusals(open_page):
    page = FOLDER / "refused.html"
    a, b = COMPARE / "base", COMPARE / "again"
    for words in (["diff", a, b, "--json"], ["diff", a, b, "--markdown"], ["diff", a, b, COMPARE / "doubled"],
                  ["scale", *sorted((SOURCE / "testdata/scale").iterdir()), "--csv"]):
        said = idsprof(*words, "--html", page, status=(2,))
        check("--html" in said and not page.exists(), f"{words}: says '{said}'")
    unlike = [SOURCE / "testdata/cpu8_annotated", SOURCE / "testdata/json/kineto.trace.json"]
    idsprof("diff", *unlike, "--html", page, status=(2,))
    if page.exists():
        shown = open_page(page)
        check(shown.locator(".notes li").count() > 0 and shown.locator(".fall").count() == 0, "what cannot be compared is compared")
        shown.context.close()


def main():
    with browser() as open_page:
        for a, b in PAIRS:
            if a.exists():
                check_diff(open_page, a, b)
        check_scale(open_page)
        check_check(open_page)
        check_list(open_page)
        check_refusals(open_page)
        check_profiles_stay()
    finish()


main()
