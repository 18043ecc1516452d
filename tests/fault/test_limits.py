#!/usr/bin/env python3
"""What others' files may cost: packed files that unpack to much more than their size, in every container, and SQL that never ends or takes all
memory. Each is refused in time, before the disk or the memory is full, and the message names the option that allows more.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import gzip
import io
import os
import random
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
SANITIZED = os.environ.get('IDS_SANITIZE') == '1'
MINI = SOURCE / 'testdata' / 'mini' / 'idle_gap_1ps.mini'
BOMB_BYTES = 320 << 20  # 256 MiB are always allowed
PROFILE = next((SOURCE / 'testdata' / 'cpu1_plain').rglob('*.xplane.pb'))
BALLAST_BYTES = 4 << 20
ZERO_BYTES = bytes(1 << 20)  # BOMB_BYTES are a number of these
DISK_BYTES = 300 << 20
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def small_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_BYTES, DISK_BYTES))


def idsprof(*arguments, disk=None, limit=120):
    """The exit code, standard error, and the seconds of CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, errors='replace', timeout=limit,
                          preexec_fn=disk)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, done.stderr + (done.stdout if arguments[0] == 'list' else ''), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def zeros(file, length):
    while length:
        length -= file.write(ZERO_BYTES)


class Zeros(io.RawIOBase):
    def __init__(self, length):
        self.left = length

    def read(self, size=-1):
        size = self.left if size < 0 else min(size, self.left)
        self.left -= size
        return ZERO_BYTES if size == len(ZERO_BYTES) else bytes(size)


class Packer:
    """zlib's compressobj, for which a MiB of zeros is packed once: behind a full flush the stream does not look back, so the same bytes
    may follow each other as often as one likes."""

    def __init__(self, make):
        self.inner, self.packed = make(), None

    def compress(self, data):
        if data is not ZERO_BYTES:
            return self.inner.compress(data)
        if self.packed is None:
            begin = self.inner.flush(zlib.Z_FULL_FLUSH)
            self.packed = self.inner.compress(data) + self.inner.flush(zlib.Z_FULL_FLUSH)
            return begin + self.packed
        return self.packed

    def flush(self, *mode):
        return self.inner.flush(*mode)


def gzip_of(out, pieces):
    """Writes a gzip file of the pieces; out is a path."""
    packer, crc, length = Packer(lambda: zlib.compressobj(9, zlib.DEFLATED, -15)), 0, 0
    with open(out, 'wb') as file:
        file.write(b'\x1f\x8b\x08' + bytes(6) + b'\xff')
        for piece in pieces:
            file.write(packer.compress(piece))
            crc, length = zlib.crc32(piece, crc), length + len(piece)
        file.write(packer.flush() + struct.pack('<II', crc, length & 0xffffffff))


def tar_gz(path, *members):
    """An archive of (name, content), where a number is so many zeros."""
    def pieces():
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = content if isinstance(content, int) else len(content)
            yield info.tobuf()
            if isinstance(content, int):
                yield from [ZERO_BYTES] * (content // len(ZERO_BYTES))
            else:
                yield content + bytes(-len(content) % 512)
        yield bytes(1024)

    gzip_of(path, pieces())


def tar(path, mode, name, content=None, length=0):
    with tarfile.open(path, mode) as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content) if content is not None else length
        archive.addfile(info, io.BytesIO(content) if content is not None else Zeros(length))


