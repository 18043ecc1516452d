"""Recordings, in the text form of formats/mini.c, of a small training program on one GPU, for tests of what compares runs.

A program is a list of ops a step, in order; each recording of it has noise of its own. Steps are annotated, between them the
host may do something, and random numbers have a seed.
"""
import hashlib
import random
import re
from dataclasses import dataclass, replace
from pathlib import Path

STEPS = 12
GAP_US = 4  # before the first op of a step: its launch


@dataclass(frozen=True)
class Op:
    """One instruction and how long it takes. Without a scope (None) the compiler made it."""

    name: str
    scope: str
    us: float
    opcode: str = 'fusion'
    shape: str = 'f32[64,128]'
    primitive: str = 'add'
    beside: bool = False   # on another stream, from the begin of the next op on
    donated: bool = False  # of a parameter (an opcode that never runs)
    reads: str = ''        # what its operands are
    program: int = 0       # its program's id, where several are compiled of one name

    def fingerprint(self):
        """As the HLO's: of what is computed, not of names and numbers."""
        text = ' '.join((self.opcode, self.shape, re.sub(r'\d+', '', self.scope or ''), self.primitive, self.reads))
        return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def layer(number, us=40, rows=64, width=128, dtype='f32'):
    """Forward and backward of one layer, in the order of a layer."""
    scope, inner = 'layer%d' % number, '%s[%d,%d]' % (dtype, rows, width)
    return [Op('dot.%d' % number, 'jvp(%s)' % scope, us, 'dot', inner, 'dot_general'),
            Op('tanh_fusion.%d' % number, 'jvp(%s)' % scope, us / 4, 'fusion', inner, 'tanh'),
            Op('dot.%d' % (100 + number), 'transpose(jvp(%s))' % scope, us, 'dot', inner, 'dot_general'),
            Op('dot.%d' % (200 + number), 'transpose(jvp(%s))' % scope, us, 'dot', '%s[%d,%d]' % (dtype, width, width), 'dot_general'),
            Op('subtract_fusion.%d' % number, 'optimizer', us / 8, 'fusion', '%s[%d,%d]' % (dtype, width, width), 'sub')]


def training(layers=4, **what):
    return [op for number in range(layers) for op in layer(number, **what)]


def times_of(ops, factor, names=None):
    """The ops, of which those whose scope or name has `names` (None: all) take so many times as long."""
    return [replace(op, us=op.us * factor) if names is None or names in op.scope or names in op.name else op for op in ops]


@dataclass(frozen=True)
class Noise:
    """As shares: of a recording as a whole, of an op from recording to recording, and from step to step."""

    run: float = 0.003
    own: float = 0.01
    step: float = 0.01


def sampled(begin_ns, length_ns, sleeper, caller, pieces):
    """The samples of a stack: the caller, and the function on the line of each piece, in a call or in none."""
    place, function = sleeper.removeprefix('$').split(' ')
    file, line = place.split(':')
    yield '%dns %dns "%s"' % (begin_ns, length_ns, caller)
    for below, call, share in pieces:
        piece_ns = int(length_ns * share)
        yield '%dns %dns "$%s:%d %s"' % (begin_ns, piece_ns, file, int(line) + below, function)
        if call:
            yield '%dns %dns "$%s"' % (begin_ns, piece_ns, call)
        begin_ns += piece_ns


def write(path, ops, seed, noise=Noise(), module='jit_train_step', sleep_us=0.0, sleeper='$data.py:12 load_batch', caller='$train.py:40 fit', pieces=(), waiter='', wait='cudaStreamSynchronize', wake_us=6, is_beside=False):
    """One recording. `sleep_us`: what a function of the program takes before each step, or beside its device; `pieces`: what samples of
    its stack saw, as lines below its place, calls and shares of its time; `waiter`: a function that waits for each step, in the call `wait`,
    which ends `wake_us` after it."""
    rng = random.Random(seed)
    run = rng.gauss(1, noise.run)
    means = [op.us * run * rng.gauss(1, noise.own) for op in ops]
    function = module.removeprefix('jit_')
    lines = ['idsprof-mini 1', 'host h']
    lines += ['hlo module=%s name=%s opcode=%s fingerprint=%d shape=%s' % (module, op.name, op.opcode, op.fingerprint(), op.shape) +
              (' program=%d' % op.program if op.program else '') + (' op_name=%s parameter=1 donated=%d' % (op.name, op.donated) if op.opcode == 'parameter' else
               ' op_name=jit(%s)/%s/%s' % (function, op.scope, op.primitive) if op.scope else '') for op in ops]
    others = []
    kernels, marks, host, frames, stacks, at, number = [], [], [], [], [], 0.0, 0
    for step in range(STEPS):
        begin = at
        slept = sleep_us * rng.gauss(1, noise.step)
        if sleep_us:
            from_us = at + (10 + GAP_US if is_beside else 0)
            if not pieces:
                frames.append('%dns %dns "%s"' % (1000 * from_us, 1000 * slept, sleeper))
            if pieces:
                stacks += sampled(int(1000 * from_us), int(1000 * slept), sleeper, caller, pieces)
        if is_beside:
            slept = 0
        at += slept + GAP_US * abs(rng.gauss(1, noise.step))
        for op, mean in zip(ops, means):
            if op.opcode == 'parameter':
                continue
            us = mean * abs(rng.gauss(1, noise.step))
            number += 1
            (others if op.beside else kernels).append('%dns %dns %s hlo_op=%s hlo_module=%s%s correlation_id=%d' % (
                round(1000 * at), round(1000 * us), op.name, op.name, module, ' program_id=%d' % op.program if op.program else '', number))
            host.append('%dns 100ns launch correlation_id=%d' % (round(1000 * (begin + slept)) + 2 * (number % 1000), number))
            at += 0 if op.beside else us
        if waiter:
            waits_us = begin + slept + 2
            at += wake_us
            frames += ['%dns %dns "%s"' % (1000 * waits_us, 1000 * (at - waits_us), call) for call in (waiter, wait)]
        marks.append('%dns %dns %d' % (round(1000 * begin), round(1000 * at) - round(1000 * begin), step))
    lines += ['plane /device:GPU:0', 'line 1 "Stream #1(Kernel)"', *kernels, 'line 2 Steps', *marks,
              *(['line 3 "Stream #2(Kernel)"', *others] if others else []), 'plane /host:CPU', 'line 100 python',
              *frames, *host, *(['plane /host:idsprof.stacks', 'line 100 python', *stacks] if stacks else [])]
    Path(path).write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return Path(path)


def side(folder, name, ops, seed, count=3, **what):
    """So many recordings of a program, and the pattern that they are one side by."""
    for number in range(count):
        write(Path(folder) / ('%s_%d.mini' % (name, number)), ops, 1000 * seed + number, **what)
    return str(Path(folder) / (name + '_?.mini'))
