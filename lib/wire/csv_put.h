/* csv_put.h - a cell of CSV (RFC 4180), for every command that writes CSV.
 *
 * The text is clean (clean.h; newlines and tabs stay, in quotes). A spreadsheet runs a cell that begins with = + - @ as
 * a formula, also after a tab, newline or carriage return. Such a text gets an apostrophe in front, unless it is a
 * number.
 */
#ifndef IDS_LIB_WIRE_CSV_PUT_H
#define IDS_LIB_WIRE_CSV_PUT_H

#include "lib/base/buffer.h"

void ids_csv_put_text(struct ids_buffer *buffer, const char *text, size_t length);

#endif
