#include "lib/analysis/ledger.h"

#include "lib/analysis/context.h"
#include "lib/analysis/device_sweep.h"
#include "lib/analysis/host_time.h"
#include "lib/analysis/meetings.h"
#include "lib/analysis/past.h"
#include "lib/analysis/step_sums.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ids_known_name(enum ids_known known) {
    static const char *const names[IDS_KNOWN_COUNT] = {"recorded", "inferred", "unknown"};
    return known < IDS_KNOWN_COUNT ? names[known] : "";
}

/* --- entries ---------------------------------------------------------------------------------------------------- */

static uint64_t key_of_entry(enum ids_account account, uint32_t culprit, uint32_t where) {
    return ids_key_of(ids_key_of(account, culprit), where);
}

/* Whether there is one; where there are many, no more are made. */
static int is_there(const struct ids_ledger *ledger, enum ids_account account, struct ids_text culprit,
                    struct ids_text where) {
    uint64_t number;
    uint32_t culprit_id = ids_strings_find(&ledger->texts, culprit.length ? culprit.at : "", culprit.length);
    uint32_t where_id = ids_strings_find(&ledger->texts, where.length ? where.at : "", where.length);
    return culprit_id != IDS_NO_TEXT && where_id != IDS_NO_TEXT &&
           ids_keymap_get(&ledger->entry_numbers, key_of_entry(account, culprit_id, where_id), &number);
}

int64_t ids_ledger_entry_of(struct ids_ledger *ledger, enum ids_account account, struct ids_text culprit,
                            struct ids_text where) {
    if (ledger->count_of[account] >= IDS_LEDGER_ENTRIES && !is_there(ledger, account, culprit, where)) {
        culprit = (struct ids_text){IDS_LEDGER_OTHERS, sizeof IDS_LEDGER_OTHERS - 1};
        where = (struct ids_text){"", 0};
    }
    uint32_t culprit_id = ids_intern(&ledger->texts, culprit.length ? culprit.at : "", culprit.length);
    uint32_t where_id = ids_intern(&ledger->texts, where.length ? where.at : "", where.length);
    if (culprit_id == IDS_NO_TEXT || where_id == IDS_NO_TEXT) return -1;
    uint64_t key = key_of_entry(account, culprit_id, where_id);
    uint64_t *number = ids_keymap_at(&ledger->entry_numbers, key);
    if (!number) return -1;
    if (*number) return (int64_t)*number - 1;
    struct ids_ledger_entry *fresh = IDS_PUSH(ledger->entries, ledger->entry_count, ledger->entry_room);
    if (!fresh) return -1;
    *fresh = (struct ids_ledger_entry){
        .account = (uint8_t)account, .culprit = culprit_id, .where = where_id, .cause = IDS_NONE, .awaited = IDS_NONE};
    *number = ledger->entry_count;
    ledger->count_of[account]++;
    return (int64_t)ledger->entry_count - 1;
}

/* --- the making ------------------------------------------------------------------------------------------------- */

/* What the device that is swept has of an entry; no interval of it overlaps another, so that sums cannot run over. */
struct own {
    int64_t time_ps[IDS_KNOWN_COUNT], in_window_ps, idle_ps;
    uint64_t intervals;
    int64_t step_ps;    /* in the step at `place`, whose sum is told when the next one begins */
    size_t place;       /* in the device's steps */
    int64_t longest_ps; /* over all devices so far */
};

/* Time in which a device waited in a collective for one that came later. */
struct wait {
    int64_t from_ps, to_ps;
    size_t visited; /* the interval's number for the visitor */
    size_t place;   /* of its step in the device's steps */
    uint32_t device, awaited, step;
    uint16_t state;
    uint8_t known;
};

/* An entry that was found before, and for which account; number 0: none. */
struct found {
    uint32_t number : 24; /* of the entry + 1 */
    uint32_t account : 8;
};

