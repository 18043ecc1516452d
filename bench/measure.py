"""Interleaved timings of idsprof against xprof's overview_page, on one xplane file. Used by run.sh.

usage: measure.py IDSPROF WALK XPROF_PYTHON XPROF_TOOL MID SMALL ROUNDS
Prints a Markdown table. Each round runs every command once, so that a slow minute of the machine hits all of them; the minimum counts.
idsprof is timed as a whole process with an empty cache (cold) or a filled one; of xprof only the first call of the converter counts,
without the 1 to 2 seconds of imports. Exports are timed with their writing into the temporary folder. Memory is the peak resident set of the process."""
import json, os, shutil, sys, tempfile

from rounds import cold, judge, measure, report, run

idsprof, walk, python, tool, mid, small, rounds = sys.argv[1:7] + [int(sys.argv[7])]


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


def diff(path, other):
    return run([idsprof, "diff", path, other], env={**os.environ, "XDG_CACHE_HOME": warm})


def limit(path):
    _, memory, out = run([walk, path])
    return float(out.split()[0]), memory, out


warm = tempfile.mkdtemp()
# Of their own: xprof links the file that it reads into a folder, which changes its ctime, and with it what the cache goes by.
cached, again, cached_small = [shutil.copyfile(path, os.path.join(warm, name + ".xplane.pb")) for path, name in
                               ((mid, "mid"), (mid, "again"), (small, "small"))]
for path in (cached, again, cached_small):
    report(idsprof, path, warm)
size = {path: os.path.getsize(path) for path in (mid, small)}
events = int(limit(mid)[2].split()[1])
print(f"mid {size[mid] / 1e6:.1f} MB ({events} events), small {size[small] / 1e6:.1f} MB; {rounds} interleaved rounds\n")
exports = {f"idsprof extract, {kind}, mid": kind for kind in ("chrome", "perfetto", "xplane", "csv")}
least, peaks = measure({
    "xprof overview_page, first call, mid": lambda: xprof(mid),
    "idsprof report, cold, mid": lambda: cold(idsprof, mid),
    "idsprof report, cached, mid": lambda: report(idsprof, cached, warm),
    "idsprof diff, both cached, mid": lambda: diff(cached, again),
    "walk limit, mid": lambda: limit(mid),
    "xprof overview_page, first call, small": lambda: xprof(small),
    "idsprof report, cold, small": lambda: cold(idsprof, small),
    "idsprof report, cached, small": lambda: report(idsprof, cached_small, warm),
    **{name: lambda kind=kind: export(mid, kind) for name, kind in exports.items()},
}, rounds)
shutil.rmtree(warm)
x, i = "xprof overview_page, first call, mid", "idsprof report, cold, mid"
slowest = max(exports, key=lambda name: least[name])
most = max(peaks[name] for name in exports)
sys.exit(judge([
    ("cold report on mid against xprof", f"{least[x] / least[i]:.1f}×", "≥ 8×", least[x] / least[i] >= 8),
    ("peak memory on mid, share of xprof's", f"1/{peaks[x] / peaks[i]:.1f}", "≤ 1/4", peaks[i] * 4 <= peaks[x]),
    ("cached report on mid", f"{least['idsprof report, cached, mid'] * 1e3:.1f} ms", "≤ 30 ms", least["idsprof report, cached, mid"] <= 0.030),
    ("diff of two cached mid runs", f"{least['idsprof diff, both cached, mid'] * 1e3:.1f} ms", "≤ 50 ms", least["idsprof diff, both cached, mid"] <= 0.050),
    ("cold report on small", f"{least['idsprof report, cold, small'] * 1e3:.1f} ms", "≤ 100 ms", least["idsprof report, cold, small"] <= 0.100),
    (f"the slowest export of mid ({slowest.split(', ')[1]})", f"{events / least[slowest] / 1e6:.1f} M events/s", "≥ 1 M events/s", events / least[slowest] >= 1e6),
    ("peak memory of exports of mid", f"{most:.0f} MB", "≤ 100 MB", most <= 100),
    ("cold report on mid against the walk limit", f"{least[i] / least['walk limit, mid']:.1f}×", "", True),
]))
