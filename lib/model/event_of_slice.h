/* event_of_slice.h - what a slice, as a file has it, is in the model: its kind and class, what it launches or was
 * launched by, its op, its shape, the bytes that it moves. */
#ifndef IDS_LIB_MODEL_EVENT_OF_SLICE_H
#define IDS_LIB_MODEL_EVENT_OF_SLICE_H

#include "lib/model/dimensions.h"
#include "lib/model/facts.h"

/* The event has its times, track, name and, on a host, the kind of its name; what the facts say is added. 0, or
 * IDS_NOMEM. */
int ids_device_event(struct ids_dimensions *dimensions, const struct ids_track *track, const struct ids_slice *slice,
                     const struct ids_facts *facts, struct ids_event *event, struct ids_error *err);

struct ids_host_plane {
    uint32_t plane, name;
    uint32_t step_name; /* of steps that bear their number in their name; IDS_NONE until one was met */
};
/* Kind OTHER: it is counted only. */
int ids_host_event(struct ids_dimensions *dimensions, struct ids_host_plane *plane, const struct ids_facts *facts,
                   struct ids_event *event, struct ids_error *err);

#endif
