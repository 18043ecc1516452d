#include "lib/analysis/seen_lines.h"

#include "lib/base/saturate.h"
#include "lib/model/doings.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>

int ids_seen_lines_init(struct ids_seen_lines *lines, const struct ids_trace *trace) {
    *lines = (struct ids_seen_lines){.trace = trace};
    lines->threads = calloc(trace->track_count + 1, sizeof *lines->threads);
    if (!lines->threads) return -1;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (!track->sampling) continue;
        const struct ids_timeline *timeline = track->seen.count ? &track->seen : &track->timeline;
        if (timeline->count) lines->threads[lines->count++] = (struct ids_seen_thread){timeline, track->host, 0};
    }
    if (!lines->count) return 0;
    lines->functions = calloc(trace->doing_count + 1, sizeof *lines->functions);
    for (size_t d = 0; lines->functions && d < trace->doing_count; d++) {
        uint32_t caller = trace->doings[d].caller;
        if (caller != IDS_NONE)
            lines->functions[d] = ids_python_function_key(ids_strings_text(&trace->strings, trace->names[caller].text));
    }
    return lines->functions ? 0 : -1;
}

void ids_seen_lines_done(struct ids_seen_lines *lines) {
    free(lines->threads);
    free(lines->functions);
    *lines = (struct ids_seen_lines){0};
}

void ids_seen_lines_begin(struct ids_seen_lines *lines) {
    for (size_t t = 0; t < lines->count; t++) lines->threads[t].turn = 0;
}

static int is_of(const struct ids_seen_lines *lines, const struct ids_ledger_entry *entry, uint32_t doing) {
    if (lines->functions[doing] != entry->lines_of) return 0;
    return entry->lines == IDS_ALL_LINES || ids_doing_sleeps(lines->trace, doing) == (entry->lines == IDS_LINES_ASLEEP);
}

int ids_seen_lines_add(struct ids_seen_lines *lines, struct ids_ledger *ledger, uint32_t host,
                       const struct ids_ledger_interval *interval) {
    const struct ids_trace *trace = lines->trace;
    for (size_t t = 0; t < lines->count; t++) {
        struct ids_seen_thread *thread = &lines->threads[t];
        const struct ids_timeline *timeline = thread->timeline;
        if (thread->host != host) continue;
        while (thread->turn + 1 < timeline->count && timeline->from_ps[thread->turn + 1] <= interval->from_ps)
            thread->turn++;
        for (size_t i = thread->turn; i + 1 < timeline->count && timeline->from_ps[i] < interval->to_ps; i++) {
            int64_t from_ps = timeline->from_ps[i], to_ps = timeline->from_ps[i + 1];
            if (!is_of(lines, &ledger->entries[interval->entry], timeline->doing[i])) continue;
            if (from_ps < interval->from_ps) from_ps = interval->from_ps;
            if (to_ps > interval->to_ps) to_ps = interval->to_ps;
            if (to_ps <= from_ps) continue;
            const struct ids_name *name = &trace->names[trace->doings[timeline->doing[i]].caller];
            if (ids_ledger_add_line(ledger, interval->entry, name->text, to_ps - from_ps)) return -1;
        }
    }
    return 0;
}
