/* picture_making.h - makes a picture (picture.h) of a run while it is analysed: nothing is read again. */
#ifndef IDS_LIB_ANALYSIS_PICTURE_MAKING_H
#define IDS_LIB_ANALYSIS_PICTURE_MAKING_H

#include "lib/analysis/context.h"
#include "lib/analysis/picture.h"

struct ids_picture_making;

/* Begin before the ledger is made; end last, in any case, and with `make` 0 after a failure. */
int ids_picture_begin(const struct ids_analysis *analysis, struct ids_picture *picture,
                      struct ids_picture_making **ret_making, struct ids_ledger_visitor *ret_visitor,
                      struct ids_error *err);
int ids_picture_end(struct ids_picture_making *making, int make, struct ids_error *err);

#endif
