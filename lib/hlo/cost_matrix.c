#include "lib/hlo/cost_matrix.h"

#include "lib/fields/hlo.h"
#include "lib/hlo/element.h"
#include "lib/wire/pb_wire.h"

#include <math.h>

enum { MAX_DIMENSIONS = 16, MAX_KERNEL = 1 << 16 };

/* ---- shapes ---- */

const struct ids_hlo_shape *ids_hlo_array_of(const struct ids_hlo_module *module, uint32_t shape) {
    for (int depth = 0; shape != IDS_HLO_NONE && depth <= IDS_HLO_SHAPE_DEPTH; depth++) {
        if (module->shapes[shape].element != IDS_HLO_TUPLE) return &module->shapes[shape];
        shape = module->shapes[shape].first_part;
    }
    return NULL;
}

double ids_hlo_elements(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape) {
    double elements = 1;
    if (!shape) return 0;
    for (uint32_t i = 0; i < shape->dimensions.count; i++) {
        int64_t size = module->numbers[shape->dimensions.first + i];
        elements *= size > 0 ? (double)size : 0;
    }
    return elements;
}

uint32_t ids_hlo_operand_shape(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                               uint32_t operand) {
    if (operand >= instruction->operands.count) return IDS_HLO_NONE;
    uint64_t index = module->operands[instruction->operands.first + operand];
    return index == IDS_HLO_NONE ? IDS_HLO_NONE : module->instructions[index].shape;
}

static const struct ids_hlo_shape *operand_array(const struct ids_hlo_module *module,
                                                 const struct ids_hlo_instruction *instruction, uint32_t operand) {
    return ids_hlo_array_of(module, ids_hlo_operand_shape(module, instruction, operand));
}

/* Its size in a dimension; -1 when it has no such one. */
static int64_t size_in(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape, int64_t dimension) {
    if (!shape || dimension < 0 || dimension >= shape->dimensions.count) return -1;
    return module->numbers[shape->dimensions.first + dimension];
}

/* ---- messages ---- */

struct list {
    int64_t at[MAX_DIMENSIONS];
    int count; /* above MAX_DIMENSIONS: not all are in it */
};

static void put_number(struct list *list, uint64_t number) {
    if (list->count < MAX_DIMENSIONS) list->at[list->count] = (int64_t)number;
    list->count++;
}

/* Of a repeated number, packed or not. */
static void read_list(const struct ids_pb_field *field, struct list *list) {
    uint64_t number;
    if (field->wire == IDS_PB_VARINT) put_number(list, field->value);
    if (field->wire != IDS_PB_BYTES) return;
    struct ids_pb packed = {field->bytes, field->bytes + field->value};
    while (packed.at < packed.end && ids_pb_varint(&packed, &number) == 1) put_number(list, number);
}

static struct ids_pb message_of(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                                unsigned field) {
    const struct ids_hlo_attribute *attribute = ids_hlo_attribute_of(module, instruction, field);
    if (!attribute || !attribute->is_bytes) return (struct ids_pb){NULL, NULL};
    const uint8_t *bytes = (const uint8_t *)attribute->bytes;
    return (struct ids_pb){bytes, bytes + attribute->length};
}

/* ---- dots ---- */

double ids_hlo_dot_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *dot) {
    const struct ids_hlo_shape *left = operand_array(module, dot, 0), *result = ids_hlo_array_of(module, dot->shape);
    struct ids_pb numbers = message_of(module, dot, HLO_INSTRUCTION_DOT_DIMENSIONS);
    struct list contracting = {.count = 0};
    struct ids_pb_field field;
    double width = 1;
    if (!left || !result) return -1;
    while (ids_pb_next(&numbers, &field) > 0) {
        if (field.number == HLO_DOT_LEFT_CONTRACTING) read_list(&field, &contracting);
    }
    for (int i = 0; i < contracting.count; i++) {
        int64_t size = i < MAX_DIMENSIONS ? size_in(module, left, contracting.at[i]) : -1;
        if (size < 0) return -1;
        width *= (double)size;
    }
    return 2 * ids_hlo_elements(module, result) * width;
}

static int has_size(const struct ids_hlo_module *module, const struct ids_hlo_shape *shape, double size) {
    for (uint32_t i = 0; i < shape->dimensions.count; i++) {
        if ((double)module->numbers[shape->dimensions.first + i] == size) return 1;
    }
    return 0;
}

/* A library's product of matrices: of [batch,m,k] and [batch,k,n], in any order of the last two, comes [batch,m,n]. So
 * k follows from the sizes, and is one of the dimensions. Some have no batch on the right. */
