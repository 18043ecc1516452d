/* transfers.c - what was copied between host and devices, and set. */
#include "lib/analysis/best.h"
#include "lib/analysis/context.h"
#include "lib/analysis/groups.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/host_copies.h"

#include <stdlib.h>

/* `of`: which copies, as a condition over the view memcpys. */
#define COPIES(of) "memcpys WHERE run = :run AND is_active = 1 AND direction " of
#define COPIES_CUT(of) IDS_SQL_IN_WINDOW("memcpys", "a.direction " of)
#define DIRECTION(id, name, what, of)                                                                               \
    {"transfers." id "_count",                                                                                      \
     name " copies",                                                                                                \
     IDS_UNIT_COUNT,                                                                                                \
     IDS_BETTER_LOWER,                                                                                              \
     what " that begin in the window.",                                                                             \
     "SELECT count(*) FROM " COPIES(of)},                                                                           \
        {"transfers." id "_bytes",                                                                                  \
         name " bytes",                                                                                             \
         IDS_UNIT_BYTES,                                                                                            \
         IDS_BETTER_LOWER,                                                                                          \
         "Bytes of these, where the trace says how many; a size of 0 is unknown.",                                  \
         "SELECT coalesce(sum(bytes), 0) FROM " COPIES(of)},                                                        \
        {"transfers." id "_time",                                                                                   \
         name " time",                                                                                              \
         IDS_UNIT_TIME,                                                                                             \
         IDS_BETTER_LOWER,                                                                                          \
         "Union of their durations on each device (copies at the same time count once), summed over devices.",      \
         IDS_SQL_SPANS("device", "cut_ps", COPIES_CUT(of)) "SELECT " IDS_SQL_UNION " FROM span"},                   \
    {                                                                                                               \
        "transfers." id "_rate", name " rate", IDS_UNIT_RATE, IDS_BETTER_HIGHER,                                    \
            "Bytes of known size ÷ the union of the durations of those copies.",                                    \
            IDS_SQL_SPANS(                                                                                          \
                "device", "cut_ps",                                                                                 \
                COPIES_CUT(                                                                                         \
                    of " AND a.bytes IS NOT NULL")) "SELECT (SELECT sum(bytes) FROM " COPIES(of) ") * 1e12 "        \
                                                                                                 "/ " IDS_SQL_UNION \
                                                                                                 " FROM span"       \
    }

static const struct ids_metric_def metrics[] = {
    DIRECTION("h2d", "H2D",
              "Copies from host to device memory (of a TPU also those through host memory, S(5), that its ops make)",
              "= 'H2D'"),
    DIRECTION("d2h", "D2H",
              "Copies from device to host memory (of a TPU also those through host memory, S(5), that its ops make)",
              "= 'D2H'"),
    DIRECTION("d2d", "D2D", "Copies within a device's memory", "= 'D2D'"),
    DIRECTION("p2p", "P2P", "Copies from device to device", "= 'P2P'"),
    DIRECTION("memset", "memset", "Sets of device memory", "= 'memset'"),
    DIRECTION("other", "other", "Copies whose direction the trace does not tell", "IN ('other', 'H2H')"),
    {"transfers.overlapped_share", "hidden", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of the H2D and D2H time on devices in which the same device also computes.",
     "SELECT sum(dur_ps * compute * (h2d = 1 OR d2h = 1)) * 1.0 / sum(dur_ps * (h2d = 1 OR d2h = 1)) FROM device_time "
     "WHERE run = :run"},
};
enum { PER_DIRECTION = 4, DIRECTIONS = 6, TIME = 2 };

/* Index of the metrics of a direction. */
static int place_of(const struct ids_event *event) {
    switch (event->direction) {
    case IDS_H2D:
        return 0;
    case IDS_D2H:
        return 1;
    case IDS_D2D:
        return 2;
    case IDS_P2P:
        return 3;
    case IDS_MEMSET:
        return 4;
    default:
        return 5;
    }
}

