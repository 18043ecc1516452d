#include "lib/hlo/cost.h"

#include "lib/base/memory.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/cost_kind.h"
#include "lib/hlo/cost_matrix.h"
#include "lib/hlo/element.h"
#include "lib/wire/pb_wire.h"

#include <math.h>
#include <stdlib.h>

/* ---- sums ---- */

static void set_flops(struct ids_hlo_cost *cost, double flops) {
    cost->flops = flops > 0 ? flops : 0;
    cost->misses_flops |= !(flops >= 0);
}

static void add(struct ids_hlo_cost *to, const struct ids_hlo_cost *more, double times) {
    if (more->element && (!to->element || more->matrix_flops * times > to->matrix_flops)) to->element = more->element;
    to->flops += more->flops * times;
    to->matrix_flops += more->matrix_flops * times;
    to->transcendentals += more->transcendentals * times;
    to->bytes += more->bytes * times;
    to->misses_flops |= more->misses_flops;
    to->misses_bytes |= more->misses_bytes;
}

int64_t ids_hlo_cost_count(double amount, int misses) {
    return misses || !(amount >= 0 && amount < 9e18) ? -1 : llround(amount);
}

/* ---- sizes ---- */

static double bytes_of(const struct ids_hlo_module *module, uint32_t shape, uint8_t *misses) {
    int64_t bytes = shape == IDS_HLO_NONE ? -1 : module->shapes[shape].bytes;
    if (bytes < 0) *misses = 1;
    return bytes < 0 ? 0 : (double)bytes;
}

static double operand_bytes(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                            uint32_t from, uint8_t *misses) {
    double bytes = 0;
    for (uint32_t i = from; i < instruction->operands.count; i++)
        bytes += bytes_of(module, ids_hlo_operand_shape(module, instruction, i), misses);
    return bytes;
}

static double result_elements(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction) {
    return ids_hlo_elements(module, ids_hlo_array_of(module, instruction->shape));
}

static double operand_elements(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                               uint32_t operand) {
    return ids_hlo_elements(module, ids_hlo_array_of(module, ids_hlo_operand_shape(module, instruction, operand)));
}

static enum ids_cost_kind kind_of(const struct ids_hlo_module *module, uint64_t instruction) {
    return ids_cost_kind_of(module->instructions[instruction].opcode);
}

/* ---- operations ---- */

/* What is called is known where it stands before its caller, which is the order that XLA writes: so circles end. */
static const struct ids_hlo_cost *called_cost(const struct ids_hlo_costs *costs,
                                              const struct ids_hlo_instruction *instruction, uint32_t which) {
    static const struct ids_hlo_cost unknown = {.misses_flops = 1, .misses_bytes = 1};
    if (which >= instruction->called.count) return &unknown;
    uint64_t called = costs->module->called[instruction->called.first + which];
    if (called == IDS_HLO_NONE) return &unknown;
    const struct ids_hlo_computation *computation = &costs->module->computations[called];
    uint64_t own = (uint64_t)(instruction - costs->module->instructions);
    return computation->instructions.first + (uint64_t)computation->instructions.count <= own
               ? &costs->of_computation[called]
               : &unknown;
}

/* A small function that is applied to elements: its operations, `times`. */
static void apply(const struct ids_hlo_costs *costs, const struct ids_hlo_instruction *instruction, uint32_t which,
                  double times, struct ids_hlo_cost *to) {
    struct ids_hlo_cost each = *called_cost(costs, instruction, which);
    each.bytes = 0;
    each.misses_bytes = 0;
    add(to, &each, times > 0 ? times : 0);
}

