/* Runs whose files are members of an archive. */
#include "lib/io/run_archive.h"
#include "lib/base/vec.h"
#include "lib/io/archive.h"
#include "lib/io/run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_FOLDER_BYTES = 1100,     /* archive.h allows 1,024 of a path */
    MEMBER_HEAD_BYTES = 1 << 20, /* in which a JSON file must tell that it is a trace */
};

/* One archive is open at a time: where the last member ended, the next one is read on. */
struct ids_run_reader {
    char *path; /* NULL: none */
    struct ids_archive *archive;
};

static void reader_close(struct ids_run_reader *reader) {
    ids_archive_close(reader->archive);
    free(reader->path);
    *reader = (struct ids_run_reader){0};
}

void ids_run_reader_free(struct ids_run_reader *reader) {
    if (!reader) return;
    reader_close(reader);
    free(reader);
}

static int reader_open(struct ids_run_reader *reader, const char *path, struct ids_error *err) {
    struct ids_source *source = NULL;
    if (reader->path && !strcmp(reader->path, path)) return 0;
    reader_close(reader);
    int code = ids_source_open(path, &source, err);
    if (code) return code;
    code = ids_archive_open(source, &reader->archive, err);
    if (code) {
        reader->archive = NULL;
        return ids_error_at(err, "'%s'", path);
    }
    reader->path = strdup(path);
    return reader->path ? 0 : ids_no_memory(err);
}

int ids_run_file_open(const struct ids_run_file *file, struct ids_source **ret_source, struct ids_error *err) {
    if (file->unreadable) return ids_fail(err, IDS_IO, "'%s': %s", file->path, file->unreadable);
    if (!file->archive) return ids_source_open(file->path, ret_source, err);
    const struct ids_member member = {.path = file->member, .index = file->member_index, .size = file->size};
    int code = reader_open(file->reader, file->archive, err);
    if (code) return code;
    code = ids_archive_read(file->reader->archive, &member, file->path, ret_source, err);
    return code ? ids_error_at(err, "'%s'", file->path) : 0;
}

/* ---- finding ---- */

/* A member whose name could be that of a profile. */
struct found {
    const struct ids_member *member;
    size_t folder_bytes; /* of its path, up to the last slash */
    struct ids_suffix suffix;
    int is_profile;
};

static int by_folder(const void *a, const void *b) {
    const struct found *left = a, *right = b;
    size_t shorter = left->folder_bytes < right->folder_bytes ? left->folder_bytes : right->folder_bytes;
    int order = memcmp(left->member->path, right->member->path, shorter);
    if (order) return order;
    if (left->folder_bytes != right->folder_bytes) return left->folder_bytes < right->folder_bytes ? -1 : 1;
    return strcmp(left->member->path, right->member->path);
}

static int by_index(const void *a, const void *b) {
    const struct found *left = a, *right = b;
    return (left->member->index > right->member->index) - (left->member->index < right->member->index);
}

static size_t end_of_folder(const struct found *found, size_t count, size_t first) {
    size_t end = first + 1;
    while (end < count && found[end].folder_bytes == found[first].folder_bytes &&
           !memcmp(found[end].member->path, found[first].member->path, found[first].folder_bytes))
        end++;
    return end;
}

static size_t select_members(const struct ids_finder *finder, const struct ids_member_list *list, struct found *found) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *path = list->members[i].path, *name = ids_last_component(path, strlen(path));
        struct ids_suffix suffix = ids_suffix_of(name, finder->kinds);
        if (suffix.rank < 0) continue;
        found[count++] = (struct found){&list->members[i], (size_t)(name - path), suffix, !suffix.generic};
    }
    return count;
}

static int pass_over(struct ids_finder *finder, const char *archive, const char *member, const char *why, int same_run,
                     int noted) {
    char *path = ids_join_path(archive, member);
    int code = path ? ids_pass_over(finder, path, why, same_run, noted) : ids_no_memory(finder->err);
    free(path);
    return code;
}

