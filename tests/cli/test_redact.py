#!/usr/bin/env python3
"""`extract --redact` and `report --redact`: nothing of what names people, machines, files and arguments is left, and the figures stay.

Secrets are planted in every place of a profile that holds text, and in places that no reader knows; then every output is searched for them,
unpacked. Of recorded traces the secrets are taken from the input itself: all paths, names of files and of hosts that it holds.

Environment: IDSPROF, IDS_SOURCE_DIR; IDS_SHARED (recorded traces of others; optional).  Exit: 0, 1.
"""
import base64
import csv
import gzip
import io
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
IDSPROF = os.environ['IDSPROF']
DATA = SOURCE / 'testdata'
FORMATS = ['xplane', 'chrome', 'perfetto', 'csv', 'folded', 'hlo']
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
failures = checks = 0


def check(ok, *what):
    global failures, checks
    checks += 1
    if not ok:
        failures += 1
        print('FAIL', *what)


def idsprof(*arguments, status=0):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, timeout=100)
    check(done.returncode == status, arguments, done.returncode, done.stderr[-300:])
    return done


# ---- an XSpace with a secret in every place ----

def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def put(field, value):
    """A field: an integer, or a text, bytes or message."""
    if isinstance(value, int):
        return varint(field << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def entry(field, key, value):
    return put(field, put(1, key) + put(2, value))


# Names are invented: none is a word of any language, so that what is found is a leak. A secret ends in "qx".
PRIVATE = ['zhostqx', 'zuserqx', 'zprojqx', 'zscriptqx', 'zdirqx', 'zbucketqx', 'zpersonqx', 'zmailqx', '10.11.12.13', 'zdumpqx', 'zvalueqx',
           'zfreeqx', 'zbytesqx', 'zmodelqx', 'zframeqx', 'zconfigqx', 'zliteralqx', 'zunknownqx', 'zattributeqx', 'zshardqx', 'zoptionsqx',
           'zerrorqx', 'znodeqx', 'zcallqx', 'zwindowsqx', 'fe80::1:22:333', 'zargumentqx', 'zcommaqx', 'zdeepqx', 'zlongqx', 'zkeyqx', 'zdotqx', 'aa:bb:cc:dd:ee:ff', 'zsecretqx', 'zquotedqx']
NAMES = ['zfunctionqx', 'zthreadqx', 'zscopeqx', 'zkernelqx', 'zregionqx', 'zmoduleqx', 'zoperationqx', 'ztargetqx', 'zparameterqx']


# The same secret where paths and credentials are inside of JSON, addresses of the web and shells; and machines with a domain.
WRITTEN_OTHERWISE = ['next=%2Fhome%2Fzpersonqx%2Fzdirqx', 'C%3A%5CUsers%5Czpersonqx%5Czdirqx', r'"\/home\/zpersonqx\/zdirqx"', r'"C:\\Users\\zpersonqx\\zdirqx"',
                     '{"user": "zpersonqx", "x": 1}', "{'password':'zsecretqx'}", 'api_key: "zsecretqx one"', 'Authorization: Bearer zsecretqx', 'bearer zsecretqx',
                     'sk-proj-zsecretqx-1234567890', '--name "zvalueqx and zargumentqx"', "--name='zargumentqx zvalueqx'", 'git@code.example:zprojqx/zdirqx.git',
                     'ssh znodeqx.a.de', 'ssh znodeqx.zdirqx.example', '$HOME/zdirqx/a', '${ROOT}/zdirqx', '%USERPROFILE%\\zdirqx\\a',
                     r'{\"token\":\"zsecretqx\"}', 'ssh znodeqx.zdirqx.gg', 'ssh znodeqx.co.id', '/v/site-packages/torch/a.py, /home/zpersonqx/zdirqx.py',
                     '/v/site-packages/torch/nn/home/zpersonqx/x.py', '/v/site-packages/torch/zuserqx/x.py', '/v/site-packages/numpy/of zuserqx/x.py',
                     'zuserqxes and unzuserqx', 'loadZuserqxData', 'on zhostqx-17']


def program():
    location = put(1, 1) + put(2, 1) + put(3, 7)
    frames = (put(1, '/home/zuserqx/zprojqx/zframeqx.py') + put(2, 'zfunctionqx') + put(3, location) + put(4, put(1, 1)))
    metadata = put(2, 'jit(zmoduleqx)/zscopeqx/dot_general') + put(3, '/home/zuserqx/zprojqx/zmodelqx.py') + put(4, 12) + put(99, 'zunknownqx')
    shape = put(2, 11) + put(3, bytes([8, 8]))
    loop = put(1, 'while.1') + put(2, 'while') + put(3, shape) + put(35, 3) + put(43, '{"known_trip_count":{"n":"3"},"backend":"zconfigqx"}')
    call = (put(1, 'zoperationqx.2') + put(2, 'custom-call') + put(3, shape) + put(7, metadata) + put(28, 'ztargetqx') + put(35, 2) + put(43, 'zconfigqx')
            + put(8, put(4, 'zliteralqx')) + put(200, 'zunknownqx') + put(37, put(1, 'zattributeqx')) + put(40, put(1, 1) + put(7, put(3, '/srv/zshardqx/a.py'))))
    parameter = put(1, 'zparameterqx.1') + put(2, 'parameter') + put(3, shape) + put(9, 0) + put(35, 1)
    computation = put(1, 'main') + put(2, parameter) + put(2, call) + put(2, loop) + put(5, 4) + put(6, 2) + put(77, 'zunknownqx')
    module = put(1, 'jit_zmoduleqx') + put(2, 'main') + put(3, computation) + put(5, 9) + put(6, 4) + put(17, frames) + put(99, 'zunknownqx')
    return put(1, module) + put(50, 'zunknownqx')


def made_xspace(path, host):
    keys = ['hlo_op', 'hlo_module', 'source', 'long_name', 'note', 'raw', 'cwd', 'profile_options', 'hlo_proto', 'program_id', 'tf_op', 'zkeyqx.org/owner@zkeyqx']
    key = {name: i + 1 for i, name in enumerate(keys)}

    def stat(name, value, field=5):
        return put(1, key[name]) + put(field if not isinstance(value, int) else 3, value)
    names = ['zkernelqx', '$zscriptqx.py:12 zfunctionqx', '/home/zuserqx/My zdirqx/zscriptqx.py(33): zfunctionqx', 'copy for zuserqx of zhostqx-17',
             'reading gs://zbucketqx/run/1', 'mail to zpersonqx@zmailqx.org', 'peer 10.11.12.13:80', 'peer fe80::1:22:333', 'XLA_FLAGS=zdumpqx',
             'python a --owner zvalueqx --name=zvalueqx', 'host znodeqx.cluster.example.org', 'C:\\Users\\zuserqx\\zwindowsqx.py',
             '/data/step=5/zcommaqx,1/x', '~zuserqx/zdeepqx/zdeepqx', 'zregionqx', 'open "/srv/a b/zdeepqx"', 'zoperationqx.2',
             'dot, metadata={op_name="jit(zmoduleqx)" source_file="/home/zuserqx/zlongqx.py"}', 'zuserqx_step', 'ZUSERQX', 'run ./zdotqx/bin/run', 'in ../zdotqx/x', 'at aa:bb:cc:dd:ee:ff', 'pw=zsecretqx', 'token: zsecretqx',
             'open "/zquotedqx b/zquotedqx c"', *WRITTEN_OTHERWISE]
    tables = b''.join(entry(4, i + 1, put(1, i + 1) + put(2, name) + put(99, 'zunknownqx')) for i, name in enumerate(names))
    tables += b''.join(entry(5, number, put(1, number) + put(2, name)) for name, number in key.items())
    stats = [stat('source', '/home/zuserqx/zprojqx/zscriptqx:5'), stat('long_name', 'source_file="/home/zuserqx/zlongqx.py"'), stat('note', 'zfreeqx words'),
             stat('raw', b'zbytesqx', 6), stat('cwd', '/home/zuserqx/zargumentqx'), stat('tf_op', 'zscopeqx/dot'), stat('zkeyqx.org/owner@zkeyqx', 5)]
    events = b''.join(put(4, put(1, i + 1) + put(2, i * 1000000) + put(3, 900000) + (b''.join(put(4, s) for s in stats) if i == 0 else b'')) for i in range(len(names)))
    host_plane = (put(2, '/host:CPU') + put(3, put(1, 1) + put(2, 'zthreadqx of python /home/zuserqx/zscriptqx.py --owner zvalueqx') + put(3, 5) + events) + tables
                  + put(6, stat('cwd', '/home/zuserqx/zprojqx')) + put(6, stat('profile_options', put(2, 3) + put(9, 'zoptionsqx'), 6)) + put(99, 'zunknownqx'))
    op = stat('hlo_op', 'zoperationqx.2'), stat('hlo_module', 'jit_zmoduleqx'), stat('program_id', 9)
    device = (put(2, '/device:GPU:0') + put(3, put(1, 1) + put(2, 'Stream #1(Kernel)') + put(3, 5)
              + b''.join(put(4, put(1, 1) + put(2, i * 1000000) + put(3, 500000) + b''.join(put(4, s) for s in op)) for i in range(5))) + tables)
    metadata = put(2, '/host:metadata') + entry(4, 1, put(1, 1) + put(2, 'jit_zmoduleqx(9)') + put(5, stat('hlo_proto', program(), 6)))
    metadata += b''.join(entry(5, number, put(1, number) + put(2, name)) for name, number in key.items())
    path.write_bytes(put(1, host_plane) + put(1, device) + put(1, metadata) + put(2, 'zerrorqx: /home/zuserqx/x') + put(4, host) + put(99, 'zunknownqx'))


def made_json(path):
    events = [
        {'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': 'python3 /home/zuserqx/zscriptqx.py --owner zvalueqx'}},
        {'ph': 'M', 'pid': 1, 'name': 'process_labels', 'args': {'labels': 'node zhostqx-17 of zuserqx'}},
        {'ph': 'M', 'pid': 1, 'tid': 1, 'name': 'thread_name', 'args': {'name': 'zthreadqx (/home/zuserqx/zprojqx)'}},
        {'ph': 'X', 'cat': 'cpu_op', 'name': 'zoperationqx', 'pid': 1, 'tid': 1, 'ts': 10, 'dur': 5,
         'args': {'External id': 1, 'Input Dims': [[8, 16]], 'Concrete Inputs': ['zargumentqx', '/home/zuserqx/zprojqx'], 'Call stack': '/home/zuserqx/zdirqx/a.py(3): zfunctionqx;/usr/lib/python3.11/site-packages/torch/nn/m.py(1): g;/home/zpersonqx/zdirqx.py(7): zfunctionqx',
                  'source_stack': '/usr/lib/python3.11/site-packages/jax/a.py:1\n/home/zpersonqx/zdirqx.py:220:3'}},
        {'ph': 'X', 'cat': 'python_function', 'name': 'zprojqx/zscriptqx.py(12): zfunctionqx', 'pid': 1, 'tid': 1, 'ts': 9, 'dur': 8, 'args': {'Python id': 1}},
        {'ph': 'X', 'cat': 'user_annotation', 'name': 'zregionqx', 'pid': 1, 'tid': 1, 'ts': 8, 'dur': 10, 'args': {'note': 'zfreeqx', 'peer': '10.11.12.13'}},
        {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 11, 'dur': 2, 'args': {'correlation': 7, 'External id': 1}},
        {'ph': 'X', 'cat': 'kernel', 'name': 'zkernelqx<float>', 'pid': 0, 'tid': 7, 'ts': 14, 'dur': 20, 'args': {'correlation': 7, 'device': 0, 'stream': 7, 'kernel_file': '/srv/zdeepqx/k.py'}},
    ]
    whole = {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'Tesla V100', 'computeMajor': 7, 'computeMinor': 0, 'numSms': 80}],
             'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1, 'pg_config': 'zfreeqx'}, 'traceName': '/home/zuserqx/zprojqx/t.json', 'traceEvents': events}
    with gzip.open(path, 'wt') as file:
        json.dump(whole, file)


