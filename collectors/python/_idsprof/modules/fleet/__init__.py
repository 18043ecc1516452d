"""idsprof.fleet - many runs in buckets and folders, read by many processes: which of them is slow, and why.

    idsprof fleet report 's3://bucket/nightly/*'        # a row a run, and what all of them lose
    idsprof fleet diff /runs/before /runs/after         # two sets of runs
    idsprof fleet query /runs 'SELECT ...'              # SQL over all of them (DuckDB)

    import idsprof.fleet
    idsprof.fleet.report('gs://bucket/nightly', client=client)['runs'][0]['name']

Dask distributes the work: to processes of this machine, or to those of a scheduler or client that is given (Slurm by dask-jobqueue,
Kubernetes by dask-kubernetes). fsspec reads the files: a worker copies one to its disk, `idsprof partial` makes a partial of it,
a tenth of its size or less, and here the partials of a run become its report. Partials are kept, so that a second look reads only what is new.
Needed: `pip install 'idsprof[fleet]'`, on workers too. Python 3.9 and later.
"""
from idsprof.fleet.errors import Error
from idsprof.fleet.fleet import Fleet, diff, query, report

__all__ = ['Error', 'Fleet', 'diff', 'query', 'report']
