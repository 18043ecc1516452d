"""idsprof_executions.py - steps of a program without annotations, counted from the calls of its jitted functions.

The jitted function that is called most defines the steps: step n begins at its n-th call. What initialises or evaluates and is called more
often does not (executions.c). Functions that the program makes at one place of its source, one after the other, are one function. Calls inside the trace of another function
and functions of jax itself do not count. In a window each step is marked in the profile, from one such call to the next.

A jitted function (jaxlib's PjitFunction) is called through the pointer that its type's tp_vectorcall_offset names (PEP 590). The
pointer of each function that jax.jit makes is replaced by ids_count_call (executions.c), which counts and calls the old
pointer, so jax's own fast path remains. Private attributes are checked before they are changed; if one looks unfamiliar, nothing is
changed.
"""
import collections
import ctypes
import gc
import re
import sys
import threading
import time

from .idsprof_agent import CALL, OPENED, interrupted
from .idsprof_hidden import hidden_after
from .idsprof_misses import innermost, is_of_jax, name_of

COSTS, COSTS_LEAST = 1000, 20
INTERRUPTED = 2                 # as in executions.c
KINDS = 4096                    # as in executions.c
PMAP_FRAMES = 12                # from jax's making of a jitted function outwards to its pmap
FLAG_VECTORCALL = 1 << 11       # Py_TPFLAGS_HAVE_VECTORCALL
NAME, BASICSIZE, VECTORCALL_OFFSET, FLAGS = 24, 32, 56, 168         # in PyTypeObject, 64 bits, with the GIL
OPS_SHOWN = 3
EVALUATES = re.compile('(?<![a-z])(?i:eval|valid|test|predict|infer)')      # as of annotations: lib/analysis/step_marks.c
CONSTANTS = 'broadcast_in_dim', 'convert_element_type', 'iota', 'reshape', '_multi_slice'


class Unknown(Exception):
    """Why executions cannot be counted here."""


def vectorcall_offset(kind):
    """The offset of the vectorcall pointer in instances of a type."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or not getattr(sys, '_is_gil_enabled', lambda: True)():
        raise Unknown('Python is none with 64 bits and a global lock')

    def field(at):
        return ctypes.c_ssize_t.from_address(id(kind) + at).value

    if field(BASICSIZE) != kind.__basicsize__ or ctypes.c_ulong.from_address(id(kind) + FLAGS).value != kind.__flags__:
        raise Unknown('types of this Python look otherwise than known')
    offset = field(VECTORCALL_OFFSET)
    if not kind.__flags__ & FLAG_VECTORCALL or not 16 <= offset <= kind.__basicsize__ - 8 or offset % 8:
        raise Unknown('jitted functions of this jaxlib are called otherwise than known')
    return offset


def mapped_function():
    """The program's function where jax.pmap jits it now: what jax jits then is a wrapper of its own."""
    frame = sys._getframe(2)
    for _ in range(PMAP_FRAMES):
        if frame is None:
            return None
        if frame.f_code.co_name == '_cached_shard_map' and frame.f_globals.get('__name__') == 'jax._src.pmap':
            return getattr(frame.f_locals.get('fun'), 'f', None)
        frame = frame.f_back
    return None


def directly(is_clean, core):
    """What trace_state_clean() asks for its answer, where it does nothing else: each step asks, and a frame of Python takes 50 ns."""
    ask = getattr(getattr(core, 'trace_ctx', None), 'is_top_level', None)
    names = getattr(getattr(is_clean, '__code__', None), 'co_names', None)
    return ask if callable(ask) and names == ('trace_ctx', 'is_top_level') else is_clean


def states(core):
    """What is_top_level() compares, [(object, its usual value)] of the attribute 'value' of each; None where it does something else."""
    kind = type(getattr(core, 'trace_ctx', None))
    asked = [getattr(part, '__code__', None) for part in (getattr(kind, 'is_top_level', None),
                                                          getattr(getattr(kind, 'trace', None), 'fget', None),
                                                          getattr(getattr(kind, 'axis_env', None), 'fget', None))]
    if [getattr(code, 'co_names', None) for code in asked] != [('trace', 'eval_trace', 'axis_env', 'top_axis_env'),
                                                               ('trace_state_strong_ref', 'value'), ('axis_env_state', 'value')]:
        return None
    found = [(core.trace_state_strong_ref, core.eval_trace), (core.axis_env_state, core.top_axis_env)]
    return found if all(state.value is usual for state, usual in found) else None


