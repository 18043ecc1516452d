#include "lib/base/intern.h"
#include "lib/base/memory.h"
#include "lib/base/vec.h"
#include "lib/store/cache_bytes.h"
#include "lib/store/cache_folder.h"
#include "lib/store/cache_partials.h"
#include "lib/store/events_cache.h"
#include "lib/store/report_bytes.h"
#include "lib/store/seal.h"
#include "lib/store/summary_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void free_text(char **text) {
    free(*text);
}
#define AUTO_TEXT __attribute__((cleanup(free_text))) char *

static int no_memory(struct ids_error *err) {
    return ids_no_memory(err);
}

static const char report_table[] = "report";

/* ---- which ---- */

enum tier { REPORT, EVENTS, PARTIAL };

/* `place`: what the file is named by; `key`: what must be the same for it to be valid. */
static int describe_files(const struct ids_run_files *run, enum tier tier, FILE *place, FILE *key,
                          struct ids_error *err) {
    char text[192];
    if (tier == EVENTS) fwrite("events", 1, sizeof "events", place);
    if (tier == PARTIAL) fwrite("partial", 1, sizeof "partial", place);
    ids_cache_program(text, sizeof text);
    fwrite(text, 1, strlen(text), key);
    fwrite(run->name, 1, strlen(run->name) + 1, place);
    for (size_t i = 0; i < run->file_count + run->beside_count; i++) {
        const struct ids_run_file *file = i < run->file_count ? &run->files[i] : &run->beside[i - run->file_count];
        if (file->unreadable) { /* that there is none is a part of what the others were read as */
            fwrite(file->path, 1, strlen(file->path) + 1, place);
            fwrite("\n", 1, 1, key);
            fwrite(file->unreadable, 1, strlen(file->unreadable), key);
            fwrite(file->path, 1, strlen(file->path), key);
            continue;
        }
        AUTO_TEXT path = realpath(file->archive ? file->archive : file->path, NULL);
        if (!path && errno == ENOMEM) return no_memory(err);
        if (!file->inode || !path) {
            return ids_fail(err, IDS_NOT_FOUND, "'%s' has no identity to be cached by", file->path);
        }
        int length = snprintf(text, sizeof text, "\n%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " ",
                              file->device, file->inode, file->size, file->mtime_ns, file->ctime_ns);
        fwrite(text, 1, (size_t)length, key);
        fwrite(path, 1, strlen(path), key);
        fwrite(path, 1, strlen(path) + 1, place);
        if (!file->archive) continue;
        fwrite("\n\t", 1, 2, key);
        fwrite(file->member, 1, strlen(file->member), key);
        fwrite(file->member, 1, strlen(file->member) + 1, place);
    }
    return 0;
}

/* The caller frees *ret_key in any case. */
static int describe_run(const struct ids_run_files *run, enum tier tier, char name[IDS_CACHE_NAME_BYTES + 1],
                        char **ret_key, struct ids_error *err) {
    AUTO_TEXT place_text = NULL;
    size_t place_bytes = 0, key_bytes = 0;
    FILE *place = open_memstream(&place_text, &place_bytes);
    FILE *key = open_memstream(ret_key, &key_bytes);
    int code = place && key ? describe_files(run, tier, place, key, err) : no_memory(err);
    int lost = place && fclose(place);
    lost |= key && fclose(key);
    if (code) return code;
    if (lost || !place_text || !*ret_key) return no_memory(err); /* glibc closes without a word, and without a text */
    snprintf(name, IDS_CACHE_NAME_BYTES + 1, "%016" PRIx64 ".db", ids_hash_bytes(place_text, place_bytes));
    return 0;
}

static int entry_of(const struct ids_run_files *run, enum tier tier, char **ret_folder, char **ret_path, char **ret_key,
                    struct ids_error *err) {
    char name[IDS_CACHE_NAME_BYTES + 1];
    int code = describe_run(run, tier, name, ret_key, err);
    if (!code) code = ids_cache_folder(ret_folder, err);
    if (!code && asprintf(ret_path, "%s/%s", *ret_folder, name) < 0) {
        *ret_path = NULL;
        code = no_memory(err);
    }
    return code;
}

/* ---- how much ---- */

