#!/usr/bin/env python3
"""Profilers and debuggers of the program are told of no function of the hook, with real JAX on the CPU: what they count of a loop is what they
count of it without a capture.

    test_profilers.py [CASE ...]     only these
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import subprocess
import sys

import test_capture as live
from test_capture import PYTHON, ROOT, capture, check

LOOP = '''import collections, contextlib, cProfile, gc, pstats, sys
import jax, jax.numpy as jnp
kind, is_annotated = sys.argv[1], sys.argv[2] == 'annotated'
step, x = jax.jit(lambda x: x * .5 + 1), jnp.ones(8)
def annotated(i):
    return jax.profiler.StepTraceAnnotation('train', step_num=i) if is_annotated else contextlib.nullcontext()
def loop():
    for i in range(60):
        with annotated(i):
            step(x).block_until_ready()
def compiles():
    jax.jit(lambda x: x * .25)(x).block_until_ready()
    gc.collect(1)
seen, of_loop = collections.Counter(), {}
def told(frame, event, what):
    seen[frame.f_code.co_name, event] += 1
    seen['idsprof' in frame.f_code.co_filename] += 1
    return told
loop()      # what is compiled, is
if kind == 'cProfile':
    profile = cProfile.Profile()
    profile.runcall(loop)
    profile.runcall(compiles)
    for (file, line, name), (calls, *_rest) in pstats.Stats(profile).stats.items():
        seen[name] += calls
        seen['idsprof' in file or 'hidden' in name] += 1
else:
    follow = getattr(sys, kind)
    follow(told)
    loop()
    follow(None)
    of_loop = dict(seen)
    follow(told)
    compiles()
    follow(None)
print(seen.pop(True, 0), sorted(map(str, of_loop.items())))
'''
PROGRAM = ROOT / 'followed.py'
PROGRAM.write_text(LOOP)


def counted(kind, way):
    alone = subprocess.run([PYTHON, PROGRAM, kind, way], capture_output=True, text=True)
    run = capture(['-s', 80, '-k', 6], kind, way, program=PROGRAM)
    check('%s, %s: the program runs' % (kind, way), alone.returncode == run.code == 0 and alone.stdout.startswith('0 '), (alone.stderr, run.err))
    check('%s, %s: there is a window' % (kind, way), run.line('caught').startswith('steps '), run.err)
    check('%s, %s: none of it is seen' % (kind, way), run.out.startswith('0 '), run.out[:100])
    check('%s, %s: and nothing else' % (kind, way), run.out == alone.stdout, (run.out, alone.stdout))


def profile():
    for kind in 'setprofile', 'cProfile':
        counted(kind, 'counted')


def trace():
    counted('settrace', 'counted')


CASES = [profile, trace]


def main():
    live.need_jax()
    if subprocess.run([PYTHON, '-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).returncode:
        print('Python cannot hide functions before 3.11')
        return 77
    return live.run_cases(CASES)


if __name__ == '__main__':
    sys.exit(main())
