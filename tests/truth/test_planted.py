#!/usr/bin/env python3
"""Programs with a planted cause, recorded live: what is said first is it. See README.md.

One in ten may be wrong: where two cores have other work, the first thing to say of a recording may be that work. The table names them."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402  (found through the line above)

sys.exit(run.main(["planted", "--let-pass", "1"]))
