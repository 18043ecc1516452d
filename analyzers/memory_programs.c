#include "analyzers/memory_programs.h"

#include "analyzers/remedies.h"
#include "lib/base/saturate.h"
#include "lib/hlo/program_memory.h"
#include "lib/hlo/scope.h"
#include "lib/model/programs.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PROGRAMS = 100, MOST_VALUES = 200, MOST_ARGUMENTS = 50 };

static const struct ids_column_def program_columns[] = {
    {"program", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"program_id", "program id", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"total", "in all", IDS_UNIT_BYTES, 0},
    {"arguments", "arguments", IDS_UNIT_BYTES, 0},
    {"in_place", "in place", IDS_UNIT_BYTES, 0},
    {"results", "results", IDS_UNIT_BYTES, 0},
    {"temporaries", "temporaries", IDS_UNIT_BYTES, 0},
    {"constants", "constants", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"on_host", "on the host", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"elsewhere", "elsewhere", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"not_donated", "not donated", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"peak_at", "most temporaries at", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
};
const struct ids_table_def ids_program_memory_table = {
    "program_memory",
    "memory of programs",
    program_columns,
    IDS_COUNT_OF(program_columns),
    "One row per compiled program that ran, the largest first: what it keeps in the memory of its device while it "
    "runs, as XLA's buffer assignment says. `arguments` has those `in_place`, whose memory results take (donated "
    "ones), so that `results` has the others alone. `temporaries` is the memory that they share, at the instruction "
    "`peak_at` the most. `not_donated` is the sum of the table not_donated.",
    0,
};

static const struct ids_column_def value_columns[] = {
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"kind", "kind", IDS_UNIT_NONE, 0},
    {"name", "value", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"shape", "shape", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"scope", "scope", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"padding", "padding", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"program", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"op_name", "in the program", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"is_at_peak", "at the peak", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
};
const struct ids_table_def ids_program_values_table = {
    "program_values",
    "largest values of programs",
    value_columns,
    IDS_COUNT_OF(value_columns),
    "The largest arguments, results, constants and temporaries of each program that ran, of temporaries those that "
    "live when most do (`is_at_peak`; where XLA did not say, the largest); at most 16 of a program, and none below a "
    "hundredth of it. `share` is of the program's memory. `padding` is what the layout adds, of `bytes`.",
    0,
};

static const struct ids_column_def kept_columns[] = {
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"argument", "argument", IDS_UNIT_NONE, IDS_COLUMN_NAME},
    {"arrays", "arrays", IDS_UNIT_COUNT, 0},
    {"program", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"donate", "to donate it", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
};
const struct ids_table_def ids_not_donated_table = {
    "not_donated",
    "arguments that are not donated",
    kept_columns,
    IDS_COUNT_OF(kept_columns),
    "Arguments of programs that ran which are not donated, although results replace them and could take their memory: "
    "a result has their shape and is made out of them element by element, in a part, or by a loop, by however many of "
    "these in a row, and their name says that they are state (params, opt_state, cache), or they are a tree of arrays "
    "that are all replaced. `share` is of "
    "the program's memory, `donate` what to give to jax.jit. Whether the caller uses them afterwards, which donation "
    "forbids, the program does not say.",
    0,
};

struct listed {
    const struct ids_program_memory *program;
    int64_t total, not_donated;
};

static int64_t total_of(const struct ids_program_memory_info *info) {
    const int64_t parts[] = {info->arguments, info->results, info->temporaries, info->constants};
    int64_t total = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) ids_sum(&total, parts[i]);
    return total;
}

static int largest_first(const void *a, const void *b) {
    const struct listed *left = a, *right = b;
    if (left->total != right->total) return left->total < right->total ? 1 : -1;
    return (left->program > right->program) - (left->program < right->program);
}

/* Those that ran, by their numbers and names; a CPU's modules may have no number. Of hosts with the same programs the
 * first one's. -1 when memory ran out. */
static int64_t find_programs(const struct ids_trace *trace, struct listed *listed) {
    struct ids_keymap ran = {0}, seen = {0};
    int64_t count = 0;
    for (size_t m = 0; m < trace->module_count && count >= 0; m++) {
        const struct ids_module *module = &trace->modules[m];
        if (ids_keymap_add(&ran, ids_key_of(module->program_id, module->name), 1) < 0) count = -1;
    }
    for (size_t p = 0; p < trace->program_count && count >= 0; p++) {
        const struct ids_program_memory *program = &trace->programs[p];
        uint64_t key = ids_key_of(program->info.program_id, program->info.module), unused;
        if (!ids_keymap_get(&ran, key, &unused) && !ids_keymap_get(&ran, ids_key_of(0, program->info.module), &unused))
            continue;
        int is_new = ids_keymap_add(&seen, ids_key_of(key, (uint64_t)total_of(&program->info)), 1);
        if (is_new > 0) listed[count++] = (struct listed){program, total_of(&program->info), 0};
        if (is_new < 0) count = -1;
    }
    ids_keymap_done(&ran);
    ids_keymap_done(&seen);
    return count;
}

