#!/usr/bin/env python3
"""assemble.py VERSION ARCH INSTALLED PREFIX OUT: puts what `cmake --install` laid down into a wheel.

scripts/idsprof is the program; data/lib/idsprof what captured programs load, found from the program's own place; data/share its manual
and completions. Beside them the Python module: idsprof.py, and in _idsprof the engine as a library. All licences of what is linked in.
"""
import shutil
import stat
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
METADATA = '''Metadata-Version: 2.1
Name: idsprof
Version: %s
Summary: Captures and reads performance profiles of JAX, PyTorch and XLA programs: why is my step slow?
License: Apache-2.0
Keywords: profiler,JAX,XLA,PyTorch,GPU,TPU,performance
Classifier: Environment :: Console
Classifier: Environment :: GPU
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == 'pandas'
Provides-Extra: arrow
Requires-Dist: pyarrow; extra == 'arrow'
Provides-Extra: lake
Requires-Dist: duckdb>=1.3; extra == 'lake'
Requires-Dist: duckdb-extension-sqlite-scanner; extra == 'lake'
Provides-Extra: fleet
Requires-Dist: dask; extra == 'fleet'
Requires-Dist: distributed; extra == 'fleet'
Requires-Dist: fsspec; extra == 'fleet'
Requires-Dist: aiohttp; extra == 'fleet'
Requires-Dist: duckdb>=1.3; extra == 'fleet'
Requires-Dist: duckdb-extension-sqlite-scanner; extra == 'fleet'
Provides-Extra: s3
Requires-Dist: s3fs; extra == 's3'
Provides-Extra: gcs
Requires-Dist: gcsfs; extra == 'gcs'
Description-Content-Type: text/markdown

'''
WHEEL = '''Wheel-Version: 1.0
Generator: idsprof packaging/wheel
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_17_%s
'''


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(stat.S_IMODE(Path(source).stat().st_mode))


def copy_tree(source, target, *left_out):
    shutil.copytree(source, target, ignore=shutil.ignore_patterns('__pycache__', *left_out), dirs_exist_ok=True)


def main(version, arch, installed, prefix, out):
    root = out / arch / 'staged'
    shutil.rmtree(root, ignore_errors=True)
    data, info = root / ('idsprof-%s.data' % version), root / ('idsprof-%s.dist-info' % version)
    copy(installed / 'bin/idsprof', data / 'scripts/idsprof')
    copy_tree(installed / 'lib/idsprof', data / 'data/lib/idsprof')
    for folder in ('man', 'bash-completion', 'zsh', 'fish'):
        copy_tree(installed / 'share' / folder, data / 'data/share' / folder)
    python = installed / 'lib/idsprof/python'
    copy(python / 'idsprof.py', root / 'idsprof.py')
    for name in ('__init__.py', 'idsprof_engine.py'):
        copy(python / '_idsprof' / name, root / '_idsprof' / name)
    copy_tree(python / '_idsprof' / 'modules', root / '_idsprof' / 'modules')
    copy(next((installed / 'lib').glob('libidsprof.so.0.*')), root / '_idsprof/libidsprof.so.0')
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(METADATA % version + (SOURCE / 'README.md').read_text())
    (info / 'WHEEL').write_text(WHEEL % arch)
    copy(SOURCE / 'LICENSE', info / 'licenses/LICENSE')
    for text in sorted(prefix.glob('copyright-*')):
        copy(text, info / 'licenses' / text.name)
    subprocess.run([sys.executable, '-m', 'wheel', 'pack', str(root), '--dest-dir', str(out)], check=True, stdout=subprocess.DEVNULL)
    wheel = out / ('idsprof-%s-py3-none-manylinux_2_17_%s.whl' % (version, arch))
    print('%s: %.2f MB' % (wheel.relative_to(SOURCE), wheel.stat().st_size / 1e6))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], *map(Path, sys.argv[3:]))
