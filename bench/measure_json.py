"""Interleaved timings of idsprof on JSON traces against json.load alone and against HTA's five reports. Used by run.sh.

usage: measure_json.py IDSPROF PYTHON JSON KINETO ROUNDS        KINETO may be "-": without HTA
As measure.py: idsprof as a whole process with an empty cache; json.load and HTA without the start of Python and the imports."""
import json, os, sys

from rounds import cold, judge, measure, run

idsprof, python, trace, kineto, rounds = sys.argv[1:5] + [int(sys.argv[5])]
here = os.path.dirname(os.path.abspath(__file__))


def script(name, path):
    _, _, out = run([python, os.path.join(here, name), path])
    answer = json.loads(out.splitlines()[-1])
    return answer["seconds"], answer["peak_rss_mb"], answer


big, load = "idsprof report, cold, json", "json.load of the same file"
commands = {big: lambda: cold(idsprof, trace), load: lambda: script("json_load.py", trace)}
print(f"json {os.path.getsize(trace) / 1e6:.1f} MB in gzip ({script('json_load.py', trace)[2]['events']} elements); {rounds} interleaved rounds\n")
if kineto != "-":
    commands["idsprof report, cold, kineto"] = lambda: cold(idsprof, kineto)
    commands["HTA, five reports, kineto"] = lambda: script("hta_reports.py", kineto)
least, peaks = measure(commands, rounds)
goals = [
    ("cold report on json against json.load", f"{least[load] / least[big]:.1f}×", "≥ 5×", least[load] >= 5 * least[big]),
    ("peak memory on json", f"{peaks[big]:.0f} MB", "≤ 200 MB", peaks[big] <= 200),
]
if kineto != "-":
    ratio = least["HTA, five reports, kineto"] / least["idsprof report, cold, kineto"]
    goals.append(("cold report on kineto against HTA's five", f"{ratio:.1f}×", "≥ 8×", ratio >= 8))
sys.exit(judge(goals))
