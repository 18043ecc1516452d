#include "lib/store/baseline.h"
#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/analysis/analyzer.h"
#include "lib/base/counted.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"
#include "lib/report/grid.h"
#include "lib/report/layout.h"
#include "lib/report/value_json.h"
#include "lib/run/open_sides.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct baseline_options {
    int force, json, no_cache;
};

#define AT(field) offsetof(struct baseline_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 0, "force", NULL, "overwrite a baseline of that name", AT(force), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON (list, show, history)", AT(json), NULL},
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

/* The same recording twice would make the spread look smaller than it is. */
static int is_same_recording(const struct ids_report *a, const struct ids_report *b) {
    if (a->metric_count != b->metric_count) return 0;
    for (size_t i = 0; i < a->metric_count; i++) {
        const struct ids_metric *left = &a->metrics[i], *right = &b->metrics[i];
        double x = ids_value_number(left->value), y = ids_value_number(right->value);
        if (strcmp(left->id, right->id) != 0 || left->value.missing != right->value.missing) return 0;
        if (!left->value.missing && left->value.unit != IDS_UNIT_NONE && x != y) return 0;
    }
    return 1;
}

/* Keeps each recording once. Returns how many there are. */
static size_t leave_out_repeated(const struct ids_report **reports, size_t count) {
    struct ids_arena arena = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < kept && !is_same_recording(reports[same], reports[i])) same++;
        if (same < kept)
            ids_say("baseline", "left out: '%s' is the same recording as '%s'",
                    ids_text_clean(&arena, text_property(reports[i], "name")),
                    ids_text_clean(&arena, text_property(reports[same], "name")));
        else
            reports[kept++] = reports[i];
    }
    ids_arena_done(&arena);
    return kept;
}

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
    size_t kept = leave_out_repeated(runs.pointers, runs.count);
    code = ids_baseline_save(operands[0], runs.pointers, kept, options->force, (int64_t)time(NULL), &path, err);
    struct ids_arena arena = {0};
    if (!code)
        printf("%s: %s in %s; to check runs against it: idsprof check RUN --baseline %s\n", operands[0],
               IDS_COUNTED(kept, "run"), ids_text_clean(&arena, path), operands[0]);
    ids_arena_done(&arena);
    free(path);
    ids_open_side_done(&runs);
    return code;
}

/* ---- list ---- */

static void list_json(struct ids_json *json, const struct ids_baseline *baseline) {
    ids_json_object(json, IDS_JSON_INLINE);
    ids_json_key(json, "name");
    ids_json_text(json, baseline->name);
    ids_json_key(json, "saved_unix_s");
    ids_json_int(json, baseline->saved_unix_s);
    ids_json_key(json, "runs");
    ids_json_uint(json, baseline->count);
    ids_property_json(json, &baseline->reports[0], "devices");
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

/* What was accepted since it was saved. */
static void show_accepted(const struct ids_baseline *baseline, struct ids_arena *arena) {
    size_t first = baseline->event_count;
    while (first && baseline->events[first - 1].reason) first--;
    for (size_t i = first; i < baseline->event_count; i++) {
        const struct ids_baseline_event *event = &baseline->events[i];
        char date[32], before[IDS_VALUE_ROOM], value[IDS_VALUE_ROOM];
        when(date, event->unix_s);
        ids_value_format(event->before, before, sizeof before);
        ids_value_format(event->value, value, sizeof value);
        printf("  accepted %s: %s %s \xe2\x86\x92 %s: %s\n", date, ids_text_clean(arena, event->id), before, value,
               ids_text_clean(arena, event->reason));
    }
}

static void show_text(const struct ids_baseline *baseline, struct ids_arena *arena) {
    char text[32];
    when(text, baseline->saved_unix_s);
    printf("%s · saved %s by %s · %s\n", baseline->name, text, ids_text_clean(arena, baseline->program),
           IDS_COUNTED(baseline->count, "run"));
    show_accepted(baseline, arena);
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
            ids_value_json(&json, metric->value);
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

/* ---- history ---- */

static void history_json(const struct ids_baseline *baseline) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < baseline->event_count; i++) {
        const struct ids_baseline_event *event = &baseline->events[i];
        const struct {
            const char *key;
            struct ids_value value;
        } values[] = {{"value", event->value}, {"before", event->before}};
        ids_json_object(&json, IDS_JSON_INLINE);
        ids_json_key(&json, "event");
        ids_json_text(&json, event->reason ? "accepted" : "saved");
        ids_json_key(&json, "unix_s");
        ids_json_int(&json, event->unix_s);
        ids_json_key(&json, "runs");
        ids_json_int(&json, event->runs);
        ids_json_key(&json, "id");
        event->id ? ids_json_text(&json, event->id) : ids_json_null(&json);
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            ids_json_key(&json, values[v].key);
            ids_value_json(&json, values[v].value);
        }
        ids_json_key(&json, "reason");
        event->reason ? ids_json_text(&json, event->reason) : ids_json_null(&json);
        ids_json_key(&json, "program");
        ids_json_text(&json, event->program);
        ids_json_end(&json);
    }
    ids_json_end(&json);
}

