"""Which files there are at URLs, and which of them are one run.

`idsprof list` decides what a run is, by the names of files. Here it looks at stand-ins: empty files of the same names in a folder of this
machine. So a bucket is only listed, and nothing of it is read.
"""
import collections
import dataclasses
import gzip
import json
import os
import re
import urllib.parse

from idsprof import lake
from idsprof.fleet import program
from idsprof.fleet.errors import Error, needed, reason

ENDINGS = ('.xplane.pb', '.xplane.pb.gz', '.json', '.json.gz', '.idspart')  # what `idsprof list` looks for (api.fleet holds it against that)
NAMED = re.compile(r'(?:(?:\.xplane\.pb|(?<!\.pt)\.trace\.json)(?:\.gz)?|\.idspart)$')     # of these, the endings that say what a file is
BESIDE = '.memory.prof'     # what lies beside such files and belongs to their run
ARCHIVE = re.compile(r'\.(?:tar|tgz|txz|tzst|zip|tar\.[a-z0-9]+)$')
MAGIC = re.compile(r'[*?[]')
A_TRACE = b'{"traceEvents":[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a stand-in"}]}'
STAMPS = ('etag', 'ETag', 'generation', 'md5Hash', 'mtime', 'LastModified', 'last_modified', 'updated', 'modified', 'created', 'ino')


@dataclasses.dataclass(frozen=True)
class File:
    url: str            # as fsspec takes it; a path where it is of this machine
    size: int           # bytes; None: the store does not say
    stamp: str          # stands for its content: etag, time, generation; '' where the store has none: it is read each time
    is_generic: bool    # by its name any program may have written it: if it is no profile, that is no failure

    @property
    def name(self):
        return self.url.rstrip('/').rsplit('/', 1)[-1]


@dataclasses.dataclass
class Run:
    name: str           # the part of the path by which the runs differ
    url: str            # of its folder, or of its file
    files: list         # File, one a host
    beside: list        # File, of no host


@dataclasses.dataclass
class Found:
    runs: list = dataclasses.field(default_factory=list)
    passed: list = dataclasses.field(default_factory=list)      # (URL, why): looked at and not taken
    failed: list = dataclasses.field(default_factory=list)      # (URL, why): asked for, and not there


# --- listing ------------------------------------------------------------------------------------------------------------

def _entry(fs, info):
    stamp = ' '.join('%s=%s' % (key, info[key]) for key in STAMPS if info.get(key) is not None)
    url = info['name'] if '://' in info['name'] or _is_local(fs) else fs.unstrip_protocol(info['name'])
    return File(url, info.get('size'), stamp, info['name'].endswith(('.json', '.json.gz')) and not NAMED.search(info['name']))


def _protocols(fs):
    return [fs.protocol] if isinstance(fs.protocol, str) else fs.protocol


def _is_local(fs):
    return 'file' in _protocols(fs)


def _plain(fs, name):
    """A name as people write it: over http it is that of a URL."""
    return urllib.parse.unquote(name) if 'http' in _protocols(fs) else name


def _looks_named(path):
    return path.endswith((*ENDINGS, BESIDE))


def _is_file(fs, path):
    """Over http every page has a size, also one that lists a folder."""
    if 'http' in _protocols(fs):
        return _looks_named(path.split('?')[0])
    return fs.isfile(path)


def _below(fs, path):
    """What fsspec says of each file at or below a path."""
    found = fs.find(path, detail=True)
    if not found:
        fs.ls(path)         # raises what find() keeps to itself
    for info in found.values():
        if info.get('size') is None and _looks_named(info['name']):        # http's lists have names alone
            info.update({key: value for key, value in fs.info(info['name']).items() if key != 'name'})
    return list(found.values())


def _check_scheme(url):
    scheme = url.split('://', 1)[0] if '://' in url and '::' not in url else 'file'
    if scheme not in needed('fsspec').available_protocols():
        raise Error("there is no scheme '%s://' (a path, s3://, gs://, http://, https:// or another of fsspec: abfs, hdfs, sftp, webhdfs, ...)" %
                    scheme)


def _listed(url):
    """The folder that names are relative to, and what fsspec says of each file; and whether it is one that was named."""
    core = needed('fsspec.core')
    _check_scheme(url)
    fs, path = core.url_to_fs(os.path.abspath(url) if '://' not in url and '::' not in url else url)
    if MAGIC.search(path) and not fs.exists(path):
        base = path[:MAGIC.search(path).start()].rsplit('/', 1)[0]
        infos = []
        for info in fs.glob(path, detail=True).values():
            infos += _below(fs, info['name']) if info['type'] == 'directory' else [info]
        return fs, base, infos, False
    if _is_file(fs, path) or _is_local(fs) and os.path.lexists(path) and not os.path.isdir(path):     # a worker says what it is
        return fs, path.rsplit('/', 1)[0], [fs.info(path)], True
    return fs, path.rstrip('/'), _below(fs, path), False


