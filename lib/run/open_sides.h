/* open_sides.h - from the operands of a comparison to the reports of its sides.
 *
 * A side is a run, or all runs of a folder, archive or pattern: several recordings of the same program. Patterns
 * ('lcam_*') are quoted, because the shell would make several operands of them.
 */
#ifndef IDS_LIB_RUN_OPEN_SIDES_H
#define IDS_LIB_RUN_OPEN_SIDES_H

#include "lib/analysis/params.h"
#include "lib/compare/side.h"
#include "lib/run/engine.h"
#include "lib/run/run_label.h"

struct ids_open_side {
    const char *path; /* as the user gave it; the first of several operands */
    char *label;      /* for people */
    char *run_path;   /* of several runs the first one, where it lies in a place of its own; else NULL */
    struct ids_report *reports;
    const struct ids_report **pointers;
    struct ids_run_label *labels; /* from the path of each run */
    size_t count, room;
    size_t left_out;      /* runs and operands that could not be read; each was said */
    struct ids_side side; /* not settled */
};

struct ids_open_options {
    int64_t newest;                  /* use only this many of an operand's runs, the newest ones; 0: all */
    const struct ids_params *params; /* which part of each run; NULL: all of it */
    int by_step; /* sort a side's runs by the step in their paths, then by time: the order of training */
    int go_on;   /* one of several operands that cannot be read is said and left out, and does not stop the others */
};

/* Opens all runs of these operands as one side. A run of a folder or pattern that cannot be read is noted and left
 * out. The paths must outlive the side. If it returns 0, the caller calls ids_open_side_done. */
int ids_open_side(struct ids_engine *engine, char *const *paths, int count, const struct ids_open_options *options,
                  struct ids_open_side *ret_side, struct ids_error *err);
void ids_open_side_done(struct ids_open_side *side);

/* A path that commands on one run take: `path` may be a pattern, or hold several runs. */
static inline const char *ids_open_side_run_path(const struct ids_open_side *side) {
    return side->run_path ? side->run_path : side->path;
}

/* Each operand as a side of its own. */
struct ids_open_sides {
    struct ids_open_side *at;
    size_t count;
};
enum { IDS_OPEN_SIDES_MOST = 64 };
int ids_open_sides(struct ids_engine *engine, char *const *paths, int count, const struct ids_open_options *options,
                   struct ids_open_sides *ret_sides, struct ids_error *err);
void ids_open_sides_done(struct ids_open_sides *sides);

#endif
