/* lib/base: far, far_numbers. What lies in a file is what was put there, whatever was let go of meanwhile, and what has
 * no room stays in memory. */
#include "lib/base/far_numbers.h"
#include "lib/io/temporary.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct ids_error err;

enum { MB = 1 << 20 };

static struct ids_far *far_of(size_t most_bytes) {
    int fd = ids_temporary_file(&err);
    ck_assert_int_ge(fd, 0);
    struct ids_far *far = ids_far_new(fd, most_bytes);
    ck_assert_ptr_nonnull(far);
    return far;
}

/* An array of malloc's. */
static uint32_t *numbers_from(uint32_t first, size_t bytes) {
    uint32_t *at = malloc(bytes);
    ck_assert_ptr_nonnull(at);
    for (size_t i = 0; i < bytes / sizeof *at; i++) at[i] = first + (uint32_t)i;
    return at;
}

static void check_numbers(const uint32_t *at, uint32_t first, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *at; i++)
        if (at[i] != first + (uint32_t)i) ck_abort_msg("%u at %zu, not %u", at[i], i, first + (uint32_t)i);
}

/* MB of files that the process has in memory; 0 where the system does not say. */
static long files_in_memory(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kilobytes = 0;
    while (status && fgets(line, sizeof line, status)) sscanf(line, "RssFile: %ld", &kilobytes);
    if (status) fclose(status);
    return kilobytes / 1024;
}

/* 24 arrays of 1 MB, read one after the other twice and written to in between: never are more than some in memory. */
START_TEST(what_is_read_needs_memory_and_nothing_else) {
    enum { ARRAYS = 24 };
    struct ids_far *far = far_of(4 * MB);
    uint32_t *arrays[ARRAYS];
    long before = files_in_memory(), most = 0;
    for (uint32_t i = 0; i < ARRAYS; i++) {
        uint32_t *array = numbers_from(i * MB, MB);
        arrays[i] = ids_far_keep(far, array, MB);
        ck_assert(ids_far_has(far, arrays[i]));
        ck_assert(ids_far_has(far, (char *)arrays[i] + MB - 1));
    }
    ck_assert_uint_eq(ids_far_bytes(far), ARRAYS * MB);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < ARRAYS; i++) {
            ids_far_turn(far, MB);
            check_numbers(arrays[i], i * MB + round, MB);
            for (size_t k = 0; k < MB / sizeof *arrays[i]; k++) arrays[i][k]++;
            long now = files_in_memory() - before;
            if (now > most) most = now;
        }
    }
    for (uint32_t i = 0; i < ARRAYS; i++) check_numbers(arrays[i], i * MB + 2, MB);
    ck_assert_uint_ge(ids_far_turns(far), 2 * ARRAYS / 6);
    ck_assert_int_le(most, 10);
    ids_far_free(far);
}
END_TEST

/* Arrays are changed in copies, by what mapping they lie in, also when others are changed meanwhile and their pages are
 * let go; whoever points into them sees the change when it is given back, and not before. */
START_TEST(arrays_are_changed_in_copies) {
    enum { ARRAYS = 5 };
    struct ids_far *far = far_of(MB);
    uint32_t *arrays[ARRAYS], *opened[ARRAYS];
    const size_t bytes[ARRAYS] = {MB, MB / 2, 3 * MB, MB / 4, 2 * MB};
    for (uint32_t i = 0; i < ARRAYS; i++) arrays[i] = ids_far_keep(far, numbers_from(i * 4 * MB, bytes[i]), bytes[i]);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < ARRAYS; i++) {
            opened[i] = ids_far_change(far, arrays[i], bytes[i]);
            ck_assert(!ids_far_has(far, opened[i]));
            check_numbers(opened[i], i * 4 * MB + round, bytes[i]);
            for (size_t k = 0; k < bytes[i] / sizeof *opened[i]; k++) opened[i][k]++;
            check_numbers(arrays[i], i * 4 * MB + round, bytes[i]);
        }
        for (uint32_t i = ARRAYS; i--;) {
            ids_far_changed(far, arrays[i], opened[i], bytes[i]);
            ids_far_turn(far, bytes[i]);
            check_numbers(arrays[i], i * 4 * MB + round + 1, bytes[i]);
        }
    }
    /* From the middle of one, which is nobody's beginning. */
    opened[0] = ids_far_change(far, arrays[2] + 100, 4);
    *opened[0] = 7;
    ids_far_changed(far, arrays[2] + 100, opened[0], 4);
    ck_assert_uint_eq(arrays[2][100], 7);
    ck_assert_uint_eq(arrays[2][99], 2 * 4 * MB + 2 + 99);
    ck_assert_uint_eq(arrays[2][101], 2 * 4 * MB + 2 + 101);
    ids_far_free(far);
}
END_TEST

