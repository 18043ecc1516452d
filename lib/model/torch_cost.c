#include "lib/model/torch_cost.h"

#include "lib/hlo/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- which ops ---- */

enum kind { PRODUCT, CONVOLUTION, TRANSPOSED, BACKWARD, ATTENTION, ATTENTION_BACKWARD };

/* `first`: the place of the first operand; the second one is behind it. Of a convolution `lists`: which of the lists
 * behind the operands are its strides, padding and dilation, from 0. Of an attention `sequence`: the dimension of the
 * sequence; heads and depth have the others. `packed`: where it has sequences of unlike lengths in one, their ends. */
static const struct product {
    const char *op;
    enum kind kind;
    int first, strides, padding, dilation, sequence, packed;
} products[] = {
    {"aten::mm", PRODUCT, .first = 0},
    {"aten::addmm", PRODUCT, .first = 1},
    {"aten::_addmm_activation", PRODUCT, .first = 1},
    {"aten::bmm", PRODUCT, .first = 0},
    {"aten::baddbmm", PRODUCT, .first = 1},
    {"aten::mv", PRODUCT, .first = 0},
    {"aten::addmv", PRODUCT, .first = 1},
    {"aten::addmv_", PRODUCT, .first = 1},
    {"aten::_int_mm", PRODUCT, .first = 0},
    {"aten::_scaled_mm", PRODUCT, .first = 0},
    {"aten::cudnn_convolution", CONVOLUTION, .padding = 0, .strides = 1, .dilation = 2},
    {"aten::miopen_convolution", CONVOLUTION, .padding = 0, .strides = 1, .dilation = 2},
    {"aten::miopen_depthwise_convolution", CONVOLUTION, .padding = 0, .strides = 1, .dilation = 2},
    {"aten::cudnn_convolution_relu", CONVOLUTION, .strides = 0, .padding = 1, .dilation = 2},
    {"aten::cudnn_convolution_add_relu", CONVOLUTION, .strides = 0, .padding = 1, .dilation = 2},
    {"aten::_conv_depthwise2d", CONVOLUTION, .strides = 1, .padding = 2, .dilation = 3},
    {"aten::conv_depthwise3d", CONVOLUTION, .strides = 1, .padding = 2, .dilation = 3},
    {"aten::slow_conv_dilated2d", CONVOLUTION, .strides = 1, .padding = 2, .dilation = 3},
    {"aten::cudnn_convolution_transpose", TRANSPOSED, .first = 0},
    {"aten::miopen_convolution_transpose", TRANSPOSED, .first = 0},
    {"aten::convolution_backward", BACKWARD, .first = 0},
    {"aten::_flash_attention_forward", ATTENTION, .first = 0, .sequence = 1},
    {"aten::_efficient_attention_forward", ATTENTION, .first = 0, .sequence = 1, .packed = 4},
    {"aten::_scaled_dot_product_cudnn_attention", ATTENTION, .first = 0, .sequence = 2},
    {"aten::_cudnn_attention_forward", ATTENTION, .first = 0, .sequence = 2},
    {"flash_attn::_flash_attn_forward", ATTENTION, .first = 0, .sequence = 1},
    {"aten::_flash_attention_backward", ATTENTION_BACKWARD, .first = 1, .sequence = 1},
    {"aten::_efficient_attention_backward", ATTENTION_BACKWARD, .first = 1, .sequence = 1, .packed = 6},
    {"aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION_BACKWARD, .first = 1, .sequence = 2},
    {"aten::_cudnn_attention_backward", ATTENTION_BACKWARD, .first = 1, .sequence = 2},
    {"flash_attn::_flash_attn_backward", ATTENTION_BACKWARD, .first = 1, .sequence = 1},
};
enum { PRODUCTS = sizeof products / sizeof *products };

int ids_torch_product(struct ids_text op) {
    if (!ids_text_begins(op, "aten::") && !ids_text_begins(op, "flash_attn::")) return 0;
    for (int i = 0; i < PRODUCTS; i++) {
        if (ids_text_is(op, products[i].op)) return i + 1;
    }
    return 0;
}

/* ---- Kineto's words ---- */

enum { INPUTS = 12, RANKS = 8 };

struct array {
    double sizes[RANKS];
    int rank; /* 0: it is no tensor, or a scalar; -1: it is not known */
};

struct call {
    struct array arrays[INPUTS];
    int count;
    struct ids_text types[INPUTS], concrete[INPUTS]; /* without their quotes */
    int type_count, concrete_count;
};

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* "[32,3,224,224]" at `at`. Returns what follows. Lists of tensors are no array. */
static const char *read_sizes(const char *at, const char *end, struct array *array) {
    int depth = 0;
    *array = (struct array){.rank = 0};
    for (; at < end; at++) {
        if (*at == '[' && ++depth > 1) array->rank = -1;
        if (*at == ']' && --depth <= 0) return at + 1;
        if (!is_digit(*at)) continue;
        double size = 0;
        for (; at < end && is_digit(*at); at++) size = size * 10 + (*at - '0');
        at--;
        if (array->rank == RANKS) array->rank = -1;
        if (array->rank >= 0) array->sizes[array->rank++] = size;
    }
    return end;
}

static void read_dims(struct ids_text text, struct call *call) {
    const char *at = text.at, *end = text.at + text.length;
    if (at < end && *at == '[') at++;
    while (at < end && call->count < INPUTS) {
        if (*at == '[')
            at = read_sizes(at, end, &call->arrays[call->count++]);
        else
            at++;
    }
}

/* ["float","","[1, 1]"] */
static int read_texts(struct ids_text text, struct ids_text *ret_texts) {
    const char *at = text.at, *end = text.at + text.length;
    int count = 0;
    while (at < end && count < INPUTS) {
        const char *open = memchr(at, '"', (size_t)(end - at));
        const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
        if (!close) break;
        ret_texts[count++] = (struct ids_text){open + 1, (uint32_t)(close - open - 1)};
        at = close + 1;
    }
    return count;
}

static uint32_t element_of(const struct call *call, int input) {
    static const char *const names[][2] = {
        {"float", "f32"},
        {"double", "f64"},
        {"c10::Half", "f16"},
        {"c10::BFloat16", "bf16"},
        {"signed char", "s8"},
        {"unsigned char", "u8"},
        {"c10::complex<float>", "c64"},
        {"c10::complex<double>", "c128"},
        {"c10::Float8_e4m3fn", "f8e4m3fn"},
        {"c10::Float8_e5m2", "f8e5m2"},
        {"c10::Float8_e4m3fnuz", "f8e4m3fnuz"},
        {"c10::Float8_e5m2fnuz", "f8e5m2fnuz"},
    };
    for (size_t i = 0; input < call->type_count && i < sizeof names / sizeof *names; i++) {
        if (ids_text_is(call->types[input], names[i][0]))
            return ids_hlo_element_of((struct ids_text){names[i][1], (uint32_t)strlen(names[i][1])});
    }
    return 0;
}

/* The concrete list of that number among those behind the operands; its rank is 0 where there is none. */
static struct array list_of(const struct call *call, int number) {
    struct array list = {.rank = 0};
    for (int i = 2; i < call->concrete_count; i++) {
        struct ids_text text = call->concrete[i];
        if (!text.length || *text.at != '[' || number--) continue;
        read_sizes(text.at, text.at + text.length, &list);
        break;
    }
    return list;
}

/* ---- costs ---- */

static double elements(const struct array *array) {
    double count = 1;
    for (int i = 0; i < array->rank; i++) count *= array->sizes[i];
    return array->rank < 0 ? 0 : count;
}

static void put_result(struct ids_torch_cost *cost, const struct array *result) {
    size_t used = (size_t)snprintf(cost->shape, sizeof cost->shape, "%s[", ids_hlo_element_name(cost->element));
    for (int i = 0; i < result->rank && used < sizeof cost->shape - 16; i++)
        used += (size_t)snprintf(cost->shape + used, sizeof cost->shape - used, i ? ",%.0f" : "%.0f", result->sizes[i]);
    if (used < sizeof cost->shape - 1) memcpy(cost->shape + used, "]", 2);
}

/* Operations of real numbers, and how many elements are read and written. */
static int put(struct ids_torch_cost *cost, double flops, double moved, const struct array *result) {
    const char *name = ids_hlo_element_name(cost->element);
    cost->flops = flops * (*name == 'c' ? 4 : 1);
    cost->bytes = moved * ids_hlo_element_bits(cost->element) / 8;
    put_result(cost, result);
    return cost->flops > 0 && cost->flops < 9e18 && cost->bytes < 9e18;
}

/* [batch,m,k] and [batch,k,n], with or without a batch, or a vector for n. */
static int product_cost(const struct call *call, const struct product *product, struct ids_torch_cost *cost) {
    const struct array *left = &call->arrays[product->first], *right = left + 1,
                       *added = product->first ? left - 1 : NULL;
    int rank = left->rank, is_vector = right->rank == rank - 1;
    struct array result = *left;
    if (rank < 2 || rank > 3 || (right->rank != rank && !is_vector)) return 0;
    double width = left->sizes[rank - 1];
    if (right->sizes[is_vector ? right->rank - 1 : rank - 2] != width) return 0;
    result.sizes[rank - 1] = is_vector ? 1 : right->sizes[rank - 1];
    result.rank -= is_vector;
    double moved = elements(left) + elements(right) + elements(&result);
    if (added && added->rank > 0) moved += elements(added);
    return put(cost, 2 * elements(&result) * width, moved, &result);
}

/* The size of the result in one dimension of the window. */
static double places(double input, double kernel, double stride, double padding, double dilation) {
    double room = input + 2 * padding - dilation * (kernel - 1) - 1;
    return stride > 0 && room >= 0 ? floor(room / stride) + 1 : 0;
}

static double in_dimension(const struct array *list, int dimension) {
    return list->rank == 1 ? list->sizes[0] : list->sizes[dimension];
}

/* Input [batch,features,...] and kernel [output features,input features of a group,...]. */
static int convolution_cost(const struct call *call, const struct product *product, struct ids_torch_cost *cost) {
    const struct array *input = &call->arrays[0], *kernel = &call->arrays[1];
    struct array strides = list_of(call, product->strides), padding = list_of(call, product->padding);
    struct array dilation = list_of(call, product->dilation), result = *input;
    int windows = input->rank - 2;
    if (windows < 1 || kernel->rank != input->rank) return 0;
    const struct array *const lists[] = {&strides, &padding, &dilation};
    for (int i = 0; i < 3; i++) {
        if (lists[i]->rank != windows && lists[i]->rank != 1) return 0;
    }
    result.sizes[1] = kernel->sizes[0];
    for (int i = 0; i < windows; i++)
        result.sizes[2 + i] = places(input->sizes[2 + i], kernel->sizes[2 + i], in_dimension(&strides, i),
                                     in_dimension(&padding, i), in_dimension(&dilation, i));
    if (kernel->sizes[0] <= 0) return 0;
    double flops = 2 * elements(&result) * elements(kernel) / kernel->sizes[0];
    return put(cost, flops, elements(input) + elements(kernel) + elements(&result), &result);
}

/* Each element of the input is multiplied with the kernel of its feature: [input features,output features,...]. What
 * is read of the result is at most what is computed, so the result counts as large as the strides make it. */
static int transposed_cost(const struct call *call, struct ids_torch_cost *cost) {
    const struct array *input = &call->arrays[0], *kernel = &call->arrays[1];
    struct array strides = list_of(call, 2), result = *input;
    if (input->rank < 3 || kernel->rank != input->rank || strides.rank != input->rank - 2 || kernel->sizes[0] <= 0)
        return 0;
    result.sizes[1] = kernel->sizes[1];
    for (int i = 0; i < strides.rank; i++) result.sizes[2 + i] = input->sizes[2 + i] * strides.sizes[i];
    double flops = 2 * elements(input) * elements(kernel) / kernel->sizes[0];
    return put(cost, flops, elements(input) + elements(kernel) + elements(&result), &result);
}

/* Both gradients take what the forward pass takes; which of them are wanted is the last list, [True, True, False]. */
static int convolution_backward_cost(const struct call *call, struct ids_torch_cost *cost) {
    enum { TRANSPOSED_AT = 7, WANTED_AT = 10 };
    const struct array *gradient = &call->arrays[0], *input = &call->arrays[1], *kernel = &call->arrays[2];
    if (call->concrete_count <= WANTED_AT || kernel->rank < 3 || kernel->sizes[0] <= 0) return 0;
    struct ids_text wanted = call->concrete[WANTED_AT];
    const char *comma = wanted.length ? memchr(wanted.at, ',', wanted.length) : NULL;
    if (!comma || gradient->rank != kernel->rank || input->rank != kernel->rank) return 0;
    struct ids_text first = {wanted.at, (uint32_t)(comma - wanted.at)};
    const char *next = memchr(comma + 1, ',', (size_t)(wanted.at + wanted.length - comma - 1));
    struct ids_text second = {comma, (uint32_t)((next ? next : wanted.at + wanted.length) - comma)};
    int of_input = ids_text_contains(first, "True"), of_kernel = ids_text_contains(second, "True");
    const struct array *moves = ids_text_is(call->concrete[TRANSPOSED_AT], "True") ? input : gradient;
    double one = 2 * elements(moves) * elements(kernel) / kernel->sizes[0];
    double moved = (of_input + of_kernel) * (elements(gradient) + elements(input) + elements(kernel));
    return put(cost, (of_input + of_kernel) * one, moved, of_input ? input : kernel);
}

/* Two products forward, five backward, over [batch, queries, keys] of each head. */
static int attention_cost(const struct call *call, const struct product *product, struct ids_torch_cost *cost) {
    const struct array *queries = &call->arrays[product->first], *keys = queries + 1, *values = queries + 2;
    int is_backward = product->kind == ATTENTION_BACKWARD;
    if (queries->rank != 4 || keys->rank != 4 || values->rank != 4 || queries->sizes[3] <= 0) return 0;
    if (product->packed && call->arrays[product->packed].rank) return 0;
    struct array result = *queries;
    result.sizes[3] = values->sizes[3];
    double with_keys = elements(queries) * keys->sizes[product->sequence];
    double with_values = elements(&result) * keys->sizes[product->sequence];
    double flops = is_backward ? 6 * with_keys + 4 * with_values : 2 * with_keys + 2 * with_values;
    double moved = elements(queries) + elements(keys) + elements(values) + elements(&result);
    return put(cost, flops, is_backward ? 2 * moved : moved, &result);
}

int ids_torch_cost_of(int product, struct ids_text dims, struct ids_text types, struct ids_text concrete,
                      struct ids_torch_cost *ret_cost) {
    struct call call = {.count = 0};
    const struct product *of = product > 0 && product <= PRODUCTS ? &products[product - 1] : NULL;
    *ret_cost = (struct ids_torch_cost){.flops = 0};
    if (!of || !dims.length) return 0;
    read_dims(dims, &call);
    call.type_count = read_texts(types, call.types);
    call.concrete_count = read_texts(concrete, call.concrete);
    ret_cost->element = (uint8_t)element_of(&call, of->first);
    if (!ret_cost->element) return 0;
    switch (of->kind) {
    case PRODUCT:
        return product_cost(&call, of, ret_cost);
    case CONVOLUTION:
        return convolution_cost(&call, of, ret_cost);
    case TRANSPOSED:
        return transposed_cost(&call, ret_cost);
    case BACKWARD:
        return convolution_backward_cost(&call, ret_cost);
    default:
        return attention_cost(&call, of, ret_cost);
    }
}
