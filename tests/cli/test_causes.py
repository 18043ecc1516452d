#!/usr/bin/env python3
"""`idsprof diff` says why: programs with one known change, three recordings a side with noise. The first cause is the change, with
its sign and its size, the causes explain the whole, and between equal programs none is called. Programs that were really
recorded: tests/truth/compare.

Environment: IDSPROF, IDS_SOURCE_DIR.
"""
import os
import sys
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

SOURCE = Path(os.environ['IDS_SOURCE_DIR'])
sys.path[:0] = [str(SOURCE / 'tests' / 'truth' / 'compare'), str(SOURCE / 'tests' / 'truth'), str(SOURCE / 'tests' / 'support')]
from judge import compared, diff, is_called, structure_of, words_of  # noqa: E402
from made_program import Noise, Op, layer, side, times_of, training  # noqa: E402
from run import matches, rows  # noqa: E402

BASE = training()
CHAIN = BASE + [Op('chain_fusion', 'chain', 30, primitive='max')]
SPLIT = BASE + [Op('chain_fusion.%d' % number, 'chain', 12, primitive='max%d' % number) for number in range(5)]
ADAM = BASE + [Op('adam_fusion.%d' % number, 'optimizer', 9, shape='f32[128,128]', primitive='sqrt') for number in range(4)]
GELU = [op for number in range(4) for op in layer(number) + [Op('gelu_fusion.%d' % number, 'jvp(layer%d)' % number, 12, primitive='tanh2')]]
SOFTMAX = BASE + [Op('softmax_fusion', 'attention/softmax', 20, primitive='exp')]
FLASH = BASE + [Op('flash_fusion.%d' % number, 'attention/flash', 18, primitive='exp%d' % number) for number in range(3)]
KEPT = BASE + [Op('state', None, 0, 'parameter'), Op('copy.1', None, 40, 'copy')]
GIVEN = BASE + [Op('state', None, 0, 'parameter', donated=True)]
# One layer in another type of elements: the compiler converts its operands, and the weights' update reads other ones.
CONVERTED = [replace(op, name='low_' + op.name, shape=op.shape.replace('f32', 'bf16'), primitive='low', us=op.us / 2) if 'layer1' in op.scope else
             replace(op, reads='bf16', us=6) if op.name == 'subtract_fusion.1' else op for op in BASE] + \
    [Op('low_tail', 'jvp(layer1)', 6, primitive='low2')] + [Op('convert_fusion.%d' % number, None, 40, 'fusion', 'bf16[64,%d]' % (64 + number)) for number in range(3)]
COPIED = layer(0) + layer(1, 80, width=256) + [Op('copy.%d' % number, None, 9, 'copy', 'f32[128,%d]' % (64 + number)) for number in range(3)] + \
    layer(2) + layer(3)


# What the layers' loop computes twice is new, and its other ops give each other time.
LOOP = [Op('loop_dot.%d' % number, 'layers', 60, 'dot', 'f32[%d,64]' % (64 + number), 'dot_general', number % 2 == 0) for number in range(6)]
AGAIN = [replace(op, us=60 + (30 if number in (0, 5) else -28 if number in (2, 3) else 0)) for number, op in enumerate(LOOP)] + \
    [Op('again_fusion.%d' % number, 'layers/rematted_computation', 22, primitive='tanh%d' % number) for number in range(2)]


