#!/usr/bin/env python3
"""The report of the partials of a run is that of the run, byte for byte, but for the properties that name its files.

For each trace of testdata, and of the shared ones where they are: a run of each file alone; folders of several hosts, some of them copies
of a file under other names, in any order of the partials; other parameters; and subsets of a run. Environment: IDSPROF, IDS_SOURCE_DIR, TMPDIR.
"""
import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
SCRATCH = Path(os.environ['TMPDIR'])
# What is said of the files themselves, and of the folder that they lie in.
OF_FILES = {'name', 'path', 'bytes', 'process', 'not_read', 'windows', 'history'}
ENDINGS = ('.xplane.pb', '.xplane.pb.gz', '.trace.json', '.trace.json.gz', '.pt.trace.json', '.pt.trace.json.gz', '.json.gz', '.mini')
PARAMETERS = (['--window', 'device'], ['--window', 'run', '--from', '20us'], ['--from', '10us', '--to', '40ms'], ['--small-kernel', '50us'],
              ['--compat', 'xprof'])
random.seed(20261125)
failures, equal, refused = [], [], []


def run(*command, cache=None):
    environment = dict(os.environ, XDG_CACHE_HOME=str(cache)) if cache else None
    done = subprocess.run([IDSPROF, *map(str, command)], capture_output=True, text=True, errors='surrogateescape', env=environment)
    return done.returncode, done.stdout, done.stderr


def without_files(text):
    """The report without what is said of its files; numbers as they are written."""
    report = json.loads(text, parse_float=str, parse_int=str)
    run_of = report.get('run', {})
    for name in OF_FILES:
        run_of.pop(name, None)
    return json.dumps(report, indent=1)


@lru_cache(maxsize=None)
def report_of_trace(file):
    """Of a file that nobody changes: it is asked for as a run, as a host, and whether it can be read."""
    return report([file])


def report(operands, parameters=()):
    code, out, err = run('report', '--no-cache', '--json', *parameters, '--', *operands)
    return (code, without_files(out)) if out else (code, err.splitlines()[0].split(':')[-1] if err else '')


def expect_equal(what, run_path, partials, parameters=()):
    of_trace = not parameters and SCRATCH not in run_path.parents
    want, got = report_of_trace(run_path) if of_trace else report([run_path], parameters), report(partials, parameters)
    if want == got:
        (refused if want[0] else equal).append(what)
        return
    lines = [pair for pair in zip(want[1].splitlines(), got[1].splitlines()) if pair[0] != pair[1]]
    failures.append(f'{what} {" ".join(parameters)}: exit {want[0]} and {got[0]}, {len(lines)} lines differ: {lines[:3]}')


def make(files, folder):
    """The partials of the files, in a folder; names say nothing of their order."""
    folder.mkdir(parents=True)
    made = []
    for number, file in enumerate(files):
        partial = folder / f'p{random.randrange(10 ** 6)}-{number}'
        code, _, err = run('partial', file, '-o', partial)
        if code:
            failures.append(f'partial {file}: exit {code}: {err}')
            continue
        made.append(partial)
    random.shuffle(made)
    return made


def is_readable(file):
    return report_of_trace(file)[0] == 0


