"""A profile of a million events and more, written as bytes: kernels on the streams of a few GPUs, each with its launch on a thread."""
from pathlib import Path


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number(field_number, value):
    return varint(field_number << 3) + varint(value)


def names(field_number, texts):
    return b''.join(field(field_number, number(1, i + 1) + field(2, number(1, i + 1) + field(2, text.encode()))) for i, text in enumerate(texts))


def event(name, start_ns, duration_ns, stat=b''):
    return field(4, number(1, name) + number(2, 1000 * start_ns) + number(3, 1000 * duration_ns) + stat)


def line(identity, name, events):
    return field(3, number(1, identity) + field(2, name.encode()) + b''.join(events))


def correlation(value):
    return field(4, number(1, 1) + number(3, value))


def write(path, events, devices=4, steps=200, kernels=40):
    """About so many events: half are kernels, half are their launches; 200 steps of an annotation, the 150th is three times as long."""
    each, planes, launches, marks = events // 2 // devices, [], [], []
    in_step = each // steps
    key = 0
    for device in range(devices):
        at, body = 1000, []
        for k in range(each):
            step, key = k // in_step, key + 1
            duration = 300 + 37 * (k % kernels)
            if device == 0 and k % in_step == 0 and step < steps:
                marks.append((step, at - 900))
            if device == 0:
                launches.append((at - 400, key))
            body.append(event(k % kernels + 1, at, duration, correlation(key)))
            at += duration + 150 + (duration * 4 if step == 150 else 0)
        planes.append(field(1, field(2, f'/device:GPU:{device}'.encode()) + line(1, 'Stream #1(Compute)', body) +
                            names(4, [f'kernel_of_layer_{i}' for i in range(kernels)]) + names(5, ['correlation_id'])))
    ends = [begin for _, begin in marks[1:]] + [at]
    annotations = [event(2, begin, end - begin - 50, field(4, number(1, 2) + number(4, step))) for (step, begin), end in zip(marks, ends, strict=True)]
    calls = [event(1, start, 200, correlation(key)) for start, key in launches]
    calls += [event(1, start + 100 * device, 50) for device in range(1, devices) for start, _ in launches]
    host = field(1, field(2, b'/host:CPU') + line(7, 'python', annotations + calls) +
                 names(4, ['cudaLaunchKernel', 'train']) + names(5, ['correlation_id', 'step_num']))
    Path(path).write_bytes(b''.join(planes) + host + field(4, b'vm'))
    return path
