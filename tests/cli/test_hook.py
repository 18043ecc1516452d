#!/usr/bin/env python3
"""The parts of the Python hook that need no jax: the XSpace that it writes (read by the oracle's decoder), the way into PJRT plugins, --wrap,
the finder, and what jax.monitoring's events become. With jax itself: tests/live/test_capture.py.
Environment: IDS_BUILD_DIR, IDS_SOURCE_DIR, TMPDIR.
"""
import array
import ast
import copy
import ctypes
import dataclasses
import functools
import operator
import os
import shutil
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
ROOT = Path(os.environ['TMPDIR'])
HOOK = SOURCE / 'collectors' / 'python'
sys.path[:0] = [str(HOOK), str(SOURCE / 'tests' / 'oracle')]
import xplane_oracle as oracle  # noqa: E402  (found through the line above)
from _idsprof import idsprof_calls as calls, idsprof_misses as misses, idsprof_monitoring as monitoring, idsprof_plugins as plugins  # noqa: E402
from _idsprof import idsprof_hidden as hidden, idsprof_session as session  # noqa: E402
from _idsprof import idsprof_agent as agent, idsprof_executions as executions, idsprof_steps as steps, idsprof_wrap as wrap, idsprof_xspace as xspace  # noqa: E402

failures = 0


