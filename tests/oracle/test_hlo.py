#!/usr/bin/env python3
"""`idsprof dump --hlo FILE` must have every compiled program of FILE as a decoder that shares no code with it reads it.

Programs are those that `extract -f hlo` writes; their fields are walked here by number (xla/service/hlo.proto, xla/xla_data.proto).
Compared: names, opcodes, operands, called computations, roots, insides of fusions, shapes with layouts, sizes, sources with their stack
frames, replica groups, loops, allocations and the peaks of the heap simulator (what they cost: tests/peers/test_cost.py). Each *.xplane.pb under testdata/ and the shared traces.
Environment as test_hash.py.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from test_hash import CORRUPT, SHARED, SOURCE, absent
from xplane_oracle import signed, varint

CI = os.environ.get('IDS_CI') == '1'
# xla_data.proto, enum PrimitiveType: name and bits.
TYPES = {1: ('pred', 8), 2: ('s8', 8), 3: ('s16', 16), 4: ('s32', 32), 5: ('s64', 64), 6: ('u8', 8), 7: ('u16', 16), 8: ('u32', 32),
         9: ('u64', 64), 10: ('f16', 16), 11: ('f32', 32), 12: ('f64', 64), 15: ('c64', 64), 16: ('bf16', 16), 18: ('c128', 128),
         19: ('f8e5m2', 8), 20: ('f8e4m3fn', 8), 24: ('f8e5m2fnuz', 8), 25: ('f8e4m3fnuz', 8)}


def fields(data):
    """{number: [values]} of a message: integers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            size = 8 if wire == 1 else 4
            value, at = int.from_bytes(data[at:at + size], 'little'), at + size
        found.setdefault(tag >> 3, []).append(value)
    return found


def one(message, number, default=0):
    return message.get(number, [default])[-1]


def text(message, number):
    return one(message, number, b'').decode('utf-8', 'replace')


def numbers(message, number):
    listed = []
    for value in message.get(number, []):
        if isinstance(value, int):
            listed.append(signed(value))
            continue
        at = 0
        while at < len(value):
            each, at = varint(value, at)
            listed.append(signed(each))
    return listed


def shape(data):
    """Text with layouts, and bytes."""
    message = fields(data)
    kind = one(message, 2)
    if kind == 13:
        parts = [shape(part) for part in message.get(4, [])]
        return '(%s)' % ', '.join(p[0] for p in parts), sum(p[1] for p in parts)
    if kind in (14, 17):
        return {14: 'opaque', 17: 'token'}[kind], 0
    name, bits = TYPES[kind]
    sizes = numbers(message, 3)
    count = 1
    for size in sizes:
        count *= size
    layout = fields(one(message, 5, b''))
    order = ','.join(map(str, numbers(layout, 1)))
    more = ''.join(('T(%s)' if not i else '(%s)') % ','.join(map(str, numbers(fields(tile), 1))) for i, tile in enumerate(layout.get(6, [])))
    more += 'E(%d)' % one(layout, 7) if one(layout, 7) else ''
    more += 'S(%d)' % one(layout, 8) if one(layout, 8) else ''
    written = '{%s%s}' % (order, ':' + more if more else '') if order or more else ''
    return '%s[%s]%s' % (name, ','.join(map(str, sizes)), written), (count * bits + 7) // 8


def source(metadata, index):
    """file, line and the list of frames."""
    files, functions = index.get(1, []), index.get(2, [])
    frames, number = [], one(metadata, 15)
    while 1 <= number <= len(index.get(4, [])):
        frame = fields(index[4][number - 1])
        place = fields(index[3][one(frame, 1) - 1])
        frames.append({k: v for k, v in (('function', functions[one(place, 2) - 1].decode() if one(place, 2) else ''),
                                         ('file', files[one(place, 1) - 1].decode() if one(place, 1) else ''), ('line', one(place, 3)))
                       if v != ''})
        number = one(frame, 2)
    if one(metadata, 3, b''):
        return text(metadata, 3), one(metadata, 4), frames
    return (frames[0].get('file', ''), frames[0]['line'], frames) if frames else ('', 0, frames)


def group_members(instruction):
    """All ranks that a collective's groups name, as a list of lists; None for an iota list, which is a formula."""
    listed = one(instruction, 87, None)
    if listed is not None:
        listed = fields(listed)
        if 2 in listed:
            return None
        return [numbers(fields(g), 1) for g in listed.get(1, [])]
    pairs = [[one(fields(p), 1), one(fields(p), 2)] for p in instruction.get(52, [])]
    return [numbers(fields(g), 1) for g in instruction.get(49, [])] + pairs


