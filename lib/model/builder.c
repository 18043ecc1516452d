#include "lib/model/builder.h"

#include "lib/base/memory.h"
#include "lib/base/vec.h"
#include "lib/model/alike_hosts.h"
#include "lib/model/allocations.h"
#include "lib/model/builder_parts.h"
#include "lib/model/clocks.h"
#include "lib/model/held.h"
#include "lib/model/keys.h"
#include "lib/model/partial.h"
#include "lib/model/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ids_builder *of(struct ids_sink *sink) {
    return (struct ids_builder *)sink;
}

static int build_hlo(struct ids_sink *sink, const struct ids_instruction_info *instruction, struct ids_error *err) {
    of(sink)->trace->hlo_instructions++;
    return ids_join_hlo(&of(sink)->join, of(sink)->dimensions.host, instruction, err);
}

static int build_memory(struct ids_sink *sink, const struct ids_program_memory_info *memory, struct ids_error *err) {
    struct ids_builder *builder = of(sink);
    return ids_program_memory_add(builder->trace, builder->dimensions.host, memory) ? ids_no_memory(err) : 0;
}

static int build_held(struct ids_sink *sink, const struct ids_held_info *held, struct ids_error *err) {
    return ids_held_add(of(sink)->trace, held) ? ids_no_memory(err) : 0;
}

static int build_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    struct ids_trace *trace = of(sink)->trace;
    struct ids_trace_diag *kept = IDS_PUSH(trace->diags, trace->diag_count, trace->diag_room);
    if (!kept) return ids_no_memory(err);
    *kept = (struct ids_trace_diag){
        .severity = (uint8_t)diag->severity,
        .id = ids_arena_copy(&trace->arena, diag->id, strlen(diag->id)),
        .text = ids_arena_copy(&trace->arena, diag->text, strlen(diag->text)),
        .offset = diag->offset,
        .count = diag->count,
        .host = of(sink)->dimensions.host,
    };
    if (kept->id && kept->text) return 0;
    trace->diag_count--;
    return ids_no_memory(err);
}

static int build_partial(struct ids_sink *sink, const void *bytes, size_t length, struct ids_error *err) {
    return ids_partial_load(of(sink), bytes, length, &sink->read_as, err);
}

/* --- life ------------------------------------------------------------------------------------------------------- */

int ids_builder_new(struct ids_builder **ret_builder, struct ids_error *err) {
    static const struct ids_sink_ops ops = {
        .host = ids_build_host,
        .plane = ids_build_plane,
        .name = ids_build_name,
        .track = ids_build_track,
        .slice = ids_build_slice,
        .track_end = ids_build_track_end,
        .hlo = build_hlo,
        .memory = build_memory,
        .held = build_held,
        .diag = build_diag,
        .partial = build_partial,
    };
    struct ids_builder *builder = calloc(1, sizeof *builder);
    if (!builder) return ids_no_memory(err);
    builder->trace = calloc(1, sizeof *builder->trace);
    if (!builder->trace || ids_keys_intern(&builder->trace->strings)) {
        ids_builder_free(builder);
        return ids_no_memory(err);
    }
    builder->trace->tracer_host = builder->trace->tracer_device = builder->trace->tracer_python = -1;
    builder->sink =
        (struct ids_sink){.ops = &ops, .strings = &builder->trace->strings, .complete = 1, .parts = &ids_builder_parts};
    builder->dimensions.trace = builder->calls.trace = builder->trace;
    builder->held = (struct ids_held_records){
        .most_bytes = UINT64_MAX, .until_ps = INT64_MAX, .first_ps = INT64_MAX, .last_ps = INT64_MIN};
    *ret_builder = builder;
    return 0;
}

struct ids_sink *ids_builder_sink(struct ids_builder *builder) {
    return &builder->sink;
}

void ids_builder_bound(struct ids_builder *builder, uint64_t most_bytes, int64_t until_ps) {
    builder->held.most_bytes = most_bytes;
    builder->held.until_ps = until_ps;
}

void ids_builder_put_far(struct ids_builder *builder, ids_file_fn *make_file, uint64_t least_bytes) {
    builder->make_file = make_file;
    builder->near_least = least_bytes;
}

enum { FAR_READ_BYTES = 32 << 20 }; /* that are in memory at a time */

/* Whole hosts make room for the next ones. A disk that has no room is asked once. */
static void put_far(struct ids_builder *builder) {
    struct ids_trace *trace = builder->trace;
    struct ids_held_records *held = &builder->held;
    struct ids_error unused = IDS_ERROR_INIT;
    if (!builder->make_file || held->bytes < builder->near_least) return;
    if (!trace->far) {
        int fd = builder->make_file(&unused);
        trace->far = fd < 0 ? NULL : ids_far_new(fd, FAR_READ_BYTES);
    }
    uint64_t moved = trace->far ? ids_trace_put_far(trace, builder->near_device, builder->near_track) : 0;
    if (!moved) builder->make_file = NULL;
    held->peak_bytes = ids_held_peak(held);
    held->bytes -= moved < held->bytes ? moved : held->bytes;
    builder->near_device = trace->device_count;
    builder->near_track = trace->track_count;
}

static int end_tracks(struct ids_builder *builder, struct ids_error *err) {
    int code = 0;
    while (!code && builder->open_count)
        code = ids_build_track_end(&builder->sink, builder->open[builder->open_count - 1].track, err);
    return code;
}

enum { GIVE_BACK_BYTES = 16 << 20 }; /* of records, from which on the way to the system is worth it */

/* Joins what hosts have that are not joined yet, each for itself. What they were read in serves the next one; behind
 * the last it goes back. */
