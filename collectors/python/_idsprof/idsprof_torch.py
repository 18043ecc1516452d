"""idsprof_torch.py - steps of PyTorch programs: each call of an optimizer's step() ends one.

torch has a hook for it (register_optimizer_step_post_hook, PyTorch 2.0 and later). Of several optimizers the one that steps most counts, as
of several jitted functions in JAX. The collector for CUDA takes it from here: it tells the agent, and marks the steps in the profile as
ranges of NVTX named "AdamW step 151". Where that collector is not in the process, nothing is counted.
"""
import ctypes
import os

TRIES = 20                      # steps in which the collector for CUDA must have come


class Steps:
    def __init__(self, home):
        self.path = os.path.join(home, 'libidsprof_cuda.so')
        self.tell = None
        self.tries = TRIES
        self.counts, self.furthest = {}, 0
        self.hook = None

    def find(self):
        """The collector, where the driver has loaded it."""
        try:
            library = ctypes.CDLL(self.path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            self.tell = library.ids_cuda_step
        except (OSError, AttributeError):
            self.tries -= 1
            if self.tries <= 0:
                self.hook.remove()
            return False
        self.tell.argtypes, self.tell.restype = (ctypes.c_char_p,), ctypes.c_int
        return True

    def stepped(self, optimizer, *_arguments):
        try:
            key = id(optimizer)
            number = self.counts[key] = self.counts.get(key, 0) + 1
            if number <= self.furthest:
                return
            self.furthest = number
            if (self.tell or self.find()) and not self.tell(b'%s step %d' % (type(optimizer).__name__.encode(), number)):
                self.hook.remove()      # nothing waits for steps any more
        except Exception:
            pass


def follow(home, module):
    """`module` is torch.optim.optimizer."""
    register = getattr(module, 'register_optimizer_step_post_hook', None)
    if register is None:
        return None
    steps = Steps(home)
    steps.hook = register(steps.stepped)
    return steps
