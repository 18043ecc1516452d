/* hlo_sink.c - the instructions of a program's graph, for sinks. */
#include "formats/hlo.h"
#include "formats/hlo_sharding.h"
#include "lib/base/memory.h"
#include "lib/fields/hlo.h"
#include "lib/hlo/cost.h"
#include "lib/hlo/flow.h"
#include "lib/hlo/kept_arguments.h"
#include "lib/hlo/padding.h"
#include "lib/hlo/parts.h"
#include "lib/hlo/program_memory.h"
#include "lib/hlo/shape.h"
#include "lib/hlo/waste.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct telling {
    const struct ids_hlo_module *module;
    struct ids_sink *sink;
    uint64_t program_id;
    uint32_t name; /* of the module */
    struct ids_hlo_costs *costs;
    uint32_t *shape_texts;        /* by shape: its text + 1; 0 not made yet */
    struct ids_hlo_flow *flow;    /* by instruction; NULL: the order is not known */
    struct ids_hlo_waste *wastes; /* by instruction; NULL: there is none */
    uint64_t effort;              /* spent on products */
    uint64_t parts_effort;        /* and on the insides of fusions */
    uint64_t damaged;             /* instructions, and computations that end in the middle */
    struct ids_error *err;
};

static int intern(struct telling *telling, struct ids_text text, uint32_t *ret_id) {
    *ret_id = 0;
    if (!text.length) return 0;
    *ret_id = ids_intern(telling->sink->strings, text.at, text.length);
    return *ret_id == IDS_NO_TEXT ? ids_no_memory(telling->err) : 0;
}

static int intern_shape(struct telling *telling, uint32_t shape, uint32_t *ret_id) {
    char text[IDS_HLO_SHAPE_TEXT];
    *ret_id = 0;
    if (shape == IDS_HLO_NONE) return 0;
    uint32_t *made = &telling->shape_texts[shape];
    if (!*made) {
        size_t length = ids_hlo_shape_text(telling->module, shape, 0, text);
        int code = intern(telling, (struct ids_text){text, (uint32_t)length}, ret_id);
        if (code) return code;
        *made = *ret_id + 1;
    }
    *ret_id = *made - 1;
    return 0;
}

/* "file.py:12" */
static int intern_source(struct telling *telling, const struct ids_hlo_instruction *instruction, uint32_t *ret_source) {
    char text[1024], number[16];
    int32_t line;
    struct ids_text file = ids_hlo_source(telling->module, instruction, &line);
    if (!file.length) return 0;
    int digits = snprintf(number, sizeof number, ":%" PRId32, line);
    size_t length = file.length;
    /* A path too long for a line of a report keeps its end, which tells more. */
    if (length > sizeof text - sizeof number) length = sizeof text - sizeof number;
    memcpy(text, file.at + (file.length - length), length);
    memcpy(text + length, number, (size_t)digits);
    if (line > 0) length += (size_t)digits;
    return intern(telling, (struct ids_text){text, (uint32_t)length}, ret_source);
}

/* A parameter of the program: whether it is donated, and how it is spread over devices. */
static int tell_parameter(struct telling *telling, const struct ids_hlo_instruction *from,
                          struct ids_instruction_info *to) {
    const struct ids_hlo_attribute *number =
        ids_hlo_attribute_of(telling->module, from, HLO_INSTRUCTION_PARAMETER_NUMBER);
    char text[IDS_HLO_SHARDING_TEXT] = "";
    uint64_t unused;
    to->is_parameter = 1;
    to->is_donated = (uint8_t)ids_keymap_get(&telling->module->donated,
                                             ids_key_of(number && !number->is_bytes ? number->number : 0, 1), &unused);
    if (from->sharding.length) ids_hlo_sharding_text(from->sharding, text);
    return intern(telling, (struct ids_text){text, (uint32_t)strlen(text)}, &to->sharding);
}

