/* cause_host.c - what samples of stacks say of a function that the device waits for: from where it was called more, and
 * whether the host is longer in it at all, or the device only waits for it now. */
#include "lib/compare/cause_groups.h"
#include "lib/compare/cause_words.h"

#include <math.h>
#include <string.h>

/* So much of a change may be the host's own before it is said to be the function's. */
#define OWN 0.333
/* So much of it is from one caller. */
#define MOSTLY 0.667
/* A wait that the other side has next to none of. */
#define NEXT_TO_NONE 0.01

static double number_at(const struct ids_table *table, size_t row, const char *id) {
    int column = ids_table_column(table, id);
    return column < 0 ? 0 : ids_value_number(*ids_table_cell(table, row, column));
}

/* A function in a file, whatever folder it is in and line it is at. */
struct function {
    const char *name, *file;
    size_t name_length, file_length;
};

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Of a culprit that is a function of the program ("work", "data.py:29, mostly in loads"). */
static int find_function(const struct ids_cause *cause, struct function *ret_function) {
    const char *where = cause->where, *colon = where ? strchr(where, ':') : NULL;
    if (cause->kind != IDS_CAUSE_CULPRIT || !cause->culprit || !colon) return 0;
    const char *end = colon + 1 + strspn(colon + 1, "0123456789");
    if (end == colon + 1 || (*end && *end != ',')) return 0; /* something that is called in the function */
    const char *slash = colon;
    while (slash > where && slash[-1] != '/') slash--;
    *ret_function = (struct function){cause->culprit, slash, strlen(cause->culprit), (size_t)(colon - slash)};
    return 1;
}

static int is_alike(const char *text, const char *name, size_t length) {
    return !strncmp(text, name, length) && strchr(" (:,", text[length]); /* or its end */
}

static int is_function(const struct function *function, const char *name, const char *file) {
    return is_alike(name, function->name, function->name_length) &&
           is_alike(base_of(file), function->file, function->file_length);
}

/* ---- how long the host is in it ---- */

/* Per step, whether a device waits for it or not. What it calls, itself too, is part of it. */
static double sampled_ps(const struct ids_side *side, const struct function *function) {
    double sum = 0;
    for (size_t r = 0; r < side->run_count; r++) {
        const struct ids_table *stacks = ids_report_find_table(side->runs[r].report, "stacks");
        double within = INFINITY;
        for (size_t row = 0; stacks && row < stacks->row_count; row++) {
            double depth = number_at(stacks, row, "depth");
            if (depth > within) continue;
            within = INFINITY;
            if (!is_function(function, ids_table_text(stacks, row, "call"), ids_table_text(stacks, row, "file")))
                continue;
            within = depth;
            sum += number_at(stacks, row, "total") / side->runs[r].per_window * side->runs[r].weight;
        }
    }
    return sum;
}

/* Whether samples saw a call of that name, of whatever object ("builtins.float"). */
static int is_sampled(const struct ids_side *side, const char *name) {
    for (size_t r = 0; r < side->run_count; r++) {
        const struct ids_table *stacks = ids_report_find_table(side->runs[r].report, "stacks");
        for (size_t row = 0; stacks && row < stacks->row_count; row++) {
            const char *call = ids_table_text(stacks, row, "call");
            const char *dot = memrchr(call, '.', strcspn(call, " "));
            if (is_alike(dot ? dot + 1 : call, name, strlen(name))) return 1;
        }
    }
    return 0;
}

/* What the host waits for on one side alone; NULL: nothing. */
static const struct ids_cause *wait_of(const struct ids_entries *entries, int side) {
    const struct ids_cause *found = NULL;
    for (size_t i = 0; i < entries->count; i++) {
        const struct ids_cause *cause = &entries->at[i].cause;
        double own = side ? cause->b_ps : cause->a_ps, other = side ? cause->a_ps : cause->b_ps;
        if (entries->at[i].is_gone || cause->kind != IDS_CAUSE_CULPRIT || !cause->culprit || !cause->where) continue;
        if (strcmp(cause->account, ids_account_id(IDS_HOST_SYNC)) != 0 || other > NEXT_TO_NONE * own) continue;
        if (!found || fabs(cause->change_ps) > fabs(found->change_ps)) found = cause;
    }
    return found && !is_sampled(entries->sides[!side], found->culprit) ? found : NULL;
}

