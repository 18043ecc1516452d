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
        losses = [loss for loss in rows(found, 'losses') if (loss['devices'], loss['method']) == (row['devices'], row['method'])]
        check(row['success'] is (row['why'] is None) is (row['step'] is not None), f'a cell fails with a reason: {row}')
        if not row['success']:
            check(not losses, f'losses of nothing: {losses}')
            continue
        check(len({loss['account'] for loss in losses}) == len(losses), 'an account is told twice')
        check(all(abs(loss['time'] - loss['ideal'] - loss['lost']) <= Decimal('1e-12') for loss in losses), losses)
        parts = sum(loss['lost'] for loss in losses)
        check(parts + row['remainder'] == row['loss'], f'{row["devices"]} devices: the parts sum to {parts} of {row["loss"]}')
        check(abs(row['remainder']) <= abs(row['loss']) / 100, f'{row["devices"]} devices: the remainder is {row["remainder"]}')
        check(row['step'] - row['ideal'] == row['loss'], 'the loss is not the step less the ideal')
    check_reasons(found)
    return found


def check_reasons(found):
    """What a method spends more in its accounts sums to its step, and is the difference of what the losses say of each."""
    cells = {(row['method'], row['devices']): row for row in rows(found, 'configurations')}
    times = {(row['method'], row['devices'], row['account']): row['time'] for row in rows(found, 'losses')}
    pairs = {(row['method'], row['against'], row['devices']) for row in rows(found, 'reasons')}
    check(pairs == {(row['method'], row['against'], row['devices']) for row in rows(found, 'configurations') if row['against']}, f'pairs: {pairs}')
    for method, against, devices in pairs:
        mine = [row for row in rows(found, 'reasons') if (row['method'], row['devices']) == (method, devices)]
        a, b = cells[against, devices], cells[method, devices]
        check((mine[0]['account'], mine[0]['a'], mine[0]['b']) == ('step', a['step'], b['step']), f'the step of {method}: {mine[0]}')
        check(abs(sum(row['change'] for row in mine[1:]) - mine[0]['change']) <= Decimal('2e-11'), f'{method} on {devices}: reasons do not sum')
        check(abs(float(b['method_speedup'] - a['step'] / b['step'])) < 1e-9, f'the speed-up of {method}: {b}')
        for row in mine[1:]:
            sides = times[against, devices, row['account']], times[method, devices, row['account']]
            check((row['a'], row['b']) == sides, f"{method}, {row['account']}: {row['a']}, {row['b']} are not {sides}")


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

    check_methods(folder)
    check_names(folder)


