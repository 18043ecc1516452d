"""What measure.py and measure_json.py share: commands timed as whole processes, in interleaved rounds, as Markdown tables."""
import os, shutil, subprocess, sys, tempfile, time


def run(command, env=None):
    """(seconds of the whole process, peak memory in MB, standard output); run.cpu are its CPU seconds"""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        if status:
            sys.exit(f"failed ({status}): {' '.join(command)}")
        out.seek(0)
        run.cpu = usage.ru_utime + usage.ru_stime
        return seconds, usage.ru_maxrss / 1024, out.read().decode()


def report(idsprof, path, cache):
    return run([idsprof, "report", path], {"XDG_CACHE_HOME": cache})


def cold(idsprof, path):
    cache = tempfile.mkdtemp()
    try:
        return report(idsprof, path, cache)
    finally:
        shutil.rmtree(cache)


def measure(commands, rounds):
    """Runs each command once a round and prints the table; returns the least seconds and the most memory of each."""
    times, peaks = {name: [] for name in commands}, {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seconds, memory, _ = command()
            times[name].append(seconds)
            peaks[name].append(memory)
    print("| what | min s | all rounds s | peak MB |\n|---|---|---|---|")
    for name in commands:
        print(f"| {name} | {min(times[name]):.4f} | {' '.join(f'{t:.3f}' for t in times[name])} | {max(peaks[name]):.0f} |")
    return {name: min(times[name]) for name in commands}, {name: max(peaks[name]) for name in commands}


def judge(goals):
    """Prints the table of goals, (title, measured, wanted, met); returns the exit code."""
    print("\n| goal | measured | wanted | |\n|---|---|---|---|")
    for title, measured, wanted, met in goals:
        print(f"| {title} | {measured} | {wanted} | {'' if not wanted else 'met' if met else 'MISSED'} |")
    return 0 if all(goal[3] for goal in goals) else 1
