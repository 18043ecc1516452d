#include "lib/store/cache_entries.h"

#include "lib/base/memory.h"
#include "lib/base/vec.h"
#include "lib/store/cache_folder.h"
#include "lib/store/db.h"
#include "lib/store/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what a file says of itself ---- */

/* The value of a query of one row and column, the caller's; NULL where there is none. */
static char *text_of(sqlite3 *db, const char *sql) {
    struct ids_error ignored = IDS_ERROR_INIT;
    struct ids_rows rows;
    uint64_t unused = 0;
    const char *text = NULL;
    char *copy = NULL;
    if (!ids_rows_prepare(&rows, db, &unused, sql, &ignored) && ids_rows_next(&rows, &ignored) > 0)
        text = ids_rows_get_text(&rows);
    if (text) copy = strdup(text);
    if (text && !copy) ids_memory_refused();
    ids_rows_done(&rows);
    return copy;
}

/* One file of a key: "<device> <inode> <size> <mtime> <ctime> <path>", and behind it a line for each member of an
 * archive. */
static int is_as_then(const char *line, size_t length, int is_archive, char **ret_path) {
    uint64_t device, inode, size;
    int64_t mtime_ns, ctime_ns;
    int path = 0;
    struct stat status;
    char *copy = strndup(line, length);
    int as_then = 0;
    if (!copy) ids_memory_refused();
    if (copy &&
        sscanf(copy, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %n", &device, &inode, &size,
               &mtime_ns, &ctime_ns, &path) == 5 &&
        path) {
        as_then = !stat(copy + path, &status) && status.st_dev == device && status.st_ino == inode &&
                  (is_archive || (uint64_t)status.st_size == size) &&
                  (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec == mtime_ns &&
                  (int64_t)status.st_ctim.tv_sec * 1000000000 + status.st_ctim.tv_nsec == ctime_ns;
        if (ret_path && !*ret_path && !(*ret_path = strdup(copy + path))) ids_memory_refused();
    }
    free(copy);
    return as_then;
}

static enum ids_cache_state state_of(const char *key, char **ret_path) {
    char program[192];
    ids_cache_program(program, sizeof program);
    size_t length = strcspn(key, "\n");
    int is_ours = length == strlen(program) && !strncmp(key, program, length), is_changed = 0;
    for (const char *line = key + length; *line; line += length) {
        length = strcspn(++line, "\n");
        if (*line == '\t') continue; /* a member of the archive before */
        int is_archive = line[length] && line[length + 1] == '\t';
        is_changed |= !is_as_then(line, length, is_archive, ret_path);
    }
    return is_changed ? IDS_CACHE_CHANGED : is_ours ? IDS_CACHE_CURRENT : IDS_CACHE_OTHER_PROGRAM;
}

static void look_into(const char *path, struct ids_cache_entry *entry) {
    struct ids_error ignored = IDS_ERROR_INIT;
    sqlite3 *db = NULL;
    entry->state = IDS_CACHE_DAMAGED;
    entry->holds = IDS_CACHE_UNKNOWN;
    if (ids_db_open(path, IDS_DB_CACHED, &db, &ignored)) return;
    char *key = text_of(db, "SELECT value FROM meta WHERE id = 'key'");
    char *events = text_of(db, "SELECT name FROM sqlite_schema WHERE name = 'event'");
    entry->run = text_of(db, "SELECT value FROM property WHERE id = 'name'");
    char *partial = text_of(db, "SELECT name FROM sqlite_schema WHERE name = 'partial'");
    if (key) entry->holds = events ? IDS_CACHE_EVENTS : partial ? IDS_CACHE_PARTIAL : IDS_CACHE_REPORT;
    free(partial);
    if (key) entry->state = state_of(key, &entry->path);
    free(key);
    free(events);
    sqlite3_close(db);
}

/* ---- the list ---- */

static int add(struct ids_cache_list *list, int folder, const char *name, struct ids_error *err) {
    struct stat status;
    if (!ids_cache_is_ours(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)) return 0;
    struct ids_cache_entry *entry = IDS_PUSH(list->at, list->count, list->room);
    if (!entry) return ids_no_memory(err);
    *entry = (struct ids_cache_entry){
        .file = strdup(name), .bytes = (uint64_t)status.st_size, .used_unix_s = status.st_mtim.tv_sec};
    if (!entry->file) return ids_no_memory(err);
    list->bytes += entry->bytes;
    if (name[IDS_CACHE_NAME_BYTES]) {
        entry->holds = IDS_CACHE_UNFINISHED;
        entry->state = ids_cache_is_abandoned(folder, name, &status) ? IDS_CACHE_ABANDONED : IDS_CACHE_WRITING;
        return 0;
    }
    if (!S_ISREG(status.st_mode)) {
        entry->state = IDS_CACHE_NO_FILE;
        entry->holds = IDS_CACHE_UNKNOWN;
        return 0;
    }
    char *path;
    if (asprintf(&path, "%s/%s", list->folder, name) < 0) return ids_no_memory(err);
    look_into(path, entry);
    free(path);
    return 0;
}

static int last_used_first(const void *a, const void *b) {
    const struct ids_cache_entry *left = a, *right = b;
    if (left->used_unix_s != right->used_unix_s) return left->used_unix_s < right->used_unix_s ? 1 : -1;
    return strcmp(left->file, right->file);
}

/* The folder's entries to `visit`; a cache that is not there has none. */
static int visit_all(const char *folder, int (*visit)(void *, int, const char *, struct ids_error *), void *context,
                     struct ids_error *err) {
    struct ids_error absent = IDS_ERROR_INIT;
    int code = ids_cache_folder_check(folder, &absent);
    if (code == IDS_NOT_FOUND) return 0;
    if (code) return ids_cache_folder_check(folder, err);
    DIR *stream = opendir(folder);
    if (!stream) return ids_fail_system(err, "cache '%s'", folder);
    for (const struct dirent *found; !code && (found = readdir(stream));)
        code = visit(context, dirfd(stream), found->d_name, err);
    closedir(stream);
    return code;
}

static int visit_to_list(void *list, int folder, const char *name, struct ids_error *err) {
    return add(list, folder, name, err);
}

int ids_cache_list(struct ids_cache_list *ret_list, struct ids_error *err) {
    struct ids_cache_list list = {.limit_bytes = ids_cache_limit()};
    int code = ids_cache_folder(&list.folder, err);
    if (!code) code = visit_all(list.folder, visit_to_list, &list, err);
    if (code) {
        ids_cache_list_done(&list);
        return code;
    }
    if (list.count) qsort(list.at, list.count, sizeof *list.at, last_used_first);
    *ret_list = list;
    return 0;
}

/* ---- checking ---- */

/* Every page, also those that a list does not look at. */
static int check_pages(const char *path, struct ids_error *err) {
    struct ids_seal seal = {0};
    int fd = ids_sealed_open(path, err);
    if (fd < 0) return fd;
    int code = ids_seal_read(fd, &seal, err);
    if (!code) code = ids_seal_check(fd, &seal, err);
    ids_seal_done(&seal);
    close(fd);
    return code;
}

static int is_odd(enum ids_cache_state state) {
    return state == IDS_CACHE_DAMAGED || state == IDS_CACHE_NO_FILE || state == IDS_CACHE_ABANDONED;
}

static int verify_entry(const char *path, struct ids_cache_entry *entry, struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    int code = 0;
    if (entry->holds != IDS_CACHE_UNFINISHED && entry->state != IDS_CACHE_NO_FILE) code = check_pages(path, &why);
    if (code == IDS_NOMEM) return ids_no_memory(err);
    if (code == IDS_NOT_FOUND) return 0; /* made room for meanwhile */
    if (code) {
        entry->state = IDS_CACHE_DAMAGED;
        entry->why = strdup(why.text);
        if (!entry->why) return ids_no_memory(err);
    }
    if (is_odd(entry->state)) entry->is_removed = !unlink(path) || (errno == EISDIR && !rmdir(path));
    return 0;
}

int ids_cache_verify(struct ids_cache_list *ret_list, struct ids_error *err) {
    int code = ids_cache_list(ret_list, err);
    if (code) return code;
    for (size_t i = 0; i < ret_list->count && !code; i++) {
        struct ids_cache_entry *entry = &ret_list->at[i];
        char *path;
        if (asprintf(&path, "%s/%s", ret_list->folder, entry->file) < 0) {
            code = ids_no_memory(err);
        } else {
            code = verify_entry(path, entry, err);
            free(path);
        }
        ret_list->odd += is_odd(entry->state) ? 1 : 0;
    }
    if (code) ids_cache_list_done(ret_list);
    return code;
}

/* ---- */

void ids_cache_list_done(struct ids_cache_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].file);
        free(list->at[i].run);
        free(list->at[i].path);
        free(list->at[i].why);
    }
    free(list->at);
    free(list->folder);
}

/* ---- clearing ---- */

static int visit_to_clear(void *context, int folder, const char *name, struct ids_error *err) {
    struct ids_cache_cleared *cleared = context;
    struct stat status;
    if (!ids_cache_is_ours(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)) return 0;
    if (name[IDS_CACHE_NAME_BYTES] && !ids_cache_is_abandoned(folder, name, &status)) {
        cleared->left++;
        return 0;
    }
    if (unlinkat(folder, name, 0) && (errno != EISDIR || unlinkat(folder, name, AT_REMOVEDIR)))
        return errno == ENOENT ? 0 : ids_fail_system(err, "cannot remove '%s'", name);
    cleared->files++;
    cleared->bytes += (uint64_t)status.st_size;
    return 0;
}

int ids_cache_clear(struct ids_cache_cleared *ret_cleared, struct ids_error *err) {
    char *folder = NULL;
    *ret_cleared = (struct ids_cache_cleared){0};
    int code = ids_cache_folder(&folder, err);
    if (!code) code = visit_all(folder, visit_to_clear, ret_cleared, err);
    free(folder);
    return code;
}
