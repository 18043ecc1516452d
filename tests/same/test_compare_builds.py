#!/usr/bin/env python3
"""compare_builds.py finds a program equal to itself, and finds a byte that a build says otherwise: in each kind of output, with its place.

The other build is a wrapper that changes the output of this one. Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SCRATCH = Path(os.environ['TMPDIR'])
TRACES = [SOURCE / 'testdata' / name for name in ('cpu1_nohlo', 'json/jax_gpu.trace.json', 'mini/steps_one.mini')]
MINI = TRACES[2:]
failures = []


def compare(new, traces, *options):
    run = subprocess.run([sys.executable, SOURCE / 'tests/same/compare_builds.py', *options, IDSPROF, new, *traces], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def expect(what, got, code, *said):
    returned, text = got
    for part in said:
        if part not in text:
            failures.append(f'{what}: {part!r} is not said:\n{text}')
    if returned != code:
        failures.append(f'{what}: exit {returned}, not {code}:\n{text}')


def wrapper(name, body):
    """A build that does as this one, but for `body`, in which `program` is this one and $1 the command."""
    path = SCRATCH / name
    path.write_text(f'#!/bin/sh\nprogram() {{ {IDSPROF} "$@"; }}\n{body}\n')
    path.chmod(0o755)
    return path


expect('the same program twice', compare(IDSPROF, TRACES), 0, '3 traces, 0 differ')
expect('once more', compare(IDSPROF, TRACES), 0, '3 traces were found equal before', '3 traces, 0 differ')
expect('all of them again', compare(IDSPROF, MINI, '--again'), 0, '1 traces, 0 differ; 1')

text = wrapper('text', 'case "$*" in report*--json) program "$@";; report*) program "$@" | sed "1s/./X/" ;; *) program "$@" ;; esac')
expect('one byte of the text', compare(text, MINI), 1, 'steps_one.mini: text: stdout: byte 0 (line 1)', '1 traces, 1 differ')
expect('what differed is run again', compare(text, MINI), 1, '1 traces, 1 differ')
expect('a difference that is meant', compare(text, MINI, '--allow', 'text'), 0, '0 differ')
expect('another output is meant', compare(text, MINI, '--allow', 'dump'), 1, '1 differ')

value = wrapper('value', r"""case "$*" in *--json) program "$@" | sed -E 's/("run.events": \{"value":)[0-9]+/\18/' ;; *) program "$@" ;; esac""")
expect('a value of JSON', compare(value, MINI), 1, "json: $.metrics['run.events'].value: ", '7 -> 8', "json.cached: $.metrics['run.events'].value")
expect('a path that is meant', compare(value, MINI, '--allow', "$.metrics['run.events']"), 0, '0 differ')
expect('in one of the two reports', compare(value, MINI, '--allow', "json:$.metrics.*.value"), 1, 'json.cached: $')
expect('another path is meant', compare(value, MINI, '--allow', "$.metrics['run.stats']"), 1, '1 differ')
expect('no path', compare(value, MINI, '--allow', '$.metrics[x]'), 1, 'no path of JSON')

spaces = wrapper('spaces', 'case "$*" in *--json) program "$@" | sed "2s/$/ /" ;; *) program "$@" ;; esac')
expect('a space in JSON', compare(spaces, MINI, '--allow', '$.metrics'), 1, 'json: stdout: byte')

rows = wrapper('rows', """program "$@" || exit
[ "$1" != import ] || "$IDS_PYTHON" -c "import sqlite3; db = sqlite3.connect('run.db'); db.execute('UPDATE event SET depth = depth + 1 WHERE id = 1'); db.commit()"
""")
expect('a cell of a row', compare(rows, MINI), 1, 'import: event: row 1: depth 0 -> 1; 1 rows differ')
expect('a column that is meant', compare(rows, MINI, '--allow', 'import:event.depth'), 0, '0 differ')
expect('another column is meant', compare(rows, MINI, '--allow', 'import:event.parent'), 1, 'event: row 1')
types = wrapper('types', """program "$@" || exit
[ "$1" != import ] || "$IDS_PYTHON" -c "import sqlite3; db = sqlite3.connect('run.db'); db.execute('ALTER TABLE event RENAME COLUMN depth TO deep'); db.commit()"
""")
expect('a column of another name', compare(types, MINI), 1, 'import: schema of event')

for output in ('chrome', 'perfetto', 'perfetto.accounts', 'xplane', 'csv'):
    name, accounts = output.partition('.')[::2]
    export = wrapper(output, f'program "$@" || exit\ncase "$*" in extract*-f\\ {name}\\ {"--accounts*" if accounts else "-o*"}) '
                             'for file in out/*; do printf x >>"$file"; done ;; esac')
    expect(f'a byte of {output}', compare(export, MINI), 1, f': {output}: steps_one', '1 differ')
messages = wrapper('messages', 'program "$@"; code=$?; [ "$1" != dump ] || echo more >&2; exit $code')
expect('a message', compare(messages, MINI), 1, 'dump: stderr: byte 0')
codes = wrapper('codes', 'program "$@"; code=$?; [ "$1" != dump ] || exit 1; exit $code')
expect('an exit code', compare(codes, MINI), 1, "dump: exit: byte 0 (line 1) of 1, 1: '0' -> '1'")
cache = wrapper('cache', 'program "$@"; code=$?; [ "$1" != report ] || echo >>"$XDG_CACHE_HOME/more"; exit $code')
expect('the size of the cache', compare(cache, MINI), 1, 'cache: files', 'cache: bytes')

expect('a program that is not there', compare(SCRATCH / 'none', MINI), 2, 'none is not there')
expect('a file that is no trace', compare(IDSPROF, [Path(__file__)]), 2, 'nothing was compared')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
