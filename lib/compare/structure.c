#include "lib/compare/structure.h"

#include "lib/base/counted.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/compare/element_types.h"
#include "lib/compare/recomputed.h"
#include "lib/compare/renumbered.h"
#include "lib/compare/scope_of_most.h"
#include "lib/compare/sums.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES_BYTES = 60 }; /* of the shapes of one argument: a few */
static const char and_others[] = ", ...";

struct making {
    const struct ids_side *sides[2];
    const struct ids_matches *ops;
    struct ids_report *texts;
    struct ids_structure *structure;
    size_t unlike_arguments;       /* whose shape changed in another way than that of most */
    int knows_arguments;           /* the programs say what their arguments are */
    struct ids_shape_change batch; /* of the first argument with another leading dimension; OTHER: none has one */
    struct ids_dimension_change of_arguments[IDS_DIMENSIONS_MOST]; /* dimensions of theirs that changed, some of many */
    size_t of_arguments_count;
};

static int add(struct making *making, struct ids_structure_row row) {
    struct ids_structure *structure = making->structure;
    struct ids_structure_row *place = IDS_PUSH(structure->at, structure->count, structure->room);
    if (!place) return -1;
    *place = row;
    return 0;
}

static uint64_t hash(uint64_t key, const char *text) {
    return ids_key_of(key, ids_hash_bytes(text, strlen(text)));
}

/* ---- programs ---- */

/* In how many of the rows from that one on: a program that is compiled for several shapes has one for each. */
static size_t count_of_program(const struct ids_table *modules, size_t row, const char *name) {
    size_t count = 0;
    for (; modules && row < modules->row_count; row++) count += !strcmp(ids_table_text(modules, row, "name"), name);
    return count;
}

static int has_program(const struct ids_table *modules, const char *name) {
    return count_of_program(modules, 0, name) > 0;
}

static int is_new_name(const struct ids_matches *ops, const char *name) {
    for (size_t i = 0; i < ops->renamed_count; i++) {
        if (!strcmp(ops->renamed[i].b, name)) return 1;
    }
    return 0;
}

/* Of the first recording of each side: recordings of one thing run the same programs. */
static const struct ids_table *table_of(const struct making *making, int side, const char *id) {
    return ids_report_find_table(making->sides[side]->runs[0].report, id);
}

/* "5 programs: jit__mean, jit_tanh, jit_sub, ..." */
static int tell_op_by_op(struct making *making, const struct ids_program_change *change) {
    const char *parts = ids_report_text(making->texts, "%zu programs: %s", change->part_count, change->parts);
    if (change->where)
        return add(making, (struct ids_structure_row){"program", change->function, change->side ? NULL : parts,
                                                      change->side ? parts : NULL, (double)change->part_count, 0});
    return add(making, (struct ids_structure_row){"jit", change->function, change->side ? parts : change->name,
                                                  change->side ? change->name : parts, (double)change->part_count, 0});
}

static int is_op_by_op(const struct making *making, int side, const char *name) {
    const struct ids_program_change *change = ids_programs_change_of(&making->structure->programs, side, name);
    return change && change->part_count;
}

static int look_at_programs(struct making *making) {
    const struct ids_table *modules[] = {table_of(making, 0, "modules"), table_of(making, 1, "modules")};
    struct ids_programs *programs = &making->structure->programs;
    int failed = ids_programs_find(making->sides[0], making->sides[1], making->ops, making->texts, programs);
    for (size_t i = 0; i < programs->count && !failed; i++) {
        if (programs->at[i].part_count) failed = tell_op_by_op(making, &programs->at[i]);
    }
    for (size_t i = 0; i < making->ops->renamed_count && !failed; i++) {
        const struct ids_renamed *renamed = &making->ops->renamed[i];
        failed = add(making, (struct ids_structure_row){"renamed", NULL, renamed->a, renamed->b, 1, 0});
    }
    for (int side = 0; side < 2; side++) {
        for (size_t row = 0; modules[side] && row < modules[side]->row_count && !failed; row++) {
            const char *name = ids_table_text(modules[side], row, "name");
            if (!*name || has_program(modules[!side], name) || is_op_by_op(making, side, name)) continue;
            size_t count = count_of_program(modules[side], row, name);
            if (count < count_of_program(modules[side], 0, name)) continue; /* told */
            if (side ? is_new_name(making->ops, name) : ids_matches_program_in_b(making->ops, name) != name) continue;
            failed = add(making, (struct ids_structure_row){"program", NULL, side ? NULL : name, side ? name : NULL,
                                                            (double)count, 0});
        }
    }
    return failed;
}

