#!/usr/bin/env python3
"""idsprof on traces recorded this minute, and on those of testdata, against what the program itself knew:
what jax.monitoring said of its compilations and how many steps its loop had.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax).  Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(SOURCE / 'tests' / 'oracle'))
import xplane_oracle  # noqa: E402  (found through the line above)

PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF = os.environ.get('IDSPROF') or ''
# The steps of each program's loop inside the window (testdata/record.py); cpu1_plain annotates none.
# cpu1_async and cpu1_midrun never block in a step: no op lies inside an annotation.
STEPS = {'cpu1_annotated': 6, 'cpu1_async': 6, 'cpu1_compile': 3, 'cpu1_compile_py': 3, 'cpu1_midrun': 6,
         'cpu1_nohlo': 4, 'cpu1_plain': None, 'cpu2_python': 3, 'cpu8_annotated': 3}
RECORDED = ('cpu1_annotated', 'cpu1_async', 'cpu1_compile', 'cpu1_compile_py')
failures = 0


def absent(reason):
    print('SKIP: ' + reason)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)


def expect(what, ok, found):
    global failures
    failures += not ok
    print('%s %s: %s' % ('ok  ' if ok else 'FAIL', what, found))


def idsprof(*args):
    run = subprocess.run([IDSPROF, *map(str, args)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        return 'exit %d: %s' % (run.returncode, run.stderr.strip()[-1000:])
    try:
        return json.loads(run.stdout)
    except ValueError as e:
        return 'no JSON (%s): %s' % (e, run.stdout[:200])


def value(report, metric):
    """A metric's value; a text that says what is wrong when there is none."""
    try:
        return report['metrics'][metric]['value']
    except (TypeError, KeyError):
        return 'no %s in %s' % (metric, str(report)[:300])


def check(where, folder):
    trace, = folder.glob('plugins/profile/*/*.xplane.pb')
    name = folder.name
    want = xplane_oracle.summarise(xplane_oracle.load(trace))
    got = idsprof('dump', '--hash', '--json', trace)
    expect('%s %s: decoded as by the oracle' % (where, name), got == want, got if got == want else (got, want))
    report = idsprof('report', '--json', folder)
    source, count = value(report, 'steps.source'), value(report, 'steps.count')
    if STEPS[name] is None:
        expect('%s %s: no annotation, none found' % (where, name), source in ('period', 'none'), source)
    else:
        expect('%s %s: steps of the loop' % (where, name),
               (source, count) == ('annotation', STEPS[name]), (source, count, 'want', STEPS[name]))
    monitoring = folder / 'monitoring.json'
    if monitoring.exists():
        said = json.loads(monitoring.read_text())['sum_seconds']['backend_compile_duration']
        total = value(report, 'compile.total')
        expect('%s %s: backend compile within 5 %% of jax.monitoring' % (where, name),
               isinstance(total, (int, float)) and abs(total - said) <= 0.05 * said, (total, said))


def main():
    if not os.access(IDSPROF, os.X_OK):
        absent('IDSPROF names no program (%r)' % IDSPROF)
    if subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode != 0:
        absent('%s has no jax (tests/requirements.txt)' % PYTHON)
    for folder in sorted((SOURCE / 'testdata').iterdir()):
        if folder.name in STEPS:
            check('testdata', folder)
    with tempfile.TemporaryDirectory() as scratch:
        run = subprocess.run([PYTHON, str(SOURCE / 'testdata' / 'record.py'), '--into', scratch, *RECORDED],
                             capture_output=True, text=True, timeout=600)
        expect('recorded', run.returncode == 0, run.stderr[-2000:] if run.returncode else RECORDED)
        for folder in sorted(Path(scratch).iterdir()):
            check('fresh', folder)
    print('%d failures' % failures)
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