struct making {
    struct ids_analysis *analysis;
    struct ids_ledger *ledger;
    const struct ids_ledger_visitor *visitor;
    struct ids_host_time *host_time;
    struct ids_sweep_room *room;
    struct ids_step_sums by_step;                       /* by entry */
    struct found *of_op, *of_event_name, *of_idle_name; /* by op, name of an event, name of an idle part */
    struct ids_busy *busy;                              /* the device that is swept */
    uint32_t device;                                    /* its index in analysis->busy */
    const struct ids_device_steps *steps;
    size_t place;                       /* in them: the first one that ends behind what is looked at */
    uint32_t step;                      /* its index of analysis->steps.at */
    int64_t least_ps, most_ps;          /* what lies between is in that step and in the window */
    struct ids_ledger_interval pending; /* grows while the next one is the same */
    const struct ids_stretch *stretch;  /* whose parts come */
    int part;                           /* of the run's window, that ends behind what is looked at */
    int64_t part_end_ps;
    int64_t gap_part_ps; /* the longest part of the gap that is swept */
    struct own *own;     /* by entry */
    size_t own_room;
    int64_t least_of[IDS_ACCOUNT_COUNT]; /* a longer interval is one of the account's longest */
    int counts_steps; /* what entries have is of the steps, where there are steps; else of the window */
    struct ids_meetings meetings;
    struct ids_past *past; /* by active device; NULL where nobody meets */
    uint32_t *busy_of;     /* by trace->devices: index of analysis->busy */
    struct wait *waits;
    size_t wait_count, wait_room;
    size_t visited;
    struct ids_arena names;            /* of those who were waited for */
    struct ids_keymap entry_of_wait;   /* who, and what it did -> entry + 1 */
    struct ids_keymap awaited_numbers; /* step and device -> index of ledger->awaited + 1 */
};

/* An entry, with room for what devices have of it. */
static int64_t make_entry(struct making *making, enum ids_account account, struct ids_text culprit,
                          struct ids_text where) {
    int64_t entry = ids_ledger_entry_of(making->ledger, account, culprit, where);
    if (entry < 0 || (size_t)entry < making->own_room) return entry;
    size_t room = making->ledger->entry_room;
    struct own *grown = realloc(making->own, room * sizeof *grown);
    if (!grown) return -1;
    memset(grown + making->own_room, 0, (room - making->own_room) * sizeof *grown);
    making->own = grown;
    making->own_room = room;
    return entry;
}

/* The step's time of an entry is whole. */
static int end_step(struct making *making, size_t entry, struct own *own) {
    if (!own->step_ps) return 0;
    const struct ids_ledger *ledger = making->ledger;
    struct ids_account_times *times = &ledger->in_step[ledger->first_step[making->device] + own->place];
    times->ps[ledger->entries[entry].account] += own->step_ps;
    int failed = ids_step_sums_add_to(&making->by_step, entry, making->steps->at[own->place].step, own->step_ps);
    own->step_ps = 0;
    return failed;
}

__attribute__((noinline)) static void set_longest(struct making *making, const struct ids_ledger_interval *interval,
                                                  struct own *own) {
    struct ids_ledger_entry *entry = &making->ledger->entries[interval->entry];
    own->longest_ps = entry->longest_ps = interval->to_ps - interval->from_ps;
    entry->longest_at_ps = interval->from_ps;
    entry->longest_device = making->device;
    entry->evidence = interval->event;
}

__attribute__((noinline)) static void keep_longest(struct making *making, const struct ids_ledger_interval *interval) {
    struct ids_ledger_longest *longest = &making->ledger->longest[interval->account];
    int64_t length_ps = interval->to_ps - interval->from_ps;
    size_t place = longest->count < IDS_LEDGER_LONGEST ? longest->count++ : IDS_LEDGER_LONGEST - 1;
    for (; place; place--) {
        const struct ids_ledger_interval *before = &longest->at[place - 1];
        if (before->to_ps - before->from_ps >= length_ps) break;
        longest->at[place] = *before;
    }
    longest->at[place] = *interval;
    const struct ids_ledger_interval *last = &longest->at[IDS_LEDGER_LONGEST - 1];
    if (longest->count == IDS_LEDGER_LONGEST) making->least_of[interval->account] = last->to_ps - last->from_ps;
}