# --- stand-ins ----------------------------------------------------------------------------------------------------------

def _is_sound(name):
    """Whether a file of a disk can be called so."""
    return name not in ('', '.', '..') and '\0' not in name and '/' not in name and len(name.encode('utf-8', 'surrogateescape')) <= 255


def _parts(fs, base, name):
    """Where a stand-in lies below its folder; None where no file of a disk can be called so."""
    parts = [_plain(fs, part) for part in name.removeprefix(base).removeprefix('/').split('/')]
    return parts if all(map(_is_sound, parts)) else None


def _stand_in(place, is_generic):
    try:
        file = open(place, 'wb')
    except FileNotFoundError:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        file = open(place, 'wb')
    with file:
        if is_generic:          # these `list` looks into
            file.write(gzip.compress(A_TRACE) if place.endswith('.gz') else A_TRACE)


class _StandIns:
    """A folder of stand-ins, and which file each stands for."""

    def __init__(self, scratch):
        self.scratch, self.of, self.roots, self.beside = scratch, {}, [], collections.defaultdict(list)

    def add(self, url, found):
        fs, base, infos, is_named = _listed(url)
        name = _plain(fs, base.rsplit('/', 1)[-1])
        root = os.path.join(self.scratch, str(len(self.roots)), name if _is_sound(name) else 'root')
        self.roots.append((root, url))
        os.makedirs(root)
        count = 0
        for info in infos:
            if info.get('type') == 'directory':
                continue
            file = _entry(fs, info)
            if not is_named and not _looks_named(info['name']):
                if ARCHIVE.search(info['name'].lower()):
                    found.passed.append((file.url, 'an archive: unpack it, or name it to idsprof report'))
                continue
            parts = _parts(fs, base, info['name'])
            try:
                if parts is None:
                    raise Error('no file of a disk can have this name')
                place = os.path.join(root, *parts)
                _stand_in(place, file.is_generic and not is_named)
            except (Error, OSError, ValueError) as error:
                found.passed.append((file.url, reason(error)))
                continue
            if is_named:
                file = dataclasses.replace(file, is_generic=False)
                self.roots[-1] = (place, url)
            if place.endswith(BESIDE):
                self.beside[os.path.dirname(place)].append(file)
            self.of[place] = file
            count += 1
        if not count:
            raise Error('no profile there (looked for *%s)' % ', *'.join(ENDINGS))


def _base_url(file, place, folder):
    """The URL of the folder of a run, from that of one of its files."""
    below = os.path.relpath(place, folder)
    return file.url if below == '.' else file.url.rsplit('/', below.count('/') + 1)[0].rstrip('/')


def _runs(stand_ins, found):
    status, output, said_there = program.run(['list', '--json', '--no-cache', *(root for root, _ in stand_ins.roots)])
    try:
        listing = json.loads(output)
    except ValueError:
        raise Error('idsprof list failed: %s' % lake.said(said_there)) from None
    taken = set()
    for run in listing['runs']:
        files = [place for place in run['files'] if place in stand_ins.of]
        key = frozenset(stand_ins.of[place].url for place in files)
        if not files or key in taken:       # named twice
            continue
        taken.add(key)
        found.runs.append(Run(run['name'], _base_url(stand_ins.of[files[0]], files[0], run['path']),
                              [stand_ins.of[place] for place in files],
                              stand_ins.beside[os.path.dirname(files[0])] if NAMED.search(files[0]) else []))
    for passed in listing['not_taken']:
        if passed['path'] in stand_ins.of:
            found.passed.append((stand_ins.of[passed['path']].url, passed['reason']))


def plain_url(url):
    return urllib.parse.unquote(url) if url.startswith(('http://', 'https://')) else url


def _name_apart(runs):
    """Runs of several operands may have one name; then the folders above tell them apart."""
    for depth in range(1, 12):
        twice = {name for name, count in collections.Counter(run.name for run in runs).items() if count > 1}
        if not twice:
            return
        for run in runs:
            parts = plain_url(run.url).split('://')[-1].rsplit('/plugins/profile/', 1)[0].rstrip('/').split('/')
            if run.name in twice and len(parts) > depth:
                run.name = '/'.join(parts[-depth - 1:])


def find(urls):
    """The runs at or below each URL. What is not there is in `failed`, and the rest is found."""
    found = Found()
    with program.folder() as scratch:
        stand_ins = _StandIns(os.path.realpath(scratch))
        for url in urls:
            try:
                stand_ins.add(url, found)
            except FileNotFoundError:
                found.failed.append((url, 'there is nothing of this name'))
            except Error as error:
                if 'pip install' in str(error):
                    raise
                found.failed.append((url, str(error)))
            except ImportError as error:    # fsspec says which package reads the protocol
                raise Error('%s: %s' % (url, str(error).splitlines()[0])) from None
            except Exception as error:      # each store has errors of its own
                found.failed.append((url, reason(error)))
        if stand_ins.of:
            _runs(stand_ins, found)
    _name_apart(found.runs)
    return found
