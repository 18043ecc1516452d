/* The costs of PyTorch's ops by Kineto's words: what is cut off, absurd, or of another form tells nothing. What is told
 * of a whole file: testdata/json/kineto_shapes. */
#include "lib/model/torch_cost.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct ids_text text(const char *words) {
    return (struct ids_text){words, (uint32_t)strlen(words)};
}

static int told(const char *op, const char *dims, const char *types, const char *values, struct ids_torch_cost *cost) {
    return ids_torch_cost_of(ids_torch_product(text(op)), text(dims), text(types), text(values), cost);
}

START_TEST(names) {
    ck_assert(ids_torch_product(text("aten::mm")));
    ck_assert(!ids_torch_product(text("aten::mm_")));
    ck_assert(!ids_torch_product(text("aten::linear")));
    ck_assert(!ids_torch_product(text("")));
}
END_TEST

START_TEST(products) {
    struct ids_torch_cost cost;
    ck_assert(told("aten::mm", "[[2,3],[3,4]]", "[\"float\",\"float\"]", "", &cost));
    ck_assert_double_eq(cost.flops, 48);
    ck_assert_double_eq(cost.bytes, 4 * (6 + 12 + 8));
    ck_assert_str_eq(cost.shape, "f32[2,4]");
    ck_assert(told("aten::mm", "[[2,3],[3,4]]", "[\"c10::complex<float>\",\"c10::complex<float>\"]", "", &cost));
    ck_assert_double_eq(cost.flops, 4 * 48);
    ck_assert(!told("aten::mm", "[[2,3],[3,4]]", "[\"int\",\"int\"]", "", &cost));
    ck_assert(!told("aten::mm", "[[2,3],[3,0]]", "[\"float\",\"float\"]", "", &cost));
}
END_TEST

START_TEST(broken) {
    static const char *const dims[] = {"",         "[",           "[[2,3]",       "[[[2,3],[3,4]],[3,4]]",
                                       "[[2,3],[", "[[2,3],[3,4", "[[-2,-3],[]]", "[[1,2,3,4,5,6,7,8,9],[9,1]]",
                                       "]]]]",     "nonsense"};
    struct ids_torch_cost cost;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        for (int op = 1; op < 40; op++) {
            int known =
                ids_torch_cost_of(op, text(dims[i]), text("[\"float\",\"float\",\"float\"]"), text("[\"["), &cost);
            ck_assert(!known || (cost.flops > 0 && cost.flops < 9e18 && cost.bytes >= 0));
        }
    }
    static const char huge[] =
        "[[99999999999999999999999999999999999999999999999999,3],[3,99999999999999999999999999]]";
    ck_assert(!told("aten::mm", huge, "[\"float\",\"float\"]", "", &cost));
    ck_assert(!told("aten::bmm", "[[2,3],[3,4]", "[\"float\"", "", &cost) || cost.flops > 0);
}
END_TEST

START_TEST(convolutions) {
    static const char dims[] = "[[1,2,9,9],[4,2,3,3],[],[],[]]", types[] = "[\"float\",\"float\"]";
    static const char op[] = "aten::cudnn_convolution";
    struct ids_torch_cost cost;
    ck_assert(
        told(op, dims, types, "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[4, 4]\"]", &cost)); /* dilated: 9 wide, 1 place */
    ck_assert_double_eq(cost.flops, 2 * 4 * 2 * 9);
    ck_assert(!told(op, dims, types, "", &cost));
    ck_assert(!told(op, dims, types, "[\"\",\"\",\"[0, 0]\",\"[0, 0]\",\"[1, 1]\"]", &cost)); /* a stride of none */
    ck_assert(!told(op, dims, types, "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[5, 5]\"]", &cost)); /* wider than the input */
}
END_TEST

/* Each gradient that is wanted takes what the forward pass takes: 7 * 7 places of 4 features, 2 * 9 products each. */
START_TEST(gradients) {
    static const char op[] = "aten::convolution_backward", types[] = "[\"float\",\"float\",\"float\"]";
    static const char dims[] = "[[1,4,7,7],[1,2,9,9],[4,2,3,3],[4],[],[],[],[],[],[],[]]";
    static const struct {
        const char *wanted;
        int gradients;
    } cases[] = {{"[True, True, False]", 2},
                 {"[False, True, False]", 1},
                 {"[True, False, True]", 1},
                 {"[False, False, True]", 0},
                 {"[True", 0},
                 {"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ids_torch_cost cost;
        char values[200];
        snprintf(values, sizeof values,
                 "[\"\",\"\",\"\",\"[4]\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\",\"%s\"]",
                 cases[i].wanted);
        int known = told(op, dims, types, values, &cost);
        ck_assert_int_eq(known, cases[i].gradients > 0);
        if (known) ck_assert_double_eq(cost.flops, cases[i].gradients * 2 * 4 * 49 * 2 * 9);
    }
}
END_TEST

IDS_RUN_SUITE("torch cost", names, products, broken, convolutions, gradients)
