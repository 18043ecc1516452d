#!/usr/bin/env python3
"""Ops, their cost and what bounds them against XProf: hlo_stats, op_profile and roofline_model of the same file, on every xplane.pb of
the shared traces that has HLO ops.

Equal must be, op by op: occurrences, category, program; where XProf has a cost, bytes and operations, rates, intensity and the bound.
Differences that have a reason are counted and told (tests/peers/README.md); any other one fails.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof).  Exit: 0, 1, 77.
"""
import sys
from collections import Counter, defaultdict

from peer import absent, our_rows, report, shared
from peer_xprof import GPU, TPU, xprof, xprof_rows

GIB = 1.024 ** 3        # XProf's GB/s are GiB/s
GPU = GPU + ('gpu_mi300_jax_elementwise',)
# Of a GPU's op our category is the opcode.
COARSER = {'fusion': ' fusion', 'copy': 'data formatting', 'transpose': 'data formatting'}


def near(ours, theirs, within=1e-3):
    return abs(ours - theirs) <= within * max(abs(theirs), 1e-12)


def bytes_of(node, out):
    """{(program, op): (bytes, operations)} of op_profile's leaves."""
    for program in node.get('children', []):
        for category in program.get('children', []):
            for op in category.get('children', []):
                for leaf in op.get('children', []) or [op]:
                    metrics = leaf['metrics']
                    out[program['name'], leaf['name']] += (metrics['rawBytesAccessedArray'][0], metrics['rawFlops'])
    return out


def programs_of(table):
    """Our ops by program id and name; what one op is on several hosts is one row already."""
    return {(row['program_id'], row['name']): row for row in table if row['program_id']}


def compare_op(row, ours, is_tpu, seen, wrong):
    """A row of hlo_stats, and ours."""
    def check(what, equal, mine, theirs):
        seen[what, 'equal' if equal else 'differs'] += 1
        if not equal:
            wrong.append('%s of %s: idsprof %s, xprof %s' % (what, row['hlo_op_name'], mine, theirs))
    check('occurrences', ours['count'] == row['occurrences'], ours['count'], row['occurrences'])
    if ours['category'] == row['category']:
        seen['category', 'equal'] += 1
    elif ours['category'] in COARSER and row['category'].endswith(COARSER[ours['category']]):
        seen['category', 'the opcode, which xprof refines'] += 1
    else:
        check('category', False, ours['category'], row['category'])
    time = row['total_self_time'] * 1e-6
    if is_tpu:                              # XProf gives each op of a TPU the mean time over the cores; the sums are equal
        seen['self time', 'equal in sum'] += 1
    else:
        check('self time', near(ours['self'], time, 0.01) or abs(ours['self'] - time) < 2e-6, ours['self'], time)
    if ours['cost_source'] != 'file':
        if row['bound_by'] == 'Unknown':
            seen['cost', 'only ours' if ours['bound'] else 'nobody has it'] += 1
            return
        # XProf counts by the program too, and for each kernel of an op the whole op.
        kernels = row['occurrences'] / ours['runs']
        theirs = [row[rate] * scale * time / kernels for rate, scale in (('measured_memory_bw', GIB * 1e9), ('model_flop_rate', 1e9))]
        mine = [(ours[amount] or 0) * ours['runs'] for amount in ('memory_bytes', 'flops')]
        if kernels > 1:
            seen['cost', 'xprof counts it %g times' % kernels] += 1
        check('bytes by the program', near(mine[0], theirs[0], 0.1), mine[0], theirs[0])
        if any(word in ours['name'] for word in ('dot', 'conv', 'gemm', 'custom-call')) and 'convert' not in ours['name']:
            check('operations by the program', near(mine[1], theirs[1], 0.01), mine[1], theirs[1])
        else:                               # XProf weighs what is no product: three and more for each
            check('operations, weighed', theirs[1] >= mine[1], mine[1], theirs[1])
        return
    if ours['bandwidth'] is None:           # what waits has no cost of its own here: its bytes are those of the -start
        seen['cost', 'a wait, which xprof counts too'] += 1
        return
    rate = row['measured_memory_bw'] * GIB * 1e9
    amount = ours['memory_bytes'] * ours['runs'] / time
    check('bandwidth', near(amount, rate, 0.01), amount, rate)
    flops = (ours['flops'] or 0) * ours['runs'] / time
    check('flop rate', near(flops, row['model_flop_rate'] * 1e9, 0.01), flops, row['model_flop_rate'] * 1e9)
    if ours['intensity'] is not None:
        check('intensity', near(ours['intensity'], row['operational_intensity'], 0.01), ours['intensity'], row['operational_intensity'])
    words = {'HBM': 'memory', 'Compute': 'compute', 'Unknown': None}
    if ours['bound'] in ('communication', 'latency', 'neither'):
        seen['bound', 'finer: ' + ours['bound']] += 1
    else:
        check('bound', ours['bound'] == words.get(row['bound_by'], row['bound_by']), ours['bound'], row['bound_by'])


