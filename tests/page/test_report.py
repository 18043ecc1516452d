#!/usr/bin/env python3
"""report --html in Chromium: what the page shows is what the report says, nothing goes wrong, and all that can be done with it works:
sort, search, open and close branches, CSV, keyboard, phone, dark, print.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED (large real traces; may be absent).
"""
import csv
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path

from browser import browser, check, finish

SOURCE, SHARED = Path(os.environ["IDS_SOURCE_DIR"]), Path(os.environ.get("IDS_SHARED", "/nowhere"))
IDSPROF = Path(os.environ["IDSPROF"]).resolve()
FOLDER = Path(os.environ.get("TMPDIR") or tempfile.mkdtemp())
TRACES = [SOURCE / "testdata/cpu8_annotated", SOURCE / "testdata/json/kineto.trace.json", SOURCE / "testdata/memory/second.prof",
          SOURCE / "testdata/mini/strip.mini", SHARED / "traces/gpu_mi355_jax_te", SHARED / "traces/kineto_h100_bert",
          SHARED / "traces/tpu_v6e_inference", SHARED / "traces/gpu_v100x8_tf2"]
HOSTILE = {"script": "</script><script>alert(1)</script>", "comment": "<!--<script>", "quotes": "\"'`&quot;&#39;",
           "image": "<img src=x onerror=alert(2)>", "turned": "\u202egnp.exe\u2066", "lines": "a\u2028b\u2029c\nd",
           "long": "n" * 1_000_000, "style": "</style><style>*{display:none}</style>", "template": "${alert(3)}{{7*7}}"}


def idsprof(*words):
    done = subprocess.run([IDSPROF, *words], capture_output=True, text=True, timeout=120, check=False, cwd=SOURCE)
    check(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr[:500]}")
    return done.stdout


def make(trace, name):
    path = FOLDER / f"{name}.html"
    idsprof("report", trace, "--html", path)
    return path


def markdown(trace, section):
    """The tables of a section as people read them: (heading, rows of cells)."""
    tables, heading, is_inside = [], None, False
    for line in idsprof("report", trace, "--section", section, "--markdown", "--top", "0", "--full").splitlines():
        if line.startswith("#### "):
            heading = line[5:]
        if line.startswith("| "):
            if not is_inside:
                tables.append((heading, []))
            tables[-1][1].append([cell.strip() for cell in line[2:-2].split(" | ")])
        is_inside = line.startswith("| ")
    return tables


def is_number(text):
    return text[:1].isdigit() or text[:2] in ("-1", "<0", ">9")


# --- what it says ---

def check_json(page, trace):
    told, shown = json.loads(idsprof("report", trace, "--json")), page.evaluate("ids.report")
    for key, value in told.items():
        if key == "tables":
            for name, table in value.items():
                check(shown["tables"].get(name) == table, f"{trace}: table {name} is another one in the page")
        else:
            check(shown[key] == value, f"{trace}: {key} is another one in the page")
    also = set(shown["tables"]) - set(told["tables"])
    check(also <= {"accounts_by_device", "strips", "intervals", "rank_steps", "memory_use", "time_by_module", "time_by_source",
                   "time_by_family", "stacks"},
          f"{trace}: tables {also}")
    return told


def check_figures(page, trace, section):
    """Figures and numbers of tables are written as the text report writes them."""
    tables = markdown(trace, section)
    shown = page.eval_on_selector_all(f"#section-{section} .figures > div", """all => all.map(e =>
        [e.querySelector('dt').textContent, e.querySelector('dd bdi').textContent])""")
    for heading, rows in tables:
        if rows[0][0] == "figure":
            for row in rows[2:]:
                if is_number(row[1]):
                    check([row[0].replace("\\", ""), row[1]] in shown, f"{trace}: {section}: '{row[0]}' is {row[1]}, not in {shown}")
            continue
        found = page.evaluate("""title => { for (const view of ids.views.values()) if (view.table.title.toLowerCase() === title) {
            view.room = 1e9; view.all = true; view.draw();
            return [...view.body.rows].map(row => [...row.cells].map(cell => cell.innerText)); } return null; }""", heading.lower())
        if found is None:
            continue
        for i, row in enumerate(rows[2:]):
            numbers = [cell for cell in row if is_number(cell) and "`" not in cell]
            there = set(found[i]) if i < len(found) else set()
            check(set(numbers) <= there, f"{trace}: {heading} row {i}: {numbers} not all in {found[i] if i < len(found) else None}")


