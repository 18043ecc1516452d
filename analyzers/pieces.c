#include "analyzers/pieces.h"

#include "analyzers/data_lines.h"
#include "analyzers/joint_causes.h"
#include "analyzers/runtime_calls.h"
#include "lib/analysis/host_time.h"
#include "lib/analysis/step_sums.h"
#include "lib/analysis/unrecorded_work.h"
#include "lib/base/saturate.h"
#include "lib/model/clocks.h"
#include "lib/model/python_frame.h"
#include "lib/model/waste.h"

#include <stdlib.h>
#include <string.h>

/* --- who decides ------------------------------------------------------------------------------------------------ */

static int64_t time_of_device(const struct ids_analysis *analysis, size_t device) {
    int64_t time_ps = 0;
    const struct ids_busy *busy = &analysis->busy[device];
    if (!analysis->steps.count) return busy->end_ps - busy->start_ps;
    const struct ids_device_steps *own = &analysis->steps.of_device[busy->index];
    for (size_t i = 0; i < own->count; i++) {
        if (own->at[i].step != IDS_NONE) ids_sum(&time_ps, own->at[i].to_ps - own->at[i].from_ps);
    }
    return time_ps;
}

/* How many of the run's steps lie in a device's window, its own among them; on another clock there is none. 0 where
 * there are no steps; -1 when memory ran out. A step in which it takes no part counts, with no time of it: savings are
 * per step of the run. But what happened before its host was recorded, or on hosts whose clocks are apart, is no step
 * that it could have had. */
static int64_t count_steps_beside(const struct ids_analysis *analysis, size_t device) {
    const struct ids_busy *busy = &analysis->busy[device];
    int64_t count = 0;
    if (!analysis->steps.count) return 0;
    char *is_beside = calloc(analysis->steps.count, 1);
    if (!is_beside) return -1;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[b].index];
        if (!ids_on_one_clock(analysis->trace, busy->device, analysis->busy[b].device)) continue;
        for (size_t i = 0; i < own->count; i++) {
            const struct ids_device_step *step = &own->at[i];
            if (step->step == IDS_NONE || is_beside[step->step]) continue;
            int64_t middle_ps = step->from_ps + (step->to_ps - step->from_ps) / 2;
            is_beside[step->step] = b == device || (middle_ps >= busy->start_ps && middle_ps < busy->end_ps);
            count += is_beside[step->step];
        }
    }
    free(is_beside);
    return count;
}

/* The device with the longest own time per step: it decides when the step ends. Among equal devices (all are equal
 * without steps) it is the one that computes most. */
static int find_decider(const struct ids_analysis *analysis, struct ids_pieces *pieces) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t most_ps = -1, most_compute_ps = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        int64_t time_ps = time_of_device(analysis, b), own_ps = time_ps, compute_ps = 0;
        int64_t steps = count_steps_beside(analysis, b);
        if (steps < 0) return -1;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            int account = ledger->entries[ledger->shares[s].entry].account;
            if (account == IDS_COMM_WAIT) own_ps -= ledger->shares[s].ps;
            if (account == IDS_WORK_COMPUTE) ids_sum(&compute_ps, ledger->shares[s].ps);
        }
        if (steps) own_ps /= steps, compute_ps /= steps;
        if (own_ps < most_ps || (own_ps == most_ps && compute_ps <= most_compute_ps)) continue;
        most_ps = own_ps;
        most_compute_ps = compute_ps;
        pieces->decider = b;
        pieces->steps = steps;
        pieces->time_ps = time_ps;
    }
    return 0;
}

/* --- what it does ----------------------------------------------------------------------------------------------- */

/* Whether an op copies or changes a layout and computes nothing: HLO's copy and transpose, TPU's category, and
 * PyTorch's copies. One of a few bytes, such as a loop's counter, is but a small op. */
