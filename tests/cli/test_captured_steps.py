#!/usr/bin/env python3
"""A report says where `idsprof capture` counted other steps in the window than the profile shows, and nothing where they agree or where one of
the two knows of none; and it warns of slow steps that come at equal distances and are not measured. What is said of a captured run is the
same whether the report was stored or not. The messages of the capture are made up; its end with real JAX: tests/live/test_loops.py.
Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

ROOT, SOURCE = Path(os.environ['TMPDIR']), Path(os.environ['IDS_SOURCE_DIR'])
os.environ['XDG_CACHE_HOME'] = str(ROOT / 'cache')
failures = 0


def run(name, *windows, opened='step', by='step', source=None):
    """A capture of the profile with six steps; each window: (file, steps, first, last)."""
    folder = ROOT / name
    shutil.copytree(SOURCE / 'testdata' / 'cpu1_annotated' / 'plugins', folder / 'plugins')
    (folder / '.idsprof').mkdir()
    lines = [{'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': -1, 'pid': 7}]
    if source:
        lines.append({'t': 1, 'event': 'steps', 'source': source, 'name': 'train', 'number': 0})
    for number, (file, steps, first, last) in enumerate(windows, 1):
        lines += [{'t': 2, 'event': 'opened', 'window': number, 'collector': 'jax', 'by': opened, 'step': first},
                  {'t': 3, 'event': 'written', 'window': number, 'collector': 'jax', 'by': by, 'path': file, 'bytes': 1, 'first_step': first,
                   'last_step': last, 'steps': steps}]
    (folder / '.idsprof' / 'h.7.hello').write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in lines))
    return folder


def said(folder):
    done = subprocess.run([os.environ['IDSPROF'], 'report', '--json', folder], capture_output=True, text=True)
    return [diag['text'] for diag in json.loads(done.stdout)['diag'] if diag['id'] == 'steps.disagree']


def same(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print('FAIL %s: %r, not %r' % (what, found, wanted))


file, = (SOURCE / 'testdata' / 'cpu1_annotated').glob('plugins/profile/*/*.xplane.pb')
FILE = str(file.relative_to(SOURCE / 'testdata' / 'cpu1_annotated'))
OTHER = 'plugins/profile/2000_01_01_00_00_00/h.xplane.pb'
WARNING = ['capture counted 5 steps (1 to 5) in this window, and the profile shows 6 steps (0 to 5)']
differs = run('differs', (FILE, 5, 1, 5))
same('other steps', said(differs), WARNING)
same('out of the cache', said(differs), WARNING)
same('as many', said(run('agrees', (FILE, 6, 0, 5))), [])
same('no steps: a window by time', said(run('without', (FILE, 0, -1, -1))), [])
same('another window of the capture', said(run('other', (OTHER, 3, 0, 2))), [])
same('of two windows its own', said(run('two', (OTHER, 6, 0, 5), (FILE, 5, 1, 5))), WARNING)
for by in 'time', 'trigger', 'exit':
    for source in 'annotation', 'executions':
        same('the last is cut: ' + by, said(run(f'last_{by}_{source}', (FILE, 7, 0, 6), by=by, source=source)), [])
        same('two are missing: ' + by, len(said(run(f'two_{by}_{source}', (FILE, 8, 0, 7), by=by, source=source))), 1)
for by in 'slow', 'trigger', 'time':
    for source in 'annotation', 'executions':
        same('the first is cut: ' + by, said(run(f'first_{by}_{source}', (FILE, 5, 1, 5), opened=by, source=source)), [])
        same('two too many: ' + by, len(said(run(f'many_{by}_{source}', (FILE, 4, 2, 5), opened=by, source=source))), 1)
    same('others than that one: ' + by, len(said(run('apart_' + by, (FILE, 5, 2, 6), opened=by, source='annotation'))), 1)
    same('both are cut: ' + by, said(run('both_' + by, (FILE, 6, 1, 6), opened=by, by='time', source='annotation')), [])
same('the first is not its own, the last is cut', said(run('not_whole', (FILE, 7, 1, 7), by='time', source='annotation')),
     ['capture counted 7 steps (1 to 7) in this window, and the profile shows 6 steps (0 to 5)'])
same('a step ended it: no reason is known', said(run('last_step', (FILE, 7, 0, 6))),
     ['capture counted 7 steps (0 to 6) in this window, and the profile shows 6 steps (0 to 5)'])
same('as many, and others', said(run('others', (FILE, 6, 1, 6), source='annotation')),
     ['capture counted 6 steps (1 to 6) in this window, and the profile shows 6 steps (0 to 5)'])
same('as many annotated ones', said(run('annotated', (FILE, 6, 0, 5), by='time', source='annotation')), [])
same('numbers that capture counted by itself', said(run('counted', (FILE, 6, 1, 6), source='executions')), [])
same('of ranks the one with most steps', said(run('ranks', (FILE, 2, 0, 1), (FILE, 6, 0, 5))), [])
# Ranks whose windows one trigger opened at different steps.
same('of ranks that are apart those of all', said(run('apart', (FILE, 3, 0, 2), (FILE, 3, 3, 5), source='executions')), [])
same('of ranks that overlap each once', said(run('overlap', (FILE, 4, 2, 5), (FILE, 4, 0, 3), source='annotation')), [])
same('each of them may be cut', said(run('cut_apart', (FILE, 2, 1, 2), (FILE, 2, 4, 5), opened='trigger', source='executions')), [])
same('of ranks that are apart too few', said(run('too_few', (FILE, 2, 0, 1), (FILE, 2, 4, 5), source='executions')),
     ['capture counted 4 steps (0 to 5) in this window, and the profile shows 6 steps (0 to 5)'])
same('of ranks with gaps in their numbers the one with most', said(run('gaps', (FILE, 4, 0, 6), (FILE, 6, 0, 10))), [])
broken = run('broken', (FILE, 5, 1, 5))
(broken / '.idsprof' / 'h.7.hello').write_bytes(b'\xff{"event":"written","steps":\n' * 3)
same('messages that are none', said(broken), [])


# --- every tenth step takes long, and none of these is measured ---

def with_history(name, slow=range(9, 100, 10), load=(0, 0, 0), count=100, garbage=0):
    """So many steps of 1 ms, of which some take 21 ms, such as 9, 19 and so on (collectors/common/history.h), so much of it for garbage."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    begins = [0]
    for number in range(count):
        begins.append(begins[-1] + (21000000 if number in slow else 1000000))
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 0, begins[-1], 0, 0, 0, 0, 0, 7, -1, *load, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 0, 0, garbage * (number in slow), 0) for number, begin in enumerate(begins))
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps)
    return folder