# ---- what came out ----

def unpacked(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def shown(page):
    """A page holds its data packed."""
    packed = [base64.b64decode(text) for text in re.findall(rb'H4sI[A-Za-z0-9+/=]{40,}', page)]
    check(packed or b'<html' not in page, 'a page with data')
    return page + b''.join(gzip.decompress(data) for data in packed)


def outputs(folder, run, *options):
    """Every form in which the run can be given to others: what it is called, and its bytes."""
    for form in FORMATS:
        out = folder / form
        folder.mkdir(exist_ok=True)
        done = subprocess.run([IDSPROF, 'extract', str(run), '-f', form, '-o', str(out), '--force', '-q', *options], capture_output=True, timeout=100)
        check(done.returncode == 0 or (done.returncode == 1 and form in ('hlo', 'folded')), run, form, done.returncode, done.stderr[-300:])
        for path in sorted(out.glob('*')) if out.exists() else []:
            yield form + ': ' + path.name, path.name.encode() + b'\n' + unpacked(path)
    for form in (['--json'], ['--csv'], ['--full', '--top', '0'], ['--markdown'], ['--html', '-']):
        yield 'report ' + form[0], shown(idsprof('report', run, *form, *options).stdout)


def check_planted(folder):
    made_xspace(folder / 'zhostqx-17.xplane.pb', 'zhostqx-17')
    made_json(folder / 'zhostqx-17_123.trace.json.gz')
    (folder / 'box').mkdir()
    made_xspace(folder / 'box' / 'zhostqx-17.xplane.pb', 'zhostqx-17')
    with tarfile.open(folder / 'zprojqx.tar.gz', 'w:gz') as archive:
        archive.add(folder / 'box' / 'zhostqx-17.xplane.pb', 'plugins/profile/1/zhostqx-17.xplane.pb')
    for run in ('zhostqx-17.xplane.pb', 'zhostqx-17_123.trace.json.gz', 'zprojqx.tar.gz'):
        held = unpacked(folder / run).lower()
        for options, secrets in ((['--redact'], PRIVATE), (['--redact-names'], PRIVATE + NAMES)):
            said = 0
            for what, data in outputs(folder / ('out ' + run + options[0]), folder / run, *options):
                said += b'anon' in data
                found = [secret for secret in secrets if secret.encode() in data.lower()]
                check(not found, run, options, what, found, [data[max(0, data.lower().index(s.encode()) - 60):][:120] for s in found[:2]])
            check(said >= 8, run, options, 'outputs with pseudonyms', said)
    check(b'zunknownqx' in held or b'zunknownqx' in unpacked(folder / 'zhostqx-17.xplane.pb'), 'the input holds unknown fields')
    plain = b''.join(data for _, data in outputs(folder / 'plain', folder / 'zhostqx-17.xplane.pb'))
    check(all(secret.encode() in plain.lower() for secret in ('zhostqx', 'zuserqx', 'zfreeqx', 'zbytesqx', 'zliteralqx')), 'without --redact they are there')


def check_hosts(folder):
    """Hosts of one run sort as before, though their names are others."""
    run = folder / 'hosts' / 'plugins' / 'profile' / '1'
    run.mkdir(parents=True)
    for number in range(3):
        made_xspace(run / ('zhostqx-%d.xplane.pb' % number), 'zhostqx-%d' % number)
    idsprof('extract', run, '-f', 'xplane', '--redact', '-o', folder / 'given', '-q')
    names = sorted(path.name for path in (folder / 'given').iterdir())
    check([name[:9] for name in names] == ['0000-anon', '0001-anon', '0002-anon'], names)
    idsprof('extract', run, '-f', 'xplane', '-o', folder / 'kept', '-q')
    check(not differences(figures(folder / 'kept'), figures(folder / 'given')), differences(figures(folder / 'kept'), figures(folder / 'given'))[:3])
    check(json.loads(idsprof('report', folder / 'given', '--json').stdout)['run']['hosts'] == 3, 'three hosts')


def check_key(folder):
    """One key: the same words in two runs and two formats; another key: other words."""
    keys = [folder / 'key', folder / 'other']
    keys[0].write_bytes(b'0123456789abcdef0123')
    keys[1].write_bytes(b'0123456789abcdef0124')
    words = []
    for run in ('zhostqx-17.xplane.pb', 'zhostqx-17_123.trace.json.gz'):
        for key in (keys[0], keys[0], keys[1]):
            data = idsprof('extract', folder / run, '-f', 'csv', '-o', '-', '--redact-key', key).stdout
            words.append((data, set(re.findall(rb'anon[a-z]{10}', data))))
    check(words[0][0] == words[1][0] and words[3][0] == words[4][0], 'the same key gives the same bytes')
    check(len(words[0][1] & words[3][1]) >= 3, 'the same names are the same words in two runs', words[0][1] & words[3][1])
    check(not words[0][1] & words[2][1], 'another key gives other words')
    for name, text in (('short', b'abc'), ('long', b'x' * 5000)):
        (folder / name).write_bytes(text)
        check(b'too ' in idsprof('report', folder / 'zhostqx-17.xplane.pb', '--redact-key', folder / name, status=2).stderr, name)
    check(b'/dev/urandom' in idsprof('report', DATA / 'cpu1_plain', '--redact-key', folder / 'none', status=2).stderr, 'how to make a key')


def check_key_of_two(folder):
    """Two persons who record the same program get the same words for it, though their own names stand in its words."""
    names = ['customattn', 'helenaloader', 'xhelenaBig', 'atomic_loss', 'lena_step', 'helenas loader of lena']
    for option, users in (('--redact', ('tom', 'lena', 'ann')), ('--redact-names', ('tom', 'lena', 'helena', 'custo'))):
        found = []
        for user in users:
            events = [{'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': i, 'dur': 1} for i, name in enumerate(names[:5] if option == '--redact' else names)]
            events.append({**events[0], 'ts': 9, 'args': {'Call stack': '/home/%s/x.py(3): f' % user}})
            (folder / 'two.json').write_text(json.dumps({'schemaVersion': 1, 'traceEvents': events}))
            rows = csv.DictReader(io.StringIO(idsprof('extract', folder / 'two.json', '-f', 'csv', '-o', '-', option, '--redact-key', folder / 'key').stdout.decode()))
            found.append([row['name'] for row in rows])
        check(len(found[0]) >= 6 and all(names == found[0] for names in found), option, found)


def history_of(host, name):
    """Of 20 steps of 1 ms, whose last took 50 ms, while `name` was compiled (collectors/common/history.h)."""
    begins = [i * 1000000 for i in range(20)] + [69000000]
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 1, begins[-1], 0, 1, 1000, 0, 0, 321, -1, 0, 0, 0, host.encode())
    steps = b''.join(struct.pack('<3qii', begin, i, 0, 0, 0) for i, begin in enumerate(begins))
    event = struct.pack('<3q104s', begins[-2], begins[-2] + 1000, 1, name.encode())
    return head + steps.ljust(10000 * 32, b'\0') + event.ljust(500 * 128, b'\0')


