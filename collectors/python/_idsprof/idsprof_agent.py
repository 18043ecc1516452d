"""idsprof_agent.py - libidsprof_agent.so through ctypes: the contract is collectors/common/agent.h."""
import ctypes
import functools
import os
import threading

from . import idsprof_counts as counts, idsprof_hidden

ABI = 1
PRIORITY_JAX = 20
ANNOTATION, CALL = 1, 3                 # enum ids_step_source
OPENED = 2                              # enum ids_window_state
BUSY = 2
WHY_BYTES = 512

_START = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_STOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_CONTRIBUTE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64,
                               ctypes.c_void_p, ctypes.c_size_t)


class _Collector(ctypes.Structure):
    _fields_ = [('size', ctypes.c_uint32), ('priority', ctypes.c_int32), ('name', ctypes.c_char_p),
                ('context', ctypes.c_void_p), ('start', _START), ('stop', _STOP), ('contribute', _CONTRIBUTE),
                ('handle', ctypes.POINTER(ctypes.c_int))]


interrupted = []                # Ctrl-C in a callback of ours, which is the program's


def raise_interrupt():
    """After a call of the agent: what a callback in it could not raise."""
    if interrupted:
        interrupted.clear()
        raise KeyboardInterrupt


def _answer(why, why_size, work, *arguments):
    """Runs a callback's work for C: 0, or 1 (BUSY where it is so) with the reason put into `why`. Nothing is raised."""
    done = []
    try:
        return _attempt(why, why_size, work, arguments, done)
    except KeyboardInterrupt:           # in what is around the work
        interrupted.append(True)
        return 0 if done else 1


def _attempt(why, why_size, work, arguments, done):
    code, before, is_listed = 1, counts.count(), listed_thread() is not None
    try:
        work(*arguments)
        done.append(True)
        return 0
    except KeyboardInterrupt:           # meant for the program: raised again when C has returned, not here, where ctypes would print it
        interrupted.append(True)
        reason = 'interrupted'
    except BaseException as error:
        code = BUSY if isinstance(error, Busy) else 1
        reason = str(error) if isinstance(error, Refused) else '%s: %s' % (type(error).__name__, error)
    finally:
        if not is_listed:
            _unlist()
        counts.restore(before)
    text = reason.encode('utf-8', 'replace')[:why_size - 1].decode('utf-8', 'ignore').encode() + b'\0'     # cut between characters
    ctypes.memmove(why, text, len(text))
    return code


def listed_thread():
    """The threading.Thread of this thread; None where it has none, as the agent's own: current_thread() would make one."""
    return threading._active.get(threading.get_ident())


def _unlist():
    """Takes back what this thread, which threading does not know, got from current_thread() in work of ours, that of a log, say. The entry
    would stay, and a program that waits until no thread but its own is left would wait for ever."""
    if isinstance(listed_thread(), threading._DummyThread):
        with threading._active_limbo_lock:
            threading._active.pop(threading.get_ident(), None)


def quiet(work):
    """For what Python calls by itself: it would print what is raised into the program's streams."""
    @functools.wraps(work)
    def call(*args):
        try:
            return work(*args)
        except Exception:
            return None
    return call


class Refused(Exception):
    """A reason for a person: no window now, or nothing to write."""


class Busy(Refused):
    """The program uses the profiler itself: not now, perhaps at the next step."""


