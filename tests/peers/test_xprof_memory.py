#!/usr/bin/env python3
"""The memory of each allocator must be what XProf's memory_profile says of the same file: its peak while it was recorded and of its life,
its capacity and its fragmentation at the peak, and what was in use and free after each event that XProf lists.

XProf lists at most 1,000 events of an allocator: of one with more, those that it lists must be among ours.
Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SHARED, IDS_PYTHON (a Python with xprof).  Exit: 0, 1, 77.
"""
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter

from peer import IDSPROF, SHARED, SOURCE, absent, our_rows, report
from peer_xprof import xprof

LISTED = 1000
# Files with events of an allocator; a file that has none in XProf must have none here.
WITH_EVENTS = ('gpu_mi300_jax_gemm', 'gpu_mi300_jax_conv', 'gpu_mi300_jax_elementwise', 'gpu_mi355_jax_te', 'gpu_v100x8_tf2',
               'tpu_v6e_inference')
failures = []


def check(holds, message):
    if not holds:
        failures.append(message)
        print('FAIL ' + message)


def allocators_of_xprof(path):
    """{allocator: its profile}"""
    profiles = xprof(path, 'memory_profile').get('memoryProfilePerAllocator', {})
    return {'TPU#' + name if name.isdigit() else name: of for name, of in profiles.items()}


def idsprof(path, database):
    """{allocator: row of the report}, and {allocator: what each event left (in use, capacity, fragmentation)}"""
    tables = report(path, '--no-cache', '--section', 'memory')['tables']
    rows = {row['allocator']: row for row in our_rows(tables['allocators'])} if 'allocators' in tables else {}
    subprocess.run([IDSPROF, 'import', str(path), '-o', database, '--force'], capture_output=True, check=True, timeout=300)
    events = {}
    db = sqlite3.connect(database)
    for allocator, *state in db.execute('SELECT allocator, in_use, capacity, fragmentation FROM allocations'):
        events.setdefault(allocator, Counter())[tuple(state)] += 1
    db.close()
    return rows, events


def number(of, key):
    return int(of.get(key, 0))


def state_of(stats):
    used = number(stats, 'stackReservedBytes') + number(stats, 'heapAllocatedBytes')
    return used, used + number(stats, 'freeMemoryBytes'), float(stats.get('fragmentation', 0))


def compare(name, path, database):
    theirs = allocators_of_xprof(path)
    rows, events = idsprof(path, database)
    check(set(theirs) == set(rows), '%s: allocators: idsprof %s, xprof %s' % (name, sorted(rows), sorted(theirs)))
    check(bool(theirs) or name not in WITH_EVENTS, '%s: xprof shows no allocator' % name)
    compared = 0
    for allocator in sorted(set(theirs) & set(rows)):
        summary, row = theirs[allocator]['profileSummary'], rows[allocator]
        used, capacity, fragmentation = state_of(summary['peakStats'])
        for what, ours, want in (('peak', row['peak'], number(summary['peakStats'], 'peakBytesInUse')), ('peak', row['peak'], used),
                                 ('capacity', row['capacity'], number(summary, 'memoryCapacity')), ('capacity', row['capacity'], capacity),
                                 ('fragmentation', row['fragmentation'], fragmentation)):
            check(ours == want, '%s: %s: %s: idsprof %s, xprof %s' % (name, allocator, what, ours, want))
        # Of the V100's GPU_4 XProf's peak of the life is below its own peak of the recording: then the allocator's figure counts.
        life, least = number(summary, 'peakBytesUsageLifetime'), number(summary['peakStats'], 'heapAllocatedBytes')
        check(row['life_peak'] == life or (life < least <= row['life_peak'] and name == 'gpu_v100x8_tf2'),
              '%s: %s: peak of its life: idsprof %s, xprof %s' % (name, allocator, row['life_peak'], life))
        listed = Counter(state_of(shot['aggregationStats']) for shot in theirs[allocator]['sampledTimelineSnapshots'])
        missing = listed - events[allocator]
        check(not missing, '%s: %s: in use after %d events is another: %s' % (name, allocator, sum(missing.values()), list(missing)[:3]))
        all_listed = sum(listed.values()) == sum(events[allocator].values())
        check(all_listed or sum(events[allocator].values()) > LISTED or sum(listed.values()) >= LISTED,
              '%s: %s: xprof lists %d events of %d' % (name, allocator, sum(listed.values()), sum(events[allocator].values())))
        compared += sum(listed.values())
        print('ok   %s: %s: peak %d of %d, fragmentation %g; %d of %d events' % (
            name, allocator, used, capacity, fragmentation, sum(listed.values()), sum(events[allocator].values())))
    return compared


def main():
    files = [(p.parents[3].name, p) for p in sorted((SHARED / 'traces').glob('*/plugins/profile/*/*.xplane.pb'))]
    files += [(p.parents[3].name, p) for p in sorted((SOURCE / 'testdata').glob('cpu8_annotated/plugins/profile/*/*.xplane.pb'))]
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in files:
            compared += compare(name, path, os.path.join(folder, 'run.db'))
    print('%d files, %d events compared, %d failures' % (len(files), compared, len(failures)))
    if failures:
        return 1
    if not (SHARED / 'traces').is_dir():
        absent('GPU and TPU traces are not there (%s)' % (SHARED / 'traces'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
