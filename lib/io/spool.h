/* spool.h - keeps bytes that come in order and are read again: in memory up to 64 MiB, above that in an unlinked
 * temporary file in TMPDIR. Error messages come from the caller, who knows what is kept.
 */
#ifndef IDS_LIB_IO_SPOOL_H
#define IDS_LIB_IO_SPOOL_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_spool {
    uint8_t *bytes; /* what is not yet in the file; all of it while fd is -1 */
    size_t length, room;
    int fd;
    uint64_t written; /* in the file */
};

#define IDS_SPOOL_INIT \
    { NULL, 0, 0, -1, 0 }

/* Where at least one byte can be put; what was put there counts after ids_spool_added. IDS_LIMIT above 64 GiB: an
 * endless pipe must not fill the disk. */
int ids_spool_space(struct ids_spool *spool, uint8_t **ret_at, size_t *ret_room, struct ids_error *err);
void ids_spool_added(struct ids_spool *spool, size_t length);
int ids_spool_add(struct ids_spool *spool, const void *bytes, size_t length, struct ids_error *err);
uint64_t ids_spool_size(const struct ids_spool *spool);
/* Everything is in the file, where there is one. To be called once, at the end. */
int ids_spool_flush(struct ids_spool *spool, struct ids_error *err);
void ids_spool_done(struct ids_spool *spool);

#endif
