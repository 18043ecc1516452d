/* compat.h - what other profilers say of the same run, by their own definitions. */
#ifndef IDS_ANALYZERS_COMPAT_H
#define IDS_ANALYZERS_COMPAT_H

#include "lib/analysis/context.h"

struct ids_compat {
    struct ids_analysis *analysis;
    struct ids_report *report;
    const char *peer;
    int out_of_memory; /* sticky */
};

/* One figure of the peer beside ours. Shares from 0 to 1, times in seconds. */
struct ids_compat_figure {
    const char *name, *unit;
    const char *device; /* its key; NULL: over all devices */
    double theirs;
    const char *our_id; /* NULL: we have none */
    const char *per;    /* a metric that ours is divided by; NULL */
    const char *why;    /* they differ */
    int is_of_all;      /* ours is over all devices, theirs of one */
};
void ids_compat_put(struct ids_compat *compat, const struct ids_compat_figure *figure);

/* Adds [start, end) of an event, ended with the device's window where --to cuts it. */
void ids_compat_add(struct ids_spans *spans, const struct ids_busy *busy, const struct ids_event *event);

/* compat_hta.c, compat_nsys.c, compat_xprof.c: the figures of each. */
void ids_compat_hta(struct ids_compat *compat);
void ids_compat_nsys(struct ids_compat *compat);
void ids_compat_xprof(struct ids_compat *compat);

#endif
