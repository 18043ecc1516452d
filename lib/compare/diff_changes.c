/* diff_changes.c - what made the difference, in words: what a person would look for first. */
#include "lib/base/counted.h"
#include "lib/base/vec.h"
#include "lib/compare/diff.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = 3, OPS_SHOWN = 5, SCOPES_SHOWN = 8 };

__attribute__((format(printf, 6, 7))) static void say(struct ids_diff *diff, const char *id, const char *explain,
                                                      int known, double change_ps, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct ids_change *change = IDS_PUSH(diff->changes.at, diff->changes.count, diff->changes.room);
    if (!change) {
        diff->report.out_of_memory = 1;
        return;
    }
    *change = (struct ids_change){id, ids_report_text(&diff->report, "%s", text), known, change_ps, explain};
}

static const char *per(const struct ids_diff *diff) {
    return diff->a->per_step ? "a step" : "in the window";
}

static double part_change(const struct ids_diff *diff, const char *id) {
    for (size_t i = 0; i < diff->parts.count; i++) {
        const struct ids_part *part = &diff->parts.at[i];
        if (!strcmp(part->id, id)) return (double)(part->b_ps - part->a_ps);
    }
    return 0;
}

/* "12" or "1.5" */
static const char *number(char buffer[32], double value) {
    if (fabs(value - round(value)) < 0.005)
        snprintf(buffer, 32, "%.0f", value);
    else
        snprintf(buffer, 32, "%.2f", value);
    return buffer;
}

static const char *amount(char buffer[IDS_VALUE_ROOM], enum ids_unit unit, double value) {
    return ids_value_format(ids_int_value(unit, (int64_t)llround(value)), buffer, IDS_VALUE_ROOM);
}

/* A mean over the runs of a metric, per step where `by_step`: it is of the window then. */
static int metric(const struct ids_side *side, const char *id, int by_step, double *ret_value) {
    double sum = 0, weight = 0, value;
    for (size_t i = 0; i < side->run_count; i++) {
        if (!ids_run_metric(&side->runs[i], id, &value)) continue;
        sum += value / (by_step ? side->runs[i].per_window : 1) * side->runs[i].weight;
        weight += side->runs[i].weight;
    }
    if (weight > 0) *ret_value = sum / weight;
    return weight > 0;
}

/* ---- compilation ---- */

/* The functions that were compiled inside steps, of the first run that has such. */
static void functions_of(const struct ids_side *side, char names[256]) {
    size_t shown = 0;
    names[0] = '\0';
    for (size_t i = 0; i < side->run_count && !shown; i++) {
        const struct ids_table *compiles = ids_report_find_table(side->runs[i].report, "compiles");
        int function = ids_table_column(compiles, "function"), step = ids_table_column(compiles, "step");
        for (size_t row = 0; function >= 0 && step >= 0 && row < compiles->row_count; row++) {
            const struct ids_value *name = ids_table_cell(compiles, row, function);
            if (ids_table_cell(compiles, row, step)->missing || name->missing || strstr(names, name->text)) continue;
            size_t used = strlen(names);
            if (shown++ < FUNCTIONS_SHOWN) snprintf(names + used, 256 - used, "%s%.60s", used ? ", " : "", name->text);
        }
    }
}

static void look_at_compiles(struct ids_diff *diff) {
    double a = 0, b = 0, time_a = 0, time_b = 0;
    const char *id = diff->a->per_step ? "compile.in_steps" : "compile.count";
    const char *time = diff->a->per_step ? "compile.in_steps_time" : "compile.total";
    if (!metric(diff->a, id, 0, &a) || !metric(diff->b, id, 0, &b) || a == b) return;
    metric(diff->a, time, 0, &time_a);
    metric(diff->b, time, 0, &time_b);
    char names[256], count_a[32], count_b[32], from[IDS_VALUE_ROOM], to[IDS_VALUE_ROOM];
    functions_of(b > a ? diff->b : diff->a, names);
    int known = diff->a->per_step;
    say(diff, id, id, known, known ? part_change(diff, "steps.host.compile") : 0,
        "%s: %s \xe2\x86\x92 %s%s%s%s, taking %s \xe2\x86\x92 %s in all",
        known ? "recompilation inside steps" : "compilations", number(count_a, a), number(count_b, b),
        *names ? " (" : "", names, *names ? ")" : "", amount(from, IDS_UNIT_TIME, time_a),
        amount(to, IDS_UNIT_TIME, time_b));
}

