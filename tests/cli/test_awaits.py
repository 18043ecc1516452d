#!/usr/bin/env python3
"""What the hook says of the waits of event loops (collectors/python/_idsprof/idsprof_awaits.py), without jax: a stand-in of jaxlib's TraceMe
(tests/support/hook_test.py) notes the names. With a real capture: live.awaits.

Environment: IDS_SOURCE_DIR.  Exit: 0, 1.
"""
import asyncio
import os
import re
import selectors
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, os.environ['IDS_SOURCE_DIR'] + '/tests/support')
from hook_test import Profiler, check, failed, noted  # noqa: E402  (found through the line above)
from _idsprof.idsprof_awaits import Awaits  # noqa: E402  (found by hook_test)


def names():
    """How often each function was awaited; the place is that of this file."""
    found = Counter()
    for name in noted:
        if name == 'end':
            continue
        place = re.fullmatch(r'\$test_awaits\.py:(\d+) await ([\w.]+)', name)
        found[place[2] if place else name] += 1
    return found


def during(program, opener=None):
    """Runs a coroutine; the window is open from the first moment of the task `opener`, the program itself by default."""
    noted.clear()
    awaits = Awaits(Profiler)

    async def opened():
        if opener is None:
            awaits.on()
        return await program(awaits)
    try:
        return asyncio.run(opened())
    finally:
        awaits.off()


async def fetch(seconds=.005):
    await asyncio.sleep(seconds)


async def one(_):
    for _ in range(5):
        await fetch()


async def heartbeat():
    while True:
        await asyncio.sleep(.001)


async def beside_others(awaits):
    """Other tasks wait for less time; the steps are made in this one."""
    beats = [asyncio.create_task(heartbeat()) for _ in range(3)]
    await one(awaits)
    for beat in beats:
        beat.cancel()


async def download(item):
    await asyncio.sleep(.005)
    return item


async def over_a_queue(_):
    """The steps' task waits for another one, which is named."""
    queue = asyncio.Queue(2)

    async def produce():
        for item in range(5):
            await queue.put(await download(item))
    producer = asyncio.create_task(produce())
    for _ in range(5):
        await queue.get()
    await producer


async def gathered(_):
    await asyncio.gather(download(1), download(2))


def from_afar(seconds=None):
    """What comes over a network, or never: no timer of the loop says when."""
    loop = asyncio.get_running_loop()
    came = loop.create_future()
    if seconds:
        timer = threading.Timer(seconds, loop.call_soon_threadsafe, (came.set_result, None))
        came.add_done_callback(lambda _: timer.cancel())
        timer.start()
    return came


async def first_shard():
    await from_afar(.005)


async def last_shard():
    await from_afar(.015)


def listeners():
    """Other tasks of the program, which wait for something that has nothing to do with the steps."""
    async def listen():
        await from_afar()
    return [asyncio.create_task(listen()) for _ in range(5)]


async def beside_listeners(program):
    others = listeners()
    await asyncio.sleep(0)
    try:
        for _ in range(4):
            await program()
    finally:
        for other in others:
            other.cancel()


async def by_gather(_):
    await beside_listeners(lambda: asyncio.gather(first_shard(), last_shard()))


async def by_wait(_):
    await beside_listeners(lambda: asyncio.wait([asyncio.ensure_future(shard) for shard in (first_shard(), last_shard())]))


async def by_wait_for(_):
    await beside_listeners(lambda: asyncio.wait_for(asyncio.gather(first_shard(), last_shard()), 5))


async def by_a_group(_):
    async def shards():
        async with asyncio.TaskGroup() as group:
            group.create_task(first_shard())
            group.create_task(last_shard())
    await beside_listeners(shards)


async def of_time(_):
    """The sleep that ends first holds nobody up."""
    await asyncio.gather(download(1), fetch(.015))


class Feeder:
    __slots__ = 'queue', 'task', '__dict__'

    def __init__(self):
        self.shards = asyncio.Queue(1)
        self.task = asyncio.create_task(self.feed())

    def __getattribute__(self, name):
        if name == '__dict__':
            raise SystemExit(name)
        return object.__getattribute__(self, name)

    async def feed(self):
        while True:
            await last_shard()
            await self.shards.put(1)


async def by_an_object(_):
    """The steps take from a queue that an attribute of another task's object is."""
    feeder = Feeder()
    await beside_listeners(feeder.shards.get)
    feeder.task.cancel()


async def of_futures(_):
    """What gather() is given are no tasks; a task that the program holds beside them is another matter."""
    beat = asyncio.create_task(heartbeat())
    await asyncio.gather(from_afar(.01), from_afar(.02))
    beat.cancel()


async def by_a_thread(_):
    """A thread fills the queue: no task is who is waited for, whatever else the loop has to do."""
    loop, shards = asyncio.get_running_loop(), asyncio.Queue(1)

    def fill():
        for _ in range(4):
            time.sleep(.01)
            loop.call_soon_threadsafe(shards.put_nowait, 1)
    thread = threading.Thread(target=fill)
    thread.start()
    await beside_listeners(shards.get)
    thread.join()


def decode():
    time.sleep(.05)      # longer than a loop may wait for a core


async def in_a_thread(_):
    await asyncio.to_thread(decode)


async def records(count):
    for item in range(count):
        await asyncio.sleep(.005)
        yield item


