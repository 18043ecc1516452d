"""The program idsprof, here and on workers."""
import functools
import hashlib
import os
import subprocess
import threading

import idsprof

from idsprof.fleet.errors import Error

SECONDS = 3600      # one run of the program; what takes longer hangs
_own = threading.local()
_all = set()            # that run now
_is_stopped = False


@functools.lru_cache(maxsize=1)
def path():
    found = idsprof._program()
    if found is None:
        raise Error('the program idsprof is not there: pip install idsprof, or put it on PATH')
    return os.path.abspath(found)


def run(arguments, folder=None, seconds=SECONDS):
    """Its exit status, standard output and standard error. A negative status is a signal."""
    going = getattr(_own, 'going', set())
    if _is_stopped:
        raise KeyboardInterrupt
    with subprocess.Popen([path(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as child:
        going.add(child)
        _all.add(child)
        if _is_stopped:
            child.terminate()
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
    if _is_stopped:
        raise KeyboardInterrupt
    return child.returncode, output, words.decode('utf-8', 'replace')


def belong(going):
    """What this thread runs from here on is in the set while it runs."""
    _own.going = going


def end(going):
    for child in list(going):
        child.terminate()


def stop():
    """All that run are ended, and none begins: what a handler of a signal raises is lost where Python calls it in a place that hears nothing, such
    as the end of an object."""
    global _is_stopped
    _is_stopped = True
    end(_all)


@functools.lru_cache(maxsize=1)
def version():
    return run(['--version'], seconds=60)[1].decode().strip()


@functools.lru_cache(maxsize=1)
def build():
    """What stands for the very program: two builds of a version may say different things of one file."""
    with open(path(), 'rb') as file:
        return version() + ' ' + hashlib.sha256(file.read()).hexdigest()[:16]
