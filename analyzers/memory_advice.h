/* memory_advice.h - what to do about memory: a leak, memory that is nearly full, what programs keep without need. It
 * reads the tables of memory.c. */
#ifndef IDS_ANALYZERS_MEMORY_ADVICE_H
#define IDS_ANALYZERS_MEMORY_ADVICE_H

#include "lib/report/report.h"

enum { IDS_MEMORY_ADVICE = 4 };

struct ids_memory_advice {
    const char *what, *evidence, *explain; /* texts of the report */
    /* Of what a program keeps without need: how much, whether the device hardly has room for it, and of a temporary the
     * op that makes it, with what to do where the op tells it (analyzers/op_remedy.h); else NULL. */
    int64_t bytes;
    int64_t array_bytes; /* of what is not donated, the mean of the largest argument's arrays; 0: not known */
    int is_short;
    int is_steady; /* 1: memory is nearly full and its use does not change: a server may hold it on purpose */
    const char *op, *op_remedy;
};

/* What compiled programs keep in memory without need: state that is not donated, one temporary that is most of a
 * program. Returns how many there are. */
size_t ids_memory_savings(struct ids_report *report, struct ids_memory_advice advice[IDS_MEMORY_ADVICE]);
/* What ends the program sooner or later, the worst first. Returns how many there are. */
size_t ids_memory_alarms(struct ids_report *report, int is_jax, struct ids_memory_advice advice[IDS_MEMORY_ADVICE]);

#endif