def check_history(folder):
    """What stands beside the profile comes into the report too."""
    run = folder / 'captured' / 'plugins' / 'profile' / '1'
    run.mkdir(parents=True)
    (folder / 'captured' / '.idsprof').mkdir()
    (folder / 'captured' / 'idsprof.json').write_text('{}')
    made_xspace(run / 'zh.xplane.pb', 'zh')
    (folder / 'captured' / '.idsprof' / 'zh.321.history').write_bytes(history_of('zh', 'zfunctionqx'))
    plain = json.loads(idsprof('report', folder / 'captured', '--json').stdout)['tables']
    check(plain['slow_steps']['rows'] and plain['slow_steps']['rows'][0][-1] == 'compiled zfunctionqx in 1.000 us', 'a history', plain.get('slow_steps'))
    given = json.loads(idsprof('report', folder / 'captured', '--json', '--redact-names').stdout)['tables']
    words = [re.fullmatch(r'(anon[a-z]{10})\.321', row[0]) for table in ('history', 'slow_steps') for row in given[table]['rows']]
    check(len(words) == 2 and all(words), 'processes of the history', given['history']['rows'])
    check(words[0][1] in given['devices']['rows'][0], 'the word of the host is the same there', given['devices']['rows'])
    check(re.fullmatch(r'compiled anon[a-z]{10} in 1\.000 us', given['slow_steps']['rows'][0][-1]), given['slow_steps']['rows'])
    check(given['history']['rows'][0][-1] == plain['history']['rows'][0][-1], 'the line of the history is drawn')


