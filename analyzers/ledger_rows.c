#include "analyzers/ledger_rows.h"

#include "lib/analysis/host_steps.h"
#include "lib/analysis/strip.h"
#include "lib/base/saturate.h"

#include <stdlib.h>

enum { STEPS_KEPT = 10000 };

/* The accounts stand in their order behind what a row is about. */
enum { LEADING = 2, COLUMNS = LEADING + IDS_ACCOUNT_COUNT };

static const struct ids_column_def step_columns[COLUMNS + 1] = {
    {"step", "step", IDS_UNIT_COUNT, 0},
    {"time", "time", IDS_UNIT_TIME, 0},
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle) \
    [LEADING + IDS_##NAME] = {id, heading, IDS_UNIT_TIME, IDS_COLUMN_SPARE},
#include "lib/model/account.def"
    [COLUMNS] = {"host", "of", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
};
const struct ids_table_def ids_ledger_by_step = {
    "accounts_by_step",
    "accounts by step",
    step_columns,
    COLUMNS + 1,
    "One row per step: its time and the time of each account in it, means over its devices; the accounts sum to the "
    "time. No value: an account that no step has. `host` has a value where two hosts have no step in common; the steps "
    "of one host then stand together.",
    IDS_TABLE_HIDDEN,
};

static const struct ids_column_def device_columns[COLUMNS] = {
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"time", "time", IDS_UNIT_TIME, 0},
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle) \
    [LEADING + IDS_##NAME] = {id, heading, IDS_UNIT_TIME, IDS_COLUMN_SPARE},
#include "lib/model/account.def"
};
const struct ids_table_def ids_ledger_by_device = {
    "accounts_by_device",
    "accounts by device",
    device_columns,
    COLUMNS,
    "One row per device: the time of a step there and the time of each account in it, means over its steps (without "
    "steps: of its window); the accounts sum to the time. No value: an account that no device has.",
    IDS_TABLE_HIDDEN,
};

static const struct ids_column_def strip_columns[] = {
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"start", "from", IDS_UNIT_TIME, 0},
    {"duration", "length", IDS_UNIT_TIME, 0},
    {"letters", "accounts", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
const struct ids_table_def ids_ledger_strips = {
    "strips",
    "accounts over time",
    strip_columns,
    IDS_COUNT_OF(strip_columns),
    "One row per device: the run's window in 240 equal cells, and for each the letter of an account; a space where "
    "nothing is booked. A cell in which the device mostly does something has the largest account of those, else the "
    "largest of the others. C work.compute, T comm.transfer, W comm.wait, H copy.h2d, D copy.d2h, N copy.d2d, "
    "P copy.p2p, S copy.set, O copy.other, X stall.device; c host.compile, i host.input, y host.sync, g host.staging, "
    "r host.runtime, n host.region, p host.python, d host.dispatch, u host.unknown, e device.in_program, "
    "q device.queue, k device.unknown, f profiler. `report --chart` draws it.",
    IDS_TABLE_HIDDEN,
};

static const struct ids_column_def interval_columns[] = {
    {"account", "account", IDS_UNIT_NONE, 0},
    {"start", "at", IDS_UNIT_TIME, 0},
    {"duration", "time", IDS_UNIT_TIME, 0},
    {"step", "step", IDS_UNIT_COUNT, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"known", "known", IDS_UNIT_NONE, 0},
    {"culprit", "culprit", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"evidence", "evidence", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
const struct ids_table_def ids_ledger_intervals = {
    "intervals",
    "longest intervals",
    interval_columns,
    IDS_COUNT_OF(interval_columns),
    "The ten longest intervals of each account: when it began since the run's first activity, how long it was, in "
    "which step, on which device, who is to blame, and the event that shows it.",
    IDS_TABLE_HIDDEN,
};

/* What a row is about, its accounts summed over `count` devices or steps. */
struct row {
    struct ids_account_times times;
    int64_t count;
};

static void add(struct row *row, const struct ids_account_times *times) {
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ids_sum(&row->times.ps[a], times->ps[a]);
    row->count++;
}

/* Rounded so that the accounts sum to the time. */
static void fill(struct ids_value *cells, struct ids_value about, const struct row *row, const int *is_used) {
    int64_t before_ps = 0;
    cells[0] = about;
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        int64_t to_ps = ids_sat_add(before_ps, row->times.ps[a]);
        int64_t part_ps = to_ps / row->count - before_ps / row->count;
        cells[LEADING + a] = is_used[a] ? ids_int_value(IDS_UNIT_TIME, part_ps) : ids_no_value(IDS_UNIT_TIME);
        before_ps = to_ps;
    }
    cells[1] = ids_int_value(IDS_UNIT_TIME, before_ps / row->count);
}

static void note_used(int *is_used, const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) is_used[a] |= rows[i].times.ps[a] != 0;
    }
}

/* `of_step` and `of_device` are by analysis->steps.at and analysis->busy. */
static void sum_rows(const struct ids_analysis *analysis, struct row *of_step, struct row *of_device) {
    const struct ids_ledger *ledger = &analysis->ledger;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (!analysis->steps.count) {
            add(&of_device[b], &ledger->in_window[b]);
            continue;
        }
        const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[b].index];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step == IDS_NONE) continue;
            const struct ids_account_times *times = &ledger->in_step[ledger->first_step[b] + i];
            add(&of_step[own->at[i].step], times);
            add(&of_device[b], times);
        }
    }
}

