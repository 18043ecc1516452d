/* event_order.h - the order of kept records, and what lies in what. */
#ifndef IDS_LIB_MODEL_EVENT_ORDER_H
#define IDS_LIB_MODEL_EVENT_ORDER_H

#include "lib/model/trace.h"

/* Orders records by start, longer first; a merge of the runs that are already in order. */
int ids_events_sort(struct ids_events *events, struct ids_error *err);
/* Sets the parent of each record of a host thread, which is in order. */
int ids_events_set_parents(struct ids_events *events, struct ids_error *err);
/* Both for all records of the devices and tracks from these on, by several threads; those of a device that was found at
 * another place have its number then. */
int ids_events_order_from(struct ids_trace *trace, size_t first_device, size_t first_track, struct ids_error *err);

#endif
