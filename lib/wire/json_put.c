#include "lib/wire/json_put.h"

#include "lib/wire/json_writer.h"
#include "lib/wire/utf8.h"

#include <math.h>

static const char hex[] = "0123456789abcdef";

static void put_escaped(struct ids_buffer *buffer, unsigned char byte) {
    static const char letters[] = "btn?fr"; /* 8 to 13; 11 has none */
    char escape[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    if (byte == '"' || byte == '\\') {
        escape[1] = (char)byte;
    } else if (byte >= 8 && byte <= 13 && byte != 11) {
        escape[1] = letters[byte - 8];
    } else {
        ids_buffer_put(buffer, escape, sizeof escape);
        return;
    }
    ids_buffer_put(buffer, escape, 2);
}

/* "\u202e"; none of those that harm is beyond four digits. */
static void put_number(struct ids_buffer *buffer, uint32_t character) {
    char escape[6] = {
        '\\', 'u', hex[character >> 12 & 15], hex[character >> 8 & 15], hex[character >> 4 & 15], hex[character & 15]};
    ids_buffer_put(buffer, escape, sizeof escape);
}

void ids_json_put_text(struct ids_buffer *buffer, const char *text, size_t length) {
    size_t plain = 0; /* text[plain, at) is still to be put, as it is */
    ids_buffer_byte(buffer, '"');
    for (size_t at = 0; at < length;) {
        unsigned char byte = (unsigned char)text[at];
        if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
            at++;
            continue;
        }
        size_t taken = 1;
        uint32_t character = byte;
        int valid = 1;
        if (byte >= 0x80) taken = ids_utf8_next(text + at, length - at, &character, &valid);
        if (byte < 0x80 || !valid || ids_character_harms(character)) {
            ids_buffer_put(buffer, text + plain, at - plain);
            if (!valid)
                IDS_BUFFER_PUT(buffer, IDS_REPLACEMENT_UTF8);
            else if (byte < 0x80)
                put_escaped(buffer, byte);
            else
                put_number(buffer, character);
            plain = at + taken;
        }
        at += taken;
    }
    ids_buffer_put(buffer, text + plain, length - plain);
    ids_buffer_byte(buffer, '"');
}

/* Digits end at `end`; returns where they begin. */
static char *digits(char *end, uint64_t value) {
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return end;
}

void ids_json_put_uint(struct ids_buffer *buffer, uint64_t value) {
    char text[20], *end = text + sizeof text, *from = digits(end, value);
    ids_buffer_put(buffer, from, (size_t)(end - from));
}

static uint64_t size_of(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; /* also right for INT64_MIN */
}

void ids_json_put_int(struct ids_buffer *buffer, int64_t value) {
    if (value < 0) ids_buffer_byte(buffer, '-');
    ids_json_put_uint(buffer, size_of(value));
}

void ids_json_put_micro(struct ids_buffer *buffer, int64_t value) {
    enum { PLACES = 6, SCALE = 1000000 };
    uint64_t size = size_of(value);
    unsigned part = (unsigned)(size % SCALE);
    char text[1 + PLACES];
    if (value < 0) ids_buffer_byte(buffer, '-');
    ids_json_put_uint(buffer, size / SCALE);
    if (!part) return;
    text[0] = '.';
    for (int i = PLACES; i > 0; i--, part /= 10) text[i] = (char)('0' + part % 10);
    size_t length = sizeof text;
    while (text[length - 1] == '0') length--;
    ids_buffer_put(buffer, text, length);
}

void ids_json_put_real(struct ids_buffer *buffer, double value) {
    char text[IDS_NUMBER_BYTES + 2];
    if (isnan(value)) {
        IDS_BUFFER_PUT(buffer, "\"NaN\"");
    } else if (isinf(value)) {
        if (value < 0)
            IDS_BUFFER_PUT(buffer, "\"-Infinity\"");
        else
            IDS_BUFFER_PUT(buffer, "\"Infinity\"");
    } else if (value == 0) {
        if (signbit(value)) ids_buffer_byte(buffer, '-');
        IDS_BUFFER_PUT(buffer, "0.0");
    } else if (fabs(value) < 1e15 && value == (double)(int64_t)value) { /* the most, and without printf */
        ids_json_put_int(buffer, (int64_t)value);
        IDS_BUFFER_PUT(buffer, ".0");
    } else if (ids_real_text(value, text)) {
        size_t length = strlen(text);
        ids_buffer_put(buffer, text, length);
        if (!memchr(text, '.', length) && !memchr(text, 'e', length)) IDS_BUFFER_PUT(buffer, ".0");
    }
}

void ids_json_put_binary(struct ids_buffer *buffer, const void *bytes, size_t length) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = bytes;
    IDS_BUFFER_PUT(buffer, "\"base64:");
    for (; length; at += 3) {
        size_t taken = length < 3 ? length : 3;
        unsigned group = (unsigned)at[0] << 16 | (taken > 1 ? (unsigned)at[1] << 8 : 0) | (taken > 2 ? at[2] : 0u);
        char four[4] = {letters[group >> 18], letters[group >> 12 & 63], taken > 1 ? letters[group >> 6 & 63] : '=',
                        taken > 2 ? letters[group & 63] : '='};
        ids_buffer_put(buffer, four, sizeof four);
        length -= taken;
    }
    ids_buffer_byte(buffer, '"');
}
