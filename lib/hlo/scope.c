#include "lib/hlo/scope.h"

#include <string.h>

enum { NESTED_MAX = 32 };

struct walk {
    struct ids_scopes *scopes;
    int transposed; /* place + 1 of the first scope inside transpose(...) */
    int nested;
};

static int is_word(const char *at, size_t length, const char *word) {
    return strlen(word) == length && !memcmp(at, word, length);
}

static int is_one_of(const char *at, size_t length, const char *const *words) {
    for (; *words && length; words++) {
        if (**words == *at && is_word(at, length, *words)) return 1;
    }
    return 0;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* "Torch-Compiled Region: 0/0": a number of two parts behind a colon is one name. */
static int divides_number(const char *at, const char *slash, const char *end) {
    const char *number = slash;
    if (slash + 1 >= end || !is_digit(slash[1])) return 0;
    while (number > at && is_digit(number[-1])) number--;
    return number < slash && number - at >= 2 && number[-1] == ' ' && number[-2] == ':';
}

/* Up to the next '/' that no bracket encloses, or to the ';' between the names of a fusion. */
static size_t part_length(const char *at, const char *end) {
    size_t depth = 0;
    const char *to = at;
    for (; to < end && (depth || (*to != '/' && *to != ';') || (*to == '/' && divides_number(at, to, end))); to++) {
        depth += *to == '(' || *to == '[';
        depth -= (*to == ')' || *to == ']') && depth;
    }
    return (size_t)(to - at);
}

/* Where the bracket closes that opens at `open`. */
static size_t closing(const char *at, size_t length, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < length; i++) {
        depth += at[i] == '(';
        if (at[i] == ')' && !--depth) return i;
    }
    return length;
}

struct part {
    const char *at;
    size_t length;
    int function, transposed, linearized;
};

/* Whether a text in brackets is what a call was given, "heads=8". */
static int is_argument(const char *at, size_t length) {
    return memchr(at, '=', length) || memchr(at, ',', length) || memchr(at, ' ', length);
}

/* What a transformation wraps a scope into: "transpose(jvp(layer1))" is layer1. Functions that were jitted keep their
 * name. A name of the program's own with arguments, "attention(heads=8)", is none of these. */
static int unwrap(struct part *part) {
    static const char *const functions[] = {"jit", "pjit", "pmap", NULL};
    static const char *const derivations[] = {"jvp", "transpose", "vmap", NULL};
    size_t open = 0;
    while (open < part->length && part->at[open] != '(') open++;
    if (!open || open == part->length || part->at[part->length - 1] != ')') return 0;
    int function = is_one_of(part->at, open, functions), derived = is_one_of(part->at, open, derivations);
    if (!function && !derived && is_argument(part->at + open, part->length - open)) return 0;
    if (closing(part->at, part->length, open) != part->length - 1) return 0;
    part->function |= function;
    part->transposed |= is_word(part->at, open, "transpose");
    part->linearized |= is_word(part->at, open, "jvp");
    part->at += open + 1;
    part->length -= open + 2;
    return 1;
}

static int is_branch(const char *at, size_t length) {
    return length > 7 && !memcmp(at, "branch_", 7) && at[7] >= '0' && at[7] <= '9';
}

/* What jax itself puts between scopes. "body" and "cond" are words of programs too, elsewhere. */
static int is_noise(const struct part *part, const struct part *before, const char *next, const char *end) {
    static const char *const words[] = {"while", "closed_call",     "checkpoint",           "remat",     "remat2",
                                        "pjit",  "custom_vjp_call", "custom_jvp_call",      "shard_map", "core_call",
                                        "scan",  "gradient_tape",   "rematted_computation", NULL};
    static const char *const loops[] = {"while", "scan", NULL};
    if (is_word(part->at, part->length, "body")) return is_one_of(before->at, before->length, loops);
    if (is_word(part->at, part->length, "cond"))
        return is_word(before->at, before->length, "while") || (next < end && is_branch(next, part_length(next, end)));
    return is_branch(part->at, part->length) || is_one_of(part->at, part->length, words);
}

