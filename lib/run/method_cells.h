/* method_cells.h - from what a user names to a table of methods and numbers of devices, each cell with its recordings.
 *
 * Labels and --devices go above everything. Else the name of a recording (recording_names.h) says its method, and the
 * devices in its trace count. A trace that holds one part of a run only, because its collectives had more ranks, leaves
 * the number to the name.
 */
#ifndef IDS_LIB_RUN_METHOD_CELLS_H
#define IDS_LIB_RUN_METHOD_CELLS_H

#include "lib/compare/scale.h"
#include "lib/run/recordings.h"

struct ids_method_cells {
    struct ids_scale_input *at; /* method by method, in the order of the labels, else of the alphabet */
    size_t count;
    struct ids_recordings recordings;
    struct ids_scale_trace *traces; /* those of one cell together */
    struct ids_side *sides;
    const struct ids_report **reports;
    const char **notes; /* names that contradict their traces, and folders that were left out */
    size_t note_count;
};

/* `devices`: a number for each operand ("1,2,4,8"), or NULL. `methods`: those wanted, in their order ("lcam,tad"), or
 * NULL. The caller ends the cells when 0 is returned. */
int ids_method_cells_open(struct ids_engine *engine, char *const *operands, int count, const char *devices,
                          const char *methods, struct ids_method_cells *ret_cells, struct ids_error *err);
void ids_method_cells_done(struct ids_method_cells *cells);

#endif
