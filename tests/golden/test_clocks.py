#!/usr/bin/env python3
"""Ranks whose clocks differ: made here as PyTorch writes them, with an all-reduce a step on 2, 4 and 8 ranks, and read in any shift.

Shifting the file of one rank changes no figure, only the offset that is printed: with equal counts, with lost collectives, with a window
that opened later, without any collective, and on the ranks of a real job in shared/traces. JSON, text and SQL say the same.
"""
import copy
import gzip
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SHARED = Path(os.environ.get('IDS_SHARED') or Path(os.environ['IDS_SOURCE_DIR']) / '../shared') / 'traces'
failures = []
STEPS, BEGAN_US = 12, 1_700_000_000_000_000
# In microseconds: one that misled, negative, no whole number of milliseconds, days, longer than any run
SHIFTS = [300_000, -7_000_000, 123_457, -1, 86_400_000_000 * 3, 86_400_000_000 * 40]


def check(holds, about):
    if not holds:
        failures.append(about)


def step_begins(seed=5):
    chance, at, begins = random.Random(seed), 0, []
    for _ in range(STEPS + 1):
        begins.append(at)
        at += 9000 + chance.randrange(2000)
    return begins


BEGINS = step_begins()


def rank_of(number, ranks, collective=True, first=0, last=STEPS, lost=(), since_1970=True):
    """A rank's trace: each step launches two kernels and an all-reduce, to which the last rank comes latest."""
    events = [{'ph': 'M', 'name': 'process_name', 'pid': number, 'args': {'name': 'python'}},
              {'ph': 'M', 'name': 'thread_name', 'pid': number, 'tid': 7, 'args': {'name': 'stream 7'}}]
    base = BEGAN_US if since_1970 else 1000

    def put(cat, name, pid, tid, ts, dur, **args):
        events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': base + ts, 'dur': dur, 'args': args})

    for n in range(first, last):
        begin, length = BEGINS[n], BEGINS[n + 1] - BEGINS[n]
        put('user_annotation', f'ProfilerStep#{n}', 100, 100, begin, length - 10)
        late = 300 * (number + 1)
        for i, (name, at, end) in enumerate([('gemm', 200, 2200 + late), ('relu', 2300 + late, 2400 + late),
                                             ('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 3000 + late, length - 900)]):
            link = 1000 * n + i
            if i == 2 and (not collective or n in lost):
                continue
            put('cuda_runtime', 'cudaLaunchKernel', 100, 100, begin + 20 + 10 * i, 5, correlation=link)
            put('kernel', name, number, 7, begin + at, end - at, correlation=link, device=number, stream=7)
    return {'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': number, 'world_size': ranks}, 'traceEvents': events}


def shifted(trace, by_us):
    trace = copy.deepcopy(trace)
    for event in trace['traceEvents']:
        if 'ts' in event:
            event['ts'] += by_us
    return trace


def put_run(folder, traces):
    folder.mkdir(parents=True)
    for number, trace in enumerate(traces):
        (folder / f'rank{number}.json').write_text(json.dumps(trace))
    return folder


def report(folder):
    done = subprocess.run([IDSPROF, 'report', folder, '--json', '--no-cache'], capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f'{folder}: {done.stderr}')
    return json.loads(done.stdout)


def rows(found, table):
    names = [column['id'] for column in found['tables'][table]['columns']]
    return [dict(zip(names, row)) for row in found['tables'][table]['rows']]


def figures(found):
    """All but what says how far the clocks were apart, and what the run is called."""
    path, found = found['run']['path'], copy.deepcopy(found)
    for key in 'name', 'path', 'bytes', 'clocks', 'start_unix_ns', 'recorded_unix_ns':
        found['run'].pop(key, None)
    found['metrics'].pop('clocks.offset')
    clocks = rows(found, 'clocks')
    found['tables'].pop('clocks')
    for clock in clocks:
        clock.pop('offset')
        clock.pop('start_unix_ns')
    found['clocks'] = clocks
    return json.dumps(found).replace(path, 'RUN')


def offset_of(found, host):
    return next(row['offset'] for row in rows(found, 'clocks') if row['host'] == host)


def check_shifts(folder, about, traces, moved, method):
    plain = report(put_run(folder / about / 'plain', traces))
    kinds = [row['method'] for row in rows(plain, 'clocks')]
    check(kinds == ['reference'] + [method] * (len(traces) - 1), f'{about}: {kinds}')
    for place, by_us in enumerate(SHIFTS):
        one = [shifted(trace, by_us) if number == moved else trace for number, trace in enumerate(traces)]
        other = report(put_run(folder / about / f'shift{place}' / 'plain', one))
        check(figures(plain) == figures(other), f'{about}: a shift of {by_us} us of rank {moved} changes more than the offset')
        if method != 'collectives':
            continue
        ranks = [f'rank {moved}'] if moved else [f'rank {n}' for n in range(1, len(traces))]
        for rank in ranks:
            change = offset_of(other, rank) - offset_of(plain, rank)
            check(abs(change - (by_us if not moved else -by_us) / 1e6) < 2e-9, f'{about}: {rank}: offset changes by {change} s, shift {by_us} us')
    return plain


def check_generated(folder):
    for ranks in 2, 4, 8:
        traces = [rank_of(n, ranks) for n in range(ranks)]
        found = check_shifts(folder, f'{ranks} ranks', traces, ranks - 1, 'collectives')
        check(found['metrics']['clocks.residual']['value'] == 0, f'{ranks} ranks: residual')
        check(found['metrics']['clocks.offset']['value'] == 0, f'{ranks} ranks: offset')
    two = [rank_of(n, 2) for n in range(2)]
    check_shifts(folder, 'the first rank moves', two, 0, 'collectives')
    check_shifts(folder, 'lost', [rank_of(0, 2), rank_of(1, 2, lost=(0, 3, 4, 11))], 1, 'collectives')
    check_shifts(folder, 'later', [rank_of(0, 2, last=9), rank_of(1, 2, first=4)], 1, 'collectives')
    apart = check_shifts(folder, 'none', [rank_of(n, 2, collective=False, since_1970=False) for n in range(2)], 1, 'apart')
    check([row['clock'] for row in rows(apart, 'clocks')] == [0, 1], 'none: clocks')
    check(apart['metrics']['clocks.apart']['value'] == 1, 'none: hosts apart')
    check([diag['id'] for diag in apart['diag'] if diag['id'].startswith('clocks')] == ['clocks.apart'], f"none: {apart['diag']}")
    recorded = report(put_run(folder / 'recorded', [rank_of(n, 2, collective=False) for n in range(2)]))
    check([row['method'] for row in rows(recorded, 'clocks')] == ['reference', 'recorded'], 'recorded')


def check_said(folder):
    """Text, JSON and SQL give one offset."""
    path = put_run(folder / 'said', [rank_of(0, 2), shifted(rank_of(1, 2), 2500)])
    text = subprocess.run([IDSPROF, 'report', path, '--no-cache', '--width', '200'], capture_output=True, text=True, timeout=60).stdout
    check('one clock by collectives (offset 2.500 ms, residual 0 s)' in text.splitlines()[0], f'text: {text.splitlines()[0]}')
    found = report(path)
    check(offset_of(found, 'rank 1') == -0.0025, 'JSON')
    database = folder / 'said.db'
    subprocess.run([IDSPROF, 'import', path, '-o', database, '--quiet'], check=True, timeout=60)
    db = sqlite3.connect(database)
    hosts = db.execute("SELECT name, clock_method, offset_ps, residual_ps, matched, clock FROM hosts ORDER BY id").fetchall()
    check(hosts == [('rank 0', 'reference', 0, None, 0, 0), ('rank 1', 'collectives', -2_500_000_000, 0, STEPS, 0)], f'SQL: {hosts}')
    ends = db.execute("SELECT count(DISTINCT start_ps + dur_ps) FROM collectives").fetchone()
    check(ends == (STEPS,), f'SQL: ends of collectives: {ends}')
    db.close()


def check_shared(folder):
    path = SHARED / 'kineto_2of128_ranks'
    if not path.is_dir():
        print('skipped: no shared/traces/kineto_2of128_ranks')
        return
    traces = [json.load(gzip.open(file)) for file in sorted(path.glob('*.gz'))]
    found = check_shifts(folder, 'kineto_2of128_ranks', traces, 1, 'collectives')
    # The ends of the three that are on both to the microsecond or nearly say that the clocks of these agree.
    check(abs(found['metrics']['clocks.offset']['value']) < 1e-4, 'kineto_2of128_ranks: offset')
    check(found['metrics']['clocks.residual']['value'] < 0.00837, 'kineto_2of128_ranks: residual')


def main():
    with tempfile.TemporaryDirectory() as name:
        check_generated(Path(name))
        check_said(Path(name))
        check_shared(Path(name))
    for failure in failures[:40]:
        print('FAIL', failure)
    print(f'{len(failures)} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
