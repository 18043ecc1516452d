/* scope_tree.h - the name scopes of a run as a tree, and its repeated siblings put together: layer_0 ... layer_63 are
 * one layer with 64 members, and so is what has the same place in each of them.
 */
#ifndef IDS_LIB_ANALYSIS_SCOPE_TREE_H
#define IDS_LIB_ANALYSIS_SCOPE_TREE_H

#include "lib/analysis/op_costs.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"

enum ids_pass { IDS_PASS_NONE, IDS_PASS_FORWARD, IDS_PASS_BACKWARD, IDS_PASS_RECOMPUTED, IDS_PASS_COUNT };
enum ids_layer_account { IDS_LAYER_COMPUTE, IDS_LAYER_COLLECTIVE, IDS_LAYER_COPY, IDS_LAYER_STALL, IDS_LAYER_ACCOUNTS };

struct ids_layer_sums {
    int64_t self_ps, pass_ps[IDS_PASS_COUNT];
    int64_t divided_ps;                     /* of self_ps: parts of ops that are of several scopes, as estimated */
    int64_t account_ps[IDS_LAYER_ACCOUNTS]; /* of the ledger */
    int64_t count, ops;                     /* executions, distinct ops */
    double flops, bytes;                    /* of the executions that the file has them of */
    int has_flops, has_bytes;
    struct ids_op_cost cost; /* of those ops that have one and lie wholly in it */
};

struct ids_scope_node {
    struct ids_text name;
    uint32_t parent, first_child, next; /* indices; 0 none, and the root */
    struct ids_layer_sums own, all;     /* all: with what is inside */
    uint64_t kind;                      /* of its op with most time: what it does */
    int64_t kind_ps;
    const char *source;     /* "train.py:12" of the op with most time that stands in it alone; NULL unknown */
    int64_t most_ps, alike; /* of the computation with most time in it: that time, and of how many ops */
};

struct ids_scope_tree {
    struct ids_arena arena;
    struct ids_keymap numbers; /* parent and name -> node */
    struct ids_scope_node *nodes;
    size_t count, room;
};

/* The node of a path, made if it is not there. 0, or -1 when memory ran out. The texts are copied; one longer than
 * IDS_SCOPE_NAME_BYTES is cut. */
enum { IDS_SCOPE_NAME_BYTES = 256 };
int ids_scope_tree_node(struct ids_scope_tree *tree, const struct ids_text *parts, int count, uint32_t *ret_node);
/* The innermost scope that both are in; 0, the root, where they share none. */
uint32_t ids_scope_tree_common(const struct ids_scope_tree *tree, uint32_t a, uint32_t b);
void ids_scope_tree_done(struct ids_scope_tree *tree);
void ids_layer_sums_add(struct ids_layer_sums *sums, const struct ids_layer_sums *more);

/* A scope, or repeated siblings as one. */
struct ids_layer {
    int depth;
    const char *name, *path; /* "layer_*", "train_step/layer_*" */
    uint32_t siblings;
    struct ids_layer_sums own, all;
    int64_t most_ps, alike; /* of the computation with most time in it */
    double sd_ps;           /* of the siblings' times; NaN of one */
    int64_t slowest_ps;
    uint32_t slowest;   /* node */
    const char *source; /* of the one that has most time */
    int is_outlier;     /* it takes more than twice the median of its fellows, of whom there are two or more */
};

/* The layers, each behind the one that it is in, most time first. Names live in the tree's arena; the caller frees
 * *ret_layers. */
int ids_scope_tree_fold(struct ids_scope_tree *tree, struct ids_layer **ret_layers, size_t *ret_count,
                        struct ids_error *err);

/* "train_step/layer_3/attn", in the tree's arena; NULL when memory ran out. */
const char *ids_scope_tree_path(struct ids_scope_tree *tree, uint32_t node);

/* "layer_*" of "layer_3" and "layer_7": the name with the number at `run` (from 0) left out, and that number. Returns 0
 * when there is no such number that may count siblings: "conv2d" has none. *ret_joined: a letter stands in front. */
int ids_scope_number(struct ids_text name, int run, size_t *ret_at, size_t *ret_length, int *ret_joined);

#endif
