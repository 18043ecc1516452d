"""idsprof_awaits.py - what an event loop of asyncio waits for, while a window is open.

A loop that has nothing to do waits in its selector, and the coroutines that wait are on no stack. So each wait of a selector that a loop
makes is recorded under the innermost coroutine of the program that is awaited: "$train.py:8 await fetch_features", as frames are called. One
that was under way when the window opened is told afterwards, for the samples of its time (spells.h).
"""
import gc
import os
import sys
import threading
import time
import types

from .idsprof_cells import file_of

TASKS = 256                     # more are not looked through: a server may have thousands
KINDS = 'EpollSelector', 'PollSelector', 'SelectSelector', 'KqueueSelector', 'DevpollSelector'
BETWEEN_TASKS = 'queues.py', 'locks.py', 'taskgroups.py', 'timeouts.py'     # what waits there waits for another task
FOR_TASKS = 'wait_for', '_wait'                                             # the same of asyncio/tasks.py
SHARING = 32                    # of so many it is asked whether they have the queue that another one waits in
DEPTH = 8                       # tasks that wait for tasks that wait for tasks

INLINE = '<listcomp>', '<dictcomp>', '<setcomp>', '<genexpr>', '<lambda>'
COROUTINES = types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType
# What Python puts between a coroutine and what it awaits, without a word of what that is: the next item of an asynchronous generator
# ("async for", anext), and a coroutine's __await__().
BETWEEN = 'async_generator_asend', 'async_generator_athrow', 'anext_awaitable', 'coroutine_wrapper'


def _inside(awaited):
    """What a coroutine, a generator or an asynchronous generator waits in."""
    for name in ('cr_await', 'gi_yieldfrom', 'ag_await'):
        if hasattr(awaited, name):
            return getattr(awaited, name)
    if type(awaited).__name__ in BETWEEN:
        kept = gc.get_referents(awaited)
        return next((item for item in kept if isinstance(item, COROUTINES) or type(item).__name__ in BETWEEN), None)
    return None


def _function(code):
    """What people call it, as collectors/common/python_names.c does."""
    name = getattr(code, 'co_qualname', code.co_name)
    while name.rpartition('.')[2] in INLINE:
        name = name.rpartition('.')[0].removesuffix('.<locals>')
    return name.rpartition('.<locals>.')[2] or '<module>'


def _frames(task):
    """A task's coroutines that have a frame, and these, the outermost first."""
    coroutines, frames, awaited = [], [], task.get_coro()
    while awaited is not None and len(frames) < TASKS:
        frame = getattr(awaited, 'cr_frame', None) or getattr(awaited, 'gi_frame', None) or getattr(awaited, 'ag_frame', None)
        if frame is not None:
            coroutines.append(awaited)
            frames.append(frame)
        awaited = _inside(awaited)
    return coroutines, frames


def _kept(coroutine):
    """What its local names are bound to. Asking the frame for them would keep that alive, with all that it is bound to."""
    return gc.get_referents(coroutine)


def is_of_library(frame):
    path = frame.f_code.co_filename
    return '-packages' in path or os.path.dirname(os.__file__) in path


def _own(item, name):
    """An attribute, without a word of the program's: it may have a __getattr__."""
    try:
        return object.__getattribute__(item, name)
    except AttributeError:
        return ()


def _tasks_of(item, asyncio):
    if isinstance(item, asyncio.Task):
        return [item]
    if not isinstance(item, (set, frozenset)):
        item = _own(item, '_children' if isinstance(item, asyncio.Future) else '_tasks')
    return [task for task in item if isinstance(task, asyncio.Task)] if isinstance(item, (list, set, frozenset)) else []


def _has_any(task, items):
    """Whether a coroutine of the task's, or the object whose method it is, holds one of them."""
    for coroutine in _frames(task)[0] if items else ():
        for kept in _kept(coroutine):
            if any(kept is item for item in items):
                return True
            attributes = _own(kept, '__dict__')
            if type(attributes) is dict and any(value is item for value in list(attributes.values()) for item in items):
                return True
    return False


