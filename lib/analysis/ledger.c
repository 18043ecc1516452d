#include "lib/analysis/ledger.h"

#include "lib/analysis/context.h"
#include "lib/analysis/device_sweep.h"
#include "lib/analysis/host_time.h"
#include "lib/analysis/step_sums.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

const char *ids_known_name(enum ids_known known) {
    static const char *const names[IDS_KNOWN_COUNT] = {"recorded", "inferred", "unknown"};
    return known < IDS_KNOWN_COUNT ? names[known] : "";
}

/* --- entries ---------------------------------------------------------------------------------------------------- */

int64_t ids_ledger_entry_of(struct ids_ledger *ledger, enum ids_account account, struct ids_text culprit,
                            struct ids_text where) {
    uint32_t culprit_id = ids_intern(&ledger->texts, culprit.length ? culprit.at : "", culprit.length);
    uint32_t where_id = ids_intern(&ledger->texts, where.length ? where.at : "", where.length);
    if (culprit_id == IDS_NO_TEXT || where_id == IDS_NO_TEXT) return -1;
    uint64_t key = ids_key_of(ids_key_of(account, culprit_id), where_id);
    uint64_t *number = ids_keymap_at(&ledger->entry_numbers, key);
    if (!number) return -1;
    if (*number) return (int64_t)*number - 1;
    struct ids_ledger_entry *fresh = IDS_PUSH(ledger->entries, ledger->entry_count, ledger->entry_room);
    if (!fresh) return -1;
    *fresh = (struct ids_ledger_entry){.account = (uint8_t)account, .culprit = culprit_id, .where = where_id};
    *number = ledger->entry_count;
    return (int64_t)ledger->entry_count - 1;
}

/* --- the making ------------------------------------------------------------------------------------------------- */

/* What one gap's time went to, for the name of the gap. */
struct gap_part {
    uint32_t entry;
    int64_t ps;
};

struct making {
    struct ids_analysis *analysis;
    struct ids_ledger *ledger;
    const struct ids_ledger_visitor *visitor;
    struct ids_host_time *host_time;
    struct ids_step_sums by_step;  /* by entry */
    struct ids_keymap entry_of;    /* what a stretch or a part is, by number -> entry + 1: the texts are made once */
    struct ids_busy *busy;         /* the device that is swept */
    uint32_t device;               /* its index in analysis->busy */
    const struct ids_device_steps *steps;
    size_t step;                   /* the first of them that ends behind what is looked at */
    struct ids_ledger_interval pending; /* grows while the next one is the same */
    const struct ids_stretch *stretch;  /* whose parts come */
    struct gap_part *gap_parts;
    size_t gap_part_count, gap_part_room;
    int64_t *share;    /* by entry: what the device has of it */
    size_t share_room;
};

static int64_t *share_of(struct making *making, size_t entry) {
    if (entry >= making->share_room) {
        size_t room = entry + entry / 2 + 256;
        int64_t *grown = realloc(making->share, room * sizeof *grown);
        if (!grown) return NULL;
        for (size_t i = making->share_room; i < room; i++) grown[i] = 0;
        making->share = grown;
        making->share_room = room;
    }
    return &making->share[entry];
}

