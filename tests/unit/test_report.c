/* A report built by hand, and how it is rendered. */
#include "lib/base/intern.h"
#include "lib/report/grid.h"
#include "lib/report/layout.h"
#include "lib/report/painter.h"
#include "lib/report/render.h"
#include "lib/wire/utf8.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- definitions as analyzers have them ---- */

static const struct ids_metric_def idle_metrics[] = {
    {"idle.share", "idle", IDS_UNIT_RATIO, IDS_BETTER_LOWER, "Idle time over the window. Of all devices.",
     "SELECT 0.25 WHERE :run = 1"},
    {"idle.gaps", "gaps", IDS_UNIT_COUNT, IDS_BETTER_LOWER, "How many gaps there are.", NULL},
    {"idle.longest", "longest gap", IDS_UNIT_TIME, IDS_BETTER_LOWER, "The longest.", NULL},
    {"idle.source", "source", IDS_UNIT_NONE, IDS_BETTER_NEITHER, "By what.", NULL},
};
static const struct ids_column_def op_columns[] = {
    {"name", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"self", "self", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"flops", "flops", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
};
static const struct ids_table_def ops = {"ops", "ops", op_columns, 4, "One row per op.", IDS_TABLE_TOP};
static const struct ids_column_def track_columns[] = {{"id", "id", IDS_UNIT_COUNT, 0}};
static const struct ids_table_def tracks = {"tracks",        "tracks", track_columns, 1, "One row per track.",
                                            IDS_TABLE_HIDDEN};
static const struct ids_table_def *const op_tables[] = {&ops, &tracks};
static const struct ids_note idle_notes[] = {{.metric = "idle.gaps", .after = " gaps"},
                                             {.before = "longest", .metric = "idle.longest"},
                                             {.before = "never", .metric = "idle.none"}};
static const struct ids_headline idle_headlines[] = {{"idle", "idle", "idle.share", idle_notes, 3, 1},
                                                     {"idle", "by", "idle.source", NULL, 0, 0}};
static const struct ids_section sections[] = {
    {.name = "idle",
     .title = "idle gaps",
     .metrics = idle_metrics,
     .metric_count = 4,
     .headlines = idle_headlines,
     .headline_count = 2},
    {.name = "ops", .title = "ops", .tables = op_tables, .table_count = 2},
};

static struct ids_report report;
static struct ids_render render;
static struct ids_error err;

static void setup(void) {
    ids_report_init(&report);
    render = (struct ids_render){
        .sections = sections, .section_count = 2, .top = 10, .width = 80, .command = "idsprof report r"};
    ids_report_property(&report, "name", ids_text_value("r"));
    ids_report_property(&report, "hosts", ids_int_value(IDS_UNIT_COUNT, 2));
    ids_report_property(&report, "devices", ids_text_value("2 × X"));
    struct ids_metric *metric = ids_report_metric(&report, "idle.share", NULL, ids_real_value(IDS_UNIT_RATIO, 0.25));
    metric->grade = IDS_GRADE_WARN;
    ids_report_rule(&report, metric, "by %s", "counting");
    ids_report_metric(&report, "idle.share", "a:/device:GPU:0", ids_real_value(IDS_UNIT_RATIO, 0.2));
    ids_report_no_data(&report, "idle.share", IDS_UNIT_RATIO, "a:/device:GPU:1", "asleep");
    ids_report_metric(&report, "idle.gaps", NULL, ids_int_value(IDS_UNIT_COUNT, 1204));
    ids_report_metric(&report, "idle.longest", NULL, ids_int_value(IDS_UNIT_TIME, 8100000000));
    ids_report_no_data(&report, "idle.source", IDS_UNIT_NONE, NULL, "no %s", "source");
    struct ids_table *table = ids_report_table(&report, &ops);
    struct ids_value rows[][4] = {
        {ids_text_value("fusion.1"), ids_int_value(IDS_UNIT_TIME, 2737123456789), ids_real_value(IDS_UNIT_RATIO, 0.5),
         ids_real_value(IDS_UNIT_NUMBER, 1e9)},
        {ids_text_value("a \"quoted\", name"), ids_int_value(IDS_UNIT_TIME, 5000), ids_no_value(IDS_UNIT_RATIO),
         ids_real_value(IDS_UNIT_NUMBER, NAN)},
    };
    ids_report_row(&report, table, rows[0]);
    ids_report_row(&report, table, rows[1]);
    struct ids_value track = ids_int_value(IDS_UNIT_COUNT, -7);
    ids_report_row(&report, ids_report_table(&report, &tracks), &track);
    ids_report_advice(&report, &(struct ids_advice){.saves_ps = 31000000000,
                                                    .per_step = 1,
                                                    .what = "Do less",
                                                    .evidence = "it is much",
                                                    .explain = "idle.share"});
    ids_report_diag(&report, 0, "x.note", "a note", -1, 1);
    ids_report_diag(&report, 1, "x.warning", "two were cut", 17, 2);
}

static void teardown(void) {
    ids_report_done(&report);
}

typedef int render_fn(const struct ids_report *, const struct ids_render *, FILE *, struct ids_error *);

static char *rendered(render_fn *function) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(function(&report, &render, out, &err), 0);
    fclose(out);
    return text;
}

