#!/usr/bin/env python3
"""`idsprof diff`: recordings whose difference is known, words and exit codes, several sides, trends, and what is refused.

Environment: IDSPROF, IDS_SOURCE_DIR; IDS_SHARED (real traces; without them that part is left out).
"""
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SHARED = Path(os.environ.get('IDS_SHARED', SOURCE.parent / 'shared')) / 'traces'
sys.path[:0] = [str(SOURCE / 'tests' / 'golden'), str(SOURCE / 'tests' / 'support')]
from made_runs import gpu_run, noisy  # noqa: E402
from test_mini import rows  # noqa: E402
from test_mini_diff import invariants  # noqa: E402

COMPARE = SOURCE / 'testdata' / 'compare'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def diff(*arguments, status=0):
    done = subprocess.run([IDSPROF, 'diff', *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=SOURCE)
    check(done.returncode == status, f'diff {arguments}: exit {done.returncode}, not {status}: {done.stderr.strip()[-300:]}')
    return done


def result(*arguments, status=0):
    done = diff('--json', *arguments, status=status)
    try:
        found = json.loads(done.stdout, parse_float=Decimal)
    except ValueError as error:
        failures.append(f'diff {arguments}: no JSON: {error}')
        return {'run': {}, 'tables': {}}
    for problem in invariants(found):
        failures.append(f'diff {arguments}: {problem}')
    return found


def row(found, table, key, value):
    return next((r for r in rows(found, table) if r[key] == value), {})


def changes(found):
    return [r['text'] for r in rows(found, 'changes')]


def check_recordings():
    """What testdata/compare/record.py did is what diff names."""
    same = result(COMPARE / 'base', COMPARE / 'base')
    check(same['run']['verdict'] == 'same' and not changes(same), f'base against itself: {same["run"]} {changes(same)}')
    check('no difference' in diff(COMPARE / 'base', COMPARE / 'base').stdout, 'base against itself does not say so')

    again = result(COMPARE / 'base', COMPARE / 'again')
    check({r['id'] for r in rows(again, 'changes')} <= {'op', 'steps.host.runtime', 'steps.host.input'}, f'the same program recorded again: {changes(again)}')
    check(all(r['by'] == 'fingerprint' for r in rows(again, 'ops')), 'recorded again: an op is not matched by what it computes')

    found = result(COMPARE / 'base', COMPARE / 'recompile')
    first = rows(found, 'changes')[0]
    check(first['id'] == 'compile.in_steps' and '0 → 3 (score)' in first['text'], f'recompile: {changes(found)}')
    cause = rows(found, 'waterfall')[0]
    check((cause['account'], cause['culprit'], cause['kind']) == ('host.compile', 'score', 'culprit'), f'recompile: {cause}')
    check(Decimal('0.9') < cause['share'] and Decimal('0.95') < found['run']['explained_share'] <= 1, f'recompile: {cause}')
    check(float(first['change']) > 0.5 * float(found['run']['change']), f'recompile: {first} of {found["run"]["change"]}')
    check(row(found, 'findings', 'id', 'programs.partly').get('severity') == 'warning', 'recompile: score is in one run only')

    found = result(COMPARE / 'base', COMPARE / 'transfer')
    check(changes(found)[:1] and changes(found)[0].startswith('transfers to the device: 2 → 3 calls a step'), f'transfer: {changes(found)}')

    cause = rows(found, 'waterfall')[0]
    check((cause['account'], cause['culprit']) == ('host.staging', 'shard_args') and cause['low'] > 0, f'transfer: {cause}')

    found = result(COMPARE / 'base', COMPARE / 'doubled')
    cause = rows(found, 'waterfall')[0]
    check((cause['kind'], cause['cause']) == ('scope', 'layer2: 4 ops added') and cause['low'] > 0, f'doubled: {cause}')
    check(any(text.startswith('layer2 is new') for text in changes(found)[:2]), f'doubled: {changes(found)}')
    added = {r['op_name'] for r in rows(found, 'ops') if r['class'] == 'added'}
    check(sum('layer2' in name for name in added if name) >= 3, f'doubled: added {added}')
    check(sum(r['by'] == 'fingerprint' for r in rows(found, 'ops')) == 14, 'doubled: the ops of the other layers are matched')
    back = result(COMPARE / 'doubled', COMPARE / 'base')
    check(any('layer2 is gone' in text for text in changes(back)[:2]), f'doubled, backwards: {changes(back)}')
    cause = rows(back, 'waterfall')[0]
    check(cause['cause'] == 'layer2: 4 ops removed' and cause['change'] == -rows(found, 'waterfall')[0]['change'], f'backwards: {cause}')
    check(Decimal(back['run']['change']) == -Decimal(found['run']['change']), 'backwards is not the opposite')


def check_findings():
    """What makes two recordings unlike though the program is the same."""
    found = result(SOURCE / 'testdata' / 'cpu1_compile', SOURCE / 'testdata' / 'cpu1_compile_py')
    python = row(found, 'findings', 'id', 'tracer.python')
    check(python.get('severity') == 'warning' and 'python_tracer_level 0' in python['text'], f'the Python tracer: {python}')
    found = result(SOURCE / 'testdata' / 'cpu1_compile', SOURCE / 'testdata' / 'cpu1_compile_py', '--after', '1', '--force')
    host = [cause for cause in rows(found, 'waterfall') if (cause['account'] or '').startswith('host.') and cause['account'] != 'host.compile']
    check(host and {(cause['kind'], cause['verdict'], cause['rank']) for cause in host} == {('host', 'unsure', 0)}, f'the Python tracer on one side: {host}')
    check(rows(found, 'waterfall')[0]['kind'] != 'host', 'what the recording may have made comes first')
    found = result(SOURCE / 'testdata' / 'cpu1_nohlo', SOURCE / 'testdata' / 'cpu1_pair')
    check(row(found, 'findings', 'id', 'programs.hlo').get('severity') == 'warning', 'HLO on one side only')
    check({r['by'] for r in rows(found, 'ops')} == {'name'}, 'HLO on one side only: ops are matched by name')
    check(row(found, 'scopes', 'name', 'layer0')['matched'] == 4, f'HLO on one side only: {rows(found, "scopes")}')
    pair = next((SOURCE / 'testdata' / 'cpu1_pair').rglob('*.xplane.pb'))
    found = result(pair, pair.with_name('host.trace.json.gz'))
    check(row(found, 'findings', 'id', 'format').get('severity') == 'warning', 'xplane.pb against trace.json')
    check('; trace.json lacks programs' in row(found, 'findings', 'id', 'format')['text'], f'what trace.json lacks: {found["tables"]}')
    forced = json.loads(diff('--json', '--force', SOURCE / 'testdata/mini/idle_sync.mini', pair).stdout)
    check('lacks' not in row(forced, 'findings', 'id', 'format')['text'], 'neither of the two formats is trace.json')
    check(found['run']['verdict'] == 'same' and found['run']['a'] == 'host.xplane.pb', f'the same run in both forms: {found["run"]}')


def other_ops(path, fingerprint):
    """The run, but its op computes something else."""
    path.write_text(path.read_text().replace('fingerprint=7 shape=f32[8]', f'fingerprint={fingerprint} shape=s32[2,{fingerprint}]'))
    return path


def add_small_program(path, fingerprint):
    text = path.read_text().splitlines()
    text.insert(3, f'hlo module=jit_small name=small opcode=copy fingerprint={fingerprint} shape=f32[8]')
    at = next(i for i, line in enumerate(text) if line.startswith('line 2'))
    text.insert(at, '700us 100ns k hlo_op=small hlo_module=jit_small')
    path.write_text('\n'.join(text) + '\n')


def check_unlike(folder):
    """Programs that have nothing to do with each other, one recording twice, and other marks of steps."""
    captured, plain = SOURCE / 'testdata' / 'cpu1_captured', SOURCE / 'testdata' / 'cpu1_plain'
    found = result(captured, plain)
    marks = row(found, 'findings', 'id', 'steps.source')
    check(marks.get('severity') == 'note' and 'by annotation train in' in marks['text'] and 'by period in' in marks['text'], f'annotated against counted: {marks}')
    check(not row(result(COMPARE / 'base', COMPARE / 'again'), 'findings', 'id', 'steps.source'), 'the same marks on both sides')
    same = row(result(captured, captured), 'findings', 'id', 'runs.same')
    check(same.get('severity') == 'warning' and str(captured) in same['text'], f'one folder twice: {same}')
    check(not row(result(COMPARE / 'base', COMPARE / 'again'), 'findings', 'id', 'runs.same'), 'two folders')
    for number, (name, module) in enumerate((('train.mini', 'jit_train'), ('serve.mini', 'jit_serve'))):
        add_small_program(other_ops(gpu_run(folder / name, [100] * 6, module=module, name=module), 20 + number), 9)
    few = row(result(folder / 'train.mini', folder / 'serve.mini', status=2), 'findings', 'id', 'programs.few')
    check(few.get('severity') == 'unlike' and 'jit_serve' in few['text'], f'only a small program in common: {few}')
    # The large ones are one function under two names, and the second has one op more.
    serve = folder / 'serve.mini'
    serve.write_text(serve.read_text().replace('fingerprint=21 shape=s32[2,21]', 'fingerprint=20 shape=s32[2,20]').replace('name=jit_serve', 'name=jit_train')
                     .replace('hlo_op=jit_serve', 'hlo_op=jit_train').replace('hlo module=jit_small', 'hlo module=jit_serve name=more opcode=add fingerprint=33 shape=f32[8]\nhlo module=jit_small')
                     .replace('700us 100ns', '650us 100ns k hlo_op=more hlo_module=jit_serve\n700us 100ns'))
    named = result(folder / 'train.mini', serve)
    check(not row(named, 'findings', 'id', 'programs.few'), f'the same ops by another name: {rows(named, "findings")}')
    one = gpu_run(folder / 'one_name.mini', [100] * 6)
    found = result(one, other_ops(gpu_run(folder / 'other_ops.mini', [100] * 6, name='convolution.4'), 20), status=2)
    check(row(found, 'findings', 'id', 'ops.none').get('severity') == 'unlike' and found['run']['comparable'] == 0, 'one name, and no op in common')
    for i, fingerprint in enumerate((20, 21, 20, 22)):
        add_small_program(other_ops(gpu_run(folder / f'mixed_{i}.mini', [100] * 6), fingerprint), 9 + i)
    mixed = row(result(folder / 'mixed_0.mini', folder / 'mixed_?.mini'), 'findings', 'id', 'programs.mixed')
    check(mixed.get('severity') == 'warning' and 'has other ops in several, such as mixed_1.mini than in mixed_0.mini' in mixed['text'], f'a pattern took too much: {mixed}')
    (folder / 'mixed_3.mini').unlink()
    found = result(folder / 'mixed_?.mini', folder / 'mixed_0.mini')
    check('has other ops in mixed_1.mini than in' in row(found, 'findings', 'id', 'programs.mixed').get('text', ''), 'one of the first side')
    (folder / 'mixed_1.mini').unlink()
    found = result(folder / 'mixed_?.mini', folder / 'mixed_0.mini')
    check(not row(found, 'findings', 'id', 'programs.mixed'), 'runs that differ in a program of a moment')
    gpu_run(folder / 'model.mini', [100] * 6, model='H100')
    gpu_run(folder / 'other.mini', [100] * 6, model='A100')
    known = [r['id'] for r in rows(result(folder / 'model.mini', gpu_run(folder / 'unknown.mini', [100] * 6)), 'findings')]
    check('devices.model' not in known, f'an unknown model is not another one: {known}')
    check(row(result(folder / 'model.mini', folder / 'other.mini', status=2), 'findings', 'id', 'devices.model'), 'another model')


def kineto_run(path, model, prefix, factor, ops=('mm', 'add', 'mul', 'relu', 'softmax', 'norm')):
    """Ten steps of a PyTorch program, each op with a kernel of that vendor's."""
    events, number, start = [], 0, 0
    for step in range(10):
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 9, 'tid': 9, 'ts': start, 'dur': 1000, 'args': {}})
        at = start + 100
        for i, op in enumerate(ops):
            number += 1
            long = (100 + 10 * i + step % 3) * factor
            call, both = {'pid': 9, 'tid': 9}, {'correlation': number, 'External id': number}
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': f'aten::{op}', **call, 'ts': start + 10 * i, 'dur': 8, 'args': {'External id': number}})
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', **call, 'ts': start + 10 * i + 2, 'dur': 3, 'args': both})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': f'{prefix}_{op}', 'pid': 0, 'tid': 7, 'ts': at, 'dur': long, 'args': {'device': 0, 'stream': 7, **both}})
            at += long
        start += 1000
    properties = [{'id': 0, 'name': model, 'totalGlobalMem': 1 << 36, 'computeMajor': 9, 'computeMinor': 0, 'numSms': 100}]
    path.write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': properties, 'traceEvents': events}))
    return path


