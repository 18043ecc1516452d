#!/usr/bin/env python3
"""`idsprof extract`: what it lists, writes, keeps, refuses and says.  Environment: IDSPROF, IDS_SOURCE_DIR."""
import csv
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
RUN = SOURCE / 'testdata/cpu8_annotated'
PROFILE = next(RUN.glob('plugins/profile/*/*.xplane.pb'))
sys.path.insert(0, str(SOURCE / 'tests' / 'fault'))
import xspace  # noqa: E402

failures = []
work = Path(tempfile.mkdtemp())
CONVERSIONS = {'chrome': '.trace.json.gz', 'perfetto': '.pftrace', 'xplane': '.xplane.pb', 'csv': '.events.csv'}


def check(ok, message):
    if not ok:
        failures.append(message)


def idsprof(*arguments, cwd=work, **options):
    return subprocess.run([IDSPROF, 'extract', *map(str, arguments)], capture_output=True, timeout=120, cwd=cwd, **options)


def expect_error(message, *arguments, **options):
    run = idsprof(*arguments, **options)
    first = run.stderr.decode().split('\n')[0]
    check(run.returncode == 2, f'{arguments}: exit {run.returncode}')
    check(first == 'idsprof: extract: ' + message, f'{arguments}: {first!r}, wanted {message!r}')


def folder(name):
    path = work / name
    shutil.rmtree(path, ignore_errors=True)
    return path


