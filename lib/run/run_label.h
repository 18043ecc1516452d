/* run_label.h - what the path of a run says about it: method, devices, step, time. */
#ifndef IDS_LIB_RUN_RUN_LABEL_H
#define IDS_LIB_RUN_RUN_LABEL_H

#include "lib/io/run_files.h"

/* Who says when a run was recorded, the best last. */
enum ids_time_source {
    IDS_TIME_OF_FILE,      /* when the newest file was written, UTC */
    IDS_TIME_OF_FOLDER,    /* the folder's name, in the clock of the machine that recorded it */
    IDS_TIME_OF_RECORDING, /* the recording itself, UTC */
};

struct ids_run_label {
    char method[64];  /* "lcam" of "4gpu_1700000000/lcam_trace"; empty: nothing but words like "trace" and "logs" */
    int64_t gpus;     /* 4 of it, whatever devices they are; -1: not said */
    const char *what; /* "GPU", "TPU", or "device" */
    int64_t step;     /* 100 of "step_00000100"; -1: not said */
    int64_t time_s;   /* since 1970 UTC, 0: not known */
    char time[24];    /* "2026-01-02 03:04:05", or empty */
    enum ids_time_source time_source;
};

/* From the run's folder upward (or its file, without the ending), plugins/profile/<time> set aside: the nearest folder
 * of three that says it. A time comes from the name of the folder <time>, else
 * from a day in the name of the run's file or folder or of the one above it ("nightly-2026-09-01"), else from the
 * files. */
void ids_label_run(const struct ids_run_files *run, struct ids_run_label *ret_label);
/* The recording says when it was made, which counts before what its path says. */
void ids_label_recorded(struct ids_run_label *label, int64_t unix_ns);
/* "file", "folder", "recording" */
const char *ids_time_source_name(enum ids_time_source source);

#endif
