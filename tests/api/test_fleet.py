#!/usr/bin/env python3
"""idsprof.fleet without Dask and fsspec: which files are one run by their names, which run is slow against those like it and why, what all of
them lose, where a copy lies, what is printed, and what `idsprof fleet` says where packages lack. peers.fleet has the engine and the stores.

Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR.
"""
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading

HOOK = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib', 'idsprof', 'python')
IDSPROF, TMPDIR = os.environ['IDSPROF'], os.environ['TMPDIR']
sys.path.insert(0, HOOK)
from idsprof import lake  # noqa: E402
from idsprof.fleet import ending, engine, files, fleet, program, store, summary, text, work  # noqa: E402

failures = []


def check(ok, *message):
    if not ok:
        failures.append(message)
        print('FAIL:', *message)


# --- names ------------------------------------------------------------------------------------------------------------

class Bucket:
    """Stands for a file system of fsspec."""

    def __init__(self, url):
        self.protocol = url.split('://')[0]

    def unstrip_protocol(self, name):
        return self.protocol + '://' + name


def find(listings):
    """What find() gives for {URL: (base, names)}."""
    def listed(url):
        base, names, is_named = listings[url]
        return Bucket(url), base, [{'name': name, 'size': 5, 'ETag': 'x', 'type': 'file'} for name in names], is_named
    before, files._listed = files._listed, listed
    try:
        return files.find(listings)
    finally:
        files._listed = before


def check_names():
    run = 'b/nightly/%s/plugins/profile/2026_11_%02d_00_00_00/%s.xplane.pb'
    names = [run % (job, day, host) for job in ('a', 'b') for day in (1, 2) for host in ('h0', 'h1')]
    torch = ['b/nightly/torch/rank-%d.json.gz' % rank for rank in range(3)]
    beside = run.rsplit('/', 1)[0] % ('a', 1) + '/h0.memory.prof'
    odd = ['b/nightly//x.xplane.pb', 'b/nightly/../y.xplane.pb', 'b/nightly/' + 'z' * 300 + '.xplane.pb']
    found = find({'s3://b/nightly': ('b/nightly', [*names, *torch, beside, *odd, 'b/nightly/all.tar.gz', 'b/nightly/README.md'], False)})
    got = {one.url: [file.name for file in one.files] for one in found.runs}
    want = {'s3://b/nightly/%s/plugins/profile/2026_11_%02d_00_00_00' % (job, day): ['h0.xplane.pb', 'h1.xplane.pb'] for job in ('a', 'b') for day in (1, 2)}
    check(got == {**want, 's3://b/nightly/torch': ['rank-%d.json.gz' % rank for rank in range(3)]}, 'runs', got)
    check(len({one.name for one in found.runs}) == len(found.runs), 'names are not apart', [one.name for one in found.runs])
    check([len(one.beside) for one in found.runs if one.url.endswith('/a/plugins/profile/2026_11_01_00_00_00')] == [1], 'beside')
    check(sum(len(one.beside) for one in found.runs) == 1, 'beside others')
    check(sorted(url for url, _ in found.passed) == sorted('s3://' + name for name in [*odd, 'b/nightly/all.tar.gz']), 'passed', found.passed)
    check(all(file.is_generic for one in found.runs for file in one.files) is False and all(
        file.is_generic == ('torch' in one.url) for one in found.runs for file in one.files), 'generic')
    two = find({'s3://b/x/r': ('b/x/r', ['b/x/r/1/h.xplane.pb', 'b/x/r/2/h.xplane.pb'], False), 's3://b/y/r': ('b/y/r', ['b/y/r/1/h.xplane.pb'], False),
                's3://b/x/r/1/h.xplane.pb': ('b/x/r/1', ['b/x/r/1/h.xplane.pb'], True)})
    check(len(two.runs) == 3 and len({one.name for one in two.runs}) == 3, 'of two folders', [(one.name, one.url) for one in two.runs])
    odd = find({'s3://b/L[1] *?/x.xplane.pb': ('b/L[1] *?', ['b/L[1] *?/x.xplane.pb'], True), 's3://b/N[1] *?': ('b/N[1] *?', ['b/N[1] *?/h0.xplane.pb'], False)})
    check([one.name for one in odd.runs] == ['x', 'N[1] *?'], 'names with characters of patterns', odd.runs)
    named = find({'s3://b/any.bin': ('b', ['b/any.bin'], True)})
    check([one.url for one in named.runs] == ['s3://b/any.bin'], 'a file that is named', named)
    encoded = 'http://h/a%20b%5B1%5D/n%2525/plugins/profile/t/h%23.xplane.pb'
    web = find({'http://h/': ('http://h', [encoded, 'http://h/plain/h.xplane.pb', 'http://h/x%2Fy.xplane.pb'], False)})
    check({one.name: one.url for one in web.runs} == {'n%25': encoded.rsplit('/', 1)[0], 'plain': 'http://h/plain'}, 'names of URLs', web.runs)
    check([url for url, _ in web.passed] == ['http://h/x%2Fy.xplane.pb'], 'a name that is a path', web.passed)
    of_url, chosen = fleet.Fleet.__new__(fleet.Fleet), 'a b[1]/n%25/plugins/profile/t'
    of_url.found = web
    check(of_url.choose(chosen) is of_url.choose('n%25') and of_url.choose(encoded.rsplit('/', 1)[0]), 'the plain name')
    parts = find({'s3://b/p': ('b/p', ['b/p/1/a.idspart', 'b/p/1/b.xplane.pb.idspart', 'b/p/2/a.idspart'], False)})
    check(sorted((one.url, len(one.files)) for one in parts.runs) == [('s3://b/p/1', 2), ('s3://b/p/2', 1)], 'partials', parts)
    nothing = find({'s3://b/none': ('b/none', [], False)})
    check(not nothing.runs and 'looked for' in nothing.failed[0][1], nothing)
    os.makedirs(os.path.join(TMPDIR, 'empty'))
    said = subprocess.run([IDSPROF, 'list', os.path.join(TMPDIR, 'empty')], capture_output=True, text=True).stderr
    wanted = {'*' + ending for ending in files.ENDINGS}
    looked = set(re.findall(r'\*\.[a-z.]+', said))
    check(looked and all(any(one.endswith(ending[1:]) for ending in wanted) for one in looked) and wanted <= looked, 'endings', looked)


