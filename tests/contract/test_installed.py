#!/usr/bin/env python3
"""The target `installed`, which `bootstrap.sh demo` builds, makes every file of the build tree that `cmake --install` copies.
Environment: IDS_BUILD_DIR, IDS_SOURCE_DIR."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(os.environ['IDS_BUILD_DIR']).resolve()
ninja = shutil.which('ninja')
if not ninja or not (BUILD / 'build.ninja').exists():
    print('this build tree was not made by ninja')
    sys.exit(77)
wanted = {Path(path) for path in re.findall(r'"([^"]*)"', (BUILD / 'cmake_install.cmake').read_text())
          if path.startswith(f'{BUILD}/') and Path(path).is_file()}
graph = subprocess.run([ninja, '-C', BUILD, '-t', 'graph', 'installed'], capture_output=True, text=True, check=True).stdout
made = set(re.findall(r'label="([^"]*)"', graph))
configured = {BUILD / 'idsprof.pc'}  # is there before anything is built
links = {path: path.resolve() for path in wanted}  # libidsprof.so.0 comes with the library that it leads to
lacking = sorted(path for path in wanted - configured
                 if not made & {str(name) for file in (path, links[path]) for name in (file, file.relative_to(BUILD.resolve()))})
for path in lacking:
    print(f'FAIL: {path} is installed and not built by `installed`')
script = (Path(os.environ['IDS_SOURCE_DIR']) / 'bootstrap.sh').read_text()
if not re.search(r'^demo\(\) \{\n(    .*\n)*    build release installed$', script, re.M):
    print('FAIL: bootstrap.sh demo does not build `installed`')
    lacking.append(script)
if len(wanted) < 7:  # the program, three libraries, three completions
    print('FAIL: what is installed was not understood:', *wanted)
sys.exit(bool(lacking) or len(wanted) < 7)
