#include "lib/render/check_junit.h"

#include "lib/render/check_words.h"
#include "lib/wire/utf8.h"

#include <string.h>
#include <time.h>

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

/* A run may come twice, and a limit too; CI systems show one of two cases of the same name. */
static size_t place_among_equals(const struct ids_check *check, size_t at) {
    size_t place = 1;
    for (size_t i = 0; i < at; i++)
        place += !strcmp(check->at[i].run, check->at[at].run) &&
                 !strcmp(check->at[i].limit->text, check->at[at].limit->text);
    return place;
}

static int is_skipped(const struct ids_check_row *row, const struct ids_junit_options *options) {
    return row->verdict == IDS_CHECK_SKIPPED ||
           (row->verdict == IDS_CHECK_INCONCLUSIVE && options->allows_inconclusive);
}

static void put_message(struct ids_arena *arena, const struct ids_check_row *row, FILE *out) {
    const char *note = ids_check_note_text(arena, row);
    put(out, row->limit->subject.metric->id);
    fputs(" is ", out);
    put(out, row->has_value ? ids_check_value_text(arena, row) : "not known");
    if (row->has_before) fputs(", baseline ", out);
    put(out, ids_check_baseline_text(arena, row));
    if (*note) fputs(": ", out);
    put(out, note);
}

static void put_case(struct ids_arena *arena, const struct ids_check *check, size_t at,
                     const struct ids_junit_options *options, FILE *out) {
    const struct ids_check_row *row = &check->at[at];
    size_t place = place_among_equals(check, at);
    fputs("    <testcase classname=\"", out);
    put(out, row->run);
    fputs("\" name=\"", out);
    put(out, row->limit->text);
    if (place > 1) fprintf(out, " (%zu)", place);
    fprintf(out, "\" time=\"%.6f\"", options->seconds / (double)check->count);
    if (row->verdict == IDS_CHECK_PASS) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    if (is_skipped(row, options))
        fputs("      <skipped message=\"", out);
    else
        fprintf(out, "      <failure type=\"%s\" message=\"", ids_check_verdict_name(row->verdict));
    put_message(arena, row, out);
    fputs("\"/>\n    </testcase>\n", out);
}

void ids_render_check_junit(const struct ids_check *check, const struct ids_junit_options *options, FILE *out) {
    struct ids_arena arena = {0};
    size_t skipped = 0, failed = 0;
    char when[32] = "";
    time_t seconds = (time_t)options->unix_s;
    struct tm utc;
    if (gmtime_r(&seconds, &utc)) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    for (size_t i = 0; i < check->count; i++) {
        skipped += (size_t)is_skipped(&check->at[i], options);
        failed += ids_check_is_open(&check->at[i]) && !is_skipped(&check->at[i], options);
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"idsprof check\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" "
            "time=\"%.6f\" timestamp=\"%s\">\n",
            check->count, failed, skipped, options->seconds, when);
    for (size_t i = 0; i < check->count; i++) put_case(&arena, check, i, options, out);
    fputs("  </testsuite>\n</testsuites>\n", out);
    ids_arena_done(&arena);
}