def check_other_devices(folder):
    """The same program on another vendor's device: its kernels have other names, its ops do not."""
    a = kineto_run(folder / 'a.json', 'NVIDIA H100', 'ampere', 1)
    b = kineto_run(folder / 'b.json', 'AMD Instinct MI300X', 'Cijk', 0.6)
    found = result(a, b, status=2)
    ids = [r['id'] for r in rows(found, 'findings')]
    check('devices.model' in ids and 'kernels.none' not in ids and 'ops.none' not in ids, f'the device alone differs: {ids}')
    check(found['run']['other_devices'] == 'other GPU: NVIDIA H100 → AMD Instinct MI300X', found['run'].get('other_devices'))
    shown = diff('--force', '--width', '300', a, b).stdout
    check('other GPU: NVIDIA H100 → AMD Instinct MI300X' in shown.splitlines()[0], f'the first line: {shown.splitlines()[0]}')
    check('all 6 ops that both sides have take' in shown and 'another device' in shown and 'power limit' not in shown, f'no clock is blamed: {shown}')
    c = kineto_run(folder / 'c.json', 'AMD Instinct MI300X', 'Cijk', 0.6, ('conv', 'pool', 'bmm', 'gelu', 'cat', 'tanh'))
    ids = [r['id'] for r in rows(result(a, c, status=2), 'findings')]
    check('ops.none' in ids, f'another program on another device: {ids}')
    d = kineto_run(folder / 'd.json', 'NVIDIA H100', 'ampere', 1.1)
    shown = diff('--width', '300', a, d).stdout
    check('power limit' in shown and 'other GPU' not in shown, f'the same device: {shown}')


