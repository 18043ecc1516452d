#!/usr/bin/env python3
"""`idsprof dump --hash --json FILE` must equal the oracle's decoding of FILE, field by field.

Every *.xplane.pb under testdata/ and, where it is there, under the shared traces folder.
Environment: IDSPROF (the binary), IDS_SOURCE_DIR, IDS_SHARED (default ../shared beside the
repository), IDS_CI=1 (what is absent is a failure, not a skip).  Exit: 0, 1, 77 = skipped.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import xplane_oracle

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
SHARED = Path(os.environ.get('IDS_SHARED') or SOURCE.parent / 'shared')
CI = os.environ.get('IDS_CI') == '1'
# Corrupt as published: that idsprof refuses it is another test.
CORRUPT = 'bad_utf8_mangled'


def absent(reason):
    print(('FAIL: ' if CI else 'SKIP: ') + reason)
    sys.exit(1 if CI else 77)


def compare(idsprof, path, planes):
    """The differences between idsprof and the oracle, which read `planes` of the file, as lines of text."""
    want = xplane_oracle.summarise(planes)
    run = subprocess.run([idsprof, 'dump', '--hash', '--json', str(path)],
                         capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        return ['exit %d: %s' % (run.returncode, run.stderr.strip()[-2000:])]
    try:
        got = json.loads(run.stdout)
    except ValueError as e:
        return ['no JSON (%s): %s' % (e, run.stdout[:200])]
    return ['%s: idsprof %s, oracle %s' % (k, got.get(k), v) for k, v in want.items() if got.get(k) != v]


def main():
    idsprof = os.environ.get('IDSPROF')
    if not idsprof or not os.access(idsprof, os.X_OK):
        absent('IDSPROF names no program (%s)' % idsprof)
    own = sorted((SOURCE / 'testdata').rglob('*.xplane.pb'))
    if not own:
        print('FAIL: no trace under %s' % (SOURCE / 'testdata'))
        return 1
    traces = SHARED / 'traces'
    shared = [p for p in sorted(traces.rglob('*.xplane.pb')) if CORRUPT not in p.parts]
    failed = 0
    for path in own + shared:
        wrong = compare(idsprof, path, xplane_oracle.load(path))
        print('%s %s' % ('FAIL' if wrong else 'ok  ', path))
        for line in wrong:
            print('     ' + line)
        failed += bool(wrong)
    print('%d of %d traces equal' % (len(own) + len(shared) - failed, len(own) + len(shared)))
    if failed:
        return 1
    if not shared:
        print('%s: %s holds no traces: only testdata was compared' % ('FAIL' if CI else 'NOTE', traces))
        return int(CI)
    return 0


if __name__ == '__main__':
    sys.exit(main())
