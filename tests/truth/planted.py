"""Programs with one planted cause each, for a device that is a CPU or a GPU.

usage: planted.py CAUSE MS ANNOTATED TRUTH

One process is one program: it runs STEPS steps whose work on the device takes
about MS milliseconds, plants CAUSE into them, and writes to TRUTH what its own
clock says: how long a step took and how much of it the cause took.  It knows
nothing of idsprof: the capture decides what is recorded.
"""
import gc
import json
import os
import pickle
import queue
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import jax
import jax.numpy as jnp
import numpy as np

# Of a step of so many milliseconds: the side of its matrices, with which it takes few enough products to be compiled soon.
SIDES = {0.1: 64, 0.5: 128, 2: 192, 20: 384, 100: 512}
if os.environ.get("JAX_PLATFORMS") == "cuda":  # asking jax would begin its backend, which ranks must not before they are connected
    SIDES = {0.1: 2048, 0.5: 2048, 2: 4096, 20: 8192, 100: 8192}
STEPS = 14       # of which 8 are recorded
TINY_STEPS = 40  # of which 30 are
LEAST_STEPS = 400  # of which 300 are: stacks are sampled every 2 ms, and 30 steps of 0.02 ms are over by then
HELD_UP_AT = 3, 11     # before these steps it is asked how long threads had no core: asking takes milliseconds
TINY_HELD_UP_AT = {TINY_STEPS: (3, 33), LEAST_STEPS: (3, 303)}


def held_up():
    """For how many seconds the threads of this process were ready to run and had no core, so far."""
    total = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/schedstat" % task, encoding="ascii") as file:
                total += int(file.read().split()[1])
        except OSError:  # the thread has ended
            continue
    return total / 1e9


class Clock:
    """Sums the time of a cause over one step."""

    def __init__(self):
        self.spent = 0.0

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *_):
        self.spent += time.perf_counter() - self.begin


CLOCK = Clock()


def shortest(call):
    """Of some calls, in seconds: others use the machine too."""
    call()
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def measured(ms):
    """How many layers of the side take about so many milliseconds here, and how many seconds those take."""
    side, layers = SIDES[ms], 8
    layer = jnp.full((side, side), 0.01, jnp.float32)

    @jax.jit
    def measure(batch):
        for _ in range(layers):
            batch = jnp.tanh(batch @ layer)
        return batch

    of_one = shortest(lambda: measure(layer).block_until_ready()) / layers
    depth = max(1, round(ms / 1e3 / of_one))
    return depth, depth * of_one


def training(ms, name="train_step"):
    """A step of about so many milliseconds."""
    side = SIDES[ms]
    depth, seconds = measured(ms)

    def train_step(weight, batch):
        for _ in range(depth):
            batch = jnp.tanh(batch @ weight)
        return weight * 0.999, batch.mean()

    train_step.__name__ = name
    train_step = jax.jit(train_step)
    weight = jnp.full((side, side), 0.01, jnp.float32)
    batch = jnp.ones((side, side), jnp.float32)
    return train_step, weight, batch, seconds


class SleepyLoader:
    """A loader of the program's own: its __next__ is late."""

    def __init__(self, batch, seconds):
        self.batch, self.seconds = batch, seconds

    def __iter__(self):
        return self

    def __next__(self):
        with CLOCK:
            time.sleep(self.seconds)
        return self.batch


class Loop:
    """What a cause may hook into: before a step, its batch, its call and after it."""

    waits = True
    steps = STEPS

    def __init__(self, ms):
        self.ms = ms
        self.step, self.weight, self.batch, seconds = training(ms)
        self.seconds = max(0.005, seconds)  # enough to be the first thing to say

    def before(self, number):
        pass

    def call(self, number):
        self.weight, loss = self.step(self.weight, self.batch)
        return loss

    def after(self, number, loss):
        pass


