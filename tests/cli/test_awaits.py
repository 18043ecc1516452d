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


def decode():
    time.sleep(.003)


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
    broken_tasks()
    check('the selectors are as before', selects() == before, selects())
    noted.clear()
    asyncio.run(one(None))
    check('outside a window nothing is noted', not noted, noted)
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