def check_places():
    for url, want in (('s3://b/r/h.pb', 'b/r/h.pb'), ('http://x:80/../../etc/h.pb?sign=1', 'x:80/_/_/etc/h.pb'), ('s3://b//h.pb', 'b/_/h.pb')):
        check(work._place(url) == want, url, work._place(url))


class Disk:
    """Stands for fsspec's file system of this machine."""

    def url_to_fs(self, url):
        return self, url

    def cat_file(self, path):
        with open(path, 'rb') as file:
            return file.read()

    def rm_file(self, path):
        os.unlink(path)


def check_store():
    key = store.key_of('a', 'b')
    check(key != store.key_of('ab') and key != store.key_of('a', 'b', ''), 'keys')
    store.needed = lambda module: Disk()
    place = os.path.join(TMPDIR, 'kept')
    store.Store(place).put(key, 'part', b'content')
    second = store.Store(place)
    check(second.get(key, 'part') == b'content' and not second.has(key, 'report') and second.get(key, 'report') is None, 'what was kept')
    name, = os.listdir(place)
    with open(os.path.join(place, name), 'wb') as file:
        file.write(b'damaged')
    check(second.get(key, 'part') is None and not second.has(key, 'part'), 'a damaged partial is taken')
    second.put(key, 'part', b'other')
    check(store.Store(place).get(key, 'part') == b'other' and len(os.listdir(place)) == 1, 'another partial of one key', os.listdir(place))
    shutil.rmtree(place)        # stands for a disk that is full
    try:
        second.put(key, 'report', b'content')
        check(False, 'what cannot be kept is not said')
    except store.Error as error:
        check(place in str(error) and '--cache' in str(error) and not second.has(key, 'report'), 'what cannot be kept', error)


