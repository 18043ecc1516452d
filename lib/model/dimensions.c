#include "lib/model/dimensions.h"

#include "lib/base/vec.h"
#include "lib/hlo/cost.h"
#include "lib/hlo/op_text.h"
#include "lib/hlo/replica_groups.h"
#include "lib/hlo/text_cost.h"
#include "lib/model/classify.h"
#include "lib/model/hardware.h"
#include "lib/model/host_copies.h"
#include "lib/model/keys.h"
#include "lib/model/memory_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ids_text text_of(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_text(&trace->strings, text);
}

static int is_copy_start(struct ids_text category) {
    static const char word[] = "copy-start";
    return category.length >= sizeof word - 1 && !memcmp(category.at, word, sizeof word - 1);
}

void ids_dimensions_done(struct ids_dimensions *dimensions) {
    ids_keymap_done(&dimensions->ops);
    ids_keymap_done(&dimensions->modules);
    ids_keymap_done(&dimensions->cpu_devices);
    ids_keymap_done(&dimensions->launches);
    ids_keymap_done(&dimensions->annotated);
    ids_keymap_done(&dimensions->shapes);
    free(dimensions->shape_keys);
}

/* A program id is a name's number within its host; without one the name has to do. */
uint64_t ids_module_key(const struct ids_module *module) {
    return module->program_id ? ids_key_of(module->program_id, ids_key_of(1, module->host))
                              : ids_key_of(module->name, 2);
}

static int module_of(struct ids_dimensions *dimensions, uint64_t program_id, uint32_t name, uint32_t *ret_module,
                     struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    const struct ids_module like = {.name = name, .host = dimensions->host, .program_id = program_id};
    uint64_t *place = ids_keymap_at(&dimensions->modules, ids_module_key(&like));
    if (!place) return ids_no_memory(err);
    if (*place) {
        *ret_module = (uint32_t)(*place - 1);
        if (!trace->modules[*ret_module].name) trace->modules[*ret_module].name = name;
        return 0;
    }
    *ret_module = (uint32_t)trace->module_count;
    struct ids_module *module = IDS_PUSH(trace->modules, trace->module_count, trace->module_room);
    if (!module) return ids_no_memory(err);
    *module = like;
    *place = trace->module_count;
    return 0;
}

int ids_op_new(struct ids_trace *trace, uint32_t name, uint32_t module, uint32_t *ret_op, struct ids_error *err) {
    *ret_op = (uint32_t)trace->op_count;
    struct ids_op *op = IDS_PUSH(trace->ops, trace->op_count, trace->op_room);
    if (!op) return ids_no_memory(err);
    *op = (struct ids_op){
        .name = name,
        .module = module,
        .flops = -1,
        .model_flops = -1,
        .matrix_flops = -1,
        .bytes_accessed = -1,
        .memory_bytes = -1,
        .told_bytes = -1,
        .copy_bytes = -1,
        .result_bytes = -1,
        .message_bytes = -1,
        .direction = IDS_NO_DIRECTION,
    };
    return 0;
}

static int find_op(struct ids_dimensions *dimensions, const struct ids_facts *facts, uint32_t *ret_op,
                   struct ids_error *err) {
    uint64_t key = ids_key_of(ids_key_of(facts->program_id, facts->hlo_module),
                              ids_key_of(facts->hlo_op, dimensions->host)),
             there;
    if (ids_keymap_get(&dimensions->ops, key, &there)) {
        *ret_op = (uint32_t)there;
        return 0;
    }
    uint32_t module = IDS_NONE;
    int code = 0;
    if (facts->program_id || facts->hlo_module)
        code = module_of(dimensions, facts->program_id, facts->hlo_module, &module, err);
    if (!code) code = ids_op_new(dimensions->trace, facts->hlo_op, module, ret_op, err);
    if (!code && ids_keymap_add(&dimensions->ops, key, *ret_op) < 0) return ids_no_memory(err);
    const struct ids_asked_one one = {.what = IDS_ASKED_OP,
                                      .op = {facts->program_id, facts->hlo_module, facts->hlo_op}};
    return code ? code : ids_asked_note(dimensions->asked, &one, err);
}

