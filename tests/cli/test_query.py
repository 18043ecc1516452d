#!/usr/bin/env python3
"""`idsprof query`: the questions of its manual, the formats, what a statement may not do, and the cache of events.

Answers are held against the oracle's decoding of the same file. Environment: IDSPROF, IDS_SOURCE_DIR; XDG_CACHE_HOME is the test's own.
"""
import csv
import io
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
sys.path.insert(0, str(SOURCE / 'tests' / 'oracle'))
import xplane_oracle  # noqa: E402

CPU1 = next((SOURCE / 'testdata' / 'cpu1_annotated').rglob('*.xplane.pb'))
PLANES = xplane_oracle.load(CPU1)
EVENTS = [(plane, line, event) for plane in PLANES for line in plane.lines for event in line.events]
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def query(run, *arguments, stdin=None):
    return subprocess.run([IDSPROF, 'query', str(run), *map(str, arguments)], capture_output=True, text=True, timeout=120, input=stdin)


def answer(run, sql):
    done = query(run, sql, '--format', 'json')
    if done.returncode:
        failures.append('%s: %s' % (sql, done.stderr.strip()))
        return []
    return json.loads(done.stdout)


def listed():
    """The list of tables, which SQLite has since 3.37."""
    version = answer(CPU1, 'SELECT sqlite_version() AS v')[0]['v']
    return ['SELECT * FROM pragma_table_list'] if [int(part) for part in version.split('.')] >= [3, 37] else []


def questions():
    """[(question, SQL)] of the manual."""
    page = (SOURCE / 'man' / 'idsprof-query.1').read_text()
    examples = page[page.index('.Sh EXAMPLES'):]
    found = re.findall(r'\n([^.\n][^\n]*(?:\n[^.\n][^\n]*)*)\n\.Bd -literal -offset indent\n(.*?)\n\.Ed', examples, re.S)
    return [(' '.join(q.split()), sql) for q, sql in found]


def python_self():
    """Σ self time by name on the Python thread, by the definition: less what lies wholly inside."""
    total = Counter()
    for plane in PLANES:
        for line in plane.lines:
            if line.name != b'python':
                continue
            stack = []
            for e in sorted(line.events, key=lambda e: (e.start, -e.dur)):
                while stack and not (e.start + e.dur <= stack[-1][0] and (e.start < stack[-1][0] or not e.dur)):
                    stack.pop()
                total[e.name.decode()] += e.dur
                if stack:
                    total[stack[-1][1]] -= e.dur
                stack.append((e.start + e.dur, e.name.decode()))
    return total