static void expect(render_fn *function, const char *wanted) {
    char *text = rendered(function);
    ck_assert_str_eq(text, wanted);
    free(text);
}

/* ---- the report itself ---- */

START_TEST(test_find) {
    ck_assert_ptr_nonnull(ids_report_find(&report, "idle.gaps", NULL));
    ck_assert_ptr_null(ids_report_find(&report, "idle.gaps", "a:/device:GPU:0"));
    ck_assert_double_eq(ids_report_find(&report, "idle.share", "a:/device:GPU:0")->value.d, 0.2);
    ck_assert_str_eq(ids_report_find(&report, "idle.source", NULL)->reason, "no source");
    ck_assert_ptr_null(ids_report_find(&report, "nothing", NULL));
    ck_assert_uint_eq(ids_report_find_table(&report, "ops")->row_count, 2);
    ck_assert_ptr_null(ids_report_find_table(&report, "nothing"));
    ck_assert_int_eq(ids_report_check(&report, &err), 0);
}
END_TEST

static uint64_t fold(uint64_t word, uint64_t by) {
    unsigned __int128 product = (unsigned __int128)word * by;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Texts of 16 bytes: the hash folds the first half, and the second half can be chosen so that what comes of both is
 * that of `text`. */
static void forge(const char text[16], char ret_other[17]) {
    uint64_t first, second;
    memcpy(&first, text, 8);
    memcpy(&second, text + 8, 8);
    const uint64_t seed = UINT64_C(0x9e3779b97f4a7c15) ^ 16, by = UINT64_C(0xff51afd7ed558ccd);
    const uint64_t wanted = fold(seed ^ first, by) ^ second;
    do {
        first++;
        second = wanted ^ fold(seed ^ first, by);
        memcpy(ret_other, &first, 8);
        memcpy(ret_other + 8, &second, 8);
        ret_other[16] = '\0';
    } while (strlen(ret_other) != 16);
    ck_assert_uint_eq(ids_hash_bytes(text, 16), ids_hash_bytes(ret_other, 16));
}

START_TEST(test_find_among_alike_hashes) {
    const char *id = "transfers.d2h_gb";
    char forged[17], missing[17];
    forge(id, forged);
    forge(forged, missing);
    ids_report_metric(&report, id, NULL, ids_int_value(IDS_UNIT_COUNT, 1));
    ck_assert_ptr_null(ids_report_find(&report, forged, NULL));
    ids_report_metric(&report, forged, NULL, ids_int_value(IDS_UNIT_COUNT, 2));
    ids_report_metric(&report, "idle.gaps", id, ids_int_value(IDS_UNIT_COUNT, 3));
    ids_report_metric(&report, "idle.gaps", forged, ids_int_value(IDS_UNIT_COUNT, 4));
    ck_assert_int_eq(ids_report_find(&report, id, NULL)->value.i, 1);
    ck_assert_int_eq(ids_report_find(&report, forged, NULL)->value.i, 2);
    ck_assert_int_eq(ids_report_find(&report, "idle.gaps", id)->value.i, 3);
    ck_assert_int_eq(ids_report_find(&report, "idle.gaps", forged)->value.i, 4);
    ck_assert_ptr_null(ids_report_find(&report, missing, NULL));
}
END_TEST

START_TEST(test_texts_are_copied) {
    char name[] = "before";
    ids_report_property(&report, name, ids_text_value(name));
    memcpy(name, "AFTER!", 6);
    ck_assert_str_eq(ids_report_find_property(&report, "before")->text, "before");
    ids_report_property(&report, "name", ids_text_value("other")); /* replaced, in its place */
    ck_assert_str_eq(report.properties[0].value.text, "other");
    ck_assert_str_eq(ids_report_text(&report, "%d of %s", 3, "them"), "3 of them");
}
END_TEST

START_TEST(test_tables_stay) {
    static struct ids_table_def defs[IDS_REPORT_TABLES + 1];
    static char ids[IDS_REPORT_TABLES + 1][16];
    struct ids_table *first = ids_report_table(&report, &ops);
    for (int i = 0; i <= IDS_REPORT_TABLES; i++) {
        snprintf(ids[i], sizeof ids[i], "t%d", i);
        defs[i] = (struct ids_table_def){.id = ids[i], .title = ids[i], .columns = track_columns, .column_count = 1};
        struct ids_value cell = ids_int_value(IDS_UNIT_COUNT, i);
        ids_report_row(&report, ids_report_table(&report, &defs[i]), &cell);
    }
    ck_assert_ptr_eq(first, ids_report_table(&report, &ops));
    ck_assert_uint_eq(first->row_count, 2);
    ck_assert_int_eq(ids_report_check(&report, &err), IDS_NOMEM); /* one too many: said, not crashed */
}
END_TEST

/* ---- values ---- */

static void expect_value(struct ids_value value, const char *wanted) {
    char buffer[IDS_VALUE_ROOM];
    ck_assert_str_eq(ids_value_format(value, buffer, sizeof buffer), wanted);
}

/* Cells in another order than the columns would print one thing under the name of another. */
START_TEST(test_cells_out_of_order) {
    static const struct ids_column_def two[] = {{"time", "time", IDS_UNIT_TIME, 0},
                                                {"count", "count", IDS_UNIT_COUNT, 0}};
    static const struct ids_table_def def = {"two", "two", two, 2, "Two.", 0};
    struct ids_report other;
    ids_report_init(&other);
    struct ids_table *table = ids_report_table(&other, &def);
    struct ids_value right[] = {ids_no_value(IDS_UNIT_TIME), ids_int_value(IDS_UNIT_COUNT, 1)};
    IDS_ROW(&other, table, two, right);
    ck_assert_int_eq(ids_report_check(&other, &err), 0);
    struct ids_value wrong[] = {ids_int_value(IDS_UNIT_TIME, 1), ids_no_value(IDS_UNIT_TIME)};
    IDS_ROW(&other, table, two, wrong);
    ck_assert_int_eq(ids_report_check(&other, &err), IDS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.text, "'count'"));
    ids_report_done(&other);
}
END_TEST

