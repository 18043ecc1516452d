/* programs.h - what the compiled programs of a run keep in memory, as their buffer assignments say. */
#ifndef IDS_LIB_MODEL_PROGRAMS_H
#define IDS_LIB_MODEL_PROGRAMS_H

#include "lib/model/trace.h"

struct ids_program_memory {
    uint32_t host;
    struct ids_program_memory_info info;
    size_t first_value, first_kept; /* of ids_trace.program_values and kept_arguments; the pointers of info are void */
};

/* Beyond them programs keep their sums alone. */
enum { IDS_PROGRAMS_MOST = 100000, IDS_PROGRAM_VALUES_MOST = 1 << 16 };

/* 0, or -1 when memory ran out. */
int ids_program_memory_add(struct ids_trace *trace, uint32_t host, const struct ids_program_memory_info *info);

#endif
