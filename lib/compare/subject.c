#include "lib/compare/subject.h"

#include "lib/compare/items.h"
#include "lib/compare/ledger_rows.h"
#include "lib/hlo/scope.h"
#include "lib/model/account.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

enum { ID_BYTES = 512 };

/* ---- reading ---- */

size_t ids_subject_length(const char *text, size_t length) {
    size_t depth = 0, at = 0;
    for (; at < length; at++) {
        char c = text[at];
        if (!depth && (c == ' ' || c == '\t' || c == '=')) break;
        depth += c == '[';
        depth -= c == ']' && depth;
    }
    return at;
}

static const struct {
    const char *name;
    enum ids_subject_kind kind;
    const char *title, *next;
} selectors[] = {
    {"op", IDS_SUBJECT_OP, "ops", "--section ops"},
    {"kernel", IDS_SUBJECT_KERNEL, "kernels", "--section kernels"},
    {"scope", IDS_SUBJECT_SCOPE, "a scope", "--section ops"},
    {"program", IDS_SUBJECT_PROGRAM, "a program", "--section ops"},
};
enum { SELECTORS = sizeof selectors / sizeof *selectors };

static int make_metric(struct ids_arena *arena, const char *id, const char *title, struct ids_subject *subject,
                       struct ids_error *err) {
    struct ids_metric_def *made = ids_arena_alloc(arena, sizeof *made);
    const char *copy = ids_arena_copy(arena, id, strlen(id));
    if (!made || !copy) return ids_no_memory(err);
    *made = (struct ids_metric_def){.id = copy, .title = title, .unit = IDS_UNIT_TIME, .better = IDS_BETTER_LOWER};
    subject->metric = made;
    return 0;
}

static const char *next_of(struct ids_arena *arena, const char *id) {
    static const char option[] = "--explain ";
    char text[ID_BYTES + sizeof option];
    memcpy(text, option, sizeof option);
    strncat(text, id, ID_BYTES - 1);
    return ids_arena_copy(arena, text, strlen(text));
}

/* The first account that the glob matches. */
static enum ids_account account_like(const char *glob) {
    int account = 0;
    while (account < IDS_ACCOUNT_COUNT && fnmatch(glob, ids_account_id((enum ids_account)account), 0) != 0) account++;
    return (enum ids_account)account;
}

/* "work.compute[layer3]", cut at the bracket. */
static int parse_selector(char *id, char *bracket, struct ids_arena *arena, struct ids_subject *subject,
                          struct ids_error *err) {
    size_t length = strlen(bracket);
    if (length < 3 || bracket[length - 1] != ']')
        return ids_fail(err, IDS_USAGE, "'%s': expected a name or glob between brackets, as in op[fusion*]", id);
    const char *title = NULL;
    char *pattern = ids_arena_copy(arena, bracket + 1, length - 2);
    *bracket = '\0';
    for (int i = 0; i < SELECTORS && !title; i++) {
        if (strcmp(selectors[i].name, id) != 0) continue;
        *subject = (struct ids_subject){.kind = selectors[i].kind, .next = selectors[i].next};
        title = selectors[i].title;
    }
    enum ids_account account = title ? IDS_NO_ACCOUNT : account_like(id);
    if (account != IDS_NO_ACCOUNT) {
        title = ids_account_title(account);
        *subject = (struct ids_subject){.kind = IDS_SUBJECT_ACCOUNT,
                                        .account = ids_arena_copy(arena, id, strlen(id)),
                                        .next = next_of(arena, ids_account_id(account))};
    }
    if (!title)
        return ids_fail(err, IDS_USAGE, "'%s' takes no brackets (op, kernel, scope, program and accounts do)", id);
    *bracket = '[';
    subject->pattern = pattern;
    if (!pattern || !subject->next) return ids_no_memory(err);
    return make_metric(arena, id, title, subject, err);
}

/* "host.*": several accounts together. */
static int parse_accounts(const char *id, struct ids_arena *arena, struct ids_subject *subject, struct ids_error *err) {
    enum ids_account account = account_like(id);
    if (account == IDS_NO_ACCOUNT) return ids_fail(err, IDS_USAGE, "no account is called like '%s'", id);
    *subject = (struct ids_subject){
        .kind = IDS_SUBJECT_ACCOUNT, .account = ids_arena_copy(arena, id, strlen(id)), .next = "--section ledger"};
    return subject->account ? make_metric(arena, id, "accounts", subject, err) : ids_no_memory(err);
}

int ids_subject_parse(const char *text, size_t length, ids_find_metric *find, struct ids_arena *arena,
                      struct ids_subject *ret_subject, struct ids_error *err) {
    char id[ID_BYTES];
    if (length >= sizeof id) return ids_fail(err, IDS_USAGE, "no figure has a name as long as '%.*s...'", 40, text);
    memcpy(id, text, length);
    id[length] = '\0';
    char *bracket = strchr(id, '[');
    if (bracket) return parse_selector(id, bracket, arena, ret_subject, err);
    for (int i = 0; i < SELECTORS; i++) {
        if (!strcmp(selectors[i].name, id)) return ids_fail(err, IDS_USAGE, "'%s' needs a name or glob: %s[*]", id, id);
    }
    if (strpbrk(id, "*?")) return parse_accounts(id, arena, ret_subject, err);
    enum ids_account account = ids_account_of_id(id);
    const struct ids_metric_def *metric = find(account == IDS_NO_ACCOUNT ? id : ids_account_steps_id(account), err);
    if (!metric) return IDS_USAGE;
    if (metric->unit == IDS_UNIT_NONE) return ids_fail(err, IDS_USAGE, "'%s' is a text, which has no limits", id);
    *ret_subject = (struct ids_subject){.metric = metric, .next = next_of(arena, metric->id)};
    return ret_subject->next ? 0 : ids_no_memory(err);
}

