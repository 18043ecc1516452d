/* hlo.h - compiled programs out of a serialized HloProto or HloModuleProto (xla/service/hlo.proto).
 *
 * GPU and CPU traces name an op only by module and instruction; opcode, source and replica groups stand in the HLO that
 * the profiler put into the plane /host:metadata, one event metadata per program, stat "hlo_proto".
 */
#ifndef IDS_FORMATS_HLO_H
#define IDS_FORMATS_HLO_H

#include "lib/hlo/module.h"
#include "lib/model/sink.h"

/* Parts of a program that not every reader needs. */
enum ids_hlo_part {
    IDS_HLO_LAYOUTS = 1, /* of shapes */
    IDS_HLO_LOOPS = 2,   /* what XLA knows of while loops */
    IDS_HLO_BUFFERS = 4, /* the buffer assignment */
    IDS_HLO_ALL = 7,
};

/* Reads the program into a graph, which points into `bytes` and is the caller's to give to ids_hlo_module_done; on
 * failure nothing is left of it. Damaged instructions are marked, and what is behind the damage in their computation is
 * lost. IDS_CORRUPT: not HLO at all, or a damaged buffer assignment; IDS_LIMIT: larger than lib/hlo/module.h takes. */
int ids_hlo_module_read(const uint8_t *bytes, size_t length, unsigned parts, struct ids_hlo_module *ret_module,
                        struct ids_error *err);

/* Hands every instruction of the program to sink->ops->hlo, those inside fusions left out (they never run as ops of
 * their own). `program_id` is the one that the trace's events use. Damaged instructions, and a program that is too
 * large, are left out and reported through sink->ops->diag; a message that is not HLO at all is IDS_CORRUPT. */
int ids_hlo_read(const uint8_t *bytes, size_t length, uint64_t program_id, struct ids_sink *sink,
                 struct ids_error *err);

/* The same in two steps, so that a program can be read beside other work and told in its turn. What is read points into
 * `bytes`; why nothing could be read is said when it is told. NULL when memory ran out. */
struct ids_hlo_program;
struct ids_hlo_program *ids_hlo_program_read(const uint8_t *bytes, size_t length, int with_buffers);
int ids_hlo_program_tell(struct ids_hlo_program *program, uint64_t program_id, struct ids_sink *sink,
                         struct ids_error *err);
void ids_hlo_program_free(struct ids_hlo_program *program);

#endif
