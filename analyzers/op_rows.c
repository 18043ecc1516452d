#include "analyzers/op_rows.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

static const char *text_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = ids_table_cell(table, row, column);
    return cell->missing ? "" : cell->text;
}

static int64_t number_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = ids_table_cell(table, row, column);
    return cell->missing ? -1 : cell->i;
}

static double real_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = ids_table_cell(table, row, column);
    return cell->missing ? 0 : cell->d;
}

/* Rates and shares leave out executions whose time was lost: `untimed` of `times`. */
static void read_shares(struct ids_op_cost *cost, double flops_share, double bytes_share, int64_t untimed) {
    double share = (double)untimed / (double)cost->runs, timed = 1 - share;
    cost->flops_time = timed > 0 ? flops_share * cost->self_time / timed : 0;
    cost->bytes_time = timed > 0 ? bytes_share * cost->self_time / timed : 0;
    cost->untimed = (struct ids_untimed_cost){(uint64_t)untimed, cost->flops * share, cost->bytes * share,
                                              cost->flops_time * share, cost->bytes_time * share};
}

/* The sums behind the row's rates and shares. */
static void read_costs(const struct ids_table *ops, struct ids_op_rows *rows) {
    const int runs = ids_table_column(ops, "runs"), bytes = ids_table_column(ops, "memory_bytes"),
              communicates = ids_table_column(ops, "communicates"), roof = ids_table_column(ops, "at_roofline"),
              lost = ids_table_column(ops, "lost"), flops_share = ids_table_column(ops, "flops_share"),
              bytes_share = ids_table_column(ops, "bandwidth_share"), untimed = ids_table_column(ops, "untimed");
    for (size_t row = 0; row < ops->row_count; row++) {
        struct ids_op_row *op = &rows->at[row];
        int64_t times = number_at(ops, row, runs), memory_bytes = number_at(ops, row, bytes);
        int64_t lost_times = number_at(ops, row, untimed);
        op->communicates = number_at(ops, row, communicates) > 0;
        if (times <= 0) continue;
        struct ids_op_cost cost = {.runs = (uint64_t)times, .self_time = (double)op->self_ps * 1e-12};
        cost.has_flops = op->flops >= 0;
        cost.has_bytes = memory_bytes >= 0;
        cost.has_roof = number_at(ops, row, roof) >= 0;
        if (cost.has_flops) cost.flops = (double)op->flops * (double)times;
        if (cost.has_bytes) cost.bytes = (double)memory_bytes * (double)times;
        read_shares(&cost, real_at(ops, row, flops_share), real_at(ops, row, bytes_share),
                    lost_times > 0 ? lost_times : 0);
        if (cost.has_roof) {
            cost.roof_time = (double)number_at(ops, row, roof) * 1e-12;
            cost.lost_time = (double)number_at(ops, row, lost) * 1e-12;
            cost.judged_time = cost.self_time;
        }
        op->cost = cost;
    }
}

/* What of the ops' time belongs to steps; without steps no row. */
static void read_steps(const struct ids_report *report, struct ids_op_rows *rows) {
    const struct ids_table *steps = ids_report_find_table(report, "op_steps");
    const int op = ids_table_column(steps, "op"), in_steps = ids_table_column(steps, "in_steps");
    for (size_t row = 0; steps && row < steps->row_count; row++) {
        int64_t at = number_at(steps, row, op);
        if (at >= 0 && (size_t)at < rows->count) rows->at[at].in_steps_ps = number_at(steps, row, in_steps);
    }
}

static void read_ops(const struct ids_table *ops, struct ids_op_rows *rows) {
    const int self = ids_table_column(ops, "self"), total = ids_table_column(ops, "total"),
              count = ids_table_column(ops, "count"), flops = ids_table_column(ops, "flops"),
              bytes = ids_table_column(ops, "bytes"), name = ids_table_column(ops, "name"),
              category = ids_table_column(ops, "category"), module = ids_table_column(ops, "module"),
              place = ids_table_column(ops, "op_name"), pass = ids_table_column(ops, "pass"),
              scope = ids_table_column(ops, "scope"), source = ids_table_column(ops, "source"),
              family = ids_table_column(ops, "family"), events = ids_table_column(ops, "events"),
              class = ids_table_column(ops, "class"), fingerprint = ids_table_column(ops, "fingerprint"),
              device = ids_table_column(ops, "device_time");
    for (size_t row = 0; row < ops->row_count; row++) {
        struct ids_op_row *op = &rows->at[rows->count++];
        *op = (struct ids_op_row){.self_ps = number_at(ops, row, self),
                                  .total_ps = number_at(ops, row, total),
                                  .count = number_at(ops, row, count),
                                  .device_ps = number_at(ops, row, device),
                                  .flops = number_at(ops, row, flops),
                                  .bytes = number_at(ops, row, bytes),
                                  .name = text_at(ops, row, name),
                                  .category = text_at(ops, row, category),
                                  .module = text_at(ops, row, module),
                                  .place = text_at(ops, row, place),
                                  .pass = text_at(ops, row, pass),
                                  .scope = text_at(ops, row, scope),
                                  .source = text_at(ops, row, source),
                                  .family = text_at(ops, row, family),
                                  .class = text_at(ops, row, class),
                                  .fingerprint = text_at(ops, row, fingerprint)};
        rows->other_ps -= op->self_ps;
        rows->other_count -= number_at(ops, row, events);
    }
}

int ids_op_rows_read(const struct ids_report *report, struct ids_op_rows *ret_rows) {
    const struct ids_table *ops = ids_report_find_table(report, "ops");
    const struct ids_table *categories = ids_report_find_table(report, "op_categories");
    int self = ids_table_column(categories, "self"), count = ids_table_column(categories, "count");
    *ret_rows = (struct ids_op_rows){.at = calloc(ops ? ops->row_count + 1 : 1, sizeof *ret_rows->at)};
    if (!ret_rows->at) return -1;
    for (size_t row = 0; categories && row < categories->row_count; row++) {
        ids_sum(&ret_rows->all_ps, number_at(categories, row, self));
        ids_sum(&ret_rows->other_count, number_at(categories, row, count));
    }
    ret_rows->other_ps = ret_rows->all_ps;
    if (ops) read_ops(ops, ret_rows);
    if (ops) read_costs(ops, ret_rows);
    read_steps(report, ret_rows);
    return 0;
}

void ids_op_rows_done(struct ids_op_rows *rows) {
    free(rows->at);
    *rows = (struct ids_op_rows){0};
}
