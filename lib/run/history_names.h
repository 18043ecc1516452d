/* history_names.h - which of the histories in the notes of a capture are of a run's processes. */
#ifndef IDS_LIB_RUN_HISTORY_NAMES_H
#define IDS_LIB_RUN_HISTORY_NAMES_H

#include "lib/capture/seen.h"
#include "lib/io/run_files.h"

#include <dirent.h>

enum { IDS_HISTORY_NAMES = 4096 };

/* The names of the histories in `notes`, in order; each is the caller's to free. Programs that run one after the other
 * under one capture have a run each, and steps of one say nothing of another's: of a run those count whose process
 * wrote one of its files, and beside ranks those of ranks that wrote nothing at all. All of them, where of none it is
 * known that its process wrote one of the run's files, and without a run (NULL). */
size_t ids_history_names(DIR *notes, const struct ids_seen *seen, const struct ids_run_files *run,
                         char *ret_names[IDS_HISTORY_NAMES]);
/* The window of the process that is one of the run's files; run NULL: any that was written. NULL: there is none. */
const struct ids_seen_window *ids_history_window(const struct ids_seen_process *process,
                                                 const struct ids_run_files *run);

#endif
