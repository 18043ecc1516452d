"""A Python program that uses CUDA, as far as stub_cuda.c has it, so that its windows are CUPTI's: python_program.py LIBCUDA ACT SECONDS.

It prints what a program under no profiler would. Lines with "#:" are where samples must find it: the word behind it names the place."""
import ctypes
import faulthandler
import gc
import os
import sys
import threading
import time

cuda = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
act, seconds = sys.argv[2], float(sys.argv[3])
end = time.monotonic() + seconds


def is_over():
    return time.monotonic() > end


def load_batch():
    time.sleep(0.02)  #: load_batch


class Model:
    def crunch(self):
        until, count = time.monotonic() + 0.02, 0
        while time.monotonic() < until:
            for i in range(1000): count += i & 3  #: Model.crunch
        return count


def sort_rows(rows):
    until = time.monotonic() + 0.02
    while time.monotonic() < until:
        sorted(rows, reverse=True)  #: sort_rows


def squares():
    until = time.monotonic() + 0.02
    while time.monotonic() < until:
        [i * i for i in range(30000)]  #: squares


def order(rows):
    def by_rest(count):
        class Order:
            def first(self):
                return sorted(rows, key=lambda row: row % count)  #: Order.first
        return Order()

    until = time.monotonic() + 0.02
    while time.monotonic() < until:
        by_rest(97).first()


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    time.sleep(0.02)  #: recurse
    return 0


def lines():
    while True:
        time.sleep(0.02)  #: lines
        yield 1


def beside():
    while not is_over():
        time.sleep(0.05)  #: beside


def work():
    thread = threading.Thread(target=beside)
    thread.start()
    rows, model, made = [i * 7919 % 100003 for i in range(100000)], Model(), lines()  #- once
    rounds = 0
    while rounds < 5 or not is_over():  # on a busy machine one round may take all of the time
        rounds += 1
        load_batch()
        model.crunch()
        sort_rows(rows)
        squares()
        order(rows)
        recurse(30)
        next(made, None)
        cuda.cuLaunchKernel()
    thread.join()  #- once


def many_threads():
    def sleeps():
        while not is_over():
            time.sleep(0.01)

    threads = [threading.Thread(target=sleeps) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def asleep():
    over = threading.Event()
    threads = [threading.Thread(target=over.wait) for _ in range(50)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join()


def passes():
    """Everybody sleeps, and one that is in the middle of the list ends."""
    over = threading.Event()
    passing = threading.Thread(target=time.sleep, args=(.1,))
    passing.start()
    newest = threading.Thread(target=over.wait)
    newest.start()
    time.sleep(seconds)
    over.set()
    newest.join()


def generators():
    """Frames that are given back and taken again all the time, as those of json.dump with an indent."""
    def of_word(word):
        for letter in word:
            yield letter

    def of_words(words):
        for word in words:
            yield from of_word(word)

    while not is_over():
        for letter in of_words(['ab', 'c'] * 40):
            len(letter)


def churn():
    """Threads that begin and end, code objects that come and go."""
    count = 0
    while not is_over():
        space = {}
        exec(compile('def made_%d(x):\n    return sum(i * x for i in range(200))\n' % (count % 7), '/made/%d.py' % count, 'exec'), space)
        threads = [threading.Thread(target=space['made_%d' % (count % 7)], args=(3,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        del space
        gc.collect()
        count += 1


def deep():
    def descend(depth):
        return descend(depth - 1) + 1 if depth else (time.sleep(0.05) or 0)

    sys.setrecursionlimit(12000)
    threading.stack_size(512 << 20)
    while not is_over():
        thread = threading.Thread(target=descend, args=(10000,))
        thread.start()
        thread.join()


def forks():
    while not is_over():
        child = os.fork()
        if not child:
            sum(range(100000))
            os._exit(7)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 7:
            sys.exit(9)


def quits():
    load_batch()
    time.sleep(seconds / 2)
    sys.stdout.flush()
    os._exit(5)


def handles_faults():
    """Not by dump_traceback_later, whose thread reads frames that run: with CPython 3.11 it ends 1 of 17 programs, alone too."""
    file = open(os.devnull, 'w')
    faulthandler.enable(file)
    while not is_over():
        faulthandler.dump_traceback(file)
        sum(i for i in range(1000))


def interpreters():
    """Subinterpreters that are made and ended, with code that runs in them."""
    try:
        import _xxsubinterpreters as made
    except ImportError:
        try:
            import _interpreters as made
        except ImportError:
            return work()
    while not is_over():
        one = made.create()
        made.run_string(one, 'sum(i for i in range(10000))')
        made.destroy(one)


def ends():
    """The interpreter ends while the window is open, and other threads run."""
    for _ in range(4):
        threading.Thread(target=Model().crunch, daemon=True).start()
    load_batch()
    time.sleep(seconds / 2)
    sys.exit(3)


cuda.cuInit(0)
cuda.cuLaunchKernel()
{'work': work, 'many_threads': many_threads, 'churn': churn, 'deep': deep, 'forks': forks, 'quits': quits, 'handles_faults': handles_faults,
 'interpreters': interpreters, 'ends': ends, 'generators': generators, 'asleep': asleep, 'passes': passes}[act]()
cuda.cuLaunchKernel()
print('done')
