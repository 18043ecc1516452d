#!/usr/bin/env python3
"""`idsprof capture` where the disk is full, files are limited, the folder is taken over, and processes say nonsense: the program runs
on and keeps its exit code, and the user reads why. Environment: IDSPROF, IDS_BUILD_DIR, TMPDIR."""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
DOUBLE = os.environ['IDS_BUILD_DIR'] + '/support/capture_double'
ROOT = Path(os.environ['TMPDIR'])
for name in list(os.environ):
    if name.startswith(('PROFILE_', 'IDSPROF_')) or name in ('RANK', 'SLURM_PROCID'):
        del os.environ[name]
os.environ['XDG_RUNTIME_DIR'] = str(ROOT / 'run')
os.environ['COLUMNS'] = '1000'
(ROOT / 'run').mkdir()
failures = []
left_out = []


def check(ok, message):
    if not ok:
        failures.append(f'{sys._getframe(1).f_lineno}: {message}')


def capture(*program, options=('-s', '3', '--steps', '2'), before=(), out='out', limit=None):
    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    return subprocess.run([*before, IDSPROF, 'capture', '--keep-empty', '-o', ROOT / out, *options, '--', *program], capture_output=True, text=True,
                          timeout=60, preexec_fn=limit_files if limit is not None else None)


def line(run, what):
    found = re.search(rf'^idsprof: {what} +(.*)$', run.stderr, re.M)
    return found[1] if found else run.stderr


def on_a_small_disk(size, *program):
    """Captures on a tmpfs of its own, which goes when the command ends; None where none can be mounted."""
    disk = ROOT / 'disk'
    disk.mkdir(exist_ok=True)
    alone = ['unshare', '-m'] if os.getuid() == 0 else ['unshare', '-r', '-m']
    script = 'mount -t tmpfs -o size="$1" none "$2" || exit 99; cd "$2"; shift 2; "$@"; rc=$?; find . -name "*.part" >&2; exit $rc'
    run = capture(*program, before=[*alone, 'sh', '-c', script, 'sh', size, disk], out='disk/out')
    return None if run.returncode == 99 or 'unshare' in run.stderr else run


def full_disk():
    if not shutil.which('unshare') or not on_a_small_disk('8m', DOUBLE):
        left_out.append('a full disk (no unshare, or it may not mount)')
        return
    run = on_a_small_disk('8m', DOUBLE, 'wake', 'big:16000000', 'step:0:9', 'exit:5')
    check(run.returncode == 5 and 'No space left on device' in line(run, 'missed'), run.stderr)
    check('.part' not in run.stderr.replace(line(run, 'missed'), ''), run.stderr)
    run = on_a_small_disk('512k', DOUBLE, 'wake', 'step:0:9', 'exit:5')     # no room is asked for that it does not need
    check(run.returncode == 5 and 'full' not in line(run, 'missed'), run.stderr)
    run = on_a_small_disk('64k', DOUBLE, 'wake', 'step:0:9', 'exit:5')
    check(re.search(r'is full: \d+ kB are free', line(run, 'missed')), run.stderr)
    check(run.returncode == 5 and 'the disk of' in line(run, 'missed') and 'is full' in line(run, 'missed'), run.stderr)
    for size in ('4k', '16k'):  # what was said at the start is there, and what came later is not
        run = on_a_small_disk(size, DOUBLE, 'wake', 'step:0:9', 'exit:5')
        check(run.returncode == 5 and 'is full' in line(run, 'missed'), run.stderr)


def limited_files():
    run = capture(DOUBLE, 'wake', 'big:100000', 'step:0:9', 'exit:5', limit=50000)
    check(run.returncode == 5 and 'File too large' in line(run, 'missed'), run.stderr)
    run = capture('sh', '-c', 'ulimit -f 0; exec "$0" wake step:0:9 exit:5', DOUBLE)
    check(run.returncode == 5, (run.returncode, run.stderr))
    run = capture(DOUBLE, 'print:started', limit=100)
    check(run.returncode == 2 and run.stdout == '' and 'File too large' in run.stderr, run.stderr)


