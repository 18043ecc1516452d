#!/usr/bin/env python3
"""idsprof track: 60 made nights in which one layer takes 3 % longer from night 41 on: that night and that layer, no other. Then what is
like it and is something else: bad nights, missing ones, drifts, all layers at once, new layers, longer gaps, other devices; histories
without any change; what is no file of track; jobs that add at the same moment.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/support')
import made_nights  # noqa: E402

IDSPROF = os.environ['IDSPROF']
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
SLOWER = {'factor': {'layer_3': 1.03}}
failures = []
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        failures.append(what)


def run(*arguments, status=0):
    done = subprocess.run([IDSPROF, 'track', *map(str, arguments)], capture_output=True, text=True)
    check(done.returncode == status, f'track {arguments}: status {done.returncode}, not {status}: {done.stderr[-400:]}')
    return done


def tables(*arguments):
    done = run(*arguments, '--json')
    return json.loads(done.stdout)['tables'] if done.returncode == 0 else {}


def rows(tables_of, name):
    table = tables_of.get(name, {'columns': [], 'rows': []})
    return [dict(zip([column['id'] for column in table['columns']], row)) for row in table['rows']]


def course(root, name, what, *options, seed=1, nights=60):
    folder = made_nights.write_nights(root / name, seed, what, nights)
    run('add', root / f'{name}.db', folder / '*.mini', '--no-cache')
    return tables('show', root / f'{name}.db', *options)


def causes(tables_of):
    return [(r['name'], r['kind'], r['figure']) for r in rows(tables_of, 'changes') if r['role'] == 'cause']


def the_planted_one(root):
    found = course(root, 'planted', lambda n: SLOWER if n >= 41 else {})
    check(causes(found) == [('night_41.mini', 'scope', 'model/layer_3')], f'planted: {causes(found)}')
    row = rows(found, 'changes')[0]
    check(row['first'] <= 41 <= row['last'] and row['last'] - row['first'] <= 2, f'planted: place {row}')
    check(row['low'] < 0.03 * row['before'] < row['high'], f'planted: interval {row}')
    check(not rows(found, 'drifts') and not rows(found, 'latest'), 'planted: drifts or last runs')
    check({r['change'] for r in rows(found, 'changes')} == {1}, 'planted: one change')
    text = run('show', root / 'planted.db').stdout
    check('2026-10-12, night_41.mini: model/layer_3 +' in text, text)
    check(f'idsprof diff {root}/planted/night_40.mini {root}/planted/night_41.mini' in text, 'the next command')
    csv = run('show', root / 'planted.db', '--csv').stdout
    check(csv.startswith('change,run,name,first,last,role,kind,figure,'), csv[:100])
    differ = rows(tables('diff', root / 'planted.db', '2026-09-01..2026-10-11', '2026-10-12..'), 'levels')
    worse = [r['figure'] for r in differ if r['verdict'] == 'regression' and r['kind'] == 'scope']
    check(worse == ['model/layer_3', 'model/layer_3/mlp'], f'diff: {worse}')  # attention: 12 us are below a thousandth of a step
    check('REGRESSION' in run('diff', root / 'planted.db', 'night_[0-3]?.mini', 'night_5?.mini').stdout, 'diff by name')
    check('fewer than three runs' in run('diff', root / 'planted.db', 'night_40.mini', 'night_41.mini').stdout, 'diff of two')


def what_is_like_it(root):
    found = course(root, 'missing', lambda n: None if n in (5, 6, 7, 40) else SLOWER if n >= 41 else {}, seed=2)
    check(causes(found) == [('night_41.mini', 'scope', 'model/layer_3')], f'missing nights: {causes(found)}')
    found = course(root, 'bad', lambda n: {'factor': {'layer_3': 1.3, 'layer_5': 1.2}} if n in (20, 30, 31) else {}, seed=3)
    check(not rows(found, 'changes') and not rows(found, 'drifts'), f'bad nights: {causes(found)}')
    found = course(root, 'back', lambda n: {'factor': {'layer_3': 1.1}} if 20 <= n < 30 else {}, seed=4)
    check([(c[0], c[2]) for c in causes(found)] == [('night_20.mini', 'model/layer_3'), ('night_30.mini', 'model/layer_3')], f'back: {causes(found)}')
    found = course(root, 'two', lambda n: {'factor': {'layer_3': 1.1, 'layer_7': 0.8}} if n >= 25 else {}, seed=5)
    check(sorted(causes(found)) == [('night_25.mini', 'scope', 'model/layer_3'), ('night_25.mini', 'scope', 'model/layer_7')], f'two: {causes(found)}')
    found = course(root, 'one_part', lambda n: {'factor': {'layer_3/attention': 1.1}} if n >= 25 else {}, seed=6)
    check(causes(found) == [('night_25.mini', 'scope', 'model/layer_3/attention')], f'one part: {causes(found)}')
    found = course(root, 'all', lambda n: {'factor': {'mlp': 1.1, 'attention': 1.1, 'norm': 1.1}} if n >= 25 else {}, seed=7)
    check(causes(found) == [('night_25.mini', 'scope', 'model')], f'all layers: {causes(found)}')
    found = course(root, 'more', lambda n: {'layers': 13 if n >= 30 else 12}, seed=8)
    check(('night_30.mini', 'scope', 'model/layer_12') in causes(found) and len(causes(found)) == 1, f'a new layer: {causes(found)}')
    found = course(root, 'gap', lambda n: {'gap_us': 600 if n >= 30 else 300}, seed=9)
    check(causes(found) == [('night_30.mini', 'account', 'device.unknown')], f'a longer gap: {causes(found)}')
    found = course(root, 'drift', lambda n: {'factor': {'layer_3': 1 + 0.004 * n}}, seed=10)
    check(not rows(found, 'changes') and rows(found, 'drifts') and 'layer_3' in rows(found, 'drifts')[0]['figure'], f'drift: {causes(found)}')
    check('little by little' in run('show', root / 'drift.db').stdout, 'the words of a drift')
    found = course(root, 'moved', lambda n: {'layers': 5, 'factor': {'layer_1': 1.03 if n >= 40 else 1}}, seed=6)
    check(causes(found) == [('night_40.mini', 'scope', 'model/layer_1')], f'moved: {causes(found)}')
    check(not rows(found, 'drifts'), f'moved: {rows(found, "drifts")}')  # of a step whose layer's time is a fifth of it
    found = course(root, 'both', lambda n: {'factor': {'layer_3': 1 + 0.004 * n, 'layer_7': 1.1 if n >= 40 else 1}}, seed=11)
    check('model/layer_3' in [r['figure'] for r in rows(found, 'drifts')], f'both: {rows(found, "drifts")}')
    check(causes(found)[:1] == [('night_40.mini', 'scope', 'model/layer_7')], f'both: {causes(found)}')
    for seed in (4, 5):  # stairs of one layer, which a line fits well in the noise of all others
        found = course(root, f'stairs{seed}', lambda n: {'layers': 6, 'steps': 3, 'noise': 0.01, 'factor': {
            'layer_2': (1.05 if n >= 20 else 1) * (1.06 if n >= 45 else 1)}}, seed=seed)
        check(len(causes(found)) == 2 and not rows(found, 'drifts'), f'stairs: {causes(found)}, {rows(found, "drifts")}')
    found = course(root, 'latest', lambda n: {'factor': {'layer_3': 1.2}} if n >= 58 else {}, seed=11)
    check(not rows(found, 'changes') and any(r['figure'] == 'model/layer_3' and r['runs'] == 2 for r in rows(found, 'latest')), 'the last two')
    check('with three runs it is a change' in words(root, 'latest'), 'the words of the last two')
    found = course(root, 'few', lambda n: {}, seed=12, nights=4)
    check(not rows(found, 'changes') and 'none can be told of 4 runs' in run('show', root / 'few.db').stdout, 'few')


def causes_of(tables_of, name):
    return [r['figure'] for r in rows(tables_of, name) if r['role'] == 'cause']


def words(root, name, *options):
    return ' '.join(run('show', root / f'{name}.db', '--width', '200', *options).stdout.split())


ALL = ('mlp', 'attention', 'norm')


def drifts_and_last_runs(root):
    """They are grouped as changes are; the step's time is said first, and what all scopes share once."""
    found = course(root, 'd_one', lambda n: {'layers': 5, 'factor': {'layer_3': 1 + 0.006 * n}}, seed=31)
    check(causes_of(found, 'drifts') == ['model/layer_3'] and rows(found, 'drifts')[0]['figure'] == 'model/layer_3', rows(found, 'drifts'))
    roles = {r['figure']: r['role'] for r in rows(found, 'drifts')}
    check(roles.get('model/layer_3/mlp') == 'part' and roles.get('steps.mean') == roles.get('model') == 'effect', roles)
    said = words(root, 'd_one')
    check('DRIFTS - step time +' in said and 'because of model/layer_3 +' in said and 'in it: model/layer_3/mlp +' in said, said)
    check('alike' not in said, said)
    found = course(root, 'd_all', lambda n: {'factor': dict.fromkeys(ALL, 1 + 0.001 * n)}, seed=32)
    check(causes_of(found, 'drifts') == ['model'], causes_of(found, 'drifts'))
    said = words(root, 'd_all')
    more = len(rows(found, 'drifts')) - 1
    check('DRIFTS - step time +' in said and ': all 12 scopes alike, little by little, from the first run to the last' in said, said)
    check(said.endswith(f'; {more} more: -n 0'), said)
    said = words(root, 'd_all', '-n', '0')
    check('more: -n 0' not in said and said.count('model/layer_') >= more - 5, said)
    found = course(root, 'd_some', lambda n: {'factor': {f'layer_{i}': 1 + 0.004 * n for i in range(4)}}, seed=33)
    check(sorted(causes_of(found, 'drifts')) == [f'model/layer_{i}' for i in range(4)], causes_of(found, 'drifts'))
    check('alike' not in words(root, 'd_some') and '; 13 more: -n 0' in words(root, 'd_some'), words(root, 'd_some'))
    found = course(root, 'l_all', lambda n: {'factor': dict.fromkeys(ALL, 1.2 if n == 59 else 1)}, seed=34)
    check(causes_of(found, 'latest') == ['model'] and {r['runs'] for r in rows(found, 'latest')} == {1}, rows(found, 'latest')[:2])
    said = words(root, 'l_all')
    check(re.search(r'THE LAST RUNS - step time \+(19|20|21)', said) and ': all 12 scopes alike, in the last run: out of line;' in said, said)
    found = course(root, 'l_one', lambda n: {'factor': {'layer_3': 1.5 if n >= 58 else 1}}, seed=35)
    check(causes_of(found, 'latest') == ['model/layer_3'], causes_of(found, 'latest'))
    check('because of model/layer_3 +' in words(root, 'l_one') and 'in the last two runs' in words(root, 'l_one'), words(root, 'l_one'))


