#!/usr/bin/env python3
"""One number for one thing: what report says of A and of B is what diff and scale say of them, and what the ledger sums to.

Held over all runs of testdata, each with each other that diff takes: the step (or window), the headline, each account, what
each op takes a step and how often it runs; and of those with steps what scale says. Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
sys.path.insert(0, str(SOURCE / 'tests' / 'golden'))
from test_mini import rows  # noqa: E402
from test_mini_diff import invariants  # noqa: E402

PS = Decimal('1e-12')
LEAST_PAIRS, LEAST_NUMBERS = 60, 3000  # compared at least: else the test tests nothing
numbers = 0


def idsprof(*arguments):
    """What a command says in JSON; None where it refuses."""
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode not in (0, 1):
        return None
    return json.loads(done.stdout, parse_float=Decimal)


class Run:
    """What report says of a run."""

    def __init__(self, path):
        self.path, self.found = path, idsprof('report', '--json', path)
        self.ops = idsprof('report', '--json', '--section', 'ops', path)
        if self.found is None:
            return
        self.steps = self.rows('steps')
        self.devices = max(1, sum(row['busy'] is not None for row in self.rows('devices')))

    def rows(self, table):
        return rows(self.found, table) if table in self.found['tables'] else []

    def metric(self, name):
        return (self.found['metrics'].get(name) or {}).get('value')

    def per(self, per_step):
        """What sums over the window are divided by: all steps that it recorded, also the one that it opened with, which is in no mean."""
        return self.metric('steps.count') if per_step else 1

    def ledger(self):
        """Of each account what its culprits sum to, a step, and their number."""
        sums = defaultdict(lambda: [Decimal(0), 0])
        for row in self.rows('ledger'):
            sums[row['account']][0] += Decimal(row['per_step'])
            sums[row['account']][1] += 1
        return sums

    def ops_a_step(self):
        """Of each op that only one row has: its time and its number of executions a step and device."""
        ops, found = rows(self.ops, 'ops'), {}
        for row in rows(self.ops, 'op_steps') if 'op_steps' in self.ops['tables'] else []:
            if row['op'] is None:
                continue
            op, per = ops[int(row['op'])], sum(row['devices'] for row in self.steps)
            key = op['name'], op['module'], op['op_name']
            found[key] = None if key in found else (Decimal(row['in_steps']) / per, Decimal(row['count_in_steps']) / per)
        return found


def near(one, other, of=1):
    """Equal, but for a picosecond (or so many) of rounding."""
    global numbers
    numbers += 1
    if one is None or other is None:
        return one is None and other is None
    return abs(Decimal(one) - Decimal(other)) <= max(of * PS, abs(Decimal(one)) * Decimal('1e-9'))


def check_whole(found, side, run, per_step):
    whole = run.metric('steps.mean' if per_step else 'run.window')
    if not near(found['run']['whole_' + side], whole):
        yield 'the whole is %s, report says %s' % (found['run']['whole_' + side], whole)


def check_headline(found, side, run, per_step):
    for row in rows(found, 'headline'):
        wanted = run.metric(row['id'])
        if wanted is not None and row['id'].startswith('transfers.'):
            wanted = Decimal(wanted) / run.per(per_step)
        if wanted is not None and row['id'] == 'collectives.exposed':
            wanted = Decimal(wanted) / run.devices
        if not near(row[side], wanted):
            yield 'headline %s is %s, report says %s' % (row['id'], row[side], wanted)


def check_accounts(found, side, run, per_step):
    ledger, listed = run.ledger(), {row['account']: row['per_step'] for row in run.rows('accounts')}
    for row in rows(found, 'parts'):
        metric = run.metric(row['id'])
        wanted = Decimal(metric or 0) / (1 if per_step else run.devices)
        if not near(row[side], wanted):
            yield 'the account %s is %s, report says %s' % (row['part'], row[side], wanted)
        if not per_step:
            continue
        of_ledger, count = ledger[row['part']]
        if not near(row[side], of_ledger, 1 + count):
            yield 'the account %s is %s, its culprits sum to %s' % (row['part'], row[side], of_ledger)
        if not near(row[side], listed.get(row['part'], 0)):
            yield 'the account %s is %s, the table of accounts has %s' % (row['part'], row[side], listed.get(row['part']))


def check_ops(found, side, run, per_step):
    if not per_step:
        return
    wanted, name = run.ops_a_step(), 'name_a' if side == 'a' else 'name'
    for row in rows(found, 'ops'):
        if row[side] is None:
            continue
        names = [key for key in wanted if key[0] == (row[name] or row['name']) and (side == 'a' or key[1:] == (row['module'], row['op_name']))]
        if len(names) != 1 or wanted[names[0]] is None:
            continue
        time, count = wanted[names[0]]
        if not near(row[side], time):
            yield 'op %s takes %s a step, report says %s' % (names[0], row[side], time)
        if not near(row['count_' + side], count):
            yield 'op %s runs %s times a step, report says %s' % (names[0], row['count_' + side], count)


def check_pair(pair):
    a, b = pair
    found = idsprof('diff', '--json', a.path, b.path)
    if found is None or 'waterfall' not in found['tables']:
        return None
    per_step = found['run']['per'] == 'step'
    failures = list(invariants(found))
    for side, run in ('a', a), ('b', b):
        for check in check_whole, check_headline, check_accounts, check_ops:
            failures += check(found, side, run, per_step)
    return ['%s against %s: %s' % (a.path, b.path, failure) for failure in failures]


def check_scale(runs):
    """The configurations of one program on several numbers of devices."""
    found = idsprof('scale', '--json', *(run.path for run in runs))
    configurations = rows(found, 'configurations') if found else []
    if len(configurations) != len(runs):
        yield 'scale has %d configurations of %d' % (len(configurations), len(runs))
    for run, row in zip(runs, configurations):
        if not near(row['step'], run.metric('steps.mean')):
            yield 'scale has a step of %s, report %s: %s' % (row['step'], run.metric('steps.mean'), run.path)
        for loss in rows(found, 'losses'):
            wanted = run.metric('steps.' + loss['account'])
            if loss['devices'] == row['devices'] and not near(loss['time'], wanted, 2):
                yield 'scale: %s takes %s a step, report says %s: %s' % (loss['account'], loss['time'], wanted, run.path)


def paths():
    data = SOURCE / 'testdata'
    folders = [path for path in data.iterdir() if path.name.startswith('cpu')]
    folders += [path for name in ('compare', 'scale') for path in (data / name).iterdir() if path.is_dir()]
    return sorted(folders) + sorted((data / 'json').glob('*.trace.json')) + sorted((data / 'mini' / 'diff').glob('*/[ab].mini'))


def may_be_held_together(a, b):
    """Those of testdata/mini/diff only with the one that they are made for."""
    return a.path.suffix != '.mini' and b.path.suffix != '.mini' or a.path.parent == b.path.parent


def main():
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(os.cpu_count()) as pool:
        os.environ['XDG_CACHE_HOME'] = cache
        runs = list(pool.map(Run, paths()))
        refused = [run.path for run in runs if run.found is None]
        runs = [run for run in runs if run.found is not None]
        pairs = [pair for pair in itertools.combinations_with_replacement(runs, 2) if may_be_held_together(*pair)]
        if os.environ.get('IDS_FEW') == '1':  # the numbers are the same in each build
            pairs = pairs[::4]
        results = list(pool.map(check_pair, pairs))
        taken = [result for result in results if result is not None]
        failures = [failure for result in taken for failure in result]
        failures += check_scale([run for run in runs if run.path.parent.name == 'scale'])
    failures += ['report refuses %s' % path for path in refused]
    if len(taken) < LEAST_PAIRS or numbers < LEAST_NUMBERS:
        failures.append('only %d of %d pairs were compared, in %d numbers' % (len(taken), len(results), numbers))
    print('\n'.join(failures[:60]))
    print('%d runs, %d pairs, %d numbers, %d failures' % (len(runs), len(taken), numbers, len(failures)))
    return failures != []


sys.exit(main())