START_TEST(test_values) {
    static const struct {
        enum ids_unit unit;
        int64_t value;
        const char *wanted;
    } integers[] = {
        {IDS_UNIT_COUNT, 0, "0"},
        {IDS_UNIT_COUNT, 999, "999"},
        {IDS_UNIT_COUNT, 1204, "1,204"},
        {IDS_UNIT_COUNT, -1234567, "-1,234,567"},
        {IDS_UNIT_COUNT, INT64_MIN, "-9,223,372,036,854,775,808"},
        {IDS_UNIT_TIME, 0, "0 s"},
        {IDS_UNIT_TIME, 7, "7 ps"},
        {IDS_UNIT_TIME, 1234, "1.234 ns"},
        {IDS_UNIT_TIME, 512000, "512 ns"},
        {IDS_UNIT_TIME, 8100000000, "8.100 ms"},
        {IDS_UNIT_TIME, 162500000000, "162.5 ms"},
        {IDS_UNIT_TIME, 2737123456789, "2.737 s"},
        {IDS_UNIT_TIME, 76050000000000, "76.05 s"},
        {IDS_UNIT_TIME, 999949999999, "999.9 ms"},
        {IDS_UNIT_TIME, 999950000000, "1.000 s"},
        {IDS_UNIT_TIME, 9999500000000, "10.00 s"},
        {IDS_UNIT_TIME, INT64_MAX, "9,223,372 s"},
        {IDS_UNIT_TIME, -1500000, "-1.500 us"},
        {IDS_UNIT_BYTES, 0, "0 B"},
        {IDS_UNIT_BYTES, 999, "999 B"},
        {IDS_UNIT_BYTES, 4000000, "4 MB"},
        {IDS_UNIT_BYTES, 1200000000, "1.2 GB"},
        {IDS_UNIT_BYTES, 5368709120, "5.369 GB"},
        {IDS_UNIT_BYTES, 1000, "1 kB"},
        {IDS_UNIT_BYTES, 999999, "1 MB"},
    };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        expect_value(ids_int_value(integers[i].unit, integers[i].value), integers[i].wanted);
    }
    static const struct {
        enum ids_unit unit;
        double value;
        const char *wanted;
    } reals[] = {
        {IDS_UNIT_RATIO, 0, "0.0 %"},          {IDS_UNIT_RATIO, 0.713, "71.3 %"},
        {IDS_UNIT_RATIO, 1, "100.0 %"},        {IDS_UNIT_RATIO, 1e-6, "<0.1 %"},
        {IDS_UNIT_RATIO, -1e-6, ">-0.1 %"},    {IDS_UNIT_RATIO, -0.9999, "<-99.9 %"},
        {IDS_UNIT_RATIO, -0.25, "-25.0 %"},    {IDS_UNIT_RATIO, 0.99999, ">99.9 %"},
        {IDS_UNIT_RATIO, 1.5, "150.0 %"},      {IDS_UNIT_RATIO, -0.5, "-50.0 %"},
        {IDS_UNIT_RATIO, NAN, "no data"},      {IDS_UNIT_RATE, 24.1e9, "24.1 GB/s"},
        {IDS_UNIT_RATE, 1.5e12, "1.50 TB/s"},  {IDS_UNIT_RATE, 12, "12 B/s"},
        {IDS_UNIT_RATE, 120e9, "120 GB/s"},    {IDS_UNIT_NUMBER, 0.25, "0.25"},
        {IDS_UNIT_NUMBER, 197e12, "1.97e+14"}, {IDS_UNIT_NUMBER, INFINITY, "no data"},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        expect_value(ids_real_value(reals[i].unit, reals[i].value), reals[i].wanted);
    }
    expect_value(ids_no_value(IDS_UNIT_TIME), "no data");
    expect_value(ids_text_value("annotation"), "annotation");
    expect_value(ids_text_value(NULL), "no data");
}
END_TEST

