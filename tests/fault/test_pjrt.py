#!/usr/bin/env python3
"""Collector A around the double of a PJRT plugin (tests/pjrt/double.h), with every fault that it knows: the program gets what it gets
without us, and ends in time. Environment: IDSPROF, IDS_BUILD_DIR, IDS_SOURCE_DIR, TMPDIR.
"""
import os
import sys

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/pjrt')
from captures import WINDOW, Capture, alone, check, done, oracle

# --- every fault: the same result, the same exit code, an end in time ---
FAULTS = ['no-profiler', 'table=16', 'table=104', 'extension=24', 'unlent', 'garbage', 'truncated', 'hlo', 'async-error',
          'fail=profiler.create', 'fail=profiler.start', 'fail=profiler.stop', 'fail=profiler.collect', 'fail=profiler.destroy',
          'major=1', 'minor=999', 'functions=60', 'functions=90', 'slow-stop=300', 'process=3', 'fail=0', 'fail=5', 'fail=9',
          'fail=48', 'fail=51', 'fail=55', 'fail=64', 'fail=72', 'run=500']
words = ['client', 'compile:train', 'run:12', 'copy:64']
for fault in FAULTS:
    fault_words = [word for word in words if not (fault == 'functions=60' and word.startswith('copy'))]
    run = Capture(WINDOW, fault_words, faults=fault)
    check((run.code, run.out) == alone(fault_words, fault), (fault, run.code, run.out, run.err))
    unseen = fault in ('major=1',) or fault.startswith(('fail=profiler.create', 'fail=profiler.start'))
    check(len(run.files) == (0 if unseen else 1), (fault, run.files, run.err))
    for path in run.files:
        check(oracle.load(path) is not None, (fault, path))

# --- a device that never completes, a profiler that does not come back: bounded, and said ---
words = ['client', 'compile:train', 'launch:12', '_exit:0']
run = Capture([*WINDOW, '--stop-timeout', '400ms'], words, faults='hang')
check(run.code == 0, (run.code, run.err))
check('not complete' in run.hello, run.hello)
words = ['client', 'compile:train', 'run:12', 'hello', 'exit:0']
run = Capture([*WINDOW, '--stop-timeout', '200ms'], words, faults='slow-stop=1500')
check(run.code == 0 and 'functions 138' in run.out, (run.code, run.err))
check('"event":"slow"' in run.hello, run.hello)

done()
