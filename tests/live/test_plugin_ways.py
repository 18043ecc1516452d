#!/usr/bin/env python3
"""`idsprof capture` takes no plugin away: jax finds libtpu, and plugins of jax_plugins, in every way in which Python finds packages, and
under a capture it finds the same one, with the same device and the same text as alone. What says which one it was is the fact
`plugin ...` in the sidecar. The plugin is the double of tests/pjrt, which refuses a client; with IDS_LIBTPU=FOLDER it is that package
libtpu (tests/live/test_pjrt_plugins.py: the real one). As root the machine has a /dev/accel0, in a mount namespace.

Environment: IDSPROF, IDS_BUILD_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PYTHON = os.environ.get('IDS_PYTHON') or sys.executable
IDSPROF, ROOT = os.environ['IDSPROF'], Path(os.environ['TMPDIR'])
DOUBLE = os.environ['IDS_BUILD_DIR'] + '/support/pjrt_double.so'
REAL = os.environ.get('IDS_LIBTPU')
failures = []
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_', 'JAX_', 'XLA_', 'TPU_')) or name in ('RANK', 'PYTHONPATH', 'VIRTUAL_ENV', 'CONDA_PREFIX'):
        del os.environ[name]
os.environ.update(XDG_RUNTIME_DIR=str(ROOT), PJRT_DOUBLE='fail=10', DOUBLE=DOUBLE, TPU_SKIP_MDS_QUERY='1',
                  TPU_ACCELERATOR_TYPE='v5litepod-4', TPU_WORKER_HOSTNAMES='localhost', PYTHONDONTWRITEBYTECODE='1')

# A /dev of its own with a TPU in it, in a namespace that ends with the command.
DEVICES = '''old=$1; shift; mkdir -p "$old"; mount --rbind /dev "$old" && mount -t tmpfs none /dev || exit 9
for f in null zero urandom random; do : > /dev/$f; mount --bind "$old/$f" /dev/$f; done
mkdir /dev/shm; mount --bind "$old/shm" /dev/shm; ln -s /proc/self/fd /dev/fd; : > /dev/accel0; exec "$@"'''
probe = subprocess.run(['unshare', '-m', 'sh', '-c', DEVICES, 'sh', ROOT / 'dev', 'true'], capture_output=True)
MACHINE = ['unshare', '-m', 'sh', '-c', DEVICES, 'sh', str(ROOT / 'dev')] if probe.returncode == 0 else []
print('with /dev/accel0' if MACHINE else 'without a simulated TPU: no mount namespace here')

PROGRAM = ROOT / 'program.py'
PROGRAM.write_text('''import os, sys, warnings
warnings.simplefilter('ignore')
import jax
try:
    print(jax.devices())
except Exception as error:
    print(type(error).__name__, error)
print(sorted(name for name in os.environ if name.startswith('TPU_')))
''')


def check(what, ok, found=''):
    if not ok:
        failures.append(what)
    print('%s %s%s' % ('ok  ' if ok else 'FAIL', what, '' if ok else ': %s' % (found,)), flush=True)


def package(folder):
    """A package libtpu in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if REAL:
        (folder / 'libtpu').symlink_to(REAL)
        for info in Path(REAL).parent.glob('libtpu-*.dist-info'):
            (folder / info.name).symlink_to(info)
        return folder
    (folder / 'libtpu').mkdir()
    (folder / 'libtpu' / '__init__.py').write_text('''import os
def get_library_path():
    return os.path.join(os.path.dirname(__file__), 'libtpu.so')
if not os.environ.get('TPU_LIBRARY_PATH'):
    os.environ['TPU_LIBRARY_PATH'] = get_library_path()
''')
    shutil.copy(DOUBLE, folder / 'libtpu' / 'libtpu.so')
    return folder


