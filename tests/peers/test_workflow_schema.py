#!/usr/bin/env python3
"""GitHub's own schemas take our workflows, the example of a gate, and the issue templates.

check-jsonschema carries the schemas: nothing is loaded from the network.  Environment: IDS_SOURCE_DIR, IDS_CI. Without it: 77, in CI a failure.
"""
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
CHECK = SOURCE / '.venv' / 'bin' / 'check-jsonschema'
FILES = {
    'github-workflows': [*sorted((SOURCE / '.github' / 'workflows').glob('*.yml')), SOURCE / 'examples' / 'ci' / 'idsprof.yml'],
    'github-issue-forms': [SOURCE / '.github' / 'ISSUE_TEMPLATE' / 'bug.yml'],
    'github-issue-config': [SOURCE / '.github' / 'ISSUE_TEMPLATE' / 'config.yml'],
}
failed = 0
if not CHECK.exists():
    print('check-jsonschema is not in .venv')
    sys.exit(1 if os.environ.get('IDS_CI') else 77)
for schema, paths in FILES.items():
    done = subprocess.run([CHECK, '--builtin-schema', 'vendor.' + schema, *paths], capture_output=True, text=True, timeout=60, check=False)
    failed |= done.returncode != 0
    print(schema, len(paths), 'files', done.stdout.strip() if not done.returncode else done.stdout + done.stderr)
assert len(FILES['github-workflows']) >= 5
broken = subprocess.run([CHECK, '--builtin-schema', 'vendor.github-workflows', '-'], input='on: push\njobs:\n  a:\n    steps: []\n', capture_output=True, text=True, timeout=60, check=False)
if not broken.returncode:
    failed = True
    print('a job without runs-on is taken')
sys.exit(failed)
