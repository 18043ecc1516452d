#include "lib/run/open_sides.h"

#include "lib/base/vec.h"
#include "lib/run/find_runs.h"
#include "lib/run/format_names.h"
#include "lib/run/open_run.h"
#include "lib/run/pattern.h"
#include "lib/run/read_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS_MOST = 4096 };

static int add_report(struct ids_engine *engine, struct ids_open_side *side, const char *path,
                      const struct ids_run_files *run, const struct ids_params *chosen, struct ids_error *err) {
    struct ids_params params;
    struct ids_report report;
    ids_params_default(&params);
    if (chosen) params = *chosen;
    if (side->count == RUNS_MOST) return ids_fail(err, IDS_LIMIT, "'%s': more than %d runs", path, RUNS_MOST);
    if (side->count == side->room) {
        size_t room = side->room;
        void *reports = ids_vec_grow(side->reports, &room, sizeof *side->reports);
        if (reports) side->reports = reports;
        struct ids_run_label *labels = reports ? realloc(side->labels, room * sizeof *labels) : NULL;
        if (!labels) return ids_no_memory(err);
        side->labels = labels;
        side->room = room;
    }
    int code = ids_open_run(engine, run, &params, &report, err);
    if (code) return code;
    ids_label_run(run, &side->labels[side->count]);
    struct stat status;
    if (!side->run_path && run->path && !stat(run->path, &status)) side->run_path = strdup(run->path);
    side->reports[side->count++] = report;
    return 0;
}

static int leave_out(struct ids_engine *engine, struct ids_open_side *side, struct ids_error *err) {
    char whole[IDS_ERROR_WHOLE];
    ids_engine_progress_end(engine);
    ids_engine_note(engine, "left out: %s", ids_error_whole(err, whole));
    *err = (struct ids_error)IDS_ERROR_INIT;
    side->left_out++;
    return 0;
}

/* Where there are several runs, a bad one does not stop the others. */
static int add_runs(struct ids_engine *engine, struct ids_open_side *side, const char *path, int several,
                    const struct ids_open_options *options, struct ids_error *err) {
    struct ids_run_list list;
    int code = ids_find_runs(engine, path, &list, err);
    if (code) return code;
    ids_note_unreadable(engine, &list);
    size_t first = options->newest > 0 && (uint64_t)options->newest < list.run_count
                       ? list.run_count - (size_t)options->newest
                       : 0;
    for (size_t i = first; i < list.run_count && !code; i++) {
        code = add_report(engine, side, path, &list.runs[i], options->params, err);
        if (!code || code == IDS_NOMEM || code == IDS_LIMIT || (!several && list.run_count == 1)) continue;
        code = leave_out(engine, side, err);
    }
    ids_run_list_done(&list);
    return code;
}

/* Of the runs of a pattern (those from `first` on), whose paths say nothing of their order, all but the newest are
 * let go. */
static void keep_newest(struct ids_open_side *side, size_t first, size_t wanted) {
    while (side->count - first > wanted) {
        size_t oldest = first;
        for (size_t i = first + 1; i < side->count; i++) {
            if (side->labels[i].time_s < side->labels[oldest].time_s) oldest = i;
        }
        ids_report_done(&side->reports[oldest]);
        side->count--;
        memmove(&side->reports[oldest], &side->reports[oldest + 1], (side->count - oldest) * sizeof *side->reports);
        memmove(&side->labels[oldest], &side->labels[oldest + 1], (side->count - oldest) * sizeof *side->labels);
    }
}

static int add_pattern(struct ids_engine *engine, struct ids_open_side *side, const char *path,
                       const struct ids_open_options *options, struct ids_error *err) {
    struct ids_open_options all = *options;
    size_t first = side->count;
    glob_t found = {0};
    int why = glob(path, IDS_PATTERN, NULL, &found);
    if (why == GLOB_NOSPACE) return ids_no_memory(err);
    int code = why ? ids_fail(err, IDS_NOT_FOUND, "'%s': nothing is called so", path) : 0;
    all.newest = 0;
    for (size_t i = 0; i < found.gl_pathc && !code; i++) code = add_runs(engine, side, found.gl_pathv[i], 1, &all, err);
    globfree(&found);
    if (!code && options->newest > 0) keep_newest(side, first, (size_t)options->newest);
    return code;
}

static int is_pattern(const char *path) {
    struct stat status;
    return strpbrk(path, "*?[{") && stat(path, &status);
}