/* ---- layout ---- */

START_TEST(test_clean) {
    struct ids_arena arena = {0};
    ck_assert_str_eq(ids_text_clean(&arena, "plain · text"), "plain · text");
    ck_assert_str_eq(ids_text_clean(&arena, "a\033[31mb\n\x9b"), "a\xef\xbf\xbd[31mb\xef\xbf\xbd\xef\xbf\xbd");
    ck_assert_str_eq(ids_text_clean(&arena, "\xe2\x80\xae"
                                            "x"),
                     "\xef\xbf\xbdx"); /* right-to-left override */
    ck_assert_int_eq(ids_text_columns("a·b"), 3);
    ck_assert_int_eq(ids_text_columns("漢字"), 4);
    ck_assert_int_eq(ids_text_columns("e\xcc\x81"), 1);
    ids_arena_done(&arena);
}
END_TEST

START_TEST(test_shorten) {
    struct ids_arena arena = {0};
    ck_assert_str_eq(ids_text_shorten(&arena, "short", 5), "short");
    ck_assert_str_eq(ids_text_shorten(&arena, "abcdefghij", 7), "abc…hij");
    ck_assert_str_eq(ids_text_shorten(&arena, "abcdefghij", 6), "abc…ij");
    ck_assert_str_eq(ids_text_shorten(&arena, "abcdefghij", 1), "…");
    static const char *const change = "block_2, jit(f): 512 → 1024: 11 ops changed, and 6 beside them";
    ck_assert_str_eq(ids_text_shorten(&arena, change, 50), "block_2, jit(f): 512 → 1024:…ed, and 6 beside them");
    ck_assert_str_eq(ids_text_shorten(&arena, change, 32), "block_2, jit(f): 512 → 1024:…");
    ck_assert_str_eq(ids_text_shorten(&arena, change, 24), "block_2, ji…512 → 1024:…");
    ck_assert_str_eq(ids_text_shorten(&arena, "layer_0123456789: f32[8] → f32[9]", 26), "layer_0123…f32[8] → f32[9]");
    ck_assert_str_eq(ids_text_shorten(&arena, change, 9), "bloc…them"); /* it has no room */
    for (int columns = 1; columns < 60; columns++)
        ck_assert_int_le(ids_text_columns(ids_text_shorten(&arena, change, columns)), columns);
    for (int columns = 1; columns < 16; columns++) {
        const char *text = ids_text_shorten(&arena, "漢字漢字abc漢字漢", columns);
        ck_assert_int_le(ids_text_columns(text), columns);
        ck_assert_str_eq(ids_text_clean(&arena, text), text); /* no character was cut */
    }
    ids_arena_done(&arena);
}
END_TEST

