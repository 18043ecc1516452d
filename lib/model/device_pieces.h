/* device_pieces.h - events of devices as tracks end with them, until all of a run are there.
 *
 * A track of a stream brings a piece of one device, a thread of XLA's CPU client one of each device that it ran ops of.
 * At the end it is known how many events each device has: each is then copied once, by several threads, and comes into
 * the order of time by that.
 */
#ifndef IDS_LIB_MODEL_DEVICE_PIECES_H
#define IDS_LIB_MODEL_DEVICE_PIECES_H

#include "lib/base/slab.h"
#include "lib/model/part_numbers.h"

struct ids_device_piece {
    uint32_t device;
    uint32_t list; /* enum ids_device_list */
    size_t number; /* in the order in which they came */
    struct ids_events events;
    struct ids_slab *slab;                  /* that they lie in; NULL: memory of their own */
    size_t taken;                           /* of them, when they are put together */
    const struct ids_part_numbers *numbers; /* that its events get then; NULL: they have them */
};

struct ids_device_pieces {
    struct ids_device_piece *at;
    size_t count, room;
    struct ids_device_share {
        size_t count, place;
    } * shares; /* by device, of the track that is divided: how many events, and the index of its piece + 1 */
    size_t share_room;
    struct ids_part_numbers **numbers; /* of pieces of parts */
    size_t number_count, number_room;
};

void ids_device_pieces_done(struct ids_device_pieces *pieces);
/* Takes the events over. 0, or -1 when memory ran out. */
int ids_device_pieces_add(struct ids_device_pieces *pieces, uint32_t device, enum ids_device_list list,
                          struct ids_events *events);
/* Takes all over that a part has, which is empty then, and the numbers. 0, or -1 when memory ran out. */
int ids_device_pieces_take(struct ids_device_pieces *pieces, struct ids_device_pieces *part,
                           struct ids_part_numbers *numbers);
/* Takes the ops that name a device out of a thread's events; *ret_staying are the others, which come first then,
 * and whose kinds are those of the list. 0, or -1 when memory ran out. */
int ids_device_pieces_divide(struct ids_device_pieces *pieces, size_t device_count, struct ids_events *events,
                             size_t *ret_staying);
/* Gives all to their devices, by when they begin, where they were in order; the pieces are gone then. */
int ids_device_pieces_join(struct ids_device_pieces *pieces, struct ids_trace *trace, struct ids_error *err);

#endif
