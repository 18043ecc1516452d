/* cause_host.c - what samples of stacks say of a function that the device waits for: from where it was called more, and
 * whether the host is longer in it at all, or the device only waits for it now. */
#include "lib/compare/cause_groups.h"
#include "lib/compare/cause_words.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* So much of a change may be the host's own before it is said to be the function's. */
#define OWN 0.333
/* So much of it is from one caller. */
#define MOSTLY 0.667
/* A wait that the other side has next to none of. */
#define NEXT_TO_NONE 0.01

/* ---- how long the host is in it ---- */

/* Per step, whether a device waits for it or not. What it calls, itself too, is part of it; a wait for a core, which is
 * a culprit of its own, where that is asked for. */
static double sampled_ps(const struct ids_sampled_calls *calls, const struct ids_function *function, int with_waits) {
    double sum = 0;
    int within = INT_MAX;
    for (size_t i = 0; i < calls->count; i++) {
        const struct ids_sampled_call *call = &calls->at[i];
        if (call->depth > within && !with_waits && ids_is_wait_for_machine(call->call)) sum -= call->total_ps;
        if (call->depth > within) continue;
        within = INT_MAX;
        if (!ids_is_function(function, call->call, call->file)) continue;
        within = call->depth;
        sum += call->total_ps;
    }
    return sum;
}

/* Whether samples saw a call of that name, of whatever object ("builtins.float"). */
static int is_sampled(const struct ids_sampled_calls *calls, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < calls->count; i++) {
        const char *call = calls->at[i].call, *dot = memrchr(call, '.', strcspn(call, " "));
        if (ids_is_called(dot ? dot + 1 : call, name, length)) return 1;
    }
    return 0;
}

/* What the host waits for on one side alone; NULL: nothing. */
static struct ids_cause *wait_of(const struct ids_entries *entries, int side) {
    struct ids_cause *found = NULL;
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_cause *cause = &entries->at[i].cause;
        double own = side ? cause->b_ps : cause->a_ps, other = side ? cause->a_ps : cause->b_ps;
        if (entries->at[i].is_gone || cause->kind != IDS_CAUSE_CULPRIT || !cause->culprit || !cause->where) continue;
        if (strcmp(cause->account, ids_account_id(IDS_HOST_SYNC)) != 0 || other > NEXT_TO_NONE * own) continue;
        if (!found || fabs(cause->change_ps) > fabs(found->change_ps)) found = cause;
    }
    return found && !is_sampled(&entries->sampled[!side], found->culprit) ? found : NULL;
}

/* Then the wait is what the program does otherwise, and what the device waits for besides is its doing. */
static void blame_wait(const struct ids_entries *entries, struct ids_cause *wait, const struct ids_cause *exposed) {
    int is_new = exposed->change_ps > 0;
    wait->exposed_ps += fabs(exposed->change_ps);
    if (wait->note) return;
    wait->note = ids_report_text(entries->texts, "%s, and the device %s while the host is in %s (%s)",
                                 is_new ? "new" : "gone", is_new ? "no longer works" : "works", exposed->culprit,
                                 ids_cause_time(entries->texts, fabs(exposed->change_ps)));
}

/* Whether an entry's culprit is what a function called: "load" at "data.py:12", or the wait for a core in it. */
static int is_culprit(const struct ids_entry *entry, int side, const struct ids_sampled_call *call) {
    struct ids_function function;
    const char *culprit = entry->cause.culprit;
    if (side == 0 && entry->cause.name_before) culprit = entry->cause.name_before;
    if (ids_is_wait_for_machine(call->call)) return !strcmp(strchr(call->call, '.') + 1, culprit);
    return ids_function_of(culprit, entry->where[side], &function) &&
           ids_is_function(&function, call->call, call->file);
}

