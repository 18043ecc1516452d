/* waste_advice.h - what to do about what only wastes: sentences for the kinds of the table `waste`. */
#ifndef IDS_ANALYZERS_WASTE_ADVICE_H
#define IDS_ANALYZERS_WASTE_ADVICE_H

#include "analyzers/remedies.h"
#include "lib/hlo/waste.h"
#include "lib/report/report.h"

/* Whether it is a collective that could be left out, or be smaller. */
static inline int ids_waste_is_collective(enum ids_waste waste) {
    return waste == IDS_WASTE_REPLICATED || waste == IDS_WASTE_GATHERED || waste == IDS_WASTE_REDUCED;
}

/* What is said of one kind may be true of some of its rows only (copies that change nothing, transposes). Each of
 * these sentences has a sum of its own. */
enum { IDS_WASTE_SENTENCES = 18 };

/* All rows of the table of which one sentence is true. */
struct ids_waste_sum {
    enum ids_waste waste;
    int64_t step_ps, saving_ps; /* a step, on a device; the saving is 0 where nothing is proved */
    int64_t count;
    double share; /* of device time */
    size_t rows;
    const char *op, *where, *why; /* of the row with most time in the steps; NULL unknown */
};

/* By sentence, those of one kind one after another; out of the report's table. */
void ids_waste_sums(const struct ids_report *report, struct ids_waste_sum sums[IDS_WASTE_SENTENCES]);

/* What stands in advice on it; NULL problem: nothing can be done there. `why` is that of the row, NULL unknown. */
struct ids_remedy ids_waste_remedy(enum ids_waste waste, const char *why, enum ids_framework framework,
                                   enum ids_device_kind platform);

#endif
