/* booking_parts.c - devices that are booked beside each other.
 *
 * A part is a booking of its own for devices that follow one another: the same code, with a ledger of its own. The
 * whole takes the parts over in the order of devices. Entries are numbered in the order in which they are met, sums do
 * not depend on their order, and of equals the first one counts: so the ledger is the one that one thread would have
 * made. What depends on all that was met before, the limits, is left to that one: it books the part's devices again.
 */
#include "lib/analysis/booking.h"

#include "lib/base/memory.h"
#include "lib/base/parallel.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Devices are not equally busy, so a thread has several parts. Not all of them at once: what was seen of each gap is
 * held until analyzers have summed it up. */
enum { PARTS_OF_A_THREAD = 4, PARTS_AT_ONCE = 2 };

struct part {
    uint32_t from, to; /* of analysis->busy */
    struct ids_ledger ledger;
    struct ids_booking booking;
    int is_booked;
};

struct parts {
    const struct ids_booking *whole;
    struct part *at;
    size_t count, room;
    size_t first;                   /* of those that are booked at the moment */
    struct ids_turn_sums turn_sums; /* of the host of the first of these, for all that are beside the same one */
};

/* 0, or -1 when memory ran out. */
static int cut(struct parts *parts) {
    const struct ids_analysis *analysis = parts->whole->analysis;
    uint64_t total = 0, events = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) total += analysis->busy[b].device->activity.count;
    uint64_t wanted = total / ((uint64_t)ids_jobs() * PARTS_OF_A_THREAD);
    if (wanted < ids_jobs_least_events()) wanted = ids_jobs_least_events();
    struct part *part = NULL;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        /* Of devices that are nearly alike the smaller ones would else have a second one beside them. */
        if (!part || events + analysis->busy[b].device->activity.count / 2 >= wanted) {
            part = IDS_PUSH(parts->at, parts->count, parts->room);
            if (!part) return -1;
            *part = (struct part){.from = (uint32_t)b};
            events = 0;
        }
        part->to = (uint32_t)b + 1;
        events += analysis->busy[b].device->activity.count;
    }
    return 0;
}

/* What is by device lies in the whole's own arrays. */
static int begin(struct parts *parts, struct part *part, struct ids_error *err) {
    const struct ids_booking *whole = parts->whole;
    const struct ids_ledger *ledger = whole->ledger;
    part->ledger = (struct ids_ledger){.in_window = ledger->in_window,
                                       .idle = ledger->idle,
                                       .both_ways_ps = ledger->both_ways_ps,
                                       .in_step = ledger->in_step,
                                       .meetings = ledger->meetings,
                                       .first_step = ledger->first_step,
                                       .strips = ledger->strips};
    part->booking = (struct ids_booking){.analysis = whole->analysis,
                                         .ledger = &part->ledger,
                                         .visitor = whole->visitor,
                                         .by_step = ids_step_sums_of(whole->analysis),
                                         .counts_steps = whole->counts_steps,
                                         .past = whole->past,
                                         .busy_of = whole->busy_of,
                                         .shared_turn_sums = &parts->turn_sums};
    if (ids_intern_z(&part->ledger.texts, "") == IDS_NO_TEXT) return ids_no_memory(err);
    int code = ids_host_time_lend(whole->host_time, &part->booking.host_time, err);
    return code ? code : ids_booking_make_room(&part->booking, err);
}

static void book_part(void *context, size_t number) {
    struct parts *parts = context;
    struct part *part = &parts->at[parts->first + number];
    struct ids_error unused = IDS_ERROR_INIT; /* who books the devices in order has the same one */
    int code = begin(parts, part, &unused);
    for (uint32_t b = part->from; b < part->to && !code; b++) code = ids_book_device(&part->booking, b, &unused);
    ids_booking_leave_room(&part->booking);
    part->is_booked = !code && !part->booking.by_step.is_full;
}

