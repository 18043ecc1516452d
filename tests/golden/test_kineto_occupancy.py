#!/usr/bin/env python3
"""Kineto's "est. achieved occupancy %" of every kernel of the shared traces is what our theoretical occupancy and the waves of
its grid give: blocks of the grid on each multiprocessor, but no more than fit, times threads. Kineto computes it with NVIDIA's
calculator from figures of the driver, we from the vendors' tables. It writes whole per cents, and 0 where it is less than one or its calculator gives up: there the report has ours.
Environment: IDSPROF, IDS_SHARED.  Exit: 0, 1, 77."""
import json
import os
import subprocess
import sys
from pathlib import Path

TRACES = Path(os.environ.get("IDS_SHARED") or "shared") / "traces"
FOLDERS = ("kineto_2021_resnet50", "kineto_a100_control", "kineto_big_v100", "kineto_cold_start", "kineto_h100_bert", "kineto_nccl_a100",
           "kineto_v100_test")  # those that say which devices they are of
if not TRACES.is_dir():
    print(f"SKIP: no {TRACES}")
    sys.exit(77)

compared = failures = 0
for folder in FOLDERS:
    run = subprocess.run([os.environ["IDSPROF"], "report", "--json", "--top", "100000", *map(str, (TRACES / folder).glob("*.json*"))],
                         capture_output=True, text=True, timeout=300, check=True)
    table = json.loads(run.stdout)["tables"]["kernels"]
    ids = [column["id"] for column in table["columns"]]
    here = 0
    for row in (dict(zip(ids, cells)) for cells in table["rows"]):
        if row["achieved_occupancy"] is None:
            continue
        here += 1
        if row["waves"] is None:
            print(f"FAIL {folder}: no waves of {row['name']} {row['grid']} {row['block']} {row['registers']}")
            failures += 1
            continue
        wanted = min(1, row["waves"]) * row["occupancy"]
        if abs(wanted - row["achieved_occupancy"]) > 0.0051:
            print(f"FAIL {folder}: {row['name']} {row['grid']} {row['block']}: {wanted}, Kineto {row['achieved_occupancy']}")
            failures += 1
    print(f"{folder}: {here} kernels")
    compared += here
print(f"{compared} kernels by launch shape, {failures} unlike")
sys.exit(failures > 0 or compared < 2000)
