/* Which of the profiles in one folder are one run (run_files.h says by which rules). */
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/io/run_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_FILES_OF_RUN = 4096, /* hosts */
    STAMP_DIGITS = 10,       /* of a time since 1970: seconds; more digits are parts of one */
    ONE_RUN_SECONDS = 300,
};

static const char *name_of(const struct ids_run_file *file) {
    return file->origin ? file->origin : ids_last_component(file->path, strlen(file->path));
}

/* All are of one folder. */
static int by_name(const void *a, const void *b) {
    const struct ids_run_file *left = a, *right = b;
    int order = strcmp(name_of(left), name_of(right));
    return order ? order : strcmp(left->path, right->path);
}

const char ids_same_run[] = "of a run whose other file is read, which holds as much or more";

/* Of several the first by name is kept, whatever order they come in. Takes the path over. */
static int note_also(struct ids_finder *finder, struct ids_run_files *run, char *path) {
    int code = ids_pass_over(finder, path, ids_same_run, 1, 0);
    run->also_count++;
    if (run->also && strcmp(run->also, path) <= 0) {
        free(path);
        return code;
    }
    free(run->also);
    run->also = path;
    return code;
}

static int push_file(struct ids_finder *finder, struct ids_run_files *run, size_t *room, struct ids_run_file *file) {
    if (run->file_count == MAX_FILES_OF_RUN) {
        return ids_fail(finder->err, IDS_LIMIT, "'%s' holds more than %d profiles", run->path, MAX_FILES_OF_RUN);
    }
    struct ids_run_file *place = IDS_PUSH(run->files, run->file_count, *room);
    if (!place) return ids_no_memory(finder->err);
    *place = *file;
    *file = (struct ids_run_file){0};
    return 0;
}

/* Like the files of the run, no more of them than there may be of these. */
static int push_beside(struct ids_finder *finder, struct ids_run_files *run, size_t *room, struct ids_run_file *file) {
    if (run->beside_count == MAX_FILES_OF_RUN) return 0;
    struct ids_run_file *place = IDS_PUSH(run->beside, run->beside_count, *room);
    if (!place) return ids_no_memory(finder->err);
    *place = *file;
    *file = (struct ids_run_file){0};
    return 0;
}

static void run_done(struct ids_run_files *run) {
    for (size_t i = 0; i < run->file_count; i++) ids_run_file_done(&run->files[i]);
    for (size_t i = 0; i < run->beside_count; i++) ids_run_file_done(&run->beside[i]);
    free(run->beside);
    free(run->files);
    free(run->path);
    free(run->also);
}

/* Moves the run into the list. */
static int add_run(struct ids_finder *finder, struct ids_run_files *run) {
    struct ids_run_files *place = IDS_PUSH(finder->list.runs, finder->list.run_count, finder->run_room);
    if (!place) return ids_no_memory(finder->err);
    if (run->file_count) qsort(run->files, run->file_count, sizeof *run->files, by_name);
    if (run->beside_count) qsort(run->beside, run->beside_count, sizeof *run->beside, by_name);
    *place = *run;
    *run = (struct ids_run_files){0};
    return 0;
}

/* ---- endings that say what a file is ---- */

static int is_named(const struct ids_candidate *candidate) {
    return !candidate->suffix.generic && !candidate->suffix.beside;
}

/* What stands before the ending is the host's name. */
static uint64_t host_key(const struct ids_candidate *candidate) {
    const char *name = name_of(&candidate->file);
    size_t length = strlen(name) - candidate->suffix.length;
    return ids_key_of(ids_hash_bytes(name, length), length);
}

/* The better of two forms of one host has the lower number; what cannot be read comes behind all others. */
static uint64_t order_of(const struct ids_candidate *candidate) {
    enum { FORMS_MOST = 1000 };
    return (uint64_t)candidate->suffix.rank + 1 + (candidate->file.unreadable ? FORMS_MOST : 0);
}

