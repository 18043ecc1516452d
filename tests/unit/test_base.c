/* lib/base: errors, arena, interned texts, growing arrays, maps. */
#include "lib/base/arena.h"
#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/idmap.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/memory.h"
#include "lib/base/parallel.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- error ---- */

START_TEST(a_number_agrees_with_what_it_counts) {
    ck_assert_str_eq(IDS_COUNTED(0, "step"), "0 steps");
    ck_assert_str_eq(IDS_COUNTED(1, "step"), "1 step");
    ck_assert_str_eq(IDS_COUNTED(2204, "device event"), "2,204 device events");
    ck_assert_str_eq(IDS_COUNTED(1, "copy"), "1 copy");
    ck_assert_str_eq(IDS_COUNTED(3, "copy"), "3 copies");
    ck_assert_str_eq(IDS_COUNTED(2, "process"), "2 processes");
    ck_assert_str_eq(IDS_COUNTED(2, "launch"), "2 launches");
    ck_assert_str_eq(IDS_COUNTED(2, "day"), "2 days");
    ck_assert_str_eq(IDS_COUNTED(UINT64_MAX, "event"), "18,446,744,073,709,551,615 events");
}
END_TEST

START_TEST(an_error_reads_from_the_outside_in) {
    struct ids_error err = IDS_ERROR_INIT;
    ck_assert_int_eq(ids_fail(&err, IDS_CORRUPT, "varint runs past the end (offset %d)", 8812), IDS_CORRUPT);
    ck_assert_int_eq(ids_error_at(&err, "plane %d ('%s')", 3, "/device:GPU:0"), IDS_CORRUPT);
    ck_assert_int_eq(ids_error_at(&err, "report"), IDS_CORRUPT);
    ck_assert_str_eq(err.text, "report: plane 3 ('/device:GPU:0'): varint runs past the end (offset 8812)");
    ids_fail(&err, IDS_IO, "no space");
    ck_assert_str_eq(err.text, "no space");
    ck_assert_int_eq(err.code, IDS_IO);
}
END_TEST

