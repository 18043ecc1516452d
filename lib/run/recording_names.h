/* recording_names.h - which method and how many devices the path of each recording names, read beside the others'.
 *
 * The folders that all paths share say nothing. In the others a number is that of devices
 *   - beside a word for devices: 4gpu_20260102/lcam_trace, lcam_4gpu, gpus=4;
 *   - else where such numbers (n4, 8, np2) agree with the devices in most of the traces: lcam/n4, results/8/tad.
 * What is left is the method, but for times, steps, numbers of repeats (run2, seed_7), words like "trace", and folders
 * that every path has.
 */
#ifndef IDS_LIB_RUN_RECORDING_NAMES_H
#define IDS_LIB_RUN_RECORDING_NAMES_H

#include "lib/base/error.h"

#include <stddef.h>

struct ids_recording_name {
    const char *path; /* given */
    double recorded;  /* given: the devices in the trace, 0 where it does not tell */
    int is_labelled;  /* given: the user named the method, so that the path need not resemble the others */
    int is_folder;    /* given: no run, but a folder that should hold one: it tells nothing of the others */
    double devices;   /* found: 0 where the path names none */
    char method[160]; /* found: "" where the path names none */
};

int ids_recording_names_read(struct ids_recording_name *names, size_t count, struct ids_error *err);

#endif
