#include "lib/model/counters.h"

#include "lib/base/decimal.h"
#include "lib/base/vec.h"
#include "lib/model/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 4 MiB of samples; of what is beyond only sums are kept. A file with more counters than that is damaged. */
enum { SAMPLES_LIMIT = 1 << 18, COUNTERS_LIMIT = 1 << 16 };
/* Sums of values up to here are finite. */
#define VALUE_LIMIT 1e280

void ids_counter_map_done(struct ids_counter_map *map) {
    ids_keymap_done(&map->places);
    free(map->order);
}

int ids_is_range_line(struct ids_text line) {
    static const char end[] = "_profiler_range)";
    const size_t length = sizeof end - 1;
    return line.length > length && !memcmp(line.at + line.length - length, end, length);
}

int ids_has_ranges(const struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role == IDS_TRACK_COUNTERS && ids_is_range_line(ids_strings_text(&trace->strings, track->name)))
            return 1;
    }
    return 0;
}

int ids_is_counter_line(struct ids_text line) {
    return ids_text_is(line, "_counters_") || ids_is_range_line(line);
}

/* What a file says of any event, and is no value. */
static int is_about_the_event(uint32_t key) {
    switch (key) {
    case IDS_KEY_CATEGORY:
    case IDS_KEY_GROUP_ID:
    case IDS_KEY_RUN_ID:
    case IDS_KEY_PROGRAM_ID:
    case IDS_KEY_CORRELATION_ID:
    case IDS_KEY_CORRELATION:
    case IDS_KEY_PRODUCER_TYPE:
    case IDS_KEY_PRODUCER_ID:
    case IDS_KEY_CONSUMER_TYPE:
    case IDS_KEY_CONSUMER_ID:
    case IDS_KEY_STEP_NUM:
    case IDS_KEY_FORM:
        return 1;
    default:
        return 0;
    }
}

/* Writers of JSON give numbers as texts: digits, and perhaps a point. */
static int is_value(const struct ids_trace *trace, const struct ids_arg *arg, double *ret_value) {
    switch (arg->type) {
    case IDS_VALUE_INT:
    case IDS_VALUE_UINT:
    case IDS_VALUE_REAL:
        *ret_value = ids_arg_real(trace, arg);
        return fabs(*ret_value) < VALUE_LIMIT;
    case IDS_VALUE_TEXT:
    case IDS_VALUE_CHARS: {
        struct ids_text text = ids_arg_chars(trace, arg);
        int points = 0;
        for (uint32_t i = 0; i < text.length; i++) {
            int is_digit = text.at[i] >= '0' && text.at[i] <= '9';
            if (!is_digit && (text.at[i] != '.' || !i || points++)) return 0;
        }
        return text.length && !ids_decimal_real(text.at, text.length, ret_value) && *ret_value < VALUE_LIMIT;
    }
    default:
        return 0;
    }
}

static struct ids_counter *counter_of(struct ids_counter_map *map, struct ids_trace *trace, uint32_t track,
                                      uint32_t name, uint32_t series, int *ret_failed) {
    uint64_t key = ids_key_of(ids_key_of(track, name), series), there;
    *ret_failed = 0;
    if (ids_keymap_get(&map->places, key, &there)) return &trace->counters[there - 1];
    if (trace->counter_count == COUNTERS_LIMIT) {
        trace->counters_left_out++;
        return NULL;
    }
    uint64_t *place = ids_keymap_at(&map->places, key);
    *ret_failed = !place;
    if (!place) return NULL;
    if (!*place) {
        struct ids_counter *added = IDS_PUSH(trace->counters, trace->counter_count, trace->counter_room);
        *ret_failed = !added;
        if (!added) return NULL;
        *added = (struct ids_counter){
            .track = track, .name = name, .series = series == name ? 0 : series, .min = INFINITY, .max = -INFINITY};
        *place = trace->counter_count;
    }
    return &trace->counters[*place - 1];
}

