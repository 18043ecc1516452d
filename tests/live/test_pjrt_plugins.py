#!/usr/bin/env python3
"""Collector A with the real libtpu and the real CUDA plugin, with no device: the ABI declarations of collectors/pjrt/pjrt_abi.h against
what the plugins say of themselves, an ahead-of-time compilation for v5e:2x2 under `idsprof capture`, sessions of both profilers
through the interposer. The wheels are large (1.6 GB unpacked), so it runs only where it is told a Python that has them:

    python3 -m venv DIR && DIR/bin/pip install jax libtpu jax-cuda13-plugin jax-cuda13-pjrt
    IDS_PJRT_PYTHON=DIR/bin/python ctest --preset release -R live.pjrt_plugins

Environment: IDSPROF, IDS_BUILD_DIR, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

PYTHON = os.environ.get('IDS_PJRT_PYTHON')
if not PYTHON:
    print('IDS_PJRT_PYTHON names no Python with jax, libtpu and the CUDA plugin: an optional job, for these are large')
    sys.exit(78)
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
sys.path.insert(0, str(SOURCE / 'tests/oracle'))
import xplane_oracle as oracle

HERE = SOURCE / 'tests/live'
SHIM = os.environ['IDS_BUILD_DIR'] + '/lib/idsprof/libidsprof_pjrt.so'
ROOT = Path(os.environ['TMPDIR'])
# libtpu asks a metadata server that is not there unless it is told all this.
os.environ.update(TPU_SKIP_MDS_QUERY='1', TPU_ACCELERATOR_TYPE='v5litepod-4', TPU_WORKER_HOSTNAMES='localhost')
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_')) and name != 'IDSPROF':
        del os.environ[name]
failures = []


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def ask(*words, **environment):
    done = subprocess.run([PYTHON, str(HERE / 'pjrt_probe.py'), *map(str, words)], capture_output=True, text=True, timeout=200,
                          env={**os.environ, **environment})
    if done.returncode:
        return dict(failed=done.returncode, said=done.stderr[-500:])
    return json.loads(done.stdout.splitlines()[-1])


site = Path(subprocess.run([PYTHON, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], capture_output=True, text=True,
                           check=True).stdout.strip())
plugins = {name: path for name, path in (('libtpu', site / 'libtpu/libtpu.so'),
                                         ('cuda', next(iter(site.glob('jax_plugins/xla_cuda*/xla_cuda_plugin.so')), None)))
           if path and path.exists()}
if len(plugins) < 2:
    print(f'{PYTHON} has no libtpu or no CUDA plugin')
    sys.exit(77)

# --- the ABI: each entry we name is the function we take it for, and its struct is at least as long as ours ---
header = (SOURCE / 'collectors/pjrt/pjrt_abi.h').read_text()
places = dict(re.findall(r'^    PJRT_(\w+) = (\d+),', header, re.M))
STRUCTS = {'ERROR_GET_CODE': 'Error_GetCode', 'PLUGIN_INITIALIZE': 'Plugin_Initialize', 'EVENT_DESTROY': 'Event_Destroy',
           'EVENT_AWAIT': 'Event_Await', 'EVENT_ON_READY': 'Event_OnReady', 'CLIENT_CREATE': 'Client_Create',
           'CLIENT_DESTROY': 'Client_Destroy', 'CLIENT_PLATFORM_NAME': 'Client_PlatformName',
           'CLIENT_PROCESS_INDEX': 'Client_ProcessIndex', 'CLIENT_PLATFORM_VERSION': 'Client_PlatformVersion',
           'CLIENT_ADDRESSABLE_DEVICES': 'Client_AddressableDevices', 'CLIENT_COMPILE': 'Client_Compile',
           'CLIENT_BUFFER_FROM_HOST_BUFFER': 'Client_BufferFromHostBuffer',
           'DEVICE_DESCRIPTION_KIND': 'DeviceDescription_Kind', 'DEVICE_GET_DESCRIPTION': 'Device_GetDescription',
           'EXECUTABLE_DESTROY': 'Executable_Destroy', 'EXECUTABLE_NAME': 'Executable_Name',
           'EXECUTABLE_CODE_SIZE': 'Executable_SizeOfGeneratedCodeInBytes',
           'EXECUTABLE_OPTIMIZED_PROGRAM': 'Executable_OptimizedProgram',
           'LOADED_EXECUTABLE_DESTROY': 'LoadedExecutable_Destroy',
           'LOADED_EXECUTABLE_GET_EXECUTABLE': 'LoadedExecutable_GetExecutable',
           'LOADED_EXECUTABLE_EXECUTE': 'LoadedExecutable_Execute',
           'EXECUTABLE_DESERIALIZE_AND_LOAD': 'Executable_DeserializeAndLoad',
           'BUFFER_ON_DEVICE_SIZE': 'Buffer_OnDeviceSizeInBytes', 'BUFFER_COPY_TO_DEVICE': 'Buffer_CopyToDevice',
           'BUFFER_TO_HOST_BUFFER': 'Buffer_ToHostBuffer', 'BUFFER_READY_EVENT': 'Buffer_ReadyEvent', 'COMPILE': 'Compile',
           'BUFFER_COPY_TO_MEMORY': 'Buffer_CopyToMemory', 'BUFFER_COPY_RAW_TO_HOST': 'Buffer_CopyRawToHost',
           'TRANSFER_MANAGER_TRANSFER_DATA': 'AsyncHostToDeviceTransferManager_TransferData'}
SIZES = {'Event_OnReady': 40, 'LoadedExecutable_Execute': 80, 'Client_Compile': 56, 'Compile': 64, 'Buffer_ToHostBuffer': 56,
         'Client_BufferFromHostBuffer': 120, 'Buffer_CopyRawToHost': 56, 'Executable_OptimizedProgram': 32,
         'AsyncHostToDeviceTransferManager_TransferData': 72, 'Buffer_ReadyEvent': 32, 'Executable_Name': 40}
check(set(places) - {'ERROR_DESTROY', 'ERROR_MESSAGE', 'ENTRIES'} == set(STRUCTS), set(places) ^ set(STRUCTS))
for name, path in plugins.items():
    said = ask('abi', path, *[places[key] for key in STRUCTS])
    print(name, {key: value for key, value in said.items() if key != 'entries'})
    check(said.get('version', [1])[0] == 0 and said['size'] >= 40 + 8 * 104, (name, said))
    check(said['extension'] >= 32 and said['profiler'] >= 80, (name, said))
    for key, struct in STRUCTS.items():
        answer = said['entries'].get(places[key])
        spelt = f'PJRT_{struct}'.lower()
        check(answer and answer[0].lower() in (spelt, spelt + '_args'), (name, key, answer))
        check(struct not in SIZES or answer[1] == SIZES[struct], (name, key, answer))

# --- the profilers, through the interposer ---
for name, path in plugins.items():
    session = ROOT / f'session_{name}'
    (session / '.idsprof').mkdir(parents=True)
    through = ask('session', SHIM, 'client', IDSPROF_SESSION=str(session), IDSPROF_PLAN='start_step=5;steps=5;run=R',
                  IDSPROF_PJRT_LIBRARY=str(path))
    alone = ask('session', path, 'client')
    hello = ''.join(file.read_text() for file in session.glob('.idsprof/*.hello'))
    print(name, 'alone', alone, 'interposed', through)
    for said in (alone, through):
        check(said.get('initialize', 'x') is None and said.get('lent') and said['size'] > 0 and said['trailing_zero'], (name, said))
    check(through.get('client') == alone.get('client'), (name, through, alone))
    check(str(path) in hello and '"closed"' in hello, (name, hello))

# --- compile time and HLO of an ahead-of-time compilation, by jax itself ---
run = subprocess.run([os.environ['IDSPROF'], 'capture', '-o', ROOT / 'out', '--delay', '10ms', '--duration', '100s', '--', PYTHON,
                      str(HERE / 'pjrt_ahead.py')], capture_output=True, text=True, timeout=400,
                     env={**os.environ, 'JAX_PLATFORMS': 'cpu'})
check(run.returncode == 0, run.stderr[-2000:])
seconds = float((re.search(r'seconds (\S+)', run.stdout) or ['', '0'])[1])
planes = [plane for file in (ROOT / 'out').glob('*/plugins/profile/*/*.xplane.pb') for plane in oracle.load(file)]
calls = [event for plane in planes if plane.name == b'/host:idsprof.pjrt' for line in plane.lines for event in line.events]
compiles = [event for event in calls if event.name == b'PJRT_Client_Compile:#module=jit_train#']
check(len(compiles) == 1, [event.name for event in calls])
for event in compiles:
    stats = dict(event.stats)
    print('compiled in', event.dur / 1e12, 's of', seconds, 's', stats)
    check(0.3 * seconds < event.dur / 1e12 <= seconds, (event.dur, seconds))
    check(int(stats[b'hlo_bytes'][2:]) > 1000 and int(stats[b'code_bytes'][2:]) > 1000, stats)
programs = [name for plane in planes if plane.name == b'/host:metadata' for name, stats in plane.metadata.values()
            if any(key == b'hlo_proto' for key, _ in stats)]
check(any(name.startswith(b'jit_train(') for name in programs), programs)
listed = subprocess.run([os.environ['IDSPROF'], 'extract', next((ROOT / 'out').glob('*')), '-f', 'hlo', '-o', ROOT / 'hlo'],
                        capture_output=True, text=True)
check(listed.returncode == 0, listed.stderr)

# --- plugins without devices: jax falls back to the CPU, and neither our window nor the program's own profile ends it, though the
# latter does so without us where the sizes of the profilers' tables differ (jaxlib 0.10.2 and libtpu 0.0.51) ---
bare = subprocess.run([PYTHON, str(HERE / 'pjrt_loop.py')], capture_output=True, text=True, timeout=200)
crashed = subprocess.run([PYTHON, str(HERE / 'pjrt_loop.py'), 'profile'], capture_output=True, text=True, timeout=200)
print('the program\'s own profile without idsprof:', 'ends with', crashed.returncode)
run = subprocess.run([os.environ['IDSPROF'], 'capture', '-o', ROOT / 'loop', '-s', '10', '-k', '5', '--', PYTHON,
                      str(HERE / 'pjrt_loop.py'), 'profile'], capture_output=True, text=True, timeout=400)
check(run.returncode == 0 and 'profiled' in run.stdout and bare.stdout.strip() in run.stdout, (run.stdout, run.stderr[-1500:]))
check("steps 10-14 (annotation 'train')" in run.stderr, run.stderr[-1500:])

# --- in whatever way jax finds the real libtpu, and the CUDA plugin: the same device, the same text ---
ways = subprocess.run([sys.executable, str(HERE / 'test_plugin_ways.py')], capture_output=True, text=True, timeout=900,
                      env={**os.environ, 'IDS_LIBTPU': str(site / 'libtpu')})
print(ways.stdout)
check(ways.returncode == 0, ways.stdout[-2000:] + ways.stderr[-1000:])
for platform in ('cuda', ''):
    asked = [PYTHON, '-c', 'import jax\ntry: print(jax.devices())\nexcept Exception as error: print(error)']
    said = [subprocess.run([*command, *asked], capture_output=True, text=True, timeout=200, env={**os.environ, 'JAX_PLATFORMS': platform})
            for command in ([], [os.environ['IDSPROF'], 'capture', '--keep-empty', '-o', ROOT / 'cuda', '--'])]
    check(said[0].stdout == said[1].stdout and said[0].stdout, [done.stdout for done in said])

for failure in failures:
    print('FAIL', failure)
sys.exit(bool(failures))
