#!/usr/bin/env python3
"""What the hook says of collections of Python's garbage collector (collectors/python/_idsprof/idsprof_garbage.py), without jax: a stand-in of
jaxlib's TraceMe (tests/support/hook_test.py) notes names and ends.

Environment: IDS_SOURCE_DIR.  Exit: 0, 1.
"""
import gc
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/support')
from hook_test import Profiler, check, failed, noted  # noqa: E402  (found through the line above)
import _idsprof.idsprof_agent as agent  # noqa: E402  (found by hook_test)
from _idsprof.idsprof_counts import RESERVE, ROOM, count, reserve, restore  # noqa: E402
from _idsprof.idsprof_garbage import Garbage  # noqa: E402


def collect(generation):
    noted.clear()
    line = sys._getframe().f_lineno + 1
    gc.collect(generation)
    return line


gc.disable()
garbage = Garbage(Profiler)
collect(2)
check('no window is open', noted == [], noted)
garbage.on()
garbage.on()
line = collect(2)
check('a collection is recorded once, at its line', noted == ['$test_garbage.py:%d collect garbage' % line, 'end'], noted)
line = collect(1)
check('of the middle generation too', noted[:1] == ['$test_garbage.py:%d collect garbage' % line], noted)
collect(0)
check('of the youngest none', noted == [], noted)
noted.clear()
json.loads('{"a": 1}', object_pairs_hook=lambda pairs: gc.collect())
check('inside a library: the innermost line of the program', len(noted) == 2 and re.fullmatch(r'\$test_garbage\.py:\d+ collect garbage', noted[0]), noted)
agent.quiet(gc.collect)()
check('in our own work: at our line', len(noted) == 4 and re.fullmatch(r'\$idsprof_agent\.py:\d+ collect garbage', noted[2]), noted)
made = []
gc.set_threshold(10, 1, 1)
gc.enable()
noted.clear()
made.extend({'number': [i]} for i in range(5000))
gc.disable()
check('collections that come by themselves, each with its end', len(noted) > 10 and noted[1::2] == ['end'] * (len(noted) // 2), noted[:6])
garbage.off()
garbage.off()
collect(2)
check('the window is closed', noted == [] and len(gc.callbacks) == 0, (noted, gc.callbacks))
told, took = [], []
watched = Garbage(Profiler, lambda *said: told.append(said), took.append)


def heap(count):
    return [{'number': [number]} for number in range(count)]


kept = heap(300000)         # a collection looks through it for some milliseconds
watched.watch()
before_ns = time.time_ns()
line = collect(2)
check('between windows: told afterwards, once, by thread and time', len(told) == 1 and told[0][0] == threading.get_ident() and noted == []
      and told[0][3] == '$test_garbage.py:%d collect garbage' % line and before_ns <= told[0][1] < told[0][2] <= time.time_ns(), told)
check('and how long it took', took == [told[0][2] - told[0][1]], (took, told))
told.clear()
took.clear()
watched.on()
collect(2)
check('in a window: recorded alone', len(noted) == 2 and not told, (noted, told))
check('and how long it took, too', len(took) == 1 and 1000000 <= took[0] < 60000000000, took)
took.clear()
watched.off()
kept = None
gc.freeze()
collect(2)
check('between windows a short one is not told', not told and noted == [] and not took, (told, noted, took))
gc.unfreeze()


class Opens:
    """Garbage whose end lets another thread open the window in the middle of the collection."""
    def __del__(self):
        watched.on()


kept = heap(300000)
opens = Opens()
opens.itself = opens
del opens
collect(2)
check('a window that opens in the middle: told', len(told) == 1 and noted == [], (told, noted))
watched.off()
watched.unwatch()
told.clear()
collect(2)
check('not watched any more', not told and len(gc.callbacks) == 0, (told, gc.callbacks))
kept = None


# --- the count of objects, below which nothing is collected ---

class Made:
    __slots__ = ('of',)


def count_after(work, before=400):
    """What the count is before work of ours and after it, and the lowest that it was at the work's beginning."""
    gc.collect()
    gc.disable()
    restore(count())        # a collection of all empties the places that freed tuples are taken from
    filling = [Made() for _ in range(before)]
    start = gc.get_count()[0]
    counted = count()
    seen = gc.get_count()[0]
    work()
    restore(counted)
    end = gc.get_count()[0]
    return start, end, seen, len(filling)


keeps = []
start, end, seen, _ = count_after(lambda: keeps.extend(Made() for _ in range(90)))
check('what our work keeps is not counted', end == start, (start, end))
check('and it has room', seen <= start - ROOM + 8, (start, seen))
start, end, _, _ = count_after(keeps.clear)
check('nor what it gives back', end == start and len(reserve) > RESERVE - 20, (start, end, len(reserve)))
start, end, _, _ = count_after(lambda: keeps.extend(Made() for _ in range(60)), 20)
check('of a count that has just begun', end == start, (start, end))
keeps.clear()
gc.set_threshold(700, 10, 10)
start, end, _, _ = count_after(lambda: gc.collect(0), 600)
check('a collection meanwhile: the next one comes no sooner', end <= 360, (start, end))
del reserve[:]
start, end, _, _ = count_after(lambda: keeps.extend(Made() for _ in range(90)))
check('without a reserve it is counted', start + 90 <= end < start + 100 and not reserve, (start, end))
keeps.clear()
ends = '''import gc, sys
sys.path.insert(0, sys.argv[1])
from hook_test import Profiler
from _idsprof.idsprof_garbage import Garbage
Garbage(Profiler).on()
'''
ended = subprocess.run([sys.executable, '-c', ends, os.environ['IDS_SOURCE_DIR'] + '/tests/support'], capture_output=True, text=True)
check('Python ends in a window: not a word', (ended.returncode, ended.stdout, ended.stderr) == (0, '', ''), ended)
fails = '''import gc, sys
sys.path.insert(0, sys.argv[1])
import hook_test
from _idsprof.idsprof_garbage import Garbage
class Profiler:
    class TraceMe:
        def __init__(self, name):
            if sys.argv[2] == 'made':
                raise ValueError(name)
        def __enter__(self):
            if sys.argv[2] == 'begun':
                raise RuntimeError('begun')
        def __exit__(self, *exception):
            raise RuntimeError('ended')
garbage = Garbage(Profiler)
garbage.on()
gc.collect()
gc.collect()
garbage.off()
'''
for where in 'made', 'begun', 'ended':
    done = subprocess.run([sys.executable, '-c', fails, os.environ['IDS_SOURCE_DIR'] + '/tests/support', where], capture_output=True, text=True)
    check('the profiler fails when it is %s: not a word' % where, (done.returncode, done.stdout, done.stderr) == (0, '', ''), done)
sys.exit(bool(failed))
