#!/usr/bin/env python3
"""Programs with a planted cause, recorded with default options: stacks are sampled, and the first thing that is said names the function and
the line. A cause of each kind; one in ten may be wrong, as in test_planted.py."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402  (found through the line above)

sys.exit(run.main(["planted", "--sampled", "--let-pass", "1", "loader_sleep", "queue_sleep", "collated", "python_loop", "json", "float_loss", "asarray", "device_put",
                   "round_trip", "new_shape", "tiny_step", "evaluation"]))
