"""idsprof - profiles read from Python, and windows that a notebook or a script opens itself.

    import idsprof
    idsprof.report('profiles/run_a')                        # what `idsprof report --json` says, as a dict
    idsprof.query('profiles/run_a', 'SELECT ...')           # rows as dicts, or into='pandas', 'arrow'
    with idsprof.open('profiles/run_a') as run: ...         # several questions to one run

Nothing of the rest is needed for `idsprof capture`:

    import idsprof
    with idsprof.capture('evaluate') as run:    # records the block
        evaluate(state)
    run.report()                                # what `idsprof report` says of it

    idsprof.trigger(); ...; idsprof.stop()      # the same in two calls

    %load_ext idsprof                           # in IPython and Jupyter
    %%idsprof evaluate                          # records a cell, and reports on it

Where the process runs under `idsprof capture` (best with --trigger), its agent records, over the socket that `idsprof trigger` uses: then the
window holds what any window does, and lies in the folder of the capture. Elsewhere jax.profiler records, into profiles/NAME_<time>. Which it
was, and why, is said on standard error.
"""
import atexit
import builtins
import json
import numbers
import os
import shutil
import socket
import subprocess
import sys
import time

OPEN_SECONDS, CLOSE_SECONDS, POLL_SECONDS, ANSWER_SECONDS = 10, 120, 0.01, 5
__path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '_idsprof', 'modules')]    # idsprof.lake lies there
NOT_CAPTURED = "this process was not started under 'idsprof capture'"


class Unavailable(Exception):
    """Why nothing can be recorded."""


def _say(text):
    print('idsprof: ' + text, file=sys.stderr)


def _shown(path):
    relative = os.path.relpath(path)
    return path if relative.startswith('..') else relative


# --- the agent of `idsprof capture` -----------------------------------------------------------------------------------

def _own_lines():
    """What this process's agent has said, oldest first."""
    folder = os.path.join(os.environ['IDSPROF_SESSION'], '.idsprof')
    end, lines = '.%d.hello' % os.getpid(), []
    for name in os.listdir(folder):
        if name.endswith(end):
            with builtins.open(os.path.join(folder, name), encoding='utf-8', errors='replace') as file:
                for line in file:
                    try:
                        lines.append(json.loads(line))
                    except ValueError:          # one that is just being written
                        pass
    return lines


class _Agent:
    def __init__(self):
        if not os.environ.get('IDSPROF_SESSION'):
            raise Unavailable(NOT_CAPTURED)
        import jax                              # the agent comes with it  # noqa: F401
        try:
            lines = _own_lines()
        except OSError as error:
            raise Unavailable('the folder of the capture cannot be read (%s)' % error.strerror) from None
        self.path = next((line['socket'] for line in reversed(lines) if line.get('socket')), None)
        if not self.path:
            raise Unavailable('the agent of idsprof capture does not run in this process')

    def ask(self, request):
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(ANSWER_SECONDS)
                connection.connect(self.path)
                connection.sendall(request.encode() + b'\n')
                answer = b''
                while not answer.endswith(b'\n'):
                    more = connection.recv(4096)
                    if not more:
                        break
                    answer += more
            return json.loads(answer)
        except (OSError, ValueError) as error:
            raise Unavailable('the agent of idsprof capture does not answer (%s)' % error) from None

    def wait(self, seconds, *states):
        """Until it is in none of these states any more."""
        until = time.monotonic() + seconds
        while True:
            status = self.ask('who')
            if status.get('state') not in states or time.monotonic() > until:
                return status
            time.sleep(POLL_SECONDS)

    def start(self, steps, seconds, name):
        status = self.ask('start steps=%d;duration_ns=%d;block=1;name=%s' % (steps, int(seconds * 1e9), name))
        if status.get('ok') and self.wait(OPEN_SECONDS, 'opening').get('state') != 'open':
            status = self.ask('start')          # an agent that knows no wishes
        if not status.get('ok'):
            raise Unavailable(status.get('why') or 'it gives no reason')
        self.window = status.get('window')
        if self.wait(OPEN_SECONDS, 'opening').get('opened') != self.window:
            raise Unavailable('its window did not open; idsprof capture says why when the program ends')

    def stop(self):
        """The file of the window; None where it was lost."""
        status = self.ask('stop')
        self.ended_early = not status.get('ok')
        self.wait(CLOSE_SECONDS, 'closing', 'opening')
        for line in _own_lines():
            if line.get('window') == self.window and line.get('event') == 'written':
                if self.ended_early:
                    _say('the window ended before the block did (by %s)' % line.get('by'))
                return os.path.join(os.environ['IDSPROF_SESSION'], line['path'])
        return None


