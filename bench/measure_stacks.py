"""What sampling stacks costs: steps of a loop inside a window with stacks and without, and after the window.

usage: measure_stacks.py IDSPROF PYTHON ROUNDS [HZ]        PYTHON has jax; HZ: samples a second (the default's)
Processes take turns: each round runs one with stacks and one without, in changing order. A figure is the median over the rounds of the
step with stacks divided by the step without; its interval is that of the order statistics (at least 95 % sure). Exits with 1 where a
step inside a window is more than 2 % longer, and the interval is sure of it."""
import json
import math
import os
import shutil
import statistics
import sys
import tempfile

from rounds import run

idsprof, python, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
rate = sys.argv[4:] or ['500']
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stacks_steps.py')
FIRST, COUNT, LIMIT = 60, 160, 0.02


def interval(values):
    """Of the median: the narrowest pair of order statistics that holds it in 95 % of all cases."""
    values = sorted(values)
    for k in range(len(values) // 2 - 1, -1, -1):
        sure = 1 - 2 * sum(math.comb(len(values), i) for i in range(k + 1)) / 2 ** len(values)
        if sure >= 0.95:
            return values[k], values[-1 - k]
    return values[0], values[-1]


def steps(kind, stacks, folder):
    command = [idsprof, 'capture', '-q', '--start-step', str(FIRST), '--steps', str(COUNT), '--stacks', stacks, '-o', folder, '--',
               python, program, kind, str(FIRST), str(COUNT)]
    return json.loads(run(command, {'JAX_PLATFORMS': 'cpu'})[2].splitlines()[-1])


too_much = 0
folder = tempfile.mkdtemp()
print(f'| {rounds} rounds, {rate[0]} Hz | without, ms | with stacks | interval | least, greatest |\n|---|---|---|---|---|')
try:
    for kind in ('jitted', 'python'):
        found = {'0': [], rate[0]: []}
        for number in range(rounds):
            for stacks in sorted(found, reverse=number % 2 == 1):
                found[stacks].append(steps(kind, stacks, folder))
                shutil.rmtree(folder, ignore_errors=True)
        for where, title in (('in', 'in the window'), ('after', 'after it')):
            ratios = [b[where] / a[where] - 1 for a, b in zip(found['0'], found[rate[0]])]
            low, high = interval(ratios)
            alone = statistics.median(step[where] for step in found['0'])
            print(f'| {kind}, {title} | {alone:.3f} | {statistics.median(ratios):+.2%} | {low:+.2%} to {high:+.2%} | '
                  f'{min(ratios):+.2%}, {max(ratios):+.2%} |', flush=True)
            too_much |= where == 'in' and low > LIMIT
finally:
    shutil.rmtree(folder, ignore_errors=True)
sys.exit(too_much)
