#!/usr/bin/env python3
"""testdata/cpu1_captured, recorded with `idsprof capture`: what the Python hook wrote into it is read as jax.monitoring said it
(monitoring.json, written by the program), by function, within 5 %; steps, scopes and annotations are there.
Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ['IDS_SOURCE_DIR']) / 'testdata' / 'cpu1_captured'
KINDS = {'jaxpr_trace_duration': 'tracing', 'jaxpr_to_mlir_module_duration': 'lowering', 'backend_compile_duration': 'backend'}
failures = 0


def same(what, found, wanted, share=0.0):
    global failures
    ok = isinstance(found, type(wanted)) and (abs(found - wanted) <= share * wanted if share else found == wanted)
    failures += not ok
    print('%s %s: %s, %s' % ('ok  ' if ok else 'FAIL', what, found, wanted))


def rows(report, table):
    columns = [column['id'] for column in report['tables'][table]['columns']]
    return {row[0]: dict(zip(columns, row)) for row in report['tables'][table]['rows']}


def main():
    report = json.loads(subprocess.run([os.environ['IDSPROF'], 'report', '--json', '--no-cache', FOLDER], capture_output=True,
                                       text=True, check=True).stdout)
    said = json.loads((FOLDER / 'monitoring.json').read_text())
    value = {name: metric['value'] for name, metric in report['metrics'].items()}
    by_function = collections.defaultdict(lambda: dict.fromkeys(KINDS.values(), 0.0))
    for span in said['durations']:
        by_function[span['fun_name'].removeprefix('jit(').removesuffix(')')][KINDS[span['event']]] += span['seconds']

    same('compile.total', value['compile.total'], said['sum_seconds']['backend_compile_duration'], 0.05)
    same('compile.tracing', value['compile.tracing'], said['sum_seconds']['jaxpr_trace_duration'], 0.05)
    same('compile.lowering', value['compile.lowering'], said['sum_seconds']['jaxpr_to_mlir_module_duration'], 0.05)
    same('compile.cache_hits', value['compile.cache_hits'], said['cache_hits'])
    same('compile.cache_misses', value['compile.cache_misses'], said['cache_misses'])
    same('hits and misses', (said['cache_hits'], said['cache_misses']), (2, 2))
    # train_step in step 0 and, after clear_caches, in step 2; score in steps 1 and 2
    same('compile.count', value['compile.count'], 4)
    same('compile.in_steps', value['compile.in_steps'], 4)
    found = rows(report, 'compile_functions')
    same('functions', sorted(found), sorted(by_function))
    for function, sums in by_function.items():
        for kind, seconds in sums.items():
            same('%s of %s' % (kind, function), found.get(function, {}).get(kind), seconds, 0.05)
        same('hits and misses of ' + function, (found[function]['cache_hits'], found[function]['cache_misses']), (1, 1))
    same('steps', (value['steps.source'], value['steps.count']), ('annotation', 4))
    same('annotations', {name: row['count'] for name, row in rows(report, 'annotations').items()}, {'fetch batch': 4})
    same('scopes', any('/layer0/' in str(cell) for row in rows(report, 'ops').values() for cell in row.values()), True)
    print('%d failures' % failures)
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
