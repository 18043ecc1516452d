#include "lib/compare/diff.h"

#include "lib/compare/held_changes.h"
#include "lib/compare/places.h"
#include "lib/compare/slice.h"
#include "lib/compare/slice_parts.h"

#include <math.h>
#include <stdlib.h>

/* Of both sides' time in ops. */
#define LEAST_IN_COMMON 0.05

static double contributions(const struct ids_matches *matches) {
    double sum = 0;
    for (size_t i = 0; i < matches->count; i++) sum += matches->at[i].change_ps;
    return sum;
}

/* Where nothing names ops, kernels are what the time is told by. */
static void add_up(struct ids_diff *diff) {
    int kernels = !diff->has_ops && diff->has_kernels;
    int64_t whole = diff->parts.whole_b_ps - diff->parts.whole_a_ps;
    diff->ops_ps = (int64_t)llround(contributions(kernels ? &diff->kernel_matches : &diff->op_matches));
    double without = diff->ops[1].without_ps - diff->ops[0].without_ps;
    diff->without_ps = (int64_t)llround(kernels ? without - contributions(&diff->kernel_matches) : without);
    diff->overlap_ps = diff->parts.busy_change_ps - diff->ops_ps - diff->without_ps;
    diff->idle_ps = whole - diff->parts.busy_change_ps;
}

static int make_matches(struct ids_diff *diff, enum ids_item_kind kind, struct ids_items items[2],
                        struct ids_matches *matches, int *ret_has, struct ids_error *err) {
    int code = ids_items_make(diff->a, kind, &diff->report, &items[0], err);
    if (!code) code = ids_items_make(diff->b, kind, &diff->report, &items[1], err);
    for (int side = 0; side < 2 && !code; side++) ids_slice_items(&diff->options, &items[side]);
    if (!code && ids_places_find(&items[0], &items[1], &diff->report)) code = ids_no_memory(err);
    if (!code) code = ids_matches_make(diff->a, &items[0], diff->b, &items[1], &diff->options, matches, err);
    *ret_has = items[0].count + items[1].count > 0;
    return code;
}

static int has_common_scope(const struct ids_diff *diff) {
    for (size_t i = 0; i < diff->scopes.count; i++) {
        if (diff->scopes.at[i].a_ps > 0 && diff->scopes.at[i].b_ps > 0) return 1;
    }
    return 0;
}

/* Of programs that share a name and nothing else no op has a counterpart, and no scope. */
static int look_for_common_ops(struct ids_diff *diff, struct ids_error *err) {
    if (diff->structure.like_count || has_common_scope(diff)) return 0;
    double all[2] = {0}, matched[2] = {0};
    for (size_t i = 0; i < diff->op_matches.count; i++) {
        const struct ids_match *match = &diff->op_matches.at[i];
        const struct ids_item *items[] = {match->a, match->b};
        for (int side = 0; side < 2; side++) {
            if (!items[side]) continue;
            all[side] += items[side]->time_ps;
            if (match->a && match->b) matched[side] += items[side]->time_ps;
        }
    }
    if (!(all[0] > 0) || !(all[1] > 0)) return 0;
    if (matched[0] >= LEAST_IN_COMMON * all[0] || matched[1] >= LEAST_IN_COMMON * all[1]) return 0;
    return ids_remarks_add(&diff->remarks, IDS_REMARK_UNLIKE, "ops.none",
                           "programs of one name have no ops in common: they have nothing to do with each other; "
                           "'idsprof scale' compares methods",
                           err);
}

