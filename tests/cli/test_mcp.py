#!/usr/bin/env python3
"""idsprof mcp, as bytes: the protocol, bounds of answers and the calls that get what was cut, which paths may be opened, hostile input.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TESTDATA = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata'
FOREVER = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def same(what, got, wanted):
    check(got == wanted, f'{what}: {got!r}, not {wanted!r}')


def talk(*messages, options=(), cwd=TESTDATA, status=0, end=b'\n'):
    """What is answered to these messages (objects, or bytes as they are), one message a line."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    run = subprocess.run([IDSPROF, 'mcp', *map(str, options)], input=b'\n'.join(lines) + end, capture_output=True, cwd=cwd, timeout=120)
    same('exit', (run.returncode, run.stderr[:300]), (status, b'') if not status else (status, run.stderr[:300]))
    return [json.loads(line) for line in run.stdout.splitlines()]


def request(method, params=None, name=1):
    return {'jsonrpc': '2.0', 'id': name, 'method': method, **({} if params is None else {'params': params})}


def tool(name, arguments, number=1):
    return request('tools/call', {'name': name, 'arguments': arguments}, number)


def call(name, arguments, **how):
    """(structured content, text) of an answer, or (None, why not)."""
    answers = talk(tool(name, arguments), **how)
    same(f'answers to {name}', len(answers), 1)
    result = answers[0].get('result')
    if result is None:
        return None, answers[0]['error']['message']
    text = result['content'][0]['text']
    return (None, text) if result['isError'] else (result['structuredContent'], text)


# ---- words ----

def check_words():
    """Who calls a tool has no options: messages name its arguments."""
    for name, arguments, wanted in (('report', {'path': 'cpu1_annotated', 'steps': 'first'}, "the argument 'steps'"),
                                    ('query', {'path': 'cpu1_plain', 'sql': FOREVER, 'seconds': 1}, "the argument 'seconds' allows more")):
        _, text = call(name, arguments)
        check(wanted in text and '--' not in text, f'{name} {arguments} says {text!r}')
    found, _ = call('query', {'path': 'cpu1_plain', 'sql': 'SELECT 1e999 AS a, -1e999 AS b, 0.5 AS c'})
    same('numbers that JSON has not', found['rows'], [['Infinity', '-Infinity', 0.5]])


# ---- the protocol ----

def check_versions():
    for asked, agreed in (('2024-11-05', '2024-11-05'), ('2025-06-18', '2025-06-18'), ('1999-01-01', '2025-11-25'), ('2026-07-28', '2025-11-25')):
        answer, = talk(request('initialize', {'protocolVersion': asked, 'capabilities': {}, 'clientInfo': {'name': 'x', 'version': '1'}}))
        same(f'version for {asked}', answer['result']['protocolVersion'], agreed)
        same('server', answer['result']['serverInfo']['name'], 'idsprof')
        check('tools' in answer['result']['capabilities'], 'tools are a capability')
    key = 'io.modelcontextprotocol/protocolVersion'
    known, unknown, old = talk(request('tools/list', {'_meta': {key: '2026-07-28'}}), request('tools/list', {'_meta': {key: '2099-01-01'}}),
                               request('tools/list'))
    same('a stateless result', known['result']['resultType'], 'complete')
    check('ttlMs' in known['result'] and 'resultType' not in old['result'], 'what a stateless client is told')
    same('another version', (unknown['error']['code'], unknown['error']['data']['requested']), (-32022, '2099-01-01'))
    check('2026-07-28' in unknown['error']['data']['supported'], 'supported versions')