START_TEST(a_long_error_is_cut) {
    struct ids_error err = IDS_ERROR_INIT;
    char text[700];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    ids_fail(&err, IDS_IO, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert_int_eq(ids_error_at(&err, "where"), IDS_IO);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert(!strncmp(err.text, "where: xxx", 10));
    ids_error_at(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert(!strncmp(err.text, "xxx", 3));
}
END_TEST

/* A path as long as a system allows, in a message and around one: the reason stays, and both ends of the path. */
START_TEST(a_long_path_is_cut_in_its_middle) {
    struct ids_error err = IDS_ERROR_INIT;
    char path[5001];
    memset(path, 'x', sizeof path);
    memcpy(path, "/first/", 7);
    memcpy(path + sizeof path - 6, "/last", 6);
    for (int i = 0; i < 2; i++) {
        char whole[5100];
        snprintf(whole, sizeof whole, i % 2 ? "cannot open '%s'" : "%s", path);
        ids_fail(&err, IDS_IO, "no such thing at all");
        ids_error_at(&err, "%s", whole);
        ids_error_at(&err, "outside");
        ck_assert_ptr_nonnull(strstr(err.text, "no such thing at all"));
        ck_assert_ptr_nonnull(strstr(err.text, "/first/"));
        ck_assert_ptr_nonnull(strstr(err.text, "/last"));
        ck_assert_ptr_nonnull(strstr(err.text, "..."));
        ck_assert(!strncmp(err.text, "outside: ", 9));
    }
    ids_fail(&err, IDS_IO, "'%s': the reason stands behind", path);
    ck_assert_ptr_nonnull(strstr(err.text, "/last': the reason stands behind"));
    errno = EACCES;
    ids_fail_system(&err, "cannot open '%s'", path);
    ck_assert_ptr_nonnull(strstr(err.text, "/last': Permission denied"));
}
END_TEST

START_TEST(a_hint_stands_beside_the_message) {
    struct ids_error err = IDS_ERROR_INIT;
    ids_fail(&err, IDS_LIMIT, "too much");
    ck_assert_int_eq(ids_hint(&err, "--most %d allows more", 3), IDS_LIMIT);
    ids_error_at(&err, "file");
    ck_assert_str_eq(err.text, "file: too much");
    ck_assert_str_eq(err.hint, "--most 3 allows more");
    ids_fail(&err, IDS_IO, "another one");
    ck_assert_str_eq(err.hint, "");
}
END_TEST

/* ---- arena ---- */

START_TEST(arena_pieces_are_aligned_zeroed_and_apart) {
    struct ids_arena arena = {0};
    unsigned char *pieces[200];
    for (size_t i = 0; i < 200; i++) { /* up to 2 KiB each: several blocks */
        pieces[i] = ids_arena_alloc(&arena, i * 10 + 1);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        for (size_t b = 0; b <= i * 10; b++) ck_assert_uint_eq(pieces[i][b], 0);
        memset(pieces[i], (int)i + 1, i * 10 + 1);
    }
    for (size_t i = 0; i < 200; i++) {
        ck_assert_uint_eq(pieces[i][0], i + 1);
        ck_assert_uint_eq(pieces[i][i * 10], i + 1);
    }
    ck_assert_uint_ge(arena.bytes, 199 * 200 / 2 * 10); /* Σ i·10 */
    ids_arena_done(&arena);
    ck_assert_ptr_null(arena.block);
    ck_assert_uint_eq(arena.bytes, 0);
}
END_TEST

START_TEST(a_big_arena_piece_leaves_the_current_block_in_use) {
    struct ids_arena arena = {0};
    char *first = ids_arena_alloc(&arena, 16);
    char *big = ids_arena_alloc(&arena, 1 << 20);
    char *second = ids_arena_alloc(&arena, 16);
    ck_assert_ptr_nonnull(big);
    memset(big, 1, 1 << 20);
    ck_assert_ptr_eq(second, first + 16);
    ck_assert_ptr_null(ids_arena_alloc(&arena, SIZE_MAX));
    ck_assert_ptr_null(ids_arena_copy(&arena, "", SIZE_MAX));
    ids_arena_done(&arena);
}
END_TEST

START_TEST(an_arena_copy_ends_in_zero) {
    struct ids_arena arena = {0};
    memset(ids_arena_alloc(&arena, 16), 'x', 16);
    char *copy = ids_arena_copy(&arena, "a\0bcd", 3); /* "cd" is not part of it */
    ck_assert(!memcmp(copy, "a\0b\0", 4));
    ck_assert_str_eq(ids_arena_copy(&arena, "", 0), "");
    ids_arena_done(&arena);
}
END_TEST

/* ---- intern ---- */

START_TEST(an_arena_prints_texts_of_any_length) {
    struct ids_arena arena = {0};
    ck_assert_str_eq(ids_arena_print(&arena, "%d of %s", 3, "four"), "3 of four");
    const char *long_text = ids_arena_print(&arena, "%*s", 100000, "end");
    ck_assert_uint_eq(strlen(long_text), 100000);
    ck_assert_str_eq(long_text + 99997, "end");
    ids_arena_done(&arena);
}
END_TEST

START_TEST(text_ids_are_dense_and_zero_is_empty) {
    struct ids_strings strings = {0};
    ck_assert_uint_eq(ids_strings_find(&strings, "", 0), 0);
    ck_assert_uint_eq(ids_strings_find(&strings, "a", 1), IDS_NO_TEXT);
    ck_assert_uint_eq(ids_intern_z(&strings, "a"), 1);
    ck_assert_uint_eq(ids_intern_z(&strings, ""), 0);
    ck_assert_uint_eq(ids_intern_z(&strings, "b"), 2);
    ck_assert_uint_eq(ids_intern_z(&strings, "a"), 1);
    ck_assert_uint_eq(ids_intern(&strings, "abc", 1), 1);
    ck_assert_uint_eq(strings.count, 3);
    ck_assert_str_eq(ids_strings_z(&strings, 2), "b");
    ck_assert_str_eq(ids_strings_z(&strings, 3), ""); /* not there */
    ck_assert_uint_eq(ids_strings_text(&strings, IDS_NO_TEXT).length, 0);
    ids_strings_done(&strings);
}
END_TEST

START_TEST(texts_may_hold_zero_bytes) {
    struct ids_strings strings = {0};
    uint32_t whole = ids_intern(&strings, "a\0b", 3), other = ids_intern(&strings, "a\0c", 3),
             cut = ids_intern_z(&strings, "a");
    uint32_t zero = ids_intern(&strings, "\0", 1);
    ck_assert_uint_ne(whole, other);
    ck_assert_uint_ne(whole, cut);
    ck_assert_uint_ne(zero, 0);
    struct ids_text text = ids_strings_text(&strings, whole);
    ck_assert_uint_eq(text.length, 3);
    ck_assert(!memcmp(text.at, "a\0b\0", 4));
    ck_assert_uint_eq(ids_strings_find(&strings, "a\0c", 3), other);
    ids_strings_done(&strings);
}
END_TEST

START_TEST(the_beginning_of_a_text_is_another_text) {
    struct ids_strings strings = {0};
    char text[2000];
    memset(text, 'a', sizeof text);
    for (uint32_t length = 0; length < sizeof text; length++) {
        ck_assert_uint_eq(ids_intern(&strings, text, length), length);
    }
    for (uint32_t length = sizeof text - 1; length; length--) {
        ck_assert_uint_eq(ids_intern(&strings, text, length), length);
        ck_assert_uint_eq(ids_strings_find(&strings, text, length), length);
    }
    ids_strings_done(&strings);
}
END_TEST

START_TEST(texts_survive_growth) {
    const uint32_t many = (uint32_t)ids_some_of(20000, 2000);
    struct ids_strings strings = {0};
    char text[32];
    const char *first = NULL;
    for (uint32_t i = 0; i < many; i++) {
        snprintf(text, sizeof text, "name.%u", i);
        ck_assert_uint_eq(ids_intern_z(&strings, text), i + 1);
        if (!i) first = ids_strings_z(&strings, 1);
    }
    ck_assert_ptr_eq(ids_strings_z(&strings, 1), first); /* texts stay where they are */
    for (uint32_t i = 0; i < many; i++) {
        int length = snprintf(text, sizeof text, "name.%u", i);
        ck_assert_uint_eq(ids_strings_find(&strings, text, (size_t)length), i + 1);
        ck_assert_str_eq(ids_strings_z(&strings, i + 1), text);
    }
    ck_assert_uint_eq(ids_strings_find(&strings, "name.x", 6), IDS_NO_TEXT);
    ck_assert_uint_eq(strings.count, many + 1);
    ids_strings_done(&strings);
}
END_TEST

/* ---- vec ---- */

START_TEST(texts_stand_on_others) {
    enum { MANY = 1000 };
    struct ids_strings below = {0}, above;
    uint32_t shared = ids_intern_z(&below, "shared");
    char text[32];
    for (int i = 0; i < MANY; i++) ids_intern(&below, text, (size_t)snprintf(text, sizeof text, "below %d", i));
    ids_strings_stand_on(&above, &below);
    ck_assert_uint_eq(ids_strings_find(&above, "own", 3), IDS_NO_TEXT);
    ck_assert_uint_eq(ids_intern_z(&above, ""), 0);
    ck_assert_uint_eq(ids_intern_z(&above, "shared"), shared);
    uint32_t first = MANY + 2;
    for (uint32_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(ids_intern(&above, text, (size_t)snprintf(text, sizeof text, "own %u", i)), first + i);
    ck_assert_uint_eq(ids_intern_z(&above, "own 7"), first + 7);
    ck_assert_uint_eq(ids_strings_find(&above, "own 7", 5), first + 7);
    ck_assert_uint_eq(ids_strings_find(&above, "shared", 6), shared);
    ck_assert_str_eq(ids_strings_z(&above, first + 7), "own 7");
    ck_assert_str_eq(ids_strings_z(&above, shared), "shared");
    ck_assert_str_eq(ids_strings_z(&above, first + MANY), "");
    ck_assert_uint_eq(ids_strings_find(&below, "own 7", 5), IDS_NO_TEXT);
    ids_strings_done(&above);
    ids_strings_done(&below);
}
END_TEST

static void count_up(void *context, size_t i) {
    atomic_fetch_add((atomic_int *)context + i, 1);
}

START_TEST(work_is_done_once) {
    enum { MANY = 5000 };
    static atomic_int done[MANY];
    for (unsigned jobs = 0; jobs <= 8; jobs += 4) {
        ids_jobs_set(jobs, 1);
        ck_assert_uint_eq(ids_jobs(), jobs ? jobs : 1);
        ids_parallel(MANY, count_up, done);
        for (int i = 0; i < MANY; i++) ck_assert_int_eq(atomic_exchange(&done[i], 0), 1);
        ids_parallel(0, count_up, done);
        ids_parallel(1, count_up, done);
        ck_assert_int_eq(atomic_exchange(&done[0], 0), 1);
    }
    ids_jobs_set(1000000, 0);
    ck_assert_uint_eq(ids_jobs(), IDS_JOBS_MAX);
}
END_TEST

enum { CREW = 4 };
struct crew {
    atomic_int arrived;
    atomic_long of[CREW]; /* which thread did which */
};

/* Each thread does one, for it waits for the others. */
static void meet(void *context, size_t i) {
    struct crew *crew = context;
    atomic_store(&crew->of[i], (long)syscall(SYS_gettid));
    atomic_fetch_add(&crew->arrived, 1);
    while (atomic_load(&crew->arrived) < CREW) sched_yield();
}

static int is_of(const struct crew *crew, long thread) {
    int is = 0;
    for (int i = 0; i < CREW; i++) is |= atomic_load(&crew->of[i]) == thread;
    return is;
}

static int threads_there(void) {
    struct dirent *entry;
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (folder && (entry = readdir(folder))) count += entry->d_name[0] != '.';
    if (folder) closedir(folder);
    return count;
}

START_TEST(workers_wait_for_more) {
    struct crew first = {0}, next = {0};
    const int before = threads_there();
    ids_jobs_set(CREW, 1);
    ids_workers_keep();
    ids_parallel(CREW, meet, &first);
    ids_parallel(CREW, meet, &next);
    for (int i = 0; i < CREW; i++) ck_assert(is_of(&first, atomic_load(&next.of[i])));
    ids_workers_let_go();
    if (before) ck_assert_int_eq(threads_there(), before);
    first = next = (struct crew){0};
    ids_parallel(CREW, meet, &first); /* without who keeps them they end with it */
    if (before) ck_assert_int_eq(threads_there(), before);
}
END_TEST

static void count_rows(void *context, size_t i) {
    enum { COLUMNS = 50 };
    ids_parallel(COLUMNS, count_up, (atomic_int *)context + i * COLUMNS);
}

START_TEST(work_may_share_its_own) {
    enum { ROWS = 40, COLUMNS = 50 };
    static atomic_int done[ROWS * COLUMNS];
    ids_jobs_set(CREW, 1);
    ids_parallel(ROWS, count_rows, done);
    for (int i = 0; i < ROWS * COLUMNS; i++) ck_assert_int_eq(atomic_load(&done[i]), 1);
}
END_TEST

/* Room that is expected is there at once, and elements stay where they are while it lasts. */
START_TEST(expected_room) {
    size_t room = 0, count = 0;
    int *at = ids_vec_expect(NULL, &room, 1000, sizeof *at), *first = at;
    ck_assert_uint_eq(room, 1000);
    for (int i = 0; i < 1000; i++) *IDS_PUSH(at, count, room) = i;
    ck_assert_ptr_eq(at, first);
    for (int i = 1000; i < 2000; i++) *IDS_PUSH(at, count, room) = i;
    for (int i = 0; i < 2000; i++) ck_assert_int_eq(at[i], i);
    ck_assert_ptr_eq(ids_vec_expect(at, &room, 10, sizeof *at), at); /* it has more */
    ck_assert_ptr_eq(ids_vec_expect(at, &room, SIZE_MAX / 2, sizeof *at), at);
    ck_assert_uint_ge(room, 2000);
    free(at);
    int *small = NULL; /* one that was expected may be the first of more */
    size_t small_room = 0, small_count = 0;
    small = ids_vec_expect(small, &small_room, 1, sizeof *small);
    for (int i = 0; i < 3; i++) {
        int *fresh = IDS_PUSH(small, small_count, small_room);
        ck_assert_ptr_nonnull(fresh);
        *fresh = i;
    }
    ck_assert_int_eq(small[0] + small[1] + small[2], 3);
    free(small);
}
END_TEST

/* Sanitizers have a malloc of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define IDS_HAS_GLIBC_MALLOC 1
#endif

#ifdef IDS_HAS_GLIBC_MALLOC
/* Pages of this process that are in memory. */
static size_t pages_held(void) {
    size_t all = 0, held = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    ck_assert_int_eq(fscanf(file, "%zu %zu", &all, &held), 2);
    fclose(file);
    return held;
}
#endif

/* Each second piece is freed, so that none lies at the end, which malloc gives back by itself. */
START_TEST(freed_memory_goes_back) {
#ifdef IDS_HAS_GLIBC_MALLOC
    enum { PIECES = 400, BYTES = 64 << 10, PAGE = 4096 };
    static char *pieces[PIECES];
    if (getenv("IDS_VALGRIND")) return; /* its malloc is another one */
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = malloc(BYTES);
        ck_assert_ptr_nonnull(pieces[i]);
        memset(pieces[i], 1, BYTES);
    }
    for (int i = 0; i < PIECES; i += 2) free(pieces[i]);
    size_t before = pages_held();
    ids_memory_give_back();
    size_t after = pages_held();
    ck_assert_uint_le(after + PIECES / 4 * (BYTES / PAGE), before);
    for (int i = 1; i < PIECES; i += 2) free(pieces[i]);
#endif
}
END_TEST

START_TEST(push_grows_and_keeps) {
    uint32_t *numbers = NULL;
    size_t count = 0, room = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t *next = IDS_PUSH(numbers, count, room);
        ck_assert_ptr_nonnull(next);
        ck_assert_ptr_eq(next, &numbers[i]);
        *next = i;
        ck_assert_uint_eq(count, i + 1);
        ck_assert_uint_le(count, room);
    }
    for (uint32_t i = 0; i < 10000; i++) ck_assert_uint_eq(numbers[i], i);
    free(numbers);
}
END_TEST

START_TEST(growth_does_not_overflow) {
    int *numbers = NULL;
    size_t count = 0, room = 0;
    *IDS_PUSH(numbers, count, room) = 7;
    size_t too_many = SIZE_MAX - 1, full = too_many;
    ck_assert_ptr_null(ids_vec_grow(numbers, &too_many, 1)); /* the number of elements overflows */
    ck_assert_uint_eq(too_many, SIZE_MAX - 1);
    ck_assert_ptr_null(IDS_PUSH(numbers, full, too_many)); /* and the array stays */
    ck_assert_uint_eq(full, SIZE_MAX - 1);
    ck_assert_int_eq(numbers[0], 7);
    size_t big = SIZE_MAX / 16;
    ck_assert_ptr_null(ids_vec_grow(numbers, &big, 16)); /* the number of bytes overflows */
    ck_assert_uint_eq(big, SIZE_MAX / 16);
    free(numbers);
}
END_TEST

/* ---- saturate ---- */

START_TEST(sums_stop_at_the_largest_number) {
    static const int64_t table[][3] = {
        {5, 7, 12},
        {5, -7, -2},
        {INT64_MAX - 1, 1, INT64_MAX},
        {INT64_MAX - 1, 2, INT64_MAX},
        {INT64_MAX, INT64_MAX, INT64_MAX},
        {INT64_MIN + 1, -1, INT64_MIN},
        {INT64_MIN, -1, INT64_MIN},
        {INT64_MIN, INT64_MAX, -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t sum = table[i][0];
        ids_sum(&sum, table[i][1]);
        ck_assert_int_eq(sum, table[i][2]);
    }
}
END_TEST

/* ---- idmap ---- */

START_TEST(idmap_dense_and_sparse) {
    static const uint64_t ids[] = {0,
                                   1,
                                   63,
                                   64,
                                   (1 << 18) - 1, /* the last that the array takes */
                                   1 << 18,
                                   (uint64_t)-1, /* negative ids of a file */
                                   (uint64_t)-5,
                                   (uint64_t)INT64_MAX,
                                   (uint64_t)INT64_MIN};
    enum { COUNT = sizeof ids / sizeof *ids };
    struct ids_idmap map = {0};
    for (size_t i = 0; i < COUNT; i++) ck_assert_uint_eq(ids_idmap_get(&map, ids[i]), IDS_IDMAP_NONE);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(ids_idmap_set(&map, ids[i], i), 0);
        for (uint32_t k = 0; k < COUNT; k++)
            ck_assert_uint_eq(ids_idmap_get(&map, ids[k]), k <= i ? k : IDS_IDMAP_NONE);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        ck_assert_int_eq(ids_idmap_set(&map, ids[i], UINT32_MAX - 1 - i), 0); /* replaces */
    for (uint32_t i = 0; i < COUNT; i++) ck_assert_uint_eq(ids_idmap_get(&map, ids[i]), UINT32_MAX - 1 - i);
    ck_assert_uint_eq(ids_idmap_get(&map, 2), IDS_IDMAP_NONE);
    ck_assert_uint_eq(ids_idmap_get(&map, (uint64_t)-2), IDS_IDMAP_NONE);
    ids_idmap_done(&map);
    ck_assert_uint_eq(ids_idmap_get(&map, 0), IDS_IDMAP_NONE);
}
END_TEST

START_TEST(idmap_many_sparse_ids) {
    enum { MANY = 5000 };
    struct ids_idmap map = {0};
    /* Multiples of 2^32, whose low bits are all the same: a poor hash would need forever. */
    for (uint32_t i = 0; i < MANY; i++) ck_assert_int_eq(ids_idmap_set(&map, ((uint64_t)i + 1) << 32, i), 0);
    for (uint32_t i = 0; i < MANY; i++) ck_assert_uint_eq(ids_idmap_get(&map, ((uint64_t)i + 1) << 32), i);
    ck_assert_uint_eq(map.slot_count, MANY);
    ck_assert_uint_eq(ids_idmap_get(&map, (uint64_t)(MANY + 1) << 32), IDS_IDMAP_NONE);
    ids_idmap_done(&map);
}
END_TEST

/* ---- keymap ---- */

START_TEST(keymap_keeps_the_first_value) {
    struct ids_keymap map = {0};
    uint64_t value = 99;
    ck_assert_int_eq(ids_keymap_get(&map, 5, &value), 0);
    ck_assert_int_eq(ids_keymap_add(&map, 5, 50), 1);
    ck_assert_int_eq(ids_keymap_add(&map, 5, 51), 0);
    ck_assert_int_eq(ids_keymap_get(&map, 5, &value), 1);
    ck_assert_uint_eq(value, 50);
    ck_assert_int_eq(ids_keymap_add(&map, 0, 1), 0); /* key 0 is "none" */
    ck_assert_int_eq(ids_keymap_get(&map, 0, &value), 0);
    ck_assert_int_eq(ids_keymap_get(&map, 6, &value), 0);
    ck_assert_uint_eq(value, 50); /* untouched by a miss */
    ck_assert_uint_eq(map.count, 1);
    ids_keymap_done(&map);
}
END_TEST

START_TEST(keymap_at_counts) {
    struct ids_keymap map = {0};
    for (uint64_t i = 0; i < 30000; i++) ++*ids_keymap_at(&map, i % 1000 + 1);
    ck_assert_uint_eq(map.count, 1000);
    for (uint64_t key = 1; key <= 1000; key++) ck_assert_uint_eq(*ids_keymap_at(&map, key), 30);
    ck_assert_uint_eq(*ids_keymap_at(&map, 1001), 0);
    ids_keymap_done(&map);
}
END_TEST

START_TEST(keymap_survives_growth) {
    enum { MANY = 20000 };
    struct ids_keymap map = {0};
    uint64_t value;
    for (uint64_t i = 0; i < MANY; i++) ck_assert_int_eq(ids_keymap_add(&map, UINT64_MAX - i * 512, i), 1);
    for (uint64_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(ids_keymap_get(&map, UINT64_MAX - i * 512, &value), 1);
        ck_assert_uint_eq(value, i);
    }
    ck_assert_uint_eq(map.count, MANY);
    ids_keymap_done(&map);
}
END_TEST

START_TEST(keys_of_pairs_differ) {
    struct ids_keymap map = {0};
    for (uint64_t a = 0; a < 100; a++) {
        for (uint64_t b = 0; b < 100; b++) ck_assert_int_eq(ids_keymap_add(&map, ids_key_of(a, b), 1), 1);
    }
    ids_keymap_done(&map);
}
END_TEST

IDS_RUN_SUITE("base", a_number_agrees_with_what_it_counts, an_error_reads_from_the_outside_in, a_long_error_is_cut,
              a_long_path_is_cut_in_its_middle, a_hint_stands_beside_the_message,
              arena_pieces_are_aligned_zeroed_and_apart, a_big_arena_piece_leaves_the_current_block_in_use,
              an_arena_copy_ends_in_zero, an_arena_prints_texts_of_any_length, text_ids_are_dense_and_zero_is_empty,
              texts_may_hold_zero_bytes, the_beginning_of_a_text_is_another_text, texts_survive_growth,
              texts_stand_on_others, work_is_done_once, workers_wait_for_more, work_may_share_its_own, expected_room,
              freed_memory_goes_back, push_grows_and_keeps, growth_does_not_overflow, sums_stop_at_the_largest_number,
              idmap_dense_and_sparse, idmap_many_sparse_ids, keymap_keeps_the_first_value, keymap_at_counts,
              keymap_survives_growth, keys_of_pairs_differ)