/* What it wastes, and why. */
static int tell_waste(struct telling *telling, const struct ids_hlo_instruction *from,
                      struct ids_instruction_info *to) {
    const struct ids_hlo_module *module = telling->module;
    uint32_t index = (uint32_t)(from - module->instructions);
    char text[IDS_HLO_WASTE_TEXT];
    if (!telling->wastes) return 0;
    to->split = telling->wastes[index].split;
    to->computed_once = telling->wastes[index].computed_once;
    if (!telling->wastes[index].kind) return 0;
    to->waste = telling->wastes[index].kind;
    to->waste_rounds = telling->wastes[index].rounds;
    to->waste_is_part = telling->wastes[index].is_part;
    size_t length = ids_hlo_waste_text(module, &telling->wastes[index], index, text);
    return intern(telling, (struct ids_text){text, (uint32_t)length}, &to->waste_why);
}

static void tell_cost(struct telling *telling, uint32_t instruction, struct ids_instruction_info *to) {
    struct ids_hlo_cost cost = ids_hlo_cost_of(telling->costs, instruction);
    to->flops = ids_hlo_cost_count(cost.flops, cost.misses_flops);
    to->bytes = ids_hlo_cost_count(cost.bytes, cost.misses_bytes);
    to->matrix_flops = ids_hlo_cost_count(cost.matrix_flops, cost.misses_flops);
    if (cost.matrix_flops > 0) {
        struct ids_hlo_product product = ids_hlo_product_of(telling->module, instruction, &telling->effort);
        struct ids_hlo_tiled tiled = ids_hlo_tiled_of(telling->module, instruction);
        to->product = (struct ids_product_size){product.rows, product.columns, product.depth, tiled.bytes, tiled.tiled};
    }
    /* What is mostly something else does not go by the speed of products. */
    if (cost.matrix_flops > cost.flops / 2) to->element = cost.element;
}

/* Which scopes a fusion covers. */
static int tell_parts(struct telling *telling, uint32_t instruction, struct ids_instruction_info *to) {
    struct ids_hlo_covered parts[IDS_HLO_PARTS];
    int count = ids_hlo_parts_of(telling->costs, instruction, &telling->parts_effort, parts), code = 0;
    for (int i = 0; i < count && i < IDS_OP_PARTS && !code; i++) {
        code = intern(telling, parts[i].op_name, &to->parts.at[i].op_name);
        to->parts.at[i].share = parts[i].share;
        to->parts.count++;
    }
    return code;
}

/* When an execution runs it. */
static void tell_flow(const struct telling *telling, uint32_t instruction, struct ids_instruction_info *to) {
    if (!telling->flow) return;
    const struct ids_hlo_flow *flow = &telling->flow[instruction];
    to->order = flow->order;
    to->loop_begins = flow->begins;
    to->loop_ends = flow->ends;
    to->runs = flow->runs;
    to->optional = flow->optional;
}

static int tell_instruction(struct telling *telling, const struct ids_hlo_instruction *from, int is_entry) {
    const struct ids_hlo_module *module = telling->module;
    struct ids_instruction_info to = {.program_id = telling->program_id,
                                      .module = telling->name,
                                      .result_bytes = -1,
                                      .fingerprint = from->fingerprint};
    tell_cost(telling, (uint32_t)(from - module->instructions), &to);
    tell_flow(telling, (uint32_t)(from - module->instructions), &to);
    if (from->shape != IDS_HLO_NONE) to.result_bytes = module->shapes[from->shape].bytes;
    int code = intern(telling, from->name, &to.name);
    if (!code) code = intern(telling, from->opcode, &to.opcode);
    if (!code) code = intern_shape(telling, from->shape, &to.shape);
    if (!code) code = intern(telling, ids_hlo_op_name(module, from), &to.op_name);
    if (!code) code = intern_source(telling, from, &to.source);
    if (!code) code = intern(telling, ids_hlo_call_target(module, from), &to.call_target);
    if (!code && is_entry && ids_text_is(from->opcode, "parameter")) code = tell_parameter(telling, from, &to);
    if (!code && from->groups != IDS_HLO_NONE) code = intern(telling, module->groups[from->groups], &to.groups);
    if (!code) code = tell_waste(telling, from, &to);
    if (!code) code = tell_parts(telling, (uint32_t)(from - module->instructions), &to);
    return code ? code : telling->sink->ops->hlo(telling->sink, &to, telling->err);
}