int ids_diff_make(const struct ids_side *a, const struct ids_side *b, const struct ids_compare_options *options,
                  struct ids_diff *ret_diff, struct ids_error *err) {
    const struct ids_side *const sides[] = {a, b};
    struct ids_diff *diff = ret_diff;
    *diff = (struct ids_diff){.a = a, .b = b, .options = *options};
    ids_report_init(&diff->report);
    diff->slice = ids_is_slice(options) && options->part
                      ? ids_report_text(&diff->report, "%s, %s", ids_slice_name(options, &diff->report), options->part)
                  : ids_is_slice(options) ? ids_slice_name(options, &diff->report)
                                          : options->part;
    diff->other_devices = ids_other_devices(a, b, &diff->report);
    int code = ids_remarks_make(sides, 2, IDS_ALIKE_DEVICES, &diff->report, &diff->remarks, err);
    if (!code) code = ids_headline_make(a, b, options, diff->headline, &diff->headline_count, err);
    if (!code) code = ids_parts_make(a, b, options, &diff->parts, err);
    if (!code) code = make_matches(diff, IDS_ITEM_OPS, diff->ops, &diff->op_matches, &diff->has_ops, err);
    if (!code)
        code = make_matches(diff, IDS_ITEM_KERNELS, diff->kernels, &diff->kernel_matches, &diff->has_kernels, err);
    if (!code && ids_is_slice(options) && !diff->has_ops && !diff->has_kernels)
        code = ids_fail(err, IDS_USAGE, "no op of either side is in %s; 'idsprof report RUN --section ops' lists them",
                        ids_slice_name(options, &diff->report));
    if (!code) code = ids_alike_list_make(&diff->op_matches, &diff->alike, err);
    const struct ids_matches *most = diff->has_ops ? &diff->op_matches : &diff->kernel_matches;
    if (!code) code = ids_structure_make(a, b, most, !ids_is_slice(options), &diff->report, &diff->structure, err);
    if (!code)
        code = ids_waterfall_make(a, b, &diff->parts, most, &diff->structure, options, &diff->report, &diff->waterfall,
                                  err);
    if (!code && ids_is_slice(options))
        ids_slice_headline(options, &diff->parts, a->by_run, &diff->report, diff->headline, &diff->headline_count);
    if (!code) code = ids_sums_make(&diff->op_matches, IDS_SUM_MODULE, &diff->report, &diff->modules, err);
    if (!code) code = ids_sums_make(&diff->op_matches, IDS_SUM_SCOPE, &diff->report, &diff->scopes, err);
    if (!code) code = ids_sums_make(most, IDS_SUM_FAMILY, &diff->report, &diff->families, err);
    if (!code) code = ids_sums_make(most, IDS_SUM_COLLECTIVE, &diff->report, &diff->collectives, err);
    if (!code && !ids_is_slice(options)) code = look_for_common_ops(diff, err);
    if (!code) {
        add_up(diff);
        if (!ids_is_slice(options)) code = ids_changes_make(diff, err);
    }
    if (!code) ids_diff_report(diff);
    if (!code) code = ids_list_held_changes(a, b, &diff->report, err);
    if (!code) code = ids_report_check(&diff->report, err);
    if (code) ids_diff_done(diff);
    return code;
}

void ids_diff_done(struct ids_diff *diff) {
    ids_remarks_done(&diff->remarks);
    for (int side = 0; side < 2; side++) {
        ids_items_done(&diff->ops[side]);
        ids_items_done(&diff->kernels[side]);
    }
    ids_alike_list_done(&diff->alike);
    ids_matches_done(&diff->op_matches);
    ids_matches_done(&diff->kernel_matches);
    ids_sums_done(&diff->modules);
    ids_sums_done(&diff->scopes);
    ids_sums_done(&diff->families);
    ids_sums_done(&diff->collectives);
    ids_waterfall_done(&diff->waterfall);
    ids_structure_done(&diff->structure);
    free(diff->changes.at);
    ids_report_done(&diff->report);
    *diff = (struct ids_diff){0};
}

static int changed(const struct ids_matches *matches) {
    for (size_t i = 0; i < matches->count; i++) {
        if (matches->at[i].class != IDS_MATCH_SAME) return 1;
    }
    return 0;
}

enum ids_verdict ids_diff_verdict(const struct ids_diff *diff) {
    if (diff->a->per_step || ids_is_slice(&diff->options)) return diff->headline[0].verdict;
    if (changed(&diff->op_matches) || changed(&diff->kernel_matches)) return IDS_VERDICT_COUNTED;
    for (size_t i = 1; i < diff->headline_count; i++) {
        if (diff->headline[i].verdict > IDS_VERDICT_UNSURE) return IDS_VERDICT_COUNTED;
    }
    return IDS_VERDICT_SAME;
}
