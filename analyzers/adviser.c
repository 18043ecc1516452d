#include "analyzers/adviser.h"

#include "lib/analysis/idle_names.h"
#include "lib/analysis/late.h"
#include "lib/base/saturate.h"
#include "lib/model/programs.h"
#include "lib/model/python_frame.h"
#include "lib/report/template_names.h"

#include <string.h>

const char *ids_say_value(const struct ids_adviser *adviser, struct ids_value value) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(adviser->report, "%s", ids_value_format(value, text, sizeof text));
}

const char *ids_say_time(const struct ids_adviser *adviser, int64_t time_ps) {
    return ids_say_value(adviser, ids_int_value(IDS_UNIT_TIME, time_ps));
}

const char *ids_say_share(const struct ids_adviser *adviser, int64_t part_ps, int64_t whole_ps) {
    return ids_say_value(adviser, ids_real_value(IDS_UNIT_RATIO, whole_ps ? (double)part_ps / (double)whole_ps : 0));
}

const char *ids_say_metric(const struct ids_adviser *adviser, const char *id) {
    struct ids_value value;
    return ids_adviser_has(adviser, id, &value) ? ids_say_value(adviser, value) : "no data";
}

const char *ids_say_place(const struct ids_adviser *adviser, const char *where) {
    enum { LONG_NAME = 40, LONG_PATH = 100, TAIL = 70, SAVES = 30 };
    where = ids_template_name_in_short(where, LONG_NAME, &adviser->report->arena);
    const char *head = strchr(where, '/'), *end = where + strlen(where), *tail = end;
    if (!head || end - where <= LONG_PATH || strstr(where, ".py")) return where;
    for (const char *at = end; at > head; at--) {
        if (*at == '/' && end - at <= TAIL) tail = at;
    }
    return tail < end && tail - head > SAVES
               ? ids_report_text(adviser->report, "%.*s/\xe2\x80\xa6%s", (int)(head - where), where, tail)
               : where;
}

const char *ids_say_name(const struct ids_adviser *adviser, const char *name, const char *where) {
    enum { LONG_NAME = 40 };
    if (!name) return "";
    name = ids_template_name_in_short(name, LONG_NAME, &adviser->report->arena);
    if (where) where = ids_say_place(adviser, where);
    return ids_report_text(adviser->report, "%s%s%s%s", name, where ? " (" : "", where ? where : "", where ? ")" : "");
}

const char *ids_say_line(struct ids_report *report, const char *where) {
    return where ? ids_report_text(report, ", %.*s", (int)strcspn(where, ", "), where) : "";
}

int ids_adviser_has(const struct ids_adviser *adviser, const char *id, struct ids_value *ret_value) {
    const struct ids_metric *metric = ids_report_find(adviser->report, id, NULL);
    if (!metric || metric->value.missing) return 0;
    *ret_value = metric->value;
    return 1;
}

double ids_adviser_ratio(const struct ids_adviser *adviser, const char *id) {
    struct ids_value value;
    return ids_adviser_has(adviser, id, &value) ? value.d : 0;
}

int64_t ids_adviser_per_step(const struct ids_adviser *adviser, int64_t time_ps) {
    return time_ps / (adviser->pieces.steps ? adviser->pieces.steps : 1);
}

const char *ids_adviser_text(const struct ids_adviser *adviser, uint32_t text) {
    return text ? ids_strings_z(&adviser->analysis->ledger.texts, text) : NULL;
}

const char *ids_adviser_device(const struct ids_adviser *adviser, size_t busy) {
    struct ids_arena names = {0};
    const char *name = ids_rank_name(adviser->analysis->trace, adviser->analysis->busy[busy].device, &names);
    const char *kept = ids_report_text(adviser->report, "%s", name ? name : "");
    ids_arena_done(&names);
    return kept;
}

const char *ids_adviser_late(const struct ids_adviser *adviser, uint32_t busy) {
    struct ids_arena names = {0};
    const char *name = ids_late_name(adviser->analysis, busy, &names);
    const char *kept = ids_report_text(adviser->report, "%s", name ? name : "");
    ids_arena_done(&names);
    return kept;
}

