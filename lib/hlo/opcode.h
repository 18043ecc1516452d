/* opcode.h - what an HLO opcode, or the hlo_category that a TPU writes beside an op, says of the op. */
#ifndef IDS_LIB_HLO_OPCODE_H
#define IDS_LIB_HLO_OPCODE_H

#include "lib/base/intern.h"

enum ids_collective {
    IDS_NO_COLLECTIVE,
    IDS_ALL_REDUCE,
    IDS_ALL_GATHER,
    IDS_REDUCE_SCATTER,
    IDS_ALL_TO_ALL,
    IDS_PERMUTE,
    IDS_SEND_RECV,
    IDS_BROADCAST,
    IDS_REDUCE,           /* to one rank */
    IDS_GATHER,           /* to one rank */
    IDS_SCATTER,          /* from one rank */
    IDS_OTHER_COLLECTIVE, /* a collective, but nothing says which (RCCL's ncclDevKernel_Generic without args) */
    IDS_COLLECTIVE_COUNT,
};

/* The collective that it names: "all-reduce", "all-reduce-start", "all-reduce fusion". */
enum ids_collective ids_collective_of_opcode(struct ids_text opcode);
/* One half of an asynchronous op, "-start" or "-done"; and the half that waits for the other. */
int ids_opcode_is_marker(struct ids_text opcode);
int ids_opcode_is_wait(struct ids_text opcode);
/* A while, conditional or call: its time is that of the ops inside it. */
int ids_opcode_is_container(struct ids_text opcode);
/* It copies between memories, or to and from the host. */
int ids_opcode_is_transfer(struct ids_text opcode);

#endif
