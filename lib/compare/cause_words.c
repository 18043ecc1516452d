#include "lib/compare/cause_words.h"

#include "lib/base/counted.h"
#include "lib/compare/shape_change.h"
#include "lib/compare/sums.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_other(const char *a, const char *b) {
    return *a && *b && strcmp(a, b) != 0;
}

/* A place that side b's files may not have any more is an old one: "old train.py:17", as "old layer_1". */
static const char *place_text(struct ids_report *texts, const struct ids_cause *cause, const char *place) {
    return cause->is_place_before ? ids_report_text(texts, "old %s", place) : place;
}

/* "train.py:17" of ops that no scope names; else NULL. */
static const char *line_of(const struct ids_cause *cause) {
    char scope[IDS_SCOPE_BYTES] = "";
    if (cause->where) ids_scope_of(cause->where, scope);
    if (!cause->source || *scope) return NULL;
    const char *slash = strrchr(cause->source, '/');
    return slash ? slash + 1 : cause->source;
}

static const char *shapes_text(struct ids_report *texts, const struct ids_match *match, const char *text,
                               const char *between) {
    const char *a = match->a->shape, *b = match->b->shape;
    ids_shapes_told(texts, &a, &b);
    return ids_report_text(texts, "%s%s%s \xe2\x86\x92 %s", text, between, a, b);
}

/* "dot.2 (layer1)", "dot.2 (jit(f)/dot_general, train.py:17)" */
static const char *single_text(struct ids_report *texts, const struct ids_cause *cause) {
    const char *line = line_of(cause);
    if (!cause->where) return cause->culprit;
    if (cause->call_before)
        return ids_report_text(texts, "%s (%s), in place of %s", cause->culprit, cause->where, cause->call_before);
    if (cause->name_before || cause->file_before)
        return ids_report_text(texts, "%s (%s), %s from %s%s%s", cause->culprit, cause->where,
                               cause->name_before ? "renamed" : "moved", cause->name_before ? cause->name_before : "",
                               cause->name_before && cause->file_before ? " in " : "",
                               cause->file_before ? cause->file_before : "");
    if (line)
        return ids_report_text(texts, "%s (%s, %s)", cause->culprit, cause->where, place_text(texts, cause, line));
    const char *where = cause->kind == IDS_CAUSE_OP ? cause->where : place_text(texts, cause, cause->where);
    return ids_report_text(texts, "%s (%s)", cause->culprit, where);
}

/* "clip (train.py:17): launches of 8 programs, mostly add" */
static const char *launches_text(struct ids_report *texts, const struct ids_cause *cause) {
    return ids_report_text(texts, "%s: launches of %zu programs, mostly %s", single_text(texts, cause), cause->count,
                           cause->largest);
}

/* "aten::bmm (Layer_*\/Attention_*\/aten::bmm): 24 alike" */
static const char *layers_text(struct ids_report *texts, const struct ids_cause *cause) {
    return ids_report_text(texts, "%s (%s): %zu alike", cause->culprit, cause->where, cause->count);
}

/* With what the programs say that it does otherwise: "dot.2 (layer1), f32[8,2] to f32[8,4], 1 to 3 executions". */
static const char *op_text(struct ids_report *texts, const struct ids_cause *cause) {
    const struct ids_item *a = cause->match->a, *b = cause->match->b;
    const char *text = single_text(texts, cause);
    if (is_other(a->shape, b->shape)) text = shapes_text(texts, cause->match, text, ", ");
    if (!ids_is_as_often(a->rate, b->rate))
        text = ids_report_text(texts, "%s, %.3g \xe2\x86\x92 %.3g executions", text, a->rate, b->rate);
    return text;
}

/* With the line, where no scope names it, and with how many others: "layers: 3 ops replaced by 5, and 12 unchanged ops
 * beside them". */
static const char *beside_text(struct ids_report *texts, const struct ids_cause *cause, const char *text) {
    const char *line = cause->kind == IDS_CAUSE_SHAPES ? NULL : line_of(cause);
    if (line) text = ids_report_text(texts, "%s, mostly at %s", text, place_text(texts, cause, line));
    return cause->beside ? ids_report_text(texts, "%s, and %zu unchanged op%s beside them", text, cause->beside,
                                           cause->beside == 1 ? "" : "s")
                         : text;
}

/* "layer1: recomputed in the backward pass (remat)", where that is what most of the ops do that came, or went. */
static const char *recomputed_text(struct ids_report *texts, const struct ids_cause *cause, const char *who) {
    size_t of = cause->recomputed < 0 ? cause->removed : cause->added;
    if (!cause->recomputed || (size_t)labs(cause->recomputed) * 2 < of) return who;
    return ids_report_text(texts, "%s: %srecomputed in the backward pass (remat)", who,
                           cause->recomputed < 0 ? "no longer " : "");
}

