/* builder.h - the sink that makes a trace from what formats read. */
#ifndef IDS_LIB_MODEL_BUILDER_H
#define IDS_LIB_MODEL_BUILDER_H

#include "lib/model/sink.h"
#include "lib/model/trace.h"

struct ids_builder;

int ids_builder_new(struct ids_builder **ret_builder, struct ids_error *err);
/* The sink to read one file (one host) or several into. */
struct ids_sink *ids_builder_sink(struct ids_builder *builder);
/* Limits the trace, before reading: to about `most_bytes` of records, and to events that begin before `until_ps`.
 * Other events are only counted, and a diag says so. */
void ids_builder_bound(struct ids_builder *builder, uint64_t most_bytes, int64_t until_ps);
/* Makes an empty file for reading and writing, which is nobody else's: its descriptor, or a negative code. */
typedef int ids_file_fn(struct ids_error *err);
/* Before reading: what whole hosts did goes to a file of `make_file` once it takes `least_bytes`, and is no longer
 * counted against the bound; the trace takes memory only for the part that is looked at (lib/base/far.h). Without room
 * on the disk all stays in memory. */
void ids_builder_put_far(struct ids_builder *builder, ids_file_fn *make_file, uint64_t least_bytes);
/* After reading: 1 if there were more records than that. The builder has freed them then and can only be freed
 * itself. *ret_until_ps is a limit for a new builder at which the records most likely fit. */
int ids_builder_overflowed(const struct ids_builder *builder, int64_t *ret_until_ps);
/* Finishes the trace: sorts it, joins launches with device work, and gives it to the caller. It frees the builder;
 * after a failure the caller frees it. */
int ids_builder_finish(struct ids_builder *builder, struct ids_trace **ret_trace, struct ids_error *err);
void ids_builder_free(struct ids_builder *builder);

#endif
