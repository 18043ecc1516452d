#!/usr/bin/env python3
"""CONTRIBUTING.md is true: its blocks, applied to a copy of the tree, build and work; without any one of them something refuses and says
what to do.

A block ```LANGUAGE PATH [below|above LINE] is a file, or goes into one; ```run is commands, `idsprof` being the program of the copy. The line
behind a block, "Without it: `WHO` says `WORDS`", names who refuses: cmake, build, a ctest, or a command. "Says: `WORDS`" is what a
command prints.
Environment: IDS_SOURCE_DIR, IDS_BUILD_DIR, IDS_PYTHON, TMPDIR. IDS_CONTRIBUTOR_DIR: a scratch folder that is kept.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SCRATCH = Path(os.environ.get('IDS_CONTRIBUTOR_DIR') or os.environ['TMPDIR'])
TREE, BUILD = SCRATCH / 'tree', SCRATCH / 'build'
IDSPROF = BUILD / 'idsprof'
TESTS = ['golden.mini', 'golden.covered', 'cli.manual', 'unit.remedies']
BLOCK = re.compile(r'^```(\w+)(?: (\S+)(?: (below|above) ([^\n]+))?)?\n(.*?)^```\n((?:\n|Without it: [^\n]*\n|Says: [^\n]*\n)*)', re.M | re.S)
failures = []


class Step:
    def __init__(self, match):
        self.language, self.path, self.side, self.line, self.content, behind = match.groups()
        without = re.search(r'^Without it: `(.+?)` says `(.+)`$', behind, re.M)
        self.who, self.refusal = without.groups() if without else (None, None)
        self.says = re.search(r'^Says: `(.+)`$', behind, re.M)
        self.title = f'{self.path or self.content.strip()} {self.side or ""}'.strip()


def shell(command, **options):
    run = subprocess.run(command, shell=isinstance(command, str), cwd=TREE, capture_output=True, text=True, errors='replace', **options)
    return run.returncode, run.stdout + run.stderr


def environment():
    return dict(os.environ, IDSPROF=str(IDSPROF), IDS_SOURCE_DIR=str(TREE), IDS_BUILD_DIR=str(BUILD), PATH=f'{BUILD}:{os.environ["PATH"]}',
                XDG_CACHE_HOME=str(SCRATCH / 'cache'))


def configure():
    launcher = ['-DCMAKE_C_COMPILER_LAUNCHER=ccache'] if shutil.which('ccache') else []
    return shell(['cmake', '-S', TREE, '-B', BUILD, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_C_FLAGS_DEBUG=-O0', '-DIDS_WERROR=ON',
                  *launcher])


def build():
    return shell(['cmake', '--build', BUILD, '--target', 'idsprof', 'test_remedies'])


def ask(who):
    """What the one who should refuse says: the exit code and the words."""
    code, text = configure()
    if who == 'cmake' or code:
        return code, text if who == 'cmake' else f'cmake refuses: {text}'
    code, text = build()
    if who == 'build' or code:
        return code, text if who == 'build' else f'the build fails: {text}'
    if who.startswith('unit.'):
        return shell([BUILD / 'unit' / who.replace('unit.', 'test_')], env=environment())
    script = re.sub(r'^(\w+)\.(\w+)$', r'tests/\1/test_\2.py', who)
    return shell(['python3', script] if script != who else who, env=environment())


def apply(steps):
    """The tree as it is, with these steps. Only what differs is written, so that little is built."""
    wanted = {}
    for step in steps:
        if not step.path:
            continue
        if not step.side:
            wanted[step.path] = step.content
            continue
        text = wanted.get(step.path)
        if text is None:
            text = (SOURCE / step.path).read_text() if (SOURCE / step.path).exists() else ''
        at = text.find('\n' + step.line)
        if at < 0:
            if (SOURCE / step.path).exists():
                failures.append(f'{step.title}: no line of {step.path} begins with {step.line!r}')
            continue
        at = text.index('\n', at + 1) + 1 if step.side == 'below' else at + 1
        wanted[step.path] = text[:at] + step.content + text[at:]
    for path in sorted({step.path for step in all_steps if step.path}):
        content = wanted.get(path, (SOURCE / path).read_text() if (SOURCE / path).exists() else None)
        target = TREE / path
        if content is None:
            target.unlink(missing_ok=True)
        elif not target.exists() or target.read_text() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
    for page in ('idsprof-metrics.7', 'idsprof-schema.5'):  # made by commands
        shutil.copy(SOURCE / 'man' / page, TREE / 'man')


def run_commands(steps):
    for step in steps:
        if step.language != 'run':
            continue
        code, text = shell(step.content, env=environment())
        if code or (step.says and step.says[1] not in text):
            failures.append(f'{step.title}: exit {code}: {text}')


listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=SOURCE, capture_output=True, text=True)
if listed.returncode or not shutil.which('ninja'):
    print('no git here, or no ninja, which the copy is built with')
    sys.exit(77)
for name in listed.stdout.split('\0'):
    if name and '/corpus/' not in name and (SOURCE / name).is_file():
        target = TREE / name
        if not target.exists() or target.read_bytes() != (SOURCE / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, target)
page = (SOURCE / 'CONTRIBUTING.md').read_text()
all_steps = [Step(match) for match in BLOCK.finditer(page) if match[2] or match[1] == 'run']
if len(re.findall(r'^## A', page, re.M)) < 8 or len(all_steps) < 20:
    failures.append(f'{len(all_steps)} blocks: the page was not understood')

apply(all_steps)
code, text = configure()
if not code:
    code, text = build()
if code:
    print(f'FAIL: with all blocks it does not build:\n{text[-6000:]}')
    sys.exit(1)
run_commands(all_steps)
for who in TESTS:
    code, text = ask(who)
    if code:
        failures.append(f'with all blocks {who} fails: {text[-3000:]}')
refused = 0
for left_out in all_steps if not failures else ():
    if not left_out.who:
        if left_out.language != 'run':
            failures.append(f'{left_out.title}: the page does not say who refuses without it')
        continue
    rest = [step for step in all_steps if step is not left_out]
    apply(rest)
    if left_out.language != 'run' and left_out.who == 'cli.manual':
        build()
        run_commands([step for step in rest if not step.says])
    code, text = ask(left_out.who)
    if not code or left_out.refusal not in ' '.join(text.split()):  # cmake wraps its messages
        failures.append(f'without {left_out.title!r} {left_out.who} exits with {code} and does not say {left_out.refusal!r}: {text[-1500:]}')
    else:
        refused += 1
print(f'{len(all_steps)} blocks; {refused} that were left out were refused')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
