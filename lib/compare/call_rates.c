#include "lib/compare/call_rates.h"

#include <math.h>
#include <string.h>

/* Executions of a program by step: with each of them, and with a part. A window may begin and end in a turn. */
#define WITH_EACH 0.9
#define WITH_PART 0.6
/* Of a program that comes with a part of the steps on both sides. */
#define OTHER_PART 1.6

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

/* The capture counted how many calls there are to a turn, which the program comes with: a window has a few of them. */
static int is_of_turn(const struct ids_side_run *run, const char *name, double *ret_rate) {
    const struct ids_value *every = ids_report_find_property(run->report, "turn_every");
    const struct ids_value *turn = ids_report_find_property(run->report, "turn");
    const char *function = strncmp(name, "jit_", 4) ? name : name + 4;
    if (!every || every->missing || every->i < 1 || !turn || turn->missing || turn->unit != IDS_UNIT_NONE) return 0;
    if (strncmp(turn->text, function, strlen(function)) != 0 || turn->text[strlen(function)] != ' ') return 0;
    *ret_rate = 1 / (double)every->i;
    return 1;
}

/* Executions of all programs of that name by step; NAN: not known. */
static double rate_of(const struct ids_side_run *run, const char *name) {
    const struct ids_table *modules = ids_report_find_table(run->report, "modules");
    int executions = ids_table_column(modules, "executions");
    double sum = 0, rate;
    if (is_of_turn(run, name, &rate)) return rate;
    for (size_t row = 0; executions >= 0 && row < modules->row_count; row++) {
        if (strcmp(text_at(modules, row, "name"), name) != 0) continue;
        const struct ids_value *cell = ids_table_cell(modules, row, executions);
        sum += cell->missing ? NAN : ids_value_number(*cell);
    }
    return executions < 0 ? NAN : sum / steps_of(run);
}

static int is_program_of(const char *program, const char *function) {
    return !strcmp(strncmp(program, "jit_", 4) ? program : program + 4, function);
}

/* Which program comes with each step of `one` and with a part of those of `other`, where each that comes with all of
 * `one`'s does, but the steps' own; NULL: none. */
static const char *comes_with_part(const struct ids_side_run *one, const struct ids_side_run *other,
                                   const char *function) {
    const struct ids_table *modules = ids_report_find_table(one->report, "modules");
    const char *found = NULL;
    for (size_t row = 0; modules && row < modules->row_count; row++) {
        const char *name = text_at(modules, row, "name");
        double here = rate_of(one, name), there = rate_of(other, name);
        if (is_program_of(name, function) || !(here >= WITH_EACH) || !(there > 0)) continue;
        if (there > WITH_PART) return NULL;
        found = name;
    }
    return found;
}

/* Of what function steps are calls on both sides; NULL: they are not, or of two. */
static const char *function_of_both(const struct ids_side_run *a, const struct ids_side_run *b) {
    const char *function = function_of_steps(a), *of_b = function_of_steps(b);
    return function && of_b && !strcmp(function, of_b) ? function : NULL;
}

const char *ids_call_rates_other(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts) {
    const struct ids_side_run *run_a = &a->runs[0], *run_b = &b->runs[0];
    const struct ids_table *modules = ids_report_find_table(run_a->report, "modules");
    const char *function = function_of_both(run_a, run_b);
    for (size_t row = 0; function && modules && row < modules->row_count; row++) {
        const char *name = text_at(modules, row, "name");
        double of_a = rate_of(run_a, name), of_b = rate_of(run_b, name);
        if (is_program_of(name, function) || !(of_a > 0 && of_b > 0) || fmax(of_a, of_b) > WITH_PART) continue;
        if (fmax(of_a, of_b) < OTHER_PART * fmin(of_a, of_b)) continue;
        return ids_report_text(
            texts,
            "a step is a call of %s, and %s comes with %.2g of one in %s and with %.2g in %s: should "
            "it end a turn of the loop, a turn has another number of steps; count turns then (idsprof "
            "capture --step-executable)",
            function, name, of_a, a->label, of_b, b->label);
    }
    return NULL;
}

const char *ids_call_rates_unlike(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts) {
    const struct ids_side_run *run_a = &a->runs[0], *run_b = &b->runs[0];
    const char *function = function_of_both(run_a, run_b);
    if (!function) return NULL;
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
