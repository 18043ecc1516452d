/* stretches.c - what a stretch of a device is: whose work, whose wait, or, where nothing runs, whose time. */
#include "lib/analysis/booking.h"

#include "lib/base/vec.h"

/* --- what does not run -------------------------------------------------------------------------------------------- */

/* After the part is booked: what is booked behind it comes behind it. */
static void note_host(struct ids_booking *booking, const struct ids_idle_part *part, uint32_t entry) {
    struct ids_gap_host *host = &booking->gap_host;
    int64_t length_ps = part->to_ps - part->from_ps;
    if (part->account == IDS_HOST_SYNC) {
        if (length_ps > host->wait_ps) host->wait_ps = length_ps, host->wait = entry + 1;
    } else if (part->account == IDS_HOST_DISPATCH) {
        if (length_ps > host->launch_ps) host->launch_ps = length_ps, host->launch = entry + 1;
    } else if (part->account != IDS_DEVICE_QUEUE) {
        host->other_ps += length_ps;
    }
}

__attribute__((noinline)) static int find_idle_entry(struct ids_booking *booking, const struct ids_idle_part *part,
                                                     struct ids_found_entry *ret_found) {
    struct ids_text culprit, where, recorded;
    struct ids_idle_names *names = ids_host_time_names(booking->host_time);
    ids_idle_name(names, (enum ids_account)part->account, part->name, &culprit, &where, &recorded);
    int64_t made = ids_booking_entry(booking, (enum ids_account)part->account, culprit, where);
    if (made < 0) return -1;
    struct ids_ledger_entry *entry = &booking->ledger->entries[made];
    if (!entry->recorded && recorded.length)
        entry->recorded = ids_intern(&booking->ledger->texts, recorded.at, recorded.length);
    struct ids_text function = ids_idle_name_function(names, (enum ids_account)part->account, part->name);
    if (!entry->function && function.length)
        entry->function = ids_intern(&booking->ledger->texts, function.at, function.length);
    if (!entry->frame) {
        entry->frame = ids_idle_name_frame(names, part->name, &entry->is_of_other_thread);
        if (ids_account_is_host((enum ids_account)part->account))
            entry->lines = (uint8_t)ids_idle_name_lines(names, part->name, &entry->lines_of);
    }
    if (entry->recorded == IDS_NO_TEXT || entry->function == IDS_NO_TEXT) return -1;
    if (where.length || part->account == IDS_HOST_PYTHON)
        entry->is_sampled |= (uint8_t)ids_idle_name_is_sampled(names, part->name);
    *ret_found = (struct ids_found_entry){(uint32_t)(made + 1) & 0xffffff, (uint32_t)part->account & 0x7f,
                                          (uint32_t)ids_idle_name_is_guess(names, part->name) & 1};
    return 0;
}

static inline int put_found(struct ids_booking *booking, const struct ids_idle_part *part,
                            const struct ids_found_entry *found, struct ids_error *err) {
    uint32_t entry = found->number - 1;
    ids_booking_name_gap(booking, entry, part->from_ps, part->to_ps);
    /* A place that other calls of the same tell is inferred, whatever covers the time. */
    int is_guess = part->known == IDS_RECORDED && found->is_guess;
    struct ids_ledger_interval interval = {.from_ps = part->from_ps,
                                           .to_ps = part->to_ps,
                                           .event = part->event,
                                           .busy = booking->device,
                                           .entry = entry,
                                           .state = booking->stretch->state,
                                           .account = part->account,
                                           .known = is_guess ? IDS_PLACE_INFERRED : part->known};
    int code = ids_book(booking, &interval, err);
    note_host(booking, part, entry);
    return code;
}

static int put_idle(void *context, const struct ids_idle_part *part, struct ids_error *err) {
    struct ids_booking *booking = context;
    struct ids_found_entry *found = &booking->of_idle_name[part->name];
    if ((!found->number || found->account != part->account) && find_idle_entry(booking, part, found))
        return ids_no_memory(err);
    return put_found(booking, part, found, err);
}

/* Those whose entry was found before. */
static int put_turns(void *context, const struct ids_timeline *timeline, size_t *turn, int64_t from_ps, int64_t to_ps,
                     struct ids_error *err) {
    struct ids_booking *booking = context;
    const struct ids_trace *trace = booking->analysis->trace;
    size_t i = *turn;
    int code = 0;
    while (i + 1 < timeline->count && timeline->from_ps[i + 1] <= to_ps && !code) {
        const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
        if (!ids_is_told_as_it_is(doing)) break;
        const struct ids_idle_part part = {.from_ps = from_ps,
                                           .to_ps = timeline->from_ps[i + 1],
                                           .account = doing->account,
                                           .known = IDS_RECORDED,
                                           .name = ids_name_as_it_is(timeline->doing[i], doing)};
        const struct ids_found_entry *found = &booking->of_idle_name[part.name];
        if (!found->number || found->account != part.account) break;
        booking->of_turn[timeline->doing[i++]] = *found;
        code = put_found(booking, &part, found, err);
        if (!code) code = ids_book_turns(booking, timeline, &i, to_ps, err);
        from_ps = timeline->from_ps[i];
    }
    *turn = i;
    return code;
}

