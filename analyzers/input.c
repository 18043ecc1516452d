/* input.c - the stages of the input pipeline (tf.data, DataLoader, regions that say so): what each takes, how fast it
 * could be, and whether the steps wait for it. */
#include "lib/analysis/context.h"
#include "lib/analysis/metric_sql.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/event_kind.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>
#include <string.h>

#define ANY_STAGE "SELECT 1 FROM host_activities WHERE run = :run AND kind = 'input'"

static const struct ids_metric_def metrics[] = {
    {"input.waited", "devices wait for it", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of the ledger's time (the steps; without steps the windows) that is in host.input: devices wait for input.",
     "SELECT sum(dur_ps * (account = 'host.input')) * 1.0 / sum(dur_ps) FROM ledger WHERE run = :run AND counts = 1 "
     "HAVING sum(account = 'host.input') > 0 OR EXISTS (" ANY_STAGE ")"},
    {"input.time", "time in input", IDS_UNIT_TIME, IDS_BETTER_NEITHER,
     "Time that threads spend in stages of the input pipeline or wait for it there: the union of each thread's, summed "
     "over threads. Threads that prepare batches ahead do so while devices work.",
     IDS_SQL_SPANS("track_id", "dur_ps",
                   "host_activities WHERE run = :run AND kind = 'input'") "SELECT " IDS_SQL_UNION
                                                                          " FROM span HAVING count(*) > 0"},
};

static const struct ids_column_def columns[] = {
    {"total", "total", IDS_UNIT_TIME, 0},
    {"self", "self", IDS_UNIT_TIME, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"mean", "mean", IDS_UNIT_TIME, 0},
    {"work", "its function", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"threads", "threads", IDS_UNIT_COUNT, 0},
    {"need", "needed/s", IDS_UNIT_NUMBER, 0},
    {"rate", "could do/s", IDS_UNIT_NUMBER, 0},
    {"busy", "busy", IDS_UNIT_RATIO, 0},
    {"waited", "waited for", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"verdict", "verdict", IDS_UNIT_NONE, 0},
    {"stage", "stage", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
};
static const struct ids_table_def stages_table = {
    "input_stages",
    "stages of the input pipeline",
    columns,
    IDS_COUNT_OF(columns),
    "One row per stage: what tf.data records (Iterator::...), stages of grain (MapDatasetIterator.__next__), a "
    "DataLoader's next batch (a last call that gives none is not counted), regions whose words say that they load or "
    "feed (data_loading, next_batch), and waits for "
    "queues and futures. `total` is the time inside it, "
    "`self` without the stages inside, over all of the recording; `work` is what the function of "
    "a parallel stage of tf.data takes on the `threads` of its pool, which counts in place of its self time. The steps "
    "would take it `need` times a second if "
    "they never waited for input (count by the time that is left without what the ledger books to host.input), and its "
    "`threads` could do it `rate` times a second (count times threads by self time); `busy` is the share of the time "
    "in which they were. The slowest stage is the busiest one that works, at least a tenth of the time; one that only "
    "waits, for a queue, for another process or for what a parallel stage prepares on other threads, is not it. It is "
    "enough if devices do not "
    "wait: `waited` is what the ledger books to host.input by this stage, over all devices in the steps (without "
    "steps: in the windows).",
    0,
};

struct stage {
    uint32_t text; /* of trace->strings */
    int64_t total_ps, inner_ps, waited_ps;
    int64_t work_ps, workers; /* of its function, where others run it, and on how many threads */
    int64_t count, threads;
    int64_t last_at_ps, last_ps;      /* when the last one began, and what it took */
    uint32_t last_track, last_worker; /* + 1 */
    int is_waiting;
};

struct pipeline {
    const struct ids_analysis *analysis;
    uint32_t *of_name; /* by trace->names: index of its stage + 1, 0 not met yet; NULL: no stage was met */
    struct ids_keymap numbers;
    struct ids_keymap functions; /* what a run of a stage's function gives its executor -> the stage's index + 1 */
    struct stage *at;
    size_t count, room;
    int64_t first_ps, last_ps; /* from the first to the last moment of devices and stages */
    int64_t time_ps;           /* of threads inside stages */
    double waited;             /* share of the ledger's time in which devices wait for input */
};

/* A function of Python that takes what others have put, as JAX or as Kineto writes it. */
static int is_queue(const char *name) {
    static const char *const files[] = {"queue.py", "queues.py", "pool.py", "_base.py", "connection.py"};
    struct ids_python_frame frame;
    if (!ids_python_frame_of((struct ids_text){name, (uint32_t)strlen(name)}, &frame)) return 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!ids_text_ends(frame.file, files[i])) continue;
        size_t before = frame.file.length - strlen(files[i]);
        if (!before || frame.file.at[before - 1] == '/') return 1;
    }
    return 0;
}