/* ---- transfers ---- */

/* Host calls of that name: how many, and their time, per step. */
static void host_calls(const struct ids_side *side, const char *const *wanted, double *ret_count, double *ret_ps) {
    *ret_count = *ret_ps = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        const struct ids_table *names = ids_report_find_table(side->runs[i].report, "names");
        int name = ids_table_column(names, "name"), count = ids_table_column(names, "count");
        int total = ids_table_column(names, "total");
        double scale = side->runs[i].weight / side->runs[i].per_window;
        for (size_t row = 0; name >= 0 && row < names->row_count; row++) {
            const struct ids_value *cell = ids_table_cell(names, row, name);
            for (const char *const *word = wanted; *word && !cell->missing; word++) {
                if (strcmp(cell->text, *word) != 0) continue;
                *ret_count += ids_value_number(*ids_table_cell(names, row, count)) * scale;
                *ret_ps += ids_value_number(*ids_table_cell(names, row, total)) * scale;
            }
        }
    }
}

static void look_at_host_calls(struct ids_diff *diff, const char *what, const char *id, const char *const *wanted) {
    double a = 0, b = 0, time_a = 0, time_b = 0;
    host_calls(diff->a, wanted, &a, &time_a);
    host_calls(diff->b, wanted, &b, &time_b);
    if (fabs(b - a) <= 0.05 * fmax(a, b)) return;
    char from[32], to[32], time_from[IDS_VALUE_ROOM], time_to[IDS_VALUE_ROOM];
    /* What the calls cost a step is at most what devices waited more. */
    double waited = (double)diff->idle_ps, cost = time_b - time_a;
    int same_way = (cost > 0 && waited > 0) || (cost < 0 && waited < 0);
    double change = fabs(cost) < fabs(waited) ? cost : waited;
    say(diff, id, "transfers", same_way, change,
        "%s: %s \xe2\x86\x92 %s calls %s, taking %s \xe2\x86\x92 %s of the host's time", what, number(from, a),
        number(to, b), per(diff), amount(time_from, IDS_UNIT_TIME, time_a), amount(time_to, IDS_UNIT_TIME, time_b));
}

/* Copies as devices recorded them. 0: there is no record. */
static int look_at_copies(struct ids_diff *diff, const char *direction, const char *title, const char *part) {
    char id[64], bytes_id[64];
    double a = 0, b = 0, bytes_a = 0, bytes_b = 0;
    snprintf(id, sizeof id, "transfers.%s_count", direction);
    snprintf(bytes_id, sizeof bytes_id, "transfers.%s_bytes", direction);
    if (!metric(diff->a, id, 1, &a) || !metric(diff->b, id, 1, &b)) return 0;
    int sized = metric(diff->a, bytes_id, 1, &bytes_a) && metric(diff->b, bytes_id, 1, &bytes_b);
    if (fabs(b - a) <= 0.05 * fmax(a, b) && (!sized || fabs(bytes_b - bytes_a) <= 0.05 * fmax(bytes_a, bytes_b)))
        return 1;
    char from[32], to[32], size_from[IDS_VALUE_ROOM], size_to[IDS_VALUE_ROOM];
    int known = part && diff->a->per_step;
    say(diff, ids_report_text(&diff->report, "%s", id), "transfers", known, known ? part_change(diff, part) : 0,
        "%s: %s \xe2\x86\x92 %s copies %s%s%s%s%s", title, number(from, a), number(to, b), per(diff), sized ? ", " : "",
        sized ? amount(size_from, IDS_UNIT_BYTES, bytes_a) : "", sized ? " \xe2\x86\x92 " : "",
        sized ? amount(size_to, IDS_UNIT_BYTES, bytes_b) : "");
    return 1;
}