class Pipe:
    """A file that cannot seek: the zip then says sizes behind the data alone."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


def bombs(folder):
    make = zipfile._get_compressor
    zipfile._get_compressor = lambda *how: Packer(lambda: make(*how))
    plain = folder / 'plain.xplane.pb.gz'
    gzip_of(plain, [ZERO_BYTES] * (BOMB_BYTES >> 20))
    packed = plain.read_bytes()
    with zipfile.ZipFile(folder / 'declared.zip', 'w', zipfile.ZIP_DEFLATED) as archive, archive.open('a.xplane.pb', 'w') as file:
        zeros(file, BOMB_BYTES)
    with open(folder / 'streamed.zip', 'wb') as out, zipfile.ZipFile(Pipe(out), 'w', zipfile.ZIP_DEFLATED) as archive:
        with archive.open('a.xplane.pb', 'w') as file:
            zeros(file, BOMB_BYTES)
    with zipfile.ZipFile(folder / 'generic.zip', 'w', zipfile.ZIP_DEFLATED) as archive, archive.open('a.json', 'w') as file:
        file.write(b'{"traceEvents": [')
        zeros(file, BOMB_BYTES)
    with zipfile.ZipFile(folder / 'nested.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('a.xplane.pb.gz', packed)
    # Beside a member that packs badly, so that the archive as a whole unpacks to little of what its size allows.
    ballast = random.Random(1).randbytes(BALLAST_BYTES)
    with zipfile.ZipFile(folder / 'beside.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('ballast.bin', ballast)
        with archive.open('a.xplane.pb', 'w') as file:
            zeros(file, BOMB_BYTES)
    tar_gz(folder / 'beside.tar.gz', ('ballast.bin', ballast), ('a.xplane.pb', BOMB_BYTES))
    # Gzip that unpacks to 150 times its size, which is allowed, and is itself packed as well.
    once = gzip.compress(random.Random(2).randbytes(6000) + bytes((1 << 20) - 6000), 9)
    with zipfile.ZipFile(folder / 'twice.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('ballast.bin', ballast)
        archive.writestr('a.xplane.pb.gz', once * (BOMB_BYTES >> 20))
    tar_gz(folder / 'twice.tar.gz', ('ballast.bin', ballast), ('a.trace.json.gz', once * (BOMB_BYTES >> 20)))
    tar_gz(folder / 'bomb.tar.gz', ('a.xplane.pb', BOMB_BYTES))
    tar_gz(folder / 'passed.tar.gz', ('a.notes', BOMB_BYTES))
    tar(folder / 'nested.tar.xz', 'w:xz', 'a.xplane.pb.gz', content=packed)
    if shutil.which('zstd'):
        tar(folder / 'bomb.tar', 'w', 'a.xplane.pb', length=BOMB_BYTES)
        subprocess.run(['zstd', '-q', '--rm', folder / 'bomb.tar'], check=True)
    return sorted(path for path in folder.iterdir() if path.is_file())


def check_bombs(folder):
    for path in bombs(folder):
        others = ['list'], ['extract', '-f', 'csv', '-o', '-'], ['query', '--schema']
        for command in (['report'], *(others if path.name in ('declared.zip', 'nested.tar.xz') else ())):
            code, said, seconds = idsprof(*command, path, disk=small_disk)
            check(code == 2, f'{command} {path.name}: exit {code}')
            check('--max-unpacked' in said or 'no profile' in said, f'{command} {path.name}: {said!r}')
            check('temporary file' not in said, f'{command} {path.name}: the disk was filled: {said!r}')
            check(seconds < (60 if SANITIZED else 6), f'{command} {path.name}: {seconds:.1f} s of CPU time')
        if path.name not in ('declared.zip', 'nested.zip', 'beside.zip', 'twice.zip', 'plain.xplane.pb.gz'):
            continue
        code, said, _ = idsprof('report', '--max-unpacked', '400M', path)
        check(code == 2 and '--max-unpacked' not in said, f'--max-unpacked does not allow {path.name}: {said!r}')
    small = folder / 'small.zip'
    with zipfile.ZipFile(small, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('a.xplane.pb', PROFILE.read_bytes())
    code, said, _ = idsprof('report', '--max-unpacked', '10', small)
    check(code == 2 and '--max-unpacked' in said, f'--max-unpacked 10 allows more: {said!r}')
    for word in ('', '-1', '1Q', 'x', '1.2.3G', '99999999T'):
        code, said, _ = idsprof('report', '--max-unpacked', word, small)
        check(code == 2 and '--max-unpacked' in said, f'--max-unpacked {word!r}: {code} {said!r}')
    for word in ('500M', '500MiB', '0.5g', '1T', '4096', '4096B'):
        code, said, _ = idsprof('report', '--max-unpacked', word, MINI)
        check(code == 0, f'--max-unpacked {word!r}: {said!r}')


ENDLESS = 'WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT '
SLOW = {
    'never ends': ENDLESS + 'count(*) FROM n',
    'never ends, and prints': ENDLESS + 'i FROM n WHERE i % 100000 = 0',
    'cross join': 'SELECT count(*) FROM ' + ', '.join(f'(SELECT * FROM sqlite_schema) t{i}' for i in range(9)) + ' WHERE t0.name < t1.name || t2.name',
    'one step that hangs': "SELECT instr(hex(zeroblob(20000000)), hex(zeroblob(9000000)) || '1')",
}
LARGE = {
    'sorts without end': ENDLESS + 'i FROM n ORDER BY -i',
    'collects': ENDLESS + "i, group_concat(hex(zeroblob(100))) OVER (ORDER BY i ROWS 1000000 PRECEDING) FROM n",
    'distinct': ENDLESS + 'count(DISTINCT hex(i) || hex(zeroblob(1000))) FROM n',
    'printf': "SELECT printf('%*d', 1000000000, 1)",
    'many blobs': ENDLESS + 'zeroblob(60000000 + i) AS z FROM n ORDER BY z',
}


def check_sql(folder):
    database = folder / 'run.db'
    check(idsprof('import', '-q', MINI, '-o', database)[0] == 0, 'import failed')
    for target in (database, MINI):
        for name, sql in list(SLOW.items())[:1 if target is MINI else None]:
            code, said, seconds = idsprof('query', '--timeout', '500ms', target, sql)
            check(code == 2 and '--timeout' in said, f'{name}: exit {code}, {said!r}')
            check(seconds < (30 if SANITIZED else 6), f'{name}: {seconds:.1f} s of CPU time')
        for name, sql in list(LARGE.items())[:1 if target is MINI else None]:
            code, said, _ = idsprof('query', '--timeout', '60s', '--max-memory', '60M', target, sql)
            harmless = name == 'printf' and code == 0
            check(harmless or (code == 2 and ('--max-memory' in said or 'too big' in said)), f'{name}: exit {code}, {said!r}')
    with sqlite3.connect(database) as db:
        db.execute('ALTER TABLE run RENAME TO r')
        db.execute('CREATE VIEW run AS ' + ENDLESS + 'i AS id, NULL AS name FROM n WHERE i < 0')
    db.close()
    for command in (['list'], ['report'], ['scale', database], ['diff', database], ['query', '--explain', 'device.utilization'], ['check', '--max', 'steps.mean=1s']):
        code, said, seconds = idsprof(*command, '--timeout', '500ms', database)
        check(code == 2 and '--timeout' in said, f'{command} of a view without end: exit {code}, {said!r}')
        check(seconds < (30 if SANITIZED else 6), f'{command} of a view without end: {seconds:.1f} s of CPU time')


def check_many_runs(folder):
    """Four times the runs take about four times as long: each is found by index."""
    took = []
    for runs in (150, 600):
        database = folder / f'{runs}.db'
        check(idsprof('import', '-q', *[MINI] * runs, '-o', database)[0] == 0, f'import of {runs} runs failed')
        took.append(min(idsprof('list', database)[2] for _ in range(2)))
    check(took[1] < 7 * took[0], f'list of 150 runs takes {took[0]:.2f} s, of 600 {took[1]:.2f} s')


with tempfile.TemporaryDirectory() as name:
    for test in (check_bombs, check_sql, check_many_runs):
        folder = Path(name) / test.__name__
        folder.mkdir()
        began = time.monotonic()
        test(folder)
        print(f'{test.__name__}: {time.monotonic() - began:.1f} s')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