int ids_op_of(struct ids_dimensions *dimensions, const struct ids_facts *facts, uint32_t *ret_op,
              struct ids_error *err) {
    *ret_op = IDS_NONE;
    if (!facts->hlo_op) return 0;
    struct ids_met_op *met = &dimensions->met_ops[facts->hlo_op % IDS_MET_OPS];
    if (met->name != facts->hlo_op || met->module != facts->hlo_module || met->program_id != facts->program_id ||
        met->host != dimensions->host) {
        int code = find_op(dimensions, facts, ret_op, err);
        if (code) return code;
        *met = (struct ids_met_op){facts->program_id, facts->hlo_module, facts->hlo_op, dimensions->host, *ret_op};
    }
    *ret_op = met->op;
    return 0;
}

int ids_framework_op(struct ids_trace *trace, uint32_t name, uint32_t category, uint32_t path, uint32_t source,
                     uint32_t *ret_op) {
    struct ids_error unused;
    if (ids_op_new(trace, name, IDS_NONE, ret_op, &unused)) return -1;
    struct ids_op *op = &trace->ops[*ret_op];
    op->category = category;
    op->framework_name = path;
    op->source = source;
    op->framework = 1;
    return 0;
}

/* "A#x=1#::B#y=2#": the last part, up to its #. What stands between a pair of # may hold any text. */
static struct ids_text innermost(struct ids_text annotation) {
    const char *end = annotation.at + annotation.length, *from = annotation.at;
    for (const char *c = from; c < end; c++) {
        if (*c == '#') {
            const char *close = memchr(c + 1, '#', (size_t)(end - c - 1));
            if (!close) break;
            c = close;
        } else if (*c == ':' && end - c > 2 && c[1] == ':') {
            if (c[2] != '#') from = c + 2; /* else: it only says more of the one before */
            c++;
        }
    }
    const char *hash = from < end ? memchr(from, '#', (size_t)(end - from)) : NULL;
    return (struct ids_text){from, (uint32_t)((hash ? hash : end) - from)};
}

static int note_annotated(struct ids_dimensions *dimensions, struct ids_text annotation, struct ids_error *err) {
    if (!dimensions->asked) return 0;
    struct ids_asked_one one = {.what = IDS_ASKED_ANNOTATED, .annotated = annotation};
    one.annotated.at = ids_arena_copy(&dimensions->trace->arena, annotation.at, annotation.length);
    return one.annotated.at ? ids_asked_note(dimensions->asked, &one, err) : ids_no_memory(err);
}

int ids_op_of_annotation(struct ids_dimensions *dimensions, struct ids_text annotation, uint32_t *ret_op,
                         struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    struct ids_text text = innermost(annotation);
    const char *type = text.length ? memrchr(text.at, ':', text.length) : NULL, *end = text.at + text.length;
    *ret_op = IDS_NONE;
    if (!type || type == text.at || type + 1 == end || memchr(text.at, ' ', text.length)) return 0;
    size_t length = (size_t)(type - text.at);
    const char *slash = memrchr(text.at, '/', length), *own = slash ? slash + 1 : text.at;
    uint32_t path = ids_intern(&trace->strings, text.at, length);
    uint32_t name = ids_intern(&trace->strings, own, (size_t)(type - own));
    uint32_t category = ids_intern(&trace->strings, type + 1, (size_t)(end - type - 1));
    if (path == IDS_NO_TEXT || name == IDS_NO_TEXT || category == IDS_NO_TEXT) return ids_no_memory(err);
    uint64_t *place = ids_keymap_at(&dimensions->annotated, ids_key_of(path, category));
    if (!place) return ids_no_memory(err);
    if (!*place) {
        if (ids_framework_op(trace, name, category, path, 0, ret_op)) return ids_no_memory(err);
        *place = (uint64_t)*ret_op + 1;
        return note_annotated(dimensions, annotation, err);
    }
    *ret_op = (uint32_t)(*place - 1);
    return 0;
}

static double share_of(double value) {
    return value > 0 && value <= 1 ? value : -1;
}