def large_steps(root):
    """One layer takes many times as long: one change, in that night, and no last runs."""
    for number, times in enumerate((1.5, 4, 10, 30, 1 / 4, 1 / 30)):
        found = course(root, f'large{number}', lambda n: {'layers': 6, 'noise': 0.01, 'factor': {'layer_3': times if n >= 41 else 1}}, seed=40 + number)
        check(causes(found) == [('night_41.mini', 'scope', 'model/layer_3')] and not rows(found, 'latest'), f'x {times}: {causes(found)}')
    found = course(root, 'three', lambda n: {'layers': 6, 'noise': 0.01, 'factor': {'layer_3': 1.5 if 25 <= n < 28 else 1}}, seed=47)
    check(causes(found) == [(f'night_{n}.mini', 'scope', 'model/layer_3') for n in (25, 28)], f'three nights: {causes(found)}')


DAYS = {
    '2026-09-01': 1788220800, '2026_09_01': 1788220800, 'run_20260901_040000': 1788235200, 'nightly-2026-09-01': 1788220800,
    '20260901T040000': 1788235200, '2026-09-01T04:00:00_4gpu': 1788235200, '2026-02-30': None, 'job_20261301': None, 'v1999-09-01': None,
    'job_1788220800': None, 'sha_202609011': None,
}


