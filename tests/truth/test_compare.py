#!/usr/bin/env python3
"""Pairs of programs with one known change, recorded live: diff says first what was changed. See README.md.

Four of the pairs, for which it takes at most 3 minutes; all of them: compare/judge.py. A pair that others disturbed so much that its change
is not above its noise is recorded again."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "compare"))
import judge  # noqa: E402  (found through the line above)

sys.exit(judge.main(["--seconds", "120", "--again", "1", "extra_layer", "input_sleep", "recompile", "bigger_matmul"]))