START_TEST(test_wrap) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ids_text_wrap(out, "one two 8.1 ms  three averyveryverylongword", 4, 2, 14);
    fclose(out);
    ck_assert_str_eq(text, "one two\n  8.1 ms three\n  averyveryverylongword\n");
    free(text);
}
END_TEST

/* ---- renderings ---- */

/* Rows of a table as they are printed in lines of that width. */
static const char *grid_text(struct ids_grid *grid, int width) {
    static char text[2048];
    struct ids_arena arena = {0};
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(out);
    ids_grid_fit(grid, width);
    ids_grid_write(grid, &arena, "", "", out);
    fclose(out);
    ids_arena_done(&arena);
    return text;
}

START_TEST(test_grid_keeps_the_name) {
    struct ids_grid_column columns[] = {{.title = "total", .right = 1},
                                        {.title = "count", .right = 1},
                                        {.title = "registers", .right = 1},
                                        {.title = "kernel", .stretch = 1},
                                        {.title = "module", .stretch = 1}};
    const char *cells[] = {"1.000 ms", "12", "-", "a_kernel_with_a_name", "jit_step",
                           "2.000 ms", "13", "-", "another_kernel_of_it", "jit_step"};
    struct ids_grid grid = {.columns = columns, .column_count = 5, .cells = cells, .row_count = 2};
    ck_assert_str_eq(grid_text(&grid, 36), "     total  kernel\n"
                                           "  1.000 ms  a_kernel_with_a_name\n"
                                           "  2.000 ms  another_kernel_of_it\n");
    ck_assert_int_eq(columns[2].left_out, IDS_GRID_EMPTY);
    ck_assert_int_eq(columns[4].left_out, IDS_GRID_TOO_WIDE);
    ck_assert_str_eq(grid_text(&grid, 22), "     total  kernel\n"
                                           "  1.000 ms  a_ker…name\n"
                                           "  2.000 ms  anoth…f_it\n");
}
END_TEST

/* Where the first column says what a row is about, a culprit beside it goes before the time does. */
START_TEST(test_grid_keeps_the_figure) {
    struct ids_grid_column columns[] = {{.title = "account"},
                                        {.title = "time", .right = 1},
                                        {.title = "share", .right = 1},
                                        {.title = "mostly", .stretch = 1}};
    const char *cells[] = {"communication.exposed", "1.000 ms", "66.7 %", "an_op_with_a_long_name",
                           "work.compute",          "500.0 us", "33.3 %", "another_op_of_it"};
    struct ids_grid grid = {.columns = columns, .column_count = 4, .cells = cells, .row_count = 2};
    ck_assert_str_eq(grid_text(&grid, 42), "  account                    time   share\n"
                                           "  communication.exposed  1.000 ms  66.7 %\n"
                                           "  work.compute           500.0 us  33.3 %\n");
    ck_assert_str_eq(grid_text(&grid, 36), "  account                    time\n"
                                           "  communication.exposed  1.000 ms\n"
                                           "  work.compute           500.0 us\n");
    ck_assert_str_eq(grid_text(&grid, 58), "  account                    time  mostly\n"
                                           "  communication.exposed  1.000 ms  an_op_with_a_long_name\n"
                                           "  work.compute           500.0 us  another_op_of_it\n");
}
END_TEST

