#!/usr/bin/env python3
"""Partials are read ahead by other threads: whatever the number of threads, a run says the same, of partials and of the cache, also where some
of the files are cut, of another version or nothing at all, and where one file of the cache is another one or has changed.

Hosts with eight TPUs each (bench/gen_hosts.c). Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
GENERATOR = Path(os.environ['IDS_BUILD_DIR']) / 'support/gen_hosts'
SCRATCH = Path(os.environ['TMPDIR'])
HOSTS, LATE, BYTES = 9, 4, 1 << 20
JOBS = '1', '2', '3', '16'
failures = []


def report(path, jobs, cache=None):
    environment = dict(os.environ, **({'XDG_CACHE_HOME': str(cache)} if cache else {}))
    done = subprocess.run([IDSPROF, 'report', '--json', f'--jobs={jobs}', *([] if cache else ['--no-cache']), str(path)], capture_output=True,
                          text=True, errors='replace', env=environment, timeout=600)
    return done.returncode, done.stdout, done.stderr


def all_alike(what, said):
    for jobs, other in list(said.items())[1:]:
        if other != said[JOBS[0]]:
            failures.append(f'{what}: {jobs} jobs say something else than one: {other[0]} {other[2][-300:]}')
    return said[JOBS[0]]


profiles, partials = SCRATCH / 'profiles', SCRATCH / 'partials'
profiles.mkdir()
subprocess.run([GENERATOR, profiles, str(HOSTS), str(BYTES), str(LATE)], check=True)
subprocess.run([IDSPROF, 'partial', *sorted(map(str, profiles.iterdir())), '-o', f'{partials}/'], check=True, capture_output=True)
files = sorted(partials.iterdir())

# Whole: the same as of the profiles.
said = all_alike('partials', {jobs: report(partials, jobs) for jobs in JOBS})
of_profiles = report(profiles, 1)
if said[0] or f'host{LATE:03}' not in said[1]:
    failures.append(f'partials: exit {said[0]}, the late host is not named: {said[2]}')
if said[1].count('"accounts"') != of_profiles[1].count('"accounts"'):
    failures.append('partials say other accounts than profiles')

# Files that cannot be read, at the begin, in the middle, at the end: each is said, the rest stands.
files[0].write_bytes(b'')
cut = files[3].read_bytes()
files[3].write_bytes(cut[:len(cut) // 2])
files[8].write_bytes(cut[:40] + bytes(200) + cut[240:])
said = all_alike('damaged partials', {jobs: report(partials, jobs) for jobs in JOBS})
for name in files[0].name, files[3].name, files[8].name:
    if name not in said[1] + said[2]:
        failures.append(f'{name} is damaged, and nobody says so')

# Of the cache: all new, all kept, one changed, one gone from it, one damaged in it.
first = {}
for jobs in JOBS:
    cache = SCRATCH / f'cache{jobs}'
    seen = [report(profiles, jobs, cache)]
    entries = sorted((cache / 'idsprof').glob('*.db'), key=lambda entry: entry.stat().st_size)
    if len(entries) != HOSTS + 1:
        failures.append(f'{jobs} jobs: {len(entries)} entries of the cache, not {HOSTS + 1}')
    changed = profiles / 'host002.xplane.pb'
    shutil.copy(changed, SCRATCH / 'same')  # the same bytes, later
    os.replace(SCRATCH / 'same', changed)
    seen.append(report(profiles, jobs, cache))
    os.utime(changed)
    entries[-1].unlink()
    entries[-2].write_bytes(entries[-2].read_bytes()[:100000])
    seen.append(report(profiles, jobs, cache))
    first[jobs] = seen[0]
    for at, again in enumerate(seen):
        if again != of_profiles:
            failures.append(f'{jobs} jobs, report {at} with a cache differs from that without: {again[2][-300:]}')
all_alike('the cache', first)

for failure in failures:
    print('FAIL:', failure)
sys.exit(1 if failures else 0)
