/* staging.h - when a runtime's pool threads put data on devices for another thread. */
#ifndef IDS_LIB_ANALYSIS_STAGING_H
#define IDS_LIB_ANALYSIS_STAGING_H

#include "lib/model/trace.h"

struct ids_stagings {
    struct ids_staging {
        int64_t from_ps, to_ps;
        uint32_t host, doing; /* doing: of the thread that asked for it, index of ids_trace.doings */
    } * at;                   /* by host, in order of time, one at a time */
    size_t count, room;
};

/* 0, or -1 when memory ran out; ids_stagings_done may be called in both cases. */
int ids_stagings_find(struct ids_stagings *stagings, const struct ids_trace *trace);
void ids_stagings_done(struct ids_stagings *stagings);

/* The first one of the host that ends after that moment, or NULL. */
const struct ids_staging *ids_stagings_after(const struct ids_stagings *stagings, uint32_t host, int64_t when_ps);

#endif
