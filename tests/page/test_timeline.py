#!/usr/bin/env python3
"""The timeline of a page in Chromium: colours at known moments, zooming, moving, searching, choosing, measuring, by mouse, touch and keys alone;
hostile names; a million events.

Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR, IDS_TIME_FACTOR.
"""
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import big_run
from browser import browser, check, finish
from timeline_block import IDSPROF, block, marks, rows, write_page

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
FOLDER = Path(os.environ.get('TMPDIR') or tempfile.mkdtemp())
FACTOR = float(os.environ.get('IDS_TIME_FACTOR', '1'))
# testdata/mini/strip.mini says by hand what the device does at these moments (in us).
MOMENTS = [(5, 'work.compute'), (59.5, 'work.compute'), (60.5, 'host.sync'), (100, 'host.sync'), (119.5, 'host.sync'), (120.5, 'host.unknown'),
           (150, 'host.unknown'), (169.5, 'host.dispatch'), (175, 'device.queue'), (179.5, 'device.queue'), (180.5, 'work.compute'), (239, 'work.compute')]

# What the painted pixel of a row at a moment is, and where that is: through what is on the screen, and no other way.
HELPERS = """
window.T = {
  row: (kind, nth = 0) => ids.timeline.rows.filter((row) => row.kind === kind)[nth],
  x: (us) => ids.timeline.left + (us * 1000 - ids.timeline.view.from) / (ids.timeline.view.to - ids.timeline.view.from) * ids.timeline.width,
  y: (row, lane = 0) => row.top - ids.timeline.scroller.scrollTop + lane * idsPaint.LANE + 3,
  pixel: (us, row, lane = 0) => {
    const ratio = window.devicePixelRatio, one = document.createElement('canvas');
    one.width = one.height = 1;
    const context = one.getContext('2d', { willReadFrequently: true });
    context.drawImage(document.querySelector('.tl-canvas'), -Math.floor(T.x(us) * ratio), -Math.floor(T.y(row, lane) * ratio));
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
    return '#' + [r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('');
  },
  place: (us, row, lane = 0) => {
    const box = document.querySelector('.tl-scroller').getBoundingClientRect();
    return [box.left + T.x(us) + 1, box.top + T.y(row, lane) + 2];
  },
  view: () => [ids.timeline.view.from / 1000, ids.timeline.view.to / 1000],
  frame: () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
};
document.querySelector('.tl').scrollIntoView({ behavior: 'instant', block: 'center' });
"""


def opened(open_page, path, **how):
    page = open_page(path, **how)
    page.evaluate(HELPERS)
    page.evaluate('T.frame()')
    return page


def view(page):
    page.evaluate('T.frame()')
    return page.evaluate('T.view()')


def live(page):
    return page.inner_text('.tl-live')


def near(a, b, by):
    return abs(a - b) <= by


def colours(open_page, path):
    for dark, scale in ((False, 1), (True, 1), (False, 2)):
        page = opened(open_page, path, dark=dark, scale=scale)
        accounts = {account['id']: account['dark' if dark else 'light'] for account in page.evaluate('ids.about.accounts')}
        for zoomed in (False, True):
            if zoomed:
                page.evaluate('ids.timeline.zoom(100000, 200000)')
                page.evaluate('T.frame()')
            for us, account in MOMENTS:
                if zoomed and not 101 < us < 199:
                    continue
                is_ = page.evaluate('(us) => T.pixel(us, T.row("accounts"))', us)
                check(is_ == accounts[account], f'dark={dark} scale={scale} zoomed={zoomed}: at {us} us {is_}, expected {accounts[account]} of {account}')
        ops = page.evaluate('(us) => T.pixel(us, T.row("ops"))', 190)
        check(ops == accounts['work.compute'], f'the kernel at 190 us is {ops}')
        nothing = page.evaluate('(us) => T.pixel(us, T.row("ops"))', 140)
        check(nothing not in accounts.values(), f'at 140 us no kernel runs, and the row of ops is {nothing}')
        size = page.evaluate("[document.querySelector('.tl-canvas').width, document.querySelector('.tl-canvas').clientWidth]")
        check(size[0] == scale * size[1], f'{size[0]} pixels for {size[1]} at a ratio of {scale}')
        page.context.close()


