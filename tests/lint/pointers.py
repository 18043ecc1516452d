#!/usr/bin/env python3
"""Comments and Markdown may point only to files that are there: `tests/lint/pointers.py [ROOT]`, 1 when one is not.

A pointer is a path that begins with a folder of the tree (docs/ledger.md, lib/io/spill.c, analyzers/*.c, formats/hlo), or the bare name of a
file in C or Markdown (recurrence.c, ledger.md). Sections of a page follow after a comma: (docs/metrics.md, Grades).
"""
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

C_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
HASH_COMMENT = re.compile(r'(?:^|(?<=\s))#[^\n]*|^""".*?"""', re.S | re.M)
SQL_COMMENT = re.compile(r'--[^\n]*')
COMMENTS = {'.c': C_COMMENT, '.h': C_COMMENT, '.def': C_COMMENT, '.cu': C_COMMENT, '.proto': C_COMMENT, '.sql': SQL_COMMENT, '.py': HASH_COMMENT,
            '.sh': HASH_COMMENT, '.cmake': HASH_COMMENT, '.txt': HASH_COMMENT, '.mini': HASH_COMMENT}
OTHERS = {'lib/idsprof'}  # where things are installed
PLACEHOLDER = re.compile(r'(?<![A-Za-z])(?:x|[A-Z]{3,})(?![A-Za-z]|\.md)')  # x.c, tests/fuzz/corpus/TARGET


def tracked(root):
    listed = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], cwd=root, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (root / name).is_file()]


def texts(path):
    """What a reader is told: (line, text) of each comment; of Markdown all of it."""
    content = path.read_text(errors='replace')
    if path.suffix == '.md':
        yield 1, content
    elif path.suffix in COMMENTS:
        for comment in COMMENTS[path.suffix].finditer(content):
            yield content.count('\n', 0, comment.start()) + 1, comment.group()


def made_by(path):
    """Files of examples: the titles of a page's blocks, ```c cmd/example.c."""
    if path.suffix != '.md':
        return set()
    titles = re.findall(r'^```\w+ (\S+)', path.read_text(errors='replace'), re.M)
    return {*titles, *(Path(title).name for title in titles)}


class Tree:
    def __init__(self, root):
        self.names = tracked(root)
        self.all = set(self.names)
        for name in self.names:
            self.all.update(str(folder) for folder in Path(name).parents)
        self.bases = {Path(name).name for name in self.names}
        tops = sorted({name.split('/')[0] for name in self.names if '/' in name})
        path = r'(?:%s)/[\w./*-]*[\w*]' % '|'.join(map(re.escape, tops))
        self.pointer = re.compile(r'(?<![\w./<>{}$*@%%-])(%s|[\w-]+\.(?:md|c|def))(?![\w*<{/(=-]|\.\w)' % path)

    def has(self, pointer, name):
        if pointer in OTHERS or PLACEHOLDER.search(pointer):
            return True
        if '/' not in pointer:
            return pointer in self.bases
        made = re.sub(r'\.sql\.h$', '.sql', re.sub(r'\.pb-c\.[ch]$', '.proto', pointer))  # by the build, of these
        return any(made in self.all or fnmatch.filter(self.all, made) or fnmatch.filter(self.all, made + '.*')
                   for made in (made, str(Path(name).parent / made)))


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    tree = Tree(root)
    failed = 0
    for name in tree.names:
        if '/corpus/' in name:
            continue
        made = made_by(root / name)
        for line, text in texts(root / name):
            for found in tree.pointer.finditer(text):
                if found.group(1) not in made and not tree.has(found.group(1), name):
                    print(f'{name}:{line + text.count(chr(10), 0, found.start())}: there is no {found.group(1)}')
                    failed = 1
    return failed


if __name__ == '__main__':
    sys.exit(main())
