#!/usr/bin/env python3
"""`report --by scope` and the other cuts: sums, --depth, --top, --sort, what is refused; names that are long, deep, many and odd.

Environment: IDSPROF, IDS_SOURCE_DIR.  Exit: 0, 1.
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

SOURCE = Path(os.environ.get('IDS_SOURCE_DIR') or Path(__file__).resolve().parents[2])
IDSPROF = os.environ['IDSPROF']
MINI = SOURCE / 'testdata' / 'mini'
RUNS = [SOURCE / 'testdata' / 'cpu1_annotated', MINI / 'layers.mini', MINI / 'layers_tensorflow.mini', MINI / 'ops_nested.mini']
failures = checks = 0


def check(ok, *what):
    global failures, checks
    checks += 1
    if not ok:
        failures += 1
        print('FAIL', *what)


def run(*arguments):
    return subprocess.run([IDSPROF, 'report', '--no-cache', *map(str, arguments)], capture_output=True, text=True, timeout=100)


def table(run_at, name, *arguments):
    done = run('--json', *arguments, run_at)
    if done.returncode:
        sys.exit(f'FAIL {arguments} {run_at}: {done.stderr}')
    found = json.loads(done.stdout)['tables'][name]
    ids = [column['id'] for column in found['columns']]
    return [dict(zip(ids, row, strict=True)) for row in found['rows']]


def check_cuts(path):
    """Each cut of the device time has all of it."""
    whole = sum(Fraction(row['self']) for row in table(path, 'op_categories', '--by', 'category'))
    for by, name in (('module', 'time_by_module'), ('source', 'time_by_source'), ('family', 'time_by_family')):
        rows = table(path, name, '--by', by)
        check(abs(sum(Fraction(row['self']) for row in rows) - whole) < 1e-11, path, by, rows)
        if path.name == 'layers.mini':  # a loop's operations are those of its body's op, and count once
            check(sum(row['flops'] or 0 for row in rows) == 230, path, by, 'operations', rows)
    layers = table(path, 'layers', '--by', 'scope')
    check(abs(sum(Fraction(row['self']) for row in layers) - whole) < 1e-11, path, 'scope', layers)
    ops, alike = table(path, 'ops', '--section', 'ops'), table(path, 'computations', '--by', 'op')
    kinds = {(row['module'], row['fingerprint'] or row['name']) for row in ops if row['module']}
    check(len([row for row in alike if row['module']]) == len(kinds), path, 'a row a fingerprint', len(kinds), alike)
    check(sum(row['ops'] or 1 for row in alike) == len(ops), path, 'ops alike', len(ops), alike)
    check(abs(sum(Fraction(row['self']) for row in alike) - sum(Fraction(row['self']) for row in ops)) < 1e-11, path, 'time of ops alike')
    check(sum(row['count'] for row in alike) == sum(row['count'] for row in ops), path, 'executions of ops alike')


def check_unnamed():
    """A cut by what no op has a name of says why; where some have one, the rest has none."""
    for by, name in (('source', 'time_by_source'), ('module', 'time_by_module')):
        rows = table(SOURCE / 'testdata/mini/waste_copies.mini', name, '--by', by)
        check(len(rows) == 1 and rows[0][by].startswith('no op of this recording names'), by, rows)


def check_facts():
    """What programs say is there for people too, not in JSON alone."""
    text, rows = run('--section', 'program_facts', '--top', '0', SOURCE / 'testdata/cpu8_annotated').stdout, table(SOURCE / 'testdata/cpu8_annotated', 'program_facts', '--section', 'program_facts')
    for row in rows:
        check(any(row['module'] in line and row['what'] in line for line in text.splitlines()), 'program_facts', row, text)
    check(len(rows) > 5, 'program_facts', rows)


def check_shown():
    """A tree is cut where its rows matter least; what has the only scope with time inside it is one row with that."""
    path = MINI / 'layers.mini'
    text = run('--by', 'scope', path).stdout
    lines = [line for line in text.splitlines() if ' us ' in line]
    check(any(line.split()[-2:] == ['layer_*/attn', 'layer_2'] for line in lines), 'joined', text)
    check(any(line.endswith('    mlp                -') or line.rstrip(' -').endswith('      mlp') for line in lines), 'indented', text)
    check(len(text.splitlines()) < 40 and all(len(line) <= 120 for line in text.splitlines()), 'a screen', text)
    top = run('--by', 'scope', '--top', '3', path).stdout
    check('TOP 3 LAYERS' in top and 'scanned' in top and 'stem_1' not in top and 'more with --top 0' in top, 'top', top)
    shallow = table(path, 'layers', '--by', 'scope', '--depth', '1')
    check([row['id'] for row in shallow] == ['train_step', '(no scope)'], 'depth', shallow)
    part = table(path, 'layers', '--by', 'scope', '--from', '40us', '--to', '70us')
    check([row['total'] for row in part if row['id'] == 'train_step/layer_0'] == [30e-6], 'a part of the time', part)
    lines = list(csv.DictReader(io.StringIO(run('--by', 'scope', '--csv', path).stdout)))
    check(len(lines) == len(table(path, 'layers', '--by', 'scope')) and lines[0]['id'] == 'train_step', 'csv', lines)


def check_unknown():
    """Where no op says where it stands in its program, nothing is said of scopes: 0 % would be a false word."""
    path = MINI / 'ops_nested.mini'
    found = json.loads(run('--json', path).stdout)['metrics']
    for name in ('scoped', 'backward', 'recomputed'):
        metric = found[f'layers.{name}_share']
        check(metric['value'] is None and 'where it stands' in metric['reason'], name, metric)


def check_sort():
    path = MINI / 'layers.mini'
    names = [row['id'] for row in table(path, 'layers', '--by', 'scope', '--sort', 'scope')]
    inside = [name for name in names if name.count('/') == 1 and name.startswith('train_step')]
    check(inside == sorted(inside) and names[0] == '(no scope)' and names.index('train_step/layer_*/attn') == names.index('train_step/layer_*') + 1,
          'sorted by name, each with what is in it', names)
    rows = table(path, 'ops', '--section', 'ops', '--sort', 'count')
    check([row['count'] for row in rows] == sorted((row['count'] for row in rows), reverse=True), 'ops by count', rows)
    for arguments, words in ((('--sort', 'self'), '--section or --by'), (('--by', 'scope', '--sort', 'colour'), "no column 'colour'"),
                             (('--by', 'scope', '--section', 'ops'), '--section layers'), (('--by', 'scop', 'e'), '')):
        done = run(*arguments, path)
        check(done.returncode == 2 and words in done.stderr and not done.stdout, arguments, done.returncode, done.stderr)


def mini(folder, name, places):
    """A TPU line with an op of 1 us at each place."""
    path = Path(folder) / (name + '.mini')
    meta = ''.join(f'meta op.{i} hlo_category=x program_id=1 tf_op="{place}"\n' for i, place in enumerate(places))
    line = ''.join(f'{i}us 1us op.{i}\n' for i in range(len(places)))
    path.write_text('idsprof-mini 1\nhost h\nplane /device:TPU:0\n' + meta + 'line 2 "XLA Ops"\n' + line)
    return path


def check_odd_names():
    with tempfile.TemporaryDirectory() as folder:
        def layers(name, places):
            rows = table(mini(folder, name, places), 'layers', '--by', 'scope')
            check(sum(row['total'] for row in rows if not row['depth']) * 1e6 - len(places) < 1e-6, name, 'lost time', rows[:3])
            return {row['id']: row for row in rows}

        rows = layers('unicode', [f'jit(f)/Schicht_\u00fc{i}/add' for i in range(4)])
        check('f/Schicht_\u00fc*' in rows, 'unicode', rows)
        rows = layers('brackets', ['jit(f)/blocks[0]/attn/add', 'jit(f)/blocks[1]/attn/add', 'jit(f)/a)b(/add', 'jit(f)/((((/add', '///', '(', ')', 'jit(', 'a:'])
        check('f/blocks[*]/attn' in rows, 'brackets', rows)
        deep = '/'.join(f'level{chr(97 + i % 26)}' for i in range(5000))
        rows = layers('deep', [f'jit(f)/{deep}/add'])
        check(max(row['depth'] for row in rows.values()) == 31, 'deep', len(rows))
        rows = layers('nested', ['jit(f)/' + 'jvp(' * 5000 + 'x' + ')' * 5000 + '/add', 'jit(f)/' + 'jvp(a/' * 5000 + 'x' + ')' * 5000 + '/add'])
        check('f/x' in rows, 'nested', list(rows)[:5])
        rows = layers('long', ['jit(f)/' + 'x' * 60000 + '/add', 'jit(f)/' + 'x' * 60000 + 'y/add'])
        check(len(rows) == 3, 'long names that differ behind what is kept of them', len(rows))
        rows = layers('no_repeats', ['jit(f)/conv2d/a/add', 'jit(f)/conv3d/a/add', 'jit(f)/relu6/add', 'jit(f)/int4/add', 'jit(f)/int8/add'])
        check(len(rows) == 8 and not any('*' in name for name in rows), 'numbers that count nothing', list(rows))
        rows = layers('inside', [f'jit(f)/layer{i}_attn_v2/{j}/add' for i in range(12) for j in range(3)])
        check(rows.get('f/layer*_attn_v2', {}).get('siblings') == 12 and 'f/layer*_attn_v2/*' in rows, 'numbers inside names', list(rows))
        # Alike by number, but not inside: an encoder's and a decoder's parts are no repeats.
        rows = layers('unlike', [f'jit(f)/part_0/{name}/add' for name in 'abcd'] + [f'jit(f)/part_1/{name}/add' for name in 'wxyz'])
        check('f/part_*' not in rows and 'f/part_0' in rows, 'unlike siblings', list(rows))
        many = layers('many', [f'jit(f)/m{chr(97 + i % 26)}x{i}z/q{i}k/add' for i in range(20000)])
        check(sum(name.startswith('f') for name in many) == 40001, 'many', len(many))


for run_at in RUNS:
    check_cuts(run_at)
check_unnamed()
check_facts()
check_shown()
check_unknown()
check_sort()
check_odd_names()
print(f'{checks} checks, {failures} failures')
sys.exit(failures != 0)