def beside_another(name, path, rank=-1):
    """Whose steps are alike; another process has slow ones, and wrote that file."""
    folder = with_history(name, slow=())
    other = with_history(name + '_other')
    (folder / '.idsprof' / 'h.8.history').write_bytes((other / '.idsprof' / 'h.7.history').read_bytes())
    lines = [{'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': rank, 'pid': 8}]
    if path:
        lines.append({'t': 3, 'event': 'written', 'window': 1, 'collector': 'jax', 'by': 'step', 'path': path, 'bytes': 1, 'first_step': 0, 'last_step': 5,
                      'steps': 6})
    if rank >= 0:
        (folder / '.idsprof' / 'h.7.hello').write_text((folder / '.idsprof' / 'h.7.hello').read_text().replace('"rank":-1', '"rank":0'))
    (folder / '.idsprof' / 'h.8.hello').write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in lines))
    return folder


def histories_of(folder):
    """How many histories there are, and whether slow steps are advised on."""
    found = json.loads(report(folder, '--json', '--no-cache'))
    return len(found['tables']['history']['rows']), any('steps are slow' in piece['what'] or 'slow steps' in piece['what'] for piece in found['advice'])


def with_window(name):
    """60 steps of 20 ms, of which 30 to 34 are recorded and take 60 ms, and 32 takes 180 ms; 20 takes 80 ms. The window opened in step 30,
    which takes 400 ms."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    took = [20000000] * 60
    took[20], took[30:35] = 80000000, [400000000, 60000000, 180000000, 60000000, 60000000]
    begins = [sum(took[:n]) for n in range(61)]
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 1, begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 1000 * (number == 30), 0, 0, 0) for number, begin in enumerate(begins))
    event = struct.pack('<qqq104s', begins[30] + 1, begins[35] - 1, 2, b'1 asked for')
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + event.ljust(500 * 128, b'\0'))
    return folder


def with_adjacent_windows(name):
    """60 steps of 20 ms. A window is open from the middle of step 20 to that of step 28, and the next one from later in step 28, which takes
    260 ms, to step 36."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    begins = [20000000 * number + 240000000 * (number > 28) for number in range(61)]
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 2, begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 0, 0, 0, -1) for number, begin in enumerate(begins))
    events = [struct.pack('<qqq104s', from_ns, to_ns, 2, what) for from_ns, to_ns, what in (
        (begins[20] + 10000000, begins[28] + 10000000, b'1 asked for'), (begins[28] + 240000000, begins[36] + 10000000, b'2 asked for'))]
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + b''.join(events).ljust(500 * 128, b'\0'))
    return folder


def with_ranks(name, *took):
    """A process for each, whose 60 steps take so much of what the step in the middle of the profile does; 30 to 34 are recorded."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    median_ns = json.loads(report(folder, '--json'))['metrics']['steps.median']['value'] * 1e9
    for rank, part in enumerate(took):
        begins = [int(number * median_ns * part) for number in range(61)]
        head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 1, begins[-1], 0, 0, 0, 0, 0, 7, rank, 0, 0, 0, b'h')
        # As many as the profile has, 0 to 5, are recorded: the others have numbers before and after these.
        steps = b''.join(struct.pack('<qqfffi', begin, number - 30, 0, 0, 0, -1) for number, begin in enumerate(begins))
        event = struct.pack('<qqq104s', begins[30] - 1, begins[36] - 1, 2, b'1 asked for')
        (folder / '.idsprof' / f'h.{rank}.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + event.ljust(500 * 128, b'\0'))
    return folder


def recording_of(folder):
    return json.loads(report(folder, '--json', '--no-cache'))['run'].get('recording', '')


def with_measured_rhythm(name, slow=range(5, 1000, 6), recorded=37000000, long=300000000):
    """Steps of 28 ms, of which every sixth takes 300 ms, such as 5; 0 to 5 are recorded, and take 37 ms where they are not that one."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    numbers, begins = [*range(900, 915), *range(60)], [0]
    for number in numbers:
        begins.append(begins[-1] + (long if number in slow else recorded if number < 6 else 28000000))
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 1, begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 0, 0, 0, 0) for number, begin in zip([*numbers, 60], begins))
    event = struct.pack('<qqq104s', begins[15] + 1, begins[21] - 1, 2, b'1 asked for')
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + event.ljust(500 * 128, b'\0'))
    return folder