START_TEST(test_grid_tells_rows_apart) {
    struct ids_grid_column columns[] = {{.title = "total", .right = 1}, {.title = "op", .stretch = 1}};
    const char *cells[] = {"4", "dot",
                           "3", "dot",
                           "2", "gemm_of_many_words_128x64_and_more_words_tn",
                           "1", "gemm_of_many_words_256x64_and_more_words_tn"};
    const char *shapes[] = {"f32[8,8]", "f32[4,4]", "f32[2]", "f32[2]"}, *programs[] = {"7", "8", "7", "8"};
    struct ids_grid_detail details[] = {{programs, 0}, {shapes, 1}};
    struct ids_grid grid = {
        .columns = columns, .column_count = 2, .cells = cells, .row_count = 4, .details = details, .detail_count = 2};
    ck_assert_str_eq(grid_text(&grid, 30), "  total  op\n"
                                           "      4  dot · f32[8,8]\n"
                                           "      3  dot · f32[4,4]\n"
                                           "      2  gemm_of_man…128…ds_tn\n"
                                           "      1  gemm_of_man…256…ds_tn\n");
}
END_TEST

/* What is found of a row does not tell which row it is. */
START_TEST(test_grid_tells_rows_of_other_verdicts_apart) {
    struct ids_grid_column columns[] = {{.title = "limited by", .is_verdict = 1}, {.title = "kernel", .stretch = 1}};
    const char *cells[] = {"grid", "norm", "-", "norm"}, *grids[] = {"64,1,1", "128,1,1"};
    struct ids_grid_detail details[] = {{grids, 1}};
    struct ids_grid grid = {
        .columns = columns, .column_count = 2, .cells = cells, .row_count = 2, .details = details, .detail_count = 1};
    ck_assert_str_eq(grid_text(&grid, 60), "  limited by  kernel\n"
                                           "  grid        norm \xc2\xb7 64,1,1\n"
                                           "  -           norm \xc2\xb7 128,1,1\n");
}
END_TEST

START_TEST(test_text) {
    expect(ids_render_text, "r · 2 hosts · 2 × X\n"
                            "\n"
                            "  idle   25.0 %    warn   GPU:0 20.0 %, GPU:1 no data, 1,204 gaps, longest\n"
                            "                          8.100 ms\n"
                            "  by     no data          no source\n"
                            "\n"
                            "  OPS                  self   share\n"
                            "  fusion.1          2.737 s  50.0 %\n"
                            "  a \"quoted\", name     5 ns       -\n"
                            "\n"
                            "  WHAT TO DO\n"
                            "  1  up to 31.00 ms a step: Do less\n"
                            "     it is much\n"
                            "     idsprof report r --explain idle.share\n"
                            "\n"
                            "  NOTES\n"
                            "  warning  two were cut (2) (offset 17)\n");
}
END_TEST

START_TEST(test_text_incomplete) {
    report.complete = 0;
    ids_report_diag(&report, 2, "x.cut", "cut at 99 bytes", 99, 1);
    char *text = rendered(ids_render_text);
    const char *first = "r · INCOMPLETE: cut at 99 bytes · 2 hosts · 2 × X\n";
    ck_assert_msg(!strncmp(text, first, strlen(first)), "%s", text);
    free(text);
}
END_TEST

START_TEST(test_text_section) {
    const char *only[] = {"idle"};
    render.only = only;
    render.only_count = 1;
    expect(ids_render_text, "r · 2 hosts · 2 × X\n"
                            "\n"
                            "  IDLE GAPS\n"
                            "  idle           25.0 %    warn   GPU:0 20.0 %, GPU:1 no data; by rule: by\n"
                            "                                  counting\n"
                            "  gaps          1,204\n"
                            "  longest gap   8.100 ms\n"
                            "  source        no data           no source\n");
}
END_TEST

START_TEST(test_text_colour) {
    render.colour = 1;
    char *text = rendered(ids_render_text);
    ck_assert_ptr_nonnull(strstr(text, "\033[33mwarn\033[0m"));
    ck_assert_ptr_nonnull(strstr(text, "\033[1mr\033[0m ·"));
    free(text);
}
END_TEST

