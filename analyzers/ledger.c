/* ledger.c - where the time of a step went, and who is to blame: the book of lib/analysis/ledger.h as figures and
 * tables. */
#include "analyzers/ledger_rows.h"
#include "analyzers/op_families.h"
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/saturate.h"
#include "lib/report/alike_names.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Cumulative in the order of the accounts, so that the rounded parts sum to the rounded whole. */
#define STEPS_SQL(account)                                                                                            \
    "WITH pairs AS (SELECT count(*) AS n FROM device_steps WHERE run = :run), sums AS (SELECT account, sum(dur_ps) "  \
    "AS ps "                                                                                                          \
    "FROM ledger WHERE run = :run AND step_id IS NOT NULL GROUP BY account), part AS (SELECT a.id AS id, a.name AS "  \
    "name, "                                                                                                          \
    "coalesce(s.ps, 0) AS ps FROM account a LEFT JOIN sums s ON s.account = a.name), whole AS (SELECT name, sum(ps) " \
    "OVER "                                                                                                           \
    "(ORDER BY id) AS to_ps, ps FROM part) SELECT to_ps / (SELECT n FROM pairs) - (to_ps - ps) / (SELECT n FROM "     \
    "pairs) "                                                                                                         \
    "FROM whole WHERE name = '" account "'"
#define IDLE_SQL(account)                                                                                         \
    "SELECT coalesce(sum(dur_ps), 0) FROM ledger WHERE run = :run AND in_window = 1 AND is_busy = 0 AND account " \
    "= '" account "'"

static const struct ids_metric_def metrics[] = {
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle)                                  \
    {"steps." id,                                                                                \
     title,                                                                                      \
     IDS_UNIT_TIME,                                                                              \
     IDS_BETTER_LOWER,                                                                           \
     "Of a step, time in which " meaning ". Mean per step and device; these sum to steps.mean.", \
     STEPS_SQL(id)},
#include "lib/model/account.def"
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle)                                 \
    {"idle." id,                                                                                \
     "idle: " title,                                                                            \
     IDS_UNIT_TIME,                                                                             \
     IDS_BETTER_LOWER,                                                                          \
     "Of idle.total, time in which " of_idle ". Summed over devices; these sum to idle.total.", \
     IDLE_SQL(id)},
#define IDS_ACCOUNT_NEVER_IDLE(NAME, id, title, heading, meaning)
#include "lib/model/account.def"
    {"ledger.recorded_share", "recorded", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "The part of the ledger's time whose account is known from an event that covers it.",
     "SELECT sum(dur_ps * (known IN ('recorded', 'place inferred'))) * 1.0 / sum(dur_ps) FROM ledger WHERE run = :run "
     "AND counts = 1"},
    {"ledger.inferred_share", "inferred", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "The part of the ledger's time whose account follows from order or adjacency.",
     "SELECT sum(dur_ps * (known = 'inferred')) * 1.0 / sum(dur_ps) FROM ledger WHERE run = :run AND counts = 1"},
    {"ledger.unknown_share", "unknown", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "The part of the ledger's time whose cause the file does not hold.",
     "SELECT sum(dur_ps * (known = 'unknown')) * 1.0 / sum(dur_ps) FROM ledger WHERE run = :run AND counts = 1"},
    {"host.overhead_share", "host overhead", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the ledger's time in which devices stand idle because of the host (host.*): it dispatches, compiles, "
     "waits, loads data, runs Python.",
     "SELECT sum(dur_ps * (account LIKE 'host.%')) * 1.0 / sum(dur_ps) FROM ledger WHERE run = :run AND counts = 1"},
};

