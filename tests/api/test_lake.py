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
import urllib.parse

HOOK = os.path.join(os.environ['IDS_BUILD_DIR'], 'lib', 'idsprof', 'python')
sys.path.insert(0, HOOK)
from idsprof import lake  # noqa: E402

COLUMNS = [['id', 'BIGINT'], ['run', 'VARCHAR'], ['host', 'VARCHAR']]
failures = []


def check(ok, *message):
    if not ok:
        failures.append(message)
        print('FAIL:', *message)


def write(folder, key, text, tables, schema=7, recording=None):
    """What a writer does, with a file for the rows of each table."""
    opened = lake.Lake(folder)
    opened.make()
    with opened.staged() as staged:
        for table in tables:
            place = os.path.join(staged, 'new', table, 'run=' + key, 'host=a')
            os.makedirs(place)
            with open(os.path.join(place, 'part_0.parquet'), 'w') as file:
                file.write(text)
        opened.commit(staged, key, schema, {table: COLUMNS for table in ('events', 'ops', 'diag', 'run')}, recording)


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


def recorded(when=1, devices='8 x TPU', **figures):
    return {'unix_ns': when, 'devices': devices, 'figures': figures or {'steps.mean': 0.5, 'memory': 7}}


def check_recordings(scratch):
    """Another form of the same recording replaces it; what differs in its time, devices or a figure is another one."""
    folder = os.path.join(scratch, 'recordings')
    write(folder, 'folder', 'old', ('events', 'ops'), recording=recorded())
    write(folder, 'file', 'new', ('events', 'run'), recording=recorded(**{'steps.mean': 0.5}))
    check(state(folder) == expected(file=('new', ('events', 'run'))), 'another form', state(folder))
    others = {'later': recorded(when=2), 'elsewhere': recorded(devices='4 x TPU'), 'slower': recorded(**{'steps.mean': 0.6, 'memory': 7}),
              'silent': None, 'silent too': None, 'without figures': recorded(other=1)}
    for key, recording in others.items():
        write(folder, key, 'new', ('events', 'run'), recording=recording)
    check(lake.Lake(folder).runs() == sorted(['file', *others]), 'others', lake.Lake(folder).runs())
    write(folder, 'later', 'newer', ('events', 'run'))          # it does not say any more when it was made
    write(folder, 'again', 'new', ('events', 'run'), recording=recorded(when=2))
    check(lake.Lake(folder).runs() == sorted(['again', 'file', *others]), 'what is known of a run that was replaced', lake.Lake(folder).runs())
    write(folder, 'packed', 'new', ('events', 'run'), recording=recorded())
    check(lake.Lake(folder).runs() == sorted(['again', 'packed', *others]), 'a third form', lake.Lake(folder).runs())


def check_names(scratch):
    """Text for every reader, folders of hosts, and paths that are no UTF-8."""
    for value, want in ((None, None), (b'', ''), ('a "\u00fc"\\'.encode(), 'a "\u00fc"\\'), (b'fus\xffion "1\\', 'fus\\xFFion \\x221\\x5C'),
                        (b'a\0b', 'a\\x00b'), (b'\xed\xa0\x80', '\\xED\\xA0\\x80')):
        check(lake.text_of(value) == want, 'text', value, lake.text_of(value))
    long, wide = 'h' * 300, '\u65e5' * 100
    folders = {host: lake.host_folder(host) for host in (None, 'NULL', 'null', lake.NO_HOST, 'a/b', 'a=b', long, long + 'x', wide, wide[1:], 'h%2F')}
    check(folders[None] == 'host=__HIVE_DEFAULT_PARTITION__' and folders['NULL'] == 'host=%4EULL' and folders['null'] == 'host=%6Eull', folders)
    check(len(set(folders.values())) == len(folders) and max(map(len, folders.values())) <= 255, 'folders', folders)
    for host in (host for host in folders if host and len(host) < 50):
        check(urllib.parse.unquote(folders[host][5:]) == host, 'a folder does not say its host', host, folders[host])
    check(all(urllib.parse.unquote(name, errors='strict') for name in folders.values()), 'cut in a character', folders)
    names = [os.path.join(scratch, 'bytes', os.fsdecode(name)) for name in (b'r\xfe', b'r\xff')]
    for name in names:
        shutil.copytree(os.path.join(os.environ['IDS_SOURCE_DIR'], 'testdata/cpu1_plain'), name)
    found = lake.runs_of(os.path.dirname(names[0]))
    check(sorted(path.rpartition('/plugins')[0] for path in found) == names, 'paths that are no UTF-8', found)
    folder = os.path.join(scratch, 'g*[x]?')
    write(folder, 'r', 'old', ('events', 'run'))
    check('/g[*][[]x][?]/events/run=*/host=*' in lake.Lake(folder).views(), lake.Lake(folder).views())
    for name in ('back\\slash', os.fsdecode(b'no\xfftext')):
        refused('DuckDB cannot name', lake.Lake(os.path.join(scratch, name)).make)
    file = os.path.join(scratch, 'file')
    open(file, 'w').close()
    refused('is no folder', lake.Lake(file).make)


