#include "lib/hlo/kept_arguments.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/fields/hlo.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An argument of the program: an array, as XLA sees it. */
struct argument {
    struct ids_text path; /* as the program calls it: "state['params']['w']" */
    struct ids_text name; /* without the place in a tree */
    uint64_t shape;       /* its fingerprint */
    int64_t bytes;
    uint32_t order;
    uint8_t is_state;
    uint8_t is_input; /* called as what a step takes and does not give back */
    uint8_t is_donated;
    uint8_t is_first;  /* state, or donated: before others of its shape */
    uint32_t tried;    /* when a result last looked at it */
    uint32_t replaced; /* the number + 1 of the result that is made out of it and has its shape; 0 none */
};

/* The parts of what the program returns. */
struct results {
    uint32_t *values, *shapes;
    uint8_t *is_made;        /* 1: its argument is found */
    size_t *first_candidate; /* of matching.candidates; one more than there are results */
    uint32_t count;
};

/* Arguments of one name that are not donated, or a part of them. */
struct tree {
    uint32_t arrays, matched;
    int64_t bytes;        /* of those that are matched */
    struct ids_text path; /* what their paths have in common */
};

/* "params" of "params['dense']['w']" and "params.dense[0]". Each of *args is an argument of its own: "args[0]". */
static struct ids_text root_of(struct ids_text name) {
    uint32_t length = ids_text_begins(name, "args[") ? (uint32_t)strlen("args[") : 0;
    int is_numbered = length > 0;
    while (length < name.length && !strchr(is_numbered ? "]" : "[.(", name.at[length])) length++;
    return (struct ids_text){name.at, length + (is_numbered && length < name.length)};
}

/* A word of the list at which a part of a name begins. */
static int has_word(struct ids_text name, const char *const *words, size_t count) {
    for (size_t w = 0; w < count; w++) {
        size_t length = strlen(words[w]);
        for (uint32_t i = 0; i + length <= name.length; i++) {
            int begins = !i || !((name.at[i - 1] | 0x20) >= 'a' && (name.at[i - 1] | 0x20) <= 'z');
            if (begins && !strncasecmp(name.at + i, words[w], length)) return 1;
        }
    }
    return 0;
}

int ids_hlo_is_state(struct ids_text name) {
    static const char *const words[] = {"param", "weight", "state",  "opt",    "momentum", "momenta",
                                        "cache", "carry",  "buffer", "moment", "ema",      "variables"};
    return has_word(name, words, sizeof words / sizeof *words);
}

/* "grads" has the shapes of params, and its leaves their names. */
static int is_input(struct ids_text root) {
    static const char *const words[] = {"grad", "batch", "input", "label", "target"};
    return has_word(root, words, sizeof words / sizeof *words) && !ids_hlo_is_state(root);
}

static uint64_t number_of(const struct ids_hlo_module *module, const struct ids_hlo_instruction *parameter) {
    const struct ids_hlo_attribute *number = ids_hlo_attribute_of(module, parameter, HLO_INSTRUCTION_PARAMETER_NUMBER);
    return number && !number->is_bytes ? number->number : 0;
}

static int is_array(const struct ids_hlo_module *module, uint32_t shape) {
    return shape != IDS_HLO_NONE && module->shapes[shape].first_part == IDS_HLO_NONE && module->shapes[shape].bytes > 0;
}

/* --- what replaces what ----------------------------------------------------------------------------------------- */

static const struct ids_hlo_instruction *operand_of(const struct ids_hlo_module *module,
                                                    const struct ids_hlo_instruction *of, uint64_t place) {
    if (place >= of->operands.count) return NULL;
    uint64_t operand = module->operands[of->operands.first + place];
    return operand == IDS_HLO_NONE ? NULL : &module->instructions[operand];
}

/* Through what only passes a value on: copies, parts of tuples, what a loop carries. NULL leads nowhere. */
static const struct ids_hlo_instruction *source_of(const struct ids_hlo_module *module,
                                                   const struct ids_hlo_instruction *at) {
    static const char *const passes[] = {"copy", "bitcast", "optimization-barrier", "copy-done", "copy-start"};
    for (int steps = 0; at && steps < 64; steps++) { /* a damaged program may lead in circles */
        int is_passed = 0;
        for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) is_passed |= ids_text_is(at->opcode, passes[i]);
        if (is_passed) {
            at = operand_of(module, at, 0);
            continue;
        }
        if (!ids_text_is(at->opcode, "get-tuple-element")) return at;
        const struct ids_hlo_attribute *index = ids_hlo_attribute_of(module, at, HLO_INSTRUCTION_TUPLE_INDEX);
        const struct ids_hlo_instruction *tuple = operand_of(module, at, 0);
        if (tuple && ids_text_is(tuple->opcode, "while")) tuple = operand_of(module, tuple, 0);
        if (!tuple || !ids_text_is(tuple->opcode, "tuple")) return tuple;
        at = operand_of(module, tuple, index && !index->is_bytes ? index->number : 0);
    }
    return at;
}

