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


@functools.lru_cache(maxsize=1)
def path():
    found = idsprof._program()
    if found is None:
        raise Error('the program idsprof is not there: pip install idsprof, or put it on PATH')
    return os.path.abspath(found)


def run(arguments, folder=None, seconds=SECONDS):
    """Its exit status, standard output and standard error. A negative status is a signal."""
    going = getattr(_own, 'going', set())
    with subprocess.Popen([path(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as child:
        going.add(child)
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
