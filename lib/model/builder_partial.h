/* builder_partial.h - a partial that is read and not taken over yet, for the files builder_partial_*.c. */
#ifndef IDS_LIB_MODEL_BUILDER_PARTIAL_H
#define IDS_LIB_MODEL_BUILDER_PARTIAL_H

#include "lib/model/builder_parts.h"
#include "lib/model/partial.h"
#include "lib/model/partial_rows.h"

struct ids_partial {
    struct ids_builder *file; /* as it was before the joins, but: devices have no key and hosts no name */
    struct ids_partial_sums sums;
};

/* What the builder of a file has once; its texts are added to the builder's. 0, or -1 when memory ran out. */
int ids_partial_sum_up(struct ids_builder *builder, const struct ids_partial_of *of, struct ids_partial_sums *ret_sums);
/* What stands in a device's key behind the name of its host. */
const char *ids_partial_device_key(const struct ids_trace *trace, const struct ids_device *device);
/* Ends what is open, and gives devices their events. */
int ids_partial_end(struct ids_builder *builder, struct ids_error *err);

/* Fills in a partial that is all zero; it is to be freed in any case. */
int ids_partial_read(const void *bytes, size_t length, struct ids_partial *ret_partial, struct ids_error *err);
/* The builder takes it over. */
int ids_partial_take(struct ids_builder *builder, struct ids_partial *partial, struct ids_error *err);

#endif
