/* publish.h - where the file of a window comes to lie.
 *
 * SESSION/.idsprof/<host>.<pid>.w<window>.part while it is written; then, synced and under a name that was free,
 *   SESSION/plugins/profile/<run>[_w<window>]/<host>_rank<rank>.xplane.pb   with a rank: all ranks of a launch beside
 *                                                                           each other,
 *   SESSION/plugins/profile/<run>[_w<window>]/<host>.xplane.pb              without one, when the folder was not there
 *                                                                           before,
 *   SESSION/plugins/profile/<run>[_w<window>]_p<pid>/<host>.xplane.pb       else: two programs that have nothing to do
 *                                                                           with each other are two runs.
 * A collector may write device memory profiles beside the .part: the same name with .memory.prof or
 * .begin.memory.prof for .part. They come to lie beside the .xplane.pb, called like it.
 */
#ifndef IDS_COLLECTORS_COMMON_PUBLISH_H
#define IDS_COLLECTORS_COMMON_PUBLISH_H

#include <stddef.h>
#include <stdint.h>

enum { IDS_PUBLISH_PATH = 1280, IDS_SESSION_PATH = 1024 };

struct ids_place {
    const char *session, *run, *host;
    int64_t rank; /* -1: none */
    int64_t window;
    int pid;
    const char *suffix; /* of the run's name, behind the window: "", or "_checkpoint" */
};

/* Makes the empty file that the collector writes to. 0, or -1 with the reason: the folder is gone, or the disk is
 * full. */
int ids_publish_begin(const struct ids_place *place, char ret_part[IDS_PUBLISH_PATH], char *why, size_t why_size);
/* Brings it to its place and gives its path below SESSION and its size. 0, or -1 with the reason; then it is
 * removed. */
int ids_publish_end(const struct ids_place *place, const char *part, char ret_path[IDS_PUBLISH_PATH],
                    int64_t *ret_bytes, char *why, size_t why_size);

/* Says beside a published file why it was kept: IDS_PUBLISH_KEPT in its folder, a line of JSON. */
#define IDS_PUBLISH_KEPT "idsprof.kept"
void ids_publish_reason(const char *session, const char *path, const char *line, size_t length);
/* Removes a published file (`path` below SESSION), what is said beside it, and its folder where it is empty then. */
void ids_publish_remove(const char *session, const char *path);

#endif
