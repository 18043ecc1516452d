#include "lib/model/event_of_slice.h"

#include "lib/base/vec.h"
#include "lib/model/calls.h"
#include "lib/model/classify.h"
#include "lib/model/keys.h"

#include <string.h>

static struct ids_text text_of(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_text(&trace->strings, text);
}

/* Kineto: the name says from where to where, "Memcpy HtoD (Pinned -> Device)". */
static void kineto_copy(const struct ids_facts *facts, struct ids_text name, struct ids_event *event) {
    event->value = facts->size;
    if (ids_text_contains(name, "Pinned"))
        event->pinned = 1;
    else if (ids_text_contains(name, "Pageable"))
        event->pinned = 0;
}

/* The message of a collective (collective.h), as Kineto's NCCL metadata say; -1 unknown. */
static int64_t collective_bytes(const struct ids_trace *trace, const struct ids_facts *facts) {
    int64_t element_bytes = facts->dtype ? ids_dtype_bytes(ids_arg_chars(trace, facts->dtype)) : -1, bytes;
    int64_t elements =
        facts->message_elements > facts->result_elements ? facts->message_elements : facts->result_elements;
    if (element_bytes < 0 || elements < 0 || __builtin_mul_overflow(element_bytes, elements, &bytes)) return -1;
    return bytes;
}

/* Kineto names the call in the kernel's args. That says more than the kernel's name, which several collectives may
 * share. */
static void kernel_class(const struct ids_trace *trace, const struct ids_facts *facts, struct ids_event *event) {
    enum ids_collective told = facts->collective_name
                                   ? ids_collective_of_call(ids_arg_chars(trace, facts->collective_name))
                                   : IDS_NO_COLLECTIVE;
    event->collective = told ? (uint8_t)told : trace->names[event->name].collective;
    event->class = event->collective ? IDS_CLASS_COLLECTIVE : IDS_CLASS_COMPUTE;
    event->class_rule = told ? IDS_RULE_ARGS : event->collective ? IDS_RULE_KERNEL_NAME : IDS_RULE_DEFAULT;
    if (event->collective) event->value = collective_bytes(trace, facts);
}

/* The name of an event on a stream may not say that it is a copy or a set; its category or its direction does. */
static void told_kind(const struct ids_trace *trace, const struct ids_facts *facts, struct ids_text name,
                      struct ids_event *event) {
    enum ids_direction told =
        facts->direction ? ids_direction_in(ids_arg_chars(trace, facts->direction)) : IDS_NO_DIRECTION;
    if (facts->is_set) {
        event->kind = IDS_KIND_SET;
        event->direction = IDS_MEMSET;
    } else if (facts->is_copy || told != IDS_NO_DIRECTION) {
        event->kind = IDS_KIND_COPY;
        event->direction = told != IDS_NO_DIRECTION ? (uint8_t)told : (uint8_t)ids_direction_in(name);
    }
}

/* In xplane.pb the name of a TPU op has the stats; in a Chrome trace each event has them. */
static int op_of_slice(struct ids_dimensions *dimensions, const struct ids_facts *facts, const struct ids_slice *slice,
                       struct ids_event *event, struct ids_error *err) {
    if (event->op != IDS_NONE) return 0;
    uint32_t name = dimensions->trace->names[event->name].text;
    return ids_op_of_event(dimensions, facts, slice, name, &event->op, err);
}

static int stream_event(struct ids_dimensions *dimensions, const struct ids_facts *facts, struct ids_text name,
                        struct ids_event *event, struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    event->in_graph = facts->in_graph;
    event->produces = ids_calls_external(dimensions->host, facts);
    int code = ids_op_of(dimensions, facts, &event->op, err);
    if (!code && event->op == IDS_NONE && facts->annotation)
        code = ids_op_of_annotation(dimensions, ids_arg_chars(trace, facts->annotation), &event->op, err);
    if (code) return code;
    event->kind = trace->names[event->name].stream_kind;
    event->direction = trace->names[event->name].direction;
    if (event->kind == IDS_KIND_KERNEL) told_kind(trace, facts, name, event);
    if (event->kind == IDS_KIND_WAIT_OP) {
        event->class = IDS_CLASS_STALL;
        return 0;
    }
    if (event->kind == IDS_KIND_KERNEL) {
        kernel_class(trace, facts, event);
        return ids_shape_of(dimensions, facts, event->device, &event->shape, err);
    }
    event->class = IDS_CLASS_COPY;
    event->value = -1;
    event->asynchronous = event->pinned = 2;
    if (facts->copy_details)
        ids_copy_details(ids_arg_chars(trace, facts->copy_details), event);
    else if (facts->has_size)
        kineto_copy(facts, name, event);
    return 0;
}

