#include "lib/compare/shape_change.h"

#include "lib/base/counted.h"

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

static size_t commas_in(const char *shape) {
    size_t count = 0;
    for (size_t length = strcspn(shape, "]"), i = 0; i < length; i++) count += shape[i] == ',';
    return count;
}

int ids_shapes_are_comparable(const char *a, const char *b) {
    if (!*a || !*b || !strcmp(a, b)) return 0;
    if (*a == '(' || *b == '(') return *a == *b;
    return commas_in(a) == commas_in(b) && !strstr(a, "[]") == !strstr(b, "[]");
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

/* The length of the first part of a tuple's rest, "f32[8,4]{1,0}, ...)". */
static size_t part_length(const char *at) {
    size_t depth = 0, length = 0;
    for (; at[length] && (depth || (at[length] != ',' && at[length] != ')')); length++) {
        depth += strchr("([{", at[length]) != NULL;
        depth -= strchr(")]}", at[length]) && depth;
    }
    return length;
}

static const char *next_part(const char *at) {
    at += part_length(at);
    return *at == ',' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Also of a text that is cut, which says how many there are (lib/hlo/shape.h). */
static size_t part_count(const char *at) {
    const char *cut = strstr(at, "... of ");
    size_t count = cut ? (size_t)strtoull(cut + strlen("... of "), NULL, 10) : 0;
    if (count) return count;
    for (; at; at = next_part(at)) count++;
    return count;
}

void ids_shapes_told(struct ids_report *texts, const char **a, const char **b) {
    if (**a != '(' || **b != '(') return;
    const char *left = *a + 1, *right = *b + 1;
    size_t count_a = part_count(left), count_b = part_count(right);
    if (count_a != count_b) {
        *a = ids_report_text(texts, "%s", IDS_COUNTED(count_a, "array"));
        *b = ids_report_text(texts, "%s", IDS_COUNTED(count_b, "array"));
        return;
    }
    for (; left && right; left = next_part(left), right = next_part(right)) {
        size_t length_a = part_length(left), length_b = part_length(right);
        if (length_a == length_b && !memcmp(left, right, length_a)) continue;
        *a = ids_report_text(texts, "%.*s", (int)length_a, left);
        *b = ids_report_text(texts, "%.*s", (int)length_b, right);
        return;
    }
}

/* ---- one dimension ---- */

int ids_dimension_changes_are_alike(const struct ids_dimension_change *a, const struct ids_dimension_change *b) {
    double left = (double)a->to / (double)a->from, right = (double)b->to / (double)b->from;
    int64_t smaller = a->from < b->from ? a->from : b->from, larger = a->from < b->from ? b->from : a->from;
    return fabs(left - right) < 1e-9 * left && larger % smaller == 0;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Adds it to those that are alike, whose smallest stands for all. 0: there is no room. */
static int add_dimension(struct ids_dimension_change *at, size_t *count, size_t room,
                         const struct ids_dimension_change *change) {
    size_t like = 0;
    while (like < *count && !ids_dimension_changes_are_alike(&at[like], change)) like++;
    if (like == room) return 0;
    if (like == *count) at[(*count)++] = (struct ids_dimension_change){change->from, change->to, 0};
    if (change->from < at[like].from) {
        at[like].from = change->from;
        at[like].to = change->to;
    }
    at[like].count++;
    return 1;
}

/* Takes the dimension that both texts are at, and moves on. */
static struct ids_dimension_change take_dimension(const char **a, const char **b) {
    char *end_a, *end_b;
    struct ids_dimension_change change = {strtoll(*a, &end_a, 10), strtoll(*b, &end_b, 10), 0};
    *a = end_a;
    *b = end_b;
    return change;
}

/* Whether the same dimensions stand in another order: an op that is transposed, or another one. */
static int is_swapped(const struct ids_dimension_change *at, size_t count) {
    size_t swapped = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) swapped += at[i].from == at[j].to && at[i].to == at[j].from;
    }
    return count && swapped == count;
}

size_t ids_dimension_changes(const char *a, const char *b,
                             struct ids_dimension_change ret_changes[IDS_DIMENSIONS_OF_SHAPE]) {
    size_t count = 0;
    int depth = 0;
    while (*a && *b) {
        if (depth && is_digit(*a) && is_digit(*b)) {
            struct ids_dimension_change here = take_dimension(&a, &b);
            if (here.from == here.to) continue;
            if (here.from <= 0 || here.to <= 0) return 0;
            if (!add_dimension(ret_changes, &count, IDS_DIMENSIONS_OF_SHAPE, &here)) return 0;
            continue;
        }
        if (*a != *b) return 0;
        depth += *a == '[';
        depth -= *a == ']' && depth;
        a++, b++;
    }
    return *a == *b && !is_swapped(ret_changes, count) ? count : 0;
}

int ids_match_has_dimension(const struct ids_match *match, const struct ids_dimension_change *change) {
    struct ids_dimension_change changes[IDS_DIMENSIONS_OF_SHAPE];
    size_t count = match && match->a && match->b ? ids_dimension_changes(match->a->shape, match->b->shape, changes) : 0;
    for (size_t i = 0; i < count; i++) {
        if (ids_dimension_changes_are_alike(&changes[i], change)) return 1;
    }
    return 0;
}

/* ---- of all ops ---- */

static int most_ops_first(const void *a, const void *b) {
    const struct ids_dimension_change *left = a, *right = b;
    if (left->count != right->count) return left->count < right->count ? 1 : -1;
    return (left->from > right->from) - (left->from < right->from);
}

size_t ids_matches_dimension_changes(const struct ids_matches *ops,
                                     struct ids_dimension_change ret_changes[IDS_DIMENSIONS_MOST]) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < ops->count; i++) {
        const struct ids_match *match = &ops->at[i];
        struct ids_dimension_change changes[IDS_DIMENSIONS_OF_SHAPE];
        size_t own = match->a && match->b ? ids_dimension_changes(match->a->shape, match->b->shape, changes) : 0;
        for (size_t j = 0; j < own; j++) (void)add_dimension(ret_changes, &count, IDS_DIMENSIONS_MOST, &changes[j]);
    }
    for (size_t i = 0; i < count; i++) {
        if (ret_changes[i].count > 1) ret_changes[kept++] = ret_changes[i];
    }
    if (kept) qsort(ret_changes, kept, sizeof *ret_changes, most_ops_first);
    return kept;
}

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
