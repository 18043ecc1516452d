#include "lib/analysis/intervals.h"

#include "lib/base/run_merge.h"
#include "lib/base/saturate.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"

#include <stdlib.h>

void ids_spans_done(struct ids_spans *spans) {
    free(spans->at);
    *spans = (struct ids_spans){0};
}

void ids_spans_add(struct ids_spans *spans, int64_t start_ps, int64_t end_ps) {
    if (end_ps <= start_ps) return;
    if (spans->count) { /* mostly in time order: grow the last one rather than keep a new one */
        struct ids_span *last = &spans->at[spans->count - 1];
        if (start_ps >= last->start_ps && start_ps <= last->end_ps) {
            if (end_ps > last->end_ps) last->end_ps = end_ps;
            return;
        }
    }
    if (!IDS_PUSH(spans->at, spans->count, spans->room)) {
        spans->out_of_memory = 1;
        return;
    }
    /* What comes late comes a little late: a few steps back keep the set in order, and spare it the sort. */
    enum { STEPS_BACK = 16 };
    size_t place = spans->count - 1;
    for (int step = 0; step < STEPS_BACK && place && spans->at[place - 1].start_ps > start_ps; step++, place--)
        spans->at[place] = spans->at[place - 1];
    spans->at[place] = (struct ids_span){start_ps, end_ps};
}

static int span_before(const struct ids_span *a, const struct ids_span *b) {
    return a->start_ps < b->start_ps;
}

IDS_DEFINE_RUN_MERGE(merge_spans, struct ids_span, span_before)

static int sort_spans(struct ids_spans *spans) {
    struct ids_span *spare = malloc(spans->count * sizeof *spare), *at = spans->at;
    if (!spare) return -1;
    merge_spans(&spans->at, &spare, spans->count);
    if (spans->at != at) spans->room = spans->count; /* the buffers changed places */
    free(spare);
    return 0;
}

int ids_spans_unite(struct ids_spans *spans) {
    if (spans->out_of_memory) return -1;
    int ordered = 1;
    for (size_t i = 1; i < spans->count && ordered; i++) ordered = spans->at[i].start_ps >= spans->at[i - 1].start_ps;
    if (!ordered && sort_spans(spans)) return -1;
    size_t kept = 0;
    for (size_t i = 0; i < spans->count; i++) {
        struct ids_span span = spans->at[i];
        if (kept && span.start_ps <= spans->at[kept - 1].end_ps) {
            if (span.end_ps > spans->at[kept - 1].end_ps) spans->at[kept - 1].end_ps = span.end_ps;
        } else {
            spans->at[kept++] = span;
        }
    }
    spans->count = kept;
    return 0;
}

int64_t ids_spans_total(const struct ids_spans *set) {
    int64_t total = 0;
    for (size_t i = 0; i < set->count; i++) ids_sum(&total, set->at[i].end_ps - set->at[i].start_ps);
    return total;
}

/* The first interval that ends after the moment. */
static size_t ends_after(const struct ids_spans *set, int64_t when_ps) {
    return IDS_COUNT_UP_TO(set->at, set->count, end_ps, when_ps);
}

int64_t ids_spans_cover(const struct ids_spans *set, int64_t start_ps, int64_t end_ps) {
    int64_t covered = 0;
    for (size_t i = ends_after(set, start_ps); i < set->count && set->at[i].start_ps < end_ps; i++) {
        int64_t from = set->at[i].start_ps > start_ps ? set->at[i].start_ps : start_ps;
        int64_t to = set->at[i].end_ps < end_ps ? set->at[i].end_ps : end_ps;
        ids_sum(&covered, to - from);
    }
    return covered;
}

/* Calls for each stretch that lies in both sets; adds to `set` when it is given. */
static int64_t common(const struct ids_spans *a, const struct ids_spans *b, struct ids_spans *set) {
    int64_t total = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        int64_t from = a->at[i].start_ps > b->at[j].start_ps ? a->at[i].start_ps : b->at[j].start_ps;
        int64_t to = a->at[i].end_ps < b->at[j].end_ps ? a->at[i].end_ps : b->at[j].end_ps;
        if (to > from) {
            ids_sum(&total, to - from);
            if (set) ids_spans_add(set, from, to);
        }
        if (a->at[i].end_ps < b->at[j].end_ps)
            i++;
        else
            j++;
    }
    return total;
}

int64_t ids_spans_overlap(const struct ids_spans *a, const struct ids_spans *b) {
    return common(a, b, NULL);
}

int ids_spans_intersect(const struct ids_spans *a, const struct ids_spans *b, struct ids_spans *ret_set) {
    common(a, b, ret_set);
    return ids_spans_unite(ret_set);
}

int ids_spans_subtract(const struct ids_spans *a, const struct ids_spans *b, struct ids_spans *ret_set) {
    size_t j = 0;
    for (size_t i = 0; i < a->count; i++) {
        int64_t from = a->at[i].start_ps, end = a->at[i].end_ps;
        while (j < b->count && b->at[j].end_ps <= from) j++;
        for (size_t k = j; k < b->count && b->at[k].start_ps < end; k++) {
            ids_spans_add(ret_set, from, b->at[k].start_ps);
            from = b->at[k].end_ps;
        }
        ids_spans_add(ret_set, from, end);
    }
    return ids_spans_unite(ret_set);
}

int ids_spans_gaps(const struct ids_spans *set, int64_t start_ps, int64_t end_ps, struct ids_spans *ret_set) {
    struct ids_span whole = {start_ps, end_ps};
    struct ids_spans window = {.at = &whole, .count = start_ps < end_ps, .room = 1};
    return ids_spans_subtract(&window, set, ret_set);
}
