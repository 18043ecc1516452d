"""idsprof_calls.py - what a call of a jitted function was compiled for, and how it is unlike an earlier one.

jax compiles for the types of the arrays, for the tree that holds them (with what its nodes keep beside their arrays), for static arguments,
for the options of jit, and for jax's own options. Only texts and hashes are kept of them.
"""
import dataclasses
import inspect
import re
import reprlib

LEAVES = 5000
TEXT = 60                       # characters of a value
PARTS, DEPTH = 256, 8           # of a static value that others are in
LONG = 4096                     # characters of a text that are kept to find where it changed
SHORT = ('bfloat', 'bf'), ('float', 'f'), ('complex', 'c'), ('uint', 'u'), ('int', 'i')
PLAIN = dict, list, tuple, type(None)           # trees whose nodes keep nothing
SCALARS = bool, int, float, complex
OPTIONS = ('donate_argnums', 'donate_argnames', 'static_argnums', 'static_argnames', 'in_shardings_leaves', 'out_shardings_leaves',
           'in_layouts_leaves', 'out_layouts_leaves', 'device', 'backend', 'keep_unused', 'inline', 'compiler_options_kvs')
PARAMETERS = {'shape': 'shape', 'sizes': 'shape', 'new_sizes': 'shape', 'slice_sizes': 'shape', 'start_indices': 'shape',
              'limit_indices': 'shape', 'dtype': 'dtype', 'new_dtype': 'dtype'}       # of jax's ops -> the kind of difference
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = TEXT
DEFAULT = 'default', None
FUNCTION = 'new function object'


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
            kind = getattr(sharding, 'memory_kind', None)
            if kind and devices and kind != devices[0].default_memory().kind:
                text += ' in ' + kind
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
    return cut(re.sub(r' at 0x[0-9a-f]+', '', text))        # which of several it is, the hash tells


def cut(text):
    """One line of it."""
    text = ' '.join(text.split())
    return text if len(text) <= TEXT else text[:TEXT - 3] + '...'


class Static(tuple):
    """(text, hash): two values may have one text. Its `parts` are what it holds, {where: (text, hash)}, and `whole` a text that is cut."""
    parts, whole = {}, None


def static_of(value):
    found = alone(value)
    if isinstance(value, (tuple, list, dict)):
        found.parts = parts_of(value)
    return found


def alone(value):
    """Without what it holds."""
    try:
        found = Static((text_of(value), hash(value)))
    except Exception:
        found = Static((text_of(value), 0))
    if isinstance(value, str) and TEXT < len(value) + 2 <= LONG:
        found.whole = value
    return found


def parts_of(value):
    """What is in tuples, lists and dicts that lie in one another."""
    parts, waiting = {}, [('', value, 0)]
    while waiting and len(parts) < PARTS:
        where, value, depth = waiting.pop()
        if depth < DEPTH and isinstance(value, dict):
            waiting += [('%s[%s]' % (where, text_of(key)), item, depth + 1) for key, item in list(value.items())[PARTS::-1]]
        elif depth < DEPTH and isinstance(value, (tuple, list)):
            waiting += [('%s[%d]' % (where, i), item, depth + 1) for i, item in reversed(list(enumerate(value[:PARTS])))]
        elif depth:
            parts[where] = alone(value)
    return parts


class Node:
    """What holds arrays in an argument: its type, and what it keeps beside them."""
    __slots__ = 'kind', 'is_empty', 'fields'

    def __init__(self, value, children, tree):
        kind = type(value)
        self.kind, self.is_empty, self.fields = ('None' if value is None else kind.__name__, hash(kind)), not children, {}
        if kind in PLAIN or hasattr(value, '_fields') and isinstance(value, tuple):
            return
        arrays = {getattr(path[0], 'name', None) for path, _ in children}
        if dataclasses.is_dataclass(value):
            self.fields.update(('.' + field.name, static_of(getattr(value, field.name, None)))
                               for field in dataclasses.fields(value) if field.name not in arrays)
        try:
            self.fields[''] = text_of(tree.node_data()[1]), hash(tree)
        except Exception:               # not hashable, which jax itself may refuse
            pass

    def unlike(self, other):
        """[(field, text)] of what it keeps and the other one, of the same type, does not."""
        found = [(name or ' (metadata)', change_of(other.fields[name], now)) for name, now in self.fields.items()
                 if other.fields.get(name, now) != now]
        return [item for item in found if item[0] != ' (metadata)'] or found


def change_of(before, now):
    if before[0] != now[0] and '...' not in before[0] + now[0]:
        return '%s -> %s' % (before[0], now[0])
    old, new = getattr(before, 'parts', {}), getattr(now, 'parts', {})
    changed = [where for where in new if where in old and old[where] != new[where]]
    if changed:
        return '; '.join('%s %s' % (where, change_of(old[where], new[where])) for where in changed[:2])
    if getattr(before, 'whole', None) and getattr(now, 'whole', None):
        return '%s -> %s' % around_change(before.whole, now.whole)
    if before[0] != now[0]:
        return '%s -> %s' % (before[0], now[0])
    return now[0] + (', a new object each time' if '...' not in now[0] else ', in what is not shown here')


