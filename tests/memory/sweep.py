#!/usr/bin/env python3
"""Every allocation of every command fails in turn (failing_malloc.so), and the program is held to this:

  - it ends by itself, within a time, and by no signal;
  - it says "out of memory" and exits with 2 (127 where the dynamic loader has none for a library), or it does exactly what it does with enough memory: exit code, output, files;
  - after exit 2 no file that it was to write is there in part;
  - what it leaves in the cache gives the right output to the next run, which has memory;
  - capture exits with the status of the program, once that ran.

    sweep.py [--chains | --sample N | --most N] [--mode one|on|both] [--case NAME ...] [--state FILE] [--log FILE] [--jobs N]

Without --sample all allocations are tried, one failing and one with all behind it failing; with --chains those that differ: of each chain
of calls that comes to an allocation the first and the last time. A loop over ten thousand names allocates ten thousand times in one place,
and the code that has to cope is the same. --state keeps each finding, and a sweep
that was stopped goes on after the last one; a state is for one build of the program. --log writes the table of tests/memory/LOG.md, which
holds at any time how far the sweep came.
IDSPROF, IDS_FAILING_MALLOC, IDS_SOURCE_DIR; IDS_SANITIZE=1 when the program has the sanitizers, whose exit code is 99.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

IDSPROF = os.path.abspath(os.environ["IDSPROF"])
FAILING = os.path.abspath(os.environ["IDS_FAILING_MALLOC"])
SOURCE = os.environ.get("IDS_SOURCE_DIR", os.getcwd())
SANITIZED = os.environ.get("IDS_SANITIZE") == "1"
LOG_EVERY = 500 # trials
SECONDS = 120 if SANITIZED else 30
TESTDATA = os.path.join(SOURCE, "testdata")


def testdata(*names):
    return os.path.join(TESTDATA, *names)


HLO = testdata("cpu1_plain")  # an xplane with its programs
XPLANE = next(os.path.join(path, name) for path, _, names in os.walk(HLO) for name in names if name.endswith(".xplane.pb"))
JSON = testdata("json", "kineto.trace.json")
MINI = testdata("mini", "steps_two_devices.mini")
SQL = "SELECT n.text, count(*), sum(e.dur_ps) FROM event e JOIN name n ON n.id = e.name GROUP BY 1 ORDER BY 1"

# name: (arguments, what the cache holds before). {in} is a folder of inputs, {out} an empty one.
CASES = {
    "report": (["report", HLO], None),
    "report_json": (["report", "--json", JSON], None),
    "report_cached": (["report", HLO], ["report", HLO]),
    "report_tar": (["report", "--no-cache", "{in}/run.tar.gz"], None),
    "report_zip": (["report", "--no-cache", "{in}/run.zip"], None),
    "report_gzip": (["report", "--no-cache", "{in}/kineto.trace.json.gz"], None),
    "report_database": (["report", "{in}/run.db"], None),
    "report_explain": (["report", "--no-cache", HLO, "--explain", "idle.share"], None),
    "report_html": (["report", "--no-cache", HLO, "--html", "{out}/page.html"], None),
    "report_csv": (["report", "--no-cache", HLO, "--csv"], None),
    "list": (["list", "{in}/runs"], None),
    "list_cached": (["list", "{in}/runs"], ["list", "{in}/runs"]),
    "diff": (["diff", testdata("compare", "base"), testdata("compare", "recompile")], None),
    "diff_html": (["diff", "--no-cache", testdata("compare", "base"), testdata("compare", "recompile"), "--html", "-"], None),
    "diff_runs": (["diff", testdata("scale", "dev1"), testdata("scale", "dev1")], ["report", testdata("scale", "dev1")]),
    "check": (["check", "--max", "idle.share=1%", MINI], None),
    "check_baseline": (["check", "--baseline", testdata("compare", "base"), testdata("compare", "recompile"), "--max", "op[dot*]=1s"], None),
    "check_markdown": (["check", "--markdown", "--max", "scope[layer1]=1us", testdata("compare", "base")], None),
    "diff_markdown": (["diff", "--markdown", testdata("compare", "base"), testdata("compare", "recompile"), "--fail-on", "5%"], None),
    "baseline": (["baseline", "save", "main", MINI], None),
    "scale": (["scale", testdata("scale", "dev1"), testdata("scale", "dev2")], None),
    "extract_list": (["extract", HLO, "--list"], None),
    "extract_chrome": (["extract", HLO, "-f", "chrome", "-o", "{out}"], None),
    "extract_perfetto": (["extract", HLO, "-f", "perfetto", "-o", "{out}"], None),
    "extract_xplane": (["extract", HLO, "-f", "xplane", "-o", "{out}"], None),
    "extract_csv": (["extract", HLO, "-f", "csv", "-o", "-"], None),
    "extract_hlo": (["extract", HLO, "-f", "hlo", "-o", "{out}"], None),
    "extract_files": (["extract", "{in}/run.tar.gz", "-o", "{out}"], None),
    "import": (["import", MINI, "-o", "{out}/run.db"], None),
    "import_hlo": (["import", HLO, "-o", "{out}/run.db"], None),
    "query": (["query", MINI, SQL], None),
    "query_cached": (["query", HLO, SQL, "--format", "csv"], ["query", HLO, "SELECT 1"]),
    "query_json": (["query", "{in}/run.db", SQL, "--format", "json"], None),
    "query_schema": (["query", "{in}/run.db", "--schema"], None),
    "query_explain": (["query", "{in}/run.db", "--explain", "idle.share"], None),
    "cache": (["cache", "--json"], ["query", MINI, "SELECT 1"]),
    "cache_table": (["cache"], ["report", MINI]),
    "cache_verify": (["cache", "--verify"], ["query", MINI, "SELECT 1"]),
    "cache_clear": (["cache", "--clear"], ["report", MINI]),
    "doctor": (["doctor"], None),
    "trigger": (["trigger", "{out}"], None),  # of a folder: programs of other tests may run under capture
    "capture": (["capture", "-o", "{out}/run", "--", "/bin/sh", "-c", "echo ran > {out}/ran; exit 3"], None),
    "help": (["help", "report"], None),
    "completion": (["completion", "bash"], None),
    "dump": (["dump", XPLANE], None),
    "mcp_list": (["mcp", "--root", TESTDATA], None),
    "mcp_report": (["mcp", "--root", TESTDATA], ["report", HLO]),
}

# What a case reads from standard input; others have none.
INPUTS = {
    "mcp_list": {"name": "list", "arguments": {"path": HLO}},
    "mcp_report": {"name": "report", "arguments": {"path": HLO, "sections": "ops", "max_chars": 2000}},
}


def input_of(name):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": INPUTS.get(name)}
    return json.dumps(call).encode() if name in INPUTS else b""


def make_inputs(folder):
    runs = os.path.join(folder, "runs")
    shutil.copytree(testdata("cpu1_nohlo"), os.path.join(runs, "a"))
    shutil.copytree(testdata("cpu1_plain"), os.path.join(runs, "b"))
    with tarfile.open(os.path.join(folder, "run.tar.gz"), "w:gz") as archive:
        archive.add(testdata("cpu1_nohlo"), "run")
    with zipfile.ZipFile(os.path.join(folder, "run.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, _, files in os.walk(testdata("cpu1_nohlo")):
            for name in files:
                whole = os.path.join(path, name)
                archive.write(whole, os.path.join("run", os.path.relpath(whole, testdata("cpu1_nohlo"))))
    import gzip
    with gzip.open(os.path.join(folder, "kineto.trace.json.gz"), "wb") as packed, open(JSON, "rb") as plain:
        packed.write(plain.read())
    subprocess.run([IDSPROF, "import", HLO, "-o", os.path.join(folder, "run.db")], check=True, capture_output=True)


def steady(output):
    """Without what differs from one run to the next: how long ago, how much is free, when and by whom it was recorded."""
    output = re.sub(rb"just now|\d+ \w+ ago|[\d.]+ GB free|\"used_unix_s\": \d+|_\d{8}_\d{6}(_\d+)?", b"", output)
    return re.sub(rb" +", b" ", output)


def files_of(folder):
    """Names and contents below a folder."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            whole = os.path.join(path, name)
            with open(whole, "rb") as file:
                found[os.path.relpath(whole, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


class Case:
    """One command in folders of its own, whose names are the same in every run: they stand in its output."""

    def __init__(self, name, inputs, work, with_chains):
        self.name = name
        arguments, before = CASES[name]
        self.out, self.cache, self.kept, self.home = (os.path.join(work, name, part) for part in ("out", "cache", "kept", "home"))
        self.inputs = inputs
        self.argv = self.fill(arguments)
        for folder in (self.out, self.kept, self.home):
            os.makedirs(folder)
        self.env = {**os.environ, "HOME": self.home, "XDG_DATA_HOME": os.path.join(self.home, "data"), "XDG_CACHE_HOME": self.cache,
                    "COLUMNS": "120", "TZ": "UTC", "ASAN_OPTIONS": "verify_asan_link_order=0:exitcode=99:allocator_may_return_null=1",
                    "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99", "LC_ALL": "C.UTF-8"}
        if name == "help":
            self.env["PATH"] = self.home  # no man there: man would fail for want of memory itself, and the short help then stands for it
        os.makedirs(self.cache)
        if before:
            subprocess.run([IDSPROF, *self.fill(before)], env=self.env, check=True, capture_output=True)
            shutil.copytree(self.cache, self.kept, dirs_exist_ok=True)
        self.reset()
        count_file, chains_file = (os.path.join(work, name, part) for part in ("count", "chains"))
        self.baseline = self.run({"IDS_FAIL_COUNT": count_file})
        with open(count_file) as file:
            self.count = int(file.read())
        self.chains = []
        if with_chains: # not under the sanitizers: the library that walks stacks leaks what it loads
            if self.run({"IDS_FAIL_STACKS": chains_file})[:2] != self.baseline[:2]:
                raise SystemExit(f"{name}: two runs differ")
            with open(chains_file) as file:
                self.chains = [tuple(map(int, line.split()[:2])) for line in file]
        self.files = self.made()
        self.warm = self.run({}, fresh=False)

    def fill(self, arguments):
        return [part.replace("{in}", self.inputs).replace("{out}", self.out) for part in arguments]

    def reset(self):
        for folder in (self.out, self.cache, self.home):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.kept, self.cache)
        os.makedirs(self.out)
        os.makedirs(self.home)

    def made(self):
        found = {**files_of(self.out), **{"home/" + name: digest for name, digest in files_of(self.home).items()}}
        return {steady(name.encode()).decode(): digest for name, digest in found.items()}

    def run(self, variables, fresh=True):
        if fresh:
            self.reset()
        env = {**self.env, **variables, **({"LD_PRELOAD": FAILING} if variables else {})}
        try:
            done = subprocess.run([IDSPROF, *self.argv], env=env, capture_output=True, timeout=SECONDS, input=input_of(self.name))
        except subprocess.TimeoutExpired:
            return "hangs", b"", b""
        return done.returncode, steady(done.stdout), done.stderr

    def look(self, at, is_on):
        """None, or what is wrong."""
        before = set(os.listdir(os.path.join(self.cache, "idsprof"))) if os.path.isdir(os.path.join(self.cache, "idsprof")) else set()
        code, output, error = self.run({"IDS_FAIL_AT": str(at), **({"IDS_FAIL_ON": "1"} if is_on else {})})
        said = error.decode(errors="replace").strip()[-300:]
        if SANITIZED and b"AddressSanitizer: CHECK failed: sanitizer_" in error:
            return None  # it has no memory itself: a thread begins with pthread_getattr_np
        if not isinstance(code, int) or code < 0 or code == 99:
            return f"{code}: {said}"
        made = self.made()
        if self.name == "capture" and "ran" in made:
            return None if code == self.baseline[0] else f"exit {code}, and the program's was {self.baseline[0]}: {said}"
        if code == 127 and b"out of memory" in error and not made:
            return None  # the dynamic loader ended the program, which has no memory for libarchive (lib/io/libarchive.h)
        if code == 2 and b"out of memory" in error:
            # Of several files those before the failure are whole.
            if any(self.files.get(name) != digest for name, digest in made.items()):
                return f"exit 2, and left {sorted(made)[:3]}"
        elif (code, output) != self.baseline[:2]:
            return f"exit {code}, other output ({len(output)} of {len(self.baseline[1])} bytes): {said}"
        elif made.keys() != self.files.keys() or (self.is_exact() and made != self.files):
            return f"exit {code}, other files: {sorted(set(made) ^ set(self.files))[:3]}"
        left = files_of(self.cache)
        if any(".tmp-" in name for name in left):
            return f"exit {code}, left in the cache {[name for name in left if '.tmp-' in name][:3]}"
        if left and left.keys() != files_of(self.kept).keys():
            again = self.run({}, fresh=False)
            if again[:2] not in (self.baseline[:2], self.warm[:2]):
                return f"exit {code} ({said}), and the next run exit {again[0]}, other output: {again[2][-200:]}"
        return None

    def is_exact(self):
        return self.name not in ("baseline", "capture") # they keep the time


def numbers(case, options):
    """Which allocations are tried."""
    if options.most:
        return list(range(1, min(case.count, options.most) + 1))
    if options.chains:
        return sorted({at for chain in case.chains for at in chain if at <= case.count})
    if not options.sample or options.sample >= case.count:
        return list(range(1, case.count + 1))
    return sorted(random.Random(case.count).sample(range(1, case.count + 1), options.sample))


def write_log(path, rows):
    """The table as far as the sweep came: a row a command and way of failing, and what both come to."""
    table = [row for _, row in sorted(rows.items(), key=lambda item: (list(CASES).index(item[0][0]), item[0][1]))]
    lines = ["| command | fails | allocations | chains | tried | wrong |\n", "|---|---|---|---|---|---|\n"]
    lines += ["| %s | %s | %d | %d | %d | %d |\n" % row for row in table]
    lines.append("| all %d | | %d | %d | %d | %d |\n" % (len(table), *(sum(row[part] for row in table) for part in (2, 3, 4, 5))))
    with open(path + ".part", "w") as log:
        log.writelines(lines)
    os.replace(path + ".part", path)


def main(arguments=None):
    options = argparse.ArgumentParser()
    options.add_argument("--sample", type=int)
    options.add_argument("--chains", action="store_true")
    options.add_argument("--most", type=int, help="only the first so many allocations")
    options.add_argument("--case", action="append")
    options.add_argument("--state")
    options.add_argument("--log")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--mode", choices=("one", "on", "both"), default="both", help="one fails, or it and all behind it")
    options.add_argument("--failures", type=int, default=20, help="of a case, then it is left")
    options = options.parse_args(arguments)
    done = {}
    if options.state and os.path.exists(options.state):
        with open(options.state) as file:
            for line in file:
                entry = json.loads(line)
                done.setdefault((entry["case"], entry["on"]), {})[entry["at"]] = entry["wrong"]
    state = open(options.state, "a", buffering=1) if options.state else None
    rows, bad = {}, 0

    def note(case, is_on, tried, wrong):
        rows[case.name, is_on] = (case.name, "and on" if is_on else "one", case.count, len(case.chains), tried, len(wrong))
        if options.log:
            write_log(options.log, rows)

    def sweep(name, inputs, work):
        case = Case(name, inputs, work, options.chains)
        result = []
        for is_on in {"one": (False,), "on": (True,), "both": (False, True)}[options.mode]:
            known = done.get((name, is_on), {})
            wanted = numbers(case, options)
            wrong, tried = {}, 0
            for at in wanted:
                if at in known:
                    what = known[at]
                else:
                    what = case.look(at, is_on)
                    if state:
                        state.write(json.dumps({"case": name, "on": is_on, "at": at, "wrong": what}) + "\n")
                tried += 1
                if what:
                    wrong[at] = what
                if tried % LOG_EVERY == 0:
                    note(case, is_on, tried, wrong)
                if len(wrong) >= options.failures:
                    break
            note(case, is_on, tried, wrong)
            result.append((name, is_on, wrong))
        return result

    with tempfile.TemporaryDirectory() as work:
        inputs = os.path.join(work, "in")
        os.makedirs(inputs)
        make_inputs(inputs)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda name: sweep(name, inputs, work), options.case or list(CASES)):
                for name, is_on, wrong in result:
                    print("%-18s %-7s %7d allocations %6d chains %7d tried %4d wrong" % rows[name, is_on], flush=True)
                    for at, what in list(wrong.items())[:5]:
                        print("  FAIL %d: %s" % (at, what), flush=True)
                    bad += len(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
