/* program_facts.c - what the compiled programs say of themselves: the table that a comparison's structure comes
 * from. */
#include "lib/model/program_facts.h"
#include "lib/analysis/context.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

static const struct ids_column_def columns[] = {
    {"module", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"what", "what", IDS_UNIT_NONE, 0},
    {"value", "value", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
};
static const struct ids_table_def facts = {
    "program_facts",
    "what programs say",
    columns,
    IDS_COUNT_OF(columns),
    "Of each program that ran, from its HLO: input, donated (shape of an argument), sharding (of arguments), "
    "collective (opcode), groups (who takes part), custom_call (target; JAX's callbacks are such), remat (computed a "
    "second time). count instructions say the same, with results of so many bytes together; where is the framework's "
    "name of the first.",
    0,
};

static const struct ids_column_def sharding_columns[] = {
    {"bytes", "bytes a device", IDS_UNIT_BYTES, 0},
    {"arguments", "arguments", IDS_UNIT_COUNT, 0},
    {"devices", "spread over", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"sharding", "sharding", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"largest", "largest argument", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"largest_bytes", "its bytes", IDS_UNIT_BYTES, 0},
    {"module", "program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def shardings = {
    "shardings",
    "shardings of arguments",
    sharding_columns,
    IDS_COUNT_OF(sharding_columns),
    "One row per sharding of the arguments of a program that spreads any of them over devices, by the memory that they "
    "take on each device. devices=[4,1]: the first dimension is cut into four; replicated: each device has all of it. "
    "`devices` is over how many an array is spread, so that it takes `bytes` on each of them.",
    0,
};

struct sharding {
    uint32_t module, text; /* of trace->modules; of trace->strings, 0: replicated */
    uint32_t largest;      /* text: its name */
    int64_t bytes, arguments, largest_bytes;
};

struct sharding_list {
    struct ids_keymap numbers; /* module and sharding -> index + 1 */
    struct sharding *at;
    size_t count, room;
};

static int add_sharding(struct sharding_list *list, const struct ids_program_fact *fact, uint32_t text) {
    uint64_t *place = ids_keymap_at(&list->numbers, ids_key_of(ids_key_of(fact->module, 1), text));
    if (!place) return -1;
    if (!*place) {
        struct sharding *fresh = IDS_PUSH(list->at, list->count, list->room);
        if (!fresh) return -1;
        *place = list->count;
        *fresh = (struct sharding){.module = fact->module, .text = text};
    }
    struct sharding *sharding = &list->at[*place - 1];
    int64_t bytes = fact->bytes > 0 ? fact->bytes : 0;
    sharding->arguments += (int64_t)fact->count;
    ids_sum(&sharding->bytes, bytes);
    if (bytes > sharding->largest_bytes) sharding->largest = fact->where, sharding->largest_bytes = bytes;
    return 0;
}

/* Arguments of the same name that have a sharding; the others of such a program are replicated. */
static int gather_shardings(const struct ids_trace *trace, struct sharding_list *list) {
    struct ids_keymap spread = {0}; /* module -> 1; module and argument -> 1 */
    int failed = 0;
    for (size_t i = 0; i < trace->fact_count && !failed; i++) {
        const struct ids_program_fact *fact = &trace->facts[i];
        if (fact->kind != IDS_FACT_SHARDING) continue;
        failed = ids_keymap_add(&spread, ids_key_of(fact->module, 1), 1) < 0 ||
                 ids_keymap_add(&spread, ids_key_of(ids_key_of(fact->module, 2), fact->where), 1) < 0 ||
                 add_sharding(list, fact, fact->text);
    }
    for (size_t i = 0; i < trace->fact_count && !failed; i++) {
        const struct ids_program_fact *fact = &trace->facts[i];
        uint64_t unused;
        if (fact->kind != IDS_FACT_INPUT || !ids_keymap_get(&spread, ids_key_of(fact->module, 1), &unused) ||
            ids_keymap_get(&spread, ids_key_of(ids_key_of(fact->module, 2), fact->where), &unused))
            continue;
        failed = add_sharding(list, fact, 0);
    }
    ids_keymap_done(&spread);
    return failed ? -1 : 0;
}

static int most_bytes_first(const void *a, const void *b) {
    const struct sharding *left = a, *right = b;
    if (left->bytes != right->bytes) return left->bytes < right->bytes ? 1 : -1;
    return left->module != right->module ? (left->module > right->module ? 1 : -1)
                                         : (left->text > right->text) - (left->text < right->text);
}

/* 8 of "devices=[4,2]". */
static int64_t devices_of(const char *text) {
    static const char begin[] = "devices=[";
    int64_t devices = 1;
    if (strncmp(text, begin, sizeof begin - 1) != 0) return 0;
    for (const char *at = text + sizeof begin - 1; *at && *at != ']';) {
        char *end;
        long extent = strtol(at, &end, 10);
        if (end == at || extent < 1 || __builtin_mul_overflow(devices, (int64_t)extent, &devices)) return 0;
        at = *end == ',' ? end + 1 : end;
    }
    return devices;
}

static int list_shardings(const struct ids_trace *trace, struct ids_report *report) {
    struct sharding_list list = {0};
    int failed = gather_shardings(trace, &list);
    if (list.count) qsort(list.at, list.count, sizeof *list.at, most_bytes_first);
    for (size_t i = 0; i < list.count && !failed; i++) {
        const struct sharding *sharding = &list.at[i];
        const char *text = sharding->text ? ids_trace_text(trace, sharding->text) : "replicated";
        int64_t devices = devices_of(text);
        const struct ids_value row[] = {
            ids_int_value(IDS_UNIT_BYTES, sharding->bytes),
            ids_int_value(IDS_UNIT_COUNT, sharding->arguments),
            devices ? ids_int_value(IDS_UNIT_COUNT, devices) : ids_no_value(IDS_UNIT_COUNT),
            ids_text_value(text),
            ids_text_value(sharding->largest ? ids_trace_text(trace, sharding->largest) : NULL),
            ids_int_value(IDS_UNIT_BYTES, sharding->largest_bytes),
            ids_text_value(ids_trace_text(trace, trace->modules[sharding->module].name)),
        };
        IDS_ROW(report, ids_report_table(report, &shardings), sharding_columns, row);
    }
    ids_keymap_done(&list.numbers);
    free(list.at);
    return failed;
}

static int program_facts_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    if (!trace->fact_count) return 0;
    struct ids_table *table = ids_report_table(report, &facts);
    for (size_t i = 0; i < trace->fact_count; i++) {
        const struct ids_program_fact *fact = &trace->facts[i];
        struct ids_value row[] = {
            ids_text_value(ids_trace_text(trace, trace->modules[fact->module].name)),
            ids_text_value(ids_fact_kind_name((enum ids_fact_kind)fact->kind)),
            fact->text ? ids_text_value(ids_trace_text(trace, fact->text)) : ids_no_value(IDS_UNIT_NONE),
            fact->where ? ids_text_value(ids_trace_text(trace, fact->where)) : ids_no_value(IDS_UNIT_NONE),
            ids_int_value(IDS_UNIT_COUNT, (int64_t)fact->count),
            fact->bytes < 0 ? ids_no_value(IDS_UNIT_BYTES) : ids_int_value(IDS_UNIT_BYTES, fact->bytes),
        };
        IDS_ROW(report, table, columns, row);
    }
    return list_shardings(trace, report) ? ids_no_memory(err) : 0;
}

static const struct ids_table_def *const tables[] = {&facts, &shardings};

const struct ids_analyzer ids_program_facts_analyzer = {
    .name = "program_facts",
    .title = "what programs say",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = program_facts_run,
};
