#!/usr/bin/env python3
"""circles.py: this tree has no circle but those it lists, and in a tree of its own each kind of circle is found, and no other.

Environment: IDS_SOURCE_DIR, TMPDIR.
"""
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
TMP = Path(os.environ['TMPDIR'])


def circles(*arguments):
    run = subprocess.run([sys.executable, SOURCE / 'tests/lint/circles.py', *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def tree(name, files):
    for path, content in files.items():
        (TMP / name / path).parent.mkdir(parents=True, exist_ok=True)
        (TMP / name / path).write_text(content)
    return TMP / name


# name: files, and the ways that must be named; none: no circle
TREES = {
    'by includes': ({'lib/io/a.h': '#include "lib/io/b.h"\n', 'lib/io/a.c': '', 'lib/io/b.h': '', 'lib/io/b.c': '#include "lib/io/a.h"\n'},
                    ['lib/io/a -> lib/io/b: includes lib/io/b.h', 'lib/io/b -> lib/io/a: includes lib/io/a.h']),
    'by a hub': ({'lib/io/hub.h': 'void ids_a(void);\nvoid ids_b(void);\n',
                  'lib/io/a.c': '#include "lib/io/hub.h"\n\nvoid ids_a(void) {\n    ids_b();\n}\n',
                  'cmd/b.c': '#include "lib/io/hub.h"\n\nvoid ids_b(void) {\n    ids_a();\n}\n'},
                 ['lib/io/a -> cmd/b: names ids_b', 'cmd/b -> lib/io/a: names ids_a']),
    'by a variable': ({'lib/io/a.c': 'struct ids_x *ids_x;\n\nvoid ids_a(void) {\n    ids_b();\n}\n',
                       'lib/io/b.c': 'void ids_b(void) {\n    use(ids_x);\n}\n'},
                      ['lib/io/b -> lib/io/a: names ids_x']),
    'of three': ({'formats/a.c': '#include "formats/b.h"', 'formats/a.h': '', 'formats/b.c': '#include "formats/c.h"', 'formats/b.h': '',
                  'formats/c.c': '#include "formats/a.h"', 'formats/c.h': ''}, ['formats/c -> formats/a: includes formats/a.h']),
    'of a namesake elsewhere': ({'cmd/a.h': '#include "lib/io/a_b.h"', 'lib/io/a_b.h': '#include "cmd/a.h"'}, ['cmd/a -> lib/io/a_b: includes lib/io/a_b.h']),
    'of a listed one that leaves its folder': ({'lib/io/gunzip.h': '#include "cmd/a.h"', 'cmd/a.h': '#include "lib/io/gunzip.h"'},
                                                ['cmd/a -> lib/io/gunzip: includes lib/io/gunzip.h']),
    'of a listed one': ({'lib/io/gunzip.h': '#include "lib/io/a.h"', 'lib/io/a.h': '#include "lib/io/gunzip.h"'}, []),
    'of a child': ({'cmd/a.c': 'void ids_a(void) {\n    ids_b();\n}\n', 'cmd/a_b.c': 'void ids_b(void) {\n    ids_a();\n}\n'}, []),
    'in words alone': ({'lib/io/a.c': '/* ids_b */\nstatic const char text[] = "ids_b";\n\nvoid ids_a(struct ids_b *b) {\n}\n',
                        'lib/io/b.c': 'void ids_b(void) {\n    ids_a(0);\n}\n'}, []),
}
failures = []
for name, (files, wanted) in TREES.items():
    code, text = circles(tree(name, files))
    if code != bool(wanted) or (not wanted and text):
        failures.append(f'{name}: {code}, {text!r}')
    failures += [f'{name}: not said: {way}\n{text}' for way in wanted if f'    {way}\n' not in text]
code, text = circles()
if code:
    failures.append(text)
print('\n'.join(failures) or 'ok')
sys.exit(bool(failures))
