/* lib/analysis/past.c: what a device did, in pieces that matter for those that wait for it. */
#include "lib/analysis/past.h"
#include "tests/support/suite.h"

static const int64_t us = 1000000;

static void add(struct ids_past *past, enum ids_account account, uint32_t entry, int64_t from_ps, int64_t to_ps) {
    const struct ids_ledger_interval interval = {
        .from_ps = from_ps, .to_ps = to_ps, .entry = entry, .account = (uint8_t)account};
    ck_assert_int_eq(ids_past_add(past, &interval), 0);
}

START_TEST(short_pieces_are_part_of_the_one_before) {
    struct ids_past past = {0};
    add(&past, IDS_HOST_PYTHON, 3, 0, 50 * us);
    add(&past, IDS_HOST_DISPATCH, 4, 50 * us, 60 * us);
    add(&past, IDS_HOST_PYTHON, 3, 60 * us, 90 * us);
    ck_assert_uint_eq(past.count, 1);
    add(&past, IDS_HOST_DISPATCH, 4, 90 * us, 110 * us); /* as long as what matters */
    ck_assert_uint_eq(past.count, 2);
    ck_assert_int_eq(past.at[1].from_ps, 90 * us);
    ids_past_done(&past);
}
END_TEST

START_TEST(meetings_are_told_however_short) {
    struct ids_past past = {0};
    add(&past, IDS_WORK_COMPUTE, 1, 0, 50 * us);
    add(&past, IDS_COMM_WAIT, 2, 50 * us, 51 * us);
    add(&past, IDS_WORK_COMPUTE, 1, 51 * us, 52 * us); /* and that it went on */
    add(&past, IDS_WORK_COMPUTE, 5, 52 * us, 90 * us); /* which op is no cause */
    ck_assert_uint_eq(past.count, 3);
    ck_assert_uint_eq(past.at[1].entry, IDS_NONE);
    ck_assert_uint_eq(past.at[2].entry, 1);
    ck_assert_int_eq(past.at[2].from_ps, 51 * us);
    ids_past_done(&past);
}
END_TEST

IDS_RUN_SUITE("past", short_pieces_are_part_of_the_one_before, meetings_are_told_however_short)