/* What of that time the device waits for an entry's culprit. */
static double idle_in(const struct ids_entry *entry, int side, const struct ids_sampled_calls *calls,
                      const struct ids_function *function) {
    double sum = 0;
    int within = INT_MAX, counted = INT_MAX;
    for (size_t i = 0; i < calls->count; i++) {
        const struct ids_sampled_call *call = &calls->at[i];
        if (call->depth <= counted) counted = INT_MAX;
        if (call->depth <= within) within = ids_is_function(function, call->call, call->file) ? call->depth : INT_MAX;
        if (within == INT_MAX || counted != INT_MAX || !is_culprit(entry, side, call)) continue;
        counted = call->depth;
        sum += call->total_ps;
    }
    return fmin(sum, side ? entry->cause.b_ps : entry->cause.a_ps);
}

/* The device works for most of the time in which the host is in the function: it waits neither for it nor for what it
 * calls, which are culprits of their own. */
static int does_device_work(const struct ids_entries *entries, int side, const struct ids_function *function,
                            double host_ps) {
    double idle = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_entry *entry = &entries->at[i];
        if (entry->is_gone || entry->cause.kind != IDS_CAUSE_CULPRIT || !entry->cause.culprit) continue;
        if (!strncmp(entry->cause.account, "host.", 5)) idle += idle_in(entry, side, &entries->sampled[side], function);
    }
    return host_ps - idle >= (1 - OWN) * host_ps;
}

/* The host is in it as long as on the side on which the device waits less for it: there the device works meanwhile. Of
 * a loop, whose time is that of all that it calls, nobody can tell. */
static int is_exposed(const struct ids_cause *cause, const double times[2]) {
    double change = fabs(cause->change_ps);
    int side = cause->change_ps > 0; /* that waits for it */
    double waited = side ? cause->b_ps : cause->a_ps;
    if (times[side] - times[!side] > OWN * change || times[!side] < (1 - OWN) * change) return 0;
    return waited >= (1 - OWN) * times[side];
}

static const char *exposed_text(const struct ids_entries *entries, const struct ids_cause *cause,
                                const struct ids_function functions[2]) {
    double times[2] = {0};
    int side = cause->change_ps > 0, exposed = 0;
    /* What watches a clock takes as long with waits for a core, and what computes as long without. */
    for (int with_waits = 1; with_waits >= 0 && !exposed; with_waits--) {
        for (int of = 0; of < 2; of++) times[of] = sampled_ps(&entries->sampled[of], &functions[of], with_waits);
        exposed = is_exposed(cause, times);
    }
    if (!exposed || !does_device_work(entries, !side, &functions[!side], times[!side])) return NULL;
    struct ids_cause *wait = wait_of(entries, side);
    if (wait) blame_wait(entries, wait, cause);
    const char *who =
        !wait  ? ""
        : side ? ids_report_text(entries->texts, "; new is the wait of %s (%s)", wait->culprit, wait->where)
               : ids_report_text(entries->texts, "; the wait of %s (%s) is gone", wait->culprit, wait->where);
    return ids_report_text(entries->texts, "takes the host no %s than before (%s \xe2\x86\x92 %s), but the device %s%s",
                           side ? "longer" : "shorter", ids_cause_time(entries->texts, times[0]),
                           ids_cause_time(entries->texts, times[1]),
                           side ? "no longer works meanwhile" : "works meanwhile", who);
}

/* ---- who calls it ---- */

enum { CALLERS = 16 };
struct caller {
    const char *name, *file; /* a function, and its line that has most time on one side */
    double line, line_ps;
    double times[2];
};
struct callers {
    struct caller at[CALLERS]; /* as many as are told apart */
    size_t count;
};

static struct caller *caller_at(struct callers *callers, const char *name, const char *file) {
    for (size_t i = 0; i < callers->count; i++) {
        if (!strcmp(callers->at[i].name, name) && !strcmp(ids_file_of(callers->at[i].file), ids_file_of(file)))
            return &callers->at[i];
    }
    if (callers->count == CALLERS) return NULL;
    callers->at[callers->count] = (struct caller){.name = name, .file = file};
    return &callers->at[callers->count++];
}

