/* layers.c - the time by name scopes: which layer of the model takes what, forward and backward. */
#include "analyzers/cost_cells.h"
#include "analyzers/op_cuts.h"
#include "analyzers/op_rows.h"
#include "lib/analysis/context.h"
#include "lib/analysis/scope_tree.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/hlo/base_name.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_SCOPE "(no scope)"

static const struct ids_metric_def metrics[] = {
    {"layers.scoped_share", "in a scope", IDS_UNIT_RATIO, IDS_BETTER_HIGHER,
     "Share of all device time whose op has a scope or function that the program named inside its outermost function.",
     /* A fusion over several scopes is divided in the table alone, whose roots are the functions of JAX. */
     "SELECT CASE WHEN EXISTS (SELECT 1 FROM op WHERE run = :run AND module <> '' AND op_name LIKE '%(%)/%') THEN "
     "(SELECT 1 - sum(CASE WHEN "
     "scope = '" NO_SCOPE "' THEN total ELSE self END) * 1.0 / sum(total) FROM report_layers WHERE run = :run AND "
     "depth = 0) ELSE (SELECT sum(o.self_ps * (p.scope IS NOT NULL)) * 1.0 / sum(o.self_ps) FROM activities o LEFT "
     "JOIN op p ON p.id = o.op_id WHERE o.run = :run AND o.is_active = 1 AND o.is_beside = 0) END"},
    {"layers.backward_share", "backward", IDS_UNIT_RATIO, IDS_BETTER_NEITHER,
     "Share of all device time of the backward pass: transpose(...) of JAX, nodes of PyTorch's autograd, TensorFlow's "
     "gradient_tape. What is computed again for it is not in it.",
     "SELECT sum(o.self_ps * (coalesce(p.pass, '') LIKE 'backward%')) * 1.0 / sum(o.self_ps) FROM activities o LEFT "
     "JOIN op p ON p.id = o.op_id WHERE o.run = :run AND o.is_active = 1 AND o.is_beside = 0"},
    {"layers.recomputed_share", "recomputed", IDS_UNIT_RATIO, IDS_BETTER_LOWER,
     "Share of all device time of what is computed again for the backward pass: by jax.checkpoint "
     "(rematted_computation), "
     "by PyTorch's torch.utils.checkpoint where the file has Python's functions (with_stack).",
     "SELECT sum(o.self_ps * (coalesce(p.pass, '') = 'recomputed')) * 1.0 / sum(o.self_ps) FROM activities o LEFT "
     "JOIN op p ON p.id = o.op_id WHERE o.run = :run AND o.is_active = 1 AND o.is_beside = 0"},
};

