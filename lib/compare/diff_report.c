/* diff_report.c - a diff as properties and tables, for JSON and CSV, and for the tables of the text. */
#include "lib/base/counted.h"
#include "lib/compare/cause_words.h"
#include "lib/compare/diff.h"
#include "lib/compare/held_changes.h"

#include <math.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const struct ids_column_def headline_columns[] = {
    {"id", "id", IDS_UNIT_NONE, 0},
    {"title", "figure", IDS_UNIT_NONE, 0},
    {"unit", "unit", IDS_UNIT_NONE, 0},
    {"a", "before", IDS_UNIT_NUMBER, 0},
    {"b", "after", IDS_UNIT_NUMBER, 0},
    {"difference", "difference", IDS_UNIT_NUMBER, 0},
    {"ratio", "ratio", IDS_UNIT_NUMBER, 0},
    {"low", "at least", IDS_UNIT_NUMBER, 0},
    {"high", "at most", IDS_UNIT_NUMBER, 0},
    {"typical", "typical difference", IDS_UNIT_NUMBER, 0},
    {"typical_low", "at least", IDS_UNIT_NUMBER, 0},
    {"typical_high", "at most", IDS_UNIT_NUMBER, 0},
    {"verdict", "verdict", IDS_UNIT_NONE, 0},
    {"better", "better", IDS_UNIT_NONE, 0},
    {"reason", "reason", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def headline_def = {
    "headline",
    "headline",
    headline_columns,
    COUNT_OF(headline_columns),
    "The figures that matter most, in SI units: both sides, difference, ratio b ÷ a, its interval, the difference of "
    "typical steps (without the fifth of the slowest and of the fastest) with its interval, by which the verdict is "
    "told, and the verdict; better says which side of it the change is on (better, worse, neither).",
    0};

static const struct ids_column_def cause_columns[] = {
    {"change", "change", IDS_UNIT_TIME, 0},
    {"share", "of the change", IDS_UNIT_RATIO, 0},
    {"a", "before", IDS_UNIT_TIME, 0},
    {"b", "after", IDS_UNIT_TIME, 0},
    {"low", "at least", IDS_UNIT_TIME, 0},
    {"high", "at most", IDS_UNIT_TIME, 0},
    {"account", "account", IDS_UNIT_NONE, 0},
    {"culprit", "culprit", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"cause", "cause", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"kind", "kind", IDS_UNIT_NONE, 0},
    {"structural", "structural", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"verdict", "verdict", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"rank", "rank", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"shape_a", "shape before", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"shape_b", "shape after", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"fingerprint_a", "fingerprint before", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"fingerprint_b", "fingerprint after", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"count_a", "executions before", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"count_b", "executions after", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"place_of", "place of", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"note", "note", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def waterfall_def = {
    "waterfall",
    "where the change comes from",
    cause_columns,
    COUNT_OF(cause_columns),
    "From the step before to the step after, cause by cause, the surest large change first: behind all others what "
    "may be chance, then by rank (what is left of a change after what the spread alone can make of it; what the "
    "programs say themselves, structural 1, and functions that came or went count half as much again); with the last "
    "row (kind unexplained) the changes sum to that of the step. kind: culprit, op, scope (ops that came, went or "
    "compute something else), shapes (the same of a program whose shapes changed alike), dimension (the same of what "
    "one dimension of the model changed), launches (of several programs by one function), layers (one op in several "
    "layers, where "
    "none is more than half of it), program (that one side alone has, with those that do its work op by op on the "
    "other "
    "one), others (many small ones of "
    "an account), even (what all ops became slower or faster by), host (all time of the host, where the Python tracer"
    " recorded one side alone), account (without culprits). place_of: whose files where and source speak of; before "
    "for what went or takes less time now. note: what samples of stacks say of a function of the program, or of a "
    "wait.",
    0};

static const struct ids_column_def structure_columns[] = {
    {"what", "what", IDS_UNIT_NONE, 0},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"before", "before", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"after", "after", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"count", "count", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def structure_def = {
    "structure",
    "what the programs say",
    structure_columns,
    COUNT_OF(structure_columns),
    "What the two sides compute differently, by their compiled programs, which is certain whatever the times are. "
    "what: program, renamed; jit: a function that is under jax.jit on one side alone, and that the other one runs op "
    "by "
    "op; renumbered: a numbered scope that side b calls otherwise, because others came or went "
    "before it; reordered: numbered scopes that changed places; argument: one of the same shape that has another name "
    "or "
    "place in a tree; of a program's HLO (the report's table program_facts) input, donated, sharding, "
    "collective, groups, custom_call, remat; batch or element_type where nearly all shapes changed alike; dimension "
    "where one changed in several ops; of the ops of a scope ops (how many), shape, executions, computation (other "
    "operands or attributes). count: of how many instructions or ops.",
    IDS_TABLE_TOP};

static const struct ids_column_def part_columns[] = {
    {"change", "change", IDS_UNIT_TIME, 0},
    {"a", "before", IDS_UNIT_TIME, 0},
    {"b", "after", IDS_UNIT_TIME, 0},
    {"low", "at least", IDS_UNIT_TIME, 0},
    {"high", "at most", IDS_UNIT_TIME, 0},
    {"part", "account", IDS_UNIT_NONE, 0},
    {"id", "id", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"culprit_change", "of it", IDS_UNIT_TIME, 0},
    {"culprit", "mostly", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
static const struct ids_table_def parts_def = {
    "parts",
    "parts of a step",
    part_columns,
    COUNT_OF(part_columns),
    "The difference of the two ledgers by account, as means over the devices; the changes sum to the change of the "
    "whole. `id` is the metric of the account (steps.*; without steps idle.*, and of busy time device.working and "
    "device.stalled), `culprit` whose time in it changed most, and `culprit_change` by how much.",
    0};

static const struct ids_column_def change_columns[] = {
    {"change", "change", IDS_UNIT_TIME, 0},
    {"text", "what changed", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"id", "id", IDS_UNIT_NONE, 0},
    {"explain", "explain", IDS_UNIT_NONE, 0},
};
static const struct ids_table_def changes_def = {
    "changes",
    "what changed",
    change_columns,
    COUNT_OF(change_columns),
    "Causes of the difference, by their cost per step and device; no cost where it is not known.",
    0};

#define MATCH_COLUMNS(name, title)                                                                                    \
    {"change", "change", IDS_UNIT_TIME, 0}, {"a", "before", IDS_UNIT_TIME, 0}, {"b", "after", IDS_UNIT_TIME, 0},      \
        {"class", "class", IDS_UNIT_NONE, 0}, {"name", title, IDS_UNIT_NONE, IDS_COLUMN_LONG},                        \
        {"category", "category", IDS_UNIT_NONE, 0}, {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG},             \
        {"by", "matched by", IDS_UNIT_NONE, 0}, {"op_name", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},        \
        {"ratio", "ratio", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},                                                       \
        {"name_a", "name before", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},                                                  \
        {"shape", "shape", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},                                      \
        {"count_a", "executions before", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},                                         \
        {"count_b", "executions after", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},                                          \
        {"low", "at least", IDS_UNIT_TIME, IDS_COLUMN_DETAIL}, {"high", "at most", IDS_UNIT_TIME, IDS_COLUMN_DETAIL}, \
        {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},                                                       \
        {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},

static const struct ids_column_def op_columns[] = {MATCH_COLUMNS(name, "op")};
static const struct ids_table_def ops_def = {
    "ops",
    "single ops by contribution",
    op_columns,
    COUNT_OF(op_columns),
    "One row per op of either side, per step (or in the window) and device, largest contribution first: same, slower, "
    "faster, added, removed; matched by fingerprint, shape (name without number, and shape), place (in the program) or "
    "name.",
    IDS_TABLE_TOP};
static const struct ids_column_def computation_columns[] = {
    {"change", "change", IDS_UNIT_TIME, 0},
    {"a", "before", IDS_UNIT_TIME, 0},
    {"b", "after", IDS_UNIT_TIME, 0},
    {"class", "class", IDS_UNIT_NONE, 0},
    {"ops", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"category", "category", IDS_UNIT_NONE, 0},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"by", "matched by", IDS_UNIT_NONE, 0},
    {"op_name", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"ratio", "ratio", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"shape", "shape", IDS_UNIT_NONE, IDS_COLUMN_DETAIL | IDS_COLUMN_TELLS},
    {"count_a", "executions before", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"count_b", "executions after", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"largest", "largest", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"largest_change", "largest change", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"low", "at least", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"high", "at most", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
    {"fingerprint", "fingerprint", IDS_UNIT_NONE, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def computations_def = {
    "computations",
    "ops by contribution",
    computation_columns,
    COUNT_OF(computation_columns),
    "The rows of ops by what they compute, largest contribution first: ops of one program with the same fingerprints "
    "that changed in the same way (class) are one row. `ops` is how many they are, none where it is one; `largest` the "
    "one that changed most. The interval is that of a single op; a sum has none. A * stands for the numbers in which "
    "names and places differ.",
    IDS_TABLE_TOP};
static const struct ids_column_def kernel_columns[] = {MATCH_COLUMNS(name, "kernel")};
static const struct ids_table_def kernels_def = {"kernels",
                                                 "kernels by contribution",
                                                 kernel_columns,
                                                 COUNT_OF(kernel_columns),
                                                 "As ops, of GPU kernels; shape is the launch's.",
                                                 IDS_TABLE_TOP};

static const struct ids_column_def sum_columns[] = {
    {"change", "change", IDS_UNIT_TIME, 0},
    {"a", "before", IDS_UNIT_TIME, 0},
    {"b", "after", IDS_UNIT_TIME, 0},
    {"name", "name", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"added", "added", IDS_UNIT_COUNT, 0},
    {"removed", "removed", IDS_UNIT_COUNT, 0},
    {"matched", "matched", IDS_UNIT_COUNT, 0},
    {"count_a", "runs before", IDS_UNIT_NUMBER, 0},
    {"count_b", "runs after", IDS_UNIT_NUMBER, 0},
};
static const struct ids_column_def family_columns[] = {
    {"change", "change", IDS_UNIT_TIME, 0},
    {"a", "before", IDS_UNIT_TIME, 0},
    {"b", "after", IDS_UNIT_TIME, 0},
    {"name", "family", IDS_UNIT_NONE, 0},
    {"pass", "pass", IDS_UNIT_NONE, 0},
    {"added", "added", IDS_UNIT_COUNT, 0},
    {"removed", "removed", IDS_UNIT_COUNT, 0},
    {"matched", "matched", IDS_UNIT_COUNT, 0},
    {"count_a", "runs before", IDS_UNIT_NUMBER, 0},
    {"count_b", "runs after", IDS_UNIT_NUMBER, 0},
};
static const struct ids_table_def modules_def = {
    "modules",
    "programs",
    sum_columns,
    COUNT_OF(sum_columns),
    "Ops put together by program; runs are executions per step and device.",
    0};
static const struct ids_table_def scopes_def = {"scopes",
                                                "scopes",
                                                sum_columns,
                                                COUNT_OF(sum_columns),
                                                "Ops put together by the user's named scopes and functions.",
                                                0};
static const struct ids_table_def families_def = {"families",
                                                  "families",
                                                  family_columns,
                                                  COUNT_OF(family_columns),
                                                  "Kernels (without any: ops) put together by what they do, and by the "
                                                  "pass they belong to (forward, backward, custom vjp).",
                                                  0};
static const struct ids_table_def collectives_def = {
    "collectives", "collectives", sum_columns, COUNT_OF(sum_columns), "Collective ops put together by kind.", 0};

const struct ids_table_def *const ids_diff_tables[] = {
    &ids_findings_table, &headline_def,     &waterfall_def,   &structure_def,         &parts_def,
    &changes_def,        &computations_def, &ops_def,         &kernels_def,           &families_def,
    &scopes_def,         &modules_def,      &collectives_def, &ids_held_changes_table};
const int ids_diff_table_count = COUNT_OF(ids_diff_tables);

/* ---- values ---- */

static struct ids_value time_of(double ps) {
    return ids_int_value(IDS_UNIT_TIME, (int64_t)llround(ps));
}

static struct ids_value bound_of(const struct ids_interval *interval, double bound) {
    return interval->known ? time_of(bound) : ids_no_value(IDS_UNIT_TIME);
}

static struct ids_value text_of(const char *text) {
    return ids_text_value(text && *text ? text : NULL);
}

/* What a figure is in SI units. */
static struct ids_value figure(enum ids_unit unit, int known, double value) {
    if (!known) return ids_no_value(IDS_UNIT_NUMBER);
    return ids_real_value(IDS_UNIT_NUMBER, unit == IDS_UNIT_TIME ? value * 1e-12 : value);
}

static struct ids_value ratio_of(int known, double a, double b) {
    return known && a > 0 ? ids_real_value(IDS_UNIT_NUMBER, b / a) : ids_no_value(IDS_UNIT_NUMBER);
}

/* ---- tables ---- */

static void list_headline(struct ids_diff *diff) {
    static const char *const directions[] = {"worse", "neither", "better"};
    struct ids_table *table = ids_report_table(&diff->report, &headline_def);
    for (size_t i = 0; i < diff->headline_count; i++) {
        const struct ids_difference *row = &diff->headline[i];
        int both = row->has_a && row->has_b, known = row->interval.known;
        const char *unit = ids_unit_name(row->unit);
        struct ids_value cells[] = {
            ids_text_value(row->id),
            ids_text_value(row->title),
            ids_text_value(unit),
            figure(row->unit, row->has_a, row->a),
            figure(row->unit, row->has_b, row->b),
            figure(row->unit, both, row->b - row->a),
            ratio_of(both, row->a, row->b),
            figure(row->unit, known, row->interval.mean.low),
            figure(row->unit, known, row->interval.mean.high),
            figure(row->unit, known, row->interval.typical.at),
            figure(row->unit, known, row->interval.typical.low),
            figure(row->unit, known, row->interval.typical.high),
            ids_text_value(ids_verdict_name(row->verdict)),
            ids_text_value(both && row->verdict > IDS_VERDICT_SAME
                               ? directions[ids_direction_of(row->better, row->b - row->a) + 1]
                               : NULL),
            ids_text_value(row->reason),
        };
        IDS_ROW(&diff->report, table, headline_columns, cells);
    }
}

static void list_waterfall(struct ids_diff *diff) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    double whole = waterfall->after_ps - waterfall->before_ps;
    struct ids_table *table = ids_report_table(&diff->report, &waterfall_def);
    for (size_t i = 0; i <= waterfall->count; i++) {
        static const struct ids_cause rest = {.account = NULL};
        const struct ids_cause *cause = i < waterfall->count ? &waterfall->at[i] : &rest;
        const struct ids_match *match = cause->match;
        int is_rest = cause == &rest;
        double change = is_rest ? waterfall->unexplained_ps : cause->change_ps;
        struct ids_value row[] = {
            time_of(change),
            whole != 0 ? ids_real_value(IDS_UNIT_RATIO, change / whole) : ids_no_value(IDS_UNIT_RATIO),
            is_rest ? ids_no_value(IDS_UNIT_TIME) : time_of(cause->a_ps),
            is_rest ? ids_no_value(IDS_UNIT_TIME) : time_of(cause->b_ps),
            bound_of(&cause->interval, cause->interval.mean.low),
            bound_of(&cause->interval, cause->interval.mean.high),
            ids_text_value(cause->account),
            ids_text_value(cause->culprit),
            ids_text_value(cause->where),
            ids_text_value(is_rest
                               ? "unexplained"
                               : ids_cause_words(cause, &diff->structure, diff->other_devices != NULL, &diff->report)),
            ids_text_value(is_rest ? "unexplained" : ids_cause_kind_name(cause->kind)),
            is_rest ? ids_no_value(IDS_UNIT_COUNT) : ids_int_value(IDS_UNIT_COUNT, ids_cause_is_structural(cause)),
            ids_text_value(is_rest ? NULL : ids_verdict_name(cause->verdict)),
            is_rest ? ids_no_value(IDS_UNIT_TIME) : time_of(cause->rank),
            text_of(match ? match->a->shape : NULL),
            text_of(match ? match->b->shape : NULL),
            text_of(match ? match->a->fingerprint : NULL),
            text_of(match ? match->b->fingerprint : NULL),
            match ? ids_real_value(IDS_UNIT_NUMBER, match->a->count) : ids_no_value(IDS_UNIT_NUMBER),
            match ? ids_real_value(IDS_UNIT_NUMBER, match->b->count) : ids_no_value(IDS_UNIT_NUMBER),
            text_of(cause->source),
            ids_text_value(!cause->where && !cause->source ? NULL
                           : cause->is_place_before        ? "before"
                                                           : "after"),
            ids_text_value(cause->note),
        };
        IDS_ROW(&diff->report, table, cause_columns, row);
    }
}

static void list_structure(struct ids_diff *diff) {
    struct ids_table *table = ids_report_table(&diff->report, &structure_def);
    for (size_t i = 0; i < diff->structure.count; i++) {
        const struct ids_structure_row *from = &diff->structure.at[i];
        struct ids_value row[] = {ids_text_value(from->what), text_of(from->where), ids_text_value(from->before),
                                  ids_text_value(from->after), ids_real_value(IDS_UNIT_NUMBER, from->count)};
        IDS_ROW(&diff->report, table, structure_columns, row);
    }
}

static void list_parts(struct ids_diff *diff) {
    struct ids_table *table = ids_report_table(&diff->report, &parts_def);
    for (size_t i = 0; i < diff->parts.count; i++) {
        const struct ids_part *part = &diff->parts.at[i];
        struct ids_value row[] = {
            ids_int_value(IDS_UNIT_TIME, part->b_ps - part->a_ps),
            ids_int_value(IDS_UNIT_TIME, part->a_ps),
            ids_int_value(IDS_UNIT_TIME, part->b_ps),
            bound_of(&part->interval, part->interval.mean.low),
            bound_of(&part->interval, part->interval.mean.high),
            ids_text_value(part->title),
            ids_text_value(part->id),
            part->culprit.name ? time_of(part->culprit.b_ps - part->culprit.a_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(part->culprit.name),
            ids_text_value(part->culprit.where),
        };
        IDS_ROW(&diff->report, table, part_columns, row);
    }
}

static void list_changes(struct ids_diff *diff) {
    struct ids_table *table = ids_report_table(&diff->report, &changes_def);
    for (size_t i = 0; i < diff->changes.count; i++) {
        const struct ids_change *change = &diff->changes.at[i];
        struct ids_value row[] = {change->known ? time_of(change->change_ps) : ids_no_value(IDS_UNIT_TIME),
                                  ids_text_value(change->text), ids_text_value(change->id),
                                  ids_text_value(change->explain)};
        IDS_ROW(&diff->report, table, change_columns, row);
    }
}

static void list_matches(struct ids_diff *diff, const struct ids_table_def *def, const struct ids_matches *matches) {
    struct ids_table *table = ids_report_table(&diff->report, def);
    for (size_t i = 0; i < matches->count; i++) {
        const struct ids_match *match = &matches->at[i];
        const struct ids_item *a = match->a, *b = match->b, *item = b ? b : a;
        if (!item) continue; /* a match has a side */
        struct ids_value row[] = {
            time_of(match->change_ps),
            a ? time_of(a->time_ps) : ids_no_value(IDS_UNIT_TIME),
            b ? time_of(b->time_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(ids_match_class_name(match->class)),
            ids_text_value(item->name),
            text_of(item->category),
            text_of(item->module),
            text_of(ids_match_by_name(match->by)),
            text_of(item->op_name),
            ratio_of(a && b, a ? a->time_ps : 0, b ? b->time_ps : 0),
            ids_text_value(a ? a->name : NULL),
            text_of(item->shape),
            a ? ids_real_value(IDS_UNIT_NUMBER, a->count) : ids_no_value(IDS_UNIT_NUMBER),
            b ? ids_real_value(IDS_UNIT_NUMBER, b->count) : ids_no_value(IDS_UNIT_NUMBER),
            bound_of(&match->interval, match->interval.mean.low),
            bound_of(&match->interval, match->interval.mean.high),
            text_of(item->source),
            text_of(item->fingerprint),
        };
        IDS_ROW(&diff->report, table, op_columns, row);
    }
}

static void list_computations(struct ids_diff *diff) {
    struct ids_report *report = &diff->report;
    struct ids_table *table = ids_report_table(report, &computations_def);
    for (size_t i = 0; i < diff->alike.count; i++) {
        const struct ids_alike_matches *alike = &diff->alike.at[i];
        const struct ids_match *match = alike->largest;
        const struct ids_item *a = match->a, *b = match->b, *item = b ? b : a;
        const int is_one = alike->names.count == 1;
        if (!item) continue; /* a match has a side */
        struct ids_value row[] = {
            time_of(alike->change_ps),
            a ? time_of(alike->a_ps) : ids_no_value(IDS_UNIT_TIME),
            b ? time_of(alike->b_ps) : ids_no_value(IDS_UNIT_TIME),
            ids_text_value(ids_match_class_name(match->class)),
            is_one ? ids_no_value(IDS_UNIT_COUNT) : ids_int_value(IDS_UNIT_COUNT, (int64_t)alike->names.count),
            ids_text_value(ids_alike_name(report, &alike->names)),
            text_of(item->category),
            text_of(item->module),
            text_of(ids_match_by_name(match->by)),
            text_of(ids_alike_place(report, &alike->names)),
            ratio_of(a && b, alike->a_ps, alike->b_ps),
            text_of(item->shape),
            a ? ids_real_value(IDS_UNIT_NUMBER, alike->count_a) : ids_no_value(IDS_UNIT_NUMBER),
            b ? ids_real_value(IDS_UNIT_NUMBER, alike->count_b) : ids_no_value(IDS_UNIT_NUMBER),
            ids_text_value(item->name),
            time_of(match->change_ps),
            is_one ? bound_of(&match->interval, match->interval.mean.low) : ids_no_value(IDS_UNIT_TIME),
            is_one ? bound_of(&match->interval, match->interval.mean.high) : ids_no_value(IDS_UNIT_TIME),
            text_of(item->source),
            text_of(item->fingerprint),
        };
        IDS_ROW(report, table, computation_columns, row);
    }
}

/* Only families have the column of passes. */
static void list_sums(struct ids_diff *diff, const struct ids_table_def *def, const struct ids_sums *sums) {
    struct ids_table *table = ids_report_table(&diff->report, def);
    for (size_t i = 0; i < sums->count; i++) {
        const struct ids_sum *sum = &sums->at[i];
        struct ids_value row[COUNT_OF(family_columns)] = {time_of(sum->b_ps - sum->a_ps), time_of(sum->a_ps),
                                                          time_of(sum->b_ps), ids_text_value(sum->name)};
        struct ids_value *next = &row[4];
        if (def == &families_def) *next++ = text_of(sum->pass);
        *next++ = ids_int_value(IDS_UNIT_COUNT, (int64_t)sum->added);
        *next++ = ids_int_value(IDS_UNIT_COUNT, (int64_t)sum->removed);
        *next++ = ids_int_value(IDS_UNIT_COUNT, (int64_t)sum->matched);
        *next++ = ids_real_value(IDS_UNIT_NUMBER, sum->count_a);
        *next = ids_real_value(IDS_UNIT_NUMBER, sum->count_b);
        IDS_ROW(&diff->report, table, family_columns, row);
    }
}

/* ---- properties ---- */

static void say_side(struct ids_diff *diff, const char *id, const struct ids_side *side) {
    struct ids_report *report = &diff->report;
    ids_report_property(report, id, ids_text_value(side->label));
    ids_report_property(report, ids_report_text(report, "%s_runs", id),
                        ids_int_value(IDS_UNIT_COUNT, (int64_t)side->run_count));
    int64_t steps = 0;
    for (size_t i = 0; i < side->run_count; i++)
        steps += side->runs[i].steps ? (int64_t)side->runs[i].steps->row_count : 0;
    ids_report_property(report, ids_report_text(report, "%s_steps", id), ids_int_value(IDS_UNIT_COUNT, steps));
    const struct ids_value *path = ids_report_find_property(side->runs[0].report, "path");
    if (path) ids_report_property(report, ids_report_text(report, "%s_path", id), *path);
}

static void say_whole(struct ids_diff *diff) {
    struct ids_report *report = &diff->report;
    const struct {
        const char *id;
        int64_t ps;
    } times[] = {
        {"whole_a", diff->parts.whole_a_ps},
        {"whole_b", diff->parts.whole_b_ps},
        {"change", diff->parts.whole_b_ps - diff->parts.whole_a_ps},
        {"change_by_ops", diff->ops_ps},
        {"change_without_op", diff->without_ps},
        {"change_by_overlap", diff->overlap_ps},
        {"change_idle", diff->idle_ps},
        {"remainder", diff->parts.remainder_ps},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        ids_report_property(report, times[i].id, ids_int_value(IDS_UNIT_TIME, times[i].ps));
    double explained = ids_explained_share(&diff->waterfall);
    ids_report_property(report, "explained_share",
                        isnan(explained) ? ids_no_value(IDS_UNIT_RATIO) : ids_real_value(IDS_UNIT_RATIO, explained));
}

void ids_diff_report(struct ids_diff *diff) {
    struct ids_report *report = &diff->report;
    for (size_t i = 0; i < diff->a->run_count; i++) report->complete &= diff->a->runs[i].report->complete;
    for (size_t i = 0; i < diff->b->run_count; i++) report->complete &= diff->b->runs[i].report->complete;
    say_side(diff, "a", diff->a);
    say_side(diff, "b", diff->b);
    if (diff->other_devices) ids_report_property(report, "other_devices", ids_text_value(diff->other_devices));
    if (diff->slice) ids_report_property(report, "slice", ids_text_value(diff->slice));
    ids_report_property(report, "comparable", ids_int_value(IDS_UNIT_COUNT, !diff->remarks.unlike));
    ids_report_property(report, "per", ids_text_value(diff->a->per_step ? "step" : "window"));
    ids_report_property(report, "spread_over",
                        ids_text_value(diff->a->by_run     ? "runs"
                                       : diff->a->per_step ? "steps"
                                                           : NULL));
    ids_report_property(report, "confidence", ids_real_value(IDS_UNIT_RATIO, IDS_CONFIDENCE));
    ids_report_property(report, "verdict", ids_text_value(ids_verdict_name(ids_diff_verdict(diff))));
    say_whole(diff);
    ids_remarks_list(&diff->remarks, &diff->report);
    list_headline(diff);
    list_waterfall(diff);
    list_structure(diff);
    list_parts(diff);
    list_changes(diff);
    list_computations(diff);
    list_matches(diff, &ops_def, &diff->op_matches);
    list_matches(diff, &kernels_def, &diff->kernel_matches);
    list_sums(diff, &families_def, &diff->families);
    list_sums(diff, &scopes_def, &diff->scopes);
    list_sums(diff, &modules_def, &diff->modules);
    list_sums(diff, &collectives_def, &diff->collectives);
}
