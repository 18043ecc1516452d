#!/usr/bin/env python3
"""Mistakes of use: each is exit 2, nothing on standard output, and a message that names what was wrong.

Environment: IDSPROF (the binary), IDS_SOURCE_DIR.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

IDSPROF = os.environ['IDSPROF']
TESTDATA = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata'
RUN = str(TESTDATA / 'cpu1_annotated')
failures = []


def idsprof(*arguments, **keywords):
    return subprocess.run([IDSPROF, *arguments], capture_output=True, text=True, timeout=60, **keywords)


def check(ok, message):
    if not ok:
        failures.append(message)


# (arguments, what the first line on standard error is)
MISTAKES = [
    (['nonsense'], "idsprof: unknown command 'nonsense'"),
    (['reprot', RUN], "idsprof: unknown command 'reprot'; did you mean 'report'?"),
    ([RUN], f"idsprof: unknown command '{RUN}'; to report on that run: idsprof report {RUN}"),
    (['report'], 'idsprof: report: RUN... is missing; usage: idsprof report [options] RUN...'),
    (['report', RUN, 'another'], f"idsprof: report: '{RUN}': not a partial; several operands are the partials of one run ('idsprof partial FILE -o PARTIAL' makes one of a profile)"),
    (['list'], 'idsprof: list: PATH... is missing; usage: idsprof list [options] PATH...'),
    (['report', RUN, '--jsn'], "idsprof: report: unknown option '--jsn'; did you mean '--json'?"),
    (['report', RUN, '--qqq'], "idsprof: report: unknown option '--qqq'"),
    (['report', RUN, '-q'], "idsprof: report: unknown option '-q'"),
    (['report', RUN, '--top'], "idsprof: report: option '--top' needs a value (N)"),
    (['report', RUN, '--top', 'ten'], "idsprof: report: --top: 'ten' is not a whole number"),
    (['report', RUN, '--top=-1'], "idsprof: report: --top: '-1' is below 0"),
    (['report', RUN, '--top=-x'], "idsprof: report: --top: '-x' is not a whole number"),
    (['track', 'show'], 'idsprof: track: expected: idsprof track show FILE'),
    (['fleet', 'report'], 'idsprof: fleet: at least 2 operands are needed, and 1 was given; usage: idsprof fleet [options] report|diff|query URL...'),
    (['report', RUN, '--json=1'], "idsprof: report: option '--json' takes no value"),
    (['report', RUN, '--from', '5'], "idsprof: report: --from: '5' needs a unit: ps, ns, us, ms, s, m or h"),
    (['report', RUN, '--from', '1e3s'], "idsprof: report: --from: '1e3s' needs a unit: ps, ns, us, ms, s, m or h"),
    (['report', RUN, '--to', 'soon'], "idsprof: report: --to: 'soon' is not a time such as 10us, 1.5ms or 2s"),
    (['report', RUN, '--from', '2s', '--to', '1s'], 'idsprof: report: --from is not before --to'),
    (['report', RUN, '--window', 'all'], "idsprof: report: --window: invalid value 'all' (run, device, steps)"),
    (['report', RUN, '--color', 'blue'], "idsprof: report: --color: invalid value 'blue' (auto, always, never)"),
    (['report', RUN, '--json', '--csv'], 'idsprof: report: --json, --csv and --markdown exclude each other'),
    (['report', RUN, '--explain', 'idle.shar'], "idsprof: report: --explain: invalid value 'idle.shar'; did you mean 'idle.share'?"),
    (['report', RUN, '--run', 'nope'], "idsprof: report: no run 'nope' among 1; the newest is 'cpu1_annotated' ('idsprof list' shows all)"),
    (['report', '/nonexistent'], "idsprof: report: cannot open '/nonexistent': No such file or directory"),
    (['list', '/nonexistent'], "idsprof: list: cannot open '/nonexistent': No such file or directory"),
    (['completion', 'tcsh'], "idsprof: completion: invalid value 'tcsh' (bash, zsh, fish)"),
    (['help', 'nothing'], "idsprof: help: invalid value 'nothing' (capture, trigger, doctor, report, view, diff, check, baseline, track, scale, list, extract, partial, import, query, fleet, mcp, cache, help, completion, metrics, schema, collectors)"),
    (['report', RUN, '--topp', '3'], "idsprof: report: unknown option '--topp'; did you mean '--top'?"),
    (['scale', RUN], 'idsprof: scale: 1 run, all on 1 device and of one method: scaling needs other numbers of devices, or another method '
                     '(METHOD:DEVICES=RUN names them where paths do not)'),
    (['check', RUN, '--max', 'nope=3'], "idsprof: check: no metric 'nope'; 'idsprof help metrics' lists them"),
    (['check', RUN, '--max', 'step.mean=3'], "idsprof: check: no metric 'step.mean'; did you mean 'steps.mean' or 'steps.median'?"),
    (['check', RUN, '--max', 'utilization=3'], "idsprof: check: no metric 'utilization'; did you mean 'device.utilization'?"),
    (['dump'], 'idsprof: dump: either --manual, --sql, --schema DATABASE, --hlo FILE, or --hash FILE'),
]


def check_mistakes():
    for arguments, message in MISTAKES:
        run = idsprof(*arguments)
        check(run.returncode == 2, f'{arguments}: exit {run.returncode}')
        check(run.stdout == '', f'{arguments}: stdout {run.stdout!r}')
        first = run.stderr.split('\n')[0]
        check(first == message, f'{arguments}: {first!r}, wanted {message!r}')
    run = idsprof('report', RUN, '--explain', 'xyzzy') # near nothing
    check(run.returncode == 2 and re.match(r"idsprof: report: --explain: invalid value 'xyzzy' \(one of \d+, such as 'run\.events', '", run.stderr), run.stderr)
    run = idsprof('report', RUN, '--section', 'nothing')
    check(run.returncode == 2 and re.match(r"idsprof: report: --section: invalid value 'nothing' \(overview, ", run.stderr), run.stderr)
    run = idsprof()
    check(run.returncode == 2 and run.stdout == '' and 'usage: idsprof' in run.stderr, 'without arguments')


def check_answers():
    """What is not a mistake, though it looks like one."""
    for arguments in (['-h'], ['--help'], ['--version'], ['-V'], ['version'], ['report', '-h'], ['list', '--help'], ['report', '--help', '--nonsense']):
        run = idsprof(*arguments)
        check(run.returncode == 0 and run.stdout and not run.stderr, f'{arguments}: {run.returncode} {run.stderr!r}')
    for word in ('--version', '-V', 'version'):
        check(re.fullmatch(r'idsprof \d+\.\d+\.\d+\n', idsprof(word).stdout), f'{word} does not print the version')
    begun = idsprof('report', RUN, '--section', 'idle')
    check(begun.stdout == idsprof('report', RUN, '--section', 'idle_gaps').stdout != '', 'idle is not idle_gaps')
    run = idsprof('report', RUN, '--section', 'co')
    check(run.returncode == 2 and "invalid value 'co' (overview, " in run.stderr, run.stderr)
    dashes = idsprof('report', RUN, '--section', 'idle-gaps')
    check(dashes.stdout == idsprof('report', RUN, '--section', 'idle_gaps').stdout != '', 'idle-gaps is not idle_gaps')
    with open(next((TESTDATA / 'cpu1_annotated').rglob('*.xplane.pb')), 'rb') as profile:
        run = idsprof('report', '-', '--json', stdin=profile)
    check(run.returncode == 0 and json.loads(run.stdout)['run']['name'] == 'stdin', f'report -: {run.stderr}')
    run = idsprof('report', str(TESTDATA), '--run', 'cpu1_plain', '--json')
    check(run.returncode == 0 and json.loads(run.stdout)['run']['name'] == 'cpu1_plain', f'--run: {run.stderr}')


def check_long_path():
    """Of a path as long as an argument can be the middle goes, and never the reason."""
    for command in (['report'], ['list'], ['extract'], ['import', '-o', '/dev/null/x.db'], ['query', '--schema'], ['diff', RUN], ['check', '--max', 'idle.share=100%']):
        path = '/first/' + 'n' * 5000 + '/last'
        said = idsprof(*command, path).stderr.split('\n')[0]
        check(re.search("'/?f?i?r?s?t?/?.*n\\.\\.\\.n.*/last': File name too long$", said) or command[0] == 'import', f'a long path: {command}: {said[:300]}...{said[-80:]}')
        check(len(said) < 600, f'a long path: {command}: {len(said)} bytes')


def check_list():
    """One path that cannot be read does not stop the others."""
    run = idsprof('list', '/nonexistent', RUN, '--json')
    check(run.returncode == 2 and '/nonexistent' in run.stderr, f'list: {run.returncode} {run.stderr!r}')
    runs = json.loads(run.stdout)['runs']
    check(len(runs) == 1 and runs[0]['name'] == 'cpu1_annotated' and runs[0]['state'] == 'whole', f'list: {runs}')
    figures = json.loads(idsprof('report', RUN, '--json').stdout)
    for key, metric in (('events', 'run.events'), ('steps', 'steps.count'), ('window', 'run.window')):
        check(runs[0][key] == figures['metrics'][metric]['value'], f'list and report differ in {key}')


def check_rocprof():
    """What AMD's own profiler writes is refused by its name, packed too, with what to record instead."""
    with tempfile.TemporaryDirectory() as folder:
        for name, pack in (('9_results.json', bytes), ('9_results.json.gz', gzip.compress)):
            path = Path(folder) / name
            path.write_bytes(pack(b'{"rocprofiler-sdk-tool":[{"metadata":{"pid":9},"agents":[],"buffer_records":{"kernel_dispatch":[]}}]}'))
            run = idsprof('report', str(path))
            check(run.returncode == 2 and 'rocprofv3' in run.stderr and 'torch.profiler' in run.stderr, f'{name}: {run.stderr!r}')


check_mistakes()
check_rocprof()
check_answers()
check_long_path()
check_list()
for failure in failures:
    print('FAIL:', failure)
sys.exit(bool(failures))