def check_csv(page, trace):
    if not page.evaluate("ids.views.has('accounts')"):
        return
    told = list(csv.reader(io.StringIO(idsprof("report", trace, "--section", "ledger", "--csv").split("\n\n")[0])))
    shown = list(csv.reader(io.StringIO(page.evaluate("ids.views.get('accounts').csv()"), newline="")))
    same = len(told) == len(shown) and all(a == b or float(a) == float(b) for x, y in zip(told, shown) for a, b in zip(x, y))
    check(same, f"{trace}: CSV of accounts: {shown[:2]}, not {told[:2]}")


# --- what can be done ---

def numbers(page, table, column):
    return page.evaluate("""([table, id]) => { const view = ids.views.get(table);
        return view.nodes().map(node => node.row[view.table.places.get(id)]); }""", [table, column])


def check_sorting(page):
    heading = page.locator("[data-table=ledger] th button[title=longest]")
    heading.click()
    values = numbers(page, "ledger", "longest")
    check(values == sorted(values, reverse=True), "a click does not sort by the largest first")
    check(page.locator("[data-table=ledger] th[aria-sort=descending]").count() == 1, "no heading says that it is sorted")
    page.keyboard.press("Enter")
    values = numbers(page, "ledger", "longest")
    check(values == sorted(values), "Enter on a heading does not turn the order")
    cells = page.eval_on_selector_all("[data-table=ledger] tbody tr td:first-child", "all => all.map(e => e.innerText)")
    check(len(cells) == min(20, len(values)), f"{len(cells)} rows are shown")


def check_search(page):
    search = page.locator("[data-table=gaps] input")
    search.fill("host.dispatch CPU#6")
    rows = page.locator("[data-table=gaps] tbody tr").all_inner_texts()
    check(rows and all("host.dispatch" in row and "CPU#6" in row for row in rows), "search shows other rows")
    expected = page.evaluate("""() => { const t = ids.report.tables.gaps;
        return t.rows.filter(r => r.includes('host.dispatch') && r[1].endsWith('CPU#6')).length; }""")
    found = page.locator("[data-table=gaps] .foot").inner_text()
    check(found.startswith(f"{expected} of 510 rows"), f"search finds '{found}', not {expected}")
    search.fill("nothing has this name")
    check(page.locator("[data-table=gaps] tbody tr").count() == 0, "search shows rows without the words")
    search.fill("")
    check(page.locator("[data-table=gaps] tbody tr").count() == 20, "an empty search does not show all")
    page.locator("[data-table=gaps] .foot button").click()
    check(page.locator("[data-table=gaps] tbody tr").count() == 510, "'more' does not show the rest")


def check_tree(page):
    layers = page.locator("[data-table=layers]")
    before = layers.locator("tbody tr").count()
    layers.locator(".toggle").first.click()
    check(layers.locator("tbody tr").count() < before, "a branch does not close")
    layers.locator("th button[title=scope]").click()
    page.evaluate("ids.views.get('layers').root.children.forEach(node => { node.closed = false; })")
    depths = page.evaluate("ids.views.get('layers').nodes().map(node => [node.level, node.row])")
    levels = [level for level, _ in depths]
    check(levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"a sorted tree is none: {levels}")
    page.evaluate("ids.views.get('layers').find('layer1')")
    shown = layers.locator("tbody tr").all_inner_texts()
    check(len(shown) == 2 and "train_sharded" in shown[0], f"a search in a tree shows {shown}")


