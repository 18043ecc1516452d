#include "lib/run/recordings.h"

#include "lib/base/decimal.h"
#include "lib/base/vec.h"
#include "lib/run/find_runs.h"
#include "lib/run/open_run.h"
#include "lib/run/pattern.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS_MOST = 4096, DEVICES_MOST = 1000000, DEPTH_MOST = 6, ENTRIES_MOST = 20000 };

struct opening {
    struct ids_engine *engine;
    struct ids_recordings *to;
    size_t operand, entries;
    const char *method;
    double devices;
};

static const char *keep(struct ids_recordings *recordings, const char *text, size_t length) {
    return ids_arena_copy(&recordings->arena, text, length);
}

static int add(struct opening *opening, const char *path, const char *name, struct ids_recording **ret_recording,
               struct ids_error *err) {
    struct ids_recordings *to = opening->to;
    if (to->count == RUNS_MOST) return ids_fail(err, IDS_LIMIT, "'%s': more than %d runs", path, RUNS_MOST);
    struct ids_recording *recording = IDS_PUSH(to->at, to->count, to->room);
    if (!recording) return ids_no_memory(err);
    *recording = (struct ids_recording){.path = keep(to, path, strlen(path)),
                                        .name = keep(to, name, strlen(name)),
                                        .operand = opening->operand,
                                        .method = opening->method,
                                        .devices = opening->devices};
    ids_report_init(&recording->report);
    *ret_recording = recording;
    return recording->path && recording->name ? 0 : ids_no_memory(err);
}

/* "the file is empty" of "'runs/a.pb': the file is empty": the path stands beside it. */
static const char *without_path(const char *text) {
    const char *end = *text == '\'' ? strstr(text, "': ") : NULL;
    return end ? end + 3 : text;
}

static int cannot_use(struct ids_recordings *to, struct ids_recording *recording, const struct ids_error *why,
                      struct ids_error *err) {
    char whole[IDS_ERROR_WHOLE];
    const char *text = without_path(ids_error_whole(why, whole));
    recording->why = keep(to, text, strlen(text));
    return recording->why ? 0 : ids_no_memory(err);
}

static int add_run(struct opening *opening, const struct ids_run_files *run, struct ids_error *err) {
    struct ids_recording *recording;
    struct ids_params params;
    struct ids_report report;
    struct ids_error why = IDS_ERROR_INIT;
    ids_params_default(&params);
    char *inside = NULL; /* the runs of a database share its path */
    if (run->number && asprintf(&inside, "%s/%s", run->path, run->name) < 0) return ids_no_memory(err);
    int code = add(opening, inside ? inside : run->path, run->name, &recording, err);
    free(inside);
    if (code) return code;
    code = ids_open_run(opening->engine, run, &params, &report, &why);
    if (code == IDS_NOMEM) return ids_error_pass(err, &why);
    if (code) return cannot_use(opening->to, recording, &why, err);
    ids_report_done(&recording->report);
    recording->report = report;
    recording->is_read = 1;
    return 0;
}

/* ---- folders without a run ---- */

static int is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

static int has_run(const struct ids_recordings *recordings, const char *folder) {
    for (size_t i = 0; i < recordings->count; i++) {
        if (is_below(recordings->at[i].path, folder)) return 1;
    }
    return 0;
}

static int look_into(struct opening *opening, const char *folder, int depth, struct ids_error *err);