def check_forms():
    pair = [COMPARE.relative_to(SOURCE) / name for name in ('base', 'doubled')] # a line has room for them wherever the tree is
    first = diff('--json', *pair).stdout
    check(first == diff('--json', *pair).stdout == diff('--json', '--no-cache', *pair).stdout, 'the cache changes a comparison')
    tables = diff('--csv', *pair).stdout.split('\n\n')
    heads = [next(csv.reader(io.StringIO(t.strip()))) for t in tables if t.strip()]
    check(['severity', 'id', 'text'] in heads and any('class' in head for head in heads), f'CSV: {heads}')
    text = diff(*pair, '--top', 3, '--width', 90).stdout
    check(max(len(line) for line in text.splitlines() if '→' not in line and ': ' not in line) <= 90, 'a line is wider than asked')
    for width, column, bars in ('60', 'cause', False), ('78', 'cause', True), ('130', 'from step to step', True):
        went = diff(*pair, '--width', width).stdout.split('WHERE THE CHANGE COMES FROM')[1].split('WHAT CHANGED')[0]
        told = all(word in went for word in ('work.compute', 'host.dispatch', 'before', 'after'))
        check(told and ('█' in went) == bars, f'--width {width}: the accounts gave way: {went}')
        check(column is None or column in went, f'--width {width}: no column {column}: {went}')
    check('idsprof report' in text, 'no next command')
    by_name = [r['name'] for r in rows(result(*pair, '--sort', 'name'), 'ops')]
    check(by_name == sorted(by_name), '--sort name')
    check(len(rows(json.loads(diff('--json', *pair, '--top', 2).stdout), 'ops')) == 2, '--top 2')