static int only_moves(const struct ids_trace *trace, const struct ids_ledger_entry *entry) {
    static const char *const names[] = {"copy",           "transpose",        "data formatting",
                                        "aten::copy_",    "aten::contiguous", "aten::clone",
                                        "aten::_to_copy", "aten::to",         NULL};
    if (!entry->evidence_op) return 0;
    const struct ids_op *op = &trace->ops[entry->evidence_op - 1];
    if (ids_moves_little(op)) return 0;
    const char *texts[] = {ids_trace_text(trace, op->framework ? op->name : op->opcode),
                           ids_trace_text(trace, op->category)};
    for (int t = 0; t < 2; t++) {
        for (const char *const *name = names; *name; name++) {
            if (!strcmp(texts[t], *name)) return 1;
        }
    }
    return 0;
}

static int look_at_work(const struct ids_analysis *analysis, struct ids_pieces *pieces) {
    const struct ids_ledger *ledger = &analysis->ledger;
    size_t first = ledger->first_share[pieces->decider], end = ledger->first_share[pieces->decider + 1];
    struct ids_op_families families = {0};
    int failed = 0;
    for (size_t s = first; s < end && !failed; s++) {
        const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
        enum ids_account account = (enum ids_account)entry->account;
        int64_t ps = ledger->shares[s].ps;
        if (!pieces->steps && ids_unrecorded_of(ledger, entry) == IDS_UNRECORDED_EARLIER)
            ids_sum(&pieces->earlier_ps, ps);
        if (account == IDS_WORK_COMPUTE || account == IDS_COMM_TRANSFER || ids_account_is_copy(account))
            ids_sum(&pieces->work_ps, ps);
        if (account != IDS_WORK_COMPUTE) continue;
        ids_sum(&pieces->compute_ps, ps);
        pieces->compute_intervals += entry->intervals;
        failed = ids_op_families_add(&families, analysis, entry, ps);
    }
    if (pieces->earlier_ps < pieces->time_ps / 100) pieces->earlier_ps = 0;
    pieces->time_ps -= pieces->earlier_ps;
    pieces->op = ids_op_families_largest(&families);
    for (size_t i = 0; i < families.count; i++) {
        const struct ids_op_family *family = &families.at[i];
        if (family->time_ps > pieces->mover.time_ps && only_moves(analysis->trace, family->most))
            pieces->mover = *family;
    }
    ids_op_families_done(&families);
    return failed ? -1 : 0;
}

/* --- pieces ----------------------------------------------------------------------------------------------------- */

/* Where most ops are missing from the file, so is why the device did nothing. */
static int is_unknown(const struct ids_pieces *pieces, enum ids_account account) {
    if (!pieces->excerpt.of) return 0;
    return account == IDS_DEVICE_QUEUE || account == IDS_DEVICE_UNKNOWN ||
           !strncmp(ids_account_id(account), "host.", strlen("host."));
}

static int most_first(const void *a, const void *b) {
    const struct ids_piece *left = a, *right = b;
    if (left->time_ps != right->time_ps) return left->time_ps < right->time_ps ? 1 : -1;
    if (left->account != right->account) return left->account > right->account ? 1 : -1;
    return (left->most > right->most) - (left->most < right->most);
}

/* A host whose profiler was not open makes nobody wait, and what ran before the recording is not in it. */
static int is_of_the_program(const struct ids_ledger *ledger, const struct ids_ledger_entry *entry) {
    if (ids_unrecorded_of(ledger, entry) != IDS_UNRECORDED_NONE) return 0;
    return entry->account != IDS_PROFILER ||
           strcmp(ids_strings_z(&ledger->texts, entry->culprit), IDS_NOT_RECORDING) != 0;
}

static void count_entry(struct ids_piece *piece, const struct ids_ledger_entry *entry) {
    piece->intervals += entry->intervals;
    ids_piece_see_longest(piece, entry);
    ids_sum(&piece->recorded_ps, ids_ledger_entry_recorded(entry));
    ids_sum(&piece->known_ps, ids_ledger_entry_time(entry));
}

/* The longest that a device waits in a step for others that compute for longer: in the steps of the deciding one. */
static int64_t uneven_of(const struct ids_analysis *analysis, size_t decider) {
    const int64_t *uneven_ps = analysis->ledger.uneven_ps;
    if (!analysis->steps.count) return uneven_ps[0];
    const struct ids_device_steps *own = &analysis->steps.of_device[analysis->busy[decider].index];
    int64_t sum_ps = 0;
    for (size_t i = 0; i < own->count; i++) {
        if (own->at[i].step != IDS_NONE) ids_sum(&sum_ps, uneven_ps[own->at[i].step]);
    }
    return sum_ps;
}

