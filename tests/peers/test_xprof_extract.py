#!/usr/bin/env python3
"""XProf opens the xplane.pb that `idsprof extract` writes, and finds in it what it finds in the original.

Whole: kernel statistics of GPU traces, ops of a TPU trace, events of the CPU traces of testdata are equal, row by row. One device of
several, taken out: its rows alone. Of Kineto traces, which XProf does not read, its kernels are those of the report, but for those
without a duration, which XProf leaves out, and the host's threads and the streams are there. Where a device is of a kind that XProf does
not know, the command says so, and the viewer has the host at least.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof).  Exit: 0, 1, 77.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import peer_xprof
from peer import IDSPROF, SHARED, SOURCE, absent, report as report_of, shared

sys.path.insert(0, str(SOURCE / 'tests' / 'oracle'))
import xplane_oracle  # noqa: E402


def extract(profile, folder, *arguments, said=None):
    for old in Path(folder).glob('*.xplane.pb'):
        old.unlink()
    run = subprocess.run([IDSPROF, 'extract', str(profile), '-f', 'xplane', '-o', folder, '--force', *arguments],
                         capture_output=True, text=True, timeout=300)
    if run.returncode:
        raise RuntimeError(run.stderr)
    if said is not None:
        said.append(run.stderr)
    return next(Path(folder).glob('*.xplane.pb'))


def rows(path, tool):
    return sorted(json.dumps(row, sort_keys=True) for row in peer_xprof.xprof_rows(path, tool))


def viewer_events(path, args=True):
    """Without args: XProf derives some of those from the host's events, which a part of the devices lacks."""
    trace = peer_xprof.xprof(path, 'trace_viewer', trace_viewer_options={})
    # Its numbering of threads is its own, and may differ.
    return sorted(json.dumps([e['name'], e['ts'], e.get('dur'), e.get('args') if args else None], sort_keys=True) for e in trace['traceEvents'] if e.get('ph') == 'X')


def kineto(path, folder):
    """What XProf's figures of the exported trace lack."""
    said = []
    out = extract(path, folder, said=said)
    report = report_of(path)
    if report['metrics']['kernels.count']['value'] is None:
        return None
    names = {e['args']['name'] for e in peer_xprof.xprof(out, 'trace_viewer', trace_viewer_options={})['traceEvents']
             if e.get('ph') == 'M' and 'name' in e.get('args', {})}
    planes = {plane.name.decode(): plane for plane in xplane_oracle.load(out)}
    others = [name for name, plane in planes.items() if re.match('/device:(?!GPU|TPU)', name) and any(line.events for line in plane.lines)]
    host = [] if any('/host:CPU' in name for name in names) else ['no host in the trace viewer: %s' % sorted(names)[:10]]
    if others:
        words = '%d device' % len(others), 'XProf does not show'
        return host + ['%s is not said to be unknown: %s' % (others, said)] * any(word not in said[0] for word in words)
    # AMD's runtime copies with kernels; the report counts those as copies.
    theirs = peer_xprof.sums((r for r in peer_xprof.xprof_rows(out, 'kernel_stats') if not r['kernel_name'].startswith(peer_xprof.COPY_KERNELS)),
                       'kernel_name', 'occurrences', 'total_duration_us', 1e-6)
    moments = sum(event.dur == 0 and any(key == b'kernel_details' for key, _ in event.stats)
                  for name, plane in planes.items() if name.startswith('/device:GPU:') for line in plane.lines for event in line.events)
    wanted = report['metrics']['kernels.count']['value'] - moments, report['metrics']['kernels.total']['value']
    got = sum(n for n, _ in theirs.values()), sum(s for _, s in theirs.values())
    wrong = [] if got[0] == wanted[0] and abs(got[1] - wanted[1]) < 1e-6 * wanted[1] else ['kernels %s, wanted %s' % (got, wanted)]
    wrong += host
    if not any(name.startswith('/device:GPU:') for name in names):
        wrong.append('the trace viewer shows %s' % sorted(names)[:10])
    if not any(name.startswith('Stream #') for name in names):
        wrong.append('no stream among %s' % sorted(names)[:10])
    return wrong


def main():
    failures = compared = 0

    def same(what, wanted, got):
        nonlocal failures, compared
        ok = wanted == got and bool(wanted)
        compared, failures = compared + 1, failures + (not ok)
        print('%s %s: %d rows, %d of them in the extracted profile' % ('ok  ' if ok else 'FAIL', what, len(wanted), len(set(got) & set(wanted))))

    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((SOURCE / 'testdata').glob('cpu*/plugins/profile/*/*.xplane.pb'))[:4]:
            same(path.parents[3].name + ' events', viewer_events(path), viewer_events(extract(path, folder)))
        for name, path in shared(peer_xprof.GPU):
            same(name + ' kernels', rows(path, 'kernel_stats'), rows(extract(path, folder), 'kernel_stats'))
        for name, path in shared(peer_xprof.TPU):
            same(name + ' ops', rows(path, 'hlo_stats'), rows(extract(path, folder), 'hlo_stats'))
        for path in [SOURCE / 'testdata/json/kineto.trace.json', *sorted((SHARED / 'traces').glob('kineto_*/*.gz'))]:
            wrong = kineto(path, folder)
            if wrong is None:
                print('none %s: no kernels' % path)
                continue
            compared, failures = compared + 1, failures + bool(wrong)
            print('%s %s: kernels in XProf' % ('FAIL' if wrong else 'ok  ', path.name))
            for line in wrong:
                print('     ' + line[:500])
        # Eight GPUs, of which one is taken out: an eighth of the file, and its kernels are among those of all.
        for name, path in shared(['gpu_v100x8_tf2']):
            small = extract(path, folder, '-d', 'GPU:4')
            events = viewer_events(small, args=False)
            everything = set(viewer_events(path, args=False))
            ok = events and set(events) <= everything and small.stat().st_size < path.stat().st_size / 4
            compared, failures = compared + 1, failures + (not ok)
            print('%s %s: GPU:4 alone, %d events, %d bytes of %d' % ('ok  ' if ok else 'FAIL', name, len(events), small.stat().st_size, path.stat().st_size))
    print('%d compared, %d failures' % (compared, failures))
    if failures:
        return 1
    if not (SHARED / 'traces').is_dir():
        absent('GPU and TPU traces are not there (%s); testdata agrees' % (SHARED / 'traces'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
