"""The pairs of programs with one known change, and programs that are recorded against themselves."""

EIGHT = "--xla_force_host_platform_device_count=8"
BARRIERS = "--xla_disable_hlo_passes=cse_barrier_expander"  # else the CPU's compiler takes barriers out before it fuses


class Pair:
    """`a` and `b`: what program.py is changed by. `account` and `cause`: what the first cause of the waterfall must match, of
    which `cause` may be in its words, its culprit, its place or the shapes of its op. `structure`: what one row of the structure
    must match; None: nothing is certain to have changed there. `sign`: +1 slower, -1 faster; 0: the programs' clocks tell.
    `size`: "clock", what the programs' own clocks say of the cause, or "change", all of the change; None: what it does to
    other ops, which share cores, caches and memory with it, is not its own."""

    def __init__(self, a, b, account, cause, structure=None, sign=1, size="change", flags="", python=False, cores=None,
                 load_on_b=0, same=False, of=None):
        self.a, self.b, self.account, self.cause, self.structure, self.sign, self.size = a, b, account, cause, structure, sign, size
        self.flags, self.python, self.cores, self.load_on_b, self.same, self.of = flags, python, cores, load_on_b, same, of


def back(of, pair, account=None, cause=None, structure=None):
    """The recordings of another pair, after against before."""
    return Pair(pair.b, pair.a, account or pair.account, cause or pair.cause, structure or pair.structure, -pair.sign, pair.size, of=of)


WORK = "^work.compute$"
MOE = {"width": 1024, "hidden": 1536, "batch": 64}  # of which updating the weights is a good part
SHARDED = {"batch": 64, "parallel": "data"}

PAIRS = {
    "bigger_matmul": Pair({}, {"hidden_of": {"1": 1024}}, WORK, r"layer1", r"256,512\S+ .*256,1024"),
    "batch_x2": Pair({"batch": 192}, {"batch": 384}, WORK, r"batch", r"batch"),
    "bf16": Pair({}, {"dtype": "bfloat16"}, WORK, r"f32\S* .*bf16|dot|bf16", r"f32\S* .*bf16", sign=0, size=None),
    "remat": Pair({"scan": True, "layers": 4, "width": 512}, {"scan": True, "layers": 4, "width": 512, "remat": True}, WORK,
                  r"remat|checkpoint|layers", r"remat|checkpoint", size=None),
    "donation_added": Pair({"state_mb": 64}, {"state_mb": 64, "donate": True}, WORK, r"state|donat", r"donat|alias", sign=-1),
    "callback": Pair({}, {"callback_ms": 5, "serial": True}, r"^(host\.python|work\.compute|host\.sync|device\.in_program)$",
                     r"report_loss|callback|metrics", r"callback|custom-call", size="clock", python=True),
    # While the callback sleeps in one of its two threads, the device computes in the other one, at half of its speed.
    "callback_beside": Pair({}, {"callback_ms": 5}, r"^(host\.python|work\.compute|host\.sync|device\.in_program)$",
                            r"report_loss|callback|metrics", r"callback|custom-call", size=None, python=True),
    "fetch": Pair({"pipelined": True, "prepare_ms": 8}, {"pipelined": True, "prepare_ms": 8, "fetch": True},
                  r"^host\.(sync|python)$", r"device_get|__array__|asarray|Await|log_loss|prepare", python=True),
    "input_sleep": Pair({}, {"load_ms": 6}, r"^host\.(input|python)$", r"load_batch", size="clock", python=True),
    "recompile": Pair({}, {"new_shapes": True}, r"^host\.compile$", r"score", size="clock"),
    "extra_layer": Pair({}, {"layers": 3}, WORK, r"layer2", r"layer2"),
    "extra_layer_unnamed": Pair({"scopes": False}, {"scopes": False, "layers": 3}, WORK, r"dot|added|jit\(train_step\)",
                                r"^ops .*(%s)" % "|".join("%d ops %d ops" % (ops, ops + 10) for ops in range(20, 40))),  # a layer is ten ops
    "sgd_to_adam": Pair(MOE, {**MOE, "optimizer": "adam"}, WORK, r"optimizer", r"optimizer", size=None),
    "data_to_model": Pair(SHARDED, {"batch": 64, "parallel": "model"}, r"^(comm\.(transfer|wait)|work\.compute|device\.queue)$",
                          r"all-reduce|psum|gradients|shard|f32\[|dot|layer|CPU", r"all-reduce|shard", sign=0, size=None, flags=EIGHT, python=True),
    "more_reduces": Pair(SHARDED, {**SHARDED, "reduces": 8}, r"^comm\.(transfer|wait)$", r"sync_stats|all-reduce|CPU", r"all-reduce", size=None, flags=EIGHT, python=True),
    "barrier": Pair({"chain": 8}, {"chain": 8, "barrier": True}, WORK, r"chain", r"chain", size=None, flags=BARRIERS),
    "eager": Pair({}, {"eager": 200}, r"^(host\.(dispatch|python|sync)|device\.(in_program|queue)|work\.compute)$", r"add|small", r"jit_add|add",
                  size=None, python=True),
    "copies": Pair({}, {"copy_mb": 8}, r"^(host\.(staging|sync)|copy\.h2d)$", r"", None, size="clock", python=True),
    "even": Pair({}, {}, r"", r"even|all ops|every op|slower|clock|load|held|core", None, cores="1", load_on_b=1),
    "renamed": Pair({}, {"name": "train_step_v2"}, "", "", "renamed", sign=0, same=True),
}
PAIRS.update({
    "donation_removed": back("donation_added", PAIRS["donation_added"]),
    "fewer_layers": back("extra_layer", PAIRS["extra_layer"]),
    "smaller_matmul": back("bigger_matmul", PAIRS["bigger_matmul"], structure=r"256,1024\S+ .*256,512"),
    "sleep_gone": back("input_sleep", PAIRS["input_sleep"]),
})

# Each is recorded six times, which is two sides of three, in ten ways. (parameters, flags, with Python's own tracer)
EQUAL = {
    "mlp": ({}, "", False), "mlp_unannotated": ({"annotated": False}, "", False), "mlp_unnamed": ({"scopes": False}, "", False),
    "mlp_python": ({}, "", True), "small": ({"width": 256}, "", False), "large": ({"layers": 4}, "", False),
    "bf16": ({"dtype": "bfloat16"}, "", False), "scan": ({"scan": True, "layers": 4, "width": 512}, "", False),
    "remat": ({"scan": True, "layers": 4, "width": 512, "remat": True}, "", False), "state": ({"state_mb": 64}, "", False),
    "donated": ({"state_mb": 64, "donate": True}, "", False), "chain": ({"chain": 8}, "", False), "adam": ({**MOE, "optimizer": "adam"}, "", False),
    "callback": ({"callback_ms": 5}, "", False), "sleep": ({"load_ms": 6}, "", True), "recompile": ({"new_shapes": True}, "", False),
    "eager": ({"eager": 200}, "", False), "copies": ({"copy_mb": 8}, "", False), "data": (SHARDED, EIGHT, False),
    "model": ({"batch": 64, "parallel": "model"}, EIGHT, False),
}
