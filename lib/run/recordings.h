/* recordings.h - all runs of some operands, also those that cannot be used, and folders in which a run is missing.
 *
 * An operand is a path, a pattern, or either with a label in front: `lcam=runs/a` (method), `4=runs/b` (devices),
 * `lcam:4=runs/c` (both). What exists under its whole name is a path, whatever it contains.
 */
#ifndef IDS_LIB_RUN_RECORDINGS_H
#define IDS_LIB_RUN_RECORDINGS_H

#include "lib/base/arena.h"
#include "lib/report/report.h"
#include "lib/run/engine.h"

struct ids_recording {
    const char *path, *name; /* of the run; of a folder without one its own */
    size_t operand;
    const char *method; /* the operand's label; NULL: none */
    double devices;     /* as well; 0: none */
    struct ids_report report;
    const char *why; /* the run cannot be used; its report is empty. NULL: it can */
    int is_read;     /* there is a report */
    int is_folder;   /* no run at all: a folder that holds none, beside folders that do */
};

struct ids_recordings {
    struct ids_recording *at;
    size_t count, room;
    struct ids_arena arena; /* of texts */
};

/* An operand that cannot be opened is a recording that cannot be used, unless it is the only one. The caller ends the
 * recordings when 0 is returned. */
int ids_recordings_open(struct ids_engine *engine, char *const *operands, int count,
                        struct ids_recordings *ret_recordings, struct ids_error *err);
void ids_recordings_done(struct ids_recordings *recordings);

#endif
