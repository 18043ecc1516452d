#include "lib/hlo/waste.h"

#include "lib/fields/hlo.h"
#include "lib/hlo/opcode.h"
#include "lib/hlo/shape.h"
#include "lib/hlo/waste_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ids_waste_name(enum ids_waste waste) {
    static const char *const names[] = {NULL,         "recomputed", "repeated",  "constant",   "invariant",
                                        "replicated", "gathered",   "reduced",   "layout",     "convert",
                                        "padding",    "wide",       "attention", "transposed", "serial"};
    return (unsigned)waste < IDS_WASTE_COUNT ? names[waste] : NULL;
}

/* --- what instructions do --------------------------------------------------------------------------------------- */

static const struct {
    const char *opcode;
    uint32_t deed;
} known[] = {
    {"parameter", IDS_DOES_NOTHING},
    {"tuple", IDS_DOES_NOTHING},
    {"get-tuple-element", IDS_DOES_NOTHING},
    {"bitcast", IDS_DOES_NOTHING},
    {"constant", IDS_DOES_CONSTANT},
    {"copy", IDS_DOES_MOVE},
    {"transpose", IDS_DOES_MOVE},
    {"reshape", IDS_DOES_MOVE},
    {"broadcast", IDS_DOES_FILL},
    {"iota", IDS_DOES_FILL},
    {"convert", IDS_DOES_CONVERT},
    {"pad", IDS_DOES_PAD},
    {"dot", IDS_DOES_PRODUCT},
    {"convolution", IDS_DOES_PRODUCT},
    {"reduce", IDS_DOES_REDUCE},
    {"exponential", IDS_DOES_EXP},
    {"maximum", IDS_DOES_COMPUTE | IDS_DOES_MAXIMUM},
    {"slice", IDS_DOES_SLICE},
    {"dynamic-slice", IDS_DOES_SLICE},
    {"while", IDS_DOES_CALL},
    {"conditional", IDS_DOES_CALL},
    {"call", IDS_DOES_CALL},
    {"partition-id", IDS_DOES_DIFFER},
    {"replica-id", IDS_DOES_DIFFER},
    {"rng", IDS_DOES_DIFFER},
    {"rng-get-and-update-state", IDS_DOES_DIFFER},
    {"infeed", IDS_DOES_DIFFER},
    {"outfeed", IDS_DOES_DIFFER},
    /* Its attributes are not read, so that two of them may differ. */
    {"reduce-precision", IDS_DOES_COMPUTE | IDS_DOES_CONSTANT},
};

/* A library's product of many matrices has a result of three dimensions: XLA flattens those of one. */
static uint32_t deed_of_call(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of) {
    static const char *const products[] = {"gemm", "matmul", "dot", "conv"};
    int batches = of->shape != IDS_HLO_NONE && module->shapes[of->shape].dimensions.count >= 3;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (ids_text_contains(ids_hlo_call_target(module, of), products[i]))
            return (uint32_t)(IDS_DOES_PRODUCT | IDS_DOES_DIFFER | (batches ? IDS_DOES_BATCHES : 0));
    }
    return IDS_DOES_DIFFER;
}

/* Whether a dot has batch dimensions: DotDimensionNumbers, whose lists are short. */
static int dot_batches(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of) {
    enum { VARINT = 0, BYTES = 2, LHS_BATCH = 3 };
    const struct ids_hlo_attribute *numbers = ids_hlo_attribute_of(module, of, HLO_INSTRUCTION_DOT_DIMENSIONS);
    if (!numbers || !numbers->is_bytes) return 0;
    for (uint32_t at = 0; at + 1 < numbers->length;) {
        unsigned char tag = (unsigned char)numbers->bytes[at], length = (unsigned char)numbers->bytes[at + 1];
        if (tag >> 3 == LHS_BATCH && (length || (tag & 7) == VARINT)) return 1;
        at += (tag & 7) == BYTES ? 2u + length : 2u;
    }
    return 0;
}