static void append(struct walk *walk, const struct part *part) {
    struct ids_scopes *scopes = walk->scopes;
    /* A checkpoint inside a transposed function names all its scopes again: transpose(jvp(a))/b/jvp(a)/b. */
    if (walk->transposed && part->linearized && !part->transposed && scopes->count >= walk->transposed) {
        const struct ids_scope_part *first = &scopes->parts[walk->transposed - 1];
        if (first->length == part->length && !memcmp(first->at, part->at, part->length))
            scopes->count = walk->transposed - 1;
    }
    if (scopes->count == IDS_SCOPE_DEPTH) return;
    scopes->parts[scopes->count++] = (struct ids_scope_part){part->at, part->length};
    if (part->transposed) walk->transposed = scopes->count;
}

/* `whole`: the last part is no primitive. */
static void walk_path(struct walk *walk, const char *at, size_t length, int whole) {
    const char *end = at + length;
    struct part before = {"", 0, 0, 0, 0};
    if (walk->nested++ >= NESTED_MAX) return;
    for (int first = 1; at < end; first = 0) {
        struct part part = {at, part_length(at, end), 0, 0, 0};
        const char *next = at + part.length + 1;
        int last = next > end || next[-1] == ';';
        const char *inner =
            part.length > 2 && *at == '(' && at[part.length - 1] == ')' ? memchr(at, ':', part.length) : NULL;
        struct part outer = part;
        if (inner) { /* "(psum:layer/mlp/psum)": what was made of an op that stood elsewhere */
            walk_path(walk, inner + 1, (size_t)(at + part.length - 1 - (inner + 1)), 0);
        } else if (!last || whole) {
            while (unwrap(&part)) continue;
            int is_main = part.function && walk->scopes->count && is_word(part.at, part.length, "main");
            if (!part.length || is_main || is_noise(&part, &before, next, last ? next : end)) {
                /* not of the program */
            } else if (memchr(part.at, '/', part.length) && part.at != outer.at) {
                walk_path(walk, part.at, part.length, 1);
            } else {
                append(walk, &part);
                if (first && walk->nested == 1) walk->scopes->has_function = part.function;
            }
        }
        before = outer;
        if (last) break;
        at = next;
    }
    walk->nested--;
}

void ids_scopes_of(const char *op_name, struct ids_scopes *ret_scopes) {
    struct walk walk = {ret_scopes, 0, 0};
    ret_scopes->count = ret_scopes->has_function = 0;
    walk_path(&walk, op_name, strlen(op_name), 0);
}

void ids_scope_of(const char *op_name, char scope[IDS_SCOPE_BYTES]) {
    struct ids_scopes scopes = {.count = 0};
    size_t used = 0;
    ids_scopes_of(op_name, &scopes);
    for (int i = scopes.has_function; i < scopes.count; i++) {
        const struct ids_scope_part *part = &scopes.parts[i];
        if (used + part->length + 2 > IDS_SCOPE_BYTES) continue;
        if (used) scope[used++] = '/';
        memcpy(scope + used, part->at, part->length);
        used += part->length;
    }
    scope[used] = '\0';
}

/* A node of PyTorch's autograd, "AddmmBackward0", as one part of the name. */
static int has_autograd_node(const char *op_name) {
    static const char word[] = "Backward";
    for (const char *at = op_name; (at = strstr(at, word)) != NULL;) {
        at += sizeof word - 1;
        at += strspn(at, "0123456789");
        if (*at == '/' || !*at) return 1;
    }
    return 0;
}

int ids_is_backward(const char *op_name) {
    return strstr(op_name, "transpose(") || strstr(op_name, "gradient_tape/") || strstr(op_name, "torch::autograd::") ||
           has_autograd_node(op_name);
}

const char *ids_pass_of(const char *op_name) {
    if (strstr(op_name, "rematted_computation")) return "recomputed";
    /* PyTorch's: the nodes of the backward pass inside have names of their own, and are no part of this one. */
    if (strstr(op_name, "CheckpointFunctionBackward/") || strstr(op_name, "torch::checkpoint/")) return "recomputed";
    if (strstr(op_name, "custom_vjp")) return ids_is_backward(op_name) ? "backward, custom vjp" : "custom vjp";
    if (ids_is_backward(op_name)) return "backward";
    return strstr(op_name, "jvp(") ? "forward" : "";
}
