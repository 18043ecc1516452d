/* hlo_schedule.h - in which order a program's computations run their instructions (HloScheduleProto). */
#ifndef IDS_FORMATS_HLO_SCHEDULE_H
#define IDS_FORMATS_HLO_SCHEDULE_H

#include "lib/hlo/module.h"
#include "lib/wire/pb_wire.h"

/* Sets the place of each instruction of the computations that the schedule holds. The module is finished. A computation
 * whose order does not name each of its instructions once has no places. */
void ids_hlo_schedule_read(struct ids_pb bytes, struct ids_hlo_module *module);

#endif