/* Kineto writes whole percents, so 0 for a grid that fills little of the device; and 0 where its calculator gives up
 * (CUTLASS's kernels, with more shared memory than a launch has without asking). Where it is 0, what Kineto computes is
 * computed here: it divides the grid among the multiprocessors, and by what fits there. */
static double achieved_of(double value, const struct ids_shape *shape) {
    double fills = shape->waves < 1 ? shape->waves : 1;
    if (value > 0 || value < 0) return share_of(value);
    return shape->occupancy > 0 && shape->waves > 0 ? shape->occupancy * fills : -1;
}

/* "[8,1,1]" */
static uint64_t triple_of(struct ids_trace *trace, const struct ids_arg *arg, int64_t ret_values[3]) {
    if (!arg) return 0;
    struct ids_text text = ids_arg_chars(trace, arg);
    ids_launch_triple(text, ret_values);
    return ids_key_of(ids_key_of((uint64_t)ret_values[0], (uint64_t)ret_values[1]), (uint64_t)ret_values[2]);
}

/* What a shape may depend on of its device: shapes are shared by devices of a kind. */
static const struct ids_device *device_at(const struct ids_trace *trace, uint32_t device, uint64_t *ret_kind) {
    const struct ids_device *found = device == IDS_NONE ? NULL : &trace->devices[device];
    *ret_kind = found ? found->shape_kind : 0;
    return found;
}

/* Kineto gives a kernel's launch as args of their own. */
static int shape_of_args(struct ids_dimensions *dimensions, const struct ids_facts *facts, uint32_t on,
                         uint32_t *ret_shape, struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    struct ids_shape shape = {.registers = facts->registers,
                              .static_shared_bytes = facts->shared_memory,
                              .dynamic_shared_bytes = -1,
                              .grid = {-1, -1, -1},
                              .block = {-1, -1, -1},
                              .occupancy = share_of(facts->occupancy),
                              .achieved = share_of(facts->achieved)};
    if (facts->group_ranks) shape.groups = ids_arg_text(trace, facts->group_ranks);
    if (shape.groups == IDS_NO_TEXT) return ids_no_memory(err);
    shape.group_size = facts->group_size > 0 ? facts->group_size : ids_replica_group_size(text_of(trace, shape.groups));
    if (!facts->grid && !facts->block && facts->registers < 0 && !shape.groups && !shape.group_size &&
        shape.occupancy < 0 && shape.achieved < 0)
        return 0;
    uint64_t kind;
    const struct ids_device *device = device_at(trace, on, &kind);
    uint64_t key = ids_key_of(triple_of(trace, facts->grid, shape.grid), triple_of(trace, facts->block, shape.block));
    key = ids_key_of(ids_key_of(key, (uint64_t)facts->registers), (uint64_t)facts->shared_memory);
    key = ids_key_of(key, (uint64_t)(int64_t)(shape.occupancy * 1e6));
    key = ids_key_of(key, (uint64_t)(int64_t)(facts->achieved * 1e6));
    const struct ids_shape_key all = {ids_key_of(ids_key_of(key, (uint64_t)shape.group_size), kind), shape.groups, 0};
    uint64_t known;
    if (ids_keymap_get(&dimensions->launches, ids_key_of(all.plain, all.text), &known)) {
        *ret_shape = (uint32_t)(known - 1);
        return 0;
    }
    int code = ids_asked_in_order(dimensions->asked, err);
    if (code) return code;
    ids_hardware_fill(device, &shape);
    shape.achieved = achieved_of(facts->achieved, &shape);
    return ids_shape_of_key(dimensions, &all, &shape, ret_shape, err);
}

/* An XSpace that idsprof made of a Kineto trace has both; the args say more (the groups of a collective). */
static int has_launch_args(const struct ids_facts *facts) {
    return facts->grid || facts->block || facts->registers >= 0 || facts->group_ranks || facts->group_size > 0;
}

