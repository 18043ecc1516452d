#include "lib/store/baseline.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/analysis/analyzer.h"
#include "lib/base/counted.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/report/grid.h"
#include "lib/report/layout.h"
#include "lib/run/open_sides.h"
#include "lib/wire/json_writer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct baseline_options {
    int force, json, no_cache;
};

#define AT(field) offsetof(struct baseline_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite a baseline of that name", AT(force), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON (list, show)", AT(json), NULL},
    {IDS_OPT_FLAG, 0, "no-cache", NULL, "read the profiles again, and cache nothing", AT(no_cache), NULL},
    IDS_READING_OPTIONS,
};

static void when(char text[32], int64_t unix_s) {
    time_t seconds = (time_t)unix_s;
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(text, 32, "%Y-%m-%d %H:%M UTC", &utc)) snprintf(text, 32, "-");
}

static const char *text_property(const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    return value && !value->missing && value->unit == IDS_UNIT_NONE ? value->text : "";
}

/* ---- save ---- */

static int save(const struct baseline_options *options, char *const *operands, int count, struct ids_error *err) {
    const struct ids_open_options open = {0};
    struct ids_engine engine = ids_command_engine("baseline", options->no_cache);
    if (count < 2) return ids_fail(err, IDS_USAGE, "expected: idsprof baseline save NAME RUN...");
    if (!ids_baseline_is_name(operands[0]))
        return ids_fail(err, IDS_USAGE, "'%s' cannot name a baseline (letters, digits, '.', '_' and '-')", operands[0]);
    struct ids_open_side runs;
    char *path = NULL;
    int code = ids_open_side(&engine, operands + 1, count - 1, &open, &runs, err);
    ids_engine_done(&engine);
    if (code) return code;
    code = ids_baseline_save(operands[0], runs.pointers, runs.count, options->force, (int64_t)time(NULL), &path, err);
    struct ids_arena arena = {0};
    if (!code)
        printf("%s: %s in %s; to check runs against it: idsprof check RUN --baseline %s\n", operands[0],
               IDS_COUNTED(runs.count, "run"), ids_text_clean(&arena, path), operands[0]);
    ids_arena_done(&arena);
    free(path);
    ids_open_side_done(&runs);
    return code;
}

/* ---- list ---- */

/* As `report --json` has them. */
static void put_devices(struct ids_json *json, const struct ids_report *report) {
    static const char *const parts[] = {"text", "count", "active", "kind", "model", "vendor"};
    ids_json_key(json, "devices");
    ids_json_object(json, IDS_JSON_INLINE);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char id[32] = "devices";
        if (i) snprintf(id, sizeof id, "devices.%s", parts[i]);
        const struct ids_value *value = ids_report_find_property(report, id);
        ids_json_key(json, parts[i]);
        if (!value || value->missing)
            ids_json_null(json);
        else if (value->unit == IDS_UNIT_NONE)
            ids_json_text(json, value->text);
        else
            ids_json_int(json, value->i);
    }
    ids_json_end(json);
}

static void list_json(struct ids_json *json, const struct ids_baseline *baseline) {
    ids_json_object(json, IDS_JSON_INLINE);
    ids_json_key(json, "name");
    ids_json_text(json, baseline->name);
    ids_json_key(json, "saved_unix_s");
    ids_json_int(json, baseline->saved_unix_s);
    ids_json_key(json, "runs");
    ids_json_uint(json, baseline->count);
    put_devices(json, &baseline->reports[0]);
    ids_json_key(json, "program");
    ids_json_text(json, baseline->program);
    ids_json_end(json);
}

static int list(const struct baseline_options *options, int count, struct ids_error *err) {
    enum { COLUMNS = 4 };
    struct ids_baseline_names names;
    struct ids_arena arena = {0};
    if (count) return ids_fail(err, IDS_USAGE, "expected: idsprof baseline list");
    int code = ids_baseline_names_list(&names, err), bad = 0;
    if (code) return code;
    struct ids_grid_column columns[COLUMNS] = {
        {.title = "baseline"}, {.title = "saved"}, {.title = "runs", .right = 1}, {.title = "devices"}};
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS};
    const char **cell = grid.cells = ids_arena_alloc(&arena, (COLUMNS * names.count + 1) * sizeof *grid.cells);
    struct ids_json json = ids_json_to(stdout);
    if (!cell) code = ids_no_memory(err);
    if (options->json && !code) ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < names.count && !code; i++) {
        struct ids_baseline baseline;
        char text[32], whole[IDS_ERROR_WHOLE];
        if (ids_baseline_load(names.at[i], ids_table_def_find, &baseline, err)) {
            ids_say("baseline", "left out: %s", ids_error_whole(err, whole));
            bad = 1;
            continue;
        }
        if (options->json) list_json(&json, &baseline);
        const char *devices = ids_text_clean(&arena, text_property(&baseline.reports[0], "devices"));
        when(text, baseline.saved_unix_s);
        *cell++ = names.at[i];
        *cell++ = ids_arena_copy(&arena, text, strlen(text));
        snprintf(text, sizeof text, "%zu", baseline.count);
        *cell++ = ids_arena_copy(&arena, text, strlen(text));
        *cell++ = ids_arena_copy(&arena, devices, strlen(devices));
        if (!cell[-1] || !cell[-2] || !cell[-3]) code = ids_no_memory(err);
        grid.row_count++;
        ids_baseline_done(&baseline);
    }
    if (options->json && !code) ids_json_end(&json);
    if (!options->json && !code && !names.count)
        puts("no baseline is saved; to save one: idsprof baseline save NAME RUN...");
    if (!options->json && !code && grid.row_count) {
        ids_grid_fit(&grid, 0);
        ids_grid_write(&grid, &arena, "", "", stdout);
    }
    ids_baseline_names_done(&names);
    ids_arena_done(&arena);
    return code ? code : bad ? IDS_EXIT_ERROR : 0;
}