static const struct ids_column_def account_columns[] = {
    {"account", "account", IDS_UNIT_NONE, 0},
    {"per_step", "time", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"sd", "±", IDS_UNIT_TIME, 0},
    {"time", "time, all devices", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"recorded_share", "recorded", IDS_UNIT_RATIO, IDS_COLUMN_DETAIL},
    {"culprit_share", "of it, one", IDS_UNIT_RATIO, IDS_COLUMN_DETAIL},
    {"culprit", "mostly, one", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"where", "where, one", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"group_share", "of it", IDS_UNIT_RATIO, 0},
    {"alike", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"group", "mostly", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"group_where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def accounts = {
    "accounts",
    "where the time goes",
    account_columns,
    IDS_COUNT_OF(account_columns),
    "Every moment of a step belongs to one account. `per_step` is the mean per step and device (without steps: per "
    "device, of the window), `sd` its deviation over the steps, `culprit` the one with the largest part of it; "
    "`group` the ops of one computation that have the largest part together, `alike` of them, or that one culprit.",
    IDS_TABLE_TOP | IDS_TABLE_WHOLE,
};

static const struct ids_column_def entry_columns[] = {
    {"account", "account", IDS_UNIT_NONE, 0},
    {"time", "time", IDS_UNIT_TIME, 0},
    {"per_step", "per step", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"sd", "±", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"intervals", "intervals", IDS_UNIT_COUNT, 0},
    {"longest", "longest", IDS_UNIT_TIME, 0},
    {"longest_at", "at", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"longest_device", "on", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"known", "known", IDS_UNIT_NONE, 0},
    {"evidence", "evidence", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"meanwhile", "the host meanwhile", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"culprit", "culprit", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def entries = {
    "ledger",
    "accounts and culprits",
    entry_columns,
    IDS_COUNT_OF(entry_columns),
    "One row per account and culprit, most time first. `time` is over all devices, in the steps where there are steps, "
    "else in the window; `per_step` the mean per step and device; `known` how most of it and its place is known; "
    "`evidence` the "
    "event, or the innermost activity of the host, that says so; `meanwhile` what the host did for most of the longest "
    "device.queue.",
    0,
};

/* What a sum of squares less the square of a sum may keep of both when nothing is left. */
enum { ROUNDINGS = 16 };

/* What all rows are relative to. */
struct whole {
    int64_t time_ps; /* of the ledger: all steps of all devices, or all windows */
    int64_t pairs;   /* steps × devices that have them; without steps the devices */
    int64_t steps;   /* 0 without */
};

static struct whole whole_of(const struct ids_analysis *analysis) {
    struct whole whole = {0, 0, (int64_t)analysis->steps.count};
    for (size_t s = 0; s < analysis->steps.count; s++) {
        ids_sum(&whole.time_ps, analysis->steps.at[s].sum_ps);
        whole.pairs += analysis->steps.at[s].devices;
    }
    if (analysis->steps.count) return whole;
    whole.time_ps = ids_windows_total(analysis);
    whole.pairs = (int64_t)analysis->busy_count;
    return whole;
}

/* The deviation over the steps of what one step has of something, per device; `squares` is of sums over devices. */
static struct ids_value deviation(const struct whole *whole, int64_t time_ps, double squares) {
    if (whole->steps < 2) return ids_no_value(IDS_UNIT_TIME);
    double n = (double)whole->steps, sum = (double)time_ps * 1e-12, devices = (double)whole->pairs / n;
    double about_mean = squares - sum * sum / n, variance = about_mean / (n - 1);
    int is_rounding = about_mean <= ROUNDINGS * DBL_EPSILON * squares; /* of steps that are all alike */
    return ids_int_value(IDS_UNIT_TIME, is_rounding ? 0 : (int64_t)llround(sqrt(variance) / devices * 1e12));
}

struct account_sum {
    int64_t time_ps, recorded_ps;
    double squares;
    const struct ids_ledger_entry *most; /* the culprit with the largest part; NULL: nobody is known */
    struct ids_op_families families;     /* of those who are known */
};

/* Σ over steps of an account's time there over all devices, squared. */
static int add_squares(const struct ids_analysis *analysis, struct account_sum *sums) {
    const struct ids_steps *steps = &analysis->steps;
    struct ids_account_times *of_step = calloc(steps->count + 1, sizeof *of_step);
    if (!of_step) return -1;
    for (size_t b = 0; b < analysis->busy_count && steps->count; b++) {
        const struct ids_device_steps *own = &steps->of_device[analysis->busy[b].index];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step == IDS_NONE) continue;
            const struct ids_account_times *times = &analysis->ledger.in_step[analysis->ledger.first_step[b] + i];
            for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ids_sum(&of_step[own->at[i].step].ps[a], times->ps[a]);
        }
    }
    for (size_t s = 0; s < steps->count; s++) {
        for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
            double seconds = (double)of_step[s].ps[a] * 1e-12;
            sums[a].squares += seconds * seconds;
        }
    }
    free(of_step);
    return 0;
}