def check_questions():
    asked = dict(questions())
    check(len(asked) == 12, f'the manual asks {len(asked)} questions')
    answers = {q: answer(CPU1, sql) for q, sql in asked.items()}
    for q, rows in answers.items():
        check(rows, f'no answer: {q}')
    by = lambda word: next(rows for q, rows in answers.items() if word in q)  # noqa: E731

    own = python_self()
    for row in by('Python thread'):
        check(abs(row['ms'] * 1e9 - own[row['name']]) < 1000, f'self time of {row}: {own[row["name"]]}')
    tracks = Counter((p.name.decode(), l.name.decode(), len(l.events)) for p in PLANES for l in p.lines)
    check(Counter((r['plane'], r['track'], r['events']) for r in by('timelines')) == tracks, 'timelines')
    steps = sorted(xplane_oracle.number(e, b'step_num') for e in xplane_oracle.step_annotations(PLANES))
    check([r['step'] for r in by('each step')] == steps, f'steps {by("each step")}')
    keys = Counter()
    for _, _, event in EVENTS:
        keys.update(k.decode() for k, _ in event.stats)
    got = Counter()
    for row in by('Which stats'):
        got[row['key']] += row['uses']
    check(all(got[k] >= n for k, n in keys.items()), f'stats {got} {keys}')
    check(got['hlo_op'] == keys['hlo_op'] and got['run_id'] == keys['run_id'] and got['_p'] == keys['_p'], 'uses of stats')
    # an op of the CPU client ends with its `end:`, which bears as _c what the op bears as _p
    ends = xplane_oracle.cpu_op_ends(PLANES)
    ran = [max(e.dur, ends.get(xplane_oracle.number(e, b'_p'), 0) - e.start) for _, _, e in EVENTS if b'hlo_op' in dict(e.stats)]
    check([round(r['us'] * 1e6) for r in by('slowest')] == sorted(ran, reverse=True)[:10], 'slowest ops')
    check(all(r['module'].startswith('jit_') and r['step'] is not None for r in by('slowest')), f'{by("slowest")}')
    led = by('led to the slowest op')
    check(led[0]['name'] == by('slowest')[0]['op'] and led[-1]['name'] == 'train' and led[-1]['track'] == 'python', f'causes: {led}')
    around = by('longest compilation')
    longest = max((e for _, _, e in EVENTS if e.name.startswith(b'backend_compile')), key=lambda e: e.dur)
    check(around[-1]['name'] == longest.name.decode() and [r['depth'] for r in around] == list(range(len(around))), f'around {around}')
    report = json.loads(subprocess.run([IDSPROF, 'report', str(CPU1), '--json'], capture_output=True, text=True).stdout)
    table = lambda name: [dict(zip((c['id'] for c in report['tables'][name]['columns']), row)) for row in report['tables'][name]['rows']]  # noqa: E731
    columns = {'work.compute': 'compute', 'comm.transfer': 'transfer', 'comm.wait': 'wait', 'stall.device': 'stalled', 'profiler': 'host'}
    groups = {'copy': 'copies', 'host': 'host', 'device': 'device'}
    parts = Counter()
    for row in by('time of each step'):
        parts[row['step'], columns.get(row['account']) or groups[row['account'].split('.')[0]]] += row['ms'] / 1e3
    for row in table('steps'):
        for column in {*columns.values(), *groups.values()}:
            got = parts.pop((row['step'], column), 0)
            check(abs(got - row[column]) < 1e-11, f'{column} of step {row["step"]} is {got}, the report has {row[column]}')
    check(not parts, f'parts of no step: {parts}')
    made, taken = {}, []
    for _, _, e in EVENTS:
        stats = dict(e.stats)
        if b'_p' in stats:
            made.setdefault((stats.get(b'_pt', b'i:0')[2:], stats[b'_p'][2:]), e)
        if b'_c' in stats:
            taken.append(((stats.get(b'_ct', b'i:0')[2:], stats[b'_c'][2:]), e))
    flows = sum(key in made for key, _ in taken)
    check(answer(CPU1, "SELECT count(*) AS n FROM flows WHERE kind = 'link'") == [{'n': flows}], f'{flows} links')
    idle = Counter()
    for row in by('idle'):
        idle[row['account']] += round(row['ms'] * 1e9)
    for name, metric in report['metrics'].items():
        if re.fullmatch(r'idle\.(.*\..*|profiler)', name):
            got = idle.pop(name.removeprefix('idle.'), 0)
            check(got == round(metric['value'] * 1e12), f'{name} is {got} ps, the report has {metric["value"]}')
    check(not idle, f'accounts of no metric: {idle}')


def check_formats():
    sql = "SELECT 1 AS a, 2.5 AS b, NULL AS c, 'x,\"y\"' AS d, x'00ff' AS e, '' AS f, char(27) || 'z' AS g"
    check(answer(CPU1, sql) == [{'a': 1, 'b': 2.5, 'c': None, 'd': 'x,"y"', 'e': "x'00ff'", 'f': '', 'g': '\x1bz'}], 'json')
    out = query(CPU1, sql, '--format', 'csv').stdout
    check(list(csv.reader(io.StringIO(out))) == [list('abcdefg'), ['1', '2.5', '', 'x,"y"', "x'00ff'", '', '\ufffdz']], f'csv {out!r}')
    check(out.splitlines()[1].startswith('1,2.5,,"x,""y""",x\'00ff\',"",'), 'NULL and "" are one in CSV')
    out = query(CPU1, "SELECT 'ä' AS name, 10 AS n UNION ALL SELECT 'b', 9").stdout
    check(out == 'name   n\nä     10\nb      9\n', f'table {out!r}')
    check('\x1b' not in query(CPU1, sql).stdout, 'a terminal is sent what a name says')
    check(query(CPU1, 'SELECT 1 WHERE 0', '--format', 'json').stdout.split() == ['[]'], 'no rows as JSON')
    many = query(CPU1, 'WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n').stdout
    check(many.split() == ['i'] + [str(i) for i in range(1, 5001)], 'many rows as a table')
    check(query(CPU1, '-f', '-', stdin='SELECT 7 AS n; -- done\n').stdout.split() == ['n', '7'], 'SQL from standard input')
    with tempfile.NamedTemporaryFile('w', suffix='.sql') as file:
        file.write('/* a file */ SELECT 8 AS n')
        file.flush()
        check(query(CPU1, '-f', file.name).stdout.split() == ['n', '8'], 'SQL from a file')
    schema = query(CPU1, '--schema').stdout
    check('CREATE VIEW events' in schema and 'CREATE TABLE event ' in schema and '-- how long it took' in schema, '--schema')


