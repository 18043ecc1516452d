/* stream.h - the content of a source from front to back, in bounded memory; gzip is unpacked on a thread of its own.
 *
 * Over one source streams may be opened one after the other, not two at a time. The source must not be unpacked or
 * closed while a stream over it is open.
 */
#ifndef IDS_LIB_IO_STREAM_H
#define IDS_LIB_IO_STREAM_H

#include "lib/base/buffer.h"
#include "lib/io/source.h"

struct ids_stream;

enum { IDS_STREAM_HEADROOM = 16 << 10 };

int ids_stream_open(struct ids_source *source, struct ids_stream **ret_stream, struct ids_error *err);
/* The next bytes, at most 256 KiB, with IDS_STREAM_HEADROOM bytes in front of them that are the caller's to write, so
 * that what was left of the bytes before can be put there; *ret_length is 0 at the end, and again when asked again.
 * Valid until the next call and until the stream is closed. A gzip tail that is missing or damaged is an end like any
 * other: ids_source_cut tells. A gzip bomb is IDS_LIMIT. After a failure only ids_stream_close may follow. */
int ids_stream_next(struct ids_stream *stream, uint8_t **ret_bytes, size_t *ret_length, struct ids_error *err);
/* Also before the end: the thread is told and waited for. NULL is fine. */
void ids_stream_close(struct ids_stream *stream);

/* All of the source is added to `to`. */
int ids_stream_read_all(struct ids_source *source, struct ids_buffer *to, struct ids_error *err);

/* For a reader that looks at some chunks at a time: as ids_stream_next, but the bytes stay valid until they are given
 * back, the oldest first, by this thread or another one. ids_stream_next gives back all that was taken before. */
enum { IDS_STREAM_TAKEN = 4 }; /* at most, the one that is taken with it */
int ids_stream_take(struct ids_stream *stream, uint8_t **ret_bytes, size_t *ret_length, struct ids_error *err);
void ids_stream_give_back(struct ids_stream *stream);

#endif
