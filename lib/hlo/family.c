#include "lib/hlo/family.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { NAME_BYTES = 512 };

/* " nccl dev kernel all reduce sum " of "ncclDevKernel_AllReduce_Sum": whole words, so that "convert" is no
 * convolution. */
static void words_of(const char *name, char words[NAME_BYTES]) {
    size_t used = 0;
    words[used++] = ' ';
    for (const char *at = name; *at && used + 3 < NAME_BYTES; at++) {
        int is_letter = isalnum((unsigned char)*at) != 0;
        int begins = isupper((unsigned char)*at) && at > name && islower((unsigned char)at[-1]);
        if ((!is_letter || begins) && words[used - 1] != ' ') words[used++] = ' ';
        if (is_letter) words[used++] = (char)tolower((unsigned char)*at);
    }
    if (words[used - 1] != ' ') words[used++] = ' ';
    words[used] = '\0';
    /* A library of embeddings and much else, which has products too. */
    static const char library[] = "fbgemm ";
    for (char *at = words; (at = strstr(at, " fbgemm ")) != NULL;)
        memmove(at + 1, at + sizeof library, strlen(at + sizeof library) + 1);
}

/* Where a word stands in a pattern: " dot " is the whole word, " nccl" how one begins, "gemm " how one ends. */
static const struct {
    const char *pattern, *family;
} families[] = {
    /* the first that a name or category holds */
    {" nccl", "collective"},
    {" rccl", "collective"},
    {" all reduce ", "collective"},
    {" all gather ", "collective"},
    {" reduce scatter ", "collective"},
    {" all to all ", "collective"},
    {" collective permute ", "collective"},
    {" collective broadcast ", "collective"},
    {" ppermute ", "collective"},
    {" flash", "attention"},
    {" attention ", "attention"},
    {" attn ", "attention"},
    {"fmha ", "attention"},
    {" sdpa ", "attention"},
    {" softmax ", "softmax"},
    {" conv ", "convolution"},
    {" conv1d ", "convolution"},
    {" conv2d ", "convolution"},
    {" conv3d ", "convolution"},
    {" convolution ", "convolution"},
    {" convolve ", "convolution"},
    {" winograd", "convolution"},
    {" fprop ", "convolution"},
    {" dgrad ", "convolution"},
    {" wgrad ", "convolution"},
    {"gemm ", "matrix product"},
    {" gemm", "matrix product"},
    {" gemv", "matrix product"},
    {" cublas", "matrix product"},
    {" cutlass", "matrix product"},
    {" nvjet", "matrix product"},
    {" cijk ", "matrix product"},
    {" xmma ", "matrix product"},
    {" dot ", "matrix product"},
    {" matmul ", "matrix product"},
    {" mm ", "matrix product"},
    {" bmm ", "matrix product"},
    {" addmm ", "matrix product"},
    {"norm ", "normalization"},
    {" memcpy", "copy"},
    {" copy ", "copy"},
    {" transpose ", "transpose"},
    {" sort ", "sort"},
    {" scatter ", "scatter"},
    {" gather ", "gather"},
    {" reduce ", "reduction"},
    {" reduction ", "reduction"},
    {" triton ", "triton"},
    {" custom call ", "custom call"},
    {" pallas ", "custom call"},
    {" slice ", "slice"},
    {" convert ", "conversion"},
    {" fusion ", "fusion"},
    {" elementwise ", "elementwise"},
};

/* Which letters there are: a program has thousands of ops, and most patterns have a letter that a name has not. */
static uint32_t letters_of(const char *text) {
    uint32_t letters = 0;
    for (; *text; text++) letters |= UINT32_C(1) << (*text & 31);
    return letters;
}

static int can_hold(uint32_t letters, const char *pattern) {
    while (*pattern && letters >> (*pattern & 31) & 1) pattern++;
    return !*pattern;
}

static const char *family_of_words(const char *text) {
    char words[NAME_BYTES];
    if (!text) return NULL;
    words_of(text, words);
    uint32_t letters = letters_of(words);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *pattern = families[i].pattern;
        if (can_hold(letters, pattern) && strstr(words, pattern)) return families[i].family;
    }
    return NULL;
}

const char *ids_family_of(const char *name, const char *category, const char *event_class) {
    if (event_class && !strcmp(event_class, "collective")) return "collective";
    const char *by_category = category && *category ? family_of_words(category) : NULL;
    /* A TPU computes matrix products as convolutions. */
    if (category && !strcmp(category, "convolution fusion")) return "matrix product";
    /* An opcode is surer than a name, but the name of a fusion or a custom call tells what it does. */
    int is_shell = by_category && (!strcmp(by_category, "fusion") || !strcmp(by_category, "custom call"));
    if (by_category && !is_shell) return by_category;
    const char *by_name = family_of_words(name);
    return by_name ? by_name : by_category ? by_category : "other";
}
