/* baseline.h - figures of runs kept under a name, to hold later runs to: metrics, steps, ledger and ops, no traces.
 *
 * A baseline is a file NAME.db in $XDG_DATA_HOME/idsprof/baselines (default ~/.local/share), a plain SQLite database.
 * It does not depend on the version of the program: figures that a later one adds are missing in it.
 */
#ifndef IDS_LIB_STORE_BASELINE_H
#define IDS_LIB_STORE_BASELINE_H

#include "lib/report/report.h"

/* What was done to a baseline: it was saved, or a figure's change was accepted (then it has a reason). */
struct ids_baseline_event {
    int64_t unix_s, runs;
    const char *program;
    const char *id;                 /* the figure; of a save that of the step time, NULL without steps */
    struct ids_value value, before; /* of the figure; `before` of an acceptance */
    const char *reason;             /* NULL: it was saved */
};

struct ids_baseline {
    char *name, *path, *program;
    int64_t saved_unix_s;
    struct ids_report *reports; /* properties, metrics, and the tables that a comparison reads */
    size_t count, room;
    struct ids_baseline_event *events; /* the oldest first; they outlive a save over an older one */
    size_t event_count, event_room;
    struct ids_arena arena; /* of the events' texts */
};

/* 1 when a name may be that of a baseline: letters, digits, '.', '_', '-', not beginning with a '.'. */
int ids_baseline_is_name(const char *name);
/* IDS_USAGE when there is one of that name and not `force`. *ret_path is the caller's to free. */
int ids_baseline_save(const char *name, const struct ids_report *const *reports, size_t count, int force,
                      int64_t now_unix_s, char **ret_path, struct ids_error *err);
/* IDS_NOT_FOUND when there is none of that name. The caller ends it when 0 is returned. */
int ids_baseline_load(const char *name, const struct ids_table_def *(*find_table)(const char *id),
                      struct ids_baseline *ret_baseline, struct ids_error *err);
void ids_baseline_done(struct ids_baseline *baseline);
/* Adds the acceptance of a change to a loaded baseline and its file. Its texts must outlive the baseline. */
int ids_baseline_accept(struct ids_baseline *baseline, const struct ids_baseline_event *event, struct ids_error *err);
int ids_baseline_remove(const char *name, struct ids_error *err);

/* The names, sorted; `at` and its texts are the caller's to free (ids_baseline_names_done). */
struct ids_baseline_names {
    char **at;
    size_t count, room;
};
int ids_baseline_names_list(struct ids_baseline_names *ret_names, struct ids_error *err);
void ids_baseline_names_done(struct ids_baseline_names *names);

#endif