/* The best form of each host; *ret_best is that of all files. 0, or -1 when memory ran out. */
static int find_forms(const struct ids_candidates *candidates, struct ids_keymap *best_of, uint64_t *ret_best) {
    *ret_best = UINT64_MAX;
    for (size_t i = 0; i < candidates->count; i++) {
        const struct ids_candidate *candidate = &candidates->items[i];
        if (!is_named(candidate) || candidate->file.origin) continue;
        const uint64_t order = order_of(candidate);
        uint64_t *best = ids_keymap_at(best_of, host_key(candidate));
        if (!best) return -1;
        if (!*best || order < *best) *best = order;
        if (order < *ret_best) *ret_best = order;
    }
    return 0;
}

/* Each host is read in its best form. Of what cannot be read only that counts which has the form of the others: of the
 * rest nobody knows whether it is of the run. */
static int is_of_run(const struct ids_candidate *candidate, const struct ids_keymap *best_of, uint64_t best) {
    uint64_t own = 0;
    if (candidate->file.origin) return !candidate->is_known;
    ids_keymap_get(best_of, host_key(candidate), &own);
    if (order_of(candidate) != own) return 0;
    return !candidate->file.unreadable || own == best || (uint64_t)candidate->suffix.rank + 1 == best;
}

static int settle_named(struct ids_finder *finder, const char *folder, struct ids_candidates *candidates) {
    struct ids_run_files run = {.path = strdup(folder)};
    struct ids_keymap best_of = {0};
    uint64_t best = 0;
    size_t room = 0, beside_room = 0;
    int is_there = 0, code = run.path && !find_forms(candidates, &best_of, &best) ? 0 : ids_no_memory(finder->err);
    for (size_t i = 0; i < candidates->count; i++) is_there |= is_named(&candidates->items[i]);
    for (size_t i = 0; i < candidates->count && !code; i++) {
        struct ids_candidate *candidate = &candidates->items[i];
        if (candidate->suffix.generic) continue;
        if (candidate->suffix.beside) {
            if (is_there && !candidate->is_known) code = push_beside(finder, &run, &beside_room, &candidate->file);
        } else if (is_of_run(candidate, &best_of, best)) {
            code = push_file(finder, &run, &room, &candidate->file);
        } else {
            code = note_also(finder, &run, candidate->file.path);
            candidate->file.path = NULL;
        }
    }
    ids_keymap_done(&best_of);
    if (!code && run.file_count) code = add_run(finder, &run);
    run_done(&run);
    return code;
}

/* ---- generic endings ---- */

/* The last folder of `path` before `*length`, which is moved in front of it. */
static int cut_folder(const char *path, size_t *length, const char *wanted) {
    while (*length && path[*length - 1] == '/') --*length;
    size_t end = *length;
    while (*length && path[*length - 1] != '/') --*length;
    return !wanted || (end - *length == strlen(wanted) && !strncmp(path + *length, wanted, end - *length));
}

int ids_is_companion(const char *folder, const char *path, int named) {
    const char *name = ids_last_component(path, strlen(path));
    size_t length = strlen(folder);
    if (!named) return 0;
    return !strncmp(name, "perfetto_trace.", strlen("perfetto_trace.")) ||
           (cut_folder(folder, &length, NULL) && cut_folder(folder, &length, "profile"));
}

/* What a file name says: files of one job have the same `job` and different ranks. */
struct role {
    struct ids_candidate *candidate;
    char *stem; /* the name without its ending */
    char *job;  /* NULL: none, a run of its own */
    char *rank;
    int64_t stamp; /* seconds since 1970, or 0 */
    char *also;    /* the path of the same file, packed otherwise, or NULL */
};

static size_t count_digits(const char *text) {
    return strspn(text, "0123456789");
}

static int64_t stamp_of(const char *digits) {
    int64_t seconds = 0;
    for (int i = 0; i < STAMP_DIGITS; i++) seconds = seconds * 10 + (digits[i] - '0');
    return seconds;
}

