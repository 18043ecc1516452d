#include "lib/analysis/booking.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

int ids_booking_make_room(struct ids_booking *booking, struct ids_error *err) {
    const struct ids_trace *trace = booking->analysis->trace;
    size_t names = ids_idle_names_count(ids_host_time_names(booking->host_time));
    booking->of_op = calloc(trace->op_count + 1, sizeof *booking->of_op);
    booking->of_event_name = calloc(trace->name_count + 1, sizeof *booking->of_event_name);
    booking->of_idle_name = calloc(names + 1, sizeof *booking->of_idle_name);
    booking->of_turn = calloc(trace->doing_count + 1, sizeof *booking->of_turn);
    booking->strip = malloc(sizeof *booking->strip);
    if (!booking->of_op || !booking->of_event_name || !booking->of_idle_name || !booking->of_turn || !booking->strip)
        return ids_no_memory(err);
    if (ids_seen_lines_init(&booking->seen_lines, trace)) return ids_no_memory(err);
    return ids_sweep_room_new(booking->analysis, &booking->room, err);
}

void ids_booking_leave_room(struct ids_booking *booking) {
    ids_host_time_free(booking->host_time);
    ids_sweep_room_free(booking->room);
    free(booking->of_op);
    free(booking->of_event_name);
    free(booking->of_idle_name);
    free(booking->of_turn);
    ids_turn_sums_done(&booking->own_turn_sums);
    ids_seen_lines_done(&booking->seen_lines);
    free(booking->strip);
    booking->host_time = NULL;
    booking->room = NULL;
    booking->of_op = booking->of_event_name = booking->of_idle_name = booking->of_turn = NULL;
    booking->strip = NULL;
}

void ids_booking_done(struct ids_booking *booking) {
    ids_booking_leave_room(booking);
    ids_step_sums_done(&booking->by_step);
    free(booking->own);
    free(booking->waits);
    ids_arena_done(&booking->names);
    ids_keymap_done(&booking->entry_of_wait);
    ids_keymap_done(&booking->awaited_numbers);
}

/* An entry, with room for what devices have of it. */
int64_t ids_booking_entry(struct ids_booking *booking, enum ids_account account, struct ids_text culprit,
                          struct ids_text where) {
    int64_t entry = ids_ledger_entry_of(booking->ledger, account, culprit, where);
    if (entry < 0 || (size_t)entry < booking->own_room) return entry;
    size_t room = booking->ledger->entry_room;
    struct ids_own_share *grown = realloc(booking->own, room * sizeof *grown);
    if (!grown) return -1;
    memset(grown + booking->own_room, 0, (room - booking->own_room) * sizeof *grown);
    booking->own = grown;
    booking->own_room = room;
    return entry;
}

/* The step's time of an entry is whole. */
static int end_step(struct ids_booking *booking, size_t entry, struct ids_own_share *own) {
    if (!own->step_ps) return 0;
    const struct ids_ledger *ledger = booking->ledger;
    struct ids_account_times *times = &ledger->in_step[ledger->first_step[booking->device] + own->place];
    times->ps[ledger->entries[entry].account] += own->step_ps;
    int failed = ids_step_sums_add_to(&booking->by_step, entry, booking->steps->at[own->place].step, own->step_ps);
    own->step_ps = 0;
    return failed;
}

__attribute__((noinline)) static void set_longest(struct ids_booking *booking,
                                                  const struct ids_ledger_interval *interval,
                                                  struct ids_own_share *own) {
    struct ids_ledger_entry *entry = &booking->ledger->entries[interval->entry];
    own->longest_ps = entry->longest_ps = interval->to_ps - interval->from_ps;
    entry->longest_at_ps = interval->from_ps;
    entry->longest_device = booking->device;
    const struct ids_event *event = interval->event;
    entry->evidence = event ? event->name + 1 : 0;
    entry->evidence_op = event && event->op != IDS_NONE ? event->op + 1 : 0;
}

