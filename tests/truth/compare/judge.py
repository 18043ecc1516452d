#!/usr/bin/env python3
"""Does diff say why?  Pairs of small programs with one known change are recorded live; one table says for each what was
true, what diff said first, and how far its size is off.

    judge.py [--into DIR] [--side N] [--record | --judge] [--all] [PAIR ...]
    judge.py --equal [--into DIR] [--every] [KIND ...]
    judge.py --windows [--into DIR] [KIND ...]

--into DIR keeps the recordings; those that are there are not made again. --record only records, --judge only judges.
--side N: so many recordings a side (3). PAIR: see pairs.py (default: all). --seconds N: begin no recording after this time.
--again N: a pair whose change is less than three times its noise is recorded again, up to so many times.
--every: all ways to have sides of three of six recordings, not only those that were recorded in turn.
Environment: IDSPROF, IDS_PYTHON (with jax).
Exit: 0 all true, 1 one is wrong, 77 cannot run here.
"""
import argparse
import itertools
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from pairs import EQUAL, PAIRS  # noqa: E402  (found through the line above)
from run import IDSPROF, PYTHON, ahead_of_others, has_jax, matches, rows  # noqa: E402

WARM, WINDOW = 4, 20  # as in program.py
EXPLAINED = 0.95      # of a change above NOISES times its noise
NOISES = 3
SIZE = 0.10           # of the truth, or NOISE_MS, or the noise
BESIDE = 0.15         # of a change: what a cause inside a program has beside it (a layer's weights are updated elsewhere)
NOISE_MS = 0.5
CALLED = 0.01         # of the causes of equal pairs
ORDINARY = ("chrt", "-o", "0")  # a load takes turns of milliseconds with the program, though judge.py itself may go before all others


# --- recording --------------------------------------------------------------------------------------------------------

class Load:
    """A program that keeps the core busy."""

    def __init__(self, cores, count):
        self.words = [*ORDINARY, "taskset", "-c", cores or "0", PYTHON, "-c", "while True: pass"]
        self.count, self.running = count, []

    def __enter__(self):
        self.running = [subprocess.Popen(self.words) for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()


def record(folder, number, parameters, flags, python, cores, windows=()):
    """Recording `number` of the side that is kept in `folder`; nothing if it is there. Whether it is there now."""
    truth = folder / "truth" / ("%d.json" % number)
    if truth.exists():
        return True
    truth.parent.mkdir(parents=True, exist_ok=True)
    name = "r%d" % number
    for left in folder.glob(name + "_*"):
        shutil.rmtree(left)
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("PROFILE_", "IDSPROF_", "JAX_", "XLA_")) and key != "PYTHONPATH"}
    environment.update(JAX_PLATFORMS="cpu", XLA_FLAGS=flags)
    first = [*ORDINARY, "taskset", "-c", cores] if cores else [] if flags else ahead_of_others()  # many devices hold each other up
    words = [*first, IDSPROF, "capture", "-q", "--start-step", str(WARM),
             "--steps", str(WINDOW), *windows, "--step-executable", "train_step",
             *(["--python-tracer", "1"] if python else []), "-n", name, "-o", folder, "--",
             PYTHON, HERE / "program.py", json.dumps(parameters), truth]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    (truth.parent / ("%d.log" % number)).write_text(done.stdout + done.stderr)
    return truth.exists()


def is_noisy(name, root, count):
    """Whether others disturbed the machine so much that the change cannot be told."""
    pair = PAIRS[name]
    change, noise = clocks_of(root / (pair.of or name), "ab", range(1, count + 1))[2:]
    return not pair.same and abs(change) < NOISES * noise


def record_until_told(name, root, count, until, again):
    complete = record_pair(name, root, count, until)
    while complete and again > 0 and time.monotonic() < until and is_noisy(name, root, count):
        shutil.rmtree(root / (PAIRS[name].of or name))
        complete = record_pair(name, root, count)
        again -= 1