/* Every width: no line is wider, none ends in a space, and the table says what it had to leave out. */
START_TEST(test_text_widths) {
    struct ids_table *table = ids_report_table(&report, &ops);
    struct ids_value row[] = {
        ids_text_value("jit(train_step)/jit(main)/transpose(jvp(layer_3))/attention/dot_general[漢字]"),
        ids_int_value(IDS_UNIT_TIME, 123456789), ids_real_value(IDS_UNIT_RATIO, 0.4), ids_no_value(IDS_UNIT_NUMBER)};
    ids_report_row(&report, table, row);
    for (render.width = 40; render.width < 130; render.width++) {
        char *text = rendered(ids_render_text);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            int command = strstr(line, "--explain") != NULL; /* to be copied: never broken */
            ck_assert_msg(command || ids_text_columns(line) <= render.width, "%d: %s", render.width, line);
            ck_assert_msg(line[strlen(line) - 1] != ' ', "%d: '%s'", render.width, line);
        }
        free(text);
    }
    render.width = 40;
    char *text = rendered(ids_render_text);
    ck_assert_ptr_nonnull(strstr(text, "…"));
    free(text);
    render.full = 1;
    text = rendered(ids_render_text);
    ck_assert_ptr_nonnull(strstr(text, "attention/dot_general[漢字]"));
    ck_assert_ptr_null(strstr(text, "…"));
    free(text);
}
END_TEST

START_TEST(test_text_top) {
    render.top = 1;
    char *text = rendered(ids_render_text);
    ck_assert_ptr_nonnull(
        strstr(text, "  TOP 1 OPS     self   share\n  fusion.1   2.737 s  50.0 %\n  1 more with --top 0\n"));
    free(text);
}
END_TEST

START_TEST(test_many_devices) {
    char device[32];
    for (int i = 2; i < 9; i++) {
        snprintf(device, sizeof device, "%c:/device:GPU:%d", i == 8 ? 'b' : 'a', i == 8 ? 0 : i);
        ids_report_metric(&report, "idle.share", device,
                          ids_real_value(IDS_UNIT_RATIO, i == 8 ? 0.1 : 0.2 + i / 100.0));
    }
    render.width = 200;
    char *text = rendered(ids_render_text);
    /* GPU:0 is there on two hosts, so its host is said; GPU:7 only once. */
    ck_assert_msg(strstr(text, "9 devices, least b GPU:0 10.0 %, most GPU:7 27.0 %") != NULL, "%s", text);
    free(text);
}
END_TEST

/* Where all are the same, no device is the least. */
START_TEST(test_devices_alike) {
    char device[32];
    for (int i = 2; i < 9; i++) {
        snprintf(device, sizeof device, "a:/device:GPU:%d", i);
        ids_report_metric(&report, "kernels.median", device, ids_int_value(IDS_UNIT_TIME, 7000000));
    }
    struct ids_painter painter;
    ids_painter_init(&painter, &report, &render, stdout);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_devices(&phrase, &painter, "kernels.median");
    ck_assert_str_eq(ids_phrase_end(&painter, &phrase), "7 devices alike");
    ck_assert_int_eq(ids_painter_done(&painter, &err), 0);
}
END_TEST

START_TEST(test_json) {
    expect(
        ids_render_json,
        "{\n"
        "  \"schema\": 2,\n"
        "  \"program\": {\"name\":\"idsprof\", \"version\":\"" IDS_VERSION "\"},\n"
        "  \"complete\": true,\n"
        "  \"run\": {\n"
        "    \"name\": \"r\",\n"
        "    \"hosts\": 2,\n"
        "    \"devices\": \"2 × X\"\n"
        "  },\n"
        "  \"metrics\": {\n"
        "    \"idle.share\": {\"value\":0.25, \"unit\":\"ratio\", \"better\":\"lower\", \"grade\":\"warn\", "
        "\"rule\":\"by counting\", "
        "\"by_device\":{\"a:/device:GPU:0\":0.2, \"a:/device:GPU:1\":null}, "
        "\"reason_by_device\":{\"a:/device:GPU:1\":\"asleep\"}},\n"
        "    \"idle.gaps\": {\"value\":1204, \"unit\":\"count\", \"better\":\"lower\"},\n"
        "    \"idle.longest\": {\"value\":0.0081, \"unit\":\"s\", \"better\":\"lower\"},\n"
        "    \"idle.source\": {\"value\":null, \"unit\":\"text\", \"reason\":\"no source\"}\n"
        "  },\n"
        "  \"tables\": {\n"
        "    \"ops\": {\n"
        "      \"title\": \"ops\",\n"
        "      \"columns\": [{\"id\":\"name\"}, {\"id\":\"self\", \"unit\":\"s\"}, {\"id\":\"share\", "
        "\"unit\":\"ratio\"}, {\"id\":\"flops\", \"unit\":\"number\"}],\n"
        "      \"rows\": [\n"
        "        [\"fusion.1\", 2.737123456789, 0.5, 1000000000],\n"
        "        [\"a \\\"quoted\\\", name\", 0.000000005, null, null]\n"
        "      ]\n"
        "    }\n"
        "  },\n"
        "  \"advice\": [\n"
        "    {\"saves\":0.031, \"per\":\"step\", \"what\":\"Do less\", \"evidence\":\"it is much\", "
        "\"explain\":\"idle.share\"}\n"
        "  ],\n"
        "  \"diag\": [\n"
        "    {\"severity\":\"note\", \"id\":\"x.note\", \"text\":\"a note\", \"offset\":null, \"count\":1},\n"
        "    {\"severity\":\"warning\", \"id\":\"x.warning\", \"text\":\"two were cut\", \"offset\":17, \"count\":2}\n"
        "  ]\n"
        "}\n");
}
END_TEST