/* A value that is made out of others element by element, or in a part of one: a product of matrices is none. */
static int updates(const struct ids_hlo_instruction *maker) {
    static const char *const others[] = {"dot", "convolution", "custom-call", "reduce", "transpose", "gather"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (ids_text_is(maker->opcode, others[i])) return 0;
    }
    return 1;
}

/* The argument of the program that a value is; NULL none. */
static struct argument *argument_of(const struct ids_hlo_module *module, const struct ids_hlo_instruction *value,
                                    struct ids_keymap *places, struct argument *arguments) {
    uint64_t place;
    if (!value || !ids_keymap_get(places, (uint64_t)(value - module->instructions) + 1, &place)) return NULL;
    return &arguments[place];
}

struct matching {
    const struct ids_hlo_module *module;
    struct ids_keymap *places;
    struct argument *arguments;
    struct results results;
    uint32_t *seen;       /* by instruction: the number + 1 of the result that last came through it */
    uint32_t *candidates; /* of arguments: out of which each result is made, the nearest first */
    size_t candidate_count, candidate_room;
    int64_t budget; /* of steps that may still be taken: a damaged program must not take a minute */
    uint32_t now;
};

/* --- what a result is made out of ------------------------------------------------------------------------------- */

/* The values on the way from a result back to arguments, the nearest first; a longer way is not gone to its end. */
enum { MOST_MAKERS = 256 };
struct makers {
    const struct ids_hlo_instruction *at[MOST_MAKERS];
    uint32_t count;
};

static int is_of_size(const struct ids_hlo_module *module, uint32_t left, uint32_t right) {
    return is_array(module, left) && module->shapes[left].bytes == module->shapes[right].bytes &&
           module->shapes[left].element == module->shapes[right].element;
}

/* Puts together what may be smaller, or holds several arrays: its operands are looked at whatever their size. */
static int joins(const struct ids_hlo_instruction *maker) {
    return ids_text_is(maker->opcode, "concatenate") || ids_text_is(maker->opcode, "tuple");
}

/* A fusion or call in which a product of matrices is computed: behind it are what gradients are made of. */
static int has_product(struct matching *matching, const struct ids_hlo_instruction *maker) {
    const struct ids_hlo_module *module = matching->module;
    static const char *const products[] = {"dot", "convolution", "custom-call"};
    for (uint32_t k = 0; k < maker->called.count; k++) {
        uint64_t called = module->called[maker->called.first + k];
        if (called >= module->computation_count) continue;
        const struct ids_hlo_range *inside = &module->computations[called].instructions;
        for (uint32_t i = inside->first; i < inside->first + inside->count; i++) {
            if (matching->budget-- <= 0) return 1;
            for (size_t p = 0; p < sizeof products / sizeof *products; p++) {
                if (ids_text_is(module->instructions[i].opcode, products[p])) return 1;
            }
        }
    }
    return 0;
}

/* A value on the way: an argument, or what else is to be looked behind. -1 when memory ran out. */
static int come_to(struct matching *matching, struct makers *makers, const struct ids_hlo_instruction *value,
                   uint32_t result) {
    const struct ids_hlo_instruction *source = source_of(matching->module, value);
    if (!source || matching->seen[source - matching->module->instructions] == result + 1) return 0;
    matching->seen[source - matching->module->instructions] = result + 1;
    const struct argument *argument = argument_of(matching->module, source, matching->places, matching->arguments);
    if (argument) {
        uint32_t *fresh = IDS_PUSH(matching->candidates, matching->candidate_count, matching->candidate_room);
        if (!fresh) return -1;
        *fresh = (uint32_t)(argument - matching->arguments);
    } else if (makers->count < MOST_MAKERS) {
        makers->at[makers->count++] = source;
    }
    return 0;
}

/* The arguments out of which a result is made, by however many updates one after another. The last of them may have
 * the product of matrices in it by which it updates. -1 when memory ran out. */
static int find_candidates(struct matching *matching, uint32_t result) {
    const struct ids_hlo_module *module = matching->module;
    struct makers makers = {.count = 0};
    if (come_to(matching, &makers, &module->instructions[matching->results.values[result]], result)) return -1;
    for (uint32_t m = 0; m < makers.count && matching->budget > 0; m++) {
        const struct ids_hlo_instruction *maker = makers.at[m];
        if (!updates(maker) || (m && has_product(matching, maker))) continue;
        for (uint32_t i = 0; i < maker->operands.count && matching->budget-- > 0; i++) {
            const struct ids_hlo_instruction *operand = operand_of(module, maker, i);
            if (!operand || (!joins(maker) && !joins(operand) &&
                             !is_of_size(module, operand->shape, matching->results.shapes[result])))
                continue;
            if (come_to(matching, &makers, operand, result)) return -1;
        }
    }
    return 0;
}

