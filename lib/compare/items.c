#include "lib/compare/items.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/hlo/base_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns of the table, by what is taken out of them; -1 where it has none. */
struct columns {
    int name, module, category, op_name, shape, grid, block, source, fingerprint, event_class, pass, family,
        deduplicated, self, count, in_steps, count_in_steps, squares;
};

static struct columns columns_of(const struct ids_table *table, enum ids_item_kind kind) {
    int ops = kind == IDS_ITEM_OPS;
    return (struct columns){
        .name = ids_table_column(table, "name"),
        .module = ids_table_column(table, "module"),
        .category = ids_table_column(table, "category"),
        .op_name = ids_table_column(table, "op_name"),
        .shape = ids_table_column(table, "shape"),
        .grid = ids_table_column(table, "grid"),
        .block = ids_table_column(table, "block"),
        .source = ids_table_column(table, "source"),
        .fingerprint = ids_table_column(table, "fingerprint"),
        .event_class = ids_table_column(table, "class"),
        .pass = ids_table_column(table, "pass"),
        .family = ids_table_column(table, "family"),
        .deduplicated = ids_table_column(table, "deduplicated_name"),
        .self = ids_table_column(table, ops ? "self" : "total"),
        .count = ids_table_column(table, "count"),
        .in_steps = ids_table_column(table, "in_steps"),
        .count_in_steps = ids_table_column(table, "count_in_steps"),
        .squares = ids_table_column(table, "squares"),
    };
}

static const char *text_at(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : "";
}

static double number_at(const struct ids_table *table, size_t row, int column) {
    return column < 0 ? NAN : ids_value_number(*ids_table_cell(table, row, column));
}

static uint64_t hash(uint64_t key, const char *text) {
    return ids_key_of(key, ids_hash_bytes(text, strlen(text)));
}

struct making {
    const struct ids_side *side;
    enum ids_item_kind kind;
    struct ids_report *texts;
    struct ids_items *items;
    struct ids_keymap map; /* key -> index + 1 */
    size_t value_count;
    size_t run, first_step; /* where the run's values begin */
};

static const char *base_of(struct making *making, const char *name, const char *deduplicated) {
    const char *from = *deduplicated ? deduplicated : name;
    size_t length = ids_base_name(from);
    return from[length] ? ids_report_text(making->texts, "%.*s", (int)length, from) : from;
}

static const char *shape_of(struct making *making, const struct ids_table *table, const struct columns *columns,
                            size_t row) {
    if (columns->shape >= 0) return text_at(table, row, columns->shape);
    const char *grid = text_at(table, row, columns->grid), *block = text_at(table, row, columns->block);
    return *grid ? ids_report_text(making->texts, "%s x %s", grid, block) : "";
}

/* The item of the row, made when there is none like it. NULL when memory ran out. */
static struct ids_item *item_of(struct making *making, const struct ids_table *table, const struct columns *columns,
                                size_t row) {
    struct ids_item item = {
        .name = text_at(table, row, columns->name),
        .module = text_at(table, row, columns->module),
        .category = text_at(table, row, columns->category),
        .op_name = text_at(table, row, columns->op_name),
        .source = text_at(table, row, columns->source),
        .fingerprint = text_at(table, row, columns->fingerprint),
        .event_class = text_at(table, row, columns->event_class),
        .pass = columns->pass < 0 ? NULL : text_at(table, row, columns->pass),
        .family = columns->family < 0 ? NULL : text_at(table, row, columns->family),
        .squares = -1,
    };
    item.shape = shape_of(making, table, columns, row);
    item.path = item.op_name;
    uint64_t key = hash(hash(hash(hash(hash(1, item.name), item.module), item.op_name), item.shape), item.fingerprint);
    uint64_t *place = ids_keymap_at(&making->map, key);
    if (!place) return NULL;
    if (*place) return &making->items->at[*place - 1];
    struct ids_item *added = IDS_PUSH(making->items->at, making->items->count, making->items->room);
    if (!added) return NULL;
    *place = making->items->count;
    item.base = base_of(making, item.name, text_at(table, row, columns->deduplicated));
    *added = item;
    return added;
}

static int have_values(struct making *making, struct ids_item *item) {
    if (!item->values) item->values = calloc(making->value_count ? making->value_count : 1, sizeof *item->values);
    item->value_count = making->value_count;
    return item->values != NULL;
}

/* "[12,0,7]" in ps, over all devices, into the run's part of the values. */
static void add_vector(struct making *making, struct ids_item *item, const char *text) {
    const struct ids_side_run *run = &making->side->runs[making->run];
    size_t step = 0;
    for (const char *at = text; *at && step < run->steps->row_count; at++) {
        if (*at < '0' || *at > '9') continue;
        double value = 0;
        while (*at >= '0' && *at <= '9') value = value * 10 + (*at++ - '0');
        item->values[making->first_step + step] += value / ids_step_devices(run, step);
        step++;
        if (!*at) break;
    }
}

