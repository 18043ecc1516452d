"""idsprof_plugins.py - gives idsprof's interposer to whoever loads a PJRT plugin of JAX.

jaxlib refuses a plugin name that is registered twice, so no environment variable gets a library in front of a plugin that jax_plugins
registers; its loader is wrapped. The interposer finds the plugin that it stands for in IDSPROF_PJRT_PLUGIN, which is set while
it is loaded and no longer, because children inherit the environment. Without libidsprof_pjrt.so in the agent's folder, or with
IDSPROF_PJRT=0, nothing is touched.

The program names the plugin: it is the path that jax asks its loader for. For torch_xla, which loads libtpu in C++, the package is
searched for as torch_xla's own `import libtpu` does; if there is none, TPU_LIBRARY_PATH stays as it was.
"""
import ctypes
import importlib.util
import os
import sys

SHIM = 'libidsprof_pjrt.so'
VARIABLE = 'IDSPROF_PJRT_PLUGIN'
TPU_VARIABLE, TPU_KEPT = 'TPU_LIBRARY_PATH', 'IDSPROF_TPU_LIBRARY'
PROFILER_BYTES = 'IDSPROF_PJRT_PROFILER_BYTES'


def profiler_bytes():
    """The size of a plugin's profiler table that this jaxlib takes, None where it is not known: jaxlib compares it for equality and
    crashes in start_trace with any other one, such as libtpu 0.0.51's with jaxlib 0.10.2."""
    version = getattr(sys.modules.get('jaxlib'), '__version__', '')
    try:
        return 80 if tuple(int(part) for part in version.split('.')[:3]) <= (0, 10, 2) else None
    except ValueError:                  # such as 0.10.3.dev20261121
        return None


def can_load(library_path):
    """JAX tries "libtpu.so" on every machine, and goes on without where there is none: then the error is to be the loader's own, as
    for a library that is no plugin."""
    try:
        return bool(ctypes.CDLL(library_path, mode=os.RTLD_NOW).GetPjrtApi)
    except (OSError, AttributeError):
        return False


def shim_of(home):
    """The path of the interposer; None: do not use it."""
    shim = os.path.join(home, SHIM)
    return shim if os.environ.get('IDSPROF_PJRT') != '0' and os.path.exists(shim) else None


def libtpu():
    """The library that `import libtpu` would load; None: there is none. The package is not run, because it sets TPU_LIBRARY_PATH."""
    try:
        spec = importlib.util.find_spec('libtpu')
        path = os.path.join(os.path.dirname(spec.origin), 'libtpu.so')
        return path if os.path.isfile(path) else None
    except Exception:                   # no such package, or one without a file
        return None


def stand_for_libtpu(home):
    """Called before the import of torch_xla. The launcher has handled a variable that the user set."""
    shim, path = shim_of(home), None if os.environ.get(TPU_VARIABLE) else libtpu()
    if shim and path:
        os.environ[TPU_VARIABLE], os.environ[TPU_KEPT] = shim, path


def follow(home, xla_client, said):
    """said(key, value) reports the plugins loaded through the interposer. Returns whether it is installed."""
    shim = shim_of(home)
    load = getattr(xla_client, 'load_pjrt_plugin_dynamically', None)
    if not callable(load) or not shim:
        return False

    def load_pjrt_plugin_dynamically(plugin_name, library_path, *args, **kwargs):
        if os.path.realpath(library_path) == os.path.realpath(shim):
            library_path = os.environ.get(TPU_KEPT) or library_path
        if not can_load(library_path):
            return load(plugin_name, library_path, *args, **kwargs)
        os.environ[VARIABLE] = library_path
        size = profiler_bytes()
        if size:
            os.environ[PROFILER_BYTES] = str(size)
        said('plugin ' + plugin_name, library_path)
        try:
            return load(plugin_name, shim, *args, **kwargs)
        finally:
            os.environ.pop(VARIABLE, None)
            os.environ.pop(PROFILER_BYTES, None)

    xla_client.load_pjrt_plugin_dynamically = load_pjrt_plugin_dynamically
    return True
