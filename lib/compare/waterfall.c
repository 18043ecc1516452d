#include "lib/compare/waterfall.h"

#include "lib/base/vec.h"
#include "lib/compare/cause_groups.h"
#include "lib/compare/cause_intervals.h"
#include "lib/compare/cause_places.h"
#include "lib/compare/ledger_rows.h"
#include "lib/compare/slice.h"
#include "lib/compare/slice_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cause is told alone where it is a fiftieth of the change and a thousandth of the step. */
enum { OF_CHANGE = 50, OF_STEP = 1000 };

double ids_explained_share(const struct ids_waterfall *waterfall) {
    double change = waterfall->after_ps - waterfall->before_ps;
    if (change == 0) return NAN;
    double share = 1 - fabs((waterfall->unexplained_ps + waterfall->unlike_ps) / change);
    return share > 0 ? share : 0;
}

static int surest_first(const void *a, const void *b) {
    return ids_cause_order(a, b);
}

/* `many`: recordings, or a stated noise, that tell how far another recording would be. */
static enum ids_verdict verdict_of(const struct ids_cause *cause, int many) {
    if (cause->kind == IDS_CAUSE_HOST) return IDS_VERDICT_UNSURE;
    if (!cause->interval.known) return IDS_VERDICT_COUNTED;
    if (!ids_interval_excludes_zero(&cause->interval)) return IDS_VERDICT_UNSURE;
    if (!many) return IDS_VERDICT_DIFFERS;
    return cause->change_ps > 0 ? IDS_VERDICT_REGRESSION : IDS_VERDICT_IMPROVEMENT;
}

/* Of accounts alone, where a side's ledger is of steps and the comparison is not. */
static int take_accounts(struct ids_waterfall *waterfall, const struct ids_parts *parts, int by_run,
                         const struct ids_compare_options *options) {
    for (size_t i = 0; i < parts->count; i++) {
        const struct ids_part *part = &parts->at[i];
        if (ids_account_is_unknown(part->title) || part->a_ps == part->b_ps) continue;
        struct ids_cause *cause = IDS_PUSH(waterfall->at, waterfall->count, waterfall->room);
        if (!cause) return -1;
        *cause = (struct ids_cause){.kind = IDS_CAUSE_ACCOUNT,
                                    .account = part->title,
                                    .is_in_a = part->a_ps > 0,
                                    .is_in_b = part->b_ps > 0,
                                    .count = 1,
                                    .a_ps = (double)part->a_ps,
                                    .b_ps = (double)part->b_ps,
                                    .change_ps = (double)(part->b_ps - part->a_ps),
                                    .interval = part->interval};
        cause->rank = ids_cause_rank(cause, by_run);
        cause->verdict = verdict_of(cause, by_run || options->noise > 0);
    }
    return 0;
}

static int group(struct ids_entries *entries, double least_ps) {
    ids_entries_find_unseen(entries);
    return ids_group_host(entries) || ids_group_even(entries) || ids_group_programs(entries) ||
           ids_group_shapes(entries) || ids_group_structure(entries) || ids_group_launches(entries) ||
           ids_group_layers(entries) || ids_find_hidden(entries) || ids_entries_find_intervals(entries) ||
           ids_entries_hold_discovery_rate(entries) || ids_explain_host(entries, least_ps) ||
           ids_group_small(entries, least_ps);
}

static int take_entries(struct ids_entries *entries, struct ids_waterfall *waterfall) {
    double least = fabs(waterfall->after_ps - waterfall->before_ps) / OF_CHANGE;
    least = fmax(least, fmax(waterfall->before_ps, waterfall->after_ps) / OF_STEP);
    int by_run = entries->sides[0]->by_run;
    if (group(entries, least)) return -1;
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        if (!entry->is_gone && ids_account_is_unknown(entry->cause.account))
            waterfall->unknown_ps += entry->cause.change_ps;
        if (entry->is_gone || !entry->is_told) continue;
        struct ids_cause *cause = IDS_PUSH(waterfall->at, waterfall->count, waterfall->room);
        if (!cause) return -1;
        *cause = entry->cause;
        cause->rank = ids_cause_rank(cause, by_run);
        cause->verdict = verdict_of(cause, by_run || entries->options->noise > 0);
        if (cause->kind == IDS_CAUSE_HOST) waterfall->unlike_ps += cause->change_ps;
    }
    return 0;
}

static int are_comparable(const struct ids_side *side) {
    for (size_t r = 0; r < side->run_count; r++) {
        if (!ids_ledger_is_comparable(side, &side->runs[r])) return 0;
        if (!ids_report_find_table(side->runs[r].report, "ledger")) return 0;
    }
    return 1;
}

int ids_waterfall_make(const struct ids_side *a, const struct ids_side *b, struct ids_parts *parts,
                       const struct ids_matches *ops, const struct ids_structure *structure,
                       const struct ids_compare_options *options, struct ids_report *texts,
                       struct ids_waterfall *ret_waterfall, struct ids_error *err) {
    struct ids_waterfall *waterfall = ret_waterfall;
    *waterfall = (struct ids_waterfall){.before_ps = (double)parts->whole_a_ps, .after_ps = (double)parts->whole_b_ps};
    int failed = 0;
    if (are_comparable(a) && are_comparable(b)) {
        struct ids_entries entries;
        const double step_ps[] = {waterfall->before_ps, waterfall->after_ps};
        failed = ids_entries_make(a, b, ops, structure, options, step_ps, texts, &entries) || ids_find_places(&entries);
        if (!failed && ids_is_slice(options)) {
            failed = ids_slice_parts(&entries, parts);
            waterfall->before_ps = entries.step_ps[0] = (double)parts->whole_a_ps;
            waterfall->after_ps = entries.step_ps[1] = (double)parts->whole_b_ps;
        }
        if (!failed) failed = take_entries(&entries, waterfall);
        ids_entries_done(&entries);
    } else {
        failed = take_accounts(waterfall, parts, a->by_run, options);
    }
    if (failed) {
        ids_waterfall_done(waterfall);
        return ids_no_memory(err);
    }
    if (waterfall->count) qsort(waterfall->at, waterfall->count, sizeof *waterfall->at, surest_first);
    waterfall->unexplained_ps = waterfall->after_ps - waterfall->before_ps;
    for (size_t i = 0; i < waterfall->count; i++) waterfall->unexplained_ps -= waterfall->at[i].change_ps;
    return 0;
}

void ids_waterfall_done(struct ids_waterfall *waterfall) {
    free(waterfall->at);
    *waterfall = (struct ids_waterfall){0};
}