static inline int book_entry(struct making *making, const struct ids_ledger_interval *interval, size_t place) {
    int64_t length_ps = interval->to_ps - interval->from_ps;
    struct own *own = &making->own[interval->entry];
    int in_window = interval->state & IDS_IS_IN_WINDOW, in_step = interval->step != IDS_NONE;
    if (in_window) {
        own->in_window_ps += length_ps;
        if (!(interval->state & IDS_IS_BUSY)) own->idle_ps += length_ps;
    }
    if (making->counts_steps ? !in_step : !in_window) return 0;
    if (interval->account == IDS_COPY_H2D && interval->state & IDS_IS_D2H)
        making->ledger->both_ways_ps[making->device] += length_ps;
    own->time_ps[interval->known] += length_ps;
    own->intervals++;
    if (length_ps > own->longest_ps) set_longest(making, interval, own);
    if (length_ps > making->least_of[interval->account]) keep_longest(making, interval);
    if (!in_step) return 0;
    if (own->place != place) {
        if (end_step(making, interval->entry, own)) return -1;
        own->place = place;
    }
    own->step_ps += length_ps;
    return 0;
}

static int await(struct making *making, const struct ids_ledger_interval *interval) {
    const struct ids_meeting *meeting = ids_meeting_of_event(&making->meetings, interval->event);
    struct wait *wait = IDS_PUSH(making->waits, making->wait_count, making->wait_room);
    if (!wait) return -1;
    *wait = (struct wait){interval->from_ps, interval->to_ps, making->visited,
                          making->place,     making->device,  making->busy_of[meeting->last->device],
                          interval->step,    interval->state, interval->known};
    return 0;
}

/* Sums up an interval that does not grow any more, and hands it on. */
static int book(struct making *making, struct ids_error *err) {
    const struct ids_ledger_interval *interval = &making->pending;
    if (interval->to_ps <= interval->from_ps) return 0;
    int failed = interval->entry == IDS_NONE ? await(making, interval) : book_entry(making, interval, making->place);
    if (failed || (making->past && ids_past_add(&making->past[making->device], interval))) return ids_no_memory(err);
    making->visited++;
    return making->visitor ? making->visitor->interval(making->visitor->context, interval, err) : 0;
}

/* The device is done: what it has of each entry goes to the sums of all. */
static int end_device(struct making *making, struct ids_error *err) {
    struct ids_ledger *ledger = making->ledger;
    for (size_t e = 0; e < ledger->entry_count && e < making->own_room; e++) {
        struct own *own = &making->own[e];
        struct ids_ledger_entry *entry = &ledger->entries[e];
        if (end_step(making, e, own)) return ids_no_memory(err);
        int64_t time_ps = 0;
        for (int known = 0; known < IDS_KNOWN_COUNT; known++) {
            time_ps += own->time_ps[known];
            ids_sum(&entry->time_ps[known], own->time_ps[known]);
        }
        ids_sum(&entry->in_window_ps, own->in_window_ps);
        ledger->in_window[making->device].ps[entry->account] += own->in_window_ps;
        ledger->idle[making->device].ps[entry->account] += own->idle_ps;
        entry->intervals += own->intervals;
        *own = (struct own){.longest_ps = own->longest_ps};
        if (!time_ps) continue;
        struct ids_entry_share *share = IDS_PUSH(ledger->shares, ledger->share_count, ledger->share_room);
        if (!share) return ids_no_memory(err);
        *share = (struct ids_entry_share){making->device, (uint32_t)e, time_ps};
    }
    return 0;
}

static int put(struct making *making, const struct ids_ledger_interval *interval, struct ids_error *err) {
    struct ids_ledger_interval *pending = &making->pending;
    if (pending->to_ps == interval->from_ps && pending->entry == interval->entry && pending->step == interval->step &&
        pending->state == interval->state && pending->known == interval->known && pending->event == interval->event) {
        pending->to_ps = interval->to_ps;
        return 0;
    }
    int code = book(making, err);
    *pending = *interval;
    return code;
}

/* The step that the next moment is in, or before. */
static void set_place(struct making *making, size_t place) {
    making->place = place;
    making->step = place < making->steps->count ? making->steps->at[place].step : IDS_NONE;
}

