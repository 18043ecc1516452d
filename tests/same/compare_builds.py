#!/usr/bin/env python3
"""Do two builds of idsprof say the same? Runs both over every trace of testdata and IDS_SHARED, or over TRACES, and compares byte by byte.

    compare_builds.py [--allow WHAT]... [-j N] [--again] OLD_IDSPROF NEW_IDSPROF [TRACES...]

For each trace: `report --json` (cold, then from the cache) and `report`, the size of the cache after them, `dump --hash`, all rows of an
`import`, and every format of `extract`, each with its exit code and messages. A line for each difference; exit 0 the same, 1 not, 2 error.

--allow names a difference that is meant: an output (`text`), its part of JSON (`json:$.metrics['run.stats'].value`, `json:$.tables.*.rows`;
`$...` alone means both reports in JSON), or a table or column of an import (`import:event.depth`). What is below it is allowed too.
Traces that were found equal are not run again for the same two programs (their list is in TMPDIR) unless --again is given.
"""
import argparse
import hashlib
import itertools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
PROFILE = re.compile(r'\.(mini|xplane\.pb|trace\.json|json\.gz)$')
LIMIT = 600  # seconds a command may take
SHOWN = 5  # differences of one output


# ---- which traces ----

def find_traces():
    """Every profile, and every folder with several of them: the hosts of a run."""
    traces = []
    for root in (SOURCE / 'testdata', SHARED / 'traces'):
        folders = {}
        for path in sorted(root.rglob('*')):
            if PROFILE.search(path.name) and path.is_file():
                traces.append(path)
                if path.suffix != '.mini':
                    folders.setdefault(path.parent, []).append(path)
        traces += [folder for folder, files in folders.items() if len(files) > 1]
    return traces


def files_of(trace):
    return sorted(path for path in trace.rglob('*') if path.is_file()) if trace.is_dir() else [trace]


def size_of(trace):
    return sum(path.stat().st_size for path in files_of(trace))


# ---- what a build says of a trace ----

