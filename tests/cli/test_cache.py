#!/usr/bin/env python3
"""`idsprof cache`, and what the cache is after crashes: what is killed leaves nothing that is used, the limit holds, processes share it.

Environment: IDSPROF, IDS_SOURCE_DIR. Each test has a cache of its own.
"""
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
CPU1 = next((SOURCE / 'testdata' / 'cpu1_annotated').rglob('*.xplane.pb'))
CPU8 = next((SOURCE / 'testdata' / 'cpu8_annotated').rglob('*.xplane.pb'))
COUNT = 'SELECT count(*) AS n FROM event'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


class Cache:
    def __init__(self, folder, **environment):
        self.home = Path(tempfile.mkdtemp(dir=folder))
        self.files = self.home / 'idsprof'
        self.env = {**os.environ, 'XDG_CACHE_HOME': str(self.home), **environment}

    def start(self, *arguments):
        return subprocess.Popen([IDSPROF, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)

    def run(self, *arguments):
        return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=self.env)

    def list(self):
        return json.loads(self.run('cache', '--json').stdout)

    def events(self, path):
        done = self.run('query', path, COUNT, '--format', 'json')
        return json.loads(done.stdout)[0]['n'] if done.returncode == 0 else done.stderr

    def names(self):
        return sorted(p.name for p in self.files.iterdir()) if self.files.exists() else []


def check_list(folder):
    cache = Cache(folder)
    empty = cache.run('cache')
    check(empty.returncode == 0 and f'{cache.files}: 0 files, 0 B of 4.295 GB\n' == empty.stdout, f'an empty cache: {empty}')
    check(cache.run('cache', '--clear').stdout == 'removed 0 files, 0 B\n', 'clearing an empty cache')
    own = folder / 'runs' / 'mine.xplane.pb'
    own.parent.mkdir(exist_ok=True)
    shutil.copy(CPU1, own)
    cache.run('report', own)
    cache.run('query', own, COUNT)
    cache.run('report', CPU8)
    listed = cache.list()
    check(sorted((e['holds'], e['state'], e['path']) for e in listed['entries']) ==
          sorted([('events', 'current', str(own)), ('report', 'current', str(own)), ('report', 'current', str(CPU8))]), f'{listed}')
    check(listed['bytes'] == sum(e['bytes'] for e in listed['entries']) == sum(p.stat().st_size for p in cache.files.iterdir()), f'sizes {listed}')
    check(listed['folder'] == str(cache.files) and listed['limit_bytes'] == 4 << 30, f'{listed}')
    check(abs(listed['entries'][0]['used_unix_s'] - time.time()) < 60, 'when it was used')
    text = cache.run('cache', '--full').stdout
    check(len(text.splitlines()) == 6 and text.count(str(own)) == 2 and 'just now' in text, f'{text}')
    own.write_bytes(own.read_bytes() + b'')
    os.utime(own, (1, 1))
    states = {(e['path'], e['state']) for e in cache.list()['entries']}
    check(states == {(str(own), 'changed'), (str(CPU8), 'current')}, f'a run that changed: {states}')
    other = cache.files / 'notes.txt'
    other.write_text('mine')
    (cache.files / ('0' * 16 + '.db')).write_text('no database')
    check('damaged' in {e['state'] for e in cache.list()['entries']}, f'a damaged file: {cache.list()}')
    check('\x1b' not in cache.run('cache').stdout, 'escapes')
    total = cache.list()['bytes']
    cleared = json.loads(cache.run('cache', '--clear', '--json').stdout)
    check(cleared == {'removed': 4, 'bytes': total, 'left': 0} and cache.names() == ['notes.txt'], f'{cleared} {cache.names()}')
    both = cache.run('cache', '--list', '--clear')
    check(both.returncode == 2, f'--list --clear: {both}')


def check_archive(folder):
    """Members of an archive are current too; another one under the same name is not."""
    cache = Cache(folder)
    archive = folder / 'two.tar'
    subprocess.run(['tar', '-C', str(SOURCE / 'testdata'), '-cf', str(archive), 'cpu1_annotated'], check=True)
    cache.run('report', archive)
    states = [(e['state'], e['path']) for e in cache.list()['entries']]
    check(states == [('current', str(archive))], f'an archive: {states}')