def check_icicle(page):
    wide = "document.querySelector('#section-layers .icicle .level:last-child button').getBoundingClientRect().width"
    page.locator("#section-layers .icicle button", has_text="layer1").focus()
    before = page.evaluate(wide)
    page.keyboard.press("Enter")
    check(page.evaluate(wide) > 2 * before, "a box of the icicle does not grow")
    page.locator("#section-layers .icicle button", has_text="all").first.click()
    check(page.evaluate(wide) <= before * 1.01, "a click on all does not go back")


def check_stacks(open_page):
    """The flame graph: a call lies below what calls it, as wide as its time; a click widens it, a search sums what it finds."""
    page = open_page(make(SOURCE / "testdata/mini/sampled_stacks.mini", "stacks"))
    section = "#section-stacks .icicle"
    boxes = """selector => [...document.querySelectorAll(selector + ' .level')].flatMap((level, at) => [...level.children].map(box =>
        [box.textContent, at, parseFloat(box.style.left), parseFloat(box.style.width), box.className]))"""
    found = {name: (level, left, width) for name, level, left, width, _ in page.evaluate(boxes, section)}
    expected = {"all": (0, 1200), "python/4559": (1, 1200), "main (train.py:14)": (2, 400), "dumps (__init__.py:231)": (3, 400),
                "builtins.c_make_encoder": (4, 400), "main (train.py:12)": (2, 320), "load (train.py:88)": (3, 320), "time.sleep": (4, 320),
                "main (train.py:10)": (2, 240), "main (train.py:15)": (2, 240)}
    check(set(found) == set(expected), f"flame graph of {sorted(found)}")
    for name, (level, time) in expected.items():
        own = found.get(name, (0, 0, 0))
        check(own[0] == level and abs(own[2] - time / 12) < 0.01, f"{name} is drawn at {own}, not at level {level} with {time} us")
    check(found["load (train.py:88)"][1] == found["main (train.py:12)"][1], "a call does not begin below what calls it")
    page.locator("#section-stacks figcaption input").fill("LOAD")
    said = page.locator("#section-stacks figcaption [role=status]").inner_text()
    check(said.strip() == "1 found, 320.0 us, 26.7 %", f"a search says '{said}'")
    marked = [box[0] for box in page.evaluate(boxes, section) if box[4] == "found"]
    check(marked == ["load (train.py:88)"], f"a search marks {marked}")
    page.locator(f"{section} button", has_text="load (train.py:88)").click()
    widths = {name: width for name, _, _, width, _ in page.evaluate(boxes, section)}
    check(widths.get("time.sleep") == 100 and "main (train.py:14)" not in widths and widths.get("python/4559") == 100, f"zoomed: {widths}")
    focused = "document.activeElement.textContent"
    check(page.evaluate(focused) == "load (train.py:88)", "the focus does not stay on what was clicked")
    page.keyboard.press("ArrowUp")
    check(page.evaluate(focused) == "main (train.py:12)", f"an arrow upwards leads to {page.evaluate(focused)}")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    check(page.evaluate(focused) == "python/4559", f"Enter and an arrow lead to {page.evaluate(focused)}")
    page.context.close()
    page = open_page(FOLDER / "cpu8_annotated.html")
    check(page.locator("#section-stacks").count() == 0, "a flame graph without samples")
    page.context.close()


def check_clocks(open_page):
    """Hosts whose clocks nobody could compare are drawn on one axis, and the page says so."""
    for times, wanted in (("", True), (" start_unix_ns=1000000000", False)):
        trace = FOLDER / f"clocks{len(times)}.mini"
        trace.write_text("idsprof-mini 1\n" + "".join(
            f'host rank{i}{times}\nplane /device:GPU:0\nline 1 "Stream #1"\n0us {90 + i}us k\n' for i in range(2)), encoding="utf-8")
        page = open_page(make(trace, f"clocks{len(times)}"))
        said = page.locator("#timeline-section .warning").all_inner_texts()
        check(bool(said) == wanted and all("rank0; rank1" in one for one in said), f"of clocks{times} it says {said}")
        page.context.close()