static const char *kept_value(struct ids_arena *arena, struct ids_value value) {
    char text[IDS_VALUE_ROOM];
    if (value.missing) return "";
    ids_value_format(value, text, sizeof text);
    const char *copy = ids_arena_copy(arena, text, strlen(text));
    return copy ? copy : "";
}

static int history_text(const struct ids_baseline *baseline, struct ids_arena *arena, struct ids_error *err) {
    enum { COLUMNS = 7 };
    struct ids_grid_column columns[COLUMNS] = {
        {.title = "when"},   {.title = ""},      {.title = "runs", .right = 1}, {.title = "figure", .is_name = 1},
        {.title = "before"}, {.title = "value"}, {.title = "why", .stretch = 1}};
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS, .row_count = baseline->event_count};
    const char **cell = grid.cells = ids_arena_alloc(arena, (COLUMNS * grid.row_count + 1) * sizeof *cell);
    if (!cell) return ids_no_memory(err);
    for (size_t i = 0; i < baseline->event_count; i++) {
        const struct ids_baseline_event *event = &baseline->events[i];
        char text[32];
        when(text, event->unix_s);
        *cell++ = ids_arena_copy(arena, text, strlen(text));
        *cell++ = event->reason ? "accepted" : "saved";
        snprintf(text, sizeof text, "%lld", (long long)event->runs);
        *cell++ = ids_arena_copy(arena, text, strlen(text));
        if (!cell[-1] || !cell[-3]) return ids_no_memory(err);
        *cell++ = event->id ? ids_text_clean(arena, event->id) : "";
        *cell++ = kept_value(arena, event->before);
        *cell++ = kept_value(arena, event->value);
        *cell++ = event->reason ? ids_text_clean(arena, event->reason) : "";
    }
    ids_grid_fit(&grid, 0);
    ids_grid_write(&grid, arena, "", "", stdout);
    return 0;
}

static int history(const struct baseline_options *options, char *const *operands, int count, struct ids_error *err) {
    struct ids_baseline baseline;
    struct ids_arena arena = {0};
    if (count != 1) return ids_fail(err, IDS_USAGE, "expected: idsprof baseline history NAME");
    int code = ids_baseline_load(operands[0], ids_table_def_find, &baseline, err);
    if (code) return code;
    if (options->json)
        history_json(&baseline);
    else if (baseline.event_count)
        code = history_text(&baseline, &arena, err);
    else
        puts("this baseline was saved by a version that kept no history");
    ids_arena_done(&arena);
    ids_baseline_done(&baseline);
    return code;
}

static int baseline_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    const struct baseline_options *options = values;
    const char *action = operands[0];
    if (!strcmp(action, "save")) return save(options, operands + 1, operand_count - 1, err);
    if (!strcmp(action, "list")) return list(options, operand_count - 1, err);
    if (!strcmp(action, "show")) return show(options, operands + 1, operand_count - 1, err);
    if (!strcmp(action, "history")) return history(options, operands + 1, operand_count - 1, err);
    if (strcmp(action, "rm") != 0)
        return ids_fail(err, IDS_USAGE, "'%s': expected save, list, show, history or rm", action);
    if (operand_count < 2) return ids_fail(err, IDS_USAGE, "expected: idsprof baseline rm NAME...");
    int code = 0;
    for (int i = 1; i < operand_count && !code; i++) code = ids_baseline_remove(operands[i], err);
    return code;
}

const struct ids_command ids_baseline_command = {
    .operands = "save|list|show|history|rm [NAME] [RUN...]",
    .least = 1,
    .most = -1,
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct baseline_options),
    .run = baseline_run,
};
