/* source_parts.h - what the other files of lib/io do to a source. */
#ifndef IDS_LIB_IO_SOURCE_PARTS_H
#define IDS_LIB_IO_SOURCE_PARTS_H

#include "lib/io/source.h"
#include "lib/io/spool.h"

/* A source of what the spool holds, which is taken over (and empty after a failure too). `path` is how people call
 * it. */
int ids_source_of_spool(const char *path, struct ids_spool *spool, struct ids_source **ret_source,
                        struct ids_error *err);
/* The content was seen to end early, for this reason (NULL: it ended as it should), after that many bytes. */
void ids_source_set_cut(struct ids_source *source, const char *why, uint64_t at);
/* The bytes themselves are not all: what the content looks like does not change that. */
void ids_source_set_outer_cut(struct ids_source *source, const char *why);
/* The source came out of an archive, of which this many bytes were read for it (0: it did not); the limit of
 * unpacking counts from them. */
void ids_source_set_outer_bytes(struct ids_source *source, uint64_t bytes);
uint64_t ids_source_outer_bytes(const struct ids_source *source);

#endif