/* ---- values ---- */

/* A name that is written as it is matches too where a glob would not: "f32[8]" is a set to fnmatch. */
static int matches(const char *pattern, const char *text) {
    return *text && (!strcmp(pattern, text) || !fnmatch(pattern, text, 0));
}

int ids_pattern_matches_scope(const char *pattern, const char *path) {
    char part[ID_BYTES];
    for (const char *from = path; from; from = strchr(from, '/') ? strchr(from, '/') + 1 : NULL) {
        for (const char *to = from; *to;) {
            const char *slash = strchr(to, '/');
            to = slash ? slash : to + strlen(to);
            size_t length = (size_t)(to - from);
            if (length >= sizeof part) return 0;
            memcpy(part, from, length);
            part[length] = '\0';
            if (matches(pattern, part)) return 1;
            if (*to) to++;
        }
    }
    return 0;
}

static int culprit_matches(const struct ids_ledger_row *row, const char *pattern) {
    char scope[IDS_SCOPE_BYTES];
    if (row->culprit && matches(pattern, row->culprit)) return 1;
    if (!row->where) return 0;
    ids_scope_of(row->where, scope);
    return matches(pattern, row->where) || ids_pattern_matches_scope(pattern, scope);
}

static const char *of_account(const struct ids_subject *subject, const struct ids_side_run *run,
                              struct ids_report *texts, double *ret_value) {
    struct ids_ledger_row row;
    struct ids_ledger_reading reading = ids_ledger_begin(run);
    size_t found = 0;
    *ret_value = 0;
    while (ids_ledger_next(&reading, &row)) {
        if (fnmatch(subject->account, row.account, 0) != 0) continue;
        if (subject->pattern && !culprit_matches(&row, subject->pattern)) continue;
        *ret_value += row.per_step_ps;
        found++;
    }
    if (!reading.at) return "the run has no ledger";
    if (found || !subject->pattern) return NULL; /* an account that took no time has no rows */
    return ids_report_text(texts, "nothing in %s is called '%s'", subject->account, subject->pattern);
}

static int item_matches(const struct ids_subject *subject, const struct ids_item *item) {
    char scope[IDS_SCOPE_BYTES];
    if (subject->kind == IDS_SUBJECT_PROGRAM) return matches(subject->pattern, item->module);
    if (subject->kind != IDS_SUBJECT_SCOPE) return matches(subject->pattern, item->name);
    ids_scope_of(item->op_name, scope);
    return ids_pattern_matches_scope(subject->pattern, scope);
}

/* As `diff` counts them: a side of this run alone. */
static const char *of_items(const struct ids_subject *subject, const struct ids_side_run *run, struct ids_report *texts,
                            double *ret_value) {
    enum ids_item_kind kind = subject->kind == IDS_SUBJECT_KERNEL ? IDS_ITEM_KERNELS : IDS_ITEM_OPS;
    struct ids_side_run own;
    const struct ids_side side = ids_side_of_run(run, &own);
    struct ids_items items;
    struct ids_error err;
    size_t found = 0;
    *ret_value = 0;
    if (ids_items_make(&side, kind, texts, &items, &err)) {
        texts->out_of_memory = 1;
        return "out of memory";
    }
    size_t count = items.count;
    for (size_t i = 0; i < count; i++) {
        if (!item_matches(subject, &items.at[i])) continue;
        *ret_value += items.at[i].time_ps;
        found++;
    }
    ids_items_done(&items);
    if (found) return NULL;
    const char *noun = kind == IDS_ITEM_KERNELS ? "kernels" : "ops";
    if (!count) return ids_report_text(texts, "the run has no %s", noun);
    if (subject->kind == IDS_SUBJECT_OP || subject->kind == IDS_SUBJECT_KERNEL)
        return ids_report_text(texts, "none of its %zu %s is called '%s'", count, noun, subject->pattern);
    return ids_report_text(texts, "none of its %zu ops is in a %s '%s'", count,
                           subject->kind == IDS_SUBJECT_SCOPE ? "scope" : "program", subject->pattern);
}

static const char *of_metric(const struct ids_subject *subject, const struct ids_side_run *run, double *ret_value) {
    if (ids_run_metric(run, subject->metric->id, ret_value)) return NULL;
    const struct ids_metric *metric = ids_report_find(run->report, subject->metric->id, NULL);
    return metric && metric->reason ? metric->reason : "not measured";
}

const char *ids_subject_value(const struct ids_subject *subject, const struct ids_side_run *run,
                              struct ids_report *texts, double *ret_value) {
    switch (subject->kind) {
    case IDS_SUBJECT_METRIC:
        return of_metric(subject, run, ret_value);
    case IDS_SUBJECT_ACCOUNT:
        return of_account(subject, run, texts, ret_value);
    case IDS_SUBJECT_OP:
    case IDS_SUBJECT_KERNEL:
    case IDS_SUBJECT_SCOPE:
    case IDS_SUBJECT_PROGRAM:
        return of_items(subject, run, texts, ret_value);
    }
    return "not measured";
}