static void end_part(const struct ids_booking *whole, struct part *part) {
    struct ids_ledger *ledger = &part->ledger;
    if (ledger->in_step == whole->ledger->in_step) {
        ledger->in_window = ledger->idle = ledger->in_step = NULL;
        ledger->both_ways_ps = NULL;
        ledger->first_step = NULL;
        ledger->strips = NULL;
    }
    ids_ledger_done(ledger);
    ids_booking_done(&part->booking);
}

/* --- taking over ------------------------------------------------------------------------------------------------ */

/* Whether no limit is reached by what the part has. */
static int has_room(const struct ids_booking *whole, const struct part *part) {
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++)
        if (whole->ledger->count_of[a] + part->ledger.count_of[a] > IDS_LEDGER_ENTRIES) return 0;
    return whole->by_step.cells + part->booking.by_step.cells <= IDS_STEP_SUM_CELLS;
}

/* The part's entries, and in numbers[] which ones of the whole they are. */
static int take_entries(struct ids_booking *whole, struct part *part, uint32_t *numbers) {
    struct ids_ledger *ledger = whole->ledger;
    for (size_t e = 0; e < part->ledger.entry_count; e++) {
        const struct ids_ledger_entry *theirs = &part->ledger.entries[e];
        int64_t number = ids_booking_entry(whole, (enum ids_account)theirs->account,
                                           ids_strings_text(&part->ledger.texts, theirs->culprit),
                                           ids_strings_text(&part->ledger.texts, theirs->where));
        if (number < 0) return -1;
        numbers[e] = (uint32_t)number;
        struct ids_ledger_entry *entry = &ledger->entries[number];
        if (ids_ledger_entry_take(ledger, entry, &part->ledger, theirs, whole->analysis->trace) ||
            ids_step_sums_take(&whole->by_step, (size_t)number, ids_step_sum_of(&part->booking.by_step, e)))
            return -1;
        whole->own[number].longest_ps = entry->longest_ps;
    }
    for (size_t l = 0; l < part->ledger.line_count; l++) {
        const struct ids_entry_line *line = &part->ledger.lines[l];
        if (ids_ledger_add_line(ledger, numbers[line->entry], line->frame, line->ps)) return -1;
    }
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        const struct ids_ledger_longest *longest = &part->ledger.longest[a];
        for (size_t i = 0; i < longest->count; i++) {
            struct ids_ledger_interval interval = longest->at[i];
            interval.entry = numbers[interval.entry];
            ids_booking_keep_longest(whole, &interval);
        }
    }
    return 0;
}

static int take_shares(struct ids_ledger *ledger, const struct ids_ledger *theirs, const uint32_t *numbers) {
    for (size_t s = 0; s < theirs->share_count; s++) {
        struct ids_entry_share *share = IDS_PUSH(ledger->shares, ledger->share_count, ledger->share_room);
        if (!share) return -1;
        *share = theirs->shares[s];
        share->entry = numbers[share->entry];
        if (share->behind) share->behind = numbers[share->behind - 1] + 1;
    }
    return 0;
}

static void take_gaps(const struct ids_booking *whole, const struct part *part, const uint32_t *numbers) {
    for (uint32_t b = part->from; b < part->to; b++) {
        const struct ids_busy *busy = &whole->analysis->busy[b];
        for (size_t g = 0; g < busy->gap_count; g++)
            if (busy->gaps[g].entry != IDS_NONE) busy->gaps[g].entry = numbers[busy->gaps[g].entry];
    }
}

/* The waits of its devices, and what others ask of their past. */
static int take_waits(struct ids_booking *whole, const struct part *part, const uint32_t *numbers) {
    for (size_t w = 0; w < part->booking.wait_count; w++) {
        struct ids_wait *wait = IDS_PUSH(whole->waits, whole->wait_count, whole->wait_room);
        if (!wait) return -1;
        *wait = part->booking.waits[w];
    }
    for (uint32_t b = part->from; b < part->to && whole->past; b++) {
        struct ids_past *past = &whole->past[b];
        for (size_t i = 0; i < past->count; i++)
            if (past->at[i].entry != IDS_NONE) past->at[i].entry = numbers[past->at[i].entry];
    }
    return 0;
}