void ids_booking_keep_longest(struct ids_booking *booking, const struct ids_ledger_interval *interval) {
    struct ids_ledger_longest *longest = &booking->ledger->longest[interval->account];
    int64_t length_ps = interval->to_ps - interval->from_ps;
    if (length_ps <= booking->least_of[interval->account]) return;
    size_t place = longest->count < IDS_LEDGER_LONGEST ? longest->count++ : IDS_LEDGER_LONGEST - 1;
    for (; place; place--) {
        const struct ids_ledger_interval *before = &longest->at[place - 1];
        if (before->to_ps - before->from_ps >= length_ps) break;
        longest->at[place] = *before;
    }
    longest->at[place] = *interval;
    const struct ids_ledger_interval *last = &longest->at[IDS_LEDGER_LONGEST - 1];
    if (longest->count == IDS_LEDGER_LONGEST) booking->least_of[interval->account] = last->to_ps - last->from_ps;
}

/* Work that is launched does not begin, and the gap has more of a wait and of this than of all else that the host did:
 * had it not waited, the device would still run what is before it. The same of launching, where the host waits for
 * nothing. What the device waited for before, a loader or Python, is a cause of its own. */
__attribute__((noinline)) static void note_queued(struct ids_booking *booking,
                                                  const struct ids_ledger_interval *interval) {
    const struct ids_gap_host *host = &booking->gap_host;
    int64_t length_ps = interval->to_ps - interval->from_ps;
    enum ids_dried how = host->wait ? IDS_DRIED_BY_WAIT : IDS_DRIED_BY_LAUNCHES;
    uint32_t cause = host->wait ? host->wait : host->launch;
    if (!cause || host->other_ps > host->wait_ps + host->launch_ps + length_ps) return;
    if (!booking->own[cause - 1].intervals) return;
    const uint32_t both[] = {cause - 1, interval->entry};
    for (int i = 0; i < 2; i++) {
        struct ids_own_share *own = &booking->own[both[i]];
        own->queued_ps[how] += length_ps;
        if (length_ps > own->longest_queued_ps[how]) own->longest_queued_ps[how] = length_ps;
    }
}

/* The host has waited for the device, and only then runs what the device waits for. The wait that most of it stands
 * behind is kept. */
__attribute__((noinline)) static void note_behind(const struct ids_booking *booking, int64_t length_ps,
                                                  struct ids_own_share *own) {
    if (!booking->gap_host.wait) return;
    own->behind_ps += length_ps;
    int is_same = own->behind == booking->gap_host.wait;
    own->behind_more_ps += is_same ? length_ps : -length_ps;
    if (own->behind_more_ps >= 0) return;
    own->behind_more_ps = -own->behind_more_ps;
    own->behind = booking->gap_host.wait;
}

/* Intervals of the entry with that time, of which `interval` is the longest. */
static inline int book_entry(struct ids_booking *booking, const struct ids_ledger_interval *interval, size_t place,
                             uint32_t intervals, int64_t ps) {
    if (booking->device >= booking->analysis->chosen_count) return 0;
    int64_t length_ps = interval->to_ps - interval->from_ps;
    struct ids_own_share *own = &booking->own[interval->entry];
    int in_window = interval->state & IDS_IS_IN_WINDOW, in_step = interval->step != IDS_NONE;
    if (in_window) {
        own->in_window_ps += ps;
        if (!(interval->state & IDS_IS_BUSY)) own->idle_ps += ps;
    }
    if (booking->counts_steps ? !in_step : !in_window) return 0;
    if (interval->account == IDS_COPY_H2D && interval->state & IDS_IS_D2H)
        booking->ledger->both_ways_ps[booking->device] += ps;
    own->time_ps[interval->known] += ps;
    own->intervals += intervals;
    if (booking->ledger->entries[interval->entry].lines != IDS_NO_LINES &&
        ids_seen_lines_add(&booking->seen_lines, booking->ledger, booking->busy->device->host, interval))
        return -1;
    if (interval->account == IDS_DEVICE_QUEUE) note_queued(booking, interval);
    if (interval->account == IDS_HOST_PYTHON) note_behind(booking, ps, own);
    if (length_ps > own->longest_ps) set_longest(booking, interval, own);
    if (length_ps > booking->least_of[interval->account]) ids_booking_keep_longest(booking, interval);
    if (!in_step) return 0;
    if (own->place != place) {
        if (end_step(booking, interval->entry, own)) return -1;
        own->place = place;
    }
    own->step_ps += ps;
    return 0;
}

