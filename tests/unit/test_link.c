/* lib/model/link.c: which ids of two events make the same key. */
#include "lib/model/keys.h"
#include "lib/model/link.h"
#include "tests/support/suite.h"

static struct ids_link_ids with(enum ids_link_stat stat, int64_t id, uint32_t type) {
    struct ids_link_ids ids = {.producer_type = type, .consumer_type = type};
    ids_link_set(&ids, stat, id);
    return ids;
}

START_TEST(a_producer_meets_the_consumer_of_its_type_and_host) {
    struct ids_link_ids gives = with(IDS_LINK_PRODUCER, 7, 15), takes = with(IDS_LINK_CONSUMER, 7, 15),
                        other_type = with(IDS_LINK_CONSUMER, 7, 12), other_id = with(IDS_LINK_CONSUMER, 8, 15);
    ck_assert_uint_eq(ids_link_given(&gives, 3), ids_link_taken(&takes, 3));
    ck_assert_uint_ne(ids_link_given(&gives, 3), 0);
    ck_assert_uint_ne(ids_link_given(&gives, 3), ids_link_taken(&takes, 4));
    ck_assert_uint_ne(ids_link_given(&gives, 3), ids_link_taken(&other_type, 3));
    ck_assert_uint_ne(ids_link_given(&gives, 3), ids_link_taken(&other_id, 3));
    ck_assert_uint_eq(ids_link_taken(&gives, 3), 0);
    ck_assert_uint_eq(ids_link_given(&takes, 3), 0);
}
END_TEST

START_TEST(ids_of_zero) {
    struct ids_link_ids launch = with(IDS_LINK_CORRELATION_ID, 0, 0), run = with(IDS_LINK_RUN_ID, 0, 0),
                        producer = with(IDS_LINK_PRODUCER, 0, 0);
    ck_assert_uint_eq(ids_link_correlation(&launch, 1), 0); /* nothing launched it */
    ck_assert_uint_ne(ids_link_run(&run, 1), 0);            /* an id like others */
    ck_assert_uint_ne(ids_link_given(&producer, 1), 0);
    launch = with(IDS_LINK_CORRELATION_ID, 5, 0);
    ck_assert_uint_ne(ids_link_correlation(&launch, 1), 0);
    ck_assert_uint_ne(ids_link_correlation(&launch, 1), ids_link_run(&launch, 1));
}
END_TEST

START_TEST(an_arrow_has_a_number_or_a_text) {
    struct ids_strings strings = {0};
    ck_assert_int_eq(ids_keys_intern(&strings), 0);
    const struct ids_arg chars = {.type = IDS_VALUE_CHARS, .chars = "0x1f", .length = 4},
                         text = {.type = IDS_VALUE_TEXT, .text = ids_intern_z(&strings, "0x1f")},
                         number = {.type = IDS_VALUE_INT, .i = 31}, other = {.type = IDS_VALUE_INT, .i = 32};
    ck_assert_uint_eq(ids_link_arrow(&strings, 1, &chars), ids_link_arrow(&strings, 1, &text));
    ck_assert_uint_ne(ids_link_arrow(&strings, 1, &chars), ids_link_arrow(&strings, 2, &chars));
    ck_assert_uint_ne(ids_link_arrow(&strings, 1, &number), ids_link_arrow(&strings, 1, &other));
    ids_strings_done(&strings);
}
END_TEST

START_TEST(stats_of_both_makers_are_one_correlation) {
    ck_assert_int_eq(ids_link_stat_of(IDS_KEY_CORRELATION_ID), IDS_LINK_CORRELATION_ID);
    ck_assert_int_eq(ids_link_stat_of(IDS_KEY_CORRELATION), IDS_LINK_CORRELATION_ID);
    ck_assert_int_eq(ids_link_stat_of(IDS_KEY_PRODUCER_ID), IDS_LINK_PRODUCER);
    ck_assert_int_eq(ids_link_stat_of(IDS_KEY_CONSUMER_ID), IDS_LINK_CONSUMER);
    ck_assert_int_eq(ids_link_stat_of(IDS_KEY_RUN_ID), IDS_LINK_RUN_ID);
    ck_assert_int_eq(ids_link_stat_of(IDS_KEY_SIZE), -1);
    struct ids_link_ids ids = {0};
    ids_link_take_type(&ids, &(struct ids_arg){.key = IDS_KEY_PRODUCER_TYPE, .type = IDS_VALUE_INT, .i = 15});
    ids_link_take_type(&ids, &(struct ids_arg){.key = IDS_KEY_CONSUMER_TYPE, .type = IDS_VALUE_INT, .i = 12});
    ck_assert(ids.producer_type == 15 && ids.consumer_type == 12 && !ids.has);
}
END_TEST

IDS_RUN_SUITE("link", a_producer_meets_the_consumer_of_its_type_and_host, ids_of_zero, an_arrow_has_a_number_or_a_text,
              stats_of_both_makers_are_one_correlation)
