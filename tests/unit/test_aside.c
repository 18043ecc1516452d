/* lib/io/aside.c: what is put aside comes back, from memory and from the file behind it. */
#include "lib/io/aside.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static struct ids_error err;

static void fill(uint8_t *bytes, size_t length, uint64_t at) {
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)((at + i) * 31 >> 3);
}

/* Records of changing length over budgets below, at and above their sum, read forwards, backwards and across. */
START_TEST(comes_back) {
    enum { RECORDS = 3000, LONGEST = 2100 };
    const size_t budgets[] = {0, 1, 1000, 65536, 1 << 20, 1 << 24};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        struct ids_aside *aside;
        uint8_t bytes[LONGEST];
        const uint8_t *back;
        ck_assert_int_eq(ids_aside_new(budgets[b], &aside, &err), 0);
        for (int round = 0; round < 2; round++) { /* and again when it was cleared */
            uint64_t at = 0;
            for (size_t i = 0; i < RECORDS; i++) {
                size_t length = i * 7 % LONGEST;
                fill(bytes, length, at);
                ck_assert_uint_eq(ids_aside_length(aside), at);
                ck_assert_int_eq(ids_aside_append(aside, bytes, length, &err), 0);
                at += length;
                if (i % 100 || !length) continue; /* reading between writes */
                ck_assert_int_eq(ids_aside_read(aside, at - length, length, &back, &err), 0);
                ck_assert_mem_eq(back, bytes, length);
            }
            for (size_t i = 0; i < 500; i++) {
                uint64_t from = (uint64_t)i * 7919 * 13 % (at - LONGEST);
                fill(bytes, LONGEST, from);
                ck_assert_int_eq(ids_aside_read(aside, from, LONGEST, &back, &err), 0);
                ck_assert_mem_eq(back, bytes, LONGEST);
            }
            ids_aside_clear(aside);
            ck_assert_uint_eq(ids_aside_length(aside), 0);
        }
        ids_aside_free(aside);
    }
}
END_TEST

/* One record longer than every buffer in between. */
START_TEST(a_long_one) {
    enum { LONG = 3 << 20 };
    struct ids_aside *aside;
    const uint8_t *back;
    uint8_t *bytes = malloc(LONG);
    ck_assert_ptr_nonnull(bytes);
    fill(bytes, LONG, 5);
    ck_assert_int_eq(ids_aside_new(1000, &aside, &err), 0);
    ck_assert_int_eq(ids_aside_append(aside, bytes, 5, &err), 0);
    ck_assert_int_eq(ids_aside_append(aside, bytes, LONG, &err), 0);
    ck_assert_int_eq(ids_aside_read(aside, 5, LONG, &back, &err), 0);
    ck_assert_mem_eq(back, bytes, LONG);
    ids_aside_free(aside);
    free(bytes);
}
END_TEST

/* Bytes are changed where they lie, in memory, in the file, behind it and across the borders; copies and the window
 * see it. */
START_TEST(patched) {
    enum { LENGTH = 2 << 20, PATCH = 3000 };
    const size_t budgets[] = {0, 1000, 1 << 20, 4 << 20};
    uint8_t *bytes = malloc(LENGTH), *copy = malloc(LENGTH);
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        struct ids_aside *aside;
        const uint8_t *back;
        fill(bytes, LENGTH, 1);
        ck_assert_int_eq(ids_aside_new(budgets[b], &aside, &err), 0);
        for (size_t at = 0; at < LENGTH; at += 1000) {
            size_t length = LENGTH - at < 1000 ? LENGTH - at : 1000;
            ck_assert_int_eq(ids_aside_append(aside, bytes + at, length, &err), 0);
        }
        for (size_t at = 0; at + PATCH < LENGTH; at += 99991) {
            ck_assert_int_eq(ids_aside_read(aside, at, PATCH, &back, &err), 0); /* the window has the old ones */
            fill(bytes + at + 7, PATCH - 7, at * 3);
            ck_assert_int_eq(ids_aside_patch(aside, at + 7, bytes + at + 7, PATCH - 7, &err), 0);
            ck_assert_int_eq(ids_aside_read(aside, at, PATCH, &back, &err), 0);
            ck_assert_mem_eq(back, bytes + at, PATCH);
        }
        fill(bytes + LENGTH - 5, 5, 77);
        ck_assert_int_eq(ids_aside_patch(aside, LENGTH - 5, bytes + LENGTH - 5, 5, &err), 0);
        ck_assert_int_eq(ids_aside_copy(aside, 0, LENGTH, copy, &err), 0);
        ck_assert_mem_eq(copy, bytes, LENGTH);
        ck_assert_int_eq(ids_aside_copy(aside, LENGTH - 700, 700, copy, &err), 0);
        ck_assert_mem_eq(copy, bytes + LENGTH - 700, 700);
        ids_aside_free(aside);
    }
    free(bytes);
    free(copy);
}
END_TEST

/* The temporary file cannot be made: the message names the folder. */
START_TEST(no_folder) {
    struct ids_aside *aside;
    setenv("TMPDIR", "/nonexistent/folder", 1);
    ck_assert_int_eq(ids_aside_new(1, &aside, &err), 0);
    char bytes[1 << 19] = {0};
    ck_assert_int_eq(ids_aside_append(aside, bytes, sizeof bytes, &err), IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/folder"));
    ids_aside_free(aside);
}
END_TEST

IDS_RUN_SUITE("aside", comes_back, a_long_one, patched, no_folder)
