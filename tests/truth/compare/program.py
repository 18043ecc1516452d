"""A small training program of which one thing can be changed, for a device that is a CPU.

usage: program.py PARAMETERS TRUTH

PARAMETERS is a JSON object that changes DEFAULTS. The program runs STEPS steps and writes to TRUTH what its own clock
says: how long each step took from its begin to the next one's, and how much of it what was added to the host took. It
knows nothing of idsprof: the capture decides which steps are recorded.
"""
import contextlib
import json
import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

WARM, WINDOW = 4, 20  # the capture records so many steps after so many
STEPS = WARM + WINDOW + 3

DEFAULTS = {
    "layers": 2, "width": 768, "hidden": 512, "batch": 256,
    "hidden_of": {},        # of one layer: {"1": 1024}
    "dtype": "float32", "optimizer": "sgd", "scopes": True, "annotated": True, "name": "train_step",
    "scan": False,          # the layers are turns of a loop
    "remat": False,         # jax.checkpoint around each layer
    "state_mb": 0,          # a state beside the weights, of which a step makes a new one
    "donate": False,        # ... in the same memory
    "chain": 0,             # so many passes over 16 MB that XLA can fuse
    "barrier": False,       # ... and now cannot
    "callback_ms": 0,       # a function of the program that XLA calls, beside the gradients
    "serial": False,        # ... or before them
    "load_ms": 0, "prepare_ms": 0,
    "pipelined": False,     # the host waits for a step when it has launched the next one
    "fetch": False,         # jax.device_get of the loss in each step
    "new_shapes": False,    # a function meets another shape in each step
    "eager": 0,             # so many adds outside jit
    "copy_mb": 0,           # so much to the device
    "parallel": None,       # "data" or "model", over all devices
    "reduces": 0,           # so many all-reduces of 1 MB more
    "steps": STEPS,
}


class Clock:
    """Sums the time of what was added to the host over one step."""

    spent = 0.0

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *_):
        self.spent += time.perf_counter() - self.begin


CLOCK = Clock()


def held_up():
    """For how many seconds the threads of this process were ready to run and had no core, so far."""
    total = 0
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            with open("/proc/self/task/%s/schedstat" % task, encoding="ascii") as file:
                total += int(file.read().split()[1])
    return total / 1e9


