/* spill.h - bytes that are put aside and read again, in bounded memory: the first up to a budget stay there, the others
 * go to an unlinked temporary file. */
#ifndef IDS_LIB_IO_SPILL_H
#define IDS_LIB_IO_SPILL_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ids_spill;

int ids_spill_new(size_t memory_bytes, struct ids_spill **ret_spill, struct ids_error *err);
void ids_spill_free(struct ids_spill *spill);
/* Adds bytes at the end; where they lie is what the length was before. More than 64 GiB is IDS_LIMIT. */
int ids_spill_append(struct ids_spill *spill, const void *bytes, size_t length, struct ids_error *err);
uint64_t ids_spill_length(const struct ids_spill *spill);
/* `length` bytes at `at`, which were appended before; valid until the next call. */
int ids_spill_read(struct ids_spill *spill, uint64_t at, size_t length, const uint8_t **ret_bytes,
                   struct ids_error *err);
/* The same, into memory of the caller's: for several places that are read in turn. */
int ids_spill_copy(const struct ids_spill *spill, uint64_t at, size_t length, void *bytes, struct ids_error *err);
/* Puts other bytes in the place of some that were appended before. */
int ids_spill_patch(struct ids_spill *spill, uint64_t at, const void *bytes, size_t length, struct ids_error *err);
/* Forgets what it holds, and keeps its memory. */
void ids_spill_clear(struct ids_spill *spill);

#endif