int ids_shape_of(struct ids_dimensions *dimensions, const struct ids_facts *facts, uint32_t on, uint32_t *ret_shape,
                 struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    *ret_shape = IDS_NONE;
    if (!facts->kernel_details || has_launch_args(facts)) return shape_of_args(dimensions, facts, on, ret_shape, err);
    uint32_t text = ids_arg_text(trace, facts->kernel_details);
    if (text == IDS_NO_TEXT) return ids_no_memory(err);
    uint64_t kind;
    const struct ids_device *device = device_at(trace, on, &kind);
    uint64_t known;
    if (ids_keymap_get(&dimensions->shapes, ids_key_of(text, kind), &known)) {
        *ret_shape = (uint32_t)(known - 1);
        return 0;
    }
    struct ids_shape shape;
    ids_kernel_details(text_of(trace, text), &shape);
    if (shape.occupancy < 0) shape.occupancy = share_of(facts->occupancy);
    ids_hardware_fill(device, &shape);
    shape.achieved = achieved_of(facts->achieved, &shape);
    int code = ids_shape_known(dimensions, text, kind, &shape, ret_shape, err);
    const struct ids_asked_one one = {.what = IDS_ASKED_SHAPE, .shape = {kind, text, *ret_shape}};
    return code ? code : ids_asked_note(dimensions->asked, &one, err);
}

int ids_shape_of_key(struct ids_dimensions *dimensions, const struct ids_shape_key *key, const struct ids_shape *shape,
                     uint32_t *ret_shape, struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    uint64_t *place = key->of_details ? ids_keymap_at(&dimensions->shapes, ids_key_of(key->text, key->plain))
                                      : ids_keymap_at(&dimensions->launches, ids_key_of(key->plain, key->text));
    if (!place) return ids_no_memory(err);
    if (!*place) {
        size_t keys = trace->shape_count;
        struct ids_shape_key *added_key = IDS_PUSH(dimensions->shape_keys, keys, dimensions->shape_key_room);
        struct ids_shape *added = added_key ? IDS_PUSH(trace->shapes, trace->shape_count, trace->shape_room) : NULL;
        if (!added) return ids_no_memory(err);
        *added_key = *key;
        *added = *shape;
        *place = trace->shape_count;
    }
    *ret_shape = (uint32_t)(*place - 1);
    return 0;
}

int ids_shape_known(struct ids_dimensions *dimensions, uint32_t details, uint64_t device_kind,
                    const struct ids_shape *shape, uint32_t *ret_shape, struct ids_error *err) {
    const struct ids_shape_key key = {device_kind, details, 1};
    return ids_shape_of_key(dimensions, &key, shape, ret_shape, err);
}

int ids_device_add(struct ids_dimensions *dimensions, const struct ids_device *device, const char *plane,
                   int ordinal_in_key, uint32_t *ret_device, struct ids_error *err) {
    static const char *const kinds[] = {"GPU", "TPU", "CPU", "CUSTOM"};
    struct ids_trace *trace = dimensions->trace;
    char key[IDS_DEVICE_KEY_ROOM], label[32];
    const char *host = ids_trace_text(trace, trace->hosts[device->host].name);
    if (ordinal_in_key)
        snprintf(key, sizeof key, "%.200s:%.200s#%lld", host, plane, (long long)device->ordinal);
    else
        snprintf(key, sizeof key, "%.200s:%.200s", host, plane);
    if (device->kind == IDS_DEVICE_CUSTOM && device->ordinal >= 0 && strlen(plane) < sizeof label)
        snprintf(label, sizeof label, "%s", plane + sizeof "/device:" - 1); /* "MTIA:17" */
    else
        snprintf(label, sizeof label, "%s%c%lld", kinds[device->kind], ordinal_in_key ? '#' : ':',
                 (long long)device->ordinal);
    if (trace->device_count >= IDS_DEVICE_LIMIT)
        return ids_fail(err, IDS_LIMIT, "more than %d devices", IDS_DEVICE_LIMIT);
    *ret_device = (uint32_t)trace->device_count;
    struct ids_device *added = IDS_PUSH(trace->devices, trace->device_count, trace->device_room);
    if (!added) return ids_no_memory(err);
    *added = *device;
    added->key = ids_arena_copy(&trace->arena, key, strlen(key));
    added->label = ids_arena_copy(&trace->arena, label, strlen(label));
    return added->key && added->label ? 0 : ids_no_memory(err);
}

