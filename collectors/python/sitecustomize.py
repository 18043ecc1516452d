# What every Python under `idsprof capture` does before the program: a finder waits for the import of jax (and of the modules that
# --wrap names), and a sitecustomize that this one stands in front of runs as it would have. All else is in _idsprof, which is
# loaded at that import. It is short because it is compiled at every start where no .pyc can be kept. What is recorded is Python 3.9
# and later, but an older one that the program starts, 2.7 too, reads this and goes on as without it.
import os
import sys

HAS_SPECS = sys.version_info >= (3, 4) # before, finders were asked by another name


class Finder:
    def __init__(self, folder, names):
        self.folder, self.names = folder, names

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            try:
                sys.path.append(self.folder)
                try:
                    import _idsprof
                    parts = os.path.join(self.folder, '_idsprof')
                    if parts not in _idsprof.__path__: # the wheel's, in whose environment the program runs: it has the engine alone
                        _idsprof.__path__.append(parts)
                    from _idsprof import idsprof_finder as finder
                finally:
                    sys.path.remove(self.folder)
                return finder.find(self, name, path, target)
            except Exception:
                self.names = ()


def followed(session):
    """One line for the launcher: a Python came up, whether or not it will import jax."""
    try:
        file = os.open(session + '/.idsprof/followed', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(file, b'{"t":0,"event":"python","pid":%d}\n' % os.getpid())
        os.close(file)
    except Exception:
        pass


def say_if_removed(finder):
    """Of a program that cleans sys.meta_path nothing else is ever seen."""
    if 'jax' in sys.modules and 'jax' in finder.names and finder not in sys.meta_path:
        try:
            from _idsprof import idsprof_finder
            idsprof_finder._leave_word('jax', "the program took it out of sys.meta_path, where it waits for imports: leave idsprof's Finder there")
        except Exception:
            pass


def run_next(path):
    """The sitecustomize that is found without ours; none is well."""
    if not HAS_SPECS:
        import imp
        try:
            found = imp.find_module('sitecustomize', path)
        except ImportError:
            return
        imp.load_module('sitecustomize', *found)
        return
    spec = sys.meta_path[-1].find_spec('sitecustomize', path)
    if spec and spec.loader:
        sys.modules['sitecustomize'] = module = type(sys)('sitecustomize')
        module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
        spec.loader.exec_module(module)


def main(folder):
    plan = os.environ.get('IDSPROF_PLAN')
    if plan is not None:
        wraps = [item.partition(':')[0] for item in plan.partition(';wrap=')[2].partition(';')[0].split(',')]
        if HAS_SPECS:
            finder = Finder(folder, set(['jax', 'torch_xla', 'torch.optim.optimizer', 'torch.autograd.profiler', 'IPython.core.compilerop'] + wraps))
            sys.meta_path.insert(0, finder)
            import atexit
            atexit.register(say_if_removed, finder)
        followed(os.environ.get('IDSPROF_SESSION'))
    # Behind all others: nothing of the program is looked for here first, and a child that is given this path still finds us.
    path = sys.path
    if folder in path:
        path.remove(folder)
    try:
        run_next(path)
    finally:
        path.append(folder)


main(os.path.dirname(__file__))
