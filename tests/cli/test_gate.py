#!/usr/bin/env python3
"""A gate that can be trusted: three verdicts, limits on ops, scopes and accounts, aggregates over runs, baselines that say why, changes
that are accepted, `diff --fail-on`, Markdown and JUnit.

Environment: IDSPROF, IDS_SOURCE_DIR; XDG_DATA_HOME is the test's own.
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
sys.path[:0] = [str(SOURCE / 'tests' / 'golden'), str(SOURCE / 'tests' / 'support')]
from made_program import Op, side  # noqa: E402
from made_runs import gpu_run, noisy  # noqa: E402
from test_mini import rows  # noqa: E402

COMPARE = SOURCE / 'testdata' / 'compare'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*arguments, status=0):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    check(done.returncode == status, f'{arguments}: exit {done.returncode}, not {status}: {(done.stderr or done.stdout).strip()[-300:]}')
    return done


def result(command, *arguments, status=0):
    done = idsprof(command, '--json', *arguments, status=status)
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        failures.append(f'{arguments}: no JSON: {error}')
        return {'run': {}, 'tables': {}}


def verdicts(*arguments, status=0):
    return {r['id']: r for r in rows(result('check', *arguments, status=status), 'checks')}


def check_units(folder):
    """A share of 10 is a thousand percent: such a limit held for ever."""
    run = gpu_run(folder / 'unit.mini', [100] * 6)
    done = idsprof('check', run, '--max', 'idle.share=10', status=2)
    check("'10' has no unit (expected %): write '10 %'" in done.stderr, f'a share without unit: {done.stderr}')
    (folder / 'units').write_text('steps.mean < 1 s\nidle.share <= 10\n')
    done = idsprof('check', run, '--budget', folder / 'units', status=2)
    check("line 2: idle.share: '10' has no unit" in done.stderr, f'its line: {done.stderr}')
    check(verdicts(run, '--max', 'idle.share=10%', status=1)['idle.share']['verdict'] == 'fail', 'a share with its unit')
    idsprof('check', run, '--max', 'idle.share=0', status=1)
    for option in (['check', run, '--baseline', run, '--tolerance'], ['check', run, '--baseline', run, '--noise'], ['diff', run, run, '--fail-on']):
        done = idsprof(*option, 5, status=2)
        check("'5' has no unit: write '5%'" in done.stderr, f'{option[-1]} 5: {done.stderr}')


def check_subjects():
    """What a limit is on is what the report and diff say of it."""
    base = COMPARE / 'base'
    report = json.loads(idsprof('report', base, '--json', '--top', 0).stdout)
    steps = len(rows(report, 'steps'))
    in_steps = {r['op']: r['in_steps'] for r in rows(json.loads(idsprof('report', base, '--json', '--section', 'ops').stdout), 'op_steps')}
    ops = rows(json.loads(idsprof('report', base, '--json', '--section', 'ops').stdout), 'ops')
    dots = sum(in_steps.get(i, 0) for i, r in enumerate(ops) if r['name'].startswith('dot')) / steps
    found = verdicts(base, '--max', 'op[dot*]=1s')['op[dot*]']
    check(abs(found['value'] - dots) < 1e-12 and dots > 0, f'op[dot*]: {found["value"]}, not {dots}')
    found = verdicts(base, '--max', 'program[jit_train_step]=1s')['program[jit_train_step]']
    module = sum(in_steps.get(i, 0) for i, r in enumerate(ops) if r['module'] == 'jit_train_step') / steps
    check(abs(found['value'] - module) < 1e-12, f'program: {found["value"]}, not {module}')
    layer = sum(in_steps.get(i, 0) for i, r in enumerate(ops) if 'layer1' in (r['op_name'] or '')) / steps
    found = verdicts(base, '--max', 'scope[layer1]=1s', '--max', 'scope[layer?]=1s', '--max', 'scope[layer]=1s optional')
    check(abs(found['scope[layer1]']['value'] - layer) < 1e-12, f'scope: {found["scope[layer1]"]}, not {layer}')
    check(found['scope[layer?]']['value'] > layer, 'two layers')
    check(found['scope[layer]']['verdict'] == 'skipped', 'a part of a name is no scope')
    # Of three runs each has all of its own time.
    each = rows(result('check', base, base, COMPARE / 'again', '--max', 'scope[layer1]=1s'), 'checks')
    check([round(r['value'] / layer, 9) for r in each[:2]] == [1, 1] and len(each) == 3, f'each of three runs: {each}')
    ledger = rows(json.loads(idsprof('report', base, '--json', '--section', 'ledger').stdout), 'ledger')
    compute = sum(r['per_step'] for r in ledger if r['account'] == 'work.compute' and 'layer1' in (r['where'] or ''))
    host = sum(r['per_step'] for r in ledger if r['account'].startswith('host.'))
    found = verdicts(base, '--max', 'work.compute[layer1]=1s', '--max', 'host.*=1s', '--max', 'host.input[data]=1s', '--max', 'work.compute=1s')
    check(abs(found['work.compute[layer1]']['value'] - compute) < 1e-11 and compute > 0, f'an account and a scope: {found["work.compute[layer1]"]}')
    check(abs(found['host.*']['value'] - host) < 1e-11, f'accounts: {found["host.*"]["value"]}, not {host}')
    check(found['steps.work.compute']['value'] == report['metrics']['steps.work.compute']['value'], 'an account')


def check_missing(folder):
    """A name that is nowhere fails, or a typing error would hold for ever; unless the limit is optional."""
    run = gpu_run(folder / 'missing.mini', [100] * 6)
    for limit, why in (('op[fusionn]', "none of its 1 ops is called 'fusionn'"), ('kernel[none]', "none of its 1 kernels"),
                       ('scope[layer1]', "in a scope 'layer1'"), ('program[jit_x]', "in a program 'jit_x'"),
                       ('work.compute[nobody]', "nothing in work.compute is called 'nobody'")):
        found = verdicts(run, '--max', f'{limit}=1s', status=1)[limit]
        check(found['verdict'] == 'fail' and why in found['note'], f'{limit}: {found}')
        check(verdicts(run, '--max', f'{limit}=1s optional')[limit]['verdict'] == 'skipped', f'{limit} optional')
        idsprof('check', run, '--max', f'{limit}=1s', '--allow-inconclusive', status=1)
    check(verdicts(run, '--max', 'host.python=1s')['steps.host.python']['value'] == 0, 'an account without time')


def check_aggregates(folder):
    """Three runs of 100, 100 and 300 us: the median is 100 us, the mean 166.7."""
    runs = [gpu_run(folder / f'agg_{i}.mini', [length] * 6) for i, length in enumerate((100, 300, 100))]
    for how, value in (('median', 100e-6), ('mean', 500e-6 / 3), ('min', 100e-6), ('max', 300e-6)):
        found = result('check', *runs, '--max', f'steps.mean=1ms {how} of 3 runs')
        row, = rows(found, 'checks')
        check(abs(row['value'] - value) < 1e-12 and row['run'] == 'all runs', f'{how}: {row}')
    check(verdicts(*runs, '--max', 'steps.mean=150us median of 3 runs')['steps.mean']['verdict'] == 'pass', 'the median holds')
    check(len(rows(result('check', *runs, '--max', 'steps.mean=150us', status=1), 'checks')) == 3, 'each run')
    few = verdicts(*runs[:2], '--max', 'steps.mean=1s median of 3 runs', status=1)['steps.mean']
    check(few['verdict'] == 'inconclusive' and 'the median needs 3' in few['note'], f'too few runs: {few}')
    idsprof('check', *runs[:2], '--max', 'steps.mean=1s median of 3 runs', '--allow-inconclusive')


def check_verdicts(folder):
    for i in range(5):
        gpu_run(folder / f'main_{i}.mini', noisy(i, 30, 100))
        gpu_run(folder / f'wild_{i}.mini', noisy(40 + i, 30, 100, run=0.08))
        gpu_run(folder / f'alike_{i}.mini', noisy(20 + i, 30, 100))
        gpu_run(folder / f'slow_{i}.mini', noisy(30 + i, 30, 115))
    idsprof('baseline', 'save', 'main', folder / 'main_?.mini')
    idsprof('baseline', 'save', 'wild', folder / 'wild_?.mini')
    for i in range(5):
        found = verdicts(folder / f'alike_{i}.mini', '--baseline', 'main')['steps.mean']
        check(found['verdict'] == 'pass' and found['low'] < found['baseline'] < found['high'], f'alike {i}: {found}')
        found = verdicts(folder / f'slow_{i}.mini', '--baseline', 'main', status=1)['steps.mean']
        check(found['verdict'] == 'fail' and found['value'] > found['high'], f'slow {i}: {found}')
        found = verdicts(folder / f'alike_{i}.mini', '--baseline', 'wild', status=1)['steps.mean']
        check(found['verdict'] == 'inconclusive', f'against a baseline that differs by 8 %: {found}')
        idsprof('check', folder / f'alike_{i}.mini', '--baseline', 'wild', '--allow-inconclusive')
    text = idsprof('check', folder / 'alike_0.mini', '--baseline', 'wild', status=1).stdout
    check('INCONCLUSIVE' in text and re.search(r'may be worse by up to \d+ %: take about \d+ recordings on either side', text), f'why: {text}')
    gpu_run(folder / 'fast.mini', noisy(50, 30, 85))
    text = idsprof('check', folder / 'fast.mini', '--baseline', 'wild', status=1).stdout
    check(re.search(r'better by \d+ %, but recordings differ so much that this may be chance: it may be worse by up to', text), f'a better one: {text}')
    alone = verdicts(folder / 'slow_0.mini', '--baseline', folder / 'main_0.mini', status=1)
    check(alone['steps.mean']['verdict'] == 'inconclusive' and 'so few recordings' in alone['steps.mean']['note'], f'one a side: {alone}')
    check(verdicts(folder / 'slow_0.mini', '--baseline', folder / 'main_0.mini', '--noise', '2%', status=1)['steps.mean']['verdict'] == 'fail',
          'the noise is stated')
    check(verdicts(folder / 'alike_0.mini', '--baseline', folder / 'main_0.mini', '--noise', '2%')['steps.mean']['verdict'] == 'pass',
          'equal, and the noise is stated')
    twice = idsprof('baseline', 'save', 'twice', folder / 'main_0.mini', folder / 'main_0.mini', folder / 'main_1.mini')
    check('2 runs' in twice.stdout and 'is the same recording as' in twice.stderr, f'a recording twice: {twice.stdout}{twice.stderr}')
    cut = folder / 'cut.xplane.pb'
    whole, = (COMPARE / 'base').glob('plugins/profile/*/*.xplane.pb')
    cut.write_bytes(whole.read_bytes()[:-10])
    found = verdicts(cut, '--max', 'idle.share=100%', status=1)
    check(found['idle.share']['verdict'] == 'inconclusive', f'a profile that is cut: {found}')
    budget = folder / 'absolute'
    budget.write_text('steps.mean no worse than baseline by 20 us\nop[fusion*] no worse than baseline by 5 %\n')
    found = verdicts(folder / 'slow_0.mini', '--baseline', 'main', '--budget', budget, status=1)
    check((found['steps.mean']['verdict'], found['op[fusion*]']['verdict']) == ('pass', 'fail'), f'an op against the baseline: {found}')


def same_but_names(found):
    found = {**found, 'run': {k: v for k, v in found['run'].items() if k not in ('a', 'a_path')}}
    return json.dumps(found)


def check_against(folder):
    """A baseline holds what diff needs: the same figures as with the runs themselves."""
    for after in ('recompile', 'doubled', 'transfer', 'again'):
        idsprof('baseline', 'save', 'kept', COMPARE / 'base', '--force')
        direct = subprocess.run([IDSPROF, 'diff', '--json', COMPARE / 'base', COMPARE / after], capture_output=True, text=True)
        kept = subprocess.run([IDSPROF, 'diff', '--json', '--against', 'kept', COMPARE / after], capture_output=True, text=True)
        check(same_but_names(json.loads(direct.stdout)) == same_but_names(json.loads(kept.stdout)), f'diff --against, {after}')
        check(direct.returncode == kept.returncode, f'diff --against, {after}: exit {kept.returncode}')
    failed = idsprof('check', COMPARE / 'recompile', '--baseline', 'kept', status=1).stdout
    command = re.search(r'idsprof (diff --against kept \S+)', failed)
    check(command and 'host.compile' in idsprof(*command.group(1).split()).stdout, f'check names the diff that says why: {failed}')
    place = Path(os.environ['XDG_DATA_HOME']) / 'idsprof' / 'baselines' / 'kept.db'
    with sqlite3.connect(place) as saved:
        saved.execute('DROP TABLE event')
    done = idsprof('diff', '--against', 'kept', COMPARE / 'recompile', status=2)
    check('save it again' in done.stderr, f'a baseline of an older version: {done.stderr}')
    idsprof('check', COMPARE / 'base', '--baseline', 'kept')
    check('kept no history' in idsprof('baseline', 'history', 'kept').stdout, 'no history')
    idsprof('diff', '--against', 'nosuch', COMPARE / 'base', status=2)
    idsprof('diff', '--against', 'kept', status=2)


def check_accepting(folder):
    slow, alike = folder / 'slow_?.mini', folder / 'alike_0.mini'
    idsprof('check', slow, '--baseline', 'main', status=1)
    for mistake in (['--accept', 'steps.mean'], ['--reason', 'x'], ['--accept', 'steps.mean', '--reason', ''], ['--accept', 'steps.p95', '--reason', 'x'],
                    ['--accept', 'idle.share', '--reason', 'it passes']):
        idsprof('check', slow, '--baseline', 'main', *mistake, status=2)
    idsprof('check', slow, '--max', 'steps.mean=1us', '--accept', 'steps.mean', '--reason', 'x', status=2)
    better = [gpu_run(folder / f'better_{i}.mini', noisy(80 + i, 30, length)) for i, length in enumerate((70, 99, 101))]
    done = idsprof('check', *better, '--baseline', 'main', '--accept', 'steps.mean', '--reason', 'better', status=2)
    check('is no worse than the baseline' in done.stderr, f'better is not accepted: {done.stderr}')
    reason = 'a larger model, see <#12> | ok'
    done = idsprof('check', slow, '--baseline', 'main', '--accept', 'steps.mean', '--reason', reason)
    check(f'): {reason}' in done.stdout and 'accepted on 2' in done.stdout, f'when it is accepted: {done.stdout}')
    found = verdicts(folder / 'slow_0.mini', '--baseline', 'main')['steps.mean']
    check(found['accepted'] == reason and abs(found['baseline'] - 115e-6) < 2e-6, f'held to the new level: {found}')
    check(reason in idsprof('check', folder / 'slow_0.mini', '--baseline', 'main').stdout, 'printed afterwards')
    check(reason in idsprof('baseline', 'show', 'main').stdout, 'baseline show')
    check(verdicts(alike, '--baseline', 'main')['steps.mean']['verdict'] == 'pass', 'better than accepted')
    worse = gpu_run(folder / 'worse.mini', noisy(77, 30, 132))
    check(verdicts(worse, '--baseline', 'main', status=1)['steps.mean']['verdict'] == 'fail', 'worse than accepted')
    events = json.loads(idsprof('baseline', 'history', 'main', '--json').stdout)
    check([(e['event'], e['runs'], e['id'], e['reason']) for e in events] == [('saved', 5, 'steps.mean', None), ('accepted', 5, 'steps.mean', reason)],
          f'history: {events}')
    idsprof('baseline', 'save', 'main', folder / 'main_?.mini', '--force')
    check(verdicts(folder / 'slow_0.mini', '--baseline', 'main', status=1)['steps.mean']['accepted'] is None, 'a new save ends it')
    check(len(json.loads(idsprof('baseline', 'history', 'main', '--json').stdout)) == 3, 'a save keeps the history')
    check(idsprof('baseline', 'history', 'main').stdout.count('saved') == 2, 'history as text')
    idsprof('baseline', 'history', 'nosuch', status=2)


def check_fail_on(folder):
    main, slow, alike = folder / 'main_?.mini', folder / 'slow_?.mini', folder / 'alike_?.mini'
    done = idsprof('diff', main, slow, '--fail-on', '5%', status=1)
    check('fails on 5%: step time: +1' in done.stderr, f'the step: {done.stderr}')
    idsprof('diff', main, slow, '--fail-on', '30%')
    idsprof('diff', main, alike, '--fail-on', '1%')
    idsprof('diff', slow, main, '--fail-on', '1%')
    done = idsprof('diff', COMPARE / 'base', COMPARE / 'recompile', '--fail-on', '5%', status=1)
    check('recompilation inside steps' in done.stderr, f'a cause that is counted: {done.stderr}')
    idsprof('diff', '--json', COMPARE / 'base', COMPARE / 'recompile', '--fail-on', '5%', status=1)
    hidden = [gpu_run(folder / f'hidden_{i}.mini', noisy(60 + i, 30, 100), busy=0.95) for i in range(3)]
    done = idsprof('diff', main, folder / 'hidden_?.mini', '--fail-on', '5%', status=1)
    check(hidden and 'work.compute' in done.stderr, f'a cause that a gain hides: {done.stderr}')
    idsprof('diff', folder / 'main_0.mini', hidden[0], '--fail-on', '5%')  # of one recording a side no cause is certain
    idsprof('diff', folder / 'main_0.mini', hidden[0], '--fail-on', '5%', '--noise', '2%', status=1)
    idsprof('diff', folder / 'main_0.mini', hidden[0], '--fail-on', '5%', '--noise', '60%')
    plain = [Op('dot', 'layer0', 50, 'dot'), Op('tanh', 'layer0', 50)]
    for name, ops in ('plain', plain), ('other', [replace(plain[0], shape='f32[64,129]'), plain[1]]), ('more', [replace(plain[0], us=60), *plain[1:]]):
        side(folder, name, ops, 7)
    found = json.loads(idsprof('diff', '--json', folder / 'plain_?.mini', folder / 'other_?.mini', '--fail-on', '1%').stdout)
    check(rows(found, 'structure') and rows(found, 'waterfall') is not None, 'another shape of the same time fails nothing')
    idsprof('diff', folder / 'plain_?.mini', folder / 'more_?.mini', '--fail-on', '5%', status=1)
    for wrong in ('x', '-1%'):
        idsprof('diff', main, slow, '--fail-on', wrong, status=2)
    idsprof('diff', '--trend', main, '--fail-on', '5%', status=2)


def check_forms(folder):
    run = gpu_run(folder / 'forms.mini', [100] * 6)
    cases = ElementTree.fromstring(idsprof('check', run, run, '--max', 'steps.mean=1us', '--max', 'steps.mean=1us', '--max', 'op[none]=1s optional',
                                           '--junit', '-', status=1).stdout).findall('.//testcase')
    check(len({(c.get('classname'), c.get('name')) for c in cases}) == len(cases) == 6, 'names of test cases are unique')
    check(all(float(c.get('time')) >= 0 for c in cases) and sum(c.find('skipped') is not None for c in cases) == 2, 'times, and what is skipped')
    for both in (['--json', '--markdown'], ['--markdown', '--junit', '-'], ['--json', '--junit', '-']):
        idsprof('check', run, '--max', 'steps.mean=1s', *both, status=2)
    idsprof('diff', run, run, '--json', '--markdown', status=2)
    check(idsprof('check', run, '--max', 'steps.mean=1us', '--markdown', status=1).stdout.startswith('### idsprof check: fail\n'), 'Markdown')


with tempfile.TemporaryDirectory() as scratch:
    os.environ.setdefault('XDG_DATA_HOME', scratch + '/data')
    check_units(Path(scratch))
    check_subjects()
    check_missing(Path(scratch))
    check_aggregates(Path(scratch))
    check_verdicts(Path(scratch))
    check_against(Path(scratch))
    check_accepting(Path(scratch))
    check_fail_on(Path(scratch))
    check_forms(Path(scratch))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