/* What of an op belongs to steps: its row of the table op_steps. */
struct step_rows {
    const struct ids_table *table;
    int op, in_steps, squares, by_step, count_in_steps;
    size_t next; /* rows are in the order of the ops */
};

static struct step_rows step_rows_of(const struct ids_report *report) {
    const struct ids_table *table = ids_report_find_table(report, "op_steps");
    return (struct step_rows){table,
                              ids_table_column(table, "op"),
                              ids_table_column(table, "in_steps"),
                              ids_table_column(table, "squares"),
                              ids_table_column(table, "by_step"),
                              ids_table_column(table, "count_in_steps"),
                              0};
}

static int step_row(struct step_rows *rows, size_t op, size_t *ret_row) {
    for (; rows->op >= 0 && rows->next < rows->table->row_count; rows->next++) {
        const struct ids_value *cell = ids_table_cell(rows->table, rows->next, rows->op);
        if (cell->missing || cell->i > (int64_t)op) return 0;
        if (cell->i < (int64_t)op) continue;
        *ret_row = rows->next;
        return 1;
    }
    return 0;
}

static double without_op(const struct ids_side_run *run, const struct step_rows *rows) {
    for (size_t row = rows->op >= 0 ? rows->table->row_count : 0; row--;) {
        if (ids_table_cell(rows->table, row, rows->op)->missing)
            return number_at(rows->table, row, rows->in_steps) / run->per_device;
    }
    return 0;
}

/* In a window without steps: what the table of categories says has no op. */
static double without_op_in_window(const struct ids_side_run *run) {
    const struct ids_table *table = ids_report_find_table(run->report, "op_categories");
    const struct ids_table *ops = ids_report_find_table(run->report, "ops");
    int self = ids_table_column(table, "self"), own = ids_table_column(ops, "self");
    double sum = 0;
    for (size_t row = 0; self >= 0 && row < table->row_count; row++) sum += number_at(table, row, self);
    for (size_t row = 0; own >= 0 && row < ops->row_count; row++) sum -= number_at(ops, row, own);
    return sum / run->devices;
}

static int add_row(struct making *making, const struct ids_table *table, const struct columns *columns, size_t row,
                   struct step_rows *rows) {
    const struct ids_side *side = making->side;
    const struct ids_side_run *run = &side->runs[making->run];
    struct ids_item *item = item_of(making, table, columns, row);
    if (!item) return -1;
    double sum = number_at(table, row, columns->self), count = number_at(table, row, columns->count), squares = -1;
    const char *vector = "";
    size_t at;
    if (side->per_step && making->kind == IDS_ITEM_OPS) {
        int there = step_row(rows, row, &at);
        sum = there ? number_at(rows->table, at, rows->in_steps) : 0;
        count = there ? number_at(rows->table, at, rows->count_in_steps) : 0;
        squares = there ? number_at(rows->table, at, rows->squares) : 0;
        vector = there ? text_at(rows->table, at, rows->by_step) : "[]";
    } else if (side->per_step) {
        sum = number_at(table, row, columns->in_steps);
        count = number_at(table, row, columns->count_in_steps);
        squares = number_at(table, row, columns->squares);
    }
    double per = sum / run->per_device;
    item->time_ps += per * run->weight;
    item->count += count / run->per_device * run->weight;
    if (side->by_run) {
        if (!have_values(making, item)) return -1;
        item->values[run->recording] += per * run->weight * (double)side->recording_count;
    } else if (side->per_step && *vector) {
        if (!have_values(making, item)) return -1;
        add_vector(making, item, vector);
    } else if (side->per_step && !isnan(squares) && squares >= 0 && side->run_count == 1) {
        /* Of several rows put together only the sums add up, not the squares. */
        double devices = run->per_device / run->per;
        item->squares = item->step_count > 0 ? -1 : squares * 1e24 / (devices * devices);
        item->step_sum = sum / devices;
        item->step_count = run->per;
    }
    return 0;
}

/* An op of a framework, which is of no program, bears one name everywhere: what counts is its place. */
static uint64_t key_of_name(const struct ids_item *item, enum ids_item_kind kind) {
    uint64_t key =
        ids_key_of(ids_hash_bytes(item->module, strlen(item->module)), ids_hash_bytes(item->name, strlen(item->name)));
    return kind == IDS_ITEM_OPS && !*item->module ? hash(key, item->op_name) : key;
}

