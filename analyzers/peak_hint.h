/* peak_hint.h - which device it may have been, where the profile does not say. */
#ifndef IDS_ANALYZERS_PEAK_HINT_H
#define IDS_ANALYZERS_PEAK_HINT_H

#include "analyzers/adviser.h"

/* How to give the peaks: "--device-kind TPU7x gives the shares of the peak: of the TPUs known here only it can do what
 * the ops did (1.35 PFLOP/s, 2.59 TB/s)". A guess is told as one, and no share is computed by it. Text of the
 * report. */
const char *ids_peak_hint(const struct ids_adviser *adviser);

#endif