/* The topmost folder without a run: what is below it says nothing more. */
static int look_at(struct opening *opening, const char *folder, const char *name, int depth, struct ids_error *err) {
    static const char why[] = "no profile in this folder";
    struct ids_recording *recording;
    struct stat status;
    char *path = NULL;
    if (asprintf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name) < 0)
        return ids_no_memory(err);
    int code = 0;
    if (!lstat(path, &status) && S_ISDIR(status.st_mode)) {
        if (has_run(opening->to, path)) {
            code = look_into(opening, path, depth + 1, err);
        } else if (!(code = add(opening, path, name, &recording, err))) {
            recording->why = why;
            recording->is_folder = 1;
        }
    }
    free(path);
    return code;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int look_into(struct opening *opening, const char *folder, int depth, struct ids_error *err) {
    struct dirent **entries;
    int count = depth < DEPTH_MOST ? scandir(folder, &entries, NULL, by_name) : -1, code = 0;
    if (count < 0) return 0; /* what cannot be listed was noted when runs were searched */
    for (int i = 0; i < count; i++) {
        if (!code && entries[i]->d_name[0] != '.' && opening->entries++ < ENTRIES_MOST)
            code = look_at(opening, folder, entries[i]->d_name, depth, err);
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* ---- operands ---- */

static int add_path(struct opening *opening, const char *path, struct ids_error *err) {
    struct ids_run_list list;
    int code = ids_find_runs(opening->engine, path, &list, err);
    if (code) return code;
    ids_note_unreadable(opening->engine, &list);
    for (size_t i = 0; i < list.run_count && !code; i++) code = add_run(opening, &list.runs[i], err);
    ids_run_list_done(&list);
    return code ? code : look_into(opening, path, 0, err);
}

static int add_unusable(struct opening *opening, const char *path, const struct ids_error *why, struct ids_error *err) {
    const char *slash = strrchr(path, '/');
    struct ids_recording *recording;
    if (why->code == IDS_NOMEM || why->code == IDS_LIMIT) return ids_error_pass(err, why);
    int code = add(opening, path, slash && slash[1] ? slash + 1 : path, &recording, err);
    return code ? code : cannot_use(opening->to, recording, why, err);
}

static int add_pattern(struct opening *opening, const char *path, struct ids_error *err) {
    glob_t found = {0};
    int why = glob(path, IDS_PATTERN, NULL, &found);
    if (why == GLOB_NOSPACE) return ids_no_memory(err);
    int code = why ? ids_fail(err, IDS_NOT_FOUND, "'%s': nothing is called so", path) : 0;
    for (size_t i = 0; i < found.gl_pathc && !code; i++) {
        struct ids_error reason = IDS_ERROR_INIT;
        if (add_path(opening, found.gl_pathv[i], &reason))
            code = add_unusable(opening, found.gl_pathv[i], &reason, err);
    }
    globfree(&found);
    return code;
}

static int is_there(const char *path) {
    struct stat status;
    return !stat(path, &status);
}

/* Of "lcam:4=runs/c" the label is taken off; returns the path behind it. */
static const char *read_label(struct opening *opening, const char *operand) {
    const char *equals = strchr(operand, '=');
    if (is_there(operand) || !equals || equals == operand || !equals[1]) return operand;
    const char *colon = memrchr(operand, ':', (size_t)(equals - operand)), *number = colon ? colon + 1 : operand;
    int64_t devices;
    if (ids_decimal_integer(number, (size_t)(equals - number), &devices) == 1 && devices >= 1 &&
        devices <= DEVICES_MOST) {
        opening->devices = (double)devices;
        if (colon && colon > operand) opening->method = keep(opening->to, operand, (size_t)(colon - operand));
    } else {
        opening->method = keep(opening->to, operand, (size_t)(equals - operand));
    }
    return equals + 1;
}

static int add_operand(struct opening *opening, const char *operand, int is_alone, struct ids_error *err) {
    struct ids_error why = IDS_ERROR_INIT;
    const char *path = read_label(opening, operand);
    int is_pattern = strpbrk(path, "*?[{") && !is_there(path);
    int code = is_pattern ? add_pattern(opening, path, &why) : add_path(opening, path, &why);
    if (!code) return 0;
    return is_alone ? ids_error_pass(err, &why) : add_unusable(opening, path, &why, err);
}

int ids_recordings_open(struct ids_engine *engine, char *const *operands, int count,
                        struct ids_recordings *ret_recordings, struct ids_error *err) {
    int code = 0;
    *ret_recordings = (struct ids_recordings){0};
    for (int i = 0; i < count && !code; i++) {
        struct opening opening = {.engine = engine, .to = ret_recordings, .operand = (size_t)i};
        code = add_operand(&opening, operands[i], count == 1, err);
    }
    ids_engine_progress_end(engine);
    if (code) ids_recordings_done(ret_recordings);
    return code;
}

void ids_recordings_done(struct ids_recordings *recordings) {
    for (size_t i = 0; i < recordings->count; i++) ids_report_done(&recordings->at[i].report);
    free(recordings->at);
    ids_arena_done(&recordings->arena);
    *recordings = (struct ids_recordings){0};
}