/* --- what runs ---------------------------------------------------------------------------------------------------- */

static enum ids_account account_of_stretch(const struct ids_trace *trace, const struct ids_stretch *stretch) {
    static const uint8_t accounts[IDS_RANK_COUNT] = {
        [IDS_RANK_COMPUTE] = IDS_WORK_COMPUTE,  [IDS_RANK_COLLECTIVE] = IDS_COMM_TRANSFER,
        [IDS_RANK_H2D] = IDS_COPY_H2D,          [IDS_RANK_D2H] = IDS_COPY_D2H,
        [IDS_RANK_D2D] = IDS_COPY_D2D,          [IDS_RANK_P2P] = IDS_COPY_P2P,
        [IDS_RANK_SET] = IDS_COPY_SET,          [IDS_RANK_OTHER_COPY] = IDS_COPY_OTHER,
        [IDS_RANK_BARRIER] = IDS_COMM_WAIT,     [IDS_RANK_STALL] = IDS_STALL_DEVICE,
        [IDS_RANK_CONTAINER] = IDS_WORK_COMPUTE};
    const struct ids_event *event = stretch->event;
    if (stretch->rank != IDS_RANK_STALL || event->op == IDS_NONE) return (enum ids_account)accounts[stretch->rank];
    const struct ids_op *op = &trace->ops[event->op];
    if (op->calls_back) return IDS_HOST_PYTHON;
    return op->collective ? IDS_COMM_TRANSFER : IDS_STALL_DEVICE; /* TPU: the -done of a copy has the copy beside it */
}

/* A collective of a framework is called by its kernel: every one of them is launched by the same op. */
static int is_called_by_kernel(const struct ids_trace *trace, const struct ids_event *event) {
    return event->op != IDS_NONE && event->collective && trace->ops[event->op].framework;
}

static struct ids_text name_of_work(const struct ids_trace *trace, const struct ids_event *event) {
    int by_kernel = event->op == IDS_NONE || is_called_by_kernel(trace, event);
    uint32_t text = by_kernel ? 0 : trace->ops[event->op].name;
    if (!text)
        text = trace->names[event->name].display ? trace->names[event->name].display : trace->names[event->name].text;
    return ids_strings_text(&trace->strings, text);
}

static struct ids_text place_of_work(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->op == IDS_NONE) return (struct ids_text){"", 0};
    const struct ids_op *op = &trace->ops[event->op];
    uint32_t text = op->framework_name ? op->framework_name : op->source;
    if (!text && op->module != IDS_NONE) text = trace->modules[op->module].name;
    return ids_strings_text(&trace->strings, text);
}

static int entry_of_work(struct ids_booking *booking, enum ids_account account, const struct ids_event *event,
                         uint32_t *ret_entry) {
    const struct ids_trace *trace = booking->analysis->trace;
    struct ids_found_entry by_both = {0}; /* each kernel of the op has an entry of its own */
    struct ids_found_entry *found = is_called_by_kernel(trace, event) ? &by_both
                                    : event->op != IDS_NONE           ? &booking->of_op[event->op]
                                                                      : &booking->of_event_name[event->name];
    if (!found->number || found->account != (unsigned)account) {
        int64_t entry = ids_booking_entry(booking, account, name_of_work(trace, event), place_of_work(trace, event));
        if (entry < 0) return -1;
        if (event->op != IDS_NONE) ids_ledger_entry_note_op(&booking->ledger->entries[entry], trace, event->op);
        *found = (struct ids_found_entry){.number = (uint32_t)(entry + 1) & 0xffffff, .account = account & 0x7f};
    }
    *ret_entry = found->number - 1;
    return 0;
}

/* A copy has no op that says where it comes from, but a line of the program that launched it. That is told where a
 * sample saw it, for other calls of the same name copy elsewhere, and to another side. */
