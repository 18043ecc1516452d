/* spool.h - bytes that are put aside and read again, in bounded memory: the first up to a budget stay there, the others go to an
 * unlinked temporary file. */
#ifndef IDS_LIB_IO_SPOOL_H
#define IDS_LIB_IO_SPOOL_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ids_spool;

int ids_spool_new(size_t memory_bytes, struct ids_spool **ret_spool, struct ids_error *err);
void ids_spool_free(struct ids_spool *spool);
/* Adds bytes at the end; where they lie is what the length was before. More than 64 GiB is IDS_LIMIT. */
int ids_spool_append(struct ids_spool *spool, const void *bytes, size_t length, struct ids_error *err);
uint64_t ids_spool_length(const struct ids_spool *spool);
/* `length` bytes at `at`, which were appended before; valid until the next call. */
int ids_spool_read(struct ids_spool *spool, uint64_t at, size_t length, const uint8_t **ret_bytes,
                   struct ids_error *err);
/* Forgets what it holds, and keeps its memory. */
void ids_spool_clear(struct ids_spool *spool);

#endif
