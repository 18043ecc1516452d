#include "lib/model/flow_match.h"

#include "lib/base/vec.h"
#include "lib/hlo/flow.h"
#include "lib/model/event_kind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 512, WAYS_MOST = 256 };

uint32_t ids_flow_kernel_name(struct ids_strings *strings, struct ids_text instruction) {
    char name[NAME_MOST];
    size_t length = instruction.length < sizeof name ? instruction.length : sizeof name;
    for (size_t i = 0; i < length; i++)
        name[i] = (char)(isalnum((unsigned char)instruction.at[i]) ? instruction.at[i] : '_');
    return ids_intern(strings, name, length);
}

/* ---- what comes behind what ---- */

/* The last one of a loop's body leads back to its beginning, and so does who leaves a loop that ends where the one
 * around it does. */
static int lead_back(struct ids_flow *flow) {
    uint32_t *inner = calloc(flow->count + 1, sizeof *inner); /* by the end: the loop that was seen last, + 1 */
    if (!inner) return -1;
    for (size_t i = 0; i < flow->count; i++) flow->items[i].next = flow->items[i].leave = (uint32_t)i + 1;
    for (size_t i = flow->count; i-- > 0;) {
        struct ids_flow_item *loop = &flow->items[i];
        if (loop->runs != IDS_HLO_RUNS_LOOP || loop->ends <= i || loop->ends > flow->count || loop->begins > i)
            continue;
        loop->leave = loop->ends;
        if (inner[loop->ends])
            flow->items[inner[loop->ends] - 1].leave = loop->begins;
        else
            flow->items[loop->ends - 1].next = loop->begins;
        inner[loop->ends] = (uint32_t)i + 1;
    }
    free(inner);
    return 0;
}

static int name_all(struct ids_flow *flow) {
    struct ids_keymap twins = {0};
    int failed = 0;
    for (size_t i = 0; i < flow->count && !failed; i++) {
        struct ids_flow_item *item = &flow->items[i];
        uint64_t *named = ids_keymap_at(&flow->by_kernel, ids_key_of(item->kernel, 0));
        if (named) item->same_kernel = (uint32_t)*named;
        if (named) *named = i + 1;
        item->first_twin = (uint32_t)i;
        failed = !named;
        if (failed || !item->fingerprint || item->runs != IDS_HLO_RUNS_KERNEL) continue;
        uint64_t *twin = ids_keymap_at(&twins, ids_key_of(item->fingerprint, 1));
        failed = !twin;
        if (failed) continue;
        if (!*twin) *twin = i + 1;
        item->first_twin = (uint32_t)*twin - 1;
        if (item->first_twin != i) item->has_twin = flow->items[item->first_twin].has_twin = 1;
    }
    ids_keymap_done(&twins);
    return failed ? -1 : 0;
}

int ids_flow_finish(struct ids_flow *flow) {
    return lead_back(flow) ? -1 : name_all(flow);
}

void ids_flow_done(struct ids_flow *flow) {
    ids_keymap_done(&flow->by_kernel);
}

static uint32_t first_called(const struct ids_flow *flow, uint32_t kernel) {
    uint64_t item;
    return ids_keymap_get(&flow->by_kernel, ids_key_of(kernel, 0), &item) ? (uint32_t)item : 0;
}

uint32_t ids_flow_item_called(const struct ids_flow *flow, uint32_t kernel) {
    uint32_t item = first_called(flow, kernel);
    if (!item || flow->items[item - 1].same_kernel || flow->items[item - 1].has_twin) return 0;
    return item;
}

/* ---- a way: how far an execution has come ---- */

/* Of an item: what of it was done. */
enum phase { SETS, RAN, COPIED, PHASES, REFUSED = PHASES };

struct ways {
    const struct ids_flow *flow;
    const struct ids_flow_work *work;
    uint32_t *states; /* item * PHASES + phase: of the first work, then of the second, and so on */
    size_t count, room;
    size_t *first;       /* of each work's: index into states; one more than there is work */
    uint32_t *seen;      /* by state: the work for which it is there, + 1 */
    uint32_t *left[2];   /* the same of those that lead to the end, for every other work */
    uint8_t *has_kernel; /* by the first twin: 1: there is a kernel in the work that was made of it */
    uint32_t *stack;     /* positions still to be looked at */
    uint32_t *passed;    /* by position: for which search it was */
    uint32_t search;
};

