#!/usr/bin/env python3
"""idsprof.fleet, with Dask and fsspec: 64 hosts read by two processes are the report of one process; a worker that is killed, files that are
cut, missing or no profiles, and a store that fails are said, and the rest is whole; s3 (moto), http and memory; what was read is not read
again. api.fleet has what needs no packages.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_BUILD_DIR, TMPDIR, IDS_CI. Runs in .venv; without its packages the test is skipped with 77, in CI a
failure.
"""
import functools
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

SOURCE, IDSPROF, ROOT = Path(os.environ['IDS_SOURCE_DIR']), os.environ['IDSPROF'], Path(os.environ['TMPDIR'])
HOOK = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib', 'idsprof', 'python')
PYTHON = SOURCE / '.venv' / 'bin' / 'python'
HOSTS = 64
NEEDED = 'distributed, fsspec, s3fs, moto, flask, flask_cors, duckdb'
REAL = next((SOURCE / 'testdata/cpu1_plain/plugins/profile').glob('*/*.xplane.pb'))
failures = []

# The program as workers find it: it ends the worker that lets it read a file whose name says so, once or each time.
WRAPPER = '''#!/bin/sh
case "$1 $2" in
partial*kills_once*) mkdir "%(root)s/killed" 2>/dev/null && kill -9 $PPID ;;
partial*kills_always*) kill -9 $PPID ;;
esac
exec "%(program)s" "$@"
'''


def check(ok, *message):
    if not ok:
        failures.append(message)
        print('FAIL:', *message)


def again():
    """This test in .venv, beside idsprof.fleet."""
    if not PYTHON.exists() or subprocess.run([str(PYTHON), '-c', 'import ' + NEEDED], capture_output=True).returncode:
        print('.venv has not all of %s (tests/requirements.txt): ./bootstrap.sh test full' % NEEDED)
        sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)
    (ROOT / 'program/a/b').mkdir(parents=True)
    (ROOT / 'program/idsprof').write_text(WRAPPER % {'root': ROOT, 'program': IDSPROF})
    (ROOT / 'program/idsprof').chmod(0o755)
    settings = {'PYTHONPATH': '%s:%s' % (HOOK, SOURCE / 'tests/support'), 'IDSPROF_HOME': str(ROOT / 'program/a/b'), 'AWS_ACCESS_KEY_ID': 'a',
                'AWS_SECRET_ACCESS_KEY': 'b', 'AWS_DEFAULT_REGION': 'us-east-1', 'AWS_EC2_METADATA_DISABLED': 'true', 'NO_PROXY': '*', 'no_proxy': '*'}
    os.execve(PYTHON, [str(PYTHON), os.path.abspath(__file__), 'inside'], {**os.environ, **settings})


# --- what is read -----------------------------------------------------------------------------------------------------

def make(folder, name, hosts, mean_us=None, seed=1):
    """A run of copies of a real profile, or with steps of about this length."""
    from made_runs import gpu_run, noisy
    place = folder / name / 'plugins/profile/2026_11_25_00_00_00'
    place.mkdir(parents=True)
    for host in range(hosts):
        path = place / ('host_%02d.xplane.pb' % host)
        shutil.copyfile(REAL, path) if mean_us is None else gpu_run(path, noisy(seed, 6, mean_us))
    return place


def direct(path):
    done = subprocess.run([IDSPROF, 'report', '--json', '--no-cache', path], capture_output=True, text=True)
    return json.loads(done.stdout)


def without_names(report):
    return {**report, 'run': {key: value for key, value in report['run'].items() if key not in ('name', 'path')}}


def quiet(*_):
    from idsprof.fleet.engine import Progress
    return Progress('files', 0, io.StringIO())


def opened(urls, cache, client, **options):
    from idsprof import fleet
    return fleet.Fleet(urls, cache=str(ROOT / cache) if '://' not in cache else cache, client=client, progress=quiet, **options)


# --- two processes ----------------------------------------------------------------------------------------------------