def check_own_words(folder):
    """Sentences of idsprof name options, and files, that are nobody's."""
    for run in (DATA / 'cpu1_annotated', DATA / 'json' / 'kineto.trace.json', DATA / 'mini' / 'idle_sync.mini'):
        plain, given = (json.loads(idsprof('report', run, '--json', *options).stdout) for options in ([], ['--redact']))
        for id, metric in plain['metrics'].items():
            check(metric.get('reason') == given['metrics'][id].get('reason'), run.name, id, given['metrics'][id].get('reason'))
        check(plain['run']['format'] == given['run']['format'], given['run']['format'])


def check_stacks(folder):
    """The frames of a stack are as many as before, and a file is called the same in each of them."""
    frames = ['/home/zuserqx/a.py(1): f', '/usr/lib/python3.11/site-packages/torch/nn/m.py(2): g', '/v/site-packages/torch/zuserqx/m.py(2): g', '/home/zuserqx/b.py(3): h', '/home/zuserqx/a.py(4): f']
    event = {'ph': 'X', 'cat': 'cpu_op', 'name': 'x', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 1, 'args': {'Call stack': ';'.join(frames)}}
    (folder / 'stack.json').write_text(json.dumps({'schemaVersion': 1, 'traceEvents': [event]}))
    rows = list(csv.DictReader(io.StringIO(idsprof('extract', folder / 'stack.json', '-f', 'csv', '-o', '-', '--redact').stdout.decode())))
    given = json.loads(rows[0]['args'])['Call stack'].split(';')
    check(len(given) == 5 and given[0].split('(')[0] == given[4].split('(')[0] != given[3].split('(')[0], given)
    check([frame[-6:] for frame in given] == [frame[-6:] for frame in frames] and 'site-packages/torch/nn/m.py' in given[1] and 'torch/anon' in given[2], given)