class Waiting:
    """A task, its frames and the future that it waits for."""

    def __init__(self, task, asyncio):
        self.task, (self.coroutines, self.frames) = task, _frames(task)
        self.future = getattr(task, '_fut_waiter', None)
        of_tasks = isinstance(self.future, asyncio.Task) or type(self.future).__name__ == '_GatheringFuture'
        inner = self.frames[-1].f_code if self.frames else None
        file = os.path.basename(inner.co_filename) if inner else ''
        self.is_between = file in BETWEEN_TASKS or (file == 'tasks.py' and inner.co_name in FOR_TASKS)
        self.is_final = self.future is not None and not of_tasks and not self.is_between
        self.own = next((frame for frame in reversed(self.frames) if not is_of_library(frame)), None)
        self.is_of_thread = False

    def tasks(self, asyncio, others):
        """The tasks that it waits for: one, those of gather(), of a TaskGroup, of wait(), or whoever has the same queue or lock."""
        kept = _kept(self.coroutines[-1]) if self.is_between else []    # of asyncio's own coroutine
        for item in [self.future] + kept:
            found = _tasks_of(item, asyncio)
            if found:
                return found
        shared = [item for item in kept if type(item).__module__ in ('asyncio.queues', 'asyncio.locks')]
        return [other for other in others[:SHARING] if other is not self.task and _has_any(other, shared)]

    def name(self):
        code = self.own.f_code
        return '$%s:%d await %s' % (file_of(code.co_filename), self.own.f_lineno or 0, _function(code))

    def awaits_thread(self):
        """A future of a pool's, or of nobody's here: another thread does what is awaited."""
        if self.is_of_thread:
            return True
        found = getattr(self.future, '_callbacks', None) or ()
        return any('_chain_future' in getattr(item[0], '__qualname__', '') for item in found)


