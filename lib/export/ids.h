/* ids.h - numbers that tell processes and threads apart where the file's own repeat, are negative or too large. */
#ifndef IDS_LIB_EXPORT_IDS_H
#define IDS_LIB_EXPORT_IDS_H

#include "lib/base/keymap.h"

struct ids_thread_ids {
    struct ids_keymap taken;
    int32_t fresh; /* the last that was made up */
};

enum { IDS_FRESH_FIRST = 1 << 30 }; /* made-up ones begin here: no system has threads of such numbers */

/* `wanted` where it is a number from 0 to INT32_MAX that the scope does not have yet, else one that is made up.
 * Negative when memory ran out. */
int32_t ids_thread_id(struct ids_thread_ids *ids, uint64_t scope, int64_t wanted);
void ids_thread_ids_done(struct ids_thread_ids *ids);

#endif
