#!/usr/bin/env python3
"""idsprof track: which runs are one series. A night that is cut or lost a host is said, and hides nothing; a job that moved is followed; a
recording counts once however it is given; one bad night of several stops none; choosing by globs.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import gzip
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/support')
import made_nights  # noqa: E402

IDSPROF = os.environ['IDSPROF']
PROFILE = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata/cpu1_annotated'
failures = []
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        failures.append(what)


def idsprof(*arguments, status=0):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    check(done.returncode == status, f'{arguments}: status {done.returncode}, not {status}: {done.stderr[-400:]}')
    return done


def run(*arguments, status=0):
    return idsprof('track', *arguments, status=status)


def names(file, *options):
    table = json.loads(run('show', file, '--json', *options).stdout)['tables']['runs']
    at = [column['id'] for column in table['columns']].index('name')
    return [row[at] for row in table['rows']]


def words(file, *options):
    return ' '.join(run('show', file, *options).stdout.split())


def commands(file):
    return [shlex.split(line)[1:] for line in run('show', file).stdout.splitlines() if ' --where ' in line]


def nights(root, count, **options):
    return made_nights.write_nights(root / 'n', 1, lambda n: {'layers': 2, 'steps': 3, **options}, count)


def a_night_that_lost_devices(root):
    nights(root, 8)
    run('add', root / 'd.db', root / 'n/*', '--no-cache')
    usual = names(root / 'd.db')
    check(len(usual) == 8, usual)
    for number in range(8, 12):
        made_nights.write(root / f'other_{number}.mini', number, random.Random(1), layers=2, steps=3, plane='/device:GPU:0')
    run('add', root / 'd.db', root / 'other_8.mini', '--no-cache')
    check(names(root / 'd.db') == usual, f'the last run alone: {names(root / "d.db")}')
    said = words(root / 'd.db')
    check('left out: 1 run on other devices, 2026-09-09, other_8.mini: 1 × GPU' in said, said)
    check(len(commands(root / 'd.db')) == 1, said)
    for arguments in (('show', root / 'd.db', '--json'), ('diff', root / 'd.db', 'night_0[0-3]*', 'night_0[4-7]*')):
        check("left out: 1 run on other devices" in run(*arguments).stderr, f'{arguments}: on standard error')
    for command in commands(root / 'd.db'):
        check('1 run ·' in idsprof(*command).stdout, f'the command as printed: {command}')
    made_nights.write(root / 'two.mini', 9, random.Random(1), layers=2, steps=3, plane='/device:GPU:0')
    run('add', root / 'd.db', root / 'other_9.mini', '--no-cache')
    check(names(root / 'd.db') == usual, 'two of the last six')
    said = words(root / 'd.db')
    check('left out: 2 runs on other devices, the last 2026-09-10, other_9.mini' in said, said)
    run('add', root / 'd.db', root / 'other_10.mini', '--no-cache')
    check(names(root / 'd.db') == ['other_8.mini', 'other_9.mini', 'other_10.mini'], 'three runs, as many as the others: it moved')
    check('left out: 8 runs on other devices, the last 2026-09-08, night_07.mini: 1 × TPU' in words(root / 'd.db'), words(root / 'd.db'))
    check(len(names(root / 'd.db', '--where', 'devices=1 * GPU*')) == 3, 'a glob of devices')
    check(len(names(root / 'd.db', '--where', 'devices=1')) == 3, 'the number of devices')
    check('no run has the label' in run('show', root / 'd.db', '--where', 'devices=11', status=2).stderr, 'another number of devices')


def a_cut_night(root):
    nights(root, 7)
    run('add', root / 'c.db', root / 'n/*', '--no-cache')
    whole = next(PROFILE.rglob('*.xplane.pb')).read_bytes()
    folder = root / '2027-01-02'
    folder.mkdir()
    (folder / 'cut.xplane.pb').write_bytes(whole[:len(whole) * 9 // 10])
    said = run('add', root / 'c.db', folder, '--no-cache').stderr
    check("'2027-01-02' is incomplete" in said and 'cut' in said, said)
    check(len(names(root / 'c.db')) == 7 and '2027-01-02' not in names(root / 'c.db'), names(root / 'c.db'))
    said = words(root / 'c.db')
    check('left out: 1 incomplete run, ' in said and 'the file is cut' in said, said)
    check([command[-2:] for command in commands(root / 'c.db')] == [['--where', 'incomplete=*']], said)
    for command in commands(root / 'c.db'):
        check('1 run ·' in idsprof(*command).stdout, 'the incomplete run alone')
    run('add', root / 'only.db', folder, '--no-cache')
    check(names(root / 'only.db') == ['2027-01-02'], 'nothing but incomplete runs')
    (folder / 'cut.xplane.pb').write_bytes(whole)
    check('in place of' in run('add', root / 'only.db', folder, '--no-cache').stdout, 'the whole file of that time')
    check('left out' not in words(root / 'only.db'), words(root / 'only.db'))


def the_same_recording(root):
    file = next(PROFILE.rglob('*.xplane.pb'))
    night = root / 'night'
    night.mkdir()
    shutil.copy(file, night / 'host.xplane.pb')
    shutil.copytree(night, root / 'copy')
    (root / 'packed.xplane.pb.gz').write_bytes(gzip.compress(file.read_bytes()))
    idsprof('partial', night / 'host.xplane.pb', '-o', root / 'one.idspart')
    forms = (night, night / 'host.xplane.pb', root / 'packed.xplane.pb.gz', root / 'one.idspart', root / 'copy')
    for number, form in enumerate(forms):
        said = run('add', root / 's.db', form, '--no-cache').stdout
        check('1 run in all' in said and ('in place of' in said) == (number > 0), f'{form}: {said}')
    check(names(root / 's.db') == ['copy'], names(root / 's.db'))
    other = next((PROFILE.parent / 'cpu1_midrun').rglob('*.xplane.pb'))
    check('2 runs in all' in run('add', root / 's.db', other, '--no-cache').stdout, 'another recording')
    # Two of one second differ by what was measured.
    run('add', root / 's2.db', night, '--no-cache', '--date', '2026-10-01')
    check('2 runs in all' in run('add', root / 's2.db', other, '--no-cache', '--date', '2026-10-01').stdout, 'two of one second')
    # What does not say when it was recorded is of its path: a benchmark may be the same to the digit.
    made_nights.write(root / 'a.mini', 1, random.Random(1), layers=2, steps=3)
    shutil.copy2(root / 'a.mini', root / 'b.mini')
    run('add', root / 'm.db', root / 'a.mini', '--no-cache')
    check('2 runs in all' in run('add', root / 'm.db', root / 'b.mini', '--no-cache').stdout, 'no time of its own')


def a_bad_night_of_several(root):
    nights(root, 3)
    (root / 'bad').mkdir()
    (root / 'bad/x.xplane.pb').write_bytes(b'')
    good = sorted((root / 'n').iterdir())
    done = run('add', root / 'b.db', good[0], root / 'bad', good[1], root / 'nowhere', good[2], '--no-cache', status=2)
    check('3 runs in all' in done.stdout, done.stdout)
    check("left out: '" in done.stderr and 'bad/x.xplane.pb' in done.stderr and 'nowhere' in done.stderr, done.stderr)
    check('2 runs could not be read; what else was given is added' in done.stderr, done.stderr)
    check(len(names(root / 'b.db')) == 3, names(root / 'b.db'))
    shutil.copytree(root / 'bad', root / 'n/bad')
    check('1 run could not be read' in run('add', root / 'f.db', root / 'n/*', '--no-cache', status=2).stderr, 'in a folder')
    check('the file is empty' in run('add', root / 'one.db', root / 'bad', '--no-cache', status=2).stderr, 'it alone')
    check('none of these runs' in run('add', root / 'one.db', root / 'bad', root / 'nowhere', '--no-cache', status=2).stderr, 'nothing but bad')
    check(not (root / 'one.db').exists(), 'a file of nothing')


def globs_and_names(root):
    nights(root, 12)
    for number, file in enumerate(sorted((root / 'n').iterdir())):
        file.rename(root / 'n' / f'{made_nights.day(number)}_b.mini')
    run('add', root / 'g.db', root / 'n/*', '--no-cache')
    said = run('diff', root / 'g.db', '2026-09-0*', '2026-09-1*').stdout
    check('(9 runs)' in said and '(3 runs)' in said, said)
    said = run('diff', root / 'g.db', '2026-09-0[12]*', '2026-09-01_b.mini').stdout
    check('(2 runs)' in said and '(1 run)' in said, said)
    check('is no date like' in run('diff', root / 'g.db', '2026-13-01', '2026-09-1*', status=2).stderr, 'a wrong date')
    check('no figure is called' in run('show', root / 'g.db', '--figure', 'nonsense', status=2).stderr, 'a figure that is none')
    check('no figure is called' in run('diff', root / 'g.db', '2026-09-0*', '2026-09-1*', '--figure', 'non*', status=2).stderr, 'diff')
    check('none in 1 figure' in words(root / 'g.db', '--figure', 'steps.mean'), words(root / 'g.db', '--figure', 'steps.mean'))
    said = idsprof('report', root / 'g.db', status=2).stderr
    check("which 'idsprof track' keeps" in said and 'idsprof track show' in said, said)
    for number in range(12):        # the day is in the name, and is said once
        made_nights.write(root / 'n' / f'{made_nights.day(number)}_b.mini', number, random.Random(number), layers=2 if number < 6 else 3, steps=3)
    run('add', root / 'g.db', root / 'n/*', '--no-cache')
    said = words(root / 'g.db')
    check(' 2026-09-07_b.mini: ' in said and '2026-09-07, 2026' not in said, said)


def changes_of_two_nights(root):
    """There are not three runs between them, so that what holds both has one change, of both: it is not the cause of the first."""
    made_nights.write_nights(root / 'n', 3, lambda n: {'layers': 4, 'steps': 3, 'noise': 0.002, 'factor': {'layer_1': 1.2 if n >= 12 else 1, 'layer_2': 1.2 if n >= 14 else 1}}, 26)
    run('add', root / 'w.db', root / 'n/*', '--no-cache')
    table = json.loads(run('show', root / 'w.db', '--json').stdout)['tables']['changes']
    columns = [column['id'] for column in table['columns']]
    causes = [(row[columns.index('name')], row[columns.index('figure')]) for row in table['rows'] if row[columns.index('role')] == 'cause']
    check(causes == [('night_12.mini', 'model/layer_1'), ('night_14.mini', 'model/layer_2')], causes)


def runs_of(file):
    table = json.loads(run('show', file, '--json').stdout)['tables']['runs']
    return [dict(zip([column['id'] for column in table['columns']], row)) for row in table['rows']]


def dates(root):
    """Days and times that do not exist are refused; a recording that is added again has its date corrected."""
    nights(root, 2)
    for wrong in ('2026-02-30', '2026-04-31', '2026-10-11T04:00:61', '2026-10-11T04:00:60'):
        done = run('add', root / 'w.db', root / 'n/night_00.mini', '--date', wrong, '--no-cache', status=2)
        check(f"'{wrong}': there is no such day or time" in done.stderr and not (root / 'w.db').exists(), done.stderr)
    run('add', root / 'w.db', root / 'n/night_00.mini', '--date', '2024-02-29T23:59:59', '--no-cache')
    check(runs_of(root / 'w.db')[0]['unix_s'] == 1709251199, runs_of(root / 'w.db'))
    check('there is no such day' in run('diff', root / 'w.db', '2026-02-30', '2026-03-01', status=2).stderr, 'a day of a choice')
    said = run('add', root / 'w.db', root / 'n/night_00.mini', '--date', '2026-03-01', '--no-cache').stdout
    check('in place of what was there; it is now of 2026-03-01, not of 2024-02-29)' in said and '1 run in all' in said, said)
    check([r['unix_s'] for r in runs_of(root / 'w.db')] == [1772323200], runs_of(root / 'w.db'))
    said = run('add', root / 'w.db', root / 'n/night_00.mini', '--date', '2026-03-01', '--no-cache').stdout
    check('in place of what was there),' in said, said)
    # At the same path is another recording now, and a copy at another path with the same day is another run.
    shutil.copy(root / 'n/night_01.mini', root / 'n/night_00.mini')
    check('2 runs in all' in run('add', root / 'w.db', root / 'n/night_00.mini', '--date', '2026-03-02', '--no-cache').stdout, 'another recording')
    shutil.copy(root / 'n/night_01.mini', root / 'copy.mini')
    check('3 runs in all' in run('add', root / 'w.db', root / 'copy.mini', '--date', '2026-03-02', '--no-cache').stdout, 'no time of its own')
    # What says itself when it was recorded has its own date again without --date.
    recording = next(PROFILE.rglob('*.xplane.pb'))
    run('add', root / 'own.db', recording, '--no-cache')
    own = runs_of(root / 'own.db')[0]['unix_s']
    run('add', root / 'own.db', recording, '--date', '2026-03-02', '--no-cache')
    run('add', root / 'own.db', recording, '--no-cache')
    check([r['unix_s'] for r in runs_of(root / 'own.db')] == [own], runs_of(root / 'own.db'))


def labels(root):
    """Labels stay until others are given for their keys, are each said once, and are none of those that every run has."""
    nights(root, 1)
    night = root / 'n/night_00.mini'
    run('add', root / 'l.db', night, '-l', 'commit=1a', '-l', 'branch=main', '--no-cache')
    run('add', root / 'l.db', night, '-l', 'commit=2b', '--no-cache')
    kept = sorted(runs_of(root / 'l.db')[0]['labels'].split(','))
    check(kept == ['branch=main', 'commit=2b'], kept)
    run('add', root / 'l.db', night, '--no-cache')
    check(sorted(runs_of(root / 'l.db')[0]['labels'].split(',')) == kept, 'no labels given')
    (root / 'file').write_text('# a job writes it\nname=x\n')
    for given, words_of in ((('-l', 'devices=3'), "'devices' is the run's own"), (('-l', 'incomplete='), "'incomplete' is the run's own"),
                            (('--labels', root / 'file'), "'name' is the run's own"), (('-l', 'c=1', '-l', 'c=2'), "'c' is given twice: 'c=1', 'c=2'"),
                            (('-l', '=1'), 'expected KEY=VALUE')):
        said = run('add', root / 'no.db', night, *given, '--no-cache', status=2).stderr
        check(words_of in said, said)
    check(not (root / 'no.db').exists(), 'a file of refused labels')
    run('add', root / 'l.db', night, '-l', 'c=1', '-l', 'cc=2', '--no-cache')


def options_of_others(root):
    nights(root, 1)
    run('add', root / 'o.db', root / 'n/night_00.mini', '--no-cache')
    for action, option in (('add', ('-t', '3%')), ('add', ('-n', '3')), ('add', ('--json',)), ('add', ('-w', 'a=b')), ('add', ('--figure', 'x'))):
        said = run(action, root / 'o.db', root / 'n/night_00.mini', *option, status=2).stderr
        check(f"'{action}' has no option --" in said and 'which is of show and diff' in said, said)
    for action, option in (('show', ('-l', 'a=b')), ('show', ('--date', '2026-10-11')), ('show', ('--no-cache',)), ('rm', ('--date', '2026-10-11'))):
        said = run(action, root / 'o.db', *option, status=2).stderr
        check(f"'{action}' has no option --" in said and 'which is of add' in said, said)
    check('expected add, show, diff or rm' in run('sum', root / 'o.db', '--json', status=2).stderr, 'an action that there is not')


for part in (dates, labels, options_of_others, changes_of_two_nights, a_night_that_lost_devices, a_cut_night, the_same_recording, a_bad_night_of_several, globs_and_names):
    with tempfile.TemporaryDirectory() as folder:
        part(Path(folder))
for failure in failures:
    print('FAIL:', failure)
print(f'{checks} checks, {len(failures)} failures')
sys.exit(bool(failures))
