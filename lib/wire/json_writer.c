#include "lib/wire/json_writer.h"

#include "lib/wire/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Above 2^53 a double, which most readers make of a number, cannot hold every integer. */
#define IDS_JSON_EXACT ((int64_t)1 << 53)

static void put(struct ids_json *json, const char *bytes, size_t length) {
    if (json->depth <= IDS_JSON_DEPTH && length) fwrite(bytes, 1, length, json->out);
}

static void put_z(struct ids_json *json, const char *text) {
    put(json, text, strlen(text));
}

static void new_line(struct ids_json *json, int depth) {
    static const char spaces[] = "                                                                ";
    put(json, "\n", 1);
    put(json, spaces, 2 * (size_t)depth);
}

static struct ids_json_level *innermost(struct ids_json *json) {
    if (!json->depth || json->depth > IDS_JSON_DEPTH) return NULL;
    return &json->levels[json->depth - 1];
}

/* What stands before an element: nothing after its key, else a comma, and a line or a space. */
static void separate(struct ids_json *json) {
    struct ids_json_level *level = innermost(json);
    if (json->after_key) {
        json->after_key = 0;
        return;
    }
    if (!level) return;
    if (level->used) put(json, ",", 1);
    if (level->broken) {
        new_line(json, json->depth);
    } else if (level->used) {
        put(json, " ", 1);
    }
    level->used = 1;
}

static void open_level(struct ids_json *json, char open, char close, enum ids_json_layout layout) {
    separate(json);
    struct ids_json_level *outer = innermost(json);
    if (json->depth == IDS_JSON_DEPTH) put_z(json, "null");
    json->depth++;
    struct ids_json_level *level = innermost(json);
    if (!level) return;
    level->close = close;
    level->used = 0;
    level->broken = layout == IDS_JSON_BROKEN && (!outer || outer->broken);
    put(json, &open, 1);
}

void ids_json_object(struct ids_json *json, enum ids_json_layout layout) {
    open_level(json, '{', '}', layout);
}

void ids_json_array(struct ids_json *json, enum ids_json_layout layout) {
    open_level(json, '[', ']', layout);
}

void ids_json_end(struct ids_json *json) {
    struct ids_json_level *level = innermost(json);
    if (level && level->broken && level->used) new_line(json, json->depth - 1);
    if (level) put(json, &level->close, 1);
    json->after_key = 0;
    json->depth--;
    if (!json->depth) put(json, "\n", 1);
}

static void put_text(struct ids_json *json, const char *text, size_t length) {
    put(json, "\"", 1);
    size_t at = 0, plain = 0; /* text[plain, at) is still to be written, as it is */
    while (at < length) {
        unsigned char byte = (unsigned char)text[at];
        char escape[8];
        size_t taken = 1;
        if (byte == '"' || byte == '\\') {
            snprintf(escape, sizeof escape, "\\%c", byte);
        } else if (byte == '\n') {
            snprintf(escape, sizeof escape, "\\n");
        } else if (byte == '\t') {
            snprintf(escape, sizeof escape, "\\t");
        } else if (byte < 0x20 || byte == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", byte);
        } else if (byte < 0x7f) {
            at++;
            continue;
        } else {
            uint32_t character;
            int valid;
            taken = ids_utf8_next(text + at, length - at, &character, &valid);
            if (valid && !ids_character_harms(character)) {
                at += taken;
                continue;
            }
            if (valid) {
                snprintf(escape, sizeof escape, "\\u%04x", (unsigned)character); /* C1 controls and the like */
            } else {
                snprintf(escape, sizeof escape, "%s", IDS_REPLACEMENT_UTF8);
            }
        }
        put(json, text + plain, at - plain);
        put_z(json, escape);
        at += taken;
        plain = at;
    }
    put(json, text + plain, at - plain);
    put(json, "\"", 1);
}

void ids_json_key(struct ids_json *json, const char *key) {
    separate(json);
    put_text(json, key, strlen(key));
    struct ids_json_level *level = innermost(json);
    put_z(json, level && level->broken ? ": " : ":");
    json->after_key = 1;
}

