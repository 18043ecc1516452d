#!/usr/bin/env python3
"""`idsprof capture --attach` with real profiler servers (jax.profiler.start_server) in programs that run already: two that answer,
one that is killed in the middle, one that is stopped; the run opens in `idsprof report` and in XProf.

Environment: IDSPROF, IDS_PYTHON (a Python with jax and xprof), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF = os.environ.get('IDSPROF') or ''
ROOT = Path(os.environ.get('TMPDIR') or '/tmp')
failures = []
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_', 'JAX_', 'XLA_')) or name == 'PYTHONPATH':
        del os.environ[name]
os.environ['JAX_PLATFORMS'] = 'cpu'


def check(what, ok, found=''):
    if not ok:
        failures.append(what)
    print('%s %s%s' % ('ok  ' if ok else 'FAIL', what, '' if ok else ': %s' % (found,)), flush=True)


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


def start(seconds=90, *more):
    port = free_port()
    program = subprocess.Popen([PYTHON, HERE / 'attach_loop.py', str(port), str(seconds), *more], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    program.port = port
    return program


def attach(names, *options, during=None):
    into = ROOT / ('out%d' % len(list(ROOT.glob('out*'))))
    process = subprocess.Popen([IDSPROF, 'capture', '--attach', ','.join(names), '-o', into, '--keep-empty', *options],
                               stderr=subprocess.PIPE, text=True)
    if during:
        during()
    _, err = process.communicate(timeout=120)
    folder = next(into.glob('attach_*'))
    record = json.loads((folder / 'idsprof-run.json').read_text())
    return process.returncode, re.sub(r'\n +', ' ', err), folder, {host['host']: host for host in record['attach']['hosts']}


if subprocess.run([PYTHON, '-c', 'import jax, xprof'], capture_output=True).returncode:
    print('SKIP: %s has no jax and xprof (tests/requirements.txt)' % PYTHON)
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)

first, busy, killed, stopped = programs = [start(), start(90, 'busy'), start(), start()]
try:
    for program in programs:
        check('the program is ready', program.stdout.readline() == 'ready\n')
    names = ['localhost:%d' % first.port, '[::1]:%d' % busy.port, '127.0.0.1:%d' % killed.port, '127.0.0.1:%d' % stopped.port]

    def kill_one():
        check('the one to be killed is recorded', killed.stdout.readline() == 'recording\n')
        killed.kill()

    stopped.send_signal(signal.SIGSTOP)
    code, said, folder, hosts = attach(names, '--duration', '2s', '--stop-timeout', '20s', during=kill_one)
    print(said)
    files = sorted(path.name for path in folder.glob('plugins/profile/*/*.xplane.pb'))
    check('two of four came', code == 1 and files == ['__1_%d.xplane.pb' % busy.port, 'localhost_%d.xplane.pb' % first.port], (code, files))
    check('the stopped one is named', 'said nothing within 5 s' in (hosts[names[3]]['why'] or ''), hosts[names[3]])
    check('the killed one is named', 'while it recorded or sent' in (hosts[names[2]]['why'] or ''), hosts[names[2]])
    report = subprocess.run([IDSPROF, 'report', folder], capture_output=True, text=True)
    check('idsprof report has both hosts and their steps', report.returncode == 0 and '2 hosts' in report.stdout and "annotation 'train'" in ' '.join(report.stdout.split()),
          report.stdout[:400] + report.stderr)
    window = re.search(r'window ([0-9.]+) (m?)s', report.stdout)
    check('the window is the one that was asked for', window and 1.5 < float(window[1]) / (1000 if window[2] else 1) < 3, report.stdout[:300])
    xprof = subprocess.run([PYTHON, '-c', 'import sys, json\nfrom xprof.convert import raw_to_tool_data as r\n'
                            'names, _ = r.xspace_to_tool_names(sys.argv[1:]), 0\n'
                            'data, _ = r.xspace_to_tool_data(sys.argv[1:], "overview_page", {"use_saved_result": False})\n'
                            'print(len(data), len(json.loads(data)))', *map(str, folder.glob('plugins/profile/*/*.xplane.pb'))],
                           capture_output=True, text=True)
    check('XProf opens them as one run', xprof.returncode == 0 and int(xprof.stdout.split()[0]) > 1000, xprof.stdout + xprof.stderr[-600:])

    # Two at once: the second is told that the first records. A server serves again after that.
    process = subprocess.Popen([IDSPROF, 'capture', '--attach', names[0], '-o', ROOT / 'long', '--duration', '600s'], stderr=subprocess.PIPE, text=True)
    for _ in range(2):                      # the second time
        check('the first of two records', first.stdout.readline() == 'recording\n')
    code, said, _, hosts = attach(names[:1], '--duration', '200ms')
    check('the second of two is refused', code == 1 and 'Another profiling session active' in said and 'wait until' in said, said)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    early = list((ROOT / 'long').glob('*/plugins/profile/*/*.xplane.pb'))
    check('Ctrl-C keeps what was recorded', process.returncode == 1 and len(early) == 1 and ' of ' in err.partition('caught')[2].partition(' on ')[0], err)
    code, said, _, _ = attach(names[:1], '--duration', '200ms')
    check('afterwards the server serves again', code == 0 and 'missed  stacks, not sampled: --attach' in said and said.count('missed') == 1, said)
finally:
    for program in programs:
        program.kill()

for what in failures:
    print('FAIL', what)
sys.exit(bool(failures))