def unwritable_folder():
    run = capture(DOUBLE, 'print:started', options=('-o', '/proc/nowhere'))
    check(run.returncode == 2 and run.stdout == '', run.stderr)
    check("cannot make the folder '/proc/nowhere'" in run.stderr and 'choose another one with -o DIR' in run.stderr, run.stderr)
    run = capture('sh', '-c', 'rm -rf "$IDSPROF_SESSION/.idsprof"; echo x >"$IDSPROF_SESSION/.idsprof"; exec "$0" wake step:0:9 exit:5', DOUBLE)
    check(run.returncode == 5 and run.stdout.startswith('asleep: cannot write into'), (run.stdout, run.stderr))
    run = capture('sh', '-c', 'echo x >"$IDSPROF_SESSION/plugins"; exec "$0" wake step:0:9 exit:5', DOUBLE)
    check(run.returncode == 5 and 'cannot make the folder' in line(run, 'missed'), run.stderr)
    other = ROOT / 'run' / f'idsprof-{os.geteuid()}'
    shutil.rmtree(other)
    other.mkdir(mode=0o777)
    other.chmod(0o777)
    run = capture(DOUBLE, 'wake', 'step:0:9')
    check(line(run, 'missed') == 'nothing' and not list(other.iterdir()), 'a socket in a folder that others may write to')
    sidecar = json.loads((Path(line(run, 'folder')) / 'idsprof-run.json').read_text())
    check('idsprof trigger' in json.dumps(sidecar['processes'][0]['notes']), sidecar)
    refused = subprocess.run([IDSPROF, 'trigger'], capture_output=True, text=True)
    check(refused.returncode == 2 and 'does not belong' in refused.stderr or 'belongs to this user alone' in refused.stderr, refused.stderr)
    other.rmdir()


NONSENSE = {
    'empty': b'',
    'random': bytes(range(256)) * 400,
    'no_object': b'[1,2]\n"x"\n17\nnull\n',
    'cut': b'{"t":1,"event":"loaded","pid":5\n{"t":1,"event":"wri',
    'deep': b'{"event":' + b'[' * 100000 + b'\n',
    'wrong_types': b'{"event":"loaded","pid":"x","argv":{"a":1},"host":7,"rank":-5}\n{"event":"written","window":[],"path":9}\n',
    'huge_numbers': b'{"event":"opened","window":99999999999999999999,"start_ns":9223372036854775807}\n'
                    b'{"event":"written","window":1,"path":"p","bytes":9223372036854775807,"stop_ns":9223372036854775807,"publish_ns":9223372036854775807}\n'
                    b'{"event":"written","window":2,"path":"p/q","bytes":9223372036854775807}\n',
    'terminal': b'{"event":"skipped","window":1,"why":"\\u001b[2J\\u0007gone"}\n',
    'many_members': b'{' + b','.join(b'"k%d":1' % i for i in range(1000)) + b'}\n',
    'many_windows': b''.join(b'{"event":"opened","window":%d}\n' % i for i in range(3000)),
    'long_line': b'{"event":"said","key":"k","value":"' + b'v' * 9000000 + b'"}\n',
}


def nonsense():
    for name, text in NONSENSE.items():
        (ROOT / 'nonsense').write_bytes(text)
        run = capture('sh', '-c', 'cp "$0" "$IDSPROF_SESSION/.idsprof/h.1.hello"; cp "$0" "$IDSPROF_SESSION/.idsprof/followed"; exit 5', ROOT / 'nonsense')
        check(run.returncode == 5 and line(run, 'folder') and '\x1b' not in run.stderr, (name, run.returncode, run.stderr[-2000:]))
        json.loads((Path(line(run, 'folder')) / 'idsprof-run.json').read_text())
    script = 'cd "$IDSPROF_SESSION/.idsprof"; mkfifo a.1.hello; ln -s /dev/zero b.2.hello; mkdir c.3.hello; mkfifo followed; exit 5'
    run = capture('sh', '-c', script)
    check(run.returncode == 5 and line(run, 'caught') == 'nothing', run.stderr)


for test in (full_disk, limited_files, unwritable_folder, nonsense):
    test()
for failure in failures:
    print('FAIL:', failure)
for what in left_out:
    print('left out:', what)
sys.exit(bool(failures))
