"""The steps of a fleet's report: find, make the partials that are missing, put those of a run together, sum up."""
import contextlib
import functools
import gzip
import json
import os
import re
import tempfile

from idsprof import lake
from idsprof.fleet import engine, files, program, store, summary
from idsprof.fleet.errors import Error
from idsprof.fleet.work import add_rows, make_part

RETRIES = 2
FAILURES_SHOWN = 3      # in an error
REPORTS_AT_ONCE = 4     # each takes the memory of all partials of a run
SUFFIX = '.idspart'     # by which the program knows a partial
PART, REPORT, ROWS = 'part', 'report', 'rows'       # kinds of what is kept


def folder_name(name):
    return name.replace('/', '_')[-100:] or 'run'


def _folder_of(folder, name):
    """A new folder for what has this name: programs show it."""
    base = folder_name(name)
    for number in range(1, 100000):
        place = os.path.join(folder, base if number == 1 else '%s~%d' % (base, number))
        if not os.path.exists(place):
            os.makedirs(place)
            return place


class Fleet:
    """Runs at URLs, read once.

    client, scheduler: of Dask, where work shall be done; else `processes` of this machine (None: as many as it has processors).
    cache: the folder of what was read, a path or a URL. retries: of a file, when its store or its worker failed.
    """

    def __init__(self, urls, client=None, scheduler=None, processes=None, cache=None, retries=RETRIES, progress=engine.Progress):
        self.client, self.scheduler, self.processes, self.retries, self.progress = client, scheduler, processes, retries, progress
        if scheduler:
            engine.check_address(scheduler)
        self.store = store.Store(cache or store.default())
        urls = [urls] if isinstance(urls, (str, os.PathLike)) else list(urls)
        self.found = files.find([os.fspath(url) for url in urls])
        self.url = os.fspath(urls[0]) if urls else ''
        self.name = self.url.rstrip('/').rsplit('/', 1)[-1]
        self.failures = list(self.found.failed)     # (URL, why)
        self.passed = list(self.found.passed)
        self.bad = set()                            # keys of files that cannot be read
        self.read = 0                               # files that were read, not taken from the cache

    # --- partials of files ----------------------------------------------------------------------------------------------

    def key(self, file):
        """Without a stamp nobody can say whether the file is still the same."""
        return store.key_of('part', file.url, str(file.size), file.stamp or os.urandom(16).hex(), program.build())

    def _keys(self, runs):
        if not hasattr(self, '_known'):
            self._known = {file.url: self.key(file) for run in self.found.runs for file in run.files + run.beside}
        return [[self._known[file.url] for file in run.files + run.beside] for run in runs]

    def make_parts(self, runs):
        """Reads the files of the runs whose partials are not kept yet."""
        wanted = {}
        for run, keys in zip(runs, self._keys(runs)):
            for file, key in zip(run.files + run.beside, keys):
                if key not in self.bad and not self.store.has(key, PART):
                    wanted[key] = {'key': key, 'url': file.url, 'size': file.size,
                                   'is_generic': file.is_generic, 'version': program.version()}
        if not wanted:
            return
        self._work(make_part, 'files', list(wanted.values()), self._take)

    def _work(self, function, what, jobs, take):
        progress = self.progress(what, len(jobs))
        try:
            if self.client is None and not self.scheduler:
                engine.run_here(function, jobs, self.processes, self.retries, progress, take)
                return
            with engine.client_of(self.client, self.scheduler) as client:
                engine.run(function, jobs, client, self.retries, progress, take)
        finally:
            progress.end()

    def _take(self, job, answer):
        if answer.made is not None:
            self.read += 1
            self.store.put(job['key'], PART, answer.made)
            return
        self.bad.add(job['key'])
        (self.passed if answer.is_other else self.failures).append((job['url'], answer.why))

    # --- reports of runs ------------------------------------------------------------------------------------------------

    def _fetch(self, keys, place):
        """The partials of a run as files of a folder, which the program takes for the run. How many of them are there."""
        fetched = 0
        for number, key in enumerate(keys):
            content = self.store.get(key, PART)
            if content is not None:
                fetched += 1
                with open(os.path.join(place, '%05d%s' % (number, SUFFIX)), 'wb') as file:
                    file.write(content)
        return fetched

    def _good(self, keys):
        return [key for key in keys if key not in self.bad]

    def _report_key(self, keys):
        return store.key_of('report', program.build(), *keys)

    def _make_report(self, run, keys, scratch):
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            place = _folder_of(folder, run.name)
            if self._fetch(keys, place) < len(keys):
                return None                 # read them again
            status, output, words = program.run(['report', '--json', '--no-cache', place])
        if status:
            raise Error(lake.said(words))
        self.store.put(self._report_key(keys), REPORT, gzip.compress(output, 6, mtime=0))
        return json.loads(output)

    def _report(self, run, keys, scratch):
        kept = self.store.get(self._report_key(keys), REPORT)
        report = json.loads(gzip.decompress(kept)) if kept is not None else self._make_report(run, keys, scratch)
        if report:      # not those of the partials
            report['run'].update(name=run.name, path=run.url)
            sizes = [file.size for file, key in zip(run.files + run.beside, self._keys([run])[0]) if key in keys]
            if None not in sizes:
                report['run']['bytes'] = sum(sizes)
        return report

    def reports(self, runs=None, of=lambda run, report: report):
        """(run, report) of each run, as `idsprof report --json` has it, over those of its files that could be read. of: what to keep of a
        report instead; a thousand of them whole are gigabytes."""
        runs = self.found.runs if runs is None else runs
        answers, asked = {}, runs
        lacking = [run for run, keys in zip(runs, self._keys(runs)) if not self.store.has(self._report_key(keys), REPORT)]
        for _ in range(2):                  # partials that are damaged are made again, once
            self.make_parts(lacking)
            lacking = []
            with engine.threads(REPORTS_AT_ONCE) as (pool, scratch):
                for run, (answer, is_made) in zip(asked, pool.map(functools.partial(self._try_report, of=of, scratch=scratch), asked)):
                    if is_made:
                        answers[run.url] = answer
                    elif is_made is None:
                        lacking.append(run)
            if not lacking:
                break
            asked = lacking
        return [(run, answers[run.url]) for run in runs if run.url in answers]

    def _try_report(self, run, of, scratch):
        """What is kept of the report, and True; None where a partial lacks, False where it failed."""
        keys = self._good(self._keys([run])[0])
        try:
            report = self._report(run, keys, scratch) if keys else None
        except Error as error:
            self.failures.append((run.url, str(error)))
            return None, False
        return (of(run, report), True) if report else (None, None if keys else False)

    def summary(self):
        """What `idsprof fleet report --json` prints."""
        rows = [row for _, row in self.reports(of=lambda run, report: summary.row_of(run, report, len(run.files)))]
        name, _, version = program.version().partition(' ')
        return {'schema': 1, 'program': {'name': name, 'version': version}, **summary.summarize(rows),
                'failures': [{'url': url, 'why': why} for url, why in self.failures],
                'not_taken': [{'url': url, 'reason': why} for url, why in self.passed], 'files_read': self.read}

    def choose(self, name):
        """The run of a name, or of the end of a URL."""
        for run in self.found.runs:
            if name in (run.name, run.url) or run.url.endswith('/' + name) or files.plain_url(run.url).endswith('/' + name):
                return run
        raise Error("no run '%s' among %d: idsprof fleet report shows their names" % (name, len(self.found.runs)))

    def lay_out(self, runs, folder):
        """The partials of runs, a folder a run. What cannot be read is an empty one, so that the program says that it lacks. Places of these
        folders and files, and what they stand for."""
        self.make_parts(runs)
        why, laid, stands_for, fetched = dict(self.failures), [], [], 0
        for run, keys in zip(runs, self._keys(runs)):
            place = _folder_of(folder, run.name)
            fetched += self._fetch(self._good(keys), place)
            laid.append((place, run))
            for number, file in enumerate(run.files):
                if file.url in why:
                    stands_for.append((os.path.join(place, '%05d-lacks%s' % (number, SUFFIX)), file.url, why[file.url]))
                    open(stands_for[-1][0], 'wb').close()
        if not fetched:
            raise Error('no run could be read there: %s' % ', '.join(run.url for run in runs[:3]))
        return laid, stands_for

    # --- rows of runs ---------------------------------------------------------------------------------------------------

    def _kept_rows(self, key, there):
        """The key of a run in the lake, and which of its files it lacks; None where it is not there, or an earlier version kept it."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            kept = json.loads(self.store.get(key, ROWS) or b'')
            if kept['run'] in there:
                return kept['run'], kept['lacks']
        return None

    def add_rows(self, folder):
        """Puts the runs into the lake that are not there yet: {key of what was kept: key of the run}."""
        there, added, jobs = set(lake.Lake(folder).runs()), {}, []
        for run, keys in zip(self.found.runs, self._keys(self.found.runs)):
            key = store.key_of('rows', os.path.realpath(folder), run.url, *keys)
            kept = self._kept_rows(key, there)
            if kept:
                added[key] = kept[0]
                self._lack(kept[1])
            else:
                jobs.append({'key': key, 'url': run.url, 'lake': folder, 'version': program.version(),
                             'files': [(file.url, file.size) for file in run.files + run.beside]})

        def take(job, answer):
            if answer.made is None:
                self._lack([(job['url'], answer.why)])
                return
            self.read += len(job['files'])
            added[job['key']] = answer.made.decode()
            if not answer.passes:
                self.store.put(job['key'], ROWS, json.dumps({'run': added[job['key']], 'lacks': answer.lacks}).encode())
            self._lack(answer.lacks)

        if jobs:
            self._work(add_rows, 'runs', jobs, take)
        return added

    def _lack(self, failures):
        self.failures += [tuple(failure) for failure in failures if tuple(failure) not in self.failures]

    def _open(self, folder, use):
        """What use() makes of a connection over the runs, and of their folder. Runs with damaged files are made again, once."""
        if folder is None and not self.store.is_local:
            raise Error("rows cannot be kept in '%s': name a folder that all workers see with --lake" % self.store.url)
        folder = os.path.abspath(folder or os.path.join(self.store.folder, 'lake'))
        for is_again in (False, True):
            added = self.add_rows(folder)
            if not added:
                raise Error('\n'.join(['no run could be read', *('%s: %s' % failure for failure in self.failures[:FAILURES_SHOWN])]))
            try:
                return use(lake.connect(folder, list(added.values())), folder)
            except lake.Damaged:
                damaged = set() if is_again else lake.damaged(folder, added.values())
                if not damaged:
                    raise
                for key in (key for key, run in added.items() if run in damaged):
                    self.store.forget(key, ROWS)        # one that was not kept is made again anyway

    def lake(self, folder=None):
        """A connection of DuckDB with the views of idsprof-schema(5) over the runs. folder: where their rows are, which all workers see."""
        return self._open(folder, lambda connection, _: connection)

    def query(self, sql, folder=None):
        """The names of columns, and the rows that one statement gives. It can only read, and only these runs."""
        return self._open(folder, lambda connection, place: lake.ask(connection, sql, place))


def report(urls, **options):
    """What `idsprof fleet report --json` says, as a dict. Options as of Fleet."""
    return Fleet(urls, **options).summary()


def ask(command, sides, options=()):
    """Runs the program over the partials of runs: its exit status, output and messages. sides: (name, URL, fleet, runs), each one operand."""
    with program.folder() as folder:
        places, laid, lacks = [], [], []
        for name, url, fleet, runs in sides:
            places.append(_folder_of(folder, name))
            of_runs, of_files = fleet.lay_out(runs, places[-1])
            laid += [(place, run.url) for place, run in of_runs] + [(places[-1], url)]
            lacks += of_files
        status, output, words = program.run([command, '--no-cache', *options, *places])
        output = output.decode('utf-8', 'replace')
        return status, _named(output, laid, lacks, '--json' in options), _named(words, laid, lacks, False)


def _named(text, laid, lacks, is_json):
    """What the program says, with URLs for places here: what it suggests shall be of use when they are gone."""
    for place, url, why in lacks:
        if is_json:
            text = text.replace("'%s': the file is empty" % place, json.dumps("'%s': %s" % (url, why), ensure_ascii=False)[1:-1])
        text = re.sub(re.escape("'%s':" % place) + r'(\s+)the(\s+)file(\s+)is(\s+)empty',
                      lambda found: "'%s':%scould%snot%sbe%sread" % (url.rsplit('/', 1)[-1], *found.groups()), text)
    for place, url in laid:
        text = text.replace(place, json.dumps(url, ensure_ascii=False)[1:-1] if is_json else url)
    return text


def report_of(fleet, run, options):
    """`idsprof report` of one run, under its name here: a folder cannot have each."""
    status, output, words = ask('report', [(run.name, run.url, fleet, [run])], options)
    shown = folder_name(run.name)
    if '--json' in options:
        there, here = ('"name": %s' % json.dumps(name, ensure_ascii=False) for name in (shown, run.name))
        return status, output.replace(there, here, 1), words
    return status, run.name + output[len(shown):] if output.startswith(shown + ' ') else output, words


def diff(before, after, **options):
    """What `idsprof diff --json` says of two sets of runs, as a dict. Options as of Fleet."""
    status, output, words = compare(Fleet(before, **options), Fleet(after, **options), ['--json'])
    if status == 2:
        raise Error(lake.said(words))
    return json.loads(output)


def compare(before, after, options):
    for fleet in (before, after):
        if not fleet.found.runs:
            raise Error('no run there: %s' % ', '.join('%s (%s)' % failure for failure in fleet.failures))
    return ask('diff', [(fleet.name, fleet.url, fleet, fleet.found.runs) for fleet in (before, after)], options)


def query(urls, sql, lake=None, **options):
    """The rows that a statement gives over all runs, as dicts."""
    columns, rows = Fleet(urls, **options).query(sql, lake)
    return [dict(zip(columns, row)) for row in rows]