int ids_book_entry(struct ids_booking *booking, const struct ids_ledger_interval *interval, size_t place) {
    return book_entry(booking, interval, place, 1, interval->to_ps - interval->from_ps);
}

static int await(struct ids_booking *booking, const struct ids_ledger_interval *interval) {
    const struct ids_meeting *meeting = ids_meeting_of_event(&booking->ledger->meetings, interval->event);
    struct ids_wait *wait = IDS_PUSH(booking->waits, booking->wait_count, booking->wait_room);
    if (!wait) return -1;
    *wait = (struct ids_wait){interval->from_ps,
                              interval->to_ps,
                              booking->visited,
                              booking->place,
                              meeting,
                              booking->device,
                              booking->busy_of[meeting->last_device],
                              interval->step,
                              interval->state,
                              interval->known};
    return 0;
}

static inline int sum_up(struct ids_booking *booking, const struct ids_ledger_interval *interval) {
    if (interval->to_ps <= interval->from_ps) return 0;
    int64_t length_ps = interval->to_ps - interval->from_ps;
    int failed = interval->entry == IDS_NONE ? await(booking, interval)
                                             : book_entry(booking, interval, booking->place, 1, length_ps);
    ids_strip_add(booking->strip, (enum ids_account)interval->account, interval->from_ps, interval->to_ps);
    booking->visited++;
    return failed || (booking->own_past && ids_past_add(booking->own_past, interval));
}

/* Sums up an interval that does not grow any more, and hands it on. */
int ids_book_pending(struct ids_booking *booking, struct ids_error *err) {
    const struct ids_ledger_interval *interval = &booking->pending;
    if (sum_up(booking, interval)) return ids_no_memory(err);
    return booking->visitor && interval->to_ps > interval->from_ps
               ? booking->visitor->interval(booking->visitor->context, interval, err)
               : 0;
}

static uint8_t known_of(const struct ids_found_entry found) {
    return found.is_guess ? IDS_PLACE_INFERRED : IDS_RECORDED;
}

static void put_turn(struct ids_ledger_interval *pending, const struct ids_found_entry found, int64_t from_ps,
                     int64_t to_ps) {
    pending->from_ps = from_ps;
    pending->to_ps = to_ps;
    pending->entry = found.number - 1u;
    pending->account = found.account;
    pending->known = known_of(found);
}

/* Whether the block can be counted by its sums: no entry comes next to itself, and no turn of it is looked at for
 * itself: as the longest of the gap or of its account, at the end of a cell of the strip, or for its lines. */
static int is_countable(const struct ids_booking *booking, const struct ids_timeline *timeline, size_t first,
                        const struct ids_turn_block *block) {
    if (block->longest_ps > booking->gap_part_ps) return 0;
    if (timeline->from_ps[first] < booking->strip->start_ps ||
        timeline->from_ps[first + IDS_BLOCK_TURNS] > booking->strip->cell_end_ps)
        return 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct ids_found_entry found = booking->of_turn[block->at[i].doing];
        if (!found.number || block->longest_ps > booking->least_of[found.account]) return 0;
        if (booking->ledger->entries[found.number - 1].lines != IDS_NO_LINES) return 0;
        for (uint32_t other = 0; other < i; other++)
            if (booking->of_turn[block->at[other].doing].number == found.number) return 0;
    }
    return booking->of_turn[timeline->doing[first]].number != booking->pending.entry + 1;
}

/* What would be done of each of its turns: the pending interval ends, and the block's last turn is pending. The
 * device's past, which has that interval now, takes long turns alone. */
