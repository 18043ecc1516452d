/* suite.h - the main() of a unit test: one test case of all its tests. */
#ifndef IDS_TESTS_SUPPORT_SUITE_H
#define IDS_TESTS_SUPPORT_SUITE_H

#include <check.h>

/* The first argument names the unit, the others are what START_TEST made. */
#define IDS_RUN_SUITE(name, ...)                                                                   \
    int main(void) {                                                                               \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        TCase *tcase = tcase_create(name);                                                         \
        tcase_set_timeout(tcase, 60);                                                              \
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]); \
        Suite *suite = suite_create(name);                                                         \
        suite_add_tcase(suite, tcase);                                                             \
        SRunner *runner = srunner_create(suite);                                                   \
        srunner_run_all(runner, CK_NORMAL);                                                        \
        int failed = srunner_ntests_failed(runner);                                                \
        srunner_free(runner);                                                                      \
        return failed != 0;                                                                        \
    }

#endif
