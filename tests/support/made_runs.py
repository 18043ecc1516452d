"""Runs in the text form of formats/mini.c with steps of given lengths, for tests of what compares runs."""
import random
from pathlib import Path


def gpu_run(path, steps_us, busy=0.8, devices=1, name='fusion.1', module='jit_train', kernel='k', model=None):
    """One kernel a step and device at either end of the step, so that the step is whole: busy * length of compute, the rest idle."""
    lines = ['idsprof-mini 1', 'host h', 'hlo module=%s name=%s opcode=fusion fingerprint=7 shape=f32[8]' % (module, name)]
    for device in range(devices):
        kernels, marks, at = [], [], 0
        for number, length in enumerate(round(us * 1000) for us in steps_us):
            half = round(length * busy / 2)
            kernels += ['%dns %dns %s hlo_op=%s hlo_module=%s' % (at, half, kernel, name, module),
                        '%dns %dns %s hlo_op=%s hlo_module=%s' % (at + length - half, half, kernel, name, module)]
            marks.append('%dns %dns %d' % (at, length, number))
            at += length
        lines += ['plane /device:GPU:%d%s' % (device, ' device_type_string=%s' % model if model else ''), 'line 1 "Stream #1(Kernel)"', *kernels, 'line 2 Steps', *marks]
    Path(path).write_text('\n'.join(lines) + '\n')
    return Path(path)


def noisy(seed, count, mean_us, run=0.005, step=0.02):
    """Lengths of steps that vary from run to run and from step to step."""
    random_numbers = random.Random(seed)
    mean = mean_us * random_numbers.gauss(1, run)
    return [mean * random_numbers.gauss(1, step) for _ in range(count)]