def check_killed(folder):
    """SIGKILL while a query imports, at random moments: no file that is listed as good is anything but whole, and the next query is right."""
    random.seed(os.environ.get('IDS_SEED', '7'))
    cache = Cache(folder)
    want = cache.events(CPU8)
    began = time.monotonic()
    shutil.rmtree(cache.files)
    cache.events(CPU8)
    took = time.monotonic() - began
    killed = unfinished = 0
    for tries in range(96):
        if tries >= 24 and killed > 5 and unfinished:
            break
        shutil.rmtree(cache.files, ignore_errors=True)
        process = cache.start('query', CPU8, COUNT)
        time.sleep(random.random() * took)
        process.send_signal(signal.SIGKILL)
        in_time = process.wait() == -signal.SIGKILL
        killed += in_time
        took *= 1 if in_time else 0.9 # the machine was slower when that was measured
        process.communicate()
        left = [n for n in cache.names() if len(n) > 19]
        unfinished += bool(left)
        for entry in cache.list()['entries']:
            check(entry['holds'] == 'unfinished' or entry['state'] == 'current', f'after SIGKILL: {entry}')
        check(cache.events(CPU8) == want, 'the query after SIGKILL')
    check(killed > 5, f'SIGKILL came too late: {killed} of {tries}')
    check(unfinished, 'no import was killed while it wrote')
    # What they leave goes with the next file that is written, but not while somebody writes it.
    lost = cache.files / ('0' * 16 + '.db.tmp-1-0')
    lost.write_bytes(b'half')
    os.utime(lost, (time.time() - 5, time.time() - 5))
    state = lambda: next(e['state'] for e in cache.list()['entries'] if e['file'] == lost.name)  # noqa: E731
    check(state() == 'abandoned', f'{cache.list()}')
    with open(lost) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        check(state() == 'writing', f'a file that is being written: {cache.list()}')
        cleared = json.loads(cache.run('cache', '--clear', '--json').stdout)
        check(cleared['left'] >= 1 and lost.exists(), f'a file that is being written: {cleared}')  # and what was killed this second
    os.utime(lost, (time.time() - 5, time.time() - 5))
    cache.run('report', CPU1)
    check(not lost.exists(), f'what was abandoned stays: {cache.names()}')


def check_limit(folder):
    """The least recently used go first; what is just being made stays, even above the limit."""
    cache = Cache(folder, IDSPROF_CACHE_LIMIT='300K')
    minis = sorted((SOURCE / 'testdata' / 'mini').glob('util_*.mini'))[:6]
    for i, path in enumerate(minis):
        cache.run('report', path)
        for entry in cache.list()['entries']:
            if entry['path'] == str(path):
                os.utime(cache.files / entry['file'], (1000 + i, 1000 + i))
        listed = cache.list()
        check(listed['limit_bytes'] == 300 << 10 and listed['bytes'] <= 300 << 10, f'{listed["bytes"]} bytes of {listed["limit_bytes"]}')
        kept = {e['path'] for e in listed['entries']}
        check(kept == {str(p) for p in minis[i + 1 - len(kept):i + 1]}, f'not the last used stay: {kept}')
    check(1 < len(cache.list()['entries']) < 6, 'the limit of the test holds all or one')
    first = cache.list()['entries'][-1]['path']
    cache.run('report', first)  # now it is the last used
    cache.run('report', minis[0])
    check(first in {e['path'] for e in cache.list()['entries']}, 'a report from the cache is no use of it')
    small = Cache(folder, IDSPROF_CACHE_LIMIT='1')
    check(small.events(CPU1) == small.events(CPU1) and len(small.list()['entries']) == 1, f'above the limit: {small.list()}')
    for word in ('', 'x', '-1', '5X', '99999999999999999999', '20000000000G'):
        check(Cache(folder, IDSPROF_CACHE_LIMIT=word).list()['limit_bytes'] == 4 << 30, f'IDSPROF_CACHE_LIMIT={word}')


def check_together(folder):
    """Several processes on one cache, with one that clears it all the time: every answer is right."""
    cache = Cache(folder, IDSPROF_CACHE_LIMIT='1M')
    want = {path: cache.events(path) for path in (CPU1, CPU8)}
    for _ in range(4):
        asked = [(path, cache.start('query', path, COUNT, '--format', 'json')) for path in (CPU1, CPU8, CPU1)]
        clearing = [cache.start('cache', '--clear') for _ in range(3)]
        for process in clearing:
            out, err = process.communicate(timeout=60)
            check(process.returncode == 0, f'clearing beside queries: {err}')
        for path, process in asked:
            out, err = process.communicate(timeout=60)
            check(process.returncode == 0 and json.loads(out) == [{'n': want[path]}], f'a query beside others: {out} {err}')


with tempfile.TemporaryDirectory() as name:
    for test in (check_list, check_archive, check_killed, check_limit, check_together):
        test(Path(name))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