def check_processes(client):
    folder = ROOT / 'many'
    place = make(folder, 'wide', HOSTS)
    found = opened(folder, 'cache_a', client)
    reports = found.reports()
    check(len(reports) == 1 and found.read == HOSTS and not found.failures, 'the hosts', found.read, found.failures)
    check(reports and without_names(reports[0][1]) == without_names(direct(place)), 'not the report of one process')
    second = opened(folder, 'cache_a', client=object())       # would fail if it began anything
    check(len(second.reports()) == 1 and second.read == 0, 'a second look read', second.read)
    changed = place / 'host_07.xplane.pb'
    shutil.copyfile(REAL, changed)
    third = opened(folder, 'cache_a', client)
    check(third.reports() and third.read == 1, 'of one changed file were read', third.read)
    damaged = next(name for name in (ROOT / 'cache_a').iterdir() if name.name.endswith('.part'))
    damaged.write_bytes(b'nothing')
    shutil.copyfile(REAL, changed)
    fourth = opened(folder, 'cache_a', client)
    check(len(fourth.reports()) == 1 and 1 <= fourth.read <= 2 and not fourth.failures, 'a damaged partial', fourth.read, fourth.failures)
    check(without_names(fourth.reports()[0][1]) == without_names(direct(place)), 'not the report of one process, after damage')


def check_failures(client):
    """One run a fault, and one that is whole; the worker is killed while others read."""
    folder = ROOT / 'faults'
    for name in ('whole', 'killed_once', 'killed_always', 'cut', 'missing', 'none'):
        make(folder, name, 3)
    place = {path.name: path / 'plugins/profile/2026_11_25_00_00_00' for path in folder.iterdir()}
    for fault in ('once', 'always'):
        (place['killed_' + fault] / 'host_01.xplane.pb').rename(place['killed_' + fault] / ('kills_%s.xplane.pb' % fault))
    for path in place['cut'].iterdir():
        path.unlink()
    (place['cut'] / 'host_01.xplane.pb').write_bytes(REAL.read_bytes()[:REAL.stat().st_size * 3 // 4])
    (place['none'] / 'host_01.xplane.pb').write_text('no profile\n')
    (place['whole'].parent / 'config.json').write_text('{"layers": 3}')
    found = opened([folder, ROOT / 'nowhere'], 'cache_b', client, retries=1)
    (place['missing'] / 'host_01.xplane.pb').unlink()
    summary = found.summary()
    rows = {row['name']: row for row in summary['runs']}
    why = {failure['url'].rsplit('/plugins', 1)[0].rsplit('/', 1)[-1]: failure['why'] for failure in summary['failures']}
    check(set(rows) == set(place), 'rows', sorted(rows))
    check({name: (row['hosts_read'], row['hosts']) for name, row in rows.items()} ==
          {name: (1, 1) if name == 'cut' else (2 if name in ('killed_always', 'missing', 'none') else 3, 3) for name in place}, 'hosts', rows)
    check(set(why) == {'killed_always', 'missing', 'none', 'nowhere'}, 'what is said', why)
    for name, word in (('killed_always', 'died'), ('missing', 'not there any more'), ('none', 'not a profile'), ('nowhere', 'nothing of this name')):
        check(word in why.get(name, ''), name, why)
    check((ROOT / 'killed').is_dir(), 'no worker was killed')
    check([row['complete'] for name, row in rows.items() if name == 'cut'] == [False] and rows['whole']['complete'], 'a cut file is not said')
    check([entry['url'].endswith('config.json') for entry in summary['not_taken']] == [True], 'not taken', summary['not_taken'])
    whole = next(report for run, report in found.reports() if run.name == 'whole')
    check(without_names(whole) == without_names(direct(place['whole'])), 'the whole run')


# --- stores -----------------------------------------------------------------------------------------------------------

def check_memory(client):
    """A store that fails once for each file, and one that always does for one."""
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem
    seen, open_file = set(), MemoryFileSystem._open

    def flaky(self, path, mode='rb', **more):
        if mode == 'rb' and '/kept/' in path and (path not in seen or 'never' in path):
            seen.add(path)
            raise ConnectionResetError('planted')
        return open_file(self, path, mode, **more)
    memory = fsspec.filesystem('memory')
    place = make(ROOT / 'memory', 'kept', 3)
    (place / 'host_02.xplane.pb').rename(place / 'never_02.xplane.pb')
    for path in place.iterdir():
        memory.pipe_file('/bucket/kept/plugins/profile/2026_11_25_00_00_00/' + path.name, path.read_bytes())
    MemoryFileSystem._open = flaky
    found = opened('memory://bucket', 'cache_c', client, retries=2)
    summary = found.summary()
    MemoryFileSystem._open = open_file
    check(found.read == 2 and summary['runs'][0]['hosts_read'] == 2 and summary['runs'][0]['name'] == 'kept', 'a store that fails once', summary)
    check(['planted' in failure['why'] for failure in summary['failures']] == [True], 'a store that always fails', summary['failures'])
    whole = opened('memory://bucket', 'memory://cache', client)
    check(without_names(whole.reports()[0][1]) == without_names(direct(place)), 'memory')
    check(opened('memory://bucket', 'memory://cache', object()).summary()['files_read'] == 0, 'partials in a store are not found')


class Served:
    """A server on the loopback that counts requests."""

    def __init__(self, server):
        self.server, self.requests = server, []
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def taken(self):
        """What was asked since the last call."""
        found, self.requests[:] = list(self.requests), []
        return found


def check_http(client):
    served = None

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            served.requests.append((self.command, self.path))
    place = make(ROOT / 'web', 'run 1 [x]', 2)
    served = Served(http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory=str(ROOT / 'web'))))
    url = 'http://127.0.0.1:%d/' % served.server.server_address[1]
    found = opened(url, 'cache_d', client)
    report = found.reports()
    check(len(report) == 1 and without_names(report[0][1]) == without_names(direct(place)), 'http', found.failures)
    check(report[0][0].name == 'run 1 [x]' and found.choose('run 1 [x]') and '%20' in report[0][0].url, 'a name over http', report[0][0])
    asked = [request for request in served.taken() if request[1].endswith('.pb')]
    check(len([request for request in asked if request[0] == 'GET']) <= 2 * 2, 'requests of two files', asked)
    served.server.shutdown()


