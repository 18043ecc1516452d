#include "lib/analysis/groups.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>

int ids_groups_add(struct ids_groups *groups, uint64_t key, const struct ids_event *event, int64_t duration_ps) {
    uint64_t *place = ids_keymap_at(&groups->map, key);
    if (!place) return -1;
    if (!*place) {
        struct ids_group *fresh = IDS_PUSH(groups->at, groups->count, groups->room);
        if (!fresh) return -1;
        *fresh = (struct ids_group){
            .first = event, .min_ps = duration_ps, .max_ps = duration_ps, .number = groups->count - 1};
        *place = groups->count;
    }
    ids_groups_add_to(groups, (size_t)*place - 1, event, duration_ps);
    return 0;
}

void ids_groups_add_to(struct ids_groups *groups, size_t number, const struct ids_event *event, int64_t duration_ps) {
    struct ids_group *group = &groups->at[number];
    groups->last = number;
    group->count++;
    group->begun += event->device != IDS_NONE && event->begins_run;
    ids_sum(&group->total_ps, duration_ps);
    ids_sum(&group->self_ps, event->self_ps < duration_ps ? event->self_ps : duration_ps);
    if (duration_ps < group->min_ps) group->min_ps = duration_ps;
    if (duration_ps > group->max_ps) group->max_ps = duration_ps;
    if (event->value < 0) {
        group->unknown_values++;
    } else {
        ids_sum(&group->value, event->value);
        if (event->value > group->value_max) group->value_max = event->value;
    }
}

static int order(int64_t left_ps, int64_t right_ps, const struct ids_group *left, const struct ids_group *right) {
    if (left_ps != right_ps) return left_ps < right_ps ? 1 : -1;
    if (left->count != right->count) return left->count < right->count ? 1 : -1;
    if (left->first->start_ps != right->first->start_ps) return left->first->start_ps > right->first->start_ps ? 1 : -1;
    if (left->first->track != right->first->track) return left->first->track > right->first->track ? 1 : -1;
    return (left->first->name > right->first->name) - (left->first->name < right->first->name);
}

static int by_total(const void *a, const void *b) {
    const struct ids_group *left = a, *right = b;
    return order(left->total_ps, right->total_ps, left, right);
}

static int by_self(const void *a, const void *b) {
    const struct ids_group *left = a, *right = b;
    return order(left->self_ps, right->self_ps, left, right);
}

void ids_groups_sort_by_total(struct ids_groups *groups) {
    if (groups->count) qsort(groups->at, groups->count, sizeof *groups->at, by_total);
}

void ids_groups_sort_by_self(struct ids_groups *groups) {
    if (groups->count) qsort(groups->at, groups->count, sizeof *groups->at, by_self);
}

void ids_groups_done(struct ids_groups *groups) {
    ids_keymap_done(&groups->map);
    free(groups->at);
    *groups = (struct ids_groups){0};
}