static const char *text_of(const struct ids_trace *trace, uint32_t text) {
    return text ? ids_trace_text(trace, text) : NULL;
}

static struct ids_value share_of(int64_t part, int64_t whole) {
    return whole > 0 ? ids_real_value(IDS_UNIT_RATIO, (double)part / (double)whole) : ids_no_value(IDS_UNIT_RATIO);
}

/* --- programs --------------------------------------------------------------------------------------------------- */

static void list_program(const struct ids_trace *trace, struct ids_report *report, struct ids_table *table,
                         const struct listed *of) {
    const struct ids_program_memory_info *info = &of->program->info;
    struct ids_value row[] = {
        ids_text_value(ids_trace_text(trace, info->module)),
        ids_text_value(ids_report_text(report, "%llu", (unsigned long long)info->program_id)),
        ids_int_value(IDS_UNIT_BYTES, of->total),
        ids_int_value(IDS_UNIT_BYTES, info->arguments),
        ids_int_value(IDS_UNIT_BYTES, info->in_place),
        ids_int_value(IDS_UNIT_BYTES, info->results),
        ids_int_value(IDS_UNIT_BYTES, info->temporaries),
        info->constants ? ids_int_value(IDS_UNIT_BYTES, info->constants) : ids_no_value(IDS_UNIT_BYTES),
        info->on_host ? ids_int_value(IDS_UNIT_BYTES, info->on_host) : ids_no_value(IDS_UNIT_BYTES),
        ids_int_value(IDS_UNIT_BYTES, info->elsewhere),
        of->not_donated ? ids_int_value(IDS_UNIT_BYTES, of->not_donated) : ids_no_value(IDS_UNIT_BYTES),
        ids_text_value(text_of(trace, info->peak)),
    };
    IDS_ROW(report, table, program_columns, row);
}

/* --- values ----------------------------------------------------------------------------------------------------- */

struct value {
    const struct ids_program_value *value;
    const struct listed *of;
};

static int most_bytes_first(const void *a, const void *b) {
    const struct value *left = a, *right = b;
    if (left->value->bytes != right->value->bytes) return left->value->bytes < right->value->bytes ? 1 : -1;
    return (left->value > right->value) - (left->value < right->value);
}

static const char *kind_name(const struct ids_program_value *value) {
    static const char *const names[IDS_HLO_VALUE_KINDS] = {
        [IDS_HLO_ARGUMENT] = "argument",
        [IDS_HLO_RESULT] = "result",
        [IDS_HLO_TEMPORARY] = "temporary",
        [IDS_HLO_CONSTANT] = "constant",
    };
    return value->in_place ? "in place" : value->kind < IDS_HLO_VALUE_KINDS ? names[value->kind] : "unknown";
}

static void list_value(const struct ids_trace *trace, struct ids_report *report, struct ids_table *table,
                       const struct value *of) {
    const struct ids_program_value *value = of->value;
    const char *op_name = text_of(trace, value->op_name), *name = text_of(trace, value->name);
    char scope[IDS_SCOPE_BYTES] = "";
    int is_argument = value->kind == IDS_HLO_ARGUMENT;
    if (op_name && !is_argument) ids_scope_of(op_name, scope);
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_BYTES, value->bytes),
        share_of(value->bytes, of->of->total),
        ids_text_value(kind_name(value)),
        ids_text_value(is_argument && op_name ? op_name
                       : name                 ? name
                                              : "unknown"),
        ids_text_value(text_of(trace, value->shape)),
        ids_text_value(*scope ? scope : NULL),
        ids_text_value(text_of(trace, value->source)),
        value->padding ? ids_int_value(IDS_UNIT_BYTES, value->padding) : ids_no_value(IDS_UNIT_BYTES),
        ids_text_value(ids_trace_text(trace, of->of->program->info.module)),
        ids_text_value(op_name),
        ids_int_value(IDS_UNIT_COUNT, value->at_peak),
    };
    IDS_ROW(report, table, value_columns, row);
}

