#include "lib/model/collective_runs.h"

#include "lib/base/keymap.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"
#include "lib/hlo/replica_groups.h"

#include <stdlib.h>

uint64_t ids_collective_key(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->op == IDS_NONE || trace->ops[event->op].framework) { /* a framework's op may launch any of them */
        uint32_t groups = event->shape == IDS_NONE ? 0 : trace->shapes[event->shape].groups;
        return ids_key_of(ids_key_of(ids_key_of(trace->names[event->name].text, groups), event->collective), 1);
    }
    const struct ids_op *op = &trace->ops[event->op];
    uint32_t module = op->module == IDS_NONE ? 0 : trace->modules[op->module].name;
    return ids_key_of(ids_key_of(module, op->name), 2);
}

int ids_is_collective_run(const struct ids_trace *trace, const struct ids_event *event) {
    return event->collective && event->class == IDS_CLASS_COLLECTIVE &&
           (event->kind == IDS_KIND_COPY || event->op == IDS_NONE || !trace->ops[event->op].marker);
}

/* The -done of an async collective: it ends with it, unless the collective was over before. */
static int is_done(const struct ids_trace *trace, const struct ids_event *event) {
    return event->class == IDS_CLASS_STALL && event->op != IDS_NONE && trace->ops[event->op].collective;
}

/* --- steps of a host --------------------------------------------------------------------------------------------- */

/* Step annotations of one host, or the steps of a device's own line, in time order. */
struct marks {
    const struct ids_event **at;
    size_t count, room;
};

static int by_start(const void *a, const void *b) {
    const struct ids_event *left = *(const struct ids_event *const *)a, *right = *(const struct ids_event *const *)b;
    return (left->start_ps > right->start_ps) - (left->start_ps < right->start_ps);
}

static int gather_marks(const struct ids_trace *trace, struct marks *marks) {
    for (size_t t = 0; t < trace->track_count; t++) {
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, IDS_KINDS(IDS_KIND_STEP_MARK));
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_STEP_MARK) continue;
            struct marks *own = &marks[trace->tracks[t].host];
            const struct ids_event **added = IDS_PUSH(own->at, own->count, own->room);
            if (!added) return -1;
            *added = event;
        }
    }
    for (size_t h = 0; h < trace->host_count; h++) {
        if (marks[h].count) qsort(marks[h].at, marks[h].count, sizeof *marks[h].at, by_start);
    }
    return 0;
}

/* A number that stands for the step around the moment; 0 when there is none. */
static uint64_t step_at(const struct ids_trace *trace, const struct marks *marks, int64_t when_ps) {
    size_t low = 0, high = marks->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks->at[middle]->start_ps <= when_ps)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || marks->at[low - 1]->end_ps <= when_ps) return 0;
    const struct ids_event *mark = marks->at[low - 1];
    return ids_key_of(trace->names[mark->name].text, (uint64_t)mark->value);
}

/* The same by the device's own "Steps" line. */
static uint64_t step_on_device(const struct ids_device *device, int64_t when_ps) {
    size_t low = IDS_COUNT_UP_TO(device->steps.at, device->steps.count, start_ps, when_ps);
    const struct ids_event *step = low ? &device->steps.at[low - 1] : NULL;
    return step && when_ps < step->end_ps ? ids_key_of(1, (uint64_t)step->value) : 0;
}

/* --- runs -------------------------------------------------------------------------------------------------------- */

static int add(const struct ids_trace *trace, const struct marks *marks, const struct ids_event *event, uint64_t key,
               struct ids_collective_runs *runs) {
    struct ids_collective_run *run = IDS_PUSH(runs->at, runs->count, runs->room);
    if (!run) return -1;
    *run = (struct ids_collective_run){key, event->start_ps, event->end_ps};
    uint64_t step = event->launch ? step_at(trace, marks, event->launch->start_ps) : 0;
    if (!step) step = step_on_device(&trace->devices[event->device], event->start_ps);
    if (!step) return 0;
    struct ids_collective_run *in_step = IDS_PUSH(runs->in_steps, runs->in_steps_count, runs->in_steps_room);
    if (!in_step) return -1;
    *in_step = *run;
    in_step->key = ids_key_of(key, step);
    return 0;
}

/* `done`: take the -done of async collectives instead. */
static int gather_device(const struct ids_trace *trace, const struct ids_device *device, uint64_t place,
                         uint64_t own_devices, int done, const struct marks *marks, struct ids_collective_runs *runs) {
    const struct ids_events *lists[] = {&device->activity, &device->async};
    for (size_t l = 0; l < 2; l++) {
        struct ids_cursor cursor = ids_cursor_over(lists[l]);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (!(done ? is_done(trace, event) : ids_is_collective_run(trace, event))) continue;
            uint32_t groups = event->op == IDS_NONE ? 0 : trace->ops[event->op].groups;
            uint64_t members = ids_replica_groups_members(ids_strings_text(&trace->strings, groups));
            if (members && members <= own_devices) continue; /* it does not leave this host */
            if (add(trace, marks, event, ids_key_of(ids_collective_key(trace, event), place), runs)) return -1;
        }
    }
    return 0;
}

static int by_key(const void *a, const void *b) {
    const struct ids_collective_run *left = a, *right = b;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    return (left->end_ps > right->end_ps) - (left->end_ps < right->end_ps);
}

static int gather_host(const struct ids_trace *trace, const struct ids_device *devices, size_t count,
                       const struct marks *marks, struct ids_collective_runs *runs) {
    uint64_t own_devices = 0;
    for (size_t d = 0; d < count; d++) own_devices += devices[d].activity.count > 0;
    for (int done = 0; done < 2 && !runs->count; done++) {
        uint64_t place = 0; /* among the devices that did something: the n-th of a host is with the n-th of another */
        for (size_t d = 0; d < count; d++) {
            if (!devices[d].activity.count) continue;
            if (gather_device(trace, &devices[d], place++, own_devices, done, marks, runs)) return -1;
        }
    }
    if (runs->count) qsort(runs->at, runs->count, sizeof *runs->at, by_key);
    if (runs->in_steps_count) qsort(runs->in_steps, runs->in_steps_count, sizeof *runs->in_steps, by_key);
    return 0;
}

static int gather_all(const struct ids_trace *trace, struct marks *marks, struct ids_collective_runs *runs) {
    if (gather_marks(trace, marks)) return -1;
    for (size_t d = 0, end; d < trace->device_count; d = end) { /* devices are ordered by host */
        uint32_t host = trace->devices[d].host;
        for (end = d; end < trace->device_count && trace->devices[end].host == host;) end++;
        if (gather_host(trace, &trace->devices[d], end - d, &marks[host], &runs[host])) return -1;
    }
    return 0;
}

int ids_collective_runs_of(const struct ids_trace *trace, struct ids_collective_runs **ret_runs,
                           struct ids_error *err) {
    struct ids_collective_runs *runs = calloc(trace->host_count + 1, sizeof *runs);
    struct marks *marks = calloc(trace->host_count + 1, sizeof *marks);
    int failed = !runs || !marks || gather_all(trace, marks, runs);
    for (size_t h = 0; marks && h < trace->host_count; h++) free(marks[h].at);
    free(marks);
    if (failed) {
        ids_collective_runs_done(runs, trace->host_count);
        return ids_no_memory(err);
    }
    *ret_runs = runs;
    return 0;
}

void ids_collective_runs_done(struct ids_collective_runs *runs, size_t host_count) {
    for (size_t h = 0; runs && h < host_count; h++) {
        free(runs[h].at);
        free(runs[h].in_steps);
    }
    free(runs);
}
