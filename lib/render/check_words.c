#include "lib/render/check_words.h"

#include "lib/base/counted.h"
#include "lib/compare/verdict_words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

enum { TEXT_BYTES = 2048 };
#define LEAST_POINTS 0.0005 /* a tenth of a point is shown, less is not */

__attribute__((format(printf, 2, 3))) static const char *text_of(struct ids_arena *arena, const char *format, ...) {
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *copy = ids_arena_copy(arena, text, strlen(text));
    return copy ? copy : "";
}

const char *ids_check_word(enum ids_check_verdict verdict) {
    static const char *const words[] = {"pass", "FAIL", "INCONCLUSIVE", "skipped"};
    return words[verdict];
}

const char *ids_check_date(char text[IDS_CHECK_DATE_ROOM], int64_t unix_s) {
    time_t seconds = (time_t)unix_s;
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(text, IDS_CHECK_DATE_ROOM, "%Y-%m-%d", &utc)) snprintf(text, 2, "-");
    return text;
}

static char *format(const struct ids_check_row *row, double value, char text[IDS_VALUE_ROOM]) {
    return ids_value_format(ids_figure_value(row->limit->subject.metric->unit, 1, value), text, IDS_VALUE_ROOM);
}

const char *ids_check_value_text(struct ids_arena *arena, const struct ids_check_row *row) {
    char text[IDS_VALUE_ROOM];
    return row->has_value ? text_of(arena, "%s", format(row, row->value, text)) : "no data";
}

const char *ids_check_bound_text(struct ids_arena *arena, const struct ids_check_row *row) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "=", "<="};
    const struct ids_limit *limit = row->limit;
    char text[IDS_VALUE_ROOM];
    int higher = limit->kind == IDS_LIMIT_BASELINE && limit->subject.metric->better == IDS_BETTER_HIGHER;
    if (limit->kind == IDS_LIMIT_BASELINE && !row->has_before) return "baseline";
    return text_of(arena, "%s %s", higher ? ">=" : signs[limit->kind], format(row, row->bound, text));
}

const char *ids_check_baseline_text(struct ids_arena *arena, const struct ids_check_row *row) {
    char before[IDS_VALUE_ROOM], half[IDS_VALUE_ROOM];
    int is_share = row->limit->subject.metric->unit == IDS_UNIT_RATIO;
    if (!row->has_before) return "";
    format(row, row->before, before);
    if (isnan(row->half) || row->half == 0 || (is_share && row->half < LEAST_POINTS))
        return text_of(arena, "%s", before);
    if (is_share) return text_of(arena, "%s \xc2\xb1 %.1f points", before, row->half * 100);
    return text_of(arena, "%s \xc2\xb1 %s", before, format(row, row->half, half));
}

static const char *accepted_text(struct ids_arena *arena, const struct ids_acceptance *accepted,
                                 const struct ids_check_row *row) {
    char date[IDS_CHECK_DATE_ROOM], before[IDS_VALUE_ROOM];
    return text_of(arena, "accepted on %s (was %s): %s", ids_check_date(date, accepted->unix_s),
                   format(row, accepted->before, before), accepted->reason);
}

const char *ids_check_steps_text(struct ids_arena *arena, const struct ids_check_row *row) {
    const struct ids_limit *limit = row->limit;
    const char *steps = "";
    if (limit->over) steps = text_of(arena, "over %s", IDS_COUNTED(limit->over, "step"));
    if (limit->after) steps = text_of(arena, "%s%safter %lld", steps, *steps ? " " : "", (long long)limit->after);
    return steps;
}

const char *ids_check_note_text(struct ids_arena *arena, const struct ids_check_row *row) {
    const char *note = row->note ? row->note : "";
    if (!row->accepted) return note;
    return text_of(arena, "%s%s%s", accepted_text(arena, row->accepted, row), *note ? "; " : "", note);
}

const char *ids_check_remark_text(struct ids_arena *arena, const struct ids_check_row *row) {
    const char *steps = ids_check_steps_text(arena, row), *note = ids_check_note_text(arena, row);
    return text_of(arena, "%s%s%s", steps, *steps && *note ? "; " : "", note);
}

const char *ids_check_summary_text(struct ids_arena *arena, const struct ids_check *check) {
    const size_t *counts = check->counts;
    const char *text = text_of(arena, "%s: %zu of %s passed", ids_check_verdict_name(check->verdict),
                               counts[IDS_CHECK_PASS], IDS_COUNTED(check->count, "limit"));
    static const struct {
        enum ids_check_verdict verdict;
        const char *word;
    } others[] = {{IDS_CHECK_FAIL, "failed"}, {IDS_CHECK_INCONCLUSIVE, "inconclusive"}, {IDS_CHECK_SKIPPED, "skipped"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (counts[others[i].verdict])
            text = text_of(arena, "%s, %zu %s", text, counts[others[i].verdict], others[i].word);
    }
    return text;
}
