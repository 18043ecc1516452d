/* What the text of a TPU's op says that it moves and multiplies (lib/hlo/text_cost.h). */
#include "lib/hlo/element.h"
#include "lib/hlo/text_cost.h"
#include "tests/support/suite.h"

#include <stdlib.h>

enum { BF16 = 16 };

static struct ids_text words(const char *text) {
    return (struct ids_text){text, (uint32_t)strlen(text)};
}

static struct ids_hlo_text_cost text_cost(const char *text) {
    struct ids_hlo_text_cost cost;
    ck_assert(ids_hlo_text_cost(words(text), &cost));
    return cost;
}

/* [8,16] x [4,16] gives [8,4]: 2 * 8 * 16 * 4. f4 takes half a byte. S(1) is on the chip, S(5) the host's memory. */
START_TEST(text_products) {
    struct ids_hlo_text_cost cost =
        text_cost("%quantized_matmul.3 = bf16[8,4]{1,0:T(8,128)(2,1)S(1)} custom-call(bf16[8,16]{1,0} %f32.1, "
                  "f4e2m1fn[4,16]{1,0:T(64,128)E(4)} %p.2, f32[10]{0:S(5)} %b), custom_call_target=\"f32[9,9]\"");
    ck_assert(cost.product_flops == 2 * 8 * 16 * 4);
    ck_assert(cost.on_chip_bytes == 64);
    ck_assert(cost.main_bytes == 256 + 32);
    ck_assert_int_eq(cost.element, BF16);
    ck_assert(!strcmp(ids_hlo_element_name(cost.narrower), "f4e2m1fn"));
    cost = text_cost("%x = f32[8,4] custom-call(s8[8,16] %a, bf16[16,4] %b)"); /* whichever operand it is */
    ck_assert(cost.element == BF16 && !strcmp(ids_hlo_element_name(cost.narrower), "s8"));
    cost = text_cost("%x = f32[8,4] custom-call(bf16[8,16] %a, bf16[16,4] %b)");
    ck_assert(cost.element == BF16 && !cost.narrower);
    cost = text_cost("%x = f32[8,5] custom-call(f32[8,16] %a, f32[4,16] %b)");
    ck_assert(cost.product_flops == -1);
    cost = text_cost("%t = (f32[8]{0}, (s32[2], f32[4]{0:S(1)})) fusion((f32[8], s32[]) %t.1), kind=kLoop");
    ck_assert(cost.main_bytes == 32 + 8 + 32 + 4 && cost.on_chip_bytes == 16 && cost.product_flops == -1);
}
END_TEST

/* A copy of 32 bytes reads them from one memory and writes them to another: twice the main memory, or once, or never.
 * What starts the copy of a slice moves no more than the slice. */
START_TEST(text_copies) {
    static const struct {
        const char *text;
        double bytes;
    } copies[] = {
        {"%c = (f32[8]{0}, f32[8]{0}, u32[]{:S(2)}) copy-start(f32[8]{0} %a)", 64},
        {"%c = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(f32[8]{0} %a)", 32},
        {"%c = (f32[8]{0:S(5)}, f32[8]{0:T(8)}, u32[]{:S(2)}) copy-start(f32[8]{0:T(8)} %a)", 32},
        {"%c = (f32[8]{0:S(1)}, f32[8]{0:S(5)}, u32[]) copy-start(f32[8]{0:S(5)} %a)", 0},
        {"%s = ((f32[800]{0}), f32[8]{0:S(1)}, s32[]{:S(2)}) async-start(f32[800]{0} %a)", 32},
        {"%d = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0}, u32[]) %c)", 0},
    };
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        ck_assert_double_eq(text_cost(copies[i].text).copied_bytes, copies[i].bytes);
}
END_TEST

/* Cut anywhere, and what is no op: no crash. */
START_TEST(text_cut) {
    static const char text[] =
        "%a = (bf16[8,4]{1,0:S(1)}, u32[]) fusion(f32[99999999999999999999,2,2,2,2,2,2,2,2,2] %b)";
    struct ids_hlo_text_cost cost;
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = strndup(text, length);
        ids_hlo_text_cost((struct ids_text){copy, (uint32_t)length}, &cost);
        free(copy);
    }
    ck_assert(!ids_hlo_text_cost(words("no op"), &cost));
}
END_TEST

IDS_RUN_SUITE("text cost", text_products, text_copies, text_cut)
