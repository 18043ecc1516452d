"""XProf's tools on one file, and its rows as dictionaries. Importing it ends the test where there is no xprof."""
import json
import os
import shutil
import tempfile
from collections import defaultdict

from peer import needs

needs('xprof')
from xprof.convert import raw_to_tool_data  # noqa: E402

# XProf counts these as kernels, we as the copies and fills that they are.
COPY_KERNELS = '__amd_rocclr_'
GPU = ('gpu_1080ti_xla_pair', 'gpu_v100x8_tf2', 'gpu_mi300_jax_gemm', 'gpu_mi300_jax_conv', 'gpu_mi355_jax_te')
TPU = ('tpu_v6e_inference',)


def xprof(path, tool, **options):
    with tempfile.TemporaryDirectory() as d:            # it writes its caches beside its input
        copy = os.path.join(d, 'host.xplane.pb')
        shutil.copyfile(path, copy)
        data, _ = raw_to_tool_data.xspace_to_tool_data([copy], tool, dict(options, use_saved_result=False))
        return json.loads(data)


def rows_of(table):
    ids = [column['id'] for column in table['cols']]
    return [dict(zip(ids, (cell and cell.get('v') for cell in row['c']))) for row in table['rows']]


def xprof_rows(path, tool):
    table = xprof(path, tool)
    return rows_of(table[0] if isinstance(table, list) else table)


def sums(rows, name, count, seconds, scale=1.0):
    """{name: [count, seconds]}: rows of one name (launch shapes, devices, programs) put together."""
    out = defaultdict(lambda: [0, 0.0])
    for r in rows:
        out[r[name]][0] += int(r[count])
        out[r[name]][1] += r[seconds] * scale
    return out