static int keep_sample(struct ids_counter_map *map, struct ids_trace *trace, struct ids_counter *counter,
                       struct ids_counter_sample sample) {
    if (trace->counter_samples == SAMPLES_LIMIT) return 0;
    struct ids_counter_sample *kept = IDS_PUSH(counter->samples, counter->sample_count, counter->sample_room);
    uint32_t *order = kept ? IDS_PUSH(map->order, map->order_count, map->order_room) : NULL;
    if (!order) return -1;
    *kept = sample;
    *order = (uint32_t)(counter - trace->counters);
    trace->counter_samples++;
    return 0;
}

int ids_counters_add(struct ids_counter_map *map, struct ids_trace *trace, uint32_t track, int64_t at_ps,
                     const struct ids_slice *slice) {
    uint32_t name = trace->names[slice->name].text;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        double value;
        int failed;
        if (is_about_the_event(slice->args[i].key) || !is_value(trace, &slice->args[i], &value)) continue;
        struct ids_counter *counter = counter_of(map, trace, track, name, slice->args[i].key, &failed);
        if (failed) return -1;
        if (!counter) continue;
        counter->count++;
        counter->above_zero += value > 0;
        counter->sum += value;
        if (value < counter->min) counter->min = value;
        if (value > counter->max) counter->max = value;
        const struct ids_counter_sample sample = {at_ps, value};
        if (keep_sample(map, trace, counter, sample)) return -1;
    }
    return 0;
}

/* Of those that there is no room for, values are counted. */
static int take_counter(struct ids_counter_map *map, struct ids_trace *trace, const struct ids_counter *from,
                        uint64_t *ret_place) {
    uint64_t key = ids_key_of(ids_key_of(from->track, from->name), from->series ? from->series : from->name);
    *ret_place = 0;
    if (trace->counter_count == COUNTERS_LIMIT) {
        trace->counters_left_out += from->count;
        return 0;
    }
    struct ids_counter *added = IDS_PUSH(trace->counters, trace->counter_count, trace->counter_room);
    if (!added || ids_keymap_add(&map->places, key, trace->counter_count) < 0) return -1;
    *added = *from;
    added->samples = NULL;
    added->sample_count = added->sample_room = 0;
    *ret_place = trace->counter_count;
    return 0;
}

int ids_counters_take(struct ids_counter_map *map, struct ids_trace *trace, const struct ids_counter_map *from_map,
                      struct ids_trace *from) {
    uint64_t *places = calloc(from->counter_count + 1, sizeof *places);
    size_t *taken = calloc(from->counter_count + 1, sizeof *taken);
    int failed = !places || !taken;
    for (size_t c = 0; c < from->counter_count && !failed; c++)
        failed = take_counter(map, trace, &from->counters[c], &places[c]);
    for (size_t i = 0; i < from_map->order_count && !failed; i++) {
        uint32_t c = from_map->order[i];
        if (!places[c] || taken[c] == from->counters[c].sample_count) continue;
        failed = keep_sample(map, trace, &trace->counters[places[c] - 1], from->counters[c].samples[taken[c]++]);
    }
    free(places);
    free(taken);
    return failed ? -1 : 0;
}

static int by_time(const void *a, const void *b) {
    int64_t left = ((const struct ids_counter_sample *)a)->at_ps, right = ((const struct ids_counter_sample *)b)->at_ps;
    return (left > right) - (left < right);
}

void ids_counters_order(struct ids_trace *trace) {
    for (size_t c = 0; c < trace->counter_count; c++) {
        struct ids_counter *counter = &trace->counters[c];
        if (counter->sample_count) qsort(counter->samples, counter->sample_count, sizeof *counter->samples, by_time);
    }
}

const char *ids_counter_name(const struct ids_trace *trace, const struct ids_counter *counter, char *room,
                             size_t size) {
    const char *name = ids_trace_text(trace, counter->name);
    if (!counter->series) return name;
    snprintf(room, size, "%s: %s", name, ids_trace_text(trace, counter->series));
    return room;
}
