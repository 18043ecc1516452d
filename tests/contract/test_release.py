#!/usr/bin/env python3
"""packaging/release.sh --dry-run: the tree stays as it is, the version stands once, and what comes out fits together.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
VERSION = '97.98.99'
failures = []


def check(ok, *what):
    if not ok:
        failures.append(what)
        print('FAIL', *what)


def git(*words):
    return subprocess.run(['git', '-C', str(SOURCE), *words], capture_output=True, text=True, check=True).stdout


def release(*words):
    return subprocess.run([str(SOURCE / 'packaging' / 'release.sh'), *map(str, words)], capture_output=True, text=True, timeout=100)


def check_tarball(path):
    with tarfile.open(path) as archive:
        names = archive.getnames()
        read = lambda name: archive.extractfile('idsprof-%s/%s' % (VERSION, name)).read().decode()
        check(all(name.split('/')[0] == 'idsprof-' + VERSION for name in names), 'one folder')
        check('project(idsprof VERSION %s ' % VERSION in read('CMakeLists.txt'), 'version in CMakeLists.txt')
        check(re.search(r'^## Unreleased\n\n## 97\.98\.99 \(\d{4}-\d\d-\d\d\)$', read('CHANGELOG.md'), re.M), 'changelog')
        check('version program ' + VERSION in read('tests/contract/stable.txt'), 'what is promised')
        files = set(git('ls-files').split('\n')) - {''}
        missing = {name for name in files if 'idsprof-%s/%s' % (VERSION, name) not in names}
        check(not missing - set(git('diff', '--name-only', 'HEAD').split()) - set(git('diff', '--name-only', '--cached').split()), 'files of the tree', sorted(missing)[:5])


def check_sbom(path):
    sbom = json.loads(path.read_text())
    check(sbom['spdxVersion'] == 'SPDX-2.3' and sbom['packages'][0]['versionInfo'] == VERSION, 'SPDX')
    table = (SOURCE / 'ARCHITECTURE.md').read_text().split('## Libraries')[1].split('\n## ')[0]
    named = {name.strip().lower() for name in re.findall(r'^\| ([\w.-]+) \|', table, re.M)} - {'library', 'check'}
    have = {each['name'].lower() for each in sbom['packages']}
    check(len(named) >= 8, 'libraries of ARCHITECTURE.md', named)
    check(not {name.replace('libnghttp2', 'nghttp2') for name in named} - have, 'libraries without an entry', named - have)
    ids = {each['SPDXID'] for each in sbom['packages']} | {'SPDXRef-DOCUMENT'}
    check(all({link['spdxElementId'], link['relatedSpdxElement']} <= ids for link in sbom['relationships']), 'relationships')


def main():
    before = git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / 'out'
        done = release('--dry-run', VERSION, out)
        check(done.returncode == 0, done.stdout, done.stderr)
        if not done.returncode:
            check_tarball(out / ('idsprof-%s.tar.gz' % VERSION))
            check_sbom(out / ('idsprof-%s.spdx.json' % VERSION))
            for line in (out / 'SHA256SUMS').read_text().splitlines():
                digest, name = line.split()
                check(hashlib.sha256((out / name).read_bytes()).hexdigest() == digest, name)
        check('is no version' in release('--dry-run', '1.x', out).stderr, 'a version that is none')
        check(release().returncode == 2, 'usage')
    check(before == (git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')), 'the tree stays as it is')
    return bool(failures)


if subprocess.run(['git', '-C', str(SOURCE), 'rev-parse', 'HEAD'], capture_output=True, check=False).returncode:
    print('no git checkout: a release is made of one')
    sys.exit(1 if os.environ.get('IDS_CI') else 77)
sys.exit(main())
