#include "analyzers/memory_use.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

/* Growth is a figure from so many steps on, and a leak from one more. */
enum { LEAST_STEPS = 4, LEAST_LEAK_STEPS = 5 };
/* A leak of every n-th step is one when it came so often. */
enum { LEAST_TIMES = 3 };
/* What is less than this a step, or than a thousandth of the peak, is no leak. */
enum { LEAST_LEAK_BYTES = 1024, LEAST_LEAK_PART = 10000 };

/* --- growth ----------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* When a step begins on the host, which is where memory is taken; without an annotation on its devices. */
static int64_t step_from(const struct ids_step *step) {
    return step->host_end_ps > step->host_start_ps ? step->host_start_ps : step->start_ps;
}

/* The least in use from one moment to the next, what was in use before it included. */
static int64_t lowest_between(const struct ids_memory_use *use, int64_t from_ps, int64_t to_ps,
                              const struct ids_allocation **at) {
    int64_t lowest = INT64_MAX;
    while (*at < use->end && (*at)->at_ps <= from_ps) (*at)++;
    if (*at > use->first) lowest = (*at)[-1].in_use;
    for (; *at < use->end && (*at)->at_ps < to_ps; (*at)++) {
        if ((*at)->in_use < lowest) lowest = (*at)->in_use;
    }
    return lowest;
}

/* The places, from 0, of the values of a sorted list between which its median lies with a certainty of 95 %: as many
 * at either end are left out as heads may come up in so many throws of a coin with a chance of 2.5 %. */
static size_t left_out_of(size_t count) {
    double chance = 1, below = 0;
    for (size_t i = 0; i < count; i++) chance /= 2;
    if (chance == 0) return count / 2 - count / 20; /* more than a thousand steps */
    for (size_t k = 0; k < count; k++) {
        below += chance;
        if (below > 0.025) return k ? k - 1 : 0;
        chance = chance * (double)(count - k) / (double)(k + 1);
    }
    return 0;
}

/* Whether memory grows in nearly each step by a like amount and is never given back. `changes` is in order of time. */
static int is_leak(const int64_t *changes, size_t count, int64_t median, int64_t peak) {
    size_t alike = 0;
    if (count + 1 < LEAST_LEAK_STEPS || median < LEAST_LEAK_BYTES || median < peak / LEAST_LEAK_PART) return 0;
    for (size_t i = 0; i < count; i++) {
        if (changes[i] < -(median / 2)) return 0;
        alike += changes[i] >= median / 2 && changes[i] / 2 <= median;
    }
    return alike * 10 >= count * 8;
}

/* The median of what is above 0 in a sorted list; 0 nothing is. */
static int64_t median_above_0(const int64_t *sorted, size_t count) {
    size_t first = 0;
    while (first < count && sorted[first] <= 0) first++;
    return first < count ? sorted[first + (count - first - 1) / 2] : 0;
}

/* A leak of every n-th step: it grows again and again by a like amount, at regular distances, and never falls. Returns
 * in how many steps it grew; 0 it is no leak. */
static size_t leaks_at_times(const int64_t *changes, size_t count, int64_t grows_by, int64_t peak) {
    size_t times = 0, last = 0, nearest = SIZE_MAX, farthest = 0;
    if (grows_by < LEAST_LEAK_BYTES || grows_by < peak / LEAST_LEAK_PART) return 0;
    for (size_t i = 0; i < count; i++) {
        if (changes[i] < -(grows_by / 2) || changes[i] / 2 > grows_by) return 0;
        if (changes[i] < grows_by / 2) continue;
        if (times && i - last < nearest) nearest = i - last;
        if (times && i - last > farthest) farthest = i - last;
        if (!times++ && i > count / 2) return 0;
        last = i;
    }
    if (times < LEAST_TIMES || farthest > nearest + 1 || count - last > farthest + 1) return 0;
    return times;
}

static void find_leak(const int64_t *changes, const int64_t *sorted, size_t count, int64_t peak,
                      struct ids_memory_growth *growth) {
    growth->is_leak = is_leak(changes, count, growth->median, peak);
    growth->leak_bytes = growth->is_leak ? growth->median : median_above_0(sorted, count);
    growth->leak_steps = growth->is_leak ? count : leaks_at_times(changes, count, growth->leak_bytes, peak);
    growth->is_leak |= growth->leak_steps > 0;
    if (!growth->is_leak) growth->leak_bytes = 0;
}

