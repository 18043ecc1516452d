/* formats/xplane.c over files that are cut, damaged, or none. */
#include "tests/support/suite.h"
#include "tests/support/xplane_log.h"

/* Two planes of two lines of two events, with tables behind the lines. `ends` gets where each event ends, and `whole`
 * where each plane does. */
static struct pb sample(size_t ends[8], size_t whole[2]) {
    struct pb space = {0};
    for (int p = 0; p < 2; p++) {
        struct pb one = plane(p, "/host:CPU");
        size_t in_plane[4];
        for (int l = 0; l < 2; l++) {
            struct pb thread = line(l, "thread", 1000);
            size_t in_line[2];
            for (int e = 0; e < 2; e++) {
                struct pb item = event(1, 1000 * e, 300);
                pb_message(&item, 4, stat_text(1, 5, "value"));
                pb_message(&thread, 4, item);
                in_line[e] = thread.length;
            }
            size_t length = thread.length;
            pb_message(&one, 3, thread);
            for (int e = 0; e < 2; e++) in_plane[l * 2 + e] = one.length - length + in_line[e];
        }
        metadata(&one, 4, 1, "call");
        metadata(&one, 5, 1, "key");
        size_t length = one.length;
        pb_message(&space, 1, one);
        for (int e = 0; e < 4; e++) ends[p * 4 + e] = space.length - length + in_plane[e];
        whole[p] = space.length;
    }
    return space;
}

START_TEST(a_file_cut_at_any_byte_keeps_its_whole_events) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    for (size_t length = 0; length <= space.length; length++) {
        /* In memory of exactly that size, so that a byte read too many is seen. */
        uint8_t *cut = malloc(length ? length : 1);
        memcpy(cut, space.at, length);
        int code = read_bytes(cut, length, 0);
        uint32_t kept = 0;
        for (int i = 0; i < 8; i++) kept += ends[i] <= length;
        int complete = length == whole[0] || length == whole[1];
        if (!length) {
            ck_assert_int_eq(code, IDS_CORRUPT); /* no file at all */
        } else {
            ck_assert_msg(code == (kept ? 0 : IDS_TRUNCATED), "cut at %zu: %d '%s'", length, code, err.text);
            ck_assert_int_eq(log_of.slices, kept);
            if (!code) ck_assert_int_eq(log_of.sink.complete, complete);
            ck_assert_int_eq(strstr(log_of.text, "xplane.truncated") != NULL, !code && !complete);
        }
        free(cut);
    }
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(a_cut_file_says_where) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    char wanted[128];
    ck_assert_int_eq(read_bytes(space.at, ends[4] + 1, 0), 0); /* the second plane's second event has a byte */
    ck_assert_ptr_nonnull(strstr(log_of.text, "count 5\n"));
    ck_assert_int_eq(read_bytes(space.at, ends[0] - 1, 0), IDS_TRUNCATED);
    snprintf(wanted, sizeof wanted, "the file is cut at %zu bytes, before its first whole event", ends[0] - 1);
    ck_assert_str_eq(err.text, wanted);
    ck_assert_int_eq(read_bytes(space.at, 1, 0), IDS_TRUNCATED);
    ck_assert_str_eq(err.text, "the file ends before its first plane");
    pb_free(&space);
    clear_log();
}
END_TEST

/* One changed byte may make another profile, but it never makes idsprof read beyond, hang or say something else. */
START_TEST(any_byte_may_be_anything) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    static const uint8_t values[] = {0x00, 0x01, 0x03, 0x0a, 0x7f, 0x80, 0xff};
    int corrupt = 0, sound = 0;
    for (size_t at = 0; at < space.length; at++) {
        uint8_t was = space.at[at];
        for (size_t v = 0; v < sizeof values; v++) {
            space.at[at] = values[v];
            int code = read_bytes(space.at, space.length, 0);
            ck_assert_msg(code == 0 || code == IDS_CORRUPT || code == IDS_TRUNCATED, "byte %zu = %u: %s", at, values[v],
                          err.text);
            if (code) ck_assert_uint_gt(strlen(err.text), 0);
            corrupt += code == IDS_CORRUPT;
            sound += code == 0;
        }
        space.at[at] = was;
    }
    ck_assert_int_gt(corrupt, 100);
    ck_assert_int_gt(sound, 100);
    pb_free(&space);
    clear_log();
}
END_TEST