class Build:
    """Runs in a folder of its own and names its files from there, so that messages do not differ by paths."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.cache = folder / 'cache'
        folder.mkdir(parents=True)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.cache), XDG_DATA_HOME=str(folder / 'data'), TERM='dumb')

    def run(self, *arguments):
        try:
            run = subprocess.run([self.program, *map(str, arguments)], capture_output=True, cwd=self.folder, env=self.environment,
                                 timeout=LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return {'exit': b'none after %d s' % LIMIT}
        return {'exit': b'%d' % run.returncode, 'stdout': run.stdout, 'stderr': run.stderr}

    def cache_size(self):
        files = [path for path in self.cache.rglob('*') if path.is_file()]
        return {'files': b'%d' % len(files), 'bytes': b'%d' % sum(path.stat().st_size for path in files)}

    def extract(self, trace, *arguments):
        out = self.folder / 'out'
        said = self.run('extract', trace, *arguments, '-o', 'out')
        for path in sorted(out.rglob('*')) if out.exists() else ():
            if path.is_file():
                said[str(path.relative_to(out))] = path.read_bytes()
        shutil.rmtree(out, ignore_errors=True)
        return said


def export_formats(program):
    """From the program itself, so that a new format is compared too."""
    refusal = subprocess.run([program, 'extract', '-f', 'no such format', '/dev/null'], capture_output=True, text=True, timeout=60).stderr
    named = re.search(r'\(([a-z0-9_, ]+)\)', refusal)
    return [name.strip() for name in named.group(1).split(',')] if named else []


# ---- differences ----

def path_step(key):
    if isinstance(key, int):
        return f'[{key}]'
    return f'.{key}' if re.fullmatch(r'\w+', key) else f"['{key}']"


def json_differences(old, new, path=()):
    if type(old) is not type(new):
        yield path, old, new
    elif isinstance(old, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from json_differences(old.get(key, '(absent)'), new.get(key, '(absent)'), (*path, key))
    elif isinstance(old, list):
        for at, (a, b) in enumerate(zip(old, new)):
            yield from json_differences(a, b, (*path, at))
        if len(old) != len(new):
            yield path, f'{len(old)} elements', f'{len(new)} elements'
    elif old != new:
        yield path, old, new


def parse_path(text):
    steps, at = [], 1
    for match in re.finditer(r"\.(\w+|\*)|\[(\d+|\*)\]|\['([^']*)'\]", text):
        name, index, quoted = match.groups()
        if match.start() != at:
            break
        at = match.end()
        steps.append(quoted if quoted is not None else None if '*' in (name, index) else int(index) if index else name)
    if at != len(text):
        raise SystemExit(f'--allow: no path of JSON from character {at} on: {text}')
    return steps


class Allowed:
    def __init__(self, words):
        self.outputs, self.paths, self.rows = set(), [], set()
        for word in words:
            output, _, path = (word, '', '') if word.startswith('$') else word.partition(':')
            if word.startswith('$') or path.startswith('$'):
                steps = parse_path(path or word)
                self.paths += [(name, steps) for name in ([output] if path else ['json', 'json.cached'])]
            elif output == 'import' and path:
                self.rows.add(path)
            else:
                self.outputs.add(word)

    def json(self, output, path):
        return any(output == name and len(steps) <= len(path) and all(want is None or want == key for want, key in zip(steps, path))
                   for name, steps in self.paths)

    def column(self, table, column):
        return table in self.rows or f'{table}.{column}' in self.rows


def short(value):
    text = value.decode('utf-8', 'replace') if isinstance(value, bytes) else value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + '...'


def bytes_difference(part, old, new):
    at = next((at for at, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    line = old.count(b'\n', 0, at) + 1
    return f'{part}: byte {at:,} (line {line:,}) of {len(old):,}, {len(new):,}: {short(old[at - 20 if at > 20 else 0:at + 30])!r}' \
           f' -> {short(new[at - 20 if at > 20 else 0:at + 30])!r}'


def compare_json(old, new, output, allowed):
    try:
        found = list(json_differences(json.loads(old), json.loads(new)))
    except ValueError:
        return [bytes_difference('stdout', old, new)]
    if not found:  # spaces, the order of keys, how a number is written
        return [bytes_difference('stdout', old, new)]
    return [f'${"".join(map(path_step, path))}: {short(a)} -> {short(b)}' for path, a, b in found if not allowed.json(output, path)]


def compare_output(output, old, new, allowed):
    lines = []
    for part in [*old, *(part for part in new if part not in old)]:
        a, b = old.get(part), new.get(part)
        if a is None or b is None:
            lines.append(f'{part}: only in the {"new" if a is None else "old"} one')
        elif a != b:
            is_json = part == 'stdout' and output.startswith('json')
            lines += compare_json(a, b, output, allowed) if is_json else [bytes_difference(part, a, b)]
    return lines


def compare_table(table, old, new, allowed):
    query = f'SELECT * FROM "{table}" NOT INDEXED'
    a, b = old.execute(query), new.execute(query)
    columns = [[column[0] for column in cursor.description] for cursor in (a, b)]
    if columns[0] != columns[1]:
        yield f'{table}: columns {", ".join(columns[0])} -> {", ".join(columns[1])}'
        return
    free = [allowed.column(table, column) for column in columns[0]]
    differ, first = 0, None
    for at, (x, y) in enumerate(itertools.zip_longest(a, b)):
        if x == y and list(map(type, x)) == list(map(type, y)):  # 1 == 1.0
            continue
        if x is None or y is None:
            first = first or f'{table}: row {at + 1:,} is only in the {"new" if x is None else "old"} one'
        else:
            wrong = [f'{column} {short(p)} -> {short(q)}' for column, p, q, may in zip(columns[0], x, y, free)
                     if not may and (p != q or type(p) is not type(q))]
            if not wrong:
                continue
            first = first or f'{table}: row {at + 1:,}: {", ".join(wrong[:3])}'
        differ += 1
    if differ:
        yield f'{first}; {differ:,} rows differ'


def compare_databases(old, new, allowed):
    """Rows and schema. How SQLite laid them on pages is no matter of users."""
    if not old.exists() or not new.exists():
        return [] if old.exists() == new.exists() else ['a database is there in one build only']
    if old.read_bytes() == new.read_bytes():
        return []
    connections = [sqlite3.connect(f'file:{path}?mode=ro', uri=True) for path in (old, new)]
    for connection in connections:
        connection.text_factory = bytes
    schemas = [dict(connection.execute('SELECT name, sql FROM sqlite_master')) for connection in connections]
    lines = []
    for raw in sorted(schemas[0].keys() | schemas[1].keys()):
        name = raw.decode()
        if name in allowed.rows:
            continue
        a, b = (schema.get(raw, b'(absent)') for schema in schemas)
        if a != b:
            lines.append(bytes_difference(f'schema of {name}', a or b'', b or b''))
        elif a and a.upper().startswith(b'CREATE TABLE'):
            lines += compare_table(name, *connections, allowed)
    for connection in connections:
        connection.close()
    return lines


def compare_trace(trace, programs, formats, allowed, folder):
    """Lines that say what differs, and the outputs that the old build could make."""
    old, new = builds = [Build(program, folder / side) for program, side in zip(programs, ('old', 'new'))]
    outputs = [('json', lambda build: build.run('report', trace, '--json')),
               ('cache', lambda build: build.cache_size()),
               ('json.cached', lambda build: build.run('report', trace, '--json')),
               ('text', lambda build: build.run('report', trace)),
               ('dump', lambda build: build.run('dump', '--hash', trace)),
               ('import', lambda build: build.run('import', trace, '-o', 'run.db'))]
    for name in formats:
        outputs.append((name, lambda build, name=name: build.extract(trace, '-f', name)))
        if name in ('chrome', 'perfetto'):
            outputs.append((f'{name}.accounts', lambda build, name=name: build.extract(trace, '-f', name, '--accounts')))
    lines, worked = [], []
    for output, make in outputs:
        said = [make(build) for build in builds]
        if said[0].get('exit') == b'0':
            worked.append(output)
        found = compare_output(output, *said, allowed)
        if output == 'import':
            try:
                found += compare_databases(old.folder / 'run.db', new.folder / 'run.db', allowed)
            except sqlite3.Error as error:
                found.append(f'one of the databases cannot be read: {error}')
        if output not in allowed.outputs:
            lines += [f'{output}: {line}' for line in found[:SHOWN]]
            lines += [f'{output}: and {len(found) - SHOWN} more'] * (len(found) > SHOWN)
    shutil.rmtree(folder)
    return lines, worked


# ---- what was found equal before ----

class Equal:
    def __init__(self, programs, words, again):
        builds = hashlib.sha256()
        for program in programs:
            builds.update(hashlib.sha256(Path(program).read_bytes()).digest())
        builds.update(Path(__file__).read_bytes() + json.dumps(words).encode())
        folder = Path(tempfile.gettempdir()) / f'idsprof-compare-{os.getuid()}'
        folder.mkdir(exist_ok=True)
        self.path = folder / f'{builds.hexdigest()[:16]}.equal'
        if again:
            self.path.unlink(missing_ok=True)
        self.keys = set(self.path.read_text().splitlines()) if self.path.exists() else set()

    @staticmethod
    def key(trace):
        facts = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files_of(trace)]
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def __contains__(self, trace):
        return self.key(trace) in self.keys

    def add(self, trace):
        with self.path.open('a') as file:
            file.write(self.key(trace) + '\n')


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].strip(), description=__doc__.split('\n', 1)[0])
    parser.add_argument('old'), parser.add_argument('new'), parser.add_argument('traces', nargs='*', type=Path)
    parser.add_argument('--allow', action='append', default=[])
    parser.add_argument('--again', action='store_true')
    parser.add_argument('-j', type=int, default=os.cpu_count())
    options = parser.parse_args()
    programs = [str(Path(program).resolve()) for program in (options.old, options.new)]
    allowed = Allowed(options.allow)
    traces = [trace.resolve() for trace in options.traces] or find_traces()
    lacking = [path for path in [*map(Path, programs), *traces] if not path.exists()]
    formats = [] if lacking else export_formats(programs[0])
    if lacking or not formats or not traces:
        print('error:', f'{lacking[0]} is not there' if lacking else 'no trace' if formats else f'{programs[0]} names no export formats')
        return 2
    equal = Equal(programs, options.allow, options.again)
    todo = sorted((trace for trace in traces if trace not in equal), key=size_of, reverse=True)
    if len(todo) < len(traces):
        print(f'{len(traces) - len(todo)} traces were found equal before; --again runs them too')
    differing, worked = 0, []
    with tempfile.TemporaryDirectory(prefix='compare_builds.') as scratch, ThreadPoolExecutor(options.j) as pool:
        jobs = {pool.submit(compare_trace, trace, programs, formats, allowed, Path(scratch) / str(at)): trace for at, trace in enumerate(todo)}
        for done, job in enumerate(as_completed(jobs), 1):
            trace = jobs[job]
            lines, outputs = job.result()
            worked += outputs
            name = os.path.relpath(trace, SOURCE)
            if lines:
                differing += 1
                print(*(f'{name}: {line}' for line in lines), sep='\n', flush=True)
            else:
                equal.add(trace)
            if sys.stderr.isatty() or done % 50 == 0:
                print(f'{done} of {len(todo)} traces, {differing} differ', file=sys.stderr, end='\r' if sys.stderr.isatty() else '\n')
    if todo and 'json' not in worked:
        print('error: the old build could report on no trace, so nothing was compared')
        return 2
    print(f'{len(traces)} traces, {differing} differ; {len(worked)} outputs were made in this run')
    return 1 if differing else 0


if __name__ == '__main__':
    sys.exit(main())