static void list_step(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                      const struct row *row, size_t step, const int *is_used, const char *host) {
    struct ids_value cells[COLUMNS + 1];
    if (!row->count) return;
    fill(cells, ids_int_value(IDS_UNIT_COUNT, analysis->steps.at[step].number), row, is_used);
    cells[COLUMNS] = ids_text_value(host);
    IDS_ROW(report, table, step_columns, cells);
}

/* Those of one host after those of another, in order of time; a step of two hosts is with the one that is slower. */
static void list_steps_of_hosts(const struct ids_analysis *analysis, struct ids_report *report, struct ids_table *table,
                                const struct row *rows, size_t kept, const int *is_used,
                                const struct ids_host_steps *hosts, size_t count) {
    const struct ids_trace *trace = analysis->trace;
    for (size_t h = 0; h < count; h++) {
        for (size_t s = 0; s < kept; s++) {
            if (trace->devices[analysis->steps.at[s].slowest].host == hosts[h].host)
                list_step(analysis, report, table, &rows[s], s, is_used,
                          ids_trace_text(trace, trace->hosts[hosts[h].host].name));
        }
    }
}

static int list_steps(const struct ids_analysis *analysis, struct ids_report *report, const struct row *rows) {
    size_t count = analysis->steps.count, kept = count < STEPS_KEPT ? count : STEPS_KEPT, host_count;
    struct ids_table *table = ids_report_table(report, &ids_ledger_by_step);
    struct ids_host_steps *hosts;
    int is_used[IDS_ACCOUNT_COUNT] = {0};
    if (ids_host_steps(analysis, &hosts, &host_count)) return -1;
    note_used(is_used, rows, count);
    if (hosts) list_steps_of_hosts(analysis, report, table, rows, kept, is_used, hosts, host_count);
    for (size_t s = 0; s < kept && !hosts; s++) list_step(analysis, report, table, &rows[s], s, is_used, NULL);
    free(hosts);
    if (count > kept) table->rows_left_out = (int64_t)(count - kept);
    return 0;
}

static void list_devices(const struct ids_analysis *analysis, struct ids_report *report, const struct row *rows) {
    struct ids_table *table = ids_report_table(report, &ids_ledger_by_device);
    int is_used[IDS_ACCOUNT_COUNT] = {0};
    note_used(is_used, rows, analysis->busy_count);
    for (size_t b = 0; b < analysis->busy_count; b++) {
        struct ids_value cells[COLUMNS];
        if (!rows[b].count) continue;
        fill(cells, ids_text_value(analysis->busy[b].device->key), &rows[b], is_used);
        IDS_ROW(report, table, device_columns, cells);
    }
}

static void list_strips(const struct ids_analysis *analysis, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &ids_ledger_strips);
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_value cells[] = {
            ids_text_value(analysis->busy[b].device->key),
            ids_int_value(IDS_UNIT_TIME, analysis->start_ps - analysis->first_ps),
            ids_int_value(IDS_UNIT_TIME, analysis->end_ps - analysis->start_ps),
            ids_text_value(analysis->ledger.strips + b * (IDS_STRIP_CELLS + 1)),
        };
        IDS_ROW(report, table, strip_columns, cells);
    }
}

static void list_intervals(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_table *table = ids_report_table(report, &ids_ledger_intervals);
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        for (size_t i = 0; i < ledger->longest[a].count; i++) {
            const struct ids_ledger_interval *interval = &ledger->longest[a].at[i];
            const struct ids_ledger_entry *entry = &ledger->entries[interval->entry];
            int in_step = interval->step != IDS_NONE;
            struct ids_value cells[] = {
                ids_text_value(ids_account_id((enum ids_account)a)),
                ids_int_value(IDS_UNIT_TIME, interval->from_ps - analysis->first_ps),
                ids_int_value(IDS_UNIT_TIME, interval->to_ps - interval->from_ps),
                in_step ? ids_int_value(IDS_UNIT_COUNT, analysis->steps.at[interval->step].number)
                        : ids_no_value(IDS_UNIT_COUNT),
                ids_text_value(analysis->busy[interval->busy].device->key),
                ids_text_value(ids_known_name((enum ids_known)interval->known)),
                ids_text_value(entry->culprit ? ids_strings_z(&ledger->texts, entry->culprit) : NULL),
                ids_text_value(entry->where ? ids_strings_z(&ledger->texts, entry->where) : NULL),
                ids_text_value(interval->event   ? ids_event_name(analysis->trace, interval->event)
                               : entry->recorded ? ids_strings_z(&ledger->texts, entry->recorded)
                                                 : NULL),
            };
            IDS_ROW(report, table, interval_columns, cells);
        }
    }
}

int ids_ledger_rows(const struct ids_analysis *analysis, struct ids_report *report) {
    struct row *of_step = calloc(analysis->steps.count + 1, sizeof *of_step);
    struct row *of_device = calloc(analysis->busy_count + 1, sizeof *of_device);
    int failed = !of_step || !of_device;
    if (!failed) {
        sum_rows(analysis, of_step, of_device);
        if (analysis->steps.count) failed = list_steps(analysis, report, of_step);
        list_devices(analysis, report, of_device);
        list_strips(analysis, report);
        list_intervals(analysis, report);
    }
    free(of_step);
    free(of_device);
    return failed ? -1 : 0;
}
