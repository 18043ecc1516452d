#include "lib/compare/call_rates.h"

#include <math.h>
#include <string.h>

/* Executions of a program by step: with each of them, and with a part. A window may begin and end in a turn. */
#define WITH_EACH 0.9
#define WITH_PART 0.6

static const char call[] = "call of ";

/* Of what function steps are calls; NULL: they are not. */
static const char *function_of_steps(const struct ids_side_run *run) {
    const struct ids_value *mark = ids_report_find_property(run->report, "steps.annotation");
    if (!mark || mark->missing || mark->unit != IDS_UNIT_NONE || strncmp(mark->text, call, sizeof call - 1) != 0)
        return NULL;
    return mark->text + sizeof call - 1;
}

static double steps_of(const struct ids_side_run *run) {
    const struct ids_value *count = ids_report_find_property(run->report, "steps.count");
    return count && !count->missing ? ids_value_number(*count) : NAN;
}

static const char *text_at(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    const struct ids_value *value = column < 0 ? NULL : ids_table_cell(table, row, column);
    return value && !value->missing && value->unit == IDS_UNIT_NONE ? value->text : "";
}

/* Executions of all programs of that name by step; NAN: not known. */
static double rate_of(const struct ids_side_run *run, const char *name) {
    const struct ids_table *modules = ids_report_find_table(run->report, "modules");
    int executions = ids_table_column(modules, "executions");
    double sum = 0;
    for (size_t row = 0; executions >= 0 && row < modules->row_count; row++) {
        if (strcmp(text_at(modules, row, "name"), name) != 0) continue;
        const struct ids_value *cell = ids_table_cell(modules, row, executions);
        sum += cell->missing ? NAN : ids_value_number(*cell);
    }
    return executions < 0 ? NAN : sum / steps_of(run);
}

/* Which program comes with each step of `one` and with a part of those of `other`, where each that comes with all of
 * `one`'s does, but the steps' own; NULL: none. */
static const char *comes_with_part(const struct ids_side_run *one, const struct ids_side_run *other,
                                   const char *function) {
    const struct ids_table *modules = ids_report_find_table(one->report, "modules");
    const char *found = NULL;
    for (size_t row = 0; modules && row < modules->row_count; row++) {
        const char *name = text_at(modules, row, "name");
        const char *of = strncmp(name, "jit_", 4) ? name : name + 4;
        double here = rate_of(one, name), there = rate_of(other, name);
        if (!strcmp(of, function) || !(here >= WITH_EACH) || !(there > 0)) continue;
        if (there > WITH_PART) return NULL;
        found = name;
    }
    return found;
}

const char *ids_call_rates_unlike(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts) {
    const struct ids_side_run *run_a = &a->runs[0], *run_b = &b->runs[0];
    const char *function = function_of_steps(run_a), *of_b = function_of_steps(run_b);
    if (!function || !of_b || strcmp(function, of_b) != 0) return NULL;
    const char *of_more = comes_with_part(run_a, run_b, function), *of_less = NULL;
    if (!of_more) of_less = comes_with_part(run_b, run_a, function);
    if (!of_more && !of_less) return NULL;
    const char *program = of_more ? of_more : of_less;
    return ids_report_text(
        texts,
        "a step is a call of %s on both sides, but %s comes with each of them in %s and with %.2g of one in %s: there "
        "several make a turn of the loop, as where gradients are accumulated; count turns on both sides (idsprof "
        "capture --step-executable '^%s$')",
        function, program, of_more ? a->label : b->label, rate_of(of_more ? run_b : run_a, program),
        of_more ? b->label : a->label, strncmp(program, "jit_", 4) ? program : program + 4);
}