/* A plane "p" (offset 2: 12 01 'p') whose line holds `bytes`, and 30 more fields and the name of stat 1 behind it, so
 * that no end of the file is near. */
static struct pb line_with(const char *bytes, size_t length) {
    struct pb one = {0};
    pb_text(&one, 2, "p");
    pb_bytes(&one, 3, bytes, length);
    for (int i = 0; i < 30; i++) pb_int(&one, 1, 1);
    metadata(&one, 5, 1, "key");
    return space_of(one);
}

START_TEST(corrupt_files_say_where) {
    /* The line's bytes begin at 7: 0a LL 12 01 p 1a LL. */
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } table[] = {
        {"\x08\x01\x0b", 3, "plane 0 ('p'): line 0: unknown wire type (offset 9)"},
        {"\x08\x01\x00\x01", 4, "plane 0 ('p'): line 0: field number out of range (offset 9)"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11,
         "plane 0 ('p'): line 0: varint longer than 64 bits (offset 7)"},
        {"\x08\x01\x18\x80", 4, "plane 0 ('p'): line 0: field runs past the end of its message (offset 9)"},
        {"\x08\x01\x22\x03\x08\x01", 6,
         "plane 0 ('p'): line 0: declared length runs past the end of its message (offset 9)"},
        {"\x08\x01\x22\x05\x08\x01", 6,
         "plane 0 ('p'): line 0: declared length runs past the end of its message (offset 9)"},
        {"\x08\x01\x22\xff\xff\xff\xff\x0f\x08\x01", 10,
         "plane 0 ('p'): line 0: declared length above 2 GiB (offset 9)"},
        {"\x08\x01\x0d\x01\x02", 5, "plane 0 ('p'): line 0: field runs past the end of its message (offset 9)"},
        {"\x22\x02\x08\x80", 4, "plane 0 ('p'): line 0: malformed event (offset 9)"},          /* half a varint */
        {"\x22\x04\x08\x01\x10\x80", 6, "plane 0 ('p'): line 0: malformed event (offset 11)"}, /* its second field */
        {"\x22\x04\x08\x01\x0b\x0c", 6, "plane 0 ('p'): line 0: malformed event (offset 11)"}, /* a group */
        {"\x22\x04\x08\x01\x22\x05", 6,
         "plane 0 ('p'): line 0: malformed event (offset 11)"}, /* a stat longer than its event */
        {"\x22\x05\x08\x01\x22\x01\x80", 7, "plane 0 ('p'): line 0: malformed stat (offset 11)"},
        {"\x22\x05\x08\x01\x22\x01\x11", 7,
         "plane 0 ('p'): line 0: malformed stat (offset 11)"}, /* a double without bytes */
        {"\x22\x06\x08\x01\x22\x02\x2a\x09", 8, "plane 0 ('p'): line 0: malformed stat (offset 11)"},
        {"\x22\x06\x08\x01\x22\x02\x38\x80", 8, "plane 0 ('p'): line 0: malformed stat (offset 11)"},
        /* Numbers that go on behind their stat or their event: what lies there is another's. */
        {"\x22\x09\x08\x01\x22\x05\x08\x01\x20\x80\x80\x22\x02\x08\x01", 15,
         "plane 0 ('p'): line 0: malformed stat (offset 11)"},
        {"\x22\x08\x08\x01\x22\x04\x08\x01\x20\x01\x22\x09\x08\x01\x22\x05\x08\x01\x20\x80\x80\x22\x02\x08\x01", 25,
         "plane 0 ('p'): line 0: malformed stat (offset 21)"}, /* behind a sound one */
        {"\x22\x08\x08\x01\x22\x04\x08\x01\x20\x01\x22\x0b\x08\x01\x22\x05\x08\x01\x20\x80\x80\x18\x05", 23,
         "plane 0 ('p'): line 0: malformed stat (offset 21)"}, /* and before another field */
        {"\x22\x08\x08\x01\x22\x04\x08\x01\x20\x01\x22\x06\x08\x01\x22\x04\x08\x01\x20\x05\x22\x02\x08\x01", 24,
         "plane 0 ('p'): line 0: malformed event (offset 21)"}, /* a stat that is sound but for its event's end */
        {"\x22\x05\x08\x01\x10\x80\x80\x22\x02\x08\x01", 11, "plane 0 ('p'): line 0: malformed event (offset 11)"},
        {"\x22\x05\x08\x01\x10\x01\x18\x22\x02\x08\x01", 11, "plane 0 ('p'): line 0: malformed event (offset 13)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pb space = line_with(table[i].bytes, table[i].length);
        int code = read_bytes(space.at, space.length, 0);
        ck_assert_msg(code == IDS_CORRUPT && !strcmp(err.text, table[i].message), "%zu: %d '%s'", i, code, err.text);
        pb_free(&space);
    }
    clear_log();
}
END_TEST

