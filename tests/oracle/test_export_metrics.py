#!/usr/bin/env python3
"""The metrics of what `idsprof extract` writes are those of the run, as `idsprof report --json` of both says; or the command said what
cannot be kept.

chrome, xplane    every metric but run.events, run.stats and run.tracks, which count what a file holds; by device too, with the same
                  names of hosts and devices; also after a second extraction into the other format
chrome --accounts the same, and the events are those of the export without accounts: these are skipped
a part            by time, name or duration is the same in both formats; up to a time, its sums are those of the run up to that time
--device          a device that is taken out alone has the figures that it had among the others
an XSpace         of a Kineto trace: streams and events as XLA's tracers name them, times that fit, no kernel more or less
Traces: testdata, what is shared. Under the sanitizers a few.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED.  Exit: 0, 1.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import xplane_oracle

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
IDSPROF = os.environ['IDSPROF']
CORRUPT = 'bad_utf8_mangled'
OF_THE_FILE = ('run.events', 'run.stats', 'run.tracks', 'memory.held')  # a memory profile is a file beside the trace
OF_MINI = ('memory.not_donated',)  # a mini file says what a program keeps without its HLO, and no export has a place for that
# What a loss that the command speaks of explains: a text on standard error, and the metrics.
SAID = {'it may miss collectives and layers': re.compile(r'layers\.|collectives\.|device\.compute_share|steps\.(work\.compute|comm\.|stall\.device)|idle\.|efficiency\.|layout\.|waste\.|memory\.')}
sys.path.insert(0, str(SOURCE / 'tests' / 'fault'))


def idsprof(*arguments):
    return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def metrics(path, *arguments):
    """Metric, and metric@device -> value; None when the path is no run."""
    run = idsprof('report', '--json', '--no-cache', *arguments, path)
    if run.returncode:
        return None
    found = {}
    for name, metric in json.loads(run.stdout)['metrics'].items():
        if name in OF_THE_FILE or (name in OF_MINI and str(path).endswith('.mini')):
            continue
        found[name] = metric['value']
        for device, value in (metric.get('by_device') or {}).items():
            found[name + '@' + device] = value
    return found


def are_equal(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return a == b


def differences(wanted, got, said):
    names = [name for name in {**wanted, **got} if name in wanted or name not in OF_MINI]
    explained = [pattern for text, pattern in SAID.items() if text in said]
    return ['%s: %s, wanted %s' % (name, got.get(name, 'absent'), wanted.get(name, 'absent')) for name in names
            if not (name in wanted and name in got and are_equal(wanted[name], got[name]))
            and not any(pattern.match(name) for pattern in explained)]


def extract(path, format, out, *arguments):
    shutil.rmtree(out, ignore_errors=True)
    run = idsprof('extract', path, '-f', format, '-o', out, *arguments)
    if arguments and run.returncode == 1 and 'nothing was written' in run.stderr:
        return run.stderr  # the options leave nothing in either format, and then there is no run
    if run.returncode:
        raise RuntimeError('extract -f %s: exit %d: %s' % (format, run.returncode, run.stderr.strip()))
    return run.stderr


def check(path, wanted, folder):
    wrong = []
    for format, other in (('chrome', 'xplane'), ('xplane', 'chrome')):
        said = extract(path, format, folder / 'once')
        found = metrics(folder / 'once')
        if found is None:
            return wrong + [format + ': the export is no run']
        wrong += ['%s: %s' % (format, d) for d in differences(wanted, found, said)]
        if not wrong:
            said += extract(folder / 'once', other, folder / 'twice')
            wrong += ['%s, then %s: %s' % (format, other, d) for d in differences(wanted, metrics(folder / 'twice') or {}, said)]
        if format == 'xplane' and Path(path).is_file() and '.json' in Path(path).name:
            wrong += check_words(next((folder / 'once').iterdir()), wanted)
    return wrong


def events(folder):
    return [json.loads(idsprof('dump', '--hash', path).stdout) for path in sorted(folder.iterdir())]


def check_accounts(path, wanted, folder):
    said = extract(path, 'chrome', folder / 'accounts', '--accounts')
    extract(path, 'chrome', folder / 'once')
    wrong = ['--accounts: %s' % d for d in differences(wanted, metrics(folder / 'accounts') or {}, said)]
    if events(folder / 'accounts') != events(folder / 'once'):
        wrong.append('--accounts: %s, without %s' % (events(folder / 'accounts'), events(folder / 'once')))
    return wrong


def check_words(path, wanted):
    """A Kineto trace in XLA's words, by the oracle's decoding: kernels on the streams are those of the report, by their details."""
    wrong, kernels = [], 0
    for plane in xplane_oracle.load(path):
        name = plane.name.decode()
        for line in plane.lines:
            if any(abs(e.start) > 1 << 61 for e in line.events):
                wrong.append('%s/%s: a time that is beyond 26 days' % (name, line.name))
            if not name.startswith('/device:GPU:') or not line.name.startswith(b'Stream #'):
                continue
            if not re.fullmatch(rb'Stream #\d+(\([A-Za-z0-9,]+\))?', line.name):
                wrong.append('a stream is called %r' % line.name)
            for e in line.events:
                keys = {key for key, _ in e.stats}
                if b'idsprof.form' in keys:
                    wrong.append('an event on %r that is no slice' % line.name)
                kernels += b'kernel_details' in keys
                if b'correlation' in keys:
                    wrong.append('a correlation that XProf does not know')
    # AMD's runtime copies with kernels, which the report counts as copies.
    on_gpus = sum(value or 0 for name, value in wanted.items() if name.startswith('kernels.count@') and '/device:GPU:' in name)
    if kernels < on_gpus and kernels:
        wrong.append('%d kernels on the streams, the report has %s' % (kernels, on_gpus))
    return wrong[:5]


def check_parts(path, wanted, folder):
    """What ends a part of the run by time is in it whole, so the sums of the part up to a time are compared with that time as the end. Not
    where an activity is two events (copies and ops of TPUs and CPUs), of which the second may lie behind the end."""
    sums = re.compile(r'(device\.(busy|working|stalled)|kernels\.(count|total|small_count)|transfers\.[a-z0-9]+_(count|bytes|time))(@|$)')
    wrong = []
    length_ns = int((wanted.get('run.window') or 0) * 1e9)
    up_to = ('--to', '%dns' % (length_ns * 6 // 10))
    pairs = any('/device:TPU:' in name or '/host:CPU#' in name for name in wanted)
    parts = [('--min-duration', '5us'), ('--name', '*e*')] if '.json' in Path(path).name else []
    for part in [up_to, ('--from', '%dns' % (length_ns * 3 // 10), '--to', '%dns' % (length_ns * 7 // 10))] * (length_ns > 10) + parts:
        said = extract(path, 'chrome', folder / 'chrome', *part) + extract(path, 'xplane', folder / 'xplane', *part)
        window = part if part == up_to else ()
        chrome, xplane = metrics(folder / 'chrome', *window) or {}, metrics(folder / 'xplane', *window) or {}
        wrong += ['%s, chrome and xplane: %s' % (' '.join(part), d) for d in differences(chrome, xplane, said)]
        if part == up_to and not pairs:
            whole = {name: value for name, value in (metrics(path, *part) or {}).items() if sums.match(name) and value}
            wrong += ['%s: %s' % (' '.join(part), d) for d in differences(whole, {name: xplane.get(name) for name in whole}, said)]
    return wrong


def check_devices(path, wanted, folder):
    """What is counted on a device alone: of some copies only the host's call says in which direction they go."""
    names = ('device.busy', 'kernels.count', 'kernels.total')
    wrong = []
    for device in sorted({key.split('@')[1] for key in wanted if key.startswith('device.busy@')}):
        label = device.rsplit('/device:', 1)[-1]
        if '/device:' not in device or not label.startswith('GPU:'):
            continue
        for format in ('chrome', 'xplane'):
            extract(path, format, folder / 'one', '--device', label)
            got = metrics(folder / 'one') or {}
            wrong += ['--device %s, %s: %s is %s, wanted %s' % (label, format, name, got.get(name + '@' + device), wanted[name + '@' + device])
                      for name in names if not are_equal(wanted.get(name + '@' + device), got.get(name + '@' + device))]
    return wrong


