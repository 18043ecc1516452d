/* xplane_lots.c - lines of a plane, read beside each other into parts of the sink. */
#include "formats/xplane_parts.h"
#include "lib/base/parallel.h"
#include "lib/base/vec.h"
#include "lib/io/source.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { LOTS_OF_A_THREAD = 8 }; /* they are not equally long */

/* Lines that one thread reads into a part of the sink. */
struct lot {
    size_t from, to; /* of the plane's lines */
    uint64_t bytes;
    struct ids_sink *part;
    uint64_t events, without_time;
    bool is_read; /* and nothing of it is to be read again in order */
};

/* What a thread reads at a time: a lot, or the graph of a program. */
struct turn {
    uint64_t weight; /* how long it takes, in bytes of a line */
    size_t number;   /* of the lot; those behind the lots are of programs */
};

struct lots {
    const struct ids_xplane_reader *reader;
    const struct ids_xplane_plane *plane;
    struct lot *at;
    size_t count, room;
    struct ids_xplane_program *programs; /* that are read beside them */
    size_t program_count;
    struct turn *turns;
    atomic_size_t refused; /* what comes behind this one is read again anyway */
};

/* 0, or -1 when memory ran out. */
static int cut_into_lots(struct lots *lots) {
    const struct ids_xplane_spans *lines = &lots->plane->lines;
    uint64_t total = 0;
    for (size_t i = 0; i < lines->count; i++) total += lines->at[i].length;
    uint64_t wanted = total / ((uint64_t)ids_jobs() * LOTS_OF_A_THREAD);
    if (wanted < ids_jobs_least()) wanted = ids_jobs_least();
    struct lot *lot = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        if (!lot || lot->bytes >= wanted) {
            lot = IDS_PUSH(lots->at, lots->count, lots->room);
            if (!lot) return -1;
            *lot = (struct lot){.from = i};
        }
        lot->to = i + 1;
        lot->bytes += lines->at[i].length;
    }
    return 0;
}

static int longer_first(const void *a, const void *b) {
    const struct turn *left = a, *right = b;
    if (left->weight != right->weight) return left->weight > right->weight ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* A line cannot be cut, so some lots are much longer than others: one that is begun last would be read alone. 0, or -1
 * when memory ran out. */
static int order_turns(struct lots *lots) {
    enum { OF_A_GRAPH = 2 }; /* a byte of it takes as long as so many of a line */
    size_t count = lots->count + lots->program_count;
    lots->turns = ids_vec_new(count, sizeof *lots->turns);
    if (!lots->turns) return -1;
    for (size_t i = 0; i < count; i++) {
        uint64_t weight =
            i < lots->count ? lots->at[i].bytes : OF_A_GRAPH * lots->programs[i - lots->count].graph.length;
        lots->turns[i] = (struct turn){weight, i};
    }
    qsort(lots->turns, count, sizeof *lots->turns, longer_first);
    return 0;
}

static void read_into_part(const struct lots *lots, struct lot *lot, struct ids_source *source, struct ids_error *err) {
    struct ids_xplane_reader reader = *lots->reader; /* its maps are looked up only */
    reader.file = (struct ids_pb_file){.source = source, .size = lots->reader->file.size};
    reader.sink = lot->part;
    reader.is_of_part = true;
    reader.args = NULL;
    reader.arg_count = reader.arg_room = 0;
    reader.events = reader.without_time = 0;
    int code = 0;
    for (size_t i = lot->from; i < lot->to && !code; i++)
        code = ids_xplane_read_line(&reader, lots->plane->lines.at[i], err);
    lot->events = reader.events;
    lot->without_time = reader.without_time;
    lot->is_read = !code && !reader.file.truncated && !reader.file.left_out;
    free(reader.args);
    ids_pb_file_done(&reader.file);
}

static void read_lot(struct lots *lots, size_t number) {
    struct lot *lot = &lots->at[number];
    struct ids_sink *sink = lots->reader->sink;
    struct ids_source *source = NULL;
    struct ids_error unused = IDS_ERROR_INIT; /* who reads it in order has the same one */
    if (number > atomic_load(&lots->refused)) return;
    int code = ids_source_beside(lots->reader->file.source, &source, &unused);
    if (!code) code = sink->parts->begin(sink, lots->reader->plane_id, lot->from, &lot->part, &unused);
    if (!code) read_into_part(lots, lot, source, &unused);
    ids_source_close(source);
    if (lot->part) sink->parts->end(lot->part);
    size_t first = atomic_load(&lots->refused);
    while (!lot->is_read && number < first && !atomic_compare_exchange_weak(&lots->refused, &first, number)) {
    }
}

static void take_turn(void *context, size_t turn) {
    struct lots *lots = context;
    const size_t number = lots->turns[turn].number;
    if (number < lots->count)
        read_lot(lots, number);
    else
        ids_xplane_program_read(lots->reader, &lots->programs[number - lots->count]);
}

/* Takes the parts over until one is not as it would be in order; *ret_next is the first line that remains. */
static int take_lots(struct ids_xplane_reader *reader, struct lots *lots, size_t *ret_next, struct ids_error *err) {
    for (size_t i = 0; i < lots->count; i++) {
        struct lot *lot = &lots->at[i];
        int taken = 0;
        if (!lot->is_read) return 0;
        int code = reader->sink->parts->take(reader->sink, lot->part, &taken, err);
        if (code || !taken) return code;
        reader->events += lot->events;
        reader->without_time += lot->without_time;
        *ret_next = lot->to;
        reader->sink->parts->free(lot->part); /* what the next one brings may take its place */
        lot->part = NULL;
    }
    return 0;
}

/* Reads what can be read beside each other. */
int ids_xplane_read_in_parts(struct ids_xplane_reader *reader, const struct ids_xplane_plane *plane, size_t *ret_next,
                             struct ids_error *err) {
    struct lots lots = {.reader = reader, .plane = plane, .refused = SIZE_MAX};
    int code = 0;
    if (cut_into_lots(&lots)) {
        code = ids_no_memory(err);
    } else if (lots.count > 1) {
        lots.program_count = ids_xplane_programs_ahead(&reader->programs);
        lots.programs = reader->programs.at + reader->programs.read;
        if (order_turns(&lots)) code = ids_no_memory(err);
        if (!code) ids_parallel(lots.count + lots.program_count, take_turn, &lots);
        if (!code) reader->programs.read += lots.program_count;
        if (!code) code = take_lots(reader, &lots, ret_next, err);
    }
    for (size_t i = 0; i < lots.count; i++)
        if (lots.at[i].part) reader->sink->parts->free(lots.at[i].part);
    free(lots.turns);
    free(lots.at);
    return code;
}