/* ---- what programs say ---- */

struct fact {
    const char *module, *what, *where;
    const char *text[2]; /* on each side; NULL: not there */
    uint64_t all[2];     /* the sum of all that it is, in whatever order */
    double count[2];
};

/* Of what one program says, where several were compiled of the name. */
struct facts {
    struct fact *at;
    size_t count, room;
    struct ids_keymap numbers; /* of (program, what, which): index + 1 */
    struct ids_keymap texts;   /* that a fact has on a side */
};

/* Facts of an argument are told apart by what the program calls it, all others by what they say. */
static int is_of_argument(const char *what) {
    return !strcmp(what, "input") || !strcmp(what, "donated") || !strcmp(what, "sharding");
}

/* An argument of a program that was compiled for several shapes has each of them: "f32[8,16], f32[10,16]". */
static const char *both_texts(struct making *making, const char *said, const char *text) {
    size_t length = strlen(said);
    if (length <= SHAPES_BYTES) return ids_report_text(making->texts, "%s, %s", said, text);
    return strcmp(said + length - strlen(and_others), and_others) != 0
               ? ids_report_text(making->texts, "%s%s", said, and_others)
               : said;
}

static int add_text(struct making *making, struct facts *facts, size_t number, int side, const char *text) {
    struct fact *fact = &facts->at[number - 1];
    int is_new = ids_keymap_add(&facts->texts, hash(ids_key_of(number, (uint64_t)side), text), 1);
    if (is_new <= 0) return is_new;
    fact->all[side] += hash(1, text);
    fact->text[side] = fact->text[side] ? both_texts(making, fact->text[side], text) : text;
    return 0;
}

static int add_facts(struct making *making, struct facts *facts, int side) {
    const struct ids_table *table = table_of(making, side, "program_facts");
    int count = ids_table_column(table, "count");
    for (size_t row = 0; count >= 0 && row < table->row_count; row++) {
        const char *text = ids_table_text(table, row, "value");
        struct fact fact = {.module = ids_table_text(table, row, "module"),
                            .what = ids_table_text(table, row, "what"),
                            .where = ids_table_text(table, row, "where")};
        size_t compiled = count_of_program(table_of(making, side, "modules"), 0, fact.module);
        if (!side) fact.module = ids_matches_program_in_b(making->ops, fact.module);
        const char *which = is_of_argument(fact.what) && *fact.where ? fact.where : text;
        uint64_t *number = ids_keymap_at(&facts->numbers, hash(hash(hash(1, fact.module), fact.what), which));
        if (!number) return -1;
        if (!*number) {
            struct fact *place = IDS_PUSH(facts->at, facts->count, facts->room);
            if (!place) return -1;
            *place = fact;
            *number = facts->count;
        }
        if (add_text(making, facts, *number, side, text)) return -1;
        facts->at[*number - 1].count[side] +=
            ids_value_number(*ids_table_cell(table, row, count)) / (double)(compiled ? compiled : 1);
    }
    return 0;
}

/* A fact of one side that stands against one of the other: of the same place, else the next of its kind. An argument
 * has its own, or none. */
static struct fact *counterpart_of(struct facts *facts, const struct fact *gone) {
    struct fact *found = NULL;
    for (size_t i = 0; i < facts->count; i++) {
        struct fact *fact = &facts->at[i];
        if (fact->text[0] || !fact->text[1]) continue;
        if (strcmp(fact->module, gone->module) != 0 || strcmp(fact->what, gone->what) != 0) continue;
        if (!strcmp(fact->where, gone->where)) return fact;
        if (!found && !is_of_argument(gone->what)) found = fact;
    }
    return found;
}