static void look_at_transfers(struct ids_diff *diff) {
    static const char *const to_device[] = {"DevicePut", "DevicePutWithSharding", NULL};
    static const char *const to_host[] = {"np.asarray(jax.Array)", NULL};
    if (!look_at_copies(diff, "h2d", "transfers to the device", "steps.copy.h2d"))
        look_at_host_calls(diff, "transfers to the device", "host.device_put", to_device);
    if (!look_at_copies(diff, "d2h", "transfers to the host", "steps.copy.d2h"))
        look_at_host_calls(diff, "transfers to the host", "host.device_get", to_host);
    look_at_copies(diff, "d2d", "copies on the device", NULL);
}

/* ---- programs ---- */

static const struct ids_sum *sum_named(const struct ids_sums *sums, const char *name) {
    for (size_t i = 0; i < sums->count; i++) {
        if (!strcmp(sums->at[i].name, name)) return &sums->at[i];
    }
    return NULL;
}

/* A program runs at another rate where each of its ops does: what a loop in it does more or less often is the
 * loop's. */
static int runs_at_another_rate(const struct ids_sum *module) {
    return !ids_is_as_often(module->count_a, module->count_b) && !module->as_often;
}

/* Of a program, or one of those that do its work op by op. */
static const struct ids_program_change *op_by_op_of(const struct ids_diff *diff, const char *module) {
    for (int side = 0; side < 2; side++) {
        const struct ids_program_change *change = ids_programs_change_of(&diff->structure.programs, side, module);
        if (change && change->part_count) return change;
    }
    return NULL;
}

static void look_at_op_by_op(struct ids_diff *diff) {
    const struct ids_programs *programs = &diff->structure.programs;
    for (size_t i = 0; i < programs->count; i++) {
        double change_ps = 0;
        if (!programs->at[i].part_count) continue;
        for (size_t m = 0; m < diff->modules.count; m++) {
            const struct ids_sum *module = &diff->modules.at[m];
            if (op_by_op_of(diff, module->name) == &programs->at[i]) change_ps += module->b_ps - module->a_ps;
        }
        say(diff, "module", "ops", 1, change_ps, "%s", ids_program_words(&programs->at[i], &diff->report));
    }
}

static void look_at_modules(struct ids_diff *diff) {
    for (size_t i = 0; i < diff->modules.count; i++) {
        const struct ids_sum *module = &diff->modules.at[i];
        char from[32], to[32];
        double change = module->b_ps - module->a_ps;
        if (module->a_ps > 0 && module->b_ps > 0 && !runs_at_another_rate(module)) continue;
        if ((module->a_ps == 0 && module->b_ps == 0) || op_by_op_of(diff, module->name)) continue;
        say(diff, "module", "ops", 1, change, "program %s %s: %s \xe2\x86\x92 %s executions %s", module->name,
            module->a_ps == 0   ? "was added"
            : module->b_ps == 0 ? "is gone"
                                : "runs at another rate",
            number(from, module->count_a), number(to, module->count_b), per(diff));
    }
}

