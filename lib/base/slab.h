/* slab.h - one stretch of memory for several large arrays that are let go one by one, by any thread.
 *
 * The kernel gives it in huge pages where it can, which arrays of a megabyte each never get; and a page on which
 * nothing lies any more goes back at once.
 */
#ifndef IDS_LIB_BASE_SLAB_H
#define IDS_LIB_BASE_SLAB_H

#include <stddef.h>

/* What is smaller is better off with malloc. */
#define IDS_SLAB_LEAST_BYTES ((size_t)4 << 20)

struct ids_slab;

/* NULL where there is no memory for it; there may be for the arrays one by one. */
struct ids_slab *ids_slab_new(size_t bytes);
/* The next of its bytes: no more than it was made with are taken, and by one thread. */
void *ids_slab_take(struct ids_slab *slab, size_t bytes);
/* Lets go what was taken: the last one, when the slab is closed, frees it. */
void ids_slab_drop(struct ids_slab *slab, void *taken, size_t bytes);
/* No more is taken. */
void ids_slab_close(struct ids_slab *slab);

#endif
