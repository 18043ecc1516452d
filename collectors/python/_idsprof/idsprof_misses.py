"""idsprof_misses.py - why a jitted function was compiled again: which of its arguments is unlike that of the calls before.

jax explains its own misses (jax_explain_cache_misses), but to the log, not for static arguments and shardings, and it prefers a call with
another number of arguments to the nearest one. So the arguments are looked at here, when jax.monitoring says that something was compiled:
the call is a frame of jax's on the stack of that thread, and nothing of jax is replaced. How calls differ: idsprof_calls.py. In a jax whose
frame looks otherwise no reason is given.
"""
import functools
import os
import sys
import types
import weakref

from .idsprof_calls import FUNCTION, Call, text_of

FRAMES = 200                    # outwards, at most
FUNCTIONS, CALLS = 4096, 16
MAPPED = '_fun'
SHOWN = 3                       # differences in a reason
KINDS = (FUNCTION, 'shape', 'dtype', 'weak type', 'sharding', 'static argument', 'static field', 'structure', 'arguments',
         'options of jit', 'parameters')
CONTEXT = 'same arguments'


def call_of(frame):
    """(function, jit's options, args, kwargs) of the innermost call of a jitted function that missed jax's cache; None."""
    for _ in range(FRAMES):
        if frame is None:
            return None
        if frame.f_code.co_name == 'cache_miss' and (frame.f_globals.get('__name__') or '').startswith('jax._src.'):
            local = frame.f_locals
            if 'fun' in local and isinstance(local.get('args'), tuple) and isinstance(local.get('kwargs'), dict):
                return local['fun'], local.get('jit_info'), local['args'], local['kwargs']
            return None
        frame = frame.f_back
    return None


def mapped_call_of(frame):
    """The same of jax.pmap, where it calls a jitted function of jax's own, MAPPED, with the program's arguments flat."""
    for _ in range(FRAMES):
        if frame is None or frame.f_code.co_name == '<module>':
            return None
        code, local = frame.f_code, frame.f_locals
        if code.co_name == 'wrapped' and frame.f_globals.get('__name__') == 'jax._src.pmap' and callable(local.get('infer_params')):
            infer = local['infer_params']
            held = {name: cell.cell_contents for name, cell in zip(infer.__code__.co_freevars, infer.__closure__ or ())}
            function = getattr(held.get('wrapped_fun'), 'f', None)
            info = types.SimpleNamespace(static_argnums=held.get('static_broadcasted_tuple', ()))
            return function and (function, info, local['args'], local['kwargs'])
        frame = frame.f_back
    return None


def innermost(function):
    """What a jitted function, a transformation or a partial is made of in the end."""
    for _ in range(20):
        inner = getattr(function, '__wrapped__', None) or getattr(function, 'func', None)
        if inner is None:
            return function
        function = inner
    return function


def name_of(function, otherwise):
    return getattr(function, '__name__', None) or getattr(innermost(function), '__name__', otherwise)


def is_of_jax(function):
    return (getattr(innermost(function), '__module__', None) or '').partition('.')[0] in ('jax', 'jaxlib')


def place_of(function):
    """(file, line) where it is defined; it tells functions of one name apart."""
    code = getattr(innermost(function), '__code__', None)
    return (os.path.basename(code.co_filename), code.co_firstlineno) if code else ('', 0)


def reason_of(found):
    """One line: "shape: x f32[8,16] -> f32[10,16]"."""
    import jax
    found.sort(key=lambda item: KINDS.index(item[0]))
    parts, kind = [], None
    for this, (name, path, *field), text in found[:SHOWN]:
        parts.append('%s%s%s%s %s' % (this + ': ' if this != kind else '', name, jax.tree_util.keystr(path), ''.join(field), text))
        kind = this
    return ', '.join(parts) + (' and %d more' % (len(found) - SHOWN) if len(found) > SHOWN else '')