/* "layer1: 2 ops replaced by 5", "layer1: f32[8,2] to f32[8,4] and 3 more ops". */
static const char *group_text(struct ids_report *texts, const struct ids_cause *cause, const char *who) {
    size_t before = cause->removed + cause->changed, after = cause->added + cause->changed;
    if (cause->kind == IDS_CAUSE_SHAPES) return ids_report_text(texts, "%s: %s", who, IDS_COUNTED(after, "op"));
    if (!cause->changed && before * after == 0)
        return ids_report_text(texts, "%s: %s %s%s%s", who, IDS_COUNTED(before + after, "op"),
                               cause->added ? "added" : "removed", cause->is_made ? " by the compiler, mostly " : "",
                               cause->is_made ? cause->largest : "");
    const char *replaced = before == after
                               ? ids_report_text(texts, "%s changed", IDS_COUNTED(after, "op"))
                               : ids_report_text(texts, "%s replaced by %zu", IDS_COUNTED(before, "op"), after);
    const struct ids_match *match = cause->match;
    if (match && !is_other(match->a->shape, match->b->shape) && !ids_is_as_often(match->a->rate, match->b->rate))
        return ids_report_text(texts, "%s: %s, %.3g \xe2\x86\x92 %.3g executions", who, replaced, match->a->rate,
                               match->b->rate);
    const char *text = ids_report_text(texts, "%s: %s", who, replaced);
    return match && ids_shapes_are_comparable(match->a->shape, match->b->shape) ? shapes_text(texts, match, text, ", ")
                                                                                : text;
}

/* A copy that went where an argument's memory may now take the result, or that came where it no longer may. */
static const char *with_donation(struct ids_report *texts, const struct ids_structure *structure,
                                 const struct ids_cause *cause, const char *text) {
    const char *name = cause->kind == IDS_CAUSE_OP ? cause->culprit : cause->largest;
    int is_gone = cause->is_in_a && !cause->is_in_b, is_new = cause->is_in_b && !cause->is_in_a;
    if (cause->match || !name || strncmp(name, "copy", 4) != 0 || is_gone == is_new) return text;
    for (size_t i = 0; i < structure->count; i++) {
        const struct ids_structure_row *row = &structure->at[i];
        if (strcmp(row->what, "donated") != 0 || !(is_gone ? row->after && !row->before : row->before && !row->after))
            continue;
        return ids_report_text(texts, "%s: %s is %s", text, row->where ? row->where : "an argument",
                               is_gone ? "donated" : "no longer donated");
    }
    return text;
}

const char *ids_cause_time(struct ids_report *texts, double ps) {
    char text[IDS_VALUE_ROOM];
    ids_value_format(ids_int_value(IDS_UNIT_TIME, (int64_t)llround(ps)), text, sizeof text);
    return ids_report_text(texts, "%s", text);
}

const char *ids_cause_words(const struct ids_cause *cause, const struct ids_structure *structure, int are_other_devices,
                            struct ids_report *texts) {
    const char *who = cause->culprit;
    if (cause->kind == IDS_CAUSE_EVEN && (cause->no_core[0] > 0 || cause->no_core[1] > 0))
        return ids_report_text(texts, "no core: %.1f %% → %.1f %% of the time, all %zu ops %+.1f %%",
                               100 * cause->no_core[0], 100 * cause->no_core[1], cause->count,
                               (cause->factor - 1) * 100);
    if (cause->kind == IDS_CAUSE_EVEN)
        return ids_report_text(
            texts, "all %zu ops that both sides have take %+.1f %%: %s", cause->count, (cause->factor - 1) * 100,
            are_other_devices ? "another device" : "a clock, a power limit, or another load on the machine");
    if (cause->kind == IDS_CAUSE_HOST) return "all of it, of which the Python tracer recorded one side alone";
    if (cause->kind == IDS_CAUSE_OTHERS)
        return ids_report_text(texts, cause->by_chance ? "%zu causes, small or within chance" : "%zu small causes",
                               cause->count);
    if (cause->kind == IDS_CAUSE_ACCOUNT) return "all of it";
    if (!who) return "culprit not known";
    if (cause->kind == IDS_CAUSE_LAUNCHES) return launches_text(texts, cause);
    if (cause->kind == IDS_CAUSE_LAYERS) return layers_text(texts, cause);
    if (cause->kind == IDS_CAUSE_PROGRAM) return ids_program_words(cause->program, texts);
    if (ids_cause_is_group(cause))
        return beside_text(
            texts, cause,
            with_donation(texts, structure, cause, group_text(texts, cause, recomputed_text(texts, cause, who))));
    if (cause->match) return op_text(texts, cause);
    if (cause->hidden_ps > 0)
        return ids_report_text(texts, "%s (%s), %s; for %s others waited for its core", who,
                               cause->where ? cause->where : "in a callback", cause->is_in_b ? "new" : "gone",
                               ids_cause_time(texts, cause->hidden_ps));
    const char *fate = cause->is_in_a && cause->is_in_b ? ""
                       : cause->kind != IDS_CAUSE_OP    ? ""
                       : cause->is_in_b                 ? ", new"
                                                        : ", gone";
    return with_donation(texts, structure, cause, ids_report_text(texts, "%s%s", single_text(texts, cause), fate));
}
