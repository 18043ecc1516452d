#!/usr/bin/env python3
"""idsprof list: what is found in folders and archives, what the paths say, order, columns; and reports of members of archives.

Environment: IDSPROF (the binary), IDS_SOURCE_DIR.
"""
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TESTDATA = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def same(what, got, wanted):
    check(got == wanted, f'{what}: {got!r}, not {wanted!r}')


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def listed(*arguments, code=0):
    run = idsprof('list', '--json', *arguments)
    same(f'exit of {arguments}', run.returncode, code)
    return json.loads(run.stdout)['runs'], run.stderr


def the_xplane(name):
    return next((TESTDATA / name).rglob('*.xplane.pb'))


def put(target, content):
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        shutil.copyfile(content, target)
    else:
        target.write_bytes(content)
    os.utime(target, (1700000000, 1700000000))  # 2023-11-14 22:13:20 UTC


def chrome(events):
    return json.dumps({'schemaVersion': 1, 'traceEvents': [
        {'ph': 'X', 'cat': 'kernel', 'name': f'k{i}', 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5} for i in range(events)]}).encode()


def seed_layouts(root):
    """Runs of two methods on 1 and 4 GPUs, and of two training steps."""
    for method in 'lcam', 'tad':
        for gpus in 1, 4:
            stamp = f'2026_01_02_03_{gpus:02}_05'
            put(root / f'tensorboard_logs/{gpus}gpu_20260102_030405/{method}_trace/plugins/profile/{stamp}/vm.xplane.pb',
                the_xplane('cpu1_annotated' if method == 'tad' else 'cpu8_annotated'))
    for step in 100, 2000:
        put(root / f'profiles/step_{step:08}/plugins/profile/2026_02_0{1 + step // 2000}_00_00_00/vm.xplane.pb', the_xplane('cpu1_async'))


def check_labels(root):
    seed_layouts(root)
    runs, _ = listed(root)
    same('labels', sorted((run['method'], run['gpus'], run['step']) for run in runs if run['gpus']),
         [('lcam', 1, None), ('lcam', 4, None), ('tad', 1, None), ('tad', 4, None)])
    same('steps', sorted(run['step'] for run in runs if run['step']), [100, 2000])
    same('names', len({run['name'] for run in runs}), 6)
    tad = next(run for run in runs if run['method'] == 'tad' and run['gpus'] == 4)
    same('time of a recording', (tad['time'][:10], tad['time'][-1], tad['time_source']), ('2026-11-21', 'Z', 'recording'))
    same('forms', tad['forms'], ['xplane'])
    figures = json.loads(idsprof('report', TESTDATA / 'cpu1_annotated', '--json').stdout)['metrics']
    same('events', tad['events'], figures['run.events']['value'])
    one, _ = listed(root / 'profiles/step_00000100')
    same('the folder that was asked for says it too', one[0]['step'], 100)


def check_order(root):
    runs, _ = listed(root, '--sort', 'label')
    same('by label', [(run['method'], run['gpus'], run['step']) for run in runs if run['gpus']],
         [('lcam', 1, None), ('lcam', 4, None), ('tad', 1, None), ('tad', 4, None)])
    for column in 'time', 'run', 'method', 'step', 'gpus', 'events', 'steps', 'window', 'size', 'hosts', 'devices', 'form', 'state':
        up, down = (listed(root, '--sort', sign + column)[0] for sign in ('', '-'))
        key = {'run': 'name', 'size': 'bytes', 'form': 'forms'}.get(column, column)
        values = [run[key] for run in up if run[key] is not None]
        check(values == sorted(values), f'--sort {column}: {values}')
        same(f'--sort -{column}', [run[key] for run in down], [run[key] for run in up][::-1])
        same(f'--sort {column} keeps all', len(up), 6)
    newest, _ = listed(root, '--newest', '2')
    same('--newest', [run['step'] for run in newest], [100, 2000])
    same('--newest of all', len(listed(root, '-n', '99')[0]), 6)
    bad = idsprof('list', root, '--sort', 'colour')
    check(bad.returncode == 2 and 'colour' in bad.stderr and 'window' in bad.stderr, f'--sort colour: {bad.stderr}')


def check_table(root):
    lines = idsprof('list', root, '--sort', '-events').stdout.splitlines()
    check(all(len(line) <= 120 for line in lines), 'a line of more than 120 columns')
    same('titles', lines[0].split(), ['run', 'time', 'label', 'devices', 'form', 'state', 'events', 'window', 'steps'])
    check(any('tad, 4 GPU' in line and '2026-11-21 ' in line and '249.9 ms' in line for line in lines), f'no line of tad: {lines}')
    plain = idsprof('list', TESTDATA / 'cpu1_plain').stdout.splitlines()
    same('without labels', plain[0].split()[:3], ['run', 'time', 'devices'])


