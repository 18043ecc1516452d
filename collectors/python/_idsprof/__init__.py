"""_idsprof - the Python hook: the collector of JAX's built-in CPU client.

sitecustomize waits for the import of jax and asks idsprof_finder.py, which loads the rest (idsprof_hook.py) when it has been imported.
"""