def traces():
    places = [SOURCE / 'testdata', Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared') / 'traces']
    limit = int(os.environ.get('IDS_PARTIALS_MOST_BYTES', 3 << 20))
    files = [path for place in places for path in sorted(place.rglob('*')) if path.name.endswith(ENDINGS) and path.stat().st_size <= limit]
    minis = [path for path in files if path.suffix == '.mini']
    kept = set(minis if os.environ.get('IDS_CI') and os.environ.get('IDS_FEW') != '1' else minis[::4])  # under the sanitizers each takes a second
    return [path for path in files if path.suffix != '.mini' or path in kept]


def scratch(number):
    return SCRATCH / f'run{number}'


def try_file(numbered):
    number, file = numbered
    if not is_readable(file):
        return
    folder = scratch(f'-of-{number}')
    partials = make([file], folder)
    if partials:
        expect_equal(file, file, partials)
        if number % 7 == 0:
            for parameters in PARAMETERS:
                expect_equal(file, file, partials, parameters)
    shutil.rmtree(folder)


def hosts_of(number, files):
    """A run folder with these files as hosts of one run."""
    folder = scratch(f'-hosts-{number}') / 'plugins/profile/2026_01_02_03_04_05'
    folder.mkdir(parents=True)
    for host, file in enumerate(files):
        ending = max((ending for ending in ENDINGS if file.name.endswith(ending)), key=len)
        shutil.copy(file, folder / f'{"zyxwvu"[host % 6]}{host}{ending}')
    return folder


def try_hosts(numbered):
    number, files = numbered
    folder = hosts_of(number, files)
    inside = sorted(folder.iterdir())
    if all(map(is_readable, files)):
        partials = make(inside, scratch(f'-partials-{number}'))
        expect_equal(f'hosts {[str(file) for file in files]}', folder, partials)
        expect_equal(f'hosts {[str(file) for file in files]}', folder, partials, random.choice(PARAMETERS))
    # A folder of partials is the run too, and so are some of its files.
    named = scratch(f'-named-{number}')
    code, _, err = run('partial', folder, '-o', f'{named}/')
    if code:
        failures.append(f'partial {folder}: {err}')
    else:
        expect_equal(f'folder of partials of {folder}', folder, [named])
    if len(inside) > 2:
        gone = random.choice(inside)
        gone.unlink()
        (named / f'{gone.name}.idspart').unlink()
        expect_equal(f'without {gone.name}', folder, [named])
    for place in (f'-hosts-{number}', f'-partials-{number}', f'-named-{number}'):
        shutil.rmtree(scratch(place), ignore_errors=True)


def held_partials(cache):
    entries = json.loads(run('cache', '--list', '--json', cache=cache)[1])['entries']
    return sorted(entry['run'] for entry in entries if entry['holds'] == 'partial' and entry['state'] == 'current')


def try_cache():
    """What the cache has of each file gives the same report, also when one of the files has changed."""
    largest = sorted((SOURCE / 'testdata').rglob('*.xplane.pb'), key=lambda path: path.stat().st_size)
    folder = hosts_of('cache', [largest[-1], largest[-2], largest[-1], largest[-3]])
    cache = scratch('-cache-home')
    cache.mkdir()
    names = sorted(file.name for file in folder.iterdir())
    changed = folder / names[1]
    for round_of, change in enumerate((None, lambda: os.utime(changed), lambda: shutil.copy(largest[-4], changed), lambda: changed.write_bytes(b'\0'))):
        if change:
            change()
        code, out, err = run('report', '--json', folder, cache=cache)
        want = run('report', '--no-cache', '--json', folder)
        if code or out != want[1]:
            failures.append(f'cache, round {round_of}: exit {code}, equal: {out == want[1]}, {err}')
        if round_of < 3 and held_partials(cache) != names:
            failures.append(f'cache, round {round_of}: holds {held_partials(cache)}')
    # What is there is used: a partial that another program left says of which file it is.
    code, out, _ = run('cache', '--verify', cache=cache)
    if code:
        failures.append(f'cache --verify: {out}')
    for parameters in PARAMETERS[:2]:
        if run('report', '--json', *parameters, folder, cache=cache)[1] != run('report', '--no-cache', '--json', *parameters, folder)[1]:
            failures.append(f'cache, {parameters}')
    run('cache', '--clear', cache=cache)
    if held_partials(cache):
        failures.append('cache --clear leaves partials')


def groups_of_hosts(files):
    xplanes = [file for file in files if file.name.endswith(('.xplane.pb', '.xplane.pb.gz'))]
    jsons = [file for file in files if file.name.endswith('.trace.json')]
    for kind in (xplanes, jsons):
        plain = [file for file in kind if not file.name.endswith('.gz')] or kind
        yield [random.choice(plain)] * 3
        for size in (2, 3, 4, 2, 3, 5):
            yield random.sample(plain, min(size, len(plain)))
    folders = {}
    for file in xplanes:
        folders.setdefault(file.parent, []).append(file)
    for files_of_one in folders.values():
        if len(files_of_one) > 1:
            yield files_of_one


def main():
    files = traces()
    if len(files) < 20:
        failures.append(f'only {len(files)} traces')
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(try_file, enumerate(files)))
        list(pool.map(try_hosts, enumerate(groups_of_hosts(files))))
    try_cache()
    for failure in failures:
        print(failure)
    print(f'{len(files)} files, {len(equal)} equal reports, {len(refused)} equal refusals, {len(failures)} failures')
    if len(equal) < len(files):
        sys.exit('too few reports were compared')
    sys.exit(1 if failures else 0)


main()
