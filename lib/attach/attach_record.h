/* attach_record.h - idsprof-run.json of a capture that attached to running programs: who was asked when, by which
 * clocks, and what each gave. idsprof-collectors(7) names its fields. */
#ifndef IDS_LIB_ATTACH_ATTACH_RECORD_H
#define IDS_LIB_ATTACH_ATTACH_RECORD_H

#include "lib/attach/attach.h"

int ids_attach_record_write(const struct ids_attach_plan *plan, const struct ids_attach *attach, struct ids_error *err);

#endif