# --- what the program says, and rows ------------------------------------------------------------------------------------

def check_named():
    """Places of partials are URLs, and what stands for a file that cannot be read says why."""
    laid, lacks = [('/t/s/b_run', 's3://n/b"run'), ('/t/s', 's3://n')], [('/t/s/b_run/00001-lacks.idspart', 's3://n/b/h1.xplane.pb', 'it says "no"')]
    said = "in /t/s/b_run and /t/s: '/t/s/b_run/00001-lacks.idspart': the\n  file is empty (and '/t/s/b_run/h.idspart': the file is empty)"
    want = "in s3://n/b\"run and s3://n: 'h1.xplane.pb': could\n  not be read (and 's3://n/b\"run/h.idspart': the file is empty)"
    check(fleet._named(said, laid, lacks, False) == want, fleet._named(said, laid, lacks, False))
    said = json.dumps({'path': '/t/s/b_run', 'text': "'/t/s/b_run/00001-lacks.idspart': the file is empty"})
    want = {'path': 's3://n/b"run', 'text': "'s3://n/b/h1.xplane.pb': it says \"no\""}
    check(json.loads(fleet._named(said, laid, lacks, True)) == want, fleet._named(said, laid, lacks, True))
    before = fleet.ask
    try:
        fleet.ask = lambda *_: (0, '{"program": {"name":"idsprof"}, "run": {"name": "b_run"}, "of": {"name": "b_run"}}', '')
        output = json.loads(fleet.report_of(None, files.Run('b/run', 's3://n/b/run', [], []), ['--json'])[1])
        check(output == {'program': {'name': 'idsprof'}, 'run': {'name': 'b/run'}, 'of': {'name': 'b_run'}}, 'the name in JSON', output)
        fleet.ask = lambda *_: (0, 'b_run \u00b7 1 host', '')
        check(fleet.report_of(None, files.Run('b/run', 's3://n/b/run', [], []), [])[1] == 'b/run \u00b7 1 host', 'the name')
    finally:
        fleet.ask = before


def check_laid():
    """What cannot be read is an empty partial beside the others, also where a run has none that can."""
    one, place = fleet.Fleet.__new__(fleet.Fleet), os.path.join(TMPDIR, 'laid')
    of = [[files.File('/r%d/h%d' % (run, host), 5, '', False) for host in range(2)] for run in range(2)]
    runs = [files.Run('r%d' % number, '/r%d' % number, those, []) for number, those in enumerate(of)]
    one.failures, one.bad = [('/r0/h1', 'empty'), ('/r1/h0', 'no'), ('/r1/h1', 'no')], {'/r0/h1', '/r1/h0', '/r1/h1'}
    one.make_parts, one._keys = lambda runs: None, lambda runs: [[file.url for file in run.files] for run in runs]
    one._fetch = lambda keys, place: len(keys)
    laid, lacks = one.lay_out(runs, place)
    check([place[len(TMPDIR):] for place, _ in laid] == ['/laid/r0', '/laid/r1'], laid)
    check([lack[1:] for lack in lacks] == one.failures and all(os.path.getsize(lack[0]) == 0 for lack in lacks), lacks)
    one.bad.add('/r0/h0')
    try:
        one.lay_out(runs, place)
        check(False, 'nothing could be read, and it goes on')
    except fleet.Error as error:
        check('no run could be read there' in str(error), error)


def check_lacking():
    """Files that an import could not read are named by their URLs, also in the rows."""
    database = os.path.join(TMPDIR, 'lacking.db')
    with sqlite3.connect(database) as opened:
        opened.execute('CREATE TABLE diag(id, text)')
        opened.executemany('INSERT INTO diag VALUES (?, ?)', [('run.unreadable', "'runs/b/h1.pb': the file is empty"), ('xplane.truncated', 'cut'),
                                                              ('run.unreadable', "'bucket/b/h2.pb': it's \nno profile")])
    job = {'url': '/runs/b', 'files': [('/runs/b/h1.pb', 1), ('s3://bucket/b/h2.pb', None)]}
    want = [('/runs/b/h1.pb', 'the file is empty'), ('s3://bucket/b/h2.pb', "it's \nno profile")]
    got = list(work._lacking(database, job))
    with sqlite3.connect(database) as opened:
        texts = [row[0] for row in opened.execute('SELECT text FROM diag')]
    check(got == want and texts[0] == "'/runs/b/h1.pb': the file is empty" and texts[1] == 'cut', got, texts)