/* Some devices compute longer than others, which wait for them. Were all as fast as the first one, a step would be
 * shorter by what that one waits; where the same work is only divided evenly, by the mean waiting time. This time is
 * compute of the deciding device, or its own waiting, and no other piece contains either. */
static int find_imbalance(const struct ids_analysis *analysis, size_t decider, struct ids_piece *ret_piece) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_piece piece = {.account = IDS_COMM_WAIT};
    int64_t most_ps = 0, room_ps = 0;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
            int is_work = entry->cause != IDS_NONE && ledger->entries[entry->cause].account == IDS_WORK_COMPUTE;
            if (b == decider && (is_work || entry->account == IDS_WORK_COMPUTE))
                ids_sum(&room_ps, ledger->shares[s].ps);
            if (!is_work) continue;
            ids_sum(&piece.mean_wait_ps, ledger->shares[s].ps);
            int64_t of_entry_ps = ids_ledger_entry_time(entry);
            if (of_entry_ps <= most_ps) continue;
            most_ps = of_entry_ps;
            piece.most = entry;
            piece.device = entry->awaited;
        }
    }
    if (!piece.most) return 0;
    piece.mean_wait_ps /= (int64_t)analysis->busy_count;
    piece.time_ps = uneven_of(analysis, decider);
    if (piece.time_ps > room_ps) piece.time_ps = room_ps;
    piece.culprits = 1;
    piece.most_ps = piece.time_ps;
    count_entry(&piece, piece.most);
    *ret_piece = piece;
    return 1;
}

static struct ids_piece *piece_of(struct ids_pieces *pieces, enum ids_account account) {
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->at[i].account == account && pieces->at[i].scope == IDS_REMEDY_OF_ACCOUNT) return &pieces->at[i];
    }
    return NULL;
}

/* Where copies go both ways for most of the time that copies to the device take, to be rid of these alone wins
 * nothing: the others go on. */
static void join_both_ways(const struct ids_analysis *analysis, struct ids_pieces *pieces) {
    struct ids_piece *to_device = piece_of(pieces, IDS_COPY_H2D), *to_host = piece_of(pieces, IDS_COPY_D2H);
    int64_t both_ps = analysis->ledger.both_ways_ps[pieces->decider];
    if (!to_device || both_ps < to_device->time_ps / 2 || !both_ps) return;
    to_device->both_ways_ps = both_ps;
    if (!to_host) return;
    ids_piece_take(to_device, to_host);
    to_device->intervals += to_host->intervals;
    to_device->culprits += to_host->culprits;
    if (to_host->most_ps > to_device->most_ps) to_device->most = to_host->most, to_device->most_ps = to_host->most_ps;
    *to_host = pieces->at[--pieces->count];
}

/* One fault of op-by-op work on a CPU: each small program is launched for longer than it runs, and handed to a thread
 * of the client, which takes it up later. Fewer launches save both, and either alone is no bound of that. */
static void join_launches(const struct ids_analysis *analysis, struct ids_pieces *pieces) {
    struct ids_piece *dispatch = piece_of(pieces, IDS_HOST_DISPATCH), *queue = piece_of(pieces, IDS_DEVICE_QUEUE);
    if (!dispatch || !queue || !queue->most->intervals) return;
    struct ids_circumstances launching = {.account = IDS_HOST_DISPATCH,
                                          .platform = analysis->busy[pieces->decider].device->kind,
                                          .time_ps = dispatch->time_ps,
                                          .work_ps = pieces->work_ps},
                             queued = launching;
    if (dispatch->most->intervals)
        launching.mean_ps = ids_ledger_entry_time(dispatch->most) / (int64_t)dispatch->most->intervals;
    queued.account = IDS_DEVICE_QUEUE;
    queued.mean_ps = ids_ledger_entry_time(queue->most) / (int64_t)queue->most->intervals;
    if (!ids_remedy_is_fewer_launches(&launching) || !ids_remedy_is_fewer_launches(&queued)) return;
    ids_piece_take(dispatch, queue);
    *queue = pieces->at[--pieces->count];
}

