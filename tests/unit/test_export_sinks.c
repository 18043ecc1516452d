/* lib/export: what stands in front of each format: order, lanes, filter. */
#include "lib/export/filter.h"
#include "lib/export/lanes.h"
#include "lib/export/ordered.h"
#include "tests/support/sink_feed.h"
#include "tests/support/suite.h"

/* ---- order ---- */

START_TEST(order) {
    struct note to;
    struct ids_ordered *ordered;
    note_init(&to);
    OK(ids_ordered_new(&to.sink, &ordered, &err));
    struct ids_sink *sink = ids_ordered_sink(ordered);
    ck_assert_ptr_null(sink->ops->program); /* what the next one does not want */
    ck_assert_ptr_null(sink->ops->hlo);
    uint32_t plane = put_plane(sink, "p"), a = put_track(sink, plane, "a", 1), b = put_track(sink, plane, "b", 2);
    uint32_t name = put_name(sink, plane, "n", NULL);
    const struct ids_arg first[] = {{.type = IDS_VALUE_CHARS, .chars = "one", .length = 3},
                                    {.type = IDS_VALUE_INT, .i = -4}};
    const struct ids_arg second[] = {{.type = IDS_VALUE_CHARS, .chars = "two!", .length = 4}};
    to.text[0] = '\0';
    /* Two tracks mixed; equal ones keep their order, longer ones come first. */
    put_slice(sink, a, name, 30, 1);
    put_slice(sink, b, name, 7, 0);
    put_event(sink, a, name, IDS_FORM_SLICE, 10, first, 2);
    put_slice(sink, b, name, 5, 0);
    put_event(sink, a, name, IDS_FORM_SLICE, 10, second, 1);
    put_slice(sink, a, name, 10, 3);
    put_slice(sink, a, name, -2, 1);
    ck_assert_str_eq(to.text, "");
    OK(sink->ops->track_end(sink, a, &err));
    ck_assert_str_eq(to.text, "0:-2+1 0:10+3 0:10+0'one'=-4 0:10+0'two!' 0:30+1 end:0 ");
    to.text[0] = '\0';
    sink->complete = 0;
    OK(ids_ordered_finish(ordered, &err)); /* b was left open; a is not ended twice */
    ck_assert_str_eq(to.text, "1:5+0 1:7+0 end:1 ");
    ck_assert_int_eq(to.sink.complete, 0);
    ids_ordered_free(ordered);
    ids_strings_done(&to.strings);
}
END_TEST

/* ---- lanes ---- */

struct ended {
    char text[256];
};
static int note_ended(void *context, size_t lane, int64_t end) {
    struct ended *to = context;
    size_t used = strlen(to->text);
    snprintf(to->text + used, sizeof to->text - used, "%zu:%lld ", lane, (long long)end);
    return 0;
}

static size_t place(struct ids_lanes *lanes, int64_t start, int64_t end, struct ended *ended) {
    size_t lane = 99;
    ck_assert_int_eq(ids_lanes_place(lanes, start, end, ended ? note_ended : NULL, ended, &lane), 0);
    return lane;
}

START_TEST(lanes) {
    struct ids_lanes all = {0};
    struct ended ended = {""};
    size_t lane = 99;
    ck_assert_uint_eq(place(&all, 0, 100, &ended), 0);
    ck_assert_uint_eq(place(&all, 10, 100, &ended), 0); /* nested, with the same end */
    ck_assert_uint_eq(place(&all, 20, 110, &ended), 1); /* overlaps */
    ck_assert_uint_eq(place(&all, 30, 120, &ended), 2); /* both */
    ck_assert_uint_eq(place(&all, 40, 105, &ended), 1); /* lies in the second lane's */
    ck_assert_int_eq(ids_lanes_at(&all, 115, &lane), 1);
    ck_assert_uint_eq(lane, 2);
    ck_assert_str_eq(ended.text, "");
    ck_assert_uint_eq(place(&all, 100, 130, &ended), 0); /* what only touches has ended */
    ck_assert_str_eq(ended.text, "0:100 0:100 ");
    ended.text[0] = '\0';
    ck_assert_uint_eq(place(&all, 130, 130, &ended), 0); /* a moment */
    ck_assert_uint_eq(place(&all, 130, 130, &ended), 0); /* beside it, not in it */
    ck_assert_str_eq(ended.text, "0:130 0:130 ");
    ended.text[0] = '\0';
    ck_assert_int_eq(ids_lanes_end(&all, note_ended, &ended), 0);
    ck_assert_str_eq(ended.text, "0:130 1:105 1:110 2:120 ");
    ids_lanes_done(&all);
    ck_assert_int_eq(ids_lanes_at(&all, 0, &lane), 0);
    /* A staircase of more slices than lanes: each of those beyond has one of its own. */
    for (int64_t i = 0; i < IDS_LANES_MAX + 10; i++) ck_assert_uint_eq(place(&all, i, 100000 + i, NULL), (size_t)i);
    ids_lanes_done(&all);
}
END_TEST

