/* waste.h - ops that only waste time, as their names and their order on the device show it (lib/hlo/waste.h knows what
 * the program's graph shows). */
#ifndef IDS_LIB_MODEL_WASTE_H
#define IDS_LIB_MODEL_WASTE_H

#include "lib/hlo/waste.h"
#include "lib/model/trace.h"

/* Sets ids_op.waste of the ops that have none yet. Devices are in order of time, and ops have their names. 0, or -1
 * when memory ran out. */
int ids_wastes_find(struct ids_trace *trace);

/* Whether an event's time counts as its op's waste: a copy between memories belongs to the copies, wherever it was
 * called. */
static inline int ids_is_wasted(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->op == IDS_NONE || !trace->ops[event->op].waste) return 0;
    return event->class == IDS_CLASS_COMPUTE || event->class == IDS_CLASS_COLLECTIVE ||
           trace->ops[event->op].waste == IDS_WASTE_SERIAL;
}

#endif
