/* json_window.h - JSON of any length under a scan: a window over a stream that is moved on when the scan needs more.
 *
 * The window is a chunk of the stream, with what the scan has not used of the one before copied in front of it; only an
 * element over many chunks is gathered in a buffer. So a file is looked at where it was unpacked.
 */
#ifndef IDS_FORMATS_JSON_WINDOW_H
#define IDS_FORMATS_JSON_WINDOW_H

#include "lib/io/stream.h"
#include "lib/wire/json_scan.h"

struct ids_json_window {
    struct ids_json_scan scan; /* `whole` once nothing follows */
    int keeps;                 /* 1: chunks that were moved on from are given back by others (ids_stream_give_back) */
    /* the window's own */
    struct ids_stream *stream;
    char *at;
    uint64_t offset; /* of `at` in the (unpacked) file */
    char *buffer;
    size_t room;
    char rest[IDS_STREAM_HEADROOM];
};

/* Opens the stream of the source; the scan stands in front of its first byte, with nothing read yet. {0} before the
 * first time; it can be opened again after it was closed. */
int ids_json_window_open(struct ids_json_window *window, struct ids_source *source, struct ids_error *err);
/* Reads on, keeping what the scan has not used yet; pointers into the window are void then. IDS_LIMIT where one
 * element, or a member beside the list, is larger than 64 MiB. */
int ids_json_window_read_on(struct ids_json_window *window, struct ids_error *err);
/* Whether reading on needs the window's buffer, or what lies in it: pointers into earlier windows are void then too,
 * and of a window that keeps them no chunk but the last one may be in use. */
int ids_json_window_gathers(const struct ids_json_window *window);
/* Reads to the end, which is when a damaged gzip file says that it is one. The scan is left as it was. */
int ids_json_window_drain(struct ids_json_window *window, struct ids_error *err);
/* Where in the file `at`, a place of the scan, lies. */
uint64_t ids_json_window_offset(const struct ids_json_window *window, const char *at);
void ids_json_window_close(struct ids_json_window *window);
/* Frees the buffer, which is kept from one opening to the next. */
void ids_json_window_done(struct ids_json_window *window);

#endif