static const struct ids_column_def kind_columns[] = {
    {"direction", "direction", IDS_UNIT_NONE, 0}, {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"mode", "mode", IDS_UNIT_NONE, 0},           {"count", "count", IDS_UNIT_COUNT, 0},
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},        {"total", "sum of times", IDS_UNIT_TIME, 0},
    {"largest", "largest", IDS_UNIT_BYTES, 0},    {"name", "for example", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def kinds = {
    "memcpys",
    "copies and sets",
    kind_columns,
    IDS_COUNT_OF(kind_columns),
    "One row per device, direction and mode. `total` adds durations up, also of copies at the same time.",
    0,
};

static const struct ids_column_def largest_columns[] = {
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"duration", "duration", IDS_UNIT_TIME, 0},
    {"rate", "rate", IDS_UNIT_RATE, 0},
    {"direction", "direction", IDS_UNIT_NONE, 0},
    {"device", "device", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"start", "at", IDS_UNIT_TIME, 0},
    {"name", "name", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def largest = {
    "largest_copies",
    "largest copies",
    largest_columns,
    IDS_COUNT_OF(largest_columns),
    "The 100 copies with the most bytes; of equal ones the longer first. Times since the run's first activity.",
    0,
};

static const struct ids_note h2d_notes[] = {
    {.metric = "transfers.h2d_count", .noun = "copy"},
    {.metric = "transfers.h2d_time"},
    {.metric = "transfers.h2d_rate"},
    {.metric = "transfers.overlapped_share", .after = " of H2D and D2H hidden under compute"},
};
static const struct ids_note d2h_notes[] = {
    {.metric = "transfers.d2h_count", .noun = "copy"},
    {.metric = "transfers.d2h_time"},
    {.metric = "transfers.d2h_rate"},
    {.before = "D2D ", .metric = "transfers.d2d_count", .noun = "copy"},
};
static const struct ids_headline headlines[] = {
    {"transfers", "H2D", "transfers.h2d_bytes", h2d_notes, IDS_COUNT_OF(h2d_notes), 0},
    {"transfers", "D2H", "transfers.d2h_bytes", d2h_notes, IDS_COUNT_OF(d2h_notes), 0},
};

struct sums {
    uint64_t count, unknown;
    uint64_t paired; /* copies whose time is that of two ops */
    int64_t bytes, time_ps, known_time_ps;
    struct ids_spans all, known; /* known: of copies whose size is known */
};

enum { LARGEST = 100 };

struct gathering {
    struct ids_groups groups;
    struct ids_best largest;              /* struct ids_event, without their launches */
    struct sums (*of_device)[DIRECTIONS]; /* by analysis->busy */
    struct sums of_hosts[DIRECTIONS], all[DIRECTIONS];
};

static int most_bytes(const void *a, const void *b) {
    const struct ids_event *left = a, *right = b;
    if (left->value != right->value) return left->value < right->value ? 1 : -1;
    int64_t left_ps = left->end_ps - left->start_ps, right_ps = right->end_ps - right->start_ps;
    if (left_ps != right_ps) return left_ps < right_ps ? 1 : -1;
    if (left->start_ps != right->start_ps) return left->start_ps > right->start_ps ? 1 : -1;
    if (left->track != right->track) return left->track > right->track ? 1 : -1;
    return (left->name > right->name) - (left->name < right->name);
}

static const char *mode_of(const struct ids_event *event) {
    static const char *const modes[3][3] = {
        {"sync, pageable", "sync, pinned", "sync"},
        {"async, pageable", "async, pinned", "async"},
        {"pageable", "pinned", ""},
    };
    return modes[event->asynchronous % 3][event->pinned % 3];
}

static int add(const struct ids_trace *trace, struct gathering *gathering, struct sums sums[DIRECTIONS],
               const struct ids_event *event, uint32_t device, int64_t end_ps) {
    struct sums *sum = &sums[place_of(event)];
    sum->count++;
    sum->paired += ids_is_host_copy(trace, event) != 0;
    ids_spans_add(&sum->all, event->start_ps, end_ps);
    if (event->value < 0) {
        sum->unknown++;
    } else {
        ids_sum(&sum->bytes, event->value);
        ids_spans_add(&sum->known, event->start_ps, end_ps);
        struct ids_event one = *event;
        one.launch = NULL;
        if (ids_best_add(&gathering->largest, &one)) return -1;
    }
    uint64_t mode = device == IDS_NONE ? 0 : (uint64_t)event->asynchronous << 8 | event->pinned;
    return ids_groups_add(&gathering->groups, ids_key_of(ids_key_of(device, event->direction), mode), event,
                          end_ps - event->start_ps);
}

static int is_transfer(const struct ids_event *event) {
    return event->kind == IDS_KIND_COPY || event->kind == IDS_KIND_SET;
}

static void figures(struct ids_report *report, const char *device, const struct sums sums[DIRECTIONS]) {
    for (int d = 0; d < DIRECTIONS; d++) {
        const struct sums *sum = &sums[d];
        const struct ids_metric_def *defs = &metrics[(size_t)d * PER_DIRECTION];
        ids_report_metric(report, defs[0].id, device, ids_int_value(IDS_UNIT_COUNT, (int64_t)sum->count));
        struct ids_metric *time =
            ids_report_metric(report, defs[TIME].id, device, ids_int_value(IDS_UNIT_TIME, sum->time_ps));
        if (sum->paired) {
            ids_report_rule(report, time,
                            "from the op that starts a copy to the end of its -done for %llu of %llu: no line of "
                            "asynchronous ops has them",
                            (unsigned long long)sum->paired, (unsigned long long)sum->count);
        }
        if (sum->count && sum->unknown == sum->count) {
            const char *why = "the trace does not hold the sizes of these copies";
            ids_report_no_data(report, defs[1].id, IDS_UNIT_BYTES, device, "%s", why);
            ids_report_no_data(report, defs[3].id, IDS_UNIT_RATE, device, "%s", why);
            continue;
        }
        struct ids_metric *bytes =
            ids_report_metric(report, defs[1].id, device, ids_int_value(IDS_UNIT_BYTES, sum->bytes));
        if (sum->unknown) {
            ids_report_rule(report, bytes, "a lower bound: the trace does not say the size of %llu of %s",
                            (unsigned long long)sum->unknown, IDS_COUNTED(sum->count, "copy"));
        }
        if (sum->known_time_ps > 0) {
            ids_report_metric(report, defs[3].id, device,
                              ids_real_value(IDS_UNIT_RATE, (double)sum->bytes * 1e12 / (double)sum->known_time_ps));
        } else {
            ids_report_no_data(report, defs[3].id, IDS_UNIT_RATE, device, "no such copy in the window");
        }
    }
}

/* The unions are made once per device (or for the host's transfers) and added up. */
static int close_sums(struct sums own[DIRECTIONS], struct sums all[DIRECTIONS]) {
    for (int d = 0; d < DIRECTIONS; d++) {
        if (ids_spans_unite(&own[d].all) || ids_spans_unite(&own[d].known)) return -1;
        own[d].time_ps = ids_spans_total(&own[d].all);
        own[d].known_time_ps = ids_spans_total(&own[d].known);
        all[d].count += own[d].count;
        all[d].unknown += own[d].unknown;
        all[d].paired += own[d].paired;
        ids_sum(&all[d].bytes, own[d].bytes);
        ids_sum(&all[d].time_ps, own[d].time_ps);
        ids_sum(&all[d].known_time_ps, own[d].known_time_ps);
    }
    return 0;
}

static void free_sums(struct sums sums[DIRECTIONS]) {
    for (int d = 0; d < DIRECTIONS; d++) {
        ids_spans_done(&sums[d].all);
        ids_spans_done(&sums[d].known);
    }
}

static int transfers_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    struct gathering *gathering = sums;
    gathering->largest = (struct ids_best){.size = sizeof(struct ids_event), .kept = LARGEST, .order = most_bytes};
    gathering->of_device = calloc(analysis->busy_count + 1, sizeof *gathering->of_device);
    return gathering->of_device ? 0 : ids_no_memory(err);
}

static int add_device(const struct ids_trace *trace, const struct ids_busy *busy, struct gathering *gathering,
                      struct sums own[DIRECTIONS]) {
    const struct ids_events *lists[] = {&busy->device->activity, &busy->device->async};
    for (size_t l = 0; l < 2; l++) {
        struct ids_cursor cursor = ids_busy_cursor(busy, lists[l]);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            /* Async ops that name no direction are collectives or copies within the device's memories. */
            if (l == 1 && (event->class == IDS_CLASS_COLLECTIVE || event->direction == IDS_NO_DIRECTION)) continue;
            if (is_transfer(event) && add(trace, gathering, own, event, busy->index, ids_end_in_window(busy, event)))
                return -1;
        }
    }
    return 0;
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    struct gathering *gathering = sums;
    struct sums *own = gathering->of_device[busy - analysis->busy];
    int failed = add_device(analysis->trace, busy, gathering, own) || close_sums(own, gathering->all);
    free_sums(own);
    return failed ? ids_no_memory(err) : 0;
}

