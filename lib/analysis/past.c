#include "lib/analysis/past.h"

#include "lib/base/saturate.h"
#include "lib/base/search.h"
#include "lib/base/vec.h"

#include <stdlib.h>

static int is_meeting(const struct ids_ledger *ledger, uint32_t entry) {
    return entry == IDS_NONE || ids_is_of_meetings(ledger->entries[entry].account);
}

static int is_work(const struct ids_ledger *ledger, uint32_t entry) {
    return entry != IDS_NONE && ledger->entries[entry].account == IDS_WORK_COMPUTE;
}

static uint32_t entry_of(const struct ids_ledger_interval *interval) {
    return interval->account == IDS_COMM_WAIT ? IDS_NONE : interval->entry;
}

/* Whether the device goes on with what its past has last. */
static int goes_on(const struct ids_past *past, const struct ids_ledger_interval *interval) {
    uint8_t account = interval->account, last = past->last;
    if (!past->count) return 0;
    if (account == IDS_WORK_COMPUTE && last == IDS_WORK_COMPUTE) return 1; /* which op is no cause */
    return past->at[past->count - 1].entry == entry_of(interval);
}

int ids_past_add_long(struct ids_past *past, const struct ids_ledger_interval *interval) {
    if (goes_on(past, interval)) return 0;
    struct ids_past_piece *piece = IDS_PUSH(past->at, past->count, past->room);
    if (!piece) return -1;
    *piece = (struct ids_past_piece){interval->from_ps, entry_of(interval)};
    past->last = interval->account;
    return 0;
}

void ids_past_done(struct ids_past *past) {
    free(past->at);
}

/* The piece of a past at that moment, or the first one behind it. */
static size_t piece_at(const struct ids_past *past, int64_t when_ps) {
    size_t low = IDS_COUNT_UP_TO(past->at, past->count, from_ps, when_ps);
    return low ? low - 1 : 0;
}

/* Times by entry. All compute is one: which op is no cause. */
enum { KINDS = 64 };
struct tally {
    struct {
        uint32_t entry;
        int64_t ps;
    } at[KINDS];
    size_t count;
};

/* Adds what a device did in [from, to), `sign` times. What there is no room for is left out: the main one is among
 * the first. */
static void add_past(const struct ids_ledger *ledger, const struct ids_past *past, int64_t from_ps, int64_t to_ps,
                     int sign, struct tally *tally) {
    for (size_t i = piece_at(past, from_ps); i < past->count && past->at[i].from_ps < to_ps; i++) {
        int64_t begin_ps = past->at[i].from_ps > from_ps ? past->at[i].from_ps : from_ps;
        int64_t end_ps = i + 1 < past->count && past->at[i + 1].from_ps < to_ps ? past->at[i + 1].from_ps : to_ps;
        if (past->at[i].entry == IDS_NONE || end_ps <= begin_ps) continue; /* it waited itself */
        size_t k = 0;
        while (k < tally->count && tally->at[k].entry != past->at[i].entry &&
               !(is_work(ledger, tally->at[k].entry) && is_work(ledger, past->at[i].entry)))
            k++;
        if (k == KINDS) continue;
        if (k == tally->count) {
            tally->at[k].entry = past->at[i].entry;
            tally->at[k].ps = 0;
            tally->count++;
        }
        ids_sum(&tally->at[k].ps, sign * (end_ps - begin_ps));
    }
}

/* When a device left the last collective before that moment; since then it is on its own. */
static int64_t left_last(const struct ids_ledger *ledger, const struct ids_past *past, int64_t when_ps) {
    for (size_t i = piece_at(past, when_ps); i-- > 0 && i < past->count;) {
        if (is_meeting(ledger, past->at[i].entry)) return past->at[i + 1].from_ps;
    }
    return past->count ? past->at[0].from_ps : when_ps;
}

uint32_t ids_past_why_late(const struct ids_past *late, const struct ids_past *waiting, const struct ids_ledger *ledger,
                           int64_t from_ps, int64_t to_ps) {
    int64_t since_ps = left_last(ledger, waiting, from_ps);
    struct tally tally = {.count = 0};
    for (int meanwhile = 0; meanwhile < 2; meanwhile++) {
        tally.count = 0;
        add_past(ledger, late, meanwhile ? from_ps : since_ps, to_ps, 1, &tally);
        if (!meanwhile) add_past(ledger, waiting, since_ps, from_ps, -1, &tally);
        size_t most = 0;
        for (size_t k = 1; k < tally.count; k++) {
            if (tally.at[k].ps > tally.at[most].ps) most = k;
        }
        if (tally.count && tally.at[most].ps > 0) return tally.at[most].entry;
    }
    return IDS_NONE;
}
