#!/usr/bin/env python3
"""What a page's timeline holds equals what the database of the same run says: each device's events and accounts, steps, launches.

Merging is looked at by unit.picture; here everything is there one by one, and in a run that is too large nothing may be missing in sum.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED.
"""
import collections
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from timeline_block import IDSPROF, block, marks, rows, write_page

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SHARED = Path(os.environ.get('IDS_SHARED', SOURCE / '../shared'))
RUNS = [SOURCE / 'testdata' / name for name in ('cpu8_annotated', 'cpu2_python', 'cpu1_compile', 'cpu1_plain', 'mini/idle_input.mini',
                                                  'mini/idle_collective_wait_tpu.mini', 'mini/collectives_two_devices.mini', 'mini/counters.mini')]
RUNS += [SHARED / 'traces' / name for name in ('gpu_mi300_jax_gemm', 'kineto_cold_start', 'tpu_v6e_inference') if (SHARED / 'traces' / name).exists()]
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def database(run, folder):
    path = folder / 'run.db'
    subprocess.run([IDSPROF, 'import', run, '-o', path, '--force'], check=True, capture_output=True)
    return sqlite3.connect(path)


def near(a, b, events, unit):
    """Both ends of an event are rounded to the unit."""
    return abs(a - b) <= events * unit


def check_devices(run, data, db):
    """Number and time of each device's activity, and the time of each account. Labels of several hosts repeat: then all together."""
    ops, accounts = collections.Counter(), collections.Counter()
    times = collections.Counter()
    for group, _, row in rows(data, 'ops'):
        ops[group] += row.get('deeper', 0)
        for lane in row['lanes']:
            for start, end, _, _, count, busy in marks(data, lane):
                ops[group] += count
                times[group] += (end - start) * busy
    cells = 0
    for group, _, row in rows(data, 'accounts'):
        for lane in row['lanes']:
            for start, end, name, account, count, busy in marks(data, lane):
                check(count == 1, f'{run}: an interval of the ledger is merged')
                accounts[group, account, name or ''] += end - start
                cells += 1
    expected = db.execute("SELECT d.label, count(*), sum(a.dur_ps) FROM activities a JOIN devices d ON d.device = a.device AND d.run = a.run "
                          "WHERE d.is_active GROUP BY d.label").fetchall()
    check(len(expected) > 0, f'{run}: the database has no activity')
    for label, count, time in expected:
        waits = sum(1 for group, _, row in rows(data, 'ops') if group == label)
        check(waits > 0, f'{run}: {label} has no row')
        check(ops[label] >= count, f'{run}: {label}: {ops[label]} events, the database has {count}')
        check(times[label] + data['unit_ps'] * 2 * count >= time or any(row.get('deeper') for _, _, row in rows(data, 'ops')),
              f'{run}: {label}: {times[label]} ps, the database has {time}')
    for label, account, culprit, count, time in db.execute(
            "SELECT d.label, l.account, ifnull(l.culprit, ''), count(*), sum(l.dur_ps) FROM ledger l "
            "JOIN devices d ON d.device = l.device AND d.run = l.run GROUP BY 1, 2, 3"):
        check(near(accounts.pop((label, account, culprit), 0), time, 2 * count, data['unit_ps']),
              f'{run}: {label} {account} {culprit}: not the {time} ps of the ledger')
    check(not any(time > 2 * data['unit_ps'] * cells for time in accounts.values()), f'{run}: accounts that the ledger lacks: {dict(accounts)}')


def check_steps(run, data, db):
    mine = [(name, start + 0) for _, _, row in rows(data, 'steps') for lane in row['lanes'] for start, _, name, _, _, _ in marks(data, lane)]
    steps = db.execute('SELECT step, start_ps FROM steps ORDER BY start_ps').fetchall()
    check(sorted(name for name, _ in mine) == sorted(f'step {number}' for number, _ in steps), f'{run}: steps {mine[:5]}, the database has {steps[:5]}')
    zero = {start - at for (_, at), (_, start) in zip(sorted(mine, key=lambda one: one[1]), steps)}
    check(not zero or max(zero) - min(zero) <= 2 * data['unit_ps'], f'{run}: steps begin at other times than in the database')


def check_launches(run, data, db):
    """Each launch is before what it launches and on a row of a thread; as many are linked as the database links of these threads."""
    linked = 0
    for _, _, row in rows(data, 'ops'):
        for lane in row['lanes']:
            ago = iter(lane.get('ago', []))
            for to in lane.get('launch', []):
                if to < 0:
                    continue
                linked += 1
                check(data['rows'][to]['kind'] == 'thread', f'{run}: a launch is on a row of {data["rows"][to]["kind"]}')
                next(ago)
            check(next(ago, None) is None, f'{run}: more launches than rows of launches')
    known = db.execute('SELECT count(*) FROM activities WHERE launch IS NOT NULL').fetchone()[0]
    waits = 'tpu' in run  # a TPU's waits are marks and no activity
    check(linked >= known if waits else linked == known, f'{run}: {linked} launches, the database has {known}')


def check_names(run, data, db):
    mine = {name for _, _, row in rows(data, 'ops') for lane in row['lanes'] for _, _, name, _, _, _ in marks(data, lane)}
    theirs = {name for name, in db.execute('SELECT DISTINCT name FROM activities') if len(name.encode()) < 600}
    check(theirs <= mine or any(row.get('deeper') for _, _, row in rows(data, 'ops')), f'{run}: no mark is called {sorted(theirs - mine)[:3]}')


def check_counts(run, data, db):
    """What is not shown one by one is counted: all events of the file, and those of its threads."""
    events, = db.execute('SELECT sum(events) FROM tracks').fetchone()
    threads, = db.execute("SELECT ifnull(sum(events), 0) FROM tracks WHERE plane = '/host:CPU'").fetchone()
    check(data['events'] == events, f'{run}: {data["events"]} events, the database has {events}')
    check(not run.startswith('cpu') or data['thread_events'] == threads > 0, f'{run}: {data["thread_events"]} events of threads, the database has {threads}')


def check_extract(run, data, folder):
    """The command for every event of a stretch runs and gives what lies there."""
    words = shlex.split(data['extract'])[1:] + ['-f', 'csv', '--from', '0.000us', '--to', f'{data["to"] * data["unit_ps"] / 1e6:.3f}us', '-o', folder / 'out', '--force']
    done = subprocess.run([IDSPROF, *words], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f'{run}: {words}: {done.stderr}')


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in RUNS:
            data = block(write_page(run, folder / 'page.html'))
            db = database(run, folder)
            check(data['least'] == 0 and not data['details'], f'{run}: is not there event by event')
            for look in (check_devices, check_steps, check_launches, check_names, check_counts):
                look(run.name, data, db)
            check_extract(run.name, data, folder)
            db.close()
        missing = block(write_page(folder / 'run.db', folder / 'page.html'))
        check('give the profile itself' in missing.get('missing', ''), f'a database has a timeline: {list(missing)}')
    for failure in failures[:20]:
        print(failure)
    print(f'{len(RUNS)} runs: {len(failures)} differences')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
