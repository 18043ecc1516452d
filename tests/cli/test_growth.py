#!/usr/bin/env python3
"""Four times the devices, hosts or names take about four times as long: user CPU time of a report and an extract, the least of three runs, with a
wide margin, since what is quadratic takes sixteen times as long.

Environment: IDSPROF, IDS_SANITIZE.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
GROWTH, LIMIT = 4, 7
START_S = 0.02 # of the program itself, more or less
failures = []


def slice_of(name, pid, at, number, category='kernel'):
    return {'ph': 'X', 'cat': category, 'name': name, 'pid': pid, 'tid': 7, 'ts': 10 * at, 'dur': 5,
            'args': {'device': pid, 'stream': 7, 'correlation': number + 1}}


def write(path, events, **more):
    path.write_text(json.dumps({'schemaVersion': 1, **more, 'traceEvents': events}))


def devices(folder, count):
    write(folder / 'd.json', [slice_of(f'k{k}', d, k, 4 * d + k) for d in range(count) for k in range(4)])
    return folder / 'd.json'


def names(folder, count):
    write(folder / 'n.json', [slice_of(f'kernel_of_some_length_{i}', 0, i, i) for i in range(count)])
    return folder / 'n.json'


def hosts(folder, count):
    for host in range(count):
        write(folder / f'rank-{host}.json', [slice_of(f'k{k}', 0, k, k) for k in range(4)],
              distributedInfo={'rank': host, 'world_size': count})
    return folder


def seconds(*arguments):
    least = None
    for _ in range(3):
        done = subprocess.Popen([IDSPROF, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = done.stderr.read()
        _, status, usage = os.wait4(done.pid, 0)
        done.returncode = status
        if status:
            failures.append(f'{arguments}: {said[-300:]!r}')
        least = usage.ru_utime if least is None else min(least, usage.ru_utime)
    return least


def hosts_are_all(run, count):
    found = subprocess.run([IDSPROF, 'list', '--json', run], capture_output=True, check=True)
    runs = json.loads(found.stdout)['runs']
    if [r['hosts'] for r in runs] != [count]:
        failures.append(f'{count} ranks are {len(runs)} runs')


with tempfile.TemporaryDirectory() as root:
    scale = 4 if SANITIZED else 1
    for make, small, commands in ((devices, 2000, (['report', '--no-cache'],)),
                                  (hosts, 500, (['report', '--no-cache'],)),
                                  (names, 20000, (['report', '--no-cache'], ['extract', '-f', 'csv', '-o', '-'],
                                                  ['extract', '-f', 'xplane', '-o', '-']))):
        took = []
        for count in (small // scale, GROWTH * small // scale):
            folder = Path(root) / f'{make.__name__}{count}'
            folder.mkdir()
            run = make(folder, count)
            if make is hosts:
                hosts_are_all(run, count)
            took.append([seconds(*command, run) for command in commands])
        for command, first, second in zip(commands, *took):
            print(f'{make.__name__} {command[0]}: {first:.3f} s, {second:.3f} s')
            if second > LIMIT * (first + START_S):
                failures.append(f'{GROWTH} times the {make.__name__}: {command} takes {second:.2f} s after {first:.2f} s')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