static int sum_accounts(const struct ids_analysis *analysis, struct account_sum *sums) {
    const struct ids_ledger *ledger = &analysis->ledger;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        struct account_sum *sum = &sums[entry->account];
        int64_t time_ps = ids_ledger_entry_time(entry);
        ids_sum(&sum->time_ps, time_ps);
        ids_sum(&sum->recorded_ps, ids_ledger_entry_recorded(entry));
        if (!entry->culprit || !time_ps) continue;
        if (!sum->most || time_ps > ids_ledger_entry_time(sum->most)) sum->most = entry;
        if (ids_op_families_add(&sum->families, analysis, entry, time_ps)) return -1;
    }
    return add_squares(analysis, sums);
}

static const char *text_of(const struct ids_ledger *ledger, uint32_t text) {
    return text ? ids_strings_z(&ledger->texts, text) : NULL;
}

static double part_of(int64_t part_ps, int64_t whole_ps) {
    return whole_ps ? (double)part_ps / (double)whole_ps : 0;
}

/* The largest part of an account: a culprit, or ops that are alike. */
struct group {
    struct ids_op_family family;
    const char *name, *where; /* NULL unknown */
};

/* The ops of a family beside the one that has most of it: their names, and the scope that all are in. */
static void name_family(const struct ids_analysis *analysis, struct ids_report *report, struct group *group) {
    const struct ids_ledger *ledger = &analysis->ledger;
    const struct ids_ledger_entry *most = group->family.most;
    struct ids_alike_names names = {0};
    uint64_t key = ids_op_family_key(analysis, most);
    ids_alike_add(&names, group->name, group->where ? group->where : "");
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry == most || entry->account != most->account || !entry->culprit || !ids_ledger_entry_time(entry) ||
            ids_op_family_key(analysis, entry) != key)
            continue;
        const char *where = entry->where ? text_of(ledger, entry->where) : "";
        ids_alike_add(&names, text_of(ledger, entry->culprit), where);
        if (group->where && ids_hash_without_numbers(where) != ids_hash_without_numbers(group->where))
            group->where = ids_common_scope(report, group->where, where);
    }
    group->name = ids_alike_name(report, &names);
    if (!names.places_unlike) group->where = *names.place ? ids_alike_place(report, &names) : NULL;
}

static struct group group_of(const struct ids_analysis *analysis, struct ids_report *report,
                             const struct account_sum *sum) {
    struct group group = {.family = ids_op_families_largest(&sum->families)};
    if (!group.family.most) return group;
    group.name = text_of(&analysis->ledger, group.family.most->culprit);
    group.where = text_of(&analysis->ledger, group.family.most->where);
    if (group.family.count > 1) name_family(analysis, report, &group);
    return group;
}