def compare(name, path):
    table = our_rows(report(path)['tables']['ops'])
    ours = programs_of(table)
    seen, wrong = Counter(), []
    rows = [r for r in xprof_rows(path, 'hlo_stats') if r['hlo_op_name']]
    for row in rows:
        mine = ours.get((str(row['program_id']), row['hlo_op_name']))
        if mine is None:
            wrong.append('xprof alone has %s of program %s' % (row['hlo_op_name'], row['program_id']))
        else:
            compare_op(row, mine, name in TPU, seen, wrong)
    profile = xprof(path, 'op_profile')
    leaves = bytes_of(profile.get('byProgram', {}), defaultdict(lambda: Sum()))
    for (program, op), amount in leaves.items():
        mine = ours.get((program[program.rfind('(') + 1:-1], op))
        if mine is None or mine['cost_source'] != 'file' or mine['bandwidth'] is None:
            continue
        if mine['category'] == 'copy-start':    # of copies from the host op_profile counts no byte, though hlo_stats does
            seen['op_profile', 'a copy through the host'] += 1
            continue
        equal = near(mine['bytes'] * mine['runs'], amount.bytes, 0.01) and near((mine['flops'] or 0) * mine['runs'], amount.flops, 0.01)
        seen['op_profile', 'equal' if equal else 'differs'] += 1
        if not equal:
            wrong.append('op_profile of %s: idsprof %s bytes, %s operations, xprof %s, %s' % (
                op, mine['bytes'] * mine['runs'], (mine['flops'] or 0) * mine['runs'], amount.bytes, amount.flops))
    sums = [sum(each) for each in ((row['self'] for row in table), (row['total_self_time'] * 1e-6 for row in rows))]
    if rows and name in TPU and not near(*sums):
        wrong.append('self time of all ops: idsprof %s, xprof %s' % tuple(sums))
    compare_peaks(name, path, table, seen, wrong)
    return len(rows), seen, wrong


def compare_peaks(name, path, table, seen, wrong):
    """What our shares are of, against the peaks of roofline_model."""
    model = xprof(path, 'roofline_model')[0].get('p', {})
    for what, rate, share, theirs in (('peak FLOP/s', 'flop_rate', 'flops_share', float(model.get('peak_flop_rate', 0)) * 1e9),
                                      ('peak memory', 'bandwidth', 'bandwidth_share', float(model.get('peak_hbm_bw', 0)) * GIB * 1e9)):
        peaks = {round(row[rate] / row[share] / 1e9) for row in table if row[share]}
        if not peaks or not theirs:
            continue
        if any(near(peak * 1e9, theirs, 0.01) for peak in peaks):
            seen[what, 'equal'] += 1
        elif what == 'peak memory' and 'mi3' in name and any(peak * 1e9 > 1.9 * theirs for peak in peaks):
            seen[what, 'of the data sheet, twice ROCm\'s'] += 1
        elif what == 'peak FLOP/s' and not any(row['flops_share'] and 'dot' in row['name'] for row in table):
            seen[what, 'of the vector unit: no product ran'] += 1
        else:
            wrong.append('%s: idsprof %s GB/s or GFLOP/s, xprof %.1f' % (what, sorted(peaks), theirs / 1e9))


class Sum:
    bytes = flops = 0.0

    def __iadd__(self, amounts):
        self.bytes += amounts[0]
        self.flops += amounts[1]
        return self


def main():
    failures = compared = 0
    for name, path in shared(TPU + GPU):
        count, seen, wrong = compare(name, path)
        compared += count
        failures += bool(wrong)
        print('%s %s: %d ops of hlo_stats' % ('FAIL' if wrong else 'ok  ', name, count))
        for (what, how), times in sorted(seen.items()):
            print('     %-12s %-32s %d' % (what, how, times))
        for line in wrong[:12]:
            print('     ' + line)
    if not compared:
        absent('no shared trace with HLO ops')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
