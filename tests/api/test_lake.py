#!/usr/bin/env python3
"""The folder of idsprof.lake, without DuckDB: files of any kind take the place of Parquet. A writer that ends at any rename leaves runs whole,
the next one finishes what it began; a run replaces itself and what it has no more; a namesake from elsewhere stays. peers.lake looks at rows.

Environment: IDS_SOURCE_DIR, IDS_BUILD_DIR, TMPDIR.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HOOK = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib', 'idsprof', 'python')
sys.path.insert(0, HOOK)
from idsprof import lake  # noqa: E402

COLUMNS = [['id', 'BIGINT'], ['run', 'VARCHAR'], ['host', 'VARCHAR']]
failures = []


def check(ok, *message):
    if not ok:
        failures.append(message)
        print('FAIL:', *message)


def write(folder, key, text, tables, schema=7):
    """What a writer does, with a file for the rows of each table."""
    opened = lake.Lake(folder)
    opened.make()
    with opened.staged() as staged:
        for table in tables:
            place = os.path.join(staged, 'new', table, 'run=' + key, 'host=a')
            os.makedirs(place)
            with open(os.path.join(place, 'part_0.parquet'), 'w') as file:
                file.write(text)
        opened.commit(staged, key, schema, {table: COLUMNS for table in ('events', 'ops', 'diag', 'run')})


def state(folder):
    """Of each run and table what its files say."""
    found = {}
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith('.parquet') and '/.' not in place[len(folder):]:
                with open(os.path.join(place, name)) as file:
                    found.setdefault(place[len(folder) + 1:], []).append(file.read())
    return found


def expected(**runs):
    return {'%s/run=%s/host=a' % (table, key): [text] for key, (text, tables) in runs.items() for table in tables}


def leftovers(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith(('.adding', '.ready')))


def end_at_rename(folder, rename):
    """A writer of run r that ends before its rename with this number. Its exit status."""
    child = os.fork()
    if child == 0:
        left, real = [rename], os.rename

        def dying(*arguments):
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
            real(*arguments)
        os.rename = dying
        write(folder, 'r', 'new', ('events', 'diag'))
        os._exit(0)
    return os.waitpid(child, 0)[1]


def check_ends(scratch):
    old, new = ('old', ('events', 'ops')), ('new', ('events', 'diag'))
    for rename in range(7):
        folder = os.path.join(scratch, 'ends-%d' % rename)
        write(folder, 'r', *old)
        write(folder, 'other', *old)
        status = end_at_rename(folder, rename)
        with lake.Lake(folder).staged():
            check(len(leftovers(folder)) == 1, 'rename', rename, 'left beside the next writer', leftovers(folder))
        want = expected(r=old if rename == 0 else new, other=old)
        check(state(folder) == want, 'a writer that ended at rename', rename, state(folder), 'not', want)
        check((status != 0) == (rename < 5), 'rename', rename, 'status', status)    # events away and in, ops away, diag in, after its own
        check(not leftovers(folder), 'rename', rename, 'left', leftovers(folder))


def check_living(scratch):
    """What a living writer has is left alone; what a killed one had is removed."""
    folder = os.path.join(scratch, 'living')
    write(folder, 'r', 'old', ('events',))
    writer = subprocess.Popen([sys.executable, '-c', 'import sys\nsys.path.insert(0, %r)\nfrom idsprof import lake\n'
                               'with lake.Lake(%r).staged():\n    print("at work", flush=True)\n    sys.stdin.read()' % (HOOK, folder)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writer.stdout.readline()
    at_work = leftovers(folder)
    write(folder, 's', 'old', ('events',))
    check(len(at_work) == 1 and leftovers(folder) == at_work, 'a living writer', at_work, leftovers(folder))
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    write(folder, 's', 'new', ('events',))
    check(not leftovers(folder), 'a killed writer left', leftovers(folder))
    check(state(folder) == expected(r=('old', ('events',)), s=('new', ('events',))), state(folder))


def refused(words, function, *arguments):
    try:
        function(*arguments)
        check(False, 'not refused:', words)
    except lake.Error as error:
        check(words in str(error), 'said', str(error), 'not', words)


def check_versions(scratch):
    folder = os.path.join(scratch, 'versions')
    write(folder, 'r', 'old', ('events',), schema=7)
    write(folder, 's', 'new', ('events',), schema=8)
    refused('rows of schema 8, and this idsprof writes 7', write, folder, 't', 'older', ('events',), 7)
    check(lake.Lake(folder).tables()['schema'] == 8 and lake.Lake(folder).runs() == [], 'schema', lake.Lake(folder).tables())
    check(len(state(folder)) == 2 and not leftovers(folder), 'a refused run', state(folder), leftovers(folder))
    for text, words in (('{"layout": 2}', 'written by a newer idsprof'), ('{', 'is damaged'), ('[]', 'is damaged'), ('{"layout": 1}', 'is damaged')):
        with open(os.path.join(folder, 'lake.json'), 'w') as file:
            file.write(text)
        refused(words, write, folder, 't', 'x', ('events',))
    strange = os.path.join(scratch, 'strange')
    os.makedirs(os.path.join(strange, 'papers'))
    refused("is no lake, and holds 'papers'", write, strange, 'r', 'x', ('events',))


def check_views(scratch):
    folder = os.path.join(scratch, "it's a lake")
    write(folder, 'r', 'old', ('events', 'run'))
    views = lake.Lake(folder).views()
    with open(os.path.join(folder, 'views.sql')) as file:
        check(file.read() == views, 'views.sql is not what views() says')
    check("it''s a lake" in views and 'union_by_name' in views, views)
    check('CAST(NULL AS BIGINT) AS "id"' in views.split('VIEW "ops"')[1].split(';')[0], 'a table without rows', views)
    check("WHERE run = 'r'" in lake.Lake(folder).views('r'), lake.Lake(folder).views('r'))
    refused("no run 'nobody'", lake.Lake(folder).views, 'nobody')


def check_words(scratch):
    """What cannot be read is listed beside what can, and is said in the program's words."""
    empty, source = os.path.join(scratch, 'nights', 'empty.xplane.pb'), os.environ['IDS_SOURCE_DIR']
    os.makedirs(os.path.dirname(empty))
    open(empty, 'w').close()
    check(len(lake.runs_of(os.path.dirname(empty))) == 1, 'a run that cannot be read is not listed')
    for path, words in ((empty, 'the file is empty'), (os.path.dirname(empty), "'%s': the file is empty" % empty)):
        try:
            lake.import_run(lake.runs_of(path)[0], os.path.join(scratch, 'run.db'))
            check(False, 'an empty file is imported')
        except lake.Error as error:
            check(str(error) == words, 'an empty file', error)
    shutil.copytree(os.path.join(source, 'testdata/cpu1_plain'), os.path.join(scratch, 'nights', 'good'))
    check(len(lake.runs_of(os.path.dirname(empty))) == 2, 'a good run beside it is not listed')
    try:
        lake.runs_of(os.path.join(scratch, 'nowhere'))
        check(False, 'what is not there is listed')
    except lake.Error as error:
        check('nowhere' in str(error) and 'said nothing' not in str(error), 'what is not there', error)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check_ends(scratch)
        check_living(scratch)
        check_versions(scratch)
        check_views(scratch)
        check_words(scratch)
    keys = {lake.key_of(name, source) for name, source in (('a', '/x'), ('a', '/y'), ('b', '/x'), ('a', '/x'))}
    check(len(keys) == 3, 'keys', keys)
    check(lake.key_of('a b/ü=', '/x').rpartition('-')[0] == 'a_b___', lake.key_of('a b/ü=', '/x'))
    print(json.dumps({'failures': len(failures)}))
    return bool(failures)


sys.exit(main())