/* What follows is mostly inside the same step and the window. */
static void set_bounds(struct making *making) {
    making->least_ps = INT64_MAX;
    if (making->place == making->steps->count) return;
    const struct ids_device_step *step = &making->steps->at[making->place];
    const struct ids_busy *busy = making->busy;
    making->least_ps = step->from_ps > busy->start_ps ? step->from_ps : busy->start_ps;
    making->most_ps = step->to_ps < busy->end_ps ? step->to_ps : busy->end_ps;
}

/* Puts the first part of an interval, up to where the window or a step begins or ends, and leaves the rest. */
static int put_part(struct making *making, struct ids_ledger_interval *rest, struct ids_error *err) {
    const struct ids_device_steps *steps = making->steps;
    const struct ids_busy *busy = making->busy;
    if (making->place < steps->count && steps->at[making->place].to_ps <= rest->from_ps) {
        int code = book(making, err); /* by the step that it is in */
        if (code) return code;
        making->pending.to_ps = making->pending.from_ps;
        size_t place = making->place;
        while (place < steps->count && steps->at[place].to_ps <= rest->from_ps) place++;
        set_place(making, place);
    }
    const struct ids_device_step *step = making->place < steps->count ? &steps->at[making->place] : NULL;
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
    return put(making, &part, err);
}

/* Cuts at the ends of the window and of steps; uses the interval up. */
static int put_cut(struct making *making, struct ids_ledger_interval *interval, struct ids_error *err) {
    if (interval->from_ps >= making->least_ps && interval->to_ps <= making->most_ps) {
        interval->step = making->step;
        interval->state |= IDS_IS_IN_WINDOW;
        return put(making, interval, err);
    }
    int code = 0;
    while (interval->from_ps < interval->to_ps && !code) code = put_part(making, interval, err);
    set_bounds(making);
    return code;
}

/* --- what does not run -------------------------------------------------------------------------------------------- */

/* A gap is called as the longest of its parts. */
static void name_gap(struct making *making, uint32_t entry, int64_t from_ps, int64_t to_ps) {
    struct ids_analysis *analysis = making->analysis;
    if (to_ps - from_ps <= making->gap_part_ps || analysis->gap_count == making->busy->first_gap) return;
    struct ids_gap *gap = &analysis->gaps[analysis->gap_count - 1];
    if (to_ps <= gap->start_ps || from_ps >= gap->end_ps) return;
    making->gap_part_ps = to_ps - from_ps;
    gap->entry = entry;
}

static int put_idle(void *context, const struct ids_idle_part *part, struct ids_error *err) {
    struct making *making = context;
    struct found *found = &making->of_idle_name[part->name];
    if (!found->number || found->account != part->account) {
        struct ids_text culprit, where, recorded;
        ids_host_time_name(making->host_time, (enum ids_account)part->account, part->name, &culprit, &where, &recorded);
        int64_t made = make_entry(making, (enum ids_account)part->account, culprit, where);
        if (made < 0) return ids_no_memory(err);
        struct ids_ledger_entry *entry = &making->ledger->entries[made];
        if (!entry->recorded && recorded.length)
            entry->recorded = ids_intern(&making->ledger->texts, recorded.at, recorded.length);
        if (entry->recorded == IDS_NO_TEXT) return ids_no_memory(err);
        *found = (struct found){(uint32_t)(made + 1) & 0xffffff, part->account};
    }
    uint32_t entry = found->number - 1;
    name_gap(making, entry, part->from_ps, part->to_ps);
    struct ids_ledger_interval interval = {.from_ps = part->from_ps,
                                           .to_ps = part->to_ps,
                                           .event = part->event,
                                           .busy = making->device,
                                           .entry = entry,
                                           .state = making->stretch->state,
                                           .account = part->account,
                                           .known = part->known};
    return put_cut(making, &interval, err);
}

/* --- what runs -------------------------------------------------------------------------------------------------- */

