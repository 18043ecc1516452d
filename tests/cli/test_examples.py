#!/usr/bin/env python3
"""The worked examples of README.md and of the manual pages print what the pages say.

An example of the manual is a literal display whose first line begins with "$ "; what follows is the output, standard error included.
In README.md it is a block about testdata, in lines of 110 columns. "..." stands for anything, on a line of its own for any lines.
They run in the order of the page, in the project's folder, those of the manual in lines of 78 columns.

    test_examples.py --renew     writes what is printed now into the pages; read the difference before you keep it

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
README = 'README.md'
PAGES = {README: 3, 'man/idsprof-diff.1': 5, 'man/idsprof-check.1': 6, 'man/idsprof-baseline.1': 5, 'man/idsprof-scale.1': 4}
failures = []


def plain(page, block):
    return block if page == README else block.replace('\\&', '').replace('\\e', '\\')


def examples(page):
    """Commands, and what the page says that each prints, as it stands there."""
    text = (SOURCE / page).read_text()
    form = r'^```\n(\$ idsprof \w+ testdata/.*?)^```$' if page == README else r'^\.Bd -literal -offset indent\n(.*?)^\.Ed$'
    for block in re.findall(form, text, re.S | re.M):
        command, _, output = block.partition('\n')
        if plain(page, command).startswith('$ '):
            yield plain(page, command)[2:], output.rstrip('\n')


def renew(page, output, got):
    """A page cut short by "..." stays as long as it was."""
    lines = got.split('\n')
    if plain(page, output).endswith('\n...'):
        lines = lines[:output.count('\n')] + ['...']
    elif '...' in output:
        raise SystemExit(f'{page}: an example with "..." inside is renewed by hand')
    if page != README:
        blank = '\\&' if '\n\\&\n' in output else ''
        lines = [blank if not line else '\\&' + line if line[0] in ".'" else line for line in (line.replace('\\', '\\e') for line in lines)]
    path = SOURCE / page
    path.write_text(path.read_text().replace(output + '\n', '\n'.join(lines) + '\n', 1))


def matches(wanted, found):
    pattern = '.*'.join(re.escape(piece) for piece in wanted.split('...'))
    return re.fullmatch(pattern, found, re.S) is not None


def main():
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / 'idsprof').symlink_to(IDSPROF)
        environment = {**os.environ, 'PATH': scratch + ':' + os.environ['PATH'], 'XDG_DATA_HOME': scratch + '/data'}
        for page, least in PAGES.items():
            found = list(examples(page))
            environment['COLUMNS'] = '110' if page == README else '78'
            if len(found) < least:
                failures.append(f'{page} has {len(found)} examples')
            for command, output in found:
                done = subprocess.run(['bash', '-c', command], cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=120)
                got = (done.stdout + done.stderr).rstrip('\n')
                if not matches(plain(page, output), got) and '--renew' in sys.argv:
                    renew(page, output, got)
                elif not matches(plain(page, output), got):
                    failures.append(f'{page}: {command}\n--- the page\n{plain(page, output)}\n--- printed\n{got}')
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


sys.exit(main())