static int find_argument(struct matching *matching, uint32_t result, int is_first, int depth);

/* Gives an argument to a result; one that another result has where that one finds another. One that is donated has the
 * result's memory already. */
static int give(struct matching *matching, struct argument *argument, uint32_t result, int is_first, int depth) {
    uint64_t shape = matching->module->shapes[matching->results.shapes[result]].fingerprint;
    if (argument->shape != shape || argument->tried == matching->now) return 0;
    if (argument->is_first != is_first || (argument->is_input && !argument->is_donated)) return 0;
    argument->tried = matching->now;
    if (argument->replaced && !find_argument(matching, argument->replaced - 1, is_first, depth + 1)) return 0;
    argument->replaced = result + 1;
    return 1;
}

/* The argument that a result replaces: one of its shape out of which it is made. */
static int find_argument(struct matching *matching, uint32_t result, int is_first, int depth) {
    enum { DEEPEST = 64 };
    const size_t *first_candidate = matching->results.first_candidate;
    size_t end = first_candidate[result + 1];
    if (depth > DEEPEST) return 0;
    for (size_t c = first_candidate[result]; c < end && matching->budget-- > 0; c++) {
        if (give(matching, &matching->arguments[matching->candidates[c]], result, is_first, depth)) return 1;
    }
    return 0;
}

static void add_result(struct matching *matching, uint64_t value, uint32_t shape) {
    struct results *results = &matching->results;
    if (value == IDS_HLO_NONE || !is_array(matching->module, shape)) return;
    results->values[results->count] = (uint32_t)value;
    results->shapes[results->count++] = shape;
}

static void list_results(struct matching *matching, const struct ids_hlo_instruction *root) {
    const struct ids_hlo_module *module = matching->module;
    if (!ids_text_is(root->opcode, "tuple")) {
        add_result(matching, (uint64_t)(root - module->instructions), root->shape);
        return;
    }
    uint32_t part = root->shape == IDS_HLO_NONE ? IDS_HLO_NONE : module->shapes[root->shape].first_part;
    for (uint32_t i = 0; i < root->operands.count && part != IDS_HLO_NONE; i++) {
        add_result(matching, module->operands[root->operands.first + i], part);
        part = module->shapes[part].next_part;
    }
}

/* Of arguments of one shape those that are called as state come first. -1 when memory ran out. */
static int match_results(const struct ids_hlo_module *module, const struct ids_hlo_computation *entry,
                         struct ids_keymap *places, struct argument *arguments) {
    if (entry->root == IDS_HLO_NONE) return 0;
    const struct ids_hlo_instruction *root = &module->instructions[entry->root];
    size_t room = (size_t)root->operands.count + 1;
    struct matching matching = {.module = module, .places = places, .arguments = arguments};
    struct results *results = &matching.results;
    results->values = calloc(room, sizeof *results->values);
    results->shapes = calloc(room, sizeof *results->shapes);
    results->is_made = calloc(room, sizeof *results->is_made);
    results->first_candidate = calloc(room + 1, sizeof *results->first_candidate);
    matching.budget = 64 * (int64_t)(module->instruction_count + module->operand_count);
    matching.seen = calloc(module->instruction_count + 1, sizeof *matching.seen);
    int failed =
        !results->values || !results->shapes || !results->is_made || !results->first_candidate || !matching.seen;
    if (!failed) list_results(&matching, root);
    for (uint32_t r = 0; r < results->count && !failed; r++) {
        failed = find_candidates(&matching, r) < 0;
        results->first_candidate[r + 1] = matching.candidate_count;
    }
    for (int is_first = 1; is_first >= 0 && !failed; is_first--) {
        for (uint32_t r = 0; r < results->count; r++) {
            matching.now++;
            if (!results->is_made[r]) results->is_made[r] = (uint8_t)find_argument(&matching, r, is_first, 0);
        }
    }
    free(results->values);
    free(results->shapes);
    free(results->is_made);
    free(results->first_candidate);
    free(matching.seen);
    free(matching.candidates);
    return -failed;
}

