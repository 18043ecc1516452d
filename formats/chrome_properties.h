/* chrome_properties.h - what a Chrome trace says outside of traceEvents: devices, rank, clock. */
#ifndef IDS_FORMATS_CHROME_PROPERTIES_H
#define IDS_FORMATS_CHROME_PROPERTIES_H

#include "formats/chrome_places.h"

struct ids_chrome_properties {
    int64_t rank;         /* of distributedInfo; -1 unknown */
    int64_t ranks;        /* its world_size; 0 or -1 unknown */
    int64_t base_time_ns; /* the wall clock of time 0, where has_base_time */
    int has_base_time;
    uint32_t host;   /* as idsprof wrote it down; 0 unknown */
    uint64_t unread; /* members that were too large or no JSON, and were left out */
};

/* 1 for a member of that name that is worth reading. */
int ids_chrome_property_wanted(const struct ids_json_span *key);
/* Reads such a member. Kineto's deviceProperties go to places->devices. */
int ids_chrome_property(struct ids_chrome_places *places, const struct ids_json_span *key,
                        const struct ids_json_span *value, struct ids_chrome_properties *properties,
                        struct ids_error *err);

#endif
