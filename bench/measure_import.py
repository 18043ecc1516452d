"""Interleaved timings of `idsprof import` against xprof's events_db (xplane to Parquet), on one xplane file. Used by run.sh.

usage: measure_import.py IDSPROF PYTHON XPROF_EVENTSDB XPLANE ROUNDS [NAME]
Prints a Markdown table. idsprof is timed as a whole process, with the fsync at its end; of xprof only the conversion counts, without its imports
and without compression, which it is fastest without. Memory is the peak resident set of the process. CPU seconds are of all threads and of whole processes:
they say what a loaded machine hides."""
import os
import re
import shutil
import sqlite3
import sys
import tempfile

from rounds import judge, measure, run

idsprof, python, tool, profile, rounds = sys.argv[1:5] + [int(sys.argv[5])]
what = sys.argv[6] if len(sys.argv) > 6 else 'mid'
folder = tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(idsprof)))
database, parquet = os.path.join(folder, 'run.db'), os.path.join(folder, 'run.parquet')


cpu = {}


def xprof():
    _, memory, out = run([python, tool, profile, parquet, 'UNCOMPRESSED'])
    cpu.setdefault(theirs, []).append(run.cpu)
    return float(re.search(r'convert ([\d.]+)', out)[1]), memory, out


def write():
    result = run([idsprof, 'import', profile, '-o', database, '--force', '--quiet'])
    cpu.setdefault(ours, []).append(run.cpu)
    return result


theirs, ours = f'xprof events_db, {what}', f'idsprof import, {what}'
try:
    least, peaks = measure({theirs: xprof, ours: write}, rounds)
    size = os.path.getsize(database) / os.path.getsize(profile)
    parquet_size = os.path.getsize(parquet) / os.path.getsize(profile)
    db = sqlite3.connect(database)
    events = db.execute('SELECT count(*) FROM event').fetchone()[0]
    db.close()
finally:
    shutil.rmtree(folder)
sys.exit(judge([
    (f'import of {what} against xprof', f'{least[theirs] / least[ours]:.1f}×', '≥ 4×', least[theirs] / least[ours] >= 4),
    ('the same in CPU seconds', f'{min(cpu[theirs]) / min(cpu[ours]):.1f}× ({min(cpu[theirs]):.2f} s, {min(cpu[ours]):.2f} s)', '', True),
    ('events imported', f'{events / least[ours] / 1e6:.2f} M events/s', '≥ 1.2 M events/s', events / least[ours] >= 1.2e6),
    ("peak memory of import, share of xprof's", f'1/{peaks[theirs] / peaks[ours]:.1f}', '≤ 1/4', peaks[ours] * 4 <= peaks[theirs]),
    (f"size of the database, of the xplane's (Parquet: {parquet_size:.2f})", f'{size:.2f}', '≤ 1.6', size <= 1.6),
]))
