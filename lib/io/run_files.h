/* run_files.h - which files make up a run.
 *
 * A run is a file, a folder `plugins/profile/<timestamp>` with one file per host, or the newest such folder anywhere
 * below a log folder. A tar or zip is searched like a folder of that name (archive.h), also inside a log folder. There
 * a packed tar of more than 256 MiB is left out with a note, because reading its list takes seconds.
 *
 * Endings that say what a file is (".xplane.pb", ".trace.json.gz"): all files of the best such ending in a folder are
 * one run, a file per host. The others of them are `also`.
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
 */
#ifndef IDS_LIB_IO_RUN_FILES_H
#define IDS_LIB_IO_RUN_FILES_H

#include "lib/io/source.h"

#include <stddef.h>
#include <stdint.h>

struct ids_run_reader; /* what the files of one list share */

struct ids_run_file {
    char *path; /* for people; of a member of an archive `runs.tar.gz/<its path in there>` */
    uint64_t size, device,
        inode;           /* as stat says; with mtime the identity for the cache. Of a member: its own size, and */
    int64_t mtime_ns;    /* the rest of the archive. All five are 0 for a pipe, which has no identity */
    int64_t ctime_ns;    /* an edit that sets the other times back cannot set this one */
    int64_t written_ns;  /* when the content was written: of a member its own time */
    char *archive;       /* NULL, or the path of the archive that it is a member of, */
    char *member;        /* its path in there, */
    size_t member_index; /* and where */
    struct ids_run_reader *reader;
};

struct ids_run_files {
    char *path; /* what was asked for, or the run's folder */
    char *name; /* for people: the folder's own name, or the part of the path that tells it from its neighbours */
    struct ids_run_file *files; /* sorted by name; more than one: several hosts */
    size_t file_count;
    char *also; /* NULL, or a file of the same run in a form that is not as good, and is not read */
    size_t also_count;
    int64_t number; /* 0, or which run of a database it is (then `files` is the database); never set here */
};

/* A file that may have been of a run by its name. */
struct ids_run_passed {
    char *path, *why;
    uint8_t same_run; /* it is a run's, whose other files say more */
    uint8_t noted;    /* a note says the same */
};

struct ids_run_list {
    struct ids_run_files *runs; /* oldest first, by folder name, then path */
    size_t run_count;
    char *unreadable; /* the first folder that was left out because it could not be read, or NULL */
    size_t unreadable_count;
    char **notes; /* sentences about what else was left out ("'a.tar': left out: 2 links (...)"), at most 64 */
    size_t note_count;
    size_t damaged;                /* archives that are cut or could not be read; each has a note */
    struct ids_run_passed *passed; /* files that were looked at, and are of no run */
    size_t passed_count;
    struct ids_run_reader *reader;
};

/* NULL-terminated lists of file name endings, best first. The longest that fits decides which list a name belongs
 * to. */
struct ids_run_kinds {
    const char *const *suffixes;
    const char *const *generic; /* NULL: none */
    /* Is content that begins with these bytes (or is no longer) a profile? For files with generic endings. *ret_why,
     * for people, is the reason when it is none; *more is set to 1 when only what follows can tell (head.h). */
    int (*is_profile)(const uint8_t *head, size_t length, const char **ret_why, int *more);
};

/* Every run at or below `path` (a file, an archive, a run folder, a log folder). "-" is standard input. IDS_NOT_FOUND
 * with a message that says what was looked for when there is none; IDS_IO when the path, or every folder that could
 * hold a run, cannot be read (a folder beside runs that were found is counted as unreadable). Symbolic links to folders
 * are followed for `path` alone; depth and number of entries are limited. */
int ids_runs_find(const char *path, const struct ids_run_kinds *kinds, struct ids_run_list *ret_list,
                  struct ids_error *err);
void ids_run_list_done(struct ids_run_list *list);

/* Opens a file of a run, wherever it lies. The list must live, for it holds the open archive; files of one archive are
 * read in one pass when they are asked for in the order of member_index. The source may outlive the list. */
int ids_run_file_open(const struct ids_run_file *file, struct ids_source **ret_source, struct ids_error *err);

/* The plain files in the folder of an archive in which `file`, a member of it, lies; `file` is among them. */
int ids_run_file_neighbours(const struct ids_run_file *file, struct ids_run_file **ret_files, size_t *ret_count,
                            struct ids_error *err);
void ids_run_file_neighbours_free(struct ids_run_file *files, size_t count);

#endif
