/* spells.h - what a thread did for a while that no frame tells of, and whose begin no window saw: a collection of
 * garbage that a window opened in, and what an event loop awaited then. A collector says so afterwards; where the
 * samples of that thread are of that time, it is what their innermost call did. */
#ifndef IDS_COLLECTORS_COMMON_SPELLS_H
#define IDS_COLLECTORS_COMMON_SPELLS_H

#include "collectors/common/samples.h"

enum { IDS_SPELL_NAME = 192, IDS_SPELLS_AT_ONCE = 2 };

/* By the thread's pthread_t; times of CLOCK_REALTIME. The last few are kept. From any thread. */
void ids_spells_add(uint64_t pthread, int64_t begin_ns, int64_t end_ns, const char *name);
/* Those in which at least half of a run of that thread's samples lies, in the order in which they were added. */
uint32_t ids_spells_of(uint64_t pthread, const struct ids_sample_run *run,
                       char names[IDS_SPELLS_AT_ONCE][IDS_SPELL_NAME]);
/* In the child of a fork, too, where a thread that is not there may have been adding one. */
void ids_spells_forget(void);

#endif
