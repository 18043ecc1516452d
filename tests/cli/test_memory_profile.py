#!/usr/bin/env python3
"""Device memory profiles of JAX (pprof): what report, query, list and diff say of them, and of a run that has them beside its trace.

The profiles are decoded here too, by code that shares nothing with idsprof: profile.proto of pprof.
Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
IDSPROF = os.environ['IDSPROF']
FIRST, SECOND = SOURCE / 'testdata/memory/first.prof', SOURCE / 'testdata/memory/second.prof'
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def run(*arguments, code=0, cache=None):
    environment = dict(os.environ, XDG_CACHE_HOME=cache or tempfile.gettempdir(), COLUMNS='200')
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=100, check=False)
    check(done.returncode == code, '%s: exit %d, expected %d: %s' % (arguments, done.returncode, code, done.stderr[:300]))
    return done


def table(report, name):
    found = report['tables'][name]
    return [dict(zip([column['id'] for column in found['columns']], row)) for row in found['rows']]


def report_of(path, *arguments, cache=None):
    done = run('report', '--json', '--section', 'memory', '--section', 'advice', *arguments, path, cache=cache)
    return json.loads(done.stdout)


def varint(data, at):
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def packed(data):
    at, numbers = 0, []
    while at < len(data):
        value, at = varint(data, at)
        numbers.append(value)
    return numbers


def expected(path):
    """{(device, line of train.py): [bytes, count]} of what has bytes."""
    data = gzip.decompress(path.read_bytes())
    texts, functions, lines, samples = [], {}, {}, []
    for field, value in fields(data):
        if field == 6:
            texts.append(value.decode())
        if field == 5:
            of = dict(fields(value))
            functions[of[1]] = of[4]
        if field == 4:
            of = dict(fields(value))
            line = dict(fields(of[4]))
            lines[of[1]] = (line[1], line.get(2, 0))
        if field == 2:
            samples.append(value)
    found = {}
    for sample in samples:
        parts, device = dict(fields(sample)), ''
        for field, value in fields(sample):
            label = dict(fields(value)) if field == 3 else {}
            if label and texts[label[1]] == 'device':
                device = texts[label[2]]
        count, size = packed(parts[2])
        own = [line for function, line in (lines[i] for i in packed(parts[1])) if texts[functions[function]].endswith('train.py')]
        if size:
            of = found.setdefault((device, own[0]), [0, 0])
            of[0] += size
            of[1] += count
    return found


def test_report():
    report, want = report_of(SECOND, '--no-cache'), expected(SECOND)
    rows = table(report, 'held')
    got = {(row['device'], int(row['source'].rsplit(':', 1)[1])): [row['bytes'], row['count']] for row in rows}
    check(got == want and len(want) == 3, 'held: %s, expected %s' % (got, want))
    check(report['metrics']['memory.held']['value'] == sum(size for size, _ in want.values()), 'memory.held')
    check(rows[0]['made_in'] == 'one' and rows[0]['call'] == '_operator_add', 'the first row: %s' % rows[0])
    check(rows[0]['grown_bytes'] is None, 'nothing is known of growth: %s' % rows[0])
    text = run('report', '--no-cache', SECOND).stdout
    check('WHAT LIVES' in text and '/home/me/train.py:22' in text, 'text: %s' % text)
    check('holds no times' in text, 'why there are no times: %s' % text)


def test_other_commands(folder):
    rows = run('query', '--json', SECOND, 'SELECT sum(bytes) AS bytes FROM report_held', cache=folder).stdout
    check(str(sum(size for size, _ in expected(SECOND).values())) in rows, 'query: %s' % rows)
    check('mem' not in run('list', SECOND, cache=folder).stderr, 'list')
    difference = json.loads(run('diff', '--json', FIRST, SECOND, cache=folder).stdout)
    before, after = expected(FIRST), expected(SECOND)
    want = {line: after[(device, line)][0] - before.get((device, line), [0])[0] for device, line in after}
    got = {int(row['source'].rsplit(':', 1)[1]): row['change'] for row in table(difference, 'held_changes')}
    check(got == {line: change for line, change in want.items() if change} and got, 'diff: %s, expected %s' % (got, want))
    check(not table(json.loads(run('diff', '--json', FIRST, FIRST, cache=folder).stdout), 'held_changes'), 'no difference')
    check(run('diff', FIRST, SECOND, cache=folder).stdout.count('train.py:22') == 1, 'text of the difference')
    trace = SOURCE / 'testdata/cpu1_plain'
    check('no event of a device' in run('diff', FIRST, trace, code=2, cache=folder).stderr, 'a profile against a trace')


def test_beside(folder):
    """A run whose folder has the profiles of its begin and end."""
    run_folder = Path(folder) / 'log/plugins/profile/2026_01_01_00_00_00'
    shutil.copytree(next((SOURCE / 'testdata/cpu1_annotated/plugins/profile').iterdir()), run_folder)
    alone = report_of(Path(folder) / 'log', cache=folder)
    check('held' not in alone['tables'] and alone['metrics']['memory.held']['value'] is None, 'without profiles')
    shutil.copy(FIRST, run_folder / 'host.begin.memory.prof')
    shutil.copy(SECOND, run_folder / 'host.memory.prof')
    both = report_of(Path(folder) / 'log', cache=folder)
    check(both['run']['hosts'] == alone['run']['hosts'] and both['metrics']['steps.count'] == alone['metrics']['steps.count']
          if 'steps.count' in both['metrics'] else True, 'the trace is the same')
    notes = Path(folder) / 'log/.idsprof'
    notes.mkdir()
    for name, words in (('', '2 memory profiles'), ('a.history', "2 memory profiles, the history of the capture's steps")):
        if name:
            (notes / name).touch()
        for how in (['-f', 'csv'], ['-f', 'xplane', '--redact-names']):
            said = run('extract', *how, '--force', '-o', Path(folder) / 'out', Path(folder) / 'log', cache=folder).stderr
            check(said.endswith(f'; not in it is what lies beside the profile: {words}\n'), f'what extract leaves behind: {said}')
    said = run('extract', '-f', 'csv', '-o', Path(folder) / 'out1', SOURCE / 'testdata/cpu1_annotated', cache=folder).stderr
    check('beside' not in said, f'nothing is left behind: {said}')
    rows = table(both, 'held')
    check(rows and rows[0]['grown_count'] == 5 and rows[0]['grown_bytes'] == 5 << 20, 'growth in the window: %s' % rows[:1])
    check(both['metrics']['memory.held']['value'] == sum(size for size, _ in expected(SECOND).values()), 'only the end counts')
    first = both['advice'][0]
    check(first['what'].startswith('Memory leaks: about') and '/home/me/train.py:22' in first['what'] and '5 arrays more' in first['evidence'],
          'the leak comes first: %s' % first)
    shutil.copy(SECOND, run_folder / 'host.begin.memory.prof')
    flat = report_of(Path(folder) / 'log', cache=folder)
    check(not any('leaks' in piece['what'] for piece in flat['advice']), 'nothing grew: %s' % flat['advice'])
    (run_folder / 'host.memory.prof').write_bytes(b'no profile')
    damaged = report_of(Path(folder) / 'log', cache=folder)
    check(any(diag['id'] == 'run.beside' for diag in damaged['diag']) and damaged['complete'], 'what cannot be read is said')
    listed = json.loads(run('list', '--json', Path(folder) / 'log', cache=folder).stdout)
    check(len(listed['runs']) == 1 and listed['runs'][0]['hosts'] == 1, 'one run of one host: %s' % listed['runs'])


def test_damage(folder):
    data = gzip.decompress(SECOND.read_bytes())
    whole = Counter()
    for length in list(range(1, len(data), 61)) + [len(data)]:
        path = Path(folder) / 'cut.prof'
        path.write_bytes(data[:length])
        environment = dict(os.environ, XDG_CACHE_HOME=folder)
        done = subprocess.run([IDSPROF, 'report', '--no-cache', str(path)], capture_output=True, text=True, env=environment, timeout=100,
                              check=False)
        whole[done.returncode] += 1
        check(done.returncode in (0, 2) and (done.returncode == 0 or done.stderr), 'cut at %d: exit %d %s' % (length, done.returncode, done.stderr))
    check(whole[0] and whole[2], 'some are read, some refused: %s' % whole)
    other = Path(folder) / 'cpu.prof'
    other.write_bytes(data.replace(b'\x05bytes', b'\x05ticks'))
    check('counts ticks, not bytes' in run('report', '--no-cache', other, code=2).stderr, 'another unit')


def main():
    test_report()
    for test in test_other_commands, test_beside, test_damage:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    for failure in failures:
        print('FAIL: ' + failure)
    print('%d failures' % len(failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