def keys(open_page, path):
    page = opened(open_page, path)
    page.focus('.tl-scroller')
    check(page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != 'none' or page.evaluate("!document.activeElement.matches(':focus-visible')"),
          'the focus cannot be seen')
    from_, to = view(page)
    for key, what in (('w', 'in'), ('s', 'out'), ('w', 'in'), ('w', 'in'), ('+', 'in'), ('d', 'right'), ('a', 'left'), ('ArrowRight', 'right'), ('ArrowLeft', 'left'), ('-', 'out')):
        page.keyboard.press(key)
        was, (from_, to) = (from_, to), view(page)
        moved = {'in': to - from_ < was[1] - was[0], 'out': to - from_ > was[1] - was[0], 'right': from_ > was[0] and near(to - from_, was[1] - was[0], 1e-6),
                 'left': from_ < was[0] and near(to - from_, was[1] - was[0], 1e-6)}[what]
        check(moved, f'{key}: from {was} to {(from_, to)} is not {what}')
    page.keyboard.press('Home')
    from_, to = view(page)
    check(from_ <= 0 and to >= 240, f'Home shows {from_} to {to}')
    page.keyboard.press('ArrowDown')
    seen = []
    for _ in range(8):
        seen.append(page.inner_text('.tl-panel h3'))
        page.keyboard.press('.')
    check(len(set(seen)) > 1, f'full stop stays at {seen}')
    check('accounts' not in live(page) and ('begins at' in live(page)), f'a mark is announced as {live(page)!r}')
    page.keyboard.press(',')
    page.keyboard.press('Enter')
    from_, to = view(page)
    check(to - from_ < 200, f'Enter shows {from_} to {to}')
    page.keyboard.press('m')
    page.keyboard.press(',')
    page.keyboard.press('m')
    check(live(page).startswith('measured: '), f'M twice says {live(page)!r}')
    page.keyboard.press(' ')
    view(page)
    check(page.get_attribute('.tl-group', 'aria-expanded') == 'false', 'Space does not fold the device')
    page.keyboard.press('Escape')
    check(page.locator('.tl-panel h3').count() == 0, 'Escape leaves what was chosen')
    page.keyboard.press('/')
    page.keyboard.type('k2')
    page.keyboard.press('Enter')
    check('k2' in page.inner_text('.tl-panel h3'), f'search shows {page.inner_text(".tl-panel")!r}')
    check(re.match(r'1 of \d', page.inner_text('.tl-count')), f'search counts {page.inner_text(".tl-count")!r}')
    page.context.close()


def mouse(open_page, path):
    page = opened(open_page, path)
    page.evaluate('ids.timeline.zoom(0, 240000)')
    view(page)
    x, y = page.evaluate('T.place(190, T.row("ops"))')
    page.mouse.click(x, y)
    panel = page.inner_text('.tl-panel')
    for words in ('k2', 'begins at\n180 us', 'takes\n60', 'work.compute', 'launched\n1'):
        check(words in panel.replace('.0 us', ' us').replace('.00 us', ' us'), f'a click on k2 does not say {words!r}: {panel!r}')
    page.evaluate('ids.timeline.zoom(150000, 220000)')
    was = view(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y, steps=4)
    page.mouse.up()
    now = view(page)
    check(now[0] > was[0] and near(now[1] - now[0], was[1] - was[0], 1e-6), f'a drag leads from {was} to {now}')
    page.evaluate('ids.timeline.zoom(0, 240000)')
    was = view(page)
    moment = page.evaluate('([x]) => ids.timeline.timeAt(x - document.querySelector(".tl-scroller").getBoundingClientRect().left) / 1000', [x])
    page.keyboard.down('Control')
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    page.keyboard.up('Control')
    page.wait_for_function('(was) => T.view()[1] - T.view()[0] < was', arg=was[1] - was[0])
    now = view(page)
    after = page.evaluate('([x]) => ids.timeline.timeAt(x - document.querySelector(".tl-scroller").getBoundingClientRect().left) / 1000', [x])
    check(now[1] - now[0] < was[1] - was[0] and near(moment, after, 0.3), f'the wheel leads from {was} to {now}; under the pointer {moment} became {after}')
    page.evaluate('ids.timeline.zoom(0, 240000)')
    view(page)
    (x0, y0), (x1, _) = page.evaluate('[T.place(60, T.row("ops")), T.place(180, T.row("ops"))]')
    page.keyboard.down('Shift')
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move(x1, y0, steps=5)
    page.mouse.up()
    page.keyboard.up('Shift')
    measured = re.match(r'measured: ([\d.]+) us', live(page))
    check(measured and near(float(measured.group(1)), 120, 0.5), f'measured 60 to 180 us: {live(page)!r}')
    box = page.locator('.tl-minimap').bounding_box()
    page.evaluate('ids.timeline.zoom(0, 20000)')
    page.mouse.click(box['x'] + box['width'] * 0.9, box['y'] + 10)
    check(view(page)[0] > 100, f'a click on the right of the overview shows {view(page)}')
    page.click('.tl-group')
    check(page.evaluate('ids.timeline.visible.some((row) => row.kind === "ops")') is False, 'a click on the device does not fold it')
    page.context.close()


