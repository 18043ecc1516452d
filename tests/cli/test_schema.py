#!/usr/bin/env python3
"""Every JSON document that a command prints is one that lib/report/report.schema.json describes.

Over all traces of testdata and, where IDS_SHARED names them, the traces recorded by others. The validator knows what the
schema uses of JSON Schema, and refuses a schema that uses more.
Environment: IDSPROF (the binary), IDS_SOURCE_DIR, IDS_BUILD_DIR, IDS_SHARED (may be missing).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SCHEMA = json.loads((SOURCE / 'lib/report/report.schema.json').read_text())
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None), 'integer': int, 'number': (int, float)}
KNOWN = {'type', 'properties', 'required', 'additionalProperties', 'items', '$ref', 'anyOf', 'enum', 'const', 'pattern', 'minimum', 'maximum',
         'description', 'title', '$schema', '$defs'}
failures = []
documents = 0
commands = set()


def check(ok, message):
    if not ok:
        failures.append(message)


def is_type(value, name):
    if isinstance(value, bool) and name != 'boolean':
        return False
    return isinstance(value, TYPES[name]) or (name == 'integer' and isinstance(value, float) and value.is_integer())


def wrong(value, schema, at='$'):
    """What of the value is not as the schema says, or None."""
    assert set(schema) <= KNOWN, f'the validator does not know {set(schema) - KNOWN}'
    if '$ref' in schema:
        return wrong(value, SCHEMA['$defs'][schema['$ref'].removeprefix('#/$defs/')], at)
    if 'anyOf' in schema:
        problems = [wrong(value, each, at) for each in schema['anyOf']]
        return None if None in problems else problems[0]
    types = schema.get('type', [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        return f'{at} is {value!r}, not {types}'
    if 'const' in schema and value != schema['const']:
        return f'{at} is {value!r}, not {schema["const"]!r}'
    if 'enum' in schema and value not in schema['enum']:
        return f'{at} is {value!r}, not one of {schema["enum"]}'
    if isinstance(value, str) and not re.search(schema.get('pattern', ''), value):
        return f'{at} is {value!r}, not {schema["pattern"]}'
    if is_type(value, 'number') and not schema.get('minimum', value) <= value <= schema.get('maximum', value):
        return f'{at} is {value}, out of bounds'
    if isinstance(value, dict):
        for key in schema.get('required', ()):
            if key not in value:
                return f'{at} lacks {key}'
        for key, each in value.items():
            extra = schema.get('additionalProperties', True)
            part = schema.get('properties', {}).get(key, extra)
            if part is False:
                return f'{at} has {key}'
            problem = wrong(each, part, f'{at}.{key}') if part is not True else None
            if problem:
                return problem
    if isinstance(value, list) and 'items' in schema:
        for i, each in enumerate(value):
            problem = wrong(each, schema['items'], f'{at}[{i}]')
            if problem:
                return problem
    return None


def too_large(value):
    """An integer in a document that a double cannot hold."""
    if isinstance(value, dict):
        return any(map(too_large, value.values()))
    if isinstance(value, list):
        return any(map(too_large, value))
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53


def document(kind, *arguments, may_fail=False):
    global documents
    commands.add(arguments[0])
    run = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if run.returncode == 2 and may_fail:
        return None
    check(run.returncode in (0, 1), f'{arguments}: exit {run.returncode}: {run.stderr}')
    try:
        found = json.loads(run.stdout)
    except ValueError as error:
        check(False, f'{arguments}: not JSON: {error}')
        return None
    problem = wrong(found, {'$ref': f'#/$defs/{kind}'})
    check(not problem, f'{" ".join(map(str, arguments))}: {problem}')
    check(not too_large(found), f'{arguments}: an integer beyond 2^53 is not a string')
    documents += 1
    return found


FLEET = '''
import json, sys
sys.path.insert(0, sys.argv.pop(1))
from idsprof.fleet import fleet, files, store, text
store.needed = lambda module: type('core', (), {'url_to_fs': staticmethod(lambda url: (None, url))})
files.find = lambda urls: files.Found([files.Run(url, url, [None], []) for url in urls], [('u', 'a reason')], [('v', 'why')])
fleet.Fleet.reports = lambda self, of: [(run, of(run, json.load(open(run.url)))) for run in self.found.runs]
sys.stdout.write(text.as_json(fleet.Fleet(sys.argv[1:], cache=sys.argv[1] + '.cache').summary()))
'''


def fleet_document(*runs):
    """What `fleet report --json` prints, out of reports that were made here: its engine is of packages that this tier does without."""
    global documents
    commands.add('fleet')
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(scratch, '%d.json' % number) for number in range(len(runs))]
        for run, path in zip(runs, paths):
            Path(path).write_bytes(subprocess.run([IDSPROF, 'report', '--json', run], capture_output=True, timeout=300, check=True).stdout)
        hook = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib/idsprof/python')
        done = subprocess.run([sys.executable, '-c', FLEET, hook, *paths], capture_output=True, text=True, timeout=300)
    problem = wrong(json.loads(done.stdout), {'$ref': '#/$defs/fleet'}) if done.stdout else done.stderr
    check(not problem, f'fleet: {problem}')
    documents += 1


def check_covered():
    """Each command that has --json, or JSON by --format, is among those whose documents were looked at."""
    usage = subprocess.run([IDSPROF, '-h'], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r'^  ([a-z]+) {2,}', usage, re.M):
        options = subprocess.run([IDSPROF, command, '-h'], capture_output=True, text=True, timeout=60).stdout
        if re.search(r'--json|--format', options) and 'with --list' not in options:
            check(command in commands, f'no JSON of {command} was held against the schema')


def check_validator():
    """What must not pass does not: else every document would."""
    report = {'schema': 2, 'program': {'name': 'idsprof', 'version': '0.1.0'}, 'complete': True, 'run': {}, 'metrics': {}, 'tables': {},
              'advice': [], 'diag': []}
    as_report = {'$ref': '#/$defs/report'}
    check(wrong(report, as_report) is None, 'an empty report is refused')
    for bad in ({'schema': 1}, {'complete': 1}, {'more': 1}, {'run': {'devices': '1 × GPU'}}, {'run': {'start_unix_ns': 1 << 60}},
                {'metrics': {'x': {'value': 1, 'unit': 'parsec'}}}, {'diag': [{}]}, {'advice': {}}):
        check(wrong({**report, **bad}, as_report), f'the validator lets pass {bad}')


def runs():
    folders = [p.parent for p in (SOURCE / 'testdata').rglob('*.xplane.pb')] + sorted((SOURCE / 'testdata/mini').glob('*.mini'))[::4]
    shared = Path(os.environ.get('IDS_SHARED', '/nonexistent')) / 'traces'
    return folders, sorted(p for p in shared.iterdir() if p.is_dir()) if shared.is_dir() else []


def main():
    check_validator()
    one, ours = SOURCE / 'testdata/cpu1_annotated', SOURCE / 'testdata/compare'
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update(XDG_CACHE_HOME=scratch, XDG_DATA_HOME=scratch)
        folders, shared = runs()
        for run in folders:
            document('report', 'report', run, '--json')
        for run in shared:  # whether they can be read is for other tests
            document('report', 'report', run, '--json', may_fail=True)
        report = document('report', 'report', one, '--json', *[w for s in ('overview', 'steps', 'ops') for w in ('--section', s)])
        check(report['run']['devices']['count'] == 1 and report['run']['devices']['kind'] == 'CPU', f'devices: {report["run"]["devices"]}')
        check(report['run']['steps'] == {'text': "6 steps (annotation 'train', 0–5)", 'count': 6, 'source': 'annotation', 'annotation': 'train',
                                         'program': None, 'first': 0, 'last': 5, 'left_out': None, 'running': None}, f'steps: {report["run"]["steps"]}')
        check(isinstance(report['run']['start_unix_ns'], str), 'nanoseconds since 1970 are no string')
        for id in ('steps.mean', 'steps.source', 'ops', 'idle.share', 'transfers.h2d_bytes', 'work.compute', 'host.dispatch'):
            document('explanation', 'report', one, '--explain', id, '--json')
        document('report', 'diff', ours / 'base', ours / 'recompile', '--json')
        document('report', 'check', one, '--max', 'steps.mean=1ms', '--json')
        document('report', 'scale', *sorted((SOURCE / 'testdata/scale').glob('dev?')), '--json')
        document('list', 'list', SOURCE / 'testdata', '--json')
        fleet_document(one, ours / 'recompile')
        document('contents', 'extract', one, '--list', '--json')
        subprocess.run([IDSPROF, 'baseline', 'save', 'main', str(one)], check=True, capture_output=True, timeout=60)
        track = os.path.join(os.environ['XDG_DATA_HOME'], 'track.db')
        subprocess.run([IDSPROF, 'track', 'add', track, str(SOURCE / 'testdata/scale/dev*')], check=True, capture_output=True, timeout=60)
        document('report', 'track', 'show', track, '--json')
        document('report', 'track', 'diff', track, '*', '*', '--json')
        saved = document('baselines', 'baseline', 'list', '--json')
        check(saved and saved[0]['devices'] == report['run']['devices'], f'devices of a baseline: {saved}')
        document('baseline', 'baseline', 'show', 'main', '--json')
        document('history', 'baseline', 'history', 'main', '--json')
        rows = document('rows', 'query', one, '--format', 'json',
                        "SELECT 9007199254740992 AS a, 9007199254740993 AS b, -9007199254740993 AS c, x'00ff' AS d, 1.5 AS e, NULL AS f")
        check(rows == [{'a': 2**53, 'b': str(2**53 + 1), 'c': str(-2**53 - 1), 'd': rows[0]['d'], 'e': 1.5, 'f': None}], f'rows: {rows}')
        document('checkup', 'doctor', '--json')
        document('cache', 'cache', '--json')
        odd = Path(scratch) / 'idsprof' / '0123456789abcdef.db'
        odd.write_text('odd')
        verified = document('verified', 'cache', '--verify', '--json')
        check(verified and [entry['file'] for entry in verified['odd']] == [odd.name], f'cache --verify: {verified}')
        document('cleared', 'cache', '--clear', '--json')
        check_covered()
    print(f'{documents} documents')
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


sys.exit(main())