static enum ids_account account_of_stretch(const struct ids_trace *trace, const struct ids_stretch *stretch) {
    static const uint8_t accounts[IDS_RANK_COUNT] = {
        [IDS_RANK_COMPUTE] = IDS_WORK_COMPUTE, [IDS_RANK_COLLECTIVE] = IDS_COMM_TRANSFER,
        [IDS_RANK_H2D] = IDS_COPY_H2D,         [IDS_RANK_D2H] = IDS_COPY_D2H,
        [IDS_RANK_D2D] = IDS_COPY_D2D,         [IDS_RANK_P2P] = IDS_COPY_P2P,
        [IDS_RANK_SET] = IDS_COPY_SET,         [IDS_RANK_OTHER_COPY] = IDS_COPY_OTHER,
        [IDS_RANK_BARRIER] = IDS_COMM_WAIT,    [IDS_RANK_STALL] = IDS_STALL_DEVICE};
    const struct ids_event *event = stretch->event;
    if (stretch->rank != IDS_RANK_STALL || event->op == IDS_NONE) return (enum ids_account)accounts[stretch->rank];
    const struct ids_op *op = &trace->ops[event->op];
    if (op->calls_back) return IDS_HOST_PYTHON;
    return op->collective ? IDS_COMM_TRANSFER : IDS_STALL_DEVICE; /* TPU: the -done of a copy has the copy beside it */
}

