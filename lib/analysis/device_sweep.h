/* device_sweep.h - one device's time from its first moment to its last, cut where what it does changes. */
#ifndef IDS_LIB_ANALYSIS_DEVICE_SWEEP_H
#define IDS_LIB_ANALYSIS_DEVICE_SWEEP_H

#include "lib/analysis/context.h"

/* A stretch of time in which a device does one thing. */
struct ids_stretch {
    int64_t from_ps, to_ps;
    const struct ids_event *event; /* what counts of all that runs: see ids_sweep_rank; NULL where nothing does */
    uint16_t state;                /* of enum ids_device_state, without IDS_IS_IN_WINDOW */
    uint8_t rank;                  /* enum ids_sweep_rank of the event */
    /* Where it is not busy: since when, until when, and what comes next (NULL: nothing does). */
    int64_t gap_from_ps, gap_to_ps;
    const struct ids_event *previous, *next;
};

/* What counts before what. */
enum ids_sweep_rank {
    IDS_RANK_COMPUTE,
    IDS_RANK_COLLECTIVE,
    IDS_RANK_H2D,
    IDS_RANK_D2H,
    IDS_RANK_D2D,
    IDS_RANK_P2P,
    IDS_RANK_SET,
    IDS_RANK_OTHER_COPY,
    IDS_RANK_BARRIER, /* a core waits for its peers */
    IDS_RANK_STALL,
    IDS_RANK_CONTAINER, /* a loop of a CPU, where none of its body's ops runs on another thread */
    IDS_RANK_COUNT,
    IDS_RANK_IDLE = IDS_RANK_COUNT
};

/* Room that serves one device after the other: a trace may have as many tracks as devices. */
struct ids_sweep_room;
int ids_sweep_room_new(const struct ids_analysis *analysis, struct ids_sweep_room **ret_room, struct ids_error *err);
void ids_sweep_room_free(struct ids_sweep_room *room);

/* Calls for each stretch of [from, to) in order of time, stretches of nothing too. */
int ids_sweep_device(struct ids_sweep_room *room, const struct ids_busy *busy, int64_t from_ps, int64_t to_ps,
                     int (*visit)(void *context, const struct ids_stretch *stretch, struct ids_error *err),
                     void *context, struct ids_error *err);

#endif