def seconds_of_floods(folder, length):
    floods = ['%2F', 'a@', 'a@b:', 'eyJ-', '$A/', '${A}', 'C:\\', 'a:\\/', '+a', '-a.py', './', '/a', '--x ', 'user=', 'bearer ', 'a.de', '%A%', '"/', '; ', 'Zuserqx']
    events = [{'ph': 'X', 'cat': 'user_annotation', 'name': (flood * length)[:length], 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 1, 'args': {'cwd': (flood * length)[:length]}}
              for i, flood in enumerate(floods)]
    events[0]['args']['Call stack'] = '/home/zuserqx/a.py(1): f'
    (folder / 'floods.json').write_text(json.dumps({'schemaVersion': 1, 'traceEvents': events}))
    before = os.times().children_user
    idsprof('extract', folder / 'floods.json', '-f', 'csv', '-o', folder / f'floods{length}', '-q', '--redact-names')
    return os.times().children_user - before


def check_floods(folder):
    """Texts in which something seems to begin everywhere take as long as their length says: four times as long a text about four times, and
    sixteen where one of them is looked through again from each place."""
    length = 5000 if SANITIZED else 25000
    short, long = seconds_of_floods(folder, length), seconds_of_floods(folder, 4 * length)
    check(long < 8 * (short + 0.05), 'CPU time of floods', short, long)


