/* program_memory.h - what a compiled program keeps on its device while it runs, out of its buffer assignment: its
 * arguments, results, constants and temporaries, what lives when most does, and what was not donated.
 */
#ifndef IDS_LIB_HLO_PROGRAM_MEMORY_H
#define IDS_LIB_HLO_PROGRAM_MEMORY_H

#include "lib/hlo/module.h"

enum ids_hlo_value_kind {
    IDS_HLO_ARGUMENT,
    IDS_HLO_RESULT,
    IDS_HLO_TEMPORARY,
    IDS_HLO_CONSTANT,
    IDS_HLO_VALUE_KINDS,
};

/* A value that is in memory. */
struct ids_hlo_value {
    int64_t bytes;
    int64_t padding;      /* of that, what the layout adds to the array; 0 none, or not known */
    uint32_t instruction; /* that makes it; IDS_HLO_NONE unknown */
    uint8_t kind;         /* enum ids_hlo_value_kind */
    uint8_t in_place;     /* of an argument: a result takes its memory */
    uint8_t at_peak;      /* it lives when most temporaries do; 0: not, or not known */
};

/* Arguments that results replace without taking their memory (kept_arguments.h): an array, or those of a tree of
 * arrays. */
struct ids_hlo_kept_argument {
    struct ids_text
        name; /* as the program calls it: "params", "args[0]"; of a part of a tree its path: "s['params']" */
    int64_t bytes;
    uint32_t arrays;
};

enum { IDS_HLO_VALUES_SHOWN = 16, IDS_HLO_KEPT_SHOWN = 8 };
/* What is smaller than a hundredth of the program, or than this, is not listed. */
enum { IDS_HLO_LEAST_VALUE = 4096 };

struct ids_hlo_program_memory {
    int64_t bytes[IDS_HLO_VALUE_KINDS]; /* of allocations in the memory of the device */
    int64_t in_place;                   /* of the arguments, what results take */
    int64_t on_host;                    /* in the memory of the host (a TPU's space 5) */
    int64_t elsewhere;                  /* in small memories of their own */
    struct ids_text peak;               /* the instruction at which most temporaries live; empty unknown */
    struct ids_hlo_value values[IDS_HLO_VALUES_SHOWN]; /* the largest, most bytes first */
    size_t value_count;
    struct ids_hlo_kept_argument kept[IDS_HLO_KEPT_SHOWN]; /* most bytes first */
    size_t kept_count;
};

/* All on the device together. */
int64_t ids_hlo_memory_total(const struct ids_hlo_program_memory *memory);
/* Of a module that was read with its buffers. 0, or IDS_NOMEM. */
int ids_hlo_memory_of(const struct ids_hlo_module *module, struct ids_hlo_program_memory *ret_memory,
                      struct ids_error *err);

#endif