def check_gate():
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / 'run.db'
        subprocess.run([IDSPROF, 'import', str(CPU1), '-o', str(database), '-q'], check=True)
        before = database.read_bytes()
        target = Path(folder) / 'target'
        target.write_text('secret')
        for sql in (f"ATTACH '{target}' AS t", f"VACUUM INTO '{folder}/copy'", 'DELETE FROM event', 'DROP TABLE event', 'UPDATE run SET name = 1',
                    'INSERT INTO run VALUES (9, 9, 9, 9, 9, 9)', 'CREATE TABLE t(a)', 'CREATE TEMP TABLE t(a)', 'CREATE TEMP VIEW v AS SELECT 1',
                    'CREATE TEMP TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END', 'PRAGMA journal_mode = wal', 'PRAGMA user_version = 9',
                    'PRAGMA query_only = 0', 'PRAGMA writable_schema = 1', 'PRAGMA trusted_schema = 1', "PRAGMA temp_store_directory = '/'",
                    "SELECT load_extension('x')", f"SELECT readfile('{target}')", f"SELECT writefile('{folder}/w', 1)", 'BEGIN', 'SAVEPOINT a',
                    'REINDEX', 'ANALYZE', 'DETACH main', 'ALTER TABLE run RENAME TO r', 'SELECT 1; DELETE FROM event',
                    'CREATE VIRTUAL TABLE temp.x USING fts5(a)', 'SELECT zeroblob(900000000)'):
            done = query(database, sql)
            check(done.returncode == 2 and done.stdout == '' and done.stderr.startswith('idsprof: query: '), f'{sql}: {done}')
            check('secret' not in done.stdout + done.stderr, f'{sql} reads another file')
        check(database.read_bytes() == before, 'the database was changed')
        check(sorted(p.name for p in Path(folder).iterdir()) == ['run.db', 'target'], 'files were made')
        for sql in ('PRAGMA table_info(event)', 'PRAGMA user_version', 'EXPLAIN QUERY PLAN SELECT * FROM events', 'VALUES (1)',
                    "SELECT json_extract('{\"a\": 1}', '$.a')", *listed(),
                    "SELECT value FROM json_each('[1, 2]')"):
            check(query(database, sql).returncode == 0, f'{sql}: {query(database, sql).stderr}')


def check_forms():
    """--json and --csv as elsewhere, and what is in every database without a run."""
    sql = 'SELECT 1 AS a, NULL AS b'
    check(json.loads(query(CPU1, sql, '--json').stdout) == [{'a': 1, 'b': None}], '--json')
    check(query(CPU1, sql, '-j').stdout == query(CPU1, sql, '--format', 'json').stdout, '-j and --format json')
    check(query(CPU1, sql, '--csv').stdout == query(CPU1, sql, '--format', 'csv').stdout, '--csv and --format csv')
    for arguments in (('--json', '--csv'), ('--json', '--format', 'csv')):
        done = query(CPU1, sql, *arguments)
        check(done.returncode == 2 and 'exclude each other' in done.stderr, f'{arguments}: {done}')
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([IDSPROF, 'query', '--schema'], capture_output=True, text=True, env={**os.environ, 'TMPDIR': folder})
        check(done.returncode == 0 and done.stdout == query(CPU1, '--schema').stdout, f'--schema without a run: {done.stderr}')
        check(not list(Path(folder).iterdir()), '--schema leaves a file')
    done = subprocess.run([IDSPROF, 'query'], capture_output=True, text=True)
    check(done.returncode == 2 and 'RUN is missing' in done.stderr, f'query alone: {done.stderr}')


