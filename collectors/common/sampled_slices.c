#include "collectors/common/sampled_slices.h"

#include "collectors/common/spells.h"

#include <stdlib.h>
#include <string.h>

/* C functions between calls, beside the calls themselves, spells, the lock, and a core. */
enum { NAMES = 2 * IDS_PYTHON_DEPTH + IDS_SPELLS_AT_ONCE + 4 };

struct making {
    struct ids_sampled_slices *slices;
    int64_t names[NAMES]; /* of the calls that are open, the outermost first */
    size_t open[NAMES];   /* their slices */
    uint32_t depth;
};

static int open_slice(struct making *making, int64_t name, int64_t start_ns) {
    struct ids_sampled_slices *slices = making->slices;
    if (slices->count == slices->room) {
        size_t room = slices->room ? 2 * slices->room : 256;
        struct ids_sampled_slice *grown = realloc(slices->at, room * sizeof *grown);
        if (!grown) return -1;
        slices->at = grown;
        slices->room = room;
    }
    making->open[making->depth] = slices->count;
    making->names[making->depth] = name;
    slices->at[slices->count++] =
        (struct ids_sampled_slice){.start_ns = start_ns, .end_ns = start_ns, .name = name, .depth = making->depth};
    making->depth++;
    return 0;
}

static void close_to(struct making *making, uint32_t depth, int64_t end_ns) {
    while (making->depth > depth) making->slices->at[making->open[--making->depth]].end_ns = end_ns;
}

int64_t ids_sampled_period(const struct ids_sampled_time *time, int64_t when_ns) {
    int64_t split_ns = time->dense ? time->dense_end_ns : time->begin_ns, later = time->count - time->dense;
    if (time->dense && (when_ns < split_ns || !later)) return (split_ns - time->begin_ns) / time->dense;
    return later ? (time->end_ns - split_ns) / later : 0;
}

/* When the thread turned to the stack of a run, of which `before` was the stack before it; NULL: it had none. */
static int64_t begin_of(const struct ids_sample_run *run, const struct ids_sample_run *before,
                        const struct ids_sampled_time *time) {
    if (!run->first) return time->begin_ns;
    if (before && before->last + 1 == run->first) return before->last_ns + (run->first_ns - before->last_ns) / 2;
    return run->first_ns - ids_sampled_period(time, run->first_ns) / 2;
}

static int64_t end_of(const struct ids_sample_run *run, const struct ids_sampled_time *time) {
    return run->last + 1 == time->count ? time->end_ns : run->last_ns + ids_sampled_period(time, run->last_ns) / 2;
}

static void count_samples(struct ids_sampled_slice *slice, const struct ids_sample_run *run) {
    if (!slice->samples) slice->first_ns = run->first_ns;
    slice->last_ns = run->last_ns;
    slice->samples += run->last - run->first + 1;
}

/* When the thread turned from the stack of a run to another one. */
static int64_t turn_after(const struct ids_sampled_thread *thread, size_t r, const struct ids_sampled_time *time) {
    const struct ids_sample_run *run = &thread->runs[r], *next = r + 1 < thread->count ? run + 1 : NULL;
    return next && run->last + 1 == next->first ? begin_of(next, run, time) : end_of(run, time);
}

/* Inside what is open, the parts of waits for a core that lie in it. `*wait` is the first that has not ended. */
static int put_waits(struct making *making, const struct ids_sampled_thread *thread, size_t *wait, int64_t begin_ns,
                     int64_t end_ns) {
    while (*wait < thread->wait_count && thread->waits[*wait].end_ns <= begin_ns) ++*wait;
    for (size_t w = *wait; w < thread->wait_count && thread->waits[w].start_ns < end_ns; w++) {
        const struct ids_core_wait *at = &thread->waits[w];
        if (open_slice(making, making->slices->wait_name, at->start_ns > begin_ns ? at->start_ns : begin_ns)) return -1;
        close_to(making, making->depth - 1, at->end_ns < end_ns ? at->end_ns : end_ns);
    }
    return 0;
}

int ids_sampled_slices_make(struct ids_sampled_slices *slices, const struct ids_sampled_thread *thread,
                            const struct ids_sampled_time *time, ids_names_of_run *names_of, void *context) {
    struct making making = {.slices = slices};
    int64_t names[NAMES];
    size_t wait = 0;
    slices->count = 0;
    for (size_t r = 0; r < thread->count; r++) {
        const struct ids_sample_run *run = &thread->runs[r], *before = r ? run - 1 : NULL;
        int goes_on = before && before->last + 1 == run->first;
        int64_t begin_ns = begin_of(run, before, time);
        if (before && !goes_on) close_to(&making, 0, end_of(before, time));
        uint32_t depth = names_of(context, run, names), common = 0;
        while (common < depth && common < making.depth && names[common] == making.names[common]) common++;
        if (run->woke && common == depth && common) common--; /* a slice says since when the thread is there */
        close_to(&making, common, begin_ns);
        while (making.depth < depth) {
            if (open_slice(&making, names[making.depth], begin_ns)) return -1;
        }
        if (depth) count_samples(&slices->at[making.open[depth - 1]], run);
        if (run->waits != IDS_THREAD_WAITS_FOR_GIL &&
            put_waits(&making, thread, &wait, begin_ns, turn_after(thread, r, time)))
            return -1;
        if (r + 1 == thread->count) close_to(&making, 0, end_of(run, time));
    }
    return 0;
}

void ids_sampled_slices_done(struct ids_sampled_slices *slices) {
    free(slices->at);
    *slices = (struct ids_sampled_slices){0};
}
