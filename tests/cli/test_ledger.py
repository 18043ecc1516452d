#!/usr/bin/env python3
"""`report --by WHICH` and `report --explain ACCOUNT`: the ledger by step, device and culprit, and what stands behind an account.

The sums are those of the report; that the report's are right is tests/golden. Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
RUNS = [SOURCE / 'testdata' / name for name in ('cpu8_annotated', 'cpu2_python', 'cpu1_nohlo')] + [
    SOURCE / 'testdata' / 'json' / 'kineto.trace.json', SOURCE / 'testdata' / 'mini' / 'steps_two_devices.mini']
failures = []


def check(ok, message, *more):
    if not ok:
        failures.append(' '.join(str(part) for part in (message, *more)))


def run(*arguments):
    return subprocess.run([IDSPROF, 'report', '--no-cache', *map(str, arguments)], capture_output=True, text=True, timeout=120)


def table(report, name):
    found = report['tables'][name]
    ids = [column['id'] for column in found['columns']]
    return [dict(zip(ids, row)) for row in found['rows']]


def picoseconds(seconds):
    return round(seconds * 1e12)


def check_by(path):
    whole = json.loads(run('--section', 'ledger', '--section', 'steps', '--json', path).stdout)
    steps = table(whole, 'steps') if whole['metrics']['steps.mean']['value'] is not None else []
    accounts = {row['account']: row for row in table(whole, 'accounts')}
    for which, name in (('step', 'accounts_by_step'), ('device', 'accounts_by_device')):
        if which == 'step' and not steps:
            continue
        rows = table(json.loads(run('--by', which, '--json', path).stdout), name)
        for row in rows:
            parts = {key: value for key, value in row.items() if key not in (which, 'time', 'host')}
            check(sum(picoseconds(value) for value in parts.values() if value is not None) == picoseconds(row['time']),
                  f'{path.name}: {which} {row[which]}: accounts do not sum to the time', row)
            used = {key for key, value in parts.items() if value is not None}
            check(used >= set(accounts) if which == 'step' else used == set(accounts), f'{path.name}: {which}: accounts', used ^ set(accounts))
        if which == 'step':
            check([row['step'] for row in rows] == [row['step'] for row in steps], f'{path.name}: steps', rows)
            check(all(abs(row['time'] - own['duration']) < 2e-12 for row, own in zip(rows, steps)), f'{path.name}: times of steps')
    # one table as CSV, and as text without the metrics of the section
    lines = list(csv.DictReader(io.StringIO(run('--by', 'culprit', '--csv', path).stdout)))
    check(len(lines) == len(table(whole, 'ledger')) and lines[0]['account'] == table(whole, 'ledger')[0]['account'], f'{path.name}: by culprit')
    text = run('--by', 'device', path).stdout
    check('ACCOUNTS BY DEVICE' in text and 'host overhead' not in text, f'{path.name}: text', text)


def check_hosts(path):
    """Steps of hosts that have none in common are no sequence: those of one host stand together, and say whose they are."""
    rows = table(json.loads(run('--by', 'step', '--json', path).stdout), 'accounts_by_step')
    wanted = [('a', step) for step in range(4)] + [('b', step) for step in range(100, 104)]
    check([(row['host'], row['step']) for row in rows] == wanted, f'{path.name}: hosts of steps', rows)


def check_explain(path):
    whole = json.loads(run('--section', 'ledger', '--json', path).stdout)
    for row in table(whole, 'accounts'):
        account = row['account']
        done = run('--explain', account, '--json', path)
        check(done.returncode == 0, account, done.stderr)
        told = json.loads(done.stdout)
        check((told['id'], told['kind'], told['section']) == (account, 'account', 'ledger'), account, told)
        check(told['figures']['steps.' + account] == whole['metrics']['steps.' + account]['value'], account, told['figures'])
        check(f"account = '{account}'" in told['sql'], account, told['sql'])
        culprits, intervals = table(told, 'ledger'), table(told, 'intervals')
        check(sum(picoseconds(c['time']) for c in culprits) == picoseconds(row['time']), f'{path.name} {account}: culprits do not sum up')
        lengths = [interval['duration'] for interval in intervals]
        check(lengths == sorted(lengths, reverse=True) and 0 < len(lengths) <= 10, f'{path.name} {account}: order', lengths)
        longest = max(c['longest'] for c in culprits)
        check(lengths[0] == longest, f'{path.name} {account}: longest {lengths[0]}, not {longest}')
        want = min(10, sum(c['intervals'] for c in culprits))
        check(len(lengths) == want, f'{path.name} {account}: {len(lengths)} intervals of {want}')
        text = run('--explain', account, path).stdout
        check('LONGEST INTERVALS' in text and 'Time in which' in text and account not in text.split('LONGEST INTERVALS')[1], account, text)


def check_advice_leads_on():
    """The next command that advice names works: its id is explained."""
    for path in RUNS:
        for advice in json.loads(run('--json', path).stdout)['advice']:
            if advice.get('explain'):
                done = run('--explain', advice['explain'], path)
                check(done.returncode == 0, f'{path.name}: --explain {advice["explain"]}', done.stderr)


def check_zeros():
    """Of the many accounts those without time are counted, not listed; a section of few figures lists them all."""
    lines = run('--section', 'ledger', SOURCE / 'testdata' / 'cpu1_annotated').stdout.split('\n')
    figures = lines[:next(i for i, line in enumerate(lines) if 'WHERE THE TIME' in line)]
    check(not any(line.endswith(' 0 s') for line in figures), 'accounts of 0 s are listed')
    check(any(line.strip() == 'and 28 that are 0, in --json' for line in figures), 'and not counted', figures)
    check('compilations' in run('--section', 'compile', SOURCE / 'testdata' / 'cpu8_annotated').stdout, 'few figures')


def check_python():
    """Who recorded Python's functions reads that Python was slower by it, and that advice on it is of that recording."""
    words = 'which makes Python slower'
    python, plain = run(SOURCE / 'testdata' / 'cpu2_python').stdout, run(SOURCE / 'testdata' / 'cpu1_annotated').stdout
    check(words in ' '.join(python.split()), 'Python recorded', python[:300])
    check(words not in ' '.join(plain.split()) and "Python's tracer" not in plain, 'no Python recorded')