static double window_size(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction) {
    const struct ids_hlo_attribute *window = ids_hlo_attribute_of(module, instruction, HLO_INSTRUCTION_WINDOW);
    struct ids_pb_field field, part;
    double size = 1;
    if (!window || !window->is_bytes) return 1;
    const uint8_t *bytes = (const uint8_t *)window->bytes;
    struct ids_pb all = {bytes, bytes + window->length};
    while (ids_pb_next(&all, &field) > 0) {
        if (field.number != HLO_WINDOW_DIMENSIONS || field.wire != IDS_PB_BYTES) continue;
        struct ids_pb dimension = {field.bytes, field.bytes + field.value};
        while (ids_pb_next(&dimension, &part) > 0) {
            if (part.number == HLO_WINDOW_SIZE && part.wire == IDS_PB_VARINT) size *= (double)part.value;
        }
    }
    return size;
}

/* The logarithm of the lengths that the attribute lists, together. */
static double log_of_lengths(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction) {
    double log = 0;
    for (uint32_t i = 0; i < instruction->attributes.count; i++) {
        const struct ids_hlo_attribute *attribute = &module->attributes[instruction->attributes.first + i];
        uint64_t length;
        if (attribute->field != HLO_INSTRUCTION_FFT_LENGTH) continue;
        if (!attribute->is_bytes) log += attribute->number > 1 ? log2((double)attribute->number) : 0;
        const uint8_t *bytes = (const uint8_t *)attribute->bytes;
        struct ids_pb list = {bytes, attribute->is_bytes ? bytes + attribute->length : bytes};
        while (list.at < list.end && ids_pb_varint(&list, &length) == 1) log += length > 1 ? log2((double)length) : 0;
    }
    return log;
}

/* 5 n log n of n complex numbers. Of a real transform one side has the n / 2 + 1 numbers of half a spectrum, whichever
 * direction it goes, and half the work. */
static double fft_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *fft) {
    double from = operand_elements(module, fft, 0), to = result_elements(module, fft);
    return 5 * (from < to ? from : to) * log_of_lengths(module, fft);
}

/* n log n comparisons of each row along the dimension that is sorted. */
static double sort_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *sort) {
    const struct ids_hlo_shape *shape = ids_hlo_array_of(module, ids_hlo_operand_shape(module, sort, 0));
    const struct ids_hlo_attribute *along = ids_hlo_attribute_of(module, sort, HLO_INSTRUCTION_DIMENSIONS);
    uint64_t dimension = 0;
    if (!shape) return -1;
    if (along && !along->is_bytes) dimension = along->number;
    if (along && along->is_bytes && along->length) dimension = (uint8_t)along->bytes[0];
    if (dimension >= shape->dimensions.count) return -1;
    int64_t length = module->numbers[shape->dimensions.first + dimension];
    return ids_hlo_elements(module, shape) * (length > 1 ? ceil(log2((double)length)) : 0);
}

static void set_matrix(struct ids_hlo_costs *costs, const struct ids_hlo_instruction *instruction, double flops,
                       struct ids_hlo_cost *cost) {
    const struct ids_hlo_shape *left =
        ids_hlo_array_of(costs->module, ids_hlo_operand_shape(costs->module, instruction, 0));
    /* A complex multiply-add is four of real numbers. XLA counts one. */
    const char *type = left ? ids_hlo_element_name(left->element) : NULL;
    set_flops(cost, type && *type == 'c' && flops > 0 ? 4 * flops : flops);
    cost->matrix_flops = cost->flops;
    cost->element = left && cost->flops > 0 ? left->element : 0;
}

/* Of instructions that apply a function to elements. */
static void count_applied(const struct ids_hlo_costs *costs, enum ids_cost_kind kind,
                          const struct ids_hlo_instruction *instruction, struct ids_hlo_cost *cost) {
    const struct ids_hlo_module *module = costs->module;
    double results = result_elements(module, instruction);
    if (kind == IDS_COST_MAP) apply(costs, instruction, 0, results, cost);
    if (kind == IDS_COST_REDUCE) apply(costs, instruction, 0, operand_elements(module, instruction, 0) - results, cost);
    if (kind == IDS_COST_REDUCE_WINDOW)
        apply(costs, instruction, 0, results * (window_size(module, instruction) - 1), cost);
    if (kind == IDS_COST_SELECT_AND_SCATTER) {
        double sources = operand_elements(module, instruction, 1);
        apply(costs, instruction, 0, sources * (window_size(module, instruction) - 1), cost);
        apply(costs, instruction, 1, sources, cost);
    }
    /* operands, indices, updates: as many updates as operands */
    if (kind == IDS_COST_SCATTER)
        apply(costs, instruction, 0, operand_elements(module, instruction, instruction->operands.count / 2 + 1), cost);
}