static uint32_t deed_of(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!ids_text_is(of->opcode, known[i].opcode)) continue;
        int batches = ids_text_is(of->opcode, "dot") && dot_batches(module, of);
        return (uint32_t)(known[i].deed | (batches ? IDS_DOES_BATCHES : 0));
    }
    if (ids_text_is(of->opcode, "custom-call")) return deed_of_call(module, of);
    if (ids_collective_of_opcode(of->opcode)) return IDS_DOES_COLLECTIVE;
    return ids_opcode_is_marker(of->opcode) ? IDS_DOES_DIFFER : IDS_DOES_COMPUTE;
}

uint32_t ids_waste_inside(const struct ids_hlo_module *module, uint32_t instruction) {
    const struct ids_hlo_instruction *of = &module->instructions[instruction];
    if (!of->called.count || !ids_text_is(of->opcode, "fusion")) return IDS_HLO_NONE;
    return (uint32_t)module->called[of->called.first];
}

/* What a reduction calls for each pair of elements. */
static uint32_t peak_of(const struct ids_waste_graph *graph, uint32_t reduction, uint32_t computation) {
    const struct ids_hlo_range *called = &graph->module->instructions[reduction].called;
    uint64_t pair = called->count ? graph->module->called[called->first] : UINT64_MAX;
    return pair < computation && graph->inside[pair] & IDS_DOES_MAXIMUM ? IDS_DOES_PEAK : 0;
}

/* Whether what the instruction calls gives another result each time. */
static uint32_t differs_inside(const struct ids_waste_graph *graph, uint32_t instruction, uint32_t computation) {
    const struct ids_hlo_range *called = &graph->module->instructions[instruction].called;
    uint32_t deeds = 0;
    for (uint32_t k = called->first; k < called->first + called->count; k++)
        deeds |= graph->module->called[k] < computation ? graph->inside[graph->module->called[k]] : IDS_DOES_DIFFER;
    return deeds & (IDS_DOES_DIFFER | IDS_DIFFERS_INSIDE | IDS_DOES_COLLECTIVE) ? IDS_DIFFERS_INSIDE : 0;
}

/* Computations come before those that call them; what does not is not looked into. */
static void tell_deeds(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_range *range = &module->computations[c].instructions;
        for (uint32_t i = range->first; i < range->first + range->count; i++) {
            uint32_t inside = ids_waste_inside(module, i);
            graph->deeds[i] = deed_of(module, &module->instructions[i]);
            if (graph->deeds[i] == IDS_DOES_REDUCE) graph->deeds[i] |= peak_of(graph, i, c);
            if (inside != IDS_HLO_NONE) graph->deeds[i] = inside < c ? graph->inside[inside] : IDS_DOES_DIFFER;
            if (graph->deeds[i] & IDS_DOES_CALL) graph->deeds[i] |= differs_inside(graph, i, c);
            graph->inside[c] |= graph->deeds[i];
        }
    }
}

static void tell_uses(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    for (size_t i = 0; i < module->instruction_count; i++) graph->first_use[i] = IDS_HLO_NONE;
    for (uint32_t i = (uint32_t)module->instruction_count; i-- > 0;) {
        const struct ids_hlo_range *operands = &module->instructions[i].operands;
        for (uint32_t o = operands->first + operands->count; o-- > operands->first;) {
            uint64_t operand = module->operands[o];
            graph->user_of[o] = i;
            if (operand >= module->instruction_count) continue;
            graph->next_use[o] = graph->first_use[operand];
            graph->first_use[operand] = o;
        }
    }
}

void ids_waste_set(struct ids_waste_graph *graph, uint32_t instruction, enum ids_waste kind, uint32_t other,
                   uint32_t also) {
    struct ids_hlo_waste *of = &graph->of[instruction];
    if (of->kind && of->kind <= kind) return;
    *of = (struct ids_hlo_waste){
        .kind = (uint8_t)kind, .split = of->split, .computed_once = of->computed_once, .other = other, .also = also};
    graph->found = 1;
}

uint32_t ids_waste_operand(const struct ids_waste_graph *graph, uint32_t instruction, uint32_t place) {
    const struct ids_hlo_range *operands = &graph->module->instructions[instruction].operands;
    if (place >= operands->count) return IDS_HLO_NONE;
    uint64_t operand = graph->module->operands[operands->first + place];
    return operand < graph->module->instruction_count ? (uint32_t)operand : IDS_HLO_NONE;
}