def days_of_names(root):
    """What does not say itself when it was recorded is of the day that its folder's name, or that of the one above, says."""
    mini = made_nights.write_nights(root / 'undated', 3, lambda n: {}, 1) / 'night_00.mini'
    written = 1700000000
    days = {}
    for number, (name, day) in enumerate(DAYS.items()):
        for path in (root / f'in{number}' / name / 'x.mini', root / f'as{number}' / f'{name}.mini'):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(mini.read_bytes())
            os.utime(path, (written, written))
            run('add', root / 'days.db', path, '--no-cache')
            days[str(path.resolve())] = day
    folder = root / 'runs/2026-09-07'
    folder.mkdir(parents=True)
    (folder / 'trace.json').write_text('[{"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": 9, "name": "k", "cat": "kernel", "args": {"device": 0, "stream": 7}}]')
    run('add', root / 'day.db', folder, '--no-cache')
    check([r['unix_s'] for r in rows(tables('show', root / 'day.db'), 'runs')] == [1788739200], 'the day of a folder')
    for added in rows(tables('show', root / 'days.db'), 'runs'):
        day = days.pop(added['path'], 0)
        check(added['unix_s'] == (day or written), added)
        check(not day or '2026' not in added['labels'], added)
    check(not days, days)


def without_steps(root):
    """Its times are those of the window, and are said to be."""
    for night in range(16):
        ops = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': i * 200, 'dur': (100 if night < 8 else 130) + (night * 7 + i) % 3, 'name': 'k', 'cat': 'kernel',
                'args': {'device': 0, 'stream': 7}} for i in range(6)]
        path = root / 'windows' / f'2026-09-{night + 1:02}.json'
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(ops))
        run('add', root / 'windows.db', path, '--no-cache')
    said = ' '.join(run('show', root / 'windows.db').stdout.split())
    check('in the window)' in said and '% of the window' in said and 'a step' not in said, said)