static void count_flops(struct ids_hlo_costs *costs, enum ids_cost_kind kind,
                        const struct ids_hlo_instruction *instruction, struct ids_hlo_cost *cost) {
    const struct ids_hlo_module *module = costs->module;
    double results = result_elements(module, instruction);
    switch (kind) {
    case IDS_COST_ELEMENTS:
    case IDS_COST_ALL_REDUCE:
        set_flops(cost, results);
        break;
    case IDS_COST_TRANSCENDENTAL:
    case IDS_COST_RANDOM:
        cost->transcendentals = results;
        break;
    case IDS_COST_DOT:
        set_matrix(costs, instruction, ids_hlo_dot_flops(module, instruction), cost);
        break;
    case IDS_COST_CONVOLUTION:
        set_matrix(costs, instruction, ids_hlo_convolution_flops(module, instruction, &costs->effort), cost);
        break;
    case IDS_COST_CUSTOM:
        set_matrix(costs, instruction, ids_hlo_library_flops(module, instruction, &costs->effort), cost);
        break;
    case IDS_COST_SORT:
        set_flops(cost, sort_flops(module, instruction));
        break;
    case IDS_COST_FFT:
        set_flops(cost, fft_flops(module, instruction));
        break;
    case IDS_COST_TRIANGULAR_SOLVE:
    case IDS_COST_CHOLESKY: {
        const struct ids_hlo_shape *matrix = ids_hlo_array_of(module, ids_hlo_operand_shape(module, instruction, 0));
        uint32_t rank = matrix ? matrix->dimensions.count : 0;
        double size = rank ? (double)module->numbers[matrix->dimensions.first + rank - 1] : -1;
        set_flops(cost, kind == IDS_COST_CHOLESKY ? size * ids_hlo_elements(module, matrix) / 3
                                                  : size * operand_elements(module, instruction, 1));
        break;
    }
    default:
        count_applied(costs, kind, instruction, cost);
        break;
    }
}

/* ---- bytes of instructions outside fusions ---- */

static double own_bytes(const struct ids_hlo_costs *costs, enum ids_cost_kind kind,
                        const struct ids_hlo_instruction *instruction, uint8_t *misses) {
    const struct ids_hlo_module *module = costs->module;
    uint32_t operands = instruction->operands.count;
    double bytes;
    switch (kind) {
    case IDS_COST_FREE:
    case IDS_COST_PART:
    case IDS_COST_TUPLE:
    case IDS_COST_BITCAST:
    case IDS_COST_CONSTANT:
    case IDS_COST_PARAMETER:
        return 0;
    case IDS_COST_SLICE: /* indices are the operands behind the first */
        return 2 * bytes_of(module, instruction->shape, misses) + operand_bytes(module, instruction, 1, misses);
    case IDS_COST_UPDATE: /* the update is read and written */
        bytes = bytes_of(module, ids_hlo_operand_shape(module, instruction, 1), misses);
        return bytes + operand_bytes(module, instruction, 1, misses);
    case IDS_COST_SCATTER: /* what is updated is read and written */
        bytes = operand_bytes(module, instruction, operands / 2 + 1, misses);
        return 2 * bytes + operand_bytes(module, instruction, operands / 2, misses);
    case IDS_COST_START:
        return bytes_of(module, instruction->shape, misses);
    case IDS_COST_COPY_START:
        return 2 * operand_bytes(module, instruction, 0, misses);
    default:
        return bytes_of(module, instruction->shape, misses) + operand_bytes(module, instruction, 0, misses);
    }
}

/* ---- bytes of fusions ---- */

