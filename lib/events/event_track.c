/* The events of a track until it ends. Those that memory has no room for go aside as runs in order, which are merged at
 * the end. Self times are known late (what lies around everything ends last), so merged rows are put aside once more
 * and are told theirs there; then they are read in order. */
#include "lib/base/run_merge.h"
#include "lib/base/vec.h"
#include "lib/events/event_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    ORDERED_BYTES = 16 << 20, /* of merged rows that stay in memory */
    MERGE_BYTES = 16 << 20,   /* for all runs of a track together */
    IDLE_BYTES = 16 << 20,    /* of rows: more room is not kept from one track to the next */
    RECORD_MOST = sizeof(struct ids_row) + sizeof(struct ids_row_rare),
};

void ids_track_rows_done(struct ids_track_rows *track) {
    free(track->rows);
    free(track->rare);
    free(track->runs);
    *track = (struct ids_track_rows){0};
}

void ids_row_sorter_done(struct ids_row_sorter *sorter) {
    ids_spill_free(sorter->runs);
    ids_spill_free(sorter->ordered);
    ids_track_rows_done(&sorter->idle);
    free(sorter->spare);
    free(sorter->stack);
    *sorter = (struct ids_row_sorter){0};
}

void ids_track_rows_begin(struct ids_track_rows *track, struct ids_row_sorter *sorter, size_t likely) {
    *track = sorter->idle;
    sorter->idle = (struct ids_track_rows){0};
    track->rows = ids_vec_expect(track->rows, &track->room, likely, sizeof *track->rows);
}

void ids_track_rows_end(struct ids_track_rows *track, struct ids_row_sorter *sorter) {
    const struct ids_track_rows room = {
        .rows = track->rows, .rare = track->rare, .room = track->room, .rare_room = track->rare_room};
    if (room.room <= sorter->idle.room || room.room > IDLE_BYTES / sizeof *room.rows) {
        ids_track_rows_done(track);
        return;
    }
    ids_track_rows_done(&sorter->idle);
    sorter->idle = room;
    free(track->runs);
    *track = (struct ids_track_rows){0};
}

static int row_before(const struct ids_row *a, const struct ids_row *b) {
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : a->duration_ps > b->duration_ps;
}

int ids_track_rows_add(struct ids_track_rows *track, const struct ids_row *row, const struct ids_row_rare *rare,
                       struct ids_error *err) {
    if (ids_track_rows_count(track) >= UINT32_MAX - 1)
        return ids_fail(err, IDS_LIMIT, "more than four billion events on one track");
    struct ids_row *kept = IDS_PUSH(track->rows, track->count, track->room);
    if (!kept) return ids_no_memory(err);
    *kept = *row;
    if (track->count > 1 && row_before(kept, kept - 1)) track->unsorted = 1;
    if (!rare) return 0;
    struct ids_row_rare *kept_rare = IDS_PUSH(track->rare, track->rare_count, track->rare_room);
    if (!kept_rare) return ids_no_memory(err);
    *kept_rare = *rare;
    kept->rare = (uint32_t)track->rare_count;
    return 0;
}

IDS_DEFINE_RUN_MERGE(merge_rows, struct ids_row, row_before)

static int sort_rows(struct ids_track_rows *track, struct ids_row_sorter *sorter, struct ids_error *err) {
    if (!track->unsorted) return 0;
    track->unsorted = 0;
    if (sorter->spare_room < track->room) {
        free(sorter->spare);
        sorter->spare = malloc(track->room * sizeof *sorter->spare);
        sorter->spare_room = sorter->spare ? track->room : 0;
        if (!sorter->spare) return ids_no_memory(err);
    }
    struct ids_row *before = track->rows;
    merge_rows(&track->rows, &sorter->spare, track->count);
    if (track->rows != before) { /* the buffers changed places */
        size_t room = track->room;
        track->room = sorter->spare_room;
        sorter->spare_room = room;
    }
    return 0;
}

/* ---- aside ---- */

/* A row as it lies aside: itself, and its rare part where it has one. */
static int put_aside(struct ids_spill *spill, const struct ids_row *row, const struct ids_row_rare *rare,
                     struct ids_error *err) {
    int code = ids_spill_append(spill, row, sizeof *row, err);
    return code || !rare ? code : ids_spill_append(spill, rare, sizeof *rare, err);
}

