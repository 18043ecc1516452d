#include "lib/compare/structure.h"

#include "lib/base/counted.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/compare/element_types.h"
#include "lib/compare/sums.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES_BYTES = 60 }; /* of the shapes of one argument: a few */

struct making {
    const struct ids_side *sides[2];
    const struct ids_matches *ops;
    struct ids_report *texts;
    struct ids_structure *structure;
    size_t unlike_arguments;       /* whose shape changed in another way than that of most */
    int knows_arguments;           /* the programs say what their arguments are */
    struct ids_shape_change batch; /* of the first argument with another leading dimension; OTHER: none has one */
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

static int look_at_programs(struct making *making) {
    const struct ids_table *modules[] = {table_of(making, 0, "modules"), table_of(making, 1, "modules")};
    int failed = 0;
    for (size_t i = 0; i < making->ops->renamed_count && !failed; i++) {
        const struct ids_renamed *renamed = &making->ops->renamed[i];
        failed = add(making, (struct ids_structure_row){"renamed", NULL, renamed->a, renamed->b, 1, 0});
    }
    for (int side = 0; side < 2; side++) {
        for (size_t row = 0; modules[side] && row < modules[side]->row_count && !failed; row++) {
            const char *name = ids_table_text(modules[side], row, "name");
            if (!*name || has_program(modules[!side], name)) continue;
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
    double count[2];
};

/* Of what one program says, where several were compiled of the name. */
struct facts {
    struct fact *at;
    size_t count, room;
    struct ids_keymap numbers; /* of (program, what, which): index + 1 */
};

/* Facts of an argument are told apart by what the program calls it, all others by what they say. */
static int is_of_argument(const char *what) {
    return !strcmp(what, "input") || !strcmp(what, "donated") || !strcmp(what, "sharding");
}

/* An argument of a program that was compiled for several shapes has each of them: "f32[8,16], f32[10,16]". */
static const char *both_texts(struct making *making, const char *said, const char *text) {
    const char *found = strstr(said, text), *end = found ? found + strlen(text) : NULL;
    int is_known = found && (found == said || found[-1] == ' ') && (!*end || *end == ',');
    if (is_known || strlen(said) > SHAPES_BYTES) return said;
    return ids_report_text(making->texts, "%s, %s", said, text);
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
        const char **said = &facts->at[*number - 1].text[side];
        *said = *said && is_of_argument(fact.what) ? both_texts(making, *said, text) : text;
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

/* Another type of elements in all arguments that changed: then ops are other ones, and have no counterpart. */
static void compare_argument(struct making *making, const char *what, const char *a, const char *b) {
    struct ids_structure *structure = making->structure;
    struct ids_shape_change change;
    if (!a || !b || strcmp(what, "input") != 0 || !ids_shape_change(a, b, &change)) return;
    if (change.kind == IDS_SHAPE_LEADING && making->batch.kind == IDS_SHAPE_OTHER) making->batch = change;
    if (change.kind == IDS_SHAPE_ELEMENT && structure->like.kind == IDS_SHAPE_OTHER && !making->unlike_arguments)
        structure->like = change;
    if (ids_shape_changes_are_alike(&change, &structure->like))
        structure->like_count++;
    else
        making->unlike_arguments++;
}

/* `b` is NULL, the same fact, or its counterpart. What many instructions say is said of the program. */
static int tell_fact(struct making *making, const struct fact *a, const struct fact *b) {
    const struct fact *any = a ? a : b;
    if (!any) return 0;
    double before = a ? a->count[0] : 0, after = b ? b->count[1] : 0;
    const char *text_a = a ? a->text[0] : NULL, *text_b = b ? b->text[1] : NULL;
    compare_argument(making, any->what, text_a, text_b);
    int is_one = is_of_argument(any->what) || fmax(before, after) <= 1;
    return add(making,
               (struct ids_structure_row){any->what, is_one && *any->where ? any->where : any->module,
                                          text_a ? with_count(making, text_a, before) : NULL,
                                          text_b ? with_count(making, text_b, after) : NULL, fmax(before, after), 0});
}

/* A program that came or went is one row, whatever it says. `module` is side b's name of it. */
static int is_of_one_side(const struct making *making, const char *module) {
    int is_in_a = has_program(table_of(making, 0, "modules"), module) || is_new_name(making->ops, module);
    return !is_in_a || !has_program(table_of(making, 1, "modules"), module);
}

static int look_at_facts(struct making *making) {
    struct facts facts = {0};
    if (!table_of(making, 0, "program_facts") || !table_of(making, 1, "program_facts"))
        return 0; /* a file without HLO says nothing of its programs */
    int failed = add_facts(making, &facts, 0) || add_facts(making, &facts, 1);
    for (size_t i = 0; i < facts.count && !failed; i++) {
        struct fact *fact = &facts.at[i];
        if (!fact->text[0] || is_of_one_side(making, fact->module)) continue;
        if (!strcmp(fact->what, "input")) making->knows_arguments = 1;
        int is_same = fact->text[1] && !strcmp(fact->text[0], fact->text[1]) && fact->count[0] == fact->count[1];
        if (is_same) continue;
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

/* Up to the end of the part in which two paths differ first: "blocks/layer_2" of "blocks/layer_2/mlp". */
static size_t differing_length(const char *path, const char *other) {
    size_t length = 0;
    while (path[length] && path[length] == other[length]) length++;
    while (path[length] && path[length] != '/') length++;
    return length;
}

/* Numbered scopes of one kind that side b calls otherwise, from the first to the last. */
struct renumbered {
    const char *first[2], *last[2];
    size_t count;
};

/* By number: layer2 before layer12. */
static int comes_before(const char *a, const char *b) {
    size_t left = strlen(a), right = strlen(b);
    return left != right ? left < right : strcmp(a, b) < 0;
}

/* Of all that differ in their numbers alone. */
static uint64_t kind_of(const char *path) {
    uint64_t key = 1;
    for (; *path; path++) {
        if (*path < '0' || *path > '9') key = ids_key_of(key, (uint64_t)*path);
    }
    return key;
}

struct renumberings {
    struct renumbered *at;
    size_t count, room;
    struct ids_keymap kinds, told;
};

static int take_renumbered(struct renumberings *all, const char *from, const char *to) {
    int is_new = ids_keymap_add(&all->told, hash(1, from), 1);
    uint64_t *number = is_new > 0 ? ids_keymap_at(&all->kinds, kind_of(from)) : NULL;
    if (!number) return is_new ? -1 : 0;
    if (!*number) {
        struct renumbered *place = IDS_PUSH(all->at, all->count, all->room);
        if (!place) return -1;
        *number = all->count;
        *place = (struct renumbered){{from, to}, {from, to}, 0};
    }
    struct renumbered *one = &all->at[*number - 1];
    one->count++;
    if (comes_before(from, one->first[0])) one->first[0] = from, one->first[1] = to;
    if (comes_before(one->last[0], from)) one->last[0] = from, one->last[1] = to;
    return 0;
}

static int gather_renumbered(struct making *making, struct renumberings *all) {
    for (size_t i = 0; i < making->ops->count; i++) {
        const struct ids_match *match = &making->ops->at[i];
        char from[IDS_SCOPE_BYTES], to[IDS_SCOPE_BYTES];
        if (!match->a || !match->b || !strcmp(match->a->path, match->a->op_name)) continue;
        ids_scope_of(match->a->op_name, from);
        ids_scope_of(match->a->path, to);
        if (!strcmp(from, to)) continue;
        int length = (int)differing_length(from, to), length_to = (int)differing_length(to, from);
        if (take_renumbered(all, ids_report_text(making->texts, "%.*s", length, from),
                            ids_report_text(making->texts, "%.*s", length_to, to)))
            return -1;
    }
    return 0;
}

static const char *range_of(struct making *making, const struct renumbered *one, int side) {
    return one->count == 1 ? one->first[side]
                           : ids_report_text(making->texts, "%s to %s", one->first[side], one->last[side]);
}

/* Layers that others shifted: without this row "layer_3" would be taken for the same one on both sides. */
static int tell_renumbered(struct making *making) {
    struct renumberings all = {0};
    int failed = gather_renumbered(making, &all);
    for (size_t i = 0; i < all.count && !failed; i++)
        failed = add(making, (struct ids_structure_row){"renumbered", NULL, range_of(making, &all.at[i], 0),
                                                        range_of(making, &all.at[i], 1), (double)all.at[i].count, 0});
    free(all.at);
    ids_keymap_done(&all.kinds);
    ids_keymap_done(&all.told);
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

static int tell_dimensions(struct making *making) {
    struct ids_structure *structure = making->structure;
    int failed = 0;
    structure->dimension_count = ids_matches_dimension_changes(making->ops, structure->dimensions);
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

/* How many ops changed their shapes alike. A batch comes in through an argument, and is called by the argument's
 * numbers: ops alone have other leading dimensions after another order of contraction too. */
static size_t like_change_of(const struct making *making, struct ids_shape_change *ret_change) {
    size_t alike = ids_matches_like_change(making->ops, ret_change);
    if (!alike || ret_change->kind != IDS_SHAPE_LEADING || !making->knows_arguments) return alike;
    if (!ids_shape_changes_are_alike(&making->batch, ret_change)) return 0;
    *ret_change = making->batch;
    return alike;
}

/* Where all shapes changed alike that is one thing, which the rows of single scopes would hide. */
static int tell_like_change(struct making *making) {
    struct ids_structure *structure = making->structure;
    struct ids_shape_change change;
    size_t alike = like_change_of(making, &change);
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
    *structure = (struct ids_structure){0};
}