/* How much of its operand an instruction needs when `needed` bytes of its own value are. */
static double needed_of_operand(const struct ids_hlo_module *module, const struct ids_hlo_instruction *user,
                                enum ids_cost_kind kind, uint32_t operand, double needed) {
    uint8_t misses = 0;
    double whole = bytes_of(module, ids_hlo_operand_shape(module, user, operand), &misses);
    double own = bytes_of(module, user->shape, &misses);
    switch (kind) {
    case IDS_COST_SLICE:
        return operand ? whole : needed;
    case IDS_COST_PART:
        return needed;
    case IDS_COST_SCATTER:
        return operand ? whole : needed;
    case IDS_COST_UPDATE: { /* what is updated is not read */
        double update = bytes_of(module, ids_hlo_operand_shape(module, user, 1), &misses);
        if (operand) return whole;
        return needed > update ? needed - update : 0;
    }
    case IDS_COST_ALIAS:
    case IDS_COST_BITCAST:
    case IDS_COST_ELEMENTS:
    case IDS_COST_TRANSCENDENTAL:
        return own > 0 && needed < own ? whole * (needed / own) : whole;
    default:
        return whole;
    }
}

/* The value behind other names for it. */
static uint32_t behind_names(const struct ids_hlo_module *module, uint32_t at) {
    enum { MOST_NAMES = 16 };
    for (int i = 0; i < MOST_NAMES; i++) {
        const struct ids_hlo_instruction *instruction = &module->instructions[at];
        if (kind_of(module, at) != IDS_COST_BITCAST || !instruction->operands.count) break;
        uint64_t operand = module->operands[instruction->operands.first];
        if (operand >= at) break; /* also where there is none */
        at = (uint32_t)operand;
    }
    return at;
}

/* An update of a parameter, which then is done in place: where the updates stand among the operands, else 0. */
static uint32_t in_place(const struct ids_hlo_module *module, uint32_t at) {
    const struct ids_hlo_instruction *instruction = &module->instructions[at];
    enum ids_cost_kind kind = kind_of(module, at);
    uint32_t update = kind == IDS_COST_UPDATE ? 1 : instruction->operands.count / 2 + 1;
    if ((kind != IDS_COST_UPDATE && kind != IDS_COST_SCATTER) || instruction->operands.count <= update) return 0;
    uint64_t base = module->operands[instruction->operands.first];
    return base < at && kind_of(module, behind_names(module, (uint32_t)base)) == IDS_COST_PARAMETER ? update : 0;
}

/* What a fusion writes of a result; one that is a parameter it hands on. */
static double written(const struct ids_hlo_module *module, uint32_t at, uint8_t *misses) {
    const struct ids_hlo_instruction *instruction = &module->instructions[at];
    uint32_t update = in_place(module, at);
    if (kind_of(module, at) == IDS_COST_PARAMETER) return 0;
    return bytes_of(module, update ? ids_hlo_operand_shape(module, instruction, update) : instruction->shape, misses);
}

/* Notes what `user` needs of its operands, all of which stand before it. */
static void need_operands(struct ids_hlo_costs *costs, uint32_t first, uint32_t user) {
    const struct ids_hlo_module *module = costs->module;
    const struct ids_hlo_instruction *instruction = &module->instructions[user];
    enum ids_cost_kind kind = ids_cost_kind_of(instruction->opcode);
    for (uint32_t i = 0; i < instruction->operands.count; i++) {
        uint64_t operand = module->operands[instruction->operands.first + i];
        uint8_t misses = 0;
        if (operand < first || operand >= user) continue;
        double whole = bytes_of(module, module->instructions[operand].shape, &misses);
        double needed = needed_of_operand(module, instruction, kind, i, costs->read[user - first]);
        double *read = &costs->read[operand - first];
        *read = *read + needed < whole ? *read + needed : whole;
    }
}