/* Arrays that are put together lie together, at places that suit any type. */
START_TEST(arrays_are_mapped_together) {
    struct ids_far *far = far_of(MB);
    size_t at[3];
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(ids_far_put(far, "one", 4, &at[0]), 0);
        ck_assert_int_eq(ids_far_put(far, "", 1, &at[1]), 0);
        ck_assert_int_eq(ids_far_put(far, "three", 6, &at[2]), 0);
        char *mapped = ids_far_map(far);
        ck_assert_ptr_nonnull(mapped);
        ck_assert_str_eq(mapped + at[0], "one");
        ck_assert_str_eq(mapped + at[1], "");
        ck_assert_str_eq(mapped + at[2], "three");
        ck_assert_uint_eq(at[1] % 64 + at[2] % 64, 0);
        ck_assert_ptr_null(ids_far_map(far)); /* nothing more was put */
        ck_assert_int_eq(ids_far_put(far, "gone", 5, &at[0]), 0);
        ids_far_forget(far);
        ck_assert_ptr_null(ids_far_map(far));
    }
    ck_assert(!ids_far_has(far, &far));
    ck_assert(!ids_far_has(NULL, &far));
    ids_far_free(far);
    ids_far_free(NULL);
}
END_TEST

/* Small arrays, and all where there is no far memory, stay. */
START_TEST(what_is_not_worth_it_stays) {
    struct ids_far *far = far_of(MB);
    uint32_t *small = numbers_from(7, IDS_FAR_LEAST_BYTES - 4), *any = numbers_from(1, MB);
    ck_assert_ptr_eq(ids_far_keep(far, small, IDS_FAR_LEAST_BYTES - 4), small);
    ck_assert_ptr_eq(ids_far_keep(NULL, any, MB), any);
    ck_assert_uint_eq(ids_far_bytes(far), 0);
    free(small);
    free(any);
    ids_far_free(far);
}
END_TEST

/* A full disk, by a limit on the size of files; its signal would end the program, and does not come. */
START_TEST(without_room_on_the_disk_arrays_stay) {
    struct ids_far *far = far_of(MB);
    uint32_t *first = ids_far_keep(far, numbers_from(1, MB), MB);
    struct rlimit before, limit;
    ck_assert(ids_far_has(far, first));
    signal(SIGXFSZ, SIG_DFL);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){MB + MB / 2, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint32_t *second = numbers_from(2, MB);
    ck_assert_ptr_eq(ids_far_keep(far, second, MB), second);
    check_numbers(second, 2, MB);
    free(second);
    uint32_t *third = numbers_from(3, MB / 4); /* a smaller one has room */
    third = ids_far_keep(far, third, MB / 4);
    ck_assert(ids_far_has(far, third));
    check_numbers(third, 3, MB / 4);
    check_numbers(first, 1, MB);
    ids_far_free(far);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0); /* the next test may run in this process */
}
END_TEST

