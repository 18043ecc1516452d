#include "lib/io/run_files.h"

#include "lib/base/vec.h"
#include "lib/io/archive.h"
#include "lib/io/head.h"
#include "lib/io/run_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 1000000, /* so that `idsprof list /` comes to an end */
    QUICK_ARCHIVE_BYTES = 256 << 20,
};

static void run_done(struct ids_run_files *run) {
    for (size_t i = 0; i < run->file_count; i++) ids_run_file_done(&run->files[i]);
    for (size_t i = 0; i < run->beside_count; i++) ids_run_file_done(&run->beside[i]);
    free(run->beside);
    free(run->files);
    free(run->path);
    free(run->name);
    free(run->also);
}

void ids_run_list_drop(struct ids_run_list *list, size_t i) {
    run_done(&list->runs[i]);
    list->run_count--;
    memmove(&list->runs[i], &list->runs[i + 1], (list->run_count - i) * sizeof *list->runs);
}

void ids_run_list_done(struct ids_run_list *list) {
    for (size_t i = 0; i < list->run_count; i++) run_done(&list->runs[i]);
    for (size_t i = 0; i < list->note_count; i++) free(list->notes[i]);
    for (size_t i = 0; i < list->passed_count; i++) {
        free(list->passed[i].path);
        free(list->passed[i].why);
    }
    free(list->runs);
    free(list->passed);
    free(list->notes);
    free(list->unreadable);
    ids_run_reader_free(list->reader);
    *list = (struct ids_run_list){0};
}

static void set_identity(struct ids_run_file *file, const struct stat *status) {
    if (!S_ISREG(status->st_mode)) return;
    file->size = (uint64_t)status->st_size;
    file->device = status->st_dev;
    file->inode = status->st_ino;
    file->mtime_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
    file->ctime_ns = (int64_t)status->st_ctim.tv_sec * 1000000000 + status->st_ctim.tv_nsec;
    file->written_ns = file->mtime_ns;
}

/* ---- walking ---- */

/* Is it a profile, though its name does not say so? What cannot be read is said. */
static int look(struct ids_finder *finder, const struct ids_run_file *file, int *ret_is) {
    const char *path = file->path;
    struct ids_source *source = NULL;
    struct ids_error why = IDS_ERROR_INIT;
    struct ids_head head = {0};
    const char *reason = "";
    int more = 1;
    *ret_is = 0;
    int code = ids_run_file_open(file, &source, &why);
    while (!code && more) {
        code = ids_head_read(&head, source, &why);
        more = 0;
        if (!code) *ret_is = finder->kinds->is_profile(head.bytes, head.length, &reason, &more);
        more &= ids_head_has_more(&head);
    }
    ids_source_close(source);
    ids_head_done(&head);
    if (code == IDS_NOMEM) return ids_error_pass(finder->err, &why);
    if (!code) return *ret_is ? 0 : ids_pass_over(finder, path, reason, 0, 0);
    code = ids_add_note(finder, "left out: %s", why.text);
    return code ? code : ids_pass_over(finder, path, why.text, 0, 1);
}

/* Drops the files with generic endings that are no profiles of their own, and folders beside which there is no host. */
static int sift(struct ids_finder *finder, const char *folder, struct ids_candidates *candidates) {
    int named = 0, code = 0;
    size_t kept = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        const struct ids_candidate *candidate = &candidates->items[i];
        named |= !candidate->suffix.generic && !candidate->suffix.beside && !candidate->is_folder;
    }
    for (size_t i = 0; i < candidates->count; i++) {
        struct ids_candidate *candidate = &candidates->items[i];
        int is_generic = candidate->suffix.generic, keep = !is_generic && (!candidate->is_folder || named);
        if (is_generic && !code && ids_is_companion(folder, candidate->file.path, named))
            code = ids_pass_over(finder, candidate->file.path, ids_same_run, 1, 0);
        else if (is_generic && !code && ids_may_look(finder))
            code = look(finder, &candidate->file, &keep);
        if (keep) {
            candidates->items[kept++] = *candidate;
        } else {
            ids_run_file_done(&candidate->file);
        }
    }
    candidates->count = kept;
    return code;
}