def check_short_users(folder):
    """A short name is in many words that are no names: those stay, and with them what the figures come from."""
    run = next(path for path in sorted((DATA / 'json').glob('kineto*')) if path.suffix in ('.json', '.gz'))
    trace = json.loads(unpacked(run))
    words = set()
    for user in ('ann', 'lau', 'pro', 'red', 'ncc', 'strea', 'nch', 'kerne', 'anna'):
        extra = {'ph': 'X', 'cat': 'cpu_op', 'name': 'reads', 'pid': 4037, 'tid': 4037, 'ts': 1700000000000001, 'dur': 1,
                 'args': {'Call stack': '/home/%s/x.py(3): f' % user}}
        path = folder / 'short.json'
        path.write_text(json.dumps({**trace, 'traceEvents': trace['traceEvents'] + [extra]}))
        found = differences(figures(path), figures(path, '--redact'))
        check(not found, 'a user', user, found[:3])
        words |= set(re.findall(rb'/home/(\w+)/anon', idsprof('extract', path, '-f', 'csv', '-o', '-', '--redact').stdout))
    check(len(words) >= 9 and all(word.startswith(b'anon') for word in words), words)


# ---- figures ----

def bare(value):
    """Without texts, in an order that does not go by them."""
    if isinstance(value, str):
        return ''
    if isinstance(value, list):
        return sorted((bare(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, dict):
        return {key: bare(list(item.values())) if key.endswith('by_device') else bare(item) for key, item in value.items() if key not in ('bytes', 'format', 'idsprof')}
    return value


def differences(a, b, path=''):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in sorted(set(a) | set(b)) for d in differences(a.get(key), b.get(key), path + '/' + key)]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, '%s/%d' % (path, i))]
    return [] if a == b else [(path, str(a)[:60], str(b)[:60])]