/* What hands over what others prepare, so that its own time is waiting. */
static int only_waits(const char *name) { /* by its name */
    static const char *const waits[] = {"Prefetch", "ParallelMap", "ParallelInterleave", "ParallelBatch", "MapAndBatch",
                                        "Model",    "Root"};
    if (strstr(name, "_MultiProcessingDataLoaderIter") || strstr(name, "IteratorGetNext") || is_queue(name)) return 1;
    if (strncmp(name, "Iterator::", 10) != 0) return 0;
    const char *last = name;
    for (const char *at = name; (at = strstr(at, "::")) != NULL;) last = at += 2;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (!strncmp(last, waits[i], strlen(waits[i]))) return 1;
    }
    return 0;
}

/* tf.data's own names are whole paths; of other ops the display name tells what they are. */
static uint32_t text_of(const struct ids_trace *trace, const struct ids_name *name) {
    int is_path = ids_text_begins(ids_strings_text(&trace->strings, name->text), "Iterator::");
    return is_path || !name->display ? name->text : name->display;
}

static struct stage *stage_of(struct pipeline *pipeline, const struct ids_event *event) {
    const struct ids_trace *trace = pipeline->analysis->trace;
    if (!pipeline->of_name) pipeline->of_name = calloc(trace->name_count, sizeof *pipeline->of_name);
    if (!pipeline->of_name) return NULL;
    uint32_t *known = &pipeline->of_name[event->name];
    if (!*known) {
        uint32_t text = text_of(trace, &trace->names[event->name]);
        uint64_t *place = ids_keymap_at(&pipeline->numbers, ids_key_of(text, 1));
        if (!place) return NULL;
        if (!*place) {
            struct stage *fresh = IDS_PUSH(pipeline->at, pipeline->count, pipeline->room);
            if (!fresh) return NULL;
            *place = pipeline->count;
            *fresh = (struct stage){.text = text,
                                    .last_at_ps = INT64_MIN,
                                    .is_waiting = trace->names[event->name].hands_over ||
                                                  only_waits(ids_trace_text(trace, text))};
        }
        *known = (uint32_t)*place;
    }
    return &pipeline->at[*known - 1];
}

static const char *name_of(const struct pipeline *pipeline, const struct ids_event *event) {
    const struct ids_trace *trace = pipeline->analysis->trace;
    return ids_trace_text(trace, trace->names[event->name].text);
}

/* The stage that it lies in directly; NULL: in none. */
static const struct ids_event *around(const struct ids_trace *trace, const struct ids_event *event) {
    do event = ids_event_outside(trace, event);
    while (event && event->kind != IDS_KIND_INPUT);
    return event;
}

/* The number of the stage that takes from another one, by its path: of Iterator::Root::Map::Range that is
 * Iterator::Root::Map. 0: none. */
static uint64_t taker_of(struct pipeline *pipeline, const struct ids_event *event) {
    const struct ids_trace *trace = pipeline->analysis->trace;
    struct ids_text path = ids_strings_text(&trace->strings, text_of(trace, &trace->names[event->name]));
    size_t length = path.length;
    while (length > 2 && !(path.at[length - 1] == ':' && path.at[length - 2] == ':')) length--;
    uint32_t text = length > 2 ? ids_strings_find(&trace->strings, path.at, length - 2) : IDS_NO_TEXT;
    uint64_t place = 0;
    if (text != IDS_NO_TEXT) ids_keymap_get(&pipeline->numbers, ids_key_of(text, 1), &place);
    return place;
}