START_TEST(a_file_that_cannot_be_written_takes_nothing) {
    struct ids_far *far = ids_far_new(open("/dev/null", O_RDONLY), MB);
    uint32_t *array = numbers_from(1, MB);
    ck_assert_ptr_eq(ids_far_keep(far, array, MB), array);
    free(array);
    ids_far_free(far);
    far = ids_far_new(open("/dev/full", O_RDWR), MB);
    array = numbers_from(1, MB);
    ck_assert_ptr_eq(ids_far_keep(far, array, MB), array);
    free(array);
    ids_far_free(far);
}
END_TEST

/* No address space for a mapping. */
START_TEST(without_addresses_arrays_stay) {
    const char *sanitized = getenv("IDS_SANITIZE");
    if (getenv("IDS_VALGRIND") || (sanitized && *sanitized == '1')) return; /* whose own memory no limit bears */
    struct ids_far *far = far_of(MB);
    enum { LARGE = 64 * MB };
    uint32_t *array = numbers_from(1, LARGE);
    struct rlimit limit;
    char statm[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    if (fd < 0 || read(fd, statm, sizeof statm - 1) <= 0) return;
    close(fd);
    limit.rlim_cur = limit.rlim_max = (rlim_t)strtoul(statm, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + LARGE / 2;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_ptr_eq(ids_far_keep(far, array, LARGE), array);
    ck_assert_uint_eq(ids_far_bytes(far), 0);
    check_numbers(array, 1, LARGE);
    free(array);
    ids_far_free(far);
}
END_TEST

static void check_pieces(struct ids_far *far, size_t count) {
    struct ids_far_numbers numbers = {.far = far};
    const int64_t *at;
    for (size_t i = 0; i < count; i++) ck_assert_int_eq(ids_far_numbers_add(&numbers, (int64_t)(i * i)), 0);
    size_t seen = 0, in_far = 0;
    for (size_t piece = 0, length; (at = ids_far_numbers_piece(&numbers, piece, &length)); piece++) {
        in_far += (size_t)ids_far_has(far, at);
        for (size_t i = 0; i < length; i++, seen++)
            if (at[i] != (int64_t)(seen * seen)) ck_abort_msg("%zu of %zu is another one", seen, count);
    }
    ck_assert_uint_eq(seen, count);
    ck_assert_uint_eq(in_far, far && count ? (count - 1) / IDS_FAR_PIECE_MOST : 0);
    ids_far_numbers_done(&numbers);
}

/* None, one, a piece, one more, and some pieces; in memory and far. */
START_TEST(numbers_come_back_in_order) {
    IDS_NOT_UNDER_VALGRIND();
    const size_t counts[] = {0, 1, IDS_FAR_PIECE_MOST, IDS_FAR_PIECE_MOST + 1, 10 * IDS_FAR_PIECE_MOST + 5};
    struct ids_far *far = far_of(MB);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_pieces(NULL, counts[i]);
        check_pieces(far, counts[i]);
    }
    ids_far_free(far);
}
END_TEST

/* A file system in memory is no disk; a folder that is not there is an error. */
START_TEST(temporary_files_lie_on_a_disk) {
    setenv("TMPDIR", "/nowhere/at/all", 1);
    ck_assert_int_lt(ids_temporary_on_disk(&err), 0);
    if (!access("/dev/shm", W_OK)) {
        setenv("TMPDIR", "/dev/shm", 1);
        int fd = ids_temporary_file(&err);
        ck_assert_int_ge(fd, 0);
        close(fd);
        ck_assert_int_eq(ids_temporary_on_disk(&err), IDS_UNSUPPORTED);
    }
}
END_TEST

IDS_RUN_SUITE("far", what_is_read_needs_memory_and_nothing_else, arrays_are_changed_in_copies,
              arrays_are_mapped_together, what_is_not_worth_it_stays, without_room_on_the_disk_arrays_stay,
              a_file_that_cannot_be_written_takes_nothing, without_addresses_arrays_stay, numbers_come_back_in_order,
              temporary_files_lie_on_a_disk)
