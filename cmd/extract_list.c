#include "cmd/extract_list.h"

#include "lib/base/counted.h"
#include "lib/cli/progress.h"
#include "lib/cli/terminal.h"
#include "lib/export/contents.h"
#include "lib/report/grid.h"
#include "lib/report/layout.h"
#include "lib/report/report.h"
#include "lib/run/extract_files.h"
#include "lib/run/file_name.h"
#include "lib/run/read_run.h"
#include "lib/wire/json_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, COLUMNS_MAX = 4 };

struct listing {
    const struct ids_run_files *run;
    struct ids_members members;
    struct ids_contents *contents; /* by file of the run */
    size_t read;                   /* how many of those */
    struct ids_arena arena;
};

static const char *text_of(const struct ids_contents *contents, uint32_t text) {
    return ids_strings_z(&contents->strings, text);
}

static const char *device_of(const char *plane) {
    static const char prefix[] = "/device:";
    return strncmp(plane, prefix, sizeof prefix - 1) ? NULL : plane + sizeof prefix - 1;
}

/* ---- JSON ---- */

static void put_text(struct ids_json *json, const char *key, const char *text) {
    ids_json_key(json, key);
    ids_json_text(json, text);
}

static void put_uint(struct ids_json *json, const char *key, uint64_t value) {
    ids_json_key(json, key);
    ids_json_uint(json, value);
}

static void put_list(struct ids_json *json, const char *key, enum ids_json_layout layout) {
    ids_json_key(json, key);
    ids_json_array(json, layout);
}

static void print_devices(struct ids_json *json, const struct ids_contents *contents) {
    char name[32];
    put_list(json, "devices", IDS_JSON_INLINE);
    for (size_t i = 0; i < contents->plane_count; i++) {
        const char *device = device_of(text_of(contents, contents->planes[i]));
        if (device) ids_json_text(json, device);
    }
    for (size_t i = 0; i < contents->cpu_device_count; i++) {
        snprintf(name, sizeof name, "CPU:%" PRId64, contents->cpu_devices[i]);
        ids_json_text(json, name);
    }
    ids_json_end(json);
}

static void print_profile(struct ids_json *json, const char *path, const struct ids_contents *contents) {
    ids_json_object(json, IDS_JSON_BROKEN);
    put_text(json, "file", ids_file_name(path));
    put_text(json, "host", contents->host ? text_of(contents, contents->host) : NULL);
    put_uint(json, "events", contents->events);
    ids_json_key(json, "complete");
    ids_json_bool(json, contents->sink.complete);
    print_devices(json, contents);
    put_list(json, "tracks", IDS_JSON_BROKEN);
    for (size_t i = 0; i < contents->track_count; i++) {
        const struct ids_contents_track *track = &contents->tracks[i];
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "plane", text_of(contents, contents->planes[track->plane]));
        put_text(json, "track", text_of(contents, track->name));
        ids_json_key(json, "id");
        ids_json_int(json, track->id);
        put_uint(json, "events", track->events);
        ids_json_end(json);
    }
    ids_json_end(json);
    put_list(json, "programs", IDS_JSON_BROKEN);
    for (size_t i = 0; i < contents->program_count; i++) {
        const struct ids_contents_program *program = &contents->programs[i];
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "name", text_of(contents, program->name));
        put_uint(json, "program_id", program->program_id);
        put_uint(json, "bytes", program->bytes);
        ids_json_end(json);
    }
    ids_json_end(json);
    ids_json_end(json);
}

static void print_json(const struct listing *listing) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_BROKEN);
    put_uint(&json, "schema", SCHEMA);
    put_text(&json, "name", listing->run->name);
    put_text(&json, "path", listing->run->path);
    put_list(&json, "files", IDS_JSON_BROKEN);
    for (size_t i = 0; i < listing->members.count; i++) {
        ids_json_object(&json, IDS_JSON_INLINE);
        put_text(&json, "name", ids_file_name(listing->members.at[i].path));
        put_uint(&json, "bytes", listing->members.at[i].size);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    put_list(&json, "profiles", IDS_JSON_BROKEN);
    for (size_t i = 0; i < listing->read; i++) print_profile(&json, listing->run->files[i].path, &listing->contents[i]);
    ids_json_end(&json);
    ids_json_end(&json);
}

/* ---- text ---- */

static const char *keep(struct listing *listing, const char *text) {
    const char *copy = ids_arena_copy(&listing->arena, text, strlen(text));
    return copy ? ids_text_clean(&listing->arena, copy) : "";
}

static const char *keep_value(struct listing *listing, enum ids_unit unit, uint64_t value) {
    char buffer[IDS_VALUE_ROOM];
    return keep(listing, ids_value_format(ids_int_value(unit, (int64_t)value), buffer, sizeof buffer));
}

/* A table under construction. */
struct rows {
    const char **cells;
    size_t count, room;
};

static int add_row(struct rows *rows, size_t columns, const char *const *cells) {
    for (size_t i = 0; i < columns; i++) {
        if (rows->count == rows->room) {
            size_t room = rows->room ? rows->room * 2 : 64;
            const char **grown = realloc(rows->cells, room * sizeof *grown);
            if (!grown) return -1;
            rows->cells = grown;
            rows->room = room;
        }
        rows->cells[rows->count++] = cells[i];
    }
    return 0;
}