BLOCKS = [Op('part_%d.%d' % (number, block), 'jvp(blocks)/block_%d/part_%d' % (block, number // 2), 30, shape='f32[%d,128]' % (32 + number), primitive='dot%d' % number)
          for block in range(3) for number in range(6)]


WIDE, SWAPPED = layer(1, 80, width=256), layer(2, 80, width=256)


def ending(layers):
    """Of the last layer one op is another one."""
    return [replace(op, primitive='tail') if op.name == 'tanh_fusion.%d' % (layers - 1) else op for op in training(layers)]


def unnamed(ops):
    return [replace(op, scope='jvp()' if 'jvp' in op.scope else 'x') for op in ops]


# The name: ops of either side, of which account and what the first cause must be, how much a step changes in us (None: other streams hide it), what the structure must
# say (None: nothing), and what else the second side's recordings have.
CASES = {
    'one op is slower': (BASE, times_of(BASE, 1.3, 'dot.102'), 'work.compute', r'dot\.102', 12, None, {}),
    'one op is faster': (BASE, times_of(BASE, 0.7, 'dot.102'), 'work.compute', r'dot\.102', -12, None, {}),
    'a layer is wider': (BASE, layer(0) + layer(1, 80, width=256) + layer(2) + layer(3), 'work.compute', r'layer1, optimizer: 128 → 256: 5 ops',
                         135, r'64,128\S+ .*64,256', {}),
    'all layers are wider': (BASE, training(us=80, width=256), 'work.compute', r'layer0 and 4 more scopes: 128 → 256: 20 ops', 540,
                             'dimension.*128 256', {}),
    'a wider layer is copied': (BASE, COPIED, 'work.compute', r'128 → 256: 5 ops replaced by 8', 162, 'dimension.* 128 256', {}),
    'a layer is of another type': (BASE, CONVERTED, 'work.compute', r'^layer1: 4 ops replaced by 8', 73, 'layer1', {}),
    'an op more in each layer': (BASE, GELU, 'work.compute', r'layer0 to layer3 \(4 scopes\): 4 ops added', 48, r'ops layer2 \S+ ops', {}),
    'an op became three in another scope': (SOFTMAX, FLASH, 'work.compute', r'^attention: 1 op replaced by 3', 34, 'attention/flash', {}),
    'an argument is donated': (KEPT, GIVEN, 'work.compute', r'copy\.1 .*, gone: state is donated', -40, 'donated state', {}),
    'an argument is not donated': (GIVEN, KEPT, 'work.compute', r'copy\.1 .*, new: state is no longer donated', 40, 'donated state', {}),
    'a loop computes again': (BASE + LOOP, BASE + AGAIN, 'work.compute', r'^layers: recomputed in the backward pass \(remat\): 2 ops added, and [2-6] unchanged ops beside them', None, 'layers', {}),
    'the batch is twice as large': (BASE, training(us=80, rows=128), 'work.compute', 'batch', 540, 'batch', {}),
    'bf16': (BASE, training(us=24, dtype='bf16'), 'work.compute', r'bf16', -216, r'f32\S* .*bf16', {}),
    'a layer more': (BASE, training(5), 'work.compute', 'layer4', 130, 'layer4', {}),
    'a layer more, the last one fused otherwise': (ending(4), ending(5), 'work.compute', r'^layer4', 130, 'ops layer4', {}),
    'a layer less': (training(5), BASE, 'work.compute', 'layer4', -130, 'layer4', {}),
    'layers change places': (layer(0) + WIDE + layer(2) + layer(3), layer(0) + layer(1) + times_of(SWAPPED, 1.5) + layer(3), 'work.compute',
                             r'layer2', 135, r'reordered layer1, layer2 layer2, layer1', {}),
    'Adam for SGD': (BASE, ADAM, 'work.compute', 'optimizer', 36, 'optimizer', {}),
    'a fusion is split': (CHAIN, SPLIT, 'work.compute', 'chain', 30, 'chain|split', {}),
    'ops without a scope': (unnamed(BASE), unnamed(ADAM), 'work.compute', r'adam_fusion|added', 36, r'^ops .*8 ops', {}),
    'an even slow-down': (BASE, times_of(BASE, 1.06), '', r'even|all ops|every op|clock|load', 33, None, {}),
    'blocks of parts are wider': (BLOCKS, [replace(op, shape=op.shape.replace('128', '256'), us=2 * op.us) if 'block_1' in op.scope else op for op in BLOCKS],
                                  'work.compute', r'^blocks/block_1: 128 → 256: 6 ops', 180, 'dimension.* 128 256', {}),
    'the input is late': (BASE, BASE, 'host.python|host.input', 'load_batch', 60, None, {'sleep_us': 60.0}),
}
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def check_case(folder, name, number):
    a, b, account, cause, change, structure, what = CASES[name]
    found = compared(side(folder, 'a%d' % number, a, 2 * number), side(folder, 'b%d' % number, b, 2 * number + 1, **what))
    if 'error' in found:
        return check(False, '%s: %s' % (name, found['error']))
    first = (rows(found, 'waterfall') or [{}])[0]
    said = '%s: said %s: %s (%s us)' % (name, first.get('account'), words_of(first), 1e6 * (first.get('change') or 0))
    check(matches('^(%s)' % account, first.get('account')) and matches(cause, words_of(first)), said)
    check((first.get('change') or 0) * (change or 1) > 0, said + ', of the other sign')
    check(change is None or abs(1e6 * found['run']['change'] - change) < max(6, 0.25 * abs(change)), '%s: %s us of %s' % (name, 1e6 * found['run']['change'], change))
    check((found['run'].get('explained_share') or 0) >= 0.95, '%s: explained %s' % (name, found['run'].get('explained_share')))
    check(structure is None or any(matches(structure, text) for text in structure_of(found)), '%s: the structure says %s' % (name, structure_of(found)))


def check_equal(folder):
    """Equal programs, also under another name: one cause in a hundred is called (and a few by chance), nothing changed in the
    structure."""
    called = causes = 0
    for number in range(60):
        module = 'jit_train_step_v2' if number % 3 == 2 else 'jit_train_step'
        noise = Noise(own=0.05) if number % 2 else Noise()
        found = compared(side(folder, 'e%d' % number, BASE, 500 + 2 * number, noise=noise),
                         side(folder, 'f%d' % number, BASE, 501 + 2 * number, noise=noise, module=module))
        told = rows(found, 'waterfall')
        causes += len(told)
        called += sum(is_called(found, cause) for cause in told)
        said = [text for text in structure_of(found) if not text.startswith('renamed')]
        check(not said, 'equal programs: the structure says %s' % said)
        check(found['run']['verdict'] not in ('regression', 'improvement'), 'equal programs: %s' % found['run']['verdict'])
    check(called <= causes / 100 + 3, 'equal programs: %d of %d causes are called' % (called, causes))


def check_places(folder):
    """A function's place is that of the side on which it took the most time, and says so where it is the first one."""
    more, less = (side(folder, name, BASE, 800 + number, sleep_us=us, sleeper=f'$data.py:{line} load_batch')
                  for number, (name, us, line) in enumerate((('more', 60.0, 12), ('less', 30.0, 19))))
    for a, b, words, of in ((more, less, 'load_batch (old data.py:12)', 'before'), (less, more, 'load_batch (data.py:12)', 'after')):
        first = rows(compared(a, b), 'waterfall')[0]
        check(first['cause'] == words and first['place_of'] == of, 'a place of %s: said %s' % (of, first))
        parts = [part['where'] for part in rows(compared(a, b), 'parts') if part['part'] == first['account']]
        check(parts == ['data.py:12'], 'a place of the parts: %s' % parts)
    call = side(folder, 'call', BASE, 802, sleep_us=60.0, pieces=((0, 'builtins hash', 0.95), (0, '', 0.05)))
    line = side(folder, 'line', BASE, 803, sleep_us=30.0, pieces=((0, '', 1),))
    first = rows(compared(call, line), 'waterfall')[0]
    check(first['cause'] == 'load_batch (data.py:12, in hash)' and first['place_of'] == 'after', 'the same place: said %s' % first)
    mostly = side(folder, 'mostly', BASE, 804, sleep_us=60.0, pieces=((0, '', 0.7), (1, '', 0.3)))
    less = side(folder, 'partly', BASE, 805, sleep_us=30.0, pieces=((0, '', 0.3), (1, '', 0.7)))
    first = rows(compared(mostly, less), 'waterfall')[0]
    check(first['cause'] == 'load_batch (data.py:12)', 'a line that samples saw on both sides: said %s' % first)
    call, other = (side(folder, name, BASE, 806 + number, sleep_us=us, sleeper='$data.py:12 <module>', pieces=((0, call, 0.95), (0, '', 0.05)))
                   for number, (name, us, call) in enumerate((('hash', 60.0, 'builtins hash'), ('loads', 30.0, 'json loads'))))
    first = rows(compared(call, other), 'waterfall')[0]
    check(first['cause'] == '<module> (old data.py:12, in hash)', 'another statement of a module: said %s' % first)


CALLS = ((0, 'builtins len', 0.4), (0, 'str upper', 0.3), (1, '', 0.3))
OTHER_CALLS = ((0, 'builtins str', 0.4), (0, 'str zfill', 0.3), (1, '', 0.3))
LINES, OTHER_LINES = (tuple(zip(lines, ('', '', ''), (0.2, 0.3, 0.5))) for lines in ((0, 2, 7), (0, 3, 11)))
ONE_CALL = ((0, 'builtins len', 1),)
# What a function does before and after, who calls it then, and where it stands; what is said.
FUNCTIONS = {
    'another name': (CALLS, CALLS, 'fit', '$data.py:19 load_rows', 'load_rows (data.py:19), renamed from load_batch'),
    'another name and file': (CALLS, CALLS, 'fit', '$rows.py:19 load_rows', 'load_rows (rows.py:19), renamed from load_batch in data.py'),
    'another file': (CALLS, CALLS, 'fit', '$rows.py:19 load_batch', 'load_batch (rows.py:19), moved from data.py'),
    'into a class': (CALLS, CALLS, 'fit', '$data.py:19 Rows.load', 'Rows.load (data.py:19), renamed from load_batch'),
    'lines alone': (LINES, LINES, 'fit', '$data.py:19 load_rows', 'load_rows (data.py:26), renamed from load_batch'),
    'other calls': (CALLS, OTHER_CALLS, 'fit', '$data.py:19 load_rows', None),
    'other calls on its lines': (tuple((line, 'builtins len', share) for line, _, share in LINES), tuple((line, 'builtins str', share) for line, _, share in LINES),
                                 'fit', '$data.py:19 load_rows', None),
    'other calls in another file': (CALLS, OTHER_CALLS, 'fit', '$rows.py:19 load_batch', 'load_batch (rows.py:19)'),
    'other lines': (LINES, OTHER_LINES, 'fit', '$data.py:19 load_rows', None),
    'one call alone': (ONE_CALL, ONE_CALL, 'fit', '$data.py:19 load_rows', None),
    'another caller': (CALLS, CALLS, 'evaluate', '$data.py:19 load_rows', None),
    'no samples': ((), (), 'fit', '$data.py:19 load_rows', None),
}


def check_renamed(folder):
    """A function that is gone and one that is new are the same one where samples prove it, and else two causes."""
    for number, (name, (before, after, caller, place, said)) in enumerate(FUNCTIONS.items()):
        a = side(folder, 'old%d' % number, BASE, 820, sleep_us=60.0, pieces=before)
        b = side(folder, 'new%d' % number, BASE, 821, sleep_us=90.0, pieces=after, sleeper=place, caller='$train.py:40 %s' % caller)
        found = [row['cause'] for row in rows(compared(a, b), 'waterfall') if 'load' in row['cause']]
        check(len(found) == (1 if said else 2), '%s: %d causes: %s' % (name, len(found), found))
        check(said in found if said else not any('from' in cause for cause in found), '%s: said %s' % (name, found))


def check_modules(folder):
    """Each file has a module, which is no function that moves."""
    a, b = (side(folder, name, BASE, 824, sleep_us=us, pieces=CALLS, sleeper='$%s <module>' % place)
            for name, us, place in (('one', 60.0, 'data.py:12'), ('two', 90.0, 'rows.py:19')))
    found = [row['cause'] for row in rows(compared(a, b), 'waterfall') if 'module' in row['cause']]
    check(found and not any('moved' in cause for cause in found), 'a module: said %s' % found)


def check_replaced(folder):
    """What a function of the program calls instead of something else is one cause; in another function it is another one."""
    before = side(folder, 'stream', BASE, 826, waiter='$train.py:30 log_loss')
    for name, waiter, count in (('here', '$train.py:33 log_loss', 1), ('elsewhere', '$train.py:33 save', 2)):
        after = side(folder, name, BASE, 827, waiter=waiter, wait='cudaEventSynchronize', wake_us=20)
        found = [row['cause'] for row in rows(compared(before, after), 'waterfall') if row['account'] == 'host.sync' and 'Synchronize' in row['cause']]
        said = 'cudaEventSynchronize (train.py:33 log_loss), in place of cudaStreamSynchronize'
        check(found == [said] if count == 1 else len(found) == 2, 'a call instead (%s): said %s' % (name, found))


def check_waits(folder):
    """A wait that one side alone has comes before the function beside which the device works on the other side, and notes say so,
    in Markdown too."""
    sides = [side(folder, name, BASE, 830, sleep_us=60.0, sleeper='$data.py:12 tokenise', pieces=CALLS, **what)
             for name, what in (('beside', {'is_beside': True}), ('waits', {'waiter': '$train.py:30 log_loss'}))]
    for (a, b), words in ((sides, 'new, and the device no longer works while the host is in tokenise'),
                          (sides[::-1], 'gone, and the device works while the host is in tokenise')):
        told = rows(compared(a, b), 'waterfall')
        check([row['culprit'] for row in told[:2]] == ['cudaStreamSynchronize', 'tokenise'], 'a wait: said %s' % [row['cause'] for row in told])
        check(words in (told[0]['note'] or ''), 'a wait: noted %s' % told[0]['note'])
        for output in (diff(a, b)[0], diff(a, b, '--markdown')[0]):
            for note in ('cudaStreamSynchronize: %s' % words, 'of the change is explained'):
                check(note in ' '.join(output.split()), 'a note: %r is not in %s' % (note, output))


def check_waits_for_core(folder):
    """Whether a function waits for a core on one side or not, the device no longer works beside it."""
    pieces = ((0, 'builtins len', 0.5), (0, 'python wait_for_core', 0.5))
    for number, (before, after) in enumerate(((CALLS, pieces), (pieces, CALLS))):
        a = side(folder, 'quiet%d' % number, BASE, 832, sleep_us=60.0, sleeper='$data.py:12 tokenise', pieces=before, is_beside=True)
        b = side(folder, 'loaded%d' % number, BASE, 833, sleep_us=60.0, sleeper='$data.py:12 tokenise', pieces=after)
        notes = [row['note'] or '' for row in rows(compared(a, b), 'waterfall') if row['culprit'] == 'tokenise']
        check(notes and 'the device no longer works meanwhile' in notes[0], 'a wait for a core (%d): noted %s' % (number, notes))


def check_arguments(folder):
    """The order in which a program is compiled for several shapes, and the name of an argument, change nothing; how many shapes there
    are does, and an argument that came."""
    def state(name, shape, program=0, donated=False):
        return Op(name, None, 0, 'parameter', shape, program=program, donated=donated)

    def compiled(*counts):
        return [op for number, count in enumerate(counts)
                for op in [state('x', 'f32[%d]' % count, number + 1)] + [replace(op, program=number + 1) for op in layer(0)]]

    cases = ((compiled(8, 16, 32), compiled(32, 8, 16), []),
             (compiled(8, 16, 32), compiled(8, 16), ['input x f32[8], f32[16], f32[32] f32[8], f32[16] 1']),
             (BASE + [state('x', 'f32[8]')], BASE + [state('batch', 'f32[8]')], ['argument jit_train_step x batch 1']),
             (BASE + [state('x', 'f32[8]', 0, True)], BASE + [state('batch', 'f32[8]', 0, True)], ['argument jit_train_step x batch 1']),
             (BASE + [state('x', 'f32[8]')], BASE + [state('a', 'f32[8]'), state('b', 'f32[8]')], ['input x', 'input a', 'input b']))
    for number, (a, b, wanted) in enumerate(cases):
        found = structure_of(compared(side(folder, 'g%d' % number, a, 840), side(folder, 'h%d' % number, b, 841)))
        said = [text for text in found if not text.startswith('executions')]
        check(len(said) == len(wanted) and all(text.startswith(want) for text, want in zip(said, wanted)), 'arguments: %s for %s' % (said, wanted))


def check_one_a_side(folder):
    """One recording a side, of ops that vary by 5 % from recording to recording: nothing is said flat."""
    for number in range(10):
        found = compared(side(folder, 'o%d' % number, BASE, 700 + 2 * number, 1, noise=Noise(own=0.05)),
                         side(folder, 'p%d' % number, BASE, 701 + 2 * number, 1, noise=Noise(own=0.05)))
        flat = [words_of(cause) for cause in rows(found, 'waterfall') if is_called(found, cause)]
        check(not flat, 'one recording a side: %d are said flat: %s' % (len(flat), flat[:2]))


def is_sure(cause):
    return cause['low'] is not None and (cause['low'] > 0 or cause['high'] < 0)


def causes_alone(folder, number, ops, noise, after=None, sleeps=(0.0, 0.0)):
    """Of one recording a side, which differ by that noise."""
    a = side(folder, 'alone_a%d' % number, ops, number, 1, noise=noise, sleep_us=sleeps[0])
    b = side(folder, 'alone_b%d' % number, after or ops, number + 1, 1, noise=noise, sleep_us=sleeps[1])
    return rows(compared(a, b), 'waterfall')


def check_sure(folder):
    """One recording a side: what all ops change by from recording to recording is no op's own, nor what one of many shows by chance;
    but an op that changed by more is, and Python, which has no part in it."""
    loaded, steps = Noise(own=0.2), Noise(0, 0, 0.02)
    sure = [number for number in range(900, 920, 2) if is_sure(causes_alone(folder, number, BASE, loaded)[0])]
    check(len(sure) <= 3, 'equal programs on a loaded machine: %d of 10 have a first cause that is sure' % len(sure))
    few = [number for number in (1000, 1018, 1022, 1064, 1068) if any(map(is_sure, causes_alone(folder, number, layer(0) + layer(1)[:3], steps)))]
    check(not few, 'one of many by chance: sure in %s' % few)
    for number in range(1200, 1208, 2):
        first = causes_alone(folder, number, BASE, Noise(0, 0, 0.05), times_of(BASE, 1.2, 'dot.102'))[0]
        check('dot.102' in first['cause'] and is_sure(first), 'an op that is slower: said %s' % first)
        found = causes_alone(folder, number + 100, BASE, loaded, sleeps=(60.0, 66.0))
        check(any(is_sure(cause) and 'load_batch' in cause['cause'] for cause in found), 'Python that is slower: said %s' % found[:2])
    # Ops tell each other what they vary by; and the few functions of Python are not asked among the many ops.
    noise = Noise(0, 0, 0.05)
    found = causes_alone(folder, 1212, BASE, noise, times_of(BASE, 1.12, 'dot.102'))
    check(any(is_sure(cause) and 'dot.102' in cause['cause'] for cause in found), 'an op that is a little slower: said %s' % found[:2])
    found = causes_alone(folder, 1300, BASE, noise, sleeps=(60.0, 63.0))
    check(any(is_sure(cause) and 'load_batch' in cause['cause'] for cause in found), 'Python that is a little slower: said %s' % found[:2])


def mirror_of(cause):
    return (cause['kind'], cause['account'], round((cause['b'] or 0) * 1e9), round((cause['a'] or 0) * 1e9))


def is_near(a, b, width):
    return (a is None) == (b is None) and (a is None or abs(a - b) <= 0.001 * width + 2e-12)


def check_mirror(folder):
    """The way back is the mirror image: the same causes with the opposite change, as sure as on the way there. Of all pairs of the
    recordings in testdata, and of made programs: one much longer than the other, and one whose ops are all slower and one more so."""
    recorded = sorted(str(path.parent) for path in (SOURCE / 'testdata' / 'compare').glob('*/plugins'))
    loaded, short = Noise(own=0.2), Noise(0, 0, 0.05)
    alone = [side(folder, 'mirror%d' % number, ops, 1400 + number, 1, noise=noise) for number, (ops, noise) in enumerate((
        (BASE, loaded), (times_of(times_of(BASE, 1.5), 1.4, 'dot.102'), short), (times_of(BASE, 0.3), loaded),
        (times_of(BASE, 40, 'dot.102'), short)))]
    check(len(recorded) >= 5, 'mirror: %d recordings' % len(recorded))
    for a, b in [*combinations(recorded, 2), *combinations(alone, 2)]:
        there, back = rows(compared(a, b), 'waterfall'), rows(compared(b, a), 'waterfall')
        mirrored = {mirror_of(cause): cause for cause in back}
        check(len(there) == len(back), 'mirror of %s and %s: %d causes, %d back' % (a, b, len(there), len(back)))
        for cause in there:
            other = mirrored.get((cause['kind'], cause['account'], round((cause['a'] or 0) * 1e9), round((cause['b'] or 0) * 1e9)))
            if other is None:
                check(False, 'mirror of %s and %s: none of %s' % (a, b, cause['cause']))
                continue
            width = cause['high'] - cause['low'] if cause['low'] is not None else 0
            same = is_near(cause['low'], None if other['high'] is None else -other['high'], width) and is_near(cause['change'], -other['change'], width)
            check(same and cause['verdict'] == other['verdict'],
                  'mirror of %s and %s: %s is %s (%s), back %s (%s)' % (a, b, cause['cause'], cause['low'], cause['verdict'], other['high'], other['verdict']))


def check_calls_instead(folder):
    """A function that now calls one for which the device waits: the device does not work meanwhile."""
    sides = [side(folder, name, BASE, 900, 1, sleep_us=us, sleeper='$data.py:12 flip', pieces=pieces) for name, us, pieces in
             (('alone', 60.0, ((0, 'builtins len', 1.0),)), ('calls', 300.0, ((0, 'aug.py:7 jitter', 0.97), (0, 'builtins len', 0.03))))]
    for a, b in (sides, sides[::-1]):
        found = rows(compared(a, b), 'waterfall')
        check('jitter' in found[0]['cause'] and any('flip' in cause['cause'] for cause in found), 'a call that is new: said %s' % found)
        check(not any('meanwhile' in (cause['note'] or '') for cause in found), 'a call that is new: noted %s' % [cause['note'] for cause in found])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ['XDG_CACHE_HOME'] = folder + '/cache'
        for number, name in enumerate(CASES):
            check_case(folder, name, number)
        check_equal(folder)
        check_one_a_side(folder)
        check_sure(folder)
        check_mirror(folder)
        check_calls_instead(folder)
        check_places(folder)
        check_renamed(folder)
        check_modules(folder)
        check_replaced(folder)
        check_waits(folder)
        check_waits_for_core(folder)
        check_arguments(folder)
    print('\n'.join(failures))
    print('%d cases, %d failures' % (len(CASES), len(failures)))
    return failures != []


sys.exit(main())