static const struct ids_row_rare *rare_of(const struct ids_track_rows *track, const struct ids_row *row) {
    return row->rare ? &track->rare[row->rare - 1] : NULL;
}

int ids_track_rows_spill(struct ids_track_rows *track, struct ids_row_sorter *sorter, struct ids_error *err) {
    int code = track->count ? sort_rows(track, sorter, err) : 0;
    if (!code && !sorter->runs) code = ids_spill_new(0, &sorter->runs, err);
    if (code || !track->count) return code;
    struct ids_row_run *run = IDS_PUSH(track->runs, track->run_count, track->run_room);
    if (!run) return ids_no_memory(err);
    run->at = ids_spill_length(sorter->runs);
    for (size_t i = 0; i < track->count && !code; i++)
        code = put_aside(sorter->runs, &track->rows[i], rare_of(track, &track->rows[i]), err);
    run->end = ids_spill_length(sorter->runs);
    track->count_in_runs += track->count;
    free(track->rows);
    free(track->rare);
    track->rows = NULL;
    track->rare = NULL;
    track->count = track->room = track->rare_count = track->rare_room = 0;
    return code;
}

/* Reads rows that lie aside, one after the other. */
struct reader {
    const struct ids_spill *spill;
    uint64_t at, end; /* what was not read yet */
    uint8_t *buffer;
    size_t room, used, length; /* bytes [used, length) are to be given */
    const struct ids_row *row; /* where the reader is; NULL at the end */
    const struct ids_row_rare *rare;
};

static int read_next(struct reader *reader, struct ids_error *err) {
    size_t left = reader->length - reader->used;
    if (left < RECORD_MOST && reader->at < reader->end) {
        memmove(reader->buffer, reader->buffer + reader->used, left);
        size_t more = reader->room - left;
        if (more > reader->end - reader->at) more = (size_t)(reader->end - reader->at);
        int code = ids_spill_copy(reader->spill, reader->at, more, reader->buffer + left, err);
        if (code) return code;
        reader->at += more;
        reader->used = 0;
        reader->length = left + more;
    }
    if (reader->used == reader->length) {
        reader->row = NULL;
        return 0;
    }
    reader->row = (const struct ids_row *)(reader->buffer + reader->used); /* records are multiples of 8 bytes */
    reader->used += sizeof *reader->row;
    reader->rare = reader->row->rare ? (const struct ids_row_rare *)(reader->buffer + reader->used) : NULL;
    if (reader->rare) reader->used += sizeof *reader->rare;
    return 0;
}

/* ---- the merge ---- */

struct merge {
    struct reader *readers;
    size_t count;
    uint32_t *heap; /* readers by their row, the first one on top; of equal rows, the earlier run's */
    size_t heap_count;
    uint8_t *memory;
};

static int reader_before(const struct merge *merge, uint32_t a, uint32_t b) {
    const struct ids_row *left = merge->readers[a].row, *right = merge->readers[b].row;
    return row_before(left, right) || (a < b && !row_before(right, left));
}

static void sift_down(struct merge *merge, size_t at) {
    uint32_t moved = merge->heap[at];
    for (size_t child; (child = 2 * at + 1) < merge->heap_count; at = child) {
        if (child + 1 < merge->heap_count && reader_before(merge, merge->heap[child + 1], merge->heap[child])) child++;
        if (!reader_before(merge, merge->heap[child], moved)) break;
        merge->heap[at] = merge->heap[child];
    }
    merge->heap[at] = moved;
}

static void merge_done(struct merge *merge) {
    free(merge->readers);
    free(merge->heap);
    free(merge->memory);
}