class Awaits:
    """The waits of event loops, from on() to off()."""

    def __init__(self, profiler, spell=None):
        """spell(thread, begin_ns, end_ns, name) is told of a wait that no window saw begin."""
        self.profiler, self.spell, self.before, self.step_task = profiler, spell, [], None
        self.last = {}                  # where tasks are waited for: (their future, whom the wait before this was for), and who was the last
        self.under_way = {}             # loop -> (thread, begin_ns, names, its _process_events of ours, one of its own)

    def on(self):
        asyncio, selectors = sys.modules.get('asyncio'), sys.modules.get('selectors')
        if self.before or not asyncio or not selectors or not hasattr(asyncio, '_get_running_loop'):
            return
        loop = asyncio._get_running_loop()          # of the thread that makes the steps, where it is the one that opens the window
        self.step_task = asyncio.current_task(loop) if loop else None
        for name in KINDS:
            kind = getattr(selectors, name, None)
            if kind is not None and 'select' in vars(kind):
                self.before.append((kind, kind.select))
                kind.select = self.recorded(asyncio, kind.select)
        if self.spell:
            self.find_under_way(asyncio)

    def off(self):
        for kind, select in self.before:
            kind.select = select
        self.before, self.step_task, self.last = [], None, {}
        for loop in list(self.under_way):
            self.ends(loop)

    def find_under_way(self, asyncio):
        """The loops of other threads that wait at this moment."""
        frames = sys._current_frames()
        del frames[threading.get_ident()]           # this frame, which would keep itself
        for thread, frame in frames.items():
            around = frame.f_back
            if frame.f_code.co_name != 'select' or around is None or around.f_code.co_name != '_run_once':
                continue
            try:
                loop = around.f_locals['self']
                found = self.awaited(asyncio, loop)
                if found is not None:
                    names = [found.name()] + ['$asyncio poll'] * found.awaits_thread()
                    self.follow(loop, thread, names)
            except Exception:           # as in recorded()
                continue

    def follow(self, loop, thread, names):
        """A loop calls its _process_events as soon as its selector has returned."""
        own, process = vars(loop).get('_process_events'), loop._process_events

        def ended(events):
            self.ends(loop)
            return process(events)
        self.under_way[loop] = thread, time.time_ns(), names, ended, own
        loop._process_events = ended

    def ends(self, loop):
        thread, begin_ns, names, ours, own = self.under_way.pop(loop, (0, 0, (), None, None))
        if ours is not None and vars(loop).get('_process_events') is ours:
            if own is None:
                del loop._process_events
            else:
                loop._process_events = own
        for name in names:
            self.spell(thread, begin_ns, time.time_ns(), name)

    def recorded(self, asyncio, wait):
        def select(this, timeout=None):
            loop = asyncio._get_running_loop()
            if loop is None or (timeout is not None and timeout <= 0) or getattr(loop, '_selector', None) is not this:
                return wait(this, timeout)
            try:
                found = self.awaited(asyncio, loop)
            except Exception:                       # the program's loop must go on, whatever its tasks are
                found = None
            if found is None:
                return wait(this, timeout)
            with self.profiler.TraceMe(found.name()):
                if not found.awaits_thread():
                    return wait(this, timeout)
                with self.profiler.TraceMe('$asyncio poll'):
                    return wait(this, timeout)
        select.__doc__ = wait.__doc__
        return select

    def awaited(self, asyncio, loop):
        """Whom the loop waits for: the task that makes the steps, if it waits for no other task; else of those that it waits for the one
        that ends last, else the one of all whose time comes next, else one that waits for no other task either."""
        step = self.step_task
        of_steps = Waiting(step, asyncio) if step is not None and not step.done() and step.get_loop() is loop else None
        if of_steps and of_steps.is_final and of_steps.own:
            return of_steps
        timers = getattr(loop, '_scheduled', None) or ()
        due = {id((getattr(timer, '_args', None) or (None,))[0]): timer.when() for timer in timers[:TASKS]}
        tasks = list(asyncio.all_tasks(loop))[:TASKS] if len(getattr(asyncio.tasks, '_all_tasks', ())) <= 4 * TASKS else []
        waited = of_steps.tasks(asyncio, tasks) if of_steps and of_steps.own else []
        behind = self.behind(asyncio, waited, tasks)
        if behind:
            return self.latest(of_steps, behind, due)
        if of_steps and of_steps.own and not waited:
            of_steps.is_of_thread = True        # no task has what it waits for, as a queue that a thread fills
            return of_steps
        final = [waiting for waiting in (Waiting(task, asyncio) for task in tasks) if waiting.is_final and waiting.own]
        if timers:
            soonest = (getattr(timers[0], '_args', None) or (None,))[0]
            final.sort(key=lambda waiting: waiting.future is not soonest)
        return final[0] if final else of_steps if of_steps and of_steps.own else None

    def behind(self, asyncio, waited, others):
        """Of the tasks that are waited for, whatever these wait for, those that wait for no task."""
        final, asked = [], set()
        for _ in range(DEPTH):
            here, waited = waited, []
            for task in here:
                if task.done() or task in asked or len(asked) >= TASKS:
                    continue
                asked.add(task)
                found = Waiting(task, asyncio)
                if not found.is_final:
                    waited += found.tasks(asyncio, others)
                elif found.own:
                    final.append(found)
        return final

    def latest(self, of_steps, behind, due):
        """Who ended last when the same was waited for before; else whose time comes last; else who it is is not known, and any is said."""
        place, future = of_steps.name(), id(of_steps.future)
        before, names, last = self.last.get(place, (future, (), None))
        if before != future and names:
            last = names[0] if len(set(names)) == 1 else None
        names = [waiting.name() for waiting in behind]
        self.last[place] = future, names, last
        return max(behind, key=lambda waiting: (waiting.name() == last, due.get(id(waiting.future), 0)))
