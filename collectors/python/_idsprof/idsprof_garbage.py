"""idsprof_garbage.py - the collections of Python's garbage collector while a window is open, on the thread that made them.

No frame tells of them: a sample in one sees the line that happened to make an object. So each is recorded as the line of the program at
which it came: "$train.py:8 collect garbage", as frames are called. Those of the youngest generation are left out: they take microseconds,
and may come thousands of times a second.
"""
import gc
import os
import sys

from .idsprof_awaits import is_of_library


class Garbage:
    """From on() to off()."""

    def __init__(self, profiler):
        self.profiler, self.open = profiler, None

    def on(self):
        if self.noted not in gc.callbacks:
            gc.callbacks.append(self.noted)

    def off(self):
        if self.noted in gc.callbacks:
            gc.callbacks.remove(self.noted)

    def noted(self, phase, info):
        """Called by the collector, which runs once in a process at a time."""
        try:
            if phase == 'start' and info.get('generation'):
                self.open = self.profiler.TraceMe(name_at(sys._getframe(1)))
                self.open.__enter__()
            elif phase == 'stop' and self.open is not None:
                done, self.open = self.open, None
                done.__exit__(None, None, None)
        except Exception:               # what is raised here Python prints into the program's streams; ValueError: it ends, nobody called
            self.open = None


def name_at(inner):
    """After the innermost line of the program's own, where there is one."""
    own = inner
    while own is not None and is_of_library(own):
        own = own.f_back
    frame = own or inner
    return '$%s:%d collect garbage' % (os.path.basename(frame.f_code.co_filename), frame.f_lineno or 0)