/* A parallel stage of tf.data takes an element, then has its function run by a pool, which runs what it was given. */
static int add_function(struct pipeline *pipeline, const struct ids_event *event, const struct ids_event *taken) {
    if (!event->produces || !taken || ids_event_outside(pipeline->analysis->trace, event) == taken ||
        strcmp(name_of(pipeline, event), "FunctionRun") != 0)
        return 0;
    uint64_t stage = taker_of(pipeline, taken), *place;
    if (!stage) return 0;
    place = ids_keymap_at(&pipeline->functions, event->produces);
    if (place) *place = stage;
    return place ? 0 : -1;
}

static int add_functions(struct pipeline *pipeline, uint32_t number) {
    const struct ids_events *events = &pipeline->analysis->trace->tracks[number].events;
    const struct ids_event *taken = NULL; /* the last stage that was entered */
    if (!ids_events_may_have(events, IDS_KINDS(IDS_KIND_INPUT))) return 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        if (event->kind == IDS_KIND_INPUT) taken = event;
        if (event->kind == IDS_KIND_FLOW && add_function(pipeline, event, taken)) return -1;
    }
    return 0;
}

static void add_work(struct pipeline *pipeline, uint32_t number) {
    const struct ids_events *events = &pipeline->analysis->trace->tracks[number].events;
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        uint64_t place = 0;
        if (event->kind != IDS_KIND_FLOW || !event->launch ||
            !ids_keymap_get(&pipeline->functions, event->launch->produces, &place) ||
            strcmp(name_of(pipeline, event), "ExecutorState::Process") != 0)
            continue;
        struct stage *stage = &pipeline->at[place - 1];
        ids_sum(&stage->work_ps, event->end_ps - event->start_ps);
        if (stage->last_worker != number + 1) stage->workers++, stage->last_worker = number + 1;
    }
}

static int add_track(struct pipeline *pipeline, uint32_t number) {
    const struct ids_trace *trace = pipeline->analysis->trace;
    const struct ids_events *events = &trace->tracks[number].events;
    int64_t until_ps = INT64_MIN; /* the end of the stages before */
    if (!ids_events_may_have(events, IDS_KINDS(IDS_KIND_INPUT))) return 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        if (event->kind != IDS_KIND_INPUT) continue;
        struct stage *stage = stage_of(pipeline, event);
        if (!stage) return -1;
        const struct ids_event *outer = around(trace, event);
        int64_t duration_ps = event->end_ps - event->start_ps;
        stage->count++;
        if (event->start_ps >= stage->last_at_ps) stage->last_at_ps = event->start_ps, stage->last_ps = duration_ps;
        ids_sum(&stage->total_ps, duration_ps);
        if (stage->last_track != number + 1) stage->threads++, stage->last_track = number + 1;
        if (outer && !(stage = stage_of(pipeline, outer))) return -1;
        if (outer) ids_sum(&stage->inner_ps, duration_ps);
        int64_t from_ps = event->start_ps > until_ps ? event->start_ps : until_ps;
        if (event->end_ps > from_ps) ids_sum(&pipeline->time_ps, event->end_ps - from_ps), until_ps = event->end_ps;
        if (event->start_ps < pipeline->first_ps) pipeline->first_ps = event->start_ps;
        if (event->end_ps > pipeline->last_ps) pipeline->last_ps = event->end_ps;
    }
    return 0;
}

