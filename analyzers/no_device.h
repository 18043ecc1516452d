/* no_device.h - what the program did in a window in which no device did anything, as far as its threads show it. */
#ifndef IDS_ANALYZERS_NO_DEVICE_H
#define IDS_ANALYZERS_NO_DEVICE_H

#include "lib/analysis/context.h"

/* Adds the piece of advice that says it, where there is anything to say. */
int ids_no_device_advise(const struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err);

#endif
