"""Interleaved timings of idsprof against xprof's overview_page, on one xplane file. Used by run.sh.

usage: measure.py IDSPROF WALK XPROF_PYTHON XPROF_TOOL MID SMALL ROUNDS
Prints a Markdown table. Each round runs every command once, so that a slow minute of the machine hits all of them; the minimum counts.
idsprof is timed as a whole process with an empty cache (cold) or a filled one; of xprof only the first call of the converter counts,
without the 1 to 2 seconds of imports. Exports are timed with their writing into the temporary folder. Memory is the peak resident set of the process."""
import json, os, shutil, subprocess, sys, tempfile, time

idsprof, walk, python, tool, mid, small, rounds = sys.argv[1:7] + [int(sys.argv[7])]


def run(command, env=None):
    """(seconds of the whole process, peak memory in MB, standard output)"""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        if status:
            sys.exit(f"failed ({status}): {' '.join(command)}")
        out.seek(0)
        return seconds, usage.ru_maxrss / 1024, out.read().decode()


def report(path, cache):
    return run([idsprof, "report", path], {"XDG_CACHE_HOME": cache})


def cold(path):
    cache = tempfile.mkdtemp()
    try:
        return report(path, cache)
    finally:
        shutil.rmtree(cache)


def export(path, kind):
    folder = tempfile.mkdtemp()
    try:
        return run([idsprof, "extract", path, "--format", kind, "--output", folder])
    finally:
        shutil.rmtree(folder)


def xprof(path):
    seconds, memory, out = run([python, tool, path, "overview_page"])
    answer = json.loads(out.splitlines()[-1])
    return answer["calls"][0], answer["peak_rss_mb"], out


def limit(path):
    _, memory, out = run([walk, path])
    return float(out.split()[0]), memory, out


warm = tempfile.mkdtemp()
for path in (mid, small):
    report(path, warm)
commands = {
    "xprof overview_page, first call, mid": lambda: xprof(mid),
    "idsprof report, cold, mid": lambda: cold(mid),
    "idsprof report, cached, mid": lambda: report(mid, warm),
    "walk limit, mid": lambda: limit(mid),
    "xprof overview_page, first call, small": lambda: xprof(small),
    "idsprof report, cold, small": lambda: cold(small),
    "idsprof report, cached, small": lambda: report(small, warm),
}
exports = [f"idsprof extract, {kind}, mid" for kind in ("chrome", "perfetto", "xplane", "csv")]
for name in exports:
    commands[name] = lambda kind=name.split(", ")[1]: export(mid, kind)
times = {name: [] for name in commands}
peaks = {name: [] for name in commands}
for _ in range(rounds):
    for name, command in commands.items():
        seconds, memory, _ = command()
        times[name].append(seconds)
        peaks[name].append(memory)
shutil.rmtree(warm)

size = {path: os.path.getsize(path) for path in (mid, small)}
events = int(limit(mid)[2].split()[1])
print(f"mid {size[mid] / 1e6:.1f} MB ({events} events), small {size[small] / 1e6:.1f} MB; {rounds} interleaved rounds\n")
print("| what | min s | all rounds s | peak MB |\n|---|---|---|---|")
for name in commands:
    print(f"| {name} | {min(times[name]):.4f} | {' '.join(f'{t:.3f}' for t in times[name])} | {max(peaks[name]):.0f} |")
least = {name: min(times[name]) for name in commands}
x, i = "xprof overview_page, first call, mid", "idsprof report, cold, mid"
slowest = max(exports, key=lambda name: least[name])
goals = [
    ("cold report on mid against xprof", f"{least[x] / least[i]:.1f}×", "≥ 8×", least[x] / least[i] >= 8),
    ("peak memory on mid, share of xprof's", f"1/{min(peaks[x]) / max(peaks[i]):.1f}", "≤ 1/4", max(peaks[i]) * 4 <= min(peaks[x])),
    ("cached report on mid", f"{least['idsprof report, cached, mid'] * 1e3:.1f} ms", "≤ 30 ms", least["idsprof report, cached, mid"] <= 0.030),
    ("cold report on small", f"{least['idsprof report, cold, small'] * 1e3:.1f} ms", "≤ 100 ms", least["idsprof report, cold, small"] <= 0.100),
    (f"the slowest export of mid ({slowest.split(', ')[1]})", f"{events / least[slowest] / 1e6:.1f} M events/s", "≥ 1 M events/s", events / least[slowest] >= 1e6),
    ("peak memory of exports of mid", f"{max(max(peaks[name]) for name in exports):.0f} MB", "≤ 100 MB", max(max(peaks[name]) for name in exports) <= 100),
    ("cold report on mid against the walk limit", f"{least[i] / least['walk limit, mid']:.1f}×", "", True),
]
print("\n| goal | measured | wanted | |\n|---|---|---|---|")
for title, measured, wanted, met in goals:
    print(f"| {title} | {measured} | {wanted} | {'' if not wanted else 'met' if met else 'MISSED'} |")
sys.exit(0 if all(goal[3] for goal in goals) else 1)
