#include "lib/analysis/unrecorded_work.h"

#include "lib/analysis/graph_work.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"

#include <inttypes.h>

/* By enum ids_unrecorded. */
static const struct {
    const char *culprit, *property, *some;
} kinds[] = {
    [IDS_UNRECORDED_EARLIER] = {IDS_EARLIER_WORK, "earlier_work", "some_earlier_work"},
    [IDS_UNRECORDED_GRAPHS] = {IDS_GRAPH_WORK, "graph_work", "some_graph_work"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

enum ids_unrecorded ids_unrecorded_of(const struct ids_ledger *ledger, const struct ids_ledger_entry *entry) {
    if (entry->account != IDS_DEVICE_UNKNOWN) return IDS_UNRECORDED_NONE;
    for (int kind = IDS_UNRECORDED_NONE + 1; kind < KINDS; kind++) {
        if (ids_text_is(ids_strings_text(&ledger->texts, entry->culprit), kinds[kind].culprit))
            return (enum ids_unrecorded)kind;
    }
    return IDS_UNRECORDED_NONE;
}

int64_t ids_unrecorded_ps(const struct ids_analysis *analysis, enum ids_unrecorded kind) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t sum_ps = 0;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        if (ids_unrecorded_of(ledger, &ledger->entries[e]) == kind) ids_sum(&sum_ps, ledger->entries[e].in_window_ps);
    }
    return sum_ps;
}

static const char *words_for(const struct ids_analysis *analysis, struct ids_report *report, enum ids_unrecorded kind,
                             double percent) {
    if (kind == IDS_UNRECORDED_EARLIER)
        return ids_report_text(report,
                               "for %.1f %% of the window the device waits for work that was launched before the "
                               "recording and is not in it",
                               percent);
    const struct ids_graph_launches launches = ids_graph_launches_of(analysis->trace);
    return ids_report_text(report,
                           "%" PRIu64 " of %s that launch graphs have no kernels in this file: for %.1f %% of the "
                           "window graphs may run, and the utilization is a lower bound",
                           launches.without_work, IDS_COUNTED(launches.all, "call"), percent);
}

void ids_say_unrecorded(const struct ids_analysis *analysis, struct ids_report *report) {
    const int64_t window_ps = ids_windows_total(analysis);
    for (int kind = IDS_UNRECORDED_NONE + 1; kind < KINDS; kind++) {
        const int64_t ps = ids_unrecorded_ps(analysis, (enum ids_unrecorded)kind);
        if (!ps || ps < window_ps / 100) continue;
        double percent = 100 * (double)ps / (double)window_ps;
        ids_report_property(report, ps < window_ps / 10 ? kinds[kind].some : kinds[kind].property,
                            ids_text_value(words_for(analysis, report, (enum ids_unrecorded)kind, percent)));
    }
}

int ids_is_utilization_unknown(const struct ids_report *report) {
    for (int kind = IDS_UNRECORDED_NONE + 1; kind < KINDS; kind++) {
        if (ids_report_find_property(report, kinds[kind].property)) return 1;
    }
    return ids_report_find_property(report, "excerpt") != NULL;
}

int ids_are_graphs_unrecorded(const struct ids_report *report) {
    return ids_report_find_property(report, kinds[IDS_UNRECORDED_GRAPHS].property) != NULL;
}