int ids_cpu_device(struct ids_dimensions *dimensions, const char *plane, int64_t ordinal, uint32_t *ret_device,
                   struct ids_error *err) {
    if (dimensions->met_device.is_set && dimensions->met_device.ordinal == ordinal &&
        dimensions->met_device.host == dimensions->host) {
        *ret_device = dimensions->met_device.device;
        return 0;
    }
    uint64_t key = ids_key_of(dimensions->host, (uint64_t)ordinal), there;
    if (ids_keymap_get(&dimensions->cpu_devices, key, &there)) {
        *ret_device = (uint32_t)there;
        dimensions->met_device.ordinal = ordinal;
        dimensions->met_device.host = dimensions->host;
        dimensions->met_device.device = *ret_device;
        dimensions->met_device.is_set = 1;
        return 0;
    }
    struct ids_device device = {.kind = IDS_DEVICE_CPU, .host = dimensions->host, .ordinal = ordinal};
    int code = ids_device_add(dimensions, &device, plane, 1, ret_device, err);
    if (!code && ids_keymap_add(&dimensions->cpu_devices, key, *ret_device) < 0) return ids_no_memory(err);
    const struct ids_asked_one one = {.what = IDS_ASKED_DEVICE, .device = {plane, ordinal}};
    return code ? code : ids_asked_note(dimensions->asked, &one, err);
}

static int read_op_stat(struct ids_trace *trace, const struct ids_arg *arg, struct ids_op *fields, uint64_t *program_id,
                        uint32_t *shape) {
    uint32_t text = ids_arg_text(trace, arg);
    if (text == IDS_NO_TEXT) return -1;
    switch (arg->key) {
    case IDS_KEY_HLO_CATEGORY:
        fields->category = text;
        break;
    case IDS_KEY_PROGRAM_ID:
        *program_id = (uint64_t)ids_arg_int(trace, arg, 0);
        break;
    case IDS_KEY_FLOPS:
        fields->flops = ids_arg_int(trace, arg, -1);
        break;
    case IDS_KEY_MODEL_FLOPS:
        fields->model_flops = ids_arg_int(trace, arg, -1);
        break;
    case IDS_KEY_BYTES_ACCESSED:
        fields->bytes_accessed = ids_arg_int(trace, arg, -1);
        break;
    case IDS_KEY_MEMORY_ACCESS:
        if (arg->type == IDS_VALUE_BYTES) fields->told_bytes = ids_main_memory_access(arg->chars, arg->length);
        break;
    case IDS_KEY_TF_OP:
        fields->framework_name = text;
        break;
    case IDS_KEY_SOURCE:
        fields->source = text;
        break;
    case IDS_KEY_DEDUPLICATED_NAME:
        fields->deduplicated_name = text;
        break;
    case IDS_KEY_SHAPE_WITH_LAYOUT:
        *shape = text;
        break;
    default:
        break;
    }
    return 0;
}

/* A kernel of the user's, of which XLA knows nothing, and says 0. */
static int is_unknown_kernel(const struct ids_trace *trace, const struct ids_op *op) {
    return op->flops <= 0 && op->bytes_accessed <= 0 && ids_text_is(text_of(trace, op->category), "custom-call");
}

/* Its name says that it is a product of matrices: quantized_matmul_kernel. */
static int is_called_product(struct ids_text name) {
    return ids_text_contains(name, "matmul") || ids_text_contains(name, "gemm") || ids_text_contains(name, "dot");
}

/* What begins or ends something asynchronous, by its text: a copy's bytes are those of its start. */
static int64_t bytes_of_marker(struct ids_text category, struct ids_text text, const struct ids_hlo_text_cost *cost) {
    int is_copy = ids_text_is(category, "copy-start") ||
                  (ids_text_is(category, "async-start") && ids_text_contains(text, "slice"));
    if (is_copy && cost->copied_bytes > 0) return ids_hlo_cost_count(cost->copied_bytes, 0);
    return ids_text_is(category, "copy-done") ? 0 : -1;
}