def check_stretched(open_page):
    """A moment in another clock makes a step of days: it is said, and the others can be seen."""
    base, lines = 20 * 86400 * 10**6, ["0us 50us k correlation_id=1"]
    lines += [f"{base + 1000 * s}us 600us k correlation_id={s + 1}" for s in range(1, 12)] + ["plane /host:CPU", "line 7 python", "0us 40us train step_num=0",
                                                                                             "1us 5us launch correlation_id=1"]
    for s in range(1, 12):
        lines += [f"{base + 1000 * s - 100}us 900us train step_num={s}", f"{base + 1000 * s - 50}us 5us launch correlation_id={s + 1}"]
    trace = FOLDER / "days.mini"
    trace.write_text("\n".join(["idsprof-mini 1", "host h", "plane /device:GPU:0", 'line 1 "Stream #1(Kernel)"', *lines]) + "\n", encoding="utf-8")
    diags = [diag["text"] for diag in json.loads(idsprof("report", trace, "--json"))["diag"] if diag["id"] == "steps.stretched"]
    check(len(diags) == 1 and diags[0].startswith("step 0 takes 1,728,000 s, more than 1000 times the median"), f"of a step of days it says {diags}")
    page = open_page(make(trace, "days"))
    said = page.locator("#timeline-section .warning").all_inner_texts()
    check(len(said) == 1 and said[0].startswith("Step 0 takes 1,728,000 s: a moment in it may be wrong."), f"beside the timeline it says {said}")
    seen = page.evaluate("[ids.timeline.view.from / 1e9, ids.timeline.view.to / 1e9]")
    check(1727999.9 < seen[0] < seen[1] < 1728000.1, f"the timeline begins with {seen}")
    page.context.close()
    trace.write_text('idsprof-mini 1\nhost h\nplane /device:GPU:0\nline 1 "Stream #1(Kernel)"\n0us 100us k correlation_id=1\nplane /host:CPU\n'
                     "line 7 python\n-5000us 9000us CommonPjRtBuffer::Await\nline 8 other\n-1us 1us launch correlation_id=1\n", encoding="utf-8")
    page = open_page(make(trace, "beyond"))
    whole = page.evaluate("(ids.timeline.whole.to - ids.timeline.whole.from) / (ids.timeline.window.to - ids.timeline.window.from)")
    note = page.locator(".tl-note").inner_text()
    check(whole < 3.1 and "Threads were recorded from -5.000 ms to 4.000 ms" in note, f"a thread that waits makes the overview {whole} windows long: {note}")
    page.context.close()


def check_stops(page):
    """Who uses the keyboard is soon through: of a table, a chart and a list one thing is a stop, and arrows lead to the others."""
    stops = page.evaluate("[...document.querySelectorAll('a,button,input,summary,[tabindex]')].filter(e => e.tabIndex >= 0).length")
    check(stops < 150, f"{stops} stops of the Tab key")
    heads = page.locator("[data-table=ledger] th button")
    heads.first.focus()
    page.keyboard.press("ArrowRight")
    check(page.evaluate("document.activeElement.title") == heads.nth(1).get_attribute("title"), "an arrow does not lead to the next heading")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    check(page.evaluate("document.activeElement.title") == heads.nth(1).get_attribute("title"), "Tab does not come back to where it left")
    inside = "[...document.querySelectorAll('[data-table=ledger] .scroller button')].filter(e => e.tabIndex >= 0).length"
    check(page.evaluate(inside) == 1, f"{page.evaluate(inside)} stops in a table")


def check_keyboard(page):
    page.keyboard.press("Tab")
    check(page.evaluate("document.activeElement.textContent") == "to the report", "the first stop does not skip the links")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check(outline != "none", "the focus cannot be seen")
    steps = page.locator("#steps .plot")
    steps.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    line = page.locator("#steps .steps-line").inner_text()
    time = page.evaluate("ids.views.get('steps').table.text(ids.report.tables.steps.rows[1], 'duration')")
    check(line.startswith("step 1") and time in line, f"arrows say '{line}'")
    term = page.locator("#section-ledger .term").first
    term.focus()
    tip = page.locator("#tip")
    check(tip.is_visible() and term.get_attribute("aria-describedby") == "tip", "the focus on a word opens no definition")
    shown, word = tip.inner_text(), term.inner_text()
    definition = page.evaluate("""word => ids.about.sections.flatMap(s => Object.entries(s.metrics))
        .filter(([, m]) => m.title === word).map(([id, m]) => id + ': ' + m.definition)""", word)
    check(shown in definition, f"the definition of {word} is '{shown}'")
    page.keyboard.press("Escape")
    check(not tip.is_visible(), "Escape does not close a definition")


