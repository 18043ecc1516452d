/* program_runs.h - the executions of compiled programs on each device: as the device says, as calls and run ids of its
 * ops say, else as the ops themselves repeat. */
#ifndef IDS_LIB_ANALYSIS_PROGRAM_RUNS_H
#define IDS_LIB_ANALYSIS_PROGRAM_RUNS_H

#include "lib/model/trace.h"

/* One execution of any program. */
struct ids_program_run {
    int64_t start_ps, end_ps, work_ps;
    uint32_t program; /* text of ids_program_runs.programs */
};

struct ids_device_runs {
    struct ids_program_run *at; /* by program, then by end */
    size_t count, room;
    int64_t work_ps;
};

struct ids_program_runs {
    const struct ids_trace *trace;
    struct ids_strings programs;       /* names without the numbers that compilations have */
    struct ids_device_runs *of_device; /* by trace->devices; empty where a device does not count */
};

/* 0, or -1 when memory ran out; the caller ends it in both cases. */
int ids_program_runs_find(const struct ids_trace *trace, struct ids_program_runs *ret_runs);
void ids_program_runs_done(struct ids_program_runs *runs);

#endif