def check_known():
    """That the place of most calls is inferred, all that tell of them say, in the same words (tests/golden/test_mini.py has the advice)."""
    path = SOURCE / 'testdata/mini/sampled_place_inferred.mini'
    lines = [line for line in run('--explain', 'host.dispatch', path).stdout.split('\n') if 'train.py:12 main' in line]
    check(len(lines) == 11 and all('place inferred' in line for line in lines), 'explain', lines)
    found = subprocess.run([IDSPROF, 'query', path, "SELECT known, count(*), sum(dur_ps) FROM ledger WHERE culprit = 'g' GROUP BY known"],
                           capture_output=True, text=True).stdout.split('\n')
    check([line.split() for line in found[1:3]] == [['place', 'inferred', '11', '8756000000'], ['recorded', '1', '796000000']], 'the view', found)


def check_line_of_evidence():
    """What shows an interval was seen at the place that stands beside it, and on no other line of the function."""
    path = SOURCE / 'testdata/mini/sampled_lines.mini'
    lines = [line for line in run('--explain', 'host.python', path).stdout.split('\n') if 'train.py:14, mostly in json.dumps' in line]
    check([line.split()[-2:] for line in lines[1:]] == 5 * [['$./train.py:14', 'log']], 'the line of the place', lines)


def check_lines_of_block():
    """The host has turns enough that blocks of them are counted by their sums, and lines of those count too: log and pack by turns, log
    on line 13 for 6 turns of 8us, then on 14 for 800 of 100ns: 48 and 80us."""
    lines = ['idsprof-mini 1', 'host h', 'plane /device:GPU:0', 'line 1 "Stream #1(Kernel)"']
    starts = [2 * i for i in range(6)] + [300, 2300]
    lines += [f'{start}us 1us k correlation_id={i + 1}' for i, start in enumerate(starts)] + ['plane /host:CPU', 'line 100 python', '0us 2301us train step_num=1']
    for i, start in enumerate(starts):
        lines += [f'{start}us 200ns PjitFunction(step)', f'{start}us 100ns k correlation_id={i + 1}']
    lines += ['plane /host:idsprof.stacks sampling_period_ns=100', 'line 100 python/4559']
    at = 11000
    for turn in range(1612):
        line, function, length = (30, 'pack', 100) if turn % 2 else (13, 'log', 8000) if turn < 12 else (14, 'log', 100)
        lines.append(f'{at}ns {length}ns "$./train.py:{line} {function}"')
        at += length
    lines.append(f'{at}ns 2300us "$./train.py:40 main"')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'block.mini')
        path.write_text('\n'.join(lines) + '\n')
        advice = ' '.join(run(path).stdout.split())
    check('log (train.py:14), lines 14 (62.5 %) and 13 (37.5 %) - move it' in advice, 'lines of blocks', advice[advice.find('WHAT TO DO'):])


def check_refused():
    for arguments, words in ((('--by', 'host'), "invalid value 'host'"), (('--by', 'step', '--section', 'ops'), '--section ledger'),
                             (('--by', 'step', '--explain', 'host.python'), 'exclude each other'),
                             (('--by', 'step', '--section', 'ledger', '--section', 'ops'), 'only with'),
                             (('--explain', 'host.pyton'), "did you mean 'host.python'")):
        done = run(*arguments, RUNS[0])
        check(done.returncode == 2 and words in done.stderr and not done.stdout, arguments, done.returncode, done.stderr)
    done = run('--by', 'step', '--section', 'ledger', RUNS[0])
    check(done.returncode == 0 and 'ACCOUNTS BY STEP' in done.stdout, '--by with its own section', done.stderr)


for path in RUNS:
    check_by(path)
    check_explain(path)
check_advice_leads_on()
check_zeros()
check_python()
check_known()
check_line_of_evidence()
check_lines_of_block()
check_hosts(SOURCE / "testdata" / "mini" / "steps_not_in_common.mini")
check_refused()
for failure in failures:
    print('FAIL:', failure[:1000])
print(f'{len(RUNS)} runs, {len(failures)} failures')
sys.exit(bool(failures))