def value(expression, table='(SELECT 0)'):
    rows = answer(CPU1, f'SELECT {expression} AS v FROM {table}')
    return rows[0]['v'] if rows else 'nothing'


def check_functions():
    """median, percentile, stddev and regexp, against Python's."""
    durations = [row['dur_ps'] for row in answer(CPU1, 'SELECT dur_ps FROM events WHERE dur_ps > 0')]
    events = 'events WHERE dur_ps > 0'
    near = lambda got, want, what: check(abs(got - want) <= 1e-9 * max(1, abs(want)), f'{what}: {got}, not {want}')  # noqa: E731
    near(value('median(dur_ps)', events), statistics.median(durations), 'median')
    near(value('stddev(dur_ps)', events), statistics.stdev(durations), 'stddev')
    cuts = statistics.quantiles(durations, n=100, method='inclusive')
    for p in (1, 5, 50, 90, 95, 99):
        near(value(f'percentile(dur_ps, {p})', events), cuts[p - 1], f'percentile {p}')
    near(value('percentile(dur_ps, 0)', events), min(durations), 'percentile 0')
    near(value('percentile(dur_ps, 100)', events), max(durations), 'percentile 100')
    near(value('stddev(1e15 + column1)', '(VALUES (1), (2), (3))'), 1, 'stddev far from 0')
    four = '(VALUES (4), (NULL), (1), (10), (3))'
    check(value('median(column1)', four) == 3.5 and value("median(column1) FILTER (WHERE column1 > 3)", four) == 7, 'NULL is no value')
    for expression in ('median(column1)', 'percentile(column1, 95)', 'stddev(column1)'):
        check(value(expression, '(VALUES (1)) WHERE 0') is None, f'{expression} of nothing')
    check(value('stddev(column1)', '(VALUES (1))') is None, 'stddev of one')
    moving = answer(CPU1, 'SELECT median(column1) OVER (ORDER BY rowid ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS v, stddev(column1) OVER () AS s '
                          'FROM (SELECT 1 AS rowid, 1 AS column1 UNION ALL VALUES (2, 5), (3, NULL), (4, 9), (5, 2))')
    check([row['v'] for row in moving] == [1, 3, 5, 9, 5.5], f'a moving median: {moving}')
    check(all(abs(row['s'] - statistics.stdev([1, 5, 9, 2])) < 1e-9 for row in moving), f'stddev as a window function: {moving}')
    for text, pattern, want in (('jit_train_step', '^jit_', 1), ('jit_train_step', 'step$', 1), ('abc', 'B', 0), ('dot.12', r'^(dot|add)\.[0-9]+$', 1),
                                ('x]', '[]{]', 1), ('aaaa', '^a{2,4}$', 1), ('\u00e4', '\u00e4', 1)):
        check(value(f"'{text}' REGEXP '{pattern}'") == want and value(f"regexp('{pattern}', '{text}')") == want, f"'{text}' REGEXP '{pattern}'")
    check(value("'a' REGEXP NULL") is None and value("NULL REGEXP 'a'") is None, 'REGEXP of NULL')
    names = [row['name'] for row in answer(CPU1, 'SELECT name FROM events')]
    check(value('count(*)', "events WHERE name REGEXP '^(dot|ynn).*[0-9]$'") == sum(bool(re.search('^(dot|ynn).*[0-9]$', n)) for n in names), 'REGEXP over rows')
    for sql, word in (("SELECT 'a' REGEXP '('", 'regexp: Unmatched'), ("SELECT 'a' REGEXP '(a{100}){100}'", 'multiply to more than 1000'),
                      ("SELECT 'aa' REGEXP '(a)\\1'", 'back references'), ("SELECT '' REGEXP '" + 'a' * 1001 + "'", 'more than 1000 bytes'),
                      ('SELECT percentile(1, 101)', 'from 0 to 100'), ("SELECT percentile(1, 'x')", 'from 0 to 100'), ("SELECT median('x')", 'take numbers'),
                      ('SELECT percentile(column1, column1) FROM (VALUES (1), (2))', 'differs from row to row')):
        done = query(CPU1, sql)
        check(done.returncode == 2 and word in done.stderr, f'{sql}: {done.stderr}')
    with tempfile.TemporaryDirectory() as folder:  # a view of a foreign file may use those that cost nothing
        database = Path(folder) / 'views.db'
        db = sqlite3.connect(database)
        db.create_function('regexp', 2, lambda *a: 0)
        db.executescript("CREATE VIEW a AS SELECT median(1) AS v; CREATE VIEW b AS SELECT 'a' REGEXP 'a' AS v;")
        db.close()
        check(query(database, 'SELECT v FROM a').returncode == 0 and query(database, 'SELECT v FROM b').returncode == 2, 'functions in views')


