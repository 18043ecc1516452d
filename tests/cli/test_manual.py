#!/usr/bin/env python3
"""The manual, the help and the completion scripts say what the option tables say.

Every option of every command stands in its page, with its argument, and the page has no other; every command stands in
idsprof(1); idsprof-metrics(7) is what the program prints; the pages pass mandoc's lint; the scripts are valid.
Environment: IDSPROF (the binary), IDS_SOURCE_DIR.
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
MAN = Path(os.environ['IDS_SOURCE_DIR']) / 'man'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def output(*arguments):
    return subprocess.run([IDSPROF, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def help_options(command):
    """{long name: (letter or None, argument or None)} out of `idsprof COMMAND -h`."""
    found = {}
    for line in output(command, '-h').splitlines():
        match = re.match(r'  (?:-(.),|   ) --([a-z-]+)(?: ([A-Z]+))?  +\S', line)
        if match:
            found[match[2]] = (match[1], match[3])
    return found


def page_options(page):
    """The same out of the option list of an mdoc page."""
    found = {}
    for line in page.read_text().splitlines():
        match = re.match(r'\.It (?:Fl (\w) , )?Fl \\-([a-z-]+)(?: Ar ([A-Z]+))?$', line)
        if match:
            found[match[2]] = (match[1], match[3])
    return found


def commands():
    return re.findall(r'^  ([a-z]+) +\S', output('-h'), re.M)


def check_pages():
    main_page = (MAN / 'idsprof.1').read_text()
    for command in commands():
        check(f'.It Cm {command}\n' in main_page, f'idsprof.1 lacks the command {command}')
        page = MAN / f'idsprof-{command}.1'
        options = help_options(command)
        check('help' in options, f'{command} -h lacks --help')
        if not page.exists():
            # help and completion have no page of their own, because they have no options of their own
            check(set(options) == {'help'}, f'{command} has options, but there is no {page.name}')
            continue
        documented = page_options(page)
        for name in options.keys() | documented.keys():
            check(options.get(name) == documented.get(name),
                  f'{command} --{name}: help has {options.get(name)}, {page.name} has {documented.get(name)}')
        text = page.read_text()
        about = re.search(r'^\.Nd (.+)$', text, re.M)
        check(about and about[1] in output('-h'), f'{page.name}: .Nd is not what idsprof -h says')
        check(re.search(rf'^\.Xr {page.stem} 1', main_page, re.M), f'idsprof.1 does not refer to {page.name}')


def check_formats():
    """Each format of `extract` is an item of its page."""
    page = (MAN / 'idsprof-extract.1').read_text()
    refusal = subprocess.run([IDSPROF, 'extract', '-f', 'none such', os.devnull], capture_output=True, text=True, timeout=60).stderr
    formats = re.search(r'\(([a-z0-9_, ]+)\)', refusal)[1].split(', ')
    check(len(formats) >= 6, f'the formats of extract were not understood: {refusal}')
    for name in formats:
        check(f'.It Cm {name}\n' in page, f'idsprof-extract.1 lacks the format {name}')


def check_metrics_page():
    committed = (MAN / 'idsprof-metrics.7').read_text()
    check(committed == output('dump', '--manual'),
          'man/idsprof-metrics.7 is not what the definitions say; to make it: idsprof dump --manual >man/idsprof-metrics.7')


def check_schema_page():
    """idsprof-schema(5) is what the SQL of a database says; a table or column without a comment is refused."""
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, 'run.db')
        mini = next((MAN.parent / 'testdata' / 'mini').glob('*.mini'))
        output('import', str(mini), '-o', database)
        check((MAN / 'idsprof-schema.5').read_text() == output('dump', '--schema', database),
              'man/idsprof-schema.5 is not what the SQL says; to make it: idsprof import RUN -o x.db; '
              'idsprof dump --schema x.db >man/idsprof-schema.5')
        db = sqlite3.connect(database)
        schema = output('query', database, '--schema')
        for name, sql in db.execute('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL').fetchall():
            check(sql in schema, f'query --schema lacks {name}')
        for bad, word in (('CREATE TABLE x (a INTEGER)', 'x is not documented'), ('CREATE TABLE x ( -- an x\n    a, -- an a\n    b\n)', 'x.b is not documented'),
                          ('CREATE VIEW x AS -- an x\nSELECT 1 AS a, -- an a\n    2 AS b', 'x.b is not documented')):
            db.execute(bad)
            db.commit()
            run = subprocess.run([IDSPROF, 'dump', '--schema', database], capture_output=True, text=True, timeout=60)
            check(run.returncode == 2 and word in run.stderr, f'{bad}: {run.returncode} {run.stderr}')
            db.execute('DROP %s x' % bad.split()[1])
            db.commit()
        db.close()


def check_lint():
    if not shutil.which('mandoc'):
        if os.environ.get('IDS_CI') == '1':
            check(False, 'mandoc is not installed')
        print('mandoc is not installed: pages were not linted')
        return
    for page in sorted(MAN.glob('*.[157]')):
        lint = subprocess.run(['mandoc', '-T', 'lint', str(page)], capture_output=True, text=True)
        for line in (lint.stdout + lint.stderr).splitlines():
            # Whether other pages, ours among them, are installed here says nothing about this one.
            if 'referenced manual not found' not in line and 'mandoc.db' not in line:
                check(False, line)


def check_completion():
    for shell in ('bash', 'zsh', 'fish'):
        script = output('completion', shell)
        for command in commands():
            check(command in script, f'completion {shell} lacks {command}')
            for option in help_options(command):
                check(option in script or option == 'help', f'completion {shell} lacks {command} --{option}')
        check('dump' not in script, f'completion {shell} shows the hidden dump')
        if shutil.which(shell):
            run = subprocess.run([shell, '-n'], input=script, capture_output=True, text=True)
            check(run.returncode == 0, f'completion {shell}: {run.stderr}')
    bash = f'''{output('completion', 'bash')}
    complete_line() {{ COMP_WORDS=("$@"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _idsprof; echo "${{COMPREPLY[@]}}"; }}
    complete_line idsprof re
    complete_line idsprof report --sec
    complete_line idsprof report --window s
    complete_line idsprof report --section idle
    complete_line idsprof completion z
    '''
    words = subprocess.run(['bash', '-c', bash], capture_output=True, text=True, timeout=60)
    check(words.stdout.split('\n') == ['report', '--section', 'steps', 'idle_gaps', 'zsh', ''],
          f'bash completes {words.stdout!r} {words.stderr}')


def check_help_finds_pages():
    """In a checkout and where it was installed, with a man that says which page it was given."""
    pages = {'report': 'idsprof-report.1', 'metrics': 'idsprof-metrics.7', 'schema': 'idsprof-schema.5',
             'collectors': 'idsprof-collectors.7'}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / 'tools').mkdir()
        (root / 'tools' / 'man').write_text('#!/bin/sh\necho "$1"\n')
        (root / 'tools' / 'man').chmod(0o755)
        for program, manual in (('checkout/build/release', lambda page: f'checkout/man/{page}'),
                                ('prefix/bin', lambda page: f'prefix/share/man/man{page[-1]}/{page}')):
            (root / program).mkdir(parents=True)
            shutil.copy2(IDSPROF, root / program / 'idsprof')
            for page in pages.values():
                (root / manual(page)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(MAN / page, root / manual(page))
            for subject, page in pages.items():
                run = subprocess.run([root / program / 'idsprof', 'help', subject], capture_output=True, text=True,
                                     env={**os.environ, 'PATH': f'{root}/tools:{os.environ["PATH"]}'}, timeout=60)
                check(run.stdout == f'{root / manual(page)}\n', f'{program}: help {subject} shows {run.stdout!r} {run.stderr!r}')


def check_help_command():
    environment = {**os.environ, 'PATH': '/nonexistent'}  # no man: the text of -h
    run = subprocess.run([IDSPROF, 'help', 'report'], capture_output=True, text=True, env=environment)
    check(run.returncode == 0 and run.stdout == output('report', '-h'), 'help without man is not the text of -h')
    run = subprocess.run([IDSPROF, 'help', 'metrics'], capture_output=True, text=True, env=environment)
    check(run.returncode == 2 and 'idsprof-metrics(7)' in run.stderr, f'help metrics without man: {run.stderr}')
    run = subprocess.run([IDSPROF, 'help'], capture_output=True, text=True, env=environment)
    check(run.returncode == 0 and run.stdout == output('-h'), 'help alone without man is not the text of -h')


check_pages()
check_formats()
check_metrics_page()
check_schema_page()
check_lint()
check_completion()
check_help_finds_pages()
check_help_command()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
