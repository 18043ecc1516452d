/* json_put.h - pieces of JSON into a buffer, for output by the million (json_writer.h keeps account of the nesting, for
 * reports).
 *
 * What is put is valid for every input: texts become valid UTF-8 (a broken byte is U+FFFD).
 */
#ifndef IDS_LIB_WIRE_JSON_PUT_H
#define IDS_LIB_WIRE_JSON_PUT_H

#include "lib/base/buffer.h"

#include <stdint.h>

/* With its quotes. */
void ids_json_put_text(struct ids_buffer *buffer, const char *text, size_t length);
void ids_json_put_uint(struct ids_buffer *buffer, uint64_t value);
void ids_json_put_int(struct ids_buffer *buffer, int64_t value);
/* value / 10^6, exactly: picoseconds as microseconds. */
void ids_json_put_micro(struct ids_buffer *buffer, int64_t value);
/* The shortest digits that read back as the same double, with a point or an exponent, so that it reads back as no
 * integer. What JSON has no number for becomes "NaN", "Infinity" or "-Infinity", with quotes. */
void ids_json_put_real(struct ids_buffer *buffer, double value);
/* With its quotes: "base64:" and RFC 4648. */
void ids_json_put_binary(struct ids_buffer *buffer, const void *bytes, size_t length);

#endif
