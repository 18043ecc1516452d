/* query: SQL that only reads, within rows, bytes and time. */
#include "lib/mcp/opening.h"
#include "lib/store/db_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_USUAL = 50,
    ROWS_MOST = 10000,
    SECONDS_USUAL = 20,
    SECONDS_MOST = 600,
    CELL_BYTES = 1000,
    SQL_MOST = 50000
};

static const struct ids_mcp_argument arguments[] = {
    IDS_MCP_PATH,
    IDS_MCP_RUN,
    {"sql", IDS_MCP_TEXT, IDS_MCP_AT(sql), 1, 0, 0, 0,
     "one statement of SQLite that reads. Views: ledger, gaps, kernels, ops, memcpys, collectives, compiles, steps, "
     "device_time, events; PRAGMA table_info(ledger) tells of columns. Times are in picoseconds"},
    {"max_rows", IDS_MCP_INT, IDS_MCP_AT(max_rows), 0, 1, ROWS_MOST, ROWS_USUAL, "rows at most"},
    {"seconds", IDS_MCP_SECONDS, IDS_MCP_AT(seconds_ps), 0, 1, SECONDS_MOST, SECONDS_USUAL,
     "CPU time of the statement at most; importing the run, which the first query does, is not counted"},
    IDS_MCP_MAX_CHARS,
};

static cJSON *cell_of(struct ids_cell cell) {
    static const char digits[] = "0123456789abcdef";
    const int64_t exact = INT64_C(1) << 53;
    char text[32], hex[2 * 64 + 4] = "x'";
    cJSON *value = NULL;
    char *clean = NULL;
    switch (cell.type) {
    case IDS_CELL_INT:
        if (cell.i <= exact && cell.i >= -exact) return cJSON_CreateNumber((double)cell.i);
        snprintf(text, sizeof text, "%lld", (long long)cell.i); /* as everywhere, since a double cannot hold it */
        return cJSON_CreateString(text);
    case IDS_CELL_REAL:
        if (isinf(cell.d))
            return cJSON_CreateString(cell.d > 0 ? "Infinity" : "-Infinity"); /* JSON has no such number */
        return cJSON_CreateNumber(cell.d);
    case IDS_CELL_TEXT:
        clean = ids_mcp_clean(cell.bytes, cell.length, CELL_BYTES);
        value = clean ? cJSON_CreateString(clean) : NULL;
        free(clean);
        return value;
    case IDS_CELL_BLOB:
        for (size_t i = 0; i < cell.length && i < 64; i++) {
            hex[2 + 2 * i] = digits[(unsigned char)cell.bytes[i] >> 4];
            hex[3 + 2 * i] = digits[(unsigned char)cell.bytes[i] & 15];
        }
        hex[2 + 2 * (cell.length < 64 ? cell.length : 64)] = cell.length > 64 ? '+' : '\'';
        return cJSON_CreateString(hex);
    default:
        return cJSON_CreateNull();
    }
}

static void write_row(FILE *out, const cJSON *row) {
    for (const cJSON *cell = row ? row->child : NULL; cell; cell = cell->next) {
        char *text = cJSON_IsString(cell) ? NULL : cJSON_PrintUnformatted(cell);
        fprintf(out, "%s%s", cell->prev && cell != row->child ? "\t" : "", text ? text : cell->valuestring);
        cJSON_free(text);
    }
    fputc('\n', out);
}

/* Rows until there are enough of them in number or in bytes; `more` is set when there would be others. */
static int take_rows(struct ids_mcp_call *call, struct ids_query *query, cJSON *rows, int *ret_more,
                     struct ids_error *err) {
    int64_t count = 0;
    int more = 0;
    int columns = ids_query_columns(query);
    while ((more = ids_query_next(query, err)) > 0) {
        if (count == call->values.max_rows || (size_t)ftell(call->answer.out) > (size_t)call->values.max_chars) break;
        cJSON *row = cJSON_CreateArray();
        for (int i = 0; i < columns; i++) ids_mcp_add(row, cell_of(ids_query_cell(query, i)));
        write_row(call->answer.out, row);
        ids_mcp_add(rows, row);
        count++;
    }
    *ret_more = more > 0;
    return more < 0 ? more : 0;
}

static int ask(struct ids_mcp_call *call, struct ids_query *query, struct ids_error *err) {
    cJSON *data = call->answer.data, *columns = NULL, *rows = NULL;
    int more = 0;
    int code = ids_query_prepare(query, call->values.sql, err);
    if (code) return code;
    columns = cJSON_AddArrayToObject(data, "columns");
    for (int i = 0; i < ids_query_columns(query); i++) {
        const char *name = ids_query_column(query, i);
        char *clean = ids_mcp_clean(name, strlen(name), 200);
        ids_mcp_add(columns, cJSON_CreateString(clean ? clean : ""));
        free(clean);
    }
    write_row(call->answer.out, columns);
    rows = cJSON_AddArrayToObject(data, "rows");
    code = take_rows(call, query, rows, &more, err);
    int64_t count = cJSON_GetArraySize(rows);
    cJSON_AddBoolToObject(data, "complete", !more);
    if (more)
        fprintf(call->answer.out, "... there are more rows: raise max_rows or max_chars, or use LIMIT and OFFSET\n");
    /* How many there would be, nobody knows: one more than there are says that there are others. */
    ids_mcp_answer_part(&call->answer, rows, "rows", NULL, NULL, more ? 2 * count + 1 : count);
    return code;
}

static void limit_sql(const struct ids_mcp_call *call) {
    int64_t most = call->setup->sql_timeout_ps, wanted = call->values.seconds_ps;
    ids_db_limit_set(most && most < wanted ? most : wanted, call->setup->sql_bytes);
}

static int run_query(struct ids_mcp_call *call, struct ids_error *err) {
    struct ids_opened_events events = {0};
    struct ids_query *query = NULL;
    if (strlen(call->values.sql) > SQL_MOST) return ids_fail(err, IDS_LIMIT, "'sql' has more than %d bytes", SQL_MOST);
    int code = ids_mcp_may_open(call->setup, call->values.path, err);
    if (code) return code;
    limit_sql(call);
    code = ids_events_open_run(&call->engine, call->values.path, call->values.run, &events, err);
    ids_engine_progress_end(&call->engine);
    if (!code) code = ids_events_query(&events, &query, err);
    if (!code) {
        ids_engine_sql(&call->engine, IDS_SQL_BEGINS);
        if (call->watch) call->watch(call->own, query);
        code = ask(call, query, err);
        if (call->watch) call->watch(call->own, NULL);
        ids_engine_sql(&call->engine, IDS_SQL_ENDS);
        ids_query_free(query);
    }
    ids_events_done(&events);
    return code;
}

const struct ids_mcp_tool ids_mcp_query_tool = {
    .name = "query",
    .title = "Ask the events of a run in SQL",
    .about =
        "Read-only SQL over every event of a run, within rows, bytes and CPU time. The first query of a run imports "
        "it into the cache.",
    .arguments = arguments,
    .argument_count = sizeof arguments / sizeof *arguments,
    .limit = "max_rows",
    .members = "{\"columns\":{\"type\":\"array\"},\"rows\":{\"type\":\"array\"},\"complete\":{\"type\":\"boolean\"}}",
    .always = "[\"columns\",\"rows\",\"complete\"]",
    .run = run_query,
};