/* Sums up an interval that does not grow any more, and hands it on. */
static int book(struct making *making, struct ids_error *err) {
    const struct ids_ledger_interval *interval = &making->pending;
    struct ids_ledger *ledger = making->ledger;
    int64_t length_ps = interval->to_ps - interval->from_ps;
    if (length_ps <= 0) return 0;
    int in_window = (interval->state & IDS_IS_IN_WINDOW) != 0;
    struct ids_ledger_entry *entry = &ledger->entries[interval->entry];
    if (in_window) {
        ids_sum(&ledger->in_window[making->device].ps[interval->account], length_ps);
        ids_sum(&entry->in_window_ps, length_ps);
        if (!(interval->state & IDS_IS_BUSY)) ids_sum(&ledger->idle[making->device].ps[interval->account], length_ps);
    }
    /* The table is of the steps, where there are steps. */
    if (making->analysis->steps.count ? interval->step != IDS_NONE : in_window) {
        int64_t *share = share_of(making, interval->entry);
        if (!share) return ids_no_memory(err);
        ids_sum(share, length_ps);
        ids_sum(&entry->time_ps[interval->known], length_ps);
        entry->intervals++;
        if (length_ps > entry->longest_ps) {
            entry->longest_ps = length_ps;
            entry->longest_at_ps = interval->from_ps;
            entry->longest_device = making->device;
            entry->evidence = interval->event;
        }
        if (interval->step != IDS_NONE) {
            size_t place = ledger->first_step[making->device] + making->step;
            ids_sum(&ledger->in_step[place].ps[interval->account], length_ps);
            if (ids_step_sums_add_to(&making->by_step, interval->entry, interval->step, length_ps))
                return ids_no_memory(err);
        }
    }
    return making->visitor ? making->visitor->interval(making->visitor->context, interval, err) : 0;
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

/* Cuts at the ends of the window and of steps. */
static int put_cut(struct making *making, struct ids_ledger_interval interval, struct ids_error *err) {
    const struct ids_device_steps *steps = making->steps;
    const struct ids_busy *busy = making->busy;
    int64_t end_ps = interval.to_ps;
    uint16_t state = interval.state;
    while (interval.from_ps < end_ps) {
        if (making->step < steps->count && steps->at[making->step].to_ps <= interval.from_ps) {
            int code = book(making, err); /* by the step that it is in */
            if (code) return code;
            making->pending.to_ps = making->pending.from_ps;
            while (making->step < steps->count && steps->at[making->step].to_ps <= interval.from_ps) making->step++;
        }
        const struct ids_device_step *step = making->step < steps->count ? &steps->at[making->step] : NULL;
        int64_t to_ps = end_ps;
        interval.step = IDS_NONE;
        if (step && interval.from_ps >= step->from_ps) {
            interval.step = step->step;
            if (step->to_ps < to_ps) to_ps = step->to_ps;
        } else if (step && step->from_ps < to_ps) {
            to_ps = step->from_ps;
        }
        int in_window = interval.from_ps >= busy->start_ps && interval.from_ps < busy->end_ps;
        if (interval.from_ps < busy->start_ps && busy->start_ps < to_ps) to_ps = busy->start_ps;
        if (in_window && busy->end_ps < to_ps) to_ps = busy->end_ps;
        interval.state = (uint16_t)(state | (in_window ? IDS_IS_IN_WINDOW : 0));
        interval.to_ps = to_ps;
        int code = put(making, &interval, err);
        if (code) return code;
        interval.from_ps = to_ps;
    }
    return 0;
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
    /* TPU: what a -done waits for is what it ends. */
    const struct ids_op *op = &trace->ops[event->op];
    if (op->collective) return IDS_COMM_TRANSFER;
    if (op->direction == IDS_H2D) return IDS_COPY_H2D;
    return op->direction == IDS_D2H ? IDS_COPY_D2H : IDS_STALL_DEVICE;
}

static struct ids_text name_of_work(const struct ids_trace *trace, const struct ids_event *event) {
    uint32_t text = event->op == IDS_NONE ? 0 : trace->ops[event->op].name;
    if (!text) text = trace->names[event->name].display ? trace->names[event->name].display : trace->names[event->name].text;
    return ids_strings_text(&trace->strings, text);
}

static struct ids_text place_of_work(const struct ids_trace *trace, const struct ids_event *event) {
    if (event->op == IDS_NONE) return (struct ids_text){"", 0};
    const struct ids_op *op = &trace->ops[event->op];
    uint32_t text = op->framework_name ? op->framework_name : op->source;
    if (!text && op->module != IDS_NONE) text = trace->modules[op->module].name;
    return ids_strings_text(&trace->strings, text);
}

/* The entry of a number that stands for its account and texts, made when it is asked for the first time; -1: no memory. */
static int64_t entry_by_number(struct making *making, uint64_t number, enum ids_account account,
                               struct ids_text culprit, struct ids_text where) {
    uint64_t key = ids_key_of(number, account), *known = NULL;
    if (number && !(known = ids_keymap_at(&making->entry_of, key))) return -1;
    if (known && *known) return (int64_t)*known - 1;
    int64_t entry = ids_ledger_entry_of(making->ledger, account, culprit, where);
    if (known && entry >= 0) *known = (uint64_t)entry + 1;
    return entry;
}

static int put_work(struct making *making, const struct ids_stretch *stretch, struct ids_error *err) {
    const struct ids_trace *trace = making->analysis->trace;
    const struct ids_event *event = stretch->event;
    enum ids_account account = account_of_stretch(trace, stretch);
    uint64_t number = event->op != IDS_NONE ? (uint64_t)1 << 63 | event->op : (uint64_t)1 << 62 | event->name;
    int64_t entry = entry_by_number(making, number, account, name_of_work(trace, event), place_of_work(trace, event));
    if (entry < 0) return ids_no_memory(err);
    return put_cut(making,
                   (struct ids_ledger_interval){.from_ps = stretch->from_ps,
                                                .to_ps = stretch->to_ps,
                                                .event = event,
                                                .busy = making->device,
                                                .entry = (uint32_t)entry,
                                                .state = stretch->state,
                                                .account = (uint8_t)account,
                                                .known = IDS_RECORDED},
                   err);
}

/* --- what does not ---------------------------------------------------------------------------------------------- */

static int note_gap_part(struct making *making, uint32_t entry, int64_t from_ps, int64_t to_ps) {
    if (from_ps < making->busy->start_ps) from_ps = making->busy->start_ps;
    if (to_ps > making->busy->end_ps) to_ps = making->busy->end_ps;
    if (to_ps <= from_ps) return 0;
    for (size_t i = 0; i < making->gap_part_count; i++) {
        if (making->gap_parts[i].entry != entry) continue;
        ids_sum(&making->gap_parts[i].ps, to_ps - from_ps);
        return 0;
    }
    enum { MOST = 64 }; /* a gap of more causes has a main one among its first */
    if (making->gap_part_count >= MOST) return 0;
    struct gap_part *fresh = IDS_PUSH(making->gap_parts, making->gap_part_count, making->gap_part_room);
    if (!fresh) return -1;
    *fresh = (struct gap_part){entry, to_ps - from_ps};
    return 0;
}

static int put_idle(void *context, const struct ids_idle_part *part, struct ids_error *err) {
    struct making *making = context;
    enum ids_account account = (enum ids_account)part->account;
    int64_t entry = entry_by_number(making, part->memo, account, part->culprit, part->where);
    if (entry < 0 || note_gap_part(making, (uint32_t)entry, part->from_ps, part->to_ps)) return ids_no_memory(err);
    return put_cut(making,
                   (struct ids_ledger_interval){.from_ps = part->from_ps,
                                                .to_ps = part->to_ps,
                                                .event = part->event,
                                                .busy = making->device,
                                                .entry = (uint32_t)entry,
                                                .state = making->stretch->state,
                                                .account = part->account,
                                                .known = part->known},
                   err);
}

/* --- sets and gaps ---------------------------------------------------------------------------------------------- */

static void add_to_sets(struct ids_busy *busy, const struct ids_stretch *stretch) {
    const struct {
        unsigned state;
        struct ids_spans *set;
    } sets[] = {{IDS_IS_BUSY, &busy->busy},         {IDS_IS_WORKING, &busy->working},
                {IDS_IS_COMPUTE, &busy->compute},   {IDS_IS_COLLECTIVE, &busy->collective},
                {IDS_IS_COPY, &busy->copy},         {IDS_IS_H2D, &busy->h2d},
                {IDS_IS_D2H, &busy->d2h},           {IDS_IS_ASYNC_COPY, &busy->async_copy}};
    int64_t from_ps = stretch->from_ps > busy->start_ps ? stretch->from_ps : busy->start_ps;
    int64_t to_ps = stretch->to_ps < busy->end_ps ? stretch->to_ps : busy->end_ps;
    if (to_ps <= from_ps) return;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (stretch->state & sets[i].state) ids_spans_add(sets[i].set, from_ps, to_ps);
    }
}

