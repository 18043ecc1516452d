/* A window is kept for one slow step: how many of the run are like it. */
#include "lib/run/kept_like.h"
#include "tests/support/suite.h"

#include <math.h>

enum { STEPS = 100, MS = 1000000 };

static struct ids_missed_step steps[STEPS];
static struct ids_kept_like like;

/* Steps of 1 ms, but for those of 41 ms at these places. */
static void set(const int *slow, size_t count) {
    for (int i = 0; i < STEPS; i++) steps[i] = (struct ids_missed_step){.number = i, .took_ns = MS};
    for (size_t i = 0; i < count; i++) steps[slow[i]].took_ns = 41 * MS;
}

static const char *tell(void) {
    static struct ids_report report;
    ids_report_done(&report);
    ids_report_init(&report);
    ids_kept_like_tell(&like, &report);
    return ids_report_find_property(&report, "kept_like")->text;
}

START_TEST(test_some_like_it) {
    static const int slow[] = {30, 50, 70};
    const struct ids_kept kept = {.step = 50, .took_ns = 41 * MS + MS / 10};
    set(slow, 3);
    steps[10].took_ns = 20 * MS; /* not half as long */
    ck_assert_int_eq(ids_kept_like_find(&kept, steps, STEPS, &like), 1);
    ck_assert_uint_eq(like.like, 3);
    ck_assert_uint_eq(like.steps, STEPS);
    ck_assert(fabs(like.longer_ns - 120.0 * MS) < 1);
    ck_assert(fabs(like.total_ns - 239.0 * MS) < 1);
    ck_assert_str_eq(tell(), "3 of 100 steps took half as long or longer: they lose 50.2 % of the run");
}
END_TEST

START_TEST(test_alone) {
    static const int slow[] = {50};
    const struct ids_kept kept = {.step = 50, .took_ns = 41 * MS};
    set(slow, 1);
    ck_assert_int_eq(ids_kept_like_find(&kept, steps, STEPS, &like), 1);
    ck_assert_str_eq(tell(), "no other of 100 steps took half as long: it loses 28.6 % of the run");
}
END_TEST

START_TEST(test_another_process) { /* whose step of that number took another time */
    static const int slow[] = {30};
    const struct ids_kept kept = {.step = 50, .took_ns = 41 * MS}, none = {.step = -1};
    set(slow, 1);
    ck_assert_int_eq(ids_kept_like_find(&kept, steps, STEPS, &like), 0);
    ck_assert_int_eq(ids_kept_like_find(&kept, steps, 20, &like), 0);
    ck_assert_int_eq(ids_kept_like_find(&none, steps, STEPS, &like), 0); /* asked for */
    ck_assert_int_eq(ids_kept_like_find(&kept, steps, 0, &like), 0);
}
END_TEST

IDS_RUN_SUITE("kept_like", test_some_like_it, test_alone, test_another_process)
