"""idsprof_torch.py - PyTorch programs: their steps, and their own profiles.

Each call of an optimizer's step() ends a step. torch has a hook for it (register_optimizer_step_post_hook, PyTorch 2.0 and later). Of several optimizers the one that steps most counts, as
of several jitted functions in JAX. The collector for CUDA takes it from here: it tells the agent, and marks the steps in the profile as
ranges of NVTX named "AdamW step 151". Where that collector is not in the process, nothing is counted.

torch.profiler takes CUPTI when it is first used, and does without it for good where another one has it then. So a window ends before.
"""
import ctypes
import os

TRIES = 20                      # steps in which the collector for CUDA must have come


def _collector(home):
    """The collector for CUDA, where the driver has loaded it; else OSError."""
    return ctypes.CDLL(os.path.join(home, 'libidsprof_cuda.so'), mode=os.RTLD_NOLOAD | os.RTLD_NOW)


class Steps:
    def __init__(self, home):
        self.home = home
        self.tell = None
        self.tries = TRIES
        self.counts, self.furthest = {}, 0
        self.hook = None

    def find(self):
        try:
            self.tell = _collector(self.home).ids_cuda_step
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


def follow_profiler(home, module):
    """`module` is torch.autograd.profiler, whose names are what both of torch's profilers call."""
    prepare, enable, disable = (getattr(module, name, None) for name in ('_prepare_profiler', '_enable_profiler', '_disable_profiler'))
    if not (prepare and enable and disable):
        return
    is_theirs = False

    def tell(begins):
        nonlocal is_theirs
        try:
            if begins != is_theirs:
                is_theirs = begins
                _collector(home).ids_cuda_program_profiles(int(begins))
        except Exception:               # no such collector: nothing is in the way
            pass

    def is_of_cuda(activities):
        return any(str(activity).endswith('CUDA') for activity in activities or ())

    def prepare_profiler(config, activities, *rest):
        if is_of_cuda(activities):
            tell(True)
        return prepare(config, activities, *rest)

    def enable_profiler(config, activities, *rest):
        if is_of_cuda(activities):
            tell(True)
        return enable(config, activities, *rest)

    def disable_profiler():
        try:
            return disable()
        finally:
            tell(False)

    module._prepare_profiler, module._enable_profiler, module._disable_profiler = prepare_profiler, enable_profiler, disable_profiler
