/* table.h - the plugin we stand for: calling its functions, and what the parts of the library know of its use.
 *
 * One plugin a process is wrapped; a second one is handed out as it is. The plugin's own functions are always called
 * with the program's arguments, and what they return is what the program gets.
 */
#ifndef IDS_COLLECTORS_PJRT_TABLE_H
#define IDS_COLLECTORS_PJRT_TABLE_H

#include "collectors/pjrt/pjrt_abi.h"

#include <stdatomic.h>

struct ids_pjrt {
    const struct pjrt_table *real;
    const struct pjrt_profiler_table *profiler; /* the plugin's, NULL: it has none that we can drive */
    int handle;                                 /* of the agent; 0: no capture */
    atomic_int clients;                         /* that live */
    atomic_int theirs;                          /* sessions of the plugin's profiler that are open and not ours */
    atomic_int ours;                            /* our session is open */
};
extern struct ids_pjrt ids_pjrt;

/* Whether a plugin's table has the function. */
int ids_table_has(const struct pjrt_table *table, enum pjrt_entry entry);
/* Whether ours has it. */
int ids_pjrt_has(enum pjrt_entry entry);
/* Calls the plugin. NULL, or the error, which is the caller's to destroy. */
void *ids_pjrt_call(enum pjrt_entry entry, void *arguments);
/* The same for calls of our own: 0; or -1, and the error is destroyed. Where the plugin lacks the function, -1. */
int ids_pjrt_try(enum pjrt_entry entry, void *arguments);
void ids_pjrt_destroy_error(void *error);

#endif