def touch(open_page, path):
    """Two fingers that part zoom in, and what is between them stays."""
    page = opened(open_page, path, width=400, height=800)
    page.evaluate('ids.timeline.zoom(0, 240000)')
    was = view(page)
    page.evaluate('''async () => {
      const canvas = document.querySelector('.tl-canvas'), box = document.querySelector('.tl-scroller').getBoundingClientRect();
      canvas.setPointerCapture = () => {};
      const send = (name, id, x) => canvas.dispatchEvent(new PointerEvent(name, { pointerId: id, pointerType: 'touch', bubbles: true, cancelable: true,
        clientX: box.left + x, clientY: box.top + 60 }));
      send('pointerdown', 1, 180); send('pointerdown', 2, 240);
      for (let i = 1; i <= 10; i++) { send('pointermove', 1, 180 - 5 * i); send('pointermove', 2, 240 + 5 * i); }
      send('pointerup', 1, 130); send('pointerup', 2, 290);
    }''')
    now = view(page)
    check(now[1] - now[0] < 0.6 * (was[1] - was[0]), f'two fingers that part lead from {was} to {now}')
    wide = page.evaluate('document.querySelector(".tl").scrollWidth > document.querySelector(".tl").clientWidth')
    check(not wide, 'on a phone the timeline is wider than the screen')
    page.context.close()


def for_the_page(open_page, path):
    """What other sections call."""
    page = opened(open_page, path)
    note = page.inner_text('.tl-note')
    check('The profile has 5 events' in note and 'each of their 3 events' in note and '-f perfetto' in note, f'what is not here is said as {note!r}')
    told = page.evaluate('[ids.timeline.extractOf(1500, 2000), ids.timeline.extractOf(ids.timeline.whole.from, ids.timeline.whole.to)]')
    check(told[0].endswith(' -f perfetto --from 1500ns --to 2us') and told[1].endswith(' -f perfetto'), f'every event of a stretch: {told}')
    found = page.evaluate('ids.timeline.find("k1")')
    check(found >= 1, f'find says {found}')
    check(page.evaluate('ids.timeline.find("no such name")') == 0, 'find finds what is not there')
    device = page.evaluate('T.row("group").key')
    page.evaluate('(device) => ids.timeline.show([{ from: 60000, to: 120000, device }], "a gap")', device)
    from_, to = view(page)
    check(50 < from_ < 60 and 120 < to < 130, f'show leads to {from_} to {to}')
    check(live(page).startswith('a gap: 1 interval'), f'show says {live(page)!r}')
    page.pdf()
    page.context.close()