static int find_rates(struct ids_items *items, enum ids_item_kind kind) {
    struct ids_keymap map = {0}; /* -> index of the first of the name, + 1 */
    int failed = 0;
    for (size_t i = 0; i < items->count && !failed; i++) {
        uint64_t *place = ids_keymap_at(&map, key_of_name(&items->at[i], kind));
        failed = !place;
        if (failed) break;
        items->at[i].is_again = *place && *items->at[i].fingerprint;
        if (!*place) *place = i + 1;
        items->at[*place - 1].rate += items->at[i].count;
    }
    for (size_t i = 0; i < items->count && !failed; i++) {
        uint64_t first;
        if (ids_keymap_get(&map, key_of_name(&items->at[i], kind), &first))
            items->at[i].rate = items->at[first - 1].rate;
    }
    ids_keymap_done(&map);
    return failed;
}

int ids_items_make(const struct ids_side *side, enum ids_item_kind kind, struct ids_report *texts,
                   struct ids_items *ret_items, struct ids_error *err) {
    struct making making = {.side = side, .kind = kind, .texts = texts, .items = ret_items};
    int failed = 0;
    *ret_items = (struct ids_items){.serial = !side->by_run};
    for (size_t i = 0; i < side->run_count && !side->by_run && side->per_step; i++)
        making.value_count += side->runs[i].steps->row_count;
    if (side->by_run) making.value_count = side->recording_count;
    for (size_t i = 0; i < side->run_count && !failed; i++) {
        const struct ids_report *report = side->runs[i].report;
        const struct ids_table *table = ids_report_find_table(report, kind == IDS_ITEM_OPS ? "ops" : "kernels");
        struct step_rows rows = step_rows_of(report);
        making.run = i;
        if (kind == IDS_ITEM_OPS)
            ret_items->without_ps +=
                (side->per_step ? without_op(&side->runs[i], &rows) : without_op_in_window(&side->runs[i])) *
                side->runs[i].weight;
        struct columns columns = columns_of(table, kind);
        for (size_t row = 0; table && row < table->row_count && !failed; row++)
            failed = add_row(&making, table, &columns, row, &rows);
        if (side->runs[i].steps) making.first_step += side->runs[i].steps->row_count;
    }
    ids_keymap_done(&making.map);
    if (!failed && !find_rates(ret_items, kind)) return 0;
    ids_items_done(ret_items);
    return ids_no_memory(err);
}

void ids_items_done(struct ids_items *items) {
    for (size_t i = 0; i < items->count; i++) free(items->at[i].values);
    free(items->at);
    *items = (struct ids_items){0};
}

/* ---- spread ---- */

static size_t sample_size(const struct ids_side *side) {
    size_t count = 0;
    if (side->by_run) return side->recording_count;
    for (size_t i = 0; side->per_step && i < side->run_count; i++) count += side->runs[i].steps->row_count;
    return count;
}

struct moments {
    double mean, variance, df; /* of the mean */
    int known;
};

static struct moments moments_of(const struct ids_item *item, double steps) {
    if (!item) return (struct moments){.df = steps - 1, .known = steps > 1};
    if (item->squares < 0 || item->step_count < 2) return (struct moments){0};
    double n = item->step_count, mean = item->step_sum / n;
    double variance = (item->squares / n - mean * mean) * n / (n - 1);
    return (struct moments){mean, (variance > 0 ? variance : 0) / n, n - 1, 1};
}

static struct ids_interval of_moments(struct moments a, struct moments b, double confidence) {
    if (!a.known || !b.known) return (struct ids_interval){0};
    double variance = a.variance + b.variance, df = a.df + b.df;
    if (variance > 0) df = variance * variance / (a.variance * a.variance / a.df + b.variance * b.variance / b.df);
    return ids_interval_by_error(b.mean - a.mean, sqrt(variance), df, confidence);
}

struct ids_interval ids_items_interval(const struct ids_side *a_side, const struct ids_item *a,
                                       const struct ids_side *b_side, const struct ids_item *b, double confidence) {
    size_t count_a = sample_size(a_side), count_b = sample_size(b_side);
    if ((a && !a->values) || (b && !b->values))
        return of_moments(moments_of(a, (double)count_a), moments_of(b, (double)count_b), confidence);
    double *zeros = calloc(count_a + count_b + 1, sizeof *zeros);
    if (!zeros) return (struct ids_interval){.out_of_memory = 1};
    struct ids_sample left = {a ? a->values : zeros, count_a, !a_side->by_run};
    struct ids_sample right = {b ? b->values : zeros, count_b, !b_side->by_run};
    struct ids_interval interval = ids_interval_of(left, right, confidence);
    free(zeros);
    return interval;
}
