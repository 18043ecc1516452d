#include "lib/compare/verdict_words.h"

#include <math.h>
#include <stdio.h>

struct ids_value ids_figure_value(enum ids_unit unit, int known, double value) {
    if (!known) return ids_no_value(unit);
    if (ids_unit_is_real(unit)) return ids_real_value(unit, value);
    if (unit == IDS_UNIT_COUNT && fabs(value - round(value)) > 0.005) return ids_real_value(IDS_UNIT_NUMBER, value);
    return ids_int_value(unit, (int64_t)llround(value));
}

const char *ids_signed(char buffer[IDS_SIGNED_ROOM], enum ids_unit unit, double value) {
    char text[IDS_VALUE_ROOM];
    if (unit == IDS_UNIT_RATIO) {
        snprintf(buffer, IDS_SIGNED_ROOM, "%+.1f points", value * 100);
        return buffer;
    }
    ids_value_format(ids_figure_value(unit, 1, fabs(value)), text, sizeof text);
    snprintf(buffer, IDS_SIGNED_ROOM, "%s%s", value > 0 ? "+" : value < 0 ? "-" : "", text);
    return buffer;
}

static const char *direction_word(const struct ids_difference *row, double change) {
    int direction = ids_direction_of(row->better, change);
    return direction > 0 ? "better" : direction < 0 ? "worse" : "other";
}

/* The interval is of the typical step; a mean that single steps moved lies outside it, and then that is said. */
static const char *of_typical(const struct ids_difference *row) {
    double change = row->b - row->a;
    return change < row->interval.typical.low || change > row->interval.typical.high ? "a typical one " : "";
}

const char *ids_verdict_words(struct ids_painter *painter, const struct ids_difference *row) {
    char low[IDS_SIGNED_ROOM], high[IDS_SIGNED_ROOM];
    const struct ids_interval *interval = &row->interval;
    struct ids_phrase phrase = ids_phrase_begin();
    ids_signed(low, row->unit, interval->typical.low);
    ids_signed(high, row->unit, interval->typical.high);
    switch (row->verdict) {
    case IDS_VERDICT_NO_DATA:
        ids_phrase_add(&phrase, "%s", row->reason ? row->reason : "not measured");
        break;
    case IDS_VERDICT_SAME:
        ids_phrase_add(&phrase, "same");
        break;
    case IDS_VERDICT_UNSURE:
        if (interval->known)
            ids_phrase_add(&phrase, "unsure (%s to %s)", low, high);
        else
            ids_phrase_add(&phrase, "unsure (measured once a side)");
        break;
    case IDS_VERDICT_SINGLE_STEPS:
        ids_phrase_add(&phrase, "%s through single steps; a typical one %s to %s", direction_word(row, row->b - row->a),
                       low, high);
        break;
    case IDS_VERDICT_COUNTED:
        ids_phrase_add(&phrase, "%s", direction_word(row, row->b - row->a));
        break;
    case IDS_VERDICT_DIFFERS:
        if (row->unit == IDS_UNIT_RATIO && row->better == IDS_BETTER_NEITHER) {
            ids_phrase_add(&phrase, "a share of another step time (%s%s to %s)", of_typical(row), low, high);
            break;
        }
        ids_phrase_add(&phrase, "%s in these recordings (%s%s to %s)", direction_word(row, interval->typical.low),
                       of_typical(row), low, high);
        break;
    case IDS_VERDICT_IMPROVEMENT:
    case IDS_VERDICT_REGRESSION:
        ids_phrase_add(&phrase, "%s (%s%s to %s)",
                       row->verdict == IDS_VERDICT_REGRESSION ? "REGRESSION" : "improvement", of_typical(row), low,
                       high);
        break;
    }
    return ids_phrase_end(painter, &phrase);
}
