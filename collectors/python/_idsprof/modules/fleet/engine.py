"""Jobs on this machine, or on workers of Dask: as many at once as there are workers, and again what may succeed in another try."""
import concurrent.futures
import contextlib
import functools
import itertools
import os
import re
import socket
import sys
import threading
import time

from idsprof.fleet import program
from idsprof.fleet.errors import Error, needed, reason
from idsprof.fleet.work import Answer

AT_ONCE = 500           # jobs that Dask knows of: their answers wait in workers' memory
END_SECONDS = 3         # for what is at work when the command is ended
SECONDS = 15            # for a scheduler to answer


class Progress:
    """A line on a terminal; nothing otherwise."""

    def __init__(self, what, total, stream=None):
        self.stream = stream or sys.stderr
        self.what, self.total, self.done, self.failed = what, total, 0, 0
        self.is_shown = self.stream.isatty() and total > 0
        self.show()

    def step(self, failed=0):
        self.done += 1
        self.failed += failed
        self.show()

    def show(self):
        if self.is_shown:
            filled = 20 * self.done // self.total
            self.stream.write('\r\033[Kidsprof: fleet: [%s%s] %d of %d %s%s' % (
                '#' * filled, ' ' * (20 - filled), self.done, self.total, self.what, ', %d failed' % self.failed if self.failed else ''))
            self.stream.flush()

    def end(self):
        if self.is_shown:
            self.stream.write('\r\033[K')
            self.stream.flush()


# --- on this machine ----------------------------------------------------------------------------------------------------

def processes_of(processes, jobs):
    """How many processes of the program run at once."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1
    return max(1, min(jobs, processes or cores))


@contextlib.contextmanager
def threads(count):
    """Threads that each run the program, and a folder for what they write. The work is done by the program's processes, so no worker of
    Python's is needed, and nothing listens. What ends this block early ends those processes; a store that does not answer is not waited for."""
    going = set()
    pool = concurrent.futures.ThreadPoolExecutor(count, initializer=program.belong, initargs=(going,))
    with program.folder() as scratch:
        try:
            yield pool, scratch
            pool.shutdown()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            ending = threading.Thread(target=pool.shutdown, daemon=True)
            ending.start()
            until = time.monotonic() + END_SECONDS
            while ending.is_alive() and time.monotonic() < until:       # some begin another while they are ended
                program.end(going)
                ending.join(0.05)
            raise


def run_here(function, jobs, processes, retries, progress, take):
    """As run(), by processes of this machine."""
    count = processes_of(processes, len(jobs))
    with threads(count) as (pool, scratch):
        def tried(job):
            for _ in range(retries + 1):
                answer = function({**job, 'scratch': scratch})
                if answer.ok or not answer.again:
                    break
            return job, answer
        waiting = iter(jobs)
        going = {pool.submit(tried, job) for job in itertools.islice(waiting, 2 * count)}
        while going:
            ended, going = concurrent.futures.wait(going, return_when=concurrent.futures.FIRST_COMPLETED)
            for job, answer in (future.result() for future in ended):
                progress.step(failed=int(not answer.ok))
                take(job, answer)
            going.update(pool.submit(tried, job) for job in itertools.islice(waiting, len(ended)))


# --- on workers of Dask -------------------------------------------------------------------------------------------------

def check_address(scheduler):
    """Its host and port; None where it has none. An address of another form is an error."""
    found = re.fullmatch(r'(?:(tcp|tls|ucx|ucxx|ws|wss)://)?(\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):(\d{1,5})(?:/\S*)?', scheduler)
    if found and 0 < int(found[3]) < 65536:
        return found[2].strip('[]'), int(found[3])
    if scheduler.startswith('inproc://'):
        return None
    raise Error("'%s' is no address of a scheduler of Dask: give one like tcp://head:8786 (tcp, tls, ucx, ws, wss)" % scheduler)


def _greet(place, is_plain):
    """Raises where nobody listens, or what listens is no Dask, which begins to talk by itself: a client would hang there."""
    with socket.create_connection(place, timeout=SECONDS) as connection:
        if is_plain and not connection.recv(1):
            raise OSError('it ended the connection')


