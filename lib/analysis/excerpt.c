#include "lib/analysis/excerpt.h"

#include "lib/base/counted.h"
#include "lib/base/keymap.h"

#include <stdlib.h>
#include <string.h>

/* Of fewer ops nobody can tell. A thread takes numbers by blocks of that many, and leaves the rest of its last one.
 * Numbers that are further apart were not counted. */
enum { LEAST_OPS = 500, BLOCK = 1024 };
#define NUMBERS_LIMIT (UINT64_C(1) << 32)

struct process {
    uint64_t ops, threads;
    int64_t first, last;
};

static void add_thread(struct process *process, const struct ids_track *track) {
    if (!process->threads || track->first_number < process->first) process->first = track->first_number;
    if (track->last_number > process->last) process->last = track->last_number;
    process->ops += track->numbered_ops;
    process->threads++;
}

/* How many ops ran at least; 0: all may be here. Samples have a hundredth of them. Files with all ops had from 34 % on,
 * where one hole of thousands of numbers was left, and of these everything is to be told. */
static uint64_t of_how_many(const struct process *process) {
    const uint64_t span = (uint64_t)process->last - (uint64_t)process->first + 1;
    if (process->ops < LEAST_OPS || span > NUMBERS_LIMIT) return 0;
    return process->ops * 4 + process->threads * BLOCK < span ? span : 0;
}

int ids_excerpt_of(const struct ids_trace *trace, struct ids_excerpt *ret_excerpt) {
    struct ids_keymap places = {0};
    struct process *processes = calloc(trace->track_count + 1, sizeof *processes);
    size_t count = 0;
    int failed = !processes;
    for (size_t t = 0; t < trace->track_count && !failed; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (!track->numbered_ops) continue;
        uint64_t *place = ids_keymap_at(&places, ids_key_of(track->host, track->plane));
        failed = !place;
        if (failed) break;
        if (!*place) *place = ++count;
        add_thread(&processes[*place - 1], track);
    }
    *ret_excerpt = (struct ids_excerpt){0};
    for (size_t p = 0; p < count && !failed; p++) {
        const uint64_t of = of_how_many(&processes[p]);
        if (!of) continue;
        ret_excerpt->ops += processes[p].ops;
        ret_excerpt->of += of;
    }
    ids_keymap_done(&places);
    free(processes);
    return failed ? -1 : 0;
}

const char *ids_excerpt_text(const struct ids_excerpt *excerpt, struct ids_report *report) {
    const char *ops = IDS_COUNTED(excerpt->ops, "op");
    return ids_report_text(report, "%.*s of %s (%.1f %%)", (int)strcspn(ops, " "), ops, IDS_COUNTED(excerpt->of, "op"),
                           100 * (double)excerpt->ops / (double)excerpt->of);
}