def check_marks(pairs):
    """Against several sides the causes have the order and the marks that they have against one. And causes that are sure cancel only where there are such."""
    a, b = (pairs / 'chance_behind' / name for name in ('a.mini', 'b.mini'))
    order = [cause['culprit'] for cause in rows(result(a, b), 'waterfall') if cause['culprit']]
    said = re.findall(r'^  (~?)[+-]\S+ us: work.compute: (\w+)', diff(a, b, b).stdout, re.M)
    check([name for _, name in said] == order * 2 and [mark for mark, _ in said] == ['', '~'] * 2, f'several: said {said} for {order}')
    check('slower:' not in diff(a, b, b).stdout, 'several: an op is said beside its cause')
    text = diff(*(pairs / 'first_step_is_long' / name for name in ('a.mini', 'b.mini'))).stdout
    check('its causes may be chance' in text and 'nearly cancel' not in text, f'no cause is sure: {text}')
    text = diff(*(pairs / 'sampled_many' / name for name in ('a.mini', 'b.mini'))).stdout
    check('causes that are sure nearly cancel' in text, f'two causes are sure: {text}')


def check_words(folder):
    """Three runs a side, one a side, a stated noise; the exit code says whether it is a regression."""
    for i in range(3):
        gpu_run(folder / f'before_{i}.mini', noisy(i, 30, 100))
        gpu_run(folder / f'slower_{i}.mini', noisy(10 + i, 30, 110))
        gpu_run(folder / f'alike_{i}.mini', noisy(20 + i, 30, 100))
    before, slower, alike = (str(folder / f'{name}_?.mini') for name in ('before', 'slower', 'alike'))
    found = result(before, slower, status=1)
    step = row(found, 'headline', 'id', 'steps.mean')
    check((step['verdict'], step['better'], found['run']['spread_over']) == ('regression', 'worse', 'runs'), f'slower: {step}')
    check(0 < step['low'] < step['difference'] < step['high'], f'slower: {step}')
    text = diff(before, slower, status=1).stdout
    check('REGRESSION' in text, 'the text does not say REGRESSION')
    cause = rows(found, 'waterfall')[0]
    check(cause['kind'] == 'op' and 0 < cause['low'] <= cause['change'] <= cause['high'], f'slower: {cause}')
    check('from run to run' in text and '% of the change is explained' in text, f'slower: {text}')
    text = diff(before, alike).stdout
    check('its causes may be chance' in text or 'WHERE THE CHANGE' not in text, f'alike: {text}')
    check(row(result(slower, before), 'headline', 'id', 'steps.mean')['verdict'] == 'improvement', 'faster is no improvement')
    check(row(result(before, alike), 'headline', 'id', 'steps.mean')['verdict'] in ('same', 'unsure'), 'alike is called')
    one = (folder / 'before_0.mini', folder / 'slower_0.mini')
    found = result(*one)
    step = row(found, 'headline', 'id', 'steps.mean')
    check(step['verdict'] == 'differs' and found['run']['spread_over'] == 'steps', f'one a side: {step}')
    check('in these recordings' in diff(*one).stdout, 'one a side: the text')
    hedge = 'slower and faster in these recordings: the next ones may differ as much'
    check(hedge in diff(*one).stdout and hedge not in diff(*one, '--noise', '2%', status=1).stdout, 'one a side: the ops')
    check(hedge not in diff(before, slower, status=1).stdout, 'three a side: the ops')
    check(row(result(*one, '--noise', '2%', status=1), 'headline', 'id', 'steps.mean')['verdict'] == 'regression', '--noise 2%')
    check(row(result(*one, '--noise', '20%'), 'headline', 'id', 'steps.mean')['verdict'] == 'unsure', '--noise 20%')
    check(row(result(*one, '--threshold', '0.5'), 'headline', 'id', 'steps.mean')['verdict'] == 'same', '--threshold 50%')
    several = diff('--json', folder / 'before_0.mini', folder / 'alike_0.mini', folder / 'slower_0.mini')
    found = json.loads(several.stdout)
    check([f['run']['b'] for f in found] == ['alike_0.mini', 'slower_0.mini'], 'several against the first')
    text = diff(folder / 'before_0.mini', folder / 'alike_0.mini', folder / 'slower_0.mini').stdout
    check('alike_0.mini' in text and 'slower_0.mini' in text and 'step time' in text, 'several against the first, as text')
    check_marks(SOURCE / 'testdata' / 'mini' / 'diff')
    single = [100.0] * 10
    gpu_run(folder / 'even.mini', single)
    gpu_run(folder / 'one_slow.mini', single[:-1] + [500.0])
    step = row(result(folder / 'even.mini', folder / 'one_slow.mini'), 'headline', 'id', 'steps.mean')
    check(step['verdict'] == 'single_steps' and step['typical_low'] == step['typical_high'] == 0 < step['high'], f'one slow step of ten: {step}')


