/* extract_files.h - the files of a run as `idsprof extract` sees them: what is copied raw, and what a profile is
 * called. */
#ifndef IDS_LIB_RUN_EXTRACT_FILES_H
#define IDS_LIB_RUN_EXTRACT_FILES_H

#include "lib/io/run_files.h"

struct ids_members {
    struct ids_run_file *at; /* by name; their texts are of the run, or of `found` */
    size_t count, room;
    struct ids_run_file *found; /* what lies beside the profiles */
    size_t found_count, found_room;
};

/* A run that is a file: that file. A run that is a folder, on the disk or in an archive: every profile in it, and what
 * profilers lay beside them (other formats, HLO, tools' results): plain files whose names end in .pb, .json, .pftrace
 * or these with .gz. The run must live. */
int ids_members_of(const struct ids_run_files *run, struct ids_members *ret_members, struct ids_error *err);
void ids_members_done(struct ids_members *members);

#endif
