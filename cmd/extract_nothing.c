/* `extract` whose options leave nothing: what the run has instead. */
#include "cmd/command.h"
#include "cmd/extraction.h"
#include "lib/analysis/times.h"
#include "lib/base/counted.h"
#include "lib/cli/progress.h"
#include "lib/cli/say.h"
#include "lib/report/report.h"
#include "lib/run/open_run.h"

#include <stdio.h>
#include <string.h>

enum { NAMED = 8 }; /* devices; of more, how many */

static int64_t last_moment(const struct ids_trace *trace) {
    int64_t last_ps = INT64_MIN;
    for (size_t d = 0; d < trace->device_count; d++) {
        struct ids_cursor cursor = ids_cursor_over(&trace->devices[d].activity);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));)
            if (event->end_ps > last_ps) last_ps = event->end_ps;
    }
    return last_ps;
}

/* ": GPU:0, GPU:1 and 2 more"; without devices nothing. */
static void name_devices(const struct ids_trace *trace, char *text, size_t room) {
    size_t used = 0;
    *text = '\0';
    for (size_t d = 0; d < trace->device_count && d < NAMED && used < room; d++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", d ? ", " : ": ", trace->devices[d].label);
    if (trace->device_count > NAMED && used < room)
        snprintf(text + used, room - used, " and %zu more", trace->device_count - NAMED);
}

int ids_extract_nothing(struct ids_extraction *extraction, struct ids_error *err) {
    struct ids_times times;
    struct ids_trace *trace;
    const char *format;
    char devices[512], window[IDS_VALUE_ROOM];
    if (!strcmp(extraction->run->path, "-")) { /* it cannot be read again */
        ids_say("extract", "nothing in the run is as these options want it");
        return IDS_EXIT_NO;
    }
    int code = ids_open_trace(&extraction->engine, extraction->run, INT64_MAX, &trace, &format, err);
    if (!code) code = ids_times_of(trace, &times, err);
    ids_progress_end();
    if (code) return code;
    int64_t last_ps = last_moment(trace);
    name_devices(trace, devices, sizeof devices);
    ids_value_format(ids_int_value(IDS_UNIT_TIME, last_ps > times.first_ps ? last_ps - times.first_ps : 0), window,
                     sizeof window);
    ids_say("extract",
            "nothing in '%s' is as these options want it: it has %s%s, active from 0 to %s; nothing was written",
            extraction->run->path, IDS_COUNTED(trace->device_count, "device"), devices, window);
    ids_times_done(&times);
    ids_trace_free(trace);
    return IDS_EXIT_NO;
}