def unknown_run(path, idle_us):
    """Five steps of a kernel of 50 us each, after which the host does nothing that is recorded; its last one launches late."""
    kernels = [f'{i * (60 + idle_us)}us 50us k correlation_id={i + 1}' for i in range(5)]
    steps = [f'{i * (60 + idle_us)}us {60 + idle_us}us {i}' for i in range(5)]
    host = [f'{i * (60 + idle_us) - 1 if i else 0}us 1us launch correlation_id={i + 1}' for i in range(5)]
    path.write_text('\n'.join(['idsprof-mini 1', 'host h', 'plane /device:GPU:0', 'line 1 "Stream #1(Kernel)"', *kernels, 'line 2 Steps', *steps,
                                'plane /host:CPU', 'line 100 python', *host]) + '\n')
    return path


def check_shares(folder):
    """100 % is said of all of it alone; what is not recorded on the host is a hint to record stacks; no column is of nothing."""
    text = diff(unknown_run(folder / 'quick.mini', 10), unknown_run(folder / 'slow.mini', 80)).stdout
    check(re.search(r'\b\d(\.\d)? % of the change is explained', text), f'little is explained: {text}')
    check("samples the stacks of Python" in ' '.join(text.split()), f'no hint to the stacks: {text}')
    gpu_run(folder / 'fast.mini', [100.0] * 6, busy=1)
    gpu_run(folder / 'late.mini', [150.0] * 6, busy=1)
    text = diff(folder / 'fast.mini', folder / 'late.mini').stdout
    check('100 % of the change is explained' in text and 'stacks' not in text, f'all is explained: {text}')
    text = diff(COMPARE / 'base', COMPARE / 'recompile').stdout
    check(re.search(r' 9[89](\.[0-9])? % of the change is explained', text), f'nearly all is explained: {text}')
    check(re.search(r'program +- +- +jit_score +3\n', text) and text.count('jit_score') < 20, f'one program for three shapes: {text}')
    text = diff('--force', SOURCE / 'testdata' / 'cpu1_nohlo', SOURCE / 'testdata' / 'mini' / 'idle_sync.mini').stdout
    check(re.search('account +cause\n', text) and 'host.input         all of it' in text, f'intervals of nothing: {text}')


