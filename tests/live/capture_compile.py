"""The program of test_capture.py that compiles in its steps and writes down what jax.monitoring says: capture_compile.py CACHE OUT"""
import collections
import json
import sys

import jax
import jax.numpy as jnp

SPANS = {'/jax/core/compile/jaxpr_trace_duration': 'tracing', '/jax/core/compile/jaxpr_to_mlir_module_duration': 'lowering',
         '/jax/core/compile/backend_compile_duration': 'backend'}
EVENTS = {'/jax/compilation_cache/cache_hits': 'cache_hits', '/jax/compilation_cache/cache_misses': 'cache_misses'}
said = {'by_function': collections.defaultdict(lambda: collections.defaultdict(float)), 'all': collections.defaultdict(float)}


def on_span(event, seconds, fun_name='', **_):
    if event in SPANS:
        name = fun_name[4:-1] if fun_name.startswith('jit(') else fun_name
        said['by_function'][name][SPANS[event]] += seconds
        said['by_function'][name]['compilations'] += SPANS[event] == 'backend'
        said['all'][SPANS[event]] += seconds


def on_event(event, **_):
    if event in EVENTS:
        said['all'][EVENTS[event]] += 1


jax.monitoring.register_event_duration_secs_listener(on_span)
jax.monitoring.register_event_listener(on_event)
jax.config.update('jax_compilation_cache_dir', sys.argv[1])
jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)
jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)


@jax.jit
def score(x):
    for _ in range(20):
        x = jnp.sin(x @ x.T @ x) + jnp.cumsum(x, axis=0)
    return x.sum()


@jax.jit
def train_step(w):
    for _ in range(10):
        w = jnp.tanh(w @ w) * 0.5
    return w


w = None
for step in range(4):
    with jax.profiler.StepTraceAnnotation('train', step_num=step):
        w = train_step(jnp.ones((32, 32)) if w is None else w)
        if step < 3:
            score(jnp.ones((8 + step, 4)))
        w.block_until_ready()
with open(sys.argv[2], 'w') as out:
    json.dump(said, out)
