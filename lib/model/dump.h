/* dump.h - a sink that only counts and hashes, to be held against an independent decoder (tests/oracle, whose text
 * defines the hash). The hash does not depend on the order of events. */
#ifndef IDS_LIB_MODEL_DUMP_H
#define IDS_LIB_MODEL_DUMP_H

#include "lib/model/sink.h"

struct ids_dump;
struct ids_dump_totals {
    uint64_t planes, lines, events, event_stats, metadata_stats, plane_stats, hash;
};

int ids_dump_new(struct ids_dump **ret_dump, struct ids_error *err);
struct ids_sink *ids_dump_sink(struct ids_dump *dump);
void ids_dump_totals(const struct ids_dump *dump, struct ids_dump_totals *ret_totals);
void ids_dump_free(struct ids_dump *dump);

#endif
