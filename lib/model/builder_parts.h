/* builder_parts.h - what a builder is made of, for the files builder*.c. */
#ifndef IDS_LIB_MODEL_BUILDER_PARTS_H
#define IDS_LIB_MODEL_BUILDER_PARTS_H

#include "lib/base/idmap.h"
#include "lib/model/assemble.h"
#include "lib/model/builder.h"
#include "lib/model/calls.h"
#include "lib/model/counters.h"
#include "lib/model/device_pieces.h"
#include "lib/model/dimensions.h"
#include "lib/model/event_of_slice.h"
#include "lib/model/join.h"

struct ids_builder_plane {
    struct ids_host_plane as_host;
    uint32_t host;
    uint32_t device; /* IDS_NONE: a host's plane */
    uint8_t is_sampled;
    uint32_t sampling;             /* as ids_track.sampling */
    uint32_t first_name, first_op; /* what the trace had of them before the plane */
};

/* A track that is being read. Formats of one timeline after the other have one; others may have many. */
struct ids_open_track {
    uint32_t track;
    struct ids_assembly assembly;
    size_t last_op;         /* CPU: index + 1 of the op read last, whose end mostly comes next */
    int64_t task_op_ps;     /* CPU: when the first op of the thread's task began; INT64_MAX: none did */
    uint8_t in_task;        /* of a thread pool: since its StartRegion */
    uint64_t passing, kept; /* records in the assembly and of the track, as if they were held */
};

/* What the records would take if all were held. */
struct ids_held_records {
    uint64_t most_bytes; /* above it, all are let go */
    uint64_t bytes, peak_bytes;
    int overflowed;
    int64_t until_ps;                /* events from here on are counted only */
    uint64_t beyond;                 /* how many */
    int64_t first_ps, last_ps;       /* when the events of the run begin, those beyond too */
    _Atomic uint64_t lent;           /* of most_bytes, to parts; who takes a part over counts it anew */
    struct ids_held_records *lender; /* of a part: whose bytes it may hold, a little at a time */
};

enum { IDS_IDLE_PARTS = 16 }; /* of more threads some begin anew */

struct ids_builder {
    struct ids_sink sink; /* first, so that the sink is the builder */
    struct ids_trace *trace;
    struct ids_join join;
    struct ids_builder_plane *planes;
    size_t plane_count, plane_room;
    struct ids_open_track *open; /* in any order */
    size_t open_count, open_room;
    struct ids_assembly idle; /* empty */
    uint32_t *place_of_track; /* track -> its index in `open` */
    size_t place_count, place_room;
    struct ids_idmap host_names; /* text -> host */
    struct ids_dimensions dimensions;
    struct ids_calls calls;
    struct ids_counter_map counters;
    struct ids_held_records held;
    ids_file_fn *make_file;         /* for trace->far; NULL: the run is held in memory */
    uint64_t near_least;            /* bytes of whole hosts that are worth it */
    size_t near_device, near_track; /* those from here on are in memory, and not joined yet */
    uint64_t negative_durations, out_of_range;
    struct ids_device_pieces pieces;
    struct ids_asked asked;    /* of a part; dimensions.asked is NULL where it is none */
    struct ids_builder *whole; /* of a part */
    uint32_t first_track;      /* of a part: the number that its first track has in the whole */
    /* What parts that have ended read with: those that begin on the same threads take it over. */
    _Atomic(struct ids_assembly *) idle_of_parts[IDS_IDLE_PARTS];
};

/* What was held at most. Asked only before bytes become fewer, and at the end: each event is counted. */
static inline uint64_t ids_held_peak(const struct ids_held_records *held) {
    return held->bytes > held->peak_bytes ? held->bytes : held->peak_bytes;
}

/* Threads and streams of a whole run; half a gigabyte of memory for a damaged file. */
enum { IDS_TRACK_LIMIT = 1000000 };

/* The host that was begun last is whole: of it nothing more comes. Where whole hosts take memory that is worth a file,
 * they are joined, each for itself, and their events go there, where they keep their addresses; else that waits for the
 * end (ids_builder_finish). */
int ids_builder_end_host(struct ids_builder *builder, struct ids_error *err);
/* The sink's calls (builder_planes.c, builder_slices.c); a part takes the last three too. */
int ids_build_host(struct ids_sink *sink, const struct ids_host_info *info, struct ids_error *err);
int ids_build_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                    struct ids_error *err);
int ids_build_name(struct ids_sink *sink, const struct ids_name_info *info, uint32_t *ret_name, struct ids_error *err);
int ids_build_track(struct ids_sink *sink, const struct ids_track_info *info, uint32_t *ret_track,
                    struct ids_error *err);
int ids_build_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err);
int ids_build_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err);

/* Lets go what parts that have ended read with (builder_part.c). */
void ids_builder_idle_done(struct ids_builder *builder);
/* Parts of a builder's sink (builder_part.c). */
extern const struct ids_sink_parts ids_builder_parts;

#endif
