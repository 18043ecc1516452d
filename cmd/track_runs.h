/* track_runs.h - runs of a series (lib/report/series.h): how they come in, and which of them are meant. */
#ifndef IDS_CMD_TRACK_RUNS_H
#define IDS_CMD_TRACK_RUNS_H

#include "lib/cli/opt.h"
#include "lib/report/series.h"
#include "lib/run/open_sides.h"

/* What `track add` says of the runs beside what they say themselves. */
struct ids_track_labels {
    const struct ids_opt_texts *given; /* KEY=VALUE */
    const char *file;                  /* lines KEY=VALUE; may be NULL */
    const char *date;                  /* may be NULL */
};

/* Adds each run of the side with its figures and labels. One that is there already (of the same path and time) is
 * replaced: *ret_replaced counts them. */
int ids_track_add_runs(struct ids_series *series, const struct ids_open_side *runs,
                       const struct ids_track_labels *labels, size_t *ret_replaced, struct ids_error *err);

/* Leaves only runs with all these labels (KEY=VALUE, VALUE may be a glob; devices, name and program are labels too). */
int ids_track_keep(struct ids_series *series, const struct ids_opt_texts *where, struct ids_error *err);
/* Leaves only runs on the devices that the last one has, and says how many are left out in `text`; "": none. */
enum { IDS_TRACK_NOTE = 512 };
void ids_track_keep_devices(struct ids_series *series, char text[IDS_TRACK_NOTE]);

/* The runs that a text means: a name or glob of names, a date 2026-10-11, or DATE..DATE (either may be left out).
 * *ret_at is the caller's to free. IDS_NOT_FOUND when there is none. */
int ids_track_pick(const struct ids_series *series, const char *text, size_t **ret_at, size_t *ret_count,
                   struct ids_error *err);
/* "2026-10-11" or "2026-10-11T04:00:00", UTC. */
int ids_track_date(const char *text, int64_t *ret_unix_s, struct ids_error *err);

#endif
