#include "lib/hlo/scope.h"

#include <string.h>

/* What a transformation wraps a scope into: "transpose(jvp(layer1))" is layer1. Functions that were jitted keep
 * their name. */
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
