#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/analysis/grades.h"
#include "lib/base/buffer.h"
#include "lib/cli/progress.h"
#include "lib/cli/reading.h"
#include "lib/cli/terminal.h"
#include "lib/render/query_rows.h"
#include "lib/run/explanation.h"
#include "lib/run/open_events.h"
#include "lib/run/sections.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SQL_BYTES = 1 << 20 };

struct query_options {
    const char *run, *file, *explain;
    int format, schema, json, csv;
};

/* In the order of enum ids_query_format. */
static const char *format_choice(int i) {
    static const char *const names[] = {"table", "json", "csv", NULL};
    return names[i];
}

#define AT(field) offsetof(struct query_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'f', "file", "FILE", "read the SQL from this file; - for standard input", AT(file), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'c', "csv", NULL, "print CSV", AT(csv), NULL},
    {IDS_OPT_CHOICE, 0, "format", "FORMAT", "table, json or csv", AT(format), format_choice},
    {IDS_OPT_FLAG, 0, "schema", NULL, "print the tables and views, and what each column means; needs no run",
     AT(schema), NULL},
    {IDS_OPT_TEXT, 'e', "explain", "ID", "explain a metric: its meaning, its SQL, its value from the rows", AT(explain),
     ids_explain_choice},
    {IDS_OPT_TEXT, 'r', "run", "NAME", "choose a run of a log folder; else the newest", AT(run), NULL},
    IDS_READING_OPTIONS,
};

static int read_sql(const char *path, struct ids_buffer *sql, struct ids_error *err) {
    int is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (!file) return ids_fail_system(err, "cannot open '%s'", path);
    char block[4096];
    size_t length;
    while ((length = fread(block, 1, sizeof block, file)) > 0 && sql->length <= SQL_BYTES)
        ids_buffer_put(sql, block, length);
    int failed = ferror(file);
    if (!is_stdin) fclose(file);
    if (failed) return ids_fail_system(err, "cannot read '%s'", path);
    if (sql->length > SQL_BYTES) return ids_fail(err, IDS_LIMIT, "'%s': more than 1 MiB of SQL", path);
    if (sql->failed) return ids_no_memory(err);
    if (sql->length && memchr(sql->at, '\0', sql->length))
        return ids_fail(err, IDS_USAGE, "'%s' is not SQL: it has zero bytes", path);
    return 0;
}

static struct ids_query *running;

static void interrupt(int number) {
    (void)number;
    if (running) ids_query_interrupt(running);
}

/* What rows are missing for is said before the others: that some are cannot be seen of them. */
static void say_incomplete(const struct ids_opened_events *events, struct ids_query *query) {
    static const char sql[] =
        "SELECT name, coalesce((SELECT text FROM diag d WHERE d.run = r.id AND d.severity = 'damage' LIMIT 1),"
        " 'the input ends early'), count(*) OVER () FROM run r WHERE NOT complete";
    struct ids_error ignored = IDS_ERROR_INIT; /* of what is no database of ours the query itself says it */
    if (ids_query_prepare(query, sql, &ignored) || ids_query_next(query, &ignored) <= 0) return;
    const struct ids_cell name = ids_query_cell(query, 0), why = ids_query_cell(query, 1);
    const long long count = ids_query_cell(query, 2).i;
    if (count == 1)
        ids_engine_note(events->engine, "'%.*s' is incomplete: %.*s", (int)name.length, name.bytes, (int)why.length,
                        why.bytes);
    else
        ids_engine_note(events->engine, "%lld runs are incomplete: '%.*s': %.*s (the others: SELECT * FROM diag)",
                        count, (int)name.length, name.bytes, (int)why.length, why.bytes);
}

static int ask(const struct query_options *options, struct ids_opened_events *events, const char *sql,
               struct ids_error *err) {
    struct ids_query *query;
    int code = ids_events_query(events, &query, err);
    if (code) return code;
    say_incomplete(events, query);
    running = query;
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)}, before;
    sigaction(SIGINT, &action, &before); /* the second one ends the program */
    ids_reading_watch("query");
    code = ids_query_prepare(query, sql, err);
    if (!code) code = ids_render_query(query, (enum ids_query_format)options->format, stdout, err);
    ids_reading_unwatch();
    running = NULL;
    sigaction(SIGINT, &before, NULL);
    ids_query_free(query);
    return code;
}