static const char *with_count(struct making *making, const char *text, double count) {
    if (!(count > 0)) return NULL;
    return count == 1 && *text ? text
           : *text             ? ids_report_text(making->texts, "%.0f x %s", count, text)
                               : ids_report_text(making->texts, "%s", IDS_COUNTED((size_t)count, "instruction"));
}

static int has_dimension(const struct making *making, const struct ids_dimension_change *dimension) {
    for (size_t i = 0; i < making->of_arguments_count; i++) {
        if (ids_dimension_changes_are_alike(&making->of_arguments[i], dimension)) return 1;
    }
    return 0;
}

static void note_dimensions(struct making *making, const char *a, const char *b) {
    struct ids_dimension_change changes[IDS_DIMENSIONS_OF_SHAPE];
    size_t count = ids_dimension_changes(a, b, changes);
    for (size_t i = 0; i < count && making->of_arguments_count < IDS_DIMENSIONS_MOST; i++) {
        if (!has_dimension(making, &changes[i])) making->of_arguments[making->of_arguments_count++] = changes[i];
    }
}

/* Another type of elements in all arguments that changed: then ops are other ones, and have no counterpart. */
static void compare_argument(struct making *making, const char *what, const char *a, const char *b) {
    struct ids_structure *structure = making->structure;
    struct ids_shape_change change;
    if (!a || !b || strcmp(what, "input") != 0 || !ids_shape_change(a, b, &change)) return;
    note_dimensions(making, a, b);
    if (change.kind == IDS_SHAPE_LEADING && making->batch.kind == IDS_SHAPE_OTHER) making->batch = change;
    if (change.kind == IDS_SHAPE_ELEMENT && structure->like.kind == IDS_SHAPE_OTHER && !making->unlike_arguments)
        structure->like = change;
    if (ids_shape_changes_are_alike(&change, &structure->like))
        structure->like_count++;
    else
        making->unlike_arguments++;
}

/* What is computed again is said of the layer that most of it is in. */
static int place_of(struct making *making, const struct fact *fact, const char **ret_place) {
    *ret_place = fact->module;
    if (strcmp(fact->what, "remat") != 0) return 0;
    const char *layer = NULL;
    int failed = ids_recomputed_layer(making->ops, fact->module, making->texts, &layer);
    if (layer) *ret_place = layer;
    return failed;
}

/* `b` is NULL, the same fact, or its counterpart. What many instructions say is said of the program. */
static int tell_fact(struct making *making, const struct fact *a, const struct fact *b) {
    const struct fact *any = a ? a : b;
    if (!any) return 0;
    double before = a ? a->count[0] : 0, after = b ? b->count[1] : 0;
    const char *text_a = a ? a->text[0] : NULL, *text_b = b ? b->text[1] : NULL;
    compare_argument(making, any->what, text_a, text_b);
    int is_one = is_of_argument(any->what) || fmax(before, after) <= 1;
    const char *place;
    if (place_of(making, any, &place)) return -1;
    return add(making,
               (struct ids_structure_row){any->what, is_one && *any->where ? any->where : place,
                                          text_a ? with_count(making, text_a, before) : NULL,
                                          text_b ? with_count(making, text_b, after) : NULL, fmax(before, after), 0});
}

/* A program that came or went is one row, whatever it says. `module` is side b's name of it. */
static int is_of_one_side(const struct making *making, const char *module) {
    int is_in_a = has_program(table_of(making, 0, "modules"), module) || is_new_name(making->ops, module);
    return !is_in_a || !has_program(table_of(making, 1, "modules"), module);
}

/* Programs that are compiled in another order have the same shapes. */
static int is_same_fact(const struct fact *fact) {
    if (!fact->text[0] || !fact->text[1] || fact->all[0] != fact->all[1]) return 0;
    return (is_of_argument(fact->what) && *fact->where) || fabs(fact->count[0] - fact->count[1]) < 1e-9;
}

/* ---- arguments that have another name ---- */

static int is_input_of(const struct fact *fact, int side) {
    return !strcmp(fact->what, "input") && *fact->where && fact->text[side] && !fact->text[!side];
}

