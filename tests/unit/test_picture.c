/* lib/analysis/picture*.c: what a picture merges and what it keeps, by hand and against counts of all events. */
#include "lib/analysis/analysis.h"
#include "lib/analysis/picture.h"
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>

static struct ids_mark mark(int64_t from, int64_t to, enum ids_account account) {
    return (struct ids_mark){.start_ps = from, .end_ps = to, .count = 1, .what = 1, .account = (uint8_t)account};
}

static void add(struct ids_lane *lane, const struct ids_picture_stretch *stretches, size_t count, int64_t from,
                int64_t to, enum ids_account account) {
    const struct ids_mark one = mark(from, to, account);
    ck_assert_int_eq(ids_lane_add(lane, stretches, count, &one), 0);
}

static void is(const struct ids_mark *mark, int64_t from, int64_t to, uint32_t count, enum ids_account account) {
    ck_assert_int_eq(mark->start_ps, from);
    ck_assert_int_eq(mark->end_ps, to);
    ck_assert_uint_eq(mark->count, count);
    ck_assert_uint_eq(mark->account, account);
}

/* Below 100 is short. */
START_TEST(short_ones_merge) {
    const struct ids_picture_stretch all[] = {{INT64_MIN, 100}};
    struct ids_lane lane = {0};
    add(&lane, all, 1, 0, 10, IDS_WORK_COMPUTE);
    add(&lane, all, 1, 20, 50, IDS_COMM_TRANSFER); /* [0,50]: 10 and 30 of 50 are covered */
    add(&lane, all, 1, 60, 70, IDS_WORK_COMPUTE);
    add(&lane, all, 1, 70, 100, IDS_WORK_COMPUTE);  /* it would be 100 long, so it begins another one */
    add(&lane, all, 1, 100, 300, IDS_WORK_COMPUTE); /* long */
    add(&lane, all, 1, 300, 301, IDS_WORK_COMPUTE); /* short, but its neighbour is not */
    ids_lane_end(&lane);
    ck_assert_uint_eq(lane.count, 4);
    is(&lane.marks[0], 0, 70, 3, IDS_COMM_TRANSFER);
    ck_assert_int_eq(lane.marks[0].busy_ps, 50);
    ck_assert_int_eq(lane.marks[0].lead_ps, 31); /* and one, which an event of no duration has too */
    is(&lane.marks[1], 70, 100, 1, IDS_WORK_COMPUTE);
    is(&lane.marks[2], 100, 300, 1, IDS_WORK_COMPUTE);
    is(&lane.marks[3], 300, 301, 1, IDS_WORK_COMPUTE);
    ck_assert_uint_eq(lane.marks[0].what, 0);
    ck_assert_uint_eq(lane.marks[3].what, 1);
    ids_lane_done(&lane);
}
END_TEST

/* What is seen in detail has every event, and nothing is merged across its edges. */
START_TEST(details_keep) {
    const struct ids_picture_stretch some[] = {{INT64_MIN, 100}, {50, 0}, {80, 100}};
    struct ids_lane lane = {0};
    for (int64_t at = 0; at < 130; at += 10) add(&lane, some, 3, at, at + 5, IDS_WORK_COMPUTE);
    ids_lane_end(&lane);
    ck_assert_uint_eq(lane.count, 5);
    is(&lane.marks[0], 0, 45, 5, IDS_WORK_COMPUTE);
    for (int i = 1; i < 4; i++) is(&lane.marks[i], 40 + 10 * i, 45 + 10 * i, 1, IDS_WORK_COMPUTE);
    is(&lane.marks[4], 80, 125, 5, IDS_WORK_COMPUTE);
    ids_lane_done(&lane);
}
END_TEST