/* --- what only moves, and what is done twice -------------------------------------------------------------------- */

static int is_recomputed(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of) {
    return ids_text_contains(ids_hlo_op_name(module, of), "rematted_computation") ||
           ids_text_contains(of->name, ".remat");
}

/* What prepares operands for others, and nothing else. */
static enum ids_waste mover_of(uint32_t deeds) {
    enum { BESIDE = IDS_DOES_NOTHING | IDS_DOES_MOVE };
    if (!(deeds & ~(uint32_t)BESIDE) && deeds & IDS_DOES_MOVE) return IDS_WASTE_LAYOUT;
    if (!(deeds & ~(uint32_t)(BESIDE | IDS_DOES_CONVERT)) && deeds & IDS_DOES_CONVERT) return IDS_WASTE_CONVERT;
    if (!(deeds & ~(uint32_t)(BESIDE | IDS_DOES_CONSTANT | IDS_DOES_PAD | IDS_DOES_SLICE)) && deeds & IDS_DOES_PAD)
        return IDS_WASTE_PAD;
    return IDS_NO_WASTE;
}

static void find_movers(struct ids_waste_graph *graph, const struct ids_hlo_range *range) {
    const struct ids_hlo_module *module = graph->module;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const struct ids_hlo_instruction *of = &module->instructions[i];
        enum ids_waste kind = mover_of(graph->deeds[i]);
        uint32_t use = graph->first_use[i];
        if (kind) ids_waste_set(graph, i, kind, use == IDS_HLO_NONE ? use : graph->user_of[use], IDS_HLO_NONE);
        if (graph->deeds[i] & ~(uint32_t)(IDS_DOES_NOTHING | IDS_DOES_CALL | IDS_DIFFERS_INSIDE) &&
            !graph->of[i].computed_once && is_recomputed(module, of))
            ids_waste_set(graph, i, IDS_WASTE_RECOMPUTED, IDS_HLO_NONE, IDS_HLO_NONE);
    }
}

/* A loop, or what may give another result a second time, is no repetition. Nor is what is too cheap to be kept. */
static int can_repeat(uint32_t deeds) {
    enum {
        WORK =
            IDS_DOES_COMPUTE | IDS_DOES_FILL | IDS_DOES_PRODUCT | IDS_DOES_REDUCE | IDS_DOES_EXP | IDS_DOES_COLLECTIVE
    };
    return (deeds & WORK) && !(deeds & (IDS_DOES_DIFFER | IDS_DOES_CALL | IDS_DOES_CONSTANT));
}

/* What replica groups a collective has is no operand, and takes no part in the fingerprint. */
static uint64_t key_of(const struct ids_waste_graph *graph, uint32_t instruction) {
    const struct ids_hlo_instruction *of = &graph->module->instructions[instruction];
    uint64_t key = of->fingerprint;
    for (uint32_t o = 0; o < of->operands.count; o++) {
        uint32_t operand = ids_waste_operand(graph, instruction, o);
        key = ids_key_of(key, operand == IDS_HLO_NONE ? 0 : graph->value[operand]);
    }
    if (of->groups != IDS_HLO_NONE) {
        struct ids_text groups = graph->module->groups[of->groups];
        key = ids_key_of(key, ids_hash_bytes(groups.at, groups.length));
    }
    return key;
}

