/* run_list.h - runs, the files that make up each, and what was left out. */
#ifndef IDS_LIB_IO_RUN_LIST_H
#define IDS_LIB_IO_RUN_LIST_H

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
    char *origin; /* NULL, or of a partial that lies beside profiles the name of the one that it was made of */
    const char *unreadable; /* NULL, or why what has the name of a profile is no file ("a FIFO, not a file") */
};

/* Frees what the file holds. */
void ids_run_file_done(struct ids_run_file *file);

struct ids_run_files {
    char *path; /* what was asked for, or the run's folder */
    char *name; /* for people: the folder's own name, or the part of the path that tells it from its neighbours */
    struct ids_run_file *files; /* sorted by name; more than one: several hosts */
    size_t file_count;
    struct ids_run_file *beside; /* files of the folder that say more of the run, read after the others */
    size_t beside_count;
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
    const char *const *beside; /* NULL: none. Of files that are read with the run in whose folder they are */
    const char *partial;       /* NULL: none. Of files that are each made of one profile (lib/model/partial.h) */
    /* The path of the profile that such a file was made of, as far as there is room; 0: it does not say. */
    int (*origin_of)(const struct ids_run_file *file, char *path, size_t room);
};

#endif
