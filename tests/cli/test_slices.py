#!/usr/bin/env python3
"""`idsprof diff --steps --after --device --scope --module` and `idsprof check --steps --device`: a part of both sides.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
sys.path[:0] = [str(SOURCE / 'tests' / 'golden')]
from test_mini import rows  # noqa: E402

COMPARE = SOURCE / 'testdata' / 'compare'
BASE, DOUBLED = COMPARE / 'base', COMPARE / 'doubled'
EIGHT = SOURCE / 'testdata' / 'cpu8_annotated'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def run(command, *arguments, status=0):
    done = subprocess.run([IDSPROF, command, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    check(done.returncode == status, f'{command} {arguments}: exit {done.returncode}, not {status}: {done.stderr.strip()[-300:]}')
    return done


def diff(*arguments, a=BASE, b=DOUBLED):
    return json.loads(run('diff', '--json', '--force', *arguments, a, b).stdout)


def report(path):
    return json.loads(run('report', '--json', path).stdout)


def near(one, other, least=2e-11):
    return abs(one - other) <= least + 1e-9 * abs(other)


def steps_of(path):
    return [(row['step'], row['duration']) for row in rows(report(path), 'steps')]


def check_sum(found, what):
    """The causes of a slice add up to its change, as those of a step do."""
    causes = rows(found, 'waterfall')
    check(near(sum(row['change'] for row in causes), found['run']['change'], 1e-10 * len(causes)), f'{what}: the causes do not add up')


def check_steps():
    for option, keep in (('--steps=3..7', lambda at, number: 3 <= number <= 7), ('--steps=3-7', lambda at, number: 3 <= number <= 7),
                         ('--steps=5', lambda at, number: number == 5), ('--after=4', lambda at, number: at >= 4)):
        found = diff(option)
        for side, path in ('a', BASE), ('b', DOUBLED):
            chosen = [time for at, (number, time) in enumerate(steps_of(path)) if keep(at, number)]
            check(found['run'][f'{side}_steps'] == len(chosen), f'{option}: {found["run"][f"{side}_steps"]} steps of {path}')
            check(near(found['run'][f'whole_{side}'], sum(chosen) / len(chosen), 1e-12 * len(chosen)),
                  f'{option}: {found["run"][f"whole_{side}"]} of {path}, not {sum(chosen) / len(chosen)}')
        check_sum(found, option)
    both = diff('--steps=2..9', '--after=4')
    check(both['run']['a_steps'] == 6 and both['run']['slice'] == 'steps 2..9, after 4 steps', f'both: {both["run"]}')
    text = run('diff', '--steps', '3..7', BASE, DOUBLED).stdout
    check('only steps 3..7' in ' '.join(text.split()), f'the first line names the steps: {text[:300]}')


def check_devices():
    """Of eight devices one: its steps, what it waited for, and nothing of the others."""
    whole = json.loads(run('report', '--json', '--section', 'ledger', '--by', 'device', EIGHT).stdout)
    own = dict(rows(whole, 'accounts_by_device')[3])
    name, whole_step = own.pop('device'), own.pop('time')
    end = name.rsplit(':', 1)[1]
    for option in (f'--device={name}', f'--device={end}'):
        found = diff(option, a=EIGHT, b=EIGHT)
        parts = {row['part']: row['a'] for row in rows(found, 'parts')}
        for account, time in own.items():
            check(near(parts.get(account, 0), time or 0, 2e-9), f'{option}: {account} takes {parts.get(account)}, not {time}')
        check(near(whole_step, found['run']['whole_a'], 1e-9), f'{option}: a step takes {found["run"]["whole_a"]}, not {whole_step}')
    check(parts.get('comm.wait', 0) > 0, 'a device alone still waited for the others')


def check_scopes():
    ops = {side: rows(report(path), 'ops') for side, path in (('a', BASE), ('b', DOUBLED))}
    for options, name in (('--scope=layer0',), 'layer0'), (('--scope=layer[0]',), 'layer[0]'), (('--scope=layer0', '--module=jit_train*'),
                                                                                                'layer0 in jit_train*'):
        found = diff(*options)
        mine = [row for row in ops['b'] if 'layer0' in (row['op_name'] or '')]
        check(len(rows(found, 'ops')) == len(mine), f'{options}: {len(rows(found, "ops"))} ops, not {len(mine)}')
        first = rows(found, 'headline')[0]
        check(first['id'] == 'slice.time' and first['title'] == f'time of {name}', f'{options}: {first}')
        check(near(first['a'], found['run']['whole_a']) and 0 < first['a'] < 3e-3, f'{options}: {first}')
        check(all('layer0' in row['where'] for row in rows(found, 'waterfall') if row['where']), f'{options}: a cause of another scope')
        check(not any(row['where'] in ('layer1', 'layer2') for row in rows(found, 'structure')), f'{options}: another scope is told')
        check_sum(found, options)
    module = diff('--module=jit_train_step')
    ledger = {side: sum(row['per_step'] for row in rows(report(path), 'ledger') if row['account'] == 'work.compute')
              for side, path in (('a', BASE), ('b', DOUBLED))}
    check(near(module['run']['whole_a'], ledger['a'], 1e-9), f'--module: {module["run"]["whole_a"]}, the ledger says {ledger["a"]}')
    check(rows(module, 'waterfall')[0]['cause'] == 'layer2: 4 ops added', f'--module: {rows(module, "waterfall")[0]}')


def check_gate():
    """A slice is what the exit code speaks of."""
    done = run('diff', '--module', 'jit_train_step', '--fail-on', '5%', '--noise', '1%', BASE, DOUBLED, status=1)
    check('of jit_train_step before' in done.stderr, f'--fail-on: {done.stderr}')
    run('diff', '--scope', 'layer0', '--fail-on', '5%', '--noise', '1%', BASE, DOUBLED)
    times = dict(steps_of(BASE))
    run('check', '--steps', '5', '--max', f'steps.mean={times[5] * 1.01}s', BASE)
    run('check', '--steps', '5', '--max', f'steps.mean={times[5] * 0.99}s', BASE, status=1)
    run('check', '--device', 'CPU#3', '--max', 'steps.mean=1s', EIGHT)


def check_refusals():
    for words, said in ((('--steps', '99', BASE, DOUBLED), 'none of the steps that were asked for is there; the run has 12 steps, 0 to 11'),
                        (('--steps', '7..3', BASE, DOUBLED), 'the first comes after the last'),
                        (('--steps', '3.5', BASE, DOUBLED), 'is not a step'),
                        (('--device', 'GPU:9', BASE, DOUBLED), "no device that did anything is called 'GPU:9'"),
                        (('--scope', 'nothing', BASE, DOUBLED), 'no op of either side is in nothing'),
                        (('--trend', '--scope', 'layer0', COMPARE), '--trend excludes --scope'),
                        (('--against', 'x', '--after', '2', BASE), '--against excludes --steps')):
        done = run('diff', *words, status=2)
        check(said in done.stderr, f'{words}: {done.stderr}')


check_steps()
check_devices()
check_scopes()
check_gate()
check_refusals()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
