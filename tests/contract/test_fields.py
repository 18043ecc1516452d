#!/usr/bin/env python3
"""Field numbers of XSpace and HLO have one place, lib/fields: no other C file gives a number to a name from there, and each name is
used. Exit: 0, 1."""
import os
import re
import sys
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
FOLDERS = ('lib', 'formats', 'collectors', 'analyzers', 'cmd')


def main():
    sources = {p: p.read_text() for folder in FOLDERS for p in (SOURCE / folder).rglob('*.[ch]')}
    fields = {p: text for p, text in sources.items() if p.parent.name == 'fields'}
    names = [name for text in fields.values() for name in re.findall(r'\b([A-Z][A-Z_]+) = \d+', text)]
    others = {p: text for p, text in sources.items() if p not in fields}
    wrong = ['%s is twice in lib/fields' % n for n in sorted(set(n for n in names if names.count(n) > 1))]
    used = set()
    for path, text in others.items():
        used.update(re.findall(r'\w+', text))
        wrong += ['%s: numbers %s, which is in lib/fields' % (path.relative_to(SOURCE), name)
                  for name in re.findall(r'\b(\w+) = \d', text) if name in names]
    wrong += ['%s: nobody uses it' % name for name in names if name not in used]
    print('\n'.join(wrong) or '%d fields, each in one place' % len(names))
    return int(bool(wrong) or len(names) < 80)


if __name__ == '__main__':
    sys.exit(main())