def check_causes():
    """From cause to cause each op leads to the annotation of its step, through the launch and whatever thread handed it on."""
    chained = answer(CPU1, """WITH RECURSIVE chain(op, id) AS (
        SELECT id, id FROM ops UNION SELECT c.op, e.cause FROM chain c JOIN events e ON e.id = c.id WHERE e.cause IS NOT NULL)
        SELECT o.id, o.step AS step, count(*) AS steps, max(s.value) AS number FROM ops o JOIN chain c ON c.op = o.id
        JOIN events e ON e.id = c.id AND e.name = 'train' JOIN stats s ON s.event = e.id AND s.key = 'step_num' GROUP BY o.id""")
    check(len(chained) == value('count(*)', 'ops') and all(r['steps'] == 1 and r['number'] == r['step'] for r in chained), f'steps by causes: {chained}')
    launched = answer(CPU1, "SELECT f.to_event, f.from_name, f.delay_ps FROM flows f JOIN ops o ON o.id = f.to_event WHERE f.kind = 'launch'")
    check(len(launched) == value('count(*)', 'ops') and all(r['delay_ps'] >= 0 for r in launched), f'launches of ops: {launched}')
    # where the file ties the two itself, there is one flow, and a cause
    gpu = SOURCE / 'testdata' / 'mini' / 'idle_sync.mini'
    kinds = answer(gpu, 'SELECT kind, count(*) AS n FROM flows GROUP BY kind')
    check([r['kind'] for r in kinds] == ['correlation'], f'flows of a GPU: {kinds}')
    check(value('count(*)', 'activities a JOIN events e ON e.id = a.id WHERE e.cause IS NULL') == 0, 'an activity without a cause')


def check_ops():
    """Scope, pass and family of an op in rows are those of the report."""
    rows = answer(CPU1, 'SELECT DISTINCT op, module, op_name, scope, pass, family FROM ops')
    report = json.loads(subprocess.run([IDSPROF, 'report', str(CPU1), '--json', '--section', 'ops'], capture_output=True, text=True).stdout)['tables']['ops']
    place = {column['id']: i for i, column in enumerate(report['columns'])}
    told = {(r[place['name']], r[place['module']]): [r[place[c]] for c in ('op_name', 'scope', 'pass', 'family')] for r in report['rows']}
    check(all(told[r['op'], r['module']] == [r[c] for c in ('op_name', 'scope', 'pass', 'family')] for r in rows) and len(told) == len(rows), f'{rows} {told}')
    check(['jit(train_step)/transpose(jvp(layer0))/transpose', 'layer0', 'backward', 'matrix product'] in
          [[r[c] for c in ('op_name', 'scope', 'pass', 'family')] for r in rows if r['op'] == 'dot'], f"dot: {[r for r in rows if r['op'] == 'dot']}")