def longer_windows(root):
    """A window with more steps that are not marked is a longer capture, and not a slower layer."""
    folder = made_nights.write_nights(root / 'longer', 50, lambda n: {'layers': 4, 'steps': 20 if n >= 12 else 5}, 20)
    for path in folder.iterdir():
        when = path.stat().st_mtime
        path.write_text(path.read_text().split('line 2 "XLA Modules"')[0])
        os.utime(path, (when, when))
    run('add', root / 'longer.db', folder / '*.mini', '--no-cache')
    said = words(root, 'longer')
    check('2026-09-13, night_12.mini: window +' in said and ': all 4 scopes alike; ' in said and 'these windows have no steps' in said, said)
    check('model/layer_' not in said, said)
    found = course(root, 'slower', lambda n: {'factor': dict.fromkeys(ALL, 1.2 if n >= 30 else 1)}, seed=51)
    said = words(root, 'slower')
    check(causes(found) == [('night_30.mini', 'scope', 'model')] and ': step time +' in said and ': all 12 scopes alike; ' in said, said)
    check('these windows' not in said, said)
    found = course(root, 'most', lambda n: {'factor': {f'layer_{i}': 1.2 if n >= 30 else 1 for i in range(8)}}, seed=52)
    check('alike' not in words(root, 'most'), words(root, 'most'))


def renamed(root):
    """A layer of another name is gone, and new: that it may be the same is said. A new one of another size is not."""
    course(root, 'renamed', lambda n: {'layers': 4, 'names': {2: 'block_2'} if n >= 12 else {}}, seed=53, nights=24)
    check('perhaps only renamed, with the same time: model/layer_2 \u2192 model/block_2' in words(root, 'renamed'), words(root, 'renamed'))
    course(root, 'all_renamed', lambda n: {'layers': 4, 'names': {i: f'block_{i}' for i in range(4)} if n >= 12 else {}}, seed=54, nights=24)
    said = words(root, 'all_renamed', '-n', '0')
    check(all(f'model/layer_{i} \u2192 model/block_{i}' in said for i in range(4)), said)
    course(root, 'replaced', lambda n: {'layers': 4, 'names': {2: 'block_2'} if n >= 12 else {}, 'factor': {p: 1 for p in ALL} if n < 12 else
                                        {'layer_2': 1.3}}, seed=55, nights=24)
    check('renamed' not in words(root, 'replaced'), words(root, 'replaced'))