static int join_hosts(struct ids_builder *builder, int are_last, struct ids_error *err) {
    struct ids_join *join = &builder->join;
    struct ids_held_records *held = &builder->held;
    uint64_t ends = 2 * (join->op_ends.count + join->op_goes_on.count) * sizeof(struct ids_keymap_slot);
    int code = ids_device_pieces_join(&builder->pieces, builder->trace, err);
    if (are_last && held->bytes >= GIVE_BACK_BYTES) ids_memory_give_back(); /* of tracks, and the pieces */
    if (!code) code = ids_join_hosts(join, builder->trace, builder->near_device, builder->near_track, err);
    held->peak_bytes = ids_held_peak(held);
    held->bytes -= ends < held->bytes ? ends : held->bytes;
    return code;
}

int ids_builder_end_host(struct ids_builder *builder, struct ids_error *err) {
    struct ids_trace *trace = builder->trace;
    int code = end_tracks(builder, err); /* of a file that ended before its end */
    if (code || !trace->host_count) return code;
    const struct ids_host *host = &trace->hosts[trace->host_count - 1];
    ids_trace_give_back(trace, host->first_device, host->first_track);
    if (!builder->make_file || builder->held.bytes < builder->near_least) return 0;
    code = join_hosts(builder, 0, err);
    if (!code) put_far(builder);
    return code;
}

int ids_builder_overflowed(const struct ids_builder *builder, int64_t *ret_until_ps) {
    const struct ids_held_records *held = &builder->held;
    if (!held->overflowed) return 0;
    int64_t end_ps = held->last_ps < held->until_ps ? held->last_ps + 1 : held->until_ps;
    double share = 0.9 * (double)held->most_bytes / (double)ids_held_peak(held); /* events may be denser at first */
    *ret_until_ps = held->first_ps + (int64_t)((double)(end_ps - held->first_ps) * share);
    return 1;
}

/* What of the run is in the trace, where that is not all. */
static int say_bound(struct ids_builder *builder, struct ids_error *err) {
    const struct ids_held_records *held = &builder->held;
    double part = (double)held->until_ps - (double)held->first_ps, all = (double)held->last_ps - (double)held->first_ps;
    char text[256];
    if (!held->beyond) return 0;
    snprintf(text, sizeof text,
             "the first %.4g s of %.4g s of the run; the events behind them would take the report above %.0f "
             "MB of memory",
             part > 0 ? part / 1e12 : 0, all / 1e12, (double)held->most_bytes / 1e6);
    const struct ids_diag diag = {IDS_WARNING, "model.part", text, -1, held->beyond};
    return build_diag(&builder->sink, &diag, err);
}

static void sum_time_scales(struct ids_trace *trace) {
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_time_scale *of_track = &trace->tracks[t].time_scale;
        trace->time_scale.sum += of_track->sum;
        trace->time_scale.count += of_track->count;
        trace->time_scale.time_ps += of_track->time_ps;
        trace->time_scale.scaled_ps += of_track->scaled_ps;
    }
}

int ids_builder_finish(struct ids_builder *builder, struct ids_trace **ret_trace, struct ids_error *err) {
    int code = end_tracks(builder, err);
    ids_assembly_done(&builder->idle); /* no track comes any more */
    ids_builder_idle_done(builder);
    if (!code) code = join_hosts(builder, 1, err);
    if (!code) put_far(builder);
    builder->dimensions.host = UINT32_MAX; /* what is said now is of the run */
    if (!code && builder->negative_durations) {
        struct ids_diag diag = {IDS_WARNING, "model.negative_duration",
                                "events with a negative duration were taken as moments", -1,
                                builder->negative_durations};
        code = build_diag(&builder->sink, &diag, err);
    }
    if (!code && builder->out_of_range) {
        struct ids_diag diag = {IDS_DAMAGE, "model.time_range",
                                "events more than 26 days from the start of the run were left out", -1,
                                builder->out_of_range};
        code = build_diag(&builder->sink, &diag, err);
    }
    sum_time_scales(builder->trace);
    ids_counters_order(builder->trace);
    if (!code) code = say_bound(builder, err);
    if (!code) code = ids_join_run(&builder->join, &builder->calls, builder->trace, err);
    if (!code && ids_allocations_finish(builder->trace)) code = ids_no_memory(err);
    if (!code) code = ids_alike_hosts_say(builder->trace, err);
    if (!code) code = ids_clocks_align(builder->trace, err);
    if (code) return code;
    for (size_t d = 0; d < builder->trace->device_count; d++) {
        const struct ids_device *device = &builder->trace->devices[d];
        builder->trace->accelerated |= device->kind != IDS_DEVICE_CPU && device->activity.count;
    }
    builder->trace->complete = builder->sink.complete;
    *ret_trace = builder->trace;
    builder->trace = NULL;
    ids_builder_free(builder);
    return 0;
}

void ids_builder_free(struct ids_builder *builder) {
    if (!builder) return;
    ids_trace_free(builder->trace);
    ids_join_done(&builder->join);
    ids_counter_map_done(&builder->counters);
    for (size_t i = 0; i < builder->open_count; i++) ids_assembly_done(&builder->open[i].assembly);
    ids_assembly_done(&builder->idle);
    ids_builder_idle_done(builder);
    free(builder->open);
    free(builder->place_of_track);
    free(builder->planes);
    ids_idmap_done(&builder->host_names);
    ids_dimensions_done(&builder->dimensions);
    free(builder->asked.at);
    ids_device_pieces_done(&builder->pieces);
    ids_calls_done(&builder->calls);
    free(builder);
}