/* As many are new of that shape as are gone: none came, and none went. */
static struct fact *same_input(struct facts *facts, const struct fact *gone) {
    struct fact *first = NULL;
    size_t count[2] = {0};
    for (size_t i = 0; i < facts->count; i++) {
        struct fact *fact = &facts->at[i];
        int side = is_input_of(fact, 1);
        if (!side && !is_input_of(fact, 0)) continue;
        if (fact->all[side] != gone->all[0] || strcmp(fact->module, gone->module) != 0) continue;
        count[side]++;
        if (side && !first) first = fact;
    }
    return count[0] == count[1] ? first : NULL;
}

/* What else the program says of the argument is said of the new name too. */
static void call_argument(struct facts *facts, const struct fact *gone, const struct fact *fresh) {
    const char *from = gone->where, *to = fresh->where, *module = gone->module;
    for (size_t i = 0; i < facts->count; i++) {
        struct fact *old = &facts->at[i];
        if (!old->text[0] || old->text[1] || !is_of_argument(old->what)) continue;
        if (strcmp(old->where, from) != 0 || strcmp(old->module, module) != 0) continue;
        old->where = to;
        for (size_t j = 0; j < facts->count; j++) {
            struct fact *new = &facts->at[j];
            if (new->text[0] || !new->text[1] || strcmp(new->what, old->what) != 0) continue;
            if (strcmp(new->where, to) != 0 || strcmp(new->module, module) != 0) continue;
            old->text[1] = new->text[1];
            old->all[1] = new->all[1];
            old->count[1] = new->count[1];
            new->text[1] = NULL;
        }
    }
}

static const char *name_of_many(struct making *making, const char *first, size_t count) {
    return count == 1 ? first : ids_report_text(making->texts, "%s and %zu more", first, count - 1);
}

/* Arguments of a program that have another name, or that stand elsewhere in a tree, and are of the same shape: one row
 * for each program. */
static int tell_renamed_arguments(struct making *making, struct facts *facts) {
    for (size_t i = 0; i < facts->count; i++) {
        const char *module = facts->at[i].module, *first[2] = {NULL};
        size_t count = 0;
        if (is_of_one_side(making, module)) continue;
        for (size_t j = i; j < facts->count; j++) {
            struct fact *gone = &facts->at[j];
            if (!is_input_of(gone, 0) || strcmp(gone->module, module) != 0) continue;
            const struct fact *fresh = same_input(facts, gone);
            if (!fresh) continue;
            if (!count++) first[0] = gone->where, first[1] = fresh->where;
            call_argument(facts, gone, fresh);
        }
        if (!count) continue;
        if (add(making, (struct ids_structure_row){"argument", module, name_of_many(making, first[0], count),
                                                   name_of_many(making, first[1], count), (double)count, 0}))
            return -1;
    }
    return 0;
}

static int look_at_facts(struct making *making) {
    struct facts facts = {0};
    if (!table_of(making, 0, "program_facts") || !table_of(making, 1, "program_facts"))
        return 0; /* a file without HLO says nothing of its programs */
    int failed = add_facts(making, &facts, 0) || add_facts(making, &facts, 1) || tell_renamed_arguments(making, &facts);
    for (size_t i = 0; i < facts.count && !failed; i++) {
        struct fact *fact = &facts.at[i];
        if (!fact->text[0] || is_of_one_side(making, fact->module)) continue;
        if (!strcmp(fact->what, "input")) making->knows_arguments = 1;
        if (is_same_fact(fact)) continue;
        struct fact *other = fact->text[1] ? fact : counterpart_of(&facts, fact);
        failed = tell_fact(making, fact, other);
        if (other && other != fact) other->text[1] = NULL; /* told */
    }
    for (size_t i = 0; i < facts.count && !failed; i++) {
        if (facts.at[i].text[0] || !facts.at[i].text[1] || is_of_one_side(making, facts.at[i].module)) continue;
        failed = tell_fact(making, NULL, &facts.at[i]);
    }
    free(facts.at);
    ids_keymap_done(&facts.numbers);
    ids_keymap_done(&facts.texts);
    return failed;
}

/* ---- ops, scope by scope ---- */

struct scope {
    const char *name;
    size_t before, after, same; /* ops; those that compute the same on both sides */
    size_t shapes, executions;  /* pairs with another shape, and that run more or less often */
    double weight_ps, shape_ps, executions_ps;
    const struct ids_match *shape, *often; /* those of the most time */
};

