#!/usr/bin/env python3
"""idsprof view without a screen: $BROWSER is a script of the test. What is opened, what is served and to whom, that it ends, and what stays.

Environment: IDSPROF, IDS_SOURCE_DIR; XDG_CACHE_HOME is the test's own.
"""
import gzip
import http.client
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TESTDATA = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata'
RUN = TESTDATA / 'cpu1_plain'
CACHE = Path(os.environ['XDG_CACHE_HOME']) / 'idsprof' / 'views'
ORIGIN = 'https://ui.perfetto.dev'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def same(what, got, wanted):
    check(got == wanted, f'{what}: {got!r}, not {wanted!r}')


def environment(**more):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(('SSH_', 'WSL_')) and name not in ('BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY')}
    return {**clean, **{name: str(value) for name, value in more.items()}}


def view(*arguments, **more):
    return subprocess.run([IDSPROF, 'view', *map(str, arguments)], capture_output=True, text=True, env=environment(**more), timeout=120)


def script(folder, name, text):
    path = Path(folder) / name
    path.write_text('#!/bin/sh\n' + text)
    path.chmod(0o755)
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


# ---- the page ----

def check_page(folder):
    seen = Path(folder) / 'seen'
    browser = script(folder, 'browser', f'printf "%s\\n" "$#" "$@" >"{seen}"\n')
    done = view(RUN, BROWSER=browser)
    same('exit', (done.returncode, done.stdout), (0, ''))
    count, page = seen.read_text().splitlines()
    check(count == '1' and Path(page).parent == CACHE, f'opened {page}')
    check(Path(page).read_text().lower().startswith('<!doctype html'), 'a page')
    printed = view(RUN, '--no-open', BROWSER=browser)
    same('the same run, the same page', printed.stdout, page + '\n')
    made = subprocess.run([IDSPROF, 'report', RUN, '--html', '-'], capture_output=True, text=True, check=True).stdout
    same('the page is that of report --html', Path(page).read_text(), made)
    same('one that only its user may see', stat.S_IMODE(CACHE.stat().st_mode), 0o700)
    other = view(TESTDATA / 'cpu1_nohlo', '--no-open').stdout.strip()
    check(other and other != page, 'another run has another page')
    old = CACHE / ('0' * 16 + '.html')
    strange = CACHE / 'mine.html'
    for path in old, strange, Path(other):
        path.touch()
        os.utime(path, (1, 1))
    view(RUN, '--no-open')
    same('pages of last week go, and files of others stay', (old.exists(), strange.exists(), Path(other).exists()), (False, True, False))
    words = view(RUN, BROWSER=f'/nothing/there:{browser} first %s last')
    same('a command with words', (words.returncode, seen.read_text().splitlines()), (0, ['3', 'first', page, 'last']))
    failing = view(RUN, BROWSER=script(folder, 'failing', 'exit 3\n'))
    check(failing.returncode == 2 and 'status 3' in failing.stderr, f'a browser that fails: {failing}')
    gone = view(RUN, BROWSER='/nothing/there', PATH=f'{script(folder, "xdg-open", "test -z $BROWSER").parent}:/bin:/usr/bin')
    check(gone.returncode == 0 and "BROWSER is '/nothing/there', which is no program here" in gone.stderr, f'a browser that is gone: {gone}')
    (Path(folder) / 'xdg-open').unlink()
    bare = Path(folder) / 'bin'
    bare.mkdir()
    none = view(RUN, PATH=bare)
    check(none.returncode == 0 and page in none.stdout and 'no browser was found' in none.stderr, f'no browser: {none}')
    script(bare, 'xdg-open', f'echo xdg "$@" >"{seen}"\n')
    view(RUN, PATH=f'{bare}:/bin:/usr/bin')
    same('xdg-open', seen.read_text(), f'xdg {page}\n')