# --- jax.profiler, where there is no agent ----------------------------------------------------------------------------

class _Profiler:
    def start(self, steps, seconds, name):
        try:
            import jax
        except ImportError as error:
            raise Unavailable('there is no jax (%s)' % error) from None
        if steps or seconds:
            _say('steps and seconds are for windows of idsprof capture: the whole block is recorded')
        base = os.path.join(os.environ.get('PROFILE_DIR') or 'profiles', '%s_%s' % (name, time.strftime('%Y%m%d_%H%M%S')))
        self.folder, number = base, 1
        while os.path.exists(self.folder):
            number += 1
            self.folder = '%s_%d' % (base, number)
        try:
            jax.profiler.start_trace(self.folder)
        except (RuntimeError, OSError) as error:
            raise Unavailable('jax.profiler does not start (%s)' % error) from None

    def stop(self):
        import jax
        try:
            jax.profiler.stop_trace()
        except (RuntimeError, OSError):
            return None
        return self.folder


# --- what programs use ------------------------------------------------------------------------------------------------

def _number(value, what, kind):
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError('idsprof: %s must be a number, not %s' % (what, type(value).__name__))
    if not 0 <= value < float('inf'):
        raise ValueError('idsprof: %s must be 0 (no limit) or more, not %s' % (what, value))
    return value


def _plain(name):
    """A name that can be one of a folder."""
    if not isinstance(name, str):
        raise TypeError('idsprof: the name of a window must be text, not %s' % type(name).__name__)
    kept = ''.join(letter if letter.isalnum() and letter.isascii() or letter in '._-' else '_' for letter in name)
    return kept.lstrip('.')[:60] or 'notebook'


class capture:
    """Records a block: `with idsprof.capture('name') as run`. run.path is the profile afterwards, None where there is none."""

    _open = None                        # the one that records: windows do not nest

    def __init__(self, name='notebook', steps=0, seconds=0):
        self.name, self.steps = _plain(name), _number(steps, 'steps', numbers.Integral)
        self.seconds = _number(seconds, 'seconds', numbers.Real)
        self.path = self._by = self._region = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def start(self):
        """Begins to record. False, with the reason on standard error, where that cannot be done: the program goes on."""
        if capture._open is not None:
            _say('nothing is recorded: a window is open already (%s)' % capture._open.name)
            return False
        try:
            self._choose()
        except Unavailable as error:
            _say('nothing is recorded: %s' % error)
            return False
        capture._open = self
        self._region = sys.modules['jax'].profiler.TraceAnnotation(self.name, idsprof_block=1)
        self._region.__enter__()
        return True

    def _choose(self):
        try:
            self._by, self.by = _Agent(), 'the agent of idsprof capture'
            self._by.start(self.steps, self.seconds, self.name)
        except Unavailable as error:
            if 'is open already' in str(error):
                raise
            self._by, self.by = _Profiler(), 'jax.profiler: %s' % error
            self._by.start(self.steps, self.seconds, self.name)

    def stop(self):
        """Ends the window, and says where it is."""
        if capture._open is not self:
            return
        capture._open = None
        counting = getattr(sys.modules.get('_idsprof.idsprof_executions'), 'Executions', None)
        if counting and counting.now:
            counting.now.end_block()            # the last step of the block, which no other one ends
        self._region.__exit__(None, None, None)
        try:
            self.path = self._by.stop()
        except Unavailable as error:
            _say('the window is lost: %s' % error)
            return
        if self.path is None:
            _say('the window is lost (%s)' % self.by)
        else:
            _say('recorded by %s; idsprof report %s' % (self.by, _shown(self.path)))

    def report(self, *options):
        """Prints what `idsprof report` says of the window."""
        program = _program()
        if self.path is None:
            _say('there is no window to report on')
        elif program is None:
            _say("there is no 'idsprof' on PATH; run: idsprof report %s" % _shown(self.path))
        else:
            done = subprocess.run([program, 'report', *options, self.path], capture_output=True, text=True)
            print(done.stdout + done.stderr, end='')