def check_s3(client):
    """Each file is asked for once, the bucket once a thousand names; a second look asks for no file."""
    import fsspec
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Silent(WSGIRequestHandler):
        def log(self, *_):
            pass
    moto, served = DomainDispatcherApplication(create_backend_app), None

    def application(environment, start):
        served.requests.append((environment['REQUEST_METHOD'], environment['PATH_INFO'], environment['QUERY_STRING']))
        return moto(environment, start)
    served = Served(make_server('127.0.0.1', 0, application, threaded=True, request_handler=Silent))
    fsspec.config.conf['s3'] = {'endpoint_url': 'http://127.0.0.1:%d' % served.server.server_port}
    s3 = fsspec.filesystem('s3')
    s3.mkdir('bucket')
    places = {name: make(ROOT / 's3', name, 2, mean_us, seed) for name, mean_us, seed in
              (('a', 1000, 1), ('b', 1001, 2), ('c', 1002, 3), ('d', 1000, 4), ('slow', 1400, 5))}
    for name, place in places.items():
        for path in place.iterdir():
            s3.pipe_file('bucket/nightly/%s/plugins/profile/t/%s' % (name, path.name), path.read_bytes())
    served.taken()
    s3.invalidate_cache()
    summary = opened('s3://bucket/nightly/*', 's3://bucket/cache', client).summary()
    asked = served.taken()
    check(summary['files_read'] == 10 and not summary['failures'], 's3', summary['failures'])
    check(summary['runs'][0]['name'] == 'slow' and summary['runs'][0]['slow'] and not any(row['slow'] for row in summary['runs'][1:]), 'which is slow',
          [(row['name'], row['factor']) for row in summary['runs']])
    reads = [request for request in asked if request[0] == 'GET' and request[1].endswith('.pb')]
    check(len(reads) == 10 and len(asked) <= 10 * 2 + 5 * 6 + 10, 'requests', len(reads), len(asked), asked)
    s3.invalidate_cache()
    second = opened('s3://bucket/nightly/*', 's3://bucket/cache', object())
    check(second.summary()['runs'] == summary['runs'] and second.read == 0, 'a second look at s3')
    check(not [request for request in served.taken() if request[1].endswith('.pb') and request[0] == 'GET'], 'a second look read files')
    changed = 'bucket/nightly/b/plugins/profile/t/host_00.xplane.pb'
    s3.pipe_file(changed, s3.cat_file(changed) + b'\n')
    served.taken()
    s3.invalidate_cache()
    third = opened('s3://bucket/nightly', 's3://bucket/cache', client)
    check(len(third.reports()) == 5 and third.read == 1, 'of one changed object were read', third.read)
    reads = [request[1] for request in served.taken() if request[0] == 'GET' and request[1].endswith('.pb')]
    check([path.endswith(changed) for path in reads] == [True], 'not the changed object was read', reads)
    served.server.shutdown()
    return ROOT / 's3'


