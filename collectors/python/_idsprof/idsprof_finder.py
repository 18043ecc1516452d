"""idsprof_finder.py - a meta path finder that calls back after the modules that the hook waits for are imported."""
import os
import sys


_kept = []


def say(what):
    """Prints failures of the hook itself if IDSPROF_DEBUG=1."""
    if os.environ.get('IDSPROF_DEBUG') == '1':
        import traceback
        sys.stderr.write('idsprof: the Python hook: %s\n%s' % (what, traceback.format_exc()))


def _arrived(folder, name, module):
    """Called after an awaited module was imported. Raises nothing, because the program got its module."""
    try:
        if name == 'jax':
            from . import idsprof_hook as hook
            _kept.append(hook.Hook(folder, module))
        elif name == 'torch.optim.optimizer':
            from . import idsprof_torch as torch
            _kept.append(torch.follow(os.environ.get('IDSPROF_HOME') or os.path.dirname(folder), module))
        elif name == 'torch.autograd.profiler':
            from . import idsprof_torch as torch
            torch.follow_profiler(os.environ.get('IDSPROF_HOME') or os.path.dirname(folder), module)
        elif name == 'IPython.core.compilerop':
            from . import idsprof_cells as cells
            cells.follow(os.environ.get('IDSPROF_HOME') or os.path.dirname(folder), module)
        else:
            from . import idsprof_wrap as wrap
            wrap.wanted().module(module, name)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        say('it could not start')
        _leave_word(name, error)


def _leave_word(name, error):
    """A line for the launcher, written where no agent can report it."""
    session = os.environ.get('IDSPROF_SESSION')
    if not session:
        return
    try:
        import json
        import time
        why = '%s (Python %s, after the import of %s)' % (error, sys.version.split()[0], name)
        line = json.dumps({'t': time.time_ns(), 'event': 'failed', 'pid': os.getpid(), 'why': why})
        file = os.open(session + '/.idsprof/followed', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(file, line.encode() + b'\n')
        finally:
            os.close(file)
    except Exception:
        pass


def _follow(loader, then):
    """Calls `then` after the loader has run its module; the loader is restored before the module runs."""
    def exec_module(module):
        try:
            del loader.exec_module
        finally:
            type(loader).exec_module(loader, module)
        then(module)

    try:
        loader.exec_module = exec_module
    except Exception:                   # a loader without attributes of its own, such as a frozen one
        say('a module cannot be waited for')


def _before_torch_xla(folder):
    try:
        from . import idsprof_plugins as plugins
        plugins.stand_for_libtpu(os.environ.get('IDSPROF_HOME') or os.path.dirname(folder))
    except Exception:
        say('torch_xla is not followed')


def find(waiting, name, path, target):
    """Replaces waiting.find_spec for an awaited name."""
    waiting.names.discard(name)
    if name == 'torch_xla':
        _before_torch_xla(waiting.folder)
    for other in sys.meta_path:
        find_spec = None if other is waiting else getattr(other, 'find_spec', None)
        spec = find_spec and find_spec(name, path, target)
        if spec:
            if name != 'torch_xla':
                _follow(spec.loader, lambda module: _arrived(waiting.folder, name, module))
            return spec
    waiting.names.add(name)             # not there yet, perhaps later
    return None
