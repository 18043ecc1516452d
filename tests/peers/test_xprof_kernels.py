#!/usr/bin/env python3
"""Each row of XProf's kernel_stats (a kernel, an op and a launch shape) on the shared GPU traces: occurrences and launch shape are
equal, total, mean, least and longest time within 0.1 %, occupancy and registers equal where XProf has some, and the same kernels
are on Tensor Cores or MFMA by their names. The ops of a kernel are put together: XProf names them by path, we by instruction.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof).  Exit: 0, 1, 77.
"""
import sys

from peer import SHARED, absent, our_rows, report, shared
from peer_xprof import COPY_KERNELS, xprof_rows

TRACES = ('gpu_1080ti_xla_pair', 'gpu_v100x8_tf2', 'gpu_mi300_jax_gemm', 'gpu_mi300_jax_conv', 'gpu_mi300_jax_elementwise',
          'gpu_mi355_jax_te')
# XProf takes any number in registers_per_thread; more than a GPU has is garbage, which we call unknown. So is 0.
REGISTERS = range(1, 1025)


class Row:
    def __init__(self, key):
        self.key, self.count, self.total, self.least, self.longest = key, 0, 0.0, float('inf'), 0.0
        self.registers, self.occupancy, self.matrix = set(), set(), set()

    def add(self, count, total, least, longest, registers, occupancy, matrix):
        self.count += int(count)
        self.total += total
        self.least, self.longest = min(self.least, least), max(self.longest, longest)
        self.registers.add(registers)
        self.occupancy.add(occupancy)
        self.matrix.add(matrix)


def near(ours, theirs):
    return abs(ours - theirs) <= 1e-3 * theirs + 1e-9      # theirs are printed as whole nanoseconds


def theirs_of(path):
    rows = {}
    for r in xprof_rows(path, 'kernel_stats'):
        if r['kernel_name'].startswith(COPY_KERNELS):
            continue
        key = r['kernel_name'], r['grid_dim'], r['block_dim']
        registers = int(r['registers_per_thread'])
        rows.setdefault(key, Row(key)).add(
            r['occurrences'], r['total_duration_us'] * 1e-6, r['min_duration_us'] * 1e-6, r['max_duration_us'] * 1e-6,
            registers if registers in REGISTERS else None, r['occupancy_pct'] / 100 or None, r['is_kernel_using_tensor_core'])
    return rows


def ours_of(path):
    rows = {}
    for r in our_rows(report(path)['tables']['kernels']):
        key = r['name'], r['grid'], r['block']
        rows.setdefault(key, Row(key)).add(r['count'], r['total'], r['min'], r['max'], r['registers'], r['occupancy'],
                                           r['matrix_units'] == 'used')
    return rows


def differences(ours, theirs):
    for key in sorted(set(ours) ^ set(theirs), key=str):
        yield '%s: only %s has it' % (str(key)[:150], 'idsprof' if key in ours else 'XProf')
    for key in sorted(set(ours) & set(theirs), key=str):
        mine, other = ours[key], theirs[key]
        wrong = [what for what, same in (
            ('occurrences', mine.count == other.count), ('total', near(mine.total, other.total)),
            ('mean', near(mine.total / mine.count, other.total / other.count)),
            ('min', near(mine.least, other.least)), ('max', near(mine.longest, other.longest)),
            ('registers', mine.registers == other.registers),
            # what XProf has none of, we may have computed
            ('occupancy', other.occupancy == {None} or mine.occupancy == other.occupancy),
            ('Tensor Cores', mine.matrix == other.matrix)) if not same]
        for what in wrong:
            yield '%s: %s: idsprof %s, XProf %s' % (str(key)[:150], what, vars(mine), vars(other))


def main():
    compared = failures = 0
    for name, path in shared(TRACES):
        ours, theirs = ours_of(path), theirs_of(path)
        wrong = list(differences(ours, theirs))
        compared, failures = compared + len(theirs), failures + len(wrong)
        print('%s %s: %d rows, %d executions, %d on Tensor Cores or MFMA (XProf %d)' % (
            'FAIL' if wrong or not theirs else 'ok  ', name, len(theirs), sum(r.count for r in theirs.values()),
            sum(True in r.matrix for r in ours.values()), sum(True in r.matrix for r in theirs.values())))
        for line in wrong[:10]:
            print('     ' + line)
    print('%d rows compared, %d differences' % (compared, failures))
    if not (SHARED / 'traces').is_dir():
        absent('GPU traces are not there (%s)' % (SHARED / 'traces'))
    return failures > 0 or compared < 56


if __name__ == '__main__':
    sys.exit(main())
