#!/usr/bin/env python3
"""Record the traces of testdata/ with JAX on the CPU.

    record.py NAME...        record these ("all": every one) into the folder of this script
    record.py --into DIR …   into another folder

Each trace comes from a process of its own (device count and flags are fixed at start) with the folder
/ as its working directory; source paths are cut to the file's name, so that no path of the recording
machine gets into a file. NAME/plugins/profile/<time>/host.xplane.pb is what JAX wrote, only renamed.
What makes a trace worth keeping is asserted after recording, with the decoder of tests/oracle.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'tests' / 'oracle'))

#                 devices, Python tracer, HLO protos, persistent compilation cache
TRACES = {
    'cpu1_annotated':  (1, False, True, False),
    'cpu8_annotated':  (8, False, True, False),
    'cpu1_plain':      (1, False, True, False),
    'cpu1_async':      (1, False, True, False),
    'cpu1_midrun':     (1, False, True, False),
    'cpu1_compile':    (1, False, True, False),
    'cpu1_compile_py': (1, True, True, True),
    'cpu2_python':     (2, True, True, False),
    'cpu1_nohlo':      (1, False, False, False),
    'cpu1_pair':       (1, False, True, False),
}
COMPILE_EVENTS = ('jaxpr_trace_duration', 'jaxpr_to_mlir_module_duration', 'backend_compile_duration')


class Monitor:
    """What jax.monitoring says of compilation, while `on`: the truth a trace is held against."""

    def __init__(self, jax):
        self.on, self.durations, self.counts = False, [], {}
        jax.monitoring.register_event_duration_secs_listener(self.duration)
        jax.monitoring.register_event_listener(self.event)

    def duration(self, name, seconds, **kw):
        if self.on and name.rsplit('/', 1)[-1] in COMPILE_EVENTS:
            self.durations.append(dict(event=name.rsplit('/', 1)[-1], seconds=seconds,
                                       fun_name=kw.get('fun_name')))

    def event(self, name, **kw):
        key = name.rsplit('/', 1)[-1]
        if self.on and key in ('cache_hits', 'cache_misses'):
            self.counts[key] = self.counts.get(key, 0) + 1

    def result(self):
        sums = {k: sum(d['seconds'] for d in self.durations if d['event'] == k) for k in COMPILE_EVENTS}
        return dict(sum_seconds=sums, cache_hits=self.counts.get('cache_hits', 0),
                    cache_misses=self.counts.get('cache_misses', 0), durations=self.durations)


def child(name, out, python, hlo, cache):
    """Run the program `name` and leave its profile in `out`."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.profiler import StepTraceAnnotation, TraceAnnotation

    jax.config.update('jax_hlo_source_file_canonicalization_regex', '.*/')
    scratch = tempfile.mkdtemp()
    if cache:
        jax.config.update('jax_compilation_cache_dir', scratch)
        jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)
        jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)
    monitor = Monitor(jax)
    rng = np.random.default_rng(0)

    def data(*shape):
        return rng.normal(size=shape).astype(np.float32)

    def loss(p, x, y):
        with jax.named_scope('layer0'):
            h = jnp.tanh(x @ p['w0'])
        with jax.named_scope('layer1'):
            return jnp.mean((h @ p['w1'] - y) ** 2)

    @jax.jit
    def train_step(p, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        return jax.tree.map(lambda w, d: w - 0.1 * d, p, g), value

    @jax.jit
    def score(x):
        return jax.nn.softmax(x @ x.T).sum()

    def params(d):
        return jax.device_put(dict(w0=data(d, d) / 8, w1=data(d, d) / 8))

    def trace():
        o = jax.profiler.ProfileOptions()
        o.host_tracer_level, o.python_tracer_level, o.enable_hlo_proto = 2, int(python), hlo
        return jax.profiler.trace(out, profiler_options=o, create_perfetto_trace=name == 'cpu1_pair')

    if name in ('cpu1_annotated', 'cpu1_nohlo', 'cpu1_pair'):
        # A step that feeds, trains and waits; in cpu1_annotated `score` meets a new shape in steps 1-3.
        steps, p = (6, params(256)) if name == 'cpu1_annotated' else (4, params(128))
        d = p['w0'].shape[0]
        jax.block_until_ready(train_step(p, jax.device_put(data(d, d)), jax.device_put(data(d, d))))
        with trace():
            monitor.on = True
            for s in range(steps):
                with StepTraceAnnotation('train', step_num=s):
                    with TraceAnnotation('data'):
                        x, y = jax.device_put(data(d, d)), jax.device_put(data(d, d))
                    p, value = train_step(p, x, y)
                    if name == 'cpu1_annotated' and s in (1, 2, 3):
                        score(jax.device_put(data(4 + 4 * s, 16))).block_until_ready()
                    jax.block_until_ready((p, value))
            monitor.on = False

    elif name == 'cpu8_annotated':
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        n = jax.device_count()
        mesh = Mesh(np.array(jax.devices()), ('dp',))
        shard, everywhere = NamedSharding(mesh, P('dp')), NamedSharding(mesh, P())

        @jax.jit
        @jax.shard_map(mesh=mesh, in_specs=(P(), P('dp'), P('dp')), out_specs=(P(), P()))
        def train_sharded(p, x, y):
            value, g = jax.value_and_grad(loss)(p, x, y)
            g = jax.tree.map(lambda t: jax.lax.psum(t, 'dp') / n, g)
            return jax.tree.map(lambda w, d: w - 0.1 * d, p, g), jax.lax.psum(value, 'dp') / n

        def mixed(x):
            whole = jax.lax.all_gather(x, 'i')
            part = jax.lax.psum_scatter(whole.reshape(-1), 'i', tiled=True)
            return part + jax.lax.ppermute(x, 'i', [(j, (j + 1) % n) for j in range(n)])
        mixed = jax.pmap(mixed, axis_name='i')

        p = jax.device_put(params(64), everywhere)
        z = data(n, 32)
        feed = lambda: (jax.device_put(data(8 * n, 64), shard), jax.device_put(data(8 * n, 64), shard))
        jax.block_until_ready((train_sharded(p, *feed()), mixed(z)))
        with trace():
            for s in range(3):
                with StepTraceAnnotation('train', step_num=s):
                    with TraceAnnotation('data'):
                        x, y = feed()
                    p, value = train_sharded(p, x, y)
                    jax.block_until_ready((p, value, mixed(z)))

    elif name == 'cpu1_plain':
        # No annotation at all: numpy in, numpy out, eight times.
        p = params(192)
        jax.block_until_ready(train_step(p, data(192, 192), data(192, 192)))
        with trace():
            for s in range(8):
                p, value = train_step(p, data(192, 192), data(192, 192))
                jax.device_get(value)        # leaves an event np.asarray(jax.Array)
                np.asarray(p['w1'])          # leaves only its wait, CommonPjRtBuffer::Await

    elif name in ('cpu1_async', 'cpu1_midrun'):
        # Long steps, never waited for: the annotations are over before their work begins.
        p, x, y = params(1024), jax.device_put(data(1024, 1024)), jax.device_put(data(1024, 1024))
        for _ in range(3):           # the first calls dispatch slowly
            p, value = train_step(p, x, y)
        jax.block_until_ready(p)
        if name == 'cpu1_midrun':    # a window opened while two steps are in flight: their ops are in it,
            for s in range(2):       # their launches and annotations are not
                with StepTraceAnnotation('train', step_num=s):
                    p, value = train_step(p, x, y)
        first = 2 if name == 'cpu1_midrun' else 0
        with trace():
            for s in range(first, first + 6):
                with StepTraceAnnotation('train', step_num=s):
                    p, value = train_step(p, x, y)
            jax.block_until_ready((p, value))

    elif name in ('cpu1_compile', 'cpu1_compile_py'):
        def deep(p, x):
            for _ in range(2):
                x = jax.nn.softmax(jnp.tanh(x @ p['w0']) @ p['w1'])
            return x.sum()
        p, x = params(32), jax.device_put(data(8, 32))
        work = jax.jit(deep if python else jax.grad(deep))   # the Python tracer records much: less of it
        with trace():
            monitor.on = True
            for s in range(3):
                with StepTraceAnnotation('train', step_num=s):
                    if cache and s == 1:     # forget all but the files: this one is a cache hit
                        jax.clear_caches()
                    if cache or s == 0:
                        jax.block_until_ready(work(p, x))
                    elif s == 1:
                        jax.block_until_ready(score(x))
                    else:
                        jax.block_until_ready(train_step(p, x, x))
            monitor.on = False

    elif name == 'cpu2_python':
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        shard = NamedSharding(Mesh(np.array(jax.devices()), ('dp',)), P('dp'))

        def loader():                # not annotated: only the Python tracer sees it
            while True:
                time.sleep(0.002)
                yield jax.device_put(data(64, 64), shard), jax.device_put(data(64, 64), shard)
        p, batches = params(64), loader()
        p = jax.device_put(p, NamedSharding(shard.mesh, P()))
        for _ in range(2):           # twice: the second call has the first one's shardings
            p, value = train_step(p, *next(batches))
        jax.block_until_ready((p, value))
        with trace():
            for s in range(3):
                with StepTraceAnnotation('train', step_num=s):
                    p, value = train_step(p, *next(batches))
                    jax.block_until_ready((p, value))

    shutil.rmtree(scratch)
    if monitor.durations:
        json.dump(monitor.result(), open(os.path.join(out, 'monitoring.json'), 'w'), indent=1)


def check(name, path):
    """Assert what the trace is for; return its facts."""
    import xplane_oracle as oracle
    planes = oracle.load(path)
    steps, ops = oracle.step_annotations(planes), oracle.cpu_ops(planes)
    inside = sum(any(s.start <= e.start < s.start + s.dur for s in steps) for e in ops)
    facts = dict(bytes=os.path.getsize(path), **oracle.summarise(planes), ops=len(ops), steps=len(steps),
                 ops_inside_a_step_span=inside,
                 host_events={k: sum(oracle.text(e.name) == k for p in planes for l in p.lines
                                     for e in l.events)
                              for k in ('data', 'backend_compile_and_load', 'np.asarray(jax.Array)')},
                 cpu_ops=oracle.facts(planes)['cpu_ops'])
    assert facts['bytes'] < 1000000, facts['bytes']
    assert ops, 'no op in the trace'
    assert len(facts['cpu_ops']) == TRACES[name][0], facts['cpu_ops'].keys()
    if name == 'cpu1_plain':
        assert not steps
    elif name in ('cpu1_async', 'cpu1_midrun'):
        assert len(steps) == 6 and inside == 0, (len(steps), inside)
        # each step is 13 ops; in cpu1_midrun there are those of the work in flight, too
        assert len(ops) > 6 * 13 if name == 'cpu1_midrun' else len(ops) == 6 * 13, len(ops)
    else:
        assert steps and inside == len(ops), (inside, len(ops))
    here = open(path, 'rb').read()
    for word in (str(HERE), sys.prefix, tempfile.gettempdir(), os.path.expanduser('~')):
        assert word.encode() not in here, 'a path of this machine: ' + word
    return facts


def record(name, into):
    devices, python, hlo, cache = TRACES[name]
    env = dict(os.environ, JAX_PLATFORMS='cpu',
               XLA_FLAGS='--xla_force_host_platform_device_count=%d' % devices)
    for attempt in range(20):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([sys.executable, str(Path(__file__).resolve()), '--child', name, out],
                           env=env, cwd='/', check=True)
            made, = glob.glob(out + '/plugins/profile/*/*.xplane.pb')
            try:
                facts = check(name, made)
            except AssertionError as e:      # a race went the other way, as the first step of cpu1_async can
                print(name, 'attempt', attempt, 'is not what was wanted:', e, file=sys.stderr)
                continue
            shutil.rmtree(into / name, ignore_errors=True)
            run = into / name / 'plugins' / 'profile' / Path(made).parent.name
            run.mkdir(parents=True)
            shutil.copyfile(made, run / 'host.xplane.pb')
            for json_form in glob.glob(out + '/plugins/profile/*/*.trace.json.gz'):
                shutil.copyfile(json_form, run / 'host.trace.json.gz')    # of cpu1_pair: the same run in both forms
            if os.path.exists(out + '/monitoring.json'):
                shutil.copyfile(out + '/monitoring.json', into / name / 'monitoring.json')
            print(name, json.dumps(facts, indent=1))
            return
    sys.exit('%s: gave up' % name)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ap.add_argument('names', nargs='+', metavar='NAME', help='all, ' + ', '.join(TRACES))
    ap.add_argument('--into', type=Path, default=HERE)
    ap.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    a = ap.parse_args()
    if a.child:
        name, out = a.names
        return child(name, out, *TRACES[name][1:])
    for name in TRACES if a.names == ['all'] else a.names:
        record(name, a.into)


if __name__ == '__main__':
    main()