static void list_accounts(const struct ids_analysis *analysis, struct ids_report *report, const struct whole *whole,
                          const struct account_sum *sums) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_table *table = ids_report_table(report, &accounts);
    int listed[IDS_ACCOUNT_COUNT] = {0};
    for (int row = 0; row < IDS_ACCOUNT_COUNT; row++) {
        int largest = -1;
        for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
            if (!listed[a] && (largest < 0 || sums[a].time_ps > sums[largest].time_ps)) largest = a;
        }
        listed[largest] = 1;
        const struct account_sum *sum = &sums[largest];
        if (!sum->time_ps) continue;
        const struct ids_ledger_entry *most = sum->most;
        struct group group = group_of(analysis, report, sum);
        struct ids_value cells[] = {
            ids_text_value(ids_account_id((enum ids_account)largest)),
            ids_int_value(IDS_UNIT_TIME, sum->time_ps / whole->pairs),
            ids_real_value(IDS_UNIT_RATIO, part_of(sum->time_ps, whole->time_ps)),
            deviation(whole, sum->time_ps, sum->squares),
            ids_int_value(IDS_UNIT_TIME, sum->time_ps),
            ids_real_value(IDS_UNIT_RATIO, part_of(sum->recorded_ps, sum->time_ps)),
            most ? ids_real_value(IDS_UNIT_RATIO, part_of(ids_ledger_entry_time(most), sum->time_ps))
                 : ids_no_value(IDS_UNIT_RATIO),
            ids_text_value(most ? text_of(ledger, most->culprit) : NULL),
            ids_text_value(most ? text_of(ledger, most->where) : NULL),
            most ? ids_real_value(IDS_UNIT_RATIO, part_of(group.family.time_ps, sum->time_ps))
                 : ids_no_value(IDS_UNIT_RATIO),
            group.family.count > 1 ? ids_int_value(IDS_UNIT_COUNT, (int64_t)group.family.count)
                                   : ids_no_value(IDS_UNIT_COUNT),
            ids_text_value(group.name),
            ids_text_value(group.where),
        };
        IDS_ROW(report, table, account_columns, cells);
    }
}

static int most_time_first(const void *a, const void *b) {
    const struct ids_ledger_entry *left = *(const struct ids_ledger_entry *const *)a,
                                  *right = *(const struct ids_ledger_entry *const *)b;
    int64_t left_ps = ids_ledger_entry_time(left), right_ps = ids_ledger_entry_time(right);
    if (left_ps != right_ps) return left_ps < right_ps ? 1 : -1;
    return (left > right) - (left < right);
}

static int list_entries(const struct ids_analysis *analysis, struct ids_report *report, const struct whole *whole) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_table *table = ids_report_table(report, &entries);
    const struct ids_ledger_entry **order = malloc((ledger->entry_count + 1) * sizeof *order);
    size_t count = 0;
    if (!order) return -1;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        if (ids_ledger_entry_time(&ledger->entries[e])) order[count++] = &ledger->entries[e];
    }
    if (count) qsort(order, count, sizeof *order, most_time_first);
    for (size_t i = 0; i < count; i++) {
        const struct ids_ledger_entry *entry = order[i];
        int64_t time_ps = ids_ledger_entry_time(entry);
        struct ids_value cells[] = {
            ids_text_value(ids_account_id((enum ids_account)entry->account)),
            ids_int_value(IDS_UNIT_TIME, time_ps),
            ids_int_value(IDS_UNIT_TIME, time_ps / whole->pairs),
            ids_real_value(IDS_UNIT_RATIO, part_of(time_ps, whole->time_ps)),
            deviation(whole, time_ps, entry->squares),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)entry->intervals),
            ids_int_value(IDS_UNIT_TIME, entry->longest_ps),
            ids_int_value(IDS_UNIT_TIME, entry->longest_at_ps - analysis->first_ps),
            ids_text_value(analysis->busy[entry->longest_device].device->key),
            ids_text_value(ids_known_name(ids_ledger_entry_known(entry))),
            ids_text_value(entry->evidence ? ids_trace_name(analysis->trace, entry->evidence - 1)
                                           : text_of(ledger, entry->recorded)),
            ids_text_value(text_of(ledger, entry->meanwhile)),
            ids_text_value(text_of(ledger, entry->culprit)),
            ids_text_value(text_of(ledger, entry->where)),
        };
        IDS_ROW(report, table, entry_columns, cells);
    }
    free(order);
    return 0;
}

