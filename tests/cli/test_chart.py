#!/usr/bin/env python3
"""report --chart: pictures of characters, as they were looked at once, and what holds for all of them.

    test_chart.py --renew     writes what is drawn now into chart/; look at it before you keep it

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["IDS_SOURCE_DIR"])
HERE = Path(__file__).resolve().parent
IDSPROF = Path(os.environ["IDSPROF"]).resolve()
RUN, MINI = "testdata/cpu8_annotated", "testdata/mini/strip.mini"
DRAWN = {"40": [MINI, "--chart", "--width", "40"], "80": [RUN, "--chart", "--width", "80"], "120": [RUN, "--chart"],
         "200": [RUN, "--chart", "--width", "200"], "zoom": [RUN, "--zoom", "1-2", "--width", "100"],
         "ascii": [RUN, "--chart", "--width", "80", "--top", "2"]}
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*words, status=0, **changes):
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
    done = subprocess.run([IDSPROF, "report", *words], capture_output=True, text=True, timeout=60, cwd=SOURCE, check=False,
                          env={**environment, **changes})
    check(done.returncode == status, f"{words}: exit {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def drawn(name):
    return idsprof(*DRAWN[name], "--no-cache", LC_ALL="C" if name == "ascii" else "C.UTF-8")


def check_drawings(renew):
    for name in DRAWN:
        path = HERE / "chart" / (name + ".txt")
        text = drawn(name)
        if renew:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        check(path.exists() and text == path.read_text(), f"chart/{name}.txt is not what is drawn:\n{text}")
        widths = [len(line) for line in text.splitlines()]
        words = DRAWN[name]
        widest = int(words[words.index("--width") + 1]) if "--width" in words else 120
        check(max(widths) <= widest, f"{name}: {max(widths)} columns")
    for width in (40, 43, 58):
        text = idsprof(RUN, "--chart", "--width", str(width), "--no-cache")
        text = text[text.index("OVER TIME"):text.index("WHAT TO DO") if "WHAT TO DO" in text else None]
        widest = max(len(line) for line in text.splitlines() if not line.startswith("  idsprof "))  # what is copied is in one line
        check(widest <= width, f"--width {width}: {widest} columns")
    check(drawn("ascii").isascii(), "the C locale gets more than ASCII")


def strip_lines(text, label):
    """What is drawn behind each device's label."""
    lines = text.splitlines()
    return [line.split(None, 1)[1] for line in lines[lines.index("  OVER TIME"):] if re.match(rf"  {label}", line)]


def check_strips():
    """At 240 columns a strip is the table's letters, one for one; at 60 each column is what most of four cells have."""
    glyphs = {"C": "█", "T": "▓", "W": "▒", "H": "▞", "D": "▚", "X": "░"}
    report = json.loads(idsprof(RUN, "--json", "--section", "ledger", "--no-cache"))
    rows = report["tables"]["strips"]["rows"]
    check(len(rows) == 8, f"{len(rows)} strips")
    wide = strip_lines(idsprof(RUN, "--chart", "--width", "250", "--no-cache"), "CPU#")
    for row, line in zip(rows, wide, strict=True):
        check(line == "".join(glyphs.get(letter, letter) for letter in row[3]), f"{row[0]}: {line}")
    narrow = strip_lines(idsprof(RUN, "--chart", "--width", "69", "--no-cache"), "CPU#")
    for row, line in zip(rows, narrow, strict=True):
        check(len(line) == 60, f"{len(line)} columns")
        for column, glyph in enumerate(line):
            cells = [glyphs.get(letter, letter) for letter in row[3][4 * column:4 * column + 4]]
            check(cells.count(glyph) == max(map(cells.count, cells)), f"{row[0]} column {column}: {glyph} of {cells}")


def check_colours():
    plain = idsprof(RUN, "--chart", "--no-cache")
    coloured = idsprof(RUN, "--chart", "--no-cache", "--color", "always")
    check(re.sub(r"\033\[[0-9;]*m", "", coloured) == plain, "colours change the text")
    for glyph, colour in ("█", 32), ("▓", 35), ("i", 33), ("q", 90):
        pieces = re.findall(r"\033\[(\d+)m(?:" + glyph + r")+(?=\033)", coloured)
        check(pieces and set(pieces) == {str(colour)}, f"{glyph} is drawn in {set(pieces)}")
    for line in coloured.splitlines():
        check(line.count("\033[") == 0 or line.rindex("\033[0m") == line.rindex("\033["), f"a colour goes on behind {line!r}")


def check_words():
    check("exclude" in idsprof(RUN, "--chart", "--json", status=2), "--chart --json")
    check("exclude" in idsprof(RUN, "--zoom", "1", "--section", "ops", status=2), "--zoom --section")
    check("there; the run has 3 steps, 0 to 2" in idsprof(RUN, "--zoom", "7", status=2), "a step that is not there")
    opening = "testdata/mini/steps_opening.mini"
    check("step 7 is in no mean" in idsprof(opening), "a step that the window opened with")
    check("in no mean" not in idsprof(opening, "--zoom", "9"), "nor is it spoken of where others are asked for")
    check("not a step" in idsprof(RUN, "--zoom", "x", status=2), "no step at all")
    check("nothing to draw" in idsprof("testdata/mini/host_only.mini", "--chart", "--no-cache"), "a run without device work")
    check("--zoom 0-1" in drawn("120"), "the next command")


def main():
    check_drawings("--renew" in sys.argv)
    check_strips()
    check_colours()
    check_words()
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