static int entry_of_copy(struct ids_booking *booking, enum ids_account account, const struct ids_event *event,
                         uint32_t *ret_entry) {
    uint32_t launched_by =
        event->op == IDS_NONE ? ids_host_time_name_of_launch(booking->host_time, event) : IDS_NAME_OF_NOBODY;
    struct ids_idle_names *names = ids_host_time_names(booking->host_time);
    if (launched_by == IDS_NAME_OF_NOBODY || ids_idle_name_is_guess(names, launched_by))
        return entry_of_work(booking, account, event, ret_entry);
    struct ids_text where = ids_idle_name_line(names, launched_by);
    if (!where.length) return entry_of_work(booking, account, event, ret_entry);
    int64_t made = ids_booking_entry(booking, account, name_of_work(booking->analysis->trace, event), where);
    if (made < 0) return -1;
    struct ids_ledger_entry *entry = &booking->ledger->entries[made];
    if (!entry->frame) entry->frame = ids_idle_name_frame(names, launched_by, &entry->is_of_other_thread);
    entry->is_sampled |= (uint8_t)ids_idle_name_is_sampled(names, launched_by);
    *ret_entry = (uint32_t)made;
    return 0;
}

/* Until the last of those who take part has come, it is a wait. Where others are not recorded, that all have come is
 * only assumed. */
static int put_collective(struct ids_booking *booking, const struct ids_stretch *stretch, struct ids_error *err) {
    const struct ids_event *event = stretch->event;
    const struct ids_meeting *meeting = booking->past ? ids_meeting_of_event(&booking->ledger->meetings, event) : NULL;
    struct ids_ledger_interval interval = {.from_ps = stretch->from_ps,
                                           .to_ps = stretch->to_ps,
                                           .event = event,
                                           .busy = booking->device,
                                           .entry = IDS_NONE,
                                           .state = stretch->state,
                                           .account = IDS_COMM_WAIT};
    if (meeting && meeting->last_device != event->device && meeting->all_ps > stretch->from_ps) {
        int64_t late_ps = meeting->last_ps - event->start_ps;
        if (meeting->all_ps < interval.to_ps) interval.to_ps = meeting->all_ps;
        interval.known = meeting->doubt_ps >= 0 && late_ps > meeting->doubt_ps ? IDS_RECORDED : IDS_INFERRED;
        struct ids_ledger_interval wait = interval;
        int code = ids_book(booking, &wait, err);
        if (code || interval.to_ps == stretch->to_ps) return code;
        interval.from_ps = interval.to_ps;
        interval.to_ps = stretch->to_ps;
    }
    interval.account = IDS_COMM_TRANSFER;
    interval.known = meeting && booking->analysis->ledger.lacking == IDS_LACKS_NOBODY ? IDS_RECORDED : IDS_INFERRED;
    if (entry_of_work(booking, IDS_COMM_TRANSFER, event, &interval.entry)) return ids_no_memory(err);
    return ids_book(booking, &interval, err);
}

static int put_work(struct ids_booking *booking, const struct ids_stretch *stretch, struct ids_error *err) {
    const struct ids_trace *trace = booking->analysis->trace;
    const struct ids_event *event = stretch->event;
    enum ids_account account = account_of_stretch(trace, stretch);
    if (account == IDS_COMM_TRANSFER) return put_collective(booking, stretch, err);
    if (account == IDS_HOST_PYTHON) {
        const struct ids_idle_visitor visitor = {put_idle, put_turns, booking};
        return ids_host_time_call_back(booking->host_time, stretch, &visitor, err);
    }
    uint32_t entry;
    int failed = ids_account_is_copy(account) ? entry_of_copy(booking, account, event, &entry)
                                              : entry_of_work(booking, account, event, &entry);
    if (failed) return ids_no_memory(err);
    if (!(stretch->state & IDS_IS_BUSY)) ids_booking_name_gap(booking, entry, stretch->from_ps, stretch->to_ps);
    struct ids_ledger_interval interval = {.from_ps = stretch->from_ps,
                                           .to_ps = stretch->to_ps,
                                           .event = event,
                                           .busy = booking->device,
                                           .entry = entry,
                                           .state = stretch->state,
                                           .account = (uint8_t)account,
                                           .known = IDS_RECORDED};
    return ids_book(booking, &interval, err);
}

/* --- states and gaps ---------------------------------------------------------------------------------------------- */

static void add_to_part(struct ids_part *part, unsigned state, int64_t ps) {
    if (state & IDS_IS_WORKING) part->working_ps += ps;
    if (state & IDS_IS_COMPUTE) part->compute_ps += ps;
    if (state & IDS_IS_COLLECTIVE) part->collective_ps += ps;
    if (state & IDS_IS_COPY) part->copy_ps += ps;
}

