"""idsprof_misses.py - why a jitted function was compiled again: which of its arguments is unlike that of the calls before.

jax explains its own misses (jax_explain_cache_misses), but to the log, not for static arguments and shardings, and it prefers a call with
another number of arguments to the nearest one. So the arguments are looked at here, when jax.monitoring says that something was compiled:
the call is a frame of jax's on the stack of that thread, and nothing of jax is replaced. Only texts are kept of the arguments. In a
jax whose frame looks otherwise no reason is given.
"""
import functools
import inspect
import os
import reprlib
import sys
import weakref

FRAMES = 200                    # outwards, at most
FUNCTIONS, CALLS, LEAVES = 4096, 16, 5000
SHOWN, TEXT = 3, 60             # differences in a reason, characters of a value
SHORT = ('bfloat', 'bf'), ('float', 'f'), ('complex', 'c'), ('uint', 'u'), ('int', 'i')
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = TEXT
KINDS = 'shape', 'dtype', 'weak type', 'sharding', 'static argument', 'arguments'
DEFAULT = 'default', None
FUNCTION, CONTEXT = 'new function object', 'same arguments'


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


def innermost(function):
    """What a jitted function, a transformation or a partial is made of in the end."""
    for _ in range(20):
        inner = getattr(function, '__wrapped__', None) or getattr(function, 'func', None)
        if inner is None:
            return function
        function = inner
    return function


def is_of_jax(function):
    return (getattr(innermost(function), '__module__', None) or '').partition('.')[0] in ('jax', 'jaxlib')


def place_of(function):
    """(file, line) where it is defined; it tells functions of one name apart."""
    code = getattr(innermost(function), '__code__', None)
    return (os.path.basename(code.co_filename), code.co_firstlineno) if code else ('', 0)


def short(dtype):
    name = getattr(dtype, 'name', str(dtype))
    for long, letter in SHORT:
        if name.startswith(long):
            return letter + name[len(long):]
    return name


class Leaf:
    """One array of a call: what jax compiles for."""
    __slots__ = 'shape', 'dtype', 'weak', 'sharding'

    def __init__(self, value, dtypes, shardings):
        self.shape = tuple(getattr(value, 'shape', ()))
        own = getattr(value, 'dtype', None)
        self.weak = bool(getattr(value, 'weak_type', own is None))
        try:
            dtype = dtypes.canonicalize_dtype(own if own is not None else type(value))
        except Exception:
            dtype = own or type(value).__name__
        self.dtype = short(dtype)
        self.sharding = self._place(value, shardings)

    @staticmethod
    def _place(value, shardings):
        """Where it lies, as far as jax may not move it; '' where it may."""
        sharding = getattr(value, 'sharding', None)
        if sharding is None or not getattr(value, '_committed', False):
            return ''
        text = shardings.get(id(sharding))
        if text is None:
            devices = sorted(getattr(sharding, 'device_set', ()), key=lambda device: device.id)
            spec = getattr(sharding, 'spec', None)
            text = '%s on %d devices' % (spec if spec is not None else type(sharding).__name__, len(devices))
            text = text.replace('PartitionSpec(', 'P(')
            if len(devices) == 1:
                text = '%s:%d' % (devices[0].platform, devices[0].id)
            shardings[id(sharding)] = text
        return text

    def type(self):
        return '%s[%s]' % (self.dtype, ','.join(map(str, self.shape)))

    def unlike(self, other):
        """What differs from an earlier one: (kind, text); None."""
        if self.shape != other.shape or self.dtype != other.dtype:
            return 'shape' if self.shape != other.shape else 'dtype', '%s -> %s' % (other.type(), self.type())
        if self.weak != other.weak:
            return 'weak type', '%s -> %s' % tuple(leaf.type() + (' weak' if leaf.weak else '') for leaf in (other, self))
        if self.sharding != other.sharding:
            return 'sharding', '%s -> %s' % (other.sharding or 'anywhere', self.sharding or 'anywhere')
        return None


def text_of(value):
    """As repr() says it, but short, and without going through all of a large value."""
    try:
        text = _repr.repr(value)
    except Exception:
        text = '<%s>' % type(value).__name__
    return text if len(text) <= TEXT else text[:TEXT - 3] + '...'


