#include "analyzers/memory_held.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/held.h"
#include "lib/model/python_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000, STACK_SHOWN = 24 };

static const struct ids_column_def held_columns[] = {
    {"bytes", "bytes", IDS_UNIT_BYTES, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"grown_bytes", "more", IDS_UNIT_BYTES, IDS_COLUMN_SPARE},
    {"grown_count", "more of them", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"device", "device", IDS_UNIT_NONE, 0},
    {"kind", "kind", IDS_UNIT_NONE, 0},
    {"made_in", "made in", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"call", "by", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"file", "file", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"stack", "stack", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
};
const struct ids_table_def ids_held_table = {
    "held",
    "what lives",
    held_columns,
    IDS_COUNT_OF(held_columns),
    "What lived on devices when a device memory profile was saved (jax.profiler.save_device_memory_profile, capture "
    "--memory): one row for what was made by the same line of the program with the same call, of one device and kind "
    "(buffer: an array; executable: a compiled program). `made_in` is the innermost function of the program, `call` "
    "what it called. `grown_bytes` and `grown_count` are how much more it is than when the window began, where a "
    "profile was saved then too. Beyond 1000 rows the smallest are one.",
    IDS_TABLE_TOP,
};

/* What was made by one line of the program. */
struct group {
    uint32_t file, device, kind;
    const struct ids_held *first; /* for its stack */
    uint32_t frame;               /* the program's, in the stack; as many as there are: none */
    int64_t bytes, count, bytes_before, count_before;
};

struct groups {
    const struct ids_trace *trace;
    struct group *at;
    size_t count, room;
    struct ids_keymap places; /* key -> index + 1 */
    struct ids_keymap owners; /* function and file -> enum ids_frame_owner + 1 */
};

/* --- groups ----------------------------------------------------------------------------------------------------- */

static int owner_of(struct groups *groups, const struct ids_held_frame *frame, enum ids_frame_owner *ret_owner) {
    uint64_t *known = ids_keymap_at(&groups->owners, ids_key_of(frame->function, frame->file));
    if (!known) return -1;
    if (!*known) {
        char name[1024];
        int length =
            snprintf(name, sizeof name, "%.700s(%" PRId32 "): %.200s", ids_trace_text(groups->trace, frame->file),
                     frame->line, ids_trace_text(groups->trace, frame->function));
        *known = (uint64_t)ids_python_frame_owner((struct ids_text){name, (uint32_t)length}) + 1;
    }
    *ret_owner = (enum ids_frame_owner)(*known - 1);
    return 0;
}

/* The innermost frame of the program; without any the outermost of all. */
static int find_frame(struct groups *groups, const struct ids_held *held, uint32_t *ret_frame) {
    const struct ids_held_frame *frames = groups->trace->held_frames + held->first_frame;
    size_t count = held->info.frame_count;
    enum ids_frame_owner owner;
    *ret_frame = count ? (uint32_t)count - 1 : 0;
    for (size_t i = 0; i < count; i++) {
        if (owner_of(groups, &frames[i], &owner)) return -1;
        if (owner == IDS_FRAME_OF_LIBRARY || owner == IDS_FRAME_OF_HOOK || owner == IDS_FRAME_WAITS ||
            owner == IDS_FRAME_BLOCKS)
            continue;
        *ret_frame = (uint32_t)i;
        return 0;
    }
    return 0;
}

/* What the program called there; IDS_NONE where it only ran one of its own compiled functions, whose first call leads
 * through a frame of JAX. */
static uint32_t call_of(const struct ids_trace *trace, const struct ids_held_frame *frames, uint32_t frame) {
    if (!frame || !strcmp(ids_trace_text(trace, frames[frame - 1].function), "reraise_with_filtered_traceback"))
        return IDS_NONE;
    return frames[frame - 1].function;
}

static uint64_t frame_key(const struct ids_held_frame *frame) {
    return ids_key_of(ids_key_of(frame->function, frame->file), (uint64_t)frame->line);
}

/* The file's name without what says that it is of the window's begin. */
static uint32_t window_of(const struct ids_trace *trace, uint32_t file, int *ret_at_begin) {
    struct ids_text name = ids_strings_text(&trace->strings, file);
    *ret_at_begin = ids_text_ends(name, IDS_HELD_AT_BEGIN);
    if (!*ret_at_begin) return file;
    uint32_t end = ids_strings_find(&trace->strings, name.at, name.length - strlen(IDS_HELD_AT_BEGIN));
    return end == IDS_NO_TEXT ? file : end;
}

static int add(struct groups *groups, const struct ids_held *held) {
    const struct ids_held_frame *frames = groups->trace->held_frames + held->first_frame;
    uint32_t frame;
    int at_begin;
    uint32_t file = window_of(groups->trace, held->info.file, &at_begin);
    if (find_frame(groups, held, &frame)) return -1;
    uint64_t key = ids_key_of(ids_key_of(file, held->info.device), held->info.kind);
    if (held->info.frame_count) key = ids_key_of(key, frame_key(&frames[frame]));
    if (call_of(groups->trace, frames, frame) != IDS_NONE) key = ids_key_of(key, frames[frame - 1].function);
    uint64_t *place = ids_keymap_at(&groups->places, key);
    if (!place) return -1;
    if (!*place) {
        struct group *added = IDS_PUSH(groups->at, groups->count, groups->room);
        if (!added) return -1;
        *added = (struct group){
            .file = file, .device = held->info.device, .kind = held->info.kind, .first = held, .frame = frame};
        *place = groups->count;
    }
    struct group *group = &groups->at[*place - 1];
    ids_sum(at_begin ? &group->bytes_before : &group->bytes, held->info.bytes);
    ids_sum(at_begin ? &group->count_before : &group->count, held->info.count);
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct group *left = a, *right = b;
    if (left->bytes != right->bytes) return left->bytes < right->bytes ? 1 : -1;
    if (left->count != right->count) return left->count < right->count ? 1 : -1;
    return (left->first > right->first) - (left->first < right->first);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static const char *file_of(const struct ids_trace *trace, const struct ids_held_frame *frame) {
    const char *path = ids_trace_text(trace, frame->file), *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "one (train.py:12) < main (train.py:40)", innermost first. */
static const char *stack_text(const struct groups *groups, struct ids_report *report, const struct group *group) {
    const struct ids_held_frame *frames = groups->trace->held_frames + group->first->first_frame;
    const char *text = "";
    for (size_t i = 0; i < group->first->info.frame_count && i < STACK_SHOWN; i++)
        text = ids_report_text(report, "%s%s%s (%s:%" PRId32 ")", text, i ? " < " : "",
                               ids_trace_text(groups->trace, frames[i].function), file_of(groups->trace, &frames[i]),
                               frames[i].line);
    return *text ? text : NULL;
}

static void list_group(const struct groups *groups, struct ids_report *report, struct ids_table *table,
                       const struct group *group, int64_t all, int has_begin) {
    const struct ids_trace *trace = groups->trace;
    const struct ids_held_frame *frames = trace->held_frames + group->first->first_frame;
    int has_stack = group->first->info.frame_count > 0;
    uint32_t call = has_stack ? call_of(trace, frames, group->frame) : IDS_NONE;
    const struct ids_held_frame *frame = has_stack ? &frames[group->frame] : NULL;
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_BYTES, group->bytes),
        all ? ids_real_value(IDS_UNIT_RATIO, (double)group->bytes / (double)all) : ids_no_value(IDS_UNIT_RATIO),
        ids_int_value(IDS_UNIT_COUNT, group->count),
        has_begin ? ids_int_value(IDS_UNIT_BYTES, ids_sat_sub(group->bytes, group->bytes_before))
                  : ids_no_value(IDS_UNIT_BYTES),
        has_begin ? ids_int_value(IDS_UNIT_COUNT, ids_sat_sub(group->count, group->count_before))
                  : ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(group->device ? ids_trace_text(trace, group->device) : NULL),
        ids_text_value(group->kind ? ids_trace_text(trace, group->kind) : NULL),
        ids_text_value(frame ? ids_trace_text(trace, frame->function) : "not recorded"),
        ids_text_value(frame ? ids_report_text(report, "%s:%" PRId32, ids_trace_text(trace, frame->file), frame->line)
                             : NULL),
        ids_text_value(call == IDS_NONE ? NULL : ids_trace_text(trace, call)),
        ids_text_value(group->file ? ids_trace_text(trace, group->file) : NULL),
        ids_text_value(stack_text(groups, report, group)),
    };
    IDS_ROW(report, table, held_columns, row);
}

static void list_rest(struct ids_report *report, struct ids_table *table, const struct group *rest, int64_t all) {
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_BYTES, rest->bytes),
        all ? ids_real_value(IDS_UNIT_RATIO, (double)rest->bytes / (double)all) : ids_no_value(IDS_UNIT_RATIO),
        ids_int_value(IDS_UNIT_COUNT, rest->count),
        ids_no_value(IDS_UNIT_BYTES),
        ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(NULL),
        ids_text_value(NULL),
        ids_text_value("others"),
        ids_text_value(NULL),
        ids_text_value(NULL),
        ids_text_value(NULL),
        ids_text_value(NULL),
    };
    IDS_ROW(report, table, held_columns, row);
}

