#!/usr/bin/env python3
"""Manners on a terminal: width, colour, long names, and what happens when the output cannot be written.

Environment: IDSPROF (the binary), IDS_SOURCE_DIR.
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
RUN = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata' / 'cpu8_annotated'
SECTIONS = ('overview', 'steps', 'utilization', 'idle_gaps', 'small_kernels', 'transfers', 'collectives', 'compile', 'ops', 'kernels',
            'annotations', 'advice')
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def environment(**changes):
    result = {k: v for k, v in os.environ.items() if k not in ('COLUMNS', 'NO_COLOR')}
    result['TERM'] = 'xterm'
    result.update(changes)
    return result


def report(*options, env=None):
    run = subprocess.run([IDSPROF, 'report', str(RUN), *options], capture_output=True, text=True, timeout=60,
                         env=env or environment())
    check(run.returncode == 0, f'report {options}: exit {run.returncode}: {run.stderr}')
    check(run.stderr == '', f'report {options}: stderr {run.stderr!r}')
    return run.stdout


def on_terminal(columns, *options, env=None):
    """The output on a terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
    run = subprocess.Popen([IDSPROF, 'report', str(RUN), *options], stdout=slave, stderr=slave, env=env or environment())
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    check(run.wait(60) == 0, f'on a terminal {options}: exit {run.returncode}')
    return b''.join(chunks).decode().replace('\r\n', '\n')


