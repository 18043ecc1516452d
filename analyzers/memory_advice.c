#include "analyzers/memory_advice.h"

#include "analyzers/op_remedy.h"
#include "lib/base/counted.h"

#include <string.h>

/* Where the grade of memory.share ends to be good (lib/analysis/grades.c). */
#define NEARLY_FULL 0.9

/* What programs keep without need is worth a word from so much of a device's memory on; where that is not known, from
 * so many bytes. */
struct least {
    double of_memory;
    int64_t bytes;
};
static const struct least worth_donating = {0.02, 16 << 20}, worth_splitting = {0.1, 64 << 20};
/* Donating is a change of one word: less is worth it where it is a large part of its program, or memory is scarce. */
static const struct least worth_a_word = {0.001, 1 << 20};
#define LARGE_PART_OF_PROGRAM 0.2
#define SCARCE 0.75
/* One temporary is most of a program from here on. */
#define MOST_OF_PROGRAM 0.4

/* A row of one of the report's tables. */
struct row {
    const struct ids_table *table;
    size_t row;
};

static const struct ids_value *cell(const struct row *row, const char *column) {
    return ids_table_cell(row->table, row->row, ids_table_column(row->table, column));
}

static const char *text(const struct row *row, const char *column) {
    const struct ids_value *value = cell(row, column);
    return value->missing ? "" : value->text;
}

static int64_t number(const struct row *row, const char *column) {
    const struct ids_value *value = cell(row, column);
    return value->missing ? -1 : value->i;
}

static const char *say(struct ids_report *report, struct ids_value value) {
    char shown[IDS_VALUE_ROOM];
    return ids_report_text(report, "%s", ids_value_format(value, shown, sizeof shown));
}

static const char *say_bytes(struct ids_report *report, int64_t bytes) {
    return say(report, ids_int_value(IDS_UNIT_BYTES, bytes));
}

/* The rows of a table that are of that allocator, with the most bytes first, as the table has them. */
static int first_of(const struct ids_report *report, const char *table, const char *allocator, struct row *ret_row) {
    *ret_row = (struct row){ids_report_find_table(report, table), 0};
    for (; ret_row->table && ret_row->row < ret_row->table->row_count; ret_row->row++) {
        if (!strcmp(text(ret_row, "allocator"), allocator) && !cell(ret_row, "count")->missing) return 1;
    }
    return 0;
}

/* "PjitFunction(add), called by step (train.py:12), f32[8]" */
static const char *say_taker(struct ids_report *report, const struct row *live) {
    const char *caller = text(live, "caller"), *shape = text(live, "shape"), *by = text(live, "taken_by");
    int same = !strcmp(caller, by);
    return ids_report_text(report, "%s%s%s%s%s", by, *caller && !same ? ", called by " : "", same ? "" : caller,
                           *shape ? ", " : "", shape);
}

static const char *say_full_after(struct ids_report *report, const struct row *row) {
    int64_t capacity = number(row, "capacity"), peak = number(row, "peak"), bytes = number(row, "leak_bytes"),
            steps = number(row, "leak_steps");
    if (capacity <= peak || bytes <= 0 || steps <= 0) return "";
    int64_t times = (capacity - peak) / bytes;
    double after = (double)times * (double)number(row, "compared_steps") / (double)steps;
    if (after > 1e9) return "";
    return ids_report_text(report, "; at this rate it is full after %s", IDS_COUNTED((int64_t)after, "step"));
}

/* "in each step", "in 4 of 13 steps": how often a leak leaks. */
static const char *say_how_often(struct ids_report *report, int64_t times, int64_t steps) {
    if (times >= steps) return "in each step";
    return ids_report_text(report, "in %lld of %s", (long long)times, IDS_COUNTED(steps, "step"));
}

