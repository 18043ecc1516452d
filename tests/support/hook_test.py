"""For tests of the hook's parts (collectors/python/_idsprof) without jax: a stand-in of jaxlib's TraceMe that notes names and ends, and a
count of what failed. Environment: IDS_SOURCE_DIR."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(os.environ['IDS_SOURCE_DIR']) / 'collectors/python'))
noted, failed = [], []


class Profiler:
    class TraceMe:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            noted.append(self.name)

        def __exit__(self, *exception):
            noted.append('end')


def check(what, is_right, found=None):
    if not is_right:
        failed.append(what)
    print('%s %s%s' % ('ok  ' if is_right else 'FAIL', what, '' if is_right else ': %s' % (found,)))
