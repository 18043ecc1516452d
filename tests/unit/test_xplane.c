/* formats/xplane.c over files encoded here by hand, into a sink that writes down what it is told. */
#include "tests/support/suite.h"
#include "tests/support/xplane_log.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- what a file says ---- */

START_TEST(a_whole_file) {
    struct pb space = {0}, host = plane(7, "/host:CPU"), python = line(11, "python", 3), call_event = event(1, 5, 20),
              name = {0}, entry = {0};
    pb_message(&call_event, 4, stat_int(1, -9));
    pb_message(&python, 4, call_event);
    pb_message(&python, 4, event(2, 40, 0));
    pb_message(&host, 3, python);
    pb_message(&host, 6, stat_text(2, 5, "TPU v6"));
    metadata(&host, 4, 1, "call");
    pb_int(&name, 1, 2); /* with a display name and a stat of its own */
    pb_text(&name, 2, "%moment = f32[] moment()");
    pb_text(&name, 4, "moment");
    pb_message(&name, 5, stat_int(1, 3));
    pb_int(&entry, 1, 2);
    pb_message(&entry, 2, name);
    pb_message(&host, 4, entry);
    metadata(&host, 5, 1, "size");
    metadata(&host, 5, 2, "device_type_string");
    pb_text(&space, 2, "it hurts"); /* 2 + 8 bytes */
    pb_text(&space, 3, "it itches");
    pb_message(&space, 1, host);
    pb_text(&space, 4, "vm-1");
    expect(space, "diag 1 xplane.profiler_error offset 2 count 1\n"
                  "diag 1 xplane.profiler_warning offset 12 count 1\n"
                  "host 'vm-1' base 0 start 0\n"
                  "plane 0 '/host:CPU' device_type_string=s:TPU v6\n"
                  "name 0 'call' ''\n"
                  "name 0 '%moment = f32[] moment()' 'moment' size=i:3\n"
                  "line 0 11 'python'\n"
                  " 0: 3005+20 call size=i:-9\n" /* 3 ns + 5 ps */
                  " 0: 3040+0 %moment = f32[] moment()\n"
                  "end 0\n");
}
END_TEST

START_TEST(ids_may_be_negative_and_repeat) {
    struct pb space = {0};
    for (int i = 0; i < 2; i++) { /* two planes of one id and name */
        struct pb host = plane(-1, "/host:CPU");
        for (int k = 0; k < 2; k++) { /* two lines of one id */
            struct pb thread = line(-6917529027641081856, k ? "b" : "a", 0);
            pb_message(&thread, 4, event(-3, k, 1));
            pb_message(&thread, 4, event(INT64_MIN, 10 + k, 1));
            pb_message(&host, 3, thread);
        }
        metadata(&host, 4, -3, i ? "second" : "first");
        metadata(&host, 4, INT64_MIN, "least");
        pb_message(&space, 1, host);
    }
    expect(space, "host '' base 0 start 0\n"
                  "plane 0 '/host:CPU'\nname 0 'first' ''\nname 0 'least' ''\n"
                  "line 0 -6917529027641081856 'a'\n 0: 0+1 first\n 0: 10+1 least\nend 0\n"
                  "line 0 -6917529027641081856 'b'\n 1: 1+1 first\n 1: 11+1 least\nend 1\n"
                  "plane 1 '/host:CPU'\nname 1 'second' ''\nname 1 'least' ''\n"
                  "line 1 -6917529027641081856 'a'\n 2: 0+1 second\n 2: 10+1 least\nend 2\n"
                  "line 1 -6917529027641081856 'b'\n 3: 1+1 second\n 3: 11+1 least\nend 3\n");
}
END_TEST