int ids_list_held(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct groups groups = {.trace = trace};
    struct group rest = {0};
    int failed = 0, has_begin = 0;
    int64_t all = 0;
    for (size_t i = 0; i < trace->held_count && !failed; i++) {
        int at_begin;
        window_of(trace, trace->held[i].info.file, &at_begin);
        has_begin |= at_begin;
        failed = add(&groups, &trace->held[i]);
    }
    struct ids_table *table = ids_report_table(report, &ids_held_table);
    if (!failed && groups.count) qsort(groups.at, groups.count, sizeof *groups.at, most_first);
    for (size_t i = 0; i < groups.count && !failed; i++) ids_sum(&all, groups.at[i].bytes);
    for (size_t i = 0; i < groups.count && !failed; i++) {
        if (!groups.at[i].bytes && !groups.at[i].bytes_before) continue; /* programs of a CPU */
        if (i < MOST_ROWS) {
            list_group(&groups, report, table, &groups.at[i], all, has_begin);
            continue;
        }
        ids_sum(&rest.bytes, groups.at[i].bytes);
        ids_sum(&rest.count, groups.at[i].count);
    }
    if (groups.count > MOST_ROWS && !failed) list_rest(report, table, &rest, all);
    if (!failed) ids_report_metric(report, "memory.held", NULL, ids_int_value(IDS_UNIT_BYTES, all));
    free(groups.at);
    ids_keymap_done(&groups.places);
    ids_keymap_done(&groups.owners);
    return failed ? ids_no_memory(err) : 0;
}