def record_pair(name, root, count, until=math.inf):
    """First a, then b, then a, so that what others do in the meantime disturbs both sides alike."""
    pair = PAIRS[name]
    if pair.of:
        return record_pair(pair.of, root, count, until)
    for number in range(1, count + 1):
        for side, parameters, load in ("a", pair.a, 0), ("b", pair.b, pair.load_on_b):
            if time.monotonic() > until:
                return False
            folder = root / name / side
            with Load(pair.cores, load):
                made = record(folder, number, parameters, pair.flags, pair.python, pair.cores)
            if not made:
                sys.exit("%s: no recording\n%s" % (name, (folder / "truth" / ("%d.log" % number)).read_text()))
    return True


# --- the programs' clocks ---------------------------------------------------------------------------------------------

class Clocks:
    """What the programs of one side say, in ms a step: of each recording the mean of the recorded steps."""

    def __init__(self, folder, numbers):
        truths = [json.loads((folder / "truth" / ("%d.json" % number)).read_text()) for number in numbers]
        recorded = slice(WARM, WARM + WINDOW)
        self.steps = [statistics.mean(truth["step_ms"][recorded]) for truth in truths]
        self.causes = [statistics.mean(truth["cause_ms"][recorded]) for truth in truths]
        self.inside = statistics.mean(statistics.stdev(truth["step_ms"][recorded]) for truth in truths) / math.sqrt(WINDOW * len(truths))
        self.held = statistics.mean(truth["held_ms"] / sum(truth["step_ms"][recorded]) for truth in truths)

    def noise(self):
        """Of the mean: from recording to recording, and at least as the steps of one vary."""
        between = statistics.stdev(self.steps) / math.sqrt(len(self.steps)) if len(self.steps) > 1 else 0
        return max(between, self.inside)


def clocks_of(folder, sides, numbers):
    """Both sides' clocks, the change of the mean step in ms, and its noise."""
    clocks = [Clocks(folder / side, numbers) for side in sides]
    change = statistics.mean(clocks[1].steps) - statistics.mean(clocks[0].steps)
    return (*clocks, change, math.hypot(clocks[0].noise(), clocks[1].noise()))


# --- judging ----------------------------------------------------------------------------------------------------------

def side_of(folder, numbers):
    """One side's operand: the folder, or a pattern of some of its recordings."""
    return str(folder / ("r[%s]_*" % "".join(map(str, numbers))))


