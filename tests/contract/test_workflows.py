#!/usr/bin/env python3
"""The workflows and issue templates of .github call what the tree has: scripts, presets, fuzz targets, commands and options of idsprof.

tests/peers/test_workflow_schema.py holds them against GitHub's schemas.  Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
IDSPROF = os.environ['IDSPROF']
failures = []


def check(ok, *what):
    if not ok:
        failures.append(what)
        print('FAIL', *what)


scripts = 0
presets = {preset['name'] for preset in json.loads((SOURCE / 'CMakePresets.json').read_text())['configurePresets']}
for path in sorted((SOURCE / '.github' / 'workflows').glob('*.yml')):
    text = path.read_text()
    for shell, script in re.findall(r'(?:run: |^ +)(bash )?((?:\./|\.ci/|packaging/|tests/)[\w./-]+)', text, re.M):
        scripts += 1
        check(os.access(SOURCE / script, os.R_OK if shell else os.X_OK), path.name, 'there is no program', script)
    for preset in re.findall(r'--preset (\w+)', text):
        check(preset in presets, path.name, 'there is no preset', preset)
    check('permissions:' in text, path.name, 'does not say which permissions it needs')
check(scripts >= 5, 'scripts in workflows', scripts)

fuzzed = set(re.search(r'target: \[(.*)\]', (SOURCE / '.github/workflows/fuzz.yml').read_text()).group(1).split(', '))
check(fuzzed == {path.stem[5:] for path in (SOURCE / 'tests' / 'fuzz').glob('fuzz_*.c')}, 'fuzz targets', fuzzed)

options = 0
for path in (SOURCE / '.github' / 'ISSUE_TEMPLATE').glob('*.yml'):
    for command, rest in re.findall(r'idsprof (\w+)([^`\n]*)', path.read_text()):
        helped = subprocess.run([IDSPROF, command, '-h'], capture_output=True, text=True, timeout=20, check=False).stdout
        for option in re.findall(r'--[a-z-]+', rest):
            options += 1
            check(re.search(re.escape(option) + r'(?![a-z-])', helped), path.name, command, option)
check(options >= 4, 'options in templates', options)
sys.exit(bool(failures))