def check_methods(folder):
    """Two methods as people keep them: repeats are one cell, and what is broken or missing stays in the table."""
    runs = folder / 'runs'
    for n in (1, 2, 4):
        made(runs / f'{n}gpu_20260102' / 'lcam_trace', 100 / n ** 0.5, n, name='lcam.1')
        made(runs / f'{n}gpu_20260103' / 'lcam_trace', 110 / n ** 0.5, n, name='lcam.1')
        made(runs / f'{n}gpu_20260102' / 'tad_trace', 200 / n, n, name='tad.1')
    made(runs / '8gpu_20260102' / 'alone_trace', 100, 8)
    (runs / '1gpu_20260102' / 'bad_trace').mkdir()
    (runs / '1gpu_20260102' / 'bad_trace' / 'x.xplane.pb').write_bytes(b'\xff' * 50)
    (runs / '8gpu_20260102' / 'tad_trace').mkdir()
    (runs / 'notes').mkdir()
    (runs / '2gpu_20260103' / 'tad_trace').mkdir()
    (runs / '2gpu_20260103' / 'tad_trace' / 'x.xplane.pb').write_bytes(b'\xff' * 50)
    both = result(runs)
    cells = {(row['method'], row['devices']): row for row in rows(both, 'configurations')}
    check(sorted(cells) == [(m, n) for m in ('alone', 'bad', 'lcam', 'tad') for n in (1, 2, 4, 8)], sorted(cells))
    for n in (1, 2, 4):
        check(abs(cells['lcam', n]['step'] * 1000000 - 105 / Decimal(n).sqrt()) < Decimal('0.01') and cells['lcam', n]['runs'] == 2, cells['lcam', n])
        check(abs(cells['tad', n]['step'] * 1000000 - Decimal(200) / n) < Decimal('0.01') and cells['tad', n]['runs'] == 1, cells['tad', n])
        check(cells['tad', n]['against'] == 'lcam' and abs(float(cells['tad', n]['method_speedup']) - 105 / n ** 0.5 * n / 200) < 1e-4, cells['tad', n])
        check(cells['tad', n]['low'] <= cells['tad', n]['step'] <= cells['tad', n]['high'], cells['tad', n])
        # 80 % of a step is compute, 20 % has no launch: 105 and 200 us make 76 and 19.
        less = {row['account']: row['change'] for row in rows(both, 'reasons') if (row['method'], row['devices']) == ('tad', n)}
        check(set(less) == {'step', 'work.compute', 'device.unknown'} and abs(float(less['work.compute'] / less['step']) - 0.8) < 0.01, less)
    check([cells['alone', n]['why'] for n in (1, 8)] == ['no recording', None], cells['alone', 1])
    check('x.xplane.pb' in str([row['path'] for row in rows(both, 'traces') if not row['success']]) or cells['bad', 1]['path'].endswith('bad_trace'), cells['bad', 1])
    check(cells['bad', 1]['success'] is False and cells['bad', 1]['why'] and cells['bad', 2]['why'] == 'no recording', cells['bad', 1])
    check(cells['tad', 8]['why'] == 'no profile in this folder' and cells['tad', 8]['path'].endswith('8gpu_20260102/tad_trace'), cells['tad', 8])
    failed = sorted(row['path'] for row in rows(both, 'traces') if not row['success'])
    check([row['devices'] for row in rows(both, 'traces') if not row['success']] == [1, 2, 8], f'repeats that failed: {failed}')
    check(not any('notes' in path for path in failed), 'a folder that no run belongs in')
    families = {(row['method'], row['devices']): row['time'] for row in rows(both, 'families')}
    check(abs(families['tad', 1] * 1000000 - 160) < Decimal('0.01') and ('bad', 1) not in families, families)

    text = scale(runs).stdout
    check(all(word in text for word in ('4 methods on 1, 2, 4, 8 devices', 'unreadable', 'no profile', 'missing', 'WHY METHODS DIFFER',
                                        'tad on 1 device: +95.00 us a step against lcam, 1.90 times as long')), text)
    check('tad on 4 devices: -2.500 us' in text and '76.00 us more work.compute' in text, text)
    two = result(runs, '--methods', 'tad,lcam')
    check([row['method'] for row in rows(two, 'configurations')] == 4 * ['tad'] + 4 * ['lcam'], '--methods')
    check({row['against'] for row in rows(two, 'reasons')} == {'tad'}, 'the first of --methods is the reference')
    check("no method 'tod' (alone, bad, lcam, tad)" in scale(runs, '--methods', 'tod', status=2).stderr, 'another method')
    check('WHERE THE REST WENT' in scale(runs, '--methods', 'tad').stdout and 'WHERE' not in text, 'the losses of one method')
    out = folder / 'methods.json'
    scale(runs, '-o', out)
    check(json.loads(out.read_text(), parse_float=Decimal)['tables'] == both['tables'], '-o')
    lines = scale(runs, '--csv').stdout.splitlines()
    check(sum(line.startswith('tad,') for line in lines) > 10 and any(',false,' in line for line in lines), lines)
    one = result(runs / '*' / 'tad_trace')
    check([(p['devices'], p['success']) for p in rows(one, 'configurations')] == [(1, True), (2, True), (4, True), (8, False)], 'a pattern, a part of it empty')
    check_labels(folder, runs)
    check_one_number(runs)


