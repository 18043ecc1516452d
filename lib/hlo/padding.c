#include "lib/hlo/padding.h"

#include "lib/base/saturate.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/cost_matrix.h"
#include "lib/hlo/element.h"
#include "lib/wire/pb_wire.h"

#include <math.h>

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static int64_t size_of(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape, uint32_t dimension) {
    return module->numbers[shape->dimensions.first + dimension];
}

/* Of the dimensions from `from` to before `to`. */
static double sizes_of(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape, uint32_t from,
                       uint32_t to) {
    double product = 1;
    for (uint32_t d = from; d < to; d++) product *= (double)size_of(module, shape, d);
    return product;
}

/* The dimension that varies fastest; without a layout the last one. */
static uint32_t fastest_of(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape) {
    const struct ids_hlo_layout *layout = shape->layout == IDS_HLO_NONE ? NULL : &module->layouts[shape->layout];
    uint32_t rank = shape->dimensions.count;
    if (!layout || !layout->minor_to_major.count) return rank - 1;
    int64_t fastest = module->numbers[layout->minor_to_major.first];
    return fastest >= 0 && fastest < rank ? (uint32_t)fastest : rank - 1;
}

static struct ids_hlo_product of_sizes(double rows, double columns, double depth) {
    static const struct ids_hlo_product none = {0, 0, 0};
    enum { MOST = 1 << 30 };
    double least = rows < columns ? rows : columns, most = rows < columns ? columns : rows;
    if (!(least >= 1 && depth >= 1 && most <= MOST && depth <= MOST)) return none;
    return (struct ids_hlo_product){llround(rows), llround(columns), llround(ceil(depth))};
}

/* --- dots --------------------------------------------------------------------------------------------------------- */

/* How many numbers a repeated field has, packed or not. */
static uint32_t count_of(const struct ids_hlo_attribute *message, unsigned number) {
    const uint8_t *bytes = (const uint8_t *)message->bytes;
    struct ids_pb all = {bytes, bytes + message->length};
    struct ids_pb_field field;
    uint64_t unused;
    uint32_t count = 0;
    while (ids_pb_next(&all, &field) > 0) {
        if (field.number != number) continue;
        if (field.wire == IDS_PB_VARINT) count++;
        if (field.wire != IDS_PB_BYTES) continue;
        struct ids_pb packed = {field.bytes, field.bytes + field.value};
        while (packed.at < packed.end && ids_pb_varint(&packed, &unused) == 1) count++;
    }
    return count;
}

/* A result has the dimensions of the batch first, then those that are the left operand's alone, then the right's. */
static struct ids_hlo_product of_dot(const struct ids_hlo_module *module, const struct ids_hlo_instruction *dot) {
    static const struct ids_hlo_product none = {0, 0, 0};
    const struct ids_hlo_shape *left = ids_hlo_array_of(module, ids_hlo_operand_shape(module, dot, 0)),
                               *result = ids_hlo_array_of(module, dot->shape);
    const struct ids_hlo_attribute *numbers = ids_hlo_attribute_of(module, dot, HLO_INSTRUCTION_DOT_DIMENSIONS);
    double flops = ids_hlo_dot_flops(module, dot);
    if (!left || !result || !(flops > 0) || !numbers || !numbers->is_bytes) return none;
    uint32_t rank = result->dimensions.count, batch = count_of(numbers, HLO_DOT_LEFT_BATCH),
             contracted = count_of(numbers, HLO_DOT_LEFT_CONTRACTING);
    if (!rank || left->dimensions.count < batch + contracted) return none;
    uint32_t middle = left->dimensions.count - contracted, fastest = fastest_of(module, result);
    if (middle > rank || fastest < batch) return none;
    double lefts = sizes_of(module, result, batch, middle), rights = sizes_of(module, result, middle, rank);
    double depth = flops / 2 / ids_hlo_elements(module, result);
    return fastest < middle ? of_sizes(rights, lefts, depth) : of_sizes(lefts, rights, depth);
}

/* --- convolutions ------------------------------------------------------------------------------------------------- */

static uint64_t number_in(const struct ids_hlo_attribute *message, unsigned number) {
    const uint8_t *bytes = (const uint8_t *)message->bytes;
    struct ids_pb all = {bytes, bytes + message->length};
    struct ids_pb_field field;
    uint64_t value = 0;
    while (ids_pb_next(&all, &field) > 0) {
        if (field.number == number && field.wire == IDS_PB_VARINT) value = field.value;
    }
    return value;
}

