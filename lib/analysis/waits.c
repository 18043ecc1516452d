/* waits.c - for whom devices waited in collectives, and what those did meanwhile. */
#include "lib/analysis/booking.h"
#include "lib/analysis/late.h"

#include "lib/base/parallel.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "rank 1: host.python load (loader.py:88)", who and what it did. */
static int64_t make_entry_of_wait(struct ids_booking *booking, uint32_t awaited, uint32_t cause, int is_host) {
    const struct ids_analysis *analysis = booking->analysis;
    struct ids_ledger *ledger = booking->ledger;
    char did[512];
    int length = 0;
    if (cause != IDS_NONE) {
        const struct ids_ledger_entry *entry = &ledger->entries[cause];
        const char *culprit = ids_strings_z(&ledger->texts, entry->culprit);
        const char *where = ids_strings_z(&ledger->texts, entry->where);
        const int is_work = entry->account == IDS_WORK_COMPUTE; /* which op is no cause */
        length = snprintf(did, sizeof did, "%s%s%.200s%s%.200s%s", ids_account_id((enum ids_account)entry->account),
                          !is_work && *culprit ? " " : "", is_work ? "" : culprit, !is_work && *where ? " (" : "",
                          is_work ? "" : where, !is_work && *where ? ")" : "");
    }
    const char *name = is_host ? ids_late_name(analysis, awaited, &booking->names)
                               : ids_rank_name(analysis->trace, analysis->busy[awaited].device, &booking->names);
    if (!name) return -1;
    int64_t number = ids_booking_entry(booking, IDS_COMM_WAIT, (struct ids_text){name, (uint32_t)strlen(name)},
                                       (struct ids_text){did, (uint32_t)length});
    if (number < 0) return -1;
    ledger->entries[number].awaited = awaited;
    ledger->entries[number].cause = cause;
    return number;
}

/* Between hosts the whole host may be who is late; inside of one it is the device. */
static int64_t entry_of_wait(struct ids_booking *booking, const struct ids_wait *wait, uint32_t cause) {
    int is_host = ids_is_between_hosts(wait->meeting) && ids_late_how(booking->ledger, wait->awaited) != IDS_LATE_ALONE;
    uint32_t awaited = is_host ? ids_late_as(booking->ledger, wait->awaited) : wait->awaited;
    uint64_t *known = ids_keymap_at(&booking->entry_of_wait, ids_key_of(ids_key_of(awaited, cause), (uint64_t)is_host));
    if (!known) return -1;
    if (!*known) {
        int64_t made = make_entry_of_wait(booking, awaited, cause, is_host);
        if (made < 0) return -1;
        *known = (uint64_t)made + 1;
    }
    return (int64_t)*known - 1;
}

static int sum_awaited(struct ids_booking *booking, const struct ids_wait *wait) {
    struct ids_ledger *ledger = booking->ledger;
    if (!ids_wait_counts(booking, wait) || wait->device >= booking->analysis->chosen_count) return 0;
    uint64_t *number = ids_keymap_at(&booking->awaited_numbers, ids_key_of(wait->step, wait->awaited));
    if (!number) return -1;
    if (!*number) {
        struct ids_awaited *fresh = IDS_PUSH(ledger->awaited, ledger->awaited_count, ledger->awaited_room);
        if (!fresh) return -1;
        *fresh = (struct ids_awaited){.step = wait->step, .device = wait->awaited};
        *number = ledger->awaited_count;
    }
    ids_sum(&ledger->awaited[*number - 1].ps, wait->to_ps - wait->from_ps);
    return 0;
}

/* What the awaited devices did meanwhile: entries that were there before any wait is booked. */
struct causes {
    const struct ids_booking *booking;
    uint32_t *of_wait;
};
enum { WAITS_AT_A_TIME = 4096 };

