#!/usr/bin/env python3
"""What collector B recorded on an H200 (testdata/cuda1_torch, cuda1_graphs, cuda1_graph_nodes): the report's figures are those that an
independent reading of the file has, and those of the program; what is said first is what the program does.
Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
sys.path.insert(0, str(SOURCE / 'tests/oracle'))
import xplane_oracle as oracle  # noqa: E402

failures = 0


def same(what, found, wanted):
    global failures
    failures += found != wanted
    print('%s %s: %s, %s' % ('ok  ' if found == wanted else 'FAIL', what, found, wanted))


def report(name):
    done = subprocess.run([os.environ['IDSPROF'], 'report', '--json', '--no-cache', SOURCE / 'testdata' / name], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def kernels(name):
    """{kernel: [count, ps]} as the file has them."""
    found = {}
    for path in (SOURCE / 'testdata' / name).rglob('*.xplane.pb'):
        for plane in oracle.load(path):
            for line in plane.lines if plane.name.startswith(b'/device:GPU') else []:
                for event in line.events:
                    if not event.name.startswith((b'Memcpy', b'Memset')):
                        row = found.setdefault(event.name.decode(), [0, 0])
                        row[0], row[1] = row[0] + 1, row[1] + event.dur
    return found


def rows(found, table):
    columns = [column['id'] for column in found['tables'][table]['columns']]
    return [dict(zip(columns, row)) for row in found['tables'][table]['rows']]


def value(found, metric):
    return found['metrics'][metric]['value']


def main():
    for name, count in (('cuda1_torch', 72), ('cuda1_graph_nodes', 39), ('cuda1_graphs', 6)):
        found, read = report(name), kernels(name)
        same(name + ': kernels', sum(row[0] for row in read.values()), count)
        same(name + ': kernels of the report', sum(row['count'] for row in rows(found, 'kernels')), count)
        same(name + ': their time in ns', round(1e9 * sum(row['total'] for row in rows(found, 'kernels'))), round(sum(row[1] for row in read.values()) / 1000))
        same(name + ': steps', [row['step'] for row in rows(found, 'steps')], [20, 21, 22])
        same(name + ': fetched by item()', [int(value(found, 'transfers.d2h_bytes')), int(value(found, 'transfers.d2h_count'))],
             [4, 1] if name == 'cuda1_torch' else [12, 3])
    torch = report('cuda1_torch')
    same('a batch of 256 x 512 floats a step', int(value(torch, 'transfers.h2d_bytes')), 3 * 256 * 512 * 4)
    pieces = [(piece['account'], piece['culprit'], piece['where']) for piece in torch['advice'] if piece.get('account')]
    same('launching takes longest, then what load does', pieces[:3], [('host.dispatch', 'train_step', 'torch_small.py:17, in backward'),
         ('host.python', 'load', 'torch_small.py:11, in time.sleep'), ('host.python', 'load', 'torch_small.py:12, in torch.randn')])
    same('the sleep of 2 ms a step', [2.0 <= 1000 * float(piece['saves']) < 2.2 for piece in torch['advice'] if piece.get('where') == pieces[1][2]], [True])
    read = [piece for piece in report('cuda1_jax')['advice'] if piece.get('culprit') == 'float']
    same("float(), with what the client's threads fetch for it, and what begins late behind it", [list(piece['accounts']) for piece in read],
         [['host.sync', 'host.staging', 'device.queue']])
    graphs = {row['name']: row['count'] for row in rows(report('cuda1_graphs'), 'kernels')}
    same('launches of a graph as one', [count for kernel, count in graphs.items() if kernel.startswith('CudaGraphExec')], [3])
    nodes = [row for row in rows(report('cuda1_graph_nodes'), 'kernels') if 'cutlass' in row['name'] or 'Kernel2' in row['name']]
    same('four products in each launch, one by one', [row['count'] for row in nodes], [12])
    print('%d failures' % failures)
    return failures > 0


sys.exit(main())