static void add_callers_of_run(struct callers *callers, const struct ids_side_run *run, int is_b,
                               const struct ids_cause *cause, const struct ids_function *function) {
    const struct ids_table *table = ids_report_find_table(run->report, "callers");
    const int account = ids_table_column(table, "account"), culprit = ids_table_column(table, "culprit"),
              where = ids_table_column(table, "where"), name = ids_table_column(table, "caller"),
              file = ids_table_column(table, "file"), line = ids_table_column(table, "line"),
              time = ids_table_column(table, "time");
    const double scale = run->weight / run->per_window;
    for (size_t row = 0; table && time >= 0 && line >= 0 && row < table->row_count; row++) {
        if (strcmp(ids_table_text_at(table, row, account), cause->account) != 0 ||
            !ids_is_function(function, ids_table_text_at(table, row, culprit),
                             ids_file_of(ids_table_text_at(table, row, where))))
            continue;
        struct caller *caller =
            caller_at(callers, ids_table_text_at(table, row, name), ids_table_text_at(table, row, file));
        double ps = ids_value_number(*ids_table_cell(table, row, time)) * scale;
        if (!caller) continue;
        caller->times[is_b] += ps;
        if (ps < caller->line_ps) continue;
        caller->line_ps = ps;
        caller->line = ids_value_number(*ids_table_cell(table, row, line));
    }
}

static void add_callers(struct callers *callers, const struct ids_side *side, int is_b, const struct ids_cause *cause,
                        const struct ids_function *function) {
    for (size_t r = 0; r < side->run_count; r++) add_callers_of_run(callers, &side->runs[r], is_b, cause, function);
}

/* The one of several callers from which most of the change is. */
static const char *caller_text(const struct ids_entries *entries, const struct ids_cause *cause,
                               const struct ids_function functions[2]) {
    struct callers callers = {.count = 0};
    const struct caller *most = NULL;
    double sign = cause->change_ps > 0 ? 1 : -1, all = 0, most_ps = 0;
    for (int side = 0; side < 2; side++) add_callers(&callers, entries->sides[side], side, cause, &functions[side]);
    for (size_t i = 0; i < callers.count; i++) {
        double change = sign * (callers.at[i].times[1] - callers.at[i].times[0]);
        if (change > 0) all += change;
        if (change <= most_ps) continue;
        most_ps = change;
        most = &callers.at[i];
    }
    if (callers.count < 2 || !most || most_ps <= MOSTLY * all) return NULL;
    return ids_report_text(entries->texts, "%.0f %% of the change is from calls by %s (%s:%.0f), one of %zu callers",
                           floor(most_ps / all * 100), most->name, ids_file_of(most->file), most->line, callers.count);
}

/* On each side: a function may have had another name, or have stood in another file. */
static int find_functions(const struct ids_entry *entry, struct ids_function functions[2]) {
    const struct ids_cause *cause = &entry->cause;
    const char *names[] = {cause->name_before ? cause->name_before : cause->culprit, cause->culprit};
    if (cause->kind != IDS_CAUSE_CULPRIT) return 0;
    for (int side = 0; side < 2; side++) {
        if (!ids_function_of(names[side], entry->where[side] ? entry->where[side] : cause->where, &functions[side]))
            return 0;
    }
    return 1;
}

int ids_explain_host(struct ids_entries *entries, double least_ps) {
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_cause *cause = &entries->at[i].cause;
        struct ids_function functions[2];
        if (entries->at[i].is_gone || strncmp(cause->account, "host.", 5) != 0) continue;
        if (fabs(cause->change_ps) < least_ps || ids_cause_may_be_chance(cause)) continue;
        if (!find_functions(&entries->at[i], functions)) continue;
        cause->note = exposed_text(entries, cause, functions);
        if (!cause->note) cause->note = caller_text(entries, cause, functions);
    }
    return 0;
}