/* Is the member a profile? Read once, since going back in an archive means to begin again. */
static int look_at_member(struct ids_finder *finder, struct ids_archive *archive, const char *path, struct found *found,
                          uint8_t *head) {
    const char *reason = "", *member = found->member->path;
    struct ids_error why = IDS_ERROR_INIT;
    size_t length = 0;
    int more = 0;
    int code = ids_archive_peek(archive, found->member, head, MEMBER_HEAD_BYTES, &length, &why);
    if (code == IDS_NOMEM || code == IDS_LIMIT) return ids_error_pass(finder->err, &why);
    if (code) {
        code = ids_add_note(finder, "left out: '%s/%s': %s", path, member, why.text);
        return code ? code : pass_over(finder, path, member, why.text, 0, 1);
    }
    found->is_profile = finder->kinds->is_profile(head, length, &reason, &more);
    return found->is_profile ? 0 : pass_over(finder, path, member, reason, 0, 0);
}

/* Looks at the content of files with generic endings. */
static int look_at_generic(struct ids_finder *finder, struct ids_archive *archive, const char *path,
                           struct found *found, size_t count) {
    qsort(found, count, sizeof *found, by_folder);
    for (size_t first = 0, end; first < count; first = end) {
        int named = 0;
        end = end_of_folder(found, count, first);
        for (size_t i = first; i < end; i++) named |= !found[i].suffix.generic;
        for (size_t i = first; i < end; i++) {
            const char *member = found[i].member->path;
            char folder[MAX_FOLDER_BYTES];
            snprintf(folder, sizeof folder, "/%.*s", (int)found[i].folder_bytes, member);
            if (!found[i].suffix.generic || !ids_is_companion(folder, member, named)) continue;
            found[i].is_profile = -1;
            int code = pass_over(finder, path, member, ids_same_run, 1, 0);
            if (code) return code;
        }
    }
    qsort(found, count, sizeof *found, by_index);
    uint8_t *head = malloc(MEMBER_HEAD_BYTES);
    int code = head ? 0 : ids_no_memory(finder->err);
    for (size_t i = 0; i < count && !code; i++) {
        if (!found[i].is_profile && ids_may_look(finder)) code = look_at_member(finder, archive, path, &found[i], head);
    }
    free(head);
    qsort(found, count, sizeof *found, by_folder);
    return code;
}

/* What a member of the archive is as a file; `status` is the archive's identity. */
static int describe_member(const char *path, const struct ids_run_file *status, const struct ids_member *member,
                           struct ids_run_reader *reader, struct ids_run_file *ret_file, struct ids_error *err) {
    *ret_file = *status;
    ret_file->path = ids_join_path(path, member->path);
    ret_file->archive = strdup(path);
    ret_file->member = strdup(member->path);
    ret_file->member_index = member->index;
    ret_file->size = member->size;
    ret_file->written_ns = member->mtime_ns;
    ret_file->reader = reader;
    return ret_file->path && ret_file->archive && ret_file->member ? 0 : ids_no_memory(err);
}

static int add_member(struct ids_finder *finder, struct ids_candidates *candidates, const char *path,
                      const struct ids_run_file *status, const struct found *found) {
    struct ids_candidate *candidate = IDS_PUSH(candidates->items, candidates->count, candidates->room);
    if (!candidate) return ids_no_memory(finder->err);
    *candidate = (struct ids_candidate){.suffix = found->suffix};
    return describe_member(path, status, found->member, finder->list.reader, &candidate->file, finder->err);
}

static int settle_members(struct ids_finder *finder, const char *path, const struct ids_run_file *status,
                          const struct found *found, size_t count) {
    int code = 0;
    for (size_t first = 0, end; first < count && !code; first = end) {
        struct ids_candidates candidates = {0};
        end = end_of_folder(found, count, first);
        for (size_t i = first; i < end && !code; i++) {
            if (found[i].is_profile > 0) code = add_member(finder, &candidates, path, status, &found[i]);
        }
        if (!code && candidates.count) {
            char *folder = NULL;
            size_t bytes = found[first].folder_bytes;
            int length = asprintf(&folder, "%s%s%.*s", path, bytes ? "/" : "", (int)(bytes ? bytes - 1 : 0),
                                  found[first].member->path);
            if (length < 0) folder = NULL;
            code = folder ? ids_settle_folder(finder, folder, &candidates) : ids_no_memory(finder->err);
            free(folder);
        }
        ids_candidates_done(&candidates);
    }
    return code;
}