/* ---- filter ---- */

static void filtered(const struct ids_filter_params *params, char *ret_text, size_t room) {
    struct note to;
    struct ids_filter *filter;
    note_init(&to);
    OK(ids_filter_new(&to.sink, params, &filter, &err));
    struct ids_sink *sink = ids_filter_sink(filter);
    OK(sink->ops->host(sink, &(struct ids_host_info){0}, &err));
    uint32_t host = put_plane(sink, "/host:CPU"), gpu = put_plane(sink, "/device:GPU:0");
    uint32_t op = put_name(sink, host, "op", NULL), kernel = put_name(sink, gpu, "long kernel", "kern");
    uint32_t thread = put_track(sink, host, "thread", 1), stream = put_track(sink, gpu, "stream", 2);
    const struct ids_arg cpu_op[] = {{.key = IDS_KEY_HLO_OP, .type = IDS_VALUE_TEXT, .text = IDS_KEY_NAME},
                                     {.key = IDS_KEY_DEVICE_ORDINAL, .type = IDS_VALUE_INT, .i = 3}};
    to.text[0] = '\0';
    put_slice(sink, thread, op, 0, 10);
    put_event(sink, thread, op, IDS_FORM_SLICE, 5, cpu_op, 2);
    put_slice(sink, stream, kernel, 10, 10);
    put_event(sink, stream, kernel, IDS_FORM_COUNTER, 20, NULL, 0);
    OK(sink->ops->track_end(sink, thread, &err));
    OK(sink->ops->track_end(sink, stream, &err));
    OK(sink->ops->diag(sink, &(struct ids_diag){.id = "d"}, &err));
    snprintf(ret_text, room, "%s", to.text);
    ids_filter_free(filter);
    ids_strings_done(&to.strings);
}

#define FILTERED(wanted, ...)                                        \
    do {                                                             \
        struct ids_filter_params params;                             \
        char text[1024];                                             \
        ids_filter_params_default(&params);                          \
        ck_assert_int_eq(ids_filter_params_are_default(&params), 1); \
        __VA_ARGS__;                                                 \
        filtered(&params, text, sizeof text);                        \
        ck_assert_str_eq(text, wanted);                              \
    } while (0)
#define GLOBS(field, glob) (params.field = (struct ids_globs){(const char *const[]){glob}, 1})

START_TEST(filter) {
    FILTERED("0:0+10 0:5+0=name=3 1:10+10 1:20+0 end:0 end:1 diag:d ", (void)0);
    FILTERED("0:10+10 end:0 diag:d ", GLOBS(tracks, "stream"), params.to_ps = 20);
    FILTERED("0:10+10 0:20+0 end:0 diag:d ", GLOBS(tracks, "/device:*/str*"));
    FILTERED("1:10+10 1:20+0 end:0 end:1 diag:d ", GLOBS(names, "kern"));
    FILTERED("1:10+10 1:20+0 end:0 end:1 diag:d ", GLOBS(names, "long k*"));
    FILTERED("end:0 end:1 diag:d ", GLOBS(names, "Kern"));
    FILTERED("1:10+10 1:20+0 end:0 end:1 diag:d ", GLOBS(devices, "GPU:0"));
    FILTERED("0:5+0=name=3 end:0 diag:d ", GLOBS(devices, "CPU#3"));
    FILTERED("0:5+0=name=3 end:0 diag:d ", GLOBS(devices, "3"));
    FILTERED("0:0+10 1:10+10 1:20+0 end:0 end:1 diag:d ", params.min_duration_ps = 10);
    FILTERED("1:20+0 end:0 end:1 diag:d ", params.min_duration_ps = 11);
    FILTERED("0:0+10 0:5+0=name=3 end:0 end:1 diag:d ", params.to_ps = 10);
    FILTERED("1:10+10 1:20+0 end:0 end:1 diag:d ", params.from_ps = 10);
    FILTERED("0:0+10 0:5+0=name=3 1:10+10 1:20+0 end:0 end:1 diag:d ", params.from_ps = 5);
    FILTERED("1:20+0 end:0 end:1 diag:d ", params.from_ps = 20);
}
END_TEST

IDS_RUN_SUITE("export_sinks", order, lanes, filter)
