/* budget.h - limits on figures, one a line (limit.h); '#' begins a comment. */
#ifndef IDS_LIB_COMPARE_BUDGET_H
#define IDS_LIB_COMPARE_BUDGET_H

#include "lib/compare/limit.h"

struct ids_budget {
    struct ids_arena arena;
    struct ids_limit *at;
    size_t count, room;
};

enum { IDS_BUDGET_BYTES = 1 << 20, IDS_BUDGET_LIMITS = 10000 };

/* Adds the limits of a file's text; a mistake is an error with its line. IDS_USAGE. */
int ids_budget_read(struct ids_budget *budget, const char *text, size_t length, ids_find_metric *find,
                    struct ids_error *err);
/* Adds "ID=VALUE", with what else a line may have behind it. */
int ids_budget_add(struct ids_budget *budget, const char *pair, enum ids_limit_kind kind, ids_find_metric *find,
                   struct ids_error *err);
/* "no worse than baseline by" a share, of a metric. */
int ids_budget_add_baseline(struct ids_budget *budget, const char *id, double tolerance, ids_find_metric *find,
                            struct ids_error *err);
void ids_budget_done(struct ids_budget *budget);

#endif