def savings(path):
    return sorted(piece['saves'] for piece in json.loads(report(path, '--json'))['advice'] if piece['saves'])


def report(path, *options):
    return subprocess.run([os.environ['IDSPROF'], 'report', path, *options], capture_output=True, text=True).stdout


def with_calls(name, part, ratio=0, long=9, others=0):
    """200 steps of which 100 to 105 are recorded, in the first of which the window opened; they and the others take a part of what the step in
    the middle of the profile does (37.03 ms; 42.06 in the mean), every tenth so many times as long. With a rule (--when) the agent called two of
    them slow. All cores were busy throughout, where others had that many percent of them."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    usual = int(json.loads(report(folder, '--json'))['metrics']['steps.median']['value'] * 1e9 * part)
    begins = [0]
    for number in range(200):
        begins.append(begins[-1] + usual * (long if number % 10 == 9 else 1))
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 1, begins[-1], 0, 0, 0, ratio, 0, 7, -1, 100 * (others > 0), 100 * (others > 0), others, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 1000 * (number == 100), usual * (ratio and number in (19, 29)), 0, 0)
                     for number, begin in enumerate(begins))
    event = struct.pack('<qqq104s', begins[100] + 1, begins[106] - 1, 2, b'1 asked for')
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + event.ljust(500 * 128, b'\0'))
    return folder


def with_took(name, took):
    """Steps that take so many milliseconds each, of which no window has one."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    begins = [1000000 * sum(took[:n]) for n in range(len(took) + 1)]
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 0, begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + b''.join(struct.pack('<qqfffi', *step, 0, 0, 0, 0) for step in zip(begins, range(100))))
    return folder


