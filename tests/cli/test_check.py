#!/usr/bin/env python3
"""`idsprof check` and `idsprof baseline`: budgets, exit codes, JUnit XML, JSON, and baselines that are saved, shown, damaged and removed.

Environment: IDSPROF, IDS_SOURCE_DIR; XDG_DATA_HOME is the test's own.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
sys.path[:0] = [str(SOURCE / 'tests' / 'golden'), str(SOURCE / 'tests' / 'support')]
from made_runs import gpu_run, noisy  # noqa: E402
from test_mini import rows  # noqa: E402

CPU1 = SOURCE / 'testdata' / 'cpu1_annotated'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*arguments, status=0, stdin=None):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120, input=stdin)
    check(done.returncode == status, f'{arguments}: exit {done.returncode}, not {status}: {(done.stderr or done.stdout).strip()[-300:]}')
    return done


def verdicts(*arguments, status=0):
    done = idsprof('check', '--json', *arguments, status=status)
    try:
        return {r['id']: (r['verdict'], r['value'], r['bound'], r['note']) for r in rows(json.loads(done.stdout), 'checks')}
    except ValueError as error:
        failures.append(f'{arguments}: no JSON: {error}')
        return {}


def check_the_example(folder):
    """Mean step time below 150 ms over 100 steps after 10 of warm-up: 10 steps of 400 us, 100 of 140 us. All together (110 steps) the mean is
    (10 * 400 + 100 * 140) / 110 = 163.6 us, without the warm-up 140 us. (us for ms: it is the same example.)"""
    run = gpu_run(folder / 'warm.mini', [400] * 10 + [140] * 100)
    budget = folder / 'budget'
    budget.write_text('# the first steps compile\nsteps.mean < 150 us over 100 steps after 10\n')
    found = verdicts(run, '--budget', budget)['steps.mean']
    check(found[0] == 'pass' and abs(found[1] - 140e-6) < 1e-12 and found[2] == 150e-6, f'after warm-up: {found}')
    found = verdicts(run, '--max', 'steps.mean=150us', status=1)['steps.mean']
    check(found[0] == 'fail' and abs(found[1] - 18000e-6 / 110) < 1e-9, f'with warm-up: {found}')
    check(verdicts(run, '--max', 'steps.mean=150us', '--over', 100, '--after', 10)['steps.mean'][0] == 'pass', '--over --after')
    check(verdicts(run, '--max', 'steps.median=150us', '--after', 10)['steps.median'][1] == 140e-6, 'median after 10')
    found = verdicts(run, '--max', 'steps.mean=150us', '--over', 101, '--after', 10, status=1)['steps.mean']
    check(found[0] == 'fail' and found[1] is None and '110 steps' in found[3], f'too few steps: {found}')
    budget.write_text('steps.mean < 150 us over 100 steps after 10\nsteps.mean <\n')
    done = idsprof('check', run, '--budget', budget, status=2)
    check('line 2' in done.stderr and 'a value is missing' in done.stderr, f'a mistake: {done.stderr}')
    idsprof('check', run, '--budget', '-', stdin='steps.mean < 1 ms\n')
    idsprof('check', run, '--budget', folder / 'none', status=2)
    idsprof('check', run, status=2)
    text = idsprof('check', run, '--max', 'steps.mean=150us', '--max', 'idle.share=99%', status=1).stdout
    check('FAIL' in text and 'fail: 1 of 2 limits passed, 1 failed' in text and '--explain steps.mean' in text, f'as text: {text}')
    quiet = idsprof('check', run, '--quiet', '--max', 'idle.share=99%').stdout
    check(quiet == '', f'--quiet prints {quiet!r}')


def check_forms(folder):
    done = idsprof('check', CPU1, '--max', 'compile.in_steps=0', '--max', 'transfers.h2d_bytes=1MB', '--min', 'steps.count=6', '--junit',
                   folder / 'out.xml', status=1)
    check('no data' in done.stdout and 'no transfer' in done.stdout, 'a figure that is not there keeps no limit')
    suite = ElementTree.parse(folder / 'out.xml').getroot().find('testsuite')
    check((suite.get('tests'), suite.get('failures')) == ('3', '2'), f'JUnit: {suite.attrib}')
    failed = {case.get('name'): case.find('failure').get('message') for case in suite if case.find('failure') is not None}
    check(failed.get('compile.in_steps <= 0') == 'compile.in_steps is 3', f'JUnit: {failed}')
    evil = gpu_run(folder / 'a<&">\x01.mini', [10] * 3)
    done = idsprof('check', evil, '--max', 'steps.mean=1ns', '--junit', '-', status=1)
    case = ElementTree.fromstring(done.stdout).find('.//testcase')
    check(case.get('classname').startswith('a<&">'), 'JUnit: a name of markup')
    several = idsprof('check', '--json', CPU1, SOURCE / 'testdata' / 'cpu1_async', '--max', 'compile.in_steps=0', status=1)
    found = [(r['run'], r['verdict']) for r in rows(json.loads(several.stdout), 'checks')]
    check(found == [('cpu1_annotated', 'fail'), ('cpu1_async', 'pass')], f'several runs: {found}')
    idsprof('check', CPU1, '--max', 'no.such=1', status=2)
    idsprof('check', CPU1, '--max', 'steps.mean=1ms', '--json', '--junit', '-', status=2)
    idsprof('check', CPU1, '--max', 'steps.mean=1ms', '--junit', folder / 'no' / 'such.xml', status=2)


def check_baselines(folder):
    for i in range(3):
        gpu_run(folder / f'main_{i}.mini', noisy(i, 30, 100))
        gpu_run(folder / f'slow_{i}.mini', noisy(10 + i, 30, 115))
        gpu_run(folder / f'alike_{i}.mini', noisy(20 + i, 30, 100))
    check('no baseline is saved' in idsprof('baseline', 'list').stdout, 'an empty list')
    done = idsprof('baseline', 'save', 'main', folder / 'main_?.mini')
    check('3 runs' in done.stdout and 'idsprof check RUN --baseline main' in done.stdout, f'save: {done.stdout}')
    check("the baseline 'main' exists" in idsprof('baseline', 'save', 'main', folder / 'main_0.mini', status=2).stderr, 'saved over')
    listed = json.loads(idsprof('baseline', 'list', '--json').stdout)
    check([(b['name'], b['runs']) for b in listed] == [('main', 3)], f'list: {listed}')
    shown = json.loads(idsprof('baseline', 'show', 'main', '--json').stdout)
    reported = json.loads(idsprof('report', folder / 'main_1.mini', '--json').stdout)
    check(listed[0]['devices'] == reported['run']['devices'], f"devices: {listed[0]['devices']}")
    reported = reported['metrics']
    check(len(shown['runs']) == 3, 'show')
    for metric, value in shown['runs'][1]['metrics'].items():
        check(metric in reported and reported[metric]['value'] == value, f'the baseline keeps {metric} as {value}')
    check(set(shown['runs'][1]['metrics']) == set(reported), 'the baseline keeps every metric')
    check('steps.mean' in idsprof('baseline', 'show', 'main').stdout, 'show as text')

    found = verdicts(str(folder / 'slow_?.mini'), '--baseline', 'main', status=1)
    check(found['steps.mean'][0] == 'fail' and found['idle.share'][0] == 'pass' and 'compile.in_steps' not in found, f'slower than main: {found}')
    found = verdicts(str(folder / 'alike_?.mini'), '--baseline', 'main')
    check(all(v[0] == 'pass' for v in found.values()), f'like main: {found}')
    check(verdicts(str(folder / 'slow_?.mini'), '--baseline', 'main', '--tolerance', '30%')['steps.mean'][0] == 'pass', '--tolerance')
    budget = folder / 'b'
    budget.write_text('steps.mean no worse than baseline by 20 %\nsteps.p95 no worse than baseline by 1 %\n')
    found = verdicts(str(folder / 'slow_?.mini'), '--baseline', 'main', '--budget', budget, status=1)
    check((found['steps.mean'][0], found['steps.p95'][0]) == ('pass', 'fail'), f'budget against main: {found}')
    check(verdicts(str(folder / 'slow_?.mini'), '--budget', budget, status=1)['steps.mean'][0] == 'fail', 'no baseline given')
    found = verdicts(folder / 'slow_0.mini', '--baseline', folder / 'main_0.mini', status=1)
    check(found['steps.mean'][0] == 'inconclusive', f'one recording a side: {found}')
    two = gpu_run(folder / 'two.mini', [100] * 6, devices=2)
    check('another number of devices' in idsprof('check', two, '--baseline', 'main', status=2).stderr, 'two devices against one')
    check('no saved baseline' in idsprof('check', two, '--baseline', 'nosuch', status=2).stderr, 'neither baseline nor run')

    place = Path(os.environ['XDG_DATA_HOME']) / 'idsprof' / 'baselines' / 'main.db'
    whole = place.read_bytes()
    check(len(whole) < 300000, f'a baseline of three runs takes {len(whole)} bytes')
    for cut in (0, 1, 100, 4096, len(whole) // 2, len(whole) - 1):
        place.write_bytes(whole[:cut])
        done = subprocess.run([IDSPROF, 'baseline', 'show', 'main'], capture_output=True, text=True, timeout=60)
        check(done.returncode in (0, 2), f'a baseline cut at {cut}: exit {done.returncode}')
    for at in range(100, len(whole), 997):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
        done = subprocess.run([IDSPROF, 'check', str(two), '--baseline', 'main', '--force'], capture_output=True, text=True, timeout=60)
        check(done.returncode in (0, 1, 2), f'a baseline changed at {at}: exit {done.returncode}: {done.stderr[-300:]}')
    place.write_bytes(whole)
    for name in ('../main', '.main', '', 'a/b', 'x' * 101):
        idsprof('baseline', 'save', name, folder / 'main_0.mini', status=2)
    idsprof('baseline', 'show', 'nosuch', status=2)
    idsprof('baseline', 'save', 'main', status=2)
    idsprof('baseline', 'keep', 'main', status=2)
    idsprof('baseline', 'rm', 'main')
    idsprof('baseline', 'rm', 'main', status=2)
    check(json.loads(idsprof('baseline', 'list', '--json').stdout) == [], 'removed')


def check_gone_ids(folder):
    """A budget or baseline of the time before the ledger says which ids to use now."""
    run, budget = gpu_run(folder / 'now.mini', [100] * 6), folder / 'old'
    for gone, now in (('steps.collective', 'steps.comm.transfer and steps.comm.wait'), ('steps.input', 'steps.host.input'),
                      ('idle.host_late.python', 'idle.host.python'), ('idle.queue_share', 'idle.device.queue')):
        budget.write_text(f'steps.mean < 1 s\n{gone} < 1 ms\n')
        done = idsprof('check', run, '--budget', budget, status=2)
        check(f"line 2: the metric '{gone}' is gone; replaced by {now}" in done.stderr, f'{gone}: {done.stderr}')
        check(f'replaced by {now}' in idsprof('check', run, '--max', f'{gone}=1', status=2).stderr, f'--max {gone}')
    idsprof('baseline', 'save', 'old', run)
    place = Path(os.environ['XDG_DATA_HOME']) / 'idsprof' / 'baselines' / 'old.db'
    with sqlite3.connect(place) as saved:
        saved.execute("UPDATE metric SET id = 'steps.collective' WHERE id = 'steps.comm.wait'")
    budget.write_text('steps.comm.wait no worse than baseline\n')
    found = verdicts(run, '--baseline', 'old', '--budget', budget, status=1)['steps.comm.wait']
    check(found[0] == 'fail' and "has 'steps.collective', which 'steps.comm.wait' replaced" in found[3], f'an old baseline: {found}')


def check_accounts(folder):
    """Steps of 100 us and then of 50 us, four fifths of each work.compute: 80 us, 40 us, and 45 us over the last eight steps of nine."""
    run = gpu_run(folder / 'accounts.mini', [100] * 2 + [50] * 7)
    found = verdicts(run, '--max', 'steps.work.compute=45us', '--over', 8, '--after', 1)['steps.work.compute']
    check(found[0] == 'pass' and abs(found[1] - 45e-6) < 1e-12, f'an account over some steps: {found}')
    found = verdicts(run, '--max', 'steps.work.compute=40us', status=1)['steps.work.compute']
    check(found[0] == 'fail' and abs(found[1] - (2 * 80e-6 + 7 * 40e-6) / 9) < 1e-11, f'an account over all steps: {found}')


with tempfile.TemporaryDirectory() as scratch:
    os.environ.setdefault('XDG_DATA_HOME', scratch + '/data')
    check_the_example(Path(scratch))
    check_forms(Path(scratch))
    check_baselines(Path(scratch))
    check_gone_ids(Path(scratch))
    check_accounts(Path(scratch))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