def two(open_page):
    """diff --html: two timelines on one scale, each from its own zero, and one that is not there."""
    path, base = FOLDER / 'diff.html', SOURCE / 'testdata/compare/base'
    subprocess.run([IDSPROF, 'diff', base, SOURCE / 'testdata/compare/recompile', '--html', path], check=False, capture_output=True)
    ends = [max(end for lane in row['lanes'] for _, end, *_ in marks(data, lane)) / 1e6
            for data in (block(path, 'timeline_a'), block(path, 'timeline_b')) for _, _, row in list(rows(data, 'accounts'))[:1]]
    page = open_page(path)
    views = 'ids.timelines.map((one) => [one.view.from / 1000, one.view.to / 1000])'
    a, b = page.evaluate(views)
    check(a == b and a[1] >= max(ends), f'the timelines show {a} and {b} us, and the runs end at {ends}')
    colour = """(us) => ids.timelines.map((one) => { const lane = one.rows.find((row) => row.kind === 'accounts').lanes[0];
        const mark = idsMarks.at(lane, us * 1000, 0); return mark < 0 ? null : one.data.accounts[one.accountOf(lane, mark)]; })"""
    check(page.evaluate(colour, max(ends) - 30000)[0] is None, 'after its end the shorter run still does something')
    page.evaluate('ids.timelines[1].zoom(1000000, 2000000)')
    a, b = page.evaluate(views)
    check(a == b and near(a[0], 995, 1), f'when one is zoomed they show {a} and {b}')
    for i in (0, 1):
        page.locator('.tl-scroller').nth(i).focus()
        page.keyboard.press('d')
        a, b = page.evaluate(views)
        check(a == b and a[0] > 1000 * (1 + 0.15 * i), f'after D in timeline {i} they show {a} and {b}')
    described = page.evaluate("[...document.querySelectorAll('.tl-scroller')].map((one) => one.getAttribute('aria-describedby'))")
    check(len(set(described)) == 2 and all(page.locator(f'#{one}').count() == 1 for one in described), f'the keys are listed in {described}')
    page.context.close()
    database = FOLDER / 'base.db'
    subprocess.run([IDSPROF, 'import', base, '-o', database], check=True, capture_output=True)
    subprocess.run([IDSPROF, 'diff', database, SOURCE / 'testdata/compare/again', '--html', path, '--force'], check=False, capture_output=True)
    page = open_page(path)
    check('No timeline: a database holds' in page.inner_text('#timeline-section'), 'of a database the page does not say why it has no timeline')
    page.context.close()


def hostile(open_page):
    names = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(2)>', '"\'`&quot;', '\u202egnp.exe', 'a\u2028b', '${alert(3)}', 'n' * 100000, '__proto__', 'constructor']
    lines = ['idsprof-mini 1', 'host </script><b>h', 'plane /device:GPU:0', 'line 1 "Stream #1(<!--<script>)"']
    lines += [f'{20 * i}us 10us "{name}" correlation_id={i + 1}' for i, name in enumerate(names) if '"' not in name]
    run = FOLDER / 'hostile.mini'
    run.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    path = write_page(run, FOLDER / 'hostile.html')
    page = opened(open_page, path)
    for name in names:
        if '"' in name:
            continue
        check(page.evaluate('(name) => ids.timeline.find(name)', name[:500]) >= 1, f'{name[:60]!r} is not found')
        page.evaluate('ids.timeline.step(1)')
        shown = page.text_content('.tl-panel h3')
        check(name.startswith(shown) and len(shown) >= min(len(name), 600), f'{name[:60]!r} is shown as {shown[:60]!r}')
    page.context.close()


def thin(open_page):
    """Many gaps of nanoseconds are no wall: what is narrower than a pixel is as high as it is long."""
    lines = ['idsprof-mini 1', 'host h', 'plane /device:GPU:0', 'line 1 "Stream #1(Kernel)"', '0us 100us k correlation_id=1', '400us 100us k correlation_id=2']
    lines += [f'{500 + 10 * i}.001us 9.999us k correlation_id={i + 3}' for i in range(400)]
    run = FOLDER / 'thin.mini'
    run.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    page = opened(open_page, write_page(run, FOLDER / 'thin.html'))
    filled = """(us) => { const t = ids.timeline, row = t.visible.find((one) => one.kind === 'gaps'), y = (row.top - t.scroller.scrollTop) * t.ratio;
        const x = Math.round((t.left + (us * 1000 - t.view.from) / (t.view.to - t.view.from) * t.width) * t.ratio), wide = 40;
        const copy = new OffscreenCanvas(wide, 19).getContext('2d', { willReadFrequently: true });
        copy.drawImage(t.canvas, x, y - 4, wide, 19, 0, 0, wide, 19);
        const data = copy.getImageData(0, 4, wide, 15).data, ground = [...copy.getImageData(0, 0, 1, 1).data].join();
        let n = 0;
        for (let i = 0; i < data.length; i += 4) n += [...data.slice(i, i + 4)].join() !== ground;
        return n / wide / 15; }"""
    wide, narrow = page.evaluate(filled, 200), page.evaluate(filled, 2230)
    check(wide > 0.9 and narrow < 0.1, f'a gap of 300 us fills {wide} of its row, and gaps of 1 ns each 10 us fill {narrow}')
    page.context.close()


