#!/usr/bin/env python3
"""idsprof view --live in Chromium: the page asks its server for each event of what it shows, and draws them; nobody else is answered.

IDS_LIVE_EVENTS: how many events the profile has (300,000; 15,000,000 by hand).
Environment: IDSPROF, IDS_SOURCE_DIR; XDG_CACHE_HOME is the test's own.
"""
import http.client
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

import big_run
from browser import browser, check, finish

IDSPROF = Path(os.environ['IDSPROF']).resolve()
FOLDER = Path(os.environ.get('TMPDIR') or tempfile.mkdtemp())
EVENTS = int(os.environ.get('IDS_LIVE_EVENTS', '300000'))
FACTOR = float(os.environ.get('IDS_TIME_FACTOR', '1'))


def start(run, *words):
    server = subprocess.Popen([IDSPROF, 'view', run, '--live', '--no-open', *words], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def ask(address, path, host=None, method='GET', **headers):
    place = urllib.parse.urlparse(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader('Host', host or place.netloc)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def refused(address):
    """Only the token, our name and whole questions are answered."""
    path = urllib.parse.urlparse(address).path
    token = path.rpartition('/')[0]
    good = f'{token}/events?from=0&to=1000000&tracks=1'
    check(ask(address, good)[0] == 200, 'a question is not answered')
    for what, wanted, where, more in (
            ('no token', 404, '/events?from=0&to=1&tracks=1', {}), ('another token', 404, '/' + '0' * 32 + '/events?from=0&to=1&tracks=1', {}),
            ('a file', 404, f'{token}/../../etc/passwd', {}), ('another host', 403, good, {'host': 'evil.example'}),
            ('another origin', 403, good, {'Origin': 'https://evil.example'}), ('to write', 405, good, {'method': 'POST'}),
            ('no number', 400, f'{token}/events?from=x&to=1&tracks=1', {}), ('SQL', 400, f'{token}/events?from=0&to=1&tracks=1)%20OR%201=1', {}),
            ('half a question', 400, f'{token}/events?from=0', {}), ('too many tracks', 400, f'{token}/events?from=0&to=1&tracks=' + ','.join('1' * 65), {})):
        status, _ = ask(address, where, **more)
        check(status == wanted, f'{what}: {status}, not {wanted}')
    check(ask(address, f'{token}/events')[1].strip() == b'{}', 'who asks whether somebody is there gets no answer')
    check(json.loads(ask(address, f'{token}/events?from=0&to=1000&tracks=999')[1])['rows'][0]['lanes'] == [], 'a track that is not there has events')
    far = json.loads(ask(address, f'{token}/events?from=-9223372036854775808&to=9223372036854775807&tracks=1')[1])
    check('rows' in far or far['too_many'] > 50000, f'all of time: {str(far)[:80]}')


def told(run, address, track, from_ps, to_ps):
    """What the server says of a track is what SQL says."""
    token = urllib.parse.urlparse(address).path.rpartition('/')[0]
    answer = json.loads(ask(address, f'{token}/events?from={from_ps}&to={to_ps}&tracks={track}')[1])
    found = []
    for lane in answer['rows'][0]['lanes']:
        at = 0
        for gap, length, what in zip(lane['gap'], lane['time'], lane['what'], strict=True):
            found.append((at + gap, length, answer['name'][what]))
            at += gap + length
    rows = subprocess.run([IDSPROF, 'query', run, '--csv', f'SELECT start_ps, dur_ps, name FROM events WHERE track_id = {track} AND start_ps < {to_ps} '
                           f'AND start_ps + dur_ps > {from_ps} ORDER BY start_ps, dur_ps DESC'], capture_output=True, text=True, check=True).stdout
    wanted = [(int(a), int(b), c) for a, b, c in (row.split(',') for row in rows.split()[1:])]
    check(len(wanted) > 10 and sorted(found) == sorted(wanted), f'track {track}: {len(found)} events, not {len(wanted)}: {found[:2]} {wanted[:2]}')


HELD = '() => ids.timeline.live_events.held'
SEEN = '''() => { const t = ids.timeline, row = t.rows.find((one) => one.kind === 'ops'), thread = t.rows.find((one) => one.kind === 'thread');
    const count = (one) => one.lanes.reduce((sum, lane) => { for (let i = 0; i < lane.n; i++)
      if (lane.end[i] > t.view.from && lane.start[i] < t.view.to) { sum[0] += lane.count[i] > 1; sum[1]++; } return sum; }, [0, 0]);
    return { ops: count(row), thread: count(thread), lanes: thread.lanes.length, said: t.summary(),
             account: row.lanes[0].n ? t.data.accounts[t.accountOf(row.lanes[0], idsMarks.after(row.lanes[0], t.view.from))] : null }; }'''


def looks(open_page, address, run, server):
    page = open_page(address, served=True)
    whole = page.evaluate('[ids.timeline.whole.from, ids.timeline.whole.to, ids.timeline.data.zero_ps]')
    page.evaluate('ids.timeline.reset()')
    page.wait_for_timeout(400)
    check(page.evaluate(HELD) is None, 'the whole run is fetched event by event')
    middle, span = whole[0] + 0.4 * (whole[1] - whole[0]), 300_000
    page.evaluate('([a, b]) => ids.timeline.setView({ from: a, to: b })', [middle, middle + span])
    before = page.evaluate(SEEN)
    check(before['ops'][0] > 0, 'the page has each event by itself: the test needs more of them')
    page.wait_for_function(HELD)
    after = page.evaluate(SEEN)
    expected = subprocess.run([IDSPROF, 'query', run, '--csv', f"SELECT count(*) FROM events WHERE plane = '/device:GPU:0' AND start_ps < "
                               f"{round((middle + span) * 1000 + whole[2])} AND start_ps + dur_ps > {round(middle * 1000 + whole[2])}"],
                              capture_output=True, text=True, check=True).stdout.split()[1]
    check(after['ops'] == [0, int(expected)], f'{after["ops"]} marks of ops are shown, and there are {expected} events')
    check(after['account'] == 'work.compute' and 'each event of the rows in sight' in after['said'], f'said: {after["said"]}, {after["account"]}')
    check(after['thread'][0] == 0 and after['thread'][1] > before['thread'][1], f'a thread has {after["thread"]} marks, and had {before["thread"]}')
    page.evaluate('ids.timeline.select({ row: ids.timeline.rows.findIndex((one) => one.kind === "ops"), lane: 0, mark: 5 })')
    title = page.inner_text('.tl-panel h3')
    check(re.fullmatch(r'kernel_of_layer_\d+', title), f'what is selected is called {title!r}')
    page.evaluate('ids.timeline.reset()')
    check(page.evaluate(HELD) is None and page.evaluate('ids.timeline.data.what.name.length === ids.timeline.live_events.whats'),
          'what was fetched stays when it is no longer seen')
    frames = page.evaluate('''async ([a, b]) => {
      const t = ids.timeline, times = [];
      t.setView({ from: a, to: b });
      let last = await new Promise(requestAnimationFrame);
      for (let i = 0; i < 100; i++) {
        t.pan(0.1);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last); last = now;
      }
      return times.sort((x, y) => x - y);
    }''', [middle, middle + span])
    page.wait_for_function(HELD)
    session = page.context.new_cdp_session(page)
    session.send('Performance.enable')
    heap = {metric['name']: metric['value'] for metric in session.send('Performance.getMetrics')['metrics']}['JSHeapUsedSize']
    status = Path(f'/proc/{server.pid}/status').read_text()
    memory = {key: int(re.search(key + r':\s+(\d+)', status).group(1)) / 1000 for key in ('VmHWM', 'RssAnon')}
    print(f'{EVENTS} events: frames of a pan: median {frames[50]:.1f}, longest {frames[-1]:.1f} ms; heap {heap / 1e6:.0f} MB; server: {memory} MB')
    check(frames[-1] < 100 * FACTOR, f'of a hundred frames the longest took {frames[-1]:.1f} ms')
    is_sanitized = os.environ.get('IDS_SANITIZE') == '1'
    check(heap < 300e6 and (is_sanitized or memory['RssAnon'] < 60), f'heap {heap}, server {memory} MB')
    server.terminate()
    server.wait()
    page.evaluate('ids.timeline.pan(3)')
    page.wait_for_function('() => ids.timeline.summary().includes("has ended")')
    page.context.close()


def main():
    run = big_run.write(FOLDER / 'live.xplane.pb', EVENTS)
    begun = time.monotonic()
    server, address = start(run)
    print(f'served after {time.monotonic() - begun:.1f} s')
    refused(address)
    thread = subprocess.run([IDSPROF, 'query', run, '--csv', "SELECT id FROM tracks WHERE track = 'python'"], capture_output=True, text=True, check=True)
    told(run, address, int(thread.stdout.split()[1]), 10_000_000, 15_000_000)
    told(run, address, 1, 10_000_000, 200_000_000)
    with browser() as open_page:
        looks(open_page, address, run, server)
    late, address = start(run, '--wait', '1s')
    check(address.startswith('http://127.0.0.1:') and late.wait(timeout=60) == 1, f'a server to which nobody came ended with {late.returncode}')
    finish()


if __name__ == '__main__':
    main()