/* Features of the kernel at all of its places; at borders less is multiplied. On a TPU a product of many matrices is a
 * convolution too, of which most places are outside: there what is multiplied counts. */
static double depth_of(const struct ids_hlo_module *module, const struct ids_hlo_shape *kernel,
                       const struct ids_hlo_attribute *numbers, double multiplied) {
    uint64_t feature = number_in(numbers, HLO_CONVOLUTION_KERNEL_OUTPUT_FEATURE);
    if (feature >= kernel->dimensions.count) return multiplied;
    double outputs = (double)size_of(module, kernel, (uint32_t)feature);
    double all = outputs > 0 ? ids_hlo_elements(module, kernel) / outputs : 0;
    return multiplied > 0.75 * all && multiplied <= all ? all : multiplied;
}

/* The size of one of an array's dimensions, which a field of the message names; -1 there is no such one. */
static int64_t size_named(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape,
                          const struct ids_hlo_attribute *numbers, unsigned field) {
    uint64_t dimension = number_in(numbers, field);
    return dimension < shape->dimensions.count ? size_of(module, shape, (uint32_t)dimension) : -1;
}

/* Groups, of features or of the batch, are products of their own. */
static int has_groups(const struct ids_hlo_module *module, const struct ids_hlo_shape *input,
                      const struct ids_hlo_shape *kernel, const struct ids_hlo_shape *result,
                      const struct ids_hlo_attribute *numbers) {
    return size_named(module, input, numbers, HLO_CONVOLUTION_INPUT_FEATURE) !=
               size_named(module, kernel, numbers, HLO_CONVOLUTION_KERNEL_INPUT_FEATURE) ||
           size_named(module, input, numbers, HLO_CONVOLUTION_INPUT_BATCH) !=
               size_named(module, result, numbers, HLO_CONVOLUTION_OUTPUT_BATCH);
}

static struct ids_hlo_product of_convolution(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of,
                                             uint64_t *effort) {
    static const struct ids_hlo_product none = {0, 0, 0};
    const struct ids_hlo_shape *input = ids_hlo_array_of(module, ids_hlo_operand_shape(module, of, 0)),
                               *kernel = ids_hlo_array_of(module, ids_hlo_operand_shape(module, of, 1)),
                               *result = ids_hlo_array_of(module, of->shape);
    const struct ids_hlo_attribute *numbers = ids_hlo_attribute_of(module, of, HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS);
    double flops = ids_hlo_convolution_flops(module, of, effort);
    if (!input || !kernel || !result || !numbers || !numbers->is_bytes || !(flops > 0)) return none;
    if (!result->dimensions.count || has_groups(module, input, kernel, result, numbers)) return none;
    uint32_t fastest = fastest_of(module, result);
    if (fastest != number_in(numbers, HLO_CONVOLUTION_OUTPUT_FEATURE) &&
        fastest != number_in(numbers, HLO_CONVOLUTION_OUTPUT_BATCH))
        return none;
    double elements = ids_hlo_elements(module, result), columns = (double)size_of(module, result, fastest);
    return of_sizes(elements / columns, columns, depth_of(module, kernel, numbers, flops / 2 / elements));
}

/* --- libraries ---------------------------------------------------------------------------------------------------- */

/* The last two dimensions of the result, in the order in which they vary. */
static struct ids_hlo_product of_library(const struct ids_hlo_module *module, const struct ids_hlo_instruction *call,
                                         uint64_t *effort) {
    static const struct ids_hlo_product none = {0, 0, 0};
    const struct ids_hlo_shape *result = ids_hlo_array_of(module, call->shape);
    struct ids_text target = ids_hlo_call_target(module, call);
    if (!result || result->dimensions.count < 2 ||
        !(ids_text_begins(target, "__cublas$") || ids_text_begins(target, "__onednn$matmul")))
        return none;
    double flops = ids_hlo_library_flops(module, call, effort);
    uint32_t rank = result->dimensions.count, columns = fastest_of(module, result);
    if (!(flops > 0) || columns < rank - 2) return none;
    uint32_t rows = columns == rank - 1 ? rank - 2 : rank - 1;
    return of_sizes((double)size_of(module, result, rows), (double)size_of(module, result, columns),
                    flops / 2 / ids_hlo_elements(module, result));
}

