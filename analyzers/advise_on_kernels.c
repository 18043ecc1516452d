/* advise_on_kernels.c - small kernels and why they are small, low occupancy, products beside the matrix units. */
#include "analyzers/advise_on.h"
#include "lib/base/saturate.h"

#include <string.h>

/* How often a program ran: as its op that ran least, for those in its loops run more often. 0: it is not known. */
static int64_t runs_of(const struct ids_adviser *adviser, const char *program) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "ops");
    int module = ids_table_column(table, "module"), count = ids_table_column(table, "count");
    int64_t least = 0;
    if (module < 0 || count < 0) return 0;
    for (size_t row = 0; row < table->row_count; row++) {
        const char *own = ids_table_cell(table, row, module)->text;
        int64_t runs = ids_table_cell(table, row, count)->i;
        if (own && !strcmp(own, program) && runs > 0 && (!least || runs < least)) least = runs;
    }
    return least;
}

/* Nearly all of the device's time is in it, and it runs once a step: the whole step is under one jit. */
static int is_whole_step(const struct ids_adviser *adviser, const char *program, int64_t own_ps, int64_t all_ps) {
    int64_t runs = runs_of(adviser, program), steps = (int64_t)adviser->pieces.steps;
    int64_t devices = (int64_t)adviser->analysis->chosen_count;
    return own_ps >= all_ps - all_ps / 10 && runs > 0 && steps > 1 && runs <= (steps + steps / 2) * devices;
}

/* The compiled program that has most of the device's time, when it is large or the whole step: "jit more" is no advice
 * for it. */
static const char *large_program_of(const struct ids_adviser *adviser) {
    enum { MANY_OPS = 100 };
    const struct ids_table *table = ids_report_find_table(adviser->report, "modules");
    int name = ids_table_column(table, "name"), ops = ids_table_column(table, "ops"),
        self = ids_table_column(table, "self");
    if (name < 0 || ops < 0 || self < 0) return NULL;
    size_t most = 0;
    int64_t most_ps = 0, all_ps = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        int64_t self_ps = ids_table_cell(table, row, self)->i;
        ids_sum(&all_ps, self_ps);
        if (self_ps <= most_ps) continue;
        most = row;
        most_ps = self_ps;
    }
    if (most_ps <= all_ps / 2) return NULL;
    const char *program = ids_table_cell(table, most, name)->text;
    int is_large = ids_table_cell(table, most, ops)->i >= MANY_OPS;
    return program && (is_large || is_whole_step(adviser, program, most_ps, all_ps)) ? program : NULL;
}

/* "; those that XLA could fuse are kept apart by: a reduction (60.0 % of their time)", where the graph tells. */
static const char *say_between(const struct ids_adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "splits");
    int time = ids_table_column(table, "time"), between = ids_table_column(table, "between");
    int64_t all_ps = 0;
    if (!table || !table->row_count) return "";
    for (size_t row = 0; row < table->row_count; row++) ids_sum(&all_ps, ids_table_cell(table, row, time)->i);
    return ids_report_text(adviser->report, "; those that XLA could fuse are kept apart by: %s (%s of their time)",
                           ids_table_cell(table, 0, between)->text,
                           ids_say_share(adviser, ids_table_cell(table, 0, time)->i, all_ps));
}

static const char *say_fuse(const struct ids_adviser *adviser) {
    const char *program = large_program_of(adviser);
    /* Who launches graphs has compiled, or has kernels of its own: torch.compile fuses no more of them. */
    int is_made = adviser->is_compiled || adviser->launches_graphs;
    if (adviser->framework == IDS_PYTORCH && !adviser->trains)
        return is_made ? "Many small kernels: use fused ones (attention, norms)"
                       : "Many small kernels: fuse them (torch.compile, fused attention and norms)";
    if (adviser->framework == IDS_PYTORCH)
        return is_made ? "Many small kernels: use fused ones (optimizers, attention)"
                       : "Many small kernels: fuse them (torch.compile, fused optimizers and attention)";
    if (adviser->framework != IDS_JAX) return "Many small kernels: fuse them";
    if (!program)
        return "Many small kernels: jit larger functions so that XLA fuses them, with fewer control-flow branches";
    return ids_report_text(
        adviser->report,
        "Many small kernels within one compiled program (%s) - look at what stands between them (--by op --sort "
        "count): XLA does not fuse across custom calls, collectives and loops",
        program);
}

/* Fusing wins what they compute and what launching them costs: where both are little, or dispatch was advised on, it
 * is no advice. */
void ids_advise_on_small_kernels(struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    if (ids_adviser_ratio(adviser, "kernels.small_share") < 0.5 ||
        ids_adviser_ratio(adviser, "kernels.small_time_share") < 0.1)
        return;
    struct ids_value count;
    if (!ids_adviser_has(adviser, "kernels.small_count", &count) || ids_adviser_per_step(adviser, count.i) < 10) return;
    /* Graded good: half of the time is in kernels that are far from small. */
    struct ids_value median;
    if (ids_adviser_has(adviser, "kernels.median", &median) &&
        median.i / IDS_TIMES_SMALL >= adviser->analysis->params.small_kernel_ps)
        return;
    if (pieces->compute_ps < pieces->time_ps / 10 || ids_adviser_has_said(adviser, IDS_HOST_DISPATCH)) return;
    ids_adviser_remark(
        adviser, "kernels.small_count", say_fuse(adviser),
        ids_report_text(adviser->report, "%s kernels below the threshold: %s of kernels, %s of kernel time%s",
                        ids_say_metric(adviser, "kernels.small_count"), ids_say_metric(adviser, "kernels.small_share"),
                        ids_say_metric(adviser, "kernels.small_time_share"), say_between(adviser)));
}

struct ids_kernel_advice ids_matrix_advice_of(const struct ids_adviser *adviser) {
    const struct ids_device *device = adviser->analysis->busy[adviser->pieces.decider].device;
    return ids_matrix_advice(
        adviser->report,
        &(struct ids_matrix_circumstances){adviser->framework, device,
                                           ids_peaks_of(adviser->analysis->trace, device, &adviser->analysis->params)});
}

/* Kernels decide only where the device computes for a good part of the step. */
void ids_advise_on_kernels(struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    if (pieces->compute_ps < pieces->time_ps / 4) return;
    struct ids_kernel_advice low = ids_low_occupancy_advice(adviser->report);
    struct ids_kernel_advice matrix = ids_matrix_advice_of(adviser);
    if (matrix.what && !adviser->told_matrix) ids_adviser_remark(adviser, matrix.explain, matrix.what, matrix.evidence);
    if (low.what) ids_adviser_remark(adviser, low.explain, low.what, low.evidence);
}
