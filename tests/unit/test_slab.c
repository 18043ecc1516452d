/* lib/base/slab.h: arrays that share huge pages, and go one by one. */
#define _DEFAULT_SOURCE
#include "lib/base/slab.h"
#include "tests/support/suite.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MB = 1 << 20 };

static size_t pages_there(const char *at, size_t bytes) {
    static unsigned char there[(16 * MB) / 4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
    ck_assert_int_eq(mincore((void *)(uintptr_t)at, bytes, there), 0);
    for (size_t i = 0; i < bytes / page; i++) count += there[i] & 1;
    return count * page / MB;
}

static void check_filled(const char *at, char with, size_t bytes) {
    size_t i = 0;
    while (i < bytes && at[i] == with) i++;
    ck_assert_uint_eq(i, bytes);
}

/* Five arrays of 1.5 MiB: the middle ones lie on two huge pages each. */
START_TEST(pages_go_with_the_last_array_on_them) {
    enum { EACH = MB + MB / 2, COUNT = 5 };
    struct ids_slab *slab = ids_slab_new((size_t)COUNT * EACH);
    char *at[COUNT];
    ck_assert_ptr_nonnull(slab);
    for (int i = 0; i < COUNT; i++) {
        at[i] = ids_slab_take(slab, EACH);
        ck_assert_ptr_eq(at[i], at[0] + (size_t)i * EACH);
        memset(at[i], 'a' + i, EACH);
    }
    ids_slab_close(slab);
    ck_assert_uint_eq(pages_there(at[0], 8 * MB - MB / 2), 7);
    ids_slab_drop(slab, at[1], EACH); /* of each of its pages another array has a part */
    ck_assert_uint_eq(pages_there(at[0], 6 * MB), 6);
    ids_slab_drop(slab, at[2], EACH); /* the second page has nothing now */
    ck_assert_uint_eq(pages_there(at[0] + 2 * MB, 2 * MB), 0);
    check_filled(at[0], 'a', EACH);
    check_filled(at[3], 'd', EACH);
    check_filled(at[4], 'e', EACH);
    ids_slab_drop(slab, at[4], EACH);
    check_filled(at[3], 'd', EACH);
    ids_slab_drop(slab, at[0], EACH);
    ck_assert_uint_eq(pages_there(at[0], 4 * MB), 0);
    check_filled(at[3], 'd', EACH);
    ids_slab_drop(slab, at[3], EACH); /* and all of it is gone */
    ck_assert_int_eq(mincore(at[0], MB, (unsigned char[256]){0}), -1);
}
END_TEST

IDS_RUN_SUITE("slab", pages_go_with_the_last_array_on_them)
