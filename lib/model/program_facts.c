#include "lib/model/program_facts.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/collective.h"

#include <string.h>

const char *ids_fact_kind_name(enum ids_fact_kind kind) {
    static const char *const names[] = {"input", "donated", "sharding", "collective", "groups", "custom_call", "remat"};
    return names[kind];
}

struct finding {
    struct ids_trace *trace;
    struct ids_keymap modules; /* (program id, name) of a module that ran: its index + 1 */
    struct ids_keymap numbers; /* of a fact: its index + 1 */
};

static uint64_t module_key(uint64_t program_id, uint32_t name) {
    return ids_key_of(ids_key_of(program_id, name), 1);
}

/* Some files give programs no number; then the name tells. */
static int find_modules(struct finding *finding) {
    const struct ids_trace *trace = finding->trace;
    for (size_t i = 0; i < trace->op_count; i++) {
        uint32_t index = trace->ops[i].module;
        if (index == IDS_NONE) continue;
        const struct ids_module *module = &trace->modules[index];
        if (ids_keymap_add(&finding->modules, module_key(module->program_id, module->name), index + 1) < 0) return -1;
    }
    return 0;
}

static int module_of(const struct finding *finding, const struct ids_instruction_info *instruction,
                     uint32_t *ret_module) {
    uint64_t number;
    if (!ids_keymap_get(&finding->modules, module_key(instruction->program_id, instruction->module), &number) &&
        !ids_keymap_get(&finding->modules, module_key(0, instruction->module), &number))
        return 0;
    *ret_module = (uint32_t)number - 1;
    return 1;
}

static struct ids_program_fact *fact_of(struct finding *finding, uint32_t module, enum ids_fact_kind kind,
                                        uint32_t text, uint32_t where) {
    struct ids_trace *trace = finding->trace;
    /* Arguments are told apart by what the program calls them. */
    uint32_t argument = kind <= IDS_FACT_SHARDING ? where : 0;
    uint64_t *number =
        ids_keymap_at(&finding->numbers, ids_key_of(ids_key_of(ids_key_of(module, kind), text), argument + 1));
    if (!number) return NULL;
    if (*number) return &trace->facts[*number - 1];
    if (trace->fact_count == IDS_FACTS_MOST) return &trace->facts[IDS_FACTS_MOST - 1];
    struct ids_program_fact *fact = IDS_PUSH(trace->facts, trace->fact_count, trace->fact_room);
    if (!fact) return NULL;
    if (trace->fact_count == IDS_FACTS_MOST) text = ids_intern(&trace->strings, "...", 3);
    *fact = (struct ids_program_fact){.module = module, .kind = (uint8_t)kind, .text = text, .where = where};
    *number = trace->fact_count;
    return fact;
}

static int add(struct finding *finding, const struct ids_instruction_info *of, enum ids_fact_kind kind, uint32_t text) {
    uint32_t module;
    if (!module_of(finding, of, &module)) return 0;
    struct ids_program_fact *fact = fact_of(finding, module, kind, text, of->op_name);
    if (!fact) return -1;
    fact->count++;
    fact->bytes = fact->bytes < 0 || of->result_bytes < 0 ? -1 : ids_sat_add(fact->bytes, of->result_bytes);
    return 0;
}

static int is_rematerialized(const struct ids_strings *strings, const struct ids_instruction_info *of) {
    if (of->computed_once) return 0;
    return ids_text_contains(ids_strings_text(strings, of->op_name), "rematted_computation") ||
           ids_text_contains(ids_strings_text(strings, of->name), ".remat");
}

static int look_at(struct finding *finding, const struct ids_instruction_info *of) {
    struct ids_strings *strings = &finding->trace->strings;
    int failed = 0;
    if (of->is_parameter) {
        failed = add(finding, of, IDS_FACT_INPUT, of->shape);
        if (of->is_donated) failed |= add(finding, of, IDS_FACT_DONATED, of->shape);
        if (of->sharding) failed |= add(finding, of, IDS_FACT_SHARDING, of->sharding);
        return failed;
    }
    if (ids_collective_of_opcode(ids_strings_text(strings, of->opcode))) {
        failed = add(finding, of, IDS_FACT_COLLECTIVE, of->opcode);
        if (of->groups) failed |= add(finding, of, IDS_FACT_GROUPS, of->groups);
    }
    if (of->call_target) failed |= add(finding, of, IDS_FACT_CUSTOM_CALL, of->call_target);
    if (is_rematerialized(strings, of)) failed |= add(finding, of, IDS_FACT_REMAT, 0);
    return failed;
}

int ids_program_facts_find(const struct ids_instruction_info *instructions, size_t count, struct ids_trace *trace,
                           struct ids_error *err) {
    struct finding finding = {.trace = trace};
    int failed = find_modules(&finding);
    for (size_t i = 0; i < count && !failed; i++) failed = look_at(&finding, &instructions[i]);
    ids_keymap_done(&finding.modules);
    ids_keymap_done(&finding.numbers);
    return failed ? ids_no_memory(err) : 0;
}
