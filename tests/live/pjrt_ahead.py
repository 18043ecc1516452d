"""Compiles for a TPU that is not there: what tests/live/test_pjrt_plugins.py captures. Prints how long the compilation took."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

topology = topologies.get_topology_desc('v5e:2x2', 'tpu')
rows = NamedSharding(Mesh(np.array(topology.devices).reshape(4), ('x',)), PartitionSpec('x'))


def train(a, b):
    return jnp.sin(a @ b).sum()


shape = jax.ShapeDtypeStruct((512, 512), jnp.float32)
lowered = jax.jit(train, in_shardings=(rows, rows)).lower(shape, shape)
before = time.monotonic()
compiled = lowered.compile()
print('seconds', time.monotonic() - before)
print('text', len(compiled.as_text()))
