/* booking.h - while the ledger is made: one interval after the other is cut at steps and at the window, and summed up.
 *
 * ledger.c begins and ends it and goes from device to device; stretches.c says what each stretch of a device is, and
 * waits.c, at the end, for whom others waited.
 */
#ifndef IDS_LIB_ANALYSIS_BOOKING_H
#define IDS_LIB_ANALYSIS_BOOKING_H

#include "lib/analysis/context.h"
#include "lib/analysis/device_sweep.h"
#include "lib/analysis/host_time.h"
#include "lib/analysis/meetings.h"
#include "lib/analysis/past.h"
#include "lib/analysis/seen_lines.h"
#include "lib/analysis/step_sums.h"
#include "lib/analysis/strip.h"
#include "lib/analysis/turn_sums.h"

/* What the device that is swept has of an entry; no interval of it overlaps another, so that sums cannot run over. */
struct ids_own_share {
    int64_t time_ps[IDS_KNOWN_COUNT], in_window_ps, idle_ps;
    uint64_t intervals;
    int64_t step_ps;    /* in the step at `place`, whose sum is told when the next one begins */
    size_t place;       /* in the device's steps */
    int64_t longest_ps; /* over all devices so far */
    int64_t queued_ps[IDS_DRIED_COUNT], longest_queued_ps[IDS_DRIED_COUNT], behind_ps; /* see ids_entry_share */
    int64_t behind_more_ps; /* by how much that wait has more of it than all others */
    uint32_t behind;
};

/* What the host did in the gap that is swept. */
struct ids_gap_host {
    uint32_t wait, launch; /* the entries of its longest wait and of its longest launching, + 1; 0 none */
    int64_t wait_ps, launch_ps, other_ps; /* how long these were; all the rest */
};

/* Time in which a device waited in a collective for one that came later. */
struct ids_wait {
    int64_t from_ps, to_ps;
    size_t visited; /* the interval's number for the visitor */
    size_t place;   /* of its step in the device's steps */
    const struct ids_meeting *meeting;
    uint32_t device, awaited, step;
    uint16_t state;
    uint8_t known;
};

/* An entry that was found before, and for which account; number 0: none. */
struct ids_found_entry {
    uint32_t number : 24; /* of the entry + 1 */
    uint32_t account : 7;
    uint32_t is_guess : 1; /* of an idle part: ids_idle_name_is_guess */
};

/* Of all devices, or of some of them, which are booked beside others (booking_parts.c). */
struct ids_booking {
    struct ids_analysis *analysis;
    struct ids_ledger *ledger;
    const struct ids_ledger_visitor *visitor;
    struct ids_host_time *host_time;
    struct ids_sweep_room *room;
    struct ids_step_sums by_step;                                 /* by entry */
    struct ids_found_entry *of_op, *of_event_name, *of_idle_name; /* by op, name of an event, name of an idle part */
    struct ids_found_entry *of_turn; /* by doing, of those that are told as they are (ids_is_told_as_it_is) */
    struct ids_turn_sums own_turn_sums, *shared_turn_sums, /* of programs' own threads; shared ones: NULL for none */
        *turn_sums;                                        /* that of the host of the device that is swept */
    struct ids_seen_lines seen_lines;
    struct ids_busy *busy; /* the device that is swept */
    uint32_t device;       /* its index in analysis->busy */
    const struct ids_device_steps *steps;
    size_t place;                       /* in them: the first one that ends behind what is looked at */
    uint32_t step;                      /* its index of analysis->steps.at */
    int64_t least_ps, most_ps;          /* what lies between is in that step and in the window */
    struct ids_ledger_interval pending; /* grows while the next one is the same */
    const struct ids_stretch *stretch;  /* whose parts come */
    int part;                           /* of the run's window, that ends behind what is looked at */
    int64_t part_end_ps;
    int64_t gap_part_ps; /* the longest part of the gap that is swept */
    struct ids_gap_host gap_host;
    struct ids_own_share *own; /* by entry */
    size_t own_room;
    int64_t least_of[IDS_ACCOUNT_COUNT]; /* a longer interval is one of the account's longest */
    int counts_steps;          /* what entries have is of the steps, where there are steps; else of the window */
    struct ids_past *past;     /* by active device; NULL where nobody meets */
    struct ids_past *own_past; /* of the device that is swept; NULL where nobody meets */
    uint32_t *busy_of;         /* by trace->devices: index of analysis->busy */
    struct ids_wait *waits;
    size_t wait_count, wait_room;
    size_t visited;
    struct ids_strip *strip;           /* of the device that is swept */
    struct ids_arena names;            /* of those who were waited for */
    struct ids_keymap entry_of_wait;   /* who, and what it did -> entry + 1 */
    struct ids_keymap awaited_numbers; /* step and device -> index of ledger->awaited + 1 */
};