static const struct ids_column_def columns[] = {
    {"total", "total", IDS_UNIT_TIME, 0},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"estimated", "estimated", IDS_UNIT_RATIO, IDS_COLUMN_SPARE},
    {"self", "self", IDS_UNIT_TIME, 0},
    {"forward", "forward", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"backward", "backward", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"recomputed", "recomputed", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"count", "count", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"siblings", "scopes", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"mean", "mean", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"sd", "±", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"slowest_time", "time of the slowest", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"alike", "alike", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"scope", "scope", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_NAME},
    {"source", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"slowest", "slowest", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_SPARE},
    {"outlier", "it takes", IDS_UNIT_TIME, IDS_COLUMN_SPARE},
    {"slowest_id", "slowest scope", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"id", "id", IDS_UNIT_NONE, IDS_COLUMN_LONG | IDS_COLUMN_DETAIL},
    {"depth", "depth", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"ops", "ops", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"flops", "flops", IDS_UNIT_NUMBER, IDS_COLUMN_DETAIL},
    {"bytes", "bytes accessed", IDS_UNIT_BYTES, IDS_COLUMN_DETAIL},
    {"compute", "compute", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"collectives", "collectives", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"copies", "copies", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"stalls", "stalls", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    {"counted", "with a cost", IDS_UNIT_TIME, IDS_COLUMN_DETAIL},
    IDS_COST_SHARES,
};
static const struct ids_table_def layers = {
    "layers",
    "layers",
    columns,
    IDS_COUNT_OF(columns),
    "The name scopes of the program as a tree, over all devices: one row per scope, behind the one that it is in "
    "(`depth`), most time first. Repeated siblings are one row: layer_* with 64 siblings, their mean, deviation and "
    "slowest (by name, without what all of them share), with its time (`outlier`) where it takes more than twice the "
    "median of the others and a tenth of all or more. `alike` says how many ops of one scope are the computation "
    "with most time there: 64 where 64 layers were written out and have no scope each. Loops (while/body), branches "
    "and checkpoints are transparent. `total` is the self time of the ops inside, `self` that of the ops directly in "
    "it. The time of a fusion over several scopes is divided among them by what their instructions inside it compute: "
    "an operation of a product (dot, convolution) counts a sixteenth, a function like exp ten, and what only moves one "
    "for each byte. That is an estimate: `estimated` is how much of the total is such, "
    "where it is a tenth or more. The executions of such a fusion count where most of it is, its `flops` and `bytes` "
    "in the innermost scope that holds all of it, and its pass is that of its name; "
    "`forward`, `backward` and `recomputed` (checkpoint) are parts of the total, as far as the op's name tells. "
    "`flops` and `bytes` are of all executions; rates and what bounds them are of those ops whose cost is known and "
    "that are not divided, which have the time `counted`; where that is less than half of the total, there are none. "
    "`compute`, `collectives`, "
    "`copies` and `stalls` are what the ledger books here "
    "(work.compute, comm.transfer, copy.*, stall.device): the rows of depth 0 sum to these accounts. `total` also has "
    "what "
    "these four leave out: waits for peers inside of collectives (comm.wait), and ops beside others. Ops without a "
    "scope stand under " NO_SCOPE ", by program. `id` is the path "
    "of the scope. `source` is the file and line of the op with most time directly in it, of scopes whose names say "
    "nothing: JAX calls a function that is made inside another as it is called there (inner, wrapped, <lambda>).",
    IDS_TABLE_TOP | IDS_TABLE_TREE,
};

struct growing {
    const struct ids_trace *trace;
    struct ids_scope_tree tree;
    struct ids_keymap computations; /* node and fingerprint -> index + 1 */
    struct ids_keymap covering;     /* module and name of a fusion over several scopes -> index in trace->ops */
    struct alike {
        int64_t self_ps, ops;
    } * alike;
    size_t alike_count, alike_room;
    int64_t scoped_ps;                      /* self time of what stands in a scope of the program */
    const char *names[IDS_SCOPE_DEPTH + 1]; /* of the layers around the one that is listed, and its own */
};

/* "aten::linear", "AddmmBackward0": what a framework called, no scope of the program. */
static int is_call(struct ids_text part) {
    size_t length = part.length;
    while (length && part.at[length - 1] >= '0' && part.at[length - 1] <= '9') length--;
    return ids_text_contains(part, "::") || ids_text_ends((struct ids_text){part.at, (uint32_t)length}, "Backward");
}

/* Where the time of an op is put. */
static int node_of(struct growing *growing, const char *place, const char *program, uint32_t *ret_node) {
    struct ids_scopes scopes = {.count = 0};
    struct ids_text parts[IDS_SCOPE_DEPTH];
    int count = 0;
    ids_scopes_of(place, &scopes);
    for (; count < scopes.count; count++) {
        size_t length = scopes.parts[count].length < UINT32_MAX ? scopes.parts[count].length : UINT32_MAX;
        parts[count] = (struct ids_text){scopes.parts[count].at, (uint32_t)length};
    }
    while (!*program && count > 1 && is_call(parts[count - 1])) count--;
    if (!count) {
        parts[count++] = (struct ids_text){NO_SCOPE, sizeof NO_SCOPE - 1};
        const char *under = *program ? program : "(no program)";
        parts[count++] = (struct ids_text){under, (uint32_t)strlen(under)};
    }
    return ids_scope_tree_node(&growing->tree, parts, count, ret_node);
}

