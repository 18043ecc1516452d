"""idsprof_plugins.py - the way into PJRT plugins of JAX: whoever loads a plugin is given the library of idsprof's interposer instead.

jaxlib refuses a plugin name that is registered twice, so no environment variable gets a library in front of a plugin that jax_plugins
registers; its loader is wrapped. The interposer finds the plugin that it stands for in IDSPROF_PJRT_PLUGIN, which is set while
it is loaded and not longer, for children inherit the environment. Empty, it leaves the finding to the interposer. Without
libidsprof_pjrt.so in the agent's folder, or with IDSPROF_PJRT=0, nothing is touched.
"""
import ctypes
import os
import sys

SHIM = 'libidsprof_pjrt.so'
VARIABLE = 'IDSPROF_PJRT_PLUGIN'
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
    """JAX tries "libtpu.so" on every machine, and goes on without where there is none: then the error is to be the loader's own."""
    try:
        ctypes.CDLL(library_path, mode=os.RTLD_NOW)
        return True
    except OSError:
        return False


def follow(home, xla_client, said):
    """said(key, value) tells which plugins were loaded through the interposer. Whether it stands there at all."""
    shim = os.path.join(home, SHIM)
    load = getattr(xla_client, 'load_pjrt_plugin_dynamically', None)
    if not callable(load) or os.environ.get('IDSPROF_PJRT') == '0' or not os.path.exists(shim):
        return False

    def load_pjrt_plugin_dynamically(plugin_name, library_path, *args, **kwargs):
        is_shim = os.path.realpath(library_path) == os.path.realpath(shim)
        if not is_shim and not can_load(library_path):
            return load(plugin_name, library_path, *args, **kwargs)
        os.environ[VARIABLE] = '' if is_shim else library_path
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
