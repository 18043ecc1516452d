/* ledger_making.c - one sweep over each device books its time. */
#include "lib/analysis/booking.h"

#include "lib/analysis/participants.h"
#include "lib/base/parallel.h"

#include <stdlib.h>

/* Nobody meets where there is one device, or none of them has a collective. */
static int prepare_meetings(struct ids_booking *booking, struct ids_error *err) {
    const struct ids_analysis *analysis = booking->analysis;
    if (analysis->busy_count < 2) return 0;
    int code = ids_meetings_of(analysis->trace, &booking->ledger->meetings, err);
    if (code || !booking->ledger->meetings.count) return code;
    booking->past = calloc(analysis->busy_count, sizeof *booking->past);
    booking->busy_of = calloc(analysis->trace->device_count, sizeof *booking->busy_of);
    if (!booking->past || !booking->busy_of) return ids_no_memory(err);
    for (size_t b = 0; b < analysis->busy_count; b++) booking->busy_of[analysis->busy[b].index] = (uint32_t)b;
    return 0;
}

static enum ids_lacking lacking_of(const struct ids_trace *trace, const struct ids_meetings *meetings) {
    const struct ids_ranks ranks = ids_ranks_of(trace);
    if (ranks.read < ranks.all) return IDS_LACKS_RANKS;
    if (!trace->complete) return IDS_LACKS_DATA;
    if (meetings->is_apart) return IDS_LACKS_CLOCK;
    return meetings->lacks_members ? IDS_LACKS_MEMBERS : IDS_LACKS_NOBODY;
}

/* Who meets whom, and what host threads did: two that know nothing of each other. */
struct preparing {
    struct ids_booking *booking;
    struct {
        int code;
        struct ids_error err;
    } of[2];
};

static void prepare_one(void *context, size_t i) {
    struct preparing *preparing = context;
    struct ids_booking *booking = preparing->booking;
    struct ids_error *err = &preparing->of[i].err;
    preparing->of[i].code =
        i ? ids_host_time_new(booking->analysis, &booking->host_time, err) : prepare_meetings(booking, err);
}

static int prepare(struct ids_booking *booking, struct ids_error *err) {
    struct preparing preparing = {.booking = booking, .of = {{.err = IDS_ERROR_INIT}, {.err = IDS_ERROR_INIT}}};
    ids_parallel_events(booking->analysis->trace->event_count, 2, prepare_one, &preparing);
    for (int i = 1; i >= 0; i--)
        if (preparing.of[i].code) return ids_error_pass(err, &preparing.of[i].err);
    return 0;
}

/* What holds up work that is launched, a file seldom says; what the host does meanwhile often is the same cause. */
static int say_meanwhile(struct ids_booking *booking, struct ids_error *err) {
    struct ids_ledger *ledger = booking->ledger;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->account != IDS_DEVICE_QUEUE || !entry->longest_ps) continue;
        struct ids_text text =
            ids_host_time_meanwhile(booking->host_time, &booking->analysis->busy[entry->longest_device],
                                    entry->longest_at_ps, entry->longest_at_ps + entry->longest_ps);
        entry->meanwhile = ids_intern(&ledger->texts, text.length ? text.at : "", text.length);
        if (entry->meanwhile == IDS_NO_TEXT) return ids_no_memory(err);
    }
    return 0;
}

static int share_before(const void *a, const void *b) {
    const struct ids_entry_share *left = a, *right = b;
    if (left->device != right->device) return left->device < right->device ? -1 : 1;
    return (left->entry > right->entry) - (left->entry < right->entry);
}

static void order_shares(struct ids_ledger *ledger, size_t devices) {
    if (ledger->share_count) qsort(ledger->shares, ledger->share_count, sizeof *ledger->shares, share_before);
    size_t share = 0;
    for (size_t device = 0; device <= devices; device++) {
        while (share < ledger->share_count && ledger->shares[share].device < device) share++;
        ledger->first_share[device] = share;
    }
}

static int make_room(struct ids_analysis *analysis) {
    struct ids_ledger *ledger = &analysis->ledger;
    size_t steps = 0, devices = analysis->busy_count;
    ledger->first_step = calloc(devices + 1, sizeof *ledger->first_step);
    ledger->first_share = calloc(devices + 1, sizeof *ledger->first_share);
    ledger->in_window = calloc(devices + 1, sizeof *ledger->in_window);
    ledger->idle = calloc(devices + 1, sizeof *ledger->idle);
    ledger->both_ways_ps = calloc(devices + 1, sizeof *ledger->both_ways_ps);
    ledger->strips = calloc(devices + 1, IDS_STRIP_CELLS + 1);
    if (!ledger->first_step || !ledger->first_share || !ledger->both_ways_ps || !ledger->in_window || !ledger->idle ||
        !ledger->strips)
        return -1;
    for (size_t b = 0; b < devices; b++) {
        ledger->first_step[b] = steps;
        if (analysis->steps.of_device) steps += analysis->steps.of_device[analysis->busy[b].index].count;
    }
    ledger->first_step[devices] = steps;
    ledger->in_step = calloc(steps + 1, sizeof *ledger->in_step);
    return ledger->in_step ? 0 : -1;
}

int ids_ledger_make(struct ids_analysis *analysis, const struct ids_ledger_visitor *visitor, ids_swept_fn *swept,
                    struct ids_error *err) {
    struct ids_ledger *ledger = &analysis->ledger;
    struct ids_booking booking = {.analysis = analysis,
                                  .ledger = ledger,
                                  .visitor = visitor,
                                  .by_step = ids_step_sums_of(analysis),
                                  .counts_steps = analysis->steps.count > 0};
    if (make_room(analysis) || ids_intern_z(&ledger->texts, "") == IDS_NO_TEXT) return ids_no_memory(err);
    int code = prepare(&booking, err);
    ledger->lacking = (uint8_t)lacking_of(analysis->trace, &ledger->meetings);
    if (!code) code = ids_booking_make_room(&booking, err);
    if (!code) code = ids_book_devices(&booking, swept, err);
    if (!code) code = ids_book_waits(&booking, err);
    if (!code) code = say_meanwhile(&booking, err);
    order_shares(ledger, analysis->busy_count);
    for (size_t entry = 0; entry < ledger->entry_count && !code; entry++) {
        const struct ids_step_sum *row = ids_step_sum_of(&booking.by_step, entry);
        ledger->entries[entry].squares = ids_step_sum_squares(row);
        ledger->entries[entry].recurs = ids_recurrence_of(row->cells, row->count, analysis->steps.count);
    }
    for (size_t b = 0; booking.past && b < analysis->busy_count; b++) ids_past_done(&booking.past[b]);
    free(booking.past);
    free(booking.busy_of);
    ids_meetings_done(&ledger->meetings);
    ids_booking_done(&booking);
    return code;
}