def check_documented():
    """Every table and view says what it is, and every column of it, in its own SQL."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / 'run.db'
        subprocess.run([IDSPROF, 'import', str(CPU1), '-o', str(database), '-q'], check=True)
        db = sqlite3.connect(database)
        nouns = {name: sql for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")}
        check({'events', 'stats', 'flows', 'activities', 'device_time', 'kernels', 'ops', 'memcpys', 'gaps', 'steps', 'collectives', 'compiles', 'devices', 'tracks',
               'diag'} <= nouns.keys(), f'nouns: {sorted(nouns)}')
        for name, sql in nouns.items():
            head = sql.split('\n', 1)[0]
            check(re.search(r'-- \S', head), f'{name} is not documented: {head}')
            for column in db.execute(f'PRAGMA table_info("{name}")'):
                told = re.search(rf'^ *(?:.* AS )?"?{re.escape(column[1])}"?(?: [A-Z ]+)?,? *-- \S', sql, re.M)
                check(told, f'{name}.{column[1]} is not documented')
        db.close()


def check_database_as_run():
    """report and list take a database for the runs that are in it."""
    tool = lambda *a: subprocess.run([IDSPROF, *map(str, a)], capture_output=True, text=True, timeout=120)  # noqa: E731
    cpu8 = next((SOURCE / 'testdata' / 'cpu8_annotated').rglob('*.xplane.pb'))
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / 'two.db'
        tool('import', CPU1, cpu8, '-o', database)
        for name, path in (('cpu1_annotated', CPU1), ('cpu8_annotated', cpu8), (None, cpu8)):
            mine = tool('report', database, '--json', *(['--run', name] if name else []))
            want, got = json.loads(tool('report', path, '--json').stdout), json.loads(mine.stdout or '{}')
            check(mine.returncode == 0 and got.get('metrics') == want['metrics'] and got['tables'] == want['tables'],
                  f'report of a database: {mine.stderr}')
        listed = json.loads(tool('list', database, '--json').stdout)['runs']
        check(len(listed) == 2 and all(r['state'] == 'whole' for r in listed), f'list of a database: {listed}')
        done = tool('report', database, '--small-kernel', '1us')
        check(done.returncode == 2 and 'two.db' in done.stderr, f'another parameter: {done}')
        other = Path(folder) / 'other.db'
        subprocess.run([sys.executable, '-c', f"import sqlite3; sqlite3.connect({str(other)!r}).execute('CREATE TABLE t(a)')"], check=True)
        done = tool('report', other)
        check(done.returncode == 2 and 'other.db' in done.stderr, f"somebody else's database: {done}")


def check_errors():
    for arguments, word in (([], 'no SQL'), (['SELECT 1', '--schema'], 'exclude'), (['selec'], 'syntax'), (['SELECT * FROM nothing'], 'nothing'),
                            (['-f', '/nonexistent.sql'], '/nonexistent.sql'), ([''], 'no SQL'), (['SELECT 1; SELECT 2'], 'one statement')):
        done = query(CPU1, *arguments)
        check(done.returncode == 2 and word in done.stderr and not done.stdout, f'{arguments}: {done}')
    done = query(SOURCE / 'README.md', 'SELECT 1')
    check(done.returncode == 2 and 'README.md' in done.stderr, f'no run: {done}')


def check_cache():
    """A run is imported once; a damaged file is imported again; two at a time get along."""
    cache = Path(os.environ['XDG_CACHE_HOME']) / 'idsprof'
    sql = 'SELECT count(*) AS n FROM event'
    want = [{'n': len(EVENTS)}]
    for path in cache.glob('*.db*'):
        path.unlink()
    check(answer(CPU1, sql) == want, 'the first query')
    files = {p.name: p.stat().st_ino for p in cache.iterdir()}
    check(len(files) == 1 and answer(CPU1, sql) == want, f'the cache holds {files}')
    check({p.name: p.stat().st_ino for p in cache.iterdir()} == files, 'the second query imports again')
    entry = next(cache.iterdir())
    entry.write_bytes(entry.read_bytes()[:16384])
    check(answer(CPU1, sql) == want, 'a cut file in the cache')
    entry.unlink()
    both = [subprocess.Popen([IDSPROF, 'query', str(CPU1), sql, '--format', 'json'], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    check(all(json.loads(p.communicate(timeout=60)[0]) == want for p in both), 'four at a time')
    check(len(list(cache.iterdir())) == 1, 'temporary files stay')


def check_interrupt():
    """An interrupt ends the statement with a word; one during the import leaves nothing."""
    endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 60000'
    process = subprocess.Popen([IDSPROF, 'query', str(CPU1), endless, '--format', 'csv'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    shown = b''
    while len(shown) < 200000:  # so it runs; what is left of the rows waits in it
        shown += process.stdout.read(65536)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    rows = (shown + out).split()
    check(process.returncode == 2 and err == b'idsprof: query: interrupted\n', f'SIGINT: {process.returncode} {err}')
    check(rows == [b'i'] + [b'%d' % i for i in range(1, len(rows))], 'what was found before an interrupt is not printed')
    cache = Path(os.environ['XDG_CACHE_HOME']) / 'idsprof'
    ended = 0
    for i in range(12):
        for path in cache.glob('*.db*'):
            path.unlink()
        process = subprocess.Popen([IDSPROF, 'query', str(CPU1), 'SELECT 1'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 20
        while process.poll() is None and not list(cache.glob('*.tmp-*')) and time.monotonic() < deadline:
            pass
        time.sleep(0.001 * i)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        ended += process.returncode not in (0, 2)
        left = list(cache.glob('*.tmp-*'))
        check(not left, f'SIGINT while it imports leaves {left}')
    check(ended, 'SIGINT came too late each time')


def damaged_entry(events):
    """A run of so many events, whose database in the cache is damaged where a query reads."""
    cache = Path(os.environ['XDG_CACHE_HOME']) / 'idsprof'
    run = Path(tempfile.mkdtemp(dir=os.environ['XDG_CACHE_HOME'])) / 'a.trace.json'
    run.write_text(json.dumps({'traceEvents': [
        {'ph': 'X', 'cat': 'kernel', 'name': f'k{i % 9}', 'pid': 0, 'tid': 7, 'ts': 2 * i, 'dur': 1, 'args': {'device': 0, 'stream': 7, 'correlation': i + 1}}
        for i in range(events)]}))
    for path in cache.glob('*.db*'):
        path.unlink()
    count = 'SELECT sum(dur_ps) FROM event'
    whole = query(run, count)
    check(whole.returncode == 0, f'query: {whole}')
    entry = next(cache.glob('*.db'))
    content = bytearray(entry.read_bytes())
    page_bytes = int.from_bytes(content[16:18], 'big')
    for at in range(len(content) // 4, len(content) * 3 // 4, page_bytes):
        content[at] ^= 1
    entry.write_bytes(content)
    return cache, run, count, whole.stdout


def check_interrupt_again():
    """An interrupt while a damaged entry is made again ends the program at once, and leaves nothing."""
    cache, run, count, _ = damaged_entry(20000 if SANITIZED else 100000)
    process = subprocess.Popen([IDSPROF, 'query', str(run), count], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while process.poll() is None and not list(cache.glob('*.tmp-*')) and time.monotonic() < deadline:
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    check(process.returncode == -signal.SIGINT and not out, f'SIGINT while an entry is made again: {process.returncode} {out} {err}')
    check(not list(cache.glob('*.tmp-*')), 'SIGINT while an entry is made again leaves a file')


def check_watchdog():
    """What stops SQL that does not let itself be stopped counts the time of the SQL, and not that of making a damaged entry again."""
    _, run, count, want = damaged_entry(30000 if SANITIZED else 100000)
    short = {**os.environ, 'LD_PRELOAD': os.environ['IDS_SHORT_TIMER'], 'ASAN_OPTIONS': 'verify_asan_link_order=0'}
    ask = [IDSPROF, 'query', '--timeout', '1s', str(run)]
    # 3 s, less than the making and more than all else.
    short['IDS_TIMER_DIVIDE'] = '10' if SANITIZED else '30'
    again = subprocess.run([*ask, count], capture_output=True, text=True, timeout=120, env=short)
    check(again.returncode == 0 and again.stdout == want, f'making again counts as SQL: {again}')
    hangs = "SELECT instr(hex(zeroblob(20000000)), hex(zeroblob(9000000)) || '1')"
    stopped = subprocess.run([*ask, hangs], capture_output=True, text=True, timeout=120, env=short)
    check(stopped.returncode == 2 and 'too much CPU time' in stopped.stderr, f'SQL that hangs: {stopped}')


for test in (check_questions, check_formats, check_gate, check_forms, check_functions, check_causes, check_ops, check_documented, check_database_as_run, check_errors, check_cache, check_interrupt,
             check_interrupt_again, check_watchdog):
    test()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
