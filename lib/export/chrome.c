/* chrome.c - Chrome's JSON trace format, an object with traceEvents; without a cap on events.
 *
 * A plane is a process, a track a thread, named by metadata events before their first event. Times are microseconds
 * with as many places as the picoseconds need. Perfetto, which reads this too, rounds start and duration to nanoseconds
 * each and drops a slice that then overlaps another of its thread: such a slice goes to a thread of its own, whose
 * thread_name bears the arg "lane_of", the tid of the track that it belongs to. What a format of its own would lose
 * (the stats of planes, the host) stands in otherData.
 */
#include "lib/base/vec.h"
#include "lib/export/args_json.h"
#include "lib/export/export.h"
#include "lib/export/ids.h"
#include "lib/export/lanes.h"
#include "lib/wire/json_put.h"

#include <stdlib.h>

enum { PS_IN_NS = 1000, LOST_PROGRAMS = 0 };

struct track {
    uint32_t plane, name;
    int32_t tid;
    struct ids_lanes lanes;
    int32_t *lane_tids; /* of lanes 1 and on */
    size_t lane_count, lane_room;
};

struct chrome {
    struct ids_export export; /* first */
    struct ids_args_json args;
    struct ids_thread_ids tids;
    uint32_t plane_count;
    struct track *tracks;
    size_t track_count, track_room;
    struct ids_buffer other; /* the elements of otherData.planes */
    uint32_t host;
    int begun, any;
    uint32_t key_cat, key_id, key_scope, key_bind;
};

static struct chrome *of(struct ids_sink *sink) {
    return (struct chrome *)sink;
}

static struct ids_buffer *out_of(struct chrome *chrome) {
    return &chrome->export.buffer;
}

static void put_text(struct chrome *chrome, struct ids_buffer *buffer, uint32_t text) {
    struct ids_text bytes = ids_strings_text(&chrome->export.strings, text);
    ids_json_put_text(buffer, bytes.at, bytes.length);
}

static void begin(struct chrome *chrome, int64_t start_unix_ns) {
    struct ids_buffer *buffer = out_of(chrome);
    chrome->begun = 1;
    IDS_BUFFER_PUT(buffer, "{\"displayTimeUnit\":\"ns\",");
    if (start_unix_ns) {
        IDS_BUFFER_PUT(buffer, "\"baseTimeNanoseconds\":");
        ids_json_put_int(buffer, start_unix_ns);
        ids_buffer_byte(buffer, ',');
    }
    IDS_BUFFER_PUT(buffer, "\"traceEvents\":[\n");
}

/* The head of an event: {"ph":"X","pid":1,"tid":2 */
static void put_head(struct chrome *chrome, char phase, uint32_t plane, int32_t tid) {
    struct ids_buffer *buffer = out_of(chrome);
    if (!chrome->begun) begin(chrome, 0);
    if (chrome->any) IDS_BUFFER_PUT(buffer, ",\n");
    chrome->any = 1;
    IDS_BUFFER_PUT(buffer, "{\"ph\":\"");
    ids_buffer_byte(buffer, phase);
    IDS_BUFFER_PUT(buffer, "\",\"pid\":");
    ids_json_put_uint(buffer, (uint64_t)plane + 1);
    if (tid < 0) return;
    IDS_BUFFER_PUT(buffer, ",\"tid\":");
    ids_json_put_uint(buffer, (uint64_t)tid);
}

static void put_metadata(struct chrome *chrome, const char *what, const char *key, uint32_t plane, int32_t tid) {
    struct ids_buffer *buffer = out_of(chrome);
    put_head(chrome, 'M', plane, tid);
    IDS_BUFFER_PUT(buffer, ",\"name\":\"");
    ids_buffer_put(buffer, what, strlen(what));
    IDS_BUFFER_PUT(buffer, "\",\"args\":{\"");
    ids_buffer_put(buffer, key, strlen(key));
    IDS_BUFFER_PUT(buffer, "\":");
}

static void put_sort_index(struct chrome *chrome, const char *what, uint32_t plane, int32_t tid, uint64_t index) {
    put_metadata(chrome, what, "sort_index", plane, tid);
    ids_json_put_uint(out_of(chrome), index);
    IDS_BUFFER_PUT(out_of(chrome), "}}");
}

