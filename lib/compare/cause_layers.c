/* cause_layers.c - one op that stands in each layer of a model and changed alike in all of them. Layer by layer it is
 * dozens of causes, of which none is large. */
#include "lib/base/intern.h"
#include "lib/compare/cause_groups.h"
#include "lib/report/alike_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS_LEAST = 3 };

/* The entries of an op's layers, in one account. */
struct layers {
    size_t whole; /* the entry that all are put into + 1 */
    size_t count;
    double change_ps, most_ps; /* of all, and of that which changed most */
    struct ids_alike_names names;
};

/* An op of both sides that does the same on both, at a place in the program. */
static int is_of_layers(const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    return !entry->is_gone && cause->kind == IDS_CAUSE_OP && cause->match && cause->culprit && cause->where &&
           !ids_cause_is_structural(cause);
}

/* Names of compiled ops differ in numbers: what they compute tells then that they are one. */
static uint64_t key_on_side(const struct ids_item *item) {
    uint64_t name =
        *item->fingerprint ? ids_hash_without_numbers(item->name) : ids_hash_bytes(item->name, strlen(item->name));
    return ids_key_of(ids_key_of(ids_entry_key(NULL, NULL, item->fingerprint), ids_hash_without_numbers(item->op_name)),
                      name);
}

/* On both sides, because the way back has the same layers. */
static uint64_t key_of(const struct ids_cause *cause) {
    return ids_key_of(ids_entry_key(cause->account, NULL, NULL),
                      ids_key_of(key_on_side(cause->match->a), key_on_side(cause->match->b)));
}

/* One layer that is more than half of it is the cause. */
static int is_joint(const struct layers *layers) {
    return layers->count >= LAYERS_LEAST && 2 * layers->most_ps <= fabs(layers->change_ps);
}

static void add_up(struct layers *layers, const struct ids_cause *cause) {
    layers->count++;
    layers->change_ps += cause->change_ps;
    layers->most_ps = fmax(layers->most_ps, fabs(cause->change_ps));
    ids_alike_add(&layers->names, cause->culprit, cause->where);
}

static int call_whole(struct ids_entries *entries, const struct layers *layers) {
    struct ids_cause *cause = &entries->at[layers->whole - 1].cause;
    cause->kind = IDS_CAUSE_LAYERS;
    cause->culprit = ids_alike_name(entries->texts, &layers->names);
    cause->where = ids_alike_place(entries->texts, &layers->names);
    cause->match = NULL;
    cause->count = layers->count;
    return cause->culprit && cause->where ? 0 : -1;
}

int ids_group_layers(struct ids_entries *entries) {
    struct layers *layers = calloc(entries->count + 1, sizeof *layers);
    size_t *of = calloc(entries->count + 1, sizeof *of), count = 0; /* of each entry: its layers + 1 */
    struct ids_keymap numbers = {0};
    int failed = !layers || !of;
    for (size_t i = 0; i < entries->count && !failed; i++) {
        if (!is_of_layers(&entries->at[i])) continue;
        uint64_t *number = ids_keymap_at(&numbers, key_of(&entries->at[i].cause));
        failed = !number;
        if (failed) break;
        if (!*number) *number = ++count;
        of[i] = *number;
        add_up(&layers[*number - 1], &entries->at[i].cause);
    }
    for (size_t i = 0; i < entries->count && !failed; i++) {
        struct layers *own = of[i] ? &layers[of[i] - 1] : NULL;
        if (!own || !is_joint(own)) continue;
        if (own->whole)
            ids_entry_put_into(entries, &entries->at[own->whole - 1], &entries->at[i]);
        else
            own->whole = i + 1;
    }
    for (size_t l = 0; l < count && !failed; l++) {
        if (layers[l].whole) failed = call_whole(entries, &layers[l]);
    }
    free(layers);
    free(of);
    ids_keymap_done(&numbers);
    return failed;
}
