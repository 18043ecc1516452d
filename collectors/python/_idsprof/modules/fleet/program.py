"""The program idsprof, here and on workers."""
import functools
import hashlib
import os
import subprocess

import idsprof

from idsprof.fleet.errors import Error

SECONDS = 3600      # one run of the program; what takes longer hangs


@functools.lru_cache(maxsize=1)
def path():
    found = idsprof._program()
    if found is None:
        raise Error('the program idsprof is not there: pip install idsprof, or put it on PATH')
    return os.path.abspath(found)


def run(arguments, folder=None, seconds=SECONDS):
    """Its exit status, standard output and standard error. A negative status is a signal."""
    try:
        done = subprocess.run([path(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, cwd=folder, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Error('idsprof %s took more than %d s and was ended' % (arguments[0], seconds)) from None
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'replace')


@functools.lru_cache(maxsize=1)
def version():
    return run(['--version'], seconds=60)[1].decode().strip()


@functools.lru_cache(maxsize=1)
def build():
    """What stands for the very program: two builds of a version may say different things of one file."""
    with open(path(), 'rb') as file:
        return version() + ' ' + hashlib.sha256(file.read()).hexdigest()[:16]
