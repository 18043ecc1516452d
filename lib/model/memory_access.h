/* memory_access.h - what a TPU's op reads and writes by memories, as its file says (stat memory_access_breakdown). */
#ifndef IDS_LIB_MODEL_MEMORY_ACCESS_H
#define IDS_LIB_MODEL_MEMORY_ACCESS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes in the main memory of the device, of a serialized MemoryAccessBreakdown (xprof's op_metrics.proto); -1 where it
 * is damaged. One without parts accesses none. */
int64_t ids_main_memory_access(const void *bytes, size_t length);

#endif
