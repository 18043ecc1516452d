#!/usr/bin/env python3
"""The worked examples of README.md, of docs and of the manual pages print what the pages say, and every option in them is one.

An example of the manual is a literal display whose first line begins with "$ "; what follows is the output, standard error included.
In README.md and docs it is a block about testdata, in lines of 110 and 100 columns. "..." stands for anything, on a line of its own for any lines.
They run in the order of the page, in the project's folder, those of the manual in lines of 78 columns. Commands of Markdown that do not
run here, because they need a cluster or a training program, must at least be commands with options that `-h` has.

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
COLUMNS = {'README.md': '110', 'docs/tutorial.md': '100'}
PAGES = {'README.md': 3, 'docs/tutorial.md': 6, 'man/idsprof-diff.1': 5, 'man/idsprof-check.1': 6, 'man/idsprof-baseline.1': 5, 'man/idsprof-scale.1': 4}
failures = []


def plain(page, block):
    return block if page in COLUMNS else block.replace('\\&', '').replace('\\e', '\\')


def examples(page):
    """Commands, and what the page says that each prints, as it stands there."""
    text = (SOURCE / page).read_text()
    form = r'^```\n(\$ idsprof \w+ testdata/.*?)^```$' if page in COLUMNS else r'^\.Bd -literal -offset indent\n(.*?)^\.Ed$'
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
    if page not in COLUMNS:
        blank = '\\&' if '\n\\&\n' in output else ''
        lines = [blank if not line else '\\&' + line if line[0] in ".'" else line for line in (line.replace('\\', '\\e') for line in lines)]
    path = SOURCE / page
    path.write_text(path.read_text().replace(output + '\n', '\n'.join(lines) + '\n', 1))


def matches(wanted, found):
    pattern = '.*'.join(re.escape(piece) for piece in wanted.split('...'))
    return re.fullmatch(pattern, found, re.S) is not None


def commands_of(text):
    """The calls of idsprof in blocks and in code of a Markdown page, as words."""
    blocks = re.findall(r'^```\w*\n(.*?)^```$', text, re.S | re.M)
    lines = [line for block in blocks for line in block.replace('\\\n', ' ').split('\n')] + re.findall(r'`(idsprof [^`]+)`', text)
    for line in lines:
        for call in re.findall(r'(?:^|[\s;"])((?:build/release/)?idsprof [a-z]+ [^|;&]*)', line.split(' #')[0]):
            yield call.split()[1:]


def check_options():
    helps, found = {}, 0
    for page in [SOURCE / 'README.md', *sorted((SOURCE / 'docs').glob('*.md'))]:
        for words in commands_of(page.read_text()):
            if words[0] not in helps:
                helps[words[0]] = subprocess.run([IDSPROF, words[0], '-h'], capture_output=True, text=True, timeout=20).stdout
            own = words[:words.index('--')] if '--' in words else words
            for option in (word.partition('=')[0] for word in own if re.fullmatch(r'--[a-z][a-z-]+(=.*)?', word)):
                found += 1
                if not re.search(re.escape(option) + r'(?![a-z-])', helps[words[0]]):
                    failures.append(f'{page.name}: idsprof {words[0]} has no {option}')
    if found < 40:
        failures.append(f'{found} options in Markdown')


def main():
    check_options()
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / 'idsprof').symlink_to(IDSPROF)
        environment = {**os.environ, 'PATH': scratch + ':' + os.environ['PATH'], 'XDG_DATA_HOME': scratch + '/data'}
        for page, least in PAGES.items():
            found = list(examples(page))
            environment['COLUMNS'] = COLUMNS.get(page, '78')
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
