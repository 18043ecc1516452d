/* lib/model/relay.c: what is given to the relay comes to the target in the same order, with all that it points to. */
#include "lib/model/keys.h"
#include "lib/model/relay.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ids_error err;
static struct ids_strings strings;

/* A target that writes down what it is told, and fails where it is told to. */
static struct target {
    struct ids_sink sink;
    char told[4096]; /* of what is not a slice */
    size_t slices, fail_at;
    int wrong; /* slices that were not the next */
    uint32_t planes, names, tracks;
    int slow, ended;
} target;

static void tell(const char *format, long a, const char *text) {
    size_t length = strlen(target.told);
    snprintf(target.told + length, sizeof target.told - length, format, a, text);
}

static int on_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *error) {
    (void)error;
    tell("host %ld %s\n", (long)host->base_ns, ids_strings_z(sink->strings, host->name));
    return 0;
}

static int on_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                    struct ids_error *error) {
    (void)error;
    tell("plane %ld %s\n", (long)plane->arg_count, ids_strings_z(sink->strings, plane->name));
    for (size_t i = 0; i < plane->arg_count; i++) tell("  %ld %s\n", (long)plane->args[i].length, plane->args[i].chars);
    *ret_plane = target.planes++;
    return 0;
}

static int on_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                   struct ids_error *error) {
    (void)error;
    tell("name %ld %s\n", (long)name->id, ids_strings_z(sink->strings, name->text));
    *ret_name = target.names++;
    return 0;
}

static int on_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                    struct ids_error *error) {
    (void)error;
    tell("track %ld %s\n", (long)track->id, ids_strings_z(sink->strings, track->name));
    *ret_track = target.tracks++;
    return 0;
}

/* The bytes of slice i. */
static size_t fill(char *bytes, size_t i) {
    size_t length = i * 7919 % 300;
    if (i % 1000 == 500) length = 700000; /* longer than a batch */
    for (size_t k = 0; k < length; k++) bytes[k] = (char)(i + k);
    return length;
}

static char expected[700000];

static int on_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *error) {
    size_t i = target.slices++, length = fill(expected, i);
    char name[32];
    snprintf(name, sizeof name, "text %zu", i);
    if (track != 3 || slice->start_ps != (int64_t)i || slice->name != i % 7 || slice->arg_count != 3 ||
        slice->args[0].i != -(int64_t)i || slice->args[1].length != length ||
        (length && memcmp(slice->args[1].chars, expected, length) != 0) ||
        strcmp(ids_strings_z(sink->strings, slice->args[2].text), name) != 0)
        target.wrong++;
    if (target.slow && i % 100 == 0) usleep(100);
    return target.fail_at == i + 1 ? ids_fail(error, IDS_LIMIT, "slice %zu is one too many", i) : 0;
}

static int on_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *error) {
    (void)sink;
    (void)error;
    tell("end %ld%s\n", (long)track, "");
    return 0;
}

static int on_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *error) {
    (void)sink;
    (void)error;
    tell("diag %ld %s", (long)diag->count, diag->id);
    tell("%ld: %s\n", 0, diag->text);
    return 0;
}

static int on_last(void *context, struct ids_error *error) {
    struct target *at = context;
    at->ended++;
    return at->fail_at == SIZE_MAX ? ids_fail(error, IDS_IO, "the last thing failed") : 0;
}

static struct ids_relay *begin(size_t fail_at, int slow) {
    static const struct ids_sink_ops ops = {.host = on_host,
                                            .plane = on_plane,
                                            .name = on_name,
                                            .track = on_track,
                                            .slice = on_slice,
                                            .track_end = on_track_end,
                                            .diag = on_diag};
    struct ids_relay *relay;
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_int_eq(ids_keys_intern(&strings), 0);
    target =
        (struct target){.sink = {.ops = &ops, .strings = &strings, .complete = 1}, .fail_at = fail_at, .slow = slow};
    ck_assert_int_eq(ids_relay_new(&target.sink, &relay, &err), 0);
    return relay;
}

static uint32_t text(const char *words) {
    return ids_intern_z(&strings, words);
}

static int give_slices(struct ids_sink *sink, size_t count) {
    static char bytes[700000];
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        char name[32];
        snprintf(name, sizeof name, "text %zu", i);
        const struct ids_arg args[] = {
            {.type = IDS_VALUE_INT, .i = -(int64_t)i},
            {.type = IDS_VALUE_BYTES, .length = (uint32_t)fill(bytes, i), .chars = bytes},
            {.type = IDS_VALUE_TEXT, .text = text(name)}, /* which the thread reads while others are added */
        };
        const struct ids_slice slice = {
            .start_ps = (int64_t)i, .name = (uint32_t)(i % 7), .args = args, .arg_count = 3};
        code = sink->ops->slice(sink, 3, &slice, &err);
    }
    return code;
}