def check_labels(folder, runs):
    """Labels go above names."""
    two = result(f'B={runs}/*/tad_trace', f'A={runs}/*_20260102/lcam_trace')
    check([(p['method'], p['devices']) for p in rows(two, 'configurations')] == [(m, n) for m in 'BA' for n in (1, 2, 4, 8)], 'labels, in their order')
    two = result(f'x:4={runs}/1gpu_20260102/lcam_trace', f'x:16={runs}/2gpu_20260102/lcam_trace', f'y:4={runs}/1gpu_20260102/tad_trace',
                 f'y:16={folder}/nothing')
    cells = {(row['method'], row['devices']): row for row in rows(two, 'configurations')}
    check(sorted(cells) == [('x', 4), ('x', 16), ('y', 4), ('y', 16)] and cells['y', 4]['against'] == 'x', cells)
    check(not cells['y', 16]['success'] and 'nothing' in cells['y', 16]['path'], cells['y', 16])
    said = [row['text'] for row in rows(two, 'findings') if row['id'] == 'names']
    check(len(said) == 3 and 'its trace holds 1: it counts as 4' in said[0], said)
    more = result(runs / '1gpu_20260102', f'tad:1={runs}/2gpu_20260102/tad_trace', f'zoo={folder}/nothing', '--methods', 'lcam,tad')
    check([(p['method'], p['devices'], p['runs']) for p in rows(more, 'configurations')] == [('lcam', 1, 1), ('tad', 1, 2)],
          'a label adds to a folder, whose names stay')
    named = folder / 'lr=0.1'
    for n in (1, 2):
        made(named / f'{n}gpu', 100 / n, n)
    check([p['devices'] for p in rows(result(named / '1gpu', named / '2gpu'), 'configurations')] == [1, 2], 'a path with = in it')
    check([p['devices'] for p in rows(result(f'1={named}/1gpu', f'8={named}/2gpu'), 'configurations')] == [1, 8], 'a number is a label too')


def check_one_number(runs):
    """The report, the diff and the table say one number of one thing."""
    found = result(runs)
    for row in rows(found, 'configurations'):
        if not row['success'] or row['runs'] != 1:
            continue
        report = json.loads(subprocess.run([IDSPROF, 'report', '--json', row['path']], capture_output=True).stdout, parse_float=Decimal)
        check(report['metrics']['steps.mean']['value'] == row['step'], f"{row['method']} on {row['devices']}: the step")
        check(len([d for d in rows(report, 'devices') if d['busy'] is not None]) == row['devices'], 'the devices')
        for loss in rows(found, 'losses'):
            if (loss['method'], loss['devices']) == (row['method'], row['devices']):
                check(report['metrics']['steps.' + loss['account']]['value'] == loss['time'], f"{loss['account']} of {row['method']}")
        exposed = sum(report['metrics'][f'steps.comm.{part}']['value'] for part in ('transfer', 'wait'))
        check(exposed == row['exposed'], f"exposed: {exposed} {row['exposed']}")
    two = result(runs / '1gpu_20260102', '--methods', 'lcam,tad')
    difference = json.loads(subprocess.run([IDSPROF, 'diff', '--json', '--force', runs / '1gpu_20260102/lcam_trace', runs / '1gpu_20260102/tad_trace'],
                                           capture_output=True).stdout, parse_float=Decimal)
    parts = {row['part']: (row['a'], row['b']) for row in rows(difference, 'parts') if row['a'] != row['b']}
    reasons = {row['account']: (row['a'], row['b']) for row in rows(two, 'reasons') if row['account'] != 'step'}
    check(parts == reasons, f'diff says {parts}, scale {reasons}')