struct scopes {
    struct scope *at;
    size_t count, room;
    struct ids_keymap numbers;
};

static struct scope *scope_of(struct making *making, struct scopes *scopes, const struct ids_match *match) {
    const struct ids_item *item = match->b ? match->b : match->a;
    char name[IDS_SCOPE_BYTES];
    ids_scope_of(item->path, name);
    const char *scope = *name ? name : item->module;
    uint64_t *number = ids_keymap_at(&scopes->numbers, hash(1, scope));
    if (!number) return NULL;
    if (*number) return &scopes->at[*number - 1];
    struct scope *place = IDS_PUSH(scopes->at, scopes->count, scopes->room);
    if (!place) return NULL;
    *number = scopes->count;
    *place = (struct scope){.name = ids_report_text(making->texts, "%s", scope)};
    return place;
}

static int is_other(const char *a, const char *b) {
    return *a && *b && strcmp(a, b) != 0;
}

/* What a person wrote is the forward pass. */
static int tells_more(const struct ids_match *match, const struct ids_match *other, double time_ps, double other_ps) {
    if (!other) return 1;
    int own = ids_is_backward(match->b->op_name), others = ids_is_backward(other->b->op_name);
    return own != others ? others : time_ps > other_ps;
}

static void take_pair(struct scope *scope, const struct ids_match *match, double time_ps) {
    int shape = is_other(match->a->shape, match->b->shape), often = !ids_is_as_often(match->a->rate, match->b->rate);
    scope->shapes += (size_t)shape;
    scope->executions += (size_t)often;
    if (shape && tells_more(match, scope->shape, time_ps, scope->shape_ps)) {
        scope->shape = match;
        scope->shape_ps = time_ps;
    }
    if (often && time_ps >= scope->executions_ps) {
        scope->often = match;
        scope->executions_ps = time_ps;
    }
    if (!shape && !often && !is_other(match->a->fingerprint, match->b->fingerprint)) scope->same++;
}

static int gather_scopes(struct making *making, struct scopes *scopes) {
    for (size_t i = 0; i < making->ops->count; i++) {
        const struct ids_match *match = &making->ops->at[i];
        if (ids_programs_change_of_match(&making->structure->programs, match)) continue; /* its program is told */
        struct scope *scope = scope_of(making, scopes, match);
        if (!scope) return -1;
        double time_ps = fmax(match->a ? match->a->time_ps : 0, match->b ? match->b->time_ps : 0);
        scope->before += match->a && !match->a->is_again;
        scope->after += match->b && !match->b->is_again;
        size_t same = scope->same;
        if (match->a && match->b) take_pair(scope, match, time_ps);
        if (scope->same == same) scope->weight_ps += time_ps;
    }
    return 0;
}

static const char *executions(struct making *making, const struct ids_item *item) {
    return ids_report_text(making->texts, "%.4g of %s", item->rate, item->name);
}

static int tell_scope(struct making *making, const struct scope *scope) {
    int failed = 0;
    if (scope->before != scope->after)
        failed = add(making,
                     (struct ids_structure_row){
                         "ops", scope->name,
                         scope->before ? ids_report_text(making->texts, "%s", IDS_COUNTED(scope->before, "op")) : NULL,
                         scope->after ? ids_report_text(making->texts, "%s", IDS_COUNTED(scope->after, "op")) : NULL,
                         (double)(scope->before > scope->after ? scope->before : scope->after), scope->weight_ps});
    else if (scope->same < scope->before && !scope->shapes && !scope->executions)
        failed =
            add(making, (struct ids_structure_row){
                            "computation", scope->name,
                            ids_report_text(making->texts, "%s", IDS_COUNTED(scope->before - scope->same, "op")),
                            "other operands or attributes", (double)(scope->before - scope->same), scope->weight_ps});
    if (scope->shape && !failed) {
        const char *a = scope->shape->a->shape, *b = scope->shape->b->shape;
        ids_shapes_told(making->texts, &a, &b);
        failed =
            add(making, (struct ids_structure_row){"shape", scope->name, a, b, (double)scope->shapes, scope->shape_ps});
    }
    if (scope->often && !failed)
        failed = add(making, (struct ids_structure_row){"executions", scope->name, executions(making, scope->often->a),
                                                        executions(making, scope->often->b), (double)scope->executions,
                                                        scope->executions_ps});
    return failed;
}