class Function:
    """The calls that were compiled of one place in the source, by function object: each time a `lambda` is reached it makes a new one."""

    def __init__(self):
        self.objects = []               # [(weak reference, calls)], oldest first

    def calls(self, function=None):
        """Those of one object, or of all."""
        return [call for reference, calls in self.objects for call in calls if function is None or reference() is function]

    def has_dead(self):
        """Whether one that was called is gone: where all live, none was made in the place of another."""
        return any(reference() is None for reference, _ in self.objects)

    def add(self, function, call):
        for reference, calls in self.objects:
            if reference() is function:
                calls[:] = calls[1 - CALLS:] + [call]
                return
        try:
            self.objects = self.objects[1 - CALLS:] + [(weakref.ref(function), [call])]
        except TypeError:               # then one for all
            self.objects = [(lambda: function, [call])]


class Misses:
    def __init__(self):
        self.functions = {}
        config = sys.modules.get('jax._src.config')
        self.context_of = getattr(config, 'trace_context', None)
        self.context_names = getattr(config, 'trace_context_names', None)
        self.clears, self.probe = 0, None
        cached = getattr(sys.modules.get('jax._src.util'), 'weakref_lru_cache', None)
        try:                            # a cache that is cleared with jax's others
            self.probe = cached(lambda _: self._missed(), trace_context_in_key=False)
            self._count_clears()
        except Exception:
            self.probe = None

    def _missed(self):
        self.clears += 1

    def _count_clears(self):
        if self.probe:
            self.probe(Misses)
        return self.clears

    @staticmethod
    def called(name):
        """What the program calls that which jax compiles by that name, on this thread."""
        try:
            found = mapped_call_of(sys._getframe(1)) if name == MAPPED else None
        except Exception:               # a pmap that is unlike those that are known
            found = None
        return name_of(found[0], name) if found else name

    def _context(self):
        try:
            return tuple(map(text_of, self.context_of()))
        except Exception:
            return ()

    def _changed_context(self, now, before):
        """The options of jax that differ, by name where jax says it."""
        try:
            names = self.context_names()
        except Exception:
            names = ()
        if len(now) != len(before) or len(names) != len(now):
            return ''
        return ', '.join('%s %s -> %s' % (name, old, new) for name, new, old in zip(names, now, before) if new != old)

    def reason(self, name):
        """Why what jax calls by that name is compiled now, on this thread: one line; '' at first, or where it cannot be told."""
        found = call_of(sys._getframe(1))
        if found is None:
            return ''
        if name_of(found[0], name) != name:
            mapped = mapped_call_of(sys._getframe(1)) if name_of(found[0], '') == MAPPED else None
            if mapped is None or name_of(mapped[0], name) != name:
                return ''
            found = mapped
        function, info, args, kwargs = found
        key = (name, *place_of(function))
        known = self.functions.get(key)
        if known is None:
            if len(self.functions) >= FUNCTIONS:
                return ''
            known = self.functions[key] = Function()
        call = Call(function, info, args, kwargs, self._context(), self._count_clears())
        reason = self._compare(known, call, function) if known.objects else ''
        known.add(function, call)
        return reason

    def _compare(self, known, call, function):
        own = known.calls(function)
        nearest = min((own or known.calls())[::-1], key=lambda before: (len(call.unlike(before)), len(call.passed_unlike(before))))
        found = call.unlike(nearest) or call.passed_unlike(nearest)
        if is_of_jax(function):         # its own functions are made anew for what no argument says
            return reason_of(found) if found else ''
        if not own:
            if not known.has_dead():    # the first call of one of several that were made
                return ''
            of = ' (functools.partial)' if isinstance(function, functools.partial) else ''
            text = '%s: %s:%d%s' % (FUNCTION, *place_of(function), of)
            return text + ', ' + reason_of(found) if found else text
        if found:
            return reason_of(found)
        if not call.is_whole or not nearest.is_whole:
            return ''
        changed = self._changed_context(call.context, nearest.context)
        if not changed and call.clears != nearest.clears:
            changed = "jax's caches were cleared"
        return '%s: %s' % (CONTEXT, changed or 'nothing else that idsprof knows has changed')