def check_damaged():
    """Rows that cannot be read are made again, once; what is kept of a run says which files it lacks."""
    one, asked, kept = fleet.Fleet.__new__(fleet.Fleet), [], {}
    one.found, one.failures, one.read = files.Found(runs=[files.Run('a', '/a', [], []), files.Run('b', '/b', [], [])]), [], 0

    class Kept:
        is_local, folder, url = True, TMPDIR, TMPDIR
        get = staticmethod(lambda key, kind: kept.get(key))
        put = staticmethod(lambda key, kind, content: kept.__setitem__(key, content))
        forget = staticmethod(lambda key, kind: kept.pop(key))

    class Lake:
        def __init__(self, _):
            pass

        def runs(self):
            return ['lake-/a', 'lake-/b']

    def connect(_, runs):
        if any(url == '/b' for url in asked) and asked.count('/b') == 1:
            raise lake.Damaged('planted')
        return runs

    def work_on(function, what, jobs, take):
        for job in jobs:
            asked.append(job['url'])
            take(job, work.Answer(job['key'], made=b'lake-' + job['url'].encode(), lacks=(('/b/h', 'empty'),) if job['url'] == '/b' else ()))
    before = lake.Lake, lake.connect, getattr(lake, 'damaged', None)
    lake.Lake, lake.connect, lake.damaged = Lake, connect, lambda _, runs: {'lake-/b'}
    one.store, one._work, one._keys = Kept, work_on, lambda runs: [['key of ' + run.name] for run in runs]
    try:
        check(sorted(one.lake()) == ['lake-/a', 'lake-/b'] and asked == ['/a', '/b', '/b'], 'damaged rows', asked)
        check(one.failures == [('/b/h', 'empty')], 'what a run lacks', one.failures)
        one.failures = []
        check(sorted(one.lake()) == ['lake-/a', 'lake-/b'] and len(asked) == 3, 'a second look', asked)
        check(one.failures == [('/b/h', 'empty')], 'what a kept run lacks', one.failures)
        asked[:] = ['/b']
        lake.damaged = lambda _, runs: set()
        try:
            one.lake()
            check(False, 'an error of another kind is passed over')
        except lake.Damaged:
            pass
    finally:
        lake.Lake, lake.connect, lake.damaged = before


# --- figures ----------------------------------------------------------------------------------------------------------

def report(step, accounts, devices=4, program='jit_train', advice=('host.input', 'load'), kind='H100'):
    """What `idsprof report --json` says, as far as it is asked. accounts: {name: seconds a step}."""
    whole = sum(accounts.values())
    columns = [{'id': name} for name in ('account', 'time', 'per_step', 'share', 'culprit', 'where')]
    rows = [[name, 10 * devices * value, value, value / whole, name + ' culprit', None] for name, value in accounts.items()]
    metrics = {'steps.mean': step, 'steps.count': 10, 'device.utilization': 0.5, 'idle.share': 0.5, 'collectives.share': 0, 'compile.total': None}
    return {'metrics': {name: {'value': value} for name, value in metrics.items()}, 'complete': True, 'diag': [],
            'run': {'files': 2, 'devices': {'count': devices, 'kind': 'GPU', 'model': kind}, 'steps': {}},
            'advice': [{'account': advice[0], 'culprit': advice[1], 'where': None, 'saves': 0.1, 'per': 'step', 'what': 'w'}] if advice else [],
            'tables': {'accounts': {'columns': columns, 'rows': rows},
                       'modules': {'columns': [{'id': 'name'}, {'id': 'self'}], 'rows': [['jit_init', 0.1], [program, 1.0]]}}}


