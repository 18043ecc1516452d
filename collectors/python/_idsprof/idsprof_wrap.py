"""idsprof_wrap.py - --wrap module:function annotates a named Python function without changing the program.

An imported module is patched after its import; the script itself (__main__) after the line that defines the function (idsprof_script.py).
What does not exist by then is looked for again at each compilation, at each window, and every half second. A name that is never found is
reported in the hello file.
"""
import functools
import inspect
import os
import re
import sys
import time
import types
import _thread

from . import idsprof_script as script

PAUSE_FIRST, PAUSE_LAST = 0.02, 0.5     # seconds


class _Annotated:
    """A callable that is no plain function, a jitted one above all, with its attributes and its calls annotated."""

    def __init__(self, wraps, name):
        self.__dict__.update(_idsprof_wraps=wraps, _idsprof_name=name)
        functools.update_wrapper(self, wraps, updated=())

    def __call__(self, *args, **kwargs):
        with _annotation(self._idsprof_name):
            return self._idsprof_wraps(*args, **kwargs)

    def __get__(self, instance, owner=None):
        if instance is None or not hasattr(type(self._idsprof_wraps), '__get__'):
            return self
        return functools.partial(self, instance)

    def __reduce_ex__(self, protocol):      # another process, or a copy, gets the function as it was
        return self._idsprof_wraps.__reduce_ex__(protocol)

    def __repr__(self):
        return repr(self._idsprof_wraps)

    def __getattr__(self, name):
        return getattr(self.__dict__['_idsprof_wraps'], name)


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def _annotation(name):
    profiler = sys.modules.get('jax.profiler')
    return profiler.TraceAnnotation(name) if profiler else _Nothing()


def _annotated(function, name):
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_annotated(function.__func__, name))
    if not inspect.isfunction(function):
        return _Annotated(function, name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        with _annotation(name):
            return function(*args, **kwargs)
    call._idsprof_wraps = function
    return call


def _unlike_a_function(found):
    """What else it is than a function whose calls begin and end; '' when it is one."""
    if inspect.isclass(found):
        return 'a class; name a method of it'
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        return 'a coroutine'
    if inspect.isgeneratorfunction(found):
        return 'a generator'
    if isinstance(found, (staticmethod, classmethod)):
        return ''
    if not callable(found):
        return 'not callable'
    return '' if _may_be_replaced(found) else 'a %s, which code in C may look into' % type(found).__name__


def _may_be_replaced(found):
    """Not where C code takes the object for what it is, as extensions of numpy do with its ufuncs: they would read the memory of ours."""
    kind = type(found)
    if isinstance(found, _FUNCTIONS) or kind.__module__.partition('.')[0] in ('jax', 'jaxlib'):
        return True
    return any(inspect.isfunction(vars(base).get('__call__')) for base in kind.__mro__)


def _is_script(module, name):
    """Whether the script that runs is what --wrap means by that module."""
    if name == '__main__':
        return True
    spec = getattr(module, '__spec__', None)
    if spec is not None and spec.name in (name, name + '.__main__'):
        return True
    return os.path.splitext(os.path.basename(getattr(module, '__file__', None) or ''))[0] == name


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, types.WrapperDescriptorType,
              functools.partial, functools.partialmethod, type(functools.lru_cache(len)))
_wanted = []


def wanted():
    """The Wraps of this process: the first modules may be imported before jax, and so before there is an agent to ask."""
    if not _wanted:
        plan = os.environ.get('IDSPROF_PLAN', '')
        found = [item[5:] for item in plan.split(';') if item.startswith('wrap=')]
        _wanted.append(Wraps(re.sub('%([0-9A-Fa-f]{2})', lambda code: chr(int(code[1], 16)), found[-1] if found else '')))
    return _wanted[0]


class Wraps:
    """The functions of --wrap that were not found yet."""

    def __init__(self, text):
        self.texts = [item for item in text.split(',') if item]
        self.wanted = [tuple(item.partition(':')[::2]) for item in self.texts]
        self.lock = _thread.allocate_lock()
        self.refused = {}               # item -> what it is, where that cannot be annotated

    def region(self, text):
        """The name in the profile of what --range names as --wrap does."""
        return text.partition(':')[2] if text in self.texts else text

    def module(self, module, name):
        """Annotates what is wanted of a module, as far as it is there. Several threads may ask; one of them looks."""
        if not self.lock.acquire(False):
            return
        try:
            self._annotate(module, name)
        finally:
            self.lock.release()

    def _annotate(self, module, name):
        for item in [item for item in self.wanted if item[0] == name]:
            path, _, last = item[1].rpartition('.')
            owner = module
            try:
                for part in path.split('.') if path else ():
                    owner = getattr(owner, part)
                function = inspect.getattr_static(owner, last)
                self.refused.pop(item, None)
                what = _unlike_a_function(function)
                if what:
                    self.refused[item] = what
                    continue
                try:
                    setattr(owner, last, _annotated(function, item[1]))
                except TypeError:
                    self.refused[item] = 'a part of the type %s, which is written in C' % getattr(owner, '__name__', '?')
                    continue
                self.wanted.remove(item)
            except (AttributeError, KeyError, TypeError):
                continue

    def now(self):
        """What is there by now: modules that were imported before jax, and the script. Whether nothing more is wanted of the script."""
        main = sys.modules.get('__main__')
        for name in {item[0] for item in self.wanted}:
            if name in sys.modules and name != '__main__':
                self.module(sys.modules[name], name)
            if main is not None and _is_script(main, name):
                self.module(main, name)
        return main is None or not any(_is_script(main, name) for name, _ in self.wanted)

    def watch(self):
        """From now on what is not there yet is looked for, in the script while it runs."""
        if not self.now():
            script.watch(self.now)
        if self.wanted:
            _thread.start_new_thread(self._look, ())

    def _look(self):
        pause = PAUSE_FIRST
        while self.wanted:
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_LAST)
            self.now()

    def missing(self):
        never = ['%s:%s' % item for item in self.wanted if item not in self.refused]
        return '; '.join((['never found: ' + ', '.join(never)] if never else []) +
                         ['%s:%s cannot be annotated: it is %s' % (*item, what) for item, what in self.refused.items()])