static int most_time_first(const void *a, const void *b) {
    const struct ids_structure_row *left = a, *right = b;
    if (left->weight_ps != right->weight_ps) return left->weight_ps < right->weight_ps ? 1 : -1;
    int order = strcmp(left->what, right->what);
    return order ? order : strcmp(left->where ? left->where : "", right->where ? right->where : "");
}

/* The place is that of the first op that has it, which is one of the forward pass where there is one. */
static const char *place_of_dimension(struct making *making, const struct ids_dimension_change *dimension) {
    const struct ids_match *first = NULL;
    for (size_t i = 0; i < making->ops->count; i++) {
        const struct ids_match *match = &making->ops->at[i];
        if (!ids_match_has_dimension(match, dimension)) continue;
        if (!first || (ids_is_backward(first->b->op_name) && !ids_is_backward(match->b->op_name))) first = match;
    }
    char scope[IDS_SCOPE_BYTES] = "";
    if (first) ids_scope_of(first->b->op_name, scope);
    return *scope ? ids_report_text(making->texts, "%s", scope) : first ? first->b->module : NULL;
}

/* A dimension of the model or its input is one of an argument too. Ops alone have others after another order of
 * contraction: x @ (a @ b) in place of (x @ a) @ b. */
static void keep_dimensions_of_arguments(struct making *making) {
    struct ids_structure *structure = making->structure;
    size_t kept = 0;
    if (!making->knows_arguments || making->of_arguments_count == IDS_DIMENSIONS_MOST) return;
    for (size_t i = 0; i < structure->dimension_count; i++) {
        if (has_dimension(making, &structure->dimensions[i])) structure->dimensions[kept++] = structure->dimensions[i];
    }
    structure->dimension_count = kept;
}

static int tell_dimensions(struct making *making) {
    struct ids_structure *structure = making->structure;
    int failed = 0;
    structure->dimension_count = ids_matches_dimension_changes(making->ops, structure->dimensions);
    keep_dimensions_of_arguments(making);
    for (size_t i = 0; i < structure->dimension_count && !failed; i++) {
        const struct ids_dimension_change *dimension = &structure->dimensions[i];
        failed =
            add(making, (struct ids_structure_row){"dimension", place_of_dimension(making, dimension),
                                                   ids_report_text(making->texts, "%lld", (long long)dimension->from),
                                                   ids_report_text(making->texts, "%lld", (long long)dimension->to),
                                                   (double)dimension->count, 0});
    }
    return failed;
}

/* Of single layers: where all ops have other types that is said of all. */
static int tell_types(struct making *making) {
    struct ids_types_change *changes = NULL;
    size_t count = 0;
    if (making->structure->like_count && making->structure->like.kind == IDS_SHAPE_ELEMENT) return 0;
    int failed = ids_types_changes(making->ops, making->texts, &changes, &count);
    for (size_t i = 0; i < count && !failed; i++)
        failed = add(making, (struct ids_structure_row){"element_type", changes[i].where, changes[i].before,
                                                        changes[i].after, (double)changes[i].count, 0});
    free(changes);
    return failed;
}

static int tell_renumbered(struct making *making) {
    struct ids_renumbered *found = NULL;
    size_t count = 0;
    int failed = ids_renumbered_find(making->ops, making->texts, &found, &count);
    for (size_t i = 0; i < count && !failed; i++)
        failed = add(making, (struct ids_structure_row){found[i].is_in_order ? "renumbered" : "reordered", NULL,
                                                        found[i].before, found[i].after, (double)found[i].count, 0});
    free(found);
    return failed;
}

/* How many ops changed their shapes alike. A batch comes in through an argument, and is called by the argument's
 * numbers: ops alone have other leading dimensions after another order of contraction too. */
