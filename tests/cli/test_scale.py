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
LOST = ['lost_compute', 'lost_collectives', 'lost_skew', 'lost_transfers', 'lost_input', 'lost_host', 'lost_idle']
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
        parts = sum(row[part] for part in LOST)
        check(parts + row['remainder'] == row['loss'], f'{row["devices"]} devices: the parts sum to {parts} of {row["loss"]}')
        check(abs(row['remainder']) <= abs(row['loss']) / 100, f'{row["devices"]} devices: the remainder is {row["remainder"]}')
        check(row['step'] - row['ideal'] == row['loss'], 'the loss is not the step less the ideal')
    return found


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
    check('strong scaling' in text and 'WHERE THE REST WENT' in text and 'skew' in text, 'as text')
    weak = result(*RECORDED, '--weak')
    check(all(p['ideal'] == points[0]['step'] for p in rows(weak, 'configurations')), '--weak')
    check(weak['run']['scaling_by'] == 'given', '--weak is given')
    named = result(*RECORDED[:2], '--devices', '4,16')
    check([p['devices'] for p in rows(named, 'configurations')] == [4, 16], '--devices')


def check_by_hand(folder):
    """One device: steps of 100 us, 80 of compute and 20 idle. Two: 70 us, of which 56 compute and 14 idle. Strong: ideal 50, loss 20 =
    compute 56 - 40 = 16, idle 14 - 10 = 4. Speed-up 100/70, efficiency 100/140. Weak, the same files: ideal 100, loss -30 = -24 - 6."""
    one, two = gpu_run(folder / '1.mini', [100] * 4), gpu_run(folder / '2.mini', [70] * 4, devices=2)
    point = rows(result(one, two, '--strong'), 'configurations')[1]
    us = Decimal('0.000001')
    check((point['loss'], point['lost_compute'], point['lost_idle'] + point['lost_host']) == (20 * us, 16 * us, 4 * us), f'strong: {point}')
    check(abs(float(point['speedup']) - 100 / 70) < 1e-9 and abs(float(point['efficiency']) - 100 / 140) < 1e-9, f'strong: {point}')
    point = rows(result(one, two, '--weak'), 'configurations')[1]
    check((point['loss'], point['lost_compute'], point['lost_idle'] + point['lost_host']) == (-30 * us, -24 * us, -6 * us), f'weak: {point}')


def check_errors(folder):
    one, again = gpu_run(folder / '1.mini', [100] * 4), gpu_run(folder / '1b.mini', [100] * 4)
    check('both ran on 1 device' in scale(one, again, status=2).stderr, 'two runs of one device')
    scale(one, status=2)
    scale(*RECORDED[:2], '--devices', '1', status=2)
    scale(*RECORDED[:2], '--devices', '1,x', status=2)
    scale(*RECORDED[:2], '--strong', '--weak', status=2)
    check('needs steps' in scale(SOURCE / 'testdata' / 'cpu1_plain', RECORDED[1], status=2).stderr, 'a run without steps')
    check('no program in common' in scale(SOURCE / 'testdata' / 'cpu8_annotated', RECORDED[0], status=2).stderr, 'other programs')
    scale(*RECORDED[:2], '-o', folder / 'no' / 'such', status=2)


with tempfile.TemporaryDirectory() as scratch:
    check_recorded(Path(scratch))
    check_by_hand(Path(scratch))
    check_errors(Path(scratch))
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
