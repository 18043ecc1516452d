#!/usr/bin/env python3
"""Two methods on 1, 2, 4 and 8 host devices, recorded this minute: by the programs themselves, and by `idsprof capture --sweep`.

The table of `idsprof scale` is held against the programs' own clocks: the mean of the very same steps within 1 %, efficiencies and the
speed of a method over the other within 1 point. And what `report` and `scale` say of one thing is one number.

A program cannot read its clock in the moment in which an annotation begins, only before and behind it. So its own clock gives a least and
a most, which lie less than 0.1 % apart unless the machine stopped the program just there. Where they lie further apart than 0.5 % the
method is recorded again, and the reason printed; the recording that says most is held.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax).  Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF = os.environ.get('IDSPROF') or ''
PROGRAM = SOURCE / 'tests' / 'live' / 'two_methods.py'
METHODS, DEVICES = ('lcam', 'tad'), (1, 2, 4, 8)
ATTEMPTS, VAGUE = 3, 0.005
sys.path.insert(0, str(SOURCE / 'tests' / 'golden'))
from test_mini import rows  # noqa: E402

failures = 0


def expect(what, ok, found):
    global failures
    failures += not ok
    print('%s %s: %s' % ('ok  ' if ok else 'FAIL', what, found))


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    expect('%s ends' % ' '.join(Path(str(word)).name for word in command[:3]), done.returncode == 0, done.stderr.strip()[-500:])
    return done.stdout


def by_clock(path, first, count):
    """The least and most that the mean of those steps can be by the program's own clock, what lies between them included; but where
    the program was stopped between two of them, that may belong to neither."""
    steps = json.loads(path.read_text())['steps'][first:first + count]
    (before, begun, _, _), (_, _, ended, behind) = steps[0], steps[-1]
    between = sorted(after[1] - this[2] for this, after in zip(steps, steps[1:]))
    stopped = sum(max(0, gap - between[len(between) // 2]) for gap in between)
    return (ended - begun - stopped) / count, (behind - before) / count


def vague(clock):
    least, most = clock
    return most / least - 1


def record_until_clear(what, record):
    """What `record` says of its clocks: (least, most) by cell. Again while the machine makes them vague."""
    best = None
    for attempt in range(1, ATTEMPTS + 1):
        clocks = record(attempt)
        worst = max(clocks, key=lambda cell: vague(clocks[cell]))
        if best is None or vague(clocks[worst]) < best[0]:
            best = vague(clocks[worst]), attempt, clocks
        if vague(clocks[worst]) <= VAGUE:
            break
        print('again %s: %s was stopped where a step begins or ends: its own clock says %.3f to %.3f ms' %
              (what, worst, clocks[worst][0] * 1000, clocks[worst][1] * 1000))
    return best[1], best[2]


def within(value, least, most, share):
    return least * (1 - share) < value < most * (1 + share)


def hold(what, top, clocks, numbers):
    table = json.loads(run(IDSPROF, 'scale', '--json', '--strong', top), parse_float=Decimal)
    cells = {(row['method'], int(row['devices'])): row for row in rows(table, 'configurations')}
    expect(what + ': the cells', sorted(cells) == [(m, n) for m in METHODS for n in DEVICES], sorted(cells))
    expect(what + ': all succeeded', all(row['success'] for row in cells.values()), [row['why'] for row in cells.values()])
    for (method, n), row in cells.items():
        own = clocks[method, n]
        report = json.loads(run(IDSPROF, 'report', '--json', row['path']), parse_float=Decimal)
        steps = [int(step['step']) for step in rows(report, 'steps')]
        expect('%s: %s on %d, the steps are those of the clock' % (what, method, n), steps == numbers, steps)
        expect('%s: %s on %d, step' % (what, method, n), within(float(row['step']), *own, 0.01),
               '%.3f ms, own clock %.3f to %.3f ms' % (row['step'] * 1000, own[0] * 1000, own[1] * 1000))
        one = clocks[method, 1]
        wanted = one[0] / own[1] / n, one[1] / own[0] / n
        expect('%s: %s on %d, efficiency' % (what, method, n), wanted[0] - 0.01 < float(row['efficiency']) < wanted[1] + 0.01, (float(row['efficiency']), wanted))
        if row['against']:
            other = clocks[row['against'], n]
            wanted = other[0] / own[1], other[1] / own[0]
            expect('%s: %s on %d, times as fast' % (what, method, n), within(float(row['method_speedup']), *wanted, 0.02), (float(row['method_speedup']), wanted))
        expect('%s: %s on %d, the report' % (what, method, n), report['metrics']['steps.mean']['value'] == row['step'], row['step'])
    programs = [row['text'] for row in rows(table, 'findings') if row['id'] == 'programs.none']
    expect(what + ': no program in common', len(programs) == 1, programs)
    for n in DEVICES:
        changes = {row['account']: row['change'] for row in rows(table, 'reasons') if row['devices'] == n}
        whole = changes.pop('step')
        expect('%s: reasons on %d sum to the step' % (what, n), abs(sum(changes.values()) - whole) < Decimal('2e-11'), (sum(changes.values()), whole))
    expect(what + ': volume', [int(cells['lcam', n]['bytes']) for n in DEVICES] == [0] + 3 * [256 * 256 * 4] and
           [int(cells['tad', n]['bytes']) for n in DEVICES] == [0] + 3 * [4 * 256 * 256 * 4], [row['bytes'] for row in cells.values()])
    print(run(IDSPROF, 'scale', top))


def record_themselves(top):
    clocks = {}
    for n in DEVICES:
        for method in METHODS:
            clock = top / ('%s_%d.json' % (method, n))
            runs = top / ('%s_%d' % (method, n))

            def record(attempt):
                run(PYTHON, PROGRAM, method, n, '--trace', runs / str(attempt), '--clock', clock)
                return {(method, n): by_clock(clock, 0, 20)}
            attempt, found = record_until_clear('start_trace', record)
            clocks.update(found)
            place = top / 'runs' / ('%dgpu_20260102' % n)
            place.mkdir(parents=True, exist_ok=True)
            (runs / str(attempt)).rename(place / (method + '_trace'))
    hold('start_trace', top / 'runs', clocks, list(range(20)))


def record_by_capture(top):
    """The window opens in step 20, which is in no mean."""
    clocks = {}
    for method in METHODS:

        def record(attempt):
            run(IDSPROF, 'capture', '-o', top / method / str(attempt), '-n', method, '--start-step', '20', '--steps', '15', '--sweep', 'devices=1,2,4,8',
                '--', PYTHON, PROGRAM, method, '--steps', '45', '--clock', top / (method + '_{devices}.json'))
            return {(method, n): by_clock(top / ('%s_%d.json' % (method, n)), 21, 14) for n in DEVICES}
        attempt, found = record_until_clear('capture --sweep', record)
        clocks.update(found)
        (top / 'sweeps').mkdir(exist_ok=True)
        for sweep in (top / method / str(attempt)).iterdir():
            sweep.rename(top / 'sweeps' / sweep.name)
    hold('capture --sweep', top / 'sweeps', clocks, list(range(21, 35)))


def main():
    if not os.access(IDSPROF, os.X_OK):
        print('SKIP: IDSPROF names no program (%r)' % IDSPROF)
        return 77
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode != 0:
        print('SKIP: %s has no jax (tests/requirements.txt)' % PYTHON)
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        record_themselves(Path(scratch))
    with tempfile.TemporaryDirectory() as scratch:
        record_by_capture(Path(scratch))
    print('%d failures' % failures)
    return failures > 0


sys.exit(main())
