/* strip.h - a device's window as a row of letters: in equal cells, the account that most of each belongs to.
 *
 * Filled while the ledger is made, one device after the other, because the ledger keeps no intervals.
 */
#ifndef IDS_LIB_ANALYSIS_STRIP_H
#define IDS_LIB_ANALYSIS_STRIP_H

#include "lib/model/account.h"

#include <stdint.h>

enum { IDS_STRIP_CELLS = 240 };

/* Of one device, while its intervals come. */
struct ids_strip {
    int64_t start_ps, end_ps; /* of all cells */
    int cell;                 /* that the last interval ended in */
    int64_t cell_end_ps;
    int64_t ps[IDS_STRIP_CELLS][IDS_ACCOUNT_COUNT];
};

void ids_strip_begin(struct ids_strip *strip, int64_t start_ps, int64_t end_ps);
/* For an interval that is not whole inside the cell. */
void ids_strip_spread(struct ids_strip *strip, enum ids_account account, int64_t from_ps, int64_t to_ps);
/* Intervals come in order of time and do not overlap; what lies outside of the cells does not count. */
static inline void ids_strip_add(struct ids_strip *strip, enum ids_account account, int64_t from_ps, int64_t to_ps) {
    if (from_ps >= strip->start_ps && to_ps <= strip->cell_end_ps)
        strip->ps[strip->cell][account] += to_ps - from_ps;
    else
        ids_strip_spread(strip, account, from_ps, to_ps);
}
/* IDS_STRIP_CELLS letters (ids_account_letter) and a NUL; a space where nothing is booked. A cell in which the device
 * mostly does something shows the largest account of these, and one in which it mostly does not, the largest of those.
 */
void ids_strip_end(const struct ids_strip *strip, char ret_letters[IDS_STRIP_CELLS + 1]);

#endif
