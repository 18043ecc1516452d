/* builder.h - the sink that makes a trace out of what formats read. */
#ifndef IDS_LIB_MODEL_BUILDER_H
#define IDS_LIB_MODEL_BUILDER_H

#include "lib/model/sink.h"
#include "lib/model/trace.h"

struct ids_builder;

int ids_builder_new(struct ids_builder **ret_builder, struct ids_error *err);
/* The sink to read one file (one host) or several into. */
struct ids_sink *ids_builder_sink(struct ids_builder *builder);
/* Bounds what the trace holds, before reading: to `most_bytes` of records, or so, and to events that begin before
 * `until_ps`. The others are counted, and a diag says so. */
void ids_builder_bound(struct ids_builder *builder, uint64_t most_bytes, int64_t until_ps);
/* After reading: 1 when there were more records than that. They are let go then, and the builder is only to be freed;
 * *ret_until_ps is up to where a new one most likely finds place for them all. */
int ids_builder_overflowed(const struct ids_builder *builder, int64_t *ret_until_ps);
/* Ends the building: orders, joins launches with what they launched, and gives the trace to the caller. The builder is
 * freed then; after a failure it is still the caller's to free. */
int ids_builder_finish(struct ids_builder *builder, struct ids_trace **ret_trace, struct ids_error *err);
void ids_builder_free(struct ids_builder *builder);

#endif