static int add_host(const struct ids_trace *trace, uint32_t host, struct gathering *gathering,
                    struct sums own[DIRECTIONS]) {
    for (size_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].host != host) continue;
        struct ids_cursor cursor = ids_cursor_over_kinds(&trace->tracks[t].events, IDS_KINDS(IDS_KIND_TRANSFER));
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind == IDS_KIND_TRANSFER && add(trace, gathering, own, event, IDS_NONE, event->end_ps))
                return -1;
        }
    }
    return 0;
}

/* Transfers that only the host's runtime books (TPU). */
static int sum_up_host(const struct ids_analysis *analysis, uint32_t host, void *sums, struct ids_error *err) {
    struct gathering *gathering = sums;
    return add_host(analysis->trace, host, gathering, gathering->of_hosts) ? ids_no_memory(err) : 0;
}

static void transfers_done(void *sums) {
    struct gathering *gathering = sums;
    free_sums(gathering->of_hosts);
    ids_groups_done(&gathering->groups);
    ids_best_done(&gathering->largest);
    free(gathering->of_device);
}

static const char *device_of(const struct ids_analysis *analysis, const struct ids_event *event) {
    return event->device == IDS_NONE ? "host runtime" : analysis->trace->devices[event->device].key;
}

static void list_kinds(const struct ids_analysis *analysis, struct ids_report *report, struct ids_groups *groups) {
    struct ids_table *table = ids_report_table(report, &kinds);
    ids_groups_sort_by_total(groups);
    for (size_t g = 0; g < groups->count; g++) {
        const struct ids_group *group = &groups->at[g];
        int unknown = group->unknown_values == group->count;
        struct ids_value row[] = {
            ids_text_value(ids_direction_name((enum ids_direction)group->first->direction)),
            ids_text_value(device_of(analysis, group->first)),
            ids_text_value(group->first->device == IDS_NONE ? "" : mode_of(group->first)),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)group->count),
            unknown ? ids_no_value(IDS_UNIT_BYTES) : ids_int_value(IDS_UNIT_BYTES, group->value),
            ids_int_value(IDS_UNIT_TIME, group->total_ps),
            unknown ? ids_no_value(IDS_UNIT_BYTES) : ids_int_value(IDS_UNIT_BYTES, group->value_max),
            ids_text_value(ids_event_name(analysis->trace, group->first)),
        };
        IDS_ROW(report, table, kind_columns, row);
    }
}

