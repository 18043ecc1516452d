#include "lib/io/run_parts.h"

#include "lib/base/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LOOKS = 4096, /* files of generic endings: a data set may have any number of them */
    MAX_NOTES = 64,
};

void ids_run_file_done(struct ids_run_file *file) {
    free(file->path);
    free(file->archive);
    free(file->member);
    free(file->origin);
    *file = (struct ids_run_file){0};
}

void ids_candidates_done(struct ids_candidates *candidates) {
    for (size_t i = 0; i < candidates->count; i++) ids_run_file_done(&candidates->items[i].file);
    free(candidates->items);
    *candidates = (struct ids_candidates){0};
}

static void match_longest(const char *name, const char *const *suffixes, int generic, struct ids_suffix *best) {
    size_t length = strlen(name);
    for (int rank = 0; suffixes && suffixes[rank]; rank++) {
        size_t n = strlen(suffixes[rank]);
        if (n <= best->length || length < n || strcmp(name + length - n, suffixes[rank]) != 0) continue;
        *best = (struct ids_suffix){rank, generic, 0, n};
    }
}

/* Hidden files are editors' and copies in progress ("._host..." are resource forks that macOS leaves beside copied
 * files). */
struct ids_suffix ids_suffix_of(const char *name, const struct ids_run_kinds *kinds) {
    struct ids_suffix best = {-1, 0, 0, 0};
    if (name[0] == '.') return best;
    match_longest(name, kinds->suffixes, 0, &best);
    match_longest(name, kinds->generic, 1, &best);
    return best;
}

int ids_is_beside(const char *name, const struct ids_run_kinds *kinds) {
    size_t length = strlen(name);
    for (int i = 0; name[0] != '.' && kinds->beside && kinds->beside[i]; i++) {
        size_t n = strlen(kinds->beside[i]);
        if (length > n && !strcmp(name + length - n, kinds->beside[i])) return 1;
    }
    return 0;
}

const char *ids_last_component(const char *path, size_t length) {
    while (length && path[length - 1] != '/') length--;
    return path + length;
}

char *ids_join_path(const char *folder, const char *name) {
    char *path = NULL;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

int ids_add_note(struct ids_finder *finder, const char *format, ...) {
    if (finder->list.note_count == MAX_NOTES) return 0;
    char **note = IDS_PUSH(finder->list.notes, finder->list.note_count, finder->note_room);
    if (!note) return ids_no_memory(finder->err);
    va_list args;
    va_start(args, format);
    int length = vasprintf(note, format, args);
    va_end(args);
    if (length >= 0) return 0;
    finder->list.note_count--;
    return ids_no_memory(finder->err);
}

/* The record of a capture lies beside the profiles of it. */
static int is_record(const char *path) {
    return !strcmp(ids_last_component(path, strlen(path)), "idsprof-run.json");
}

int ids_pass_over(struct ids_finder *finder, const char *path, const char *why, int same_run, int noted) {
    struct ids_run_list *list = &finder->list;
    if (!noted && is_record(path)) why = "the record of a capture", same_run = 1;
    struct ids_run_passed *passed = IDS_PUSH(list->passed, list->passed_count, finder->passed_room);
    if (!passed) return ids_no_memory(finder->err);
    *passed = (struct ids_run_passed){strdup(path), strdup(why), (uint8_t)same_run, (uint8_t)noted};
    return passed->path && passed->why ? 0 : ids_no_memory(finder->err);
}

int ids_may_look(struct ids_finder *finder) {
    if (finder->looked < MAX_LOOKS) {
        finder->looked++;
        return 1;
    }
    if (finder->looked++ == MAX_LOOKS) {
        ids_add_note(finder, "more than %d files are called like %s but not like a profile: the others are left out",
                     MAX_LOOKS, finder->kinds->generic[0]);
    }
    return 0;
}