static int tell_computation(struct telling *telling, uint32_t index) {
    const struct ids_hlo_computation *computation = &telling->module->computations[index];
    int code = 0, is_entry = index == telling->module->entry;
    if (computation->is_fusion) return 0;
    for (uint32_t i = 0; i < computation->instructions.count && !code; i++) {
        const struct ids_hlo_instruction *instruction =
            &telling->module->instructions[computation->instructions.first + i];
        telling->damaged += instruction->damaged;
        if (!instruction->damaged) code = tell_instruction(telling, instruction, is_entry);
    }
    telling->damaged += computation->is_cut;
    return code;
}

static int tell_value(struct telling *telling, const struct ids_hlo_value *from, struct ids_program_value *to) {
    *to = (struct ids_program_value){.bytes = from->bytes,
                                     .padding = from->padding,
                                     .kind = from->kind,
                                     .in_place = from->in_place,
                                     .at_peak = from->at_peak};
    if (from->instruction == IDS_HLO_NONE) return 0;
    const struct ids_hlo_instruction *maker = &telling->module->instructions[from->instruction];
    int code = intern(telling, maker->name, &to->name);
    if (!code) code = intern(telling, ids_hlo_op_name(telling->module, maker), &to->op_name);
    if (!code) code = intern_source(telling, maker, &to->source);
    return code ? code : intern_shape(telling, maker->shape, &to->shape);
}

static int tell_memory(struct telling *telling) {
    struct ids_hlo_program_memory memory;
    struct ids_program_value values[IDS_HLO_VALUES_SHOWN];
    struct ids_kept_argument kept[IDS_HLO_KEPT_SHOWN];
    if (!telling->module->buffers) return 0;
    int code = ids_hlo_memory_of(telling->module, &memory, telling->err);
    if (!code && ids_hlo_kept_arguments(telling->module, &memory)) code = ids_no_memory(telling->err);
    for (size_t i = 0; i < memory.value_count && !code; i++) code = tell_value(telling, &memory.values[i], &values[i]);
    for (size_t i = 0; i < memory.kept_count && !code; i++) {
        kept[i] = (struct ids_kept_argument){.bytes = memory.kept[i].bytes, .arrays = memory.kept[i].arrays};
        code = intern(telling, memory.kept[i].name, &kept[i].name);
    }
    struct ids_program_memory_info told = {.program_id = telling->program_id,
                                           .module = telling->name,
                                           .arguments = memory.bytes[IDS_HLO_ARGUMENT],
                                           .in_place = memory.in_place,
                                           .results = memory.bytes[IDS_HLO_RESULT],
                                           .temporaries = memory.bytes[IDS_HLO_TEMPORARY],
                                           .constants = memory.bytes[IDS_HLO_CONSTANT],
                                           .on_host = memory.on_host,
                                           .elsewhere = memory.elsewhere,
                                           .values = values,
                                           .value_count = memory.value_count,
                                           .kept = kept,
                                           .kept_count = memory.kept_count};
    if (!code) code = intern(telling, memory.peak, &told.peak);
    return code ? code : telling->sink->ops->memory(telling->sink, &told, telling->err);
}

static int say(struct telling *telling, const char *id, const char *text, uint64_t count) {
    struct ids_diag diag = {IDS_WARNING, id, text, -1, count};
    return count ? telling->sink->ops->diag(telling->sink, &diag, telling->err) : 0;
}