LAYOUTS = {
    'counts above methods': ('{n}gpu_20260102/{m}_trace', {}),
    'together': ('{m}_{n}gpu', {}),
    'together, the other way': ('{n}_gpus-{m}', {}),
    'the word first': ('{m}/gpus={n}', {}),
    'n4': ('{m}/n{n}/plugins/profile/2026_01_02_03_04_05', {}),
    'numbers alone': ('results/{n}/{m}', {}),
    'numbers below': ('{m}/{n}/plugins/profile/2026_01_02_03_04_05', {}),
    'a number in the name': ('{m}_x{n}_final', {'lcam': 'lcam_final', 'tad': 'tad_final'}),
    'models and machines': ('a100/{m}-int8-v2/{n}gpu/20260102_1530', {'lcam': 'lcam_int8_v2', 'tad': 'tad_int8_v2'}),
    'repeats': ('{m}/{n}gpu/run_1', {}),
    'seeds and dates': ('2026-01-02_15-30/{m}_dev{n}_seed7', {}),
    'captures of a sweep': ('{m}_20260102_030405/{n}/plugins/profile/2026_01_02_03_04_05', {}),
    'no gap': ('{m}{n}GPU', {}),
    'the model of the device': ('{n}xA100-{m}', {'lcam': 'A100_lcam', 'tad': 'A100_tad'}),
    'the model first': ('{m}_H100x{n}', {'lcam': 'lcam_H100', 'tad': 'tad_H100'}),
    'a mesh': ('{m}_mesh_{n}x1', {'lcam': 'lcam_mesh', 'tad': 'tad_mesh'}),
    'the world': ('{m}_world_size_{n}', {}),
    'letters that differ': ('{m[0]}{n}', {'lcam': 'l', 'tad': 't'}),
    'a method with a number': ('{n}chips/{m}2', {'lcam': 'lcam2', 'tad': 'tad2'}),
}


def check_names(folder):
    """Layouts as people have them."""
    made_of = {n: made(folder / 'made' / str(n), 100 / n, n).read_bytes() for n in (1, 2, 4, 8)}
    for number, (title, (pattern, methods)) in enumerate(LAYOUTS.items()):
        top = folder / f'layout{number}'
        for method in ('lcam', 'tad'):
            for n in (1, 2, 4, 8):
                path = top / pattern.format(m=method, n=n)
                path.mkdir(parents=True)
                (path / 'vm.xplane.pb').write_bytes(made_of[n])
        cells = [(row['method'], row['devices'], row['success']) for row in rows(result(top), 'configurations')]
        check(cells == [(methods.get(m, m), n, True) for m in ('lcam', 'tad') for n in (1, 2, 4, 8)], f'{title}: {cells}')
        parts = [top / pattern.format(m=m, n=n) for m in ('lcam', 'tad') for n in (1, 2, 4, 8)]
        again = [(row['method'], row['devices'], row['success']) for row in rows(result(*parts), 'configurations')]
        check(again == cells, f'{title}, one by one: {again}')
    check_contradictions(folder, made_of)


