/* even_work.h - whether all devices do the same: then one that takes longer is slower, and has no more work. */
#ifndef IDS_LIB_ANALYSIS_EVEN_WORK_H
#define IDS_LIB_ANALYSIS_EVEN_WORK_H

#include "lib/analysis/context.h"

/* Whether every device computed the same ops equally often (in the steps, where there are steps, else in its window):
 * by what they compute, or by their names and shapes. 0 too where either is not known of some work. */
int ids_work_is_even(const struct ids_analysis *analysis);

#endif