static int async_event(struct ids_dimensions *dimensions, const struct ids_slice *slice, const struct ids_facts *facts,
                       struct ids_event *event, struct ids_error *err) {
    const struct ids_trace *trace = dimensions->trace;
    event->kind = IDS_KIND_COPY;
    event->class = IDS_CLASS_COPY;
    event->value = -1;
    event->asynchronous = 1;
    event->pinned = 2;
    int code = op_of_slice(dimensions, facts, slice, event, err);
    if (code || event->op == IDS_NONE) return code;
    event->direction = trace->ops[event->op].direction;
    event->value = trace->ops[event->op].copy_bytes;
    event->collective = trace->ops[event->op].collective;
    if (event->collective) event->class = IDS_CLASS_COLLECTIVE;
    return 0;
}

int ids_device_event(struct ids_dimensions *dimensions, const struct ids_track *track, const struct ids_slice *slice,
                     const struct ids_facts *facts, struct ids_event *event, struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    struct ids_text name = text_of(trace, trace->names[event->name].text);
    event->device = track->device;
    event->op = trace->names[event->name].op;
    event->consumes = ids_link_correlation(&facts->links, dimensions->host);
    if (!event->consumes) event->consumes = ids_link_taken(&facts->links, dimensions->host);
    event->run_id = ids_link_run(&facts->links, dimensions->host);
    int code;
    switch (track->role) {
    case IDS_TRACK_STREAM:
        return stream_event(dimensions, facts, name, event, err);
    case IDS_TRACK_OPS:
        event->kind = IDS_KIND_OP;
        code = op_of_slice(dimensions, facts, slice, event, err);
        if (code || event->op == IDS_NONE) return code;
        event->class = trace->ops[event->op].class;
        event->collective = trace->ops[event->op].collective;
        event->class_rule = trace->ops[event->op].class_rule;
        return 0;
    case IDS_TRACK_ASYNC:
        return async_event(dimensions, slice, facts, event, err);
    case IDS_TRACK_MODULES:
        event->kind = IDS_KIND_MODULE;
        return 0;
    case IDS_TRACK_WAITS:
        event->kind = IDS_KIND_WAIT_OP;
        event->class = IDS_CLASS_STALL;
        return 0;
    case IDS_TRACK_STEPS: {
        event->kind = IDS_KIND_STEP;
        struct ids_arg number = {.type = IDS_VALUE_TEXT, .text = trace->names[event->name].text};
        event->value = ids_arg_int(trace, facts->step_name ? facts->step_name : &number, -1);
        return 0;
    }
    default: /* derived: counted only */
        return 0;
    }
}

/* Steps that bear their number in their name are events of many names; their records get the name without it. */
static int step_name(struct ids_dimensions *dimensions, struct ids_host_plane *plane, size_t length,
                     struct ids_event *event, struct ids_error *err) {
    struct ids_trace *trace = dimensions->trace;
    if (plane->step_name == IDS_NONE) {
        int code = ids_asked_in_order(dimensions->asked, err);
        if (code) return code;
        uint32_t text = ids_intern(&trace->strings, text_of(trace, trace->names[event->name].text).at, length);
        struct ids_name *added = IDS_PUSH(trace->names, trace->name_count, trace->name_room);
        if (text == IDS_NO_TEXT || !added) return ids_no_memory(err);
        *added = (struct ids_name){.text = text, .plane = plane->plane, .op = IDS_NONE, .kind = IDS_KIND_STEP_MARK};
        plane->step_name = (uint32_t)(trace->name_count - 1);
    }
    event->name = plane->step_name;
    return 0;
}

/* What an event tells of its name holds for the events that are read behind it. */
static int learn(const struct ids_dimensions *dimensions, uint8_t *known, uint8_t told, struct ids_error *err) {
    if (*known == told) return 0;
    int code = ids_asked_in_order(dimensions->asked, err);
    if (!code) *known = told;
    return code;
}

static int learn_of_framework(const struct ids_dimensions *dimensions, const struct ids_facts *facts,
                              struct ids_text name, struct ids_event *event, struct ids_error *err) {
    struct ids_name *known = &dimensions->trace->names[event->name];
    int code = facts->is_block ? learn(dimensions, &known->is_block, 1, err) : 0;
    if (!code && facts->is_wrapped) code = learn(dimensions, &known->is_wrapped, 1, err);
    if (code || !facts->has_category || facts->is_annotation || facts->is_python) return code;
    code = learn(dimensions, &known->of_framework, 1, err);
    if (code || event->kind != IDS_KIND_INPUT || ids_is_reader(name)) return code;
    event->kind = IDS_KIND_OTHER; /* an op's words say nothing */
    return learn(dimensions, &known->kind, IDS_KIND_OTHER, err);
}

