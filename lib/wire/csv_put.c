#include "lib/wire/csv_put.h"

#include "lib/base/decimal.h"
#include "lib/wire/clean.h"

/* -1.5e3, and +1, which ids_decimal_real does not take. */
static int is_number(const char *text, size_t length) {
    double ignored;
    if (length > 1 && text[0] == '+' && text[1] != '-') return !ids_decimal_real(text + 1, length - 1, &ignored);
    return !ids_decimal_real(text, length, &ignored);
}

/* The full-width forms of = + - @ count too: spreadsheets of East Asia fold them. */
static int begins_formula(const char *text, size_t length) {
    static const char full_width[][4] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
    if (!length) return 0;
    static const char begins[] = "=+-@\t\r\n";
    if (memchr(begins, text[0], sizeof begins - 1)) return !is_number(text, length);
    for (size_t i = 0; i < sizeof full_width / sizeof *full_width; i++) {
        if (length >= 3 && !memcmp(text, full_width[i], 3)) return 1;
    }
    return 0;
}

/* A semicolon or tab ends a cell where the spreadsheet is set up so; spaces at the ends are lost without quotes. */
static int needs_quotes(const char *text, size_t length) {
    if (!length) return 0;
    if (text[0] == ' ' || text[length - 1] == ' ') return 1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == ',' || text[i] == ';' || (unsigned char)text[i] < 0x20) return 1;
    }
    return 0;
}

static void put_quoted(struct ids_buffer *buffer, const char *text, size_t length) {
    for (const char *at = text, *end = text + length; at < end;) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        ids_buffer_put(buffer, at, (size_t)((quote ? quote + 1 : end) - at));
        if (quote) ids_buffer_byte(buffer, '"');
        at = quote ? quote + 1 : end;
    }
}

static void put_clean(struct ids_buffer *buffer, const char *text, size_t length, int formula) {
    int quotes = formula || needs_quotes(text, length);
    if (quotes) ids_buffer_byte(buffer, '"');
    if (formula) ids_buffer_byte(buffer, '\'');
    if (quotes)
        put_quoted(buffer, text, length);
    else
        ids_buffer_put(buffer, text, length);
    if (quotes) ids_buffer_byte(buffer, '"');
}

void ids_csv_put_text(struct ids_buffer *buffer, const char *text, size_t length) {
    int formula = begins_formula(text, length); /* of the text as it is: a carriage return in front becomes U+FFFD */
    if (ids_is_clean(text, length, IDS_CLEAN_LINES)) {
        put_clean(buffer, text, length, formula);
        return;
    }
    struct ids_buffer clean = {0};
    ids_clean_put(&clean, text, length, IDS_CLEAN_LINES);
    put_clean(buffer, clean.at ? clean.at : "", clean.length, formula);
    buffer->failed |= clean.failed;
    ids_buffer_done(&clean);
}
