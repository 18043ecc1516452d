#include "lib/render/diff_notes.h"

#include "lib/compare/verdict_words.h"

#include <math.h>
#include <string.h>

/* From here on shares have a decimal place. */
#define LAST_PERCENT 0.99
/* So much of the change is worth a hint. */
#define UNKNOWN_TOLD 0.1

/* A share of what may be chance says nothing. Steps that vary much leave the step time unsure, and yet one cause that
 * is sure may be the whole of the change. */
int ids_diff_has_shares(const struct ids_diff *diff) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    enum ids_verdict verdict = ids_diff_verdict(diff);
    double whole = fabs(waterfall->after_ps - waterfall->before_ps);
    if (whole == 0 || verdict == IDS_VERDICT_SAME) return 0;
    if (verdict != IDS_VERDICT_UNSURE && verdict != IDS_VERDICT_SINGLE_STEPS) return 1;
    const struct ids_cause *first = waterfall->count ? &waterfall->at[0] : NULL;
    if (!first || !(ids_cause_is_fact(first) || ids_interval_excludes_zero(&first->interval))) return 0;
    for (size_t i = 0; i < waterfall->count; i++) {
        if (fabs(waterfall->at[i].change_ps) > 2 * whole) return 0;
    }
    return 1;
}

/* Causes whose time is sure, and that leave less of themselves than one of them is. That the program says so is not
 * enough: how long it takes may be chance. */
static int do_causes_cancel(const struct ids_diff *diff) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    double whole = fabs(waterfall->after_ps - waterfall->before_ps);
    for (size_t i = 0; i < waterfall->count; i++) {
        const struct ids_cause *cause = &waterfall->at[i];
        int is_sure = cause->interval.known ? ids_interval_excludes_zero(&cause->interval) : ids_cause_is_fact(cause);
        if (is_sure && fabs(cause->change_ps) > whole) return 1;
    }
    return 0;
}

const char *ids_diff_signed(struct ids_painter *painter, double ps) {
    char buffer[IDS_SIGNED_ROOM];
    ids_signed(buffer, IDS_UNIT_TIME, ps);
    const char *copy = ids_arena_copy(&painter->arena, buffer, strlen(buffer));
    if (!copy) painter->out_of_memory = 1;
    return copy ? copy : "";
}

const char *ids_diff_interval(struct ids_painter *painter, const struct ids_interval *interval) {
    if (!interval->known) return "";
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s%s to %s", ids_interval_excludes_zero(interval) ? "" : "~ ",
                   ids_diff_signed(painter, interval->mean.low), ids_diff_signed(painter, interval->mean.high));
    return ids_phrase_end(painter, &phrase);
}

static int is_any_unsure(const struct ids_waterfall *waterfall, size_t shown) {
    for (size_t i = 0; i < shown; i++) {
        const struct ids_interval *interval = &waterfall->at[i].interval;
        if (interval->known && !ids_interval_excludes_zero(interval)) return 1;
    }
    return 0;
}

/* Rounded down, so that 100 % is said only of all of it, to the picosecond. */
static const char *explained_text(struct ids_painter *painter, const struct ids_waterfall *waterfall, double share) {
    struct ids_phrase phrase = ids_phrase_begin();
    int is_all = !llround(waterfall->unexplained_ps + waterfall->unlike_ps);
    if (is_all)
        ids_phrase_add(&phrase, "100 %%");
    else if (share < LAST_PERCENT)
        ids_phrase_add(&phrase, "%.0f %%", floor(share * 100));
    else
        ids_phrase_add(&phrase, "%.1f %%", fmin(floor(share * 1000) / 10, 99.9));
    return ids_phrase_end(painter, &phrase);
}

static const char *share_note(struct ids_painter *painter, const struct ids_diff *diff, size_t shown) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    struct ids_phrase phrase = ids_phrase_begin();
    if (ids_diff_has_shares(diff))
        ids_phrase_add(&phrase, "%s of the change is explained",
                       explained_text(painter, waterfall, ids_explained_share(waterfall)));
    else
        ids_phrase_add(&phrase, "%s",
                       do_causes_cancel(diff) ? "the change is unsure: causes that are sure nearly cancel"
                                              : "the change is unsure, and its causes may be chance");
    if (llround(waterfall->unknown_ps))
        ids_phrase_add(&phrase, "; in time of which nothing was recorded: %s",
                       ids_diff_signed(painter, waterfall->unknown_ps));
    if (is_any_unsure(waterfall, shown)) ids_phrase_add(&phrase, "; ~ the interval holds zero");
    return ids_phrase_end(painter, &phrase);
}

/* What the table has no room for. */
static const char *cause_note(struct ids_painter *painter, const struct ids_cause *cause) {
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s: %s", ids_text_clean(&painter->arena, cause->culprit),
                   ids_text_clean(&painter->arena, cause->note));
    return ids_phrase_end(painter, &phrase);
}

/* Time of which a side recorded nothing, and which is a good part of the change, has a name in the stacks. */
static int is_much_unknown(const struct ids_diff *diff) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    double change = fabs(waterfall->after_ps - waterfall->before_ps);
    return ids_diff_has_shares(diff) && fabs(waterfall->unknown_ps) >= UNKNOWN_TOLD * change;
}

const char *const *ids_diff_notes(struct ids_painter *painter, const struct ids_diff *diff, size_t shown,
                                  size_t *ret_count) {
    const char **notes = ids_arena_alloc(&painter->arena, (shown + 2) * sizeof *notes);
    *ret_count = 0;
    if (!notes) {
        painter->out_of_memory = 1;
        return NULL;
    }
    notes[(*ret_count)++] = share_note(painter, diff, shown);
    for (size_t i = 0; i < shown; i++) {
        const struct ids_cause *cause = &diff->waterfall.at[i];
        if (cause->note) notes[(*ret_count)++] = cause_note(painter, cause);
    }
    if (is_much_unknown(diff))
        notes[(*ret_count)++] = "what the host did in that time is in no trace: record both sides with 'idsprof "
                                "capture', which samples the stacks of Python unless --stacks 0 is given";
    return notes;
}
