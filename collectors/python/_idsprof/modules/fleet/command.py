"""The command: `idsprof fleet`, or `python -m idsprof.fleet`."""
import argparse
import logging
import sys

from idsprof import lake
from idsprof.fleet import ending, program, text
from idsprof.fleet.errors import Error
from idsprof.fleet.fleet import RETRIES, Fleet, compare, report_of

VERBS = ('report', 'diff', 'query')
STORES = ('fsspec', 'gcsfs', 's3fs', 'adlfs', 'aiobotocore', 'botocore', 'aiohttp', 'asyncio', 'google', 'urllib3')


def parse(arguments):
    parser = argparse.ArgumentParser(prog='idsprof fleet', allow_abbrev=False, description='Many runs in buckets and folders, read by many processes.')
    parser.add_argument('verb', choices=VERBS, metavar='report|diff|query')
    parser.add_argument('operands', nargs='+', metavar='URL', help='a file, folder or pattern: a path, s3://, gs://, http://, ...')
    parser.add_argument('--scheduler', metavar='ADDRESS', help='a scheduler of Dask, tcp://HOST:8786 (else this machine does it)')
    parser.add_argument('--processes', type=int, metavar='N', help='processes at once on this machine (as many as it has processors)')
    parser.add_argument('--cache', metavar='URL', help='where partials are kept (~/.cache/idsprof-fleet)')
    parser.add_argument('--retries', type=int, default=RETRIES, metavar='N', help='tries of a file after its store or worker failed (2)')
    parser.add_argument('-r', '--run', metavar='NAME', help='report: all of one run')
    parser.add_argument('--lake', metavar='DIR', help='query: where the rows of runs are kept, a folder that all workers see')
    parser.add_argument('-n', '--top', type=int, default=40, metavar='N', help='the N worst runs, or rows of a difference (40; 0: all)')
    parser.add_argument('-j', '--json', action='store_true', help='print JSON')
    parser.add_argument('-c', '--csv', action='store_true', help='print CSV')
    parser.add_argument('-f', '--full', action='store_true', help='do not shorten names and lists')
    parser.add_argument('--width', type=int, metavar='N', help='columns of a line')
    options = parser.parse_args(arguments)
    if options.json and options.csv:
        parser.error('--json and --csv exclude each other')
    return options


def say(words, below=()):
    first, *rest = words.splitlines() or ['']
    print('idsprof: fleet: ' + text.clean(first), file=sys.stderr)
    for line in [*('  ' + text.clean(line) for line in rest if line.strip()), *below]:
        print(line, file=sys.stderr)


def put(output):
    with lake.written():
        sys.stdout.write(output)


def put_by(function, *arguments):
    """What a function writes into a stream, which comes last."""
    with lake.written():
        function(*arguments, sys.stdout)


def _form(options):
    """As the program writes for people."""
    return ['--width', str(text.terminal_width(options.width)), *(['--full'] if options.full else [])]


def fleet_of(options, urls):
    return Fleet(urls, scheduler=options.scheduler, processes=options.processes, cache=options.cache, retries=options.retries)


def end(fleet, options):
    """Says what is missing. 2 where something is."""
    if fleet.failures:
        say('%d could not be read:' % len(fleet.failures), text.failure_lines(fleet.failures, options.full))
    return 2 if fleet.failures else 0


def report(options):
    fleet = fleet_of(options, options.operands)
    if options.run:
        run = fleet.choose(options.run)
        form = ['--json'] if options.json else ['--csv'] if options.csv else _form(options)
        status, output, words = report_of(fleet, run, form)
        put(output)
        sys.stderr.write(words)
        return end(fleet, options) or status
    summary = fleet.summary()
    if not summary['runs'] and not fleet.failures:
        raise Error('no run there')
    if options.json:
        put(text.as_json(summary))
    elif options.csv:
        put_by(text.as_csv, summary['runs'])
    elif summary['runs']:
        put(text.report(summary, text.terminal_width(options.width), options.full, options.top))
    return end(fleet, options)


def diff(options):
    if len(options.operands) != 2:
        raise Error('expected: idsprof fleet diff URL URL: two folders or patterns of runs')
    before, after = (fleet_of(options, [url]) for url in options.operands)
    form = ['--json'] if options.json else ['--csv'] if options.csv else _form(options)
    status, output, words = compare(before, after, [*form, '--top', str(options.top)])
    put(output)
    sys.stderr.write(words)
    return max(end(before, options), end(after, options), status)


def query(options):
    if len(options.operands) < 2:
        raise Error("expected: idsprof fleet query URL... 'SELECT ...'")
    fleet = fleet_of(options, options.operands[:-1])
    columns, rows = fleet.query(options.operands[-1], options.lake)
    put_by(text.rows, columns, rows, 'json' if options.json else 'csv' if options.csv else 'text')
    return end(fleet, options)


def main(arguments=None):
    options = parse(arguments)
    for name in STORES:         # what they log is said in one line of ours
        logging.getLogger(name).setLevel(logging.CRITICAL)
    ending.listen(lambda: say('stopped; what was read is kept'))
    try:
        return {'report': report, 'diff': diff, 'query': query}[options.verb](options)
    except KeyboardInterrupt:
        return 2
    except (Error, lake.Error, OSError) as error:
        if not program.is_stopped():
            say(str(error))
        return 2
    finally:
        ending.give_way()