static void list_largest(const struct ids_analysis *analysis, struct ids_report *report, struct gathering *gathering) {
    struct ids_table *table = ids_report_table(report, &largest);
    ids_best_order(&gathering->largest);
    for (size_t i = 0; i < gathering->largest.count; i++) {
        const struct ids_event *event = (const struct ids_event *)gathering->largest.at + i;
        int64_t duration_ps = event->end_ps - event->start_ps;
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_BYTES, event->value),
            ids_int_value(IDS_UNIT_TIME, duration_ps),
            duration_ps ? ids_real_value(IDS_UNIT_RATE, (double)event->value * 1e12 / (double)duration_ps)
                        : ids_no_value(IDS_UNIT_RATE),
            ids_text_value(ids_direction_name((enum ids_direction)event->direction)),
            ids_text_value(device_of(analysis, event)),
            ids_int_value(IDS_UNIT_TIME, event->start_ps - analysis->first_ps),
            ids_text_value(ids_event_name(analysis->trace, event)),
        };
        IDS_ROW(report, table, largest_columns, row);
    }
    table->rows_left_out = (int64_t)(gathering->largest.seen - gathering->largest.count);
}

static void overlapped(const struct ids_analysis *analysis, struct ids_report *report) {
    int64_t hidden_ps = 0, copied_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_busy *busy = &analysis->busy[b];
        ids_sum(&copied_ps, ids_time_in(busy, IDS_IS_H2D | IDS_IS_D2H));
        ids_sum(&hidden_ps, ids_time_in_both(busy, IDS_IS_H2D | IDS_IS_D2H, IDS_IS_COMPUTE));
    }
    if (copied_ps)
        ids_report_metric(report, "transfers.overlapped_share", NULL,
                          ids_real_value(IDS_UNIT_RATIO, (double)hidden_ps / (double)copied_ps));
    else
        ids_report_no_data(report, "transfers.overlapped_share", IDS_UNIT_RATIO, NULL,
                           "no H2D or D2H copy on a device in the window");
}

/* Why a trace without a single transfer says nothing; NULL when "none" is a finding. */
static const char *blind(const struct ids_analysis *analysis) {
    if (!analysis->busy_count) return ids_no_activity_reason(analysis);
    for (size_t b = 0; b < analysis->busy_count; b++) {
        if (analysis->busy[b].device->kind != IDS_DEVICE_CPU) return NULL;
    }
    return "device memory is host memory here, and the CPU client records no transfer";
}

static int transfers_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct gathering *gathering = analysis->sums;
    if (close_sums(gathering->of_hosts, gathering->all)) return ids_no_memory(err);
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_device *device = analysis->busy[b].device;
        if (device->kind != IDS_DEVICE_CPU) figures(report, device->key, gathering->of_device[b]);
    }
    const char *why = gathering->groups.count ? NULL : blind(analysis);
    if (why) {
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics), why);
        return 0;
    }
    figures(report, NULL, gathering->all);
    overlapped(analysis, report);
    list_kinds(analysis, report, &gathering->groups);
    list_largest(analysis, report, gathering);
    return 0;
}

static const struct ids_table_def *const tables[] = {&kinds, &largest};

const struct ids_analyzer ids_transfers_analyzer = {
    .name = "transfers",
    .title = "transfers",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .headlines = headlines,
    .headline_count = IDS_COUNT_OF(headlines),
    .gathering = {.size = sizeof(struct gathering),
                  .begin = transfers_begin,
                  .host = sum_up_host,
                  .device = sum_up_device,
                  .done = transfers_done},
    .run = transfers_run,
};
