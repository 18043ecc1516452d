#!/usr/bin/env python3
"""`idsprof capture` of a program that uses a PJRT plugin: collector A around the double of a plugin (tests/pjrt/double.h), in every way
in that needs no jax; what the program gets is what it gets without us. (fault.pjrt: the same with every fault.)
Environment: IDSPROF, IDS_BUILD_DIR, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/pjrt')
from captures import CALLS, DOUBLE, IDSPROF, PROGRAM, ROOT, SHIM, WINDOW, WORDS, Capture, alone, check, done

# --- by TPU_LIBRARY_PATH: exactly the steps, and the program's own results ---
run = Capture(WINDOW, WORDS)
check((run.code, run.out) == alone(WORDS), (run.code, run.out, run.err))
check(run.events('/device:DOUBLE:0') == [f'train {n}' for n in range(3, 8)], run.events('/device:DOUBLE:0'))
check(len(run.events(CALLS, 'PJRT_LoadedExecutable_Execute')) == 5, run.events(CALLS))
check(len(run.events(CALLS, 'train')) == 5, run.events(CALLS))
check(len(run.files) == 1 and not run.sidecar.get('missed'), run.sidecar)
said = run.sidecar['processes'][0]
check('"key":"device","value":"Double v1 x 2"' in run.hello and '"key":"pjrt","value":"0.112"' in run.hello, run.hello)
report = subprocess.run([IDSPROF, 'report', run.folder, '--json'], capture_output=True, text=True)
check(report.returncode == 0, report.stderr)

# --- three windows ---
run = Capture(['-s', '2', '-k', '1', '--every', '4', '--max', '3'], ['client', 'compile:train', 'input', 'run:20'])
check(run.events('/device:DOUBLE:0') == ['train 2', 'train 6', 'train 10'], run.events('/device:DOUBLE:0'))
check(len(run.files) == 3, run.files)

# --- what is compiled, loaded and moved in a window ---
run = Capture(['-s', '0', '-k', '4'], ['client', 'compile:train', 'run:2', 'load:eval', 'copy:4096', 'run:1', 'compile:other'])
calls = run.events(CALLS)
check(all(name in calls for name in ('PJRT_Client_Compile:#module=other#', 'PJRT_Executable_DeserializeAndLoad:#module=eval#', 'PJRT_Buffer_ToHostBuffer',
                                     'PJRT_Client_BufferFromHostBuffer', 'PJRT_Buffer_CopyToDevice', 'PJRT_Event_Await')), calls)
moved = run.stats(CALLS, 'PJRT_Client_BufferFromHostBuffer') + run.stats(CALLS, 'PJRT_Buffer_ToHostBuffer')
check(moved == [{'bytes': 'i:4096', 'direction': 's:H2D'}, {'bytes': 'i:4096', 'direction': 's:D2H'}], moved)
compiled = [stats['hlo_module'] for stats in run.stats(CALLS, 'PJRT_Client_Compile:#module=other#')]
check(compiled == ['s:other'], compiled)
check(all(stats['code_bytes'] == 'i:4321' and int(stats['hlo_bytes'][2:]) > 5 for stats in run.stats(CALLS, 'PJRT_Client_Compile:#module=other#')), calls)
check(all(int(stats['complete_after_ns'][2:]) >= 20000 for stats in run.stats(CALLS, 'PJRT_LoadedExecutable_Execute')), calls)

report = subprocess.run([IDSPROF, 'report', run.folder, '--json'], capture_output=True, text=True)
figures = json.loads(report.stdout)
check(figures['metrics']['compile.count']['value'] == 1, figures['metrics']['compile.count'])

# --- collectives of the history: of the usual step, and of one that executed another program as well ---
run = Capture(['-s', '5', '--step-executable', 'train'],
              ['client', 'compile:train*48', 'input', 'run:30:2000', 'compile:gather*5', 'run:2:40000', 'compile:train*48', 'run:30:2000'])
figures = json.loads(subprocess.run([IDSPROF, 'report', run.folder, '--json'], capture_output=True, text=True).stdout)['tables']
history, slow = ([dict(zip((column['id'] for column in figures[name]['columns']), row)) for row in figures[name]['rows']]
                 for name in ('history', 'slow_steps'))
check(history[0]['collectives'] == 48, history)
# A loaded machine makes a step slow that nobody planted: of that one there is nothing to say.
check([(row['collectives'], row['what']) for row in slow if row['step'] == 29 or row['what']] == [(58, '58 collectives, not 48')], slow)
run = Capture(['-s', '5'], ['client', 'compile:train*48', 'input', 'run:30:2000'], environment={'IDSPROF_PJRT_HLO': '0'})
report = subprocess.run([IDSPROF, 'report', run.folder], capture_output=True, text=True)
header, = (line for line in report.stdout.splitlines() if line.split()[:1] == ['HISTORY'])
check('collectives' not in header, report.stdout)     # not known, and no column of nothing

# --- no capture: the plugin as it is, and no file ---
bare = subprocess.run([PROGRAM, SHIM, *WORDS], capture_output=True, text=True,
                      env={**os.environ, 'IDSPROF_TPU_LIBRARY': DOUBLE, 'DOUBLE': DOUBLE})
check((bare.returncode, bare.stdout) == alone(WORDS), bare)

# --- no plugin anywhere: an error of the plugin's kind, as loading nothing gives ---
bare = subprocess.run([PROGRAM, SHIM, 'client'], capture_output=True, text=True, env={**os.environ, 'HOME': '/nonexistent',
                      'VIRTUAL_ENV': '', 'IDSPROF_TPU_LIBRARY': '/nonexistent/libtpu.so'})
check(bare.returncode == 0 and bare.stdout.endswith('errors 2\n'), bare)

# --- switched off, and not touched where nothing names a plugin ---
run = Capture(WINDOW, ['client'], command=['sh', '-c', 'echo "$TPU_LIBRARY_PATH"'], environment={'IDSPROF_PJRT': '0'})
check(run.out == DOUBLE + '\n', run.out)
if not Path('/dev/accel0').exists() and not Path('/dev/vfio/0').exists():
    run = Capture(WINDOW, ['client'], command=['sh', '-c', 'echo "$TPU_LIBRARY_PATH"'], environment={'TPU_LIBRARY_PATH': ''})
    check(run.out == '\n', run.out)
run = Capture(['--tpu', *WINDOW], ['client'], command=['sh', '-c', 'echo "$TPU_LIBRARY_PATH $IDSPROF_TPU_LIBRARY"'])
check(run.out == f'{SHIM} {DOUBLE}\n' or os.path.realpath(run.out.split()[0]) == os.path.realpath(SHIM), run.out)

# --- by LD_AUDIT ---
plugin = ROOT / 'pjrt_plugin_double.so'
plugin.symlink_to(DOUBLE)
run = Capture(['--audit', *WINDOW], [], command=[PROGRAM, str(plugin), *WORDS], environment={'TPU_LIBRARY_PATH': ''})
check((run.code, run.out) == alone(WORDS), (run.code, run.out, run.err))
check(run.events('/device:DOUBLE:0') == [f'train {n}' for n in range(3, 8)], (run.events('/device:DOUBLE:0'), run.err))

# --- the ends of programs in a window ---
for end, code in (('exit:3', 3), ('_exit:4', 4), ('kill', 137)):
    words = ['client', 'compile:train', 'input', 'run:5', end]
    run = Capture(WINDOW, words)
    check(run.code == code and run.out == alone(words)[1], (end, run.code, run.out))
    check(len(run.files) == (end == 'exit:3'), (end, run.files))
    check(end == 'exit:3' or run.sidecar['missed'], (end, run.sidecar.get('missed')))
    if run.files:
        check(run.events('/device:DOUBLE:0') == ['train 3', 'train 4'], run.events('/device:DOUBLE:0'))

# --- fork and threads ---
for words in (['client', 'compile:train', 'input', 'run:5', 'fork:20', 'run:9'],
              ['client', 'compile:train', 'threads:300', 'run:1']):
    run = Capture(WINDOW, words)
    check((run.code, run.out) == alone(words), (words, run.code, run.out, run.err))
    check(len(run.files) == 1, (words, run.files))

# --- the program profiles itself: its profile is whole, ours ends before it ---
words = ['client', 'compile:train', 'input', 'run:5', 'profile', 'run:5', 'profile-end']
run = Capture(WINDOW, words)
check(run.code == 0 and 'errors 0' in run.out, run.out)
check(len(run.files) == 1 and 'profiles itself' in run.hello, run.hello)

done()