START_TEST(test_json_section) {
    const char *only[] = {"ops"};
    render.only = only;
    render.only_count = 1;
    render.top = 1;
    char *text = rendered(ids_render_json);
    ck_assert_ptr_null(strstr(text, "idle.gaps\""));
    ck_assert_ptr_nonnull(strstr(text, "\"rows_left_out\": 1"));
    ck_assert_ptr_nonnull(strstr(text, "\"tracks\"")); /* hidden, but in its section's JSON */
    free(text);
}
END_TEST

START_TEST(test_csv) {
    expect(ids_render_csv, "id,device,value,unit,better,reason\n"
                           "idle.share,,0.25,ratio,lower,\n"
                           "idle.share,a:/device:GPU:0,0.2,ratio,lower,\n"
                           "idle.share,a:/device:GPU:1,,ratio,lower,asleep\n"
                           "idle.gaps,,1204,count,lower,\n"
                           "idle.longest,,0.0081,s,lower,\n"
                           "idle.source,,,text,,no source\n");
    const char *only[] = {"ops"};
    render.only = only;
    render.only_count = 1;
    expect(ids_render_csv, "name,self,share,flops\n"
                           "fusion.1,2.737123456789,0.5,1000000000\n"
                           "\"a \"\"quoted\"\", name\",0.000000005,,\n");
}
END_TEST

START_TEST(test_explain) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(ids_render_explain(&report, &render, "idle.share", out, &err), 0);
    fclose(out);
    ck_assert_str_eq(text, "idle.share · idle\n"
                           "\n"
                           "  definition   Idle time over the window. Of all devices.\n"
                           "  in this run  25.0 % (warn)\n"
                           "               a:/device:GPU:0 20.0 %\n"
                           "               a:/device:GPU:1 no data: asleep\n"
                           "  by rule      by counting\n"
                           "  direction    lower is better\n"
                           "  see          idsprof report r --section idle\n");
    free(text);
    out = open_memstream(&text, &length);
    ck_assert_int_eq(ids_render_explain(&report, &render, "tracks", out, &err), 0);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "  see          idsprof report r --section ops --json\n"));
    free(text);
    ck_assert_int_eq(ids_render_explain(&report, &render, "nothing", stderr, &err), IDS_NOT_FOUND);
    ck_assert_int_eq(ids_render_explain_json(&report, &render, "nothing", stderr, &err), IDS_NOT_FOUND);
}
END_TEST

START_TEST(test_empty_report) {
    ids_report_done(&report);
    ids_report_init(&report);
    expect(ids_render_text, "run\n"
                            "\n"
                            "  idle   no data   not measured\n"
                            "  by     no data   as above\n");
    char *text = rendered(ids_render_json);
    ck_assert_ptr_nonnull(strstr(
        text,
        "\"idle.gaps\": {\"value\":null, \"unit\":\"count\", \"better\":\"lower\", \"reason\":\"not measured\"}"));
    free(text);
}
END_TEST

IDS_RUN_FIXTURE("report", setup, teardown, test_find, test_find_among_alike_hashes, test_texts_are_copied,
                test_tables_stay, test_cells_out_of_order, test_values, test_clean, test_shorten, test_wrap,
                test_grid_keeps_the_figure, test_grid_keeps_the_name, test_grid_tells_rows_apart,
                test_grid_tells_rows_of_other_verdicts_apart, test_text, test_text_incomplete, test_text_section,
                test_text_colour, test_text_widths, test_text_top, test_many_devices, test_devices_alike, test_json,
                test_json_section, test_csv, test_explain, test_empty_report)
