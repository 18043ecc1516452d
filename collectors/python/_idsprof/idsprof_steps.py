"""idsprof_steps.py - reports steps and regions of an annotated program to the agent.

The agent is told in __init__, not in __enter__: an annotation made before the session begins leaves no event, and the first step or
region of a window would be lost.
"""
import ctypes
import sys
import types

from .idsprof_agent import ANNOTATION, raise_interrupt
from .idsprof_executions import Executions


def follow_steps(agent, profiler, session, first):
    """Has every StepTraceAnnotation tell its number, until no window can come any more. `first` is called once, before the first
    of them. Gives what undoes it."""
    annotation = profiler.StepTraceAnnotation
    make, step, seen = annotation.__init__, agent.step, []

    def tell(*args, **kwargs):
        try:
            name, = args or (kwargs['name'],)
            if not seen:
                seen.append(name)
                first()
            step(ANNOTATION, name.encode(), kwargs.get('step_num', -1))
            if session.has_closed:
                session.has_closed = False
                if not agent.wants(ANNOTATION):
                    undo()
            raise_interrupt()
        except Exception:               # a number that is no number, a name that is no text: the program's own affair
            pass

    def __init__(self, *args, **kwargs):
        tell(*args, **kwargs)
        make(self, *args, **kwargs)

    undo = _put(annotation, __init__=_in_c(agent, annotation, make, tell) or __init__)
    return undo


def _in_c(agent, annotation, make, tell):
    """The method of collectors/python/annotations.c, which calls `tell` where a step may matter, and then `make`; or None."""
    count = getattr(agent.library, 'ids_count_annotations', None)
    new = getattr(ctypes.pythonapi, 'PyDescr_NewMethod', None)
    if not count or not new:
        return None
    count.argtypes, count.restype = (ctypes.py_object,) * 3, ctypes.c_void_p
    new.argtypes, new.restype = (ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    agent.kept_for_annotations = make, tell, 'step_num'         # C holds them for ever
    method = count(*agent.kept_for_annotations)
    return new(annotation, method) if method else None


def _put(kind, **methods):
    """Replaces methods of a class; returns a function that restores them."""
    before = {name: vars(kind).get(name) for name in methods}
    for name, method in methods.items():
        inherited = getattr(kind, name)
        if isinstance(method, types.FunctionType):
            method.__doc__, method.__qualname__ = inherited.__doc__, inherited.__qualname__
        setattr(kind, name, method)

    def undo():
        for name, method in before.items():
            if method is None:
                delattr(kind, name)
            else:
                setattr(kind, name, method)
    return undo


def mark_regions(profiler):
    """Has each TraceAnnotation that the program makes from now on bear the stat user_annotation, by which the report tells them from
    those of jax itself and of the runtime. Gives what undoes it: it stands only while a window is open."""
    annotation = profiler.TraceAnnotation
    make = annotation.__init__

    def __init__(self, name, **kwargs):
        if '_r' not in kwargs and not _is_made_by_jax(sys._getframe(1)):
            kwargs.setdefault('user_annotation', 1)
        make(self, name, **kwargs)

    return _put(annotation, __init__=__init__)


def _is_made_by_jax(frame):
    module = frame.f_globals.get('__name__') or ''
    if module == 'jax._src.profiler':           # annotate_function: whose function it is decides
        module = getattr(frame.f_locals.get('func'), '__module__', None) or ''
    return module.partition('.')[0] in ('jax', 'jaxlib')


def follow_range(agent, profiler, wanted, asked):
    """Has the TraceAnnotations of that name, annotate_function's and steps' too, tell where what --range asked for begins and ends. Gives
    what undoes it."""
    annotation = profiler.TraceAnnotation
    make, leave, tell, name_bytes = annotation.__init__, annotation.__exit__, agent.range, asked.encode()

    def __init__(self, name, *args, **kwargs):
        if name == wanted:
            tell(name_bytes, 1)
            raise_interrupt()
            self._idsprof_inside = True
            kwargs.setdefault('user_annotation', 1)
            kwargs.setdefault('idsprof_block', 1)
        make(self, name, *args, **kwargs)

    def __exit__(self, *exception):
        inside = self.__dict__.pop('_idsprof_inside', False)
        if inside and Executions.now:
            Executions.now.end_block()      # the last step of the region, which no other one ends
        answer = leave(self, *exception)
        if inside:
            tell(name_bytes, 0)
            raise_interrupt()
        return answer

    return _put(annotation, __init__=__init__, __exit__=__exit__)