def loop(instruction):
    try:
        config = json.loads(one(instruction, 43, b''))
    except ValueError:
        return {}
    known = {}
    if not isinstance(config, dict):
        return known
    if 'known_trip_count' in config:
        known['trip_count'] = int(config['known_trip_count'].get('n', 0))
    if 'known_induction_variable' in config:
        known['induction_variable'] = int(config['known_induction_variable'].get('tuple_index', 0))
    if int(config.get('known_init_step', {}).get('step', 0)):
        known.update(init=int(config['known_init_step'].get('init', 0)), step=int(config['known_init_step']['step']))
    return known


def wanted_instruction(data, names, computations, index):
    message = fields(data)
    metadata = fields(one(message, 7, b''))
    written, size = shape(one(message, 3, b''))
    file, line, frames = source(metadata, index)
    wanted = {'name': text(message, 1), 'opcode': text(message, 2), 'shape': written, 'bytes': size,
              'operands': [names[i] for i in numbers(message, 36)], 'op_name': text(metadata, 2), 'file': file, 'target': text(message, 28)}
    if file:
        wanted['line'] = line
    if frames:
        wanted['frames'] = frames
    if numbers(message, 38):
        wanted['calls'] = [computations[i] for i in numbers(message, 38)]
    if wanted['opcode'] == 'while' and loop(message):
        wanted['loop'] = loop(message)
    return {k: v for k, v in wanted.items() if v != ''}, group_members(message)


def peaks(assignment):
    """(allocation, bytes, instruction) of each heap. Memory is taken while a buffer that was put there, or shares it, is live."""
    sizes = {one(fields(b), 1): one(fields(b), 2) for b in assignment.get(1, [])}
    place = {one(fields(b), 1): one(fields(a), 1) for a in assignment.get(3, []) for b in fields(a).get(9, [])}
    found = []
    for heap in map(fields, assignment.get(4, [])):
        live, owner, peak, where, first = set(), {}, 0, '', None
        for event in map(fields, heap.get(1, [])):
            kind, buffer = one(event, 1), one(event, 2)
            first = place[buffer] if first is None else first
            if kind == 2:
                owner[buffer] = owner.get(one(event, 5), one(event, 5))
            if kind == 1:
                live.remove(buffer)
            else:
                live.add(buffer)
            now = sum(sizes[b] for b in {owner.get(b, b) for b in live})
            if now > peak:
                peak, where = now, text(event, 4)
        found.append((first, peak, where))
    return found


def parts_of(shape):
    """How many the tuple has, tuples in it counted as one."""
    inner = shape[1:-1]
    while re.search(r'\([^()]*\)', inner):
        inner = re.sub(r'\([^()]*\)', '', inner)
    return len(re.findall(r', ', re.sub(r'\[[^]]*\]', '', inner))) + 1


def check_instruction(want, groups, got):
    wrong = []
    shown = {k: v for k, v in got.items() if k not in ('scope', 'pass', 'groups', 'cost')}
    if len(want['shape']) >= 127:  # long shapes are cut
        end = '... of %d arrays' % parts_of(want['shape']) if want['shape'][0] == '(' else '...'
        want['shape'] = want['shape'][:127 - len(end)] + end
    if shown != want:
        wrong.append('%s: idsprof %s, oracle %s' % (want['name'], shown, want))
    if groups is not None:
        has = [[int(n) for n in re.findall(r'\d+', g)] for g in re.findall(r'\{([\d,]*)\}', got.get('groups', ''))]
        if has != groups:
            wrong.append('%s: groups %s, oracle %s' % (want['name'], got.get('groups'), groups))
    return wrong