static int is_of(const struct ids_flow *flow, uint32_t index, uint32_t kernel) {
    const struct ids_flow_item *item = &flow->items[index];
    uint32_t named = first_called(flow, kernel);
    if (!named) return item->runs != IDS_HLO_RUNS_KERNEL && item->runs != IDS_HLO_RUNS_COPY;
    for (; named; named = flow->items[named - 1].same_kernel) {
        const struct ids_flow_item *other = &flow->items[named - 1];
        if (named == index + 1) return 1;
        if (item->has_twin && other->fingerprint == item->fingerprint && item->runs == IDS_HLO_RUNS_KERNEL) return 1;
    }
    return 0;
}

/* 1: it is no fusion that only copies or sets. */
static int has_kernel(const struct ways *ways, uint32_t index) {
    return ways->has_kernel[ways->flow->items[index].first_twin];
}

static void note_kernels(struct ways *ways, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ways->work[i].kind != IDS_KIND_KERNEL) continue;
        uint32_t named = first_called(ways->flow, ways->work[i].kernel);
        for (; named; named = ways->flow->items[named - 1].same_kernel)
            ways->has_kernel[ways->flow->items[named - 1].first_twin] = 1;
    }
}

/* What an item is in after the work, before which it was in `phase`: SETS where it had not begun. */
static enum phase take(const struct ways *ways, uint32_t index, enum phase phase, const struct ids_flow_work *work) {
    const struct ids_flow *flow = ways->flow;
    const uint8_t runs = flow->items[index].runs;
    const int is_made = runs == IDS_HLO_RUNS_KERNEL;
    if (work->told) {
        if (work->told != index + 1) return REFUSED;
        return work->kind == IDS_KIND_KERNEL ? RAN : phase;
    }
    if (is_made && phase == RAN) return REFUSED;
    switch (work->kind) {
    case IDS_KIND_SET:
        return runs == IDS_HLO_RUNS_COPY || phase == COPIED ? REFUSED : SETS;
    case IDS_KIND_COPY:
        return runs == IDS_HLO_RUNS_LIBRARY || (is_made && has_kernel(ways, index)) ? REFUSED : COPIED;
    default:
        return is_of(flow, index, work->kernel) ? RAN : REFUSED;
    }
}

/* Memory is set for the kernel that is launched next. */
static int is_whole(const struct ways *ways, uint32_t index, enum phase phase) {
    const uint8_t runs = ways->flow->items[index].runs;
    return phase != SETS || !(runs == IDS_HLO_RUNS_LIBRARY || (runs == IDS_HLO_RUNS_KERNEL && has_kernel(ways, index)));
}

/* Calls `each` for each item that may come next where `position` does, until it returns something else than 0; the end
 * is the count of items. */
static int each_next(struct ways *ways, const uint32_t *positions, size_t count,
                     int (*each)(void *context, uint32_t position), void *context) {
    const struct ids_flow *flow = ways->flow;
    size_t depth = 0;
    int result = 0;
    ways->search++;
    for (size_t i = 0; i < count; i++) ways->stack[depth++] = positions[i];
    while (depth && !result) {
        uint32_t position = ways->stack[--depth];
        if (ways->passed[position] == ways->search) continue;
        ways->passed[position] = ways->search;
        result = each(context, position);
        if (position == flow->count || !flow->items[position].optional) continue;
        ways->stack[depth++] = flow->items[position].next;
        ways->stack[depth++] = flow->items[position].leave;
    }
    return result;
}

static int each_behind(struct ways *ways, uint32_t index, int (*each)(void *context, uint32_t position),
                       void *context) {
    const struct ids_flow_item *item = &ways->flow->items[index];
    return each_next(ways, (uint32_t[]){item->next, item->leave}, 2, each, context);
}

/* ---- forwards: where an execution may be after each work ---- */

struct stepping {
    struct ways *ways;
    size_t nth; /* the work that is taken */
};

static int add(const struct stepping *stepping, uint32_t index, enum phase phase) {
    struct ways *ways = stepping->ways;
    if (phase == REFUSED) return 0;
    uint32_t state = index * PHASES + phase;
    if (ways->seen[state] == stepping->nth + 1) return 0;
    ways->seen[state] = (uint32_t)stepping->nth + 1;
    uint32_t *place = IDS_PUSH(ways->states, ways->count, ways->room);
    if (place) *place = state;
    return place ? 0 : -1;
}

