/* gunzip.h - unpacks a gzip input from start to end, on the thread of the caller.
 *
 * Several members are one content; zero bytes after the last one are padding. A missing or damaged tail is not an
 * error: the content ends there, and ids_gunzip_cut says so. An input that unpacks to more than 200 times its size
 * (above 256 MiB) is IDS_LIMIT, so the output is bounded.
 */
#ifndef IDS_LIB_IO_GUNZIP_H
#define IDS_LIB_IO_GUNZIP_H

#include "lib/io/source.h"

struct ids_gunzip;

/* Reads the source with ids_source_copy, so it may live on a thread of its own. The source must outlive it. */
int ids_gunzip_new(const struct ids_source *source, struct ids_gunzip **ret_gunzip, struct ids_error *err);
/* Fills `room` bytes; fewer only at the end of the content. */
int ids_gunzip_read(struct ids_gunzip *gunzip, uint8_t *bytes, size_t room, size_t *ret_length, struct ids_error *err);
/* NULL, or why the content ended early; to be asked at its end. */
const char *ids_gunzip_cut(const struct ids_gunzip *gunzip);
void ids_gunzip_free(struct ids_gunzip *gunzip);

/* RFC 1952: two magic bytes and the only method there is. */
static inline int ids_looks_gzip(const uint8_t *head, size_t length) {
    return length >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

#endif