def check_wsl(folder):
    seen, programs = Path(folder) / 'seen', Path(folder) / 'wsl'
    programs.mkdir()
    script(programs, 'explorer.exe', f'echo explorer "$@" >"{seen}"\nexit 1\n')
    script(programs, 'wslpath', 'echo "windows:$2"\n')
    done = view(RUN, WSL_DISTRO_NAME='Debian', PATH=f'{programs}:/bin:/usr/bin')
    check(done.returncode == 0 and seen.read_text().startswith('explorer windows:/'), f'{done} {seen.read_text()}')
    script(programs, 'wslview', f'echo wslview "$@" >"{seen}"\n')
    view(RUN, WSL_DISTRO_NAME='Debian', PATH=f'{programs}:/bin:/usr/bin')
    check(seen.read_text().startswith('wslview /'), seen.read_text())


# ---- what is served ----

def start(*arguments, **more):
    server = subprocess.Popen([IDSPROF, 'view', *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more))
    return server, server.stdout.readline().strip()


def ask(port, path, method='GET', host=None, **headers):
    """(status, headers, body); `host` None: the right one."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    if host != '':
        connection.putheader('Host', host or f'127.0.0.1:{port}')
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def check_perfetto():
    port = free_port()
    server, address = start(RUN, '--ui', 'perfetto', '--no-open', '--port', port)
    check(address.startswith(f'{ORIGIN}/#!/?url=http://127.0.0.1:{port}/'), address)
    path = urllib.parse.urlparse(address.partition('url=')[2]).path
    check(re.fullmatch(r'/[0-9a-f]{32}/[a-z.]+', path), f'a token: {path}')
    for what, status, arguments in (
            ('no token', 404, ('/',)), ('another token', 404, ('/' + '0' * 32 + path[33:],)), ('a path around', 404, (path + '/../x',)),
            ('a query', 200, (path + '?x=1', 'HEAD')), ('a file of the machine', 404, ('/etc/passwd',)), ('up', 404, (path[:34] + '../../etc/passwd',)),
            ('the token alone', 404, (path[:34],)), ('to write', 405, (path, 'PUT')), ('to post', 405, (path, 'POST')), ('to delete', 405, (path, 'DELETE')),
            ('head', 200, (path, 'HEAD'))):
        same(what, ask(port, *arguments)[0], status)
    for host in 'evil.example', 'evil.example:%d' % port, '127.0.0.1', '127.0.0.1:1', '', 'localhost.evil:%d' % port, '0.0.0.0:%d' % port:
        same(f'host {host!r}', ask(port, path, host=host)[0], 403)
    for origin in 'https://evil.example', 'null', 'http://ui.perfetto.dev', ORIGIN + '.evil.example':
        status, headers, body = ask(port, path, Origin=origin)
        same(f'origin {origin}', (status, body), (403, b''))
    status, headers, body = ask(port, path, 'OPTIONS', Origin=ORIGIN, **{'Access-Control-Request-Private-Network': 'true'})
    same('a preflight', (status, headers.get('Access-Control-Allow-Origin'), headers.get('Access-Control-Allow-Private-Network')), (204, ORIGIN, 'true'))
    time.sleep(0.8)  # it lingers a moment when it is done
    check(server.poll() is None, 'it ended before the file was delivered')
    others = subprocess.run(['ss', '-ltnH', f'sport = :{port}'], capture_output=True, text=True).stdout if shutil.which('ss') else ''
    check('0.0.0.0' not in others.split('127.0.0.1')[0], f'listens on the loopback alone: {others}')
    same('nothing lies in the cache meanwhile', [entry.name for entry in CACHE.iterdir() if entry.is_dir()], [])
    status, headers, body = ask(port, path, host=f'localhost:{port}', Origin=ORIGIN)
    same('the trace', (status, headers.get('Access-Control-Allow-Origin'), headers.get('Cache-Control')), (200, ORIGIN, 'no-store'))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([IDSPROF, 'extract', RUN, '-f', 'perfetto', '-o', folder, '-q'], check=True)
        wanted = next(Path(folder).iterdir()).read_bytes()
    unpacked = [gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data for data in (body, wanted)]
    check(unpacked[0] == unpacked[1], 'the trace is what extract writes')
    same('delivered, and so it ends', server.wait(20), 0)


def check_ends():
    port = free_port()
    server, address = start(RUN, '--ui', 'perfetto', '--no-open', '--port', port, '--wait', '1s')
    same('nobody came', server.wait(20), 1)
    check('no browser came' in server.stderr.read(), 'it says so')
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', port))
        taken.listen()
        done = view(RUN, '--ui', 'perfetto', '--no-open', '--port', port)
        check(done.returncode == 2 and str(port) in done.stderr, f'a port that is taken: {done}')
    server, address = start(RUN, '--ui', 'perfetto', '--no-open', '--port', port)
    server.terminate()
    check(server.wait(20) != 0, 'a signal ends it')
    same('nothing of it stays', [entry.name for entry in CACHE.iterdir() if entry.is_dir()], [])


def check_ssh():
    server, address = start(RUN, SSH_CONNECTION='1.2.3.4 5 6.7.8.9 22', PATH='/bin:/usr/bin')
    port = int(re.fullmatch(r'http://127.0.0.1:(\d+)/[0-9a-f]{32}/report.html', address)[1])
    status, headers, body = ask(port, urllib.parse.urlparse(address).path)
    same('the page, through a tunnel', (status, headers['Content-Type'], b'<!doctype html' in body[:40].lower()), (200, 'text/html; charset=utf-8', True))
    check('Access-Control-Allow-Origin' not in headers, 'no other page may read it')
    same('ends', server.wait(20), 0)
    check(f'ssh -N -L {port}:127.0.0.1:{port} ' in server.stderr.read(), 'the line for ssh')


# ---- other programs' servers ----

def check_servers(folder):
    seen, programs = Path(folder) / 'asked', Path(folder) / 'servers'
    programs.mkdir()
    for name in 'xprof', 'tensorboard':
        script(programs, name, f'printf "%s\\n" {name} "$@" >"{seen}"; find "${{1#--logdir=}}" -name "*.xplane.pb" >>"{seen}"; exit 7\n')
    path = f'{programs}:/bin:/usr/bin'
    for name in 'xprof', 'tensorboard':
        done = view(RUN, '--ui', name, '--no-open', '--port', 4321, PATH=path)
        same(f'{name}: status', done.returncode, 7)
        same(name, seen.read_text().splitlines()[:3], [name, f'--logdir={RUN}', '--port=4321'])
    done = view(TESTDATA / 'json' / 'jax_gpu.trace.json', '--ui', 'xprof', '--no-open', PATH=path)
    _, logdir, _, *profiles = seen.read_text().splitlines()
    logdir = Path(logdir.partition('=')[2])
    check(logdir.parent == CACHE and len(profiles) == 1 and '/plugins/profile/' in profiles[0], f'{done} {seen.read_text()}')
    check(not logdir.exists(), 'what was made for it stays')
    done = view(RUN, '--ui', 'xprof', PATH='/nothing')
    check(done.returncode == 2 and 'pip install xprof' in done.stderr, f'not installed: {done}')
    # One that serves is opened when it answers.
    opened = Path(folder) / 'opened'
    script(programs, 'xprof', 'sleep 0.5; exec ' + sys.executable + ' -m http.server --bind 127.0.0.1 "${2#--port=}"\n')
    browser = script(folder, 'late', f'echo "$1" >"{opened}.new"; mv "{opened}.new" "{opened}"\n')
    server = subprocess.Popen([IDSPROF, 'view', RUN, '--ui', 'xprof'], env=environment(BROWSER=browser, PATH=path), cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if opened.exists():
            break
        time.sleep(0.1)
    check(opened.exists() and re.fullmatch(r'http://127.0.0.1:\d+/\n', opened.read_text()), 'the browser comes when the server answers')
    server.terminate()
    check(server.wait(20) != 0, 'a signal ends both')


def check_refusals():
    for arguments, words in (((TESTDATA / 'README.md',), 'report'), (('/nothing/at/all',), '/nothing/at/all'), (('-',), 'standard input'),
                             ((RUN, '--port', '70000'), '65535'), ((RUN, '--ui', 'nothing'), "'nothing'"), ((RUN, '--run', 'nothing'), 'nothing')):
        done = view(*arguments, '--no-open')
        check(done.returncode == 2 and words in done.stderr and not done.stdout, f'{arguments}: {done}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_page(folder)
        check_wsl(folder)
        check_servers(folder)
    check_perfetto()
    check_ends()
    check_ssh()
    check_refusals()
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
