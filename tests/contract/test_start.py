#!/usr/bin/env python3
"""What every start of idsprof loads: not libarchive and libmicrohttpd, which bring more than all of the program.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_SANITIZE.
"""
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

IDSPROF = os.environ["IDSPROF"]
TRACE = next((Path(os.environ["IDS_SOURCE_DIR"]) / "testdata" / "cpu1_nohlo").rglob("*.xplane.pb"))
LATE = ("libarchive", "libxml2", "libicu", "libmicrohttpd", "libgnutls")
if os.environ.get("IDS_SANITIZE") != "1":  # the sanitizers' own library is of C++
    LATE += ("libstdc++",)
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def run(*arguments, **env):
    done = subprocess.run([IDSPROF, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "XDG_CACHE_HOME": "/dev/null/none", **env})
    return done.returncode, done.stdout + done.stderr


def main():
    code, loaded = run(LD_TRACE_LOADED_OBJECTS="1")
    for name in LATE:
        check(name not in loaded, f"each start loads {name}: {loaded}")
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "run.tar.xz"
        with tarfile.open(archive, "w:xz") as packed:
            packed.add(TRACE, TRACE.name)
        code, said = run("report", archive)
        check(code == 0, f"a report of an archive: {code} {said}")
        if b"libarchive.so" in Path(IDSPROF).read_bytes(): # else it is linked statically
            broken = Path(folder) / "broken"
            broken.mkdir()
            for version in range(10, 20):
                (broken / f"libarchive.so.{version}").touch()
            code, said = run("report", archive, LD_LIBRARY_PATH=str(broken))
            check(code == 2 and "a library is missing: " in said and "libarchive.so" in said, f"without libarchive: {code} {said}")
            code, said = run("report", TRACE, LD_LIBRARY_PATH=str(broken))
            check(code == 0, f"a profile without libarchive: {code} {said}")
    for failure in failures:
        print("FAIL", failure[:1000])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