static enum ids_remedy_scope scope_of(const struct ids_ledger *ledger, const struct ids_ledger_entry *entry) {
    return ids_remedy_scope((enum ids_account)entry->account,
                            entry->where ? ids_strings_z(&ledger->texts, entry->where) : NULL);
}

/* A function that holds the device up in several ways is said with what it does most. */
static void lead_with_longest(struct ids_piece *piece) {
    ids_piece_order_parts(piece);
    piece->account = piece->parts[0].account;
    piece->most = piece->parts[0].most;
    piece->most_ps = piece->parts[0].most_ps;
}

/* Where the pieces of entries are, each index + 1; 0 none yet. */
struct places {
    size_t *of_entry, *of_function; /* by entry, by number of joint_causes.h */
    size_t of_account[IDS_ACCOUNT_COUNT][IDS_REMEDY_SCOPES];
};

static size_t *place_of(struct places *places, const struct ids_joint_causes *joint, uint32_t number,
                        enum ids_account account, enum ids_remedy_scope scope) {
    if (scope == IDS_REMEDY_OF_FUNCTION) return &places->of_function[joint->of_entry[number]];
    return scope == IDS_REMEDY_OF_CULPRIT ? &places->of_entry[number] : &places->of_account[account][scope];
}

static void put_share(const struct ids_analysis *analysis, struct ids_pieces *pieces,
                      const struct ids_joint_causes *joint, struct places *places,
                      const struct ids_entry_share *share) {
    const struct ids_ledger *ledger = &analysis->ledger;
    uint32_t number = ids_share_cause(ledger, share), device = (uint32_t)pieces->decider;
    int waited = number != share->entry;
    if (waited) device = ledger->entries[share->entry].awaited;
    const struct ids_ledger_entry *entry = &ledger->entries[number];
    enum ids_account account = (enum ids_account)entry->account;
    if (account == IDS_WORK_COMPUTE || account == IDS_COMM_WAIT || !is_of_the_program(ledger, entry)) return;
    if (is_unknown(pieces, account)) return;
    enum ids_remedy_scope scope = joint->of_entry[number] ? IDS_REMEDY_OF_FUNCTION : scope_of(ledger, entry);
    size_t *place = place_of(places, joint, number, account, scope);
    if (!*place) {
        pieces->at[pieces->count] = (struct ids_piece){.account = account, .scope = scope};
        *place = ++pieces->count;
    }
    struct ids_piece *piece = &pieces->at[*place - 1];
    ids_sum(&piece->time_ps, share->ps);
    if (waited) ids_sum(&piece->others_ps, share->ps);
    piece->culprits += piece->most != entry;
    count_entry(piece, entry);
    ids_piece_add_part(piece, &(struct ids_piece_part){account, share->ps, entry, share->ps});
    if (!piece->most || share->ps > piece->most_ps)
        piece->most = entry, piece->most_ps = share->ps, piece->device = device;
}

/* What of device.queue comes because of waits, or of launches, on the deciding device, and the longest of that at
 * once. */
static int64_t queued_because(const struct ids_analysis *analysis, const struct ids_pieces *pieces, enum ids_dried how,
                              int64_t *ret_longest_ps) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t queued_ps = 0;
    *ret_longest_ps = 0;
    for (size_t s = ledger->first_share[pieces->decider]; s < ledger->first_share[pieces->decider + 1]; s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        if (ledger->entries[share->entry].account != IDS_DEVICE_QUEUE) continue;
        ids_sum(&queued_ps, share->queued_ps[how]);
        if (share->longest_queued_ps[how] > *ret_longest_ps) *ret_longest_ps = share->longest_queued_ps[how];
    }
    return queued_ps;
}

/* On an accelerator: launching, with what is queued because of it, takes longer than what is launched. What is queued
 * for more than ten times as long as it takes to launch waits for something else, and so does what is most of all that
 * was queued in several steps, and came once. */