def environment_of(name, *lines):
    """A virtual environment with jax, and these lines in a .pth of it: (its Python, its site-packages)."""
    base = subprocess.run([PYTHON, '-c', 'import jax, os; print(os.path.dirname(os.path.dirname(jax.__file__)))'], capture_output=True,
                          text=True, check=True).stdout.strip()
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', ROOT / name], check=True)
    site, = (ROOT / name).glob('lib/python*/site-packages')
    (site / 'more.pth').write_text('\n'.join([base, *lines]) + '\n')
    return ROOT / name / 'bin' / 'python', site


def run(command, environment):
    done = subprocess.run([*MACHINE, *map(str, command)], capture_output=True, text=True, timeout=200,
                          env={**os.environ, 'JAX_PLATFORMS': 'tpu', **environment})
    return done.returncode, done.stdout, done.stderr


def same(what, python, library, plugin='tpu', options=(), **environment):
    """Alone and captured: the same; and the plugin that was loaded is `library` (None: none)."""
    alone = run([python, PROGRAM], environment)
    into = ROOT / ('out_' + re.sub(r'\W', '_', what))
    captured = run([IDSPROF, 'capture', '--keep-empty', '-o', into, *options, '--', python, PROGRAM], environment)
    check(what + ': exit code and output', captured[:2] == alone[:2], (alone, captured))
    sidecar = json.loads(next(into.glob('*/idsprof-run.json')).read_text())
    facts = {key: value for process in sidecar['processes'] for key, value in process['facts'].items()}
    check(what + ': its plugin', facts.get('plugin ' + plugin) == (library and str(library)), facts)
    if library and not REAL:
        check(what + ': that was asked', 'fail=10' in alone[1], alone)


def ways():
    bare, _ = environment_of('bare')
    other = package(ROOT / 'other' / 'lib' / 'python3.11' / 'site-packages')    # of another Python: never to be taken
    others = dict(VIRTUAL_ENV=str(ROOT / 'other'), CONDA_PREFIX=str(ROOT / 'other'), HOME=str(ROOT / 'home'))
    package(ROOT / 'home' / '.local' / 'lib' / 'python3.12' / 'site-packages')
    yield 'no libtpu, but others\'', bare, None, dict(others)
    yield 'no libtpu, --tpu', bare, None, dict(others, options=['--tpu', '--or-cpu'])
    found = package(ROOT / 'path')
    yield 'PYTHONPATH', bare, found / 'libtpu/libtpu.so', dict(others, PYTHONPATH=str(found))
    python, site = environment_of('installed')
    package(site)
    yield 'site-packages', python, site / 'libtpu/libtpu.so', others
    found = package(ROOT / 'pth')
    yield '.pth', environment_of('with_pth', str(found))[0], found / 'libtpu/libtpu.so', others
    found = package(ROOT / 'usr/lib/python3/dist-packages')
    yield 'dist-packages', environment_of('with_dist', 'import site; site.addsitedir(%r)' % str(found))[0], found / 'libtpu/libtpu.so', others
    found = package(ROOT / 'source')
    python, site = environment_of('editable', 'import editable_finder')
    for info in found.glob('*.dist-info'):
        (site / info.name).symlink_to(info)
    (site / 'editable_finder.py').write_text('''import sys, importlib.util
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == 'libtpu':
            return importlib.util.spec_from_file_location(name, %r, submodule_search_locations=[%r])
sys.meta_path.append(Finder())
''' % (str(found / 'libtpu/__init__.py'), str(found / 'libtpu')))
    yield 'editable', python, found / 'libtpu/libtpu.so', others
    own = DOUBLE if not REAL else REAL + '/libtpu.so'
    yield 'TPU_LIBRARY_PATH', bare, own, dict(others, TPU_LIBRARY_PATH=own)
    yield 'TPU_LIBRARY_PATH of nothing', bare, None, dict(others, TPU_LIBRARY_PATH='/nonexistent/libtpu.so')
    yield 'TPU_LIBRARY_PATH of a folder', bare, None, dict(others, TPU_LIBRARY_PATH='/usr')
    with zipfile.ZipFile(ROOT / 'packed.zip', 'w') as packed:
        packed.write(package(ROOT / 'packed') / 'libtpu/__init__.py', 'libtpu/__init__.py')
    yield 'in a zip, which holds no library', bare, None, dict(others, PYTHONPATH=str(ROOT / 'packed.zip'))
    broken = package(ROOT / 'broken')
    if not REAL:
        (broken / 'libtpu' / 'libtpu.so').write_text('no library')
        yield 'a broken library', bare, None, dict(others, PYTHONPATH=str(broken))
        shutil.copytree(broken, ROOT / 'no_plugin')
        shutil.copy(IDSPROF[:-len('idsprof')] + 'lib/idsprof/libidsprof_agent.so', ROOT / 'no_plugin/libtpu/libtpu.so')
        yield 'a library that is no plugin', bare, None, dict(others, PYTHONPATH=str(ROOT / 'no_plugin'))
        code = 'import os\nfrom jax._src import xla_bridge\ndef initialize():\n    xla_bridge.register_plugin("mine", library_path=%r)\n' % DOUBLE
        by_path = ROOT / 'plugins' / 'jax_plugins' / 'mine'
        by_path.mkdir(parents=True)
        (by_path / '__init__.py').write_text(code)
        yield 'jax_plugins', bare, DOUBLE, dict(others, PYTHONPATH=str(ROOT / 'plugins'), JAX_PLATFORMS='mine', plugin='mine')
        by_point = ROOT / 'points'
        (by_point / 'mine-1.dist-info').mkdir(parents=True)
        (by_point / 'mine_module.py').write_text(code)
        (by_point / 'mine-1.dist-info' / 'entry_points.txt').write_text('[jax_plugins]\nmine = mine_module\n')
        (by_point / 'mine-1.dist-info' / 'METADATA').write_text('Metadata-Version: 2.1\nName: mine\nVersion: 1\n')
        yield 'an entry point', bare, DOUBLE, dict(others, PYTHONPATH=str(by_point), JAX_PLATFORMS='mine', plugin='mine')


