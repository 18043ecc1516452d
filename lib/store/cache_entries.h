/* cache_entries.h - what is in the cache, for people. */
#ifndef IDS_LIB_STORE_CACHE_ENTRIES_H
#define IDS_LIB_STORE_CACHE_ENTRIES_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum ids_cache_holds { IDS_CACHE_REPORT, IDS_CACHE_EVENTS, IDS_CACHE_UNFINISHED };
enum ids_cache_state {
    IDS_CACHE_CURRENT,
    IDS_CACHE_OTHER_PROGRAM, /* another build made it: it is made anew when the run is read again */
    IDS_CACHE_CHANGED,       /* so are the files of the run, or they are gone */
    IDS_CACHE_DAMAGED,
    IDS_CACHE_WRITING,   /* unfinished, and a process is at it */
    IDS_CACHE_ABANDONED, /* unfinished, and nobody is */
};

struct ids_cache_entry {
    char *file;       /* its name in the folder */
    char *run, *path; /* the run's name, and its first file; NULL where they cannot be told */
    uint64_t bytes;
    int64_t used_unix_s; /* when it was last used */
    enum ids_cache_holds holds;
    enum ids_cache_state state;
};

struct ids_cache_list {
    char *folder;
    struct ids_cache_entry *at; /* last used first */
    size_t count, room;
    uint64_t bytes, limit_bytes;
};

/* A cache that is not there is an empty one. */
int ids_cache_list(struct ids_cache_list *ret_list, struct ids_error *err);
void ids_cache_list_done(struct ids_cache_list *list);

struct ids_cache_cleared {
    uint64_t files, bytes;
    uint64_t left; /* files that are being written */
};
/* Removes everything that no process writes. */
int ids_cache_clear(struct ids_cache_cleared *ret_cleared, struct ids_error *err);

#endif