static int say_what_is_missing(struct ids_finder *finder, const char *path, const struct ids_member_list *list) {
    char text[512] = "";
    for (int kind = 0; kind < IDS_LEFT_KINDS; kind++) {
        size_t used = strlen(text);
        if (!list->left_out[kind].count) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", used ? ", " : "");
        if (used < sizeof text) ids_left_out_text(list, (enum ids_left_out)kind, text + used, sizeof text - used);
    }
    int code = *text ? ids_add_note(finder, "'%s': left out: %s", path, text) : 0;
    if (code || !list->cut) return code;
    finder->list.damaged++;
    return ids_add_note(finder, "'%s': cut or damaged, the rest is missing: %s", path, list->cut);
}

static int find_members(struct ids_finder *finder, const char *path, const struct ids_run_file *status,
                        const struct ids_member_list *list) {
    struct ids_archive *archive = finder->list.reader->archive;
    struct found *found = calloc(list->count + 1, sizeof *found);
    if (!found) return ids_no_memory(finder->err);
    size_t count = select_members(finder, list, found);
    int code = say_what_is_missing(finder, path, list);
    if (!code) code = look_at_generic(finder, archive, path, found, count);
    if (!code) code = settle_members(finder, path, status, found, count);
    free(found);
    return code;
}

int ids_find_in_archive(struct ids_finder *finder, const char *path, const struct ids_run_file *status) {
    struct ids_member_list list = {0};
    if (!finder->list.reader) finder->list.reader = calloc(1, sizeof *finder->list.reader);
    if (!finder->list.reader) return ids_no_memory(finder->err);
    int code = reader_open(finder->list.reader, path, finder->err);
    if (code) return code;
    code = ids_archive_list(finder->list.reader->archive, &list, finder->err);
    if (code) return ids_error_at(finder->err, "'%s'", path);
    code = find_members(finder, path, status, &list);
    ids_member_list_done(&list);
    return code;
}

/* ---- what lies beside a member ---- */

static size_t folder_bytes(const char *member) {
    return (size_t)(ids_last_component(member, strlen(member)) - member);
}

static int add_neighbours(const struct ids_run_file *file, const struct ids_member_list *list,
                          struct ids_run_file *files, size_t *count, struct ids_error *err) {
    size_t bytes = folder_bytes(file->member);
    int code = 0;
    for (size_t i = 0; i < list->count && !code; i++) {
        const char *member = list->members[i].path;
        if (folder_bytes(member) != bytes || memcmp(member, file->member, bytes) != 0) continue;
        code = describe_member(file->archive, file, &list->members[i], file->reader, &files[(*count)++], err);
    }
    return code;
}

int ids_run_file_neighbours(const struct ids_run_file *file, struct ids_run_file **ret_files, size_t *ret_count,
                            struct ids_error *err) {
    struct ids_member_list list = {0};
    struct ids_run_file *files = NULL;
    size_t count = 0;
    int code = reader_open(file->reader, file->archive, err);
    if (code) return code;
    code = ids_archive_list(file->reader->archive, &list, err);
    if (code) return ids_error_at(err, "'%s'", file->archive);
    files = calloc(list.count + 1, sizeof *files);
    code = files ? add_neighbours(file, &list, files, &count, err) : ids_no_memory(err);
    ids_member_list_done(&list);
    if (code) {
        ids_run_file_neighbours_free(files, count);
        return code;
    }
    *ret_files = files;
    *ret_count = count;
    return 0;
}

void ids_run_file_neighbours_free(struct ids_run_file *files, size_t count) {
    for (size_t i = 0; i < count; i++) ids_run_file_done(&files[i]);
    free(files);
}