static void on_leak(struct ids_report *report, const struct row *row, struct ids_memory_advice *advice) {
    struct row kept;
    const char *who = "", *of = text(row, "allocator");
    int64_t times = number(row, "leak_steps"), steps = number(row, "compared_steps");
    int is_kept = first_of(report, "memory_kept", of, &kept);
    if (is_kept && strcmp(text(&kept, "taken_by"), "not recorded") != 0) who = say_taker(report, &kept);
    advice->what = ids_report_text(
        report,
        "Memory leaks: %s more %s, never given back%s%s - drop the references to what a step made "
        "(lists of losses or outputs, caches, closures), or copy to the host what is kept",
        say_bytes(report, number(row, "leak_bytes")), say_how_often(report, times, steps), *who ? ": " : "", who);
    const char *by =
        times >= steps ? ids_report_text(report, ", by %s to %s a step", say_bytes(report, number(row, "growth_from")),
                                         say_bytes(report, number(row, "growth_to")))
                       : ", at regular distances";
    advice->evidence = ids_report_text(report, "%s grew in %lld of %s%s%s%s", of, (long long)number(row, "grown_steps"),
                                       IDS_COUNTED(steps, "step"), by, say_full_after(report, row),
                                       is_kept ? ids_report_text(report, "; it took %s that are still in use",
                                                                 say_bytes(report, number(&kept, "bytes")))
                                               : "");
    advice->explain = "memory.growth";
}

/* How many steps the program had done when the window ended; 0 unknown. A file may call its steps anything. */
static double steps_done(const struct ids_report *report) {
    struct row row = {ids_report_find_table(report, "steps"), 0};
    if (!row.table || !row.table->row_count) return 0;
    row.row = row.table->row_count - 1;
    return (double)number(&row, "step") + 1;
}

/* About one a step, or more. */
static int is_in_each_step(int64_t count, int64_t steps) {
    return (double)count >= 0.8 * (double)steps;
}

/* Arrays of one line that became more in the window. One or more in each step are a leak; fewer, where about as many
 * live as came together if it went on like that since the program began: a queue that is a little fuller is none. */
static int is_held_leak(const struct row *row, int64_t steps, double steps_done) {
    enum { LEAST_BYTES = 1024, LEAST_TIMES = 2 };
    int64_t bytes = number(row, "grown_bytes"), count = number(row, "grown_count"), alive = number(row, "count");
    if (!strcmp(text(row, "kind"), "executable") || count < LEAST_TIMES || bytes / count < LEAST_BYTES) return 0;
    if (is_in_each_step(count, steps)) return 1;
    double expected = (double)count * steps_done / (double)steps;
    return steps_done > (double)steps && (double)alive >= expected * 0.75 && (double)alive <= expected * 1.5;
}

/* The line of the program whose arrays became most more: two device memory profiles tell it without an allocator's
 * events. */
static int on_held(struct ids_report *report, struct ids_memory_advice *advice) {
    enum { LEAST_STEPS = 5 };
    const struct ids_metric *steps = ids_report_find(report, "steps.count", NULL);
    struct row row = {ids_report_find_table(report, "held"), 0}, most = {0};
    if (!row.table || !steps || steps->value.missing || steps->value.i < LEAST_STEPS) return 0;
    for (; row.row < row.table->row_count; row.row++) {
        if (cell(&row, "grown_bytes")->missing || !is_held_leak(&row, steps->value.i, steps_done(report))) continue;
        if (!most.table || number(&row, "grown_bytes") > number(&most, "grown_bytes")) most = row;
    }
    if (!most.table) return 0;
    int64_t bytes = number(&most, "grown_bytes"), count = number(&most, "grown_count");
    int is_in_each = is_in_each_step(count, steps->value.i);
    const char *call = text(&most, "call");
    advice->what =
        ids_report_text(report,
                        "Memory leaks: about %s more %s: arrays that %s makes (%s%s%s) - drop the references to what a "
                        "step made (lists of losses or outputs, caches, closures), or copy to the host what is kept",
                        say_bytes(report, is_in_each ? bytes / steps->value.i : bytes / count),
                        is_in_each ? "in each step" : say_how_often(report, count, steps->value.i),
                        text(&most, "made_in"), text(&most, "source"), *call ? ", by " : "", call);
    advice->evidence =
        ids_report_text(report, "%s more of them lived when the window ended than when it began, %s in %s; %s live",
                        IDS_COUNTED(count, "array"), say_bytes(report, bytes), IDS_COUNTED(steps->value.i, "step"),
                        IDS_COUNTED(number(&most, "count"), "array"));
    advice->explain = "memory.held";
    return 1;
}

/* Between its lowest point and its peak a step has what it computes; whose use moves by less than a fiftieth took its
 * memory before, and a larger input may have room in it. */
static int is_steady(const struct row *row) {
    enum { MOVES = 50 };
    int64_t peak = number(row, "peak"), lowest = number(row, "lowest");
    return lowest >= 0 && peak - lowest < peak / MOVES;
}

