#!/usr/bin/env python3
"""Programs with a planted fault of memory, recorded with `capture --memory`: the report names it first among what it says of memory.

leak: a list keeps an array of each step. kept: a step that does not donate its parameters. large: one temporary of 92 MB. none: none.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), IDS_CI=1 (what is absent is a failure).  Exit: 0, 1, 77.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
IDSPROF = os.environ['IDSPROF']
PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
failures = []


def check(holds, what):
    print(('ok   ' if holds else 'FAIL ') + what)
    if not holds:
        failures.append(what)


def record(fault, folder, *options):
    command = [IDSPROF, 'capture', '-q', '--cpu', '--start-step', '10', '--steps', '10', '-o', folder, *options, '--', PYTHON,
               str(SOURCE / 'tests/live/memory_loop.py'), fault]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    check(done.returncode == 0, '%s: recorded: %s' % (fault, done.stderr[-300:] if done.returncode else 'exit 0'))
    run = subprocess.run([IDSPROF, 'report', '--json', '--no-cache', '--section', 'memory', '--section', 'advice', folder],
                         capture_output=True, text=True, timeout=100, check=True)
    return json.loads(run.stdout)


def rows(report, table):
    found = report['tables'].get(table, {'columns': [], 'rows': []})
    return [dict(zip([column['id'] for column in found['columns']], row)) for row in found['rows']]


def about_memory(report):
    return [piece for piece in report['advice'] if (piece.get('explain') or '').startswith('memory.')]


def main():
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True, check=False).returncode:
        print('SKIP: %s has no jax' % PYTHON)
        return 1 if os.environ.get('IDS_CI') == '1' else 77
    with tempfile.TemporaryDirectory() as folder:
        leak = record('leak', folder + '/leak', '--memory')
        first = (leak['advice'] or [{}])[0]
        program = (SOURCE / 'tests/live/memory_loop.py').read_text(encoding='utf-8').split('\n')
        line = 1 + next(i for i, text in enumerate(program) if 'losses.append' in text)
        check('Memory leaks' in first.get('what', '') and 'memory_loop.py:%d' % line in first['what'], 'leak: first of all: %s' % first)
        grown = max(rows(leak, 'held'), key=lambda row: row['grown_bytes'])
        check(9 <= grown['grown_count'] <= 11 and grown['grown_bytes'] == grown['grown_count'] * 64 * 256 * 4, 'leak: the row: %s' % grown)

        kept = about_memory(record('kept', folder + '/kept', '--memory'))
        check(kept and 'params' in kept[0]['what'] and 'donate' in kept[0]['what'], 'kept: first about memory: %s' % kept[:1])

        large = record('large', folder + '/large', '--memory')
        told = about_memory(large)
        check(told and 'jit_rank' in told[0]['what'] and 'temporary' in told[0]['what'], 'large: first about memory: %s' % told[:1])
        temporary = [row for row in rows(large, 'program_values') if row['kind'] == 'temporary'][0]
        check(temporary['bytes'] == 600 * 600 * 64 * 4 and temporary['program'] == 'jit_rank', 'large: the row: %s' % temporary)

        none = record('none', folder + '/none')
        check(not about_memory(none) and not rows(none, 'held'), 'none: nothing is said: %s' % about_memory(none))
        check(not rows(none, 'not_donated'), 'none: all is donated: %s' % rows(none, 'not_donated'))
        check(not list(Path(folder, 'none').rglob('*.prof')), 'none: without --memory nothing is saved')
    print('%d failures' % len(failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
