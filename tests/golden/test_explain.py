#!/usr/bin/env python3
"""Every metric's statement gives, over the rows of an imported run, the value that the report has.

For each trace (testdata, the hand-derived ones, and the shared ones where they are) and each metric the statement that `--explain`
prints is run by Python's sqlite3, which shares nothing with the analysis but the rows. Times and counts are equal, ratios to 1e-9.
Where the report has no data, the statement must run all the same. Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_SANITIZE.

    test_explain.py [NAME ...]     only traces whose path has one of these in it
"""
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
IDSPROF = os.environ['IDSPROF']
# Metrics that no statement over rows can give, each with its reason.
WITHOUT_SQL = {}
# Whole hosts take a statement tens of seconds; their kinds of events are in smaller traces too.
LARGE = 20_000_000
MANY_STATEMENTS = 6  # that ask a view: then its rows are kept
AS_PRINTED = 20      # one run in so many is asked without such rows, by the views themselves
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def traces():
    found = sorted((SOURCE / 'testdata' / 'mini').glob('*.mini'))
    found += sorted((SOURCE / 'testdata' / 'json').glob('*.trace.json'))
    found += sorted((SOURCE / 'testdata').rglob('*.xplane.pb'))
    if SHARED.is_dir():
        found += [p for p in sorted((SHARED / 'traces').rglob('*')) if p.name.endswith(('.xplane.pb', '.json.gz', '.trace.json.gz', '.pt.trace.json'))]
    for path in found:
        if (not sys.argv[1:] or any(part in str(path) for part in sys.argv[1:])) and path.stat().st_size < LARGE:
            yield path


def equal(got, want):
    if isinstance(want, float) or isinstance(got, float):
        return got is not None and math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-15)
    return got == want


def keep_rows_of_views(db, statements):
    """Tables in memory with the rows of each view that many statements ask, under its name: it is worked out once, and not by each."""
    db.execute('PRAGMA temp_store = memory')
    asked = Counter(word for sql in statements.values() for word in set(re.findall(r'\w+', sql or '')))
    for view, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
        if asked[view] >= MANY_STATEMENTS:
            db.execute(f'CREATE TEMP TABLE {view} AS SELECT * FROM main.{view}')


def check_run(path, database, run, statements, is_as_printed):
    """The report as it was stored, for its exact picoseconds."""
    db = sqlite3.connect(f'file:{database}?mode=ro', uri=True)
    if not is_as_printed:
        keep_rows_of_views(db, statements)
    stored = {i: (v, r) for i, v, r in db.execute('SELECT id, value, reason FROM metric WHERE run = ? AND device IS NULL', (run,))}
    compared = 0
    for metric, sql in statements.items():
        if sql is None:
            continue
        try:
            rows = db.execute(sql, {'run': run}).fetchall()
        except sqlite3.Error as error:
            check(False, f'{path}: {metric}: {error}: {sql}')
            continue
        check(len(rows) <= 1 and all(len(row) == 1 for row in rows), f'{path}: {metric}: the statement gives {rows}')
        want = stored.get(metric, (None, None))[0]
        if want is None:
            continue
        got = rows[0][0] if rows else None
        check(equal(got, want), f'{path}: {metric}: the report has {want}, the rows give {got}')
        compared += 1
    db.close()
    return compared


def main():
    statements = json.loads(subprocess.run([IDSPROF, 'dump', '--sql'], capture_output=True, text=True, check=True).stdout)
    check({m for m, sql in statements.items() if not sql} == set(WITHOUT_SQL), 'metrics without a statement')
    compared = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in traces():
            database = Path(folder) / 'run.db'
            done = subprocess.run([IDSPROF, 'import', str(path), '-o', str(database), '--force', '--quiet'], capture_output=True, text=True, timeout=300)
            if done.returncode:
                continue  # what cannot be read has no report either
            compared += check_run(path, database, 1, statements, runs % AS_PRINTED == 0)
            runs += 1
    check(runs and (compared > 10 * runs or sys.argv[1:]), f'only {compared} values of {runs} runs compared')
    for failure in failures[:200]:
        print('FAIL:', failure)
    print(f'{compared} values of {runs} runs compared, {len(failures)} wrong')
    return int(bool(failures))


sys.exit(main())
