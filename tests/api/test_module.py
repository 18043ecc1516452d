#!/usr/bin/env python3
"""`import idsprof` reads profiles as the commands do: report() is `report --json`, query() is `query --format json`, errors have the
code of include/idsprof.h and the words of the command. With every Python from 3.9 on that is on PATH; pandas and Arrow where they are.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_BUILD_DIR, TMPDIR.  Exit: 0, 1.
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

SOURCE, IDSPROF = os.environ['IDS_SOURCE_DIR'], os.environ['IDSPROF']
HOOK = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib', 'idsprof', 'python')  # as it lies beside the program
TRACE = os.path.join(SOURCE, 'testdata', 'cpu8_annotated')
SQL = "SELECT kind, count(*) AS n, sum(dur_ps) / 1e9 AS ms, NULL AS absent FROM host_activities GROUP BY kind ORDER BY kind"
failures = []


def check(what, good, *details):
    if not good:
        failures.append(what)
        print('FAIL:', what, *details)


def left_open():
    """A run that nobody closed says nothing at Python's end, where the names of its module may be gone before it."""
    code = ('import idsprof, sys; from _idsprof import idsprof_engine as engine; run = idsprof.open(sys.argv[1], cache=False); '
            'engine.library = engine.ctypes = None; del run')
    done = subprocess.run([sys.executable, '-c', code, TRACE], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=HOOK, **with_sanitizers()))
    check('a run left open is silent at the end', (done.returncode, done.stderr) == (0, ''), done.stderr)


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *arguments], capture_output=True, text=True, check=True).stdout


def module():
    """In a process of its own Python: what it says of the module, as JSON."""
    import idsprof
    said = {'version': idsprof.__version__, 'report': idsprof.report(TRACE), 'rows': idsprof.query(TRACE, SQL), 'errors': []}
    with idsprof.open(TRACE, cache=False) as run:
        said['again'] = run.report()['metrics']['run.events']['value'] == said['report']['metrics']['run.events']['value']
        said['types'] = [type(value).__name__ for value in run.rows("SELECT 1, 0.5, 'ü', x'0041', NULL, ''")[1][0]]
        said['columns'] = run.rows('SELECT 1 AS one, 2 AS two WHERE 0')
    for wrong in (lambda: idsprof.report(SOURCE + '/nothing'), lambda: idsprof.query(TRACE, 'SELECT nowhere FROM events'),
                  lambda: idsprof.query(TRACE, 'DELETE FROM events'), lambda: idsprof.report(SOURCE + '/README.md'),
                  lambda: idsprof.report(TRACE, run='nobody')):
        try:
            wrong()
            said['errors'].append(None)
        except idsprof.Error as error:
            said['errors'].append([error.code, str(error)])
    for wrong in (run.report, lambda: idsprof.query(TRACE, SQL, into='lists'), lambda: idsprof.report(TRACE + '\0.gone'),
                  lambda: idsprof.query(TRACE, 'SELECT 1 AS a\0; no more'), lambda: idsprof.query(TRACE, 'SELECT 1 AS a, 2 AS a'),
                  lambda: idsprof.open(TRACE, sql_seconds=-1)):
        try:
            wrong()
            said['errors'].append(None)
        except ValueError as error:
            said['errors'].append(['ValueError', str(error)])
    notes = []
    idsprof.report(os.environ['TMPDIR'] + '/notes', note=notes.append, cache=False)
    said['notes'] = notes
    for name, count in (('pandas', len), ('pyarrow', lambda table: table.num_rows)):
        if importlib.util.find_spec(name):
            said[name] = count(idsprof.query(TRACE, SQL, into=name.replace('py', '')))
    print(json.dumps(said))


def with_sanitizers():
    """A library that was built with AddressSanitizer wants its runtime in the process before itself; Python's own leaks are not ours."""
    library = os.path.join(os.environ['IDS_BUILD_DIR'], 'libidsprof.so.0')
    needed = subprocess.run(['ldd', library], capture_output=True, text=True, check=True).stdout
    found = re.search(r'libasan\S* => (\S+)', needed)
    return dict(LD_PRELOAD=found[1], ASAN_OPTIONS='detect_leaks=0') if found else {}


def check_python(python):
    run = subprocess.run([python, '-B', __file__, 'module'], capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=HOOK, **with_sanitizers()))
    check(python + ' ends well', run.returncode == 0, run.stderr)
    if run.returncode:
        return
    said = json.loads(run.stdout)
    check(python + ': version', said['version'] in idsprof('--version'), said['version'])
    wanted = json.loads(idsprof('report', '--json', TRACE))
    for part in ('metrics', 'tables', 'run'):
        check('%s: report: %s' % (python, part), said['report'].get(part) == wanted.get(part) and (part == 'run' or wanted[part]), said['report'].get(part))
    check(python + ': rows', said['rows'] == json.loads(idsprof('query', TRACE, SQL, '--format', 'json')) and len(said['rows']) > 2, said['rows'])
    check(python + ': a run that stays open', said['again'])
    check(python + ': types', said['types'] == ['int', 'float', 'str', 'bytes', 'NoneType', 'str'], said['types'])
    check(python + ': columns of no rows', said['columns'] == [['one', 'two'], []], said['columns'])
    codes = [error and error[0] for error in said['errors']]
    check(python + ': errors', codes == [-8, -7, -7, -5, -7] + 6 * ['ValueError'], said['errors'])
    check(python + ': an error says what', 'no such column: nowhere' in said['errors'][1][1], said['errors'])
    check(python + ': notes', len(said['notes']) == 1 and said['notes'][0].startswith('left out:'), said['notes'])
    for name in ('pandas', 'pyarrow'):
        check('%s: %s' % (python, name), said.get(name, len(said['rows'])) == len(said['rows']), said.get(name))
    print('%s: %d metrics, %d rows' % (python, len(said['report']['metrics']), len(said['rows'])))


def main():
    if sys.argv[1:] == ['module']:
        return module()
    folder = os.path.join(os.environ['TMPDIR'], 'notes')
    shutil.copytree(os.path.join(TRACE, 'plugins'), os.path.join(folder, 'plugins'), dirs_exist_ok=True)
    with open(os.path.join(folder, 'damaged.tar.gz'), 'w') as file:
        file.write('no archive')
    pythons = [sys.executable] + [path for path in map(shutil.which, ('python3.%d' % minor for minor in range(9, 16))) if path]
    for python in pythons:
        if subprocess.run([python, '-c', ''], capture_output=True).returncode == 0:     # a shim may have nothing behind it
            check_python(python)
    left_open()
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