START_TEST(values_of_stats) {
    struct pb host = plane(1, "/host:CPU"), thread = line(1, "t", 0), one = event(1, 0, 1), stat = {0};
    double ratio = 0.25;
    metadata(&host, 5, 1, "key");
    metadata(&host, 5, 2, "text by reference");
    metadata(&host, 5, -7, "negative");
    pb_int(&stat, 1, 1);
    pb_uint(&stat, 3, 18446744073709551615u); /* above INT64_MAX */
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, -7);
    pb_uint(&stat, 3, 9223372036854775808u);
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_fixed64(&stat, 2, &ratio);
    pb_message(&one, 4, stat);
    pb_message(&one, 4, stat_int(1, INT64_MIN));
    pb_message(&one, 4, stat_text(1, 5, "text"));
    pb_message(&one, 4, stat_text(1, 6, "bytes"));
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_int(&stat, 7, 2);
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_int(&stat, 7, 3); /* a text that the file does not hold */
    pb_message(&one, 4, stat);
    stat = (struct pb){0};
    pb_int(&stat, 1, 1);
    pb_message(&one, 4, stat);            /* no value */
    pb_message(&one, 4, stat_int(99, 5)); /* no name */
    pb_int(&one, 5, 12);
    pb_message(&thread, 4, one);
    pb_message(&host, 3, thread);
    metadata(&host, 4, 1, "e");
    expect(space_of(host),
           "host '' base 0 start 0\nplane 0 '/host:CPU'\nname 0 'e' ''\nline 0 1 't'\n"
           " 0: 0+1 e key=u:18446744073709551615 negative=u:9223372036854775808 key=d:0.25 key=i:-9223372036854775808"
           " key=s:text key=b:bytes key=t:text by reference key=r:3 key=none stat#99=i:5 num_occurrences=i:12\n"
           "end 0\n");
}
END_TEST

/* Stats as writers write nearly all, in a row with some that are not: an unnamed one, one of two values, one whose id
 * comes last. */
START_TEST(plain_stats_in_a_row) {
    struct pb host = plane(1, "/host:CPU"), thread = line(1, "t", 0), one = event(1, 5000000000, 70000000), stat = {0};
    metadata(&host, 5, 1, "key");
    metadata(&host, 5, 2, "text by reference");
    for (int round = 0; round < 2; round++) {
        pb_message(&one, 4, stat_int(1, 7));
        pb_message(&one, 4, stat_int(1, INT64_C(1) << 62));
        stat = (struct pb){0};
        pb_int(&stat, 1, 1);
        pb_int(&stat, 7, 2);
        pb_message(&one, 4, stat);
        stat = (struct pb){0};
        pb_int(&stat, 1, 1);
        pb_uint(&stat, 3, UINT64_MAX);
        pb_message(&one, 4, stat);
        pb_message(&one, 4, stat_int(99, 5)); /* no name */
        stat = (struct pb){0};
        pb_int(&stat, 1, 1);
        pb_int(&stat, 4, 8);
        pb_int(&stat, 4, 9); /* the last one wins */
        pb_message(&one, 4, stat);
        stat = (struct pb){0};
        pb_int(&stat, 4, 10);
        pb_int(&stat, 1, 1);
        pb_message(&one, 4, stat);
    }
    pb_message(&thread, 4, one);
    pb_message(&host, 3, thread);
    metadata(&host, 4, 1, "e");
    expect(space_of(host), "host '' base 0 start 0\nplane 0 '/host:CPU'\nname 0 'e' ''\nline 0 1 't'\n"
                           " 0: 5000000000+70000000 e key=i:7 key=i:4611686018427387904 key=t:text by reference"
                           " key=u:18446744073709551615 stat#99=i:5 key=i:9 key=i:10"
                           " key=i:7 key=i:4611686018427387904 key=t:text by reference"
                           " key=u:18446744073709551615 stat#99=i:5 key=i:9 key=i:10\n"
                           "end 0\n");
}
END_TEST