static void on_full(struct ids_report *report, const struct row *row, int is_jax, struct ids_memory_advice *advice) {
    struct row live;
    advice->is_steady = is_steady(row);
    const char *of = text(row, "allocator"), *most = "";
    if (first_of(report, "live_at_peak", of, &live) && strcmp(text(&live, "taken_by"), "not recorded") != 0)
        most = ids_report_text(report, "; most at the peak: %s by %s", say_bytes(report, number(&live, "bytes")),
                               say_taker(report, &live));
    const char *less = is_jax ? "donate what a step replaces (donate_argnums), recompute instead of keeping "
                                "(jax.checkpoint), shard, or make the batch smaller"
                              : "recompute instead of keeping (activation checkpointing), shard, or make the batch "
                                "smaller";
    advice->what =
        advice->is_steady
            ? ids_report_text(report,
                              "Memory is nearly full, by what the program holds all of the time: as it should "
                              "where that is a pool (a server's cache) - if it is none, %s",
                              less)
            : ids_report_text(report, "Memory is nearly full: a larger input ends the program out of memory - %s",
                              less);
    advice->evidence =
        ids_report_text(report, "%s: %s of %s in use, %s%s", of, say_bytes(report, number(row, "peak")),
                        say_bytes(report, number(row, "capacity")), say(report, *cell(row, "share")), most);
    advice->explain = "memory.share";
}

/* --- programs --------------------------------------------------------------------------------------------------- */

static int matters(const struct ids_report *report, int64_t bytes, const struct least *least) {
    const struct ids_metric *capacity = ids_report_find(report, "memory.capacity", NULL);
    if (!capacity || capacity->value.missing) return bytes >= least->bytes;
    return (double)bytes >= least->of_memory * (double)capacity->value.i;
}

static int is_scarce(const struct ids_report *report) {
    const struct ids_metric *used = ids_report_find(report, "memory.share", NULL);
    return used && !used->value.missing && used->value.d >= SCARCE;
}

/* Memory is scarce, or would be if the program ran alone. */
static int is_short_for(const struct ids_report *report, double of_program) {
    const struct ids_metric *capacity = ids_report_find(report, "memory.capacity", NULL);
    int is_known = capacity && !capacity->value.missing;
    return is_scarce(report) || (is_known && of_program >= SCARCE * (double)capacity->value.i);
}

static int is_worth_donating(const struct ids_report *report, int64_t bytes, int64_t of_program) {
    int is_large = (double)bytes >= LARGE_PART_OF_PROGRAM * (double)of_program;
    return matters(report, bytes, is_scarce(report) || is_large ? &worth_a_word : &worth_donating);
}

/* How often a program has the argument of a row: it may be compiled several times. 0: an earlier row says it. */
static size_t count_times(const struct row *of, const char *program) {
    size_t count = 0;
    for (struct row row = {of->table, 0}; row.row < row.table->row_count; row.row++) {
        if (strcmp(text(&row, "program"), program) != 0 || strcmp(text(&row, "argument"), text(of, "argument")) != 0)
            continue;
        if (row.row < of->row) return 0;
        count++;
    }
    return count;
}

/* "params, opt_state and 1 more" of one program, "params (5 times)" of one that was compiled for five shapes, and what
 * to give to jax.jit. */
static const char *say_arguments(struct ids_report *report, struct row row, const char *program, const char **ret_how) {
    enum { MOST_NAMES = 3 };
    const char *names = "", *how = text(&row, "donate");
    size_t count = 0;
    for (; row.row < row.table->row_count; row.row++) {
        size_t times = strcmp(text(&row, "program"), program) != 0 ? 0 : count_times(&row, program);
        if (!times || count++ >= MOST_NAMES) continue;
        names = ids_report_text(report, "%s%s%s", names, *names ? ", " : "", text(&row, "argument"));
        if (times > 1) names = ids_report_text(report, "%s (%zu times)", names, times);
    }
    *ret_how = count == 1 && *how ? how : "donate_argnums=..., or donate_argnames";
    return count <= MOST_NAMES ? names : ids_report_text(report, "%s and %zu more", names, count - MOST_NAMES);
}

