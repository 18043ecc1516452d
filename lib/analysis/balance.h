/* balance.h - who waits for whom: how long each device waited for its peers and they for it, and whether the straggler
 * is always the same: a device, or a host whose devices come late together (late.h).
 *
 * All figures are sums of the ledger's account comm.wait (ledger.h): in the steps if there are steps, else in the
 * windows. Waiting for an unknown device counts as suffered, and as caused by nobody.
 */
#ifndef IDS_LIB_ANALYSIS_BALANCE_H
#define IDS_LIB_ANALYSIS_BALANCE_H

#include "lib/analysis/context.h"

struct ids_device_balance {
    int64_t suffered_ps, caused_ps; /* waited for others, and by all others for it */
    size_t steps;                   /* in which it was waited for the longest */
};

/* The same of all who come late as one, at the device that stands for them (ids_late_as). */
struct ids_late_balance {
    int64_t caused_ps;
    size_t steps;
};

struct ids_balance {
    struct ids_device_balance *of_device; /* by analysis->busy */
    struct ids_late_balance *of_late;     /* the same */
    int64_t waited_ps;                    /* by all, for those who are known */
    size_t steps;                         /* in which the waiting is worth a word: 1 % of the step or more */
    size_t together;                      /* steps in which two devices or more take part */
    uint32_t straggler; /* who was waited for longest, index of analysis->busy as ids_late_as; IDS_NONE: nobody */
};

int ids_balance_make(const struct ids_analysis *analysis, struct ids_balance *ret_balance, struct ids_error *err);
void ids_balance_done(struct ids_balance *balance);

/* Whether the straggler is mostly the same from step to step: in three of four. Without steps nothing is known of
 * that. */
static inline int ids_balance_is_steady(const struct ids_balance *balance) {
    return balance->steps && balance->of_late[balance->straggler].steps * 4 >= balance->steps * 3;
}

/* How the straggler is: "steady" where it is the same one in three of four of all steps, "now and then" where it is the
 * same one whenever one comes late, which is more seldom, else "changing". */
static inline const char *ids_balance_manner(const struct ids_balance *balance) {
    if (!ids_balance_is_steady(balance)) return "changing";
    return balance->of_late[balance->straggler].steps * 4 >= balance->together * 3 ? "steady" : "now and then";
}

#endif
