#!/usr/bin/env python3
"""`idsprof capture` on a disk that is full, with real JAX on the CPU: before the program, before the first window, between two windows, and
without a free inode. The disk is a small tmpfs in a mount namespace of its own. The program is as it was each time, what was written
before is whole, and what is missing is said.

    test_full_disk.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here (as root it can).
"""
import os
import re
import subprocess
import sys

import test_capture as live
from test_capture import PYTHON, ROOT, Profile, check, idsprof

DISK, KEPT, PROGRAM = ROOT / 'disk', ROOT / 'kept', ROOT / 'fills.py'
# Fills the disk before the step that it is told, as a program does that saves its state: all but so many kilobytes.
PROGRAM.write_text('''import os, sys
import jax, jax.numpy as jnp
disk, at, left = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
step, x = jax.jit(lambda x: (x @ x).sum()), jnp.ones((64, 64))
for i in range(30):
    if i == at:
        try:
            with open(disk + '/taken', 'wb', buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
        except OSError:
            pass
        os.truncate(disk + '/taken', os.path.getsize(disk + '/taken') // 4096 * 4096 - 1024 * left)
    with jax.profiler.StepTraceAnnotation('train', step_num=i):
        step(x).block_until_ready()
print('trained')
''')
NEVER = 1000


class Run:
    """A capture into a tmpfs of its own, whose content is copied out before it is gone."""

    def __init__(self, options, mount, before='', at=NEVER, left=0):
        self.kept = KEPT / str(len(list(KEPT.glob('*'))))
        self.kept.mkdir(parents=True)
        script = 'mount -t tmpfs -o %s none "$0" || exit 99; %s; "$@"; code=$?; rm -f "$0"/taken*; cp -r "$0"/. "%s"; exit $code' % (
            mount, before or ':', self.kept)
        command = [*prefix(), 'sh', '-c', script, DISK, IDSPROF, 'capture', '-o', DISK / 'runs', *options, '--', PYTHON, PROGRAM, DISK, at, left]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.files = sorted(self.kept.glob('runs/*/plugins/profile/*/*.xplane.pb'))

    def line(self, what):
        found = re.search(rf'^idsprof: {what} +(.*(?:\n {{10,}}.*)*)', self.err, re.M)
        return re.sub(r'\n +', ' ', found[1]) if found else ''


IDSPROF = live.IDSPROF


def prefix():
    return ['unshare', '--mount'] + ([] if os.geteuid() == 0 else ['--map-root-user'])


def as_it_was(what, run):
    check(what + ': the program is as it was', (run.code, run.out) == (0, 'trained\n'), (run.code, run.out, run.err))


def before_all():
    run = Run(['-s', '5'], 'size=256k', before='head -c 1m /dev/zero >"$0/taken" 2>/dev/null')
    check('full before the program: an error that says what to do', run.code == 2 and 'No space left on device' in run.err and run.out == '', (run.code, run.err))
    run = Run(['-s', '5'], 'size=1m,nr_inodes=2')
    check('no inodes before the program: an error', run.code == 2 and 'No space left on device' in run.err and run.out == '', (run.code, run.err))


def first_window():
    run = Run(['-s', '20'], 'size=2m', at=10)
    as_it_was('full before the first window', run)
    check('full before the first window: said', re.search(r"the disk of '.*' is full", run.line('missed')) and
          'room' in run.line('next') + run.line('missed'), run.err)
    check('full before the first window: no part of a file is left', not run.files, run.files)
    run = Run(['-s', '20'], 'size=2m', at=10, left=4)
    as_it_was('4 kB are left', run)
    check('4 kB are left: said', 'full' in run.line('missed') or 'No space left' in run.line('missed'), run.err)
    check('4 kB are left: no part of a file is left', not run.files, run.files)


def second_window():
    run = Run(['-s', '5', '-k', '3', '--every', '15', '--max', '2'], 'size=2m', at=12)
    as_it_was('full between windows', run)
    check('full between windows: the first one is kept', len(run.files) == 1 and [n for _, n in Profile(run.files[0]).steps] == [5, 6, 7], run.err)
    check('full between windows: the second one is said', re.match("window 2 .*(is full|No space left on device)", run.line('missed')), run.err)
    check('full between windows: what to do', 'room' in run.line('missed'), run.err)
    done = idsprof('report', run.files[0].parent) if run.files else None
    check('full between windows: the first one is read', done and done.returncode == 0, run.err)


def inodes():
    fill = 'i=0; while touch "$0/taken$i" 2>/dev/null; do i=$((i+1)); done; rm -f "$0/taken0" "$0/taken1" "$0/taken2" "$0/taken3" "$0/taken4" "$0/taken5"'
    run = Run(['-s', '5'], 'size=2m,nr_inodes=64', before=fill)
    as_it_was('few inodes', run)
    check('few inodes: a window, or what is in its way', run.files or 'No space left' in run.line('missed') or 'full' in run.line('missed'), run.err)


CASES = [before_all, first_window, second_window, inodes]


def main():
    live.need_jax()
    DISK.mkdir()
    can = subprocess.run([*prefix(), 'mount', '-t', 'tmpfs', 'none', str(DISK)], capture_output=True, text=True)
    if can.returncode:
        live.absent('no file system can be mounted in a namespace here: %s' % (can.stderr.strip() or can.returncode))
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
