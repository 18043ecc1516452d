#!/usr/bin/env python3
"""--jobs: any number of threads reports the same, byte for byte, and says the same of what is wrong; their databases
of all events are the same too.

Profiles of testdata; made ones in which every thing that tracks have in common is met first on another track than the first; damaged
ones; and one above the memory that a report may take. Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SANITIZED = os.environ.get('IDS_SANITIZE') == '1' # its shadow needs more than any limit leaves
sys.path[:0] = [str(SOURCE / 'tests' / 'fault')]
from xspace import Plane, Ref, blob, number, space  # noqa: E402

failures = []


def report(path, jobs, limit=None, of=resource.RLIMIT_DATA):
    """Exit code, standard output and error."""
    def bound():
        resource.setrlimit(of, (limit, limit))
    done = subprocess.run([IDSPROF, 'report', '--json', '--no-cache', f'--jobs={jobs}', str(path)], capture_output=True, timeout=300,
                          preexec_fn=bound if limit else None)
    return done.returncode, done.stdout, done.stderr


def database(path, jobs):
    """Its bytes, if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / 'run.db'
        done = subprocess.run([IDSPROF, 'import', '--quiet', f'--jobs={jobs}', str(path), '-o', str(made)], capture_output=True, timeout=300)
        return done.returncode, done.stderr, made.read_bytes() if made.exists() else b''


def compare(path, what, status=None, has=b'', **limited):
    one = report(path, 1, **limited)
    if status is not None and one[0] != status:
        failures.append(f'{what}: exit {one[0]}, not {status}: {one[2][-300:]}')
    if has not in one[1] + one[2]:
        failures.append(f'{what}: no {has} in the report')
    for jobs in 2, 16:
        if report(path, jobs, **limited) != one:
            failures.append(f'{what}: {jobs} jobs say something else than one')
    if not limited and len({database(path, jobs) for jobs in (1, 2, 16)}) > 1:
        failures.append(f'{what}: databases differ by the number of jobs')


# ---- made profiles ----

def streams():
    """Streams of a GPU whose ops, texts and shapes come one after the other, and again in another order."""
    gpu = Plane('/device:GPU:0', {'device_vendor': 'Nvidia', 'compute_cap_major': 8, 'compute_cap_minor': 0, 'core_count': 108})
    host = Plane('/host:CPU')
    for stream in range(6):
        gpu.line(stream, f'Stream #{stream}(Kernel)')
        host.line(stream, f'thread {stream}')
        for i in range(40):
            turn = (i * 7 + stream * 11) % 30
            link = stream * 1000 + i + 1
            gpu.event(f'kernel{turn}', (i * 100 + stream) * 1000, 60000, {
                'correlation_id': link, 'hlo_op': f'fusion.{turn}', 'hlo_module': f'jit_f{turn % 3}',
                'kernel_details': f'regs:{turn + 16} static_shared:0 dynamic_shared:0 grid:{turn + 1},1,1 block:128,1,1 occ_pct:50'})
            host.event('cuLaunchKernel', (i * 100 + stream) * 1000 - 5000, 1000, {'correlation_id': link})
    for stream in 6, 7:
        gpu.line(stream, f'Stream #{stream}(Compute)')
        for i in range(20):
            turn = (i * 3 + stream) % 9
            gpu.event('ampere_sgemm', (i * 100 + stream) * 1000 + 70000, 9000,
                      {'correlation_id': 9000 + stream * 100 + i, 'tf_op': 'x', 'annotation': f'model/layer{turn}/dot:MatMul'})
    return space([gpu, host])


def threads():
    """Ops of a CPU with ends on other threads, regions, Python frames that are open around them, and allocators."""
    plane = Plane('/host:CPU')
    for thread in range(6):
        plane.line(thread + 1, f'tf_XLAPjRtCpuClient/{thread}')
        for i in range(30):
            at, turn = (i * 200 + thread * 3) * 1000000, (i * 5 + thread * 7) % 20
            device = 8 if thread == 3 and not i % 5 else (turn + thread) % 8 # of the last one no other thread runs ops
            plane.event(f'op.{turn}', at, 50000000, {
                'hlo_op': f'op.{turn}', 'hlo_module': f'jit_g{turn % 4}', 'device_ordinal': device, 'run_id': i,
                'producer_type': 7, 'producer_id': thread * 100 + i})
            if thread == 5: # the last of the threads is the only one to say so
                plane.event('Rendezvous', at + 10000000, 20000000)
            plane.event(f'end: op.{turn}', at + (60 + thread) * 1000000, 0,
                        {'consumer_type': 7, 'consumer_id': (thread + 1) % 6 * 100 + i})
    for thread in range(4):
        plane.line(100 + thread, 'python')
        for i in range(25):
            at, turn = (i * 300 + thread) * 1000000, (i + thread * 6) % 13
            plane.event(f'$train.py:{turn} part{turn}', at, 200000000)
            plane.event(f'$dataset.py:{turn + 1} fetch{turn}', at + 1000000, 40000000)
            plane.event('PjitFunction(step)', at + 50000000, 90000000)
            plane.event(f'block_until_ready{turn}', at + 60000000, 10000000)
            plane.event('MemoryAllocation', at + 2000000, 0, {
                'allocator_name': f'GPU_{turn % 3}_bfc', 'addr': 1 + thread * 1000 + i,
                'bytes_allocated': 1000 * i, 'bytes_available': 5000000, 'peak_bytes_in_use': 90000,
                'allocation_bytes': 1000, 'tf_op': f'layer{turn}', 'region_type': 'temp', 'shape': f'[{turn}]'})
    return space([plane])