static enum ids_pass pass_of(const char *pass) {
    if (!strcmp(pass, "recomputed")) return IDS_PASS_RECOMPUTED;
    if (!strncmp(pass, "backward", 8)) return IDS_PASS_BACKWARD;
    return *pass ? IDS_PASS_FORWARD : IDS_PASS_NONE;
}

/* What stands in this scope alone says where its function is. Rows come with most time first. */
static void set_source(struct ids_scope_node *node, const struct ids_op_row *op) {
    if (!node->source && *op->source) node->source = op->source;
}

static void set_kind(struct ids_scope_node *node, const struct ids_op_row *op) {
    if (node->kind && op->self_ps <= node->kind_ps) return;
    node->kind = ids_hash_bytes(op->name, ids_base_name(op->name)) | 1;
    node->kind_ps = op->self_ps;
}

/* Counts the op among those of its scope that compute the same. Of a framework's small ops, such as additions, that
 * says nothing of layers. */
static int add_alike(struct growing *growing, uint32_t at, const struct ids_op_row *op) {
    if (!*op->fingerprint || (!*op->module && op->flops < 0)) return 0;
    uint64_t fingerprint = ids_hash_bytes(op->fingerprint, strlen(op->fingerprint));
    uint64_t *place = ids_keymap_at(&growing->computations, ids_key_of(fingerprint, at));
    if (!place) return -1;
    if (!*place) {
        struct alike *fresh = IDS_PUSH(growing->alike, growing->alike_count, growing->alike_room);
        if (!fresh) return -1;
        *place = growing->alike_count;
        *fresh = (struct alike){0};
    }
    struct alike *alike = &growing->alike[*place - 1];
    struct ids_scope_node *node = &growing->tree.nodes[at];
    alike->ops++;
    ids_sum(&alike->self_ps, op->self_ps);
    if (alike->self_ps < node->most_ps) return 0;
    node->most_ps = alike->self_ps;
    node->alike = alike->ops;
    return 0;
}

static uint64_t text_key(const char *module, const char *name) {
    return ids_key_of(ids_hash_bytes(module, strlen(module)), ids_hash_bytes(name, strlen(name)));
}

static const char *program_of(const struct ids_trace *trace, const struct ids_op *op) {
    return op->module == IDS_NONE ? "" : ids_trace_text(trace, trace->modules[op->module].name);
}

static int find_covering(struct growing *growing) {
    const struct ids_trace *trace = growing->trace;
    for (size_t i = 0; i < trace->op_count; i++) {
        const struct ids_op *op = &trace->ops[i];
        uint64_t key = text_key(program_of(trace, op), ids_trace_text(trace, op->name));
        if (op->parts.count && ids_keymap_add(&growing->covering, key, i) < 0) return -1;
    }
    return 0;
}

/* One of the parts of a time, of which `left` is not given away yet: the last part has what is left. */
static int64_t take(int64_t *left, int64_t whole, const struct ids_op_parts *parts, int part) {
    int64_t taken = part == parts->count - 1 ? *left : llround((double)whole * parts->at[part].share);
    if (taken > *left) taken = *left;
    *left -= taken;
    return taken;
}

/* What of an op is put into a layer: its time and executions, and what it costs. */
static struct ids_layer_sums time_of(const struct ids_op_row *op) {
    struct ids_layer_sums sums = {.self_ps = op->self_ps};
    sums.pass_ps[pass_of(op->pass)] = op->self_ps;
    return sums;
}

static void put_cost_of(const struct ids_op_row *op, struct ids_layer_sums *sums) {
    sums->has_flops = ids_op_row_of_runs(op, op->flops, &sums->flops);
    sums->has_bytes = ids_op_row_of_runs(op, op->bytes, &sums->bytes);
    sums->cost = op->cost;
}

