#include "lib/hlo/family.h"

#include <string.h>

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
