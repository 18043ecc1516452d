#!/usr/bin/env python3
"""`cmake --install` into a prefix with a space in its name, moved afterwards; the program called from there, through links, and from the
build tree; and what is said when a collector is missing, cut short, or of another machine. Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

IDSPROF = Path(os.environ['IDSPROF'])
BUILD = Path(os.environ['IDS_BUILD_DIR'])
DOUBLE = BUILD / 'support' / 'capture_double'
ROOT = Path(os.environ['TMPDIR'])
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_', 'CUDA_', 'NVTX_')) or name in ('RANK', 'PYTHONPATH', 'LD_AUDIT'):
        del os.environ[name]
os.environ['XDG_RUNTIME_DIR'] = str(ROOT / 'run')
(ROOT / 'run').mkdir()
failures = []


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def run(*arguments, **more):
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=120, **more)


def install(prefix):
    done = run('cmake', '--install', BUILD, '--prefix', prefix)
    check(done.returncode == 0, done.stdout + done.stderr)


def capture(program, *options, command=(DOUBLE, 'wake', 'step:0:9'), environment=None):
    return run(program, 'capture', '-o', ROOT / 'out', '-s', '3', *options, '--', *command, env={**os.environ, **(environment or {})})


def line(done, what):
    found = re.search(rf'^idsprof: {what} +(.*(?:\n {{17}}.*)*)', done.stderr, re.M)
    return re.sub(r'\n +', ' ', found[1]) if found else ''


def findings(program):
    done = run(program, 'doctor', '--json', '-p', sys.executable)
    return {finding['id']: finding for finding in json.loads(done.stdout)['findings']}


def works(program):
    done = capture(program)
    check(done.returncode == 0 and 'steps 3-7' in line(done, 'caught'), (program, done.stderr))
    check(line(done, 'missed') == 'nothing', (program, done.stderr))
    python = capture(program, '--audit', command=(sys.executable, '-c', 'import os; print(os.environ["IDSPROF_HOME"])'))
    home = Path(python.stdout.strip())
    check('used neither jax nor CUDA' in line(python, 'missed') and (home / 'libidsprof_agent.so').exists(), (program, python.stderr))
    check('ld.so' not in python.stderr, python.stderr)
    states = {key: finding['state'] for key, finding in findings(program).items() if key.startswith('capture.') or key == 'python.hook'}
    check(states == {'capture.pjrt': 'ok', 'capture.cuda': 'ok', 'python.hook': 'ok'}, (program, states))
    return home


def from_everywhere():
    first, moved, link = ROOT / 'a prefix', ROOT / 'another  place' / 'of it', ROOT / 'link to it'
    install(first)
    works(first / 'bin' / 'idsprof')
    moved.parent.mkdir()
    shutil.move(first, moved)
    home = works(moved / 'bin' / 'idsprof')
    schema = moved / 'share' / 'idsprof' / 'report.schema.json'  # where idsprof-report(1) says
    check(schema.exists() and json.loads(schema.read_text())['$schema'], schema)
    check(moved in home.parents, home)
    link.symlink_to(moved / 'bin' / 'idsprof')
    check(works(link) == home, 'through a link')
    (ROOT / 'build link').symlink_to(BUILD)
    works(ROOT / 'build link' / 'idsprof')
    works(IDSPROF)
    named = run('idsprof', 'capture', '-qo', ROOT / 'out', '--', 'true', env={**os.environ, 'PATH': f'{moved}/bin:{os.environ["PATH"]}'})
    check(named.returncode == 0, named.stderr)
    help_page = run(moved / 'bin' / 'idsprof', 'help', 'capture', env={**os.environ, 'MANPAGER': 'cat', 'PAGER': 'cat'})
    words = 'IDSPROF-CAPTURE' if shutil.which('man') else 'USAGE: IDSPROF CAPTURE' # what there is without a reader of pages
    check(help_page.returncode == 0 and words in help_page.stdout.upper(), help_page)


def missing():
    prefix = ROOT / 'incomplete'
    install(prefix)
    program, library = prefix / 'bin' / 'idsprof', next(prefix.glob('lib*/**/libidsprof_cuda.so'))
    home = library.parent
    python = (sys.executable, '-c', 'pass')

    def says(file, key, fault):
        """In doctor, at the end of a capture that caught nothing, and of one that caught something."""
        found = findings(program)[key]
        check(found['state'] == 'problem' and fault in found['what'] and found['do'], found)
        for command in (python, ('true',), (DOUBLE, 'wake', 'step:0:9')):
            done = capture(program, command=command)
            check(done.returncode == 0 and fault in line(done, 'missed') and 'are not recorded' in line(done, 'missed'), done.stderr)
            check('install it again' in line(done, 'missed') + line(done, 'next'), done.stderr)
        quiet = capture(program, '-q', command=python)
        check(quiet.stderr.startswith('idsprof: missed') and file in quiet.stderr, quiet.stderr)

    whole = library.read_bytes()
    library.unlink()
    says('libidsprof_cuda.so', 'capture.cuda', 'libidsprof_cuda.so is missing')
    library.write_bytes(whole[:len(whole) // 2])
    says('libidsprof_cuda.so', 'capture.cuda', 'libidsprof_cuda.so is cut short')
    library.write_bytes(whole[:18] + b'\xff\xfe' + whole[20:])
    says('libidsprof_cuda.so', 'capture.cuda', 'libidsprof_cuda.so is for another machine')
    library.write_bytes(b'')
    says('libidsprof_cuda.so', 'capture.cuda', 'libidsprof_cuda.so is no library')
    library.write_bytes(whole)
    works(program)
    (home / 'libidsprof_pjrt.so').unlink()
    says('libidsprof_pjrt.so', 'capture.pjrt', 'libidsprof_pjrt.so is missing')
    audit = capture(program, '--audit')
    check('--audit cannot find PJRT plugins: libidsprof_pjrt.so is missing' in audit.stderr, audit.stderr)
    library.unlink()
    both = line(capture(program, command=('true',)), 'missed')
    check('libidsprof_pjrt.so is missing' in both and 'libidsprof_cuda.so is missing' in both, both)
    shutil.rmtree(home / 'python')
    check(findings(program)['capture.hook']['state'] == 'problem', 'no hook')
    check('python/sitecustomize.py is missing (jax programs' in line(capture(program, command=python), 'missed'), 'no hook')
    (home / 'libidsprof_agent.so').unlink()
    check(findings(program)['capture.agent']['state'] == 'problem', 'no agent')
    none = capture(program)
    check(none.returncode == 2 and 'install it again' in none.stderr, none.stderr)


def kept_out():
    """What the user's own variables keep out is said too, instead of "used neither jax nor CUDA"."""
    other = capture(IDSPROF, command=('true',), environment={'CUDA_INJECTION64_PATH': '/opt/other.so'})
    check("another tool, '/opt/other.so', so CUDA work was not recorded" in line(other, 'missed'), other.stderr)
    off = capture(IDSPROF, '--audit', command=('true',), environment={'IDSPROF_PJRT': '0'})
    check('--audit cannot find PJRT plugins: IDSPROF_PJRT=0' in off.stderr, off.stderr)
    colon = ROOT / 'with:colon'
    install(colon)
    done = capture(colon / 'bin' / 'idsprof', command=(sys.executable, '-c', 'pass'))
    check("is in a folder with ':' in its name" in line(done, 'missed'), done.stderr)


for test in (from_everywhere, missing, kept_out):
    test()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
