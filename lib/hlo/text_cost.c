#include "lib/hlo/text_cost.h"

#include "lib/hlo/element.h"
#include "lib/hlo/op_text.h"

enum { MAX_RANK = 8, HOST_MEMORY = 5 };

struct array {
    double sizes[MAX_RANK];
    int rank; /* above MAX_RANK: not all sizes are there */
    uint32_t element;
    int64_t memory_space;
    double bytes;
};

static int is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* "{1,0:T(8,128)(2,1)S(1)}" */
static const char *read_layout(const char *at, const char *end, struct array *array) {
    for (; at < end && *at != '}'; at++) {
        if (at + 2 < end && at[0] == 'S' && at[1] == '(' && at[2] >= '0' && at[2] <= '9')
            array->memory_space = at[2] - '0';
    }
    return at < end ? at + 1 : at;
}

/* Reads "bf16[1024,5120]{1,0:T(8,128)S(1)}" at `at`. Returns what follows, NULL where there is no array. */
static const char *read_array(const char *at, const char *end, struct array *ret) {
    const char *type = at;
    double count = 1, size = 0;
    int digits = 0;
    while (at < end && is_letter(*at)) at++;
    if (at == type || at == end || *at != '[') return NULL;
    struct ids_text name = {type, (uint32_t)(at - type)};
    *ret = (struct array){.element = ids_hlo_element_of(name)};
    for (at++; at < end; at++) {
        if (*at >= '0' && *at <= '9') {
            size = size * 10 + (*at - '0');
            digits = 1;
            continue;
        }
        if (digits) {
            count *= size;
            if (ret->rank < MAX_RANK) ret->sizes[ret->rank] = size;
            ret->rank++;
        }
        size = 0;
        digits = 0;
        if (*at == ']') break;
    }
    if (at == end) return NULL;
    at++;
    int bits = ids_hlo_element_bits_named(name);
    ret->bytes = bits > 0 ? count * bits / 8 : 0;
    return at < end && *at == '{' ? read_layout(at, end, ret) : at;
}

static void add(struct ids_hlo_text_cost *cost, const struct array *array) {
    if (array->memory_space == 0) cost->main_bytes += array->bytes;
    if (array->memory_space != 0 && array->memory_space != HOST_MEMORY) cost->on_chip_bytes += array->bytes;
}

/* "(to, from, context) copy-start(...)", "((from), to, context) async-start(...)" of a slice: what the smaller one of
 * the two holds is read from one of them and written to the other. */
static double copied_by(const struct array pair[2]) {
    double bytes = pair[0].bytes < pair[1].bytes ? pair[0].bytes : pair[1].bytes;
    return bytes * ((pair[0].memory_space == 0) + (pair[1].memory_space == 0));
}

/* [m,k] and [k,n] or [n,k] give [m,n]. */
static double product_of(const struct array *left, const struct array *right, const struct array *result) {
    if (left->rank != 2 || right->rank != 2 || result->rank != 2 || left->sizes[0] != result->sizes[0]) return -1;
    double m = left->sizes[0], k = left->sizes[1], n = result->sizes[1];
    int fits = (right->sizes[0] == k && right->sizes[1] == n) || (right->sizes[0] == n && right->sizes[1] == k);
    return fits && m * k * n > 0 ? 2 * m * n * k : -1;
}

/* A kernel that multiplies two types converts one of them: into which, its text does not say. */
static void set_types(struct ids_hlo_text_cost *cost, const struct array *left, const struct array *right) {
    int left_bits = ids_hlo_element_bits(left->element), right_bits = ids_hlo_element_bits(right->element);
    if (cost->product_flops < 0 || left_bits <= 0 || right_bits <= 0 || left_bits == right_bits) return;
    cost->element = (uint8_t)(left_bits > right_bits ? left->element : right->element);
    cost->narrower = (uint8_t)(left_bits > right_bits ? right->element : left->element);
}

int ids_hlo_text_cost(struct ids_text text, struct ids_hlo_text_cost *ret_cost) {
    struct array arrays[3] = {{.rank = 0}}, array; /* the result, the first two operands */
    struct array pair[2] = {{.rank = 0}};          /* the first two of a tuple */
    const char *end = text.at + text.length, *at = ids_hlo_text_body(text);
    int depth = 0, is_operand = 0, operands = 0, results = 0;
    *ret_cost = (struct ids_hlo_text_cost){.product_flops = -1};
    if (!at) return 0;
    while (at < end) {
        const char *next = is_letter(*at) && at[-1] != '%' ? read_array(at, end, &array) : NULL;
        if (next) {
            add(ret_cost, &array);
            if (!is_operand && !arrays[0].rank) arrays[0] = array;
            if (is_operand && operands < 2) arrays[1 + operands] = array;
            if (!is_operand && results < 2) pair[results++] = array;
            operands += is_operand;
            at = next;
            continue;
        }
        if (*at == '(' && !depth && at[-1] != ' ' && at[-1] != '=') is_operand = 1; /* behind the opcode */
        depth += *at == '(';
        depth -= *at == ')';
        if (is_operand && !depth) break;
        if (*at == '%' || is_letter(*at)) { /* a name, in which digits are no type */
            for (at++; at < end && (is_letter(*at) || *at == '_' || *at == '-' || *at == '.' || *at == '%');) at++;
        } else {
            at++;
        }
    }
    ret_cost->element = (uint8_t)arrays[1].element;
    if (results == 2) ret_cost->copied_bytes = copied_by(pair);
    if (operands >= 2) {
        ret_cost->product_flops = product_of(&arrays[1], &arrays[2], &arrays[0]);
        set_types(ret_cost, &arrays[1], &arrays[2]);
    }
    return 1;
}
