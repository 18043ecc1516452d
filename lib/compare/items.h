/* items.h - the ops (or kernels) of a side: merged over all its runs, with the keys for matching and the time of each
 * per step.
 */
#ifndef IDS_LIB_COMPARE_ITEMS_H
#define IDS_LIB_COMPARE_ITEMS_H

#include "lib/compare/side.h"

struct ids_item {
    /* Texts of a report; "" unknown. */
    const char *name, *base, *module, *category, *op_name, *shape, *source, *fingerprint, *event_class;
    const char *path;          /* op_name in side b's words (places.h) */
    uint64_t line;             /* the same of the source's line; 0: not known */
    const char *pass, *family; /* as the report has them; NULL: its table has no such column */
    int is_again;              /* an op before it has its name: the program is compiled for several shapes */
    double time_ps;            /* self time (of a kernel its time) per step, or in the window, and device */
    double count;              /* executions of the same */
    double rate;    /* of all of its name in programs of its name (of a framework's op: at its place): a program
                     * compiled for two shapes runs as often as one that was compiled for one */
    double *values; /* the time by step or run; NULL unknown */
    size_t value_count;
    double squares; /* without values: Σ of squares over steps, ps², with step_count; -1 unknown */
    double step_sum, step_count;
};

struct ids_items {
    struct ids_item *at; /* in the order of the reports: most time first */
    size_t count, room;
    double without_ps; /* activity that belongs to none of them, per step and device */
    int serial;        /* values are by step */
};

enum ids_item_kind { IDS_ITEM_OPS, IDS_ITEM_KERNELS };

/* Texts point into the side's reports, or (base) into `texts`. */
int ids_items_make(const struct ids_side *side, enum ids_item_kind kind, struct ids_report *texts,
                   struct ids_items *ret_items, struct ids_error *err);
void ids_items_done(struct ids_items *items);

/* The interval of b - a, from values where both have them, else from sums and squares; a side without the item (NULL)
 * is zero in every step. `a_items` and `b_items` say how many steps or runs there are. */
struct ids_interval ids_items_interval(const struct ids_side *a_side, const struct ids_item *a,
                                       const struct ids_side *b_side, const struct ids_item *b, double confidence);

#endif
