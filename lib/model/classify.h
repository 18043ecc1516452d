/* classify.h - what an op, a kernel or a copy is, told from what the trace says of it. */
#ifndef IDS_LIB_MODEL_CLASSIFY_H
#define IDS_LIB_MODEL_CLASSIFY_H

#include "lib/model/trace.h"

/* The collective that a kernel's name shows (nccl, rccl, nvshmem, one-shot, multimem, custom all-reduce), or
 * NO_COLLECTIVE. */
enum ids_collective ids_collective_of_kernel(struct ids_text name);

/* The collective that a framework's call names, as Kineto's "Collective name" does ("allreduce", "_allgather_base");
 * and the one that an annotation names ("nccl:all_reduce"). */
enum ids_collective ids_collective_of_call(struct ids_text name);
enum ids_collective ids_collective_of_annotation(struct ids_text name);

/* Sets class, collective, marker and class_rule of an op from its category (else its opcode). */
void ids_op_classify(struct ids_op *op, struct ids_text category, enum ids_class_rule rule);

/* A TPU copy-start: `text` is its HLO text or its shape with layout, whose tuple is (destination, source, context);
 * memory space S(5) is the host's. Returns H2D or D2H and the bytes of the destination, or IDS_NO_DIRECTION. */
enum ids_direction ids_copy_start_direction(struct ids_text text, int64_t *ret_bytes);

/* The direction that a GPU event's or API's name says: "MemcpyH2D", "CopyDeviceToDevice", "hipMemcpyHtoDAsync",
 * "Memset", "hipMemsetAsync"; IDS_NO_DIRECTION for other names. */
enum ids_direction ids_direction_of_name(struct ids_text name);
/* The direction that a text says anywhere: "DEVICE_TO_HOST", "zeCommandListAppendMemoryCopy(M2D)". */
enum ids_direction ids_direction_in(struct ids_text text);
/* A device's timeline on which it works: "Stream #14(Kernel,MemcpyH2D)" of XLA, "stream 7 " and "Stream 108" of Kineto,
 * "thread 7" where a Kineto file lost its names. What Kineto puts over a stream is on "stream 7
 * (gpu_user_annotation)". */
int ids_is_stream(struct ids_text name);
/* What MTIA's queues book for events that are recorded and waited for: no work. */
int ids_is_queue_wait(struct ids_text name);
/* AMD's runtime copies and sets with kernels of its own: 'c' a copy (direction unknown), 's' a set, 0 neither. */
char ids_rocclr_kernel(struct ids_text name);

/* memcpy_details, memset_details: "size:112 dest:4 async:0", "kind_src:pinned kind_dst:device size:N dest:D async:1",
 * "kind:Unknown size:0 dest:512 async:1" (AMD: size unknown), "num_bytes:N". Sets value (-1 unknown), asynchronous,
 * pinned. */
void ids_copy_details(struct ids_text details, struct ids_event *event);

/* kernel_details of a device plane: "regs:38 shm:0 grid:160,1,1 block:1024,1,1", "regs:12 static_shared:0
 * dynamic_shared:0 ... occ_pct:100", " grid:1,1,1 block:512,1,1 private_mem:0 group_mem:0 occ_pct:0". Impossible values
 * (more than 1,024 registers, occ_pct 0) are unknown: older writers left garbage there. */
void ids_kernel_details(struct ids_text details, struct ids_shape *ret_shape);
/* Three numbers, "160,1,1" or "[8,1,1]"; -1 for what is not there or no size. */
void ids_launch_triple(struct ids_text text, int64_t ret_values[3]);
/* The bytes of an element of PyTorch's dtype as Kineto spells it ("Float", "BFloat16"); -1 unknown. */
int64_t ids_dtype_bytes(struct ids_text dtype);

#endif
