/* source.h - bytes of an input, by offset, in bounded memory.
 *
 * A file is read through windows (pread), never mapped: a map of a file that shrinks is a crash, and its pages count as
 * ours. A gzip file or a pipe cannot seek: it is unpacked once, in memory up to 64 MiB, above that in an unlinked temporary
 * file.
 */
#ifndef IDS_LIB_IO_SOURCE_H
#define IDS_LIB_IO_SOURCE_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_source;

/* Opens a file; "-" is standard input. Content that is gzip is unpacked. A gzip tail that is missing or damaged does not
 * fail: what came before is the source, and ids_source_cut says so. A gzip bomb and an endless pipe are IDS_LIMIT, a path
 * that is not there IDS_NOT_FOUND, everything else that the system refuses IDS_IO; the message names the path. */
int ids_source_open(const char *path, struct ids_source **ret_source, struct ids_error *err);
/* A source over bytes that the caller keeps until it is closed. */
int ids_source_memory(const void *bytes, size_t length, struct ids_source **ret_source, struct ids_error *err);
void ids_source_close(struct ids_source *source);

const char *ids_source_path(const struct ids_source *source);
uint64_t ids_source_size(const struct ids_source *source);
/* NULL, or why the source ends before its file should ("gzip: unexpected end"). */
const char *ids_source_cut(const struct ids_source *source);

/* At least `need` bytes at `offset`, or as many as there are up to the end of the source: *ret_bytes and *ret_length
 * (which is more than `need` when the window holds more). Valid until the next call. `need` is at most
 * IDS_SOURCE_WINDOW. */
int ids_source_window(struct ids_source *source, uint64_t offset, size_t need, const uint8_t **ret_bytes,
                      size_t *ret_length, struct ids_error *err);
/* Copies exactly `length` bytes at `offset`; IDS_TRUNCATED when the source ends before. */
int ids_source_read(struct ids_source *source, uint64_t offset, void *bytes, size_t length, struct ids_error *err);

enum { IDS_SOURCE_WINDOW = 1 << 20 };

#endif