def command(*arguments, **keywords):
    return subprocess.Popen([sys.executable, '-m', 'idsprof.lake', *arguments], env={**os.environ, 'PYTHONPATH': HOOK}, stderr=subprocess.PIPE,
                            **keywords)


def check_output(scratch):
    """Who reads no further is no error; a disk that is full is one."""
    folder = os.path.join(scratch, 'recordings')
    listed = command('list', folder, stdout=subprocess.PIPE)
    listed.stdout.close()
    words = listed.communicate()[1]
    check(listed.returncode == 0 and words == b'', 'nobody reads', listed.returncode, words)
    with open('/dev/full', 'w') as full:
        listed = command('list', folder, stdout=full)
        words = listed.communicate()[1]
    check(listed.returncode == 2 and words == b'idsprof: cannot write the output: No space left on device\n', 'a full disk', words)


def check_scratch(scratch):
    """Folders of imports whose process is gone are removed; those of living ones, of others and new ones stay."""
    whole, tempfile.tempdir = tempfile.tempdir, os.path.join(scratch, 'tmp[1]')
    os.makedirs(tempfile.tempdir)
    names = [os.path.join(tempfile.tempdir, lake.SCRATCH + name) for name in ('dead', 'new', 'old')]
    for name in names:
        os.makedirs(name)
    open(os.path.join(names[0], 'alive'), 'w').close()
    os.utime(names[2], (0, 0))
    with lake._scratch() as first, lake._scratch() as second:
        check(sorted(os.listdir(tempfile.tempdir)) == sorted(map(os.path.basename, (first, second, names[1]))), os.listdir(tempfile.tempdir))
    check(os.listdir(tempfile.tempdir) == [os.path.basename(names[1])], 'left', os.listdir(tempfile.tempdir))
    tempfile.tempdir = whole


def check_statement():
    """Text goes through lake_text(), values of the type bytes through lake_bytes(); a path that is given stands for the one of the import."""
    rows = lake._Rows.__new__(lake._Rows)
    rows.run, rows.named, rows.ends, rows.first = 1, '/a/path', [(7, 'h')], 0
    rows.stored = {'stats': [('event', 'BIGINT'), ('type', 'VARCHAR'), ('value', 'VARCHAR')], 'run': [('id', 'BIGINT'), ('path', 'VARCHAR')]}
    asked = rows.statement('stats', 'k')
    check("WHEN t.type = 'bytes' THEN lake_bytes(CAST(t.\"value\" AS VARCHAR)) ELSE lake_text(CAST(t.\"value\" AS VARCHAR))" in asked, asked)
    check('lake_text(CAST(t."type" AS VARCHAR))' in asked and "THEN 'h' END AS VARCHAR)) AS host" in asked, asked)
    check("'/a/path' AS \"path\"" in rows.statement('run', 'k'), rows.statement('run', 'k'))


def check_reading():
    """One statement, which only reads."""
    class Statement:
        def __init__(self, name):
            self.type = type('Type', (), {'name': name})
    for kind in ('SELECT', 'EXPLAIN'):
        check(lake.only_reads([Statement(kind)]).type.name == kind, kind)
    for kinds, words in (((), 'there are 0'), (('SELECT', 'SELECT'), 'there are 2'), (('COPY',), 'only read'), (('DROP',), 'only read'), (('SET',), 'only read')):
        refused(words, lake.only_reads, [Statement(kind) for kind in kinds])


def check_others(scratch):
    """What fails in any way is named, and the runs beside it are added."""
    before = lake.add_run, lake.runs_of

    def add_run(path, *_):
        if path == 'b':
            b'\xff'.decode()
        return path
    lake.add_run, lake.runs_of = add_run, lambda path: [path]
    try:
        results = lake.add(['a', 'b', 'c'], os.path.join(scratch, 'others'))
        check([key for _, key in results if isinstance(key, str)] == ['a', 'c'] and isinstance(results[1][1], lake.Error), results)
    finally:
        lake.add_run, lake.runs_of = before


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check_ends(scratch)
        check_living(scratch)
        check_versions(scratch)
        check_views(scratch)
        check_words(scratch)
        check_recordings(scratch)
        check_names(scratch)
        check_output(scratch)
        check_scratch(scratch)
        check_statement()
        check_reading()
        check_others(scratch)
    keys = {lake.key_of(name, source) for name, source in (('a', '/x'), ('a', '/y'), ('b', '/x'), ('a', '/x'))}
    check(len(keys) == 3, 'keys', keys)
    check(lake.key_of('a b/ü=', '/x').rpartition('-')[0] == 'a_b___', lake.key_of('a b/ü=', '/x'))
    print(json.dumps({'failures': len(failures)}))
    return bool(failures)


sys.exit(main())
