/* comparability.h - whether runs can be compared at all, before any figure is.
 *
 * UNLIKE: a figure would be a percentage of unlike things (other devices, another number of them, no program in common,
 * nothing recorded). WARNING: figures hold with care (a file that is cut, other tracer levels, throttling, warm-up
 * inside, no steps). NOTE: good to know (versions, numbers of steps).
 */
#ifndef IDS_LIB_COMPARE_COMPARABILITY_H
#define IDS_LIB_COMPARE_COMPARABILITY_H

#include "lib/compare/side.h"

enum ids_remark_severity { IDS_REMARK_NOTE, IDS_REMARK_WARNING, IDS_REMARK_UNLIKE };

struct ids_remark {
    enum ids_remark_severity severity;
    const char *id;   /* stable: "devices.model" */
    const char *text; /* for people */
};

struct ids_remarks {
    struct ids_remark *at; /* unlike first, then warnings, then notes */
    size_t count, room;
    int unlike; /* there is one of that severity */
};

const char *ids_remark_severity_name(enum ids_remark_severity severity);

/* What must be alike, or figures would be percentages of unlike things. */
enum ids_alike {
    IDS_ALIKE_PROGRAMS, /* a program; the number of devices may differ */
    IDS_ALIKE_DEVICES,  /* that number too */
    IDS_ALIKE_NOTHING,  /* methods: another program or other hardware is a remark */
};

/* Looks at the settled sides; texts live in `texts`. */
int ids_remarks_make(const struct ids_side *const *sides, size_t count, enum ids_alike alike, struct ids_report *texts,
                     struct ids_remarks *ret_remarks, struct ids_error *err);
/* Adds one that the caller found; `text` must outlive the remarks. */
int ids_remarks_add(struct ids_remarks *remarks, enum ids_remark_severity severity, const char *id, const char *text,
                    struct ids_error *err);
void ids_remarks_done(struct ids_remarks *remarks);

/* "other GPU: NVIDIA H100 -> AMD Instinct MI300X" (with an arrow); NULL: the sides ran on the same, or it is not
 * known. */
const char *ids_other_devices(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts);

/* The remarks for programs: the table "findings", which comes first in every report of a comparison. */
extern const struct ids_table_def ids_findings_table;
void ids_remarks_list(const struct ids_remarks *remarks, struct ids_report *report);

#endif
