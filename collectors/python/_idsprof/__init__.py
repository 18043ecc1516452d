"""_idsprof - the Python hook: the collector of JAX's built-in CPU client.

sitecustomize waits for the import of jax and asks finder.py, which loads the rest (hook.py) when it has been imported.
"""
