"""run_scaled.py TEST [ARG...]: runs a test in Python with the limits that it gives its programs, in seconds of an idle machine, times
IDS_TIME_FACTOR. On a loaded machine only a hang may be an end; how much a test works is limited in CPU time (run_one.sh)."""
import inspect
import os
import runpy
import subprocess
import sys

FACTOR = float(os.environ.get('IDS_TIME_FACTOR', '1'))


def scaled(method):
    """The method whose argument `timeout`, also by its place, is times the factor."""
    signature = inspect.signature(method)

    def call(*arguments, **keywords):
        bound = signature.bind(*arguments, **keywords)
        if bound.arguments.get('timeout') is not None:
            bound.arguments['timeout'] *= FACTOR
        return method(*bound.args, **bound.kwargs)
    return call


subprocess.Popen.communicate = scaled(subprocess.Popen.communicate)
subprocess.Popen.wait = scaled(subprocess.Popen.wait)
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name='__main__')