def rows_of(reports):
    return [summary.row_of(files.Run(name, 's3://b/' + name, [None, None], []), one, 2) for name, one in reports.items()]


def usual(number, **more):
    return report(0.100 + 0.0005 * (number % 5), {'work.compute': 0.08, 'host.input': 0.02 + 0.0005 * (number % 5)}, **more)


def check_slow():
    reports = {'run_%02d' % number: usual(number) for number in range(39)}
    reports['late'] = report(0.130, {'work.compute': 0.08, 'host.input': 0.022, 'comm.wait': 0.028})
    reports['other'] = report(0.5, {'work.compute': 0.4, 'host.python': 0.1}, program='jit_eval', advice=('host.python', 'log'))
    told = summary.summarize(rows_of(reports))
    first = told['runs'][0]
    slow = [row['name'] for row in told['runs'] if row['slow']]
    check(slow == ['late'] and first['name'] == 'late' and first['like'] == 39, 'slow', slow, first['name'])
    check(first['slow']['account'] == 'comm.wait' and abs(first['slow']['account_more'] - 0.028) < 1e-9 and first['slow']['culprit'] == 'comm.wait culprit',
          first['slow'])
    check(abs(first['factor'] - 0.130 / 0.101) < 1e-9 and abs(first['slow']['usual'] - 0.101) < 1e-9, 'factor', first['factor'])
    other = next(row for row in told['runs'] if row['name'] == 'other')
    check(other['factor'] is None and other['like'] == 0, 'another program is compared', other)
    check([advice['account'] for advice in told['advice']] == ['host.input', 'host.python'] and told['advice'][0]['runs'] == 40 and
          told['advice'][0]['culprit_runs'] == 40, told['advice'])
    told = summary.summarize(rows_of({**{'run_%d' % number: usual(number) for number in range(3)}, 'late': report(0.2, {'work.compute': 0.2})}))
    check([row['name'] for row in told['runs'] if row['slow']] == ['late'], 'three are enough')
    told = summary.summarize(rows_of({**{'run_%d' % number: usual(number) for number in range(2)}, 'late': report(0.2, {'work.compute': 0.2})}))
    check(not [row for row in told['runs'] if row['slow']], 'two are not enough')
    few = [report(0.001 * step, {'work.compute': 0.001 * step}) for step in (100, 105, 111, 130)]       # 3.4 spreads from three
    told = summary.summarize(rows_of({'run_%d' % number: one for number, one in enumerate(few)}))
    check(not [row for row in told['runs'] if row['slow']], 'noise of three is taken for the spread of many')
    apart = [report(0.1 * (1 + number % 3), {'work.compute': 0.1}) for number in range(9)]
    told = summary.summarize(rows_of({'run_%d' % number: one for number, one in enumerate(apart)}))
    check(not [row for row in told['runs'] if row['slow']], 'runs that differ anyway')
    kinds = {'run_%d' % number: usual(number, kind='A100' if number % 2 else 'H100') for number in range(8)}
    check({row['like'] for row in summary.summarize(rows_of(kinds))['runs']} == {3}, 'kinds of devices are mixed')
    return reports


def check_fleet():
    """By devices: 8 of which a quarter is lost, and 2 of which a half is."""
    told = summary.summarize(rows_of({'small': report(1, {'work.compute': 0.5, 'host.python': 0.5}, devices=2, advice=None),
                                      'large': report(1, {'work.compute': 0.75, 'comm.transfer': 0.25}, devices=8)}))
    check([row['name'] for row in told['runs']] == ['large', 'small'], 'the worst is that of which most devices are lost')
    got = [(one['account'], round(one['devices'], 9), round(one['share'], 9), one['most_in']) for one in told['accounts']]
    check(got == [('comm.transfer', 2, 0.2, 'large'), ('host.python', 1, 0.1, 'small'), ('work.compute', 7, 0.7, 'large')], got)
    check(len(told['advice']) == 1, told['advice'])
    nothing = summary.summarize(rows_of({'none': {**report(None, {'x': 1}, devices=0), 'tables': {}}}))
    check(nothing['accounts'] == [] and nothing['runs'][0]['lost'] is None, nothing)


