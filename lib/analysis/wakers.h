/* wakers.h - whom a thread waits for that takes a lock, waits in a queue or for a result: who woke it.
 *
 * Nobody records that. But whoever ends a wait does something else just then: it leaves the function that made what is
 * waited for. One wait ends beside anything by chance; of several, function by function, it is counted how many ended
 * just behind such a turn of a thread, and held against how often it turns anyway. A thread that sleeps on over the
 * ends of the waits, or whose own loop has another rhythm, woke nobody. */
#ifndef IDS_LIB_ANALYSIS_WAKERS_H
#define IDS_LIB_ANALYSIS_WAKERS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

struct ids_waking; /* the waits of one thread at one place of the program */

struct ids_wakers {
    const struct ids_trace *trace;
    const uint32_t *python; /* tracks of threads that run Python: the caller's */
    size_t python_count;
    struct ids_turnings *turnings; /* by thread of `python`; NULL: nobody asked yet */
    uint64_t *functions, *calls;   /* by doing: keys of its function, and of what that calls; NULL as above */
    struct ids_keymap places;      /* a thread and a place: its index in `waking`, plus 1 */
    struct ids_keymap pacemakers;  /* pacemaker.h: who waits and for whom: who sets the pace, of `python`, plus 1 */
    struct ids_waking *waking;
    size_t waking_count, waking_room;
};

void ids_wakers_done(struct ids_wakers *wakers);

/* The waits of the thread of track `own` where it does what `waiting` says. 0, or -1 when memory ran out. */
int ids_wakers_find(struct ids_wakers *wakers, uint32_t own, uint32_t waiting, const struct ids_waking **ret_waking);

enum ids_wakes {
    IDS_WAKES_NEVER,   /* its turns say that it does not, or another function's that that one does */
    IDS_WAKES_MAYBE,   /* too few waits, or too many turns, to tell */
    IDS_WAKES_IN_POOL, /* the same of who sleeps, as several threads do in that function: of one alone, a bystander is
                        * as likely */
    IDS_WAKES_LIKELY
};
/* Whether the function of that doing ends those waits, and how much speaks for it: of two the larger one. */
enum ids_wakes ids_waking_by(const struct ids_wakers *wakers, const struct ids_waking *waking, uint32_t doing,
                             double *ret_score);

/* What speaks for the function for which most does. */
double ids_waking_score(const struct ids_waking *waking);
/* Whether a function that likely ends those waits runs on the thread of track `python[p]`, and ended some of them
 * there. */
int ids_waking_is_by_thread(const struct ids_waking *waking, size_t p);

/* It does nothing until something wakes it. */
int ids_is_asleep(const struct ids_trace *trace, uint32_t doing);
/* Whether another thread may wait for one that does this, which waits for no thread itself. */
int ids_may_hold_up(const struct ids_trace *trace, uint32_t doing, enum ids_waits waits);
/* The same of all doings of a function of the program; of what it has nothing to do with, what is done. */
uint64_t ids_function_of_doing(const struct ids_trace *trace, uint32_t doing);
/* What the thread did at a turn or before it, had it always had a core and Python's lock. */
uint32_t ids_doing_with_core(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t turn);

#endif
