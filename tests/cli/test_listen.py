#!/usr/bin/env python3
"""`idsprof capture --listen` and `idsprof trigger --hosts`: two "hosts" on loopback, each a launcher with a program that has the
agent and a collector that only looks like one; the token; peers that are none; ports that cannot be had.
Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR.
"""
import atexit
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
DOUBLE = os.environ['IDS_BUILD_DIR'] + '/support/capture_double'
ROOT = Path(os.environ['TMPDIR'])
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_')) or name in ('RANK', 'SLURM_PROCID', 'PYTHONPATH'):
        del os.environ[name]
os.environ.update(XDG_RUNTIME_DIR=str(ROOT / 'run'), XDG_CONFIG_HOME=str(ROOT / 'config'), HOME=str(ROOT))
(ROOT / 'run').mkdir()
TOKEN = ROOT / 'config/idsprof/token'
failures = []


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def by_name():
    """A name of this machine; its address where a system has no list of hosts."""
    try:
        socket.getaddrinfo('localhost', 1, socket.AF_INET)
    except OSError:
        return '127.0.0.1'
    return 'localhost'


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


class Job:
    def __init__(self, place, *options, program=('wake', 'print:ready', 'open', 'step:0:50', 'close', 'open', 'close')):
        self.dir = ROOT / f'job{len(list(ROOT.glob("job*")))}'
        self.dir.mkdir()
        self.process = subprocess.Popen([IDSPROF, 'capture', '--trigger', '--steps', '2', '--listen', str(place), '-o', self.dir, *options, '--',
                                         DOUBLE, *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        atexit.register(self.kill)

    def kill(self):
        """A job whose window nobody opens waits for ever; it must not outlive a test that failed."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def ready(self):
        check(self.process.stdout.readline() == 'ready\n', 'the program did not start')
        return self

    def end(self):
        self.out, self.err = self.process.communicate(timeout=60)
        return self

    def windows(self):
        record = json.loads(next(self.dir.glob('*/idsprof-run.json')).read_text())
        return [window for process in record['processes'] for window in process['windows']]


def trigger(hosts, *options, **more):
    (ROOT / 'hosts').write_text(''.join(f'{host}\n' for host in hosts))
    return subprocess.run([IDSPROF, 'trigger', '--hosts', ROOT / 'hosts', *options], capture_output=True, text=True, **more)


def talk(port, *lines):
    """What the listener answers to these lines."""
    with socket.create_connection(('127.0.0.1', port), 5) as connection:
        connection.settimeout(30)
        out = b''
        try:
            for line in lines:
                connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(4096):
                out += more
        except OSError:     # it closes over what nobody reads
            pass
        return out


# Two hosts, one by IPv6 where there is one: one moment, each process told of.
ports = [free_port(), free_port()]
missing = trigger([f'127.0.0.1:{ports[0]}'])
check(missing.returncode == 2 and 'there is no token' in missing.stderr, missing.stderr)
jobs = [Job(ports[0]).ready(), Job(f'[::1]:{ports[1]}').ready()]
check(stat.S_IMODE(TOKEN.stat().st_mode) == 0o600 and re.fullmatch('[0-9a-f]{64}\n', TOKEN.read_text()), 'the token')
names = [f'{by_name()}:{ports[0]}', f'[::1]:{ports[1]}']
both = trigger(['# nodes', f'{names[0]} slots=8', '', names[1]])
check(both.returncode == 0 and re.fullmatch(rf'{re.escape(names[0])}: \d+: window 1 is open\n{re.escape(names[1])}: \d+: window 1 is open\n', both.stdout),
      both.stdout + both.stderr)
if both.returncode:
    sys.exit('FAIL: no window is opened: ' + both.stdout + both.stderr)
time.sleep(0.5)
attached = subprocess.run([IDSPROF, 'capture', '--attach', str(jobs[0].process.pid), '-o', ROOT / 'attached'], capture_output=True, text=True)
check(attached.returncode == 2 and f'idsprof trigger {jobs[0].process.pid} opens a window' in attached.stderr, attached.stderr)
opened = trigger(names)
closed = trigger(names, '--stop')
check(opened.returncode == 0 and opened.stdout.count('window 2 is open') == 2, opened.stdout + opened.stderr)
check(closed.returncode == 0 and closed.stdout.count('is closed') == 2, closed.stdout + closed.stderr)
for job in jobs:
    job.end()
    check(job.process.returncode == 0, job.err)
begins = [int(job.windows()[0]['begin_ns']) for job in jobs]
print('two hosts: windows opened within %.2f ms' % (abs(begins[0] - begins[1]) / 1e6))
check(all(len(job.windows()) == 2 for job in jobs), [job.windows() for job in jobs])
check(abs(begins[0] - begins[1]) < 1e9, begins)

# Who is refused: no token, another token, other protocols, lines without an end. The job does not notice.
port, dead = free_port(), free_port()
job = Job(port, program=('wake', 'print:ready', 'open', 'close')).ready()
wrong, loose = ROOT / 'wrong', ROOT / 'loose'
wrong.write_text('0' * 64 + '\n')
wrong.chmod(0o600)
loose.write_text(TOKEN.read_text())
loose.chmod(0o644)
good = TOKEN.read_text().strip().encode()
with socket.create_connection(('127.0.0.1', port)):     # one that never says a word does not hold up the others
    refused = trigger([f'127.0.0.1:{port}', f'127.0.0.1:{dead}', f'127.0.0.1:{dead + 1 if dead < 65535 else 1}'], '--token', wrong)
    check(refused.returncode == 1 and 'it refuses: the token is another one; the token file here and there must be the same' in refused.stdout,
          refused.stdout + refused.stderr)
    check('connection refused' in refused.stdout and 'idsprof capture --listen' in refused.stdout, refused.stdout)
    for options, words in ((('--token', loose), 'others may read the token file'), (('--token', ROOT / 'none'), 'there is no token'),
                           (('--token', ROOT), 'is no file'), (('--list',), 'goes with neither'), (('--slurm', '7'), 'exclude each other'),
                           (('123',), 'goes with neither'), (('--port', '99999'), 'is not a port')):
        said = trigger(['localhost'], *options)
        check(said.returncode == 2 and words in said.stderr, f'{options}: {said.returncode} {said.stderr}')
    check(talk(port, b'GET / HTTP/1.1\r\n\r\n').startswith(b'no this is idsprof capture --listen'), 'HTTP')
    check(talk(port, b'idsprof 1 \n') == b'no the token is another one\n', 'an empty token')
    check(talk(port, b'idsprof 1 ' + good[:63] + b'\n') == b'no the token is another one\n', 'a shorter token')
    check(talk(port, b'idsprof 1 ' + good + b'0\n') == b'no the token is another one\n', 'a longer token')
    check(talk(port, b'x' * 100000) == b'', 'a line without an end')
    check(talk(port, b'idsprof 1 ' + good + b'\n', b'start -5\n') == b'ok 1\nno a request that is not understood\n', 'a time before now')
    check(talk(port, b'idsprof 1 ' + good + b'\n', b'start 99999999999999\n').endswith(b'not understood\n'), 'a time in an hour')
    check(talk(port, b'idsprof 1 ' + good + b'\n', b'rm -rf\n').endswith(b'not understood\n'), 'another word')
    check(talk(port, b'idsprof 1 ' + good + b'\n') == b'ok 1\n', 'no request')
opened = trigger([f'127.0.0.1:{port}'])
check(opened.returncode == 0, opened.stdout + opened.stderr)
stopped = trigger([f'127.0.0.1:{port}'], '--stop')
check(stopped.returncode == 0, stopped.stdout + stopped.stderr)
check(job.end().process.returncode == 0, job.err)
gone = trigger([f'127.0.0.1:{port}'])
check(gone.returncode == 1 and 'connection refused' in gone.stdout, gone.stdout)

# A peer that is no idsprof, one that says nothing.
with socket.create_server(('127.0.0.1', 0)) as silent:
    said = trigger([f'127.0.0.1:{silent.getsockname()[1]}'])
    check(said.returncode == 1 and 'no answer within 5 s' in said.stdout, said.stdout)

# A port that cannot be had, and a place that is none, are said before the program starts.
with socket.create_server(('127.0.0.1', 0)) as taken:
    for place, words in ((taken.getsockname()[1], 'Address already in use'), ('0', 'is not a port'), ('256.1.1.1:5', 'is no address'), ('x', 'has no port')):
        job = Job(place, program=('print:ready',)).end()
        check(job.process.returncode == 2 and words in job.err and not job.out and not list(job.dir.iterdir()), f'{place}: {job.err}')

# Slurm's hosts, from its own tools, with the port that is given.
port = free_port()
job = Job(f'127.0.0.1:{port}', program=('wake', 'print:ready', 'open', 'close')).ready()
tools = ROOT / 'tools'
tools.mkdir()
(tools / 'squeue').write_text('#!/bin/sh\n[ "$*" = "-j 4711 -h -o %N" ] && echo "127.0.0.[1-1]" || { echo "slurm: no job $2" >&2; exit 1; }\n')
(tools / 'scontrol').write_text('#!/bin/sh\n[ "$*" = "show hostnames 127.0.0.[1-1]" ] && echo 127.0.0.1\n')
for tool in tools.iterdir():
    tool.chmod(0o755)


def slurm(job_number, path=f'{tools}:{os.environ["PATH"]}'):
    return subprocess.run([IDSPROF, 'trigger', '--slurm', job_number, '--port', str(port)], capture_output=True, text=True,
                          env={**os.environ, 'PATH': path})


said = slurm('4711')
check(said.returncode == 0 and f'127.0.0.1: ' in said.stdout and 'is open' in said.stdout, said.stdout + said.stderr)
trigger([f'127.0.0.1:{port}'], '--stop')
job.end()
check("'squeue' failed" in slurm('12').stderr and 'is no job number' in slurm('1; rm').stderr, 'wrong jobs')
check("cannot run 'squeue'" in slurm('4711', '/nonexistent').stderr, 'no Slurm')

for line in failures:
    print('FAIL', line)
sys.exit(bool(failures))
