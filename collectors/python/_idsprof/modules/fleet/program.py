"""The program idsprof, here and on workers."""
import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
import time

import idsprof

from idsprof.fleet.errors import Error

SECONDS = 3600      # one run of the program; what takes longer hangs
_own = threading.local()
_lock = threading.Lock()        # what begins under it has begun, or never does, when all is ended
_all = set()            # that run now
_folders = set()        # that are there now
_is_stopped = False


@functools.lru_cache(maxsize=1)
def path():
    found = idsprof._program()
    if found is None:
        raise Error('the program idsprof is not there: pip install idsprof, or put it on PATH')
    return os.path.abspath(found)


def run(arguments, folder=None, seconds=SECONDS):
    """Its exit status, standard output and standard error. A negative status is a signal."""
    return _undisturbed(_run, arguments, folder, seconds)


def _undisturbed(function, *arguments):
    """What a handler of a signal would raise in the middle is raised at the end: it would lose a process or a folder that begins."""
    _own.is_undisturbed = True
    try:
        return function(*arguments)
    finally:
        _own.is_undisturbed = False
        if _is_stopped:
            raise KeyboardInterrupt


def _begin(arguments, folder):
    command, going = [path(), *arguments], getattr(_own, 'going', set())
    with _lock:
        if _is_stopped:
            raise KeyboardInterrupt
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        going.add(child)
        _all.add(child)
        return child, going


def _run(arguments, folder, seconds):
    child, going = _begin(arguments, folder)
    with child:
        try:
            output, words = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            raise Error('idsprof %s took more than %d s and was ended' % (arguments[0], seconds)) from None
        except BaseException:
            child.terminate()
            child.wait()        # a Ctrl-C would not
            raise
        finally:
            going.discard(child)
            _all.discard(child)
    return child.returncode, output, words.decode('utf-8', 'replace')


def belong(going):
    """What this thread runs from here on is in the set while it runs."""
    _own.going = going


def end(going):
    for child in list(going):
        child.terminate()


@functools.lru_cache(maxsize=1)
def version():
    return run(['--version'], seconds=60)[1].decode().strip()


@functools.lru_cache(maxsize=1)
def build():
    """What stands for the very program: two builds of a version may say different things of one file."""
    with open(path(), 'rb') as file:
        return version() + ' ' + hashlib.sha256(file.read()).hexdigest()[:16]


def _make_folder():
    with _lock:
        if _is_stopped:
            raise KeyboardInterrupt
        place = tempfile.mkdtemp(prefix='idsprof-fleet-')
        _folders.add(place)
        return place


@contextlib.contextmanager
def folder():
    """A folder for what the program reads and writes, while this block runs."""
    place = _undisturbed(_make_folder)
    try:
        yield place
    finally:
        _remove(place)


def _remove(place):
    shutil.rmtree(place, ignore_errors=True)
    _folders.discard(place)


# --- the end of a command: no process begins, and no folder is made, any more -------------------------------------------

def refuse():
    """For a handler of a signal, which must take no lock. Whether it may raise here."""
    global _is_stopped
    _is_stopped = True
    return not getattr(_own, 'is_undisturbed', False)


def is_stopped():
    return _is_stopped


def stop(seconds):
    """All that run are ended; those that do not end within so long are killed."""
    with _lock:
        refuse()
    children, until = list(_all), time.monotonic() + seconds
    end(children)
    for child in children:
        try:
            child.wait(max(0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def remove_folders():
    for place in list(_folders):
        _remove(place)
