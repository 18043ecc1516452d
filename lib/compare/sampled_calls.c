#include "lib/compare/sampled_calls.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ids_file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int ids_function_of(const char *culprit, const char *where, struct ids_function *ret_function) {
    const char *colon = where ? strchr(where, ':') : NULL;
    if (!culprit || !colon) return 0;
    const char *end = colon + 1 + strspn(colon + 1, "0123456789");
    if (end == colon + 1 || (*end && *end != ',')) return 0; /* something that is called in the function */
    const char *file = colon;
    while (file > where && file[-1] != '/') file--;
    *ret_function = (struct ids_function){culprit, file, strlen(culprit), (size_t)(colon - file)};
    return 1;
}

int ids_is_called(const char *call, const char *name, size_t length) {
    return !strncmp(call, name, length) && strchr(" (:,", call[length]); /* or its end */
}

int ids_is_function(const struct ids_function *function, const char *name, const char *file) {
    return ids_is_called(name, function->name, function->name_length) &&
           ids_is_called(file, function->file, function->file_length);
}

int ids_is_wait_for_machine(const char *call) {
    return !strncmp(call, "python.", 7);
}

static double number_at(const struct ids_table *table, size_t row, int column) {
    return column < 0 ? 0 : ids_value_number(*ids_table_cell(table, row, column));
}

/* A line or a depth; 0: none is known. */
static int count_at(const struct ids_table *table, size_t row, int column) {
    double number = number_at(table, row, column);
    return number > 0 && number < INT_MAX ? (int)number : 0;
}

static void read_run(const struct ids_side_run *run, const struct ids_table *stacks, struct ids_sampled_calls *calls) {
    const int call = ids_table_column(stacks, "call"), file = ids_table_column(stacks, "file"),
              line = ids_table_column(stacks, "line"), depth = ids_table_column(stacks, "depth"),
              total = ids_table_column(stacks, "total"), self = ids_table_column(stacks, "self");
    const double scale = run->weight / run->per_window;
    for (size_t row = 0; row < stacks->row_count; row++)
        calls->at[calls->count++] = (struct ids_sampled_call){.call = ids_table_text_at(stacks, row, call),
                                                              .file = ids_file_of(ids_table_text_at(stacks, row, file)),
                                                              .depth = count_at(stacks, row, depth),
                                                              .line = count_at(stacks, row, line),
                                                              .total_ps = number_at(stacks, row, total) * scale,
                                                              .self_ps = number_at(stacks, row, self) * scale};
}

/* Per sample, as if all were of the run in which one is most. */
static double sample_of(const struct ids_side_run *run) {
    const struct ids_value *period = ids_report_find_property(run->report, "stacks_period");
    if (!period || ids_report_find_property(run->report, "python_recorded")) return 0;
    return ids_value_number(*period) * run->weight / run->per;
}

int ids_is_of_one_side(const struct ids_sampled_calls sides[2], int side, double ps) {
    double own = sides[side].sample_ps, other = sides[!side].sample_ps;
    if (!(own > 0) || !(other > 0)) return 1;
    return ps / own * log(other / (own + other)) <= log(1 - IDS_CONFIDENCE);
}

int ids_sampled_calls_read(const struct ids_side *side, struct ids_sampled_calls *ret_calls) {
    size_t count = 0;
    *ret_calls = (struct ids_sampled_calls){0};
    for (size_t r = 0; r < side->run_count; r++) {
        const struct ids_table *stacks = ids_report_find_table(side->runs[r].report, "stacks");
        count += stacks ? stacks->row_count : 0;
        ret_calls->sample_ps = fmax(ret_calls->sample_ps, sample_of(&side->runs[r]));
    }
    ret_calls->at = calloc(count + 1, sizeof *ret_calls->at);
    if (!ret_calls->at) return -1;
    for (size_t r = 0; r < side->run_count && count; r++) {
        const struct ids_table *stacks = ids_report_find_table(side->runs[r].report, "stacks");
        if (stacks) read_run(&side->runs[r], stacks, ret_calls);
    }
    return 0;
}