def check_contradictions(folder, made_of):
    """The trace decides, and that the name says otherwise is said; but not of a trace of one of several processes."""
    top = folder / 'mixed'
    for name, n in (('lcam_1gpu', 1), ('lcam_2gpu', 2), ('lcam_8gpu', 4), ('tad_1gpu', 1), ('tad_4gpu', 4)):
        (top / name).mkdir(parents=True)
        (top / name / 'vm.xplane.pb').write_bytes(made_of[n])
    found = result(top)
    cells = {(row['method'], row['devices']) for row in rows(found, 'configurations') if row['success']}
    check(cells == {('lcam', 1), ('lcam', 2), ('lcam', 4), ('tad', 1), ('tad', 4)}, cells)
    said = [row['text'] for row in rows(found, 'findings') if row['id'] == 'names']
    check(len(said) == 1 and 'lcam_8gpu' in said[0] and 'named after 8 devices, and its trace holds 4: it counts as 4' in said[0], said)
    check('lcam_8gpu' in scale(top).stdout.split('step')[0], 'it stands above the table')
    for n in (2, 4):
        made(folder / 'hosts' / f'{n}_devices', 200 / n, 1, kernel='ncclDevKernel_AllReduce_Sum_f32_RING_LL')
        made(folder / 'alone' / f'{n}_devices', 200 / n, 1)
        made(folder / '8gpu' / f'run{n}', 200 / n, n)
    check([p['devices'] for p in rows(result(folder / 'hosts'), 'configurations')] == [2, 4], 'a collective on one device: a part of the run')
    check([p['devices'] for p in rows(result(folder / 'hosts' / '2_devices', folder / 'hosts' / '4_devices'), 'configurations')] == [2, 4],
          'of two operands too')
    check('all on 1 device' in scale(folder / 'alone', status=2).stderr, 'both ran on 1 device, whatever they are called')
    check([p['devices'] for p in rows(result(folder / '8gpu'), 'configurations')] == [2, 4], 'a folder around all says nothing')
    for n in (2, 4):
        made(folder / 'again' / 'hosts' / f'{n}_devices', 200 / n, 1, kernel='ncclDevKernel_AllReduce_Sum_f32_RING_LL')
    two = result(folder / 'hosts', folder / 'again' / 'hosts')
    check([p['runs'] for p in rows(two, 'configurations')] == [2, 2], 'folders with several configurations each')
    for n, name in ((1, 'a'), (2, 'a'), (2, 'b')):
        made(folder / 'together' / f'{n}gpu' / f'run_{name}' / 'trace_1' , 100 / n, n, module='jit_' + name)
    found = result(f"m={folder / 'together'}")
    check([row['severity'] for row in rows(found, 'findings') if row['id'] == 'programs.mixed'] == ['warning'], rows(found, 'findings'))
    cut = folder / 'cut'
    for n in (1, 2, 4):
        (cut / f'{n}gpu').mkdir(parents=True)
        (cut / f'{n}gpu' / 'vm.xplane.pb').write_bytes(made_of[n][:len(made_of[n]) // (2 if n == 4 else 1)])
    found = result(cut)
    check([(row['devices'], row['success']) for row in rows(found, 'configurations')] == [(1, True), (2, True), (4, True)], 'a trace that was cut')
    check({'names', 'truncated'} <= {row['id'] for row in rows(found, 'findings')}, rows(found, 'findings'))
    (cut / '4gpu' / 'vm.xplane.pb').write_bytes(made_of[4][:60])
    lost = rows(result(cut), 'configurations')[2]
    check(not lost['success'] and 'cut' in lost['why'], lost)
    # Other devices, another program: a remark between methods, and a refusal where nothing says that there are two.
    for n in (1, 2):
        made(folder / 'hardware' / 'a' / f'{n}gpu', 100 / n, n, model='A100')
        made(folder / 'hardware' / 'h' / f'{n}gpu', 50 / n, n, model='H100', name='other.1')
    found = result(folder / 'hardware')
    check([(row['severity'], row['id']) for row in rows(found, 'findings') if row['id'] == 'devices.model'] == [('warning', 'devices.model')],
          rows(found, 'findings'))
    check([row['method_speedup'] for row in rows(found, 'configurations') if row['method'] == 'h'] == [2, 2], 'two kinds of hardware')


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
    one = gpu_run(folder / '1.mini', [100] * 4)
    check('1 run, all on 1 device and of one method' in scale(one, status=2).stderr, 'one run')
    same = folder / 'same'
    for n in (1, 2):
        made(same / str(n), 100, 2)
    check('2 runs, all on 2 devices and of one method' in scale(same, status=2).stderr, 'runs of one number')
    check('--devices names a number for each RUN' in scale(same, '--devices', '1,2', status=2).stderr, '--devices of a folder')
    check('StepTraceAnnotation' in scale(SOURCE / 'testdata' / 'mini' / 'steps_none.mini', status=2).stderr, 'no steps at all')
    check('RUN... is missing' in scale(status=2).stderr, 'nothing')
    scale(*RECORDED[:2], '--devices', '1', status=2)
    scale(*RECORDED[:2], '--devices', '1,x', status=2)
    scale(*RECORDED[:2], '--strong', '--weak', status=2)
    check('no steps' in scale(SOURCE / 'testdata' / 'mini' / 'steps_none.mini', RECORDED[1], status=2).stderr, 'a run without steps')
    for n, name in ((1, 'red'), (2, 'blue')):
        made(folder / name, 100 / n, n, module='jit_' + name)
    check('no program in common' in scale(folder / 'red', folder / 'blue', status=2).stderr, 'other programs')
    check('are of one method' in scale(SOURCE / 'testdata' / 'cpu8_annotated', RECORDED[0], status=2).stderr, 'neither a row nor a column')
    check('nothing/such' in scale(folder / 'nothing' / 'such', status=2).stderr, 'no such path')
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