class Agent:
    """The process's agent. `step`, `range` and `wants` are called as they are; the GIL is free meanwhile."""

    def __init__(self, folder):
        self.home = os.environ.get('IDSPROF_HOME') or os.path.dirname(folder)
        self.library = library = ctypes.CDLL(os.path.join(self.home, 'libidsprof_agent.so'))
        idsprof_hidden.library = library
        self.step = library.ids_agent_step
        self.step.argtypes, self.step.restype = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int64), None
        self.wants = library.ids_agent_wants
        self.wants.argtypes = (ctypes.c_int,)
        library.ids_agent_counts_calls.argtypes, library.ids_agent_counts_calls.restype = (ctypes.c_int,), None
        library.ids_agent_calls_are_of.argtypes, library.ids_agent_calls_are_of.restype = (ctypes.c_char_p,), None
        self.range = library.ids_agent_range
        self.range.argtypes, self.range.restype = (ctypes.c_char_p, ctypes.c_int), None
        self.state = library.ids_agent_state
        library.ids_agent_register.argtypes = (ctypes.POINTER(_Collector), ctypes.c_char_p, ctypes.c_size_t)
        library.ids_agent_say.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
        library.ids_agent_say.restype = None
        library.ids_agent_rank.argtypes, library.ids_agent_rank.restype = (ctypes.c_int64,), None
        library.ids_agent_plan.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
        library.ids_agent_give_way.argtypes, library.ids_agent_give_way.restype = (ctypes.c_int, ctypes.c_char_p), None
        library.ids_agent_program_profile.argtypes, library.ids_agent_program_profile.restype = (ctypes.c_int,), None
        library.ids_agent_compiled.argtypes, library.ids_agent_compiled.restype = (ctypes.c_char_p, ctypes.c_int64), None
        library.ids_agent_spell.argtypes = (ctypes.c_uint64, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p)
        library.ids_agent_spell.restype = None
        library.ids_agent_garbage.argtypes, library.ids_agent_garbage.restype = (ctypes.c_int64,), None
        library.ids_agent_entered.argtypes, library.ids_agent_entered.restype = (), None
        library.ids_agent_exec.argtypes, library.ids_agent_exec.restype = (), None
        library.ids_agent_close.argtypes, library.ids_agent_close.restype = (ctypes.c_int,), None
        self._handle = ctypes.c_int(0)
        self._kept = None               # the callbacks, which C holds for ever

    @property
    def handle(self):
        """0: asleep. C sets it, before the first callback."""
        return self._handle.value

    @handle.setter
    def handle(self, value):
        self._handle.value = value

    def plan(self, key):
        buffer = ctypes.create_string_buffer(4096)
        length = self.library.ids_agent_plan(key.encode(), buffer, len(buffer))
        return buffer.value.decode('utf-8', 'replace') if length >= 0 else ''

    def judges(self):
        """Whether windows open in the middle of slow steps (--when, --keep-slowest): ids_plan_judges."""
        return any(self.plan(key).strip('0') for key in ('when_ratio', 'when_ns', 'keep_slowest'))

    def register(self, session):
        """Makes `session` (start(), stop(path), contribute(path, zero_ns, begin_ns, end_ns)) the collector "jax". False: asleep."""
        def begin():
            self.library.ids_agent_entered()                            # not before: Python's lock was the program's
            session.start()

        def start(_context, why, why_size):
            return _answer(why, why_size, begin)

        def stop(_context, path, caught, why, why_size):
            code = _answer(why, why_size, session.stop, path and os.fsdecode(path))
            if caught and path and not code and session.is_empty:
                ctypes.c_int64.from_address(caught).value = 0           # struct ids_caught: events
            return code

        def contribute(_context, path, zero_ns, begin_ns, end_ns, why, why_size):
            return _answer(why, why_size, session.contribute, os.fsdecode(path), zero_ns, begin_ns, end_ns)

        self._kept = _Collector(ctypes.sizeof(_Collector), PRIORITY_JAX, b'jax', None, _START(start), _STOP(stop),
                                _CONTRIBUTE(contribute), ctypes.pointer(self._handle))
        why = ctypes.create_string_buffer(WHY_BYTES)
        return self.library.ids_agent_register(ctypes.byref(self._kept), why, WHY_BYTES) > 0

    def say(self, key, value):
        self.library.ids_agent_say(self.handle, key.encode(), str(value).encode('utf-8', 'replace'))

    def counts_calls(self, are_counted):
        self.library.ids_agent_counts_calls(int(are_counted))

    def calls_are_of(self, name):
        self.library.ids_agent_calls_are_of(name.encode('utf-8', 'replace'))

    def compiled(self, name, took_ns):
        self.library.ids_agent_compiled(name.encode('utf-8', 'replace'), took_ns)

    def spell(self, thread, begin_ns, end_ns, name):
        self.library.ids_agent_spell(thread, begin_ns, end_ns, name.encode('utf-8', 'replace'))

    def garbage(self, took_ns):
        self.library.ids_agent_garbage(took_ns)

    def rank(self, rank):
        self.library.ids_agent_rank(rank)

    def give_way(self, why):
        self.library.ids_agent_give_way(self.handle, why.encode())

    def close(self):
        handle, self.handle = self.handle, 0
        if handle:
            self.library.ids_agent_close(handle)