/* The time of a state, in the window and in its parts. */
static void add_state(struct ids_booking *booking, const struct ids_stretch *stretch) {
    struct ids_busy *busy = booking->busy;
    int64_t from_ps = stretch->from_ps > busy->start_ps ? stretch->from_ps : busy->start_ps;
    int64_t to_ps = stretch->to_ps < busy->end_ps ? stretch->to_ps : busy->end_ps;
    if (!stretch->state || from_ps >= to_ps) return;
    busy->in_state_ps[stretch->state] += to_ps - from_ps;
    while (from_ps < to_ps) {
        while (booking->part_end_ps <= from_ps && booking->part + 1 < IDS_PARTS)
            booking->part_end_ps = ids_part_start(booking->analysis, ++booking->part + 1);
        int64_t until_ps = booking->part_end_ps < to_ps && booking->part + 1 < IDS_PARTS ? booking->part_end_ps : to_ps;
        add_to_part(&busy->parts[booking->part], stretch->state, until_ps - from_ps);
        from_ps = until_ps;
    }
}

static int see_gap(struct ids_booking *booking, const struct ids_stretch *stretch, struct ids_error *err) {
    struct ids_busy *busy = booking->busy;
    int64_t from_ps = stretch->gap_from_ps > busy->start_ps ? stretch->gap_from_ps : busy->start_ps;
    int64_t to_ps = stretch->gap_to_ps < busy->end_ps ? stretch->gap_to_ps : busy->end_ps;
    if (to_ps <= from_ps) return 0;
    if (busy->gap_count && busy->gaps[busy->gap_count - 1].start_ps == from_ps) return 0;
    booking->gap_part_ps = 0;
    booking->gap_host = (struct ids_gap_host){0};
    struct ids_gap *gap = IDS_PUSH(busy->gaps, busy->gap_count, busy->gap_room);
    if (!gap) return ids_no_memory(err);
    *gap = (struct ids_gap){from_ps, to_ps, stretch->previous, stretch->next, IDS_NONE};
    return 0;
}

static int book_stretch(void *context, const struct ids_stretch *stretch, struct ids_error *err) {
    struct ids_booking *booking = context;
    int code = 0;
    add_state(booking, stretch);
    if (!(stretch->state & IDS_IS_BUSY)) code = see_gap(booking, stretch, err);
    if (code) return code;
    booking->stretch = stretch;
    if (stretch->rank != IDS_RANK_IDLE) return put_work(booking, stretch, err);
    const struct ids_idle_visitor visitor = {put_idle, put_turns, booking};
    return ids_host_time_divide(booking->host_time, booking->busy, stretch, &visitor, err);
}

static void begin_turn_sums(struct ids_booking *booking) {
    const struct ids_timeline *timeline = ids_host_time_program(booking->host_time, booking->busy);
    booking->turn_sums = booking->shared_turn_sums;
    if (booking->turn_sums && booking->turn_sums->timeline == timeline) return;
    booking->turn_sums = &booking->own_turn_sums;
    ids_turn_sums_begin(booking->turn_sums, timeline);
}

int ids_book_device(struct ids_booking *booking, uint32_t index, struct ids_error *err) {
    const struct ids_analysis *analysis = booking->analysis;
    struct ids_busy *busy = booking->busy = &analysis->busy[index];
    booking->device = index;
    booking->own_past = booking->past ? &booking->past[index] : NULL;
    booking->steps = ids_booking_steps(booking, index);
    booking->least_ps = INT64_MAX; /* set by the first one */
    ids_booking_set_place(booking, 0);
    booking->part = 0;
    booking->part_end_ps = ids_part_start(analysis, 1);
    booking->pending =
        (struct ids_ledger_interval){.from_ps = INT64_MIN, .to_ps = INT64_MIN}; /* nothing follows on it */
    booking->gap_part_ps = 0;
    booking->gap_host = (struct ids_gap_host){0};
    ids_host_time_begin(booking->host_time);
    begin_turn_sums(booking);
    ids_seen_lines_begin(&booking->seen_lines);
    ids_strip_begin(booking->strip, analysis->start_ps, analysis->end_ps);
    int64_t from_ps = busy->start_ps, to_ps = busy->end_ps;
    for (size_t i = 0; i < booking->steps->count; i++) {
        const struct ids_device_step *step = &booking->steps->at[i];
        if (step->step == IDS_NONE) continue;
        if (step->from_ps < from_ps) from_ps = step->from_ps;
        if (step->to_ps > to_ps) to_ps = step->to_ps;
    }
    int code = from_ps < to_ps ? ids_sweep_device(booking->room, busy, from_ps, to_ps, book_stretch, booking, err) : 0;
    if (!code) code = ids_book_pending(booking, err);
    ids_strip_end(booking->strip, booking->ledger->strips + (size_t)index * (IDS_STRIP_CELLS + 1));
    return code ? code : ids_booking_end_device(booking, err);
}