/* The host is in it as long as on the side on which the device waits less for it: there the device works meanwhile. Of
 * a loop, whose time is that of all that it calls, nobody can tell. */
static const char *exposed_text(const struct ids_entries *entries, const struct ids_cause *cause,
                                const struct function *function) {
    double change = fabs(cause->change_ps);
    double times[] = {sampled_ps(entries->sides[0], function), sampled_ps(entries->sides[1], function)};
    int side = cause->change_ps > 0; /* that waits for it */
    double waited = side ? cause->b_ps : cause->a_ps;
    if (times[side] - times[!side] > OWN * change || times[!side] < (1 - OWN) * change) return NULL;
    if (waited < (1 - OWN) * times[side]) return NULL;
    const struct ids_cause *wait = wait_of(entries, side);
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
        if (!strcmp(callers->at[i].name, name) && !strcmp(base_of(callers->at[i].file), base_of(file)))
            return &callers->at[i];
    }
    if (callers->count == CALLERS) return NULL;
    callers->at[callers->count] = (struct caller){.name = name, .file = file};
    return &callers->at[callers->count++];
}

static void add_callers(struct callers *callers, const struct ids_side *side, int is_b, const struct ids_cause *cause,
                        const struct function *function) {
    for (size_t r = 0; r < side->run_count; r++) {
        const struct ids_table *table = ids_report_find_table(side->runs[r].report, "callers");
        double scale = side->runs[r].weight / side->runs[r].per_window;
        for (size_t row = 0; table && row < table->row_count; row++) {
            if (strcmp(ids_table_text(table, row, "account"), cause->account) != 0 ||
                !is_function(function, ids_table_text(table, row, "culprit"), ids_table_text(table, row, "where")))
                continue;
            struct caller *caller =
                caller_at(callers, ids_table_text(table, row, "caller"), ids_table_text(table, row, "file"));
            double ps = number_at(table, row, "time") * scale;
            if (!caller) continue;
            caller->times[is_b] += ps;
            if (ps < caller->line_ps) continue;
            caller->line_ps = ps;
            caller->line = number_at(table, row, "line");
        }
    }
}

/* The one of several callers from which most of the change is. */
static const char *caller_text(const struct ids_entries *entries, const struct ids_cause *cause,
                               const struct function *function) {
    struct callers callers = {.count = 0};
    const struct caller *most = NULL;
    double sign = cause->change_ps > 0 ? 1 : -1, all = 0, most_ps = 0;
    for (int side = 0; side < 2; side++) add_callers(&callers, entries->sides[side], side, cause, function);
    for (size_t i = 0; i < callers.count; i++) {
        double change = sign * (callers.at[i].times[1] - callers.at[i].times[0]);
        if (change > 0) all += change;
        if (change <= most_ps) continue;
        most_ps = change;
        most = &callers.at[i];
    }
    if (callers.count < 2 || !most || most_ps <= MOSTLY * all) return NULL;
    return ids_report_text(entries->texts, "%.0f %% of the change is from calls by %s (%s:%.0f), one of %zu callers",
                           floor(most_ps / all * 100), most->name, base_of(most->file), most->line, callers.count);
}

int ids_explain_host(struct ids_entries *entries, double least_ps) {
    for (size_t i = 0; i < entries->count; i++) {
        struct ids_cause *cause = &entries->at[i].cause;
        struct function function;
        if (entries->at[i].is_gone || strncmp(cause->account, "host.", 5) != 0) continue;
        if (fabs(cause->change_ps) < least_ps || ids_cause_may_be_chance(cause)) continue;
        if (!find_function(cause, &function)) continue;
        cause->note = exposed_text(entries, cause, &function);
        if (!cause->note) cause->note = caller_text(entries, cause, &function);
    }
    return 0;
}
