#!/usr/bin/env python3
"""pointers.py: this tree is clean, and in a tree of its own each kind of comment that points to nothing is found, with its line.

Environment: IDS_SOURCE_DIR, TMPDIR.
"""
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
TREE = Path(os.environ['TMPDIR']) / 'tree'
FILES = {
    'docs/ledger.md': 'See `lib/io/source.c`, [metrics](metrics.md), `lib/io/*.h`, lib/io/source and lib/io/NAME.c.\n'
                      '```c lib/io/example.c\n/* example.c - lib/io/example.c */\n```',
    'docs/metrics.md': 'one\n\nsee docs/gone.md',                                     # 3
    'lib/io/source.c': '/* (docs/ledger.md, Steps) */\nint a = 1; // lib/io/lost.c\n#include "lib/io/lost.h"\n'
                       '/* two\n * lines: spool.c, source.c */\nchar *b = "docs/none.md";\n/* of others: xla/pjrt/c.h, cuda/lib/io/x.h */',  # 2, 5
    'lib/io/source.h': '/* lib/io/rows.sql.h is made of lib/io/rows.sql */',
    'lib/io/rows.sql': 'SELECT 1; -- as docs/views.md says',                            # 1
    'tests/cli/test_a.py': '"""As tests/cli/test_b.py."""\nx = "docs/none.md"\n\x23 like docs/metrics.md\n\x23 and lib/store/db.c',  # 1, 4 (lib is there)
    'tests/cli/run.sh': 'echo docs/none.md \x23 as in tests/cli/test_a.py and lib/io/lost.sh',   # 1
    'tests/cli/a.mini': '\x23 docs/metrics.md, docs/mini.md',                              # 1
}
WANTED = {'docs/metrics.md:3: there is no docs/gone.md', 'lib/io/source.c:2: there is no lib/io/lost.c', 'lib/io/source.c:5: there is no spool.c',
          'lib/io/rows.sql:1: there is no docs/views.md', 'tests/cli/test_a.py:1: there is no tests/cli/test_b.py',
          'tests/cli/test_a.py:4: there is no lib/store/db.c', 'tests/cli/run.sh:1: there is no lib/io/lost.sh',
          'tests/cli/a.mini:1: there is no docs/mini.md'}


def pointers(*arguments):
    run = subprocess.run([sys.executable, SOURCE / 'tests/lint/pointers.py', *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


failures = []
for name, content in FILES.items():
    (TREE / name).parent.mkdir(parents=True, exist_ok=True)
    (TREE / name).write_text(content + '\n')
subprocess.run(['git', 'init', '-q'], cwd=TREE, check=True)
code, text = pointers(TREE)
if code != 1 or set(text.splitlines()) != WANTED:
    failures += [f'not found: {line}' for line in WANTED - set(text.splitlines())] + [f'said: {line}' for line in set(text.splitlines()) - WANTED]
for name in ('docs/gone.md', 'lib/io/lost.c', 'lib/io/spool.c', 'docs/views.md', 'tests/cli/test_b.py', 'lib/store/db.c', 'lib/io/lost.sh', 'docs/mini.md'):
    (TREE / name).parent.mkdir(parents=True, exist_ok=True)
    (TREE / name).write_text('')
if pointers(TREE) != (0, ''):
    failures.append(f'all are there, and yet: {pointers(TREE)}')
if (SOURCE / '.git').exists():
    code, text = pointers()
    failures += [f'this tree: {line}' for line in text.splitlines()] or ['this tree: exit %d' % code] * bool(code)
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
