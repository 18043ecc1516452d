#include "lib/compare/names.h"

#include <string.h>

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

size_t ids_base_name(const char *name) {
    size_t length = strlen(name);
    for (;;) {
        size_t end = length;
        while (end && is_digit(name[end - 1])) end--;
        if (end == length || end < 2 || (name[end - 1] != '.' && name[end - 1] != '_')) return length;
        length = end - 1;
    }
}

/* ---- scopes ---- */

/* What a transformation wraps a scope into: "transpose(jvp(layer1))" is layer1. Functions that were jitted keep their name. */
static int unwrap(const char **at, size_t *length, int *ret_function) {
    size_t open = 0;
    while (open < *length && (*at)[open] != '(') open++;
    if (open == *length || (*at)[*length - 1] != ')' || !open) return 0;
    *ret_function |= (open == 3 && !memcmp(*at, "jit", 3)) || (open == 4 && !memcmp(*at, "pjit", 4)) ||
                     (open == 4 && !memcmp(*at, "pmap", 4));
    *at += open + 1;
    *length -= open + 2;
    return 1;
}

static int is_noise(const char *at, size_t length) {
    static const char *const words[] = {"while",           "body",       "cond",
                                        "closed_call",     "checkpoint", "remat",
                                        "remat2",          "pjit",       "custom_vjp_call",
                                        "custom_jvp_call", "shard_map",  "rematted_computation",
                                        "core_call",       "scan",       "branch_0_fun",
                                        "branch_1_fun"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == length && !memcmp(words[i], at, length)) return 1;
    }
    return 0;
}

static void append(char scope[IDS_SCOPE_BYTES], const char *at, size_t length) {
    size_t used = strlen(scope);
    if (used + length + 2 > IDS_SCOPE_BYTES) return;
    if (used) scope[used++] = '/';
    memcpy(scope + used, at, length);
    scope[used + length] = '\0';
}

void ids_scope_of(const char *op_name, char scope[IDS_SCOPE_BYTES]) {
    scope[0] = '\0';
    for (int first = 1; *op_name; first = 0) {
        size_t length = 0, depth = 0;
        while (op_name[length] && (depth || op_name[length] != '/')) {
            depth += op_name[length] == '(';
            depth -= op_name[length] == ')' && depth;
            length++;
        }
        if (!op_name[length]) return; /* the primitive */
        const char *at = op_name;
        size_t left = length;
        int function = 0;
        while (unwrap(&at, &left, &function)) continue;
        if (left && !(first && function) && !is_noise(at, left)) append(scope, at, left);
        op_name += length + 1;
    }
}

const char *ids_pass_of(const char *op_name) {
    if (strstr(op_name, "custom_vjp")) return strstr(op_name, "transpose(") ? "backward, custom vjp" : "custom vjp";
    if (strstr(op_name, "transpose(")) return "backward";
    return strstr(op_name, "jvp(") ? "forward" : "";
}

/* ---- families ---- */

static int has(const char *text, const char *word) {
    return text && strcasestr(text, word) != NULL;
}

const char *ids_family_of(const char *name, const char *category, const char *event_class) {
    static const struct {
        const char *word, *family;
    } words[] = {
        /* the first that a name or category holds */
        {"nccl", "collective"},
        {"rccl", "collective"},
        {"all-reduce", "collective"},
        {"all-gather", "collective"},
        {"reduce-scatter", "collective"},
        {"all-to-all", "collective"},
        {"permute", "collective"},
        {"flash", "attention"},
        {"attention", "attention"},
        {"fmha", "attention"},
        {"softmax", "softmax"},
        {"conv", "convolution"},
        {"gemm", "matrix product"},
        {"cublas", "matrix product"},
        {"cutlass", "matrix product"},
        {"xmma", "matrix product"},
        {"dot", "matrix product"},
        {"matmul", "matrix product"},
        {"norm", "normalization"},
        {"memcpy", "copy"},
        {"copy", "copy"},
        {"transpose", "transpose"},
        {"reduce", "reduction"},
        {"sort", "sort"},
        {"scatter", "scatter"},
        {"gather", "gather"},
        {"triton", "triton"},
        {"custom-call", "custom call"},
        {"pallas", "custom call"},
        {"fusion", "fusion"},
        {"elementwise", "elementwise"},
        {"dynamic-", "slice"},
        {"slice", "slice"},
    };
    if (event_class && !strcmp(event_class, "collective")) return "collective";
    for (size_t i = 0; category && i < sizeof words / sizeof *words; i++) {
        /* An opcode is surer than a name, but a fusion's name tells what was fused. */
        if (has(category, words[i].word) && !has(category, "fusion") && !has(category, "custom-call"))
            return words[i].family;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (has(name, words[i].word)) return words[i].family;
    }
    return category && *category ? (has(category, "custom-call") ? "custom call"
                                    : has(category, "fusion")    ? "fusion"
                                                                 : "other")
                                 : "other";
}
