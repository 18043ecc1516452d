"""HTA's five reports on one Kineto trace: what a user runs for what `idsprof report` says. Used by run.sh.

usage: hta_reports.py FILE      prints {"seconds": ..., "peak_rss_mb": ...}, without the time of the imports
The five: temporal breakdown, idle time breakdown, overlap of communication and computation, GPU kernel breakdown, launch statistics."""
import json, logging, os, resource, sys, time

logging.disable(logging.WARNING)
from hta.trace_analysis import TraceAnalysis

path = os.path.abspath(sys.argv[1])
begin = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path), include_last_profiler_step=True)
tables = [analysis.get_temporal_breakdown(visualize=False), analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0],
          analysis.get_comm_comp_overlap(visualize=False), analysis.get_gpu_kernel_breakdown(visualize=False)[1],
          analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]]
seconds = time.perf_counter() - begin
if not all(len(table) for table in tables):
    sys.exit("hta_reports.py: a report is empty")
print(json.dumps({"seconds": seconds, "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
