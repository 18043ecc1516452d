#include "lib/run/scale_methods.h"

#include "lib/base/decimal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MOST = 1000000, KEY_BYTES = 96 };

/* A run with what tells where it belongs. */
struct sorted_run {
    const struct ids_report *report;
    const struct ids_run_label *label;
    size_t operand;
    int has_steps, is_alone; /* is_alone: its operand is this run */
    double devices, recorded;
    char method[KEY_BYTES];
};

struct ids_scale_sorted {
    struct sorted_run *runs;
    size_t run_count;
    const struct ids_report **reports; /* of all runs, those of one side together */
    struct ids_side *sides;
    struct ids_side **pointers; /* those of one method together */
    char **labels;
    double *devices;
    size_t side_count, room;
    const struct ids_engine *engine;
};

/* ---- the runs ---- */

static void leave_out(const struct ids_scale_sorted *sorted, const char *what, const char *why) {
    ids_engine_progress_end(sorted->engine);
    ids_engine_note(sorted->engine, "left out: '%s' %s", what, why);
}

static const char *path_of(const struct ids_report *report) {
    const struct ids_value *path = ids_report_find_property(report, "path");
    return path && path->unit == IDS_UNIT_NONE && !path->missing ? path->text : "a run";
}

static void take_runs(struct ids_scale_sorted *sorted, const struct ids_open_sides *opened) {
    for (size_t operand = 0; operand < opened->count; operand++) {
        const struct ids_open_side *side = &opened->at[operand];
        for (size_t i = 0; i < side->count; i++) {
            struct sorted_run *run = &sorted->runs[sorted->run_count++];
            *run = (struct sorted_run){.report = &side->reports[i],
                                       .label = &side->labels[i],
                                       .operand = operand,
                                       .is_alone = side->count == 1,
                                       .has_steps = side->side.runs[i].steps != NULL,
                                       .recorded = side->side.runs[i].devices};
            snprintf(run->method, sizeof run->method, "%s", run->label->method);
        }
    }
}

/* Runs of one folder or pattern, or operands that are a run each: among these, numbers in paths can be compared. */
static int are_together(const struct sorted_run *run, const struct sorted_run *other) {
    return run->is_alone ? other->is_alone : run->operand == other->operand;
}

/* Numbers in paths hold where they tell runs apart; a folder "8gpu" around all of them tells the machine. */
static int paths_tell(const struct ids_scale_sorted *sorted, const struct sorted_run *run) {
    for (size_t i = 0; i < sorted->run_count; i++) {
        const struct sorted_run *other = &sorted->runs[i];
        if (are_together(run, other) && other->label->gpus > 0 && other->label->gpus != run->label->gpus) return 1;
    }
    return 0;
}

static void number_runs(struct ids_scale_sorted *sorted) {
    for (size_t i = 0; i < sorted->run_count; i++) {
        struct sorted_run *run = &sorted->runs[i];
        run->devices = run->label->gpus > 0 && paths_tell(sorted, run) ? (double)run->label->gpus : run->recorded;
    }
}

static int is_divided(const struct ids_scale_sorted *sorted, size_t operands) {
    for (size_t i = 1; i < sorted->run_count && operands > 1; i++) {
        const struct sorted_run *run = &sorted->runs[i], *before = run - 1;
        if (run->operand == before->operand && run->devices != before->devices) return 1;
    }
    return operands == 1;
}

/* Of a folder only: where each operand is a configuration, a run without steps is an error, which comparing says. */
static void drop_stepless(struct ids_scale_sorted *sorted) {
    size_t kept = 0;
    for (size_t i = 0; i < sorted->run_count; i++) {
        if (sorted->runs[i].has_steps) {
            sorted->runs[kept++] = sorted->runs[i];
        } else {
            leave_out(sorted, path_of(sorted->runs[i].report), "has no steps");
        }
    }
    sorted->run_count = kept;
}

/* ---- methods ---- */

/* Whether a method has runs on two numbers of devices. */
static int some_method_scales(const struct ids_scale_sorted *sorted) {
    for (size_t i = 0; i < sorted->run_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct sorted_run *run = &sorted->runs[i], *other = &sorted->runs[k];
            if (run->devices != other->devices && !strcmp(run->method, other->method)) return 1;
        }
    }
    return 0;
}

/* "dev4" of a run on 4 devices becomes "dev": there the number is that of devices. */
static void drop_number(struct sorted_run *run) {
    char number[32];
    snprintf(number, sizeof number, "%.0f", run->devices);
    size_t length = strlen(number);
    for (char *at = run->method; *at; at++) {
        int begins = isdigit((unsigned char)*at) && (at == run->method || !isdigit((unsigned char)at[-1]));
        if (!begins || strncmp(at, number, length) != 0 || isdigit((unsigned char)at[length])) continue;
        memmove(at, at + length, strlen(at + length) + 1);
        return;
    }
}