static int note_unreadable(struct ids_finder *finder, const char *path, int why) {
    if (why == ENOMEM) return ids_no_memory(finder->err);
    if (finder->list.unreadable_count++) return 0;
    finder->refused = why;
    finder->list.unreadable = strdup(path);
    return finder->list.unreadable ? 0 : ids_no_memory(finder->err);
}

static int add_candidate(struct ids_finder *finder, struct ids_candidates *candidates, const char *folder,
                         const char *name, struct ids_suffix suffix, const struct stat *status,
                         const char *unreadable) {
    char *path = ids_join_path(folder, name);
    struct ids_candidate *candidate = path ? IDS_PUSH(candidates->items, candidates->count, candidates->room) : NULL;
    if (!candidate) {
        free(path);
        return ids_no_memory(finder->err);
    }
    *candidate = (struct ids_candidate){
        .file = {.path = path, .unreadable = unreadable}, .suffix = suffix, .is_folder = S_ISDIR(status->st_mode)};
    set_identity(&candidate->file, status);
    return 0;
}

/* An archive that lies among runs. One that cannot be read does not stop the others. */
static int visit_archive(struct ids_finder *finder, const char *folder, const char *name, const struct stat *status) {
    size_t length = strlen(name);
    int jumps = !strcmp(name + length - 4, ".tar") || !strcmp(name + length - 4, ".zip");
    char *path = ids_join_path(folder, name);
    if (!path) return ids_no_memory(finder->err);
    int code;
    if (!jumps && status->st_size > QUICK_ARCHIVE_BYTES) {
        code = ids_add_note(finder, "'%s': a packed archive of more than %d MiB, left out: name it to look into it",
                            path, QUICK_ARCHIVE_BYTES >> 20);
    } else {
        struct ids_run_file identity = {0};
        struct ids_error why = IDS_ERROR_INIT, *err = finder->err;
        set_identity(&identity, status);
        finder->err = &why;
        code = ids_find_in_archive(finder, path, &identity);
        finder->err = err;
        if (code == IDS_NOMEM) {
            ids_error_pass(err, &why);
        } else if (code) {
            finder->list.damaged++;
            code = ids_add_note(finder, "left out: %s", why.text);
        }
    }
    free(path);
    return code;
}

static int walk(struct ids_finder *finder, int parent, const char *name, const char *path, int depth);

static int worth_a_look(const struct ids_finder *finder, const char *name) {
    return ids_suffix_of(name, finder->kinds).rank >= 0 || ids_is_beside(name, finder->kinds) ||
           (name[0] != '.' && ids_archive_named(name));
}

/* Whether `path` is `folder` or below it; both are absolute and have no links. */
static int is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

/* A link to a folder may lead round in circles, and is not followed. What it leads to is said, unless it is looked at
 * anyway ("latest"), or leads up. */
static int note_link(struct ids_finder *finder, int folder_fd, const char *folder, const char *name) {
    struct stat status;
    if (name[0] == '.' || fstatat(folder_fd, name, &status, 0) || !S_ISDIR(status.st_mode)) return 0;
    char *path = ids_join_path(folder, name);
    if (!path) return ids_no_memory(finder->err);
    char *target = realpath(path, NULL), *root = realpath(finder->root, NULL);
    int code = 0;
    if (target && root && !is_below(target, root) && !is_below(root, target))
        code = ids_add_note(finder, "'%s' is a link to a folder, and is not followed: name it to look into it", path);
    free(path);
    free(target);
    free(root);
    return code;
}

/* Why what is called like a profile is no file; NULL when it is one. *status is all zero for a link to nothing. */
static const char *why_no_file(int folder_fd, const char *name, struct stat *status) {
    if (fstatat(folder_fd, name, status, 0)) {
        int is_absent = errno == ENOENT || errno == ENOTDIR;
        *status = (struct stat){0};
        return is_absent ? "a link to a file that is not there" : "a link that cannot be followed";
    }
    if (S_ISREG(status->st_mode)) return NULL;
    return S_ISDIR(status->st_mode)    ? "a folder, not a file"
           : S_ISFIFO(status->st_mode) ? "a FIFO, not a file"
           : S_ISSOCK(status->st_mode) ? "a socket, not a file"
                                       : "a device, not a file";
}