/* --- host, planes, names, tracks -------------------------------------------------------------------------------- */

static int chrome_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    struct chrome *chrome = of(sink);
    chrome->host = host->name;
    if (!chrome->begun) begin(chrome, host->start_unix_ns);
    return ids_export_write(&chrome->export, err);
}

static int chrome_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                        struct ids_error *err) {
    struct chrome *chrome = of(sink);
    uint32_t id = *ret_plane = chrome->plane_count++;
    put_metadata(chrome, "process_name", "name", id, -1);
    put_text(chrome, out_of(chrome), plane->name);
    IDS_BUFFER_PUT(out_of(chrome), "}}");
    put_sort_index(chrome, "process_sort_index", id, -1, id);
    struct ids_buffer *other = &chrome->other;
    if (!plane->arg_count) return ids_export_write(&chrome->export, err);
    if (other->length) IDS_BUFFER_PUT(other, ",\n");
    IDS_BUFFER_PUT(other, "{\"pid\":");
    ids_json_put_uint(other, (uint64_t)id + 1);
    IDS_BUFFER_PUT(other, ",\"name\":");
    put_text(chrome, other, plane->name);
    IDS_BUFFER_PUT(other, ",\"stats\":[");
    for (size_t i = 0; i < plane->arg_count; i++) {
        IDS_BUFFER_PUT(other, "{");
        put_text(chrome, other, plane->args[i].key);
        ids_buffer_byte(other, ':');
        ids_args_json_put_value(&chrome->export.strings, other, &plane->args[i]);
        ids_buffer_byte(other, '}');
        if (i + 1 < plane->arg_count) ids_buffer_byte(other, ',');
    }
    IDS_BUFFER_PUT(other, "]}");
    if (other->failed) return ids_no_memory(err);
    return ids_export_write(&chrome->export, err);
}

static int chrome_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                       struct ids_error *err) {
    struct chrome *chrome = of(sink);
    *ret_name = (uint32_t)chrome->args.name_count;
    return ids_args_json_add_name(&chrome->args, name, err);
}

/* Perfetto takes an empty thread_name for an error; what it does not know it passes over. */
static const char *name_event(const struct chrome *chrome, uint32_t name) {
    return ids_strings_text(&chrome->export.strings, name).length ? "thread_name" : "thread_labels";
}

/* Perfetto takes thread 0 of a process for the thread that has the process's number: only one of them can be used. */
static int keep_apart(struct chrome *chrome, const struct track *track) {
    int32_t pid = (int32_t)track->plane + 1, other = track->tid == 0 ? pid : track->tid == pid ? 0 : -1;
    return other < 0 ? 0 : -(ids_thread_id(&chrome->tids, track->plane, other) < 0);
}

static int chrome_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                        struct ids_error *err) {
    struct chrome *chrome = of(sink);
    uint32_t id = *ret_track = (uint32_t)chrome->track_count;
    struct track *track = IDS_PUSH(chrome->tracks, chrome->track_count, chrome->track_room);
    if (!track) return ids_no_memory(err);
    *track = (struct track){.plane = info->plane, .name = info->name};
    track->tid = ids_thread_id(&chrome->tids, info->plane, info->id);
    if (track->tid < 0 || keep_apart(chrome, track)) return ids_no_memory(err);
    put_metadata(chrome, name_event(chrome, info->name), "name", track->plane, track->tid);
    put_text(chrome, out_of(chrome), info->name);
    if (track->tid != info->id) {
        IDS_BUFFER_PUT(out_of(chrome), ",\"id\":");
        ids_json_put_int(out_of(chrome), info->id);
    }
    IDS_BUFFER_PUT(out_of(chrome), "}}");
    put_sort_index(chrome, "thread_sort_index", track->plane, track->tid, id);
    return ids_export_write(&chrome->export, err);
}

/* --- events ----------------------------------------------------------------------------------------------------- */

/* As Perfetto does: the nearest nanosecond, away from zero where there are two. */
static int64_t round_ns(int64_t ps) {
    int64_t rest = ps % PS_IN_NS;
    return ps / PS_IN_NS + (rest >= PS_IN_NS / 2) - (rest <= -PS_IN_NS / 2);
}

