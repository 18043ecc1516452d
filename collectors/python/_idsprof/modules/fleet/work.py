"""What a worker does: it copies a file to its disk, and makes a partial of it. The answer is a value, never an exception, because
errors of stores do not all survive the way from process to process."""
import contextlib
import dataclasses
import json
import os
import re
import socket
import sqlite3
import stat
import tempfile

from idsprof import lake
from idsprof.fleet import program
from idsprof.fleet.errors import Error, needed, reason


@dataclasses.dataclass(frozen=True)
class Answer:
    """made: the bytes of the partial. Otherwise `why` says what failed, and `again` whether another try may help."""
    key: str
    made: bytes = None
    why: str = ''
    again: bool = False
    is_other: bool = False      # whole, but no profile
    lacks: tuple = ()           # (URL, why): files of a run that could not be read, beside those that could
    passes: bool = False        # some of `lacks` may be there the next time

    @property
    def ok(self):
        return self.made is not None or self.is_other


GONE = 'it was listed, and is not there any more'


class Changed(Exception):
    """The file is not what was listed."""


def is_local(url):
    return '://' not in url


def check_size(place, size):
    if os.path.islink(place) and not os.path.exists(place):
        raise Error('a link that leads nowhere')
    found = os.stat(place)
    if not stat.S_ISREG(found.st_mode):     # to open a FIFO would wait for ever
        raise Error('no file, but a FIFO, a socket or a device')
    got = found.st_size
    if size is not None and got != size:
        raise Changed('it has %d bytes, and %d were listed: it is still written, or the connection broke' % (got, size))


def copy(url, size, place):
    """A file of a store, on this machine: in one request, where open() would ask for a block at a time."""
    fs, path = needed('fsspec.core').url_to_fs(url)
    fs.get_file(path, place)
    check_size(place, size)


def _place(url):
    """What a copy is called: reports show it, and name runs and hosts by it."""
    parts = [part[:200] for part in url.split('://', 1)[1].split('?')[0].split('/')]
    return os.path.join(*(part if part not in ('', '.', '..') else '_' for part in parts))


def _copied(url, size, scratch):
    """Where the copy is, from `scratch` on."""
    place = _place(url)
    os.makedirs(os.path.dirname(os.path.join(scratch, place)), exist_ok=True)
    copy(url, size, os.path.join(scratch, place))
    return place


def _part(job, scratch):
    part = os.path.join(scratch, '.part')
    source = job['url']
    if is_local(source):
        check_size(source, job['size'])
    else:
        source = _copied(source, job['size'], scratch)
    status, _, words = program.run(['partial', source, '-o', part, '--jobs', '1'], folder=scratch)
    if status < 0:      # for want of memory, mostly; another worker may have more
        return Answer(job['key'], why="idsprof was ended by signal %d on %s" % (-status, socket.gethostname()), again=True)
    if status and lake.said(words, source).startswith('it is a partial already'):
        return _kept_part(job, os.path.join(scratch, source))
    if status:
        words = lake.said(words, source).replace(source, job['url'])
        return Answer(job['key'], why=words, is_other=job['is_generic'] and 'not a profile' in words)
    with open(part, 'rb') as file:
        return Answer(job['key'], made=file.read())


def _kept_part(job, source):
    """A file that is a partial, as it is."""
    _, output, _ = program.run(['list', '--json', '--no-cache', source])
    listed = json.loads(output)['runs']
    if not listed or listed[0]['state'] == 'unreadable':
        return Answer(job['key'], why=(listed[0]['reason'] if listed else '') or 'a partial that cannot be read')
    with open(source, 'rb') as file:
        return Answer(job['key'], made=file.read())


def _url_of(place, job):
    """The URL of a file that the program names by its place here, or the place."""
    return next((url for url, _ in job['files'] if place == (url.lstrip('/') if is_local(url) else _place(url))), place)


def _lacking(database, job):
    """(URL, why) of the files that the import could not read. The database then names them by their URLs."""
    lacks = []
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.text_factory = lambda text: text.decode('utf-8', 'replace')
        for row, text in connection.execute("SELECT rowid, text FROM diag WHERE id = 'run.unreadable'").fetchall():
            found = re.match("'(.*?)': (.*)", text, re.S)
            lacks.append((_url_of(found[1], job), found[2]) if found else (job['url'], text))
            connection.execute('UPDATE diag SET text = ? WHERE rowid = ?', ("'%s': %s" % lacks[-1], row))
        connection.commit()
    return tuple(lacks)


def _brought(url, size, scratch):
    """A file where the import looks for it."""
    if not is_local(url):
        _copied(url, size, scratch)
        return
    check_size(url, size)
    place = os.path.join(scratch, url.lstrip('/'))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.symlink(url, place)


def _rows(job, scratch):
    """A run whole: what its hosts did is told apart by each other, so it is imported by one worker."""
    absent = []
    for url, size in job['files']:
        try:
            _brought(url, size, scratch)
        except FileNotFoundError:
            absent.append((url, GONE))
        except (Error, PermissionError) as error:
            absent.append((url, reason(error)))
    if len(absent) == len(job['files']):
        return Answer(job['key'], why="'%s': %s" % absent[0])
    run = job['url'].lstrip('/') if is_local(job['url']) else _place(job['url'])
    database = os.path.join(scratch, '.run.db')
    status, _, words = program.run(['import', run, '-o', database, '--quiet', '--force'], folder=scratch)
    if status:
        return Answer(job['key'], why=re.sub("'(.*?)'", lambda found: "'%s'" % _url_of(found[1], job), lake.said(words, run)), again=status < 0)
    lacks = (*absent, *_lacking(database, job))
    try:
        return Answer(job['key'], made=lake.add_database(database, job['lake'], job['url'], job['url'])[0].encode(), lacks=lacks,
                      passes=bool(absent))
    except lake.Error as error:
        return Answer(job['key'], why=str(error))


def _do(function, job):
    try:
        if program.version() != job['version']:
            raise Error('%s has %s, and here is %s: install the same' % (socket.gethostname(), program.version(), job['version']))
        with tempfile.TemporaryDirectory(prefix='idsprof-fleet-', dir=job.get('scratch')) as scratch:
            return function(job, scratch)
    except FileNotFoundError:
        return Answer(job['key'], why=GONE)
    except PermissionError as error:
        return Answer(job['key'], why=reason(error))
    except Error as error:
        return Answer(job['key'], why=str(error))
    except Exception as error:      # each store has errors of its own: most pass
        return Answer(job['key'], why=reason(error), again=True)


def make_part(job):
    """The partial of one file."""
    return _do(_part, job)


def add_rows(job):
    """The rows of one run, in the lake. Answers with their key."""
    return _do(_rows, job)