def check_times(root):
    """The recording's own time counts before the folder's, and that before the file's, which is called so."""
    began = 1_750_000_000  # 2025-06-15 15:06:40 UTC
    since_1970 = json.dumps({'traceEvents': [{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': began * 10**6, 'dur': 5}]})
    based = json.dumps({'baseTimeNanoseconds': (began - 5_000_000) * 10**9, 'traceEvents': [
        {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 5_000_000 * 10**6, 'dur': 5}]})
    near = json.dumps({'baseTimeNanoseconds': (began - 7200) * 10**9, 'traceEvents': [
        {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 7200 * 10**6, 'dur': 5}]})
    put(root / 'since.pt.trace.json', since_1970.encode())
    put(root / 'based.json', based.encode())
    put(root / 'near.json', near.encode())
    put(root / 'plugins/profile/2026_01_02_03_04_05/vm.trace.json.gz', gzip.compress(chrome(3)))
    put(root / 'none.json', chrome(3))
    found = {(run['time'], run['time_source']) for run in listed(root)[0]}
    same('times', found, {('2025-06-15T15:06:40Z', 'recording'), ('2026-01-02T03:04:05', 'folder'), ('2023-11-14T22:13:20Z', 'file')})
    text = idsprof('list', root, '--full').stdout
    same("file's time", [line.split()[0] for line in text.splitlines() if "file's time 2023-11-14 22:13" in line], ['none'])
    same('own times', len(re.findall(r'(?<!time )2025-06-15 15:06', text)), 3)


def check_words(root):
    """Devices are called what the folders call them."""
    for folder in 'lcam_4_devices', 'lcam_8tpu', 'lcam_1_core':
        put(root / folder / 'trace/plugins/profile/2026_01_02_03_04_05/vm.xplane.pb', the_xplane('cpu1_plain'))
    text = idsprof('list', root).stdout
    check(all(words in text for words in ('lcam, 4 devices', 'lcam, 8 TPU', 'lcam, 1 device ')), f'words for devices: {text}')


def check_states(root):
    whole = the_xplane('cpu8_annotated').read_bytes()
    put(root / 'cut/vm.xplane.pb', whole[:20000])
    put(root / 'bad/vm.xplane.pb', b'\xff' * 100)
    put(root / 'both/vm.xplane.pb', whole)
    put(root / 'both/vm.trace.json.gz', gzip.compress(chrome(3)))
    put(root / 'torch/a.json', chrome(4))
    put(root / 'torch/settings.json', b'{"traces": []}')
    put(root / 'ranks/rank0.json.gz', gzip.compress(chrome(5)))
    put(root / 'ranks/rank1.json.gz', gzip.compress(chrome(6))[:-3])
    runs, _ = listed(root, code=2)
    found = {run['name']: run for run in runs}
    same('runs', sorted(found), ['a', 'bad', 'both', 'cut', 'ranks'])
    same('states', {name: run['state'] for name, run in found.items()},
         {'a': 'whole', 'bad': 'corrupt', 'both': 'whole', 'cut': 'truncated', 'ranks': 'truncated'})
    same('forms', (found['both']['forms'], found['a']['forms']), (['xplane', 'json'], ['json']))
    same('ranks', (found['ranks']['hosts'], found['ranks']['events']), (2, 11))
    same('time of a file', (found['a']['time'], found['a']['time_source']), ('2023-11-14T22:13:20Z', 'file'))
    check_times(root / 'times')
    check('unexpected end' in found['ranks']['reason'], f"ranks: {found['ranks']['reason']}")
    text = idsprof('list', root).stdout
    check(re.search(r'^  both +2026-11-21 .* both +whole', text, re.M), f'no line of both:\n{text}')
    check(re.search(r'^  ranks is truncated: \S.*: gzip: unexpected end', text, re.M), f'no reason:\n{text}')


def before_events(head, events=3):
    return (b'{' + head + b',' + chrome(events)[1:])


def check_not_taken(root, archive):
    """A trace is known by its keys, however much stands before its list; what is none is named, with the reason."""
    texts = {'long': b'"metadata": {"x": "' + b'y' * 30000 + b'", "l": [[], {"traceEvents": [1]}]}', 'huge': b'"metadata": "' + b'z' * 900000 + b'"',
             'keys': b', '.join(b'"k%d": [%d, {"a": "]}"}]' % (i, i) for i in range(2000))}
    for name, head in texts.items():
        put(root / f'{name}.json', before_events(head))
        put(root / f'packed/{name}.json.gz', gzip.compress(before_events(head)))
    put(root / 'array/late.json', b'[{"name": "k", "args": {"x": "' + b'y' * 20000 + b'"}, "ts": 1, "dur": 1, "pid": 0, "tid": 7, "ph": "X"}]')
    bad = {'settings.json': b'{"traces": []}', 'inside.json': b'{"metadata": {"traceEvents": []}, "ph": 7}', 'data.json': b'[{"id": 1, "a": {"ph": 1}}]',
           'long_data.json': b'{"rows": [' + b'{"ph": "x"},' * 9000 + b'0]}', 'empty.json': b'', 'text.json': b'no JSON', 'more/none.json.gz': gzip.compress(b'[1, 2]')}
    for name, content in bad.items():
        put(root / name, content)
    put(root / 'pair/vm.xplane.pb', the_xplane('cpu1_plain'))
    put(root / 'pair/vm.trace.json.gz', gzip.compress(chrome(3)))
    put(root / 'pair/idsprof-run.json', b'{"command": "python train.py"}')    # is no stranger there
    with tarfile.open(archive, 'w:gz') as tar:
        tar.add(root, arcname='.')
    for top in root, archive:
        listing = json.loads(idsprof('list', '--json', top).stdout)
        taken = {path for run in listing['runs'] for path in run['files']}
        same(f'taken from {top.name}', sorted(taken), sorted(f'{top}/{name}' for name in ('long.json', 'huge.json', 'keys.json', 'packed/long.json.gz', 'packed/huge.json.gz',
             'packed/keys.json.gz', 'array/late.json', 'pair/vm.xplane.pb')))
        same(f'events in {top.name}', sorted(run['events'] for run in listing['runs'])[:7], [1] + 6 * [3])
        passed = {entry['path']: entry['reason'] for entry in listing['not_taken']}
        same(f'not taken from {top.name}', sorted(passed), sorted(f'{top}/{name}' for name in (*bad, 'pair/vm.trace.json.gz', 'pair/idsprof-run.json')))
        check('traceEvents' in passed[f'{top}/settings.json'] and 'empty' in passed[f'{top}/empty.json'] and 'no events' in passed[f'{top}/data.json'],
              f'reasons: {passed}')
        lines = idsprof('list', top).stdout.splitlines()
        check('  7 files were looked at and not taken' in lines, f'no count: {lines}')
        text = ' '.join(' '.join(lines).split())
        for name in bad:
            check(f'{top}/{name}: ' in text, f'{name} is not in {text}')
        check('vm.trace.json.gz' not in text, 'a file of a run that is listed')
    for name in texts:
        check(idsprof('report', '--no-cache', root / f'{name}.json').returncode == 0, f'report of {name}')
    only = root.with_name('only')
    put(only / 'settings.json', bad['settings.json'])
    run = idsprof('list', only)
    check(run.returncode == 2 and "1 file was looked at and not taken: '" in run.stderr and 'settings.json' in run.stderr, f'none: {run.stderr}')


def make_archives(folder, root):
    """The same files in every kind of archive: {archive: how it is made}."""
    for ending, mode in ('.tar', 'w'), ('.tar.gz', 'w:gz'), ('.tar.xz', 'w:xz'):
        with tarfile.open(folder / f'runs{ending}', mode) as archive:
            archive.add(root, arcname='.')
        yield folder / f'runs{ending}'
    with zipfile.ZipFile(folder / 'runs.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob('*.xplane.pb')):
            archive.write(path, path.relative_to(root))
    yield folder / 'runs.zip'
    shutil.copyfile(folder / 'runs.tar.gz', folder / 'attachment')  # content decides
    yield folder / 'attachment'


def check_archives(folder, root):
    keys = 'gpus', 'step', 'events', 'steps', 'window', 'bytes', 'state', 'devices'
    wanted = [[run[key] for key in keys] for run in listed(root)[0]]
    for archive in make_archives(folder, root):
        for options in [], ['--no-cache']:
            runs, stderr = listed(archive, *options)
            same(f'runs in {archive.name}', [[run[key] for key in keys] for run in runs], wanted)
            same(f'words about {archive.name}', stderr, '')
        same(f'methods in {archive.name}', [run['method'] for run in runs][:4], ['lcam', 'tad', 'lcam', 'tad'])
        check(runs[0]['path'].startswith(f'{archive}/'), f'path {runs[0]["path"]}')
    tar = folder / 'runs.tar.gz'
    name = next(run['name'] for run in listed(tar)[0] if run['method'] == 'tad' and run['gpus'] == 4)
    inside = json.loads(idsprof('report', tar, '--run', name, '--json').stdout)
    outside = json.loads(idsprof('report', TESTDATA / 'cpu1_annotated', '--json').stdout)
    same('metrics of a member', inside['metrics'], outside['metrics'])


def check_cache(folder):
    """A second archive of the same name and path is not answered with the first one's figures."""
    archive = folder / 'changing.tar'
    for run, events in ('cpu1_annotated', None), ('cpu8_annotated', None):
        with tarfile.open(archive, 'w') as tar:
            tar.add(the_xplane(run), arcname='vm.xplane.pb')
        events = json.loads(idsprof('report', TESTDATA / run, '--json').stdout)['metrics']['run.events']['value']
        same(f'events of {run} in the archive', listed(archive)[0][0]['events'], events)


def check_hostile(folder):
    archive = folder / 'hostile.tar'
    content = the_xplane('cpu1_annotated').read_bytes()
    with tarfile.open(archive, 'w') as tar:
        for name, kind in (('../up.xplane.pb', tarfile.REGTYPE), ('/abs.xplane.pb', tarfile.REGTYPE), ('l.xplane.pb', tarfile.SYMTYPE),
                           ('h.xplane.pb', tarfile.LNKTYPE), ('d.xplane.pb', tarfile.CHRTYPE), ('in.tar.gz', tarfile.REGTYPE),
                           ('ok/vm.xplane.pb', tarfile.REGTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, '/etc/passwd'
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            tar.addfile(member, io.BytesIO(content))
    runs, stderr = listed(archive)
    same('runs of a hostile archive', [(run['name'], run['state']) for run in runs], [('ok', 'whole')])
    for words in ("2 paths that lead out of it (the first: '../up.xplane.pb')", "2 links (the first: 'l.xplane.pb')",
                  "1 thing that is no plain file ('d.xplane.pb')", "1 archive inside of it ('in.tar.gz')"):
        check(words in stderr, f'{words!r} is not in {stderr!r}')
    data = archive.read_bytes()
    archive.write_bytes(data[:-20000])  # behind the header of ok/vm.xplane.pb
    runs, stderr = listed(archive, code=2)
    same('runs of a cut archive', [(run['name'], run['state']) for run in runs], [('ok', 'truncated')])
    check('cut or damaged' in stderr, f'cut: {stderr!r}')
    archive.write_bytes(b'no archive at all')
    run = idsprof('list', archive)
    check(run.returncode == 2 and "hostile.tar': not a tar or zip" in run.stderr, f'no archive: {run.stderr!r}')
    with zipfile.ZipFile(folder / 'none.zip', 'w') as empty:
        empty.writestr('readme.txt', 'nothing')
    run = idsprof('report', folder / 'none.zip')
    check(run.returncode == 2 and "no profile in" in run.stderr, f'no profile: {run.stderr!r}')


def check_newest(folder):
    """Profiles in one folder whose names say nothing: the last written one, not the last by name, and what else is there is said."""
    put(folder / 'z.json', chrome(3))
    put(folder / 'a.json', chrome(4))
    put(folder / 'm.json', chrome(5))
    os.utime(folder / 'a.json', (1700000100, 1700000100))
    done = idsprof('report', folder, '--json')
    same('the newest file', json.loads(done.stdout)['run']['name'], 'a')
    check('3 runs are here' in done.stderr and 'newest, a (' in done.stderr, f'what else is there: {done.stderr!r}')
    same('as list has it', [run['name'] for run in listed(folder, '--newest', '1')[0]], ['a'])
    done = idsprof('report', folder, '--run', 'm', '--json')
    check(not done.stderr and json.loads(done.stdout)['run']['name'] == 'm', f'a chosen one: {done.stderr!r}')


with tempfile.TemporaryDirectory() as name:
    os.environ['XDG_CACHE_HOME'] = f'{name}/cache'
    top = Path(name)
    check_labels(top / 'seed')
    check_order(top / 'seed')
    check_table(top / 'seed')
    check_words(top / 'words')
    check_newest(top / 'unrelated')
    check_states(top / 'states')
    (top / 'archives').mkdir()
    check_archives(top / 'archives', top / 'seed')
    check_cache(top / 'archives')
    check_not_taken(top / 'passed', top / 'archives/passed.tar.gz')
    check_hostile(top / 'archives')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