static const char schema_sql[] =
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'view' DESC, rowid";

static int print_schema(struct ids_opened_events *events, struct ids_error *err) {
    struct ids_query *query;
    int more, code = ids_events_query(events, &query, err);
    if (code) return code;
    code = ids_query_prepare(query, schema_sql, err);
    while (!code && (more = ids_query_next(query, err)) != 0) {
        if (more < 0) {
            code = more;
        } else {
            ids_render_lines(ids_query_cell(query, 0), stdout);
            fputs(";\n\n", stdout);
        }
    }
    ids_query_free(query);
    return code;
}

/* The metric out of the report that was stored with the rows, and out of the rows. */
static int explain(const struct query_options *options, const char *path, struct ids_error *err) {
    struct ids_explanation explanation = {0};
    struct ids_report report;
    struct ids_opened_events events;
    struct ids_engine engine = ids_command_engine("query", 0);
    ids_report_init(&report);
    int code = ids_events_open_run(&engine, path, options->run, &events, err);
    if (!code) code = ids_events_report(&events, &report, err);
    if (!code) ids_grade_standard(&report);
    if (!code) code = ids_explanation_make(options->explain, &events, NULL, &explanation, err);
    struct ids_render render = {.width = ids_terminal_width(0), .explained = &explanation.about};
    render.sections = ids_sections(&render.section_count);
    if (!code && options->format == IDS_QUERY_JSON)
        code = ids_render_explain_json(&report, &render, options->explain, stdout, err);
    else if (!code)
        code = ids_render_explain(&report, &render, options->explain, stdout, err);
    ids_explanation_done(&explanation);
    ids_report_done(&report);
    ids_events_done(&events);
    ids_engine_done(&engine);
    return code;
}

static int check_arguments(const struct query_options *options, int operand_count, struct ids_error *err) {
    int given = (operand_count > 1) + (options->file != NULL) + options->schema + (options->explain != NULL);
    if (!operand_count && !options->schema)
        return ids_fail(err, IDS_USAGE, "RUN is missing; usage: idsprof query [options] RUN [SQL]");
    if (options->json + options->csv + (options->format != IDS_QUERY_TABLE) > 1)
        return ids_fail(err, IDS_USAGE, "--json, --csv and --format exclude each other");
    if (!given) return ids_fail(err, IDS_USAGE, "no SQL is given: put it after the run, or in a file with -f");
    if (options->explain && options->format == IDS_QUERY_CSV)
        return ids_fail(err, IDS_USAGE, "--explain cannot print CSV; use --json");
    if (given > 1) return ids_fail(err, IDS_USAGE, "SQL, --file, --schema and --explain exclude each other");
    return 0;
}

static int query_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    struct query_options given = *(const struct query_options *)values;
    const struct query_options *options = &given;
    struct ids_buffer sql = {0};
    struct ids_opened_events events;
    struct ids_engine engine = ids_command_engine("query", 0);
    int code = check_arguments(options, operand_count, err);
    if (code) return code;
    if (given.json) given.format = IDS_QUERY_JSON;
    if (given.csv) given.format = IDS_QUERY_CSV;
    if (options->explain) return explain(options, operands[0], err);
    if (options->file) code = read_sql(options->file, &sql, err);
    if (operand_count > 1) ids_buffer_put(&sql, operands[1], strlen(operands[1]));
    ids_buffer_byte(&sql, '\0');
    if (!code && sql.failed) code = ids_no_memory(err);
    if (!code) {
        code = operand_count ? ids_events_open(&engine, operands[0], options->run, &events, err)
                             : ids_events_open_empty(&engine, &events, err);
        if (!code) code = options->schema ? print_schema(&events, err) : ask(options, &events, sql.at, err);
        ids_events_done(&events);
        ids_engine_done(&engine);
    }
    ids_buffer_done(&sql);
    return code;
}

const struct ids_command ids_query_command = {
    .operands = "RUN [SQL]",
    .least = 0, /* --schema */
    .most = 2,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct query_options),
    .run = query_run,
};
