/* history_file.h - the history that an agent wrote of its process (collectors/common/history.h), read back: whatever is
 * in the file, steps come in order and have ends. */
#ifndef IDS_LIB_CAPTURE_HISTORY_FILE_H
#define IDS_LIB_CAPTURE_HISTORY_FILE_H

#include "collectors/common/history.h"
#include "lib/base/error.h"

struct ids_history_file {
    struct ids_history_head head;   /* its text ends */
    struct ids_history_step *steps; /* the oldest first */
    size_t step_count;
    struct ids_history_event *events; /* likewise; their names end */
    size_t event_count;
};

/* Reads FOLDER/name. 0, also with no step at all; the file is the caller's to end then. */
int ids_history_file_read(int folder, const char *name, struct ids_history_file *ret_file, struct ids_error *err);
void ids_history_file_done(struct ids_history_file *file);

#endif