/* Notes what is written of a result of the computation, and with it what must be read for it. */
static void need_result(struct ids_hlo_costs *costs, struct ids_hlo_range range, uint64_t result, double *bytes,
                        uint8_t *misses) {
    if (result < range.first || result - range.first >= range.count) {
        *misses = 1;
        return;
    }
    uint32_t at = behind_names(costs->module, (uint32_t)result);
    double wrote = written(costs->module, at, misses);
    *bytes += wrote;
    if (at >= range.first && costs->read[at - range.first] < wrote) costs->read[at - range.first] = wrote;
}

/* Sets what a fusion of the computation reads and writes. */
static void count_fused(struct ids_hlo_costs *costs, uint32_t computation, uint8_t *misses) {
    const struct ids_hlo_module *module = costs->module;
    struct ids_hlo_range range = module->computations[computation].instructions;
    uint32_t root = module->computations[computation].root;
    double *bytes = &costs->fused_bytes[computation];
    for (uint32_t i = 0; i < range.count; i++) costs->read[i] = 0;
    if (root != IDS_HLO_NONE && kind_of(module, root) == IDS_COST_TUPLE) {
        struct ids_hlo_range parts = module->instructions[root].operands;
        for (uint32_t i = 0; i < parts.count; i++)
            need_result(costs, range, module->operands[parts.first + i], bytes, misses);
    } else {
        need_result(costs, range, root, bytes, misses);
    }
    for (uint32_t i = range.count; i-- > 0;) {
        if (costs->read[i] > 0) need_operands(costs, range.first, range.first + i);
    }
    for (uint32_t i = 0; i < range.count; i++) {
        const struct ids_hlo_instruction *each = &module->instructions[range.first + i];
        enum ids_cost_kind kind = ids_cost_kind_of(each->opcode);
        int is_table = kind == IDS_COST_CONSTANT && result_elements(module, each) > 1;
        if (kind == IDS_COST_PARAMETER || is_table) *bytes += costs->read[i];
    }
}

/* ---- instructions that call computations ---- */

static struct ids_hlo_cost loop_cost(const struct ids_hlo_costs *costs, const struct ids_hlo_instruction *loop) {
    struct ids_hlo_cost cost = {.flops = 0};
    int64_t trips = loop->loop == IDS_HLO_NONE ? -1 : costs->module->loops[loop->loop].trip_count;
    add(&cost, called_cost(costs, loop, 0), trips < 0 ? 1 : (double)trips);
    add(&cost, called_cost(costs, loop, 1), trips < 0 ? 1 : (double)trips + 1);
    if (trips < 0) cost.misses_flops = cost.misses_bytes = 1;
    return cost;
}

static struct ids_hlo_cost branch_cost(const struct ids_hlo_costs *costs, const struct ids_hlo_instruction *branch) {
    struct ids_hlo_cost most = {.flops = 0};
    for (uint32_t i = 0; i < branch->called.count; i++) {
        const struct ids_hlo_cost *each = called_cost(costs, branch, i);
        if (!i || each->flops > most.flops || (each->flops == most.flops && each->bytes > most.bytes)) most = *each;
    }
    return most;
}

static struct ids_hlo_cost fusion_cost(const struct ids_hlo_costs *costs, const struct ids_hlo_instruction *fusion) {
    struct ids_hlo_cost cost = *called_cost(costs, fusion, 0);
    if (fusion->called.count && !cost.misses_bytes)
        cost.bytes = costs->fused_bytes[costs->module->called[fusion->called.first]];
    return cost;
}

/* Of a library's result what no part of it is: the memory that it may work in, s8[n] or u8[n] behind the result. */
static double scratch_bytes(const struct ids_hlo_module *module, const struct ids_hlo_instruction *call) {
    enum { S8 = 2, U8 = 6 };
    double bytes = 0;
    if (call->shape == IDS_HLO_NONE || module->shapes[call->shape].element != IDS_HLO_TUPLE) return 0;
    uint32_t part = module->shapes[call->shape].first_part;
    for (part = part == IDS_HLO_NONE ? part : module->shapes[part].next_part; part != IDS_HLO_NONE;
         part = module->shapes[part].next_part) {
        const struct ids_hlo_shape *shape = &module->shapes[part];
        int is_scratch = (shape->element == S8 || shape->element == U8) && shape->dimensions.count == 1;
        if (is_scratch && shape->bytes > 0) bytes += (double)shape->bytes;
    }
    return bytes;
}