class Program:
    def __init__(self, of):
        self.of = of
        self.rng = np.random.default_rng(0)
        self.devices = np.array(jax.devices())
        self.mesh = Mesh(self.devices, ("i",))
        self.weights = [self.layer(number) for number in range(of["layers"])]
        if of["parallel"] == "model":
            self.weights = [(self.put(up, None, "i"), self.put(down, "i", None)) for up, down in self.weights]
        elif of["parallel"]:
            self.weights = [(self.put(up), self.put(down)) for up, down in self.weights]
        self.moments = jax.tree.map(lambda weight: (weight * 0, weight * 0), self.weights) if of["optimizer"] == "adam" else None
        self.state = self.data(of["state_mb"] << 18)
        self.chain = self.data(4 << 20) if of["chain"] else jnp.zeros(1)
        self.stats = self.put(self.data(512, 512)) if of["reduces"] else jnp.zeros(1)
        self.batch = self.data(of["batch"], of["width"])
        if of["parallel"]:
            self.batch = self.put(self.batch, *(("i",) if of["parallel"] == "data" else ()))
        self.host = np.ones(((of["copy_mb"] << 20) // 4) + 1, np.float32)[1:]  # not aligned: it is copied
        self.small = jnp.ones(16)
        self.before = None
        self.score = jax.jit(self.make_score())
        self.train_step = self.make_step()

    # ---- what a step has ----

    def data(self, *shape):
        return jnp.asarray(self.rng.normal(size=shape) / 16, self.of["dtype"])

    def put(self, array, *spec):
        return jax.device_put(array, NamedSharding(self.mesh, PartitionSpec(*spec)))

    def layer(self, number):
        hidden = self.of["hidden_of"].get(str(number), self.of["hidden"])
        return self.data(self.of["width"], hidden), self.data(hidden, self.of["width"])

    def scope(self, name):
        return jax.named_scope(name) if self.of["scopes"] else contextlib.nullcontext()

    @staticmethod
    def make_score():
        def score(values):
            return jnp.sin(values).sum()
        return score

    def report_loss(self, loss):
        with CLOCK:
            time.sleep(self.of["callback_ms"] / 1e3)
        return np.float32(loss)

    def loss(self, weights, batch):
        def one(batch, up, down):
            return jnp.tanh(batch @ up) @ down

        one = jax.checkpoint(one) if self.of["remat"] else one
        if self.of["scan"]:
            with self.scope("layers"):
                stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *weights)
                batch, _ = jax.lax.scan(lambda batch, layer: (one(batch, *layer), None), batch, stacked)
            weights = []
        for number, (up, down) in enumerate(weights):
            with self.scope("layer%d" % number):
                batch = one(batch, up, down)
        return (batch.astype(jnp.float32) ** 2).mean()

    def updated(self, weights, gradients, moments):
        if moments is None:
            return jax.tree.map(lambda weight, gradient: weight - 0.001 * gradient, weights, gradients), None
        pairs = [[one(*three) for three in zip(w, g, m)] for w, g, m in zip(weights, gradients, moments)
                 for one in [self.adam]]
        return [tuple(pair[0] for pair in row) for row in pairs], [tuple(pair[1] for pair in row) for row in pairs]

    @staticmethod
    def adam(weight, gradient, moments):
        first, second = 0.9 * moments[0] + 0.1 * gradient, 0.999 * moments[1] + 0.001 * gradient * gradient
        return weight - 0.001 * first / (jnp.sqrt(second) + 1e-8), (first, second)

    def chained(self, chain):
        for number in range(self.of["chain"]):
            chain = jnp.maximum(chain * 1.01, 0.1 * number)
            if self.of["barrier"]:
                chain = jax.lax.optimization_barrier(chain)
        return chain

    def reduced(self, stats):
        for _ in range(self.of["reduces"]):
            stats = jax.lax.psum(stats * 0.1, "i")
        return stats

    def make_step(self):
        def train_step(weights, moments, batch, state, chain, stats):
            if self.of["callback_ms"] and self.of["serial"]:
                with self.scope("metrics"):
                    batch = batch * jax.pure_callback(self.report_loss, jax.ShapeDtypeStruct((), np.float32), batch[0, 0])
            loss, gradients = jax.value_and_grad(self.loss)(weights, batch)
            if self.of["parallel"] == "data":
                with self.scope("gradients"):
                    gradients = jax.lax.pmean(gradients, "i")
            with self.scope("optimizer"):
                weights, moments = self.updated(weights, gradients, moments)
            if self.of["callback_ms"] and not self.of["serial"]:
                with self.scope("metrics"):
                    loss = jax.pure_callback(self.report_loss, jax.ShapeDtypeStruct((), np.float32), loss)
            if self.of["state_mb"]:
                with self.scope("state"):
                    state = state * 0.99 + 0.01
            with self.scope("chain"):
                chain = self.chained(chain)
            with self.scope("sync_stats"):
                stats = self.reduced(stats)
            return weights, moments, loss, state, chain, stats

        if self.of["parallel"] == "data":
            spec = PartitionSpec
            train_step = jax.shard_map(train_step, mesh=self.mesh, in_specs=(spec(), spec(), spec("i"), spec(), spec(), spec()),
                                       out_specs=spec(), check_vma=False)
        inner = train_step

        def named(weights, moments, batch, state, chain, stats):
            return inner(weights, moments, batch, state, chain, stats)

        named.__name__ = self.of["name"]
        return jax.jit(named, donate_argnums=(3,) if self.of["donate"] else ())

    # ---- the host's part ----

    def load_batch(self):
        with CLOCK:
            time.sleep(self.of["load_ms"] / 1e3)

    def prepare(self):
        time.sleep(self.of["prepare_ms"] / 1e3)

    def add_bias(self):
        with CLOCK:
            small = self.small
            for _ in range(self.of["eager"]):
                small = small + 1.0
            small.block_until_ready()

    def upload(self):
        with CLOCK:
            jax.block_until_ready(jax.device_put(self.host, may_alias=False))

    def evaluate(self, number):
        with CLOCK:
            self.score(np.ones(100 + number, np.float32)).block_until_ready()

    def log_loss(self, loss):
        return jax.device_get(loss)

    def step(self, number):
        of = self.of
        if of["load_ms"]:
            self.load_batch()
        if of["prepare_ms"]:
            self.prepare()
        if of["copy_mb"]:
            self.upload()
        if of["eager"]:
            self.add_bias()
        if of["new_shapes"]:
            self.evaluate(number)
        self.weights, self.moments, loss, self.state, chain, _ = self.train_step(
            self.weights, self.moments, self.batch, self.state, self.chain, self.stats)
        if of["fetch"]:
            self.log_loss(loss)
        if of["pipelined"]:
            loss, self.before = self.before, loss
        if loss is not None:
            jax.block_until_ready((loss, () if of["pipelined"] else (self.weights, self.state, chain)))


def main():
    of = {**DEFAULTS, **json.loads(sys.argv[1])}
    program = Program(of)
    begins, spent, held = [], [], []
    for number in range(of["steps"]):
        CLOCK.spent = 0.0
        if number in (WARM - 1, WARM + WINDOW + 1):
            held.append(1e3 * held_up())
        begins.append(time.perf_counter())
        with jax.profiler.StepTraceAnnotation("train", step_num=number) if of["annotated"] else contextlib.nullcontext():
            program.step(number)
        spent.append(1e3 * CLOCK.spent)
    begins.append(time.perf_counter())
    steps = [1e3 * (after - begin) for begin, after in zip(begins, begins[1:])]
    with open(sys.argv[2] + ".part", "w", encoding="utf-8") as file:
        json.dump({"step_ms": steps, "cause_ms": spent, "held_ms": held[1] - held[0]}, file)
    os.rename(sys.argv[2] + ".part", sys.argv[2])


if __name__ == "__main__":
    main()
