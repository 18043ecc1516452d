/* csv.c - a row an event (RFC 4180): host, plane, track, its id, what the event is, name, start and duration in
 * picoseconds, and all args as one JSON object in the last column. */
#include "lib/base/vec.h"
#include "lib/export/args_json.h"
#include "lib/export/export.h"
#include "lib/wire/csv_put.h"
#include "lib/wire/json_put.h"

#include <stdlib.h>

enum { LOST_PROGRAMS = 0 };

struct csv {
    struct ids_export export; /* first */
    struct ids_args_json args;
    const char *host; /* where the file names none */
    uint32_t host_name;
    uint32_t *planes;       /* texts */
    struct ids_text *heads; /* by track: the columns that all its rows share */
    struct ids_text *names; /* by name, as a column */
    size_t plane_count, plane_room, head_count, head_room, name_count, name_room;
    struct ids_arena arena;
    struct ids_buffer scratch;
    int begun;
};

static struct csv *of(struct ids_sink *sink) {
    return (struct csv *)sink;
}

static void put_text(struct csv *csv, struct ids_buffer *buffer, uint32_t text) {
    struct ids_text bytes = ids_strings_text(&csv->export.strings, text);
    ids_csv_put_text(buffer, bytes.at, bytes.length);
}

static void begin(struct csv *csv) {
    csv->begun = 1;
    IDS_BUFFER_PUT(&csv->export.buffer, "host,plane,track,track_id,form,name,start_ps,duration_ps,args\r\n");
}

/* Keeps what is in scratch. */
static int keep(struct csv *csv, struct ids_text *ret_text) {
    if (csv->scratch.failed) return -1;
    ret_text->length = (uint32_t)csv->scratch.length;
    ret_text->at = ids_arena_copy(&csv->arena, csv->scratch.at ? csv->scratch.at : "", csv->scratch.length);
    return ret_text->at ? 0 : -1;
}

static int csv_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    struct csv *csv = of(sink);
    csv->host_name = host->name;
    if (!csv->begun) begin(csv);
    return ids_export_write(&csv->export, err);
}

static int csv_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                     struct ids_error *err) {
    struct csv *csv = of(sink);
    *ret_plane = (uint32_t)csv->plane_count;
    uint32_t *name = IDS_PUSH(csv->planes, csv->plane_count, csv->plane_room);
    if (!name) return ids_no_memory(err);
    *name = plane->name;
    return 0;
}

static int csv_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name,
                    struct ids_error *err) {
    struct csv *csv = of(sink);
    *ret_name = (uint32_t)csv->name_count;
    struct ids_text *name = IDS_PUSH(csv->names, csv->name_count, csv->name_room);
    if (!name) return ids_no_memory(err);
    csv->scratch.length = 0;
    put_text(csv, &csv->scratch, info->display ? info->display : info->text);
    if (keep(csv, name)) return ids_no_memory(err);
    return ids_args_json_add_name(&csv->args, info, err);
}

static int csv_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                     struct ids_error *err) {
    struct csv *csv = of(sink);
    struct ids_buffer *buffer = &csv->scratch;
    *ret_track = (uint32_t)csv->head_count;
    struct ids_text *head = IDS_PUSH(csv->heads, csv->head_count, csv->head_room);
    if (!head) return ids_no_memory(err);
    buffer->length = 0;
    if (csv->host_name)
        put_text(csv, buffer, csv->host_name);
    else
        ids_csv_put_text(buffer, csv->host, strlen(csv->host));
    ids_buffer_byte(buffer, ',');
    put_text(csv, buffer, csv->planes[info->plane]);
    ids_buffer_byte(buffer, ',');
    put_text(csv, buffer, info->name);
    ids_buffer_byte(buffer, ',');
    ids_json_put_int(buffer, info->id);
    ids_buffer_byte(buffer, ',');
    return keep(csv, head) ? ids_no_memory(err) : 0;
}

static const char *form_name(uint8_t form) {
    static const char *const names[] = {"slice", "instant", "counter", "flow_out", "flow_step", "flow_in"};
    return form < sizeof names / sizeof *names ? names[form] : "slice";
}

static int csv_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    struct csv *csv = of(sink);
    struct ids_buffer *buffer = &csv->export.buffer;
    const char *form = form_name(slice->form);
    if (!csv->begun) begin(csv);
    ids_buffer_put(buffer, csv->heads[track].at, csv->heads[track].length);
    ids_buffer_put(buffer, form, strlen(form));
    ids_buffer_byte(buffer, ',');
    ids_buffer_put(buffer, csv->names[slice->name].at, csv->names[slice->name].length);
    ids_buffer_byte(buffer, ',');
    ids_json_put_int(buffer, slice->start_ps);
    ids_buffer_byte(buffer, ',');
    ids_json_put_int(buffer, slice->duration_ps);
    ids_buffer_byte(buffer, ',');
    csv->scratch.length = 0;
    ids_buffer_byte(&csv->scratch, '{');
    int code = ids_args_json_put(&csv->args, &csv->scratch, slice, 0, err);
    if (code) return code;
    ids_buffer_byte(&csv->scratch, '}');
    if (csv->scratch.failed) return ids_no_memory(err);
    ids_csv_put_text(buffer, csv->scratch.at, csv->scratch.length);
    IDS_BUFFER_PUT(buffer, "\r\n");
    csv->export.events++;
    return ids_export_write(&csv->export, err);
}

static int csv_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    (void)program, (void)err;
    of(sink)->export.losses[LOST_PROGRAMS].count++;
    return 0;
}

static int csv_finish(struct ids_export *export, struct ids_error *err) {
    struct csv *csv = (struct csv *)export;
    if (!csv->begun) begin(csv);
    return ids_export_write_all(export, err);
}

static void csv_done(struct ids_export *export) {
    struct csv *csv = (struct csv *)export;
    ids_args_json_done(&csv->args);
    ids_arena_done(&csv->arena);
    ids_buffer_done(&csv->scratch);
    free(csv->planes);
    free(csv->heads);
    free(csv->names);
}

static int open_csv(struct ids_out *out, const struct ids_export_params *params, struct ids_export **ret_export,
                    struct ids_error *err) {
    static const struct ids_sink_ops ops = {.host = csv_host,
                                            .plane = csv_plane,
                                            .name = csv_name,
                                            .track = csv_track,
                                            .slice = csv_slice,
                                            .track_end = ids_export_no_track_end,
                                            .program = csv_program,
                                            .diag = ids_export_no_diag};
    struct csv *csv = calloc(1, sizeof *csv);
    if (!csv) return ids_no_memory(err);
    csv->export.finish = csv_finish;
    csv->export.done = csv_done;
    csv->export.losses[LOST_PROGRAMS] = (struct ids_export_loss){"HLO program", "HLO programs", 0, NULL};
    csv->args.strings = &csv->export.strings;
    csv->host = params->host;
    int code = ids_export_init(&csv->export, out, &ops, err);
    if (code) {
        ids_export_free(&csv->export);
        return code;
    }
    *ret_export = &csv->export;
    return 0;
}

const struct ids_export_format ids_csv_export = {
    .name = "csv",
    .title = "CSV",
    .suffix = ".events.csv",
    .is_text = 1,
    .open = open_csv,
};