/* Loaders that mark their stages for profilers (grain) say what each does; only "prefetch" waits for other threads. */
static int stage_event(const struct ids_dimensions *dimensions, const struct ids_facts *facts, struct ids_event *event,
                       struct ids_error *err) {
    struct ids_name *known = &dimensions->trace->names[event->name];
    int hands_over = ids_text_is(text_of(dimensions->trace, facts->stage), "prefetch");
    event->kind = IDS_KIND_INPUT;
    int code = learn(dimensions, &known->kind, event->kind, err);
    return code ? code : learn(dimensions, &known->hands_over, (uint8_t)hands_over, err);
}

int ids_host_event(struct ids_dimensions *dimensions, struct ids_host_plane *plane, const struct ids_facts *facts,
                   struct ids_event *event, struct ids_error *err) {
    const struct ids_link_ids *links = &facts->links;
    const uint64_t correlation = ids_link_correlation(links, dimensions->host);
    event->produces = correlation ? correlation : ids_link_given(links, dimensions->host);
    event->run_id = ids_link_run(links, dimensions->host);
    if (facts->hlo_op && !correlation) { /* the CPU client runs ops on host threads */
        event->kind = IDS_KIND_OP;
        int code = ids_cpu_device(dimensions, ids_trace_text(dimensions->trace, plane->name), facts->device_ordinal,
                                  &event->device, err);
        return code ? code : ids_op_of(dimensions, facts, &event->op, err);
    }
    if (event->kind == IDS_KIND_CALL && !facts->is_op) event->kind = IDS_KIND_OTHER; /* of the same name */
    if (correlation && event->kind == IDS_KIND_OTHER) event->kind = IDS_KIND_LAUNCH;
    event->consumes = ids_link_taken(links, dimensions->host);
    if (facts->has_step_num) {
        event->kind = IDS_KIND_STEP_MARK;
        event->value = facts->step_num;
        return 0;
    }
    struct ids_text name = text_of(dimensions->trace, dimensions->trace->names[event->name].text);
    if (event->kind == IDS_KIND_STEP_MARK) { /* PyTorch: the number is part of the name */
        const char *number = memchr(name.at, '#', name.length);
        int code = number ? step_name(dimensions, plane, (size_t)(number - name.at), event, err) : 0;
        if (code) return code;
        struct ids_arg text = {.type = IDS_VALUE_CHARS,
                               .chars = number ? number + 1 : "",
                               .length = number ? (uint32_t)(name.at + name.length - number - 1) : 0};
        event->value = ids_arg_int(dimensions->trace, &text, -1);
        return 0;
    }
    /* The region that was asked for is one that the program named, also where nothing marks regions: the profile that
     * idsprof.capture() opens itself, without the hooks of a capture. */
    const int is_annotation = facts->is_annotation || facts->is_block;
    event->annotation = is_annotation != 0;
    struct ids_name *known = &dimensions->trace->names[event->name];
    int code = learn_of_framework(dimensions, facts, name, event, err);
    if (code) return code;
    if (facts->stage) return stage_event(dimensions, facts, event, err);
    if (event->kind == IDS_KIND_LAUNCH && facts->has_device_ordinal) event->value = facts->device_ordinal + 1;
    if (event->kind == IDS_KIND_TRANSFER) {
        event->direction = ids_text_begins(name, "tpu::System::TransferTo") ? IDS_H2D : IDS_D2H;
        event->value = facts->has_size ? facts->size : -1;
    }
    if (event->kind == IDS_KIND_OTHER && facts->is_op) {
        event->kind = IDS_KIND_CALL;
        code = learn(dimensions, &known->kind, event->kind, err);
        if (code) return code;
    }
    if (event->kind == IDS_KIND_OTHER && (event->produces || event->consumes)) event->kind = IDS_KIND_FLOW;
    /* A StepTraceAnnotation without step_num says no more than that it is a root. */
    if (event->kind == IDS_KIND_OTHER && facts->is_root && dimensions->trace->names[event->name].is_region)
        event->kind = IDS_KIND_NAMED;
    if (event->kind == IDS_KIND_OTHER && is_annotation)
        event->kind = (uint8_t)ids_kind_of_annotation(name.at, name.length);
    if (event->kind == IDS_KIND_OTHER && facts->is_python) {
        event->kind = (uint8_t)ids_kind_of_python_frame(name);
        return learn(dimensions, &known->kind, event->kind, err);
    }
    return 0;
}
