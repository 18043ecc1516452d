"""idsprof_wrap.py - --wrap module:function annotates a named Python function without changing the program.

An imported module is patched after its import. The script itself (__main__) is patched when a window opens, because its functions
certainly exist by then. A name that is never found is reported in the hello file.
"""
import functools
import inspect
import os
import re
import sys


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


def _is_script(module, name):
    """Whether the script that runs is what --wrap means by that module."""
    if name == '__main__':
        return True
    spec = getattr(module, '__spec__', None)
    if spec is not None and spec.name in (name, name + '.__main__'):
        return True
    return os.path.splitext(os.path.basename(getattr(module, '__file__', None) or ''))[0] == name


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
        self.wanted = [tuple(item.partition(':')[::2]) for item in text.split(',') if item]

    def module(self, module, name):
        """Annotates what is wanted of a module that is whole."""
        for item in [item for item in self.wanted if item[0] == name]:
            path, _, last = item[1].rpartition('.')
            owner = module
            try:
                for part in path.split('.') if path else ():
                    owner = getattr(owner, part)
                function = vars(owner)[last]
            except (AttributeError, KeyError, TypeError):
                continue
            if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or not (
                    callable(function) or isinstance(function, (staticmethod, classmethod))):
                continue
            setattr(owner, last, _annotated(function, item[1]))
            self.wanted.remove(item)

    def now(self):
        """What is there by now: modules that were imported before jax, and the script."""
        main = sys.modules.get('__main__')
        for name in {item[0] for item in self.wanted}:
            if name in sys.modules and name != '__main__':
                self.module(sys.modules[name], name)
            if main is not None and _is_script(main, name):
                self.module(main, name)

    def missing(self):
        return ', '.join('%s:%s' % item for item in self.wanted)