/* Events of threads and steps count as those of devices do: a program that compiles in each step has few on its
 * device. */
uint64_t ids_adviser_events(const struct ids_trace *trace) {
    uint64_t events = 0;
    for (size_t t = 0; t < trace->track_count; t++) events += trace->tracks[t].event_count;
    return events;
}

double ids_adviser_times_its_peers(const struct ids_adviser *adviser, uint32_t device) {
    const struct ids_analysis *analysis = adviser->analysis;
    const struct ids_ledger *ledger = &analysis->ledger;
    uint32_t late = ids_late_as(ledger, device);
    int64_t own_ps = 0, all_ps = 0;
    size_t own = 0;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        int is_own = ids_late_as(ledger, b) == late;
        own += (size_t)is_own;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            if (ledger->entries[ledger->shares[s].entry].account != IDS_WORK_COMPUTE) continue;
            ids_sum(&all_ps, ledger->shares[s].ps);
            if (is_own) ids_sum(&own_ps, ledger->shares[s].ps);
        }
    }
    if (all_ps <= own_ps) return 0;
    return (double)own_ps / (double)own * (double)(analysis->busy_count - own) / (double)(all_ps - own_ps);
}

int ids_adviser_lacks_cores(const struct ids_adviser *adviser) {
    enum { PERCENT = 20 };
    return adviser->analysis->busy[0].device->kind == IDS_DEVICE_CPU &&
           ids_adviser_ratio(adviser, "device.no_core_share") >= PERCENT / 100.0;
}

const char *ids_adviser_whole(const struct ids_adviser *adviser, const char *steps) {
    if (adviser->pieces.steps) return steps;
    return adviser->pieces.earlier_ps ? "the window without its wait for work from before the recording" : "the window";
}

int ids_adviser_works_nearly_always(const struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    return pieces->work_ps >= pieces->time_ps - pieces->time_ps / 10;
}

/* Whether results of the op's program take the memory of its arguments. `op` is an index + 1, 0 none. */
static int donates(const struct ids_trace *trace, uint32_t op) {
    uint32_t module = op ? trace->ops[op - 1].module : IDS_NONE;
    for (size_t p = 0; module != IDS_NONE && p < trace->program_count; p++) {
        const struct ids_program_memory *program = &trace->programs[p];
        if (program->info.module == trace->modules[module].name && program->info.in_place > 0) return 1;
    }
    return 0;
}

static int ends(const char *text, const char *end) {
    return text && ids_text_ends((struct ids_text){text, (uint32_t)strlen(text)}, end);
}

/* Whether the recording shows who makes what input is waited for: another thread's function, which has a tenth of the
 * waiting, or a library's stage. */
static int has_loader(const struct ids_adviser *adviser) {
    static const char *const libraries[] = {"DataLoader", "Iterator::", "IteratorGetNext", "/grain/"};
    const struct ids_trace *trace = adviser->analysis->trace;
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    int64_t made_ps = 0, all_ps = 0;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->account != IDS_HOST_INPUT) continue;
        ids_sum(&all_ps, ids_ledger_entry_time(entry));
        if (ends(ids_adviser_text(adviser, entry->where), IDS_AWAITED)) ids_sum(&made_ps, ids_ledger_entry_time(entry));
    }
    if (made_ps && made_ps >= all_ps / 10) return 1;
    for (size_t n = 0; n < trace->name_count; n++) {
        struct ids_text name = ids_strings_text(&trace->strings, trace->names[n].text);
        for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
            if (ids_text_contains(name, libraries[i])) return 1;
        }
    }
    return 0;
}

/* Whether the function that makes input is one for whose lock the program waits elsewhere, for a tenth of the time that
 * it waits for its input or more: threads do not make it faster. */