static size_t like_change_of(const struct making *making, struct ids_shape_change *ret_change) {
    size_t alike = ids_matches_like_change(making->ops, ret_change);
    if (!alike || ret_change->kind != IDS_SHAPE_LEADING || !making->knows_arguments) return alike;
    if (!ids_shape_changes_are_alike(&making->batch, ret_change)) return 0;
    *ret_change = making->batch;
    return alike;
}

/* Ops that both sides have with the same shape are so many times those that have another type of elements: then that
 * is one layer's, and not the program's. */
enum { UNCHANGED_LEAST = 2 };

static int find_layer_of_type(const struct making *making, const struct ids_shape_change *type,
                              const char **ret_layer) {
    const struct ids_matches *ops = making->ops;
    struct ids_placed_op *placed = calloc(ops->count + 1, sizeof *placed);
    size_t count = 0, unchanged = 0;
    *ret_layer = NULL;
    if (!placed) return -1;
    for (size_t i = 0; i < ops->count; i++) {
        const struct ids_match *match = &ops->at[i];
        struct ids_shape_change change;
        if (!match->a || !match->b) continue;
        unchanged += *match->a->shape && !strcmp(match->a->shape, match->b->shape);
        if (ids_shape_change(match->a->shape, match->b->shape, &change) && ids_shape_changes_are_alike(&change, type))
            placed[count++] = (struct ids_placed_op){match->b->op_name, 1};
    }
    int failed = unchanged >= UNCHANGED_LEAST * count && ids_scope_of_most(placed, count, making->texts, ret_layer);
    free(placed);
    return failed;
}

/* Where all shapes changed alike that is one thing, which the rows of single scopes would hide. Types of one layer are
 * told by tell_types. */
static int tell_like_change(struct making *making) {
    struct ids_structure *structure = making->structure;
    struct ids_shape_change change;
    const char *layer = NULL;
    size_t alike = like_change_of(making, &change);
    if (alike && change.kind == IDS_SHAPE_ELEMENT && find_layer_of_type(making, &change, &layer)) return -1;
    if (layer) alike = 0;
    if (alike) {
        structure->like = change;
        structure->like_count = alike;
    } else if (making->unlike_arguments || structure->like_count < 2) {
        structure->like_count = 0;
    }
    if (!structure->like_count) return tell_dimensions(making);
    int is_batch = structure->like.kind == IDS_SHAPE_LEADING;
    struct ids_report *texts = making->texts;
    return add(making, (struct ids_structure_row){
                           is_batch ? "batch" : "element_type", NULL,
                           is_batch ? ids_report_text(texts, "%lld", (long long)structure->like.from_count)
                                    : ids_report_text(texts, "%s", structure->like.from),
                           is_batch ? ids_report_text(texts, "%lld", (long long)structure->like.to_count)
                                    : ids_report_text(texts, "%s", structure->like.to),
                           (double)structure->like_count, 0});
}

static int look_at_ops(struct making *making) {
    struct scopes scopes = {0};
    int failed = tell_like_change(making) || tell_types(making) || tell_renumbered(making);
    size_t first = making->structure->count;
    if (!failed) failed = gather_scopes(making, &scopes);
    for (size_t i = 0; i < scopes.count && !failed; i++) failed = tell_scope(making, &scopes.at[i]);
    if (making->structure->count > first)
        qsort(making->structure->at + first, making->structure->count - first, sizeof *making->structure->at,
              most_time_first);
    free(scopes.at);
    ids_keymap_done(&scopes.numbers);
    return failed;
}

int ids_structure_make(const struct ids_side *a, const struct ids_side *b, const struct ids_matches *ops,
                       int of_programs, struct ids_report *texts, struct ids_structure *ret_structure,
                       struct ids_error *err) {
    struct making making = {.sides = {a, b}, .ops = ops, .texts = texts, .structure = ret_structure};
    *ret_structure = (struct ids_structure){0};
    int failed = of_programs && (look_at_programs(&making) || look_at_facts(&making));
    if (!failed && !look_at_ops(&making)) return 0;
    ids_structure_done(ret_structure);
    return ids_no_memory(err);
}

void ids_structure_done(struct ids_structure *structure) {
    free(structure->at);
    ids_programs_done(&structure->programs);
    *structure = (struct ids_structure){0};
}