def figures(run, *options):
    return bare(json.loads(idsprof('report', run, '--json', '--no-cache', *options).stdout))


def check_figures(folder):
    runs = sorted(DATA.glob('cpu*')) + sorted(DATA.glob('json/*.json')) + sorted((DATA / 'mini').glob('*.mini'))[::36 if SANITIZED else 12] + [DATA / 'mini' / 'memory_held.mini', DATA / 'memory' / 'first.prof']
    for run in runs:
        plain = figures(run)
        for option in ('--redact', '--redact-names'):
            check(not differences(plain, figures(run, option)), run.name, option, differences(plain, figures(run, option))[:3])
    for part in ('plain', '--redact', '--redact-names'):
        (folder / 'figures' / part).mkdir(parents=True)
    folder = folder / 'figures'
    for run in sorted(DATA.glob('cpu*')) + sorted(DATA.glob('json/kineto*.json')) + [DATA / 'json' / 'jax_gpu.trace.json']:
        form = 'chrome' if run.suffix == '.json' else 'xplane'
        idsprof('extract', run, '-f', form, '-o', folder / 'plain' / run.name, '-q')
        for option in ('--redact', '--redact-names'):
            idsprof('extract', run, '-f', form, '-o', folder / option / run.name, '-q', option)
            found = differences(figures(folder / 'plain' / run.name), figures(folder / option / run.name))
            check(not found, run.name, form, option, found[:3])


# ---- what recorded traces hold ----

def names_of_libraries():
    return set(re.findall(r'"([^"]+)"', (SOURCE / 'lib' / 'model' / 'python_files.def').read_text()))


