"""Where partials and reports are kept, a folder of any file system of fsspec: what was read once is not read again.

A name is KEY.CHECK.KIND: the key stands for what it was made of, the check for its content. What does not match its check is not there.
"""
import contextlib
import hashlib
import os
import uuid

from idsprof.fleet.errors import Error, needed, reason


def key_of(*texts):
    return hashlib.sha256('\0'.join(texts).encode('utf-8', 'surrogateescape')).hexdigest()[:32]


def default():
    return os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'idsprof-fleet')


class Store:
    def __init__(self, url):
        self.url = url
        try:
            self.fs, self.folder = needed('fsspec.core').url_to_fs(url if '://' in url else os.path.abspath(url))
            self.is_local = '://' not in url or url.startswith('file://')
            if self.is_local:
                os.makedirs(self.folder, exist_ok=True)
            self.names = self._list()
        except Exception as error:
            if isinstance(error, Error):
                raise
            raise self._failed(error) from None

    def _list(self):
        try:
            listed = self.fs.ls(self.folder, detail=False, refresh=True) if not self.is_local else os.listdir(self.folder)
        except FileNotFoundError:
            return {}
        names = {}
        for path in listed:
            parts = path.rstrip('/').rsplit('/', 1)[-1].split('.')
            if len(parts) == 3:
                names[parts[0], parts[2]] = parts[1]
        return names

    def has(self, key, kind):
        return (key, kind) in self.names

    def _path(self, key, kind):
        return '%s/%s.%s.%s' % (self.folder.rstrip('/'), key, self.names[key, kind], kind)

    def get(self, key, kind):
        """The bytes; None where they are not there, or damaged."""
        if not self.has(key, kind):
            return None
        path, content = self._path(key, kind), None
        with contextlib.suppress(Exception):    # it was removed meanwhile, or the store does not answer: it is made again
            content = self.fs.cat_file(path)
            if hashlib.sha256(content).hexdigest()[:16] == self.names[key, kind]:
                return content
            self.fs.rm_file(path)
        del self.names[key, kind]
        return None

    def forget(self, key, kind):
        self.names.pop((key, kind), None)

    def put(self, key, kind, content):
        """Whole or not at all: a store of objects does so by itself, on a disk by a rename."""
        self.names[key, kind] = hashlib.sha256(content).hexdigest()[:16]
        try:
            self._write(self._path(key, kind), content)
        except Exception as error:
            del self.names[key, kind]
            raise self._failed(error) from None

    def _failed(self, error):
        return Error("the partials cannot be kept in '%s' (%s): name another place with --cache" % (self.url, reason(error)))

    def _write(self, path, content):
        if not self.is_local:
            self.fs.pipe_file(path, content)
            return
        other = os.path.join(self.folder, '.' + uuid.uuid4().hex)
        try:
            with open(other, 'wb') as file:
                file.write(content)
            os.replace(other, path)
        except OSError:
            if os.path.exists(other):
                os.unlink(other)
            raise
