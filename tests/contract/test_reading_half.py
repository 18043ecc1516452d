#!/usr/bin/env python3
"""A build with -DIDS_CAPTURE=OFF links: no object that stays in it calls what it leaves out.

Which those are is what CMakeLists.txt says: layers inside `if(IDS_CAPTURE)`, and sources that match a layer's CAPTURES. The objects are
those of this build, so that the answer takes a second; a build of that half alone is made by packaging/macos/check.sh.
Environment: IDS_SOURCE_DIR, IDS_BUILD_DIR.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE, BUILD = Path(os.environ['IDS_SOURCE_DIR']), Path(os.environ['IDS_BUILD_DIR'])
LAYER = re.compile(r'ids_layer\((\w+)\s([^#]*?)\)\s', re.S)


def left_out():
    """Layer -> what its sources' names match that are left out; '.*' for a whole layer."""
    text = (SOURCE / 'CMakeLists.txt').read_text(encoding='utf-8')
    patterns = {}
    for name, rest in LAYER.findall(text):
        found = re.search(r'CAPTURES\s+(\S+)', rest)
        patterns[name] = found.group(1) if found else None
    for block in re.findall(r'^if\(IDS_CAPTURE\)(.*?)^endif\(\)', text, re.S | re.M):
        patterns.update((name, '.*') for name, _ in LAYER.findall(block))
    return patterns


def symbols(archive):
    """(source without .c, symbol, whether it is defined there)"""
    out = subprocess.run(['nm', '-A', '--format=posix', archive], capture_output=True, text=True, timeout=60, check=True).stdout
    for line in out.splitlines():
        found = re.search(r'[\[:]([^\[\]:/]+)\.c\.o\]?: (\S+) (\S)', line)
        if found:
            yield found.group(1), found.group(2), found.group(3) not in 'Uuw'


def main():
    layers = left_out()
    home, calls, missing = {}, {}, {} # symbol -> its object; object -> what it calls; symbol -> the object that is left out
    for layer, pattern in layers.items():
        archive = BUILD / f'libids_{layer}.a'
        for source, symbol, is_defined in symbols(archive) if archive.exists() else ():
            is_left_out = pattern is not None and re.fullmatch(pattern, source)
            place = f'{layer}/{source}.c'
            if is_defined:
                (missing if is_left_out else home)[symbol] = place
            elif not is_left_out:
                calls.setdefault(place, set()).add(symbol)
    instead = set(re.findall(r'struct ids_command (\w+) =', (SOURCE / 'cmd' / 'no_capture.c').read_text(encoding='utf-8')))
    if len(home) < 1000 or len(missing) < 100 or not instead:
        print(f'nm shows {len(home)} symbols that stay and {len(missing)} that are left out: are these archives of {BUILD}?')
        return 1
    # As a linker takes objects out of archives: from the commands on, what somebody calls.
    linked, todo, failed = set(), [place for place in calls if place.startswith('cmd/')], 0
    while todo:
        place = todo.pop()
        if place in linked:
            continue
        linked.add(place)
        for symbol in sorted(calls.get(place, ())):
            if symbol in home:
                todo.append(home[symbol])
            elif symbol in missing and symbol not in instead:
                print(f'{place} calls {symbol} of {missing[symbol]}, which a build without capturing has not')
                failed = 1
    return failed


if __name__ == '__main__':
    sys.exit(main())