/* The digits of a rank that begin at `at` ("rank-07"), or NULL. */
static const char *rank_digits(const char *stem, const char *at) {
    static const char *const words[] = {"rank", "worker"};
    if (at > stem && isalpha((unsigned char)at[-1])) return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (strncasecmp(at, words[i], length) != 0) continue;
        at += length;
        if (*at && strchr("-_.=", *at)) at++;
        return count_digits(at) ? at : NULL;
    }
    return NULL;
}

/* "<worker>.<time>" */
static int read_pytorch(struct role *role) {
    char *dot = strrchr(role->stem, '.');
    size_t digits = dot ? count_digits(dot + 1) : 0;
    int timed = dot && dot > role->stem && digits >= STAMP_DIGITS && !dot[1 + digits];
    if (timed) role->stamp = stamp_of(dot + 1);
    role->rank = timed ? strndup(role->stem, (size_t)(dot - role->stem)) : strdup(role->stem);
    role->job = strdup("");
    return role->job && role->rank ? 0 : -1;
}

/* A job's name is the stem with "#" for the rank and for times. */
static int read_ranked(struct role *role) {
    const char *digits = NULL;
    for (const char *at = role->stem; *at && !digits; at++) digits = rank_digits(role->stem, at);
    if (!digits) return 0;
    role->rank = strndup(digits, count_digits(digits));
    role->job = malloc(strlen(role->stem) + 1);
    if (!role->job || !role->rank) return -1;
    char *to = role->job;
    for (const char *at = role->stem; *at;) {
        size_t length = count_digits(at);
        int is_time = length >= STAMP_DIGITS && at != digits;
        if (is_time && !role->stamp) role->stamp = stamp_of(at);
        if (at == digits || is_time) {
            *to++ = '#';
            at += length;
        } else {
            if (!length) length = 1;
            memcpy(to, at, length);
            to += length;
            at += length;
        }
    }
    *to = '\0';
    return 0;
}

static int read_role(struct role *role, struct ids_candidate *candidate, const struct ids_run_kinds *kinds) {
    const char *name = name_of(&candidate->file);
    role->candidate = candidate;
    role->stem = strndup(name, strlen(name) - candidate->suffix.length);
    if (!role->stem) return -1;
    int pytorch = candidate->suffix.length && !strncmp(kinds->generic[candidate->suffix.rank], ".pt.", 4);
    return pytorch ? read_pytorch(role) : read_ranked(role);
}

static int by_stem(const void *a, const void *b) {
    const struct role *left = a, *right = b;
    int order = strcmp(left->stem, right->stem);
    if (order) return order;
    if (!left->candidate->file.origin != !right->candidate->file.origin) return left->candidate->file.origin ? 1 : -1;
    return left->candidate->suffix.rank - right->candidate->suffix.rank;
}

/* Ranks of a job side by side, in the order of time; what is of no job by name. */
static int by_job(const void *a, const void *b) {
    const struct role *left = a, *right = b;
    if (!left->job != !right->job) return left->job ? 1 : -1;
    int order = left->job ? strcmp(left->job, right->job) : 0;
    if (order) return order;
    if (left->job && left->stamp != right->stamp) return left->stamp < right->stamp ? -1 : 1;
    return strcmp(left->stem, right->stem);
}

static uint64_t rank_key(const struct role *role) {
    size_t length = strlen(role->rank); /* the hash alone is the same for "6" and "466" */
    return ids_key_of(ids_hash_bytes(role->rank, length), length);
}

/* Does the file go on with the run of roles [first, next), whose ranks are in the map? 1, 0, or -1 when memory ran
 * out. */
static int goes_on(const struct role *roles, size_t first, size_t next, struct ids_keymap *ranks) {
    if (!roles[next].job || !roles[first].job || strcmp(roles[first].job, roles[next].job) != 0) return 0;
    if (roles[next].stamp - roles[first].stamp > ONE_RUN_SECONDS) return 0;
    return ids_keymap_add(ranks, rank_key(&roles[next]), 1);
}

