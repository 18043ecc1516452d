/* facts.h - the stats of one event that the model understands, taken out of all that a file says of it. */
#ifndef IDS_LIB_MODEL_FACTS_H
#define IDS_LIB_MODEL_FACTS_H

#include "lib/model/link.h"
#include "lib/model/trace.h"

/* The stats of one event that the model understands. */
struct ids_facts {
    uint32_t hlo_op, hlo_module;
    uint64_t program_id;
    int64_t device_ordinal, size, step_num;
    struct ids_link_ids links;
    const struct ids_arg *kernel_details, *copy_details, *step_name;
    double occupancy, achieved; /* 0..1; negative unknown; achieved: as Kineto estimates it */
    uint32_t long_name,
        hlo_category; /* of a TPU op in a Chrome trace, where each event bears what xplane.pb says of its name */
    /* Kineto's words for the launch of a kernel; -1 unknown */
    int64_t registers, shared_memory, message_elements, result_elements, group_size;
    const struct ids_arg *grid, *block, *dtype, *group_ranks, *collective_name;
    int64_t python_id, python_parent, sequence, forward_thread;
    int64_t external;                         /* what device work has in common with the op that launched it; 0 none */
    const struct ids_arg *annotation, *arrow; /* arrow: the id of a flow's end */
    const struct ids_arg *input_dims, *input_types, *input_values; /* what an op of PyTorch was called with */
    int is_python;                                                 /* cat python_function */
    int is_op;                                                     /* cat cpu_op */
    int is_fwdbwd;       /* cat fwdbwd: an arrow from an op to what runs it backward */
    int is_copy, is_set; /* cat gpu_memcpy, Memset, ... */
    const struct ids_arg *direction;
    double time_scale; /* of a TPU op: time at the default clock ÷ time that it took */
    unsigned has_device_ordinal : 1, has_size : 1, has_step_num : 1, in_graph : 1, has_category : 1, has_python_id : 1,
        has_sequence : 1, has_time_scale : 1;
    int is_root;       /* _r: a step begins (TensorFlow, JAX's StepTraceAnnotation) */
    uint32_t stage;    /* what a stage of the input pipeline does, by a loader that says so; 0 it is none */
    int is_block;      /* the region that idsprof's window was opened for (--range, idsprof.capture) */
    int is_wrapped;    /* the region of a call, which --wrap made */
    int is_annotation; /* a region that the program named: Kineto's cat user_annotation, the Python hook's stat */
};

/* Fills *ret_facts from the event's stats. 0, or -1 when memory ran out. */
int ids_facts_gather(struct ids_trace *trace, const struct ids_slice *slice, struct ids_facts *ret_facts);

/* Values of a stat. A text as an interned id (IDS_NO_TEXT when memory ran out); numbers, also where a writer gave them
 * as text (trace.json does): an integer, `otherwise` when it is none; a real number, 0 when it is none. */
uint32_t ids_arg_text(struct ids_trace *trace, const struct ids_arg *arg);
struct ids_text ids_arg_chars(const struct ids_trace *trace, const struct ids_arg *arg);
int64_t ids_arg_int_told(const struct ids_trace *trace, const struct ids_arg *arg, int64_t otherwise);
static inline int64_t ids_arg_int(const struct ids_trace *trace, const struct ids_arg *arg, int64_t otherwise) {
    if (arg->type == IDS_VALUE_INT || arg->type == IDS_VALUE_UINT) return arg->i;
    return ids_arg_int_told(trace, arg, otherwise);
}
double ids_arg_real(const struct ids_trace *trace, const struct ids_arg *arg);

#endif
