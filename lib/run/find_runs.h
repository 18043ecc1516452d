/* find_runs.h - which runs there are at a path, and which of them is meant. */
#ifndef IDS_LIB_RUN_FIND_RUNS_H
#define IDS_LIB_RUN_FIND_RUNS_H

#include "lib/io/run_files.h"
#include "lib/run/engine.h"

/* Every run at or below a path that holds a format we know, or in a database of idsprof. What the engine's caller does
 * not let be opened is left out, and the path itself is refused. */
int ids_find_runs(const struct ids_engine *engine, const char *path, struct ids_run_list *ret_list,
                  struct ids_error *err);
/* Notes what below the path was left out; 1 when something could not be read (and was not left out on purpose). */
int ids_note_unreadable(const struct ids_engine *engine, const struct ids_run_list *list);
/* The run of that name (or whose path ends with it). With name NULL the newest, by the names of folders, else by
 * the times of files; of a capture that kept windows with
 * slow steps, the one with the slowest, which ids_note_choice says. */
int ids_choose_run(const struct ids_run_list *list, const char *name, const struct ids_run_files **ret_run,
                   struct ids_error *err);

void ids_note_choice(const struct ids_engine *engine, const struct ids_run_list *list);

/* Refuses a run in a database, for those who need the profile; 0 for any other run. */
int ids_need_profile(const struct ids_run_files *run, struct ids_error *err);

#endif
