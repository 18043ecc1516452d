/* suite.h - the main() of a unit test: one test case of all its tests. */
#ifndef IDS_TESTS_SUPPORT_SUITE_H
#define IDS_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdlib.h>

/* The first argument names the unit, then what runs before and after each test (NULL: nothing); the others are what
 * START_TEST made. */
#define IDS_RUN_FIXTURE(name, before, after, ...)                                                  \
    int main(void) {                                                                               \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        TCase *tcase = tcase_create(name);                                                         \
        tcase_set_timeout(tcase, 60);                                                              \
        tcase_add_checked_fixture(tcase, before, after);                                           \
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]); \
        Suite *suite = suite_create(name);                                                         \
        suite_add_tcase(suite, tcase);                                                             \
        SRunner *runner = srunner_create(suite);                                                   \
        srunner_run_all(runner, CK_NORMAL);                                                        \
        int failed = srunner_ntests_failed(runner);                                                \
        srunner_free(runner);                                                                      \
        return failed != 0;                                                                        \
    }

/* At the begin of a test of much data, which valgrind would take minutes for and sees in smaller ones too. */
#define IDS_NOT_UNDER_VALGRIND()            \
    do {                                    \
        if (getenv("IDS_VALGRIND")) return; \
    } while (0)

/* How many of what chance or size makes a test do: `all` in the release build, `few` where each access is looked into
 * or counted (valgrind, sanitizers, coverage), which takes 3 to 50 times as long and sees no more in the others. */
static inline int ids_some_of(int all, int few) {
    const char *text = getenv("IDS_FEW");
    return text && *text == '1' ? few : all;
}

#define IDS_RUN_SUITE(name, ...) IDS_RUN_FIXTURE(name, NULL, NULL, __VA_ARGS__)

#endif