/* As a strip of letters has it: of what runs where most runs, else of what does not. */
START_TEST(what_leads) {
    const struct ids_picture_stretch all[] = {{INT64_MIN, 1000}};
    struct ids_lane lane = {0};
    add(&lane, all, 1, 0, 40, IDS_HOST_SYNC);
    add(&lane, all, 1, 40, 75, IDS_WORK_COMPUTE);
    add(&lane, all, 1, 75, 100, IDS_COMM_WAIT);
    ids_lane_end(&lane);
    is(&lane.marks[0], 0, 100, 3, IDS_WORK_COMPUTE);
    add(&lane, all, 1, 100, 150, IDS_HOST_PYTHON);
    ids_lane_end(&lane);
    is(&lane.marks[0], 0, 150, 4, IDS_HOST_PYTHON);
    ids_lane_done(&lane);
}
END_TEST

/* However many events: at most two marks a cell, no event is lost, and time is what it was. */
START_TEST(bounded) {
    enum { CELLS = 500 };
    const int events = ids_some_of(100000, 10000);
    struct ids_lane lane = {0};
    int64_t at = 0, busy = 0, sum = 0;
    uint64_t count = 0;
    struct ids_picture_stretch all = {INT64_MIN, 0};
    srand(7);
    all.least_ps = (int64_t)events * 105 / CELLS;
    for (int i = 0; i < events; i++) {
        int64_t from = at + rand() % 10, to = from + rand() % 200 + (i % 1000 == 0) * 50000;
        add(&lane, &all, 1, from, to, (enum ids_account)(rand() % IDS_ACCOUNT_COUNT));
        busy += to - from;
        at = to;
    }
    ids_lane_end(&lane);
    for (size_t m = 0; m < lane.count; m++) {
        count += lane.marks[m].count;
        sum += lane.marks[m].count > 1 ? lane.marks[m].busy_ps : lane.marks[m].end_ps - lane.marks[m].start_ps;
        ck_assert_int_le(lane.marks[m].start_ps, lane.marks[m].end_ps);
        if (m) ck_assert_int_ge(lane.marks[m].start_ps, lane.marks[m - 1].end_ps);
    }
    ck_assert_uint_eq(count, (unsigned)events);
    ck_assert_int_eq(sum, busy);
    ck_assert_uint_le(lane.count, 2 * (size_t)(at / all.least_ps + 1));
    ids_lane_done(&lane);
}
END_TEST

/* ---- of a run ---- */

enum { STEPS = 20, KERNELS = 60, SLOWEST = 13 };

/* Steps of 60 kernels of 1 us, 2 us apart, which the thread launched 1 us before; in one step they take 3 us. */
static struct ids_trace *steps_of_kernels(void) {
    static char text[1 << 17];
    size_t used = 0;
    int at = 0, correlation = 0;
    static int begins[STEPS * KERNELS];
    used += (size_t)snprintf(text, sizeof text, "host h\nplane /device:GPU:0\nline 1 \"Stream #1(Kernel)\"\n");
    for (int s = 0; s < STEPS; s++) {
        for (int k = 0; k < KERNELS; k++, at += s == SLOWEST ? 6 : 3) {
            begins[correlation] = at + 1;
            used += (size_t)snprintf(text + used, sizeof text - used, "%dus %dus k correlation_id=%d\n", at + 1,
                                     s == SLOWEST ? 3 : 1, ++correlation);
        }
        at += 20;
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "plane /host:CPU\nline 100 python\n");
    for (int s = 0; s < STEPS; s++) {
        int from = begins[s * KERNELS] - 1;
        used += (size_t)snprintf(text + used, sizeof text - used, "%dus %dus train step_num=%d\n", from,
                                 begins[(s + 1) * KERNELS - 1] - from, s);
        for (int k = s * KERNELS; k < (s + 1) * KERNELS; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%dus 500ns k correlation_id=%d\n", begins[k] - 1,
                                     k + 1);
    }
    return mini_trace(text);
}

static struct ids_picture picture_of(const struct ids_trace *trace, int64_t budget) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_picture picture = {.budget_bytes = budget};
    struct ids_report report;
    struct ids_params params;
    ids_params_default(&params);
    params.picture = &picture;
    ids_report_init(&report);
    ck_assert_msg(!ids_analyze(trace, &params, &report, &err), "%s", err.text);
    ids_report_done(&report);
    return picture;
}

