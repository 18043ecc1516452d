#include "lib/compare/sums.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/hlo/family.h"
#include "lib/hlo/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the item is put under; NULL: under nothing. */
static const char *name_of(const struct ids_item *item, enum ids_sum_by by, char scope[IDS_SCOPE_BYTES],
                           const char **ret_pass) {
    *ret_pass = "";
    switch (by) {
    case IDS_SUM_MODULE:
        return *item->module ? item->module : NULL;
    case IDS_SUM_SCOPE:
        ids_scope_of(item->path, scope);
        return *scope ? scope : NULL;
    case IDS_SUM_FAMILY:
        *ret_pass = item->pass ? item->pass : ids_pass_of(item->op_name);
        return item->family && *item->family ? item->family
                                             : ids_family_of(item->name, item->category, item->event_class);
    case IDS_SUM_COLLECTIVE:
        if (strcmp(item->event_class, "collective") != 0) return NULL;
        return *item->category ? item->category : item->base;
    }
    return NULL;
}

static struct ids_sum *sum_of(struct ids_sums *sums, struct ids_keymap *map, const char *name, const char *pass,
                              struct ids_report *texts) {
    uint64_t key = ids_key_of(ids_hash_bytes(name, strlen(name)), ids_hash_bytes(pass, strlen(pass)));
    uint64_t *place = ids_keymap_at(map, key);
    if (!place) return NULL;
    if (*place) return &sums->at[*place - 1];
    struct ids_sum *sum = IDS_PUSH(sums->at, sums->count, sums->room);
    if (!sum) return NULL;
    *place = sums->count;
    *sum = (struct ids_sum){.name = ids_report_text(texts, "%s", name), .pass = pass};
    return sum;
}

int ids_is_as_often(double count_a, double count_b) {
    return fabs(count_b - count_a) <= 0.05 * fmax(count_a, count_b);
}

static void count(double *sum, double amount, enum ids_sum_by by) {
    *sum = by == IDS_SUM_MODULE ? fmax(*sum, amount) : *sum + amount;
}

/* Both sides of a match may stand under different names: an op that moved to another scope. */
static int add_side(struct ids_sums *sums, struct ids_keymap *map, const struct ids_matches *matches,
                    const struct ids_match *match, int right, enum ids_sum_by by, struct ids_report *texts) {
    const struct ids_item *item = right ? match->b : match->a;
    char scope[IDS_SCOPE_BYTES];
    /* Of a pair the side that knows its place in the program says it for both. */
    const struct ids_item *other = right ? match->a : match->b;
    const struct ids_item *says = item && other && !*item->op_name && *other->op_name ? other : item;
    const char *pass = "", *name = says ? name_of(says, by, scope, &pass) : NULL;
    if (!name) return 0;
    if (by == IDS_SUM_MODULE && !right) name = ids_matches_program_in_b(matches, name);
    struct ids_sum *sum = sum_of(sums, map, name, pass, texts);
    if (!sum) return -1;
    *(right ? &sum->b_ps : &sum->a_ps) += item->time_ps;
    count(right ? &sum->count_b : &sum->count_a, by == IDS_SUM_MODULE ? item->rate : item->count, by);
    if (match->a && match->b) {
        sum->matched += (size_t)!right;
        sum->as_often += (size_t)(right && ids_is_as_often(match->a->rate, match->b->rate));
    } else if (right) {
        sum->added++;
        sum->added_ps += item->time_ps;
    } else {
        sum->removed++;
        sum->removed_ps += item->time_ps;
    }
    return 0;
}

static int largest_first(const void *a, const void *b) {
    const struct ids_sum *left = a, *right = b;
    double l = fabs(left->b_ps - left->a_ps), r = fabs(right->b_ps - right->a_ps);
    if (l != r) return l < r ? 1 : -1;
    int order = strcmp(left->name, right->name);
    return order ? order : strcmp(left->pass, right->pass);
}

int ids_sums_make(const struct ids_matches *matches, enum ids_sum_by by, struct ids_report *texts,
                  struct ids_sums *ret_sums, struct ids_error *err) {
    struct ids_keymap map = {0};
    int failed = 0;
    *ret_sums = (struct ids_sums){0};
    for (size_t i = 0; i < matches->count && !failed; i++) {
        failed = add_side(ret_sums, &map, matches, &matches->at[i], 0, by, texts) ||
                 add_side(ret_sums, &map, matches, &matches->at[i], 1, by, texts);
    }
    ids_keymap_done(&map);
    if (failed) {
        ids_sums_done(ret_sums);
        return ids_no_memory(err);
    }
    if (ret_sums->count) qsort(ret_sums->at, ret_sums->count, sizeof *ret_sums->at, largest_first);
    return 0;
}

void ids_sums_done(struct ids_sums *sums) {
    free(sums->at);
    *sums = (struct ids_sums){0};
}
