/* run_files.h - which files make up a run.
 *
 * A run is a file, a folder `plugins/profile/<timestamp>` with one file per host, or the newest such folder anywhere
 * below a log folder. A tar or zip is searched like a folder of that name (archive.h), also inside a log folder. There
 * a packed tar of more than 256 MiB is left out with a note, because reading its list takes seconds.
 *
 * Endings that say what a file is (".xplane.pb", ".trace.json.gz"): such files of one folder are one run, and what
 * stands before the ending names the host. Of a host that is there in several forms the best is read; the others are
 * `also`.
 *
 * Generic endings (".json"): such a file counts only if its content is a profile, and not beside one of the above in a
 * folder `profile/<timestamp>`, nor where it is JAX's perfetto_trace. Each is a run of its own, but for the ranks of
 * one job:
 *   - names that differ only in the number behind "rank" or "worker" ("sampled_rank-0.json.gz"), and in times of ten
 *     digits or more;
 *   - names as PyTorch gives them, `<worker>.<time>.pt.trace.json[.gz]`, whatever the worker is called.
 * Of these one run takes each rank once, and only files whose times lie within 5 minutes of its first one: a worker
 * that writes a profile again begins another run. A file that is there packed and plain is taken once, and the other is
 * `also`.
 *
 * Partials (*.idspart) are one run where no other profiles lie beside them. Among profiles each is what it was made of,
 * by the name that it recorded: a host of their run, or passed over (`also`) where that profile, or another form of the
 * same host, is there too.
 */
#ifndef IDS_LIB_IO_RUN_FILES_H
#define IDS_LIB_IO_RUN_FILES_H

#include "lib/io/run_archive.h"
#include "lib/io/run_list.h"
#include "lib/io/source.h"

/* Every run at or below `path` (a file, an archive, a run folder, a log folder). "-" is standard input. IDS_NOT_FOUND
 * with a message that says what was looked for when there is none; IDS_IO when the path, or every folder that could
 * hold a run, cannot be read (a folder beside runs that were found is counted as unreadable). Symbolic links to folders
 * are followed for `path` alone; depth and number of entries are limited. */
int ids_runs_find(const char *path, const struct ids_run_kinds *kinds, struct ids_run_list *ret_list,
                  struct ids_error *err);
void ids_run_list_done(struct ids_run_list *list);
/* Takes the i-th run out of the list. */
void ids_run_list_drop(struct ids_run_list *list, size_t i);

#endif
