/* step_lines.c - steps of "Steps" lines, which lie on the time of their device. */
#include "lib/analysis/step_sources.h"

#include "lib/base/vec.h"

/* A "Steps" line lies on the device's own time, so there time does tell. */
int ids_steps_of_lines(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    struct ids_keymap by_number = {0};
    int code = 0;
    for (size_t d = 0; d < trace->device_count && !code; d++) {
        if (!ids_device_counts(trace, &trace->devices[d]))
            continue; /* nothing to give to steps of a chip that did nothing */
        struct ids_cursor cursor = ids_cursor_over(&trace->devices[d].steps);
        for (const struct ids_event *event; !code && (event = ids_cursor_next(&cursor));) {
            uint64_t index = steps->count;
            if (!ids_keymap_get(&by_number, ids_key_of((uint64_t)event->value, 0), &index)) {
                struct ids_step *step = IDS_PUSH(steps->at, steps->count, steps->room);
                if (!step || ids_keymap_add(&by_number, ids_key_of((uint64_t)event->value, 0), index) < 0) {
                    code = ids_no_memory(err);
                    break;
                }
                *step = (struct ids_step){.number = event->value,
                                          .start_ps = INT64_MAX,
                                          .end_ps = INT64_MIN,
                                          .work_ps = INT64_MAX,
                                          .last_ps = INT64_MIN};
            }
            ids_step_stretch(&steps->at[index], event->start_ps, event->end_ps);
            struct ids_device_steps *own = &steps->of_device[d];
            struct ids_device_step *there = IDS_PUSH(own->at, own->count, own->room);
            if (!there) {
                code = ids_no_memory(err);
                break;
            }
            /* Of lines that overlap the later one begins where the one before ends. */
            int64_t from_ps = own->count > 1 && own->at[own->count - 2].to_ps > event->start_ps
                                  ? own->at[own->count - 2].to_ps
                                  : event->start_ps;
            *there =
                (struct ids_device_step){(uint32_t)index, from_ps, event->end_ps > from_ps ? event->end_ps : from_ps};
        }
        steps->assigned += trace->devices[d].steps.count ? trace->devices[d].activity.count : 0;
        steps->unassigned += trace->devices[d].steps.count ? 0 : trace->devices[d].activity.count;
    }
    ids_keymap_done(&by_number);
    return code;
}
