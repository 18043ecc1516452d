"""What fails, and what it needs."""
import importlib
import sys

NEEDED = "this needs %s: %s -m pip install 'idsprof[fleet]'"


class Error(Exception):
    """What failed, where, why, and what to do."""


def needed(module):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Error(NEEDED % (error.name or module, sys.executable)) from None


def reason(error):
    """One line that says why: some errors of stores have no text, or many lines of it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = type(error).__name__
    if not lines:
        return kind
    return lines[0] if isinstance(error, Error) else '%s: %s' % (kind, lines[0][:300])
