/* hlo_groups.h - the messages that say who takes part in a collective (xla.ReplicaGroup, SourceTarget,
 * CollectiveDeviceListProto). They do not contain themselves and are small, so protobuf-c unpacks them, in memory
 * that is bounded and kept from one to the next. */
#ifndef IDS_FORMATS_HLO_GROUPS_H
#define IDS_FORMATS_HLO_GROUPS_H

#include "lib/hlo/replica_groups.h"
#include "lib/wire/pb_wire.h"

#include <protobuf-c/protobuf-c.h>

/* What protobuf-c works in: one block, used anew for each message. */
struct ids_hlo_pool {
    uint8_t *block;
    size_t size, used;
    int full;
    int starved; /* memory ran out, which is no fault of the file: stays */
};

struct ids_hlo_groups {
    struct ids_hlo_pool pool;
    struct ids_group_text text; /* its memory is had when the first group is read */
};

void ids_hlo_groups_done(struct ids_hlo_groups *groups);
/* Adds what one field of an instruction says to the text. 0, IDS_CORRUPT when the message is damaged or too large,
 * or IDS_NOMEM. */
int ids_hlo_groups_read(struct ids_hlo_groups *groups, const struct ids_pb_field *field);

#endif
