#!/usr/bin/env python3
"""Real traces with an engineer's verdict: what is said first is it. See README.md."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402  (found through the line above)

sys.exit(run.main(["traces"]))