static int visit_folder(struct ids_finder *finder, int folder_fd, const char *folder, const char *name, int depth) {
    struct stat status;
    if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(status.st_mode)) return 0;
    if (depth == IDS_RUN_MAX_DEPTH) return 0;
    char *path = ids_join_path(folder, name);
    if (!path) return ids_no_memory(finder->err);
    int code = walk(finder, folder_fd, name, path, depth + 1);
    free(path);
    return code;
}

/* A host whose file is none is said when the run is read, as one that cannot be read; it would be missed silently. A
 * folder may be called anything: it is a host without a file only beside others, and where it holds no run itself. */
static int visit_named(struct ids_finder *finder, int folder_fd, const char *folder, const char *name, int depth,
                       struct ids_candidates *candidates) {
    struct ids_suffix suffix = ids_suffix_of(name, finder->kinds);
    struct stat status;
    suffix.beside = suffix.rank < 0 && ids_is_beside(name, finder->kinds);
    /* Links to files are followed: runs are often collected that way. */
    const char *why = why_no_file(folder_fd, name, &status);
    if (!why && suffix.rank < 0 && !suffix.beside) return visit_archive(finder, folder, name, &status);
    if (S_ISDIR(status.st_mode)) {
        size_t runs = finder->list.run_count;
        int code = visit_folder(finder, folder_fd, folder, name, depth);
        if (code || finder->list.run_count > runs || suffix.rank < 0 || suffix.generic) return code;
    } else if (why && suffix.rank < 0 && !suffix.beside) {
        return 0;
    }
    return add_candidate(finder, candidates, folder, name, suffix, &status, why);
}

static int visit(struct ids_finder *finder, int folder_fd, const char *folder, const char *name, int depth,
                 struct ids_candidates *candidates) {
    if (++finder->entries > MAX_ENTRIES) {
        return ids_fail(finder->err, IDS_LIMIT,
                        "more than %d files and folders to look through: name a folder nearer to the run", MAX_ENTRIES);
    }
    return worth_a_look(finder, name) ? visit_named(finder, folder_fd, folder, name, depth, candidates)
                                      : visit_folder(finder, folder_fd, folder, name, depth);
}

/* Looks at a folder and those below it. `path` is how messages and results call it. */
static int walk(struct ids_finder *finder, int parent, const char *name, const char *path, int depth) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        int why = errno;
        if (fd >= 0) close(fd);
        return note_unreadable(finder, path, why);
    }
    struct ids_candidates candidates = {0};
    struct dirent *entry;
    int code = 0;
    while (!code && (entry = readdir(stream))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_DIR && !worth_a_look(finder, entry->d_name)) {
            finder->entries++;
            if (entry->d_type == DT_LNK) code = note_link(finder, fd, path, entry->d_name);
            continue; /* no stat for the thousands of other files that a log folder holds */
        }
        code = visit(finder, fd, path, entry->d_name, depth, &candidates);
    }
    closedir(stream);
    if (!code) code = sift(finder, path, &candidates);
    if (!code && candidates.count) code = ids_settle_folder(finder, path, &candidates);
    ids_candidates_done(&candidates);
    return code;
}

/* ---- */

static int single_file(struct ids_finder *finder, const char *path, const struct stat *status, const char *name) {
    struct ids_run_files run = {.path = strdup(path),
                                .name = name ? strdup(name) : ids_file_run_name(path, finder->kinds),
                                .files = calloc(1, sizeof *run.files),
                                .file_count = 1};
    if (run.files) run.files[0].path = strdup(path);
    int whole = run.path && run.name && run.files && run.files[0].path;
    struct ids_run_files *place = whole ? IDS_PUSH(finder->list.runs, finder->list.run_count, finder->run_room) : NULL;
    if (!place) {
        if (!run.files) run.file_count = 0;
        run_done(&run);
        return ids_no_memory(finder->err);
    }
    set_identity(&run.files[0], status);
    *place = run;
    return 0;
}

static int by_age(const void *a, const void *b) {
    const char *path_a = ((const struct ids_run_files *)a)->path;
    const char *path_b = ((const struct ids_run_files *)b)->path;
    int order = strcmp(ids_last_component(path_a, strlen(path_a)), ids_last_component(path_b, strlen(path_b)));
    return order ? order : strcmp(path_a, path_b);
}