async def every_other(count):
    async for item in records(2 * count):
        if item % 2:
            yield item


class Reader:
    async def line(self):
        await asyncio.sleep(.005)

    def __await__(self):        # of Python's protocol: what awaits this awaits a wrapper of the coroutine
        return self.line().__await__()


async def of_a_generator(_):
    async for _ in records(4):
        pass


async def of_a_generator_of_another(_):
    [item async for item in every_other(2)]


async def by_a_method(_):
    for _ in range(3):
        await Reader()


async def soonest(awaits):
    """Nobody knows the task of the steps: the one whose time comes first."""
    late = asyncio.create_task(fetch(1))
    await asyncio.sleep(0)
    thread = threading.Thread(target=awaits.on)     # a window that opens by time
    thread.start()
    thread.join()
    await download(0)
    late.cancel()


def told_of(program, closes_after=1.0):
    """What is told of waits that were under way when a window opened, by time, in another thread."""
    told, own = [], []

    def window(loop):
        time.sleep(.05)
        before_ns = time.time_ns()
        awaits = Awaits(Profiler, lambda *said: told.append(said))
        awaits.on()
        time.sleep(closes_after)
        awaits.off()
        own.append((before_ns, '_process_events' in vars(loop), awaits.under_way))

    async def opened():
        thread = threading.Thread(target=window, args=(asyncio.get_running_loop(),))
        thread.start()
        await program(None)
        await asyncio.to_thread(thread.join)
    noted.clear()
    asyncio.run(opened())
    return told, own[0]


async def download_late(_):
    await fetch(.3)


def decode_late():
    time.sleep(.3)


async def in_a_thread_late(_):
    await asyncio.to_thread(decode_late)


def under_way():
    """A wait that no window saw begin is told once, with its end."""
    told, (before_ns, is_left, kept) = told_of(download_late, .6)
    line = fetch.__code__.co_firstlineno + 1
    check('under way: told once', [said[3] for said in told] == ['$test_awaits.py:%d await fetch' % line], told)
    check('under way: of its thread', told[0][0] == threading.get_ident(), told)
    check('under way: to its end', before_ns <= told[0][1] and .1e9 < told[0][2] - told[0][1] < .5e9, told)
    check('under way: the loop is as it was', not is_left and not kept, (is_left, kept))
    told, (before_ns, is_left, kept) = told_of(download_late, .1)
    check('under way: the window ends before', len(told) == 1 and told[0][2] - told[0][1] < .25e9, told)
    check('under way, and the window ends: the loop is as it was', not is_left and not kept, (is_left, kept))
    told, _ = told_of(in_a_thread_late, .6)
    check('under way: in a thread', [said[3].rpartition(':')[2].partition(' ')[2] for said in told] == ['await in_a_thread_late', 'poll'], told)


def selects():
    return [vars(kind)['select'] for kind in (selectors.EpollSelector, selectors.SelectSelector)]


def broken_tasks():
    """Tasks that cannot be looked at harm nobody."""
    class Task(asyncio.Task):
        def get_coro(self):
            raise RuntimeError('not yours')

    async def program(_):
        asyncio.get_running_loop().set_task_factory(lambda loop, coro, **more: Task(coro, loop=loop, **more))
        await asyncio.create_task(download(0))
        return 'whole'
    check('a task of its own kind', during(program) == 'whole', noted)


def main():
    before = selects()
    during(one)
    check('the steps wait for what they await', set(names()) == {'fetch'}, names())
    during(beside_others)
    check('other tasks are not what the steps wait for', set(names()) == {'fetch'}, names())
    during(over_a_queue)
    check('over a queue: what the other task awaits', set(names()) == {'download'}, names())
    during(gathered)
    check('gather: one of those', set(names()) == {'download'}, names())
    for program in [by_gather, by_wait, by_wait_for] + [by_a_group] * hasattr(asyncio, 'TaskGroup'):
        during(program)
        found = names()
        check('%s: the last one, and nobody who is not waited for' % program.__name__, set(found) <= {'first_shard', 'last_shard'} and
              found['last_shard'] >= 6, found)
    during(of_time)
    check('gather: whose time comes last', set(names()) == {'fetch'}, names())
    during(by_an_object)
    check('over a queue: who has it', set(names()) == {'last_shard'}, names())
    during(of_futures)
    check('gather of futures', set(names()) == {'of_futures', '$asyncio poll'}, names())
    during(by_a_thread)
    check('over a queue that a thread fills', set(names()) == {'beside_listeners', '$asyncio poll'}, names())
    during(in_a_thread)
    check('a thread: said', set(names()) >= {'in_a_thread', '$asyncio poll'}, names())
    during(of_a_generator)
    check('an asynchronous generator: it awaits', set(names()) == {'records'}, names())
    during(of_a_generator_of_another)
    check('an asynchronous generator of another: the inner one', set(names()) == {'records'}, names())
    during(by_a_method)
    line = 'Reader.line' if sys.version_info >= (3, 11) else 'line'
    check('an object that is awaited: the coroutine of its __await__', set(names()) == {line}, names())
    during(soonest, opener='a thread')
    check('the soonest', set(names()) == {'download'}, names())
    under_way()
    broken_tasks()
    check('the selectors are as before', selects() == before, selects())
    noted.clear()
    asyncio.run(one(None))
    check('outside a window nothing is noted', not noted, noted)
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
