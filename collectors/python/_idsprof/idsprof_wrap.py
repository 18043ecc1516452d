"""idsprof_wrap.py - --wrap module:function annotates a named Python function without changing the program.

An imported module is patched after its import; the script itself (__main__) after the line that defines the function (idsprof_script.py).
What does not exist by then is looked for again at each compilation, at each window, and every half second. A name that is never found is
reported in the hello file.

Code in C may take an object by name and read its memory: it must find what was there (numpy's ufuncs). The same holds for objects of the
program that are more than their calls: jax takes a model that can be called for a tree of arrays. So a module's or a class's attribute is
replaced only where it is a function; the calls of an object are annotated in its class, which asks for the object.
"""
import functools
import inspect
import os
import re
import sys
import time
import types
import weakref
import _thread

from . import idsprof_script as script

PAUSE_FIRST, PAUSE_LAST = 0.02, 0.5     # seconds
HEAP_TYPE, IMMUTABLE_TYPE = 1 << 9, 1 << 8      # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE
FUNCTIONS_OF_C = (types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, functools.partial,
                  type(functools.lru_cache(len)))
FUNCTIONS_BY_NAME = '_ArrayFunctionDispatcher', 'cython_function_or_method'     # numpy's, Cython's
JITTED = 'PjitFunction', 'CompiledFunction', 'PmapFunction'


class _Annotated:
    """A function that is none of Python's, a jitted one above all, with its attributes and its calls annotated."""

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
    return profiler.TraceAnnotation(name, idsprof_wrap=1) if profiler else _Nothing()


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


def _is_function_of_c(found):
    """Functions of other code than Python's that are used by being called only."""
    kind = type(found)
    return (kind in FUNCTIONS_OF_C or kind.__name__ in FUNCTIONS_BY_NAME or
            kind.__module__.partition('.')[0] == 'jaxlib' and kind.__name__ in JITTED)


def _is_function(found):
    while isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    return inspect.isfunction(found) or _is_function_of_c(found)


def _is_of_python(kind):
    """Whether a class was made by Python's `class`, so that it can be changed."""
    return bool(kind.__flags__ & HEAP_TYPE) and not kind.__flags__ & IMMUTABLE_TYPE


def _name_of(kind):
    return kind.__qualname__ if kind.__module__ in ('builtins', '__main__') else '%s.%s' % (kind.__module__, kind.__qualname__)


def _unlike_a_function(found, owner, last):
    """What else it is than a function whose calls begin and end; '' when it is one."""
    if inspect.isclass(found):
        return 'a class; name a method of it'
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        return 'a coroutine'
    if inspect.isgeneratorfunction(found):
        return 'a generator'
    if not callable(found) and not isinstance(found, (staticmethod, classmethod)):
        return 'not callable'
    is_class = inspect.isclass(owner)
    if not _is_of_python(owner if is_class else type(owner)) and not isinstance(owner, types.ModuleType):
        return 'of %s, a type of C code, which cannot be changed' % _name_of(owner if is_class else type(owner))
    if not is_class and last not in getattr(owner, '__dict__', ()):
        return 'a method of an object; name that of its class (%s.%s)' % (type(owner).__qualname__, last)
    if last == '__new__' and inspect.isbuiltin(found):
        return "Python's own, and making objects goes by whose it is; name __init__"
    if _is_function(found) or _is_function(_call_of(found)):
        return ''
    return 'an object of %s, which other code may use in other ways than by calling it' % _name_of(type(found))


def _call_of(found):
    """The function that runs when an object of a class of Python's is called; None."""
    kind = type(found)
    return inspect.getattr_static(kind, '__call__', None) if _is_of_python(kind) else None


def _annotate_object(found, name):
    """Annotates the calls of one object in its class: the object itself stays what and where it is."""
    kind, call = type(found), _call_of(found)
    bind = getattr(call, '__get__', None)
    try:
        object_of = weakref.ref(found)
    except TypeError:                   # it has no room for references
        def object_of(held=found):
            return held

    @functools.wraps(call)
    def call_of_any(*args, **kwargs):
        if not args or args[0] is not object_of():
            return bind(args[0], kind)(*args[1:], **kwargs)
        with _annotation(name):
            return bind(args[0], kind)(*args[1:], **kwargs)
    kind.__call__ = call_of_any


def _replace(owner, last, found, name):
    if _is_function(found):
        setattr(owner, last, _annotated(found, name))
    else:
        _annotate_object(found, name)


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
            except (AttributeError, KeyError, TypeError):
                continue
            what = _unlike_a_function(function, owner, last)
            if not what:
                try:
                    _replace(owner, last, function, item[1])
                    self.wanted.remove(item)
                except Exception as error:      # a class or a module may refuse in its own way
                    what = 'where nothing can be changed (%s)' % error
            if what:
                self.refused[item] = what

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