def check_text(reports):
    told = summary.summarize(rows_of({**reports, 'bad\x1b[2Jname': usual(1)}))
    printed = text.report(told, 120, top=5)
    check(all(len(line) <= 120 for line in printed.splitlines() if not line.startswith('  late')), 'wider than the terminal')
    check('\x1b' not in text.report(told, 120), 'a name steers the terminal')
    for width in (40, 57, 80, 120):
        long = [line for line in text.report(told, width).splitlines() if len(line) > width]
        check(not long, 'wider than', width, long)
        check(max(map(len, text.runs_table(told['runs'], width) + text.accounts_table(told['accounts'], width, True))) <= width, 'tables', width)
        check('comm.wait' in text.report(told, width) and 'run_38' in text.report(told, width), 'cut too much', width)
    check([text.terminal_width(asked) for asked in (1, 39, 41, 300)] == [40, 40, 41, 300], 'widths')
    check('late: a step takes 130.0 ms, 1.29 x the median of the 40 other runs like it (101.0 ms)' in printed, printed[:900])
    check('comm.wait grew most, by 28.00 ms a step: comm.wait culprit' in printed, printed[:900])
    check('37 more with --top 0' in printed, printed)
    for seconds, want in ((None, '-'), (0, '0 s'), (1.5, '1.500 s'), (0.0123456, '12.35 ms'), (1e-4, '100.0 us'), (3e-9, '3.000 ns'), (0.99996, '1.000 s'),
                          (123.4, '123.4 s')):
        check(text.time(seconds) == want, 'time', seconds, text.time(seconds))
    check(text.cut('abcdefghij', 5) == 'ab\u2026ij', text.cut('abcdefghij', 5))
    stream = io.StringIO()
    text.as_csv(told['runs'], stream)
    lines = list(csv.DictReader(io.StringIO(stream.getvalue())))
    check(len(lines) == 42 and lines[0]['name'] == 'late' and float(lines[0]['step']) == 0.13, lines[0])
    stream = io.StringIO()
    text.rows(['a', 'b', 'c'], [(2 ** 53, 2 ** 53 + 1, None)], 'json', stream)
    check(json.loads(stream.getvalue()) == [{'a': 2 ** 53, 'b': str(2 ** 53 + 1), 'c': None}], 'rows', stream.getvalue())
    failed = [('u%d' % number, 'w') for number in range(30)]
    check(text.failure_lines(failed, False) == ['  u0 and 29 more: w'] and len(text.failure_lines(failed, True)) == 30, 'failures')
    check(len(text.failure_lines([(url, url) for url, _ in failed], False)) == 11, 'failures of many reasons')


# --- the engine -------------------------------------------------------------------------------------------------------

class Future:
    def __init__(self, key, error=None, value=None):
        self.key, self.error, self.value, self.status = key, error, value, 'error' if error else 'finished'

    def result(self):
        if self.error:
            raise self.error
        return self.value

    def release(self):
        pass


class KilledWorker(Exception):
    """Called as that of Dask."""


class Client:
    """Does each job when it is asked for the next; a job that kills takes those that run beside it along."""
    loop = None

    def __init__(self, kills):
        self.kills, self.going, self.log, self.dead = kills, [], [], set()

    def submit(self, function, job, pure, key):
        return Future(key, value=(function, job))

    def as_completed(self, futures, loop=None):
        return self

    def add(self, future):
        self.going.append(future)

    def __next__(self):
        killers = [future for future in self.going if future not in self.dead and self.kills.get(future.value[1]['key'], 0) > 0]
        if killers:                     # all that runs now is lost with the worker; who would have killed it next has not yet
            self.kills[killers[0].value[1]['key']] -= 1
            self.dead.update(self.going)
        future = self.going.pop(0)
        function, job = future.value
        self.log.append(job['key'])
        return Future(future.key, KilledWorker('dead')) if future in self.dead else Future(future.key, value=function(job))