def doctor():
    """It finds what jax finds."""
    for folder, wanted in ((ROOT / 'path', 'ok'), (ROOT / 'nothing', 'none'), (ROOT / 'broken', 'problem')):
        done = subprocess.run([IDSPROF, 'doctor', '--json', '-p', ROOT / 'bare/bin/python'], capture_output=True, text=True, timeout=60,
                              env={**os.environ, 'PYTHONPATH': str(folder), 'VIRTUAL_ENV': str(ROOT / 'other')})
        found = {finding['id']: finding for finding in json.loads(done.stdout)['findings']}['python.libtpu']
        check('doctor, %s' % folder.name, found['state'] == wanted and (wanted == 'none' or str(folder) in found['what']), found)
    done = subprocess.run([IDSPROF, 'doctor', '--json', '-p', ROOT / 'bare/bin/python'], capture_output=True, text=True, timeout=60,
                          env={**os.environ, 'PYTHONPATH': str(ROOT / 'plugins')})
    check('doctor, jax_plugins', any(finding['id'] == 'python.plugins' and finding['what'] == 'mine'
                                     for finding in json.loads(done.stdout)['findings']), done.stdout)


def main():
    if subprocess.run([PYTHON, '-c', 'import jax, venv'], capture_output=True).returncode:
        print('SKIP: %s has no jax' % PYTHON)
        return 77
    with ThreadPoolExecutor(1 if REAL else 2) as pool:        # the real libtpu has a lock for the whole machine
        list(pool.map(lambda way: same(way[0], way[1], way[2], **way[3]), list(ways())))
    if not REAL:
        doctor()
    print('%d failures' % len(failures))
    return len(failures) > 0


if __name__ == '__main__':
    sys.exit(main())
