#include "cmd/check_junit.h"

#include "cmd/diff_print.h"
#include "lib/compare/verdict_words.h"
#include "lib/wire/utf8.h"

#include <string.h>

/* As an attribute's value or text: markup quoted, and what XML has no character for (controls, broken UTF-8) as
 * U+FFFD. */
static void put(FILE *out, const char *text) {
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        uint32_t character;
        int valid;
        size_t taken = ids_utf8_next(text + at, length - at, &character, &valid);
        int bad = !valid || (character != '\t' && ids_character_harms(character)) || (character & 0xfffe) == 0xfffe;
        if (bad)
            fputs(IDS_REPLACEMENT_UTF8, out);
        else if (character == '<')
            fputs("&lt;", out);
        else if (character == '>')
            fputs("&gt;", out);
        else if (character == '&')
            fputs("&amp;", out);
        else if (character == '"')
            fputs("&quot;", out);
        else
            fwrite(text + at, 1, taken, out);
        at += taken;
    }
}

const char *ids_check_value(char buffer[IDS_CHECK_VALUE_ROOM], const struct ids_check_row *row, double value) {
    char text[IDS_VALUE_ROOM];
    ids_value_format(ids_figure_value(row->limit->metric->unit, 1, value), text, sizeof text);
    snprintf(buffer, IDS_CHECK_VALUE_ROOM, "%s", text);
    return buffer;
}

static void put_case(const struct ids_check_row *row, FILE *out) {
    char value[IDS_CHECK_VALUE_ROOM];
    fputs("    <testcase classname=\"", out);
    put(out, row->run);
    fputs("\" name=\"", out);
    put(out, row->limit->text);
    if (row->verdict == IDS_CHECK_HELD) {
        fputs("\"/>\n", out);
        return;
    }
    fputs("\">\n      <failure type=\"", out);
    put(out, ids_check_verdict_name(row->verdict));
    fputs("\" message=\"", out);
    put(out, row->limit->metric->id);
    fputs(" is ", out);
    put(out, row->has_value ? ids_check_value(value, row, row->value) : "not known");
    if (row->note) fputs(": ", out);
    if (row->note) put(out, row->note);
    fputs("\"/>\n    </testcase>\n", out);
}

void ids_check_junit(const struct ids_check *check, FILE *out) {
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"idsprof check\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
            check->count, check->broken + check->no_data);
    for (size_t i = 0; i < check->count; i++) put_case(&check->at[i], out);
    fputs("  </testsuite>\n</testsuites>\n", out);
}
