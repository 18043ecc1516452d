#!/usr/bin/env python3
"""`report --grade ID=WARN,BAD`: grades follow from the report's figures and the thresholds of this call, also of a stored report.

The values are those that testdata/mini derives by hand: grade_lower_bounds has utilization 1/2, host overhead 1/10, a median kernel of
100 us and 2 s of compilation. Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MINI = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata' / 'mini'
BOUNDS = MINI / 'grade_lower_bounds.mini'
IDSPROF = os.environ['IDSPROF']
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def run(cache, *arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120, env={**os.environ, 'XDG_CACHE_HOME': str(cache)})


def metrics(cache, path, *arguments):
    done = run(cache, 'report', path, '--json', *arguments)
    check(done.returncode == 0, f'{path.name} {arguments}: {done.stderr}')
    return json.loads(done.stdout)['metrics'] if done.returncode == 0 else {}


def grade(cache, path, metric, *arguments):
    found = metrics(cache, path, *arguments).get(metric, {})
    return found.get('grade'), found.get('threshold')


def check_standard(cache):
    for metric, warn, bad, better in (('device.utilization', 0.8, 0.5, 'higher'), ('host.overhead_share', 0.1, 0.2, 'lower'),
                                      ('kernels.median', 0.001, 0.0001, 'higher'), ('compile.total', 2, 10, 'lower')):
        word, threshold = grade(cache, BOUNDS, metric)
        check(word == 'warn' and threshold and (threshold['warn'], threshold['bad'], threshold['better']) == (warn, bad, better),
              f'{metric}: {word} {threshold}')


    found = metrics(cache, MINI / 'annotations.mini')['compile.total']
    check(found['value'] == 0 and 'grade' not in found, f'a recording without compilations gets a grade for them: {found}')


def check_others(cache):
    """Each twice: the second one is of the cached run."""
    for option, metric, want in (('device.utilization=40%,30%', 'device.utilization', 'good'), ('device.utilization=90%,60%', 'device.utilization', 'bad'),
                                 ('device.utilization=0.9,0.6', 'idle.share', 'bad'), ('host.overhead_share=20%,30%', 'host.overhead_share', 'good'),
                                 ('host.overhead_share=5%,6%', 'host.overhead_share', 'bad'), ('kernels.median=50us,10us', 'kernels.small_count', 'good'),
                                 ('compile.total=0.5s,1s', 'compile.total', 'bad'), ('compile.total=3s,3s', 'compile.total', 'good')):
        for more in ((), (), ('--no-cache',)):
            word, _ = grade(cache, BOUNDS, metric, '--grade', option, *more)
            check(word == want, f'{metric} with {option} {more}: {word}, expected {want}')
    check(grade(cache, BOUNDS, 'device.utilization')[0] == 'warn', 'the thresholds of one call stay in the cache')
    word, threshold = grade(cache, BOUNDS, 'kernels.median', '--small-kernel', '5us')
    check(word == 'good' and threshold['warn'] == 5e-05, f'--small-kernel moves the thresholds: {word} {threshold}')
    both = ('--grade', 'compile.total=3s,4s', '--grade', 'device.utilization=40%,30%')
    found = metrics(cache, BOUNDS, *both)
    check(found['compile.total']['grade'] == found['device.utilization']['grade'] == 'good', 'only one of two --grade counts')


def check_judged(cache):
    """By which figure, where the metric itself is not the one that decides."""
    found = metrics(cache, MINI / 'steps_beyond_window.mini')
    for metric in ('device.utilization', 'idle.share'):
        check(found[metric]['grade'] == 'bad' and found[metric]['threshold']['of'] == 'device.useful_steps_share', f'{metric}: {found[metric]}')
    out = run(cache, 'report', MINI / 'steps_beyond_window.mini').stdout
    told = {line: next((at for at in out.splitlines() if at.startswith(f'  {line}  ')), '') for line in ('device utilization', 'idle')}
    check(re.search(r' 10.0 % +bad +device.useful_steps_share; device.utilization is >?(100|99.9)', told['device utilization']),
          f'it is not said first by what it is graded: {told}')
    check(told['idle'].split() == ['idle', '0.0', '%', 'of', 'the', 'window'], f'a device that is never idle is called bad for it: {told}')
    out = run(cache, 'report', MINI / 'steps_beyond_window.mini', '--section', 'utilization').stdout
    told = next((at for at in out.splitlines() if at.startswith('  device utilization  ')), '')
    check(re.search(r' bad +graded by device.useful_steps_share: 10.0 %', told), f'the section does not say by what the utilization is graded: {told}')
    bare = run(cache, 'report', MINI / 'steps_barely_beyond_window.mini').stdout
    check("before the devices' first activity" not in bare, f'four points of a share are told: {bare}')
    out = run(cache, 'report', MINI / 'steps_opening_grade.mini').stdout
    check(re.search(r'device utilization +100.0 % +good +device.useful_steps_share; device.utilization is 44.5 %', out), f'a step in no mean decides the grade, or it is not said: {out}')
    check('graded by' not in run(cache, 'report', BOUNDS).stdout, 'what has its own line is told again beside a grade')
    out = run(cache, 'report', BOUNDS, '--explain', 'idle.share', '--grade', 'device.utilization=40%,30%').stdout
    check('graded       good: device.utilization is 50.0 %; good above 40.0 %, bad below 30.0 %\n' in out, f'--explain: {out}')
    out = json.loads(run(cache, 'report', BOUNDS, '--explain', 'compile.total', '--json').stdout)
    check(out.get('threshold', {}).get('warn') == 2, f'--explain --json: {out}')
    run(cache, 'query', BOUNDS, 'SELECT 1')
    out = run(cache, 'query', BOUNDS, '--explain', 'host.overhead_share').stdout
    check('graded       warn: good below 10.0 %, bad above 20.0 %\n' in out, f'query --explain: {out}')


def check_compile_in_steps(cache):
    """A short compilation that devices wait for in the steps is bad, and by that share."""
    found = metrics(cache, MINI / 'compile_in_step.mini')
    check(found['compile.total']['grade'] == 'bad' and found['compile.total']['threshold']['of'] == 'compile.steps_share', f'{found["compile.total"]}')
    found = metrics(cache, MINI / 'compile_in_step.mini', '--grade', 'compile.steps_share=100%,100%')
    check(found['compile.total']['grade'] != 'bad', f'with another threshold: {found["compile.total"]}')


def check_forms(cache):
    """A grade without a bound for "bad" has none in JSON; long times have units of their own."""
    kernels = [{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5, 'args': {'stream': 7, 'theoretical_occupancy_pct': 40}}
               for i in range(30)]
    cache.parent.joinpath('occupancy.trace.json').write_text(json.dumps({'traceEvents': kernels}))
    found = metrics(cache, cache.parent / 'occupancy.trace.json')['occupancy.median']
    check(found['threshold']['warn'] == 0.5 and 'bad' not in found['threshold'], f'occupancy: {found}')
    found = metrics(cache, BOUNDS, '--grade', 'compile.total=90min,1.5h')['compile.total']
    check((found['threshold']['warn'], found['threshold']['bad']) == (5400, 5400), f'hours: {found}')


def check_database(cache, folder):
    run(cache, 'import', BOUNDS, '-o', folder / 'a.db', '-q')
    word, _ = grade(cache, folder / 'a.db', 'device.utilization', '--grade', 'device.utilization=40%,30%')
    check(word == 'good', f'a database: {word}')


def check_mistakes(cache):
    for option, said in (('device.utilization=50%,80%', 'higher is better, so WARN (50%) cannot be below BAD (80%)'),
                         ('compile.total=5s,2s', 'lower is better, so WARN (5s) cannot be above BAD (2s)'),
                         ('device.utilisation=80%,50%', "did you mean 'device.utilization'?"), ('idle.share=10%,20%', "shows the grade of 'device.utilization'"),
                         ('steps.mean=1s,2s', "'steps.mean' has no grade (these have: device.utilization, "), ('kernels.median=5,1', "'5' needs a unit"),
                         ('device.utilization=80,50', "'80' has no unit: write '80%'"), ('device.utilization=180%,50%', "'180%' is above 100 %"), ('device.utilization=much,50%', "'much' is not a percentage"),
                         ('device.utilization=80%', 'is not ID=WARN,BAD'), ('device.utilization', 'is not ID=WARN,BAD'), ('=1,2', "no metric ''")):
        done = run(cache, 'report', BOUNDS, '--grade', option)
        check(done.returncode == 2 and said in done.stderr and not done.stdout, f'--grade {option}: {done.returncode} {done.stderr}')


with tempfile.TemporaryDirectory() as name:
    temporary = Path(name)
    for part in (check_standard, check_others, check_judged, check_compile_in_steps, check_forms, check_mistakes):
        part(temporary / 'cache')
    check_database(temporary / 'cache', temporary)
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