def traces():
    own = [*sorted((SOURCE / 'testdata/json').glob('*.json')), *sorted((SOURCE / 'testdata').glob('cpu*'))]
    mini = [p for p in sorted((SOURCE / 'testdata/mini').glob('*.mini')) if p.read_text().count('\nhost ') < 2 and '\nhlo ' not in p.read_text()]
    shared = [p for pattern in ('*.xplane.pb', '*.json.gz') for p in sorted((SHARED / 'traces').rglob(pattern)) if CORRUPT not in p.parts]
    if os.environ.get('IDS_SANITIZE') == '1':
        small = ('kineto_2of128_ranks', 'kineto_cold_start', 'gpu_mi300_jax_gemm')
        return own[:8] + mini[::8] + [p for p in shared if any(word in p.parts for word in small)]
    return own + mini + shared + [p for p in [SHARED / 'traces/kineto_2of128_ranks'] if p.is_dir()]


def main():
    failures = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in traces():
            wanted = metrics(path)
            if wanted is None:
                print('none %s: no report' % path)
                continue
            try:
                wrong = check(path, wanted, folder) + check_accounts(path, wanted, folder) + check_parts(path, wanted, folder)
                if SHARED in path.parents or 'json' in path.parts:
                    wrong += check_devices(path, wanted, folder)
            except Exception as e:                              # of whatever the output held
                wrong = ['%s: %s' % (type(e).__name__, e)]
            count += 1
            failures += bool(wrong)
            if wrong or SHARED in path.parents:
                print('%s %s (%d metrics)' % ('FAIL' if wrong else 'ok  ', path, len(wanted)))
            for line in wrong[:8]:
                print('     ' + line[:300])
    print('%d runs there and back, %d failures' % (count, failures))
    return int(failures > 0 or not count)


if __name__ == '__main__':
    sys.exit(main())