static void list_suffixes(char *text, size_t size, const char *const *suffixes) {
    for (int i = 0; suffixes && suffixes[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s*%s", used ? ", " : "", suffixes[i]);
    }
}

/* "; 3 files were looked at and not taken, the first: 'a.json' (JSON without ...)" */
static void list_passed(char *text, size_t size, const struct ids_run_list *list) {
    const struct ids_run_passed *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < list->passed_count; i++) {
        if (list->passed[i].noted) continue;
        if (!count++) first = &list->passed[i];
    }
    if (first)
        snprintf(text, size, "; %zu file%s looked at and not taken%s '%.200s' (%.100s)", count,
                 count == 1 ? " was" : "s were", count == 1 ? ":" : ", the first:", first->path, first->why);
}

static int none_found(const struct ids_finder *finder, const char *path) {
    if (finder->list.unreadable) {
        errno = finder->refused;
        return ids_fail_system(finder->err, "cannot read '%s'", finder->list.unreadable);
    }
    char wanted[160] = "", passed[400] = "";
    list_suffixes(wanted, sizeof wanted, finder->kinds->suffixes);
    list_suffixes(wanted, sizeof wanted, finder->kinds->generic);
    list_passed(passed, sizeof passed, &finder->list);
    return ids_fail(finder->err, finder->list.damaged ? IDS_CORRUPT : IDS_NOT_FOUND,
                    "no profile in '%s' (looked for %s, %d folders deep)%s%s%s", path, wanted, IDS_RUN_MAX_DEPTH,
                    finder->list.note_count ? "; " : "", finder->list.note_count ? finder->list.notes[0] : "", passed);
}

/* By its name or its content. What cannot be opened is said when it is read. */
static int is_archive(const char *path, const struct ids_run_kinds *kinds, int *ret_code, struct ids_error *err) {
    struct ids_source *source = NULL;
    struct ids_error why = IDS_ERROR_INIT;
    int looks = 0;
    *ret_code = 0;
    if (ids_archive_named(path)) return 1;
    if (ids_suffix_of(ids_last_component(path, strlen(path)), kinds).rank >= 0) return 0;
    int code = ids_source_open(path, &source, &why);
    if (!code) code = ids_archive_looks(source, &looks, &why);
    ids_source_close(source);
    if (code == IDS_NOMEM) *ret_code = ids_no_memory(err);
    return !code && looks;
}

static int find(struct ids_finder *finder, const char *path) {
    struct stat status;
    int code;
    if (!strcmp(path, "-")) {
        if (fstat(STDIN_FILENO, &status)) return ids_fail_system(finder->err, "standard input");
        return single_file(finder, path, &status, "stdin");
    }
    if (stat(path, &status)) {
        int is_absent = errno == ENOENT;
        code = ids_fail_system(finder->err, "cannot open '%s'", path);
        return is_absent ? finder->err->code = IDS_NOT_FOUND : code;
    }
    if (S_ISDIR(status.st_mode)) {
        code = walk(finder, AT_FDCWD, path, path, 0);
    } else if (S_ISREG(status.st_mode) && is_archive(path, finder->kinds, &code, finder->err)) {
        struct ids_run_file identity = {0};
        set_identity(&identity, &status);
        code = ids_find_in_archive(finder, path, &identity);
    } else {
        return single_file(finder, path, &status, NULL);
    }
    if (code) return code;
    if (!finder->list.run_count) return none_found(finder, path);
    qsort(finder->list.runs, finder->list.run_count, sizeof *finder->list.runs, by_age);
    return ids_name_runs(&finder->list, path, finder->kinds, finder->err);
}

int ids_runs_find(const char *path, const struct ids_run_kinds *kinds, struct ids_run_list *ret_list,
                  struct ids_error *err) {
    struct ids_finder finder = {.kinds = kinds, .err = err, .root = path};
    int code = find(&finder, path);
    if (code) {
        ids_run_list_done(&finder.list);
        return code;
    }
    *ret_list = finder.list;
    return 0;
}