static int maker_has_gil(const struct ids_adviser *adviser, const struct ids_ledger_entry *maker) {
    const struct ids_trace *trace = adviser->analysis->trace;
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    int64_t lock_ps = 0;
    if (!maker->frame || !maker->is_of_other_thread) return 0;
    uint64_t function = ids_python_function_key(ids_strings_text(&trace->strings, maker->frame));
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->frame && ends(ids_adviser_text(adviser, entry->where), IDS_HAVING_GIL) &&
            ids_python_function_key(ids_strings_text(&trace->strings, entry->frame)) == function)
            ids_sum(&lock_ps, ids_ledger_entry_time(entry));
    }
    return lock_ps > 0 && lock_ps >= ids_ledger_entry_time(maker) / 10;
}

int64_t ids_adviser_gap(const struct ids_adviser *adviser) {
    enum { MANY = 20 };
    const int64_t long_ps = 5000000;
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    const struct ids_ledger_longest *longest = &ledger->longest[IDS_DEVICE_QUEUE];
    int64_t all_ps = 0, longest_ps = 0;
    uint64_t count = 0;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        if (ledger->entries[e].account != IDS_DEVICE_QUEUE) continue;
        ids_sum(&all_ps, ids_ledger_entry_time(&ledger->entries[e]));
        count += ledger->entries[e].intervals;
    }
    for (size_t i = 0; i < longest->count; i++) ids_sum(&longest_ps, longest->at[i].to_ps - longest->at[i].from_ps);
    if (count < MANY || all_ps / (int64_t)count > long_ps || longest_ps > all_ps / 2) return 0;
    return all_ps / (int64_t)count;
}

struct ids_remedy ids_adviser_remedy(const struct ids_adviser *adviser, const struct ids_ledger_entry *entry,
                                     struct ids_circumstances about) {
    const struct ids_analysis *analysis = adviser->analysis;
    about.framework = adviser->framework;
    about.is_compiled = adviser->is_compiled;
    about.has_ops = adviser->has_ops;
    about.infers = !adviser->trains;
    about.launches_graphs = adviser->launches_graphs;
    about.platform = analysis->busy[adviser->pieces.decider].device->kind;
    about.culprit = entry ? ids_adviser_text(adviser, entry->culprit) : NULL;
    about.where = entry ? ids_adviser_text(adviser, entry->where) : NULL;
    about.recorded = entry ? ids_adviser_text(adviser, entry->recorded) : NULL;
    about.has_loader = about.account == IDS_HOST_INPUT && has_loader(adviser);
    about.maker_has_gil = about.account == IDS_HOST_INPUT && entry && maker_has_gil(adviser, entry);
    about.has_python = adviser->has_python;
    about.devices = analysis->busy_count;
    about.lacking = (enum ids_lacking)analysis->ledger.lacking;
    about.mean_ps = entry && entry->intervals ? ids_ledger_entry_time(entry) / (int64_t)entry->intervals : 0;
    about.a_step =
        entry && analysis->steps.count ? entry->intervals / (analysis->steps.count * analysis->busy_count) : 0;
    about.gap_ps = about.account == IDS_DEVICE_QUEUE ? ids_adviser_gap(adviser) : 0;
    about.work_ps = adviser->pieces.work_ps;
    about.is_at_start = entry && entry->longest_at_ps < analysis->first_ps;
    about.donates = entry && donates(analysis->trace, entry->op);
    about.is_mixed = entry && entry->is_mixed;
    about.lacks_cores = ids_adviser_lacks_cores(adviser);
    return ids_remedy_of(&about);
}

static int is_same(const char *text, const char *other) {
    return text && other ? !strcmp(text, other) : text == other;
}