static double product_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *call) {
    const struct ids_hlo_shape *left = operand_array(module, call, 0), *right = operand_array(module, call, 1);
    const struct ids_hlo_shape *result = ids_hlo_array_of(module, call->shape);
    double batch = 1, elements = ids_hlo_elements(module, result);
    if (!left || !right || !result || !(elements > 0)) return -1;
    for (uint32_t i = 0; i + 2 < result->dimensions.count; i++) batch *= (double)size_in(module, result, i);
    double square = ids_hlo_elements(module, left) * ids_hlo_elements(module, right) / elements;
    const double batches[] = {batch, 1};
    for (int i = 0; i < 2; i++) {
        double width = round(sqrt(square / batches[i]));
        if (width * width * batches[i] == square && has_size(module, left, width) && has_size(module, right, width))
            return 2 * elements * width;
    }
    return -1;
}

/* ---- convolutions ---- */

struct window {
    int64_t stride, low, dilation, base_dilation;
};

struct convolution {
    struct window window[MAX_DIMENSIONS];
    int windows;
    int64_t kernel_input_feature, output_batch, output_feature;
    struct list kernel, input, output; /* the spatial dimensions */
};

static struct window read_window(struct ids_pb bytes) {
    struct window window = {.stride = 1, .dilation = 1, .base_dilation = 1};
    struct ids_pb_field field;
    while (ids_pb_next(&bytes, &field) > 0) {
        if (field.wire != IDS_PB_VARINT) continue;
        int64_t value = (int64_t)field.value;
        if (field.number == HLO_WINDOW_STRIDE && value > 0) window.stride = value;
        if (field.number == HLO_WINDOW_PADDING_LOW) window.low = value;
        if (field.number == HLO_WINDOW_DILATION && value > 0) window.dilation = value;
        if (field.number == HLO_WINDOW_BASE_DILATION && value > 0) window.base_dilation = value;
    }
    return window;
}

static void read_dimensions(struct ids_pb numbers, struct convolution *to) {
    struct ids_pb_field field;
    while (ids_pb_next(&numbers, &field) > 0) {
        if (field.number == HLO_CONVOLUTION_KERNEL_INPUT_FEATURE) to->kernel_input_feature = (int64_t)field.value;
        if (field.number == HLO_CONVOLUTION_OUTPUT_BATCH) to->output_batch = (int64_t)field.value;
        if (field.number == HLO_CONVOLUTION_OUTPUT_FEATURE) to->output_feature = (int64_t)field.value;
        if (field.number == HLO_CONVOLUTION_KERNEL_SPATIAL) read_list(&field, &to->kernel);
        if (field.number == HLO_CONVOLUTION_INPUT_SPATIAL) read_list(&field, &to->input);
        if (field.number == HLO_CONVOLUTION_OUTPUT_SPATIAL) read_list(&field, &to->output);
    }
}

static int read_convolution(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                            struct convolution *ret) {
    struct ids_pb windows = message_of(module, instruction, HLO_INSTRUCTION_WINDOW);
    struct ids_pb_field field;
    *ret = (struct convolution){.windows = 0};
    read_dimensions(message_of(module, instruction, HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS), ret);
    while (ids_pb_next(&windows, &field) > 0) {
        if (field.number != HLO_WINDOW_DIMENSIONS || field.wire != IDS_PB_BYTES) continue;
        if (ret->windows == MAX_DIMENSIONS) return 0;
        ret->window[ret->windows++] = read_window((struct ids_pb){field.bytes, field.bytes + field.value});
    }
    return ret->kernel.count == ret->windows && ret->input.count == ret->windows && ret->output.count == ret->windows;
}

static __int128 divide_up(__int128 a, __int128 b) {
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/* Of the places 0 to count - 1 of a window's element that moves by `stride` from `from`, those inside 0 to size - 1 of
 * a base that has a value at each multiple of `dilation`. */
static double places_inside(__int128 from, int64_t stride, int64_t count, int64_t size, int64_t dilation) {
    __int128 last = ((__int128)size - 1) * dilation;
    __int128 first = divide_up(-from, stride), end = divide_up(last - from + 1, stride);
    if (first < 0) first = 0;
    if (end > count) end = count;
    if (first >= end) return 0;
    if (dilation == 1) return (double)(end - first);
    /* from + i * stride is a multiple of the dilation for every `period`-th i. */
    int64_t a = stride % dilation, b = dilation, period = dilation;
    while (a) {
        int64_t rest = b % a;
        b = a;
        a = rest;
    }
    period /= b;
    for (int64_t i = 0; i < period && first < end; i++, first++) {
        if ((from + first * stride) % dilation == 0) return (double)divide_up(end - first, period);
    }
    return 0;
}

/* Positions of the kernel over the output at which the input has a value; negative: too many to count. */
static double positions(const struct window *window, int64_t kernel, int64_t input, int64_t output, uint64_t *effort) {
    double count = 0;
    int64_t each = window->base_dilation;
    if (kernel < 0 || input < 0 || output < 0 || kernel > MAX_KERNEL || each > MAX_KERNEL) return -1;
    *effort += (uint64_t)kernel * (uint64_t)each;
    if (*effort > IDS_HLO_EFFORT_LIMIT) return -1;
    for (int64_t k = 0; k < kernel; k++)
        count += places_inside((__int128)k * window->dilation - window->low, window->stride, output, input,
                               window->base_dilation);
    return count;
}

static double convolved(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                        const struct ids_hlo_shape *input, const struct ids_hlo_shape *kernel,
                        const struct ids_hlo_shape *output, uint64_t *effort) {
    struct convolution numbers;
    if (!read_convolution(module, instruction, &numbers)) return -1;
    int64_t features = size_in(module, kernel, numbers.kernel_input_feature);
    int64_t batch = size_in(module, output, numbers.output_batch);
    int64_t output_features = size_in(module, output, numbers.output_feature);
    if (features < 0 || batch < 0 || output_features < 0) return -1;
    double flops = 2 * (double)features * (double)batch * (double)output_features;
    for (int i = 0; i < numbers.windows; i++) {
        double count = positions(&numbers.window[i], size_in(module, kernel, numbers.kernel.at[i]),
                                 size_in(module, input, numbers.input.at[i]),
                                 size_in(module, output, numbers.output.at[i]), effort);
        if (count < 0) return -1;
        flops *= count;
    }
    return flops;
}

double ids_hlo_convolution_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *convolution,
                                 uint64_t *effort) {
    return convolved(module, convolution, operand_array(module, convolution, 0), operand_array(module, convolution, 1),
                     ids_hlo_array_of(module, convolution->shape), effort);
}