/* `first`: key -> index + 1, of what was met in this computation or in one that runs it. */
static int find_repeated(struct ids_waste_graph *graph, const struct ids_hlo_range *range, struct ids_keymap *first) {
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const struct ids_hlo_instruction *of = &graph->module->instructions[i];
        if (!can_repeat(graph->deeds[i]) || !of->operands.count || !of->fingerprint) continue;
        uint64_t *place = ids_keymap_at(first, key_of(graph, i));
        if (!place) return -1;
        enum ids_waste kind = graph->deeds[i] & IDS_DOES_COLLECTIVE ? IDS_WASTE_REPLICATED : IDS_WASTE_REPEATED;
        uint32_t other = *place ? (uint32_t)*place - 1 : IDS_HLO_NONE;
        if (other != IDS_HLO_NONE && ids_waste_runs_inside(graph, i, graph->computation[other]))
            ids_waste_set(graph, i, kind, other, IDS_HLO_NONE);
        else
            *place = (uint64_t)i + 1;
    }
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static int look(struct ids_waste_graph *graph) {
    const struct ids_hlo_module *module = graph->module;
    tell_deeds(graph);
    tell_uses(graph);
    ids_waste_values(graph);
    struct ids_keymap first = {0};
    int failed = ids_waste_again(graph);
    for (uint32_t c = (uint32_t)module->computation_count; c-- > 0 && !failed;) { /* what runs others is first */
        if (module->computations[c].is_fusion) continue;
        find_movers(graph, &module->computations[c].instructions);
        failed = find_repeated(graph, &module->computations[c].instructions, &first);
    }
    ids_keymap_done(&first);
    ids_waste_same(graph);
    ids_waste_collectives(graph);
    ids_waste_wide(graph);
    ids_waste_attention(graph);
    ids_waste_transposes(graph);
    ids_split_find(graph);
    return failed;
}

int ids_hlo_waste_find(const struct ids_hlo_module *module, struct ids_hlo_waste **ret_of, struct ids_error *err) {
    size_t count = module->instruction_count + 1, operands = module->operand_count + 1;
    struct ids_waste_graph graph = {.module = module,
                                    .budget = 64 * (int64_t)(count + operands),
                                    .inside = calloc(module->computation_count + 1, sizeof *graph.inside),
                                    .caller = malloc((module->computation_count + 1) * sizeof *graph.caller),
                                    .computation = calloc(count, sizeof *graph.computation),
                                    .value = calloc(count, sizeof *graph.value),
                                    .source = malloc(count),
                                    .deeds = calloc(count, sizeof *graph.deeds),
                                    .first_use = malloc(count * sizeof *graph.first_use),
                                    .next_use = malloc(operands * sizeof *graph.next_use),
                                    .user_of = malloc(operands * sizeof *graph.user_of),
                                    .of = calloc(count, sizeof *graph.of)};
    int failed = !graph.inside || !graph.caller || !graph.computation || !graph.value || !graph.source ||
                 !graph.deeds || !graph.first_use || !graph.next_use || !graph.user_of || !graph.of;
    if (!failed) memset(graph.source, IDS_FROM_CALLS, count);
    if (!failed) failed = look(&graph);
    free(graph.inside);
    free(graph.caller);
    free(graph.computation);
    free(graph.value);
    free(graph.source);
    free(graph.deeds);
    free(graph.first_use);
    free(graph.next_use);
    free(graph.user_of);
    *ret_of = NULL;
    if (failed || !graph.found)
        free(graph.of);
    else
        *ret_of = graph.of;
    return failed ? ids_no_memory(err) : 0;
}

/* --- in words --------------------------------------------------------------------------------------------------- */

struct wording {
    char *text;
    size_t length;
};

static void put(struct wording *to, const char *piece, size_t length) {
    size_t room = IDS_HLO_WASTE_TEXT - 1 - to->length;
    if (length > room) length = room;
    memcpy(to->text + to->length, piece, length);
    to->length += length;
    to->text[to->length] = '\0';
}

static void put_z(struct wording *to, const char *piece) {
    put(to, piece, strlen(piece));
}

/* "dot.3 (jit(f)/attn/dot_general)", or what the program calls its argument. */
static void put_name(struct wording *to, const struct ids_hlo_module *module, uint32_t instruction) {
    const struct ids_hlo_instruction *of = &module->instructions[instruction];
    struct ids_text place = ids_hlo_op_name(module, of);
    int is_argument = ids_text_is(of->opcode, "parameter") && place.length;
    if (is_argument) {
        put_z(to, "argument ");
        put(to, place.at, place.length);
        return;
    }
    put(to, of->name.at, of->name.length);
    const char *last = place.length ? memrchr(place.at, '/', place.length) : NULL;
    if (!last) return;
    put_z(to, " (");
    put(to, last + 1, (size_t)(place.at + place.length - last - 1));
    put_z(to, ")");
}