def check_requests():
    def code(message):
        answers = talk(message)
        return [answer.get('error', {}).get('code') for answer in answers], [answer.get('id') for answer in answers]

    same('not JSON', code(b'{"jsonrpc":"2.0","id":1,"method":'), ([-32700], [None]))
    same('two in a line', code(b'{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}'), ([-32700], [None]))
    same('a batch', code(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'), ([-32600], [None]))
    same('no UTF-8', code(b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}'), ([-32700], [None]))
    same('a NUL', code(b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000x"}'), ([-32700], [None]))
    same('no NUL', code(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\\\u0000"}}')[0], [None])
    same('too deep', code(b'{"a":' * 2000), ([-32700], [None]))
    same('no version', code({'id': 1, 'method': 'ping'}), ([-32600], [None]))
    same('no method', code({'jsonrpc': '2.0', 'id': 1}), ([-32600], [1]))
    same('an id of null', code({'jsonrpc': '2.0', 'id': None, 'method': 'ping'}), ([-32600], [None]))
    same('an id that no double holds', code(request('ping', name=2**53 + 1)), ([-32600], [None]))
    same('a fraction for an id', code(request('ping', name=1.5)), ([-32600], [None]))
    same('unknown method', code(request('resources/list', name='a')), ([-32601], ['a']))
    same('params of the wrong kind', code({'jsonrpc': '2.0', 'id': 3, 'method': 'tools/call', 'params': [1]}), ([-32602], [3]))
    same('unknown tool', code(tool('x', {})), ([-32602], [1]))
    same('no tool', code(request('tools/call', {})), ([-32602], [1]))
    same('a ping', code(request('ping', name='\u00e9\n"')), ([None], ['\u00e9\n"']))
    same('nothing to answer', talk({'jsonrpc': '2.0', 'method': 'x'}, {'jsonrpc': '2.0', 'id': 1, 'result': {}}, b'', b'  '), [])
    same('without a newline', len(talk(request('ping'), end=b'')), 1)
    large, after = talk(b'{"jsonrpc":"2.0","id":1,"method":"' + b'x' * (3 << 20) + b'"}', request('ping', name=2))
    same('3 MiB, and a ping', (large['error']['code'], after['id']), (-32600, 2)) if 'error' in large else same('order', (after['error']['code'], large['id']), (-32600, 2))
    name, = talk(request('x' * (1 << 20)))
    check(name['error']['code'] == -32601 and len(name['error']['message']) < 200, 'a name of 1 MiB is quoted')


def check_arguments():
    for arguments, words in (({}, "'path' is missing"), ({'path': 1}, "'path' is not a text"), ({'path': 'cpu1_plain', 'x': 1}, "no argument 'x'"),
                             ({'path': 'cpu1_plain', 'top': -1}, 'from 0 to'), ({'path': 'cpu1_plain', 'top': 1.5}, 'whole number'),
                             ({'path': 'cpu1_plain', 'sections': ['x']}, "no section 'x'"), ({'path': 'cpu1_plain', 'sections': [1]}, 'texts'),
                             ({'path': 'cpu1_plain', 'from': 2, 'to': 1}, 'not before'), ({'path': 'cpu1_plain', 'to': 0}, 'not before'),
                             ({'path': 'cpu1_plain', 'steps': 'x'}, 'steps'), ({'path': 'cpu1_plain', 'max_chars': 1}, 'from 2000'),
                             ({'path': 'nothing'}, 'nothing'), ({'path': 'README.md'}, ''), ({'path': '-'}, 'standard input'), ({'path': ''}, 'no file'),
                             ({'path': 'compare', 'run': 'nothing'}, "no run 'nothing'")):
        data, why = call('report', arguments)
        check(data is None and words in why, f'{arguments}: {data or why}')
    data, why = call('explain', {'path': 'cpu1_plain', 'id': 'nothing'})
    check(data is None and "'nothing'" in why, why)
    for sql, words in (('DELETE FROM event', 'read'), ('SELECT 1; SELECT 2', 'one statement'), ('SELEC', 'SELEC'), ("ATTACH 'x' AS y", 'read'),
                       ("SELECT readfile('/etc/passwd')", ''), ('PRAGMA user_version = 3', 'read'), (' ' * 60000, '50000')):
        data, why = call('query', {'path': 'cpu1_plain', 'sql': sql})
        check(data is None and words in why, f'{sql[:40]}: {data or why}')
    check(call('report', {'path': 'cpu1_plain', 'run': None, 'top': None})[0], 'null is an argument that is not given')


# ---- what is said ----

def check_report():
    whole = json.loads(subprocess.run([IDSPROF, 'report', '--json', 'cpu1_annotated'], capture_output=True, cwd=TESTDATA, check=True).stdout)
    data, text = call('report', {'path': 'cpu1_annotated'})
    same('advice', data['advice'], whole['advice'])
    for figure in data['figures']:
        value, wanted = figure.get('value'), whole['metrics'][figure['id']]['value']
        if isinstance(value, float) and isinstance(wanted, float) and math.isclose(value, wanted, rel_tol=2.3e-16):
            continue  # cJSON writes 15 digits where they give the number to a rounding of it
        same(figure['id'], value, wanted)
    columns = [column['id'] for column in whole['tables']['accounts']['columns']]
    rows = [{key: value for key, value in zip(columns, row) if value is not None} for row in whole['tables']['accounts']['rows']]
    for got, wanted in zip(data['where_time_goes'], rows):
        same('an account', got, {key: wanted[key] for key in got})
    same('five accounts', [row['account'] for row in data['where_time_goes']], [row['account'] for row in rows[:5]])
    check('WHAT TO DO' in text and 'score' in text, text)
    more = next(entry for entry in data['more'] if entry['of'] == 'where_time_goes')
    same('the rest of them', (more['shown'], more['total']), (5, len(rows)))
    for section in data['sections']:
        part, _ = call('report', {'path': 'cpu1_annotated', 'sections': section})
        check(part and any(table['total'] for table in part['tables']), f'section {section} holds something')
    part, _ = call('report', {'path': 'cpu8_annotated', 'steps': '1'})
    check('1 step' in part['run']['steps'], part['run'])


def follow(more, of):
    """The call of this entry, or of the one before it that has one."""
    place = [entry['of'] for entry in more].index(of)
    again = next(entry['call'] for entry in more[place::-1] if 'call' in entry)
    return call(again['tool'], again['arguments'])


def check_bounds():
    """Nothing is longer than it may be, and following what is cut leads to all of it."""
    for name, arguments in (('report', {'path': 'cpu1_compile_py', 'sections': ['ops', 'ledger', 'compile', 'program_facts', 'memory'], 'top': 0}),
                            ('diff', {'before': 'compare/base', 'after': 'compare/recompile', 'top': 0}), ('list', {'newest': 100}),
                            ('timeline', {'path': 'cpu8_annotated', 'top': 0}), ('explain', {'path': 'cpu8_annotated', 'id': 'comm.wait', 'top': 0}),
                            ('query', {'path': 'cpu1_plain', 'sql': 'SELECT * FROM events', 'max_rows': 10000})):
        for most in 2000, 6000:
            answer, = talk(tool(name, {**arguments, 'max_chars': most}))
            result = answer['result']
            size = len(json.dumps(result.get('structuredContent'), ensure_ascii=False, separators=(',', ':')).encode())
            check(len(result['content'][0]['text'].encode()) <= most, f'{name}: text beyond {most}')
            check(result['isError'] or size <= most, f'{name}: {size} bytes beyond {most}')
            check(not result['isError'] or 'max_chars' in result['content'][0]['text'], f'{name}: {result}')
            check(result['isError'] or result['structuredContent'].get('more') or size < most, f'{name}: nothing says that it was cut')
    for section in 'ledger', 'ops', 'layers', 'memory', 'overview', 'steps':
        data, why = call('report', {'path': 'cpu1_annotated', 'sections': section, 'top': 0, 'max_chars': 2000})
        check(data and all(table['total'] >= len(table['rows']) for table in data['tables']), f'{section} in 2000: {why}')
    data, _ = call('report', {'path': 'cpu1_annotated', 'sections': 'ops', 'top': 2})
    for _ in range(6):
        entry = next((one for one in data.get('more', []) if one['of'] == 'ops'), None)
        if not entry:
            break
        data, _ = follow(data['more'], 'ops')
    table = next(table for table in data['tables'] if table['id'] == 'ops')
    same('all ops in the end', (len(table['rows']), table['total']), (28, 28))
    data, _ = call('query', {'path': 'cpu1_plain', 'sql': 'SELECT id FROM events ORDER BY id', 'max_rows': 3})
    same('three rows, and there are more', (len(data['rows']), data['complete']), (3, False))
    data, _ = follow(data['more'], 'rows')
    check(len(data['rows']) > 3, f'more rows: {data}')


def check_rows():
    data, text = call('query', {'path': 'cpu1_plain', 'sql': "SELECT 1 AS i, 9007199254740993 AS large, 0.5 AS r, NULL AS n, 'a' || char(27, 10, 8238) || 'b' AS t, "
                                                             "x'00ff' AS b, char(0) || 'z' AS z"})
    same('cells', data['rows'], [[1, '9007199254740993', 0.5, None, 'a\ufffd\n\ufffdb', "x'00ff'", '\ufffdz']])
    same('columns', data['columns'], ['i', 'large', 'r', 'n', 't', 'b', 'z'])
    check('\x1b' not in text, 'a terminal would obey')
    begin = time.monotonic()
    data, why = call('query', {'path': 'cpu1_plain', 'sql': FOREVER, 'seconds': 1})
    check(data is None and time.monotonic() - begin < 60, f'a query without end: {why}')
    data, why = call('query', {'path': 'cpu1_plain', 'sql': "SELECT length(replace(hex(zeroblob(30000000)), '0', 'ab'))"})
    check(data is None, f'a large value: {data}')


def check_list():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(TESTDATA / 'cpu1_plain', root / 'one')
        with tarfile.open(root / 'runs.tar.gz', 'w:gz') as archive:
            archive.add(TESTDATA / 'cpu1_nohlo', 'two')
            archive.add(TESTDATA / 'cpu2_python', 'three')
        subprocess.run([IDSPROF, 'import', TESTDATA / 'cpu1_midrun', TESTDATA / 'cpu1_annotated', '-o', root / 'runs.db'], check=True, capture_output=True)
        listed, _ = call('list', {}, cwd=root)
        listed['runs'] += call('list', {'path': 'runs.db'}, cwd=root)[0]['runs']
        events = {run['name']: run['events'] for run in listed['runs']}
        check(len(events) == 5, f'runs: {listed}')
        for run in listed['runs']:
            data, why = call('query', {**run['open'], 'sql': 'SELECT count(*) FROM events WHERE run = (SELECT max(run) FROM tracks)'}, cwd=root)
            report, reason = call('report', {**run['open'], 'sections': 'overview'}, cwd=root)
            check(report, f"{run['open']}: {reason}")
            check(data, f"{run['open']}: {why}")
            figure = next((one['value'] for one in (report or {'figures': []})['figures'] if one['id'] == 'run.events'), None)
            same(f"events of {run['name']}", figure, run['events'])


# ---- what may be opened ----

def check_roots():
    with tempfile.TemporaryDirectory() as folder:
        inside, outside = Path(folder) / 'in', Path(folder) / 'inner'
        shutil.copytree(TESTDATA / 'cpu1_plain', inside / 'run')
        shutil.copytree(TESTDATA / 'cpu1_plain', outside / 'run')
        (inside / 'link').symlink_to(outside / 'run')
        linked = inside / 'linked' / 'plugins' / 'profile' / 't'
        linked.mkdir(parents=True)
        (linked / 'h.xplane.pb').symlink_to(next(outside.rglob('*.xplane.pb')))
        for path in '../inner/run', str(outside / 'run'), 'link', 'linked', '/', '..', '/etc/passwd', '/nothing/at/all', 'run/../../inner/run', 'nothing/../../inner':
            for name, arguments in (('report', {'path': path}), ('explain', {'path': path, 'id': 'idle.share'}), ('timeline', {'path': path}),
                                    ('query', {'path': path, 'sql': 'SELECT 1'}), ('diff', {'before': 'run', 'after': path}), ('list', {'path': path}),
                                    ('diff', {'before': ['run', path], 'after': 'run'})):
                data, why = call(name, arguments, cwd=inside)
                is_empty = name == 'list' and data and not data['runs'] and '--root' in data['notes'][0]  # its runs are left out
                check(is_empty or (data is None and ('--root' in why or 'nothing/..' in path)), f'{name} {path}: {data or why}')
        for path in 'run', './run', str(inside / 'run'), 'run/../run', '../in/run':
            check(call('report', {'path': path}, cwd=inside)[0], f'{path} is inside')
        check(call('report', {'path': 'run'}, cwd='/', options=['--root', outside])[0], 'paths begin at the first root')
        both = ['--root', inside, '--root', outside]
        check(call('report', {'path': str(outside / 'run')}, cwd='/', options=both)[0], 'the second root')
        check(call('report', {'path': 'link'}, cwd='/', options=both)[0], 'a link from one root to another')
        check(call('diff', {'before': 'ru*', 'after': 'run'}, cwd=inside)[0] is None, 'a pattern is no path')
        os.mkfifo(inside / 'pipe.xplane.pb')  # nobody writes to it, ever
        data, why = call('report', {'path': 'pipe.xplane.pb'}, cwd=inside)
        check(data is None and 'neither a file' in why, f'a pipe: {data or why}')
        data, why = call('list', {}, cwd=inside)
        check(data and [run['name'] for run in data['runs']] == ['run'] and '--root' in data['notes'][0], f'what leads outside is left out: {data or why}')
    run = subprocess.run([IDSPROF, 'mcp'], input=b'', capture_output=True, cwd='/')
    check(run.returncode == 2 and b'--root' in run.stderr and not run.stdout, f"started in '/': {run}")
    run = subprocess.run([IDSPROF, 'mcp', '--root', '/nothing/at/all'], input=b'', capture_output=True)
    check(run.returncode == 2 and b'/nothing/at/all' in run.stderr, f'no such root: {run}')


# ---- beginning, ending, stopping ----

def start():
    return subprocess.Popen([IDSPROF, 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=TESTDATA)


def send(server, message):
    server.stdin.write(json.dumps(message).encode() + b'\n')
    server.stdin.flush()


def check_cancelling():
    call('query', {'path': 'cpu1_plain', 'sql': 'SELECT 1'})
    server = start()
    send(server, tool('query', {'path': 'cpu1_plain', 'sql': FOREVER, 'seconds': 100}, 'long'))
    send(server, tool('query', {'path': 'cpu1_plain', 'sql': 'SELECT 1'}, 'waiting'))
    send(server, request('ping', name='ping'))
    same('a ping is answered while a query runs', json.loads(server.stdout.readline())['id'], 'ping')
    send(server, {'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'waiting'}})
    send(server, {'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'nobody'}})
    time.sleep(0.3)
    send(server, {'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'long'}})
    send(server, tool('query', {'path': 'cpu1_plain', 'sql': 'SELECT 2'}, 'last'))
    answer = json.loads(server.stdout.readline())
    same('only the last one is answered', (answer['id'], answer['result']['structuredContent']['rows']), ('last', [[2]]))
    server.stdin.close()
    same('the end of input ends it', (server.wait(60), server.stdout.read()), (0, b''))


def check_ends():
    server = start()
    server.stdout.close()
    try:
        for number in range(200):
            send(server, request('tools/list', name=number))
        server.stdin.close()
    except BrokenPipeError:
        pass
    same('nobody reads', server.wait(60), 0)
    for number in signal.SIGTERM, signal.SIGINT:
        server = start()
        send(server, request('ping'))
        server.stdout.readline()
        server.send_signal(number)
        same(f'signal {number}', server.wait(60), -number)
    run = subprocess.run(f"exec '{IDSPROF}' mcp <&- 2>&1", shell=True, capture_output=True, cwd=TESTDATA, timeout=60)
    same('no input', (run.returncode, run.stdout), (0, b''))
    run = subprocess.run(f"exec '{IDSPROF}' mcp >&-", shell=True, stderr=subprocess.PIPE, cwd=TESTDATA, timeout=60)
    check(run.returncode == 2 and b'is closed' in run.stderr, f'no output: {run}')
    with open('/dev/full', 'wb') as full:
        run = subprocess.run([IDSPROF, 'mcp'], input=json.dumps(request('ping')).encode(), stdout=full, stderr=subprocess.PIPE, cwd=TESTDATA, timeout=60)
    check(run.returncode == 2 and b'cannot write' in run.stderr, f'a full disk: {run}')
    many = [request('ping', name=number) for number in range(3000)]
    same('many at once', sorted(answer['id'] for answer in talk(*many)), list(range(3000)))
    listed = [request('tools/list', name=number) for number in range(300)]
    same('in order', [answer['id'] for answer in talk(*listed)], list(range(300)))


def main():
    for part in (check_words, check_versions, check_requests, check_arguments, check_report, check_bounds, check_rows, check_list, check_roots, check_cancelling,
                 check_ends):
        part()
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