START_TEST(the_last_one_wins) {
    struct pb gpu = plane(1, "/device:GPU:0"), stream = line(4, "s", 2), kernel = event(9, 9, 9), stat = stat_int(9, 9);
    pb_uint(&stat, 3, 9);
    pb_int(&stat, 1, 8);
    pb_int(&stat, 4, 6); /* of several values */
    pb_message(&kernel, 4, stat);
    pb_int(&kernel, 1, 1);
    pb_int(&kernel, 2, 1);
    pb_int(&kernel, 3, 3);
    pb_message(&stream, 4, kernel);
    pb_message(&gpu, 3, stream);
    metadata(&gpu, 4, 1, "first");
    metadata(&gpu, 4, 1, "last"); /* of several names for one id */
    metadata(&gpu, 5, 8, "first");
    metadata(&gpu, 5, 8, "last");
    expect(space_of(gpu), "host '' base 0 start 0\nplane 0 '/device:GPU:0'\nname 0 'first' ''\nname 0 'last' ''\n"
                          "line 0 4 's'\n 0: 2001+3 last last=i:6\nend 0\n");
}
END_TEST

START_TEST(names_hold_for_their_plane_only) {
    struct pb space = {0}, first = plane(1, "/device:GPU:0"), second = plane(2, "/device:GPU:1"),
              stream = line(4, "s", 0), kernel = event(1, 0, 1);
    metadata(&first, 4, 1, "k");
    metadata(&first, 5, 8, "size");
    pb_message(&kernel, 4, stat_int(8, 6));
    pb_message(&stream, 4, kernel);
    pb_message(&second, 3, stream);
    pb_message(&space, 1, first);
    pb_message(&space, 1, second);
    expect(space,
           "host '' base 0 start 0\nplane 0 '/device:GPU:0'\nname 0 'k' ''\nplane 1 '/device:GPU:1'\nline 1 4 's'\n"
           "name 1 '' 'event 1 (name lost)'\n 0: 0+1 event 1 (name lost) stat#8=i:6\nend 0\n");
}
END_TEST

START_TEST(names_that_are_missing) {
    struct pb host = plane(1, "/host:CPU"), thread = line(1, "t", 0);
    pb_message(&thread, 4, event(5, 0, 1));
    pb_message(&thread, 4, event(-5, 1, 1));
    pb_message(&thread, 4, event(5, 2, 1)); /* one name for all of its events */
    pb_message(&host, 3, thread);
    expect(space_of(host), "host '' base 0 start 0\nplane 0 '/host:CPU'\nline 0 1 't'\n"
                           "name 0 '' 'event 5 (name lost)'\n 0: 0+1 event 5 (name lost)\n"
                           "name 0 '' 'event -5 (name lost)'\n 0: 1+1 event -5 (name lost)\n"
                           " 0: 2+1 event 5 (name lost)\nend 0\n");
}
END_TEST

static const char tables_log[] = "host '' base 0 start 0\nplane 0 '/device:GPU:0' size=i:1\nname 0 'k' ''\n"
                                 "line 0 4 's'\n 0: 2001+3 k size=i:6\nend 0\n";

START_TEST(tables_may_stand_before_or_behind) {
    for (int before = 0; before < 2; before++) {
        struct pb gpu = {0}, stream = line(4, "s", 2), kernel = event(1, 1, 3);
        pb_message(&kernel, 4, stat_int(8, 6));
        pb_message(&stream, 4, kernel);
        if (before) {
            pb_message(&gpu, 6, stat_int(8, 1));
            metadata(&gpu, 4, 1, "k");
            metadata(&gpu, 5, 8, "size");
        }
        pb_message(&gpu, 3, stream);
        if (!before) {
            metadata(&gpu, 5, 8, "size");
            metadata(&gpu, 4, 1, "k");
            pb_message(&gpu, 6, stat_int(8, 1));
        }
        pb_text(&gpu, 2, "/device:GPU:0"); /* a name that comes last */
        expect(space_of(gpu), tables_log);
    }
}
END_TEST

