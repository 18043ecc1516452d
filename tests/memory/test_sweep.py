#!/usr/bin/env python3
"""A part of the sweep (sweep.py): all allocations of a report with HLO, of one out of an archive, of doctor; all chains of capture, the first
allocations of query (the files, before any is read); of other commands some.

Environment: as sweep.py.
"""
import os
import sys

import sweep

WHOLE = ["report_explain", "report_zip", "extract_files", "doctor", "trigger", "help", "dump"]


def main():
    if os.environ.get("IDS_SANITIZE") == "1":
        return sweep.main(["--sample", "2"])
    whole = [part for name in WHOLE for part in ("--case", name)]
    others = [part for name in sweep.CASES if name not in WHOLE for part in ("--case", name)]
    return (sweep.main(whole) | sweep.main(["--chains", "--case", "capture"]) | sweep.main(["--most", "40", "--case", "query"]) |
            sweep.main(["--sample", "6"] + others))


if __name__ == "__main__":
    sys.exit(main())
