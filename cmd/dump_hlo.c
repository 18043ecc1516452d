#include "cmd/dump_hlo.h"

#include "formats/hlo.h"
#include "lib/base/saturate.h"
#include "lib/export/export.h"
#include "lib/hlo/buffers.h"
#include "lib/hlo/cost.h"
#include "lib/hlo/element.h"
#include "lib/hlo/scope.h"
#include "lib/hlo/shape.h"
#include "lib/run/read_run.h"
#include "lib/wire/json_writer.h"

enum { MAX_FRAMES = 100 }; /* frames of a damaged file may call each other in a circle */

struct printing {
    struct ids_program_files files; /* first */
    struct ids_json json;
    const struct ids_hlo_module *module;
    struct ids_hlo_costs costs;
};

static void put_text(struct ids_json *json, const char *key, struct ids_text text) {
    if (!text.length) return;
    ids_json_key(json, key);
    ids_json_bytes(json, text.at, text.length);
}

static void put_int(struct ids_json *json, const char *key, int64_t value) {
    ids_json_key(json, key);
    ids_json_int(json, value);
}

/* ---- instructions ---- */

static void put_operands(struct printing *printing, const struct ids_hlo_instruction *instruction) {
    struct ids_json *json = &printing->json;
    const struct ids_hlo_module *module = printing->module;
    ids_json_key(json, "operands");
    ids_json_array(json, IDS_JSON_INLINE);
    for (uint32_t i = 0; i < instruction->operands.count; i++) {
        uint64_t operand = module->operands[instruction->operands.first + i];
        if (operand == IDS_HLO_NONE)
            ids_json_null(json);
        else
            ids_json_bytes(json, module->instructions[operand].name.at, module->instructions[operand].name.length);
    }
    ids_json_end(json);
}

static void put_called(struct printing *printing, const struct ids_hlo_instruction *instruction) {
    struct ids_json *json = &printing->json;
    const struct ids_hlo_module *module = printing->module;
    if (!instruction->called.count) return;
    ids_json_key(json, "calls");
    ids_json_array(json, IDS_JSON_INLINE);
    for (uint32_t i = 0; i < instruction->called.count; i++) {
        uint64_t called = module->called[instruction->called.first + i];
        if (called == IDS_HLO_NONE)
            ids_json_null(json);
        else
            ids_json_bytes(json, module->computations[called].name.at, module->computations[called].name.length);
    }
    ids_json_end(json);
}

static void put_frames(struct printing *printing, int32_t frame) {
    struct ids_json *json = &printing->json;
    struct ids_text function, file;
    int32_t line;
    if (frame < 1) return;
    ids_json_key(json, "frames");
    ids_json_array(json, IDS_JSON_INLINE);
    for (int i = 0; i < MAX_FRAMES && ids_hlo_frame(printing->module, frame, &function, &file, &line, &frame); i++) {
        ids_json_object(json, IDS_JSON_INLINE);
        put_text(json, "function", function);
        put_text(json, "file", file);
        put_int(json, "line", line);
        ids_json_end(json);
    }
    ids_json_end(json);
}

static void put_origin(struct printing *printing, const struct ids_hlo_instruction *instruction) {
    struct ids_json *json = &printing->json;
    struct ids_text name = ids_hlo_op_name(printing->module, instruction);
    char path[1024], scope[IDS_SCOPE_BYTES];
    int32_t line;
    if (name.length && name.length < sizeof path) {
        memcpy(path, name.at, name.length);
        path[name.length] = '\0';
        ids_scope_of(path, scope);
        put_text(json, "scope", (struct ids_text){scope, (uint32_t)strlen(scope)});
        put_text(json, "pass", (struct ids_text){ids_pass_of(path), (uint32_t)strlen(ids_pass_of(path))});
    }
    put_text(json, "op_name", name);
    struct ids_text file = ids_hlo_source(printing->module, instruction, &line);
    put_text(json, "file", file);
    if (file.length) put_int(json, "line", line);
    if (instruction->metadata != IDS_HLO_NONE)
        put_frames(printing, printing->module->metadata[instruction->metadata].frame);
}