def with_own_calls(name, inside, outside, compiles=0):
    """As with_calls, but those in the window are the steps of the profile, and take another part of the middle one than the others, `inside` each
    or one by one. Each so-many-th compiles for nearly all of its time."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    median_ns = json.loads(report(folder, '--json'))['metrics']['steps.median']['value'] * 1e9
    begins = [0]
    for number in range(-100, 100):
        part = (inside[number] if isinstance(inside, tuple) else inside) if 0 <= number < 6 else outside * (9 if number % 10 == 9 else 1)
        begins.append(begins[-1] + int(median_ns * part))
    events = [struct.pack('<qqq104s', begins[100] - 1, begins[106] + 1, 2, b'1 asked for')]
    for number in range(0, 200, compiles) if compiles else ():
        events.append(struct.pack('<qqq104s', begins[number] + 1, begins[number + 1] - 1, 1, b'step'))
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), len(events), begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number - 100, 0, 0, 0, 0) for number, begin in enumerate(begins))
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + b''.join(events).ljust(500 * 128, b'\0'))
    return folder


def with_lost_window(name, call_us, work_us=1000, usual_us=1000, last=0, pauses=range(49, 400, 50), pause_us=40000, kept=0):
    """Steps 5000 to 5007 of a profile, whose marks take `call_us` and their work `work_us`; and a history of the 400 steps long after these. There
    a call takes 20 us, each tenth waits until the device is through with ten steps of `usual_us`, and each fiftieth, or those of
    `pauses`, take `pause_us` more; in these windows opened because they were slow, where `kept`. After the last wait come `last` calls."""
    folder = ROOT / name
    path = folder / 'plugins' / 'profile' / 'now' / 'h.mini'
    path.parent.mkdir(parents=True)
    (folder / '.idsprof').mkdir()
    (folder / 'idsprof.json').write_text('{}')
    device, host = [], []
    for i in range(8):
        at, number = i * call_us, 5000 + i
        host += [f'{at}us {call_us}us "call of f" step_num={number} _r=1', f'{at + 1}us 10us PjitFunction(f)', f'{at + 2}us 1us cudaLaunchKernel correlation_id={number}']
        device.append(f'{10 + i * work_us}us {work_us - 10}us k correlation_id={number}')
    path.write_text('\n'.join(['idsprof-mini 1', 'host h', 'plane /device:GPU:0', 'line 1 "Stream #1"', *device, 'plane /host:CPU', 'line 9 t', *host]) + '\n')
    begins = [0]
    for number in range(400 + last):
        took = 20 if number % 10 != 9 or number >= 400 else 10 * usual_us - 180 + pause_us * (number in pauses)
        begins.append(begins[-1] + 1000 * took)
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 0, begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number + 9000, 1000 * kept * (number in pauses), 20000 * kept * (number in pauses), 0, -1)
                     for number, begin in enumerate(begins))
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps)
    return path


def lost_in(path):
    """Whether the loop runs ahead; how many steps are slow, of how many, and what they lose of the run."""
    text = ' '.join(report(path, '--no-cache').split())
    told = re.search(r'(\d+) of (\d+) steps are slow.*?lose (\S+) %', text)
    return 'the loop runs ahead of its device' in text, told and tuple(float(part) for part in told.groups())


def with_compilations(name, at, lost=0, count=80):
    """So many steps of 20 ms; in each of these one of `at`, a function of that name is compiled for 400 ms, and another one for 30 ms. The file
    has lost so many events that came before."""
    folder = run(name, (FILE, 6, 0, 5))
    (folder / 'idsprof.json').write_text('{}')
    begins, events = [0], []
    for number in range(count):
        took = 20000000
        if number in at:
            took += 430000000
            events += [(begins[-1] + 1000000, begins[-1] + 401000000, b'function %s' % at[number]), (begins[-1] + 402000000, begins[-1] + 432000000, b'small')]
        begins.append(begins[-1] + took)
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), lost + len(events), begins[-1], 0, len(events), 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 0, 0, 0, -1) for number, begin in enumerate(begins))
    places = [b''] * 500
    for i, (from_ns, to_ns, what) in enumerate(events):
        places[(lost + i) % 500] = struct.pack('<qqq104s', from_ns, to_ns, 1, what)
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + b''.join(place.ljust(128, b'\0') for place in places))
    return folder


def compiled_in(folder):
    """The slow steps and what is in them; the slowest one and the drawing; what advice says of slow steps."""
    found = json.loads(report(folder, '--json', '--no-cache', '--top', '0'))
    history, = (dict(zip((column['id'] for column in found['tables']['history']['columns']), row)) for row in found['tables']['history']['rows'])
    rows = [(row[1], row[-1]) for row in found['tables'].get('slow_steps', {'rows': []})['rows']]
    told = [re.search(r', (\S+ % of it in compilations [^)]*\))', piece['what']) for piece in found['advice'] if 'steps are slow' in piece['what']]
    return sorted(rows), history['slowest'], history['line'].count('█'), history['line'].count('c'), [piece and piece[1] for piece in told]


def slow_in(folder):
    """How many steps the history, its table and the advice call slow; and what the first line says of the history."""
    found = json.loads(report(folder, '--json', '--no-cache', '--top', '0'))
    columns = [column['id'] for column in found['tables']['history']['columns']]
    advice = [piece['what'] for piece in found['advice'] if 'steps are slow' in piece['what']]
    return (found['tables']['history']['rows'][0][columns.index('slow')], len(found['tables'].get('slow_steps', {'rows': []})['rows']),
            len(advice) + sum(diag['id'] == 'steps.rhythm' for diag in found['diag']), 'calls that only launch a step' in report(folder))


def with_rhythm(name, period, on_cpu=False, usual_ns=1022000, long_us=30000):
    """20 steps in a window, 100 to 119, that dispatch for 0.9 of 1 ms; but step 110 takes input for `long_us`. By the history such a step
    comes each `period` steps, or in those of a list, and others outside the window take `usual_ns`. On a CPU they wait for a device that works for 0.4 ms, and whose threads lack cores."""
    slow = period if isinstance(period, list) else range(110 % period, 400, period)
    folder = ROOT / name
    path = folder / 'plugins' / 'profile' / 'now' / 'h.mini'
    path.parent.mkdir(parents=True)
    (folder / '.idsprof').mkdir()
    (folder / 'idsprof.json').write_text('{}')
    device, host, at = [], [], 0
    for number in range(100, 120):
        what, length = ('Iterator::Model', long_us) if number == 110 else ('CommonPjRtBuffer::Await', 500) if on_cpu else ('PjitFunction(f)', 900)
        launch, work = at + 20 + length, 400 if on_cpu else 100
        launched = f'"CommonPjRtLoadedExecutable::Execute (jit_f)" run_id={number}' if on_cpu else f'cudaLaunchKernel correlation_id={number}'
        host += [f'{at + 10}us {length}us {what}', f'{at + 10}us 1us Inner', f'{launch}us 1us {launched}',
                 f'{at}us {length + work + 22}us train step_num={number} _r=1']
        device.append(f'{launch + 2}us {work}us ' + (f'dot.2 hlo_op=dot.2 hlo_module=jit_f run_id={number}' if on_cpu else f'k correlation_id={number}'))
        at = launch + work + 2
    stacks = ['plane /host:idsprof.stacks sampling_period_ns=10000 others_ran_ns=36000 others_waited_ns=64000', 'line 9 python/9',
              f'0us {at}us "$./train.py:12 main"']
    if on_cpu:
        lines = ['hlo module=jit_f name=dot.2 opcode=dot', 'plane /host:CPU', 'line 1 worker', *device, 'line 9 t', *host, *stacks]
    else:
        lines = ['plane /device:GPU:0', 'line 1 "Stream #1"', *device, 'plane /host:CPU', 'line 9 t', *host]
    path.write_text('\n'.join(['idsprof-mini 1', 'host h', *lines]) + '\n')
    begins = [0]
    for number in range(400):
        begins.append(begins[-1] + (long_us * 1000 + 1000000 if number in slow else 1022000 if 100 <= number < 120 else usual_ns))
    head = struct.pack('<16s13q128s', b'idsprof steps 5\n', len(begins), 1, begins[-1], 0, 0, 0, 0, 0, 7, -1, 0, 0, 0, b'h')
    steps = b''.join(struct.pack('<qqfffi', begin, number, 0, 0, 0, 0) for number, begin in enumerate(begins))
    event = struct.pack('<qqq104s', begins[100] + 1, begins[120] - 1, 2, b'1 asked for')
    (folder / '.idsprof' / 'h.7.history').write_bytes(head + steps.ljust(10000 * 32, b'\0') + event.ljust(500 * 128, b'\0'))
    return path


def first_of(path):
    piece = json.loads(report(path, '--json', '--no-cache'))['advice'][0]
    return piece['account'], 'in 1 of 20 steps of this window (step 110)' in piece['evidence']


def of_region(name, calls, window):
    """A region of 1 ms that was to be recorded, with so many calls of 0.1 ms in it, of which capture counted `window` steps."""
    folder = ROOT / name
    path = folder / 'plugins' / 'profile' / 'now' / 'h.mini'
    path.parent.mkdir(parents=True)
    (folder / '.idsprof').mkdir()
    (folder / '.idsprof' / 'h.7.hello').write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in (
        {'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': -1, 'pid': 7},
        {'t': 3, 'event': 'written', 'window': 1, 'collector': 'jax', 'by': 'range', 'path': str(path.relative_to(folder)), 'bytes': 1,
         'first_step': 0, 'last_step': window - 1, 'steps': window})))
    marks = [f'{500 + 100 * i}us 100us "call of f" step_num={i} _r=1\n{500 + 100 * i}us 1us k correlation_id={i + 1}\n' for i in range(calls)]
    work = [f'{510 + 100 * i}us 40us k correlation_id={i + 1}\n' for i in range(calls)]
    path.write_text('idsprof-mini 1\nhost h\nplane /device:GPU:0\nline 1 "Stream #1(Kernel)"\n' + ''.join(work) +
                    'plane /host:CPU\nline 100 python\n0us 1000us evaluate idsprof_block=1 user_annotation=1\n' + ''.join(marks))
    return path


same('steps that are less than half of the region', [re.search(r'1 step \((.*?)\)', ' '.join(report(of_region(*asked), '--no-cache').split()))[1] for asked in (
    ('region', 4, 4), ('region_one', 1, 1))],
    ["region 'evaluate'; 4 calls of f in it take 40.0 % of it", "region 'evaluate'; 1 call of f in it takes 10.0 % of it"])
same('are those that capture counted', [said(of_region(*asked)) for asked in (('region_same', 4, 4), ('region_other', 4, 6))],
     [[], ['capture counted 6 steps (0 to 5) in this window, and the profile shows 4 steps']])
same('the window has a whole period: what its long step takes comes first', first_of(with_rhythm('period', 20)), ('host.input', True))
same('also where the window is slower than its run', first_of(with_rhythm('period_slowed', 20, usual_ns=750000)), ('host.input', True))
same('one step of a longer period stands behind what most steps have', first_of(with_rhythm('longer', 40)), ('host.dispatch', False))
FEW, MANY = ([110] + [number for number in range(400) if number * number * 7 % 401 < below and not 90 < number < 130] for below in (25, 70))
TWO = [110, 130, 273]
same('slow steps without a rhythm are a sixth of the run: what one loses is no chance', first_of(with_rhythm('many_slow', MANY)), ('host.input', True))
ON_CPU = [[[piece.get('account'), piece['explain']] for piece in json.loads(report(with_rhythm(name, slow, True), '--json', '--no-cache'))['advice'][:2]]
          for name, slow in (('few_on_cpu', TWO), ('many_on_cpu', MANY))]
CORES, INPUT, SYNC = [None, 'device.no_core_share'], ['host.input', 'host.input'], ['host.sync', 'host.sync']
same('a lack of cores is before the wait that it explains, which is before what may be chance; and not before what is none', ON_CPU,
     [[CORES, SYNC], [INPUT, CORES]])
same('two others like it may be chance', first_of(with_rhythm('two_slow', TWO)), ('host.dispatch', False))
for name, slow in (('few_told', FEW), ('many_told', MANY)):
    told = json.loads(report(with_rhythm(name, slow), '--json'))['advice'][0]
    like = sum(number > 9 for number in slow) - 1       # the first ten are not judged, and the window has one
    same('%s: how many are like it' % name, re.search(r'by the history (\d+) of (\d+) other steps are like it and lose', told['evidence']).groups(), (str(like), '370'))
    same('%s: what they lose is what it would save' % name, abs(told['saves'] - like * .03 / 370) < .02 * told['saves'], True)
slowed = json.loads(report(with_rhythm('slowed', TWO + [200, 250, 300], usual_ns=750000, long_us=12000), '--json'))['advice']
slowed = next(piece for piece in slowed if piece.get('account') == 'host.input')
same('a window that is slower is told once', ('took 1.36 × as long' in slowed['evidence'], 'by the history' in slowed['evidence']), (True, False))
same('steps that the program waits for', slow_in(with_calls('waits', 0.27)), (19, 19, 1, False))
same('calls that launch steps', slow_in(with_calls('launches', 0.2)), (None, 0, 0, True))
# Ten steps take 1.8 + 20 of what they take the device, which runs dry for 11.8 in the tenth: 19 of them after the tenth step.
ahead = with_calls('ahead', 0.2, long=100)
same('calls that launch steps, and something else for which the device runs dry', slow_in(ahead), (19, 19, 1, False))
same('in words', re.search(r'19 of 190 steps are slow.*?one of 10 steps takes \S+ \S+, (\S+) × the usual one', report(ahead), re.S)[1], '12.8')
theirs = with_calls('ahead_of_others', 0.2, long=100, others=50)
same('ten steps take 2.2 times as long, which sharing the cores explains', re.search(r'19 of 190 steps are slow.*?, (while .*?cores)', ' '.join(report(theirs).split()))[1],
     "while other processes had 50.0 % of the machine's cores")
same('what the times are', 'the loop runs ahead of its device' in ' '.join(report(ahead).split()), True)
same('for which it nearly does', slow_in(with_calls('behind', 0.2, long=60)), (None, 0, 0, True))  # 13.8 of 10
same('calls, judged by the rule', slow_in(with_calls('rule', 0.2, 2)), (2, 2, 0, True))
same('the measured steps were called in less than half of their time', slow_in(with_own_calls('own_launches', 0.4, 0.2)), (None, 0, 0, True))
same('every third call compiles, and so does not only launch', slow_in(with_own_calls('own_compiles', 0.4, 0.2, 3))[-1], False)
OWN = 0.102, 1.863, 2.095, 2.552, 0.138, 0.068      # of the middle one, as in the profile
same('and, slow as the window was, each in all of it', slow_in(with_own_calls('own_waits', OWN, 0.05))[3], False)
same('two of six find the device at work', slow_in(with_own_calls('own_two', (OWN[0], 0.1, 0.1, *OWN[3:]), 0.2))[3], True)
same('one of six does: it may be less than it was', slow_in(with_own_calls('own_one', (*OWN[:2], 0.1, *OWN[3:]), 0.2))[3], False)
# Eight steps of 50 take 40 ms more than ten of 1 ms, of which the first ten of 400 are not judged: 320 of 710 ms.
same('the window is long ago: its marks say it', lost_in(marks := with_lost_window('marks_launch', 20)), (True, (8, 390, 45.1)))
LATE = 'the history begins with step 9000: until then another function was called more often'
same('it begins late, and has lost nothing', LATE in ' '.join(report(marks).split()), True)
same('annotations have the numbers of the program', 'the history begins' in ' '.join(report(ROOT / 'launches').split()), False)


def of_two_functions(name, front, window='1 asked for', at=-9):
    """As with_lost_window, of calls of f; calls of `front` are the steps that the process made at last, and that window was over before these."""
    path = with_lost_window(name, 20)
    notes = ROOT / name / '.idsprof'
    lines = [{'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': -1, 'pid': 7}, {'t': 1, 'event': 'steps', 'source': 'executions', 'name': ''},
             {'t': 3, 'event': 'written', 'window': 1, 'collector': 'jax', 'by': 'step', 'path': 'plugins/profile/now/h.mini', 'bytes': 1,
              'first_step': 5000, 'last_step': 5007, 'steps': 8, 'of': 'f'}, {'t': 4, 'event': 'closed', 'source': 'executions', 'of': front}]
    (notes / 'h.7.hello').write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in lines))
    data = bytearray((notes / 'h.7.history').read_bytes().ljust(248 + 10000 * 32 + 500 * 128, b'\0'))
    data[24:32] = struct.pack('<q', 1)
    data[248 + 320000:248 + 320128] = struct.pack('<qqq104s', at - 9, at, 2, window.encode())
    (notes / 'h.7.history').write_bytes(data)
    return path


ANOTHER = 'the history is of g, which was called more often later: it says nothing of these steps'
for name, arguments, wanted in (('of_f', ('f',), False), ('of_g', ('g',), True), ('of_g_later', ('g', '1 asked for', 5000000), False),
                                ('of_g_2', ('g', '2 asked for'), False)):
    path = of_two_functions(name, *arguments)
    words = ' '.join(report(path, '--no-cache').split())
    same('a history of another function: ' + name, (ANOTHER in words, 'steps are slow' in words), (wanted, not wanted))
inside = [ROOT / 'of_g', ROOT / 'of_g' / 'plugins', ROOT / 'of_g' / 'plugins' / 'profile' / 'now']
for folder, relative in zip(inside, ('plugins/profile/now/h.mini', 'profile/now/h.mini', 'h.mini')):
    done = subprocess.run([os.environ['IDSPROF'], 'report', '--json', '--no-cache', relative], capture_output=True, text=True, cwd=folder)
    found = json.loads(done.stdout)
    same('from inside of the capture: ' + relative, (len(found['tables']['history']['rows']), found['run'].get('history_late')), (1, ANOTHER))
hello = ROOT / 'marks_launch' / '.idsprof' / 'h.7.hello'
hello.write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in (
    {'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': -1, 'pid': 7},
    {'t': 2, 'event': 'opened', 'window': 1, 'collector': 'jax', 'by': 'step', 'step': 5000},
    {'t': 2, 'event': 'said', 'collector': 'jax', 'key': 'turn function', 'value': 'apply'},
    {'t': 2, 'event': 'said', 'collector': 'jax', 'key': 'turn steps', 'value': '4'},
    {'t': 3, 'event': 'written', 'window': 1, 'collector': 'jax', 'by': 'step', 'path': 'plugins/profile/now/h.mini', 'bytes': 1, 'first_step': 5000,
     'last_step': 5007, 'steps': 8})))
TURN = "apply comes with one of 4 steps (the %d that are measured are %s): idsprof capture --step-executable '^apply$' counts turns of the loop"
same('a turn has four calls', TURN % (8, '2 turns') in ' '.join(report(marks).split()), True)
hello.write_text(hello.read_text().replace('"value":"4"', '"value":"3"'))
PART = 'apply comes with one of 3 steps (the 8 that are measured are 2 turns and 2 of the 3 of another%s): '
same('eight are no whole turns of three', PART % '' in ' '.join(report(marks, '--no-cache').split()), True)
said_of_turn = hello.read_text()
FACT = '\n{"t":2,"event":"said","collector":"jax","key":"turn place","value":"%d"}\n'
for place, ends in (0, 3), (1, 2):    # of 5000 to 5007 5001, 5004 and 5007, or 5002 and 5005
    hello.write_text(said_of_turn.rstrip('\n') + FACT % place)
    same('how many of them its function comes with', PART % f', apply with {ends} of them' in ' '.join(report(marks, '--no-cache').split()), True)
hello.write_text(said_of_turn.replace('"value":"3"', '"value":"20"').rstrip('\n') + FACT % 9)
same('a part of one turn', '(the 8 that are measured are 8 of the 20 of a turn, apply with none of them)' in ' '.join(report(marks, '--no-cache').split()), True)
# Each tenth step of 1 ms takes 9 ms, and 20 ms once, because the loop's other function is called in it: 83 of 172 ms.
turns = with_took('turns', [20 if n == 48 else 9 if n % 10 == 8 else 1 for n in range(99)])
same('steps that take longer, for all that times say', slow_in(turns)[0], 9)
(turns / '.idsprof' / 'h.7.hello').write_text(''.join(json.dumps(line, separators=(',', ':')) + '\n' for line in (
    {'t': 1, 'event': 'loaded', 'agent': '0', 'host': 'h', 'rank': -1, 'pid': 7},
    *({'t': 2, 'event': 'said', 'collector': 'jax', 'key': 'turn ' + key, 'value': value} for key, value in (
        ('function', 'apply'), ('steps', '10'), ('place', '8'))))))
same('of a process with another run nothing is said', histories_of(beside_another('evaluates', OTHER)), (1, False))
same('nor of one that recorded nothing', histories_of(beside_another('unrecorded', None)), (1, False))
same('of one that wrote a file of this run it is', histories_of(beside_another('same_run', FILE))[0], 2)
same('and of a rank that recorded nothing', histories_of(beside_another('rank_failed', None, rank=1))[0], 2)
same('but not of one with another run', histories_of(beside_another('rank_elsewhere', OTHER, rank=1))[0], 1)
moved = beside_another('moved', OTHER)
shutil.move(moved / FILE, (moved / FILE).with_name('renamed.xplane.pb'))
same('all where nobody is known to have written it', histories_of(moved)[0], 2)
same('where a turn of the loop ends they are not slow', slow_in(turns)[:2], (1, 1))
TURN_HAS = "apply is called with one of 10 steps, and 48.3 % of the run's time lies there: one of 10 steps takes 9.000 ms, 9.0 × the usual one"
same('but have a share of the run', TURN_HAS in ' '.join(report(turns, '--no-cache').split()), True)
same('and that it waits', lost_in(with_lost_window('marks_wait', 1000))[0], False)
same('recorded at a bad moment', lost_in(with_lost_window('bad_moment', 20, work_us=1000, usual_us=700)), (True, (8, 390, 54.0)))
same('steps that are launched and not done are of no run', lost_in(with_lost_window('undone', 20, last=300)), (True, (8, 396, 44.7)))
# Three of 400 calls take 40 ms more, for which ten steps do not suffice: 90 of 516 ms. Half of that time is no more than a wait may be.
same('a few pauses that no mean shows', lost_in(with_lost_window('few', 20, pauses=(149, 249, 349)))[0], True)
same('in which windows opened', lost_in(with_lost_window('kept', 20, pauses=(149, 249, 349), kept=1)), (True, (3, 390, 23.5)))
same('that a wait may be', lost_in(with_lost_window('no_pause', 20, pauses=(149, 249, 349), pause_us=9000))[0], False)
same('but others are no quicker than that', slow_in(with_own_calls('own_others', 0.4, 0.6))[3], False)
# 9 of 1 ms before 50 of 4 ms: none of these is slow for having quick ones before it, and one of 9 ms is.
same('the first steps are held against the first 101', slow_in(with_took('first', [1] * 9 + [4] * 20 + [9] + [4] * 30))[:2], (1, 1))
line = json.loads(report(ROOT / 'own_launches', '--json'))['tables']['history']['rows'][0][-1]
same('calls are drawn by how long they take together', set(line), {'▁'})   # 0.36 of what as many steps take
STARTS = {0: b'f', 30: b'g'}        # what is compiled for the first time
same('functions that are compiled for the first time', compiled_in(with_compilations('starts', STARTS, count=40)), ([], 0.02, 0, 2, []))
AGAIN = {**STARTS, 44: b'g', 62: b'g'}
IN_IT = 'compiled function g and 1 more in 430.0 ms'
same('and again', compiled_in(with_compilations('again', AGAIN)),
     ([(44, IN_IT), (62, IN_IT)], 0.45, 2, 0, ['100.0 % of it in compilations (longest: function g)']))
same('what was compiled before is not known', [number for number, _ in compiled_in(with_compilations('lost', STARTS, 500))[0]], [30])
rows = json.loads(report(with_window('window'), '--json'))['tables']['slow_steps']
place = [column['id'] for column in rows['columns']].index('step')
same('not slow for being recorded', sorted(row[place] for row in rows['rows']), [20, 32])
same('nor where one window closed and the next one opened', json.loads(report(with_adjacent_windows('adjacent'), '--json'))['tables'].get('slow_steps'),
     None)
same('the devices of one process are quicker than its steps', 'the window is not typical' in recording_of(with_ranks('one', 1.6)), True)
same('those of alike ones', 'the window is not typical' in recording_of(with_ranks('alike', 1.5, 1.6)), True)
same('the mean of a quick and a slow one is neither', [recording_of(with_ranks('unlike%g' % took[0], *took)) for took in ((0.4, 1.6), (1.6, 0.4))], ['', ''])
same('nor are the steps of the quick one calls', slow_in(with_ranks('quick', 0.2, 1.8))[3], False)

def check_count(path, slow):
    """The rows shown, those with --top 0 and those that are not listed are the slow steps of the history and of the advice."""
    found = json.loads(report(path, '--json', '--no-cache', '--top', '0'))
    history, = found['tables']['history']['rows']
    columns = [column['id'] for column in found['tables']['history']['columns']]
    same('slow in the history', history[columns.index('slow')], slow)
    same('slow in the table', len(found['tables']['slow_steps']['rows']) + found['tables']['slow_steps'].get('rows_left_out', 0), slow)
    same('slow in the advice', found['advice'][0]['what'].split(' of ')[0], str(slow))
    told = re.search(r'TOP (\d+) SLOW STEPS .*?(\d+) more with --top 0, and (\d+) that are not listed', report(path, '--no-cache'), re.S)
    same('the slow steps in words', told and sum(map(int, told.groups())), slow)
    same('what is left out of all', f'{slow - 20} that are not listed' in report(path, '--no-cache', '--top', '0'), True)


check_count(with_history('many', range(9, 290, 10), count=290), 28)
rhythmic = with_history('rhythm')
RECORDED = sorted(path for path in (SOURCE / 'testdata').iterdir() if (path / 'plugins').is_dir())
same('recordings', len(RECORDED) > 8, True)
for path in [rhythmic, differs, *RECORDED]:
    for options in [], ['--json']:
        shutil.rmtree(ROOT / 'cache', ignore_errors=True)
        without = report(path, '--no-cache', *options)
        cold, warm = report(path, *options), report(path, *options)
        same('%s: something' % path.name, len(without) > 500, True)
        same('%s: a cold cache' % path.name, cold, without)
        same('%s: a warm cache' % path.name, warm, without)
        same('%s: slow steps that come again' % path.name, ' '.join(without.split()).count('one of 10 steps takes'), int(path == rhythmic))
advice = json.loads(report(rhythmic, '--json'))['advice'][0]
same('slow steps come first', (advice['saves'], advice['what']), (None,
     "9 of 90 steps are slow, and lose 66.7 % of the run's time: one of 10 steps takes 21.00 ms, 21.0 × the usual one, "
     'such as step 9, and none of these is measured here: idsprof capture --start-step 8 --steps 11 measures one'))
for name, load, place, wanted in (('quiet', (100, 99, -1), 0, 'none like these is measured'), ('busy', (1000, 600, 480), 1, 'other processes had 80.0 %'),
                                ('busy, but 21 times as long', (1000, 600, 240), 0, 'none like these is measured')):
    advice = json.loads(report(with_history(name, (17, 23, 24, 48, 70, 71, 77), load), '--json'))['advice'][place]
    same('seven slow steps of a machine that is %s' % name, wanted in advice['what'], True)
garbage = json.loads(report(with_history('garbage', (17, 23, 24, 48, 70, 71, 77), (1000, 1000, 1000), garbage=15000000), '--json'))
same('seven slow steps that collect garbage', '75.0 % of it in collections of garbage' in garbage['advice'][0]['what'], True)
same('the garbage of a slow step', garbage['tables']['slow_steps']['rows'][0][-1], 'collected garbage for 15.00 ms')
compared = subprocess.run([os.environ['IDSPROF'], 'diff', rhythmic, differs], capture_output=True, text=True).stdout
same('what no window has is not compared', 'slow steps that no window has lose 66.7 % of the run of' in ' '.join(compared.split()), True)
measured = with_measured_rhythm('measured_rhythm')
same('its short steps took longer in the window', 'took 1.32 × as long as the 25 around it' in ' '.join(report(measured).split()), True)
same('what its long step loses is lost in the run', savings(measured), savings(run('no_history', (FILE, 6, 0, 5))))
same('and is something', len(savings(measured)) > 0, True)
shorter = with_measured_rhythm('shorter_rhythm', long=60000000)
same('a long step that has less than the others together is lost as well', savings(shorter), savings(measured))
often = with_measured_rhythm('often', [*range(900, 915, 4), 7, 8, 15, 19, 26, 28, 37, 50, 51, 58], 120000000)
same('steps that are slow like a fifth of the run are held against its mean step',
     re.search(r'steps in the window took \S+ × as long as the mean step of the run with its slow ones \(\S+ ms\)', ' '.join(report(often).split()))
     is not None, True)
print('%d failures' % failures)
sys.exit(failures > 0)
