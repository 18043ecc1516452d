/* choice.c - the steps and devices that a user looks at, out of all that were recorded. */
#include "lib/analysis/context.h"
#include "lib/base/counted.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By its key ("host:/device:GPU:0"), or by an end of it: "GPU:0", "0". */
int ids_device_is_chosen(const struct ids_params *params, const struct ids_device *device) {
    if (!params->device) return 1;
    for (const char *end = device->key; end;) {
        if (!strcmp(params->device, end) || !fnmatch(params->device, end, 0)) return 1;
        end = strpbrk(end, ":/#");
        if (end) end++;
    }
    return 0;
}

enum { STEPS_LEFT = 2 }; /* a mean needs as many */

/* Until the window opened the hook waited for the devices. */
int ids_first_step_opens(const struct ids_steps *steps) {
    return steps->count > STEPS_LEFT && steps->at[0].opens;
}

int ids_step_is_chosen(const struct ids_analysis *analysis, size_t at) {
    const struct ids_params *params = &analysis->params;
    int64_t opens = analysis->steps.has_left_out || ids_first_step_opens(&analysis->steps),
            number = analysis->steps.at[at].number;
    return (int64_t)at >= opens + params->skip_steps && number >= params->first_step && number <= params->last_step;
}

static int ask_for_steps(const struct ids_params *params) {
    return params->first_step != INT64_MIN || params->last_step != INT64_MAX || params->skip_steps;
}

int ids_choice_check(const struct ids_analysis *analysis, struct ids_error *err) {
    const struct ids_steps *steps = &analysis->steps;
    int64_t least = INT64_MAX, most = INT64_MIN;
    size_t opens = ids_first_step_opens(steps) ? 1 : 0;
    char why[96] = "";
    if (!ask_for_steps(&analysis->params)) return 0;
    if (!steps->count) return ids_fail(err, IDS_USAGE, "steps were asked for, and this run has none");
    for (size_t i = opens; i < steps->count; i++) {
        if (ids_step_is_chosen(analysis, i)) return 0;
        if (steps->at[i].number < least) least = steps->at[i].number;
        if (steps->at[i].number > most) most = steps->at[i].number;
    }
    if (opens)
        snprintf(why, sizeof why, "; step %" PRId64 " is not measured, because the window opened with it",
                 steps->at[0].number);
    return ids_fail(err, IDS_USAGE,
                    "none of the steps that were asked for is there; the run has %s, %" PRId64 " to %" PRId64 "%s",
                    IDS_COUNTED(steps->count - opens, "step"), least, most, why);
}