def labels_and_choices(root):
    folder = made_nights.write_nights(root / 'labels', 20, lambda n: SLOWER if n >= 10 else {}, 20)
    for number in range(20):
        commit = 'aaa' if number < 10 else 'bbb'
        run('add', root / 'l.db', folder / f'night_{number:02}.mini', '--no-cache', '-l', f'commit={commit}', '-l', f'odd={number % 2}')
    check('labels: commit: aaa \u2192 bbb' in run('show', root / 'l.db').stdout, 'labels that differ')
    found = tables('show', root / 'l.db', '--where', 'odd=1')
    check(len(rows(found, 'runs')) == 10 and all('odd=1' in r['labels'] for r in rows(found, 'runs')), '--where')
    check(len(rows(tables('show', root / 'l.db', '--where', 'name=night_0*'), 'runs')) == 10, '--where name')
    check('no run has the label' in run('show', root / 'l.db', '--where', 'odd=7', status=2).stderr, '--where of none')
    (root / 'labels.txt').write_text('# of this job\nconfig=small\n')
    said = run('add', root / 'l.db', folder / 'night_03.mini', '--no-cache', '--labels', root / 'labels.txt').stdout
    check('1 of them in place of what was there' in said and '20 runs in all' in said, said)
    check(sum('config=small' in r['labels'] for r in rows(tables('show', root / 'l.db'), 'runs')) == 1, '--labels')
    run('add', root / 'l.db', folder / 'night_03.mini', '--no-cache', '--date', '2026-12-24')
    check(rows(tables('show', root / 'l.db'), 'runs')[-1]['unix_s'] == 1798070400, '--date')
    check(run('rm', root / 'l.db', '2026-12-24').stdout == 'removed 1 run\n', 'rm')
    made_nights.write(root / 'other.mini', 30, random.Random(1), plane='/device:GPU:0')
    run('add', root / 'l.db', root / 'other.mini', '--no-cache')
    check('left out: 1 run on other devices' in run('show', root / 'l.db').stdout, 'other devices')
    for wrong in (('show', root / 'no.db'), ('rm', root / 'no.db', 'x'), ('add', root / 'l.db'), ('show',), ('frob', root / 'l.db'),
                  ('diff', root / 'l.db', 'night_*'), ('diff', root / 'l.db', 'night_*', 'nothing'), ('show', root / 'l.db', '-j', '-c'),
                  ('add', root / 'l.db', folder / '*.mini', '--date', '2026-12-24'), ('add', root / 'l.db', root / 'other.mini', '--date', 'today'),
                  ('add', root / 'l.db', root / 'other.mini', '-l', 'commit'), ('show', root / 'l.db', '-t', 'x')):
        check(run(*wrong, status=2).stderr.startswith('idsprof: track: '), f'{wrong}: no words')
    check(not (root / 'no.db').exists(), 'a file that was not there is made')


