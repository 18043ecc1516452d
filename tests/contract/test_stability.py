#!/usr/bin/env python3
"""What docs/stability.md promises: nothing that scripts rely on goes without the version that says so being raised.

stable.txt holds what there was at the last release: metrics with their units, tables with columns, views with columns, commands with options,
exit codes; and the versions of then.

    test_stability.py --renew     writes what there is now: at a release (packaging/release.sh), or with the version that was raised

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
RECORD = Path(__file__).with_name('stable.txt')


def one(path, pattern):
    return re.search(pattern, (SOURCE / path).read_text(), re.M).group(1)


def versions():
    """By which a kind of thing is promised."""
    return {
        'program': one('CMakeLists.txt', r'^project\(idsprof VERSION ([0-9.]+)'),
        'schema': one('lib/report/render_json.c', r'\bSCHEMA = (\d+)'),
        'database': one('lib/store/summary.h', r'IDS_SCHEMA_VERSION = (\d+)'),
    }


def metrics():
    page = (SOURCE / 'man' / 'idsprof-metrics.7').read_text()
    for item in re.split(r'^\.It Sy ', page, flags=re.M)[1:]:
        name, rest = item.split('\n', 1)
        unit = re.match(r'\.Em .*,\n([a-z/]+)', rest)
        yield 'schema', 'metric %s %s' % (name, unit.group(1)) if unit else 'table ' + name
        for column in re.findall(r'^\.Va ([a-z_0-9]+)', rest.split('\n.El')[0], re.M) if not unit else []:
            yield 'schema', 'table %s column %s' % (name, column)


def views():
    page = (SOURCE / 'man' / 'idsprof-schema.5').read_text().split('.Sh VIEWS FOR QUESTIONS')[1].split('\n.Sh ')[0]
    for view in re.split(r'^\.Ss ', page, flags=re.M)[1:]:
        name = view.split('\n', 1)[0]
        yield 'database', 'view ' + name
        for column in re.findall(r'^\.It Va (\S+)', view, re.M):
            yield 'database', 'view %s column %s' % (name, column)


def said(*words):
    return subprocess.run([IDSPROF, *words], capture_output=True, text=True, timeout=20, check=True).stdout


def commands():
    for name in re.findall(r'^  ([a-z]+)  +\S', said('--help'), re.M):
        yield 'program', 'command ' + name
        for option in re.findall(r'^  (?:-\w, |    )--([a-z-]+)', said(name, '-h'), re.M) if name not in ('help', 'completion') else []:
            yield 'program', 'command %s option %s' % (name, option)


def exits():
    text = (SOURCE / 'cmd' / 'command.h').read_text()
    for name, code in re.findall(r'\b(IDS_EXIT_[A-Z]+) = (\d)', text):
        yield 'program', 'exit %s %s' % (name, code)


def present():
    return [*metrics(), *views(), *commands(), *exits()]


def main():
    now, there = versions(), present()
    for kind, least in (('metric', 150), ('table', 300), ('view', 100), ('command', 150), ('exit', 3)):
        found = sum(what.startswith(kind + ' ') for _, what in there)
        assert found >= least, (kind, found)
    if '--renew' in sys.argv:
        RECORD.write_text('\n'.join(['version %s %s' % item for item in now.items()] + sorted({'%s: %s' % item for item in there})) + '\n')
        return 0
    lines = RECORD.read_text().splitlines()
    then = dict(line.split()[1:] for line in lines if line.startswith('version '))
    promised = {tuple(line.split(': ', 1)) for line in lines if not line.startswith('version ')}
    gone = sorted(item for item in promised - set(there) if now[item[0]] == then[item[0]])
    for kind, what in gone:
        print('FAIL: %s is gone or has another unit, and the version of the %s is still %s; raise it and run %s --renew' % (what, kind, now[kind], sys.argv[0]))
    print('%d things promised, %d gone' % (len(promised), len(gone)))
    return bool(gone)


sys.exit(main())
