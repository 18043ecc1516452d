"""The engine behind `import idsprof`: libidsprof through its public header (include/idsprof.h), by ctypes.

Imported at the first idsprof.report() or idsprof.query(); windows of notebooks do not need it. Python 3.9 and later.
"""
import ctypes
import json
import os

NAME = 'libidsprof.so.0'
NULL, INTEGER, REAL, TEXT, BLOB = range(5)  # enum idsprof_type


class Error(Exception):
    """What failed, where and why; code is one of enum idsprof_code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class _CError(ctypes.Structure):
    _fields_ = [('code', ctypes.c_int), ('text', ctypes.c_char * 512)]


_Words = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _Options(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('run', ctypes.c_char_p), ('no_cache', ctypes.c_int), ('progress', _Words), ('note', _Words),
                ('own', ctypes.c_void_p), ('sql_limit_ms', ctypes.c_int64)]


class _Value(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('integer', ctypes.c_int64), ('real', ctypes.c_double), ('bytes', ctypes.c_void_p),
                ('length', ctypes.c_size_t)]


# --- the library -------------------------------------------------------------------------------------------------------

def _places():
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.environ.get('IDSPROF_LIBRARY')
    yield os.path.join(here, NAME)                          # the wheel's
    home = os.environ.get('IDSPROF_HOME') or os.path.dirname(os.path.dirname(here))     # not by "..": it may be a link
    yield os.path.join(os.path.dirname(home), NAME)         # installed: lib/idsprof
    yield os.path.join(os.path.dirname(os.path.dirname(home)), NAME)    # the build tree's
    yield NAME                                              # where the system looks


def _declare(library):
    pointer, text, error = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_CError)
    for name, result, *arguments in (
            ('idsprof_version', text),
            ('idsprof_open', ctypes.c_int, text, ctypes.POINTER(_Options), ctypes.POINTER(pointer), error),
            ('idsprof_report_json', ctypes.c_int, pointer, ctypes.POINTER(text), error),
            ('idsprof_query_open', ctypes.c_int, pointer, text, ctypes.POINTER(pointer), error),
            ('idsprof_close', None, pointer),
            ('idsprof_query_columns', ctypes.c_int, pointer),
            ('idsprof_query_column', text, pointer, ctypes.c_int),
            ('idsprof_query_next', ctypes.c_int, pointer, error),
            ('idsprof_query_value', _Value, pointer, ctypes.c_int),
            ('idsprof_query_close', None, pointer)):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _load():
    tried = []
    for place in _places():
        if not place or (os.sep in place and not os.path.exists(place)):
            continue
        try:
            return _declare(ctypes.CDLL(place))
        except (OSError, AttributeError) as error:
            tried.append('%s (%s)' % (place, error))
    raise ImportError('idsprof: there is no %s beside this module or the program; tried %s; IDSPROF_LIBRARY names one' %
                      (NAME, ', '.join(tried) or 'nothing'))


_library = None


def library():
    global _library
    if _library is None:
        _library = _load()
    return _library


# --- runs --------------------------------------------------------------------------------------------------------------

def _text(text, what):
    """As C takes it: a NUL in the middle would cut it silently."""
    data = os.fsencode(text) if what == 'path' else text.encode()
    if b'\0' in data:
        raise ValueError('idsprof: a NUL in the %s' % what)
    return data


def _check(code, error):
    if code < 0:
        raise Error(code, error.text.decode('utf-8', 'replace'))
    return code


class Run:
    """A run of a profile: `with idsprof.open(path) as run: run.report(), run.query(sql)`."""

    def __init__(self, path, run=None, cache=True, note=None, sql_seconds=60.0):
        self._handle = ctypes.c_void_p()
        self._close = library().idsprof_close       # at Python's end, names of modules may be gone
        self._note = _Words(lambda _, text: note(text.decode('utf-8', 'replace'))) if note else _Words()
        if sql_seconds is not None and sql_seconds < 0:
            raise ValueError('idsprof: sql_seconds must be 0 (no limit) or more, not %s' % sql_seconds)
        options = _Options(size=ctypes.sizeof(_Options), run=_text(run, 'name of the run') if run else None, no_cache=not cache, note=self._note,
                           sql_limit_ms=int(sql_seconds * 1000) if sql_seconds else -1)
        error = _CError()
        _check(library().idsprof_open(_text(path, 'path'), ctypes.byref(options), ctypes.byref(self._handle), ctypes.byref(error)), error)

    def _open(self):
        if not self._handle:
            raise ValueError('idsprof: the run is closed')
        return self._handle

    def report(self):
        """What `idsprof report --json` prints, as a dict."""
        text, error = ctypes.c_char_p(), _CError()
        _check(library().idsprof_report_json(self._open(), ctypes.byref(text), ctypes.byref(error)), error)
        return json.loads(text.value)

    def rows(self, sql):
        """The names of the columns, and the rows as tuples."""
        query, error = ctypes.c_void_p(), _CError()
        _check(library().idsprof_query_open(self._open(), _text(sql, 'statement'), ctypes.byref(query), ctypes.byref(error)), error)
        try:
            columns = range(library().idsprof_query_columns(query))
            rows = []
            while _check(library().idsprof_query_next(query, ctypes.byref(error)), error):
                rows.append(tuple(_python(library().idsprof_query_value(query, column)) for column in columns))
            return [library().idsprof_query_column(query, column).decode('utf-8', 'replace') for column in columns], rows
        finally:
            library().idsprof_query_close(query)

    def query(self, sql, into='dicts'):
        names, rows = self.rows(sql)
        return _CONTAINERS[_known(into)](names, rows)

    def close(self):
        handle, self._handle = self._handle, None
        if handle:
            self._close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    __del__ = close


def _python(value):
    if value.type == INTEGER:
        return value.integer
    if value.type == REAL:
        return value.real
    if value.type == NULL:
        return None
    data = ctypes.string_at(value.bytes, value.length) if value.length else b''
    return data.decode('utf-8', 'replace') if value.type == TEXT else data


# --- what rows are put into --------------------------------------------------------------------------------------------

def _dicts(names, rows):
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError('idsprof: two columns are called %r: name one with AS, or take rows()' % twice)
    return [dict(zip(names, row)) for row in rows]


def _pandas(names, rows):
    import pandas
    return pandas.DataFrame.from_records(rows, columns=names)


def _arrow(names, rows):
    import pyarrow
    return pyarrow.table([pyarrow.array(column) for column in zip(*rows)] or [[] for _ in names], names=names)


_CONTAINERS = {'dicts': _dicts, 'pandas': _pandas, 'arrow': _arrow}


def _known(into):
    if into not in _CONTAINERS:
        raise ValueError('idsprof: into must be one of %s, not %r' % (', '.join(_CONTAINERS), into))
    return into
