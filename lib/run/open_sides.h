/* open_sides.h - from what a user calls the sides of a comparison to their reports.
 *
 * A side is a run, a folder or archive with several runs, or a pattern ('lcam_*', which the shell would else make many
 * operands of): then all of its runs, recordings of the same thing.
 */
#ifndef IDS_LIB_RUN_OPEN_SIDES_H
#define IDS_LIB_RUN_OPEN_SIDES_H

#include "lib/compare/side.h"
#include "lib/run/engine.h"
#include "lib/run/run_label.h"

struct ids_open_side {
    const char *path; /* as the user called it: of several operands the first */
    char *label;      /* for people */
    struct ids_report *reports;
    const struct ids_report **pointers;
    struct ids_run_label *labels; /* what the path of each run says */
    size_t count, room;
    struct ids_side side; /* not settled */
};

struct ids_open_options {
    int64_t newest; /* only so many of an operand's runs, the newest; 0 all */
    int by_step;    /* a side's runs by the step that their paths name, then by time: the order of training */
};

/* All runs of these operands as one side. A run of a folder or pattern that cannot be read is noted and left out. The
 * paths must outlive the side, which is the caller's to end when 0 is returned. */
int ids_open_side(struct ids_engine *engine, char *const *paths, int count, const struct ids_open_options *options,
                  struct ids_open_side *ret_side, struct ids_error *err);
void ids_open_side_done(struct ids_open_side *side);

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