static int find_growth(const struct ids_analysis *analysis, struct ids_memory_use *use, struct ids_error *err) {
    const struct ids_steps *steps = &analysis->steps;
    const struct ids_allocation *at = use->first;
    size_t count = 0;
    if (steps->count < LEAST_STEPS) return 0;
    int64_t *changes = malloc(2 * steps->count * sizeof *changes), before = 0;
    if (!changes) return ids_no_memory(err);
    for (size_t s = 0; s < steps->count; s++) {
        int64_t to_ps = s + 1 < steps->count ? step_from(&steps->at[s + 1]) : INT64_MAX;
        int64_t lowest = lowest_between(use, step_from(&steps->at[s]), to_ps, &at);
        if (lowest == INT64_MAX) continue; /* before the first event */
        if (count++) changes[count - 2] = ids_sat_sub(lowest, before);
        before = lowest;
    }
    count = count ? count - 1 : 0;
    if (count + 1 >= LEAST_STEPS) {
        struct ids_memory_growth *growth = &use->growth;
        int64_t *sorted = changes + count;
        for (size_t i = 0; i < count; i++) {
            sorted[i] = changes[i];
            growth->grown += changes[i] > 0;
        }
        qsort(sorted, count, sizeof *sorted, by_size);
        size_t left_out = left_out_of(count);
        growth->has_value = 1;
        growth->steps = count;
        growth->median = sorted[(count - 1) / 2];
        growth->from = sorted[left_out];
        growth->to = sorted[count - 1 - left_out];
        find_leak(changes, sorted, count, use->peak->in_use, growth);
    }
    free(changes);
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static void narrow(const struct ids_analysis *analysis, struct ids_memory_use *use) {
    const struct ids_params *params = &analysis->params;
    int64_t from_ps = ids_sat_add(analysis->first_ps, params->from_ps),
            to_ps = ids_sat_add(analysis->first_ps, params->to_ps);
    while (params->from_ps > 0 && use->first < use->end && use->first->at_ps < from_ps) use->first++;
    while (use->first < use->end && use->end[-1].at_ps > to_ps) use->end--;
}

/* Of the allocator's device. One that the trace has under no such number (PyTorch on ROCm counts allocators as HIP
 * does, and devices by their agents) has as much as all devices of its host, where these are alike. 0 unknown. */
static uint64_t memory_of(const struct ids_trace *trace, const struct ids_allocator *allocator) {
    if (allocator->device != IDS_NONE) return trace->devices[allocator->device].memory_bytes;
    uint64_t bytes = 0;
    for (size_t d = 0; d < trace->device_count && !allocator->on_host; d++) {
        const struct ids_device *device = &trace->devices[d];
        if (device->host != allocator->host || device->kind == IDS_DEVICE_CPU) continue;
        if (!device->memory_bytes || (bytes && bytes != device->memory_bytes)) return 0;
        bytes = device->memory_bytes;
    }
    return bytes;
}

static void measure(const struct ids_trace *trace, struct ids_memory_use *use) {
    use->life_peak = use->capacity = -1;
    use->peak = use->first;
    for (const struct ids_allocation *event = use->first; event < use->end; event++) {
        if (event->in_use >= use->peak->in_use) use->peak = event;
        if (event->life_peak > use->life_peak) use->life_peak = event->life_peak;
        use->taken += event->takes;
        use->given += !event->takes;
    }
    use->capacity = use->peak->capacity;
    uint64_t bytes = memory_of(trace, use->allocator);
    if (use->capacity < 0 && bytes && bytes < INT64_MAX) use->capacity = (int64_t)bytes;
}

static int is_looked_at(const struct ids_analysis *analysis, const struct ids_allocator *allocator) {
    if (!allocator->count) return 0;
    return allocator->device == IDS_NONE ||
           ids_device_is_chosen(&analysis->params, &analysis->trace->devices[allocator->device]);
}

/* Memory of devices before the host's, allocators that tell their totals before others; then the higher peak, and of
 * equal ones the later. */
static int fullest_first(const void *a, const void *b) {
    const struct ids_memory_use *left = a, *right = b;
    int left_class = 2 * left->allocator->on_host + left->allocator->is_relative,
        right_class = 2 * right->allocator->on_host + right->allocator->is_relative;
    if (left_class != right_class) return left_class - right_class;
    if (left->peak->in_use != right->peak->in_use) return left->peak->in_use < right->peak->in_use ? 1 : -1;
    if (left->peak->at_ps != right->peak->at_ps) return left->peak->at_ps < right->peak->at_ps ? 1 : -1;
    return (left->allocator > right->allocator) - (left->allocator < right->allocator);
}

int ids_memory_uses_make(const struct ids_analysis *analysis, struct ids_memory_uses *ret_uses, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    *ret_uses = (struct ids_memory_uses){.at = calloc(trace->allocator_count + 1, sizeof *ret_uses->at)};
    if (!ret_uses->at) return ids_no_memory(err);
    for (size_t i = 0; i < trace->allocator_count; i++) {
        const struct ids_allocator *allocator = &trace->allocators[i];
        const struct ids_allocation *first = trace->allocations + allocator->first;
        struct ids_memory_use use = {.allocator = allocator, .first = first, .end = first + allocator->count};
        if (!is_looked_at(analysis, allocator)) continue;
        narrow(analysis, &use);
        if (use.first == use.end) continue;
        measure(trace, &use);
        int code = find_growth(analysis, &use, err);
        if (code) {
            ids_memory_uses_done(ret_uses);
            return code;
        }
        ret_uses->at[ret_uses->count++] = use;
    }
    if (ret_uses->count) qsort(ret_uses->at, ret_uses->count, sizeof *ret_uses->at, fullest_first);
    const struct ids_allocator *first = ret_uses->count ? ret_uses->at[0].allocator : NULL;
    if (first && !first->on_host && !first->is_relative) ret_uses->most = &ret_uses->at[0];
    return 0;
}

void ids_memory_uses_done(struct ids_memory_uses *uses) {
    free(uses->at);
    *uses = (struct ids_memory_uses){0};
}