static void put_loop(struct ids_json *json, const struct ids_hlo_loop *loop) {
    ids_json_key(json, "loop");
    ids_json_object(json, IDS_JSON_INLINE);
    if (loop->trip_count >= 0) put_int(json, "trip_count", loop->trip_count);
    if (loop->induction_variable >= 0) put_int(json, "induction_variable", loop->induction_variable);
    if (loop->step) {
        put_int(json, "init", loop->init);
        put_int(json, "step", loop->step);
    }
    ids_json_end(json);
}

/* What is not known is left out. */
static void put_cost(struct ids_json *json, const struct ids_hlo_cost *cost) {
    int64_t flops = ids_hlo_cost_count(cost->flops, cost->misses_flops);
    int64_t transcendentals = ids_hlo_cost_count(cost->transcendentals, cost->misses_flops);
    int64_t bytes = ids_hlo_cost_count(cost->bytes, cost->misses_bytes);
    const char *element = cost->element ? ids_hlo_element_name(cost->element) : NULL;
    ids_json_key(json, "cost");
    ids_json_object(json, IDS_JSON_INLINE);
    if (flops >= 0) put_int(json, "flops", flops);
    if (transcendentals >= 0) put_int(json, "transcendentals", transcendentals);
    if (bytes >= 0) put_int(json, "bytes", bytes);
    if (element) put_text(json, "multiplies", (struct ids_text){element, (uint32_t)strlen(element)});
    ids_json_end(json);
}

static void put_instruction(struct printing *printing, const struct ids_hlo_instruction *instruction) {
    struct ids_json *json = &printing->json;
    const struct ids_hlo_module *module = printing->module;
    char shape[IDS_HLO_SHAPE_TEXT];
    ids_json_object(json, IDS_JSON_INLINE);
    put_text(json, "name", instruction->name);
    put_text(json, "opcode", instruction->opcode);
    size_t length = ids_hlo_shape_text(module, instruction->shape, 1, shape);
    put_text(json, "shape", (struct ids_text){shape, (uint32_t)length});
    if (length) put_int(json, "bytes", module->shapes[instruction->shape].bytes);
    struct ids_hlo_cost cost = ids_hlo_cost_of(&printing->costs, (uint32_t)(instruction - module->instructions));
    put_cost(json, &cost);
    put_operands(printing, instruction);
    put_called(printing, instruction);
    put_text(json, "target", ids_hlo_call_target(module, instruction));
    if (instruction->groups != IDS_HLO_NONE) put_text(json, "groups", module->groups[instruction->groups]);
    if (instruction->loop != IDS_HLO_NONE) put_loop(json, &module->loops[instruction->loop]);
    put_origin(printing, instruction);
    if (instruction->damaged) {
        ids_json_key(json, "damaged");
        ids_json_bool(json, 1);
    }
    ids_json_end(json);
}

static void put_computations(struct printing *printing) {
    struct ids_json *json = &printing->json;
    const struct ids_hlo_module *module = printing->module;
    ids_json_key(json, "computations");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t c = 0; c < module->computation_count; c++) {
        const struct ids_hlo_computation *computation = &module->computations[c];
        ids_json_object(json, IDS_JSON_BROKEN);
        put_text(json, "name", computation->name);
        ids_json_key(json, "fusion");
        ids_json_bool(json, computation->is_fusion);
        if (computation->root != IDS_HLO_NONE) put_text(json, "root", module->instructions[computation->root].name);
        ids_json_key(json, "instructions");
        ids_json_array(json, IDS_JSON_BROKEN);
        for (uint32_t i = 0; i < computation->instructions.count; i++)
            put_instruction(printing, &module->instructions[computation->instructions.first + i]);
        ids_json_end(json);
        ids_json_end(json);
    }
    ids_json_end(json);
}