/* Rounded so that the parts sum to steps.mean. */
static void step_figures(struct ids_report *report, const struct whole *whole, const struct account_sum *sums) {
    int64_t before_ps = 0;
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        int64_t to_ps = ids_sat_add(before_ps, sums[a].time_ps);
        int64_t part_ps = to_ps / whole->pairs - before_ps / whole->pairs;
        before_ps = to_ps;
        ids_report_metric(report, ids_account_steps_id((enum ids_account)a), NULL,
                          ids_int_value(IDS_UNIT_TIME, part_ps));
    }
}

static void idle_figures(const struct ids_analysis *analysis, struct ids_report *report) {
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        const char *id = ids_account_idle_id((enum ids_account)a);
        int64_t all_ps = 0;
        for (size_t b = 0; b < analysis->busy_count && id; b++) {
            int64_t own_ps = analysis->ledger.idle[b].ps[a];
            ids_sum(&all_ps, own_ps);
            ids_report_metric(report, id, analysis->busy[b].device->key, ids_int_value(IDS_UNIT_TIME, own_ps));
        }
        if (id) ids_report_metric(report, id, NULL, ids_int_value(IDS_UNIT_TIME, all_ps));
    }
}

static void known_figures(const struct ids_analysis *analysis, struct ids_report *report, const struct whole *whole,
                          const struct account_sum *sums) {
    static const char *const ids[] = {"ledger.recorded_share", "ledger.inferred_share", "ledger.unknown_share"};
    int64_t known_ps[IDS_COUNT_OF(ids)] = {0}, host_ps = 0;
    for (size_t e = 0; e < analysis->ledger.entry_count; e++) {
        const struct ids_ledger_entry *entry = &analysis->ledger.entries[e];
        ids_sum(&known_ps[0], ids_ledger_entry_recorded(entry));
        ids_sum(&known_ps[1], entry->time_ps[IDS_INFERRED]);
        ids_sum(&known_ps[2], entry->time_ps[IDS_UNKNOWN]);
    }
    for (size_t k = 0; k < IDS_COUNT_OF(ids); k++) {
        ids_report_metric(report, ids[k], NULL, ids_real_value(IDS_UNIT_RATIO, part_of(known_ps[k], whole->time_ps)));
    }
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        if (ids_account_is_host((enum ids_account)a)) ids_sum(&host_ps, sums[a].time_ps);
    }
    double share = part_of(host_ps, whole->time_ps);
    struct ids_metric *metric =
        ids_report_metric(report, "host.overhead_share", NULL, ids_real_value(IDS_UNIT_RATIO, share));
    ids_report_rule(report, metric, whole->steps ? "of the steps" : "of the window: no steps were found");
}

static int ledger_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct whole whole = whole_of(analysis);
    if (analysis->busy_count) idle_figures(analysis, report);
    if (!whole.time_ps || !whole.pairs) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                            !analysis->busy_count ? ids_no_activity_reason(analysis)
                            : whole.steps         ? "the steps are moments"
                                                  : "the window is a moment");
        return 0;
    }
    struct account_sum sums[IDS_ACCOUNT_COUNT] = {0};
    int failed =
        sum_accounts(analysis, sums) || list_entries(analysis, report, &whole) || ids_ledger_rows(analysis, report);
    if (!failed) {
        list_accounts(analysis, report, &whole, sums);
        if (whole.steps) step_figures(report, &whole, sums);
        known_figures(analysis, report, &whole, sums);
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), "no steps in this trace");
    }
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) ids_op_families_done(&sums[a].families);
    return failed ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {
    &accounts, &entries, &ids_ledger_by_step, &ids_ledger_by_device, &ids_ledger_strips, &ids_ledger_intervals};

const struct ids_analyzer ids_ledger_analyzer = {
    .name = "ledger",
    .title = "ledger",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = ledger_run,
};
