#!/usr/bin/env python3
"""Messages go to standard error through lib/cli/say.c alone, which cleans what others wrote; characters that harm are judged in lib/wire/utf8.c
alone.

Environment: IDS_SOURCE_DIR.
"""
import os
import re
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
WRITERS = {'lib/cli/say.c', 'lib/cli/progress.c'}
# main.c sets its buffer and prints the usage, which is ours; trigger.c's list is clean, and goes to either stream; reading.c's
# last words are ours; spawned programs
# get a standard error of their own.
HARMLESS = re.compile(r'messages = \{\.fd = STDERR_FILENO\}|if \(file\) stderr = file;|setvbuf\(stderr|ids_program_usage\(stderr\)|print_list\(targets, stderr\)|isatty\(STDERR_FILENO\)|write\(STDERR_FILENO, last_words|addopen\(&actions, STDERR_FILENO')
failures = []
for folder in ('cmd', 'lib', 'formats', 'analyzers'):
    for path in sorted((SOURCE / folder).rglob('*.[ch]')):
        name = str(path.relative_to(SOURCE))
        text = re.sub(r'/\*.*?\*/', lambda comment: '\n' * comment.group().count('\n'), path.read_text(), flags=re.S)
        for number, code in enumerate(text.splitlines(), 1):
            if name not in WRITERS and re.search(r'\bstderr\b|STDERR_FILENO', code) and not HARMLESS.search(code):
                failures.append(f'{name}:{number}: writes to standard error beside ids_say: {code.strip()}')
            if name != 'lib/wire/utf8.c' and re.search(r'>= 0x7f && \w+ < 0xa0', code):
                failures.append(f'{name}:{number}: judges control characters beside ids_character_harms: {code.strip()}')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