static int take(struct ids_booking *whole, struct part *part, struct ids_error *err) {
    uint32_t *numbers = malloc((part->ledger.entry_count + 1) * sizeof *numbers);
    int failed = !numbers || take_entries(whole, part, numbers) || take_shares(whole->ledger, &part->ledger, numbers) ||
                 take_waits(whole, part, numbers);
    if (!failed) take_gaps(whole, part, numbers);
    const struct ids_ledger_visitor *visitor = whole->visitor;
    if (!failed && visitor)
        failed = visitor->renumber(visitor->context, part->from, part->to, numbers, part->ledger.entry_count);
    free(numbers);
    return failed ? ids_no_memory(err) : 0;
}

/* What a part that is not taken left of a device. */
static void forget(struct ids_booking *whole, uint32_t device) {
    struct ids_ledger *ledger = whole->ledger;
    struct ids_busy *busy = &whole->analysis->busy[device];
    size_t first = ledger->first_step[device], count = ledger->first_step[device + 1] - first;
    memset(&ledger->in_window[device], 0, sizeof *ledger->in_window);
    memset(&ledger->idle[device], 0, sizeof *ledger->idle);
    memset(&ledger->in_step[first], 0, count * sizeof *ledger->in_step);
    memset(busy->in_state_ps, 0, sizeof busy->in_state_ps);
    memset(busy->parts, 0, sizeof busy->parts);
    ledger->both_ways_ps[device] = 0;
    busy->gap_count = 0;
    if (whole->past) whole->past[device].count = 0;
    if (whole->visitor) whole->visitor->forget(whole->visitor->context, device);
}

static int book_again(struct ids_booking *whole, const struct part *part, struct ids_error *err) {
    int code = 0;
    for (uint32_t b = part->from; b < part->to && !code; b++) {
        forget(whole, b);
        code = ids_book_device(whole, b, err);
    }
    return code;
}

static int book_some(struct ids_booking *booking, struct parts *parts, size_t count, ids_swept_fn *swept,
                     struct ids_error *err) {
    const struct ids_busy *first = &booking->analysis->busy[parts->at[parts->first].from];
    int code = 0;
    ids_turn_sums_begin(&parts->turn_sums, ids_host_time_program(booking->host_time, first));
    ids_parallel(count, book_part, parts);
    for (size_t i = parts->first; i < parts->first + count; i++) {
        struct part *part = &parts->at[i];
        if (!code)
            code =
                part->is_booked && has_room(booking, part) ? take(booking, part, err) : book_again(booking, part, err);
        if (!code && swept) code = swept(booking->analysis, part->from, part->to, err);
        end_part(booking, part); /* what the next one brings may take its place */
    }
    return code;
}

static int book_in_parts(struct ids_booking *booking, struct parts *parts, ids_swept_fn *swept, struct ids_error *err) {
    /* Who takes findings has much in memory already: fewer at once, and what they have freed goes back, for allocators
     * keep it by thread. */
    const int is_tight = booking->visitor != NULL;
    const size_t at_once = (size_t)ids_jobs() * (is_tight ? 1 : PARTS_AT_ONCE);
    int code = 0;
    for (size_t count; parts->first < parts->count && !code; parts->first += count) {
        count = parts->count - parts->first < at_once ? parts->count - parts->first : at_once;
        code = book_some(booking, parts, count, swept, err);
        if (is_tight) ids_memory_give_back();
    }
    return code;
}

int ids_book_devices(struct ids_booking *booking, ids_swept_fn *swept, struct ids_error *err) {
    struct parts parts = {.whole = booking};
    int code = 0;
    const int may_be_cut = !booking->visitor || booking->visitor->renumber;
    if (ids_jobs() > 1 && may_be_cut && cut(&parts)) code = ids_no_memory(err);
    if (!code && parts.count > 1) {
        code = book_in_parts(booking, &parts, swept, err);
    } else {
        for (uint32_t b = 0; b < booking->analysis->busy_count && !code; b++) {
            code = ids_book_device(booking, b, err);
            if (!code && swept) code = swept(booking->analysis, b, b + 1, err);
        }
    }
    free(parts.at);
    ids_turn_sums_done(&parts.turn_sums);
    return code;
}