static int book_block(struct ids_booking *booking, const struct ids_timeline *timeline, size_t first,
                      const struct ids_turn_block *block) {
    const int64_t *from_ps = timeline->from_ps + first;
    const uint32_t *doing = timeline->doing + first;
    struct ids_ledger_interval *pending = &booking->pending;
    int failed = sum_up(booking, pending);
    for (uint32_t i = 0; i < block->count && !failed; i++) {
        const struct ids_turn_sum *sum = &block->at[i];
        if (!sum->turns) continue;
        put_turn(pending, booking->of_turn[sum->doing], from_ps[sum->longest], from_ps[sum->longest + 1]);
        failed = book_entry(booking, pending, booking->place, sum->turns, sum->ps);
        booking->strip->ps[booking->strip->cell][pending->account] += sum->ps;
        booking->visited += sum->turns;
    }
    for (uint32_t turns = block->long_ones; turns && booking->own_past && !failed; turns &= turns - 1) {
        int turn = __builtin_ctz(turns);
        put_turn(pending, booking->of_turn[doing[turn]], from_ps[turn], from_ps[turn + 1]);
        failed = ids_past_add(booking->own_past, pending);
    }
    const size_t last = IDS_BLOCK_TURNS - 1;
    put_turn(pending, booking->of_turn[doing[last]], from_ps[last], from_ps[last + 1]);
    return failed;
}

int ids_book_turns(struct ids_booking *booking, const struct ids_timeline *timeline, size_t *turn, int64_t to_ps,
                   struct ids_error *err) {
    struct ids_ledger_interval *pending = &booking->pending;
    struct ids_turn_sums *sums = timeline == booking->turn_sums->timeline ? booking->turn_sums : NULL;
    const uint16_t state = booking->stretch->state | IDS_IS_IN_WINDOW;
    if (booking->visitor || pending->event || pending->state != state || pending->step != booking->step) return 0;
    if (pending->to_ps < booking->least_ps) return 0;
    if (to_ps > booking->most_ps) to_ps = booking->most_ps;
    const int64_t from_ps = pending->to_ps;
    size_t i = *turn;
    while (i + 1 < timeline->count && timeline->from_ps[i + 1] <= to_ps) {
        const struct ids_turn_block *block =
            sums && i % IDS_BLOCK_TURNS == 0 ? ids_turn_block_at(sums, i, to_ps) : NULL;
        if (block && is_countable(booking, timeline, i, block)) {
            if (book_block(booking, timeline, i, block)) return ids_no_memory(err);
            i += IDS_BLOCK_TURNS;
            continue;
        }
        const struct ids_found_entry found = booking->of_turn[timeline->doing[i]];
        if (!found.number) break;
        const int64_t until_ps = timeline->from_ps[++i];
        ids_booking_name_gap(booking, found.number - 1u, pending->to_ps, until_ps);
        if (pending->entry == found.number - 1u && pending->known == known_of(found)) {
            pending->to_ps = until_ps;
        } else {
            if (sum_up(booking, pending)) return ids_no_memory(err);
            put_turn(pending, found, pending->to_ps, until_ps);
        }
    }
    booking->gap_host.other_ps += pending->to_ps - from_ps;
    *turn = i;
    return 0;
}

