"""The cost of `idsprof import` by the number of events, on generated profiles (gen_events.c), under a limit of memory.

usage: measure_scale.py IDSPROF GEN_EVENTS FOLDER [--data BYTES] [--rounds N] [--one] EVENTS...
FOLDER takes the profile and the database (for 100 million events 4 and 5 GB) and, as TMPDIR, what is put aside meanwhile (15 GB); all are removed.
--data is RLIMIT_DATA: all memory of the process that is no file. --one: all events on one track. Prints a Markdown table: CPU
seconds of both threads are the least of the rounds, since other programs on the machine move them less than the clock; ns and instructions
(of perf stat, where it is there) are by event. Then the rows are counted, and small databases checked by SQLite. Exit 1 when an import
fails, or when the largest number costs more than 1.5 times as much by event as the cheapest. For 100 million events:

  nohup bench/measure_scale.py build/release/idsprof build/bench/gen_events build/bench/scale --data 2000000000 100000000 >scale.log 2>&1 &
"""
import argparse
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument('idsprof')
parser.add_argument('generator')
parser.add_argument('folder')
parser.add_argument('--data', type=int, default=0)
parser.add_argument('--rounds', type=int, default=1)
parser.add_argument('--one', action='store_true')
parser.add_argument('events', nargs='+', type=int)
arguments = parser.parse_args()


def limit():
    if arguments.data:
        resource.setrlimit(resource.RLIMIT_DATA, (arguments.data, arguments.data))


def instructions(command, environment):
    """Of both threads, in user mode; 0 without perf."""
    try:
        run = subprocess.run(['perf', 'stat', '-x,', '-e', 'instructions:u', *command], capture_output=True, text=True, env=environment)
    except FileNotFoundError:
        return 0
    found = re.search(r'^(\d+),', run.stderr, re.M)
    return int(found[1]) if found else 0


def once(command, environment):
    """(wall, CPU, peak memory in MB)"""
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, preexec_fn=limit)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f'failed ({status}): {" ".join(command)}')
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(events):
    profile, database = os.path.join(arguments.folder, 'scale.xplane.pb'), os.path.join(arguments.folder, 'scale.db')
    subprocess.run([arguments.generator, profile, str(events), *(['one'] if arguments.one else [])], check=True)
    command = [arguments.idsprof, 'import', profile, '-o', database, '--force', '--quiet']
    environment = {**os.environ, 'TMPDIR': arguments.folder}
    runs = [once(command, environment) for _ in range(arguments.rounds)]
    wall, cpu, peak = (min(run[i] for run in runs) for i in range(3))
    per_event = cpu / events * 1e9
    counted = instructions(command, environment) / events if events <= 10_000_000 else 0
    print(f'| {events:,} | {os.path.getsize(profile) / 1e6:,.1f} | {wall:.2f} | {cpu:.2f} | {per_event:.0f} | {f"{counted:,.0f}" if counted else "-"} | '
          f'{peak:,.0f} | {os.path.getsize(database) / 1e6:,.1f} |', flush=True)
    db = sqlite3.connect(f'file:{database}?mode=ro', uri=True)
    rows, last = db.execute('SELECT count(*), max(id) FROM event').fetchone()
    if rows != events or last != events:
        sys.exit(f'{rows} rows of {events} events, the last one {last}')
    # The order of rows, from the rows themselves: by track, start, longer ones first.
    ordered = 'SELECT count(*) FROM event b JOIN event a ON a.id = b.id - 1 WHERE (a.track, a.start_ps, -a.dur_ps) > (b.track, b.start_ps, -b.dur_ps)'
    wrong = db.execute(ordered).fetchone()[0]
    whole = db.execute('PRAGMA integrity_check').fetchone()[0] if events <= 10_000_000 else 'ok'
    db.close()
    if wrong or whole != 'ok':
        sys.exit(f'{wrong} rows out of order; {whole}')
    return per_event


os.makedirs(arguments.folder, exist_ok=True)
try:
    print('| events | xplane MB | wall s | CPU s | ns/event | instructions/event | peak MB | database MB |\n|---|---|---|---|---|---|---|---|', flush=True)
    costs = [measure(events) for events in arguments.events]
finally:
    shutil.rmtree(arguments.folder)
sys.exit(1 if costs[-1] > 1.5 * min(costs) else 0)
