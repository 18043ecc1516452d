/* lib/io/spill.c: what is put aside comes back, from memory and from the file behind it. */
#include "lib/io/spill.h"
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
        struct ids_spill *spill;
        uint8_t bytes[LONGEST];
        const uint8_t *back;
        ck_assert_int_eq(ids_spill_new(budgets[b], &spill, &err), 0);
        for (int round = 0; round < 2; round++) { /* and again when it was cleared */
            uint64_t at = 0;
            for (size_t i = 0; i < RECORDS; i++) {
                size_t length = i * 7 % LONGEST;
                fill(bytes, length, at);
                ck_assert_uint_eq(ids_spill_length(spill), at);
                ck_assert_int_eq(ids_spill_append(spill, bytes, length, &err), 0);
                at += length;
                if (i % 100 || !length) continue; /* reading between writes */
                ck_assert_int_eq(ids_spill_read(spill, at - length, length, &back, &err), 0);
                ck_assert_mem_eq(back, bytes, length);
            }
            for (size_t i = 0; i < 500; i++) {
                uint64_t from = (uint64_t)i * 7919 * 13 % (at - LONGEST);
                fill(bytes, LONGEST, from);
                ck_assert_int_eq(ids_spill_read(spill, from, LONGEST, &back, &err), 0);
                ck_assert_mem_eq(back, bytes, LONGEST);
            }
            ids_spill_clear(spill);
            ck_assert_uint_eq(ids_spill_length(spill), 0);
        }
        ids_spill_free(spill);
    }
}
END_TEST

/* One record longer than every buffer in between. */
START_TEST(a_long_one) {
    enum { LONG = 3 << 20 };
    struct ids_spill *spill;
    const uint8_t *back;
    uint8_t *bytes = malloc(LONG);
    ck_assert_ptr_nonnull(bytes);
    fill(bytes, LONG, 5);
    ck_assert_int_eq(ids_spill_new(1000, &spill, &err), 0);
    ck_assert_int_eq(ids_spill_append(spill, bytes, 5, &err), 0);
    ck_assert_int_eq(ids_spill_append(spill, bytes, LONG, &err), 0);
    ck_assert_int_eq(ids_spill_read(spill, 5, LONG, &back, &err), 0);
    ck_assert_mem_eq(back, bytes, LONG);
    ids_spill_free(spill);
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
        struct ids_spill *spill;
        const uint8_t *back;
        fill(bytes, LENGTH, 1);
        ck_assert_int_eq(ids_spill_new(budgets[b], &spill, &err), 0);
        for (size_t at = 0; at < LENGTH; at += 1000) {
            size_t length = LENGTH - at < 1000 ? LENGTH - at : 1000;
            ck_assert_int_eq(ids_spill_append(spill, bytes + at, length, &err), 0);
        }
        for (size_t at = 0; at + PATCH < LENGTH; at += 99991) {
            ck_assert_int_eq(ids_spill_read(spill, at, PATCH, &back, &err), 0); /* the window has the old ones */
            fill(bytes + at + 7, PATCH - 7, at * 3);
            ck_assert_int_eq(ids_spill_patch(spill, at + 7, bytes + at + 7, PATCH - 7, &err), 0);
            ck_assert_int_eq(ids_spill_read(spill, at, PATCH, &back, &err), 0);
            ck_assert_mem_eq(back, bytes + at, PATCH);
        }
        fill(bytes + LENGTH - 5, 5, 77);
        ck_assert_int_eq(ids_spill_patch(spill, LENGTH - 5, bytes + LENGTH - 5, 5, &err), 0);
        ck_assert_int_eq(ids_spill_copy(spill, 0, LENGTH, copy, &err), 0);
        ck_assert_mem_eq(copy, bytes, LENGTH);
        ck_assert_int_eq(ids_spill_copy(spill, LENGTH - 700, 700, copy, &err), 0);
        ck_assert_mem_eq(copy, bytes + LENGTH - 700, 700);
        ids_spill_free(spill);
    }
    free(bytes);
    free(copy);
}
END_TEST

/* The temporary file cannot be made: the message names the folder. */
START_TEST(no_folder) {
    struct ids_spill *spill;
    setenv("TMPDIR", "/nonexistent/folder", 1);
    ck_assert_int_eq(ids_spill_new(1, &spill, &err), 0);
    char bytes[1 << 19] = {0};
    ck_assert_int_eq(ids_spill_append(spill, bytes, sizeof bytes, &err), IDS_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/folder"));
    ids_spill_free(spill);
}
END_TEST

IDS_RUN_SUITE("aside", comes_back, a_long_one, patched, no_folder)
