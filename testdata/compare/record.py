#!/usr/bin/env python3
"""Record the traces of testdata/compare, testdata/scale and testdata/methods with JAX on the CPU.

    record.py [--into DIR] NAME...     "all": every one

Each trace comes from a process of its own, as in ../record.py, whose way of hiding paths this follows. What a trace is for is
asserted by tests/cli/test_diff.py and tests/cli/test_scale.py.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS, SCALE_STEPS = 12, 6

#             folder, devices
TRACES = {
    'base': ('compare', 1),       # two layers of 256
    'again': ('compare', 1),      # the same once more
    'recompile': ('compare', 1),  # `score` meets a new shape in steps 3, 6 and 9
    'transfer': ('compare', 1),   # 16 MB more to the device in each step
    'doubled': ('compare', 1),    # a third layer, twice as large as the others
    **{'%s%d' % (method, n): ('methods', n) for method in ('lcam', 'tad') for n in (1, 2, 4)},  # two ways to compute a gradient
    'dev1': ('scale', 1), 'dev2': ('scale', 2), 'dev4': ('scale', 4), 'dev8': ('scale', 8),  # one batch of 512 over all devices
}


def child(name, out):
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.profiler import StepTraceAnnotation, TraceAnnotation
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    jax.config.update('jax_hlo_source_file_canonicalization_regex', '.*/')
    rng = np.random.default_rng(0)
    data = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    scaling = name.startswith('dev')
    width, batch = (256, 512) if scaling else (256, 256)
    layers = 3 if name == 'doubled' else 2

    def loss(params, x, y):
        for i, w in enumerate(params):
            with jax.named_scope('layer%d' % i):
                x = jnp.tanh(x @ w)
        return jnp.mean((x - y) ** 2)

    @jax.jit
    def train_step(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return [w - 0.1 * g for w, g in zip(params, grads)], value

    @jax.jit
    def score(x):
        return jax.nn.softmax(x @ x.T).sum()

    mesh = Mesh(np.array(jax.devices()), ('dp',))
    shard, everywhere = NamedSharding(mesh, P('dp')), NamedSharding(mesh, P())
    params = jax.device_put([data(width, width) / 8 for _ in range(layers)], everywhere)
    feed = lambda: (jax.device_put(data(batch, width), shard), jax.device_put(data(batch, width), shard))  # noqa: E731
    large = data(2048, 2048)

    def step(s):
        nonlocal params
        with StepTraceAnnotation('train', step_num=s):
            with TraceAnnotation('data'):
                x, y = feed()
                if name == 'transfer':
                    jax.block_until_ready(jax.device_put(large, everywhere))
            params, value = train_step(params, x, y)
            if s in (3, 6, 9) and name == 'recompile':
                score(jax.device_put(data(4 + s, 16))).block_until_ready()
            jax.block_until_ready((params, value))

    for _ in range(5):
        step(-1)
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level, options.python_tracer_level, options.enable_hlo_proto = 2, 0, True
    with jax.profiler.trace(out, profiler_options=options):
        for s in range(SCALE_STEPS if scaling else STEPS):
            step(s)


def command_of(name, out):
    if TRACES[name][0] == 'methods':
        return [str(HERE.parents[1] / 'tests' / 'live' / 'two_methods.py'), name[:-1], name[-1], '--trace', out, '--steps', '6', '--clock', '/dev/null']
    return [str(Path(__file__).resolve()), '--child', name, out]


def place_of(name, into):
    folder, devices = TRACES[name]
    return into / folder / ('%dgpu_20260102' % devices) / (name[:-1] + '_trace') if folder == 'methods' else into / folder / name


def record(name, into):
    folder, devices = TRACES[name]
    env = dict(os.environ, JAX_PLATFORMS='cpu', XLA_FLAGS='--xla_force_host_platform_device_count=%d' % devices)
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, *command_of(name, out)], env=env, cwd='/', check=True)
        made, = glob.glob(out + '/plugins/profile/*/*.xplane.pb')
        content = open(made, 'rb').read()
        assert len(content) < 300000, len(content)
        for word in (str(HERE), sys.prefix, tempfile.gettempdir(), os.path.expanduser('~')):
            assert word.encode() not in content, 'a path of this machine: ' + word
        run = place_of(name, into) / 'plugins' / 'profile' / Path(made).parent.name
        shutil.rmtree(place_of(name, into), ignore_errors=True)
        run.mkdir(parents=True)
        shutil.copyfile(made, run / 'host.xplane.pb')
        print(name, len(content))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('names', nargs='+', metavar='NAME', help='all, ' + ', '.join(TRACES))
    parser.add_argument('--into', type=Path, default=HERE.parent)
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(*arguments.names)
    for name in TRACES if arguments.names == ['all'] else arguments.names:
        record(name, arguments.into)


if __name__ == '__main__':
    main()