/* Counts the executions of an op. */
static int count_op(struct growing *growing, uint32_t at, const struct ids_op_row *op) {
    struct ids_layer_sums sums = {.count = op->count, .ops = 1};
    ids_layer_sums_add(&growing->tree.nodes[at].own, &sums);
    return add_alike(growing, at, op);
}

static int add_whole(struct growing *growing, const struct ids_op_row *op) {
    uint32_t at;
    if (node_of(growing, op->place, op->module, &at)) return -1;
    struct ids_layer_sums sums = time_of(op);
    if (*op->scope) ids_sum(&growing->scoped_ps, op->self_ps);
    put_cost_of(op, &sums);
    set_kind(&growing->tree.nodes[at], op);
    set_source(&growing->tree.nodes[at], op);
    ids_layer_sums_add(&growing->tree.nodes[at].own, &sums);
    return count_op(growing, at, op);
}

/* The time of an op of several scopes is divided; what it computes and moves is known of all of it only, and counts in
 * the innermost scope that all of them are in, where nothing is divided any more. Executions are counted where most of
 * it is. */
static int add_divided(struct growing *growing, const struct ids_op_row *op, const struct ids_op_parts *parts) {
    int64_t left_ps = op->self_ps;
    uint32_t around = 0;
    for (int p = 0; p < parts->count; p++) {
        struct ids_op_row part = *op;
        const char *place = ids_trace_text(growing->trace, parts->at[p].op_name);
        char scope[IDS_SCOPE_BYTES];
        uint32_t at;
        if (node_of(growing, place, op->module, &at)) return -1;
        part.self_ps = take(&left_ps, op->self_ps, parts, p);
        ids_scope_of(place, scope);
        if (*scope) ids_sum(&growing->scoped_ps, part.self_ps);
        struct ids_layer_sums sums = time_of(&part);
        sums.divided_ps = part.self_ps;
        set_kind(&growing->tree.nodes[at], &part);
        ids_layer_sums_add(&growing->tree.nodes[at].own, &sums);
        if (!p && count_op(growing, at, op)) return -1;
        around = p ? ids_scope_tree_common(&growing->tree, around, at) : at;
    }
    struct ids_layer_sums whole = {.divided_ps = -op->self_ps};
    put_cost_of(op, &whole);
    ids_layer_sums_add(&growing->tree.nodes[around].own, &whole);
    return 0;
}

static int add_op(struct growing *growing, const struct ids_op_row *op) {
    uint64_t index;
    if (!ids_keymap_get(&growing->covering, text_key(op->module, op->name), &index)) return add_whole(growing, op);
    return add_divided(growing, op, &growing->trace->ops[index].parts);
}

static int layer_account(enum ids_account account) {
    switch (account) {
    case IDS_WORK_COMPUTE:
        return IDS_LAYER_COMPUTE;
    case IDS_COMM_TRANSFER:
        return IDS_LAYER_COLLECTIVE;
    case IDS_COPY_H2D:
    case IDS_COPY_D2H:
    case IDS_COPY_D2D:
    case IDS_COPY_P2P:
    case IDS_COPY_SET:
    case IDS_COPY_OTHER:
        return IDS_LAYER_COPY;
    case IDS_STALL_DEVICE:
        return IDS_LAYER_STALL;
    default:
        return -1;
    }
}

static int no_op_node(struct growing *growing, const char *under, uint32_t *ret_node) {
    struct ids_text parts[] = {{NO_SCOPE, sizeof NO_SCOPE - 1}, {under, (uint32_t)strlen(under)}};
    return ids_scope_tree_node(&growing->tree, parts, 2, ret_node);
}