/* The thread for a slice. */
static int choose_tid(struct chrome *chrome, uint32_t track_id, const struct ids_slice *slice, int32_t *ret_tid,
                      struct ids_error *err) {
    struct track *track = &chrome->tracks[track_id];
    int64_t start = round_ns(slice->start_ps), length = slice->duration_ps > 0 ? round_ns(slice->duration_ps) : 0;
    size_t lane;
    if (ids_lanes_place(&track->lanes, start, start + length, NULL, NULL, &lane)) return ids_no_memory(err);
    *ret_tid = track->tid;
    if (!lane) return 0;
    while (track->lane_count < lane) {
        int32_t *tid = IDS_PUSH(track->lane_tids, track->lane_count, track->lane_room);
        if (!tid || (*tid = ids_thread_id(&chrome->tids, track->plane, -1)) < 0) return ids_no_memory(err);
        put_metadata(chrome, name_event(chrome, track->name), "name", track->plane, *tid);
        put_text(chrome, out_of(chrome), track->name);
        IDS_BUFFER_PUT(out_of(chrome), ",\"lane_of\":");
        ids_json_put_uint(out_of(chrome), (uint64_t)track->tid);
        IDS_BUFFER_PUT(out_of(chrome), "}}");
        put_sort_index(chrome, "thread_sort_index", track->plane, *tid, track_id);
    }
    *ret_tid = track->lane_tids[lane - 1];
    return 0;
}

static char phase_of(uint8_t form) {
    static const char phases[] = "XiCstf"; /* by enum ids_form */
    return form < sizeof phases - 1 ? phases[form] : 'X';
}

static int is_text(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_TEXT || arg->type == IDS_VALUE_CHARS;
}

/* Args that are members of the event itself in this format. */
static const char *member_of(const struct chrome *chrome, uint8_t form, const struct ids_arg *arg) {
    if (arg->key == chrome->key_cat) return is_text(arg) ? ",\"cat\":" : NULL;
    if (form == IDS_FORM_SLICE) return NULL;
    if (arg->key == chrome->key_scope && form == IDS_FORM_INSTANT) return is_text(arg) ? ",\"s\":" : NULL;
    if (form == IDS_FORM_INSTANT) return NULL;
    if (arg->key == chrome->key_bind && form != IDS_FORM_COUNTER) return is_text(arg) ? ",\"bp\":" : NULL;
    int is_number = arg->type == IDS_VALUE_INT || arg->type == IDS_VALUE_UINT;
    return arg->key == chrome->key_id && (is_number || is_text(arg)) ? ",\"id\":" : NULL;
}

/* Puts them; returns which of the args they are. */
static uint64_t put_members(struct chrome *chrome, const struct ids_slice *slice) {
    uint64_t found = 0;
    const char *done[4];
    size_t done_count = 0;
    for (uint32_t i = 0; i < slice->arg_count && i < 64; i++) {
        const char *member = member_of(chrome, slice->form, &slice->args[i]);
        if (!member) continue;
        size_t d = 0;
        while (d < done_count && strcmp(done[d], member) != 0) d++;
        if (d < done_count) continue; /* for the second time: an arg */
        done[done_count++] = member;
        ids_buffer_put(out_of(chrome), member, strlen(member));
        ids_args_json_put_value(&chrome->export.strings, out_of(chrome), &slice->args[i]);
        found |= UINT64_C(1) << i;
    }
    return found;
}

