"""idsprof_cells.py - the cells of a notebook: what IPython calls each, "In[3]", and its text, which no file has.

IPython gives the code of a cell the name of a file that is not there. It keeps for its tracebacks which cell that is, in CachingCompiler.cache,
which is followed here; the agent has both for the stacks that it samples.
"""
import ctypes
import functools
import os
import sys

MOST = 512                      # as the agent keeps (cells.c)
_called = {}                    # by the file's name


def follow(home, module):
    """`module` is IPython.core.compilerop."""
    cache = module.CachingCompiler.cache

    @functools.wraps(cache)
    def followed(self, *arguments, **named):
        path = cache(self, *arguments, **named)
        try:
            _note(home, path, arguments, named)
        except Exception:               # the cell runs whatever we know of it
            pass
        return path
    module.CachingCompiler.cache = followed


def _note(home, path, arguments, named):
    text = arguments[0] if arguments else named['transformed_code']
    number = arguments[1] if len(arguments) > 1 else named.get('number', 0)
    called = _around(sys._getframe(2)) or 'In[%d]' % number
    _called.pop(path, None)
    _called[path] = called
    if len(_called) > MOST:
        _called.pop(next(iter(_called)))
    _agent(home).ids_agent_cell(path.encode(), called.encode(), text.encode())


def _around(frame):
    """The cell that runs already: what a magic such as %%idsprof runs is that cell's. IPython counts it as the next one."""
    while frame is not None:
        if frame.f_code.co_filename in _called:
            return _called[frame.f_code.co_filename]
        frame = frame.f_back
    return None


@functools.lru_cache(None)
def _agent(home):
    library = ctypes.CDLL(os.path.join(home, 'libidsprof_agent.so'))
    library.ids_agent_cell.argtypes, library.ids_agent_cell.restype = (ctypes.c_char_p,) * 3, None
    return library


def file_of(path):
    """What a file is called in names of ours: "train.py", "In[3]"."""
    return _called.get(path) or os.path.basename(path)
