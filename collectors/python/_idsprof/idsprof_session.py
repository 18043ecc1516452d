"""idsprof_session.py - the collector "jax": the profiler of jaxlib, driven by the agent; the program's own use of it goes first.

Sessions are exclusive, and jaxlib says so only when the second one ends. So a subclass replaces jaxlib's ProfilerSession and ends our
session before another one begins (start_trace, trace, PGLE, direct users). What was recorded until then is kept and written when the
agent asks for it. A session that begins in C++ (the profiler server) is recognised by TraceMe.is_enabled().
"""
import os
import sys
import threading
import time

from . import idsprof_xspace as xspace
from .idsprof_agent import Busy, Refused, listed_thread
from .idsprof_finder import say

DRAIN_SECONDS = 10
DEVICES = 'gpu_', 'tpu_'         # how keys of advanced_configuration begin


class Session:
    def __init__(self, agent, profiler):
        """`profiler` is jaxlib's module _profiler."""
        self.agent, self.profiler = agent, profiler
        self.has_plan = False
        self.chosen = {}                # --profile-option
        self.levels = 2, 1, 0           # of the tracers of host, device, Python
        self.keeps_memory = False       # --memory
        self.memory_before = None       # the device memory profile of the window's begin
        self.lock = threading.RLock()
        self.ours = None                # our open session
        self.early = None               # (bytes, when) of one that ended before the agent asked
        self.theirs = 0                 # sessions of the program that are open
        self.has_ended = False          # one of them did, and the agent was not told yet
        self.begin_ns = 0
        self.is_empty = False           # the last window holds nothing that the program did
        self.monitoring = None
        self.has_closed = False         # a window ended since who follows the steps looked
        self.on_start, self.on_stop = [], []
        self.make = profiler.ProfilerSession

    def read_plan(self):
        """What a window is to hold. The agent has a plan once it knows us, and may then open a window before our registration has returned."""
        with self.lock:
            if self.has_plan:
                return
            self.levels = [int(self.agent.plan(key + '_level') or 0) for key in ('host', 'device', 'python')]
            self.keeps_memory = self.agent.plan('memory') == '1'
            self.chosen = dict(line.partition('=')[::2] for line in self.agent.plan('profile_options').split('\n') if line)
            self.has_plan = True

    # --- the agent's callbacks ---

    def start(self):
        self.read_plan()
        self._refuse()
        self._call(self.on_start)
        try:
            self._begin()
        except BaseException:
            self._call(self.on_stop)    # there is no window: nothing may stay around it
            raise

    def _begin(self):
        is_feeding = self._is_feeding()
        if is_feeding:
            self._drain()               # what earlier steps still do would lie in the first one's place
        self.memory_before = self._memory()
        with self.lock:
            self._refuse()              # the program may have begun one meanwhile
            self._metadata()
            self.early = None
            self.begin_ns = time.time_ns()
            self.ours = self.make(self._options())
            if is_feeding:
                self.mark('idsprof.opened') # the step that this thread is about to begin is unlike the others

    def stop(self, path):
        with self.lock:
            session, self.ours = self.ours, None
            early, self.early = self.early, None
            self.has_closed = True
        self._call(self.on_stop)
        if session is not None:
            self._drain()               # the last step was only launched
            early = self._end(session)
        if path is None:
            return
        if early is None:
            raise Refused('no session was open: the process was forked in the middle of the window')
        self._write_memory(path)
        data, end_ns = early
        self.is_empty = xspace.is_empty(data)
        self._write(path, os.O_TRUNC, [data, self._told(self.begin_ns, end_ns, xspace.profile_start_of_bytes(data))])

    def contribute(self, path, zero_ns, begin_ns, end_ns):
        self.read_plan()
        self._write_memory(path)
        self._write(path, os.O_APPEND, [self._told(begin_ns, end_ns, zero_ns)])

    # --- what lives on the devices ---

    def _memory(self):
        """The device memory profile of this moment; None where there is none. It makes no backend, and harms nobody."""
        bridge, jax = sys.modules.get('jax._src.xla_bridge'), sys.modules['jax']
        if not self.keeps_memory or not getattr(bridge, 'backends_are_initialized', bool)():
            return None
        try:
            return jax.profiler.device_memory_profile()
        except Exception as error:
            self.agent.say('memory', 'no profile of the devices: %s' % error)
            self.keeps_memory = False
            return None

    def _write_memory(self, path):
        """Beside the window's file, whose name ends in .part until it is whole (publish.h)."""
        before, self.memory_before = self.memory_before, None
        after = self._memory()
        if after is None or not path.endswith('.part'):
            return
        try:
            for ending, data in ('.memory.prof', after), ('.begin.memory.prof', before):
                if data:
                    self._write(path[:-len('.part')] + ending, os.O_TRUNC, [data])
        except Refused as error:
            self.agent.say('memory', str(error))

    # --- what they are made of ---

    def _refuse(self):
        if self.theirs:
            raise Busy('the program profiles itself with jax.profiler right now')
        if self.ours is None and self.profiler.TraceMe.is_enabled():
            raise Busy('another profiling session runs in this process, such as a request to its profiler server')

    @staticmethod
    def _call(functions):
        for then in functions:
            try:
                then()
            except Exception:           # what stands around a window must not lose it
                say('around a window')

    @staticmethod
    def _is_feeding():
        """Whether a thread of the program, not the agent's thread, waits here."""
        return not isinstance(listed_thread(), (type(None), threading._DummyThread))

    def _drain(self):
        """Waits for the work launched so far; arrays that the program makes meanwhile are not waited for."""
        jax, bridge = sys.modules['jax'], sys.modules.get('jax._src.xla_bridge')
        try:
            if not getattr(bridge, 'backends_are_initialized', lambda: False)():
                return
            until = time.monotonic() + DRAIN_SECONDS
            for array in jax.live_arrays():
                while not array.is_deleted() and not array.is_ready() and time.monotonic() < until:
                    time.sleep(0.0002)
        except Exception:               # an array that became an error is the program's to find
            pass

    def _options(self):
        options = self.profiler.ProfileOptions()
        for key, value in zip(('host_tracer_level', 'device_tracer_level', 'python_tracer_level'), self.levels):
            try:
                setattr(options, key, value)
            except AttributeError:      # jaxlib 0.10 knows no level for devices
                pass
        for key, value in self.chosen.items():
            self._set(options, key, value)
        return options

    @staticmethod
    def _set(options, key, value):
        """Sets an option of ProfileOptions with a value of its type; device options go into advanced_configuration."""
        known = [name for name in dir(options) if not name.startswith('_') and name != 'advanced_configuration']
        is_own, has_more = key in known, hasattr(options, 'advanced_configuration')
        if not is_own and not (has_more and key.startswith(DEVICES)):
            raise Refused("--profile-option: this jax knows no '%s' (%s%s)" % (
                key, ', '.join(known), ', and what begins with ' + ', '.join(DEVICES) if has_more else ''))
        kind = type(getattr(options, key)) if is_own else None
        words = {'true': True, 'false': False}
        try:
            if kind is bool:
                value = words[value.lower()] if value.lower() in words else bool(int(value))
            elif kind is int or (kind is None and value.lstrip('-').isdigit()):
                value = int(value)
            elif kind is None:
                value = words.get(value.lower(), value)
            if is_own:
                setattr(options, key, value)
            else:
                options.advanced_configuration = {**options.advanced_configuration, key: value}
        except (ValueError, TypeError) as error:
            raise Refused('--profile-option %s: %s' % (key, error)) from None

    def _metadata(self):
        """The versions, as start_trace notes them."""
        if not hasattr(self.profiler, 'set_metadata'):
            return
        self.profiler.clear_metadata()
        for name in ('jax', 'jaxlib'):
            version = getattr(sys.modules.get(name), '__version__', None)
            if version:
                self.profiler.set_metadata(name + '_version', str(version))

    def _end(self, session):
        """Ends our session: (XSpace, when)."""
        end_ns = time.time_ns()
        try:
            return session.stop(), end_ns
        finally:
            if hasattr(self.profiler, 'clear_metadata') and not self.theirs:
                self.profiler.clear_metadata()

    def _told(self, begin_ns, end_ns, zero_ns):
        return self.monitoring.space(begin_ns, end_ns, zero_ns) if self.monitoring else b''

    @staticmethod
    def _write(path, flag, parts):
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flag, 0o666)
        except OSError as error:
            raise Refused('%s: %s' % (path, error.strerror)) from None
        try:
            for part in parts:
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(file, rest):]
        except OSError as error:
            raise Refused('%s: %s' % (path, error.strerror)) from None
        finally:
            os.close(file)

    def mark(self, name, **stats):
        if self.ours is not None:
            with self.profiler.TraceMe(name, **stats):
                pass

    # --- the program's own sessions ---

    def follow_program(self):
        self.profiler.ProfilerSession = self._guarded(self.make)

    def give_way(self):
        """Ends our session because the program begins its own."""
        if self.ours is not None:
            self.agent.give_way('the program began a profile of its own with jax.profiler: the window ended there')
        with self.lock:                 # where the agent could not, such as in the moment of the window's opening
            session, self.ours = self.ours, None
            if session is not None:
                try:
                    self.early = self._end(session)
                except Exception:
                    self.early = None

    def forked(self):
        """In the child of a fork: the parent's session is not ours and must not be ended here."""
        self.lock = threading.RLock()
        _left_behind.append(self.ours)
        self.ours = self.early = None
        self.theirs = 0

    def _guarded(self, base):
        ours = self

        class ProfilerSession(base):
            def __init__(self, *args):
                ours.agent.library.ids_agent_program_profile(1)
                ours.give_way()
                super().__init__(*args)
                ours.theirs += 1
                self._idsprof_open = True

            def _ended(self):
                if self.__dict__.pop('_idsprof_open', False):
                    ours.theirs -= 1
                    ours.has_ended = True

            def _after(self):
                """The profiler is free: a waiting window may open."""
                if ours.has_ended and not ours.theirs:
                    ours.has_ended = False
                    ours.agent.library.ids_agent_program_profile(0)

            def stop(self, *args):
                self._ended()
                try:
                    return super().stop(*args)
                finally:
                    self._after()

            def stop_and_export(self, *args):
                self._ended()
                try:
                    return super().stop_and_export(*args)
                finally:
                    self._after()

            def __del__(self):
                self._ended()

        for name in ('stop_and_get_profile_data',):
            if hasattr(base, name):
                def method(self, *args, _method=getattr(base, name)):
                    self._ended()
                    try:
                        return _method(self, *args)
                    finally:
                        self._after()
                setattr(ProfilerSession, name, method)
        ProfilerSession.__module__, ProfilerSession.__qualname__ = base.__module__, base.__qualname__
        return ProfilerSession


_left_behind = []               # sessions of parents: their destructors would end what runs elsewhere
