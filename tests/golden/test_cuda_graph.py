#!/usr/bin/env python3
"""testdata/cuda1_jax, a loop of JAX on a GPU whose program XLA launches as a CUDA graph, so that no kernel says of which instruction it
is. The nodes of the graph have numbers in the order in which XLA put them in, which is that of the program's schedule; idsprof, which
looks at the order in time and at names, must find the same. Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
RUN = SOURCE / 'testdata' / 'cuda1_jax'
sys.path.insert(0, str(SOURCE / 'tests' / 'oracle'))
import xplane_oracle as oracle  # noqa: E402

# What of the entry computation runs a kernel, in the order of the schedule (idsprof dump --hlo, xla's proto), and which kernel: that of
# the first instruction that is the same computation.
SCHEDULE = [
    ('gemm_fusion_dot.3', 'gemm_fusion_dot_3', 'layer_0'), ('loop_reduce_fusion.1', 'loop_reduce_fusion_1', 'layer_0'),
    ('gemm_fusion_dot.4', 'gemm_fusion_dot_4', 'layer_1'), ('loop_reduce_fusion.2', 'loop_reduce_fusion_1', 'layer_1'),
    ('gemm_fusion_dot.5', 'gemm_fusion_dot_4', 'layer_2'), ('loop_reduce_fusion', 'loop_reduce_fusion', 'layer_2'),
    ('input_multiply_reduce_fusion', 'input_multiply_reduce_fusion', 'layer_2'), ('gemm_fusion_dot.6', 'gemm_fusion_dot_6', 'layer_2'),
    ('loop_multiply_fusion.1', 'loop_multiply_fusion_1', 'layer_1'), ('gemm_fusion_dot.7', 'gemm_fusion_dot_6', 'layer_1'),
    ('loop_multiply_fusion', 'loop_multiply_fusion_1', 'layer_0'), ('gemm_fusion_dot', 'gemm_fusion_dot', 'layer_0'),
    ('gemm_fusion_dot.1', 'gemm_fusion_dot_1', 'layer_1'), ('gemm_fusion_dot.2', 'gemm_fusion_dot_1', 'layer_2'),
    ('input_reduce_fusion', 'input_reduce_fusion', None), ('loop_multiply_fusion.2', 'loop_multiply_fusion_2', None),
]
failures = 0


def check(ok, what, *details):
    global failures
    failures += not ok
    print('ok  ' if ok else 'FAIL', what, *(details if not ok else ()))


def truth():
    """[(start ps, kernel, instruction)], by the numbers of the graph's nodes."""
    file = next(RUN.rglob('*.xplane.pb'))
    plane = next(plane for plane in oracle.load(file) if plane.name == b'/device:GPU:0')
    runs = collections.defaultdict(list)
    for line in plane.lines:
        for event in line.events:
            stats = dict(event.stats)
            if b'cuda_graph_node_id' in stats:
                runs[stats[b'correlation_id']].append((int(stats[b'cuda_graph_node_id'][2:]), event.start, event.name.decode()))
    check([len(run) for run in runs.values()] == [16] * 4, 'four executions of 16 kernels')
    found = []
    for run in runs.values():
        for (_, start, kernel), (op, called, _) in zip(sorted(run), SCHEDULE):
            check(kernel == called, 'the kernel of ' + op, kernel)
            found.append((start, kernel, op))
    return sorted(found)


def main():
    rows = json.loads(subprocess.run([os.environ['IDSPROF'], 'query', '--json', RUN, 'SELECT start_ps, name, op, module, dur_ps FROM activities '
                                      "WHERE kind = 'kernel' ORDER BY start_ps"], capture_output=True, text=True, check=True).stdout)
    rows = rows['rows'] if isinstance(rows, dict) else rows
    rows = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
    wanted = truth()
    check([row[1:3] for row in rows] == [one[1:] for one in wanted], 'each kernel is of its instruction', rows[:20])
    check({row[3] for row in rows} == {'jit_train_step'}, 'of its program')
    report = json.loads(subprocess.run([os.environ['IDSPROF'], 'report', '--json', '--no-cache', RUN], capture_output=True, text=True,
                                       check=True).stdout)
    columns = [column['id'] for column in report['tables']['ops']['columns']]
    known = {row[columns.index('name')]: row[columns.index('known')] for row in report['tables']['ops']['rows']}
    times = collections.Counter(kernel for _, kernel, _ in SCHEDULE)
    check(known == {op: 'by name' if times[kernel] == 1 else 'by order' for op, kernel, _ in SCHEDULE}, 'how each is known', known)
    diag = {entry['id']: entry['count'] for entry in report['diag']}
    single = sum(times[kernel] == 1 for _, kernel, _ in SCHEDULE)
    check(diag.get('model.op_by_name') == 4 * single and diag.get('model.op_by_order') == 4 * (16 - single), 'how many', diag)
    check('model.op_not_told' not in diag, 'no kernel is left out', diag)
    columns = [column['id'] for column in report['tables']['layers']['columns']]
    layers = [row for row in report['tables']['layers']['rows'] if row[columns.index('scope')] == 'layer_*']
    check(len(layers) == 1 and layers[0][columns.index('siblings')] == 3, 'three layers', layers)
    if layers:
        scoped = sum(row[4] for row, (_, _, op) in zip(rows, wanted) if dict((op, layer) for op, _, layer in SCHEDULE)[op])
        in_graph = sum(row[4] for row in rows)
        total = layers[0][columns.index('total')] * 1e12
        # Parts of the fusions of the backward pass stand in no layer: the update of the weights is a part of the product.
        check(0.9 * scoped < total <= scoped <= in_graph, 'most of the time is in layers', total, scoped, in_graph)
    print('%d failures' % failures)
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