def check_ledger_links(page):
    page.locator(".ledger .part[data-account='comm.wait']").click()
    shown = page.locator("[data-table=ledger] tbody tr").all_inner_texts()
    check(shown and all("comm.wait" in row for row in shown), f"a part of the bar leads to {shown[:3]}")


def check_steps(open_page):
    """Bars are as high as their times; what is warm-up is grey, what takes more than twice the median is marked."""
    trace = SOURCE / "testdata/cpu1_compile"
    page = open_page(make(trace, "warm"))
    told = page.evaluate("ids.report")
    check("warm-up" in told["metrics"]["steps.mean"]["rule"], "the trace has no warm-up")
    times = [row[2] for row in told["tables"]["steps"]["rows"]]
    late = [time for time in times[1:] if time > 2 * told["metrics"]["steps.median"]["value"]]
    drawn = page.evaluate("""() => { const plot = document.querySelector('#steps .plot');
        const paths = [...plot.querySelectorAll('path[style]')].map(e => [e.style.fill, e.getBBox().height, e.getBBox().width]);
        return { paths, marks: plot.querySelectorAll('.outlier, .cut').length, frame: plot.querySelector('svg').clientHeight }; }""")
    grey = [path for path in drawn["paths"] if "--warmup" in path[0]]
    check(len(grey) == 1 and grey[0][2] < 1280 / len(times), f"warm-up is drawn as {grey}")
    check(drawn["marks"] == len(late) + (times[0] > max(times[1:])), f"{drawn['marks']} steps are marked, not {len(late)}")
    check(any("--work-compute" in path[0] for path in drawn["paths"]), "no account is drawn")
    page.context.close()


def check_roofline(open_page):
    """The roof is where the report's shares are 1: bandwidth over its share, and operations over theirs."""
    trace = SHARED / "traces/gpu_mi355_jax_te"
    if not trace.exists():
        return
    page = open_page(FOLDER / f"{trace.name}.html")
    table = page.evaluate("ids.report.tables.computations")
    ids = [column["id"] for column in table["columns"]]
    rows = [dict(zip(ids, row)) for row in table["rows"]]
    shown = page.evaluate("""() => { const svg = [...document.querySelectorAll('#section-ops svg')].find(e => e.querySelector('.roof'));
        const roof = svg.querySelector('.roof'), points = [...svg.querySelectorAll('.point')];
        return { roof: roof.getAttribute('d').slice(1).split('L').map(p => p.split(' ').map(Number)),
                 points: points.map(e => [e.textContent.split('\\n')[0], Number(e.getAttribute('cx')), Number(e.getAttribute('cy'))]) }; }""")
    (x0, y0), (x1, y1) = shown["roof"][:2]
    for row in rows:
        if row["bound"] != "memory" or not row["flop_rate"]:
            continue
        for name, x, y in shown["points"]:
            if name == row["name"]:
                roof = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
                decade = [shown["points"][0], shown["points"][-1]]
                check(y >= roof - 1, f"{name} at {row['bandwidth_share']} of the peak is above the roof: {y} < {roof} ({decade})")
    page.context.close()


def check_memory(open_page):
    """What lives at the peak is said largest first."""
    trace = SHARED / "traces/kineto_h100_bert"
    if not trace.exists():
        return
    page = open_page(FOLDER / f"{trace.name}.html")
    table = page.evaluate("ids.report.tables.live_at_peak")
    most = max(table["rows"], key=lambda row: row[0])
    said = page.locator("#section-memory figure p.soft").last.inner_text()
    check(said.startswith(f"At the peak live most: {most[4]} "), f"'{said}' does not begin with {most[4]}")
    page.context.close()


