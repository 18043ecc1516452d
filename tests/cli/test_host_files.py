#!/usr/bin/env python3
"""A run of several hosts of which one has the name of a profile and no file behind it: a link to nothing, a FIFO, a socket, a folder. That
host is missed, and each command says so as of a file that cannot be read; none waits for a FIFO.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
PROFILE = next((Path(os.environ['IDS_SOURCE_DIR']) / 'testdata/cpu1_annotated').rglob('*.xplane.pb'))
failures = []
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        failures.append(f'{sys._getframe(1).f_lineno}: {what}')


def run(*arguments, status=0):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    check(done.returncode == status, f'{arguments}: status {done.returncode}, not {status}: {done.stderr[-400:]}')
    return done


def bind(path):
    at = os.getcwd()        # names of sockets are short
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(at)


def ring(path):
    path.symlink_to(path.name)


def linked_folder(path):
    (path.parent.parent / 'elsewhere').mkdir(exist_ok=True)
    path.symlink_to(path.parent.parent / 'elsewhere')


KINDS = (
    ('nothing', lambda path: path.symlink_to('/nowhere/x.xplane.pb'), 'a link to a file that is not there'),
    ('ring', ring, 'a link that cannot be followed'),
    ('fifo', os.mkfifo, 'a FIFO, not a file'),
    ('socket', bind, 'a socket, not a file'),
    ('folder', os.mkdir, 'a folder, not a file'),
    ('linked', linked_folder, 'a folder, not a file'),
    ('device', lambda path: path.symlink_to('/dev/null'), 'a device, not a file'),
)


def hosts(folder, missing):
    folder.mkdir()
    for host in range(4):
        if host != missing:
            shutil.copy(PROFILE, folder / f'host{host}.xplane.pb')
    return folder / f'host{missing}.xplane.pb'


def one_of_four(root, name, make, why):
    folder = root / name
    for first in (0, 1):        # the first file of a run says more of it than others
        path = hosts(folder, first)
        make(path)
        said = f"'{path}': {why}"
        for options in (('--no-cache',), (), ()):        # read, kept, and out of the cache
            front = ' '.join(run('report', folder, '--width', 400, *options).stdout.splitlines()[0].split())
            check('INCOMPLETE' in front and said in front and '3 hosts' in front, front)
        listed = json.loads(run('list', folder, '--json').stdout)['runs'][0]
        check(listed['state'] == 'incomplete' and why in json.dumps(listed), listed)
        check(why in run('list', folder).stdout, 'list')
        check('INCONCLUSIVE' in run('check', folder, '--max', 'steps.mean=3600s', status=1).stdout, 'check')
        check(run('query', folder, 'SELECT count(*) FROM run', '--csv').stdout.split()[-1:] == ['1'], 'query')
        parts = root / f'parts_{name}_{first}'
        parts.mkdir()
        check(said in run('partial', folder, '-o', f'{parts}/').stderr, 'partial')
        check('INCOMPLETE' in run('report', parts).stdout.splitlines()[0], 'of partials')
        if not path.is_dir() or path.is_symlink():      # when the file is there the cache does not say what was
            path.unlink()
            shutil.copy(PROFILE, path)
            check('4 hosts' in run('report', folder).stdout.replace('\n', ' '), 'when it is there')
        shutil.rmtree(folder)


def alone(root):
    folder = root / 'alone'
    folder.mkdir()
    os.mkfifo(folder / 'x.xplane.pb')
    check('a FIFO, not a file' in run('report', folder, status=2).stderr, 'no other file')
    check('a FIFO, not a file' in run('list', folder, status=2).stdout, 'no other file')
    (root / 'only/x.xplane.pb').mkdir(parents=True)
    check('no profile in' in run('report', root / 'only', status=2).stderr, 'a folder beside nothing')


def what_is_no_host(root):
    """A folder may be called like a profile and hold runs; another form of the host may be there; what any program may have written is left out."""
    folder = root / 'runs'
    hosts(folder / 'old.xplane.pb' if folder.mkdir() is None else folder, 3)
    shutil.copy(PROFILE, folder / 'new.xplane.pb')
    listed = json.loads(run('list', folder, '--json').stdout)['runs']
    check(sorted(len(one['files']) for one in listed) == [1, 3] and {one['state'] for one in listed} == {'whole'}, listed)
    trace = root / 'forms'
    trace.mkdir()
    (trace / 'h.trace.json').write_text('{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": 9, "name": "k", "cat": "kernel", "args": {"device": 0, "stream": 7}}]}')
    (trace / 'h.xplane.pb').symlink_to('/nowhere')
    check('INCOMPLETE' not in run('report', trace).stdout, 'the host in another form')
    plain = root / 'plain'
    hosts(plain, 9)
    os.mkfifo(plain / 'config.json')
    (plain / 'other.json').mkdir()
    done = run('report', plain)
    check('4 hosts' in done.stdout.replace('\n', ' ') and 'INCOMPLETE' not in done.stdout, done.stdout[:300])
    check(run('list', plain).returncode == 0, 'beside other files')


with tempfile.TemporaryDirectory() as scratch:
    os.environ['XDG_CACHE_HOME'] = scratch + '/cache'
    for kind in KINDS:
        one_of_four(Path(scratch), *kind)
    alone(Path(scratch))
    what_is_no_host(Path(scratch))
for failure in failures:
    print('FAIL:', failure)
print(f'{checks} checks, {len(failures)} failures')
sys.exit(bool(failures))