def profile(path, planes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(xspace.space(planes))
    return path


def rows(path_or_bytes):
    data = path_or_bytes if isinstance(path_or_bytes, bytes) else Path(path_or_bytes).read_bytes()
    return list(csv.DictReader(data.decode().split('\r\n')))


# Two devices and a thread. Three steps of 100 ns are annotated on the host; each launches a kernel (correlation ids) that runs after its
# annotation is over: 150-200, 250-300, 350-400 ns. The first device activity is at 150 ns.
def small():
    host, planes = xspace.Plane('/host:CPU'), []
    host.line(7, 'python')
    for step in range(3):
        host.event('train', step * 100_000, 90_000, {'step_num': step, '_r': 1})
        host.event('launch', step * 100_000 + 10_000, 1_000, {'correlation_id': step + 1})
    for device in range(2):
        plane = xspace.Plane('/device:GPU:%d' % device)
        plane.line(13 + device, 'Stream #%d(Compute)' % (13 + device))
        for step in range(3):
            plane.event('kernel_%d' % step, 150_000 + step * 100_000, 50_000, {'correlation_id': step + 1} if not device else {})
        planes.append(plane)
    return [host, *planes, xspace.metadata_plane({'jit_f(7)': xspace.hlo_proto('jit_f', []), 'jit/g': b'x'})]


def names(*arguments):
    """The names of the events that pass, with their plane's last part."""
    run = idsprof(SMALL, '--format', 'csv', '-o', '-', *arguments)
    check(run.returncode == 0, f'{arguments}: exit {run.returncode}: {run.stderr.decode()}')
    return sorted('%s %s' % (row['plane'].split(':', 1)[-1], row['name']) for row in rows(run.stdout))


def check_filters():
    kernels = ['GPU:%d kernel_%d' % (d, s) for d in range(2) for s in range(3)]
    host = ['CPU launch'] * 3 + ['CPU train'] * 3
    check(names() == sorted(kernels + host), f'no filter: {names()}')
    check(names('--device', 'GPU:*') == kernels, 'GPU:*')
    check(names('--device', '1') == kernels[3:], 'a number')
    check(names('--device', '/device:GPU:0') == kernels[:3], 'a whole name')
    check(names('--device', '0', '--device', '1') == kernels, 'two devices')
    check(names('--track', 'Stream #13*') == kernels[:3], 'a track')
    check(names('--track', '/device:GPU:1/*') == kernels[3:], 'a track by its plane')
    check(names('--name', 'kernel_[02]') == ['GPU:0 kernel_0', 'GPU:0 kernel_2', 'GPU:1 kernel_0', 'GPU:1 kernel_2'], 'names')
    check(names('--min-duration', '50ns') == sorted(kernels + ['CPU train'] * 3), 'long slices')
    check(names('--min-duration', '50001ps') == ['CPU train'] * 3, 'longer ones')
    # Times count from the first device activity, at 150 ns; what overlaps the window stays, what only touches it does not.
    check(names('--from', '50ns', '--to', '100ns') == ['CPU launch', 'CPU train'], names('--from', '50ns', '--to', '100ns'))
    check(names('--from', '49ns', '--to', '101ns', '--device', '0') == ['GPU:0 kernel_0', 'GPU:0 kernel_1'], 'a window')
    # Step 1 begins with its annotation at 100 ns and ends with its kernel at 300 ns.
    check(names('--steps', '1', '--device', '0') == ['GPU:0 kernel_0', 'GPU:0 kernel_1'], 'one step')
    check(names('--steps', '1', '--name', 'train') == ['CPU train'] * 2, names('--steps', '1', '--name', 'train'))
    check(names('--steps', '1-2', '--name', 'kernel*', '--device', '1') == kernels[3:], 'two steps')
    check(names('--steps', '0-2', '--from', '200ns') == ['GPU:0 kernel_2', 'GPU:1 kernel_2'], 'steps and a time')
    expect_error("--steps: there is no step 7; the run has steps 0 to 2", SMALL, '-f', 'csv', '--steps', '7')
    expect_error("--steps: 'x' is not a step such as 7, or steps such as 3-5", SMALL, '-f', 'csv', '--steps', 'x')
    expect_error("--steps: 5-3: the first comes after the last", SMALL, '-f', 'csv', '--steps', '5-3')
    # The CPU client's ops, by their device.
    run = idsprof(RUN, '-f', 'csv', '-o', '-', '--device', 'CPU:3')
    ops = [json.loads(row['args']) for row in rows(run.stdout)]
    check(ops and all(a['device_ordinal'] == 3 and 'hlo_op' in a for a in ops), 'ops of a CPU device')
    # The smaller xplane: names and tracks that are left out are not in it, programs are.
    idsprof(SMALL, '-f', 'xplane', '--device', '1', '--name', 'kernel_1', '-o', folder('smaller'))
    data = (work / 'smaller/h.xplane.pb').read_bytes()
    check(b'kernel_1' in data and b'kernel_0' not in data and b'launch' not in data and b'hlo_proto' in data, 'the smaller xplane')
    check(len(data) < SMALL.stat().st_size / 2, 'it is not smaller')


def check_nothing():
    """Options that no event is left of: what there is instead, exit 1, and no file."""
    out = folder('no_events')
    for options in (['--from', '500s'], ['-d', '77'], ['-n', 'no such name'], ['-t', 'none']):
        done = idsprof(RUN, '-f', 'chrome', '-o', out, *options)
        said = done.stderr.decode()
        check(done.returncode == 1 and 'it has 8 devices: CPU#0, CPU#1, ' in said and not (Path(out).is_dir() and list(Path(out).iterdir())), f'{options}: {done}')
    done = subprocess.run([IDSPROF, 'report', RUN, '--from', '500s'], capture_output=True)
    check(done.returncode == 2 and b"the run's devices are active from 0 to " in done.stderr, f'report: {done}')


def check_database():
    """A database of ours is no profile; who reads it is said, also by the other commands that cannot."""
    path = Path(folder('database')) / 'x.db'
    path.parent.mkdir()
    subprocess.run([IDSPROF, 'import', RUN, '-o', path, '-q'], check=True)
    for command in (['extract', path, '-f', 'chrome', '-o', folder('of_db')], ['extract', path, '-o', folder('of_db')], ['extract', path, '--list'],
                    ['import', path, '-o', path.with_name('y.db')], ['dump', '--hash', path]):
        done = subprocess.run([IDSPROF, *command], capture_output=True, text=True)
        check(done.returncode == 2 and 'database' in done.stderr and "'idsprof report' and 'idsprof query' read" in done.stderr, f'{command}: {done}')


def check_category():
    """Events of the category of our accounts that we did not write are counted; our own are passed over without a word."""
    events = [{'ph': 'X', 'cat': cat, 'name': f'{cat} {i}', 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5, 'args': {'stream': 7}}
              for i in range(6) for cat in ('kernel', 'idsprof')]
    path = work / 'foreign.trace.json'
    path.write_text(json.dumps({'traceEvents': events}))
    idsprof(RUN, '-f', 'chrome', '--accounts', '-o', folder('ours'))
    for trace, wanted in ((path, [6]), (next((work / 'ours').iterdir()), [])):
        diags = json.loads(subprocess.run([IDSPROF, 'report', '--json', '--no-cache', trace], capture_output=True).stdout)['diag']
        check([d['count'] for d in diags if d['id'] == 'chrome.accounts'] == wanted, f'{trace}: {diags}')


def check_outputs():
    for format, suffix in CONVERSIONS.items():
        out = folder('out')
        run = idsprof(RUN, '--format', format, '-o', out)
        check(run.returncode == 0, f'{format}: {run.stderr.decode()}')
        check([p.name for p in out.iterdir()] == ['host' + suffix], f'{format} wrote {list(out.iterdir())}')
        written = (out / ('host' + suffix)).read_bytes()
        said = run.stderr.decode()
        check(said.count('\n') == 1 and '1 file' in said and '2,745 events' in said and str(out) in said, f'{format} says {said!r}')
        check(('2 HLO programs' in said) == (format != 'xplane'), f'{format} says of programs {said!r}')
        check(('without them a report of it' in said, 'reads no such trace' in said) == (format == 'chrome', format == 'perfetto'), f'{format}: {said!r}')
        check((out / ('host' + suffix)).stat().st_mode & 0o777 == 0o666 & ~UMASK, f'{format}: mode')
        stdout = idsprof(RUN, '--format', format, '-o', '-')
        check(stdout.returncode == 0 and stdout.stdout == written, f'{format} on standard output is not the file')
        # What is there is kept, to the byte.
        (out / ('host' + suffix)).write_bytes(b'mine')
        expect_error(f"'{out}/host{suffix}' exists; use --force to overwrite", RUN, '-f', format, '-o', out)
        check((out / ('host' + suffix)).read_bytes() == b'mine', f'{format} wrote over a file')
        check(idsprof(RUN, '-f', format, '-o', out, '--force').returncode == 0, f'{format} --force')
        check((out / ('host' + suffix)).read_bytes() == written, f'{format}: --force wrote something else')
        check(len(list(out.iterdir())) == 1, f'{format} left {list(out.iterdir())}')
        # From standard input.
        with open(PROFILE, 'rb') as f:
            run = idsprof('-', '-f', format, '-o', folder('piped'), stdin=f)
        check(run.returncode == 0 and (work / f'piped/profile{suffix}').exists(), f'{format} of a pipe: {run.stderr.decode()}')


def check_raw():
    here = folder('here')
    here.mkdir()
    run = idsprof(RUN, cwd=here)
    check(run.returncode == 0 and (here / 'host.xplane.pb').read_bytes() == PROFILE.read_bytes(), 'raw is the default, . the folder')
    expect_error("'./host.xplane.pb' exists; use --force to overwrite", RUN, cwd=here)
    # Into the run's own folder: kept without, and whole with --force.
    own = folder('own')
    shutil.copytree(PROFILE.parent, own)
    (own / 'jit_f(1).hlo_proto.pb').write_bytes(b'hlo')
    (own / 'notes.txt').write_bytes(b'no')
    check(idsprof(own, '-o', own).returncode == 2, 'raw into its own folder')
    check(idsprof(own, '-o', own, '--force').returncode == 0, 'raw into its own folder with --force')
    check((own / 'host.xplane.pb').read_bytes() == PROFILE.read_bytes(), 'a file was lost in its own folder')
    copy = folder('copy')
    run = idsprof(own, '-o', copy)
    check(sorted(p.name for p in copy.iterdir()) == ['host.xplane.pb', 'jit_f(1).hlo_proto.pb'], f'copied {list(copy.iterdir())}')
    check('2 files' in run.stderr.decode(), run.stderr.decode())
    expect_error(f"'{own}' gives 2 files, and standard output takes one; choose a folder with -o", own, '-o', '-')
    check(idsprof(PROFILE, '-o', '-').stdout == PROFILE.read_bytes(), 'raw on standard output')


def check_programs():
    out = folder('hlo')
    run = idsprof(SMALL, '-f', 'hlo', '-o', out)
    check(run.returncode == 0, run.stderr.decode())
    check(sorted(p.name for p in out.iterdir()) == ['jit_f(7).hlo_proto.pb', 'jit_g(2).hlo_proto.pb'], f'{list(out.iterdir())}')
    check((out / 'jit_f(7).hlo_proto.pb').read_bytes() == xspace.hlo_proto('jit_f', []), 'the program')
    run = idsprof(SMALL, '-f', 'hlo', '-o', '-', '--name', 'jit_f*')
    check(run.returncode == 0 and run.stdout == xspace.hlo_proto('jit_f', []), 'one program on standard output')
    run = idsprof(SMALL, '-f', 'hlo', '-o', '-')
    check(run.returncode == 2 and not run.stdout and b'there are 2 programs' in run.stderr, f'two programs on standard output: {run}')
    run = idsprof(SMALL, '-f', 'hlo', '-o', out, '--name', 'nothing')
    check(run.returncode == 1 and b'holds no HLO of that name' in run.stderr, f'no program: {run}')


def check_list():
    run = idsprof(SMALL, '--list', '--json')
    listing = json.loads(run.stdout)
    check(run.returncode == 0 and listing['schema'] == 1 and listing['files'] == [{'name': 'h.xplane.pb', 'bytes': SMALL.stat().st_size}],
          f'files: {listing}')
    only = listing['profiles'][0]
    check(only['events'] == 12 and only['complete'] is True and only['host'] == 'h', f'{only}')
    check(only['devices'] == ['GPU:0', 'GPU:1'], f'devices: {only["devices"]}')
    check(only['tracks'][1] == {'plane': '/device:GPU:0', 'track': 'Stream #13(Compute)', 'id': 13, 'events': 3}, f'{only["tracks"]}')
    check([p['name'] for p in only['programs']] == ['jit_f(7)', 'jit/g'] and only['programs'][0]['program_id'] == 7, f'{only["programs"]}')
    said = idsprof(RUN, '--list').stdout.decode()
    for word in ('host.xplane.pb', '2,745 events', 'CPU:3', '/host:CPU', 'python', 'jit_train_sharded'):
        check(word in said, f'--list lacks {word}: {said}')
    expect_error('--list shows all of a run; it cannot be filtered', RUN, '--list', '--name', 'x')
    expect_error('--json is for --list', RUN, '--json')


def check_names_of_formats():
    """Messages take the names of exports from their registry; the help, whose texts are static, must name each too."""
    said = idsprof(RUN, '-f', 'json').stderr.decode()
    found = re.search(r"--format: invalid value 'json' \((.*)\)", said)
    check(found, f'names of formats: {said}')
    formats = found[1].split(', ')
    check(formats[0] == 'raw' and formats[-1] == 'hlo' and {'chrome', 'perfetto', 'xplane', 'csv'} <= set(formats), f'{formats}')
    exports = formats[1:-1]
    expect_error(f'files are copied whole; for a part choose a --format: {", ".join(exports[:-1])} or {exports[-1]}', RUN, '--from', '1ms')
    viewers = re.search('choose --format (.*)', idsprof(RUN, '--accounts').stderr.decode())[1].split(' or ')
    help_lines = idsprof('-h').stdout.decode().splitlines()
    for option, names in (('--format', formats), ('--accounts', viewers)):
        line = next(line for line in help_lines if option in line)
        for name in names:
            check(re.search(rf'\b{name}\b', line), f"'extract -h' lacks {name}: {line}")


def check_mistakes():
    expect_error('--from is not before --to', RUN, '-f', 'csv', '--from', '2ms', '--to', '1ms')
    expect_error('programs can be chosen only by --name', RUN, '-f', 'hlo', '--from', '1ms')
    expect_error("cannot open '/nonexistent': No such file or directory", '/nonexistent')
    (work / 'a_file').write_bytes(b'')
    expect_error(f"'{work}/a_file' is not a folder", RUN, '-f', 'csv', '-o', work / 'a_file')
    run = idsprof(RUN, '-o', work / 'no/such/folder')
    check(run.returncode == 2 and b'cannot make the folder' in run.stderr, f'{run}')
    with open(PROFILE, 'rb') as f:
        run = idsprof('-', '-f', 'csv', '-o', '-', '--steps', '1', stdin=f)
        check(run.returncode == 2 and b'read the run twice' in run.stderr, f'steps of a pipe: {run}')


def check_disk_full():
    """A limit on the size of files stands for the full disk; /dev/full for one on standard output."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    for format in [*CONVERSIONS, 'raw', 'hlo']:
        out = folder('full')
        out.mkdir()
        run = idsprof(RUN, '-f', format, '-o', out, preexec_fn=limit)
        check(run.returncode == 2 and b'cannot write' in run.stderr and b'File too large' in run.stderr, f'{format} on a full disk: {run}')
        check(all(p.stat().st_size < 8192 and 'idsprof' not in p.name for p in out.iterdir()), f'{format} left {list(out.iterdir())}')
        # What was there is as it was.
        kept = out / ('host' + CONVERSIONS.get(format, '.xplane.pb'))
        kept.write_bytes(b'mine')
        idsprof(RUN, '-f', format, '-o', out, '--force', preexec_fn=limit)
        check(kept.read_bytes() == b'mine', f'{format}: a full disk cost the old file')
    for format in CONVERSIONS:
        with open('/dev/full', 'wb') as full:
            run = subprocess.run([IDSPROF, 'extract', RUN, '-f', format, '-o', '-'], stdout=full, stderr=subprocess.PIPE, timeout=60)
        check(run.returncode == 2 and b'No space left on device' in run.stderr, f'{format} into /dev/full: {run}')


def check_reader_leaves():
    for format in CONVERSIONS:
        reader, writer = os.pipe()
        os.close(reader)  # before anything is written: else a pipe takes 64 kB that nobody will read
        child = subprocess.Popen([IDSPROF, 'extract', RUN, '-f', format, '-o', '-'], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        said = child.communicate(timeout=60)[1]
        check(child.returncode == 0 and said == b'', f'{format}: the reader left: {child.returncode} {said}')


def check_interrupted():
    """The input is a pipe that never ends: the temporary file is there, and gone after the signal."""
    out = folder('interrupted')
    out.mkdir()
    child = subprocess.Popen([IDSPROF, 'extract', '-', '-f', 'csv', '-o', out], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(100):
        if list(out.iterdir()):
            break
        time.sleep(0.05)
    check(len(list(out.iterdir())) == 1, 'nothing was begun')
    child.send_signal(signal.SIGTERM)
    check(child.wait(timeout=60) == -signal.SIGTERM, f'exit {child.returncode}')
    check(not list(out.iterdir()), f'an interrupted extraction left {list(out.iterdir())}')
    child.stdin.close()
    child.stderr.close()


def check_damage():
    """A file that is cut: what is whole of it is written, and said to be a part; one that is no profile leaves nothing."""
    cut = work / 'cut.xplane.pb'
    cut.write_bytes(PROFILE.read_bytes()[:90_000])
    run = idsprof(cut, '-f', 'csv', '-o', folder('cut'))
    check(run.returncode == 0 and b'the profile is incomplete' in run.stderr, f'a cut file: {run}')
    check(0 < len(rows(work / 'cut/cut.events.csv')) < 2745, 'events of a cut file')
    bad = work / 'bad.xplane.pb'
    bad.write_bytes(b'\x0a\x05\x12\x03/xy\xff\xff\xff')
    for format in CONVERSIONS:
        out = folder('bad')
        run = idsprof(bad, '-f', format, '-o', out)
        check(run.returncode == 2 and not out.exists(), f'{format} of damage: {run}')


def check_two_hosts():
    run = folder('hosts') / 'plugins/profile/t'
    for host in ('a', 'b'):
        profile(run / f'{host}.xplane.pb', small())
    out = folder('both')
    done = idsprof(run, '-f', 'chrome', '-o', out)
    check(sorted(p.name for p in out.iterdir()) == ['a.trace.json.gz', 'b.trace.json.gz'], f'{list(out.iterdir())}')
    check('2 files' in done.stderr.decode() and '24 events' in done.stderr.decode(), done.stderr.decode())
    trace = json.loads(gzip.decompress((out / 'a.trace.json.gz').read_bytes()))
    check(sum(e['ph'] == 'X' for e in trace['traceEvents']) == 12, 'events of one host')
    check(idsprof(run, '-f', 'chrome', '-o', '-').returncode == 2, 'two hosts on standard output')


# Two devices, two steps; a0 is launched at 0.2-0.3 us, b0 at 0.4-0.5, both on a thread that says nothing else. A moment without work is the
# launching thread's until the launch has ended, then the queue's; figures begin with the first activity, at 10 us, where b0's wait is cut.
# Step 0 is [0, 60] and [0, 70], step 1 goes on to the end of the device's work; after it GPU:0 waits for nothing that is known.
MINI = SOURCE / 'testdata/mini/steps_two_devices.mini'
MINI_ACCOUNTS = {
    '/device:GPU:0': [(0, 0.2, 'host.unknown', None, 0), (0.2, 0.3, 'host.dispatch', 'a0', 0), (0.3, 10, 'device.queue', 'a0', 0),
                      (10, 60, 'work.compute', 'a0', 0), (60, 110, 'device.queue', 'a1', 1), (110, 160, 'work.compute', 'a1', 1),
                      (160, 210, 'host.unknown', None, None)],
    '/device:GPU:1': [(0, 0.2, 'host.unknown', None, 0), (0.2, 0.3, 'host.dispatch', 'a0', 0), (0.3, 0.4, 'host.unknown', None, 0),
                      (0.4, 0.5, 'host.dispatch', 'b0', 0), (0.5, 10, 'device.queue', 'b0', 0), (10, 20, 'device.queue', 'b0', 0),
                      (20, 70, 'work.compute', 'b0', 0), (70, 120, 'device.queue', 'b1', 1), (120, 210, 'work.compute', 'b1', 1)]}


def accounts(run, *arguments):
    """Of a Chrome trace with accounts: (process, thread) -> (start, end, account, culprit, step) in microseconds; how many other slices."""
    done = idsprof(run, '-f', 'chrome', '--accounts', '-o', folder('accounts'), *arguments)
    check(done.returncode == 0, f'{run.name} {arguments}: {done.stderr.decode()}')
    events = json.loads(gzip.decompress(next((work / 'accounts').iterdir()).read_bytes()))['traceEvents']
    processes = {e['pid']: e['args']['name'] for e in events if e['name'] == 'process_name'}
    threads = {(e['pid'], e['tid']): (processes[e['pid']], e['args']['name']) for e in events if e['name'] == 'thread_name'}
    found, others = {place: [] for place in threads.values() if place[1].startswith('accounts')}, 0
    for e in events:
        if e.get('cat') == 'idsprof':
            args = e['args']
            check(args['known'] in ('recorded', 'inferred', 'unknown', 'place inferred'), f'how it is known: {e}')
            found[threads[e['pid'], e['tid']]].append((e['ts'], round(e['ts'] + e['dur'], 9), e['name'], args.get('culprit'), args.get('step')))
        others += e['ph'] == 'X' and e.get('cat') != 'idsprof'
    return found, others


def overlap(wanted, start, end):
    return {(plane, 'accounts'): [slice for slice in slices if slice[0] < end and slice[1] > start] for plane, slices in wanted.items()}


def report(path, *arguments):
    return json.loads(subprocess.run([IDSPROF, 'report', '--no-cache', '--json', *arguments, str(path)], capture_output=True, timeout=120).stdout)


def check_sums(run):
    """What lies in steps sums up to the report's accounts of each device, which are means over the steps; without steps all does."""
    table = report(run, '--by', 'device')['tables']['accounts_by_device']
    steps = report(run)['metrics']['steps.count']['value'] or 1
    ids = [column['id'] for column in table['columns']]
    tracks, _ = accounts(run)
    has_steps = any(step is not None for slices in tracks.values() for *_, step in slices)
    check(len(tracks) == len(table['rows']), f'{run.name}: tracks {list(tracks)}')
    for row in (dict(zip(ids, row)) for row in table['rows']):
        plane = row['device'].split(':', 1)[1]
        place = (plane.split('#')[0], 'accounts CPU#' + plane.split('#')[1]) if '#' in plane else (plane, 'accounts')
        sums = {}
        for start, end, account, _, step in tracks[place]:
            if step is not None or not has_steps:
                sums[account] = sums.get(account, 0) + end - start
        wanted = {key: value for key, value in row.items() if key not in ('device', 'time') and value}
        check(set(sums) == set(wanted) and all(abs(sums[a] / 1e6 - wanted[a] * steps) < 2e-12 * steps for a in sums), f'{run.name} {place}: {sums}, wanted {wanted}')
        slices = tracks[place]
        check(slices == sorted(slices) and all(a[1] <= b[0] + 1e-9 for a, b in zip(slices, slices[1:])), f'{run.name} {place}: order')


def check_accounts():
    whole = overlap(MINI_ACCOUNTS, -1, 1000)
    found, others = accounts(MINI)
    check(found == whole and others == 10, f'accounts: {found}, {others} others')
    # Filters hold for them as for others: step 1 begins with its annotation, at 2 us; times count from 10 us; a device, a track, a name.
    check(accounts(MINI, '--steps', '1')[0] == overlap(MINI_ACCOUNTS, 2, 210), 'a step')
    check(accounts(MINI, '--from', '49us', '--to', '101us')[0] == overlap(MINI_ACCOUNTS, 59, 111), 'a time')
    check(list(accounts(MINI, '--device', '1')[0]) == [('/device:GPU:1', 'accounts')], 'a device')
    check(accounts(MINI, '--track', 'accounts') == (whole, 0), 'the tracks alone')
    check(accounts(MINI, '--name', 'host.*', '--min-duration', '1us') == (
        {('/device:GPU:0', 'accounts'): [whole['/device:GPU:0', 'accounts'][-1]], ('/device:GPU:1', 'accounts'): []}, 0), 'names and lengths')
    found, others = accounts(RUN, '--device', 'CPU:3')
    check(others and found['/host:CPU', 'accounts CPU#3'] and not any(slices for (_, track), slices in found.items() if track != 'accounts CPU#3'),
          'a CPU device')
    for run in (MINI, RUN, SOURCE / 'testdata/cpu2_python', SOURCE / 'testdata/cpu1_nohlo',
                SOURCE / 'testdata/mini/idle_three_accounts.mini', SOURCE / 'testdata/json/kineto.trace.json'):
        check_sums(run)
    # Edges are whole nanoseconds, so that no slice overlaps the next one in a viewer, and each track is one thread.
    for name in ('idle_gap_1ps', 'idle_divided_to_1ps'):
        found, _ = accounts(SOURCE / f'testdata/mini/{name}.mini')
        for place, slices in found.items():
            check(slices and all(abs(t * 1000 - round(t * 1000)) < 1e-6 and start < end for start, end, *_ in slices for t in (start, end)),
                  f'{name} {place}: {slices}')
            check(all(a[1] == b[0] for a, b in zip(slices, slices[1:])), f'{name} {place}: {slices}')
    # Each host of a run has its own devices, in the times of its own file.
    hosts = folder('hosts') / 'plugins/profile/t'
    for host in ('a', 'b'):
        profile(hosts / f'{host}.xplane.pb', small())
    done = idsprof(hosts, '-f', 'chrome', '--accounts', '-o', folder('both'))
    for name in ('a', 'b'):
        events = json.loads(gzip.decompress((work / f'both/{name}.trace.json.gz').read_bytes()))['traceEvents']
        work_at = sorted((e['ts'], e['dur'], e['pid']) for e in events if e['name'].startswith('kernel_'))
        booked = sorted((e['ts'], e['dur'], e['pid']) for e in events if e.get('cat') == 'idsprof' and e['name'] == 'work.compute')
        check(booked == work_at, f'host {name}: {booked}, wanted {work_at}: {done.stderr}')
    # Read again they are nothing: no event, no track, no word.
    idsprof(MINI, '-f', 'chrome', '-o', folder('without'))
    idsprof(MINI, '-f', 'chrome', '--accounts', '-o', folder('with'))
    hashes = {json.dumps(json.loads(subprocess.run([IDSPROF, 'dump', '--hash', next(path.iterdir())], capture_output=True).stdout))
              for path in (work / 'without', work / 'with')}
    check(len(hashes) == 1, f'read again: {hashes}')
    check(report(work / 'with')['diag'] == report(work / 'without')['diag'], 'and told of')
    for format in ('raw', 'xplane', 'csv', 'hlo'):
        expect_error('--accounts adds a track for viewers; choose --format chrome or perfetto', RUN, '--accounts', '-f', format)
    expect_error('--list writes nothing, so --accounts has no file to add a track to', RUN, '--accounts', '--list')
    expect_error('--accounts reads the run twice, which standard input does not allow', '-', '--accounts', '-f', 'chrome', '-o', folder('pipe'),
                 stdin=subprocess.DEVNULL)
    idle = profile(work / 'idle' / 'h.xplane.pb', small()[:1])
    done = idsprof(idle, '--accounts', '-f', 'perfetto', '-o', folder('nothing'))
    check(done.returncode == 0 and b'no event of a device is recorded, so there are no accounts' in done.stderr, f'no device: {done}')


def check_part_of_asked():
    """A profile that was asked for 2 ms has that window; a part of it is not as long."""
    asked = SOURCE / 'testdata/mini/window_asked.mini'
    for name, arguments, wanted in (('whole', (), 2000), ('part', ('--to', '300us'), 200)):
        idsprof(asked, '-f', 'xplane', *arguments, '-o', folder(name))
        window = report(work / name)['metrics']['run.window']['value']
        check(abs(window - wanted / 1e6) < 1e-12, f'{name}: a window of {window}')


UMASK = os.umask(0)
os.umask(UMASK)
SMALL = profile(work / 'small' / 'h.xplane.pb', small())
for test in (check_filters, check_nothing, check_database, check_category, check_outputs, check_raw, check_programs, check_list, check_names_of_formats, check_mistakes, check_disk_full, check_reader_leaves,
             check_interrupted, check_damage, check_two_hosts, check_accounts, check_part_of_asked):
    try:
        test()
    except Exception as e:
        failures.append(f'{test.__name__}: {type(e).__name__}: {e}')
shutil.rmtree(work)
for failure in failures:
    print('FAIL:', str(failure)[:1500])
sys.exit(bool(failures))