/* The device is done: what it has of each entry goes to the sums of all. */
int ids_booking_end_device(struct ids_booking *booking, struct ids_error *err) {
    struct ids_ledger *ledger = booking->ledger;
    for (size_t e = 0; e < ledger->entry_count && e < booking->own_room; e++) {
        struct ids_own_share *own = &booking->own[e];
        struct ids_ledger_entry *entry = &ledger->entries[e];
        if (end_step(booking, e, own)) return ids_no_memory(err);
        int64_t time_ps = 0;
        for (int known = 0; known < IDS_KNOWN_COUNT; known++) {
            time_ps += own->time_ps[known];
            ids_sum(&entry->time_ps[known], own->time_ps[known]);
        }
        ids_sum(&entry->in_window_ps, own->in_window_ps);
        ledger->in_window[booking->device].ps[entry->account] += own->in_window_ps;
        ledger->idle[booking->device].ps[entry->account] += own->idle_ps;
        entry->intervals += own->intervals;
        struct ids_entry_share of_device = {.device = booking->device,
                                            .entry = (uint32_t)e,
                                            .ps = time_ps,
                                            .behind_ps = own->behind_ps,
                                            .behind = own->behind};
        memcpy(of_device.queued_ps, own->queued_ps, sizeof of_device.queued_ps);
        memcpy(of_device.longest_queued_ps, own->longest_queued_ps, sizeof of_device.longest_queued_ps);
        *own = (struct ids_own_share){.longest_ps = own->longest_ps};
        if (!time_ps) continue;
        struct ids_entry_share *share = IDS_PUSH(ledger->shares, ledger->share_count, ledger->share_room);
        if (!share) return ids_no_memory(err);
        *share = of_device;
    }
    return 0;
}

/* The step that the next moment is in, or before. */
void ids_booking_set_place(struct ids_booking *booking, size_t place) {
    booking->place = place;
    booking->step = place < booking->steps->count ? booking->steps->at[place].step : IDS_NONE;
}

/* What follows is mostly inside the same step and the window. */
static void set_bounds(struct ids_booking *booking) {
    booking->least_ps = INT64_MAX;
    if (booking->place == booking->steps->count) return;
    const struct ids_device_step *step = &booking->steps->at[booking->place];
    const struct ids_busy *busy = booking->busy;
    booking->least_ps = step->from_ps > busy->start_ps ? step->from_ps : busy->start_ps;
    booking->most_ps = step->to_ps < busy->end_ps ? step->to_ps : busy->end_ps;
}

/* Puts the first part of an interval, up to where the window or a step begins or ends, and leaves the rest. */
static int put_part(struct ids_booking *booking, struct ids_ledger_interval *rest, struct ids_error *err) {
    const struct ids_device_steps *steps = booking->steps;
    const struct ids_busy *busy = booking->busy;
    if (booking->place < steps->count && steps->at[booking->place].to_ps <= rest->from_ps) {
        int code = ids_book_pending(booking, err); /* by the step that it is in */
        if (code) return code;
        booking->pending.to_ps = booking->pending.from_ps;
        size_t place = booking->place;
        while (place < steps->count && steps->at[place].to_ps <= rest->from_ps) place++;
        ids_booking_set_place(booking, place);
    }
    const struct ids_device_step *step = booking->place < steps->count ? &steps->at[booking->place] : NULL;
    struct ids_ledger_interval part = *rest;
    part.step = IDS_NONE;
    if (step && part.from_ps >= step->from_ps) {
        part.step = step->step;
        if (step->to_ps < part.to_ps) part.to_ps = step->to_ps;
    } else if (step && step->from_ps < part.to_ps) {
        part.to_ps = step->from_ps;
    }
    int in_window = part.from_ps >= busy->start_ps && part.from_ps < busy->end_ps;
    if (part.from_ps < busy->start_ps && busy->start_ps < part.to_ps) part.to_ps = busy->start_ps;
    if (in_window && busy->end_ps < part.to_ps) part.to_ps = busy->end_ps;
    if (in_window) part.state |= IDS_IS_IN_WINDOW;
    rest->from_ps = part.to_ps;
    return ids_booking_put(booking, &part, err);
}

int ids_book_in_parts(struct ids_booking *booking, struct ids_ledger_interval *interval, struct ids_error *err) {
    int code = 0;
    while (interval->from_ps < interval->to_ps && !code) code = put_part(booking, interval, err);
    set_bounds(booking);
    return code;
}

const struct ids_device_steps *ids_booking_steps(const struct ids_booking *booking, uint32_t device) {
    static const struct ids_device_steps none;
    const struct ids_analysis *analysis = booking->analysis;
    return analysis->steps.of_device ? &analysis->steps.of_device[analysis->busy[device].index] : &none;
}
