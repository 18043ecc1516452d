/* program_facts.c - what the compiled programs say of themselves: the table that a comparison's structure comes
 * from. */
#include "lib/model/program_facts.h"
#include "lib/analysis/context.h"

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
    "collective "
    "(opcode), groups (who takes part), custom_call (target; JAX's callbacks are such), remat (computed a second "
    "time). "
    "count instructions say the same, with results of so many bytes together; where is the framework's name of the "
    "first.",
    IDS_TABLE_HIDDEN,
};

static int program_facts_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    (void)err;
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
    return 0;
}

static const struct ids_table_def *const tables[] = {&facts};

const struct ids_analyzer ids_program_facts_analyzer = {
    .name = "program_facts",
    .title = "what programs say",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = program_facts_run,
};
