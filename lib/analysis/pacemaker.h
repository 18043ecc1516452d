/* pacemaker.h - which thread of a pipeline sets its pace.
 *
 * Threads that hand items on from one to the next all work on something while a device waits for the last of them. But
 * a stage that itself waits, again and again, for the one before it would only wait longer, were it faster: the pace is
 * that of the stage that waits for nobody. */
#ifndef IDS_LIB_ANALYSIS_PACEMAKER_H
#define IDS_LIB_ANALYSIS_PACEMAKER_H

#include "lib/analysis/wakers.h"

/* Threads that wait one for the other, from the one that was asked about on; each is asked once. */
enum { IDS_MOST_LINKS = 8 };
struct ids_chain {
    uint32_t host, tracks[IDS_MOST_LINKS];
    int count;
};
int ids_is_in_chain(const struct ids_chain *chain, uint32_t track);

/* For whom the thread `python[p]` works at another one's pace, an index of `python` too: itself where it waits for
 * nobody, or nobody of whom that is known. Who waits for it stands in the chain. 0, or -1 when memory ran out. */
int ids_pacemaker_find(struct ids_wakers *wakers, const struct ids_chain *chain, size_t p, size_t *ret_pacemaker);

#endif
