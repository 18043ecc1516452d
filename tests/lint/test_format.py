#!/usr/bin/env python3
"""format.sh wraps what is too long and keeps tables, lists and art as they are; --check names a file of each kind; the limit of a function's
length is 60 lines.

Environment: IDS_SOURCE_DIR, TMPDIR.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
TREE = Path(os.environ['TMPDIR']) / 'tree'
WORDS = 'one word after the other until the line is too long for the hundred and twenty columns that a line may have at the very most'
BEFORE = f'''/* noun.h - {WORDS}
 * and a second line.
 *
 *   table     {WORDS}
 *   row       short  kept
 *
 * - item {WORDS}
 *   goes on
 * - another item
 *   A --> B    an arrow
 */
int  crooked ( int a );

struct noun {{
    int a; /* {WORDS[:-20]} more words */
    int b; /* short */
}};
// {WORDS} end
'''
AFTER = '''/* noun.h - one word after the other until the line is too long for the hundred and twenty columns that a line may have
 * at the very most and a second line.
 *
 *   table     one word after the other until the line is too long for the hundred and twenty columns that a line may
 *             have at the very most
 *   row       short  kept
 *
 * - item one word after the other until the line is too long for the hundred and twenty columns that a line may have at
 *   the very most goes on
 * - another item
 *   A --> B    an arrow
 */
int crooked(int a);

struct noun {
    int a; /* one word after the other until the line is too long for the hundred and twenty columns that a line may
            * h more words */
    int b; /* short */
};
// one word after the other until the line is too long for the hundred and twenty columns that a line may have at the
// very most end
'''
failures = []


def formatted(*options):
    run = subprocess.run(['bash', TREE / 'tests/lint/format.sh', *options], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def length_is_found(lines):
    """Whether clang-tidy objects to a function of so many lines, from the one of its name to the one of its brace."""
    source = TREE / 'long.c'
    source.write_text('int f(int a);\nint f(int a) {\n' + '    a++;\n' * (lines - 3) + '    return a;\n}\n')
    run = subprocess.run(['clang-tidy', '--quiet', source, '--'], capture_output=True, text=True, cwd=TREE)
    return 'readability-function-size' in run.stdout


if not shutil.which('clang-format') or not shutil.which('clang-tidy'):
    print('clang-format or clang-tidy is not installed')
    sys.exit(77)
(TREE / 'tests/lint').mkdir(parents=True)
for name in ('.clang-format', '.clang-tidy', 'tests/lint/format.sh', 'tests/lint/wrap_comments.py'):
    shutil.copy(SOURCE / name, TREE / name)
subprocess.run(['git', 'init', '-q'], cwd=TREE, check=True)
noun, rows = TREE / 'noun.h', TREE / 'rows.def'
noun.write_text(BEFORE)
rows.write_text('ROW(x, "%s")\n' % ('y' * 120))
code, text = formatted('--check')
for wanted in ('noun.h: not as clang-format writes it', 'noun.h: comments of more than 120 columns', 'noun.h:1: more than 120 columns',
               'rows.def:1: more than 120 columns'):
    if wanted not in text or code != 1:
        failures.append(f'--check does not say {wanted!r}: exit {code}, {text}')
rows.unlink()
code, text = formatted()
if code or noun.read_text() != AFTER:
    failures.append(f'exit {code}, {text}\n{noun.read_text()}')
if formatted('--check') != (0, ''):
    failures.append(f'what it wrote is not clean: {formatted("--check")}')
noun.write_text(AFTER.replace('            * h more', '     * h more'))
formatted()
if noun.read_text() != AFTER:
    failures.append('the other lines of a comment behind code are not below its first')
if length_is_found(60) or not length_is_found(61):
    failures.append(f'functions of 60 and 61 lines are found: {length_is_found(60)}, {length_is_found(61)}')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