def _program():
    home = os.environ.get('IDSPROF_HOME') or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for place in ('../../idsprof', '../../bin/idsprof'):        # the build tree's; the installed one
        path = os.path.normpath(os.path.join(home, place))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which('idsprof')


def trigger(name='notebook', steps=0, seconds=0):
    """Opens a window, as `idsprof trigger` does from outside; stop() ends it, or the end of the program. What it returns is as of capture()."""
    window = capture(name, steps, seconds)
    if window.start():
        atexit.register(window.stop)
    return window


def stop():
    """Ends the window that trigger() opened."""
    if capture._open is None:
        _say('no window is open')
    else:
        capture._open.stop()


# --- profiles, read ---------------------------------------------------------------------------------------------------

def open(path, *, run=None, cache=True, note=None, sql_seconds=60.0):  # noqa: A001: as gzip.open() and wave.open() are called
    """The run of a profile, of a folder or archive of profiles, or of a database that `idsprof import` wrote.

    run: its name where there are several (else the newest); cache=False: read it anew; note: is called with each line about what was
    left out; sql_seconds: CPU time that one statement may take, 0 for any. Raises idsprof.Error, which says what, where and why.
    """
    from _idsprof.idsprof_engine import Run
    return Run(path, run, cache, note, sql_seconds)


def report(path, **options):
    """What `idsprof report --json` prints of a run, as a dict. Options as of open()."""
    with open(path, **options) as opened:
        return opened.report()


def query(path, sql, into='dicts', **options):
    """The rows that one statement gives over the run's events (idsprof-schema(5)): dicts, or into='pandas', 'arrow'."""
    with open(path, **options) as opened:
        return opened.query(sql, into)


def __getattr__(name):
    if name == 'Error':
        from _idsprof.idsprof_engine import Error
        return Error
    if name == '__version__':
        from _idsprof.idsprof_engine import library
        return library().idsprof_version().decode()
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


# --- IPython and Jupyter ----------------------------------------------------------------------------------------------

def _usage_error():
    """IPython shows its own kind without a traceback."""
    return getattr(sys.modules.get('IPython.core.error'), 'UsageError', ValueError)


def _silenced(shell, code):
    """Where it ends in a semicolon, its value is not shown: IPython looks for that in the text of the cell around it alone."""
    ends_so = getattr(shell.displayhook, 'semicolon_at_end_of_expression', None)
    return code + '\nNone' if ends_so and not code.lstrip().startswith('%%') and ends_so(code) else code


def _at_its_lines(cell):
    """Its lines count from that of the magic. A magic of its own has to come first."""
    return cell if cell.lstrip().startswith('%%') else '# %%idsprof\n' + cell


def _fail_too(shell, result):
    """Raises what ended a cell: what runs the notebook stops there. The cell has shown it, so the cell around it does not show it again."""
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return
    show = shell.showtraceback

    def show_others(*options, **named):
        vars(shell).pop('showtraceback', None)
        if sys.exc_info()[1] is not error:
            show(*options, **named)
    shell.showtraceback = show_others
    raise error


def load_ipython_extension(shell):
    """%load_ext idsprof"""
    def idsprof(line, cell=None):
        """%%idsprof [-q] [NAME] records the cell, and %idsprof STATEMENT a statement; then the report is printed (-q: not)."""
        words = line.split() if cell is not None else []
        quiet = '-q' in words
        words = [word for word in words if word != '-q']
        unknown = next((word for word in words if word.startswith('-')), None)
        if unknown or len(words) > 1:
            raise _usage_error()('%s; usage: %%%%idsprof [-q] [NAME]' % (
                'there is no option %s' % unknown if unknown else 'a window has one name, not %d' % len(words)))
        code = _silenced(shell, line if cell is None else _at_its_lines(cell))
        with capture(words[0] if words else 'notebook') as run:
            result = shell.run_cell(code)
        if run.path and not quiet:
            run.report()
        _fail_too(shell, result)
    idsprof._ipython_magic_no_var_expand = True     # as %time's: a statement with braces is the statement itself
    shell.register_magic_function(idsprof, 'line_cell', 'idsprof')


def unload_ipython_extension(shell):
    for kind in shell.magics_manager.magics.values():
        kind.pop('idsprof', None)