/* Calls of a library are known by name; others may hold anything. */
static void count_custom(struct ids_hlo_costs *costs, const struct ids_hlo_instruction *call,
                         struct ids_hlo_cost *cost) {
    static const char *const markers[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "AllocateBuffer"};
    struct ids_text target = ids_hlo_call_target(costs->module, call);
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        if (ids_text_is(target, markers[i])) return;
    }
    count_flops(costs, IDS_COST_CUSTOM, call, cost);
    cost->misses_bytes |= cost->misses_flops;
    if (!cost->misses_bytes)
        cost->bytes = own_bytes(costs, IDS_COST_MOVE, call, &cost->misses_bytes) - scratch_bytes(costs->module, call);
}

struct ids_hlo_cost ids_hlo_cost_of(struct ids_hlo_costs *costs, uint32_t index) {
    const struct ids_hlo_instruction *instruction = &costs->module->instructions[index];
    enum ids_cost_kind kind = ids_cost_kind_of(instruction->opcode);
    struct ids_hlo_cost cost = {.flops = 0};
    switch (kind) {
    case IDS_COST_FUSION:
        return fusion_cost(costs, instruction);
    case IDS_COST_CALL:
        return *called_cost(costs, instruction, 0);
    case IDS_COST_WHILE:
        return loop_cost(costs, instruction);
    case IDS_COST_CONDITIONAL:
        return branch_cost(costs, instruction);
    case IDS_COST_CUSTOM:
        count_custom(costs, instruction, &cost);
        return cost;
    default:
        count_flops(costs, kind, instruction, &cost);
        cost.bytes = own_bytes(costs, kind, instruction, &cost.misses_bytes);
        return cost;
    }
}

struct ids_hlo_cost ids_hlo_cost_of_program(const struct ids_hlo_costs *costs) {
    static const struct ids_hlo_cost unknown = {.misses_flops = 1, .misses_bytes = 1};
    uint32_t entry = costs->module->entry;
    return entry == IDS_HLO_NONE ? unknown : costs->of_computation[entry];
}

/* ---- computations ---- */

int ids_hlo_costs_make(const struct ids_hlo_module *module, struct ids_hlo_costs *ret_costs, struct ids_error *err) {
    uint32_t longest = 0;
    *ret_costs = (struct ids_hlo_costs){.module = module};
    for (size_t c = 0; c < module->computation_count; c++) {
        uint32_t count = module->computations[c].instructions.count;
        if (module->computations[c].is_fusion && count > longest) longest = count;
    }
    ret_costs->of_computation = calloc(module->computation_count + 1, sizeof *ret_costs->of_computation);
    ret_costs->fused_bytes = calloc(module->computation_count + 1, sizeof *ret_costs->fused_bytes);
    ret_costs->read = calloc((size_t)longest + 1, sizeof *ret_costs->read);
    if (!ret_costs->of_computation || !ret_costs->fused_bytes || !ret_costs->read) {
        ids_memory_refused();
        return ids_no_memory(err);
    }
    for (uint32_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_computation *computation = &module->computations[c];
        struct ids_hlo_cost *sum = &ret_costs->of_computation[c];
        for (uint32_t i = 0; i < computation->instructions.count; i++) {
            struct ids_hlo_cost cost = ids_hlo_cost_of(ret_costs, computation->instructions.first + i);
            add(sum, &cost, 1);
        }
        sum->misses_flops |= computation->is_cut;
        sum->misses_bytes |= computation->is_cut;
        if (computation->is_fusion) count_fused(ret_costs, c, &sum->misses_bytes);
    }
    return 0;
}

void ids_hlo_costs_done(struct ids_hlo_costs *costs) {
    free(costs->of_computation);
    free(costs->fused_bytes);
    free(costs->read);
    *costs = (struct ids_hlo_costs){0};
}