def same(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print('FAIL %s: %r, not %r' % (what, found, wanted))


def writes_xspace():
    plane = xspace.Plane('/host:x')
    plane.line(7, 'thread ä', 5, [(-1000, 2000, 'a(b)', {'n': -3, 's': 'text'}), (10 ** 15, 0, 'c', {}), (1, 2, 'a(b)', {'n': 1 << 62})])
    plane.line(-8, 'empty', 0, [])
    read, = oracle.parse(plane.space())
    same('plane', (read.name, [(line.id, line.name.decode()) for line in read.lines]), (b'/host:x', [(7, 'thread ä'), (-8, 'empty')]))
    same('events', [(event.start, event.dur, event.name, event.stats) for event in read.lines[0].events],
         [(4000, 2000, b'a(b)', [(b'n', b'i:-3'), (b's', b's:text')]), (5000 + 10 ** 15, 0, b'c', []),
          (5001, 2, b'a(b)', [(b'n', b'i:%d' % (1 << 62))])])
    same('two XSpaces one after the other', len(oracle.parse(plane.space() * 2)), 2)


def finds_the_start():
    environment = (xspace.chunk(2, b'Task Environment') +
                   xspace.chunk(5, xspace.number(1, 9) + xspace.chunk(2, xspace.number(1, 9) + xspace.chunk(2, b'profile_start_time'))) +
                   xspace.chunk(6, xspace.number(1, 9) + xspace.number(3, 1795247763409101556)))
    other = xspace.chunk(1, xspace.chunk(2, b'/host:CPU') + xspace.chunk(3, b'\0' * 100000))
    data = other + xspace.chunk(1, environment) + other
    same('start', xspace.profile_start_of_bytes(data), 1795247763409101556)
    same('no start', xspace.profile_start_of_bytes(other), 0)
    for cut in (1, 50, len(data) - 3):
        xspace.profile_start_of_bytes(data[:cut])
    same('no XSpace', xspace.profile_start_of_bytes(b'\xff' * 30), 0)
    same('nothing', xspace.profile_start_of_bytes(b''), 0)


class Monitor:
    """jax.monitoring's side."""

    def register_event_listener(self, listener):
        self.event = listener

    def register_event_duration_secs_listener(self, listener):
        self.span = listener


def tells():
    jax, marks, compiled = Monitor(), [], []
    told = monitoring.Monitoring(jax, lambda name, **stats: marks.append(stats['_p']), lambda *told: compiled.append(told))
    jax.span('/jax/core/compile/jaxpr_trace_duration', 0.5, fun_name='f')
    jax.span('/jax/something/else', 0.5)
    jax.event('/jax/compilation_cache/cache_hits')
    jax.span('/jax/compilation_cache/cache_retrieval_time_sec', 0.001)
    jax.span('/jax/compilation_cache/compile_time_saved_sec', -0.5)
    jax.span('/jax/core/compile/backend_compile_duration', 0.25, fun_name='jit(f)')
    other = threading.Thread(target=jax.span, args=('/jax/core/compile/jaxpr_to_mlir_module_duration', 0.125), kwargs={'fun_name': 'jit_g'})
    other.start()
    other.join()
    same('the agent is told of each compilation', [(name, ns // 10 ** 6) for name, ns in compiled], [('f', 250)])
    begin, end = told.told[0].begin_ns, told.told[-1].end_ns
    plane, = oracle.parse(told.space(begin, end, begin))
    same('lines', len(plane.lines), 2)
    names = sorted((event.name.decode(), event.dur // 10 ** 9) for line in plane.lines for event in line.events)
    same('events', names, [('jax.cache_hit(f)', 0), ('jax.cache_read(f)', 1), ('jax.compile(f)', 250), ('jax.lower(g)', 125),
                           ('jax.trace(f)', 500)])
    links = sorted(int(dict(event.stats)[b'_c'][2:]) for line in plane.lines for event in line.events)
    same('each points to a mark of its own', (links, sorted(marks)), ([1, 2, 3, 4, 5],) * 2)
    plane, = oracle.parse(told.space(end + 10 ** 12, end + 2 * 10 ** 12, begin))
    same('a window with nothing', [line.events for line in plane.lines], [[]])
    same('summary', told.summary().startswith('cache_hit 1, cache_read 1 in 0.001 s, compile 1 in 0.250 s'), True)
    for _ in range(monitoring.EVENTS + 10):
        jax.span('/jax/core/compile/jaxpr_trace_duration', 0.0, fun_name='f')
    same('no more than so many are kept', len(told.told), monitoring.EVENTS)


def leads_to_plugins():
    loaded, said = [], []
    client = types.SimpleNamespace(
        load_pjrt_plugin_dynamically=lambda name, path: loaded.append((name, path, os.environ.get(plugins.VARIABLE))))
    before = client.load_pjrt_plugin_dynamically
    same('without a shim', (plugins.follow(str(ROOT), client, None), client.load_pjrt_plugin_dynamically), (False, before))
    shim = ROOT / plugins.SHIM
    shim.write_text('')
    os.environ['IDSPROF_PJRT'] = '0'
    same('kept out', plugins.follow(str(ROOT), client, None), False)
    del os.environ['IDSPROF_PJRT']
    same('with a shim', plugins.follow(str(ROOT), client, lambda *fact: said.append(fact)), True)
    plugin = os.environ['IDS_BUILD_DIR'] + '/lib/idsprof/libidsprof_pjrt.so'  # exports what a plugin does; no sanitizer is in it
    client.load_pjrt_plugin_dynamically('my-gpu', plugin)
    client.load_pjrt_plugin_dynamically('none', 'libc.so.6')        # a library that is no plugin: the loader's own error
    client.load_pjrt_plugin_dynamically('tpu', 'libtpu.so')         # as JAX does on a machine without a TPU
    os.environ[plugins.TPU_KEPT] = plugin
    client.load_pjrt_plugin_dynamically('tpu', str(shim))           # TPU_LIBRARY_PATH had it there already
    del os.environ[plugins.TPU_KEPT]
    client.load_pjrt_plugin_dynamically('tpu', str(shim))           # and nobody knows which one was meant
    same('what is loaded, and what it stands for', loaded, [('my-gpu', str(shim), plugin), ('none', 'libc.so.6', None), ('tpu', 'libtpu.so', None),
                                                            ('tpu', str(shim), plugin), ('tpu', str(shim), None)])
    same('nothing of it stays for children', [name for name in os.environ if name.startswith('IDSPROF_PJRT')], [])
    same('said', said, [('plugin my-gpu', plugin), ('plugin tpu', plugin)])
    for name, kept in (('TPU_LIBRARY_PATH', None), ('TPU_LIBRARY_PATH', '/own/libtpu.so')):
        os.environ.pop(name, None)
        if kept:
            os.environ[name] = kept
        plugins.stand_for_libtpu(str(ROOT))
        same('no libtpu, or the own one: the variable stays', os.environ.get(name), kept)
    del os.environ['TPU_LIBRARY_PATH']
    package = ROOT / 'libtpu'
    package.mkdir()
    (package / '__init__.py').write_text('raise SystemExit("run")')
    (package / 'libtpu.so').write_text('')
    sys.path.append(str(ROOT))
    plugins.stand_for_libtpu(str(ROOT))
    same('before torch_xla', [os.environ.pop(name, None) for name in (plugins.TPU_VARIABLE, plugins.TPU_KEPT)], [str(shim), str(package / 'libtpu.so')])
    sys.path.remove(str(ROOT))


def wraps():
    seen = []

    class TraceAnnotation:
        def __init__(self, name, **facts):
            seen.append(name if facts == {'idsprof_wrap': 1} else (name, facts))

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            seen.append('end')

    class Callable:
        extra = 5

        def __call__(self, x):
            return x + 1

    class Model:
        def fit(self, x):
            return x * 2

        @staticmethod
        def still(x):
            return x

        @classmethod
        def made(cls, x):
            return cls.__name__, x

    async def coroutine():
        pass

    module = types.ModuleType('m')
    module.plain, module.called, module.Model, module.coroutine = (lambda x, *, y: (x, y)), Callable(), Model, coroutine
    called = module.called
    wanted = wrap.Wraps('m:plain,m:called,m:Model.fit,m:Model.still,m:Model.made,m:absent,m:coroutine,n:x')
    wanted.module(module, 'm')
    same('an object stays what it is', (module.called is called, type(called) is Callable, callable(called)), (True,) * 3)
    same('not found', wanted.missing(), 'never found: m:absent, n:x; m:coroutine cannot be annotated: it is a coroutine')
    same('regions', (wanted.region('m:plain'), wanted.region('plain'), wanted.region('o:plain')), ('plain', 'plain', 'o:plain'))
    same('before jax is there', module.plain(1, y=2), (1, 2))
    sys.modules['jax.profiler'] = types.SimpleNamespace(TraceAnnotation=TraceAnnotation)
    same('calls', [module.plain(1, y=2), module.called(1), Model().fit(4), Model.still(3), Model.made(1)], [(1, 2), 2, 8, 3, ('Model', 1)])
    same('annotations', seen, ['plain', 'end', 'called', 'end', 'Model.fit', 'end', 'Model.still', 'end', 'Model.made', 'end'])
    same('a copy, or another process, has the function as it was', copy.copy(module.called).__dict__, {})
    same('attributes', (module.called.extra, module.Model.fit.__name__), (5, 'fit'))
    del seen[:]
    same('another object of its class', (Callable()(1), seen), (2, []))
    del sys.modules['jax.profiler']


class OfPython:
    """What --wrap leaves alone of a class that Python made: its own C methods, methods named by an object."""
    def __init__(self, *args):
        self.made = functools.partial(len, args)

    def fit(self):
        return self


class Frozen(OfPython):
    def __setattr__(self, name, value):
        raise AttributeError('frozen')


# what --wrap names -> why it is left alone ('': it is not)
LEFT = {'itemgetter': 'an object of operator.itemgetter, which other code may use in other ways than by calling it',
        'Partial': 'a class; name a method of it', 'part': '', 'sub': 'an object of OfPython.Partial, which', 'sleep': '', 'cached': '',
        'array.append': 'of array.array, a type of C code, which cannot be changed', 'numbers.append': 'of array.array, a type of C code',
        'model.fit': 'a method of an object; name that of its class (OfPython.fit)', 'model.made': '',
        'OfPython.__new__': "Python's own, and making objects goes by whose it is; name __init__", 'OfPython.__repr__': 'an object of wrapper_descriptor',
        'OfPython.fit': '', 'Dict.get': '', 'Dict.fromkeys': 'an object of classmethod_descriptor', 'frozen.made': 'where nothing can be changed (frozen)'}


def harms_nothing():
    """C code finds the object that it reads by name; objects, types and classes are as they were, and who asked is told the true reason."""
    class Partial(functools.partial):
        pass

    class Dict(dict):
        pass
    Partial.__qualname__, Partial.__module__ = 'OfPython.Partial', '__main__'
    module, frozen = types.ModuleType('m'), Frozen.__new__(Frozen)
    vars(frozen)['made'] = len
    vars(module).update(itemgetter=operator.itemgetter(0), Partial=Partial, part=functools.partial(max, 2), sub=Partial(max, 2), sleep=time.sleep,
                        cached=functools.lru_cache(abs), array=array.array, numbers=array.array('i', [1]), model=OfPython(1, 2), OfPython=OfPython,
                        Dict=Dict, frozen=frozen)
    before = dict(vars(module))
    for name, why in LEFT.items():
        wanted = wrap.Wraps('m:' + name)
        wanted.module(module, 'm')
        said = wanted.missing()
        same('--wrap of ' + name, said if not why else said.startswith('m:%s cannot be annotated: it is %s' % (name, why)) or said, '' if not why else True)
    same('what is replaced', {name for name in before if vars(module)[name] is not before[name]}, {'part', 'sleep', 'cached'})
    same('and works', (module.part(1), module.cached(-3), module.cached.cache_info().misses, module.model.made(), module.model.fit() is module.model,
                       OfPython(1).made(), Dict(a=1).get('a'), Dict.fromkeys('a')), (2, 3, 1, 2, True, 1, 1, {'a': None}))


def counts():
    """The steps that calls of functions begin, by the library that counts them: functions of one place that come one after the other are one."""
    library, steps, meanwhile = ctypes.PyDLL(os.environ['IDS_BUILD_DIR'] + '/lib/idsprof/libidsprof_agent.so'), [], []
    called = ctypes.PYFUNCTYPE(ctypes.c_void_p, *(ctypes.c_void_p,) * 4)(lambda *arguments: None)
    begins = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)(lambda function, number: steps.append((function, number)) or [act() for act in meanwhile] and 1 or 1)
    library.ids_count_begin.argtypes, library.ids_count_call.argtypes = (ctypes.c_void_p,) * 3, (ctypes.c_void_p,) * 4
    library.ids_count_follow.argtypes = ctypes.c_void_p, ctypes.c_int
    library.ids_count_begin(ctypes.cast(called, ctypes.c_void_p), ctypes.cast(begins, ctypes.c_void_p), None)
    functions = iter(range(16, 1 << 20, 16))

    def begun(kind, *turns):
        """What each turn begins: the functions of its letters are called, a capital makes the function before that."""
        known, numbers = {}, []
        for turn in turns:
            for letter in turn:
                if letter.isupper():
                    known[letter.lower()] = next(functions)
                    library.ids_count_follow(known[letter.lower()], kind)
                else:
                    library.ids_count_call(known[letter], None, 0, None)
            numbers.append([number for _, number in steps])
            del steps[:]
        return numbers
    same('a new one in each turn', begun(0, 'Aa', 'Aa', 'Aa'), [[0], [1], [2]])
    same('two kinds: the one that is called most', begun(1, 'Aa', 'Aa', 'Aa', 'Aa'), [[], [], [], [3]])
    same('three new ones in each turn', begun(2, 'ABCabc', 'ABCabc', *['ABCabc'] * 3), [[], [], [], [], [4]])
    same('a new one that is called twice', begun(3, 'Aaa', 'Aaa', 'Aaa'), [[], [], [5]])
    same('three that are made once', begun(4, 'ABCabc', *['abc'] * 6), [[]] * 6 + [[6]])
    same('three that are made one after the other', begun(5, 'AaBbCc', *['abc'] * 7)[-3:], [[7], [8], [9]])
    same('those that live side by side take nothing over', begun(5, 'Dd', 'Dd'), [[], []])
    same('of no known place', begun(-1, *['Aa'] * 12), [[]] * 12)
    # Who is called most is in front.
    library.ids_count_front.restype = ctypes.c_void_p
    before = library.ids_count_front()
    same('those that are called less are not', [begun(6, 'Aa', 'a'), library.ids_count_front()], [[[], []], before])
    same('one that is', [begun(7, 'A' + 'a' * 12)[0][:1], library.ids_count_front() != before], [[10], True])

    library.ids_count_turn_place.restype = ctypes.c_int64

    def turn(*loop):
        """Which function's call comes with each so many-th of the one in front, after each of these loops: how often, and letters."""
        library.ids_count_turn.argtypes, library.ids_count_turn.restype = (ctypes.POINTER(ctypes.c_int64),), ctypes.c_void_p
        known, found = {}, []
        for times, letters in loop:
            for letter in letters * times:
                if letter not in known:
                    known[letter] = (100 + len(made)) << 12
                    made.append(known[letter])
                    library.ids_count_follow(known[letter], -1)
                library.ids_count_call(known[letter], None, 0, None)
            every = ctypes.c_int64()
            function = library.ids_count_turn(every)
            found.append(function and ({at: letter for letter, at in known.items()}[function], every.value))
        return found
    made = []
    same('four calls, and one with them', turn((300, 'mmmma'), (1, 'mmmm'), (1, 'm')), [('a', 4), ('a', 4), None])
    same('the one that comes most', turn((500, 'mmmmamel')), [('a', 5)])
    same('in no turn', turn((3000, 'm'), (20, 'mmmmammma'), (30, 'ma'), (9, 'm' * 65 + 'a'), (1, 'mm')), [None] * 3 + [('a', 65)] * 2)
    same('but in a long one: with the last of 3755 calls', library.ids_count_turn_place(), 3754 % 65)

    # Functions of one name are one for a pattern: what has the name of the one in front is told last, and of two of another name each call.
    library.ids_count_name.argtypes, library.ids_count_name.restype = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int), None
    library.ids_count_beside.argtypes = [ctypes.c_void_p]

    def named(letters, is_op, beside=''):
        """What turn() says, of functions that bear their letter in small as a name."""
        known = {}
        for letter in letters:
            if letter not in known:
                known[letter] = (700 + len(made)) << 12
                made.append(known[letter])
                (library.ids_count_beside if letter in beside else library.ids_count_follow)(known[letter], *() if letter in beside else (-1,))
                library.ids_count_name(known[letter], ord(letter.lower()), is_op)
            library.ids_count_call(known[letter], None, 0, None)
        every = ctypes.c_int64()
        function = library.ids_count_turn(every)
        return function and ({at: letter for letter, at in known.items()}.get(function), every.value)
    same('the name of the one in front is told by its own calls', named('mmmM' * 1300, 0), ('M', 3))
    same('but after another name', named('nnnNo' * 1400, 0), ('o', 3))
    same('two of a name, each once', named('pppqQ' * 1500, 0), None)

    # What initialises is called more often, and is over when the loop has run for longer without it; but that takes a second.
    def played(letters, evaluates=''):
        """The steps that these calls begin, as letters; a pause of a second for each dot."""
        began = []
        for letter in letters:
            if letter == '.':
                time.sleep(1.05)
                continue
            if letter not in over:
                over[letter] = (500 + len(over)) << 12
                library.ids_count_follow(over[letter], -1)
                if letter in evaluates:
                    library.ids_count_evaluates(over[letter])
            library.ids_count_call(over[letter], None, 0, None)
            began += [letter] * len(steps)
            del steps[:]
        return ''.join(began)[-4:]
    over, library.ids_count_evaluates.argtypes = {}, (ctypes.c_void_p,)
    same('what initialises is in front', played('i' * 9000 + 'k' * 50), 'iiii')
    same('the loop is called less', played('ttttt'), '')
    same('and is in front when the other one is over', played('.tttt'), 'tttt')
    same('for good', (played('k'), played('iiiiitititit')), ('', 'tttt'))
    same('what evaluates is called more often', played('e' * 12000 + '.e', 'e'), '')
    same('and the loop goes on', played('tt'), 'tt')
    library.ids_count_evaluates(over['t'])
    same('what trains is the loop though it was called less', played('uuuu'), 'uu')

    # Those beside are counted, and begin no step.
    for function in (library.ids_count_beside, library.ids_count_calls_beside, library.ids_count_front):
        function.argtypes = [ctypes.c_void_p]
    library.ids_count_calls_beside.argtypes += [ctypes.POINTER(ctypes.c_int)]
    library.ids_count_front.argtypes = []
    library.ids_count_calls_beside.restype = library.ids_count_reached.restype = ctypes.c_int64
    beside, is_late, reached = [(900 + n) << 12 for n in range(4)], ctypes.c_int(), library.ids_count_reached()
    for function in beside[:3]:
        library.ids_count_beside(function)
    for pause, functions_called in (0, [0] * 9 + [1]), (.2, [1]), (.1, [2] * 3):
        time.sleep(pause)
        for n in functions_called:
            library.ids_count_call(beside[n], None, 0, None)
    same('calls beside the steps, and whether they go on in the later half of the time',
         [(library.ids_count_calls_beside(function, is_late), is_late.value) for function in beside + [over['u']]], [(9, 0), (2, 1), (3, 1), (0, 0), (0, 0)])
    same('they are no steps', (steps, library.ids_count_reached()), ([], reached))
    turning = {letter: (950 + n) << 12 for n, letter in enumerate('vwxyY')}
    library.ids_count_every.restype = ctypes.c_int64
    for letter, function in turning.items():
        library.ids_count_beside(function)
        library.ids_count_name(function, 200 + ord(letter.lower()), 1)

    def every():
        return [library.ids_count_every(200 + ord(letter)) for letter in 'vwxy']
    for letter in 'vw' * 300 + 'v' + 'wxwvyY' * 20:
        library.ids_count_call(turning[letter], None, 0, None)
    same('with which of all calls beside those of a name come: what comes once in a turn for most of them', every(), [2, 2, 0, 0])
    for letter in 'wxwvyY' * 600:
        library.ids_count_call(turning[letter], None, 0, None)
    same('the turn is another one then, in which two of a name come one after the other', every(), [6, 0, 6, 0])
    library.ids_count_follow(beside[0], -1)
    same('an address that is another function now', library.ids_count_calls_beside(beside[0], is_late), 0)
    for function in (library.ids_count_choose, library.ids_count_is_chosen):
        function.argtypes = ctypes.c_char_p,
    same('every name is chosen', library.ids_count_is_chosen(b'any'), 1)
    patterns = b')', b'(', b'^tr(ai|u)n$', b'x{2}', b'a|^b'
    same('an extended regular expression, as the launcher reads it', [library.ids_count_choose(pattern) for pattern in patterns], [0, -1, 0, 0, 0])
    library.ids_count_choose(b')')
    same('a bracket that closes nothing is one', [library.ids_count_is_chosen(name) for name in (b'f()', b'f')], [1, 0])
    library.ids_count_choose(b'^t(a|b)$')
    same('what matches is chosen', [library.ids_count_is_chosen(name) for name in (b'ta', b'tab', b'tb')], [1, 0, 1])

    # A call in a trace is no execution: by what jax's own question compares, or by that question.
    clean, state, usual = (lambda: answers[0]), [types.SimpleNamespace(value=0), types.SimpleNamespace(value=1)], [object(), object()]
    answers, name, pair = [True], sys.intern('value'), ctypes.c_void_p * 2
    library.ids_count_begin(ctypes.cast(called, ctypes.c_void_p), ctypes.cast(begins, ctypes.c_void_p), id(clean))
    library.ids_count_states.argtypes = ctypes.c_void_p, pair, pair

    def counted():
        before = library.ids_count_calls_beside(beside[1], is_late)
        library.ids_count_call(beside[1], None, 0, None)
        return library.ids_count_calls_beside(beside[1], is_late) - before
    found, seen = [counted()], []
    if sys.version_info >= (3, 11):
        sys.setprofile(lambda frame, event, value: seen.append(frame.f_code))
        counted()
        sys.setprofile(None)
    same('a profiler does not see the question', clean.__code__ in seen, False)
    answers[0] = False
    found.append(counted())
    library.ids_count_states(id(name), pair(*map(id, state)), pair(*map(id, usual)))
    for state[0].value, state[1].value in ((usual[0], usual[1]), (usual[0], 1), (0, usual[1]), (usual[1], usual[0])):
        found.append(counted())
    del state[0].value
    found.append(counted())
    same('calls in a trace', found, [1, 0, 1, 0, 0, 0, 0])
    library.ids_count_begin(ctypes.cast(called, ctypes.c_void_p), ctypes.cast(begins, ctypes.c_void_p), None)

    # The callback may wait, as where it opens a window: what other threads call meanwhile is of that step.
    def call_on_thread(then=lambda: None):
        def calls_on():
            for _ in range(3 if len(steps) < 9 else 0):
                library.ids_count_call(over['u'], None, 0, None)
            then()
        thread = threading.Thread(target=calls_on)
        thread.start()
        thread.join()

    def fork():
        child = os.fork()
        if not child:
            del steps[:], meanwhile[:]
            for _ in range(2):
                library.ids_count_call(over['u'], None, 0, None)
            os._exit(len(steps))
        forked.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    forked = []
    library.ids_count_call(over['u'], None, 0, None)
    first = steps[-1][1]
    del steps[:]
    meanwhile.append(call_on_thread)
    for _ in range(3):
        library.ids_count_call(over['u'], None, 0, None)
    same('calls of other threads while a step begins are of that step', [number for _, number in steps], [first + 1, first + 2, first + 3])
    meanwhile[:] = [lambda: call_on_thread(fork)]
    library.ids_count_call(over['u'], None, 0, None)
    same('a child of which a thread forks then counts on', forked, [1])
    meanwhile[:] = []
    same('what is beside a function of the program is no turn of it', named('rrrs' * 4500, 0, 's'), None)
    same('but beside an op of jax', named('ttttu' * 3600, 1, 'u'), ('u', 4))
    library.ids_count_end()


asked = []


class Index:
    """A number of another kind, which would have to be waited for."""

    def __index__(self):
        asked.append('asked for its value')
        return 5


def annotations():
    """What a step annotation tells and does, by the method in C and by the one in Python: the same."""
    class TraceAnnotation:
        def __init__(self, name, **kwargs):
            self.made = name, kwargs

    class Annotation(TraceAnnotation):
        def __init__(self, name, **kwargs):
            super().__init__(name, _r=1, **kwargs)

    class Agent:
        library = None
        told, wanted, error = [], True, None

        def step(self, *words):
            self.told.append(words)
            if self.error:
                raise self.error

        def wants(self, source):
            return self.wanted

    own = Annotation.__init__
    for way, library in (('in C', ctypes.CDLL(os.environ['IDS_BUILD_DIR'] + '/lib/idsprof/libidsprof_agent.so')), ('in Python', None)):
        agent, session, first = Agent(), types.SimpleNamespace(has_closed=False), []
        agent.told, agent.library = [], library
        steps.follow_steps(agent, types.SimpleNamespace(StepTraceAnnotation=Annotation), session, lambda: first.append(1))
        same('%s: it is' % way, type(vars(Annotation)['__init__']), types.FunctionType if library is None else type(str.lower))
        same('%s: as the program made it' % way, [Annotation('train', step_num=7, more=[1]).made, Annotation(name='eval').made],
             [('train', {'_r': 1, 'step_num': 7, 'more': [1]}), ('eval', {'_r': 1})])
        same('%s: told' % way, (agent.told, first), ([(1, b'train', 7), (1, b'eval', -1)], [1]))

        class Own(Annotation):
            def __init__(self):
                super().__init__('of its own', step_num=2 ** 70)
        same('%s: of a class of the program' % way, Own().made, ('of its own', {'_r': 1, 'step_num': 2 ** 70}))
        number = Index()
        same('%s: a number of another kind' % way, Annotation('train', step_num=number).made, ('train', {'_r': 1, 'step_num': number}))
        same('%s: which is not' % way, asked, [])
        same('%s: a name that is no text' % way, Annotation(5).made, (5, {'_r': 1}))
        for words in ((), ('a', 'b')):
            try:
                Annotation(*words)
                same('%s: %s' % (way, words), 'made', 'refused')
            except TypeError as error:
                same('%s: %s' % (way, words), '__init__() ' in str(error), True)
        agent.error = KeyboardInterrupt()
        try:
            Annotation('train', step_num=8)
            same('%s: Ctrl-C' % way, 'made', 'interrupted')
        except KeyboardInterrupt:
            agent.error = None
        agent.wanted, session.has_closed = False, True
        same('%s: the last one' % way, Annotation('train', step_num=9).made, ('train', {'_r': 1, 'step_num': 9}))
        same('%s: undone' % way, vars(Annotation)['__init__'] is own, True)


def steps_of_a_window():
    """A step that begins while another thread's ends the window is none of it."""
    for state, wanted in ((2, [('f', 46)]), (3, [])):           # OPENED, CLOSING
        marked, counting = [], object.__new__(executions.Executions)
        counting.is_clean, counting.annotation, counting.names = (lambda: True), None, {7: 'f'}
        counting.session = types.SimpleNamespace(ours=object())
        counting.agent = types.SimpleNamespace(step=lambda *words: None, wants=lambda source: True, state=lambda: state)
        counting.annotate = lambda name, number: marked.append((name, number))
        same('a step in state %d is one' % state, counting.step(7, 46), 1)
        same('and is marked in state %d' % state, marked, wanted)

    def interrupts(*_words):
        raise KeyboardInterrupt
    counting.agent.step = interrupts
    same('Ctrl-C in it is left to C, which has it raised later', counting.step(7, 47), 2)
    counting.agent.step = lambda *words: agent.interrupted.append(True)     # in a callback of the agent
    same('and so is that of a window that opens', (counting.step(7, 48), agent.interrupted), (2, []))


def hides():
    """Profilers and debuggers of the program are told of no function of ours, and of all others. A copy of the library counts anew."""
    if sys.version_info < (3, 11):
        return
    copied = shutil.copy(os.environ['IDS_BUILD_DIR'] + '/lib/idsprof/libidsprof_agent.so', os.environ.get('TMPDIR', '/tmp') + '/hides.so')
    library, before, seen, begun = ctypes.PyDLL(copied), hidden.library, [], []
    hidden.library = library

    def ours(value=1):
        begun.append(value)
        return inner(value)

    def inner(value):
        if value < 0:
            raise KeyError(value)
        return value

    def theirs(value):
        return value + 1

    def original(*_arguments):
        return None

    def clean():
        return True

    def tell(name, step_num=-1):
        return inner(1)
    called = ctypes.PYFUNCTYPE(ctypes.c_void_p, *(ctypes.c_void_p,) * 4)(original)
    begins = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)(lambda function, number: ours(number) >= 0)
    library.ids_count_begin.argtypes, library.ids_count_call.argtypes = (ctypes.c_void_p,) * 3, (ctypes.c_void_p,) * 4
    library.ids_count_follow.argtypes = ctypes.c_void_p, ctypes.c_int
    library.ids_count_begin(ctypes.cast(called, ctypes.c_void_p), ctypes.cast(begins, ctypes.c_void_p), id(clean))
    library.ids_count_follow(16, -1)

    class Annotation:
        def __init__(self, name, **more):
            theirs(1)
    agent = types.SimpleNamespace(library=library)
    Annotation.__init__ = steps._in_c(agent, Annotation, Annotation.__init__, tell)
    call, after, fails = hidden.hidden(ours), hidden.hidden_after(theirs, ours), hidden.hidden(lambda: inner(-1))

    def loop():
        found = [call(5), after(6), theirs(7)]
        library.ids_count_call(16, None, 0, None)
        Annotation('train', step_num=3)
        try:
            fails()
        except KeyError as error:
            found.append(error.args)
        theirs(8)
        return found
    for way in 'setprofile', 'settrace':
        del seen[:], begun[:]
        follow = getattr(sys, way)
        follow(lambda frame, event, what: seen.append(frame.f_code.co_name) if event == 'call' else None)
        try:
            found = loop()
        finally:
            follow(None)
        same('%s: what hidden functions give' % way, (found, begun[:2]), ([5, 7, 8, (-1,)], [5, 7]))
        same('%s: and that they ran' % way, len(begun), 3)
        same('%s: what is seen' % way, seen, ['loop', 'theirs', 'theirs', 'original', '__init__', 'theirs', 'theirs'])
    library.ids_count_end()
    hidden.library = before


@dataclasses.dataclass
class State:
    w: object
    step: int


class Key(tuple):
    """A step of a path; that of a field knows its name."""
    name = property(lambda self: self[0] if self[0] in ('w', 'step') else None)


def flatten(value, is_leaf):
    """One level of jax's trees: dicts, lists, tuples, None, and State, whose step is static. An array is what has a shape."""
    items = (sorted(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, (list, tuple)) else
             [] if value is None else [('w', value.w)] if isinstance(value, State) else [((), value)])
    kept = value.step if isinstance(value, State) else None
    children = [((Key((name,)),) if name != () else (), child) for name, child in items]
    return children, Kept(kept or 0)


class Kept(int):
    def node_data(self):
        return State, int(self)


def tells_calls_apart():
    """What a call of a jitted function was compiled for, with a double of jax: reasons with jax itself are in live.misses."""
    array = types.SimpleNamespace(shape=(3,), dtype=types.SimpleNamespace(name='float32'), weak_type=False)
    sys.modules['jax'] = types.SimpleNamespace(Array=types.SimpleNamespace, dtypes=None, tree_util=types.SimpleNamespace(
        tree_flatten_with_path=flatten, keystr=lambda path: ''.join('[%r]' % key[0] for key in path)))

    def function(tree, n=0):
        pass

    def unlike(before, now, **more):
        options = types.SimpleNamespace(donate_argnums=())
        earlier = calls.Call(function, options, (before,), {})
        options.donate_argnums = more.get('donate', ())
        found = calls.Call(function, options, (now,), {}).unlike(earlier)
        return misses.reason_of(found) if found else ''
    for what, before, now, reason in (
            ('alike', [State(array, 1)], [State(array, 1)], ''),
            ('a field', {'s': State(array, 1)}, {'s': State(array, 2)}, "static field: tree['s'].step 1 -> 2"),
            ('None for an array', {'a': array}, {'a': None}, "structure: tree['a'] f32[3] -> None"),
            ('an array for None', [None], [array], 'structure: tree[0] None -> f32[3]'),
            ('a tuple for a list', {'a': [array]}, {'a': (array, array)}, "structure: tree['a'] list -> tuple"),
            ('one more', [array], [array, array], 'arguments: tree[1] is new'),
            ('an empty one less', [array, None], [array], 'arguments: tree[1] is gone')):
        same(what, unlike(before, now), reason)
    same('an option of jit', unlike(array, array, donate=(0,)), 'options of jit: donate_argnums () -> (0,)')
    told, made = misses.Misses(), [lambda tree: 0 for _ in range(3)]
    call = calls.Call(made[0], None, (array,), {})
    known = misses.Function()
    known.add(made[0], call)
    same('the first call of one of several', told._compare(known, call, made[1]), '')
    known.add(made[1], call)
    same('nothing that is known', told._compare(known, call, made[1]), 'same arguments: nothing else that idsprof knows has changed')
    del made[0]
    same('in the place of one that is gone', told._compare(known, call, made[1]).startswith('new function object: test_hook.py:'), True)
    del sys.modules['jax']


def run(code, **environment):
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env={'PATH': os.environ['PATH'], 'PYTHONPATH': str(HOOK), 'PYTHONDONTWRITEBYTECODE': '1', **environment})
    return done.returncode, done.stdout, done.stderr


def watches():
    """A script is looked at line by line until what is wanted is there, and then no more."""
    code = """import sys; sys.path.insert(0, %r)
from _idsprof import idsprof_script as script
looks = []
def look():
    looks.append('wanted' in globals())
    return looks[-1]
%s
print(script.watch(look))
before = [look.__name__ for _ in range(3)]
def wanted():
    pass
seen = wanted()
for _ in range(100):
    seen = wanted()
print(looks.count(True), 1 <= looks.count(False) <= 6, sys.gettrace(), hasattr(sys, 'monitoring') and sys.monitoring.get_tool(3))
"""
    same('a script', run(code % (str(HOOK), '')), (0, 'True\n1 True None %s\n' % (hasattr(sys, 'monitoring') and None), ''))
    if not hasattr(sys, 'monitoring'):
        same('a script that is traced', run(code % (str(HOOK), 'sys.settrace(lambda *a: None)'))[1].splitlines()[0], 'False')
        same('calls without end', run(code.replace('def wanted', '[(lambda: 0)() for _ in range(9)]\nprint(sys.gettrace())\ndef wanted') %
                                      (str(HOOK), 'script.CALLS = 3'))[1].splitlines()[1], 'None')


def knows_programs():
    """What scan and cond run is known by the function that it was made of: jax's own text of it says whether it does the same."""
    class ClosedJaxpr:
        def __init__(self, text):
            self.text = text

        def __repr__(self):
            return self.text

    alive = []                          # what is gone may have the address of what comes

    def of(*texts):
        parts = tuple(map(ClosedJaxpr, texts))
        alive.append(parts)
        return calls.program_of(parts[0] if len(parts) == 1 else parts)
    long = '{ lambda ; a:f32[16] b:f32[]. let\n    c:f32[16] = mul a 0.9:f32[]\n    d:f32[16] = add c %s\n  in (d,) }'
    same('its text is one short line', of(long % 'b')[0], '{ lambda ; a:f32[16] b:f32[]. let c:f32[16] = mul a 0.9:f...')
    same('made anew', calls.is_function_anew(of(long % 'b'), of(long % 'b')), True)
    same('several made anew', calls.is_function_anew(of('{ a }', '{ b }'), of('{ a }', '{ b }')), True)
    same('of another text, where it is cut', calls.is_function_anew(of(long % 'b'), of(long % 'a')), False)
    once = of(long % 'b')
    same('the same one', calls.is_function_anew(once, once), False)
    same('no program', [calls.program_of(value) for value in ((), 3, (3, 'x'))], [None] * 3)
    same('other values', calls.is_function_anew(calls.static_of('x'), ('x', 0)), False)
    same('of one text', calls.change_of(('<Mask>', 1), ('<Mask>', 2)), '<Mask>, a new object each time')


def static_values():
    """What changed of a static value that is long, or holds others: that alone is said, and never that it is made anew because its
    beginning is the same."""
    def change(before, now):
        return calls.change_of(calls.static_of(before), calls.static_of(now))
    same('a number', change(1.5, 2.5), '1.5 -> 2.5')
    head = 'model/block/' * 20
    same('behind a long text', change((head, 1.0), (head, 2.0)), '[1] 1.0 -> 2.0')
    same('deep inside', change(((len, (head,)), {'lr': (1, 2.0)}), ((len, (head,)), {'lr': (1, 3.0)})), "[1]['lr'][1] 2.0 -> 3.0")
    same('short', change((4, 12), (4, 13)), '(4, 12) -> (4, 13)')
    same('the first two', change((head, *range(5)), (head, *range(1, 6))), '[1] 0 -> 1; [2] 1 -> 2')
    same('a function made anew', change(((lambda: 0), 7), ((lambda: 0), 7)), '[0] <function static_values.<locals>.<lambda>>, a new object each time')
    same('longer', change((1, 2), (1, 2, 3)), '(1, 2) -> (1, 2, 3)')
    same('a text', change(head + 'attention/query', head + 'attention/value'), "'...lock/attention/query' -> '...lock/attention/value'")
    same('a text that begins otherwise', change('a' + head, 'b' + head), "'amodel/block/model/block/model...' -> 'bmodel/block/model/block/model...'")
    odd = type('Odd', (), {'__repr__': lambda self: head})
    same('not told apart', change(odd(), odd()).endswith('in what is not shown here'), True)
    many = tuple(range(1000))
    same('no more than some of many', len(calls.static_of((many, many)).parts), calls.PARTS)
    loop = []
    loop.append(loop)
    same('a list in itself', calls.static_of(loop).parts.keys(), {'[0]' * calls.DEPTH})


def cuts_between_characters():
    why = ctypes.create_string_buffer(8)

    def fails():
        raise agent.Refused('4 × 5 ×')
    same('refused', agent._answer(ctypes.addressof(why), 8, fails), 1)
    same('as much as has room', why.value.decode(), '4 × 5 ')
    why = ctypes.create_string_buffer(8)
    agent._answer(ctypes.addressof(why), 4, fails)
    same('no half a character', why.value.decode(), '4 ')


def waits():
    """The finder with a jax that is none: the hook fails in it, which the program must not see."""
    (ROOT / 'jax').mkdir()
    (ROOT / 'jax' / '__init__.py').write_text('__version__ = "0"\nimport jax.sub\n')
    (ROOT / 'jax' / 'sub.py').write_text('')
    (ROOT / '.idsprof').mkdir()
    paths = str(HOOK) + os.pathsep + str(ROOT)
    plan = {'PYTHONPATH': paths, 'IDSPROF_PLAN': 'start_step=1;wrap=absent:f;steps=2', 'IDSPROF_SESSION': str(ROOT)}
    asks = 'import jax, jax.sub; print(jax.__loader__ is jax.__spec__.loader, type(jax.__loader__).__name__, "exec_module" in vars(jax.__loader__))'
    same('a program with a jax', run(asks, **plan), (0, 'True SourceFileLoader False\n', ''))
    lines = (ROOT / '.idsprof' / 'followed').read_text().splitlines()
    same('the launcher is told', ['"event":"python"' in lines[0], '"event": "failed"' in lines[1]], [True, True])
    code, out, err = run(asks, IDSPROF_DEBUG='1', **plan)
    same('who asks is told', (code, 'idsprof: the Python hook: it could not start' in err), (0, True))
    cleans = 'import sys; sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "sitecustomize"]; '
    for program, is_told in (cleans + 'import jax', True), (cleans, False), ('import jax; ' + cleans, False):
        (ROOT / '.idsprof' / 'followed').unlink()
        same('a program that cleans sys.meta_path', run(program, **plan), (0, '', ''))
        same('the launcher is told that it was taken out', 'out of sys.meta_path' in (ROOT / '.idsprof' / 'followed').read_text(), is_told)
    wheel = ROOT / 'site-packages' / '_idsprof' # where `pip install idsprof` puts the engine of the Python module
    wheel.mkdir(parents=True)
    (wheel / '__init__.py').write_text('')
    (wheel / 'idsprof_engine.py').write_text('mine = "the wheel\'s"\n')
    beside = {**plan, 'PYTHONPATH': os.pathsep.join([str(HOOK), str(wheel.parent), str(ROOT)])}
    known = 'import sys, jax; print("_idsprof.idsprof_hook" in sys.modules); from _idsprof import idsprof_engine; print(idsprof_engine.mine)'
    for before in '', 'import _idsprof.idsprof_engine; ':
        same('beside the wheel', run(before + known, **beside), (0, "True\nthe wheel's\n", ''))
    absent = 'try:\n import absent\nexcept ModuleNotFoundError as error:\n print(error.name)'
    same('a module that it waits for and that is not there', run(absent, **plan), (0, 'absent\n', ''))
    same('without a plan', run('import sys; print(type(sys.meta_path[0]).__module__)')[1] != 'sitecustomize\n', True)
    same('nowhere to write', run('print(1)', **{**plan, 'IDSPROF_SESSION': '/nowhere'}), (0, '1\n', ''))


def old_pythons_go_on():
    """A Python before 3.9 that the program starts reads the file, and runs the sitecustomize that is behind ours."""
    code = (HOOK / 'sitecustomize.py').read_bytes()
    later = (ast.JoinedStr, ast.Starred, ast.AnnAssign, ast.NamedExpr, ast.Nonlocal, ast.YieldFrom, ast.AsyncFunctionDef, ast.MatMult)
    tree = ast.parse(code)
    of_calls = [arg for node in ast.walk(tree) if isinstance(node, ast.Call) for arg in node.args]
    found = [type(node).__name__ for node in ast.walk(tree) if isinstance(node, later) and node not in of_calls]
    same('what Python 2 cannot read', found, [])
    functions = [node.args for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    same('nor this', [bool(args.kwonlyargs or args.posonlyargs or any(arg.annotation for arg in args.args)) for args in functions], [False] * len(functions))
    same('nor letters', code.isascii(), True)
    behind = ROOT / 'behind'
    behind.mkdir()
    (behind / 'sitecustomize.py').write_text('mine = 42')
    fake = """import sys, types
sys.version_info = (2, 7, 18)
sys.modules.pop('sitecustomize', None)
sys.path.insert(0, %r)
seen = []
def find_module(name, path):
    if not any('behind' in folder for folder in path): raise ImportError(name)
    seen.append((name, %r in path))
    return None, 'file', ('.py', 'U', 1)
sys.modules['imp'] = types.SimpleNamespace(find_module=find_module, load_module=lambda *given: seen.append(given))
finders = len(sys.meta_path)
for behind in (True, False):
    exec(compile(open(%r + '/sitecustomize.py').read(), 'sitecustomize.py', 'exec'), {'__file__': %r + '/sitecustomize.py', '__name__': 'sitecustomize'})
    sys.path[:] = [folder for folder in sys.path if 'behind' not in folder]
print(seen, len(sys.meta_path) - finders)
"""
    home = str(HOOK)
    done = subprocess.run([sys.executable, '-S', '-c', fake % (str(behind), home, home, home)], capture_output=True, text=True,
                          env={**os.environ, 'IDSPROF_PLAN': 'x', 'IDSPROF_SESSION': str(ROOT)})
    same('Python 2', (done.stdout, done.stderr), ("[('sitecustomize', False), ('sitecustomize', None, 'file', ('.py', 'U', 1))] 0\n", ''))


def opens_at_once():
    """The agent may open a window before our registration has returned: the callback knows the handle and the plan all the same."""
    plan = {'host_level': '3', 'device_level': '1', 'python_level': '0', 'memory': '1', 'profile_options': 'repository_path=x\nraise=1'}
    began = []

    class Own(session.Session):
        def _begin(self):
            began.append((self.agent.handle, self.levels, self.keeps_memory, self.chosen))

    def register(collector, why, why_size):
        collector._obj.handle.contents.value = 7
        began.append(collector._obj.start(None, ctypes.addressof(why), why_size))
        return 7

    os.environ['IDSPROF_HOME'] = os.environ['IDS_BUILD_DIR'] + '/lib/idsprof'
    made = agent.Agent(str(HOOK))
    made.plan = plan.__getitem__
    made.library = types.SimpleNamespace(ids_agent_register=register, ids_agent_entered=lambda: None)
    profiler = types.SimpleNamespace(ProfilerSession=object, TraceMe=types.SimpleNamespace(is_enabled=lambda: False))
    same('asleep', made.handle, 0)
    same('registered', made.register(Own(made, profiler)), True)
    same('a window that opens at once', began, [(7, [3, 1, 0], True, {'repository_path': 'x', 'raise': '1'}), 0])


def main():
    for test in (writes_xspace, finds_the_start, tells, leads_to_plugins, wraps, harms_nothing, counts, annotations, steps_of_a_window, hides, tells_calls_apart, watches, knows_programs,
                 static_values, cuts_between_characters, waits, old_pythons_go_on, opens_at_once):
        test()
    print('%d failures' % failures)
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
