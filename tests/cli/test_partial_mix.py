#!/usr/bin/env python3
"""Partials beside profiles, partials that are there twice, and profiles that no partial may overwrite; what is lost names its file.

Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SCRATCH = Path(os.environ['TMPDIR'])
CPU1, CPU8 = (next((SOURCE / 'testdata' / name).rglob('*.xplane.pb')) for name in ('cpu1_annotated', 'cpu8_annotated'))
JSON1, JSON2 = (SOURCE / 'testdata' / 'json' / name for name in ('kineto.trace.json', 'kineto_memory.trace.json'))
HEAP = SOURCE / 'testdata' / 'memory' / 'first.prof'
failures = []


def idsprof(*arguments, **more):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, errors='replace', **more)


def expect(code, words, *arguments, **more):
    done = idsprof(*arguments, **more)
    said = ' '.join((done.stdout + done.stderr).split())
    for word in [words] if isinstance(words, str) else words:
        if word not in said:
            failures.append(f'{arguments}: {word!r} is not said: {done.stdout[-300:]}{done.stderr}')
    if done.returncode != code:
        failures.append(f'{arguments}: exit {done.returncode}: {done.stderr}')
    return done


def same(what, got, want):
    if got != want:
        failures.append(f'{what}: {got}, expected {want}')


def put(path, source):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(source, bytes):
        path.write_bytes(source)
    else:
        shutil.copyfile(source, path)
    return path


def partial(source, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    expect(0, '', 'partial', source, '-o', path)
    return path


def report(path):
    """The report but for what is said of the files themselves."""
    done = idsprof('report', '--no-cache', '--json', path)
    found = json.loads(done.stdout)
    for name in ('name', 'path', 'bytes', 'not_read'):
        found['run'].pop(name, None)
    return found


# A host as a partial among profiles: the run is that of the profiles, whatever the partial is called.
for what, files in {'xplane': {'a.xplane.pb': CPU1, 'b.xplane.pb': CPU8}, 'forms': {'a.trace.json': JSON1, 'b.trace.json': JSON2},
                    'ranks': {'rank-0.json': JSON1, 'rank-1.json': JSON2},
                    'torch': {'h_1.1711111111.pt.trace.json': JSON1, 'h_2.1711111112.pt.trace.json': JSON2}}.items():
    profiles = [put(SCRATCH / what / 'profiles' / name, source) for name, source in files.items()]
    for i, profile in enumerate(profiles):
        mixed = SCRATCH / what / f'mixed{i}'
        put(mixed / profiles[1 - i].name, profiles[1 - i])
        partial(profile, mixed / 'zz.idspart')
        expect(0, '', 'report', '--strict', '--no-cache', mixed)
        same(f'{what}: hosts', report(mixed)['run']['hosts'], 2)
        same(f'{what}: report {i}', report(mixed) == report(profiles[0].parent), True)
        # The profile itself wins.
        put(mixed / profile.name, profile)
        expect(0, 'zz.idspart', 'report', '--no-cache', mixed)
        same(f'{what}: report of both {i}', report(mixed) == report(profiles[0].parent), True)
with tarfile.open(SCRATCH / 'mixed.tar.gz', 'w:gz') as archive:
    archive.add(SCRATCH / 'xplane' / 'mixed0', 'mixed')
same('of an archive', report(SCRATCH / 'mixed.tar.gz') == report(SCRATCH / 'xplane' / 'mixed0'), True)

# The same host in another form; what lies beside a run; and what cannot be read.
host = SCRATCH / 'host'
put(host / 'a.xplane.pb', CPU1)
partial(put(SCRATCH / 'else' / 'a.trace.json', JSON1), host / 'a.idspart')
same('one host in two forms', report(host)['run']['hosts'], 1)
put(host / 'heap.memory.prof', HEAP)
want = report(host)
with_heap = SCRATCH / 'with'
expect(0, '', 'partial', host, '-o', f'{with_heap}/')
(with_heap / 'a.xplane.pb.idspart').unlink()
put(with_heap / 'a.xplane.pb', CPU1)
same('a partial of what lies beside', report(with_heap) == want, True)
for name, profile in (('a.xplane.pb', CPU1), ('rank1.json', JSON1)):
    broken = SCRATCH / f'broken-{name}'
    put(broken / name, profile)
    put(broken / 'rank0.idspart', b'nothing')
    expect(2, ['INCOMPLETE', "rank0.idspart'"], 'report', '--strict', '--no-cache', broken)

# Partials in two folders are two runs, which is said.
nest = SCRATCH / 'nest'
for name, profile in (('h1', CPU1), ('h2', CPU8)):
    partial(profile, nest / name / 'x.idspart')
expect(0, '2 of 2 runs are partials, and this is one run, h2', 'report', nest)
same('one run is no choice', 'are partials' in idsprof('report', nest / 'h1').stderr, False)

# No profile is overwritten: not what is read, whatever links lead there, and no other.
mine = put(SCRATCH / 'mine' / 'p.xplane.pb', CPU1)
(mine.parent / 'hard').hardlink_to(mine)
(mine.parent / 'soft').symlink_to(mine)
(mine.parent / 'folder').symlink_to(mine.parent)
for name in ('p.xplane.pb', 'hard', 'soft', 'folder/p.xplane.pb'):
    expect(2, 'is what is read', 'partial', '--force', mine, '-o', mine.parent / name)
put(mine.parent / 'q.json', JSON1)
put(mine.parent / 'q.json.gz', gzip.compress(JSON1.read_bytes()))
for name in ('q.json', 'q.json.gz'):
    expect(2, 'is a profile', 'partial', '--force', mine, '-o', mine.parent / name)
same('the profiles', [(mine.parent / name).read_bytes() for name in ('p.xplane.pb', 'q.json')], [CPU1.read_bytes(), JSON1.read_bytes()])
put(mine.parent / 'text', b'no profile')
for _ in range(2):
    expect(0, '', 'partial', '--force', mine, '-o', mine.parent / 'text')
expect(2, 'is a profile', 'partial', '--force', mine, '-o', f'{put(SCRATCH / "full" / "p.xplane.pb.idspart", CPU8).parent}/')

# Two hosts with one file name.
hosts = [put(SCRATCH / name / 'run' / 'vm.xplane.pb', profile) for name, profile in (('A', CPU1), ('B', CPU8))]
expect(0, '', 'partial', *hosts, '-o', f'{SCRATCH}/named/')
same('names', sorted(path.name for path in (SCRATCH / 'named').iterdir()), ['A.vm.xplane.pb.idspart', 'B.vm.xplane.pb.idspart'])
expect(2, 'have one name', 'partial', hosts[0], hosts[0], '-o', f'{SCRATCH}/twice/')
put(SCRATCH / 'A.vm.xplane.pb', CPU1)
expect(2, 'two partials would be called', 'partial', *hosts, SCRATCH / 'A.vm.xplane.pb', '-o', f'{SCRATCH}/twice/')
put(SCRATCH / 'third' / 'a.xplane.pb', CPU1)
put(SCRATCH / 'twice2' / 'vm.xplane.pb.idspart', b'')
(SCRATCH / 'twice2' / 'B.vm.xplane.pb.idspart').touch()
expect(2, 'exists', 'partial', SCRATCH / 'third' / 'a.xplane.pb', *hosts, '-o', f'{SCRATCH}/twice2/')
same('nothing is written before', (SCRATCH / 'twice').exists() or len(list((SCRATCH / 'twice2').iterdir())) > 2, False)

# The same twice counts once.
one, two = partial(CPU1, SCRATCH / 'one.idspart'), partial(CPU8, SCRATCH / 'two.idspart')
copy = put(SCRATCH / 'copies' / 'b.idspart', one)
put(SCRATCH / 'copies' / 'a.idspart', one)
for operands in ([one, one], [one, copy], [SCRATCH / 'copies']):
    expect(0, ['1 host ', 'the same file twice'], 'report', '--no-cache', *operands)
expect(0, ['2 hosts', 'the same file twice'], 'report', '--no-cache', one, two, copy)
same('two files are two', 'twice' in expect(0, '2 hosts', 'report', '--no-cache', one, two).stderr, False)

# A pipe among several, two in one file, and one that is packed again.
expect(2, 'a pipe, which can be read once only', 'report', '-', two, stdin=subprocess.Popen(['cat', one], stdout=subprocess.PIPE).stdout)
expect(0, '1 host', 'report', '-', stdin=subprocess.Popen(['cat', one], stdout=subprocess.PIPE).stdout)
both = put(SCRATCH / 'both.idspart', one.read_bytes() + two.read_bytes())
expect(2, 'several partials in one file', 'report', both)
both.write_bytes(gzip.compress(gzip.decompress(one.read_bytes()) + b'more'))
expect(2, 'a damaged partial', 'report', both)
expect(2, 'packed once more', 'report', put(SCRATCH / 'again.idspart.gz', gzip.compress(one.read_bytes())))
expect(0, '', 'extract', one, '-o', SCRATCH / 'extracted')
same('extract copies', [path.read_bytes() for path in (SCRATCH / 'extracted').rglob('*.idspart')], [one.read_bytes()])

# What is lost of a run of several hosts names its host or file.
cut = SCRATCH / 'cut'
put(cut / 'good.xplane.pb', CPU1)
put(cut / 'short.xplane.pb', CPU8.read_bytes()[:60000])
for name in ('bad1', 'bad2'):
    put(cut / f'{name}.xplane.pb', b'nothing')
expect(0, '', 'partial', cut, '-o', f'{SCRATCH}/cut-parts/')
for path in (cut, SCRATCH / 'cut-parts'):
    done = expect(0, ['short: the file is cut at', "bad1.xplane.pb'", "bad2.xplane.pb'", 'and 2 more: see notes'], 'report', '--no-cache', path)
    texts = [diag['text'] for diag in json.loads(idsprof('report', '--json', path).stdout)['diag']]
    same('in JSON', [sum(word in text for text in texts) for word in ('short: the file', 'bad1.xplane.pb', 'bad2.xplane.pb')], [1, 1, 1])

# A profile that is there twice under two names counts as two hosts, and that is said, of partials too; other hosts are not alike.
twins = SCRATCH / 'twins'
for name, source in {'a': CPU1, 'a_copy': CPU1, 'b': CPU8}.items():
    put(twins / 'run' / f'{name}.xplane.pb', source)
    partial(twins / 'run' / f'{name}.xplane.pb', twins / 'parts' / f'{name}.idspart')
for path in (twins / 'run', twins / 'parts'):
    texts = [diag['text'] for diag in report(path)['diag']]
    same('what is said of copies', [text[:22] for text in texts if 'is recorded as' in text], ["'a_copy' is recorded a"])

# A partial of another version among others.
old = SCRATCH / 'old'
plain, at = gzip.decompress(one.read_bytes()), len('idsprof-partial ')
put(old / 'a.idspart', gzip.compress(plain[:at] + b'0123456789abcdef' + plain[at + 16:]))
put(old / 'b.idspart', two)
expect(0, ['incomplete', 'a partial of another version'], 'list', old)
same('its state', json.loads(idsprof('list', '--json', old).stdout)['runs'][0]['state'], 'incomplete')
print('\n'.join(failures) or 'ok')
sys.exit(bool(failures))