static int add_operand(struct ids_engine *engine, struct ids_open_side *side, const char *path,
                       const struct ids_open_options *options, struct ids_error *err) {
    size_t before = side->count;
    int code = is_pattern(path) ? add_pattern(engine, side, path, options, err)
                                : add_runs(engine, side, path, 0, options, err);
    return code || side->count > before ? code : ids_fail(err, IDS_NOT_FOUND, "'%s': no run that can be read", path);
}

static int comes_before(const struct ids_run_label *a, const struct ids_run_label *b) {
    if (a->step != b->step) return a->step < b->step;
    return a->time_s < b->time_s;
}

static void order_by_step(struct ids_open_side *side) {
    for (size_t i = 1; i < side->count; i++) { /* mostly in order already */
        for (size_t at = i; at && comes_before(&side->labels[at], &side->labels[at - 1]); at--) {
            struct ids_run_label label = side->labels[at];
            struct ids_report report = side->reports[at];
            side->labels[at] = side->labels[at - 1];
            side->reports[at] = side->reports[at - 1];
            side->labels[at - 1] = label;
            side->reports[at - 1] = report;
        }
    }
}

/* The name of a single run; else what the user wrote, which may be a pattern. */
static char *label_of(const struct ids_open_side *side, int operand_count) {
    const struct ids_value *name = ids_report_find_property(&side->reports[0], "name");
    const char *slash = strrchr(side->path, '/');
    if (side->count == 1 && name && name->unit == IDS_UNIT_NONE && !name->missing) return strdup(name->text);
    if (operand_count > 1) return strdup("all runs");
    return strdup(slash && slash[1] ? slash + 1 : side->path);
}

static int settle(struct ids_open_side *side, int operand_count, const struct ids_open_options *options,
                  struct ids_error *err) {
    if (options->by_step) order_by_step(side);
    side->label = label_of(side, operand_count);
    side->pointers = calloc(side->count, sizeof *side->pointers);
    if (!side->label || !side->pointers) return ids_no_memory(err);
    for (size_t i = 0; i < side->count; i++) side->pointers[i] = &side->reports[i];
    if (side->count == 1 && !is_pattern(side->path)) {
        free(side->run_path);
        side->run_path = NULL;
    }
    return ids_side_init(&side->side, side->label, side->pointers, side->count, ids_format_lacks, err);
}

int ids_open_side(struct ids_engine *engine, char *const *paths, int count, const struct ids_open_options *options,
                  struct ids_open_side *ret_side, struct ids_error *err) {
    int code = 0;
    *ret_side = (struct ids_open_side){.path = paths[0]};
    for (int i = 0; i < count && !code; i++) {
        code = add_operand(engine, ret_side, paths[i], options, err);
        if (options->go_on && count > 1 && ids_is_of_one_file(code)) code = leave_out(engine, ret_side, err);
    }
    if (!code && !ret_side->count) code = ids_fail(err, IDS_NOT_FOUND, "none of these runs can be read");
    if (!code) code = settle(ret_side, count, options, err);
    ids_engine_progress_end(engine);
    if (code) ids_open_side_done(ret_side);
    return code;
}

void ids_open_side_done(struct ids_open_side *side) {
    for (size_t i = 0; i < side->count; i++) ids_report_done(&side->reports[i]);
    ids_side_done(&side->side);
    free(side->reports);
    free(side->pointers);
    free(side->labels);
    free(side->label);
    free(side->run_path);
    *side = (struct ids_open_side){0};
}

int ids_open_sides(struct ids_engine *engine, char *const *paths, int count, const struct ids_open_options *options,
                   struct ids_open_sides *ret_sides, struct ids_error *err) {
    int code = 0;
    if (count > IDS_OPEN_SIDES_MOST) return ids_fail(err, IDS_LIMIT, "more than %d sides", IDS_OPEN_SIDES_MOST);
    *ret_sides = (struct ids_open_sides){.at = calloc((size_t)count, sizeof *ret_sides->at)};
    if (!ret_sides->at) return ids_no_memory(err);
    for (; !code && ret_sides->count < (size_t)count; ret_sides->count += !code)
        code = ids_open_side(engine, &paths[ret_sides->count], 1, options, &ret_sides->at[ret_sides->count], err);
    if (code) ids_open_sides_done(ret_sides);
    return code;
}

void ids_open_sides_done(struct ids_open_sides *sides) {
    for (size_t i = 0; i < sides->count; i++) ids_open_side_done(&sides->at[i]);
    free(sides->at);
    *sides = (struct ids_open_sides){0};
}