/* ---- attention ---- */

int ids_hlo_is_causal(struct ids_text config) {
    static const char *const causal[] = {"mask_type = 2", "mask_type = 3", "mask_type = 4",
                                         "mask_type = 5", "\"CAUSAL\"",    "\"PADDING_CAUSAL\""};
    enum { LONGEST = 16 << 10 }; /* on a TPU whole kernels stand there */
    for (size_t i = 0; i < sizeof causal / sizeof *causal && config.length <= LONGEST; i++) {
        if (ids_text_contains(config, causal[i])) return 1;
    }
    return 0;
}

/* The part of queries x keys that is computed: of a causal mask the triangle with its diagonal, from the top left, or
 * where there are more keys than queries from the bottom right. */
static double part_seen(double queries, double keys, int causal) {
    double least = queries < keys ? queries : keys;
    if (!causal || !(queries > 0) || !(keys > 0)) return 1;
    return (least * (least + 1) / 2 + (queries - least) * keys) / (queries * keys);
}

/* Two products of [heads, queries, keys] with the depth of a head forward, and five backward; without what a causal
 * mask leaves out, and with what padding does, which no program tells. Queries are [batch, sequence, heads, depth], or
 * have keys and values in the same array. */
static double attention_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *call,
                              int is_backward) {
    const struct ids_hlo_shape *queries = operand_array(module, call, 0), *keys = operand_array(module, call, 1);
    uint32_t rank = queries ? queries->dimensions.count : 0;
    if (rank != 4 && (rank != 5 || size_in(module, queries, 2) != 3)) return -1;
    if (rank == 5) keys = queries;
    if (!keys || keys->dimensions.count < 4) return -1;
    double elements = ids_hlo_elements(module, queries) / (rank == 5 ? 3 : 1);
    /* cuDNN has the heads first where its configuration, which is not read, says so. There are fewer of them. */
    int64_t one = size_in(module, keys, 1), other = keys->dimensions.count == 4 ? size_in(module, keys, 2) : 0;
    double length = (double)(one > other ? one : other);
    int64_t rows = size_in(module, queries, 1), others = rank == 4 ? size_in(module, queries, 2) : 0;
    double seen = part_seen((double)(rows > others ? rows : others), length, call->is_causal);
    return (is_backward ? 10 : 4) * elements * length * seen;
}

/* ---- libraries ---- */

double ids_hlo_library_flops(const struct ids_hlo_module *module, const struct ids_hlo_instruction *call,
                             uint64_t *effort) {
    struct ids_text target = ids_hlo_call_target(module, call);
    const struct ids_hlo_shape *first = operand_array(module, call, 0), *second = operand_array(module, call, 1);
    const struct ids_hlo_shape *result = ids_hlo_array_of(module, call->shape);
    if (ids_text_begins(target, "__cublas$") || ids_text_begins(target, "__onednn$matmul"))
        return product_flops(module, call);
    if (ids_text_begins(target, "__cudnn$convBackwardInput"))
        return convolved(module, call, result, second, first, effort);
    if (ids_text_begins(target, "__cudnn$convBackwardFilter"))
        return convolved(module, call, first, result, second, effort);
    if (ids_text_begins(target, "__cudnn$conv")) return convolved(module, call, first, second, result, effort);
    if (ids_text_begins(target, "__cudnn$fmha"))
        return attention_flops(module, call, ids_text_contains(target, "Backward"));
    if (ids_text_begins(target, "te_fused_attn_forward")) return attention_flops(module, call, 0);
    if (ids_text_begins(target, "te_fused_attn_backward")) return attention_flops(module, call, 1);
    return -1;
}
