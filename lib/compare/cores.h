/* cores.h - what the machine's load makes of a program whose device are threads: those that lack cores make everything
 * longer, by what they waited for each moment that they ran.
 */
#ifndef IDS_LIB_COMPARE_CORES_H
#define IDS_LIB_COMPARE_CORES_H

#include "lib/compare/side.h"

/* A share of the time below which waiting for cores says nothing, and by how much computing must become longer for it
 * to be told. */
#define IDS_CORES_LEAST 0.2
#define IDS_CORES_OTHER 1.25
/* From this share on others have the cores for most of the time. */
#define IDS_CORES_NONE_FREE (2.0 / 3)

/* Which part of the time the device's threads had no core though they were ready, as a recording says it; NAN where it
 * does not. */
double ids_run_no_core(const struct ids_side_run *run);
/* The mean of a side's recordings; NAN where one does not say it. */
double ids_side_no_core(const struct ids_side *side);

/* By how much that alone makes computing longer on side b; 1 where it is not known or too little to be told. The way
 * back is 1 over it. */
double ids_cores_factor(double no_core_a, double no_core_b);

#endif