# --- the command ------------------------------------------------------------------------------------------------------

def command(*arguments, expect=0):
    environment = {**os.environ, 'PATH': '%s:%s' % (PYTHON.parent, os.environ['PATH'])}
    del environment['PYTHONPATH']
    done = subprocess.run([IDSPROF, 'fleet', *map(str, arguments), '--cache', ROOT / 'cache_e'], capture_output=True, text=True, env=environment)
    check(expect in (None, done.returncode) and 'Traceback' not in done.stderr, arguments, done.returncode, done.stderr[-800:])
    return done


def check_command(folder):
    whole = command('report', folder, '--processes', 2)
    check(whole.stderr == '' and 'slow: a step takes' in whole.stdout and 'WORST FIRST' in whole.stdout, whole)
    rows = command('report', folder, '--csv').stdout.splitlines()
    check(len(rows) == 6 and rows[1].startswith('slow,'), rows)
    one = command('report', folder, '--run', 'slow', '--processes', 0).stdout
    check('step time' in one and one.startswith('slow '), one[:200])
    command('report', folder, '--run', 'nobody', expect=2)
    compared = json.loads(command('diff', folder / 'a', folder / 'slow', '--json', '--processes', 0).stdout)
    check('tables' in compared and str(ROOT / 'cache_e') not in json.dumps(compared), list(compared))
    sql = 'SELECT run, count(*) AS n FROM steps GROUP BY run ORDER BY run'
    rows = json.loads(command('query', folder / 'a', folder / 'slow', sql, '--json', '--processes', 0).stdout)
    check([(row['run'][:-9], row['n']) for row in rows] == [('a', 6), ('slow', 6)], rows)
    done = command('query', folder / 'a', 'SELECT nothing FROM steps', '--processes', 0, expect=2)
    check('nothing' in done.stderr, done.stderr)
    done = command('report', folder, ROOT / 'nowhere', expect=2)
    check('nowhere' in done.stderr and 'WORST FIRST' in done.stdout, done)
    done = command('report', 'odd://bucket', expect=2)
    check("no scheme 'odd://'" in done.stderr and 's3://' in done.stderr, done.stderr)
    check_incomplete()
    check_query(folder)
    check_output(folder)


def check_incomplete():
    """A run of which a file cannot be read, and two runs of one name: each command says so, under their names and URLs."""
    folder = ROOT / 'lacking'
    for name in ('x/run', 'y/run'):
        make(folder, name, 3, 1000)
    place = folder / 'x/run/plugins/profile/2026_11_25_00_00_00'
    (place / 'host_01.xplane.pb').write_bytes(b'')
    url = str(place / 'host_01.xplane.pb')
    done = command('report', folder, '--run', 'x/run', '--json', expect=2)
    report = json.loads(done.stdout)
    check(not report['complete'] and (report['run']['name'], report['run']['path']) == ('x/run', str(place)), 'one run', report['run'])
    check([diag['text'] for diag in report['diag'] if diag['id'] == 'run.unreadable'] == ["'%s': the file is empty" % url], report['diag'])
    done = command('report', folder, '--run', 'x/run', expect=2)
    check(done.stdout.startswith("x/run \u00b7 INCOMPLETE: 'host_01.xplane.pb': could not be read") and url in done.stderr, done.stdout[:200])
    for sides in (('y', 'x'), ('x', 'y')):
        done = command('diff', *(folder / side for side in sides), expect=None)
        check('warning  run is cut' in done.stdout and 'host_01.xplane.pb' in done.stdout, 'diff', sides, done.stdout[:600])
    for _ in range(2):                      # read, and kept
        done = command('query', folder, "SELECT text FROM diag WHERE id = 'run.unreadable'", '--json', expect=2)
        check(json.loads(done.stdout) == [{'text': "'%s': the file is empty" % url}] and url + ': the file is empty' in done.stderr, done)
    os.mkfifo(folder / 'y/run/plugins/profile/2026_11_25_00_00_00/pipe.xplane.pb')
    for _ in range(2):
        done = command('query', folder / 'y', 'SELECT name FROM hosts ORDER BY name', '--json', expect=2)
        check(len(json.loads(done.stdout)) == 3 and 'pipe.xplane.pb: no file, but a FIFO' in done.stderr, 'a FIFO among hosts', done)
    os.unlink(folder / 'y/run/plugins/profile/2026_11_25_00_00_00/pipe.xplane.pb')
    parts = ROOT / 'parts'
    for name in ('y', 'z'):
        (parts / name).mkdir(parents=True)
    for file in (folder / 'y/run/plugins/profile/2026_11_25_00_00_00').iterdir():
        subprocess.run([IDSPROF, 'partial', file, '-o', parts / 'y' / (file.name + '.idspart')], check=True)
    (parts / 'z' / 'bad.idspart').write_bytes(b'no partial')
    done = command('report', parts, '--json', expect=2)
    rows = json.loads(done.stdout)['runs']
    got = [(row['name'], row['hosts_read'], row['steps']) for row in rows]
    check(got == [('y', 3, 6)] and 'bad.idspart' in done.stderr, 'partials', got, done.stderr)


