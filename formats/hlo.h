/* hlo.h - instructions out of a serialized HloProto or HloModuleProto (xla/service/hlo.proto).
 *
 * GPU and CPU traces name an op only by module and instruction; opcode, source and replica groups stand in the HLO that
 * the profiler put into the plane /host:metadata, one event metadata per program, stat "hlo_proto".
 */
#ifndef IDS_FORMATS_HLO_H
#define IDS_FORMATS_HLO_H

#include "lib/model/sink.h"

/* Hands every instruction of the module to sink->ops->hlo, those inside fusions left out (they never run as ops of their
 * own). `program_id` is the one that the trace's events use. A damaged instruction is left out and reported through
 * sink->ops->diag; a message that is not HLO at all is IDS_CORRUPT. Memory: bounded by the largest instruction. */
int ids_hlo_read(const uint8_t *bytes, size_t length, uint64_t program_id, struct ids_sink *sink,
                 struct ids_error *err);

#endif