static int is_one_method(const struct ids_scale_sorted *sorted) {
    for (size_t i = 1; i < sorted->run_count; i++) {
        if (strcmp(sorted->runs[i].method, sorted->runs[0].method) != 0) return 0;
    }
    return 1;
}

/* Where names put each run alone, they tell configurations or nothing, and no methods. */
static void name_methods(struct ids_scale_sorted *sorted) {
    if (some_method_scales(sorted)) return;
    for (size_t i = 0; i < sorted->run_count; i++) drop_number(&sorted->runs[i]);
    if (some_method_scales(sorted) && !is_one_method(sorted)) return;
    for (size_t i = 0; i < sorted->run_count; i++) sorted->runs[i].method[0] = '\0';
}

static void as_operands(struct ids_scale_sorted *sorted) {
    for (size_t i = 0; i < sorted->run_count; i++) sorted->runs[i].method[0] = '\0';
}

static int by_method(const void *a, const void *b) {
    const struct sorted_run *left = a, *right = b;
    int order = strcmp(left->method, right->method);
    if (order) return order;
    if (left->devices != right->devices) return left->devices < right->devices ? -1 : 1;
    return (left->report > right->report) - (left->report < right->report);
}

/* ---- sides ---- */

static char *label_of(const struct sorted_run *runs, size_t count) {
    const struct ids_value *name = ids_report_find_property(runs->report, "name");
    char *label = NULL;
    if (count == 1) return strdup(name && name->unit == IDS_UNIT_NONE && !name->missing ? name->text : "");
    return asprintf(&label, "%zu runs", count) < 0 ? NULL : label;
}

static int add_side(struct ids_scale_sorted *sorted, size_t from, size_t to, struct ids_error *err) {
    size_t at = sorted->side_count;
    for (size_t i = from; i < to; i++) sorted->reports[i] = sorted->runs[i].report;
    if (!(sorted->labels[at] = label_of(&sorted->runs[from], to - from))) return ids_no_memory(err);
    int code = ids_side_init(&sorted->sides[at], sorted->labels[at], &sorted->reports[from], to - from, err);
    if (code) return code;
    sorted->pointers[at] = &sorted->sides[at];
    sorted->devices[at] = sorted->runs[from].devices;
    sorted->side_count++;
    return 0;
}

static int add_method(struct ids_scale_methods *methods, size_t from, size_t to, struct ids_error *err) {
    struct ids_scale_sorted *sorted = methods->sorted;
    const struct sorted_run *runs = sorted->runs;
    size_t first = sorted->side_count;
    int code = 0;
    for (size_t i = from, end = from; i < to && !code; i = end) {
        while (end < to && runs[end].devices == runs[i].devices) end++;
        code = add_side(sorted, i, end, err);
    }
    size_t count = sorted->side_count - first;
    if (code) return code;
    if (count > 1) {
        methods->at[methods->count++] =
            (struct ids_scale_method){runs[from].method, &sorted->pointers[first], &sorted->devices[first], count};
    } else if (runs[from].method[0]) {
        char why[64];
        snprintf(why, sizeof why, "has runs only on %.0f device%s", runs[from].devices,
                 runs[from].devices == 1 ? "" : "s");
        leave_out(sorted, runs[from].method, why);
    }
    return 0;
}

static int divide(struct ids_scale_methods *methods, const char *path, struct ids_error *err) {
    struct ids_scale_sorted *sorted = methods->sorted;
    drop_stepless(sorted);
    name_methods(sorted);
    qsort(sorted->runs, sorted->run_count, sizeof *sorted->runs, by_method);
    int code = 0;
    for (size_t i = 0, end = 0; i < sorted->run_count && !code; i = end) {
        while (end < sorted->run_count && !strcmp(sorted->runs[end].method, sorted->runs[i].method)) end++;
        code = add_method(methods, i, end, err);
    }
    if (code || methods->count) return code;
    if (!sorted->run_count)
        return ids_fail(err, IDS_UNSUPPORTED,
                        "'%s': no run has steps, which scaling is measured by: annotate the loop with "
                        "jax.profiler.StepTraceAnnotation",
                        path);
    return ids_fail(err, IDS_USAGE,
                    "'%s' holds %zu run%s, all on %.0f device%s; scaling needs runs on different numbers of devices "
                    "(idsprof list shows them, and RUN... --devices gives the numbers)",
                    path, sorted->run_count, sorted->run_count == 1 ? "" : "s", sorted->runs[0].devices,
                    sorted->runs[0].devices == 1 ? "" : "s");
}