static int merge_begin(struct merge *merge, const struct ids_track_rows *track, const struct ids_spill *spill,
                       struct ids_error *err) {
    size_t room = MERGE_BYTES / track->run_count / 8 * 8;
    if (room < (size_t)2 * RECORD_MOST) room = (size_t)2 * RECORD_MOST;
    *merge = (struct merge){
        .readers = calloc(track->run_count, sizeof *merge->readers),
        .heap = calloc(track->run_count, sizeof *merge->heap),
        .memory = malloc(track->run_count * room),
        .count = track->run_count,
    };
    if (!merge->readers || !merge->heap || !merge->memory) return ids_no_memory(err);
    for (size_t i = 0; i < merge->count; i++) {
        struct reader *reader = &merge->readers[i];
        *reader = (struct reader){.spill = spill,
                                  .at = track->runs[i].at,
                                  .end = track->runs[i].end,
                                  .buffer = merge->memory + i * room,
                                  .room = room};
        int code = read_next(reader, err);
        if (code) return code;
        merge->heap[merge->heap_count++] = (uint32_t)i; /* no run is empty */
    }
    for (size_t i = merge->heap_count / 2; i-- > 0;) sift_down(merge, i);
    return 0;
}

/* Past the row on top. */
static int merge_next(struct merge *merge, struct ids_error *err) {
    struct reader *top = &merge->readers[merge->heap[0]];
    int code = read_next(top, err);
    if (code) return code;
    if (!top->row) merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count) sift_down(merge, 0);
    return 0;
}

/* ---- each ---- */

static int closed_in_memory(void *context, uint64_t where, int64_t self_ps, struct ids_error *err) {
    (void)err;
    ((struct ids_row *)context)[where].self_ps = self_ps;
    return 0;
}

static int closed_aside(void *context, uint64_t where, int64_t self_ps, struct ids_error *err) {
    return ids_spill_patch(context, where + offsetof(struct ids_row, self_ps), &self_ps, sizeof self_ps, err);
}

static int nest_merged(struct merge *merge, struct ids_row_sorter *sorter, struct ids_error *err) {
    int code = 0;
    for (uint64_t i = 0; merge->heap_count && !code; i++) {
        const struct reader *top = &merge->readers[merge->heap[0]];
        if (!top->row) break; /* those on the heap have one */
        struct ids_row row = *top->row;
        uint64_t where = ids_spill_length(sorter->ordered);
        code = ids_nest_next(sorter, &row, i, where, closed_aside, sorter->ordered, err);
        if (!code) code = put_aside(sorter->ordered, &row, top->rare, err);
        if (!code) code = merge_next(merge, err);
    }
    return code ? code : ids_nest_end(sorter, closed_aside, sorter->ordered, err);
}

static int each_ordered(const struct ids_row_sorter *sorter, ids_row_put *put, void *context, struct ids_error *err) {
    enum { ROOM = 256 << 10 };
    struct reader reader = {.spill = sorter->ordered, .end = ids_spill_length(sorter->ordered), .room = ROOM};
    reader.buffer = malloc(ROOM);
    if (!reader.buffer) return ids_no_memory(err);
    int code = read_next(&reader, err);
    for (uint64_t i = 0; reader.row && !code; i++) {
        code = put(context, i, reader.row, reader.rare, err);
        if (!code) code = read_next(&reader, err);
    }
    free(reader.buffer);
    return code;
}

static int each_of_runs(struct ids_track_rows *track, struct ids_row_sorter *sorter, ids_row_put *put, void *context,
                        struct ids_error *err) {
    struct merge merge = {0};
    int code = ids_track_rows_spill(track, sorter, err);
    if (!code && !sorter->ordered) code = ids_spill_new(ORDERED_BYTES, &sorter->ordered, err);
    if (!code) code = merge_begin(&merge, track, sorter->runs, err);
    if (!code) code = nest_merged(&merge, sorter, err);
    merge_done(&merge);
    if (!code) code = each_ordered(sorter, put, context, err);
    if (sorter->ordered) ids_spill_clear(sorter->ordered);
    return code;
}

int ids_track_rows_each(struct ids_track_rows *track, struct ids_row_sorter *sorter, ids_row_put *put, void *context,
                        struct ids_error *err) {
    sorter->depth = 0;
    if (track->run_count) return each_of_runs(track, sorter, put, context, err);
    int code = sort_rows(track, sorter, err);
    for (size_t i = 0; i < track->count && !code; i++)
        code = ids_nest_next(sorter, &track->rows[i], i, i, closed_in_memory, track->rows, err);
    if (!code) code = ids_nest_end(sorter, closed_in_memory, track->rows, err);
    for (size_t i = 0; i < track->count && !code; i++)
        code = put(context, i, &track->rows[i], rare_of(track, &track->rows[i]), err);
    return code;
}
