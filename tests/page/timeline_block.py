"""The block `timeline` of a page, read as lib/report/html/timeline.h says it is written; shares nothing with timeline_marks.js."""
import base64
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

IDSPROF = Path(os.environ['IDSPROF']).resolve()


def write_page(run, page, *words):
    """The page of a run, which is read again."""
    done = subprocess.run([IDSPROF, 'report', run, '--html', page, '--force', '--no-cache', *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f'{run}: exit {done.returncode}: {done.stderr}')
    return page


def block(page, name='timeline'):
    letters = re.search(f'<script type="text/plain" id="{name}">([^<]*)</script>', Path(page).read_text(encoding='utf-8')).group(1)
    return json.loads(gzip.decompress(base64.b64decode(letters)))


def marks(data, lane):
    """Each mark of a lane in picoseconds: start, end, name (None of many), account, count, busy."""
    unit, at, many, merged = data['unit_ps'], 0, iter(lane['count']), iter(lane['busy'])
    names, accounts, texts = data['what']['name'], data['what']['account'], data['texts']
    for gap, time, what in zip(lane['gap'], lane['time'], lane['what'], strict=True):
        start, at = at + gap, at + gap + time
        count = next(many) if what < 0 else 1
        busy = next(merged) / 1000 if count > 1 else 1
        account = data['accounts'][-1 - what if what < 0 else accounts[what]]
        yield start * unit, at * unit, None if what < 0 else texts[names[what]], account, count, busy


def rows(data, kind):
    """The rows of a kind, each with the label of the device or host that it is of."""
    for row in data['rows']:
        if row['kind'] == kind:
            group = data['texts'][data['rows'][row['parent']]['label']] if row['parent'] >= 0 else ''
            yield group, data['texts'][row['label']], row