static int chrome_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice,
                        struct ids_error *err) {
    struct chrome *chrome = of(sink);
    struct ids_buffer *buffer = out_of(chrome);
    const struct ids_args_json_name *name = &chrome->args.names[slice->name];
    int32_t tid = chrome->tracks[track_id].tid;
    int code = slice->form == IDS_FORM_SLICE ? choose_tid(chrome, track_id, slice, &tid, err) : 0;
    if (code) return code;
    put_head(chrome, phase_of(slice->form), chrome->tracks[track_id].plane, tid);
    IDS_BUFFER_PUT(buffer, ",\"ts\":");
    ids_json_put_micro(buffer, slice->start_ps);
    if (slice->form == IDS_FORM_SLICE) {
        IDS_BUFFER_PUT(buffer, ",\"dur\":");
        ids_json_put_micro(buffer, slice->duration_ps);
    }
    IDS_BUFFER_PUT(buffer, ",\"name\":");
    ids_buffer_put(buffer, name->label, name->label_length);
    uint64_t members = put_members(chrome, slice);
    if (slice->arg_count || name->piece_count) {
        IDS_BUFFER_PUT(buffer, ",\"args\":{");
        code = ids_args_json_put(&chrome->args, buffer, slice, members, err);
        if (code) return code;
        ids_buffer_byte(buffer, '}');
    }
    ids_buffer_byte(buffer, '}');
    chrome->export.events++;
    return ids_export_write(&chrome->export, err);
}

static int chrome_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    (void)err;
    ids_lanes_done(&of(sink)->tracks[track].lanes);
    return 0;
}

static int chrome_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    (void)program, (void)err;
    of(sink)->export.losses[LOST_PROGRAMS].count++;
    return 0;
}

static int chrome_finish(struct ids_export *export, struct ids_error *err) {
    struct chrome *chrome = (struct chrome *)export;
    struct ids_buffer *buffer = &export->buffer;
    if (!chrome->begun) begin(chrome, 0);
    IDS_BUFFER_PUT(buffer, "\n],\n\"otherData\":{\"written_by\":\"idsprof " IDS_VERSION "\",\"host\":");
    put_text(chrome, buffer, chrome->host);
    IDS_BUFFER_PUT(buffer, ",\"planes\":[");
    ids_buffer_put(buffer, chrome->other.at, chrome->other.length);
    IDS_BUFFER_PUT(buffer, "]}}\n");
    return ids_export_write_all(export, err);
}

static void chrome_done(struct ids_export *export) {
    struct chrome *chrome = (struct chrome *)export;
    ids_args_json_done(&chrome->args);
    ids_thread_ids_done(&chrome->tids);
    for (size_t i = 0; i < chrome->track_count; i++) {
        ids_lanes_done(&chrome->tracks[i].lanes);
        free(chrome->tracks[i].lane_tids);
    }
    free(chrome->tracks);
    ids_buffer_done(&chrome->other);
}

static int intern_keys(struct chrome *chrome) {
    struct ids_strings *strings = &chrome->export.strings;
    chrome->key_cat = ids_intern_z(strings, "cat");
    chrome->key_id = ids_intern_z(strings, "id");
    chrome->key_scope = ids_intern_z(strings, "s");
    chrome->key_bind = ids_intern_z(strings, "bp");
    return chrome->key_bind == IDS_NO_TEXT ? -1 : 0;
}

static int open_chrome(struct ids_out *out, const struct ids_export_params *params, struct ids_export **ret_export,
                       struct ids_error *err) {
    (void)params;
    static const struct ids_sink_ops ops = {.host = chrome_host,
                                            .plane = chrome_plane,
                                            .name = chrome_name,
                                            .track = chrome_track,
                                            .slice = chrome_slice,
                                            .track_end = chrome_track_end,
                                            .program = chrome_program,
                                            .diag = ids_export_no_diag};
    struct chrome *chrome = calloc(1, sizeof *chrome);
    if (!chrome) return ids_no_memory(err);
    chrome->export.finish = chrome_finish;
    chrome->export.done = chrome_done;
    chrome->export.losses[LOST_PROGRAMS] =
        (struct ids_export_loss){"HLO program", "HLO programs", 0, IDS_EXPORT_NO_PROGRAMS};
    chrome->args.strings = &chrome->export.strings;
    int code = ids_export_init(&chrome->export, out, &ops, err);
    if (!code && intern_keys(chrome)) code = ids_no_memory(err);
    if (code) {
        ids_export_free(&chrome->export);
        return code;
    }
    *ret_export = &chrome->export;
    return 0;
}

const struct ids_export_format ids_chrome_export = {
    .name = "chrome",
    .title = "Chrome's JSON",
    .suffix = ".trace.json.gz",
    .wants_order = 1,
    .packs = 1,
    .is_for_viewers = 1,
    .open = open_chrome,
};