static struct ids_text name_of_work(const struct ids_trace *trace, const struct ids_event *event) {
    /* A collective of a framework is called by its kernel: every one of them is launched by the same op. */
    int by_kernel = event->op == IDS_NONE || (event->collective && trace->ops[event->op].framework);
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

static int entry_of_work(struct making *making, enum ids_account account, const struct ids_event *event,
                         uint32_t *ret_entry) {
    const struct ids_trace *trace = making->analysis->trace;
    struct found *found = event->op != IDS_NONE ? &making->of_op[event->op] : &making->of_event_name[event->name];
    if (!found->number || found->account != (unsigned)account) {
        int64_t entry = make_entry(making, account, name_of_work(trace, event), place_of_work(trace, event));
        if (entry < 0) return -1;
        *found = (struct found){(uint32_t)(entry + 1) & 0xffffff, account};
    }
    *ret_entry = found->number - 1;
    return 0;
}

/* Until the last of those who take part has come, it is a wait. Where the others are not recorded, that all have
 * come is only assumed. */
static int put_collective(struct making *making, const struct ids_stretch *stretch, struct ids_error *err) {
    const struct ids_event *event = stretch->event;
    const struct ids_meeting *meeting = making->past ? ids_meeting_of_event(&making->meetings, event) : NULL;
    struct ids_ledger_interval interval = {.from_ps = stretch->from_ps,
                                           .to_ps = stretch->to_ps,
                                           .event = event,
                                           .busy = making->device,
                                           .entry = IDS_NONE,
                                           .state = stretch->state,
                                           .account = IDS_COMM_WAIT};
    if (meeting && meeting->last->device != event->device && meeting->all_ps > stretch->from_ps) {
        int64_t late_ps = meeting->last->start_ps - event->start_ps;
        if (meeting->all_ps < interval.to_ps) interval.to_ps = meeting->all_ps;
        interval.known = meeting->doubt_ps >= 0 && late_ps > meeting->doubt_ps ? IDS_RECORDED : IDS_INFERRED;
        struct ids_ledger_interval wait = interval;
        int code = put_cut(making, &wait, err);
        if (code || interval.to_ps == stretch->to_ps) return code;
        interval.from_ps = interval.to_ps;
        interval.to_ps = stretch->to_ps;
    }
    interval.account = IDS_COMM_TRANSFER;
    interval.known = meeting ? IDS_RECORDED : IDS_INFERRED;
    if (entry_of_work(making, IDS_COMM_TRANSFER, event, &interval.entry)) return ids_no_memory(err);
    return put_cut(making, &interval, err);
}

static int put_work(struct making *making, const struct ids_stretch *stretch, struct ids_error *err) {
    const struct ids_trace *trace = making->analysis->trace;
    const struct ids_event *event = stretch->event;
    enum ids_account account = account_of_stretch(trace, stretch);
    if (account == IDS_COMM_TRANSFER) return put_collective(making, stretch, err);
    if (account == IDS_HOST_PYTHON) return ids_host_time_call_back(making->host_time, stretch, put_idle, making, err);
    uint32_t entry;
    if (entry_of_work(making, account, event, &entry)) return ids_no_memory(err);
    if (!(stretch->state & IDS_IS_BUSY)) name_gap(making, entry, stretch->from_ps, stretch->to_ps);
    struct ids_ledger_interval interval = {.from_ps = stretch->from_ps,
                                           .to_ps = stretch->to_ps,
                                           .event = event,
                                           .busy = making->device,
                                           .entry = entry,
                                           .state = stretch->state,
                                           .account = (uint8_t)account,
                                           .known = IDS_RECORDED};
    return put_cut(making, &interval, err);
}

/* --- states and gaps -------------------------------------------------------------------------------------------- */

static void add_to_part(struct ids_part *part, unsigned state, int64_t ps) {
    if (state & IDS_IS_WORKING) part->working_ps += ps;
    if (state & IDS_IS_COMPUTE) part->compute_ps += ps;
    if (state & IDS_IS_COLLECTIVE) part->collective_ps += ps;
    if (state & IDS_IS_COPY) part->copy_ps += ps;
}

/* The time of a state, in the window and in its parts. */
static void add_state(struct making *making, const struct ids_stretch *stretch) {
    struct ids_busy *busy = making->busy;
    int64_t from_ps = stretch->from_ps > busy->start_ps ? stretch->from_ps : busy->start_ps;
    int64_t to_ps = stretch->to_ps < busy->end_ps ? stretch->to_ps : busy->end_ps;
    if (!stretch->state || from_ps >= to_ps) return;
    busy->in_state_ps[stretch->state] += to_ps - from_ps;
    while (from_ps < to_ps) {
        while (making->part_end_ps <= from_ps && making->part + 1 < IDS_PARTS)
            making->part_end_ps = ids_part_start(making->analysis, ++making->part + 1);
        int64_t until_ps = making->part_end_ps < to_ps && making->part + 1 < IDS_PARTS ? making->part_end_ps : to_ps;
        add_to_part(&busy->parts[making->part], stretch->state, until_ps - from_ps);
        from_ps = until_ps;
    }
}

static int see_gap(struct making *making, const struct ids_stretch *stretch, struct ids_error *err) {
    struct ids_analysis *analysis = making->analysis;
    const struct ids_busy *busy = making->busy;
    int64_t from_ps = stretch->gap_from_ps > busy->start_ps ? stretch->gap_from_ps : busy->start_ps;
    int64_t to_ps = stretch->gap_to_ps < busy->end_ps ? stretch->gap_to_ps : busy->end_ps;
    if (to_ps <= from_ps) return 0;
    if (analysis->gap_count > busy->first_gap && analysis->gaps[analysis->gap_count - 1].start_ps == from_ps) return 0;
    making->gap_part_ps = 0;
    struct ids_gap *gap = IDS_PUSH(analysis->gaps, analysis->gap_count, analysis->gap_room);
    if (!gap) return ids_no_memory(err);
    *gap = (struct ids_gap){from_ps, to_ps, stretch->previous, stretch->next, making->device, IDS_NONE};
    return 0;
}

static int put_stretch(void *context, const struct ids_stretch *stretch, struct ids_error *err) {
    struct making *making = context;
    int code = 0;
    add_state(making, stretch);
    if (!(stretch->state & IDS_IS_BUSY)) code = see_gap(making, stretch, err);
    if (code) return code;
    making->stretch = stretch;
    if (stretch->rank == IDS_RANK_IDLE)
        return ids_host_time_divide(making->host_time, making->busy, stretch, put_idle, making, err);
    return put_work(making, stretch, err);
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static const struct ids_device_steps *steps_of(const struct making *making, uint32_t device) {
    static const struct ids_device_steps none;
    const struct ids_analysis *analysis = making->analysis;
    return analysis->steps.of_device ? &analysis->steps.of_device[analysis->busy[device].index] : &none;
}

static int sweep_device(struct making *making, uint32_t index, struct ids_error *err) {
    struct ids_analysis *analysis = making->analysis;
    struct ids_busy *busy = making->busy = &analysis->busy[index];
    making->device = index;
    making->steps = steps_of(making, index);
    making->least_ps = INT64_MAX; /* set by the first one */
    set_place(making, 0);
    making->part = 0;
    making->part_end_ps = ids_part_start(analysis, 1);
    making->pending =
        (struct ids_ledger_interval){.from_ps = INT64_MIN, .to_ps = INT64_MIN}; /* nothing follows on it */
    making->gap_part_ps = 0;
    busy->first_gap = analysis->gap_count;
    int64_t from_ps = busy->start_ps, to_ps = busy->end_ps;
    for (size_t i = 0; i < making->steps->count; i++) {
        const struct ids_device_step *step = &making->steps->at[i];
        if (step->step == IDS_NONE) continue;
        if (step->from_ps < from_ps) from_ps = step->from_ps;
        if (step->to_ps > to_ps) to_ps = step->to_ps;
    }
    int code = from_ps < to_ps ? ids_sweep_device(making->room, busy, from_ps, to_ps, put_stretch, making, err) : 0;
    if (!code) code = book(making, err);
    busy->gap_count = analysis->gap_count - busy->first_gap;
    return code ? code : end_device(making, err);
}

/* --- who was waited for ----------------------------------------------------------------------------------------- */

/* "rank 1: host.python load (loader.py:88)", who and what it did. */
static int64_t make_entry_of_wait(struct making *making, uint32_t awaited, uint32_t cause) {
    const struct ids_analysis *analysis = making->analysis;
    struct ids_ledger *ledger = making->ledger;
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
    const char *name = ids_rank_name(analysis->trace, analysis->busy[awaited].device, &making->names);
    if (!name) return -1;
    int64_t number = make_entry(making, IDS_COMM_WAIT, (struct ids_text){name, (uint32_t)strlen(name)},
                                (struct ids_text){did, (uint32_t)length});
    if (number < 0) return -1;
    ledger->entries[number].awaited = awaited;
    ledger->entries[number].cause = cause;
    return number;
}

static int64_t entry_of_wait(struct making *making, uint32_t awaited, uint32_t cause) {
    uint64_t *known = ids_keymap_at(&making->entry_of_wait, ids_key_of(awaited, cause));
    if (!known) return -1;
    if (!*known) {
        int64_t made = make_entry_of_wait(making, awaited, cause);
        if (made < 0) return -1;
        *known = (uint64_t)made + 1;
    }
    return (int64_t)*known - 1;
}

static int sum_awaited(struct making *making, const struct wait *wait) {
    struct ids_ledger *ledger = making->ledger;
    int counts = making->counts_steps ? wait->step != IDS_NONE : (wait->state & IDS_IS_IN_WINDOW) != 0;
    if (!counts) return 0;
    uint64_t *number = ids_keymap_at(&making->awaited_numbers, ids_key_of(wait->step, wait->awaited));
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

static int resolve_waits(struct making *making, struct ids_error *err) {
    const struct ids_ledger *ledger = making->ledger;
    for (size_t w = 0; w < making->wait_count; w++) {
        const struct wait *wait = &making->waits[w];
        if (w && wait->device != making->waits[w - 1].device) {
            int code = end_device(making, err);
            if (code) return code;
        }
        making->device = wait->device;
        making->steps = steps_of(making, wait->device);
        uint32_t cause = ids_past_why_late(&making->past[wait->awaited], &making->past[wait->device], ledger,
                                           wait->from_ps, wait->to_ps);
        int64_t entry = entry_of_wait(making, wait->awaited, cause);
        struct ids_ledger_interval interval = {.from_ps = wait->from_ps,
                                               .to_ps = wait->to_ps,
                                               .busy = wait->device,
                                               .step = wait->step,
                                               .entry = (uint32_t)entry,
                                               .state = wait->state,
                                               .account = IDS_COMM_WAIT,
                                               .known = wait->known};
        if (entry < 0 || book_entry(making, &interval, wait->place) || sum_awaited(making, wait))
            return ids_no_memory(err);
        if (making->visitor) making->visitor->entry(making->visitor->context, wait->visited, (uint32_t)entry);
    }
    return making->wait_count ? end_device(making, err) : 0;
}

/* Nobody meets where there is one device, or none of them has a collective. */
static int prepare_meetings(struct making *making, struct ids_error *err) {
    const struct ids_analysis *analysis = making->analysis;
    if (analysis->busy_count < 2) return 0;
    int code = ids_meetings_of(analysis->trace, &making->meetings, err);
    if (code || !making->meetings.count) return code;
    making->past = calloc(analysis->busy_count, sizeof *making->past);
    making->busy_of = calloc(analysis->trace->device_count, sizeof *making->busy_of);
    if (!making->past || !making->busy_of) return ids_no_memory(err);
    for (size_t b = 0; b < analysis->busy_count; b++) making->busy_of[analysis->busy[b].index] = (uint32_t)b;
    return 0;
}

/* What holds up work that is launched, a file seldom says; what the host does meanwhile often is the same cause. */
static int say_meanwhile(struct making *making, struct ids_error *err) {
    struct ids_ledger *ledger = making->ledger;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->account != IDS_DEVICE_QUEUE || !entry->longest_ps) continue;
        struct ids_text text =
            ids_host_time_meanwhile(making->host_time, &making->analysis->busy[entry->longest_device],
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
    if (!ledger->first_step || !ledger->first_share || !ledger->both_ways_ps || !ledger->in_window || !ledger->idle)
        return -1;
    for (size_t b = 0; b < devices; b++) {
        ledger->first_step[b] = steps;
        if (analysis->steps.of_device) steps += analysis->steps.of_device[analysis->busy[b].index].count;
    }
    ledger->first_step[devices] = steps;
    ledger->in_step = calloc(steps + 1, sizeof *ledger->in_step);
    return ledger->in_step ? 0 : -1;
}

int ids_ledger_make(struct ids_analysis *analysis, const struct ids_ledger_visitor *visitor, struct ids_error *err) {
    struct ids_ledger *ledger = &analysis->ledger;
    struct making making = {.analysis = analysis,
                            .ledger = ledger,
                            .visitor = visitor,
                            .by_step = ids_step_sums_of(analysis),
                            .counts_steps = analysis->steps.count > 0};
    if (make_room(analysis) || ids_intern_z(&ledger->texts, "") == IDS_NO_TEXT) return ids_no_memory(err);
    int code = ids_host_time_new(analysis, &making.host_time, err);
    if (!code) {
        making.of_op = calloc(analysis->trace->op_count + 1, sizeof *making.of_op);
        making.of_event_name = calloc(analysis->trace->name_count + 1, sizeof *making.of_event_name);
        making.of_idle_name = calloc(ids_host_time_names(making.host_time) + 1, sizeof *making.of_idle_name);
        if (!making.of_op || !making.of_event_name || !making.of_idle_name) code = ids_no_memory(err);
    }
    if (!code) code = ids_sweep_room_new(analysis, &making.room, err);
    if (!code) code = prepare_meetings(&making, err);
    for (size_t b = 0; b < analysis->busy_count && !code; b++) code = sweep_device(&making, (uint32_t)b, err);
    if (!code) code = resolve_waits(&making, err);
    if (!code) code = say_meanwhile(&making, err);
    order_shares(ledger, analysis->busy_count);
    for (size_t entry = 0; entry < ledger->entry_count && !code; entry++) {
        const struct ids_step_sum *row = ids_step_sum_of(&making.by_step, entry);
        ledger->entries[entry].squares = ids_step_sum_squares(row);
        ledger->entries[entry].recurs = ids_recurrence_of(row->cells, row->count, analysis->steps.count);
    }
    ids_host_time_free(making.host_time);
    ids_sweep_room_free(making.room);
    ids_step_sums_done(&making.by_step);
    free(making.of_op);
    free(making.of_event_name);
    free(making.of_idle_name);
    free(making.own);
    for (size_t b = 0; making.past && b < analysis->busy_count; b++) ids_past_done(&making.past[b]);
    free(making.past);
    free(making.busy_of);
    free(making.waits);
    ids_meetings_done(&making.meetings);
    ids_arena_done(&making.names);
    ids_keymap_done(&making.entry_of_wait);
    ids_keymap_done(&making.awaited_numbers);
    return code;
}

void ids_ledger_done(struct ids_ledger *ledger) {
    ids_strings_done(&ledger->texts);
    free(ledger->entries);
    ids_keymap_done(&ledger->entry_numbers);
    free(ledger->in_window);
    free(ledger->idle);
    free(ledger->in_step);
    free(ledger->first_step);
    free(ledger->both_ways_ps);
    free(ledger->shares);
    free(ledger->first_share);
    free(ledger->awaited);
}
