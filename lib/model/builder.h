/* builder.h - the sink that makes a trace out of what formats read. */
#ifndef IDS_LIB_MODEL_BUILDER_H
#define IDS_LIB_MODEL_BUILDER_H

#include "lib/model/sink.h"
#include "lib/model/trace.h"

struct ids_builder;

int ids_builder_new(struct ids_builder **ret_builder, struct ids_error *err);
/* The sink to read one file (one host) or several into. */
struct ids_sink *ids_builder_sink(struct ids_builder *builder);
/* Ends the building: orders, joins launches with what they launched, and gives the trace to the caller. The builder is
 * freed in any case. */
int ids_builder_finish(struct ids_builder *builder, struct ids_trace **ret_trace, struct ids_error *err);
void ids_builder_free(struct ids_builder *builder);

#endif
