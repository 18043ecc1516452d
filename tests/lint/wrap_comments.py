#!/usr/bin/env python3
"""Wraps comments of C at 120 columns: `tests/lint/wrap_comments.py [--check] FILE...`, with --check only names what it would change, exit 1.

clang-format's own ReflowComments joins the rows of tables and loses the indent of lists, so it stays off. Here a line that is too long
gives its last words to the next line of its paragraph, or to a new one; every other line stays as it is, but for the
margin of a comment behind code. Rows of tables (two spaces or
more in them) and items of lists go on under their own text.
"""
import re
import sys
from pathlib import Path

WIDTH = 120
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
ITEM = re.compile(r'\s*(?:[-*]|\d+\.|[a-z]\.) +')
GAP = re.compile(r'\s*\S+(?: \S+)*?( {2,})(?=\S)')
LEAST = 40  # columns that a comment behind code must have, else it goes above its line


def hanging(text):
    """Where the paragraph of this line goes on."""
    item = ITEM.match(text)
    if item:
        return item.end()
    indent = len(text) - len(text.lstrip())
    gap = GAP.match(text) if indent >= 2 else None
    return gap.end(1) if gap else indent


def goes_on(line, indent):
    return bool(line.strip()) and len(line) - len(line.lstrip()) == indent and not ITEM.match(line) and not (indent >= 2 and GAP.match(line))


def wrap_lines(lines, width, last_width):
    """Greedy: what does not fit is pushed in front of the next line of the paragraph. The last line has less room, for the closing mark."""
    lines, at, indents = list(lines), 0, {}
    while at < len(lines):
        room = last_width if at == len(lines) - 1 else width
        line = lines[at]
        if len(line) > room:
            under = indents.get(at, hanging(line))
            cut = line.rfind(' ', under + 1, room + 1)
            if cut <= under:
                cut = line.find(' ', under + 1)
            if cut > 0:
                rest = line[cut + 1:].strip()
                lines[at] = line[:cut].rstrip()
                if at + 1 < len(lines) and goes_on(lines[at + 1], under):
                    lines[at + 1] = ' ' * under + rest + ' ' + lines[at + 1].lstrip()
                else:
                    lines.insert(at + 1, ' ' * under + rest)
                    indents = {key + (key > at): value for key, value in indents.items()}
                indents[at + 1] = under
        at += 1
    return lines


def wrap_block(comment, column, after):
    inner = comment[2:-2]
    first, *others = inner.split('\n')
    lines = [first[1:] if first.startswith(' ') else first] + [re.sub(r'^\s*\*? ?', '', line, count=1) if line.lstrip().startswith('*') else line.strip()
                                                             for line in others]
    own_close = len(lines) > 1 and not lines[-1].strip()
    lines = [line.rstrip() for line in (lines[:-1] if own_close else lines)]
    lines[0] = lines[0].lstrip()
    width = WIDTH - column - 3
    lines = wrap_lines(lines, width, width if own_close else width - 3 - after)
    margin = '\n' + ' ' * column
    text = '/* ' + (margin + ' * ').join(lines)
    return re.sub(r' +(?=\n|$)', '', text) + (margin + ' */' if own_close else ' */')


def wrap_slashes(comment, column):
    lines = wrap_lines([comment[2:].strip()], WIDTH - column - 3, WIDTH - column - 3)
    return ('\n' + ' ' * column).join('// ' + line for line in lines)


def is_too_long(source, start, end):
    begin, stop = source.rfind('\n', 0, start) + 1, source.find('\n', end)
    return any(len(line) > WIDTH for line in source[begin:stop if stop >= 0 else len(source)].split('\n'))


def is_crooked(comment, column):
    """clang-format moves a comment behind code, and leaves its other lines where they were."""
    return any(not line.startswith(' ' * (column + 1) + '*') for line in comment.split('\n')[1:])


def wrap(source):
    out, at = [], 0
    for token in TOKEN.finditer(source):
        comment, start, end = token.group(), token.start(), token.end()
        if comment[0] != '/':
            continue
        begin = source.rfind('\n', 0, start) + 1
        behind_code = source[begin:start].strip() and comment[1] == '*'
        if not is_too_long(source, start, end) and not (behind_code and is_crooked(comment, start - begin)):
            continue
        stop = source.find('\n', end)
        stop = stop if stop >= 0 else len(source)
        before, behind = source[begin:start], source[end:stop]
        if behind.rstrip().endswith('\\') or before.lstrip().startswith('#define') or begin < at:
            continue  # of a macro: its lines end in a backslash
        if before.strip() and not behind.strip() and start - begin > WIDTH - LEAST:  # no room there
            indent = len(before) - len(before.lstrip())
            words = ' '.join(part.strip().lstrip('*').strip() for part in comment[2:-2].split('\n')) if comment[1] == '*' else comment[2:].strip()
            out += [source[at:begin], ' ' * indent, wrap_block(f'/* {words} */', indent, 0), '\n', before.rstrip()]
        elif comment[1] == '/':
            out += [source[at:start], wrap_slashes(comment, start - begin)]
        else:
            out += [source[at:start], wrap_block(comment, start - begin, len(behind.rstrip()))]
        at = end
    return ''.join(out) + source[at:]


def main():
    check = '--check' in sys.argv
    changed = 0
    for name in [name for name in sys.argv[1:] if name != '--check']:
        source = Path(name).read_text()
        wrapped = wrap(source)
        if wrapped != source:
            changed += 1
            if check:
                print(f'{name}: comments of more than {WIDTH} columns')
            else:
                Path(name).write_text(wrapped)
    return 1 if check and changed else 0


if __name__ == '__main__':
    sys.exit(main())