/* ---- buffers ---- */

static void put_allocation(struct ids_json *json, const struct ids_hlo_allocation *allocation) {
    ids_json_object(json, IDS_JSON_INLINE);
    put_int(json, "index", allocation->index);
    put_int(json, "size", allocation->size);
    put_int(json, "color", allocation->color);
    put_int(json, "buffers", (int64_t)allocation->buffer_count);
    if (allocation->parameter >= 0) put_int(json, "parameter", allocation->parameter);
    const struct {
        const char *key;
        int is_set;
    } flags[] = {{"output", allocation->is_output},
                 {"constant", allocation->is_constant},
                 {"tuple", allocation->is_tuple},
                 {"thread_local", allocation->is_thread_local}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!flags[i].is_set) continue;
        ids_json_key(json, flags[i].key);
        ids_json_bool(json, 1);
    }
    ids_json_end(json);
}

static void put_buffers(struct ids_json *json, const struct ids_hlo_buffers *buffers) {
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers->buffer_count; i++) ids_sum(&bytes, buffers->buffers[i].size);
    put_int(json, "buffers", (int64_t)buffers->buffer_count);
    put_int(json, "buffer_bytes", bytes);
    put_int(json, "allocated_bytes", ids_hlo_allocated_bytes(buffers));
    ids_json_key(json, "allocations");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < buffers->allocation_count; i++) put_allocation(json, &buffers->allocations[i]);
    ids_json_end(json);
    ids_json_key(json, "heaps");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < buffers->heap_count; i++) {
        const struct ids_hlo_heap *heap = &buffers->heaps[i];
        ids_json_object(json, IDS_JSON_INLINE);
        if (heap->allocation != UINT32_MAX) put_int(json, "allocation", buffers->allocations[heap->allocation].index);
        put_int(json, "peak_bytes", heap->peak_bytes);
        put_text(json, "peak_at", heap->peak);
        put_int(json, "events", (int64_t)heap->event_count);
        ids_json_end(json);
    }
    ids_json_end(json);
}

/* ---- programs ---- */

static void put_program(struct printing *printing) {
    const struct ids_hlo_module *module = printing->module;
    struct ids_hlo_cost cost = ids_hlo_cost_of_program(&printing->costs);
    ids_json_object(&printing->json, IDS_JSON_BROKEN);
    put_text(&printing->json, "module", module->name);
    if (module->entry != IDS_HLO_NONE) put_text(&printing->json, "entry", module->computations[module->entry].name);
    put_cost(&printing->json, &cost);
    put_computations(printing);
    if (module->buffers) put_buffers(&printing->json, module->buffers);
    ids_json_end(&printing->json);
}

static int print_program(struct ids_program_files *files, const char *name, const void *bytes, size_t length,
                         struct ids_error *err) {
    struct printing *printing = (struct printing *)files;
    struct ids_hlo_module module;
    int code = ids_hlo_module_read(bytes, length, IDS_HLO_ALL, &module, err);
    if (code) return ids_error_at(err, "'%s'", name);
    printing->module = &module;
    code = ids_hlo_costs_make(&module, &printing->costs, err);
    if (!code) put_program(printing);
    ids_hlo_costs_done(&printing->costs);
    ids_hlo_module_done(&module);
    return code;
}

int ids_dump_hlo(const char *path, FILE *out, struct ids_error *err) {
    struct printing printing = {.files.take = print_program, .json = ids_json_to(out)};
    struct ids_export *programs;
    const char *format;
    int code = ids_programs_new(&printing.files, NULL, 0, &programs, err);
    if (code) return code;
    ids_json_array(&printing.json, IDS_JSON_BROKEN);
    code = ids_read_file(path, &programs->sink, &format, err);
    ids_json_end(&printing.json);
    ids_export_free(programs);
    return code;
}