def check_trend(folder):
    """Steps of 100 us and 3 us more every 1,000: 3e-9 s a step of training."""
    series = folder / 'series'
    for i in range(1, 9):
        run = series / f'step_{i}000' / 'plugins' / 'profile' / f'2026_01_0{i}_00_00_00'
        run.mkdir(parents=True)
        made = gpu_run(folder / 'made.mini', [100 + 3 * i + 0.01 * (i % 3)] * 6)
        (run / 'host.trace.json').write_text(to_chrome(made))
    found = json.loads(diff('--json', '--trend', series).stdout)
    check(found['run']['x'] == 'step' and found['run']['runs'] == 8, f'trend: {found["run"]}')
    line = row(found, 'trend', 'id', 'steps.mean')
    check(line and line['verdict'] == 'grows' and abs(line['slope'] - 3e-9) < 1e-11, f'trend: {line}')
    check(row(found, 'trend', 'id', 'device.utilization')['verdict'] == 'steady', 'trend: utilization is steady')
    rough = folder / 'rough'
    for i, length in enumerate((100, 140, 90, 135, 95, 128, 104, 131), 1):
        run = rough / f'step_{i}000' / 'plugins' / 'profile' / f'2026_01_0{i}_00_00_00'
        run.mkdir(parents=True)
        (run / 'host.trace.json').write_text(to_chrome(gpu_run(folder / 'made.mini', [length] * 6)))
    line = row(json.loads(diff('--json', '--trend', rough).stdout), 'trend', 'id', 'steps.mean')
    check(line['verdict'] == 'unknown', f'runs that vary by a third are not steady: {line}')
    check('unsure' in diff('--trend', rough).stdout, 'a trend that cannot be told, as text')
    check('per 1,000 steps' in diff('--trend', series).stdout, 'trend, as text')
    both = result(series, series, '--newest', 3)
    check((both['run']['a_runs'], both['run']['spread_over'], both['run']['verdict']) == (3, 'runs', 'same'), f'a folder as a side: {both["run"]}')
    newest = result(series, str(series / 'step_?000'), '--newest', 3)
    check(newest['run']['verdict'] == 'same' and newest['run']['b_runs'] == 3, 'the newest of a pattern')
    check('three runs' in diff('--trend', COMPARE / 'base', status=2).stderr, 'a trend of one run')


