/* lib/analysis/strip.c: rows of letters, by hand and against a count of every picosecond. */
#include "lib/analysis/strip.h"
#include "tests/support/suite.h"

#include <string.h>

static struct ids_strip strip;
static char letters[IDS_STRIP_CELLS + 1];

START_TEST(by_hand) {
    ids_strip_begin(&strip, 1000, 1000 + 10 * IDS_STRIP_CELLS); /* cells of 10 */
    ids_strip_add(&strip, IDS_HOST_SYNC, 900, 1001);            /* what lies before does not count */
    ids_strip_add(&strip, IDS_WORK_COMPUTE, 1001, 1015);
    ids_strip_add(&strip, IDS_HOST_SYNC, 1015, 1016);
    /* Cell 1: 5 compute and 5 of nothing that runs, in two accounts: what runs wins a tie. */
    ids_strip_add(&strip, IDS_HOST_PYTHON, 1016, 1020);
    /* Cell 2: 4 compute, 3 Python, 3 dispatch: mostly nothing runs, and Python came first of two equal ones. */
    ids_strip_add(&strip, IDS_WORK_COMPUTE, 1020, 1024);
    ids_strip_add(&strip, IDS_HOST_PYTHON, 1024, 1027);
    ids_strip_add(&strip, IDS_HOST_DISPATCH, 1027, 1030);
    /* Cells 3 to 238: nothing booked. The last one: to its end, and beyond. */
    ids_strip_add(&strip, IDS_COMM_WAIT, 1000 + 10 * (IDS_STRIP_CELLS - 1), 99999);
    ids_strip_end(&strip, letters);
    ck_assert_uint_eq(strlen(letters), IDS_STRIP_CELLS);
    ck_assert_int_eq(strncmp(letters, "CCp ", 4), 0);
    ck_assert_uint_eq(strspn(letters + 3, " "), IDS_STRIP_CELLS - 4);
    ck_assert_int_eq(letters[IDS_STRIP_CELLS - 1], 'W');
}
END_TEST

/* Windows whose length is no multiple of the cells, shorter than them too; intervals of changing lengths. */
START_TEST(every_picosecond) {
    static int64_t counted[IDS_STRIP_CELLS][IDS_ACCOUNT_COUNT];
    for (int64_t length = 1; length < 2000; length += length < 260 ? 7 : 371) {
        int64_t start = -length / 3, at = start - 5;
        memset(counted, 0, sizeof counted);
        ids_strip_begin(&strip, start, start + length);
        for (int i = 0; at < start + length + 5; i++) {
            int64_t to = at + 1 + i * 31 % 17;
            enum ids_account account = (enum ids_account)(i * 5 % IDS_ACCOUNT_COUNT);
            if (i % 4) ids_strip_add(&strip, account, at, to); /* else a hole */
            for (int64_t ps = at; ps < to && i % 4; ps++) {
                if (ps < start || ps >= start + length) continue;
                int cell = 0;
                while (start + length * (cell + 1) / IDS_STRIP_CELLS <= ps) cell++;
                counted[cell][account]++;
            }
            at = to;
        }
        ck_assert_mem_eq(strip.ps, counted, sizeof counted);
    }
}
END_TEST

START_TEST(letters_are_different) {
    for (int a = 0; a < IDS_ACCOUNT_COUNT; a++) {
        char letter = ids_account_letter((enum ids_account)a);
        ck_assert_int_eq(ids_account_of_letter(letter), a);
        int is_small = letter >= 'a' && letter <= 'z';
        ck_assert_int_eq(is_small, ids_account_is_idle((enum ids_account)a));
    }
    ck_assert_int_eq(ids_account_of_letter(ids_account_letter(IDS_NO_ACCOUNT)), IDS_NO_ACCOUNT);
    ck_assert_int_eq(ids_account_of_letter('\0'), IDS_NO_ACCOUNT);
}
END_TEST

IDS_RUN_SUITE("strip", by_hand, every_picosecond, letters_are_different)
