"""plugins.py - the way into PJRT plugins of JAX: whoever loads a plugin is given the library of idsprof's interposer instead.

jaxlib refuses a plugin name that is registered twice, so no environment variable gets a library in front of a plugin that jax_plugins
registers; its loader is wrapped. The interposer finds the plugin that it stands for in IDSPROF_PJRT_PLUGIN, which is set while
it is loaded and not longer, for children inherit the environment. Empty, it leaves the finding to the interposer. Without
libidsprof_pjrt.so in the agent's folder, or with IDSPROF_PJRT=0, nothing is touched.
"""
import os

SHIM = 'libidsprof_pjrt.so'
VARIABLE = 'IDSPROF_PJRT_PLUGIN'


def follow(home, xla_client, said):
    """said(key, value) tells which plugins were loaded through the interposer. Whether it stands there at all."""
    shim = os.path.join(home, SHIM)
    load = getattr(xla_client, 'load_pjrt_plugin_dynamically', None)
    if not callable(load) or os.environ.get('IDSPROF_PJRT') == '0' or not os.path.exists(shim):
        return False

    def load_pjrt_plugin_dynamically(plugin_name, library_path, *args, **kwargs):
        is_shim = os.path.realpath(library_path) == os.path.realpath(shim)
        os.environ[VARIABLE] = '' if is_shim else library_path
        said('plugin ' + plugin_name, library_path)
        try:
            return load(plugin_name, shim, *args, **kwargs)
        finally:
            os.environ.pop(VARIABLE, None)

    xla_client.load_pjrt_plugin_dynamically = load_pjrt_plugin_dynamically
    return True