static void role_done(struct role *role) {
    free(role->stem);
    free(role->job);
    free(role->rank);
    free(role->also);
}

/* The length of a name without ".gz". */
static size_t plain_length(const char *name) {
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".gz") ? length - 3 : length;
}

static int are_twins(const struct role *a, const struct role *b) {
    if (b->candidate->is_known) return !strcmp(a->stem, b->stem);
    if (b->candidate->file.origin) return 0;
    const char *left = a->candidate->file.path, *right = b->candidate->file.path;
    return plain_length(left) == plain_length(right) && !strncmp(left, right, plain_length(left));
}

/* A file that is there both packed and plain, or as a partial too, is taken once. Returns how many are left. */
static size_t join_twins(struct role *roles, size_t count) {
    size_t kept = 0;
    qsort(roles, count, sizeof *roles, by_stem);
    for (size_t i = 0; i < count; i++) {
        if (kept && are_twins(&roles[kept - 1], &roles[i])) {
            free(roles[kept - 1].also);
            roles[kept - 1].also = roles[i].candidate->file.path;
            roles[i].candidate->file.path = NULL;
            role_done(&roles[i]);
        } else {
            roles[kept++] = roles[i];
        }
    }
    return kept;
}

/* Roles [first, end) are a run. */
static int add_ranks(struct ids_finder *finder, const char *path, struct role *roles, size_t first, size_t end) {
    struct ids_run_files run = {.path = strdup(path)};
    size_t room = 0;
    int code = run.path ? 0 : ids_no_memory(finder->err);
    for (size_t i = first; i < end && !code; i++) {
        code = push_file(finder, &run, &room, &roles[i].candidate->file);
        if (!code && roles[i].also)
            code = note_also(finder, &run, roles[i].also);
        else
            free(roles[i].also);
        roles[i].also = NULL;
    }
    if (!code) code = add_run(finder, &run);
    run_done(&run);
    return code;
}

static int settle_roles(struct ids_finder *finder, const char *folder, int alone, struct role *roles, size_t count) {
    int code = 0;
    qsort(roles, count, sizeof *roles, by_job);
    for (size_t first = 0, end; first < count && !code; first = end) {
        struct ids_keymap ranks = {0};
        int more = roles[first].job ? ids_keymap_add(&ranks, rank_key(&roles[first]), 1) : 0;
        for (end = first + 1; end < count && more > 0 && (more = goes_on(roles, first, end, &ranks)) > 0;) end++;
        ids_keymap_done(&ranks);
        if (more < 0) return ids_no_memory(finder->err);
        /* The folder is the run when there is nothing else in it but ranks of one job. */
        int whole = alone && first == 0 && end == count && roles[0].job;
        code = add_ranks(finder, whole ? folder : roles[first].candidate->file.path, roles, first, end);
    }
    return code;
}

static int settle_generic(struct ids_finder *finder, const char *folder, struct ids_candidates *candidates) {
    struct role *roles = calloc(candidates->count, sizeof *roles);
    size_t count = 0;
    int code = roles ? 0 : ids_no_memory(finder->err), alone = 1;
    for (size_t i = 0; i < candidates->count && !code; i++) {
        struct ids_candidate *candidate = &candidates->items[i];
        if (!candidate->suffix.generic) {
            alone = 0;
        } else if (read_role(&roles[count++], candidate, finder->kinds)) {
            code = ids_no_memory(finder->err);
        }
    }
    if (!code) {
        count = join_twins(roles, count);
        code = settle_roles(finder, folder, alone, roles, count);
    }
    for (size_t i = 0; roles && i < count; i++) role_done(&roles[i]);
    free(roles);
    return code;
}

int ids_settle_folder(struct ids_finder *finder, const char *folder, struct ids_candidates *candidates) {
    int code = ids_stand_in(finder, candidates);
    if (!code) code = settle_named(finder, folder, candidates);
    return code ? code : settle_generic(finder, folder, candidates);
}