static int list_values(const struct ids_trace *trace, struct ids_report *report, const struct listed *listed,
                       size_t count) {
    struct ids_table *table = ids_report_table(report, &ids_program_values_table);
    struct value *values = calloc(trace->program_value_count + 1, sizeof *values);
    size_t value_count = 0;
    if (!values) return -1;
    for (size_t i = 0; i < count; i++) {
        const struct ids_program_memory *program = listed[i].program;
        for (size_t v = 0; v < program->info.value_count; v++)
            values[value_count++] = (struct value){&trace->program_values[program->first_value + v], &listed[i]};
    }
    if (value_count) qsort(values, value_count, sizeof *values, most_bytes_first);
    for (size_t i = 0; i < value_count && i < MOST_VALUES; i++) list_value(trace, report, table, &values[i]);
    if (value_count > MOST_VALUES) table->rows_left_out += (int64_t)(value_count - MOST_VALUES);
    free(values);
    return 0;
}

/* --- arguments -------------------------------------------------------------------------------------------------- */

struct kept {
    const struct ids_kept_argument *argument;
    const struct listed *of;
};

static int most_kept_first(const void *a, const void *b) {
    const struct kept *left = a, *right = b;
    if (left->argument->bytes != right->argument->bytes) return left->argument->bytes < right->argument->bytes ? 1 : -1;
    return (left->argument > right->argument) - (left->argument < right->argument);
}

/* Names of Python's parameters; "args[0]" is one of several without a name of its own. */
static const char *to_donate(struct ids_report *report, const char *argument) {
    size_t length = strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    int is_name = length && strchr("[.(", argument[length]) && strncmp(argument, "args[", 5) != 0;
    if (!is_name || (argument[0] >= '0' && argument[0] <= '9')) return "donate_argnums";
    return ids_report_text(report, "donate_argnames=\"%.*s\"", (int)length, argument);
}

static int list_kept(const struct ids_trace *trace, struct ids_report *report, const struct listed *listed,
                     size_t count) {
    struct ids_table *table = ids_report_table(report, &ids_not_donated_table);
    struct kept *kept = calloc(trace->kept_argument_count + 1, sizeof *kept);
    size_t kept_count = 0;
    if (!kept) return -1;
    for (size_t i = 0; i < count; i++) {
        const struct ids_program_memory *program = listed[i].program;
        for (size_t k = 0; k < program->info.kept_count; k++)
            kept[kept_count++] = (struct kept){&trace->kept_arguments[program->first_kept + k], &listed[i]};
    }
    if (kept_count) qsort(kept, kept_count, sizeof *kept, most_kept_first);
    for (size_t i = 0; i < kept_count && i < MOST_ARGUMENTS; i++) {
        const struct ids_kept_argument *argument = kept[i].argument;
        const char *name = argument->name ? ids_trace_text(trace, argument->name) : NULL;
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_BYTES, argument->bytes),
            share_of(argument->bytes, kept[i].of->total),
            ids_text_value(name ? name : "unnamed"),
            ids_int_value(IDS_UNIT_COUNT, argument->arrays),
            ids_text_value(ids_trace_text(trace, kept[i].of->program->info.module)),
            ids_text_value(ids_framework_of(trace) == IDS_JAX ? to_donate(report, name ? name : "") : NULL),
        };
        IDS_ROW(report, table, kept_columns, row);
    }
    if (kept_count > MOST_ARGUMENTS) table->rows_left_out += (int64_t)(kept_count - MOST_ARGUMENTS);
    free(kept);
    return 0;
}

int ids_list_program_memory(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_table *table = ids_report_table(report, &ids_program_memory_table);
    struct listed *listed = calloc(trace->program_count + 1, sizeof *listed);
    int64_t count = listed ? find_programs(trace, listed) : -1, not_donated = 0;
    if (count > 0) qsort(listed, (size_t)count, sizeof *listed, largest_first);
    for (int64_t i = 0; i < count; i++) {
        const struct ids_program_memory *program = listed[i].program;
        for (size_t k = 0; k < program->info.kept_count; k++)
            ids_sum(&listed[i].not_donated, trace->kept_arguments[program->first_kept + k].bytes);
        if (i >= MOST_PROGRAMS) continue;
        list_program(trace, report, table, &listed[i]);
        if (listed[i].not_donated > not_donated) not_donated = listed[i].not_donated;
    }
    struct ids_metric *metric =
        count > 0 ? ids_report_metric(report, "memory.not_donated", NULL, ids_int_value(IDS_UNIT_BYTES, not_donated))
                  : NULL;
    if (metric && !not_donated)
        ids_report_rule(report, metric,
                        "of arguments that their names call state (params, opt_state, cache), and of trees that are "
                        "replaced whole; of others it is not known");
    if (count > MOST_PROGRAMS) table->rows_left_out += count - MOST_PROGRAMS;
    int failed = count < 0 || list_values(trace, report, listed, (size_t)count) ||
                 list_kept(trace, report, listed, (size_t)count);
    free(listed);
    return failed ? ids_no_memory(err) : 0;
}
