/* cache_entries.h - what is in the cache, for people. */
#ifndef IDS_LIB_STORE_CACHE_ENTRIES_H
#define IDS_LIB_STORE_CACHE_ENTRIES_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum ids_cache_holds { IDS_CACHE_REPORT, IDS_CACHE_EVENTS, IDS_CACHE_PARTIAL, IDS_CACHE_UNFINISHED, IDS_CACHE_UNKNOWN };
enum ids_cache_state {
    IDS_CACHE_CURRENT,
    IDS_CACHE_OTHER_PROGRAM, /* another build made it: it is made anew when the run is read again */
    IDS_CACHE_CHANGED,       /* so are the files of the run, or they are gone */
    IDS_CACHE_DAMAGED,
    IDS_CACHE_WRITING,   /* unfinished, and a process is at it */
    IDS_CACHE_ABANDONED, /* unfinished, and nobody is */
    IDS_CACHE_NO_FILE,   /* a folder, a link or a pipe at the name of an entry */
};

struct ids_cache_entry {
    char *file;       /* its name in the folder */
    char *run, *path; /* the run's name, and its first file; NULL where they cannot be told */
    uint64_t bytes;
    int64_t used_unix_s; /* when it was last used */
    enum ids_cache_holds holds;
    enum ids_cache_state state;
    char *why;      /* of ids_cache_verify: what is damaged, or NULL */
    int is_removed; /* of ids_cache_verify */
};

struct ids_cache_list {
    char *folder;
    struct ids_cache_entry *at; /* last used first */
    size_t count, room;
    uint64_t bytes, limit_bytes;
    size_t odd; /* of ids_cache_verify: entries that are not as the cache made them */
};

/* A cache that is not there is an empty one. */
int ids_cache_list(struct ids_cache_list *ret_list, struct ids_error *err);
/* The same, with every byte of every entry read and held against its seal. What is not as the cache made it is removed,
 * but for a folder that holds something; the next use makes it again. */
int ids_cache_verify(struct ids_cache_list *ret_list, struct ids_error *err);
void ids_cache_list_done(struct ids_cache_list *list);

struct ids_cache_cleared {
    uint64_t files, bytes;
    uint64_t left; /* files that are being written */
};
/* Removes everything that no process writes. */
int ids_cache_clear(struct ids_cache_cleared *ret_cleared, struct ids_error *err);

#endif