/* What the ledger books to input, all of it, and by stages. */
static int64_t add_waits(struct pipeline *pipeline, int64_t *ret_all_ps) {
    const struct ids_ledger *ledger = &pipeline->analysis->ledger;
    const struct ids_strings *strings = &pipeline->analysis->trace->strings;
    int64_t waited_ps = 0;
    *ret_all_ps = 0;
    for (size_t s = 0; s < ledger->share_count; s++) {
        const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
        ids_sum(ret_all_ps, ledger->shares[s].ps);
        if (entry->account != IDS_HOST_INPUT) continue;
        ids_sum(&waited_ps, ledger->shares[s].ps);
        struct ids_text culprit = ids_strings_text(&ledger->texts, entry->culprit);
        uint32_t text = ids_strings_find(strings, culprit.at, culprit.length);
        uint64_t place;
        if (pipeline->at && text != IDS_NO_TEXT && ids_keymap_get(&pipeline->numbers, ids_key_of(text, 1), &place) &&
            place && place <= pipeline->count)
            ids_sum(&pipeline->at[place - 1].waited_ps, ledger->shares[s].ps);
    }
    return waited_ps;
}

static int64_t self_of(const struct stage *stage) {
    return stage->total_ps > stage->inner_ps ? stage->total_ps - stage->inner_ps : 0;
}

/* The last call of a loader gives no batch where it only says that there is none (StopIteration). */
static int64_t given_by(const struct ids_trace *trace, const struct stage *stage) {
    enum { SHORT = 100 };
    int64_t others = stage->count - 1;
    int ends = others > 0 && stage->last_ps < (stage->total_ps - stage->last_ps) / others / SHORT &&
               ids_is_reader(ids_strings_text(&trace->strings, stage->text));
    return ends ? others : stage->count;
}

static int only_hands_over(const struct stage *stage) {
    return stage->is_waiting && !stage->work_ps;
}

/* What waits for its own function works as long as that runs, where it runs. */
static int64_t working_of(const struct stage *stage) {
    return stage->work_ps ? stage->work_ps : self_of(stage);
}

static int64_t threads_of(const struct stage *stage) {
    return stage->work_ps ? stage->workers : stage->threads;
}

static double busy_of(const struct pipeline *pipeline, const struct stage *stage) {
    double span_ps = (double)(pipeline->last_ps - pipeline->first_ps);
    return span_ps > 0 ? (double)working_of(stage) / (span_ps * (double)threads_of(stage)) : 0;
}

static int longest_first(const void *a, const void *b) {
    const struct stage *left = a, *right = b;
    if (left->total_ps != right->total_ps) return left->total_ps < right->total_ps ? 1 : -1;
    return (left->text > right->text) - (left->text < right->text);
}

/* The busiest one that works. What works less than a tenth of the time holds nobody up. */
static const struct stage *slowest_of(const struct pipeline *pipeline) {
    const double least = 0.1;
    const struct stage *slowest = NULL;
    for (size_t i = 0; i < pipeline->count; i++) {
        const struct stage *stage = &pipeline->at[i];
        double busy = busy_of(pipeline, stage);
        if (!only_hands_over(stage) && busy >= least && (!slowest || busy > busy_of(pipeline, slowest)))
            slowest = stage;
    }
    return slowest;
}

static void list(struct pipeline *pipeline, struct ids_report *report) {
    const struct ids_trace *trace = pipeline->analysis->trace;
    const double second = 1e12, needed_ps = (double)(pipeline->last_ps - pipeline->first_ps) * (1 - pipeline->waited);
    struct ids_table *table = ids_report_table(report, &stages_table);
    if (pipeline->count) qsort(pipeline->at, pipeline->count, sizeof *pipeline->at, longest_first);
    const struct stage *slowest = slowest_of(pipeline);
    for (size_t i = 0; i < pipeline->count; i++) {
        const struct stage *stage = &pipeline->at[i];
        int64_t self_ps = self_of(stage), working_ps = working_of(stage), given = given_by(trace, stage);
        const struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, stage->total_ps),
            ids_int_value(IDS_UNIT_TIME, self_ps),
            ids_int_value(IDS_UNIT_COUNT, given),
            ids_int_value(IDS_UNIT_TIME, stage->total_ps / given),
            stage->work_ps ? ids_int_value(IDS_UNIT_TIME, stage->work_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_int_value(IDS_UNIT_COUNT, threads_of(stage)),
            needed_ps > 0 ? ids_real_value(IDS_UNIT_NUMBER, (double)given * second / needed_ps)
                          : ids_no_value(IDS_UNIT_NUMBER),
            working_ps ? ids_real_value(IDS_UNIT_NUMBER,
                                        (double)given * (double)threads_of(stage) * second / (double)working_ps)
                       : ids_no_value(IDS_UNIT_NUMBER),
            ids_real_value(IDS_UNIT_RATIO, busy_of(pipeline, stage)),
            stage->waited_ps ? ids_int_value(IDS_UNIT_TIME, stage->waited_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(stage == slowest         ? "slowest"
                           : only_hands_over(stage) ? "only waits"
                                                    : NULL),
            ids_text_value(ids_trace_text(trace, stage->text)),
        };
        IDS_ROW(report, table, columns, row);
    }
}

