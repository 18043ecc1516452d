"""Runs of as many devices, hosts, names or programs as wanted, for tests of how the work grows with them."""
import json


def slice_of(name, pid, at, number):
    return {'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': pid, 'tid': 7, 'ts': 10 * at, 'dur': 5,
            'args': {'device': pid, 'stream': 7, 'correlation': number + 1}}


def write(path, events, **more):
    path.write_text(json.dumps({'schemaVersion': 1, **more, 'traceEvents': events}))
    return path


def write_mini(path, lines):
    path.write_text('\n'.join(['idsprof-mini 1', 'host h', *lines]) + '\n')
    return path


def devices(folder, count):
    return write(folder / 'devices.json',
                 [slice_of(f'k{k}', d, 4 * d + k, k) for d in range(count) for k in range(4)],
                 deviceProperties=[{'id': d, 'name': 'G'} for d in range(count)])


def names(folder, count):
    return write(folder / 'names.json', [slice_of(f'kernel_of_some_length_{i}', 0, i, i) for i in range(count)])


def files(folder, count):
    """Functions that stacks sampled, each in a file of its own; all of one name."""
    return write_mini(folder / 'files.mini', [
        'plane /device:GPU:0', 'line 1 "Stream #1(Kernel)"', '0us 5us k', 'plane /host:idsprof.stacks sampling_period_ns=10', 'line 100 python'] + [
        f'{10 * n}ns 5ns "$./d{n}/load.py:3 load"' for n in range(count)])


def hosts(folder, count):
    for host in range(count):
        write(folder / f'rank-{host}.json', [slice_of(f'k{k}', 0, k, k) for k in range(4)],
              distributedInfo={'rank': host, 'world_size': count})
    return folder


def cpu_devices(folder, count):
    return write_mini(folder / 'cpus.mini', ['plane /host:CPU', 'line 1 worker'] + [
        f'{40 * d + 10 * k}us 5us dot.{k} hlo_op=dot.{k} hlo_module=jit_f device_ordinal={d} run_id={d}'
        for d in range(count) for k in range(4)])


def runs(folder, count):
    for number in range(count):
        write_mini(folder / f'run{number:05}.mini', ['plane /device:GPU:0', 'line 1 "Stream #7(Compute)"', f'0us 5us k{number}'])
    return folder


def tpu_programs(folder, count):
    lines = ['plane /device:TPU:0']
    lines += [f'meta fusion.{i} hlo_category=fusion program_id={i + 1}' for i in range(count)]
    lines += ['line 1 "XLA Ops"'] + [f'{10 * i}us 5us fusion.{i}' for i in range(count)]
    lines += ['line 2 "XLA Modules"'] + [f'{10 * i}us 8us jit_f{i}({i + 1})' for i in range(count)]
    return write_mini(folder / 'programs.mini', lines)


def cpu_programs(folder, count):
    lines = ['plane /host:CPU', 'line 1 worker']
    lines += [f'{10 * i}us 5us dot.1 hlo_op=dot.1 hlo_module=jit_f{i} device_ordinal=0 run_id={i + 1}'
              for i in range(count)]
    lines += ['line 2 python']
    for i in range(count):
        lines += [f'{10 * i}us 4us PjitFunction(f{i})', f'{10 * i}us 3us TfrtCpuExecutable::ExecuteHelper']
    return write_mini(folder / 'programs.mini', lines)