def check_ranks(page):
    """Each cell's colour is as full as its share of the step."""
    told = page.evaluate("ids.report.tables.rank_steps.rows")
    check(len(told) == 24, f"{len(told)} cells")
    page.wait_for_timeout(100)
    for i, column in ((0, 4), (1, 5)):
        shown = page.evaluate("""i => { const board = document.querySelectorAll('.ranks canvas')[i];
            return [...board.getContext('2d').getImageData(0, 0, board.width, board.height).data].filter((_, at) => at % 4 === 3); }""", i)
        most, expected = max(row[column] / row[3] for row in told), [0] * 24
        for n, row in enumerate(told):
            expected[n % 8 * 3 + n // 8] = 255 * (0.04 + 0.96 * row[column] / row[3] / most)
        check(all(abs(a - b) <= 1.5 for a, b in zip(shown, expected)), f"cells of {i}: {shown}, not {expected}")


def check_timeline_links(page):
    """What is clicked is handed to the timeline in nanoseconds."""
    page.evaluate("""() => { window.calls = []; ids.timeline.show = (...all) => calls.push(['show', ...all]);
        ids.timeline.zoom = (...all) => calls.push(['zoom', ...all]); }""")
    told = page.evaluate("ids.report")
    advice = told["advice"][0]
    page.locator("#advice li button", has_text="show on the timeline").first.click()
    rows = [row for row in told["tables"]["intervals"]["rows"] if row[0] == advice["account"] and row[6] == advice["culprit"]]
    call = page.evaluate("calls.pop()")
    got = [(round(part["from"]), round(part["to"]), part["device"]) for part in call[1]]
    expected = [(round(row[1] * 1e9), round((row[1] + row[2]) * 1e9), row[4]) for row in rows]
    check(rows and call[0] == "show" and got == expected, f"advice shows {got}, not {expected}")
    page.locator("#steps .plot").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    step = told["tables"]["steps"]["rows"][-1]
    call = page.evaluate("calls.pop()")
    check(call[0] == "zoom" and round(call[1]) == round(step[1] * 1e9) and round(call[2]) == round((step[1] + step[2]) * 1e9),
          f"a step zooms to {call}")
    page.locator("[data-table=gaps] tbody tr .show").first.click()
    gap, call = told["tables"]["gaps"]["rows"][0], page.evaluate("calls.pop()")
    check(call[0] == "show" and round(call[1][0]["from"]) == round(gap[2] * 1e9) and call[1][0]["device"] == gap[1], f"a gap shows {call}")
    page.locator("[data-table=ledger] input").fill("")
    page.locator(".ledger .part[data-account='host.input']").click()
    call = page.evaluate("calls.pop()")
    check(call and all(any(round(row[1] * 1e9) == round(part["from"]) for row in told["tables"]["intervals"]["rows"] if row[0] == "host.input")
                       for part in call[1]), f"a part of the bar shows {call}")


def check_structure(page, name):
    """What a screen reader needs."""
    found = page.evaluate("""() => {
        const named = e => (e.getAttribute('aria-label') || e.textContent || e.title || e.placeholder || '').trim();
        const levels = [...document.querySelectorAll('h1,h2,h3')].map(e => Number(e.tagName[1]));
        const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
        return { buttons: [...document.querySelectorAll('button,input,a')].filter(e => !named(e)).map(e => e.outerHTML.slice(0, 120)),
                 tables: [...document.querySelectorAll('table')].filter(t => !t.caption?.textContent).length,
                 pictures: [...document.querySelectorAll('svg')].filter(e => !e.getAttribute('aria-label')).length,
                 first: levels[0], jumps: levels.filter((l, i) => i && l > levels[i - 1] + 1).length,
                 twice: ids.filter((id, i) => ids.indexOf(id) !== i) }; }""")
    check(not found["buttons"], f"{name}: without a name: {found['buttons'][:3]}")
    check(not found["tables"] and not found["pictures"], f"{name}: {found['tables']} tables and {found['pictures']} pictures without words")
    check(found["first"] == 1 and not found["jumps"], f"{name}: headings jump")
    check(not found["twice"], f"{name}: ids twice: {found['twice']}")


def check_looks(open_page, path):
    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    def colour(page):
        return page.evaluate("getComputedStyle(document.querySelector('.part[data-account=\"comm.wait\"]')).backgroundColor")

    light, dark = open_page(path), open_page(path, dark=True)
    check(ground(light) == "rgb(255, 255, 255)" and ground(dark) == "rgb(21, 24, 28)", "grounds of light and dark")
    check(colour(light) == "rgb(197, 162, 234)" and colour(dark) == "rgb(101, 72, 156)",
          f"colours of an account: {colour(light)}, {colour(dark)}")
    dark.emulate_media(media="print")
    check(ground(dark) == "rgb(255, 255, 255)" and colour(dark) == colour(light), "dark pages print dark")
    dark.set_viewport_size({"width": 780, "height": 1000})
    wide = dark.evaluate("""[...document.querySelectorAll('.scroller')].filter(e => e.scrollWidth > e.clientWidth + 1)
        .map(e => e.getAttribute('aria-label'))""")
    check(dark.evaluate("document.documentElement.scrollWidth") <= 780 and not wide, f"wider than paper: {wide}")
    check(not dark.locator("nav").is_visible() and dark.locator(".sentence").is_visible(), "what is printed")
    phone = open_page(path, width=375, height=740)
    check(phone.evaluate("document.documentElement.scrollWidth") <= 375, "the page is wider than a phone")
    check(phone.evaluate("document.querySelector('#steps svg').getBoundingClientRect().width") <= 375, "steps are wider than a phone")
    for page in (light, dark, phone):
        page.context.close()


# --- hostile names ---

def check_hostile(open_page):
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5 + i,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i, name in enumerate(HOSTILE.values())]
    trace = FOLDER / "hostile <b>&'\".json"
    text = json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "</title><h1>G"}], "traceEvents": events})
    trace.write_bytes(text.encode().replace(b"gnp.exe", b"gnp\xff\xfe.exe"))
    path = make(trace, "hostile")
    check(path.stat().st_size < 600_000, f"a page of hostile names takes {path.stat().st_size} bytes")
    page = open_page(path)
    check(page.title() == "hostile <b>&'\".json - idsprof report" or page.title().startswith("hostile <b>&'\""), f"title {page.title()}")
    check(page.locator("h1").count() == 1 and page.locator("img").count() == 0 and page.locator("body style").count() == 0,
          "a name became HTML")
    text = page.evaluate("document.body.textContent")
    for key in ("script", "comment", "quotes", "image", "style", "template"):
        check(HOSTILE[key] in text, f"the name of {key} is not shown as it is")
    check(page.locator("td bdi").count() > 0 and page.evaluate("document.documentElement.scrollWidth") <= 1280, "names turn or widen the page")
    check_structure(page, "hostile")
    page.context.close()


def main():
    with browser() as open_page:
        for trace in TRACES:
            if not trace.exists():
                continue
            page = open_page(make(trace, trace.name))
            told = check_json(page, trace)
            for section in ("overview", "ledger", "steps", "ops", "kernels", "memory"):
                check_figures(page, trace, section)
            check_csv(page, trace)
            check_structure(page, trace.name)
            shown = page.locator("#advice li > div:last-child > p:first-child").all_inner_texts()
            check(shown == [advice["what"] for advice in told["advice"]], f"{trace}: advice {shown}")
            page.context.close()
        path = FOLDER / "cpu8_annotated.html"
        page = open_page(path)
        for work in (check_keyboard, check_sorting, check_search, check_tree, check_icicle, check_stops, check_ledger_links, check_ranks, check_timeline_links):
            work(page)
        page.context.close()
        check_steps(open_page)
        check_stacks(open_page)
        check_clocks(open_page)
        check_stretched(open_page)
        check_roofline(open_page)
        check_memory(open_page)
        check_looks(open_page, path)
        check_hostile(open_page)
    finish()


main()
