#include "analyzers/rank_steps.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

/* Beyond as many rows neighbouring steps are one: a map has no more cells than a screen can show, and the summary of a
 * long run stays small. */
enum { ROWS_WANTED = 2048 };

static const struct ids_column_def columns[] = {
    {"step", "from step", IDS_UNIT_COUNT, 0},
    {"steps", "steps", IDS_UNIT_COUNT, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"time", "time", IDS_UNIT_TIME, 0},
    {"work", "work", IDS_UNIT_TIME, 0},
    {"wait", "waits", IDS_UNIT_TIME, 0},
};
const struct ids_table_def ids_rank_steps_table = {
    "rank_steps",
    "ranks by step",
    columns,
    IDS_COUNT_OF(columns),
    "One row per step and device, where there are several of both: the time of the step on the device, and how much of "
    "it is work.compute (`work`) and comm.wait (`wait`). Of a long run each row is of several steps one after the "
    "other, from `step` on, with their means, so that there are about 2048 rows. The page of `report --html` draws it.",
    IDS_TABLE_HIDDEN,
};

struct cell {
    int64_t time_ps, work_ps, wait_ps, count;
};

static void add(struct cell *cell, const struct ids_account_times *times) {
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ids_sum(&cell->time_ps, times->ps[a]);
    ids_sum(&cell->work_ps, times->ps[IDS_WORK_COMPUTE]);
    ids_sum(&cell->wait_ps, times->ps[IDS_COMM_WAIT]);
    cell->count++;
}

/* `cells` are by part of the run, and in it by analysis->busy. */
static void sum_cells(const struct ids_analysis *analysis, size_t steps_each, struct cell *cells) {
    const struct ids_ledger *ledger = &analysis->ledger;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[b].index];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step == IDS_NONE) continue;
            size_t part = own->at[i].step / steps_each;
            add(&cells[part * analysis->busy_count + b], &ledger->in_step[ledger->first_step[b] + i]);
        }
    }
}

static void list_cell(struct ids_report *report, struct ids_table *table, int64_t step, const char *device,
                      const struct cell *cell) {
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_COUNT, step),
        ids_int_value(IDS_UNIT_COUNT, cell->count),
        ids_text_value(device),
        ids_int_value(IDS_UNIT_TIME, cell->time_ps / cell->count),
        ids_int_value(IDS_UNIT_TIME, cell->work_ps / cell->count),
        ids_int_value(IDS_UNIT_TIME, cell->wait_ps / cell->count),
    };
    IDS_ROW(report, table, columns, row);
}

int ids_rank_steps_list(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    size_t steps = analysis->steps.count, devices = analysis->busy_count;
    struct ids_table *table = ids_report_table(report, &ids_rank_steps_table);
    if (steps < 2 || devices < 2) return 0;
    size_t parts = devices < ROWS_WANTED ? ROWS_WANTED / devices : 1;
    size_t steps_each = (steps + parts - 1) / parts;
    parts = (steps + steps_each - 1) / steps_each;
    struct cell *cells = calloc(parts * devices, sizeof *cells);
    if (!cells) return ids_no_memory(err);
    sum_cells(analysis, steps_each, cells);
    struct ids_arena names = {0};
    for (size_t i = 0; i < parts * devices; i++) {
        if (!cells[i].count) continue;
        const char *name = ids_rank_name(analysis->trace, analysis->busy[i % devices].device, &names);
        list_cell(report, table, analysis->steps.at[i / devices * steps_each].number, name, &cells[i]);
    }
    ids_arena_done(&names);
    free(cells);
    return 0;
}
