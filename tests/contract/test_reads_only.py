#!/usr/bin/env python3
"""A build without IDS_CAPTURE needs nothing that only Linux has: none of its sources includes or calls it, apart from what lib/base/apple.h
or the other side of an `#ifdef __APPLE__` puts in its place. Elsewhere than on Linux
capturing is refused before anything is built. Environment: IDS_SOURCE_DIR."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR']).resolve()
HEADERS = re.compile(r'#include <((?:linux|asm)/\S+|elf\.h|endian\.h|byteswap\.h|features\.h|link\.h|malloc\.h|sys/(?:auxv|epoll|eventfd'
                     r'|inotify|prctl|sendfile|signalfd|syscall|sysinfo|timerfd|vfs)\.h)>')
CALLS = re.compile(r'\b(accept4|canonicalize_file_name|copy_file_range|dup3|epoll_\w+|eventfd|explicit_bzero|fallocate|get_nprocs|getrandom'
                   r'|gettid|malloc_trim|memfd_create|mempcpy|mremap|pipe2|ppoll|prctl|process_vm_\w+|secure_getenv|strchrnul|syscall'
                   r'|timerfd_\w+|SOCK_NONBLOCK|SIGRTMIN|MSG_CMSG_CLOEXEC|program_invocation_\w+)\b')
PROGRAM = re.compile(r'"/proc/self/(?:exe|maps|fd)')
failures = 0


def check(truth, words):
    global failures
    if not truth:
        failures += 1
        print('FAIL:', words)


def configure(build, *options):
    done = subprocess.run(['cmake', '-S', SOURCE, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Debug', *options],
                          capture_output=True, text=True)
    return done.returncode, ' '.join((done.stdout + done.stderr).split())


def for_apple(text):
    """The text without comments and without what Apple's systems do not compile."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'^#ifdef __APPLE__$(.*?)^#else$.*?^#endif$', r'\1', text, flags=re.S | re.M)
    return re.sub(r'^#ifdef __(?:GLIBC|linux)__$.*?^#(?:else|endif)$', '', text, flags=re.S | re.M)


with tempfile.TemporaryDirectory() as scratch:
    build = Path(scratch) / 'reads'
    code, said = configure(build, '-DIDS_CAPTURE=OFF')
    check(code == 0, f'it cannot be configured: {said[-800:]}')
    replaced = set(re.findall(r'^#define (\w+)', (SOURCE / 'lib/base/apple.h').read_text(), re.M))
    if not code:
        files = {Path(row['file']) for row in json.loads((build / 'compile_commands.json').read_text())}
        files = {path for path in files if SOURCE in path.parents and build not in path.parents}
        names = {str(path.relative_to(SOURCE)) for path in files}
        check({'cmd/report.c', 'cmd/no_capture.c', 'lib/io/source.c'} <= names and len(names) > 300, f'{len(names)} sources are no program')
        check(not names & {'cmd/capture.c', 'collectors/common/agent.c', 'lib/attach/attach.c', 'collectors/pjrt/calls.c'},
              'sources that capture are in it')
        headers = {path for folder in {path.parent for path in files} for path in folder.glob('*.h')} - {SOURCE / 'lib/base/apple.h'}
        for path in sorted(files | {path for path in headers if path.with_suffix('.c') in files or 'lib' in path.parts}):
            if path.suffix == '.h' and path.parts[-2] in ('attach', 'remote', 'common', 'capture'):
                continue
            text = for_apple(path.read_text())
            calls = [call for call in CALLS.finditer(text) if call.group(0) not in replaced]
            for found in (HEADERS.search(text), calls and calls[0], PROGRAM.search(text)):
                check(not found, f'{path.relative_to(SOURCE)} has {found and found.group(0)}, which only Linux has')
    with_capture, said_of_capture = configure(Path(scratch) / 'elsewhere', '-DCMAKE_SYSTEM_NAME=FreeBSD', '-DIDS_CAPTURE=ON')
    check(with_capture == 1 and 'capturing needs Linux, and this is FreeBSD: configure with -DIDS_CAPTURE=OFF' in said_of_capture,
          f'capturing elsewhere: {with_capture}: {said_of_capture[-300:]}')
sys.exit(bool(failures))
