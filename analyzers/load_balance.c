/* load_balance.c - who works, who waits for whom, and whether it is always the same one (lib/analysis/balance.h). */
#include "analyzers/rank_steps.h"
#include "lib/analysis/balance.h"
#include "lib/analysis/late.h"
#include "lib/base/saturate.h"
#include "lib/model/collective_runs.h"

#include <stdlib.h>

static const struct ids_column_def columns[] = {
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"work", "work", IDS_UNIT_TIME, 0},
    {"wait_caused", "others wait for it", IDS_UNIT_TIME, 0},
    {"wait_suffered", "waits", IDS_UNIT_TIME, 0},
    {"transfer", "transfer", IDS_UNIT_TIME, 0},
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"steps_last", "last in steps", IDS_UNIT_COUNT, 0},
};
static const struct ids_table_def load_balance = {
    "load_balance",
    "load balance",
    columns,
    IDS_COUNT_OF(columns),
    "One row per device, where devices wait for each other; the one that the others wait for most comes first. Times "
    "are per step of the device (without steps: of the window) and out of the ledger: `work` is work.compute, "
    "`wait_suffered` its own comm.wait, `wait_caused` what all others together waited in comm.wait for it, so that "
    "both have one sum where every straggler is known, and `transfer` is comm.transfer. `bytes` are the messages of "
    "its collectives in the window, no data where none has a size. `steps_last` counts the steps, of those in which 1 "
    "% or more is waited, in which it was waited for the longest. The straggler is a host where its devices "
    "come late alike or in turn, and a device where its own host waits for it too. It changes where it is not the same "
    "one in three of four of these steps; else it is steady, or comes late now and then, where it is last in fewer "
    "than three of four of all steps that devices have in common. Property `straggler` says which, and names it: "
    "`rank 10` only where the name of its file or host says so, else the host as in the table of hosts.",
    0,
};

/* Of a device: its steps, or 1 where there are none and the window counts. */
static int64_t steps_of(const struct ids_analysis *analysis, uint32_t busy) {
    if (!analysis->steps.count) return 1;
    const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[busy].index];
    int64_t count = 0;
    for (size_t i = 0; i < own->count; i++) count += own->at[i].step != IDS_NONE;
    return count ? count : 1;
}

struct balance_sums {
    int64_t *bytes; /* by analysis->busy: of collectives; -1 unknown */
};

static int sums_begin(const struct ids_analysis *analysis, void *sums_of, struct ids_error *err) {
    struct balance_sums *sums = sums_of;
    sums->bytes = calloc(analysis->busy_count + 1, sizeof *sums->bytes);
    return sums->bytes ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums_of,
                         struct ids_error *err) {
    (void)err;
    struct balance_sums *sums = sums_of;
    const struct ids_events *lists[] = {&busy->device->activity, &busy->device->async};
    int64_t bytes = 0;
    int any = 0;
    for (size_t l = 0; l < 2; l++) {
        struct ids_cursor cursor = ids_busy_cursor(busy, lists[l]);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (!ids_is_collective_run(analysis->trace, event) || event->value < 0) continue;
            ids_sum(&bytes, event->value);
            any = 1;
        }
    }
    sums->bytes[busy - analysis->busy] = any ? bytes : -1;
    return 0;
}

static void sums_done(void *sums_of) {
    struct balance_sums *sums = sums_of;
    free(sums->bytes);
}

static struct ids_value bytes_of(const struct ids_analysis *analysis, uint32_t busy) {
    const struct balance_sums *sums = analysis->sums;
    int64_t bytes = sums->bytes[busy];
    return bytes < 0 ? ids_no_value(IDS_UNIT_BYTES) : ids_int_value(IDS_UNIT_BYTES, bytes);
}

static int64_t account_of(const struct ids_analysis *analysis, uint32_t busy, enum ids_account account) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t time_ps = 0;
    for (size_t s = ledger->first_share[busy]; s < ledger->first_share[busy + 1]; s++) {
        if (ledger->entries[ledger->shares[s].entry].account == account) ids_sum(&time_ps, ledger->shares[s].ps);
    }
    return time_ps;
}

