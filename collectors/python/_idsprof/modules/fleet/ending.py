"""How Ctrl-C, SIGTERM and SIGHUP end the command: what is at work is ended, and what it wrote is removed.

A thread does it, which hears of signals through a pipe that C writes into. Python's handler alone would not do: a signal that comes in the moment
in which the main thread begins to wait does not wake it, and what a handler raises is lost in some places and leaves locks taken in others.
"""
import ctypes
import os
import signal
import threading
import time

from idsprof.fleet import program

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS = 3             # for what is at work
_is_main_done = threading.Event()


def _on_signal(_number, _frame):
    """So that the main thread waits no more for a store or a scheduler. Where it does not hear of it, the command ends all the same."""
    if program.refuse():
        raise KeyboardInterrupt


def _next(heard):
    while True:
        number = os.read(heard, 1)[0]
        if number in SIGNALS:
            return number


def _leave(number):
    """Without waiting for threads that a store keeps."""
    if number != signal.SIGINT:
        ctypes.CDLL(None).signal(number, None)      # signal.signal() is for the main thread alone
        os.kill(os.getpid(), number)
    os._exit(2)


def _end(number, say):
    try:
        program.stop(SECONDS)
        _is_main_done.wait(SECONDS)
        program.remove_folders()
        say()                           # into what may be closed
    finally:
        _leave(number)


def _watch(heard, say):
    threading.Thread(target=_end, args=(_next(heard), say), daemon=True).start()
    _leave(_next(heard))                # another one ends it at once


def listen(say):
    """From here on signals end the command, but for those that whoever began it has it ignore. say: called when all is ended."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(heard, say), daemon=True).start()
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _on_signal)


def give_way():
    """At the main thread's end. Where a signal ends the command this does not return."""
    while program.is_stopped():
        _is_main_done.set()
        try:
            time.sleep(SECONDS)
        except KeyboardInterrupt:
            pass