static void print_table(struct listing *listing, struct ids_grid_column *columns, size_t column_count,
                        struct rows *rows) {
    struct ids_grid grid = {.columns = columns,
                            .column_count = column_count,
                            .cells = rows->cells,
                            .row_count = rows->count / column_count};
    if (rows->count) {
        ids_grid_fit(&grid, ids_terminal_width(0));
        ids_grid_write(&grid, &listing->arena, "", "", stdout);
    }
    free(rows->cells);
}

static int print_files(struct listing *listing) {
    struct ids_grid_column columns[] = {{.title = "file", .stretch = 1}, {.title = "size", .right = 1}};
    struct rows rows = {0};
    int failed = 0;
    for (size_t i = 0; i < listing->members.count && !failed; i++) {
        const struct ids_run_file *member = &listing->members.at[i];
        failed = add_row(&rows, 2,
                         (const char *const[]){keep(listing, ids_file_name(member->path)),
                                               keep_value(listing, IDS_UNIT_BYTES, member->size)});
    }
    print_table(listing, columns, 2, &rows);
    return failed;
}

static int print_tracks(struct listing *listing, const struct ids_contents *contents) {
    struct ids_grid_column columns[] = {{.title = "plane", .stretch = 1},
                                        {.title = "track", .stretch = 1},
                                        {.title = "id", .right = 1},
                                        {.title = "events", .right = 1}};
    struct rows rows = {0};
    int failed = 0;
    for (size_t i = 0; i < contents->track_count && !failed; i++) {
        const struct ids_contents_track *track = &contents->tracks[i];
        char id[32];
        snprintf(id, sizeof id, "%" PRId64, track->id);
        failed = add_row(&rows, 4,
                         (const char *const[]){keep(listing, text_of(contents, contents->planes[track->plane])),
                                               keep(listing, text_of(contents, track->name)), keep(listing, id),
                                               keep_value(listing, IDS_UNIT_COUNT, track->events)});
    }
    print_table(listing, columns, 4, &rows);
    return failed;
}

static int print_programs(struct listing *listing, const struct ids_contents *contents) {
    struct ids_grid_column columns[] = {{.title = "program", .stretch = 1}, {.title = "HLO", .right = 1}};
    struct rows rows = {0};
    int failed = 0;
    for (size_t i = 0; i < contents->program_count && !failed; i++) {
        const struct ids_contents_program *program = &contents->programs[i];
        failed = add_row(&rows, 2,
                         (const char *const[]){keep(listing, text_of(contents, program->name)),
                                               keep_value(listing, IDS_UNIT_BYTES, program->bytes)});
    }
    if (rows.count) fputc('\n', stdout);
    print_table(listing, columns, 2, &rows);
    return failed;
}

static void print_device_line(struct listing *listing, const struct ids_contents *contents) {
    const char *before = "\ndevices: ";
    for (size_t i = 0; i < contents->plane_count; i++) {
        const char *device = device_of(text_of(contents, contents->planes[i]));
        if (!device) continue;
        printf("%s%s", before, keep(listing, device));
        before = ", ";
    }
    for (size_t i = 0; i < contents->cpu_device_count; i++, before = ", ")
        printf("%sCPU:%" PRId64, before, contents->cpu_devices[i]);
    if (*before == ',') fputc('\n', stdout);
}

static int print_text(struct listing *listing) {
    int failed = print_files(listing);
    for (size_t i = 0; i < listing->read && !failed; i++) {
        const struct ids_contents *contents = &listing->contents[i];
        printf("\n%s", keep(listing, ids_file_name(listing->run->files[i].path)));
        if (contents->host) printf(", host %s", keep(listing, text_of(contents, contents->host)));
        printf(": %s%s\n", IDS_COUNTED(contents->events, "event"), contents->sink.complete ? "" : " (the file is cut)");
        print_device_line(listing, contents);
        fputc('\n', stdout);
        failed = print_tracks(listing, contents) || print_programs(listing, contents);
    }
    return failed;
}

/* ---- */

static int read_all(struct listing *listing, struct ids_error *err) {
    for (; listing->read < listing->run->file_count; listing->read++) {
        const struct ids_run_file *file = &listing->run->files[listing->read];
        const char *format;
        struct ids_contents *contents = &listing->contents[listing->read];
        ids_progress("reading %.80s", ids_file_name(file->path));
        int code = ids_contents_init(contents, err);
        if (!code) code = ids_read_run_file(file, &contents->sink, &format, err);
        if (code) {
            ids_contents_done(contents);
            return code;
        }
    }
    return 0;
}

int ids_extract_list(const struct ids_run_files *run, int json, struct ids_error *err) {
    struct listing listing = {.run = run};
    int code = ids_members_of(run, &listing.members, err);
    if (!code) {
        listing.contents = calloc(run->file_count + 1, sizeof *listing.contents);
        code = listing.contents ? read_all(&listing, err) : ids_no_memory(err);
    }
    ids_progress_end();
    if (!code && json) print_json(&listing);
    if (!code && !json && print_text(&listing)) code = ids_no_memory(err);
    for (size_t i = 0; i < listing.read; i++) ids_contents_done(&listing.contents[i]);
    free(listing.contents);
    ids_members_done(&listing.members);
    ids_arena_done(&listing.arena);
    return code;
}