void ids_json_bytes(struct ids_json *json, const char *text, size_t length) {
    separate(json);
    put_text(json, text, length);
}

void ids_json_text(struct ids_json *json, const char *text) {
    if (text) {
        ids_json_bytes(json, text, strlen(text));
    } else {
        ids_json_null(json);
    }
}

static void put_plain(struct ids_json *json, const char *text) {
    separate(json);
    put_z(json, text);
}

void ids_json_int(struct ids_json *json, int64_t value) {
    char buffer[IDS_NUMBER_BYTES + 2];
    int exact = value >= -IDS_JSON_EXACT && value <= IDS_JSON_EXACT;
    snprintf(buffer, sizeof buffer, exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
    put_plain(json, buffer);
}

void ids_json_uint(struct ids_json *json, uint64_t value) {
    char buffer[IDS_NUMBER_BYTES + 2];
    snprintf(buffer, sizeof buffer, value <= IDS_JSON_EXACT ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
    put_plain(json, buffer);
}

void ids_json_ints(struct ids_json *json, const int64_t *values, size_t count) {
    enum { DIGITS = 20, ROOM = 4096 };
    char buffer[ROOM];
    size_t used = 0;
    separate(json);
    buffer[used++] = '[';
    for (size_t i = 0; i < count; i++) {
        if (ROOM - used < DIGITS + 3) { /* a comma, a sign and the bracket */
            put(json, buffer, used);
            used = 0;
        }
        uint64_t size = values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
        char digits[DIGITS];
        size_t at = DIGITS;
        do {
            digits[--at] = (char)('0' + size % 10);
            size /= 10;
        } while (size);
        if (i) buffer[used++] = ',';
        if (values[i] < 0) buffer[used++] = '-';
        memcpy(buffer + used, digits + at, DIGITS - at);
        used += DIGITS - at;
    }
    buffer[used++] = ']';
    put(json, buffer, used);
}

void ids_json_bool(struct ids_json *json, int value) {
    put_plain(json, value ? "true" : "false");
}

void ids_json_null(struct ids_json *json) {
    put_plain(json, "null");
}

void ids_json_real(struct ids_json *json, double value) {
    char buffer[IDS_NUMBER_BYTES + 2];
    int is_number = ids_real_text(value, buffer) != NULL;
    /* Digits alone would be read as an integer, and not an exact one. */
    if (is_number && fabs(value) >= 9007199254740992.0 && !strpbrk(buffer, ".e"))
        memcpy(buffer + strlen(buffer), ".0", sizeof ".0");
    put_plain(json, is_number ? buffer : "null");
}

void ids_json_decimal(struct ids_json *json, int64_t value, int places) {
    char buffer[IDS_NUMBER_BYTES];
    put_plain(json, ids_decimal_text(value, places, buffer));
}

char *ids_decimal_text(int64_t value, int places, char buffer[IDS_NUMBER_BYTES]) {
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value; /* also right for INT64_MIN */
    uint64_t scale = 1;
    for (int i = 0; i < places; i++) scale *= 10;
    int length = snprintf(buffer, IDS_NUMBER_BYTES, "%s%" PRIu64, value < 0 ? "-" : "", size / scale);
    if (size % scale) {
        length += snprintf(buffer + length, IDS_NUMBER_BYTES - (size_t)length, ".%0*" PRIu64, places, size % scale);
        while (buffer[length - 1] == '0') buffer[--length] = '\0';
    }
    return buffer;
}

/* Whether the digits read back as the value. sscanf and not strtod, which may be called nowhere: nothing sets a locale,
 * so the point is a point. */
static int reads_back(const char *digits, double value) {
    double again;
    return sscanf(digits, "%lf", &again) == 1 && again == value;
}

char *ids_real_text(double value, char buffer[IDS_NUMBER_BYTES]) {
    if (!isfinite(value)) return NULL;
    if (value == 0) value = 0; /* no "-0" */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, IDS_NUMBER_BYTES, "%.*g", digits, value);
        if (reads_back(buffer, value)) break;
    }
    return buffer;
}
