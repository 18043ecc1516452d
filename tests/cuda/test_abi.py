#!/usr/bin/env python3
"""collectors/cuda/cupti_abi.h against the toolkit's headers, by the compiler (abi.c), for every CUPTI that is installed here:
$CUDA_HOME, /usr/local/cuda*, and the folders in $IDS_CUPTI_INCLUDE (the include folders of unpacked nvidia-cuda-cupti wheels).
"""
import glob
import os
import re
import subprocess
import sys

root = os.environ['IDS_SOURCE_DIR']


def includes():
    found = os.environ.get('IDS_CUPTI_INCLUDE', '').split(':')
    for home in [os.environ.get('CUDA_HOME', '')] + sorted(glob.glob('/usr/local/cuda*')):
        found += [home + '/include', home + '/extras/CUPTI/include']
    seen = set()
    for folder in found:
        real = os.path.realpath(folder)
        if folder and real not in seen and os.path.exists(real + '/cupti_activity.h'):
            seen.add(real)
            yield real


def newest(header, stem, above=''):
    """The struct of that name with the highest number, as the header for current programs has it."""
    numbers = [int(n or 1) for n in re.findall(r'^\} CUpti_Activity%s(\d*);' % stem, header, re.M)]
    return 'CUpti_Activity%s%s' % (stem, max(numbers) if numbers != [1] else '') if numbers else above


def check(folder, cuda):
    header = open(folder + '/cupti_activity.h').read()
    callbacks = open(folder + '/cupti_callbacks.h').read()
    structs = dict(KERNEL='Kernel', COPY='Memcpy', PEER='MemcpyPtoP', SET='Memset', MEMORY='Memory', SYNC='Synchronization',
                   GRAPH='GraphTrace', OVERHEAD='Overhead')
    flags = ['-D%s=%s' % (key, newest(header, stem)) for key, stem in structs.items()]
    if 'CUpti_SubscriberParams' in callbacks:
        flags.append('-DPARAMS=%d' % (2 if 'allowMultipleSubscribers' in callbacks else 1))
    # A wheel's folder has no cuda.h: those of the toolkit stand in. Their older types may lack what generated_*_meta.h names, which
    # is no matter of ours: only what is said of abi.c counts.
    run = subprocess.run(['cc', '-std=c17', '-fsyntax-only', '-fmax-errors=0', '-I', root, '-isystem', folder, '-isystem', cuda]
                         + flags + sys.argv[1:] + [root + '/tests/cuda/abi.c'], capture_output=True, text=True)
    errors = [line for line in run.stderr.splitlines() if 'error' in line and ('abi.c' in line or 'static assertion' in line)]
    fatal = 'fatal error' in run.stderr
    print(folder, ' '.join(flags), 'as declared' if not errors and not fatal else 'DIFFERENT')
    if errors or fatal:
        print('\n'.join(errors or run.stderr.splitlines()[:20]))
    return not errors and not fatal


def main():
    folders = list(includes())
    cudas = [f for f in folders + ['/usr/local/cuda/include'] if os.path.exists(f + '/cuda.h')]
    if not folders or not cudas:
        print('no CUPTI headers here (cupti_activity.h and cuda.h of a CUDA toolkit)')
        sys.exit(78)
    if not all([check(folder, folder if os.path.exists(folder + '/cuda.h') else cudas[0]) for folder in folders]):
        sys.exit(1)
    for cuda in cudas:
        if os.path.exists(cuda + '/nvtx3/nvToolsExt.h'):
            private = subprocess.run(['cc', '-std=gnu17', '-fsyntax-only', '-I', root, '-isystem', cuda,
                                      root + '/tests/cuda/private_abi.c'], capture_output=True, text=True)
            print(cuda, 'driver and NVTX', 'as declared' if private.returncode == 0 else 'DIFFERENT\n' + private.stderr)
            if private.returncode:
                sys.exit(1)
    # The check can fail: with a struct of another layout it does.
    broken = subprocess.run(['cc', '-std=c17', '-fsyntax-only', '-I', root, '-isystem', folders[0], '-isystem', cudas[0],
                             '-DKERNEL=CUpti_ActivityMemcpy5', root + '/tests/cuda/abi.c'], capture_output=True, text=True)
    if broken.returncode == 0:
        sys.exit('a kernel record laid out as a copy passed')


main()