/* Room for what is found before, and for a sweep. 0, or IDS_NO_MEMORY; ids_booking_done may be called in both cases. */
int ids_booking_make_room(struct ids_booking *booking, struct ids_error *err);
/* What only a sweep needs. */
void ids_booking_leave_room(struct ids_booking *booking);
/* All that the booking has for itself; not its ledger. */
void ids_booking_done(struct ids_booking *booking);
/* An entry, with room for what devices have of it; -1 when memory ran out. */
int64_t ids_booking_entry(struct ids_booking *booking, enum ids_account account, struct ids_text culprit,
                          struct ids_text where);
/* Sums up an interval that does not grow any more, and hands it on. */
int ids_book_pending(struct ids_booking *booking, struct ids_error *err);
/* Takes an interval that nothing cuts: what is the same as before makes that grow. */
static inline int ids_booking_put(struct ids_booking *booking, const struct ids_ledger_interval *interval,
                                  struct ids_error *err) {
    struct ids_ledger_interval *pending = &booking->pending;
    if (pending->to_ps == interval->from_ps && pending->entry == interval->entry && pending->step == interval->step &&
        pending->state == interval->state && pending->known == interval->known && pending->event == interval->event) {
        pending->to_ps = interval->to_ps;
        return 0;
    }
    int code = ids_book_pending(booking, err);
    *pending = *interval;
    return code;
}
/* Cuts at the ends of the window and of steps; uses the interval up. */
int ids_book_in_parts(struct ids_booking *booking, struct ids_ledger_interval *interval, struct ids_error *err);
static inline int ids_book(struct ids_booking *booking, struct ids_ledger_interval *interval, struct ids_error *err) {
    if (interval->from_ps < booking->least_ps || interval->to_ps > booking->most_ps)
        return ids_book_in_parts(booking, interval, err);
    interval->step = booking->step;
    interval->state |= IDS_IS_IN_WINDOW;
    return ids_booking_put(booking, interval, err);
}
/* Turns of a thread from number *turn on, which begins where the last interval ends, in the same stretch: those that
 * end until `to_ps`, whose entry is known (of_turn), and that nothing cuts. *turn becomes the first that was not taken.
 * It is what ids_book would do with each, but no interval is made of them where nobody gets any. */
int ids_book_turns(struct ids_booking *booking, const struct ids_timeline *timeline, size_t *turn, int64_t to_ps,
                   struct ids_error *err);
/* Sums up one of the step at `place` that nothing cuts and nothing makes grow. */
int ids_book_entry(struct ids_booking *booking, const struct ids_ledger_interval *interval, size_t place);
/* A gap is called as the longest of its parts. */
static inline void ids_booking_name_gap(struct ids_booking *booking, uint32_t entry, int64_t from_ps, int64_t to_ps) {
    const struct ids_busy *busy = booking->busy;
    if (to_ps - from_ps <= booking->gap_part_ps || !busy->gap_count) return;
    struct ids_gap *gap = &busy->gaps[busy->gap_count - 1];
    if (to_ps <= gap->start_ps || from_ps >= gap->end_ps) return;
    booking->gap_part_ps = to_ps - from_ps;
    gap->entry = entry;
}
/* One of the account's longest intervals, where it is longer than the least of these. */
void ids_booking_keep_longest(struct ids_booking *booking, const struct ids_ledger_interval *interval);
/* The step that the next moment is in, or before. */
void ids_booking_set_place(struct ids_booking *booking, size_t place);
/* The device is done: what it has of each entry goes to the sums of all. */
int ids_booking_end_device(struct ids_booking *booking, struct ids_error *err);
/* The steps of a device, by its index in analysis->busy. */
const struct ids_device_steps *ids_booking_steps(const struct ids_booking *booking, uint32_t device);

/* Sweeps a device, by its index in analysis->busy: what each stretch of it is, and the gap that it is part of
 * (stretches.c). */
int ids_book_device(struct ids_booking *booking, uint32_t device, struct ids_error *err);
/* Sweeps all devices, some beside others (booking_parts.c), and hands them on in their order: see ids_ledger_make. */
int ids_book_devices(struct ids_booking *booking, ids_swept_fn *swept, struct ids_error *err);
/* All waits in collectives, when all devices are swept (waits.c). */
int ids_book_waits(struct ids_booking *booking, struct ids_error *err);

#endif
