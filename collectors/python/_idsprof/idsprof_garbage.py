"""idsprof_garbage.py - the collections of Python's garbage collector: in a window on the thread that made them, and for the history of steps.

No frame tells of them: a sample in one sees the line that happened to make an object. So each is recorded as the line of the program at
which it came: "$train.py:8 collect garbage", as frames are called. Those of the youngest generation are left out: they take microseconds,
and may come thousands of times a second.

A collection holds Python's lock: a window that opens in its middle is not open here until it has ended. So those between windows are told
afterwards, for the samples of their time (spells.h); and the history of steps is told how long each took, in windows and between them.

Our own work leaves the count of objects as it was (idsprof_counts.py). A collection that begins in it all the same is named at our line.
"""
import gc
import os
import sys
import threading
import time

from .idsprof_awaits import is_of_library
from .idsprof_cells import file_of
from .idsprof_hidden import hidden


SHORTEST_NS = 1000000           # a shorter one makes no step slow
OWN, AROUND_WAITS = os.path.split(os.path.abspath(__file__))[0], 'idsprof_awaits.py'       # the latter's frames are around the program's loop


class Garbage:
    """From on() to off(), which are around a window; from watch() on also those between windows."""

    def __init__(self, profiler, spell=None, note=None):
        """spell(thread, begin_ns, end_ns, name) is told of one that no window saw begin, note(took_ns) of each."""
        self.profiler, self.spell, self.note, self.open = profiler, spell, note, None
        self.is_on = self.is_watched = False
        self.called = hidden(self.noted)
        self.since_ns = 0               # when the one that runs began

    def on(self):
        self.is_on = True
        self._follow()

    def off(self):
        self.is_on = False
        self._follow()

    def watch(self):
        self.is_watched = True
        self._follow()

    def unwatch(self):
        self.is_watched = False
        self._follow()

    def _follow(self):
        is_wanted, is_there = self.is_on or self.is_watched, self.called in gc.callbacks
        if is_wanted and not is_there:
            gc.callbacks.append(self.called)
        elif is_there and not is_wanted:
            gc.callbacks.remove(self.called)

    def noted(self, phase, info):
        """Called by the collector, which runs once in a process at a time."""
        try:
            if phase == 'start' and info.get('generation'):
                self.since_ns = time.time_ns()
                if self.is_on:
                    self.open = self.profiler.TraceMe(name_at(sys._getframe(1)))
                    self.open.__enter__()
            elif phase == 'stop' and self.since_ns:
                since_ns, now_ns, self.since_ns = self.since_ns, time.time_ns(), 0
                done, self.open = self.open, None
                if done is not None:
                    done.__exit__(None, None, None)
                if now_ns - since_ns < SHORTEST_NS:
                    return
                if self.note:
                    self.note(now_ns - since_ns)
                if self.spell and done is None:
                    self.spell(threading.get_ident(), since_ns, now_ns, name_at(sys._getframe(1)))
        except Exception:               # what is raised here Python prints into the program's streams; ValueError: it ends, nobody called
            self.open, self.since_ns = None, 0


def is_passed(frame):
    """Whether who made the object is further out."""
    folder, file = os.path.split(frame.f_code.co_filename)
    return file == AROUND_WAITS if folder == OWN else is_of_library(frame)


def name_at(inner):
    """After the innermost line of the program's own, where there is one, or of ours."""
    own = inner
    while own is not None and is_passed(own):
        own = own.f_back
    frame = own or inner
    return '$%s:%d collect garbage' % (file_of(frame.f_code.co_filename), frame.f_lineno or 0)
