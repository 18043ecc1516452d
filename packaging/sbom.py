#!/usr/bin/env python3
"""sbom.py VERSION COMMIT: prints what idsprof is made of, as SPDX 2.3 in JSON.

The libraries are those of NOTICE, with the versions that this machine has (pkg-config); one that is not here has no version.
"""
import hashlib
import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]


def libraries():
    """NOTICE's table: name, licence, where it comes from, what pkg-config calls it."""
    for line in (SOURCE / 'NOTICE').read_text().splitlines():
        cells = re.fullmatch(r'  (\S+)  +(\S+)  +(https://\S+)  +(\S+)', line)
        if cells:
            yield cells.groups()


def version_of(module):
    done = subprocess.run(['pkg-config', '--modversion', module], capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else None


def package(name, version, licence, url):
    found = {'SPDXID': 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', name), 'name': name, 'downloadLocation': url, 'filesAnalyzed': False,
             'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION'}
    return {**found, 'versionInfo': version} if version else found


def main(version, commit):
    packages = [package('idsprof', version, 'Apache-2.0', 'NOASSERTION')]
    packages += [package(name, version_of(module), licence, url) for name, licence, url, module in libraries()]
    name = 'idsprof-' + version
    whole = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': name,
        'documentNamespace': 'https://spdx.org/spdxdocs/%s-%s' % (name, hashlib.sha256(commit.encode()).hexdigest()[:16]),
        'creationInfo': {'created': datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': ['Tool: idsprof packaging/sbom.py']},
        'packages': packages,
        'relationships': [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES', 'relatedSpdxElement': 'SPDXRef-idsprof'}]
        + [{'spdxElementId': 'SPDXRef-idsprof', 'relationshipType': 'DEPENDS_ON', 'relatedSpdxElement': each['SPDXID']} for each in packages[1:]],
    }
    print(json.dumps(whole, indent=1))


if len(sys.argv) != 3:
    sys.exit('usage: sbom.py VERSION COMMIT')
main(*sys.argv[1:])