def categories():
    """What an event of one thread says of its name holds for those of the next ones, but not of those before."""
    plane = Plane('/host:CPU')
    for thread in range(8):
        plane.line(thread + 1, f'thread {thread}')
        for i in range(12):
            at = (i * 100 + thread) * 1000000
            plane.event('input', at, 60000000, {'cat': Ref('runtime')} if thread == 4 else {})
            plane.event('cuLaunchKernel', at + 70000000, 1000000, {'correlation_id': thread * 100 + i + 1})
    gpu = Plane('/device:GPU:0')
    gpu.line(1, 'Stream #1(Kernel)')
    for thread in range(8):
        for i in range(12):
            gpu.event('kernel', (i * 100 + 90 + thread) * 1000000, 900000, {'correlation_id': thread * 100 + i + 1})
    return space([plane, gpu])


def lost_names():
    """Names that no table holds: one of them on several lines."""
    plane = Plane('/host:CPU')
    for thread in range(6):
        plane.line(thread + 1, f'thread {thread}')
        for i in range(5):
            plane.lines[-1][1].append(number(1, 900 + (i * thread) % 4) + number(2, i * 1000000) + number(3, 500000))
            plane.event('known', i * 1000000 + 500000, 1000)
    return space([plane])


def many_kernels(*counts):
    """A GPU for each, with so many kernels on four streams."""
    planes = []
    for device, count in enumerate(counts):
        gpu = Plane(f'/device:GPU:{device}')
        for stream in range(4):
            gpu.line(stream + 1, f'Stream #{stream}(Kernel)')
            for i in range(count // 4):
                gpu.event('k', i * 1000, 700, {'correlation_id': 1})
        planes.append(gpu)
    return space(planes)


def many_entries(kernels, steps):
    """Two GPUs with as many kernels each, none of them twice, in as many steps."""
    planes = []
    for device in range(2):
        gpu = Plane(f'/device:GPU:{device}')
        gpu.line(1, 'Stream #1(Kernel)')
        for i in range(kernels):
            gpu.event(f'kernel{device}_{i}', i * 1000000, 700000, {'correlation_id': i + 1})
        if steps:
            gpu.line(2, 'Steps')
            for i in range(steps):
                gpu.event(f'{i}', i * 1000000 * kernels // steps, 1000000 * kernels // steps)
        planes.append(gpu)
    return space(planes)


def many_regions(each):
    """Two GPUs that work one after the other, and a thread with two regions in each gap, none of them twice. Where the second GPU's are
    more than there is room for, both belong to one culprit, and are one interval."""
    long, host = each * 1000000000, Plane('/host:CPU')
    host.line(1, 'thread')
    planes = [Plane(f'/device:GPU:{device}') for device in range(2)]
    for device, gpu in enumerate(planes):
        gpu.line(1, 'Stream #1(Kernel)')
        gpu.event('long', long if not device else 0, long)
        for i in range(device * each, device * each + each):
            at, link = i * 1000000000, {'correlation_id': i + 1}
            host.event(f'region{i}a', at, 400000000)
            host.event(f'region{i}b', at + 400000000, 400000000)
            host.event('cuLaunchKernel', at + 800000000, 10000000, link)
            gpu.event('k', at + 820000000, 100000000, link)
    return space([*planes, host])


def made(folder):
    def check(name, content, **how):
        path = folder / f'{name}.xplane.pb'
        path.write_bytes(content)
        compare(path, name, **how)
        return content
    check('streams', streams(), status=0, has=b'layer7/dot')
    whole = check('threads', threads(), status=0, has=b'dataset.py')
    check('categories', categories(), status=0)
    check('lost_names', lost_names(), status=0)
    # The limits of the ledger: 12,000 culprits of an account, 4,194,304 sums by step of all devices, and of one device.
    check('many_entries', many_entries(7000, 0), status=0, has=b'(others)')
    check('many_regions', many_regions(4000), status=0, has=b'(others)')
    check('many_sums', many_entries(4500, 480), status=0)
    check('too_many_sums', many_entries(5000, 900), status=0)
    cut = random.Random(22)
    for i in range(12):
        check(f'cut{i}', whole[:cut.randrange(100, len(whole))])
        broken = bytearray(whole)
        for _ in range(3):
            broken[cut.randrange(len(broken))] = cut.randrange(256)
        check(f'broken{i}', bytes(broken))
    if not SANITIZED: # above a fifth of it, and enough for two threads: the first part of the run is reported
        check('too_much', many_kernels(310000), limit=128 << 20, has=b'model.part')
        # The first device fills the room: threads hold nothing of the next one, of which one thread holds nothing either.
        check('too_much_twice', many_kernels(360000, 1700000), limit=128 << 20, has=b'model.part')
        # Threads reserve addresses, which `ulimit -v` counts.
        check('few_addresses', many_kernels(*12 * [40000]), limit=200 << 20, of=resource.RLIMIT_AS, status=0)


def main():
    for path in sorted(SOURCE.glob('testdata/**/*.xplane.pb')):
        compare(path, path.relative_to(SOURCE), status=0)
    for path in [*sorted(SOURCE.glob('testdata/json/*.json*'))[:3], SOURCE / 'testdata' / 'scale' / 'dev8']:
        compare(path, path.relative_to(SOURCE), status=0)
    for path in sorted(SOURCE.glob('testdata/mini/*.mini')):
        if path.read_text(encoding='utf-8').count('\nplane /device:') > 1:
            compare(path, path.name, status=0)
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder))
    wrong = subprocess.run([IDSPROF, 'report', '--jobs=-1', 'x'], capture_output=True, text=True, timeout=60)
    if wrong.returncode == 0 or '--jobs' not in wrong.stderr:
        failures.append(f'--jobs=-1: {wrong.stderr}')
    for failure in failures:
        print(failure)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
