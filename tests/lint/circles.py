#!/usr/bin/env python3
"""No circle of files: `tests/lint/circles.py [ROOT]`, 1 when there is one.

A file here is a source with its header. It leads to another one when it includes that one's header, and when it names a function or variable that
the other defines, whatever header declares it. From no file a way may lead back to it. Only a child may lead back to its parent, a file of the same
folder with whose name its own begins (extract_raw.c and extract.c).
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
FOLDERS = ('lib', 'formats', 'analyzers', 'collectors', 'cmd', 'include')
# Known circles: by a file of each, the folder that it may not leave. One that is gone must go from here too.
EXCEPTIONS = {
    'lib/io/gunzip': 'lib/io',  # a source unpacks itself by a gunzip, and that reads a source
}
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TAG = re.compile(r'\b(?:struct|enum|union)\s+\w+')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
# As clang-format leaves it: what is defined begins at the left margin.
FUNCTION = re.compile(r'^(?!static\b|typedef\b|#)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{', re.M)
VARIABLE = re.compile(r'^(?!static\b|typedef\b|extern\b|return\b|#)(?:const |struct |enum |union )*\w[\w \t*]*?\b(ids_\w+)(?:\[[^\]]*\])*(?: =|;)', re.M)
WORD = re.compile(r'\b[A-Za-z_]\w+\b')


class File:
    def __init__(self, name):
        self.name, self.included, self.defined, self.words = name, set(), set(), set()

    def read(self, path):
        text = COMMENT.sub(' ', path.read_text())
        self.included.update(INCLUDE.findall(text))
        if path.suffix == '.c':  # a header only says what there is
            plain = TAG.sub(' ', TEXT.sub('""', text))
            self.words.update(WORD.findall(plain))
            whole = TEXT.sub('""', text)
            self.defined.update(FUNCTION.findall(whole), VARIABLE.findall(whole))


def read_files(root):
    files = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*.[ch]')):
            name = str(path.relative_to(root).with_suffix(''))
            files.setdefault(name, File(name)).read(path)
    return files


def ways(files):
    """Which files each one leads to, and by what."""
    defined_by = {}
    for file in files.values():
        for word in file.defined:
            defined_by.setdefault(word, set()).add(file.name)
    leads = {name: {} for name in files}
    for file in files.values():
        for path in sorted(file.included):
            to = str(Path(path).with_suffix(''))
            if to in files and to != file.name:
                leads[file.name].setdefault(to, f'includes {path}')
        for word in sorted(file.words - file.defined):
            owners = defined_by.get(word, set())
            if len(owners) == 1 and word.startswith('ids_'):
                leads[file.name].setdefault(*owners, f'names {word}')
    return leads


def circles(leads):
    """The largest sets of files of which each leads to each (Tarjan's, without recursion)."""
    number, low, stack, found = {}, {}, [], []
    for root in leads:
        work = [(root, iter(leads[root]))] if root not in number else []
        while work:
            name, rest = work[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                stack.append(name)
            for to in rest:
                if to not in number:
                    work.append((to, iter(leads[to])))
                    break
                if to in stack:
                    low[name] = min(low[name], low[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    at = stack.index(name)
                    found.append(sorted(stack[at:]))
                    del stack[at:]
    return [circle for circle in found if len(circle) > 1]


def is_child(name, parent):
    return name.startswith(parent + '_') and Path(name).parent == Path(parent).parent


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else HERE)
    leads = {name: {to: why for to, why in led.items() if not is_child(name, to)} for name, led in ways(read_files(root)).items()}
    found = circles(leads)
    failed = 0
    for circle in found:
        if any(known in circle and all(str(Path(name).parent) == folder for name in circle) for known, folder in EXCEPTIONS.items()):
            continue
        failed = 1
        print(f'a circle of {len(circle)} files; let the ways between them lead one way only, by moving what one needs of the other to a third:')
        for name in circle:
            for to in sorted(set(leads[name]) & set(circle)):
                print(f'    {name} -> {to}: {leads[name][to]}')
    for known in EXCEPTIONS if root == HERE else ():
        if not any(known in circle for circle in found):
            failed = 1
            print(f'tests/lint/circles.py: EXCEPTIONS lists a circle that is no more: {known}')
    return failed


if __name__ == '__main__':
    sys.exit(main())
