/* advise_on_start.c - what the program does once, before its devices do anything, and what is not done again: the
 * runtime's first call, and the recording of a graph. */
#include "analyzers/advise_on.h"
#include "analyzers/runtime_calls.h"
#include "lib/model/account.h"
#include "lib/model/doings.h"

#include <stdlib.h>

/* Shorter calls are not what a person waits for. */
#define LONG_PS ((int64_t)1000000000000) /* a second */

struct longest {
    uint32_t doing;
    int64_t from_ps, to_ps;
};

/* The longest call of the runtime that is over when devices begin. */
static void look_at_thread(const struct ids_analysis *analysis, const struct ids_timeline *timeline,
                           struct longest *longest) {
    const struct ids_trace *trace = analysis->trace;
    ids_timeline_read(timeline);
    for (size_t i = 0; i + 1 < timeline->count && timeline->from_ps[i + 1] <= analysis->first_ps; i++) {
        int64_t length_ps = timeline->from_ps[i + 1] - timeline->from_ps[i];
        const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
        if (length_ps < LONG_PS || length_ps <= longest->to_ps - longest->from_ps || doing->name == IDS_NONE) continue;
        if (!ids_is_device_call(ids_strings_text(&trace->strings, trace->names[doing->name].text))) continue;
        *longest = (struct longest){timeline->doing[i], timeline->from_ps[i], timeline->from_ps[i + 1]};
    }
}

void ids_advise_on_start(struct ids_adviser *adviser) {
    const struct ids_analysis *analysis = adviser->analysis;
    const struct ids_trace *trace = analysis->trace;
    struct longest longest = {IDS_NO_DOING, 0, 0};
    for (size_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].role == IDS_TRACK_HOST) look_at_thread(analysis, &trace->tracks[t].timeline, &longest);
    }
    if (longest.doing == IDS_NO_DOING) return;
    const char *call = ids_trace_text(trace, trace->names[trace->doings[longest.doing].name].text);
    ids_adviser_give(
        adviser,
        &(struct ids_advice){
            .saves_ps = -1,
            .per_step = adviser->pieces.steps > 0,
            .culprit = call,
            .what = ids_report_text(adviser->report,
                                    "Before the first device activity the host was %s in one call of the runtime: %s - "
                                    "a program's first call makes the device's context; it is done once, and no part "
                                    "of the window: leave it out of what you measure",
                                    ids_say_time(adviser, longest.to_ps - longest.from_ps), call),
            .evidence = ids_report_text(adviser->report, "begun %s before the first device activity",
                                        ids_say_time(adviser, analysis->first_ps - longest.from_ps)),
            .explain = "run.window",
        });
}