class LoaderSleep(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.loader = SleepyLoader(self.batch, self.seconds)

    def before(self, number):
        self.batch = next(self.loader)


class QueueSleep(Loop):
    """A thread makes batches, slowly, and others sleep beside it: a shorter time again and again, and a long time."""

    def __init__(self, ms):
        super().__init__(ms)
        self.queue = queue.Queue(1)
        for target in (self.beat, self.watch, self.produce):
            threading.Thread(target=target, daemon=True).start()

    def beat(self):
        while True:
            time.sleep(0.003)

    def watch(self):
        time.sleep(1000)

    def produce(self):
        while True:
            self.queue.put(self.fetch())

    def fetch(self):
        time.sleep(self.seconds + self.ms / 1e3)
        return self.batch

    def before(self, number):
        with CLOCK:
            self.batch = self.queue.get()


class Collated(Loop):
    """As loaders are: a thread reads records, slowly, and another one makes batches of them."""

    def __init__(self, ms):
        super().__init__(ms)
        self.records, self.batches = queue.Queue(1), queue.Queue(1)
        self.packed = zlib.compress(os.urandom(1 << 20), 1)
        for target in (self.read_all, self.collate):
            threading.Thread(target=target, daemon=True).start()

    def read_all(self):
        while True:
            self.records.put(self.read())

    def read(self):
        time.sleep(self.seconds + self.ms / 1e3)
        return zlib.decompress(self.packed)

    def collate(self):
        while True:
            record = self.records.get()
            end = time.perf_counter() + self.seconds / 8
            while time.perf_counter() < end:
                zlib.crc32(record)
            self.batches.put(self.batch)

    def before(self, number):
        self.batch = self.batches.get()


class LoopSleep(Loop):
    def before(self, number):
        self.augment()

    def augment(self):
        with CLOCK:
            time.sleep(self.seconds)


class CallbackSleep(Loop):
    def after(self, number, loss):
        for callback in (self.report_metrics,):
            callback(number)

    def report_metrics(self, number):
        with CLOCK:
            time.sleep(self.seconds)


class PythonLoop(Loop):
    def before(self, number):
        with CLOCK:
            self.tokenize()

    def tokenize(self):
        end = time.perf_counter() + self.seconds
        count = 0
        while time.perf_counter() < end:
            for letter in range(500):
                count += letter & 3
        return count


class Collect(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.nodes = [[] for _ in range(20000)]

    def before(self, number):
        with CLOCK:
            self.free_memory()

    def free_memory(self):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            gc.collect()


class PickleWrite(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.state = {str(i): [i] * 4 for i in range(2000)}
        self.place = tempfile.TemporaryFile()

    def after(self, number, loss):
        with CLOCK:
            self.write_state()

    def write_state(self):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            data = pickle.dumps(self.state)
            self.place.seek(0)
            self.place.write(data)


class Json(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.text = json.dumps([{"id": i, "w": [i / 3] * 4} for i in range(300)])

    def before(self, number):
        with CLOCK:
            self.parse_records()

    def parse_records(self):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            json.loads(self.text)


class Regex(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.text = "the cat sat on a mat, 12 times; " * 300

    def before(self, number):
        with CLOCK:
            self.clean_text()

    def clean_text(self):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            re.findall(r"(\w+) (\w+)", self.text)


class FloatLoss(Loop):
    """A step of many small batches, and after each of them its loss is read: the device waits for each launch. Every other
    step does without: by how much it is shorter is what the reading costs."""

    waits = False

    def __init__(self, ms):
        self.ms = ms
        self.small, self.weight, self.batch, self.seconds = training(0.1, "small_step")
        self.step = training(0.1)[0]
        self.batches = round(ms / 0.1)

    def call(self, number):
        for _ in range(self.batches):
            self.weight, loss = self.small(self.weight, self.batch)
            if number % 2 == 0:
                self.log_loss(loss)
        self.weight, loss = self.step(self.weight, self.batch)
        jax.block_until_ready(loss)
        return loss

    def log_loss(self, loss):
        return float(loss)


class AsArray(FloatLoss):
    def log_loss(self, loss):
        return np.asarray(self.weight)


class Block(FloatLoss):
    def log_loss(self, loss):
        return self.weight.block_until_ready()


class DevicePut(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.host = np.ones((8 << 20) // 4, np.float32)[1:]

    def before(self, number):
        with CLOCK:
            self.upload()

    def upload(self):
        jax.block_until_ready(jax.device_put(self.host, may_alias=False))


class RoundTrip(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.large = jnp.ones((16 << 20) // 4, jnp.float32)

    def after(self, number, loss):
        with CLOCK:
            self.swap_parameters()

    def swap_parameters(self):
        host = jax.device_get(self.large)
        self.large = jax.block_until_ready(jax.device_put(host[1:], may_alias=False))  # not aligned: it is copied


class NewShape(Loop):
    def __init__(self, ms):
        super().__init__(ms)

        @jax.jit
        def score(values):
            return jnp.sin(values).sum()

        self.score = score
        score(jnp.ones(64)).block_until_ready()
        self.values = [np.ones(100 + i, np.float32) for i in range(STEPS)]

    def after(self, number, loss):
        values = self.values[number] if number % 4 == 3 else np.ones(64, np.float32)
        begin = time.perf_counter()
        self.score(values).block_until_ready()
        if number % 4 == 3:
            CLOCK.spent += time.perf_counter() - begin


class Lambda(Loop):
    def after(self, number, loss):
        with CLOCK:
            jax.jit(lambda x: x * 2 + 1)(loss).block_until_ready()


class EagerAdds(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.small = jnp.ones(16)
        self.add_bias()

    def before(self, number):
        with CLOCK:
            self.add_bias()

    def add_bias(self):
        small = self.small
        for _ in range(200):
            small = small + 1.0
        small.block_until_ready()


def tiny():
    @jax.jit
    def train_step(state):
        return state + 1

    return train_step


class TinyStep(Loop):
    """A step that is next to nothing: the price of the call is the cause."""

    waits = False
    steps = LEAST_STEPS

    def __init__(self, ms):
        super().__init__(ms)
        self.tiny, self.state = tiny(), jnp.ones(4)

    def call(self, number):
        with CLOCK:
            self.state = self.tiny(self.state)
        return self.state


class TinyAndSleep(LoopSleep):
    steps = TINY_STEPS

    def __init__(self, ms):
        super().__init__(ms)
        self.seconds = 0.020
        self.tiny, self.state = tiny(), jnp.ones(4)

    def call(self, number):
        self.state = self.tiny(self.state)
        return self.state


class Evaluation(Loop):
    def after(self, number, loss):
        if number % 2:
            with CLOCK, jax.profiler.TraceAnnotation("evaluation"):
                self.accuracy()

    def accuracy(self):
        time.sleep(self.seconds * 3)


class Checkpoint(Loop):
    def __init__(self, ms):
        super().__init__(ms)
        self.place = tempfile.TemporaryFile()
        self.state = np.ones((1 << 20) * max(2, ms // 4), np.uint8)

    def after(self, number, loss):
        with CLOCK, jax.profiler.TraceAnnotation("checkpoint_save"):
            self.place.seek(0)
            self.place.write(self.state.tobytes())
            time.sleep(self.seconds)


class RankLate(Loop):
    """Rank 1 of 2 sleeps before its step; rank 0 waits in the collective."""

    ranks = 2

    def __init__(self, ms):
        self.ms, self.seconds = ms, 0.030
        mesh = jax.sharding.Mesh(jax.devices(), ("i",))
        side, depth = SIDES[ms], max(1, measured(ms)[0] // self.ranks)
        whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
        spec = jax.sharding.PartitionSpec

        def train_step(batch):
            for _ in range(depth):
                batch = jnp.tanh(batch @ batch * 0.01)
            return jax.lax.psum(batch.mean(), "i") * jnp.ones_like(batch)

        self.train_step = jax.jit(jax.shard_map(train_step, mesh=mesh, in_specs=spec("i"), out_specs=spec("i")))
        mine = np.ones((side, side), np.float32)
        self.batch = jax.make_array_from_process_local_data(whole, mine)

    def is_late(self, number):
        return jax.process_index() == 1

    def before(self, number):
        if self.is_late(number):
            self.read_shard()

    def read_shard(self):
        with CLOCK:
            time.sleep(self.seconds)

    def call(self, number):
        return self.train_step(self.batch)


class RanksLate(RankLate):
    """Of 4 ranks another one sleeps in each step."""

    ranks = 4

    def is_late(self, number):
        return jax.process_index() == number % self.ranks


class DeviceLate(Loop):
    """One of 8 virtual devices has twice the work of the others."""

    def __init__(self, ms):
        self.ms = ms
        mesh = jax.sharding.Mesh(jax.devices(), ("i",))
        side, depth = SIDES[ms] // 2, max(1, round(measured(ms)[0] * 8 * 8 / ms))  # the work of the others: 8 ms
        spec = jax.sharding.PartitionSpec

        def train_step(batch):
            turns = jnp.where(jax.lax.axis_index("i") == 5, 2 * depth, depth)
            batch = jax.lax.fori_loop(0, turns, lambda _, b: jnp.tanh(b @ b * 0.01), batch)
            return jax.lax.psum(batch.mean(), "i") * jnp.ones_like(batch)

        self.train_step = jax.jit(jax.shard_map(train_step, mesh=mesh, in_specs=spec("i"), out_specs=spec("i"), check_vma=False))
        self.batch = jax.device_put(jnp.ones((side * len(jax.devices()), side), jnp.float32),
                                    jax.sharding.NamedSharding(mesh, spec("i")))

    def call(self, number):
        return self.train_step(self.batch)


CAUSES = {
    "loader_sleep": LoaderSleep, "queue_sleep": QueueSleep, "collated": Collated, "loop_sleep": LoopSleep, "callback_sleep": CallbackSleep,
    "python_loop": PythonLoop, "gc_collect": Collect, "pickle_write": PickleWrite,
    "json": Json, "regex": Regex, "float_loss": FloatLoss, "asarray": AsArray, "block": Block,
    "device_put": DevicePut, "round_trip": RoundTrip, "new_shape": NewShape, "new_lambda": Lambda,
    "eager_adds": EagerAdds, "tiny_step": TinyStep, "tiny_and_sleep": TinyAndSleep,
    "evaluation": Evaluation, "checkpoint": Checkpoint, "rank_late": RankLate,
    "ranks_late": RanksLate,
    "device_late": DeviceLate,
}


def run_step(loop, number):
    loop.before(number)
    loss = loop.call(number)
    if loop.waits:
        jax.block_until_ready(loss)
    loop.after(number, loss)


def without_every_other(steps):
    """What the waiting costs in each step, of which the odd ones do without; by the steps that may be recorded."""
    means = [sum(steps[first:11:2]) / len(steps[first:11:2]) for first in (4, 5)]
    return [max(0.0, means[0] - means[1]) * (number % 2 == 0) for number in range(len(steps))]


def launch(count):
    """The processes of one job, with the same words as this one."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = "localhost:%d" % free.getsockname()[1]
    ranks = [subprocess.Popen([sys.executable, *sys.argv],
                              env={**os.environ, "TRUTH_RANK": str(rank), "RANK": str(rank), "TRUTH_COORDINATOR": address})
             for rank in range(count)]
    return max(rank.wait() for rank in ranks)


def main():
    cause, ms, annotated, truth = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "yes", sys.argv[4]
    ranks = getattr(CAUSES[cause], "ranks", 1)
    if ranks > 1:
        if "TRUTH_RANK" not in os.environ:
            sys.exit(launch(ranks))
        jax.distributed.initialize(os.environ["TRUTH_COORDINATOR"], ranks, int(os.environ["TRUTH_RANK"]))
    loop = CAUSES[cause](ms)
    steps, spent, held = [], [], {}
    for number in range(loop.steps):
        CLOCK.spent = 0.0
        if number in TINY_HELD_UP_AT.get(loop.steps, HELD_UP_AT):
            held[number] = 1e3 * held_up()
        begin = time.perf_counter()
        if annotated:
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                run_step(loop, number)
        else:
            run_step(loop, number)
        steps.append(time.perf_counter() - begin)
        spent.append(CLOCK.spent)
    if os.environ.get("TRUTH_RANK", "1") != "1":
        return
    if isinstance(loop, FloatLoss):
        spent = without_every_other(steps)
    with open(truth, "w", encoding="utf-8") as file:
        json.dump({"step_ms": [1e3 * x for x in steps], "cause_ms": [1e3 * x for x in spent], "held_ms": held,
                   "before_the_call": type(loop).before is not Loop.before}, file)


main()