int64_t ids_adviser_opening_has(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    const struct ids_table *gaps = ids_report_find_table(adviser->report, "gaps");
    const char *account = ids_account_id(piece->account), *culprit = ids_adviser_text(adviser, piece->most->culprit),
               *key = adviser->analysis->busy[adviser->pieces.decider].device->key;
    if (!steps->has_left_out || !steps->count || !gaps || ids_waits_for_core(culprit)) return 0;
    if (!ids_recurs_in_few(&piece->recurs, steps->count)) return 0;
    int start = ids_table_column(gaps, "start"), duration = ids_table_column(gaps, "duration"),
        device = ids_table_column(gaps, "device"), of = ids_table_column(gaps, "account"),
        whose = ids_table_column(gaps, "culprit");
    int64_t until_ps = steps->at[0].start_ps - adviser->analysis->first_ps, has_ps = 0;
    for (size_t row = 0; row < gaps->row_count; row++) {
        if (ids_table_cell(gaps, row, start)->i < until_ps && is_same(ids_table_cell(gaps, row, device)->text, key) &&
            is_same(ids_table_cell(gaps, row, of)->text, account) &&
            is_same(ids_table_cell(gaps, row, whose)->text, culprit))
            ids_sum(&has_ps, ids_table_cell(gaps, row, duration)->i);
    }
    return has_ps >= piece->recurs.most_ps / 4 ? has_ps : 0;
}

int64_t ids_adviser_chance(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    size_t steps = adviser->analysis->steps.count;
    int64_t saves_ps = ids_adviser_per_step(adviser, piece->time_ps);
    struct ids_circumstances about = {.account = piece->account,
                                      .culprit = ids_adviser_text(adviser, piece->most->culprit),
                                      .where = ids_adviser_text(adviser, piece->most->where)};
    int is_of_one = piece->recurs.steps == 1 && ids_recurs_in_few(&piece->recurs, steps);
    if (is_of_one && !ids_adviser_opening_has(adviser, piece)) return saves_ps;
    if (!ids_remedy_is_for_hold_up(&about)) return 0;
    return (int64_t)(ids_recurs_by_chance(&piece->recurs, steps) * (double)saves_ps);
}

/* What a program does once when it begins: the recording has that beginning, and no later step has any of it. */
int ids_is_warm_up(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    if (piece->account != IDS_HOST_COMPILE && piece->account != IDS_HOST_RUNTIME) return 0;
    if (!steps->count || (!steps->unnumbered && steps->at[0].number > 1)) return 0;
    return ids_recurs_at_first_only(&piece->recurs, steps->count);
}

int64_t ids_adviser_compute(const struct ids_adviser *adviser) {
    int64_t left_ps = adviser->pieces.compute_ps;
    for (size_t i = 0; i < adviser->pieces.count; i++) {
        if (adviser->pieces.at[i].account == IDS_COMM_WAIT) left_ps -= adviser->pieces.at[i].time_ps;
    }
    return ids_adviser_per_step(adviser, left_ps > 0 ? left_ps : 0);
}

void ids_adviser_give(struct ids_adviser *adviser, const struct ids_advice *advice) {
    ids_report_advice(adviser->report, advice);
    adviser->said++;
}

void ids_adviser_remark(struct ids_adviser *adviser, const char *explain, const char *what, const char *evidence) {
    if (adviser->said >= IDS_MOST_PIECES) return;
    ids_adviser_give(adviser, &(struct ids_advice){.saves_ps = -1,
                                                   .per_step = adviser->pieces.steps > 0,
                                                   .what = what,
                                                   .evidence = evidence,
                                                   .explain = explain});
}

int ids_adviser_has_said(const struct ids_adviser *adviser, enum ids_account account) {
    for (size_t i = 0; i < adviser->report->advice_count; i++) {
        const char *said = adviser->report->advice[i].account;
        if (said && !strcmp(said, ids_account_id(account))) return 1;
    }
    return 0;
}

size_t ids_adviser_place_of(const struct ids_adviser *adviser, const char *explain, size_t from) {
    const struct ids_report *report = adviser->report;
    size_t place = from;
    while (place < report->advice_count &&
           (!report->advice[place].explain || strcmp(report->advice[place].explain, explain) != 0))
        place++;
    return place;
}

void ids_adviser_move(const struct ids_adviser *adviser, size_t from, size_t to) {
    struct ids_advice *all = adviser->report->advice, moved = all[from];
    for (; from > to; from--) all[from] = all[from - 1];
    all[from] = moved;
}