static int tell_module(struct telling *telling) {
    const struct ids_hlo_module *module = telling->module;
    int code = intern(telling, module->name, &telling->name);
    for (size_t i = 0; i < module->computation_count && !code; i++) code = tell_computation(telling, (uint32_t)i);
    if (!code && telling->sink->ops->memory) code = tell_memory(telling);
    if (!code)
        code = say(telling, "hlo.instruction", "instructions of a program that could not be read", telling->damaged);
    if (!code) {
        code = say(telling, "hlo.frames", "a program's stack frames that could not be read: source lines are missing",
                   module->frames_lost);
    }
    return code;
}

/* --- a program that was read ------------------------------------------------------------------------------------ */

struct ids_hlo_program {
    struct ids_hlo_module module;
    struct ids_hlo_costs costs;
    struct ids_hlo_flow *flow;    /* NULL: the order is not known */
    struct ids_hlo_waste *wastes; /* NULL: there is none */
    const char *without;          /* what was left out; NULL: nothing */
    int code;                     /* why there is none */
    struct ids_error err;
};

/* The buffer assignment, which the sink may want, must not cost the program where it is damaged or too large. */
static int read_module(const uint8_t *bytes, size_t length, int with_buffers, struct ids_hlo_program *program) {
    struct ids_error *err = &program->err;
    struct ids_hlo_module *module = &program->module;
    if (with_buffers) {
        int code = ids_hlo_module_read(bytes, length, IDS_HLO_ALL, module, err);
        if (code != IDS_CORRUPT && code != IDS_LIMIT) return code;
        program->without = "a program's buffer assignment that could not be read: what it keeps in memory is not known";
    }
    return ids_hlo_module_read(bytes, length, IDS_HLO_LAYOUTS | IDS_HLO_LOOPS, module, err);
}

struct ids_hlo_program *ids_hlo_program_read(const uint8_t *bytes, size_t length, int with_buffers) {
    struct ids_hlo_program *program = calloc(1, sizeof *program);
    if (!program) {
        ids_memory_refused();
        return NULL;
    }
    program->err = (struct ids_error)IDS_ERROR_INIT;
    program->code = read_module(bytes, length, with_buffers, program);
    if (program->code) return program;
    int code = ids_hlo_waste_find(&program->module, &program->wastes, &program->err);
    if (!code && ids_hlo_flow_of(&program->module, &program->flow)) code = ids_no_memory(&program->err);
    if (!code) code = ids_hlo_costs_make(&program->module, &program->costs, &program->err);
    program->code = code;
    return program;
}

int ids_hlo_program_tell(struct ids_hlo_program *program, uint64_t program_id, struct ids_sink *sink,
                         struct ids_error *err) {
    struct telling telling = {.module = &program->module,
                              .sink = sink,
                              .program_id = program_id,
                              .costs = &program->costs,
                              .flow = program->flow,
                              .wastes = program->wastes,
                              .err = err};
    if (program->code == IDS_LIMIT) return say(&telling, "hlo.too_large", program->err.text, 1);
    if (program->code) return ids_error_pass(err, &program->err);
    telling.shape_texts = calloc(program->module.shape_count + 1, sizeof *telling.shape_texts);
    if (!telling.shape_texts) return ids_no_memory(err);
    int code = tell_module(&telling);
    if (!code && program->without) code = say(&telling, "hlo.buffers", program->without, 1);
    free(telling.shape_texts);
    return code;
}

void ids_hlo_program_free(struct ids_hlo_program *program) {
    if (!program) return;
    ids_hlo_costs_done(&program->costs);
    free(program->flow);
    free(program->wastes);
    ids_hlo_module_done(&program->module);
    free(program);
}

int ids_hlo_read(const uint8_t *bytes, size_t length, uint64_t program_id, struct ids_sink *sink,
                 struct ids_error *err) {
    struct ids_hlo_program *program = ids_hlo_program_read(bytes, length, sink->ops->memory != NULL);
    int code = program ? ids_hlo_program_tell(program, program_id, sink, err) : ids_no_memory(err);
    ids_hlo_program_free(program);
    return code;
}
