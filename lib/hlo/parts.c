#include "lib/hlo/parts.h"

#include "lib/hlo/cost_kind.h"
#include "lib/hlo/cost_matrix.h"
#include "lib/hlo/scope.h"

#include <string.h>

/* What an operation of each kind counts for. Products run in matrix units, or in registers that are read many times;
 * what only moves waits for memory or caches, which give a byte in about the time of an operation. */
#define OF_A_FUNCTION 10.0
#define OF_A_PRODUCT (1.0 / 16)
#define OF_A_BYTE 1.0
enum { MOST_SCOPES = 32, MOST_NAME = 1024 };
#define LEAST_SHARE 0.01

struct scope {
    uint64_t key;
    double work, most; /* most: of the instruction whose name it has */
    struct ids_text op_name;
};

struct scopes {
    struct scope at[MOST_SCOPES];
    int count;
    struct ids_text last; /* the name that was added last, and its key: what was one op of the program has one name */
    uint64_t last_key;
    double work;
};

/* The same for the same path of scopes; 0: the name has none. */
static uint64_t key_of(struct ids_text name) {
    char text[MOST_NAME];
    struct ids_scopes scopes = {.count = 0};
    uint64_t key = 1;
    if (!name.length || name.length >= sizeof text) return 0;
    memcpy(text, name.at, name.length);
    text[name.length] = '\0';
    ids_scopes_of(text, &scopes);
    for (int i = 0; i < scopes.count; i++)
        key = ids_key_of(key, ids_hash_bytes(scopes.parts[i].at, scopes.parts[i].length));
    return scopes.count ? key : 0;
}

static void add(struct scopes *scopes, struct ids_text name, double work) {
    int is_last = name.length == scopes->last.length && !memcmp(name.at, scopes->last.at, name.length);
    uint64_t key = is_last ? scopes->last_key : key_of(name);
    int at = 0;
    scopes->last = name;
    scopes->last_key = key;
    if (!key) return;
    while (at < scopes->count && scopes->at[at].key != key) at++;
    if (at == MOST_SCOPES) return;
    if (at == scopes->count) scopes->at[scopes->count++] = (struct scope){.key = key, .most = -1};
    struct scope *scope = &scopes->at[at];
    scope->work += work;
    scopes->work += work;
    if (work <= scope->most) return;
    scope->most = work;
    scope->op_name = name;
}

/* Names, numbers and what fills an array are there for others. */
static int does_nothing(enum ids_cost_kind kind, struct ids_text opcode) {
    return kind == IDS_COST_PARAMETER || kind == IDS_COST_CONSTANT || kind == IDS_COST_FREE || kind == IDS_COST_TUPLE ||
           kind == IDS_COST_PART || kind == IDS_COST_BITCAST || ids_text_is(opcode, "broadcast") ||
           ids_text_is(opcode, "iota") || ids_text_is(opcode, "reshape");
}

/* The bytes of what computes are not its own: inside a fusion they stay in registers. */
static double work_of(const struct ids_hlo_cost *cost) {
    double computed =
        cost->flops - cost->matrix_flops + OF_A_PRODUCT * cost->matrix_flops + OF_A_FUNCTION * cost->transcendentals;
    return computed > 0 ? computed : OF_A_BYTE * cost->bytes;
}

static void look_through(struct ids_hlo_costs *costs, const struct ids_hlo_range *range, struct scopes *scopes) {
    const struct ids_hlo_module *module = costs->module;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const struct ids_hlo_instruction *of = &module->instructions[i];
        if (does_nothing(ids_cost_kind_of(of->opcode), of->opcode)) continue;
        struct ids_hlo_cost cost = ids_hlo_cost_of(costs, i);
        add(scopes, ids_hlo_op_name(module, of), work_of(&cost));
    }
}

/* The largest scopes, most work first. Returns how many. */
static int keep_largest(const struct scopes *scopes, struct ids_hlo_covered parts[IDS_HLO_PARTS]) {
    int count = 0;
    double kept = 0;
    for (int s = 0; s < scopes->count; s++) {
        struct ids_hlo_covered part = {scopes->at[s].op_name, scopes->at[s].work / scopes->work};
        int at = count < IDS_HLO_PARTS ? count++ : IDS_HLO_PARTS - 1;
        if (at == IDS_HLO_PARTS - 1 && count == IDS_HLO_PARTS && s >= IDS_HLO_PARTS && parts[at].share >= part.share)
            continue;
        for (; at && parts[at - 1].share < part.share; at--) parts[at] = parts[at - 1];
        parts[at] = part;
    }
    while (count > 1 && parts[count - 1].share < LEAST_SHARE) count--;
    for (int i = 1; i < count; i++) kept += parts[i].share;
    parts[0].share = 1 - kept;
    return count;
}

int ids_hlo_parts_of(struct ids_hlo_costs *costs, uint32_t fusion, uint64_t *effort,
                     struct ids_hlo_covered parts[IDS_HLO_PARTS]) {
    const struct ids_hlo_module *module = costs->module;
    const struct ids_hlo_instruction *of = &module->instructions[fusion];
    struct scopes scopes = {.last = {"", 0}};
    uint64_t inside =
        of->called.count && ids_text_is(of->opcode, "fusion") ? module->called[of->called.first] : UINT64_MAX;
    if (inside >= module->computation_count) return 0;
    const struct ids_hlo_range *range = &module->computations[inside].instructions;
    *effort += range->count;
    if (*effort > IDS_HLO_PARTS_EFFORT) return 0;
    look_through(costs, range, &scopes);
    if (!(scopes.work > 0)) return 0;
    int count = keep_largest(&scopes, parts);
    return count > 1 || key_of(parts[0].op_name) != key_of(ids_hlo_op_name(module, of)) ? count : 0;
}