def to_chrome(mini):
    """The run of made_runs as Kineto's JSON, which may lie in a folder of runs (a mini file is only read by its name)."""
    events = [{'ph': 'X', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'name': 'k', 'ts': 0, 'dur': 0, 'args': {'device': 0, 'stream': 7}}][:0]
    correlation = 0
    for line in mini.read_text().splitlines():
        words = line.split()
        if len(words) > 2 and words[2] == 'k':
            correlation += 1
            ts, dur = (int(w[:-2]) / 1000 for w in words[:2])
            events.append({'ph': 'X', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'name': 'k', 'ts': ts + 1000, 'dur': dur,
                           'args': {'device': 0, 'stream': 7, 'correlation': correlation}})
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'pid': 99, 'tid': 1, 'name': 'cudaLaunchKernel', 'ts': ts + 999, 'dur': 0.1,
                           'args': {'correlation': correlation}})
        elif len(words) == 3 and words[2].isdigit():
            ts, dur = (int(w[:-2]) / 1000 for w in words[:2])
            events.append({'ph': 'X', 'cat': 'user_annotation', 'pid': 99, 'tid': 1, 'name': 'ProfilerStep#%s' % words[2],
                           'ts': ts + 998.5, 'dur': dur - 0.01})
    return json.dumps({'traceEvents': events})


