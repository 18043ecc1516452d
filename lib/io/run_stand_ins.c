/* Partials that lie among profiles: each stands for the profile that it was made of (run_files.h says by which
 * rules). */
#include "lib/io/run_parts.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 2048 };

static const char *name_of(const struct ids_candidate *candidate) {
    const struct ids_run_file *file = &candidate->file;
    return file->origin ? file->origin : ids_last_component(file->path, strlen(file->path));
}

static int is_partial(const struct ids_candidate *candidate, const struct ids_run_kinds *kinds) {
    const char *path = candidate->file.path;
    size_t length = strlen(path), end = strlen(kinds->partial);
    return length > end && !strcmp(path + length - end, kinds->partial);
}

/* By what it says of itself, and where it says nothing by its own name. */
static char *find_origin(const struct ids_candidate *candidate, const struct ids_run_kinds *kinds) {
    char path[PATH_ROOM];
    if (kinds->origin_of(&candidate->file, path, sizeof path) && *path)
        return strdup(ids_last_component(path, strlen(path)));
    const char *name = name_of(candidate);
    return strndup(name, strlen(name) - strlen(kinds->partial));
}

/* Is it the profile that the partial was made of, or the same host's in another form? */
static int has_made(const struct ids_candidate *profile, const struct ids_candidate *partial) {
    if (profile->file.origin || profile->suffix.beside != partial->suffix.beside) return 0;
    const char *a = name_of(profile), *b = name_of(partial);
    if (profile->suffix.beside) return !strcmp(a, b);
    if (profile->suffix.generic != partial->suffix.generic) return 0;
    size_t length = strlen(a) - profile->suffix.length;
    return length == strlen(b) - partial->suffix.length && !memcmp(a, b, length);
}

/* One of a profile with a name that says nothing is a host of the run whose files say by their names what they are. */
static struct ids_suffix ending_of(const char *origin, int named, const struct ids_run_kinds *kinds) {
    struct ids_suffix suffix = ids_suffix_of(origin, kinds);
    if (suffix.rank >= 0) return suffix;
    if (ids_is_beside(origin, kinds)) return (struct ids_suffix){-1, 0, 1, 0};
    return (struct ids_suffix){0, !named, 0, 0};
}

int ids_stand_in(struct ids_finder *finder, struct ids_candidates *candidates) {
    const struct ids_run_kinds *kinds = finder->kinds;
    size_t partials = 0, profiles = 0;
    int named = 0;
    for (size_t i = 0; kinds->partial && i < candidates->count; i++) {
        const struct ids_candidate *candidate = &candidates->items[i];
        int partial = is_partial(candidate, kinds);
        partials += partial != 0;
        profiles += !partial && !candidate->suffix.beside;
        named |= !partial && !candidate->suffix.beside && !candidate->suffix.generic;
    }
    if (!partials || !profiles) return 0;
    for (size_t i = 0; i < candidates->count; i++) {
        struct ids_candidate *candidate = &candidates->items[i];
        if (!is_partial(candidate, kinds)) continue;
        candidate->file.origin = find_origin(candidate, kinds);
        if (!candidate->file.origin) return ids_no_memory(finder->err);
        candidate->suffix = ending_of(candidate->file.origin, named, kinds);
        for (size_t j = 0; j < candidates->count && !candidate->is_known; j++)
            candidate->is_known = has_made(&candidates->items[j], candidate);
    }
    return 0;
}
