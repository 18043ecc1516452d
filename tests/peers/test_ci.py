#!/usr/bin/env python3
"""What CI systems get: JUnit as junitparser reads it, Markdown as markdown-it renders it, and the commands of the example workflow.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax); XDG_DATA_HOME is the test's own.  Exit: 0, 1, 77 = cannot run here.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
    from junitparser import Failure, JUnitXml, Skipped
    from markdown_it import MarkdownIt
except ImportError as missing:
    print(f'{missing.name} is not installed')
    sys.exit(77)

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = Path(os.environ['IDSPROF']).resolve()
PYTHON = os.environ.get('IDS_PYTHON', sys.executable)
sys.path[:0] = [str(SOURCE / 'tests' / 'support')]
from made_runs import gpu_run, noisy  # noqa: E402

# What names may hold that Markdown or XML reads as markup.
EVIL = 'a|b`c``<img src=x>&amp;*_[x](y)#1$z$~~\\|'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*arguments, status=0):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    check(done.returncode == status, f'{arguments}: exit {done.returncode}, not {status}: {(done.stderr or done.stdout).strip()[-300:]}')
    return done.stdout


def rendered(markdown):
    """The rows of the tables as a reader sees them, and the whole as HTML."""
    page = MarkdownIt('gfm-like', {'linkify': False}).render(markdown)
    cells = [[html.unescape(re.sub(r'<[^>]*>', '', cell)) for cell in re.findall(r'<t[dh][^>]*>(.*?)</t[dh]>', row, re.S)]
             for row in re.findall(r'<tr>(.*?)</tr>', page, re.S)]
    return cells, page


def check_markdown(folder):
    run = gpu_run(folder / 'plain.mini', [100] * 6, name=f'"{EVIL}"')
    odd = folder / EVIL
    shutil.copy(run, odd)
    rows, page = rendered(idsprof('check', odd, '--max', 'steps.mean=1us', '--min', 'steps.count=6', '--max', f'op[{EVIL}]=1s optional',
                                  '--markdown', status=1))
    check(len(rows) == 4 and all(len(row) == 6 for row in rows), f'a row a limit: {rows}')
    check(rows[1][1:5] == ['steps.mean', '100.0 us', '<= 1.000 us', EVIL], f'names are whole: {rows[1]}')
    check(any(row[1] == f'op[{EVIL}]' for row in rows), f'the name of a limit: {rows}')
    check('<img' not in page and '<a ' not in page and '<del>' not in page, f'no markup out of names: {page}')
    check('<h3>idsprof check: fail</h3>' in page and '<pre><code>idsprof report ' in page, 'a heading, and what to run next')
    for i in range(3):
        gpu_run(folder / f'main_{i}.mini', noisy(i, 30, 100))
        gpu_run(folder / f'slow_{i}.mini', noisy(10 + i, 30, 115), name=f'"{EVIL}"')
    idsprof('baseline', 'save', 'main', folder / 'main_?.mini')
    idsprof('check', folder / 'slow_?.mini', '--baseline', 'main', '--accept', 'steps.mean', '--reason', EVIL)
    rows, page = rendered(idsprof('check', folder / 'slow_?.mini', '--baseline', 'main', '--markdown'))
    accepted = next(row for row in rows if row[1] == 'steps.mean')
    check(len(accepted) == 7 and accepted[6].endswith('): ' + EVIL), f'the reason of what was accepted: {accepted}')
    for before, after in ((folder / 'main_?.mini', folder / 'slow_?.mini'), (SOURCE / 'testdata/compare/base', SOURCE / 'testdata/compare/recompile'),
                          (odd, folder / 'slow_0.mini')):
        done = subprocess.run([IDSPROF, 'diff', before, after, '--markdown'], capture_output=True, text=True)
        rows, page = rendered(done.stdout)
        check(done.returncode in (0, 1) and len(rows) > 4 and {len(row) for row in rows} == {5}, f'diff as Markdown: {rows}')
        check('<img' not in page and page.count('<table>') == 2, f'diff as Markdown: {page}')
    check(any(EVIL in cell for row in rows for cell in row), f'a cause with an odd name: {rows}')


def check_report_markdown(folder):
    """What a report says as text it says as Markdown: the same figures, rows, advice and commands."""
    odd = gpu_run(folder / f'{EVIL}.mini', [100] * 6, name=f'"{EVIL}"')
    for run, least in (odd, 2), (SOURCE / 'testdata/cpu1_annotated', 4), (SOURCE / 'testdata/cpu8_annotated', 4):
        report = json.loads(idsprof('report', run, '--json'))
        rows, page = rendered(idsprof('report', run, '--markdown', '--top', '5'))
        check(page.count('<table>') >= least and page.count('<details>') == page.count('</details>') >= 1, f'tables and folds: {page[:2000]}')
        check('<img' not in page and '<a ' not in page and '<del>' not in page, f'no markup out of names: {page}')
        accounts = [row[0] for row in report['tables']['accounts']['rows']]
        check([row[0] for row in rows if row[0] in accounts] == accounts, f'the accounts: {rows}')
        check(page.count('<li>') >= len(report['advice']), f'advice: {page[-3000:]}')
        told = html.unescape(re.sub(r'<[^>]*>', '', page))
        for advice in report['advice']:
            check(' '.join(advice['what'].split()) in ' '.join(told.split()), f'advice: {advice}')
    check(any(EVIL in cell for row in rendered(idsprof('report', odd, '--markdown'))[0] for cell in row), 'an odd name is whole')
    section = idsprof('report', SOURCE / 'testdata/cpu8_annotated', '--section', 'steps', '--markdown')
    check(rendered(section)[1].count('<table>') == 2 and '<details>' not in section, f'a section: {section}')
    rows, page = rendered(idsprof('scale', SOURCE / 'testdata/methods', '--markdown'))
    check(rows[1][:2] == ['step', 'lcam'] and page.count('<table>') == 2, f'scale: {rows[:3]}')
    check('<pre><code class="language-sh">idsprof scale ' in page and page.count('<li>') == 4, f'scale: what next: {page}')


def check_junit(folder):
    run = gpu_run(folder / 'junit.mini', [100] * 6)
    out = folder / 'out.xml'
    idsprof('check', run, run, '--max', 'steps.mean=1us', '--max', 'steps.mean=1us', '--max', f'op[{EVIL}]=1s optional', '--junit', out, status=1)
    suite, = JUnitXml.fromfile(str(out))
    cases = list(suite)
    check((suite.tests, suite.failures, suite.errors, suite.skipped) == (6, 4, 0, 2), f'a suite: {suite}')
    check(len({(case.classname, case.name) for case in cases}) == 6, f'unique names: {[case.name for case in cases]}')
    check(suite.time > 0 and abs(sum(case.time for case in cases) - suite.time) < 1e-4, 'the times of the cases sum to that of the suite')
    check(sum(isinstance(case.result[0], Failure) for case in cases if case.result) == 4, 'failures')
    skipped = [case for case in cases if case.result and isinstance(case.result[0], Skipped)]
    check(len(skipped) == 2 and EVIL in skipped[0].name, f'an odd name: {skipped}')
    for allow, kind in (([], Failure), (['--allow-inconclusive'], Skipped)):
        idsprof('check', run, '--max', 'steps.mean=1s median of 3 runs', '--junit', out, *allow, status=0 if allow else 1)
        case, = list(next(iter(JUnitXml.fromfile(str(out)))))
        check(isinstance(case.result[0], kind), f'inconclusive: {case.result}')


def run_step(step, folder, environment, status=0):
    done = subprocess.run(['bash', '-e', '-o', 'pipefail', '-c', step['run']], cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    check(done.returncode == status, f'{step["name"]}: exit {done.returncode}, not {status}: {(done.stdout + done.stderr)[-1500:]}')


def check_workflow(folder):
    """The steps of the workflow: on main, then for a pull request that adds Python to each step."""
    example = SOURCE / 'examples' / 'ci'
    workflow = yaml.safe_load((example / 'idsprof.yml').read_text())
    steps = {step['name']: step for step in workflow['jobs']['gate']['steps'] if 'run' in step}
    check(list(steps) == ['Record', 'Check', 'Save the baseline'], f'the steps: {list(steps)}')
    for name in ('train.py', 'budget.txt'):
        shutil.copy(example / name, folder)
    summary = folder / 'summary.md'
    (folder / 'bin').mkdir()
    (folder / 'bin' / 'idsprof').symlink_to(IDSPROF)
    environment = {**os.environ, 'PATH': f'{folder}/bin:{os.environ["PATH"]}', 'XDG_DATA_HOME': str(folder / '.idsprof'),
                   'PROGRAM': f'{PYTHON} train.py', 'RUNS': '1 2 3 4 5', 'GITHUB_STEP_SUMMARY': str(summary), 'JAX_PLATFORMS': 'cpu'}
    run_step(steps['Record'], folder, environment)
    run_step(steps['Save the baseline'], folder, environment)
    environment['RUNS'] = '1 2 3'
    program = (folder / 'train.py').read_text()
    (folder / 'train.py').write_text(program.replace('weights = jax.block_until_ready(train_step(weights, batch))',
                                                     'weights = jax.block_until_ready(train_step(weights, batch))\n' + ' ' * 12 + 'sum(range(3000000))'))
    run_step(steps['Record'], folder, environment)
    run_step(steps['Check'], folder, environment, status=1)
    _, page = rendered(summary.read_text())
    check('idsprof check: fail' in page and 'idsprof diff: main' in page, f'the summary: {summary.read_text()}')
    suite, = JUnitXml.fromfile(str(folder / 'idsprof.xml'))
    check(suite.failures >= 1, 'the test report')


with tempfile.TemporaryDirectory() as scratch:
    os.environ.setdefault('XDG_DATA_HOME', scratch + '/data')
    check_markdown(Path(scratch))
    check_report_markdown(Path(scratch))
    check_junit(Path(scratch))
    (Path(scratch) / 'project').mkdir()
    check_workflow(Path(scratch) / 'project')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