static void find_causes(void *context, size_t lot) {
    const struct causes *causes = context;
    const struct ids_booking *booking = causes->booking;
    size_t end = (lot + 1) * WAITS_AT_A_TIME;
    for (size_t w = lot * WAITS_AT_A_TIME; w < end && w < booking->wait_count; w++) {
        const struct ids_wait *wait = &booking->waits[w];
        causes->of_wait[w] = ids_past_why_late(&booking->past[wait->awaited], &booking->past[wait->device],
                                               booking->ledger, wait->from_ps, wait->to_ps);
    }
}

/* What the device that is booked waited in each step for others that computed for longer. */
struct uneven {
    int64_t *own_ps; /* by step, as ledger->uneven_ps */
    size_t count;
};

static void sum_uneven(const struct ids_booking *booking, const struct ids_wait *wait, uint32_t cause,
                       struct uneven *uneven) {
    const struct ids_ledger *ledger = booking->ledger;
    if (cause == IDS_NONE || ledger->entries[cause].account != IDS_WORK_COMPUTE) return;
    if (ids_wait_counts(booking, wait))
        ids_sum(&uneven->own_ps[booking->counts_steps ? wait->step : 0], wait->to_ps - wait->from_ps);
}

static void end_uneven(struct ids_ledger *ledger, struct uneven *uneven) {
    for (size_t s = 0; s < uneven->count; s++) {
        if (uneven->own_ps[s] > ledger->uneven_ps[s]) ledger->uneven_ps[s] = uneven->own_ps[s];
        uneven->own_ps[s] = 0;
    }
}

static int book_wait(struct ids_booking *booking, const struct ids_wait *wait, uint32_t cause, struct ids_error *err) {
    int64_t entry = entry_of_wait(booking, wait, cause);
    struct ids_ledger_interval interval = {.from_ps = wait->from_ps,
                                           .to_ps = wait->to_ps,
                                           .busy = wait->device,
                                           .step = wait->step,
                                           .entry = (uint32_t)entry,
                                           .state = wait->state,
                                           .account = IDS_COMM_WAIT,
                                           .known = wait->known};
    if (entry < 0 || ids_book_entry(booking, &interval, wait->place) || sum_awaited(booking, wait))
        return ids_no_memory(err);
    if (booking->visitor)
        booking->visitor->entry(booking->visitor->context, wait->device, wait->visited, (uint32_t)entry);
    return 0;
}

static int book_waits(struct ids_booking *booking, const uint32_t *cause_of_wait, struct uneven *uneven,
                      struct ids_error *err) {
    int code = 0;
    for (size_t w = 0; w < booking->wait_count && !code; w++) {
        const struct ids_wait *wait = &booking->waits[w];
        if (w && wait->device != booking->waits[w - 1].device) {
            end_uneven(booking->ledger, uneven);
            code = ids_booking_end_device(booking, err);
        }
        booking->device = wait->device;
        booking->steps = ids_booking_steps(booking, wait->device);
        sum_uneven(booking, wait, cause_of_wait[w], uneven);
        if (!code) code = book_wait(booking, wait, cause_of_wait[w], err);
    }
    end_uneven(booking->ledger, uneven);
    return code ? code : ids_booking_end_device(booking, err);
}

int ids_book_waits(struct ids_booking *booking, struct ids_error *err) {
    if (!booking->wait_count) return 0;
    struct causes causes = {.booking = booking, .of_wait = malloc((booking->wait_count + 1) * sizeof *causes.of_wait)};
    struct uneven uneven = {.count = booking->analysis->steps.count + 1};
    uneven.own_ps = calloc(uneven.count, sizeof *uneven.own_ps);
    booking->ledger->uneven_ps = calloc(uneven.count, sizeof *uneven.own_ps);
    int failed = !causes.of_wait || !uneven.own_ps || !booking->ledger->uneven_ps || ids_late_make(booking);
    if (!failed) ids_parallel((booking->wait_count + WAITS_AT_A_TIME - 1) / WAITS_AT_A_TIME, find_causes, &causes);
    int code = failed ? ids_no_memory(err) : book_waits(booking, causes.of_wait, &uneven, err);
    free(causes.of_wait);
    free(uneven.own_ps);
    return code;
}
