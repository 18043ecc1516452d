/* scale.h - the same program on 1, 2, 4, 8 devices: how much faster it is, and where the rest went.
 *
 * Strong scaling: the same work on more devices; ideally a step takes n0/n of the time of the first configuration. Weak
 * scaling: work grows with the devices; ideally a step takes the same time. The loss is the step's time minus the ideal
 * time, and each account's loss is its time minus its own ideal. The accounts sum to the loss, because they sum to the
 * step.
 */
#ifndef IDS_LIB_COMPARE_SCALE_H
#define IDS_LIB_COMPARE_SCALE_H

#include "lib/compare/comparability.h"
#include "lib/compare/difference.h"

enum ids_scaling { IDS_SCALING_GUESS, IDS_SCALING_STRONG, IDS_SCALING_WEAK };

struct ids_scale_point {
    const struct ids_side *side;
    double devices;
    double step_ps, ideal_ps;
    double speedup, efficiency;                                     /* against the first; efficiency 1 is ideal */
    double loss_ps;                                                 /* step - ideal */
    double parts_ps[IDS_ACCOUNT_COUNT], lost_ps[IDS_ACCOUNT_COUNT]; /* by account: of a step; of the loss */
    struct ids_culprit culprits[IDS_ACCOUNT_COUNT];                 /* who lost most of it */
    double remainder_ps; /* of the loss, what the parts do not explain (rounding) */
};

struct ids_scale {
    struct ids_scale_point *at; /* fewest devices first */
    size_t count;
    enum ids_scaling scaling;
    const char *method;
    const char *guessed_by; /* in words; NULL: it was given */
    struct ids_remarks remarks;
    struct ids_report report;
};

/* The sides are settled; `devices` of each, 0: as recorded; `method` is what they are recordings of, or "".
 * IDS_UNSUPPORTED without steps. */
int ids_scale_make(const char *method, const struct ids_side *const *sides, const double *devices, size_t count,
                   enum ids_scaling scaling, struct ids_scale *ret_scale, struct ids_error *err);
/* Whether any of the runs has time in that account. */
int ids_scale_has(const struct ids_scale *scale, int account);
void ids_scale_done(struct ids_scale *scale);

extern const struct ids_table_def *const ids_scale_tables[];
extern const int ids_scale_table_count;

#endif
