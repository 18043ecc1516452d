#!/usr/bin/env python3
"""idsprof report --watch: a folder into which windows come, whole, half-written, damaged, in several files; on a terminal and in a pipe.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import json
import os
import pty
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TESTDATA = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata'
PATIENCE = 3 * float(os.environ.get('IDS_TIME_FACTOR', '10'))
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def same(what, got, wanted):
    check(got == wanted, f'{what}: {got!r}, not {wanted!r}')


def profile(name):
    return next((TESTDATA / name).rglob('*.xplane.pb')).read_bytes()


class Watch:
    """A program at work, whose lines come as they are written."""

    def __init__(self, folder, *options, stdout=subprocess.PIPE):
        self.program = subprocess.Popen([IDSPROF, 'report', str(folder), '--watch', *options], stdout=stdout, stderr=subprocess.PIPE, text=True)
        self.lines, self.errors = queue.Queue(), queue.Queue()
        for stream, to in ((self.program.stdout, self.lines), (self.program.stderr, self.errors)):
            if stream:
                threading.Thread(target=lambda stream=stream, to=to: [to.put(line) for line in stream], daemon=True).start()

    @staticmethod
    def until(lines, word, seconds):
        """The lines up to one with this word; None when it does not come."""
        found, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                found.append(lines.get(timeout=0.1))
            except queue.Empty:
                continue
            if word in found[-1]:
                return found
        return None

    def says(self, word, seconds=PATIENCE):
        return self.until(self.lines, word, seconds)

    def complains(self, word, seconds=PATIENCE):
        return self.until(self.errors, word, seconds)

    def end(self, number=signal.SIGINT):
        self.program.send_signal(number)
        return self.program.wait(60)


def window(folder, number, host='host'):
    path = folder / 'plugins' / 'profile' / f'2026_01_01_00_00_{number:02}'
    path.mkdir(parents=True, exist_ok=True)
    return path / f'{host}.xplane.pb'


def check_windows():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        watch = Watch(folder, '--section', 'steps')
        check(watch.complains('waiting for the first window'), 'nothing is there yet, and it does not say so')
        window(folder, 1).write_bytes(profile('cpu1_plain'))
        check(watch.says('STEPS'), 'the first window')
        while watch.says('', 0.4):
            pass
        half = profile('cpu1_annotated')
        path = window(folder, 2)
        path.write_bytes(half[:len(half) // 2])
        check(watch.says('', 2.2) is None, 'half a file was printed')
        with path.open('ab') as more:
            more.write(half[len(half) // 2:])
        whole = watch.says('STEPS')
        check(whole is not None, 'the second window, when it was whole')
        check(whole and whole[0] == '\n', f'a block of its own: {whole}')
        while watch.says('', 0.4):
            pass
        window(folder, 3).write_bytes(b'\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' * 10)
        check(watch.complains('2026_01_01_00_00_03', PATIENCE + 15), 'a damaged window is not named')
        check(watch.program.poll() is None, 'a damaged window ended it')
        window(folder, 4).write_bytes(profile('cpu2_python'))
        check(watch.says('STEPS'), 'a window behind a damaged one')
        while watch.says('', 0.4):
            pass
        shutil.rmtree(window(folder, 4).parent)
        shutil.rmtree(window(folder, 3).parent)
        check(watch.says('', 2.2) is None, 'a window that was taken away brought an older one back')
        same('interrupted', watch.end(), 0)


def check_json():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        window(folder, 1).write_bytes(profile('cpu1_nohlo'))
        watch = Watch(folder, '--json')
        text = ''.join(watch.says('}\n') or [])
        for _ in range(10000):
            try:
                got = json.loads(text)
                break
            except json.JSONDecodeError:
                text += ''.join(watch.says('', 0.4) or [])
        same('the run', got['run']['path'], str(window(folder, 1).parent))
        same('interrupted', watch.end(), 0)


def check_terminal():
    leader, follower = pty.openpty()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        window(folder, 1).write_bytes(profile('cpu1_nohlo'))
        watch = Watch(folder, stdout=follower)
        os.close(follower)
        seen = b''
        end = time.monotonic() + PATIENCE
        while b'WHAT TO DO' not in seen and b'step time' not in seen and time.monotonic() < end:
            if select.select([leader], [], [], 0.2)[0]:
                seen += os.read(leader, 65536)
        check(seen.startswith(b'\x1b[H\x1b[2J'), f'the screen is drawn anew: {seen[:40]}')
        same('interrupted', watch.end(), 0)
    os.close(leader)


def check_refusals():
    with tempfile.TemporaryDirectory() as folder:
        for arguments, words in ((('/nothing/at/all',), '/nothing/at/all'), ((__file__,), 'follows a folder'), ((folder, '--html', 'x'), 'excludes'),
                                 ((folder, '--run', 'x'), 'excludes'), ((folder, '--explain', 'idle.share'), 'excludes'),
                                 ((folder, '--json', '--csv'), 'exclude'), ((folder, '--from', '2s', '--to', '1s'), 'not before')):
            done = subprocess.run([IDSPROF, 'report', '--watch', *arguments], capture_output=True, text=True, timeout=60)
            check(done.returncode == 2 and words in done.stderr and not done.stdout, f'{arguments}: {done}')
        watch = Watch(folder)
        watch.complains('waiting')
        check(watch.end(signal.SIGTERM) != 0, 'a signal that is no interrupt')


def run(part):
    try:
        part()
    except Exception as error:  # of a thread, nobody would hear of it
        failures.append(f'{part.__name__}: {error!r}')


def main():
    parts = [threading.Thread(target=run, args=(part,)) for part in (check_windows, check_json, check_terminal, check_refusals)]
    for part in parts:
        part.start()
    for part in parts:
        part.join()
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