/* Ops that came or went, by the user's scope, in programs that both sides run. */
static void look_at_scopes(struct ids_diff *diff) {
    size_t shown = 0;
    for (size_t i = 0; i < diff->scopes.count && shown < SCOPES_SHOWN; i++) {
        const struct ids_sum *scope = &diff->scopes.at[i];
        double came = scope->added_ps, went = scope->removed_ps;
        if (!scope->added && !scope->removed) continue;
        if (fmax(came, went) < diff->options.threshold * fmax(scope->a_ps, scope->b_ps)) continue;
        char what[128];
        int all_new = scope->a_ps == 0, all_gone = scope->b_ps == 0;
        if (scope->added && scope->removed)
            snprintf(what, sizeof what, "%s added, %zu removed", IDS_COUNTED(scope->added, "op"), scope->removed);
        else
            snprintf(what, sizeof what, "%s %s", IDS_COUNTED(scope->added + scope->removed, "op"),
                     scope->added ? "added" : "removed");
        say(diff, "scope", "ops", 1, came - went, "%s%s: %s", scope->name,
            all_new    ? " is new"
            : all_gone ? " is gone"
                       : "",
            what);
        shown++;
    }
}

static int is_said(const struct ids_sum *module) {
    return module && (module->a_ps == 0 || module->b_ps == 0 || runs_at_another_rate(module));
}

/* What has no scope is told of by its name. */
static int say_came_or_went(struct ids_diff *diff, const struct ids_match *match) {
    const struct ids_item *item = match->b ? match->b : match->a;
    char scope[IDS_SCOPE_BYTES], time[IDS_VALUE_ROOM];
    if (!item) return 0;
    ids_scope_of(item->op_name, scope);
    if (*scope || is_said(sum_named(&diff->modules, item->module))) return 0;
    say(diff, "op", diff->has_ops ? "ops" : "kernels", 1, match->change_ps, "%.100s %s: it took %s %s", item->name,
        match->b ? "is new" : "is gone", amount(time, IDS_UNIT_TIME, item->time_ps), per(diff));
    return 1;
}

/* The ops that changed most and are in no scope that is said already. What a collective takes is transfer or waiting,
 * which their accounts tell apart. */
static void look_at_ops(struct ids_diff *diff) {
    const struct ids_matches *matches = diff->has_ops ? &diff->op_matches : &diff->kernel_matches;
    double whole = fabs((double)(diff->parts.whole_b_ps - diff->parts.whole_a_ps));
    size_t shown = 0;
    for (size_t i = 0; i < matches->count && shown < OPS_SHOWN; i++) {
        const struct ids_match *match = &matches->at[i];
        if (match->class == IDS_MATCH_SAME || match->class == IDS_MATCH_UNSURE) continue;
        if (fabs(match->change_ps) < 0.02 * whole) break;
        if (!match->a || !match->b) {
            shown += (size_t)say_came_or_went(diff, match);
            continue;
        }
        if (diff->a->per_step && !strcmp(match->b->event_class, "collective")) continue;
        char from[IDS_VALUE_ROOM], to[IDS_VALUE_ROOM], count_a[32], count_b[32];
        int more = fabs(match->b->rate - match->a->rate) > 0.05 * match->a->rate;
        /* Of a program that is said to be new, gone or run at another rate the ops follow. */
        const struct ids_sum *module = sum_named(&diff->modules, match->b->module);
        if (is_said(module)) continue;
        say(diff, "op", diff->has_ops ? "ops" : "kernels", 1, match->change_ps,
            "%s %.100s: %s \xe2\x86\x92 %s %s%s%s%s%s%s",
            match->class == IDS_MATCH_SLOWER ? "slower:" : "faster:", match->b->name,
            amount(from, IDS_UNIT_TIME, match->a->time_ps), amount(to, IDS_UNIT_TIME, match->b->time_ps), per(diff),
            more ? ", executed " : "", more ? number(count_a, match->a->rate) : "", more ? " \xe2\x86\x92 " : "",
            more ? number(count_b, match->b->rate) : "", more ? " times" : "");
        shown++;
    }
}

/* ---- waiting ---- */

static int said(const struct ids_diff *diff, const char *id) {
    for (size_t i = 0; i < diff->changes.count; i++) {
        if (!strcmp(diff->changes.at[i].id, id)) return 1;
    }
    return 0;
}