/* The program that wins most, with its arguments: those of one program stand between others. */
static int on_not_donated(struct ids_report *report, struct ids_memory_advice *advice) {
    struct row row = {ids_report_find_table(report, "not_donated"), 0},
               of = {ids_report_find_table(report, "program_memory"), 0};
    if (!row.table || !row.table->row_count || !of.table) return 0;
    const char *program = text(&row, "program");
    for (; of.row < of.table->row_count && strcmp(text(&of, "program"), program) != 0; of.row++) {
    }
    if (of.row == of.table->row_count || number(&of, "not_donated") < 0) return 0;
    int64_t bytes = number(&of, "not_donated"), total = number(&of, "total"), arrays = number(&row, "arrays");
    if (!is_worth_donating(report, bytes, total)) return 0;
    const char *how, *arguments = say_arguments(report, row, program, &how);
    advice->what =
        ids_report_text(report,
                        "%s keeps both the old and the new %s: up to %s that results could take over - donate them "
                        "(jax.jit(..., %s)) if the program does not use them afterwards",
                        program, arguments, say_bytes(report, bytes), how);
    advice->evidence = ids_report_text(report,
                                       "%s of %s are %s in %s, each with a result of its shape; the program has %s in "
                                       "memory",
                                       say_bytes(report, number(&row, "bytes")), program, text(&row, "argument"),
                                       IDS_COUNTED(arrays, "array"), say_bytes(report, total));
    advice->explain = "memory.not_donated";
    advice->bytes = bytes;
    advice->array_bytes = arrays > 0 ? number(&row, "bytes") / arrays : 0;
    advice->is_short = is_short_for(report, (double)total);
    return 1;
}

static int on_temporary(struct ids_report *report, struct ids_memory_advice *advice) {
    struct row row = {ids_report_find_table(report, "program_values"), 0};
    for (; row.table && row.row < row.table->row_count; row.row++) {
        const struct ids_value *share = cell(&row, "share");
        int64_t bytes = number(&row, "bytes");
        if (!matters(report, bytes, &worth_splitting)) return 0;
        if (strcmp(text(&row, "kind"), "temporary") != 0 || share->missing || share->d < MOST_OF_PROGRAM) continue;
        const char *scope = text(&row, "scope"), *source = text(&row, "source");
        advice->op = text(&row, "name");
        advice->op_remedy = ids_op_remedy(advice->op, text(&row, "op_name"));
        advice->bytes = bytes;
        advice->is_short = is_short_for(report, (double)bytes / share->d);
        advice->what = ids_report_text(
            report, "One temporary is most of the memory of %s: %s, %s%s%s%s%s - %s", text(&row, "program"), advice->op,
            text(&row, "shape"), *scope ? ", in " : "", scope, *source ? ", " : "", source,
            advice->op_remedy ? advice->op_remedy
                              : "compute it in blocks (scan, vmap over parts, a fused attention), recompute it "
                                "(jax.checkpoint), or hold it in a smaller type");
        advice->evidence =
            ids_report_text(report, "it has %s, %s of the program's memory%s", say_bytes(report, bytes),
                            say(report, *share), number(&row, "is_at_peak") == 1 ? ", and lives when most does" : "");
        advice->explain = "memory.peak";
        return 1;
    }
    return 0;
}

size_t ids_memory_savings(struct ids_report *report, struct ids_memory_advice advice[IDS_MEMORY_ADVICE]) {
    size_t count = 0;
    memset(advice, 0, IDS_MEMORY_ADVICE * sizeof *advice);
    count += (size_t)on_temporary(report, &advice[count]);
    count += (size_t)on_not_donated(report, &advice[count]);
    return count;
}

/* --- what ends the program -------------------------------------------------------------------------------------- */

size_t ids_memory_alarms(struct ids_report *report, int is_jax, struct ids_memory_advice advice[IDS_MEMORY_ADVICE]) {
    struct row row = {ids_report_find_table(report, "allocators"), 0};
    memset(advice, 0, IDS_MEMORY_ADVICE * sizeof *advice);
    size_t count = (size_t)on_held(report, &advice[0]);
    int leaks = count > 0, full = 0; /* a line of the program says more of a leak than an allocator */
    for (; row.table && row.row < row.table->row_count && count < IDS_MEMORY_ADVICE; row.row++) {
        const struct ids_value *share = cell(&row, "share");
        if (!leaks && number(&row, "is_leak") == 1) {
            on_leak(report, &row, &advice[count++]);
            leaks = 1;
        }
        if (count == IDS_MEMORY_ADVICE || full || share->missing || share->d < NEARLY_FULL) continue;
        if (strcmp(text(&row, "memory_of"), "device") != 0) continue;
        on_full(report, &row, is_jax, &advice[count++]);
        full = 1;
    }
    return count;
}