/* The arguments, with their places by instruction. Returns how many, -1 when memory ran out. */
static int64_t list_arguments(const struct ids_hlo_module *module, const struct ids_hlo_computation *entry,
                              struct ids_keymap *places, struct argument *arguments) {
    int64_t count = 0;
    for (uint32_t i = 0; i < entry->instructions.count; i++) {
        uint32_t index = entry->instructions.first + i;
        const struct ids_hlo_instruction *at = &module->instructions[index];
        uint64_t unused;
        if (at->damaged || !ids_text_is(at->opcode, "parameter") || !is_array(module, at->shape)) continue;
        const struct ids_hlo_shape *shape = &module->shapes[at->shape];
        struct ids_text name = ids_hlo_op_name(module, at);
        if (ids_keymap_add(places, (uint64_t)index + 1, (uint64_t)count) < 0) return -1;
        arguments[count] = (struct argument){.path = name,
                                             .name = root_of(name),
                                             .shape = shape->fingerprint,
                                             .bytes = shape->bytes,
                                             .order = (uint32_t)count,
                                             .is_input = (uint8_t)is_input(root_of(name)),
                                             .is_state = (uint8_t)(ids_hlo_is_state(name) && !is_input(root_of(name)))};
        arguments[count++].is_donated =
            (uint8_t)ids_keymap_get(&module->donated, ids_key_of(number_of(module, at), 1), &unused);
        arguments[count - 1].is_first = arguments[count - 1].is_state | arguments[count - 1].is_donated;
    }
    return count;
}

static int by_name(const void *a, const void *b) {
    const struct argument *left = a, *right = b;
    uint32_t shorter = left->name.length < right->name.length ? left->name.length : right->name.length;
    int order = shorter ? memcmp(left->name.at, right->name.at, shorter) : 0;
    if (!order) order = (left->name.length > right->name.length) - (left->name.length < right->name.length);
    return order ? order : (left->order > right->order) - (left->order < right->order);
}

static int has_same_name(const struct argument *left, const struct argument *right) {
    return left->name.length == right->name.length && !memcmp(left->name.at, right->name.at, left->name.length);
}

/* What two paths have in common, up to a place in a tree: "s['opt']" of "s['opt']['mu']" and "s['opt']['nu']". */
static struct ids_text common_path(struct ids_text left, struct ids_text right) {
    uint32_t same = 0;
    while (same < left.length && same < right.length && left.at[same] == right.at[same]) same++;
    if (same == left.length && (same == right.length || strchr("[.(", right.at[same]))) return left;
    if (same == right.length && strchr("[.(", left.at[same])) return right;
    while (same && !strchr("[.(", left.at[same])) same--;
    return (struct ids_text){left.at, same};
}

static void count_in(struct tree *tree, const struct argument *argument) {
    tree->arrays++;
    if (!argument->replaced) return;
    tree->path = tree->matched++ ? common_path(tree->path, argument->path) : argument->path;
    ids_sum(&tree->bytes, argument->bytes);
}

static void keep(struct ids_hlo_program_memory *memory, const struct tree *tree) {
    if (tree->bytes < IDS_HLO_LEAST_VALUE) return;
    size_t place = memory->kept_count < IDS_HLO_KEPT_SHOWN ? memory->kept_count++ : IDS_HLO_KEPT_SHOWN - 1;
    if (memory->kept_count == IDS_HLO_KEPT_SHOWN && memory->kept[place].bytes > tree->bytes) return;
    for (; place && memory->kept[place - 1].bytes < tree->bytes; place--) memory->kept[place] = memory->kept[place - 1];
    memory->kept[place] = (struct ids_hlo_kept_argument){tree->path, tree->bytes, tree->matched};
}

/* Several arrays of one name count where each is replaced: of one array alone that may be chance. Where some are not,
 * those count whose path says that they are state. */
static void keep_tree(struct ids_hlo_program_memory *memory, const struct argument *first, const struct argument *end) {
    struct tree all = {0}, state = {0}, others = {0};
    for (const struct argument *at = first; at < end; at++) {
        if (at->is_donated) continue;
        count_in(&all, at);
        count_in(at->is_state ? &state : &others, at);
    }
    if (all.arrays > 1 && all.matched == all.arrays) {
        all.path = first->name;
        keep(memory, &all);
        return;
    }
    if (state.matched) keep(memory, &state);
    if (others.arrays > 1 && others.matched == others.arrays) keep(memory, &others);
}

int ids_hlo_kept_arguments(const struct ids_hlo_module *module, struct ids_hlo_program_memory *memory) {
    struct ids_keymap places = {0};
    if (module->entry == IDS_HLO_NONE) return 0;
    const struct ids_hlo_computation *entry = &module->computations[module->entry];
    struct argument *arguments = calloc((size_t)entry->instructions.count + 1, sizeof *arguments);
    int64_t count = arguments ? list_arguments(module, entry, &places, arguments) : -1;
    if (count > 0 && match_results(module, entry, &places, arguments)) count = -1;
    if (count > 0) qsort(arguments, (size_t)count, sizeof *arguments, by_name);
    for (int64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && has_same_name(&arguments[i], &arguments[next]); next++) {
        }
        keep_tree(memory, &arguments[i], &arguments[next]);
    }
    ids_keymap_done(&places);
    free(arguments);
    return count < 0 ? -1 : 0;
}
