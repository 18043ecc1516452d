/* program_facts.h - what compiled programs say of themselves, beyond the ops that ran: their arguments and which of
 * them are donated or spread over devices, their collectives, custom calls, and what is computed a second time. It is
 * certain, so that a comparison needs no statistics for it.
 */
#ifndef IDS_LIB_MODEL_PROGRAM_FACTS_H
#define IDS_LIB_MODEL_PROGRAM_FACTS_H

#include "lib/model/sink.h"
#include "lib/model/trace.h"

enum ids_fact_kind {
    IDS_FACT_INPUT,       /* text: the shape of an argument */
    IDS_FACT_DONATED,     /* the shape of an argument whose memory a result may take */
    IDS_FACT_SHARDING,    /* "devices=[8,1]" of an argument */
    IDS_FACT_COLLECTIVE,  /* opcode */
    IDS_FACT_GROUPS,      /* who takes part: the replica groups of a collective */
    IDS_FACT_CUSTOM_CALL, /* target */
    IDS_FACT_REMAT,       /* instructions of a rematerialized computation: jax.checkpoint, or XLA's own ".remat" */
    IDS_FACT_COUNT,
};
const char *ids_fact_kind_name(enum ids_fact_kind kind); /* "input" */

/* All instructions of a program that say the same. */
struct ids_program_fact {
    uint32_t module; /* index of trace->modules */
    uint8_t kind;    /* enum ids_fact_kind */
    uint32_t text;
    uint32_t where; /* the framework's name of the first: of an argument what the program calls it; empty unknown */
    uint64_t count;
    int64_t bytes; /* of their results together; -1 not known of one of them */
};

/* Most facts that a run keeps; of what is beyond them the last one's text is "...", and its count is theirs. */
enum { IDS_FACTS_MOST = 4096 };

/* Of the programs that ran, out of the instructions of all. 0, or IDS_NOMEM. */
int ids_program_facts_find(const struct ids_instruction_info *instructions, size_t count, struct ids_trace *trace,
                           struct ids_error *err);

#endif