def check_query(folder):
    """A statement only reads, and only rows; rows that are damaged are made again."""
    for sql, word in (('SELECT 1; SELECT 2', 'one statement'), ("COPY (SELECT 1) TO '%s'" % (ROOT / 'evil'), 'can only read'), ('', 'one statement'),
                      ("SELECT * FROM read_text('/etc/passwd')", 'disabled'), ('DROP VIEW steps', 'can only read'),
                      ("ATTACH '%s'" % (ROOT / 'evil'), 'can only read')):
        done = command('query', folder / 'a', sql, expect=2)
        check(word in done.stderr and done.stdout == '', sql, done)
    check(not (ROOT / 'evil').exists(), 'a statement wrote a file')
    command('query', folder / 'a', 'DESCRIBE steps')
    ordered = 'SELECT * FROM steps ORDER BY ALL'     # else DuckDB gives rows that were written again in any order
    want = command('query', folder / 'a', ordered).stdout
    rows = next((ROOT / 'cache_e/lake/steps').glob('run=a-*/host=*/*.parquet'))
    whole = rows.read_bytes()
    for damage in (b'nothing', b'', whole[:len(whole) // 2], whole[:4] + bytes(len(whole) - 60) + whole[-56:]):
        rows.write_bytes(damage)
        check(command('query', folder / 'a', ordered).stdout == want, 'damaged rows', damage[:20])


def check_output(folder):
    arguments = [IDSPROF, 'fleet', 'report', folder, '--cache', ROOT / 'cache_e']
    environment = {**os.environ, 'PATH': '%s:%s' % (PYTHON.parent, os.environ['PATH'])}
    with open('/dev/full', 'w') as full:
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    check(done.returncode == 2 and done.stderr == 'idsprof: fleet: cannot write the output: No space left on device\n', done)
    for address in ('foo', 'tcp://127.0.0.1:9'):
        done = subprocess.run([*arguments[:3], ROOT / 'parts/y', '--cache', ROOT / 'cache_f', '--scheduler', address], capture_output=True, text=True,
                              timeout=60, env=environment)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and address in done.stderr, address, done)


def main():
    import dask
    from distributed import Client, LocalCluster
    settings = {'distributed.scheduler.allowed-failures': 0, 'distributed.comm.timeouts.connect': '300s', 'distributed.comm.timeouts.tcp': '600s'}
    with dask.config.set(settings):
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host='127.0.0.1', dashboard_address=None, silence_logs=50,
                          local_directory=str(ROOT / 'dask')) as cluster, Client(cluster) as client:
            check_processes(client)
            check_failures(client)
        with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, silence_logs=50,
                          local_directory=str(ROOT / 'dask')) as cluster, Client(cluster) as client:
            check_memory(client)
            check_http(client)
            folder = check_s3(client)
    check_command(folder)
    shutil.rmtree(ROOT / 'dask', ignore_errors=True)
    return bool(failures)


if __name__ == '__main__':
    if sys.argv[1:] != ['inside']:
        again()
    sys.exit(main())
