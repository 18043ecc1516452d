"""Asks a real PJRT plugin, through ctypes, what tests/live/test_pjrt_plugins.py wants to know. For a child process: a plugin may end it.

    pjrt_probe.py abi LIBRARY ENTRY...     the table's and profiler's sizes, and what each function says to a struct of size 0,
                                           which is the name of that struct and the size that it expects
    pjrt_probe.py session LIBRARY          Plugin_Initialize, then a session of its profiler: how many bytes it collected
Prints one JSON object.
"""
import ctypes
import json
import re
import sys
import time

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def words(*values):
    return (ctypes.c_size_t * len(values))(*values)


class Plugin:
    def __init__(self, path):
        library = ctypes.CDLL(path)
        library.GetPjrtApi.restype = ctypes.c_void_p
        self.at = library.GetPjrtApi()
        self.table = (ctypes.c_size_t * 256).from_address(self.at)
        self.version = list((ctypes.c_int * 2).from_address(self.at + 32))
        self.profiler = None
        at = self.table[1]
        while at:
            extension = (ctypes.c_size_t * 5).from_address(at)
            if ctypes.c_int.from_address(at + 8).value == 1 and not self.profiler:
                self.extension_size = extension[0]
                self.profiler = (ctypes.c_size_t * 10).from_address(extension[3])
            at = extension[2]

    @staticmethod
    def message(error, destroy, message):
        asked = words(40, 0, error, 0, 0)
        FUNCTION(message)(ctypes.addressof(asked))
        text = ctypes.string_at(asked[3], asked[4]).decode(errors='replace')
        FUNCTION(destroy)(ctypes.addressof(words(24, 0, error)))
        return text

    def call(self, entry, arguments):
        error = FUNCTION(self.table[5 + entry])(ctypes.addressof(arguments))
        return self.message(error, self.table[5], self.table[6]) if error else None

    def profile(self, function, arguments):
        error = FUNCTION(self.profiler[function])(ctypes.addressof(arguments))
        if error:
            raise RuntimeError(self.message(error, self.profiler[2], self.profiler[3]))


def abi(path, entries):
    plugin = Plugin(path)
    found = {}
    for entry in entries:
        said = plugin.call(entry, words(*[0] * 40)) or ''
        match = re.search(r'Unexpected (\w+) size: expected (\d+)', said)
        found[entry] = [match[1], int(match[2])] if match else said
    return dict(size=plugin.table[0], version=plugin.version, extension=plugin.extension_size, profiler=plugin.profiler[0],
                entries=found)


def session(path):
    plugin = Plugin(path)
    failed = plugin.call(3, words(16, 0))
    create_client = plugin.call(10, words(*[88] + [0] * 10)) if len(sys.argv) > 3 else 'not asked'
    options = ctypes.create_string_buffer(b'\x28\x01\x10\x02\x18\x01\x38\x01')
    create = words(32, ctypes.addressof(options), 8, 0)
    plugin.profile(5, create)
    handle = create[3]
    plugin.profile(7, words(16, handle))
    time.sleep(0.05)
    plugin.profile(8, words(16, handle))
    collect = words(32, handle, 0, 0)
    plugin.profile(9, collect)
    data = ctypes.string_at(collect[2], collect[3])
    planes = len(re.findall(rb'/(?:host|device|task):?', data))
    plugin.profile(6, words(16, handle))
    return dict(initialize=failed, client=create_client, lent=bool(collect[2]), size=collect[3],
                trailing_zero=data[-1:] == b'\0', plane_names=planes, version=plugin.version)


if __name__ == '__main__':
    print(json.dumps(abi(sys.argv[2], [int(entry) for entry in sys.argv[3:]]) if sys.argv[1] == 'abi' else session(sys.argv[2])))
