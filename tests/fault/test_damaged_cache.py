#!/usr/bin/env python3
"""Whatever stands in the cache, results are those without a cache: what is odd there is a miss, and is made again.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["IDS_SOURCE_DIR"])
IDSPROF = os.environ["IDSPROF"]
FLIPS = 12 if os.environ.get("IDS_SANITIZE") == "1" else 40
SECONDS = 120
TRACE = next((SOURCE / "testdata" / "cpu1_annotated").rglob("*.xplane.pb"))
ROWS = "SELECT e.id, e.start_ps, e.dur_ps, n.text FROM event e JOIN name n ON n.id = e.name ORDER BY e.id"
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


class Cache:
    """A run of its own, with a cache of its own."""

    def __init__(self, folder, name):
        self.home = Path(folder) / name
        self.files = self.home / "idsprof"
        self.home.mkdir()
        self.run_file = self.home / "a.xplane.pb"
        shutil.copy(TRACE, self.run_file)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(self.home)}
        self.report = self.entry("report", self.run_file, "--json")
        self.events = self.entry("query", self.run_file, ROWS, "--format", "csv")
        self.wanted = self.ask()

    def run(self, *arguments):
        return subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, env=self.env, timeout=SECONDS)

    def entry(self, *arguments):
        """The file that a command makes."""
        before = set(self.files.iterdir()) if self.files.exists() else set()
        done = self.run(*arguments)
        made = set(self.files.iterdir()) - before
        if done.returncode or len(made) != 1:
            sys.exit(f"{arguments}: {done}, made {made}")
        return made.pop()

    def ask(self):
        try:
            done = [self.run("report", self.run_file, "--json"), self.run("query", self.run_file, ROWS, "--format", "csv"),
                    self.run("query", self.run_file, "--explain", "device.utilization")]
        except subprocess.TimeoutExpired:
            return "it hangs"
        return [(d.returncode, d.stdout, d.stderr) for d in done]

    def same(self, what):
        got = self.ask()
        if got != self.wanted:
            check(False, f"{what}: {[d[2] for d in got] if isinstance(got, list) else got}")
        check(self.report.is_file() and self.events.is_file() and not self.report.is_symlink(), f"{what}: not made again")


def flip(path, bit):
    with open(path, "r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def flipped_bits(cache):
    chance = random.Random(14)
    for path in (cache.report, cache.events):
        whole = path.read_bytes()
        for _ in range(FLIPS):
            bit = chance.randrange(len(whole) * 8)
            flip(path, bit)
            cache.same(f"{path.name}: bit {bit} of {len(whole) * 8}")
            path.write_bytes(whole)


def last_page_of_rows(cache):
    """Damage that a query meets when it has printed most of its rows: they are not printed twice, and the others are right."""
    whole = cache.events.read_bytes()
    names = [row.split(b",")[3] for row in cache.wanted[1][1].split(b"\n")[1:] if row]
    page_bytes = int.from_bytes(whole[16:18], "big")
    pages = range(1, len(whole) // page_bytes)
    changed = 0
    for page in pages: # each in turn, so that the one that is read last is among them
        damaged = bytearray(whole)
        damaged[page * page_bytes + page_bytes // 2] ^= 0x10
        cache.events.write_bytes(damaged)
        cache.same(f"page {page + 1}")
        changed += cache.events.read_bytes() != bytes(damaged)
    check(changed > 2 and names, f"only {changed} of {len(pages)} pages were made again")


def cut_and_mixed(cache):
    for path in (cache.report, cache.events):
        whole = path.read_bytes()
        page = int.from_bytes(whole[16:18], "big")
        for name, content in (("empty", b""), ("one byte", whole[:1]), ("half", whole[:len(whole) // 2]), ("without its end", whole[:-1]),
                              ("longer", whole + b"x"), ("zeros", bytes(len(whole))), ("text", b"hello " * 1000),
                              ("two pages in each other's place", whole[:page] + whole[2 * page:3 * page] + whole[page:2 * page] + whole[3 * page:])):
            path.write_bytes(content)
            cache.same(f"{path.name}: {name}")


def no_files(cache):
    for path in (cache.report, cache.events):
        elsewhere = cache.home / "elsewhere"
        for name in ("pipe", "folder", "full folder", "link", "link to nothing", "unreadable"):
            path.unlink()
            if name == "pipe":
                os.mkfifo(path)
            elif name == "folder":
                path.mkdir()
            elif name == "full folder":
                path.mkdir()
                (path / "mine").write_text("kept")
            elif name == "unreadable":
                path.touch(mode=0)
            else:
                elsewhere.write_text("kept")
                path.symlink_to(elsewhere if name == "link" else "/nonexistent")
            cache.same(f"{path.name}: {name}")
            if name == "full folder":
                kept = [p for p in cache.files.glob("*.odd-*/mine") if p.read_text() == "kept"]
                check(len(kept) == 1, f"{path.name}: what the folder held: {kept}")
                for odd in cache.files.glob("*.odd-*"):
                    shutil.rmtree(odd)
            check(not elsewhere.exists() or elsewhere.read_text() == "kept", f"{path.name}: written through a link")


def quiet_edit(cache):
    """An edit that leaves size, inode and mtime as they were."""
    for command in (["report", cache.run_file, "--json"], ["query", cache.run_file, ROWS, "--format", "csv"]):
        before, status, content = cache.run(*command), os.stat(cache.run_file), cache.run_file.read_bytes()
        changed = content.replace(b"train", b"brain")
        with open(cache.run_file, "r+b") as file:
            file.write(changed)
        os.utime(cache.run_file, ns=(status.st_atime_ns, status.st_mtime_ns))
        now = os.stat(cache.run_file)
        check((now.st_size, now.st_ino, now.st_mtime_ns) == (status.st_size, status.st_ino, status.st_mtime_ns) and changed != content,
              "the edit shows")
        after = cache.run(*command)
        check(b"brain" in after.stdout and after.stdout != before.stdout, f"{command[0]}: an old result after an edit")
        with open(cache.run_file, "r+b") as file:
            file.write(content)


def verify(cache):
    done = cache.run("cache", "--verify")
    check(done.returncode == 0 and b"0 odd" in done.stdout, f"a whole cache: {done}")
    flip(cache.events, cache.events.stat().st_size * 4)
    flip(cache.report, cache.report.stat().st_size * 4)
    pipe = cache.files / "0123456789abcdef.db"
    os.mkfifo(pipe)
    listed = cache.run("cache", "--json")
    check(listed.returncode == 0 and b"no_file" in listed.stdout, f"a pipe in the list: {listed}")
    done = cache.run("cache", "--verify")
    said = done.stdout.decode()
    check(done.returncode == 1 and "3 odd" in said and said.count("damaged: 1 of ") == 2 and "not a file" in said, f"{done}")
    check(not cache.events.exists() and not cache.report.exists() and not pipe.exists(), "what is odd is still there")
    check(cache.run("cache", "--verify").returncode == 0, "nothing odd is left")
    cache.same("after --verify")
    flip(cache.events, 999)
    done = cache.run("cache", "--verify", "--json")
    check(done.returncode == 1 and b'"removed":true' in done.stdout and b'"state":"damaged"' in done.stdout, f"{done}")
    check(cache.run("cache", "--verify", "--clear").returncode == 2, "--verify and --clear at once")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (flipped_bits, last_page_of_rows, cut_and_mixed, no_files, quiet_edit, verify):
            test(Cache(folder, test.__name__))
    for failure in failures[:20]:
        print("FAIL", failure[:600])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