static void put_shape(struct wording *to, const struct ids_hlo_module *module, uint32_t instruction) {
    char text[IDS_HLO_SHAPE_TEXT];
    uint32_t shape = module->instructions[instruction].shape;
    if (shape != IDS_HLO_NONE) put(to, text, ids_hlo_shape_text(module, shape, 1, text));
}

static uint8_t element_of(const struct ids_hlo_module *module, uint32_t instruction) {
    uint32_t shape = module->instructions[instruction].shape;
    return shape == IDS_HLO_NONE ? 0 : module->shapes[shape].element;
}

/* What is moved: of a conversion the first operand that has another type than the result, where there is one. */
static uint64_t moved_by(const struct ids_hlo_module *module, const struct ids_hlo_waste *of, uint32_t instruction) {
    const struct ids_hlo_range *operands = &module->instructions[instruction].operands;
    for (uint32_t o = operands->first; o < operands->first + operands->count && of->kind == IDS_WASTE_CONVERT; o++) {
        uint64_t operand = module->operands[o];
        if (operand < module->instruction_count &&
            element_of(module, (uint32_t)operand) != element_of(module, instruction))
            return operand;
    }
    return operands->count ? module->operands[operands->first] : UINT64_MAX;
}

/* A fusion may convert to another type and back again: each type between, which its ends do not show. */
static void put_types_between(struct wording *to, const struct ids_hlo_module *module, uint32_t fusion) {
    uint32_t inside = ids_waste_inside(module, fusion);
    uint8_t last = element_of(module, fusion);
    if (inside >= module->computation_count) return;
    const struct ids_hlo_range *range = &module->computations[inside].instructions;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        int converts = ids_text_is(module->instructions[i].opcode, "convert");
        if (!converts || element_of(module, i) == last) continue;
        last = element_of(module, i);
        if (last == element_of(module, fusion)) continue;
        put_shape(to, module, i);
        put_z(to, " -> ");
    }
}

/* Of a square array the ends do not show it. */
static int transposes(const struct ids_hlo_module *module, uint32_t instruction) {
    uint32_t inside = ids_waste_inside(module, instruction);
    if (ids_text_is(module->instructions[instruction].opcode, "transpose")) return 1;
    if (inside >= module->computation_count) return 0;
    const struct ids_hlo_range *range = &module->computations[inside].instructions;
    for (uint32_t i = range->first; i < range->first + range->count; i++)
        if (ids_text_is(module->instructions[i].opcode, "transpose")) return 1;
    return 0;
}

/* "f32[8]{0} -> bf16[8]{0}", "f32[8,8]{1,0} -> transposed f32[8,8]{1,0}"; the result alone where a conversion shows no
 * other type. Whether it is the same on either side. */
static int put_move(struct wording *to, const struct ids_hlo_module *module, const struct ids_hlo_waste *of,
                    uint32_t from, uint32_t instruction) {
    size_t before = to->length, first;
    put_shape(to, module, from);
    put_z(to, " -> ");
    first = to->length;
    int converts = of->kind == IDS_WASTE_CONVERT;
    if (converts && element_of(module, from) == element_of(module, instruction))
        put_types_between(to, module, instruction);
    size_t last = to->length, length = first - before - strlen(" -> ");
    put_shape(to, module, instruction);
    if (last > first || to->length - last != length || memcmp(to->text + before, to->text + last, length) != 0)
        return 0;
    if (converts) {
        to->length = first - strlen(" -> ");
        to->text[to->length] = '\0';
    } else if (transposes(module, instruction)) {
        to->length = last;
        put_z(to, "transposed ");
        put_shape(to, module, instruction);
        return 0;
    }
    return 1;
}

static int is_result(const struct ids_hlo_module *module, uint32_t instruction) {
    return module->entry != IDS_HLO_NONE && module->computations[module->entry].root == instruction;
}