def secrets_of(run):
    """Paths, and files that no known library has, as the bytes of the input show them; users."""
    known, found = names_of_libraries(), set()
    for path in sorted(run.rglob('*')) if run.is_dir() else [run]:
        data = unpacked(path).replace(b'\\/', b'/') if path.is_file() else b''
        found |= {word for word in re.findall(rb'/(?:home|Users|users|root|srv|work|tmp)/[\w.+-]+', data)}
        found |= {word for word in re.findall(rb'(?<![\w/.-])[A-Za-z_][\w-]*\.(?:py|ipynb)\b', data) if word.decode() not in known}
        found |= {user for user in re.findall(rb'/(?:home|Users|users)/([A-Za-z][\w-]{3,})', data)}
    return {word for word in found if not re.match(rb'.*idsprof', word)}


def check_recorded(folder):
    runs = sorted(DATA.glob('cpu*')) + sorted(DATA.glob('json/*.json'))
    shared = Path(os.environ.get('IDS_SHARED', '')) / 'traces'
    runs += [shared / name for name in ('tpu_v6e_inference', 'kineto_cold_start', 'kineto_v100_test') if os.environ.get('IDS_SHARED') and (shared / name).exists()]
    total = 0
    for run in runs:
        secrets = secrets_of(run)
        total += len(secrets)
        if not secrets:
            continue
        out = folder / ('recorded ' + run.name)
        out.mkdir()
        for form in ('xplane', 'chrome', 'csv'):
            idsprof('extract', run, '-f', form, '-o', out / form, '-q', '--redact')
        for path in sorted(path for path in out.rglob('*') if path.is_file()):
            data = unpacked(path).replace(b'\\/', b'/')
            left = [word for word in sorted(secrets) if re.search(rb'(?<![\w-])' + re.escape(word) + rb'(?![\w-])', data)]
            check(not left, run.name, path.name, left[:5])
    check(total >= 10, 'names that the recorded traces hold', total)


def check_refused(folder):
    run = folder / 'zhostqx-17.xplane.pb'
    check(b'copied as they are' in idsprof('extract', run, '--redact', '-o', folder / 'raw', status=2).stderr, 'raw')
    check(b'--list' in idsprof('extract', run, '--redact', '--list', status=2).stderr, 'list')
    check(b'excludes' in idsprof('report', run, '--redact', '--explain', 'idle.total', status=2).stderr, 'explain')
    idsprof('import', run, '-o', folder / 'run.db')
    check(b'database' in idsprof('report', folder / 'run.db', '--redact', status=2).stderr, 'a database')
    with open(run, 'rb') as file:
        done = subprocess.run([IDSPROF, 'report', '-', '--redact'], stdin=file, capture_output=True, timeout=100)
        check(done.returncode == 2 and b'twice' in done.stderr, 'standard input', done.stderr)
    cut = folder / 'cut.xplane.pb'
    for length in range(0, run.stat().st_size, 97):
        cut.write_bytes(run.read_bytes()[:length])
        done = subprocess.run([IDSPROF, 'extract', str(cut), '-f', 'xplane', '-o', str(folder / 'cut'), '--redact-names', '--force'], capture_output=True, timeout=100)
        check(done.returncode in (0, 1, 2), 'a file that is cut at', length, done.returncode)
        for path in (folder / 'cut').glob('*') if (folder / 'cut').exists() else []:
            check(not re.search(rb'z[a-z]+qx', path.read_bytes()), 'cut at', length)


with tempfile.TemporaryDirectory() as name:
    os.environ['XDG_CACHE_HOME'] = name + '/cache'
    at = Path(name)
    check_planted(at)
    check_hosts(at)
    check_key(at)
    check_key_of_two(at)
    check_history(at)
    check_own_words(at)
    check_short_users(at)
    check_stacks(at)
    check_floods(at)
    check_figures(at)
    check_recorded(at)
    check_refused(at)
print('%d checks, %d failures' % (checks, failures))
sys.exit(1 if failures else 0)