def columns_of(line):
    line = re.sub(r'\033\[[0-9;]*m', '', line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


def check_widths():
    for width in (40, 60, 80, 100, 132):
        text = report(f'--width={width}', '--section', 'ops', '--section', 'idle_gaps')
        for line in text.splitlines():
            check(columns_of(line) <= width, f'--width {width}: {line!r}')
            check(line == line.rstrip(), f'--width {width}: trailing space in {line!r}')
    check(report(env=environment(COLUMNS='80')) == report('--width', '80'), 'COLUMNS is not heeded')
    check(report() == report('--width', '120'), 'without a terminal the width is not 120')
    check(report('--width', '10') == report('--width', '40'), 'the least width is not 40')
    check(on_terminal(70, '--color=never') == report('--width', '70'), 'the width of the terminal is not heeded')


def check_names():
    check(any('…' in report('--width', width, '--section', 'ops') for width in ('90', '100', '110', '120')), 'no name was shortened')
    check('too wide' in report('--width', '60', '--section', 'ops'), 'what did not fit is not said')
    full = report('--width', '60', '--section', 'ops', '--full', '--top', '0')
    check('…' not in full and 'too wide' not in full, '--full shortens')
    tables = json.loads(report('--json', '--section', 'ops'))['tables']
    names = {row[i] for table in tables.values() for i, column in enumerate(table['columns']) if column['id'] == 'name' for row in table['rows']}
    check(names and all(name in full for name in names), '--full lacks a name that JSON has')


NAMES = {'ops': 'op', 'idle_gaps': 'mostly', 'small_kernels': 'first kernel'}


def check_names_stay():
    """However narrow the line: the column that says what a row is about is there, and no two rows that differ look alike."""
    for width in ('40', '60', '80'):
        for section, title in NAMES.items():
            text = report('--width', width, '--section', section, '--top', '30')
            check(re.search(rf'  {title}( |$)', text, re.M), f'--width {width} --section {section}: no column {title}')
    shared = os.environ.get('IDS_SHARED')
    run = os.path.join(shared, 'traces', 'gpu_mi300_jax_gemm') if shared else ''
    for width in ('40', '60', '80', '120') if os.path.isdir(run) else ():
        rows = subprocess.run([IDSPROF, 'report', run, '--section', 'ops', '--width', width], capture_output=True, text=True, timeout=60)
        names = re.findall(r'(?:s|%)  (custom.*?)(?:  |$)', rows.stdout, re.M)
        check(len(names) == 10 == len(set(names)), f'--width {width}: five products of matrices, and these as computations, are called {names}')


def check_accounts():
    """Where the time goes: each account keeps its time however narrow the terminal is."""
    wide = re.findall(r'^  ([a-z]+\.[a-z0-9_]+) +(\d[\d.,]* [mun]?s)', report('--width', '200', '--section', 'ledger'), re.M)
    check(len(wide) > 3, f'accounts: {wide}')
    for width in ('40', '60', '80'):
        found = re.findall(r'^  ([a-z]+\.[a-z0-9_]+) +(\d[\d.,]* [mun]?s)', report('--width', width, '--section', 'ledger'), re.M)
        check(found == wide, f'--width {width}: {found}, not {wide}')


def check_headings():
    """No heading is said twice: not by a section and its table, not by the advice."""
    for section in SECTIONS:
        for top in ('2', '0'):
            text = report('--section', section, '--top', top)
            headings = re.findall(r'^  (?:TOP \d+ )?([A-Z][A-Z0-9 ]{3,}[A-Z0-9])(?:$|  )', text, re.M)
            check(len(headings) == len(set(headings)), f'--section {section} --top {top}: {headings}')


def check_colour():
    check('\033' not in report(), 'colour without a terminal')
    check('\033[1m' in report('--color', 'always'), '--color always has none')
    check('\033[1m' in on_terminal(100), 'no colour on a terminal')
    check('\033' not in on_terminal(100, env=environment(NO_COLOR='1')), 'NO_COLOR is not heeded')
    check('\033' in on_terminal(100, env=environment(NO_COLOR='')), 'an empty NO_COLOR counts')
    check('\033' not in on_terminal(100, env=environment(TERM='dumb')), 'colour on a dumb terminal')
    check('\033' not in on_terminal(100, '--color=never'), '--color never has colour')
    plain = re.sub(r'\033\[[0-9;]*m', '', report('--color', 'always'))
    check(plain == report('--color', 'never'), 'colour changes more than colour')


def check_ascii():
    """A locale that is not UTF-8 gets ASCII, as wide as before, in text and in messages; JSON stays UTF-8."""
    for name, value in (('LC_ALL', 'C'), ('LC_CTYPE', 'POSIX'), ('LANG', 'en_US.ISO-8859-1')):
        plain = {k: v for k, v in environment().items() if not k.startswith('LC_') and k != 'LANG'}
        for words in (('report', str(RUN)), ('report', str(RUN), '--section', 'idle_gaps', '--width', '60'), ('list', str(RUN)),
                      ('diff', str(RUN), str(RUN)), ('report', '/nonexistent/→…'), ('report', '-h')):
            found = [subprocess.run([IDSPROF, *words], capture_output=True, timeout=60, env=env)
                     for env in ({**plain, name: value}, {**plain, 'LC_ALL': 'C.UTF-8'})]
            ascii, utf8 = ((run.stdout + run.stderr) for run in found)
            check(ascii.isascii() and found[0].returncode == found[1].returncode, f'{name}={value} {words}: {ascii!r}')
            check([len(line) for line in ascii.decode().split('\n')] == [columns_of(line) for line in utf8.decode().split('\n')],
                  f'{name}={value} {words}: not as wide as in UTF-8')
        run = subprocess.run([IDSPROF, 'report', str(RUN), '--json'], capture_output=True, timeout=60, env={**plain, name: value})
        check(json.loads(run.stdout)['run']['devices']['text'].startswith('8 × CPU'), f'{name}={value} --json: not UTF-8')
    check('·' in report(env=environment(LC_ALL='', LC_CTYPE='', LANG='')), 'without a locale the text is not UTF-8')


def check_small_kernel_zero():
    """Where no kernel can be small there is nothing to grade."""
    line = re.search(r'^  small kernels.*$', report('--small-kernel', '0'), re.M)[0]
    check(not re.search(r'good|warn|bad', line), f'--small-kernel 0: {line!r}')
    check(re.search(r'good|warn|bad', re.search(r'^  small kernels.*$', report(), re.M)[0]), 'small kernels have no grade')


def shell(script):
    return subprocess.run(['bash', '-c', script, 'bash', IDSPROF, str(RUN)], capture_output=True, text=True, timeout=60)


def check_output_errors():
    # Hidden tables in JSON: more than a pipe and the buffer hold, so that writing goes on after head is gone.
    everything = '--json --section overview --section ops --section steps'
    for options in ('', everything):
        run = shell(f'"$1" report "$2" {options} | head -1 >/dev/null; echo "${{PIPESTATUS[0]}}"')
        check(run.stdout == '0\n' and run.stderr == '', f'| head -1 {options}: {run.stdout!r} {run.stderr!r}')
    run = shell('"$1" report "$2" | true; echo "${PIPESTATUS[0]}"')
    check(run.stdout == '0\n' and run.stderr == '', f'| true: {run.stdout!r} {run.stderr!r}')
    if os.path.exists('/dev/full'):
        for words in ('report "$2"', f'report "$2" {everything}', 'list "$2"', '-h', 'completion bash'):
            run = shell(f'"$1" {words} >/dev/full')
            check(run.returncode == 2, f'{words} >/dev/full: exit {run.returncode}')
            check('cannot write the output: No space left on device' in run.stderr, f'{words} >/dev/full: {run.stderr!r}')
    run = shell('"$1" report "$2" >&-')
    check(run.returncode == 2 and 'cannot write the output' in run.stderr, f'>&-: {run.returncode} {run.stderr!r}')


def check_singulars():
    """One of a thing is called by its singular."""
    for trace, words in (('collectives_copy_no_compute', ('1 copy,', '1 collective')), ('steps_two_devices', ())):
        run = subprocess.run([IDSPROF, 'report', '--no-cache', str(RUN.parent / 'mini' / f'{trace}.mini')], capture_output=True, text=True, timeout=60)
        wrong = re.findall(r'(?<![\d.,])1 (?:copies|collectives|gaps|kernels|steps|launches|compilations)\b', run.stdout)
        check(run.returncode == 0 and not wrong and all(word in run.stdout for word in words), f'{trace}: {wrong} {run.stdout}')


check_widths()
check_names()
check_singulars()
check_names_stay()
check_accounts()
check_headings()
check_colour()
check_ascii()
check_small_kernel_zero()
check_output_errors()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