def static_of(value):
    """(text, hash): two values may have one text."""
    try:
        return text_of(value), hash(value)
    except Exception:
        return text_of(value), 0


class Call:
    """What a call was compiled for: its arrays by name, and its static arguments."""

    def __init__(self, function, info, args, kwargs, context):
        import jax
        self.context, self.given_by_name = context, set(kwargs)
        self.leaves, self.static, shardings = {}, {}, {}
        numbers = {number + len(args) if number < 0 else number for number in getattr(info, 'static_argnums', None) or ()}
        names = set(getattr(info, 'static_argnames', None) or ())
        for (name, value), is_static in self._named(function, args, kwargs, numbers, names):
            if is_static:
                self.static[name] = static_of(value)
                continue
            for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
                if len(self.leaves) >= LEAVES:
                    return
                self.leaves[name, path] = Leaf(leaf, jax.dtypes, shardings)

    @staticmethod
    def _named(function, args, kwargs, numbers, static_names):
        """((name, value), is_static) of the arguments, by the names of the parameters where these are known."""
        try:
            names = [parameter.name for parameter in inspect.signature(function).parameters.values()
                     if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
        except (TypeError, ValueError):
            names = []
        for number, value in enumerate(args):
            name = names[number] if number < len(names) else 'argument %d' % number
            yield (name, value), number in numbers or name in static_names
        for name, value in kwargs.items():
            yield (name, value), name in static_names or (name in names and names.index(name) in numbers)

    def unlike(self, other):
        """[(kind, name, text)] of what differs from an earlier call."""
        found = []
        for (name, path), leaf in self.leaves.items():
            before = other.leaves.get((name, path))
            what = leaf.unlike(before) if before else ('arguments', 'is new')
            if what:
                found.append((what[0], (name, path), what[1]))
        found += [('arguments', key, 'is gone') for key in other.leaves if key not in self.leaves]
        for name in {**self.static, **other.static}:
            before, now = other.static.get(name, DEFAULT), self.static.get(name, DEFAULT)
            if before != now:
                texts = before[0], now[0] + (' (another one)' if before[0] == now[0] else '')
                found.append(('static argument', (name, ()), '%s -> %s' % texts))
        return found

    def passed_unlike(self, other):
        """The same of how the arguments are passed, which jax tells apart."""
        return [('arguments', (name, ()), 'is given by name' if name in self.given_by_name else 'is given by place')
                for name in sorted(self.given_by_name ^ other.given_by_name)]


def reason_of(found):
    """One line: "shape: x f32[8,16] -> f32[10,16]"."""
    import jax
    found.sort(key=lambda item: KINDS.index(item[0]))
    parts, kind = [], None
    for this, (name, path), text in found[:SHOWN]:
        parts.append('%s%s%s %s' % (this + ': ' if this != kind else '', name, jax.tree_util.keystr(path), text))
        kind = this
    return ', '.join(parts) + (' and %d more' % (len(found) - SHOWN) if len(found) > SHOWN else '')


class Function:
    """The calls that were compiled of one place in the source, by function object: each time a `lambda` is reached it makes a new one."""

    def __init__(self):
        self.objects = []               # [(weak reference, calls)], oldest first

    def calls(self, function=None):
        """Those of one object, or of all."""
        return [call for reference, calls in self.objects for call in calls if function is None or reference() is function]

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
        function, info, args, kwargs = found
        if (getattr(function, '__name__', None) or getattr(innermost(function), '__name__', name)) != name:
            return ''
        key = (name, *place_of(function))
        known = self.functions.get(key)
        if known is None:
            if len(self.functions) >= FUNCTIONS:
                return ''
            known = self.functions[key] = Function()
        call = Call(function, info, args, kwargs, self._context())
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
            of = ' (functools.partial)' if isinstance(function, functools.partial) else ''
            text = '%s: %s:%d%s' % (FUNCTION, *place_of(function), of)
            return text + ', ' + reason_of(found) if found else text
        if found:
            return reason_of(found)
        changed = self._changed_context(call.context, nearest.context)
        return '%s: %s' % (CONTEXT, changed or "jax's caches were cleared, or what it was set to changed")
