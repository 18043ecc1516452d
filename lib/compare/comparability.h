/* comparability.h - whether runs can be compared at all, before any figure is.
 *
 * UNLIKE: a figure would be a percentage of unlike things (other devices, another number of them, no program in common, nothing
 * recorded). WARNING: figures hold with care (a file that is cut, other tracer levels, throttling, warm-up inside, no steps). NOTE: good
 * to know (versions, numbers of steps).
 */
#ifndef IDS_LIB_COMPARE_COMPARABILITY_H
#define IDS_LIB_COMPARE_COMPARABILITY_H

#include "lib/compare/side.h"

enum ids_finding_severity { IDS_FINDING_NOTE, IDS_FINDING_WARNING, IDS_FINDING_UNLIKE };

struct ids_finding {
    enum ids_finding_severity severity;
    const char *id;   /* stable: "devices.model" */
    const char *text; /* for people */
};

struct ids_findings {
    struct ids_finding *at; /* unlike first, then warnings, then notes */
    size_t count, room;
    int unlike; /* there is one of that severity */
};

const char *ids_finding_severity_name(enum ids_finding_severity severity);

/* Looks at the settled sides; texts live in `texts`. `same_devices` 0: the number of devices may differ (scale). */
int ids_findings_make(const struct ids_side *const *sides, size_t count, int same_devices, struct ids_report *texts,
                      struct ids_findings *ret_findings, struct ids_error *err);
void ids_findings_done(struct ids_findings *findings);

#endif
