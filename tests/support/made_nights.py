"""Nights of a training job on one TPU, as mini files: so many layers of three ops each, with noise of the machine, of each op's night and of
each execution, and factors by which layers, parts of them or the time between steps are longer from some night on."""
import os
import random
from datetime import datetime, timedelta, timezone

PARTS = (('attention', 400), ('mlp', 900), ('norm', 60))
FIRST = datetime(2026, 9, 1, 4, tzinfo=timezone.utc)


def day(number):
    return (FIRST + timedelta(days=number)).strftime('%Y-%m-%d')


def write(path, number, rng, *, layers=12, factor=None, steps=6, gap_us=300.0, noise=0.005, plane='/device:TPU:0', names=None):
    """`names`: what layers are called that are not layer_N, by N."""
    factor, names = factor or {}, names or {}
    machine = rng.gauss(1, noise)
    ops = []
    for layer in range(layers):
        for part, us in PARTS:
            scale = factor.get(f'layer_{layer}', 1) * factor.get(part, 1) * factor.get(f'layer_{layer}/{part}', 1)
            ops.append((f'model/{names.get(layer, f"layer_{layer}")}/{part}', us * scale * machine * rng.gauss(1, noise)))
    lines = [f'plane {plane}']
    lines += [f'meta fusion.{i} hlo_category=fusion program_id=1 tf_op=jit(train_step)/{scope}/dot_general:' for i, (scope, _) in enumerate(ops)]
    at, executions, marks, modules = 0, [], [], []
    for step in range(steps):
        begin = at
        for i, (_, us) in enumerate(ops):
            length = max(1, int(us * rng.gauss(1, 0.003) * 1000))
            executions.append(f'{at}ns {length}ns fusion.{i}')
            at += length
        modules.append(f'{begin}ns {at - begin}ns jit_train_step(1)')
        at += int(gap_us * rng.gauss(1, 0.01) * 1000)
        marks.append(f'{begin}ns {at - begin}ns {step}')
    lines += ['line 1 "XLA Ops"', *executions, 'line 2 "XLA Modules"', *modules, 'line 3 "Steps"', *marks]
    path.write_text('\n'.join(['idsprof-mini 1', 'host h', *lines]) + '\n')
    when = (FIRST + timedelta(days=number)).timestamp()
    os.utime(path, (when, when))


def write_nights(folder, seed, what, nights=60):
    """`what(number)` are the options of `write` for that night; None: there was none."""
    rng = random.Random(seed)
    folder.mkdir()
    for number in range(nights):
        options = what(number)
        if options is not None:
            write(folder / f'night_{number:02}.mini', number, rng, **options)
    return folder