def run_jobs(keys, function, kills=None, retries=2):
    client, answers = Client(dict(kills or {})), {}
    engine.needed, engine.carried = lambda module: client, lambda function: function
    engine.run(function, [{'key': key} for key in keys], client, retries, engine.Progress('files', 0), lambda job, answer: answers.__setitem__(job['key'], answer))
    return answers, client


def check_engine():
    done = lambda job: work.Answer(job['key'], made=b'x')       # noqa: E731
    answers, _ = run_jobs('abc', done)
    check(sorted(answers) == ['a', 'b', 'c'] and all(answer.made for answer in answers.values()), 'plain', answers)
    answers, client = run_jobs('abcd', done, kills={'b': 1})
    check(all(answer.made for answer in answers.values()) and len(answers) == 4, 'killed once', answers)
    answers, client = run_jobs('abcd', done, kills={'a': 1, 'b': 1}, retries=1)
    check(all(answer.made for answer in answers.values()) and len(answers) == 4, 'killed beside another, then once by itself', answers)
    answers, client = run_jobs('abcd', done, kills={'b': 1000})
    check([key for key in 'abcd' if answers[key].made] == ['a', 'c', 'd'] and 'died' in answers['b'].why, 'those beside a killer', answers)
    check(client.log.count('b') <= 4, 'a killer was tried', client.log.count('b'))
    tries = []

    def fails(job):
        tries.append(job['key'])
        return work.Answer(job['key'], why='planted', again=job['key'] == 'a')
    answers, _ = run_jobs('ab', fails)
    check(tries.count('a') == 3 and tries.count('b') == 1 and answers['a'].why == 'planted', 'tries', tries)


def check_addresses():
    """What is no address of a scheduler is said at once; no client is made where nobody listens, or something else."""
    for address, place in (('tcp://head:8786', ('head', 8786)), ('10.0.0.1:1', ('10.0.0.1', 1)), ('tls://[::1]:65535', ('::1', 65535)),
                           ('ws://h:80/x', ('h', 80)), ('inproc://a/1/2', None)):
        check(engine.check_address(address) == place, address, engine.check_address(address))
    for address in ('foo', 'http://h:80', 'tcp://h', 'tcp://h:0', 'tcp://h:65536', 'tcp://:8786', 'tcp://a b:1', '', 'tcp:h:1', '/tmp/s.json'):
        try:
            engine.check_address(address)
            check(False, 'an address', address)
        except engine.Error as error:
            check('tcp://head:8786' in str(error), error)
    with socket.create_server(('127.0.0.1', 0)) as silent:
        closed = socket.create_server(('127.0.0.1', 0))
        ports = [silent.getsockname()[1], closed.getsockname()[1]]
        closed.close()
        before, engine.SECONDS = engine.SECONDS, 0.2
        for port in ports:
            try:
                engine._connected(None, 'tcp://127.0.0.1:%d' % port)
                check(False, 'a scheduler', port)
            except engine.Error as error:
                check('no scheduler of Dask answers' in str(error), error)
        engine.SECONDS = before