/* Of the main memory: as the file says, else without what its text says of other memories. */
static int64_t memory_bytes_of(const struct ids_trace *trace, const struct ids_op *op, struct ids_text text,
                               const struct ids_hlo_text_cost *cost) {
    if (op->cost_source == IDS_COST_OF_FILE && op->told_bytes >= 0) return op->told_bytes;
    if (op->marker) return cost ? bytes_of_marker(text_of(trace, op->category), text, cost) : -1;
    if (!cost || cost->on_chip_bytes <= 0 || op->bytes_accessed <= 0) return op->bytes_accessed;
    int64_t on_chip = ids_hlo_cost_count(cost->on_chip_bytes, 0);
    return op->bytes_accessed > on_chip ? op->bytes_accessed - on_chip : 0;
}

/* Operations and bytes as the file has them, else by the shapes of what the text says is a product. */
static void read_op_cost(const struct ids_trace *trace, struct ids_text text, struct ids_op *op) {
    struct ids_hlo_text_cost cost;
    int is_told = ids_hlo_text_cost(text, &cost);
    if (op->flops < 0) op->flops = op->model_flops;
    if (is_unknown_kernel(trace, op)) {
        int is_product = is_told && cost.product_flops > 0 && is_called_product(text_of(trace, op->name));
        op->flops = ids_hlo_cost_count(cost.product_flops, !is_product);
        op->bytes_accessed = ids_hlo_cost_count(cost.main_bytes + cost.on_chip_bytes, !is_product);
        op->cost_source = is_product ? IDS_COST_OF_MODEL : IDS_COST_UNKNOWN;
        if (is_product) {
            op->element = cost.element;
            op->narrower = cost.narrower;
            op->model_flops = op->flops;
        }
    } else if (op->flops >= 0 || op->bytes_accessed >= 0) {
        op->cost_source = IDS_COST_OF_FILE;
        struct ids_text category = text_of(trace, op->category);
        if (is_told && (ids_text_contains(category, "convolution") || ids_text_contains(category, "dot")))
            op->element = cost.element;
    }
    op->memory_bytes = memory_bytes_of(trace, op, text, is_told ? &cost : NULL);
}

/* What the text of a TPU's op says: its name, shape and fingerprint, and whether it copies through host memory. */
static int read_op_text(struct ids_trace *trace, const struct ids_name_info *info, uint32_t shape,
                        struct ids_op *fields) {
    /* "%copy-done.4 = f32[...] copy-done(...)": the short name is between % and the space. */
    struct ids_text text = text_of(trace, info->text);
    fields->long_name = info->text;
    fields->name = info->display ? info->display : info->text;
    const char *space = text.length ? memchr(text.at, ' ', text.length) : NULL;
    if (!info->display && space && text.at[0] == '%')
        fields->name = ids_intern(&trace->strings, text.at + 1, (size_t)(space - text.at - 1));
    if (fields->name == IDS_NO_TEXT) return -1;
    char result[IDS_HLO_TEXT_SHAPE];
    fields->shape = ids_intern(&trace->strings, result, ids_hlo_text_shape(text, result));
    if (fields->shape == IDS_NO_TEXT) return -1;
    fields->fingerprint = ids_hlo_text_fingerprint(text);
    ids_op_classify(fields, text_of(trace, fields->category), IDS_RULE_CATEGORY);
    read_op_cost(trace, text, fields);
    if (is_copy_start(text_of(trace, fields->category))) {
        fields->direction =
            (uint8_t)ids_copy_start_direction(text_of(trace, shape ? shape : info->text), &fields->copy_bytes);
    } else if (!ids_text_ends(text_of(trace, fields->category), "-done")) {
        fields->direction = (uint8_t)ids_host_copy_of_text(text, &fields->copy_bytes);
    }
    return 0;
}