static int is_of_small_launches(const struct ids_analysis *analysis, struct ids_pieces *pieces) {
    const struct ids_piece *dispatch = piece_of(pieces, IDS_HOST_DISPATCH);
    int64_t longest_ps, queued_ps = queued_because(analysis, pieces, IDS_DRIED_BY_LAUNCHES, &longest_ps);
    if (pieces->steps > 1 && longest_ps > queued_ps / 2) return 0;
    return dispatch && queued_ps / 10 <= dispatch->time_ps && queued_ps > pieces->work_ps - dispatch->time_ps;
}

/* Of what is queued behind waits for the device, the waits have to be a tenth: a wait of microseconds between longer
 * things lets nothing run dry. */
static int is_of_waits(const struct ids_analysis *analysis, const struct ids_pieces *pieces) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t queued_ps = 0, waits_ps = 0;
    for (size_t s = ledger->first_share[pieces->decider]; s < ledger->first_share[pieces->decider + 1]; s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        if (ledger->entries[share->entry].account == IDS_DEVICE_QUEUE || !share->queued_ps[IDS_DRIED_BY_WAIT]) continue;
        ids_sum(&queued_ps, share->queued_ps[IDS_DRIED_BY_WAIT]);
        ids_sum(&waits_ps, share->ps);
    }
    return waits_ps >= queued_ps / 10;
}

/* Takes from the account's piece what others get of it, and finds who has most of the rest. */
static void leave_queue(const struct ids_ledger_entry *entry, int64_t own_ps, int64_t moved_ps,
                        struct ids_piece *piece) {
    piece->time_ps -= moved_ps;
    piece->parts[0].ps -= moved_ps;
    if (own_ps - moved_ps <= piece->most_ps) return;
    piece->most = piece->parts[0].most = entry;
    piece->most_ps = piece->parts[0].most_ps = own_ps - moved_ps;
}

/* A device with nothing to do shows how late work begins that is launched: behind other work it would not. Who lets it
 * run dry is the cause of that too: the wait, or many small launches. A CPU's threads have no queue of that kind. */
static void move_queue(const struct ids_analysis *analysis, struct ids_pieces *pieces,
                       const struct ids_joint_causes *joint, struct places *places) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_piece *queue = piece_of(pieces, IDS_DEVICE_QUEUE);
    if (!queue || analysis->busy[pieces->decider].device->kind == IDS_DEVICE_CPU) return;
    int of_launches = is_of_small_launches(analysis, pieces), of_waits = is_of_waits(analysis, pieces);
    queue->most_ps = queue->parts[0].most_ps = 0;
    for (size_t s = ledger->first_share[pieces->decider]; s < ledger->first_share[pieces->decider + 1]; s++) {
        const struct ids_entry_share *share = &ledger->shares[s];
        const struct ids_ledger_entry *entry = &ledger->entries[share->entry];
        int64_t moved_ps = (of_waits ? share->queued_ps[IDS_DRIED_BY_WAIT] : 0) +
                           (of_launches ? share->queued_ps[IDS_DRIED_BY_LAUNCHES] : 0);
        if (entry->account == IDS_DEVICE_QUEUE) {
            leave_queue(entry, share->ps, moved_ps, queue);
        } else if (moved_ps) {
            enum ids_remedy_scope scope =
                joint->of_entry[share->entry] ? IDS_REMEDY_OF_FUNCTION : scope_of(ledger, entry);
            struct ids_piece *piece =
                &pieces->at[*place_of(places, joint, share->entry, (enum ids_account)entry->account, scope) - 1];
            ids_sum(&piece->time_ps, moved_ps);
            if (scope != IDS_REMEDY_OF_FUNCTION && (entry == piece->most || share->ps + moved_ps > piece->most_ps))
                piece->most = entry, piece->most_ps = share->ps + moved_ps;
            ids_piece_add_part(piece, &(struct ids_piece_part){IDS_DEVICE_QUEUE, moved_ps, entry, moved_ps});
        }
    }
}

/* One for each entry, or for each account whose remedy is one, or for each function of `joint`. What the device waited
 * for peers is theirs who came late: the same cause on whatever device is one piece. */