/* What it moves, from where, and for whom. */
static void put_mover(struct wording *to, const struct ids_hlo_module *module, const struct ids_hlo_waste *of,
                      uint32_t instruction) {
    uint64_t from = moved_by(module, of, instruction);
    int is_same = 0;
    if (from < module->instruction_count) {
        is_same = put_move(to, module, of, (uint32_t)from, instruction);
        put_z(to, ", of ");
        put_name(to, module, (uint32_t)from);
    } else {
        put_shape(to, module, instruction);
    }
    struct ids_text user =
        of->other == IDS_HLO_NONE ? (struct ids_text){"", 0} : module->instructions[of->other].opcode;
    int is_tuple = ids_text_is(user, "tuple"), is_kept = is_tuple || ids_opcode_is_container(user);
    if (of->other == IDS_HLO_NONE || (is_tuple && !is_same && is_result(module, of->other))) {
        put_z(to, ", as the program's result");
        return;
    }
    put_z(to, is_kept && is_same ? ", to be kept apart from what is overwritten: for " : ", for ");
    put_name(to, module, of->other);
}

static void put_invariant(struct wording *to, const struct ids_hlo_module *module, const struct ids_hlo_waste *of) {
    char rounds[48] = "";
    if (of->rounds) snprintf(rounds, sizeof rounds, ", %" PRIu32 " times", of->rounds);
    put_z(to, "of what the loop ");
    put_name(to, module, of->other);
    put_z(to, " does not change");
    put_z(to, rounds);
}

/* Which array or number makes the rest float64. */
static void put_wide(struct wording *to, const struct ids_hlo_module *module, const struct ids_hlo_waste *of) {
    if (of->other == IDS_HLO_NONE) {
        put_z(to, "because of a number of float64 in it, or a conversion");
        return;
    }
    put_z(to,
          ids_text_is(module->instructions[of->other].opcode, "constant") ? "because of the constant " : "because of ");
    put_name(to, module, of->other);
    put_z(to, ", ");
    put_shape(to, module, of->other);
}

/* The array as it is before and after; where it comes from by the fusion's operands is not followed. */
static void put_transposed(struct wording *to, const struct ids_hlo_module *module, const struct ids_hlo_waste *of) {
    uint64_t from = module->operands[module->instructions[of->other].operands.first];
    put_shape(to, module, (uint32_t)from);
    put_z(to, " -> ");
    put_shape(to, module, of->other);
    put_z(to, " inside, by ");
    put_name(to, module, of->other);
}

static void put_attention(struct wording *to, const struct ids_hlo_module *module, const struct ids_hlo_waste *of,
                          uint32_t instruction) {
    put_z(to, "softmax ");
    put_shape(to, module, instruction);
    put_z(to, " between ");
    put_name(to, module, of->also);
    put_z(to, " and ");
    put_name(to, module, of->other);
}

size_t ids_hlo_waste_text(const struct ids_hlo_module *module, const struct ids_hlo_waste *of, uint32_t instruction,
                          char text[IDS_HLO_WASTE_TEXT]) {
    struct wording to = {.text = text};
    text[0] = '\0';
    switch ((enum ids_waste)of->kind) {
    case IDS_WASTE_REPEATED:
        put_z(&to, "the same of the same operands as ");
        put_name(&to, module, of->other);
        break;
    case IDS_WASTE_CONSTANT:
        put_z(&to, "of constants alone, so that it is the same in each call");
        break;
    case IDS_WASTE_INVARIANT:
        put_invariant(&to, module, of);
        break;
    case IDS_WASTE_REPLICATED:
        if (of->other == IDS_HLO_NONE) {
            put_z(&to, "each group is one device");
            break;
        }
        put_z(&to, of->is_part ? "a part of it is the same on every device: " : "every device has it already: ");
        put_name(&to, module, of->other);
        break;
    case IDS_WASTE_GATHERED:
    case IDS_WASTE_REDUCED:
        put_z(&to, "of which each device takes a slice: ");
        put_name(&to, module, of->other);
        break;
    case IDS_WASTE_LAYOUT:
    case IDS_WASTE_CONVERT:
    case IDS_WASTE_PAD:
        put_mover(&to, module, of, instruction);
        break;
    case IDS_WASTE_WIDE:
        put_wide(&to, module, of);
        break;
    case IDS_WASTE_TRANSPOSED:
        put_transposed(&to, module, of);
        break;
    case IDS_WASTE_ATTENTION:
        put_attention(&to, module, of, instruction);
        break;
    default:
        break;
    }
    return to.length;
}