/* Divides the time of a fusion over several scopes as its row is divided. */
static int add_parts_of_entry(struct growing *growing, const struct ids_op *op, int account, int64_t time_ps) {
    const struct ids_trace *trace = growing->trace;
    int64_t left_ps = time_ps;
    for (int p = 0; p < op->parts.count; p++) {
        uint32_t at;
        const char *place = ids_trace_text(trace, op->parts.at[p].op_name);
        if (node_of(growing, place, program_of(trace, op), &at)) return -1;
        ids_sum(&growing->tree.nodes[at].own.account_ps[account], take(&left_ps, time_ps, &op->parts, p));
    }
    return 0;
}

/* Each entry of the ledger is the time of ops that stand at one place. */
static int add_ledger(struct growing *growing, const struct ids_ledger *ledger) {
    const struct ids_trace *trace = growing->trace;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        int account = layer_account((enum ids_account)entry->account), failed;
        int64_t time_ps = ids_ledger_entry_time(entry);
        uint32_t at;
        if (account < 0 || !time_ps) continue;
        const struct ids_op *op = entry->op ? &trace->ops[entry->op - 1] : NULL;
        int is_others = !strcmp(ids_strings_z(&ledger->texts, entry->culprit), IDS_LEDGER_OTHERS);
        if (op && op->parts.count && !is_others) {
            if (add_parts_of_entry(growing, op, account, time_ps)) return -1;
            continue;
        }
        if (is_others)
            failed = no_op_node(growing, IDS_LEDGER_OTHERS, &at);
        else if (op)
            failed = node_of(growing, ids_trace_text(trace, op->framework_name), program_of(trace, op), &at);
        else
            failed = no_op_node(growing, "(no op)", &at);
        if (failed) return -1;
        ids_sum(&growing->tree.nodes[at].own.account_ps[account], time_ps);
    }
    return 0;
}

static int grow(struct growing *growing, const struct ids_op_rows *rows, const struct ids_ledger *ledger) {
    for (size_t i = 0; i < rows->count; i++) {
        if (add_op(growing, &rows->at[i])) return -1;
    }
    if (rows->other_count) {
        uint32_t at;
        if (no_op_node(growing, "(no op)", &at)) return -1;
        struct ids_layer_sums sums = {.self_ps = rows->other_ps, .count = rows->other_count};
        ids_layer_sums_add(&growing->tree.nodes[at].own, &sums);
    }
    return add_ledger(growing, ledger);
}

static struct ids_value time_or_none(int64_t ps) {
    return ps ? ids_int_value(IDS_UNIT_TIME, ps) : ids_no_value(IDS_UNIT_TIME);
}

/* "layer_15/attn_3": the parts of the slowest one's path that differ from those of its fellows. NULL when memory ran
 * out. */
static const char *slowest_of(struct growing *growing, struct ids_report *report, const struct ids_layer *layer) {
    const char *text = "";
    uint32_t at = layer->slowest;
    for (int depth = layer->depth; at && depth >= 0; depth--, at = growing->tree.nodes[at].parent) {
        const char *name = growing->tree.nodes[at].name.at;
        if (strcmp(name, growing->names[depth]) != 0)
            text = *text ? ids_report_text(report, "%s/%s", name, text) : name;
    }
    return text;
}

/* Rates of the smaller part of a layer say nothing of the layer: where a kernel that nobody knows computes attention,
 * reshapes beside it do not tell how fast it is. */
static void put_cost(const struct ids_layer_sums *all, struct ids_value ret_cells[IDS_COST_CELLS]) {
    int exchanges = all->account_ps[IDS_LAYER_COLLECTIVE] > all->self_ps / 2;
    struct ids_op_cost none = {.runs = 0};
    struct ids_value unknown[IDS_COST_CELLS];
    ids_cost_cells(&all->cost, exchanges, ret_cells);
    if (all->cost.self_time * 2 >= (double)all->self_ps * 1e-12) return;
    ids_cost_cells(&none, exchanges, unknown);
    memcpy(ret_cells, unknown, IDS_COST_RATES * sizeof *unknown);
}

