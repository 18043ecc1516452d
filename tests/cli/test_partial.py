#!/usr/bin/env python3
"""`idsprof partial`: what it writes and refuses, and who refuses a partial; damage and other versions are said.

same.partials holds the reports against those of the runs. Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SCRATCH = Path(os.environ['TMPDIR'])
CPU1 = next((SOURCE / 'testdata' / 'cpu1_annotated').rglob('*.xplane.pb'))
CPU8 = next((SOURCE / 'testdata' / 'cpu8_annotated').rglob('*.xplane.pb'))
HEAP = SOURCE / 'testdata' / 'memory' / 'first.prof'
failures = []


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, errors='replace')


def expect(code, words, *arguments):
    done = idsprof(*arguments)
    for word in [words] if isinstance(words, str) else words:
        if word not in done.stdout + done.stderr:
            failures.append(f'{arguments}: {word!r} is not said: {done.stdout[-200:]}{done.stderr}')
    if done.returncode != code:
        failures.append(f'{arguments}: exit {done.returncode}: {done.stderr}')
    return done


one, two, folder = SCRATCH / 'one.idspart', SCRATCH / 'two', SCRATCH / 'parts'
expect(0, '', 'partial', CPU1, '-o', one)
expect(0, '', 'partial', CPU8, '-o', two)
expect(2, 'exists', 'partial', CPU1, '-o', one)
expect(0, '', 'partial', CPU1, '-o', one, '--force')
expect(2, 'say with -o', 'partial', CPU1)
expect(2, '-o DIR/', 'partial', CPU1, CPU8, '-o', SCRATCH / 'x')
expect(2, 'a partial already', 'partial', one, '-o', SCRATCH / 'x')
expect(2, 'No such file', 'partial', SCRATCH / 'nothing', '-o', SCRATCH / 'x')
expect(0, '', 'partial', CPU1, '-o', f'{folder}/')
if [path.name for path in folder.iterdir()] != [CPU1.name + '.idspart']:
    failures.append(f'in the folder: {list(folder.iterdir())}')
if (SCRATCH / 'x').exists():
    failures.append('a partial that was refused is there')

# Several hosts; a partial is a run everywhere but where events are wanted.
expect(0, '2 hosts', 'report', one, two)
expect(2, 'not a partial', 'report', one, CPU8)
expect(0, '', 'diff', one, one)
expect(0, 'one', 'list', one)
for command in (['query', one, 'SELECT 1'], ['import', one, '-o', SCRATCH / 'x.db'], ['extract', one, '-f', 'chrome', '-o', SCRATCH / 'x.json']):
    expect(2, 'a partial: it holds what reports need', *command)
expect(2, 'a partial', 'report', '--redact', one)

# A cut file says so in its partial, and what lies beside a run is none by itself.
cut = SCRATCH / 'cut.xplane.pb'
cut.write_bytes(CPU8.read_bytes()[:-20000])
expect(0, 'its partial says so', 'partial', cut, '-o', SCRATCH / 'cut.idspart')
expect(2, '--strict', 'partial', '--strict', cut, '-o', SCRATCH / 'cut2.idspart')
expect(2, 'incomplete', 'report', '--strict', one, SCRATCH / 'cut.idspart')
run_folder = SCRATCH / 'run'
run_folder.mkdir()
shutil.copy(CPU1, run_folder / 'a.xplane.pb')
shutil.copy(HEAP, run_folder / 'heap.memory.prof')
expect(0, '', 'partial', run_folder, '-o', f'{SCRATCH}/with/')
want, got = (idsprof('report', '--no-cache', '--json', path).stdout for path in (run_folder, SCRATCH / 'with'))
for text in (want, got):
    if 'held' not in text:
        failures.append('no memory profile is read')
drop = ('name', 'path', 'bytes')
want, got = ({**json.loads(text), 'run': {k: v for k, v in json.loads(text)['run'].items() if k not in drop}} for text in (want, got))
if want != got:
    failures.append('the report with memory profiles differs')
expect(2, 'it lies beside the profiles of a run', 'report', SCRATCH / 'with' / 'heap.memory.prof.idspart')

# Another version, bytes that are lost, and damage behind a good checksum.
plain = gzip.decompress(one.read_bytes())
other = SCRATCH / 'other.idspart'
at = len('idsprof-partial ')
other.write_bytes(gzip.compress(plain[:at] + b'0123456789abcdef' + plain[at + 16:]))
expect(2, ['another version of idsprof', 'make it again'], 'report', other)
other.write_bytes(one.read_bytes()[:-100])
expect(2, 'damaged, or not whole', 'report', other)
random.seed(4)
head = plain.index(b'\n', plain.index(b'\n') + 1) + 1
for _ in range(150):
    damaged = bytearray(plain)
    for _ in range(random.choice((1, 1, 2, 5))):
        damaged[random.randrange(head, len(plain))] = random.randrange(256)
    if random.random() < 0.2:
        del damaged[random.randrange(head, len(plain)):]
    other.write_bytes(gzip.compress(bytes(damaged), 1))
    done = idsprof('report', '--no-cache', '--json', other)
    if done.returncode not in (0, 2) or (done.returncode == 2 and 'idsprof: ' not in done.stderr):
        failures.append(f'damage: exit {done.returncode}: {done.stderr[-500:]}')
        shutil.copy(other, SCRATCH / f'found-{len(failures)}.idspart')
print('\n'.join(failures) or 'ok')
sys.exit(bool(failures))
