#include "lib/compare/slice_parts.h"

#include "lib/compare/cause_intervals.h"
#include "lib/compare/slice.h"

#include <math.h>
#include <string.h>

/* All entries of the account (NULL: of all) put together. */
static int sum_entries(struct ids_entries *entries, const char *account, struct ids_part *part) {
    size_t count = entries->count;
    if (!ids_entries_add(entries)) return -1;
    struct ids_entry *whole = &entries->at[count];
    for (size_t i = 0; i < count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || (account && strcmp(entry->cause.account, account) != 0)) continue;
        ids_entry_add_times(entries, whole, entry);
    }
    whole->cause.change_ps = whole->cause.b_ps - whole->cause.a_ps;
    ids_entry_find_interval(entries, whole);
    part->a_ps = (int64_t)llround(whole->cause.a_ps);
    part->b_ps = (int64_t)llround(whole->cause.b_ps);
    part->interval = whole->cause.interval;
    whole->is_gone = 1;
    return 0;
}

int ids_slice_parts(struct ids_entries *entries, struct ids_parts *ret_parts) {
    static const enum ids_account accounts[] = {IDS_WORK_COMPUTE, IDS_COMM_TRANSFER};
    struct ids_part whole = {.id = NULL};
    int failed = sum_entries(entries, NULL, &whole);
    *ret_parts = (struct ids_parts){.whole_a_ps = whole.a_ps, .whole_b_ps = whole.b_ps, .whole = whole.interval};
    ret_parts->remainder_ps = ret_parts->busy_change_ps = whole.b_ps - whole.a_ps;
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts && !failed; i++) {
        struct ids_part part = {.id = ids_account_steps_id(accounts[i]), .title = ids_account_id(accounts[i])};
        failed = sum_entries(entries, part.title, &part);
        ret_parts->remainder_ps -= part.b_ps - part.a_ps;
        if (part.a_ps || part.b_ps) ret_parts->at[ret_parts->count++] = part;
    }
    return failed;
}

void ids_slice_headline(const struct ids_compare_options *options, const struct ids_parts *parts, int by_run,
                        struct ids_report *texts, struct ids_difference rows[IDS_HEADLINES], size_t *count) {
    struct ids_difference slice = {
        .id = "slice.time",
        .title = ids_report_text(texts, "time of %s", ids_slice_name(options, texts)),
        .unit = IDS_UNIT_TIME,
        .better = IDS_BETTER_LOWER,
        .has_a = 1,
        .has_b = 1,
        .a = (double)parts->whole_a_ps,
        .b = (double)parts->whole_b_ps,
        .interval = parts->whole,
    };
    slice.verdict = ids_judge(&slice, options, by_run);
    if (*count) rows[1] = rows[0];
    rows[0] = slice;
    *count = *count ? 2 : 1;
}
