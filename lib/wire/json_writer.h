/* json_writer.h - writes JSON as a stream, without a tree.
 *
 *   struct ids_json json = ids_json_to(file);
 *   ids_json_object(&json, IDS_JSON_BROKEN);
 *   ids_json_key(&json, "value");
 *   ids_json_decimal(&json, ps, 12);
 *   ids_json_end(&json);
 *
 * The output is valid for every input: texts become valid UTF-8 (a broken byte is U+FFFD), numbers that JSON does not
 * have (NaN, infinity) become null. Write errors stay in the file (ferror); its owner checks them at the end.
 */
#ifndef IDS_LIB_WIRE_JSON_WRITER_H
#define IDS_LIB_WIRE_JSON_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether the elements of an object or array stand on lines of their own; inside an inline one all are inline. */
enum ids_json_layout { IDS_JSON_INLINE, IDS_JSON_BROKEN };

enum { IDS_JSON_DEPTH = 32 }; /* what is opened deeper than this is left out as null, with all that it holds */

struct ids_json_level {
    char close;
    unsigned char broken, used;
};

struct ids_json {
    FILE *out;
    int depth; /* above IDS_JSON_DEPTH nothing is written */
    int after_key;
    struct ids_json_level levels[IDS_JSON_DEPTH];
};

static inline struct ids_json ids_json_to(FILE *out) {
    return (struct ids_json){.out = out};
}

void ids_json_object(struct ids_json *json, enum ids_json_layout layout);
void ids_json_array(struct ids_json *json, enum ids_json_layout layout);
/* Ends the innermost object or array. The end of the outermost one ends the line too. */
void ids_json_end(struct ids_json *json);

void ids_json_key(struct ids_json *json, const char *key);
void ids_json_text(struct ids_json *json, const char *text); /* NULL is null */
void ids_json_bytes(struct ids_json *json, const char *text, size_t length);
/* Integers beyond 2^53 are written as strings, because many readers make doubles of numbers. */
void ids_json_int(struct ids_json *json, int64_t value);
void ids_json_uint(struct ids_json *json, uint64_t value);
/* An array of integers without spaces, for columns of a page. All are at most 2^53 from 0. */
void ids_json_ints(struct ids_json *json, const int64_t *values, size_t count);
void ids_json_bool(struct ids_json *json, int value);
void ids_json_null(struct ids_json *json);
void ids_json_real(struct ids_json *json, double value);
/* value / 10^places, exactly: picoseconds with 12 places are seconds. places is 0 to 18. */
void ids_json_decimal(struct ids_json *json, int64_t value, int places);

enum { IDS_NUMBER_BYTES = 32 }; /* enough for what the two functions below write */

/* The number as ids_json_decimal and ids_json_real write it, for others who write numbers for programs. The second
 * gives the shortest digits that read back as the same double; NULL for one that is not finite. */
char *ids_decimal_text(int64_t value, int places, char buffer[IDS_NUMBER_BYTES]);
char *ids_real_text(double value, char buffer[IDS_NUMBER_BYTES]);

#endif
