"""What the tests against other programs share: where things are, how a test says that it cannot run, and what idsprof reports."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
IDSPROF = os.environ.get('IDSPROF') or ''


def absent(reason):
    """Ends the test: it was skipped, which is a failure in CI."""
    print('SKIP: ' + reason)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)


def needs(*modules):
    """The modules can be imported; else the test begins anew with the Python of the tests, and if that lacks them too it cannot run."""
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    if not os.access(IDSPROF, os.X_OK):
        absent('IDSPROF names no program (%r)' % IDSPROF)
    if not missing:
        return
    python = os.environ.get('IDS_PYTHON')
    if python and not os.environ.get('IDS_REEXEC'):
        os.environ['IDS_REEXEC'] = '1'
        os.execvp(python, [python, *sys.argv])
    absent('%s has no %s (tests/requirements.txt, tests/requirements-hta.txt)' % (sys.executable, ', no '.join(missing)))


def report(path, *options):
    """What `idsprof report --json` says, all rows of all tables."""
    run = subprocess.run([IDSPROF, 'report', '--json', '--top', '100000', *options, str(path)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit('FAIL: idsprof report %s %s: exit %d: %s' % (' '.join(options), path, run.returncode, run.stderr[-1000:]))
    return json.loads(run.stdout)


def our_rows(table):
    ids = [column['id'] for column in table['columns']]
    return [dict(zip(ids, row)) for row in table['rows']]


def shared(folders):
    """(name, its first xplane.pb) of the shared traces that are there."""
    for name in folders:
        found = sorted((SHARED / 'traces' / name).glob('plugins/profile/*/*.xplane.pb'))
        if found:
            yield name, found[0]
        else:
            print('NOTE: %s is absent' % (SHARED / 'traces' / name))
