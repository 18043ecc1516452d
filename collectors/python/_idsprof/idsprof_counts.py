"""idsprof_counts.py - what Python's garbage collector counts, as it was before work of ours.

The collector counts the objects that were made and not freed since its last collection, and collects when they are too many. The count of
many a loop comes back to the same value in each turn, below that, and nothing is ever collected. What we make when a window opens and keep
until it ends would move it, and the program would collect in the step that opens the window, perhaps all that it has, for 100 ms. An object
that is freed is taken off the count, so there is a reserve of them to free.
"""
import gc

RESERVE = 512
ROOM = 128                      # for what our work makes and frees before it has ended


class Reserved:
    """Counted when it is made and when it is freed: lists, tuples and dicts are often taken from where freed ones are kept."""

    __slots__ = ('nothing',)


reserve = [Reserved() for _ in range(RESERVE)]


def count():
    """Before work of ours: what restore() wants to know. No `with`, whose objects would be counted."""
    before = gc.get_count()
    del reserve[max(0, len(reserve) - min(ROOM, before[0])):]       # the count does not fall below 0
    return before


def restore(before):
    """After it."""
    wanted = before[0]
    if gc.get_count()[1:] == before[1:]:
        while gc.get_count()[0] > wanted and reserve:
            reserve.pop()
    else:                       # another thread collected meanwhile, and the count began anew
        wanted = min(wanted, gc.get_threshold()[0] // 2)
    while gc.get_count()[0] < wanted and len(reserve) < 2 * RESERVE:
        reserve.append(Reserved())