def check_buffers(proto, got):
    assignment = fields(one(proto, 3, b''))
    if not assignment:
        return ['buffers out of nothing'] if 'buffers' in got else []
    allocations = [fields(a) for a in assignment.get(3, [])]
    flags = (('output', 7), ('constant', 12), ('tuple', 11), ('thread_local', 3))
    want = []
    for a in allocations:
        want.append({'index': one(a, 1), 'size': one(a, 2), 'color': one(a, 8), 'buffers': len(a.get(9, [])), **({'parameter': one(a, 6)} if one(a, 5) else {}),
                     **{k: True for k, n in flags if one(a, n)}})
    wrong = [] if got['allocations'] == want else ['allocations: idsprof %s, oracle %s' % (got['allocations'], want)]
    has = [(h.get('allocation'), h['peak_bytes'], h.get('peak_at', '')) for h in got['heaps']]
    if has != peaks(assignment):
        wrong.append('heaps: idsprof %s, oracle %s' % (has, peaks(assignment)))
    sizes = {a['index']: a['size'] for a in want}
    wrong += ['heap %d: its peak %d is above its allocation' % (a, p) for a, p, _ in has if a is not None and p > sizes[a]]
    if got['buffers'] != len(assignment.get(1, [])):
        wrong.append('%d buffers' % got['buffers'])
    return wrong


def check_program(data, got):
    proto = fields(data)
    module = fields(one(proto, 1, b''))
    index = fields(one(module, 17, b''))
    parsed = [fields(c) for c in module.get(3, [])]
    names = {signed(one(fields(i), 35)): text(fields(i), 1) for c in parsed for i in c.get(2, [])}
    computations = {signed(one(c, 5)): text(c, 1) for c in parsed}
    wrong, count = [], 0
    if got['module'] != text(module, 1) or got.get('entry') != computations.get(one(module, 6)):
        wrong.append('module %s, entry %s' % (got['module'], got.get('entry')))
    if [c['name'] for c in got['computations']] != [text(c, 1) for c in parsed]:
        return wrong + ['computations'], 0
    for want, has in zip(parsed, got['computations']):
        if has['fusion'] != bool(one(want, 7)) or has.get('root') != names.get(one(want, 6)):
            wrong.append('%s: fusion %s, root %s' % (has['name'], has['fusion'], has.get('root')))
        if len(has['instructions']) != len(want.get(2, [])):
            wrong.append('%s: %d instructions' % (has['name'], len(has['instructions'])))
        for each, shown in zip(want.get(2, []), has['instructions']):
            wrong += check_instruction(*wanted_instruction(each, names, computations, index), shown)
            count += 1
    return wrong + check_buffers(proto, got), count


def check(path, folder):
    """The differences, and how many instructions were compared."""
    idsprof = os.environ['IDSPROF']
    out = Path(folder) / 'programs'
    done = subprocess.run([idsprof, 'extract', '-f', 'hlo', '--force', '-o', out, path], capture_output=True, text=True)
    if done.returncode:
        return ([] if 'no HLO' in done.stderr or 'no program' in done.stderr else [done.stderr]), 0, 0
    run = subprocess.run([idsprof, 'dump', '--hlo', path], capture_output=True, text=True)
    if run.returncode:
        return ['exit %d: %s' % (run.returncode, run.stderr)], 0, 0
    files = sorted(out.iterdir())
    left = {}
    for program in json.loads(run.stdout):
        left.setdefault(program['module'], []).append(program)
    wrong, instructions = [], 0
    if sum(map(len, left.values())) != len(files):
        wrong.append('%d programs, and %d files of them' % (sum(map(len, left.values())), len(files)))
    for file in files:
        data = file.read_bytes()
        same = left.get(text(fields(one(fields(data), 1, b'')), 1), [])
        results = [check_program(data, program) for program in same]  # programs may be called alike
        best = min(results, key=lambda r: len(r[0]), default=(['%s is missing' % file.name], 0))
        wrong += best[0]
        instructions += best[1]
        if results:
            del same[results.index(best)]
    for file in files:
        file.unlink()
    out.rmdir()
    return wrong, len(files), instructions


def main():
    if not os.access(os.environ.get('IDSPROF', ''), os.X_OK):
        absent('IDSPROF names no program')
    traces = sorted((SOURCE / 'testdata').rglob('*.xplane.pb'))
    shared = [p for p in sorted((SHARED / 'traces').rglob('*.xplane.pb')) if CORRUPT not in p.parts]
    failed = programs = instructions = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in traces + shared:
            wrong, count, seen = check(path, folder)
            programs += count
            instructions += seen
            failed += bool(wrong)
            for line in wrong[:10]:
                print('%s: %s' % (path, line[:1000]))
    print('%d programs with %d instructions; %d of %d traces differ' % (programs, instructions, failed, len(traces + shared)))
    return int(failed > 0 or not programs)


if __name__ == '__main__':
    sys.exit(main())