/* The gap that ends here gets its main cause. */
static void close_gap(struct making *making) {
    struct ids_analysis *analysis = making->analysis;
    int64_t most_ps = -1;
    if (analysis->gap_count == making->busy->first_gap) return;
    struct ids_gap *gap = &analysis->gaps[analysis->gap_count - 1];
    for (size_t i = 0; i < making->gap_part_count; i++) {
        if (making->gap_parts[i].ps <= most_ps) continue;
        most_ps = making->gap_parts[i].ps;
        gap->entry = making->gap_parts[i].entry;
    }
    making->gap_part_count = 0;
}

static int see_gap(struct making *making, const struct ids_stretch *stretch, struct ids_error *err) {
    struct ids_analysis *analysis = making->analysis;
    const struct ids_busy *busy = making->busy;
    int64_t from_ps = stretch->gap_from_ps > busy->start_ps ? stretch->gap_from_ps : busy->start_ps;
    int64_t to_ps = stretch->gap_to_ps < busy->end_ps ? stretch->gap_to_ps : busy->end_ps;
    if (to_ps <= from_ps) return 0;
    if (analysis->gap_count > busy->first_gap && analysis->gaps[analysis->gap_count - 1].start_ps == from_ps) return 0;
    close_gap(making);
    struct ids_gap *gap = IDS_PUSH(analysis->gaps, analysis->gap_count, analysis->gap_room);
    if (!gap) return ids_no_memory(err);
    *gap = (struct ids_gap){from_ps, to_ps, stretch->previous, stretch->next, making->device, IDS_NONE};
    return 0;
}

