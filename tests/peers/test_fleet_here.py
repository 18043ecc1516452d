#!/usr/bin/env python3
"""`idsprof fleet` on this machine, as a user meets it: while it runs nothing of it listens, on the network or on a socket of Unix; a process of
the program that is killed is said, and the rest is whole; what is no file is one bad file; Ctrl-C and SIGTERM end it wherever it is, and leave
nothing behind. peers.fleet has workers of Dask.

Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR, IDS_CI. Runs with .venv; without its packages the test is skipped with 77, in CI a failure.
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SOURCE, IDSPROF, ROOT = Path(os.environ['IDS_SOURCE_DIR']), os.environ['IDSPROF'], Path(os.environ['TMPDIR'])
PYTHON = SOURCE / '.venv' / 'bin' / 'python'
REAL = next((SOURCE / 'testdata/cpu1_plain/plugins/profile').glob('*/*.xplane.pb'))
SECONDS, FACTOR = 20, float(os.environ.get('IDS_TIME_FACTOR', '1'))     # of an idle machine, and how much slower this one may be
failures = []

# The program as idsprof.fleet finds it: says that it began, and waits there where a file says so.
WRAPPER = '''#!/bin/sh
echo "$2" >>"%(root)s/began_$1"
test -e "%(root)s/hold_$1" && exec sleep 600
case "$1 $2" in
partial*killed*) kill -9 $$ ;;
esac
exec "%(program)s" "$@"
'''


def check(ok, *message):
    if not ok:
        failures.append(message)
        print('FAIL:', *message)


def start(*arguments):
    environment = {**os.environ, 'PATH': '%s:%s' % (PYTHON.parent, os.environ['PATH']), 'TMPDIR': str(ROOT / 'tmp'),
                   'IDSPROF_HOME': str(ROOT / 'program/a/b')}
    for name in ROOT.glob('began_*'):
        name.unlink()
    shutil.rmtree(ROOT / 'cache', ignore_errors=True)
    return subprocess.Popen([IDSPROF, 'fleet', *map(str, arguments), '--cache', str(ROOT / 'cache')], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=environment, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def ended(child):
    """What it said. One that hangs is killed."""
    try:
        return child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        for pid in tree(child.pid):         # those that it began keep its output open
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        check(False, 'it hangs')
        return child.communicate()


def held(command):
    (ROOT / ('hold_' + command)).touch()


def wait_for(command, child):
    """Until the program is at work on this."""
    until = time.monotonic() + SECONDS * FACTOR
    while not (ROOT / ('began_' + command)).exists():
        if child.poll() is not None or time.monotonic() > until:
            check(False, 'it never came to', command)
            return
        time.sleep(0.02)


def tree(pid):
    """The process, and those that it began."""
    found = [pid]
    for parent in found:
        for path in Path('/proc/%d/task' % parent).glob('*/children'):
            try:
                found += [int(word) for word in path.read_text().split()]
            except OSError:                 # a thread that ended meanwhile
                pass
    return found


def listening(pids):
    """Sockets of these processes that others can connect to, or send to: lines of /proc/net."""
    own = set()
    for pid in pids:
        for path in Path('/proc/%d/fd' % pid).iterdir():
            try:
                own.add(os.readlink(path))
            except FileNotFoundError:
                pass
    found = []
    for name, inode, is_open in (('tcp', 9, lambda words: words[3] == '0A'), ('tcp6', 9, lambda words: words[3] == '0A'),
                                 ('udp', 9, lambda words: True), ('udp6', 9, lambda words: True),
                                 ('unix', 6, lambda words: int(words[3], 16) & 0x10000)):
        for line in (Path('/proc/net') / name).read_text().splitlines()[1:]:
            words = line.split()
            if is_open(words) and 'socket:[%s]' % words[inode] in own:
                found.append(name + ' ' + line)
    return found


def left():
    return sorted(path.name for path in (ROOT / 'tmp').iterdir())


def check_sockets(folder):
    with socket.create_server(('127.0.0.1', 0)):
        check(len(listening([os.getpid()])) == 1, 'a socket of our own is not seen')
    for processes in ((), ('--processes', '0'), ('--processes', '2')):
        held('partial')
        child = start('report', folder, *processes)
        wait_for('partial', child)
        open_ones = listening(tree(child.pid))
        check(len(tree(child.pid)) >= 2, 'nothing runs', processes)
        check(not open_ones, 'others can connect', processes, open_ones)
        child.terminate()
        ended(child)
        (ROOT / 'hold_partial').unlink()
    child = start('report', folder)
    output, words = ended(child)
    check(child.returncode == 0 and words == '' and left() == [], 'a plain report', child.returncode, words, left())


def check_signals(folder):
    for command in ('list', 'partial', 'report'):
        for number, code in ((signal.SIGINT, 2), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)):
            held(command)
            child = start('report', folder)
            wait_for(command, child)
            begun, at_work = time.monotonic(), tree(child.pid)
            child.send_signal(number)
            words = ended(child)[1]
            check(child.returncode == code and words == 'idsprof: fleet: stopped; what was read is kept\n', number, command, child.returncode, words)
            check(time.monotonic() - begun < SECONDS / 2, number, command, 'took', time.monotonic() - begun)
            check(left() == [], number, command, 'left', left())
            check(not [pid for pid in at_work if Path('/proc/%d' % pid).exists()], number, command, 'processes are left')
            (ROOT / ('hold_' + command)).unlink()


def check_bad(folder):
    """A process that is killed each time, and what is no file: each is said once, and the rest is read."""
    for name in ('killed', 'fifo', 'link', 'empty', 'socket'):
        shutil.copytree(folder / 'a', folder / name)
        (folder / name / 'h1.xplane.pb').unlink()
    (folder / 'killed/h0.xplane.pb').rename(folder / 'killed/killed.xplane.pb')
    os.mkfifo(folder / 'fifo/h1.xplane.pb')
    (folder / 'link/h1.xplane.pb').symlink_to('/nowhere/h1.xplane.pb')
    (folder / 'empty/h1.xplane.pb').touch()
    where = os.getcwd()
    os.chdir(folder / 'socket')         # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind('h1.xplane.pb')
    os.chdir(where)
    child = start('report', folder, '--csv', '--retries', '1')
    output, words = ended(child)
    said = {line.strip().removeprefix(str(folder) + '/').partition(': ')[::2] for line in words.splitlines()[1:]}
    want = {('killed/killed.xplane.pb', 'idsprof was ended by signal 9 on ' + socket.gethostname()), ('link/h1.xplane.pb', 'a link that leads nowhere'),
            ('empty/h1.xplane.pb', 'the file is empty'), ('fifo/h1.xplane.pb', 'no file, but a FIFO, a socket or a device'),
            ('socket/h1.xplane.pb', 'no file, but a FIFO, a socket or a device')}
    check(child.returncode == 2 and said == want, 'what is said', child.returncode, words)
    rows = {line.split(',')[0]: line.split(',')[2:4] for line in output.splitlines()[1:]}
    check(rows == {'a': ['2', '2'], 'b': ['2', '2'], **{name: ['2', '1'] for name in ('fifo', 'link', 'empty', 'socket')}}, 'rows', rows)
    tries = [path for path in (ROOT / 'began_partial').read_text().splitlines() if 'killed' in path]
    check(len(tries) == 2, 'a file whose process was killed was tried', len(tries))
    check(left() == [], 'left', left())
    child = start('report', folder / 'fifo/h1.xplane.pb')
    words = ended(child)[1]
    check(child.returncode == 2 and 'a FIFO' in words, 'a FIFO that is named', words)


def main():
    if not PYTHON.exists() or subprocess.run([str(PYTHON), '-c', 'import fsspec'], capture_output=True).returncode:
        print('.venv has no fsspec (tests/requirements.txt): ./bootstrap.sh test full')
        return 1 if os.environ.get('IDS_CI') == '1' else 77
    (ROOT / 'program/a/b').mkdir(parents=True)
    (ROOT / 'program/idsprof').write_text(WRAPPER % {'root': ROOT, 'program': IDSPROF})
    (ROOT / 'program/idsprof').chmod(0o755)
    (ROOT / 'tmp').mkdir()
    folder = ROOT / 'runs'
    for name in ('a', 'b'):
        (folder / name).mkdir(parents=True)
        for host in ('h0', 'h1'):
            shutil.copyfile(REAL, folder / name / (host + '.xplane.pb'))
    check_sockets(folder)
    check_signals(folder)
    check_bad(folder)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
