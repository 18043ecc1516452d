#!/usr/bin/env python3
"""The libraries that are loaded into profiled programs need nothing newer than glibc 2.17, link nothing but the C library and one
another, export only what is declared so, and hold nothing of a sanitizer. Environment: IDS_BUILD_DIR, IDS_SOURCE_DIR."""
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(os.environ['IDS_BUILD_DIR'])
SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
NEWEST = (2, 17)
ALLOWED = {'libc.so.6', 'libpthread.so.0', 'libdl.so.2', 'libidsprof_agent.so', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
failures = []


def objdump(option, library):
    return subprocess.run(['objdump', option, str(library)], capture_output=True, text=True, check=True).stdout


def check(library):
    symbols = objdump('-T', library)
    for version, name in re.findall(r'\(?GLIBC_([0-9.]+)\)?\s+(\S+)$', symbols, re.M):
        if tuple(int(part) for part in version.split('.'))[:2] > NEWEST:
            failures.append(f'{library.name} needs {name} of glibc {version}')
    for needed in re.findall(r'NEEDED\s+(\S+)', objdump('-p', library)):
        if needed not in ALLOWED:
            failures.append(f'{library.name} links {needed}')
    if re.search(r'__asan|__ubsan|__gcov', symbols):
        failures.append(f'{library.name} was built with a sanitizer or with coverage')
    return set(re.findall(r'^\S+ g\s+DF \.text\s+\S+\s+(?:Base\s+)?(\S+)$', symbols, re.M))


if not shutil.which('objdump'):
    print('objdump is not installed')
    sys.exit(77)
if platform.machine() not in ('x86_64', 'aarch64'):
    print(f'glibc.h binds no older versions on {platform.machine()}')
    sys.exit(77)
libraries = sorted((BUILD / 'lib' / 'idsprof').glob('*.so'))
if not libraries:
    failures.append('there is no library in lib/idsprof')
for library in libraries:
    exported = check(library)
    if library.name == 'libidsprof_agent.so':
        sources = [SOURCE / 'collectors/common/agent.h', *(SOURCE / 'collectors/python').glob('*.[ch]')]
        declared = {name for path in sources for name in re.findall(r'^IDS_AGENT_API .*?(ids_\w+)\(', path.read_text(), re.M)}
        if exported != declared or len(declared) < 10:
            failures.append(f'{library.name} exports {sorted(exported)}, and the sources declare {sorted(declared)}')
    if library.name == 'libidsprof_cuda.so' and exported != {'InitializeInjection', 'InitializeInjectionNvtx2', 'ids_cuda_program_profiles', 'ids_cuda_step'}:
        failures.append(f'{library.name} exports {sorted(exported)}')
    if library.name == 'libidsprof_pjrt.so' and exported != {'GetPjrtApi', 'la_version', 'la_objsearch'}:
        failures.append(f'{library.name} exports {sorted(exported)}')
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