START_TEST(corrupt_tables) {
    static const struct {
        unsigned field;
        const char *bytes;
        size_t length;
        const char *message;
    } table[] = {
        {4, "\x08", 1, "plane 0 ('p'): malformed metadata entry (offset 7)"},
        {5, "\x0b", 1, "plane 0 ('p'): malformed metadata entry (offset 7)"},
        {4, "\x12\x02\x12\x05", 4, "plane 0 ('p'): malformed event metadata (offset 7)"},
        {4, "\x12\x03\x2a\x01\x80", 5, "plane 0 ('p'): malformed stat (offset 7)"},
        {5, "\x12\x02\x12\x05", 4, "plane 0 ('p'): malformed stat metadata (offset 7)"},
        {6, "\x08\x80", 2, "plane 0 ('p'): malformed stat (offset 7)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pb one = {0};
        pb_text(&one, 2, "p");
        pb_bytes(&one, table[i].field, table[i].bytes, table[i].length);
        struct pb space = space_of(one);
        int code = read_bytes(space.at, space.length, 0);
        ck_assert_msg(code == IDS_CORRUPT && !strcmp(err.text, table[i].message), "%zu: %d '%s'", i, code, err.text);
        pb_free(&space);
    }
    clear_log();
}
END_TEST

START_TEST(what_is_no_space) {
    struct pb space = {0};
    expect_error(space, IDS_CORRUPT, "an XSpace without planes");
    pb_text(&space, 4, "a host and nothing else");
    expect_error(space, IDS_CORRUPT, "an XSpace without planes");
    space = (struct pb){0};
    pb_int(&space, 1, 5);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), IDS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.text, "not an XSpace"));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(what_the_sink_says_is_handed_on) {
    size_t ends[8], whole[2];
    struct pb space = sample(ends, whole);
    pb_text(&space, 2, "an error, so that a diag is among the calls");
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    int calls = log_of.calls;
    ck_assert_int_eq(calls, 22); /* diag, host, 2 × (plane, name, 2 × (track, 2 slices, end)) */
    for (int i = 1; i <= calls; i++) {
        ck_assert_int_eq(read_bytes(space.at, space.length, i), IDS_LIMIT);
        ck_assert_int_eq(log_of.calls, i); /* no call after that */
        ck_assert_ptr_nonnull(strstr(err.text, "the sink is full"));
    }
    /* The seventh of a file cut behind its first event is the diag, after host, plane, track, lost name, slice, end. */
    ck_assert_int_eq(read_bytes(space.at, ends[0], 7), IDS_LIMIT);
    pb_free(&space);
    clear_log();
}
END_TEST

IDS_RUN_SUITE("xplane_damage", a_file_cut_at_any_byte_keeps_its_whole_events, a_cut_file_says_where,
              any_byte_may_be_anything, corrupt_files_say_where, corrupt_tables, what_is_no_space,
              what_the_sink_says_is_handed_on)