def _connected(distributed, scheduler):
    """A client of the scheduler. Dask would try again for 30 seconds where nobody listens, and a client that fails for 60 more."""
    place = check_address(scheduler)
    try:
        if place:
            _greet(place, is_plain='://' not in scheduler or scheduler.startswith('tcp://'))
        opened = distributed.Client(scheduler, timeout=SECONDS, set_as_default=False, asynchronous=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise Error("no scheduler of Dask answers at '%s' (%s)" % (scheduler, reason(error))) from None
    return opened


@contextlib.contextmanager
def client_of(client, scheduler):
    """A client of Dask: the one that is given, or one of the scheduler at an address."""
    distributed = needed('distributed')
    if client is not None:
        yield client
        return
    opened = _connected(distributed, scheduler)
    with opened:
        if not opened.scheduler_info()['workers']:
            print("idsprof: fleet: '%s' has no worker yet; waiting for one" % scheduler, file=sys.stderr)
        yield opened


def _answer(job, future):
    """What a job gave, and whether its worker died."""
    try:
        return future.result(), False
    except Exception as error:
        if type(error).__name__ == 'KilledWorker':
            return Answer(job['key'], why='the worker that read it died, each time: it may want more memory than a worker has'), True
        if isinstance(error, ImportError):
            return Answer(job['key'], why="a worker cannot load idsprof.fleet (%s): pip install 'idsprof[fleet]' there" % error), False
        return Answer(job['key'], why=reason(error)), False


CARRIER = '''def call(module, name, job):
    import importlib
    return getattr(importlib.import_module(module), name)(job)
'''


def carried(function):
    """The function as workers get it: by its name, which they look for when they call it. As a function of a module it would end workers (and
    schedulers) that lack the module; what is of __main__ goes there as code."""
    space = {'__name__': '__main__'}
    exec(CARRIER, space)
    return functools.partial(space['call'], function.__module__, function.__name__)


class _Jobs:
    """Jobs that wait, run, and are tried again. What was at work on a worker that died may have killed it, or stood beside: such jobs are
    tried again alone, when all others have ended, and only a death that they died alone counts against them."""

    def __init__(self, function, jobs, client, retries):
        self.function, self.client, self.retries = carried(function), client, retries
        self.waiting, self.suspects, self.running, self.tries = list(reversed(jobs)), [], {}, {}
        self.alone = None
        self.going = needed('distributed').as_completed([], loop=client.loop)

    def submit(self):
        while self.waiting and len(self.running) < AT_ONCE:
            self._send(self.waiting.pop())
        if self.suspects and not self.running:
            self.alone = self.suspects[-1]['key']
            self._send(self.suspects.pop())

    def _send(self, job):
        self.tries[job['key']] = self.tries.get(job['key'], 0) + 1
        future = self.client.submit(self.function, job, pure=False, key='idsprof-%s-%s' % (job['key'], os.urandom(8).hex()))
        self.running[future.key] = job
        self.going.add(future)

    def next(self):
        """A job and its answer; None for one that is tried again."""
        future = next(self.going)
        if future.status not in ('finished', 'error', 'cancelled'):     # its worker died after the work; Dask does it again
            self.going.add(future)
            return None
        job = self.running.pop(future.key)
        answer, is_killed = _answer(job, future)
        future.release()
        was_alone, self.alone = self.alone == job['key'], None
        if is_killed and not was_alone:
            self.tries[job['key']] -= 1
            self.suspects.append(job)
        elif is_killed and self.tries[job['key']] <= max(1, self.retries):
            self.suspects.append(job)
        elif answer.again and self.tries[job['key']] <= self.retries:
            self.waiting.append(job)
        else:
            return job, answer
        return None


def run(function, jobs, client, retries, progress, take):
    """Calls take(job, answer) for each job, in the order in which they end."""
    going = _Jobs(function, jobs, client, retries)
    going.submit()
    while going.running:
        ended = going.next()
        if ended:
            progress.step(failed=int(not ended[1].ok))
            take(*ended)
        going.submit()
