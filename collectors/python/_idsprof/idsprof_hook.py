"""idsprof_hook.py - the Python hook: what happens after jax was imported.

It tells the agent (agent.h) of steps and regions (idsprof_steps.py, idsprof_executions.py), runs the profiler when the agent says so (idsprof_session.py),
adds what jax.monitoring tells (idsprof_monitoring.py), annotates functions by name (idsprof_wrap.py), and is the way into PJRT plugins (idsprof_plugins.py).
"""
import atexit
import os
import sys

from . import idsprof_wrap as wrap
from .idsprof_agent import ANNOTATION, CALL, Agent, quiet
from .idsprof_awaits import Awaits
from .idsprof_executions import Executions
from .idsprof_garbage import Garbage
from .idsprof_monitoring import Monitoring
from .idsprof_plugins import follow
from .idsprof_session import Session
from .idsprof_steps import follow_range, follow_steps, mark_regions


def _profiler_of(profiler):
    """jaxlib's module behind jax.profiler: a module of its own since 0.8, part of xla_client before."""
    found = getattr(profiler, '_profiler', None) or getattr(getattr(profiler, 'xla_client', None), 'profiler', None)
    if found is None or not hasattr(found, 'ProfilerSession'):
        raise ImportError('this jaxlib has no ProfilerSession')
    return found


def follow_exec(agent):
    """Writes the open window before exec replaces the program. Returns its undo; it is installed only while a window is open."""
    before = {name: getattr(os, name) for name in ('execv', 'execve')}      # what all others of os lead to

    def wrap(original):
        def call(*args):
            agent.library.ids_agent_exec()
            return original(*args)
        call.__name__ = call.__qualname__ = original.__name__
        call.__doc__ = original.__doc__
        return call
    ours = {name: wrap(original) for name, original in before.items()}
    for name, call in ours.items():
        setattr(os, name, call)

    def undo():
        for name, original in before.items():
            if getattr(os, name) is ours[name]:
                setattr(os, name, original)
    return undo


class Hook:
    def __init__(self, folder, jax):
        self.agent = agent = Agent(folder)
        self.profiler = profiler = sys.modules['jax._src.profiler']
        self.session = session = Session(agent, _profiler_of(profiler))
        self.monitoring = self.executions = self.unmark = self.unexec = None
        self.is_first, self.has_finalizer, self.has_platform, self.undo = True, False, False, []
        self.wraps = wrap.wanted()
        self.awaits, self.garbage = Awaits(session.profiler, agent.spell), Garbage(session.profiler, agent.spell, agent.garbage)
        # Before the agent knows us, because it may open a window at once.
        session.on_start += [self.wraps.now, self.opens]
        session.on_stop.append(self.closes)
        if not agent.register(session):
            return
        session.read_plan()
        agent.say('jax', jax.__version__)
        agent.say('jaxlib', getattr(sys.modules.get('jaxlib'), '__version__', '?'))
        agent.say('python', '%d.%d.%d' % sys.version_info[:3])
        session.follow_program()
        self.monitoring = session.monitoring = Monitoring(sys.modules['jax.monitoring'], session.mark, agent.compiled)
        self.wraps.watch()
        if self.wraps.wanted:
            self.monitoring.also = self.wraps.now
        follow(agent.home, sys.modules.get('jaxlib.xla_client'), agent.say)
        self.feed(profiler)
        self.follow_rank()
        self.garbage.watch()
        atexit.register(self.end)
        os.register_at_fork(after_in_child=self.forked)

    def feed(self, profiler):
        wanted = self.agent.plan('range')
        if wanted:
            self.undo.append(follow_range(self.agent, profiler, self.wraps.region(wanted), wanted))
        if self.agent.wants(ANNOTATION):
            self.undo.append(follow_steps(self.agent, profiler, self.session, self.annotates))
        if self.agent.wants(CALL):
            try:
                self.executions = Executions(self.agent, self.session, self.agent.plan('step_executable'))
            except Exception as error:
                self.agent.say('steps', 'only annotated ones are seen: executions cannot be counted (%s)' % error)

    def follow_rank(self):
        """Takes the rank from jax.distributed if no launcher's variable has it."""
        state = getattr(sys.modules.get('jax._src.distributed'), 'State', None)
        make = getattr(state, 'initialize', None)
        if not make:
            return

        def initialize(this, *args, **kwargs):
            answer = make(this, *args, **kwargs)
            if (getattr(this, 'num_processes', None) or 1) > 1:
                self.agent.rank(int(this.process_id))
            return answer
        initialize.__doc__, initialize.__wrapped__ = make.__doc__, make
        state.initialize = initialize

    def annotates(self):
        """The program has step annotations, so its executions are not counted."""
        if self.executions:
            self.executions.off()
            self.executions = None

    @quiet
    def forked(self):
        """In the child of a fork. Where jax has its clients already, their threads are not in the child: nothing works there that
        could be recorded, and a thread of ours would have jax's destructors wait for ever where they crash without it."""
        self.session.forked()
        self.awaits.off()
        self.garbage.off()
        if getattr(sys.modules.get('jax._src.xla_bridge'), 'backends_are_initialized', bool)():
            for undo in [self.unmark, *self.undo]:
                if undo:
                    undo()
            self.unmark = None
            if self.executions:
                self.executions.off()
            self.garbage.unwatch()
            self.agent.handle = 0
            atexit.unregister(self.end)

    # --- around a window ---

    def opens(self):
        so_far = self.monitoring.summary() if self.monitoring and self.is_first else ''
        self.is_first = False
        self.end_with_multiprocessing()
        if not self.unmark:
            self.unmark = mark_regions(self.profiler)
        self.say_platform()
        if so_far:
            self.agent.say('compiled before the first window', so_far)
        self.agent.library.ids_hook_catch_signals(self.agent.handle)
        if not self.unexec:
            self.unexec = follow_exec(self.agent)
        self.awaits.on()
        self.garbage.on()

    def say_platform(self):
        """The backend of jax, once it has chosen one."""
        bridge = sys.modules.get('jax._src.xla_bridge')
        if self.has_platform or not getattr(bridge, 'backends_are_initialized', bool)():
            return
        platform = getattr(getattr(bridge, '_default_backend', None), 'platform', None)
        if platform:
            self.has_platform = True
            self.agent.say('platform', platform)

    def end_with_multiprocessing(self):
        """A child of multiprocessing that was forked leaves by os._exit, after finalizers of its own."""
        util = sys.modules.get('multiprocessing.util')
        if util and not self.has_finalizer and sys.modules['multiprocessing.process'].parent_process() is not None:
            self.has_finalizer = True
            util.Finalize(None, self.end, exitpriority=1000)

    def closes(self):
        unmark, self.unmark = self.unmark, None
        if unmark:
            unmark()
        unexec, self.unexec = self.unexec, None
        if unexec:
            unexec()
        self.agent.library.ids_hook_release_signals()
        self.awaits.off()
        self.garbage.off()

    @quiet
    def end(self):
        """At exit, while jax still works: the open window is written."""
        if self.agent.handle:
            try:
                self.say_last()
            finally:
                self.agent.close()

    def say_last(self):
        self.say_platform()
        if self.wraps.missing():
            self.agent.say('wrap', self.wraps.missing())
        if self.executions:
            self.executions.say_called_more()
            self.executions.say_function()
            self.executions.off()
            if self.executions.cost():
                self.agent.say('cost', self.executions.cost())
            if self.executions.missed:
                self.agent.say('steps', '%d jitted functions too many to be counted' % self.executions.missed)
