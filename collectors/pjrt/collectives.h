/* collectives.h - how many collectives are in a program. */
#ifndef IDS_COLLECTORS_PJRT_COLLECTIVES_H
#define IDS_COLLECTORS_PJRT_COLLECTIVES_H

#include <stddef.h>
#include <stdint.h>

/* The instructions of a serialized HloModuleProto that are collectives: each counts once, an asynchronous one by its
 * first half, one in a loop's body as if the loop went round once. -1: the bytes are no such message. */
int64_t ids_collectives_in(const void *module, size_t size);

#endif