START_TEST(comes_in_order) {
    for (int slow = 0; slow < 2; slow++) {
        enum { SLICES = 20000 };
        struct ids_relay *relay = begin(0, slow);
        struct ids_sink *sink = ids_relay_sink(relay);
        uint32_t number = 99;
        char gone[8] = "gone";
        const struct ids_host_info host = {.name = text("vm"), .base_ns = 12};
        const struct ids_arg arg = {.type = IDS_VALUE_CHARS, .length = 5, .chars = gone};
        const struct ids_plane_info plane = {.name = text("/host:CPU"), .args = &arg, .arg_count = 1};
        const struct ids_name_info name = {.text = text("op"), .id = 5};
        const struct ids_track_info track = {.name = text("thread"), .id = -4};
        const struct ids_diag diag = {IDS_NOTE, "a.b", gone, -1, 3};
        ck_assert_int_eq(sink->ops->host(sink, &host, &err), 0);
        ck_assert_int_eq(sink->ops->plane(sink, &plane, &number, &err), 0);
        ck_assert_uint_eq(number, 0);
        for (uint32_t i = 0; i < 2; i++) {
            ck_assert_int_eq(sink->ops->name(sink, &name, &number, &err), 0);
            ck_assert_uint_eq(number, i);
            ck_assert_int_eq(sink->ops->track(sink, &track, &number, &err), 0);
            ck_assert_uint_eq(number, i);
        }
        ck_assert_int_eq(sink->ops->diag(sink, &diag, &err), 0);
        memset(gone, 'x', sizeof gone - 1); /* what was given is the caller's again */
        ck_assert_int_eq(give_slices(sink, SLICES), 0);
        ck_assert_int_eq(sink->ops->track_end(sink, 1, &err), 0);
        ids_relay_end(relay, on_last, &target);
        ck_assert_int_eq(ids_relay_wait(relay, &err), 0);
        ids_relay_free(relay);
        ck_assert_str_eq(target.told, "host 12 vm\nplane 1 /host:CPU\n  5 gone\nname 5 op\ntrack -4 thread\nname 5 op\n"
                                      "track -4 thread\ndiag 3 a.b0: gone\nend 1\n");
        ck_assert_uint_eq(target.slices, SLICES);
        ck_assert_int_eq(target.wrong, 0);
        ck_assert_int_eq(target.ended, 1);
    }
}
END_TEST

/* A failure comes back with its message, at the latest from the wait; nothing is done after it. */
START_TEST(failures_come_back) {
    const size_t at[] = {1, 2, 5000, 20000};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char message[64];
        struct ids_relay *relay = begin(at[i], 0);
        int code = give_slices(ids_relay_sink(relay), 20000);
        if (i < 3) ck_assert_int_eq(code, IDS_LIMIT); /* long before the end */
        ids_relay_end(relay, on_last, &target);
        err = (struct ids_error)IDS_ERROR_INIT;
        ck_assert_int_eq(ids_relay_wait(relay, &err), IDS_LIMIT);
        snprintf(message, sizeof message, "slice %zu is one too many", at[i] - 1);
        ck_assert_str_eq(err.text, message);
        ck_assert_uint_eq(target.slices, at[i]);
        ck_assert_int_eq(target.ended, 0);
        ids_relay_free(relay);
    }
    struct ids_relay *relay = begin(SIZE_MAX, 0);
    ck_assert_int_eq(give_slices(ids_relay_sink(relay), 10), 0);
    ids_relay_end(relay, on_last, &target);
    ck_assert_int_eq(ids_relay_wait(relay, &err), IDS_IO);
    ck_assert_str_eq(err.text, "the last thing failed");
    ids_relay_free(relay);
}
END_TEST

/* Freed at any moment, it ends. */
START_TEST(freed_early) {
    for (size_t i = 0; i < 3000; i += 271) {
        struct ids_relay *relay = begin(0, 1);
        ck_assert_int_eq(give_slices(ids_relay_sink(relay), i), 0);
        ids_relay_free(relay);
        ck_assert_int_eq(target.wrong, 0);
        ck_assert_int_eq(target.ended, 0);
    }
}
END_TEST

IDS_RUN_SUITE("relay", comes_in_order, failures_come_back, freed_early)
