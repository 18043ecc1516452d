/* lib/store/report_bytes.c: a report becomes bytes and comes back the same, or not at all. */
#include "lib/store/report_bytes.h"
#include "tests/support/suite.h"
#include "tests/support/whole_report.h"

#include <stdlib.h>

static const volatile double zero = 0;

static void know_both_tables(void) {
    known_tables[0] = &ops_def;
    known_tables[1] = &gaps_def;
}

static void put(const struct ids_report *report, struct ids_buffer *bytes) {
    struct ids_error err = IDS_ERROR_INIT;
    ck_assert_msg(ids_report_put_bytes(report, bytes, &err) == 0, "%s", err.text);
}

/* The bytes lie in memory of exactly their length, so that a sanitizer sees what is read behind them. */
static int get(const void *bytes, size_t length, struct ids_report *report) {
    struct ids_error err = IDS_ERROR_INIT;
    void *exact = malloc(length ? length : 1);
    memcpy(exact, bytes, length);
    ids_report_init(report);
    int code = ids_report_get_bytes(report, exact, length, find_table, &err);
    ck_assert_int_eq(code, err.code);
    free(exact);
    return code;
}

START_TEST(one_of_everything) {
    struct ids_report report, back;
    struct ids_buffer bytes = {0};
    know_both_tables();
    fill_report(&report);
    put(&report, &bytes);
    ck_assert_int_eq(get(bytes.at, bytes.length, &back), 0);
    char *before = report_text(&report), *after = report_text(&back);
    ck_assert_str_eq(before, after);
    ck_assert_ptr_nonnull(ids_report_find(&back, "a.first", "host0:/device:GPU:1"));
    free(before);
    free(after);
    ids_report_done(&report);
    ids_report_done(&back);
    ids_buffer_done(&bytes);
}
END_TEST

/* Where they would look alike, the bits are the same. */
START_TEST(odd_numbers) {
    static const int64_t whole[] = {0, 1, -1, 127, 128, -128, -129, 1 << 24, INT64_MAX, INT64_MIN};
    const double real[] = {0.0, -0.0, 1.0, 0.1, 1e-310, 1.0 / zero, -1.0 / zero, 0.0 / zero};
    struct ids_report report, back;
    struct ids_buffer bytes = {0};
    char name[8];
    ids_report_init(&report);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        snprintf(name, sizeof name, "i%zu", i);
        ids_report_property(&report, name, ids_int_value(IDS_UNIT_TIME, whole[i]));
    }
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        snprintf(name, sizeof name, "d%zu", i);
        ids_report_property(&report, name, ids_real_value(IDS_UNIT_NUMBER, real[i]));
    }
    put(&report, &bytes);
    ck_assert_int_eq(get(bytes.at, bytes.length, &back), 0);
    ck_assert_uint_eq(back.property_count, report.property_count);
    for (size_t i = 0; i < report.property_count; i++)
        ck_assert_mem_eq(&back.properties[i].value.i, &report.properties[i].value.i, sizeof(int64_t));
    ids_report_done(&report);
    ids_report_done(&back);
    ids_buffer_done(&bytes);
}
END_TEST

START_TEST(a_table_that_changed) {
    static const struct ids_column_def more[] = {{"start", "start", IDS_UNIT_TIME, 0},
                                                 {"end", "end", IDS_UNIT_TIME, 0}};
    static const struct ids_table_def newer = {"idle.gaps", "gaps", more, 2, NULL, 0};
    struct ids_report report, back;
    struct ids_buffer bytes = {0};
    fill_report(&report);
    put(&report, &bytes);
    const struct ids_table_def *const second[] = {NULL, &newer};
    for (int i = 0; i < 2; i++) {
        know_both_tables();
        known_tables[1] = second[i];
        ck_assert_int_eq(get(bytes.at, bytes.length, &back), IDS_NOT_FOUND);
        ids_report_done(&back);
    }
    ids_report_done(&report);
    ids_buffer_done(&bytes);
}
END_TEST

START_TEST(cut_anywhere) {
    struct ids_report report, back;
    struct ids_buffer bytes = {0};
    know_both_tables();
    fill_report(&report);
    put(&report, &bytes);
    for (size_t length = 0; length < bytes.length; length++) {
        ck_assert_int_eq(get(bytes.at, length, &back), IDS_CORRUPT);
        ids_report_done(&back);
    }
    ids_buffer_byte(&bytes, 0);
    ck_assert_int_eq(get(bytes.at, bytes.length, &back), IDS_CORRUPT);
    ids_report_done(&back);
    ids_report_done(&report);
    ids_buffer_done(&bytes);
}
END_TEST

/* The seal of its file finds each change; here it is enough that nothing outside the bytes is read. */
START_TEST(changed_anywhere) {
    struct ids_report report, back;
    struct ids_buffer bytes = {0};
    int apart = getenv("IDS_VALGRIND") ? 50 : 2; /* the sanitizers see each of these */
    know_both_tables();
    fill_report(&report);
    put(&report, &bytes);
    for (size_t i = 0; i < bytes.length; i++) {
        for (int change = 1; change < 256; change += apart) {
            bytes.at[i] = (char)(bytes.at[i] ^ change);
            if (!get(bytes.at, bytes.length, &back)) free(report_text(&back));
            ids_report_done(&back);
            bytes.at[i] = (char)(bytes.at[i] ^ change);
        }
    }
    ids_report_done(&report);
    ids_buffer_done(&bytes);
}
END_TEST

IDS_RUN_SUITE("report_bytes", one_of_everything, odd_numbers, a_table_that_changed, cut_anywhere, changed_anywhere)