/* ---- show ---- */

static void show_text(const struct ids_baseline *baseline, struct ids_arena *arena) {
    char text[32];
    when(text, baseline->saved_unix_s);
    printf("%s · saved %s by %s · %s\n", baseline->name, text, ids_text_clean(arena, baseline->program),
           IDS_COUNTED(baseline->count, "run"));
    for (size_t i = 0; i < baseline->count; i++)
        printf("  %s (%s)\n", ids_text_clean(arena, text_property(&baseline->reports[i], "name")),
               ids_text_clean(arena, text_property(&baseline->reports[i], "devices")));
    putchar('\n');
    const struct ids_report *first = &baseline->reports[0];
    for (size_t m = 0; m < first->metric_count; m++) {
        const char *id = ids_text_clean(arena, first->metrics[m].id);
        if (first->metrics[m].value.missing) continue;
        printf("  %-28s", id);
        for (size_t i = 0; i < baseline->count; i++) {
            const struct ids_metric *metric = ids_report_find(&baseline->reports[i], first->metrics[m].id, NULL);
            char value[IDS_VALUE_ROOM] = "-";
            if (metric) ids_value_format(metric->value, value, sizeof value);
            printf("  %12s", ids_text_clean(arena, value));
        }
        putchar('\n');
    }
}

static void show_json(const struct ids_baseline *baseline) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "name");
    ids_json_text(&json, baseline->name);
    ids_json_key(&json, "saved_unix_s");
    ids_json_int(&json, baseline->saved_unix_s);
    ids_json_key(&json, "runs");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < baseline->count; i++) {
        ids_json_object(&json, IDS_JSON_BROKEN);
        ids_json_key(&json, "name");
        ids_json_text(&json, text_property(&baseline->reports[i], "name"));
        ids_json_key(&json, "metrics");
        ids_json_object(&json, IDS_JSON_BROKEN);
        for (size_t m = 0; m < baseline->reports[i].metric_count; m++) {
            const struct ids_metric *metric = &baseline->reports[i].metrics[m];
            ids_json_key(&json, metric->id);
            if (metric->value.missing)
                ids_json_null(&json);
            else if (metric->value.unit == IDS_UNIT_NONE)
                ids_json_text(&json, metric->value.text);
            else if (metric->value.unit == IDS_UNIT_TIME)
                ids_json_decimal(&json, metric->value.i, 12);
            else if (metric->value.unit == IDS_UNIT_COUNT || metric->value.unit == IDS_UNIT_BYTES)
                ids_json_int(&json, metric->value.i);
            else
                ids_json_real(&json, metric->value.d);
        }
        ids_json_end(&json);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
}

static int show(const struct baseline_options *options, char *const *operands, int count, struct ids_error *err) {
    struct ids_baseline baseline;
    struct ids_arena arena = {0};
    if (count != 1) return ids_fail(err, IDS_USAGE, "expected: idsprof baseline show NAME");
    int code = ids_baseline_load(operands[0], ids_table_def_find, &baseline, err);
    if (code) return code;
    if (options->json)
        show_json(&baseline);
    else
        show_text(&baseline, &arena);
    ids_arena_done(&arena);
    ids_baseline_done(&baseline);
    return 0;
}

static int baseline_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct baseline_options *options = values;
    const char *action = operands[0];
    if (!strcmp(action, "save")) return save(options, operands + 1, operand_count - 1, err);
    if (!strcmp(action, "list")) return list(options, operand_count - 1, err);
    if (!strcmp(action, "show")) return show(options, operands + 1, operand_count - 1, err);
    if (strcmp(action, "rm") != 0) return ids_fail(err, IDS_USAGE, "'%s': expected save, list, show or rm", action);
    if (operand_count < 2) return ids_fail(err, IDS_USAGE, "expected: idsprof baseline rm NAME...");
    int code = 0;
    for (int i = 1; i < operand_count && !code; i++) code = ids_baseline_remove(operands[i], err);
    return code;
}

const struct ids_command ids_baseline_command = {
    .operands = "save|list|show|rm [NAME] [RUN...]",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct baseline_options),
    .run = baseline_run,
};