int ids_op_of_name(struct ids_dimensions *dimensions, const struct ids_name_info *info, uint32_t *ret_op,
                   struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    struct ids_op fields = {.flops = -1,
                            .model_flops = -1,
                            .matrix_flops = -1,
                            .bytes_accessed = -1,
                            .memory_bytes = -1,
                            .told_bytes = -1,
                            .copy_bytes = -1,
                            .result_bytes = -1,
                            .message_bytes = -1,
                            .direction = IDS_NO_DIRECTION};
    uint64_t program_id = 0;
    uint32_t shape = 0;
    *ret_op = IDS_NONE;
    for (size_t i = 0; i < info->arg_count; i++) {
        if (read_op_stat(trace, &info->args[i], &fields, &program_id, &shape)) return ids_no_memory(err);
    }
    if (!fields.category && !program_id) return 0;
    int code = 0;
    fields.module = IDS_NONE;
    if (program_id) code = module_of(dimensions, program_id, 0, &fields.module, err);
    if (code) return code;
    if (read_op_text(trace, info, shape, &fields)) return ids_no_memory(err);
    *ret_op = (uint32_t)trace->op_count;
    struct ids_op *op = IDS_PUSH(trace->ops, trace->op_count, trace->op_room);
    if (!op) return ids_no_memory(err);
    *op = fields;
    return 0;
}

int ids_op_of_event(struct ids_dimensions *dimensions, const struct ids_facts *facts, const struct ids_slice *slice,
                    uint32_t name, uint32_t *ret_op, struct ids_error *err) {
    *ret_op = IDS_NONE;
    if (!facts->hlo_category) return 0;
    uint64_t key = ids_key_of(ids_key_of(facts->long_name, facts->hlo_category), ids_key_of(name, dimensions->host)),
             there;
    if (ids_keymap_get(&dimensions->ops, key, &there)) {
        *ret_op = (uint32_t)there;
        return 0;
    }
    int code = ids_asked_in_order(dimensions->asked, err);
    if (code) return code;
    /* A name that is the op's whole text has its short one in it. */
    int is_short = facts->long_name && facts->long_name != name;
    struct ids_name_info info = {.text = facts->long_name ? facts->long_name : name,
                                 .display = is_short ? name : 0,
                                 .args = slice->args,
                                 .arg_count = slice->arg_count};
    code = ids_op_of_name(dimensions, &info, ret_op, err);
    if (!code && ids_keymap_add(&dimensions->ops, key, *ret_op) < 0) return ids_no_memory(err);
    return code;
}

static uint64_t module_key(uint32_t host, uint64_t program_id, uint32_t name) {
    return ids_key_of(ids_key_of(program_id, host), name);
}

int ids_modules_list(const struct ids_trace *trace, struct ids_keymap *ret_named) {
    for (size_t m = 0; m < trace->module_count; m++) {
        const struct ids_module *module = &trace->modules[m];
        if (ids_keymap_add(ret_named, module_key(module->host, module->program_id, module->name), m) < 0) return -1;
    }
    return 0;
}

int ids_module_named(struct ids_trace *trace, struct ids_keymap *named, uint32_t host, uint32_t event_name,
                     uint32_t *ret_module, struct ids_error *err) {
    struct ids_text text = text_of(trace, event_name);
    const char *open = text.length ? memchr(text.at, '(', text.length) : NULL;
    uint64_t id = 0, known;
    uint32_t name = event_name;
    if (open) {
        for (const char *c = open + 1; c < text.at + text.length && *c >= '0' && *c <= '9'; c++)
            id = id * 10 + (uint64_t)(*c - '0');
        name = ids_intern(&trace->strings, text.at, (size_t)(open - text.at));
        if (name == IDS_NO_TEXT) return ids_no_memory(err);
    }
    /* A number is that of the module of that name, or of the first one that has no name yet. */
    uint64_t found = UINT64_MAX;
    if (ids_keymap_get(named, module_key(host, id, name), &known)) found = known;
    if (id && ids_keymap_get(named, module_key(host, id, 0), &known) && !trace->modules[known].name && known < found)
        found = known;
    if (found == UINT64_MAX) {
        struct ids_module *module = IDS_PUSH(trace->modules, trace->module_count, trace->module_room);
        if (!module) return ids_no_memory(err);
        *module = (struct ids_module){.host = host, .program_id = id};
        found = trace->module_count - 1;
    }
    trace->modules[found].name = name;
    uint64_t *place = ids_keymap_at(named, module_key(host, id, name));
    if (!place) return ids_no_memory(err);
    *place = found;
    *ret_module = (uint32_t)found;
    return 0;
}