static int gather(struct pipeline *pipeline) {
    const struct ids_trace *trace = pipeline->analysis->trace;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].role == IDS_TRACK_HOST && add_track(pipeline, t)) return -1;
    }
    for (uint32_t t = 0; t < trace->track_count && pipeline->count; t++) {
        if (trace->tracks[t].role == IDS_TRACK_HOST && add_functions(pipeline, t)) return -1;
    }
    for (uint32_t t = 0; t < trace->track_count && pipeline->functions.count; t++) {
        if (trace->tracks[t].role == IDS_TRACK_HOST) add_work(pipeline, t);
    }
    return 0;
}

static const char no_pipeline[] = "no stage of an input pipeline is in the recording (tf.data, a DataLoader, a region "
                                  "such as next_batch)";

/* What waits for input need not be a stage: a thread of a pool that decodes is a function of the program. */
static const char *say_no_stage(const struct ids_ledger *ledger, int64_t waited_ps, struct ids_report *report) {
    const struct ids_ledger_entry *most = NULL;
    int64_t most_ps = 0;
    for (size_t s = 0; s < ledger->share_count; s++) {
        const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
        if (entry->account != IDS_HOST_INPUT || !entry->culprit || ids_ledger_entry_time(entry) <= most_ps) continue;
        most = entry;
        most_ps = ids_ledger_entry_time(entry);
    }
    if (!most || waited_ps <= 0) return no_pipeline;
    char buffer[IDS_VALUE_ROOM];
    const char *where = most->where ? ids_strings_z(&ledger->texts, most->where) : NULL;
    return ids_report_text(
        report, "%s; the devices' longest wait for input, %s in all, is for %s%s%s%s: see table ledger", no_pipeline,
        ids_value_format(ids_int_value(IDS_UNIT_TIME, most_ps), buffer, sizeof buffer),
        ids_strings_z(&ledger->texts, most->culprit), where ? " (" : "", where ? where : "", where ? ")" : "");
}

static int input_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct pipeline pipeline = {.analysis = analysis, .first_ps = analysis->start_ps, .last_ps = analysis->end_ps};
    int failed = gather(&pipeline);
    if (!failed) {
        int64_t all_ps, waited_ps = add_waits(&pipeline, &all_ps);
        if (all_ps) pipeline.waited = (double)waited_ps / (double)all_ps;
        if (all_ps && (pipeline.count || waited_ps))
            ids_report_metric(report, "input.waited", NULL, ids_real_value(IDS_UNIT_RATIO, pipeline.waited));
        if (pipeline.count)
            ids_report_metric(report, "input.time", NULL, ids_int_value(IDS_UNIT_TIME, pipeline.time_ps));
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                            all_ps ? say_no_stage(&analysis->ledger, waited_ps, report)
                                   : ids_no_activity_reason(analysis));
        list(&pipeline, report);
    }
    free(pipeline.of_name);
    free(pipeline.at);
    ids_keymap_done(&pipeline.numbers);
    ids_keymap_done(&pipeline.functions);
    return failed ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&stages_table};

const struct ids_analyzer ids_input_analyzer = {
    .name = "input",
    .title = "input pipeline",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = input_run,
};
