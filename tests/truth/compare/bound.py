#!/usr/bin/env python3
"""How often can anything name the one op of 300 that changed? Ops vary from recording to recording by a share of their time and are
as long as each other; one takes longer after the change. Rankings that know nothing else than the recordings, and ones that know
more than any program can, over the same random numbers.

    bound.py [--trials N] [--spread SHARE] [--factor X] [--side N ...]
"""
import argparse
import math
import random
import statistics

OPS, CHANGED = 300, 150
ERRORS = 3  # as in lib/compare/cause.c

RANKINGS = {
    "the largest change": lambda op: abs(op.change),
    "as diff ranks, were the spread known": lambda op: abs(op.change) ** 3 / (op.change ** 2 + op.error ** 2),
    "the largest ratio": lambda op: abs(math.log(op.after / op.before)),
    "each op by its own spread (t)": lambda op: abs(op.change) / op.own,
    "the largest slow-down, were the sign known": lambda op: op.change,
    "the longest after, were it known that all are as long": lambda op: op.after,
}


class Op:
    def __init__(self, rng, spread, factor, side):
        before = [rng.gauss(1, spread) for _ in range(side)]
        after = [factor * rng.gauss(1, spread) for _ in range(side)]
        self.before, self.after = statistics.fmean(before), statistics.fmean(after)
        self.change = self.after - self.before
        self.error = ERRORS * spread * math.sqrt(2 / side)
        squares = sum((x - self.before) ** 2 for x in before) + sum((x - self.after) ** 2 for x in after)
        self.own = math.sqrt(squares / (2 * side - 2) * 2 / side)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--spread", type=float, default=0.05)
    parser.add_argument("--factor", type=float, default=1.2)
    parser.add_argument("--side", type=int, nargs="*", default=[3, 4, 5])
    arguments = parser.parse_args()
    rng = random.Random(20261123)
    first = {(side, name): 0 for side in arguments.side for name in RANKINGS}
    for side in arguments.side:
        for _ in range(arguments.trials):
            ops = [Op(rng, arguments.spread, arguments.factor if op == CHANGED else 1, side) for op in range(OPS)]
            for name, rank in RANKINGS.items():
                first[side, name] += max(range(OPS), key=lambda op, rank=rank: rank(ops[op])) == CHANGED
    print("| the op that changed is first by | %s |" % " | ".join("%d a side" % side for side in arguments.side))
    print("|---|%s" % ("---|" * len(arguments.side)))
    for name in RANKINGS:
        print("| %s | %s |" % (name, " | ".join("%.1f %%" % (100 * first[side, name] / arguments.trials) for side in arguments.side)))


if __name__ == "__main__":
    main()
