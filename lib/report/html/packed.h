/* packed.h - a stream into a page: what is written to it arrives compressed, as letters that HTML and JSON leave alone.
 *
 *   FILE *packed = ids_packed_open(page);
 *   ids_render_json(report, &render, packed, &err);
 *   ids_packed_close(packed, &err);
 *
 * Nothing of the data can end the element that it stands in, and a report takes a quarter of its room. A browser undoes
 * it with DecompressionStream("gzip"). Nothing is held but zlib's window.
 */
#ifndef IDS_LIB_REPORT_HTML_PACKED_H
#define IDS_LIB_REPORT_HTML_PACKED_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdio.h>

/* NULL when memory ran out. `out` stays the caller's, with its errors. */
FILE *ids_packed_open(FILE *out);
/* Writes what is left. Takes NULL, which is IDS_NO_MEMORY. */
int ids_packed_close(FILE *packed, struct ids_error *err);

/* The bytes in base64, padded (RFC 4648). */
void ids_base64_write(const unsigned char *bytes, size_t length, FILE *out);

#endif