static int gather(const struct ids_analysis *analysis, struct ids_pieces *pieces,
                  const struct ids_joint_causes *joint) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct places places = {.of_entry = calloc(ledger->entry_count + 1, sizeof *places.of_entry),
                            .of_function = calloc(joint->count + 1, sizeof *places.of_function)};
    int failed = !places.of_entry || !places.of_function;
    pieces->count = 0;
    for (size_t s = ledger->first_share[pieces->decider]; s < ledger->first_share[pieces->decider + 1] && !failed; s++)
        put_share(analysis, pieces, joint, &places, &ledger->shares[s]);
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->at[i].scope == IDS_REMEDY_OF_FUNCTION) lead_with_longest(&pieces->at[i]);
    }
    if (!failed) move_queue(analysis, pieces, joint, &places);
    free(places.of_entry);
    free(places.of_function);
    if (failed) return -1;
    join_both_ways(analysis, pieces);
    join_launches(analysis, pieces);
    pieces->count += (size_t)find_imbalance(analysis, pieces->decider, &pieces->at[pieces->count]);
    return 0;
}

/* Which functions hold the device up in several ways is seen in the pieces that there are without them. */
static int gather_with_joint(const struct ids_analysis *analysis, struct ids_pieces *pieces) {
    struct ids_joint_causes joint = {.of_entry = calloc(analysis->ledger.entry_count + 1, sizeof *joint.of_entry)};
    int failed = !joint.of_entry || gather(analysis, pieces, &joint) ||
                 ids_joint_causes_find(analysis, pieces, &joint) || (joint.count && gather(analysis, pieces, &joint));
    free(joint.of_entry);
    return failed ? -1 : 0;
}

/* Of the culprit of another piece, in another place of which no more is known than the culprit: none, or one in the
 * code of a function that is compiled whole. */
static int has_no_own_place(const struct ids_piece *piece) {
    if (!piece->most->culprit || piece->scope != IDS_REMEDY_OF_CULPRIT) return 0;
    return !piece->most->where || piece->account == IDS_HOST_COMPILE;
}

/* A culprit whose place is known in a part of its time alone, or that is compiled by tracing many lines, is one cause:
 * the rest joins the longest that has a place. */
static void join_places(struct ids_pieces *pieces, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct ids_piece *bare = &pieces->at[i];
        if (!has_no_own_place(bare)) continue;
        size_t end = bare->most->where ? i : count;
        for (size_t k = 0; k < end; k++) {
            struct ids_piece *placed = &pieces->at[k];
            if (placed->account != bare->account || placed->most->culprit != bare->most->culprit ||
                !placed->most->where)
                continue;
            ids_piece_join(placed, bare);
            break;
        }
    }
}

/* Of a function of another thread that is waited for: its key, else 0. */
static uint64_t awaited_function(const struct ids_trace *trace, const struct ids_piece *piece) {
    const struct ids_ledger_entry *most = piece->most;
    if (piece->scope != IDS_REMEDY_OF_CULPRIT || !piece->time_ps || !most->is_of_other_thread || !most->frame) return 0;
    return ids_python_function_key(ids_strings_text(&trace->strings, most->frame));
}

/* The thread that launches waits for what a function of another one makes, and for Python's lock, which that one has:
 * who mends the function wins both. The shorter pieces join the longest. */
static void join_awaited(const struct ids_trace *trace, struct ids_pieces *pieces, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t function = awaited_function(trace, &pieces->at[i]);
        for (size_t k = 0; function && k < i; k++) {
            if (awaited_function(trace, &pieces->at[k]) != function) continue;
            ids_piece_join(&pieces->at[k], &pieces->at[i]);
            pieces->at[k].is_joined = 1;
            break;
        }
    }
}

/* A call of the runtime that takes long because it is the first one: it loads code, or one of its intervals is half of
 * its time; and it does so in less than three steps. */
static int is_first_use(const struct ids_analysis *analysis, const struct ids_piece *piece) {
    enum { LEAST_STEPS = 3 };
    const char *culprit = ids_strings_z(&analysis->ledger.texts, piece->most->culprit);
    const struct ids_circumstances about = {.platform = IDS_DEVICE_GPU, .culprit = culprit};
    if (piece->account != IDS_HOST_RUNTIME || piece->scope != IDS_REMEDY_OF_CULPRIT || !piece->time_ps) return 0;
    if (!ids_is_call_of_runtime(culprit) || ids_call_records_graph(&about)) return 0;
    if (piece->most->recurs.seen >= LEAST_STEPS) return 0;
    return ids_call_loads_code(&about) || piece->most->longest_ps >= piece->time_ps / 2;
}

