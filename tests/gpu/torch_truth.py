#!/usr/bin/env python3
"""Is the first piece of advice true of PyTorch programs on a GPU?  torch_truth.py OUT [CAUSE ...] records torch_planted.py with each
cause, and prints one table as tests/truth/run.py does. Environment: IDSPROF, IDS_SOURCE_DIR, IDS_GPU_PYTHON."""
import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
PYTHON = os.environ.get('IDS_GPU_PYTHON', 'python3')
sys.path.insert(0, str(SOURCE / 'tests/truth'))
import run as truth  # noqa: E402

AT_ONCE = 1  # programs that share a GPU take turns, in which work of the others is launched and does not begin
CAUSES = {
    'loader_sleep': truth.Cause('host.input|host.python', '', '__getitem__'),
    'augment': truth.Cause('host.python', 'augment'),
    'item': truth.Cause('host.sync', 'item', 'log_loss'),
    'pageable': truth.Cause('copy.h2d', '', 'upload'),
    'small_ops': truth.Cause('host.dispatch', 'sgd_by_hand'),
    'gc_collect': truth.Cause('host.python', 'collect garbage|free_memory'),
    'empty_cache': truth.Cause('host.sync|host.runtime', '', 'give_memory_back'),
    'synchronize': truth.Cause('host.sync', 'synchronize', 'layer_time'),
    'compute': truth.Cause('work.*', ''),
}


def record(cause):
    folder = root / ('torch_' + cause)
    folder.mkdir(parents=True)
    done = subprocess.run([truth.IDSPROF, 'capture', '-s', '20', '-k', '20', '-o', folder / 'run', '--', PYTHON, SOURCE / 'tests/gpu/torch_planted.py',
                           cause], capture_output=True, text=True, timeout=200, check=False)
    (folder / 'log').write_text(done.stdout + done.stderr)
    captures = sorted((folder / 'run').glob('*')) if (folder / 'run').exists() else []
    return truth.report(captures[0]) if captures else {'error': done.stderr[-300:], 'advice': [], 'tables': {}, 'metrics': {}}


root = Path(sys.argv[1]).resolve()
names = sys.argv[2:] or list(CAUSES)
with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
    found = dict(zip(names, pool.map(record, names)))
verdicts = truth.Verdicts()
for name in names:
    cause, piece = CAUSES[name], truth.first_of(found[name])
    faults = [found[name]['error'][:80]] if 'error' in found[name] else truth.faults_of(cause, piece)
    verdicts.add(name, '%s: %s at %s' % (cause.account, cause.culprit or '*', cause.where), '%s: %s (%s)' % (
        piece.get('account'), piece.get('culprit'), piece.get('where')), '%.2f ms' % (1e3 * truth.saved(piece)), '-',
        '%.1f %%' % (100 * truth.unknown_share(found[name])), faults)
sys.exit(verdicts.end())
