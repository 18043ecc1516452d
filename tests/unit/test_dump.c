/* lib/model/dump.c: the counts and the hash that tests/oracle holds idsprof's decoding against. What an item is made of
 * stands in tests/oracle/xplane_oracle.py; the finished hash is compared there. Here: what must and what must not
 * change it. */
#include "lib/model/dump.h"
#include "lib/model/keys.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

static struct ids_error err;

struct event {
    int64_t start_ps, duration_ps;
    const char *name;
    const struct ids_arg *args;
    uint32_t arg_count;
};

static struct ids_dump_totals dump_of(int64_t base_ns, const char *plane_name, int64_t line_id,
                                      const struct event *events, size_t count) {
    struct ids_dump *dump;
    ck_assert_int_eq(ids_dump_new(&dump, &err), 0);
    struct ids_sink *sink = ids_dump_sink(dump);
    uint32_t plane, track, name;
    ck_assert_int_eq(sink->ops->host(sink, &(struct ids_host_info){.base_ns = base_ns}, &err), 0);
    ck_assert_int_eq(
        sink->ops->plane(sink, &(struct ids_plane_info){.name = ids_intern_z(sink->strings, plane_name)}, &plane, &err),
        0);
    ck_assert_int_eq(sink->ops->track(sink, &(struct ids_track_info){.plane = plane, .id = line_id}, &track, &err), 0);
    for (size_t i = 0; i < count; i++) {
        const struct ids_name_info info = {.plane = plane, .text = ids_intern_z(sink->strings, events[i].name)};
        ck_assert_int_eq(sink->ops->name(sink, &info, &name, &err), 0);
        const struct ids_slice slice = {.start_ps = events[i].start_ps,
                                        .duration_ps = events[i].duration_ps,
                                        .name = name,
                                        .arg_count = events[i].arg_count,
                                        .args = events[i].args};
        ck_assert_int_eq(sink->ops->slice(sink, track, &slice, &err), 0);
    }
    ck_assert_int_eq(sink->ops->track_end(sink, track, &err), 0);
    ck_assert_int_eq(sink->ops->hlo(sink, &(struct ids_instruction_info){0}, &err), 0);
    ck_assert_int_eq(sink->ops->diag(sink, &(struct ids_diag){0}, &err), 0);
    struct ids_dump_totals totals;
    ids_dump_totals(dump, &totals);
    ids_dump_free(dump);
    return totals;
}

/* An item as the oracle's text defines it. */
static uint64_t hash_of(const char *item, size_t length) {
    uint64_t z = (uint64_t)crc32(0, (const unsigned char *)item, (unsigned)length) << 32 |
                 adler32(1, (const unsigned char *)item, (unsigned)length);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
#define ITEM(text) hash_of(text, sizeof(text) - 1)
#define US "\x1f"

START_TEST(items_are_what_the_oracle_says) {
    const struct ids_arg args[] = {
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_INT, .i = -5},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_UINT, .u = UINT64_MAX},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_REAL, .d = 1.5},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_TEXT, .text = IDS_KEY_NAME},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_CHARS, .chars = "a\0b", .length = 3},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_BYTES, .chars = "123456789", .length = 9},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_REF, .u = 9},
        {.key = IDS_KEY_SIZE, .type = IDS_VALUE_NONE},
    };
    const struct event events[] = {{.start_ps = 7, .duration_ps = -1, .name = "k", .args = args, .arg_count = 8}};
    struct ids_dump_totals totals = dump_of(1700000000000000000, "/p", -3, events, 1);
    /* 1.7e18 ns are 1.7e21 ps, beyond 64 bits. crc32 of "123456789" is 0xcbf43926 = 3421780262. */
#define EVENT US "/p" US "-3" US US "1700000000000000000007" US "-1" US "k"
    uint64_t wanted =
        ITEM("E" EVENT) + ITEM("S" EVENT US "size" US "i:-5") + ITEM("S" EVENT US "size" US "u:18446744073709551615") +
        ITEM("S" EVENT US "size" US "d:3ff8000000000000") + ITEM("S" EVENT US "size" US "s:name") +
        ITEM("S" EVENT US "size" US "s:a\0b") + ITEM("S" EVENT US "size" US "b:9:3421780262") +
        ITEM("S" EVENT US "size" US "r:9") + ITEM("S" EVENT US "size" US "n:") + ITEM("L" US "/p" US "-3" US US "1");
    ck_assert_uint_eq(totals.hash, wanted);
    ck_assert_uint_eq(totals.events, 1);
    ck_assert_uint_eq(totals.event_stats, 8);
    ck_assert_uint_eq(totals.planes, 1);
    ck_assert_uint_eq(totals.lines, 1);
}
END_TEST

START_TEST(order_is_nothing_all_else_is) {
    const struct event one = {.start_ps = 5, .duration_ps = 6, .name = "a"},
                       two = {.start_ps = -7, .duration_ps = 8, .name = "b"};
    const uint64_t hash = dump_of(0, "/p", 1, (const struct event[]){one, two}, 2).hash;
    ck_assert_uint_eq(dump_of(0, "/p", 1, (const struct event[]){two, one}, 2).hash, hash);
    ck_assert_uint_ne(dump_of(0, "/p", 1, (const struct event[]){one, one}, 2).hash, hash);
    ck_assert_uint_ne(dump_of(0, "/p", 1, (const struct event[]){one}, 1).hash, hash);
    ck_assert_uint_ne(dump_of(0, "/p", 2, (const struct event[]){one, two}, 2).hash, hash);
    ck_assert_uint_ne(dump_of(0, "/q", 1, (const struct event[]){one, two}, 2).hash, hash);
    ck_assert_uint_ne(dump_of(1, "/p", 1, (const struct event[]){one, two}, 2).hash, hash);
    struct event other = two;
    other.start_ps = 7; /* the sign */
    ck_assert_uint_ne(dump_of(0, "/p", 1, (const struct event[]){one, other}, 2).hash, hash);
    other = two;
    other.duration_ps++;
    ck_assert_uint_ne(dump_of(0, "/p", 1, (const struct event[]){one, other}, 2).hash, hash);
}
END_TEST

START_TEST(stats_of_planes_and_names) {
    struct ids_dump *dump;
    struct ids_dump_totals totals;
    ck_assert_int_eq(ids_dump_new(&dump, &err), 0);
    struct ids_sink *sink = ids_dump_sink(dump);
    const struct ids_arg arg = {.key = IDS_KEY_SIZE, .type = IDS_VALUE_INT, .i = 4};
    uint32_t plane, name;
    ck_assert_int_eq(
        sink->ops->plane(sink, &(struct ids_plane_info){ids_intern_z(sink->strings, "/p"), &arg, 1}, &plane, &err), 0);
    const struct ids_name_info info = {
        .plane = plane, .text = ids_intern_z(sink->strings, "k"), .args = &arg, .arg_count = 1};
    ck_assert_int_eq(sink->ops->name(sink, &info, &name, &err), 0);
    ids_dump_totals(dump, &totals);
    ck_assert_uint_eq(totals.plane_stats, 1);
    ck_assert_uint_eq(totals.metadata_stats, 1);
    ck_assert_uint_eq(totals.hash, ITEM("P" US "/p" US "size" US "i:4") + ITEM("M" US "/p" US "k" US "size" US "i:4"));
    ids_dump_free(dump);
}
END_TEST

IDS_RUN_SUITE("dump", items_are_what_the_oracle_says, order_is_nothing_all_else_is, stats_of_planes_and_names)