static const struct ids_picture_row *row_of(const struct ids_picture *picture, enum ids_picture_kind kind) {
    for (size_t r = 0; r < picture->row_count; r++) {
        if (picture->rows[r].kind == kind) return &picture->rows[r];
    }
    ck_abort_msg("no row of kind %d", kind);
}

static uint64_t events_of(const struct ids_picture_row *row) {
    uint64_t count = row->deeper;
    for (uint32_t l = 0; l < row->lane_count; l++) {
        for (size_t m = 0; m < row->lanes[l].count; m++) count += row->lanes[l].marks[m].count;
    }
    return count;
}

START_TEST(small_run_is_whole) {
    struct ids_trace *trace = steps_of_kernels();
    struct ids_picture picture = picture_of(trace, 0);
    const struct ids_picture_row *ops = row_of(&picture, IDS_ROW_OPS);
    ck_assert_uint_eq(ops->lanes[0].count, STEPS * KERNELS);
    const struct ids_mark *second = &ops->lanes[0].marks[1];
    is(second, 4000000, 5000000, 1, IDS_WORK_COMPUTE);
    ck_assert_str_eq(ids_strings_z(&picture.texts, picture.whats[second->what - 1].name), "k");
    ck_assert_int_eq(second->launch_ps, 3000000);
    ck_assert_int_eq(picture.rows[second->launch - 1].kind, IDS_ROW_THREAD);
    ck_assert_uint_eq(row_of(&picture, IDS_ROW_STEPS)->lanes[0].count, STEPS);
    ck_assert_uint_eq(picture.detail_count, 0);
    ids_picture_done(&picture);
    ids_trace_free(trace);
}
END_TEST

/* 5,000 marks would be needed; there is room for 2,600. Every event is counted, and one by one in the slowest step. */
START_TEST(large_run_is_merged) {
    struct ids_trace *trace = steps_of_kernels();
    struct ids_picture picture = picture_of(trace, (int64_t)2600 * 8);
    const struct ids_picture_row *ops = row_of(&picture, IDS_ROW_OPS);
    ck_assert_uint_le(picture.mark_count, 2600 * 5 / 4);
    ck_assert_uint_eq(events_of(ops), STEPS * KERNELS);
    ck_assert_uint_lt(ops->lanes[0].count, STEPS * KERNELS);
    ck_assert_uint_gt(picture.detail_count, 0);
    int has_slowest = 0;
    for (size_t d = 0; d < picture.detail_count; d++) {
        const struct ids_picture_detail *detail = &picture.details[d];
        has_slowest |= strstr(ids_strings_z(&picture.texts, detail->why), "step 13, the slowest") != NULL;
        if (d) ck_assert_int_ge(detail->from_ps, picture.details[d - 1].to_ps);
        for (size_t m = 0; m < ops->lanes[0].count && !detail->least_ps; m++) {
            const struct ids_mark *one = &ops->lanes[0].marks[m];
            if (one->start_ps >= detail->from_ps && one->start_ps < detail->to_ps) ck_assert_uint_eq(one->count, 1);
        }
    }
    ck_assert_int_eq(has_slowest, 1);
    ids_picture_done(&picture);
    ids_trace_free(trace);
}
END_TEST

/* A device that did nothing, and nothing at all. */
START_TEST(nothing) {
    const char *const texts[] = {"host h\nplane /host:CPU\nline 1 python\n0us 5us f\n", "host h\n"};
    for (int i = 0; i < 2; i++) {
        struct ids_trace *trace = mini_trace(texts[i]);
        struct ids_picture picture = picture_of(trace, 0);
        ck_assert_int_ge(picture.start_ps, picture.end_ps);
        ids_picture_done(&picture);
        ids_trace_free(trace);
    }
}
END_TEST

IDS_RUN_SUITE("picture", short_ones_merge, details_keep, what_leads, bounded, small_run_is_whole, large_run_is_merged,
              nothing)
