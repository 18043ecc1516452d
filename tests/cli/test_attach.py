#!/usr/bin/env python3
"""`idsprof capture --attach` against servers that only look like profiler servers (tests/support/profiler_stub.py): what is
written, what is said of each host that fails, limits of time, size and memory. Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
sys.path.insert(0, str(SOURCE / 'tests/support'))
from profiler_stub import Stub  # noqa: E402

IDSPROF = os.environ['IDSPROF']
ROOT = Path(os.environ['TMPDIR'])
SANITIZE = os.environ.get('IDS_SANITIZE') == '1'
XSPACE = next((SOURCE / 'testdata/cpu1_annotated').rglob('*.xplane.pb')).read_bytes()
failures = []
folders = iter(range(1000))
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_')):
        del os.environ[name]


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


class Attach:
    def __init__(self, hosts, *options, output=None, wait=True, keep=('--keep-empty',), duration='50ms', **more):
        self.dir = output or ROOT / f'out{next(folders)}'
        self.process = subprocess.Popen([IDSPROF, 'capture', '--attach', ','.join(hosts), *(['--duration', duration] if duration else []),
                                         '-o', self.dir, *keep, *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        if wait:
            self.wait()

    def wait(self):
        begun = time.monotonic()
        self.out, self.err = self.process.communicate(timeout=120)
        self.seconds = time.monotonic() - begun
        self.code = self.process.returncode
        self.text = re.sub(r'\n +', ' ', self.err)
        found = sorted(self.dir.glob('*/idsprof-run.json')) if self.dir.is_dir() else []
        self.folder = found[-1].parent if found else None
        self.record = json.loads(found[-1].read_text()) if found else {}
        self.hosts = {host['host']: host for host in self.record.get('attach', {}).get('hosts', [])}
        return self

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.glob('plugins/profile/*/*')} if self.folder else {}

    def line(self, host):
        found = re.search(rf'^idsprof: missed +{re.escape(host)}: (.*)$', self.text, re.M)
        return found[1] if found else None


def report(folder):
    return subprocess.run([IDSPROF, 'report', folder], capture_output=True, text=True)


# Two hosts, one of them by IPv6 and in small pieces: one run, each profile as it was sent, at one moment.
with Stub('answer', XSPACE) as a, Stub('answer', XSPACE, '::1', piece=7) as b, Stub('in_parts', XSPACE) as c:
    both = Attach([a.name, b.name, f'localhost:{c.port}'], '--host-tracer', '3', '--python-tracer', '1')
    check(both.code == 0, f'two hosts end with {both.code}: {both.err}')
    check(both.files() == {f'127.0.0.1_{a.port}.xplane.pb': XSPACE, f'__1_{b.port}.xplane.pb': XSPACE, f'localhost_{c.port}.xplane.pb': XSPACE},
          f'files are not what was sent: { {k: len(v) for k, v in both.files().items()} }')
    check('missed  nothing' in both.err and 'stacks' not in both.err and '50.00 ms on 3 hosts' in both.err, both.err)
    check(not both.record['attach'].get('no_stacks'), both.record)      # calls are recorded instead
    request = a.requests[0]
    check(request[1] == 50 and request[9] == 1 and request[7].decode() == f'127.0.0.1_{a.port}', f'the request is {request}')
    check(request[6].decode() == both.record['run'] and request[5].decode() == str(both.folder / 'plugins/profile'), f'{request}')
    check(abs(a.moments[0] - b.moments[0]) < 1 and both.record['attach']['asked_within_ns'] < 1e9, 'not at one moment')
    for host in both.hosts.values():
        check(host['state'] == 'recorded' and host['bytes'] == len(XSPACE) and
              host['connected_ns'] <= host['asked_ns'] <= host['first_byte_ns'] <= host['ended_ns'], host)
    alone = Attach([a.name])
    unsampled = ('missed stacks, not sampled: --attach has no hook in the program (idsprof capture -- PROGRAM samples them; with --attach, '
                 "--python-tracer 1 records calls of Python)")
    check(unsampled in re.sub(' +', ' ', alone.text) and 'missed  nothing' not in alone.err, alone.err)
    check(alone.record['attach']['no_stacks'] == unsampled.split(': ')[1], alone.record)
    told = report(both.folder)
    check(told.returncode == 0 and '3 hosts' in told.stdout, told.stdout[:300] + told.stderr)

# What cannot be had is said for each host, and the others are there.
WORDS = {
    'silent': 'said nothing within 5 s',
    'closes': 'closed the connection without a word',
    'http1': "speaks HTTP/1, not gRPC ('HTTP/1.1 400 Bad Request')",
    'ssh': "does not speak HTTP/2 (it begins with 'SSH-2.0-OpenSSH_9.2p1 De')",
    'tls': 'it speaks TLS',
    'noise': 'does not speak HTTP/2',
    'goes_away': 'shutting down',
    'breaks': 'the connection broke while it recorded or sent, after ',
    'resets': 'its answer ends early, with an error of HTTP/2',
    'ends_early': 'its answer ends early, after ',
    'no_status': 'its answer ends early',
    'compressed': 'a compressed answer',
    'announces_much': 'a field that is longer than its message',
    'two_messages': 'more bytes than it announced',
    'no_protobuf': 'no message of protobuf',
    'endless_number': 'a number of more than 64 bits',
    'endless_headers': 'header fields without an end',
    'endless_pings': 'more control frames than any server needs',
    'empty': 'it recorded nothing',
    'not_found': 'HTTP status 404',
    'greets_only': 'no whole answer within ',
    'forever': 'its profile is too large: more than --max-size allows; a larger --max-size',
}
stubs = {name: Stub(name, XSPACE) for name in WORDS}
busy = Stub('status', words=(13, 'Another profiling session active.'))
unknown = Stub('status', words=(12, ''))
percent = Stub('status', words=(14, 'caf%C3%A9 %zz%1B[2J'))
older = Stub('older', XSPACE, shares=False)
sharing = Stub('older', XSPACE)
good = Stub('answer', XSPACE)
nobody = socket.create_server(('127.0.0.1', 0))
closed_port = nobody.getsockname()[1]
nobody.close()
everyone = [*stubs.values(), busy, unknown, percent, older, sharing, good]
hostile = Attach([stub.name for stub in everyone] + [f'127.0.0.1:{closed_port}', 'no-such-host.invalid:9012'], '--stop-timeout', '6s',
                 '--max-size', '40M')
check(hostile.code == 1, f'with failing hosts: {hostile.code}')
check(hostile.seconds < 60, f'took {hostile.seconds} s')
check(set(hostile.files()) == {f'127.0.0.1_{stub.port}.xplane.pb' for stub in (sharing, good)}, f'{set(hostile.files())}')


def said(name, words):
    why = hostile.hosts[name]['why'] or ''
    check(words in why + '; ' + (hostile.hosts[name]['do'] or ''), f'{words!r} is not in {why!r}')


for name, words in WORDS.items():
    said(stubs[name].name, words)
said(busy.name, 'INTERNAL: Another profiling session active.; wait until')
said(unknown.name, 'UNIMPLEMENTED (/tensorflow.ProfilerService/Profile); another service')
said(percent.name, 'UNAVAILABLE: caf\u00e9 %zz\x1b[2J')
said(older.name, 'writes the profile on its own disk: ')
said(f'127.0.0.1:{closed_port}', 'connection refused')
said('no-such-host.invalid:9012', 'its name ')
check(hostile.hosts[sharing.name]['state'] == 'stored' and hostile.hosts[sharing.name]['bytes'] == len(XSPACE), hostile.hosts[sharing.name])
check('idsprof-run.json names them' in hostile.text and '\x1b' not in hostile.err, 'more than 20 are not counted')
kept = hostile.folder / '.idsprof' / f'127.0.0.1_{stubs["breaks"].port}.xplane.pb'
check(0 < kept.stat().st_size < len(XSPACE) and str(kept) in hostile.hosts[stubs['breaks'].name]['why'], 'what came is not kept')
whole = report(hostile.folder)
check(whole.returncode == 0 and '2 hosts' in whole.stdout, whole.stdout[:300] + whole.stderr)
for stub in everyone:
    stub.__exit__()

# Nothing came: nothing is left, and exit 1; the folder above it goes too.
gone = Attach([f'127.0.0.1:{closed_port}'], keep=())
check(gone.code == 1 and 'connection refused' in gone.text and not gone.dir.exists(), gone.err)

# Many at the same moment: 400 MB of answers in bounded memory, within one deadline.
# (A child's peak begins with what this process has: all stubs send the same bytes.)
large = b'x' * (4 << 20)
hosts = [Stub('answer', large) for _ in range(100)]
many = Attach([stub.name for stub in hosts], duration='500ms')
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
check(many.code == 0 and len(many.files()) == 100, f'{many.code}, {len(many.files())} of 100: {many.text[:500]}')
check(sum(len(data) for data in many.files().values()) == 400 << 20, 'bytes are missing')
spread = max(stub.moments[0] for stub in hosts) - min(stub.moments[0] for stub in hosts)
print(f'100 hosts: {many.seconds:.2f} s, asked within {many.record["attach"]["asked_within_ns"] / 1e6:.2f} ms '
      f'(seen there within {spread * 1e3:.1f} ms), peak of all children so far {peak // 1024} MB')
check(SANITIZE or peak <= 200 << 10, f'{peak} kB of memory')
subprocess.run(['rm', '-rf', many.dir])
for stub in hosts:
    stub.__exit__()

# Ctrl-C ends the sessions and takes what they have; a second one ends at once.
with Stub('ends_on_terminate', XSPACE) as a, Stub('ignores_terminate') as b:
    stopped = Attach([a.name], duration='600s', wait=False)
    while not a.requests:
        time.sleep(0.02)
    time.sleep(0.5)
    stopped.process.send_signal(signal.SIGINT)
    stopped.wait()
    check(stopped.code == 1 and list(stopped.files().values()) == [XSPACE], f'{stopped.code}: {stopped.err}')
    check(stopped.record['attach']['stopped_early'] and re.search(r'caught +\d+\.?\d* (ms|s) of 600.0 s on 1 host', stopped.text), stopped.text)
    stopped = Attach([b.name], duration='600s', wait=False)
    while not b.requests:
        time.sleep(0.02)
    stopped.process.send_signal(signal.SIGINT)
    while len(b.requests) < 2:      # of two that come together one is seen
        time.sleep(0.02)
    stopped.process.send_signal(signal.SIGINT)
    stopped.wait()
    check(stopped.code == 1 and 'the interrupt' in stopped.text and stopped.seconds < 20, f'{stopped.code}: {stopped.text}')

# A disk that is full ends that host alone; a folder that cannot be made is an error.
with Stub('answer', XSPACE) as a, Stub('answer', XSPACE[:2000]) as b:
    full = Attach([a.name, b.name], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000)))
    check(full.code == 1 and 'cannot write' in (full.line(a.name) or '') and 'make room' in (full.line(a.name) or ''), full.text)
    check(list(full.files().values()) == [XSPACE[:2000]], 'the other host is not there')
    (ROOT / 'file').write_text('')
    refused = Attach([a.name], output=ROOT / 'file')
    check(refused.code == 2 and 'is a file' in refused.text, refused.text)

# A process of this machine: its ports, of which one is a profiler server.
SERVES = '''import sys, time
sys.path.insert(0, sys.argv[1])
from profiler_stub import Stub
stubs = [Stub(name, open(sys.argv[2], 'rb').read()) for name in sys.argv[3:]]
print('ready', *[stub.port for stub in stubs], flush=True)
time.sleep(60)
'''
profile = next((SOURCE / 'testdata/cpu1_annotated').rglob('*.xplane.pb'))


def serve(*behaviours):
    program = subprocess.Popen([sys.executable, '-c', SERVES, SOURCE / 'tests/support', profile, *behaviours], stdout=subprocess.PIPE, text=True)
    program.ports = program.stdout.readline().split()[1:]
    return program


serving = serve('http1', 'answer', 'closes')
found = Attach([str(serving.pid)], '--stacks', '0')
check(found.record['attach']['no_stacks'] is None and 'stacks' not in found.err, found.err)
check(found.code == 0 and found.files() == {f'127.0.0.1_{serving.ports[1]}.xplane.pb': XSPACE} and 'missed  nothing' in found.err, found.err)
serving.kill()
serving.wait()
gone = Attach([str(serving.pid)])
check(gone.code == 2 and f'there is no process {serving.pid}' in gone.text, gone.text)
sleeping = subprocess.Popen(['sleep', '60'])
none = Attach([str(sleeping.pid)])
check(none.code == 2 and 'has no profiler server: call jax.profiler.start_server(9012) in it' in none.text and not none.dir.exists(), none.text)
sleeping.kill()

# A Python that can be told to run a script (3.14) is given a server for the time of the capture. Here sys.remote_exec is a double:
# the file that it leaves is found by a thread of the program. The interpreter is this one, so that both are of one version.
double = ROOT / 'double'
(double / 'jax').mkdir(parents=True)
(double / 'sitecustomize.py').write_text('''import os, sys
def remote_exec(pid, path):
    if os.environ.get('REFUSES'): raise PermissionError
    open('%s/%%d.new' %% pid, 'w').write(path)
    os.rename('%s/%%d.new' %% pid, '%s/%%d' %% pid)
sys.remote_exec = remote_exec
''' % (double, double, double))
(double / 'jax/__init__.py').write_text('from . import profiler\n')
(double / 'jax/profiler.py').write_text('''import socket, sys
sys.path.insert(0, %r)
import profiler_stub
def start_server(port):
    create = socket.create_server
    socket.create_server = lambda address, **more: create((address[0], port), **more)
    start_server.stub = profiler_stub.Stub('answer', open(%r, 'rb').read())
    socket.create_server = create
def stop_server():
    start_server.stub.socket.shutdown(2)
    start_server.stub.socket.close()
    print('stopped', flush=True)
''' % (str(SOURCE / 'tests/support'), str(profile)))
OLD = '''import os, sys, time
import jax
print('ready', flush=True)
while True:
    time.sleep(0.02)
    path = '%s/%d' % (sys.argv[1], os.getpid())
    if os.path.exists(path):
        script = open(path).read()
        os.unlink(path)
        exec(open(script).read())
'''
environment = {**os.environ, 'PYTHONPATH': str(double)}
running = subprocess.Popen([sys.executable, '-c', OLD, double], stdout=subprocess.PIPE, text=True, env=environment)
running.stdout.readline()
scripts = ROOT / 'scripts'
scripts.mkdir()
asked = Attach([str(running.pid)], env={**environment, 'TMPDIR': str(scripts)})
check(asked.code == 0 and list(asked.files().values()) == [XSPACE], asked.err)
check(running.stdout.readline() == 'stopped\n' and not list(scripts.iterdir()), 'the server stays, or its script')
refused = Attach([str(running.pid)], env={**environment, 'REFUSES': '1'})
check(refused.code == 2 and 'as for a debugger' in refused.text, refused.text)
older = Attach([str(running.pid)])
check(older.code == 2 and 'in a Python of 3.14 or newer neither is needed' in older.text, older.text)
running.kill()

# What does not go together, and what is no list of hosts.
CASES = [([], ['nohost'], 'has no port'), ([], ['h:0'], "'0' is not a port"), ([], ['h:70000'], 'is not a port'),
         ([], ['h:9012', 'h:9012'], "'h:9012' is given twice"), ([], ['::1:9012'], 'in brackets'), ([], ['[::1]'], 'has no port'),
         ([], [':9012'], 'names no host'), ([], [','], 'names no host'), ([], ['h:12a'], 'is not a port'),
         (['--every', '10'], ['h:1'], '--every is for a program that capture starts'),
         (['--duration', '0s'], ['h:1'], 'a window of 0 s holds nothing'), (['--duration', '1us'], ['h:1'], 'at least 1 ms'),
         (['--', 'true'], ['h:1'], "'true' would be started")]
for options, names, words in CASES:
    wrong = Attach(names, *options, duration=None)
    check(wrong.code == 2 and words in wrong.text and not wrong.dir.exists(), f'{names} {options}: {wrong.code}, {wrong.text}')

for line in failures:
    print('FAIL', line)
sys.exit(bool(failures))
