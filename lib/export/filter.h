/* filter.h - a sink in front of another one that lets only a part of the events pass.
 *
 * Tracks, names and devices that are not asked for do not reach the next sink at all; nor do names that --name leaves
 * out, unless they hold a program. The planes /host:metadata and "Task Environment" tell about the run and always pass.
 */
#ifndef IDS_LIB_EXPORT_FILTER_H
#define IDS_LIB_EXPORT_FILTER_H

#include "lib/model/sink.h"

/* Globs as fnmatch(3) knows them, '/' being a letter like others. None of a kind: all pass. */
struct ids_globs {
    const char *const *at;
    size_t count;
};

struct ids_filter_params {
    int64_t from_ps, to_ps;  /* in the times of the file's slices; events that overlap [from, to) pass */
    int64_t min_duration_ps; /* slices shorter than this do not; events that are no slices do */
    struct ids_globs names;  /* of an event: its name or its display name */
    struct ids_globs tracks; /* of a track: its name, or "<plane>/<its name>" */
    /* Of a device: its plane's name, "GPU:0" without what stands before, or the number alone; of the CPU client's ops,
     * which lie on a host's plane, "CPU:0", "CPU#0" or the number. */
    struct ids_globs devices;
};

struct ids_filter;

void ids_filter_params_default(struct ids_filter_params *params);
/* 1 when everything passes. */
int ids_filter_params_are_default(const struct ids_filter_params *params);
/* 1 when the text matches one of the globs. */
int ids_globs_match(const struct ids_globs *globs, const char *text);

/* The globs stay the caller's. */
int ids_filter_new(struct ids_sink *next, const struct ids_filter_params *params, struct ids_filter **ret_filter,
                   struct ids_error *err);
struct ids_sink *ids_filter_sink(struct ids_filter *filter);
void ids_filter_free(struct ids_filter *filter);

#endif
