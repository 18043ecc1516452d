"""idsprof_monitoring.py - what jax.monitoring reports of compilation by function: tracing, lowering, backend, persistent cache.

Without the Python tracer a profile shows only the backend's own spans of it. The last EVENTS are kept, with or without an open window,
and those that overlap a window become the plane /host:jax.monitoring, one line per thread:
    jax.trace(f)  jax.lower(f)  jax.compile(f)  jax.cache_read(f)     spans
    jax.cache_hit(f)  jax.cache_miss(f)                              moments
    jax.recompile(f) shape: x f32[8] -> f32[9]                       moments, at the beginning of such a compilation (idsprof_misses.py)
jax.compile(f) is the backend's compilation, or the read of the cache that replaces it. A miss is what JAX calls a miss: an executable
that it wrote into the cache. The profiler has no event on these threads that a span could be tied to by time alone. So during a
session each span leaves a mark "jax.monitoring" there and points to it as a consumer to its producer.
"""
import collections
import threading
import time

from . import idsprof_xspace as xspace
from .idsprof_agent import listed_thread
from .idsprof_hidden import hidden
from .idsprof_misses import Misses

PLANE = '/host:jax.monitoring'
EVENTS = 20000
LINK = 7701                     # the type of the link from a mark to a span; XLA's own types are below 100
SPANS = {'/jax/core/compile/jaxpr_trace_duration': 'jax.trace',
         '/jax/core/compile/jaxpr_to_mlir_module_duration': 'jax.lower',
         '/jax/core/compile/backend_compile_duration': 'jax.compile',
         '/jax/compilation_cache/cache_retrieval_time_sec': 'jax.cache_read'}
OLD_SPANS = {'/jax/core/compile/jaxpr_trace_duration_sec': 'jax.trace'}
MOMENTS = {'/jax/compilation_cache/cache_hits': 'jax.cache_hit',
           '/jax/compilation_cache/cache_misses': 'jax.cache_miss'}

Told = collections.namedtuple('Told', 'begin_ns end_ns kind function thread link reason')


def function_of(name):
    """Turns jit(f) and jit_f into f."""
    for before, after in (('jit(', ')'), ('jit_', '')):
        if name.startswith(before) and name.endswith(after):
            return name[len(before):len(name) - len(after)]
    return name


class Monitoring:
    def __init__(self, monitoring, mark, compiled):
        """`monitoring` is jax.monitoring; mark(name, **stats) leaves a moment in the running session, if there is one; compiled(name, ns) is told
        of each compilation."""
        self.told = collections.deque(maxlen=EVENTS)
        self.count = 0                  # of all that were told
        self.totals = {}                # kind -> [number, seconds]
        self.mark = mark
        self.also = None                # called at each compilation, too
        self.misses = Misses()
        self.compiled = compiled
        self.pending = threading.local()
        self.span_names = dict(SPANS, **OLD_SPANS)
        monitoring.register_event_listener(hidden(self._moment))
        monitoring.register_event_duration_secs_listener(hidden(self._duration))

    # --- listeners: they run inside of jax, so they raise nothing ---

    def _moment(self, event, **_more):
        kind = MOMENTS.get(event)
        if kind:
            now = time.time_ns()
            self._waiting().append((now, now, kind))

    def _duration(self, event, seconds, fun_name='', **_more):
        kind = self.span_names.get(event)
        if not kind:
            return
        try:
            now = time.time_ns()
            span = (now - max(0, int(seconds * 1e9)), now, kind)
            if kind == 'jax.cache_read' and not fun_name:
                self._waiting().append(span)
                return
            if self.also:
                self.also()
            function = self.misses.called(function_of(str(fun_name)))
            if kind == 'jax.compile':   # what the cache said on this thread since the last one was about this function
                waiting, self.pending.events = self._waiting(), []
                for early in waiting:
                    if early[0] >= span[0]:
                        self._tell(early, function)
                self._tell_reason(span, function)
            self._tell(span, function)
            if kind == 'jax.compile':
                self.compiled(function, span[1] - span[0])
        except Exception:
            pass

    def _tell_reason(self, span, function):
        try:
            reason = self.misses.reason(function)
        except Exception:               # jax is unlike those that are known
            return
        if reason:
            self._tell((span[0], span[0], 'jax.recompile'), function, ' ' + reason)

    def _waiting(self):
        if not hasattr(self.pending, 'events'):
            self.pending.events = []
        del self.pending.events[:-100]
        return self.pending.events

    def _tell(self, span, function, reason=''):
        begin_ns, end_ns, kind = span
        self.count += 1
        self.mark('jax.monitoring', _pt=LINK, _p=self.count)
        name = getattr(listed_thread(), 'name', 'not of threading')
        self.told.append(Told(begin_ns, end_ns, kind, function, (threading.get_native_id(), name), self.count, reason))
        total = self.totals.setdefault(kind, [0, 0.0])
        total[0] += 1
        total[1] += (end_ns - begin_ns) / 1e9

    # --- what becomes of it ---

    def space(self, begin_ns, end_ns, zero_ns):
        """The XSpace of what overlaps [begin_ns, end_ns], in times since zero_ns. Without any it has one line with nothing."""
        lines = {}
        for told in list(self.told):
            if told.end_ns >= begin_ns and told.begin_ns <= end_ns:
                lines.setdefault(told.thread, []).append(told)
        plane = xspace.Plane(PLANE)
        for (thread_id, name), events in lines.items() or [((0, 'no thread'), [])]:
            plane.line(thread_id, name, 0,
                       [((told.begin_ns - zero_ns) * 1000, (told.end_ns - told.begin_ns) * 1000,
                         '%s(%s)%s' % (told.kind, told.function, told.reason), {'_ct': LINK, '_c': told.link})
                        for told in sorted(events, key=lambda told: (told.begin_ns, -told.end_ns))])
        return plane.space()

    def summary(self):
        """One line of text about everything compiled so far."""
        parts = ['%s %d in %.3f s' % (kind.partition('.')[2], number, seconds) if seconds else
                 '%s %d' % (kind.partition('.')[2], number) for kind, (number, seconds) in sorted(self.totals.items())]
        return ', '.join(parts)
