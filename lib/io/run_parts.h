/* run_parts.h - the steps of ids_runs_find: what a name says (run_parts.c), which files of a folder are a run
 * (run_folder.c), what partials stand for (run_stand_ins.c), what runs are called (run_names.c), members of archives
 * (run_archive.c). */
#ifndef IDS_LIB_IO_RUN_PARTS_H
#define IDS_LIB_IO_RUN_PARTS_H

#include "lib/base/error.h"
#include "lib/io/run_list.h"

enum {
    IDS_RUN_MAX_DEPTH = 12, /* folders below the path: a log folder, plugins, profile, a time, and names between */
};

struct ids_suffix {
    int rank; /* in its list; -1: of neither */
    int generic;
    int beside; /* of a file that is read with the run in its folder, and is none by itself */
    size_t length;
};

struct ids_candidate {
    struct ids_run_file file;
    struct ids_suffix suffix; /* of a partial beside profiles that of its origin */
    int is_folder;            /* with the name of a profile, and no run in it */
    int is_known;             /* such a partial, whose origin or host is there too */
};

/* The files of one folder that may be of a run. */
struct ids_candidates {
    struct ids_candidate *items;
    size_t count, room;
};

struct ids_finder {
    const struct ids_run_kinds *kinds;
    const char *root; /* where it began */
    struct ids_run_list list;
    size_t run_room, note_room, passed_room;
    size_t entries; /* files and folders looked at */
    size_t looked;  /* files of generic endings whose content was looked at */
    int refused;    /* errno of the first folder that could not be read */
    struct ids_error *err;
};

struct ids_suffix ids_suffix_of(const char *name, const struct ids_run_kinds *kinds);
/* Whether a file of that name is read with the run in whose folder it is. */
int ids_is_beside(const char *name, const struct ids_run_kinds *kinds);
const char *ids_last_component(const char *path, size_t length);
char *ids_join_path(const char *folder, const char *name);
void ids_candidates_done(struct ids_candidates *candidates);
int ids_add_note(struct ids_finder *finder, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A file that is not taken, and why. */
extern const char ids_same_run[]; /* why a file that lies beside better ones is not taken */
int ids_pass_over(struct ids_finder *finder, const char *path, const char *why, int same_run, int noted);
/* Counts one more look; 0 when there were too many, which is said once. */
int ids_may_look(struct ids_finder *finder);

/* Does a file with a generic ending belong to the run that is in its folder anyhow (`named`: in a file whose ending
 * says so)? */
int ids_is_companion(const char *folder, const char *path, int named);
/* Partials that lie among profiles stand for those that they were made of: gives them `origin` and that one's ending.
 * Nothing to do in a folder with partials alone, or none. */
int ids_stand_in(struct ids_finder *finder, struct ids_candidates *candidates);
/* Makes runs of a folder's files, which are moved; those with a generic ending are known to be profiles. */
int ids_settle_folder(struct ids_finder *finder, const char *folder, struct ids_candidates *candidates);
/* Names for all runs of the list, none of them alike if that can be. `top` is the path that was asked for. */
int ids_name_runs(struct ids_run_list *list, const char *top, const struct ids_run_kinds *kinds, struct ids_error *err);
/* The name of a single file, which the caller frees; NULL without memory. */
char *ids_file_run_name(const char *path, const struct ids_run_kinds *kinds);

/* Adds the runs in an archive; `status` is its identity. */
int ids_find_in_archive(struct ids_finder *finder, const char *path, const struct ids_run_file *status);
void ids_run_reader_free(struct ids_run_reader *reader);

#endif
