#!/usr/bin/env python3
"""What a killed program leaves in output folders, beside baselines and in the cache is removed by the next one that looks there, and what
a living one is writing is not. Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR."""
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TRACE = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata' / 'cpu1_annotated'
ROOT = Path(os.environ['TMPDIR'])
CACHE, BASELINES = ROOT / 'cache' / 'idsprof', ROOT / 'data' / 'idsprof' / 'baselines'
DAY = 24 * 3600
failures = []


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def run(*arguments, **more):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)
    check(done.returncode == 0, f'{arguments}: {done.stderr}')
    return done


def unfinished(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith('.idsprof.') or '.tmp-' in path.name)


def killed(*arguments, folder):
    """Kills a program in the moment when it has begun a file in the folder: it waits for its input, a pipe, where that can be."""
    pipe = ROOT / 'pipe.trace.json'
    if not pipe.exists():
        os.mkfifo(pipe)
    process = subprocess.Popen([IDSPROF, *[str(pipe) if argument is None else str(argument) for argument in arguments]],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None and not (folder.exists() and unfinished(folder)):
        time.sleep(0.001)
    alive = unfinished(folder) if folder.exists() else []
    process.send_signal(signal.SIGSTOP)
    return process, alive


def end(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def mark(folder, stem):
    """A name as the program gives it here, with the host in it."""
    process, alive = killed('extract', '-', '-f', 'csv', '-o', folder, folder=folder)
    check(len(alive) == 1, alive)
    end(process)
    return stem + alive[0].removeprefix('.idsprof.')


def outputs():
    out = ROOT / 'out'
    for first in ('chrome', 'csv', 'perfetto', 'xplane'):
        process, alive = killed('extract', '-', '-f', first, '-o', out, folder=out)
        check(len(alive) == 1, (first, alive))
        run('extract', TRACE, '-f', 'csv', '-o', out, '--force')
        check(unfinished(out) == alive, 'a program that is stopped lives')
        end(process)
        run('extract', TRACE, '-f', 'csv', '-o', out, '--force')
        check(not unfinished(out), (first, unfinished(out)))
    process, alive = killed('import', '-', '-o', out / 'x.db', folder=out)
    check(len(alive) == 1, alive)
    end(process)
    run('import', TRACE, '-o', out / 'y.db')
    check(not unfinished(out) and not (out / 'x.db').exists(), unfinished(out))


def names(folder, stem, command):
    """By name, age and lock."""
    here = mark(ROOT / 'marks', '')
    other = ('0' if here[0] != '0' else '1') + here[1:]

    def stays(name, age=0, locked=False):
        path = folder / (stem + name)
        path.write_bytes(b'x')
        os.utime(path, (time.time() - age,) * 2)
        with path.open('rb+') as file:
            if locked:
                fcntl.flock(file, fcntl.LOCK_EX)
                command()
        if not locked:
            command()
        stayed = path.exists()
        path.unlink(missing_ok=True)
        return stayed

    check(not stays(here), 'of this host, its program dead')
    check(stays(here, locked=True), 'its program alive')
    check(stays(f'{here[:8]}-{os.getpid()}-0'), 'whole, and waiting for the others of its set')
    check(stays(here, locked=True, age=2 * DAY), 'alive, and slow')
    check(stays(other), 'of another host, written today')
    check(not stays(other, age=2 * DAY), 'of another host, two days old')
    check(not stays('1-0' if stem.endswith('tmp-') else 'aB3xYz'), 'as earlier versions named it')
    check(stays('1-0' if stem.endswith('tmp-') else 'aB3xYz', locked=True), 'the same, in use')
    for foreign in ('', 'notes', here + '.txt', 'aB3-xY', '1-'):
        check(not foreign or stays(foreign, age=9 * DAY), foreign)
    link, target = folder / (stem + here), ROOT / 'target'
    target.write_text('x')
    link.symlink_to(target)
    command()
    check(link.is_symlink() and target.exists(), 'a link is nobody\'s file')
    link.unlink()
    link.mkdir()
    command()
    check(link.is_dir(), 'a folder is not touched')
    link.rmdir()
    os.mkfifo(link)
    command()
    check(link.exists(), 'a pipe does not hang')
    link.unlink()


outputs()
(ROOT / 'names').mkdir()
names(ROOT / 'names', '.idsprof.', lambda: run('extract', TRACE, '-f', 'csv', '-o', ROOT / 'names', '--force'))
run('baseline', 'save', 'main', TRACE)
names(BASELINES, 'main.db.tmp-', lambda: run('baseline', 'list'))
names(BASELINES, 'other.db.tmp-', lambda: run('check', TRACE, '--baseline', 'main'))
entry = next(CACHE.glob('*.db')).name


def write_cache():
    for path in CACHE.glob('*.db'):
        path.unlink()
    run('report', TRACE)


names(CACHE, entry + '.tmp-', write_cache)
names(ROOT / 'names', 'nights.track.tmp-', lambda: run('track', 'add', ROOT / 'names/nights.track', TRACE))
beside = ROOT / 'names' / mark(ROOT / 'marks', 'other.track.tmp-')
beside.write_bytes(b'x')
run('track', 'add', ROOT / 'names/nights.track', TRACE)
check(beside.exists(), 'of another file of track')
temporary = ROOT / 'temporary'
temporary.mkdir()
process = subprocess.Popen([IDSPROF, 'report', '-'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, 'TMPDIR': str(temporary)})
process.stdin.write(b'\n' * (1 << 20))
process.stdin.flush()
check(not list(temporary.iterdir()), 'what does not fit in memory has no name')
end(process)

for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