def other_files(root):
    run_file = root / 'planted' / 'night_00.mini'
    subprocess.run([IDSPROF, 'import', run_file, '-o', root / 'import.db'], check=True, capture_output=True)
    (root / 'text').write_text('no database\n')
    for path in (root / 'import.db', root / 'text'):
        before = path.read_bytes()
        check('idsprof track' in run('add', path, run_file, '--no-cache', status=2).stderr, f'{path}: what it is')
        check(path.read_bytes() == before, f'{path} was changed')
    run('add', root, run_file, '--no-cache', status=2)
    whole = (root / 'planted.db').read_bytes()
    rng = random.Random(4)
    for attempt in range(20 if SANITIZED else 100):
        broken = bytearray(whole[:rng.randrange(len(whole))] if attempt % 3 == 0 else whole)
        for _ in range(rng.randrange(1, 40)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        (root / 'broken.db').write_bytes(broken)
        done = subprocess.run([IDSPROF, 'track', 'show', root / 'broken.db', '--json'], capture_output=True, timeout=60)
        check(done.returncode in (0, 2), f'a broken file: {done.returncode} {done.stderr[-200:]}')


def at_the_same_moment(root):
    names = sorted((root / 'planted').iterdir())[:8]
    jobs = [subprocess.Popen([IDSPROF, 'track', 'add', root / 'many.db', name, '--no-cache'], stdout=subprocess.DEVNULL) for name in names]
    check([job.wait() for job in jobs] == [0] * 8, 'jobs that add at the same moment')
    check(len(rows(tables('show', root / 'many.db'), 'runs')) == 8, 'what they added')
    check(not [p.name for p in root.iterdir() if 'tmp-' in p.name], 'what they left')


def write_history(path, figures, value_of):
    """A made file: the figures (kind and name) over 60 nights."""
    with sqlite3.connect(path) as db:
        db.executescript((SOURCE / 'lib/store/track.sql').read_text())
        db.execute("INSERT INTO track VALUES (1, 'a test')")
        db.executemany('INSERT INTO figure VALUES (?, ?, ?, 2, 1)', [(f, *figure) for f, figure in enumerate(figures, 1)])
        for night in range(60):
            db.execute("INSERT INTO run VALUES (?, ?, ?, '', '1 x TPU', 'a test')", (night + 1, 86400 * night, f'night_{night}'))
            db.executemany('INSERT INTO value VALUES (?, ?, ?)', [(night + 1, f, v) for f, v in enumerate(value_of(night), 1)])
    db.close()


def ranges_of_groups(root):
    """Figures of a change differ in where they place it, but the noise of the machine moves them together."""
    rng = random.Random(8)
    found = held = 0
    parts = [f'layer_3/part_{i}' for i in range(24)]
    for number in range(10 if SANITIZED else 60):
        def night_of(night):
            machine = rng.gauss(1, 0.01)
            times = [1e8 * machine * rng.gauss(1, 0.015) * (1.03 if night >= 40 else 1) for _ in parts]
            return [sum(times) + 3e8 * machine, sum(times), *times]
        write_history(root / 'range.db', [('metric', 'steps.mean'), ('scope', 'layer_3'), *(('scope', part) for part in parts)], night_of)
        changes = rows(tables('show', root / 'range.db'), 'changes')
        (root / 'range.db').unlink()
        if changes:
            found += 1
            held += changes[0]['first'] <= 40 <= changes[0]['last']
    print(f'{held} of {found} ranges hold the night')
    check(found >= 8 and held >= 0.95 * found, f'{held} of {found} ranges hold the night')


def histories_without_change(root):
    """A made file each: 40 figures over 60 nights, which go together by half (the machine's night)."""
    count, alarms = 40 if SANITIZED else 200, 0
    rng = random.Random(6)
    for number in range(count):
        path = root / f'quiet{number}.db'

        def night_of(night):
            machine = rng.gauss(0, 0.01)
            return [1e9 * (40 if f == 0 else 1) * (1 + machine + rng.gauss(0, 0.01)) for f in range(40)]
        write_history(path, [('metric', 'steps.mean'), *(('scope', f'layer_{f}') for f in range(2, 41))], night_of)
        found = tables('show', path)
        alarms += bool(rows(found, 'changes') or rows(found, 'drifts') or rows(found, 'latest'))
        path.unlink()
    print(f'{alarms} of {count} histories without a change show one')
    check(alarms <= (1 if SANITIZED else 4), f'{alarms} of {count} histories without a change show one')


with tempfile.TemporaryDirectory() as folder:
    for part in (the_planted_one, what_is_like_it, drifts_and_last_runs, large_steps, days_of_names, without_steps, longer_windows, renamed, labels_and_choices, other_files, at_the_same_moment, ranges_of_groups,
                 histories_without_change):
        part(Path(folder))
for failure in failures:
    print('FAIL:', failure)
print(f'{checks} checks, {len(failures)} failures')
sys.exit(bool(failures))
