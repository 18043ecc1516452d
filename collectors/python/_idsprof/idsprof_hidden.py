"""idsprof_hidden.py - functions of ours that profilers and debuggers of the program do not see (collectors/python/hidden.h).

sys.setprofile, sys.settrace, cProfile and coverage would be told of what runs of us on the program's threads, and of what we call of jax.
"""
import ctypes
import functools

library = None                  # the agent's, once it is loaded
kept = []                       # what C holds


def hidden(work):
    """The same function, unseen; itself where this Python cannot hide it."""
    return _through('ids_hidden_call', work) or work


def hidden_after(function, then):
    """Calls `function`, which is the program's or jax's and is seen, and then `then` with its answer, which it gives back."""
    def call(*args, **kwargs):
        answer = function(*args, **kwargs)
        then(answer)
        return answer
    return _through('ids_hidden_after', (function, then)) or call


def _through(name, target):
    find = getattr(library, name, None)
    make = getattr(ctypes.PyDLL(None), 'PyCFunction_NewEx', None)      # our own: its types are set
    if not find or not make:
        return None
    find.restype = ctypes.c_void_p
    method = find()
    if not method:
        return None
    make.argtypes, make.restype = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    kept.append(target)
    return functools.partial(make(method, target, None))        # not the function itself, whose call a profiler is told of
