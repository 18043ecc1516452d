/* step_periods.c - steps of a program that nothing marks: from execution to execution. */
#include "lib/analysis/step_sources.h"

#include "lib/base/vec.h"

/* From the end of each execution to that of the next one. What came before the first of them is no step: nothing
 * says when it began. */
int ids_steps_of_periods(struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_steps *steps = &analysis->steps;
    int code = ids_period_find(trace, &steps->period, err);
    if (code || *steps->period.why) return code;
    for (size_t d = 0; d < trace->device_count; d++) {
        const struct ids_executions *executions = &steps->period.of_device[d];
        struct ids_device_steps *own = &steps->of_device[d];
        *(executions->count ? &steps->assigned : &steps->unassigned) += trace->devices[d].activity.count;
        for (size_t i = 1; i < executions->count; i++) {
            size_t index = executions->first + i - 1;
            while (steps->count <= index) {
                struct ids_step *step = IDS_PUSH(steps->at, steps->count, steps->room);
                if (!step) return ids_no_memory(err);
                *step = (struct ids_step){.number = (int64_t)steps->count - 1,
                                          .start_ps = INT64_MAX,
                                          .end_ps = INT64_MIN,
                                          .work_ps = INT64_MAX,
                                          .last_ps = INT64_MIN};
            }
            struct ids_device_step *there = IDS_PUSH(own->at, own->count, own->room);
            if (!there) return ids_no_memory(err);
            *there = (struct ids_device_step){(uint32_t)index, executions->at[i - 1].end_ps, executions->at[i].end_ps};
            ids_step_stretch(&steps->at[index], there->from_ps, there->to_ps);
        }
    }
    return 0;
}
