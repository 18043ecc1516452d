#!/usr/bin/env python3
"""`idsprof scale`: recordings on 1, 2, 4 and 8 host devices, and a case derived by hand.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
sys.path[:0] = [str(SOURCE / 'tests' / 'golden'), str(SOURCE / 'tests' / 'support')]
from made_runs import gpu_run  # noqa: E402
from test_mini import rows  # noqa: E402

RECORDED = [SOURCE / 'testdata' / 'scale' / f'dev{n}' for n in (1, 2, 4, 8)]
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def scale(*arguments, status=0):
    done = subprocess.run([IDSPROF, 'scale', *map(str, arguments)], capture_output=True, text=True, timeout=120)
    check(done.returncode == status, f'scale {arguments}: exit {done.returncode}: {done.stderr.strip()[-300:]}')
    return done


def result(*arguments):
    found = json.loads(scale('--json', *arguments).stdout, parse_float=Decimal)
    for row in rows(found, 'configurations'):
        losses = [loss for loss in rows(found, 'losses') if loss['devices'] == row['devices']]
        check(len({loss['account'] for loss in losses}) == len(losses), 'an account is told twice')
        check(all(abs(loss['time'] - loss['ideal'] - loss['lost']) <= Decimal('1e-12') for loss in losses), losses)
        parts = sum(loss['lost'] for loss in losses)
        check(parts + row['remainder'] == row['loss'], f'{row["devices"]} devices: the parts sum to {parts} of {row["loss"]}')
        check(abs(row['remainder']) <= abs(row['loss']) / 100, f'{row["devices"]} devices: the remainder is {row["remainder"]}')
        check(row['step'] - row['ideal'] == row['loss'], 'the loss is not the step less the ideal')
    return found


def lost(found, devices):
    """By account, in us."""
    return {loss['account']: loss['lost'] * 1000000 for loss in rows(found, 'losses') if loss['devices'] == devices}


def check_recorded(folder):
    found = result(*RECORDED)
    points = rows(found, 'configurations')
    check([p['devices'] for p in points] == [1, 2, 4, 8], f'devices: {[p["devices"] for p in points]}')
    check(found['run']['scaling'] == 'strong', 'one batch over all devices is strong scaling')
    check((points[0]['speedup'], points[0]['efficiency'], points[0]['loss']) == (1, 1, 0), f'the first: {points[0]}')
    for point in points[1:]:
        check(abs(float(point['ideal'] * point['devices'] / points[0]['step']) - 1) < 1e-6, 'the ideal of strong scaling')
        check(abs(float(point['efficiency'] * point['devices'] - point['speedup'])) < 1e-6, 'speed-up is efficiency times devices')
    out = folder / 'results.json'
    text = scale(*reversed(RECORDED), '-o', out).stdout
    check(json.loads(out.read_text(), parse_float=Decimal)['tables']['configurations'] == found['tables']['configurations'], '-o')
    paths = {row['path'] for row in rows(found, 'traces')}
    check(len(paths) == 4 and all(Path(p).is_dir() for p in paths), f'the paths of the traces: {paths}')
    check('strong scaling' in text and 'WHERE THE REST WENT' in text and 'comm.wait' in text, 'as text')
    narrow = scale(*RECORDED, '--width', '78').stdout.split('WHERE THE REST WENT')[1]
    check('8 devices' in narrow and 'comm.wait' in narrow and 'too wide' in narrow, f'the largest configuration gave way: {narrow}')
    check('too wide' not in scale(*RECORDED, '--width', '130').stdout, 'nothing is left out of a wide terminal')
    words = {row['account'] for row in rows(json.loads(subprocess.run([IDSPROF, 'report', '--json', RECORDED[3]], capture_output=True).stdout), 'accounts')}
    check(set(lost(found, 8)) >= words, f'scale has other words than the report: {set(lost(found, 8)) ^ words}')
    weak = result(*RECORDED, '--weak')
    check(all(p['ideal'] == points[0]['step'] for p in rows(weak, 'configurations')), '--weak')
    check(weak['run']['scaling_by'] == 'given', '--weak is given')
    named = result(*RECORDED[:2], '--devices', '4,16')
    check([p['devices'] for p in rows(named, 'configurations')] == [4, 16], '--devices')


def check_by_hand(folder):
    """One device: steps of 100 us, 80 of compute and 20 idle; no launch is recorded, so that idle time is device.unknown. Two: 70 us, of
    which 56 compute and 14 idle. Strong: ideal 50, loss 20 = compute 56 - 40 = 16, idle 14 - 10 = 4, and all 16 are of the one op.
    Speed-up 100/70, efficiency 100/140. Weak, the same files: ideal 100, loss -30 = -24 - 6."""
    one, two = gpu_run(folder / '1.mini', [100] * 4), gpu_run(folder / '2.mini', [70] * 4, devices=2)
    found = result(one, two, '--strong')
    point = rows(found, 'configurations')[1]
    us = Decimal('0.000001')
    check(point['loss'] == 20 * us and lost(found, 2) == {'work.compute': 16, 'device.unknown': 4}, f'strong: {point} {lost(found, 2)}')
    compute = next(loss for loss in rows(found, 'losses') if loss['devices'] == 2 and loss['account'] == 'work.compute')
    check((compute['culprit'], compute['culprit_lost']) == ('fusion.1', 16 * us), f'who lost it: {compute}')
    check(abs(float(point['speedup']) - 100 / 70) < 1e-9 and abs(float(point['efficiency']) - 100 / 140) < 1e-9, f'strong: {point}')
    found = result(one, two, '--weak')
    check(rows(found, 'configurations')[1]['loss'] == -30 * us and lost(found, 2) == {'work.compute': -24, 'device.unknown': -6}, f'weak: {lost(found, 2)}')


def made(path, length_us, devices, steps=4, **more):
    """As an xplane.pb, which folders are searched for."""
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        mini = gpu_run(Path(scratch) / 'h.mini', [length_us] * steps, devices=devices, **more)
        done = subprocess.run([IDSPROF, 'extract', mini, '-f', 'xplane', '-o', path], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, done.stderr)
    return path / 'h.xplane.pb'


def check_folder(folder):
    """A folder of runs is divided by what paths say of methods and devices, else by the devices that were recorded."""
    found = result(SOURCE / 'testdata' / 'scale')
    check(found['tables']['configurations']['rows'] == result(*RECORDED)['tables']['configurations']['rows'], 'a folder as its runs')
    archive = folder / 'scale.tar.gz'
    subprocess.run(['tar', '-C', SOURCE / 'testdata', '-czf', archive, 'scale'], check=True)
    check([p['devices'] for p in rows(result(archive), 'configurations')] == [1, 2, 4, 8], 'an archive')
    check([p['devices'] for p in rows(result(SOURCE / 'testdata' / 'scale' / 'dev[124]'), 'configurations')] == [1, 2, 4], 'a pattern')

    runs = folder / 'runs'
    for n in (1, 2, 4):
        made(runs / f'{n}gpu_20260102' / 'lcam_trace', 100 / n ** 0.5, n)
        made(runs / f'{n}gpu_20260103' / 'lcam_trace', 110 / n ** 0.5, n)
        made(runs / f'{n}gpu_20260102' / 'tad_trace', 200 / n, n)
    made(runs / '8gpu_20260102' / 'alone_trace', 100, 8)
    (runs / '1gpu_20260102' / 'bad_trace').mkdir()
    (runs / '1gpu_20260102' / 'bad_trace' / 'x.xplane.pb').write_bytes(b'\xff' * 50)
    done = scale(runs, '--json')
    both = json.loads(done.stdout, parse_float=Decimal)
    by_method = {rows(one, 'configurations')[0]['method']: rows(one, 'configurations') for one in both}
    check(set(by_method) == {'lcam', 'tad'}, by_method)
    for method, step in (('lcam', 105), ('tad', 200)):
        check([p['devices'] for p in by_method[method]] == [1, 2, 4], by_method[method])
        check(abs(by_method[method][0]['step'] * 1000000 - step) < Decimal('0.01'), by_method[method])
    check([p['runs'] for p in by_method['lcam']] == [2, 2, 2], 'recordings of one configuration are one side')
    check("'alone' has runs only on 8 devices" in done.stderr and 'bad_trace' in done.stderr, done.stderr)
    text = scale(runs).stdout
    check(text.startswith('lcam: ') and '\ntad: ' in text, text)
    out = folder / 'methods.json'
    scale(runs, '-o', out)
    check(len(json.loads(out.read_text())) == 2, '-o of two methods')
    lines = scale(runs, '--csv').stdout.splitlines()
    # Three configurations, a row each of work.compute and device.unknown in them, and six and three recordings.
    check(sum(line.endswith(',lcam') for line in lines) == 3 + 6 + 6 and sum(line.endswith(',tad') for line in lines) == 3 + 6 + 3, lines)
    one = result(runs / '*' / 'tad_trace')
    check([p['devices'] for p in rows(one, 'configurations')] == [1, 2, 4], 'one method is no list')

    # What paths say goes above what was recorded (a host of several writes its own devices), where it tells runs apart.
    for n in (2, 4):
        made(folder / 'hosts' / f'{n}_devices', 200 / n, 1)
        made(folder / '8gpu' / f'run{n}', 200 / n, n)
    check([p['devices'] for p in rows(result(folder / 'hosts'), 'configurations')] == [2, 4], 'the path says it')
    check([p['devices'] for p in rows(result(folder / 'hosts' / '2_devices', folder / 'hosts' / '4_devices'), 'configurations')] == [2, 4],
          'of two operands too')
    check([p['devices'] for p in rows(result(folder / '8gpu'), 'configurations')] == [2, 4], 'a folder around all says nothing')
    for n in (2, 4):
        made(folder / 'again' / 'hosts' / f'{n}_devices', 200 / n, 1)
    two = result(folder / 'hosts', folder / 'again' / 'hosts')
    check([p['runs'] for p in rows(two, 'configurations')] == [2, 2], 'folders with several configurations each')


def check_sweep(folder):
    """The folder that `capture --sweep` made."""
    program = folder / 'program.sh'
    program.write_text('set -e; mkdir -p "$IDSPROF_SESSION/plugins/profile/2026_01_02_03_04_05"\n'
                       f'cp "{folder}/$IDSPROF_DEVICES/h.xplane.pb" "$IDSPROF_SESSION/plugins/profile/2026_01_02_03_04_05/"\n')
    for n in (1, 2, 4):
        made(folder / str(n), 100 / n, n)
    # The same program with a label of its own, and one whose name holds a number.
    for name, sweep in (('train', '1,2,4'), ('8gpu-model', '4,1')):
        done = subprocess.run([IDSPROF, 'capture', '-o', folder / name, '-n', name, '--sweep', f'devices={sweep}', '--', 'sh', program],
                              capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, done.stderr)
        root = next((folder / name).iterdir())
        for path in (root, folder / name):
            check([p['devices'] for p in rows(result(path), 'configurations')] == sorted(int(n) for n in sweep.split(',')), path)


def check_errors(folder):
    one, again = gpu_run(folder / '1.mini', [100] * 4), gpu_run(folder / '1b.mini', [100] * 4)
    check('both ran on 1 device' in scale(one, again, status=2).stderr, 'two runs of one device')
    check('holds 1 run, all on 1 device' in scale(one, status=2).stderr, 'one run')
    same = folder / 'same'
    for n in (1, 2):
        made(same / str(n), 100, 2)
    check('holds 2 runs, all on 2 devices' in scale(same, status=2).stderr, 'runs of one number')
    check('--devices names a number for each RUN' in scale(same, '--devices', '1,2', status=2).stderr, '--devices of a folder')
    check('no run has steps' in scale(SOURCE / 'testdata' / 'mini' / 'steps_none.mini', status=2).stderr, 'no steps at all')
    check('RUN... is missing' in scale(status=2).stderr, 'nothing')
    scale(*RECORDED[:2], '--devices', '1', status=2)
    scale(*RECORDED[:2], '--devices', '1,x', status=2)
    scale(*RECORDED[:2], '--strong', '--weak', status=2)
    check('needs steps' in scale(SOURCE / 'testdata' / 'mini' / 'steps_none.mini', RECORDED[1], status=2).stderr, 'a run without steps')
    check('no program in common' in scale(SOURCE / 'testdata' / 'cpu8_annotated', RECORDED[0], status=2).stderr, 'other programs')
    scale(*RECORDED[:2], '-o', folder / 'no' / 'such', status=2)


with tempfile.TemporaryDirectory() as scratch:
    check_recorded(Path(scratch))
    check_by_hand(Path(scratch))
with tempfile.TemporaryDirectory() as scratch:
    check_folder(Path(scratch))
with tempfile.TemporaryDirectory() as scratch:
    check_sweep(Path(scratch))
with tempfile.TemporaryDirectory() as scratch:
    check_errors(Path(scratch))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