static int put_stretch(void *context, const struct ids_stretch *stretch, struct ids_error *err) {
    struct making *making = context;
    int code = 0;
    add_to_sets(making->busy, stretch);
    if (!(stretch->state & IDS_IS_BUSY)) code = see_gap(making, stretch, err);
    if (code) return code;
    making->stretch = stretch;
    if (stretch->rank == IDS_RANK_IDLE)
        return ids_host_time_divide(making->host_time, making->busy, stretch, put_idle, making, err);
    return put_work(making, stretch, err);
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static int sweep_device(struct making *making, uint32_t index, struct ids_error *err) {
    struct ids_analysis *analysis = making->analysis;
    struct ids_ledger *ledger = making->ledger;
    static const struct ids_device_steps no_steps;
    struct ids_busy *busy = making->busy = &analysis->busy[index];
    making->device = index;
    making->steps = analysis->steps.of_device ? &analysis->steps.of_device[busy->index] : &no_steps;
    making->step = 0;
    making->pending = (struct ids_ledger_interval){0};
    making->gap_part_count = 0;
    busy->first_gap = analysis->gap_count;
    ledger->first_share[index] = ledger->share_count;
    int64_t from_ps = busy->start_ps, to_ps = busy->end_ps;
    for (size_t i = 0; i < making->steps->count; i++) {
        const struct ids_device_step *step = &making->steps->at[i];
        if (step->step == IDS_NONE) continue;
        if (step->from_ps < from_ps) from_ps = step->from_ps;
        if (step->to_ps > to_ps) to_ps = step->to_ps;
    }
    int code = from_ps < to_ps ? ids_sweep_device(analysis, busy, from_ps, to_ps, put_stretch, making, err) : 0;
    if (!code) code = book(making, err);
    close_gap(making);
    busy->gap_count = analysis->gap_count - busy->first_gap;
    struct ids_spans *sets[] = {&busy->busy, &busy->working, &busy->compute, &busy->collective,
                                &busy->copy, &busy->h2d,     &busy->d2h,     &busy->async_copy};
    for (size_t i = 0; i < sizeof sets / sizeof *sets && !code; i++) {
        if (ids_spans_unite(sets[i])) code = ids_no_memory(err);
    }
    for (size_t entry = 0; entry < ledger->entry_count && entry < making->share_room && !code; entry++) {
        if (!making->share[entry]) continue;
        struct ids_entry_share *share = IDS_PUSH(ledger->shares, ledger->share_count, ledger->share_room);
        if (!share) return ids_no_memory(err);
        *share = (struct ids_entry_share){(uint32_t)entry, making->share[entry]};
        making->share[entry] = 0;
    }
    return code;
}

static int make_room(struct ids_analysis *analysis) {
    struct ids_ledger *ledger = &analysis->ledger;
    size_t steps = 0, devices = analysis->busy_count;
    ledger->first_step = calloc(devices + 1, sizeof *ledger->first_step);
    ledger->first_share = calloc(devices + 1, sizeof *ledger->first_share);
    ledger->in_window = calloc(devices + 1, sizeof *ledger->in_window);
    ledger->idle = calloc(devices + 1, sizeof *ledger->idle);
    if (!ledger->first_step || !ledger->first_share || !ledger->in_window || !ledger->idle) return -1;
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
    struct making making = {
        .analysis = analysis, .ledger = ledger, .visitor = visitor, .by_step = ids_step_sums_of(analysis)};
    if (make_room(analysis) || ids_intern_z(&ledger->texts, "") == IDS_NO_TEXT) return ids_no_memory(err);
    int code = ids_host_time_new(analysis, &making.host_time, err);
    for (size_t b = 0; b < analysis->busy_count && !code; b++) code = sweep_device(&making, (uint32_t)b, err);
    ledger->first_share[analysis->busy_count] = ledger->share_count;
    for (size_t entry = 0; entry < ledger->entry_count && !code; entry++)
        ledger->entries[entry].squares = ids_step_sum_squares(ids_step_sum_of(&making.by_step, entry));
    ids_host_time_free(making.host_time);
    ids_step_sums_done(&making.by_step);
    ids_keymap_done(&making.entry_of);
    free(making.gap_parts);
    free(making.share);
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
    free(ledger->shares);
    free(ledger->first_share);
}
