"""sitecustomize.py - what every Python that runs under `idsprof capture` does before the program.

The launcher puts this folder in front of PYTHONPATH. All that happens here is that a finder waits for the import of jax (and of the
modules that --wrap names); the hook itself, _idsprof/, is loaded when jax has been imported, and never in a program without it.
A sitecustomize that was there before runs as it would have. Nothing here raises or prints; IDSPROF_DEBUG=1 lets the hook say on
stderr what went wrong in it. Runs with Python 3.9 and later.
"""


class _Finder:
    """Lets others find the modules it waits for, and has them call back when they have been imported."""

    def __init__(self, folder, waits_for):
        self.folder = folder
        self.waits_for = waits_for      # names of modules -> what is called with the module

    def find_spec(self, name, path=None, target=None):
        if name not in self.waits_for:
            return None
        import sys
        then = self.waits_for.pop(name)
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, 'find_spec', None)
            spec = find and find(name, path, target)
            if spec is not None:
                _follow(spec.loader, then)
                return spec
        return None


def _follow(loader, then):
    """Has `then` called when the loader has run its module; the loader is as it was when that begins."""
    def exec_module(module):
        try:
            del loader.exec_module
        finally:
            type(loader).exec_module(loader, module)
        then(module)

    try:
        loader.exec_module = exec_module
    except Exception:                   # a loader without attributes of its own, such as a frozen one
        pass


def _say(what):
    import os
    if os.environ.get('IDSPROF_DEBUG') == '1':
        import sys
        import traceback
        sys.stderr.write('idsprof: the Python hook: %s\n%s' % (what, traceback.format_exc()))


def _hook(folder):
    """The package _idsprof of this folder, wherever sys.path points by now."""
    import sys
    if '_idsprof' not in sys.modules:
        from importlib import util
        spec = util.spec_from_file_location('_idsprof', folder + '/_idsprof/__init__.py',
                                            submodule_search_locations=[folder + '/_idsprof'])
        module = util.module_from_spec(spec)
        sys.modules['_idsprof'] = module
        spec.loader.exec_module(module)
    return sys.modules['_idsprof']


def _wait(folder, plan):
    """Puts the finder in front, unless jax is here already, which it cannot be."""
    import sys
    waits_for = {}

    def jax(module):
        try:
            _hook(folder).wake(folder, module)
        except Exception:
            _say('it could not start')

    def wrap(module):
        try:
            _hook(folder).wrap(module)
        except Exception:
            _say('--wrap failed')

    for item in plan.split(';'):
        if item.startswith('wrap=') and len(item) > 5:
            for one in item[5:].split(','):
                waits_for[one.partition(':')[0]] = wrap
    waits_for['jax'] = jax
    sys.meta_path.insert(0, _Finder(folder, waits_for))


def _next_sitecustomize(folder):
    """Runs the sitecustomize that this one stands in front of, as site does: what it raises is raised."""
    import sys
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder
    spec = PathFinder.find_spec('sitecustomize', sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules['sitecustomize'] = module
    spec.loader.exec_module(module)


def _main():
    import os
    import sys
    folder = os.path.dirname(os.path.abspath(__file__))
    # Behind all others: nothing of the program is looked for here first, and a child that is given this path still finds us.
    here = [entry for entry in sys.path if os.path.abspath(entry or '.') == folder]
    sys.path[:] = [entry for entry in sys.path if entry not in here]
    plan = os.environ.get('IDSPROF_PLAN')
    try:
        if plan is not None and sys.implementation.name == 'cpython':
            _wait(folder, plan)
    except Exception:
        _say('it could not wait for jax')
    try:
        _next_sitecustomize(folder)
    finally:
        sys.path.extend(here[:1])


_main()