def million(open_page):
    """A million events: the first frame, a hundred frames of moving, memory. Prints what it measured."""
    run = big_run.write(FOLDER / 'big.xplane.pb', 1_000_000)
    path = write_page(run, FOLDER / 'big.html')
    data = block(path)
    check(data['events'] >= 1_000_000 and path.stat().st_size < 2_000_000, f'{data["events"]} events, {path.stat().st_size} bytes')
    begun = time.monotonic()
    page = opened(open_page, path)
    first = time.monotonic() - begun
    check(first < 2 * FACTOR, f'the first frame took {first:.2f} s')
    frames = page.evaluate('''async () => {
      const t = ids.timeline, times = [], paints = [], paint = t.paint.bind(t);
      t.paint = () => { const begin = performance.now(); paint(); paints.push(performance.now() - begin); };
      let last = await new Promise(requestAnimationFrame);
      for (let i = 0; i < 100; i++) {
        t.pan(i < 50 ? 0.02 : -0.02);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last); last = now;
      }
      const up = (list) => list.sort((a, b) => a - b);
      return { times: up(times), paints: up(paints) };
    }''')
    session = page.context.new_cdp_session(page)
    session.send('Performance.enable')
    heap = {metric['name']: metric['value'] for metric in session.send('Performance.getMetrics')['metrics']}['JSHeapUsedSize']
    arrays = page.evaluate('''ids.timeline.rows.reduce((sum, row) => sum + row.lanes.reduce((all, lane) => all +
      Object.values(lane).reduce((bytes, column) => bytes + (column && column.byteLength || 0), 0), 0), 0)''')
    times, paints = frames['times'], frames['paints']
    print(f'a million events: {path.stat().st_size / 1e6:.2f} MB, {data["marks"]} marks; first frame {first:.2f} s; frames: median {times[50]:.1f}, '
          f'longest {times[-1]:.1f} ms; painting: median {paints[len(paints) // 2]:.1f}, longest {paints[-1]:.1f} ms; heap {heap / 1e6:.0f} MB '
          f'and {arrays / 1e6:.0f} MB of columns; load {os.getloadavg()[0]:.1f}')
    check(len(paints) >= 100, f'{len(paints)} frames of 100 were painted')
    check(paints[-1] < 50 * FACTOR and times[-1] < 50 * FACTOR, f'of a hundred frames the longest took {times[-1]:.1f} ms, painting {paints[-1]:.1f} ms')
    check(heap + arrays < 300e6, f'{heap + arrays} bytes of memory')
    nouns = page.evaluate("""['accounts', 'ops'].map((kind) => { const row = ids.timeline.rows.find((one) => one.kind === kind), lane = row.lanes[0];
        return ids.timeline.describe({ row: row.index, lane: 0, mark: lane.count.findIndex((count) => count > 1) }).title; })""")
    check('intervals here' in nouns[0] and 'events here' in nouns[1], f'what is merged is called {nouns}')
    merged = page.evaluate('ids.timeline.reset(), ids.timeline.summary()')
    check('more are merged; every one: idsprof extract' in merged, f'of merged events the page says {merged!r}')
    page.context.close()


def main():
    path = write_page(SOURCE / 'testdata/mini/strip.mini', FOLDER / 'strip.html')
    with browser() as open_page:
        for look in (colours, keys, mouse, touch, for_the_page):
            look(open_page, path)
        two(open_page)
        hostile(open_page)
        thin(open_page)
        million(open_page)
    finish()


if __name__ == '__main__':
    main()
