"""What `idsprof capture` costs outside of a window: steps of a loop without it, without it again (the noise), and with it.

usage: measure_capture.py IDSPROF PYTHON ROUNDS        PYTHON has jax
Processes take turns, one of each kind a round; a figure is the median over the rounds of what capture_steps.py prints. The window is never
reached, so that every step is one outside of it. Where capture adds less than the two series without it differ from round to
round, it cannot be told from noise. And the start of a Python without jax."""
import os, shutil, statistics, sys, tempfile, time

from rounds import run

idsprof, python, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "capture_steps.py")
environment = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
folder = tempfile.mkdtemp()
capture = [idsprof, "capture", "--start-step", "1000000000", "--output", folder, "--"]


def steps(before, mode, size, count):
    return float(run([*before, python, program, mode, str(size), str(count)], environment)[2].splitlines()[-1])


def first_line(before, variables=None):
    """Until the first line of the program runs."""
    def once():
        begin = time.monotonic()
        return float(run([*before, python, "-c", "import time; print(time.monotonic())"], variables)[2].splitlines()[-1]) - begin
    return min(once() for _ in range(20)) * 1e6


def in_program(before):
    """The same in the environment that capture makes, which is what loads the hook into the program."""
    return first_line([], made if before else None)


def whole(before):
    return min(run([*before, python, "-c", "pass"])[0] for _ in range(20)) * 1e6


cases = [("an annotated step that does nothing", "annotate", 0, 20000), ("a step that does nothing, counted", "plain", 0, 20000),
         ("an annotated step", "annotate", 96, 6000), ("a step, counted", "plain", 96, 6000)]
kinds = {title: lambda before, case=case: steps(before, *case) for title, *case in cases}
kinds["start of a Python without jax: what the hook adds to the program"] = in_program
kinds["the same with the start of idsprof itself"] = first_line
kinds["the same from begin to end"] = whole
made = dict(line.split("=", 1) for line in run([*capture, "env"])[2].splitlines() if line.startswith(("IDSPROF_", "PYTHONPATH=", "CUDA_INJ", "NVTX_INJ")))
series = {(title, which): [] for title in kinds for which in ("alone", "again", "captured")}
try:
    for _ in range(rounds):
        for title, measure in kinds.items():
            for which in ("alone", "captured", "again"):
                series[title, which].append(measure(capture if which == "captured" else []))
finally:
    shutil.rmtree(folder)

print(f"| what, {rounds} rounds | alone, us | captured, us | more, us | more | the same twice differs by, us |\n|---|---|---|---|---|---|")
for title in kinds:
    alone = statistics.median(series[title, "alone"] + series[title, "again"])
    more = statistics.median(c - (a + b) / 2 for a, b, c in zip(*(series[title, which] for which in ("alone", "again", "captured"))))
    noise = statistics.median(abs(a - b) for a, b in zip(series[title, "alone"], series[title, "again"]))
    print(f"| {title} | {alone:.2f} | {alone + more:.2f} | {more:+.2f} | {more / alone:+.2%} | {noise:.2f} |")