static struct ids_hlo_product of_one(const struct ids_hlo_module *module, const struct ids_hlo_instruction *of,
                                     uint64_t *effort) {
    static const struct ids_hlo_product none = {0, 0, 0};
    if (ids_text_is(of->opcode, "dot")) return of_dot(module, of);
    if (ids_text_is(of->opcode, "convolution")) return of_convolution(module, of, effort);
    return ids_text_is(of->opcode, "custom-call") ? of_library(module, of, effort) : none;
}

struct ids_hlo_product ids_hlo_product_of(const struct ids_hlo_module *module, uint32_t instruction, uint64_t *effort) {
    const struct ids_hlo_instruction *of = &module->instructions[instruction];
    struct ids_hlo_product most = {0, 0, 0};
    double most_multiplied = 0;
    if (!ids_text_is(of->opcode, "fusion")) return of_one(module, of, effort);
    uint64_t inside = of->called.count ? module->called[of->called.first] : UINT64_MAX;
    if (inside >= module->computation_count) return most;
    const struct ids_hlo_range *range = &module->computations[inside].instructions;
    *effort += range->count;
    for (uint32_t i = range->first; i < range->first + range->count && *effort < IDS_HLO_EFFORT_LIMIT; i++) {
        struct ids_hlo_product product = of_one(module, &module->instructions[i], effort);
        const struct ids_hlo_shape *result = ids_hlo_array_of(module, module->instructions[i].shape);
        double multiplied = (double)product.depth * ids_hlo_elements(module, result);
        if (multiplied > most_multiplied) most_multiplied = multiplied, most = product;
    }
    return most;
}

/* --- tiles -------------------------------------------------------------------------------------------------------- */

/* Adds an array with what its first tile adds; the tiles behind it divide that one. 0: it is not known. */
static int add_array(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape,
                     struct ids_hlo_tiled *tiled, int *has_tiles) {
    const struct ids_hlo_layout *layout = shape->layout == IDS_HLO_NONE ? NULL : &module->layouts[shape->layout];
    uint32_t rank = shape->dimensions.count;
    if (shape->bytes < 0) return 0;
    double elements = ids_hlo_elements(module, shape), filled = 1;
    ids_sum(&tiled->bytes, shape->bytes);
    if (!layout || !layout->tiles.count || !(elements > 0)) {
        ids_sum(&tiled->tiled, shape->bytes);
        return 1;
    }
    const struct ids_hlo_range *tile = &module->tiles[layout->tiles.first];
    if (layout->minor_to_major.count != rank || tile->count > rank) return 0;
    for (uint32_t place = 0; place < rank; place++) {
        int64_t dimension = module->numbers[layout->minor_to_major.first + place];
        if (dimension < 0 || dimension >= rank) return 0;
        int64_t size = size_of(module, shape, (uint32_t)dimension);
        int64_t width = place < tile->count ? module->numbers[tile->first + tile->count - 1 - place] : 1;
        if (width <= 0 || size <= 0) return 0;
        filled *= ceil((double)size / (double)width) * (double)width;
    }
    double bytes = (double)shape->bytes * (filled / elements);
    if (!(bytes < 9e18)) return 0;
    ids_sum(&tiled->tiled, llround(bytes));
    *has_tiles = 1;
    return 1;
}

static int add_shape(const struct ids_hlo_module *module, uint32_t shape, struct ids_hlo_tiled *tiled, int *has_tiles) {
    if (shape == IDS_HLO_NONE) return 0;
    uint32_t part = module->shapes[shape].first_part;
    if (part == IDS_HLO_NONE) return add_array(module, &module->shapes[shape], tiled, has_tiles);
    for (; part != IDS_HLO_NONE; part = module->shapes[part].next_part) {
        if (module->shapes[part].first_part != IDS_HLO_NONE) return 0;
        if (!add_array(module, &module->shapes[part], tiled, has_tiles)) return 0;
    }
    return 1;
}

struct ids_hlo_tiled ids_hlo_tiled_of(const struct ids_hlo_module *module, uint32_t instruction) {
    static const struct ids_hlo_tiled none = {0, 0};
    const struct ids_hlo_instruction *of = &module->instructions[instruction];
    struct ids_hlo_tiled tiled = none;
    int has_tiles = 0;
    if (!add_shape(module, of->shape, &tiled, &has_tiles)) return none;
    for (uint32_t o = 0; o < of->operands.count; o++) {
        if (!add_shape(module, ids_hlo_operand_shape(module, of, o), &tiled, &has_tiles)) return none;
    }
    return has_tiles ? tiled : none;
}