def diff(a, b, *more):
    done = subprocess.run([IDSPROF, "diff", *more, a, b], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode > 1:
        return None, done.stderr.strip()
    return done.stdout, None


def compared(a, b):
    text, error = diff(a, b, "--json")
    if error is not None:
        return {"error": error, "run": {}, "metrics": {}, "tables": {}}
    return json.loads(text)


def words_of(cause):
    """All that a cause says of what it is."""
    shapes = "%s → %s" % (cause.get("shape_a"), cause.get("shape_b")) if cause.get("shape_a") != cause.get("shape_b") else ""
    return " | ".join(str(text) for text in (cause.get("cause"), cause.get("culprit"), cause.get("where"), shapes) if text)


def said(cause):
    return "%s: %s %+.2f ms" % (cause.get("account"), (cause.get("cause") or "")[:70], 1e3 * (cause.get("change") or 0))


def structure_of(found):
    return [" ".join(str(value) for value in row.values() if value) for row in rows(found, "structure")]


def is_called(found, cause):
    """Whether the text would say it flat: its interval excludes zero, and it is not hedged in words."""
    if "verdict" in cause:
        return cause["verdict"] not in ("unsure", "same", "may_be_chance", "differs", None)
    low, high = cause.get("low"), cause.get("high")
    return low is not None and high is not None and (low > 0 or high < 0)


def judge(name, root, numbers):
    pair = PAIRS[name]
    folder, order = root / (pair.of or name), "ba" if pair.of else "ab"
    sides = [folder / side for side in order]
    there = [n for n in numbers if all((side / "truth" / ("%d.json" % n)).exists() for side in sides)]
    truth = re.sub(r"[\^$\\()]", "", "%s: %s" % (pair.account or "any", pair.cause or "nothing")).replace("|", " or ")
    if there != [*numbers]:
        return (name, truth, "", "", "", "", ["not recorded"])
    found = compared(*(side_of(side, numbers) for side in sides))
    if "error" in found:
        return (name, truth, found["error"][:160], "", "", "", ["refused"])
    *clocks, change, noise = clocks_of(folder, order, numbers)
    causes = rows(found, "waterfall")
    first = causes[0] if causes else {}
    explained = found["run"].get("explained_share")
    faults = faults_of(pair, found, first, clocks, change, noise)
    measure = "%+.2f ± %.2f of %.1f ms" % (change, noise, statistics.mean(clocks[0].steps))
    return (name, truth, said(first), measure, "%+.2f" % (1e3 * found["run"].get("change", 0)),
            "-" if explained is None else "%.0f %%" % (100 * explained), faults)


def faults_of(pair, found, first, clocks, change, noise):
    if pair.same:
        called = [said(cause) for cause in rows(found, "waterfall") if is_called(found, cause)]
        return ["called: " + text for text in called] + (["not comparable"] if not found["run"].get("comparable") else []) + \
            ["structure: " + text for text in structure_of(found) if not matches(pair.structure, text)]
    faults, notes = [], []
    told = 1e3 * found["run"]["change"]
    if pair.structure and not any(re.search(pair.structure, text) for text in structure_of(found)):
        faults.append("structure")
    if abs(change) < NOISES * noise:
        return faults + ["noise too big"]
    if abs(told - change) > max(SIZE * abs(change), NOISES * noise):
        faults.append("size of the change")
    if not matches(pair.account, first.get("account")):
        faults.append("account")
    elif not matches(pair.cause, words_of(first)):
        faults.append("cause")
    wanted = pair.sign or math.copysign(1, change)
    size = 1e3 * (first.get("change") or 0)
    if size * wanted <= 0:
        faults.append("sign")
    if pair.size == "clock":
        true = statistics.mean(clocks[1].causes) - statistics.mean(clocks[0].causes)
        tolerance = max(SIZE * abs(true), NOISES * noise)
    else:  # the change of the whole step: the other ops' noise is in it too, and comes on top of what is beside the cause
        true = change
        tolerance = BESIDE * abs(true) + NOISES * noise
    if not faults and pair.size and abs(size - true) > max(tolerance, NOISE_MS):
        faults.append("size of the cause: %.2f, not %.2f" % (size, true))
    if (found["run"].get("explained_share") or 0) < EXPLAINED:
        faults.append("explained")
    return faults + notes


# --- the table --------------------------------------------------------------------------------------------------------

def table_of(names, root, numbers):
    print("| pair | truth | said first | the clocks' change, ms | diff's | explained | |\n|---|---|---|---|---|---|---|", flush=True)
    wrong, noisy, missing = [], [], []
    for name in names:
        row = judge(name, root, numbers)
        if row[-1] == ["noise too big"]:
            noisy.append(name)
        elif row[-1] == ["not recorded"]:
            missing.append(name)
        elif row[-1]:
            wrong.append(name)
        print("| %s |" % " | ".join([*map(str, row[:-1]), ", ".join(row[-1]) or "ok"]), flush=True)
    print("\n%d of %d are right" % (len(names) - len(wrong) - len(noisy) - len(missing), len(names)))
    for what, which in ("wrong", wrong), ("the noise is too big", noisy), ("not recorded", missing):
        if which:
            print("%s: %s" % (what, ", ".join(which)))
    return wrong


def record_equal(kinds, root, until):
    for number in range(1, 7):
        for kind in kinds:
            parameters, flags, python = EQUAL[kind]
            if time.monotonic() > until:
                return
            record(root / "equal" / kind, number, parameters, flags, python, None)


def ways(numbers, every):
    """The sides to compare: recorded in turn (three and three, or one and one), for the machine may have had another load in the
    meantime, which is a true difference. `every`: all ways to have sides of three."""
    if len(numbers) == 6:
        for left in itertools.combinations(numbers, 3):
            right = [number for number in numbers if number not in left]
            if numbers[0] in left and (every or [*left] == numbers[::2]):
                yield left, right
    yield from (([left], [right]) for left, right in zip(numbers[::2], numbers[1::2]))


def judge_equal(kinds, root, every):
    """Whether what is the same twice is called different, at three a side and at one a side."""
    print("| program | recordings | causes at 3 a side | called | step called | causes at 1 a side | flat | step flat |\n|---|---|---|---|---|---|---|---|")
    total = [0] * 6
    for kind in kinds:
        folder = root / "equal" / kind
        numbers = [n for n in range(1, 7) if (folder / "truth" / ("%d.json" % n)).exists()]
        counts = [0] * 6
        for left, right in ways(numbers, every):
            found = compared(side_of(folder, left), side_of(folder, right))
            if "error" in found:
                print("%s %s %s: %s" % (kind, left, right, found["error"][:200]))
                continue
            at = 0 if len(left) > 1 else 3
            causes = rows(found, "waterfall")
            called = [cause for cause in causes if is_called(found, cause)]
            counts[at] += len(causes)
            counts[at + 1] += len(called)
            counts[at + 2] += found["run"].get("verdict") in ("regression", "improvement")
            for cause in called:
                print("  %s %s %s: %s [%s, %s]" % (kind, left, right, said(cause), cause.get("low"), cause.get("high")), file=sys.stderr)
        total = [one + other for one, other in zip(total, counts)]
        print("| %s | %d | %s |" % (kind, len(numbers), " | ".join(map(str, counts))), flush=True)
    print("| all | | %s |" % " | ".join(map(str, total)))
    return total[1] > CALLED * total[0] or total[4] > 0


WINDOWS = ("--steps", "8", "--every", "12", "--max", "3")
PROCESSES = 8


def record_windows(kinds, root, until):
    """Processes of the same program, each with three windows."""
    for number in range(1, PROCESSES + 1):
        for kind in kinds:
            parameters, flags, python = EQUAL[kind]
            if time.monotonic() < until:
                record(root / "windows" / kind, number, {**parameters, "steps": 44}, flags, python, None, WINDOWS)


def judge_windows(kinds, root):
    """Three windows of one process are one recording: held against three of another one, no step is called a regression."""
    print("| program | pairs of processes | step called flat | causes | flat |\n|---|---|---|---|---|")
    wrong = 0
    for kind in kinds:
        folders = sorted((root / "windows" / kind).glob("r*_*"))
        pairs = steps = causes = flat = 0
        for a, b in itertools.combinations(folders, 2):
            found = compared(str(a), str(b))
            if "error" in found:
                print(a, b, found["error"][:200])
                continue
            pairs += 1
            steps += found["run"].get("verdict") in ("regression", "improvement")
            causes += len(rows(found, "waterfall"))
            flat += sum(is_called(found, cause) for cause in rows(found, "waterfall"))
        wrong += steps + flat
        print("| %s | %d | %d | %d | %d |" % (kind, pairs, steps, causes, flat), flush=True)
    return wrong > 0


def main(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path)
    parser.add_argument("--side", type=int, default=3)
    parser.add_argument("--only-one", action="store_true", help="judge the first recording of each side alone")
    parser.add_argument("--equal", action="store_true")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--windows", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args(words)
    if not arguments.judge and not has_jax():
        return 77
    until = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as temporary:
        root = (arguments.into or Path(temporary)).resolve()
        if arguments.windows:
            kinds = arguments.names or ["mlp", "small", "sleep"]
            if not arguments.judge:
                record_windows(kinds, root, until)
            return 0 if arguments.record else int(judge_windows(kinds, root))
        names = arguments.names or list(EQUAL if arguments.equal else PAIRS)
        if arguments.equal:
            if not arguments.judge:
                record_equal(names, root, until)
            return 0 if arguments.record else int(judge_equal(names, root, arguments.every))
        for name in names if not arguments.judge else []:
            record_until_told(name, root, arguments.side, until, arguments.again)
        numbers = [1] if arguments.only_one else range(1, arguments.side + 1)
        return 0 if arguments.record else int(bool(table_of(names, root, numbers)))


if __name__ == "__main__":
    sys.exit(main())