static void list_device(const struct ids_analysis *analysis, const struct ids_balance *balance, uint32_t busy,
                        struct ids_report *report, struct ids_table *table, struct ids_arena *names) {
    const struct ids_device_balance *own = &balance->of_device[busy];
    int64_t steps = steps_of(analysis, busy);
    struct ids_value row[] = {
        ids_text_value(ids_rank_name(analysis->trace, analysis->busy[busy].device, names)),
        ids_int_value(IDS_UNIT_TIME, account_of(analysis, busy, IDS_WORK_COMPUTE) / steps),
        ids_int_value(IDS_UNIT_TIME, own->caused_ps / steps),
        ids_int_value(IDS_UNIT_TIME, own->suffered_ps / steps),
        ids_int_value(IDS_UNIT_TIME, account_of(analysis, busy, IDS_COMM_TRANSFER) / steps),
        bytes_of(analysis, busy),
        balance->steps ? ids_int_value(IDS_UNIT_COUNT, (int64_t)own->steps) : ids_no_value(IDS_UNIT_COUNT),
    };
    IDS_ROW(report, table, columns, row);
}

struct place {
    int64_t caused_ps;
    uint32_t busy;
};

static int most_caused_first(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    if (left->caused_ps != right->caused_ps) return left->caused_ps < right->caused_ps ? 1 : -1;
    return (left->busy > right->busy) - (left->busy < right->busy);
}

/* For the first line of the report, where waiting is a good part of the time: from a twentieth on. */
static void tell_waiting(const struct ids_analysis *analysis, const struct ids_balance *balance,
                         struct ids_report *report) {
    int64_t all_ps = 0;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_ledger *ledger = &analysis->ledger;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++)
            ids_sum(&all_ps, ledger->shares[s].ps);
    }
    const struct ids_value *straggler = ids_report_find_property(report, "straggler");
    if (!straggler || balance->waited_ps < all_ps / 20) return;
    ids_report_property(report, "waits",
                        ids_text_value(ids_report_text(report, "devices wait for %s", straggler->text)));
}

/* "; TPU:0 in 4, TPU:1 in 3, 2 more in 1", of a host that comes late; ", all its devices alike" where one of them is
 * always the last. */
static const char *say_devices(const struct ids_analysis *analysis, const struct ids_balance *balance,
                               struct ids_report *report) {
    enum { MOST = 4 };
    const struct ids_ledger *ledger = &analysis->ledger;
    enum ids_late_how how = ids_late_how(ledger, balance->straggler);
    const char *said = "";
    size_t count = 0, more = 0, more_steps = 0;
    if (how == IDS_LATE_ALONE) return said;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        size_t steps = balance->of_device[b].steps;
        if (!steps || ids_late_as(ledger, b) != balance->straggler) continue;
        if (count++ < MOST)
            said = ids_report_text(report, "%s%s %s in %zu", said, count > 1 ? "," : ";",
                                   analysis->busy[b].device->label, steps);
        else
            more++, more_steps += steps;
    }
    if (more) said = ids_report_text(report, "%s, %zu more in %zu", said, more, more_steps);
    return count == 1 && how == IDS_LATE_ALIKE ? ", all its devices alike" : said;
}

static int load_balance_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct ids_balance balance;
    struct ids_arena names = {0};
    struct ids_table *table = ids_report_table(report, &load_balance);
    int code = ids_balance_make(analysis, &balance, err);
    if (code) return code;
    struct place *places = balance.straggler == IDS_NONE ? NULL : malloc(analysis->busy_count * sizeof *places);
    if (balance.straggler != IDS_NONE && !places) code = ids_no_memory(err);
    if (places) {
        for (uint32_t b = 0; b < analysis->busy_count; b++)
            places[b] = (struct place){balance.of_device[b].caused_ps, b};
        qsort(places, analysis->busy_count, sizeof *places, most_caused_first);
        for (size_t b = 0; b < analysis->busy_count; b++)
            list_device(analysis, &balance, places[b].busy, report, table, &names);
        const char *name = ids_late_name(analysis, balance.straggler, &names);
        if (name && balance.steps)
            ids_report_property(
                report, "straggler",
                ids_text_value(ids_report_text(report, "%s (%s: last in %zu of %zu steps%s)", name,
                                               ids_balance_manner(&balance), balance.of_late[balance.straggler].steps,
                                               balance.together, say_devices(analysis, &balance, report))));
        else if (name)
            ids_report_property(report, "straggler", ids_text_value(name));
        tell_waiting(analysis, &balance, report);
    }
    free(places);
    ids_arena_done(&names);
    ids_balance_done(&balance);
    return code ? code : ids_rank_steps_list(analysis, report, err);
}

static const struct ids_table_def *const tables[] = {&load_balance, &ids_rank_steps_table};

const struct ids_analyzer ids_load_balance_analyzer = {
    .name = "load_balance",
    .title = "load balance",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct balance_sums), .begin = sums_begin, .device = sum_up_device, .done = sums_done},
    .run = load_balance_run,
};
