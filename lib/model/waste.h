/* waste.h - ops that only waste time, as their names and their order on the device show it (lib/hlo/waste.h knows what
 * the program's graph shows). */
#ifndef IDS_LIB_MODEL_WASTE_H
#define IDS_LIB_MODEL_WASTE_H

#include "lib/hlo/waste.h"
#include "lib/model/trace.h"

/* Sets ids_op.waste of the ops that have none yet. Devices are in order of time, and ops have their names. 0, or -1
 * when memory ran out. */
int ids_wastes_find(struct ids_trace *trace);

/* Of what moves fewer bytes than these nothing could be saved by moving less: it takes as long as any small op. */
enum { IDS_MOVES_LITTLE = 1024 };
static inline int ids_moves_little(const struct ids_op *op) {
    return op->result_bytes >= 0 && op->result_bytes < IDS_MOVES_LITTLE;
}

/* Whether an event's time counts as its op's waste: a copy between memories belongs to the copies, wherever it was
 * called. One within the device's memory is what a kernel that copies is. */
static inline int ids_is_wasted(const struct ids_trace *trace, const struct ids_event *event) {
    uint8_t waste = event->op == IDS_NONE ? (uint8_t)IDS_NO_WASTE : trace->ops[event->op].waste;
    if (!waste) return 0;
    if (event->class == IDS_CLASS_COPY && event->direction == IDS_D2D && waste == IDS_WASTE_LAYOUT) return 1;
    return event->class == IDS_CLASS_COMPUTE || event->class == IDS_CLASS_COLLECTIVE || waste == IDS_WASTE_SERIAL;
}

#endif
