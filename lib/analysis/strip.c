#include "lib/analysis/strip.h"

#include <string.h>

static int64_t start_of(const struct ids_strip *strip, int cell) {
    return strip->start_ps + (int64_t)((__int128)(strip->end_ps - strip->start_ps) * cell / IDS_STRIP_CELLS);
}

void ids_strip_begin(struct ids_strip *strip, int64_t start_ps, int64_t end_ps) {
    memset(strip, 0, sizeof *strip);
    strip->start_ps = start_ps;
    strip->end_ps = end_ps;
    strip->cell_end_ps = start_of(strip, 1);
}

void ids_strip_spread(struct ids_strip *strip, enum ids_account account, int64_t from_ps, int64_t to_ps) {
    if (from_ps < strip->start_ps) from_ps = strip->start_ps;
    if (to_ps > strip->end_ps) to_ps = strip->end_ps;
    while (from_ps < to_ps) {
        while (strip->cell_end_ps <= from_ps) strip->cell_end_ps = start_of(strip, ++strip->cell + 1);
        int64_t until_ps = to_ps < strip->cell_end_ps ? to_ps : strip->cell_end_ps;
        strip->ps[strip->cell][account] += until_ps - from_ps;
        from_ps = until_ps;
    }
}

static char letter_of(const int64_t ps[IDS_ACCOUNT_COUNT]) {
    enum ids_account most[2] = {IDS_NO_ACCOUNT, IDS_NO_ACCOUNT}; /* of what runs, of what does not */
    int64_t sums[2] = {0, 0};
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        int idle = ids_account_is_idle((enum ids_account)a);
        sums[idle] += ps[a];
        if (ps[a] && (most[idle] == IDS_NO_ACCOUNT || ps[a] > ps[most[idle]])) most[idle] = (enum ids_account)a;
    }
    return ids_account_letter(most[sums[1] > sums[0]]);
}

void ids_strip_end(const struct ids_strip *strip, char ret_letters[IDS_STRIP_CELLS + 1]) {
    for (int cell = 0; cell < IDS_STRIP_CELLS; cell++) ret_letters[cell] = letter_of(strip->ps[cell]);
    ret_letters[IDS_STRIP_CELLS] = '\0';
}
