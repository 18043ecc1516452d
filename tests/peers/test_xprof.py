#!/usr/bin/env python3
"""Figures that XProf defines as we do must be equal on the same file: kernel statistics on GPU traces, ops on a
TPU trace, annotated steps on the CPU traces of testdata (of a CPU's ops XProf shows nothing).

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof).  Exit: 0, 1, 77.
"""
import re
import sys

from peer import SHARED, SOURCE, absent, our_rows, report, shared
from peer_xprof import COPY_KERNELS, GPU, TPU, rows_of, sums, xprof, xprof_rows

failures = compared = 0


def same(what, ours, theirs, time_per_name=True):
    """Executions of each name are equal; so are seconds of each name, or else only their sum."""
    global failures, compared
    compared += 1
    total = [sum(v[1] for v in side.values()) for side in (ours, theirs)]
    wrong = ['%s: idsprof %s, xprof %s' % (k[:100], ours.get(k), theirs.get(k))
             for k in sorted(set(ours) | set(theirs))
             if k not in ours or k not in theirs or ours[k][0] != theirs[k][0]
             # both are sums of doubles in different units
             or time_per_name and abs(ours[k][1] - theirs[k][1]) > 2e-9 + 1e-6 * theirs[k][1]]
    if abs(total[0] - total[1]) > 1e-3 * total[1]:
        wrong.append('sum: idsprof %s s, xprof %s s' % tuple(total))
    failed = bool(wrong) or not theirs
    failures += failed
    print('%s %s: %d names, %d executions, %.6f s (xprof %.6f)' % (
        'FAIL' if failed else 'ok  ', what, len(theirs), sum(v[0] for v in theirs.values()), *total))
    for line in wrong[:10]:
        print('     ' + line)


def scopes_of(operation):
    """The scopes of XProf's name of an op, without what jax and TensorFlow wrap them into."""
    names = re.sub(r'\b(?:jit|jvp|transpose)\(|\)', '', operation).split('/')[:-1]
    return [name for name in names if name not in ('', 'main', 'gradient_tape')]


def same_scopes(name, path):
    """The device time under each of our layers is that of XProf's kernels with such a path: in layer_* those of each layer_N. Our ops must
    say so to the digit; the layers divide a fusion over several scopes among these, so each may differ by what fusions there took, and
    only their sum is that of the ops."""
    global failures, compared
    theirs = [('/'.join(scopes_of(row['op_name'])) + '/', row['occurrences'], row['total_duration_us'] * 1e-6)
              for row in xprof_rows(path, 'kernel_stats')]
    tables = report(path)['tables']
    ours = [('/'.join(scopes_of(row['op_name'] or '')) + '/', row['count'], row['self'], 'fusion' in row['category'] + row['name'])
            for row in our_rows(tables['ops'])]
    layers = our_rows(tables['layers'])
    fused = [sum(row[at] for row in ours if row[3]) for at in (1, 2)]
    wrong = []
    for row in layers:
        if row['id'].startswith('(no scope)'):
            continue
        place = re.compile(re.escape(row['id']).replace(r'\*', r'\d+') + '/')
        count, seconds = [sum(op[at] for op in theirs if place.match(op[0])) for at in (1, 2)]
        own = [sum(op[at] for op in ours if place.match(op[0])) for at in (1, 2)]
        if count != own[0] or abs(seconds - own[1]) > 1e-6 + 1e-3 * seconds:
            wrong.append('%s: ops of idsprof %d, %.9f s, xprof %d, %.9f s' % (row['id'], *own, count, seconds))
        if abs(count - row['count']) > fused[0] or abs(seconds - row['total']) > 1e-6 + 1e-3 * seconds + fused[1]:
            wrong.append('%s: idsprof %d, %.9f s, xprof %d, %.9f s, and all fusions take %.9f s'
                         % (row['id'], row['count'], row['total'], count, seconds, fused[1]))
    roots = [sum(row['total'] for row in layers if row['depth'] == 0), sum(row['self'] for row in our_rows(tables['op_categories']))]
    if abs(roots[0] - roots[1]) > 1e-9:
        wrong.append('layers sum up to %.12f s, categories of ops to %.12f s' % tuple(roots))
    compared += 1
    failures += bool(wrong) or not layers
    print('%s %s layers: %d scopes' % ('FAIL' if wrong or not layers else 'ok  ', name, len(layers)))
    for line in wrong[:10]:
        print('     ' + line)


def main():
    global failures, compared
    for path in sorted((SOURCE / 'testdata').glob('cpu*/plugins/profile/*/*.xplane.pb')):
        theirs = {e['args']['step_num'] for e in xprof(path, 'trace_viewer', trace_viewer_options={})['traceEvents']
                  if 'step_num' in e.get('args', {})}
        metrics = report(path)['metrics']
        ours = metrics['steps.count']['value'] if metrics['steps.source']['value'] == 'annotation' else 0
        ok = ours == len(theirs)
        compared, failures = compared + 1, failures + (not ok)
        print('%s %s: steps: idsprof %s, xprof %d' % ('ok  ' if ok else 'FAIL', path.parents[3].name, ours, len(theirs)))

    for name, path in shared(GPU):
        theirs = sums((r for r in xprof_rows(path, 'kernel_stats') if not r['kernel_name'].startswith(COPY_KERNELS)),
                      'kernel_name', 'occurrences', 'total_duration_us', 1e-6)
        same(name + ' kernels', sums(our_rows(report(path)['tables']['kernels']), 'name', 'count', 'total'), theirs)

    # XProf sums the stat device_duration_ps, we the durations of the events (the host's clock): single
    # events differ by half (copy-done.2: 299 ms and 194 ms), their sum by 0.002 %.
    for name, path in shared(TPU):
        theirs = sums(xprof_rows(path, 'hlo_stats'), 'hlo_op_name', 'occurrences', 'total_self_time', 1e-6)
        same(name + ' ops', sums(our_rows(report(path)['tables']['ops']), 'name', 'count', 'self'), theirs,
             time_per_name=False)

    # Of TensorFlow's kernels XProf knows no op, and of a TPU's ops another duration (above).
    for name, path in shared(('gpu_mi300_jax_gemm', 'gpu_mi300_jax_conv', 'gpu_mi355_jax_te')):
        same_scopes(name, path)

    # What tf.data records of its stages; without TF ops that XProf puts beside them.
    for name, path in shared(('gpu_v100x8_tf2',)):
        table = next(t for t in xprof(path, 'input_pipeline_analyzer') if any(c['id'] == 'opName' for c in t['cols']))
        theirs = sums(rows_of(table), 'opName', 'count', 'timeInMs', 1e-3)
        ours = sums((r for r in our_rows(report(path)['tables']['input_stages']) if r['stage'] in theirs), 'stage', 'count', 'total')
        same(name + ' stages of input', ours, theirs)

    print('%d figures compared, %d failures' % (compared, failures))
    if failures:
        return 1
    if not (SHARED / 'traces').is_dir():
        absent('GPU and TPU traces are not there (%s); the steps of testdata agree' % (SHARED / 'traces'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
