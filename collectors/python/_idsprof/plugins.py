"""plugins.py - the way into PJRT plugins of JAX: whoever loads a plugin is given the library of idsprof's interposer instead.

jaxlib refuses a plugin name that is registered twice, so no environment variable gets a library in front of a plugin that jax_plugins
registers; its loader is wrapped. The interposer finds the plugin that it stands for in IDSPROF_PJRT_<NAME>. Without
libidsprof_pjrt.so in the agent's folder, or with IDSPROF_PJRT=0, nothing is touched.
"""
import os
import re

SHIM = 'libidsprof_pjrt.so'


def variable(name):
    return 'IDSPROF_PJRT_' + re.sub('[^A-Z0-9]', '_', name.upper())


def follow(home, xla_client, said):
    """said(key, value) tells which plugins were loaded through the interposer. Whether it stands there at all."""
    shim = os.path.join(home, SHIM)
    load = getattr(xla_client, 'load_pjrt_plugin_dynamically', None)
    if not callable(load) or os.environ.get('IDSPROF_PJRT') == '0' or not os.path.exists(shim):
        return False

    def load_pjrt_plugin_dynamically(plugin_name, library_path, *args, **kwargs):
        if os.path.realpath(library_path) != os.path.realpath(shim):
            os.environ[variable(plugin_name)] = library_path
            said('plugin ' + plugin_name, library_path)
            library_path = shim
        return load(plugin_name, library_path, *args, **kwargs)

    xla_client.load_pjrt_plugin_dynamically = load_pjrt_plugin_dynamically
    return True