struct entry {
    char name[IDS_CACHE_NAME_BYTES + 1];
    struct timespec used;
    uint64_t size;
};

static int by_use(const void *a, const void *b) {
    const struct entry *left = a, *right = b;
    if (left->used.tv_sec != right->used.tv_sec) return left->used.tv_sec < right->used.tv_sec ? -1 : 1;
    if (left->used.tv_nsec != right->used.tv_nsec) return left->used.tv_nsec < right->used.tv_nsec ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Lists the entries, and removes temporary files that nobody will finish. */
static size_t list_entries(DIR *stream, struct entry **ret_entries, uint64_t *ret_total) {
    struct entry *entries = NULL;
    size_t count = 0, room = 0;
    const struct dirent *found;
    while ((found = readdir(stream))) {
        struct stat status;
        if (!ids_cache_is_ours(found->d_name) || fstatat(dirfd(stream), found->d_name, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        *ret_total += (uint64_t)status.st_size;
        if (found->d_name[IDS_CACHE_NAME_BYTES]) {
            if (ids_cache_is_abandoned(dirfd(stream), found->d_name, &status) &&
                !unlinkat(dirfd(stream), found->d_name, 0))
                *ret_total -= (uint64_t)status.st_size;
            continue;
        }
        struct entry *entry = IDS_PUSH(entries, count, room);
        if (!entry) break; /* then fewer are removed, this time */
        memcpy(entry->name, found->d_name, sizeof entry->name);
        entry->used = status.st_mtim;
        entry->size = (uint64_t)status.st_size;
    }
    *ret_entries = entries;
    return count;
}

/* Removes what was not used for longest. Two processes may do so at once: a file gone already is as good. */
static void evict(const char *folder, const char *kept) {
    DIR *stream = opendir(folder);
    struct entry *entries = NULL;
    uint64_t total = 0, limit = ids_cache_limit();
    if (!stream) return;
    size_t count = list_entries(stream, &entries, &total);
    if (count && total > limit) qsort(entries, count, sizeof *entries, by_use);
    for (size_t i = 0; i < count && total > limit; i++) {
        if (!strcmp(entries[i].name, kept)) continue;
        unlinkat(dirfd(stream), entries[i].name, 0);
        total -= entries[i].size;
    }
    free(entries);
    closedir(stream);
}

/* ---- looking up ---- */

/* A file system tells times apart by its tick, at most 10 ms. What is written within the same tick as we read it would
 * have the identity of what we read, so that a run which was written just now is read a moment later. */
static void let_settle(const struct ids_run_files *run) {
    static const int64_t tick_ns = 20000000;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, wait_ns = 0;
    for (size_t i = 0; i < run->file_count + run->beside_count; i++) {
        const struct ids_run_file *file = i < run->file_count ? &run->files[i] : &run->beside[i - run->file_count];
        int64_t age_ns = now_ns - file->ctime_ns;
        if (age_ns >= 0 && age_ns < tick_ns && tick_ns - age_ns > wait_ns) wait_ns = tick_ns - age_ns;
    }
    if (wait_ns) nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
}

static int find_entry(const struct ids_run_files *run, enum tier tier, char **ret_path, char **ret_key,
                      struct ids_error *err) {
    AUTO_TEXT folder = NULL;
    int code = entry_of(run, tier, &folder, ret_path, ret_key, err);
    if (!code) let_settle(run);
    return code ? code : ids_cache_folder_check(folder, err);
}

/* The time of last use; atime is off or coarse on many file systems. */
void ids_cache_mark_used(const char *path) {
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

int ids_cache_load(const struct ids_run_files *run, const struct ids_table_def *(*find_table)(const char *id),
                   struct ids_report *report, struct ids_error *err) {
    AUTO_TEXT path = NULL;
    AUTO_TEXT key = NULL;
    struct ids_buffer bytes = {0};
    int code = find_entry(run, REPORT, &path, &key, err);
    if (!code) code = ids_cache_bytes_read(path, report_table, key, &bytes, err);
    if (!code && (code = ids_report_get_bytes(report, bytes.at, bytes.length, find_table, err))) {
        ids_report_done(report); /* what is in it is of no use */
        ids_report_init(report);
    }
    ids_buffer_done(&bytes);
    if (!code) ids_cache_mark_used(path);
    return code ? ids_error_at(err, "'%s'", path ? path : "the cache") : 0;
}

int ids_events_cache_find(const struct ids_run_files *run, char **ret_path, struct ids_error *err) {
    AUTO_TEXT path = NULL;
    AUTO_TEXT key = NULL;
    int code = find_entry(run, EVENTS, &path, &key, err);
    if (!code) code = ids_summary_check_key(path, key, err);
    if (code) return code;
    ids_cache_mark_used(path);
    *ret_path = path;
    path = NULL;
    return 0;
}

int ids_events_cache_report(const char *path, const struct ids_table_def *(*find_table)(const char *id),
                            struct ids_report *report, struct ids_error *err) {
    return ids_summary_read_from(path, IDS_DB_CACHED, 1, NULL, find_table, report, err);
}

/* ---- keeping ---- */

static int begin_entry(const struct ids_run_files *run, enum tier tier, struct ids_events_entry *ret_entry,
                       struct ids_error *err) {
    struct ids_events_entry entry = {.lock = -1};
    int code = entry_of(run, tier, &entry.folder, &entry.path, &entry.key, err);
    if (!code) code = ids_cache_folder_make(entry.folder, err);
    int fd = code ? code : ids_summary_open_beside(entry.path, &entry.temporary, err);
    entry.lock = fd;
    if (fd >= 0) {
        *ret_entry = entry;
        return 0;
    }
    ids_events_entry_done(&entry);
    return fd;
}

/* A folder that stands at an entry's name is not ours: it gets another one, unless it is empty. */
static void make_way(const char *path) {
    AUTO_TEXT aside = NULL;
    if (!rmdir(path) || errno == ENOTDIR) return;
    if (asprintf(&aside, "%s.odd-%ld", path, (long)getpid()) < 0) {
        aside = NULL;
        return;
    }
    rename(path, aside);
}

int ids_events_entry_commit(struct ids_events_entry *entry, struct ids_error *err) {
    if (ids_memory_ran_out()) return ids_no_memory(err); /* what is in it may lack something */
    int code = ids_seal_write(entry->lock, err);
    if (code) return ids_error_at(err, "'%s'", entry->temporary);
    int failed = rename(entry->temporary, entry->path);
    if (failed && errno == EISDIR) {
        make_way(entry->path);
        failed = rename(entry->temporary, entry->path);
    }
    if (failed) return ids_fail_system(err, "cannot rename '%s'", entry->temporary);
    free(entry->temporary);
    entry->temporary = NULL;
    evict(entry->folder, strrchr(entry->path, '/') + 1);
    return 0;
}

void ids_events_entry_done(struct ids_events_entry *entry) {
    if (entry->temporary) unlink(entry->temporary);
    if (entry->lock >= 0) close(entry->lock);
    free(entry->folder);
    free(entry->path);
    free(entry->temporary);
    free(entry->key);
}

int ids_events_entry_begin(const struct ids_run_files *run, struct ids_events_entry *ret_entry, struct ids_error *err) {
    return begin_entry(run, EVENTS, ret_entry, err);
}

int ids_partial_entry_find(const struct ids_run_files *file, char **ret_path, char **ret_key, struct ids_error *err) {
    return find_entry(file, PARTIAL, ret_path, ret_key, err);
}

int ids_partial_entry_begin(const struct ids_run_files *file, struct ids_events_entry *ret_entry,
                            struct ids_error *err) {
    return begin_entry(file, PARTIAL, ret_entry, err);
}

int ids_cache_save(const struct ids_run_files *run, const struct ids_report *report, struct ids_error *err) {
    struct ids_events_entry entry;
    struct ids_buffer bytes = {0};
    int code = begin_entry(run, REPORT, &entry, err);
    if (code) return code;
    code = ids_report_put_bytes(report, &bytes, err);
    if (!code) code = ids_cache_bytes_write(&entry, report_table, run->name, &bytes, err);
    if (!code) code = ids_events_entry_commit(&entry, err);
    ids_buffer_done(&bytes);
    ids_events_entry_done(&entry);
    return code;
}
