/* The cache: what is in it, and emptying it. */
#include "cmd/command.h"
#include "lib/base/counted.h"
#include "lib/cli/terminal.h"
#include "lib/report/grid.h"
#include "lib/report/layout.h"
#include "lib/report/report.h"
#include "lib/store/cache_entries.h"
#include "lib/wire/json_writer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cache_options {
    int list, clear, verify, json, full;
    int64_t width;
};

#define AT(field) offsetof(struct cache_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_FLAG, 'l', "list", NULL, "list the files, last used first (the default)", AT(list), NULL},
    {IDS_OPT_FLAG, 0, "clear", NULL, "remove all files, and print their number and size", AT(clear), NULL},
    {IDS_OPT_FLAG, 0, "verify", NULL, "check every file and remove damaged ones; exit 1 if there were any", AT(verify),
     NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
    {IDS_OPT_FLAG, 'f', "full", NULL, "print names and paths whole, however wide", AT(full), NULL},
    {IDS_OPT_COUNT, 0, "width", "N", "columns of a line, at least 40 (else the terminal's, or 120)", AT(width), NULL},
};

static const char *const holds_names[] = {"report", "events", "partial", "unfinished", "unknown"};
static const char *const state_ids[] = {"current", "other_program", "changed", "damaged",
                                        "writing", "abandoned",     "no_file"};
static const char *const state_names[] = {"",          "made by another build", "the run has changed",
                                          "damaged",   "being written",         "left by a process that ended",
                                          "not a file"};

/* "1.2 GB" in a buffer of the arena. */
static const char *size_text(struct ids_arena *arena, uint64_t bytes) {
    char text[IDS_VALUE_ROOM];
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, (int64_t)bytes), text, sizeof text);
    const char *copy = ids_arena_copy(arena, text, strlen(text));
    return copy ? copy : "";
}

/* How long ago, in the largest unit that fits. */
static const char *age_text(struct ids_arena *arena, int64_t seconds) {
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
    char text[48] = "just now";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t count = seconds / units[i].seconds;
        if (count < 1) continue;
        snprintf(text, sizeof text, "%s ago", IDS_COUNTED(count, units[i].name));
        break;
    }
    const char *copy = ids_arena_copy(arena, text, strlen(text));
    return copy ? copy : "";
}

enum { RUN, HOLDS, SIZE, USED, STATE, PATH, COLUMNS };

static int print_list(const struct cache_options *options, const struct ids_cache_list *list, struct ids_error *err) {
    struct ids_arena arena = {0};
    const char **cells = calloc(list->count * COLUMNS + 1, sizeof *cells);
    if (!cells) return ids_no_memory(err);
    struct ids_grid_column columns[COLUMNS] = {
        [RUN] = {.title = "run", .stretch = 1}, [HOLDS] = {.title = "holds"},
        [SIZE] = {.title = "size", .right = 1}, [USED] = {.title = "used"},
        [STATE] = {.title = "state"},           [PATH] = {.title = "of", .stretch = 1}};
    int64_t now = (int64_t)time(NULL);
    for (size_t i = 0; i < list->count; i++) {
        const struct ids_cache_entry *entry = &list->at[i];
        const char **row = &cells[i * COLUMNS];
        row[RUN] = ids_text_clean(&arena, entry->run ? entry->run : "-");
        row[HOLDS] = holds_names[entry->holds];
        row[SIZE] = size_text(&arena, entry->bytes);
        row[USED] = age_text(&arena, now - entry->used_unix_s);
        row[STATE] = state_names[entry->state];
        row[PATH] = ids_text_clean(&arena, entry->path ? entry->path : entry->file);
    }
    struct ids_grid grid = {.columns = columns, .column_count = COLUMNS, .cells = cells, .row_count = list->count};
    ids_grid_fit(&grid, options->full ? 0 : ids_terminal_width(options->width));
    if (list->count) ids_grid_write(&grid, &arena, "", "", stdout);
    printf("%s%s: %s, %s of %s\n", list->count ? "\n" : "", ids_text_clean(&arena, list->folder),
           IDS_COUNTED(list->count, "file"), size_text(&arena, list->bytes), size_text(&arena, list->limit_bytes));
    ids_arena_done(&arena);
    free(cells);
    return 0;
}

static void print_list_json(const struct ids_cache_list *list) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "schema");
    ids_json_uint(&json, 1);
    ids_json_key(&json, "folder");
    ids_json_text(&json, list->folder);
    ids_json_key(&json, "bytes");
    ids_json_uint(&json, list->bytes);
    ids_json_key(&json, "limit_bytes");
    ids_json_uint(&json, list->limit_bytes);
    ids_json_key(&json, "entries");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < list->count; i++) {
        const struct ids_cache_entry *entry = &list->at[i];
        ids_json_object(&json, IDS_JSON_INLINE);
        ids_json_key(&json, "run");
        ids_json_text(&json, entry->run);
        ids_json_key(&json, "holds");
        ids_json_text(&json, holds_names[entry->holds]);
        ids_json_key(&json, "bytes");
        ids_json_uint(&json, entry->bytes);
        ids_json_key(&json, "used_unix_s");
        ids_json_int(&json, entry->used_unix_s);
        ids_json_key(&json, "state");
        ids_json_text(&json, state_ids[entry->state]);
        ids_json_key(&json, "path");
        ids_json_text(&json, entry->path);
        ids_json_key(&json, "file");
        ids_json_text(&json, entry->file);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
}

