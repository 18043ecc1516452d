/* extract_files.h - the files of a run as `idsprof extract` sees them: what is copied raw, and what a profile is called. */
#ifndef IDS_CMD_EXTRACT_FILES_H
#define IDS_CMD_EXTRACT_FILES_H

#include "lib/io/run_files.h"

struct ids_member {
    char *path;
    uint64_t bytes;
};

struct ids_members {
    struct ids_member *at; /* by name */
    size_t count, room;
};

/* A run that is a file: that file. A run that is a folder: every profile in it, and what profilers lay beside them (other formats,
 * HLO, tools' results): regular files whose names end in .pb, .json, .pftrace or these with .gz. */
int ids_members_of(const struct ids_run_files *run, struct ids_members *ret_members, struct ids_error *err);
void ids_members_done(struct ids_members *members);

#endif
