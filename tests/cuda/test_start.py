#!/usr/bin/env python3
"""What the collector for CUDA costs a program's cuInit, at best, for other things run on this machine: 1 ms, where starting /bin/true
takes 0.5 ms. Machines differ, and both are the same kind of work (map a library, make a thread or a process), so slower ones have as
many times that. It is a test of its own because it measures: nothing else of ours runs beside it (IDS_TIMED_TESTS in cmake/tests.cmake).
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_BUILD_DIR, TMPDIR.  Exit: 0, 1.
"""
import os
import subprocess
import sys
import time

SOURCE, STUBS = os.environ['IDS_SOURCE_DIR'], os.environ['IDS_BUILD_DIR'] + '/stubs'
FEWEST = 5
SECONDS = 60  # how long a machine may be busy with something else


def start_of_true():
    begun = time.perf_counter()
    os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
    return (time.perf_counter() - begun) * 1e3


def start_of_cuda(number):
    """(what the collector answered, ms of loading it, ms of its beginning) of each cuInit, as the double of the driver wrote them."""
    where = '%s/start%d' % (os.environ['TMPDIR'], number)
    environment = dict(os.environ, STUB_RECORDING=SOURCE + '/tests/cuda/small.cupti', STUB_TIMES=where + '.times',
                       LD_LIBRARY_PATH=STUBS + '/cupti13', CUDA_HOME=where)
    subprocess.run([os.environ['IDSPROF'], 'capture', '--keep-empty', '-o', where, '--delay', '10s', '--', STUBS + '/program', 'init'],
                   capture_output=True, env=environment, timeout=60, check=True)
    return [tuple(float(x) for x in line.split()) for line in open(where + '.times')]


times, trues = [], []
begun = time.monotonic()
while len(times) < FEWEST or (min(t[1] + t[2] for t in times) > max(1, 2 * min(trues)) and time.monotonic() - begun < SECONDS):
    times += start_of_cuda(len(times))
    trues.append(start_of_true())
best, limit = min(t[1] + t[2] for t in times), max(1, 2 * min(trues))
print('start: %.3f ms at best of %d; /bin/true %.3f ms' % (best, len(times), min(trues)))
if not all(t[0] == 1 for t in times):
    sys.exit('the collector did not begin: %s' % times)
if best > limit:
    sys.exit('FAIL: %.3f ms at best, at most %.3f' % (best, limit))
