/* dimensions.h - devices, modules, ops and kernel shapes: each made when it is first met, found by its key after
 * that. */
#ifndef IDS_LIB_MODEL_DIMENSIONS_H
#define IDS_LIB_MODEL_DIMENSIONS_H

#include "lib/base/idmap.h"
#include "lib/base/keymap.h"
#include "lib/model/asked.h"
#include "lib/model/facts.h"
#include "lib/model/trace.h"

/* A run of 2,000 hosts with 8 devices each is below it; a damaged file is not. */
enum { IDS_DEVICE_LIMIT = 16384, IDS_DEVICE_KEY_ROOM = 512, IDS_MET_OPS = 256 };

/* What finds a kernel's shape again: numbers, and a text. */
struct ids_shape_key {
    uint64_t plain;
    uint32_t text;      /* of kernel_details, or the ranks that take part */
    uint8_t of_details; /* it is a key of `shapes`, else of `launches` */
};

struct ids_dimensions {
    struct ids_trace *trace;
    uint32_t host;                    /* the one that is being read: ids of programs and ordinals are its own */
    struct ids_keymap ops;            /* (program, module name, op name) -> op */
    struct ids_keymap modules;        /* (program, module name) -> module + 1 */
    struct ids_keymap shapes;         /* text of kernel_details, and kind of device -> shape */
    struct ids_keymap cpu_devices;    /* (host, ordinal) -> device */
    struct ids_keymap annotated;      /* TensorFlow's (path, type) -> op + 1 */
    struct ids_keymap launches;       /* what Kineto says of a launch -> shape + 1 */
    struct ids_shape_key *shape_keys; /* of each of trace->shapes */
    size_t shape_key_room;
    struct ids_met_op { /* ops that events named last, by the low bits of the name's text */
        uint64_t program_id;
        uint32_t module, name, host, op; /* name 0: none */
    } met_ops[IDS_MET_OPS];
    struct {
        int64_t ordinal;
        uint32_t host, device;
        uint8_t is_set;
    } met_device;            /* the CPU device that was asked for last */
    struct ids_asked *asked; /* of a part of a run: what it met first; else NULL */
};

void ids_dimensions_done(struct ids_dimensions *dimensions);

/* Adds an op of a module (an index) of which nothing but its name (a text) is known. */
int ids_op_new(struct ids_trace *trace, uint32_t name, uint32_t module, uint32_t *ret_op, struct ids_error *err);
/* The op that an event's hlo_op, hlo_module and program_id name; IDS_NONE when it names none. */
int ids_op_of(struct ids_dimensions *dimensions, const struct ids_facts *facts, uint32_t *ret_op,
              struct ids_error *err);
/* The op of TensorFlow in an event's annotation, "scope/name:Type#shape=...#", or in the name of an event of a line
 * "TensorFlow Ops". Of several ops it is the innermost, after the last "::". IDS_NONE when there is none. */
int ids_op_of_annotation(struct ids_dimensions *dimensions, struct ids_text annotation, uint32_t *ret_op,
                         struct ids_error *err);
/* Adds an op of the framework; texts. 0, or -1 when memory ran out. */
int ids_framework_op(struct ids_trace *trace, uint32_t name, uint32_t category, uint32_t path, uint32_t source,
                     uint32_t *ret_op);
/* The op that a TPU event's name represents; its stats are the stats of the name. IDS_NONE when it is not an op. */
int ids_op_of_name(struct ids_dimensions *dimensions, const struct ids_name_info *info, uint32_t *ret_op,
                   struct ids_error *err);
/* The same if each event has the stats of its name (a Chrome trace): `name` is the event's. */
int ids_op_of_event(struct ids_dimensions *dimensions, const struct ids_facts *facts, const struct ids_slice *slice,
                    uint32_t name, uint32_t *ret_op, struct ids_error *err);
uint64_t ids_module_key(const struct ids_module *module);
/* The module that an event of an "XLA Modules" line, called "jit_f(123)", is an execution of. */
int ids_module_named(struct ids_trace *trace, struct ids_keymap *named, uint32_t host, uint32_t event_name,
                     uint32_t *ret_module, struct ids_error *err);
/* The modules that ids_module_named looks among. 0, or -1 when memory ran out. */
int ids_modules_list(const struct ids_trace *trace, struct ids_keymap *ret_named);
/* The launch shape in an event's kernel_details, or in Kineto's args, on a device of that index (IDS_NONE unknown);
 * IDS_NONE when it has none. */
int ids_shape_of(struct ids_dimensions *dimensions, const struct ids_facts *facts, uint32_t device, uint32_t *ret_shape,
                 struct ids_error *err);
/* The shape of that key, `shape` where it was not met before. */
int ids_shape_of_key(struct ids_dimensions *dimensions, const struct ids_shape_key *key, const struct ids_shape *shape,
                     uint32_t *ret_shape, struct ids_error *err);
/* The shape of that text on a device of that kind, `shape` where it was not met before. */
int ids_shape_known(struct ids_dimensions *dimensions, uint32_t details, uint64_t device_kind,
                    const struct ids_shape *shape, uint32_t *ret_shape, struct ids_error *err);
/* Adds a device of the plane; `ordinal_in_key` for devices that share a plane. */
int ids_device_add(struct ids_dimensions *dimensions, const struct ids_device *device, const char *plane,
                   int ordinal_in_key, uint32_t *ret_device, struct ids_error *err);
/* The device of the CPU client with that ordinal on the host that is being read. */
int ids_cpu_device(struct ids_dimensions *dimensions, const char *plane, int64_t ordinal, uint32_t *ret_device,
                   struct ids_error *err);

#endif
