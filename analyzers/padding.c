/* padding.c - matrix products of which a part is padding: sizes that the device's matrix unit fills up, and tiles that
 * arrays do not fill. */
#include "lib/analysis/context.h"
#include "lib/analysis/matrix_unit.h"
#include "lib/base/keymap.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>

static const struct ids_column_def columns[] = {
    {"padding", "padding", IDS_UNIT_RATIO, 0},
    {"time", "time", IDS_UNIT_TIME, 0},
    {"per_step", "a step", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"saving", "saves up to", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"count", "count", IDS_UNIT_COUNT, 0},
    {"ops", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"sizes", "sizes", IDS_UNIT_NONE, 0},
    {"computed_as", "computed as", IDS_UNIT_NONE, 0},
    {"tiles", "in tiles", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},
    {"tile_bytes", "bytes of tiles", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"bound", "bound by", IDS_UNIT_NONE, IDS_COLUMN_SPARE},
    {"op", "op", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"where", "in the program", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"source", "source", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"module", "module", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
};
static const struct ids_table_def table_def = {
    "padding",
    "products that are partly padding",
    columns,
    IDS_COUNT_OF(columns),
    "Matrix products, convolutions and fusions with one whose sizes a device's matrix unit fills up, what could be "
    "saved "
    "first; ops that compute the same are one row (`alike`). `sizes` are rows x depth x columns: [rows,depth] times "
    "[depth,columns], of each matrix of a batch; columns lie where the result's fastest dimension does, and dimensions "
    "of one side are taken together. `computed_as` is what they are filled up to: on a TPU rows to 8, depth and "
    "columns "
    "to the width of the unit (256 from v6 on, else 128); on a GPU each to 16 bytes, 8 numbers of bf16. `padding` is "
    "the "
    "share of the product's operations that this adds, at least: XLA may choose more. `tiles` is what the tiles of the "
    "layout, T(8,128), add to the arrays that it reads and writes, as a share of all (`tile_bytes`), where the program "
    "has them. `saving` is the most that a step could win, where the op's cost and the device's peaks are known: of "
    "what computing bounds its padding, but no time below the roofline of the product without it; of what memory "
    "bounds "
    "what tiles add; else nothing. An op whose sizes fit has no row.",
    0,
};

enum { MOST_ROWS = 200 };

struct row {
    const struct ids_op *op; /* the one with most time */
    const struct ids_device *device;
    double saving, self_time; /* seconds of all devices */
    int64_t most_ps, time_ps, step_ps, count, ops;
    int by_compute, by_memory;
};

struct gathering {
    struct own {
        int64_t time_ps, step_ps, count;
        const struct ids_device *device; /* the first that ran it */
    } * of_op;                           /* by trace->ops; NULL: none of them multiplies matrices */
    struct ids_keymap numbers;
    struct row *rows;
    size_t count, room;
};

static int is_product(const struct ids_op *op) {
    return op->product.depth > 0 || op->product.tiled > op->product.bytes;
}

static int padding_begin(const struct ids_analysis *analysis, void *sums, struct ids_error *err) {
    struct gathering *gathering = sums;
    const struct ids_trace *trace = analysis->trace;
    int any = 0;
    for (size_t i = 0; i < trace->op_count && !any; i++) any = is_product(&trace->ops[i]);
    if (!any) return 0;
    gathering->of_op = calloc(trace->op_count, sizeof *gathering->of_op);
    return gathering->of_op ? 0 : ids_no_memory(err);
}

static int sum_up_device(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    (void)err;
    struct gathering *gathering = sums;
    if (!gathering->of_op) return 0;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->op == IDS_NONE || !is_product(&analysis->trace->ops[event->op])) continue;
        struct own *own = &gathering->of_op[event->op];
        int64_t own_ps = ids_own_in_window(busy, event);
        if (!own->device) own->device = busy->device;
        ids_sum(&own->time_ps, own_ps);
        own->count++;
        if (ids_step_of_device_event(analysis, event)) ids_sum(&own->step_ps, own_ps);
    }
    return 0;
}

static void padding_done(void *sums) {
    struct gathering *gathering = sums;
    ids_keymap_done(&gathering->numbers);
    free(gathering->of_op);
    free(gathering->rows);
}

static double padding_of(const struct ids_trace *trace, const struct ids_op *op, const struct ids_device *device) {
    struct ids_matrix_unit unit = ids_matrix_unit_of(trace, device, op->element);
    return ids_padding_of(&op->product, &unit);
}

static double tiles_of(const struct ids_op *op) {
    return op->product.tiled > op->product.bytes ? 1 - (double)op->product.bytes / (double)op->product.tiled : 0;
}

/* What the op could win by the bound that its padded sizes have, in seconds of all its executions. What the file says
 * of its bytes is with tiles. */
static double won_by(const struct ids_op_cost *cost, double padding, double tiles, struct row *row) {
    enum { OUT_OF_SIGHT = 10 };
    double computed = cost->flops_time / (1 - padding);
    double least = computed > cost->bytes_time ? computed : cost->bytes_time;
    if (!cost->has_roof || !(cost->self_time > 0) || least * OUT_OF_SIGHT < cost->self_time) return 0;
    row->self_time += cost->self_time;
    if (computed < cost->bytes_time) {
        row->by_memory = 1;
        return cost->self_time * tiles;
    }
    row->by_compute = 1;
    double above = cost->self_time - cost->roof_time, won = cost->self_time * padding;
    return above > 0 ? fmin(won, above) : 0;
}

