/* Hidden: what the tests and the build ask for. */
#include "lib/model/dump.h"
#include "cmd/command.h"
#include "cmd/dump_hlo.h"
#include "lib/analysis/analyzer.h"
#include "lib/cli/reading.h"
#include "lib/render/manual.h"
#include "lib/run/read_run.h"
#include "lib/run/sections.h"
#include "lib/wire/json_writer.h"

#include <inttypes.h>

struct dump_options {
    int hash, hlo, json, manual, sql, schema;
};

#define AT(field) offsetof(struct dump_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 0, "hash", NULL, "totals and a hash over all that was decoded", AT(hash), NULL},
    {IDS_OPT_FLAG, 0, "hlo", NULL, "the compiled programs: instructions, shapes, loops, buffers", AT(hlo), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON (the only form there is)", AT(json), NULL},
    {IDS_OPT_FLAG, 0, "manual", NULL, "the page idsprof-metrics(7)", AT(manual), NULL},
    {IDS_OPT_FLAG, 0, "schema", NULL, "the page idsprof-schema(5), of a database", AT(schema), NULL},
    {IDS_OPT_FLAG, 0, "sql", NULL, "the statement of each metric", AT(sql), NULL},
    IDS_READING_OPTIONS,
};

static void print_totals(const struct ids_dump_totals *totals) {
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, totals->hash);
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_INLINE);
    ids_json_key(&json, "planes");
    ids_json_uint(&json, totals->planes);
    ids_json_key(&json, "lines");
    ids_json_uint(&json, totals->lines);
    ids_json_key(&json, "events");
    ids_json_uint(&json, totals->events);
    ids_json_key(&json, "event_stats");
    ids_json_uint(&json, totals->event_stats);
    ids_json_key(&json, "metadata_stats");
    ids_json_uint(&json, totals->metadata_stats);
    ids_json_key(&json, "plane_stats");
    ids_json_uint(&json, totals->plane_stats);
    ids_json_key(&json, "hash");
    ids_json_text(&json, hash);
    ids_json_end(&json);
}

static void print_sql(void) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, 0);
    for (int a = 0; a < ids_analyzer_count; a++) {
        for (int m = 0; m < ids_analyzers[a]->metric_count; m++) {
            ids_json_key(&json, ids_analyzers[a]->metrics[m].id);
            ids_json_text(&json, ids_analyzers[a]->metrics[m].sql);
        }
    }
    ids_json_end(&json);
}

static int dump_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct dump_options *options = values;
    if (options->manual) {
        int count;
        const struct ids_section *sections = ids_sections(&count);
        ids_manual_metrics(sections, count, stdout);
        return IDS_EXIT_DONE;
    }
    if (options->sql) {
        print_sql();
        return IDS_EXIT_DONE;
    }
    if (options->schema && operand_count) return ids_manual_schema(operands[0], stdout, err);
    if (options->hlo && operand_count) return ids_dump_hlo(operands[0], stdout, err);
    if (!options->hash || !operand_count)
        return ids_fail(err, IDS_USAGE, "either --manual, --sql, --schema DATABASE, --hlo FILE, or --hash FILE");
    struct ids_dump *dump;
    const char *format;
    int code = ids_dump_new(&dump, err);
    if (code) return code;
    code = ids_read_file(operands[0], ids_dump_sink(dump), &format, err);
    if (!code) {
        struct ids_dump_totals totals;
        ids_dump_totals(dump, &totals);
        print_totals(&totals);
    }
    ids_dump_free(dump);
    return code;
}

const struct ids_command ids_dump_command = {
    .operands = "[FILE]",
    .most = 1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct dump_options),
    .hidden = 1,
    .run = dump_run,
};