static int begin(void *context, uint32_t position) {
    const struct stepping *stepping = context;
    const struct ways *ways = stepping->ways;
    if (position == ways->flow->count) return 0;
    return add(stepping, position, take(ways, position, SETS, &ways->work[stepping->nth]));
}

/* 1, 0 where the work fits no more, or -1. */
static int step(struct ways *ways, size_t nth) {
    struct stepping stepping = {ways, nth};
    ways->first[nth] = ways->count;
    int failed = nth ? 0 : each_next(ways, (uint32_t[]){0}, 1, begin, &stepping);
    for (size_t s = nth ? ways->first[nth - 1] : 0; s < ways->first[nth] && !failed; s++) {
        uint32_t index = ways->states[s] / PHASES;
        enum phase phase = ways->states[s] % PHASES;
        failed = add(&stepping, index, take(ways, index, phase, &ways->work[nth]));
        if (!failed && is_whole(ways, index, phase)) failed = each_behind(ways, index, begin, &stepping);
    }
    if (failed) return -1;
    return ways->count > ways->first[nth] && ways->count - ways->first[nth] <= WAYS_MOST;
}

/* ---- backwards: which of these lead to the end ---- */

struct leading {
    const struct ways *ways;
    size_t nth; /* the work that follows */
};

static int is_end(void *context, uint32_t position) {
    const struct leading *leading = context;
    return position == leading->ways->flow->count;
}

static int is_left(const struct leading *leading, uint32_t index, enum phase phase) {
    return phase != REFUSED && leading->ways->left[leading->nth % 2][index * PHASES + phase] == leading->nth + 1;
}

static int leads_on(void *context, uint32_t position) {
    const struct leading *leading = context;
    const struct ways *ways = leading->ways;
    if (position == ways->flow->count) return 0;
    return is_left(leading, position, take(ways, position, SETS, &ways->work[leading->nth]));
}

static int leads(struct ways *ways, uint32_t state, size_t nth, size_t count) {
    uint32_t index = state / PHASES;
    enum phase phase = state % PHASES;
    struct leading leading = {ways, nth + 1};
    const int whole = is_whole(ways, index, phase);
    if (nth + 1 == count) return whole && each_behind(ways, index, is_end, &leading);
    return is_left(&leading, index, take(ways, index, phase, &ways->work[nth + 1])) ||
           (whole && each_behind(ways, index, leads_on, &leading));
}

/* 1, or 0 when no way leads to the end. */
static int look_back(struct ways *ways, size_t count, uint32_t *ret_items) {
    size_t end = ways->count;
    for (size_t nth = count; nth-- > 0; end = ways->first[nth]) {
        uint32_t item = 0;
        int left = 0, determined = 1;
        for (size_t s = ways->first[nth]; s < end; s++) {
            uint32_t state = ways->states[s];
            if (!leads(ways, state, nth, count)) continue;
            determined &= !left || item == state / PHASES + 1;
            item = state / PHASES + 1;
            left = 1;
            ways->left[nth % 2][state] = (uint32_t)nth + 1;
        }
        if (!left) return 0;
        ret_items[nth] = determined ? item : 0;
    }
    return 1;
}

int ids_flow_match(const struct ids_flow *flow, const struct ids_flow_work *work, size_t count, uint32_t *ret_items) {
    if (!flow->count || !count) return 0;
    struct ways ways = {
        .flow = flow,
        .work = work,
        .first = calloc(count + 1, sizeof *ways.first),
        .seen = calloc(flow->count * PHASES, sizeof *ways.seen),
        .left = {calloc(flow->count * PHASES, sizeof *ways.seen), calloc(flow->count * PHASES, sizeof *ways.seen)},
        .has_kernel = calloc(flow->count, sizeof *ways.has_kernel),
        .stack = calloc(2 * flow->count + 4, sizeof *ways.stack),
        .passed = calloc(flow->count + 1, sizeof *ways.passed)};
    int result = ways.first && ways.seen && ways.left[0] && ways.left[1] && ways.has_kernel && ways.stack && ways.passed
                     ? 1
                     : -1;
    if (result == 1) note_kernels(&ways, count);
    for (size_t nth = 0; nth < count && result == 1; nth++) result = step(&ways, nth);
    if (result == 1) result = look_back(&ways, count, ret_items);
    free(ways.states);
    free(ways.first);
    free(ways.seen);
    free(ways.left[0]);
    free(ways.left[1]);
    free(ways.has_kernel);
    free(ways.stack);
    free(ways.passed);
    return result;
}
