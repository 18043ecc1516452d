#!/usr/bin/env python3
"""`idsprof extract` of archives: every format out of every container is what it is out of the folder, byte for byte; of several hosts and
several runs too. What fails leaves no file, no temporary file and no folder behind.  Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import gzip
import io
import lzma
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
sys.path.insert(0, str(SOURCE / 'tests' / 'fault'))
import xspace  # noqa: E402

work = Path(tempfile.mkdtemp())
failures = []
FORMATS = ('raw', 'chrome', 'perfetto', 'xplane', 'csv', 'hlo')
CONVERSIONS = FORMATS[1:5]


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*arguments, **options):
    return subprocess.run([IDSPROF, 'extract', *map(str, arguments)], capture_output=True, timeout=120, cwd=work, **options)


def taken_out(run, *arguments):
    """What an extraction writes: name -> bytes."""
    out = work / 'out'
    shutil.rmtree(out, ignore_errors=True)
    done = idsprof(run, *arguments, '-o', out)
    check(done.returncode == 0, f'{arguments} of {run}: exit {done.returncode}: {done.stderr.decode()}')
    return {p.name: p.read_bytes() for p in out.iterdir()} if out.is_dir() else {}


# ---- containers ----

def tar_of(folder):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w') as tar:
        tar.add(folder, arcname=folder.name)
    return stream.getvalue()


def zstd(data):
    return subprocess.run(['zstd', '-q', '-c'], input=data, capture_output=True, check=True).stdout


def containers(folder, name):
    """The folder in each kind of archive."""
    packers = {'.tar': lambda data: data, '.tar.gz': gzip.compress, '.tar.xz': lzma.compress}
    if shutil.which('zstd'):
        packers['.tar.zst'] = zstd
    else:
        print('no zstd: tar.zst is not tried here')
    data = tar_of(folder)
    for suffix, pack in packers.items():
        path = work / (name + suffix)
        path.write_bytes(pack(data))
        yield path
    path = work / (name + '.zip')
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob('*')):
            packed.write(file, file.relative_to(folder.parent))
    yield path


def host(step_ps=100_000, kernels=3):
    planes = [xspace.Plane('/host:CPU'), xspace.Plane('/device:GPU:0')]
    planes[0].line(7, 'python')
    planes[1].line(13, 'Stream #13(Compute)')
    for step in range(kernels):
        planes[0].event('train', step * step_ps, step_ps * 9 // 10, {'step_num': step, '_r': 1})
        planes[0].event('launch', step * step_ps + 10_000, 1_000, {'correlation_id': step + 1})
        planes[1].event('kernel_%d' % step, step_ps * 3 // 2 + step * step_ps, step_ps // 2, {'correlation_id': step + 1})
    return planes


def put(path, planes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(xspace.space(planes))


def program(text):
    return xspace.metadata_plane({'jit_f(7)': xspace.hlo_proto(text, [])})


# ---- what is tried ----

def check_every_format():
    folder = work / 'run'
    shutil.copytree(SOURCE / 'testdata/cpu1_annotated/plugins', folder / 'plugins')
    profiles = next(folder.glob('plugins/profile/*'))
    (profiles / 'jit_f(1).hlo_proto.pb').write_bytes(b'beside')
    (profiles / 'notes.txt').write_bytes(b'no')
    wanted = {format: taken_out(folder, '-f', format) for format in FORMATS}
    check(sorted(wanted['raw']) == ['host.xplane.pb', 'jit_f(1).hlo_proto.pb'] and wanted['hlo'], f'{[*wanted["raw"]]}')
    steps = taken_out(folder, '-f', 'csv', '--steps', '2-3')
    listing = idsprof(folder, '--list').stdout
    for archive in containers(folder, 'one'):
        for format in FORMATS:
            got = taken_out(archive, '-f', format)
            check(got == wanted[format], f'{format} of {archive.name}: {[(n, len(b)) for n, b in got.items()]}')
        check(taken_out(archive, '-f', 'csv', '--steps', '2-3') == steps, f'steps of {archive.name}')
        check(idsprof(archive, '--list').stdout == listing, f'--list of {archive.name}')
        got = idsprof(archive, '-f', 'csv', '-o', '-')
        check(got.returncode == 0 and got.stdout == wanted['csv']['host.events.csv'], f'{archive.name} on standard output')
    # An archive in a log folder is one of its runs.
    logs = work / 'logs'
    logs.mkdir()
    shutil.copy(work / 'one.tar.gz', logs)
    check(taken_out(logs, '-f', 'xplane') == wanted['xplane'], 'an archive in a folder')


def check_plain_gzip():
    for name, data in (('host.xplane.pb', next((SOURCE / 'testdata/cpu1_annotated').rglob('*.xplane.pb')).read_bytes()),
                       ('rank0.json', (SOURCE / 'testdata/json/kineto.trace.json').read_bytes())):
        plain, packed = work / 'gz' / name, work / 'gz' / (name + '.gz')
        plain.parent.mkdir(exist_ok=True)
        plain.write_bytes(data)
        packed.write_bytes(gzip.compress(data))
        for format in FORMATS[1:] if name.endswith('.pb') else CONVERSIONS:
            check(taken_out(packed, '-f', format) == taken_out(plain, '-f', format), f'{format} of {packed.name}')
        check(taken_out(packed) == {packed.name: packed.read_bytes()}, f'raw of {packed.name}')


def check_hosts():
    """Two hosts with one program of the same content, and one of the same name that differs."""
    folder = work / 'hosts'
    run = folder / 'plugins/profile/t'
    put(run / 'a.xplane.pb', host() + [program('same')])
    put(run / 'b.xplane.pb', host(200_000) + [program('same')])
    wanted = {format: taken_out(folder, '-f', format) for format in FORMATS}
    check([*wanted['hlo']] == ['jit_f(7).hlo_proto.pb'], f'the program of two hosts: {[*wanted["hlo"]]}')
    check(len(wanted['csv']) == 2, 'two hosts')
    for archive in containers(folder, 'two'):
        for format in FORMATS:
            check(taken_out(archive, '-f', format) == wanted[format], f'{format} of two hosts in {archive.name}')
        done = idsprof(archive, '-f', 'csv', '-o', '-')
        check(done.returncode == 2 and b'gives 2 files' in done.stderr, f'two hosts of {archive.name} on standard output: {done}')
    one = idsprof(folder, '-f', 'hlo', '-o', '-')
    check(one.stdout == wanted['hlo']['jit_f(7).hlo_proto.pb'], 'the program of two hosts on standard output')
    put(run / 'c.xplane.pb', host() + [program('another')])
    got = taken_out(folder, '-f', 'hlo')
    check(sorted(got) == ['c.jit_f(7).hlo_proto.pb', 'jit_f(7).hlo_proto.pb'], f'programs that differ: {sorted(got)}')


def check_runs():
    folder = work / 'runs'
    put(folder / 'plugins/profile/2026_01_01_00_00_00/h.xplane.pb', host(kernels=1))
    put(folder / 'plugins/profile/2026_01_02_00_00_00/h.xplane.pb', host(kernels=2))
    for archive in containers(folder, 'several'):
        for arguments, kernels in (((), 2), (('-r', '2026_01_01_00_00_00'), 1), (('-r', '2026_01_02_00_00_00'), 2)):
            for format in FORMATS[:5]:
                got = taken_out(archive, '-f', format, *arguments)
                check(got and got == taken_out(folder, '-f', format, *arguments), f'{format} {arguments} of {archive.name}')
            check(got['h.events.csv'].count(b'kernel_') == kernels, f'{arguments} of {archive.name}: {got}')


def check_nothing_left():
    """A failure at the second file: a new folder goes, in an old one nothing is added, and what was there stays."""
    run = work / 'broken/plugins/profile/t'
    put(run / 'a.xplane.pb', host())
    (run / 'b.xplane.pb').write_bytes(b'\x0a\x05\x12\x03/xy\xff\xff\xff')
    tar = work / 'broken.tar'
    tar.write_bytes(tar_of(work / 'broken'))
    not_profile = work / 'text.trace.json'
    not_profile.write_bytes(b'[1, 2]')
    for path in (work / 'broken', tar, not_profile):
        for format in CONVERSIONS + ('hlo',):
            new, old = work / 'new', work / 'old'
            shutil.rmtree(old, ignore_errors=True)
            old.mkdir()
            (old / 'kept').write_bytes(b'mine')
            done = idsprof(path, '-f', format, '-o', new)
            check(done.returncode == 2 and not new.exists(), f'{format} of {path.name} left {[*work.glob("new/*")]}: {done}')
            done = idsprof(path, '-f', format, '-o', old)
            check(done.returncode == 2 and [p.name for p in old.iterdir()] == ['kept'], f'{format} of {path.name} left {[*old.iterdir()]}')
            shutil.rmtree(new, ignore_errors=True)
    done = idsprof(SOURCE / 'testdata/cpu1_nohlo', '-f', 'hlo', '-o', work / 'new')
    check(done.returncode == 1 and not (work / 'new').exists(), f'no program: {done}')
    # A name that is taken, found after the first file would have been written.
    good = work / 'good/plugins/profile/t'
    for name in 'ab':
        put(good / f'{name}.xplane.pb', host() + [program(name)])
    taken = work / 'taken'
    taken.mkdir()
    (taken / 'b.jit_f(7).hlo_proto.pb').write_bytes(b'mine')
    done = idsprof(work / 'good', '-f', 'hlo', '-o', taken)
    check(done.returncode == 2 and [p.name for p in taken.iterdir()] == ['b.jit_f(7).hlo_proto.pb'], f'{done} left {[*taken.iterdir()]}')
    # The disk is full in the second file.
    put(good / 'b.xplane.pb', host(kernels=2000))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    for format in ('raw', *CONVERSIONS):
        done = idsprof(work / 'good', '-f', format, '-o', work / 'new', preexec_fn=limit)
        check(done.returncode == 2 and not (work / 'new').exists(), f'{format} on a full disk left {[*work.glob("new/*")]}: {done}')
        shutil.rmtree(work / 'new', ignore_errors=True)


def check_interrupted():
    """The input never ends: the folder that was made goes with the temporary file."""
    out = work / 'interrupted'
    child = subprocess.Popen([IDSPROF, 'extract', '-', '-f', 'csv', '-o', str(out)], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for _ in range(200):
        if out.is_dir() and list(out.iterdir()):
            break
        time.sleep(0.05)
    check(out.is_dir() and list(out.iterdir()), 'nothing was begun')
    child.send_signal(signal.SIGTERM)
    check(child.wait(timeout=60) == -signal.SIGTERM and not out.exists(), f'an interruption left {[*work.glob("interrupted/*")]}')
    child.stdin.close()


for test in (check_every_format, check_plain_gzip, check_hosts, check_runs, check_nothing_left, check_interrupted):
    try:
        test()
    except Exception as e:
        failures.append(f'{test.__name__}: {type(e).__name__}: {e}')
shutil.rmtree(work)
for failure in failures:
    print('FAIL:', str(failure)[:1500])
sys.exit(bool(failures))