def check_refusals(folder):
    gpu_run(folder / 'one.mini', [100] * 6)
    gpu_run(folder / 'two.mini', [100] * 6, devices=2)
    done = diff(folder / 'one.mini', folder / 'two.mini', status=2)
    check('another number of devices' in done.stderr and 'step time' not in done.stdout, 'two devices against one')
    check('step time' in diff(folder / 'one.mini', folder / 'two.mini', '--force').stdout, '--force')
    check('idsprof scale' in done.stderr, 'the refusal does not say what compares numbers of devices')
    diff(folder / 'one.mini', status=2)
    diff(folder / 'one.mini', folder / 'none', status=2)
    diff(folder / 'one.mini', str(folder / 'none*'), status=2)
    diff(folder / 'one.mini', folder / 'one.mini', '--threshold', 'much', status=2)
    diff(folder / 'one.mini', folder / 'one.mini', '--json', '--csv', status=2)
    cut = folder / 'cut.xplane.pb'
    whole = next((COMPARE / 'base').rglob('*.xplane.pb')).read_bytes()
    cut.write_bytes(whole[:len(whole) * 3 // 4])
    done = diff(COMPARE / 'base', cut, status=2)
    check('is cut' in done.stderr or 'is cut' in done.stdout, 'a cut profile')
    evil = folder / 'evil.mini'
    evil.write_text('idsprof-mini 1\nhost h\nplane /device:GPU:0\nline 1 "Stream #1(Kernel)"\n0us 10us "k\x1b[31m"\nline 2 Steps\n0us 10us 1\n')
    text = diff(evil, evil, '--top', 0).stdout + diff(folder / 'one.mini', evil, '--force').stdout
    check('\x1b' not in text, "a name's escape sequence reaches the terminal")


def check_themselves():
    """Every real trace against itself: no difference, exit 0."""
    traces = [path for pattern in ('gpu_*', 'tpu_*', 'kineto_*/*.gz') for path in sorted(SHARED.glob(pattern))]
    for path in [*sorted((SOURCE / 'testdata').glob('cpu*')), *traces]:
        nothing = not rows(json.loads(subprocess.run([IDSPROF, 'report', '--json', path], capture_output=True).stdout), 'devices')
        found = result(path, path, status=2 if nothing else 0)
        if nothing:
            check([r['id'] for r in rows(found, 'findings')][0] == 'devices.none', f'{path} has no device, and is compared')
            continue
        check(found['run']['verdict'] == 'same' and found['run']['change'] == 0 and not changes(found), f'{path} against itself: {changes(found)}')
        check(all(r['class'] == 'same' for r in rows(found, 'ops') + rows(found, 'kernels')), f'{path} against itself: an op is not the same')


def check_shared():
    if not (SHARED / 'tpu_vllm_before').is_dir():
        print(f'no {SHARED}: real pairs were not compared')
        return
    found = result(SHARED / 'tpu_vllm_before', SHARED / 'tpu_vllm_after')
    ops = rows(found, 'ops')
    by = {kind: sum(r['class'] == kind for r in ops) for kind in ('added', 'removed')}
    matched = sum(r['by'] is not None for r in ops)
    check(matched > 3500 and by['removed'] > 500 and by['added'] > 0, f'vLLM: {matched} matched, {by}')
    check(matched + by['removed'] == len([r for r in ops if r['a'] is not None]), 'vLLM: an op of before is neither matched nor removed')
    collectives = row(found, 'collectives', 'name', 'all-to-all')
    check(collectives.get('removed') == 128 and float(collectives['b']) == 0, f'vLLM: the all-to-alls are gone: {collectives}')
    both = SHARED / 'gpu_1080ti_xla_pair'
    if both.is_dir():
        found = result(next(both.rglob('*.xplane.pb')), next(both.rglob('*.trace.json.gz')))
        check((found['run']['verdict'], found['run']['comparable']) == ('same', 1), f'the same run in both forms, of a GPU: {found["run"]}')
    pair = (SHARED / 'kineto_a100_control', SHARED / 'kineto_v100_test')
    done = diff(*pair, status=2)
    check('A100' in done.stderr and 'V100' in done.stderr and '--force' in done.stderr, f'A100 against V100: {done.stderr}')
    check(row(result(*pair, status=2), 'findings', 'id', 'devices.model')['severity'] == 'unlike', 'A100 against V100')
    check(len(rows(result(*pair, '--force'), 'kernels')) > 300, 'A100 against V100 with --force')


def check_next_command(folder):
    """The next command of a diff of patterns or of folders of runs can be typed."""
    folder = folder / 'patterns'
    for side, name in (('a', 'base'), ('b', 'transfer')):
        for number in (1, 2):
            shutil.copytree(COMPARE / name, folder / f'{side}-{number}')
    shutil.copytree(COMPARE / 'transfer', folder / 'all' / 'one')
    shutil.copytree(COMPARE / 'transfer', folder / 'all' / 'two')
    for operands in (('a-*', 'b-*'), ('a-1', 'all'), ('a-1', 'b-1')):
        done = diff(*(folder / operand for operand in operands), '--width', '400')
        commands = re.findall(r'(idsprof report .*)', done.stdout)
        check(commands, f'{operands}: no next command')
        for command in commands:
            told = subprocess.run([IDSPROF, *shlex.split(command)[1:]], capture_output=True, text=True, timeout=120)
            check(not told.returncode, f'{operands}: {command}: {told.stderr.strip()}')


with tempfile.TemporaryDirectory() as scratch:
    check_next_command(Path(scratch))
    check_recordings()
    check_findings()
    check_unlike(Path(scratch))
    check_other_devices(Path(scratch))
    check_forms()
    check_words(Path(scratch))
    check_shares(Path(scratch))
    check_trend(Path(scratch))
    check_refusals(Path(scratch))
    check_themselves()
    check_shared()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