/* Less than a tenth is not worth a word. */
static struct ids_value estimated(const struct ids_layer_sums *all) {
    int64_t divided_ps = all->divided_ps;
    return divided_ps > all->self_ps / 10 ? ids_share_of(divided_ps, all->self_ps) : ids_no_value(IDS_UNIT_RATIO);
}

/* Functions that decorators and helpers make inside themselves: many libraries and programs have several of one such
 * name. */
static int names_nobody(const char *scope) {
    static const char *const names[] = {
        "<lambda>", "_lambda_", "fun",     "_fun",     "fn",      "_fn",      "func",        "_func",
        "inner",    "_inner",   "wrapped", "_wrapped", "wrapper", "_wrapper", "wrapped_fun", "wrapped_function",
        NULL};
    for (const char *const *name = names; *name; name++) {
        if (!strcmp(*name, scope)) return 1;
    }
    return 0;
}

static int list_layer(struct growing *growing, struct ids_report *report, const struct ids_layer *layer,
                      int64_t all_ps) {
    struct ids_table *table = ids_report_table(report, &layers);
    const struct ids_layer_sums *all = &layer->all;
    int many = layer->siblings > 1, is_apart = layer->is_outlier && layer->slowest_ps >= all_ps / 10;
    growing->names[layer->depth] = layer->name;
    const char *slowest = many ? ids_scope_tree_path(&growing->tree, layer->slowest) : NULL;
    if (many && !slowest) return -1;
    struct ids_value cost_cells[IDS_COST_CELLS];
    put_cost(all, cost_cells);
    struct ids_value row[] = {
        ids_int_value(IDS_UNIT_TIME, all->self_ps),
        ids_share_of(all->self_ps, all_ps),
        estimated(all),
        ids_int_value(IDS_UNIT_TIME, layer->own.self_ps),
        time_or_none(all->pass_ps[IDS_PASS_FORWARD]),
        time_or_none(all->pass_ps[IDS_PASS_BACKWARD]),
        time_or_none(all->pass_ps[IDS_PASS_RECOMPUTED]),
        ids_int_value(IDS_UNIT_COUNT, all->count),
        many ? ids_int_value(IDS_UNIT_COUNT, layer->siblings) : ids_no_value(IDS_UNIT_COUNT),
        many ? ids_int_value(IDS_UNIT_TIME, all->self_ps / layer->siblings) : ids_no_value(IDS_UNIT_TIME),
        many ? ids_int_value(IDS_UNIT_TIME, llround(layer->sd_ps)) : ids_no_value(IDS_UNIT_TIME),
        many ? ids_int_value(IDS_UNIT_TIME, layer->slowest_ps) : ids_no_value(IDS_UNIT_TIME),
        layer->alike > 1 ? ids_int_value(IDS_UNIT_COUNT, layer->alike) : ids_no_value(IDS_UNIT_COUNT),
        ids_text_value(layer->name),
        ids_text_value(names_nobody(layer->name) ? layer->source : NULL),
        ids_text_value(many ? slowest_of(growing, report, layer) : NULL),
        is_apart ? ids_int_value(IDS_UNIT_TIME, layer->slowest_ps) : ids_no_value(IDS_UNIT_TIME),
        ids_text_value(slowest),
        ids_text_value(layer->path),
        ids_int_value(IDS_UNIT_COUNT, layer->depth),
        ids_int_value(IDS_UNIT_COUNT, all->ops),
        all->has_flops ? ids_real_value(IDS_UNIT_NUMBER, all->flops) : ids_no_value(IDS_UNIT_NUMBER),
        all->has_bytes ? ids_int_value(IDS_UNIT_BYTES, all->bytes < 9e18 ? (int64_t)all->bytes : INT64_MAX)
                       : ids_no_value(IDS_UNIT_BYTES),
        ids_int_value(IDS_UNIT_TIME, all->account_ps[IDS_LAYER_COMPUTE]),
        ids_int_value(IDS_UNIT_TIME, all->account_ps[IDS_LAYER_COLLECTIVE]),
        ids_int_value(IDS_UNIT_TIME, all->account_ps[IDS_LAYER_COPY]),
        ids_int_value(IDS_UNIT_TIME, all->account_ps[IDS_LAYER_STALL]),
        ids_cost_time(all->cost.runs > 0, all->cost.self_time),
        IDS_COST_VALUES(cost_cells),
    };
    IDS_ROW(report, table, columns, row);
    return 0;
}