static int add_op(struct gathering *gathering, const struct ids_analysis *analysis, size_t at) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_op *op = &trace->ops[at];
    const struct own *own = &gathering->of_op[at];
    double padding = padding_of(trace, op, own->device), tiles = tiles_of(op);
    if (!(padding > 0) && !(tiles > 0)) return 0;
    uint64_t key =
        ids_key_of(op->fingerprint ? op->fingerprint : ids_key_of(op->module, op->name), (uint64_t)op->product.tiled);
    uint64_t *place = ids_keymap_at(&gathering->numbers, key);
    if (!place) return -1;
    if (!*place) {
        struct row *fresh = IDS_PUSH(gathering->rows, gathering->count, gathering->room);
        if (!fresh) return -1;
        *place = gathering->count;
        *fresh = (struct row){.op = op, .device = own->device};
    }
    struct row *row = &gathering->rows[*place - 1];
    if (own->time_ps > row->most_ps) row->op = op, row->device = own->device, row->most_ps = own->time_ps;
    if (analysis->costs.of_op) row->saving += won_by(&analysis->costs.of_op[at], padding, tiles, row);
    ids_sum(&row->time_ps, own->time_ps);
    ids_sum(&row->step_ps, own->step_ps);
    row->count += own->count;
    row->ops++;
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct row *left = a, *right = b;
    if (left->saving != right->saving) return left->saving < right->saving ? 1 : -1;
    if (left->time_ps != right->time_ps) return left->time_ps < right->time_ps ? 1 : -1;
    return (left->op > right->op) - (left->op < right->op);
}

static long long filled(int64_t size, int64_t width) {
    return (long long)(width > 0 ? (size + width - 1) / width * width : size);
}

static struct ids_value text_or_none(const struct ids_trace *trace, uint32_t text) {
    return ids_text_value(text ? ids_trace_text(trace, text) : NULL);
}

static const char *bound_of(const struct row *row) {
    if (row->by_compute && row->by_memory) return "compute and memory";
    return row->by_compute ? "compute" : row->by_memory ? "memory" : NULL;
}

static void list(const struct ids_analysis *analysis, struct ids_report *report, const struct row *of) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_op *op = of->op;
    const struct ids_product_size *product = &op->product;
    struct ids_matrix_unit unit = ids_matrix_unit_of(trace, of->device, op->element);
    int64_t step_ps = (analysis->steps.count ? of->step_ps : of->time_ps) / ids_device_steps(analysis);
    double share = of->self_time > 0 ? of->saving / of->self_time : 0;
    const char *sizes = NULL, *as = NULL;
    if (product->depth > 0) {
        sizes = ids_report_text(report, "%lld x %lld x %lld", (long long)product->rows, (long long)product->depth,
                                (long long)product->columns);
        as = ids_report_text(report, "%lld x %lld x %lld", filled(product->rows, unit.rows),
                             filled(product->depth, unit.depth), filled(product->columns, unit.columns));
    }
    const struct ids_value row[] = {
        ids_real_value(IDS_UNIT_RATIO, padding_of(trace, op, of->device)),
        ids_int_value(IDS_UNIT_TIME, of->time_ps),
        ids_int_value(IDS_UNIT_TIME, step_ps),
        share > 0 ? ids_int_value(IDS_UNIT_TIME, llround((double)step_ps * share)) : ids_no_value(IDS_UNIT_TIME),
        ids_int_value(IDS_UNIT_COUNT, of->count),
        of->ops > 1 ? ids_int_value(IDS_UNIT_COUNT, of->ops) : ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(sizes),
        ids_text_value(as),
        tiles_of(op) > 0 ? ids_real_value(IDS_UNIT_RATIO, tiles_of(op)) : ids_no_value(IDS_UNIT_RATIO),
        tiles_of(op) > 0 ? ids_int_value(IDS_UNIT_BYTES, product->tiled - product->bytes)
                         : ids_no_value(IDS_UNIT_BYTES),
        ids_text_value(bound_of(of)),
        ids_text_value(ids_trace_text(trace, op->name)),
        text_or_none(trace, op->framework_name),
        text_or_none(trace, op->source),
        op->module == IDS_NONE ? ids_no_value(IDS_UNIT_NONE) : text_or_none(trace, trace->modules[op->module].name),
    };
    IDS_ROW(report, ids_report_table(report, &table_def), columns, row);
}

static int padding_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct gathering *gathering = analysis->sums;
    struct ids_table *table = ids_report_table(report, &table_def);
    for (size_t i = 0; i < analysis->trace->op_count && gathering->of_op; i++) {
        if (gathering->of_op[i].time_ps && add_op(gathering, analysis, i)) return ids_no_memory(err);
    }
    if (gathering->count) qsort(gathering->rows, gathering->count, sizeof *gathering->rows, most_first);
    for (size_t i = 0; i < gathering->count && i < MOST_ROWS; i++) list(analysis, report, &gathering->rows[i]);
    if (gathering->count > MOST_ROWS) table->rows_left_out = (int64_t)(gathering->count - MOST_ROWS);
    return 0;
}

static const struct ids_table_def *const tables[] = {&table_def};

const struct ids_analyzer ids_padding_analyzer = {
    .name = "padding",
    .title = "products that are partly padding",
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .gathering = {.size = sizeof(struct gathering),
                  .begin = padding_begin,
                  .device = sum_up_device,
                  .done = padding_done},
    .run = padding_run,
};
