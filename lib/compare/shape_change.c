#include "lib/compare/shape_change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARROW " \xe2\x86\x92 "

/* "f32[8,4]" at its type, which is so long; 0: it is no array. */
static size_t element_of(const char **at) {
    while (**at == '(') ++*at;
    return strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
}

static int64_t leading_of(const char *dimensions, const char **ret_rest) {
    char *end;
    int64_t count = strtoll(dimensions, &end, 10);
    *ret_rest = end;
    return end == dimensions ? -1 : count;
}

int ids_shape_change(const char *a, const char *b, struct ids_shape_change *ret_change) {
    *ret_change = (struct ids_shape_change){.kind = IDS_SHAPE_OTHER};
    if (!*a || !*b || !strcmp(a, b)) return 0;
    size_t element_a = element_of(&a), element_b = element_of(&b);
    if (a[element_a] != '[' || b[element_b] != '[') return 1;
    size_t length_a = strcspn(a + element_a, "]"), length_b = strcspn(b + element_b, "]");
    int same_type = element_a == element_b && !memcmp(a, b, element_a);
    int same_dimensions = length_a == length_b && !memcmp(a + element_a, b + element_b, length_a);
    snprintf(ret_change->from, sizeof ret_change->from, "%.*s", (int)element_a, a);
    snprintf(ret_change->to, sizeof ret_change->to, "%.*s", (int)element_b, b);
    if (same_dimensions && !same_type) ret_change->kind = IDS_SHAPE_ELEMENT;
    if (!same_type || same_dimensions) return 1;
    const char *rest_a, *rest_b;
    ret_change->from_count = leading_of(a + element_a + 1, &rest_a);
    ret_change->to_count = leading_of(b + element_b + 1, &rest_b);
    size_t left_a = strcspn(rest_a, "]"), left_b = strcspn(rest_b, "]");
    if (left_a == left_b && !memcmp(rest_a, rest_b, left_a) && ret_change->from_count > 0 && ret_change->to_count > 0)
        ret_change->kind = IDS_SHAPE_LEADING;
    return 1;
}

int ids_shape_changes_are_alike(const struct ids_shape_change *a, const struct ids_shape_change *b) {
    if (a->kind != b->kind || a->kind == IDS_SHAPE_OTHER) return 0;
    if (a->kind == IDS_SHAPE_ELEMENT) return !strcmp(a->from, b->from) && !strcmp(a->to, b->to);
    double left = (double)a->to_count / (double)a->from_count, right = (double)b->to_count / (double)b->from_count;
    return fabs(left - right) < 1e-9 * left;
}

void ids_shape_change_text(const struct ids_shape_change *change, char text[IDS_SHAPE_CHANGE_TEXT]) {
    if (change->kind == IDS_SHAPE_ELEMENT)
        snprintf(text, IDS_SHAPE_CHANGE_TEXT, "%s" ARROW "%s", change->from, change->to);
    else
        snprintf(text, IDS_SHAPE_CHANGE_TEXT, "batch x%.3g (%lld" ARROW "%lld)",
                 (double)change->to_count / (double)change->from_count, (long long)change->from_count,
                 (long long)change->to_count);
}

/* ---- of all ops ---- */

enum { LEAST = 3, LOOKED_AT = 256 };
/* So many of the changed shapes changed alike. */
#define SHARE 0.8

/* How the shapes changed, of so many ops as tell. */
static size_t changes_of(const struct ids_matches *ops, struct ids_shape_change ret_changes[LOOKED_AT]) {
    size_t count = 0;
    for (size_t i = 0; i < ops->count && count < LOOKED_AT; i++) {
        const struct ids_match *match = &ops->at[i];
        count += match->a && match->b && ids_shape_change(match->a->shape, match->b->shape, &ret_changes[count]);
    }
    return count;
}

size_t ids_matches_like_change(const struct ids_matches *ops, struct ids_shape_change *ret_change) {
    struct ids_shape_change changes[LOOKED_AT];
    size_t count = changes_of(ops, changes), most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < count; j++) alike += (size_t)ids_shape_changes_are_alike(&changes[i], &changes[j]);
        if (alike <= most) continue;
        most = alike;
        *ret_change = changes[i];
    }
    return most >= LEAST && (double)most >= SHARE * (double)count ? most : 0;
}
