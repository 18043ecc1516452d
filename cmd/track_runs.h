/* track_runs.h - runs of a series (lib/report/series.h): how they come in, and which of them are meant. */
#ifndef IDS_CMD_TRACK_RUNS_H
#define IDS_CMD_TRACK_RUNS_H

#include "lib/cli/opt.h"
#include "lib/render/course_text.h"
#include "lib/report/series.h"
#include "lib/run/open_sides.h"

/* What `track add` says of the runs beside what they say themselves. */
struct ids_track_labels {
    const struct ids_opt_texts *given; /* KEY=VALUE */
    const char *file;                  /* lines KEY=VALUE; may be NULL */
    const char *date;                  /* may be NULL */
};

struct ids_track_added {
    size_t replaced, redated; /* in place of what was there; of these with another date */
    int64_t was, is;          /* of the last one with another date */
};

/* Whether the labels and the date can be given to runs at all; before the runs are read. */
int ids_track_check_labels(const struct ids_track_labels *labels, struct ids_error *err);

/* Adds each run of the side with its figures and labels. A recording that is there already, under whatever name, is
 * replaced, and keeps the labels that are not given again. One of which something is missing has the label
 * `incomplete`. */
int ids_track_add_runs(struct ids_series *series, const struct ids_open_side *runs,
                       const struct ids_track_labels *labels, struct ids_track_added *ret_added, struct ids_error *err);

/* Leaves only runs with all these labels (KEY=VALUE, VALUE may be a glob; devices, name and program are labels too). */
int ids_track_keep(struct ids_series *series, const struct ids_opt_texts *where, struct ids_error *err);
/* Leaves only whole runs, should there be one, and of these those on the devices that most of the last ones have. */
struct ids_track_notes {
    struct ids_course_note at[2]; /* what was left out */
    size_t count;
};
void ids_track_keep_comparable(struct ids_series *series, struct ids_track_notes *notes);

/* The runs that a text means: a name or glob of names, a date 2026-10-11, or DATE..DATE (either may be left out).
 * *ret_at is the caller's to free. IDS_NOT_FOUND when there is none. */
int ids_track_pick(const struct ids_series *series, const char *text, size_t **ret_at, size_t *ret_count,
                   struct ids_error *err);
/* "2026-10-11" or "2026-10-11T04:00:00", UTC. */
int ids_track_date(const char *text, int64_t *ret_unix_s, struct ids_error *err);

#endif