START_TEST(fields_may_come_in_any_order) {
    struct pb gpu = {0}, stream = {0}, kernel = {0}, stat = {0}, entry = {0}, value = {0};
    pb_int(&stat, 4, 6);
    pb_int(&stat, 1, 8);
    pb_message(&kernel, 4, stat);
    pb_int(&kernel, 3, 3);
    pb_int(&kernel, 2, 1);
    pb_int(&kernel, 1, 1);
    pb_message(&stream, 4, kernel); /* events before the line's own fields */
    pb_int(&stream, 3, 2);
    pb_text(&stream, 2, "s");
    pb_int(&stream, 1, 4);
    pb_message(&gpu, 3, stream);
    pb_text(&value, 2, "k");
    pb_message(&entry, 2, value); /* the value before its key */
    pb_int(&entry, 1, 1);
    pb_message(&gpu, 4, entry);
    pb_message(&gpu, 6, stat_int(8, 1));
    metadata(&gpu, 5, 8, "size");
    pb_text(&gpu, 2, "/device:GPU:0");
    expect(space_of(gpu), tables_log);
}
END_TEST

/* A field of each wire type, with a number that no message of the schema has. */
static void unknown_fields(struct pb *to) {
    pb_uint(to, 200, 1u << 31);
    pb_fixed64(to, 201, "abcdefgh");
    pb_bytes(to, 202, "\x08\xff\xff", 3); /* looks malformed, but nobody looks */
    pb_fixed32(to, 14, "abcd");           /* its tag is one byte, as the known ones' are */
}

START_TEST(unknown_fields_are_passed_over) {
    struct pb space = {0}, gpu = {0}, stream = {0}, kernel = {0}, stat = {0}, entry = {0}, value = {0};
    unknown_fields(&stat);
    pb_int(&stat, 1, 8);
    pb_int(&stat, 4, 6);
    unknown_fields(&stat);
    pb_int(&kernel, 1, 1);
    unknown_fields(&kernel);
    pb_int(&kernel, 2, 1);
    pb_int(&kernel, 3, 3);
    pb_message(&kernel, 4, stat);
    unknown_fields(&kernel);
    unknown_fields(&stream);
    pb_int(&stream, 1, 4);
    pb_text(&stream, 2, "s");
    pb_int(&stream, 3, 2);
    pb_text(&stream, 11, "display name");
    pb_message(&stream, 4, kernel);
    unknown_fields(&stream);
    unknown_fields(&gpu);
    pb_int(&gpu, 1, 77);
    pb_text(&gpu, 2, "/device:GPU:0");
    pb_message(&gpu, 3, stream);
    unknown_fields(&value);
    pb_text(&value, 2, "k");
    pb_text(&value, 3, "metadata");
    unknown_fields(&entry);
    pb_int(&entry, 1, 1);
    pb_message(&entry, 2, value);
    pb_message(&gpu, 4, entry);
    metadata(&gpu, 5, 8, "size");
    pb_message(&gpu, 6, stat_int(8, 1));
    unknown_fields(&gpu);
    pb_text(&space, 9, "a message of a later schema");
    pb_message(&space, 1, gpu);
    expect(space, tables_log);
}
END_TEST

START_TEST(a_known_field_of_another_type_is_unknown) {
    struct pb gpu = {0}, stream = line(4, "s", 2), kernel = event(1, 1, 3), stat = stat_int(8, 6);
    pb_text(&stat, 4, "no number");
    pb_int(&stat, 5, 1);
    pb_fixed64(&stat, 3, "abcdefgh");
    pb_message(&kernel, 4, stat);
    pb_fixed32(&kernel, 2, "abcd");
    pb_text(&kernel, 1, "no number");
    pb_int(&kernel, 4, 1);
    pb_message(&stream, 4, kernel);
    pb_int(&stream, 4, 1);
    pb_text(&stream, 1, "no number");
    pb_int(&stream, 2, 1);
    pb_text(&gpu, 2, "/device:GPU:0");
    pb_int(&gpu, 2, 1);
    pb_int(&gpu, 3, 1);
    pb_message(&gpu, 3, stream);
    metadata(&gpu, 5, 8, "size");
    metadata(&gpu, 4, 1, "k");
    pb_message(&gpu, 6, stat_int(8, 1));
    expect(space_of(gpu), tables_log);
}
END_TEST