/* ---- operands that are a configuration each ---- */

/* "1,2,4,8", one a run. */
static int read_devices(const char *text, double *devices, size_t count, struct ids_error *err) {
    size_t at = 0;
    for (const char *word = text; word; at++) {
        size_t length = strcspn(word, ",");
        int64_t number;
        if (ids_decimal_integer(word, length, &number) != 1 || number < 1 || number > DEVICES_MOST)
            return ids_fail(err, IDS_USAGE, "--devices: '%.*s' is not a number of devices", (int)length, word);
        if (at < count) devices[at] = (double)number;
        word = word[length] ? word + length + 1 : NULL;
    }
    return at == count ? 0 : ids_fail(err, IDS_USAGE, "--devices names %zu numbers for %zu runs", at, count);
}

static int keep_operands(struct ids_scale_methods *methods, const char *devices, struct ids_error *err) {
    struct ids_scale_sorted *sorted = methods->sorted;
    as_operands(sorted);
    for (size_t i = 0; i < methods->opened.count; i++) sorted->pointers[i] = &methods->opened.at[i].side;
    for (size_t i = 0; i < sorted->run_count; i++) sorted->devices[sorted->runs[i].operand] = sorted->runs[i].devices;
    methods->at[methods->count++] =
        (struct ids_scale_method){"", sorted->pointers, sorted->devices, methods->opened.count};
    return devices ? read_devices(devices, sorted->devices, methods->opened.count, err) : 0;
}

/* ---- */

static int make_room(struct ids_scale_methods *methods, struct ids_error *err) {
    size_t count = methods->opened.count; /* a side an operand, even one whose runs are all left out */
    struct ids_scale_sorted *sorted = methods->sorted = calloc(1, sizeof *sorted);
    for (size_t i = 0; i < methods->opened.count; i++) count += methods->opened.at[i].count;
    methods->at = calloc(count + 1, sizeof *methods->at);
    if (!sorted || !methods->at) return ids_no_memory(err);
    sorted->room = count;
    sorted->runs = calloc(count + 1, sizeof *sorted->runs);
    sorted->reports = calloc(count + 1, sizeof *sorted->reports);
    sorted->sides = calloc(count + 1, sizeof *sorted->sides);
    sorted->pointers = calloc(count + 1, sizeof *sorted->pointers);
    sorted->labels = calloc(count + 1, sizeof *sorted->labels);
    sorted->devices = calloc(count + 1, sizeof *sorted->devices);
    int failed =
        !sorted->runs || !sorted->reports || !sorted->sides || !sorted->pointers || !sorted->labels || !sorted->devices;
    return failed ? ids_no_memory(err) : 0;
}

int ids_scale_methods_open(struct ids_engine *engine, char *const *operands, int count, const char *devices,
                           struct ids_scale_methods *ret_methods, struct ids_error *err) {
    const struct ids_open_options options = {0};
    *ret_methods = (struct ids_scale_methods){0};
    if (devices && count == 1)
        return ids_fail(err, IDS_USAGE, "--devices names a number for each RUN, and '%s' is one", operands[0]);
    int code = ids_open_sides(engine, operands, count, &options, &ret_methods->opened, err);
    if (code) return code;
    code = make_room(ret_methods, err);
    if (!code) {
        ret_methods->sorted->engine = engine;
        take_runs(ret_methods->sorted, &ret_methods->opened);
        number_runs(ret_methods->sorted);
        code = !devices && is_divided(ret_methods->sorted, (size_t)count) ? divide(ret_methods, operands[0], err)
                                                                          : keep_operands(ret_methods, devices, err);
    }
    for (size_t i = 0; i < ret_methods->count; i++)
        ids_sides_settle(ret_methods->at[i].sides, ret_methods->at[i].count);
    if (code) ids_scale_methods_done(ret_methods);
    return code;
}

static void sorted_done(struct ids_scale_sorted *sorted) {
    for (size_t i = 0; i < sorted->side_count; i++) ids_side_done(&sorted->sides[i]);
    for (size_t i = 0; sorted->labels && i <= sorted->side_count && i < sorted->room; i++) free(sorted->labels[i]);
    free(sorted->runs);
    free(sorted->reports);
    free(sorted->sides);
    free(sorted->pointers);
    free(sorted->labels);
    free(sorted->devices);
    free(sorted);
}

void ids_scale_methods_done(struct ids_scale_methods *methods) {
    if (methods->sorted) sorted_done(methods->sorted);
    free(methods->at);
    ids_open_sides_done(&methods->opened);
    *methods = (struct ids_scale_methods){0};
}
