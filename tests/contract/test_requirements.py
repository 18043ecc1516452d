#!/usr/bin/env python3
"""What is missing to build is said at once and before anything is built, with its names in four package managers: by CMake, and by
bootstrap.sh where there is no apt. Environment: IDS_SOURCE_DIR."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR']).resolve()
failures = 0


def check(truth, words):
    global failures
    if not truth:
        failures += 1
        print('FAIL:', words)


ROWS = [line.split() for line in (SOURCE / 'cmake/requirements.txt').read_text().splitlines()
        if line and not line.startswith('#')]
PROGRAMS = [row[1] for row in ROWS if row[0] == 'program']
MODULES = [row[1] for row in ROWS if row[0] == 'module']
TOOLS = 'bash sh awk cat cmake dirname grep head mkdir mktemp rm sed sort tr uname'.split()


def folder_of(root, programs):
    root.mkdir()
    for program in programs:
        path = shutil.which(program)
        if path:
            (root / program).symlink_to(path)
    return str(root)


def modules(root, versions):
    """A folder for pkg-config: each module in the version given, else in a new one."""
    root.mkdir()
    for name in MODULES:
        if versions.get(name, '999'):
            (root / f'{name}.pc').write_text(f'Name: {name}\nDescription: {name}\nVersion: {versions.get(name, "999")}\nLibs:\nCflags:\n')
    return str(root)


def run(scratch, command, path, pc):
    environment = {'PATH': path, 'HOME': str(scratch), 'PKG_CONFIG_LIBDIR': pc}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=SOURCE)
    return done.returncode, done.stdout + done.stderr


def configure(scratch, path, pc):
    """The words of CMake, in one piece; nothing of them may come after a look at the compiler."""
    with tempfile.TemporaryDirectory(dir=scratch) as build:
        code, text = run(scratch, ['cmake', '-S', SOURCE, '-B', build, '-G', 'Ninja'], path, pc)
        check(code == 1 and 'cannot be built' in text, f'cmake ends with {code}: {text}')
        check('C compiler identification' not in text and not list(Path(build).glob('*.ninja')), f'something was built before: {text}')
    return text


def missing(text):
    """Name and reason of each line of the list."""
    return dict(re.findall(r'^ +([a-z][\w-]*) {2,}(\S.*)$', text, re.M))


def install(text, manager):
    found = re.search(rf'^ *{manager} install (.*)$', text, re.M)
    return found.group(1).split() if found else None


def packages(names, column):
    wanted = [p for row in ROWS if row[1] in names for p in row[column].split(',') if p != '-']
    return list(dict.fromkeys(wanted))


def check_managers(text, names, commands=(('apt-get', 3), ('dnf', 4), ('brew', 5), ('conda', 6))):
    for manager, column in commands:
        got, want = install(text, manager), packages(names, column)
        got = [word for word in got or [] if word not in ('-c', 'conda-forge')]
        check(sorted(got) == sorted(want), f'{manager} shall install {want}, not {got}: {text}')


def main(scratch):
    check(all(len(row) == 7 and row[0] in ('program', 'module') for row in ROWS) and len(ROWS) > 10, f'the table: {ROWS}')
    least = {row[1]: row[2] for row in ROWS}
    check(f'cmake_minimum_required(VERSION {least["cmake"]})' in (SOURCE / 'CMakeLists.txt').read_text(), 'CMakeLists.txt asks for another CMake')
    presets = json.loads((SOURCE / 'CMakePresets.json').read_text())['version']
    check(presets == 3, f'presets of version {presets}: CMake 3.21, of Ubuntu 22.04, reads 3')
    old = {row[1]: '0.1' for row in ROWS if row[0] == 'module' and row[2] != '-'}

    text = configure(scratch, os.environ['PATH'], modules(scratch / 'old', old))
    check(set(missing(text)) == set(old), f'too old: {missing(text)}, not {set(old)}')
    check(missing(text).get('sqlite3') == '0.1 found, at least 3.34 needed', f'sqlite3: {missing(text).get("sqlite3")}')
    check_managers(text, set(old))

    text = configure(scratch, os.environ['PATH'], modules(scratch / 'two', {'libcjson': '', 'sqlite3': '3.26.0'}))
    check(missing(text) == {'libcjson': 'not found', 'sqlite3': '3.26.0 found, at least 3.34 needed'}, f'two: {missing(text)}')
    check_managers(text, {'libcjson', 'sqlite3'})

    bare = folder_of(scratch / 'bare', TOOLS)
    text = configure(scratch, bare, modules(scratch / 'all', {}))
    check(set(missing(text)) == {*PROGRAMS, *MODULES} - {'cmake'}, f'a bare system: {missing(text)}')
    check(all('pkg-config' in missing(text)[name] for name in MODULES), f'without pkg-config: {missing(text)}')
    check_managers(text, {*PROGRAMS, *MODULES} - {'cmake'})

    # bootstrap.sh without apt
    path = folder_of(scratch / 'no apt', [*TOOLS, 'gcc', 'ninja', 'pkg-config'])
    code, text = run(scratch, [SOURCE / 'bootstrap.sh', 'demo'], path, modules(scratch / 'one', {'libisal': ''}))
    check(code == 1 and 'no apt-get' in text and 'missing: protoc-c libisal' in text, f'bootstrap.sh ends with {code}: {text}')
    check_managers(text, {'protoc-c', 'libisal'}, (('dnf', 4), ('brew', 5), ('conda', 6)))


with tempfile.TemporaryDirectory() as folder:
    main(Path(folder))
sys.exit(failures > 0)
