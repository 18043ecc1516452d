/* source.h - bytes of an input, by offset, in bounded memory.
 *
 * A file is read through windows (pread), never mapped: a map of a file that shrinks is a crash, and its pages count as
 * ours. A pipe cannot seek: it is read once, in memory up to 64 MiB, above that into an unlinked temporary file.
 *
 * Gzip content is packed until somebody needs to jump in it: a stream (stream.h) unpacks as it goes, and
 * ids_source_unpack unpacks all of it once, into memory or a temporary file as above.
 */
#ifndef IDS_LIB_IO_SOURCE_H
#define IDS_LIB_IO_SOURCE_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_source;

/* Opens a file; "-" is standard input. An endless pipe is IDS_LIMIT, a path that is not there IDS_NOT_FOUND, everything
 * else that the system refuses IDS_IO; the message names the path. */
int ids_source_open(const char *path, struct ids_source **ret_source, struct ids_error *err);
/* A source over bytes that the caller keeps until it is closed. */
int ids_source_memory(const void *bytes, size_t length, struct ids_source **ret_source, struct ids_error *err);
/* The same bytes through a window of its own, for another thread. `source` is to outlive it and not to be unpacked
 * meanwhile. */
int ids_source_beside(const struct ids_source *source, struct ids_source **ret_source, struct ids_error *err);
void ids_source_close(struct ids_source *source);

const char *ids_source_path(const struct ids_source *source);
/* 1 while the source is gzip that was not unpacked: size, window, read and copy are about the packed bytes then. */
int ids_source_packed(const struct ids_source *source);
uint64_t ids_source_size(const struct ids_source *source);

/* The first bytes of the content, for a guess at what it is: `room`, or fewer when it has no more. Gzip is unpacked
 * that far and no further; where it is found to end early, ids_source_cut says so. */
int ids_source_head(struct ids_source *source, uint8_t *head, size_t room, size_t *ret_length, struct ids_error *err);
/* Unpacks gzip, so that all below is about the content; nothing to do for anything else. A gzip tail that is missing or
 * damaged does not fail: what came before is the content, and ids_source_cut says so. A gzip bomb is IDS_LIMIT. */
int ids_source_unpack(struct ids_source *source, struct ids_error *err);

/* NULL, or why the content ends before its file should ("gzip: unexpected end"), and after how many bytes of it. Known
 * after ids_source_unpack, and when a stream has come to its end. */
const char *ids_source_cut(const struct ids_source *source);
uint64_t ids_source_cut_at(const struct ids_source *source);

/* At least `need` bytes at `offset`, or as many as there are up to the end of the source: *ret_bytes and *ret_length
 * (which is more than `need` when the window holds more). Valid until the next call. `need` is at most
 * IDS_SOURCE_WINDOW. */
int ids_source_window(struct ids_source *source, uint64_t offset, size_t need, const uint8_t **ret_bytes,
                      size_t *ret_length, struct ids_error *err);
/* Copies exactly `length` bytes at `offset`; IDS_TRUNCATED when the source ends before. */
int ids_source_read(struct ids_source *source, uint64_t offset, void *bytes, size_t length, struct ids_error *err);

/* Copies up to `room` bytes at `offset`, fewer only at the end. Uses no buffer of the source: any thread may call
 * it. */
int ids_source_copy(const struct ids_source *source, uint64_t offset, void *bytes, size_t room, size_t *ret_length,
                    struct ids_error *err);

enum { IDS_SOURCE_WINDOW = 1 << 20, IDS_SOURCE_CUT_ROOM = 128 };

#endif