def around_change(before, now):
    """Both texts, from some characters before the first that differs."""
    first = next((i for i, (old, new) in enumerate(zip(before, now)) if old != new), min(len(before), len(now)))
    begin = max(0, first - TEXT // 4)
    return tuple(repr('...' * (begin > 0) + text[begin:begin + TEXT // 2] + '...' * (len(text) > begin + TEXT // 2)) for text in (before, now))


def is_function_anew(before, now):
    """Whether two programs are alike: jax knows them by the functions that they were made of, and these are two objects."""
    return before != now and len(now) == 3 and before[2:] == now[2:]


class Call:
    """What a call was compiled for. Names are (argument, path in it)."""

    def __init__(self, function, info, args, kwargs, context=(), clears=0):
        import jax
        self.context, self.clears, self.given_by_name = context, clears, set(kwargs)
        self.leaves, self.nodes, self.static, self.is_whole, shardings = {}, {}, {}, True, {}
        self.parameters = parameters_of(function)
        self.options = {name: static_of(getattr(info, name)) for name in OPTIONS if hasattr(info, name)}
        numbers = {number + len(args) if number < 0 else number for number in getattr(info, 'static_argnums', None) or ()}
        names = set(getattr(info, 'static_argnames', None) or ())
        for (name, value), is_static in self._named(function, args, kwargs, numbers, names):
            if is_static:
                self.static[name] = static_of(value)
            else:
                self._walk(name, value, jax, shardings)

    def _walk(self, name, value, jax, shardings):
        waiting = [((), value)]
        while waiting:
            path, value = waiting.pop()
            if len(self.leaves) + len(self.nodes) >= LEAVES:
                self.is_whole = False
                return
            if type(value) in SCALARS or isinstance(value, jax.Array):
                self.leaves[name, path] = Leaf(value, jax.dtypes, shardings)
                continue
            children, tree = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda inner, outer=value: inner is not outer)
            if len(children) == 1 and not children[0][0]:
                self.leaves[name, path] = Leaf(value, jax.dtypes, shardings)
                continue
            self.nodes[name, path] = Node(value, children, tree)
            waiting += [(path + step, child) for step, child in reversed(children)]

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
        found, changed = [], set()
        for key, node in self.nodes.items():
            before = other.nodes.get(key)
            if before and before.kind == node.kind:
                found += [('static field', (*key, field), text) for field, text in node.unlike(before)]
            elif before or key in other.leaves:
                changed.add(key)
                found.append(('structure', key, '%s -> %s' % (before.kind[0] if before else other.leaves[key].type(), node.kind[0])))
        for key, leaf in self.leaves.items():
            before = other.leaves.get(key)
            what = leaf.unlike(before) if before else None
            if what:
                found.append((what[0], key, what[1]))
            elif key in other.nodes:
                changed.add(key)
                found.append(('structure', key, '%s -> %s' % (other.nodes[key].kind[0], leaf.type())))
        found += self._beside(other, changed, 'is new') + other._beside(self, changed, 'is gone')
        return found + self._unlike_static(other)

    def _beside(self, other, changed, text):
        """What only this one has, unless it is a part of what changed."""
        own = [key for key in self.leaves if key not in other.leaves and key not in other.nodes]
        own += [key for key, node in self.nodes.items() if node.is_empty and key not in other.leaves and key not in other.nodes]
        return [('arguments', key, text) for key in own if not any((key[0], key[1][:n]) in changed for n in range(len(key[1])) if changed)]

    def _unlike_static(self, other):
        found = []
        for kind, now, before in (('static argument', self.static, other.static), ('options of jit', self.options, other.options),
                                  ('parameters', self.parameters, other.parameters)):
            for name in {**now, **before}:
                this, that = now.get(name, DEFAULT), before.get(name, DEFAULT)
                if is_function_anew(that, this):
                    found.append((FUNCTION, (name, ()), 'of a function that is made anew at each call'))
                elif this != that:
                    found.append((PARAMETERS.get(name, kind) if kind == 'parameters' else kind, (name, ()), change_of(that, this)))
        return found

    def passed_unlike(self, other):
        """The same of how the arguments are passed, which jax tells apart."""
        return [('arguments', (name, ()), 'is given by name' if name in self.given_by_name else 'is given by place')
                for name in sorted(self.given_by_name ^ other.given_by_name)]


def parameters_of(function):
    """Those of an op of jax that runs by itself, for which jax jits a function of its own."""
    if not getattr(function, '_apply_primitive', False):
        return {}
    held = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    found = held['params'].cell_contents if 'params' in held else {}
    return {name: program_of(value) or static_of(value) for name, value in found.items()}


def program_of(value):
    """(text, hash, hash of the whole text) of a jaxpr, or of several: what scan and cond run; None."""
    parts = value if isinstance(value, tuple) else (value,)
    if not parts or any(not type(part).__name__.endswith('Jaxpr') for part in parts):
        return None
    try:
        whole = repr(value)
        return cut(whole), hash(value), hash(whole)
    except Exception:
        return None
