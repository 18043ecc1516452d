/* run_figures.h - the figures of a run that are kept over many runs (lib/report/series.h): the headline, the ledger's
 * accounts, culprits on the host, named scopes, ops and kernels. */
#ifndef IDS_LIB_COMPARE_RUN_FIGURES_H
#define IDS_LIB_COMPARE_RUN_FIGURES_H

#include "lib/compare/side.h"
#include "lib/report/series.h"

/* Of less than this share of a step (or the window) only what the series has already. */
#define IDS_FIGURE_LEAST 0.001

/* Adds the run of a settled side, its only one, with its figures to the series. `head` is what is known of it. */
int ids_run_figures(const struct ids_side *side, const struct ids_series_run *head, struct ids_series *series,
                    struct ids_error *err);

#endif
