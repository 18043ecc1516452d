/* assemble.h - sorts the events of one track by start, longer ones first, and computes parents, self times and sums per
 * name.
 *
 * Every event of a file passes through here once; only the kept ones leave as records. */
#ifndef IDS_LIB_MODEL_ASSEMBLE_H
#define IDS_LIB_MODEL_ASSEMBLE_H

#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/model/trace.h"

/* What is held of every event until its track ends. */
struct ids_passing {
    int64_t start_ps, duration_ps;
    uint32_t name;
    uint32_t kept; /* index in the track's events; IDS_NONE when only counted; IDS_CALL_MARK and a number of calls.h */
};

struct ids_calls;

struct ids_assembly {
    struct ids_calls *calls; /* NULL: the track has no ops of a framework */
    struct ids_passing *at;
    size_t count, room;
    int unordered;             /* 1 once an event came before an earlier one */
    struct ids_passing *spare; /* for sorting */
    size_t spare_room;
    struct ids_open_event *stack;
    size_t depth, stack_room;
    struct ids_events records; /* none: room for those of the next track */
    uint64_t awaited;          /* link of the moment with which the thread began to wait; 0 none */
    int64_t awaited_ps;        /* when that moment's event ended */
    struct ids_moments {
        int64_t *at;
        size_t count, room;
    } launches;                  /* when the track's thread launched work, in time order */
    struct ids_keymap regions;   /* of the track, by name + 1: how long those are that launch */
    int64_t program_ps;          /* what takes that long is nearly all that the thread does; 0: no region does */
    uint32_t *aggregate_of_name; /* index + 1 in trace->aggregates, valid where that is of the current track */
    size_t aggregate_room;
};

void ids_assembly_done(struct ids_assembly *assembly);
/* Takes over what records that are no longer there lay in, for those of the next track: of a thread of XLA's CPU client
 * nearly all of them go to a device. */
void ids_assembly_keep_room(struct ids_assembly *assembly, struct ids_events *records);
/* Takes over the buffers for the end of a track from an assembly that has ended one. So tracks that are read at the
 * same time share them: separate buffers for 8,000 devices, each with an entry per name, cost a second and 256 MB. */
void ids_assembly_inherit(struct ids_assembly *assembly, struct ids_assembly *ended);
static inline int ids_passing_before(const struct ids_passing *a, const struct ids_passing *b) {
    return a->start_ps != b->start_ps ? a->start_ps < b->start_ps : a->duration_ps > b->duration_ps;
}

/* Adds an event of the track that is being read. Returns 0, or -1 when memory ran out. */
static inline int ids_assembly_add(struct ids_assembly *assembly, const struct ids_passing *passing) {
    if (assembly->count && ids_passing_before(passing, &assembly->at[assembly->count - 1])) assembly->unordered = 1;
    struct ids_passing *next = IDS_PUSH(assembly->at, assembly->count, assembly->room);
    if (!next) return -1;
    *next = *passing;
    return 0;
}
/* Ends the track: afterwards track->events is in order with self times set, thread pool tasks are whole (REGION), a
 * host thread has its timeline of doings, aggregates are counted, and the assembly is empty. */
int ids_assembly_finish(struct ids_assembly *assembly, struct ids_trace *trace, uint32_t track, struct ids_error *err);

#endif
