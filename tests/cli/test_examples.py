#!/usr/bin/env python3
"""The worked examples of the manual pages print what the pages say.

An example is a literal display whose first line begins with "$ "; what follows is the output, standard error included. "..." stands for
anything, on a line of its own for any lines. They run in the order of the page, in the project's folder, in lines of 78 columns.
Environment: IDSPROF, IDS_SOURCE_DIR; XDG_DATA_HOME is the test's own.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = Path(os.environ['IDSPROF']).resolve()
PAGES = {'diff': 5, 'check': 6, 'baseline': 5, 'scale': 2}
failures = []


def examples(page):
    text = (SOURCE / 'man' / f'idsprof-{page}.1').read_text()
    for block in re.findall(r'^\.Bd -literal -offset indent\n(.*?)^\.Ed$', text, re.S | re.M):
        block = block.replace('\\&', '').replace('\\e', '\\')
        if block.startswith('$ '):
            command, _, output = block[2:].partition('\n')
            yield command, output.rstrip('\n')


def matches(wanted, found):
    pattern = '.*'.join(re.escape(piece) for piece in wanted.split('...'))
    return re.fullmatch(pattern, found, re.S) is not None


def main():
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / 'idsprof').symlink_to(IDSPROF)
        environment = {**os.environ, 'PATH': scratch + ':' + os.environ['PATH'], 'COLUMNS': '78', 'XDG_DATA_HOME': scratch + '/data'}
        for page, least in PAGES.items():
            found = list(examples(page))
            if len(found) < least:
                failures.append(f'idsprof-{page}.1 has {len(found)} examples')
            for command, output in found:
                done = subprocess.run(['bash', '-c', command], cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=120)
                got = (done.stdout + done.stderr).rstrip('\n')
                if not matches(output, got):
                    failures.append(f'idsprof-{page}.1: {command}\n--- the page\n{output}\n--- printed\n{got}')
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


sys.exit(main())