/* Ops tell what computing is made of; compilations and copies stand for their accounts where they are counted. */
static int is_told(const struct ids_diff *diff, const char *account) {
    static const struct {
        const char *account, *change;
    } by[] = {
        {"host.compile", "compile.in_steps"}, {"copy.h2d", "transfers.h2d_count"}, {"copy.d2h", "transfers.d2h_count"}};
    if (!strcmp(account, "work.compute") || !strcmp(account, "working")) return 1;
    for (size_t i = 0; i < sizeof by / sizeof *by && diff->a->per_step; i++) {
        if (!strcmp(account, by[i].account)) return said(diff, by[i].change);
    }
    return 0;
}

/* Host calls that explain half of a part's change stand for it. */
static int is_explained(const struct ids_diff *diff, const struct ids_part *part, double change) {
    if (strncmp(part->title, "host.", 5) != 0) return 0;
    for (size_t i = 0; i < diff->changes.count; i++) {
        const struct ids_change *other = &diff->changes.at[i];
        if (strncmp(other->id, "host.", 5) != 0 || !other->known) continue;
        if (other->change_ps * change > 0 && fabs(other->change_ps) >= 0.5 * fabs(change)) return 1;
    }
    return 0;
}

/* "; mostly load (input.py:12): 0 s -> 4.1 ms" */
static void say_culprit(const struct ids_culprit *culprit, char *text, size_t size) {
    char from[IDS_VALUE_ROOM], to[IDS_VALUE_ROOM];
    *text = '\0';
    if (!culprit->name) return;
    snprintf(text, size, "; mostly %.100s%s%.100s%s: %s \xe2\x86\x92 %s", culprit->name, culprit->where ? " (" : "",
             culprit->where ? culprit->where : "", culprit->where ? ")" : "",
             amount(from, IDS_UNIT_TIME, culprit->a_ps), amount(to, IDS_UNIT_TIME, culprit->b_ps));
}

static void look_at_parts(struct ids_diff *diff) {
    double whole = (double)diff->parts.whole_a_ps;
    for (size_t i = 0; i < diff->parts.count; i++) {
        const struct ids_part *part = &diff->parts.at[i];
        double change = (double)(part->b_ps - part->a_ps);
        if (is_told(diff, part->title) || fabs(change) < diff->options.threshold * whole) continue;
        if (part->interval.known && !ids_interval_excludes_zero(&part->interval)) continue;
        if (part->interval.known && change * part->interval.typical.at < 0)
            continue; /* a typical step went the other way */
        if (is_explained(diff, part, change)) continue;
        char from[IDS_VALUE_ROOM], to[IDS_VALUE_ROOM], culprit[320];
        say_culprit(&part->culprit, culprit, sizeof culprit);
        say(diff, part->id, part->id, 1, change, "%s: %s \xe2\x86\x92 %s %s%s", part->title,
            amount(from, IDS_UNIT_TIME, (double)part->a_ps), amount(to, IDS_UNIT_TIME, (double)part->b_ps), per(diff),
            culprit);
    }
}

static int most_first(const void *a, const void *b) {
    const struct ids_change *left = a, *right = b;
    if (left->known != right->known) return left->known ? -1 : 1;
    double l = fabs(left->change_ps), r = fabs(right->change_ps);
    if (l != r) return l < r ? 1 : -1;
    int order = strcmp(left->id, right->id);
    return order ? order : strcmp(left->text, right->text);
}

int ids_changes_make(struct ids_diff *diff, struct ids_error *err) {
    look_at_compiles(diff);
    look_at_transfers(diff);
    look_at_op_by_op(diff);
    look_at_modules(diff);
    look_at_scopes(diff);
    look_at_ops(diff);
    look_at_parts(diff);
    if (diff->changes.count) qsort(diff->changes.at, diff->changes.count, sizeof *diff->changes.at, most_first);
    return ids_report_check(&diff->report, err);
}