/* ---- clocks ---- */

START_TEST(times_of_lines_count_from_the_session) {
    struct pb space = {0}, gpu = plane(1, "/device:TPU:0"), task = plane(2, "Task Environment"),
              host = plane(3, "/host:CPU");
    struct pb zero = line(1, "zero", 0), some = line(2, "some", 212990), thread = line(3, "thread", 1);
    pb_message(&zero, 4, event(1, 7, 1));
    pb_message(&some, 4, event(1, 7, 1));
    pb_message(&thread, 4, event(1, -3000, 1)); /* an event before its line */
    pb_message(&gpu, 3, zero);
    pb_message(&gpu, 3, some);
    pb_message(&host, 3, thread);
    metadata(&task, 5, 1, "profile_start_time");
    pb_message(&task, 6, stat_int(1, 1700000000000000123));
    pb_message(&space, 1, gpu);
    pb_message(&space, 1, task);
    pb_message(&space, 1, host);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_nonnull(strstr(log_of.text, "host '' base 0 start 1700000000000000123\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 7+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 1: 212990007+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 2: -2000+1 "));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(times_of_lines_may_count_from_1970) {
    struct pb space = {0}, gpu = plane(1, "/device:GPU:0"), task = plane(2, "Task Environment");
    struct pb first = line(1, "first", 1700000000000000500), earlier = line(2, "earlier", 1700000000000000499);
    pb_message(&first, 4, event(1, 7, 1));
    pb_message(&earlier, 4, event(1, 7, 1));
    pb_message(&gpu, 3, first);
    pb_message(&gpu, 3, earlier);
    metadata(&task, 5, 1, "profile_start_time");
    pb_message(&task, 6, stat_int(1, 5));
    pb_message(&space, 1, gpu);
    pb_message(&space, 1, task);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    /* The lines' own clock is surer than the session's start. */
    ck_assert_ptr_nonnull(strstr(log_of.text, "host '' base 1700000000000000500 start 1700000000000000500\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 7+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 1: -993+1 "));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(planes_may_count_from_both) {
    struct pb space = {0}, gpu = plane(1, "/device:GPU:0"), ours = plane(2, "/host:beside"),
              task = plane(3, "Task Environment");
    struct pb near = line(1, "near", 40), far = line(2, "far", 1700000000000000150);
    pb_message(&near, 4, event(1, 7, 1));
    pb_message(&far, 4, event(1, 8, 1));
    pb_message(&gpu, 3, near);
    pb_message(&ours, 3, far);
    metadata(&task, 5, 1, "profile_start_time");
    pb_message(&task, 6, stat_int(1, 1700000000000000100));
    pb_message(&space, 1, gpu);
    pb_message(&space, 1, ours);
    pb_message(&space, 1, task);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_nonnull(strstr(log_of.text, "host '' base 1700000000000000100 start 1700000000000000100\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 40007+1 "));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 1: 50008+1 "));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(events_out_of_time_are_left_out) {
    struct pb gpu = plane(1, "/device:GPU:0"), first = line(1, "s", 1700000000000000500),
              second = line(2, "s", INT64_MIN), third = line(3, "s", 1700000000000000501);
    pb_message(&first, 4, event(1, 7, 1));
    pb_message(&second, 4, event(1, 7, 1));        /* before all time */
    pb_message(&third, 4, event(1, INT64_MAX, 1)); /* 1 ns more than there is */
    pb_message(&third, 4, event(1, 9, 1));
    pb_message(&gpu, 3, first);
    pb_message(&gpu, 3, second);
    pb_message(&gpu, 3, third);
    metadata(&gpu, 4, 1, "k");
    expect(space_of(gpu),
           "host '' base 1700000000000000500 start 1700000000000000500\nplane 0 '/device:GPU:0'\nname 0 'k' ''\n"
           "line 0 1 's'\n 0: 7+1 k\nend 0\nline 0 2 's'\nend 1\nline 0 3 's'\n 2: 1009+1 k\nend 2\n"
           "diag 2 xplane.time_range offset -1 count 2\n");
}
END_TEST

/* ---- large records ---- */

/* A stat with a text of that many bytes. */
static struct pb long_stat(size_t length) {
    struct pb out = {0};
    char *text = malloc(length);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', length);
    pb_int(&out, 1, 8);
    pb_bytes(&out, 5, text, length);
    free(text);
    return out;
}

START_TEST(records_longer_than_a_window) {
    enum { LONG = IDS_SOURCE_WINDOW + 4321 };
    struct pb gpu = plane(1, "/device:GPU:0"), stream = line(4, "s", 0), name = {0}, entry = {0};
    for (int i = 0; i < 40; i++) { /* long ones between short ones, around the window's edge too */
        struct pb one = event(1, i, 1);
        size_t length = i % 4 == 1 ? LONG : i % 4 == 3 ? (size_t)IDS_SOURCE_WINDOW - 20 + (size_t)i : 100;
        pb_message(&one, 4, long_stat(length));
        pb_message(&stream, 4, one);
    }
    pb_message(&gpu, 3, stream);
    pb_text(&name, 2, "k");
    pb_message(&name, 5, long_stat(LONG + 1));
    pb_int(&entry, 1, 1);
    pb_message(&entry, 2, name);
    pb_message(&gpu, 4, entry);
    pb_message(&gpu, 6, long_stat(LONG + 2));
    metadata(&gpu, 5, 8, "size");
    struct pb space = space_of(gpu);

    char path[] = "/tmp/idsprof-xplane-XXXXXX", wanted[64];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, space.at, space.length), (ssize_t)space.length);
    struct ids_source *source;
    ck_assert_int_eq(ids_source_open(path, &source, &err), 0);
    int code = read_source(source, 0);
    ck_assert_msg(!code, "%s", err.text);
    ids_source_close(source);
    unlink(path);
    close(fd);
    ck_assert_uint_eq(log_of.slices, 40);
    snprintf(wanted, sizeof wanted, "plane 0 '/device:GPU:0' size=s:%d bytes\n", LONG + 2);
    ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    snprintf(wanted, sizeof wanted, "name 0 'k' '' size=s:%d bytes\n", LONG + 1);
    ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    for (int i = 0; i < 40; i++) {
        int length = i % 4 == 1 ? LONG : i % 4 == 3 ? IDS_SOURCE_WINDOW - 20 + i : 100;
        snprintf(wanted, sizeof wanted, " 0: %d+1 k size=s:%d bytes\n", i, length);
        ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    }
    char *from_file = log_of.text; /* memory gives the same */
    log_of.text = NULL;
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_str_eq(log_of.text, from_file);
    free(from_file);
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(a_record_above_the_limit_is_left_out) {
    /* A sparse file, so that no disk is filled: a plane whose last name claims, and has, 513 MiB. */
    const uint64_t huge = UINT64_C(513) << 20;
    struct pb gpu = plane(1, "/device:GPU:0"), stream = line(4, "s", 0), head = {0};
    pb_message(&stream, 4, event(1, 0, 1));
    pb_message(&gpu, 3, stream);
    metadata(&gpu, 4, 1, "k");
    pb_varint(&gpu, 4 << 3 | 2);
    pb_varint(&gpu, huge);
    pb_varint(&head, 1 << 3 | 2);
    pb_varint(&head, gpu.length + huge);
    size_t offset = head.length + gpu.length;
    pb_raw(&head, gpu.at, gpu.length);
    pb_free(&gpu);
    char path[] = "/tmp/idsprof-xplane-XXXXXX", wanted[96];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, head.at, head.length), (ssize_t)head.length);
    ck_assert_int_eq(ftruncate(fd, (off_t)(offset + huge)), 0);
    struct ids_source *source;
    ck_assert_int_eq(ids_source_open(path, &source, &err), 0);
    int code = read_source(source, 0);
    ck_assert_msg(!code, "%s", err.text);
    ids_source_close(source);
    unlink(path);
    close(fd);
    snprintf(wanted, sizeof wanted, "diag 2 xplane.record_limit offset %zu count 1\n", offset);
    ck_assert_ptr_nonnull(strstr(log_of.text, wanted));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 0+1 k\n"));
    pb_free(&head);
    clear_log();
}
END_TEST