static int list_cache(const struct cache_options *options, struct ids_error *err) {
    struct ids_cache_list list;
    int code = ids_cache_list(&list, err);
    if (code) return code;
    if (options->json)
        print_list_json(&list);
    else
        code = print_list(options, &list, err);
    ids_cache_list_done(&list);
    return code;
}

/* ---- verifying ---- */

static void print_odd(const struct ids_cache_list *list, struct ids_arena *arena) {
    for (size_t i = 0; i < list->count; i++) {
        const struct ids_cache_entry *entry = &list->at[i];
        if (entry->state < IDS_CACHE_DAMAGED || entry->state == IDS_CACHE_WRITING) continue;
        printf("%s: %s%s%s: %s\n", ids_text_clean(arena, entry->file), entry->run ? "of " : "",
               entry->run ? ids_text_clean(arena, entry->run) : "", entry->run ? "" : holds_names[entry->holds],
               entry->why ? ids_text_clean(arena, entry->why) : state_names[entry->state]);
        printf("  %s\n", entry->is_removed ? "removed; it is made again when the run is read"
                                           : "still there: remove it yourself");
    }
    printf("%s: %zu file%s, %s, %zu odd\n", ids_text_clean(arena, list->folder), list->count,
           list->count == 1 ? "" : "s", size_text(arena, list->bytes), list->odd);
}

static void print_odd_json(const struct ids_cache_list *list) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "folder");
    ids_json_text(&json, list->folder);
    ids_json_key(&json, "files");
    ids_json_uint(&json, list->count);
    ids_json_key(&json, "odd");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < list->count; i++) {
        const struct ids_cache_entry *entry = &list->at[i];
        if (entry->state < IDS_CACHE_DAMAGED || entry->state == IDS_CACHE_WRITING) continue;
        ids_json_object(&json, IDS_JSON_INLINE);
        ids_json_key(&json, "file");
        ids_json_text(&json, entry->file);
        ids_json_key(&json, "run");
        ids_json_text(&json, entry->run);
        ids_json_key(&json, "state");
        ids_json_text(&json, state_ids[entry->state]);
        ids_json_key(&json, "why");
        ids_json_text(&json, entry->why);
        ids_json_key(&json, "removed");
        ids_json_bool(&json, entry->is_removed);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
}

static int verify_cache(const struct cache_options *options, struct ids_error *err) {
    struct ids_arena arena = {0};
    struct ids_cache_list list;
    int code = ids_cache_verify(&list, err);
    if (code) return code;
    if (options->json)
        print_odd_json(&list);
    else
        print_odd(&list, &arena);
    int status = list.odd ? IDS_EXIT_NO : IDS_EXIT_DONE;
    ids_arena_done(&arena);
    ids_cache_list_done(&list);
    return status;
}

/* ---- */

static int clear_cache(const struct cache_options *options, struct ids_error *err) {
    struct ids_cache_cleared cleared;
    int code = ids_cache_clear(&cleared, err);
    if (code) return code;
    if (options->json) {
        struct ids_json json = ids_json_to(stdout);
        ids_json_object(&json, IDS_JSON_INLINE);
        ids_json_key(&json, "removed");
        ids_json_uint(&json, cleared.files);
        ids_json_key(&json, "bytes");
        ids_json_uint(&json, cleared.bytes);
        ids_json_key(&json, "left");
        ids_json_uint(&json, cleared.left);
        ids_json_end(&json);
        return 0;
    }
    struct ids_arena arena = {0};
    printf("removed %s, %s\n", IDS_COUNTED(cleared.files, "file"), size_text(&arena, cleared.bytes));
    if (cleared.left)
        printf("left %llu that %s being written\n", (unsigned long long)cleared.left, cleared.left == 1 ? "is" : "are");
    ids_arena_done(&arena);
    return 0;
}

static int cache_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)operands;
    (void)operand_count;
    const struct cache_options *options = values;
    if (options->list + options->clear + options->verify > 1)
        return ids_fail(err, IDS_USAGE, "--list, --verify and --clear exclude each other");
    if (options->verify) return verify_cache(options, err);
    return options->clear ? clear_cache(options, err) : list_cache(options, err);
}

const struct ids_command ids_cache_command = {
    .operands = "",
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct cache_options),
    .run = cache_run,
};