/* Whatever the calls are: whoever warms up before measuring is rid of all of them. */
static void join_first_uses(const struct ids_analysis *analysis, struct ids_pieces *pieces, size_t count) {
    struct ids_piece *longest = NULL;
    if (!count || analysis->busy[pieces->decider].device->kind != IDS_DEVICE_GPU) return;
    for (size_t i = 0; i < count; i++) {
        struct ids_piece *piece = &pieces->at[i];
        if (!is_first_use(analysis, piece)) continue;
        if (!longest) {
            longest = piece;
            continue;
        }
        ids_piece_take(longest, piece);
        longest->intervals += piece->intervals;
        longest->culprits += piece->culprits;
        longest->is_of_first_uses = 1;
        piece->time_ps = 0;
    }
}

struct ids_recurrence ids_account_recurrence(const struct ids_analysis *analysis, enum ids_account account) {
    const struct ids_steps *steps = &analysis->steps;
    struct ids_recurrence none = {0};
    struct ids_step_cell *cells = calloc(steps->count + 1, sizeof *cells);
    if (!cells) return none;
    for (uint32_t s = 0; s < steps->count; s++) cells[s].step = s;
    for (size_t b = 0; b < analysis->busy_count && steps->count; b++) {
        const struct ids_device_steps *own = &steps->of_device[analysis->busy[b].index];
        for (size_t i = 0; i < own->count; i++) {
            if (own->at[i].step == IDS_NONE) continue;
            ids_sum(&cells[own->at[i].step].ps,
                    analysis->ledger.in_step[analysis->ledger.first_step[b] + i].ps[account]);
        }
    }
    none = ids_recurrence_of(cells, steps->count, steps->count);
    free(cells);
    return none;
}

int ids_pieces_make(const struct ids_analysis *analysis, struct ids_pieces *ret_pieces, struct ids_error *err) {
    struct ids_pieces pieces = {.at = calloc(analysis->ledger.entry_count + 2, sizeof *pieces.at)};
    size_t worth = 0;
    *ret_pieces = (struct ids_pieces){0};
    if (!pieces.at) return ids_no_memory(err);
    if (ids_excerpt_of(analysis->trace, &pieces.excerpt) || find_decider(analysis, &pieces) ||
        look_at_work(analysis, &pieces) || gather_with_joint(analysis, &pieces)) {
        free(pieces.at);
        return ids_no_memory(err);
    }
    if (pieces.count) qsort(pieces.at, pieces.count, sizeof *pieces.at, most_first);
    while (worth < pieces.count && pieces.at[worth].time_ps >= pieces.time_ps / 1000) worth++;
    join_places(&pieces, worth);
    join_awaited(analysis->trace, &pieces, worth);
    ids_data_lines_join(analysis, &pieces, worth);
    join_first_uses(analysis, &pieces, worth);
    if (worth) qsort(pieces.at, worth, sizeof *pieces.at, most_first);
    for (size_t i = 0; i < worth; i++) {
        struct ids_piece *piece = &pieces.at[i];
        ids_piece_order_parts(piece);
        int is_of_part = piece->scope == IDS_REMEDY_OF_HELD_UP || piece->scope == IDS_REMEDY_OF_CALLBACKS;
        if (piece->is_joined) /* in which steps all of it came, nobody summed up */
            piece->recurs.seen = piece->most->recurs.seen;
        else if (!is_of_part) /* of a part of an account nobody summed that up */
            piece->recurs = piece->scope == IDS_REMEDY_OF_ACCOUNT ? ids_account_recurrence(analysis, piece->account)
                                                                  : piece->most->recurs;
    }
    pieces.count = worth;
    *ret_pieces = pieces;
    return 0;
}

void ids_pieces_done(struct ids_pieces *pieces) {
    free(pieces->at);
    *pieces = (struct ids_pieces){0};
}
