"""json.load of a trace.json.gz and nothing else: the least that a Python tool does. Used by run.sh; prints as hta_reports.py does."""
import gzip, json, resource, sys, time

begin = time.perf_counter()
with gzip.open(sys.argv[1], "rb") as file:
    events = len(json.load(file)["traceEvents"])
seconds = time.perf_counter() - begin
print(json.dumps({"seconds": seconds, "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "events": events}))