/* What PyTorch computes again is known by the functions of Python around it. */
static int can_tell_again(const struct ids_trace *trace, const int64_t pass_ps[IDS_PASS_COUNT]) {
    if (!trace->call_count || pass_ps[IDS_PASS_RECOMPUTED] || !pass_ps[IDS_PASS_BACKWARD]) return 1;
    for (size_t i = 0; i < trace->call_count; i++) {
        if (trace->calls[i].frame) return 1;
    }
    return 0;
}

static void put_shares(const struct growing *growing, struct ids_report *report, const struct ids_op_rows *rows) {
    int64_t pass_ps[IDS_PASS_COUNT] = {0}, all_ps = rows->all_ps;
    int is_placed = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct ids_op_row *op = &rows->at[i];
        if (*op->place) is_placed = 1;
        ids_sum(&pass_ps[pass_of(op->pass)], op->self_ps);
    }
    if (!is_placed) { /* 0 % in a scope would be said of a program that is not known */
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                            "no op of this trace says where it stands in its program: its metadata has no op names");
        return;
    }
    ids_report_metric(report, "layers.scoped_share", NULL, ids_share_of(growing->scoped_ps, all_ps));
    ids_report_metric(report, "layers.backward_share", NULL, ids_share_of(pass_ps[IDS_PASS_BACKWARD], all_ps));
    if (can_tell_again(growing->trace, pass_ps))
        ids_report_metric(report, "layers.recomputed_share", NULL, ids_share_of(pass_ps[IDS_PASS_RECOMPUTED], all_ps));
    else
        ids_report_no_data(report, "layers.recomputed_share", IDS_UNIT_RATIO, NULL,
                           "Python's functions were not recorded (with_stack), which tell what a checkpoint computes "
                           "again");
}

static int layers_run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct growing growing = {.trace = analysis->trace};
    struct ids_op_rows rows = {0};
    struct ids_layer *all = NULL;
    size_t count = 0;
    int failed = ids_op_rows_read(report, &rows) || find_covering(&growing) || grow(&growing, &rows, &analysis->ledger);
    int code = failed ? ids_no_memory(err) : ids_scope_tree_fold(&growing.tree, &all, &count, err);
    ids_report_table(report, &layers);
    for (size_t i = 0; i < count && !code; i++) {
        if (list_layer(&growing, report, &all[i], rows.all_ps)) code = ids_no_memory(err);
    }
    if (!code && rows.all_ps && rows.count)
        put_shares(&growing, report, &rows);
    else if (!code)
        ids_metrics_missing(report, metrics, IDS_COUNT_OF(metrics),
                            analysis->busy_count ? "no device event of this trace carries an HLO op, or is known to be "
                                                   "launched by an op of a framework"
                                                 : ids_no_activity_reason(analysis));
    if (!code && ids_op_cuts(report, &rows)) code = ids_no_memory(err);
    free(all);
    free(growing.alike);
    ids_keymap_done(&growing.computations);
    ids_keymap_done(&growing.covering);
    ids_scope_tree_done(&growing.tree);
    ids_op_rows_done(&rows);
    return code;
}

static const struct ids_table_def *const tables[] = {&layers, &ids_time_by_module, &ids_time_by_source,
                                                     &ids_time_by_family};

const struct ids_analyzer ids_layers_analyzer = {
    .name = "layers",
    .title = "layers",
    .metrics = metrics,
    .metric_count = IDS_COUNT_OF(metrics),
    .tables = tables,
    .table_count = IDS_COUNT_OF(tables),
    .run = layers_run,
};
