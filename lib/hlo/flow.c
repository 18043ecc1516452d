#include "lib/hlo/flow.h"

#include "lib/base/memory.h"
#include "lib/hlo/opcode.h"

#include <stdlib.h>

enum { DEPTH = 64 }; /* computations inside of each other */

struct flowing {
    const struct ids_hlo_module *module;
    struct ids_hlo_flow *flow;
    uint32_t *scheduled; /* instructions of each computation at its range, in the order of its schedule */
    uint8_t *seen;       /* computations */
    uint32_t order;
    int unknown;
};

static int is_one_of(struct ids_text opcode, const char *const *names) {
    for (; *names; names++) {
        if (ids_text_is(opcode, *names)) return 1;
    }
    return 0;
}

/* Of what the computations that it calls do not run themselves. */
static enum ids_hlo_runs runs_of(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction) {
    static const char *const nothing[] = {
        "parameter",   "constant", "bitcast", "get-tuple-element", "tuple",        "after-all", "add-dependency",
        "opt-barrier", "domain",   "call",    "async-done",        "async-update", NULL};
    struct ids_text target = ids_hlo_call_target(module, instruction);
    if (is_one_of(instruction->opcode, nothing)) return IDS_HLO_RUNS_NOTHING;
    if (ids_text_is(instruction->opcode, "while")) return IDS_HLO_RUNS_LOOP;
    if (ids_text_is(instruction->opcode, "fusion"))
        return instruction->calls_library ? IDS_HLO_RUNS_LIBRARY : IDS_HLO_RUNS_KERNEL;
    if (ids_text_begins(target, "__cublas$") || ids_text_begins(target, "__cudnn$")) return IDS_HLO_RUNS_LIBRARY;
    return ids_text_begins(instruction->opcode, "copy") ? IDS_HLO_RUNS_COPY : IDS_HLO_RUNS_ANY;
}

static void walk(struct flowing *flowing, uint64_t computation, int optional, int depth);

static void walk_called(struct flowing *flowing, const struct ids_hlo_instruction *instruction, uint32_t nth,
                        int optional, int depth) {
    if (nth >= instruction->called.count)
        flowing->unknown = 1;
    else
        walk(flowing, flowing->module->called[instruction->called.first + nth], optional, depth + 1);
}

static void number(struct flowing *flowing, uint32_t index, int optional) {
    struct ids_hlo_flow *flow = &flowing->flow[index];
    flow->runs = (uint8_t)runs_of(flowing->module, &flowing->module->instructions[index]);
    if (!flow->runs) return;
    flow->order = ++flowing->order;
    flow->optional = (uint8_t)(optional || flow->runs >= IDS_HLO_RUNS_COPY);
}

/* A loop calls its body and its condition, in this order, and runs them in the other one. How often it runs the
 * condition depends on whether XLA knows how many rounds there are. */
static void walk_loop(struct flowing *flowing, uint32_t index, int optional, int depth) {
    const struct ids_hlo_instruction *instruction = &flowing->module->instructions[index];
    struct ids_hlo_flow *flow = &flowing->flow[index];
    flow->begins = flowing->order + 1;
    walk_called(flowing, instruction, 1, 1, depth);
    number(flowing, index, optional);
    walk_called(flowing, instruction, 0, optional, depth);
    flow->ends = flowing->order + 1;
}

static void walk_instruction(struct flowing *flowing, uint32_t index, int optional, int depth) {
    const struct ids_hlo_instruction *instruction = &flowing->module->instructions[index];
    const int is_branch = ids_text_is(instruction->opcode, "conditional");
    if (ids_text_is(instruction->opcode, "while")) {
        walk_loop(flowing, index, optional, depth);
        return;
    }
    number(flowing, index, optional);
    if (!is_branch && !ids_text_is(instruction->opcode, "call") && !ids_text_is(instruction->opcode, "async-start"))
        return;
    for (uint32_t i = 0; i < instruction->called.count; i++)
        walk_called(flowing, instruction, i, optional || is_branch, depth);
}

static void walk(struct flowing *flowing, uint64_t computation, int optional, int depth) {
    const struct ids_hlo_module *module = flowing->module;
    if (computation == IDS_HLO_NONE || depth > DEPTH || flowing->seen[computation]++) {
        flowing->unknown = 1;
        return;
    }
    const struct ids_hlo_range *own = &module->computations[computation].instructions;
    for (uint32_t i = 0; i < own->count; i++) {
        uint32_t place = module->instructions[own->first + i].place;
        if (place == IDS_HLO_NONE) flowing->unknown = 1;
        if (flowing->unknown) return;
        flowing->scheduled[own->first + place] = own->first + i;
    }
    for (uint32_t i = 0; i < own->count && !flowing->unknown; i++)
        walk_instruction(flowing, flowing->scheduled[own->first + i], optional, depth);
}

int ids_hlo_flow_of(const struct ids_hlo_module *module, struct ids_hlo_flow **ret_flow) {
    struct flowing flowing = {.module = module,
                              .flow = calloc(module->instruction_count + 1, sizeof *flowing.flow),
                              .scheduled = calloc(module->instruction_count + 1, sizeof *flowing.scheduled),
                              .seen = calloc(module->computation_count + 1, sizeof *flowing.seen)};
    const int failed = !flowing.flow || !flowing.scheduled || !flowing.seen;
    *ret_flow = NULL;
    if (failed)
        ids_memory_refused();
    else
        walk(&flowing, module->entry, 0, 0);
    free(flowing.scheduled);
    free(flowing.seen);
    if (!failed && !flowing.unknown)
        *ret_flow = flowing.flow;
    else
        free(flowing.flow);
    return failed ? -1 : 0;
}