def check_command():
    """Where Dask lacks it says so; options are those of the module."""
    plain = os.path.join(TMPDIR, 'python')
    os.makedirs(plain)
    with open(os.path.join(plain, 'python3'), 'w') as file:     # one without packages
        file.write('#!/bin/sh\nexec "%s" -S "$@"\n' % sys.executable)
    os.chmod(os.path.join(plain, 'python3'), 0o755)
    environment = {**os.environ, 'PATH': plain + ':' + os.environ['PATH']}
    done = subprocess.run([IDSPROF, 'fleet', 'report', TMPDIR], capture_output=True, text=True, env=environment)
    check(done.returncode == 2 and "-m pip install 'idsprof[fleet]'" in done.stderr and 'Traceback' not in done.stderr, done)
    done = subprocess.run([IDSPROF, 'fleet', 'report', TMPDIR], capture_output=True, text=True, env={**os.environ, 'PATH': os.path.join(TMPDIR, 'empty')})
    check(done.returncode == 2 and 'written in Python' in done.stderr, done)
    copied = os.path.join(TMPDIR, 'alone')
    shutil.copyfile(IDSPROF, copied)
    os.chmod(copied, 0o755)
    environment.pop('PYTHONPATH', None)
    done = subprocess.run([copied, 'fleet', 'report', TMPDIR], capture_output=True, text=True, env=environment)
    check(done.returncode == 2 and 'the Python module lacks' in done.stderr and 'Traceback' not in done.stderr, done)
    for arguments, word in ((['repot', 'x'], 'report, diff, query'), (['report'], 'at least 2'), (['report', 'x', '--json', '--csv'], 'exclude each other')):
        done = subprocess.run([IDSPROF, 'fleet', *arguments], capture_output=True, text=True)
        check(done.returncode == 2 and word in done.stderr, arguments, done)
    helped = subprocess.run([IDSPROF, 'fleet', '-h'], capture_output=True, text=True).stdout
    module = subprocess.run([sys.executable, '-m', 'idsprof.fleet', '-h'], capture_output=True, text=True, env={**os.environ, 'PYTHONPATH': HOOK}).stdout
    names = [set(re.findall(r'--[a-z-]+', one)) for one in (helped, module)]
    check(names[0] == names[1] and len(names[0]) > 10, 'options', names)


def check_stopped():
    """A signal ends the command also where Python loses what its handler raises."""
    program.stop(1)
    try:
        check(False, 'stopped, and it goes on', program.run(['--version']))
    except KeyboardInterrupt:
        program._is_stopped = False


def check_beginning():
    """A signal in the middle of a process's beginning: the process is ended, too."""
    made, path, handler = [], program.path, signal.signal(signal.SIGINT, ending._on_signal)

    class Popen(subprocess.Popen):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            made.append(self)
            threading.Thread(target=program.stop, args=(1,)).start()    # as it is done in the command
            signal.raise_signal(signal.SIGINT)

    whole, subprocess.Popen, program.path = subprocess.Popen, Popen, lambda: 'sleep'
    try:
        check(False, 'a signal, and it goes on', program.run(['600']))
    except KeyboardInterrupt:
        pass
    finally:
        subprocess.Popen, program.path, program._is_stopped = whole, path, False
        signal.signal(signal.SIGINT, handler)
    check([child.returncode for child in made] == [-signal.SIGTERM], 'what began when the signal came is left', [child.pid for child in made])
    for child in made:
        child.kill()


DEAF = """
import signal, sys, threading, time
from idsprof.fleet import ending, program
program.path = lambda: 'sleep'
ending.listen(lambda: print('ended', flush=True))
with program.folder() as folder:
    threading.Thread(target=program.run, args=(['600'],), daemon=True).start()
    while not program._all:
        time.sleep(0.01)
    signal.pthread_sigmask(signal.SIG_BLOCK, ending.SIGNALS)
    try:
        print(folder, *(child.pid for child in program._all), flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:       # the signal came before it began to wait
        threading.Event().wait()
"""


def check_deaf():
    """A main thread that does not hear of the signal, as where it had just begun to wait: another thread does."""
    for number, code in ((signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 2)):
        child = subprocess.Popen([sys.executable, '-c', DEAF], stdout=subprocess.PIPE, text=True, env={**os.environ, 'PYTHONPATH': HOOK})
        folder, pid = child.stdout.readline().split()
        child.send_signal(number)
        try:
            output = child.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            check(False, 'a signal that the main thread does not hear', number)
            os.kill(int(pid), signal.SIGKILL)
            child.kill()
            output = child.communicate()[0]
        check(child.returncode == code and output == 'ended\n', number, child.returncode, output)
        check(not os.path.exists(folder) and not os.path.exists('/proc/' + pid), number, 'left', folder, pid)


def main():
    check_names()
    check_places()
    check_store()
    check_named()
    check_laid()
    check_lacking()
    check_damaged()
    check_addresses()
    reports = check_slow()
    check_fleet()
    check_text(reports)
    check_engine()
    check_command()
    check_stopped()
    check_beginning()
    check_deaf()
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