/* ---- HLO protos ---- */

START_TEST(hlo_protos_are_read) {
    /* HloProto{hlo_module{name, computations{name, instructions{name, opcode}}}} */
    struct pb instruction = {0}, computation = {0}, module = {0}, proto = {0};
    pb_text(&instruction, 1, "dot.1");
    pb_text(&instruction, 2, "dot");
    pb_text(&computation, 1, "main");
    pb_message(&computation, 2, instruction);
    pb_text(&module, 1, "jit_f");
    pb_message(&module, 3, computation);
    pb_message(&proto, 1, module);
    static const struct {
        const char *name;
        int64_t key;
        const char *wanted;
    } table[] = {
        {"jit_f(123)", 9, "hlo 123 jit_f dot.1 dot\n"}, /* the number in the name is what events call it */
        {"jit_f", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"jit_f()", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"jit_f(12x)", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"123)", 9, "hlo 9 jit_f dot.1 dot\n"},
        {"jit_f(18446744073709551615)", 9, "hlo 18446744073709551615 jit_f dot.1 dot\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pb programs = plane(1, "/host:metadata"), name = {0}, entry = {0}, stat = {0};
        pb_int(&stat, 1, 5);
        pb_bytes(&stat, 6, proto.at, proto.length);
        pb_text(&name, 2, table[i].name);
        pb_message(&name, 5, stat);
        pb_int(&entry, 1, table[i].key);
        pb_message(&entry, 2, name);
        pb_message(&programs, 4, entry);
        metadata(&programs, 5, 5, i % 2 ? "hlo_proto" : "Hlo Proto");
        struct pb space = space_of(programs);
        ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
        ck_assert_msg(strstr(log_of.text, table[i].wanted) != NULL, "'%s': %s", table[i].name, log_of.text);
        pb_free(&space);
    }
    pb_free(&proto);
    clear_log();
}
END_TEST

/* A sink that wants whole programs gets them under the same ids, and one that wants no instructions has them not
 * parsed: what is no HLO is then no matter. */
START_TEST(programs_are_handed_on) {
    struct pb meta = {0}, plane = {0}, space = {0}, stat = {0};
    pb_int(&stat, 1, 5);
    pb_bytes(&stat, 6, "\xff\xff", 2);
    pb_text(&meta, 2, "jit_f(123)");
    pb_message(&meta, 5, stat);
    struct pb entry = {0};
    pb_int(&entry, 1, 9);
    pb_message(&entry, 2, meta);
    pb_text(&plane, 2, "/p");
    pb_message(&plane, 4, entry);
    metadata(&plane, 5, 5, "hlo_proto");
    pb_message(&space, 1, plane);
    wants_programs = wants_no_hlo = 1;
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    wants_programs = wants_no_hlo = 0;
    ck_assert_ptr_nonnull(strstr(log_of.text, "program 123 jit_f(123) 2\n"));
    ck_assert_ptr_null(strstr(log_of.text, "diag"));
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_null(strstr(log_of.text, "program 123"));
    ck_assert_ptr_nonnull(strstr(log_of.text, "diag 1 xplane.hlo"));
    pb_free(&space);
    clear_log();
}
END_TEST

START_TEST(a_damaged_hlo_proto_is_only_noted) {
    struct pb programs = plane(1, "/host:metadata"), name = {0}, entry = {0};
    pb_text(&name, 2, "jit_f(1)");
    pb_message(&name, 5, stat_text(5, 6, "\x0a\x7fno"));
    pb_int(&entry, 1, 1);
    pb_message(&entry, 2, name);
    pb_message(&programs, 4, entry);
    metadata(&programs, 5, 5, "hlo_proto");
    struct pb thread = line(1, "t", 0);
    pb_message(&thread, 4, event(1, 0, 1));
    pb_message(&programs, 3, thread);
    struct pb space = space_of(programs);
    ck_assert_int_eq(read_bytes(space.at, space.length, 0), 0);
    ck_assert_ptr_nonnull(strstr(log_of.text, "diag 1 xplane.hlo offset 22 count 1\n"));
    ck_assert_ptr_nonnull(strstr(log_of.text, " 0: 0+1 jit_f(1)\n"));
    pb_free(&space);
    clear_log();
}
END_TEST

/* ---- what it takes for its own ---- */

static int bid(const char *bytes, size_t length) {
    int more = 0;
    return ids_xplane_format.bid((const uint8_t *)bytes, length, &more);
}

START_TEST(bids) {
    ck_assert_int_eq(bid("", 0), 0);
    ck_assert_int_eq(bid("\x0a\x06\x08\x01\x12\x02/h", 8), 90);
    ck_assert_int_eq(bid("\x0a\x80\x80\x80\x01\x08\x01\x12\x02/h", 11),
                     90); /* a long plane, of which this is the head */
    ck_assert_int_eq(bid("\x0a\x06\x08\x01\x12\x02xh", 8), 40);
    ck_assert_int_eq(bid("\x0a\x04\x08\x01\x12\x00", 6), 40); /* the empty name */
    ck_assert_int_eq(bid("\x0a\x02\x08\x01", 4), 10);
    ck_assert_int_eq(bid("\x22\x03vm1", 5), 20);
    ck_assert_int_eq(bid("\x0a\x03\x78\x01\x00", 5), 0);         /* field 15 is in no plane */
    ck_assert_int_eq(bid("\x08\x01", 2), 0);                     /* a number */
    ck_assert_int_eq(bid("\x2a\x01x", 3), 0);                    /* field 5 */
    ck_assert_int_eq(bid("\x0a\xff\xff\xff\xff\x0f\x08", 7), 0); /* 4 GiB */
    ck_assert_int_eq(bid("{\"traceEvents\":[", 16), 0);
    ck_assert_int_eq(bid("idsprof-mini 1\n", 15), 0);
    ck_assert_int_eq(bid("\x1f\x8b\x08\x00", 4), 0);
    ck_assert_int_eq(bid("SQLite format 3", 16), 0);
}
END_TEST

IDS_RUN_SUITE("xplane", a_whole_file, ids_may_be_negative_and_repeat, values_of_stats, plain_stats_in_a_row,
              the_last_one_wins, names_hold_for_their_plane_only, names_that_are_missing,
              tables_may_stand_before_or_behind, fields_may_come_in_any_order, unknown_fields_are_passed_over,
              a_known_field_of_another_type_is_unknown, times_of_lines_count_from_the_session,
              times_of_lines_may_count_from_1970, planes_may_count_from_both, events_out_of_time_are_left_out,
              records_longer_than_a_window, a_record_above_the_limit_is_left_out, hlo_protos_are_read,
              programs_are_handed_on, a_damaged_hlo_proto_is_only_noted, bids)