class Executions:
    """Counts, from the moment it is made until off() is called or no window can come any more."""

    now = None                          # the one that counts in this process

    def __init__(self, agent, session, pattern):
        self.agent, self.session = agent, session
        self.pattern = pattern
        self.pjit = sys.modules.get('jax._src.pjit')
        core = sys.modules.get('jax._src.core')
        self.make = getattr(self.pjit, '_cpp_pjit', None)
        self.is_clean = directly(getattr(core, 'trace_state_clean', None), core)
        self.states = states(core) if getattr(self.is_clean, '__name__', '') == 'is_top_level' else None
        if not callable(self.make) or not callable(self.is_clean):
            raise Unknown('this jax makes jitted functions otherwise than known')
        probe = self.make_probe()
        self.kind = type(probe)
        self.offset = vectorcall_offset(self.kind)
        self.original = self.pointer(probe).value
        self.prepare(agent.library)
        self.missed = 0
        self.names = {}                 # address -> name
        self.beside = {}                # the same of functions that are no steps
        self.kinds = {}                 # (name, file, line) -> number
        self.numbers = {}               # name -> number
        self.annotation = None          # of the step that runs, in a window, and the thread that it runs on
        self.annotation_thread = 0
        self.has_said = self.has_said_turn = False
        self.spent_ns = collections.deque(maxlen=COSTS)     # of the latest steps outside of windows
        self.made = self.pjit._cpp_pjit = hidden_after(self.make, self.note_made)
        Executions.now = self
        self.follow_made_before()
        if not self.pattern:
            agent.counts_calls(True)    # a pattern may be that of a program alone, which executes without a call
        self.ahead = getattr(sys.modules.get('jax._src.interpreters.pxla'), 'MeshExecutable', None)
        self.make_ahead = getattr(self.ahead, 'create_cpp_call', None)
        if self.make_ahead:
            self.ahead.create_cpp_call = lambda executable, *args, **kwargs: self.made_ahead(executable, *args, **kwargs)

    def make_probe(self):
        import jax
        return jax.jit(lambda: None)

    def pointer(self, function):
        return ctypes.c_void_p.from_address(id(function) + self.offset)

    def prepare(self, library):
        follow = getattr(library, 'ids_count_follow', None)
        if follow is None:
            raise Unknown('this libidsprof_agent.so does not count')
        library.ids_count_begin.argtypes, library.ids_count_begin.restype = (ctypes.c_void_p,) * 3, None
        library.ids_count_cost.restype = ctypes.c_int64
        self.counts = ctypes.PyDLL(library._name)       # called with the GIL held, which is the lock of the counts
        self.counts.ids_count_follow.argtypes = ctypes.c_void_p, ctypes.c_int
        self.counts.ids_count_beside.argtypes = ctypes.c_void_p,
        self.counts.ids_count_name.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_int
        self.counts.ids_count_every.restype = ctypes.c_int64
        self.counts.ids_count_choose.argtypes = self.counts.ids_count_is_chosen.argtypes = ctypes.c_char_p,
        self.counts.ids_count_calls_beside.argtypes = ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)
        self.counts.ids_count_calls_beside.restype = self.counts.ids_count_reached.restype = ctypes.c_int64
        if self.pattern and self.counts.ids_count_choose(self.pattern.encode()):
            raise Unknown('--step-executable is not understood')
        library.ids_count_end.restype = None
        library.ids_count_front.restype = library.ids_count_turn.restype = ctypes.c_void_p
        library.ids_count_evaluates.argtypes, library.ids_count_evaluates.restype = (ctypes.c_void_p,), None
        library.ids_count_turn.argtypes = ctypes.POINTER(ctypes.c_int64),
        library.ids_count_turn_place.restype = ctypes.c_int64
        self.library = library
        self.counted = ctypes.cast(library.ids_count_call, ctypes.c_void_p).value
        # A PyDLL's kind of callback: it is called with the GIL held, and runs at once.
        self.kept = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)(self.step)
        library.ids_count_begin(self.original, ctypes.cast(self.kept, ctypes.c_void_p), id(self.is_clean))      # which self keeps
        if self.states:
            pair = ctypes.c_void_p * 2
            self.attribute = sys.intern('value')
            library.ids_count_states.argtypes = ctypes.c_void_p, pair, pair
            library.ids_count_states(id(self.attribute), pair(*(id(state) for state, _ in self.states)), pair(*(id(usual) for _, usual in self.states)))

    def note_made(self, function):
        """After jax's _cpp_pjit has made it."""
        try:
            fun = mapped_function() or function.__wrapped__
            self.follow(function, name_of(fun, '?'), fun, self.pattern or not is_of_jax(fun))
        except Exception:
            pass

    def made_ahead(self, executable, *args, **kwargs):
        """Replaces MeshExecutable.create_cpp_call, through which jit(f).lower().compile() is called."""
        function = self.make_ahead(executable, *args, **kwargs)
        try:
            self.follow(function, str(getattr(executable.unsafe_call, 'name', '?')))
        except Exception:
            pass
        return function

    def follow_made_before(self):
        """What was jitted before this: jax's own functions, of which a program that works op by op consists. A pattern may name one."""
        for function in gc.get_objects():
            if type(function) is self.kind:
                self.follow(function, name_of(function, '?'), None, self.pattern)

    def kind_of(self, fun, name):
        """The number of what is made at one place of the source; -1: it has none."""
        inner = innermost(fun)
        code = getattr(inner, '__code__', None) or getattr(getattr(type(inner), '__call__', None), '__code__', None)
        key = code and (name, code.co_filename, code.co_firstlineno)
        if key is None or key not in self.kinds and len(self.kinds) >= KINDS:
            return -1
        return self.kinds.setdefault(key, len(self.kinds))

    def follow(self, function, name, fun=None, may_be_steps=True):
        if type(function) is not self.kind or self.pointer(function).value != self.original:
            return
        if not may_be_steps or not self.counts.ids_count_is_chosen(name.encode('utf-8', 'replace')):
            if self.counts.ids_count_beside(id(function)):
                self.beside[id(function)] = name
                self.pointer(function).value = self.counted
        elif self.counts.ids_count_follow(id(function), self.kind_of(fun, name)):
            if EVALUATES.search(name):
                self.library.ids_count_evaluates(id(function))
            self.names[id(function)] = name
            self.pointer(function).value = self.counted
        else:
            self.missed += 1
            return
        if id(function) in self.names or id(function) in self.beside:
            self.counts.ids_count_name(id(function), self.numbers.setdefault(name, len(self.numbers)), is_of_jax(getattr(function, '__wrapped__', None)))

    def step(self, function, number):
        """From ids_count_call: `function` is about to be called, as the first one for the number-th time. 0: it is none. Only where a
        window may open or end, or is open; the other steps are noted in C."""
        try:
            if not self.is_clean():
                return 0
            began = time.perf_counter_ns()
            was_open = self.session.ours is not None
            if self.annotation:
                self.end_step()
            self.agent.step(CALL, None, number)
            if not self.agent.wants(CALL):
                self.off()
            elif self.session.ours is not None:
                if self.agent.state() == OPENED:        # else another thread's step ends it now: this one is not of the window
                    self.annotate(self.names.get(function, '?'), number)
            elif not was_open:
                self.spent_ns.append(time.perf_counter_ns() - began)
        except KeyboardInterrupt:
            interrupted.append(True)
        except BaseException:
            pass
        if interrupted:
            interrupted.clear()
            return INTERRUPTED          # C has it raised when this function has returned
        return 1

    def end_step(self):
        """The step that runs is over: the next one begins, or the block that the program records ends."""
        annotation, self.annotation = self.annotation, None
        annotation.__exit__(None, None, None)

    def end_block(self):
        """Of another thread's step the profile would say that this one ran it."""
        if self.annotation and self.annotation_thread == threading.get_ident():
            self.end_step()

    def annotate(self, name, number):
        """Marks the step in the profile, as the program would have with StepTraceAnnotation; the reader knows what it is by its name."""
        self.annotation = self.session.profiler.TraceMe('call of ' + name, _r=1, step_num=number)
        self.annotation.__enter__()
        self.annotation_thread = threading.get_ident()
        self.agent.calls_are_of(name)
        if not self.has_said:
            self.has_said = True
            self.agent.say('step function', name)
            self.say_turn()

    def say_turn(self):
        """A loop may call the function several times in a turn, as to add gradients up: whose call comes with each n-th of them."""
        every = ctypes.c_int64(0)
        turn, front = self.library.ids_count_turn(every), self.names.get(self.library.ids_count_front())
        name = self.names.get(turn) or self.beside.get(turn)
        if name and name != front and not self.has_said_turn:       # a pattern tells functions by their names
            self.has_said_turn = True
            self.agent.say('turn function', name)
            self.agent.say('turn steps', every.value)
            self.agent.say('turn place', self.library.ids_count_turn_place())

    def say_function(self):
        """At the end: whose calls were the steps, for words about windows that did not open; and their turns, where these are so long that
        nobody knew of them when the window opened."""
        function = self.library.ids_count_front()
        if function in self.names:
            self.agent.calls_are_of(self.names[function])
        self.say_turn()

    def called_more(self):
        """What was called more often than the steps were counted, though its calls are none: [(name, calls)], the most first. jax's own
        functions, of which a program that works op by op consists, and those that a pattern leaves out. What is called in the first half of the
        time alone initialises. Functions that only make constants and convert are left out."""
        calls, late, is_late = {}, set(), ctypes.c_int()
        for address, name in self.beside.items():
            calls[name] = calls.get(name, 0) + self.counts.ids_count_calls_beside(address, is_late)
            if is_late.value:
                late.add(name)
        reached = self.counts.ids_count_reached()
        return sorted(((name, count) for name, count in calls.items() if count > reached and name in late and
                       name not in CONSTANTS and (self.pattern or not name.startswith('_'))), key=lambda item: -item[1])[:OPS_SHOWN]

    def once_a_turn(self):
        """Of what is called beside the steps, (name, calls) of what comes once in the longest turn; a name that people know before one of
        jax's own. None: nothing comes in turns."""
        calls, is_late, longest = {}, ctypes.c_int(), {}
        for address, name in self.beside.items():
            calls[name] = calls.get(name, 0) + self.counts.ids_count_calls_beside(address, is_late)
        for name in calls:
            every = self.counts.ids_count_every(self.numbers.get(name, -1))
            if every and name not in CONSTANTS and calls[name] > self.counts.ids_count_reached():
                longest[name] = every, not name.startswith('_')
        name = max(longest, key=longest.get, default=None)
        return name and (name, calls[name])

    def say_called_more(self):
        """For words about windows that did not open."""
        found, turn = self.called_more(), self.once_a_turn()
        if found:
            shown = [name for name, _ in found]
            if turn and turn[0] not in shown:
                shown.append(turn[0])
            self.agent.say('op by op', ', '.join(shown))
            self.agent.say('op calls', found[0][1])
        if turn:
            self.agent.say('op turn', turn[0])
            self.agent.say('op turns', turn[1])

    def cost(self):
        """What counting took outside of windows, for a person: the median, because another thread that takes the GIL meanwhile is no
        cost of ours; '' where too few were counted to say."""
        spent = self.library.ids_count_cost()           # of the steps that C alone counted: most
        if spent < 0 and len(self.spent_ns) >= COSTS_LEAST:
            spent = sorted(self.spent_ns)[len(self.spent_ns) // 2]
        return 'counting executions took %.1f us a step' % (spent / 1000) if spent >= 0 else ''

    def off(self):
        """Counts no more: functions made from now on are as jax makes them, the others lose a compare."""
        self.library.ids_count_end()
        self.agent.counts_calls(False)
        Executions.now = None
        if self.pjit._cpp_pjit is self.made:
            self.pjit._cpp_pjit = self.make
        if self.make_ahead:
            self.ahead.create_cpp_call = self.make_ahead
