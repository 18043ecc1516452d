#!/usr/bin/env python3
"""Ranks of jax.distributed, of which one or another is late, and clocks that differ: who is late is said first. See README.md."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402  (found through the line above)

sys.exit(run.main(["ranks"]))
